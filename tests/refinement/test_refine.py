"""Refinement: every score against slow twins, what is known is kept to, and small worlds."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

import reference
from pairs import matched_pair
from sameas import Graph, Options, align, verify
from sameas.graph.task import Constraints, Inputs
from sameas.options.tuning import TUNING
from sameas.pipeline.best import refine_model
from sameas.pipeline.phases import Phases
from sameas.pipeline.stages import prepare
from sameas.refinement.anchors import anchor_thresholds
from sameas.refinement.evidence import Anchors
from sameas.refinement.refine import refine
from sameas.result.alignment import Diagnostics
from sameas.similarity.edges import edges_of
from sameas.similarity.make_task import make_task
from sameas.text.folding import folded, sounded
from sameas.text.languages.support import NO_SUPPORT
from strategies import kindred

TRIPLE = {"head": pl.String, "relation": pl.String, "tail": pl.String}
few = settings(deadline=None, max_examples=10)


# --- what is known ------------------------------------------------------------------------------


@st.composite
def knowledge(draw, n, m):
    """Seeds that are one to one, rejected pairs that are no seeds, who is inside, and kinds."""
    inside = tuple(draw(hnp.arrays(bool, size, fill=st.just(True))) for size in (n, m))
    if draw(st.booleans()):
        inside = np.ones(n, dtype=bool), np.ones(m, dtype=bool)
    kinds = tuple(np.zeros(size, dtype=np.int8) for size in (n, m))
    if draw(st.booleans()):
        kinds = tuple(
            draw(hnp.arrays(np.int8, size, elements=st.integers(0, 2))) for size in (n, m)
        )
    left, right = draw(st.permutations(range(n))), draw(st.permutations(range(m)))
    count = draw(st.integers(0, 2))
    seeds = [
        (i, j)
        for i, j in list(zip(left, right, strict=False))[:count]
        if inside[0][i] == inside[1][j] and kinds[0][i] == kinds[1][j]
    ]
    cells = [(i, j) for i in range(n) for j in range(m) if (i, j) not in seeds]
    rejected = draw(st.lists(st.sampled_from(cells), max_size=3, unique=True)) if cells else []
    return Constraints(pairs_array(seeds), pairs_array(rejected), inside, kinds)


def pairs_array(listed):
    return np.array(listed, dtype=np.int64).reshape(-1, 2)


def comparable(known, i, j):
    """Whether a pair is compared, from the lists."""
    if (i, j) in set(map(tuple, known.rejected.tolist())):
        return False
    if bool(known.inside[0][i]) != bool(known.inside[1][j]):
        return False
    return bool(known.kinds[0][i] == known.kinds[1][j])


def allowed(known, i, j):
    """Whether a pair may be linked, from the lists."""
    odds = any((i == a) != (j == b) for a, b in known.seeds.tolist())
    return comparable(known, i, j) and not odds


@settings(deadline=None, max_examples=60)
@given(st.data(), st.integers(1, 5), st.integers(1, 5))
def test_what_is_allowed_equals_looking_it_up(data, n, m):
    known = data.draw(knowledge(n, m))
    left, right = (index.ravel() for index in np.indices((n, m)))
    expected = [allowed(known, i, j) for i, j in zip(left.tolist(), right.tolist(), strict=True)]
    assert known.allows(left, right).tolist() == expected
    assert known.allows(left.astype(np.int32), right.astype(np.int32)).tolist() == expected


# --- scores -------------------------------------------------------------------------------------


def material_of(pair):
    task = make_task(pair, Options(exact_hops=True, languages="none"), Inputs())
    figures = Diagnostics(solver="sinkhorn", objective=0.0)
    return prepare(task, task.everything, NO_SUPPORT, Phases(), figures)


ONE_RIVAL = TUNING.changed(search={"partners": 1})


def refine_pair(pair, known, *, rounds, tuning=TUNING, material=None):
    """Refinement with all that the default options give it but traits, and exact hops."""
    options = Options(rounds=rounds)
    model, candidates, _ = material or material_of(pair)
    edges = edges_of(pair, hub=tuning.evidence.hub)
    model = replace(model, make_edges=lambda: edges, constraints=known, traits=None)
    return refine(
        replace(model, tuning=tuning, weights=tuning.weights),
        candidates,
        temperature=options.temperature,
        iterations=options.iterations,
        rounds=rounds,
    )


def likeness(pair):
    """The cosines of all names, and all profits, from slow twins."""
    names = folded(pl.concat([pair.left.names, pair.right.names]))
    parts = [
        reference.weighted_ngram_rows(spelling.to_list(), 3, boundaries=True, rarity=True)[0]
        for spelling in (names, sounded(names))
    ]
    rows = np.hstack(parts) / 2**0.5
    size = len(pair.left.entities)
    left, right = rows[:size], rows[size:]
    matrices = reference.relational(pair.left, pair.right)
    profit = reference.similarity(
        reference.hops(matrices[0], left, 2), reference.hops(matrices[1], right, 2)
    )
    return left @ right.T, profit


def expected_scores(pair, known, anchors):
    """The score of every pair, summed up from the reference's parts."""
    names, profit = likeness(pair)
    listed = (
        reference.edges(pair.left, pair.right, hub=100),
        reference.edges(pair.right, pair.left, hub=100),
    )
    partner = dict(zip(anchors.left.tolist(), anchors.right.tolist(), strict=True))
    trust = dict(zip(anchors.left.tolist(), anchors.trust.tolist(), strict=True))
    matches, covers = reference.relation_matches(*listed, partner)
    found = reference.evidence(*listed, partner, trust, matches, covers, names.shape)
    scores = 13 * names + 6 * profit
    for (i, j), each in found.items():
        of_kind = [(kinds == known.kinds[0][i]).sum() for kinds in known.kinds]
        scores[i, j] += reference.combined(each, (of_kind[0] * of_kind[1]) ** 0.5)
    for i, j in known.seeds.tolist():
        scores[i, j] += TUNING.refinement.seed
    return scores


