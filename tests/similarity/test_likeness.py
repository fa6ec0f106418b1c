"""Likeness besides neighbours: names, values, types and spelling, each against a slow twin."""

from __future__ import annotations

import datetime
import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from pairs import matched_pair
from sameas import Graph
from sameas.compute.rows import as_rows
from sameas.graph.exclusions import exclusions_of
from sameas.graph.iri import TYPE
from sameas.options.tuning import TUNING
from sameas.similarity.attributes import read_attributes
from sameas.similarity.cache import PairCache
from sameas.similarity.hops import HopMean
from sameas.similarity.matrix import make_profit
from sameas.similarity.several_names import MaxOverNames, name_table
from sameas.similarity.spelling import (
    DIFFERENT,
    MAIN,
    NEITHER,
    ONE,
    OVERLAP,
    PART,
    SAME,
    SYNONYM,
    SYNONYMS,
    UNALIKE,
    UNEQUAL,
    compare_marks,
    marks_of,
    read_spelling,
)
from sameas.similarity.types import Types
from sameas.similarity.values import (
    CLOSE,
    EQUAL,
    FAR,
    MISSING,
    NEAR,
    UNLIKE,
    Values,
    canonical,
    canonical_point,
    kinds_of,
)
from sameas.text.folding import folded
from sameas.text.ngrams import ngram_rows

few = settings(deadline=None, max_examples=40)
slow = settings(deadline=None, max_examples=15)


def every_pair(n, m):
    """All pairs of two ranges."""
    left, right = np.indices((n, m))
    return left.ravel(), right.ravel()


# --- values -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "texts",
    [
        ["2016-06-20", "20 Jun 2016", "20. June 2016", "20/06/2016", "20160620", "June 20, 2016"],
        ["2016-06-20T10:00:00Z", "2016/6/20", "20.6.2016", " 2016-06-20 "],
        ["12.5", "012.50", "+12.5", "1.25e1", "12,5"],
        ["1,234,567", "1 234 567", "1234567", "+1234567"],
        ["0", "00", "+0"],
        ["415/777-9779", "415 777 9779", "(415) 777-9779"],
        ["New  York", "new york", "New-York"],
        ["AB-12.3", "ab123"],
        ["cli8m", "CLI-8M"],
        ["48.8566, 2.3522", "48.8566 2.35220", "POINT(2.3522 48.8566)"],
        ["<http://x.org/crs> Point (-1.5 2)", "2.0;-1.50"],
    ],
)
def test_one_value_in_several_notations_has_one_form(texts):
    assert canonical(pl.Series(texts)).n_unique() == 1


@pytest.mark.parametrize(
    "texts",
    [
        ["2016-06-20", "2016-06-21", "2016-07-20"],
        ["12.5", "125", "1.25"],
        ["1,5", "1,500"],
        ["-5", "5"],
        ["Route 66", "Route 67"],
        ["48.8566, 2.3522", "2.3522, 48.8566", "-48.8566, 2.3522"],
    ],
)
def test_different_values_have_different_forms(texts):
    assert canonical(pl.Series(texts)).n_unique() == len(texts)


def test_a_form_is_its_own_form():
    texts = [
        "20 Jun 2016",
        "012.50",
        "415/777-9779",
        "A  b.",
        "",
        "99/99/2016",
        "1e400",
        "-0.5 99.5",
    ]
    once = canonical(pl.Series(texts))
    assert canonical(once).to_list() == once.to_list()


def edits(a, b):
    """The optimal string alignment distance, from its definition."""
    table = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    table[:, 0], table[0] = range(len(a) + 1), range(len(b) + 1)
    for i, j in itertools.product(range(1, len(a) + 1), range(1, len(b) + 1)):
        table[i, j] = min(
            table[i - 1, j] + 1,
            table[i, j - 1] + 1,
            table[i - 1, j - 1] + (a[i - 1] != b[j - 1]),
        )
        if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
            table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
    return int(table[-1, -1])


def level_of(a, b):
    if a == b:
        return EQUAL
    alike = 1 - edits(a, b) / max(len(a), len(b))
    close, near = TUNING.values.close, TUNING.values.near
    return CLOSE if alike >= close else NEAR if alike >= near else UNLIKE


@few
@given(st.lists(st.text("abcd", min_size=1, max_size=9), min_size=2, max_size=6, unique=True))
def test_levels_equal_those_of_a_plain_edit_distance(texts):
    left, right = every_pair(len(texts), len(texts))
    found = Values(pl.Series(texts)).levels(left, right)
    expected = [level_of(texts[i], texts[j]) for i, j in zip(left, right, strict=True)]
    near_a_limit = [
        any(
            abs(1 - edits(texts[i], texts[j]) / max(len(texts[i]), len(texts[j])) - at) < 1e-6
            for at in (TUNING.values.close, TUNING.values.near)
        )
        for i, j in zip(left, right, strict=True)
    ]
    for place, level in enumerate(expected):
        assert found[place] == level or near_a_limit[place]


