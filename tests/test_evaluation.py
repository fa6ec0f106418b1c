"""Scores against sets; by entity, with gold that is partial."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from sameas import evaluate

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
)


def table(pairs):
    return pl.DataFrame(sorted(pairs), schema=SCHEMA, orient="row")


def linked(left="abcdef", right="uvwxyz"):
    return st.sets(st.tuples(st.sampled_from(left), st.sampled_from(right)), max_size=8)


def measured(*arguments, **options):
    metrics = evaluate(*arguments, **options)
    return {name: getattr(metrics, name) for name in MEASURES}


@settings(deadline=None, max_examples=75)
@given(linked(), linked(), st.sets(st.sampled_from("abuvw")))
def test_scores_equal_those_counted_with_sets(links, gold, no_match):
    found = measured(
        table(links), table(gold), no_match=pl.Series(sorted(no_match), dtype=pl.String)
    )
    assert found == pytest.approx(reference.scores(links, gold, no_match))


@settings(deadline=None, max_examples=50)
@given(linked("abcd", "abcd"), linked("abcd", "abcd"))
def test_sides_that_use_the_same_ids_are_kept_apart(links, gold):
    assert measured(table(links), table(gold)) == pytest.approx(reference.scores(links, gold))


@settings(deadline=None, max_examples=50)
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


@settings(deadline=None, max_examples=50)
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
        "precision",
        "recall",
        "f1",
        "hits@1",
        "hits@10",
        "mrr",
        "gold_links",
        "links_judged",
        "strict_precision",
    } <= set(found)
