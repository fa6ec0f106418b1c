"""Strangers in tables: pairs that are alike in the same columns, more of them than links can be."""

from __future__ import annotations

import numpy as np

from sameas.assignment.duplicates import probabilities
from sameas.assignment.patterns import lowered_by_pattern, most_links
from sameas.candidates.pairs import Candidates
from sameas.compute.arrays import Numbers, Vector
from sameas.options.tuning import TUNING, DuplicateTuning
from sameas.similarity.attributes import Attributes


def less_for_strangers(
    attributes: Attributes | None,
    left: Numbers,
    right: Numbers,
    scores: Vector,
    *,
    tuning: DuplicateTuning = TUNING.duplicates,
) -> Vector:
    """The scores of pairs, each given once, with less where too many are alike in the same columns.

    How often links are alike in each column is told by the surest pairs, and at first by none,
    since strangers may be more than links. How many links there can be of a pattern follows from
    that, as if columns were independent, with some room.
    """
    if attributes is None or len(attributes.pairs) < 2:
        return scores
    some = np.flatnonzero(scores > -tuning.heeded)
    levels, _ = attributes.compare(left[some], right[some])
    known, patterns = np.unique(levels, axis=0, return_inverse=True)
    lowered = before = scores[some]
    sure = np.zeros(len(some))  # at first, links are as they are expected to be
    for _ in range(tuning.pattern_rounds):
        likely = probabilities(lowered)
        shares = attributes.linked_shares(levels, sure)
        fitting = np.prod(shares[np.arange(known.shape[1]), known], axis=1)
        most = most_links(tuning.dependence * likely.sum() * fitting)
        lowered = lowered_by_pattern(before, patterns.ravel(), most)
        sure = np.where(lowered > tuning.heeded, probabilities(lowered), 0.0)
    less: Vector = scores.copy()
    less[some] = lowered
    return less


def without_strangers(
    surplus: Candidates,
    attributes: Attributes | None,
    *,
    tuning: DuplicateTuning = TUNING.duplicates,
) -> Candidates:
    """The pairs of one table, both ways round, with less for strangers."""
    if attributes is None or len(attributes.pairs) < 2:
        return surplus
    one_way = np.flatnonzero(surplus.left < surplus.right)
    left, right = (side[one_way].astype(np.int64) for side in (surplus.left, surplus.right))
    scores = surplus.values[one_way].astype(np.float64)
    less = less_for_strangers(attributes, left, right, scores, tuning=tuning)
    values = surplus.values.copy()
    values[one_way] = less
    back = surplus.find(right, left)
    values[back[back >= 0]] = less[back >= 0]
    return surplus.with_values(values)
