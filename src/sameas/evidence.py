"""Evidence about pairs from neighbours that are linked already.

Two entities that share a neighbour through relations that match are likely the same, the more so
the fewer entities have that neighbour through that relation. A neighbour that only one of the two
has, although both graphs usually record its relation, is evidence against them. A literal value
that both graphs have is a neighbour like others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.candidates import Candidates
from sameas.graph import Graph, GraphPair, Positions, positions_of
from sameas.kernels import Anchored, LeftEdges, Matches, PairIndex, RightEdges, gather_votes
from sameas.parallel import even_slices, in_parallel

Vector = NDArray[np.float64]
Numbers = NDArray[np.int32]

SMOOTH = 3
"""Edges that a relation must have been seen on before its matches count for much."""
LEAST = 0.05
"""Relation matches below this are dropped."""
CAP = 0.95
"""The largest share that one neighbour can have."""
NAME = "(name)"
"""The attribute whose values are names, where entities have several names."""
PART = 100_000
"""Edges treated at once."""


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges of one graph: neighbours by relation, both ways, and literal values.

    The entity's edges are at starts[i]:starts[i + 1], by ``far``, then ``relation``. A far node
    is an entity, or a value numbered after the last entity, alike for both graphs. Relation r is
    read forwards as r, backwards as r + R; attribute a is 2 R + a. ``fans`` is how many entities
    have the same far node through the same relation.
    """

    starts: Positions
    entity: Numbers
    relation: Numbers
    far: Numbers
    fans: Numbers
    relations: int
    """How many relations there are, in both directions, and attributes."""
    nodes: int
    """How many far nodes there are."""

    def __len__(self) -> int:
        """The number of edges."""
        return len(self.far)


@dataclass(frozen=True, eq=False)
class Anchors:
    """Links that are certain enough to learn from; ``trust`` is their probability."""

    left: Positions
    right: Positions
    trust: Vector


@dataclass(frozen=True, eq=False)
class Relations:
    """Which relation matches which, and how much of each the other graph has at all."""

    left: Numbers
    right: Numbers
    match: Vector
    seen: Positions
    """On how many edges between anchors both were seen."""
    left_cover: Vector
    """For each left relation, the share of its edges between anchors that the right has too."""
    right_cover: Vector


@dataclass(frozen=True, eq=False)
class Evidence:
    """Evidence about pairs from anchored neighbours.

    ``votes`` is the sum of -ln(1 - share) over shared neighbours; ``left_lacks`` the weight of
    the right entity's anchored neighbours that the left one lacks, ``right_lacks`` vice versa.
    """

    votes: Vector
    left_lacks: Vector
    right_lacks: Vector

    def select(self, which: NDArray[np.bool_]) -> Evidence:
        """The evidence about these of the pairs."""
        return Evidence(self.votes[which], self.left_lacks[which], self.right_lacks[which])


@dataclass(frozen=True, eq=False)
class NewPairs:
    """Pairs that are not candidates yet, by left, then right, and the evidence about them."""

    left: Positions
    right: Positions
    evidence: Evidence

    def select(self, which: NDArray[np.bool_]) -> NewPairs:
        """These of the pairs."""
        return NewPairs(self.left[which], self.right[which], self.evidence.select(which))


def edges_of(pair: GraphPair, *, hub: int, relations: bool = True) -> tuple[Edges, Edges]:
    """The edges of both graphs, without loops and without far nodes of more than ``hub`` entities.

    Only literal values that both graphs have count. Without ``relations``, all relations are
    taken to be the same.
    """
    values = literal_values(pair)
    shared = _common(*values)
    left, right = (
        _edges(graph if relations else _of_one_relation(graph), table, attributes, shared, hub)
        for graph, table, attributes in zip(
            (pair.left, pair.right), values, attributes_of(pair), strict=True
        )
    )
    return left, right


