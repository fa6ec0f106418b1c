"""Sinkhorn against division of an explicitly padded matrix, and at its numerical limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import reference
from sameas.assignment.sinkhorn import sinkhorn
from strategies import matrices

TEMPERATURES = [10.0**exponent for exponent in range(-12, 13, 3)]


def assert_finite(plan, profit):
    assert np.isfinite(plan.left).all()
    assert np.isfinite(plan.right).all()
    assert np.isfinite(plan.deviation)
    entries = plan.values(profit)
    assert np.isfinite(entries).all()
    assert (entries >= 0).all()


@settings(deadline=None, max_examples=50)
@given(matrices(), st.sampled_from([0.02, 0.1, 1.0, 50.0]), st.integers(1, 12))
def test_the_plan_equals_dividing_the_padded_matrix(profit, temperature, iterations):
    plan = sinkhorn(profit, temperature=temperature, iterations=iterations)
    expected = reference.sinkhorn(profit, temperature, iterations)
    assert_allclose(plan.values(profit), expected, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("shape", [(40, 40), (40, 25), (25, 40), (1, 30), (30, 1), (1, 1)])
@pytest.mark.parametrize("low", [-1.0, 0.0])
def test_the_plan_of_random_profits_equals_the_padded_one(shape, low):
    profit = np.random.default_rng(7).uniform(low, 1, shape).astype(np.float32)
    plan = sinkhorn(profit, temperature=0.05, iterations=10)
    assert_allclose(plan.values(profit), reference.sinkhorn(profit, 0.05, 10), rtol=1e-3, atol=1e-6)


def test_a_matrix_of_several_tiles_gives_the_same_plan():
    profit = np.random.default_rng(1).random((700, 600), dtype=np.float32)
    plan = sinkhorn(profit, temperature=0.1, iterations=5)
    assert_allclose(plan.values(profit), reference.sinkhorn(profit, 0.1, 5), rtol=1e-3, atol=1e-6)


@settings(deadline=None, max_examples=40)
@given(matrices(), st.sampled_from([0.05, 0.5]))
def test_columns_sum_to_at_most_one_and_deviation_tells_the_rows(profit, temperature):
    plan = sinkhorn(profit, temperature=temperature, iterations=5)
    entries = plan.values(profit)
    assert (entries.sum(axis=0) <= 1 + 1e-4).all()
    if profit.shape[0] >= profit.shape[1]:
        assert_allclose(entries.sum(axis=0), 1, atol=1e-4)
    if profit.shape[0] <= profit.shape[1]:  # no invisible right entities in a row's sum
        assert_allclose(np.abs(entries.sum(axis=1) - 1).max(), plan.deviation, atol=1e-4)


@pytest.mark.parametrize("temperature", TEMPERATURES)
@settings(deadline=None, max_examples=8)
@given(profit=matrices(), iterations=st.integers(0, 12))
def test_no_temperature_gives_anything_but_finite_numbers(temperature, profit, iterations):
    assert_finite(sinkhorn(profit, temperature=temperature, iterations=iterations), profit)


@pytest.mark.parametrize("temperature", TEMPERATURES)
@pytest.mark.parametrize("shape", [(30, 30), (30, 20), (20, 30), (1, 9), (9, 1)])
def test_random_profits_stay_finite_at_every_temperature(temperature, shape):
    profit = np.random.default_rng(3).uniform(-1, 1, shape).astype(np.float32)
    assert_finite(sinkhorn(profit, temperature=temperature, iterations=10), profit)


@pytest.mark.parametrize("size", [1e3, 1e6])
@settings(deadline=None, max_examples=40)
@given(profit=matrices(), temperature=st.sampled_from([1e-9, 0.02, 1.0, 1e9]))
def test_extreme_profits_stay_finite(size, profit, temperature):
    profit = profit * np.float32(size)
    assert_finite(sinkhorn(profit, temperature=temperature, iterations=5), profit)


@settings(deadline=None, max_examples=40)
@given(matrices(0.0, 1.0), st.floats(0.01, 1))
def test_the_potentials_say_all_about_the_plan(profit, temperature):
    plan = sinkhorn(profit, temperature=temperature, iterations=4)
    logs = (profit.astype(np.float64) - plan.left[:, None] - plan.right) / temperature
    assert_allclose(plan.values(profit), np.exp(logs), rtol=1e-3, atol=1e-7)
    assert_allclose(plan.values(profit, slice(0, 1)), plan.values(profit)[:1])


def test_without_iterations_the_plan_keeps_the_order_of_each_row():
    profit = np.array([[0.1, 0.9, 0.5], [0.2, 0.1, 0.0]], dtype=np.float32)
    plan = sinkhorn(profit, temperature=0.1, iterations=0)
    assert plan.iterations == 0
    assert_finite(plan, profit)
    assert (plan.values(profit).argsort(axis=1) == profit.argsort(axis=1)).all()


def test_a_cold_plan_finds_the_assignment_where_greed_would_not():
    profit = np.array([[0.9, 0.8], [0.8, 0.1]], dtype=np.float32)
    plan = sinkhorn(profit, temperature=0.02, iterations=100)
    assert (plan.values(profit).argmax(axis=1) == [1, 0]).all()
    assert plan.deviation < 0.01


def test_a_hot_plan_treats_all_alike():
    profit = np.random.default_rng(0).random((4, 4), dtype=np.float32)
    plan = sinkhorn(profit, temperature=1e6, iterations=10)
    assert_allclose(plan.values(profit), 0.25, atol=1e-3)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_an_empty_side_gives_empty_potentials(shape):
    plan = sinkhorn(np.zeros(shape, dtype=np.float32), temperature=0.02, iterations=3)
    assert (len(plan.left), len(plan.right)) == shape
    assert np.isfinite(plan.left).all()
    assert np.isfinite(plan.right).all()


def test_the_profit_is_not_changed_and_progress_reaches_the_end():
    profit = np.random.default_rng(0).random((5, 4), dtype=np.float32)
    before, told = profit.copy(), []
    sinkhorn(profit, temperature=0.02, iterations=4, progress=told.append)
    assert (profit == before).all()
    assert told == sorted(told)
    assert 0 < told[0] <= told[-1] <= 1