def test_long_values_are_compared_by_their_ngrams():
    text = "a long description of a thing that goes on and on"
    assert len(text) > TUNING.values.long
    other = "quite another story about somebody else, as long as it"
    values = Values(pl.Series([text, f"{text} end", other]))
    assert values.levels(np.array([0, 0, 0]), np.array([0, 1, 2])).tolist() == [
        EQUAL,
        CLOSE,
        UNLIKE,
    ]


def level_at(distance, limits):
    """The level of two values that are not equal, by their distance."""
    close, near, unlike = limits
    return (
        CLOSE
        if distance <= close
        else NEAR
        if distance <= near
        else UNLIKE
        if distance <= unlike
        else FAR
    )


def assert_levels(texts, kind, distance):
    """Compare all pairs of values with a slow distance of two texts."""
    forms = canonical(pl.Series(texts))
    values = Values(forms)
    left, right = every_pair(len(texts), len(texts))
    levels, distances = values.levels(left, right, kind), values.distances(left, right, kind)
    limits = TUNING.values.limits(kind)
    for place, (i, j) in enumerate(zip(left, right, strict=True)):
        expected = distance(forms[int(i)], forms[int(j)])
        assert distances[place] == pytest.approx(expected, rel=1e-6, abs=1e-6)
        if i != j and min(abs(expected - limit) for limit in limits) > 1e-6 * max(expected, 1):
            assert levels[place] == level_at(expected, limits)
        elif i == j:
            assert levels[place] == EQUAL


def as_texts(strategy):
    return st.lists(
        strategy.map(str),
        min_size=2,
        max_size=5,
        unique_by=lambda text: canonical(pl.Series([text]))[0],
    )


@few
@given(as_texts(st.integers(-500, 500) | st.decimals(0, 1000, places=2)))
def test_numbers_are_compared_by_their_relative_difference(texts):
    def difference(a, b):
        a, b = float(a), float(b)
        return 0.0 if a == b else abs(a - b) / max(abs(a), abs(b))

    assert_levels(texts, "number", difference)


@few
@given(
    st.lists(
        st.tuples(st.floats(-90, 90), st.floats(-180, 180)), min_size=2, max_size=5, unique=True
    )
)
def test_coordinates_are_compared_by_the_angle_between_them(points):
    def kilometres(a, b):
        vectors = []
        for text in (a, b):
            latitude, longitude = np.radians([float(part) for part in text.split()])
            vectors.append(
                [
                    np.cos(latitude) * np.cos(longitude),
                    np.cos(latitude) * np.sin(longitude),
                    np.sin(latitude),
                ]
            )
        one, other = np.array(vectors)
        return 6371.0 * np.arctan2(np.linalg.norm(np.cross(one, other)), one @ other)

    texts = list(dict.fromkeys(canonical_point(*point) for point in points))
    forms = pl.Series(texts)
    values = Values(forms)
    left, right = every_pair(len(texts), len(texts))
    expected = [kilometres(forms[int(i)], forms[int(j)]) for i, j in zip(left, right, strict=True)]
    assert_allclose(values.distances(left, right, "point"), expected, atol=1e-3)


@few
@given(
    st.lists(
        st.dates(datetime.date(1000, 1, 1), datetime.date(2999, 12, 31)),
        min_size=2,
        max_size=5,
        unique=True,
    )
)
def test_dates_are_compared_by_days_and_nearly_equal_spellings_are_close(dates):
    values = Values(canonical(pl.Series([date.isoformat() for date in dates])))
    left, right = every_pair(len(dates), len(dates))
    days = [abs((dates[i] - dates[j]).days) for i, j in zip(left, right, strict=True)]
    assert values.distances(left, right, "date").tolist() == days
    levels = values.levels(left, right, "date")
    for place, (i, j) in enumerate(zip(left, right, strict=True)):
        spelled = level_of(values.texts[int(i)], values.texts[int(j)])
        expected = level_at(days[place], TUNING.values.date)
        assert levels[place] == (spelled if spelled <= CLOSE else expected)


def test_a_year_is_close_to_its_days():
    values = Values(pl.Series(["1999", "19990704", "20010101"]))
    levels = values.levels(np.array([0, 0]), np.array([1, 2]), "date")
    assert levels.tolist() == [CLOSE, UNLIKE]


def test_prices_that_are_near_and_lengths_that_are_not():
    values = Values(pl.Series(["199", "199.99", "150", "350"]))
    levels = values.levels(np.array([0, 2]), np.array([1, 3]), "number")
    assert levels.tolist() == [CLOSE, FAR]


