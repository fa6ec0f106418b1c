"""Slips of the pen: letters of a graph tell misspellings from other words."""

import math
from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sameas.similarity.slips import count_letters, learn_slips, neighbouring_words

WORDS = st.lists(st.text("abc", min_size=1, max_size=5), min_size=1, max_size=12, unique=True)
NAMES = [
    f"{first}{middle}{last}"
    for first, middle, last in product(
        ("hu", "su", "lu", "fu", "zheng", "chang", "guang", "yang", "xin", "lan"),
        ("", "i", "an", "ong"),
        ("zhou", "shan", "yuan", "jiang"),
    )
]


def plain_likelihood(word, words, order, prior):
    """The log-likelihood of a word by counting in all words, one letter at a time."""
    ended = ["^" * (order - 1) + each + "$" for each in words]
    whole, total = "^" * (order - 1) + word + "$", 0.0
    for end in range(order - 1, len(whole)):
        share = 1 / 27
        for size in range(order):
            before, letter = whole[end - size : end], whole[end]
            follow = [
                text[place]
                for text in ended
                for place in range(order - 1, len(text))
                if text[place - size : place] == before
            ]
            share = (follow.count(letter) + prior * share) / (len(follow) + prior)
        total += math.log(share)
    return total


@given(WORDS, st.text("abcd", min_size=1, max_size=5))
def test_likelihoods_are_those_of_counting_in_all_other_words(words, word):
    letters = count_letters(words)
    others = [each for each in words if each != word]
    expected = plain_likelihood(word, others, letters.tuning.order, letters.tuning.prior)
    assert math.isclose(letters.likelihood(word, [word]), expected, abs_tol=1e-9)


@given(WORDS)
def test_neighbouring_words_are_all_that_differ_in_one_letter_behind_the_first(words):
    def apart(one, other):
        shorter, longer = sorted((one, other), key=len)
        if one[0] != other[0] or len(longer) - len(shorter) > 1:
            return False
        if len(one) == len(other):
            return sum(x != y for x, y in zip(one, other, strict=True)) == 1
        return any(longer[:k] + longer[k + 1 :] == shorter for k in range(1, len(longer)))

    expected = {(x, y) for x in words for y in words if x < y and apart(x, y)}
    assert set(neighbouring_words(words)) == expected


def test_a_slip_is_told_from_a_word_like_others():
    slips = learn_slips(NAMES, np.ones(len(NAMES), dtype=np.int64))
    slip, sibling = slips.worth(["guangzhou", "luzhou"], ["guanqzhou", "luizhou"])
    assert slip > 0 > sibling


def test_nothing_is_learned_from_words_that_do_not_resemble_each_other():
    slips = learn_slips(["harbour", "crane"], np.array([1, 1]))
    assert slips.worth(["harbour"], ["harbuor"]).tolist() == [0.0]
