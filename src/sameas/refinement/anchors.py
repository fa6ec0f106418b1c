"""Anchors: the links that are certain enough to learn from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sameas.assignment.open import OpenPlan
from sameas.assignment.ranking import mutual
from sameas.assignment.sinkhorn import Plan
from sameas.candidates.pairs import Candidates
from sameas.compute.arrays import Positions, Vector
from sameas.options.tuning import TUNING, Tuning
from sameas.refinement.evidence import Anchors


def anchor_thresholds(
    thresholds: Vector | None, anchors: Anchors, *, tuning: Tuning = TUNING
) -> Vector | None:
    """For each kind, the score that an anchor must exceed, given the anchors before.

    Where there are many, more that are less sure bring more than the wrong ones among them cost.
    Among few, a wrong one misleads all that is learned from them.
    """
    if thresholds is None:
        return None
    growth = np.log(max(len(anchors.left), 1) / tuning.anchors.few)
    eager = np.clip(growth, 0.0, tuning.anchors.most_eager)
    lower: Vector = np.maximum(thresholds - eager, np.minimum(thresholds, tuning.open.floor))
    return lower


def anchors_of(
    surplus: Candidates, plan: OpenPlan, seeds: Positions, *, tuning: Tuning = TUNING
) -> Anchors:
    """The most certain pairs of this plan, and all seeds, shape (k, 2).

    Anchors are one to one, whatever the links may be: only seeds give an entity several.
    """
    anchors = anchors_of_profits(surplus, plan.ranking, tuning=tuning)
    width = np.int64(surplus.shape[1])
    keys = anchors.left * width + anchors.right
    missing = seeds[~np.isin(seeds @ np.array([width, 1]), keys)]
    if not len(missing):
        return anchors
    return Anchors(
        np.concatenate([anchors.left, missing[:, 0]]),
        np.concatenate([anchors.right, missing[:, 1]]),
        np.concatenate([anchors.trust, np.ones(len(missing))]),
    )


def anchors_of_profits(candidates: Candidates, plan: Plan, *, tuning: Tuning = TUNING) -> Anchors:
    """The pairs that are each other's best, without a tie, and likely enough."""
    indices = mutual(candidates, plan)
    left, right = candidates.left[indices], candidates.right[indices]
    logarithms = (candidates.values[indices] - plan.left[left] - plan.right[right]) / (
        plan.temperature
    )
    trust = np.exp(np.minimum(logarithms, 0.0))
    unrivalled = _unrivalled(candidates, plan, indices, tuning.open.tie)
    sure = (trust > tuning.anchors.share) & unrivalled
    return Anchors(left[sure].astype(np.int64), right[sure].astype(np.int64), trust[sure])


def anchors_of_duplicates(surplus: Candidates, *, tuning: Tuning = TUNING) -> Anchors:
    """In one graph, the pairs that are each other's best and sure, both ways round."""
    n, m = surplus.shape
    indices = mutual(surplus, Plan(np.zeros(n), np.zeros(m), 1.0, 0, 0.0))
    trust = 1 / (1 + np.exp(-np.clip(surplus.values[indices].astype(np.float64), -60, 60)))
    sure = trust > tuning.open.sure
    left, right = (side[indices[sure]].astype(np.int64) for side in (surplus.left, surplus.right))
    return Anchors(left, right, trust[sure])


def beside(anchors: Anchors, others: Anchors) -> Anchors:
    """The anchors, and those of the others that have neither end in common with them."""
    free = ~np.isin(others.left, anchors.left) & ~np.isin(others.right, anchors.right)
    return Anchors(
        np.append(anchors.left, others.left[free]),
        np.append(anchors.right, others.right[free]),
        np.append(anchors.trust, others.trust[free]),
    )


def _unrivalled(
    candidates: Candidates, plan: Plan, indices: Positions, tie: float
) -> NDArray[np.bool_]:
    """Which of these best pairs have no equal in their row and column: ties are not anchors."""
    left, right = candidates.left, candidates.right
    unrivalled = np.ones(len(indices), dtype=np.bool_)
    for groups, worth in (
        (left, candidates.values - plan.right[right]),
        (right, candidates.values - plan.left[left]),
    ):
        best = np.full(int(groups.max(initial=-1)) + 1, -np.inf)
        best[groups[indices]] = worth[indices]
        rivals = np.bincount(groups[worth >= best[groups] - tie], minlength=len(best))
        unrivalled &= rivals[groups[indices]] == 1
    return unrivalled