def test_long_texts_are_compared_by_rare_words():
    common = [f"a thing with number {number} and all that comes with it" for number in "56789"]
    texts = [
        "the quick dishwasher ddw497wh for a kitchen",
        "quick ddw497wh dishwasher, white, a kitchen",
    ]
    values = Values(pl.Series([*texts, *common]))
    same, other = values.distances(np.array([0, 0]), np.array([1, 2]), "long text")
    assert same < TUNING.values.long_text[1] < other


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["48.8566, 2.3522", "POINT(1 2)"], "point"),
        (["2001-01-01", "3 May 1999", "1987"], "date"),
        (["199", "29.95", "-3", "1e30"], "number"),
        (["12", "7", "130"], "number"),
        (["415/777-9779", "212 777 9779"], "text"),
        (["2219", "4005", "1812"], "text"),
        (["red", "12"], "text"),
        (["a description that is longer than forty letters"], "long text"),
    ],
)
def test_kinds_of_values(texts, kind):
    table = pl.DataFrame({"attribute": ["a"] * len(texts), "value": canonical(pl.Series(texts))})
    assert kinds_of(table) == {"a": kind}


# --- names --------------------------------------------------------------------------------------


@st.composite
def best_names(draw, max_entities=4):
    """Names of two graphs, some entities with several and some with none."""
    text = st.text("abc ", min_size=1, max_size=5)
    sides = [
        draw(st.lists(st.lists(text, max_size=3), min_size=1, max_size=max_entities))
        for _ in range(2)
    ]
    flat = [[name for names in side for name in names] for side in sides]
    rows = ngram_rows(pl.Series([*flat[0], *flat[1]], dtype=pl.String), n=2, boundaries=True)
    size = len(flat[0])
    left, right = rows.take(np.arange(size)), rows.take(np.arange(size, len(rows)))
    starts = [np.concatenate([[0], np.cumsum([len(names) for names in side])]) for side in sides]
    return MaxOverNames(make_profit(left, right), starts[0], starts[1])


def dense(rows):
    return np.hstack([rows.dense, rows.sparse.toarray()]).astype(float)


def cosines(names):
    """The cosine of every name with every other."""
    return dense(names.products.left) @ dense(names.products.right).T


def best_of(names, i, j):
    """The best pair of names of two entities by looking at all: cosine, left place, right place."""
    every = cosines(names)
    found = (0.0, -1, -1)
    for a in range(names.left_starts[i], names.left_starts[i + 1]):
        for b in range(names.right_starts[j], names.right_starts[j + 1]):
            if found[1] < 0 or every[a, b] > found[0] + 1e-6:
                found = (every[a, b], a, b)
    return found


@few
@given(best_names())
def test_the_best_names_are_those_of_a_loop_over_all(names):
    left, right = every_pair(*names.shape)
    values, ours, theirs = names.best(left, right)
    every = cosines(names)
    for place, (i, j) in enumerate(zip(left, right, strict=True)):
        expected, a, _ = best_of(names, i, j)
        assert values[place] == pytest.approx(expected, abs=1e-5)
        if a < 0:
            assert ours[place] == theirs[place] == -1
        else:
            assert names.left_starts[i] <= ours[place] < names.left_starts[i + 1]
            assert names.right_starts[j] <= theirs[place] < names.right_starts[j + 1]
            assert every[ours[place], theirs[place]] == pytest.approx(expected, abs=1e-5)
    assert_array_equal(names.of(left, right), values)


@few
@given(best_names(), st.data())
def test_partners_are_pairs_in_rows(names, data):
    n, m = names.shape
    chosen = [sorted(data.draw(st.sets(st.integers(0, m - 1)))) for _ in range(n)]
    starts = np.concatenate([[0], np.cumsum([len(row) for row in chosen])]).astype(np.int64)
    right = np.array([j for row in chosen for j in row], dtype=np.int64)
    left = np.repeat(np.arange(n), np.diff(starts))
    assert_array_equal(names.partners(starts, right), names.of(left, right))


@few
@given(best_names(), st.integers(0, 2))
def test_names_and_hops_are_the_mean_over_hops_with_the_best_names_first(names, depth):
    rng = np.random.default_rng(0)
    n, m = names.shape
    further = [unit_rows(rng.random((size, 3 * depth)), depth) for size in (n, m)]
    hops = make_profit(*(as_rows(side / max(depth, 1) ** 0.5) for side in further))
    profit = HopMean((names,), hops, depth)
    left, right = every_pair(n, m)
    expected = [
        (best_of(names, i, j)[0] + further[0][i] @ further[1][j]) / (depth + 1)
        for i, j in zip(left, right, strict=True)
    ]
    assert_allclose(profit.of(left, right), expected, atol=1e-5)
    starts = np.arange(n + 1) * m
    assert_allclose(profit.partners(starts, right), expected, atol=1e-5)
    assert profit.shape == (n, m)


def unit_rows(values, depth):
    """Rows in blocks of three that are unit vectors each."""
    if not depth:
        return values
    blocks = values.reshape(len(values), depth, 3) + 0.01
    return (blocks / np.linalg.norm(blocks, axis=2, keepdims=True)).reshape(values.shape)


