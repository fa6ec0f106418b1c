"""All names of an entity meet all names of another; the best-fitting pair counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.graph import Graph, GraphPair, Positions
from sameas.parallel import even_slices
from sameas.profit import Profit, make_profit
from sameas.proposals import alike
from sameas.rows import Matrix, Rows

AT_ONCE = 4_000_000
"""Pairs of names compared at once."""


@dataclass(frozen=True, eq=False)
class NameTable:
    """All names of one graph's entities: ``texts`` by entity; those of i at starts[i]:starts[i+1]."""

    texts: pl.Series
    starts: Positions

    @cached_property
    def owner(self) -> Positions:
        """The entity of each name."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


def name_table(graph: Graph) -> NameTable:
    """The names and alternatives of a graph, the name itself first; no empty ones."""
    size = len(graph.entities)
    first = pl.DataFrame({"entity": np.arange(size), "name": graph.names, "order": np.zeros(size, dtype=np.int64)})
    places = graph.positions(graph.alternatives["entity"])
    more = pl.DataFrame({"entity": places, "name": graph.alternatives["name"], "order": np.arange(1, len(places) + 1)})
    every = (
        pl.concat([first, more.cast(first.schema)])
        .filter((pl.col("name") != "") & (pl.col("entity") >= 0))
        .unique(["entity", "name"], keep="first", maintain_order=True)
        .sort("entity", "order")
    )
    starts = np.searchsorted(every["entity"].to_numpy(), np.arange(size + 1))
    return NameTable(every["name"], starts)


def has_alternatives(pair: GraphPair) -> bool:
    """Whether some entity may have several names."""
    return any(
        len(graph.alternatives) or graph.kinds is not None for graph in (pair.left, pair.right)
    )


@dataclass(frozen=True, eq=False)
class BestNames:
    """The cosine of the two names that fit best, for pairs of entities."""

    rows: Profit
    """Of names, not of entities."""
    left: NameTable
    right: NameTable

    @property
    def shape(self) -> tuple[int, int]:
        """The number of left and of right entities."""
        return len(self.left.starts) - 1, len(self.right.starts) - 1

    def of(self, left: Positions, right: Positions) -> Matrix:
        """The cosines of pairs; 0 where one has no name."""
        return self.best(left, right)[0]

    def best(self, left: Positions, right: Positions) -> tuple[Matrix, Positions, Positions]:
        """The cosines of pairs and the places of the two names, -1 where there is none."""
        counts = [np.diff(side.starts)[own] for side, own in ((self.left, left), (self.right, right))]
        combos = counts[0].astype(np.int64) * counts[1]
        ends = np.concatenate([[0], np.cumsum(combos)])
        values = np.zeros(len(left), dtype=np.float32)
        names = np.full((2, len(left)), -1, dtype=np.int64)
        for part in even_slices(ends, AT_ONCE):
            some = np.arange(part.start, part.stop)
            some = some[combos[some] > 0]
            if not len(some):
                continue
            pair = np.repeat(some, combos[some])
            begins = np.cumsum(combos[some]) - combos[some]
            nth = np.arange(len(pair)) - np.repeat(begins, combos[some])
            a = self.left.starts[left[pair]] + nth // counts[1][pair]
            b = self.right.starts[right[pair]] + nth % counts[1][pair]
            cosines = self.rows.of(a, b)
            order = np.lexsort((-cosines, pair))
            first = order[np.unique(pair[order], return_index=True)[1]]
            values[pair[first]] = cosines[first]
            names[0, pair[first]], names[1, pair[first]] = a[first], b[first]
        return values, names[0], names[1]

    def partners(
        self, starts: Positions, right: NDArray[np.integer], progress: Callable[[float], None] | None = None
    ) -> Matrix:
        """The cosines of left entity i with right[starts[i]:starts[i + 1]], for every i."""
        left = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        return self.of(left, right.astype(np.int64))

    def alike(self, k: int) -> Positions:
        """Pairs of entities one of whose names is among the k most similar of another's."""
        width = len(self.right.owner)
        numbers = alike(self.rows.left.sparse, self.rows.right.sparse, k)
        left, right = self.left.owner[numbers // width], self.right.owner[numbers % width]
        return np.unique(left * np.int64(self.shape[1]) + right)


@dataclass(frozen=True, eq=False)
class NamesAndHops:
    """The mean over hops, with hop 0 being the names that fit best."""

    names: BestNames
    hops: Profit
    """All hops, hop 0 being that of the mean of an entity's names."""
    merged: Profit
    """Hop 0 alone."""
    depth: int

    @property
    def left(self) -> Rows:
        """Rows to search by."""
        return self.hops.left

    @property
    def right(self) -> Rows:
        """Rows to search by."""
        return self.hops.right

    @property
    def shape(self) -> tuple[int, int]:
        """The number of left and of right entities."""
        return self.hops.shape

    def of(self, left: Positions, right: Positions) -> Matrix:
        """The profits of pairs."""
        extra = self.names.of(left, right) - self.merged.of(left, right)
        return self.hops.of(left, right) + extra / np.float32(self.depth + 1)

    def partners(
        self, starts: Positions, right: NDArray[np.integer], progress: Callable[[float], None] | None = None
    ) -> Matrix:
        """The profits of left entity i with right[starts[i]:starts[i + 1]], for every i."""
        extra = self.names.partners(starts, right) - self.merged.partners(starts, right)
        return self.hops.partners(starts, right, progress) + extra / np.float32(self.depth + 1)


def mean_rows(rows: Rows, table: NameTable) -> Rows:
    """The mean of each entity's name rows, (entities, columns)."""
    from scipy.sparse import csr_array

    size = len(table.starts) - 1
    ones = csr_array(
        (np.ones(len(table.owner), dtype=np.float32), np.arange(len(table.owner)), table.starts),
        shape=(size, len(table.owner)),
    )
    return Rows(np.asarray(ones @ rows.dense), csr_array(ones @ rows.sparse))


def name_profits(
    pair: GraphPair,
    make_rows: Callable[[pl.Series], Rows],
    propagate_rows: Callable[[Rows], tuple[Rows, Rows]],
    depth: int,
) -> tuple[NamesAndHops, BestNames]:
    """The profit of all entities, and that of their names alone.

    ``make_rows`` makes unit rows of texts; ``propagate_rows`` spreads rows of all left, then all
    right entities over their graphs.
    """
    from sameas.rows import unit
    from scipy.sparse import vstack, csr_array

    tables = name_table(pair.left), name_table(pair.right)
    rows = make_rows(pl.concat([table.texts for table in tables]))
    size = len(tables[0].texts)
    sides = rows.take(np.arange(size)), rows.take(np.arange(size, len(rows)))
    names = BestNames(make_profit(*sides), *tables)
    means = [unit(mean_rows(side, table)) for side, table in zip(sides, tables, strict=True)]
    both = Rows(
        np.vstack([part.dense for part in means]), csr_array(vstack([part.sparse for part in means]))
    )
    hops = make_profit(*propagate_rows(both))
    return NamesAndHops(names, hops, make_profit(*means), depth), names
