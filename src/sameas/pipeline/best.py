"""The method with refinement, where entities may stay unmatched: the preset ``best``."""

from __future__ import annotations

import logging
import math
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import polars as pl

from sameas.assignment.exact import Certificate, assign, bounded
from sameas.assignment.open import OpenPlan, gap_to_bound, open_links, open_plan
from sameas.assignment.ranking import ranked, ranks_of
from sameas.candidates.pairs import Candidates, from_pairs
from sameas.compute.arrays import Positions, Progress
from sameas.graph.matched import MatchedPair
from sameas.graph.semantics.kinds import Kind
from sameas.graph.task import Task
from sameas.pipeline.inputs import make_task
from sameas.pipeline.memory import plan_memory
from sameas.pipeline.outcome import Outcome, prices_of
from sameas.pipeline.phases import Phases
from sameas.pipeline.stages import Counts, Material, prepare, with_dictionary
from sameas.refinement.evidence import Anchors, Edges, Relations, attributes_of, edges_of
from sameas.refinement.refine import Refinement, refine, subtract_threshold
from sameas.refinement.weights import LEARNED, Weights, weights_of
from sameas.result.alignment import Alignment
from sameas.result.audit.calibration import level_for
from sameas.result.audit.decoys import Finished, best_matches
from sameas.result.audit.estimate import audit_links
from sameas.result.audit.record import Audit

log = logging.getLogger(__name__)

BothEdges = tuple[Edges, Edges]


def align_refined(task: Task, phases: Phases) -> Outcome:
    """Links that are likelier than not."""
    budget = plan_memory(task, task.everything)
    edges = task_edges(task)
    refinement, counts = _refined(task, edges, phases)
    return _outcome(task, edges, refinement, counts, phases, asdict(budget))


def align_prepared(
    task: Task, material: Material, phases: Phases, *, weights: Weights | None = None
) -> Outcome:
    """The outcome from material made before, to compare settings of refinement.

    The task's options must agree with those that the material was prepared with in features,
    neighbours and candidates. Given ``weights`` are taken as they are.
    """
    edges = task_edges(task)
    refinement = refine_material(task, edges, material, weights=weights)
    return _outcome(task, edges, refinement, material.counts, phases, {})


def verify_refined(task: Task, alignment: Alignment) -> Certificate:
    """What the prices of an exact alignment prove, among all its candidates."""
    refinement, _ = _refined(task, task_edges(task), Phases())
    surplus, _ = _surplus(task, refinement)
    # Staying unmatched is worth nothing, not less: a price below that would prove too much.
    left, right = (np.maximum(prices, 0.0) for prices in prices_of(alignment))
    objective = alignment.diagnostics.objective
    return bounded(surplus, left, right, objective=objective)


def audit_refined(alignment: Alignment) -> Audit | None:
    """The audit of a finished run, which is refined again for it."""
    task = make_task(alignment.pair, alignment.options, alignment.inputs)
    edges = task_edges(task)
    refinement, _ = _refined(task, edges, Phases())
    surplus, plan = _surplus(task, refinement)
    places = open_links(surplus, plan, task.options.single)
    return _audit(task, edges, refinement, surplus, plan, places, calibrated=False)


def task_edges(task: Task) -> BothEdges:
    """The edges that evidence is gathered from."""
    options = task.options
    relations = "relations" not in options.without
    return edges_of(task.pair, hub=weights_of(options).hub, relations=relations)


def refine_material(
    task: Task,
    edges: BothEdges,
    material: Material,
    *,
    weights: Weights | None = None,
    progress: Progress | None = None,
) -> Refinement:
    """The refinement that the options ask for; ``weights`` replaces the learnt ones.

    Where names are in two languages it is made twice: a dictionary learnt from the anchors of the
    first time is one more block of names for the second time.
    """
    options = task.options
    default = weights or weights_of(options)
    learnt = material.counts.languages is not None and material.counts.languages.learnt

    def once(material: Material, start: Anchors | None, done: tuple[float, float]) -> Refinement:
        assert material.candidates is not None
        return refine(
            edges,
            material.candidates,
            material.profit,
            material.blocks,
            task.known,
            temperature=options.temperature,
            iterations=options.iterations,
            rounds=options.rounds,
            weights=default,
            traits=material.traits,
            learning=weights is None and "weights" not in options.without,
            start=start,
            progress=progress and (lambda share: progress(done[0] + share * (done[1] - done[0]))),
        )

    if not learnt:
        return once(material, None, (0.0, 1.0))
    anchors = once(material, None, (0.0, 0.5)).anchors
    found = once(with_dictionary(task, material, anchors), anchors, (0.5, 1.0))
    return replace(found, taught=anchors)


