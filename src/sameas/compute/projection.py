"""Short dense rows in place of long sparse ones: to search with, and to bound profits with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sameas.compute.arrays import Matrix, Vector
from sameas.compute.kernels.products import sparse_products
from sameas.compute.parallel import in_parallel, map_blocks, one_blas_thread, slices
from sameas.compute.rows import Rows, arrays_of
from sameas.options.tuning import TUNING, SearchTuning


@dataclass(frozen=True, eq=False)
class Compressed:
    """Both sides as short rows; the dot product of two is near that of the long ones.

    ``left_rest`` and ``right_rest`` are the lengths of what the principal columns leave out of
    each row: by Cauchy and Schwarz, the profit of a pair differs from the product of the
    principal columns by at most the product of its rests.
    """

    left: Matrix
    right: Matrix
    principal: int
    """How many of the columns are principal; the rest are random."""
    long: tuple[Rows, Rows]
    """The rows as they were, left and right."""

    @cached_property
    def left_rest(self) -> NDArray[np.float32]:
        """What is left out of each left row."""
        return _rest(self.long[0], self.left[:, : self.principal])

    @cached_property
    def right_rest(self) -> NDArray[np.float32]:
        """What is left out of each right row."""
        return _rest(self.long[1], self.right[:, : self.principal])


def compress(
    left: Rows,
    right: Rows,
    *,
    principal: int,
    random: int,
    spare: int = 0,
    tuning: SearchTuning = TUNING.search,
) -> Compressed:
    """Rows of ``principal + random`` columns, or fewer where the rows themselves are short.

    There are ``spare`` columns of zeros after them, for the caller's use.

    Principal directions hold most of every row, but what tells two entities apart is often in
    the small rest; random directions (signs, as in Johnson and Lindenstrauss) keep that without
    bias. Nothing depends on chance: the same rows give the same answer.
    """
    width = left.dense.shape[1] + left.sparse.shape[1]
    if width <= principal + random:
        ours, theirs = (np.pad(side.toarray(), ((0, 0), (0, spare))) for side in (left, right))
        return Compressed(ours, theirs, width, (left, right))
    rng = np.random.default_rng(0)
    half = tuning.projection_sample // 2
    samples = [side.take(np.sort(rng.permutation(len(side))[:half])) for side in (left, right)]
    directions = directions_of(samples, principal=principal, random=random, rng=rng, tuning=tuning)
    ours, theirs = times(left, directions, spare), times(right, directions, spare)
    return Compressed(ours, theirs, principal, (left, right))


def directions_of(
    samples: Sequence[Rows],
    *,
    principal: int,
    random: int,
    rng: np.random.Generator,
    tuning: SearchTuning = TUNING.search,
) -> Matrix:
    """The principal directions of sampled rows, and random ones: (columns, principal + random).

    By one thread, so that the answer does not depend on how many there are: BLAS rounds otherwise.
    """
    width = samples[0].dense.shape[1] + samples[0].sparse.shape[1]
    with one_blas_thread():
        basis = _principal_directions(samples, width, principal, rng, tuning)
        signs = rng.integers(0, 2, size=(width, random), dtype=np.int8) * np.float32(2)
        signs -= np.float32(1)
        signs *= np.float32(max(random, 1) ** -0.5)
        signs -= basis @ (basis.T @ signs)
        return np.hstack([basis, signs])


def times(rows: Rows, matrix: Matrix, spare: int = 0) -> Matrix:
    """The rows multiplied with a dense matrix of (columns, any), and columns of zeros."""
    width = matrix.shape[1]
    product = np.empty((len(rows), width + spare), dtype=np.float32)
    product[:, width:] = 0
    parts = slices(len(rows), 2000)
    for part, some in map_blocks(multiply, parts, rows.part, matrix):
        product[part, :width] = some
    return product


def multiply(rows: Rows, matrix: Matrix) -> Matrix:
    """The product of a few rows with a dense matrix of (columns, any)."""
    split = rows.dense.shape[1]
    product: Matrix = np.empty((len(rows), matrix.shape[1]), dtype=np.float32)
    # SciPy's is compiled for processors of any age, and takes three times as long.
    sparse_products(*arrays_of(rows.sparse), np.ascontiguousarray(matrix[split:]), product)
    if split:
        product += rows.dense @ matrix[:split]
    return product


def _principal_directions(
    samples: Sequence[Rows],
    width: int,
    count: int,
    rng: np.random.Generator,
    tuning: SearchTuning,
) -> Matrix:
    """The directions that hold most of the rows: orthonormal columns, (width, count)."""
    if not count:
        return np.zeros((width, 0), dtype=np.float32)
    wanted = count + tuning.oversampling
    directions = rng.standard_normal((width, wanted), dtype=np.float32)

    def turned(sample: Rows) -> csr_array:
        return csr_array(sample.sparse.T)

    def forth_and_back(sample: tuple[Rows, csr_array]) -> Matrix:
        (rows, columns), split = sample, sample[0].dense.shape[1]
        forth = times(rows, directions)
        back = np.empty((width, wanted), dtype=np.float32)
        back[:split] = rows.dense.T @ forth
        sparse_products(*arrays_of(columns), forth, back[split:])
        return back

    both = list(zip(samples, in_parallel(turned, samples), strict=True))
    for _ in range(tuning.power_iterations):
        parts = in_parallel(forth_and_back, both)
        directions = _orthonormal(sum(parts[1:], parts[0]))
    return np.ascontiguousarray(directions[:, :count])


def _orthonormal(columns: Matrix) -> Matrix:
    """Orthonormal columns that span the same space, the heaviest first.

    By the Gram matrix, twice: once leaves errors that float32 can see. The second time, columns
    are moved as little as can be, so that they stay in their order.
    """
    for turned_back in (False, True):
        precise = columns.astype(np.float64)
        weights, turn = np.linalg.eigh(_gram(precise))
        scale = 1 / np.sqrt(np.maximum(weights, 1e-12 * max(weights[-1], 1e-300)))
        change = (turn * scale) @ turn.T if turned_back else (turn * scale)[:, ::-1]
        columns = _changed(precise, change)
    return columns


def _gram(columns: Vector) -> Vector:
    """The products of all columns with each other, always by halves: that may decide rounding."""

    def products(some: slice) -> Vector:
        part: Vector = columns.T @ columns[:, some]
        return part

    count = columns.shape[1]
    return np.hstack(in_parallel(products, slices(count, -(-count // 2))))


def _changed(columns: Vector, change: Vector) -> Matrix:
    """The columns times a matrix, by halves of the rows, in single precision."""

    def product(some: slice) -> Matrix:
        part: Matrix = (columns[some] @ change).astype(np.float32)
        return part

    return np.concatenate(in_parallel(product, slices(len(columns), -(-len(columns) // 2))))


def _rest(rows: Rows, principal: Matrix) -> NDArray[np.float32]:
    if principal.shape[1] == rows.dense.shape[1] + rows.sparse.shape[1]:  # nothing is left out
        return np.zeros(len(rows), dtype=np.float32)
    whole = rows.norms() ** 2
    squares = whole - np.einsum("ij,ij->i", principal, principal, dtype=np.float64)
    # Directions are orthonormal but for rounding, which the small term outweighs.
    rest: NDArray[np.float32] = np.sqrt(np.maximum(squares, 0) + 1e-6 * whole).astype(np.float32)
    return rest
