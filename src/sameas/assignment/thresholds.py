"""The threshold from pairs that are certainly wrong: the rivals of sure links.

An entity whose partner is sure has other candidates too. The best of them that is free (no sure
partner of another) is as good as chance makes it: that is what the best candidate of an entity
without a counterpart looks like. Such maxima follow a Gumbel distribution; its location and
scale, and the share of entities that have a better candidate than chance gives, tell the score
beyond which a link is likelier than not.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sameas.candidates.pairs import Candidates
from sameas.compute.arrays import Matrix, Numbers, Positions, Vector
from sameas.options.tuning import TUNING, OpenTuning


def gumbel_quantile(probability: float) -> float:
    """The quantile of the standard Gumbel distribution, -ln(-ln q), to four digits.

    >>> gumbel_quantile(0.5), gumbel_quantile(0.9)
    (0.3665, 2.2504)
    """
    return round(-math.log(-math.log(probability)), 4)


def learn_thresholds(
    candidates: Candidates,
    anchors: tuple[Positions, Positions, Vector],
    groups: tuple[Numbers, Numbers],
    *,
    tuning: OpenTuning = TUNING.open,
) -> Vector | None:
    """For each group, the score beyond which a link is likelier than not; None if nothing tells.

    ``anchors`` are left, right and trust; ``groups`` those of all entities: pairs are within one.
    ``candidates`` must hold rivals however far they are below the best.
    """
    left, right = _surest(*anchors, tuning)
    if len(left) < 2:
        return None
    partner = np.full(candidates.shape[0], -1, dtype=np.int64)
    partner[left] = right
    taken = np.zeros(candidates.shape[1], dtype=np.bool_)
    taken[right] = True
    ends = candidates.left, candidates.right
    is_partner = partner[ends[0]] == ends[1]
    free = ~taken[ends[1]] & ~is_partner, (partner[ends[0]] < 0) & ~is_partner
    count = int(max(side.max(initial=0) for side in groups)) + 1
    by_side = np.zeros((2, count))
    for side, row in enumerate(by_side):
        size, sure = candidates.shape[side], (left, right)[side]
        best, rival, linked = (
            _best(ends[side][which], candidates.values[which], size, tuning.clip)
            for which in (free[side], ~is_partner, is_partner)
        )
        reached = np.where(np.isfinite(linked), linked, best)
        met = np.bincount(ends[side], minlength=size) > 0
        for group in range(count):
            chosen = sure[groups[side][sure] == group]
            chosen = sure if len(chosen) < tuning.few else chosen
            inside = met & (groups[side] == group)
            row[group] = _threshold(
                Scores(
                    best[chosen], rival[chosen], linked[chosen], reached[inside], linked[inside]
                ),
                tuning,
            )
    return np.asarray(by_side.mean(axis=0))


def _surest(
    left: Positions, right: Positions, trust: Vector, tuning: OpenTuning
) -> tuple[Positions, Positions]:
    """The anchors that are sure; the surest few if there are hardly any."""
    sure = np.flatnonzero(trust > tuning.sure)
    if len(sure) < tuning.few:
        sure = np.argsort(-trust, kind="stable")[: tuning.few]
    return left[sure], right[sure]


def _best(ends: NDArray[np.integer], scores: Matrix, size: int, most: float) -> Vector:
    """The best score of each entity, none above ``most``; -inf where there is none."""
    best = np.full(size, -np.inf)
    np.maximum.at(best, ends, np.minimum(scores.astype(np.float64), most))
    return best


class Scores(NamedTuple):
    """Scores of the entities of a group, from which its threshold is told; -inf for none."""

    free: Vector
    """The best free rival of each sure entity."""
    rivals: Vector
    """The best rival of each sure entity, free or not."""
    links: Vector
    """The link of each sure entity."""
    reached: Vector
    """The best score of every entity."""
    sure: Vector
    """The score of every entity's sure link."""


def _threshold(scores: Scores, tuning: OpenTuning) -> float:
    """Where links, spread evenly from chance to the median link, are as frequent as rivals.

    Rivals fall off like exp(-(s - location) / scale) / scale.
    """
    there = scores.free[np.isfinite(scores.free)]
    present = (len(there) + 0.5) / (len(scores.free) + 1)
    quantiles = [0.5, tuning.high_share]
    middle, high = np.quantile(there if len(there) else [tuning.lowest], quantiles)
    median, prior = gumbel_quantile(0.5), tuning.scale_prior
    fitted = (high - middle) / (gumbel_quantile(tuning.high_share) - median)
    scale = (len(there) * fitted + prior * tuning.scale) / (len(there) + prior)
    location = middle - median * scale
    # The share of rivals beyond ``high``, rounded: 1 - 0.9 is not 0.1 in binary digits.
    size, over = max(len(scores.reached), 1), round(1 - tuning.high_share, 12) * present
    share = ((scores.reached >= high).sum() / size - over) / (1 - over)
    share = max(share, np.isfinite(scores.sure).sum() / size)
    share = float(np.clip(share, 0.5 / size, 1 - tuning.spare))
    spread = max(float(np.median(scores.links)) - location, tuning.least_spread * scale)
    odds = spread * (1 - share) * present / (scale * share)
    threshold = location + scale * np.log(max(odds, 1e-9))
    # No link is worth less than what nine of ten best rivals exceed, free or not; and two
    # entities are not a pair for lack of others.
    others = scores.rivals[np.isfinite(scores.rivals)]
    low = np.quantile(others, [tuning.rivals_below]) if len(others) else ()
    return float(max(threshold, tuning.floor, *low))
