"""What anchored neighbours say about pairs, against loops over all pairs and edges."""

# mypy: disable-error-code="call-arg"
from __future__ import annotations

import math
from dataclasses import replace

import networkx as nx
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import reference
import sameas
from pairs import matched_pair
from sameas import Graph, GraphPair
from sameas.candidates.pairs import from_pairs
from sameas.graph.semantics.understanding import understand
from sameas.options.tuning import TUNING
from sameas.refinement import evidence
from sameas.refinement.evidence import Anchors, gather_evidence, match_relations
from sameas.similarity.edges import edges_of
from strategies import kindred, pairs, with_further_names

FAR = 10**6
hubs = st.sampled_from([FAR, 3, 2, 1])
both = with_further_names(st.one_of(pairs(max_triples=14), kindred()))
"""Two graphs with several names: unrelated ones, and such that say much the same."""


# --- in and out of positions --------------------------------------------------------------------


def shared_values(pair):
    left, right = pair.left, pair.right
    texts = [
        {name for _, name in reference.names_as_values(*sides)}
        for sides in ((left, right), (right, left))
    ]
    return sorted(texts[0] & texts[1])


def labels(graph):
    """The relations of a graph, in the order of their numbers, as the reference calls them."""
    count = len(graph.relations)
    return [
        *(("forward", r) for r in range(count)),
        *(("inverse", r) for r in range(count)),
        ("name",),
    ]


def as_told(edges, graph, shared):
    """Edges as the reference tells them."""
    kinds = labels(graph)
    nodes = [("entity", i) for i in range(len(graph.entities))] + [("value", v) for v in shared]
    assert edges.relations == len(kinds)
    assert edges.nodes == len(nodes)
    rows = zip(edges.entity, edges.relation, edges.far, edges.fans, strict=True)
    told = [((int(x), kinds[r], nodes[y]), int(fans)) for x, r, y, fans in rows]
    assert len(dict(told)) == len(told) == len(edges)
    return dict(told)


def assert_in_order(edges):
    rows = list(
        zip(edges.entity.tolist(), edges.far.tolist(), edges.relation.tolist(), strict=True)
    )
    assert rows == sorted(rows)
    for i in range(len(edges.starts) - 1):
        own = edges.entity[edges.starts[i] : edges.starts[i + 1]]
        assert (own == i).all()
    assert edges.starts[0] == 0
    assert edges.starts[-1] == len(edges)


@st.composite
def situations(draw, drawn=both):
    """A pair, its edges by the package and by the reference, and some anchors with trust."""
    pair, hub = draw(drawn), draw(hubs)
    sizes = len(pair.left.entities), len(pair.right.entities)
    left, right = (draw(st.permutations(range(size))) for size in sizes)
    if draw(st.booleans()):  # those that are the same in kindred graphs
        place = {uri[1:]: j for j, uri in enumerate(pair.right.entities)}
        left = [i for i in left if pair.left.entities[i][1:] in place]
        right = [place[pair.left.entities[i][1:]] for i in left]
    count = min(len(left), len(right)) - draw(st.integers(0, 2))
    left, right = left[: max(count, 0)], right[: max(count, 0)]
    count = len(left)
    trust = draw(st.lists(st.sampled_from([0.31, 0.5, 0.9, 1.0]), min_size=count, max_size=count))
    return (
        pair,
        edges_of(pair, hub=hub),
        (
            reference.edges(pair.left, pair.right, hub=hub),
            reference.edges(pair.right, pair.left, hub=hub),
        ),
        Anchors(np.array(left, dtype=np.int64), np.array(right, dtype=np.int64), np.array(trust)),
    )


def partners(anchors):
    return dict(zip(anchors.left.tolist(), anchors.right.tolist(), strict=True))


def trusted(anchors):
    return dict(zip(anchors.left.tolist(), anchors.trust.tolist(), strict=True))


# --- edges --------------------------------------------------------------------------------------


