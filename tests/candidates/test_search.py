"""Candidates: who is proposed, that nobody is starved, and what becomes of it in the end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

import sameas
import sameas.candidates.search
import sameas.pipeline.memory
import sameas.pipeline.paper
from pairs import matched_pair
from sameas import Graph, Options, align, evaluate
from sameas.assignment.exact import certify
from sameas.candidates.clues import (
    Clues,
    _seldom_met,
    make_clues,
    propose_by_clues,
    rare_parts,
)
from sameas.candidates.pairs import Candidates, every_pair, from_pairs
from sameas.candidates.search import _best_by_profit, _samples, find_candidates
from sameas.compute.kernels.topk import Wanted
from sameas.compute.lines import lines_of
from sameas.compute.rows import Rows, as_rows, unit
from sameas.compute.topk import _largest, top_k_dense
from sameas.graph.graph import positions_of
from sameas.graph.semantics.understanding import understand
from sameas.graph.task import Inputs
from sameas.options.tuning import TUNING
from sameas.result.alignment import Diagnostics
from sameas.similarity.features import name_features, neighbourhood_rows
from sameas.similarity.matrix import make_profit
from sameas.similarity.several_names import compared_names
from strategies import pairs, paper

SIZE = 1000


def ignore(share):
    """A progress that nobody looks at."""


def mixed_rows(rng, n, dense=4, sparse=30):
    values = rng.standard_normal((n, dense + sparse)).astype(np.float32)
    values[:, dense:] *= rng.random((n, sparse)) < 0.3
    return unit(Rows(values[:, :dense], csr_array(values[:, dense:])))


def exact(profit):
    return profit.left.toarray().astype(np.float64) @ profit.right.toarray().astype(np.float64).T


def numbers_of(candidates):
    return candidates.left * np.int64(candidates.shape[1]) + candidates.right


# --- The table of candidates ------------------------------------------------------------------


@st.composite
def some_pairs(draw):
    """A shape, distinct pairs within it in any order, and profits."""
    n, m = draw(st.integers(0, 6)), draw(st.integers(0, 6))
    cells = [(i, j) for i in range(n) for j in range(m)]
    chosen = draw(st.lists(st.sampled_from(cells), unique=True)) if cells else []
    left, right = (np.array([pair[side] for pair in chosen], dtype=np.int64) for side in (0, 1))
    return (n, m), left, right, np.arange(len(chosen), dtype=np.float32)


@given(some_pairs(), st.data())
def test_pairs_in_any_order_are_found_again(drawn, data):
    shape, left, right, profit = drawn
    known = dict(zip(zip(left.tolist(), right.tolist(), strict=True), profit, strict=True))
    cut = data.draw(st.integers(0, len(left)))
    whole = from_pairs(shape, left, right, profit)
    joined = from_pairs(shape, left[:cut], right[:cut], profit[:cut]).joined(
        left[cut:], right[cut:], profit[cut:]
    )
    for found in (whole, joined):
        assert len(found) == len(known)
        assert (np.diff(numbers_of(found)) > 0).all()
        pairs_found = zip(found.left.tolist(), found.right.tolist(), strict=True)
        assert dict(zip(pairs_found, found.values, strict=True)) == known
        rows, columns = (axis.ravel() for axis in np.indices(shape))
        places = found.find(rows, columns)
        for i, j, place in zip(rows.tolist(), columns.tolist(), places.tolist(), strict=True):
            assert (place >= 0) == ((i, j) in known)
            assert place < 0 or found.values[place] == known[i, j]
        starts, order = found.by_right
        for j in range(shape[1]):
            own = order[starts[j] : starts[j + 1]]
            assert (found.right[own] == j).all()
            assert found.left[own].tolist() == sorted(i for i, other in known if other == j)


def test_every_pair_of_a_matrix():
    matrix = np.arange(6, dtype=np.float32).reshape(2, 3)
    found = every_pair(matrix)
    assert found.left.tolist() == [0, 0, 0, 1, 1, 1]
    assert found.right.tolist() == [0, 1, 2, 0, 1, 2]
    assert_array_equal(found.values, matrix.ravel())


# --- All are compared -------------------------------------------------------------------------


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32), st.integers(0, 12), st.integers(0, 12), st.integers(0, 20))
def test_with_room_for_all_and_nobody_left_out_all_pairs_are_proposed(seed, n, m, more):
    rng = np.random.default_rng(seed)
    profit = make_profit(mixed_rows(rng, n), mixed_rows(rng, m))
    k = max(n, m) + more
    assert_array_equal(
        top_k_dense(profit.left, profit.right, k, first=k, progress=ignore), np.arange(n * m)
    )
    if k:
        found = find_candidates(profit, k, first=k)
        whole = every_pair(exact(profit))
        assert_array_equal(numbers_of(found), numbers_of(whole))
        assert_array_equal(found.values, profit.of(whole.left, whole.right))
        assert_allclose(found.values, whole.values, atol=1e-6)
        assert found.recall is None


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 8))
def test_proposals_of_short_rows_are_the_best_beyond_hubness(seed, k, first):
    """Short rows are not compressed: the answer can be told from the whole matrix."""
    rng = np.random.default_rng(seed)
    profit = make_profit(mixed_rows(rng, 30), mixed_rows(rng, 25))
    matrix = exact(profit)
    prices = [np.sort(side, axis=1)[:, -8:].mean(axis=1) for side in (matrix, matrix.T)]
    worth = matrix - prices[0][:, None] - prices[1]
    expected = np.zeros(matrix.shape, dtype=bool)
    for table, chosen in ((worth, expected), (worth.T, expected.T)):
        order = np.argsort(-table, axis=1)[:, :k]
        for row, best in enumerate(order):
            near = table[row, best] >= table[row, best[0]] - 0.2
            chosen[row, best[near | (np.arange(len(best)) < first)]] = True
    found = top_k_dense(profit.left, profit.right, k, first=first, progress=ignore)
    assert_array_equal(found, np.flatnonzero(expected))


@pytest.fixture(scope="module")
def clustered():
    """Rows around common centres, longer than the compressed ones; right ones in another order."""
    rng = np.random.default_rng(1)
    centres = rng.standard_normal((60, 400))
    own = centres[rng.integers(0, 60, 700)] + 0.7 * rng.standard_normal((700, 400))
    other = own[rng.permutation(700)[:600]] + 0.3 * rng.standard_normal((600, 400))
    return make_profit(unit(as_rows(own)), unit(as_rows(other)))


@pytest.mark.parametrize("top", [1, 5])
def test_the_best_of_all_are_among_the_candidates(clustered, top):
    found = find_candidates(clustered, 50, first=10)
    matrix = exact(clustered)
    for turned in (False, True):
        best = np.argsort(-(matrix.T if turned else matrix), axis=1)[:, :top]
        own, other = np.repeat(np.arange(len(best)), top), best.ravel()
        places = found.find(other, own) if turned else found.find(own, other)
        assert (places >= 0).mean() > 0.97
    assert len(found) < 0.25 * matrix.size
    assert_allclose(found.values, matrix[found.left, found.right], atol=1e-6)


def test_the_same_rows_give_the_same_candidates(clustered):
    one, other = (find_candidates(clustered, 20, first=5) for _ in range(2))
    assert_array_equal(numbers_of(one), numbers_of(other))
    assert_array_equal(one.values, other.values)


@pytest.mark.parametrize("turned", [False, True])
def test_both_sides_propose(turned):
    """Few left entities could not name many right ones: those must speak for themselves."""
    rng = np.random.default_rng(2)
    few, many = mixed_rows(rng, 20), mixed_rows(rng, 300)
    profit = make_profit(*((many, few) if turned else (few, many)))
    found = find_candidates(profit, 3, first=3)
    counts = [
        np.bincount(side, minlength=size)
        for side, size in zip((found.left, found.right), profit.shape, strict=True)
    ]
    assert min(counts[0]) >= 3
    assert min(counts[1]) >= 3


def test_hubs_do_not_starve_the_rest():
    """Ten right entities are nearer to every left one than its own partner is."""
    size, hubs = 200, 10
    left = np.hstack([np.full((size, 1), 0.9), 0.4 * np.eye(size)])
    right = np.hstack([np.zeros((size, 1)), np.eye(size)])
    right[:hubs] = np.eye(size + 1)[0]
    profit = make_profit(as_rows(left), as_rows(right))
    matrix = exact(profit)
    assert (np.sort(matrix[hubs:], axis=1)[:, -hubs:] > matrix.diagonal()[hubs:, None]).all()
    found = find_candidates(profit, hubs // 2, first=1)
    partners = np.arange(hubs, size)
    assert (found.find(partners, partners) >= 0).all()
    assert np.bincount(found.right[found.find(partners, partners)], minlength=size).max() == 1


@pytest.mark.parametrize(("n", "m"), [(0, 5), (5, 0), (0, 0), (1, 1), (1, 5), (5, 1)])
@pytest.mark.parametrize("width", [4, 400])
def test_sides_of_one_or_none(n, m, width):
    rng = np.random.default_rng(3)
    profit = make_profit(*(as_rows(rng.standard_normal((size, width))) for size in (n, m)))
    found = find_candidates(profit, 3, first=10)
    assert isinstance(found, Candidates)
    assert found.shape == (n, m)
    assert len(found.starts) == n + 1
    counts = [
        np.bincount(side, minlength=size)
        for side, size in zip((found.left, found.right), (n, m), strict=True)
    ]
    assert (counts[0] >= min(3, m)).all()
    assert (counts[1] >= min(3, n)).all()


def test_entities_of_which_nothing_is_known_have_candidates_of_no_profit():
    profit = make_profit(as_rows(np.zeros((4, 3))), as_rows(np.zeros((5, 3))))
    found = find_candidates(profit, 2, first=2)
    assert not found.values.any()
    assert set(found.left.tolist()) == set(range(4))
    assert set(found.right.tolist()) == set(range(5))


def test_progress_goes_from_zero_to_one(clustered):
    told = []
    find_candidates(clustered, 20, first=5, progress=told.append)
    assert told[-1] == 1
    assert all(0 <= share <= 1 for share in told)
    assert len(told) > 3


# --- By clues ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def generated(script):
    return understand(script.generate(SIZE, noise=0.02))


@pytest.fixture(scope="module")
def generated_clues(generated):
    return clues_of(generated)


def pairs_by_clues(clues, *arguments, **options):
    """The pairs that clues propose, as numbers left * len(right) + right."""
    found = propose_by_clues(clues, *arguments, **options).pairs
    return found.numbers(clues.neighbours[1].shape[0])


def clues_of(pair):
    """All clues of a pair."""
    names = compared_names(pair, Options(), Inputs())
    return make_clues(pair, Options(), everyone(pair), names)


def clues_of_rows(left, right):
    """Clues of one name each."""
    owners = np.arange(left.shape[0]), np.arange(right.shape[0])
    lonely = no_neighbours(left.shape[0]), no_neighbours(right.shape[0])
    return Clues(rare_parts([(left, right)], TUNING.search.meetings), owners, None, lonely)


def everyone(pair):
    return tuple(np.arange(len(graph.entities)) for graph in (pair.left, pair.right))


def profit_of(pair, options):
    features = name_features(pair, options, Inputs()).rows
    rows = neighbourhood_rows(pair, features, options, everyone(pair))
    return make_profit(*rows)


def by_clues(profit, k, hints):
    """The candidates that clues lead to."""
    proposed = propose_by_clues(hints, k, progress=ignore).pairs
    return find_candidates(profit, k, first=10, proposed=proposed)


def gold_positions(pair):
    return tuple(
        graph.positions(pair.gold[side])
        for side, graph in (("left", pair.left), ("right", pair.right))
    )


def test_clues_lead_to_the_gold_links(generated, generated_clues):
    told = []
    found = pairs_by_clues(generated_clues, 25, progress=told.append)
    left, right = gold_positions(generated)
    assert np.isin(left * SIZE + right, found).mean() > 0.95
    assert len(found) < 4 * 2 * 25 * SIZE
    assert (np.diff(found) > 0).all()
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1)
    assert_array_equal(pairs_by_clues(generated_clues, 25, progress=ignore), found)


def test_the_recall_of_candidates_by_clues_is_measured(generated, generated_clues):
    profit = profit_of(generated, Options())
    found = by_clues(profit, 25, generated_clues)
    assert 0.95 < found.recall <= 1
    few = by_clues(profit, 1, generated_clues)
    assert 0 <= few.recall <= found.recall


@pytest.mark.parametrize(("n", "m"), [(40, 30), (30, 40), (1, 9), (9, 1)])
def test_recall_is_the_share_of_pairs_best_for_both_that_were_found(n, m):
    rng = np.random.default_rng(4)
    profit = make_profit(mixed_rows(rng, n), mixed_rows(rng, m))
    proposed = (rng.random((n, 8)) < 0.5).astype(np.float32)
    theirs = (rng.random((m, 8)) < 0.3).astype(np.float32)
    hints = clues_of_rows(csr_array(proposed), csr_array(theirs))
    found = by_clues(profit, 4, hints)
    assert n <= TUNING.search.recall_sample[0]
    matrix = exact(profit)
    mutual = [
        (i, j)
        for i in range(n)
        for j in range(m)
        if matrix[i, j] == matrix[i].max() == matrix[:, j].max()
    ]
    left, right = np.array(mutual).T
    assert found.recall == pytest.approx((found.find(left, right) >= 0).mean())


def test_most_of_the_sample_of_the_recall_is_of_low_profit_and_stands_for_all():
    best = np.random.default_rng(3).random(100).astype(np.float32)
    tuning = replace(TUNING.search, recall_sample=(20, 10, 5), compare_all_up_to=100)
    samples = _samples(best, tuning)
    assert [len(sample) for sample, _ in samples] == [20, 10, 5]
    assert sum(len(sample) * weight for sample, weight in samples) == pytest.approx(100)
    low, middling, high = (best[sample] for sample, _ in samples)
    assert low.max() < middling.min()
    assert middling.max() < high.min()
    few = replace(tuning, compare_all_up_to=15)
    every = _samples(best[:15], few)  # fewer than the first sample has
    assert_array_equal(every[0][0], np.arange(15))


def test_a_recall_by_thirds_is_near_that_of_all(generated, generated_clues):
    profit = profit_of(generated, Options())
    proposed = propose_by_clues(generated_clues, 1, progress=ignore).pairs
    exactly, by_thirds = (
        find_candidates(
            *(profit, 2),
            first=10,
            proposed=proposed,
            tuning=replace(TUNING.search, recall_sample=sizes),
        ).recall
        # Small graphs get three tenths of these.
        for sizes in ((4 * SIZE, 4, 4), (1114, 1110, 1110))
    )
    assert exactly < 1
    assert by_thirds == pytest.approx(exactly, abs=0.01)


def test_names_of_many_entities_are_known_by_how_two_words_begin(generated):
    names = compared_names(generated, Options(), Inputs())
    few, many = (
        make_clues(
            generated,
            Options(),
            everyone(generated),
            names,
            tuning=replace(TUNING.search, compare_all_up_to=size),
        )
        for size in (SIZE, 0)
    )
    assert many.names[0].shape[0] == few.names[0].shape[0]
    assert many.names[0].nnz != few.names[0].nnz
    left, right = gold_positions(generated)
    found = pairs_by_clues(many, 25, progress=ignore)
    assert np.isin(left * SIZE + right, found).mean() > 0.95


@pytest.mark.parametrize("most", [0, 3, 12, 10_000])
def test_hints_of_the_largest_hubs_are_not_followed(most):
    rng = np.random.default_rng(5)
    outward, inward, hints = (
        csr_array((rng.random((30, 30)) < share).astype(np.float32)) for share in (0.2, 0.3, 0.1)
    )
    left, right = (np.diff(side.tocsc().indptr) for side in (outward, inward))
    costs = sorted((left[i] * right[j], i, j) for i, j in zip(*hints.nonzero(), strict=True))
    total, expected = 0, set()
    for cost, i, j in costs:
        total += cost
        if total <= most * 30:
            expected.add((i, j))
    found = _seldom_met(hints, (outward, inward), most)
    assert set(zip(*found.nonzero(), strict=True)) == expected
    assert (found.toarray() == hints.toarray() * (found.toarray() != 0)).all()


def test_no_clues_find_nothing_and_the_recall_says_so():
    rng = np.random.default_rng(5)
    profit = make_profit(mixed_rows(rng, 7), mixed_rows(rng, 6))
    nothing = clues_of_rows(*(csr_array((size, 0), dtype=np.float32) for size in (7, 6)))
    found = by_clues(profit, 5, nothing)
    assert len(found) == 0
    assert found.recall == 0


def test_limits_from_a_sample_lose_no_partner():
    rng = np.random.default_rng(3)
    left, right = (unit(as_rows(rng.random((500, 40), dtype=np.float32))) for _ in range(2))
    found = []
    for beyond in (1, 1000):  # with limits, then without
        tuning = replace(TUNING.search, hubness_sample=60, limits_beyond=beyond)
        found.append(top_k_dense(left, right, 20, first=10, progress=ignore, tuning=tuning))
    assert_array_equal(*found)


def test_pairs_of_interest_join_those_proposed_and_those_nearest():
    rng = np.random.default_rng(6)
    profit = make_profit(mixed_rows(rng, 9), mixed_rows(rng, 8))
    also = np.array([3, 17, 18, 71])
    near = top_k_dense(profit.left, profit.right, 2, first=2, progress=ignore)
    for proposed in (None, np.array([0, 17, 40])):
        lines = None if proposed is None else lines_of(proposed, profit.shape)
        found = find_candidates(profit, 2, first=2, proposed=lines, also=also)
        before = near if proposed is None else proposed
        assert_array_equal(numbers_of(found), np.union1d(before, also))
        assert_allclose(found.values, exact(profit)[found.left, found.right], atol=1e-6)
        assert (found.recall is None) == (proposed is None)


def no_neighbours(size):
    return csr_array(np.eye(size, dtype=np.float32))


def graph(prefix, names, triples=()):
    return Graph(
        entities=pl.Series([f"{prefix}{i}" for i in range(len(names))], dtype=pl.String),
        given_names=pl.Series(names, dtype=pl.String),
        relations=pl.Series(["r"]),
        triples=np.array(triples, dtype=np.int64).reshape(-1, 3),
    )


def test_neighbours_propose_entities_without_a_name():
    """Nothing but the company it keeps tells who the first one is."""
    names = ["", "Tallinn", "Riga", "Vilnius", "Helsinki", "Stockholm", "Oslo", "Reykjavik"]
    triples = [(0, 0, i) for i in (1, 2, 3)]
    pair = matched_pair(left=graph("l", names, triples), right=graph("r", names, triples))
    found = pairs_by_clues(clues_of(pair), 2, progress=ignore)
    assert 0 in found
    assert set(range(0, 64, 9)) <= set(found.tolist())


def test_both_sides_propose_by_clues():
    names = [f"{a}{b}{c}" for a in "abcdef" for b in "ghijkl" for c in "mnopqr"]
    pair = matched_pair(left=graph("l", names[::27]), right=graph("r", names))
    found = pairs_by_clues(clues_of(pair), 2, progress=ignore)
    shared = [{name[:2], name[1:]} for name in names]
    left = set().union(*shared[::27])
    able = [j for j, own in enumerate(shared) if own & left]
    assert len(able) > 3 * 2 * len(names[::27])  # more than left ones could name
    assert set((found % len(names)).tolist()) == set(able)


CASES = {
    "one each": (["paris"], ["paris"]),
    "one and many": (["paris"], ["london", "paris", "parma"]),
    "many and one": (["london", "paris", "parma"], ["paris"]),
    "no names": (["", "", ""], ["", ""]),
    "single letters": (["a", "b"], ["a", "c"]),
    "nothing in common": (["abc", "def"], ["xyz", "uvw"]),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("linked", [False, True])
def test_little_to_go_by(case, linked):
    left, right = (
        graph(side, names, [(0, 0, i) for i in range(len(names))] if linked else [])
        for side, names in zip("lr", CASES[case], strict=True)
    )
    pair = matched_pair(left=left, right=right)
    hints = clues_of(pair)
    found = by_clues(profit_of(pair, Options()), 2, hints)
    assert found.recall is None or 0 <= found.recall <= 1
    assert (found.find(*(side.astype(np.int64) for side in (found.left, found.right))) >= 0).all()
    if case in ("one and many", "many and one"):
        assert found.find(*(np.array([names.index("paris")]) for names in CASES[case])) >= 0


@pytest.mark.parametrize(("n", "m"), [(0, 3), (3, 0)])
def test_an_empty_side_has_no_candidates_by_clues(n, m):
    names = ["paris", "london", "riga"]
    pair = matched_pair(left=graph("l", names[:n]), right=graph("r", names[:m]))
    hints = clues_of(pair)
    found = by_clues(profit_of(pair, Options()), 2, hints)
    assert len(found) == 0
    assert found.recall is None


# --- From a pair to links ---------------------------------------------------------------------

WAYS = ("nearest", "clues")


@pytest.fixture(scope="module")
def aligned(demo):
    """The demo aligned with all pairs, with the nearest, and by clues; each once."""
    known = {}

    def get(way, solver):
        if (way, solver) not in known:
            known[way, solver] = align(demo, paper(solver=solver), tuning=NUMBERS[way])
        return known[way, solver]

    return get


FEW_PAIRS = TUNING.changed(assignment={"complete_up_to": 0})
MANY_ENTITIES = FEW_PAIRS.changed(search={"compare_all_up_to": 0})
NUMBERS = {"complete": TUNING, "nearest": FEW_PAIRS, "clues": MANY_ENTITIES}
"""With these, small problems are treated as if they were large."""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("solver", ["sinkhorn", "hungarian"])
def test_candidates_are_as_good_as_all_pairs(demo, aligned, way, solver):
    whole, few = aligned("complete", solver), aligned(way, solver)
    assert whole.diagnostics.form == "complete"
    assert few.diagnostics.form == "candidates"
    assert few.diagnostics.candidate_pairs < 0.2 * 1162 * 1222
    assert (few.diagnostics.search_recall is not None) == (way == "clues")
    scores = [evaluate(found, demo.gold) for found in (whole, few)]
    assert scores[1].hits_at_1 == pytest.approx(scores[0].hits_at_1, abs=0.01)
    assert scores[1].recall == pytest.approx(scores[0].recall, abs=0.01)
    assert few.diagnostics.objective == pytest.approx(whole.diagnostics.objective, rel=0.005)
    assert len(few.links) == len(whole.links) == 1162


@pytest.mark.parametrize("way", WAYS)
def test_the_exact_answer_does_not_depend_on_the_candidates(aligned, way):
    whole, few = aligned("complete", "hungarian"), aligned(way, "hungarian")
    assert whole.diagnostics.optimality_gap == few.diagnostics.optimality_gap == 0
    assert few.diagnostics.objective == pytest.approx(whole.diagnostics.objective, rel=1e-6)
    assert few.diagnostics.objective >= aligned(way, "sinkhorn").diagnostics.objective - 1e-4


@pytest.mark.parametrize("way", ["complete", *WAYS])
def test_prices_prove_the_exact_answer(aligned, way):
    found = aligned(way, "hungarian")
    pair = found.pair
    left_prices, right_prices = (prices_of(found, side) for side in ("left", "right"))
    links = (
        pair.left.positions(found.links["left"]),
        pair.right.positions(found.links["right"]),
    )
    profit = profit_of(pair, found.options)
    proof = certify(profit, *links, left_prices, right_prices)
    assert proof.objective == pytest.approx(found.diagnostics.objective, rel=1e-6)
    assert proof.gap < 1e-6
    assert proof.excess < 1e-6
    cheaper = left_prices.copy()
    cheaper[links[0][0]] -= 0.1
    refuted = certify(profit, *links, cheaper, right_prices)
    assert refuted.excess == pytest.approx(0.1, abs=1e-6)
    assert refuted.bound >= found.diagnostics.objective * (1 - 1e-6)


def prices_of(alignment, side):
    """A side's prices in the order of its entities."""
    entities = getattr(alignment.pair, side).entities
    own = alignment.prices.filter(pl.col("side") == side)
    assert len(own) == len(entities)
    return own["price"].to_numpy()[positions_of(entities, own["entity"])]


