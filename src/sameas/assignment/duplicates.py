"""The threshold of duplicates in one graph: how many there are decides what a score must exceed."""

from __future__ import annotations

import numpy as np

from sameas.candidates.pairs import Candidates
from sameas.compute.arrays import Numbers, Vector
from sameas.options.tuning import TUNING, DuplicateTuning


def duplicate_thresholds(
    candidates: Candidates, kinds: Numbers, *, tuning: DuplicateTuning = TUNING.duplicates
) -> Vector:
    """For each kind, the score beyond which two entities of one graph are likelier the same.

    If M of the N pairs of a kind are duplicates, the odds of a pair are M / N before anything is
    known of it; M is how many the scores then make likely. Nothing is presumed about rivals: an
    entity may have many duplicates, or none. ``candidates`` hold each pair both ways round.
    """
    count = int(kinds.max(initial=0)) + 1
    thresholds = np.zeros(count)
    one_way = candidates.left < candidates.right
    scores = candidates.values[one_way].astype(np.float64)
    of_pairs = kinds[candidates.left[one_way]]
    for kind in range(count):
        size = int((kinds == kind).sum())
        thresholds[kind] = _threshold(scores[of_pairs == kind], size, tuning)
    return thresholds


def _threshold(scores: Vector, size: int, tuning: DuplicateTuning) -> float:
    """The threshold of so many entities, of which pairs have these scores."""
    pairs = max(size * (size - 1) / 2, 1.0)
    expected = max(tuning.share * size, tuning.least)
    threshold = float(np.log(pairs / expected))
    for _ in range(tuning.steps):
        odds = np.exp(np.clip(scores - threshold, -60.0, 60.0))
        expected = max(float((odds / (1 + odds)).sum()), tuning.least)
        before, threshold = threshold, float(np.log(pairs / expected))
        if abs(threshold - before) < tuning.tolerance:
            break
    return max(threshold, tuning.floor)
