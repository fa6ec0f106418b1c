"""A soft assignment in the open world: entities may have no partner.

The probability of a pair is k_ij a_i b_j, with k_ij = exp(score - threshold), a_i and b_j the
probabilities that i and j stay alone; those of each row and of each column sum up to one. If M of
n and m entities are linked at random, the odds of one pair are M / ((n - M)(m - M)) before anything
is known of it: that gives the threshold, and M is how many links the plan itself expects. The
threshold is never below ``FLOOR``: two entities are not a pair for lack of others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sameas.assignment.lines import columns_of, line_sums, rows_of
from sameas.assignment.ranking import mutual
from sameas.assignment.sinkhorn import Plan
from sameas.candidates import Candidates
from sameas.graph import Positions
from sameas.kernels import staying_alone

Vector = NDArray[np.float64]

BASE = -6.0
"""How far the threshold is below the odds of chance, in logarithms."""
FLOOR = 1.0
"""The threshold is never below this."""
SPARE = 0.01
"""Share of the smaller side that is taken as not linked even if all seem to be."""
CLIP = 60.0
"""Scores beyond this, either way, are as good as certain."""

EVERY = 20
"""Sweeps from one over all entities to the next."""
SETTLED = 0.3
"""Entities that moved less than this share of the tolerance are left alone until then."""


@dataclass(frozen=True, eq=False)
class OpenPlan:
    """The probability of each candidate pair, in their order, and how it was found."""

    probability: Vector
    left_alone: Vector
    """The probability that each left entity has no partner."""
    right_alone: Vector
    threshold: float
    """What a pair's score must exceed to be likelier than that both stay alone."""
    sweeps: int
    deviation: float
    """The largest distance from one of the sum of an entity's probabilities, that of having no
    partner included."""

    @property
    def ranking(self) -> Plan:
        """The same as potentials, to rank and to choose by."""
        left, right = (
            -np.log(np.maximum(alone, 1e-300)) for alone in (self.left_alone, self.right_alone)
        )
        return Plan(left + self.threshold, right, 1.0, self.sweeps, 0.0)


def open_plan(
    candidates: Candidates,
    *,
    threshold: float | None = None,
    base: float = BASE,
    single: tuple[bool, bool] = (True, True),
    most: int = 500,
    tolerance: float = 1e-3,
) -> OpenPlan:
    """The plan over candidates whose profits are scores in log-odds.

    ``threshold`` fixes what is else found from the data and ``base``. Entities of a side that is
    not ``single`` may have several partners. Both sides are updated at once and half the way, in
    logarithms: taking turns, a sure pair nears its value like 1 / sweeps.
    """
    n, m = candidates.shape
    scores = np.clip(candidates.values.astype(np.float64), -CLIP, CLIP)
    odds = replace(candidates, values=np.exp(scores))
    lines, every = (rows_of(odds), columns_of(odds)), (np.arange(n), np.arange(m))
    alone, moving = (np.ones(n), np.ones(m)), every
    fixed = threshold is not None
    threshold = _threshold(n, m, min(n, m) / 2, base) if threshold is None else threshold
    sweeps, moved, whole = 0, 1.0 if len(candidates) else 0.0, False
    while (moved > tolerance or not whole) and sweeps < most and len(candidates):
        # Most entities settle soon: between sweeps over all, only those that still move are looked
        # at. It ends with a sweep over all.
        whole = sweeps % EVERY == 0 or moved <= tolerance
        which = every if whole else moving
        new = [
            staying_alone(*lines[side], np.exp(-threshold), alone[side], alone[1 - side], these)
            if single[side]
            else alone[side][these]
            for side, these in enumerate(which)
        ]
        steps = [np.abs(new[side] - alone[side][these]) for side, these in enumerate(which)]
        moving = tuple(
            these[step > SETTLED * tolerance] for these, step in zip(which, steps, strict=True)
        )
        for side, these in enumerate(which):
            alone[side][these] = new[side]
        moved = max(float(step.max(initial=0.0)) for step in steps)
        sweeps += 1
        if not fixed:
            threshold = _threshold(n, m, n - float(alone[0].sum()), base)
    left, right = alone
    probability = np.exp(scores - threshold) * left[candidates.left] * right[candidates.right]
    if not any(single):
        probability /= 1 + probability
    before = _sums(candidates, probability, left, right)
    # What sums up to more than one, for all the sweeps, is scaled down to it.
    excess = np.ones(len(probability))
    for each, ends, alone in zip(before, (candidates.left, candidates.right), single, strict=True):
        excess = np.maximum(excess, each[ends]) if alone else excess
    probability /= excess
    # That takes from a pair's other entity too, which may have had less than one already.
    after = _sums(candidates, probability, left, right)
    sums = [
        each for each, alone in zip((*before, *after), (*single, *single), strict=True) if alone
    ]
    deviation = max((float(np.abs(each - 1).max(initial=0.0)) for each in sums), default=0.0)
    return OpenPlan(probability, left, right, float(threshold), sweeps, deviation)


def _sums(
    candidates: Candidates, probability: Vector, left: Vector, right: Vector
) -> tuple[Vector, Vector]:
    """Of each left and each right entity, the probabilities of its pairs and of staying alone."""
    return (
        np.bincount(candidates.left, probability, len(left)) + left,
        np.bincount(candidates.right, probability, len(right)) + right,
    )


def open_links(
    candidates: Candidates, plan: OpenPlan, single: tuple[bool, bool] = (True, True)
) -> Positions:
    """The places of one-to-one links: pairs that are each other's best, again and again.

    Where one side alone is ``single``, the best of each of its entities; where none is, all pairs.
    """
    if not any(single):
        return np.arange(len(candidates))
    if not all(single):
        ends = candidates.left if single[0] else candidates.right
        order = np.lexsort((-plan.probability, ends))
        return np.sort(order[np.flatnonzero(np.diff(ends[order], prepend=-1))])
    free = [np.ones(size, dtype=np.bool_) for size in candidates.shape]
    ranking, left = plan.ranking, candidates.left
    found: list[Positions] = [np.empty(0, dtype=np.int64)]
    while len(places := mutual(candidates, ranking, *free)):
        found.append(places)
        free[0][left[places]], free[1][candidates.right[places]] = False, False
    return np.concatenate(found)


def gap_to_bound(candidates: Candidates, prices: Vector, objective: float) -> float:
    """How far a total can be from the best among candidates, staying alone being worth nothing.

    Weak duality: with right prices v >= 0 no total exceeds sum v_j + sum max(0, max_j s_ij - v_j).
    """
    prices = np.maximum(prices, 0.0)
    gains = np.maximum(line_sums(rows_of(candidates), prices, 0.0), 0.0)
    bound = float(prices.sum() + gains.sum())
    short = max(bound - objective, 0.0)
    # Links that are worth less than staying alone may make the total negative.
    return short / max(bound, -objective, short, 1e-12)


def _threshold(n: int, m: int, links: float, base: float = BASE) -> float:
    """The threshold if so many of n and m entities are linked."""
    if not n or not m:
        return FLOOR
    spare = SPARE * min(n, m)
    links = min(max(links, 1.0), float(min(n, m)))
    chance = (n - links + spare) * (m - links + spare) / links
    return max(base + float(np.log(chance)), FLOOR)
