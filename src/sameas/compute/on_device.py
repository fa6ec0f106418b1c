"""Dense work by JAX: the same code for GPU, TPU and its CPU backend, in blocks that fit.

All numbers are float32. Sums are taken in another order than here, so they differ by about one in
a million; what is compared and ranked is the same to the digit, ties by position included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from sameas.compute.arrays import Matrix, Positions, Vector
from sameas.compute.kernels.topk import Wanted
from sameas.compute.parallel import slices

There: TypeAlias = Any
"""An array on the device."""
DEFAULT_ROOM = 2**30
"""Bytes of a device that does not tell how many it has."""
SHARE = 0.5
"""The part of a device's memory that is used; JAX needs the rest to work in."""
COPIES = 4
"""Arrays of the size of a block that are there at once: the block and what is made of it."""
TILE_ROWS = 4096
"""Left rows of a tile of products; it has as many columns as fit."""


@dataclass(frozen=True)
class Device:
    """A device of JAX."""

    device: Any

    @property
    def room(self) -> int:
        """The bytes that may be used at once."""
        known = self.device.memory_stats() or {}
        return int(SHARE * known.get("bytes_limit", DEFAULT_ROOM))

    def put(self, array: Any) -> There:
        """The array, on the device."""
        return jax.device_put(array, self.device)

    def multiplier(self, right: Matrix) -> Callable[[Matrix, Matrix], object]:
        """What writes the products of some left rows with all right ones."""
        there = self.put(right)

        def multiply(left: Matrix, out: Matrix) -> None:
            out[:] = _product(self.put(left), there)

        return multiply

    def matrix(self, matrix: Matrix) -> MatrixThere:
        """The matrix, in blocks of rows; they stay on the device if there is room for all."""
        stays = matrix.nbytes <= self.room // 2
        room = (self.room - (matrix.nbytes if stays else 0)) // (COPIES + 1)
        parts = list(slices(len(matrix), max(1, room // (4 * max(matrix.shape[1], 1)))))
        return MatrixThere(self, matrix, parts, [self.put(matrix[p]) for p in parts if stays])

    def largest(
        self, left: Matrix, right: Matrix, wanted: tuple[Wanted, Wanted]
    ) -> tuple[tuple[Positions, Positions], tuple[Positions, Positions]]:
        """The wanted products of each left row and of each right one: rows and their partners.

        Every product is computed once. What is best so far of all left rows is on the device, too.
        """
        for_rows, for_columns = wanted
        width = max(1, self.room // (COPIES * 4 * min(TILE_ROWS, len(left))))
        parts = list(slices(len(left), TILE_ROWS))
        rows = [_nothing(self, part.stop - part.start) for part in parts]
        columns = []
        for tile in slices(len(right), width):
            there = self.put(right[tile])
            best = _nothing(self, tile.stop - tile.start)
            for number, part in enumerate(parts):
                products = _product(self.put(left[part]), there)
                rows[number] = _better(rows[number], products, tile.start, k=for_rows.k)
                best = _better(best, products.T, part.start, k=for_columns.k)
            columns.append(_here(best))
        return (
            _wanted([_here(each) for each in rows], for_rows),
            _wanted(columns, for_columns),
        )


@dataclass(frozen=True, eq=False)
class MatrixThere:
    """A matrix of which blocks of rows are, or are put, on the device."""

    device: Device
    matrix: Matrix
    parts: Sequence[slice]
    blocks: Sequence[There]
    """Those that stay there; none if there is not room for all."""

    def each(self) -> Iterator[tuple[slice, There]]:
        """The blocks one after the other."""
        for number, part in enumerate(self.parts):
            yield part, self.blocks[number] if self.blocks else self.device.put(self.matrix[part])

    def row_sums(self, right: Vector, *, heat: float) -> Vector:
        """heat * ln(sum of exp((value - right potential) / heat)) of each row."""
        sums, potentials = np.empty(len(self.matrix)), self.device.put(right.astype(np.float32))
        for part, block in self.each():
            peaks, totals = _exponentials(block - potentials, heat, axis=1)
            sums[part] = np.float64(peaks) + heat * np.log(np.float64(totals))
        return sums

    def column_sums(self, left: Vector, *, heat: float) -> Vector:
        """The same of each column, with the left potentials."""
        sums = np.full(self.matrix.shape[1], -np.inf)
        for part, block in self.each():
            potentials = self.device.put(left[part].astype(np.float32))
            peaks, totals = _exponentials(block - potentials[:, None], heat, axis=0)
            here = np.float64(peaks) + heat * np.log(np.float64(totals))
            sums = heat * np.logaddexp(sums / heat, here / heat)
        return sums

    def best_few(self, k: int, prices: Vector, partner: Positions) -> tuple[Positions, Vector]:
        """The places of the k largest values less price of each row, best first, and their ranks.

        partner[i], if partners are given, comes first.
        """
        k, single = min(k, self.matrix.shape[1]), self.device.put(prices.astype(np.float32))
        places = np.empty((len(self.matrix), k), dtype=np.int64)
        ranks = np.empty(places.shape)
        for part, block in self.each():
            mates = self.device.put(_mates(partner, part))
            columns, better, equal = _ranked(block, single, mates, k=k)
            rows = np.arange(part.start, part.stop)[:, None] * self.matrix.shape[1]
            places[part] = rows + np.asarray(columns)
            ranks[part] = np.asarray(better) + (np.asarray(equal) + 1) / 2
        return places.ravel(), ranks.ravel()

    def ranks_of(
        self, left: Positions, right: Positions, prices: Vector, partner: Positions
    ) -> Vector:
        """The rank of each pair in its row by value less price; equals share the mean rank."""
        ranks, single = np.empty(len(left)), self.device.put(prices.astype(np.float32))
        for part, block in self.each():
            asked = np.flatnonzero((left >= part.start) & (left < part.stop))
            # Not more rows at once than there are in a block, however often they are asked for.
            for few in slices(len(asked), part.stop - part.start):
                pairs = asked[few]
                rows = self.device.put((left[pairs] - part.start).astype(np.int32))
                columns = self.device.put(right[pairs].astype(np.int32))
                mates = self.device.put(_mates(partner, left[pairs]))
                better, equal = _counted(block, rows, columns, single, mates)
                ranks[pairs] = np.asarray(better) + (np.asarray(equal) + 1) / 2
        return ranks


def _mates(partner: Positions, rows: slice | Positions) -> Any:
    """The partners of rows; -1 for none, one number where no partners are given."""
    mates = partner[rows] if len(partner) else np.full(1, -1)
    return mates.astype(np.int32)


@jax.jit
def _product(left: There, right: There) -> There:
    # The fast products of some cards have ten bits.
    return jnp.matmul(left, right.T, precision=jax.lax.Precision.HIGHEST)


@partial(jax.jit, static_argnames="axis")
def _exponentials(values: There, heat: float, *, axis: int) -> tuple[There, There]:
    """The largest value of each line, and the sum of exponentials relative to it."""
    peaks = values.max(axis=axis, keepdims=True)
    return peaks.squeeze(axis), jnp.exp((values - peaks) / heat).sum(axis=axis)


def _worth(values: There, prices: There, mates: There) -> There:
    """Values less price; a partner is worth more than anything."""
    is_mate = jnp.arange(values.shape[1], dtype=jnp.int32) == mates[:, None]
    return jnp.where(is_mate, jnp.inf, values - prices)


@partial(jax.jit, static_argnames="k")
def _ranked(block: There, prices: There, mates: There, *, k: int) -> tuple[There, There, There]:
    """The k best columns of each row, how many are better than each, and how many are equal."""
    worth = _worth(block, prices, mates)
    top, columns = jax.lax.top_k(worth, k)
    better = (top[:, None, :] > top[:, :, None]).sum(axis=2)
    equal = (top[:, None, :] == top[:, :, None]).sum(axis=2)
    last = top[:, -1:]  # may have equals that are not among the best
    ties = (worth == last).sum(axis=1, keepdims=True)
    return columns, better, jnp.where(top == last, ties, equal)


@jax.jit
def _counted(
    block: There, rows: There, columns: There, prices: There, mates: There
) -> tuple[There, There]:
    """How many columns of these rows are better than the one asked for, and how many equal."""
    worth = _worth(block[rows], prices, mates)
    limit = jnp.take_along_axis(worth, columns[:, None], axis=1)
    return (worth > limit).sum(axis=1), (worth == limit).sum(axis=1)


def _nothing(device: Device, lines: int) -> tuple[There, There]:
    """The best of each line before anything was compared."""
    return (
        device.put(np.empty((lines, 0), dtype=np.float32)),
        device.put(np.empty((lines, 0), dtype=np.int32)),
    )


@partial(jax.jit, static_argnames="k")
def _better(
    best: tuple[There, There], products: There, start: int, *, k: int
) -> tuple[There, There]:
    """The k best of each line so far and of these products, whose partners begin at ``start``.

    Of equals, the first are taken, and those from before are first.
    """
    values, numbers = jax.lax.top_k(products, min(k, products.shape[1]))
    values = jnp.concatenate([best[0], values], axis=1)
    numbers = jnp.concatenate([best[1], numbers + start], axis=1)
    top, places = jax.lax.top_k(values, min(k, values.shape[1]))
    return top, jnp.take_along_axis(numbers, places, axis=1)


def _here(best: tuple[There, There]) -> tuple[Matrix, Any]:
    return np.asarray(best[0]), np.asarray(best[1])


def _wanted(blocks: Sequence[tuple[Matrix, Any]], wanted: Wanted) -> tuple[Positions, Positions]:
    """The lines and partners near the best of their line, or among the first few."""
    values, partners = (np.concatenate(arrays) for arrays in zip(*blocks, strict=True))
    near = values >= values[:, :1] - np.float32(wanted.slack)
    near[:, : wanted.first] = True
    lines, places = np.nonzero(near)
    return lines, partners[lines, places].astype(np.int64)
