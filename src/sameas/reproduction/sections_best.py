"""What a report says about the preset ``best``; a section is None where nothing was run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from sameas.options import PRESETS
from sameas.reproduction import plots, published
from sameas.reproduction.measured import FEATURES, Measured
from sameas.reproduction.rendering import (
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
from sameas.reproduction.sections import SCORES, with_mean

LEVEL = PRESETS["best"].min_confidence
PARTS = {
    "best": "best, whole",
    "without folding": "without folding of accents and scripts",
    "without numbers": "without numerals made alike",
    "without sounds": "without n-grams of how names sound",
    "without boundaries": "without the boundaries of words",
    "without rarity": "without weights by rarity",
    "without namesakes": "without candidates by name alone",
    "without votes": "without votes of shared neighbours",
    "without lacking": "without neighbours that only one has",
    "without relations": "without telling relations apart",
    "rounds 2": "2 rounds",
    "rounds 1": "1 round",
    "rounds 0": "no refinement at all",
}
"""What the ablation leaves out, in words."""
SETTINGS = {
    "names": "what a cosine of one between names is worth, in log-odds",
    "profit": "what a profit of one is worth",
    "shared": "what shared neighbours are worth",
    "unit": "votes that begin to count",
    "lacking": "what neighbours that only one has are worth, against a pair",
    "hub": "neighbours that more entities have say nothing",
    "share": "probability from which on a mutual best pair is an anchor",
    "spread": "log-odds below the best at which pairs are dropped",
    "enter": "votes with which a pair becomes a candidate",
    "settled": "share of anchors that may still change when refinement ends",
    "base": "how far the price is below the odds of chance; a logarithm, so shifted by ln 2",
    "temperature": "Sinkhorn's, in the plan that the first anchors are from",
    "candidates": "partners considered for each entity",
    "rounds": "rounds of refinement at most",
}
"""The settings that are varied, in words."""


def whole_command(results: Measured, folder: Path) -> Section | None:
    """Hits and MRR of the whole command beside the published, its seconds and its memory."""
    titles, found = results.titles("best"), results.figures("best")
    if not titles:
        return None
    known = bool(set(titles) & set(published.DATASETS))
    parts = []
    for place, (metric, words) in enumerate(SCORES.items()):
        theirs: dict[str, Mapping[str, float | None]] = {
            "SEU w+c, published": {k: row[place] for k, row in published.SEU["hybrid"].items()}
        }
        if metric == "hits@1":
            theirs |= {f"{name}, published": row for name, row in published.LATER.items()}
        paper = {k: f[metric] for k, f in results.figures("main", "char").items() if k in titles}
        best = {key: figures[metric] for key, figures in found.items()}
        ours = {"sameas paper, char": paper} if paper else {}
        less = {
            f"best less {name.removesuffix(', published')}": {
                key: difference(value, row.get(key)) for key, value in best.items()
            }
            for name, row in theirs.items()
        }
        blocks = [Block(theirs), Block({**ours, "sameas best, char": best}), Block(less, str, None)]
        parts.append(
            grid(f"{words} of best, paper protocol", titles, blocks if known else blocks[1:2])
        )
    costs = [
        Block({"seconds": {k: f["total"] for k, f in found.items()}}, seconds, None),
        Block({"peak memory, GiB": {k: f["peak_memory_bytes"] for k, f in found.items()}}, gib),
    ]
    parts.append(grid("What the whole command took, reading and writing included", titles, costs))
    text = (
        "The preset best in the paper protocol: no word vectors, no seeds, no training, no GPU. "
        "Each figure is that of the command as a user runs it, in a process of its own. "
    )
    return Section("Preset best", text + (published.LATER_NOTE if known else ""), parts)


def open_protocol(results: Measured, folder: Path) -> Section | None:
    """The whole graphs, where many entities have no counterpart."""
    titles, found = results.titles("open"), results.by_preset("open")
    if not titles:
        return None
    kinds = {
        "precision": ("precision, partial gold", score, max),
        "strict_precision": ("precision, strict", score, max),
        "recall": ("recall", score, max),
        "f1": ("F1", score, max),
        "calibration_error": ("calibration error", score, min),
        "links": ("links", count, None),
    }
    blocks = [
        Block(
            {
                f"{words}, {preset} {FEATURES[features]}": {k: f[kind] for k, f in own.items()}
                for (preset, features), own in found.items()
            },
            show,
            better,
        )
        for kind, (words, show, better) in kinds.items()
    ]
    text = (
        "The paper aligns only the entities of the gold links; users have whole graphs, where "
        "thousands have no counterpart. The gold links do not mention all that is right: with "
        "partial gold, a link counts as wrong only if it touches an entity that the gold links "
        "mention and disagrees with them; strict counts every link that is not among them as "
        "wrong. F1 is of partial precision and recall. The preset paper links everyone; best "
        "makes a link where it is likelier than not, and nobody sets a threshold. The calibration "
        "error is the mean distance of confidence from the share that is right, over ten intervals "
        "of confidence, of the links that gold can judge."
    )
    return Section(
        "Open protocol", text, [grid(f"Whole graphs ({results.vectors})", titles, blocks)]
    )


def hidden_half(results: Measured, folder: Path) -> Section | None:
    """The whole graphs after random halves were hidden: who should stay unmatched is known."""
    titles, found = results.titles("hidden"), results.figures("hidden")
    if not titles:
        return None
    kinds = {
        "precision": "precision",
        "recall": "recall",
        "f1": "F1",
        "unmatched_recall": "recall of the unmatched",
        "calibration_error": "calibration error",
    }
    rows = {
        words: {key: [half[kind] for half in f["halves"]] for key, f in found.items()}
        for kind, words in kinds.items()
    }
    halves = max(len(figures["halves"]) for figures in found.values())
    text = (
        "Benchmarks do not say who has no counterpart, so this test sees to it: a random half of "
        "the right entities that gold links mention is taken out of its graph with all their "
        "triples, and any link of their left partners is wrong. The recall of the unmatched is the "
        "share of these partners that stay unmatched. Preset best, whole graphs, no threshold "
        f"given; means over {halves} random halves, in brackets the lowest and the highest."
    )
    return Section("Hidden half", text, [grid("Hidden half", titles, [Block(rows, _range, None)])])


def _range(values: Sequence[float]) -> str:
    return f"{score(fmean(values))} ({score(min(values))} to {score(max(values))})"


def reliability(results: Measured, folder: Path) -> Section | None:
    """Whether links with a confidence of .9 are right in nine of ten cases."""
    found = {
        "open protocol": results.by_preset("open").get(("best", "char"), {}),
        "hidden half": results.figures("hidden"),
    }
    found = {words: figures for words, figures in found.items() if figures}
    if not found:
        return None
    titles = {
        key: title
        for key, title in results.titles("open", "hidden").items()
        if any(key in figures for figures in found.values())
    }
    panels = {
        title: {words: f[key]["bins"] for words, f in found.items() if key in f}
        for key, title in titles.items()
    }
    caption = (
        "Share of links that are right against their confidence; below, how many there are, in "
        "the order of the legend"
    )
    svg = plots.reliability(folder, "reliability", panels, level=LEVEL)
    tables = [
        grid(
            f"Share that is right and number of links by confidence, {words}",
            titles,
            [
                Block(_by_confidence(figures, "accuracy"), score, None),
                Block(_by_confidence(figures, "count"), count, None),
            ],
            corner="confidence",
        )
        for words, figures in found.items()
    ]
    text = (
        "A confidence means something if links with a confidence around .9 are right in nine of "
        "ten cases: points on the diagonal. Preset best, over the links that gold can judge; the "
        f"hidden halves are taken together. Links below a confidence of {score(LEVEL)[:-2]} (left "
        "of the dotted line) are shown too, though they are not made and do not count in the "
        "calibration errors of the tables above."
    )
    return Section("Reliability", text, [Plot("reliability", caption, svg), *tables])


def _by_confidence(
    found: Mapping[str, Mapping[str, Any]], figure: str
) -> dict[str, dict[str, Any]]:
    lows = sorted({each["low"] for figures in found.values() for each in figures["bins"]})
    what = {"accuracy": "right", "count": "links"}[figure]
    rows: dict[str, dict[str, Any]] = {}
    for low in lows:
        label = f"{low:.1f} to {low + 0.1:.1f}, {what}"
        rows[label] = {
            key: each[figure]
            for key, figures in found.items()
            for each in figures["bins"]
            if each["low"] == low
        }
    return rows


def ablation(results: Measured, folder: Path) -> Section | None:
    """What each part of best is good for."""
    titles, found = results.titles("ablation"), results.figures("ablation")
    if not titles:
        return None
    parts = list(dict.fromkeys(part for figures in found.values() for part in figures))
    tables, losses = [], []
    for metric, words in (("hits@1", "Hits@1, paper protocol"), ("f1", "F1, open protocol")):
        rows = {
            PARTS.get(part, part): {k: f[part][metric] for k, f in found.items() if part in f}
            for part in parts
        }
        whole = fmean(rows[PARTS["best"]].values())
        means = {part: fmean(row.values()) - whole for part, row in rows.items()}
        worst = min(means, key=lambda part: means[part])
        losses.append(f"in the mean {words}, {worst} ({score(means[worst])})")
        tables.append(
            grid(f"{words}, best and less than that", {**titles, "mean": "mean"}, [with_mean(rows)])
        )
    text = (
        "Each part of best left out in turn, all others staying; then fewer rounds of refinement, "
        "and none. A part is worth its place if something is lost without it. What costs most: "
        f"{'; '.join(losses)}."
    )
    return Section("Ablation", text, tables)


def sensitivity(results: Measured, folder: Path) -> Section | None:
    """What happens to Hits@1 where a setting is half or double."""
    titles, found = results.titles("sensitivity"), results.figures("sensitivity")
    if not titles:
        return None
    sizes = ("half", "double")
    panels = {
        titles[key]: {
            name: {size: setting[size]["hits@1"] for size in sizes}
            for name, setting in figures["settings"].items()
        }
        for key, figures in found.items()
    }
    usual = {titles[key]: figures["usual"]["hits@1"] for key, figures in found.items()}
    worst = min(
        (marks[size] - usual[title], title, name, size)
        for title, rows in panels.items()
        for name, marks in rows.items()
        for size in sizes
    )
    caption = "Hits@1, paper protocol, with each setting halved and doubled; the line: as it is"
    svg = plots.changes(folder, "sensitivity", panels, usual, x_label="Hits@1")
    text = (
        "The settings of best are the same for all datasets. Each in turn is halved and doubled, "
        "all others staying as they are (whole numbers are rounded down; base is a logarithm and "
        "shifted by ln 2). Where a setting hardly matters, both marks are near the line. The "
        f"largest loss is that of {worst[2]}, {worst[3]}, on {worst[1]}: {score(worst[0])}."
    )
    parts: list[Table | Plot] = [
        Plot("sensitivity", caption, svg),
        _settings(found),
        grid("Hits@1, paper protocol, by setting", titles, _blocks(found, "hits@1")),
        grid("F1, open protocol, by setting", titles, _blocks(found, "f1")),
    ]
    return Section("Sensitivity", text, parts)


def _settings(found: Mapping[str, Mapping[str, Any]]) -> Table:
    figures = next(iter(found.values()))["settings"]
    rows = [
        [Cell(text) for text in (name, SETTINGS.get(name, ""), *map(_setting, values))]
        for name, setting in figures.items()
        for values in [(setting["value"], setting["half"]["value"], setting["double"]["value"])]
    ]
    header = ["setting", "what it is", "value", "half", "double"]
    return Table("Settings of best, one for all datasets", header, [rows], labels=2)


def _setting(value: float) -> str:
    return f"{value:.4g}".replace("-", "−")


def _blocks(found: Mapping[str, Mapping[str, Any]], metric: str) -> list[Block]:
    """The figures as they are, then those with each setting changed that has this metric."""
    usual = {"as it is": {key: figures["usual"][metric] for key, figures in found.items()}}
    names = dict.fromkeys(name for figures in found.values() for name in figures["settings"])
    blocks = [Block(usual)]
    for name in names:
        rows = {
            f"{name}, {size}": {
                key: figures["settings"][name][size][metric]
                for key, figures in found.items()
                if metric in figures["settings"].get(name, {}).get(size, {})
            }
            for size in ("half", "double")
        }
        if any(rows.values()):
            blocks.append(Block(rows, score, None))
    return blocks
