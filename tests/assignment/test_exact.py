"""The exact solver against SciPy's, the proof that it gives, and proofs that were tampered with."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

import reference
from sameas.assignment import exact
from sameas.assignment.exact import certify
from sameas.candidates.pairs import every_pair, from_pairs
from sameas.compute.rows import Rows, as_rows, unit
from sameas.options.tuning import TUNING
from sameas.similarity import matrix as profit_module
from sameas.similarity.matrix import DenseMatrix, make_profit
from strategies import matrices

TINY = 1e-9
"""In parts of the largest profit: far above rounding to the quantum, far below any difference."""


NUMBERS = TUNING.assignment
assign = partial(exact.assign, tuning=replace(NUMBERS, small=0))
"""As for a large problem: a matrix of any size starts from its likely pairs, not from all."""


# --- problems that are hard, each in its way ----------------------------------------------------


def _twins(rng, n, m):
    few = rng.random((1 + n // 3, 1 + m // 3))
    return few[rng.integers(0, len(few), n)][:, rng.integers(0, few.shape[1], m)]


def _chain(rng, n, m):
    """One long path of exchanges: each has its own and, nearly as good, its neighbour's."""
    steps = np.arange(m) - np.arange(n)[:, None]
    return np.select([steps == 0, steps == 1], [1.0, 1.0 + 1e-4 * rng.random()], rng.random() / 2)


FAMILIES = {
    "uniform": lambda rng, n, m: rng.random((n, m)),
    "negative": lambda rng, n, m: -rng.random((n, m)),
    "both signs": lambda rng, n, m: rng.standard_normal((n, m)),
    "few values": lambda rng, n, m: rng.integers(0, 3, (n, m)),
    "mostly zero": lambda rng, n, m: rng.random((n, m)) * (rng.random((n, m)) < 0.1),
    "all equal": lambda rng, n, m: np.full((n, m), rng.choice([0.0, 0.7, -0.7])),
    "twins": _twins,
    "rank one": lambda rng, n, m: np.outer(np.sort(rng.random(n)), np.sort(rng.random(m))),
    "rank one, reversed": lambda rng, n, m: -np.outer(rng.random(n), rng.random(m)),
    "Machol and Wien": lambda rng, n, m: -np.outer(1.0 + np.arange(n), 1.0 + np.arange(m)),
    "nearly equal": lambda rng, n, m: 1 + rng.integers(0, 5, (n, m)) * 2.0**-23,
    "sums": lambda rng, n, m: rng.random((n, 1)) + rng.random(m),
    "one hub": lambda rng, n, m: rng.random((n, m)) + 9 * (np.arange(m) == 0),
    "chain": _chain,
    "large": lambda rng, n, m: 1e6 * rng.standard_normal((n, m)),
    "small": lambda rng, n, m: 1e-6 * rng.standard_normal((n, m)),
    "all sizes": lambda rng, n, m: 10.0 ** rng.integers(-6, 6, (n, m)),
}


def problem(family, n, m, seed=0):
    return FAMILIES[family](np.random.default_rng(seed), n, m).astype(np.float32)


sides = st.integers(1, 12)
seeds = st.integers(0, 2**32 - 1)
hard = st.builds(problem, st.sampled_from(list(FAMILIES)), sides, sides, seeds)
clear = st.builds(problem, st.sampled_from(["uniform", "both signs"]), sides, sides, seeds)
"""Problems with one best assignment."""


def best_of(matrix):
    """SciPy's answer."""
    matrix = matrix.astype(np.float64)
    return matrix[linear_sum_assignment(matrix, maximize=True)].sum()


def size_of(matrix, *alone):
    """The largest number in a problem, in which small ones are measured."""
    return max(
        [float(np.abs(some).max(initial=0)) for some in (matrix, *alone) if some is not None]
    )


def some_pairs(matrix, kept):
    left, right = np.nonzero(kept)
    return from_pairs(matrix.shape, left, right, matrix[left, right])


def assert_links(matrix, found, count=None):
    """One to one, left ascending, and nobody of the smaller side left out."""
    count = min(matrix.shape) if count is None else count
    assert len(found.left) == len(found.right) == count
    assert len(np.unique(found.left)) == len(np.unique(found.right)) == count
    assert (np.diff(found.left) > 0).all()