def _refined(task: Task, edges: BothEdges, phases: Phases) -> tuple[Refinement, Counts]:
    def make() -> tuple[Refinement, Counts]:
        material = prepare(task, task.everything, phases)
        with phases.timed("refinement") as report:
            return refine_material(task, edges, material, progress=report), material.counts

    return phases.kept("refinement", tuple[Refinement, Counts], make)


def _surplus(task: Task, refinement: Refinement) -> tuple[Candidates, OpenPlan]:
    """The pairs between entities that may be linked, and the plan over them.

    Positions are among ``task.sides``; values are scores above the plan's threshold.
    """
    scores, inside = refinement.pairs.candidates, task.known.inside
    chosen = inside[0][scores.left] & inside[1][scores.right]
    left, right = (
        np.searchsorted(positions, side[chosen])
        for positions, side in zip(task.sides, (scores.left, scores.right), strict=True)
    )
    shape = len(task.sides[0]), len(task.sides[1])
    scores = from_pairs(shape, left, right, scores.values[chosen])
    thresholds = refinement.thresholds
    surplus = subtract_threshold(scores, thresholds, task.known.kinds[0][task.sides[0]])
    plan = open_plan(
        surplus,
        threshold=None if thresholds is None else 0.0,
        base=refinement.weights.base,
        single=task.options.single,
        most=2000,
        tolerance=1e-5,
    )
    return replace(surplus, values=surplus.values - np.float32(plan.threshold)), plan


def _outcome(
    task: Task,
    edges: BothEdges,
    refinement: Refinement,
    counts: Counts,
    phases: Phases,
    budget: dict[str, Any],
) -> Outcome:
    options = task.options
    surplus, plan = _surplus(task, refinement)
    prices, exact = plan.ranking.right, None
    with phases.timed("assignment") as report:
        if options.solver == "hungarian":
            exact = assign(
                surplus,
                prices=prices,
                left_alone=0.0,
                right_alone=0.0,
                gap=options.gap,
                seconds=options.time_limit or math.inf,
                progress=report,
            )
        places = (
            surplus.find(exact.left, exact.right)
            if exact
            else open_links(surplus, plan, options.single)
        )
    places = np.sort(places)
    audit, level = None, options.min_confidence
    if not options.no_audit:
        with phases.timed("audit"):
            audit = _audit(task, edges, refinement, surplus, plan, places)
    confidence = plan.probability[places]
    if audit is not None:
        confidence, level = audit.calibration.confidence(confidence), audit.level
    elif options.max_error is not None:
        log.warning(
            "there are too few links for an audit; `max_error` goes by the probability of links, "
            "which was not checked"
        )
        level = max(level, level_for(confidence, options.max_error))
    pairs = pl.DataFrame(
        {
            "left": surplus.left,
            "right": surplus.right,
            "score": surplus.values,
            "confidence": plan.probability,
        }
    )
    links = pairs[places].with_columns(confidence=pl.Series(confidence))
    partner = np.full(surplus.shape[0], -1, dtype=np.int64)
    partner[links["left"]] = links["right"]
    best = ranked(surplus, prices, options.top, partner=partner)
    objective = float(surplus.values[places].sum(dtype=np.float64))
    gap = exact.gap if exact else gap_to_bound(surplus, prices, objective)
    return Outcome(
        links=links,
        ranked=pl.DataFrame(
            {"left": best.left, "right": best.right, "rank": best.rank, "score": best.values}
        ),
        nearest=pairs,
        gold_ranks=lambda rows, columns: ranks_of(surplus, prices, rows, columns, partner=partner),
        prices=(exact.left_prices, exact.right_prices) if exact else None,
        audit=audit,
        level=level,
        relations=relation_table(task.pair, refinement.relations),
        anchors=_anchor_table(task.pair, refinement.anchors),
        taught=None if refinement.taught is None else _anchor_table(task.pair, refinement.taught),
        diagnostics={
            "solver": options.solver,
            "objective": objective,
            "optimality_gap": gap,
            **_thresholds(task, refinement, plan),
            "plan_sweeps": plan.sweeps,
            "plan_deviation": plan.deviation,
            "refinement_rounds": len(refinement.changes),
            "anchors": len(refinement.anchors.left),
            "weights": {name: getattr(refinement.weights, name) for name in LEARNED},
            "relation_matches": len(refinement.relations.left),
            **budget,
            **counts.figures,
        },
    )


