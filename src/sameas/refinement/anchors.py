"""Anchors: the links that are certain enough to learn from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sameas.assignment.open import FLOOR, OpenPlan, open_links
from sameas.assignment.ranking import mutual
from sameas.assignment.sinkhorn import Plan
from sameas.candidates.pairs import Candidates
from sameas.compute.arrays import Positions, Vector
from sameas.refinement.evidence import Anchors
from sameas.similarity.weights import Weights

EITHER = 0.5
"""The probability beyond which a pair is an anchor where entities may have several partners."""
TIE = 1e-4
"""Scores that differ by less are equal; rounding errors are smaller."""
FEW, MOST_EAGER = 1000, 4.0
"""Up to so many anchors, each must be likelier than no link; how far below that others may be."""


def anchor_thresholds(thresholds: Vector | None, anchors: Anchors) -> Vector | None:
    """For each kind, the score that an anchor must exceed, given the anchors before.

    Where there are many, more that are less sure bring more than the wrong ones among them cost.
    Among few, a wrong one misleads all that is learned from them.
    """
    if thresholds is None:
        return None
    eager = np.clip(np.log(max(len(anchors.left), 1) / FEW), 0.0, MOST_EAGER)
    lower: Vector = np.maximum(thresholds - eager, np.minimum(thresholds, FLOOR))
    return lower


def anchors_of(
    surplus: Candidates, plan: OpenPlan, weights: Weights, single: tuple[bool, bool]
) -> Anchors:
    """The most certain pairs of this plan."""
    if all(single):
        return anchors_of_profits(surplus, plan.ranking, weights)
    places = open_links(surplus, plan, single)
    places = places[plan.probability[places] > EITHER]
    left, right = surplus.left[places], surplus.right[places]
    return Anchors(
        left.astype(np.int64), right.astype(np.int64), np.minimum(plan.probability[places], 1.0)
    )


def anchors_of_profits(candidates: Candidates, plan: Plan, weights: Weights) -> Anchors:
    """The pairs that are each other's best, without a tie, and likely enough."""
    places = mutual(candidates, plan)
    left, right = candidates.left[places], candidates.right[places]
    logarithms = (candidates.values[places] - plan.left[left] - plan.right[right]) / (
        plan.temperature
    )
    trust = np.exp(np.minimum(logarithms, 0.0))
    sure = (trust > weights.share) & _unrivalled(candidates, plan, places)
    return Anchors(left[sure].astype(np.int64), right[sure].astype(np.int64), trust[sure])


def _unrivalled(candidates: Candidates, plan: Plan, places: Positions) -> NDArray[np.bool_]:
    """Which of these best pairs have no equal in their row and column: ties are not anchors."""
    left, right = candidates.left, candidates.right
    unrivalled = np.ones(len(places), dtype=np.bool_)
    for groups, worth in (
        (left, candidates.values - plan.right[right]),
        (right, candidates.values - plan.left[left]),
    ):
        best = np.full(int(groups.max(initial=-1)) + 1, -np.inf)
        best[groups[places]] = worth[places]
        rivals = np.bincount(groups[worth >= best[groups] - TIE], minlength=len(best))
        unrivalled &= rivals[groups[places]] == 1
    return unrivalled
