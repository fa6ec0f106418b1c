"""Evidence: what neighbours that are linked already say about a pair.

Two entities that share a neighbour through relations that match are likely the same, the more so
the fewer entities have that neighbour through that relation. A neighbour that one of the two has
and the other lacks, although its relation is one that both graphs usually have, speaks against
them. A literal value that both graphs have is a neighbour like others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.candidates import Candidates
from sameas.graph import Graph, GraphPair, Positions, positions_of
from sameas.kernels import gather_votes
from sameas.parallel import even_slices, in_parallel

Vector = NDArray[np.float64]
Numbers = NDArray[np.int32]

SMOOTH = 3
"""Edges that a relation must have been seen on before its matches count for much."""
LEAST = 0.05
"""Relation matches below this are dropped."""
CAP = 0.95
"""The most that one neighbour can say."""
NAME = "(name)"
"""The attribute that names are values of, where entities have several."""
PART = 100_000
"""Edges treated at once."""


@dataclass(frozen=True, eq=False)
class Edges:
    """What each entity of one graph has: neighbours by relation, both ways, and literal values.

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
    """Links that are sure enough to learn from; ``trust`` is how sure."""

    left: Positions
    right: Positions
    trust: Vector


@dataclass(frozen=True, eq=False)
class Relations:
    """Which relation matches which, and how much of a relation the other graph has at all."""

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
    """What anchored neighbours say about pairs.

    ``votes`` is the sum of -ln(1 - share) over shared neighbours; ``left_lacks`` the weight of
    the right entity's anchored neighbours that the left one lacks, ``right_lacks`` vice versa.
    """

    votes: Vector
    left_lacks: Vector
    right_lacks: Vector

    def taken(self, which: NDArray[np.bool_]) -> Evidence:
        """The evidence about some of the pairs."""
        return Evidence(self.votes[which], self.left_lacks[which], self.right_lacks[which])


@dataclass(frozen=True, eq=False)
class NewPairs:
    """Pairs that are no candidates yet, by left, then right, and what is said about them."""

    left: Positions
    right: Positions
    evidence: Evidence

    def taken(self, which: NDArray[np.bool_]) -> NewPairs:
        """Some of the pairs."""
        return NewPairs(self.left[which], self.right[which], self.evidence.taken(which))


def edges_of(pair: GraphPair, *, hub: int, relations: bool = True) -> tuple[Edges, Edges]:
    """The edges of both graphs, without loops and without far nodes that too many have.

    Of literal values only those count that both graphs have. Without ``relations`` all of them
    are taken as one and the same.
    """
    values = literal_values(pair)
    if pair.left.kinds is not None and pair.right.kinds is not None:
        # Attributes count elsewhere, by their likeness; equal names count here.
        values = tuple(table.filter(pl.col("attribute") == NAME) for table in values)
    shared = _common(*values)
    left, right = (
        _edges(side if relations else _of_one_relation(side), own, attributes, shared, hub)
        for side, own, attributes in zip(
            (pair.left, pair.right), values, attributes_of(pair), strict=True
        )
    )
    return left, right


