"""What was found out about pairs, so that no pair is compared twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sameas.graph import Positions

Numbers = NDArray[np.integer]
Compare = Callable[[Positions, Positions], tuple[NDArray[Any], ...]]

AT_ONCE = 200_000
"""Pairs that are compared at once."""


@dataclass(eq=False)
class Memory:
    """Remembers what ``compare`` returns: arrays with one row per pair."""

    compare: Compare
    width: int
    """The number of right entities."""
    _keys: Positions = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    _found: tuple[NDArray[Any], ...] = ()

    def of(self, left: Numbers, right: Numbers) -> tuple[NDArray[Any], ...]:
        """The rows of these pairs; only new ones are compared."""
        wanted = left * np.int64(self.width) + right
        new = np.sort(wanted[~self._knows(wanted)])
        new = new[np.diff(new, prepend=-1) > 0]
        parts = [self.compare(new[:0], new[:0])]
        for start in range(0, len(new), AT_ONCE):
            parts.append(self.compare(*np.divmod(new[start : start + AT_ONCE], self.width)))
        found = [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
        if len(new):
            keys = np.concatenate([self._keys, new])
            order = np.argsort(keys, kind="stable")
            before = self._found or tuple(array[:0] for array in found)
            pairs = zip(before, found, strict=True)
            self._found = tuple(np.concatenate(arrays)[order] for arrays in pairs)
            self._keys = keys[order]
        places = np.searchsorted(self._keys, wanted)
        return tuple(array[places] for array in self._found or found)

    def _knows(self, wanted: Positions) -> NDArray[np.bool_]:
        """Which pairs were compared before; faster than set operations, as keys are sorted."""
        if not len(self._keys):
            return np.zeros(len(wanted), dtype=np.bool_)
        places = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        known: NDArray[np.bool_] = self._keys[places] == wanted
        return known
