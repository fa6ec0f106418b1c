"""Frames of names: how many other names have the same words but one."""

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sameas.similarity.frames import EMPTY, Frames, fitted_kinds, kinds_of, read_frames
from sameas.similarity.slips import learn_slips

NAMES = st.lists(
    st.lists(
        st.sampled_from(["red", "rod", "house", "hose", "of", "the"]), min_size=1, unique=True
    ),
    min_size=2,
    max_size=12,
)


def framed(names):
    texts = pl.Series(sorted({word for name in names for word in name}))
    rows = [(n, texts.index_of(word)) for n, name in enumerate(names) for word in name]
    words = pl.DataFrame(rows, schema={"name": pl.Int64, "word": pl.Int64}, orient="row")
    counts = np.bincount(words["word"].to_numpy(), minlength=len(texts))
    return texts, read_frames(words, texts, learn_slips(texts.to_list(), counts))


@given(NAMES)
def test_frames_are_counted_whatever_the_order_of_words(names):
    texts, frames = framed(names)
    counts = Counter(tuple(sorted({*name} - {word})) for name in names for word in name)
    told = Frames(frames.names, frames.words, frames.keys, np.arange(EMPTY + 1.0))
    for one, left in enumerate(names):
        for other, right in enumerate(names):
            for word, with_word in ((left[0], right[-1]), (left[-1], right[0])):
                keys = [tuple(sorted({*a} - {b})) for a, b in ((left, word), (right, with_word))]
                others = max(counts[key] for key in keys) - 1 - (keys[0] == keys[1])
                kind = kinds_of(np.array([others]), np.array([not keys[0]]))
                numbers = [np.array([texts.index_of(w)]) for w in (word, with_word)]
                said = told.says((np.array([one]), np.array([other])), tuple(numbers))
                assert said.tolist() == kind.tolist()


def test_a_frame_that_many_have_speaks_against_a_slip():
    vowels = "aeiou"
    crowd = [["emperor", f"kam{a}ro"] for a in vowels]
    known = [["palace", "of", f"kam{a}ro", rest] for a in vowels for rest in ("ulm", "trier")]
    crowd += [["emperor", f"{n}ustav"] for n in "bcdfghjklmnpqrst"]
    alone = [[f"bridge{n}", f"river{n}", f"harbour{n}"] for n in "bcdfghjklmnpqrst"]
    frames = framed([*crowd, *known, *alone])[1]
    assert frames.worth[0] > 0 > frames.worth[3]


def test_what_frames_say_is_the_best_of_all_numbers():
    rng = np.random.default_rng(1)
    said = rng.normal(1, 1, 40), rng.normal(-1, 1, 25)
    kinds = rng.integers(0, 2, 40), rng.integers(1, 3, 25)
    worth = fitted_kinds(said, kinds, 1.0)

    def likelihood(kind, number):
        slips, apart = (values[of == kind] + number for values, of in zip(said, kinds, strict=True))
        fit = -25 / 40 * np.log1p(np.exp(-slips)).sum() - np.log1p(np.exp(apart)).sum()
        return fit - number**2 / 2

    grid = np.linspace(-4, 4, 8001)
    for kind in (0, EMPTY):  # the others may be lowered to those before
        best = grid[np.argmax([likelihood(kind, number) for number in grid])]
        assert worth[kind] == pytest.approx(best, abs=1e-3)
    assert (np.diff(worth[:EMPTY]) <= 0).all()


def test_without_siblings_nothing_is_learned():
    assert framed([["alpha"], ["beta", "gamma"]])[1].worth.tolist() == [0.0] * (EMPTY + 1)
