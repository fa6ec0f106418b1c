"""Refinement: learn from the most certain links, through the graph, about the other pairs.

Every candidate pair gets a score in log-odds: the sum of what its names, its neighbours' names,
the anchored neighbours it shares, and those that only one of the two has are worth. The plan
turns scores into probabilities, the most certain pairs become anchors, anchors give new evidence
and new candidates, and so on until the links settle. Everything is sparse.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sameas.assignment.decision import lowered_thresholds
from sameas.assignment.duplicates import duplicate_thresholds
from sameas.assignment.leads import explained_by_chance
from sameas.assignment.open import OpenPlan, open_plan
from sameas.assignment.ranking import best_few
from sameas.assignment.sinkhorn import sinkhorn
from sameas.assignment.thresholds import learn_thresholds
from sameas.candidates.pairs import Candidates, line_sums, lines_of_columns, lines_of_rows
from sameas.compute.arrays import Matrix, Positions, Progress, Vector
from sameas.compute.heap import release_freed_memory
from sameas.compute.parallel import gathered, in_parallel, meanwhile, slices
from sameas.compute.topk import pair_numbers
from sameas.options.tuning import Weights
from sameas.refinement.anchors import (
    anchor_thresholds,
    anchors_of,
    anchors_of_duplicates,
    anchors_of_profits,
    beside,
)
from sameas.refinement.evidence import Anchors, Relations, gather_evidence, match_relations
from sameas.refinement.learned_weights import learn_weights
from sameas.refinement.patterns import without_strangers
from sameas.similarity.cache import Terms
from sameas.similarity.model import PROFIT, Model
from sameas.similarity.weights import evidence_terms

PART = 1_000_000
"""Pairs that are compared with the best of their entities at once."""
AT_ONCE_UP_TO = 4_000_000
"""Pairs of which two things may be computed at once: of more, that takes too much memory."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Candidate pairs and what their scores are made of."""

    candidates: Candidates
    """Their ``values`` are the scores, in log-odds once there is evidence."""
    text: Matrix
    """The numbers of each similarity of the model, the profit first; shape (similarities, n), or
    (similarities, 0) when refinement is over."""
    evidence: Matrix
    """That of ``gather_evidence``; shape (3, n)."""
    learned: Matrix
    """What types, attributes and spelling say, in log-odds; shape (n,), or (0,) in the end."""

    def select(self, which: NDArray[np.bool_]) -> Pairs:
        """These of the pairs."""
        places = np.flatnonzero(which)
        text, evidence, learned = gathered((self.text, self.evidence, self.learned), places)
        return Pairs(self.candidates.select(which), text, evidence, learned)

    def compared(self) -> Pairs:
        """The pairs without what is gathered anew in each round, which takes half the memory."""
        nothing = np.zeros((4, 1), dtype=np.float32)
        evidence = np.broadcast_to(nothing[:3], (3, len(self.candidates)))
        return replace(
            self, evidence=evidence, learned=np.broadcast_to(nothing[3], evidence.shape[1:])
        )

    def settled(self) -> Pairs:
        """The pairs without what only another round needs."""
        return replace(self, text=self.text[:, :0].copy(), learned=self.learned[:0].copy())

    def scored(self, scores: Vector | Matrix, model: Model) -> Pairs:
        """The pairs with these scores; those of seeds are raised beyond all others."""
        values: Matrix = scores.astype(np.float32)
        seeds = model.constraints.seeds
        if len(seeds):
            indices = self.candidates.find(seeds[:, 0], seeds[:, 1])
            values[indices] += model.tuning.refinement.seed
        return replace(self, candidates=self.candidates.with_values(values))

    def unraised(self, model: Model) -> Candidates:
        """The pairs with their scores by evidence alone, those of seeds too."""
        seeds = model.constraints.seeds
        if not len(seeds):
            return self.candidates
        values = self.candidates.values.copy()
        values[self.candidates.find(seeds[:, 0], seeds[:, 1])] -= model.tuning.refinement.seed
        return self.candidates.with_values(values)


