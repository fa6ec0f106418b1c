"""Whether best pairs lead by more than chance gives: against a slow twin, and known worlds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sameas.assignment.leads import explained_by_chance, lead_beyond_chance
from sameas.candidates.pairs import every_pair
from sameas.options.tuning import TUNING
from strategies import matrices

LEAST = TUNING.refinement.beyond_chance


def slow_standard_errors(scores):
    """What leads of rows are beyond chance, in standard errors, row by row."""
    by_best = {}
    for row in scores.tolist():
        order = sorted(range(len(row)), key=lambda column: -row[column])
        first, second, third = (row[column] for column in order[:3])
        beyond = (first - second) - 2 * (second - third)
        by_best[order[0]] = by_best.get(order[0], 0.0) + beyond
    spread = sum(value**2 for value in by_best.values()) ** 0.5
    return sum(by_best.values()) / spread if spread > 0 else -np.inf


@given(st.integers(0, 1000), st.integers(3, 7), st.integers(3, 7))
def test_leads_are_those_of_the_slow_twin(seed, n, m):
    scores = np.random.default_rng(seed).normal(size=(n, m)).astype(np.float32)
    expected = max(slow_standard_errors(scores), slow_standard_errors(scores.T))
    assert_allclose(lead_beyond_chance(every_pair(scores)), expected, rtol=1e-4)


@given(matrices())
def test_shift_and_scale_do_not_matter(scores):
    before = lead_beyond_chance(every_pair(scores))
    after = lead_beyond_chance(every_pair(4 * scores + 2))
    assert_allclose(after, before, rtol=1e-3, atol=1e-3)


@given(matrices())
def test_sides_are_treated_alike(scores):
    one, other = (lead_beyond_chance(every_pair(each)) for each in (scores, scores.T.copy()))
    assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def test_chance_alone_hardly_ever_exceeds_the_bound():
    rng = np.random.default_rng(0)
    leads = [lead_beyond_chance(every_pair(rng.exponential(size=(60, 80)))) for _ in range(100)]
    assert sum(lead > LEAST for lead in leads) <= 2


@pytest.mark.parametrize("share", [0.2, 1.0])
def test_counterparts_are_seen(share):
    rng = np.random.default_rng(0)
    scores = rng.exponential(size=(200, 250))
    partners = np.arange(round(share * 200))
    scores[partners, partners] += 10
    assert lead_beyond_chance(every_pair(scores)) > LEAST


def test_duplicates_of_one_side_do_not_hide_counterparts():
    rng = np.random.default_rng(0)
    scores = rng.exponential(size=(100, 200))
    rows = np.arange(100)
    scores[rows, rows] += 10
    scores[rows, rows + 100] = scores[rows, rows] + rng.normal(size=100) / 100
    assert lead_beyond_chance(every_pair(scores)) > LEAST


def test_nothing_is_told_by_fewer_than_three_candidates():
    assert lead_beyond_chance(every_pair(np.ones((2, 2)))) == -np.inf


@pytest.mark.parametrize(("size", "explained"), [(3, False), (17, False), (200, True)])
def test_few_entities_are_never_explained_by_chance(size, explained):
    scores = every_pair(np.random.default_rng(0).exponential(size=(size, size)))
    assert explained_by_chance(scores, tuning=TUNING.refinement) is explained
