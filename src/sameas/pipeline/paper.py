"""The method as published: names spread over the graph, then assigned."""

from __future__ import annotations

import math
from dataclasses import asdict

import numpy as np
import polars as pl

from sameas.assignment.exact import Certificate, bounded
from sameas.assignment.problem import Problem, Solution, solve
from sameas.assignment.ranking import ranked, ranks_of, shares
from sameas.graph.task import Task
from sameas.pipeline.memory import Budget, plan_memory
from sameas.pipeline.outcome import Outcome, prices_of
from sameas.pipeline.phases import Phases
from sameas.pipeline.stages import Counts, prepare
from sameas.result.alignment import Alignment
from sameas.similarity.features import name_features, neighbourhood_rows
from sameas.similarity.matrix import DenseMatrix, make_profit


def align_published(task: Task, phases: Phases) -> Outcome:
    """Links for every entity of the smaller side."""
    options = task.options
    budget = plan_memory(task, task.sides)
    problem, counts = _make_problem(task, phases, complete=budget.form == "complete")

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
        return _outcome(task, problem, solution, budget, counts)


def verify_published(task: Task, alignment: Alignment) -> Certificate:
    """What the prices of an exact alignment prove."""
    features = name_features(task.pair, task.options, task.inputs)
    profit = make_profit(*neighbourhood_rows(task.pair, features.rows, task.options, task.sides))
    left, right = prices_of(alignment)
    # Entities of the larger side may stay unmatched, which is worth nothing: no price is less.
    left = np.maximum(left, 0.0) if len(left) > len(right) else left
    right = np.maximum(right, 0.0) if len(right) > len(left) else right
    return bounded(profit, left, right, objective=alignment.diagnostics.objective)


def _make_problem(task: Task, phases: Phases, *, complete: bool) -> tuple[Problem, Counts]:
    material = prepare(task, task.sides, phases, complete=complete)
    assert material.exact is not None
    if not complete:
        problem = Problem(material.exact, material.candidates, task.tuning.assignment)
        return problem, material.counts
    with phases.timed("profit") as report:
        matrix = DenseMatrix(material.exact.toarray(progress=report))
    return Problem(matrix, tuning=task.tuning.assignment), material.counts


def _outcome(
    task: Task, problem: Problem, solution: Solution, budget: Budget, counts: Counts
) -> Outcome:
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
        diagnostics={
            "solver": task.options.solver,
            "objective": solution.objective,
            "optimality_gap": solution.gap,
            "plan_deviation": plan.deviation if exact is None else None,
            "solver_rounds": None if exact is None else exact.rounds,
            "solver_pairs": None if exact is None else len(exact.candidates),
            **asdict(budget),
            **counts.figures,
        },
    )
