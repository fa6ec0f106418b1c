"""The relative optimality gap."""

from __future__ import annotations

ZERO = 1e-12
"""Totals below this count as zero: the gap of a total that is zero but for rounding is zero."""


def relative_gap(bound: float, objective: float) -> float:
    """How far an objective can be below the best, from 0 (proven to be the best) to 1.

    ``bound`` is a total that no solution exceeds. The gap is the shortfall ``bound - objective``
    as a share of the larger of both in absolute value; for positive totals, that is the bound.
    Where the bound is positive and the objective negative, the gap is 1. An objective above its
    bound, which only rounding can cause, has no gap.

    >>> relative_gap(10.0, 9.0), relative_gap(-9.0, -10.0), relative_gap(0.0, -1.4)
    (0.1, 0.1, 1.0)
    """
    shortfall = max(bound - objective, 0.0)
    return shortfall / max(abs(bound), abs(objective), shortfall, ZERO)