@few
@given(best_names())
def test_alike_holds_the_most_similar_of_each_name(names):
    n, m = names.shape
    found = set(names.alike(1).tolist())
    every = cosines(names)
    owners = [
        np.repeat(np.arange(size), np.diff(starts))
        for size, starts in ((n, names.left_starts), (m, names.right_starts))
    ]
    for a, row in enumerate(every):
        best = np.flatnonzero(row >= row.max(initial=0.0) - 1e-6)
        if len(best) and row.max() > 1e-6:
            assert {owners[0][a] * m + owners[1][b] for b in best} & found
    assert all(0 <= number < n * m for number in found)


def test_the_name_comes_before_alternatives_and_each_counts_once():
    graph = Graph.from_triples(
        [("a", "r", "b"), ("b", "r", "c")],
        names={"a": "Anna", "b": "", "c": "Carl"},
        alternatives=[("a", "Annie"), ("a", "Anna"), ("c", "Karl"), ("a", "Anni")],
    )
    names, starts = name_table(graph, graph)
    assert names.to_list() == ["Anna", "Annie", "Anni", "Carl", "Karl"]
    assert starts.tolist() == [0, 3, 3, 5]


def test_of_very_many_names_those_count_that_the_other_graph_has():
    many = [("a", f"name {number}") for number in range(60)]
    graph = Graph.from_triples([("a", "r", "b")], names={"a": "A", "b": "B"}, alternatives=many)
    other = Graph.from_triples([("c", "r", "d")], names={"c": "NAME 57", "d": "name 31"})
    names, starts = name_table(graph, other)
    most = TUNING.search.most_names
    assert starts.tolist() == [0, most, most + 1]
    assert names[0] == "A"
    assert {"name 31", "name 57"} < set(names)


def test_a_text_here_may_be_the_name_of_a_resource_there():
    subjects = [f"{word} novels" for word in ("gothic", "naval", "spanish", "lost", "short")]
    left = Graph.from_triples(
        [(f"l{n}", "in", "library") for n in range(5)],
        attributes=[(f"l{n}", "subject", text) for n, text in enumerate(subjects)],
        names={f"l{n}": f"book {n}" for n in range(5)},
    )
    right = Graph.from_triples(
        [(f"r{n}", "category", f"c{n}") for n in range(5)],
        names={f"c{n}": text.title() for n, text in enumerate(subjects)},
    )
    attributes = read_attributes(matched_pair(left=left, right=right))
    assert attributes.pairs == [("subject", "category / (name)")]
    places = right.positions(pl.Series(["r0", "r1"]))
    levels, _ = attributes.compare(np.array([0, 0]), places)
    assert levels[0, 0] == EQUAL
    assert levels[1, 0] > EQUAL


# --- memory -------------------------------------------------------------------------------------


@few
@given(st.lists(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), max_size=8), max_size=5))
def test_memory_returns_what_direct_calls_return_in_any_order(questions):
    asked = []

    def compare(left, right):
        asked.extend(zip(left.tolist(), right.tolist(), strict=True))
        return (10 * left + right).astype(np.int32), np.stack([left, -right], axis=1)

    memory = PairCache(compare, 7)
    for question in questions:
        left, right = np.array(question, dtype=np.int64).reshape(-1, 2).T
        found = memory(left, right)
        assert_array_equal(found[0], 10 * left + right)
        assert_array_equal(found[1], np.stack([left, -right], axis=1))
        assert found[0].dtype == np.int32
    assert len(asked) == len(set(asked)), "no pair is compared twice"


def test_memory_compares_large_questions_in_parts(monkeypatch):
    monkeypatch.setattr("sameas.similarity.cache.AT_ONCE", 3)
    sizes = []

    def compare(left, right):
        sizes.append(len(left))
        return (left * right,)

    left, right = every_pair(4, 5)
    (found,) = PairCache(compare, 5)(left[::-1], right[::-1])
    assert_array_equal(found, (left * right)[::-1])
    assert max(sizes) == 3


# --- types --------------------------------------------------------------------------------------


@st.composite
def typed(draw):
    """Types of two graphs, by random matrices with the shared names first, and anchors."""
    matrices, names = [], []
    for _ in range(2):
        size, count = draw(st.integers(1, 7)), draw(st.integers(1, 4))
        held = np.array(
            draw(
                st.lists(
                    st.lists(st.booleans(), min_size=count, max_size=count),
                    min_size=size,
                    max_size=size,
                )
            )
        )
        held = np.column_stack([held, ~held.any(axis=1)]).astype(float)
        matrices.append(csr_array(held / held.sum(axis=1, keepdims=True)))
        chosen = draw(st.permutations(["t0", "t1", "t2", "t3", "t4"]))[:count]
        names.append(pl.Series(chosen))
    groups = [np.zeros(matrix.shape[0], dtype=np.int8) for matrix in matrices]
    types = Types(*matrices, *names, *groups)
    sizes = [matrix.shape[0] for matrix in matrices]
    count = draw(st.integers(0, min(sizes)))
    anchors = [np.array(draw(st.permutations(range(size)))[:count], dtype=int) for size in sizes]
    trust = np.array(draw(st.lists(st.floats(0.3, 1.0), min_size=count, max_size=count)))
    return types, anchors[0], anchors[1], trust