@dataclass(frozen=True, eq=False)
class Refinement:
    """Scored pairs, and what their scores were learned from."""

    pairs: Pairs
    anchors: Anchors
    """The links that the evidence came from."""
    relations: Relations
    changes: tuple[int, ...]
    """How many anchors changed in each round."""
    thresholds: Vector | None
    """For each kind, the score that a link must exceed; None if the plan is to find it."""
    weights: Weights
    """What the scores were made with."""
    wording: tuple[float, ...] | None = None
    """Within one graph: what was learned about the words of names."""
    in_twos: bool = False
    """Within one graph: whether duplicates come in twos."""
    dictionary_anchors: Anchors | None = None
    """The anchors that a dictionary was learnt from, where there is one."""
    by_chance: bool = False
    """Whether best pairs led by no more than chance gives: then anchors tell of no attribute."""


def refine(
    model: Model,
    candidates: Candidates,
    *,
    temperature: float,
    iterations: int,
    rounds: int,
    learning: bool = False,
    start: Anchors | None = None,
    earlier: Anchors | None = None,
    progress: Progress | None = None,
) -> Refinement:
    """The candidates, and pairs that shared neighbours add, scored by all evidence.

    ``candidates.values`` are profits; ``temperature`` and ``iterations`` are those of the first
    plan, made from profits alone; there is at least one round. With ``learning``, weights are
    learned from the sure anchors of each round, for the next one, but not within one graph.
    ``start`` are anchors to begin with, instead of those of the first plan; ``earlier`` ones
    replace those of the first plan that they contradict.
    """
    known, defaults, tuning = model.constraints, model.weights, model.tuning
    numbers = tuning.refinement
    width, pairs = candidates.shape[1], _first_pairs(candidates, model)
    del candidates
    if known.one_graph and not model.in_twos:
        return _refine_duplicates(pairs, model, rounds=rounds, progress=progress)
    anchors = start or _first_anchors(pairs, model, temperature, iterations)
    if earlier is not None and start is None:
        anchors = beside(earlier, anchors)
    changes: list[int] = []
    thresholds: Vector | None = None
    plan: OpenPlan | None = None
    taught = True
    most = numbers.most_rounds if rounds > 1 else 1
    for turn in range(most):
        release_freed_memory()
        held = [pairs.compared()]
        del pairs
        pairs, relations = _learned_from(held.pop(), anchors, model, taught=taught)
        if turn == 0 and not len(known.seeds):  # seeds are no chance
            taught = not explained_by_chance(pairs.candidates, tuning=numbers)
            if not taught:
                held = [pairs.compared()]
                del pairs
                pairs, relations = _learned_from(held.pop(), anchors, model, taught=False)
        held = [pairs]
        del pairs
        pairs, learned = _near_the_best(held.pop(), anchors, model)
        lowered = thresholds = thresholds if learned is None else learned
        if thresholds is not None:
            lowered, plan = lowered_thresholds(
                pairs.unraised(model), thresholds, known.kinds[0], start=plan, tuning=tuning
            )
        enough = anchor_thresholds(lowered, anchors, tuning=tuning)
        surplus = subtract_threshold(pairs.candidates, enough, known.kinds[0])
        plan = open_plan(
            surplus,
            threshold=None if enough is None else 0.0,
            start=plan,
            tuning=tuning.open,
        )
        new = anchors_of(surplus, plan, known.seeds, tuning=tuning)
        plan = plan.as_start()
        before, now = (each.left * width + each.right for each in (anchors, new))
        changes.append(len(np.setxor1d(before, now)))
        if progress:
            progress(min((turn + 1) / rounds, 1.0))
        settled = changes[-1] <= numbers.settled * len(now)
        growing = len(now) > (1 + numbers.growth) * len(before) and turn < most - 1
        if settled or (turn >= rounds - 1 and not growing):
            break
        if learning and not known.one_graph:
            model = replace(model, weights=_learned_weights(pairs, new, model, defaults))
        anchors = new
        del surplus  # the next round needs room for pairs twice
    return Refinement(
        pairs.settled(),
        anchors,
        relations,
        tuple(changes),
        thresholds,
        model.weights,
        in_twos=model.in_twos,
        by_chance=not taught,
    )


