"""Find the few partners worth considering for each entity, with their exact profits."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from sameas.candidates.pairs import Candidates
from sameas.compute.arrays import Matrix, Positions, Progress
from sameas.compute.parallel import THREADS, slices
from sameas.compute.projection import multiply
from sameas.compute.rows import Rows
from sameas.compute.topk import ROUGH, SHARP, distinct, top_k_dense
from sameas.similarity.matrix import RowProduct
from sameas.similarity.protocol import Searchable

COMPARED = 300
"""Entities for which all partners are compared, to measure what proposed candidates miss."""


def find_candidates(
    profit: Searchable,
    k: int,
    *,
    first: int,
    proposed: Positions | None = None,
    also: Positions | None = None,
    progress: Progress | None = None,
) -> Candidates:
    """The best partners of every left and of every right entity, with their profits.

    The k nearest, of which those far below the best are left out but not the ``first`` few; or
    pairs that were ``proposed`` otherwise. Pairs that are ``also`` of interest join in either
    case. Both are numbers left * len(right) + right, ascending.
    """
    tell = progress or (lambda share: None)
    numbers = proposed
    if numbers is None:
        rows = profit.rows(0, slice(None)), profit.rows(1, slice(None))
        # Exact profits are ranked to the last; refinement adds what a sketch has missed.
        columns = SHARP if isinstance(profit, RowProduct) else ROUGH
        numbers = top_k_dense(
            *rows, k, first=first, columns=columns, progress=lambda share: tell(0.7 * share)
        )
    if also is not None:
        numbers = distinct([numbers, also])
    width = np.int64(max(profit.shape[1], 1))
    starts = np.searchsorted(numbers, np.arange(profit.shape[0] + 1) * width)
    partners = (numbers % width).astype(np.int32)
    del numbers
    values = profit.partners(starts, partners, lambda share: tell(0.7 + 0.2 * share))
    found = Candidates(profit.shape, starts, partners, values)
    if proposed is not None:
        found = replace(found, recall=_recall(profit, found))
    tell(1.0)
    return found


def _recall(profit: Searchable, found: Candidates) -> float | None:
    """The share of pairs, each other's best among all pairs, that are candidates; by a sample."""
    if not min(profit.shape):
        return None
    sample = np.unique(np.linspace(0, profit.shape[0] - 1, COMPARED).astype(np.int64))
    best = _best_partner(profit, 0, sample)
    mutual = _best_partner(profit, 1, best) == sample
    if not mutual.any():
        return None
    return float((found.find(sample[mutual], best[mutual]) >= 0).mean())


def _best_partner(profit: Searchable, side: int, entities: Positions) -> Positions:
    """The other row of largest product with each of these rows of a side."""
    dense = np.ascontiguousarray(profit.rows(side, entities).toarray().T)
    parts = slices(profit.shape[1 - side], 4000)
    best, most = np.zeros(len(entities), dtype=np.int64), np.full(len(entities), -np.inf)
    for part, (top, values) in THREADS.map(_best, parts, partial(profit.rows, 1 - side), dense):
        better = values > most
        best[better], most[better] = top[better] + part.start, values[better]
    return best


def _best(others: Rows, dense: Matrix) -> tuple[Positions, Matrix]:
    """The row of largest product with each column, and that product."""
    values = multiply(others, dense)
    top = values.argmax(axis=0)
    return top, values[top, np.arange(dense.shape[1])]
