"""Charts as numbers: where the bars of a waterfall and of a histogram begin and end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sameas.explanation.result import Comparison, Part
from sameas.explanation.words import matters, part_measure, part_title


@dataclass(frozen=True)
class Bar:
    """One step of a waterfall, in percent of its width; the last one is the total."""

    title: str
    measure: str
    score: float
    start: float
    width: float
    before: float
    """Where the running sum stands before this step."""
    part: Part | None = None


@dataclass(frozen=True)
class Waterfall:
    """How a score comes about: from what every pair starts with to the total."""

    bars: tuple[Bar, ...]
    zero: float
    """Where zero is, in percent of the width."""


def waterfall(comparison: Comparison) -> Waterfall:
    """The parts of a score, the threshold first, each from where the sum so far ends.

    Parts that are not shown for being nearly nothing are in the total.
    """
    parts = sorted(filter(matters, comparison.parts), key=lambda part: part.kind != "threshold")
    sums = [0.0]
    for part in parts:
        sums.append(sums[-1] + part.score)
    low, high = min(0.0, comparison.score, *sums), max(0.0, comparison.score, *sums)
    scale = 100.0 / (high - low) if high > low else 0.0

    def bar(title: str, measure: str, begin: float, end: float, part: Part | None) -> Bar:
        start, stop = sorted(((begin - low) * scale, (end - low) * scale))
        at = (begin - low) * scale
        return Bar(title, measure, end - begin, round(start, 2), round(stop - start, 2), at, part)

    bars = [
        bar(part_title(part), part_measure(part), before, after, part)
        for part, before, after in zip(parts, sums, sums[1:], strict=False)
    ]
    total = bar("total", "", 0.0, comparison.score, None)
    return Waterfall((*bars, total), round(-low * scale, 2))


@dataclass(frozen=True)
class Column:
    """One column of a histogram: from ``low`` to ``high``, so many, so high in percent."""

    low: float
    high: float
    count: int
    height: float


def histogram(counts: Sequence[int]) -> list[Column]:
    """A column for each of equal bins from 0 to 1; the smallest can still be seen."""
    most, bins = max(counts, default=0), len(counts)
    heights = [max(100 * count / most, 1.5) if count else 0.0 for count in counts]
    return [
        Column(place / bins, (place + 1) / bins, count, height)
        for place, (count, height) in enumerate(zip(counts, heights, strict=True))
    ]
