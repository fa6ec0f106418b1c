"""Sketches: the rows of each hop as short rows of small integers, a few hundred bytes a hop."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sameas.compute.arrays import Matrix, Numbers, Positions, Progress, Sparse
from sameas.compute.in_files import let_go_of_pages, room_for, rows_at
from sameas.compute.kernels.products import sketch_products
from sameas.compute.pairwise import Block, values_of_partners
from sameas.compute.parallel import in_parallel, is_apart, map_blocks, slices
from sameas.compute.projection import directions_of, times
from sameas.compute.rows import Rows, as_rows, in_rows, rows_of, unit
from sameas.options.tuning import TUNING, Tuning
from sameas.similarity.propagation import hop, surroundings, unit_hop_rows

BLOCK, HOP_BLOCK = 4000, 1000
"""Rows that are made at once, of names and of a hop: a hop has ten rows before it for each."""

Small = NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class SketchedRows:
    """Rows of some hops: whole numbers, (n, hops, columns), times a scale each, (n, hops)."""

    values: Small
    scales: Matrix

    def __len__(self) -> int:
        """The number of entities."""
        return len(self.values)

    @property
    def nbytes(self) -> int:
        """The bytes of both arrays."""
        return self.values.nbytes + self.scales.nbytes

    def part(self, which: Positions | slice) -> SketchedRows:
        """Those of some entities."""
        return SketchedRows(self.values[which], self.scales[which])


@dataclass(frozen=True, eq=False)
class Sketch:
    """Sketched rows of hops 1..depth of both sides, and of hop 0 where all pairs are searched.

    The dot product of two sketched rows is near that of the rows: within about .03 where they
    have little in common, and nearer where they have much.
    """

    left: SketchedRows
    right: SketchedRows
    left_names: SketchedRows | None = None
    """Hop 0, which partners are searched by; names themselves are compared exactly."""
    right_names: SketchedRows | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """The number of left and of right entities."""
        return len(self.left), len(self.right)

    @property
    def depth(self) -> int:
        """The number of hops."""
        return int(self.left.values.shape[1])

    def of(self, left: Numbers, right: Numbers) -> Matrix:
        """For each pair the mean of its cosines over all hops but hop 0, the names."""
        return in_rows(self.partners, len(self.left), left, right)

    def partners(
        self, starts: Positions, right: Numbers, progress: Progress | None = None
    ) -> Matrix:
        """The means of left entity i with right[starts[i]:starts[i + 1]], for every i."""
        sides, few = (self.left, self.right), len(right) < len(self.right)
        if few and is_apart():
            sides, starts, right = self._needed(starts, right)
        values = values_of_partners(_products, *sides, starts, right, progress)
        values /= np.float32(max(self.depth, 1))
        return values

    def _needed(
        self, starts: Positions, right: Numbers
    ) -> tuple[tuple[SketchedRows, SketchedRows], Positions, Numbers]:
        """The rows of some pairs alone, and the pairs by their places among these."""
        lines = np.flatnonzero(np.diff(starts))
        columns, places = np.unique(right, return_inverse=True)
        left, ours = self.left, np.append(starts[lines], starts[-1])
        sides = (
            SketchedRows(rows_at(left.values, lines), left.scales[lines]),
            SketchedRows(rows_at(self.right.values, columns), self.right.scales[columns]),
        )
        return sides, ours, places.astype(right.dtype)

    def rows(self, side: int, which: Positions | slice) -> Rows:
        """The rows of all hops side by side; their products are the means over hops."""
        names = (self.left_names, self.right_names)[side]
        assert names is not None, "hop 0 is needed for this"
        factor = np.float32((self.depth + 1) ** -0.5)
        return as_rows(np.hstack([_scaled(names, which, factor), self.hops(side, which)]))

    def hops(self, side: int, which: Positions | slice) -> Matrix:
        """The columns of ``rows`` that are those of hops 1..depth."""
        factor = np.float32((self.depth + 1) ** -0.5)
        return _scaled((self.left, self.right)[side], which, factor)

    def without_names(self) -> Sketch:
        """The same without hop 0."""
        return Sketch(self.left, self.right)


def _scaled(sketched: SketchedRows, which: Positions | slice, factor: np.float32) -> Matrix:
    """The rows of all hops side by side, times a factor."""
    part = sketched.part(which)
    rows: Matrix = part.values * (part.scales * factor)[:, :, None]
    let_go_of_pages()
    return rows.reshape(len(rows), rows.shape[1] * rows.shape[2])


def _products(block: Block, left: SketchedRows, right: SketchedRows) -> Matrix:
    """The sums over hops of the pairs of some left rows."""
    rows, starts, partners = block
    values = np.empty(len(partners), dtype=np.float32)
    ours = left.part(rows)
    sketch_products(starts, partners, ours.values, ours.scales, right.values, right.scales, values)
    return values


def make_sketch(
    adjacency: tuple[Sparse, Sparse],
    features: tuple[Rows, Rows],
    *,
    depth: int,
    only: tuple[Positions, Positions],
    names: bool = True,
    tuning: Tuning = TUNING,
) -> Sketch:
    """The sketches of ``only`` these entities of each side, ascending, from the features of all.

    Those of hop 0, the ``names``, are kept if they are asked for.
    """
    width = features[0].dense.shape[1] + features[0].sparse.shape[1]
    directions, principal, random = None, tuning.sketch.principal, tuning.sketch.random
    if width > principal + random:
        rng = np.random.default_rng(0)
        some = [np.sort(rng.permutation(len(side))[: tuning.sketch.sample]) for side in features]
        samples = in_parallel(
            lambda place: unit_hop_rows(
                adjacency[place[0]], features[place[0]], place[1], some[place[0]]
            ),
            [(side, number) for side in (0, 1) for number in range(min(depth, 1), depth + 1)],
        )
        directions = directions_of(
            samples, principal=principal, random=random, rng=rng, tuning=tuning.search
        )
    sides = list[tuple[SketchedRows | None, SketchedRows]]()
    for matrix, side, wanted in zip(adjacency, features, only, strict=True):
        if sides and side is features[0] and np.array_equal(*only):  # of one graph, once
            sides *= 2
            break
        first, hops = _sketch(matrix, side, directions, depth, names=names)
        if len(wanted) < len(side):
            first, hops = first and first.part(wanted), hops.part(wanted)
        sides.append((first, hops))
    (left_names, left), (right_names, right) = sides
    return Sketch(left, right, left_names, right_names)


def _sketch(
    adjacency: Sparse, features: Rows, directions: Matrix | None, depth: int, *, names: bool
) -> tuple[SketchedRows | None, SketchedRows]:
    """The rows of names, and after each hop; each hop is made from the last one."""
    size, width = len(features), features.dense.shape[1] + features.sparse.shape[1]
    columns = width if directions is None else directions.shape[1]
    hops = _no_rows(size, depth, columns)
    # The names are written where the last hop comes, unless they are kept or it needs them.
    apart = names or depth < 2
    first = _no_rows(size, 1, columns) if apart else hops
    place = 0 if apart else depth - 1
    for part, row in map_blocks(_first_hop, slices(size, BLOCK), features.part, directions):
        first.values[part, place], first.scales[part, place] = row
    last = first.values[:, place], first.scales[:, place]
    for number in range(depth):
        made = map_blocks(_next_hop, slices(size, HOP_BLOCK), partial(rows_of, adjacency), *last)
        for part, row in made:
            hops.values[part, number], hops.scales[part, number] = row
        last = hops.values[:, number], hops.scales[:, number]
    return first if names else None, hops


def _no_rows(size: int, hops: int, columns: int) -> SketchedRows:
    """Room for the rows of so many hops."""
    return SketchedRows(
        room_for((size, hops, columns), np.int8), np.empty((size, hops), dtype=np.float32)
    )


def _first_hop(features: Rows, directions: Matrix | None) -> tuple[Small, Matrix]:
    names = unit(features)
    return _shortened(names.toarray() if directions is None else times(names, directions))


def _next_hop(adjacency: Sparse, last: Small, scales: Matrix) -> tuple[Small, Matrix]:
    near, before = surroundings(adjacency, slice(None))
    return _shortened(hop(near, as_rows(last[before] * scales[before][:, None])).dense)


def _shortened(rows: Matrix) -> tuple[Small, Matrix]:
    """Rows as small integers, and their scales."""
    scales: Matrix = np.abs(rows).max(axis=1, initial=0.0) / np.float32(127)
    whole = np.rint(rows / np.where(scales == 0, np.float32(1), scales)[:, None])
    return whole.astype(np.int8), scales