@pytest.mark.parametrize("solver", ["sinkhorn", "hungarian"])
def test_only_the_exact_solver_has_prices(aligned, solver):
    found = aligned("nearest", solver)
    assert (found.prices is None) == (solver == "sinkhorn")
    assert (found.diagnostics.optimality_gap is None) == (solver == "sinkhorn")


@pytest.mark.parametrize("solver", ["sinkhorn", "hungarian"])
def test_as_many_candidates_as_entities_give_the_complete_answer(demo, aligned, solver):
    whole = aligned("complete", solver)
    found = align(demo, paper(solver=solver, candidates=1222), tuning=FEW_PAIRS)
    assert found.diagnostics.form == "complete"
    for name in ("links", "candidates", "unmatched", "gold_ranks"):
        assert getattr(found, name).equals(getattr(whole, name))
    assert found.diagnostics.objective == whole.diagnostics.objective
    assert found.diagnostics.optimality_gap == whole.diagnostics.optimality_gap


@pytest.mark.parametrize("way", WAYS)
def test_the_same_input_gives_the_same_links(demo, aligned, way):
    again = align(demo, paper(solver="sinkhorn"), tuning=NUMBERS[way])
    assert_same(again, aligned(way, "sinkhorn"))


@pytest.mark.parametrize("way", WAYS)
def test_the_same_input_gives_the_same_links_after_refinement(small, way):
    once, again = (align(small, no_audit=True, tuning=NUMBERS[way]) for _ in range(2))
    assert_same(again, once)
    assert (once.diagnostics.search_recall is not None) == (way == "clues")
    assert evaluate(once, small.gold).f1 > 0.9