def _refine_duplicates(
    pairs: Pairs, model: Model, *, rounds: int, progress: Progress | None
) -> Refinement:
    """The candidates of one graph and those that grow from them, scored by all evidence.

    Learning is careful, since most entities of a graph may have no duplicate: anchors are sure,
    and weights stay as they are.
    """
    kinds, tuning = model.constraints.kinds[0], model.tuning
    columns = model.columns
    nobody = np.zeros(0, dtype=np.int64)
    anchors, changes = Anchors(nobody, nobody, np.zeros(0)), list[int]()
    for turn in range(max(rounds, 1)):
        release_freed_memory()
        held = [pairs.compared()]
        del pairs
        pairs, relations = _learned_from(held.pop(), anchors, model)
        thresholds = duplicate_thresholds(pairs.candidates, kinds, tuning=tuning.duplicates)
        surplus = subtract_threshold(pairs.candidates, thresholds, kinds)
        surplus = without_strangers(surplus, columns, tuning=tuning.duplicates)
        new = anchors_of_duplicates(surplus, tuning=tuning)
        before, now = (each.left * len(kinds) + each.right for each in (anchors, new))
        changes.append(len(np.setxor1d(before, now)))
        if progress:
            progress((turn + 1) / max(rounds, 1))
        settled = changes[-1] <= tuning.refinement.settled * len(now)
        if settled or turn >= rounds - 1:
            break
        anchors, model = new, _taught(model, surplus, thresholds)
    for _ in range(tuning.duplicates.growths):
        grown = _grown(pairs, surplus, model)
        if len(grown.candidates) == len(pairs.candidates):
            break
        held = [grown.compared()]
        del pairs, grown
        learned = model.learn_traits(anchors.left, anchors.right, anchors.trust)
        pairs = _with_evidence(
            _with_traits(held.pop(), learned, model), anchors, relations, learned, model
        )
        thresholds = duplicate_thresholds(pairs.candidates, kinds, tuning=tuning.duplicates)
        surplus = subtract_threshold(pairs.candidates, thresholds, kinds)
        surplus = without_strangers(surplus, columns, tuning=tuning.duplicates)
    wording = None if model.traits is None else model.traits.wording
    worth = None if wording is None else wording.worth
    return Refinement(pairs, anchors, relations, tuple(changes), thresholds, model.weights, worth)


def _taught(model: Model, surplus: Candidates, thresholds: Vector) -> Model:
    """The model with what the pairs of one graph show about the wording of names."""
    if model.traits is None:
        return model
    one_way = surplus.left < surplus.right
    ends = surplus.left[one_way], surplus.right[one_way]
    values = surplus.values[one_way].astype(np.float64)
    traits = model.traits.taught(*ends, values, thresholds[model.constraints.kinds[0][ends[0]]])
    return replace(model, traits=traits)