def slow_prior(matrix, anchored, trust):
    """How much oftener entities of its types are linked than others, for each entity."""
    linked = np.zeros(len(matrix))
    linked[anchored] = trust
    share = linked.mean()
    if not share:
        return linked
    rate = (matrix.T @ linked + 10 * share) / (matrix.sum(axis=0) + 10)
    return matrix @ np.log(rate / share)


@few
@given(typed())
def test_what_types_say_equals_counting(case):
    types, left, right, trust = case
    a, b = types.left.toarray(), types.right.toarray()
    met = np.zeros((a.shape[1], b.shape[1]))
    for i, j, t in zip(left, right, trust, strict=True):
        met += t * np.outer(a[i], b[j])
    share = met.sum(axis=0) / max(met.sum(), 1e-9)
    together = np.zeros(met.shape)
    for s, t in np.ndindex(met.shape):
        if met[s, t] > 0:
            seen = (met[s, t] + 10 * share[t]) / (met[s].sum() + 10)
            together[s, t] = np.clip(np.log(seen / share[t]), -TUNING.types.most, TUNING.types.most)
        elif share[t] > 0:
            together[s, t] = max(np.log(10 / (met[s].sum() + 10)), -TUNING.types.most)
    priors = slow_prior(a, left, trust)[:, None] + slow_prior(b, right, trust)[None]
    expected = np.clip(priors + a @ together @ b.T, -2 * TUNING.types.most, TUNING.types.most)
    terms = types.learn(left, right, trust)
    assert_allclose(terms(*every_pair(*expected.shape))[:, 0], expected.ravel(), atol=1e-9)


def test_without_anchors_types_say_nothing():
    matrix = csr_array(np.eye(3))
    groups = np.zeros(3, dtype=np.int8)
    types = Types(matrix, matrix, pl.Series(["a", "b"]), pl.Series(["c", "d"]), groups, groups)
    nobody = np.zeros(0, dtype=np.int64)
    terms = types.learn(nobody, nobody, np.zeros(0))
    assert_allclose(terms(*every_pair(3, 3)), 0.0, atol=1e-9)


def test_types_that_always_meet_speak_for_a_pair_and_others_against_it():
    held = np.zeros((40, 3))
    held[:20, 0] = held[20:, 1] = 1.0
    groups = np.zeros(40, dtype=np.int8)
    types = Types(
        csr_array(held),
        csr_array(held[:, [1, 0, 2]]),
        pl.Series(["town", "river"]),
        pl.Series(["Fluss", "Stadt"]),
        groups,
        groups,
    )
    some = np.arange(0, 40, 2)
    terms = types.learn(some, some, np.ones(20))
    alike, other = terms(np.array([1, 1]), np.array([3, 39]))[:, 0]
    assert alike > 0.3
    assert other < -0.3


def exclude_each_other(types, s, t):
    """Whether both graphs use two shared types often, and nothing has both."""
    sides = [
        {name: matrix.toarray()[:, place] > 0 for place, name in enumerate(names)}
        for matrix, names in (
            (types.left, types.left_names),
            (types.right, types.right_names),
        )
    ]
    for side in sides:
        if s not in side or t not in side or (side[s] & side[t]).any():
            return False
        if side[s].sum() < TUNING.types.members or side[t].sum() < TUNING.types.members:
            return False
    return True


@st.composite
def often_typed(draw):
    """Types of two graphs with enough members for contradictions."""
    matrices, names = [], []
    for _ in range(2):
        ones = draw(st.lists(st.integers(0, 3), min_size=12, max_size=20))
        twos = draw(st.lists(st.integers(0, 15), min_size=len(ones), max_size=len(ones)))
        held = np.zeros((len(ones), 5))
        held[np.arange(len(ones)), ones] = 1
        for place, two in enumerate(twos):
            if two < 4:
                held[place, two] = 1
            elif two == 4:
                held[place] = [0, 0, 0, 0, 1]
        matrices.append(csr_array(held / held.sum(axis=1, keepdims=True)))
        names.append(pl.Series(draw(st.permutations(["t0", "t1", "t2", "t3", "t4"]))[:4]))
    groups = [np.zeros(matrix.shape[0], dtype=np.int8) for matrix in matrices]
    return Types(*matrices, *names, *groups)


def pair_of_types(types):
    """Two graphs with these types."""
    graphs = []
    sides = (types.left, types.left_names), (types.right, types.right_names)
    for side, (matrix, names) in zip("lr", sides, strict=True):
        held = matrix.toarray()[:, :-1] > 0
        keys = [f"{side}{i}" for i in range(len(held))]
        triples = [(keys[i], TYPE, names[int(t)]) for i, t in np.argwhere(held)]
        graphs.append(Graph.from_triples(triples, entities=[*keys, *names]))
    return matched_pair(left=graphs[0], right=graphs[1])