def literal_values(pair: GraphPair) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The literal values of both graphs: entity (position), attribute, value.

    Where entities have several names, each of them is a value too: that of one graph may be
    the second one of the other.
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
    own = pl.Series([NAME] if _has_alternatives(pair) else [], dtype=pl.String)
    left, right = (
        pl.concat([graph.attributes["attribute"].unique().sort().cast(pl.String), own])
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
    for edges, own in ((left, anchors.left), (right, anchors.right)):
        number = _numbered(edges, own)
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
    ours, theirs = counts["relation"].to_numpy(), counts["relation_right"].to_numpy()
    totals = [
        np.bincount(table["relation"].to_numpy(), minlength=edges.relations)
        for table, edges in zip(tables, (left, right), strict=True)
    ]
    seen = counts["seen"].to_numpy().astype(np.int64)
    match = seen / np.sqrt((totals[0][ours] + SMOOTH) * (totals[1][theirs] + SMOOTH))
    good = match >= LEAST
    kept = both.join(counts.filter(pl.Series(good)), on=["relation", "relation_right"], how="semi")
    covers = [
        _cover(kept.unique(["near", "far", column])[column].to_numpy(), total)
        for column, total in zip(("relation", "relation_right"), totals, strict=True)
    ]
    return Relations(ours[good], theirs[good], match[good], seen[good], covers[0], covers[1])


def _numbered(edges: Edges, anchors: Positions) -> Positions:
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
    """What anchored neighbours say about the candidates, and about others.

    Those others have votes of at least ``enter``.
    """
    trusts = _trust(left, anchors.left, anchors.trust), _trust(right, anchors.right, anchors.trust)
    worths = _worth(left, relations.left_cover), _worth(right, relations.right_cover)
    totals = _totals(left, worths[0], trusts[0]), _totals(right, worths[1], trusts[1])
    partner = _partners(left, right, anchors)
    match_starts = np.searchsorted(relations.left, np.arange(left.relations + 1))
    others = _by_far(right, worths[1])
    found = np.zeros((3, len(candidates)))

    def some(rows: slice) -> tuple[Positions, Vector]:
        result: tuple[Positions, Vector] = gather_votes(
            np.array([rows.start, rows.stop]),
            *(left.starts, left.far, left.relation, left.fans, worths[0]),
            *(partner, trusts[0]),
            *(match_starts, relations.right, relations.match),
            *others,
            *(CAP, enter),
            *(candidates.starts, candidates.right, found[0], found[1], found[2]),
            len(right.starts) - 1,
        )
        return result

    parts = in_parallel(some, even_slices(left.starts, PART)) or [some(slice(0, 0))]
    pairs = np.concatenate([new for new, _ in parts])
    values = np.concatenate([value for _, value in parts])
    by_pair = np.lexsort((pairs[:, 1], pairs[:, 0]))
    pairs, values = pairs[by_pair], values[by_pair]
    left_new, right_new = pairs.T
    return (
        _evidence(candidates.left, candidates.right, found, totals),
        NewPairs(left_new, right_new, _evidence(left_new, right_new, values.T, totals)),
    )


def _trust(edges: Edges, anchored: Positions, trust: Vector) -> Vector:
    """How sure it is which far node of the other graph each far node is; values are themselves."""
    trusts = np.zeros(edges.nodes)
    trusts[anchored] = trust
    trusts[len(edges.starts) - 1 :] = 1.0
    return trusts


def _partners(left: Edges, right: Edges, anchors: Anchors) -> Positions:
    """The right far node that each left one is, -1 where that is not known."""
    sizes = len(left.starts) - 1, len(right.starts) - 1
    partner = np.full(left.nodes, -1, dtype=np.int64)
    partner[anchors.left] = anchors.right
    partner[sizes[0] :] = sizes[1] + np.arange(left.nodes - sizes[0])
    return partner


def _by_far(edges: Edges, worth: Vector) -> tuple[Positions, Numbers, Numbers, Numbers, Vector]:
    """Where the edges to each far node start in an order by far node and relation; and those."""
    order = np.lexsort((edges.entity, edges.relation, edges.far))
    starts = np.searchsorted(edges.far[order], np.arange(edges.nodes + 1))
    return starts, edges.relation[order], edges.entity[order], edges.fans[order], worth[order]


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
    """What it means that a pair shares the far node of each edge, by the best of its relations."""
    worth = -np.log1p(-cover)[edges.relation]
    if not len(edges):
        return worth
    first = _first_of_groups(edges)
    best = np.maximum.reduceat(worth, first)
    each: Vector = np.repeat(best, np.diff(np.append(first, len(edges))))
    return each


def _totals(edges: Edges, worth: Vector, trust: Vector) -> Vector:
    """What each entity's anchored far nodes are worth together, each counted once."""
    first = _first_of_groups(edges)
    worths = worth[first] * trust[edges.far[first]]
    return np.bincount(edges.entity[first], worths, len(edges.starts) - 1).astype(np.float64)


def _first_of_groups(edges: Edges) -> Positions:
    """Where the edges of each entity to each far node begin."""
    begins = np.ones(len(edges), dtype=np.bool_)
    begins[1:] = (edges.entity[1:] != edges.entity[:-1]) | (edges.far[1:] != edges.far[:-1])
    return np.flatnonzero(begins)
