"""Spread each entity's features over its neighbourhood."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from sameas.compute.arrays import Positions, Sparse
from sameas.compute.parallel import in_turn, slices
from sameas.compute.rows import Rows, scaled_to_unit, side_by_side, sparse_of, unit

BLOCK = 4000
"""Rows whose last hop is computed at once."""


def hop(adjacency: Sparse, rows: Rows) -> Rows:
    """The rows after one multiplication with the adjacency, scaled to unit length."""
    if adjacency.shape[1] != len(rows):
        raise ValueError(
            f"adjacency has {adjacency.shape[1]} entities but features has {len(rows)} rows; "
            "build both from the same MatchedPair"
        )
    spread = Rows(np.asarray(adjacency @ rows.dense), csr_array(adjacency @ rows.sparse))
    # Where neighbours cancel out (the Laplacian subtracts them), what remains is rounding error.
    weights = np.asarray(abs(adjacency).sum(axis=1), dtype=np.float64).ravel()
    return scaled_to_unit(spread, np.maximum(1e-6 * weights, 1e-30))


def surroundings(adjacency: Sparse, entities: Positions | slice) -> tuple[Sparse, Positions]:
    """The adjacency of these entities, with a column for each neighbour; and the neighbours."""
    weights = adjacency[entities]
    neighbours, place = np.unique(weights.indices, return_inverse=True)
    shape = weights.shape[0], len(neighbours)
    columns = place.astype(weights.indices.dtype)  # longer numbers would have all products copied
    near = csr_array((weights.data, columns, weights.indptr), shape=shape)
    return near, neighbours.astype(np.int64)


def hop_rows(adjacency: Sparse, features: Rows, number: int, entities: Positions) -> Rows:
    """The rows of these entities after a number of hops; ``features`` are those of all."""
    if not number:
        return features.take(entities)
    near, before = surroundings(adjacency, entities)
    return hop(near, hop_rows(adjacency, features, number - 1, before))


def unit_hop_rows(adjacency: Sparse, features: Rows, number: int, entities: Positions) -> Rows:
    """The same from features of any length, those of names scaled to unit length first."""
    if not number:
        return unit(features.take(entities))
    near, before = surroundings(adjacency, entities)
    return hop(near, unit_hop_rows(adjacency, features, number - 1, before))


def propagate(
    adjacency: Sparse, features: Rows, *, depth: int, only: Positions | None = None, first: int = 0
) -> Rows:
    """Each entity's features after first..depth hops, side by side.

    Every hop has unit rows and the whole is scaled so that the dot product of two rows is the
    mean of their hop-wise cosines. An entity with neither name nor neighbours
    stays zero: similar to nothing. ``only`` selects entities.

    The last hop is by far the fullest. It is computed block by block, right into its place: memory
    that is never written to is never taken from the system.
    """
    wanted, count = np.arange(len(features)) if only is None else only, depth + 1 - first
    hops = [unit(features)]
    for _ in range(depth - 1):
        hops.append(hop(adjacency, hops[-1]))

    def block(part: slice) -> Rows:
        entities = wanted[part]
        rows = [previous.take(entities) for previous in hops[first:]]
        if depth:
            rows.append(hop(adjacency[entities], hops[-1]))
        return side_by_side(*rows).scaled(np.full(len(entities), count**-0.5))

    most = _most_entries(adjacency, hops, depth, wanted)
    index = np.int32 if most < 2**31 else np.int64
    values, columns = np.empty(most, dtype=np.float32), np.empty(most, dtype=index)
    starts = np.zeros(len(wanted) + 1, dtype=index)
    dense_width, width = (count * part.shape[1] for part in (features.dense, features.sparse))
    dense, done = np.empty((len(wanted), dense_width), dtype=np.float32), 0
    for rows in in_turn(block, slices(len(wanted), BLOCK)):
        place = slice(int(starts[done]), int(starts[done]) + rows.sparse.nnz)
        values[place], columns[place] = rows.sparse.data, rows.sparse.indices
        starts[done + 1 : done + len(rows) + 1] = place.start + rows.sparse.indptr[1:]
        dense[done : done + len(rows)] = rows.dense
        done += len(rows)
    entries = values[: starts[-1]], columns[: starts[-1]], starts
    return Rows(dense, sparse_of(*entries, shape=(len(wanted), width)))


def _most_entries(adjacency: Sparse, hops: list[Rows], depth: int, wanted: Positions) -> int:
    """A bound on the entries of all hops: those of the last are at most its neighbours'."""
    counts = [np.diff(rows.sparse.indptr).astype(np.float64) for rows in hops]
    total = sum(count[wanted].sum() for count in counts)
    if depth:
        ones = csr_array(
            (np.ones(adjacency.nnz), adjacency.indices, adjacency.indptr), shape=adjacency.shape
        )
        total += np.minimum(ones @ counts[-1], hops[-1].sparse.shape[1])[wanted].sum()
    return int(total)
