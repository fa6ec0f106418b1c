"""Families: whether duplicates of a table come in twos, and names that are alike by chance.

Products come in families: most names have like names that are other things. What the best of them
reach follows from the others (Renyi 1953): of values that fall off exponentially, the largest leads
the second by as much as twice what the second leads the third by, or three times what the third
leads the fourth by, on average. If the best partner leads by more, it is no chance: entities have
one duplicate each. If the third one does, they have several.
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


def in_twos(leads: Vector, *, long: bool, tuning: DuplicateTuning = TUNING.duplicates) -> bool:
    """Whether duplicates come in twos, by the ``leads_of`` entities.

    Where names are ``long`` texts, in which families are the rule, they do unless leads show that
    they come in larger clusters.
    """
    if len(leads) < 2:
        return False
    more = leads[:, 0] - leads[:, 1]
    evident = more.mean() > tuning.evident * more.std() / np.sqrt(len(more))
    clusters = leads[:, 2].mean() > tuning.clusters * leads[:, 0].mean()
    return bool(evident or (long and not clusters))
