"""Sinkhorn against division of a padded matrix, at its numerical limits, and on candidates.

On every pair, Sinkhorn and ranking on candidates are as the dense ones; on a few, as counting.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

import reference
from sameas.assignment.ranking import mutual, ranked, ranks_of, shares
from sameas.assignment.sinkhorn import Plan, sinkhorn
from sameas.candidates import pairs as lines
from sameas.candidates.pairs import Candidates, every_pair, from_pairs
from strategies import matrices

EXTREME_TEMPERATURES = [10.0**exponent for exponent in range(-12, 13, 3)]
TEMPERATURES = [1e-4, 1e-3, 0.02, 0.1, 1.0, 10.0]
parts = st.sampled_from([2, lines.PART])
"""Pairs treated at once."""


@st.composite
def incomplete(draw, *, low=-1.0, high=1.0, max_side=6):
    """A profit matrix, and which of its pairs are candidates: often none of a whole line."""
    profit = draw(matrices(low, high, max_side=max_side))
    kept = draw(hnp.arrays(np.bool_, profit.shape))
    for axis in (0, 1):
        lines = draw(st.lists(st.integers(0, profit.shape[axis] - 1), max_size=1))
        kept[tuple([lines, slice(None)][:: 1 - 2 * axis])] = False
    return profit, kept


def candidates_of(profit, kept, seed=0):
    """Candidates from pairs in no order."""
    left, right = np.nonzero(kept)
    order = np.random.default_rng(seed).permutation(len(left))
    left, right = left[order], right[order]
    return from_pairs(profit.shape, left, right, profit[left, right])


def prices_of(size):
    """Few values, which single precision holds to the digit: many ties."""
    return hnp.arrays(np.float64, size, elements=st.sampled_from([0.0, 0.5, -0.25]))


def all_pairs(shape):
    return tuple(index.ravel() for index in np.indices(shape))


def shares_of_all(pairs, plan, profit):
    """The shares of all pairs of a matrix of profits."""
    left, right = all_pairs(profit.shape)
    return shares(pairs, plan, left, right, profit[left, right])


def rows_of(found):
    """(left, right, rank, value) of each that was ranked."""
    columns = (found.left, found.right, found.rank, found.values)
    return list(zip(*(column.tolist() for column in columns), strict=True))


# --- complete matrices ---------------------------------------------------------------------------


def assert_finite(plan, profit):
    assert np.isfinite(plan.left).all()
    assert np.isfinite(plan.right).all()
    assert np.isfinite(plan.deviation)
    entries = plan.values(profit)
    assert np.isfinite(entries).all()
    assert (entries >= 0).all()


@settings(deadline=None, max_examples=30)
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


@settings(deadline=None, max_examples=25)
@given(matrices(), st.sampled_from([0.05, 0.5]))
def test_columns_sum_to_at_most_one_and_deviation_tells_the_rows(profit, temperature):
    plan = sinkhorn(profit, temperature=temperature, iterations=5)
    entries = plan.values(profit)
    assert (entries.sum(axis=0) <= 1 + 1e-4).all()
    if profit.shape[0] >= profit.shape[1]:
        assert_allclose(entries.sum(axis=0), 1, atol=1e-4)
    if profit.shape[0] <= profit.shape[1]:  # no invisible right entities in a row's sum
        assert_allclose(np.abs(entries.sum(axis=1) - 1).max(), plan.deviation, atol=1e-4)


@pytest.mark.parametrize("temperature", EXTREME_TEMPERATURES)
@settings(deadline=None, max_examples=8)
@given(profit=matrices(), iterations=st.integers(0, 12))
def test_no_temperature_gives_anything_but_finite_numbers(temperature, profit, iterations):
    assert_finite(sinkhorn(profit, temperature=temperature, iterations=iterations), profit)


@pytest.mark.parametrize("temperature", EXTREME_TEMPERATURES)
@pytest.mark.parametrize("shape", [(30, 30), (30, 20), (20, 30), (1, 9), (9, 1)])
def test_random_profits_stay_finite_at_every_temperature(temperature, shape):
    profit = np.random.default_rng(3).uniform(-1, 1, shape).astype(np.float32)
    assert_finite(sinkhorn(profit, temperature=temperature, iterations=10), profit)


@pytest.mark.parametrize("size", [1e3, 1e6])
@settings(deadline=None, max_examples=25)
@given(profit=matrices(), temperature=st.sampled_from([1e-9, 0.02, 1.0, 1e9]))
def test_extreme_profits_stay_finite(size, profit, temperature):
    profit = profit * np.float32(size)
    assert_finite(sinkhorn(profit, temperature=temperature, iterations=5), profit)


@settings(deadline=None, max_examples=25)
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


# --- candidates ---------------------------------------------------------------------------------


@settings(deadline=None, max_examples=25)
@given(incomplete(), st.integers(0, 99))
def test_pairs_in_any_order_become_candidates_by_left_then_right(drawn, seed):
    profit, kept = drawn
    found = candidates_of(profit, kept, seed)
    pairs = [(i, j) for i, row in enumerate(kept.tolist()) for j, here in enumerate(row) if here]
    assert len(found) == len(pairs)
    assert list(zip(found.left.tolist(), found.right.tolist(), strict=True)) == pairs
    assert found.values.tolist() == [profit[pair] for pair in pairs]
    for i in range(len(profit)):
        own = found.right[found.starts[i] : found.starts[i + 1]].tolist()
        assert own == [j for left, j in pairs if left == i]


@settings(deadline=None, max_examples=25)
@given(incomplete())
def test_the_order_by_right_has_every_pair_of_a_right_entity_by_left(drawn):
    found = candidates_of(*drawn)
    starts, order = found.by_right
    assert sorted(order.tolist()) == list(range(len(found)))
    for j in range(found.shape[1]):
        places = order[starts[j] : starts[j + 1]]
        assert (found.right[places] == j).all()
        assert found.left[places].tolist() == sorted(np.flatnonzero(drawn[1][:, j]).tolist())


@settings(deadline=None, max_examples=25)
@given(incomplete())
def test_each_pair_is_found_where_it_is(drawn):
    profit, kept = drawn
    found = candidates_of(profit, kept)
    places = {pair: k for k, pair in enumerate(zip(*np.nonzero(kept), strict=True))}
    left, right = all_pairs(profit.shape)
    expected = [places.get(pair, -1) for pair in zip(left, right, strict=True)]
    assert found.find(left, right).tolist() == expected
    assert found.find(left[::-1], right[::-1]).tolist() == expected[::-1]
    assert len(found.find(left[:0], right[:0])) == 0


@settings(deadline=None, max_examples=25)
@given(incomplete(), st.data())
def test_joined_candidates_are_those_of_both(drawn, data):
    profit, kept = drawn
    more = data.draw(hnp.arrays(np.bool_, profit.shape)) & ~kept
    left, right = np.nonzero(more)
    first = candidates_of(profit, kept)
    before = first.right.copy(), first.values.copy()
    joined = first.joined(left[::-1], right[::-1], profit[left, right][::-1])
    both = candidates_of(profit, kept | more)
    for name in ("shape", "starts", "right", "values", "left"):
        assert_array_equal(getattr(joined, name), getattr(both, name))
    assert joined.right.dtype == np.int32
    assert_array_equal(first.right, before[0])
    assert_array_equal(first.values, before[1])


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (1, 1), (4, 3)])
def test_every_pair_is_all_of_the_matrix(shape):
    profit = np.random.default_rng(0).random(shape, dtype=np.float32)
    found = every_pair(profit)
    assert_array_equal(found.values.reshape(shape), profit)
    assert_array_equal((found.left, found.right), all_pairs(shape))
    assert_array_equal(found.find(*all_pairs(shape)), np.arange(profit.size))


def test_more_pairs_than_fit_into_32_bits_are_told_apart():
    size = 100_000
    rng = np.random.default_rng(1)
    left, right = rng.integers(0, size, (2, 500))
    keys = np.unique(left * size + right)
    left, right = np.divmod(keys, size)
    assert keys.max() > 2**32
    found = from_pairs((size, size), left, right, rng.random(len(left), dtype=np.float32))
    assert_array_equal(found.left, left)
    assert_array_equal(found.find(left, right), np.arange(len(left)))
    # As 32-bit positions, too, and with those whose number is the same in 32 bits.
    assert_array_equal(
        found.find(left.astype(np.int32), right.astype(np.int32)), np.arange(len(left))
    )
    others = np.divmod((keys + 2**32) % size**2, size)
    assert (found.find(*others) == -1).all()
    joined = found.joined(*others, found.values)
    assert_array_equal(joined.find(left, right) >= 0, True)
    assert_array_equal(joined.find(*others) >= 0, True)


# --- Sinkhorn -----------------------------------------------------------------------------------


def assert_same_plan(plan, dense, *, scale=1.0):
    # Single precision is the dense one's: felt the more, the colder it is.
    close = 1e-5 * scale
    assert_allclose(plan.right, dense.right, rtol=1e-6, atol=close)
    assert_allclose(plan.left, dense.left, rtol=1e-6, atol=close)
    assert_allclose(
        plan.deviation, dense.deviation, rtol=1e-3, atol=1e-5 + 1e-6 * scale / dense.temperature
    )
    assert (plan.temperature, plan.iterations) == (dense.temperature, dense.iterations)


@pytest.mark.parametrize("temperature", TEMPERATURES)
@settings(deadline=None, max_examples=8)
@given(profit=matrices(), iterations=st.integers(0, 30), size=parts)
def test_on_every_pair_the_plan_is_the_dense_one(temperature, profit, iterations, size):
    method = {"temperature": temperature, "iterations": iterations}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "PART", size)
        plan = sinkhorn(every_pair(profit), **method)
    dense = sinkhorn(profit, **method)
    assert_same_plan(plan, dense)


@pytest.mark.parametrize("temperature", TEMPERATURES)
@pytest.mark.parametrize("shape", [(40, 40), (40, 25), (25, 40), (1, 9), (9, 1)])
def test_on_every_pair_of_random_profits_the_plan_is_the_dense_one(shape, temperature):
    profit = np.random.default_rng(7).uniform(-1, 1, shape).astype(np.float32)
    method = {"temperature": temperature, "iterations": 10}
    assert_same_plan(sinkhorn(every_pair(profit), **method), sinkhorn(profit, **method))


@settings(deadline=None, max_examples=25)
@given(incomplete(), st.sampled_from([0.02, 0.1, 1.0, 10.0]), st.integers(1, 12), parts)
def test_on_few_pairs_the_plan_is_that_of_a_matrix_with_nothing_elsewhere(
    drawn, temperature, iterations, size
):
    profit, kept = drawn
    candidates = candidates_of(profit, kept)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "PART", size)
        plan = sinkhorn(candidates, temperature=temperature, iterations=iterations)
    expected, sums = reference.sparse_sinkhorn(
        np.where(kept, profit.astype(np.float64), -np.inf), temperature, iterations
    )
    logs = (profit.astype(np.float64) - plan.left[:, None] - plan.right) / temperature
    assert_allclose(np.exp(logs[kept]), expected[kept], rtol=1e-6, atol=1e-9)
    assert np.isfinite(plan.left).all()
    assert np.isfinite(plan.right).all()
    if (sums > 0).all():
        assert_allclose(plan.deviation, np.abs(sums - 1).max(), rtol=1e-6, atol=1e-9)


def test_a_row_without_candidates_does_not_deviate_by_more_than_one():
    # Two right entities share the one left entity that has candidates.
    candidates = from_pairs(
        (2, 2), np.array([0, 0]), np.array([0, 1]), np.array([0.9, 0.1], dtype=np.float32)
    )
    plan = sinkhorn(candidates, temperature=0.001, iterations=1)
    assert plan.deviation == pytest.approx(1.0)


@pytest.mark.parametrize("size", [1.0, 1e6])
@pytest.mark.parametrize("temperature", [1e-12, 1e-6, 1e-3, 1.0, 1e6, 1e12])
@settings(deadline=None, max_examples=5)
@given(drawn=incomplete(), iterations=st.integers(0, 12))
def test_nothing_but_finite_numbers_at_every_temperature(size, temperature, drawn, iterations):
    profit, kept = drawn[0] * np.float32(size), drawn[1]
    candidates = candidates_of(profit, kept)
    plan = sinkhorn(candidates, temperature=temperature, iterations=iterations)
    assert np.isfinite(plan.left).all()
    assert np.isfinite(plan.right).all()
    assert not np.isnan(plan.deviation)
    found = shares_of_all(candidates, plan, profit)
    assert np.isfinite(found).all()
    assert ((found >= 0) & (found <= 1)).all()
    assert not np.isnan(ranked(candidates, plan.right, 3).rank).any()


@pytest.mark.parametrize("iterations", [0, 3])
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 2)])
def test_no_candidates_at_all_give_a_finite_plan(shape, iterations):
    nothing = candidates_of(np.zeros(shape, dtype=np.float32), np.zeros(shape, dtype=bool))
    plan = sinkhorn(nothing, temperature=0.02, iterations=iterations)
    assert (len(plan.left), len(plan.right)) == shape
    assert np.isfinite(plan.left).all()
    assert np.isfinite(plan.right).all()
    assert np.isfinite(plan.deviation)
    assert len(ranked(nothing, plan.right, 3).left) == 0
    assert len(mutual(nothing, plan)) == 0


def test_candidates_are_not_changed_and_progress_reaches_the_end():
    profit = np.random.default_rng(0).random((5, 4), dtype=np.float32)
    candidates, told = every_pair(profit), []
    sinkhorn(candidates, temperature=0.02, iterations=4, progress=told.append)
    assert_array_equal(candidates.values, profit.ravel())
    assert told == sorted(told)
    assert 0 < told[0] <= told[-1] <= 1


# --- ranks --------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=30)
@given(matrices(), st.integers(1, 8), st.booleans(), parts, st.data())
def test_on_every_pair_the_ranked_are_the_dense_ones(profit, k, paired, size, data):
    prices = data.draw(prices_of(profit.shape[1]))
    partner = None
    if paired:
        partner = data.draw(
            hnp.arrays(np.int64, len(profit), elements=st.integers(-1, profit.shape[1] - 1))
        )
    pairs = all_pairs(profit.shape)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "PART", size)
        found = ranked(every_pair(profit), prices, k, partner=partner)
        ranks = ranks_of(every_pair(profit), prices, *pairs, partner=partner)
    assert rows_of(found) == rows_of(ranked(profit, prices, k, partner=partner))
    assert_array_equal(ranks, ranks_of(profit, prices, *pairs, partner=partner))


@settings(deadline=None, max_examples=25)
@given(incomplete(), st.integers(1, 8), st.booleans(), parts, st.data())
def test_on_few_pairs_the_ranked_equal_sorting_and_counting(drawn, k, paired, size, data):
    profit, kept = drawn
    prices = data.draw(prices_of(profit.shape[1]))
    partner = np.full(len(profit), -1)
    if paired:  # some of whom are no candidates
        whom = st.integers(-1, profit.shape[1] - 1)
        partner = data.draw(hnp.arrays(np.int64, len(profit), elements=whom))
    candidates = candidates_of(profit, kept)
    left, right = all_pairs(profit.shape) if len(candidates) else all_pairs((0, 0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "PART", size)
        method = {"partner": partner if paired else None}
        found = ranked(candidates, prices, k, **method)
        ranks = ranks_of(candidates, prices, left, right, **method)
    expected, expected_ranks = [], np.full(profit.shape, np.nan)
    for i, row in enumerate((profit - prices.astype(np.float32)).tolist()):
        if partner[i] >= 0:
            row[partner[i]] = np.inf
        own = np.flatnonzero(kept[i]).tolist()
        worth = [row[j] for j in own]
        own_ranks = reference.ranks(worth)
        expected_ranks[i, own] = own_ranks
        expected += [
            (i, own[place], own_ranks[place], profit[i, own[place]])
            for place in reference.best(worth, k)
        ]
    assert rows_of(found) == expected
    assert_array_equal(ranks, expected_ranks[left, right])


def test_without_any_candidates_no_pair_has_a_rank():
    nothing = candidates_of(np.zeros((2, 2), dtype=np.float32), np.zeros((2, 2), dtype=bool))
    ranks = ranks_of(nothing, np.zeros(2), np.array([0, 1]), np.array([1, 1]))
    assert np.isnan(ranks).all()


def test_many_parts_rank_as_one_does():
    rng = np.random.default_rng(5)
    profit = rng.integers(0, 50, (300, 200)).astype(np.float32)
    kept = rng.random(profit.shape) < 0.3
    kept[rng.integers(0, 300, 40)] = False
    prices = rng.integers(0, 3, 200).astype(np.float64)
    candidates = candidates_of(profit, kept)
    answers = []
    for size in (lines.PART, 700):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lines, "PART", size)
            plan = sinkhorn(candidates, temperature=5, iterations=5)
            answers.append((plan, rows_of(ranked(candidates, prices, 10))))
    assert_allclose(answers[0][0].left, answers[1][0].left, atol=1e-12)
    assert_allclose(answers[0][0].right, answers[1][0].right, atol=1e-12)
    assert answers[0][1] == answers[1][1]


# --- pairs that are each other's best, and shares -------------------------------------------------


@settings(deadline=None, max_examples=25)
@given(incomplete(), parts, st.data())
def test_mutual_pairs_are_the_first_largest_of_row_and_column(drawn, size, data):
    profit, kept = drawn
    left, right = (data.draw(prices_of(count)) for count in profit.shape)
    plan = Plan(left, right, temperature=0.1, iterations=1, deviation=0.0)
    candidates = candidates_of(profit, kept)
    free = [data.draw(hnp.arrays(np.bool_, size)) for size in profit.shape]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "PART", size)
        places = mutual(candidates, plan, *free)
    here = kept & free[0][:, None] & free[1]
    by_row = np.where(here, profit - plan.right, -np.inf)
    by_column = np.where(here, profit - plan.left[:, None], -np.inf)
    expected = [
        (i, j)
        for i, j in zip(*np.nonzero(here), strict=True)
        if by_row[i].argmax() == j and by_column[:, j].argmax() == i
    ]
    found = zip(candidates.left[places], candidates.right[places], strict=True)
    assert sorted(found) == expected


@settings(deadline=None, max_examples=25)
@given(matrices(), st.sampled_from([0.02, 0.2, 2.0]), st.integers(0, 8))
def test_on_every_pair_shares_are_the_dense_ones(profit, temperature, iterations):
    plan = sinkhorn(profit, temperature=temperature, iterations=iterations)
    found = shares_of_all(every_pair(profit), plan, profit)
    assert_allclose(found, shares_of_all(profit, plan, profit), rtol=1e-3, atol=1e-6)


def expected_shares(profit, kept, plan):
    """The lesser share of row and column of each pair; others count where they are candidates."""
    logs = (profit.astype(np.float64) - plan.left[:, None] - plan.right) / plan.temperature
    shares = np.empty(profit.shape)
    for i, j in np.ndindex(profit.shape):
        masses = []
        for line, own, place in ((logs[i], kept[i], j), (logs[:, j], kept[:, j], i)):
            counted = own.copy()
            counted[place] = True
            masses.append(np.exp(line[counted] - logs[i, j]).sum())
        shares[i, j] = 1 / max(masses)
    return shares


@settings(deadline=None, max_examples=25)
@given(incomplete(max_side=5), st.sampled_from([0.05, 0.2, 2.0]), st.integers(0, 8), parts)
def test_on_few_pairs_shares_count_the_pair_and_candidates(drawn, temperature, iterations, size):
    profit, kept = drawn
    candidates = candidates_of(profit, kept)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "PART", size)
        plan = sinkhorn(candidates, temperature=temperature, iterations=iterations)
        found = shares_of_all(candidates, plan, profit).reshape(profit.shape)
    # What has candidates in its row and in its column; of the others see below.
    filled = kept.any(axis=1)[:, None] & kept.any(axis=0)
    expected = expected_shares(profit, kept, plan)
    assert_allclose(found[filled], expected[filled], rtol=1e-6, atol=1e-9)


def test_a_pair_whose_entities_have_no_candidates_has_all_of_the_mass():
    profit = np.array([[1.0, 0.0], [0.0, 0.3]], dtype=np.float32)
    kept = np.array([[True, False], [False, False]])
    candidates = candidates_of(profit, kept)
    plan = sinkhorn(candidates, temperature=0.5, iterations=5)
    found = shares_of_all(candidates, plan, profit).reshape(profit.shape)
    assert_allclose(found[1, 1], 1.0)
    assert_allclose(found, expected_shares(profit, kept, plan))


def test_candidates_hold_what_they_are_given():
    candidates = Candidates(
        (2, 3), np.array([0, 2, 2]), np.array([0, 2], dtype=np.int32), np.ones(2, dtype=np.float32)
    )
    assert len(candidates) == 2
    assert candidates.recall is None
    assert candidates.left.tolist() == [0, 0]