@few
@given(often_typed())
def test_contradictions_equal_a_double_loop(types):
    pairs = every_pair(types.left.shape[0], types.right.shape[0])
    held = [
        [{names[t] for t in np.flatnonzero(row[:-1] > 0)} for row in matrix.toarray()]
        for matrix, names in (
            (types.left, types.left_names.to_list()),
            (types.right, types.right_names.to_list()),
        )
    ]
    expected = [
        not held[0][i] & held[1][j]
        and any(exclude_each_other(types, s, t) for s in held[0][i] for t in held[1][j])
        for i, j in zip(*pairs, strict=True)
    ]
    exclusions = exclusions_of(pair_of_types(types))
    assert exclusions.contradict(*pairs).tolist() == expected


# --- attributes ---------------------------------------------------------------------------------


def described(size, columns, prefix):
    """A graph of which each entity has a value of each attribute; columns: name to values."""
    attributes = [
        (f"{prefix}{i}", name, values[i])
        for name, values in columns.items()
        for i in range(size)
        if values[i] is not None
    ]
    return Graph.from_triples(
        [],
        entities=[f"{prefix}{i}" for i in range(size)],
        names=[f"{prefix}{i}" for i in range(size)],
        attributes=attributes,
    )


def word(rng):
    return "".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz"), 8))


def two_described():
    rng = np.random.default_rng(5)
    size = 120
    codes = [word(rng) for _ in range(size)]
    flags = [rng.choice(["yes", "no", "perhaps", "unknown"], size).tolist() for _ in range(2)]
    left = described(size, {"code": codes, "flag": flags[0]}, "l")
    right = described(size, {"number": codes, "mark": flags[1]}, "r")
    return matched_pair(left=left, right=right)


def test_attributes_correspond_by_values_in_common():
    found = read_attributes(two_described())
    assert found.pairs == [("code", "number"), ("flag", "mark")], "the more telling first"


def test_without_values_in_common_there_are_no_attributes():
    left = described(5, {"a": list("abcde")}, "l")
    right = described(5, {"b": list("fghij")}, "r")
    assert read_attributes(matched_pair(left=left, right=right)) is None


def test_attributes_that_fit_equally_well_go_by_their_names():
    numbers = [str(1000 + number) for number in range(40) for _ in range(1 + number % 7)]
    half = [None] * len(numbers)
    columns = {"home": numbers + half, "work": half + numbers}
    sides = [described(2 * len(numbers), columns, side) for side in "lr"]
    pairs = read_attributes(matched_pair(left=sides[0], right=sides[1])).pairs
    assert pairs == [("home", "home"), ("work", "work")]


def test_an_attribute_that_says_nothing_is_worth_nothing_and_a_rare_identifier_much():
    attributes = read_attributes(two_described())
    some = np.arange(100)
    terms = attributes.learn(some, some, np.ones(100))
    which = [ours for ours, _ in attributes.pairs]
    code, flag = which.index("code"), which.index("flag")
    pairs = every_pair(120, 120)
    parts = terms(*pairs)
    assert np.abs(parts[:, flag]).max() < 0.7
    same = pairs[0] == pairs[1]
    assert parts[same, code].min() > 3
    assert parts[~same, code].max() < 0
    assert parts.min() >= -TUNING.attributes.cap


def test_before_there_are_anchors_attributes_are_trusted():
    attributes = read_attributes(two_described())
    nobody = np.zeros(0, dtype=np.int64)
    terms = attributes.learn(nobody, nobody, np.zeros(0))
    pairs = np.arange(10), np.arange(10)
    assert terms(*pairs).sum(axis=1).min() > 1


def test_a_value_that_one_lacks_says_nothing():
    rng = np.random.default_rng(6)
    codes = [word(rng) for _ in range(30)]
    left = described(30, {"code": codes}, "l")
    right = described(30, {"number": [None, *codes[1:]]}, "r")
    attributes = read_attributes(matched_pair(left=left, right=right))
    levels, _ = attributes.compare(np.array([0, 1]), np.array([0, 1]))
    assert levels.tolist() == [[MISSING], [EQUAL]]
    some = np.arange(1, 30)
    terms = attributes.learn(some, some, np.ones(29))
    assert terms(np.array([0]), np.array([0])) == 0


def places(size, prefix, shift, *, joined):
    """Places with coordinates, in one column or two, each shifted a little to the north."""
    rng = np.random.default_rng(7)
    points = np.column_stack([rng.uniform(-60, 60, size) + shift, rng.uniform(-170, 170, size)])
    columns = {"geo#lat": points[:, 0], "geo#long": points[:, 1]}
    if joined:
        columns = {"where": [f"POINT({east:.5f} {north:.5f})" for north, east in points]}
    columns = {name: [str(value) for value in values] for name, values in columns.items()}
    return described(size, columns, prefix)


