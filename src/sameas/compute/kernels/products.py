"""Numba kernels for products of rows."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from sameas.compute.kernels.cache import Array, kernel


class RowArrays(NamedTuple):
    """Feature rows: dense columns and sparse ones (CSR)."""

    dense: Array
    starts: Array
    columns: Array
    values: Array
    width: int
    """The number of sparse columns."""


@partial(kernel, summing=True)
def pair_products(
    starts: Array,
    partners: Array,
    left: RowArrays,
    left_starts: Array,
    right: RowArrays,
    right_starts: Array,
    out: Array,
    places: Array,
) -> None:
    """The largest product of left entity i with each of partners[starts[i]:starts[i + 1]].

    The rows of left entity i are left_starts[i]:left_starts[i + 1], likewise on the right; 0 where
    one has none. A left row is spread out once for all partners. Dense columns are summed in
    single precision. The two rows are written to ``places``, shape (2, pairs), if it has columns.
    """
    spread = np.zeros(left.width, dtype=np.float32)
    told = places.shape[1] > 0
    for i in range(len(starts) - 1):
        out[starts[i] : starts[i + 1]] = -np.inf
        for a in range(left_starts[i], left_starts[i + 1]):
            for e in range(left.starts[a], left.starts[a + 1]):
                spread[left.columns[e]] = left.values[e]
            for pair in range(starts[i], starts[i + 1]):
                j = partners[pair]
                for b in range(right_starts[j], right_starts[j + 1]):
                    total, dense = 0.0, np.float32(0)
                    for e in range(right.starts[b], right.starts[b + 1]):
                        total += np.float64(spread[right.columns[e]]) * np.float64(right.values[e])
                    for c in range(left.dense.shape[1]):
                        dense += left.dense[a, c] * right.dense[b, c]
                    value = np.float32(total + dense)
                    if value > out[pair]:
                        out[pair] = value
                        if told:
                            places[0, pair], places[1, pair] = a, b
            for e in range(left.starts[a], left.starts[a + 1]):
                spread[left.columns[e]] = 0.0
        for pair in range(starts[i], starts[i + 1]):
            if out[pair] == -np.inf:
                out[pair] = 0


@kernel
def sketch_products(
    starts: Array,
    partners: Array,
    left: Array,
    left_scales: Array,
    right: Array,
    right_scales: Array,
    out: Array,
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
    starts: Array,
    others: Array,
    values: Array,
    factors: Array,
    first: int,
    last: int,
    out: Array,
) -> None:
    """The sum of values times the factors of the others, for lines first..last."""
    for i in range(first, last):
        total = 0.0
        for e in range(starts[i], starts[i + 1]):
            total += np.float64(values[e]) * factors[others[e]]
        out[i] = total


@kernel
def add_products(
    starts: Array,
    columns: Array,
    values: Array,
    other_starts: Array,
    others: Array,
    other_values: Array,
    out: Array,
) -> None:
    """Add the product of two sparse matrices (CSR) to a dense one."""
    for i in range(len(starts) - 1):
        row = out[i]
        for e in range(starts[i], starts[i + 1]):
            c, value = columns[e], values[e]
            for k in range(other_starts[c], other_starts[c + 1]):
                row[others[k]] += value * other_values[k]
