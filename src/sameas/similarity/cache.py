"""Comparisons that are remembered, so that no pair is compared twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sameas.compute.arrays import Numbers, Positions, Vector

Terms = Callable[[Numbers, Numbers], Vector]
"""Gives the log-odds of pairs (left, right) in one or more terms, shape (pairs, terms)."""
Compare = Callable[[Positions, Positions], tuple[NDArray[Any], ...]]

AT_ONCE = 200_000
"""Pairs that are compared at once."""


@dataclass(eq=False)
class PairCache:
    """The function ``compare``, which gives arrays with one row per pair, with a memory."""

    compare: Compare
    width: int
    """The number of right entities."""
    _keys: Positions = field(default_factory=lambda: np.array([np.iinfo(np.int64).max]))
    """The pairs that were compared, ascending, and a last number that no pair has."""
    _found: tuple[NDArray[Any], ...] = ()

    def remember(self, left: Numbers, right: Numbers) -> Positions:
        """Compare those of these pairs that are new; gives the numbers of all."""
        wanted: Positions = left * np.int64(self.width) + right
        # Keys are sorted, so that this is faster than set operations.
        new = np.unique(wanted[self._keys[np.searchsorted(self._keys, wanted)] != wanted])
        if len(new) or not self._found:
            blocks = np.array_split(new, max(-(-len(new) // AT_ONCE), 1))
            parts = [self.compare(*np.divmod(block, self.width)) for block in blocks]
            keys = np.concatenate([new, self._keys])
            order = np.argsort(keys, kind="stable")
            every = zip(*parts, *([self._found] if self._found else []), strict=True)
            self._found = tuple(np.concatenate(arrays)[order[:-1]] for arrays in every)
            self._keys = keys[order]
        return wanted

    def __call__(self, left: Numbers, right: Numbers) -> tuple[NDArray[Any], ...]:
        """The rows of these pairs; only new ones are compared."""
        wanted = self.remember(left, right)
        indices = np.searchsorted(self._keys, wanted)
        return tuple(array[indices] for array in self._found)
