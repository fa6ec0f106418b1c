"""Sinkhorn's algorithm: a soft assignment by dividing by row sums and column sums in turn.

The plan is S_ij = exp((X_ij - a_i - b_j) / temperature), so the two vectors of potentials a and
b say all about it: they are what is computed and kept. Every sum is taken in a form that cannot
overflow, and a sum that underflows is taken again with its own largest term drawn out, so that
no temperature gives NaN.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sameas.profit import row_blocks
from sameas.rows import Matrix

Vector: TypeAlias = NDArray[np.float64]

COLDEST, HOTTEST = 1e-9, 1e9
"""Beyond these, float32 profits cannot tell one temperature from another."""
TILE_BYTES = 2**20
"""A tile of the matrix that stays in the cache while all is done to it that a round does."""
TINY = 1e-30
WORKERS = 2


@dataclass(frozen=True, eq=False)
class Plan:
    """Sinkhorn's soft answer, as potentials in units of profit.

    ``deviation`` is the largest distance of a row sum from one (columns sum to one exactly, as
    they are divided last; with fewer left than right entities, invisible left entities of
    profit zero make up the number, and the other way round).
    """

    left: Vector
    right: Vector
    temperature: float
    iterations: int
    deviation: float

    def values(self, profit: Matrix, rows: slice = slice(None)) -> Matrix:
        """The plan's entries for these rows of the profit."""
        centred = profit[rows] - self.left[rows, None] - self.right
        return np.exp(centred / usable(self.temperature)).astype(np.float32)


def sinkhorn(
    profit: Matrix,
    *,
    temperature: float,
    iterations: int,
    progress: Callable[[float], None] | None = None,
) -> Plan:
    """The plan after so many rounds of dividing by row sums, then by column sums.

    Sides of unequal size are treated as if the smaller were padded with entities of profit
    zero to everybody, without storing them.
    """
    heat = usable(temperature)
    size = max(profit.shape)
    missing = size - np.array(profit.shape)  # left and right entities to be imagined
    left, right = _row_peaks(profit), np.zeros(profit.shape[1])
    ghost_left, ghost_right = 0.0, 0.0  # potentials of the imagined entities, all alike
    with ThreadPoolExecutor(WORKERS) as pool:
        for done in range(iterations):
            left, sums = _round(profit, left, right, heat, (missing[1], ghost_right), pool)
            if missing[0]:
                ghost_left = _log_sum(-right, heat)
                sums = sums + missing[0] * np.exp((-ghost_left - right) / heat)
            right = right + heat * _safe_log(profit, sums, left, right, heat)
            if missing[1]:
                ghost_right = _log_sum(-left, heat)
            # Adding to one side what is taken from the other changes nothing; small numbers
            # lose least.
            shift = float(right.mean()) if len(right) else 0.0
            right, left = right - shift, left + shift
            ghost_left, ghost_right = ghost_left + shift, ghost_right - shift
            if progress:
                progress((done + 1) / (iterations + 1))
        deviation = _deviation(profit, left, right, heat, (missing[1], ghost_right), pool)
    return Plan(left, right, temperature, iterations, deviation)


def usable(temperature: float) -> float:
    """The nearest temperature that float32 profits can feel."""
    return min(max(temperature, COLDEST), HOTTEST)


def _log_sum(values: Vector, heat: float) -> float:
    """heat * ln(sum of exp(values / heat)), the soft maximum of the values."""
    peak = float(values.max())
    return peak + heat * float(np.log(np.exp((values - peak) / heat).sum()))


def _row_peaks(profit: Matrix) -> Vector:
    return profit.max(axis=1).astype(np.float64) if profit.size else np.zeros(len(profit))


def _round(
    profit: Matrix,
    left: Vector,
    right: Vector,
    heat: float,
    ghosts: tuple[int, float],
    pool: ThreadPoolExecutor,
) -> tuple[Vector, Vector]:
    """New left potentials, and the column sums under them (with the old right ones).

    One pass over the matrix: a tile's exponentials serve both the row sums and, divided by
    them, the column sums.
    """
    count, potential = ghosts
    scratch = threading.local()
    single = right.astype(np.float32)

    def tile(rows: slice) -> tuple[slice, Vector, Vector]:
        entries = _buffer(scratch, rows, len(right))
        np.subtract(profit[rows], single, out=entries)
        entries -= left[rows, None].astype(np.float32)
        entries *= np.float32(1 / heat)
        np.exp(entries, out=entries)  # at most one: each column has just been divided by its sum
        sums = entries.sum(axis=1, dtype=np.float64)
        if count:
            sums += count * np.exp((-left[rows] - potential) / heat)
        starved = sums <= TINY
        entries[starved] = 0
        sums[starved] = 1
        columns = ((1 / sums).astype(np.float32) @ entries).astype(np.float64)
        potentials = left[rows] + heat * np.log(sums)
        for row in np.flatnonzero(starved):
            values = profit[rows][row].astype(np.float64) - right
            everyone = np.append(values, -potential + heat * np.log(count)) if count else values
            potentials[row] = _log_sum(everyone, heat)
            columns += np.exp((values - potentials[row]) / heat)
        return rows, potentials, columns

    potentials, sums = np.empty_like(left), np.zeros_like(right)
    for rows, new, columns in pool.map(tile, row_blocks(profit.shape, TILE_BYTES)):
        potentials[rows] = new
        sums += columns
    return potentials, sums


def _buffer(scratch: threading.local, rows: slice, width: int) -> Matrix:
    """Memory for one tile, used again by its thread: fresh pages cost more than the work."""
    height = rows.stop - rows.start
    if not hasattr(scratch, "tile"):
        scratch.tile = np.empty((height, width), dtype=np.float32)
    tile: Matrix = scratch.tile[:height]
    return tile if len(tile) == height else np.empty((height, width), dtype=np.float32)


def _safe_log(profit: Matrix, sums: Vector, left: Vector, right: Vector, heat: float) -> Vector:
    """ln of the column sums; those that vanished are summed again without underflow."""
    starved = sums <= TINY
    logs = np.log(sums, out=np.zeros_like(sums), where=~starved)
    for column in np.flatnonzero(starved):
        values = profit[:, column].astype(np.float64) - left - right[column]
        logs[column] = _log_sum(values, heat) / heat
    return logs


def _deviation(
    profit: Matrix,
    left: Vector,
    right: Vector,
    heat: float,
    ghosts: tuple[int, float],
    pool: ThreadPoolExecutor,
) -> float:
    """The largest distance of a row sum from one."""
    new, _ = _round(profit, left, right, heat, ghosts, pool)
    with np.errstate(over="ignore"):
        return float(np.abs(np.expm1((new - left) / heat)).max(initial=0.0))