def assert_same(found, expected):
    for name in ("links", "candidates", "unmatched", "gold_ranks", "relations", "anchors"):
        one, other = getattr(found, name), getattr(expected, name)
        assert (one is None) == (other is None)
        assert one is None or one.equals(other)
    assert found.summary() == expected.summary()


@pytest.mark.parametrize("way", WAYS)
@settings(deadline=None, max_examples=8, suppress_health_check=[HealthCheck.too_slow])
@given(
    pair=pairs(),
    solver=st.sampled_from(["sinkhorn", "hungarian"]),
    k=st.integers(1, 7),
    depth=st.integers(0, 2),
)
def test_every_pair_can_be_aligned_by_candidates(way, pair, solver, k, depth):
    """Small and awkward pairs, as if they were too large to compare all."""
    pair = replace(pair, gold=None)
    chosen = paper(solver=solver, candidates=k, depth=depth)
    with pytest.MonkeyPatch.context() as patch:
        form = Diagnostics(solver=solver, objective=0.0, form="candidates")
        patch.setattr(sameas.pipeline.paper, "plan_memory", lambda *given: form)
        found = align(pair, chosen, tuning=NUMBERS[way])
    fewer = min(len(pair.left.entities), len(pair.right.entities))
    assert len(found.links) == fewer
    assert found.links["left"].n_unique() == found.links["right"].n_unique() == fewer
    assert found.links["confidence"].is_between(0, 1).all()
    assert found.unmatched.filter(pl.col("side") == "left").height + fewer == len(
        pair.left.entities
    )
    if solver == "hungarian":
        assert found.diagnostics.optimality_gap == 0
        assert found.diagnostics.objective == pytest.approx(
            align(pair, chosen).diagnostics.objective, abs=1e-5
        )


