"""The plan in which entities may stay alone: what defines it, and what follows from it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

import reference
from sameas.assignment.exact import assign
from sameas.assignment.open import gap_to_bound, open_links, open_plan
from sameas.candidates.pairs import every_pair, from_pairs
from sameas.options.tuning import TUNING
from strategies import matrices


def patient(sweeps, tolerance):
    """Numbers with which a plan has more time."""
    return replace(TUNING.open, sweeps=sweeps, tolerance=tolerance)


SIZES = [1.0, 5.0, 20.0, 55.0]
"""Largest scores: soft, as usual, sure, and as sure as it gets."""
thresholds = st.one_of(st.none(), st.sampled_from([-20.0, -6.0, 0.0, 3.0, 30.0]))


@st.composite
def problems(draw, *, size=None, max_side=6):
    """Scores of some pairs of a small matrix, perhaps of all; often none of a whole line."""
    high = size or draw(st.sampled_from(SIZES))
    scores = draw(matrices(-high, high, max_side=max_side))
    kept = draw(st.one_of(st.just(np.ones(scores.shape, bool)), hnp.arrays(bool, scores.shape)))
    return candidates_of(scores, kept)


def candidates_of(scores, kept):
    left, right = np.nonzero(kept)
    return from_pairs(scores.shape, left, right, scores[left, right])


def as_matrix(candidates, values, missing=0.0):
    """The values of candidates in a matrix."""
    matrix = np.full(candidates.shape, missing)
    for i, j, value in zip(candidates.left, candidates.right, values, strict=True):
        matrix[i, j] = value
    return matrix


# --- what defines the plan ----------------------------------------------------------------------


@settings(deadline=None, max_examples=30)
@given(problems(), thresholds)
def test_probabilities_of_an_entity_sum_up_to_one_as_nearly_as_told(candidates, threshold):
    plan = open_plan(candidates, threshold=threshold)
    matrix = as_matrix(candidates, plan.probability)
    for sums in (matrix.sum(axis=1) + plan.left_alone, matrix.sum(axis=0) + plan.right_alone):
        assert_allclose(sums, 1, rtol=0, atol=plan.deviation + 1e-12)
    assert (matrix.sum(axis=1) <= 1 + 1e-12).all()
    assert (matrix.sum(axis=0) <= 1 + 1e-12).all()
    for values in (plan.probability, plan.left_alone, plan.right_alone):
        assert ((values >= 0) & (values <= 1)).all()


@settings(deadline=None, max_examples=30)
@given(problems(), thresholds)
def test_a_probability_is_the_product_of_its_factors(candidates, threshold):
    plan = open_plan(candidates, threshold=threshold)
    if threshold is not None:
        assert plan.threshold == threshold
    scores = as_matrix(candidates, candidates.values.astype(np.float64), -np.inf)
    product = np.exp(scores - plan.threshold) * plan.left_alone[:, None] * plan.right_alone
    rows, columns = product.sum(axis=1) + plan.left_alone, product.sum(axis=0) + plan.right_alone
    # What sums up to more than one is scaled down to it.
    scale = np.maximum(np.maximum(rows, 1)[:, None], np.maximum(columns, 1))
    found = as_matrix(candidates, plan.probability)
    assert_allclose(found, product / scale, rtol=1e-9, atol=1e-15)
    assert_allclose(found, product, rtol=plan.deviation + 1e-9, atol=1e-15)
    # As potentials it is the same.
    ranking = plan.ranking
    logarithms = scores - ranking.left[:, None] - ranking.right
    assert_allclose(np.exp(logarithms), product, rtol=1e-9, atol=1e-15)


@settings(deadline=None, max_examples=30)
@given(problems())
def test_the_threshold_is_that_of_as_many_links_as_the_plan_expects(candidates):
    assume(len(candidates))
    plan = open_plan(candidates)
    n, m = candidates.shape
    links = min(max(n - plan.left_alone.sum(), 1), n, m)
    spare = 0.01 * min(n, m)
    odds = links / ((n - links + spare) * (m - links + spare))
    assert plan.threshold == pytest.approx(max(-6 - math.log(odds), 1.0))


@settings(deadline=None, max_examples=30)
@given(problems(max_side=4), st.sampled_from([-3.0, 0.0, 3.0]))
def test_with_patience_each_stays_alone_as_the_others_of_its_line_let_it(candidates, threshold):
    plan = open_plan(candidates, threshold=threshold, tuning=patient(5000, 1e-9))
    assume(plan.sweeps < 5000)
    scores = as_matrix(candidates, candidates.values.astype(np.float64), -np.inf)
    kernel = np.exp(scores - threshold)
    for alone, odds in (
        (plan.left_alone, kernel @ plan.right_alone),
        (plan.right_alone, kernel.T @ plan.left_alone),
    ):
        assert_allclose(alone, 1 / (1 + odds), rtol=1e-3, atol=1e-7)


@settings(deadline=None, max_examples=30)
@given(problems(), st.sampled_from([-6.0, 0.0, 3.0]))
def test_from_the_other_side_it_is_the_same_plan(candidates, threshold):
    """Within what is left of the way: rounding decides how Anderson's method gets there."""
    turned = from_pairs(
        candidates.shape[::-1], candidates.right, candidates.left, candidates.values
    )
    plan, mirrored = (
        open_plan(candidates, threshold=threshold, tuning=patient(5000, 1e-6)),
        open_plan(turned, threshold=threshold, tuning=patient(5000, 1e-6)),
    )
    off = 0.05 + plan.deviation + mirrored.deviation
    assume(off < 0.1)  # scores that are far apart may need more sweeps than that
    assert_allclose(plan.left_alone, mirrored.right_alone, atol=off)
    assert_allclose(plan.right_alone, mirrored.left_alone, atol=off)
    assert_allclose(
        as_matrix(candidates, plan.probability),
        as_matrix(turned, mirrored.probability).T,
        atol=off,
    )


