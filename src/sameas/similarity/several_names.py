"""All names of an entity meet all names of another; the best-fitting pair counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from sameas.compute.arrays import Matrix, Numbers, Positions, Progress
from sameas.compute.pairwise import NamedRows, values_of_partners
from sameas.compute.rows import Rows, in_rows, unit
from sameas.compute.topk import top_k_sparse
from sameas.graph.matched import MatchedGraph, MatchedPair
from sameas.graph.task import Inputs
from sameas.options.options import Options
from sameas.options.tuning import TUNING, SearchTuning
from sameas.similarity.matrix import RowProduct, products
from sameas.similarity.protocol import Similarity


def name_table(
    graph: MatchedGraph, other: MatchedGraph, *, tuning: SearchTuning = TUNING.search
) -> tuple[pl.Series, Positions]:
    """The names of all entities, the better first; those of i are at starts[i]:starts[i + 1].

    Of an entity that has very many, those count first that the other graph has too.
    """
    size = len(graph.entities)
    first = pl.DataFrame({"entity": np.arange(size), "name": graph.names})
    owners = pl.Series(graph.alternative_entities, dtype=pl.Int64)
    more = graph.alternatives.select(entity=owners, name="name")
    every = (
        pl.concat([first, more])
        .filter(pl.col("name") != "", pl.col("entity") >= 0)
        .sort("entity", maintain_order=True)
        .unique(["entity", "name"], keep="first", maintain_order=True)
    )
    theirs = pl.concat([other.names, other.alternatives["name"].rename(other.names.name)])
    met = every["name"].str.to_lowercase().is_in(theirs.str.to_lowercase().implode())
    # A column of its own: within ``over`` the other names would be copied for every entity.
    every = every.with_columns(unmet=(~met).cast(pl.UInt8))
    rank = pl.col("unmet").rank("ordinal").over("entity")
    every = every.filter(rank <= tuning.most_names)
    return every["name"], np.searchsorted(every["entity"].to_numpy(), np.arange(size + 1))


@dataclass(frozen=True, eq=False)
class ComparedNames:
    """The names of both graphs that are compared."""

    left: pl.Series
    right: pl.Series
    starts: tuple[Positions, Positions] | None = None
    """Where the names of each left, and of each right entity start; None if each has one."""
    are_spelled: bool = True
    """Whether their letters count, and not only words or rows that were given."""

    def best_fitting(self, products: RowProduct) -> RowProduct | MaxOverNames:
        """The cosines of entities from those of names: of the two names that fit best."""
        return products if self.starts is None else MaxOverNames(products, *self.starts)

    def by_name(self, cosines: Similarity) -> MaxOverNames | None:
        """The cosines of entities as those of their names; None if letters do not count."""
        if not self.are_spelled:
            return None
        if isinstance(cosines, RowProduct):
            return MaxOverNames(cosines, *(np.arange(size + 1) for size in cosines.shape))
        return cosines if isinstance(cosines, MaxOverNames) else None


def compared_names(
    pair: MatchedPair, options: Options, inputs: Inputs, *, tuning: SearchTuning = TUNING.search
) -> ComparedNames:
    """All names of each entity where some have several and spelling counts; else the first."""
    several = len(pair.left.alternatives) + len(pair.right.alternatives)
    by_letters = inputs.embeddings is None and options.features in ("char", "multilingual")
    if not (options.rounds and several and by_letters):
        return ComparedNames(pair.left.names, pair.right.names, are_spelled=by_letters)
    left, left_starts = name_table(pair.left, pair.right, tuning=tuning)
    if pair.is_one_graph:
        return ComparedNames(left, left, (left_starts, left_starts))
    right, right_starts = name_table(pair.right, pair.left, tuning=tuning)
    return ComparedNames(left, right, (left_starts, right_starts))


def mean_rows(rows: Rows, starts: Positions) -> Rows:
    """The direction of the sum of each entity's name rows."""
    count = len(rows)
    ones = csr_array(
        (np.ones(count, dtype=np.float32), np.arange(count), starts),
        shape=(len(starts) - 1, count),
    )
    return unit(Rows(np.asarray(ones @ rows.dense), csr_array(ones @ rows.sparse)))


@dataclass(frozen=True, eq=False)
class MaxOverNames:
    """The cosine of the two names that fit best, for pairs of entities."""

    products: RowProduct
    """The cosines of names, not of entities."""
    left_starts: Positions
    """The names of left entity i are at left_starts[i]:left_starts[i + 1]."""
    right_starts: Positions

    @property
    def shape(self) -> tuple[int, int]:
        """The number of left and of right entities."""
        return len(self.left_starts) - 1, len(self.right_starts) - 1

    def of(self, left: Numbers, right: Numbers) -> Matrix:
        """The cosines of pairs; 0 where one has no name."""
        return in_rows(self.partners, self.shape[0], left, right)

    def best(self, left: Numbers, right: Numbers) -> tuple[Matrix, Positions, Positions]:
        """The cosines of pairs and the places of the two names, -1 where there is none."""
        order = np.argsort(left, kind="stable")
        starts = np.searchsorted(left[order], np.arange(self.shape[0] + 1))
        rows = np.full((2, len(left)), -1, dtype=np.int64)
        block = slice(0, self.shape[0]), starts, right[order]
        values = products(block, *self.sides, rows)
        back = np.argsort(order)
        return values[back], rows[0, back], rows[1, back]

    def partners(
        self, starts: Positions, right: Numbers, progress: Progress | None = None
    ) -> Matrix:
        """The cosines of left entity i with right[starts[i]:starts[i + 1]], for every i."""
        return values_of_partners(products, *self.sides, starts, right, progress)

    def rows(self, side: int, which: Positions | slice) -> Rows:
        """The direction of the sum of the name rows of these entities of a side."""
        rows = (self.products.left, self.products.right)[side]
        starts = (self.left_starts, self.right_starts)[side]
        entities = np.arange(len(starts) - 1)[which]
        counts = starts[entities + 1] - starts[entities]
        ends = np.append(0, np.cumsum(counts))
        places = np.arange(ends[-1]) + np.repeat(starts[entities] - ends[:-1], counts)
        return mean_rows(rows.take(places), ends)

    @cached_property
    def sides(self) -> tuple[NamedRows, NamedRows]:
        """The packed rows, by entity."""
        left, right = self.products.packed
        return NamedRows(left, self.left_starts), NamedRows(right, self.right_starts)

    def alike(self, k: int, *, only: tuple[Positions, Positions] | None = None) -> Positions:
        """Pairs of entities one of whose names is among the k most similar of another's.

        As numbers left * len(right) + right, ascending; with ``only``, of names of these entities.
        """
        left, right = self.products.left.sparse, self.products.right.sparse
        return self.entities(top_k_sparse(left, right, k, only=only and self.names_of(only)))

    def names_of(self, entities: tuple[Positions, Positions]) -> tuple[Positions, Positions]:
        """The places of all names of some left and of some right entities."""
        starts = self.left_starts, self.right_starts
        left, right = (
            np.flatnonzero(np.isin(np.repeat(np.arange(len(each) - 1), np.diff(each)), some))
            for each, some in zip(starts, entities, strict=True)
        )
        return left, right

    def entities(self, numbers: Positions) -> Positions:
        """The pairs of entities that have these pairs of names, as numbers, ascending."""
        both = np.divmod(numbers, max(self.products.shape[1], 1))
        left, right = (
            np.searchsorted(starts, names, side="right") - 1
            for starts, names in zip((self.left_starts, self.right_starts), both, strict=True)
        )
        return np.unique(left * np.int64(self.shape[1]) + right)
