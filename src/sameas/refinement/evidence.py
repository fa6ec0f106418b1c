"""Evidence about pairs from neighbours that are linked already.

Two entities that share a neighbour through relations that match are likely the same, the more so
the fewer entities have that neighbour through that relation. A neighbour that only one of the two
has, although both graphs usually record its relation, is evidence against them. A literal value
that both graphs have is a neighbour like others.

Evidence about n pairs has the shape (3, n). Its rows are ``votes``, the sum of -ln(1 - share) over
shared neighbours; ``left_lacks``, the weight of the right entity's anchored neighbours that the
left one lacks; and ``right_lacks``, vice versa.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.candidates.pairs import Candidates
from sameas.compute.arrays import Indices, Matrix, Positions, Vector
from sameas.compute.in_files import let_go_of_pages, room_for
from sameas.compute.joins import bounded_join
from sameas.compute.kernels.votes import (
    Anchored,
    LeftEdges,
    Limits,
    Matches,
    NewPairs,
    PairIndex,
    RightEdges,
    Shares,
    Sums,
    Votes,
    gather_votes,
)
from sameas.compute.parallel import even_slices, in_parallel_if, map_blocks, slices
from sameas.compute.rows import starts_in
from sameas.options.tuning import TUNING, EvidenceTuning, Tuning
from sameas.similarity.edges import Edges

PART, PARTS = 100_000, 64
"""Edges treated at once, and the most blocks of them: each has room for all right entities."""
FEW = 200_000
"""Edges that are not worth a file."""
AT_ONCE_UP_TO = 2_000_000
"""Edges beyond which sides are worked on one after the other, which takes less memory."""


@dataclass(frozen=True, eq=False)
class Anchors:
    """Links that are certain enough to learn from; ``trust`` is their probability."""

    left: Positions
    right: Positions
    trust: Vector


@dataclass(frozen=True, eq=False)
class Relations:
    """Which relation matches which, and how much of each the other graph has at all."""

    left: Indices
    right: Indices
    match: Vector
    seen: Positions
    """On how many edges between anchors both were seen."""
    left_cover: Vector
    """For each left relation, the share of its edges between anchors that the right has too."""
    right_cover: Vector


def match_relations(
    left: Edges, right: Edges, anchors: Anchors, *, tuning: Tuning = TUNING
) -> Relations:
    """How often relations link the same anchors: c(r, r') / sqrt((c(r) + s) (c(r') + s)).

    An attribute is seen where an anchor has a value that both graphs have.
    """
    tables, totals, count = [], [], len(anchors.left)
    for edges, anchored in ((left, anchors.left), (right, anchors.right)):
        places = np.arange(count, dtype=np.int32)
        number = of_nodes(edges, anchored, places, count + edges.literals, -1)
        near, far = number[edges.entity], number[edges.far]
        known = (near >= 0) & (far >= 0)
        # One number for both ends is joined much faster than two columns.
        ends = near[known] * np.int64(count + len(left.literals)) + far[known]
        del near, far
        tables.append(pl.DataFrame({"ends": ends, "relation": edges.relation[known]}))
        totals.append(np.bincount(edges.relation[known], minlength=edges.relations))
    del ends, known, number
    both = bounded_join(tables.pop(0), tables.pop(), on=["ends"], tuning=tuning.search)
    kinds = ["relation", "relation_right"]
    counts = both.group_by(kinds).len("seen").sort(kinds)
    of_left, of_right, seen = (column.to_numpy() for column in counts.cast({"seen": pl.Int64}))
    smoothing, (had, every) = tuning.evidence.smoothing, tuning.evidence.cover_prior
    match = seen / np.sqrt((totals[0][of_left] + smoothing) * (totals[1][of_right] + smoothing))
    good = match >= tuning.evidence.least
    kept = both.join(counts.filter(pl.Series(good)), on=kinds, how="semi")
    let_go_of_pages()
    left_cover, right_cover = (
        (np.bincount(kept.unique(["ends", kind])[kind].to_numpy(), minlength=len(total)) + had)
        / (total + every)
        for kind, total in zip(kinds, totals, strict=True)
    )
    return Relations(
        of_left[good], of_right[good], match[good], seen[good], left_cover, right_cover
    )


def of_nodes(
    edges: Edges, anchored: Positions, values: Any, literal: Any, other: float
) -> NDArray[Any]:
    """A value for each far node: that of its anchor, that of a literal, or of any other."""
    each = np.full(edges.nodes, other, dtype=values.dtype)
    each[anchored] = values
    each[edges.entities :] = literal
    return each


def gather_evidence(
    left: Edges,
    right: Edges,
    anchors: Anchors,
    relations: Relations,
    candidates: Candidates,
    *,
    enter: float,
    tuning: EvidenceTuning = TUNING.evidence,
) -> tuple[Matrix, Positions, Matrix]:
    """The evidence about the candidates, and about other pairs with votes of at least ``enter``.

    The other pairs come second, by left, then right, shape (2, k); the evidence about them third.
    """
    left_trust = of_nodes(left, anchors.left, anchors.trust, 1.0, 0.0)
    right_trust = of_nodes(right, anchors.right, anchors.trust, 1.0, 0.0)
    partner = of_nodes(left, anchors.left, anchors.right, right.entities + left.literals, -1)
    back = of_nodes(right, anchors.right, anchors.left, left.entities + right.literals, -1)
    sides = (
        (left, relations.left_cover, left_trust, back[right.hubs]),
        (right, relations.right_cover, right_trust, partner[left.hubs]),
    )
    few = max(len(left), len(right)) <= AT_ONCE_UP_TO
    (left_worth, left_total), (right_worth, right_total) = in_parallel_if(
        few, lambda side: _worth(*side), sides
    )
    match_starts = np.searchsorted(relations.left, np.arange(left.relations + 1))
    far_starts, by_far = right.by_far
    columns: tuple[NDArray[Any], ...] = (right.relation, right.entity, right.fans, right_worth)
    in_order = partial(_in_order, order=by_far)
    shared = (
        RightEdges(far_starts, *in_parallel_if(few, in_order, columns)),
        Matches(match_starts, relations.right, relations.match),
        Anchored(partner, left_trust),
        Limits(tuning.cap, enter, right.entities),
    )
    del columns, right_worth
    let_go_of_pages()
    met = np.empty((3, len(candidates)), dtype=np.float32)

    def take(rows: slice) -> tuple[LeftEdges, PairIndex]:
        (starts, edges), (ends, pairs) = (
            starts_in(each, rows) for each in (left.starts, candidates.starts)
        )
        columns = (left.far, left.relation, left.fans, left_worth)
        edges_there = LeftEdges(
            starts, *(np.ascontiguousarray(column[edges]) for column in columns)
        )
        return edges_there, PairIndex(ends, candidates.right[pairs])

    def evidence(left: NDArray[Any], right: NDArray[Any], met: Matrix) -> Matrix:
        """The votes, and in place of the weight that was met, the weight that was not."""
        met[1], met[2] = right_total[right] - met[2], left_total[left] - met[1]
        return np.maximum(met, 0, out=met)

    new_pairs = []
    parts = list(even_slices(left.starts, max(PART, len(left) // PARTS))) or [slice(0, 0)]
    for rows, (here, others, others_met) in map_blocks(_votes, parts, take, *shared):
        met[:, starts_in(candidates.starts, rows)[1]] = here
        others[0] += np.int32(rows.start)
        new_pairs.append((others, others_met))
    new, new_met = (np.concatenate(arrays, axis=1) for arrays in zip(*new_pairs, strict=True))
    del new_pairs
    new_evidence = evidence(new[0], new[1], new_met)
    return evidence(candidates.left, candidates.right, met), new, new_evidence


def _in_order(column: NDArray[Any], order: NDArray[np.integer]) -> NDArray[Any]:
    """What an order makes of a column; in a file if workers in other processes look at it."""
    if len(column) < FEW:
        return np.asarray(column[order])
    turned = room_for(column.shape, column.dtype)
    for part in slices(len(order), PART):
        turned[part] = column[order[part]]
    let_go_of_pages()
    return turned


def _votes(
    block: tuple[LeftEdges, PairIndex],
    right: RightEdges,
    matches: Matches,
    anchored: Anchored,
    limits: Limits,
) -> tuple[Matrix, Indices, Matrix]:
    """The sums of the known pairs of some left entities; other pairs, in order, and theirs."""
    (left, pairs), size = block, limits.right_entities
    votes = Votes(
        np.zeros((3, len(pairs.right)), dtype=np.float32),
        # There is room for all new pairs of any one entity.
        NewPairs(np.empty((size, 2), dtype=np.int32), np.empty((size, 3), dtype=np.float32)),
        Shares(
            np.empty(size, dtype=np.int64),
            *(np.empty(size), np.empty(size)),
            np.empty(size, dtype=np.int64),
        ),
        Sums(
            np.full(size, -1, dtype=np.int64), np.empty((size, 3)), np.empty(size, dtype=np.int64)
        ),
    )
    entity, new_pairs, sums = 0, [votes.new.pairs[:0]], [votes.new.sums[:0]]
    while entity < len(left.starts) - 1:
        votes.shares.group.fill(-1)
        entity, count = gather_votes(left, right, matches, anchored, pairs, limits, entity, votes)
        new_pairs.append(votes.new.pairs[:count].copy())
        sums.append(votes.new.sums[:count].copy())
    found = np.concatenate(new_pairs)
    order = np.lexsort((found[:, 1], found[:, 0]))
    found, met = found[order].T, np.concatenate(sums)[order].T
    return votes.known, np.ascontiguousarray(found), np.ascontiguousarray(met)


def _worth(edges: Edges, cover: Vector, trust: Vector, hubs: Positions) -> tuple[Vector, Vector]:
    """The weight of each edge's far node, and of each entity's anchored far nodes together.

    A far node weighs as much as the best relation that leads to it; nothing if its counterpart is
    one of the ``hubs`` of the other graph, which does not tell who has it.
    """
    first = edges.first
    worth = -np.log1p(-cover)[edges.relation]
    best = np.maximum.reduceat(worth, first) if len(first) else worth
    best[np.isin(edges.far[first], hubs)] = 0.0
    total = np.bincount(edges.entity[first], best * trust[edges.far[first]], edges.entities)
    return np.repeat(best, np.diff(first, append=len(edges))), total.astype(np.float64)
