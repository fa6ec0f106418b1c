"""The threshold of duplicates in one graph: how many there are decides what a score must exceed."""

from __future__ import annotations

import numpy as np

from sameas.candidates.pairs import Candidates, line_sums, lines_of_rows
from sameas.compute.arrays import Numbers, Vector
from sameas.options.tuning import TUNING, DuplicateTuning


def duplicate_thresholds(
    candidates: Candidates, kinds: Numbers, *, tuning: DuplicateTuning = TUNING.duplicates
) -> Vector:
    """For each kind, the score beyond which two entities of one graph are likelier the same.

    If M pairs of n entities are duplicates, and a share of the entities has any, the odds of a
    pair are M / (n (1 - share))^2 * 2 before anything is known of it, as in a plan between two
    graphs; M and the share are what the scores then make likely. Nothing is presumed about
    rivals: an entity may have many duplicates, or none. ``candidates`` hold each pair both ways
    round.
    """
    count = int(kinds.max(initial=0)) + 1
    thresholds = np.zeros(count)
    best = line_sums(lines_of_rows(candidates), np.zeros(candidates.shape[1]), 0.0)
    one_way = candidates.left < candidates.right
    scores = candidates.values[one_way].astype(np.float64)
    of_pairs = kinds[candidates.left[one_way]]
    for kind in range(count):
        thresholds[kind] = _threshold(scores[of_pairs == kind], best[kinds == kind], tuning)
    return thresholds


def _threshold(scores: Vector, best: Vector, tuning: DuplicateTuning) -> float:
    """The threshold from the scores of pairs, and from the best score of each entity."""
    size = max(len(best), 1)
    # From no duplicates at all: of several answers, the one with the fewest.
    threshold = _log_odds(size, tuning.least, 1.0)
    for _ in range(tuning.steps):
        expected = max(float(probabilities(scores - threshold).sum()), tuning.least)
        share = float(probabilities(best - threshold).mean()) if len(best) else 0.0
        alone = max(1.0 - share, tuning.spare)
        # Half the way: the share and the threshold depend on each other.
        before, threshold = threshold, (threshold + _log_odds(size, expected, alone)) / 2
        if abs(threshold - before) < tuning.tolerance:
            break
    return max(threshold, tuning.floor)


def _log_odds(size: int, expected: float, alone: float) -> float:
    """What a score must exceed if so many pairs are duplicates and such a share has none."""
    return float(np.log(max(size * (size - 1) / 2, 1.0) * alone**2 / expected))


def probabilities(log_odds: Vector) -> Vector:
    """The probabilities of log-odds."""
    logistic: Vector = 1 / (1 + np.exp(-np.clip(log_odds, -60.0, 60.0)))
    return logistic
