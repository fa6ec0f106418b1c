"""Numba kernel that gathers the evidence of linked neighbours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sameas.compute.kernels.kernel import kernel, part_of_kernel
from sameas.compute.kernels.kinds import (
    Float32Rows,
    Float64Rows,
    Float64s,
    Int32Rows,
    Int32s,
    Int64s,
)


class LeftEdges(NamedTuple):
    """Edges by entity, then far node; ``worth`` is that of sharing the far node."""

    starts: Int64s
    far: Int32s
    relation: Int32s
    fans: Int32s
    worth: Float64s


class RightEdges(NamedTuple):
    """Edges by far node, then relation."""

    starts: Int64s
    relation: Int32s
    entity: Int32s
    fans: Int32s
    worth: Float64s


class Matches(NamedTuple):
    """The right relations that match each left relation, and how well."""

    starts: Int64s
    right: Int32s
    match: Float64s


class Anchored(NamedTuple):
    """For each left far node the right one that it is, or -1, and how sure that is."""

    partner: Int64s
    trust: Float64s


class PairIndex(NamedTuple):
    """The right entities of the known pairs of each left entity."""

    starts: Int64s
    right: Int32s


class Limits(NamedTuple):
    """The most that a neighbour votes with, the votes of a new pair, and how many are right."""

    cap: float
    enter: float
    right_entities: int


class Shares(NamedTuple):
    """What one neighbour votes with, by right entity; ``group`` tells which neighbour that was."""

    group: Int64s
    """-1 before the first vote."""
    share: Float64s
    worth: Float64s
    voted: Int64s
    """The right entities that got a vote, in the order in which they were met."""


class Sums(NamedTuple):
    """The sums of one left entity, by right entity; ``row`` tells which left entity that was."""

    row: Int64s
    """-1 before the first, and for pairs that are known."""
    total: Float64Rows
    met: Int64s
    """The right entities with a sum, in the order in which they were met."""


class NewPairs(NamedTuple):
    """Room for pairs that are not known, (size, 2), and for their sums, (size, 3)."""

    pairs: Int32Rows
    sums: Float32Rows


class Votes(NamedTuple):
    """What is gathered: sums of known pairs, (3, pairs), and new pairs, besides the room for it."""

    known: Float32Rows
    new: NewPairs
    shares: Shares
    sums: Sums


@part_of_kernel
def shares_of_neighbour(
    left: LeftEdges,
    right: RightEdges,
    matches: Matches,
    anchored: Anchored,
    cap: float,
    begin: int,
    end: int,
    out: Shares,
) -> int:
    """How many right entities a neighbour votes for; the edges begin..end lead to it.

    Through several relations, the best matching one counts. Written to ``out``.
    """
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
            f, after = right.starts[partner], last
            while f < after:  # the first edge whose relation is not below the wanted one
                middle = (f + after) // 2
                if right.relation[middle] < wanted:
                    f = middle + 1
                else:
                    after = middle
            while f < last and right.relation[f] == wanted:
                fans = left.fans[e] * np.float64(right.fans[f])
                share = matches.match[k] / np.sqrt(fans)
                share = (share if share < cap else cap) * anchored.trust[far]
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
    first: int,
    out: Votes,
) -> tuple[int, int]:
    """The votes of anchored neighbours for the pairs of left entities, from ``first`` on.

    A neighbour votes once for a pair, through its best matching relations, with at most ``cap``.
    Known pairs get three sums in ``known``: votes, left worth shared, right worth shared. Pairs
    that are not known, with votes of at least ``enter``, are written to ``new`` with the same
    sums. Returned are the left entity to go on with, before which there was no more room, and how
    many new pairs there are.
    """
    new, shares, row_of, total, met = (
        out.new,
        out.shares,
        out.sums.row,
        out.sums.total,
        out.sums.met,
    )
    count = 0
    for i in range(first, len(left.starts) - 1):
        met_count = 0
        end = left.starts[i]
        while end < left.starts[i + 1]:
            begin, far = end, left.far[end]
            while end < left.starts[i + 1] and left.far[end] == far:
                end += 1
            voted = shares_of_neighbour(
                left, right, matches, anchored, limits.cap, begin, end, shares
            )
            for place in range(voted):
                j = shares.voted[place]
                if row_of[j] != i:
                    row_of[j] = i
                    total[j, 0] = total[j, 1] = total[j, 2] = 0.0
                    met[met_count] = j
                    met_count += 1
                total[j, 0] -= np.log1p(-shares.share[j])
                total[j, 1] += left.worth[begin] * anchored.trust[far]
                total[j, 2] += shares.worth[j] * anchored.trust[far]
        if count + met_count > len(new.pairs):
            for place in range(met_count):
                row_of[met[place]] = -1
            return i, count
        for p in range(pairs.starts[i], pairs.starts[i + 1]):
            j = pairs.right[p]
            if row_of[j] == i:
                for c in range(3):
                    out.known[c, p] = total[j, c]
                row_of[j] = -1
        for place in range(met_count):
            j = met[place]
            if row_of[j] == i and total[j, 0] >= limits.enter:
                new.pairs[count, 0], new.pairs[count, 1] = i, j
                for c in range(3):
                    new.sums[count, c] = total[j, c]
                count += 1
    return len(left.starts) - 1, count
