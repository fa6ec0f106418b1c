"""Rows: the features of many entities, dense columns beside sparse ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, hstack

from sameas.compute.arrays import Matrix, Numbers, Positions, Sparse
from sameas.compute.in_files import let_go_of_pages, room_for
from sameas.compute.parallel import even_slices

ENTRIES = 4_000_000
"""Entries of sparse rows that are treated at once."""
MANY = 1_000_000
"""Entries of sparse rows that are put side by side part by part; what would be copied twice."""


@dataclass(frozen=True, eq=False)
class Rows:
    """One row of numbers per entity: ``dense`` (n, d) and ``sparse`` (n, m), side by side.

    Word vectors are dense, n-gram counts are sparse; the dot product of two rows is the sum
    over both parts. Either part may have no columns.
    """

    dense: Matrix
    sparse: Sparse

    def __post_init__(self) -> None:
        """Refuse parts of different length."""
        if self.dense.shape[0] != self.sparse.shape[0]:
            raise ValueError(
                f"both parts must have the same rows, got {self.dense.shape[0]} dense and "
                f"{self.sparse.shape[0]} sparse ones instead"
            )

    def __len__(self) -> int:
        """The number of entities."""
        return int(self.dense.shape[0])

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays."""
        parts = self.dense, self.sparse.data, self.sparse.indices, self.sparse.indptr
        return sum(part.nbytes for part in parts)

    def toarray(self) -> Matrix:
        """All columns as one dense matrix (n, d + m); for small data and tests."""
        return np.hstack([self.dense, self.sparse.toarray()])

    def take(self, positions: Positions) -> Rows:
        """The rows at these positions."""
        return Rows(self.dense[positions], self.sparse[positions])

    def part(self, which: slice) -> Rows:
        """Successive rows."""
        return Rows(self.dense[which], rows_of(self.sparse, which))

    def scaled(self, factors: NDArray[np.floating]) -> Rows:
        """Each row times its factor."""
        factors, sparse = factors.astype(np.float32), self.sparse
        large = sparse.nnz > MANY
        values: Matrix = (room_for if large else np.empty)(sparse.data.shape, np.float32)
        for part in even_slices(sparse.indptr, ENTRIES):
            starts, entries = starts_in(sparse.indptr, part)
            values[entries] = sparse.data[entries] * np.repeat(factors[part], np.diff(starts))
            if large:
                let_go_of_pages()
        scaled = csr_array((values, sparse.indices, sparse.indptr), shape=sparse.shape)
        return Rows(self.dense * factors[:, None], scaled)

    def norms(self) -> NDArray[np.float64]:
        """The Euclidean length of each row, over both parts."""
        squares = np.einsum("ij,ij->i", self.dense, self.dense, dtype=np.float64)
        # Not by SciPy's power, which sorts the entries in place: their order decides rounding.
        ones = np.ones(self.sparse.shape[1])
        for which in even_slices(self.sparse.indptr, ENTRIES):
            part = rows_of(self.sparse, which)
            entries = part.data.astype(np.float64) ** 2, part.indices, part.indptr
            squares[which] += csr_array(entries, shape=part.shape) @ ones
            if self.sparse.nnz > MANY:
                let_go_of_pages()
        return np.asarray(np.sqrt(squares))


def rows_of(matrix: Sparse, which: slice) -> Sparse:
    """Successive rows of a sparse matrix, without a copy of their entries."""
    starts = matrix.indptr[which.start : which.stop + 1]
    entries = slice(int(starts[0]), int(starts[-1]))
    parts = matrix.data[entries], matrix.indices[entries], starts - starts[0]
    return sparse_of(*parts, shape=(len(starts) - 1, matrix.shape[1]))


def sparse_of(
    values: Matrix, columns: Numbers, starts: Numbers, *, shape: tuple[int, int]
) -> Sparse:
    """A sparse matrix that holds these very arrays.

    Not by the constructor: SciPy copies what is less than half of another array.
    """
    matrix = csr_array(shape, dtype=values.dtype)
    matrix.data, matrix.indices, matrix.indptr = values, columns, starts
    return matrix


