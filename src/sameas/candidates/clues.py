"""Candidates proposed by clues: rare parts of names, rare values, likely partners of neighbours.

The cost grows linearly with the size. Pairs are numbers left * len(right) + right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, eye_array

from sameas.compute.arrays import Positions, Progress, Sparse
from sameas.compute.parallel import in_parallel
from sameas.compute.rows import Rows, side_by_side
from sameas.compute.topk import distinct, pair_numbers, top_products
from sameas.graph.matched import MatchedPair
from sameas.graph.task import Sides
from sameas.options.options import Options
from sameas.options.tuning import TUNING, SearchTuning
from sameas.similarity.adjacency import adjacency_matrices
from sameas.similarity.attributes import value_texts
from sameas.similarity.features import spelling
from sameas.similarity.several_names import ComparedNames
from sameas.text.folding import folded
from sameas.text.ngrams import ngram_rows
from sameas.text.words import phrase_rows

Both = tuple[Sparse, Sparse]
"""A row for each left, and for each right entity or name."""


@dataclass(frozen=True, eq=False)
class Clues:
    """What hints at partners, of the left and of the right entities."""

    names: Both
    """The parts of names, (names, vocabulary)."""
    owners: tuple[Positions, Positions]
    """The entity that has each name, ascending."""
    values: Both | None
    """The words of values, (entities, vocabulary); None if there are none."""
    neighbours: Both
    """(entities, entities)."""


def propose_by_clues(
    clues: Clues, k: int, *, progress: Progress, tuning: SearchTuning = TUNING.search
) -> Positions:
    """Partners by clues, k for every left and every right entity and every kind, ascending.

    Names and values propose first. Pairs that are the best of both sides by far then hint at the
    neighbours of the two, and so on, with what neighbours hinted at.
    """
    if not all(side.shape[0] for side in clues.neighbours):
        return np.empty(0, dtype=np.int64)
    shape = clues.neighbours[0].shape[0], clues.neighbours[1].shape[0]
    texts = _of_entities(_alike(clues.names, k, tuning.meetings), clues.owners, shape, k)
    found = [pair_numbers(texts)]
    if clues.values is not None:
        values = _alike(clues.values, k, tuning.meetings)
        found.append(pair_numbers(values))
        texts = csr_array(texts + values)
    progress(0.6)
    belief = texts
    outward, inward = (_weighed(side) for side in clues.neighbours)
    for turn in range(tuning.clue_rounds):
        hints = _best_few(_mutual_shares(belief, tuning.clue_power), tuning.clue_anchors)
        forth, back = top_products(csr_array(outward @ hints), inward, k, k)
        votes = csr_array(forth.maximum(back))
        if turn:  # the first votes, by names alone, are the poorest
            found.append(pair_numbers(votes))
        belief = csr_array(texts + _to_peaks(votes))
        progress(0.6 + 0.4 * (turn + 1) / tuning.clue_rounds)
    return distinct(found)


def _alike(texts: Both, k: int, most: int) -> Sparse:
    """The k of each row, and of each column, that have most rare parts in common."""
    forth, back = top_products(*_rare(*texts, most), k, k)
    return csr_array(forth.maximum(back))


def _of_entities(
    names: Sparse, owners: tuple[Positions, Positions], shape: tuple[int, int], k: int
) -> Sparse:
    """The best of the names of each two entities, k for every entity."""
    if all(np.array_equal(owner, np.arange(n)) for owner, n in zip(owners, shape, strict=True)):
        return names
    pairs = names.tocoo()
    keys = owners[0][pairs.row] * np.int64(shape[1]) + owners[1][pairs.col]
    order = np.lexsort((pairs.data, keys))
    last = np.append(keys[order][1:] != keys[order][:-1], True)[: len(keys)]
    left, right = np.divmod(keys[order][last], shape[1])
    every = csr_array((pairs.data[order][last], (left, right)), shape=shape)
    of_columns = csr_array(_best_few(csr_array(every.T), k).T)
    return csr_array(_best_few(every, k).maximum(of_columns))


def _rare(left: Sparse, right: Sparse, most: int) -> tuple[Sparse, Sparse]:
    """Rows of the parts of names that are rare enough, weighted by how rare, at unit length."""
    counts = [np.bincount(side.indices, minlength=side.shape[1]) for side in (left, right)]
    total = counts[0] + counts[1]
    size = left.shape[0] + right.shape[0]
    # As many of the rarest as the meetings that they lead to allow.
    order = np.argsort(total, kind="stable")
    meetings = np.cumsum((counts[0] * counts[1].astype(np.float64))[order])
    rare = np.zeros(len(total), dtype=np.bool_)
    rare[order[meetings <= most * size / 2]] = True
    weights = np.log(max(size, 2) / np.maximum(total, 1)) * (rare & (counts[0] * counts[1] > 0))
    return _to_length(left, weights), _to_length(right, weights)


def _to_length(names: Sparse, weights: NDArray[np.float64]) -> Sparse:
    """Rows weighted by column, at unit length counting what was left out too."""
    weighted = csr_array(names @ diags_array(weights.astype(np.float32)))
    weighted.eliminate_zeros()
    lengths = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
    factors = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return csr_array(diags_array(factors.astype(np.float32)) @ weighted)


def _weighed(neighbours: Sparse) -> Sparse:
    """Neighbours without loops; one that many entities share weighs less."""
    others = csr_array(neighbours - diags_array(neighbours.diagonal()))
    others.eliminate_zeros()
    degrees = np.bincount(others.indices, minlength=others.shape[1])
    weights = np.maximum(degrees, 1.0) ** -0.5
    return csr_array(others @ diags_array(weights)).astype(np.float32)


def _best_few(matrix: Sparse, few: int) -> Sparse:
    """The few largest entries of each row."""
    each = csr_array(eye_array(matrix.shape[1], dtype=np.float32))
    return top_products(matrix, each, few)[0]


def _mutual_shares(belief: Sparse, power: int) -> Sparse:
    """The geometric mean of each entry's shares of its row and of its column.

    Shares are of a high ``power``: one that is clearly the best of both has nearly all, and one of
    many alike has little.
    """
    left, right = np.repeat(np.arange(belief.shape[0]), np.diff(belief.indptr)), belief.indices
    powers = belief.data.astype(np.float64) ** power
    sums = [np.bincount(side, powers) for side in (left, right)]
    products = sums[0][left] * sums[1][right]
    shares = np.divide(powers, np.sqrt(products), out=np.zeros_like(powers), where=products > 0)
    return csr_array((shares.astype(np.float32), right, belief.indptr), shape=belief.shape)


def _to_peaks(votes: Sparse) -> Sparse:
    """Each entry in relation to the largest of its row and of its column."""
    peaks = [votes.max(axis=axis).toarray().ravel() for axis in (1, 0)]
    left, right = (np.where(peak > 0, peak, 1) ** -0.5 for peak in peaks)
    scaled = diags_array(left) @ votes @ diags_array(right)
    return csr_array(scaled).astype(np.float32)


def make_clues(pair: MatchedPair, options: Options, sides: Sides, names: ComparedNames) -> Clues:
    """Parts of names and values, and neighbours, from which candidates are proposed.

    The larger the problem, the rarer are the parts that can be followed: four letters, words and
    two words tell enough where three letters are in too many names.
    """
    texts, owners = zip(*(_names_of(names, side, sides[side]) for side in (0, 1)), strict=True)
    spelled = spelling(pl.concat(texts), options)
    kinds: list[Callable[[pl.Series], Rows]] = [
        *(partial(ngram_rows, n=n, boundaries=True) for n in (3, 4)),
        phrase_rows,
    ]
    parts = side_by_side(*in_parallel(lambda kind: kind(spelled), kinds)).sparse
    matrices = adjacency_matrices(pair.left, pair.right, options.adjacency)
    left, right = (
        matrix[positions][:, positions] for matrix, positions in zip(matrices, sides, strict=True)
    )
    size = len(texts[0])
    values = value_words(pair, sides) if options.rounds else None
    return Clues((parts[:size], parts[size:]), (owners[0], owners[1]), values, (left, right))


def _names_of(names: ComparedNames, side: int, entities: Positions) -> tuple[pl.Series, Positions]:
    """The names of these entities, ascending; and the index of the entity that has each."""
    texts = (names.left, names.right)[side]
    if names.starts is None:
        return texts.gather(entities), np.arange(len(entities))
    starts = names.starts[side]
    indices = np.full(len(starts) - 1, -1, dtype=np.int64)
    indices[entities] = np.arange(len(entities))
    owners = np.repeat(indices, np.diff(starts))
    return texts.filter(pl.Series(owners >= 0)), owners[owners >= 0]


def value_words(pair: MatchedPair, sides: Sides) -> Both | None:
    """The words, and two words side by side, in the values of entities; None without values."""
    texts = [
        value_texts(graph).gather(entities)
        for graph, entities in zip(pair.graphs, sides, strict=True)
    ]
    if not all((side != "").any() for side in texts):
        return None
    rows = phrase_rows(folded(pl.concat(texts), numbers=False)).sparse
    return rows[: len(texts[0])], rows[len(texts[0]) :]
