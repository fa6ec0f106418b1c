"""Profit: how well each left entity fits each right one, computed where it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sameas.compression import Compressed, compress
from sameas.graph import Positions
from sameas.kernels import pair_products
from sameas.parallel import even_slices, in_parallel, slices
from sameas.rows import Matrix, Rows, Sparse

BUSY = 0.003
"""Columns filled on both sides to a share product above this are multiplied as dense ones.

Measured: a dense column costs a pair about 0.04 ns, a sparse one about 5 to 10 ns for each pair
in which both are filled.
"""
BLOCK_BYTES = 64 * 2**20
BOUND_COLUMNS = 384
"""Principal columns that bound a profit: on DBP15K, all but one pair in a hundred is out."""
ROUNDING = 4e-6
"""More than the error of a sum of float32 products of unit rows."""

Vector = NDArray[np.float64]
Progress = Callable[[float], None]


@dataclass(frozen=True, eq=False)
class StoredProfit:
    """A profit matrix that is there as a whole, (left, right)."""

    matrix: Matrix

    @property
    def shape(self) -> tuple[int, int]:
        """The number of left and of right entities."""
        return self.matrix.shape[0], self.matrix.shape[1]

    @cached_property
    def ceiling(self) -> float:
        """What no profit exceeds in size."""
        if not self.matrix.size:
            return 0.0
        return max(float(self.matrix.max()), -float(self.matrix.min()))

    def of(self, left: Positions, right: Positions) -> Matrix:
        """The profits of the pairs (left[0], right[0]), (left[1], right[1]), ..."""
        values: Matrix = self.matrix[left, right]
        return values

    def above(self, left: Vector, right: Vector) -> Iterator[tuple[slice, Positions, Positions]]:
        """Rows, and the pairs in them whose profit exceeds the sum of their two prices.

        Some that only nearly do may be among them; none that does is missing.
        """
        yield from _stored_above(self.matrix, left, right, _slack(self.ceiling, left, right))


@dataclass(frozen=True, eq=False)
class Profit:
    """The product of two tall matrices of rows: shape (len(left), len(right)).

    It is not stored, unless someone asks for the matrix and it fits.
    """

    left: Rows
    right: Rows
    screen: Matrix | None = None
    """The whole matrix as float32 sums, to look through all pairs with, where it is at hand."""

    @property
    def shape(self) -> tuple[int, int]:
        """The number of left and of right entities."""
        return len(self.left), len(self.right)

    @cached_property
    def ceiling(self) -> float:
        """What no profit exceeds in size."""
        longest = [side.norms().max(initial=0.0) for side in (self.left, self.right)]
        return float(longest[0] * longest[1])

    @cached_property
    def bounds(self) -> Compressed:
        """Short rows from which follows what no pair's profit exceeds."""
        return compress(self.left, self.right, principal=BOUND_COLUMNS, random=0)

    def of(self, left: Positions, right: Positions) -> Matrix:
        """The profits of the pairs (left[0], right[0]), (left[1], right[1]), ..."""
        order = np.argsort(left, kind="stable")
        starts = np.searchsorted(left[order], np.arange(len(self.left) + 1))
        values = np.empty(len(left), dtype=np.float32)
        values[order] = self.partners(starts, right[order])
        return values

    def partners(
        self, starts: Positions, right: NDArray[np.integer], progress: Progress | None = None
    ) -> Matrix:
        """The profits of left entity i with right[starts[i]:starts[i + 1]], for every i.

        Sums are taken in double precision: this is what the profit of a pair is, to the digit,
        wherever it is asked for.
        """
        values = np.empty(len(right), dtype=np.float32)
        a, b = self.left, self.right

        def some(rows: slice) -> None:
            own = starts[rows.start : rows.stop + 1]
            part = slice(int(own[0]), int(own[-1]))
            pair_products(
                own - own[0],
                right[part],
                a.dense[rows],
                a.sparse.indptr[rows.start : rows.stop + 1],
                a.sparse.indices,
                a.sparse.data,
                b.dense,
                b.sparse.indptr,
                b.sparse.indices,
                b.sparse.data,
                a.sparse.shape[1],
                values[part],
            )
            if progress:
                progress(part.stop / max(len(right), 1))

        in_parallel(some, even_slices(starts, 100_000))
        return values

    def above(self, left: Vector, right: Vector) -> Iterator[tuple[slice, Positions, Positions]]:
        """Rows, and the pairs in them whose profit exceeds the sum of their two prices.

        Some that only nearly do may be among them; none that does is missing.
        """
        slack = _slack(self.ceiling, left, right)
        if self.screen is not None:
            yield from _stored_above(self.screen, left, right, slack)
            return
        short = self.bounds
        # The prices as two more columns: one product tells by how much a bound exceeds them.
        theirs = np.column_stack(
            [short.right, short.right_rest, np.ones(len(self.right)), -right]
        ).astype(np.float32)

        def excess(rows: slice) -> tuple[Positions, Positions]:
            own = slack - left[rows]
            ours = np.column_stack(
                [short.left[rows], short.left_rest[rows], own, np.ones_like(own)]
            ).astype(np.float32)
            return _above(ours @ theirs.T > 0)

        for rows, some, partners in _by_rows(self.shape, excess, threads=False):
            values = self.of(some, partners)
            near = values > left[some] + right[partners] - slack
            yield rows, some[near], partners[near]

    def toarray(self, *, progress: Progress | None = None) -> Matrix:
        """The whole matrix, (len(left), len(right)), for small problems and comparisons."""
        matrix = np.empty(self.shape, dtype=np.float32)
        for rows, values in self.blocks():
            matrix[rows] = values
            if progress:
                progress(rows.stop / max(len(matrix), 1))
        return matrix

    def blocks(self) -> Iterator[tuple[slice, Matrix]]:
        """All rows from top to bottom, in blocks of a size that is quick to make."""
        left, right, transposed = self._split
        for rows in row_blocks(self.shape, BLOCK_BYTES):
            values: Matrix = left.dense[rows] @ right.dense.T
            if transposed.nnz:
                values += (left.sparse[rows] @ transposed).toarray()
            yield rows, values

    @cached_property
    def _split(self) -> tuple[Rows, Rows, Sparse]:
        """Both sides with their busy columns made dense; and the sparse right ones transposed."""
        shares = [
            np.bincount(side.sparse.indices, minlength=side.sparse.shape[1]) / max(len(side), 1)
            for side in (self.left, self.right)
        ]
        busy = shares[0] * shares[1] > BUSY
        # What only one side has cannot contribute to any product.
        quiet = ~busy & (shares[0] > 0) & (shares[1] > 0)
        left, right = (_split(side, busy, quiet) for side in (self.left, self.right))
        return left, right, csr_array(right.sparse.T)


