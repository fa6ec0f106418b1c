"""PARIS: probabilities worked out on paper, and against a twin that follows the formulas."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sameas
from sameas.formats.pair import read_pair
from sameas.graph.graph import Graph
from sameas.options.tuning import TUNING
from sameas.pipeline.paris import Equivalences, maximal_links, paris

THETA = TUNING.paris.theta


def graph(names: dict[str, str], *triples: tuple[str, str, str]) -> Graph:
    return Graph.from_triples(
        pl.DataFrame(
            triples,
            schema={"head": pl.String, "relation": pl.String, "tail": pl.String},
            orient="row",
        ),
        entities=pl.Series(list(names), dtype=pl.String),
        names=pl.Series(list(names.values()), dtype=pl.String),
    )


def by_uri(left: Graph, right: Graph, found: Equivalences) -> dict[tuple[str, str], float]:
    pairs = found.pairs
    uris = left.entities.gather(pairs["left"]), right.entities.gather(pairs["right"])
    return dict(zip(zip(*uris, strict=True), pairs["probability"], strict=True))


def relations_of(found: Equivalences) -> dict[tuple[str, str, bool], tuple[float, float]]:
    return {
        (left, right, inverse): shares for left, right, inverse, *shares in found.relations.rows()
    }


# --- worked out on paper


def test_first_round_weighs_names_by_how_distinct_they_are():
    left = graph({"a": "Ann", "b": " ANN", "c": "Bob"})
    right = graph({"x": "ann", "y": "bob", "z": ""})
    # fun-1 of names: 2 texts / 3 named = 2/3 on the left, 2/2 = 1 on the right.
    # P = 1 - (1 - .1 * 2/3) (1 - .1 * 1) = 1 - 14/15 * 9/10 = .16
    found = paris(left, right, iterations=1)
    expected = {("a", "x"): 0.16, ("b", "x"): 0.16, ("c", "y"): 0.16}
    assert by_uri(left, right, found) == pytest.approx(expected)
    assert (found.iterations, found.converged) == (1, False)


def chain(*, turned: bool) -> tuple[Graph, Graph]:
    """Two chains of three, the last without a common name; the right one perhaps turned round."""
    left = graph({"a": "Ann", "b": "Bob", "c": "Auto"}, ("a", "r", "b"), ("b", "r", "c"))
    edges = [("x", "s", "y"), ("y", "s", "z")]
    if turned:
        edges = [(tail, relation, head) for head, relation, tail in edges]
    return left, graph({"x": "ann", "y": "bob", "z": "car"}, *edges)


@pytest.mark.parametrize("turned", [False, True])
def test_a_functional_relation_finds_who_has_no_common_name(turned):
    left, right = chain(turned=turned)
    # Round 1, names (all distinct): P(a = x) = P(b = y) = 1 - .9 * .9 = .19.
    # Of r(a, b) and r(b, c) only the first has both ends known, and s(x, y) is there:
    # P(r in s) = .19^2 / .19^2 = 1, P(s in r) likewise, and names are in names.
    # Round 2: names are certain, P(a = x) = P(b = y) = 1 - (1 - 1)(1 - 1) = 1. The inverse of r
    # leads from c to b, two distinct tails of two facts: fun-1 = 1, as for s.
    # P(c = z) = 1 - (1 - 1 * 1 * .19)(1 - 1 * 1 * .19) = 1 - .81^2 = .3439
    found = paris(left, right, iterations=2)
    expected = {("a", "x"): 1.0, ("b", "y"): 1.0, ("c", "z"): 0.3439}
    assert by_uri(left, right, found) == pytest.approx(expected)
    assert relations_of(found) == {("r", "s", turned): [1.0, 1.0]}
    # Round 3: b = y is certain by now, so c = z is. The pairs were the same in rounds 2 and 3.
    found = paris(left, right)
    assert by_uri(left, right, found) == pytest.approx(dict.fromkeys(expected, 1.0))
    assert (found.iterations, found.converged) == (3, True)


def test_a_relation_is_within_another_as_far_as_its_known_facts_are():
    left = graph(
        {"a": "A", "b": "B", "c": "C", "d": "only here"},
        *[("a", "r", "b"), ("b", "r", "c"), ("c", "r", "d"), ("a", "r", "d"), ("a", "q", "c")],
    )
    right = graph(
        {"a": "A", "b": "B", "c": "C", "e": "only there"}, ("a", "s", "b"), ("b", "s", "e")
    )
    # r(a, b) and r(b, c) are known, .19^2 each, and s has the first: P(r in s) = 1/2.
    # s(b, e) is unknown: P(s in r) = 1. q(a, c) is known, but no fact there.
    found = paris(left, right, iterations=1)
    assert relations_of(found) == {("r", "s", False): pytest.approx([0.5, 1.0])}
    # Round 2 has r(b, c) and s(b, e) as evidence for c = e. The inverse of r, from c to b, has
    # fun-1 = fun(r) = 3 heads / 4 facts, that of s has 2/2.
    # P(c = e) = 1 - (1 - P(s in r) * 3/4 * .19) (1 - P(r in s) * 1 * .19)
    #          = 1 - (1 - .1425) (1 - .095) = .2239625
    found = paris(left, right, iterations=2)
    assert by_uri(left, right, found)["c", "e"] == pytest.approx(0.2239625)


def test_shared_neighbours_count_by_inverse_functionality():
    left = graph({"a": "A", "b": "", "c": "C"}, ("a", "r", "c"), ("b", "r", "c"))
    right = graph({"a": "A", "b": "", "c": "C"}, ("a", "s", "c"), ("b", "s", "c"))
    # One tail for two facts: fun-1(r) = fun-1(s) = 1/2. After round 1, a = a and c = c at .19,
    # and r(a, c), s(a, c) are each other's: both P are 1. Round 2, from r(x, c) and s(x', c):
    # each of the two factors is 1 - 1 * 1/2 * .19 = .905; P(b = b) = 1 - .905^2 = .180975
    found = paris(left, right, iterations=2)
    got = by_uri(left, right, found)
    assert got == pytest.approx(
        {
            ("a", "a"): 1.0,
            ("a", "b"): 0.180975,
            ("b", "a"): 0.180975,
            ("b", "b"): 0.180975,
            # From c, the inverse of r leads to a, fun-1 = 2/2; but names settle it already.
            ("c", "c"): 1.0,
        }
    )


# --- the slow twin: the formulas, term by term, on sets of facts


def facts_of(graph: Graph) -> set[tuple[object, object, object]]:
    """All facts with their inverses; ("name",) and (text,) cannot be mistaken for URIs."""
    uris, relations = graph.entities.to_list(), graph.relations.to_list()
    facts = {((relations[r],), uris[h], uris[t]) for h, r, t in graph.triples.tolist()}
    for uri, name in zip(uris, graph.names, strict=True):
        text = " ".join(name.casefold().split())
        if text:
            facts.add((("name", "of"), uri, (text,)))
    return facts | {(("inverse", r), y, x) for r, x, y in facts}


def inverse_functionality(facts, relation):
    tails = [y for r, _, y in facts if r == relation]
    share = len(set(tails)) / len(tails)
    return share if share >= THETA - 1e-9 else 0.0


def slow_relations(ones, others, equal):
    """P(r in r') of all r and r', with the products over all that may be equal written out."""
    shares = {}
    for r, r2 in product({f[0] for f in ones}, {f[0] for f in others}):
        above = below = 0.0
        for _, x, y in (fact for fact in ones if fact[0] == r):
            unlike, unseen = 1.0, 1.0
            for (v, x2), (w, y2) in product(equal, equal):
                if (v, w) == (x, y):
                    doubt = 1 - equal[x, x2] * equal[y, y2]
                    unseen *= doubt
                    unlike *= doubt if (r2, x2, y2) in others else 1.0
            above += 1 - unlike
            below += 1 - unseen
        shares[r, r2] = above / below if below else 0.0
    return shares


def slow_equivalences(ones, others, equal, forth, back):
    doubts = {}
    for (r, x, y), (r2, x2, y2) in product(ones, others):
        if isinstance(x, str) and isinstance(x2, str) and (y, y2) in equal:
            if max(forth[r, r2], back[r2, r]) < THETA - 1e-9:
                continue
            via = back[r2, r] * inverse_functionality(ones, r) * equal[y, y2]
            via2 = forth[r, r2] * inverse_functionality(others, r2) * equal[y, y2]
            doubts[x, x2] = doubts.get((x, x2), 1.0) * (1 - via) * (1 - via2)
    return {pair: doubt for pair, doubt in doubts.items() if doubt < 1}


def sole_best(doubts):
    """The pairs that beat all others of the same left, and of the same right, entity."""

    def beats(one, other):
        mine, theirs = (-math.log(d) if d else math.inf for d in (doubts[one], doubts[other]))
        return theirs < mine * (1 - 1e-9)

    return {
        pair: 1 - doubts[pair]
        for pair in doubts
        if all(
            beats(pair, other)
            for other in doubts
            if other != pair and (other[0] == pair[0] or other[1] == pair[1])
        )
    }


def slow_paris(left: Graph, right: Graph, rounds: int):
    ones, others = facts_of(left), facts_of(right)
    names = {y for facts in (ones, others) for r, _, y in facts if r == ("name", "of")}
    forth = {(r[0], r2[0]): THETA for r, r2 in product(ones, others)}
    back = {(r2, r): THETA for r, r2 in forth}
    best = {}
    for done in range(1, rounds + 1):
        equal = best | {(name, name): 1.0 for name in names}
        doubts = slow_equivalences(ones, others, equal, forth, back)
        if done > 1:
            doubts = {pair: doubt for pair, doubt in doubts.items() if 1 - doubt >= THETA - 1e-9}
        before, best = best, sole_best(doubts)
        equal = best | {(name, name): 1.0 for name in names}
        forth = slow_relations(ones, others, equal)
        back = slow_relations(others, ones, {(b, a): p for (a, b), p in equal.items()})
        if before.keys() == best.keys():
            break
    relations = {
        (r[0], r2[-1][0] if r2[0] == "inverse" else r2[0], r2[0] == "inverse"): (p, back[r2, r])
        for (r, r2), p in forth.items()
        if len(r) == 1 and max(p, back[r2, r]) >= THETA - 1e-9
    }
    return {pair: 1 - doubt for pair, doubt in doubts.items()}, relations


NAMES = ["Ann", "BOB ", "c  D", "Eva", "Ann", ""]
OTHER_NAMES = ["ann", "bob", "C d", "eva", "Eve", ""]


@st.composite
def pairs(draw) -> tuple[Graph, Graph]:
    """A graph and a copy with other URIs, in which some names and triples are others."""
    size = draw(st.integers(1, 6))
    ends = st.integers(0, size - 1)
    triple = st.tuples(ends, st.sampled_from("rs"), ends)
    base = draw(st.lists(triple, max_size=8))
    sides = []
    for prefix, names in (("l", NAMES), ("r", OTHER_NAMES)):
        strange = draw(st.lists(st.integers(0, 5), max_size=2))
        names = [*names[:size]]
        for place in strange:
            names[place % size] = draw(st.sampled_from([prefix, "ann", ""]))
        kept = [fact for fact in base if draw(st.integers(0, 3))]
        triples = kept + draw(st.lists(triple, max_size=2))
        sides.append(
            graph(
                {f"{prefix}{i}": name for i, name in enumerate(names)},
                *[(f"{prefix}{h}", f"{prefix}{r}", f"{prefix}{t}") for h, r, t in triples],
            )
        )
    return sides[0], sides[1]


@settings(max_examples=40, deadline=None)
@given(pairs(), st.integers(1, 3))
@example(chain(turned=True), 3)
def test_probabilities_equal_the_formulas_computed_term_by_term(pair, rounds):
    left, right = pair
    found = paris(left, right, iterations=rounds)
    pairs, relations = slow_paris(left, right, rounds)
    assert by_uri(left, right, found) == pytest.approx(pairs, abs=1e-9)
    got = relations_of(found)
    assert got.keys() == relations.keys()
    for key, shares in relations.items():
        assert got[key] == pytest.approx(shares, abs=1e-9)


# --- properties


@settings(max_examples=15, deadline=None)
@given(pairs())
def test_results_are_probabilities_in_the_promised_order(pair):
    left, right = pair
    found = paris(left, right)
    pairs = found.pairs
    assert pairs["probability"].is_between(0, 1, closed="right").all()
    for shares in relations_of(found).values():
        assert all(0 <= share <= 1 for share in shares)
        assert max(shares) >= THETA - 1e-9
    keys = pairs.select("left", -pl.col("evidence"), "right").rows()
    assert keys == sorted(keys)


@settings(max_examples=15, deadline=None)
@given(pairs())
def test_sides_can_be_swapped(pair):
    left, right = pair
    forth, back = paris(left, right), paris(right, left)
    swapped = {(a, b): p for (b, a), p in by_uri(right, left, back).items()}
    assert by_uri(left, right, forth) == pytest.approx(swapped)
    turned = {(a, b, inverse): (q, p) for (b, a, inverse), (p, q) in relations_of(back).items()}
    assert relations_of(forth).keys() == turned.keys()
    for key, shares in relations_of(forth).items():
        assert shares == pytest.approx(turned[key])


def shuffled(graph: Graph, seed: int) -> Graph:
    """The same graph with entities, relations and triples in another order, some triples twice."""
    rng = np.random.default_rng(seed)
    entities = rng.permutation(len(graph.entities))
    relations = rng.permutation(len(graph.relations))
    rows = rng.permutation(np.concatenate([graph.triples, graph.triples[::3]]))
    columns = (np.argsort(entities), np.argsort(relations), np.argsort(entities))
    return Graph(
        entities=graph.entities.gather(entities),
        given_names=graph.names.gather(entities),
        relations=graph.relations.gather(relations),
        triples=np.stack(
            [place[rows[:, i]] if len(rows) else rows[:, i] for i, place in enumerate(columns)],
            axis=1,
        ),
    )


@settings(max_examples=15, deadline=None)
@given(pairs(), st.integers(0, 99))
def test_order_and_duplicates_do_not_matter(pair, seed):
    left, right = pair
    mixed = shuffled(left, seed), shuffled(right, seed + 1)
    found, again = paris(left, right), paris(*mixed)
    assert by_uri(left, right, found) == pytest.approx(by_uri(*mixed, again))
    assert relations_of(found).keys() == relations_of(again).keys()
    assert (found.iterations, found.converged) == (again.iterations, again.converged)


@settings(max_examples=15, deadline=None)
@given(pairs())
def test_maximal_links_are_one_to_one_and_nobody_has_a_better_one(pair):
    left, right = pair
    every = paris(left, right).pairs
    links = maximal_links(every)
    assert links["left"].n_unique() == len(links) == links["right"].n_unique()
    for a, b, _, p in links.iter_rows():
        rivals = every.filter((pl.col("left") == a) | (pl.col("right") == b))
        assert p >= rivals["probability"].max() - 1e-9


def test_of_equal_links_the_first_positions_are_taken():
    left, right = graph({"a": "Ann", "b": "Ann"}), graph({"x": "Ann", "y": "Ann", "z": "Ann"})
    links = maximal_links(paris(left, right).pairs)
    assert links.select("left", "right").rows() == [(0, 0)]


# --- edges


def test_nothing_in_common_gives_nothing():
    found = paris(graph({"a": "A"}, ("a", "r", "a")), graph({"b": ""}, ("b", "r", "b")))
    assert len(found.pairs) == len(found.relations) == len(maximal_links(found.pairs)) == 0
    assert (found.iterations, found.converged) == (1, True)


def test_iterations_must_be_positive():
    with pytest.raises(ValueError, match="iterations must be at least 1, got 0 instead"):
        paris(*chain(turned=False), iterations=0)


def test_progress_rises_with_the_rounds():
    told: list[float] = []
    paris(*chain(turned=False), iterations=4, progress=told.append)
    assert told == [0.25, 0.5, 0.75]


# --- the demo


def test_on_the_demo_pair_links_are_precise_and_settle():
    pair = read_pair(Path(sameas.__file__).parent / "demo" / "world")
    found = paris(pair.left, pair.right)
    links = maximal_links(found.pairs)
    links = links.select(
        left=pair.left.entities.gather(links["left"]),
        right=pair.right.entities.gather(links["right"]),
    )
    gold = pair.gold
    hits = len(links.join(gold, on=["left", "right"]))
    # Gold links are partial: a link that touches none of their entities is not judged.
    judged = links.filter(
        pl.col("left").is_in(gold["left"].implode())
        | pl.col("right").is_in(gold["right"].implode())
    )
    precision, recall = hits / len(judged), hits / len(gold)
    assert found.converged
    assert precision > 0.97
    assert 2 * precision * recall / (precision + recall) > 0.75
    # A place is said to be of a country; of the capitals, the country says it as well.
    base = "http://example.org/"
    relations = relations_of(found)
    assert min(relations[f"{base}fr/lieuDe", f"{base}en/country", False]) > 0.95
    part, whole = relations[f"{base}fr/lieuDe", f"{base}en/capital", True]
    assert part < 0.6
    assert whole > 0.95
