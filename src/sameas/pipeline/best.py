"""The method with refinement, where entities may stay unmatched: the preset ``best``."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from sameas.assignment.decision import Chance, Strengths, decide, strengths_of
from sameas.assignment.exact import Assignment, Certificate, assign, bounded
from sameas.assignment.open import (
    OpenPlan,
    best_of_side,
    gap_to_bound,
    likeliest,
    open_links,
    open_plan,
)
from sameas.assignment.ranking import Ranked, ranked, ranks_of
from sameas.candidates.pairs import Candidates, from_pairs
from sameas.candidates.search import add_translated
from sameas.candidates.since import earlier_pairs, little_changed
from sameas.compute.arrays import Mask, Numbers, Positions, Progress, Vector
from sameas.compute.heap import keep_large_arrays_apart
from sameas.graph.kind import Kind
from sameas.graph.matched import MatchedPair
from sameas.graph.task import Task
from sameas.options.options import Options
from sameas.pipeline.memory import plan_memory
from sameas.pipeline.outcome import Outcome, prices_of
from sameas.pipeline.phases import Phases
from sameas.pipeline.stages import Prepared, prepare
from sameas.refinement.evidence import Anchors, Relations
from sameas.refinement.refine import Refinement, refine, subtract_threshold
from sameas.result.alignment import Alignment, Diagnostics
from sameas.result.audit.calibration import level_for
from sameas.result.audit.decoys import BestMatches, best_matches
from sameas.result.audit.estimate import audit_links
from sameas.result.audit.record import Audit
from sameas.similarity.crosslingual import choose_support
from sameas.similarity.edges import NAME
from sameas.similarity.make_task import make_task
from sameas.similarity.model import Model, make_model
from sameas.similarity.weights import LEARNED
from sameas.text.languages.support import LanguageSupport

log = logging.getLogger(__name__)

MANY, LARGE_ARRAY = 200_000, 8 * 2**20
"""Entities of a side from which on arrays of so many bytes are kept apart: with 300,000, a quarter
less memory for a sixth more processor time."""


def align_refined(task: Task, phases: Phases) -> Outcome:
    """Links that are likelier than not."""
    return outcome_of(task, *refined(task, phases), phases)


def refined(task: Task, phases: Phases) -> tuple[Model, Refinement, Diagnostics]:
    """The model of a task without similarities, its refined scores, and figures about them."""
    support = choose_support(task.pair, task.options, task.inputs, tuning=task.tuning.languages)
    planned = plan_memory(task, task.everything, support)
    if max(map(len, task.everything)) > MANY:
        keep_large_arrays_apart(LARGE_ARRAY)
    model = make_model(task)
    return model, *_refined(task, model, support, planned, phases)


def align_prepared(
    task: Task, prepared: Prepared, phases: Phases, *, learning: bool = True
) -> Outcome:
    """The outcome from what was prepared before, to compare settings of refinement.

    The task's options must agree with those of the preparation in features, neighbours and
    candidates. Without ``learning``, weights stay as the task's tuning has them.
    """
    before, candidates, figures = prepared
    assert candidates is not None
    model = make_model(task)
    complete = replace(model, similarities=before.similarities, traits=before.traits)
    learnt = figures.languages is not None and figures.languages.learnt
    refinement = refine_model(task, complete, candidates, learnt=learnt, learning=learning)
    return outcome_of(task, model, refinement, figures, phases)


def verify_refined(task: Task, alignment: Alignment) -> Certificate:
    """What the prices of an exact alignment prove, among all its candidates."""
    refinement = _refined_again(task, make_model(task), alignment)
    surplus = make_plan(task, refinement).surplus
    # Staying unmatched is worth nothing, not less: a price below that would prove too much.
    left, right = (np.maximum(prices, 0.0) for prices in prices_of(alignment))
    objective = alignment.diagnostics.objective
    return bounded(surplus, left, right, objective=objective)


def audit_refined(alignment: Alignment) -> Audit | None:
    """The audit of a finished run, which is refined again for it."""
    task = make_task(alignment.pair, alignment.options, alignment.inputs, tuning=alignment.tuning)
    model = make_model(task)
    refinement = _refined_again(task, model, alignment)
    decided = decide_links(task, make_plan(task, refinement))
    return _audit(task, model, refinement, decided, calibrated=False)


def refine_model(
    task: Task,
    model: Model,
    candidates: Candidates,
    *,
    learnt: bool = False,
    learning: bool = True,
    progress: Progress | None = None,
) -> Refinement:
    """The refinement that the options ask for; without ``learning``, weights stay as they are.

    If a dictionary is ``learnt``, it is made twice: the dictionary, from the anchors of the first
    time, is one more block of names for the second time. It is kept if that makes more anchors;
    what names of few words share by a dictionary of few links may mislead.
    """
    options, earlier = task.options, earlier_anchors(task)
    held = [candidates]
    del candidates  # refinement lets go of them
    # Anchors of an earlier run have settled already.
    rounds = options.rounds if earlier is None else (options.rounds + 1) // 2

    def once(
        model: Model, held: list[Candidates], start: Anchors | None, done: tuple[float, float]
    ) -> Refinement:
        return refine(
            model,
            held.pop(),
            temperature=options.temperature,
            iterations=options.iterations,
            rounds=rounds,
            learning=learning and "weights" not in options.without,
            start=start,
            earlier=earlier,
            progress=progress and (lambda share: progress(done[0] + share * (done[1] - done[0]))),
        )

    if not learnt:
        return once(model, held, None, (0.0, 1.0))
    first = once(model, [*held], None, (0.0, 0.5))
    anchors, names = first.anchors, (task.pair.left.names, task.pair.right.names)
    model = model.with_dictionary(names, (anchors.left, anchors.right))
    second = once(model, [add_translated(model, held.pop())], anchors, (0.5, 1.0))
    if len(second.anchors.left) <= len(anchors.left):
        return first
    return replace(second, dictionary_anchors=anchors)


def earlier_anchors(task: Task) -> Anchors | None:
    """The anchors of an earlier run, where little has changed since; None to begin without any."""
    if not little_changed(task):
        return None
    left, right, trust = earlier_pairs(task)
    anchors = trust.is_not_null().to_numpy()
    if not anchors.any():
        return None
    return Anchors(left[anchors], right[anchors], trust.drop_nulls().to_numpy())


def _refined(
    task: Task, model: Model, support: LanguageSupport, planned: Diagnostics, phases: Phases
) -> tuple[Refinement, Diagnostics]:
    """The refined scores of a model, whose similarities are let go of then."""

    def make() -> tuple[Refinement, Diagnostics]:
        complete, candidates, figures = prepare(
            task, task.everything, support, phases, planned, model=model
        )
        assert candidates is not None
        held = [candidates]
        del candidates
        with phases.timed("refinement") as report:
            refinement = refine_model(
                task, complete, held.pop(), learnt=support.learnt, progress=report
            )
        return refinement, figures

    return phases.kept("refinement", tuple[Refinement, Diagnostics], make)


def _refined_again(task: Task, model: Model, alignment: Alignment) -> Refinement:
    """The refined scores of a finished run."""
    support = choose_support(task.pair, task.options, task.inputs, tuning=task.tuning.languages)
    return _refined(task, model, support, alignment.diagnostics, Phases())[0]


@dataclass(frozen=True, eq=False)
class Planned:
    """The pairs between entities that may be linked, and the plan over them.

    Positions are among ``task.sides``; values are scores above the plan's threshold.
    """

    every: Candidates
    """Also the pairs at odds with seeds, which show what chance gives."""
    allowed: Mask
    surplus: Candidates
    """The pairs that are allowed."""
    plan: OpenPlan
    kinds: Numbers
    """Of left entities."""
    seeds: Mask
    """Which of ``surplus`` are seeds."""


def make_plan(task: Task, refinement: Refinement) -> Planned:
    """The pairs that links are made from, and the one-to-one plan over them."""
    scores, inside = refinement.pairs.candidates, task.known.inside
    shape = len(task.sides[0]), len(task.sides[1])
    if shape == scores.shape:
        odds = task.known.at_odds(scores.left, scores.right)
    else:
        chosen = inside[0][scores.left] & inside[1][scores.right]
        odds = task.known.at_odds(scores.left[chosen], scores.right[chosen])
        left, right = (
            np.searchsorted(positions, side[chosen])
            for positions, side in zip(task.sides, (scores.left, scores.right), strict=True)
        )
        scores = from_pairs(shape, left, right, scores.values[chosen])
    thresholds, kinds = refinement.thresholds, task.known.kinds[0][task.sides[0]]
    every = subtract_threshold(scores, thresholds, kinds)
    allowed = ~odds
    plan = open_plan(
        every.select(allowed),
        threshold=None if thresholds is None else 0.0,
        final=True,
        tuning=task.tuning.open,
    )
    every = every.with_values(every.values - np.float32(plan.threshold))
    surplus = every.select(allowed)
    known = task.known.seeds[inside[0][task.known.seeds[:, 0]]]
    places = surplus.find(
        *(np.searchsorted(side, known[:, n]) for n, side in enumerate(task.sides))
    )
    seeds = np.zeros(len(surplus), dtype=np.bool_)
    seeds[places[places >= 0]] = True
    return Planned(every, allowed, surplus, plan, kinds, seeds)


@dataclass(frozen=True, eq=False)
class Decided:
    """Links, by their places among the pairs of ``surplus``, with the probability of each pair."""

    surplus: Candidates
    plan: OpenPlan
    linked: Positions
    probability: Vector
    chances: dict[int, Chance]
    """By kind, what was taken to be chance."""
    weighed: Positions
    """The one-to-one links of the plan, made or not, by their places."""
    strengths: Strengths
    """How strong these and their runner-ups are."""


def decide_links(task: Task, planned: Planned, exact: Assignment | None = None) -> Decided:
    """The links, and how likely each is; those of the exact solver, if given.

    Where entities of a side may have several partners, the links are the one-to-one ones, and
    for each entity of the other side its best pair, if that is better than what chance gives it.
    """
    surplus, plan = planned.surplus, planned.plan
    linked = np.sort(
        open_links(surplus, plan) if exact is None else surplus.find(exact.left, exact.right)
    )
    probability = plan.probability.copy()
    weighed, strengths = linked, _strengths(task, planned, linked, (True, True))
    probability[linked], chances = _probability(task, planned, linked, strengths)
    links = [linked]
    for side in (0, 1):
        if not task.options.single[1 - side]:
            more = best_of_side(surplus, side, tie=task.tuning.open.tie)
            # Second partners are told from chance apart from the first ones, which are surer.
            more = np.setdiff1d(more, linked[probability[linked] > task.tuning.open.accept])
            several = _strengths(task, planned, more, (side == 0, side == 1))
            chance, _ = _probability(task, planned, more, several)
            links.append(more[chance > probability[more]])
            probability[more] = np.maximum(probability[more], chance)
    linked = likeliest(surplus, np.unique(np.concatenate(links)), probability, task.options.single)
    return Decided(surplus, plan, linked, probability, chances, weighed, strengths)


def _strengths(
    task: Task, planned: Planned, linked: Positions, single: tuple[bool, bool]
) -> Strengths:
    """How strong links and runner-ups are, where entities of a side have one partner."""
    places = np.flatnonzero(planned.allowed)[linked]
    alone = planned.plan.left_alone, planned.plan.right_alone
    return strengths_of(planned.every, places, alone, single=single, tuning=task.tuning.decision)


def _probability(
    task: Task, planned: Planned, linked: Positions, strengths: Strengths
) -> tuple[Vector, dict[int, Chance]]:
    """How likely links of these strengths are, and what chance gives."""
    return decide(
        strengths,
        planned.kinds[planned.surplus.left[linked]],
        given=planned.seeds[linked],
        tuning=task.tuning.decision,
    )


def outcome_of(
    task: Task, model: Model, refinement: Refinement, figures: Diagnostics, phases: Phases
) -> Outcome:
    """Links, candidates and figures of refined scores."""
    with phases.timed("assignment") as report:
        planned = make_plan(task, refinement)
        prices = planned.plan.ranking.right
        exact = _exact(task, planned.surplus, prices, report)
        decided = decide_links(task, planned, exact)
        del planned
    surplus, plan, linked = decided.surplus, decided.plan, decided.linked
    audit = None
    if not task.options.no_audit:
        with phases.timed("audit"):
            audit = _audit(task, model, refinement, decided)
    confidence, level = _confidence(decided.probability[linked], audit, task.options)
    pairs = pl.DataFrame(
        {
            "left": surplus.left,
            "right": surplus.right,
            "score": surplus.values,
            "confidence": decided.probability,
        }
    )
    links = pairs[linked].with_columns(confidence=pl.Series(confidence))
    partner = np.full(surplus.shape[0], -1, dtype=np.int64)
    partner[links["left"]] = links["right"]
    best = ranked(surplus, prices, task.options.top, partner=partner)
    objective = float(surplus.values[linked].sum(dtype=np.float64))
    gap = exact.gap if exact else gap_to_bound(surplus, prices, objective)
    dictionary = refinement.dictionary_anchors
    return Outcome(
        links=links,
        ranked=pl.DataFrame(
            {
                "left": best.left,
                "right": best.right,
                "rank": best.rank,
                "score": best.values,
                "strength": _weighed(decided, best),
            }
        ).fill_nan(None),
        nearest=pairs,
        gold_ranks=lambda rows, columns: ranks_of(surplus, prices, rows, columns, partner=partner),
        prices=(exact.left_prices, exact.right_prices) if exact else None,
        audit=audit,
        level=level,
        relations=relation_table(task.pair, refinement.relations),
        anchors=anchor_table(task.pair, refinement.anchors),
        dictionary_anchors=None if dictionary is None else anchor_table(task.pair, dictionary),
        diagnostics=replace(
            figures_of(task, refinement, figures, plan),
            objective=objective,
            optimality_gap=gap,
            chances={
                Kind(kind).name.lower(): chance.asdict() for kind, chance in decided.chances.items()
            },
        ),
    )


def _weighed(decided: Decided, pairs: Ranked) -> Vector:
    """The strengths of those pairs that the plan gives an entity; not a number for others."""
    surplus, weighed = decided.surplus, decided.weighed
    partner = np.full(surplus.shape[0], -1, dtype=np.int64)
    strength = np.full(surplus.shape[0], np.nan)
    partner[surplus.left[weighed]] = surplus.right[weighed]
    strength[surplus.left[weighed]] = decided.strengths.links
    return np.where(partner[pairs.left] == pairs.right, strength[pairs.left], np.nan)


def _exact(task: Task, surplus: Candidates, prices: Vector, report: Progress) -> Assignment | None:
    """The optimal assignment, if the options ask for it; prices are where the search begins."""
    options = task.options
    if options.solver != "hungarian":
        return None
    return assign(
        surplus,
        prices=prices,
        alone=(0.0, 0.0),
        gap=options.gap,
        seconds=options.time_limit or math.inf,
        progress=report,
        tuning=task.tuning.assignment,
    )


def _confidence(probability: Vector, audit: Audit | None, options: Options) -> tuple[Vector, float]:
    """The confidence of links, calibrated if there is an audit, and the least that is needed."""
    if audit is not None:
        return audit.calibration.confidence(probability), audit.level
    if options.max_error is None:
        return probability, options.min_confidence
    log.warning(
        "there are too few links for an audit; `max_error` goes by the probability of links, "
        "which was not checked"
    )
    return probability, max(options.min_confidence, level_for(probability, options.max_error))


def figures_of(
    task: Task, refinement: Refinement, figures: Diagnostics, plan: OpenPlan | None = None
) -> Diagnostics:
    """The figures so far, with those of refinement and of the plan, if links are made by one."""
    threshold, thresholds = _thresholds(task, refinement, 0.0 if plan is None else plan.threshold)
    learnt, languages = refinement.dictionary_anchors is not None, figures.languages
    return replace(
        figures,
        languages=None if languages is None else replace(languages, learnt=learnt),
        threshold=threshold,
        thresholds=thresholds,
        plan_sweeps=None if plan is None else plan.sweeps,
        plan_deviation=None if plan is None else plan.deviation,
        refinement_rounds=len(refinement.changes),
        anchors=len(refinement.anchors.left),
        weights={name: getattr(refinement.weights, name) for name in LEARNED},
        wording=refinement.wording,
        by_chance=refinement.by_chance or None,
        relation_matches=len(refinement.relations.left),
    )


def _audit(
    task: Task,
    model: Model,
    refinement: Refinement,
    decided: Decided,
    *,
    calibrated: bool = True,
) -> Audit | None:
    """The audit of links; None if there are too few to tell."""
    options = task.options
    if refinement.thresholds is None:
        count = int(max(side.max(initial=0) for side in model.constraints.kinds)) + 1
        refinement = replace(refinement, thresholds=np.full(count, decided.plan.threshold))
    return audit_links(
        task.pair,
        model,
        refinement,
        _best_matches(task, decided),
        decided.chances,
        min_confidence=options.min_confidence,
        max_error=options.max_error,
        calibrated=calibrated,
    )


def _best_matches(task: Task, decided: Decided) -> tuple[BestMatches, BestMatches]:
    """How well all left, and all right entities are linked."""
    surplus = decided.surplus
    ends = task.sides[0][surplus.left], task.sides[1][surplus.right]
    left, right = (
        best_matches(
            ends,
            surplus.values,
            decided.linked,
            decided.probability,
            side=side,
            size=len(task.known.kinds[side]),
        )
        for side in (0, 1)
    )
    return left, right


def _thresholds(
    task: Task, refinement: Refinement, further: float
) -> tuple[float, dict[str, float] | None]:
    """The threshold, and that of each kind where there are several; ``further`` is the plan's."""
    if refinement.thresholds is None:
        return further, None
    kinds = task.known.kinds[0][task.sides[0]]
    values = refinement.thresholds + further
    most = int(np.bincount(kinds).argmax()) if len(kinds) else 0
    by_kind = {Kind(k).name.lower(): float(values[k]) for k in np.unique(kinds)}
    return float(values[most]), by_kind if len(by_kind) > 1 else None


