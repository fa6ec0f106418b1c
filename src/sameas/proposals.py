"""Proposals: pairs that are worth comparing, as numbers left * len(right) + right.

Two ways. ``nearest`` compares every left row with every right one, in a compressed form; that
misses little and its cost grows with the square of the size. ``likely`` follows clues instead,
rare n-grams that two names share and neighbours that are likely partners themselves; its cost
grows linearly with the size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, eye_array

from sameas.compression import compress
from sameas.graph import Positions
from sameas.kernels import Best, best_meetings, best_of_columns, best_of_rows
from sameas.parallel import WORKERS, in_parallel, slices
from sameas.profit import row_blocks
from sameas.rows import Matrix, Rows, Sparse

COMPARE_ALL_UP_TO = 60_000
"""Entities a side up to which every left one is compared with every right one."""
PRINCIPAL, RANDOM = 96, 160
"""Columns of the compressed rows; more random ones find more and take longer."""
SLACK = 0.2
"""Partners worth so much less than the best one are left out, but for the first few."""
CROWD, NEAREST = 1000, 8
"""Hubness is the mean profit with the nearest few of a sample of the other side."""
TILE_BYTES = 64 * 2**20
"""Products that are looked through at once."""
TILE_ROWS = 32_768
"""Right entities that are met at once: their products stay in the processor's cache."""
BEST = ("worth", "partners")
MEETINGS = 10_000
"""Common n-grams per entity: the most frequent n-grams are left out."""
ANCHORS = 2
"""Likely partners of a neighbour that count as hints."""
ROUNDS = 3
"""How often hints are taken from what the last round found likely."""

Progress = Callable[[float], None]


def nearest(left: Rows, right: Rows, k: int, *, first: int, progress: Progress) -> Positions:
    """The k nearest of every left and of every right entity, ascending.

    Near means a large profit less the hubness of both. Otherwise hubs, which are near to
    everything, would fill every list. Those far below the best are left out again, but not
    the ``first`` few.
    """
    short = compress(left, right, principal=PRINCIPAL, random=RANDOM, spare=2)
    progress(0.2)
    ours, theirs = short.left, short.right
    # The two spare columns: products are profits less the hubness of both.
    hubness = _hubness(ours, theirs), _hubness(theirs, ours)
    ours[:, -2], ours[:, -1] = 1, -hubness[0]
    theirs[:, -2], theirs[:, -1] = -hubness[1], 1
    return _distinct(_largest(ours, theirs, k, first, lambda done: progress(0.2 + 0.8 * done)))


@dataclass(frozen=True, eq=False)
class Clues:
    """What hints at partners: n-grams of names, (n, vocabulary), and neighbours, (n, n)."""

    left_names: Sparse
    right_names: Sparse
    left_neighbours: Sparse
    right_neighbours: Sparse


def likely(clues: Clues, k: int, *, progress: Progress) -> Positions:
    """Partners by clues, k for every left and every right entity and every kind, ascending."""
    if not clues.left_names.shape[0] or not clues.right_names.shape[0]:
        return np.empty(0, dtype=np.int64)
    forth, back = _best_products(*_rare(clues.left_names, clues.right_names), k, k)
    names = csr_array(forth.maximum(back))
    progress(0.6)
    found, belief = _numbers(names), names
    outward = _weighed(clues.left_neighbours)
    inward = _weighed(clues.right_neighbours)
    for turn in range(ROUNDS):
        hints = _best_few(belief, ANCHORS)
        hints.data **= 2  # doubtful ones hint less than half as much
        votes, _ = _best_products(csr_array(outward @ hints), inward, k)
        found = _distinct([found, _numbers(votes)])
        belief = csr_array(_to_one(names) + _to_one(votes))
        progress(0.6 + 0.4 * (turn + 1) / ROUNDS)
    return found


def alike(left: Sparse, right: Sparse, k: int) -> Positions:
    """The k of most similar name for every left and every right entity, ascending.

    Where neighbours differ, two entities of the same name may be far from each other in total,
    but refinement should decide about them.
    """
    if not left.shape[0] or not right.shape[0] or not left.shape[1]:
        return np.empty(0, dtype=np.int64)
    return _distinct([_numbers(found) for found in _best_products(left, right, k, k)])


def _hubness(rows: Matrix, others: Matrix) -> NDArray[np.float32]:
    """The mean product of each row with the nearest few of a sample of the others."""
    if not len(rows) or not len(others):
        return np.zeros(len(rows), dtype=np.float32)
    sample = np.unique(np.linspace(0, len(others) - 1, CROWD).astype(np.int64))
    few, crowd = min(NEAREST, len(sample)), np.ascontiguousarray(others[sample].T)
    means = [
        np.partition(rows[part] @ crowd, len(sample) - few, axis=1)[:, -few:].mean(axis=1)
        for part in slices(len(rows), 2048)
    ]
    return np.concatenate(means)


