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
    if solver == "hungarian":
        return _solve_hungarian(profit, temperature, top)
    plan = sinkhorn(
        profit, temperature=temperature, iterations=iterations, store=store, progress=progress
    )
    return _solve_sinkhorn(profit, plan, top)


def _solve_sinkhorn(profit: Matrix, plan: Plan, top: int) -> Solution:
    candidates = best_candidates(profit, plan.right, max(top, 1))
    left, right = rounded(profit, plan, candidates)
    objective = float(profit[left, right].sum(dtype=np.float64))
    bound = upper_bound(profit, plan.right)
    short = max(bound - objective, 0.0)
    gap = short / max(abs(bound), abs(objective), short, 1e-12)
    return Solution(left, right, objective, gap, plan, candidates, None)


def _solve_hungarian(profit: Matrix, temperature: float, top: int) -> Solution:
    left, right = hungarian(profit)
    zeros = np.zeros(profit.shape[0]), np.zeros(profit.shape[1])
    plan = Plan(*zeros, temperature=temperature, iterations=0, deviation=float("nan"))
    # An exact assignment may give an entity another than its dearest; the partner is the
    # method's first answer all the same, and the others follow by profit.
    partner = np.full(profit.shape[0], -1, dtype=np.int64)
    partner[left] = right
    candidates = best_candidates(profit, plan.right, max(top, 1), partner=partner)
    objective = float(profit[left, right].sum(dtype=np.float64))
    return Solution(left, right, objective, 0.0, plan, candidates, partner)


def rounded(profit: Matrix, plan: Plan, candidates: Candidates) -> tuple[Positions, Positions]:
    """One-to-one links from a plan: pairs that are each other's best, then the rest exactly.

    The rows and columns that are left over form a small problem of their own; it is solved so
    that the sum of the plan's logarithms is largest.
    """
    if not profit.size:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    chosen = candidates.right[:, 0].copy()
    everyone = np.arange(len(chosen))
    mutual = best_left(profit, plan.left)[chosen] == everyone
    rows = np.flatnonzero(~mutual)
    columns = np.setdiff1d(np.arange(profit.shape[1]), chosen[mutual])
    rest = profit[np.ix_(rows, columns)] - plan.left[rows, None] - plan.right[columns]
    left, right = hungarian(rest)
    chosen[rows] = -1
    chosen[rows[left]] = columns[right]
    return everyone[chosen >= 0], chosen[chosen >= 0]
