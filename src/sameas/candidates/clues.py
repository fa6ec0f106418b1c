"""Candidates proposed by clues: rare parts that two names share, and likely partners of neighbours.

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
from sameas.similarity.features import spelling
from sameas.text.ngrams import ngram_rows
from sameas.text.words import phrase_rows


@dataclass(frozen=True, eq=False)
class Clues:
    """What hints at partners: parts of names, (n, vocabulary), and neighbours, (n, n)."""

    left_names: Sparse
    right_names: Sparse
    left_neighbours: Sparse
    right_neighbours: Sparse


def propose_by_clues(
    clues: Clues, k: int, *, progress: Progress, tuning: SearchTuning = TUNING.search
) -> Positions:
    """Partners by clues, k for every left and every right entity and every kind, ascending.

    Names propose first. Pairs that are the best of both sides by far then hint at the neighbours
    of the two, and so on, with what neighbours hinted at.
    """
    if not clues.left_names.shape[0] or not clues.right_names.shape[0]:
        return np.empty(0, dtype=np.int64)
    names_of_both = _rare(clues.left_names, clues.right_names, tuning.meetings)
    forth, back = top_products(*names_of_both, k, k)
    names = csr_array(forth.maximum(back))
    progress(0.6)
    found, belief = [pair_numbers(names)], names
    outward = _weighed(clues.left_neighbours)
    inward = _weighed(clues.right_neighbours)
    for turn in range(tuning.clue_rounds):
        hints = _best_few(_mutual_shares(belief, tuning.clue_power), tuning.clue_anchors)
        forth, back = top_products(csr_array(outward @ hints), inward, k, k)
        votes = csr_array(forth.maximum(back))
        if turn:  # the first votes, by names alone, are the poorest
            found.append(pair_numbers(votes))
        belief = csr_array(names + _to_peaks(votes))
        progress(0.6 + 0.4 * (turn + 1) / tuning.clue_rounds)
    return distinct(found)


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


def make_clues(pair: MatchedPair, options: Options, sides: Sides) -> Clues:
    """Parts of names and neighbours, from which candidates are proposed in large problems.

    The larger the problem, the rarer are the parts that can be followed: four letters, words and
    two words tell enough where three letters are in too many names.
    """
    names = pl.concat([pair.left.names.gather(sides[0]), pair.right.names.gather(sides[1])])
    spelled = spelling(names, options)
    kinds: list[Callable[[pl.Series], Rows]] = [
        *(partial(ngram_rows, n=n, boundaries=True) for n in (3, 4)),
        phrase_rows,
    ]
    parts = side_by_side(*in_parallel(lambda kind: kind(spelled), kinds)).sparse
    matrices = adjacency_matrices(pair.left, pair.right, options.adjacency)
    left, right = (
        matrix[positions][:, positions] for matrix, positions in zip(matrices, sides, strict=True)
    )
    size = len(sides[0])
    return Clues(parts[:size], parts[size:], left, right)