@pytest.mark.parametrize("relations", [True, False])
@settings(deadline=None, max_examples=30)
@given(pair=both, hub=hubs)
def test_edges_equal_those_listed_one_by_one(relations, pair, hub):
    shared = shared_values(pair)
    found = edges_of(pair, hub=hub, relations=relations)
    for edges, own, other in zip(
        found, (pair.left, pair.right), (pair.right, pair.left), strict=True
    ):
        assert_in_order(edges)
        expected = reference.edges(own, other, hub=hub, relations=relations)
        assert as_told(edges, own, shared) == expected


def small(triples, size=4, further=(), prefix="e"):
    """A graph of positions without first names, with two relations and some further names."""
    schema = {"entity": pl.String, "name": pl.String}
    return Graph(
        entities=pl.Series([f"{prefix}{i}" for i in range(size)], dtype=pl.String),
        given_names=pl.Series([""] * size, dtype=pl.String),
        relations=pl.Series(["p", "q"]),
        triples=np.array(triples, dtype=np.int64).reshape(-1, 3),
        alternatives=pl.DataFrame(
            [(f"{prefix}{i}", name) for i, name in further], schema=schema, orient="row"
        ),
    )


def rows(edges):
    columns = edges.entity, edges.relation, edges.far, edges.fans
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_each_triple_is_read_both_ways_once_and_loops_are_left_out():
    graph = small([(0, 1, 2), (0, 1, 2), (3, 0, 3)])
    edges, _ = edges_of(matched_pair(left=graph, right=small([])), hub=FAR)
    # Backwards, relation 1 of 2 is number 3.
    assert rows(edges) == [(0, 1, 2, 1), (2, 3, 0, 1)]
    assert edges.starts.tolist() == [0, 1, 1, 2, 2]


def test_a_far_node_that_too_many_have_through_one_relation_is_left_out():
    graph = small([(0, 0, 3), (1, 0, 3), (2, 1, 3)])
    pair = matched_pair(left=graph, right=small([]))
    assert rows(edges_of(pair, hub=2)[0]) == [
        (0, 0, 3, 2),
        (1, 0, 3, 2),
        (2, 1, 3, 1),
        (3, 2, 0, 1),
        (3, 2, 1, 1),
        (3, 3, 2, 1),
    ]
    # The three still have others behind them, each for itself.
    assert rows(edges_of(pair, hub=1)[0]) == [
        (2, 1, 3, 1),
        (3, 2, 0, 1),
        (3, 2, 1, 1),
        (3, 3, 2, 1),
    ]


def test_names_count_only_if_both_graphs_have_them_and_have_the_same_number_on_both_sides():
    left = small([], size=2, further=[(0, "1984"), (0, " 1984 "), (1, "Rome")])
    right = small([], size=3, further=[(2, "1984"), (0, "ROME"), (1, "2000")])
    edges = edges_of(matched_pair(left=left, right=right), hub=FAR)
    # In order of the names, after the entities: 1984, rome. Names follow 2 times 2 relations.
    assert rows(edges[0]) == [(0, 4, 2, 1), (1, 4, 3, 1)]
    assert rows(edges[1]) == [(0, 4, 4, 1), (2, 4, 3, 1)]
    assert [side.nodes for side in edges] == [4, 5]
    assert [side.relations for side in edges] == [5, 5]


def test_a_name_that_too_many_have_is_left_out_on_that_side_alone():
    left = small([], further=[(0, "x"), (1, "x")])
    right = small([], further=[(0, "x")])
    edges = edges_of(matched_pair(left=left, right=right), hub=1)
    assert rows(edges[0]) == []
    assert rows(edges[1]) == [(0, 4, 4, 1)]


def test_without_relations_only_the_direction_is_left():
    graph = small([(0, 1, 2), (0, 0, 2), (2, 1, 0)])
    edges, _ = edges_of(matched_pair(left=graph, right=small([])), hub=FAR, relations=False)
    assert rows(edges) == [(0, 0, 2, 1), (0, 2, 2, 1), (2, 0, 0, 1), (2, 2, 0, 1)]
    assert_array_equal(graph.triples[:, 1], [1, 0, 1])


# --- which relation matches which ---------------------------------------------------------------


