"""Probabilities from log-odds."""

from __future__ import annotations

import numpy as np

from sameas.compute.arrays import Vector

CERTAIN = 20.0
"""Log-odds beyond which probabilities tell the order alone: they differ by less than 3e-9."""


def probability_at(log_odds: Vector) -> Vector:
    """The probability with these log-odds, which grow more slowly beyond what is certain.

    Otherwise all that is beyond 37 would be one, and links would lose their order.
    """
    size = np.abs(log_odds)
    size = np.minimum(size, CERTAIN) + np.log1p(np.maximum(size - CERTAIN, 0.0))
    probability: Vector = 1 / (1 + np.exp(-np.copysign(size, log_odds)))
    return probability
