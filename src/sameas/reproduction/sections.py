"""The sections of the report, made from sections.yaml and the figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Any

import polars as pl
import yaml

from sameas.options import PRESETS as OPTIONS
from sameas.reproduction.figures import PRESETS, Results, Rows, by_dataset, title
from sameas.reproduction.plots import FILLS, Panel, draw
from sameas.reproduction.rendering import (
    NOTHING,
    Block,
    Plot,
    Section,
    Table,
    count,
    gib,
    grid,
    score,
    seconds,
    signed,
    table_of,
)

LEVEL = OPTIONS["best"].min_confidence


def spread(values: Sequence[float]) -> str:
    """The mean of some scores, with the lowest and the highest."""
    return f"{score(fmean(values))} ({score(min(values))} to {score(max(values))})"


SHOW: dict[str, Callable[[Any], str]] = {
    "score": score,
    "signed": signed,
    "seconds": seconds,
    "gib": gib,
    "count": count,
    "profit": "{:,.3f}".format,
    "spread": spread,
}
BEST: dict[str, Callable[..., Any] | None] = {"max": max, "min": min, "none": None}


@lru_cache
def specification() -> dict[str, Any]:
    """The content of sections.yaml."""
    content: dict[str, Any] = yaml.safe_load(
        Path(__file__).with_name("sections.yaml").read_text(encoding="utf8")
    )
    return content


def make_sections(results: Results, folder: Path) -> dict[str, Section | None]:
    """Each section by its title, None where nothing was run; plots are written to the folder."""
    done = {e["experiment"] for e in results.content["results"]}
    done |= {f"{e['experiment']} best" for e in results.content["results"] if _is_best(e)}
    return {
        spec["title"]: _section(spec, results, folder) if done & set(spec["experiments"]) else None
        for spec in specification()["sections"]
    }


def _is_best(entry: Mapping[str, Any]) -> bool:
    return bool(entry["settings"].get("preset") == "best")


def _section(spec: Mapping[str, Any], results: Results, folder: Path) -> Section:
    words = {"vectors": results.vectors, "comparability": results.comparability}
    if spec["title"] in FACTS:
        words |= FACTS[spec["title"]](results)
    parts: list[Table | Plot] = []
    for part in spec["parts"]:
        if "made_by" in part:
            parts.append(MAKERS[part["made_by"]](results))
        elif "plot" in part:
            parts += _plot(part, results, folder)
        else:
            parts += _tables(part, results, words)
    return Section(spec["title"], spec["text"].format(**words).strip(), parts)


def _rows(spec: Mapping[str, Any], metric: str | None = None) -> Rows:
    """Rows from their specification; only scores have a best one unless it says so."""
    show = spec.get("show", "score")
    best = spec.get("best", "max" if show in ("score", "profit") else "none")
    choices = {**spec, "metric": spec.get("metric", metric), "show": SHOW[show], "best": BEST[best]}
    return Rows(**{**choices, "variants": tuple(spec.get("variants", ()))})


def _tables(
    spec: Mapping[str, Any], results: Results, words: Mapping[str, str]
) -> list[Table]:
    tables = []
    for metric in spec.get("metrics", [None]):
        blocks, columns = [], {}
        for own in ([_rows(each, metric) for each in block] for block in spec["blocks"]):
            cells = [results.pivot(rows) for rows in own]
            for rows, found in zip(own, cells, strict=True):
                if rows.preset not in ("published", "difference"):
                    columns |= _columns(rows.across, found)
            blocks.append(Block(_merged(cells), own[0].show, own[0].best))
        blocks = [replace_rows(block, columns, mean=spec.get("mean", False)) for block in blocks]
        if spec.get("mean"):
            columns["mean"] = "mean"
        caption = spec["table"].format(**words, metric=_word(metric or ""))
        if any(block.rows for block in blocks):
            tables.append(grid(caption, columns, blocks, corner=spec.get("corner", "")))
    return tables


def _merged(parts: Sequence[Mapping[str, Mapping[str, Any]]]) -> dict[str, Mapping[str, Any]]:
    return {label: row for part in parts for label, row in part.items()}


def replace_rows(block: Block, columns: Mapping[str, str], *, mean: bool) -> Block:
    """The rows that have a figure in one of the columns, with their means if asked for."""
    rows = {
        label: {**row, "mean": fmean(row.values())} if mean else row
        for label, row in block.rows.items()
        if set(row) & set(columns)
    }
    return block._replace(rows=rows)


def _columns(across: str, rows: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The columns that rows have, in order, and their headers."""
    found = dict.fromkeys(column for row in rows.values() for column in row)
    if across == "dataset":
        return {dataset: title(dataset) for dataset in by_dataset(found)}
    order = [p for p in PRESETS if p in found] if across == "preset" else list(found)
    return {column: _word(column) for column in order}


def _word(name: str) -> str:
    """A metric or preset as tables call it."""
    words = specification()["words"]
    return str({**words["metrics"], **words["presets"]}.get(name, name))


