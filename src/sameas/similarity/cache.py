"""Comparisons that are remembered, so that no pair is compared twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sameas.compute.arrays import Numbers, Positions, Vector
from sameas.compute.parallel import in_parallel
from sameas.compute.topk import distinct

Terms = Callable[[Numbers, Numbers], Vector]
"""Gives the log-odds of pairs (left, right) in one or more terms, shape (pairs, terms)."""
Compare = Callable[[Positions, Positions], tuple[NDArray[Any], ...]]

AT_ONCE = 100_000
"""Pairs that are compared at once."""


@dataclass(frozen=True, eq=False)
class Compared:
    """Pairs that were compared, and the rows of each."""

    keys: Positions
    """The numbers left * width + right, ascending, and a last number that no pair has."""
    rows: tuple[NDArray[Any], ...]


@dataclass(eq=False)
class PairCache:
    """The function ``compare``, which gives arrays with one row per pair, with a memory."""

    compare: Compare
    width: int
    """The number of right entities."""
    _known: Compared | None = None
    """Replaced as a whole: threads may ask at the same time."""

    def remember(self, left: Numbers, right: Numbers) -> None:
        """Compare those of these pairs that are new."""
        self._find(left, right)

    def __call__(self, left: Numbers, right: Numbers) -> tuple[NDArray[Any], ...]:
        """The rows of these pairs; only new ones are compared."""
        known, places = self._find(left, right)
        return tuple(array[places] for array in known.rows)

    def _find(self, left: Numbers, right: Numbers) -> tuple[Compared, Positions]:
        """All that was compared, these pairs too, and where they are in it."""
        wanted: Positions = left * np.int64(self.width) + right
        known = self._known
        if known is None:
            known = self._known = self._with_new(None, distinct([wanted]))
        # Keys are sorted, so that this is faster than set operations.
        places = np.searchsorted(known.keys, wanted)
        missing = known.keys[places] != wanted
        if missing.any():
            known = self._known = self._with_new(known, distinct([wanted[missing]]))
            places = np.searchsorted(known.keys, wanted)
        return known, places

    def _with_new(self, known: Compared | None, new: Positions) -> Compared:
        """What is known, and these pairs, ascending, none of which was compared before."""
        blocks = np.array_split(new, max(-(-len(new) // AT_ONCE), 1))
        parts = in_parallel(lambda block: self.compare(*np.divmod(block, self.width)), blocks)
        if known is None:
            none = np.iinfo(np.int64).max
            return Compared(
                np.append(new, none), tuple(map(np.concatenate, zip(*parts, strict=True)))
            )
        keys = np.concatenate([new, known.keys])
        order = np.argsort(keys, kind="stable")
        every = zip(*parts, known.rows, strict=True)
        rows = tuple(np.concatenate(arrays)[order[:-1]] for arrays in every)
        return Compared(keys[order], rows)