def _grown(pairs: Pairs, surplus: Candidates, model: Model) -> Pairs:
    """The pairs and those of two entities that both are likely duplicates of a third; unscored.

    Entities that have very many partners already get no more.
    """
    n = surplus.shape[0]
    counts = np.diff(surplus.starts)
    likely = surplus.values > 0
    open_ends = counts < model.tuning.duplicates.grown
    likely &= open_ends[surplus.left] | open_ends[surplus.right]
    ends = surplus.left[likely], surplus.right[likely]
    graph = csr_array((np.ones(len(ends[0]), dtype=np.float32), ends), shape=(n, n))
    numbers = pair_numbers(csr_array(graph @ graph))
    numbers.sort()  # rows of a product have their columns in any order
    left, right = np.divmod(numbers, n)
    chosen = (open_ends[left] & open_ends[right]) & (pairs.candidates.find(left, right) < 0)
    left, right = left[chosen], right[chosen]
    chosen = model.compares(left, right)
    left, right = left[chosen], right[chosen]
    if not len(left):
        return pairs
    text = np.stack(
        [model.profit.of(left, right), *(b.of(left, right) for b in model.names.values())]
    )
    nothing = np.zeros((4, len(left)), dtype=np.float32)
    return _merged(pairs, np.stack([left, right]), text, nothing[:3], nothing[3])


def _first_anchors(pairs: Pairs, model: Model, temperature: float, iterations: int) -> Anchors:
    """The anchors of a plan made from profits, and from a guess about traits."""
    if model.traits is not None:
        nobody = np.zeros(0, dtype=np.int64)
        guess = model.learn_traits(nobody, nobody, np.zeros(0))
        bonus = guess(pairs.candidates.left, pairs.candidates.right)
        pairs = pairs.scored(pairs.text[0] + temperature * bonus, model)
    plan = sinkhorn(pairs.candidates, temperature=temperature, iterations=iterations)
    return anchors_of_profits(pairs.candidates, plan, tuning=model.tuning)


def _learned_weights(pairs: Pairs, anchors: Anchors, model: Model, defaults: Weights) -> Weights:
    """The weights by which sure anchors are best told from the other candidates of both ends."""
    every, tuning = pairs.candidates, model.tuning
    indices = every.find(anchors.left, anchors.right)
    sure = indices[(anchors.trust > tuning.open.sure) & (indices >= 0)]
    # An even sample in the order of scores: the same whichever graph is the left one.
    sure = sure[np.argsort(every.values[sure], kind="stable")]
    count = min(len(sure), tuning.refinement.weight_anchors)
    sure = sure[np.linspace(0, len(sure) - 1, count).astype(np.int64)]
    left, (by_right, order) = every.left, every.by_right
    rows = ranges(every.starts, left[sure])
    columns = ranges(by_right, every.right[sure])
    chosen = np.concatenate([rows[0], order[columns[0]]])
    counts = np.concatenate([rows[1], columns[1]])
    crowd = model.constraints.crowd[left[chosen]]
    evidence = evidence_terms(defaults, pairs.evidence[:, chosen], crowd)
    profit, *names = pairs.text[:, chosen]
    terms = {
        **dict(zip(model.names, names, strict=True)),
        PROFIT: profit,
        **dict(zip(("shared", "lacking"), evidence, strict=True)),
    }
    truth = chosen == np.repeat(np.tile(sure, 2), counts)
    return learn_weights(
        defaults,
        terms,
        pairs.learned[chosen],
        counts=counts,
        truth=truth,
        tuning=tuning.refinement,
    )


def ranges(starts: Positions, lines: NDArray[np.integer]) -> tuple[Positions, Positions]:
    """The places of all pairs of these lines, one line after the other; and how many each has."""
    counts = starts[lines + 1] - starts[lines]
    before = np.cumsum(counts) - counts
    indices: Positions = np.arange(counts.sum()) + np.repeat(starts[lines] - before, counts)
    return indices, counts


def subtract_threshold(
    scores: Candidates, thresholds: Vector | None, kinds: NDArray[np.integer]
) -> Candidates:
    """The pairs with their scores less the threshold of their kind; ``kinds`` of left entities."""
    if thresholds is None:
        return scores
    surplus = scores.values - thresholds[kinds[scores.left]].astype(np.float32)
    return scores.with_values(surplus)


