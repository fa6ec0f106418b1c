"""Spread each entity's features over its neighbourhood."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from sameas.rows import Rows, Sparse, scaled_to_unit, side_by_side, unit


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


def propagate(adjacency: Sparse, features: Rows, *, depth: int) -> Rows:
    """Each entity's features after 0..depth hops, side by side.

    Every hop has unit rows and the whole is scaled by 1/sqrt(depth + 1), so the dot product of
    two rows is the mean of their hop-wise cosines. An entity with neither name nor neighbours
    stays zero: similar to nothing.
    """
    hops = [unit(features)]
    for _ in range(depth):
        hops.append(hop(adjacency, hops[-1]))
    return side_by_side(*hops).scaled(np.full(len(features), (depth + 1) ** -0.5))