def literal_values(pair: GraphPair) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The literal values of both graphs: entity (position), attribute, value.

    Where entities have several names, each is a value too: the first name in one graph may be
    the second in the other.
    """
    tables = []
    for graph in (pair.left, pair.right):
        names = pl.DataFrame({"entity": graph.entities, "name": graph.names})
        # A label that is the name already says nothing new.
        table = graph.attributes.select("entity", "attribute", "value").join(
            names, left_on=["entity", "value"], right_on=["entity", "name"], how="anti"
        )
        if _has_alternatives(pair):
            every = pl.concat([names, graph.alternatives.select("entity", "name")])
            every = every.filter(pl.col("name").str.len_bytes() > 0)
            kind = pl.repeat(NAME, len(every), eager=True)
            named = every.select("entity", attribute=kind, value="name")
            table = pl.concat([table, named])
        tables.append(
            table.select(
                entity=pl.Series(graph.positions(table["entity"]), dtype=pl.Int64),
                attribute="attribute",
                value=pl.col("value").str.strip_chars().str.to_lowercase(),
            ).unique()
        )
    return tables[0], tables[1]


def common_values(pair: GraphPair) -> pl.Series:
    """The literal values that both graphs have, in the order of their numbers."""
    return _common(*literal_values(pair))


def _common(left: pl.DataFrame, right: pl.DataFrame) -> pl.Series:
    common = left.select("value").unique().join(right.select("value").unique(), on="value")
    values: pl.Series = common["value"].sort()
    return values


def _has_alternatives(pair: GraphPair) -> bool:
    return any(len(graph.alternatives) for graph in (pair.left, pair.right))


def _of_one_relation(graph: Graph) -> Graph:
    triples = graph.triples.copy()
    triples[:, 1] = 0
    return replace(graph, triples=triples)


def attributes_of(pair: GraphPair) -> tuple[pl.Series, pl.Series]:
    """The attributes of both graphs in the order of their numbers."""
    names = pl.Series([NAME] if _has_alternatives(pair) else [], dtype=pl.String)
    left, right = (
        pl.concat([graph.attributes["attribute"].unique().sort().cast(pl.String), names])
        for graph in (pair.left, pair.right)
    )
    return left, right


def _edges(
    graph: Graph, values: pl.DataFrame, attributes: pl.Series, shared: pl.Series, hub: int
) -> Edges:
    size, kinds = len(graph.entities), len(graph.relations)
    triples = graph.distinct_triples()
    triples = triples[triples[:, 0] != triples[:, 2]]
    held = values.filter(pl.col("value").is_in(shared.implode()), pl.col("entity") >= 0)
    literal = np.stack(
        [
            held["entity"].to_numpy(),
            positions_of(held["attribute"], attributes) + 2 * kinds,
            positions_of(held["value"], shared) + size,
        ],
        axis=1,
    )
    every = np.concatenate([triples, triples[:, ::-1] + np.array([0, kinds, 0]), literal])
    relations, nodes = 2 * kinds + len(attributes), size + len(shared)
    _, group, fans = np.unique(
        every[:, 2] * np.int64(max(relations, 1)) + every[:, 1],
        return_inverse=True,
        return_counts=True,
    )
    fans = fans[group]
    every, fans = every[fans <= hub], fans[fans <= hub]
    order = np.lexsort((every[:, 1], every[:, 2], every[:, 0]))
    entity, relation, far = every[order].T.astype(np.int32)
    starts = np.searchsorted(entity, np.arange(size + 1))
    return Edges(starts, entity, relation, far, fans[order].astype(np.int32), relations, nodes)


def match_relations(left: Edges, right: Edges, anchors: Anchors) -> Relations:
    """How often relations link the same anchors: c(r, r') / sqrt((c(r) + 3) (c(r') + 3)).

    An attribute is seen where an anchor has a value that both graphs have.
    """
    tables = []
    for edges, anchored in ((left, anchors.left), (right, anchors.right)):
        number = _anchor_numbers(edges, anchored)
        near, far = number[edges.entity], number[edges.far]
        known = (near >= 0) & (far >= 0)
        tables.append(
            pl.DataFrame(
                {"near": near[known], "far": far[known], "relation": edges.relation[known]}
            )
        )
    both = tables[0].join(tables[1], on=["near", "far"], suffix="_right")
    counts = both.group_by("relation", "relation_right").len("seen")
    counts = counts.sort("relation", "relation_right")
    of_left, of_right = counts["relation"].to_numpy(), counts["relation_right"].to_numpy()
    totals = [
        np.bincount(table["relation"].to_numpy(), minlength=edges.relations)
        for table, edges in zip(tables, (left, right), strict=True)
    ]
    seen = counts["seen"].to_numpy().astype(np.int64)
    match = seen / np.sqrt((totals[0][of_left] + SMOOTH) * (totals[1][of_right] + SMOOTH))
    good = match >= LEAST
    kept = both.join(counts.filter(pl.Series(good)), on=["relation", "relation_right"], how="semi")
    covers = [
        _cover(kept.unique(["near", "far", column])[column].to_numpy(), total)
        for column, total in zip(("relation", "relation_right"), totals, strict=True)
    ]
    return Relations(of_left[good], of_right[good], match[good], seen[good], covers[0], covers[1])


def _anchor_numbers(edges: Edges, anchors: Positions) -> Positions:
    """The number of each far node among the anchors, values after these, -1 for others."""
    size = len(edges.starts) - 1
    number = np.full(edges.nodes, -1, dtype=np.int64)
    number[anchors] = np.arange(len(anchors))
    number[size:] = len(anchors) + np.arange(edges.nodes - size)
    return number


def _cover(found: Numbers, total: Positions) -> Vector:
    cover: Vector = (np.bincount(found, minlength=len(total)) + 1) / (total + 4)
    return cover


def gather_evidence(
    left: Edges,
    right: Edges,
    anchors: Anchors,
    relations: Relations,
    candidates: Candidates,
    *,
    enter: float,
) -> tuple[Evidence, NewPairs]:
    """The evidence about the candidates, and about other pairs with votes of at least ``enter``."""
    trusts = _trust(left, anchors.left, anchors.trust), _trust(right, anchors.right, anchors.trust)
    worths = _worth(left, relations.left_cover), _worth(right, relations.right_cover)
    totals = _totals(left, worths[0], trusts[0]), _totals(right, worths[1], trusts[1])
    partner = partners(left, right, anchors)
    match_starts = np.searchsorted(relations.left, np.arange(left.relations + 1))
    found = np.zeros((3, len(candidates)))
    ours = LeftEdges(left.starts, left.far, left.relation, left.fans, worths[0])
    theirs = _by_far(right, worths[1])
    matches = Matches(match_starts, relations.right, relations.match)
    anchored = Anchored(partner, trusts[0])
    pairs = PairIndex(candidates.starts, candidates.right)
    others = len(right.starts) - 1

    def gather_rows(rows: slice) -> tuple[Positions, Vector]:
        result: tuple[Positions, Vector] = gather_votes(
            *(rows.start, rows.stop, ours, theirs, matches, anchored, pairs),
            *(CAP, enter, others, found),
        )
        return result

    slices = list(even_slices(left.starts, PART)) or [slice(0, 0)]
    parts = in_parallel(gather_rows, slices)
    new_pairs = np.concatenate([new for new, _ in parts])
    values = np.concatenate([value for _, value in parts])
    by_pair = np.lexsort((new_pairs[:, 1], new_pairs[:, 0]))
    values = values[by_pair]
    left_new, right_new = new_pairs[by_pair].T
    return (
        _evidence(candidates.left, candidates.right, found, totals),
        NewPairs(left_new, right_new, _evidence(left_new, right_new, values.T, totals)),
    )


def _trust(edges: Edges, anchored: Positions, trust: Vector) -> Vector:
    """The trust in each far node's counterpart; one for values, which are their own."""
    trusts = np.zeros(edges.nodes)
    trusts[anchored] = trust
    trusts[len(edges.starts) - 1 :] = 1.0
    return trusts