def everyone(pair):
    """Nothing is known of anybody."""
    sizes = len(pair.left.entities), len(pair.right.entities)
    inside = np.ones(sizes[0], dtype=bool), np.ones(sizes[1], dtype=bool)
    kinds = tuple(np.zeros(size, dtype=np.int8) for size in sizes)
    return Constraints(pairs_array([]), pairs_array([]), inside, kinds)


def cells_of(candidates):
    return list(zip(candidates.left.tolist(), candidates.right.tolist(), strict=True))


@st.composite
def tasks(draw):
    drawn = draw(kindred())
    pair = matched_pair(left=drawn.left.in_order(), right=drawn.right.in_order())
    return pair, draw(knowledge(len(pair.left.entities), len(pair.right.entities)))


@few
@given(tasks(), st.integers(1, 5))
def test_scores_are_the_sum_of_all_that_the_last_anchors_say(task, rounds):
    pair, known = task
    found = refine_pair(pair, known, rounds=rounds, tuning=ONE_RIVAL)
    chosen = found.pairs.candidates
    cells = cells_of(chosen)
    assert cells == sorted(set(cells))
    assert all(comparable(known, i, j) for i, j in cells)
    assert {tuple(seed) for seed in known.seeds.tolist()} <= set(cells)
    scores = expected_scores(pair, known, found.anchors)
    expected = scores[chosen.left, chosen.right]
    assert_allclose(chosen.values, expected, rtol=1e-4, atol=2e-3)
    # Nothing that is kept is out of the question, but the best of an entity.
    best = np.full(scores.shape, -np.inf)
    best[chosen.left, chosen.right] = expected
    for place, (i, j) in enumerate(cells):
        bests = best[i].max(), best[:, j].max()
        assert expected[place] >= min(max(bests) - 15, *bests) - 1e-2
    assert 1 <= len(found.changes) <= rounds
    assert all(change >= 0 for change in found.changes)


@few
@given(tasks())
def test_after_one_round_all_that_is_allowed_and_near_the_best_is_there(task):
    pair, known = task
    found = refine_pair(pair, known, rounds=1, tuning=ONE_RIVAL)
    scores = expected_scores(pair, known, found.anchors)
    for i, j in np.ndindex(scores.shape):
        if not comparable(known, i, j):
            scores[i, j] = -np.inf
    surely, maybe = set(), set()
    for i, j in np.argwhere(np.isfinite(scores)).tolist():
        others = (
            np.delete(scores[i], j).max(initial=-np.inf),
            np.delete(scores[:, j], i).max(initial=-np.inf),
        )
        # Near the best of both lines, or the best of one.
        above = scores[i, j] - min(max(others) - 15, *others)
        if above > 0.01:
            surely.add((i, j))
        if above > -0.01:
            maybe.add((i, j))
    cells = set(cells_of(found.pairs.candidates))
    assert surely <= cells <= maybe