def _first_pairs(candidates: Candidates, model: Model) -> Pairs:
    """The candidates that are compared, and the seeds in any case, scored by profit."""
    known = model.constraints
    allowed = model.compares(candidates.left, candidates.right)
    indices = candidates.find(*known.seeds.T)
    allowed[indices[indices >= 0]] = True
    seeds = known.seeds[indices < 0].T
    chosen = candidates if allowed.all() else candidates.select(allowed)
    if seeds.size:
        chosen = chosen.joined(seeds[0], seeds[1], model.profit.of(*seeds))
    names = [block.partners(chosen.starts, chosen.right) for block in model.names.values()]
    nothing = np.zeros((4, len(chosen)), dtype=np.float32)
    pairs = Pairs(chosen, np.stack([chosen.values, *names]), nothing[:3], nothing[3])
    return pairs.scored(pairs.text[0], model)


def _few(pairs: Pairs) -> bool:
    """Whether two things may be computed of the pairs at once."""
    return len(pairs.candidates) <= AT_ONCE_UP_TO


def _learned_from(
    pairs: Pairs, anchors: Anchors, model: Model, *, taught: bool = True
) -> tuple[Pairs, Relations]:
    """The pairs, and more of them, scored by what anchors tell; and the relations that match.

    Attributes count by what anchors tell of them or, if these are not ``taught``, by a guess.
    """
    match = partial(match_relations, *model.edges, anchors, tuning=model.tuning)
    with meanwhile(match, at_once=_few(pairs)) as matched:
        learned = model.learn_traits(anchors.left, anchors.right, anchors.trust, taught=taught)
        held = [_with_traits(pairs, learned, model)]
        del pairs  # what follows lets go of them
        relations = matched()
    return _with_evidence(held.pop(), anchors, relations, learned, model), relations


def _near_the_best(pairs: Pairs, anchors: Anchors, model: Model) -> tuple[Pairs, Vector | None]:
    """The pairs that are near the best of their entities; and the thresholds that anchors teach."""
    known, tuning = model.constraints, model.tuning
    near = partial(
        _within_reach, pairs.candidates, tuning.refinement.spread, tuning.search.partners
    )
    with meanwhile(near, at_once=_few(pairs)) as within_reach:
        thresholds = learn_thresholds(
            pairs.unraised(model),
            (anchors.left, anchors.right, anchors.trust),
            known.kinds,
            tuning=tuning.open,
        )
        return pairs.select(within_reach()), thresholds


def _with_evidence(
    pairs: Pairs, anchors: Anchors, relations: Relations, learned: Terms, model: Model
) -> Pairs:
    """The pairs, and those that only shared neighbours propose, scored by all evidence.

    Of the pairs it is known what they are worth by what was ``learned``.
    """
    weights, tuning = model.weights, model.tuning
    old, new, evidence = gather_evidence(
        *model.edges,
        anchors,
        relations,
        pairs.candidates,
        enter=weights.unit,
        tuning=tuning.evidence,
    )
    pairs = _scored(replace(pairs, evidence=old), model)
    new, evidence = _chosen(model.compares(*new), new, evidence)
    if not new.size:
        return pairs
    # Names are compared only for pairs that could still come within reach of the best, and
    # neighbourhoods only for those that names have not ruled out.
    floor = _best(_bests(pairs.candidates), *new) - tuning.refinement.spread
    most = model.evidence(new[0], evidence) + weights.profit
    worths = model.name_weights
    hopeful = most + worths.sum() >= floor
    new, evidence, floor, most = _chosen(hopeful, new, evidence, floor, most)
    alike = np.stack([block.of(*new) for block in model.names.values()])
    hopeful = most + worths @ alike.astype(np.float64) >= floor
    new, evidence, alike = _chosen(hopeful, new, evidence, alike)
    text = np.concatenate([model.profit.of(*new)[None], alike])
    every = _merged(pairs, new, text, evidence, learned(*new))
    del pairs, new, evidence, text, alike, old  # scores take as much again
    return _scored(every, model)


def _with_traits(pairs: Pairs, learned: Terms, model: Model) -> Pairs:
    """The pairs with what their traits are worth."""
    return replace(pairs, learned=_of_traits(learned, pairs.candidates, model))


