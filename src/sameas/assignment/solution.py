"""One front door to both solvers, and one type of answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sameas.assignment.exact import hungarian
from sameas.assignment.ranking import Candidates, best_candidates, best_left, upper_bound
from sameas.assignment.sinkhorn import Plan, sinkhorn
from sameas.graph import Positions
from sameas.rows import Matrix

Solver = Literal["sinkhorn", "hungarian"]
Progress = Callable[[float], None]

FEW = 4000
"""Leftovers of a plan up to this many a side are solved exactly at once."""


@dataclass(frozen=True, eq=False)
class Solution:
    """A one-to-one assignment that leaves nobody of the smaller side out.

    ``objective`` is the total profit of the links; ``gap`` is how far it can be from the largest
    possible, as a share of that bound. ``plan`` ranks and weighs the alternatives.
    """

    left: Positions
    right: Positions
    objective: float
    gap: float
    plan: Plan
    candidates: Candidates
    partner: Positions | None
    """The right position of each left entity (or -1), where the partner comes first in rank."""


def solve(
    profit: Matrix,
    solver: Solver,
    *,
    temperature: float,
    iterations: int,
    top: int,
    store: bool = True,
    progress: Progress | None = None,
) -> Solution:
    """The links between the rows and the columns of a profit matrix.

    ``store`` allows a second matrix of that size, for speed.
    """
    plan = sinkhorn(
        profit, temperature=temperature, iterations=iterations, store=store, progress=progress
    )
    return SOLVERS[solver](profit, plan, top)


def _solve_sinkhorn(profit: Matrix, plan: Plan, top: int) -> Solution:
    candidates = best_candidates(profit, plan.right, top)
    left, right = rounded(profit, plan, candidates)
    objective = float(profit[left, right].sum(dtype=np.float64))
    bound = upper_bound(profit, plan.right)
    short = max(bound - objective, 0.0)
    gap = short / max(abs(bound), abs(objective), short, 1e-12)
    return Solution(left, right, objective, gap, plan, candidates, None)


def _solve_hungarian(profit: Matrix, plan: Plan, top: int) -> Solution:
    left, right = hungarian(profit, plan)
    # An exact assignment may give an entity another than its dearest; the partner is the
    # method's first answer all the same, and the others follow as in the plan.
    partner = np.full(profit.shape[0], -1, dtype=np.int64)
    partner[left] = right
    candidates = best_candidates(profit, plan.right, top, partner=partner)
    objective = float(profit[left, right].sum(dtype=np.float64))
    return Solution(left, right, objective, 0.0, plan, candidates, partner)


SOLVERS: dict[Solver, Callable[[Matrix, Plan, int], Solution]] = {
    "sinkhorn": _solve_sinkhorn,
    "hungarian": _solve_hungarian,
}


def rounded(profit: Matrix, plan: Plan, candidates: Candidates) -> tuple[Positions, Positions]:
    """One-to-one links from a plan: pairs that are each other's best, then the rest.

    The rows and columns that are left over form a problem of their own. While it is large, pairs
    that are each other's best in it are taken; once it is small, it is solved exactly, so that
    the sum of the plan's logarithms is largest. (Where hardly any are, because all is equal,
    it is solved in pieces.)
    """
    if not profit.size:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    chosen = np.full(profit.shape[0], -1, dtype=np.int64)
    best = candidates.right[:, 0]
    mutual = best_left(profit, plan.left)[best] == np.arange(len(best))
    chosen[mutual] = best[mutual]
    while True:
        rows = np.flatnonzero(chosen < 0)
        columns = np.setdiff1d(np.arange(profit.shape[1]), chosen)
        if not len(rows) or not len(columns):
            break
        left, right = _leftovers(profit, plan, rows, columns)
        chosen[rows[left]] = columns[right]
    linked = np.flatnonzero(chosen >= 0)
    return linked, chosen[linked]


def _leftovers(
    profit: Matrix, plan: Plan, rows: Positions, columns: Positions
) -> tuple[Positions, Positions]:
    """Pairs between these rows and columns: at least one, and all that can be if they are few."""
    if max(len(rows), len(columns)) > FEW:
        rest = profit[np.ix_(rows, columns)]
        best = best_candidates(rest, plan.right[columns], 1).right[:, 0]
        mutual = np.flatnonzero(best_left(rest, plan.left[rows])[best] == np.arange(len(rows)))
        if len(mutual) > 0.05 * min(len(rows), len(columns)):
            return mutual, best[mutual]
        rows, columns = rows[:FEW], columns[:FEW]
    rest = profit[np.ix_(rows, columns)].astype(np.float64)
    return hungarian(rest - plan.left[rows, None] - plan.right[columns])
