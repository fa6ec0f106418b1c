"""Sinkhorn's algorithm: a soft assignment by dividing by row sums and column sums in turn.

The plan is S_ij = exp((X_ij - a_i - b_j) / temperature). The two vectors of potentials a and b
determine it, so they are what is computed and kept. Sums are taken as logarithms with the largest
term taken out, so that no temperature overflows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np

from sameas.candidates.pairs import (
    Candidates,
    Pairs,
    PairsByRow,
    every_pair,
    line_sums,
    lines_of_columns,
    lines_of_rows,
)
from sameas.compute.arrays import Matrix, Vector
from sameas.compute.device import device_in_use
from sameas.compute.kernels.products import weighted_sums
from sameas.compute.parallel import in_parallel, share_of, slices
from sameas.similarity.matrix import row_blocks

Sums: TypeAlias = Callable[[Vector], Vector]

COLDEST, HOTTEST = 1e-5, 1e6
"""Beyond these, float32 values cannot tell one temperature from another."""
TILE_BYTES = 2**19
"""A tile of the matrix that stays in the cache."""
PRECISION = 1e-6
"""Differences below this, in parts of the largest value, are lost in float32."""
TINY = 1e-30
WIDEST, FARTHEST = 80.0, 500.0
"""Logarithms of the largest odds and factors whose products stay in the range of numbers."""
PART = 1_000_000
"""Pairs whose odds are made at once."""
SAFE = 30.0
"""Logarithm of the largest factor by which a stored plan is scaled; e^30 is about 10^13."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Sinkhorn's soft assignment, as potentials in units of the values.

    ``deviation`` is the largest distance of a row sum from one. Columns are divided last, so they
    sum to one. (The smaller side is padded with entities whose pairs are worth zero.) The masses
    are the row and column sums without padding: temperature times logarithm.
    """

    left: Vector
    right: Vector
    temperature: float
    iterations: int
    deviation: float
    left_mass: Vector | None = None
    right_mass: Vector | None = None

    def values(self, matrix: Matrix, rows: slice = slice(None)) -> Matrix:
        """The plan's entries for these rows of the matrix."""
        centred = matrix[rows] - self.left[rows, None] - self.right
        return np.exp(centred / usable(self.temperature)).astype(np.float32)


def sinkhorn(
    pairs: Pairs,
    *,
    temperature: float,
    iterations: int,
    progress: Callable[[float], None] | None = None,
) -> Plan:
    """The plan after so many rounds of dividing by row sums, then by column sums.

    A pair that is no candidate has no mass. Sides of unequal size are treated as if the smaller
    were padded with entities whose pairs are worth zero. A second matrix of the size of the first
    is needed while it runs.
    """
    heat = usable(temperature)
    n, m = pairs.shape
    row_sums, column_sums = _sums(pairs, heat)
    pad_left, pad_right = _Padding(max(m - n, 0), heat), _Padding(max(n - m, 0), heat)
    left, right = np.zeros(n), np.zeros(m)
    for done in range(iterations):
        left = _finite(pad_right.added(row_sums(right)))
        pad_left.update(right)
        right = _finite(pad_left.added(column_sums(left)))
        pad_right.update(left)
        # Adding to one side what is taken from the other changes nothing; small numbers lose least.
        shift = float(right.mean()) if m else 0.0
        left, right = left + shift, right - shift
        pad_left.potential += shift
        pad_right.potential -= shift
        if progress:
            progress((done + 1) / (iterations + 1))
    if not iterations:
        left = _finite(np.maximum(line_sums(lines_of_rows(pairs), right, 0.0), pad_right.term))
    rows = row_sums(right)
    with np.errstate(over="ignore"):
        deviation = np.abs(np.expm1((pad_right.added(rows) - left) / heat)).max(initial=0.0)
    masses = rows - left, column_sums(left) - right
    return Plan(left, right, temperature, iterations, float(deviation), *masses)


def usable(temperature: float) -> float:
    """The nearest temperature that float32 values can represent."""
    return min(max(temperature, COLDEST), HOTTEST)


def _finite(potentials: Vector) -> Vector:
    """An entity without pairs has no part in the plan: its potential is zero."""
    return np.where(np.isneginf(potentials), 0.0, potentials)


@dataclass
class _Padding:
    """Entities that pad one side; all alike, their pairs are worth zero."""

    count: int
    heat: float
    potential: float = 0.0

    @property
    def term(self) -> float:
        """What they add to the sum of a line of the other side."""
        return self.heat * float(np.log(self.count)) - self.potential if self.count else -np.inf

    def added(self, sums: Vector) -> Vector:
        """The sums of lines with these entities."""
        if not self.count:
            return sums
        return self.heat * np.logaddexp(sums / self.heat, self.term / self.heat)

    def update(self, others: Vector) -> None:
        """Divide the lines of these entities by their sums."""
        if self.count:
            peak = float(-others.min())
            terms = np.exp((-others - peak) / self.heat)
            self.potential = peak + self.heat * float(np.log(terms.sum()))