@settings(deadline=None, max_examples=30)
@given(situations())
def test_relation_matches_equal_those_counted_edge_by_edge(drawn):
    pair, edges, listed, anchors = drawn
    found = match_relations(*edges, anchors)
    matches, covers = reference.relation_matches(*listed, partners(anchors))
    kinds = labels(pair.left), labels(pair.right)
    told = [
        ((kinds[0][r], kinds[1][other]), (match, seen))
        for r, other, match, seen in zip(
            found.left, found.right, found.match, found.seen, strict=True
        )
    ]
    assert [(a, b) for a, b in zip(found.left, found.right, strict=True)] == sorted(
        zip(found.left, found.right, strict=True)
    )
    assert len(told) == len(matches)
    assert dict(told).keys() == matches.keys()
    for both_kinds, (match, seen) in told:
        assert matches[both_kinds] == (pytest.approx(match), seen)
    for cover, expected, own in zip(
        (found.left_cover, found.right_cover), covers, kinds, strict=True
    ):
        assert_allclose(cover, [expected.get(kind, 1 / 4) for kind in own])


def test_a_relation_and_its_inverse_under_another_name_match():
    left = small([(0, 0, 1), (2, 0, 3), (0, 1, 2)])
    right = small([(1, 1, 0), (3, 1, 2), (0, 0, 2)])
    edges = edges_of(matched_pair(left=left, right=right), hub=FAR)
    everyone = np.arange(4)
    found = match_relations(*edges, Anchors(everyone, everyone, np.ones(4)))
    told = dict(zip(zip(found.left, found.right, strict=True), found.match, strict=True))
    # p is q backwards, on two edges; q is p, on one.
    assert told == pytest.approx({(0, 3): 2 / 5, (2, 1): 2 / 5, (1, 0): 1 / 4, (3, 2): 1 / 4})
    assert_allclose(found.left_cover, [3 / 6, 2 / 5, 3 / 6, 2 / 5, 1 / 4])


def test_matches_that_are_seldom_are_dropped_and_do_not_cover():
    many = 40
    left = small([(i, 0, many) for i in range(many)], size=many + 1)
    right = small([(i, int(i > 0), many) for i in range(many)], size=many + 1)
    edges = edges_of(matched_pair(left=left, right=right), hub=FAR)
    everyone = np.arange(many + 1)
    found = match_relations(*edges, Anchors(everyone, everyone, np.ones(many + 1)))
    # p and p meet once in 40 edges and one, 1 / sqrt(43 * 4) = .076; p and q on the 39 others.
    assert len(found.left) == 4
    assert found.left_cover[0] == pytest.approx(41 / 44)
    tuning = TUNING.changed(evidence={"least": 0.1})
    anchors = Anchors(everyone, everyone, np.ones(many + 1))
    strict = match_relations(*edges, anchors, tuning=tuning)
    assert strict.right.tolist() == [1, 3]
    assert strict.left_cover[0] == pytest.approx(40 / 44)


# --- evidence -----------------------------------------------------------------------------------


@st.composite
def questions(draw):
    """A situation, and some of the pairs as candidates."""
    drawn = draw(situations())
    pair = drawn[0]
    shape = len(pair.left.entities), len(pair.right.entities)
    every = [(i, j) for i in range(shape[0]) for j in range(shape[1])]
    chosen = draw(st.lists(st.sampled_from(every), unique=True)) if every else []
    if draw(st.booleans()):
        chosen = every
    left, right = np.array(chosen, dtype=np.int64).reshape(-1, 2).T
    return (*drawn, from_pairs(shape, left, right, np.zeros(len(chosen), dtype=np.float32)))


def cells(pairs):
    """Pairs of positions, shape (2, k), as a list."""
    return list(zip(*pairs.tolist(), strict=True))


