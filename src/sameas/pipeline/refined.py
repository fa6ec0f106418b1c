"""The method with refinement, where entities may stay unmatched: the preset ``best``."""

from __future__ import annotations

import logging
import math
from dataclasses import asdict, dataclass, replace

import numpy as np
import polars as pl

from sameas.alignment import Alignment
from sameas.assignment import (
    Assignment,
    Certificate,
    OpenPlan,
    assign,
    bounded,
    gap_to_bound,
    open_links,
    open_plan,
    ranked,
    ranks_of,
)
from sameas.budget import Budget, plan_memory
from sameas.candidates import Candidates, SparseProfit, from_pairs
from sameas.evidence import Relations, attributes_of, edges_of
from sameas.graph import Graph, GraphPair
from sameas.inputs import Sides, Task
from sameas.pipeline.phases import Phases, Report
from sameas.pipeline.result import Outcome, PairTable, prices_of
from sameas.pipeline.stages import Counts, choose_candidates, make_rows, propose
from sameas.profit import Profit
from sameas.refinement import Refinement, Weights, refine
from sameas.scoring import weights_of

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Material:
    """What refinement starts from: profits between all entities, and the first candidates."""

    profit: Profit
    names: Profit
    """The profit of names alone."""
    candidates: Candidates
    counts: Counts


@dataclass(frozen=True, eq=False)
class _Refined:
    refinement: Refinement
    counts: Counts


def align_refined(task: Task, phases: Phases) -> Outcome:
    """Links that are likelier than not."""
    budget = plan_memory(task, task.everything)
    log.info("%s: %s", budget.form, budget.reason)
    refined = _refined(task, phases)
    return _outcome(task, refined, weights_of(task.options), budget, phases)


def align_prepared(
    task: Task, material: Material, phases: Phases, *, weights: Weights | None = None
) -> Outcome:
    """The outcome from material made before, to compare settings of refinement.

    The task's options must agree with those that the material was prepared with in features,
    neighbours and candidates.
    """
    refined = _Refined(refine_material(task, material, weights=weights), material.counts)
    return _outcome(task, refined, weights or weights_of(task.options), None, phases)


def verify_refined(task: Task, alignment: Alignment) -> Certificate:
    """What the prices of an exact alignment prove, among all its candidates."""
    refined = _refined(task, Phases())
    surplus, _ = _surplus(task, refined.refinement, weights_of(task.options))
    # Staying unmatched is worth nothing, not less: a price below that would prove too much.
    left, right = (np.maximum(prices, 0.0) for prices in prices_of(alignment))
    objective = alignment.diagnostics.objective
    return bounded(SparseProfit(surplus), left, right, objective=objective)


def prepare(task: Task, phases: Phases | None = None) -> Material:
    """Everything up to refinement."""
    phases = phases or Phases()
    proposed = propose(task, task.everything, phases)
    rows = make_rows(task, task.everything, phases)
    found = choose_candidates(rows, proposed, task, phases)
    counts = replace(rows.counts, candidate_pairs=len(found), search_recall=found.recall)
    return Material(rows.profit, rows.name_profit, found, counts)


def refine_material(
    task: Task,
    material: Material,
    *,
    weights: Weights | None = None,
    progress: Report | None = None,
) -> Refinement:
    """The refinement that the options ask for; ``weights`` replaces the default ones."""
    options = task.options
    weights = weights or weights_of(options)
    return refine(
        edges_of(task.pair, hub=weights.hub, relations="relations" not in options.without),
        material.candidates,
        material.profit,
        material.names,
        task.known,
        temperature=options.temperature,
        iterations=options.iterations,
        rounds=options.rounds,
        weights=weights,
        progress=progress,
    )


def _refined(task: Task, phases: Phases) -> _Refined:
    def make() -> _Refined:
        material = prepare(task, phases)
        with phases.timed("refinement") as report:
            return _Refined(refine_material(task, material, progress=report), material.counts)

    return phases.kept("refinement", _Refined, make)


def _surplus(task: Task, refinement: Refinement, weights: Weights) -> tuple[Candidates, OpenPlan]:
    """The pairs between entities that may be linked, and the plan over them.

    Positions are among ``task.sides``; values are scores above the plan's threshold.
    """
    scores = _between(refinement.pairs.candidates, task.sides)
    plan = open_plan(scores, base=weights.base, most=2000, tolerance=1e-5)
    return replace(scores, values=scores.values - np.float32(plan.threshold)), plan


