"""Rules of decision compared on dumps, with one task left out at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.decisions.dump import read_dump
from benchmarks.decisions.rules import (
    best_with_gold,
    decided,
    links_of,
    threshold_alone,
    variants,
)
from sameas.options.tuning import TUNING


def compare(folder: Path) -> Iterator[str]:
    """Lines of a Markdown table: the F1 of each task by each rule, then means.

    "left out" has the setting that is best on all other tasks.
    """
    names, rows, settings = [], [], variants()
    for path in sorted(folder.glob("*.npz")):
        links = links_of(read_dump(path))
        strengths = links.strengths(TUNING.decision)
        f1 = [links.f1(decided(links, strengths, each)[0] > 0.5) for each in settings.values()]
        usual = links.f1(decided(links, strengths)[0] > 0.5)
        best = best_with_gold(links, strengths)
        rows.append([links.f1(threshold_alone(links)), usual, best, *f1])
        names.append(path.stem)
    table = np.array(rows)
    first, tried = table[:, :3], table[:, 3:]
    chosen = ((tried.sum(axis=0) - tried) / max(len(tried) - 1, 1)).argmax(axis=1)
    left_out = tried[np.arange(len(tried)), chosen]
    yield "| task | threshold alone | runner-ups | left out | best cut with gold |"
    yield "|---|---|---|---|---|"
    for name, (old, new, best), out in zip(names, first, left_out, strict=True):
        yield f"| {name} | {old:.3f} | {new:.3f} | {out:.3f} | {best:.3f} |"
    old, new, best = first.mean(axis=0)
    yield f"| mean of {len(names)} | {old:.4f} | {new:.4f} | {left_out.mean():.4f} | {best:.4f} |"
    yield ""
    yield "| setting | mean F1 | largest loss against the threshold alone |"
    yield "|---|---|---|"
    for name, column in zip(settings, tried.T, strict=True):
        yield f"| {name} | {column.mean():.4f} | {(column - first[:, 0]).min():.3f} |"
