"""The report: what was measured beside what was published, as report.md and report.html.

Its sections, with their texts, tables and plots, are described in sections.yaml.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Any

import polars as pl
import yaml

from experiments.figures import FEATURES, PRESETS, Rows, all_figures, by_dataset, pivot, title
from experiments.plots import FILLS, Panel, draw
from experiments.rendering import (
    NOTHING,
    Plot,
    Section,
    Table,
    count,
    figure_rows,
    gib,
    render,
    score,
    seconds,
    signed,
    table_of,
)
from sameas.compute.atomic import replacing_file

VECTORS = "glove.6B.300d"
"""The word vectors of the paper's word and hybrid rows."""


def spread(values: Sequence[float]) -> str:
    """The mean of some scores, with the lowest and the highest."""
    return f"{score(fmean(values))} ({score(min(values))} to {score(max(values))})"


SHOW: dict[str, Callable[[Any], str]] = {
    **{"score": score, "signed": signed, "spread": spread, "seconds": seconds},
    **{"gib": gib, "count": count, "profit": "{:,.3f}".format, "number": "{:.4g}".format},
}
SCORES = ("f1", "precision", "recall")
BEST: dict[str, Callable[..., Any]] = {"max": max, "min": min}


@lru_cache
def specification() -> dict[str, Any]:
    """The content of sections.yaml."""
    text = Path(__file__).with_name("sections.yaml").read_text(encoding="utf8")
    content: dict[str, Any] = yaml.safe_load(text)
    return content


def write_report(content: dict[str, Any], folder: Path) -> None:
    """Write report.md, report.html and the plots into a folder, from what results.json holds."""
    folder.mkdir(parents=True, exist_ok=True)
    words, figures = vector_words(content["word_vectors"]), all_figures(content["results"])
    done = {entry["experiment"] for entry in content["results"]}
    shown, left_out = [], []
    for spec in specification()["sections"]:
        parts: list[Table | Plot] = []
        for part in spec["parts"] if done & set(spec["experiments"]) else ():
            if "plot" in part:
                parts += _plots(part, figures, folder)
            elif "pairs" in part:
                parts.append(_pairs(part, content["results"]))
            else:
                parts += _tables(part, figures, words)
        if parts:
            shown.append(Section(spec["title"], spec["text"].format(**words), parts))
        else:
            left_out.append(spec["title"])
    introduction = specification()["introduction"]
    text = [paragraph.format(version=content["sameas"]) for paragraph in introduction]
    if left_out:
        text.append(f"Not run, and so left out: {', '.join(left_out)}.")
    shown.append(_making(content, words))
    for name in ("report.md", "report.html"):
        with replacing_file(folder / name) as draft:
            page = render(name, "SEU reproduced with sameas", text, shown)
            draft.write_text(page, encoding="utf8", newline="\n")


def vector_words(used: Mapping[str, Any] | None) -> dict[str, str]:
    """The word vectors in a few words, and how rows with them relate to the published ones."""
    if used is None:
        without = "No word vectors were used, so that there are only char rows."
        return {"vectors": "no word vectors", "comparability": without}
    vectors = f"word vectors {used['file']}, {used['dimensions']} dimensions"
    same = used["file"].startswith(VECTORS)
    end = "." if same else ", so these rows are not comparable one to one."
    text = f"Word and w+c rows use {vectors}; the paper's use {VECTORS}{end}"
    return {"vectors": vectors, "comparability": text}


def _making(content: Mapping[str, Any], words: Mapping[str, str]) -> Section:
    """What is needed to make the same again."""
    machine = content["machine"]
    versions = {content["sameas"], *(entry["sameas"] for entry in content["results"])}
    origin = {
        "command": f"`{content['command']}`",
        "sameas": ", ".join(sorted(versions)),
        "system": f"{machine['system']}, Python {machine['python']}",
        "processor": f"{machine['processor']}, {machine['cores']} cores",
        "memory": f"{gib(machine['memory_bytes'])} GiB",
        **{name: version for name, version in machine["packages"].items() if version},
        "word vectors": words["vectors"].removeprefix("word vectors "),
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
        f"{words['comparability']}",
        [
            table_of("Software, machine and word vectors", ["what", "which"], origin.items()),
            table_of(f"Experiments; {total} seconds in all", header, runs, labels=2),
            table_of("Datasets read", ["dataset", "SHA-256"], read, labels=2),
        ],
    )