@settings(deadline=None, max_examples=30)
@given(problems(size=20.0))
def test_from_the_other_side_the_threshold_that_is_found_is_much_the_same(candidates):
    turned = from_pairs(
        candidates.shape[::-1], candidates.right, candidates.left, candidates.values
    )
    plan, mirrored = open_plan(candidates), open_plan(turned)
    off = plan.deviation + mirrored.deviation
    assert plan.threshold == pytest.approx(mirrored.threshold, abs=0.1 + 100 * off)


# --- sizes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e-30, 1.0, 60.0, 1e3, 1e30])
@settings(deadline=None, max_examples=15)
@given(scores=matrices(), threshold=thresholds)
def test_no_score_overflows(size, scores, threshold):
    candidates = every_pair(scores * np.float32(size))
    plan = open_plan(candidates, threshold=threshold)
    for values in (plan.probability, plan.left_alone, plan.right_alone):
        assert np.isfinite(values).all()
        assert ((values >= 0) & (values <= 1)).all()
    assert math.isfinite(plan.threshold)
    assert math.isfinite(plan.deviation)
    assert np.isfinite(plan.ranking.left).all()
    assert np.isfinite(plan.ranking.right).all()
    assert 0 < plan.sweeps <= 500


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 3)])
def test_without_candidates_everybody_stays_alone(shape):
    nothing = candidates_of(np.zeros(shape, dtype=np.float32), np.zeros(shape, dtype=bool))
    plan = open_plan(nothing)
    assert (plan.left_alone == 1).all()
    assert (plan.right_alone == 1).all()
    assert (len(plan.left_alone), len(plan.right_alone)) == shape
    assert math.isfinite(plan.threshold)
    assert plan.deviation == 0
    assert len(open_links(nothing, plan)) == 0
    assert gap_to_bound(nothing, plan.ranking.right, 0.0) == 0


def test_nobody_is_linked_where_scores_are_very_low():
    scores = np.random.default_rng(0).uniform(-50, -40, (20, 20)).astype(np.float32)
    plan = open_plan(every_pair(scores))
    assert plan.probability.max() < 1e-6
    assert plan.left_alone.min() > 1 - 1e-6


def test_a_sure_pair_nears_one_and_others_do_not_suffer():
    scores = np.full((10, 10), -10, dtype=np.float32)
    scores[3, 5] = 40
    plan = open_plan(every_pair(scores))
    matrix = as_matrix(every_pair(scores), plan.probability)
    assert matrix[3, 5] > 0.98
    assert plan.left_alone[3] < 0.02
    assert matrix.sum() < 1.1
    assert np.delete(plan.left_alone, 3).min() > 0.99


def test_two_that_are_equally_good_share():
    scores = np.array([[12, 12], [-30, -30]], dtype=np.float32)
    plan = open_plan(every_pair(scores), threshold=0.0)
    assert_allclose(plan.probability[:2], 0.5, atol=0.01)
    assert plan.probability[2:].max() < 1e-9


