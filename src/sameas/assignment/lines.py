"""The pairs of an assignment problem by rows and by columns, as the kernels take them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sameas.candidates import Candidates, Indices
from sameas.graph import Positions
from sameas.kernels import log_sums
from sameas.parallel import even_slices, in_parallel
from sameas.rows import Matrix

Vector: TypeAlias = NDArray[np.float64]
Pairs: TypeAlias = Matrix | Candidates
"""The pairs that count, with their values: all of a matrix, or candidates."""

PART = 400_000
"""Pairs treated at once."""


class Lines(NamedTuple):
    """Pairs by row or by column, as the kernels take them; ``others`` is None for a matrix."""

    starts: Positions
    others: Indices | None
    values: Matrix

    def parts(self) -> Iterator[slice]:
        """Slices of lines that hold about the same number of pairs."""
        return even_slices(self.starts, PART)

    def positions(self, places: Positions) -> tuple[Positions, Positions]:
        """The line of each place, and its position on the other side."""
        lines = np.searchsorted(self.starts, places, side="right") - 1
        if self.others is None:
            return lines, places - self.starts[lines]
        return lines, self.others[places].astype(np.int64)


def rows_of(pairs: Pairs) -> Lines:
    """The pairs by left entity."""
    if isinstance(pairs, Candidates):
        return Lines(pairs.starts, pairs.right, pairs.values)
    starts = np.arange(len(pairs) + 1, dtype=np.int64) * pairs.shape[1]
    return Lines(starts, None, np.ascontiguousarray(pairs).reshape(-1))


def columns_of(pairs: Candidates) -> Lines:
    """The pairs by right entity."""
    starts, order = pairs.by_right
    return Lines(starts, pairs.left[order], pairs.values[order])


def line_sums(lines: Lines, potentials: Vector, heat: float) -> Vector:
    """heat * ln(sum of exp((value - potential) / heat)) of each line; its maximum for no heat."""
    sums = np.empty(len(lines.starts) - 1)

    def part(rows: slice) -> None:
        log_sums(*lines, potentials, heat, rows.start, rows.stop, sums)

    in_parallel(part, lines.parts())
    return sums
