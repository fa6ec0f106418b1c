"""The method as published: names spread over the graph, then assigned."""

from __future__ import annotations

import logging
import math

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.alignment import Alignment
from sameas.assignment import (
    Certificate,
    Problem,
    Solution,
    bounded,
    solve,
)
from sameas.budget import Budget, plan_memory
from sameas.checkpoint import solution_from_arrays, solution_to_arrays
from sameas.graph import GraphPair
from sameas.options import Options
from sameas.pipeline.clock import Clock
from sameas.pipeline.entities import Sides, candidate_positions
from sameas.pipeline.stages import (
    candidates,
    neighbourhood_rows,
    profits,
    proposals,
    text_features,
)
from sameas.pipeline.tables import gold_ranks, kept_links, price_table, prices_of
from sameas.profit import StoredProfit, make_profit
from sameas.rows import Matrix

log = logging.getLogger(__name__)


def align_as_published(pair: GraphPair, options: Options, clock: Clock) -> Alignment:
    """The links, everyone of the smaller side having one unless it is too unsure."""
    some = candidate_positions(pair, options)
    budget = plan_memory(pair, *some, options)
    clock.facts.update(budget.facts(*some))
    log.info("%s: %s", budget.form, budget.reason)
    problem = _problem(pair, some, budget, options, clock)
    if (arrays := clock.resumed("assignment")) is None:
        with clock.phase("assignment") as report:
            solution = solve(
                problem,
                exact=options.solver == "hungarian",
                temperature=options.temperature,
                iterations=options.iterations,
                gap=options.gap,
                seconds=options.time_limit or math.inf,
                progress=report,
            )
        clock.keep("assignment", solution_to_arrays(solution))
    else:
        solution = solution_from_arrays(arrays)
    with clock.phase("confidence"):
        if solution.exact is not None:
            clock.facts["rounds"] = solution.exact.rounds
            clock.facts["pairs"] = solution.exact.pairs
        if options.solver == "sinkhorn":
            clock.facts["plan_deviation"] = solution.plan.deviation
        return _alignment(pair, some, problem, solution, options, clock)


def verify_as_published(alignment: Alignment) -> Certificate:
    """What the prices of an exact alignment prove."""
    pair, options = alignment.pair, alignment.options
    some = candidate_positions(pair, options)
    features = text_features(pair, options, {})
    profit = make_profit(*neighbourhood_rows(pair, features, options, some))
    left, right = prices_of(alignment)
    # Of the larger side some stay alone, which is worth nothing: no less is a price.
    left = np.maximum(left, 0.0) if len(left) > len(right) else left
    right = np.maximum(right, 0.0) if len(right) > len(left) else right
    return bounded(profit, left, right, objective=alignment.objective)


def _problem(
    pair: GraphPair, some: Sides, budget: Budget, options: Options, clock: Clock
) -> Problem:
    """All pairs, or the candidates among them."""
    complete = budget.form == "complete"
    proposed = None if complete else proposals(pair, some, options, clock)
    profit, names = profits(pair, some, options, clock)
    if complete:
        with clock.phase("profit") as report:
            matrix = profit.toarray(progress=report)
        return Problem(StoredProfit(matrix))
    return Problem(profit, candidates(profit, names, proposed, options, clock))


def _alignment(
    pair: GraphPair,
    some: Sides,
    problem: Problem,
    solution: Solution,
    options: Options,
    clock: Clock,
) -> Alignment:
    left, right = pair.left.entities.gather(some[0]), pair.right.entities.gather(some[1])
    links = pl.DataFrame(
        {
            "left": left.gather(solution.left),
            "right": right.gather(solution.right),
            "score": _scores(problem.profit.of(solution.left, solution.right)),
            "confidence": problem.shares(solution.plan, solution.left, solution.right),
        }
    )
    ranked = problem.ranked(solution.plan.right, options.top, solution.partner)
    table = pl.DataFrame(
        {
            "left": left.gather(ranked.left),
            "right": right.gather(ranked.right),
            "rank": ranked.rank,
            "score": _scores(ranked.values),
        }
    )
    return Alignment(
        pair=pair,
        options=options,
        **kept_links(left, right, links, table, options),
        candidates=table,
        gold_ranks=gold_ranks(
            pair,
            left,
            right,
            lambda rows, columns: problem.ranks_of(
                solution.plan.right, rows, columns, solution.partner
            ),
        ),
        prices=price_table(left, right, solution.exact),
        solver=options.solver,
        objective=solution.objective,
        optimality_gap=solution.gap,
        facts=clock.facts,
        seconds=clock.seconds,
        resumed=tuple(clock.from_before),
    )


def _scores(profit: Matrix) -> NDArray[np.float64]:
    """The profits of pairs; a mean of cosines, which rounding may have put beyond one."""
    return np.clip(profit.astype(np.float64), -1.0, 1.0)
