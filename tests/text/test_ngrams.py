"""Character n-grams against counting by loops."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import reference
from sameas.text.ngrams import ngram_rows
from strategies import AWKWARD_NAMES, names


def series(texts):
    return pl.Series("name", texts, dtype=pl.String)


def assert_as_counted(texts, n=2):
    rows = ngram_rows(series(texts), n=n)
    expected, _ = reference.ngram_rows(texts, n)
    assert len(rows) == len(texts)
    assert rows.toarray().shape == expected.shape
    assert_allclose(rows.toarray(), expected, atol=1e-6)


@settings(deadline=None, max_examples=100)
@given(st.lists(names(), max_size=8))
def test_bigrams_equal_those_counted_word_by_word(texts):
    assert_as_counted(texts)


@settings(deadline=None, max_examples=40)
@given(st.lists(names(), max_size=5), st.integers(1, 4))
def test_other_lengths_are_counted_the_same_way(texts, n):
    assert_as_counted(texts, n)


@pytest.mark.parametrize("text", AWKWARD_NAMES)
def test_awkward_names_are_counted_like_any(text):
    assert_as_counted([text])
    assert_as_counted([text, "abc", text])


def test_bigrams_stay_within_words_and_ignore_case():
    rows = ngram_rows(series(["Ab cD", "abcd", "AB CD"])).toarray()
    assert_allclose(rows[0], rows[2])
    _, vocabulary = reference.ngram_rows(["ab cd", "abcd"])
    assert vocabulary == ["ab", "bc", "cd"]
    assert_allclose(rows[0] @ rows[1], 2 / (2**0.5 * 3**0.5), rtol=1e-6)


def test_counts_and_not_just_presence():
    assert_allclose(ngram_rows(series(["aaab"])).toarray(), [[2 / 5**0.5, 1 / 5**0.5]])


def test_a_name_without_bigrams_is_zero_and_moves_nobody_else():
    rows = ngram_rows(series(["", "a", "ab", " ", "ab"])).toarray()
    assert_allclose(rows, [[0], [0], [1], [0], [1]])


def test_a_missing_name_is_an_empty_one_and_moves_nobody_else():
    rows = ngram_rows(series(["ab", None, "cd"])).toarray()
    assert_allclose(rows, [[1, 0], [0, 0], [0, 1]])


@pytest.mark.parametrize("texts", [[], [""], ["", ""], ["a"], ["a b c"]])
def test_without_any_bigram_there_are_no_columns(texts):
    assert ngram_rows(series(texts)).toarray().shape == (len(texts), 0)


def test_word_separators_of_every_script_separate():
    texts = [f"ab{space}cd" for space in reference.WHITE_SPACE]
    assert_allclose(ngram_rows(series(texts)).toarray(), 2**-0.5)


def test_rows_follow_their_names_when_the_order_changes():
    texts = ["Paris", "Rome", "", "New York", "京都"]
    rows, turned = ngram_rows(series(texts)), ngram_rows(series(texts[::-1]))
    assert_allclose(rows.toarray(), turned.toarray()[::-1])
