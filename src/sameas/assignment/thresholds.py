"""The threshold from pairs that are certainly wrong: the rivals of sure links.

An entity whose partner is sure has other candidates too. The best of them that is free (no sure
partner of another) is as good as chance makes it: that is what the best candidate of an entity
without a counterpart looks like. Such maxima follow a Gumbel distribution; its location and
scale, and the share of entities that have a better candidate than chance gives, tell the score
beyond which a link is likelier than not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sameas.assignment.open import FLOOR
from sameas.candidates.pairs import Candidates
from sameas.compute.arrays import Numbers, Positions, Vector

SURE = 0.9
"""Anchors at least this sure have rivals that are certainly wrong."""
FEW = 8
"""Groups with fewer sure anchors are judged by the rivals of all groups together."""
SPARE = 0.01
"""The share of entities that is taken as not linked even if all seem to be."""
BEYOND = 60.0
"""Scores beyond this belong to links that were given, not found."""
SCALE, SAMPLES = 2.0, 8
"""A scale to begin with, and how many rivals it is worth: few rivals alone tell it badly."""
LOWEST = -10.0
"""The score of chance where no sure link has a rival."""
MIDDLE, HIGH = 0.3665, 2.2504
"""The median and the nine-tenths quantile of the standard Gumbel distribution."""


def learn_thresholds(
    candidates: Candidates,
    anchors: tuple[Positions, Positions, Vector],
    groups: tuple[Numbers, Numbers],
    *,
    sides: Sequence[int] = (0, 1),
) -> Vector | None:
    """For each group, the score beyond which a link is likelier than not; None if nothing tells.

    ``anchors`` are left, right and trust; ``groups`` those of all entities: pairs are within one.
    ``sides`` are those whose entities have one partner at most, so that rivals are wrong.
    ``candidates`` must hold rivals however far they are below the best.
    """
    left, right = _surest(*anchors)
    if len(left) < 2:
        return None
    partner = np.full(candidates.shape[0], -1, dtype=np.int64)
    partner[left] = right
    taken = np.zeros(candidates.shape[1], dtype=np.bool_)
    taken[right] = True
    ends = candidates.left, candidates.right
    own = partner[ends[0]] == ends[1]
    free = ~taken[ends[1]] & ~own, (partner[ends[0]] < 0) & ~own
    scores = np.minimum(candidates.values.astype(np.float64), BEYOND)
    count = int(max(side.max(initial=0) for side in groups)) + 1
    found = np.zeros((len(sides), count))
    for row, side in zip(found, sides, strict=True):
        size, sure = candidates.shape[side], (left, right)[side]
        best, rival, linked = (
            _best(ends[side][which], scores[which], size) for which in (free[side], ~own, own)
        )
        reached = np.where(np.isfinite(linked), linked, best)
        met = np.bincount(ends[side], minlength=size) > 0
        for group in range(count):
            chosen = sure[groups[side][sure] == group]
            chosen = sure if len(chosen) < FEW else chosen
            inside = met & (groups[side] == group)
            row[group] = _threshold(
                best[chosen], rival[chosen], linked[chosen], reached[inside], linked[inside]
            )
    return np.asarray(found.mean(axis=0))


def _surest(left: Positions, right: Positions, trust: Vector) -> tuple[Positions, Positions]:
    """The anchors that are sure; the surest few if there are hardly any."""
    sure = np.flatnonzero(trust > SURE)
    if len(sure) < FEW:
        sure = np.argsort(-trust, kind="stable")[:FEW]
    return left[sure], right[sure]


def _best(ends: NDArray[np.integer], scores: Vector, size: int) -> Vector:
    best = np.full(size, -np.inf)
    np.maximum.at(best, ends, scores)
    return best


def _threshold(free: Vector, rivals: Vector, links: Vector, reached: Vector, sure: Vector) -> float:
    """Where links, spread evenly from chance to the median link, are as frequent as rivals.

    Rivals fall off like exp(-(s - location) / scale) / scale. ``free``, ``rivals`` and ``links``
    are the best free rival, the best rival and the link of sure entities; ``reached`` and
    ``sure`` the best score, and that of a sure link, of all entities.
    """
    there = free[np.isfinite(free)]
    present = (len(there) + 0.5) / (len(free) + 1)
    middle, high = np.quantile(there if len(there) else [LOWEST], [0.5, 0.9])
    fitted = (high - middle) / (HIGH - MIDDLE)
    scale = (len(there) * fitted + SAMPLES * SCALE) / (len(there) + SAMPLES)
    location = middle - MIDDLE * scale
    size, over = max(len(reached), 1), 0.1 * present
    share = ((reached >= high).sum() / size - over) / (1 - over)
    share = max(share, np.isfinite(sure).sum() / size)
    share = float(np.clip(share, 0.5 / size, 1 - SPARE))
    spread = max(float(np.median(links)) - location, 2 * scale)
    odds = spread * (1 - share) * present / (scale * share)
    threshold = location + scale * np.log(max(odds, 1e-9))
    # No link is worth less than what nine of ten best rivals exceed, free or not; and two
    # entities are not a pair for lack of others.
    others = rivals[np.isfinite(rivals)]
    return float(max(threshold, FLOOR, *(np.quantile(others, [0.1]) if len(others) else ())))