def assert_as_by_loops(edges, listed, anchors, candidates, enter):
    old, new, about_new = gather_evidence(
        *edges, anchors, match_relations(*edges, anchors), candidates, enter=enter
    )
    matches, covers = reference.relation_matches(*listed, partners(anchors))
    expected = reference.evidence(
        *listed, partners(anchors), trusted(anchors), matches, covers, candidates.shape
    )
    known = list(zip(candidates.left.tolist(), candidates.right.tolist(), strict=True))
    assert old.shape == (3, len(known))
    for place, pair in enumerate(known):
        assert_allclose(old[:, place], expected[pair], rtol=1e-5, atol=1e-6)
    added = cells(new)
    assert added == sorted(set(added))
    for place, pair in enumerate(added):
        assert_allclose(about_new[:, place], expected[pair], rtol=1e-5, atol=1e-6)
    others = {pair: votes for pair, (votes, _, _) in expected.items() if pair not in known}
    assert set(added) <= {pair for pair, votes in others.items() if votes >= enter - 1e-9}
    assert set(added) >= {pair for pair, votes in others.items() if votes > enter + 1e-9}
    return expected


@settings(deadline=None, max_examples=30)
@given(questions(), st.sampled_from([1e-9, 0.03, 0.3, math.inf]))
def test_evidence_equals_that_of_loops_over_all_pairs(drawn, enter):
    assert_as_by_loops(*drawn[1:], enter)


@pytest.mark.parametrize("seed", range(12))
def test_evidence_in_larger_graphs_equals_that_of_loops(seed):
    rng = np.random.default_rng(seed)
    size, truth = 14, rng.permutation(14)
    triples = rng.integers(0, (size, 2, size), (60, 3))
    names = [(int(i), f"v{rng.integers(4)}") for i in rng.integers(0, size, 12)]
    other = triples[rng.random(len(triples)) < 0.8]
    other = np.stack([truth[other[:, 0]], 1 - other[:, 1], truth[other[:, 2]]], axis=1)
    turned = [(int(truth[i]), name.upper()) for i, name in names[:9]]
    pair = matched_pair(
        left=small(triples, size, names), right=small(other, size, turned, prefix="r")
    )
    hub = (FAR, 3)[seed % 2]
    sides = (pair.left, pair.right), (pair.right, pair.left)
    known = rng.random(size) < 0.7
    anchors = Anchors(np.flatnonzero(known), truth[known], rng.uniform(0.3, 1, known.sum()))
    chosen = np.flatnonzero(rng.random(size * size) < 0.5)
    expected = assert_as_by_loops(
        edges_of(pair, hub=hub),
        tuple(reference.edges(*graphs, hub=hub) for graphs in sides),
        anchors,
        from_pairs((size, size), *np.divmod(chosen, size), np.zeros(len(chosen), dtype=np.float32)),
        enter=0.03,
    )
    assert sum(votes > 0.03 for votes, _, _ in expected.values()) > 10


@settings(deadline=None, max_examples=25)
@given(questions())
def test_evidence_does_not_depend_on_how_rows_are_cut(drawn):
    _, edges, _, anchors, candidates = drawn
    relations = match_relations(*edges, anchors)
    answers = []
    for size in (evidence.PART, 1, 3):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(evidence, "PART", size)
            answers.append(gather_evidence(*edges, anchors, relations, candidates, enter=0.01))
    for answer in answers[1:]:
        for found, expected in zip(answer, answers[0], strict=True):
            assert_array_equal(found, expected)


@settings(deadline=None, max_examples=25)
@given(situations())
def test_evidence_is_the_same_from_the_other_side(drawn):
    pair, edges, _, anchors = drawn
    shape = len(pair.left.entities), len(pair.right.entities)
    left, right = (index.ravel() for index in np.indices(shape))
    nothing = np.zeros(len(left), dtype=np.float32)
    there, _, _ = gather_evidence(
        *edges,
        anchors,
        match_relations(*edges, anchors),
        from_pairs(shape, left, right, nothing),
        enter=math.inf,
    )
    turned = edges[::-1]
    mirrored = Anchors(anchors.right, anchors.left, anchors.trust)
    back, _, _ = gather_evidence(
        *turned,
        mirrored,
        match_relations(*turned, mirrored),
        from_pairs(shape[::-1], right, left, nothing),
        enter=math.inf,
    )
    votes, left_lacks, right_lacks = (column.reshape(shape[::-1]).T.ravel() for column in back)
    assert_allclose(there, [votes, right_lacks, left_lacks], atol=1e-6)