@pytest.mark.parametrize("joined", [False, True])
def test_coordinates_correspond_however_they_are_written_and_far_ones_contradict(joined):
    pair = matched_pair(
        left=places(30, "l", 0.0, joined=False), right=places(30, "r", 0.05, joined=joined)
    )
    attributes = read_attributes(pair)
    assert attributes.kinds == ["point"]
    some = np.arange(30)
    terms = attributes.learn(some[:20], some[:20], np.ones(20))
    assert terms(some, some)[:, 0].min() > 1
    assert terms(some, np.roll(some, 1))[:, 0].max() < -20
    assert attributes.shown(0, 0, 0)[2] == "5.6 km apart"


def test_coordinates_that_links_do_not_share_do_not_contradict():
    pair = matched_pair(
        left=places(30, "l", 0.0, joined=False), right=places(30, "r", 0.05, joined=True)
    )
    attributes = read_attributes(pair)
    some = np.arange(30)
    terms = attributes.learn(some, np.roll(some, 1), np.ones(30))
    assert np.abs(terms(*every_pair(30, 30))[:, 0]).max() < 3


def test_prices_and_descriptions_correspond_by_what_they_are_called():
    rng = np.random.default_rng(8)
    words = [[word(rng) for _ in range(8)] for _ in range(40)]
    prices = rng.uniform(10, 1000, 40)
    sides = []
    for prefix, column, factor in (("l", "Sales_price", 1.0), ("r", "sales price", 1.013)):
        texts = [" ".join(rng.permutation(each)) for each in words]
        columns = {"description": texts, column: [f"{price * factor:.3f}" for price in prices]}
        sides.append(described(40, columns, prefix))
    attributes = read_attributes(matched_pair(left=sides[0], right=sides[1]))
    assert dict(zip(attributes.pairs, attributes.kinds, strict=True)) == {
        ("Sales_price", "sales price"): "number",
        ("description", "description"): "long text",
    }
    some = np.arange(40)
    terms = attributes.learn(some[:30], some[:30], np.ones(30))
    assert terms(some, some).min() > 0.5
    assert np.median(terms(some, np.roll(some, 7)).sum(axis=1)) < -2


def test_parts_of_names_are_compared_too_but_a_name_of_one_column_only_as_a_name():
    rng = np.random.default_rng(9)
    first = [f"{word(rng)} a" for _ in range(24)] * 2
    last = [f"{name} b" for name in [word(rng) for _ in range(16)] for _ in range(3)]
    people = pl.DataFrame({"id": range(48), "given_name": first, "surname": last})
    titled = people.select("id", "surname", title=pl.concat_str("given_name", "surname"))
    for table, expected in ((people, {"given_name", "surname"}), (titled, {"surname"})):
        graph = Graph.from_records(table)
        compared = read_attributes(matched_pair(left=graph, right=graph)).pairs
        assert {ours for ours, _ in compared} == expected


def test_a_value_that_one_lacks_may_stand_in_its_name():
    makers = [f"{name} corp" for name in ("acme", "bolt", "cord", "dyne", "echo")]
    left = pl.DataFrame({"id": range(5), "title": [f"thing {n}" for n in "vwxyz"], "maker": makers})
    titles = [f"{maker.upper()} thing {n}" for maker, n in zip(makers, "vwxyz", strict=True)]
    right = pl.DataFrame({"id": range(5), "title": titles, "maker": [*makers[:3], None, None]})
    graphs = [Graph.from_records(table, name="title") for table in (left, right)]
    attributes = read_attributes(matched_pair(left=graphs[0], right=graphs[1]))
    place = attributes.pairs.index(("maker", "maker"))
    some = np.arange(5)
    assert attributes.compare(some, some)[0][:, place].tolist() == [EQUAL] * 5
    assert attributes.shown(place, 4, 4)[:2] == ("echo corp", "echo corp")


@slow
@given(st.data())
def test_attributes_compare_the_best_of_all_values(data):
    value = st.sampled_from(["ab12", "ab13", "xyz", "2001-01-01", "1 Jan 2001", "abcdefgh"])
    shared = [("s0", "a", f"v{i}") for i in range(4)]
    sides = []
    for prefix in "lr":
        rows = [
            (f"{prefix}{i}", "a", text)
            for i in range(3)
            for text in data.draw(st.lists(value, max_size=3, unique=True))
        ]
        rows += [(f"{prefix}{entity}", name, text) for entity, name, text in shared]
        keys = [f"{prefix}{i}" for i in range(3)]
        sides.append(
            Graph.from_triples(
                [],
                entities=[*keys, f"{prefix}s0"],
                names=[*keys, f"{prefix}s0"],
                attributes=rows,
            )
        )
    attributes = read_attributes(matched_pair(left=sides[0], right=sides[1]))
    left, right = every_pair(3, 3)
    levels, _ = attributes.compare(left, right)
    said = [
        [
            canonical(graph.attributes.filter(pl.col("entity") == entity)["value"]).to_list()
            for entity in graph.entities[:3]
        ]
        for graph in sides
    ]
    for place, (i, j) in enumerate(zip(left, right, strict=True)):
        every = [level_of(a, b) for a in said[0][i] for b in said[1][j]]
        assert levels[place, 0] == min(every, default=MISSING)


