"""Average linkage over sparse scores, against SciPy's on all pairs."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage

from sameas.assignment.clustering import ScoredPairs, average_linkage, less_for_rivals

ABSENT = -7.0


@st.composite
def scored_pairs(draw):
    """Some of the pairs of a few entities, with scores of which no two have the same mean."""
    size = draw(st.integers(2, 12))
    every = [(i, j) for i in range(size) for j in range(i + 1, size)]
    chosen = draw(st.lists(st.sampled_from(every), unique=True))
    places = draw(st.permutations(range(len(every))))
    scores = 6.0 * np.sin(np.array(places[: len(chosen)]) + 1.0)
    left, right = np.array(chosen, dtype=np.int64).reshape(-1, 2).T
    return ScoredPairs(size, left, right, scores)


def dense(pairs, absent=ABSENT):
    """The scores of all pairs."""
    scores = np.full((pairs.size, pairs.size), absent)
    scores[pairs.left, pairs.right] = scores[pairs.right, pairs.left] = pairs.scores
    return scores


def groups(labels):
    """The sets of entities with the same label."""
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


@given(scored_pairs())
def test_clusters_are_those_of_scipy_cut_at_zero(pairs):
    scores = dense(pairs)
    distances = 100.0 - scores[np.triu_indices(pairs.size, 1)]
    expected = fcluster(linkage(distances, "average"), 100.0 - 1e-9, "distance")
    assert groups(average_linkage(pairs, absent=ABSENT).labels) == groups(expected)


@given(scored_pairs())
def test_last_joins_are_of_two_halves_and_their_mean(pairs):
    clustering, scores = average_linkage(pairs, absent=ABSENT), dense(pairs)
    for label, join in clustering.last_joins.items():
        members = set(np.flatnonzero(clustering.labels == label).tolist())
        assert set(join.one) | set(join.other) == members
        assert not set(join.one) & set(join.other)
        assert np.isclose(join.score, scores[np.ix_(join.one, join.other)].mean())
        assert join.score > 0
        assert label == min(members)


@given(scored_pairs(), st.randoms(use_true_random=False))
def test_the_order_of_pairs_does_not_matter(pairs, random):
    order = list(range(len(pairs.scores)))
    random.shuffle(order)
    other = ScoredPairs(pairs.size, pairs.right[order], pairs.left[order], pairs.scores[order])
    expected = average_linkage(pairs, absent=ABSENT).labels
    assert (average_linkage(other, absent=ABSENT).labels == expected).all()


def test_equal_scores_are_joined_in_one_cluster():
    left, right = np.triu_indices(6, 1)
    pairs = ScoredPairs(6, left, right, np.ones(len(left)))
    assert (average_linkage(pairs, absent=ABSENT).labels == 0).all()


def test_a_chain_is_no_cluster():
    left = np.arange(9)
    pairs = ScoredPairs(10, left, left + 1, np.full(9, 2.0))
    assert len(groups(average_linkage(pairs, absent=ABSENT).labels)) == 5


def test_what_is_given_is_together_whatever_its_score():
    pairs = ScoredPairs(4, np.array([0]), np.array([1]), np.array([3.0]))
    given_pairs = np.array([[1, 2], [2, 3]])
    clustering = average_linkage(pairs, absent=-0.5, together=given_pairs)
    assert groups(clustering.labels) == {frozenset({0, 1, 2, 3})}
    apart = average_linkage(pairs, absent=ABSENT, together=given_pairs)
    assert groups(apart.labels) == {frozenset({0}), frozenset({1, 2, 3})}


def listed(size, rows):
    """Pairs with scores from rows of left, right and score."""
    left, right, scores = zip(*rows, strict=True)
    return ScoredPairs(size, np.array(left), np.array(right), np.array(scores, dtype=float))


def test_a_further_partner_costs_where_sure_pairs_are_two_each():
    twos = [(2 * k, 2 * k + 1, 20.0 + k) for k in range(10)]
    hub = [(20, other, 1.0 + 0.01 * other) for other in range(21, 30)]
    pairs = listed(30, twos + hub)
    less = less_for_rivals(pairs)
    assert (less.scores[:10] == pairs.scores[:10]).all()
    assert less.scores[-1] == pairs.scores[-1]  # the best of the hub and its only partner
    assert (less.scores[10:-1] < 0).all()


def test_a_further_partner_costs_nothing_where_duplicates_come_in_clusters():
    every = [
        (4 * c + i, 4 * c + j, 5.0 + (7 * c + 3 * i + j) % 11)
        for c in range(10)
        for i in range(4)
        for j in range(i + 1, 4)
    ]
    pairs = listed(40, every)
    assert (less_for_rivals(pairs).scores >= pairs.scores - 0.5).all()


@given(scored_pairs())
def test_what_a_further_partner_costs_raises_no_score_and_spares_the_best(pairs):
    less = less_for_rivals(pairs)
    assert (less.scores <= pairs.scores).all()
    if len(pairs.scores):
        best = int(pairs.scores.argmax())
        assert less.scores[best] == pairs.scores[best]
