"""Thresholds from rivals of sure links, and how many partners an entity may have."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sameas import Graph, GraphPair, OptionError, Options, align
from sameas.assignment.open import best_of_side, likeliest
from sameas.assignment.thresholds import learn_thresholds
from sameas.candidates.pairs import every_pair, from_pairs
from strategies import matrices

CARDINALITIES = {
    "one-to-one": (True, True),
    "one-to-many": (False, True),
    "many-to-one": (True, False),
    "many-to-many": (False, False),
}

# --- thresholds ---------------------------------------------------------------------------------


def clusters(size, linked, *, links=20.0, rivals=2.0, seed=0):
    """Scores of which the first ``linked`` diagonal ones are far above all others."""
    rng = np.random.default_rng(seed)
    scores = rng.gumbel(rivals - 3, 1.0, (size, size))
    places = np.arange(linked)
    scores[places, places] = rng.normal(links, 1.5, linked)
    return scores


def nobody(size):
    return np.zeros(size, dtype=np.int8), np.zeros(size, dtype=np.int8)


@pytest.mark.parametrize("size", [20, 50, 400])
@pytest.mark.parametrize("share", [0.3, 0.7, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_threshold_is_between_links_and_the_best_of_chance(size, share, seed):
    linked = int(share * size)
    scores = clusters(size, linked, seed=seed)
    sure = np.arange(0, linked, 2)
    anchors = sure, sure, np.full(len(sure), 0.99)
    (threshold,) = learn_thresholds(every_pair(scores), anchors, nobody(size))
    links = scores[np.arange(linked), np.arange(linked)]
    assert threshold < links.min()
    alone = scores[linked:, linked:]
    if alone.size:
        assert threshold > np.quantile(alone.max(axis=1), 0.5)


def test_higher_rivals_give_a_higher_threshold():
    found = []
    for rivals in (-5.0, 0.0, 5.0):
        sure = np.arange(40)
        anchors = sure, sure, np.full(40, 0.99)
        scores = every_pair(clusters(100, 60, rivals=rivals))
        found.append(float(learn_thresholds(scores, anchors, nobody(100))[0]))
    assert found == sorted(found)
    assert found[2] - found[0] > 5


def test_without_two_anchors_nothing_tells():
    scores = every_pair(clusters(10, 5))
    none = np.zeros(0, dtype=np.int64)
    assert learn_thresholds(scores, (none, none, np.zeros(0)), nobody(10)) is None
    one = np.array([0])
    assert learn_thresholds(scores, (one, one, np.ones(1)), nobody(10)) is None


def test_each_group_has_a_threshold_of_its_own():
    size = 60
    scores = np.full((2 * size, 2 * size), -np.inf)
    scores[:size, :size] = clusters(size, 40, rivals=0.0)
    scores[size:, size:] = clusters(size, 40, rivals=8.0, seed=1)
    left, right = np.nonzero(np.isfinite(scores))
    candidates = from_pairs(scores.shape, left, right, scores[left, right].astype(np.float32))
    sure = np.concatenate([np.arange(0, 40, 2), size + np.arange(0, 40, 2)])
    groups = np.repeat([0, 1], size).astype(np.int8)
    low, high = learn_thresholds(candidates, (sure, sure, np.ones(40)), (groups, groups))
    assert high - low > 4


def test_a_group_without_anchors_is_judged_by_the_others():
    scores = clusters(60, 40)
    sure = np.arange(0, 30)
    groups = np.zeros(60, dtype=np.int8)
    groups[50:] = 1
    inside = groups[:, None] == groups[None]
    left, right = np.nonzero(inside)
    candidates = from_pairs(scores.shape, left, right, scores[left, right].astype(np.float32))
    found = learn_thresholds(candidates, (sure, sure, np.ones(30)), (groups, groups))
    assert found.shape == (2,)
    assert np.isfinite(found).all()
    # Where hardly any entity is linked, a link must be better than where most are.
    assert found[1] > found[0]


def test_the_order_of_anchors_does_not_count():
    scores = every_pair(clusters(50, 30))
    order = np.random.default_rng(1).permutation(30)
    trust = np.linspace(0.91, 0.99, 30)
    found = [
        learn_thresholds(scores, (some, some, trust[some]), nobody(50))
        for some in (np.arange(30), order)
    ]
    assert_allclose(*found)


# --- how many partners --------------------------------------------------------------------------


@settings(deadline=None, max_examples=30)
@given(
    matrices(-20, 20, max_side=6),
    st.sampled_from(sorted(CARDINALITIES)),
    st.randoms(use_true_random=False),
)
def test_links_have_as_many_partners_as_the_cardinality_says(scores, cardinality, random):
    single = CARDINALITIES[cardinality]
    assert Options(cardinality=cardinality).single == single
    candidates = every_pair(scores)
    places = np.arange(scores.size)
    probability = np.array([random.random() for _ in range(scores.size)])
    kept = likeliest(candidates, places, probability, single)
    for ends, one in zip((candidates.left, candidates.right), single, strict=True):
        if one:
            assert len(set(ends[kept].tolist())) == len(kept)
    if cardinality == "many-to-many":
        assert len(kept) == scores.size
    elif cardinality != "one-to-one" and scores.size:
        likely = probability.reshape(scores.shape).max(axis=1 if single[0] else 0)
        assert_allclose(np.sort(probability[kept]), np.sort(likely))


@settings(deadline=None, max_examples=30)
@given(matrices(-3, 3, max_side=6))
def test_the_best_pairs_of_a_side_are_all_that_tie(scores):
    scores = np.round(scores)
    candidates = every_pair(scores)
    for side in (0, 1):
        best = scores.max(axis=1 - side, keepdims=True) if scores.size else scores
        expected = np.flatnonzero((scores == best).ravel())
        assert best_of_side(candidates, side).tolist() == expected.tolist()


PEOPLE = [
    *("Adelheid", "Boris", "Clemens", "Dorothea", "Eberhard", "Friedrich", "Gertrud", "Heinrich"),
    *("Ingeborg", "Johannes", "Katharina", "Leopold", "Mathilde", "Norbert", "Ottilie", "Philipp"),
    *("Quirin", "Rosalind", "Sebastian", "Theodor"),
]


def graph_of(prefix, twice=()):
    """People who know each other; some of them are there twice."""
    keys = {name: [f"{prefix}{name}"] for name in PEOPLE}
    for name in twice:
        keys[name].append(f"{prefix}{name}-again")
    triples = [
        (one, relation, other)
        for relation, step in (("knows", 1), ("likes", 3))
        for a, b in zip(PEOPLE, PEOPLE[step:], strict=False)
        for one in keys[a]
        for other in keys[b]
    ]
    names = {key: name for name, every in keys.items() for key in every}
    return Graph.from_triples(triples, names=names)


def links_of(alignment):
    return set(alignment.links.select("left", "right").iter_rows())


TWICE = ("Clemens", "Heinrich", "Mathilde", "Quirin")
ONCE = {(f"l:{name}", f"r:{name}") for name in PEOPLE}


def test_one_to_many_links_an_entity_with_both_of_its_duplicates():
    pair = GraphPair(left=graph_of("l:"), right=graph_of("r:", TWICE))
    again = {(f"l:{name}", f"r:{name}-again") for name in TWICE}
    assert links_of(align(pair, cardinality="one-to-many")) == ONCE | again
    alone = links_of(align(pair, min_confidence=0.0))
    assert len(alone) <= len(PEOPLE)
    assert len({left for left, _ in alone}) == len(alone)


def test_many_to_one_is_one_to_many_from_the_other_side():
    left, right = graph_of("l:", TWICE), graph_of("r:")
    found = links_of(align(GraphPair(left=left, right=right), cardinality="many-to-one"))
    assert found == ONCE | {(f"l:{name}-again", f"r:{name}") for name in TWICE}


def test_many_to_many_links_all_duplicates():
    pair = GraphPair(left=graph_of("l:", TWICE[:2]), right=graph_of("r:", TWICE[:2]))
    found = links_of(align(pair, cardinality="many-to-many"))
    every = {
        (f"l:{name}{one}", f"r:{name}{other}")
        for name in TWICE[:2]
        for one in ("", "-again")
        for other in ("", "-again")
    }
    assert found == ONCE | every


def test_seeds_keep_to_the_cardinality():
    pair = GraphPair(left=graph_of("l:"), right=graph_of("r:"))
    seeds = [("l:Boris", "r:Boris"), ("l:Boris", "r:Clemens")]
    with pytest.raises(OptionError, match="must name a left entity once"):
        align(pair, seeds=seeds)
    with pytest.raises(OptionError, match="must name a left entity once"):
        align(pair, seeds=seeds, cardinality="many-to-one")
    assert set(seeds) <= links_of(align(pair, seeds=seeds, cardinality="one-to-many"))


def test_the_exact_solver_is_for_one_to_one_links():
    with pytest.raises(OptionError, match="`solver` has no effect"):
        Options(solver="hungarian", cardinality="one-to-many")


def test_duplicates_in_a_chain_are_all_linked():
    # The neighbours of duplicates are duplicates too.
    chain = PEOPLE[:10]
    pair = GraphPair(left=graph_of("l:"), right=graph_of("r:", chain))
    found = links_of(align(pair, cardinality="one-to-many"))
    assert found >= ONCE
    again = {(f"l:{a}", f"r:{a}-again") for a, _ in pairwise(chain)}
    assert len(again & found) >= 0.8 * len(again)
    assert all(left[2:] == right[2:].removesuffix("-again") for left, right in found)