@few
@given(tasks())
def test_the_first_anchors_are_the_likely_pairs_of_the_first_plan(task):
    pair, known = task
    found = refine_pair(pair, known, rounds=1)
    _, profit = likeness(pair)
    for i, j in known.seeds.tolist():
        profit[i, j] += TUNING.refinement.seed
    for i, j in np.ndindex(profit.shape):
        if not comparable(known, i, j):
            profit[i, j] = -np.inf
    plan, _ = reference.sparse_sinkhorn(profit, 0.02, 10)
    trust = np.zeros(profit.shape)
    trust[found.anchors.left, found.anchors.right] = found.anchors.trust
    for i, j in np.ndindex(plan.shape):
        others = np.append(np.delete(plan[i], j), np.delete(plan[:, j], i)).max(initial=0.0)
        if trust[i, j]:
            assert trust[i, j] == pytest.approx(min(plan[i, j], 1), abs=1e-3)
            assert plan[i, j] > 0.3 - 1e-3
            assert plan[i, j] > others - 1e-3
        else:
            # A pair that is better by less than a tie has an equal.
            equal = others * np.exp(TUNING.open.tie / 0.02)
            assert plan[i, j] < 0.3 + 1e-3 or plan[i, j] < equal + 1e-3


@settings(deadline=None, max_examples=8)
@given(tasks(), st.integers(1, 4))
def test_refinement_is_the_same_each_time(task, rounds):
    one, two = (refine_pair(*task, rounds=rounds) for _ in range(2))
    assert_array_equal(one.pairs.candidates.values, two.pairs.candidates.values)
    assert_array_equal(one.pairs.candidates.right, two.pairs.candidates.right)
    assert_array_equal(one.anchors.trust, two.anchors.trust)
    assert_array_equal(one.relations.match, two.relations.match)
    assert one.changes == two.changes


@few
@given(tasks())
def test_further_rounds_go_on_from_the_earlier_ones(task):
    material = material_of(task[0])
    found = [refine_pair(*task, rounds=rounds, material=material) for rounds in (1, 2, 3, 4)]
    for fewer, more in pairwise(found):
        assert more.changes[: len(fewer.changes)] == fewer.changes
    for rounds, each in enumerate(found, start=1):
        # It ends early only once hardly any anchor changes: of few, none.
        assert len(each.changes) >= rounds or each.changes[-1] == 0
        assert all(each.changes[:-1])
    before, now = (set(zip(f.anchors.left, f.anchors.right, strict=True)) for f in found[:2])
    if len(found[1].changes) == 2:
        assert len(before ^ now) == found[0].changes[0]


def test_weights_that_say_nothing_leave_names_alone():
    pair = world()
    tuning = TUNING.changed(weights={"profit": 0.0, "shared": 0.0, "lacking": 0.0})
    found = refine_pair(pair, everyone(pair), rounds=2, tuning=tuning)
    names, _ = likeness(pair)
    chosen = found.pairs.candidates
    assert_allclose(chosen.values, 13 * names[chosen.left, chosen.right], atol=1e-4)


# --- small worlds -------------------------------------------------------------------------------


def graph(triples, names, prefix="", *, attributes=None):
    """A graph of text; names are those given, or the entity's own."""
    ends = [end for head, _, tail in triples for end in (head, tail)]
    keys = list(dict.fromkeys([*names, *ends]))
    table = [(prefix + head, relation, prefix + tail) for head, relation, tail in triples]
    return Graph.from_triples(
        pl.DataFrame(table, schema=TRIPLE, orient="row"),
        entities=pl.Series([prefix + key for key in keys], dtype=pl.String),
        names=pl.Series([names.get(key, key) for key in keys], dtype=pl.String),
        attributes=attributes,
    )


PEOPLE = [
    *("Adelheid", "Boris", "Clemens", "Dorothea", "Eberhard", "Friedrich", "Gertrud", "Heinrich"),
    *("Ingeborg", "Johannes", "Katharina", "Leopold", "Mathilde", "Norbert", "Ottilie", "Philipp"),
    *("Quirin", "Rosalind", "Sebastian", "Theodor"),
]
KNOWS = [(a, "knows", b) for a, b in pairwise(PEOPLE)]
LIKES = [(a, "likes", b) for a, b in zip(PEOPLE, PEOPLE[3:], strict=False)]


