"""From a pair to links: what always holds, on small pairs and on the demo."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import reference
import sameas
import sameas.options
import sameas.pipeline
from sameas import DEMO, Graph, GraphPair, MemoryCeilingError, OptionError, Options, align, evaluate
from strategies import pairs

ADJACENCIES = ("relational", "plain", "random-walk", "laplacian")


@pytest.fixture(scope="module")
def demo():
    return sameas.read_pair(DEMO)


@pytest.fixture(scope="module")
def demo_alignment(demo):
    return align(demo)


def options():
    return st.builds(
        Options,
        adjacency=st.sampled_from(ADJACENCIES),
        depth=st.integers(0, 3),
        solver=st.sampled_from(["sinkhorn", "hungarian"]),
        iterations=st.integers(0, 10),
        temperature=st.sampled_from([1e-9, 0.02, 1.0, 1e9]),
        top=st.integers(1, 4),
        min_confidence=st.sampled_from([0.0, 0.3, 1.0]),
    )


def assert_sound(alignment, left, right):
    """Links are one to one, and links and unmatched make up the candidates of each side."""
    for side, candidates in (("left", left), ("right", right)):
        linked = alignment.links[side].to_list()
        assert len(linked) == len(set(linked))
        lonely = alignment.unmatched.filter(pl.col("side") == side)["entity"].to_list()
        assert sorted(linked + lonely) == sorted(candidates)
    assert alignment.links["confidence"].is_between(0, 1).all()
    assert alignment.links["score"].is_between(-1 - 1e-5, 1 + 1e-5).all()
    assert alignment.links["confidence"].is_between(alignment.options.min_confidence, 1).all()
    assert alignment.unmatched["reason"].str.len_chars().min() != 0
    assert 0 <= alignment.optimality_gap <= 1
    assert np.isfinite(alignment.objective)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(pairs(), options())
def test_every_pair_gives_a_sound_alignment(pair, chosen):
    alignment = align(pair, chosen)
    assert_sound(alignment, pair.left.entities.to_list(), pair.right.entities.to_list())
    k = min(chosen.top, len(pair.right.entities))
    assert len(alignment.candidates) == k * len(pair.left.entities)
    assert alignment.candidates.select("left", "right").is_unique().all()
    assert alignment.candidates["rank"].is_between(1, len(pair.right.entities)).all()
    if chosen.min_confidence == 0:
        assert len(alignment.links) == min(len(pair.left.entities), len(pair.right.entities))


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(pairs(), st.integers(0, 3), st.sampled_from(["relational", "plain", "random-walk"]))
def test_scores_are_the_mean_cosines_of_the_method(pair, depth, adjacency):
    """The whole chain, from names and triples to scores, against its slow twin."""
    alignment = align(pair, Options(depth=depth, adjacency=adjacency, min_confidence=0))
    size = len(pair.left.entities)
    rows, _ = reference.ngram_rows([*pair.left.names, *pair.right.names])
    if adjacency == "relational":
        matrices = reference.relational(pair.left, pair.right)
    else:
        define = getattr(reference, adjacency.replace("-", "_"))
        matrices = define(pair.left), define(pair.right)
    scores = reference.similarity(
        reference.hops(matrices[0], rows[:size], depth),
        reference.hops(matrices[1], rows[size:], depth),
    )
    expected = [
        scores[pair.left.entities.index_of(a), pair.right.entities.index_of(b)]
        for a, b in alignment.candidates.select("left", "right").iter_rows()
    ]
    assert_allclose(alignment.candidates["score"], expected, atol=1e-5)


@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(pairs(), options())
def test_the_same_input_gives_the_same_output(pair, chosen):
    once, again = align(pair, chosen), align(pair, chosen)
    for name in ("links", "candidates", "unmatched"):
        assert getattr(once, name).equals(getattr(again, name))
    assert once.summary() == again.summary()


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(pairs().filter(lambda pair: pair.gold is not None), options())
def test_among_gold_only_its_entities_are_candidates(pair, chosen):
    alignment = align(pair, replace(chosen, among="gold"))
    assert_sound(alignment, pair.gold["left"].to_list(), pair.gold["right"].to_list())
    assert set(alignment.candidates["right"]) <= set(pair.gold["right"])


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(pairs(min_entities=0, max_entities=2), st.sampled_from(["sinkhorn", "hungarian"]))
def test_a_side_may_be_empty(pair, solver):
    alignment = align(pair, Options(solver=solver, min_confidence=0))
    assert_sound(alignment, pair.left.entities.to_list(), pair.right.entities.to_list())


@pytest.mark.parametrize("solver", ["sinkhorn", "hungarian"])
def test_gold_links_are_ranked_as_if_all_candidates_were_kept(demo, solver):
    chosen = Options(among="gold", solver=solver)
    few = align(demo, replace(chosen, top=1))
    many = align(demo, replace(chosen, top=150))
    assert len(few.gold_ranks) == len(demo.gold)
    both = few.gold_ranks.join(many.candidates, on=["left", "right"], how="inner")
    assert len(both) > 0.5 * len(demo.gold)
    assert (both["rank"] == both["rank_right"]).all()
    scores = [evaluate(found, demo.gold) for found in (few, many)]
    assert scores[0].mrr == pytest.approx(scores[1].mrr)
    assert scores[0].hits_at_10 == scores[1].hits_at_10


def test_the_demo_is_aligned_well(demo, demo_alignment):
    assert_sound(demo_alignment, demo.left.entities.to_list(), demo.right.entities.to_list())
    metrics = evaluate(demo_alignment, demo.gold)
    assert metrics.f1 > 0.7
    assert metrics.hits_at_1 <= metrics.hits_at_10
    assert demo_alignment.facts["plan_deviation"] < 1


@pytest.mark.parametrize("solver", ["sinkhorn", "hungarian"])
def test_the_order_of_entities_and_triples_does_not_matter(demo, solver):
    chosen = Options(solver=solver, min_confidence=0, among="gold")
    rng = np.random.default_rng(8)
    turned = GraphPair(
        left=shuffled(demo.left, rng),
        right=shuffled(demo.right, rng),
        gold=demo.gold.sample(fraction=1, shuffle=True, seed=3),
    )
    plain, other = align(demo, chosen), align(turned, chosen)
    assert other.objective == pytest.approx(plain.objective, rel=1e-4)
    both = plain.candidates.join(other.candidates, on=["left", "right"], how="inner")
    assert len(both) > 0.95 * len(plain.candidates)
    assert_allclose(both["score"], both["score_right"], atol=1e-4)
    scores = [evaluate(found, demo.gold) for found in (plain, other)]
    for name in ("hits_at_1", "hits_at_10", "mrr"):
        assert getattr(scores[1], name) == pytest.approx(getattr(scores[0], name), abs=0.005)
    assert scores[1].recall == pytest.approx(scores[0].recall, abs=0.01)


def shuffled(graph, rng):
    """The same graph with entities, relations and triples in another order."""
    entities = rng.permutation(len(graph.entities))
    relations = rng.permutation(len(graph.relations))
    new_entity, new_relation = np.argsort(entities), np.argsort(relations)
    head, relation, tail = graph.triples.T
    triples = np.stack([new_entity[head], new_relation[relation], new_entity[tail]], axis=1)
    return Graph(
        entities=graph.entities.gather(entities),
        names=graph.names.gather(entities),
        relations=graph.relations.gather(relations),
        triples=rng.permutation(triples),
        attributes=graph.attributes,
    )


def test_exact_is_at_least_as_good_as_soft_and_within_its_gap(demo):
    soft = align(demo, Options(among="gold", solver="sinkhorn"))
    exact = align(demo, Options(among="gold", solver="hungarian"))
    assert exact.optimality_gap == 0
    assert soft.objective <= exact.objective + 1e-3
    assert exact.objective * (1 - soft.optimality_gap) <= soft.objective + 1e-3


def test_equal_graphs_are_aligned_to_themselves(demo):
    twin = GraphPair(left=demo.right, right=demo.right)
    alignment = align(twin)
    assert (alignment.links["left"] == alignment.links["right"]).mean() > 0.99


def test_among_may_be_a_file(demo, tmp_path):
    path = tmp_path / "some.tsv"
    demo.gold.head(20).write_csv(path, separator="\t", include_header=False)
    alignment = align(demo, Options(among=path, min_confidence=0))
    assert set(alignment.links["left"]) == set(demo.gold["left"].head(20))
    assert alignment.facts["left_candidates"] == 20


def test_among_that_cannot_be_used_is_refused(demo, tmp_path):
    with pytest.raises(OptionError, match="no gold links"):
        align(GraphPair(left=demo.left, right=demo.right), Options(among="gold"))
    path = tmp_path / "some.tsv"
    path.write_text("nobody\tnothing\n")
    with pytest.raises(
        OptionError, match='got 1 that are not in the left one, the first is "nobody"'
    ):
        align(demo, Options(among=path))


def test_embeddings_take_the_place_of_names(tmp_path):
    left, right = (
        Graph(
            entities=pl.Series([f"{side}{i}" for i in range(3)]),
            names=pl.Series(["same"] * 3),
            relations=pl.Series([], dtype=pl.String),
            triples=np.empty((0, 3), dtype=np.int64),
        )
        for side in "lr"
    )
    path = tmp_path / "rows.npy"
    np.save(path, np.vstack([np.eye(3), np.eye(3)[[2, 0, 1]]]))
    alignment = align(GraphPair(left=left, right=right), Options(embeddings=path))
    assert alignment.links.select("left", "right").rows() == [
        ("l0", "r1"),
        ("l1", "r2"),
        ("l2", "r0"),
    ]


def test_word_features_say_how_many_words_are_unknown(demo, tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("paris 1 0\nlondon 0 1\n")
    alignment = align(demo, Options(features="hybrid", word_vectors=path, among="gold"))
    assert alignment.facts["word_vectors"] == "vectors.txt, 2 dimensions"
    assert 0 < alignment.facts["words_without_vector"] < alignment.facts["words"]


def test_work_beyond_the_ceiling_is_refused_before_it_starts(demo):
    with pytest.raises(MemoryCeilingError, match="raise it with --memory"):
        align(demo, Options(memory=1000))


def test_the_ceiling_that_is_recommended_suffices(demo):
    with pytest.raises(MemoryCeilingError) as caught:
        align(demo, Options(memory=1000, solver="hungarian"))
    size = sameas.options.parse_size(str(caught.value).rsplit(" ", 1)[1])
    align(demo, Options(memory=size, solver="hungarian"))


def test_phases_are_timed_and_told(demo):
    told = []
    alignment = align(demo, Options(among="gold"), progress=lambda *step: told.append(step))
    phases = list(dict.fromkeys(phase for phase, _ in told))
    assert phases == list(alignment.seconds)
    for phase in phases:
        shares = [share for name, share in told if name == phase]
        assert shares[0] == 0
        assert shares[-1] == 1
        assert all(0 <= share <= 1 for share in shares)
    assert all(seconds >= 0 for seconds in alignment.seconds.values())


def test_entities_of_low_confidence_stay_unmatched_and_are_told_why(demo, demo_alignment):
    everyone = align(demo, Options(min_confidence=0))
    assert len(everyone.links) == min(len(demo.left.entities), len(demo.right.entities))
    sure = everyone.links.filter(pl.col("confidence") >= 0.3)
    assert sure.equals(demo_alignment.links)
    assert "confidence below 0.3" in demo_alignment.unmatched["reason"].to_list()
    assert everyone.objective == demo_alignment.objective


def test_the_proof_of_an_exact_alignment_can_be_checked_by_anyone(demo):
    alignment = align(demo, Options(solver="hungarian"))
    proof = sameas.verify(alignment)
    assert proof.gap <= 1e-6
    assert proof.objective == alignment.objective
    lower = pl.col("price") - 0.01 * (pl.col("side") == "left")
    forged = alignment.prices.with_columns(price=lower)
    assert sameas.verify(replace(alignment, prices=forged)).excess > 0.009
    with pytest.raises(OptionError, match="hungarian"):
        sameas.verify(align(demo))
