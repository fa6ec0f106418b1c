"""Numba kernel that gathers the evidence of linked neighbours."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sameas.compute.kernels.cache import Array, kernel


class LeftEdges(NamedTuple):
    """Edges by entity, then far node; ``worth`` is that of sharing the far node."""

    starts: Array
    far: Array
    relation: Array
    fans: Array
    worth: Array


class RightEdges(NamedTuple):
    """Edges by far node, then relation."""

    starts: Array
    relation: Array
    entity: Array
    fans: Array
    worth: Array


class Matches(NamedTuple):
    """The right relations that match each left relation, and how well."""

    starts: Array
    right: Array
    match: Array


class Anchored(NamedTuple):
    """For each left far node the right one that it is, or -1, and how sure that is."""

    partner: Array
    trust: Array


class PairIndex(NamedTuple):
    """The right entities of the known pairs of each left entity."""

    starts: Array
    right: Array


class Limits(NamedTuple):
    """The most that a neighbour votes with, the votes of a new pair, and how many are right."""

    cap: float
    enter: float
    right_entities: int


@kernel
def gather_votes(
    left: LeftEdges,
    right: RightEdges,
    matches: Matches,
    anchored: Anchored,
    pairs: PairIndex,
    limits: Limits,
    out: Array,
) -> Any:
    """The votes of anchored neighbours for the pairs of left entities.

    A neighbour votes once for a pair, through its best matching relations, with at most ``cap``.
    Known pairs get three sums in ``out``: votes, left worth shared, right worth shared. Pairs
    that are not known, with votes of at least ``enter``, are returned with the same sums.
    """
    cap, enter, others = limits.cap, limits.enter, limits.right_entities
    group_of = np.full(others, -1, dtype=np.int64)
    row_of = np.full(others, -1, dtype=np.int64)
    share_of = np.empty(others)
    worth_of = np.empty(others)
    total = np.empty((others, 3))
    voted = np.empty(others, dtype=np.int64)
    met = np.empty(others, dtype=np.int64)
    new_pairs = np.empty((1024, 2), dtype=np.int32)
    new_values = np.empty((1024, 3), dtype=np.float32)
    count = 0
    for i in range(len(left.starts) - 1):
        met_count = 0
        e = left.starts[i]
        while e < left.starts[i + 1]:
            y = left.far[e]
            edge = e
            voted_count = 0
            z = anchored.partner[y]
            while e < left.starts[i + 1] and left.far[e] == y:
                if z >= 0:
                    r = left.relation[e]
                    for k in range(matches.starts[r], matches.starts[r + 1]):
                        wanted = matches.right[k]
                        low, high = right.starts[z], right.starts[z + 1]
                        while low < high:
                            middle = (low + high) // 2
                            if right.relation[middle] < wanted:
                                low = middle + 1
                            else:
                                high = middle
                        while low < right.starts[z + 1] and right.relation[low] == wanted:
                            fans = left.fans[e] * np.float64(right.fans[low])
                            share = min(matches.match[k] / np.sqrt(fans), cap) * anchored.trust[y]
                            j = right.entity[low]
                            if group_of[j] != edge:
                                group_of[j] = edge
                                share_of[j] = share
                                worth_of[j] = right.worth[low]
                                voted[voted_count] = j
                                voted_count += 1
                            elif share > share_of[j]:
                                share_of[j] = share
                            low += 1
                e += 1
            for h in range(voted_count):
                j = voted[h]
                if row_of[j] != i:
                    row_of[j] = i
                    total[j, 0] = total[j, 1] = total[j, 2] = 0.0
                    met[met_count] = j
                    met_count += 1
                total[j, 0] -= np.log1p(-share_of[j])
                total[j, 1] += left.worth[edge] * anchored.trust[y]
                total[j, 2] += worth_of[j] * anchored.trust[y]
        for p in range(pairs.starts[i], pairs.starts[i + 1]):
            j = pairs.right[p]
            if row_of[j] == i:
                out[0, p], out[1, p], out[2, p] = total[j, 0], total[j, 1], total[j, 2]
                row_of[j] = -1
        for h in range(met_count):
            j = met[h]
            if row_of[j] != i or total[j, 0] < enter:
                continue
            if count == len(new_pairs):
                new_pairs = np.concatenate((new_pairs, np.empty_like(new_pairs)))
                new_values = np.concatenate((new_values, np.empty_like(new_values)))
            new_pairs[count, 0], new_pairs[count, 1] = i, j
            for c in range(3):
                new_values[count, c] = total[j, c]
            count += 1
    return new_pairs[:count], new_values[:count]
