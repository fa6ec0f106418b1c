"""The method as published: names spread over the graph, then assigned."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl

from sameas.assignment.exact import Certificate, bounded
from sameas.assignment.problem import Problem, Solution, solve
from sameas.assignment.ranking import ranked, ranks_of, shares
from sameas.candidates.pairs import Candidates
from sameas.graph.task import Task
from sameas.pipeline.memory import plan_memory
from sameas.pipeline.outcome import Outcome, prices_of
from sameas.pipeline.phases import Phases
from sameas.pipeline.stages import prepare
from sameas.result.alignment import Alignment, Diagnostics
from sameas.similarity.crosslingual import choose_support
from sameas.similarity.matrix import DenseMatrix, RowProduct
from sameas.similarity.model import Model


def align_published(task: Task, phases: Phases) -> Outcome:
    """Links for every entity of the smaller side."""
    options = task.options
    support = choose_support(task.pair, options, task.inputs, tuning=task.tuning.languages)
    planned = plan_memory(task, task.sides, support)
    model, candidates, figures = prepare(task, task.sides, support, phases, planned)
    problem = _make_problem(task, model, candidates, phases)

    def make() -> Solution:
        with phases.timed("assignment") as report:
            return solve(
                problem,
                exact=options.solver == "hungarian",
                temperature=options.temperature,
                iterations=options.iterations,
                gap=options.gap,
                seconds=options.time_limit or math.inf,
                progress=report,
            )

    solution = phases.kept("assignment", Solution, make)
    with phases.timed("confidence"):
        return _outcome(task, problem, solution, figures)


def verify_published(task: Task, alignment: Alignment) -> Certificate:
    """What the prices of an exact alignment prove."""
    complete = replace(alignment.diagnostics, form="complete")  # candidates are not needed
    support = choose_support(task.pair, task.options, task.inputs, tuning=task.tuning.languages)
    model, _, _ = prepare(task, task.sides, support, Phases(), complete)
    assert isinstance(model.profit, RowProduct)
    left, right = prices_of(alignment)
    # Entities of the larger side may stay unmatched, which is worth nothing: no price is less.
    left = np.maximum(left, 0.0) if len(left) > len(right) else left
    right = np.maximum(right, 0.0) if len(right) > len(left) else right
    return bounded(model.profit, left, right, objective=alignment.diagnostics.objective)


def _make_problem(
    task: Task, model: Model, candidates: Candidates | None, phases: Phases
) -> Problem:
    assert isinstance(model.profit, RowProduct)
    if candidates is not None:
        return Problem(model.profit, candidates, task.tuning.assignment)
    with phases.timed("profit") as report:
        matrix = DenseMatrix(model.profit.toarray(progress=report))
    return Problem(matrix, tuning=task.tuning.assignment)


def _outcome(task: Task, problem: Problem, solution: Solution, figures: Diagnostics) -> Outcome:
    plan, exact, partner = solution.plan, solution.exact, solution.partner
    links = {"left": solution.left, "right": solution.right}
    profit = problem.profit.of(**links)
    best = ranked(problem.pairs, plan.right, task.options.top, partner=partner)
    # A profit is a mean of cosines; rounding may have put it beyond one.
    score = pl.col("score").clip(-1.0, 1.0)
    return Outcome(
        links=pl.DataFrame(
            {
                **links,
                "score": profit,
                "confidence": shares(problem.pairs, plan, **links, values=profit),
            }
        ).with_columns(score),
        ranked=pl.DataFrame(
            {
                "left": best.left,
                "right": best.right,
                "rank": best.rank,
                "score": best.values,
            }
        ).with_columns(score),
        gold_ranks=lambda *gold: ranks_of(problem.pairs, plan.right, *gold, partner=partner),
        prices=None if exact is None else (exact.left_prices, exact.right_prices),
        diagnostics=replace(
            figures,
            objective=solution.objective,
            optimality_gap=solution.gap,
            plan_deviation=plan.deviation if exact is None else None,
            solver_rounds=None if exact is None else exact.rounds,
            solver_pairs=None if exact is None else len(exact.candidates),
        ),
    )
