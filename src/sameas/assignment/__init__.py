"""The assignment problem: who is given to whom, so that the total profit is largest."""

from sameas.assignment.exact import Assignment, Certificate, assign, bounded, certify
from sameas.assignment.problem import (
    CompleteProblem,
    Problem,
    Solution,
    SparseProblem,
    solve,
)
from sameas.assignment.ranking import Ranked
from sameas.assignment.sinkhorn import Plan, sinkhorn

__all__ = [
    "Assignment",
    "Certificate",
    "CompleteProblem",
    "Plan",
    "Problem",
    "Ranked",
    "Solution",
    "SparseProblem",
    "assign",
    "bounded",
    "certify",
    "sinkhorn",
    "solve",
]
