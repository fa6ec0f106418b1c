"""Character n-grams of names, counted within words, for all entities at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from sameas.features.folding import by_blocks, text_blocks
from sameas.rows import Rows, Sparse, as_rows, unit

Counted: TypeAlias = tuple[Sparse, NDArray[np.uint32]]

SEPARATOR = ord("\n")
SPACE = ord(" ")
TABLE = 2**24
"""Numbers up to this are looked up in a table, which is much faster than sorting them, unless
the table is much larger than they are many."""
SPARSE = 32


def ngram_rows(
    names: pl.Series, *, n: int = 2, boundaries: bool = False, rarity: bool = False
) -> Rows:
    """Counts of the character n-grams of each name, as unit rows; shape (len(names), vocabulary).

    N-grams do not cross words, and letter case does not count. A name without any n-gram gets
    a row of zeros. To compare two sides, count both in one call: columns are the n-grams of all
    names, in order of code points. With ``boundaries`` the space before and after a word may
    begin or end an n-gram; with ``rarity`` counts are weighted by ln(names / names that have it).
    """
    parts = by_blocks(_counted, names, n, boundaries)
    if not parts:
        return as_rows(csr_array((0, 0), dtype=np.float32))
    blocks, ngrams = zip(*parts, strict=True)
    places, width = _places(np.concatenate(ngrams))
    ends = np.cumsum([block.shape[1] for block in blocks])
    for block, own in zip(blocks, np.split(places, ends[:-1]), strict=True):
        block.indices = own[block.indices]
        block.resize((block.shape[0], width))
    counts = csr_array(vstack(blocks, format="csr"))
    if rarity:
        present = np.bincount(counts.indices, minlength=width)
        counts.data *= np.log(max(len(names), 2) / present).astype(np.float32)[counts.indices]
    return unit(as_rows(counts))


def _counted(names: pl.Series, n: int, boundaries: bool) -> Counted:
    """Counts of n-grams, and the n-gram of each column as a row of code points."""
    letters, rows = _characters(names, around=" " if boundaries else "")
    if len(letters) < n:
        return csr_array((len(names), 0), dtype=np.float32), np.zeros((0, n), dtype=np.uint32)
    windows = np.lib.stride_tricks.sliding_window_view(letters, n)
    inside = _inside(windows, boundaries=boundaries)
    digits, alphabet = _numbered(letters)
    keys = _keys(np.lib.stride_tricks.sliding_window_view(digits, n), len(alphabet))
    columns, distinct = _numbered(keys[inside])
    counts = csr_array(
        (np.ones(len(columns), dtype=np.float32), (rows[: len(windows)][inside], columns)),
        shape=(len(names), len(distinct)),
    )
    counts.sum_duplicates()
    powers = [len(alphabet) ** (n - 1 - place) for place in range(n)]
    ngrams = [alphabet[distinct // power % len(alphabet)] for power in powers]
    return counts, np.stack(ngrams, axis=1).astype(np.uint32)


def _places(ngrams: NDArray[np.uint32]) -> tuple[NDArray[np.int32], int]:
    """The place of each n-gram among the distinct ones in order, and how many those are."""
    digits, alphabet = _numbered(ngrams)
    places, distinct = _numbered(_keys(digits, len(alphabet)))
    return places, len(distinct)


def _keys(digits: NDArray[np.int32], base: int) -> NDArray[np.int64]:
    """Each row of digits as a number; 64 bits hold three letters of any script, four of most."""
    keys = np.zeros(len(digits), dtype=np.int64)
    for column in digits.T:
        keys *= base
        keys += column
    return keys


@dataclass(frozen=True, eq=False)
class Trigrams:
    """The trigrams of a set of names, to count those of other texts in the same columns."""

    numbers: NDArray[np.int64]
    """Each trigram as a number, ascending: 21 bits a letter."""
    weights: NDArray[np.float32]
    """How rare each is: ln((names + 1) / names that have it), above zero."""
    unknown: np.float32
    """The weight of a trigram that no name has."""

    def rows(self, texts: pl.Series) -> Sparse:
        """The trigrams of each text weighted by rarity; shape (len(texts), trigrams).

        Rows have length one, but trigrams that no name has are left out after that.
        """
        parts = [self._block(texts[block]) for block in text_blocks(texts)]
        empty = csr_array((0, len(self.numbers)), dtype=np.float32)
        return csr_array(vstack(parts or [empty], format="csr"))

    def _block(self, texts: pl.Series) -> Sparse:
        counts, ngrams = _counted(texts, 3, True)
        numbers = _packed(ngrams)
        columns = np.searchsorted(self.numbers, numbers).astype(np.int32)
        known = np.append(self.numbers, -1)[columns] == numbers
        weights = np.where(known, np.append(self.weights, 0)[columns], self.unknown)
        counts.data *= weights[counts.indices].astype(np.float32)
        rows = unit(as_rows(counts)).sparse
        kept = known[rows.indices]
        ends = np.append(0, np.cumsum(kept))[rows.indptr]
        return csr_array(
            (rows.data[kept], columns[rows.indices[kept]], ends),
            shape=(len(texts), len(self.numbers)),
        )


def trigrams_of_all(names: pl.Series) -> Trigrams:
    """The trigrams of names within words, word boundaries included, with how rare each is."""
    parts = by_blocks(_counted, names, 3, True)
    numbers = [_packed(ngrams) for _, ngrams in parts]
    present = [np.bincount(counts.indices, minlength=counts.shape[1]) for counts, _ in parts]
    none = np.zeros(0, dtype=np.int64)
    distinct, places = np.unique(np.concatenate([*numbers, none]), return_inverse=True)
    names_with = np.bincount(places, np.concatenate([*present, none]), len(distinct))
    weights = np.log((len(names) + 1) / names_with).astype(np.float32)
    return Trigrams(distinct, weights, np.float32(np.log(len(names) + 1)))


def _packed(trigrams: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Each row of three code points as one number; a code point takes 21 bits."""
    first, second, third = trigrams.astype(np.int64).T
    numbers: NDArray[np.int64] = (first << 42) | (second << 21) | third
    return numbers


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


def _numbered(values: NDArray[np.integer]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The place of each value among the distinct ones, and those, ascending."""
    most = int(values.max(initial=0)) + 1
    if most > min(TABLE, SPARSE * values.size):
        distinct, places = np.unique(values, return_inverse=True)
        return places.astype(np.int32), distinct.astype(np.int64)
    there = np.zeros(most, dtype=np.bool_)
    there[values] = True
    table = np.cumsum(there, dtype=np.int32) - np.int32(1)
    return table[values], np.flatnonzero(there)


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
