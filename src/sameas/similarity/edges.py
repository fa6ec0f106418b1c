"""Edges: the neighbours and literal values of entities, that evidence is gathered from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from sameas.compute.arrays import Indices, Positions
from sameas.graph.graph import positions_of
from sameas.graph.matched import MatchedGraph, MatchedPair

NAME = "(name)"
"""The attribute whose values are names, where entities have several names."""


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges of one graph: neighbours by relation, both ways, and literal values.

    The entity's edges are at starts[i]:starts[i + 1], by ``far``, then ``relation``. A far node
    is an entity, or a value numbered after the last entity, alike for both graphs. Relation r is
    read forwards as r, backwards as r + R (without a direction, as r both ways); attribute a is
    2 R + a. ``fans`` is how many entities have the same far node through the same relation.
    """

    starts: Positions
    entity: Indices
    relation: Indices
    far: Indices
    fans: Indices
    relations: int
    """How many relations there are, in both directions, and attributes."""
    nodes: int
    """How many far nodes there are."""
    hubs: Positions
    """Far nodes that were left out because too many entities have them."""

    def __len__(self) -> int:
        """The number of edges."""
        return len(self.far)

    @property
    def entities(self) -> int:
        """The number of entities."""
        return len(self.starts) - 1

    @cached_property
    def by_far(self) -> tuple[Positions, Positions]:
        """Where those of each far node start in an order by far node and relation; that order."""
        order = np.lexsort((self.entity, self.relation, self.far))
        return np.searchsorted(self.far[order], np.arange(self.nodes + 1)), order

    @cached_property
    def first(self) -> Positions:
        """The first of the edges between an entity and a far node, for each two."""
        begins = np.ones(len(self), dtype=np.bool_)
        begins[1:] = (self.entity[1:] != self.entity[:-1]) | (self.far[1:] != self.far[:-1])
        return np.flatnonzero(begins)

    @property
    def literals(self) -> Positions:
        """The literal values, numbered from zero."""
        return np.arange(self.nodes - self.entities)

    @classmethod
    def none(cls, entities: int) -> Edges:
        """No edges, between so many entities."""
        nothing = np.zeros(0, dtype=np.int32)
        starts = np.zeros(entities + 1, dtype=np.int64)
        return cls(
            starts, nothing, nothing, nothing, nothing, 0, entities, nothing.astype(np.int64)
        )


def edges_of(pair: MatchedPair, *, hub: int, relations: bool = True) -> tuple[Edges, Edges]:
    """The edges of both graphs, without loops and without far nodes of more than ``hub`` entities.

    Only literal values that both graphs have count. Without ``relations``, all relations are
    taken to be the same.
    """
    values = literal_values(pair)
    shared = common_values(*values)
    left, right = (
        _edges(graph, table, attributes, shared, hub, relations)
        for graph, table, attributes in zip(
            (pair.left, pair.right), values, attributes_of(pair), strict=True
        )
    )
    return left, right


def literal_values(pair: MatchedPair) -> tuple[pl.DataFrame, pl.DataFrame]:
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
        if pair.both_rdf:  # attributes count by their likeness, see similarity/attributes
            table = table.clear()
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


def common_values(left: pl.DataFrame, right: pl.DataFrame) -> pl.Series:
    """The literal values that both graphs have, in the order of their numbers."""
    common = left.select("value").unique().join(right.select("value").unique(), on="value")
    values: pl.Series = common["value"].sort()
    return values


def _has_alternatives(pair: MatchedPair) -> bool:
    return any(len(graph.alternatives) for graph in (pair.left, pair.right))


def attributes_of(pair: MatchedPair) -> tuple[pl.Series, pl.Series]:
    """The attributes of both graphs in the order of their numbers."""
    names = pl.Series([NAME] if _has_alternatives(pair) else [], dtype=pl.String)
    left, right = (
        pl.concat([graph.attributes["attribute"].unique().sort().cast(pl.String), names])
        for graph in (pair.left, pair.right)
    )
    return left, right


def _edges(
    graph: MatchedGraph,
    values: pl.DataFrame,
    attributes: pl.Series,
    shared: pl.Series,
    hub: int,
    relations: bool,
) -> Edges:
    size, kinds = len(graph.entities), len(graph.relations)
    if not relations:
        graph = replace(graph, triples=graph.triples * np.array([1, 0, 1]))
    triples = graph.distinct_triples
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
    backwards = triples[:, ::-1] + np.array([0, kinds, 0])
    if graph.undirected.any():  # read both ways, it is the same relation
        backwards[graph.undirected[triples[:, 1]], 1] -= kinds
        both = np.concatenate([triples, backwards])
        triples, backwards = np.unique(both, axis=0), backwards[:0]
    every = np.concatenate([triples, backwards, literal])
    count = 2 * kinds + len(attributes)
    _, group, fans = np.unique(
        every[:, 2] * np.int64(max(count, 1)) + every[:, 1],
        return_inverse=True,
        return_counts=True,
    )
    fans = fans[group]
    hubs = np.unique(every[fans > hub, 2])
    every, fans = every[fans <= hub], fans[fans <= hub]
    order = np.lexsort((every[:, 1], every[:, 2], every[:, 0]))
    entity, relation, far = every[order].T.astype(np.int32)
    starts = np.searchsorted(entity, np.arange(size + 1))
    nodes = size + len(shared)
    columns = starts, entity, relation, far, fans[order].astype(np.int32)
    return Edges(*columns, count, nodes, hubs)
