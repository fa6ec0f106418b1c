"""Feature rows of names, of all languages, and of neighbourhoods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import polars as pl

from sameas.compute.arrays import Progress
from sameas.compute.parallel import in_parallel, in_parallel_if
from sameas.compute.rows import Rows, side_by_side, unit
from sameas.graph.matched import MatchedPair
from sameas.graph.task import Inputs, Sides, Task
from sameas.options.options import Options
from sameas.options.tuning import TUNING, Tuning
from sameas.similarity.adjacency import adjacency_matrices
from sameas.similarity.crosslingual import (
    Meanings,
    embedded,
    encoder_for,
    look_up,
    shortened,
    with_meanings,
)
from sameas.similarity.matrix import RowProduct, make_profit
from sameas.similarity.propagation import propagate
from sameas.similarity.several_names import ComparedNames, compared_names, mean_rows
from sameas.similarity.sketch import Sketch, make_sketch
from sameas.text.folding import folded, sounded
from sameas.text.languages.support import NO_SUPPORT, LanguageSupport
from sameas.text.ngrams import ngram_rows
from sameas.text.words import word_rows

MANY = 100_000
"""Names or entities beyond which rows are made one kind, or one side, after the other."""
BothRows = tuple[Rows, Rows]
"""Of left and of right entities or names."""


@dataclass(frozen=True, eq=False)
class NameFeatures:
    """Feature rows of the left and of the right entities, in one space."""

    rows: BothRows
    """Of entities: what is spread over the graph."""
    blocks: Mapping[str, BothRows]
    """By the weight that each has, the unit rows of left and right names."""
    names: ComparedNames
    """The names that the rows of the blocks belong to."""
    meanings: Meanings | None = None
    """The names and their glosses, where these are used."""
    words: int | None = None
    """Distinct words in names, where word vectors are used."""
    words_without_vector: int | None = None


def name_features(
    pair: MatchedPair,
    options: Options,
    inputs: Inputs,
    support: LanguageSupport = NO_SUPPORT,
    *,
    names: ComparedNames | None = None,
    progress: Progress | None = None,
    tuning: Tuning = TUNING,
) -> NameFeatures:
    """The features of names, or the rows that were given instead of them."""
    names = names or compared_names(pair, options, inputs, tuning=tuning.search)
    if inputs.embeddings is None and options.features in ("char", "multilingual"):
        return _features_of_letters(names, options, inputs, support, progress, tuning)
    texts = pl.concat([names.left, names.right])
    words = unknown = None
    if inputs.embeddings is not None:
        rows = inputs.embeddings
    else:
        assert inputs.word_vectors is not None
        rows, words, unknown = word_rows(texts, inputs.word_vectors)
        if options.features == "hybrid":
            rows = unit(side_by_side(rows, letter_rows(texts, options)))
    both = _by_side(rows, len(names.left))
    return NameFeatures(both, {"names": both}, names, words=words, words_without_vector=unknown)


def _features_of_letters(
    names: ComparedNames,
    options: Options,
    inputs: Inputs,
    support: LanguageSupport,
    progress: Progress | None,
    tuning: Tuning,
) -> NameFeatures:
    """The rows of the spelling of names, of their glosses and of their encodings."""
    left, right, starts = names.left, names.right, names.starts
    if left is right and not support.used:
        rows = letter_rows(left, options)
        means = rows if starts is None else mean_rows(rows, starts[0])
        return NameFeatures((means, means), {"names": (rows, rows)}, names)
    texts, meanings = pl.concat([left, right]), None
    table = look_up(left, right, support, inputs.dictionary, tuning=tuning.glosses)
    if table is not None:
        meanings = with_meanings(texts, table, lambda texts: letter_rows(texts, options))
    rows = letter_rows(texts, options) if meanings is None else meanings.rows
    both = _by_side(rows, len(left))
    blocks = {"names": both}
    if support.encoder:
        blocks["embedding"] = embedded(left, right, encoder_for(options, inputs), progress)
        rows = unit(side_by_side(rows, shortened(blocks["embedding"], tuning=tuning)))
        both = _by_side(rows, len(left))
    if starts is not None:
        both = mean_rows(both[0], starts[0]), mean_rows(both[1], starts[1])
    return NameFeatures(both, blocks, names, meanings)


def _by_side(rows: Rows, size: int) -> BothRows:
    """The first rows, and the others."""
    return rows.part(slice(0, size)), rows.part(slice(size, len(rows)))


@dataclass(frozen=True, eq=False)
class TextRows:
    """The rows whose products are the similarities of names and of neighbourhoods."""

    names: RowProduct
    """Of names as spelled (or their glosses, or given rows)."""
    embedding: RowProduct | None = None
    """Of encoded names, where an encoder is used."""
    hops: RowProduct | None = None
    """Of entities: of all hops (as published), or of all but the names (with ``exact_hops``)."""
    sketch: Sketch | None = None
    """Of entities: short rows of all hops; None for the method as published."""
    entities_without_features: int = 0
    words: int | None = None
    words_without_vector: int | None = None


def text_rows(features: NameFeatures) -> TextRows:
    """The rows of names alone; ``spread`` adds those of neighbourhoods."""
    products = {name: make_profit(*rows) for name, rows in features.blocks.items()}
    return TextRows(
        products["names"],
        products.get("embedding"),
        entities_without_features=sum(int((rows.norms() == 0).sum()) for rows in features.rows),
        words=features.words,
        words_without_vector=features.words_without_vector,
    )


def spread(
    text: TextRows, rows: BothRows, task: Task, sides: Sides, *, searched: bool = True
) -> TextRows:
    """The rows of names, and those of the neighbourhoods of these entities of each side.

    ``rows`` are the features of all entities. All pairs can be ``searched`` by the sketch, or
    only given pairs compared.
    """
    pair, options = task.pair, task.options
    hops = sketch = None
    if options.rounds:
        sketch = sketched_hops(pair, rows, options, sides, names=searched, tuning=task.tuning)
    if (options.exact_hops and options.depth) or not options.rounds:
        first = int(options.rounds > 0)
        hops = make_profit(*neighbourhood_rows(pair, rows, options, sides, first=first))
    return replace(text, hops=hops, sketch=sketch)


def letter_rows(names: pl.Series, options: Options) -> Rows:
    """Unit rows of the character n-grams of names."""
    if options.text == "plain":
        return ngram_rows(names)
    count = partial(
        ngram_rows,
        n=3,
        boundaries="boundaries" not in options.without,
        rarity="rarity" not in options.without,
    )
    # One after the other where that takes much memory; each is shared out by blocks anyway.
    texts = spellings(names, options)
    rows = list(map(count, texts)) if len(names) > MANY else in_parallel(count, texts)
    both = side_by_side(*rows)
    del rows
    return unit(both)


def spellings(names: pl.Series, options: Options) -> list[pl.Series]:
    """The texts whose n-grams are counted: names as spelled, and as they sound."""
    spelled = spelling(names, options)
    if spelled is names or "sounds" in options.without:
        return [spelled]
    return [spelled, sounded(spelled)]


def spelling(names: pl.Series, options: Options) -> pl.Series:
    """Names as they are compared letter by letter."""
    if options.text == "plain" or "folding" in options.without:
        return names
    return folded(names, numbers="numbers" not in options.without)


def neighbourhood_rows(
    pair: MatchedPair, rows: BothRows, options: Options, sides: Sides, *, first: int = 0
) -> BothRows:
    """The rows of these entities of each side after first..depth hops."""
    matrices = adjacency_matrices(pair.left, pair.right, options.adjacency)
    left, right = in_parallel_if(
        max(map(len, sides)) <= MANY,
        lambda side: propagate(*side[:2], only=side[2], depth=options.depth, first=first),
        list(zip(matrices, rows, sides, strict=True)),
    )
    return left, right


def sketched_hops(
    pair: MatchedPair,
    rows: BothRows,
    options: Options,
    sides: Sides,
    *,
    names: bool = True,
    tuning: Tuning = TUNING,
) -> Sketch:
    """Short rows of these entities of each side after each hop, those of ``names`` if asked for."""
    matrices = adjacency_matrices(pair.left, pair.right, options.adjacency)
    return make_sketch(matrices, rows, depth=options.depth, only=sides, names=names, tuning=tuning)
