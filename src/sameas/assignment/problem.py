"""The assignment problem in its two forms, complete and sparse, and one front door to both."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sameas.assignment import ranking, sparse
from sameas.assignment.exact import SMALL, Assignment, assign
from sameas.assignment.ranking import Ranked
from sameas.assignment.sinkhorn import Plan, Vector, sinkhorn
from sameas.candidates import Candidates
from sameas.graph import Positions
from sameas.options import Solver
from sameas.profit import Profit, StoredProfit, make_profit
from sameas.rows import Matrix

Progress = Callable[[float], None]
Links = tuple[Positions, Positions]

FEW = 4000
"""Leftovers of a plan up to this many a side are solved exactly at once."""


@dataclass(frozen=True, eq=False)
class Solution:
    """A one-to-one assignment, left ascending.

    ``objective`` is the total profit of the links; ``gap`` is how far it can be from the largest
    possible, as a share of that bound, or None where that is not known. ``plan`` ranks and
    weighs the alternatives; ``exact`` has the prices that prove an exact answer.
    """

    left: Positions
    right: Positions
    objective: float
    gap: float | None
    plan: Plan
    exact: Assignment | None = None

    @property
    def partner(self) -> Positions | None:
        """The right position of each left entity (or -1), where the partner comes first in rank.

        An exact assignment may give an entity another than its dearest; the partner is the
        method's first answer all the same, and the others follow as in the plan.
        """
        if self.exact is None:
            return None
        partner = np.full(len(self.plan.left), -1, dtype=np.int64)
        partner[self.left] = self.right
        return partner


@dataclass(frozen=True, eq=False)
class CompleteProblem:
    """Every pair counts, and the profit matrix is there as a whole."""

    profit: StoredProfit
    store: bool = True
    """Whether a second matrix of that size may be used, for speed."""
    candidates: None = None

    def sinkhorn(
        self, *, temperature: float, iterations: int, progress: Progress | None = None
    ) -> Plan:
        """Sinkhorn's plan."""
        return sinkhorn(
            self.profit.matrix,
            temperature=temperature,
            iterations=iterations,
            store=self.store,
            progress=progress,
        )

    def rounded(self, plan: Plan) -> Links:
        """One-to-one links that leave nobody of the smaller side out.

        First pairs that are each other's best. The rows and columns that are left over form a
        problem of their own. While it is large, pairs that are each other's best in it are
        taken; once it is small, it is solved exactly, so that the sum of the plan's logarithms
        is largest. (Where hardly any are, because all is equal, it is solved in pieces.)
        """
        matrix = self.profit.matrix
        if not matrix.size:
            return _no_links()
        chosen = np.full(len(matrix), -1, dtype=np.int64)
        rows, columns = np.arange(len(matrix)), np.arange(matrix.shape[1])
        left, right = _mutual(matrix, plan, rows, columns)
        while True:
            chosen[rows[left]] = columns[right]
            rows = np.flatnonzero(chosen < 0)
            columns = np.setdiff1d(np.arange(matrix.shape[1]), chosen)
            if not len(rows) or not len(columns):
                break
            left, right = self._leftovers(plan, rows, columns)
        return _links_of(chosen)

    def _leftovers(self, plan: Plan, rows: Positions, columns: Positions) -> Links:
        """Pairs between these rows and columns: at least one, and all if they are few."""
        if max(len(rows), len(columns)) > FEW:
            left, right = _mutual(self.profit.matrix[np.ix_(rows, columns)], plan, rows, columns)
            if len(left) > 0.05 * min(len(rows), len(columns)):
                return left, right
            rows, columns = rows[:FEW], columns[:FEW]
        return _solved(self.profit.matrix[np.ix_(rows, columns)], plan, rows, columns)

    def gap(self, plan: Plan, objective: float) -> float | None:
        """How far a total profit can be from the best, as far as the plan tells."""
        bound = ranking.upper_bound(self.profit.matrix, plan.right)
        short = max(bound - objective, 0.0)
        return short / max(abs(bound), abs(objective), short, 1e-12)

    def ranked(self, prices: Vector, k: int, partner: Positions | None) -> Ranked:
        """The k best right entities of each left one."""
        return ranking.ranked(self.profit.matrix, prices, k, partner=partner)

    def ranks_of(
        self, prices: Vector, left: Positions, right: Positions, partner: Positions | None
    ) -> Vector:
        """The rank of some pairs among all."""
        return ranking.ranks_of(self.profit.matrix, prices, left, right, partner=partner)

    def shares(self, plan: Plan, left: Positions, right: Positions) -> Vector:
        """Each pair's share of the plan's mass."""
        return ranking.shares(self.profit.matrix, plan, left, right)


