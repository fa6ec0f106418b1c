"""How well pairs fit that are certainly not the same: the scale that scores are held against.

An entity whose partner is sure has other candidates too. The best of them that is free (no sure
partner of another) is as good as chance makes it: that is what the best candidate of an entity
without a counterpart looks like. Such maxima follow a Gumbel distribution; its location and
scale, and the share of entities that have a better candidate than chance gives, tell the score
beyond which a link is likelier than not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sameas.candidates import Candidates
from sameas.graph import Positions

Vector = NDArray[np.float64]

SURE = 0.9
"""Anchors at least this sure have rivals that are certainly wrong."""
FEW = 8
"""Groups with fewer sure anchors are judged by the rivals of all groups together."""
SPARE = 0.01
"""Share of entities that is taken as not linked even if all seem to be."""
BEYOND = 60.0
"""Scores beyond this belong to links that were given, not found."""
SCALE, SAMPLES = 2.0, 8
"""A scale to begin with, and how many rivals it is worth: few rivals alone tell it badly."""
LOWEST = -10.0


@dataclass(frozen=True, eq=False)
class Null:
    """The threshold of each group of entities, and what it was found from."""

    thresholds: Vector
    """The score beyond which a link is likelier than not."""
    groups: tuple[Positions, Positions]
    """The group of each left and of each right entity; pairs are within a group."""
    fits: dict[tuple[int, int], Fit]
    """By side (0, 1) and group."""

    def among(self, left: Positions, right: Positions) -> Null:
        """The same for some of the entities."""
        return Null(self.thresholds, (self.groups[0][left], self.groups[1][right]), self.fits)


@dataclass(frozen=True)
class Fit:
    """The best free rivals of the entities of one side and group."""

    location: float
    scale: float
    present: float
    """Share of the entities that have a free rival at all."""
    share: float
    """Share of the side's entities with a candidate that chance does not explain."""
    spread: float
    """How far the sure links' median is above the location."""
    floor: float
    """What nine of ten best rivals exceed, free or not: no link is worth less."""

    @property
    def threshold(self) -> float:
        """Where links, spread evenly over ``spread``, are as frequent as rivals.

        Those fall off like exp(-(s - location) / scale) / scale.
        """
        odds = self.spread * (1 - self.share) * self.present / (self.scale * self.share)
        return max(self.location + self.scale * float(np.log(max(odds, 1e-9))), self.floor)


def estimate_null(
    candidates: Candidates,
    left: Positions,
    right: Positions,
    trust: Vector,
    groups: tuple[Positions, Positions],
    *,
    sides: tuple[int, ...] = (0, 1),
) -> Null | None:
    """What the anchors (left, right, trust) tell about rivals; None if there are too few.

    ``sides`` are those whose entities have one partner at most, so that rivals are wrong.

    ``candidates`` must hold rivals however far they are below the best.
    """
    sure = trust > SURE
    if sure.sum() < FEW:
        order = np.argsort(-trust, kind="stable")[:FEW]
        sure = np.zeros(len(trust), dtype=np.bool_)
        sure[order] = True
    left, right = left[sure], right[sure]
    if len(left) < 2:
        return None
    count = int(max(own.max(initial=0) for own in groups)) + 1
    partner = np.full(candidates.shape[0], -1, dtype=np.int64)
    partner[left] = right
    taken = np.zeros(candidates.shape[1], dtype=np.bool_)
    taken[right] = True
    engaged = partner >= 0
    rows, columns = candidates.left, candidates.right
    scores = np.minimum(candidates.profit.astype(np.float64), BEYOND)
    own = partner[rows] == columns
    views = (
        (rows, left, groups[0], ~taken[columns] & ~own, engaged),
        (columns, right, groups[1], ~engaged[rows] & ~own, taken),
    )
    fits: dict[tuple[int, int], Fit] = {}
    thresholds = np.zeros(count)
    for side in sides:
        ends, entities, group, free, has = views[side]
        best = np.full(len(group), -np.inf)
        np.maximum.at(best, ends[free], scores[free])
        any_rival = np.full(len(group), -np.inf)
        np.maximum.at(any_rival, ends[~own], scores[~own])
        linked = np.full(len(group), -np.inf)
        np.maximum.at(linked, ends[own], scores[own])
        for number in range(count):
            inside = (group == number) & (np.bincount(ends, minlength=len(group)) > 0)
            chosen = entities[group[entities] == number]
            if len(chosen) < FEW:
                chosen = entities
            fit = _fitted(
                best[chosen], linked[chosen], np.where(has, linked, best)[inside], has[inside]
            )
            rivals = any_rival[chosen]
            rivals = rivals[np.isfinite(rivals)]
            if len(rivals):
                fit = replace(fit, floor=float(np.quantile(rivals, 0.1)))
            fits[side, number] = fit
            thresholds[number] += fit.threshold / len(sides)
    return Null(thresholds, groups, fits)


def _fitted(rivals: Vector, links: Vector, best: Vector, sure: NDArray[np.bool_]) -> Fit:
    """A Gumbel distribution by its upper quantiles, and the share of what exceeds it.

    ``best`` is the best score of every entity: of its sure link, or of its free candidates.
    At least the sure ones exceed it.
    """
    there = np.isfinite(rivals)
    present = (there.sum() + 0.5) / (len(rivals) + 1)
    values = rivals[there] if there.any() else np.array([LOWEST])
    middle, high = np.quantile(values, [0.5, 0.9])
    # Quantiles of the standard Gumbel distribution: 0.367 and 2.250.
    count = int(there.sum())
    scale = (count * (high - middle) / 1.884 + SAMPLES * SCALE) / (count + SAMPLES)
    location = float(middle - 0.3665 * scale)
    over = 0.1 * present
    share = ((best >= high).mean() - over) / (1 - over) if len(best) else 0.0
    size = max(len(best), 1)
    share = float(np.clip(max(share, sure.mean() if len(best) else 0.0), 0.5 / size, 1 - SPARE))
    spread = max(float(np.median(links)) - location, 2 * scale)
    return Fit(location, float(scale), float(present), share, float(spread), -np.inf)
