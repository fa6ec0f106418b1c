"""The assignment problem: one-to-one links of largest total profit."""

from sameas.assignment.exact import Assignment, Certificate, assign, bounded, certify
from sameas.assignment.exchange import force_pair
from sameas.assignment.open import BASE, FLOOR, OpenPlan, gap_to_bound, open_links, open_plan
from sameas.assignment.problem import (
    COMPLETE_BYTES,
    Problem,
    Solution,
    prefers_complete,
    solve,
)
from sameas.assignment.ranking import Ranked, mutual, ranked, ranks_of, shares
from sameas.assignment.rivals import learn_thresholds
from sameas.assignment.sinkhorn import Plan, sinkhorn

__all__ = [
    "BASE",
    "COMPLETE_BYTES",
    "FLOOR",
    "Assignment",
    "Certificate",
    "OpenPlan",
    "Plan",
    "Problem",
    "Ranked",
    "Solution",
    "assign",
    "bounded",
    "certify",
    "force_pair",
    "gap_to_bound",
    "learn_thresholds",
    "mutual",
    "open_links",
    "open_plan",
    "prefers_complete",
    "ranked",
    "ranks_of",
    "shares",
    "sinkhorn",
    "solve",
]
