"""Families: names of a table that are alike although they are those of several things.

Products come in families and variants. Between siblings, the best partner of a name leads the
second by as much as chance has it: of values that fall off exponentially, the largest leads the
second by as much as twice what the second leads the third by, or three times what the third leads
the fourth by, on average (Renyi 1953). Where each name has several duplicates, the first ones are
about as good as each other, and the lead comes later.
"""

from __future__ import annotations

import numpy as np

from sameas.compute.arrays import Matrix, Numbers, Vector
from sameas.options.tuning import TUNING, DuplicateTuning

FIRST = 4
"""The best partners of an entity whose leads are compared."""


def leads_of(ends: Numbers, values: Matrix | Vector) -> Vector:
    """How far the best partners of entities lead: the first, twice the second, thrice the third.

    ``ends`` are the entities of pairs, and ``values`` how alike these are. Entities with fewer
    than four partners are left out; shape (entities, 3).

    >>> leads_of(np.array([0, 0, 0, 0, 0, 1]), np.array([0.5, 0.9, 0.4, 0.6, 0.1, 0.8])).round(2)
    array([[0.3, 0.2, 0.3]])
    """
    order = np.lexsort((-values, ends))
    starts = np.flatnonzero(np.diff(ends[order], prepend=-1))
    enough = np.diff(starts, append=len(order)) >= FIRST
    best = values[order][starts[enough][:, None] + np.arange(FIRST)].astype(np.float64)
    leads: Vector = -np.diff(best, axis=1) * np.arange(1, FIRST)
    return leads


def in_twos(leads: Vector, *, tuning: DuplicateTuning = TUNING.duplicates) -> bool:
    """Whether entities have one duplicate at most, as far as the ``leads_of`` their names show."""
    first, *later = leads.sum(axis=0).tolist()
    return bool(max(later) <= tuning.clusters * first)