def test_gold_links_have_no_rank_where_nobody_has_a_candidate():
    gold = pl.DataFrame({"left": ["l0"], "right": ["r0"]})
    pair = matched_pair(left=graph("l", ["", ""]), right=graph("r", ["", ""]), gold=gold)
    found = align(pair, paper(candidates=1), tuning=MANY_ENTITIES)
    assert found.diagnostics.candidate_pairs == 0
    assert len(found.gold_ranks) == 0


def test_own_embeddings_are_compared_with_all(tmp_path):
    """There are no clues in them, however large the problem."""
    rng = np.random.default_rng(9)
    rows = rng.standard_normal((60, 20))
    turn = rng.permutation(60)
    np.save(tmp_path / "rows.npy", np.vstack([rows, rows[turn]]))
    pair = matched_pair(left=graph("l", [""] * 60), right=graph("r", [""] * 60))
    given = {"embeddings": tmp_path / "rows.npy", "tuning": MANY_ENTITIES}
    found = align(pair, paper(candidates=5), **given)
    assert found.diagnostics.form == "candidates"
    assert found.diagnostics.search_recall is None
    assert dict(found.links.select("left", "right").rows()) == {
        f"l{own}": f"r{other}" for other, own in enumerate(turn.tolist())
    }


def test_the_paper_preset_by_candidates_links_everyone(demo):
    found = align(demo, paper(), among="gold", tuning=FEW_PAIRS)
    assert found.diagnostics.form == "candidates"
    assert len(found.links) == len(demo.gold)