def _largest(
    left: Matrix, right: Matrix, k: int, first: int, progress: Progress
) -> list[Positions]:
    """The pairs of the k largest products of each row, then of each column.

    Those far below the best are left out, but not the ``first``. One pass over all products, tile
    by tile, keeps both.
    """
    n, m = len(left), len(right)
    rows, columns = _no_best(n, min(k, m)), _no_best(m, min(k, n))
    transposed = np.ascontiguousarray(right.T)
    for part in row_blocks((n, m), TILE_BYTES) if m else ():
        tile = left[part] @ transposed

        def look(piece: tuple[bool, slice], part: slice = part, tile: Matrix = tile) -> None:
            by_row, which = piece
            best_of, best = (best_of_rows, rows) if by_row else (best_of_columns, columns)
            best_of(tile, part.start, which.start, which.stop, best)

        pieces = [(True, which) for which in slices(len(tile), len(tile) // WORKERS + 1)]
        pieces += [(False, which) for which in slices(m, m // WORKERS + 1)]
        in_parallel(look, pieces)
        progress(part.stop / n)
    found = []
    for best, by_row in ((rows, True), (columns, False)):
        near = best.worth >= best.worth.max(axis=1, keepdims=True, initial=-np.inf) - SLACK
        order = np.lexsort((best.partners, -best.worth))[:, :first]
        np.put_along_axis(near, order, True, axis=1)
        line, place = np.nonzero(near)
        partner = best.partners[line, place].astype(np.int64)
        found.append(line * m + partner if by_row else partner * m + line)
    return found


def _no_best(lines: int, k: int) -> Best:
    """Room for the best k of each line."""
    return Best(
        np.full(lines, -np.inf if k else np.inf, dtype=np.float32),
        np.full((lines, k), -np.inf, dtype=np.float32),
        np.full((lines, k), -1, dtype=np.int32),
    )


def _rare(left: Sparse, right: Sparse) -> tuple[Sparse, Sparse]:
    """Rows of the n-grams that are rare enough, weighted by how rare, at unit length."""
    counts = [np.bincount(side.indices, minlength=side.shape[1]) for side in (left, right)]
    total = counts[0] + counts[1]
    size = left.shape[0] + right.shape[0]
    # As many of the rarest as the meetings that they lead to allow.
    order = np.argsort(total, kind="stable")
    meetings = np.cumsum((counts[0] * counts[1].astype(np.float64))[order])
    rare = np.zeros(len(total), dtype=np.bool_)
    rare[order[meetings <= MEETINGS * size / 2]] = True
    weights = np.log(max(size, 2) / np.maximum(total, 1)) * (rare & (counts[0] * counts[1] > 0))
    return _to_length(left, weights), _to_length(right, weights)


def _to_length(names: Sparse, weights: NDArray[np.float64]) -> Sparse:
    """Rows weighted by column, at unit length counting what was left out too."""
    weighted = csr_array(names @ diags_array(weights.astype(np.float32)))
    weighted.eliminate_zeros()
    lengths = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
    factors = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return csr_array(diags_array(factors.astype(np.float32)) @ weighted)


def _weighed(neighbours: Sparse) -> Sparse:
    """Neighbours without loops; one that many entities share weighs less."""
    others = csr_array(neighbours - diags_array(neighbours.diagonal()))
    others.eliminate_zeros()
    degrees = np.bincount(others.indices, minlength=others.shape[1])
    weights = np.maximum(degrees, 1.0) ** -0.5
    return csr_array(others @ diags_array(weights)).astype(np.float32)


def _best_products(left: Sparse, right: Sparse, k: int, back: int = 0) -> tuple[Sparse, Sparse]:
    """The k largest products of each left row with right rows, and ``back`` of each right row.

    Both of shape (left, right); products of rows that share no column do not count.
    """
    n, m = left.shape[0], right.shape[0]
    columns = _no_best(m, back)

    def meet(part: slice) -> Best:
        rows = _no_best(n, k)
        for tile in slices(part.stop - part.start, TILE_ROWS):
            begin, end = part.start + tile.start, part.start + tile.stop
            turned = right[begin:end].tocsc()
            best_meetings(_arrays(left), _arrays(turned), begin, end - begin, rows, columns)
        return rows

    parts = in_parallel(meet, slices(m, m // WORKERS + 1)) or [_no_best(n, k)]
    worth, partners = (np.hstack([getattr(best, name) for best in parts]) for name in BEST)
    order = np.lexsort((partners, -worth))[:, :k]
    worth, partners = (np.take_along_axis(each, order, axis=1) for each in (worth, partners))
    turned = _from_best(columns.worth, columns.partners, n)
    return _from_best(worth, partners, m), csr_array(turned.T)


def _arrays(matrix: Any) -> tuple[Positions, Positions, Matrix]:
    return matrix.indptr, matrix.indices, matrix.data.astype(np.float32, copy=False)


def _from_best(worth: Matrix, partners: NDArray[np.int32], width: int) -> Sparse:
    """The best of each line as a sparse matrix."""
    line, place = np.nonzero(partners >= 0)
    values, columns = worth[line, place], partners[line, place]
    return csr_array((values, (line, columns)), shape=(len(worth), width))


def _best_few(matrix: Sparse, few: int) -> Sparse:
    """The few largest entries of each row."""
    each = csr_array(eye_array(matrix.shape[1], dtype=np.float32))
    return _best_products(matrix, each, few)[0]


def _to_one(matrix: Sparse) -> Sparse:
    """Rows whose largest entry is one."""
    peaks = matrix.max(axis=1).toarray().ravel()
    factors = np.divide(1, peaks, out=np.zeros(len(peaks)), where=peaks > 0)
    return csr_array(diags_array(factors.astype(np.float32)) @ matrix)


def _numbers(matrix: Sparse) -> Positions:
    """The places of a matrix that are filled, as row * width + column."""
    numbers = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    numbers *= matrix.shape[1]
    numbers += matrix.indices
    return numbers


def _distinct(found: list[Positions]) -> Positions:
    """Each number once, ascending."""
    numbers = np.concatenate(found)
    numbers.sort()  # much faster than np.unique
    new = np.ones(len(numbers), dtype=np.bool_)
    new[1:] = numbers[1:] != numbers[:-1]
    each: Positions = numbers[new]
    return each