def _audit(
    task: Task,
    edges: BothEdges,
    refinement: Refinement,
    surplus: Candidates,
    plan: OpenPlan,
    places: Positions,
    *,
    calibrated: bool = True,
) -> Audit | None:
    """The audit of the links at these places; None if there are too few to tell."""
    options, kinds = task.options, task.known.kinds
    thresholds = refinement.thresholds
    if thresholds is None:
        thresholds = np.full(int(max(side.max(initial=0) for side in kinds)) + 1, plan.threshold)
    finished = Finished(
        edges=edges,
        refinement=refinement,
        thresholds=thresholds,
        known=task.known,
    )
    ends = task.sides[0][surplus.left], task.sides[1][surplus.right]
    left, right = (
        best_matches(
            ends, surplus.values, places, plan.probability, side=side, size=len(kinds[side])
        )
        for side in (0, 1)
    )
    return audit_links(
        task.pair,
        finished,
        (left, right),
        min_confidence=options.min_confidence,
        max_error=options.max_error,
        calibrated=calibrated,
    )


def _thresholds(task: Task, refinement: Refinement, plan: OpenPlan) -> dict[str, Any]:
    """The threshold, and that of each kind where kinds are known."""
    if refinement.thresholds is None:
        return {"threshold": plan.threshold}
    kinds = task.known.kinds[0][task.sides[0]]
    values = refinement.thresholds + plan.threshold
    most = int(np.bincount(kinds).argmax()) if len(kinds) else 0
    found = {"threshold": float(values[most])}
    if not task.pair.both_rdf:
        return found
    return {
        **found,
        "thresholds": {Kind(k).name.lower(): float(values[k]) for k in np.unique(kinds)},
    }


def _anchor_table(pair: MatchedPair, anchors: Anchors) -> pl.DataFrame:
    left, right = pair.left.entities, pair.right.entities
    return pl.DataFrame(
        {
            "left": left.gather(anchors.left),
            "right": right.gather(anchors.right),
            "trust": anchors.trust,
        }
    )


def relation_table(pair: MatchedPair, relations: Relations) -> pl.DataFrame:
    """Which relation (or attribute) of the left matches which of the right, best first.

    ``inverse`` says that one is the other read backwards; ``edges`` on how many edges between
    anchors both were seen. A match of two relations is also one of their inverses; it is listed
    once.
    """
    names, backwards = [], []
    sides = (pair.left, relations.left), (pair.right, relations.right)
    for (graph, numbers), attributes in zip(sides, attributes_of(pair), strict=True):
        count = len(graph.relations)
        attributes = attributes.rename(graph.relations.name)
        every = pl.concat([graph.relations, graph.relations, attributes])
        names.append(every.gather(numbers))
        backwards.append((numbers >= count) & (numbers < 2 * count))
    table = pl.DataFrame(
        {
            "left": names[0],
            "right": names[1],
            "inverse": backwards[0] != backwards[1],
            "match": relations.match,
            "edges": relations.seen,
        }
    )
    return table.filter(~backwards[0]).sort(
        ["match", "edges", "left", "right"], descending=[True, True, False, False]
    )
