"""The stages from names to profits: feature rows, hops and clues of a pair of graphs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from sameas.adjacency import adjacency_matrices
from sameas.features import folded, ngram_rows, sounded, word_rows
from sameas.graph import GraphPair
from sameas.inputs import Inputs, Sides
from sameas.likeness import (
    BestNames,
    Traits,
    mean_rows,
    name_table,
    read_attributes,
    read_spelling,
    types_of,
)
from sameas.options import Options
from sameas.profit import make_profit
from sameas.propagation import propagate
from sameas.proposals import COMPARE_ALL_UP_TO, Clues
from sameas.refinement import Weights
from sameas.rows import Rows, side_by_side, unit
from sameas.sketch import Sketch, make_sketch

SAME_NAME = 10
"""Partners that each entity gets by name alone, where neighbours are to decide later."""


@dataclass(frozen=True, eq=False)
class NameFeatures:
    """Feature rows of all left, then all right entities, in one space."""

    rows: Rows
    names: BestNames | None = None
    """All names of the entities, where they may have several."""
    words: int | None = None
    """Distinct words in names, where word vectors are used."""
    words_without_vector: int | None = None


def name_features(pair: GraphPair, options: Options, inputs: Inputs) -> NameFeatures:
    """The features of names, or the rows that were given instead of them."""
    if inputs.embeddings is not None:
        return NameFeatures(inputs.embeddings)
    graphs = pair.left, pair.right
    several = pair.kinds is not None or any(len(graph.alternatives) for graph in graphs)
    if options.features == "char" and options.rounds and several:
        return _features_of_all_names(pair, options)
    names = pl.concat([pair.left.names, pair.right.names])
    if options.features == "char":
        return NameFeatures(letter_rows(names, options))
    assert inputs.word_vectors is not None
    words = word_rows(names, inputs.word_vectors)
    rows = words.rows
    if options.features == "hybrid":
        rows = unit(side_by_side(rows, letter_rows(names, options)))
    return NameFeatures(rows, None, words.words, words.unknown)


def _features_of_all_names(pair: GraphPair, options: Options) -> NameFeatures:
    """The rows of all names, and for each entity the mean of them."""
    left, left_starts = name_table(pair.left, pair.right)
    right, right_starts = name_table(pair.right, pair.left)
    rows, size = letter_rows(pl.concat([left, right]), options), len(left)
    sides = rows.take(np.arange(size)), rows.take(np.arange(size, len(rows)))
    means = mean_rows(rows, np.append(left_starts, size + right_starts[1:]))
    return NameFeatures(means, BestNames(make_profit(*sides), left_starts, right_starts))


def make_traits(pair: GraphPair, names: BestNames | None) -> Traits | None:
    """What pairs are compared by besides names and neighbours, where kinds are known."""
    graphs = pair.left, pair.right
    if pair.kinds is None:
        return None
    spelling = None
    if names is not None and max(len(graph.entities) for graph in graphs) <= COMPARE_ALL_UP_TO:
        left, right = (name_table(*both)[0] for both in (graphs, graphs[::-1]))
        spelling = read_spelling((left, right), names, names.alike(SAME_NAME))
    return Traits(types_of(pair), read_attributes(pair), spelling)


def letter_rows(names: pl.Series, options: Options) -> Rows:
    """Unit rows of the character n-grams of names."""
    if options.text == "plain":
        return ngram_rows(names)
    parts = [
        ngram_rows(
            spelling,
            n=3,
            boundaries="boundaries" not in options.without,
            rarity="rarity" not in options.without,
        )
        for spelling in spellings(names, options)
    ]
    return unit(side_by_side(*parts))


def spellings(names: pl.Series, options: Options) -> list[pl.Series]:
    """The texts whose n-grams are counted: names as spelled, and as they sound."""
    if options.text == "plain" or "folding" in options.without:
        return [names]
    spelled = folded(names, numbers="numbers" not in options.without)
    return [spelled] if "sounds" in options.without else [spelled, sounded(spelled)]


def by_side(pair: GraphPair, rows: Rows) -> tuple[Rows, Rows]:
    """The rows of the left and those of the right entities."""
    size = len(pair.left.entities)
    return rows.take(np.arange(size)), rows.take(np.arange(size, len(rows)))


def neighbourhood_rows(
    pair: GraphPair, rows: Rows, options: Options, sides: Sides, *, first: int = 0
) -> tuple[Rows, Rows]:
    """The rows of these entities of each side after first..depth hops."""
    matrices = adjacency_matrices(pair.left, pair.right, options.adjacency)
    left, right = by_side(pair, rows)
    return (
        propagate(matrices[0], left, depth=options.depth, only=sides[0], first=first),
        propagate(matrices[1], right, depth=options.depth, only=sides[1], first=first),
    )


def sketched_hops(pair: GraphPair, rows: Rows, options: Options, sides: Sides) -> Sketch:
    """Short rows of these entities of each side after each hop."""
    matrices = adjacency_matrices(pair.left, pair.right, options.adjacency)
    return make_sketch(matrices, by_side(pair, rows), depth=options.depth, only=sides)


def clues(pair: GraphPair, options: Options, sides: Sides) -> Clues:
    """N-grams of names and neighbours, from which candidates are proposed in large problems."""
    names = pl.concat([pair.left.names.gather(sides[0]), pair.right.names.gather(sides[1])])
    spelled = spellings(names, options)[0]
    ngrams = side_by_side(*(ngram_rows(spelled, n=n) for n in (2, 3))).sparse
    matrices = adjacency_matrices(pair.left, pair.right, options.adjacency)
    left, right = (
        matrix[positions][:, positions] for matrix, positions in zip(matrices, sides, strict=True)
    )
    size = len(sides[0])
    return Clues(ngrams[:size], ngrams[size:], left, right)


def weights_of(options: Options) -> Weights:
    """What each kind of evidence is worth, without the parts that are left out."""
    weights = Weights()
    if "votes" in options.without:
        weights = replace(weights, shared=0.0, enter=math.inf)
    if "lacking" in options.without:
        weights = replace(weights, lacking=0.0)
    return weights