def _sums(pairs: Pairs, heat: float) -> tuple[Sums, Sums]:
    """Functions that give the logarithms of row sums, and of column sums."""
    if isinstance(pairs, np.ndarray):
        ceiling = max(pairs.max(initial=0), -pairs.min(initial=0))
        if pairs.size and PRECISION * ceiling < heat:
            if (device := device_in_use()) is not None:
                there = device.matrix(pairs)
                return partial(there.row_sums, heat=heat), partial(there.column_sums, heat=heat)
            plan = _StoredPlan(pairs, heat)
            return plan.row_sums, plan.column_sums
        pairs = every_pair(pairs)
    elif odds := _StoredOdds.of(pairs, heat):
        return odds.row_sums, odds.column_sums
    return (
        partial(line_sums, lines_of_rows(pairs), heat=heat),
        partial(line_sums, lines_of_columns(pairs), heat=heat),
    )


@dataclass(frozen=True, eq=False)
class _StoredOdds:
    """Candidates by left and by right entity, with exponentials of their values, made once.

    Sums for any potentials are their products with a vector of factors.
    """

    pairs: Candidates
    heat: float
    middle: float
    """What is taken from values first."""
    sides: tuple[PairsByRow, PairsByRow]

    @classmethod
    def of(cls, pairs: Candidates, heat: float) -> _StoredOdds | None:
        """The odds of the pairs; None if they leave the range of float32."""
        if not len(pairs):
            return None
        least, most = float(pairs.values.min()), float(pairs.values.max())
        middle = (least + most) / 2
        if not most - least < 2 * WIDEST * heat:
            return None
        odds = np.empty(len(pairs), dtype=np.float32)

        def raise_to(part: slice) -> None:
            odds[part] = np.exp((pairs.values[part] - np.float64(middle)) / heat)

        in_parallel(raise_to, slices(len(odds), share_of(len(odds), PART)))
        raised = pairs.with_values(odds)
        return cls(pairs, heat, middle, (lines_of_rows(raised), lines_of_columns(raised)))

    def row_sums(self, right: Vector) -> Vector:
        return self._sums(0, right)

    def column_sums(self, left: Vector) -> Vector:
        return self._sums(1, left)

    def _sums(self, side: int, potentials: Vector) -> Vector:
        logs = potentials / -self.heat
        top = float(logs.max())
        if not top - float(logs.min()) < FARTHEST:
            lines = (lines_of_rows, lines_of_columns)[side](self.pairs)
            return line_sums(lines, potentials, self.heat)
        lines, factors = self.sides[side], np.exp(logs - top)
        sums = np.empty(len(lines.starts) - 1)

        def part(rows: slice) -> None:
            weighted_sums(*lines, factors, rows.start, rows.stop, sums)

        in_parallel(part, lines.parts())
        with np.errstate(divide="ignore"):  # an entity without pairs
            scaled: Vector = self.heat * (np.log(sums) + top) + self.middle
        return scaled


class _StoredPlan:
    """A plan over a whole matrix, which is scaled.

    Exponentials are expensive and products are cheap. The plan exp((X - a - b) / heat) is stored
    once; the sums for other potentials are its products with a vector of factors, until these
    leave the range in which float32 is safe.
    """

    left: Vector
    right: Vector

    def __init__(self, matrix: Matrix, heat: float) -> None:
        self.matrix, self.heat = matrix, heat
        self.plan: Matrix | None = None
        self.left, self.right = np.zeros(matrix.shape[0]), np.zeros(matrix.shape[1])

    def row_sums(self, right: Vector) -> Vector:
        if self.plan is not None:
            sums: Vector = self.left + _scaled(self.plan, self.right - right, self.heat)
            if np.isfinite(sums).all():
                return sums
        self._store(right)
        return self.left

    def column_sums(self, left: Vector) -> Vector:
        assert self.plan is not None, "rows come first"
        sums = self.right + _scaled(self.plan.T, self.left - left, self.heat)
        lost = np.flatnonzero(~np.isfinite(sums))
        for part in slices(len(lost), 256):
            columns = np.ascontiguousarray(self.matrix[:, lost[part]].T)
            sums[lost[part]] = line_sums(lines_of_rows(columns), left, self.heat)
        return sums

    def _store(self, right: Vector) -> None:
        """Store the plan for these right potentials, and left ones such that rows sum to one."""
        self.left, self.right = np.empty(len(self.left)), right
        plan = self.plan = np.empty_like(self.matrix) if self.plan is None else self.plan
        single = right.astype(np.float32)
        ones = np.ones(self.matrix.shape[1], dtype=np.float32)

        def tile(rows: slice) -> None:
            entries = np.subtract(self.matrix[rows], single, out=plan[rows])
            peaks = entries.max(axis=1)
            entries -= peaks[:, None]
            entries *= np.float32(1 / self.heat)
            np.exp(entries, out=entries)
            sums = entries @ ones
            entries *= (1 / sums)[:, None]
            self.left[rows] = peaks + self.heat * np.log(sums, dtype=np.float64)

        in_parallel(tile, row_blocks(self.matrix.shape, TILE_BYTES))


def _scaled(plan: Matrix, logs: Vector, heat: float) -> Vector:
    """heat * ln(plan @ exp(logs / heat)); not finite where float32 is not safe."""
    logs = logs / heat
    # Sums are free up to a constant factor; the middle of the range is the safest.
    shift = (logs.max() + logs.min()) / 2
    span = logs.max() - shift
    if not span < SAFE:
        return np.full(len(plan), np.nan)
    sums = (plan @ np.exp(logs - shift).astype(np.float32)).astype(np.float64)
    sums[sums <= TINY * np.exp(span)] = np.nan
    scaled: Vector = heat * (np.log(sums) + shift)
    return scaled