def _pairs(spec: Mapping[str, Any], results: Iterable[Mapping[str, Any]]) -> Table:
    """The scores of each method on pairs of RDF files, or its error, and published figures."""
    rows, f1 = [], {name: list[float]() for name in spec["methods"]}
    for entry in results:
        if entry["experiment"] != "real":
            continue
        figures, pair = entry["figures"], entry["dataset"].removeprefix("real/")
        row = [pair, count(figures[""]["links"]) if "" in figures else NOTHING]
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


def _tables(
    spec: Mapping[str, Any], figures: pl.DataFrame, words: Mapping[str, str]
) -> Iterator[Table]:
    """The tables of a specification, one for each of its metrics, unless nothing was measured."""
    for metric in spec.get("metrics", [None]):
        blocks, columns = list[tuple[Rows, dict[str, dict[str, Any]]]](), dict[str, str]()
        for block in spec["blocks"]:
            cells: dict[str, dict[str, Any]] = {}
            for rows in [Rows(**{"metric": metric, **chosen}) for chosen in block]:
                found = pivot(figures, rows).get("", {})
                cells |= found
                if rows.preset not in ("published", "difference"):
                    columns |= _columns(rows.across, found.values())
            blocks.append((rows, cells))
        if not columns:
            continue
        if spec.get("mean"):
            columns["mean"] = "mean"
        groups = []
        for rows, cells in blocks:
            # Published rows may have no figure for the datasets at hand.
            kept = {label: row for label, row in cells.items() if row.keys() & columns.keys()}
            if spec.get("mean"):
                kept = {label: {**row, "mean": fmean(row.values())} for label, row in kept.items()}
            # Only scores have a best one unless it says so.
            best = rows.best or ("max" if rows.show in ("score", "profit") else "none")
            groups.append(figure_rows(kept, columns, SHOW[rows.show], BEST.get(best)))
        caption = spec["table"].format(**words, metric=_word(metric))
        header = [spec.get("corner", ""), *columns.values()]
        yield Table(caption, header, [group for group in groups if group])


def _columns(across: str, rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The columns that rows have, in order, and their headers."""
    found = dict.fromkeys(column for row in rows for column in row)
    if across == "dataset":
        return {dataset: title(dataset) for dataset in by_dataset(found)}
    order = [p for p in PRESETS if p in found] if across == "preset" else list(found)
    return {column: _word(column) for column in order}


def _word(name: str | None) -> str:
    """A metric or preset as tables call it."""
    return str(specification()["words"]["headers"].get(name, name))


def _plots(spec: Mapping[str, Any], figures: pl.DataFrame, folder: Path) -> Iterator[Plot]:
    """The plot of a specification, with one panel for each dataset if it says so."""
    panels: dict[str, dict[str, dict[Any, float]]] = {}
    for rows in [Rows(**chosen) for chosen in spec["rows"]]:
        for name, found in pivot(figures, rows, each=spec.get("each", False)).items():
            series = panels.setdefault(name, {})
            series |= {label: _series(rows, row) for label, row in found.items()}
    if not panels:
        return
    panel = dict(spec["panel"])
    if "y_show" in panel:
        panel["y_show"] = SHOW[panel["y_show"]]
    drawn = []
    for name, series in panels.items():
        order = [*FILLS, *series]  # the phases of a run in their order
        ordered = {label: series[label] for label in sorted(series, key=order.index)}
        drawn.append(Panel(series=ordered, title=name, **panel))
    size = {name: spec[name] for name in ("height", "columns") if name in spec}
    yield Plot(spec["plot"], spec["caption"], draw(folder, spec["plot"], drawn, **size))


def _series(rows: Rows, row: Mapping[str, float]) -> dict[Any, float]:
    """Values by place: numbers where places are numbers, else the words of tables."""
    try:
        return {float(place): row[place] for place in sorted(row, key=float)}
    except ValueError:
        return {words: row[place] for place, words in _columns(rows.across, [row]).items()}
