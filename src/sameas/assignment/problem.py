"""The assignment problem, over all pairs or over candidates, and its solution."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sameas.assignment.exact import Assignment, assign
from sameas.assignment.gap import relative_gap
from sameas.assignment.ranking import mutual, upper_bound
from sameas.assignment.sinkhorn import Plan, sinkhorn
from sameas.candidates.pairs import Candidates, Pairs, lines_of_rows
from sameas.compute.arrays import Matrix, Positions, Progress
from sameas.options.tuning import TUNING, AssignmentTuning
from sameas.similarity.matrix import DenseMatrix, RowProduct

Links = tuple[Positions, Positions]

COMPLETE_BYTES = 8
"""Memory for each pair if all pairs count: the profit, and Sinkhorn's plan."""


def prefers_complete(
    pairs: int, memory: int, *, exact: bool, tuning: AssignmentTuning = TUNING.assignment
) -> bool:
    """Whether a problem of so many pairs is best solved with all of them, given free memory."""
    most = tuning.complete_up_to * (tuning.complete_if_exact if exact else 1)
    return pairs <= most and COMPLETE_BYTES * pairs <= memory


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

        An exact assignment may give an entity another partner than the best of its row. That
        partner is the method's first answer; the others follow as in the plan.
        """
        if self.exact is None:
            return None
        partner = np.full(len(self.plan.left), -1, dtype=np.int64)
        partner[self.left] = self.right
        return partner


@dataclass(frozen=True, eq=False)
class Problem:
    """A profit to assign: a stored matrix of which every pair counts, or one with candidates."""

    profit: RowProduct | DenseMatrix
    candidates: Candidates | None = None
    tuning: AssignmentTuning = TUNING.assignment

    @property
    def pairs(self) -> Pairs:
        """The pairs that count."""
        if isinstance(self.profit, DenseMatrix) and self.candidates is None:
            return self.profit.matrix
        assert self.candidates is not None, "a profit that is not stored needs candidates"
        return self.candidates

    def rounded(self, plan: Plan) -> Links:
        """One-to-one links: pairs that are each other's best, again and again.

        Once few entities are left over, all pairs between them count and are solved exactly, so
        that every entity of the smaller side has a partner. Where many are left over, those
        of a matrix are solved in pieces; those whose candidates are all taken stay without.
        """
        most = self.tuning.leftovers
        chosen = np.full(self.profit.shape[0], -1, dtype=np.int64)
        free = np.ones(self.profit.shape[1], dtype=np.bool_)
        rows, columns, lines = (
            np.arange(len(chosen)),
            np.arange(len(free)),
            lines_of_rows(self.pairs),
        )

        def link(left: Positions, right: Positions) -> Links:
            chosen[left], free[right] = right, False
            return np.flatnonzero(chosen < 0), np.flatnonzero(free)

        while True:
            least = 0.0
            if self.candidates is None:
                least = self.tuning.least_progress * min(len(rows), len(columns))
            indices = mutual(self.pairs, plan, chosen < 0, free)
            rows, columns = link(*lines.positions(indices))
            few = max(len(rows), len(columns)) <= most
            if few or len(indices) <= least:
                break
        while len(rows) and len(columns) and (few or self.candidates is None):
            rows, columns = rows[:most], columns[:most]
            profits = self.profit.between(rows, columns)
            left, right = _solved(profits, plan, rows, columns, self.tuning)
            rows, columns = link(rows[left], columns[right])
        linked = np.flatnonzero(chosen >= 0)
        return linked, chosen[linked]


def solve(
    problem: Problem,
    *,
    exact: bool,
    temperature: float,
    iterations: int,
    gap: float = 0.0,
    seconds: float = math.inf,
    progress: Progress | None = None,
) -> Solution:
    """The links of a problem, of largest total profit (exact) or by the plan.

    ``gap`` and ``seconds`` let the exact solver stop early.
    """
    pairs = problem.pairs
    if not exact:
        plan = sinkhorn(pairs, temperature=temperature, iterations=iterations, progress=progress)
        left, right = problem.rounded(plan)
        objective = float(problem.profit.of(left, right).sum(dtype=np.float64))
        return Solution(left, right, objective, _gap(problem, plan, objective), plan)
    best = assign(
        problem.profit,
        problem.candidates,
        gap=gap,
        seconds=seconds,
        progress=progress,
        tuning=problem.tuning,
    )
    # Pairs that the solver never had to look at have next to no mass in the plan.
    plan = sinkhorn(best.candidates, temperature=temperature, iterations=iterations)
    return Solution(best.left, best.right, best.objective, best.gap, plan, best)


def _gap(problem: Problem, plan: Plan, objective: float) -> float | None:
    """How far a total profit can be from the best; not known if not all pairs are at hand."""
    if problem.candidates is not None:
        return None
    return relative_gap(upper_bound(problem.pairs, plan.right), objective)


def _solved(
    matrix: Matrix, plan: Plan, rows: Positions, columns: Positions, tuning: AssignmentTuning
) -> Links:
    """The pairs of a part of the matrix for which the plan's logarithms sum up to most."""
    logarithms = matrix - plan.left[rows, None] - plan.right[columns]
    logarithms -= logarithms.mean()  # the same for all, as the number of links is given
    if (
        logarithms.size <= tuning.small and np.abs(logarithms).max() < 10
    ):  # single precision will do
        best = assign(DenseMatrix(logarithms.astype(np.float32)), tuning=tuning)
        return best.left, best.right
    from scipy.optimize import linear_sum_assignment  # slow to import

    left, right = linear_sum_assignment(-logarithms)
    return left, right