def assert_proof(matrix, found, left_alone=None, right_alone=None):
    """The prices prove the links: feasible, and nothing is lost anywhere."""
    n, m = matrix.shape
    size = size_of(matrix, left_alone, right_alone)
    close = {"rtol": 0, "atol": TINY * size}
    assert found.gap == 0
    assert_allclose(found.bound, found.objective, rtol=0, atol=TINY * size * (n + m))
    left, right = found.left_prices, found.right_prices
    assert (left[:, None] + right >= matrix - TINY * size).all()
    assert_allclose(
        (left[found.left] + right[found.right]), matrix[found.left, found.right], **close
    )
    total = matrix[found.left, found.right].sum(dtype=np.float64)
    for own, own_alone, others, linked in (
        (left, left_alone, m, found.left),
        (right, right_alone, n, found.right),
    ):
        lonely = np.setdiff1d(np.arange(len(own)), linked)
        if own_alone is None and len(own) <= others:
            assert len(lonely) == 0
            continue
        worth = np.broadcast_to(0.0 if own_alone is None else own_alone, len(own))
        assert (own >= worth - TINY * size).all()
        assert_allclose(own[lonely], worth[lonely], **close)
        total += worth[lonely].sum()
    assert_allclose(found.objective, total, rtol=0, atol=TINY * size * (n + m))


# --- the value ----------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
@settings(deadline=None, max_examples=5)
@given(n=sides, m=sides, seed=seeds)
def test_the_value_is_scipys_and_the_prices_prove_it(family, n, m, seed):
    matrix = problem(family, n, m, seed)
    found = assign(DenseMatrix(matrix))
    assert_links(matrix, found)
    assert_allclose(found.objective, best_of(matrix), rtol=0, atol=TINY * n * m * size_of(matrix))
    assert_proof(matrix, found)


@pytest.mark.parametrize("shape", [(90, 90), (90, 40), (40, 90)])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_value_of_larger_hard_problems_is_scipys(family, shape):
    matrix = problem(family, *shape)
    found = assign(DenseMatrix(matrix))
    assert_links(matrix, found)
    assert_allclose(found.objective, best_of(matrix), rtol=0, atol=TINY * 90 * size_of(matrix))
    assert_proof(matrix, found)


@settings(deadline=None, max_examples=30)
@given(matrices(max_side=7))
def test_the_value_of_small_problems_full_of_ties_is_scipys(matrix):
    found = assign(DenseMatrix(matrix))
    assert_links(matrix, found)
    assert_allclose(found.objective, best_of(matrix), rtol=0, atol=1e-7)
    assert_proof(matrix, found)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_small_problem_is_solved_with_every_pair_at_once(family):
    matrix = problem(family, 30, 20)
    found = assign(DenseMatrix(matrix), tuning=replace(NUMBERS, small=30 * 20))
    assert (found.rounds, len(found.candidates)) == (1, matrix.size)
    assert_links(matrix, found)
    assert_allclose(found.objective, best_of(matrix), rtol=0, atol=TINY * 30 * size_of(matrix))
    assert_proof(matrix, found)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (0, 1), (1, 0)])
def test_an_empty_side_has_an_empty_answer_and_a_proof(shape):
    found = assign(DenseMatrix(np.zeros(shape, dtype=np.float32)))
    assert len(found.left) == len(found.right) == 0
    assert found.objective == found.bound == found.gap == 0
    assert (len(found.left_prices), len(found.right_prices)) == shape
    assert not found.left_prices.any()
    assert not found.right_prices.any()


@pytest.mark.parametrize("value", [0.0, 1.0, -1.0, 1e-30, 3e30, -2.5])
@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (4, 1)])
def test_a_single_entity_gets_its_partner_whatever_it_is_worth(shape, value):
    matrix = np.full(shape, value, dtype=np.float32)
    found = assign(DenseMatrix(matrix))
    assert_links(matrix, found)
    assert_allclose(found.objective, matrix[0, 0])
    assert_proof(matrix, found)


@settings(deadline=None, max_examples=15)
@given(hard)
def test_the_value_does_not_depend_on_which_side_is_left(matrix):
    values = [assign(DenseMatrix(some)).objective for some in (matrix, matrix.T.copy())]
    assert_allclose(*values, rtol=0, atol=TINY * matrix.size * size_of(matrix))


# --- where it starts from -----------------------------------------------------------------------

