"""Find the few partners worth considering for each entity, with their exact profits."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from sameas.candidates.clues import Proposals, make_clues, propose_by_clues
from sameas.candidates.pairs import Candidates
from sameas.compute.arrays import Matrix, Positions, Progress
from sameas.compute.lines import Lines, lines_of, union_of
from sameas.compute.parallel import THREADS, slices
from sameas.compute.projection import multiply
from sameas.compute.rows import Rows, turned
from sameas.compute.topk import among_best, evenly_spread, top_k_dense, top_k_of_some, top_k_sparse
from sameas.graph.task import Sides, Task
from sameas.options.options import Options
from sameas.options.tuning import TUNING, SearchTuning
from sameas.similarity.hops import HopMean
from sameas.similarity.matrix import RowProduct
from sameas.similarity.model import Model
from sameas.similarity.protocol import Searchable, Similarity
from sameas.similarity.several_names import ComparedNames, MaxOverNames
from sameas.text.languages.support import LanguageSupport

AT_ONCE = 300
"""Entities that are compared with all others at once: their rows are made dense."""
FEWEST = 0.3
"""The share of a whole sample that the smallest graphs have."""
PART = 2_000_000
"""Pairs that are gone through at once."""


def searched_by_clues(task: Task, sides: Sides, support: LanguageSupport) -> bool:
    """Whether pairs are proposed by clues, instead of comparing all entities with each other.

    Clues are as good and faster where refinement adds what they miss. They know how names are
    spelled, not what they mean.
    """
    enough = task.options.rounds > 0 and not support.used
    limit = task.tuning.search.compare_all_up_to
    if enough:
        limit = min(limit, task.tuning.search.clues_beyond)
    return task.inputs.embeddings is None and max(map(len, sides)) > limit


def propose(task: Task, sides: Sides, names: ComparedNames, progress: Progress) -> Proposals:
    """Pairs proposed by clues."""
    options, tuning = task.options, task.tuning.search
    # Names and neighbours propose partners separately; refinement finds more by itself.
    k = max(int(options.candidates * tuning.clue_share), 1)
    kept = _kept_of_many(options, (len(sides[0]), len(sides[1])), tuning)
    return propose_by_clues(
        make_clues(task.pair, options, sides, names, tuning=tuning),
        k,
        followed=kept,
        progress=progress,
        tuning=tuning,
    )


def _kept_of_many(options: Options, shape: tuple[int, int], tuning: SearchTuning) -> int | None:
    """Partners that each entity keeps of those proposed; None for all, where there are not many."""
    if max(shape) <= tuning.compare_all_up_to:
        return None
    return max(int(options.candidates * tuning.clue_share_of_many), 1)


def search(
    model: Model,
    options: Options,
    proposed: Proposals | None = None,
    progress: Progress | None = None,
) -> Candidates:
    """The partners worth considering of every entity, with their profits.

    ``proposed`` are the pairs of ``propose``; None if all entities are compared.
    """
    profit, tuning = model.profit, model.tuning.search
    assert isinstance(profit, RowProduct | HopMean)
    also = None if proposed is None else proposed.by_values
    if options.rounds and proposed is None:
        also = namesakes(model, options, count=tuning.partners)
    return find_candidates(
        profit,
        options.candidates,
        first=max(options.top, tuning.partners if options.rounds else tuning.first),
        proposed=None if proposed is None else proposed.pairs,
        kept=_kept_of_many(options, profit.shape, tuning),
        also=also,
        progress=progress,
        tuning=tuning,
    )


def namesakes(
    model: Model, options: Options, *, count: int, only: Sides | None = None
) -> Positions:
    """Pairs that are alike in their names alone (as spelled, too), or in their values alone.

    So many of every entity; with ``only``, of these left and right entities, also if names are
    rows of numbers that were given. As numbers left * len(right) + right, ascending.
    """
    pairs, names, traits = np.zeros(0, dtype=np.int64), model.names, model.traits
    tuning = model.tuning.search
    if "namesakes" not in options.without or only is not None:
        spelled = names["names"]
        if isinstance(spelled, MaxOverNames):
            pairs = spelled.alike(count, only=only)
        elif isinstance(spelled, RowProduct):
            pairs = top_k_sparse(spelled.left.sparse, spelled.right.sparse, count, only=only)
            if only is not None and spelled.left.dense.shape[1]:
                pairs = np.union1d(pairs, _nearest_encoded(spelled, count, tuning, only))
        if "embedding" in names:
            pairs = np.union1d(pairs, _nearest_encoded(names["embedding"], count, tuning, only))
    if traits is not None and traits.attributes is not None:
        pairs = np.union1d(pairs, traits.attributes.alike(count, only=only))
    return pairs


def _nearest_encoded(
    block: Similarity, count: int, tuning: SearchTuning, only: Sides | None
) -> Positions:
    """Pairs of entities one of whose encoded names is among the nearest few of another's."""
    several = block if isinstance(block, MaxOverNames) else None
    products = block if several is None else several.products
    assert isinstance(products, RowProduct)
    if only is not None:
        names = only if several is None else several.names_of(only)
        numbers = top_k_of_some(products.left, products.right, count, only=names)
    else:
        numbers = top_k_dense(
            products.left,
            products.right,
            count,
            first=count,
            columns=tuning.rough_columns,
            progress=lambda share: None,
            tuning=tuning,
        )
    return numbers if several is None else several.entities(numbers)