def test_a_pair_at_the_threshold_is_as_likely_as_that_both_stay_alone():
    plan = open_plan(every_pair(np.array([[4.0]], dtype=np.float32)), threshold=4.0)
    assert_allclose(plan.probability, plan.left_alone * plan.right_alone, rtol=1e-3)


@settings(deadline=None, max_examples=25)
@given(problems(size=20.0))
def test_a_higher_threshold_leaves_more_of_them_alone(candidates):
    low, high = (
        open_plan(candidates, threshold=threshold, tuning=patient(1000, 1e-6))
        for threshold in (0.0, 2.0)
    )
    # Sums of probabilities are off by as much as the plans say.
    off = len(low.left_alone) * (low.deviation + high.deviation)
    assert high.left_alone.sum() >= low.left_alone.sum() - off - 1e-3


def test_candidates_are_not_changed():
    scores = np.random.default_rng(1).normal(0, 90, (4, 5)).astype(np.float32)
    candidates = every_pair(scores)
    open_links(candidates, open_plan(candidates))
    assert_array_equal(candidates.values, scores.ravel())


# --- links --------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=30)
@given(problems(), thresholds)
def test_links_are_one_to_one_and_hold_what_is_likelier_than_not(candidates, threshold):
    plan = open_plan(candidates, threshold=threshold)
    places = open_links(candidates, plan)
    assert len(set(places.tolist())) == len(places)
    left, right = candidates.left[places].tolist(), candidates.right[places].tolist()
    assert len(set(left)) == len(left)
    assert len(set(right)) == len(right)
    assert set(np.flatnonzero(plan.probability > 0.5 + 1e-9).tolist()) <= set(places.tolist())
    # Nothing could be added.
    free = ~np.isin(candidates.left, left) & ~np.isin(candidates.right, right)
    assert not free.any()


@settings(deadline=None, max_examples=30)
@given(problems(), thresholds)
def test_links_are_taken_from_the_likeliest_on(candidates, threshold):
    """As by hand: the likeliest pair, then the likeliest of those that are left, and so on."""
    plan = open_plan(candidates, threshold=threshold)
    ranking = plan.ranking
    worth = candidates.values - ranking.left[candidates.left] - ranking.right[candidates.right]
    assume(len(np.unique(worth.round(6))) == len(worth))
    chosen, left, right = set(), set(), set()
    for place in np.argsort(-worth).tolist():
        i, j = candidates.left[place], candidates.right[place]
        if i not in left and j not in right:
            chosen.add(place)
            left.add(i)
            right.add(j)
    assert set(open_links(candidates, plan).tolist()) == chosen


# --- how far from the best ----------------------------------------------------------------------


def best_total(candidates):
    """The largest total if staying alone is worth nothing."""
    scores = as_matrix(candidates, candidates.values.astype(np.float64), -1e9)
    return reference.best_with_nobody(scores, 0.0, 0.0)


@settings(deadline=None, max_examples=30)
@given(problems(), st.data())
def test_the_gap_is_never_less_than_the_distance_to_the_best(candidates, data):
    drawn = st.one_of(st.floats(-60, 60), st.sampled_from([0.0, -1.0]))
    m = candidates.shape[1]
    given_prices = np.array(data.draw(st.lists(drawn, min_size=m, max_size=m)))
    best = best_total(candidates)
    plan = open_plan(candidates)
    places = open_links(candidates, plan)
    own = float(candidates.values[places].sum(dtype=np.float64))
    for prices_used in (given_prices, plan.ranking.right):
        for objective in (own, 0.0, best):
            gap = gap_to_bound(candidates, prices_used, objective)
            assert 0 <= gap <= 1
            if gap < 1:  # which tells the bound
                assert objective / (1 - gap) >= best - 1e-4


@settings(deadline=None, max_examples=30)
@given(problems(max_side=5))
def test_at_the_best_prices_the_gap_closes(candidates):
    exact = assign(candidates, alone=(0.0, 0.0))
    assert exact.objective == pytest.approx(best_total(candidates), abs=1e-4)
    gap = gap_to_bound(candidates, exact.right_prices, exact.objective)
    # Profits are told apart down to a tiny share of the largest: no gap, if no more is at stake.
    assert gap < 1e-6 or exact.bound < 1e-3


def test_links_that_had_better_stay_alone_are_no_best():
    candidates = every_pair(np.array([[-5.0]], dtype=np.float32))
    assert gap_to_bound(candidates, np.zeros(1), -5.0) == 1
    assert gap_to_bound(candidates, np.zeros(1), 0.0) == 0