STARTS = {
    "everything": lambda rng, matrix: np.ones(matrix.shape),
    "nothing": lambda rng, matrix: np.zeros(matrix.shape),
    "a few": lambda rng, matrix: rng.random(matrix.shape) < 0.2,
    "one each": lambda rng, matrix: (
        np.arange(matrix.shape[1]) == rng.integers(0, matrix.shape[1], (len(matrix), 1))
    ),
    "the worst of each": lambda rng, matrix: matrix == matrix.min(axis=1, keepdims=True),
    "the best of each": lambda rng, matrix: matrix == matrix.max(axis=1, keepdims=True),
    "one for all": lambda rng, matrix: (
        np.arange(matrix.shape[1]) == np.zeros((len(matrix), 1), dtype=int)
    ),
    "some rows without": lambda rng, matrix: (
        np.ones(matrix.shape) * (rng.random((len(matrix), 1)) < 0.5)
    ),
    "all but the answer": lambda rng, matrix: _without(
        matrix, linear_sum_assignment(matrix, maximize=True)
    ),
}


def _without(matrix, links):
    kept = np.ones(matrix.shape, dtype=bool)
    kept[links] = False
    return kept


PRICES = {
    "zero": lambda rng, m: np.zeros(m),
    "any": lambda rng, m: rng.standard_normal(m),
    "tied": lambda rng, m: rng.integers(-1, 2, m).astype(np.float64),
    "huge": lambda rng, m: 1e12 * rng.standard_normal(m),
    "all huge": lambda rng, m: np.full(m, 1e12),
    "all low": lambda rng, m: np.full(m, -1e12),
    "tiny": lambda rng, m: 1e-12 * rng.standard_normal(m),
    "one": lambda rng, m: np.eye(1, m)[0],
}


@pytest.mark.parametrize("start", STARTS)
@settings(deadline=None, max_examples=8)
@given(matrix=hard, prices=st.sampled_from([None, *PRICES]), seed=seeds)
def test_candidates_and_prices_to_start_from_change_nothing(start, matrix, prices, seed):
    rng = np.random.default_rng(seed)
    candidates = some_pairs(matrix, STARTS[start](rng, matrix))
    first = None if prices is None else PRICES[prices](rng, matrix.shape[1])
    before = [some.copy() for some in (matrix, candidates.right, candidates.values)]
    kept = None if first is None else first.copy()
    found = assign(DenseMatrix(matrix), candidates, prices=first)
    assert_links(matrix, found)
    assert_allclose(
        found.objective, best_of(matrix), rtol=0, atol=TINY * matrix.size * size_of(matrix)
    )
    assert_proof(matrix, found)
    assert len(candidates) <= len(found.candidates) <= matrix.size
    if start == "everything":
        assert found.rounds == 1
    for some, was in zip((matrix, candidates.right, candidates.values), before, strict=True):
        assert_array_equal(some, was)
    if kept is not None:
        assert_array_equal(first, kept)


@pytest.mark.parametrize("prices", PRICES)
@pytest.mark.parametrize("shape", [(60, 60), (60, 30), (30, 60)])
def test_a_larger_problem_is_solved_from_bad_prices_and_few_candidates(shape, prices):
    rng = np.random.default_rng(4)
    matrix = problem("few values", *shape) + problem("uniform", *shape)
    candidates = some_pairs(matrix, STARTS["a few"](rng, matrix))
    found = assign(DenseMatrix(matrix), candidates, prices=PRICES[prices](rng, shape[1]))
    assert_links(matrix, found)
    assert_allclose(found.objective, best_of(matrix), rtol=1e-9)
    assert_proof(matrix, found)


def test_the_answer_is_the_same_every_time():
    matrix = problem("few values", 40, 30)
    one, two = (assign(DenseMatrix(matrix)) for _ in range(2))
    for name in ("left", "right", "left_prices", "right_prices", "rounds"):
        assert_array_equal(getattr(one, name), getattr(two, name))


def test_progress_rises_and_stays_within_the_whole():
    told = []
    matrix = problem("uniform", 30, 30)
    assign(DenseMatrix(matrix), some_pairs(matrix, np.zeros(matrix.shape)), progress=told.append)
    assert told == sorted(set(told))
    assert 0 < told[0] <= told[-1] < 1


def test_a_profit_that_is_not_stored_needs_candidates():
    rows = as_rows(np.eye(3))
    with pytest.raises(TypeError, match="candidates are needed"):
        assign(make_profit(rows, rows))


# --- entities that may stay alone ---------------------------------------------------------------


