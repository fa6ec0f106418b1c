"""N-grams with the boundaries of words, and weighted by rarity, against counting by loops."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import reference
from sameas.text.ngrams import ngram_rows
from strategies import AWKWARD_NAMES, names

KINDS = [(False, True), (True, False), (True, True)]
"""Boundaries, and rarity."""
kinds = st.sampled_from(KINDS)


def series(texts):
    return pl.Series("name", texts, dtype=pl.String)


def assert_as_counted(texts, n, boundaries, rarity):
    method = {"boundaries": boundaries, "rarity": rarity}
    rows = ngram_rows(series(texts), n=n, **method).toarray()
    expected, _ = reference.weighted_ngram_rows(texts, n, **method)
    assert rows.shape == expected.shape
    assert_allclose(rows, expected, atol=1e-6)


@settings(deadline=None, max_examples=80)
@given(st.lists(names(), max_size=8), st.integers(1, 3), kinds)
def test_rows_equal_those_counted_word_by_word(texts, n, kind):
    assert_as_counted(texts, n, *kind)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.text("aab \u3000\n", max_size=7), max_size=6), st.integers(1, 5), kinds)
def test_rows_of_many_short_words_equal_those_counted(texts, n, kind):
    assert_as_counted(texts, n, *kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", AWKWARD_NAMES)
def test_awkward_names_are_counted_like_any(text, kind):
    for n in (2, 3):
        assert_as_counted([text], n, *kind)
        assert_as_counted([text, "abc", text], n, *kind)


def test_a_boundary_begins_or_ends_an_ngram_and_is_never_inside():
    assert reference.weighted_ngram_rows(["ab c"], 3, boundaries=True, rarity=False)[1] == [
        " ab",
        " c ",
        "ab ",
    ]
    rows = ngram_rows(series(["ab c", "c ab", "abc", "c"]), n=3, boundaries=True).toarray()
    assert_allclose(rows[0], rows[1])
    assert_allclose(rows[0] @ rows[2], 1 / 3, rtol=1e-6)  # " ab" alone
    assert_allclose(rows[0] @ rows[3], 3**-0.5, rtol=1e-6)  # " c "


def test_without_boundaries_a_short_word_has_no_ngram_and_with_them_it_has():
    assert ngram_rows(series(["c"]), n=3).toarray().shape == (1, 0)
    assert_allclose(ngram_rows(series(["c"]), n=3, boundaries=True).toarray(), [[1]])


def test_rarity_is_the_logarithm_of_how_few_names_have_it():
    rows = ngram_rows(series(["aabb", "aacc", "aabb", ""]), rarity=True).toarray()
    # aa is in three of four names, ab and bb in two, ac and cc in one.
    common, half, rare = math.log(4 / 3), math.log(2), math.log(4)
    first = [common, half, 0, half, 0]
    second = [common, 0, rare, 0, rare]
    assert_allclose(rows, reference.unit(np.array([first, second, first, [0] * 5])), atol=1e-6)


def test_it_is_names_that_count_not_how_often_they_have_it():
    rows = ngram_rows(series(["aaaa", "aab", "b"]), rarity=True).toarray()
    weights = np.array([[math.log(3 / 2), math.log(3)]])
    assert_allclose(rows[1], reference.unit(weights)[0], rtol=1e-6)


def test_what_all_names_have_tells_nothing():
    rows = ngram_rows(series(["ab", "ab"]), rarity=True).toarray()
    assert_allclose(rows, [[0], [0]])


def test_one_name_alone_has_a_row_all_the_same():
    assert_allclose(ngram_rows(series(["ab"]), rarity=True).toarray(), [[1]])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("texts", [[], [""], ["", " "]])
def test_without_any_letter_there_are_no_columns(texts, kind):
    boundaries, rarity = kind
    rows = ngram_rows(series(texts), n=3, boundaries=boundaries, rarity=rarity).toarray()
    assert rows.shape == (len(texts), 0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_name_is_an_empty_one_and_rows_follow_their_names(kind):
    method = dict(zip(("boundaries", "rarity"), kind, strict=True))
    texts = ["Paris", "Rome", None, "New York", "京都"]
    rows = ngram_rows(series(texts), n=3, **method).toarray()
    turned = ngram_rows(series(texts[::-1]), n=3, **method).toarray()
    empty = ngram_rows(series([text or "" for text in texts]), n=3, **method).toarray()
    assert_allclose(rows, turned[::-1], atol=1e-6)
    assert_allclose(rows, empty)
    assert not rows[2].any()