def add_translated(model: Model, candidates: Candidates) -> Candidates:
    """The candidates, and the pairs whose names a learnt dictionary makes alike."""
    translated, tuning = model.names["dictionary"], model.tuning.search
    assert isinstance(translated, RowProduct)
    if max(candidates.shape) > tuning.compare_all_up_to:
        return candidates
    alike = top_k_sparse(translated.left.sparse, translated.right.sparse, tuning.partners)
    new = np.divmod(np.setdiff1d(alike, candidates.keys), max(candidates.shape[1], 1))
    return candidates.joined(*new, model.profit.of(*new))


def find_candidates(
    profit: Searchable,
    k: int,
    *,
    first: int,
    proposed: Lines | None = None,
    kept: int | None = None,
    also: Positions | None = None,
    progress: Progress | None = None,
    tuning: SearchTuning = TUNING.search,
) -> Candidates:
    """The best partners of every left and of every right entity, with their profits.

    The k nearest, of which those far below the best are left out but not the ``first`` few; or
    pairs that were ``proposed`` otherwise, of which each entity's best by profit are ``kept``.
    Pairs that are ``also`` of interest, numbers left * len(right) + right, ascending, join in
    either case.
    """
    tell = progress or (lambda share: None)
    lines = proposed
    if lines is None:
        rows = profit.rows(0, slice(None)), profit.rows(1, slice(None))
        # Exact profits are ranked to the last; refinement adds what a sketch has missed.
        exact = isinstance(profit, RowProduct)
        numbers = top_k_dense(
            *rows,
            k,
            first=first,
            columns=tuning.sharp_columns if exact else tuning.rough_columns,
            progress=lambda share: tell(0.7 * share),
            tuning=tuning,
        )
        lines = lines_of(numbers, profit.shape)
        del rows, numbers
    if also is not None:
        lines = _joined(lines, also, profit.shape)
    starts, partners = lines.starts, lines.columns
    values = profit.partners(starts, partners, lambda share: tell(0.7 + 0.2 * share))
    found = Candidates(profit.shape, starts, partners, values)
    if proposed is not None:
        if kept is not None:
            found = _best_by_profit(found, kept, also)
        found = replace(found, recall=_recall(profit, found, tuning))
    tell(1.0)
    return found


