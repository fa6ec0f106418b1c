"""Values of pairs of entities, computed by blocks of left entities on any engine.

Where both sides do not fit on a worker at once, they come in tiles. A pair has the same value
whatever the blocks and tiles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sameas.compute.arrays import Matrix, Positions, Progress
from sameas.compute.parallel import even_slices, map_blocks, room, share_of, slices
from sameas.compute.rows import Rows, starts_in

PAIRS = 200_000
"""The most pairs whose values are computed at once."""

Block: TypeAlias = tuple[slice, Positions, NDArray[np.integer]]
"""Some left entities, where the pairs of each start, and the right entities of these pairs."""


class Side(Protocol):
    """What is known of the entities of one side."""

    def __len__(self) -> int:
        """The number of entities."""
        ...

    @property
    def nbytes(self) -> int:
        """The bytes of its arrays."""
        ...

    def part(self, which: slice) -> Any:
        """The same of successive entities."""
        ...


@dataclass(frozen=True, eq=False)
class NamedRows:
    """Rows of which entity i has those at starts[i]:starts[i + 1]."""

    rows: Rows
    starts: Positions

    def __len__(self) -> int:
        """The number of entities."""
        return len(self.starts) - 1

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays."""
        return self.rows.nbytes + self.starts.nbytes

    def part(self, which: slice) -> NamedRows:
        """Successive entities and their rows."""
        starts, rows = starts_in(self.starts, which)
        return NamedRows(self.rows.part(rows), starts)


def values_of_partners(
    work: Callable[[Block, Any, Any], Matrix],
    left: Side,
    right: Side,
    starts: Positions,
    partners: NDArray[np.integer],
    progress: Progress | None = None,
) -> Matrix:
    """The values of left entity i with partners[starts[i]:starts[i + 1]], for every i.

    ``work`` gives those of a block; the positions in it are those in the two sides it is given.
    """
    values = np.empty(len(partners), dtype=np.float32)
    for rows, ours in _tiles(left):
        inner, pairs = starts_in(starts, rows)
        for columns, theirs in _tiles(right):
            some, which = partners[pairs], None
            if theirs is not right:
                which = (some >= columns.start) & (some < columns.stop)
                some = some[which] - some.dtype.type(columns.start)
            ends = inner if which is None else np.append(0, np.cumsum(which))[inner]
            values_there = _by_blocks(work, ours, theirs, ends, some)
            values[pairs if which is None else pairs.start + np.flatnonzero(which)] = values_there
            if progress:
                progress(pairs.stop / max(len(partners), 1))
    return values


def _tiles(side: Side) -> Iterator[tuple[slice, Any]]:
    """Successive entities of a side that fit on a worker beside as many of the other side."""
    count = -(-2 * side.nbytes // room())
    if count < 2:
        yield slice(0, len(side)), side
        return
    for which in slices(len(side), -(-len(side) // count)):
        yield which, side.part(which)


def _by_blocks(
    work: Callable[[Block, Any, Any], Matrix],
    left: Any,
    right: Any,
    starts: Positions,
    partners: NDArray[np.integer],
) -> Matrix:
    values = np.empty(len(partners), dtype=np.float32)

    def take(rows: slice) -> Block:
        ends, pairs = starts_in(starts, rows)
        return rows, ends, partners[pairs]

    share = share_of(len(partners), PAIRS)
    for rows, values_there in map_blocks(work, even_slices(starts, share), take, left, right):
        values[starts_in(starts, rows)[1]] = values_there
    return values
