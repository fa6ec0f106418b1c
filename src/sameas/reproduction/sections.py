"""What a report says about each experiment; a section is None where nothing was run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from sameas.reproduction import plots, published
from sameas.reproduction.measured import FEATURES, Measured
from sameas.reproduction.rendering import (
    NOTHING,
    Block,
    Cell,
    Plot,
    Section,
    Table,
    count,
    difference,
    gib,
    grid,
    score,
    seconds,
)

SCORES = {"hits@1": "Hits@1", "hits@10": "Hits@10", "mrr": "MRR"}
MATRICES = {
    "plain": "A, plain",
    "random-walk": "A_r, random walk",
    "laplacian": "A_L, Laplacian",
    "relational": "A_rel, relational",
}


def main_results(results: Measured, folder: Path) -> Section | None:
    """Word, char and hybrid features beside all rows of the paper's main table."""
    titles, names = results.titles("main"), results.features("main")
    if not titles:
        return None
    ours = {name: results.figures("main", name) for name in names}
    parts = []
    for place, (metric, metric_name) in enumerate(SCORES.items()):
        theirs = {
            method: {key: row[key][place] for key in titles if key in row}
            for method, row in published.MAIN.items()
        }
        measured, less = {}, {}
        for name in names:
            row = {key: found[metric] for key, found in ours[name].items()}
            paper = theirs[f"SEU {FEATURES[name]}"]
            measured[f"sameas {FEATURES[name]}"] = row
            less[f"difference {FEATURES[name]}"] = {
                key: difference(value, paper.get(key)) for key, value in row.items()
            }
        best = {key: found[metric] for key, found in results.figures("best").items()}
        if best:
            measured["sameas best"] = best
        blocks = [Block(theirs), Block(measured), Block(less, str, None)]
        parts.append(
            grid(
                f"{metric_name}, paper protocol; published, ours ({results.vectors}) and the "
                "difference",
                titles,
                blocks if set(titles) & set(published.DATASETS) else blocks[1:2],
            )
        )
    return Section("Main results", _main_text(results), [*parts, _main_costs(results)])


def _main_text(results: Measured) -> str:
    text = (
        "Paper protocol: only the entities of the gold links are candidates, on both sides. The "
        "features are word vectors (word), character bigrams (char) and both (w+c, the hybrid "
        "features). Last among ours is the preset best, with refinement and char features. "
    )
    away = [
        abs(round(found[metric], 3) - paper)
        for key, found in results.figures("main", "char").items()
        for metric, paper in zip(SCORES, published.SEU["char"].get(key, ()), strict=False)
        if paper is not None
    ]
    if away:
        text += (
            "The char rows need no word vectors and can be compared as they are: the largest "
            f"difference from the published SEU is {score(max(away))}. "
        )
    return text + results.comparability


def _main_costs(results: Measured) -> Table:
    """Seconds, memory and unknown words of our runs; what was never measured has no column."""
    kinds: dict[str, tuple[str, Callable[[Any], str]]] = {
        "total_seconds": ("seconds", seconds),
        "peak_memory_bytes": ("peak memory, GiB", gib),
        "words": ("words", count),
        "words_without_vector": ("words without vector", count),
    }
    titles, entries = results.titles("main"), results.entries("main")
    kinds = {k: v for k, v in kinds.items() if any(entry["figures"].get(k) for entry in entries)}
    rows = []
    for entry in entries:
        found = [(entry["figures"].get(kind), show) for kind, (_, show) in kinds.items()]
        texts = [titles[entry["dataset"]], FEATURES[entry["settings"]["features"]]]
        texts += [NOTHING if value is None else show(value) for value, show in found]
        rows.append([Cell(text) for text in texts])
    header = ["dataset", "features", *(name for name, _ in kinds.values())]
    return Table("What our runs took, reading files not included", header, [rows], labels=2)