def test_a_neighbour_speaks_once_for_a_pair_through_the_relations_that_say_most():
    # 0 has 1 through both relations; so has the right one. 2 and 3 make p surer than q.
    left = small([(0, 0, 1), (0, 1, 1), (2, 0, 3)])
    edges = edges_of(matched_pair(left=left, right=left), hub=FAR)
    everyone = np.arange(4)
    anchors = Anchors(everyone, everyone, np.full(4, 0.8))
    relations = match_relations(*edges, anchors)
    pair = from_pairs((4, 4), np.array([0]), np.array([0]), np.zeros(1, dtype=np.float32))
    (votes, left_lacks, _), _, _ = gather_evidence(*edges, anchors, relations, pair, enter=math.inf)
    # c(p, p) = 2 of 2 edges: 2 / 5.
    assert_allclose(votes, -math.log(1 - 0.8 * 2 / 5), rtol=1e-5)
    assert_allclose(left_lacks, 0, atol=1e-6)


def test_few_say_more_than_many():
    # 3 is the neighbour of 0, 1 and 2 on the left, and of 0 alone on the right.
    left = small([(0, 0, 3), (1, 0, 3), (2, 0, 3)])
    right = small([(0, 0, 3)])
    edges = edges_of(matched_pair(left=left, right=right), hub=FAR)
    anchors = Anchors(np.array([3, 0]), np.array([3, 0]), np.array([0.5, 1.0]))
    relations = match_relations(*edges, anchors)
    nobody = from_pairs((4, 4), *np.zeros((2, 0), dtype=np.int64), np.zeros(0, dtype=np.float32))
    _, new, (votes, _, right_lacks) = gather_evidence(
        *edges, anchors, relations, nobody, enter=0.01
    )
    assert cells(new) == [(0, 0), (1, 0), (2, 0), (3, 3)]
    match = 1 / 4  # one edge between anchors on either side
    assert_allclose(votes[:3], -math.log(1 - 0.5 * match / math.sqrt(3)), rtol=1e-5)
    assert_allclose(votes[3], -math.log(1 - match), rtol=1e-5)
    # With others of its 1 + 1 of 1 + 4 edges, 3 lacks two of its three on the right: not anchored.
    assert_allclose(right_lacks, 0, atol=1e-6)


@pytest.mark.parametrize("size", [evidence.PART, 10])
def test_as_many_pairs_come_out_as_there_are(size):
    crowd = 45
    graph = small([(i, 0, crowd) for i in range(crowd)], size=crowd + 1)
    edges = edges_of(matched_pair(left=graph, right=graph), hub=crowd)
    anchors = Anchors(np.array([0, crowd]), np.array([0, crowd]), np.ones(2))
    relations = match_relations(*edges, anchors)
    nobody = from_pairs(
        (crowd + 1,) * 2, *np.zeros((2, 0), dtype=np.int64), np.zeros(0, dtype=np.float32)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evidence, "PART", size)
        _, new, found = gather_evidence(*edges, anchors, relations, nobody, enter=1e-3)
    every = [(i, j) for i in range(crowd) for j in range(crowd)]
    assert cells(new) == [*every, (crowd, crowd)]
    assert_allclose(found[0, :-1], -math.log(1 - 1 / 4 / crowd), rtol=1e-5)


def test_one_neighbour_never_says_all_and_trust_tempers_it():
    many = 400
    graph = small([(i, 0, i + many) for i in range(many)], size=2 * many)
    edges = edges_of(matched_pair(left=graph, right=graph), hub=FAR)
    everyone = np.arange(2 * many)
    pair = from_pairs((2 * many,) * 2, everyone[:1], everyone[:1], np.zeros(1, dtype=np.float32))
    for trust in (1.0, 0.5):
        anchors = Anchors(everyone, everyone, np.full(2 * many, trust))
        relations = match_relations(*edges, anchors)
        assert relations.match.max() > 0.95
        found, _, _ = gather_evidence(*edges, anchors, relations, pair, enter=math.inf)
        assert_allclose(found[0], -math.log(1 - 0.95 * trust), rtol=1e-5)


