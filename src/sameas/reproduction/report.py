"""The report: what was measured beside what was published, as report.md and report.html.

Its sections, with their texts, tables and plots, are described in sections.yaml.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Any

import yaml

from sameas.atomic import replacing_file
from sameas.reproduction.figures import (
    FEATURES,
    PRESETS,
    SOURCE,
    Results,
    Rows,
    by_dataset,
    title,
)
from sameas.reproduction.plots import FILLS, Panel, draw
from sameas.reproduction.rendering import (
    NOTHING,
    Block,
    Document,
    Plot,
    Section,
    Table,
    count,
    gib,
    grid,
    render,
    score,
    seconds,
    signed,
    table_of,
)


def spread(values: Sequence[float]) -> str:
    """The mean of some scores, with the lowest and the highest."""
    return f"{score(fmean(values))} ({score(min(values))} to {score(max(values))})"


SHOW: dict[str, Callable[[Any], str]] = {
    **{"score": score, "signed": signed, "spread": spread, "seconds": seconds},
    **{"gib": gib, "count": count, "profit": "{:,.3f}".format, "number": "{:.4g}".format},
}
SCORES = ("f1", "precision", "recall")
BEST: dict[str, Callable[..., Any] | None] = {"max": max, "min": min, "none": None}


@lru_cache
def specification() -> dict[str, Any]:
    """The content of sections.yaml."""
    text = Path(__file__).with_name("sections.yaml").read_text(encoding="utf8")
    content: dict[str, Any] = yaml.safe_load(text)
    return content


def write_report(content: dict[str, Any], folder: Path) -> None:
    """Write report.md, report.html and the plots into a folder, from what results.json holds."""
    folder.mkdir(parents=True, exist_ok=True)
    results, specified = Results(content), specification()
    sections = [_section(spec, results, folder) for spec in specified["sections"]]
    words = {"source": SOURCE, "version": content["sameas"]}
    text = [paragraph.format(**words) for paragraph in specified["introduction"]]
    if left_out := [section.title for section in sections if not section.parts]:
        text.append(f"Not run, and so left out: {', '.join(left_out)}.")
    shown = [section for section in sections if section.parts]
    document = Document("SEU reproduced with sameas", text, [*shown, _making(results)])
    for name in ("report.md", "report.html"):
        with replacing_file(folder / name) as draft:
            draft.write_text(render(document, name), encoding="utf8", newline="\n")


def _section(spec: Mapping[str, Any], results: Results, folder: Path) -> Section:
    """A section, without parts if nothing was run; plots are written to the folder."""
    done = {entry["experiment"] for entry in results.content["results"]}
    parts: list[Table | Plot] = []
    for part in spec["parts"] if done & set(spec["experiments"]) else ():
        if "plot" in part:
            parts += _plots(part, results, folder)
        elif "pairs" in part:
            parts.append(_pairs(part, results))
        else:
            parts += _tables(part, results)
    return Section(spec["title"], spec["text"].format(**results.words), parts)


def _making(results: Results) -> Section:
    """What is needed to make the same again."""
    content, machine = results.content, results.content["machine"]
    versions = {content["sameas"], *(entry["sameas"] for entry in content["results"])}
    origin = {
        "command": f"`{content['command']}`",
        "sameas": ", ".join(sorted(versions)),
        "system": f"{machine['system']}, Python {machine['python']}",
        "processor": f"{machine['processor']}, {machine['cores']} cores",
        "memory": f"{gib(machine['memory_bytes'])} GiB",
        **{name: version for name, version in machine["packages"].items() if version},
        "word vectors": results.words["vectors"].removeprefix("word vectors "),
        "word vectors, SHA-256": (content["word_vectors"] or {}).get("sha256", NOTHING),
    }
    taken: dict[tuple[str, str], list[float]] = {}
    for entry in content["results"]:
        settings = (f"{name} {FEATURES.get(v, v)}" for name, v in sorted(entry["settings"].items()))
        key = entry["experiment"], ", ".join(settings) or NOTHING
        taken.setdefault(key, []).append(entry["seconds"])
    runs = [[*key, count(len(times)), seconds(sum(times))] for key, times in taken.items()]
    total = seconds(sum(entry["seconds"] for entry in content["results"]))
    hashes = {entry["dataset"]: entry["dataset_sha256"] for entry in content["results"]}
    read = [[title(dataset), hashes[dataset]] for dataset in by_dataset(hashes)]
    header = ["experiment", "settings", "datasets", "seconds"]
    return Section(
        "How it was made",
        f"Made by `{content['command']}`. Unless a table says otherwise: depth 2, 10 rounds of "
        "Sinkhorn, temperature 0.02, relational adjacency, as in the paper. "
        f"{results.words['comparability']}",
        [
            table_of("Software, machine and word vectors", ["what", "which"], origin.items()),
            table_of(f"Experiments; {total} seconds in all", header, runs, labels=2),
            table_of("Datasets read", ["dataset", "SHA-256"], read, labels=2),
        ],
    )


def _pairs(spec: Mapping[str, Any], results: Results) -> Table:
    """A row for each pair of RDF files: each method's scores or error, and published figures."""
    rows, f1 = [], {name: list[float]() for name in spec["methods"]}
    for entry in results.content["results"]:
        if entry["experiment"] != "real":
            continue
        figures, pair = entry["figures"], entry["dataset"].removeprefix("real/")
        row = [pair, count(figures.get("", {}).get("links"))]
        for name, values in f1.items():
            found = figures[name]
            if "error" in found:
                row.append(NOTHING if found["error"] in row else found["error"])
                continue
            values.append(found["f1"])
            row.append("{} ({} / {})".format(*(score(found[x]) for x in SCORES)))
        texts = [text for name, text in spec["published"].items() if fnmatch(pair, name)]
        rows.append([*row, *(texts or [NOTHING])])
    means = [score(fmean(values)) if values else NOTHING for values in f1.values()]
    header = ["pair", "gold links", *f1, "published F1"]
    return table_of(spec["pairs"], header, [*rows, ["mean F1", NOTHING, *means, NOTHING]])