# --- spelling -----------------------------------------------------------------------------------


def spelling_of(left, right):
    """The spelling of two lists of names, one each."""
    texts = pl.Series(left), pl.Series(right)
    rows = ngram_rows(pl.concat(texts).str.to_lowercase(), n=3, boundaries=True)
    size = len(left)
    sides = rows.take(np.arange(size)), rows.take(np.arange(size, len(rows)))
    names = MaxOverNames(make_profit(*sides), np.arange(size + 1), np.arange(len(right) + 1))
    return read_spelling(texts, names, names.alike(3))


def test_marks_are_numbers_and_letters_that_stand_alone():
    names = ["Cervical vertebra 3", "Cervical vertebra", "Vitamin C", "Zanzibar"]
    others = ["cervical vertebra 3", "cervical vertebra 4", "cervical vertebra", "vitamin c"]
    spelling = spelling_of(names, others)
    levels, close, _ = spelling.compare(*every_pair(4, 4))
    assert levels.reshape(4, 4).tolist() == [
        [SAME, DIFFERENT, ONE, UNALIKE],
        [ONE, ONE, NEITHER, UNALIKE],
        [UNALIKE, UNALIKE, UNALIKE, SAME],
        [UNALIKE] * 4,
    ]
    assert not close.any()


def test_misspelled_names_are_close_and_equal_ones_are_not_misspelled():
    names = ["restaurant", "restaurnat", "cat"]
    spelling = spelling_of(["restaurant", "kat"], names)
    close = spelling.compare(*every_pair(2, 3))[1].reshape(2, 3)
    assert close.tolist() == [[False, True, False], [False, False, False]]
    assert 1 - edits("restaurant", "restaurnat") / 10 >= TUNING.spelling.close


def test_numbers_that_differ_speak_against_a_pair_once_links_show_it():
    names = [f"{word} {number}" for word in ("vertebra", "finger", "rib") for number in range(9)]
    spelling = spelling_of(names, names)
    some = np.arange(len(names))
    terms = spelling.learn(some, some, np.ones(len(names)))
    same, different = terms(np.array([1, 1]), np.array([1, 2]))[:, 0]
    assert different < -1.5
    assert 0 < same <= 1


@pytest.mark.parametrize(
    ("one", "other", "level"),
    [
        ("BS 5080-1", "BS 5080-2", OVERLAP),
        ("150MM long ties", "350mm long ties", DIFFERENT),
        ("rhombomere 08", "Rhombomere 8", SAME),
        ("1st arch", "arch 1", SAME),
        ("cli8m", "cli-8m", SAME),
        ("SD4100", "sd-4100", SAME),
        ("type I", "type 1", SAME),
        ("Henry VIII", "Henry 8", SAME),
        ("photo 7 2005", "photo 7", PART),
        ("photo 7", "photo", ONE),
        ("photo", "photos", NEITHER),
    ],
)
def test_numbers_in_names_compare_as_numbers(one, other, level):
    ours, theirs = (frozenset(text.split()) for text in marks_of(folded(pl.Series([one, other]))))
    assert compare_marks(ours, theirs) == compare_marks(theirs, ours) == level


def test_an_equal_main_name_is_told_from_an_equal_synonym_and_learned_to_be_worth_more():
    words = ["apple", "berry", "cherry", "damson", "elder", "fig", "grape", "hazel"]
    size = len(words)
    ours = [name for word in words for name in (word, f"{word} one")]
    theirs = [*words, *(f"the {word}" for word in words)]
    theirs = [
        name
        for pair in zip(theirs, [*(f"{word} tree" for word in words), *words], strict=True)
        for name in pair
    ]
    texts = pl.Series(ours), pl.Series(theirs)
    rows = ngram_rows(pl.concat(texts), n=3, boundaries=True)
    sides = rows.take(np.arange(2 * size)), rows.take(np.arange(2 * size, len(rows)))
    starts = 2 * np.arange(size + 1), 2 * np.arange(2 * size + 1)
    names = MaxOverNames(make_profit(*sides), *starts)
    spelling = read_spelling(texts, names, names.alike(4))
    some = np.arange(size)
    assert spelling.compare(some, some)[2].tolist() == [MAIN] * size
    assert spelling.compare(some, some + size)[2].tolist() == [SYNONYM] * size
    assert spelling.compare(some[:1], some[1:2])[2].tolist() == [UNEQUAL]
    terms = spelling.learn(some, some, np.ones(size))
    main, synonym = (terms(some, other)[:, 2] for other in (some, some + size))
    assert main.min() > 0.3
    assert synonym.max() < -0.3
    assert SYNONYMS not in spelling.compare(*every_pair(size, 2 * size))[2]