@st.composite
def worths(draw, size):
    """What entities are worth alone: not given, the same for all, or each its own."""
    kind = draw(st.sampled_from(["none", "all", "each", "tied", "dear", "cheap"]))
    rng = np.random.default_rng(draw(seeds))
    return {
        "none": None,
        "all": float(rng.uniform(-1, 1)),
        "each": rng.uniform(-1, 1, size),
        "tied": rng.integers(-1, 2, size) / 2,
        "dear": np.full(size, 3.0),
        "cheap": -3.0,
    }[kind]


@st.composite
def optional(draw):
    matrix = draw(
        st.one_of(
            matrices(max_side=6),
            st.builds(
                problem, st.sampled_from(["uniform", "both signs", "twins"]), sides, sides, seeds
            ),
        )
    )
    return matrix, draw(worths(matrix.shape[0])), draw(worths(matrix.shape[1]))


@settings(deadline=None, max_examples=30)
@given(optional(), st.sampled_from([None, "nothing", "a few", "one each"]), seeds)
def test_entities_that_may_stay_alone_equal_a_padded_problem(drawn, start, seed):
    matrix, left_alone, right_alone = drawn
    alone = {"alone": (left_alone, right_alone)}
    candidates = None
    if start:
        candidates = some_pairs(matrix, STARTS[start](np.random.default_rng(seed), matrix))
    found = assign(DenseMatrix(matrix), candidates, **alone)
    assert_links(matrix, found, count=len(found.left))
    size = size_of(matrix, left_alone, right_alone)
    assert_allclose(
        found.objective,
        reference.best_with_nobody(matrix, left_alone, right_alone),
        rtol=0,
        atol=TINY * size * sum(matrix.shape),
    )
    assert_proof(matrix, found, left_alone, right_alone)
    links = (found.left, found.right, found.left_prices, found.right_prices)
    proof = certify(DenseMatrix(matrix), *links, **alone)
    assert_allclose(proof.objective, found.objective, rtol=0, atol=TINY * size * sum(matrix.shape))
    assert_allclose(proof.bound, proof.objective, rtol=0, atol=TINY * size * sum(matrix.shape))
    assert proof.excess <= TINY * size


def test_who_is_worth_more_alone_stays_alone():
    matrix = np.array([[0.9, 0.2], [0.3, 0.1]], dtype=np.float32)
    found = assign(DenseMatrix(matrix), alone=(0.25, 0.0))
    assert found.left.tolist() == found.right.tolist() == [0]
    assert found.objective == pytest.approx(0.9 + 0.25)
    assert_allclose(found.left_prices[1], 0.25)
    nobody = assign(DenseMatrix(matrix), alone=(1.0, 0.0))
    assert len(nobody.left) == 0
    assert nobody.objective == pytest.approx(2.0)


# --- stopping early -----------------------------------------------------------------------------


def assert_bounded(matrix, found):
    best, small = best_of(matrix), 1e-6 * matrix.size * size_of(matrix) + 1e-12
    assert_links(matrix, found)
    assert_allclose(
        found.objective, matrix[found.left, found.right].sum(dtype=np.float64), rtol=0, atol=small
    )
    assert found.objective <= best + small
    assert found.bound >= best - small
    assert 0 <= found.gap <= 1
    shortfall = found.bound - found.objective
    size = max(abs(found.bound), abs(found.objective), shortfall)
    assert_allclose(found.gap * size, shortfall, rtol=0, atol=small)
    certified = certify(
        DenseMatrix(matrix), found.left, found.right, found.left_prices, found.right_prices
    )
    assert certified.bound >= best - small


@settings(deadline=None, max_examples=20)
@given(hard, st.sampled_from([1e-3, 0.05, 0.5, 10.0]), st.sampled_from(list(STARTS)), seeds)
def test_a_gap_that_will_do_is_kept_and_proven(matrix, gap, start, seed):
    candidates = some_pairs(matrix, STARTS[start](np.random.default_rng(seed), matrix))
    found = assign(DenseMatrix(matrix), candidates, gap=gap)
    assert found.gap <= gap
    assert_bounded(matrix, found)


def test_a_gap_that_will_do_saves_rounds():
    matrix = problem("uniform", 60, 60)
    start = some_pairs(matrix, np.eye(60) + (problem("uniform", 60, 60, seed=1) < 0.05))
    rounds = [assign(DenseMatrix(matrix), start, gap=gap).rounds for gap in (0.0, 0.9)]
    assert rounds[0] > rounds[1] == 1


