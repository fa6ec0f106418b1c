"""What every solver promises, on complete problems and on sparse ones."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linear_sum_assignment

import reference
from sameas.assignment.exact import assign
from sameas.assignment.gap import relative_gap
from sameas.assignment.problem import Problem, _solved
from sameas.assignment.problem import solve as solve_problem
from sameas.assignment.ranking import ranked, ranks_of, shares, upper_bound
from sameas.assignment.sinkhorn import sinkhorn
from sameas.candidates.pairs import every_pair, from_pairs
from sameas.compute.rows import as_rows
from sameas.options.options import Solver
from sameas.options.tuning import TUNING
from sameas.similarity.matrix import DenseMatrix, make_profit
from strategies import matrices

SOLVERS = get_args(Solver)
METHOD = {"temperature": 0.02, "iterations": 10}


def complete(profit):
    return Problem(DenseMatrix(profit))


def rows_of(profit):
    """A profit that is computed from rows: the matrix times the identity, so equal to it."""
    return make_profit(as_rows(profit), as_rows(np.eye(profit.shape[1])))


def sparse(profit):
    return Problem(rows_of(profit), every_pair(profit))


def some_pairs(profit, kept):
    left, right = np.nonzero(kept)
    return from_pairs(profit.shape, left, right, profit[left, right])


def shares_of(problem, found):
    values = problem.profit.of(found.left, found.right)
    return shares(problem.pairs, found.plan, found.left, found.right, values)


def solve(problem, solver, **method):
    return solve_problem(problem, exact=solver == "hungarian", **method)


FORMS = {"complete": complete, "sparse": sparse}


def assert_one_to_one(found, count):
    assert len(found.left) == len(found.right) == count
    assert len(set(found.left.tolist())) == len(set(found.right.tolist())) == count
    assert (np.diff(found.left) > 0).all()


def best_for_both(profit, plan, margin):
    """The pairs that are by a margin worth more than all others in their row and column."""
    worth = profit.astype(np.float64) - plan.left[:, None] - plan.right
    for i, row in enumerate(worth):
        j = int(row.argmax())
        rivals = np.concatenate([np.delete(row, j), np.delete(worth[:, j], i)])
        if row[j] > rivals.max(initial=-np.inf) + margin:
            yield i, j


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("solver", SOLVERS)
@settings(deadline=None, max_examples=25)
@given(
    profit=matrices(max_side=5),
    temperature=st.sampled_from([1e-12, 0.02, 0.5, 1e12]),
    iterations=st.integers(0, 12),
    top=st.integers(1, 6),
)
@example(profit=np.zeros((2, 2), np.float32), temperature=0.02, iterations=10, top=1)
@example(profit=np.array([[-1, 0], [-1, -1]], np.float32), temperature=0.02, iterations=10, top=3)
def test_every_solver_keeps_its_contract(solver, form, profit, temperature, iterations, top):
    n, m = profit.shape
    problem = FORMS[form](profit)
    found = solve(problem, solver, temperature=temperature, iterations=iterations)

    # One to one, and nobody of the smaller side left out.
    assert_one_to_one(found, min(n, m))

    # The objective is what it says, and bounded as it says.
    total = sum(float(profit[i, j]) for i, j in zip(found.left, found.right, strict=True))
    assert_allclose(found.objective, total, atol=1e-6)
    largest = reference.best_total(profit)
    assert found.objective <= largest + 1e-5
    assert upper_bound(profit, found.plan.right) >= largest - 1e-5
    if (form, solver) == ("sparse", "sinkhorn"):
        assert found.gap is None
    else:
        assert 0 <= found.gap <= 1
        if largest > 0 and found.gap < 1:  # the gap is a share of a bound on the best total
            assert found.objective >= largest * (1 - found.gap) - 1e-4

    # The ranked: so many, each once, of which none is worse than one that was left out.
    k = min(top, m)
    best = ranked(problem.pairs, found.plan.right, top, partner=found.partner)
    assert best.left.tolist() == [i for i in range(n) for _ in range(k)]
    right, rank = best.right.reshape(n, k), best.rank.reshape(n, k)
    assert all(len(set(row)) == k for row in right.tolist())
    assert (np.diff(rank, axis=1) >= 0).all()
    assert (rank >= 1).all()
    assert (rank <= m).all()
    assert_array_equal(best.values, profit[best.left, best.right])
    again = ranks_of(problem.pairs, found.plan.right, best.left, best.right, partner=found.partner)
    assert_array_equal(again, best.rank)

    # A partner that both sides like best is the first of the ranked.
    partner = dict(zip(found.left.tolist(), found.right.tolist(), strict=True))
    if solver == "hungarian":
        assert all(right[i, 0] == j for i, j in partner.items())
    if solver == "sinkhorn":
        # Potentials are far larger than profits where it is hot, and single precision is coarse.
        margin = 1e-5 * (1 + np.abs(found.plan.right).max())
        for i, j in best_for_both(profit, found.plan, margin):
            assert partner[i] == right[i, 0] == j

    confidence = shares_of(problem, found)
    assert np.isfinite(confidence).all()
    assert ((confidence >= 0) & (confidence <= 1)).all()


@pytest.mark.parametrize("solver", SOLVERS)
@settings(deadline=None, max_examples=20)
@given(profit=matrices(max_side=6), seed=st.integers(0, 999), share=st.sampled_from([0, 0.3, 0.7]))
def test_few_candidates_leave_nobody_of_the_smaller_side_out(solver, profit, seed, share):
    kept = np.random.default_rng(seed).random(profit.shape) < share
    problem = Problem(rows_of(profit), some_pairs(profit, kept))
    found = solve(problem, solver, **METHOD)
    assert_one_to_one(found, min(profit.shape))
    assert_allclose(found.objective, profit[found.left, found.right].sum(), atol=1e-5)
    largest = reference.best_total(profit)
    assert found.objective <= largest + 1e-5
    if solver == "hungarian":
        assert found.objective >= largest - 1e-5
        assert found.gap == 0
    best = ranked(problem.pairs, found.plan.right, 3, partner=found.partner)
    assert kept[best.left, best.right].all()
    confidence = shares_of(problem, found)
    assert ((confidence >= 0) & (confidence <= 1)).all()


@settings(deadline=None, max_examples=25)
@given(matrices(max_side=6))
def test_the_exact_solver_equals_trying_all_assignments(profit):
    found = assign(DenseMatrix(profit))
    assert_allclose(profit[found.left, found.right].sum(), reference.best_total(profit), atol=1e-5)


@settings(deadline=None, max_examples=25)
@given(matrices(max_side=8), st.sampled_from([0.01, 0.1, 1.0]), st.integers(0, 15))
def test_hungarian_is_never_worse_than_sinkhorn(profit, temperature, iterations):
    method = {"temperature": temperature, "iterations": iterations}
    exact, soft = (
        solve(complete(profit), solver, **method) for solver in ("hungarian", "sinkhorn")
    )
    assert exact.objective >= soft.objective - 1e-5
    assert exact.gap == 0


@pytest.mark.parametrize("form", FORMS)
@settings(deadline=None, max_examples=20)
@given(profit=matrices(max_side=6), top=st.integers(1, 6))
def test_hungarian_ranks_the_partner_first_and_the_others_as_in_the_plan(form, profit, top):
    problem = FORMS[form](profit)
    found = solve(problem, "hungarian", **METHOD)
    best = ranked(problem.pairs, found.plan.right, top, partner=found.partner)
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
        assert best.right[best.left == i].tolist() == order[:top]
        assert best.rank[best.left == i].tolist() == [ranks[j] for j in order[:top]]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_an_empty_side_has_no_links(solver, form, shape):
    problem = FORMS[form](np.zeros(shape, dtype=np.float32))
    found = solve(problem, solver, **METHOD)
    assert len(found.left) == len(found.right) == 0
    assert found.objective == 0
    assert found.gap == (None if (form, solver) == ("sparse", "sinkhorn") else 0)
    assert len(shares_of(problem, found)) == 0
    assert len(ranked(problem.pairs, found.plan.right, 3).left) == 0


@pytest.mark.parametrize("form", FORMS)
def test_sinkhorn_finds_the_optimum_of_a_clear_problem(form):
    rng = np.random.default_rng(11)
    order = rng.permutation(60)
    profit = rng.uniform(0, 0.5, (60, 60)).astype(np.float32)
    profit[np.arange(60), order] += 0.5
    for solver in SOLVERS:
        found = solve(FORMS[form](profit), solver, **METHOD)
        assert_array_equal(found.right, order)
        assert found.gap is None or found.gap < 0.2


totals = st.one_of(st.floats(-1e9, 1e9), st.sampled_from([0.0, -0.0, 1e-13, -1.4]))


@given(totals, totals)
@example(0.0, -1.4)
def test_the_gap_is_a_share_whatever_the_signs_of_the_totals(one, other):
    objective, bound = sorted((one, other))
    gap = relative_gap(bound, objective)
    assert 0 <= gap <= 1
    assert relative_gap(objective, bound) == relative_gap(bound, bound) == 0
    assert relative_gap(-objective, -bound) == gap
    if objective > 1e-12:
        assert gap == (bound - objective) / bound
    if objective < 0 < bound and bound - objective > 1e-12:
        assert gap == 1


@given(st.tuples(totals, totals, totals))
def test_the_gap_grows_with_the_distance_to_the_bound(three):
    objective, between, bound = sorted(three)
    gap = relative_gap(bound, objective)
    assert relative_gap(bound, between) <= gap * (1 + 1e-12)
    assert relative_gap(between, objective) <= gap * (1 + 1e-12)


def test_the_gap_closes_as_the_plan_cools():
    profit = np.random.default_rng(2).random((30, 30), dtype=np.float32)
    gaps = [
        solve(complete(profit), "sinkhorn", temperature=temperature, iterations=300).gap
        for temperature in (1.0, 0.1, 0.01)
    ]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 0.02


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("temperature", [1e-12, 1e-6, 0.02, 1.0, 1e3, 1e6, 1e12])
def test_the_best_of_several_left_entities_is_served_at_every_temperature(
    solver, form, temperature
):
    profit = np.array([[0.1], [0.9], [0.5]], dtype=np.float32)
    found = solve(FORMS[form](profit), solver, temperature=temperature, iterations=10)
    assert found.left.tolist() == [1]
    assert found.right.tolist() == [0]


@settings(deadline=None, max_examples=20)
@given(matrices(), st.sampled_from([0.005, 0.02, 1.0]))
def test_a_plan_changes_only_the_speed_of_the_exact_solver(profit, temperature):
    plan = sinkhorn(profit, temperature=temperature, iterations=5)
    values = [
        profit[found.left, found.right].sum(dtype=np.float64)
        for found in (assign(DenseMatrix(profit)), assign(DenseMatrix(profit), prices=plan.right))
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-5)


@pytest.mark.parametrize("temperature", [0.001, 0.02, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("shape", [(12, 12), (12, 9), (9, 12)])
def test_leftovers_are_linked_so_that_the_logarithms_of_the_plan_sum_up_to_most(shape, temperature):
    rng = np.random.default_rng(0)
    for _ in range(5):
        profit = rng.random(shape, dtype=np.float32)
        plan = sinkhorn(profit, temperature=temperature, iterations=5)
        logarithms = profit.astype(np.float64) - plan.left[:, None] - plan.right
        links = _solved(
            profit, plan, *(np.arange(size) for size in shape), tuning=TUNING.assignment
        )
        best = logarithms[linear_sum_assignment(logarithms, maximize=True)].sum()
        assert len(links[0]) == min(shape)
        # In units of profit, however hot it is.
        assert logarithms[links].sum() == pytest.approx(best, rel=1e-9, abs=1e-4)


@pytest.mark.parametrize("form", FORMS)
def test_leftovers_that_are_all_alike_are_matched_in_pieces(form):
    problem = FORMS[form](np.zeros((10, 8), dtype=np.float32))
    problem = replace(problem, tuning=replace(TUNING.assignment, leftovers=3))
    found = solve(problem, "sinkhorn", **METHOD)
    assert sorted(found.right.tolist()) == list(range(8))
    assert len(set(found.left.tolist())) == 8


def test_many_whose_candidates_have_gone_to_others_stay_without():
    tuning = replace(TUNING.assignment, leftovers=2)
    profit = np.random.default_rng(3).random((8, 8), dtype=np.float32)
    kept = np.zeros(profit.shape, dtype=bool)
    kept[:, :3] = True  # three right entities for all
    problem = Problem(rows_of(profit), some_pairs(profit, kept), tuning)
    found = solve(problem, "sinkhorn", **METHOD)
    assert sorted(found.right.tolist()) == [0, 1, 2]
    assert len(set(found.left.tolist())) == 3


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_same_input_gives_the_same_answer_and_is_not_changed(solver, form):
    profit = np.random.default_rng(5).integers(0, 4, (30, 25)).astype(np.float32)
    before = profit.copy()
    problem = FORMS[form](profit)
    one, two = (solve(problem, solver, **METHOD) for _ in range(2))
    assert_array_equal(profit, before)
    for name in ("left", "right", "objective", "gap"):
        assert_array_equal(getattr(one, name), getattr(two, name))
    assert_array_equal(one.plan.right, two.plan.right)
