"""The generator of pairs for the scale ladder: what it promises about names and structure."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from polars.testing import assert_frame_equal, assert_series_equal

import sameas
from folders import named_triples, names_of
from sameas.text.ngrams import ngram_rows

SIZE = 4000


@pytest.fixture(scope="module")
def pair(script):
    return script.generate(SIZE)


def gold_names(pair):
    """The names of both ends of the gold links."""
    return [
        graph.names.gather(graph.positions(pair.gold[side]))
        for side, graph in (("left", pair.left), ("right", pair.right))
    ]


def degrees(graph):
    return np.bincount(graph.triples[:, [0, 2]].ravel(), minlength=len(graph.entities))


def similarities(one, other):
    """Cosine of the character bigrams of names, row by row."""
    rows = ngram_rows(pl.concat([one, other])).toarray()
    return (rows[: len(one)] * rows[len(one) :]).sum(axis=1)


def assert_same(one, other):
    for left, right in ((one.left, other.left), (one.right, other.right)):
        assert_series_equal(left.entities, right.entities)
        assert_series_equal(left.names, right.names)
        assert_series_equal(left.relations, right.relations)
        assert_array_equal(left.triples, right.triples)
    assert_frame_equal(one.gold, other.gold)


def test_the_same_arguments_give_the_same_pair(script):
    assert_same(script.generate(500, seed=3), script.generate(500, seed=3))


def test_another_seed_gives_another_pair(script):
    one, other = script.generate(500, seed=3), script.generate(500, seed=4)
    assert not one.left.names.equals(other.left.names)
    assert not one.gold.equals(other.gold)


def test_noise_changes_the_right_names_and_nothing_else(script):
    clean, noisy = script.generate(500, noise=0), script.generate(500, noise=0.2)
    assert not clean.right.names.equals(noisy.right.names)
    assert_same(clean, replace(noisy, right=replace(noisy.right, given_names=clean.right.names)))


@pytest.mark.parametrize("overlap", [0.3, 0.8, 1.0])
def test_sizes_and_overlap_are_those_asked_for(script, overlap):
    pair = script.generate(1000, overlap=overlap)
    assert len(pair.left.entities) == len(pair.right.entities) == 1000
    assert len(pair.gold) == 1000 * overlap


def test_gold_links_are_one_to_one_and_between_entities(pair):
    for side, graph in (("left", pair.left), ("right", pair.right)):
        assert pair.gold[side].is_unique().all()
        assert (graph.positions(pair.gold[side]) >= 0).all()


def test_order_and_uris_do_not_give_the_gold_links_away(pair):
    left, right = pair.left.positions(pair.gold["left"]), pair.right.positions(pair.gold["right"])
    assert abs(np.corrcoef(left, right)[0, 1]) < 0.1
    assert (left == right).mean() < 0.01
    numbers = [pair.gold[side].str.extract(r"(\d+)$").cast(pl.Int64) for side in pair.gold.columns]
    assert abs(np.corrcoef(*numbers)[0, 1]) < 0.1


def test_triples_are_as_many_as_asked_for_distinct_and_without_loops(script):
    for wanted in (3, 4.5, 8):
        pair = script.generate(2000, triples_per_entity=wanted)
        for graph in (pair.left, pair.right):
            assert len(graph.triples) / 2000 == pytest.approx(wanted, rel=0.1)
            assert len(graph.distinct_triples) == len(graph.triples)
            assert (graph.triples[:, 0] != graph.triples[:, 2]).all()


def test_degrees_have_a_heavy_tail_and_the_largest_hub_a_limit(pair):
    for graph in (pair.left, pair.right):
        found = degrees(graph)
        assert found.min() >= 1
        assert found.max() > 20 * np.median(found)
        assert found.max() < 0.15 * SIZE
        top = np.sort(found)[::-1]
        assert top[: SIZE // 100].sum() > 0.1 * found.sum()
        # A power law: log degree falls about linearly in log rank, not exponentially.
        ranks = np.arange(20, 1000)
        slope, _ = np.polyfit(np.log(ranks), np.log(top[ranks]), 1)
        assert -1 < slope < -0.4
        assert np.corrcoef(np.log(ranks), np.log(top[ranks]))[0, 1] < -0.98


def test_hubs_are_a_smaller_share_of_larger_graphs(script, pair):
    large = degrees(script.generate(4 * SIZE).left).max()
    assert large / degrees(pair.left).max() == pytest.approx(2, rel=0.5)


def test_few_relations_have_most_triples(pair):
    for graph in (pair.left, pair.right):
        counts = np.sort(np.bincount(graph.triples[:, 1]))[::-1]
        assert (counts > 0).all()
        assert counts[: len(counts) // 10].sum() > 0.4 * counts.sum()
        ranks = np.arange(5, 200)
        slope, _ = np.polyfit(np.log(ranks), np.log(counts[ranks]), 1)
        assert -1.5 < slope < -0.6


def test_the_sides_have_relations_of_their_own(pair):
    assert not set(pair.left.relations) & set(pair.right.relations)
    assert len(pair.left.relations) != len(pair.right.relations)


def test_the_sides_share_most_but_not_all_of_their_facts(pair):
    """Ends of facts between linked entities, compared by gold link."""
    size = len(pair.gold)
    ends = []
    for side, graph in (("left", pair.left), ("right", pair.right)):
        link = np.full(len(graph.entities), -1)
        link[graph.positions(pair.gold[side])] = np.arange(size)
        head, tail = link[graph.triples[:, [0, 2]]].T
        known = (head >= 0) & (tail >= 0)
        ends.append(np.unique(head[known] * size + tail[known]))
    common = len(np.intersect1d(*ends))
    assert 0.5 < common / len(ends[0]) < 0.8
    assert 0.5 < common / len(ends[1]) < 0.8


def test_names_are_mostly_distinct_with_a_few_namesakes(pair):
    for graph in (pair.left, pair.right):
        assert 0.005 < graph.names.is_duplicated().mean() < 0.1
        assert (graph.names.str.len_chars() >= 2).all()
        assert (graph.names == graph.names.str.strip_chars()).all()


def test_linked_names_differ_but_are_more_alike_than_others(pair):
    left, right = gold_names(pair)
    assert 0.05 < (left == right).mean() < 0.3
    alike = similarities(left, right)
    others = similarities(left, right.shuffle(seed=0))
    assert alike.mean() > others.mean() + 0.3
    assert np.median(alike) > np.quantile(others, 0.99)


def test_structure_finds_links_that_names_do_not(script):
    pair = script.generate(2000)
    alignments = [sameas.align(pair, preset="paper", among="gold", depth=d) for d in (0, 2)]
    hits = [sameas.evaluate(alignment, pair.gold).hits_at_1 for alignment in alignments]
    assert 0.85 < hits[1] < 0.98
    assert hits[0] < hits[1] - 0.05


def test_what_was_written_is_read_again(script, tmp_path):
    pair = script.generate(800)
    script.write_pair(pair, tmp_path / "new" / "pair")
    found = sameas.read_pair(tmp_path / "new" / "pair")
    for one, other in ((pair.left, found.left), (pair.right, found.right)):
        assert names_of(one) == names_of(other)
        assert other.names_given == 800
        assert named_triples(one) == named_triples(other)
    assert_frame_equal(found.gold, pair.gold)


def test_letters_are_mistyped_inside_words_only(script):
    names = pl.Series(["Étienne de la Tour 1984", "Al", "X (Y-Z)"] * 50)
    typed = script._mistyped(names, 1.0, np.random.default_rng(0))
    assert len(typed) == len(names)
    starts = [[word[0] for word in name.split()] for name in names]
    assert [[word[0] for word in name.split()] for name in typed] == starts
    assert typed.str.ends_with(" 1984").to_list() == names.str.ends_with(" 1984").to_list()
    assert (typed != names).mean() > 0.3
    assert_series_equal(script._mistyped(names, 0.0, np.random.default_rng(0)), names.alias("name"))


def test_a_drawn_member_is_of_the_wanted_kind_and_has_weight(script):
    kind = np.array([0, 0, 1, 1, 1, 3])
    weights = np.array([1.0, 0.0, 0.0, 2.0, 1.0, 0.0])
    wanted = np.repeat([0, 1, 2, 3, -1], 1000)
    found = script._draw(kind, weights, wanted, np.random.default_rng(0)).reshape(5, 1000)
    assert set(found[0]) == {0}
    assert set(found[1]) == {3, 4}
    assert (found[1] == 3).mean() == pytest.approx(2 / 3, abs=0.05)
    for of_any_kind in found[2:]:  # kind 2 has no member and kind 3 none with weight
        assert set(of_any_kind) == {0, 3, 4}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": 9}, "size must be at least 10, got 9 instead"),
        ({"overlap": 0}, "overlap must be above 0"),
        ({"overlap": 1.1}, "overlap must be above 0"),
        ({"noise": -0.1}, "noise must be between 0 and 1"),
        ({"triples_per_entity": 0}, "triples_per_entity must be positive"),
        ({"relations": 0}, "relations must be at least 1"),
        ({"seed": -1}, "seed must be at least 0"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(script, arguments, message):
    with pytest.raises(ValueError, match=message):
        script.generate(arguments.pop("size", 100), **arguments)


@pytest.mark.parametrize(
    "arguments",
    [{"overlap": 0.01}, {"relations": 1}, {"triples_per_entity": 0.1}, {"noise": 1}],
)
def test_the_smallest_pairs_can_be_made_too(script, arguments):
    pair = script.generate(10, **arguments)
    assert len(pair.left.entities) == len(pair.right.entities) == 10
    assert len(pair.gold) >= 1


def test_hard_pairs_differ_in_more_ways(script, pair):
    hard = script.generate(SIZE, hard=True)
    assert len(hard.gold) == 0.6 * SIZE
    other = hard.right.names.str.contains(r"[\p{Cyrillic}\p{Greek}]")
    assert other.mean() == pytest.approx(0.25, abs=0.03)
    assert not hard.left.names.str.contains(r"[\p{Cyrillic}\p{Greek}]").any()
    assert hard.left.names.is_duplicated().mean() > 2 * pair.left.names.is_duplicated().mean()
    assert degrees(hard.left).max() > degrees(pair.left).max()
    alike, usual = (similarities(*gold_names(each)).mean() for each in (hard, pair))
    assert alike < usual - 0.1


def test_the_command_line_writes_a_folder_that_can_be_aligned(script, tmp_path, capsys):
    script.main(["1k", str(tmp_path), "--overlap", "0.5", "--noise", "0", "--seed", "7"])
    assert "500 gold links" in capsys.readouterr().out
    assert_frame_equal(
        sameas.read_pair(tmp_path).gold, script.generate(1000, overlap=0.5, noise=0, seed=7).gold
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["many", "x"], "such as 15k or 1M"), (["1k", "x", "--overlap", "2"], "overlap must be")],
)
def test_the_command_line_says_what_is_wrong(script, capsys, arguments, message):
    with pytest.raises(SystemExit) as stopped:
        script.main(arguments)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_sizes_are_read_with_their_unit(script):
    assert [script.parse_size(text) for text in ("250", "15k", "1M")] == [250, 15_000, 1_000_000]


def test_a_pair_in_parts_reads_as_the_same_pair(script, tmp_path):
    pair = script.generate(60)
    odd = pl.Series("name", ['a "b" \\c', *pair.left.names[1:]])
    pair = replace(pair, left=replace(pair.left, given_names=odd))
    script.write_parts(pair, tmp_path, 3)
    for side in ("left", "right"):
        assert len(list((tmp_path / side).iterdir())) == 3
        graph = sameas.read_graph(tmp_path / side)
        assert sorted(named_triples(graph)) == sorted(named_triples(getattr(pair, side)))
        assert names_of(graph) == names_of(getattr(pair, side))