@settings(deadline=None, max_examples=30)
@given(hard, st.integers(0, 12), st.booleans(), seeds)
@example(np.full((2, 2), -0.7, dtype=np.float32), 0, True, 0)
def test_when_time_is_over_the_bound_holds(matrix, ticks, few, seed):
    rng = np.random.default_rng(seed)
    kept = rng.random(matrix.shape) < (0.2 if few else 0.7)
    rows, columns = (rng.permutation(size)[: min(matrix.shape)] for size in matrix.shape)
    kept[rows, columns] = True  # so that there is an answer from the start
    clock = itertools.count()
    with pytest.MonkeyPatch.context() as patch:
        # Every look at the clock takes a second; every block of the matrix is a row.
        patch.setattr(exact, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
        patch.setattr(profit_module, "BLOCK_BYTES", 1)
        found = assign(DenseMatrix(matrix), some_pairs(matrix, kept), seconds=ticks)
    assert_bounded(matrix, found)


def test_no_time_at_all_is_enough_for_an_answer_with_a_bound():
    matrix = problem("uniform", 50, 50)
    found = assign(DenseMatrix(matrix), every_pair(matrix), seconds=0)
    assert_bounded(matrix, found)
    assert found.rounds == 1


@pytest.mark.parametrize("value", [1.0, -1.0])
def test_when_time_is_over_nobody_of_the_smaller_side_is_left_out(value):
    matrix = np.full((2, 2), value, dtype=np.float32)
    found = assign(DenseMatrix(matrix), some_pairs(matrix, np.zeros((2, 2))), seconds=0)
    assert_bounded(matrix, found)


# --- certificates -------------------------------------------------------------------------------


def proof_of(profit, found, **changes):
    """The certificate of an answer, some of whose parts were exchanged."""
    parts = {
        name: changes.get(name, getattr(found, name))
        for name in ("left", "right", "left_prices", "right_prices")
    }
    return certify(profit, *parts.values())


@settings(deadline=None, max_examples=20)
@given(hard)
def test_the_solvers_own_prices_are_accepted(matrix):
    found = assign(DenseMatrix(matrix))
    proof = proof_of(DenseMatrix(matrix), found)
    small = TINY * matrix.size * size_of(matrix)
    assert proof.excess <= TINY * size_of(matrix)
    assert_allclose([proof.objective, proof.bound], found.objective, rtol=0, atol=small)
    assert proof.bound >= best_of(matrix) - small
    assert proof.gap * abs(proof.bound) <= small


@settings(deadline=None, max_examples=25)
@given(hard, st.sampled_from([1e-3, 0.1, 10.0]), st.data())
def test_a_price_that_was_raised_or_lowered_is_noticed(matrix, share, data):
    found = assign(DenseMatrix(matrix))
    profit, size = DenseMatrix(matrix), size_of(matrix)
    step = share * (size or 1.0)
    side = data.draw(st.sampled_from(["left", "right"]))
    prices = getattr(found, f"{side}_prices")
    linked = getattr(found, side)

    raised = prices.copy()
    raised[data.draw(st.integers(0, len(prices) - 1))] += step
    proof = proof_of(profit, found, **{f"{side}_prices": raised})
    assert proof.gap > 0
    assert_allclose(proof.bound - proof.objective, step, rtol=1e-5)

    # A price below what one is worth alone counts as that, which takes nothing from the proof.
    entity = data.draw(st.sampled_from(linked.tolist()))
    least = 0.0 if len(prices) > len(linked) else -np.inf
    lowered = prices.copy()
    lowered[entity] -= step
    short = prices[entity] - max(lowered[entity], least)
    proof = proof_of(profit, found, **{f"{side}_prices": lowered})
    assert_allclose(proof.excess, short, rtol=1e-5, atol=TINY * size)
    assert proof.bound >= best_of(matrix) - TINY * matrix.size * size


@settings(deadline=None, max_examples=25)
@given(clear, st.data())
def test_links_that_were_swapped_or_removed_are_noticed(matrix, data):
    found = assign(DenseMatrix(matrix))
    profit, best = DenseMatrix(matrix), best_of(matrix)
    count = len(found.left)
    if count > 1:
        a, b = data.draw(st.permutations(range(count)))[:2]
        right = found.right.copy()
        right[[a, b]] = right[[b, a]]
        proof = proof_of(profit, found, right=right)
        assert proof.gap > 0
        loss = best - matrix[found.left, right].sum(dtype=np.float64)
        assert_allclose(proof.bound - proof.objective, loss, rtol=1e-5, atol=1e-7)
    place = data.draw(st.integers(0, count - 1))
    left, right = (np.delete(side, place) for side in (found.left, found.right))
    with pytest.raises(ValueError, match="nobody of the smaller side"):
        proof_of(profit, found, left=left, right=right)


@settings(deadline=None, max_examples=25)
@given(clear, st.data())
def test_an_optimal_pair_that_was_withheld_is_noticed(matrix, data):
    best, found = best_of(matrix), assign(DenseMatrix(matrix))
    if matrix.shape == (1, 1):
        return
    place = data.draw(st.integers(0, len(found.left) - 1))
    without = matrix.copy()
    without[found.left[place], found.right[place]] = -100
    other = assign(DenseMatrix(without))
    assert other.gap == 0
    assert other.objective < best
    proof = proof_of(DenseMatrix(matrix), other)
    assert proof.excess > 0
    assert proof.gap > 0
    assert proof.bound >= best - 1e-6
    assert proof.objective < best


@settings(deadline=None, max_examples=25)
@given(clear, st.sampled_from(["left", "right"]), st.randoms(use_true_random=False))
def test_prices_that_were_shuffled_are_noticed(matrix, side, random):
    found = assign(DenseMatrix(matrix))
    prices = getattr(found, f"{side}_prices")
    order = random.sample(range(len(prices)), len(prices))
    shuffled = prices[order]
    proof = proof_of(DenseMatrix(matrix), found, **{f"{side}_prices": shuffled})
    assert proof.bound >= best_of(matrix) - 1e-6
    if np.abs(shuffled - prices).max() > 1e-6:
        assert proof.gap > 0 or proof.excess > 0


@settings(deadline=None, max_examples=25)
@given(hard, st.sampled_from(list(PRICES)), st.sampled_from(list(PRICES)), seeds)
def test_no_prices_whatever_give_a_false_bound(matrix, left, right, seed):
    rng = np.random.default_rng(seed)
    count = min(matrix.shape)
    links = [rng.permutation(size)[:count] for size in matrix.shape]
    prices = [
        size_of(matrix) * PRICES[kind](rng, size)
        for kind, size in zip((left, right), matrix.shape, strict=True)
    ]
    proof = certify(DenseMatrix(matrix), *links, *prices)
    best = best_of(matrix)
    scale = size_of(matrix, *prices)
    assert proof.bound >= best - 1e-9 * scale * matrix.size
    assert proof.bound - proof.objective >= best - proof.objective - 1e-9 * scale * matrix.size
    over = matrix - prices[0][:, None] - prices[1]
    # On the larger side, a price below what one is worth alone counts as that.
    if matrix.shape[0] == matrix.shape[1]:
        assert_allclose(proof.excess, over.max(initial=0), rtol=1e-6, atol=1e-9 * scale)


def test_links_that_are_not_one_to_one_are_no_proof():
    one = np.ones((1, 1), dtype=np.float32)
    twice = np.zeros(2, dtype=np.int64)
    try:
        proof = certify(DenseMatrix(one), twice, twice, np.ones(1), np.zeros(1))
    except ValueError:
        return
    assert proof.gap > 0


def test_links_that_leave_out_who_must_not_be_are_no_proof():
    matrix = -np.ones((2, 2), dtype=np.float32)
    one = np.zeros(1, dtype=np.int64)
    try:
        proof = certify(DenseMatrix(matrix), one, one, -np.ones(2), np.zeros(2))
    except ValueError:
        return
    assert proof.gap > 0


# --- profits that are not stored ----------------------------------------------------------------


@st.composite
def rows(draw, *, lengths=None):
    """Both sides' rows, dense and sparse columns; of length one, or about so long as given."""
    n, m = draw(sides), draw(sides)
    rng = np.random.default_rng(draw(seeds))
    dense, sparse = draw(st.integers(0, 3)), draw(st.integers(1, 12))
    kind = draw(st.sampled_from(["any", "whole"]))

    def values(size, width):
        if kind == "whole":
            return rng.integers(-1, 3, (size, width)).astype(np.float32)
        return rng.standard_normal((size, width)).astype(np.float32)

    made = [
        Rows(
            values(size, dense),
            csr_array(values(size, sparse) * (rng.random((size, sparse)) < 0.5)),
        )
        for size in (n, m)
    ]
    factor = draw(st.sampled_from(lengths)) if lengths else None
    return [
        unit(side) if factor is None else side.scaled(np.full(len(side), factor)) for side in made
    ]


def entries(profit):
    """All profits, each as it is where it is asked for."""
    left, right = (index.ravel() for index in np.indices(profit.shape))
    return profit.of(left, right).reshape(profit.shape)


def assert_none_is_missing(profit, left, right):
    matrix = entries(profit)
    over = matrix.astype(np.float64) - left[:, None] - right
    found, stop = np.zeros(profit.shape, dtype=bool), 0
    for part, some, partners in profit.exceeding_prices(left, right):
        assert part.start == stop
        assert ((part.start <= some) & (some < part.stop)).all()
        assert not found[some, partners].any()
        found[some, partners] = True
        stop = part.stop
    assert stop == profit.shape[0]
    assert not (found < (over > 0)).any()
    size = profit.ceiling + np.abs(left).max() + np.abs(right).max()
    assert (over[found] > -2e-5 * size).all()  # "only nearly"


@settings(deadline=None, max_examples=30)
@given(
    sides=st.one_of(rows(), rows(lengths=[0.01, 1.0])),
    columns=st.sampled_from([2, 384]),
    block=st.sampled_from([1, 100, 2**20]),
    step=st.sampled_from([1e-7, 1e-3, 0.1]),
    seed=seeds,
)
def test_no_pair_above_its_prices_is_missing(sides, columns, block, step, seed):
    rng = np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(profit_module, "BOUND_COLUMNS", columns)
        patch.setattr(profit_module, "BLOCK_BYTES", block)
        profit = make_profit(*sides)
        # Each row has a pair that hardly exceeds its prices.
        right = profit.ceiling * rng.standard_normal(profit.shape[1])
        chosen = rng.integers(0, profit.shape[1], profit.shape[0])
        worth = entries(profit) - right
        left = worth[np.arange(len(worth)), chosen] - step * max(profit.ceiling, 1e-6)
        assert_none_is_missing(profit, left, right)


@settings(deadline=None, max_examples=30)
@given(matrix=hard, block=st.sampled_from([1, 100, 2**20]), step=st.sampled_from([1e-7, 0.1]))
def test_no_pair_of_a_matrix_above_its_prices_is_missing(matrix, block, step):
    right = np.sort(matrix.max(axis=0).astype(np.float64)) / 3
    left = (matrix - right).max(axis=1) - step * size_of(matrix)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(profit_module, "BLOCK_BYTES", block)
        assert_none_is_missing(DenseMatrix(matrix), left, right)


@pytest.mark.parametrize("length", [10, 1000])
def test_no_pair_of_long_rows_is_missing(length, monkeypatch):
    monkeypatch.setattr(profit_module, "BOUND_COLUMNS", 8)
    rng = np.random.default_rng(0)
    for _ in range(20):
        # All but little of the left rows is principal; two right rows have just that little.
        most = np.zeros((40, 60))
        most[:, :8] = rng.standard_normal((40, 8))
        most /= np.linalg.norm(most, axis=1, keepdims=True)
        little = np.eye(60)[30]
        left = length * (most + 3e-4 * little)
        right = length * np.vstack([most[:38], little, little])
        profit = make_profit(as_rows(left), as_rows(right))
        prices = np.full(40, 2.0 * length**2)
        prices[38:] = 2.7e-4 * length**2
        assert_none_is_missing(profit, np.zeros(40), prices)


@settings(deadline=None, max_examples=20)
@given(
    sides=st.one_of(rows(), rows(lengths=[1e-3, 1.0, 1e3])),
    columns=st.sampled_from([2, 384]),
    start=st.sampled_from(list(STARTS)),
    seed=seeds,
)
def test_a_profit_is_solved_as_a_whole_though_candidates_are_few(sides, columns, start, seed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(profit_module, "BOUND_COLUMNS", columns)
        patch.setattr(profit_module, "BLOCK_BYTES", 100)
        profit = make_profit(*sides)
        matrix = entries(profit)
        candidates = some_pairs(matrix, STARTS[start](np.random.default_rng(seed), matrix))
        found = assign(profit, candidates)
        proof = proof_of(profit, found)
    size = profit.ceiling
    assert_links(matrix, found)
    assert_proof(matrix, found)
    assert_allclose(found.objective, best_of(matrix), rtol=0, atol=TINY * matrix.size * size)
    whole = make_profit(*sides).toarray()
    assert_allclose(found.objective, best_of(whole), rtol=0, atol=1e-6 * matrix.size * size)
    assert proof.excess <= TINY * size
    assert proof.bound - proof.objective <= TINY * matrix.size * size


def test_a_larger_profit_with_more_columns_than_the_bound_has(monkeypatch):
    monkeypatch.setattr(profit_module, "BOUND_COLUMNS", 30)
    rng = np.random.default_rng(6)
    hidden = rng.standard_normal((120, 20)) @ rng.standard_normal((20, 100))
    left, right = (
        unit(as_rows(hidden + 1.5 * rng.standard_normal(hidden.shape))) for _ in range(2)
    )
    profit = make_profit(left, right.take(rng.permutation(120)))
    matrix = entries(profit)
    found = assign(profit, some_pairs(matrix, rng.random(matrix.shape) < 0.02))
    assert len(found.candidates) < matrix.size
    assert_links(matrix, found)
    assert_allclose(found.objective, best_of(matrix), rtol=1e-9)
    assert_proof(matrix, found)
    worse = found.right_prices.copy()
    worse[7] -= 0.01
    assert proof_of(profit, found).excess <= TINY
    assert_allclose(proof_of(profit, found, right_prices=worse).excess, 0.01, rtol=1e-6)


def test_candidates_with_other_profits_do_not_keep_it_from_its_end():
    rng = np.random.default_rng(0)
    left, right = (as_rows(rng.standard_normal((8, 40))) for _ in range(2))
    profit = make_profit(left, right)
    matrix = profit.toarray()  # in single precision, so not quite what profit.of gives
    told = []

    def progress(share):
        told.append(share)
        assert len(told) < 50

    found = assign(profit, every_pair(matrix), progress=progress)
    assert_allclose(found.objective, best_of(matrix), rtol=1e-5)


def test_candidates_with_profits_too_high_give_no_false_proof():
    matrix = np.eye(2, dtype=np.float32)
    too_high = from_pairs(
        (2, 2), np.array([0, 1]), np.array([1, 0]), np.array([5, 5], dtype=np.float32)
    )
    found = assign(DenseMatrix(matrix), too_high)
    assert found.objective <= 2 <= found.bound
    assert found.gap > 0 or found.objective == 2


@given(st.sampled_from(list(FAMILIES)), st.integers(1, 150), st.integers(1, 150), seeds)
def test_entries_above_their_two_prices_are_found_in_any_width(family, n, m, seed):
    matrix, rng = problem(family, n, m, seed), np.random.default_rng(seed)
    left, right = (rng.random(size).astype(np.float32) for size in (n, m))
    expected = np.flatnonzero(matrix - right > left[:, None])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(profit_module, "FEW_ABOVE", 5)  # there is not always room for all
        assert_array_equal(profit_module._places_above(matrix, left, right), expected)


@given(st.sampled_from(["uniform", "both signs"]), st.integers(1, 90), st.integers(1, 90), seeds)
def test_the_first_candidates_are_the_best_of_rows_and_columns_less_hubness(family, n, m, seed):
    matrix = problem(family, n, m, seed)
    found = np.zeros((n, m), dtype=bool)
    found.flat[exact._best_both_ways(matrix, NUMBERS)] = True
    few = [min(8, size) for size in (m, n)]
    worth = (
        matrix
        - np.sort(matrix, axis=1)[:, -few[0] :].mean(axis=1, keepdims=True)
        - np.sort(matrix, axis=0)[-few[1] :].mean(axis=0)
    )
    span = NUMBERS.slack * np.abs(matrix).max()
    expected = np.zeros((n, m), dtype=bool)
    for values, marks in ((worth, expected), (worth.T, expected.T)):
        for line, mark in zip(values, marks, strict=True):
            best = np.sort(line)[-NUMBERS.first :]
            mark |= line >= max(best[0], best[-1] - span)
    # A little noise tells equals apart, so pairs near a limit may be on either side of it.
    assert (found != expected).sum() <= 0.02 * n * m


def test_equal_pairs_do_not_all_propose_the_same():
    found = exact._best_both_ways(np.ones((300, 300), dtype=np.float32), NUMBERS)
    counts = np.bincount(found % 300, minlength=300)
    assert counts.min() >= NUMBERS.first
    assert counts.max() <= 4 * NUMBERS.first