def _tables(spec: Mapping[str, Any], results: Results) -> list[Table]:
    """The tables of a specification, one for each of its metrics."""
    tables = []
    for metric in spec.get("metrics", [None]):
        blocks, columns = list[tuple[Rows, dict[str, dict[str, Any]]]](), dict[str, str]()
        for block in spec["blocks"]:
            cells: dict[str, dict[str, Any]] = {}
            for rows in [Rows(**{"metric": metric, **chosen}) for chosen in block]:
                found = results.pivot(rows)
                cells |= found
                if rows.preset not in ("published", "difference"):
                    columns |= _columns(rows.across, found)
            blocks.append((rows, cells))
        if not columns:
            continue
        shown = []
        for rows, cells in blocks:
            # Published rows may have no figure for the datasets at hand.
            kept = {label: row for label, row in cells.items() if row.keys() & columns.keys()}
            if spec.get("mean"):
                kept = {label: {**row, "mean": fmean(row.values())} for label, row in kept.items()}
            # Only scores have a best one unless it says so.
            best = rows.best or ("max" if rows.show in ("score", "profit") else "none")
            shown.append(Block(kept, SHOW[rows.show], BEST[best]))
        if spec.get("mean"):
            columns["mean"] = "mean"
        caption = spec["table"].format(**results.words, metric=_word(metric))
        tables.append(grid(caption, columns, shown, corner=spec.get("corner", "")))
    return tables


def _columns(across: str, rows: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The columns that rows have, in order, and their headers."""
    found = dict.fromkeys(column for row in rows.values() for column in row)
    if across == "dataset":
        return {dataset: title(dataset) for dataset in by_dataset(found)}
    order = [p for p in PRESETS if p in found] if across == "preset" else list(found)
    return {column: _word(column) for column in order}


def _word(name: str | None) -> str:
    """A metric or preset as tables call it."""
    words = specification()["words"]
    return str({**words["metrics"], **words["presets"]}.get(name, name))


def _plots(spec: Mapping[str, Any], results: Results, folder: Path) -> list[Plot]:
    """The plot of a specification, with one panel for each dataset if it says so."""
    panels: dict[str, dict[str, dict[Any, float]]] = {}
    for rows in [Rows(**chosen) for chosen in spec["rows"]]:
        datasets = results.select(rows)["dataset"].unique(maintain_order=True)
        for dataset in datasets if spec.get("each") else [None] * bool(len(datasets)):
            series = panels.setdefault(title(dataset) if dataset else "", {})
            found = results.pivot(rows, dataset)
            series |= {label: _series(rows, row) for label, row in found.items()}
    if not panels:
        return []
    panel = dict(spec["panel"])
    if "y_show" in panel:
        panel["y_show"] = SHOW[panel["y_show"]]
    drawn = []
    for dataset, series in panels.items():
        order = [*FILLS, *series]  # the phases of a run in their order
        ordered = {label: series[label] for label in sorted(series, key=order.index)}
        drawn.append(Panel(series=ordered, title=dataset, **panel))
    size = {name: spec[name] for name in ("height", "columns") if name in spec}
    return [Plot(spec["plot"], spec["caption"], draw(folder, spec["plot"], drawn, **size))]


def _series(rows: Rows, row: Mapping[str, float]) -> dict[Any, float]:
    """Values by place: numbers where places are numbers, else the words of tables."""
    try:
        return {float(place): row[place] for place in sorted(row, key=float)}
    except ValueError:
        return {words: row[place] for place, words in _columns(rows.across, {"": row}).items()}
