"""Candidates proposed by clues: rare parts of names, rare values, likely partners of neighbours.

The cost grows linearly with the size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, hstack

from sameas.compute.arrays import Positions, Progress, Sparse, Vector
from sameas.compute.heap import release_freed_memory
from sameas.compute.lines import Lines, lines_of, union_of
from sameas.compute.parallel import even_slices, in_parallel, in_parallel_if, is_apart, meanwhile
from sameas.compute.rows import Rows, as_rows, rows_of, starts_in, starts_of_kept, unit
from sameas.compute.topk import among_best, pair_numbers, top_products
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
from sameas.text.words import opening_rows, phrase_rows

Both = tuple[Sparse, Sparse]
"""A row for each left, and for each right entity or name."""
PART = 2_000_000
"""Entries that are treated at once."""


@dataclass(frozen=True, eq=False)
class Clues:
    """What hints at partners, of the left and of the right entities."""

    names: Both
    """The rare parts of names at unit length, (names, vocabulary)."""
    owners: tuple[Positions, Positions]
    """The entity that has each name, ascending."""
    values: Both | None
    """The rare words of values, (entities, vocabulary); None if there are none."""
    neighbours: Both
    """(entities, entities)."""


@dataclass(frozen=True, eq=False)
class Proposals:
    """Pairs proposed by clues."""

    pairs: Lines
    """By left entity."""
    by_values: Positions | None
    """Those of the pairs that rare values propose, as numbers left * len(right) + right,
    ascending; None without values."""


def propose_by_clues(
    clues: Clues,
    k: int,
    *,
    followed: int | None = None,
    progress: Progress,
    tuning: SearchTuning = TUNING.search,
) -> Proposals:
    """Partners by clues, k for every left and every right entity and every kind.

    Names and values propose first. Pairs that are the best of both sides by far then hint at the
    neighbours of the two, and so on, with what neighbours hinted at. Only the best few are
    ``followed`` from round to round, where that is given, and no hubs.
    """
    few = k if followed is None else followed
    shape = clues.neighbours[0].shape[0], clues.neighbours[1].shape[0]
    if not all(shape):
        return Proposals(lines_of(np.empty(0, dtype=np.int64), shape), None)
    texts = _of_entities(_alike(clues.names, k), clues.owners, shape, k)
    found, by_values = [_lines(texts)], None
    if clues.values is not None:
        values = _alike(clues.values, few)
        found.append(_lines(values))
        by_values = pair_numbers(values)
        texts = csr_array(texts + values)
        del values
    if few < k:
        texts = best_of_both(texts, few)
    progress(0.6)
    belief = texts
    outward, inward = in_parallel_if(followed is None, _weighed, clues.neighbours)
    del clues  # the parts of names take more than all that follows
    for turn in range(tuning.clue_rounds):
        release_freed_memory()
        hints = _best_few(_mutual_shares(belief, tuning.clue_power), tuning.clue_anchors)
        if followed is not None:
            hints = _seldom_met(hints, (outward, inward), tuning.neighbour_meetings)
        last = turn == tuning.clue_rounds - 1
        each = k if last else few
        votes = _either(*top_products(csr_array(outward @ hints), inward, each, each))
        if turn:  # the first votes, by names alone, are the poorest
            found.append(_lines(votes))
        if not last:
            belief = csr_array(texts + _to_peaks(votes))
        progress(0.6 + 0.4 * (turn + 1) / tuning.clue_rounds)
    del texts, belief, hints, votes, outward, inward
    return Proposals(union_of(found, shape[1]), by_values)


def _lines(matrix: Sparse) -> Lines:
    """The places of a matrix that are filled."""
    return Lines(matrix.indptr, matrix.indices)


def _alike(texts: Both, k: int) -> Sparse:
    """The k of each row, and of each column, that have most rare parts in common."""
    return _either(*top_products(*texts, k, k))


def _either(one: Sparse, other: Sparse) -> Sparse:
    """The entries of either of two matrices."""
    return csr_array(one.maximum(other))


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
    return best_of_both(every, k)


def rare_parts(kinds: Iterable[Both], most: int, *, few: bool = True) -> Both:
    """Rows of the parts that are rare enough, weighted by how rare, at unit length.

    ``kinds`` are the parts of each kind that left and right texts have. Unless there are ``few``
    texts, one is treated after the other.
    """
    shared = in_parallel_if(few, lambda kind: _in_both(*kind), kinds)
    counts = [
        np.concatenate(
            [np.bincount(kind[side].indices, minlength=kind[side].shape[1]) for kind in shared]
        )
        for side in (0, 1)
    ]
    total = counts[0] + counts[1]
    size = shared[0][0].shape[0] + shared[0][1].shape[0]
    # As many of the rarest as the meetings that they lead to allow.
    order = np.argsort(total, kind="stable")
    meetings = np.cumsum((counts[0] * counts[1].astype(np.float64))[order])
    rare = np.zeros(len(total), dtype=np.bool_)
    rare[order[meetings <= most * size / 2]] = True
    weights = (np.log(max(size, 2) / np.maximum(total, 1)) * rare).astype(np.float32)
    ends = np.cumsum([kind[0].shape[1] for kind in shared])
    by_kind = np.split(weights, ends[:-1])

    def rows_of_side(side: int) -> Sparse:
        return _to_length(
            [_weighted(kind[side], each) for kind, each in zip(shared, by_kind, strict=True)]
        )

    rows = in_parallel_if(few, rows_of_side, range(1 if _same(shared) else 2))
    return rows[0], rows[-1]


def _same(kinds: Iterable[Both]) -> bool:
    """Whether both sides are the same: those of one graph."""
    return all(left is right for left, right in kinds)


def _in_both(left: Sparse, right: Sparse) -> Both:
    """The columns that both sides have; no others tell who is alike."""
    if left is right:
        return left, right
    has = [np.zeros(side.shape[1], dtype=np.bool_) for side in (left, right)]
    has[0][left.indices], has[1][right.indices] = True, True
    both = has[0] & has[1]
    numbers = np.cumsum(both, dtype=np.int32) - np.int32(1)
    ones = np.ones(int(both.sum()), dtype=np.float32)
    shared = []
    for side in (left, right):
        kept = _weighted(side, both.astype(np.float32))
        parts = kept.data, numbers[kept.indices], kept.indptr
        shared.append(csr_array(parts, shape=(side.shape[0], len(ones))))
    return shared[0], shared[1]


def _weighted(rows: Sparse, weights: NDArray[np.float32]) -> Sparse:
    """Rows weighted by column, without the entries that become zero."""
    kept = weights[rows.indices] != 0
    columns = rows.indices[kept]
    starts = starts_of_kept(rows.indptr, kept).astype(rows.indptr.dtype)
    return csr_array((rows.data[kept] * weights[columns], columns, starts), shape=rows.shape)


def _to_length(kinds: list[Sparse]) -> Sparse:
    """The parts of all kinds side by side, as rows of unit length."""
    return unit(as_rows(csr_array(hstack(kinds, format="csr", dtype=np.float32)))).sparse


def _weighed(neighbours: Sparse) -> Sparse:
    """Neighbours without loops; one that many entities share weighs less."""
    others = csr_array(neighbours - diags_array(neighbours.diagonal()))
    others.eliminate_zeros()
    degrees = np.bincount(others.indices, minlength=others.shape[1])
    weights = np.maximum(degrees, 1.0) ** -0.5
    return csr_array(others @ diags_array(weights)).astype(np.float32)


def _best_few(matrix: Sparse, few: int) -> Sparse:
    """The few largest entries of each row."""
    return _largest(matrix, few, 0)


def _seldom_met(hints: Sparse, neighbours: Both, most: int) -> Sparse:
    """The hints whose neighbours meet seldom enough, as the parts of names that are rare enough.

    Neighbours of two hubs are too many for the hubs to say who is whose partner, and the larger
    the graphs, the larger are the hubs.
    """
    left, right = (np.bincount(side.indices, minlength=side.shape[1]) for side in neighbours)
    meetings = np.repeat(left, np.diff(hints.indptr)) * right[hints.indices].astype(np.float64)
    order = np.argsort(meetings, kind="stable")
    rare = np.zeros(len(meetings), dtype=np.bool_)
    rare[order[np.cumsum(meetings[order]) <= most * sum(hints.shape) / 2]] = True
    starts = starts_of_kept(hints.indptr, rare).astype(hints.indptr.dtype)
    kept: Sparse = csr_array((hints.data[rare], hints.indices[rare], starts), hints.shape)
    return kept


def best_of_both(matrix: Sparse, few: int) -> Sparse:
    """The few largest entries of each row, and of each column."""
    return _largest(matrix, few, few)


def _largest(matrix: Sparse, of_rows: int, of_columns: int) -> Sparse:
    """So many of the largest entries of each row and of each column, none that is not positive."""
    kept = among_best(
        *(matrix.indptr, matrix.indices, matrix.data, matrix.shape[1]),
        of_rows=of_rows,
        of_columns=of_columns,
    )
    starts = starts_of_kept(matrix.indptr, kept).astype(matrix.indptr.dtype)
    largest: Sparse = csr_array((matrix.data[kept], matrix.indices[kept], starts), matrix.shape)
    return largest


def _mutual_shares(belief: Sparse, power: int) -> Sparse:
    """The geometric mean of each entry's shares of its row and of its column.

    Shares are of a high ``power``: one that is clearly the best of both has nearly all, and one of
    many alike has little.
    """
    sums = np.zeros(belief.shape[0]), np.zeros(belief.shape[1])
    starts, columns = belief.indptr, belief.indices
    parts = list(even_slices(starts, PART))

    def powers_of(part: slice) -> tuple[Positions, slice, Vector]:
        """The row of each entry of some rows, where these entries are, and their powers."""
        ends, entries = starts_in(starts, part)
        rows = np.repeat(np.arange(part.start, part.stop), np.diff(ends))
        return rows, entries, belief.data[entries].astype(np.float64) ** power

    for part in parts:
        rows, entries, powers = powers_of(part)
        np.add.at(sums[0], rows, powers)
        np.add.at(sums[1], columns[entries], powers)
    shares = np.empty(belief.nnz, dtype=np.float32)
    for part in parts:
        rows, entries, powers = powers_of(part)
        products = sums[0][rows] * sums[1][columns[entries]]
        shares[entries] = np.divide(
            powers, np.sqrt(products), out=np.zeros_like(powers), where=products > 0
        )
    return csr_array((shares, columns, starts), shape=belief.shape)


def _to_peaks(votes: Sparse) -> Sparse:
    """Each entry in relation to the largest of its row and of its column."""
    peaks = [votes.max(axis=axis).toarray().ravel() for axis in (1, 0)]
    left, right = (np.where(peak > 0, peak, 1) ** -0.5 for peak in peaks)
    scaled = diags_array(left) @ votes @ diags_array(right)
    return csr_array(scaled).astype(np.float32)


def make_clues(
    pair: MatchedPair,
    options: Options,
    sides: Sides,
    names: ComparedNames,
    *,
    tuning: SearchTuning = TUNING.search,
) -> Clues:
    """Parts of names and values, and neighbours, from which candidates are proposed."""
    one_graph = pair.is_one_graph and np.array_equal(*sides)
    every_side = range(1 if one_graph else 2)
    texts, owners = zip(*(_names_of(names, side, sides[side]) for side in every_side), strict=True)
    spelled = spelling(pl.concat(texts), options)
    many = max(map(len, sides)) > tuning.compare_all_up_to
    refined = options.rounds > 0 and not pair.is_one_graph
    kinds, meetings = _kinds_of_parts(tuning, many=many and refined)
    size = len(texts[0])
    by_side = _twice if one_graph else partial(_by_side, size=size)
    few = not many and not is_apart()

    def of_kind(kind: Callable[[pl.Series], Rows]) -> Both:
        return by_side(kind(spelled))

    def rare_in_values() -> Both | None:
        values = value_words(pair, sides) if options.rounds else None
        return None if values is None else rare_parts([values], tuning.meetings, few=few)

    neighbours = partial(adjacency_matrices, pair.left, pair.right, options.adjacency)
    with (
        meanwhile(rare_in_values, at_once=few) as rare_values,
        meanwhile(neighbours, at_once=few) as matrices,
    ):
        # Of many names, one kind after the other: each takes several times as much while it is
        # made.
        made = in_parallel(of_kind, kinds) if few else map(of_kind, kinds)
        parts = rare_parts(made, meetings, few=few)
        rare, adjacent = rare_values(), matrices()
    left, right = (
        matrix if len(positions) == matrix.shape[0] else matrix[positions][:, positions]
        for matrix, positions in zip(adjacent, sides, strict=True)
    )
    return Clues(parts, (owners[0], owners[-1]), rare, (left, right))


def _twice(rows: Rows) -> Both:
    """The rows of one graph, as those of both sides."""
    return rows.sparse, rows.sparse


def _kinds_of_parts(
    tuning: SearchTuning, *, many: bool
) -> tuple[list[Callable[[pl.Series], Rows]], int]:
    """What makes parts of names, kind by kind, and how many meetings they may lead to.

    The larger the problem, the rarer are the parts that can be followed: where names are ``many``,
    three letters are in too many of them, and often a word is. How two of its words begin tells
    more then, and fewer meetings lead to more of the partners. Where nothing is refined, or within
    one graph, that was not tried.
    """
    letters = [partial(ngram_rows, n=n, boundaries=True) for n in (3, 4)]
    if not many:
        return [*letters, phrase_rows], tuning.meetings
    openings = partial(opening_rows, letters=tuning.opening_letters, reach=tuning.opening_reach)
    return [letters[1], phrase_rows, openings], tuning.meetings_of_many


def _by_side(rows: Rows, size: int) -> Both:
    """The first rows, and the others."""
    sparse = rows.sparse
    return rows_of(sparse, slice(0, size)), rows_of(sparse, slice(size, sparse.shape[0]))


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
    one_graph = pair.is_one_graph and np.array_equal(*sides)
    texts = [
        value_texts(graph).gather(entities)
        for graph, entities in list(zip(pair.graphs, sides, strict=True))[: 1 if one_graph else 2]
    ]
    if not all((side != "").any() for side in texts):
        return None
    rows = phrase_rows(folded(pl.concat(texts), numbers=False))
    return _twice(rows) if one_graph else _by_side(rows, len(texts[0]))