def anchor_table(pair: MatchedPair, anchors: Anchors) -> pl.DataFrame:
    """left, right, trust: the anchors by name."""
    left, right = pair.left.entities, pair.right.entities
    return pl.DataFrame(
        {
            "left": left.gather(anchors.left),
            "right": right.gather(anchors.right),
            "trust": anchors.trust,
        }
    )


def relation_table(pair: MatchedPair, relations: Relations) -> pl.DataFrame:
    """Which relation (or name) of the left matches which of the right, best first.

    ``inverse`` says that one is the other read backwards; ``edges`` on how many edges between
    anchors both were seen. A match of two relations is also one of their inverses; it is listed
    once.
    """
    names, backwards, undirected = [], [], []
    sides = (pair.left, relations.left), (pair.right, relations.right)
    for graph, numbers in sides:
        count = len(graph.relations)
        named = pl.Series(graph.relations.name, [NAME])
        every = pl.concat([graph.relations, graph.relations, named])
        names.append(every.gather(numbers))
        backwards.append((numbers >= count) & (numbers < 2 * count))
        undirected.append(np.isin(numbers, np.flatnonzero(graph.undirected)))
    twice = undirected[0] & undirected[1]  # such an edge is seen from both ends
    table = pl.DataFrame(
        {
            "left": names[0],
            "right": names[1],
            "inverse": backwards[0] != backwards[1],
            "match": relations.match,
            "edges": np.where(twice, relations.seen // 2, relations.seen),
        }
    )
    return table.filter(~backwards[0]).sort(
        ["match", "edges", "left", "right"], descending=[True, True, False, False]
    )