def _between(candidates: Candidates, sides: Sides) -> Candidates:
    """The candidates between these entities, by their positions among them."""
    renumbered = [np.full(size, -1, dtype=np.int64) for size in candidates.shape]
    for numbers, positions in zip(renumbered, sides, strict=True):
        numbers[positions] = np.arange(len(positions))
    left, right = renumbered[0][candidates.left], renumbered[1][candidates.right]
    inside = (left >= 0) & (right >= 0)
    shape = len(sides[0]), len(sides[1])
    return from_pairs(shape, left[inside], right[inside], candidates.values[inside])


def _outcome(
    task: Task, refined: _Refined, weights: Weights, budget: Budget | None, phases: Phases
) -> Outcome:
    options, refinement = task.options, refined.refinement
    surplus, plan = _surplus(task, refinement, weights)
    with phases.timed("assignment") as report:
        exact = _exact(task, surplus, plan, report) if options.solver == "hungarian" else None
        if exact is None:
            places = open_links(surplus, plan)
        else:
            places = surplus.find(exact.left, exact.right)
    places = places[np.argsort(surplus.left[places], kind="stable")]
    left, right, prices = surplus.left[places], surplus.right[places], plan.ranking.right
    partner = np.full(surplus.shape[0], -1, dtype=np.int64)
    partner[left] = right
    best = ranked(surplus, prices, options.top, partner=partner)
    objective = float(surplus.values[places].sum(dtype=np.float64))
    return Outcome(
        links=PairTable(
            left=left, right=right, score=surplus.values[places], weight=plan.probability[places]
        ),
        ranked=PairTable(left=best.left, right=best.right, score=best.values, weight=best.rank),
        nearest=PairTable(
            left=surplus.left, right=surplus.right, score=surplus.values, weight=plan.probability
        ),
        gold_ranks=lambda rows, columns: ranks_of(surplus, prices, rows, columns, partner=partner),
        prices=None if exact is None else (exact.left_prices, exact.right_prices),
        relations=relation_table(task.pair, refinement.relations),
        anchors=_anchor_table(task.pair, refinement),
        diagnostics={
            "solver": options.solver,
            "objective": objective,
            "optimality_gap": gap_to_bound(surplus, prices, objective)
            if exact is None
            else exact.gap,
            "threshold": plan.threshold,
            "plan_sweeps": plan.sweeps,
            "plan_deviation": plan.deviation,
            "refinement_rounds": len(refinement.changes),
            "anchors": len(refinement.anchors.left),
            "relation_matches": len(refinement.relations.left),
            **({} if budget is None else budget.diagnostics()),
            **asdict(refined.counts),
        },
    )


def _exact(task: Task, surplus: Candidates, plan: OpenPlan, report: Report) -> Assignment:
    return assign(
        SparseProfit(surplus),
        surplus,
        prices=plan.ranking.right,
        left_alone=0.0,
        right_alone=0.0,
        gap=task.options.gap,
        seconds=task.options.time_limit or math.inf,
        progress=report,
    )


def relation_table(pair: GraphPair, relations: Relations) -> pl.DataFrame:
    """Which relation (or attribute) of the left matches which of the right, best first.

    ``inverse`` says that one is the other read backwards; ``edges`` on how many edges between
    anchors both were seen. A match of two relations is also one of their inverses; it is listed
    once.
    """
    left, right = (
        _relation_names(graph, attributes)
        for graph, attributes in zip((pair.left, pair.right), attributes_of(pair), strict=True)
    )
    backwards = [
        (numbers >= len(graph.relations)) & (numbers < 2 * len(graph.relations))
        for numbers, graph in ((relations.left, pair.left), (relations.right, pair.right))
    ]
    table = pl.DataFrame(
        {
            "left": left.gather(relations.left),
            "right": right.gather(relations.right),
            "inverse": backwards[0] != backwards[1],
            "match": relations.match,
            "edges": relations.seen,
        }
    )
    return table.filter(pl.Series(~backwards[0])).sort(
        ["match", "edges", "left", "right"], descending=[True, True, False, False]
    )


def _relation_names(graph: Graph, attributes: pl.Series) -> pl.Series:
    """The relations forwards, then backwards, then the attributes."""
    return pl.concat([graph.relations, graph.relations, attributes.alias(graph.relations.name)])


def _anchor_table(pair: GraphPair, refinement: Refinement) -> pl.DataFrame:
    anchors = refinement.anchors
    return pl.DataFrame(
        {
            "left": pair.left.entities.gather(anchors.left),
            "right": pair.right.entities.gather(anchors.right),
            "trust": anchors.trust,
        }
    )
