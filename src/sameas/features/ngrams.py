"""Character n-grams of names, counted within words, for all entities at once."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sameas.rows import Rows, as_rows, unit

SEPARATOR = ord("\n")
SPACE = ord(" ")
TABLE = 2**24
"""Numbers up to this are looked up in a table, which is much faster than sorting them."""


def ngram_rows(
    names: pl.Series, *, n: int = 2, boundaries: bool = False, rarity: bool = False
) -> Rows:
    """Counts of the character n-grams of each name, as unit rows; shape (len(names), vocabulary).

    N-grams do not cross words, and letter case does not count. A name without any n-gram gets
    a row of zeros. To compare two sides, count both in one call: columns are the n-grams of all
    names, in order of code points. With ``boundaries`` the space before and after a word may
    begin or end an n-gram; with ``rarity`` counts are weighted by ln(names / names that have it).
    """
    letters, rows = _characters(names, around=" " if boundaries else "")
    windows = np.lib.stride_tricks.sliding_window_view(letters, min(n, len(letters)))
    inside = _inside(windows, boundaries=boundaries)
    if len(letters) < n or not inside.any():
        return as_rows(csr_array((len(names), 0), dtype=np.float32))
    digits, alphabet = _numbered(letters)
    keys = np.zeros(len(windows), dtype=np.int64)
    for offset in range(n):  # in base |alphabet|: 64 bits hold n = 3 in any script
        keys *= alphabet
        keys += digits[offset : offset + len(windows)]
    columns, vocabulary = _numbered(keys[inside])
    counts = csr_array(
        (np.ones(len(columns), dtype=np.float32), (rows[: len(windows)][inside], columns)),
        shape=(len(names), vocabulary),
    )
    counts.sum_duplicates()
    if rarity:
        present = np.bincount(counts.indices, minlength=vocabulary)
        counts.data *= np.log(max(len(names), 2) / present).astype(np.float32)[counts.indices]
    return unit(as_rows(counts))


def ngrams_of(name: str, *, n: int = 2, boundaries: bool = False) -> list[str]:
    """The distinct n-grams of one name, in the order of their columns.

    >>> ngrams_of("Ann a", n=3, boundaries=True)
    [' a ', ' an', 'ann', 'nn ']
    """
    letters, _ = _characters(pl.Series([name]), around=" " if boundaries else "")
    if len(letters) < n:
        return []
    windows = np.lib.stride_tricks.sliding_window_view(letters, n)
    chosen = windows[_inside(windows, boundaries=boundaries)]
    return ["".join(map(chr, window)) for window in sorted(set(map(tuple, chosen.tolist())))]


def _inside(windows: NDArray[np.uint32], *, boundaries: bool) -> NDArray[np.bool_]:
    """Which windows are n-grams: all letters, or letters with a space at either end."""
    letters = (windows != SPACE) & (windows != SEPARATOR)
    inside: NDArray[np.bool_] = letters.all(axis=1)
    if boundaries:
        ends = (windows[:, 0] != SEPARATOR) & (windows[:, -1] != SEPARATOR)
        inside = letters[:, 1:-1].all(axis=1) & letters.any(axis=1) & ends
    return inside


def _numbered(values: NDArray[np.integer]) -> tuple[NDArray[np.int32], int]:
    """The place of each value among the distinct ones in order, and how many those are."""
    most = int(values.max(initial=0)) + 1
    if most > TABLE:
        distinct, places = np.unique(values, return_inverse=True)
        return places.astype(np.int32), len(distinct)
    there = np.zeros(most, dtype=np.bool_)
    there[values] = True
    table = np.cumsum(there, dtype=np.int32) - np.int32(1)
    return table[values], int(there.sum())


def _characters(
    names: pl.Series, *, around: str = ""
) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
    """The code points of all names, each closed by a separator; and the row of each of them.

    ``around`` is put before and after each name.
    """
    between = f"{around}\n{around}"
    plain = names.fill_null("").str.replace_all(r"\s", " ").str.to_lowercase()
    text = f"{around}{plain.str.join(between).item() or ''}{around}\n"
    letters = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
    ends = letters == SEPARATOR
    rows = np.cumsum(ends, dtype=np.int32) - ends
    return letters, rows
