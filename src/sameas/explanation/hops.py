"""Names and neighbours: cosines hop by hop, split by n-grams and by pairs of neighbours.

A hop's row is the sum of the neighbours' rows of the hop before, weighted by the adjacency and
scaled to length one. The cosine of two such rows is therefore a sum over pairs of neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.adjacency import adjacency_matrices
from sameas.explanation.record import Record
from sameas.explanation.result import Detail, Relation
from sameas.features import ngrams_of, words_of
from sameas.graph import Graph, Positions
from sameas.pipeline.stages import by_side, spellings, text_features
from sameas.propagation import hop
from sameas.reading.vectors import load_word_vectors
from sameas.rows import Rows, Sparse, unit

Vector = NDArray[np.float64]

SHOWN = 12
"""Details told one by one; the others are summed up."""


@dataclass(frozen=True, eq=False)
class Hops:
    """The rows of one side, hop by hop, for the entities concerned and those that they need."""

    adjacency: Sparse
    positions: tuple[Positions, ...]
    """Of each hop, the entities whose rows are there; ascending."""
    rows: tuple[Rows, ...]

    def take(self, number: int, entities: Positions) -> Rows:
        """The rows of some entities after so many hops."""
        return self.rows[number].take(np.searchsorted(self.positions[number], entities))

    def neighbours(self, entity: int) -> tuple[Positions, Vector]:
        """The neighbours of an entity (itself included), and their weights."""
        part = slice(*self.adjacency.indptr[entity : entity + 2])
        weights = self.adjacency.data[part].astype(np.float64)
        return self.adjacency.indices[part].astype(np.int64), weights


def both_hops(record: Record, concerned: tuple[Positions, Positions]) -> tuple[Hops, Hops]:
    """The rows of both sides, only as far as some left and some right entities need them."""
    options, pair = record.options, record.pair
    features = by_side(pair, text_features(pair, options, {}))
    matrices = adjacency_matrices(pair.left, pair.right, options.adjacency)
    left, right = (
        _hops(matrix, rows, some, options.depth)
        for matrix, rows, some in zip(matrices, features, concerned, strict=True)
    )
    return left, right


def _hops(adjacency: Sparse, features: Rows, some: Positions, depth: int) -> Hops:
    needed = [np.unique(some).astype(np.int64)]
    for _ in range(depth):
        reached = adjacency[needed[0]].indices.astype(np.int64)
        needed.insert(0, np.union1d(needed[0], reached))
    rows = [unit(features.take(needed[0]))]
    for before, now in pairwise(needed):
        rows.append(hop(adjacency[now][:, before], rows[-1]))
    return Hops(adjacency, tuple(needed), tuple(rows))


def cosines(hops: tuple[Hops, Hops], left: int, right: int) -> list[float]:
    """How alike two entities are after 0, 1, ... hops."""
    values = []
    for number in range(len(hops[0].rows)):
        rows = [
            side.take(number, np.array([entity]))
            for side, entity in zip(hops, (left, right), strict=True)
        ]
        values.append(float(_products(*rows)[0, 0]))
    return values


def name_details(
    record: Record, hops: tuple[Hops, Hops], left: int, right: int, worth: float
) -> tuple[Detail, ...]:
    """What the n-grams (or words) in common add, if a cosine of one is worth so much."""
    names = [
        graph.names[place] or ""
        for graph, place in ((record.pair.left, left), (record.pair.right, right))
    ]
    rows = [
        side.take(0, np.array([place])) for side, place in zip(hops, (left, right), strict=True)
    ]
    options = record.options
    details: list[Detail] = []
    dense = float(rows[0].dense[0].astype(np.float64) @ rows[1].dense[0].astype(np.float64))
    if options.embeddings is not None:
        return (Detail(score=worth * dense, text="feature rows that were given", amount=dense),)
    if options.features != "char":
        details += _word_details(record, names, dense, worth)
    if options.features != "word":
        weights = [_ngram_weights(record, name, row) for name, row in zip(names, rows, strict=True)]
        for ngram in weights[0].keys() & weights[1].keys():
            both = weights[0][ngram] * weights[1][ngram]
            details.append(Detail(score=worth * both, text=ngram, amount=both))
    return summed_up(details, "others in common")


def _ngram_weights(record: Record, name: str, row: Rows) -> dict[str, float]:
    """The weight of each n-gram in a name's row."""
    options = record.options
    plain = options.text == "plain"
    boundaries = not plain and "boundaries" not in options.without
    ngrams = [
        f"~{ngram}" if number else ngram
        for number, text in enumerate(spellings(pl.Series([name]), options))
        for ngram in ngrams_of(text[0], n=2 if plain else 3, boundaries=boundaries)
    ]
    sparse = row.sparse
    weights = sparse.data[np.argsort(sparse.indices)].astype(np.float64)
    return dict(zip(ngrams, weights.tolist(), strict=True))


