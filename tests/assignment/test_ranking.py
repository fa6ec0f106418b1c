"""The best partners, ranks, shares and bounds against counting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

import reference
from sameas.assignment.exact import assign
from sameas.assignment.ranking import mutual, ranked, ranks_of, shares, upper_bound
from sameas.assignment.sinkhorn import Plan, sinkhorn
from sameas.similarity.matrix import DenseMatrix
from strategies import matrices


@st.composite
def priced(draw):
    """A profit matrix with a price for each column and each row; few values, so many ties."""
    profit = draw(matrices())
    prices = st.sampled_from([0.0, 0.5, -0.25])
    return (
        profit,
        draw(hnp.arrays(np.float64, profit.shape[0], elements=prices)),
        draw(hnp.arrays(np.float64, profit.shape[1], elements=prices)),
    )


def partners(profit):
    """The partner of each left entity in a best assignment, -1 without one."""
    found = assign(DenseMatrix(profit))
    partner = np.full(len(profit), -1)
    partner[found.left] = found.right
    return partner


@settings(deadline=None, max_examples=25)
@given(priced(), st.integers(1, 8), st.booleans())
def test_the_best_and_their_ranks_equal_sorting_and_counting(drawn, k, paired):
    profit, _, prices = drawn
    partner = partners(profit) if paired else np.full(len(profit), -1)
    found = ranked(profit, prices, k, partner=partner if paired else None)
    worth = profit - prices.astype(np.float32)
    expected = []
    for i, row in enumerate(worth.tolist()):
        if partner[i] >= 0:
            row[partner[i]] = np.inf
        ranks = reference.ranks(row)
        expected += [(i, j, ranks[j], profit[i, j]) for j in reference.best(row, k)]
    assert list(zip(found.left, found.right, found.rank, found.values, strict=True)) == expected


@settings(deadline=None, max_examples=25)
@given(priced(), st.booleans())
def test_ranks_of_given_pairs_equal_counting(drawn, paired):
    profit, _, prices = drawn
    partner = partners(profit) if paired else np.full(len(profit), -1)
    left, right = (index.ravel() for index in np.indices(profit.shape))
    found = ranks_of(profit, prices, left, right, partner=partner if paired else None)
    worth = profit - prices.astype(np.float32)
    for i, row in enumerate(worth.tolist()):
        if partner[i] >= 0:
            row[partner[i]] = np.inf
        assert found.reshape(profit.shape)[i].tolist() == reference.ranks(row)


def test_all_equal_profits_share_the_middle_rank():
    found = ranked(np.zeros((2, 7), dtype=np.float32), np.zeros(7), 3)
    assert_array_equal(found.left, [0, 0, 0, 1, 1, 1])
    assert_array_equal(found.right, [0, 1, 2] * 2)
    assert_array_equal(found.rank, np.full(6, 4.0))


def test_ranks_count_ties_beyond_those_kept():
    profit = np.array([[3, 1, 1, 2, 1]], dtype=np.float32)
    found = ranked(profit, np.zeros(5), 3)
    assert_array_equal(found.right, [0, 3, 1])
    assert_array_equal(found.rank, [1, 2, 4])
    assert_array_equal(found.values, [3, 2, 1])


def test_many_tiles_give_what_one_gives():
    rng = np.random.default_rng(5)
    profit = rng.integers(0, 50, (900, 400)).astype(np.float32)
    prices = rng.integers(0, 3, 400).astype(np.float64)
    found = ranked(profit, prices, 10)
    worth = profit - prices
    order = np.argsort(-worth, axis=1, kind="stable")[:, :10]
    assert_array_equal(found.left, np.repeat(np.arange(900), 10))
    assert_array_equal(found.right, order.ravel())
    assert_array_equal(found.values, np.take_along_axis(profit, order, axis=1).ravel())
    top = np.take_along_axis(worth, order, axis=1)[:, :, None]
    better, equal = (worth[:, None] > top).sum(axis=2), (worth[:, None] == top).sum(axis=2)
    assert_array_equal(found.rank, (better + (equal + 1) / 2).ravel())


@settings(deadline=None, max_examples=30)
@given(priced())
def test_mutual_pairs_are_the_first_largest_of_row_and_column(drawn):
    profit, left, right = drawn
    places = mutual(profit, Plan(left, right, 0.1, 1, 0.0))
    best = (profit - right).argmax(axis=1)
    rows = np.flatnonzero((profit - left[:, None]).argmax(axis=0)[best] == np.arange(len(best)))
    assert_array_equal(places, rows * profit.shape[1] + best[rows])


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_without_entities_there_is_nobody_to_rank(k, shape):
    found = ranked(np.zeros(shape, dtype=np.float32), np.zeros(shape[1]), k)
    assert len(found.left) == len(found.right) == len(found.rank) == len(found.values) == 0


@settings(deadline=None, max_examples=25)
@given(matrices(), st.sampled_from([0.02, 0.2, 2.0]), st.integers(0, 8))
def test_shares_are_the_lesser_part_of_row_and_column(profit, temperature, iterations):
    plan = sinkhorn(profit, temperature=temperature, iterations=iterations)
    logs = (profit.astype(np.float64) - plan.left[:, None] - plan.right) / temperature
    entries = np.exp(logs - logs.max())
    lesser = entries / np.maximum(
        entries.sum(axis=1, keepdims=True), entries.sum(axis=0, keepdims=True)
    )
    left, right = (index.ravel() for index in np.indices(profit.shape))
    found = shares(profit, plan, left, right, profit.ravel())
    assert_allclose(found.reshape(profit.shape), lesser, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("size", [1, 1e6])
@pytest.mark.parametrize("temperature", [1e-12, 1e-9, 1e-6, 0.02, 1e3, 1e12])
@settings(deadline=None, max_examples=8)
@given(profit=matrices(), iterations=st.integers(0, 8))
def test_shares_lie_between_zero_and_one_at_every_temperature(
    size, temperature, profit, iterations
):
    profit = profit * np.float32(size)
    plan = sinkhorn(profit, temperature=temperature, iterations=iterations)
    left, right = (index.ravel() for index in np.indices(profit.shape))
    found = shares(profit, plan, left, right, profit.ravel())
    assert np.isfinite(found).all()
    assert (found >= 0).all()
    assert (found <= 1).all()


@settings(deadline=None, max_examples=30)
@given(priced())
def test_no_prices_make_the_bound_less_than_the_best_total(drawn):
    profit, _, prices = drawn
    assert upper_bound(profit, prices) >= reference.best_total(profit) - 1e-5


@settings(deadline=None, max_examples=25)
@given(matrices(max_side=5), st.integers(0, 20), st.sampled_from([0.01, 0.1, 10.0]))
def test_the_bound_of_a_plans_prices_holds(profit, iterations, temperature):
    plan = sinkhorn(profit, temperature=temperature, iterations=iterations)
    assert upper_bound(profit, plan.right) >= reference.best_total(profit) - 1e-5


def test_the_bound_meets_the_optimum_when_prices_are_right():
    profit = np.array([[0.9, 0.8], [0.8, 0.1]], dtype=np.float32)
    plan = sinkhorn(profit, temperature=0.005, iterations=200)
    assert_allclose(upper_bound(profit, plan.right), 1.6, rtol=0.01)
