"""Comparisons that are remembered, so that no pair is compared twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sameas.compute.arrays import Mask, Numbers, Positions, Vector
from sameas.compute.parallel import in_parallel, in_turn, share_of, slices
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
        places = _places(known.keys, wanted)
        missing = known.keys[places] != wanted
        if missing.any():
            known = self._known = self._with_new(known, distinct([wanted[missing]]))
            places = _places(known.keys, wanted)
        return known, places

    def _with_new(self, known: Compared | None, new: Positions) -> Compared:
        """What is known, and these pairs, ascending, none of which was compared before."""
        fresh = self._compared(new)
        if known is None:
            return Compared(np.append(new, np.iinfo(np.int64).max), fresh)
        is_new = np.zeros(len(new) + len(known.keys), dtype=np.bool_)
        is_new[_places(known.keys, new) + np.arange(len(new))] = True
        keys = _merged(is_new, new, known.keys)
        every = zip(fresh, known.rows, strict=True)
        return Compared(keys, tuple(_merged(is_new[:-1], *arrays) for arrays in every))

    def _compared(self, numbers: Positions) -> tuple[NDArray[Any], ...]:
        """The rows of these pairs, written block by block to where they stay."""

        def compare(part: slice) -> tuple[NDArray[Any], ...]:
            return self.compare(*np.divmod(numbers[part], self.width))

        size = share_of(len(numbers), AT_ONCE)
        if len(numbers) <= size:
            return compare(slice(0, len(numbers)))
        parts, rows = list(slices(len(numbers), size)), tuple[NDArray[Any], ...]()
        for part, found in zip(parts, in_turn(compare, parts), strict=True):
            rows = rows or tuple(
                np.empty((len(numbers), *each.shape[1:]), dtype=each.dtype) for each in found
            )
            for out, each in zip(rows, found, strict=True):
                out[part] = each
        return rows


def _places(keys: Positions, wanted: Positions) -> Positions:
    """Where numbers are among sorted keys, or would have to be put."""
    places = np.empty(len(wanted), dtype=np.int64)

    def find(part: slice) -> None:
        places[part] = np.searchsorted(keys, wanted[part])

    in_parallel(find, slices(len(wanted), share_of(len(wanted), AT_ONCE)))
    return places


def _merged(is_new: Mask, new: NDArray[Any], old: NDArray[Any]) -> NDArray[Any]:
    """New and old rows together; ``is_new`` says which places are those of new ones."""
    rows = np.empty((len(is_new), *old.shape[1:]), dtype=old.dtype)
    rows[is_new], rows[~is_new] = new, old
    return rows
