"""The decision: strengths and cuts against slow oracles, and what chance gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sameas.assignment.decision import (
    Strengths,
    best_cut,
    chance_of,
    decide,
    lead_by_chance,
    lowered_thresholds,
    probability_of,
    strengths_of,
)
from sameas.assignment.open import open_links, open_plan
from sameas.candidates.pairs import every_pair
from sameas.compute.odds import probability_at
from sameas.options.tuning import TUNING
from strategies import matrices

numbers = TUNING.decision
strengths = st.lists(st.integers(-8, 8).map(float), min_size=1, max_size=12)


def slow_strength(scores, alone, pair, without=None, single=(True, True)):
    """The strength of a pair by its definition; the pair ``without`` is not there."""
    i, j = pair
    there = [(a, b) for a in range(scores.shape[0]) for b in range(scores.shape[1])]
    rows = [(a, b) for a, b in there if a == i and (a, b) not in (pair, without) and single[0]]
    columns = [(a, b) for a, b in there if b == j and (a, b) not in (pair, without) and single[1]]
    strength = scores[i, j]
    for rivals, others in ((rows, [b for _, b in rows]), (columns, [a for a, _ in columns])):
        side = 1 if rivals is rows else 0
        claims = [
            scores[rival] + np.log(max(alone[side][other], 1e-300))
            for rival, other in zip(rivals, others, strict=True)
        ]
        strength -= np.logaddexp(0.0, max(claims, default=-np.inf))
    best = max((scores[rival] for rival in rows + columns), default=-np.inf)
    return strength + numbers.lead_share * min(scores[i, j] - best, numbers.most_lead)


def slow_runner_up(scores, links, link, side):
    """What an end of a link gets without its partner: its best pair that no better link takes."""
    taken = {pair[1 - side]: scores[pair] for pair in links}
    free = [
        pair
        for pair in np.ndindex(scores.shape)
        if pair[side] == link[side]
        and pair not in links
        and scores[pair] >= taken.get(pair[1 - side], -np.inf)
    ]
    return max(free, key=lambda pair: scores[pair], default=None)


@settings(deadline=None, max_examples=40)
@given(matrices(-20, 20, max_side=5))
def test_strengths_are_those_of_their_definition(scores):
    scores = scores.astype(np.float32).astype(np.float64)
    scores += np.arange(scores.size).reshape(scores.shape) / 128  # no ties
    candidates = every_pair(scores.astype(np.float32))
    scores = candidates.values.reshape(scores.shape).astype(np.float64)
    plan = open_plan(candidates, threshold=0.0)
    places = np.sort(open_links(candidates, plan))
    alone = plan.left_alone, plan.right_alone
    found = strengths_of(candidates, places, alone)
    links = list(
        zip(candidates.left[places].tolist(), candidates.right[places].tolist(), strict=True)
    )
    expected = [slow_strength(scores, alone, link) for link in links]
    assert_allclose(found.links, expected, atol=1e-3)
    runners = []
    for side in (0, 1):
        for number, link in enumerate(links):
            pair = slow_runner_up(scores, links, link, side)
            if pair is not None:
                runners.append((number, slow_strength(scores, alone, pair, link)))
    assert found.runner_of.tolist() == [number for number, _ in runners]
    assert_allclose(found.runners, [strength for _, strength in runners], atol=1e-3)


@given(strengths, strengths, st.sampled_from([0.0, 0.3, 1.0]))
def test_no_cut_gives_more_right_less_wrong_links(links, runners, unlinked):
    links, runners = np.sort(links), np.sort(runners)

    def gain(cut):
        wrong = unlinked * len(links) * (runners >= cut).mean()
        return (links >= cut).sum() - 2 * wrong

    cut, most = best_cut(links, runners, unlinked)
    # A cut lies between two links; what it is held against are the links themselves.
    assert most == pytest.approx(max(gain(each) for each in [*links, links[-1] + 1]))
    assert not (links == cut).any()


def world(right, alone, *, seed=0):
    """Strengths of right links and of chance, and runner-ups that are chance like the latter."""
    rng = np.random.default_rng(seed)
    links = np.concatenate([rng.normal(14.0, 3.0, right), rng.gumbel(-6.0, 2.0, alone)])
    return links, rng.gumbel(-6.0 - numbers.lift, 2.0, 2 * len(links))


def told(links, runners):
    """What chance gives where each link has as many runner-ups as every other one."""
    return chance_of(links, runners, np.arange(len(runners)) % max(len(links), 1))


@pytest.mark.parametrize(("right", "alone"), [(200, 0), (200, 200), (100, 900), (0, 300)])
def test_the_cut_parts_right_links_from_chance(right, alone):
    links, runners = world(right, alone)
    for shift in (-15.0, 0.0):  # of the threshold, where there is enough to learn from
        made = told(links + shift, runners + shift).probability(links + shift) > 0.5
        assert right == 0 or made[:right].mean() > 0.95
        assert made[right:].sum() <= 0.06 * (right + alone)


def test_duplicates_do_not_hide_links():
    """Runner-ups as strong as links, a third of all, are no reason to drop the links."""
    links, runners = world(300, 50)
    runners[: len(runners) // 3] = np.random.default_rng(1).normal(14.0, 3.0, len(runners) // 3)
    made = told(links, runners).probability(links) > 0.5
    assert made[:300].mean() > 0.9


@pytest.mark.parametrize("ahead", [1.0, 2.5, 4.0])
def test_wrong_links_that_are_far_ahead_of_their_runner_ups_are_chance(ahead):
    """Few have a partner; others get what is only second best for the next one."""
    rng = np.random.default_rng(0)
    right, wrong = rng.normal(35.0, 8.0, 100), rng.gumbel(-8.0, 3.0, 900)
    links = np.concatenate([right, wrong])
    best = np.concatenate([rng.gumbel(-8.0, 3.0, 100), wrong])
    seconds = np.concatenate([best[:100], best[100:] - rng.gumbel(ahead, 0.5, 900)])
    chance = chance_of(links, seconds, np.arange(1000))
    made = chance.probability(links) > 0.5
    assert made[:100].all()
    assert made[100:].sum() <= 20
    assert chance.lift >= numbers.least_lift
    assert abs(chance.lift - max(ahead, 1.0)) < 1.0


def test_the_lift_of_links_that_are_all_right_or_given_is_that_of_the_prior():
    links, runners = world(200, 0)
    assert told(links, runners - 30).lift == pytest.approx(numbers.lift, abs=0.2)
    assert chance_of(links, runners, np.full(len(runners), -1)).lift == numbers.lift


def test_few_links_are_decided_by_the_prior():
    links, runners = world(6, 4)
    assert abs(told(links, runners).cut - numbers.prior_cut) < 2
    assert abs(told(links - 10, runners - 10).cut - numbers.prior_cut) < 4
    assert told(links[:3], np.zeros(0)).cut == numbers.prior_cut


def test_given_links_do_not_move_what_chance_gives():
    """The runner-ups are the same whether links were given or found, and so are the others."""
    links, runners = world(200, 200)
    of, kinds = np.arange(len(runners)) % len(links), np.zeros(400, dtype=np.int8)
    found = Strengths(links, runners, of)
    _, before = decide(found, kinds)
    for count in (20, 100, 200):
        given = np.arange(400) < count
        raised = Strengths(np.where(given, 100.0, links), runners, of)
        probability, after = decide(raised, kinds, given=given)
        assert (probability[given] == 1).all()
        assert after[0].median == pytest.approx(before[0].median, abs=0.1)
        assert after[0].high == pytest.approx(before[0].high, abs=0.1)
        assert (probability[200:] > 0.5).sum() <= 15


def test_kinds_have_cuts_of_their_own_and_others_have_no_links():
    first, second = world(100, 100), world(100, 100, seed=1)
    links = np.concatenate([first[0], second[0] - 30])
    runners = np.concatenate([first[1], second[1] - 30])
    kinds = np.repeat(np.array([1, 2], dtype=np.int8), 200)
    of = np.repeat([0, 399], [len(first[1]), len(second[1])])
    probability, chances = decide(Strengths(links, runners, of), kinds)
    assert chances[1].cut - chances[2].cut > 15
    again = probability_of(links, kinds, chances)
    assert_allclose(again, probability)
    assert probability_of(links[:1], np.array([3]), chances).tolist() == [0.0]


def test_probability_keeps_the_order_of_strengths():
    chance = told(*world(50, 50))
    steps = np.linspace(-5, 25, 50)
    assert (np.diff(chance.probability(steps)) > 0).all()
    assert chance.probability(np.array([chance.cut]))[0] == 0.5
    flat = replace(chance, slope=0.0)
    assert (flat.probability(steps) == 0.5).all()


def two_languages(seed=0, count=60, strangers=200):
    """Scores of some true pairs among many entities without a partner, far below a threshold."""
    rng = np.random.default_rng(seed)
    scores = rng.gumbel(0.0, 1.5, (count + strangers, count + strangers))
    scores[np.arange(count), np.arange(count)] = rng.normal(16.0, 1.5, count)
    return every_pair(scores.astype(np.float32))


def test_thresholds_that_leave_no_link_are_lowered_to_where_links_are():
    scores, kinds = two_languages(), np.zeros(260, dtype=np.int8)
    lowered, plan = lowered_thresholds(scores, np.array([40.0]), kinds)
    assert 9.0 < lowered[0] < 30.0
    assert len(plan.left_alone) == 260


def test_thresholds_are_never_raised_and_keep_above_the_floor():
    scores, kinds = two_languages(), np.zeros(260, dtype=np.int8)
    floor = TUNING.open.floor
    for threshold in (floor - 1.0, floor, 3.0):
        lowered, _ = lowered_thresholds(scores, np.array([threshold]), kinds)
        assert min(threshold, floor) <= lowered[0] <= threshold


def test_thresholds_of_other_kinds_stay():
    kinds = np.zeros(260, dtype=np.int8)
    lowered, _ = lowered_thresholds(two_languages(), np.array([40.0, 7.0]), kinds)
    assert lowered[1] == 7.0


def test_however_sure_links_are_their_probabilities_differ():
    strengths = np.concatenate([np.linspace(-300, 300, 2001), [1000.0]])
    links, runners = world(100, 100)
    probability = told(links, runners).probability(strengths)
    assert (np.diff(probability) > 0).all()
    assert ((probability > 0) & (probability < 1)).all()
    moderate = np.linspace(-20, 20, 50)
    assert_allclose(probability_at(moderate), 1 / (1 + np.exp(-moderate)))


@pytest.mark.parametrize("links", [2, 400])
def test_the_cut_is_between_that_of_runner_ups_and_that_of_the_prior(links):
    strengths, runners = world(200, 200)
    chance = told(strengths[:links], runners)
    prior = TUNING.decision.prior_cut
    expected = chance.weight * chance.runner_cut + (1 - chance.weight) * prior
    assert chance.cut == pytest.approx(expected)
    assert 0 <= chance.weight < 1


def test_what_is_not_known_of_chance_is_left_out_of_its_figures():
    figures = told(np.array([1.0, 5.0]), np.zeros(0)).asdict()
    assert figures["runners"] == 0
    assert not {"median", "high", "runner_cut"} & figures.keys()
    assert all(np.isfinite(value) for value in figures.values())


@given(matrices())
def test_the_lead_by_chance_is_twice_that_of_the_second_over_the_third(scores):
    rows = [sorted(row, reverse=True) for row in scores.tolist() if len(row) >= 3]
    expected = np.mean([2 * (row[1] - row[2]) for row in rows]) if rows else numbers.lift
    assert_allclose(lead_by_chance(every_pair(scores)), expected, atol=1e-5)
