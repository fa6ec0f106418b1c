"""The audit by decoys: its estimates, its honesty, and what users see of it."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import reference
import sameas
from folders import named_triples
from pairs import matched_pair, renamed
from sameas import Graph, OptionError
from sameas.cli.main import main
from sameas.compute.odds import probability_at
from sameas.graph.iri import TYPE
from sameas.result.audit.calibration import Curve, fit_curve, histogram, level_for
from sameas.result.audit.decoys import BestMatches
from sameas.result.audit.estimate import Side, estimate
from sameas.result.audit.figures import (
    Observed,
    figures_of,
    interval,
    missed_links,
    why_untold,
    wrong_links,
)
from sameas.result.audit.groups import groups_of

probabilities = st.lists(st.floats(0.31, 0.999), min_size=1, max_size=30)
shares = st.floats(0.001, 0.9)


def fits(best, probability=None):
    count = len(best)
    chance = np.zeros(count) if probability is None else np.asarray(probability)
    return BestMatches(
        np.arange(count), np.full(count, -1), chance, np.asarray(best, dtype=np.float64)
    )


# --- calibration --------------------------------------------------------------------------------


@settings(deadline=None, max_examples=50)
@given(probabilities, probabilities, st.floats(0.01, 5.0))
def test_the_curve_has_the_least_loss(links, wrong, weight):
    links, wrong = np.array(links), np.array(wrong)
    weights = np.full(len(wrong), weight)
    binned = histogram(links)
    exact = np.repeat(binned[0], binned[1].astype(int))
    curve = fit_curve(binned, wrong, weights)
    found = reference.calibration_loss(curve.a, curve.b, exact, wrong, weights)
    for a, b in ((0.05, 0), (-0.05, 0), (0, 0.05), (0, -0.05), (0.5, 0.5), (-1, 1)):
        if curve.b + b >= 0.02:
            other = curve.a + a, curve.b + b
            assert found <= reference.calibration_loss(*other, exact, wrong, weights) + 1e-6


@given(st.floats(-5, 5), st.floats(0.02, 5), st.lists(st.floats(0, 1), min_size=2, max_size=20))
def test_calibration_keeps_the_order_of_links(a, b, chances):
    confidence = Curve(a, b)(np.sort(chances))
    assert (np.diff(confidence) >= 0).all()
    assert ((confidence >= 0) & (confidence <= 1)).all()


@given(st.floats(-2, 2), st.floats(0.5, 3), st.lists(st.integers(-400, 400), unique=True))
def test_confidence_differs_where_probabilities_do(a, b, tenths):
    chances = probability_at(np.sort(np.array(tenths)) / 10)
    confidence = Curve(a, b).confidence(chances)
    assert (np.diff(confidence) > 0).all()
    assert ((confidence >= 0.5) == (chances >= 0.5)).all()


def test_links_below_one_half_by_the_curve_are_not_all_given_one_half():
    curve, chances = Curve(-1.5, 1.0), np.linspace(0.5, 0.99, 200)
    assert (curve(chances) < 0.5).sum() > 50
    confidence = curve.confidence(chances)
    assert len(np.unique(confidence)) == 200
    sure = curve(chances) > 1 - curve(chances)[0]
    assert_allclose(confidence[sure], curve(chances)[sure])


def test_calibration_does_not_raise_what_is_less_likely_than_not():
    chances = np.linspace(0, 0.499, 50)
    assert (Curve(4.0, 2.0)(chances) <= chances).all()


def test_without_decoys_that_are_linked_confidence_is_higher_than_the_probability():
    links = np.linspace(0.4, 0.99, 500)
    none = np.zeros(0)
    curve = fit_curve(histogram(links), none, none)
    assert (curve(links[links > 0.5]) > links[links > 0.5]).all()


def test_the_fewer_links_the_nearer_is_confidence_to_the_probability():
    away = []
    for links in (1, 5, 5000):
        chances = np.linspace(0.7, 0.99, links)
        curve = fit_curve(histogram(chances), chances, np.full(links, 0.6))
        away.append(abs(curve(np.array([0.75]))[0] - 0.75))
    assert away == sorted(away)
    assert away[0] < 0.15 < 0.3 < away[-1]


@pytest.mark.parametrize("a", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("b", [0.7, 1.6])
def test_a_curve_is_found_again_from_links_and_decoys_that_follow_it(a, b):
    rng = np.random.default_rng(3)
    chances = 1 - np.exp(-rng.exponential(2.0, 20_000))
    chances = chances[chances > 0.3]
    right = rng.random(len(chances)) < 1 / (1 + (1 - chances) ** b / (chances * np.exp(a)))
    curve = fit_curve(histogram(chances), chances[~right], np.ones((~right).sum()))
    assert_allclose([curve.a, curve.b], [a, b], atol=0.15)


@settings(deadline=None)
@given(st.lists(st.floats(0.01, 0.999), max_size=12), shares)
def test_as_many_links_are_kept_as_the_error_allows(confidence, max_error):
    level = level_for(np.array(confidence), max_error)
    expected = reference.most_links(confidence, max_error - 1e-12)
    kept = [c for c in confidence if c >= level]
    assert len(expected) <= len(kept)
    assert sum(1 - c for c in kept) <= max_error * len(kept) + 1e-9


# --- how many entities have no partner ----------------------------------------------------------


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([-np.inf, -2.0, 0.0, 0.5, 3.0, 9.0]), min_size=1, max_size=10),
    st.lists(st.sampled_from([-np.inf, -2.0, 0.0, 1.0, 4.0]), min_size=1, max_size=8),
)
def test_entities_like_decoys_are_counted_as_by_comparing_each_with_each(everyone, decoys):
    side = Side(fits(everyone), fits(np.array(decoys)))
    expected = reference.like_decoys(everyone, decoys, np.ones(len(decoys)))
    assert_allclose(side.like_decoys(), expected, rtol=1e-9)


@pytest.mark.parametrize("alone", [0, 300, 900, 1000])
def test_the_number_of_entities_without_partner_is_found(alone):
    rng = np.random.default_rng(1)
    chance = rng.gumbel(-2, 2, 1000)
    linked = np.where(np.arange(1000) < alone, chance, np.maximum(chance, rng.normal(18, 3, 1000)))
    side = Side(fits(linked), fits(rng.gumbel(-2, 2, 500)))
    assert abs(side.like_decoys() - alone) < 100


# --- figures and intervals ----------------------------------------------------------------------

plans = st.lists(st.floats(0.001, 0.999), min_size=1, max_size=60)


def observed(probability, *, kept=None, runner_wrong=0.0, most=np.inf, curve=None):
    probability = np.asarray(probability, dtype=np.float64)
    kept = probability > 0.5 if kept is None else np.asarray(kept)
    return Observed(probability, kept, curve or Curve(), runner_wrong, most)


@given(plans, st.floats(0, 50), st.integers(0, 100), st.floats(-2, 2), st.floats(0.5, 3))
def test_estimates_are_within_their_intervals(plan, runner_wrong, count, a, b):
    seen = observed(plan, runner_wrong=runner_wrong, most=len(plan) + count, curve=Curve(a, b))
    figures = figures_of(seen, (len(plan) + count, len(plan) + 2 * count))
    for name in ("right", "precision", "recall", "f1", "missed", "left_without", "right_without"):
        low, value, high = (figures[f"{name}{which}"] for which in ("_low", "", "_high"))
        if value is None:
            assert name not in ("right", "precision")
            assert why_untold(seen) is not None
        else:
            assert low - 1e-9 <= value <= high + 1e-9
            assert low >= 0
    assert figures["right_high"] <= seen.kept.sum() + 1e-9


def test_an_interval_is_a_factor_wide_and_none_seen_allows_for_three():
    assert interval(0.0, 0.0) == (0.0, 3.0)
    low, high = interval(100.0, 100.0)
    assert (low, high) == (103 / 2 - 3, 103 * 2 - 3)
    assert interval(50.0, 100.0)[0] < low


def test_links_are_wrong_between_what_decoys_and_runner_ups_tell():
    plan = np.full(100, 0.9)
    alone = wrong_links(observed(plan, runner_wrong=10.0))
    more = wrong_links(observed(plan, runner_wrong=40.0))
    assert alone.value == more.value == pytest.approx(10.0)
    assert alone.low == pytest.approx(more.low)
    assert more.high == pytest.approx(43 * 2 - 3)


def test_of_fewer_links_runner_ups_tell_as_many_wrong_as_are_doubtful():
    seen = observed([0.9] * 10 + [0.6] * 10 + [0.1], runner_wrong=5.0)
    some = seen.select(np.arange(21) < 10)
    assert some.runner_wrong == pytest.approx(1.0)
    assert seen.select(np.ones(21, dtype=bool)).runner_wrong == pytest.approx(5.0)


def test_misses_are_told_by_links_that_were_nearly_not_made():
    """Twenty correct links just beyond the cut, and pairs below it that are likely now and then."""
    sure, near, below = np.full(100, 0.999), np.full(20, 0.8), np.full(50, 0.1)
    many = missed_links(observed(np.concatenate([sure, near, below])))
    none = missed_links(observed(sure))
    assert many.value == pytest.approx(20 * 0.8 + 50 * 0.1)
    assert none.value == 0.0
    # What pairs below it tell does not count in what there is at least.
    assert many.low == pytest.approx((20 * 0.8 + 3) / 2 - 3)


def test_links_that_were_dropped_count_as_missed_if_they_are_correct():
    plan = np.full(100, 0.95)
    few = missed_links(observed(plan, kept=np.arange(100) < 40))
    assert few.value == pytest.approx(60 * 0.95)


def test_no_more_is_missed_than_there_are_entities():
    plan = np.concatenate([np.full(100, 0.99), np.full(20, 0.7)])
    assert missed_links(observed(plan, most=125)).high < missed_links(observed(plan)).high
    right = 120 - wrong_links(observed(plan)).high
    assert missed_links(observed(plan, most=125)).high == pytest.approx(125 - right)


def test_where_most_links_are_near_chance_misses_are_not_told():
    near = observed(np.full(100, 0.7))
    figures = figures_of(near, (500, 500))
    assert figures["right"] is not None
    assert {figures[name] for name in ("missed", "recall", "f1_low", "left_without_high")} == {None}
    assert "100% of the links" in why_untold(near)
    assert why_untold(observed(np.full(100, 0.99))) is None


# --- honesty ------------------------------------------------------------------------------------


def test_a_graph_against_itself_is_all_right(small):
    pair = matched_pair(left=renamed(small.left.source), right=small.left.source)
    found = sameas.align(pair).audit
    assert found.precision > 0.97
    assert found.left_without < 0.1


def test_of_graphs_with_nothing_in_common_nothing_is_claimed(script):
    left, right = (script.generate(150, seed=seed) for seed in (1, 2))
    found = sameas.align(matched_pair(left=left.left, right=right.right))
    assert len(found.links) < 0.02 * 150
    assert found.audit is None


@pytest.mark.parametrize("linked", [0, 1000, 1999])
def test_links_are_wrong_as_often_as_decoys_are_linked(linked):
    """Of 2,000 entities, so many have a partner; 30% of the others are linked, as decoys are."""
    rng = np.random.default_rng(7)

    def alone(count):
        mistaken = rng.random(count) < 0.3
        partner = np.where(mistaken, rng.integers(linked, 2000, count), -1)
        chance = np.where(mistaken, rng.uniform(0.31, 0.99, count), 0.0)
        return BestMatches(np.arange(count), partner, chance, rng.gumbel(-2, 2, count))

    sides = []
    for _ in range(2):
        everyone = alone(2000)
        everyone.best[:linked] += 40
        everyone.partner[:linked] = np.arange(linked)
        everyone.probability[:linked] = rng.beta(20, 1, linked)
        sides.append(Side(everyone, alone(500)))
    chances = sides[0].everyone.probability
    found = estimate(tuple(sides), histogram(chances))
    made = chances > 0.5
    expected = made[:linked].sum() / made.sum()
    # Calibration goes only so far: links that are all wrong keep some confidence.
    assert abs(found.curve(chances[made]).mean() - expected) < (0.15 if linked else 0.3)


def with_types(graph, kinds):
    """The graph with a type for each entity."""
    rows = [
        *named_triples(graph),
        *((e, TYPE, kind) for e, kind in zip(graph.entities, kinds, strict=True)),
    ]
    names = dict(zip(graph.entities, graph.names, strict=True))
    return Graph.from_triples(rows, names=names)


def test_a_class_whose_counterparts_are_gone_stands_out(script):
    pair = script.generate(500, overlap=1.0, noise=0.15, seed=5)
    hidden = pair.gold[::4]
    kinds = np.where(pair.left.entities.is_in(hidden["left"].implode()), "ship", "town")
    left = with_types(pair.left, kinds)
    found = sameas.align(matched_pair(left=left, right=pair.right.without(hidden["right"]))).audit
    groups = {group.name: group.precision for group in found.groups if group.by == "type"}
    assert groups["town"] > 0.9
    assert groups.get("ship", 0.0) < groups["town"] - 0.3


def test_estimates_are_near_the_truth(demo, align_demo):
    found = align_demo()
    true = sameas.evaluate(found, demo.gold, complete=True)
    audit = found.audit
    missed = len(demo.gold) - true.links_correct
    assert audit.right_low <= true.links_correct <= audit.right_high
    assert audit.missed_low <= missed <= audit.missed_high
    assert audit.missed_high - audit.missed_low < 0.11 * len(found.links)
    assert audit.precision_low - 0.01 < true.precision < audit.precision_high + 0.01
    assert abs(audit.precision - true.precision) < 0.02
    assert abs(audit.f1 - true.f1) < 0.05
    assert abs(audit.left_without - (1 - len(demo.gold) / len(demo.left.entities))) < 0.06


def test_few_links_are_not_judged(small, caplog):
    few = small.gold.head(20)
    left, right = (
        graph.without(graph.entities.filter(~graph.entities.is_in(few[side].implode())))
        for side, graph in (("left", small.left), ("right", small.right))
    )
    pair = matched_pair(left=left, right=right)
    assert sameas.align(pair).audit is None
    assert not caplog.records
    sameas.align(pair, max_error=0.1)
    assert "too few links" in caplog.text


# --- what the audit changes ---------------------------------------------------------------------


def test_the_audit_keeps_the_order_and_adds_no_link(align_demo):
    with_audit, plain = align_demo(), align_demo(no_audit=True)
    assert plain.audit is None
    both = with_audit.links.join(plain.links, on=["left", "right"], suffix="_before")
    assert len(both) == len(with_audit.links)
    order = both.sort("confidence_before")["confidence"]
    assert order.is_sorted()


def test_confidence_is_the_same_only_for_links_that_are_equally_strong(align_demo):
    found = align_demo()
    both = found.links.join(found.candidates, on=["left", "right"]).drop_nulls("strength")
    assert len(both) == len(found.links)
    strengths = both.group_by("confidence").agg(pl.col("strength").round(6).n_unique())
    assert strengths["strength"].max() == 1
    assert both.sort("strength")["confidence"].is_sorted()


def test_max_error_keeps_the_surest_links(demo, align_demo):
    every, few = align_demo(), align_demo(max_error=0.005)
    assert 0 < len(few.links) < len(every.links)
    assert (1 - few.links["confidence"]).mean() <= 0.005
    assert few.links["confidence"].min() >= every.links["confidence"].quantile(0.01)
    assert sameas.evaluate(few, demo.gold, complete=True).precision > 0.98
    assert few.audit.links == len(few.links)


@pytest.mark.parametrize("cardinality", ["one-to-many", "many-to-many"])
def test_only_sides_with_one_partner_have_decoys(align_small, cardinality):
    found = align_small(cardinality=cardinality).audit
    if cardinality == "many-to-many":
        assert found is None
    else:
        assert (found.left_decoys, found.right_decoys > 0) == (0, True)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"no_audit": True, "max_error": 0.1}, "`max_error` has no effect here"),
        ({"preset": "paper", "max_error": 0.1}, "`max_error` has no effect here"),
        ({"max_error": 0.0}, "`max_error` must be a number above 0.0 below 1.0"),
    ],
)
def test_options_without_effect_are_refused(small, choices, message):
    with pytest.raises(OptionError, match=message):
        sameas.align(small, **choices)


def test_groups_are_by_type_degree_and_script():
    triples = [
        ("a", "r", "b"),
        ("a", "r", "c"),
        *((f"x{n}", TYPE, "http://e/Town") for n in range(30)),
    ]
    graph = Graph.from_triples(triples, names={"a": "Ωμέγα", "b": "東京", "c": "12"})
    groups = {by: labels.to_list()[:3] for by, labels in groups_of(graph).items()}
    assert groups["script"] == ["greek", "cjk", None]
    assert groups["degree"] == ["2 to 3", "1", "1"]
    assert groups_of(graph)["type"].drop_nulls().to_list() == 30 * ["Town"]


# --- runs and the command line ------------------------------------------------------------------


@pytest.fixture(scope="module")
def runs(tmp_path_factory, align_small):
    """Run folders with and without an audit."""
    folder = tmp_path_factory.mktemp("runs")
    sameas.write(align_small(), folder / "run")
    sameas.write(align_small(no_audit=True), folder / "plain")
    return folder


def as_json(*arguments):
    result = CliRunner().invoke(main, [*map(str, arguments), "--json"])
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_a_run_folder_keeps_the_audit(runs, align_small):
    assert sameas.read_run(runs / "run").audit == align_small().audit
    assert sameas.read_run(runs / "plain").audit is None
    wanted = {"precision", "recall", "f1", "left_without", "right_without", "precision_low"}
    assert wanted <= json.loads((runs / "run" / "run.json").read_text())["audit"].keys()


def test_the_command_shows_the_audit_of_a_run(runs, align_small):
    assert as_json("audit", runs / "run")["audit"]["precision"] == align_small().audit.precision
    shown = CliRunner().invoke(main, ["audit", str(runs / "run")]).stdout
    for word in ("correct links", "missed", "no counterpart", "decoys", "degree"):
        assert word in shown


def test_a_run_without_an_audit_gets_one(runs, align_small):
    late, usual = as_json("audit", runs / "plain")["audit"], align_small().audit
    assert (late["a"], late["b"]) == (usual.a, usual.b)
    assert late["links"] == len(align_small(no_audit=True).links)


def test_an_audit_of_an_earlier_version_is_read(runs, tmp_path, align_small):
    sameas.write(align_small(), tmp_path / "run")
    file = tmp_path / "run" / "run.json"
    record = json.loads(file.read_text())
    for name in ("untold", "wrong_by_decoys", "wrong_by_runner_ups"):
        del record["audit"][name]
    file.write_text(json.dumps(record))
    shown = CliRunner().invoke(main, ["audit", str(tmp_path / "run")])
    assert shown.exit_code == 0
    assert "by runner-ups" not in shown.stdout
    assert sameas.read_run(tmp_path / "run").audit.right == align_small().audit.right


def test_what_cannot_be_told_is_said_everywhere(tmp_path, align_small):
    sameas.write(align_small(), tmp_path / "run")
    file = tmp_path / "run" / "run.json"
    record = json.loads(file.read_text())
    record["audit"]["untold"] = "all links are near chance"
    for name in ("missed", "recall", "f1", "left_without", "right_without"):
        record["audit"] |= dict.fromkeys((name, f"{name}_low", f"{name}_high"))
    file.write_text(json.dumps(record))
    shown = CliRunner().invoke(main, ["audit", str(tmp_path / "run")]).stdout
    assert "cannot be told: all links are near chance" in " ".join(shown.split())
    assert "no counterpart" not in shown
    assert "all links are near chance" in sameas.read_run(tmp_path / "run").audit._repr_html_()


def test_a_run_without_refinement_has_no_audit(align_small, tmp_path):
    sameas.write(align_small(preset="paper"), tmp_path / "run")
    result = CliRunner().invoke(main, ["audit", str(tmp_path / "run")])
    assert result.exit_code == 2
    assert "needs a run with refinement" in result.stderr


def test_a_damaged_audit_is_one_sentence(runs, tmp_path, align_small):
    sameas.write(align_small(), tmp_path / "run")
    file = tmp_path / "run" / "run.json"
    record = json.loads(file.read_text())
    del record["audit"]["precision"]
    file.write_text(json.dumps(record))
    result = CliRunner().invoke(main, ["audit", str(tmp_path / "run")])
    assert result.exit_code == 2
    assert "is damaged" in result.stderr


@given(st.floats(-2, 2), st.floats(0.5, 3), st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_calibration_decides_about_no_link(a, b, chances):
    chances = np.sort(chances)
    confidence = Curve(a, b).confidence(chances)
    assert ((confidence >= 0.5) == (chances >= 0.5)).all()
    assert (np.diff(confidence) >= 0).all()