@dataclass(frozen=True, eq=False)
class SparseProblem:
    """Only candidates count; other profits are computed where they are asked for."""

    profit: Profit
    candidates: Candidates

    def sinkhorn(
        self, *, temperature: float, iterations: int, progress: Progress | None = None
    ) -> Plan:
        """Sinkhorn's plan."""
        return sparse.sinkhorn(
            self.candidates, temperature=temperature, iterations=iterations, progress=progress
        )

    def rounded(self, plan: Plan) -> Links:
        """One-to-one links: candidates that are each other's best, again and again.

        Once few entities are left over, all pairs between them count, and nobody of the smaller
        side stays without; where many are, those whose candidates have gone to others do.
        """
        chosen = np.full(self.profit.shape[0], -1, dtype=np.int64)
        taken = np.zeros(self.profit.shape[1], dtype=np.bool_)
        left = self.candidates.left
        available = np.ones(len(self.candidates), dtype=np.bool_)
        while True:
            places = sparse.mutual(self.candidates, plan, available)
            chosen[left[places]] = self.candidates.right[places]
            taken[self.candidates.right[places]] = True
            rows, columns = np.flatnonzero(chosen < 0), np.flatnonzero(~taken)
            if not len(places) or max(len(rows), len(columns)) <= FEW:
                break
            available &= (chosen[left] < 0) & ~taken[self.candidates.right]
        if len(rows) and len(columns) and max(len(rows), len(columns)) <= FEW:
            rest = make_profit(self.profit.left.take(rows), self.profit.right.take(columns))
            own, other = _solved(rest.toarray(), plan, rows, columns)
            chosen[rows[own]] = columns[other]
        return _links_of(chosen)

    def gap(self, plan: Plan, objective: float) -> float | None:
        """Not known: that would take a look at all pairs."""
        return None

    def ranked(self, prices: Vector, k: int, partner: Positions | None) -> Ranked:
        """The k best candidates of each left entity."""
        return sparse.ranked(self.candidates, prices, k, partner=partner)

    def ranks_of(
        self, prices: Vector, left: Positions, right: Positions, partner: Positions | None
    ) -> Vector:
        """The rank of some pairs among the candidates, NaN for others."""
        return sparse.ranks_of(self.candidates, prices, left, right, partner=partner)

    def shares(self, plan: Plan, left: Positions, right: Positions) -> Vector:
        """Each pair's share of the plan's mass."""
        return sparse.shares(self.candidates, plan, left, right, self.profit.of(left, right))


Problem = CompleteProblem | SparseProblem


def solve(
    problem: Problem,
    solver: Solver,
    *,
    temperature: float,
    iterations: int,
    gap: float = 0.0,
    seconds: float = math.inf,
    progress: Progress | None = None,
) -> Solution:
    """The links of a problem. ``gap`` and ``seconds`` let the exact solver stop early."""
    plan = problem.sinkhorn(temperature=temperature, iterations=iterations, progress=progress)
    if solver == "sinkhorn":
        left, right = problem.rounded(plan)
        objective = float(problem.profit.of(left, right).sum(dtype=np.float64))
        return Solution(left, right, objective, problem.gap(plan, objective), plan)
    exact = assign(
        problem.profit,
        problem.candidates,
        prices=plan.right,
        gap=gap,
        seconds=seconds,
        progress=progress,
    )
    return Solution(exact.left, exact.right, exact.objective, exact.gap, plan, exact)


def _mutual(matrix: Matrix, plan: Plan, rows: Positions, columns: Positions) -> Links:
    """The pairs of a part of the matrix that are each other's best in it."""
    best = ranking.ranked(matrix, plan.right[columns], 1).right
    mutual = ranking.best_left(matrix, plan.left[rows])[best] == np.arange(len(rows))
    return np.flatnonzero(mutual), best[mutual]


def _solved(matrix: Matrix, plan: Plan, rows: Positions, columns: Positions) -> Links:
    """The pairs of a part of the matrix for which the plan's logarithms sum up to most."""
    logarithms = matrix - plan.left[rows, None] - plan.right[columns]
    logarithms -= logarithms.mean()  # whoever is linked, as many are
    if logarithms.size <= SMALL and np.abs(logarithms).max() < 10:  # single precision will do
        best = assign(StoredProfit(logarithms.astype(np.float32)))
        return best.left, best.right
    from scipy.optimize import linear_sum_assignment  # it takes a while to import

    left, right = linear_sum_assignment(-logarithms)
    return left, right


def _links_of(chosen: Positions) -> Links:
    linked = np.flatnonzero(chosen >= 0)
    return linked, chosen[linked]


def _no_links() -> Links:
    return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
