"""Sinkhorn's algorithm: a soft assignment by dividing by row sums and column sums in turn.

The plan is S_ij = exp((X_ij - a_i - b_j) / temperature), so the two vectors of potentials a and
b say all about it: they are what is computed and kept. Every sum is taken in a form that cannot
overflow, and a sum that underflows is taken again with its own largest term drawn out, so that
no temperature gives NaN.

Exponentials are dear and a product is cheap: where memory allows, the plan of an exact round is
kept and the following rounds only multiply it with two vectors of factors, until these leave the
range in which float32 is safe.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sameas.parallel import WORKERS
from sameas.profit import row_blocks
from sameas.rows import Matrix

Vector: TypeAlias = NDArray[np.float64]

COLDEST, HOTTEST = 1e-5, 1e6
"""Beyond these, float32 profits cannot tell one temperature from another."""
TILE_BYTES = 2**20
"""A tile of the matrix that stays in the cache while all is done to it that a round does."""
TINY = 1e-30
SAFE = 30.0
"""Logarithm of the largest factor by which a stored plan is scaled; e^30 is about 10^13."""


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


@dataclass(frozen=True, eq=False)
class Ghosts:
    """The imagined entities that make up the number on the smaller side, all alike.

    Their profit to everybody is zero; ``left`` and ``right`` are their potentials.
    """

    left_count: int
    right_count: int
    left: float = 0.0
    right: float = 0.0


@dataclass(frozen=True, eq=False)
class _Kernel:
    """The plan as it was for some potentials, to be scaled to others."""

    values: Matrix
    left: Vector
    right: Vector


def sinkhorn(
    profit: Matrix,
    *,
    temperature: float,
    iterations: int,
    store: bool = True,
    progress: Callable[[float], None] | None = None,
) -> Plan:
    """The plan after so many rounds of dividing by row sums, then by column sums.

    Sides of unequal size are treated as if the smaller were padded with entities of profit
    zero to everybody, without storing them. ``store`` allows a second matrix of the size of the
    profit, which makes it several times faster.
    """
    heat = usable(temperature)
    missing = max(profit.shape) - np.array(profit.shape)
    ghosts = Ghosts(*missing.tolist())
    left, right = _row_peaks(profit, ghosts), np.zeros(profit.shape[1])
    memory = np.empty(profit.shape if store and iterations > 1 else (0, 0), dtype=np.float32)
    kernel: _Kernel | None = None
    with ThreadPoolExecutor(WORKERS) as pool:
        for done in range(iterations):
            scaled = _scaled_round(kernel, right, heat, ghosts, pool) if kernel else None
            if scaled is None:
                new, sums = _round(profit, left, right, heat, ghosts, pool, memory)
                kernel = _Kernel(memory, new, right) if memory.size else None
            else:
                new, sums = scaled
            left, right, ghosts = _columns(profit, new, right, sums, heat, ghosts)
            if progress:
                progress((done + 1) / (iterations + 1))
        new, _ = _round(profit, left, right, heat, ghosts, pool)
    with np.errstate(over="ignore"):
        deviation = float(np.abs(np.expm1((new - left) / heat)).max(initial=0.0))
    return Plan(left, right, temperature, iterations, deviation)


def usable(temperature: float) -> float:
    """The nearest temperature that float32 profits can feel."""
    return min(max(temperature, COLDEST), HOTTEST)


def log_sum(values: Vector, heat: float) -> float:
    """heat * ln(sum of exp(values / heat)), the soft maximum of the values."""
    peak = float(values.max())
    return peak + heat * float(np.log(np.exp((values - peak) / heat).sum()))


def _row_peaks(profit: Matrix, ghosts: Ghosts) -> Vector:
    """The largest profit of each row, that of the imagined entities included."""
    if not profit.size:
        return np.zeros(len(profit))
    peaks: Vector = profit.max(axis=1).astype(np.float64)
    floor = 0.0 if ghosts.right_count else -np.inf
    peaks[peaks < floor] = floor
    return peaks


def _columns(
    profit: Matrix, left: Vector, right: Vector, sums: Vector, heat: float, ghosts: Ghosts
) -> tuple[Vector, Vector, Ghosts]:
    """The potentials after the columns, too, have been divided by their sums."""
    ghost_left, ghost_right = ghosts.left, ghosts.right
    extra = np.full(0, 0.0)
    if ghosts.left_count:
        ghost_left = log_sum(-right, heat)
        sums = sums + ghosts.left_count * np.exp((-ghost_left - right) / heat)
        extra = np.array([-ghost_left + heat * np.log(ghosts.left_count)])
    starved = sums <= TINY
    new = right + heat * np.log(sums, out=np.zeros_like(sums), where=~starved)
    for column in np.flatnonzero(starved):
        new[column] = log_sum(np.append(profit[:, column] - left, extra), heat)
    if ghosts.right_count:
        ghost_right = log_sum(-left, heat)
    # Adding to one side what is taken from the other changes nothing; small numbers lose least.
    shift = float(new.mean()) if len(new) else 0.0
    moved = replace(ghosts, left=ghost_left + shift, right=ghost_right - shift)
    return left + shift, new - shift, moved


def _scaled_round(
    kernel: _Kernel, right: Vector, heat: float, ghosts: Ghosts, pool: ThreadPoolExecutor
) -> tuple[Vector, Vector] | None:
    """What ``_round`` gives, by scaling a stored plan; None where the factors leave their range."""
    logs = (kernel.right - right) / heat
    # The potentials are free up to a constant; the middle of the range is the safest.
    shift = (logs.max() + logs.min()) / 2
    if not logs.max() - shift < SAFE:
        return None
    factors = np.exp(logs - shift).astype(np.float32)
    ghost_mass = np.zeros(len(kernel.left))
    if ghosts.right_count:
        exponent = (-kernel.left - ghosts.right) / heat - shift
        if not exponent.max() < SAFE:
            return None
        ghost_mass = ghosts.right_count * np.exp(exponent)

    def tile(rows: slice) -> tuple[slice, Vector, Vector]:
        values = kernel.values[rows]
        sums = (values @ factors).astype(np.float64) + ghost_mass[rows]
        safe = np.maximum(sums, TINY)
        return rows, sums, ((1 / safe).astype(np.float32) @ values).astype(np.float64)

    masses, sums = np.empty_like(kernel.left), np.zeros_like(right)
    for rows, mass, columns in pool.map(tile, row_blocks(kernel.values.shape, TILE_BYTES)):
        masses[rows] = mass
        sums += columns
    if not (masses.min() > np.exp(-SAFE) and masses.max() < np.exp(SAFE)):
        return None
    return kernel.left + heat * (np.log(masses) + shift), sums * factors


def _round(
    profit: Matrix,
    left: Vector,
    right: Vector,
    heat: float,
    ghosts: Ghosts,
    pool: ThreadPoolExecutor,
    memory: Matrix | None = None,
) -> tuple[Vector, Vector]:
    """New left potentials, and the column sums under them (with the old right ones).

    One pass over the matrix: a tile's exponentials serve both the row sums and, divided by
    them, the column sums. The divided ones are kept in ``memory`` if it has the room.
    """
    scratch = threading.local()
    single = right.astype(np.float32)
    others = np.full(0, 0.0)
    if ghosts.right_count:
        others = np.array([-ghosts.right + heat * np.log(ghosts.right_count)])

    def tile(rows: slice) -> tuple[slice, Vector, Vector]:
        entries = _buffer(scratch, rows, len(right))
        np.subtract(profit[rows], single, out=entries)
        entries -= left[rows, None].astype(np.float32)
        entries *= np.float32(1 / heat)
        # At most one, as each column has just been divided by its sum; but for rounding.
        np.minimum(entries, 0, out=entries)
        np.exp(entries, out=entries)
        sums = entries.sum(axis=1, dtype=np.float64)
        if ghosts.right_count:
            sums += ghosts.right_count * np.exp((-left[rows] - ghosts.right) / heat)
        starved = sums <= TINY
        potentials = left[rows] + heat * np.log(np.where(starved, 1.0, sums))
        entries *= (1 / np.where(starved, 1.0, sums)).astype(np.float32)[:, None]
        for row in np.flatnonzero(starved):
            values = profit[rows][row] - right
            potentials[row] = log_sum(np.append(values, others), heat)
            entries[row] = np.exp((values - potentials[row]) / heat)
        if memory is not None and memory.size:
            memory[rows] = entries
        ones = np.ones(len(entries), dtype=np.float32)  # a product is faster than a sum here
        return rows, potentials, (ones @ entries).astype(np.float64)

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