def solvers(results: Measured, folder: Path) -> Section | None:
    """Sinkhorn against the exact assignment: Hits@1, profit and seconds."""
    titles = results.titles("solvers")
    if not titles:
        return None
    exact = published.HUNGARIAN
    soft = {key: published.SEU["hybrid"][key].hits_at_1 for key in exact}
    times: dict[str, Mapping[str, float]] = {
        f"Sinkhorn w+c, published, {on}": row for on, row in published.SINKHORN_SECONDS.items()
    }
    times["Hungarian w+c, published, CPU"] = published.HUNGARIAN_SECONDS
    blocks = {
        "hits@1": [Block({"Sinkhorn w+c, published": soft, "Hungarian w+c, published": exact})],
        "seconds": [Block(times, seconds, min)],
        "objective": [],
    }
    if not set(titles) & set(exact):
        blocks["hits@1"], blocks["seconds"] = [], []
    for name in results.features("solvers"):
        blocks["hits@1"].append(Block(_by_solver(results, name, "hits@1")))
        blocks["seconds"].append(Block(_by_solver(results, name, "seconds"), seconds, min))
        blocks["objective"].append(Block(_by_solver(results, name, "objective"), _profit))
    text = (
        "Sinkhorn's soft plan against the exact assignment (Hungarian) of the same profit matrix, "
        "paper protocol. The total profit is what both try to make as large as possible; the "
        "exact assignment has the largest there is. Seconds are those of solving alone, and "
        "machines differ. " + results.comparability
    )
    parts = [
        grid("Hits@1", titles, blocks["hits@1"]),
        grid("Total profit of the links", titles, blocks["objective"]),
        grid("Seconds to solve", titles, blocks["seconds"]),
    ]
    return Section("Solvers", text, parts)


def _by_solver(results: Measured, features: str, figure: str) -> dict[str, dict[str, Any]]:
    found = results.figures("solvers", features)
    return {
        f"{solver.capitalize()} {FEATURES[features]}, sameas": {
            key: figures[solver][figure] for key, figures in found.items()
        }
        for solver in ("sinkhorn", "hungarian")
    }


def _profit(value: float) -> str:
    return f"{value:,.3f}"


def run_time(results: Measured, folder: Path) -> Section | None:
    """Seconds by phase, beside the plain procedure and beside the paper's table."""
    compared, whole = results.entries("runtime"), results.entries("main")
    if not (compared or whole):
        return None
    text = (
        "Machines differ: the published seconds are from other computers, and only the order of "
        "magnitude can be compared. "
    )
    parts: list[Table | Plot] = []
    for entry in compared:
        title = results.titles("runtime")[entry["dataset"]]
        parts += _against_plain(entry["figures"], title, folder, len(parts))
        ratios = entry["figures"]["ratios"]
        text += (
            "What can be compared is the paper's procedure written plainly, measured in the same "
            f"run on {title}, char features: it takes {ratios['paper']:.1f} times as long as the "
            f"whole command with the preset paper, and {ratios['best']:.1f} times as long as with "
            "the preset best. "
        )
    if whole:
        parts += _whole_runs(results, folder)
    if not compared:
        text += "The plain procedure was not run for comparison."
    return Section("Run time", text.strip(), parts)


def _against_plain(
    figures: dict[str, Any], title: str, folder: Path, number: int
) -> list[Table | Plot]:
    columns = {"paper": "preset paper", "best": "preset best", "plain": "plain procedure"}
    parts = {}
    for column in columns:
        taken = figures[column]["seconds"]
        rest = figures[column]["total"] - sum(taken.values())
        parts[column] = {**taken, "rest": rest} if rest >= 0.05 else taken
    phases = dict.fromkeys(phase for taken in parts.values() for phase in taken)
    rows = {phase: {c: parts[c].get(phase) for c in columns} for phase in phases}
    blocks = [
        Block(rows, seconds, None),
        Block({"total": {c: figures[c]["total"] for c in columns}}, seconds),
        Block({"peak memory, GiB": {c: figures[c]["peak_memory_bytes"] for c in columns}}, gib),
        Block({"Hits@1": {c: figures[c]["hits@1"] for c in columns}}),
    ]
    name = "runtime" if not number else f"runtime-{number}"
    caption = f"Seconds by phase on {title}, sameas and the plain procedure"
    bars = {columns[c]: taken for c, taken in parts.items()}
    svg = plots.stacked(folder, name, bars, x_label="seconds")
    note = f"{caption}; {NOTHING} where there is no such phase"
    return [grid(note, columns, blocks), Plot(name, caption, svg)]


