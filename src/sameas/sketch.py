"""Sketches: the rows of each hop as short rows of small integers, a few hundred bytes a hop."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sameas.compression import directions_of, times
from sameas.graph import Positions
from sameas.kernels import sketch_products
from sameas.parallel import even_slices, map_blocks, slices
from sameas.propagation import hop, hop_rows, surroundings
from sameas.rows import Matrix, Rows, Sparse, as_rows, in_rows, rows_of, starts_in, unit

PRINCIPAL, RANDOM = 96, 288
"""Directions that the rows of each hop are projected on: more random ones are more exact."""
COLUMNS = PRINCIPAL + RANDOM
SAMPLE = 500
"""Entities a side whose hops the principal directions are learnt from."""
BLOCK = 4000
"""Rows that are made at once."""
PAIRS = 200_000
"""Pairs whose products are computed at once."""

Small = NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Sketch:
    """Rows of hops 0..depth of both sides: whole numbers, (n, hops, columns), times a scale each.

    The dot product of two sketched rows is near that of the rows: within about .03 where they
    have little in common, and nearer where they have much.
    """

    left: Small
    right: Small
    left_scales: Matrix
    right_scales: Matrix

    @property
    def shape(self) -> tuple[int, int]:
        """The number of left and of right entities."""
        return len(self.left), len(self.right)

    def of(self, left: Positions, right: Positions) -> Matrix:
        """For each pair the mean of its cosines over all hops but hop 0, the names."""
        return in_rows(self.partners, len(self.left), left, right)

    def partners(self, starts: Positions, right: NDArray[np.integer]) -> Matrix:
        """The means of left entity i with right[starts[i]:starts[i + 1]], for every i."""
        values = np.empty(len(right), dtype=np.float32)
        shared = self.left, self.left_scales, self.right, self.right_scales

        def take(rows: slice) -> tuple[slice, Positions, NDArray[np.integer]]:
            ends, pairs = starts_in(starts, rows)
            return rows, ends, right[pairs]

        for rows, some in map_blocks(_products, even_slices(starts, PAIRS), take, *shared):
            values[starts_in(starts, rows)[1]] = some
        values /= np.float32(max(self.left.shape[1] - 1, 1))
        return values

    def rows(self, side: int, which: Positions | slice) -> Rows:
        """The rows of all hops side by side; their products are the means over hops."""
        values, scales = ((self.left, self.left_scales), (self.right, self.right_scales))[side]
        scaled = values[which] * (scales[which] * np.float32(values.shape[1] ** -0.5))[:, :, None]
        return as_rows(scaled.reshape(len(scaled), values.shape[1] * values.shape[2]))


def _products(
    block: tuple[slice, Positions, NDArray[np.integer]],
    left: Small,
    left_scales: Matrix,
    right: Small,
    right_scales: Matrix,
) -> Matrix:
    """The sums over hops of the pairs of some left rows."""
    rows, starts, partners = block
    values = np.empty(len(partners), dtype=np.float32)
    given = left[rows], left_scales[rows], right, right_scales
    sketch_products(starts, partners, *given, 0, len(starts) - 1, values)
    return values


def make_sketch(
    adjacency: tuple[Sparse, Sparse],
    features: tuple[Rows, Rows],
    *,
    depth: int,
    only: tuple[Positions, Positions],
) -> Sketch:
    """The sketches of ``only`` these entities of each side, ascending, from the features of all."""
    names = unit(features[0]), unit(features[1])
    width = names[0].dense.shape[1] + names[0].sparse.shape[1]
    directions = None
    if width > COLUMNS:
        rng = np.random.default_rng(0)
        samples = []
        for matrix, side in zip(adjacency, names, strict=True):
            some = np.sort(rng.permutation(len(side))[:SAMPLE])
            samples += [hop_rows(matrix, side, n, some) for n in range(min(depth, 1), depth + 1)]
        directions = directions_of(samples, principal=PRINCIPAL, random=RANDOM, rng=rng)
    sides = []
    for matrix, side, wanted in zip(adjacency, names, only, strict=True):
        values, scales = _sketch(matrix, side, directions, depth)
        everyone = len(wanted) == len(side)
        sides.append((values, scales) if everyone else (values[wanted], scales[wanted]))
    (left, left_scales), (right, right_scales) = sides
    return Sketch(left, right, left_scales, right_scales)


def _sketch(
    adjacency: Sparse, names: Rows, directions: Matrix | None, depth: int
) -> tuple[Small, Matrix]:
    """The rows after each hop as small integers, and their scales; each hop from the last one."""
    width = names.dense.shape[1] + names.sparse.shape[1]
    columns = width if directions is None else directions.shape[1]
    values = np.empty((len(names), depth + 1, columns), dtype=np.int8)
    scales = np.empty((len(names), depth + 1), dtype=np.float32)

    for number in range(depth + 1):
        parts = slices(len(names), BLOCK)
        if number:
            last = values[:, number - 1].copy(), scales[:, number - 1].copy()
            made = map_blocks(_next_hop, parts, partial(rows_of, adjacency), *last)
        else:
            made = map_blocks(_first_hop, parts, names.part, directions)
        for part, (some, scale) in made:
            values[part, number], scales[part, number] = some, scale
    return values, scales


def _first_hop(names: Rows, directions: Matrix | None) -> tuple[Small, Matrix]:
    return _shortened(names.toarray() if directions is None else times(names, directions))


def _next_hop(adjacency: Sparse, last: Small, scales: Matrix) -> tuple[Small, Matrix]:
    near, before = surroundings(adjacency, slice(None))
    return _shortened(hop(near, as_rows(last[before] * scales[before][:, None])).dense)


def _shortened(rows: Matrix) -> tuple[Small, Matrix]:
    """Rows as small integers, and their scales."""
    scales: Matrix = np.abs(rows).max(axis=1, initial=0.0) / np.float32(127)
    whole = np.rint(rows / np.where(scales == 0, np.float32(1), scales)[:, None])
    return whole.astype(np.int8), scales
