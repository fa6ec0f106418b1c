"""Assignment where only candidates can be linked, its proof, and where candidates come from."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

import reference
from sameas.assignment.exact import assign, bounded, certify
from sameas.candidates.pairs import every_pair, from_pairs
from sameas.candidates.search import find_candidates
from sameas.compute.lines import lines_of
from sameas.compute.rows import as_rows, unit
from sameas.compute.topk import top_k_sparse
from sameas.similarity.matrix import make_profit
from strategies import matrices

OPEN = {"alone": (0.0, 0.0)}
"""Nobody has to be linked."""
NEVER = -1e6


@st.composite
def sparse_problems(draw, *, max_side=5, high=9.0):
    """Candidates of a small matrix, and the matrix, with what is no candidate out of reach."""
    scores = draw(matrices(-high, high, max_side=max_side))
    kept = draw(hnp.arrays(bool, scores.shape))
    return problem(scores, kept)


def problem(scores, kept):
    left, right = np.nonzero(kept)
    candidates = from_pairs(scores.shape, left, right, scores[left, right])
    return candidates, np.where(kept, scores.astype(np.float64), NEVER)


def by_trying_all(matrix):
    """The largest total of a set of pairs that share nobody."""
    n, m = matrix.shape
    best = 0.0
    for size in range(1, min(n, m) + 1):
        for rows in itertools.combinations(range(n), size):
            for columns in itertools.permutations(range(m), size):
                best = max(best, sum(matrix[i, j] for i, j in zip(rows, columns, strict=True)))
    return best


def random_problem(seed, n, m, share=0.15):
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, 10, (n, m)).astype(np.float32)
    if seed % 3 == 0:  # many ties
        scores = scores.round(-1)
    return problem(scores, rng.random((n, m)) < share)


def assert_best(candidates, matrix, best):
    profit = candidates
    found = assign(profit, candidates, **OPEN)
    assert len(set(found.left.tolist())) == len(found.left)
    assert len(set(found.right.tolist())) == len(found.right)
    assert (candidates.find(found.left, found.right) >= 0).all()
    assert_allclose(found.objective, matrix[found.left, found.right].sum(), atol=1e-4)
    assert_allclose(found.objective, best, rtol=1e-6, atol=1e-4)
    assert found.gap == 0
    assert found.left_prices.min(initial=0.0) >= 0
    assert found.right_prices.min(initial=0.0) >= 0
    proof = certify(profit, found.left, found.right, found.left_prices, found.right_prices, **OPEN)
    assert proof.gap < 1e-6 or best < 1e-3  # profits count down to a tiny share of the largest
    assert proof.bound == pytest.approx(best, rel=1e-6, abs=1e-4)
    assert proof.excess < 1e-6
    return found


# --- the best -----------------------------------------------------------------------------------


@settings(deadline=None, max_examples=25)
@given(sparse_problems(max_side=4))
def test_the_answer_is_the_best_of_all_that_there_are(drawn):
    candidates, matrix = drawn
    assert_best(candidates, matrix, by_trying_all(matrix))


@settings(deadline=None, max_examples=30)
@given(sparse_problems(max_side=7))
def test_the_answer_is_scipys(drawn):
    candidates, matrix = drawn
    assert_best(candidates, matrix, reference.best_with_nobody(matrix, *OPEN["alone"]))


@pytest.mark.parametrize("shape", [(40, 40), (60, 25), (25, 60)])
@pytest.mark.parametrize("seed", range(4))
def test_larger_problems_are_scipys_too(seed, shape):
    candidates, matrix = random_problem(seed, *shape)
    assert_best(candidates, matrix, reference.best_with_nobody(matrix, *OPEN["alone"]))


@pytest.mark.parametrize("shape", [(0, 0), (0, 2), (2, 0), (3, 2)])
def test_without_candidates_nobody_is_linked(shape):
    candidates, matrix = problem(np.zeros(shape, dtype=np.float32), np.zeros(shape, dtype=bool))
    assert len(assert_best(candidates, matrix, 0.0).left) == 0


def test_what_is_worth_less_than_nothing_is_not_linked():
    candidates = every_pair(np.array([[2.0, -1.0], [1.5, -3.0]], dtype=np.float32))
    found = assign(candidates, **OPEN)
    assert (found.left.tolist(), found.right.tolist()) == ([0], [0])
    assert found.objective == 2


def test_prices_to_start_from_change_nothing():
    candidates, matrix = random_problem(1, 30, 30)
    best = reference.best_with_nobody(matrix, *OPEN["alone"])
    rng = np.random.default_rng(0)
    for prices in (np.zeros(30), rng.normal(0, 30, 30), np.full(30, -5.0)):
        found = assign(candidates, prices=prices, **OPEN)
        assert_allclose(found.objective, best, rtol=1e-6)
        assert found.gap == 0


# --- the profit itself --------------------------------------------------------------------------


@settings(deadline=None, max_examples=25)
@given(sparse_problems())
def test_only_candidates_have_a_profit(drawn):
    candidates, matrix = drawn
    profit = candidates
    assert profit.shape == matrix.shape
    left, right = (index.ravel() for index in np.indices(matrix.shape))
    values = profit.of(left, right)
    known = matrix.ravel() > NEVER
    assert np.isneginf(values[~known]).all()
    assert_allclose(values[known], matrix.ravel()[known])
    assert profit.ceiling == np.abs(matrix[matrix > NEVER]).max(initial=0.0)


@settings(deadline=None, max_examples=25)
@given(sparse_problems(), st.data())
def test_pairs_above_their_prices_are_found(drawn, data):
    candidates, matrix = drawn
    few = st.sampled_from([-3.0, 0.0, 2.5, 9.0])
    left, right = (data.draw(hnp.arrays(np.float64, size, elements=few)) for size in matrix.shape)
    found = [
        (int(i), int(j))
        for _, rows, columns in candidates.exceeding_prices(left, right)
        for i, j in zip(rows, columns, strict=True)
    ]
    expected = matrix > left[:, None] + right
    assert found == [(i, j) for i, j in np.argwhere(expected).tolist()]


# --- the proof ----------------------------------------------------------------------------------


@settings(deadline=None, max_examples=30)
@given(sparse_problems(max_side=6), st.data())
def test_whatever_the_prices_the_bound_holds(drawn, data):
    candidates, matrix = drawn
    best = reference.best_with_nobody(matrix, *OPEN["alone"])
    drawn_prices = st.floats(-20, 20)
    left, right = (
        data.draw(hnp.arrays(np.float64, size, elements=drawn_prices)) for size in matrix.shape
    )
    none = np.zeros(0, dtype=np.int64)
    proof = certify(candidates, none, none, left, right, **OPEN)
    assert proof.bound >= best - 1e-4
    assert proof.objective == 0


@pytest.mark.parametrize("seed", range(3))
def test_tampered_prices_prove_nothing(seed):
    candidates, _ = random_problem(seed, 20, 20, share=0.3)
    profit = candidates
    found = assign(profit, candidates, **OPEN)
    for change in (-1.0, 1.0):
        for side, place in ((0, found.left[0]), (1, found.right[0])):
            prices = found.left_prices.copy(), found.right_prices.copy()
            prices[side][place] += change
            proof = bounded(profit, *prices, objective=found.objective)
            # Too low a price is made good for, and told; too high a one is a worse bound.
            assert proof.bound >= found.objective - 1e-6
            assert (proof.excess > 0) == (change < 0)
            assert proof.gap > 1e-6 or change < 0
    worse = certify(
        profit, found.left[1:], found.right[1:], found.left_prices, found.right_prices, **OPEN
    )
    assert worse.gap > 1e-6


def test_prices_below_what_staying_alone_is_worth_are_made_good_for():
    candidates = every_pair(np.array([[4.0]], dtype=np.float32))
    wide = from_pairs((1, 3), candidates.left, candidates.right, candidates.values)
    profit, none = wide, np.zeros(0, dtype=np.int64)
    # Two right entities without candidates, whose prices would make the total bound look like 0.
    proof = certify(profit, none, none, np.array([4.0]), np.array([0.0, -2.0, -2.0]), **OPEN)
    assert proof.bound == 4
    assert proof.gap == 1


# --- where candidates come from -----------------------------------------------------------------


def rows_of(seed, n, width=12, density=0.4):
    """Rows as those of names: not negative, unit or zero."""
    rng = np.random.default_rng(seed)
    values = rng.random((n, width)) * (rng.random((n, width)) < density)
    return unit(as_rows(csr_array(values.astype(np.float32))))


@pytest.mark.parametrize("k", [1, 2, 5, 40])
@pytest.mark.parametrize("seed", range(4))
def test_alike_are_the_best_few_of_both_sides(seed, k):
    left, right = rows_of(seed, 15), rows_of(seed + 100, 11)
    numbers = top_k_sparse(left.sparse, right.sparse, k)
    products = left.toarray().astype(np.float64) @ right.toarray().T
    expected = set()
    for i, row in enumerate(products):
        expected |= {(i, j) for j in reference.best(row, k) if row[j] > 0}
    for j, column in enumerate(products.T):
        expected |= {(i, j) for i in reference.best(column, k) if column[i] > 0}
    assert [divmod(number, 11) for number in numbers.tolist()] == sorted(expected)


@pytest.mark.parametrize("shape", [(0, 3, 4), (3, 0, 4), (3, 3, 0)])
def test_nobody_is_alike_where_there_is_nothing(shape):
    left, right = csr_array((shape[0], shape[2])), csr_array((shape[1], shape[2]))
    assert top_k_sparse(left, right, 3).tolist() == []


def test_pairs_that_are_of_interest_join_the_nearest_with_their_profits():
    left, right = rows_of(0, 30), rows_of(1, 20)
    profit = make_profit(left, right)
    few = find_candidates(profit, 1, first=1)
    also = np.array([0, 7, 7 * 20 + 19, 599])
    found = find_candidates(profit, 1, first=1, also=also)
    keys = found.left.astype(np.int64) * 20 + found.right
    few_keys = few.left.astype(np.int64) * 20 + few.right
    assert_array_equal(keys, np.union1d(few_keys, also))
    products = left.toarray().astype(np.float64) @ right.toarray().T
    assert_allclose(found.values, products[found.left, found.right], atol=1e-6)


def test_pairs_that_are_of_interest_join_what_was_proposed_too():
    profit = make_profit(rows_of(0, 30), rows_of(1, 20))
    proposed, also = np.array([3, 25]), np.array([3, 599])
    lines = lines_of(proposed, profit.shape)
    found = find_candidates(profit, 1, first=1, proposed=lines, also=also)
    assert (found.left.astype(np.int64) * 20 + found.right).tolist() == [3, 25, 599]
    assert found.recall is not None