@pytest.mark.parametrize(("k", "first", "workers"), [(5, 2, 1), (40, 3, 3), (200, 60, 2)])
def test_full_lists_are_cut_to_the_best_and_to_the_first_of_equals(k, first, workers, monkeypatch):
    rng = np.random.default_rng(k)
    left, right = (
        rng.integers(-3, 4, size=(n, 6)).astype(np.float32) * np.float32(0.125) for n in (310, 420)
    )
    monkeypatch.setattr("sameas.compute.topk.width", lambda: workers)
    tuning = replace(TUNING.search, tile=(64, 70))
    wanted = [Wanted(min(k, size), min(first, size), tuning.slack) for size in (420, 310)]
    limits = [np.full(size, -np.inf, dtype=np.float32) for size in (310, 420)]
    rows, *parts = _largest(left, right, wanted, limits, ignore, tuning)
    assert len(parts) <= workers
    products, columns = left @ right.T, np.concatenate(parts)
    for found, matrix, by_row in ((rows, products, True), (columns, products.T, False)):
        wanted = set()
        for line, values in enumerate(matrix):
            best = np.argsort(-values, kind="stable")[:k]
            near = values[best] >= values.max() - np.float32(tuning.slack)
            near[:first] = True
            pairs = ((line, j) if by_row else (j, line) for j in best[near].tolist())
            wanted |= {i * len(right) + j for i, j in pairs}
        assert set(found.tolist()) == wanted
        assert len(found) == len(wanted)


