"""A soft assignment in the open world: entities may stay alone, at a price found without labels.

The probability of a pair is k_ij a_i b_j, with k_ij = exp(score - price), a_i and b_j the
probabilities that i and j stay alone; those of each row and of each column sum up to one. If M of
n and m entities are linked at random, the odds of one pair are M / ((n - M)(m - M)) before anything
is known of it: that gives the price, and M is how many links the plan itself expects. But a pair
must have something to show, however few are left for each other: there is a least price.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sameas.assignment import sparse
from sameas.assignment.null import Null
from sameas.assignment.sinkhorn import Plan
from sameas.candidates import Candidates
from sameas.graph import Positions

Vector = NDArray[np.float64]

BASE = -6.0
"""What the price is less than the odds of chance, where chances are many."""
FLOOR = 1.0
"""The price is never below this: two who are left over are not a pair for lack of others."""
SPARE = 0.01
"""Share of the smaller side that is taken as not linked even if all seem to be."""
CLIP = 60.0
"""Scores beyond this, either way, are as good as certain."""


@dataclass(frozen=True, eq=False)
class OpenPlan:
    """The probability of each candidate pair, in their order, and how it was found."""

    probability: Vector
    left_alone: Vector
    """The probability that each left entity has no partner."""
    right_alone: Vector
    prices: Vector
    """What the score of a pair of each left entity must exceed to be likelier than that both
    stay alone."""
    by_group: Vector
    sweeps: int
    deviation: float
    """The largest distance from one of an entity's probabilities, its own of staying alone
    included."""

    @property
    def ranking(self) -> Plan:
        """The same as potentials, to rank and to choose by."""
        left, right = (
            -np.log(np.maximum(alone, 1e-300)) for alone in (self.left_alone, self.right_alone)
        )
        return Plan(left + self.prices, right, 1.0, self.sweeps, 0.0)


def open_plan(
    candidates: Candidates,
    *,
    price: float | None = None,
    base: float = BASE,
    null: Null | None = None,
    single: tuple[bool, bool] = (True, True),
    most: int = 500,
    tolerance: float = 1e-3,
) -> OpenPlan:
    """The plan over candidates whose profits are scores in log-odds.

    ``price`` fixes what is found from the data and ``base`` otherwise. Both sides are updated at
    once and half the way, in logarithms: taking turns, a sure pair nears its value like 1 / sweeps.
    """
    n, m = candidates.shape
    scores = np.clip(candidates.profit.astype(np.float64), -CLIP, CLIP)
    kernel = csr_array((np.exp(scores), candidates.right, candidates.starts), shape=(n, m))
    turned = csr_array(kernel.T)
    left, right = np.ones(n), np.ones(m)
    fixed = price is not None
    groups = null.groups if null else (np.zeros(n, dtype=np.int64), np.zeros(m, dtype=np.int64))
    count = len(null.thresholds) if null else 1

    def priced(links: Vector) -> Vector:
        if null:
            return null.thresholds
        return np.array([_price(n, m, float(links[0]), base)])

    half = np.minimum(*(np.bincount(own, minlength=count) for own in groups)) / 2
    price = priced(half) if price is None else np.full(count, price)
    sweeps, moved = 0, 1.0 if len(candidates) else 0.0
    while moved > tolerance and sweeps < most:
        factor = np.exp(-np.clip(price, -CLIP, CLIP))
        new_left, new_right = left, right
        if single[0]:
            new_left = np.sqrt(left / (1 + factor[groups[0]] * (kernel @ right)))
        if single[1]:
            new_right = np.sqrt(right / (1 + factor[groups[1]] * (turned @ left)))
        moved = max(np.abs(new_left - left).max(), np.abs(new_right - right).max())
        left, right = new_left, new_right
        sweeps += 1
        if not fixed:
            price = priced(np.bincount(groups[0], 1 - left, minlength=count))
    prices = price[groups[0][candidates.left]]
    probability = np.exp(scores - prices) * left[candidates.left] * right[candidates.right]
    if not any(single):
        probability /= 1 + probability
    before = _sums(candidates, probability, left, right)
    # What sums up to more than one, for all the sweeps, is scaled down to it.
    most_of = [
        np.maximum(each, 1.0) if alone else np.ones_like(each)
        for each, alone in zip(before, single, strict=True)
    ]
    probability /= np.maximum(most_of[0][candidates.left], most_of[1][candidates.right])
    # That takes from a pair's other entity too, which may have had less than one already.
    after = _sums(candidates, probability, left, right)
    deviation = max(float(np.abs(each - 1).max(initial=0.0)) for each in (*before, *after))
    return OpenPlan(probability, left, right, price[groups[0]], price, sweeps, deviation)


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

    Where only one side is ``single``, the best of each of its entities; where none is, all pairs.
    """
    if not all(single):
        return best_of_single(candidates, plan.probability, single)
    ranking, left, right = plan.ranking, candidates.left, candidates.right
    available = np.ones(len(candidates), dtype=np.bool_)
    found: list[Positions] = [np.empty(0, dtype=np.int64)]
    while available.any():
        places = sparse.mutual(candidates, ranking, available)
        if not len(places):
            break
        found.append(places)
        taken = [np.zeros(size, dtype=np.bool_) for size in candidates.shape]
        taken[0][left[places]], taken[1][right[places]] = True, True
        available &= ~taken[0][left] & ~taken[1][right]
    return np.concatenate(found)


def best_of_single(
    candidates: Candidates, probability: Vector, single: tuple[bool, bool]
) -> Positions:
    """The places of the likeliest pair of each entity of the single side; of all if none is."""
    places = np.arange(len(candidates))
    if not any(single):
        return places
    ends, other = (candidates.left, candidates.right) if single[0] else (candidates.right, candidates.left)
    order = np.lexsort((other, -probability, ends))
    return np.sort(order[np.unique(ends[order], return_index=True)[1]])


def gap_to_bound(candidates: Candidates, prices: Vector, objective: float) -> float:
    """How far a total can be from the best among candidates, staying alone being worth nothing.

    Weak duality: with right prices v >= 0 no total exceeds sum v_j + sum max(0, max_j s_ij - v_j).
    """
    prices = np.maximum(prices, 0.0)
    gains = np.zeros(candidates.shape[0])
    np.maximum.at(gains, candidates.left, candidates.profit - prices[candidates.right])
    bound = float(prices.sum() + gains.sum())
    short = max(bound - objective, 0.0)
    # Links that are worth less than staying alone may make the total negative.
    return short / max(bound, -objective, short, 1e-12)


def _price(n: int, m: int, links: float, base: float = BASE) -> float:
    """The price of staying alone if so many of n and m entities are linked."""
    if not n or not m:
        return FLOOR
    spare = SPARE * min(n, m)
    links = min(max(links, 1.0), float(min(n, m)))
    chance = (n - links + spare) * (m - links + spare) / links
    return max(base + float(np.log(chance)), FLOOR)
