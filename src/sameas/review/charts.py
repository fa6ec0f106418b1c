"""Charts as numbers: where the bars of a waterfall and of a histogram begin and end."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from sameas.explanation.result import Comparison, Detail, Part
from sameas.explanation.words import matters, neighbours, ngram_text, part_measure, part_title
from sameas.review.parameters import Record


def waterfall(comparison: Comparison) -> Record:
    """The parts of a score as steps, the threshold first, each from where the sum so far ends.

    ``zero``, ``before`` (the sum before a step), ``start`` and ``width`` are in percent of the
    width of the chart. The last step is the total, which holds parts that are nearly nothing too.
    """
    parts = sorted(filter(matters, comparison.parts), key=lambda part: part.kind != "threshold")
    sums = list(accumulate((part.score for part in parts), initial=0.0))
    low, high = min(0.0, comparison.score, *sums), max(0.0, comparison.score, *sums)
    scale = 100.0 / (high - low) if high > low else 0.0
    steps: list[Record] = [
        {
            "title": part_title(part),
            "measure": part_measure(part),
            "kind": part.kind,
            "details": [_detail(part, one) for one in part.details],
        }
        for part in parts
    ]
    steps.append({"title": "total", "measure": "", "kind": "total", "details": []})
    for step, (begin, end) in zip(steps, [*pairwise(sums), (0.0, comparison.score)], strict=True):
        step["score"], step["before"] = end - begin, (begin - low) * scale
        step["start"] = round((min(begin, end) - low) * scale, 2)
        step["width"] = round(abs(end - begin) * scale, 2)
    return {"zero": round(-low * scale, 2), "steps": steps}


def _detail(part: Part, detail: Detail) -> Record:
    if detail.count > 1:
        left, right = f"{detail.count:,} more", ""
    elif part.kind == "name":
        left, right = ngram_text(detail), ""
    else:
        left, right = neighbours(detail)
    return {"left": left, "right": right, "score": detail.score}


def histogram(counts: Sequence[int]) -> list[Record]:
    """A column for each of equal bins from 0 to 1, as high as ``height`` percent.

    The smallest can still be seen.
    """
    most, bins = max(counts, default=0), len(counts)
    return [
        {
            "low": place / bins,
            "high": (place + 1) / bins,
            "count": count,
            "height": max(100 * count / most, 1.5) if count else 0.0,
        }
        for place, count in enumerate(counts)
    ]