def test_the_best_by_profit_and_pairs_of_equal_values_stay():
    values = np.array([0.9, 0.2, 0.1, 0.3, 0.8, 0.4], dtype=np.float32)
    left, right = np.repeat([0, 1], 3), np.tile([0, 1, 2], 2)
    found = from_pairs((2, 3), left, right, values)
    alone = _best_by_profit(found, 1, None)
    assert list(zip(alone.left, alone.right, strict=True)) == [(0, 0), (1, 1), (1, 2)]
    both = _best_by_profit(found, 1, np.array([2]))
    assert list(zip(both.left, both.right, strict=True)) == [(0, 0), (0, 2), (1, 1), (1, 2)]


def test_rare_parts_are_those_that_both_sides_have_weighted_by_rarity():
    rng = np.random.default_rng(3)
    kinds = [
        tuple(csr_array((rng.random((size, width)) < 0.3) * 1.0) for size in (9, 7))
        for width in (5, 8)
    ]
    left, right = (np.hstack([kind[side].toarray() for kind in kinds]) for side in (0, 1))
    counts = [(side > 0).sum(axis=0) for side in (left, right)]
    both = (counts[0] > 0) & (counts[1] > 0)
    weights = np.log(16 / np.maximum(counts[0] + counts[1], 1)) * both
    found = rare_parts(kinds, 1000)
    for rows, expected in zip(found, (left * weights, right * weights), strict=True):
        lengths = np.linalg.norm(expected, axis=1, keepdims=True)
        expected = expected[:, both] / np.where(lengths > 0, lengths, 1)
        assert_allclose(rows.toarray(), expected, atol=1e-6)
    assert rare_parts(kinds, 0)[0].nnz == 0