def world(more_left=(), more_right=(), left_names=None, right_names=None):
    """The same people on both sides, with more triples and names on each."""
    return matched_pair(
        left=graph([*KNOWS, *LIKES, *more_left], left_names or {}, "l:"),
        right=graph([*KNOWS, *LIKES, *more_right], right_names or {}, "r:"),
    )


def links_of(alignment):
    return set(alignment.links.select("left", "right").iter_rows())


def same(keys):
    return {(f"l:{key}", f"r:{key}") for key in keys}


def reasons(alignment):
    table = alignment.unmatched
    return dict(zip(table["entity"], table["reason"], strict=True))


def test_everybody_is_found():
    alignment = align(world())
    assert links_of(alignment) == same(PEOPLE)
    assert len(alignment.unmatched) == 0
    assert alignment.links["confidence"].min() > 0.9
    anchors = set(alignment.anchors.select("left", "right").iter_rows())
    assert anchors == same(PEOPLE)


@pytest.mark.parametrize("depth", [0, 2])
def test_homonyms_are_told_apart_by_their_neighbours(depth):
    smiths = {"smith1": "John Smith", "smith2": "John Smith"}
    about = [
        ("smith1", "knows", "Adelheid"),
        ("smith1", "likes", "Clemens"),
        ("smith2", "knows", "Norbert"),
        ("smith2", "likes", "Quirin"),
    ]
    pair = world(about, about, smiths, dict(reversed(smiths.items())))
    assert same(smiths) <= links_of(align(pair, Options(depth=depth)))


def test_names_alone_do_not_tell_homonyms_apart():
    smiths = {"smith1": "John Smith", "smith2": "John Smith"}
    about = [("smith1", "knows", "Adelheid"), ("smith2", "knows", "Norbert")]
    pair = world(about, about, smiths, dict(reversed(smiths.items())))
    blind = align(pair, Options(depth=0, without=("votes", "lacking")))
    assert not links_of(blind) & same(smiths)
    assert same(PEOPLE) <= links_of(blind)


def test_an_entity_without_counterpart_stays_unmatched():
    pair = world(left_names={"Zanzibar": "Zanzibar", "Ypern": "Ypern"})
    alignment = align(pair)
    assert links_of(alignment) == same(PEOPLE)
    assert reasons(alignment) == dict.fromkeys(("l:Zanzibar", "l:Ypern"), "below-threshold")


def test_two_who_are_left_over_are_not_linked_for_lack_of_others():
    alignment = align(world(left_names={"z": "Zanzibar"}, right_names={"m": "Mexico"}))
    assert links_of(alignment) == same(PEOPLE)
    assert set(reasons(alignment)) == {"l:z", "r:m"}


def test_of_equals_nobody_is_an_anchor():
    # Zita likes Philipp and nobody has her name: Karl and Karla are alike to her.
    pair = world(
        [("Zita", "likes", "Philipp")],
        [("Karl", "knows", "Karla")],
    )
    alignment = align(pair)
    assert links_of(alignment) == same(PEOPLE)
    assert set(alignment.anchors["left"]) == {f"l:{key}" for key in PEOPLE}


def test_a_better_pair_takes_the_only_counterpart():
    # Two of one name, of whom the right side has one; the first shares more neighbours.
    left = [
        ("anna1", "knows", "Boris"),
        ("anna1", "likes", "Dorothea"),
        ("anna2", "knows", "Boris"),
    ]
    right = [("anna1", "knows", "Boris"), ("anna1", "likes", "Dorothea")]
    pair = world(left, right, {"anna1": "Anna", "anna2": "Anna"}, {"anna1": "Anna"})
    alignment = align(pair)
    assert links_of(alignment) == same([*PEOPLE, "anna1"])
    assert reasons(alignment) == {"l:anna2": "taken"}
    row = alignment.unmatched.row(0, named=True)
    assert row["candidate"] == "r:anna1"
    assert row["score"] > 0


def test_twins_of_whom_one_has_a_counterpart_are_not_sure_enough():
    pair = world(left_names={"anna1": "Anna", "anna2": "Anna"}, right_names={"anna": "Anna"})
    alignment = align(pair)
    assert links_of(alignment) == same(PEOPLE)
    assert reasons(alignment) == dict.fromkeys(("l:anna1", "l:anna2", "r:anna"), "unsure")
    lenient = align(pair, Options(min_confidence=0.3))
    assert len(links_of(lenient)) == len(PEOPLE) + 1


