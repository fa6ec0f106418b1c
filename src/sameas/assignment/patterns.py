"""Patterns: pairs that are alike in the same columns, of which so many at most are links.

Columns that say the same thing twice (a surname, and a mail address made of it) make strangers look
alike in both. If links hardly ever look so, and very many pairs do, these are strangers.
"""

from __future__ import annotations

import numpy as np

from sameas.compute.arrays import Numbers, Vector

STEPS = 60
"""Halvings of an interval in which a shift is found."""
LOWEST = -120.0
"""A shift that leaves nothing of any score."""


def most_links(expected: Vector) -> Vector:
    """How many links there are at most where so many are expected: three deviations more."""
    most: Vector = expected + 3 * np.sqrt(expected) + 3
    return most


def lowered_by_pattern(scores: Vector, patterns: Numbers, most: Vector) -> Vector:
    """Log-odds of pairs, lowered until those of each pattern make so many links likely at most.

    ``patterns`` are numbers, one for each pair; ``most`` has one for each pattern. All pairs of a
    pattern are lowered alike, so that the likelier ones stay so.
    """
    low, high = np.full(len(most), LOWEST), np.zeros(len(most))
    enough = _likely(scores, patterns, high) <= most
    for _ in range(STEPS):
        middle = (low + high) / 2
        fits = _likely(scores, patterns, middle) <= most
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    shift = np.where(enough, 0.0, low)
    lowered: Vector = scores + shift[patterns]
    return lowered


def _likely(scores: Vector, patterns: Numbers, shift: Vector) -> Vector:
    """How many pairs of each pattern are links, as far as their shifted scores say."""
    shares = 1 / (1 + np.exp(-np.clip(scores + shift[patterns], -60.0, 60.0)))
    return np.asarray(np.bincount(patterns, shares, minlength=len(shift)), dtype=np.float64)
