"""Names in one plain spelling: examples of every script, and what holds for all."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sameas.text.folding import FEW, folded, sounded
from strategies import AWKWARD_NAMES, names

EXAMPLES = [
    # Letter case, accents, ligatures.
    ("Paris", "paris"),
    ("Beyoncé", "beyonce"),
    ("São Tomé", "sao tome"),
    ("ﬁnal", "final"),
    ("Łódź", "lodz"),
    ("Straße", "strasse"),
    ("e\u0301te\u0301", "ete"),
    # Other scripts.
    ("Москва", "moskva"),
    ("Αθήνα", "athina"),
    ("東京", "dongjing"),
    ("서울", "seoul"),
    ("Ｆｕｌｌ Ｗｉｄｔｈ", "full width"),
    # Apostrophes and full stops vanish, other punctuation parts words.
    ("O'Neill", "oneill"),
    ("O’Neill", "oneill"),
    ("U.S. Route", "us route"),
    ("J. R. R. Tolkien", "j r r tolkien"),
    ("Jean-Paul", "jean paul"),
    ("AC/DC", "ac dc"),
    ("New_York,  NY", "new york ny"),
    ("a – b", "a b"),
    # Brackets.
    ("Mercury (planet)", "mercury planet"),
    ("Mercury(planet)", "mercury planet"),
    ("[x] {y} «z»", "x y z"),
    ("(1984)", "1984"),
    # Numbers: words, ordinals, Roman numerals but for single letters, and what only looks so.
    ("Seven Samurai", "7 samurai"),
    ("Twenty Twelve", "20 12"),
    ("Twenty-One", "20 1"),
    ("The Third Man", "the 3 man"),
    ("5th Avenue", "5 avenue"),
    ("1st, 2nd, 3rd and 44th", "1 2 3 and 44"),
    ("Henry VIII", "henry 8"),
    ("World War II", "world war 2"),
    ("Ramesses xx", "ramesses 20"),
    ("Malcolm X", "malcolm x"),
    ("I, Claudius", "i claudius"),
    ("V", "v"),
    ("XXI", "xxi"),
    ("Zero", "zero"),
    ("Someone", "someone"),
    ("Oneida", "oneida"),
    ("20ththing", "20ththing"),
    ("b5th", "b5th"),
    ("٣", "3"),
    ("²", "2"),
    # Nothing.
    ("", ""),
    (" \t\n", ""),
    ("...", ""),
    ("'", ""),
    ("()", ""),
    (None, ""),
]


def series(texts):
    return pl.Series("name", texts, dtype=pl.String)


@pytest.mark.parametrize(("name", "expected"), EXAMPLES)
def test_examples(name, expected):
    assert folded(series([name])).to_list() == [expected]


def test_all_examples_at_once_are_as_one_by_one():
    assert folded(series([a for a, _ in EXAMPLES])).to_list() == [b for _, b in EXAMPLES]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Henry VIII", "henry viii"), ("Third Man", "third man"), ("5th Ave.", "5th ave")],
)
def test_without_numbers_words_stay_words(name, expected):
    assert folded(series([name]), numbers=False).to_list() == [expected]


@pytest.mark.parametrize("numbers", [True, False])
@settings(deadline=None, max_examples=100)
@given(texts=st.lists(st.none() | names(), max_size=6))
def test_folded_names_are_lower_case_words_and_stay_as_they_are(numbers, texts):
    given_names = series(texts)
    once = folded(given_names, numbers=numbers)
    assert given_names.to_list() == texts
    assert len(once) == len(texts)
    assert once.dtype == pl.String
    for text in once.to_list():
        assert set(text) <= set("abcdefghijklmnopqrstuvwxyz0123456789 ")
        assert text.split() == (text.split(" ") if text else [])
    assert folded(once, numbers=numbers).to_list() == once.to_list()


@settings(deadline=None, max_examples=50)
@given(st.lists(names(), max_size=6))
def test_each_name_is_folded_for_itself(texts):
    assert folded(series(texts)).to_list() == [
        folded(series([text])).to_list()[0] for text in texts
    ]


@settings(deadline=None, max_examples=50)
@given(st.text("aIiVXx éß.'-(1 ", max_size=12))
def test_letter_case_and_brackets_around_the_whole_do_not_count(text):
    plain = folded(series([text])).to_list()
    assert folded(series([f"({text})"])).to_list() == plain
    if "ß" not in text:  # whose capital is two letters, or another letter
        assert folded(series([text.upper()])).to_list() == plain


@settings(deadline=None, max_examples=50)
@given(st.lists(st.sampled_from([*"abc", "ii", "one", "1", "1st", "first", "xx"]), max_size=5))
def test_numbers_are_replaced_word_by_word(words):
    values = {"ii": "2", "one": "1", "1st": "1", "first": "1", "xx": "20"}
    expected = " ".join(values.get(word, word) for word in words)
    assert folded(series([" ".join(words)])).to_list() == [expected]


def test_awkward_names_do_not_disturb_their_neighbours():
    texts = [text for awkward in AWKWARD_NAMES for text in (awkward, "Zoë II")]
    assert folded(series(texts)).to_list()[1::2] == ["zoe 2"] * len(AWKWARD_NAMES)


def test_no_names_are_no_names():
    assert folded(series([])).to_list() == []


@settings(deadline=None, max_examples=100)
@given(st.lists(names(), max_size=4))
def test_a_few_names_are_spelled_as_among_many(texts):
    many = series([*texts, *["Zoë II"] * FEW])
    for few, all in (
        (folded(series(texts)), folded(many)),
        (folded(series(texts), numbers=False), folded(many, numbers=False)),
        (sounded(series(texts)), sounded(many)),
        (sounded(folded(series(texts))), sounded(folded(many))),
    ):
        assert few.to_list() == all.to_list()[: len(texts)]
