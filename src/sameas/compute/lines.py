"""Lines: pairs by row, four bytes each where a number row * width + column takes eight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sameas.compute.arrays import Indices, Positions
from sameas.compute.parallel import even_slices, in_turn
from sameas.compute.rows import starts_in
from sameas.compute.topk import distinct

PART = 2_000_000
"""Pairs that are put together at once."""


@dataclass(frozen=True, eq=False)
class Lines:
    """Pairs of a row and a column: those of row i are ``columns[starts[i]:starts[i + 1]]``."""

    starts: Positions
    columns: Indices

    def numbers(self, width: int) -> Positions:
        """The pairs as numbers row * width + column."""
        return self._numbers(slice(0, len(self.starts) - 1), width)

    def _numbers(self, rows: slice, width: int) -> Positions:
        """Those of some rows, numbered from zero."""
        ends, entries = starts_in(self.starts, rows)
        numbers = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
        numbers *= width
        numbers += self.columns[entries]
        return numbers


def lines_of(numbers: Positions, shape: tuple[int, int]) -> Lines:
    """Numbers row * width + column, ascending, as pairs by row."""
    width = np.int64(max(shape[1], 1))
    starts = np.searchsorted(numbers, np.arange(shape[0] + 1) * width)
    return Lines(starts, (numbers % width).astype(np.int32))


def union_of(found: Sequence[Lines], width: int) -> Lines:
    """The pairs of any of several, each once, columns ascending; done by parts of the rows."""
    size = len(found[0].starts) - 1
    every, starts = np.zeros((2, size + 1), dtype=np.int64)
    for lines in found:
        every += lines.starts
    # Room for all; memory that is never written to is never taken from the system.
    columns = np.empty(int(every[-1]), dtype=np.int32)

    def joined(rows: slice) -> tuple[slice, Lines]:
        numbers = distinct([lines._numbers(rows, width) for lines in found])
        return rows, lines_of(numbers, (rows.stop - rows.start, width))

    for rows, lines in in_turn(joined, even_slices(every, PART)):
        begin = int(starts[rows.start])
        columns[begin : begin + len(lines.columns)] = lines.columns
        starts[rows.start : rows.stop + 1] = begin + lines.starts
    columns.resize(int(starts[-1]), refcheck=False)
    return Lines(starts, columns)