def partners(left: Edges, right: Edges, anchors: Anchors) -> Positions:
    """The right counterpart of each left far node, -1 where it is not known."""
    sizes = len(left.starts) - 1, len(right.starts) - 1
    partner = np.full(left.nodes, -1, dtype=np.int64)
    partner[anchors.left] = anchors.right
    partner[sizes[0] :] = sizes[1] + np.arange(left.nodes - sizes[0])
    return partner


def _by_far(edges: Edges, worth: Vector) -> RightEdges:
    """The edges by far node and relation."""
    order = np.lexsort((edges.entity, edges.relation, edges.far))
    starts = np.searchsorted(edges.far[order], np.arange(edges.nodes + 1))
    columns = (edges.relation, edges.entity, edges.fans, worth)
    return RightEdges(starts, *(column[order] for column in columns))


def _evidence(
    left: NDArray[np.integer],
    right: NDArray[np.integer],
    found: Vector,
    totals: tuple[Vector, Vector],
) -> Evidence:
    return Evidence(
        found[0],
        np.maximum(totals[1][right] - found[2], 0),
        np.maximum(totals[0][left] - found[1], 0),
    )


def _worth(edges: Edges, cover: Vector) -> Vector:
    """The weight of each edge's far node: that of the best relation that leads to it."""
    worth = -np.log1p(-cover)[edges.relation]
    if not len(edges):
        return worth
    first = _first_of_groups(edges)
    best = np.maximum.reduceat(worth, first)
    each: Vector = np.repeat(best, np.diff(np.append(first, len(edges))))
    return each


def _totals(edges: Edges, worth: Vector, trust: Vector) -> Vector:
    """The total weight of each entity's anchored far nodes, each counted once."""
    first = _first_of_groups(edges)
    worths = worth[first] * trust[edges.far[first]]
    return np.bincount(edges.entity[first], worths, len(edges.starts) - 1).astype(np.float64)


def _first_of_groups(edges: Edges) -> Positions:
    """Where the edges of each entity to each far node begin."""
    begins = np.ones(len(edges), dtype=np.bool_)
    begins[1:] = (edges.entity[1:] != edges.entity[:-1]) | (edges.far[1:] != edges.far[:-1])
    return np.flatnonzero(begins)
