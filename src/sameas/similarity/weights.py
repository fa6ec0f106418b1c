"""Weights: what each part of a score is worth."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sameas.compute.arrays import Vector
from sameas.options.options import Options
from sameas.options.tuning import TUNING, Weights

LEARNED = ("names", "embedding", "dictionary", "profit", "shared", "lacking")
"""The weights that a run can learn."""


def evidence_worth(
    weights: Weights, evidence: NDArray[np.floating], crowd: Vector | float = math.inf
) -> Vector:
    """The log-odds that evidence adds; shape (3, n), as ``gather_evidence`` returns it.

    ``crowd`` is among how many entities the pair was found: to share a neighbour with one of
    a hundred says less than with one of ten thousand, by the logarithm of how many.
    """
    shared, lacking = evidence_terms(weights, evidence, crowd)
    return weights.shared * shared + weights.lacking * lacking


def evidence_terms(
    weights: Weights, evidence: NDArray[np.floating], crowd: Vector | float = math.inf
) -> tuple[Vector, Vector]:
    """What the weights ``shared`` and ``lacking`` are multiplied with."""
    votes, left_lacks, right_lacks = evidence
    fewer = np.maximum(weights.crowd / np.maximum(crowd, 1.0), 1.0)
    unit = weights.unit * fewer ** (1 / weights.shared if weights.shared > 0 else 0.0)
    return np.log1p(votes / unit), -(np.log1p(left_lacks) + np.log1p(right_lacks))


def weights_of(
    options: Options,
    learnt: Mapping[str, float] | None = None,
    *,
    tuning: Weights = TUNING.weights,
) -> Weights:
    """What each kind of evidence is worth, without the parts that are left out.

    Without votes, no number of them makes a pair a candidate.
    """
    weights = replace(tuning, **dict[str, Any](learnt or {}))
    if "votes" in options.without:
        weights = replace(weights, shared=0.0, unit=math.inf)
    if "lacking" in options.without:
        weights = replace(weights, lacking=0.0)
    return weights
