"""From what the caller gives besides the graphs to a Task, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias

import polars as pl
from numpy.typing import NDArray

from sameas.compute.arrays import Progress
from sameas.errors import OptionError
from sameas.formats.name_files import read_dictionary
from sameas.formats.pair import read_gold
from sameas.formats.vectors import load_word_vectors, read_embeddings
from sameas.graph.given_tables import Table, as_links, as_table
from sameas.graph.labels import beginnings
from sameas.graph.matched import MatchedPair
from sameas.graph.task import Inputs
from sameas.options.options import Options, refuse_unused
from sameas.options.tuning import TUNING, Tuning
from sameas.pipeline.since import Since, with_earlier
from sameas.result.decisions import decided_links
from sameas.text.embeddings import embedding_rows
from sameas.text.words import WordVectors, words_of

DECIDED: dict[str, Literal["accept", "reject"]] = {"seeds": "accept", "reject": "reject"}
"""Which decisions in a run folder each input takes."""


Links: TypeAlias = Table | str | PathLike[str]
"""A table with the columns left and right, or a file."""


@dataclass(frozen=True, kw_only=True)
class Given:
    """What the caller of ``align`` gives besides the graphs and the options: data, or files."""

    seeds: Links | None = None
    reject: Links | None = None
    among: Links | None = None
    """Links, or "gold" for those of the pair."""
    embeddings: tuple[NDArray[Any], NDArray[Any]] | str | PathLike[str] | None = None
    word_vectors: Mapping[str, Any] | str | PathLike[str] | None = None
    dictionary: Links | None = None
    since: Since | None = None
    """A run of earlier versions of the graphs."""


NOTHING = Given()


def collect_inputs(
    pair: MatchedPair,
    options: Options,
    given: Given = NOTHING,
    progress: Progress | None = None,
    *,
    tuning: Tuning = TUNING,
) -> Inputs:
    """The inputs from data or files; one that the options leave without effect is refused."""
    names = [name for name, value in vars(given).items() if value is not None]
    embeddings, word_vectors, among = given.embeddings, given.word_vectors, given.among
    refuse_unused(options, names, embeddings=embeddings is not None)
    if isinstance(among, str) and among == "gold":
        if pair.gold is None:
            raise OptionError("`among` must be links, got 'gold' for a pair without gold links")
        among = pair.gold
    rows = None
    if isinstance(embeddings, str | PathLike):
        entities = pl.concat([pair.left.entities, pair.right.entities])
        rows = read_embeddings(Path(embeddings), entities)
    elif embeddings is not None:
        rows = embedding_rows(embeddings, (pair.left.entities, pair.right.entities))
    vectors = None
    if options.method == "seu" and options.features in ("word", "hybrid") and rows is None:
        texts = beginnings(pl.concat([pair.left.names, pair.right.names]))
        words = words_of(texts)["word"].unique()
        if isinstance(word_vectors, Mapping):
            vectors = WordVectors.from_mapping(word_vectors, words)
        else:
            path = None if word_vectors is None else Path(word_vectors)
            vectors = load_word_vectors(path, words, progress=progress)
    inputs = Inputs(
        seeds=rows_of("seeds", given.seeds),
        reject=rows_of("reject", given.reject),
        among=rows_of("among", among),
        embeddings=rows,
        word_vectors=vectors,
        dictionary=rows_of("dictionary", given.dictionary),
    )
    if given.since is None:
        return inputs
    return with_earlier(inputs, given.since, pair, options, tuning=tuning.since)


def rows_of(name: str, value: Any) -> pl.DataFrame | None:
    """Distinct links (left, right), or entries (text, gloss), from a table or a file.

    A run folder stands for the links that its reviewers accepted or rejected.
    """
    if value is None:
        return None
    columns, is_file = ("left", "right"), isinstance(value, str | PathLike)
    if name == "dictionary":
        columns = ("text", "gloss")
        table = read_dictionary(Path(value)) if is_file else as_table(value, columns, argument=name)
    elif not is_file:
        table = as_links(value, name)
    elif name in DECIDED and (Path(value) / "run.json").is_file():
        table = decided_links(Path(value), DECIDED[name])
    else:
        table = read_gold(Path(value))
    return table.select(columns).unique(maintain_order=True)
