"""Character n-grams of names, counted within words, for all entities at once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from sameas.compute.arrays import Positions, Sparse
from sameas.compute.rows import Rows, as_rows, unit
from sameas.text.folding import by_blocks, few_texts, text_blocks

SEPARATOR = ord("\n")
SPACE = ord(" ")
CODE_POINTS = 2**21
TABLE = 2**24
"""Numbers up to this are looked up in a table, which is much faster than sorting them, unless
the table is much larger than they are many."""
SPARSE = 32
_SPACES = str.maketrans("\t\n\v\f\r", " " * 5)
"""White space of ASCII."""


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
    digits, alphabet = _numbered(np.concatenate(ngrams))
    numbers, distinct = _numbered(_keys(digits, len(alphabet)))
    width, ends = len(distinct), np.cumsum([block.shape[1] for block in blocks])
    for block, numbers_of_block in zip(blocks, np.split(numbers, ends[:-1]), strict=True):
        block.indices = numbers_of_block[block.indices]
        block.resize((block.shape[0], width))
    counts = csr_array(vstack(blocks, format="csr"))
    if rarity:
        present = np.bincount(counts.indices, minlength=width)
        counts.data *= np.log(max(len(names), 2) / present).astype(np.float32)[counts.indices]
    return unit(as_rows(counts))


def _counted(names: pl.Series, n: int, boundaries: bool) -> tuple[Sparse, NDArray[np.uint32]]:
    """Counts of n-grams, and the n-gram of each column, ascending, as a row of code points."""
    letters, rows = _characters(names, " " if boundaries else "")
    if len(letters) < n:
        return csr_array((len(names), 0), dtype=np.float32), np.zeros((0, n), dtype=np.uint32)
    count = len(letters) - n + 1
    in_word = (letters != SPACE) & (letters != SEPARATOR)
    # By places, since to go through many short rows takes long.
    places = [in_word[place : place + count] for place in range(n)]
    if boundaries:  # a space may be at either end
        within = np.logical_and.reduce(places[1:-1]) if n > 2 else np.logical_or.reduce(places)
        inside = within & (letters[:count] != SEPARATOR) & (letters[n - 1 :] != SEPARATOR)
    else:
        inside = np.logical_and.reduce(places)
    digits, alphabet = _numbered(letters)
    keys = _keys(np.lib.stride_tricks.sliding_window_view(digits, n), len(alphabet))
    columns, distinct = _numbered(keys[inside])
    counts = csr_array(
        (np.ones(len(columns), dtype=np.float32), (rows[:count][inside], columns)),
        shape=(len(names), len(distinct)),
    )
    counts.sum_duplicates()
    powers = [len(alphabet) ** (n - 1 - place) for place in range(n)]
    ngrams = [alphabet[distinct // power % len(alphabet)] for power in powers]
    return counts, np.stack(ngrams, axis=1).astype(np.uint32)


def _keys(digits: NDArray[np.integer], base: int) -> NDArray[np.int64]:
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
    """Each trigram as a number of three code points, ascending."""
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

    def entries(self, text: str) -> tuple[Positions, NDArray[np.float32]]:
        """The row of one text of ASCII letters, as ``rows`` gives it: columns and values."""
        plain = f" {text.translate(_SPACES).lower()} "
        ends = (place for place in range(2, len(plain)) if plain[place - 1] != " ")
        counts = Counter(plain[end - 2 : end + 1] for end in ends)
        ngrams = sorted(counts)
        if not ngrams or not len(self.numbers):
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)
        letters = np.frombuffer("".join(ngrams).encode(), dtype=np.uint8).astype(np.int64)
        numbers = _keys(letters.reshape(-1, 3), CODE_POINTS)
        columns = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        known = self.numbers[columns] == numbers
        values = np.array([counts[ngram] for ngram in ngrams], dtype=np.float32)
        values *= np.where(known, self.weights[columns], self.unknown)
        norm = np.sqrt(np.cumsum(values.astype(np.float64) ** 2)[-1])  # added one by one
        values *= np.float32(1 / norm if norm > 1e-30 else 0)
        return columns[known], values[known]

    def _block(self, texts: pl.Series) -> Sparse:
        counts, ngrams = _counted(texts, 3, True)
        numbers = _keys(ngrams, CODE_POINTS)
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
    numbers = [_keys(ngrams, CODE_POINTS) for _, ngrams in parts]
    present = [np.bincount(counts.indices, minlength=counts.shape[1]) for counts, _ in parts]
    none = np.zeros(0, dtype=np.int64)
    distinct, columns = np.unique(np.concatenate([*numbers, none]), return_inverse=True)
    names_with = np.bincount(columns, np.concatenate([*present, none]), len(distinct))
    weights = np.log((len(names) + 1) / names_with).astype(np.float32)
    return Trigrams(distinct, weights, np.float32(np.log(len(names) + 1)))


def ngrams_of(name: str, *, n: int = 2, boundaries: bool = False) -> list[str]:
    """The distinct n-grams of one name, in the order of their columns.

    >>> ngrams_of("Ann a", n=3, boundaries=True)
    [' a ', ' an', 'ann', 'nn ']
    """
    _, ngrams = _counted(pl.Series([name]), n, boundaries)
    return ["".join(map(chr, ngram)) for ngram in ngrams.tolist()]


def _numbered(values: NDArray[np.integer]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The place of each value among the distinct ones, and those, ascending."""
    most = int(values.max(initial=0)) + 1
    if most > min(TABLE, SPARSE * values.size):
        distinct, numbers = np.unique(values, return_inverse=True)
        return numbers.astype(np.int32), distinct.astype(np.int64)
    there = np.zeros(most, dtype=np.bool_)
    there[values] = True
    table = np.cumsum(there, dtype=np.int32) - np.int32(1)
    return table[values], np.flatnonzero(there)


def _characters(names: pl.Series, around: str) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
    """The code points of all names, each closed by a separator; and the row of each of them.

    ``around`` is put before and after each name.
    """
    between = f"{around}\n{around}"
    texts = few_texts(names)
    if texts is not None and all(text.isascii() for text in texts):
        joined = between.join(text.translate(_SPACES).lower() for text in texts)
    else:
        plain = names.fill_null("").str.replace_all(r"\s", " ").str.to_lowercase()
        joined = plain.str.join(between).item() or ""
    text = f"{around}{joined}{around}\n"
    letters = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
    ends = letters == SEPARATOR
    return letters, np.cumsum(ends, dtype=np.int32) - ends