def _word_details(record: Record, names: list[str], dense: float, worth: float) -> list[Detail]:
    """What each pair of words adds: a name's row is the sum of its words' vectors, scaled."""
    words = [words_of(pl.Series([name]))["word"] for name in names]
    vectors = load_word_vectors(
        record.options.word_vectors, pl.concat(words).unique(maintain_order=True)
    )
    number = {word: place for place, word in enumerate(vectors.words.to_list())}
    known = [[word for word in own.to_list() if word in number] for own in words]
    table = vectors.vectors.astype(np.float64)
    products = {
        (ours, theirs): float(table[number[ours]] @ table[number[theirs]])
        for ours in known[0]
        for theirs in known[1]
    }
    counts = {
        (ours, theirs): known[0].count(ours) * known[1].count(theirs) for ours, theirs in products
    }
    total = sum(value * counts[pair] for pair, value in products.items())
    if not total:
        return []
    return [
        Detail(
            score=worth * dense * value * counts[ours, theirs] / total,
            text=ours if ours == theirs else f"{ours} ~ {theirs}",
            amount=dense * value * counts[ours, theirs] / total,
        )
        for (ours, theirs), value in products.items()
    ]


def neighbour_details(
    record: Record, hops: tuple[Hops, Hops], left: int, right: int, number: int, worth: float
) -> tuple[Detail, ...]:
    """What each pair of neighbours adds to the cosine of a hop (the first or a later one).

    For the first hop the neighbours' names are compared, for later ones their neighbourhoods.
    """
    sides = [side.neighbours(place) for side, place in zip(hops, (left, right), strict=True)]
    rows = [side.take(number - 1, own) for side, (own, _) in zip(hops, sides, strict=True)]
    lengths = [_length(row, weights) for row, (_, weights) in zip(rows, sides, strict=True)]
    if not lengths[0] or not lengths[1]:
        return ()
    alike = _products(*rows)
    shares = sides[0][1][:, None] * alike * sides[1][1][None, :] / (lengths[0] * lengths[1])
    order = np.argsort(-np.abs(shares), axis=None, kind="stable")
    order = order[np.abs(shares.ravel()[order]) > 1e-12]
    details = []
    for place in order[:SHOWN]:
        a, b = np.unravel_index(place, shares.shape)
        ours, theirs = int(sides[0][0][a]), int(sides[1][0][b])
        details.append(
            Detail(
                score=worth * float(shares[a, b]),
                left=record.entity("left", ours),
                right=record.entity("right", theirs),
                left_relations=relations_between(record.pair.left, left, ours),
                right_relations=relations_between(record.pair.right, right, theirs),
                amount=float(alike[a, b]),
            )
        )
    if len(order) > SHOWN:
        rest = float(shares.sum() - shares.ravel()[order[:SHOWN]].sum())
        count = len(order) - SHOWN
        details.append(Detail(score=worth * rest, text="other pairs of neighbours", count=count))
    return tuple(details)


def relations_between(graph: Graph, entity: int, neighbour: int) -> tuple[Relation, ...]:
    """All relations between two entities, as seen from the first; none for itself."""
    if entity == neighbour:
        return ()
    heads, relations, tails = graph.triples.T
    forwards = np.unique(relations[(heads == entity) & (tails == neighbour)])
    backwards = np.unique(relations[(heads == neighbour) & (tails == entity)])
    return tuple(
        Relation(graph.relations[int(number)], inverse)
        for numbers, inverse in ((forwards, False), (backwards, True))
        for number in numbers
    )


def summed_up(details: list[Detail], rest: str, shown: int = SHOWN) -> tuple[Detail, ...]:
    """The largest details one by one, and the others as one."""
    ordered = sorted(details, key=lambda detail: (-abs(detail.score), detail.text))
    if len(ordered) <= shown + 1:
        return tuple(ordered)
    others = ordered[shown:]
    total = sum(detail.score for detail in others)
    return (*ordered[:shown], Detail(score=total, text=rest, count=len(others)))


def _products(left: Rows, right: Rows) -> Vector:
    """All dot products of two sets of rows, in double precision."""
    dense = left.dense.astype(np.float64) @ right.dense.astype(np.float64).T
    sparse = left.sparse.astype(np.float64) @ right.sparse.astype(np.float64).T
    products: Vector = dense + sparse.toarray()
    return products


def _length(rows: Rows, weights: Vector) -> float:
    """The length of the weighted sum of rows; zero where a hop takes it as rounding error."""
    dense = weights @ rows.dense.astype(np.float64)
    sparse = rows.sparse.astype(np.float64).T @ weights
    length = float(np.sqrt(dense @ dense + sparse @ sparse))
    return length if length > max(1e-6 * float(np.abs(weights).sum()), 1e-30) else 0.0