def test_pairs_with_quite_other_neighbours_are_below_the_threshold():
    # Many are left on either side, and what those of the left know those of the right do not.
    left = [(f"{i}x{i}", "knows", PEOPLE[(i + k) % 10]) for i in range(20) for k in range(3)]
    right = [(f"y{i}y", "knows", PEOPLE[10 + (i + k) % 10]) for i in range(20) for k in range(3)]
    alignment = align(world(left, right))
    assert links_of(alignment) == same(PEOPLE)
    assert set(reasons(alignment).values()) == {"below-threshold"}
    assert len(alignment.unmatched) == 40
    assert (alignment.unmatched["score"] <= 0).all()


def test_renamed_and_turned_relations_are_found():
    turned = [(b, "is known to", a) for a, _, b in KNOWS] + [(a, "aime", b) for a, _, b in LIKES]
    pair = matched_pair(left=graph([*KNOWS, *LIKES], {}, "l:"), right=graph(turned, {}, "r:"))
    alignment = align(pair)
    assert links_of(alignment) == same(PEOPLE)
    found = alignment.relations.select("left", "right", "inverse", "edges").rows()
    assert sorted(found) == [
        ("knows", "is known to", True, len(KNOWS)),
        ("likes", "aime", False, len(LIKES)),
    ]
    expected = [
        len(edges) / (len(edges) + 3) for edges in sorted((KNOWS, LIKES), key=len, reverse=True)
    ]
    assert_allclose(alignment.relations["match"], expected)


def test_attributes_tell_namesakes_apart():
    schema = {"entity": pl.String, "attribute": pl.String, "value": pl.String}
    smiths = {"smith1": "John Smith", "smith2": "John Smith"}
    sides = []
    for prefix, attribute, names in (
        ("l:", "born", smiths),
        ("r:", "birth year", dict(reversed(smiths.items()))),
    ):
        rows = [(prefix + key, attribute, str(1900 + place)) for place, key in enumerate(PEOPLE)]
        rows += [(f"{prefix}smith1", attribute, "1950"), (f"{prefix}smith2", attribute, "1960")]
        attributes = pl.DataFrame(rows, schema=schema, orient="row")
        sides.append(graph([*KNOWS, *LIKES], names, prefix, attributes=attributes))
    alignment = align(matched_pair(left=sides[0], right=sides[1]))
    assert links_of(alignment) == same([*PEOPLE, *smiths])


# --- seeds, and pairs that are rejected ---------------------------------------------------------


def nameless(count=12):
    """Two graphs of one shape, whose entities have names that say nothing."""
    keys = [f"n{i}" for i in range(count)]
    triples = [(a, "next", b) for a, b in pairwise(keys)]
    triples += [(a, "over", b) for a, b in zip(keys[::2], keys[3::2], strict=False)]
    blank = dict.fromkeys(keys, "")
    return matched_pair(left=graph(triples, blank, "l:"), right=graph(triples, blank, "r:")), keys


def test_seeds_help_where_names_say_nothing():
    pair, keys = nameless()
    alone = links_of(align(pair, rounds=8))
    helped = links_of(align(pair, rounds=8, seeds=sorted(same(keys[:5]))))
    assert len(alone & same(keys)) < len(keys) / 2
    assert helped == same(keys)


@settings(deadline=None, max_examples=12)
@given(kindred(), st.data(), st.sampled_from(["sinkhorn", "hungarian"]))
def test_seeds_are_always_linked_and_the_rejected_never(pair, data, solver):
    sides = pair.left.entities.to_list(), pair.right.entities.to_list()
    count = data.draw(st.integers(0, min(3, *map(len, sides))))
    chosen = [data.draw(st.permutations(side)) for side in sides]
    seeds = list(zip(chosen[0][:count], chosen[1][:count], strict=True))
    cells = [(a, b) for a in sides[0] for b in sides[1] if (a, b) not in seeds]
    rejected = data.draw(st.lists(st.sampled_from(cells), max_size=4, unique=True)) if cells else []
    alignment = align(pair, solver=solver, seeds=seeds or None, reject=rejected or None)
    links = links_of(alignment)
    assert set(seeds) <= links
    assert not set(rejected) & links
    for side in (0, 1):
        assert len({link[side] for link in links}) == len(links)
    shown = set(alignment.candidates.select("left", "right").iter_rows())
    assert not set(rejected) & shown
    for a, b in shown:
        assert all((a == c) == (b == d) for c, d in seeds)