@pytest.mark.parametrize("sizes", [(0, 0), (0, 3), (3, 0), (2, 2)])
def test_empty_graphs_say_nothing(sizes):
    left, right = (small([], size=size) for size in sizes)
    edges = edges_of(matched_pair(left=left, right=right), hub=FAR)
    assert [len(side) for side in edges] == [0, 0]
    none = np.zeros(0, dtype=np.int64)
    anchors = Anchors(none, none, np.zeros(0))
    relations = match_relations(*edges, anchors)
    assert len(relations.left) == 0
    assert_allclose(relations.left_cover, [1 / 4] * 5)
    nobody = from_pairs(sizes, none, none, np.zeros(0, dtype=np.float32))
    old, new, about_new = gather_evidence(*edges, anchors, relations, nobody, enter=0.0)
    assert old.shape == about_new.shape == (3, 0)
    assert new.shape == (2, 0)


def test_names_speak_without_any_anchor():
    left = small([], size=2, further=[(0, "1984"), (1, "1985")])
    right = small([], size=2, further=[(1, "1984"), (0, "1985")])
    edges = edges_of(matched_pair(left=left, right=right), hub=FAR)
    one = Anchors(np.array([0]), np.array([1]), np.array([1.0]))
    relations = match_relations(*edges, one)
    assert_allclose(relations.match, [1 / 4])
    nobody = from_pairs((2, 2), *np.zeros((2, 0), dtype=np.int64), np.zeros(0, dtype=np.float32))
    _, new, found = gather_evidence(*edges, one, relations, nobody, enter=0.01)
    assert cells(new) == [(0, 1), (1, 0)]
    assert_allclose(found[0], -math.log(1 - 1 / 4), rtol=1e-5)


def test_names_are_values_where_an_entity_has_several():
    left, right = small([(0, 0, 1)]), small([(0, 0, 1)])
    named = replace(left, given_names=pl.Series(["Ada", "", "", ""]))
    others = pl.DataFrame({"entity": ["e3"], "name": ["ADA"]})
    plain, several = (
        edges_of(matched_pair(left=named, right=side), hub=100)
        for side in (right, replace(right, alternatives=others))
    )
    assert [len(edges) for edges in plain] == [2, 2]
    # Ada's name, and the further one of e3.
    kinds = several[0].relations - 1, several[1].relations - 1
    assert several[0].entity[kinds[0] == several[0].relation].tolist() == [0]
    assert several[1].entity[kinds[1] == several[1].relation].tolist() == [3]


def networkx_pair(directed, *, flipped):
    """Two graphs of the same edges; ids of the right one are in the other order if flipped."""
    edges = [(0, 1), (1, 2), (3, 1), (2, 4), (5, 3), (4, 0), (5, 0)]
    names = ["amber fox", "birch owl", "cedar elk", "delta hare", "ember wolf", "flint crow"]
    graphs = []
    for label in (lambda n: f"a{n}", lambda n: f"b{9 - n if flipped else n}"):
        graph = nx.DiGraph() if directed else nx.Graph()
        graph.add_nodes_from((label(n), {"name": name}) for n, name in enumerate(names))
        graph.add_edges_from((label(head), label(tail)) for head, tail in edges)
        graphs.append(Graph.from_networkx(graph))
    return GraphPair(left=graphs[0], right=graphs[1])


def test_an_edge_without_direction_is_one_relation_from_both_ends():
    edges, _ = edges_of(understand(networkx_pair(False, flipped=False)), hub=FAR)
    assert set(edges.relation) == {0}
    assert len(edges) == 2 * 7
    edges, _ = edges_of(understand(networkx_pair(True, flipped=False)), hub=FAR)
    assert set(edges.relation) == {0, 1}


def test_how_ids_are_sorted_says_nothing_of_edges_without_direction():
    scores = []
    for flipped in (False, True):
        found = sameas.align(networkx_pair(False, flipped=flipped), no_audit=True)
        assert found.relations["edges"].to_list() == [7]
        assert not found.relations["inverse"].any()
        scores.append(dict(zip(found.links["left"], found.links["score"], strict=True)))
    assert scores[0] == pytest.approx(scores[1], abs=1e-5)
    assert len(scores[0]) == 6