def arrays_of(matrix: csr_array | csc_array) -> tuple[Numbers, Numbers, Matrix]:
    """Starts, indices and values of a sparse matrix, as kernels take them.

    Starts and indices have 32 bits where they fit: kernels are compiled for each type of number.
    """
    fits = max(matrix.nnz, *matrix.shape) < 2**31
    kind = np.int32 if fits else np.int64
    starts, indices = (each.astype(kind, copy=False) for each in (matrix.indptr, matrix.indices))
    return starts, indices, matrix.data.astype(np.float32, copy=False)


def turned(rows: Rows) -> Matrix:
    """All columns as the rows of one dense matrix (d + m, n), without one of the rows before."""
    width, sparse = rows.dense.shape[1], rows.sparse.tocoo()
    matrix = np.zeros((width + sparse.shape[1], len(rows)), dtype=np.float32)
    matrix[:width] = rows.dense.T
    np.add.at(matrix, (sparse.col + width, sparse.row), sparse.data)
    return matrix


def in_rows(
    partners: Callable[[Positions, NDArray[np.integer]], Matrix],
    size: int,
    left: NDArray[np.integer],
    right: NDArray[np.integer],
) -> Matrix:
    """The values of pairs in any order, from what gives those of left rows one after the other.

    ``partners`` takes where the pairs of each of ``size`` left rows start, and their right rows.
    """
    order = np.argsort(left, kind="stable")
    starts = np.searchsorted(left[order], np.arange(size + 1))
    values = np.empty(len(left), dtype=np.float32)
    values[order] = partners(starts, right[order])
    return values


def starts_in(starts: Positions, rows: slice) -> tuple[Positions, slice]:
    """Where the pairs of these rows start among themselves, and where they are among all."""
    ends = starts[rows.start : rows.stop + 1]
    return ends - ends[0], slice(int(ends[0]), int(ends[-1]))


def starts_of_kept(starts: NDArray[np.integer], kept: NDArray[np.bool_]) -> Positions:
    """Where each row starts if only some entries are kept."""
    # Counting up all entries would take eight bytes for each of them, twice.
    return np.searchsorted(np.flatnonzero(kept), starts)


def as_rows(values: Rows | NDArray[np.floating] | csr_array) -> Rows:
    """An array or a sparse array, as Rows."""
    if isinstance(values, Rows):
        return values
    if isinstance(values, np.ndarray):
        dense = np.ascontiguousarray(values, dtype=np.float32)
        return Rows(dense, csr_array((len(dense), 0), dtype=np.float32))
    sparse = csr_array(values, dtype=np.float32)
    return Rows(np.zeros((sparse.shape[0], 0), dtype=np.float32), sparse)


def unit(rows: Rows) -> Rows:
    """The rows scaled to length one; a row of zeros (or nearly, for float32) becomes zero."""
    return scaled_to_unit(rows, np.full(len(rows), 1e-30))


def scaled_to_unit(rows: Rows, least: NDArray[np.float64]) -> Rows:
    """The rows scaled to length one; those no longer than ``least`` become zero."""
    norms = rows.norms()
    return rows.scaled(np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > least))


def side_by_side(*parts: Rows) -> Rows:
    """The columns of all parts, for the same entities."""
    dense, sparse = np.hstack([part.dense for part in parts]), [part.sparse for part in parts]
    if sum(part.nnz for part in sparse) > MANY:
        return Rows(dense, _stacked(sparse))
    return Rows(dense, csr_array(hstack(sparse, format="csr", dtype=np.float32)))


def _stacked(parts: Sequence[Sparse]) -> Sparse:
    """The columns of all parts, some rows at a time; in files where others work with them."""
    shape = parts[0].shape[0], sum(part.shape[1] for part in parts)
    starts: Positions = np.sum([part.indptr for part in parts], axis=0, dtype=np.int64)
    kind = np.int32 if max(int(starts[-1]), *shape) < 2**31 else np.int64
    indices, values = (room_for((int(starts[-1]),), each) for each in (kind, np.float32))
    for which in even_slices(starts, ENTRIES):
        entries = starts_in(starts, which)[1]
        some = hstack([rows_of(part, which) for part in parts], format="csr", dtype=np.float32)
        indices[entries], values[entries] = some.indices, some.data
        let_go_of_pages()
    return sparse_of(values, indices, starts.astype(kind), shape=shape)
