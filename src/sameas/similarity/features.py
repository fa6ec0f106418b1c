"""Feature rows of names, of all languages, and of neighbourhoods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import polars as pl

from sameas.compute.arrays import Positions
from sameas.compute.parallel import in_parallel
from sameas.compute.rows import Rows, side_by_side, unit
from sameas.graph.matched import MatchedPair
from sameas.graph.task import Inputs, Sides
from sameas.options.options import Options
from sameas.similarity.adjacency import adjacency_matrices
from sameas.similarity.crosslingual import (
    NO_SUPPORT,
    LanguageSupport,
    Meanings,
    embedded,
    encoder_for,
    look_up,
    shortened,
    with_meanings,
)
from sameas.similarity.matrix import RowProduct, make_profit
from sameas.similarity.names import MaxOverNames, mean_rows, name_table
from sameas.similarity.propagation import propagate
from sameas.similarity.sketch import Sketch, make_sketch
from sameas.text.folding import folded, sounded
from sameas.text.ngrams import ngram_rows
from sameas.text.words import word_rows

BothRows = tuple[Rows, Rows]
"""Of left and of right entities or names."""
SAME_NAME = 10
"""Partners that each entity gets by name alone, where neighbours are to decide later."""


@dataclass(frozen=True, eq=False)
class NameFeatures:
    """Feature rows of the left and of the right entities, in one space."""

    rows: BothRows
    blocks: Mapping[str, BothRows]
    """By the weight that each has, the unit rows of left and right names."""
    starts: tuple[Positions, Positions] | None = None
    """Where the names of each entity start, where they may have several."""
    meanings: Meanings | None = None
    """The names and their glosses, where these are used."""
    words: int | None = None
    """Distinct words in names, where word vectors are used."""
    words_without_vector: int | None = None

    @property
    def profits(self) -> dict[str, RowProduct]:
        """The profit of names by each block: of entities, or of all their names."""
        return {name: make_profit(*rows) for name, rows in self.blocks.items()}


def name_features(
    pair: MatchedPair,
    options: Options,
    inputs: Inputs,
    aids: LanguageSupport = NO_SUPPORT,
    progress: Callable[[float], None] | None = None,
) -> NameFeatures:
    """The features of names, or the rows that were given instead of them."""
    if inputs.embeddings is None and options.features in ("char", "multilingual"):
        return _features_of_letters(pair, options, inputs, aids, progress)
    names = pl.concat([pair.left.names, pair.right.names])
    words = unknown = None
    if inputs.embeddings is not None:
        rows = inputs.embeddings
    else:
        assert inputs.word_vectors is not None
        rows, words, unknown = word_rows(names, inputs.word_vectors)
        if options.features == "hybrid":
            rows = unit(side_by_side(rows, letter_rows(names, options)))
    both = _by_side(rows, len(pair.left.names))
    return NameFeatures(both, {"names": both}, words=words, words_without_vector=unknown)


def _features_of_letters(
    pair: MatchedPair,
    options: Options,
    inputs: Inputs,
    aids: LanguageSupport,
    progress: Callable[[float], None] | None,
) -> NameFeatures:
    """The rows of the spelling of names, and of what else the aids tell of them."""
    (left, right), starts = compared_names(pair, options)
    names, meanings = pl.concat([left, right]), None
    if (table := look_up(left, right, aids, inputs.dictionary)) is not None:
        meanings = with_meanings(names, table, lambda texts: letter_rows(texts, options))
    rows = letter_rows(names, options) if meanings is None else meanings.rows
    both = _by_side(rows, len(left))
    blocks = {"names": both}
    if aids.encoder:
        blocks["embedding"] = embedded(left, right, encoder_for(options, inputs), progress)
        rows = unit(side_by_side(rows, shortened(blocks["embedding"])))
        both = _by_side(rows, len(left))
    if starts is not None:
        both = mean_rows(both[0], starts[0]), mean_rows(both[1], starts[1])
    return NameFeatures(both, blocks, starts, meanings)


def compared_names(
    pair: MatchedPair, options: Options
) -> tuple[tuple[pl.Series, pl.Series], tuple[Positions, Positions] | None]:
    """The left and right names, and where those of each entity start if it may have several."""
    several = pair.both_rdf or len(pair.left.alternatives) + len(pair.right.alternatives)
    if not (options.rounds and several):
        return (pair.left.names, pair.right.names), None
    left, left_starts = name_table(pair.left, pair.right)
    right, right_starts = name_table(pair.right, pair.left)
    return (left, right), (left_starts, right_starts)


def _by_side(rows: Rows, size: int) -> BothRows:
    """The first rows, and the others."""
    return rows.part(slice(0, size)), rows.part(slice(size, len(rows)))


def best_names(
    block: RowProduct, starts: tuple[Positions, Positions] | None
) -> RowProduct | MaxOverNames:
    """The cosine of names by a block: of those that fit best, where there are several."""
    return block if starts is None else MaxOverNames(block, *starts)


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
    return unit(side_by_side(*in_parallel(count, spellings(names, options))))


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
    left, right = (
        propagate(matrix, side, depth=options.depth, only=only, first=first)
        for matrix, side, only in zip(matrices, rows, sides, strict=True)
    )
    return left, right


def sketched_hops(pair: MatchedPair, rows: BothRows, options: Options, sides: Sides) -> Sketch:
    """Short rows of these entities of each side after each hop."""
    matrices = adjacency_matrices(pair.left, pair.right, options.adjacency)
    return make_sketch(matrices, rows, depth=options.depth, only=sides)
