"""Profit: how well each left entity fits each right one, computed where it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from sameas.compute.arrays import Matrix, Numbers, Positions, Progress, Vector
from sameas.compute.device import multiplier
from sameas.compute.kernels.products import (
    Products,
    RowArrays,
    Tiles,
    add_products,
    pair_products,
)
from sameas.compute.kernels.topk import places_above
from sameas.compute.pairwise import Block, NamedRows, values_of_partners
from sameas.compute.parallel import in_parallel, in_turn, one_blas_thread, slices
from sameas.compute.projection import Compressed, compress
from sameas.compute.rows import Rows, arrays_of, in_rows

BUSY = 0.02
"""Columns filled on both sides to a share product above this are multiplied as dense ones.

Measured: a dense column costs a pair about 0.024 ns, a sparse one about 1.2 ns for each pair in
which both are filled.
"""
LONG = 100
"""Sparse entries per row from which on dense columns make products of pairs faster."""
BLOCK_BYTES = 64 * 2**20
BOUND_COLUMNS = 384
"""Principal columns that bound a profit: on DBP15K, all but one pair in a hundred is out."""
ROUNDING = 4e-6
"""More than the error of a sum of float32 products of unit rows."""
TILE_BYTES = 2**20
"""Dense columns of right rows that pairs are multiplied with before the next ones, about what a
core's own cache holds. Measured: pairs of 15,000 rows of 568 columns take a third less time."""
FEW_ABOVE = 2**14
"""Entries above their limits in one block for which there is room; for more, it is read again."""

Exceeding = Iterator[tuple[slice, Positions, Positions]]
"""Blocks of rows, and the left and right positions of the pairs found in each."""


