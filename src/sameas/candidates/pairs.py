"""Candidates: pairs of entities with a value each, by rows and by columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sameas.compute.arrays import Indices, Matrix, Positions, Vector
from sameas.compute.kernels.assignment import log_sums
from sameas.compute.kernels.topk import find_places
from sameas.compute.parallel import even_slices, gathered, in_parallel
from sameas.compute.rows import starts_of_kept
from sameas.similarity.matrix import Exceeding

SHARED = ("left", "by_right")
"""What candidates of the same pairs have in common, computed when first asked for."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Pairs of a left and a right entity with their values, by left, then by right position.

    The partners of left entity i are ``right[starts[i]:starts[i + 1]]``. As a problem to assign,
    other pairs cannot be linked.
    """

    shape: tuple[int, int]
    starts: Positions
    right: Indices
    values: Matrix
    recall: float | None = None
    """Of the pairs that are best for both among all, the share found; None if all were compared."""

    def __len__(self) -> int:
        """The number of pairs."""
        return len(self.right)

    @cached_property
    def left(self) -> Indices:
        """The left position of each pair."""
        every = np.arange(self.shape[0], dtype=np.int32)
        return np.repeat(every, np.diff(self.starts))

    @cached_property
    def by_right(self) -> tuple[Positions, NDArray[np.integer]]:
        """Where the pairs of each right entity start in an order by right, and that order."""
        kind = np.int32 if len(self) < 2**31 else np.int64
        number, starts = np.arange(len(self), dtype=kind), self.starts.astype(kind)
        transposed = csr_array((number, self.right, starts), shape=self.shape).tocsc()
        return transposed.indptr.astype(np.int64), transposed.data

    @cached_property
    def transposed(self) -> Candidates:
        """The same pairs with left and right exchanged."""
        return from_pairs(self.shape[::-1], self.right, self.left, self.values)

    @property
    def keys(self) -> Positions:
        """The number left * len(right) + right of each pair, ascending."""
        keys: Positions = self.left * np.int64(self.shape[1]) + self.right
        return keys

    def with_values(self, values: Matrix) -> Candidates:
        """The same pairs with other values."""
        other = replace(self, values=values)
        # What depends on the pairs alone is not computed again.
        vars(other).update({name: vars(self)[name] for name in SHARED if name in vars(self)})
        return other

    def find(self, left: Positions, right: Positions) -> Positions:
        """The place of each of these pairs, -1 where it is not there."""
        places = self.places_for(left, right)
        here = places < self.starts[left + 1]
        here[here] = self.right[places[here]] == right[here]
        return np.where(here, places, -1)

    def places_for(self, left: NDArray[np.integer], right: NDArray[np.integer]) -> Positions:
        """Where each of these pairs is in the order of the pairs, or would have to be put."""
        places = np.empty(len(left), dtype=np.int64)
        lines, wanted = (np.ascontiguousarray(side, dtype=np.int64) for side in (left, right))
        find_places(self.starts, self.right, lines, wanted, places)
        return places

    @property
    def ceiling(self) -> float:
        """The largest absolute value."""
        return float(np.abs(self.values).max(initial=0.0))

    def of(self, left: Positions, right: Positions) -> Matrix:
        """The values of pairs; -inf for those that are no candidates."""
        places = self.find(left, right)
        values = np.full(len(places), -np.inf, dtype=np.float32)
        values[places >= 0] = self.values[places[places >= 0]]
        return values

    def exceeding_prices(self, left: Vector, right: Vector) -> Exceeding:
        """All rows, and the pairs whose value exceeds the sum of their two prices."""
        over = np.flatnonzero(self.values > left[self.left] + right[self.right])
        yield slice(0, self.shape[0]), self.left[over].astype(int), self.right[over].astype(int)

    def select(self, which: NDArray[np.bool_]) -> Candidates:
        """These of the pairs."""
        starts = starts_of_kept(self.starts, which)
        return Candidates(self.shape, starts, self.right[which], self.values[which])

    def joined(self, left: Positions, right: Positions, values: Matrix) -> Candidates:
        """These pairs and others, which must not be among them."""
        return from_pairs(
            self.shape,
            np.concatenate([self.left, left], dtype=np.int32),
            np.concatenate([self.right, right], dtype=np.int32),
            np.concatenate([self.values, values]),
        )


def from_pairs(
    shape: tuple[int, int], left: NDArray[np.integer], right: NDArray[np.integer], values: Matrix
) -> Candidates:
    """Candidates from pairs in any order, each given once."""
    order = np.argsort(left * np.int64(shape[1]) + right, kind="stable")
    starts = np.searchsorted(left[order], np.arange(shape[0] + 1))
    return Candidates(shape, starts, right[order].astype(np.int32), values[order])


def every_pair(matrix: Matrix) -> Candidates:
    """All pairs of a profit matrix."""
    n, m = matrix.shape
    starts = np.arange(n + 1, dtype=np.int64) * m
    right = np.tile(np.arange(m, dtype=np.int32), n)
    return Candidates((n, m), starts, right, np.ascontiguousarray(matrix, dtype=np.float32).ravel())


Pairs: TypeAlias = Matrix | Candidates
"""The pairs that count, with their values: all of a matrix, or candidates."""
PART = 100_000
"""Pairs treated at once."""


class PairsByRow(NamedTuple):
    """Pairs by row or by column, as the kernels take them; a matrix has no ``others``."""

    starts: Positions
    others: Indices
    values: Matrix

    def parts(self) -> Iterator[slice]:
        """Slices of lines that hold about the same number of pairs."""
        return even_slices(self.starts, PART)

    def positions(self, places: Positions) -> tuple[Positions, Positions]:
        """The line of each place, and its position on the other side."""
        lines = np.searchsorted(self.starts, places, side="right") - 1
        if not len(self.others):
            return lines, places - self.starts[lines]
        return lines, self.others[places].astype(np.int64)


def lines_of_rows(pairs: Pairs) -> PairsByRow:
    """The pairs by left entity."""
    if isinstance(pairs, Candidates):
        return PairsByRow(pairs.starts, pairs.right, pairs.values)
    starts = np.arange(len(pairs) + 1, dtype=np.int64) * pairs.shape[1]
    return PairsByRow(starts, np.empty(0, dtype=np.int32), np.ascontiguousarray(pairs).reshape(-1))


def lines_of_columns(pairs: Candidates) -> PairsByRow:
    """The pairs by right entity."""
    starts, order = pairs.by_right
    left, values = gathered((pairs.left, pairs.values), order)
    return PairsByRow(starts, left, values)


def line_sums(lines: PairsByRow, potentials: Vector, heat: float) -> Vector:
    """heat * ln(sum of exp((value - potential) / heat)) of each line; its maximum for no heat."""
    sums = np.empty(len(lines.starts) - 1)

    def part(rows: slice) -> None:
        log_sums(*lines, potentials, heat, rows.start, rows.stop, sums)

    in_parallel(part, lines.parts())
    return sums
