"""Scores against sets; by entity, with gold that is partial."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
import sameas
from pairs import matched_pair
from sameas import Alignment, Options, calibration, evaluate, hide_half
from sameas.cli.main import main
from sameas.graph.graph import ATTRIBUTE_SCHEMA, Graph
from sameas.result.alignment import Diagnostics

SCHEMA = {"left": pl.String, "right": pl.String}
MEASURES = (
    "links",
    "links_judged",
    "links_correct",
    "gold_links",
    "precision",
    "recall",
    "f1",
    "strict_precision",
    "strict_f1",
    "unmatched_recall",
)


def table(pairs):
    return pl.DataFrame(sorted(pairs), schema=SCHEMA, orient="row")


def linked(left="abcdef", right="uvwxyz"):
    return st.sets(st.tuples(st.sampled_from(left), st.sampled_from(right)), max_size=8)


def measured(*arguments, **options):
    metrics = evaluate(*arguments, **options)
    return {name: getattr(metrics, name) for name in MEASURES}


@settings(deadline=None, max_examples=40)
@given(linked(), linked(), st.sets(st.sampled_from("abuvw")))
def test_scores_equal_those_counted_with_sets(links, gold, no_match):
    found = measured(
        table(links), table(gold), no_match=pl.Series(sorted(no_match), dtype=pl.String)
    )
    assert found == pytest.approx(reference.scores(links, gold, no_match))


@settings(deadline=None, max_examples=30)
@given(linked("abcd", "abcd"), linked("abcd", "abcd"))
def test_sides_that_use_the_same_ids_are_kept_apart(links, gold):
    assert measured(table(links), table(gold)) == pytest.approx(reference.scores(links, gold))


@settings(deadline=None, max_examples=30)
@given(linked(), linked(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(links, gold, random):
    ranked = table(links | gold).with_columns(rank=pl.int_range(1, pl.len() + 1))
    shuffled = [
        frame.sample(fraction=1, shuffle=True, seed=random.randrange(1000))
        for frame in (table(links), table(gold), ranked)
    ]
    once = evaluate(table(links), table(gold), ranked=ranked).asdict()
    again = evaluate(shuffled[0], shuffled[1], ranked=shuffled[2]).asdict()
    assert once == pytest.approx(again)


@settings(deadline=None, max_examples=30)
@given(linked(), st.data())
def test_hits_and_mrr_equal_those_counted_one_by_one(gold, data):
    kept = [pair for pair in sorted(gold) if data.draw(st.booleans())]
    rank = st.sampled_from([1.0, 1.5, 2.0, 10.0, 10.5, 30.0])
    ranked = {pair: data.draw(rank) for pair in [*kept, ("a", "nobody")]}
    candidates = pl.DataFrame(
        [(*pair, rank) for pair, rank in ranked.items()],
        schema={**SCHEMA, "rank": pl.Float64},
        orient="row",
    )
    found = evaluate(table(set()), table(gold), ranked=candidates)
    if not gold:
        assert (found.hits_at_1, found.hits_at_10, found.mrr) == (None, None, None)
        return
    ranks = [ranked.get(pair, float("inf")) for pair in gold]
    assert found.hits_at_1 == pytest.approx(sum(rank <= 1 for rank in ranks) / len(gold))
    assert found.hits_at_10 == pytest.approx(sum(rank <= 10 for rank in ranks) / len(gold))
    assert found.mrr == pytest.approx(sum(1 / rank for rank in ranks) / len(gold))


def test_links_outside_of_gold_are_not_judged():
    gold = table({("a", "u"), ("b", "v")})
    found = evaluate(table({("a", "u"), ("b", "w"), ("c", "x"), ("d", "y")}), gold)
    assert found.links_judged == 2
    assert found.precision == 0.5
    assert found.strict_precision == 0.25
    assert found.strict_f1 == pytest.approx(1 / 3)
    assert found.recall == 0.5


def test_a_link_that_takes_a_gold_partner_away_is_judged():
    found = evaluate(table({("c", "u")}), table({("a", "u")}))
    assert (found.links_judged, found.precision) == (1, 0)


def test_any_link_of_an_entity_without_counterpart_is_wrong():
    links, gold = table({("a", "u"), ("c", "x")}), table({("a", "u")})
    assert evaluate(links, gold).precision == 1
    assert evaluate(links, gold, no_match=pl.Series(["c"])).precision == 0.5
    assert evaluate(links, gold, no_match=pl.Series(["x"])).precision == 0.5
    assert evaluate(links, gold, no_match=pl.Series([], dtype=pl.String)).precision == 1


def test_without_candidates_there_are_no_ranks():
    found = evaluate(table({("a", "u")}), table({("a", "u")}))
    assert (found.hits_at_1, found.hits_at_10, found.mrr) == (None, None, None)
    assert found.asdict()["hits@1"] is None
    assert "hits" not in str(found)


def test_nothing_found_and_nothing_known():
    nothing_found = evaluate(table(set()), table({("a", "u")}))
    assert (nothing_found.precision, nothing_found.f1, nothing_found.recall) == (None, None, 0)
    nothing_known = evaluate(table({("a", "u")}), table(set()))
    assert (nothing_known.links_judged, nothing_known.precision) == (0, None)


def test_a_link_given_twice_counts_once():
    links = pl.DataFrame({"left": ["a", "a"], "right": ["u", "u"], "score": [1.0, 0.5]})
    found = evaluate(links, table({("a", "u"), ("b", "v")}))
    assert (found.links, found.links_correct, found.precision) == (1, 1, 1)


def test_gold_may_bring_further_columns():
    gold = table({("a", "u")}).with_columns(score=1.0)
    assert evaluate(table({("a", "u")}), gold).f1 == 1
    candidates = table({("a", "u")}).with_columns(rank=1.0, score=0.3)
    assert evaluate(table({("a", "u")}), gold, ranked=candidates).mrr == 1


def test_ties_count_as_half_found_at_no_rank_of_one():
    candidates = table({("a", "u")}).with_columns(rank=1.5)
    found = evaluate(table(set()), table({("a", "u")}), ranked=candidates)
    assert (found.hits_at_1, found.hits_at_10) == (0, 1)
    assert found.mrr == pytest.approx(2 / 3)


def test_the_report_has_the_names_that_scripts_rely_on():
    found = evaluate(table({("a", "u")}), table({("a", "u")})).asdict()
    assert {
        "unmatched_recall",
        "calibration_error",
        "precision",
        "recall",
        "f1",
        "hits@1",
        "hits@10",
        "mrr",
        "gold_links",
        "links_judged",
        "strict_precision",
        "strict_f1",
    } <= set(found)


def test_the_share_of_those_without_counterpart_who_stay_alone():
    links, gold = table({("a", "u"), ("c", "x")}), table({("a", "u")})
    assert evaluate(links, gold).unmatched_recall is None
    assert evaluate(links, gold, no_match=pl.Series(["c", "d"])).unmatched_recall == 0.5
    assert evaluate(links, gold, no_match=pl.Series(["c", "x"])).unmatched_recall == 0
    assert evaluate(links, gold, no_match=pl.Series(["d", "d", "e"])).unmatched_recall == 1
    nobody = pl.Series([], dtype=pl.String)
    assert evaluate(links, gold, no_match=nobody).unmatched_recall is None


CONFIDENCE = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]))


@settings(deadline=None, max_examples=40)
@given(linked(), linked(), st.sets(st.sampled_from("abuvw")), st.data())
def test_the_calibration_error_equals_that_counted_link_by_link(links, gold, no_match, data):
    sure = {pair: data.draw(CONFIDENCE) for pair in sorted(links)}
    frame = table(links).with_columns(confidence=pl.Series(list(sure.values()), dtype=pl.Float64))
    nobody = pl.Series(sorted(no_match), dtype=pl.String)
    expected = reference.calibration_error(sure, gold, no_match)
    found = calibration(frame, table(gold), nobody)
    assert found.error == pytest.approx(expected)
    assert found.count == evaluate(frame, table(gold), no_match=nobody).links_judged
    assert evaluate(frame, table(gold), no_match=nobody).calibration_error == found.error
    shuffled = frame.sample(fraction=1, shuffle=True, seed=1)
    assert calibration(shuffled, table(gold), nobody) == found


def test_bins_hold_links_of_about_the_same_confidence():
    links = pl.DataFrame(
        {
            "left": ["a", "b", "c", "d", "e"],
            "right": ["u", "v", "w", "x", "y"],
            "confidence": [0.91, 0.95, 1.0, 0.5, 0.3],
        }
    )
    gold = table({("a", "u"), ("b", "v"), ("c", "x")})
    found = calibration(links, gold)  # nothing is known about e
    assert [each.low for each in found.bins] == [0.5, 0.9]
    half, most = found.bins
    assert (half.confidence, half.accuracy, half.count) == (0.5, 0, 1)
    assert most.confidence == pytest.approx(0.953, abs=0.001)
    assert (most.accuracy, most.count) == (pytest.approx(2 / 3), 3)
    assert found.error == pytest.approx((0.5 + abs(0.91 + 0.95 + 1 - 2)) / 4)


def test_links_without_confidence_have_no_calibration():
    gold = table({("a", "u"), ("b", "v")})
    assert calibration(gold, gold).error is None
    unknown = gold.with_columns(confidence=pl.lit(None, dtype=pl.Float64))
    assert evaluate(unknown, gold).calibration_error is None
    partly = gold.with_columns(confidence=pl.Series([0.75, None]))
    assert calibration(partly, gold).count == 1
    assert calibration(partly, gold).error == 0.25


def test_half_of_the_right_entities_of_gold_are_hidden(demo):
    pair = demo
    smaller, alone = hide_half(pair, seed=3)
    count = len(pair.gold)
    assert (len(smaller.gold), len(alone)) == (count - count // 2, count // 2)
    assert smaller.left is pair.left
    hidden = pair.gold.join(smaller.gold, on="right", how="anti")
    assert set(alone) == set(hidden["left"])
    assert not set(alone) & set(smaller.gold["left"])
    gone = set(hidden["right"])
    assert smaller.right.entities.to_list() == [e for e in pair.right.entities if e not in gone]
    names = dict(zip(pair.right.entities, pair.right.names, strict=True))
    assert smaller.right.names.to_list() == [names[e] for e in smaller.right.entities]
    assert not gone & set(smaller.right.attributes["entity"])
    assert len(smaller.right.attributes) < len(pair.right.attributes)


def spelled(graph):
    return [
        (graph.entities[int(head)], graph.relations[int(relation)], graph.entities[int(tail)])
        for head, relation, tail in graph.triples
    ]


def test_triples_of_the_hidden_are_gone_and_others_stay_as_they_are(demo):
    pair = demo
    smaller, _ = hide_half(pair, seed=0)
    inside = set(smaller.right.entities)
    expected = [row for row in spelled(pair.right) if row[0] in inside and row[2] in inside]
    assert spelled(smaller.right) == expected


def test_the_seed_decides_which_half(demo):
    halves = [hide_half(demo, seed=seed)[1].to_list() for seed in (1, 1, 2)]
    assert halves[0] == halves[1] != halves[2]
    assert 0.4 < len(set(halves[0]) & set(halves[2])) / len(halves[0]) < 0.6


def small(entities):
    return Graph(
        entities=pl.Series(entities),
        given_names=pl.Series(entities),
        relations=pl.Series(["r"]),
        triples=np.zeros((0, 3), dtype=np.int64),
        attributes=pl.DataFrame(schema=ATTRIBUTE_SCHEMA),
    )


def test_who_keeps_one_of_two_partners_is_not_without_counterpart():
    gold = table({("a", "u"), ("a", "v"), ("b", "w"), ("c", "w")})
    pair = matched_pair(left=small(["a", "b", "c"]), right=small(["u", "v", "w", "x"]), gold=gold)
    for seed in range(9):
        smaller, alone = hide_half(pair, seed=seed)
        assert len(smaller.right.entities) == 3
        assert set(alone) == {"a", "b", "c"} - set(smaller.gold["left"])
        assert set(alone) in (set(), {"b", "c"})


def test_a_half_cannot_be_hidden_of_what_is_not_known():
    pair = matched_pair(left=small(["a"]), right=small(["u"]))
    with pytest.raises(sameas.OptionError, match="`pair` must have gold links"):
        hide_half(pair, seed=0)


def test_the_hidden_half_is_told_from_the_command_line(tmp_path):
    links = table({("a", "u"), ("c", "x")}).with_columns(score=0.5, confidence=0.75)
    links.write_csv(tmp_path / "found.tsv", separator="\t")
    table({("a", "u")}).write_csv(tmp_path / "gold.tsv", separator="\t")
    (tmp_path / "nobody.txt").write_text("c\nd\n")
    arguments = ["evaluate", str(tmp_path / "found.tsv"), str(tmp_path / "gold.tsv")]
    alone = ["--no-match", str(tmp_path / "nobody.txt")]
    plain = json.loads(CliRunner().invoke(main, [*arguments, "--json"]).stdout)
    assert plain["unmatched_recall"] is None
    assert plain["calibration_error"] == 0.25
    known = json.loads(CliRunner().invoke(main, [*arguments, *alone, "--json"]).stdout)
    assert known["unmatched_recall"] == 0.5
    assert known["calibration_error"] == 0.25
    shown = CliRunner().invoke(main, [*arguments, *alone]).stdout
    assert "unmatched recall" in shown
    assert "calibration error" in shown


# --- Gold that does not fit, and gold that is complete ------------------------------------------


def found_in(left, right, links, *, kinds=(None, None)):
    """An alignment of two graphs with these entities and links, and with kinds of entities."""
    pair = matched_pair(left=small(list(left)), right=small(list(right)))
    graphs = [
        graph
        if codes is None
        else replace(
            graph,
            kinds=np.array(codes, np.int8),
            source=replace(graph.source, reading=sameas.Reading()),
        )
        for graph, codes in zip(pair.graphs, kinds, strict=True)
    ]
    parts = {
        "pair": matched_pair(left=graphs[0], right=graphs[1]),
        "links": table(links).with_columns(score=1.0, confidence=0.75),
        "candidates": table(links).with_columns(rank=1, score=1.0, mean_rank=1.0),
    }
    figures = Diagnostics(solver="exact", objective=1.0)
    return Alignment(options=Options(), diagnostics=figures, load=parts.get)


def test_gold_that_fits_the_graphs_gives_no_warning(caplog):
    found = found_in("abc", "uvw", {("a", "u")})
    assert evaluate(found, table({("b", "v"), ("c", "w")})).warnings == ()
    assert evaluate(table({("a", "u")}), table({("a", "v"), ("b", "w")})).warnings == ()
    assert evaluate(table(set()), table({("a", "u")})).warnings == ()
    assert caplog.text == ""


def test_gold_and_graphs_that_do_not_meet_are_pointed_out(caplog):
    found = found_in(["http://a/1"], ["http://b/1"], {("http://a/1", "http://b/1")})
    (warning,) = evaluate(found, table({("https://a/1", "https://b/1")})).warnings
    assert warning.startswith("gold and graphs do not meet")
    assert 'on the left, gold has "https://a/1" and the graphs have "http://a/1"' in warning
    assert warning in caplog.text
    (warning,) = evaluate(found, table({("http://a/1", "https://b/1")})).warnings
    assert 'on the right, gold has "https://b/1" and the graphs have "http://b/1"' in warning
    (warning,) = evaluate(found.links, table({("https://a/1", "https://b/1")})).warnings
    assert warning.startswith("no link touches an entity that gold mentions")
    assert 'the links have "http://a/1"' in warning


def test_swapped_sides_are_pointed_out():
    found = found_in("abc", "uvw", {("a", "u"), ("b", "v")})
    gold = table({("u", "a"), ("v", "b"), ("w", "c")})
    (warning,) = evaluate(found, gold).warnings
    assert warning.startswith("left and right seem to be swapped: 3 of 3 gold links fit the graphs")
    assert "exchange the columns of gold" in warning
    (warning,) = evaluate(found.links, gold).warnings
    assert warning.startswith("left and right seem to be swapped: 2 of 3 gold links fit the links")


def test_gold_links_that_are_not_in_the_graphs_are_counted():
    found = found_in("abc", "uvw", {("a", "u")})
    gold = table({("a", "u"), ("b", "?"), ("!", "w")})
    (warning,) = evaluate(found, gold).warnings
    assert warning.startswith("2 of 3 gold links name an entity that is not in the graphs")
    assert evaluate(found.links, gold).warnings == ()


def test_complete_gold_judges_all_links_of_the_kinds_that_it_mentions():
    links = {("a", "u"), ("b", "v"), ("C", "U"), ("D", "V"), ("p", "q")}
    kinds = [0, 0, 1, 1, 2]
    found = found_in("abCDp", "uvUVq", links, kinds=(kinds, kinds))
    gold = table({("C", "U"), ("unknown", "u")})
    assert evaluate(found, gold).links_judged == 2
    classes = evaluate(found, gold.head(1), complete=True)
    assert (classes.links_judged, classes.precision, classes.recall) == (2, 0.5, 1)
    assert classes.calibration_error == 0.25
    assert classes.strict_precision == 0.2
    both = evaluate(found, gold, complete=True)
    assert (both.links_judged, both.precision) == (4, 0.25)
    alone = evaluate(found, gold, complete=True, no_match=pl.Series(["p"]))
    assert (alone.links_judged, alone.precision) == (5, 0.2)


def test_complete_gold_judges_all_links_where_kinds_are_not_known():
    found = found_in("abc", "uvw", {("a", "u"), ("b", "v"), ("c", "w")})
    for links in (found, found.links):
        scores = evaluate(links, table({("a", "u")}), complete=True)
        assert scores.links_judged == 3
        assert scores.precision == scores.strict_precision == pytest.approx(1 / 3)
        assert scores.f1 == scores.strict_f1 == 0.5


def test_an_iterator_of_links_is_read_once():
    assert evaluate(iter([("a", "u")]), iter([("a", "u")])).f1 == 1
