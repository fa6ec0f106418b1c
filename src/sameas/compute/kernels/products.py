"""Numba kernels for products of rows."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from sameas.compute.kernels.kernel import kernel
from sameas.compute.kernels.kinds import (
    Float32Rows,
    Float32s,
    Float64s,
    Int8Cube,
    Int32s,
    Int64Rows,
    Int64s,
)


class RowArrays(NamedTuple):
    """Feature rows: dense columns and sparse ones (CSR)."""

    dense: Float32Rows
    starts: Int32s
    columns: Int32s
    values: Float32s


class Products(NamedTuple):
    """The largest product of each pair, and the two rows that have it, (2, pairs) or (2, 0)."""

    values: Float32s
    rows: Int64Rows


class Tiles(NamedTuple):
    """How many right entities are met at once, so that their rows stay in the processor's cache."""

    size: int
    due: Int64s
    """Room for the next pair of each left entity."""


MANY = 2**62
"""More than there are entities."""


@partial(kernel, summing=True)
def pair_products(
    starts: Int64s,
    partners: Int32s,
    left: RowArrays,
    left_starts: Int64s,
    right: RowArrays,
    right_starts: Int64s,
    spread: Float32s,
    tiles: Tiles,
    out: Products,
) -> None:
    """The largest product of left entity i with each of partners[starts[i]:starts[i + 1]].

    The rows of left entity i are left_starts[i]:left_starts[i + 1], likewise on the right; 0 where
    one has none. A left row is ``spread`` out once for all partners of a tile; before and after,
    all of that is zero. Dense columns are summed in single precision. The two rows are written if
    there is room for them.
    """
    values, rows, due = out.values, out.rows, tiles.due
    told, entities = rows.shape[1] > 0, len(right_starts) - 1
    for i in range(len(starts) - 1):
        due[i] = starts[i]
    for pair in range(len(values)):
        values[pair] = -np.inf
    for begin in range(0, entities, tiles.size):
        # The last tile takes all that is left: partners need not be in order.
        end = begin + tiles.size if begin + tiles.size < entities else MANY
        for i in range(len(starts) - 1):
            first = last = due[i]
            while last < starts[i + 1] and partners[last] < end:
                last += 1
            due[i] = last
            if first == last:
                continue
            for a in range(left_starts[i], left_starts[i + 1]):
                for e in range(left.starts[a], left.starts[a + 1]):
                    spread[left.columns[e]] = left.values[e]
                for pair in range(first, last):
                    j = partners[pair]
                    for b in range(right_starts[j], right_starts[j + 1]):
                        total, dense = 0.0, np.float32(0)
                        for e in range(right.starts[b], right.starts[b + 1]):
                            here = np.float64(spread[right.columns[e]])
                            total += here * np.float64(right.values[e])
                        for c in range(left.dense.shape[1]):
                            dense += left.dense[a, c] * right.dense[b, c]
                        value = np.float32(total + dense)
                        if value > values[pair]:
                            values[pair] = value
                            if told:
                                rows[0, pair], rows[1, pair] = a, b
                for e in range(left.starts[a], left.starts[a + 1]):
                    spread[left.columns[e]] = 0.0
    for pair in range(len(values)):
        if values[pair] == -np.inf:
            values[pair] = 0


@kernel
def sketch_products(
    starts: Int64s,
    partners: Int32s,
    left: Int8Cube,
    left_scales: Float32Rows,
    right: Int8Cube,
    right_scales: Float32Rows,
    out: Float32s,
) -> None:
    """Sums over hops of products of sketched rows with those of their partners."""
    for i in range(len(starts) - 1):
        for pair in range(starts[i], starts[i + 1]):
            j = partners[pair]
            total = np.float32(0)
            for h in range(left.shape[1]):
                product = np.int32(0)
                for c in range(left.shape[2]):
                    product += np.int32(left[i, h, c]) * np.int32(right[j, h, c])
                total += np.float32(product) * left_scales[i, h] * right_scales[j, h]
            out[pair] = total


@kernel
def weighted_sums(
    starts: Int64s,
    others: Int32s,
    values: Float32s,
    factors: Float64s,
    first: int,
    last: int,
    out: Float64s,
) -> None:
    """The sum of values times the factors of the others, for lines first..last."""
    for i in range(first, last):
        total = 0.0
        for e in range(starts[i], starts[i + 1]):
            total += np.float64(values[e]) * factors[others[e]]
        out[i] = total


@kernel
def add_products(
    starts: Int32s,
    columns: Int32s,
    values: Float32s,
    other_starts: Int32s,
    others: Int32s,
    other_values: Float32s,
    out: Float32Rows,
) -> None:
    """Add the product of two sparse matrices (CSR) to a dense one."""
    for i in range(len(starts) - 1):
        for e in range(starts[i], starts[i + 1]):
            c, value = columns[e], values[e]
            for k in range(other_starts[c], other_starts[c + 1]):
                out[i, others[k]] += value * other_values[k]


@kernel
def sparse_products(
    starts: Int32s, columns: Int32s, values: Float32s, matrix: Float32Rows, out: Float32Rows
) -> None:
    """The product of a sparse matrix (CSR) with a dense one, summed in the order of entries.

    Four entries at once, or else most of the time would go into reading and writing sums.
    """
    width = matrix.shape[1]
    for i in range(len(starts) - 1):
        for c in range(width):
            out[i, c] = 0
        e, end = starts[i], starts[i + 1]
        while e + 4 <= end:
            a, b, f, g = columns[e], columns[e + 1], columns[e + 2], columns[e + 3]
            p, q, r, s = values[e], values[e + 1], values[e + 2], values[e + 3]
            for c in range(width):
                total = out[i, c] + p * matrix[a, c]
                total = total + q * matrix[b, c]
                total = total + r * matrix[f, c]
                out[i, c] = total + s * matrix[g, c]
            e += 4
        while e < end:
            row, value = columns[e], values[e]
            for c in range(width):
                out[i, c] += value * matrix[row, c]
            e += 1
