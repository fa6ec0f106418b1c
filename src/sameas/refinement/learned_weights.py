"""How a run learns from its sure links what each part of a score is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sameas.compute.arrays import Vector
from sameas.options.tuning import TUNING, RefinementTuning, Weights


def learn_weights(
    defaults: Weights,
    terms: Mapping[str, NDArray[np.floating]],
    offsets: NDArray[np.floating],
    *,
    counts: NDArray[np.integer],
    truth: NDArray[np.bool_],
    tuning: RefinementTuning = TUNING.refinement,
) -> Weights:
    """The weights by which true pairs are best told from the other candidates of an entity.

    A conditional logit: the score of a pair is the sum of its ``terms``, each times the weight of
    its name, and of its offset; ``counts`` is how many pairs each choice has, one after the
    other, of which one is in ``truth``. Weights are held near the defaults, and are never
    negative; a default of zero stays.
    """
    names = [name for name in terms if getattr(defaults, name) > 0]
    start = np.array([getattr(defaults, name) for name in names])
    # In units of the defaults: all begin at one.
    values = np.stack([terms[name].astype(np.float64) for name in names]) * start[:, None]
    weights = np.ones(len(names))
    if not len(counts):
        return defaults
    starts, prior = np.cumsum(counts) - counts, tuning.weight_prior

    def judge(weights: Vector) -> tuple[float, Vector]:
        """The logarithm of the likelihood, and the probability of each pair in its choice."""
        scores = weights @ values + offsets
        scores -= np.repeat(np.maximum.reduceat(scores, starts), counts)
        odds = np.exp(scores)
        sums = np.add.reduceat(odds, starts)
        fit = scores[truth].sum() - np.log(sums).sum() - prior / 2 * ((weights - 1) ** 2).sum()
        return float(fit), odds / np.repeat(sums, counts)

    fit, shares = judge(weights)
    for _ in range(tuning.weight_steps):
        means = np.add.reduceat(values * shares, starts, axis=1)
        slope = values[:, truth].sum(axis=1) - means.sum(axis=1) - prior * (weights - 1)
        curve = (values * shares) @ values.T - means @ means.T + prior * np.eye(len(names))
        free = (weights > 0) | (slope > 0)
        step = np.zeros(len(names))
        step[free] = np.linalg.solve(curve[np.ix_(free, free)], slope[free])
        while np.abs(step).max() > tuning.weight_tolerance:
            new = np.maximum(weights + step, 0.0)
            fit_there, shares_there = judge(new)
            if fit_there >= fit:
                break
            step = step / 2
        else:
            break
        weights, fit, shares = new, fit_there, shares_there
    return replace(defaults, **dict(zip(names, (weights * start).tolist(), strict=True)))