def test_seeds_against_all_names_and_neighbours():
    crossed = [("l:Adelheid", "r:Theodor"), ("l:Theodor", "r:Adelheid")]
    assert links_of(align(world(), seeds=crossed)) == same(PEOPLE[1:-1]) | set(crossed)


def test_a_rejected_pair_gives_way_to_nobody_else_unless_one_fits():
    links = links_of(align(world(), reject=[("l:Boris", "r:Boris")]))
    assert ("l:Boris", "r:Boris") not in links
    assert links >= same(set(PEOPLE) - {"Boris"})


def test_nobody_is_linked_across_the_border_of_among():
    pair = world(left_names={"x": "Leopoldine"}, right_names={"y": "Mathildis"})
    inside = [("l:Adelheid", "r:Adelheid"), ("l:Boris", "r:Clemens"), ("l:x", "r:Leopold")]
    alignment = align(pair, among=inside, min_confidence=0.0)
    left, right = {a for a, _ in inside}, {b for _, b in inside}
    assert ("l:Adelheid", "r:Adelheid") in links_of(alignment)
    for a, b in alignment.candidates.select("left", "right").iter_rows():
        assert a in left
        assert b in right
    # Others support them, among themselves.
    anchors = set(alignment.anchors.select("left", "right").iter_rows())
    assert all((a in left) == (b in right) for a, b in anchors)
    assert anchors >= same(["Dorothea", "Eberhard"])


# --- order and sides ----------------------------------------------------------------------------


def shuffled(graph, seed):
    """The same graph with entities, relations and triples in another order."""
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(len(part)) for part in (graph.entities, graph.relations)]
    place = [np.argsort(order) for order in orders]
    triples = graph.triples[rng.permutation(len(graph.triples))]
    return Graph(
        entities=graph.entities.gather(orders[0]),
        given_names=graph.names.gather(orders[0]),
        relations=graph.relations.gather(orders[1]),
        triples=np.stack(
            [place[0][triples[:, 0]], place[1][triples[:, 1]], place[0][triples[:, 2]]], axis=1
        ),
    )


def uneven():
    """Two graphs of which each has something that the other lacks."""
    both = [("Xaver", "knows", "Boris"), ("smith1", "knows", "Boris")]
    both += [("smith2", "knows", "Norbert")]
    left = [*both, ("Xaver", "likes", "Quirin"), *(("Zita", "likes", x) for x in PEOPLE[:6])]
    right = [*both, ("smith1", "likes", "Clemens"), *(("Karl", "likes", x) for x in PEOPLE[9:15])]
    smiths = {"smith1": "John Smith", "smith2": "John Smith"}
    return world(left, right, smiths, {"smith2": "J. Smith", "smith1": "J. Smith"})


@pytest.mark.parametrize("solver", ["sinkhorn", "hungarian"])
@pytest.mark.parametrize("seed", range(2))
def test_the_order_of_entities_does_not_count(seed, solver):
    pair, options = uneven(), Options(solver=solver)
    other = matched_pair(left=shuffled(pair.left, seed), right=shuffled(pair.right, seed + 10))
    ours, theirs = align(pair, options), align(other, options)
    assert links_of(ours) == links_of(theirs)
    assert links_of(ours) == same([*PEOPLE, "Xaver", "smith1", "smith2"])
    order = ["left", "right"]
    for column in ("score", "confidence"):
        assert_allclose(ours.links.sort(order)[column], theirs.links.sort(order)[column], atol=2e-3)


@pytest.mark.parametrize("solver", ["sinkhorn", "hungarian"])
def test_from_the_other_side_the_links_are_the_same(solver):
    pair, options = uneven(), Options(solver=solver)
    there, back = (
        align(pair, options),
        align(replace(pair, left=pair.right, right=pair.left), options),
    )
    assert links_of(there) == {(a, b) for b, a in links_of(back)}
    turned = back.relations.select(left="right", right="left", inverse="inverse").rows()
    assert sorted(there.relations.select("left", "right", "inverse").rows()) == sorted(turned)


# --- proof --------------------------------------------------------------------------------------


