"""The stages that methods share: features, hops, proposals, candidates."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from sameas.adjacency import adjacency_matrices
from sameas.candidates import Candidates, find_candidates
from sameas.checkpoint import (
    candidates_from_arrays,
    candidates_to_arrays,
    rows_from_arrays,
    rows_to_arrays,
)
from sameas.features import (
    folded,
    load_word_vectors,
    ngram_rows,
    read_embeddings,
    sounded,
    word_rows,
    words_of,
)
from sameas.graph import GraphPair, Positions
from sameas.options import Options
from sameas.pipeline.clock import Clock
from sameas.pipeline.entities import Sides
from sameas.many_names import BestNames, has_alternatives, name_profits
from sameas.profit import Profit, make_profit
from sameas.propagation import propagate
from sameas.proposals import COMPARE_ALL_UP_TO, Clues, alike, likely
from sameas.rows import Rows, side_by_side, unit

log = logging.getLogger(__name__)

SAME_NAME = 10
"""Partners that each entity gets by name alone, where neighbours are to decide later."""


def text_features(
    pair: GraphPair,
    options: Options,
    facts: dict[str, Any],
    progress: Callable[[float], None] | None = None,
) -> Rows:
    """The feature rows of all left, then all right entities, in one space."""
    if options.embeddings is not None:
        entities = pl.concat([pair.left.entities, pair.right.entities])
        return read_embeddings(options.embeddings, entities)
    names = pl.concat([pair.left.names, pair.right.names])
    if options.features == "char":
        rows = letter_rows(names, options)
    else:
        vectors = load_word_vectors(
            options.word_vectors, words_of(names)["word"].unique(), progress=progress
        )
        words = word_rows(names, vectors)
        facts["word_vectors"] = f"{vectors.source}, {vectors.vectors.shape[1]} dimensions"
        facts["words"], facts["words_without_vector"] = words.words, words.unknown
        log.info("%d of %d words have no vector", words.unknown, words.words)
        if options.features == "word":
            rows = words.rows
        else:
            rows = unit(side_by_side(words.rows, letter_rows(names, options)))
    facts["entities_without_features"] = int((rows.norms() == 0).sum())
    return rows


def letter_rows(names: pl.Series, options: Options) -> Rows:
    """Unit rows of the character n-grams of names."""
    if options.text == "plain":
        return ngram_rows(names)
    without = options.without
    parts = [
        ngram_rows(
            spelling, n=3, boundaries="boundaries" not in without, rarity="rarity" not in without
        )
        for spelling in spellings(names, options)
    ]
    return unit(side_by_side(*parts))


def spellings(names: pl.Series, options: Options) -> list[pl.Series]:
    """The names as their n-grams are counted: as spelled, and as they sound."""
    if options.text == "plain" or "folding" in options.without:
        return [names]
    plain = folded(names, numbers="numbers" not in options.without)
    return [plain] if "sounds" in options.without else [plain, sounded(plain)]


def neighbourhood_rows(
    pair: GraphPair,
    features: Rows,
    options: Options,
    only: Sides | None = None,
) -> tuple[Rows, Rows]:
    """The rows of each side, spread over its graph; ``only`` those of some entities."""
    matrices = adjacency_matrices(pair.left, pair.right, options.adjacency)
    sides = by_side(pair, features)
    some = only or (None, None)
    return (
        propagate(matrices[0], sides[0], depth=options.depth, only=some[0]),
        propagate(matrices[1], sides[1], depth=options.depth, only=some[1]),
    )


def by_side(pair: GraphPair, features: Rows) -> tuple[Rows, Rows]:
    """The feature rows of the left and those of the right entities."""
    size = len(pair.left.entities)
    return features.take(np.arange(size)), features.take(np.arange(size, len(features)))


def clues(pair: GraphPair, some: Sides, options: Options) -> Clues:
    """What hints at partners without comparing all."""
    names = pl.concat([pair.left.names.gather(some[0]), pair.right.names.gather(some[1])])
    names = spellings(names, options)[0]
    ngrams = side_by_side(*(ngram_rows(names, n=n) for n in (2, 3))).sparse
    matrices = adjacency_matrices(pair.left, pair.right, options.adjacency)
    neighbours = [
        matrix[positions][:, positions] for matrix, positions in zip(matrices, some, strict=True)
    ]
    size = len(some[0])
    return Clues(ngrams[:size], ngrams[size:], neighbours[0], neighbours[1])


def proposals(pair: GraphPair, some: Sides, options: Options, clock: Clock) -> Positions | None:
    """Pairs proposed by clues, where there are too many entities to compare all.

    Before the rows are made: those take up most of the memory.
    """
    largest = max(len(positions) for positions in some)
    if largest <= COMPARE_ALL_UP_TO or options.embeddings is not None:
        return None
    # Names and neighbours propose partners each for themselves; refinement finds more by itself.
    k = max(options.candidates // (5 if options.rounds else 2), 1)
    return clock.kept(
        "proposals",
        lambda report: {"pairs": likely(clues(pair, some, options), k, progress=report)},
    )["pairs"]


def profits(pair: GraphPair, some: Sides, options: Options, clock: Clock) -> tuple[Profit, Profit]:
    """The profit of some left and some right entities, and that of their names alone."""
    if has_alternatives(pair) and options.features == "char" and options.embeddings is None:
        with clock.phase("features"):
            return name_profits(  # type: ignore[return-value]
                pair,
                lambda texts: letter_rows(texts, options),
                lambda rows: neighbourhood_rows(pair, rows, options),
                options.depth,
            )
    if (arrays := clock.resumed("neighbours")) is None:
        with clock.phase("features") as report:
            features = text_features(pair, options, clock.facts, report)
        with clock.phase("neighbours"):
            rows = neighbourhood_rows(pair, features, options, some)
        sides = by_side(pair, features)
        names = tuple(side.take(own) for side, own in zip(sides, some, strict=True))
        arrays = {}
        for kind, parts in (("", rows), ("names_", names)):
            for side, part in zip(("left", "right"), parts, strict=True):
                arrays.update(rows_to_arrays(part, f"{kind}{side}"))
        clock.keep("neighbours", arrays)
    return (
        make_profit(*(rows_from_arrays(arrays, side) for side in ("left", "right"))),
        make_profit(*(rows_from_arrays(arrays, f"names_{side}") for side in ("left", "right"))),
    )


def _namesakes(names: Profit | BestNames) -> Positions:
    if isinstance(names, BestNames):
        return names.alike(SAME_NAME)
    return alike(names.left.sparse, names.right.sparse, SAME_NAME)


def candidates(
    profit: Profit, names: Profit, proposed: Positions | None, options: Options, clock: Clock
) -> Candidates:
    """The partners worth considering of all entities of a profit."""
    by_name = options.rounds and proposed is None and "namesakes" not in options.without

    def find(report: Callable[[float], None]) -> Candidates:
        return find_candidates(
            profit,
            options.candidates,
            first=max(options.top, 10),
            proposed=proposed,
            also=_namesakes(names) if by_name else None,
            progress=report,
        )

    arrays = clock.kept("candidates", lambda report: candidates_to_arrays(find(report)))
    found = candidates_from_arrays(arrays)
    clock.facts["candidate_pairs"] = len(found)
    if found.recall is not None:
        clock.facts["search_recall"] = found.recall
    return found
