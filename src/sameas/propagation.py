"""Spread each entity's features over its neighbourhood."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sameas.graph import Positions
from sameas.parallel import in_turn, slices
from sameas.rows import Rows, Sparse, scaled_to_unit, side_by_side, unit

BLOCK = 4000
"""Rows whose last hop is computed at once."""


def hop(adjacency: Sparse, rows: Rows) -> Rows:
    """The rows after one multiplication with the adjacency, scaled to unit length."""
    if adjacency.shape[1] != len(rows):
        raise ValueError(
            f"adjacency has {adjacency.shape[1]} entities but features has {len(rows)} rows; "
            "build both from the same GraphPair"
        )
    spread = Rows(np.asarray(adjacency @ rows.dense), csr_array(adjacency @ rows.sparse))
    # Where neighbours cancel out (the Laplacian subtracts them), what remains is rounding error.
    weights = np.asarray(abs(adjacency).sum(axis=1), dtype=np.float64).ravel()
    return scaled_to_unit(spread, np.maximum(1e-6 * weights, 1e-30))


def propagate(
    adjacency: Sparse, features: Rows, *, depth: int, only: Positions | None = None
) -> Rows:
    """Each entity's features after 0..depth hops, side by side.

    Every hop has unit rows and the whole is scaled by 1/sqrt(depth + 1), so the dot product of
    two rows is the mean of their hop-wise cosines. An entity with neither name nor neighbours
    stays zero: similar to nothing. ``only`` asks for the rows of some entities.

    The last hop is by far the fullest. It is computed block by block, right into its place.
    """
    wanted = np.arange(len(features)) if only is None else only
    hops = [unit(features)]
    for _ in range(depth - 1):
        hops.append(hop(adjacency, hops[-1]))

    def block(part: slice) -> Rows:
        some = wanted[part]
        rows = [previous.take(some) for previous in hops]
        if depth:
            rows.append(hop(adjacency[some], hops[-1]))
        return side_by_side(*rows).scaled(np.full(len(some), (depth + 1) ** -0.5))

    filling = _Filling(len(wanted), hops, depth, _most_entries(adjacency, hops, depth, wanted))
    for rows in in_turn(block, slices(len(wanted), BLOCK)):
        filling.add(rows)
    return filling.rows()


def _most_entries(adjacency: Sparse, hops: list[Rows], depth: int, wanted: Positions) -> int:
    """More entries than the rows of all hops can have: the last hop has its neighbours' at most."""
    counts = [np.diff(rows.sparse.indptr).astype(np.float64) for rows in hops]
    total = sum(count[wanted].sum() for count in counts)
    if depth:
        ones = csr_array(
            (np.ones(adjacency.nnz), adjacency.indices, adjacency.indptr), shape=adjacency.shape
        )
        total += np.minimum(ones @ counts[-1], hops[-1].sparse.shape[1])[wanted].sum()
    return int(total)


class _Filling:
    """Rows that are put together from blocks, in memory that is taken up as they come."""

    def __init__(self, count: int, hops: list[Rows], depth: int, most: int) -> None:
        self.width = hops[0].sparse.shape[1] * (depth + 1)
        index = np.int32 if most < 2**31 else np.int64
        # Memory that is never written to is never taken from the system.
        self.values = np.empty(most, dtype=np.float32)
        self.columns: NDArray[np.integer] = np.empty(most, dtype=index)
        self.starts: NDArray[np.integer] = np.zeros(count + 1, dtype=index)
        self.dense = np.empty((count, hops[0].dense.shape[1] * (depth + 1)), dtype=np.float32)
        self.done = 0

    def add(self, rows: Rows) -> None:
        start = int(self.starts[self.done])
        stop, last = start + rows.sparse.nnz, self.done + len(rows)
        self.values[start:stop] = rows.sparse.data
        self.columns[start:stop] = rows.sparse.indices
        self.starts[self.done + 1 : last + 1] = start + rows.sparse.indptr[1:]
        self.dense[self.done : last] = rows.dense
        self.done = last

    def rows(self) -> Rows:
        stop = int(self.starts[-1])
        parts = (self.values[:stop], self.columns[:stop], self.starts)
        return Rows(self.dense, csr_array(parts, shape=(len(self.starts) - 1, self.width)))