def _of_traits(learned: Terms, candidates: Candidates, model: Model) -> Matrix:
    """What traits say about each pair; of a large table, each pair is compared one way round."""
    ends = candidates.left, candidates.right
    traits = model.traits
    if model.constraints.one_graph and traits is not None and traits.of_tables:
        order = candidates.by_right[1]  # that of (right, left): the other way round, if it is there
        if np.array_equal(ends[1], ends[0][order]) and np.array_equal(ends[0], ends[1][order]):
            one_way = np.flatnonzero(ends[0] < ends[1])
            values = np.zeros(len(candidates), dtype=np.float32)
            values[one_way] = learned(*(side[one_way] for side in ends))
            values[order[one_way]] = values[one_way]
            return values
    return learned(*ends).astype(np.float32)


def _merged(pairs: Pairs, new: Positions, text: Matrix, evidence: Matrix, learned: Vector) -> Pairs:
    """The old pairs and new ones, not scored yet; both are sorted."""
    old, count = pairs.candidates, len(new[0])
    place = old.places_for(*new)
    is_new = np.zeros(len(old) + count, dtype=np.bool_)
    is_new[place + np.arange(count)] = True

    is_old = ~is_new

    def both(arrays: tuple[NDArray[Any], NDArray[Any]]) -> NDArray[Any]:
        first, second = arrays
        every = np.empty((*first.shape[:-1], len(is_new)), dtype=first.dtype)
        # Masks of single rows are much faster.
        for line, *parts in zip(*map(np.atleast_2d, (every, first, second)), strict=True):
            line[is_old], line[is_new] = parts
        return every

    starts = old.starts + np.searchsorted(new[0], np.arange(len(old.starts)))
    olds = pairs.evidence, pairs.text, old.right, pairs.learned
    news = evidence, text, new[1], learned
    every = in_parallel(both, zip(olds, news, strict=True))
    evidence, text, right, traits = every
    scores = np.zeros(len(right), dtype=np.float32)
    return Pairs(Candidates(old.shape, starts, right, scores), text, evidence, traits)


def _scored(pairs: Pairs, model: Model) -> Pairs:
    """The pairs with their scores by the model."""
    scores = model.score(pairs.candidates.left, pairs.text, pairs.evidence, pairs.learned)
    return pairs.scored(scores, model)


def _chosen(which: NDArray[np.bool_], *arrays: NDArray[Any]) -> list[NDArray[Any]]:
    """These of the pairs that the last axis of each array is about."""
    return [array[..., which] for array in arrays]


def _within_reach(scores: Candidates, spread: float, few: int) -> NDArray[np.bool_]:
    """Which pairs are near the best of their row or column, or among the first few of one."""
    best = _bests(scores)
    near = np.empty(len(scores), dtype=np.bool_)
    for part in slices(len(scores), PART):
        ends = scores.left[part], scores.right[part]
        near[part] = scores.values[part] >= _best(best, *ends) - spread
    rows, columns = lines_of_rows(scores), lines_of_columns(scores)
    near[best_few(rows, few, np.zeros(scores.shape[1]))[0]] = True
    near[scores.by_right[1][best_few(columns, few, np.zeros(scores.shape[0]))[0]]] = True
    return near


def _bests(candidates: Candidates) -> tuple[Vector, Vector]:
    """The best score of each left and of each right entity."""
    n, m = candidates.shape
    rows = line_sums(lines_of_rows(candidates), np.zeros(m), 0.0)
    return rows, line_sums(lines_of_columns(candidates), np.zeros(n), 0.0)


def _best(
    bests: tuple[Vector, Vector], left: NDArray[np.integer], right: NDArray[np.integer]
) -> Vector:
    """The best score of each pair's left or right entity, the larger of both."""
    best: Vector = np.maximum(bests[0][left], bests[1][right])
    return best