def _whole_runs(results: Measured, folder: Path) -> list[Table | Plot]:
    """The runs of the main results: by phase and dataset, and as means beside the paper's."""
    titles, features = results.titles("main"), results.features("main")[-1]
    found = results.figures("main", features)
    phases = list(dict.fromkeys(phase for f in found.values() for phase in f["seconds"]))
    rows = {phase: {key: f["seconds"].get(phase) for key, f in found.items()} for phase in phases}
    total = {"total": {key: f["total_seconds"] for key, f in found.items()}}
    caption = (
        f"Seconds of a run by phase, {FEATURES[features]} features, paper protocol, without files"
    )
    by_phase = grid(caption, titles, [Block(rows, seconds, None), Block(total, seconds, None)])
    bars = {titles[key]: f["seconds"] for key, f in found.items()}
    svg = plots.stacked(folder, "phases", bars, x_label="seconds")
    collections = {"dbp15k": "DBP15K", "srprs": "SRPRS"}
    ours: dict[str, dict[str, float]] = {}
    for name in results.features("main"):
        seen = {k: f for k, f in results.figures("main", name).items() if k in published.DATASETS}
        taken = {
            collection: [f["total_seconds"] for k, f in seen.items() if k.startswith(collection)]
            for collection in collections
        }
        ours[f"sameas {FEATURES[name]}, this machine"] = {
            c: fmean(t) for c, t in taken.items() if t
        }
    theirs = {method: row._asdict() for method, row in published.RUN_SECONDS.items()}
    beside = grid(
        "Seconds of a run, published (whole) and ours (without reading and writing files), means",
        collections,
        [Block(theirs, seconds, min), Block(ours, seconds, min)],
    )
    known = [beside] if any(ours.values()) else []
    return [by_phase, Plot("phases", caption, svg), *known]


def temperature(results: Measured, folder: Path) -> Section | None:
    """Scores against Sinkhorn's temperature."""
    text = (
        "Sinkhorn's plan is softer the higher the temperature tau. The paper shows this as a "
        "figure without printed numbers: a suitable tau converges fast, too large a one fails."
    )
    return _curves(results, folder, "temperature", "temperature tau", published.TEMPERATURE, text)


def iterations(results: Measured, folder: Path) -> Section | None:
    """Scores against Sinkhorn's rounds."""
    text = (
        f"How many rounds Sinkhorn needs; the paper's tables use {published.ITERATIONS}. "
        "The paper prints no numbers."
    )
    return _curves(
        results, folder, "iterations", "rounds of Sinkhorn k", published.ITERATIONS, text
    )


def depth(results: Measured, folder: Path) -> Section | None:
    """Scores against the number of hops."""
    text = (
        "How many hops features are spread over the graph; depth 0 is names alone. The paper's "
        "figure has no printed numbers and finds 2 the best on all of DBP15K."
    )
    return _curves(results, folder, "depth", "depth L", published.DEPTH, text)


def _curves(
    results: Measured, folder: Path, name: str, axis: str, usual: float, text: str
) -> Section | None:
    entries = results.entries(name)
    if not entries:
        return None
    titles, used = results.titles(name), results.features(name)
    lines: dict[str, list[dict[str, float]]] = {}
    for entry in entries:
        features = FEATURES.get(entry["settings"].get("features"), "")
        label = titles[entry["dataset"]] + (f", {features}" if len(used) > 1 else "")
        lines[label] = entry["figures"]["curve"]
    best = {label: max(curve, key=lambda p: p["hits@1"]) for label, curve in lines.items()}
    found = "; ".join(f"{k} at {p[name]:g} ({score(p['hits@1'])})" for k, p in best.items())
    svg = plots.curves(
        folder,
        name,
        {label: [(p[name], p["hits@1"]) for p in curve] for label, curve in lines.items()},
        x_label=axis,
        y_label="Hits@1",
        x_scale="linear" if name == "depth" else "log",
        usual=usual,
    )
    plot = Plot(name, f"Hits@1 against {axis}{_with(used)}", svg)
    tables = _curve_tables(lines, name, axis, f"{_with(used)}, paper protocol ({results.vectors})")
    return Section(name.capitalize(), f"{text} Highest Hits@1: {found}.", [plot, *tables])