Profits = Profit | StoredProfit
"""A profit, however it is kept."""


def make_profit(left: Rows, right: Rows) -> Profit:
    """The profit of two sides whose features were computed together."""
    if left.dense.shape[1] != right.dense.shape[1] or left.sparse.shape[1] != right.sparse.shape[1]:
        raise ValueError("both sides must have the same columns; compute their features together")
    return Profit(left, right)


def row_blocks(shape: tuple[int, int], size: int) -> Iterator[slice]:
    """Slices of rows, each of about ``size`` bytes of float32 and at least one row."""
    return slices(shape[0], max(1, size // (4 * max(shape[1], 1))))


def _stored_above(
    matrix: Matrix, left: Vector, right: Vector, slack: float
) -> Iterator[tuple[slice, Positions, Positions]]:
    own = right.astype(np.float32)

    def excess(rows: slice) -> tuple[Positions, Positions]:
        limits = (left[rows] - slack).astype(np.float32)
        return _above(matrix[rows] - own > limits[:, None])

    yield from _by_rows((matrix.shape[0], matrix.shape[1]), excess)


def _slack(ceiling: float, left: Vector, right: Vector) -> float:
    """By how much float32 may be wrong about a profit less its prices."""
    sizes = [np.abs(prices).max(initial=0.0) for prices in (left, right)]
    return ROUNDING * float(ceiling + sizes[0] + sizes[1])


def _above(over: NDArray[np.bool_]) -> tuple[Positions, Positions]:
    rows, columns = np.divmod(np.flatnonzero(over), max(over.shape[1], 1))
    return rows, columns


def _by_rows(
    shape: tuple[int, int],
    excess: Callable[[slice], tuple[Positions, Positions]],
    *,
    threads: bool = True,
) -> Iterator[tuple[slice, Positions, Positions]]:
    """Rows in blocks, with what a function finds in each, by positions in the whole."""
    for rows in row_blocks(shape, BLOCK_BYTES):
        if threads:
            parts = [
                slice(rows.start + part.start, rows.start + part.stop)
                for part in row_blocks((rows.stop - rows.start, shape[1]), BLOCK_BYTES // 32)
            ]
            found = in_parallel(excess, parts)
        else:
            parts, found = [rows], [excess(rows)]
        left = [some + part.start for part, (some, _) in zip(parts, found, strict=True)]
        yield rows, np.concatenate(left), np.concatenate([right for _, right in found])


def _split(side: Rows, busy: NDArray[np.bool_], quiet: NDArray[np.bool_]) -> Rows:
    """The rows with their busy sparse columns made dense, and empty ones left out."""
    columns = side.sparse.tocsc()
    dense = np.hstack([side.dense, columns[:, np.flatnonzero(busy)].toarray()])
    return Rows(
        np.ascontiguousarray(dense, dtype=np.float32),
        csr_array(columns[:, np.flatnonzero(quiet)]),
    )
