"""Character n-grams of names, counted within words, for all entities at once."""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from sameas.rows import Rows, as_rows, unit

SEPARATOR = ord("\n")
SPACE = ord(" ")


def ngram_rows(names: pl.Series, *, n: int = 2) -> Rows:
    """Counts of the character n-grams of each name, as unit rows; shape (len(names), vocabulary).

    N-grams do not cross words, and letter case does not count. A name without any n-gram gets
    a row of zeros. To compare two sides, count both in one call: columns are the n-grams of all
    names, in order of code points.
    """
    letters, rows = _characters(names)
    windows = np.lib.stride_tricks.sliding_window_view(letters, min(n, len(letters)))
    inside = ((windows != SPACE) & (windows != SEPARATOR)).all(axis=1)
    if len(letters) < n or not inside.any():
        return as_rows(csr_array((len(names), 0), dtype=np.float32))
    alphabet, digits = np.unique(letters, return_inverse=True)
    keys = np.zeros(len(windows), dtype=np.int64)
    for offset in range(n):  # in base |alphabet|: 64 bits hold n = 3 in any script
        keys = keys * len(alphabet) + digits[offset : offset + len(windows)]
    vocabulary, columns = np.unique(keys[inside], return_inverse=True)
    counts = csr_array(
        (np.ones(len(columns), dtype=np.float32), (rows[: len(windows)][inside], columns)),
        shape=(len(names), len(vocabulary)),
    )
    counts.sum_duplicates()
    return unit(as_rows(counts))


def _characters(
    names: pl.Series,
) -> tuple[np.ndarray[tuple[int], np.dtype[np.uint32]], np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """The code points of all names, each closed by a separator; and the row of each of them."""
    text = names.fill_null("").str.replace_all(r"\s", " ").str.to_lowercase().str.join("\n").item()
    letters = np.frombuffer(((text or "") + "\n").encode("utf-32-le"), dtype=np.uint32)
    ends = letters == SEPARATOR
    rows = np.cumsum(ends) - ends
    return letters, rows