@dataclass(frozen=True, eq=False)
class DenseMatrix:
    """A profit matrix that is stored, (left, right)."""

    matrix: Matrix

    @property
    def shape(self) -> tuple[int, int]:
        """The number of left and of right entities."""
        return self.matrix.shape[0], self.matrix.shape[1]

    @cached_property
    def ceiling(self) -> float:
        """The largest absolute profit."""
        if not self.matrix.size:
            return 0.0
        return max(float(self.matrix.max()), -float(self.matrix.min()))

    def of(self, left: Numbers, right: Numbers) -> Matrix:
        """The profits of the pairs (left[0], right[0]), (left[1], right[1]), ..."""
        values: Matrix = self.matrix[left, right]
        return values

    def partners(
        self, starts: Positions, right: Numbers, progress: Progress | None = None
    ) -> Matrix:
        """The profits of left entity i with right[starts[i]:starts[i + 1]], for every i."""
        return self.of(np.repeat(np.arange(len(starts) - 1), np.diff(starts)), right)

    def between(self, left: Positions, right: Positions) -> Matrix:
        """The profits of all pairs between these entities."""
        values: Matrix = self.matrix[np.ix_(left, right)]
        return values

    def exceeding_prices(self, left: Vector, right: Vector) -> Exceeding:
        """Rows, and the pairs in them whose profit exceeds the sum of their two prices.

        Pairs that nearly do may be among them; none that does is missing.
        """
        slack = _slack(self.ceiling, left, right)
        right_prices = right.astype(np.float32)

        def excess(rows: slice) -> tuple[slice, Positions, Positions]:
            limits = (left[rows] - slack).astype(np.float32)
            over = _places_above(self.matrix[rows], limits, right_prices)
            above, columns = np.divmod(over, max(self.shape[1], 1))
            return rows, above + rows.start, columns

        # Where all profits are the same, every pair is above.
        yield from in_turn(excess, row_blocks(self.shape, BLOCK_BYTES // 8))


@dataclass(frozen=True, eq=False)
class RowProduct:
    """The product of two tall matrices of rows: shape (len(left), len(right)).

    It is not stored, unless ``toarray`` is asked for.
    """

    left: Rows
    right: Rows

    @property
    def shape(self) -> tuple[int, int]:
        """The number of left and of right entities."""
        return len(self.left), len(self.right)

    @cached_property
    def ceiling(self) -> float:
        """A bound on the absolute profit."""
        longest = [side.norms().max(initial=0.0) for side in (self.left, self.right)]
        return float(longest[0] * longest[1])

    @cached_property
    def bounds(self) -> Compressed:
        """Short rows that bound the profit of each pair."""
        return compress(self.left, self.right, principal=BOUND_COLUMNS, random=0)

    @cached_property
    def packed(self) -> tuple[Rows, Rows]:
        """The rows as pairs are multiplied by: busy columns of long rows are dense."""
        entries = self.left.sparse.nnz + self.right.sparse.nnz
        if entries < LONG * (len(self.left) + len(self.right)):
            return self.left, self.right
        return _split(self.left, self.right)

    @cached_property
    def sides(self) -> tuple[NamedRows, NamedRows]:
        """The packed rows, one for each entity."""
        left, right = (NamedRows(side, np.arange(len(side) + 1)) for side in self.packed)
        return left, right

    def rows(self, side: int, which: Positions | slice) -> Rows:
        """These rows of a side."""
        rows = (self.left, self.right)[side]
        everything = isinstance(which, slice) and which == slice(None)
        return rows if everything else Rows(rows.dense[which], rows.sparse[which])

    def of(self, left: Numbers, right: Numbers) -> Matrix:
        """The profits of the pairs (left[0], right[0]), (left[1], right[1]), ..."""
        return in_rows(self.partners, len(self.left), left, right)

    def between(self, left: Positions, right: Positions) -> Matrix:
        """The profits of all pairs between these entities."""
        return RowProduct(self.left.take(left), self.right.take(right)).toarray()

    def partners(
        self, starts: Positions, right: Numbers, progress: Progress | None = None
    ) -> Matrix:
        """The profits of left entity i with right[starts[i]:starts[i + 1]], for every i.

        The profit of a pair is the same to the digit wherever it is asked for.
        """
        return values_of_partners(products, *self.sides, starts, right, progress)

    def exceeding_prices(self, left: Vector, right: Vector) -> Exceeding:
        """Rows, and the pairs in them whose profit exceeds the sum of their two prices.

        Pairs that nearly do may be among them; none that does is missing.
        """
        slack, short = _slack(self.ceiling, left, right), self.bounds
        # The prices as two more columns: one product tells by how much a bound exceeds them.
        theirs = np.column_stack(
            [short.right, short.right_rest, np.ones(len(self.right)), -right]
        ).astype(np.float32)

        def over_bound(rows: slice) -> tuple[slice, Positions]:
            limits = slack - left[rows]
            ours = np.column_stack(
                [short.left[rows], short.left_rest[rows], limits, np.ones_like(limits)]
            ).astype(np.float32)
            return rows, np.flatnonzero(ours @ theirs.T > 0)

        for rows, over in in_turn(over_bound, row_blocks(self.shape, BLOCK_BYTES // 8)):
            above, columns = np.divmod(over, max(self.shape[1], 1))
            above += rows.start
            values = self.of(above, columns)
            near = values > left[above] + right[columns] - slack
            yield rows, above[near], columns[near]

    def toarray(self, *, progress: Progress | None = None) -> Matrix:
        """The whole matrix, (len(left), len(right)), summed in single precision."""
        left, right = _split(self.left, self.right)
        transposed = csr_array(right.sparse.T)
        matrix = np.empty(self.shape, dtype=np.float32)

        multiply = multiplier(right.dense)

        def fill(rows: slice) -> int:
            multiply(left.dense[rows], matrix[rows])
            starts = left.sparse.indptr[rows.start : rows.stop + 1]
            add_products(
                *(starts, left.sparse.indices, left.sparse.data),
                *(transposed.indptr, transposed.indices, transposed.data),
                matrix[rows],
            )
            return int(rows.stop)

        with one_blas_thread():  # blocks are shared out, not the products in them
            for done in in_turn(fill, row_blocks(self.shape, BLOCK_BYTES // 8)):
                if progress:
                    progress(done / len(matrix))
        return matrix


def products(
    block: Block, left: NamedRows, right: NamedRows, places: Positions | None = None
) -> Matrix:
    """The largest products of the rows of pairs of entities; 0 where one has none.

    The two rows of each pair are written to ``places``, shape (2, pairs).
    """
    entities, starts, partners = block
    values = np.empty(len(partners), dtype=np.float32)
    pair_products(
        *(starts, partners.astype(np.int32, copy=False)),
        *(_arrays(left.rows), left.starts[entities.start : entities.stop + 1]),
        *(_arrays(right.rows), right.starts),
        np.zeros(left.rows.sparse.shape[1], dtype=np.float32),
        Tiles(_tile_of(right), np.empty(len(starts) - 1, dtype=np.int64)),
        Products(values, np.empty((2, 0), dtype=np.int64) if places is None else places),
    )
    return values


def _tile_of(side: NamedRows) -> int:
    """How many entities of a side are met at once: those whose dense columns fit in the cache."""
    each = side.rows.dense.nbytes // max(len(side), 1)
    return max(TILE_BYTES // each, 1) if each else max(len(side), 1)


def make_profit(left: Rows, right: Rows) -> RowProduct:
    """The profit of two sides whose features were computed together."""
    if left.dense.shape[1] != right.dense.shape[1] or left.sparse.shape[1] != right.sparse.shape[1]:
        raise ValueError("both sides must have the same columns; compute their features together")
    return RowProduct(left, right)


def row_blocks(shape: tuple[int, ...], size: int) -> Iterator[slice]:
    """Slices of rows, each of about ``size`` bytes of float32 and at least one row."""
    return slices(shape[0], max(1, size // (4 * max(shape[1], 1))))


def _slack(ceiling: float, left: Vector, right: Vector) -> float:
    """The possible error of a profit less its prices in float32."""
    sizes = [np.abs(prices).max(initial=0.0) for prices in (left, right)]
    return ROUNDING * float(ceiling + sizes[0] + sizes[1])


def _arrays(rows: Rows) -> RowArrays:
    return RowArrays(rows.dense, *arrays_of(rows.sparse))


def _places_above(matrix: Matrix, left: Matrix, right: Matrix) -> Positions:
    """The places, row * width + column, of entries above the sum of both limits."""
    places = np.empty(FEW_ABOVE, dtype=np.int64)
    while (count := places_above(matrix, left, right, places)) > len(places):
        places = np.empty(count, dtype=np.int64)
    return places[:count]


def _split(left: Rows, right: Rows) -> tuple[Rows, Rows]:
    """Both sides with their busy sparse columns made dense.

    Columns that only one side has are left out: they contribute to no product.
    """
    shares = [
        np.bincount(side.sparse.indices, minlength=side.sparse.shape[1]) / max(len(side), 1)
        for side in (left, right)
    ]
    both = shares[0] * shares[1]
    busy, quiet = np.flatnonzero(both > BUSY), np.flatnonzero((both > 0) & (both <= BUSY))

    def split(side: Rows) -> Rows:
        columns = side.sparse.tocsc()
        dense = np.hstack([side.dense, columns[:, busy].toarray()], dtype=np.float32)
        return Rows(np.ascontiguousarray(dense), csr_array(columns[:, quiet]))

    ours, theirs = in_parallel(split, (left, right))
    return ours, theirs