def _curve_tables(
    lines: Mapping[str, list[dict[str, float]]], name: str, axis: str, note: str
) -> list[Table]:
    """One table with both scores where there is one line, else a table for each score."""
    scores = {"hits@1": "Hits@1", "mrr": "MRR"}
    if len(lines) == 1:
        ((label, curve),) = lines.items()
        points = {f"{point[name]:g}": point for point in curve}
        caption = f"Hits@1 and MRR by {axis} on {label}{note}"
        return [grid(caption, scores, [Block(points)], corner=axis)]
    places = sorted({point[name] for curve in lines.values() for point in curve})
    columns, tables = {label: label for label in lines}, []
    for metric, words in scores.items():
        rows: dict[str, dict[str, float]] = {f"{place:g}": {} for place in places}
        for label, curve in lines.items():
            for point in curve:
                rows[f"{point[name]:g}"][label] = point[metric]
        tables.append(grid(f"{words} by {axis}{note}", columns, [Block(rows)], corner=axis))
    return tables


def _with(features: list[str]) -> str:
    return f", {' and '.join(FEATURES[name] for name in features)} features" if features else ""


def adjacency(results: Measured, folder: Path) -> Section | None:
    """The four ways to weigh neighbours."""
    titles = results.titles("adjacency")
    if not titles:
        return None
    columns = {**titles, "mean": "mean"}
    parts = []
    for metric, field in (("hits@1", "hits_at_1"), ("mrr", "mrr")):
        blocks = []
        if set(titles) & set(published.ADJACENCY["plain"]):
            theirs = {
                f"{label}, published": {
                    key: getattr(row, field) for key, row in published.ADJACENCY[matrix].items()
                }
                for matrix, label in MATRICES.items()
            }
            blocks.append(with_mean(theirs))
        for name in results.features("adjacency"):
            found = results.figures("adjacency", name)
            blocks.append(
                with_mean(
                    {
                        f"{label}, sameas {FEATURES[name]}": {
                            key: figures[matrix][metric] for key, figures in found.items()
                        }
                        for matrix, label in MATRICES.items()
                    }
                )
            )
        caption = f"{SCORES[metric]} by adjacency matrix, paper protocol; published rows are w+c"
        parts.append(grid(caption, columns, blocks))
    text = (
        "How neighbours are weighted: all alike (A), that divided by the degree (A_r), "
        "the symmetric Laplacian (A_L), or by how rare their relations are (A_rel). Plain and "
        "random walk coincide for us: rows are scaled to unit length after each hop, so dividing "
        "a row by its degree changes nothing. The Laplacian is taken as the paper defines it, "
        "I - D^-1/2 A D^-1/2, which subtracts neighbours and so lies below the published rows; on "
        "fr-en, D^-1/2 A D^-1/2 with self-loops comes out as published. The mean is over the row's "
        "own datasets. "
    )
    return Section("Adjacency", text + results.comparability, parts)


def with_mean(rows: Mapping[str, Mapping[str, float]]) -> Block:
    """Rows with the mean of each in a column of its own."""
    return Block({label: {**row, "mean": fmean(row.values())} for label, row in rows.items()})


def paris(results: Measured, folder: Path) -> Section | None:
    """PARIS against the method."""
    titles, found = results.titles("paris"), results.figures("paris")
    if not titles:
        return None
    methods = {"paris": "PARIS", "sameas": "SEU"}

    def rows(figure: str, *names: str) -> dict[str, dict[str, Any]]:
        return {
            f"{methods[name]} {figure.replace('f1', 'F1')}": {
                key: figures[name].get(figure) for key, figures in found.items()
            }
            for name in names
        }

    blocks = [Block(rows(figure, *methods)) for figure in ("precision", "recall", "f1")]
    blocks.append(Block(rows("links", *methods), count, None))
    blocks.append(Block(rows("iterations", "paris"), count, None))
    blocks.append(Block(rows("seconds", "paris"), seconds, None))
    text = (
        "PARIS (Suchanek, Abiteboul, Senellart, PVLDB 2011) on the same data, with the names as "
        "literals, and SEU as measured here: PARIS has the whole graphs before it, SEU the "
        "candidates of the paper protocol. Precision counts only links that touch an entity which "
        "the gold links mention. The paper compares the two in a figure without "
        "printed numbers, in which SEU is ahead except on DBP15K zh-en."
    )
    caption = f"PARIS and SEU{_with(results.features('paris'))} ({results.vectors})"
    svg = plots.bars(
        folder,
        "paris",
        {
            label: {titles[key]: figures[name]["f1"] for key, figures in found.items()}
            for name, label in methods.items()
        },
        y_label="F1",
    )
    plot = Plot("paris", "F1 of PARIS and of SEU", svg)
    return Section("PARIS", text, [plot, grid(caption, titles, blocks)])
