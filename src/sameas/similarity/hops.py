"""Hops: how alike the neighbourhoods of two entities are, and the mean over all hops."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sameas.compute.arrays import Matrix, Numbers, Positions, Progress, Sparse
from sameas.compute.rows import Rows, as_rows, in_rows, side_by_side
from sameas.similarity.matrix import RowProduct
from sameas.similarity.propagation import hop_rows
from sameas.similarity.protocol import Similarity
from sameas.similarity.several_names import MaxOverNames
from sameas.similarity.sketch import Sketch


@dataclass(frozen=True, eq=False)
class HopMean:
    """The mean over hops: hop 0 is the names, hops 1..depth the neighbourhoods."""

    names: tuple[Similarity, ...]
    """Blocks of names; their mean counts."""
    hops: Similarity
    """The mean over hops 1..depth."""
    depth: int
    sketch: Sketch | None = None
    """All hops, with the mean of an entity's names as hop 0: to search by. Where that has no
    hop 0, it is made from the names."""

    @property
    def shape(self) -> tuple[int, int]:
        """The number of left and of right entities."""
        return self.hops.shape

    def of(self, left: Numbers, right: Numbers) -> Matrix:
        """The means of the pairs (left[0], right[0]), (left[1], right[1]), ..."""
        return in_rows(self.partners, self.shape[0], left, right)

    def partners(
        self, starts: Positions, right: Numbers, progress: Progress | None = None
    ) -> Matrix:
        """The means of left entity i with right[starts[i]:starts[i + 1]], for every i."""
        mean = self.names[0].partners(starts, right, progress)
        for block in self.names[1:]:
            mean += block.partners(starts, right, progress)
        mean /= np.float32(len(self.names))
        hops = np.float32(self.depth + 1)  # that of the names included
        further = self.hops.partners(starts, right)
        further *= hops - 1
        mean += further
        mean /= hops
        return mean

    def rows(self, side: int, which: Positions | slice) -> Rows:
        """Rows of a side whose products are near the means."""
        assert self.sketch is not None, "the search is over"
        if self.sketch.left_names is not None:
            return self.sketch.rows(side, which)
        share = (len(self.names) * (self.depth + 1)) ** -0.5
        names = [_rows_of_names(block, side, which) for block in self.names]
        hops = as_rows(self.sketch.hops(side, which))
        return side_by_side(hops, *(each.scaled(np.full(len(each), share)) for each in names))

    def without_search(self) -> HopMean:
        """The same without what only a search needs."""
        hops = self.hops.without_names() if isinstance(self.hops, Sketch) else self.hops
        return replace(self, hops=hops, sketch=None)


def _rows_of_names(block: Similarity, side: int, which: Positions | slice) -> Rows:
    """The rows of the names of these entities; the mean of several."""
    assert isinstance(block, RowProduct | MaxOverNames)
    return block.rows(side, which)


@dataclass(frozen=True, eq=False)
class ExactHops:
    """The mean cosine over hops 1..depth, whose rows are made for the pairs that are asked for.

    It takes no memory, and much time for each pair: for explanations.
    """

    adjacency: tuple[Sparse, Sparse]
    features: tuple[Rows, Rows]
    """Those of all left and of all right entities."""
    depth: int

    @property
    def shape(self) -> tuple[int, int]:
        """The number of left and of right entities."""
        return len(self.features[0]), len(self.features[1])

    def rows(self, side: int, number: int, entities: Numbers) -> Rows:
        """The feature rows of these entities of a side after a number of hops."""
        return hop_rows(
            self.adjacency[side], self.features[side], number, entities.astype(np.int64)
        )

    def of_each(self, left: Numbers, right: Numbers) -> Matrix:
        """The cosine of each pair after each of hops 1..depth; shape (depth, pairs)."""
        (lefts, at), (rights, to) = (np.unique(side, return_inverse=True) for side in (left, right))
        cosines = [
            RowProduct(self.rows(0, number, lefts), self.rows(1, number, rights)).of(at, to)
            for number in range(1, self.depth + 1)
        ]
        return np.array(cosines, dtype=np.float32).reshape(self.depth, len(left))

    def of(self, left: Numbers, right: Numbers) -> Matrix:
        """The means of the pairs (left[0], right[0]), (left[1], right[1]), ..."""
        total: Matrix = self.of_each(left, right).sum(axis=0) / np.float32(max(self.depth, 1))
        return total

    def partners(
        self, starts: Positions, right: Numbers, progress: Progress | None = None
    ) -> Matrix:
        """The means of left entity i with right[starts[i]:starts[i + 1]], for every i."""
        return self.of(np.repeat(np.arange(len(starts) - 1), np.diff(starts)), right)
