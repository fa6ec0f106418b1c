"""From a pair to links: what always holds, on small pairs and on the demo."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from polars.testing import assert_frame_equal

import reference
import sameas
from pairs import matched_pair, renamed
from sameas import Graph, MemoryCeilingError, OptionError, Options, align, evaluate
from sameas.graph.labels import MOST_LETTERS
from sameas.options.options import Part
from sameas.result.explanation.result import Reason
from strategies import pairs, paper

ADJACENCIES = ("relational", "plain", "random-walk", "laplacian")
SOLVERS = ("sinkhorn", "hungarian")
BOTH = pytest.mark.parametrize("preset", ["best", "paper"])
QUICK = {"best": {"no_audit": True}, "paper": {}}
"""The audit takes half of the time and is tested elsewhere."""
TABLES = ("links", "candidates", "unmatched", "gold_ranks", "relations", "anchors", "prices")


def published_options():
    """The method as published, and changes to it."""
    return options(paper)


def refined_options():
    """With refinement."""
    return options(Options, rounds=st.integers(1, 5), without=parts())


def parts():
    return st.sets(st.sampled_from(get_args(Part)), max_size=3).map(sorted).map(tuple)


def any_options():
    return st.one_of(published_options(), refined_options())


def options(method, **more):
    return st.builds(
        method,
        adjacency=st.sampled_from(ADJACENCIES),
        depth=st.integers(0, 3),
        solver=st.sampled_from(SOLVERS),
        iterations=st.integers(0, 10),
        temperature=st.sampled_from([1e-9, 0.02, 1.0, 1e9]),
        top=st.integers(1, 4),
        min_confidence=st.sampled_from([0.0, 0.3, 1.0]),
        **more,
    )


def assert_sound(alignment, left, right):
    """Links are one to one, and links and unmatched make up the candidates of each side."""
    for side, candidates in (("left", left), ("right", right)):
        linked = alignment.links[side].to_list()
        assert len(linked) == len(set(linked))
        lonely = alignment.unmatched.filter(pl.col("side") == side)["entity"].to_list()
        assert sorted(linked + lonely) == sorted(candidates)
    assert alignment.links["confidence"].is_between(alignment.options.min_confidence, 1).all()
    assert alignment.links["score"].is_finite().all()
    if not alignment.options.rounds:
        assert alignment.links["score"].is_between(-1 - 1e-5, 1 + 1e-5).all()
    assert alignment.unmatched.columns == ["side", "entity", "reason", "candidate", "score"]
    assert set(alignment.unmatched["reason"]) <= set(get_args(Reason))
    assert (
        alignment.unmatched["candidate"].is_null() == alignment.unmatched["score"].is_null()
    ).all()
    assert 0 <= alignment.diagnostics.optimality_gap <= 1
    assert np.isfinite(alignment.diagnostics.objective)


def with_parts(alignment, **parts):
    """The alignment with other tables."""
    load = alignment.load
    return replace(alignment, load=lambda name: parts[name] if name in parts else load(name))


def assert_same(found, expected):
    for name in TABLES:
        one, other = getattr(found, name), getattr(expected, name)
        assert (one is None) == (other is None)
        assert one is None or one.equals(other)
    assert found.summary() == expected.summary()


@settings(deadline=None, max_examples=8, suppress_health_check=[HealthCheck.too_slow])
@given(pairs(), published_options())
def test_every_pair_gives_a_sound_alignment(pair, chosen):
    alignment = align(pair, chosen)
    assert_sound(alignment, pair.left.entities.to_list(), pair.right.entities.to_list())
    k = min(chosen.top, len(pair.right.entities))
    assert len(alignment.candidates) == k * len(pair.left.entities)
    assert alignment.candidates.select("left", "right").is_unique().all()
    assert alignment.candidates["rank"].is_between(1, len(pair.right.entities)).all()
    ranks = alignment.candidates.group_by("left", maintain_order=True).agg("rank", "mean_rank")
    assert alignment.candidates.schema["rank"] == pl.Int64
    assert all(row == list(range(1, len(row) + 1)) for row in ranks["rank"].to_list())
    assert ranks["mean_rank"].list.eval(pl.element().diff().min() >= 0).list.all().all()
    if chosen.min_confidence == 0:
        assert len(alignment.links) == min(len(pair.left.entities), len(pair.right.entities))


@settings(deadline=None, max_examples=8, suppress_health_check=[HealthCheck.too_slow])
@given(pairs(), refined_options())
def test_every_pair_gives_a_sound_alignment_after_refinement(pair, chosen):
    alignment = align(pair, chosen)
    assert_sound(alignment, pair.left.entities.to_list(), pair.right.entities.to_list())
    ranked = alignment.candidates
    assert ranked.select("left", "right").is_unique().all()
    assert ranked["rank"].is_between(1, len(pair.right.entities)).all()
    assert not len(ranked) or ranked.group_by("left").len()["len"].max() <= chosen.top
    for side in ("left", "right"):
        assert alignment.anchors[side].is_unique().all()
    assert alignment.anchors["trust"].is_between(0, 1).all()
    assert alignment.relations["match"].is_between(0, 1).all()
    assert alignment.diagnostics.refinement_rounds <= chosen.rounds
    if chosen.solver == "hungarian":
        assert (alignment.links["score"] >= 0).all()


@settings(deadline=None, max_examples=8, suppress_health_check=[HealthCheck.too_slow])
@given(pairs(), st.integers(0, 3), st.sampled_from(["relational", "plain", "random-walk"]))
def test_scores_are_the_mean_cosines_of_the_method(pair, depth, adjacency):
    """The whole chain, from names and triples to scores, against its slow twin."""
    alignment = align(pair, paper(depth=depth, adjacency=adjacency))
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


@settings(deadline=None, max_examples=6, suppress_health_check=[HealthCheck.too_slow])
@given(pairs(), any_options())
def test_the_same_input_gives_the_same_output(pair, chosen):
    assert_same(align(pair, chosen), align(pair, chosen))


@settings(deadline=None, max_examples=8, suppress_health_check=[HealthCheck.too_slow])
@given(pairs().filter(lambda pair: pair.gold is not None), any_options())
def test_among_gold_only_its_entities_are_candidates(pair, chosen):
    alignment = align(pair, chosen, among="gold")
    assert_sound(alignment, pair.gold["left"].to_list(), pair.gold["right"].to_list())
    assert set(alignment.candidates["right"]) <= set(pair.gold["right"])


@settings(deadline=None, max_examples=8, suppress_health_check=[HealthCheck.too_slow])
@given(pairs(min_entities=0, max_entities=2), any_options())
def test_a_side_may_be_empty(pair, chosen):
    alignment = align(pair, chosen)
    assert_sound(alignment, pair.left.entities.to_list(), pair.right.entities.to_list())


@pytest.mark.parametrize("solver", SOLVERS)
def test_gold_links_are_ranked_as_if_all_candidates_were_kept(small, align_small, solver):
    few, many = (
        align_small(preset="paper", solver=solver, among="gold", top=top) for top in (1, 150)
    )
    assert len(few.gold_ranks) == len(small.gold)
    both = few.gold_ranks.join(many.candidates, on=["left", "right"], how="inner")
    assert len(both) > 0.5 * len(small.gold)
    assert (both["rank"] == both["rank_right"]).all()
    scores = [evaluate(found, small.gold) for found in (few, many)]
    assert scores[0].mrr == pytest.approx(scores[1].mrr)
    assert scores[0].hits_at_10 == scores[1].hits_at_10


def test_the_demo_is_aligned_well(demo, align_demo):
    alignment = align_demo()
    assert_sound(alignment, demo.left.entities.to_list(), demo.right.entities.to_list())
    metrics = evaluate(alignment, demo.gold)
    assert metrics.f1 > 0.9
    assert metrics.hits_at_1 <= metrics.hits_at_10
    assert alignment.diagnostics.plan_deviation < 0.05


def test_the_demo_is_aligned_as_published(demo, align_demo):
    published = align_demo(preset="paper")
    assert_sound(published, demo.left.entities.to_list(), demo.right.entities.to_list())
    assert len(published.links) == min(len(demo.left.entities), len(demo.right.entities))
    assert evaluate(published, demo.gold).hits_at_1 > 0.85
    assert published.diagnostics.plan_deviation < 1
    assert published.relations is published.anchors is None


@pytest.mark.parametrize("solver", SOLVERS)
def test_after_refinement_sure_links_do_not_depend_on_the_order(small, align_small, solver):
    """Which pairs are candidates may depend on it, at the margin."""
    plain = align_small(solver=solver, no_audit=True)
    other = align(in_another_order(small), solver=solver, no_audit=True)
    assert other.diagnostics.objective == pytest.approx(plain.diagnostics.objective, rel=1e-3)
    for one, two in ((plain, other), (other, plain)):
        missing = one.links.join(two.links, on=["left", "right"], how="anti")
        assert len(missing) <= 0.01 * len(one.links)
        assert not (missing["confidence"] > 0.75).any()
    scores = [evaluate(found, small.gold) for found in (plain, other)]
    for name in ("hits_at_1", "hits_at_10", "mrr", "f1"):
        assert getattr(scores[1], name) == pytest.approx(getattr(scores[0], name), abs=0.005)


@pytest.mark.parametrize("solver", SOLVERS)
def test_where_all_are_candidates_links_do_not_depend_on_the_order(solver):
    size = 60
    pair = generated(size)
    chosen = Options(solver=solver, candidates=size, top=size, exact_hops=True)
    plain, other = (align(each, chosen) for each in (pair, in_another_order(pair)))
    assert plain.diagnostics.candidate_pairs == size * size
    assert 0.5 * size < len(plain.links) < size
    for name in ("links", "candidates", "unmatched", "relations", "anchors"):
        one, two = (order_free(getattr(found, name)) for found in (plain, other))
        if name == "candidates":
            one, two = in_reach(one), in_reach(two)
            assert len(one) > size
        if name == "unmatched":  # which may have several nearest misses
            one, two = order_free(one.drop("candidate")), order_free(two.drop("candidate"))
        assert_frame_equal(one, two, rel_tol=1e-3, abs_tol=1e-3)


def in_reach(table):
    """The pairs near the best of both entities; of those far below, the order chooses equals."""
    best = pl.max_horizontal(pl.col("score").max().over(side) for side in ("left", "right"))
    return table.filter(pl.col("score") > best - 14)


def order_free(table):
    """Sorted by what it is about; ranks may differ between pairs that are all but equal."""
    return table.drop("rank", "mean_rank", strict=False).sort(
        [name for name, kind in table.schema.items() if kind == pl.String]
    )


def generated(size):
    """Two graphs that share most of their triples, with names that are mistyped here and there."""
    rng = np.random.default_rng(2)
    letters = rng.choice(list("abcdefgh"), (size, 9))
    sides = []
    for side in "lr":
        typed = letters.copy()
        typed[rng.random(letters.shape) < 0.1] = "x"
        triples = np.stack(
            [np.arange(size).repeat(2), np.arange(2 * size) % 3, np.arange(2 * size) * 7 % size],
            axis=1,
        )
        alone = rng.random(size) < 0.1
        typed[alone] = rng.choice(list("mnopqrst"), (int(alone.sum()), 9))
        triples = triples[~alone[triples[:, [0, 2]]].any(axis=1)]
        sides.append(
            Graph(
                entities=pl.Series([f"{side}{i}" for i in range(size)]),
                given_names=pl.Series(["".join(row) for row in typed]),
                relations=pl.Series(["r0", "r1", "r2"]),
                triples=triples,
            )
        )
    everyone = [side.entities for side in sides]
    gold = pl.DataFrame({"left": everyone[0], "right": everyone[1]})
    return matched_pair(left=sides[0], right=sides[1], gold=gold)


@pytest.mark.parametrize("chosen", [{"preset": "paper"}, {}, {"method": "paris"}], ids=str)
def test_the_order_of_entities_and_triples_does_not_matter(small, align_small, chosen):
    plain, other = align_small(**chosen), align(in_another_order(small), **chosen)
    for name in ("links", "candidates", "unmatched"):
        assert getattr(other, name).equals(getattr(plain, name))


def in_another_order(pair):
    """The same pair with everything in another order."""
    rng = np.random.default_rng(8)
    return matched_pair(
        left=shuffled(pair.left, rng),
        right=shuffled(pair.right, rng),
        gold=pair.gold.sample(fraction=1, shuffle=True, seed=3),
    )


def shuffled(graph, rng):
    """The same graph with entities, relations and triples in another order."""
    entities = rng.permutation(len(graph.entities))
    relations = rng.permutation(len(graph.relations))
    new_entity, new_relation = np.argsort(entities), np.argsort(relations)
    head, relation, tail = graph.triples.T
    triples = np.stack([new_entity[head], new_relation[relation], new_entity[tail]], axis=1)
    return Graph(
        entities=graph.entities.gather(entities),
        given_names=graph.names.gather(entities),
        relations=graph.relations.gather(relations),
        triples=rng.permutation(triples),
        attributes=graph.attributes.sample(fraction=1, shuffle=True, seed=5),
    )


@BOTH
def test_exact_is_at_least_as_good_as_soft_and_within_its_gap(align_small, preset):
    soft, exact = (
        align_small(preset=preset, solver=solver, among="gold", **QUICK[preset]).diagnostics
        for solver in SOLVERS
    )
    assert exact.optimality_gap == 0
    assert soft.objective <= exact.objective + 1e-3
    assert exact.objective * (1 - soft.optimality_gap) <= soft.objective + 1e-3


@BOTH
def test_equal_graphs_are_aligned_to_themselves(small, preset):
    twin = matched_pair(left=renamed(small.right.source), right=small.right.source)
    alignment = align(twin, preset=preset, **QUICK[preset])
    assert len(alignment.links) > 0.99 * len(small.right.entities)
    links = alignment.links
    assert (links["left"].str.strip_prefix("x:") == links["right"]).mean() > 0.99


@BOTH
def test_among_may_be_a_file(small, tmp_path, preset):
    path = tmp_path / "some.tsv"
    small.gold.head(20).write_csv(path, separator="\t", include_header=False)
    alignment = align(small, preset=preset, among=path)
    assert_sound(alignment, *(small.gold[side].head(20).to_list() for side in ("left", "right")))
    assert len(alignment.links) >= 18
    assert alignment.diagnostics.left_candidates == 20


@BOTH
def test_among_that_cannot_be_used_is_refused(small, tmp_path, preset):
    with pytest.raises(OptionError, match="`among` must be links, got 'gold' for a pair without"):
        align(matched_pair(left=small.left, right=small.right), preset=preset, among="gold")
    path = tmp_path / "some.tsv"
    path.write_text("nobody\tnothing\n")
    with pytest.raises(
        OptionError, match='got 1 that are not in the left one, the first is "nobody"'
    ):
        align(small, preset=preset, among=path)


@BOTH
def test_embeddings_take_the_place_of_names(tmp_path, preset):
    left, right = (
        Graph(
            entities=pl.Series([f"{side}{i}" for i in range(3)]),
            given_names=pl.Series(["same"] * 3),
            relations=pl.Series([], dtype=pl.String),
            triples=np.empty((0, 3), dtype=np.int64),
        )
        for side in "lr"
    )
    path = tmp_path / "rows.npy"
    np.save(path, np.vstack([np.eye(3), np.eye(3)[[2, 0, 1]]]))
    alignment = align(left, right, preset=preset, embeddings=path)
    assert alignment.links.select("left", "right").rows() == [
        ("l0", "r1"),
        ("l1", "r2"),
        ("l2", "r0"),
    ]


@BOTH
def test_word_features_say_how_many_words_are_unknown(small, tmp_path, preset):
    path = tmp_path / "vectors.txt"
    path.write_text("latin 1 0\nbengali 0 1\n")
    given = {"features": "hybrid", "word_vectors": path, "among": "gold", **QUICK[preset]}
    alignment = align(small, preset=preset, **given)
    found = alignment.diagnostics
    assert found.word_vectors == "vectors.txt, 2 dimensions"
    assert 0 < found.words_without_vector < found.words


@BOTH
def test_work_beyond_the_ceiling_is_refused_before_it_starts(small, preset):
    with pytest.raises(MemoryCeilingError, match="raise it with `memory`"):
        align(small, preset=preset, memory=1000)


@BOTH
def test_the_ceiling_that_is_recommended_suffices(small, preset):
    with pytest.raises(MemoryCeilingError) as caught:
        align(small, preset=preset, memory=1000, solver="hungarian", **QUICK[preset])
    ceiling = str(caught.value).rsplit(" ", 1)[1]
    align(small, preset=preset, memory=ceiling, solver="hungarian", **QUICK[preset])


PHASES = {
    "best": ["candidates", "refinement", "assignment", "audit"],
    "paper": ["profit", "assignment"],
}


@pytest.mark.parametrize("preset", PHASES)
def test_phases_are_timed_and_reported(small, preset):
    told = []
    alignment = align(small, preset=preset, among="gold", progress=lambda *step: told.append(step))
    phases = list(dict.fromkeys(phase for phase, _ in told))
    assert phases == ["inputs", "features", "neighbours", *PHASES[preset], "confidence"]
    assert list(alignment.seconds) == phases
    for phase in phases:
        shares = [share for name, share in told if name == phase]
        assert shares[0] == 0
        assert shares[-1] == 1
        assert all(0 <= share <= 1 for share in shares)
    assert all(seconds >= 0 for seconds in alignment.seconds.values())


@BOTH
def test_entities_of_low_confidence_stay_unmatched(align_small, preset):
    everyone, some = (align_small(preset=preset, min_confidence=least) for least in (0.0, 0.7))
    sure = everyone.links.filter(pl.col("confidence") >= 0.7)
    assert 0 < len(sure) < len(everyone.links)
    assert sure.equals(some.links)
    assert "unsure" not in everyone.unmatched["reason"].to_list()
    assert everyone.diagnostics.objective == some.diagnostics.objective
    dropped = everyone.links.filter(pl.col("confidence") < 0.7)
    more = ("below-threshold", "taken") if preset == "best" else ()
    assert "unsure" in some.unmatched["reason"].to_list()
    for side in ("left", "right"):
        reasons = some.unmatched.filter(pl.col("side") == side).join(
            dropped, left_on="entity", right_on=side
        )["reason"]
        assert len(reasons) == len(dropped)
        assert set(reasons) <= {"unsure", *more}


def test_unmatched_entities_have_a_reason_and_their_best_candidate(demo, align_demo):
    lonely = align_demo().unmatched
    assert set(lonely["reason"]) == {"below-threshold", "taken", "unsure"}
    low = lonely.filter(pl.col("reason") == "below-threshold")
    assert (low["score"] <= 0).all()
    lost = lonely.filter(pl.col("reason") == "taken", pl.col("side") == "left")
    assert lost["candidate"].is_in(align_demo().links["right"].implode()).all()
    for side, graph, other in (("left", demo.left, demo.right), ("right", demo.right, demo.left)):
        own = lonely.filter(pl.col("side") == side)
        assert (graph.positions(own["entity"]) >= 0).all()
        assert (other.positions(own["candidate"].drop_nulls()) >= 0).all()


@BOTH
def test_the_proof_of_an_exact_alignment_can_be_checked(align_small, preset):
    alignment = align_small(preset=preset, solver="hungarian", **QUICK[preset])
    proof = sameas.verify(alignment)
    assert proof.gap <= 1e-6
    assert proof.objective == alignment.diagnostics.objective
    lower = pl.col("price") - 0.01 * (pl.col("side") == "left")
    forged = alignment.prices.with_columns(price=lower)
    assert sameas.verify(with_parts(alignment, prices=forged)).excess > 0.009
    with pytest.raises(OptionError, match="hungarian"):
        sameas.verify(align_small(preset=preset))


@pytest.mark.parametrize("kind", ["names", "labels", "literals"])
def test_very_long_names_are_compared_by_their_beginning(tmp_path, kind):
    label = "http://www.w3.org/2000/01/rdf-schema#label" if kind == "labels" else "http://a.org/p"
    names = [f"entity {n} {'abcdefghijklmnop'[n]}{n * n}" for n in range(12)]
    graphs = []
    for side in "lr":
        texts = list(names)
        texts[3] += " and so on" * 500 + f" for ever {side}"
        uris = [f"http://{side}.org/{n}" for n in range(12)]
        triples = [(uri, "http://a.org/r", uris[n * 5 % 12]) for n, uri in enumerate(uris)]
        if kind == "names":
            named = dict(zip(uris, texts, strict=True))
            graphs.append(sameas.Graph.from_triples(triples, names=named))
            continue
        lines = [f"<{head}> <{relation}> <{tail}> .\n" for head, relation, tail in triples]
        lines += [f'<{uri}> <{label}> "{text}" .\n' for uri, text in zip(uris, texts, strict=True)]
        (tmp_path / f"{side}.nt").write_text("".join(lines))
        graphs.append(sameas.read_graph(tmp_path / f"{side}.nt"))
    found = sameas.align(*graphs)
    assert found.summary()["long_names"] == 2
    assert max(found.pair.left.names.str.len_chars()) == MOST_LETTERS
    assert ("http://l.org/3", "http://r.org/3") in set(found.links["left", "right"].rows())
    assert "entity 3" in str(found.explain("http://l.org/3"))
    assert "long_names" not in sameas.align(sameas.DEMO, preset="paper").summary()
