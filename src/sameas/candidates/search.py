"""Find the few partners worth considering for each entity, with their exact profits."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from sameas.candidates.clues import make_clues, propose_by_clues
from sameas.candidates.pairs import Candidates
from sameas.compute.arrays import Matrix, Positions, Progress
from sameas.compute.parallel import THREADS, slices
from sameas.compute.projection import multiply
from sameas.compute.rows import Rows
from sameas.compute.topk import (
    COMPARE_ALL_UP_TO,
    ROUGH,
    SHARP,
    distinct,
    top_k_dense,
    top_k_sparse,
)
from sameas.graph.task import Sides, Task
from sameas.options.options import Options
from sameas.similarity.features import SAME_NAME
from sameas.similarity.hops import HopMean
from sameas.similarity.matrix import RowProduct
from sameas.similarity.model import Model
from sameas.similarity.names import MaxOverNames
from sameas.similarity.protocol import Searchable, Similarity
from sameas.text.languages.support import LanguageSupport

COMPARED = 300
"""Entities for which all partners are compared, to measure what proposed candidates miss."""
FIRST = 60
"""Partners kept for each entity however far below the best, where the plan ranks by profit."""
SAME_VALUES = 10
"""Partners that each entity gets for like values."""
CLUES_BEYOND = 5000
"""Entities a side beyond which clues propose where they are enough."""
EACH, EACH_OF_MANY = 0.4, 0.2
"""The share of an entity's candidates that each kind of clue proposes; less, to save memory, among
many entities."""


def searched_by_clues(task: Task, sides: Sides, support: LanguageSupport) -> bool:
    """Whether pairs are proposed by clues, instead of comparing all entities with each other.

    Clues are as good and faster where refinement adds what they miss. They know only how names are
    spelled, and only the first names of entities that have several.
    """
    enough = task.options.rounds > 0 and not task.pair.both_rdf and not support.used
    limit = min(CLUES_BEYOND, COMPARE_ALL_UP_TO) if enough else COMPARE_ALL_UP_TO
    return task.inputs.embeddings is None and max(map(len, sides)) > limit


def propose(task: Task, sides: Sides, progress: Progress) -> Positions:
    """Pairs proposed by clues, as numbers left * len(right) + right, ascending."""
    options, many = task.options, max(map(len, sides)) > COMPARE_ALL_UP_TO
    # Names and neighbours propose partners separately; refinement finds more by itself.
    k = max(int(options.candidates * (EACH_OF_MANY if many else EACH)), 1)
    return propose_by_clues(make_clues(task.pair, options, sides), k, progress=progress)


def search(
    model: Model,
    options: Options,
    proposed: Positions | None = None,
    progress: Progress | None = None,
) -> Candidates:
    """The partners worth considering of every entity, with their profits.

    ``proposed`` are the pairs of ``propose``; None if all entities are compared.
    """
    profit = model.profit
    assert isinstance(profit, RowProduct | HopMean)
    also = None
    if options.rounds and max(profit.shape) <= COMPARE_ALL_UP_TO:
        also = _namesakes(model, by_spelling=proposed is None, options=options)
    return find_candidates(
        profit,
        options.candidates,
        first=max(options.top, 10 if options.rounds else FIRST),
        proposed=proposed,
        also=also,
        progress=progress,
    )


def _namesakes(model: Model, *, by_spelling: bool, options: Options) -> Positions:
    """Pairs that are alike in their names alone (as spelled, too), or in their values alone."""
    pairs, names, traits = np.zeros(0, dtype=np.int64), model.names, model.traits
    if "namesakes" not in options.without:
        spelled = names["names"]
        if by_spelling and isinstance(spelled, RowProduct):
            pairs = top_k_sparse(spelled.left.sparse, spelled.right.sparse, SAME_NAME)
        elif isinstance(spelled, MaxOverNames):
            spelling = None if traits is None else traits.spelling
            pairs = spelled.alike(SAME_NAME) if spelling is None else spelling.rivals
        if "embedding" in names:
            pairs = np.union1d(pairs, _nearest_encoded(names["embedding"], SAME_NAME))
    if traits is not None and traits.attributes is not None:
        pairs = np.union1d(pairs, traits.attributes.alike(SAME_VALUES))
    return pairs


def _nearest_encoded(block: Similarity, k: int) -> Positions:
    """Pairs of entities one of whose encoded names is among the k nearest of another's."""
    products = block.products if isinstance(block, MaxOverNames) else block
    assert isinstance(products, RowProduct)
    numbers = top_k_dense(products.left, products.right, k, first=k, progress=lambda share: None)
    return block.entities(numbers) if isinstance(block, MaxOverNames) else numbers


def add_translated(model: Model, candidates: Candidates) -> Candidates:
    """The candidates, and the pairs whose names a learnt dictionary makes alike."""
    translated = model.names["dictionary"]
    assert isinstance(translated, RowProduct)
    if max(candidates.shape) > COMPARE_ALL_UP_TO:
        return candidates
    alike = top_k_sparse(translated.left.sparse, translated.right.sparse, SAME_NAME)
    new = np.divmod(np.setdiff1d(alike, candidates.keys), max(candidates.shape[1], 1))
    return candidates.joined(*new, model.profit.of(*new))


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
