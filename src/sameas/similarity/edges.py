"""Edges: the neighbours and names of entities, that evidence is gathered from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.compute.arrays import Indices, Positions
from sameas.compute.in_files import is_in_file, let_go_of_pages, put_in_file
from sameas.compute.parallel import in_parallel, is_apart
from sameas.graph.graph import positions_of
from sameas.graph.matched import MatchedGraph, MatchedPair

NAME = "(name)"
"""What the relation of names to entities is called."""
MANY = 200_000
"""Triples of a graph beyond which the edges of both are made one after the other."""


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges of one graph: neighbours by relation, both ways, and names that are values.

    The entity's edges are at starts[i]:starts[i + 1], by ``far``, then ``relation``. A far node
    is an entity, or a value numbered after the last entity, alike for both graphs. Relation r is
    read forwards as r, backwards as r + R (without a direction, as r both ways); a name is
    relation 2 R. ``fans`` is how many entities have the same far node through the same relation.
    """

    starts: Positions
    entity: Indices
    relation: Indices
    far: Indices
    fans: Indices
    relations: int
    """How many relations there are, in both directions, and names as one more."""
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
    def by_far(self) -> tuple[Positions, NDArray[np.integer]]:
        """Where those of each far node start in an order by far node and relation; that order."""
        order = self._short(np.lexsort((self.entity, self.relation, self.far)))
        return np.searchsorted(self.far[order], np.arange(self.nodes + 1)), order

    @cached_property
    def first(self) -> NDArray[np.integer]:
        """The first of the edges between an entity and a far node, for each two."""
        begins = np.ones(len(self), dtype=np.bool_)
        begins[1:] = (self.entity[1:] != self.entity[:-1]) | (self.far[1:] != self.far[:-1])
        return self._short(np.flatnonzero(begins))

    def _short(self, places: Positions) -> NDArray[np.integer]:
        """Places of edges in 32 bits, where these are enough; in a file if edges are in files."""
        short = places.astype(np.int32 if len(self) < 2**31 else np.int64)
        return put_in_file(short) if is_in_file(self.far) else short

    def in_files(self) -> Edges:
        """The same edges in files, for a process that only hands them to others part by part."""
        return replace(
            self,
            entity=put_in_file(self.entity),
            relation=put_in_file(self.relation),
            far=put_in_file(self.far),
            fans=put_in_file(self.fans),
        )

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

    Only names that both graphs have count. Without ``relations``, all relations are taken to be
    the same.
    """
    names = names_as_values(pair)
    shared = common_values(*names)

    def make(side: int) -> Edges:
        return _edges(pair.graphs[side], names[side], shared, hub, relations)

    # Large ones one after the other: what they are made of takes more than they do.
    many = max(len(graph.triples) for graph in pair.graphs) > MANY
    if not many:
        left, right = in_parallel(make, (0, 1))
        return left, right
    left, right = (make(side).in_files() if is_apart() else make(side) for side in (0, 1))
    let_go_of_pages()
    return left, right


def names_as_values(pair: MatchedPair) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The names of both graphs as values: entity (position), value; none if each has one name.

    Where entities have several, the first name in one graph may be the second in the other.
    """
    several = any(len(graph.alternatives) for graph in pair.graphs)
    left, right = (
        pl.DataFrame(
            {
                "entity": np.append(np.arange(len(graph.entities)), graph.alternative_entities),
                "value": pl.concat([graph.names, graph.alternatives["name"].rename("name")]),
            }
        )
        .filter(pl.lit(several), pl.col("value").str.len_bytes() > 0, pl.col("entity") >= 0)
        .with_columns(pl.col("value").str.strip_chars().str.to_lowercase())
        .unique()
        for graph in pair.graphs
    )
    return left, right


def common_values(left: pl.DataFrame, right: pl.DataFrame) -> pl.Series:
    """The values that both graphs have, in the order of their numbers."""
    common = left.select("value").unique().join(right.select("value").unique(), on="value")
    values: pl.Series = common["value"].sort()
    return values


def _edges(
    graph: MatchedGraph, names: pl.DataFrame, shared: pl.Series, hub: int, relations: bool
) -> Edges:
    size, kinds = len(graph.entities), len(graph.relations)
    if not relations:
        graph = replace(graph, triples=graph.triples * np.array([1, 0, 1]))
    triples = graph.distinct_triples
    triples = triples[triples[:, 0] != triples[:, 2]]
    held = names.filter(pl.col("value").is_in(shared.implode()))
    backwards = triples[:, ::-1] + np.array([0, kinds, 0])
    if graph.undirected.any():  # read both ways, it is the same relation
        backwards[graph.undirected[triples[:, 1]], 1] -= kinds
        both = np.concatenate([triples, backwards])
        triples, backwards = np.unique(both, axis=0), backwards[:0]
    literal = (
        held["entity"].to_numpy(),
        np.full(len(held), 2 * kinds),
        positions_of(held["value"], shared) + size,
    )
    entity, relation, far = (
        np.concatenate(parts, dtype=np.int32)
        for parts in zip(triples.T, backwards.T, literal, strict=True)
    )
    del triples, backwards, literal
    count = 2 * kinds + 1
    fans = _times(far * np.int64(count) + relation)
    hubs = np.unique(far[fans > hub]).astype(np.int64)
    kept = np.flatnonzero(fans <= hub)
    kept = kept[np.lexsort((relation[kept], far[kept], entity[kept]))]
    entity, relation, far, fans = (column[kept] for column in (entity, relation, far, fans))
    starts = np.searchsorted(entity, np.arange(size + 1))
    return Edges(starts, entity, relation, far, fans, count, size + len(shared), hubs)


def _times(numbers: Positions) -> Indices:
    """How often each of the numbers is there."""
    order = np.argsort(numbers, kind="stable")
    first = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    counts = np.diff(first, append=len(numbers)).astype(np.int32)
    times = np.empty(len(numbers), dtype=np.int32)
    times[order] = np.repeat(counts, counts)
    return times