def forged(alignment, *, prices=None, less=0.0):
    """The alignment with other prices, and a smaller objective."""
    parts = {
        "prices": alignment.prices if prices is None else prices,
        "pair": alignment.pair,
        "inputs": alignment.inputs,
    }
    objective = alignment.diagnostics.objective - less
    diagnostics = replace(alignment.diagnostics, objective=objective)
    return replace(alignment, load=parts.__getitem__, diagnostics=diagnostics)


def test_an_exact_alignment_is_proven_and_a_tampered_one_is_not():
    alignment = align(uneven(), Options(solver="hungarian"))
    assert alignment.diagnostics.optimality_gap == 0
    proof = verify(alignment)
    assert proof.gap == pytest.approx(0, abs=1e-6)
    assert proof.excess < 1e-6
    prices = alignment.prices
    assert (prices["price"] >= 0).all()
    linked = alignment.links["left"][0]
    dearer = pl.when(pl.col("entity") == linked).then(pl.col("price") + 5)
    tampered = prices.with_columns(price=dearer.otherwise("price"))
    assert verify(forged(alignment, prices=tampered)).gap > 1e-3
    cheap = prices.with_columns(price=pl.col("price") * 0.5)
    assert verify(forged(alignment, prices=cheap)).excess > 1
    assert verify(forged(alignment, less=5)).gap > 1e-3


def test_prices_below_zero_prove_nothing():
    # Whoever stays alone is worth nothing, not less: a price below that is no bound.
    pair = world(left_names={"Zanzibar": "Zanzibar"})
    alignment = align(pair, Options(solver="hungarian"))
    lonely = pl.col("entity") == "l:Zanzibar"
    prices = alignment.prices.with_columns(price=pl.when(lonely).then(-50.0).otherwise("price"))
    assert verify(forged(alignment, prices=prices, less=40)).gap > 1e-3


def test_prices_below_zero_prove_nothing_without_refinement_either():
    # Here everyone of the smaller side has a partner; those of the larger one may stay alone.
    pair = world(right_names={"Zanzibar": "Zanzibar"})
    alignment = align(pair, Options(solver="hungarian", text="plain", rounds=0))
    assert verify(alignment).gap == pytest.approx(0, abs=1e-6)
    lower = pl.when(pl.col("side") == "right").then(pl.col("price") - 50)
    prices = alignment.prices.with_columns(price=lower.otherwise("price"))
    assert verify(forged(alignment, prices=prices, less=5)).gap > 1e-3


def test_the_more_anchors_there_are_the_less_sure_a_new_one_must_be():
    def of(count, *thresholds):
        nobody = np.zeros(count, dtype=np.int64)
        anchors = Anchors(nobody, nobody, np.ones(count))
        return anchor_thresholds(np.array(thresholds), anchors).tolist()

    few, eager = TUNING.anchors.few, TUNING.anchors.most_eager
    assert of(0, 9.0, 0.5) == of(few, 9.0, 0.5) == [9.0, 0.5]
    assert of(3 * few, 9.0) == [pytest.approx(9 - np.log(3))]
    assert of(10**6, 9.0, 2.0, 0.5) == [9 - eager, 1.0, 0.5], "no lower than any threshold"


# --- through the pipeline -----------------------------------------------------------------------


def test_the_pipeline_refines_as_refine_does():
    task = make_task(uneven(), Options(rounds=3, without=("weights",)), Inputs())
    pair = task.pair  # in order
    model, candidates, _ = material_of(pair)
    piped = refine_model(task, replace(model, traits=None), candidates)
    direct = refine_pair(pair, everyone(pair), rounds=3)
    assert_array_equal(piped.pairs.candidates.values, direct.pairs.candidates.values)
    assert piped.changes == direct.changes


@pytest.mark.parametrize("sizes", [(0, 0), (0, 2), (2, 0)])
@pytest.mark.parametrize("solver", ["sinkhorn", "hungarian"])
def test_an_empty_side_leaves_the_others_without_candidates(sizes, solver):
    left, right = (
        graph([], {f"{side}{i}": "Anna" for i in range(size)}, f"{side}:")
        for side, size in zip("lr", sizes, strict=True)
    )
    alignment = align(matched_pair(left=left, right=right), Options(solver=solver))
    assert len(alignment.links) == 0
    assert set(reasons(alignment).values()) <= {"no-candidate"}
    assert len(alignment.unmatched) == sum(sizes)
