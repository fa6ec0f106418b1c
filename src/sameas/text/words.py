"""Word vectors, and the mean over each name's words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from sameas.compute.arrays import Matrix
from sameas.compute.parallel import slices
from sameas.compute.rows import Rows, as_rows, unit
from sameas.errors import OptionError
from sameas.text.embeddings import single_precision

EDGES = "\"'.,;:!?()[]{}«»“”‘’…·-–—/"

NAMES_AT_ONCE = 200_000
"""Names whose phrases are written out at once."""


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Vectors of words; ``vectors`` has shape (len(words), dimension)."""

    words: pl.Series
    vectors: Matrix
    source: str

    @property
    def description(self) -> str:
        """Where the vectors are from, and how long they are."""
        return f"{self.source}, {self.vectors.shape[1]} dimensions"

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any], words: pl.Series) -> WordVectors:
        """The vectors of these words, from a mapping of words to sequences of numbers."""
        known = [word for word in words.unique(maintain_order=True) if word in mapping]
        rows: list[Matrix] = []
        for word in known:
            try:
                row = single_precision(np.asarray(mapping[word], dtype=np.float64))
            except (ValueError, TypeError):
                row = np.zeros(0, dtype=np.float32)
            if row.ndim != 1 or not len(row) or len(row) != len(rows[0] if rows else row):
                raise OptionError(
                    "`word_vectors` must have as many numbers for each word, the vector of "
                    f"{word!r} is different"
                )
            if not np.isfinite(row).all():
                raise OptionError(f"`word_vectors` must be finite, that of {word!r} is not")
            rows.append(row)
        if not rows:
            raise OptionError("`word_vectors` must have vectors of words in names, got none")
        return cls(pl.Series("word", known, dtype=pl.String), np.stack(rows), "a mapping")


def words_of(names: pl.Series) -> pl.DataFrame:
    """Every word of every name, in lower case: a table of ``row`` (position of the name), ``word``.

    >>> words_of(pl.Series(["New York", "Paris,"]))["word"].to_list()
    ['new', 'york', 'paris']
    """
    return (
        pl.DataFrame({"row": np.arange(len(names)), "word": names.fill_null("").str.to_lowercase()})
        .with_columns(pl.col("word").str.replace_all(r"\s+", " ").str.split(" "))
        .explode("word")
        .with_columns(pl.col("word").str.strip_chars(EDGES))
        .filter(pl.col("word").str.len_bytes() > 0)
    )


def rare_word_rows(texts: pl.Series) -> Rows:
    """The words of each text weighted by ln(texts / texts that have it), as unit rows."""
    words = words_of(texts).unique(maintain_order=True)
    column = words["word"].rank("dense").cast(pl.Int64).to_numpy() - 1
    present = np.bincount(column)
    weights = np.log(max(len(texts), 2) / np.maximum(present, 1)).astype(np.float32)
    shape = len(texts), len(present)
    return unit(
        as_rows(csr_array((weights[column], (words["row"].to_numpy(), column)), shape=shape))
    )


def phrase_rows(names: pl.Series) -> Rows:
    """One for each word, and for each two words side by side in any order, that a name has."""
    return _rows_of_parts(names, _phrases)


def opening_rows(names: pl.Series, *, letters: int, reach: int) -> Rows:
    """One for each two words of a name, in any order, by the first ``letters`` of both.

    The two are at most ``reach`` words apart. Few names have two words that begin alike, even
    where many share a word; and most slips, endings and accents come later in a word.
    """
    return _rows_of_parts(names, partial(_openings, letters=letters, reach=reach))


def _rows_of_parts(names: pl.Series, parts_of: Callable[[pl.Series], pl.DataFrame]) -> Rows:
    """One for each of the parts that a name has, given a table of ``row`` and ``word``."""
    parts = [
        (part.start, *_numbered(parts_of(names[part])))
        for part in slices(len(names), NAMES_AT_ONCE)
    ]
    texts = [pl.Series([], dtype=pl.String), *(distinct for _, _, distinct in parts)]
    vocabulary = pl.concat(texts).unique().sort()
    rows, columns = [np.zeros(0, dtype=np.int32)], [np.zeros(0, dtype=np.int32)]
    for start, phrases, distinct in parts:
        numbers = vocabulary.search_sorted(distinct).to_numpy().astype(np.int32)
        rows.append(phrases["row"].to_numpy().astype(np.int32) + np.int32(start))
        columns.append(numbers[phrases["number"].to_numpy()])
    row, column = np.concatenate(rows), np.concatenate(columns)
    shape = len(names), len(vocabulary)
    return as_rows(csr_array((np.ones(len(row), dtype=np.float32), (row, column)), shape=shape))


def _numbered(parts: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series]:
    """row, number: the parts of each name, by their number among the distinct ones; and these."""
    distinct = parts["word"].unique().sort()
    number = pl.col("word").rank("dense").cast(pl.Int64) - 1
    return parts.select("row", number=number).unique(maintain_order=True), distinct


def _phrases(names: pl.Series) -> pl.DataFrame:
    """The words of names, and each two side by side."""
    words = words_of(names)
    return pl.concat([words, _two(words, 1)])


def _openings(names: pl.Series, letters: int, reach: int) -> pl.DataFrame:
    """The first letters of each two words of names that are near each other."""
    words = words_of(names).with_columns(pl.col("word").str.slice(0, letters))
    return pl.concat([_two(words, apart) for apart in range(1, reach + 1)])


def _two(words: pl.DataFrame, apart: int) -> pl.DataFrame:
    """Each two words of a name that are so far apart, the lesser one first."""
    both = words.with_columns(
        next=pl.col("word").shift(-apart), follows=pl.col("row").shift(-apart)
    )
    both = both.filter(pl.col("row") == pl.col("follows"))
    first, second = pl.min_horizontal("word", "next"), pl.max_horizontal("word", "next")
    return both.select("row", word=first + " " + second)


def word_rows(names: pl.Series, vectors: WordVectors) -> tuple[Rows, int, int]:
    """The mean vector of each name's known words, as unit rows; zero where no word is known.

    Also how many distinct words there are, and how many of them have no vector.
    """
    table = words_of(names)
    known = pl.DataFrame({"word": vectors.words}).with_row_index("column")
    joined = table.join(known, on="word", how="left", maintain_order="left")
    unknown = joined.filter(pl.col("column").is_null())["word"].n_unique()
    joined = joined.filter(pl.col("column").is_not_null())
    indices = joined["row"].to_numpy(), joined["column"].to_numpy()
    shape = len(names), len(vectors.words)
    incidence = csr_array((np.ones(len(joined), dtype=np.float32), indices), shape=shape)
    sums = np.asarray(incidence @ vectors.vectors, dtype=np.float32)
    # Unit rows: dividing by the number of words would change nothing.
    return unit(as_rows(sums)), table["word"].n_unique(), unknown
