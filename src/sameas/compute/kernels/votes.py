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


class Shares(NamedTuple):
    """What one neighbour votes with, by right entity; ``group`` tells which neighbour that was."""

    group: Array
    share: Array
    worth: Array
    voted: Array
    """The right entities that got a vote, in the order in which they were met."""


@kernel
def first_edge(relation: Array, low: int, high: int, wanted: int) -> Any:
    """The first of the edges low..high whose relation is not below the wanted one."""
    while low < high:
        middle = (low + high) // 2
        if relation[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def shares_of_neighbour(
    left: LeftEdges,
    right: RightEdges,
    matches: Matches,
    anchored: Anchored,
    cap: float,
    edges: tuple[int, int],
    out: Shares,
) -> Any:
    """How many right entities a neighbour votes for; ``edges`` are those that lead to it.

    Through several relations, the best matching one counts. Written to ``out``.
    """
    begin, end = edges
    count = 0
    far = left.far[begin]
    partner = anchored.partner[far]
    if partner < 0:
        return count
    last = right.starts[partner + 1]
    for e in range(begin, end):
        r = left.relation[e]
        for k in range(matches.starts[r], matches.starts[r + 1]):
            wanted = matches.right[k]
            f = first_edge(right.relation, right.starts[partner], last, wanted)
            while f < last and right.relation[f] == wanted:
                fans = left.fans[e] * np.float64(right.fans[f])
                share = min(matches.match[k] / np.sqrt(fans), cap) * anchored.trust[far]
                j = right.entity[f]
                if out.group[j] != begin:
                    out.group[j] = begin
                    out.share[j] = share
                    out.worth[j] = right.worth[f]
                    out.voted[count] = j
                    count += 1
                elif share > out.share[j]:
                    out.share[j] = share
                f += 1
    return count


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
    others = limits.right_entities
    shares = Shares(
        np.full(others, -1, dtype=np.int64),
        np.empty(others),
        np.empty(others),
        np.empty(others, dtype=np.int64),
    )
    row_of = np.full(others, -1, dtype=np.int64)
    total = np.empty((others, 3))
    met = np.empty(others, dtype=np.int64)
    new_pairs = np.empty((1024, 2), dtype=np.int32)
    new_values = np.empty((1024, 3), dtype=np.float32)
    count = 0
    for i in range(len(left.starts) - 1):
        met_count = 0
        end = left.starts[i]
        while end < left.starts[i + 1]:
            begin, far = end, left.far[end]
            while end < left.starts[i + 1] and left.far[end] == far:
                end += 1
            voted = shares_of_neighbour(
                left, right, matches, anchored, limits.cap, (begin, end), shares
            )
            for j in shares.voted[:voted]:
                if row_of[j] != i:
                    row_of[j] = i
                    total[j, 0] = total[j, 1] = total[j, 2] = 0.0
                    met[met_count] = j
                    met_count += 1
                total[j, 0] -= np.log1p(-shares.share[j])
                total[j, 1] += left.worth[begin] * anchored.trust[far]
                total[j, 2] += shares.worth[j] * anchored.trust[far]
        for p in range(pairs.starts[i], pairs.starts[i + 1]):
            j = pairs.right[p]
            if row_of[j] == i:
                out[0, p], out[1, p], out[2, p] = total[j, 0], total[j, 1], total[j, 2]
                row_of[j] = -1
        for j in met[:met_count]:
            if row_of[j] != i or total[j, 0] < limits.enter:
                continue
            if count == len(new_pairs):
                new_pairs = np.concatenate((new_pairs, np.empty_like(new_pairs)))
                new_values = np.concatenate((new_values, np.empty_like(new_values)))
            new_pairs[count, 0], new_pairs[count, 1] = i, j
            for c in range(3):
                new_values[count, c] = total[j, c]
            count += 1
    return new_pairs[:count], new_values[:count]
