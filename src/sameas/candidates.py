"""Candidates: the few partners worth considering for each entity, with their exact profits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sameas.compression import multiply
from sameas.graph import Positions
from sameas.kernels import find_places
from sameas.likeness.names import NamesAndHops
from sameas.parallel import THREADS, slices
from sameas.profit import Above, Profit
from sameas.proposals import ROUGH, SHARP, distinct, nearest
from sameas.rows import Matrix, Rows

COMPARED = 300
"""Entities for which all partners are compared, to measure what proposed candidates miss."""

Indices = NDArray[np.int32]
Vector = NDArray[np.float64]
Progress = Callable[[float], None]


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

    @property
    def left(self) -> Indices:
        """The left position of each pair."""
        every = np.arange(self.shape[0], dtype=np.int32)
        return np.repeat(every, np.diff(self.starts))

    @cached_property
    def by_right(self) -> tuple[Positions, NDArray[np.integer]]:
        """Where the pairs of each right entity start in an order by right, and that order."""
        number = np.arange(len(self), dtype=np.int32 if len(self) < 2**31 else np.int64)
        turned = csr_array((number, self.right, self.starts), shape=self.shape).tocsc()
        return turned.indptr.astype(np.int64), turned.data

    @cached_property
    def turned(self) -> Candidates:
        """The same pairs with left and right exchanged."""
        return from_pairs(self.shape[::-1], self.right, self.left, self.values)

    @property
    def keys(self) -> Positions:
        """The number left * len(right) + right of each pair, ascending."""
        keys: Positions = self.left * np.int64(self.shape[1]) + self.right
        return keys

    def find(self, left: Positions, right: Positions) -> Positions:
        """The place of each of these pairs, -1 where it is not there."""
        places = self.places_for(left, right)
        here = places < self.starts[left + 1]
        here[here] = self.right[places[here]] == right[here]
        return np.where(here, places, -1)

    def places_for(self, left: NDArray[np.integer], right: NDArray[np.integer]) -> Positions:
        """Where each of these pairs is in the order of the pairs, or would have to be put."""
        places = np.empty(len(left), dtype=np.int64)
        find_places(self.starts, self.right, left, right, places)
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

    def above(self, left: Vector, right: Vector) -> Above:
        """All rows, and the pairs whose value exceeds the sum of their two prices."""
        over = np.flatnonzero(self.values > left[self.left] + right[self.right])
        yield slice(0, self.shape[0]), self.left[over].astype(int), self.right[over].astype(int)

    def select(self, which: NDArray[np.bool_]) -> Candidates:
        """These of the pairs."""
        starts = np.append(0, np.cumsum(which))[self.starts]
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


def find_candidates(
    profit: Profit | NamesAndHops,
    k: int,
    *,
    first: int,
    proposed: Positions | None = None,
    also: Positions | None = None,
    progress: Progress | None = None,
) -> Candidates:
    """The best partners of every left and of every right entity, with their profits.

    The k nearest, of which those far below the best are left out but not the ``first`` few; or
    pairs that were ``proposed`` otherwise. Pairs that are ``also`` of interest join in either
    case. Both are numbers left * len(right) + right, ascending.
    """
    tell = progress or (lambda share: None)
    numbers = proposed
    if numbers is None:
        rows = profit.rows(0, slice(None)), profit.rows(1, slice(None))
        # Exact profits are ranked to the last; refinement adds what a sketch has missed.
        columns = SHARP if isinstance(profit, Profit) else ROUGH
        numbers = nearest(
            *rows, k, first=first, columns=columns, progress=lambda share: tell(0.7 * share)
        )
    if also is not None:
        numbers = distinct([numbers, also])
    width = np.int64(max(profit.shape[1], 1))
    starts = np.searchsorted(numbers, np.arange(profit.shape[0] + 1) * width)
    partners = (numbers % width).astype(np.int32)
    del numbers
    values = profit.partners(starts, partners, lambda share: tell(0.7 + 0.2 * share))
    found = Candidates(profit.shape, starts, partners, values)
    if proposed is not None:
        found = replace(found, recall=_recall(profit, found))
    tell(1.0)
    return found


def _recall(profit: Profit | NamesAndHops, found: Candidates) -> float | None:
    """The share of pairs, each other's best among all pairs, that are candidates; by a sample."""
    if not min(profit.shape):
        return None
    sample = np.unique(np.linspace(0, profit.shape[0] - 1, COMPARED).astype(np.int64))
    best = _best_partner(profit, 0, sample)
    mutual = _best_partner(profit, 1, best) == sample
    if not mutual.any():
        return None
    return float((found.find(sample[mutual], best[mutual]) >= 0).mean())


def _best_partner(profit: Profit | NamesAndHops, side: int, entities: Positions) -> Positions:
    """The other row of largest product with each of these rows of a side."""
    dense = np.ascontiguousarray(profit.rows(side, entities).toarray().T)
    parts = slices(profit.shape[1 - side], 4000)
    best, most = np.zeros(len(entities), dtype=np.int64), np.full(len(entities), -np.inf)
    for part, (top, values) in THREADS.map(_best, parts, partial(profit.rows, 1 - side), dense):
        better = values > most
        best[better], most[better] = top[better] + part.start, values[better]
    return best


def _best(others: Rows, dense: Matrix) -> tuple[Positions, Matrix]:
    """The row of largest product with each column, and that product."""
    values = multiply(others, dense)
    top = values.argmax(axis=0)
    return top, values[top, np.arange(dense.shape[1])]
