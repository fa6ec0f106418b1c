"""The method as published: names spread over the graph, then assigned."""

from __future__ import annotations

import logging
import math
from dataclasses import asdict, replace

import numpy as np

from sameas.alignment import Alignment
from sameas.assignment import Certificate, Problem, Solution, bounded, solve
from sameas.budget import Budget, plan_memory
from sameas.inputs import Task
from sameas.pipeline.phases import Phases
from sameas.pipeline.result import Outcome, PairTable, prices_of
from sameas.pipeline.stages import Counts, choose_candidates, make_rows, propose
from sameas.profit import StoredProfit, make_profit
from sameas.rows import Matrix
from sameas.scoring import name_features, neighbourhood_rows

log = logging.getLogger(__name__)


def align_published(task: Task, phases: Phases) -> Outcome:
    """Links for every entity of the smaller side."""
    options = task.options
    budget = plan_memory(task, task.sides)
    log.info("%s: %s", budget.form, budget.reason)
    problem, counts = _make_problem(task, budget, phases)

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


def _make_problem(task: Task, budget: Budget, phases: Phases) -> tuple[Problem, Counts]:
    """All pairs, or the candidates among them."""
    complete = budget.form == "complete"
    proposed = None if complete else propose(task, task.sides, phases)
    rows = make_rows(task, task.sides, phases)
    profit = rows.profit
    if complete:
        with phases.timed("profit") as report:
            matrix = profit.toarray(progress=report)
        return Problem(StoredProfit(matrix)), rows.counts
    found = choose_candidates(rows, proposed, task, phases)
    counts = replace(rows.counts, candidate_pairs=len(found), search_recall=found.recall)
    return Problem(profit, found), counts


def _outcome(
    task: Task, problem: Problem, solution: Solution, budget: Budget, counts: Counts
) -> Outcome:
    plan, exact, partner = solution.plan, solution.exact, solution.partner
    left, right = solution.left, solution.right
    ranked = problem.ranked(plan.right, task.options.top, partner)
    scores = _cosines(ranked.values)
    return Outcome(
        links=PairTable(
            left=left,
            right=right,
            score=_cosines(problem.profit.of(left, right)),
            weight=problem.shares(plan, left, right),
        ),
        ranked=PairTable(left=ranked.left, right=ranked.right, score=scores, weight=ranked.rank),
        nearest=PairTable(left=ranked.left, right=ranked.right, score=scores, weight=scores),
        gold_ranks=lambda rows, columns: problem.ranks_of(plan.right, rows, columns, partner),
        prices=None if exact is None else (exact.left_prices, exact.right_prices),
        diagnostics={
            "solver": task.options.solver,
            "objective": solution.objective,
            "optimality_gap": solution.gap,
            "plan_deviation": plan.deviation if exact is None else None,
            "solver_rounds": None if exact is None else exact.rounds,
            "solver_pairs": None if exact is None else exact.pairs,
            **budget.diagnostics(),
            **asdict(counts),
        },
    )


def _cosines(profit: Matrix) -> Matrix:
    """Profits of pairs, which are mean cosines, without what rounding put beyond one."""
    cosines: Matrix = np.clip(profit, -1.0, 1.0)
    return cosines