def _joined(lines: Lines, also: Positions, shape: tuple[int, int]) -> Lines:
    """The pairs, and those of interest, which most often are among them."""
    pairs = Candidates(shape, lines.starts, lines.columns, np.empty(0, dtype=np.float32))
    if (pairs.find(*np.divmod(also, max(shape[1], 1))) >= 0).all():
        return lines
    return union_of([lines, lines_of(also, shape)], shape[1])


def _best_by_profit(found: Candidates, kept: int, also: Positions | None) -> Candidates:
    """The best few of each entity: a name that many share, or a neighbour, proposes too many.

    Pairs that are ``also`` of interest stay, as those of equal values do, which profits do not see.
    """
    which = among_best(
        *(found.starts, found.right, found.values, found.shape[1]), of_rows=kept, of_columns=kept
    )
    if also is not None:
        which[found.find(*np.divmod(also, found.shape[1]))] = True
    return found.select(which)


def _recall(profit: Searchable, found: Candidates, tuning: SearchTuning) -> float | None:
    """The share of pairs, each other's best among all pairs, that are candidates; by a sample.

    Hardly any is missed of entities with a candidate of large profit: most of the sample is of
    those whose best candidate is worth least, and each counts for as many as it stands for. For the
    same reason, a candidate of the others that is its partner's best candidate is taken to be its
    best of all; that is not looked up.
    """
    if not min(profit.shape):
        return None
    best = _largest_values(found)
    total, hits = 0.0, 0.0
    for number, (sample, weight) in enumerate(_samples(best[0], tuning)):
        partners = _best_partner(profit, 0, sample)
        places = found.find(sample, partners)
        here = places >= 0
        mutual = ~here
        mutual[here] = found.values[places[here]] >= best[1][partners[here]]
        asked = mutual if number == 0 else ~here
        mutual[asked] = _best_partner(profit, 1, partners[asked]) == sample[asked]
        total += weight * float(mutual.sum())
        hits += weight * float((mutual & here).sum())
    return hits / total if total else None


def _largest_values(found: Candidates) -> tuple[Matrix, Matrix]:
    """The largest value of each left, and of each right entity; -inf where there is none."""
    left, right = (np.full(size, -np.inf, dtype=np.float32) for size in found.shape)
    for part in slices(len(found), PART):
        np.maximum.at(left, found.left[part], found.values[part])
        np.maximum.at(right, found.right[part], found.values[part])
    return left, right


def _samples(best: Matrix, tuning: SearchTuning) -> list[tuple[Positions, float]]:
    """Some entities of low, of middling and of high best value, and for how many each stands.

    Graphs that are not large get by with fewer: their runs are short.
    """
    share = np.clip(len(best) / max(tuning.compare_all_up_to, 1), FEWEST, 1.0)
    order = np.argsort(best, kind="stable")
    sizes = [round(size * share) for size in tuning.recall_sample]
    low = min(max(len(best) // len(sizes), sizes[0]), len(best))
    middling = low + (len(best) - low) // 2
    samples = []
    for group, size in zip(np.split(order, (low, middling)), sizes, strict=True):
        sample = np.sort(group[evenly_spread(len(group), size)])
        samples.append((sample, len(group) / max(len(sample), 1)))
    return samples


def _best_partner(profit: Searchable, side: int, entities: Positions) -> Positions:
    """The other row of largest product with each of these rows of a side."""
    best, most = np.zeros(len(entities), dtype=np.int64), np.full(len(entities), -np.inf)
    for some in slices(len(entities), AT_ONCE):
        dense = turned(profit.rows(side, entities[some]))
        parts = slices(profit.shape[1 - side], 4000)
        rows = partial(profit.rows, 1 - side)
        for part, (top, values) in THREADS.map(_best, parts, rows, dense):
            better = values > most[some]
            best[some][better], most[some][better] = top[better] + part.start, values[better]
    return best


def _best(others: Rows, dense: Matrix) -> tuple[Positions, Matrix]:
    """The row of largest product with each column, and that product."""
    values = multiply(others, dense)
    top = values.argmax(axis=0)
    return top, values[top, np.arange(dense.shape[1])]
