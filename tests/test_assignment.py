"""What every solver promises, and what only the exact one does."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import reference
from sameas.assignment import Solver, hungarian, shares, sinkhorn, solve
from sameas.assignment.ranking import best_left, upper_bound
from strategies import matrices

SOLVERS = get_args(Solver)
METHOD = {"temperature": 0.02, "iterations": 10, "top": 3}


@pytest.mark.parametrize("solver", SOLVERS)
@settings(deadline=None, max_examples=50)
@given(
    profit=matrices(max_side=5),
    temperature=st.sampled_from([1e-12, 0.02, 0.5, 1e12]),
    iterations=st.integers(0, 12),
    top=st.integers(1, 6),
)
@example(profit=np.zeros((2, 2), np.float32), temperature=0.02, iterations=10, top=1)
@example(profit=np.array([[-1, 0], [-1, -1]], np.float32), temperature=0.02, iterations=10, top=3)
def test_every_solver_keeps_its_contract(solver, profit, temperature, iterations, top):
    n, m = profit.shape
    found = solve(profit, solver, temperature=temperature, iterations=iterations, top=top)

    # One to one, and nobody of the smaller side left out.
    assert len(found.left) == len(found.right) == min(n, m)
    assert len(set(found.left.tolist())) == len(set(found.right.tolist())) == min(n, m)
    assert (np.diff(found.left) > 0).all()

    # The objective is what it says, and bounded as it says.
    total = sum(float(profit[i, j]) for i, j in zip(found.left, found.right, strict=True))
    assert_allclose(found.objective, total, atol=1e-6)
    best = reference.best_total(profit)
    assert found.objective <= best + 1e-5
    assert upper_bound(profit, found.plan.right) >= best - 1e-5
    assert 0 <= found.gap <= 1
    if best > 0 and found.gap < 1:  # the gap is a share of a bound on the best total
        assert found.objective >= best * (1 - found.gap) - 1e-4

    # Candidates: so many, each once, of which none is worse than one that was left out.
    k = min(top, m)
    assert found.candidates.right.shape == found.candidates.rank.shape == (n, k)
    assert all(len(set(row)) == k for row in found.candidates.right.tolist())
    assert (np.diff(found.candidates.rank, axis=1) >= 0).all()
    assert (found.candidates.rank >= 1).all()
    assert (found.candidates.rank <= m).all()

    # A partner that both sides like best is the first candidate.
    prices = found.plan.right.astype(np.float32)
    first = np.where(
        best_left(profit, found.plan.left)[(profit - prices).argmax(axis=1)] == np.arange(n)
    )[0]
    partner = dict(zip(found.left.tolist(), found.right.tolist(), strict=True))
    if solver == "sinkhorn":
        assert all(partner[i] == found.candidates.right[i, 0] for i in first.tolist())
    else:
        assert all(found.candidates.right[i, 0] == j for i, j in partner.items())

    confidence = shares(profit, found.plan, found.left, found.right)
    assert np.isfinite(confidence).all()
    assert ((confidence >= 0) & (confidence <= 1)).all()


@settings(deadline=None, max_examples=50)
@given(matrices(max_side=6))
def test_hungarian_equals_trying_all_assignments(profit):
    left, right = hungarian(profit)
    assert_allclose(profit[left, right].sum(), reference.best_total(profit), atol=1e-5)


@settings(deadline=None, max_examples=50)
@given(matrices(max_side=8), st.sampled_from([0.01, 0.1, 1.0]), st.integers(0, 15))
def test_hungarian_is_never_worse_than_sinkhorn(profit, temperature, iterations):
    method = {"temperature": temperature, "iterations": iterations, "top": 3}
    exact, soft = (solve(profit, solver, **method) for solver in ("hungarian", "sinkhorn"))
    assert exact.objective >= soft.objective - 1e-5
    assert exact.gap == 0


@settings(deadline=None, max_examples=50)
@given(matrices(max_side=6), st.integers(1, 6))
def test_hungarian_ranks_the_partner_first_and_the_others_as_in_the_plan(profit, top):
    found = solve(profit, "hungarian", temperature=0.02, iterations=10, top=top)
    partner = dict(zip(found.left.tolist(), found.right.tolist(), strict=True))
    worth = profit - found.plan.right.astype(np.float32)
    for i, row in enumerate(worth.tolist()):
        ranks = reference.ranks(row)
        if i in partner:
            others = [j for j in range(len(row)) if j != partner[i]]
            ranks = [1.0] * len(row)
            for j, rank in zip(others, reference.ranks([row[j] for j in others]), strict=True):
                ranks[j] = 1 + rank
        order = sorted(range(len(row)), key=lambda j: (j != partner.get(i), -row[j], j))
        assert found.candidates.right[i].tolist() == order[:top]
        assert found.candidates.rank[i].tolist() == [ranks[j] for j in order[:top]]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_an_empty_side_has_no_links(solver, shape):
    profit = np.zeros(shape, dtype=np.float32)
    found = solve(profit, solver, **METHOD)
    assert len(found.left) == len(found.right) == 0
    assert found.objective == found.gap == 0
    assert len(shares(profit, found.plan, found.left, found.right)) == 0


def test_sinkhorn_finds_the_optimum_of_a_clear_problem():
    rng = np.random.default_rng(11)
    order = rng.permutation(60)
    profit = rng.uniform(0, 0.5, (60, 60)).astype(np.float32)
    profit[np.arange(60), order] += 0.5
    for solver in SOLVERS:
        found = solve(profit, solver, **METHOD)
        assert_array_equal(found.right, order)
        assert found.gap < 0.2


def test_the_gap_closes_as_the_plan_cools():
    profit = np.random.default_rng(2).random((30, 30), dtype=np.float32)
    gaps = [
        solve(profit, "sinkhorn", temperature=temperature, iterations=300, top=1).gap
        for temperature in (1.0, 0.1, 0.01)
    ]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 0.02


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("temperature", [1e-12, 1e-6, 0.02, 1.0, 1e3, 1e6, 1e12])
def test_the_best_of_several_left_entities_is_served_at_every_temperature(solver, temperature):
    profit = np.array([[0.1], [0.9], [0.5]], dtype=np.float32)
    found = solve(profit, solver, temperature=temperature, iterations=10, top=1)
    assert found.left.tolist() == [1]
    assert found.right.tolist() == [0]


@settings(deadline=None, max_examples=60)
@given(matrices(), st.sampled_from([0.005, 0.02, 1.0]))
def test_a_plan_changes_only_the_speed_of_the_exact_solver(profit, temperature):
    plan = sinkhorn(profit, temperature=temperature, iterations=5)
    values = [
        profit[found].sum(dtype=np.float64)
        for found in (hungarian(profit), hungarian(profit, plan))
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-5)


def test_leftovers_that_are_all_alike_are_matched_in_pieces(monkeypatch):
    monkeypatch.setattr("sameas.assignment.solution.FEW", 3)
    profit = np.zeros((10, 8), dtype=np.float32)
    found = solve(profit, "sinkhorn", **METHOD)
    assert sorted(found.right.tolist()) == list(range(8))
    assert len(set(found.left.tolist())) == 8