def _plot(spec: Mapping[str, Any], results: Results, folder: Path) -> list[Plot]:
    heights = spec.get("heights", [3.8])
    if "panels" in spec:
        panels = PANELS[spec["panels"]](results)
        heights = heights * (len(panels) // len(heights))
    else:
        rows = _rows(spec["rows"])
        series = results.pivot(rows)
        if not series:
            return []
        if spec["panel"]["kind"] == "lines":
            named: Any = {k: {float(x): y for x, y in row.items()} for k, row in series.items()}
        else:
            headers = _columns(rows.across, series)
            named = {k: {headers[x]: row[x] for x in headers if x in row} for k, row in series.items()}
        if spec["panel"]["kind"] == "stacked":
            order = [*FILLS, *named]
            named = dict(sorted(named.items(), key=lambda item: order.index(item[0])))
        panels = [[Panel(series=named, **spec["panel"])]]
    return [Plot(spec["plot"], spec["caption"], draw(folder, spec["plot"], panels, heights=heights))]


def dataset_sizes(results: Results) -> Table:
    """What the files hold, and whether that is what the paper says."""
    rows = []
    for dataset, side, paper in _sides(results):
        ours, theirs = _sizes(results, dataset, side), _sizes(results, dataset, paper, "published")
        differing = [kind for kind in theirs if ours[kind] != theirs[kind]]
        verdict = f"differs: {', '.join(differing)}" if differing else "same"
        links = results.select(Rows("datasets", "links")).filter(dataset=dataset)["value"][0]
        cells = [title(dataset), side if side == paper else f"{side} (paper's {paper})"]
        cells += [verdict if theirs else NOTHING, count(links), *map(count, ours.values())]
        rows.append([*cells, *(count(theirs.get(kind)) for kind in ours)])
    header = ["dataset", "graph", "against the paper", "gold links", "entities", "relations"]
    header += ["triples", "published entities", "published relations", "published triples"]
    return table_of("Datasets, as read and as published", header, rows, labels=3)


def _sides(results: Results) -> list[tuple[str, str, str]]:
    """Each graph of each dataset, and the side on which the paper has it."""
    swapped = results.select(Rows("datasets", "swapped"))
    return [
        (dataset, side, other if turned else side)
        for dataset, turned in swapped.select("dataset", "value").iter_rows()
        for side, other in (("left", "right"), ("right", "left"))
    ]


def _sizes(
    results: Results, dataset: str, side: str, preset: str | None = None
) -> dict[str, float]:
    chosen = results.select(Rows("datasets", preset=preset, variants=(side,)))
    return dict(chosen.filter(dataset=dataset).select("metric", "value").iter_rows())


def _dataset_facts(results: Results) -> dict[str, str]:
    wrong = [
        f"{title(dataset)}, {side}: {count(ours[kind])} {kind} where the paper has {count(value)}"
        for dataset, side, paper in _sides(results)
        for ours in [_sizes(results, dataset, side)]
        for kind, value in _sizes(results, dataset, paper, "published").items()
        if ours[kind] != value
    ]
    found = f"Not as in the paper: {'; '.join(wrong)}." if wrong else "What is in both agrees."
    if any(side != paper for _, side, paper in _sides(results)):
        found += " A graph that is on the other side in the paper is compared with that one."
    return {"found": found}


def _main_facts(results: Results) -> dict[str, str]:
    away: Any = results.select(Rows("main", preset="difference", features="char"))["value"]
    if not len(away):
        return {"away": ""}
    return {
        "away": "The char rows need no word vectors and can be compared as they are: the largest "
        f"difference from the published SEU is {score(away.abs().max())}."
    }


def _time_facts(results: Results) -> dict[str, str]:
    totals = results.select(Rows("runtime", "total_seconds"))
    taken = dict(totals.select("preset", "value").iter_rows())
    ratios = [
        f"{taken['plain'] / taken[preset]:.1f} times as long as the whole command with the preset "
        f"{preset}"
        for preset in ("paper", "best")
        if {"plain", preset} <= set(taken)
    ]
    if not ratios:
        return {"ratios": "The plain procedure was not run for comparison."}
    return {
        "ratios": "What can be compared is the paper's procedure written plainly, measured in the "
        f"same run on {title(totals['dataset'][0])}, char features: it takes "
        f"{' and '.join(ratios)}."
    }


def _highest(experiment: str) -> Callable[[Results], dict[str, str]]:
    """For the text of a curve: where each dataset has its highest Hits@1."""

    def facts(results: Results) -> dict[str, str]:
        points = results.pivot(Rows(experiment, "hits@1", label="{dataset}", across="variant"))
        best = {name: max(row, key=lambda x: row[x]) for name, row in points.items()}  # noqa: B023
        found = [f"{name} at {x} ({score(points[name][x])})" for name, x in best.items()]
        return {"highest": "; ".join(found)}

    return facts


def _ablation_facts(results: Results) -> dict[str, str]:
    parts, losses = specification()["words"]["parts"], []
    for metric, words in (("hits@1", "Hits@1, paper protocol"), ("f1", "F1, open protocol")):
        rows = results.pivot(Rows("ablation", metric, words=parts))
        means = {part: fmean(row.values()) for part, row in rows.items()}
        worst = min(means, key=lambda part: means[part])  # noqa: B023
        loss = means[worst] - means[parts["best"]]
        losses.append(f"in the mean {words}, {worst} ({score(loss)})")
    return {"losses": "; ".join(losses)}


def _sensitivity_facts(results: Results) -> dict[str, str]:
    rows = results.pivot(Rows("sensitivity", "hits@1"))
    usual = rows.pop("as it is")
    loss, name, dataset = min(
        (value - usual[dataset], name, dataset)
        for name, row in rows.items()
        for dataset, value in row.items()
    )
    return {"loss": f"{name}, on {title(dataset)}: {score(loss)}"}


def settings_of_best(results: Results) -> Table:
    """The settings that are varied, and their values."""
    words, found = specification()["words"]["settings"], {}
    for variant, row in results.pivot(Rows("sensitivity", "value")).items():
        name, _, _ = variant.rpartition(", ")
        texts = found.setdefault(name, [name, words.get(name, "")])
        texts.append(f"{next(iter(row.values())):.4g}".replace("-", "−"))
    header = ["setting", "what it is", "value", "half", "double"]
    return table_of("Settings of best, one for all datasets", header, found.values(), labels=2)


def reliability_panels(results: Results) -> list[list[Panel]]:
    """For each dataset, accuracy by confidence above the number of links."""
    kinds = {"open protocol": Rows("open", preset="best"), "hidden half": Rows("hidden")}
    lines: dict[str, dict[str, dict[float, float]]] = {}
    bars: dict[str, dict[str, dict[str, float]]] = {}
    for kind, rows in kinds.items():
        figures = results.select(rows).filter(pl.col("variant").str.contains(" to "))
        for (dataset,), own in figures.group_by("dataset", maintain_order=True):
            name = title(str(dataset))
            wide = own.pivot("metric", index="variant", values="value").sort("variant")
            made = wide.drop_nulls("accuracy")
            points = dict(zip(made["confidence"], made["accuracy"], strict=True))
            lines.setdefault(name, {})[kind] = points
            counts = {bin_name[1:3]: n for bin_name, n in wide.select("variant", "count").rows()}
            bars.setdefault(name, {})[kind] = counts
    upper = Panel("lines", {}, usual=LEVEL, diagonal=True, x_limits=(0, 1), y_limits=(0, 1.02))
    upper = replace(upper, y_label="share that is right", y_show="{:g}".format)
    lower = Panel("bars", {}, usual=10 * LEVEL - 0.5, x_limits=(-0.5, 9.5), y_limits=(0.7, 1e5))
    lower = replace(lower, logarithmic="y", x_label="confidence", y_label="links", y_show=count)
    above = [replace(upper, series=series, title=name) for name, series in lines.items()]
    below = [replace(lower, series=series) for series in bars.values()]
    return [part[i : i + 3] for i in range(0, len(above), 3) for part in (above, below)]


def sensitivity_panels(results: Results) -> list[list[Panel]]:
    """For each dataset, Hits@1 with each setting halved and doubled; all on the same scale."""
    rows = results.pivot(Rows("sensitivity", "hits@1", label="{dataset}", across="variant"))
    span = max(max(row.values()) - min(row.values()) for row in rows.values()) or 0.01
    panels = []
    for name, row in rows.items():
        middle = (max(row.values()) + min(row.values())) / 2
        series: dict[str, dict[str, float]] = {"half": {}, "double": {}}
        for variant, value in row.items():
            setting, _, size = variant.rpartition(", ")
            if setting:
                series[size][setting] = value
        limits = middle - 0.55 * span, middle + 0.55 * span
        usual = row["as it is"]
        panels.append(
            Panel("dots", series, title=name, usual=usual, x_limits=limits, x_label="Hits@1")
        )
    return [panels[i : i + 2] for i in range(0, len(panels), 2)]


MAKERS: dict[str, Callable[[Results], Table]] = {
    "dataset_sizes": dataset_sizes,
    "settings_of_best": settings_of_best,
}
PANELS: dict[str, Callable[[Results], list[list[Panel]]]] = {
    "reliability_panels": reliability_panels,
    "sensitivity_panels": sensitivity_panels,
}
FACTS: dict[str, Callable[[Results], dict[str, Any]]] = {
    "Datasets": _dataset_facts,
    "Main results": _main_facts,
    "Run time": _time_facts,
    "Temperature": _highest("temperature"),
    "Iterations": _highest("iterations"),
    "Depth": _highest("depth"),
    "Hidden half": lambda results: {
        "halves": results.select(Rows("hidden", "f1"))["variant"].n_unique()
    },
    "Reliability": lambda results: {"level": score(LEVEL)[:-2]},
    "Ablation": _ablation_facts,
    "Sensitivity": _sensitivity_facts,
}
