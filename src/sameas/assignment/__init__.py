"""The assignment problem: who is given to whom, so that the total profit is largest."""

from sameas.assignment.exact import hungarian
from sameas.assignment.ranking import Candidates, best_candidates, ranks_of, shares
from sameas.assignment.sinkhorn import Plan, sinkhorn
from sameas.assignment.solution import Solution, Solver, rounded, solve

__all__ = [
    "Candidates",
    "Plan",
    "Solution",
    "Solver",
    "best_candidates",
    "hungarian",
    "ranks_of",
    "rounded",
    "shares",
    "sinkhorn",
    "solve",
]
