"""Words that only one of two names has: in one graph they tell things apart.

"Air Pollution Control" and "Water Pollution Control" share most of their letters. Within a graph,
names that have a word in place of another are given to things on purpose; words that are missing,
misspelled or shortened are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rapidfuzz.distance import OSA
from rapidfuzz.process import cpdist

from sameas.compute.arrays import Mask, Numbers, Positions, Vector
from sameas.options.tuning import TUNING, Tuning, WordingTuning
from sameas.similarity.cache import PairCache, Terms
from sameas.similarity.matrix import RowProduct
from sameas.similarity.several_names import MaxOverNames
from sameas.text.folding import folded

SAME, SPELLED, KNOWN, LITTLE, MUCH, STRANGE, REPLACED, NUMBERS, UNALIKE = range(9)
"""The same words; words spelled otherwise, or alike although both are words of other names, too;
little more in one name, or much more; a word that no other name has in place of another, or known
words in place of others; other numbers; or names that are not alike anyway."""


ARTICLES = frozenset(
    {"the", "an", "le", "la", "les", "der", "die", "das", "el", "los", "las", "il", "lo", "gli"}
)
"""Words that a name may have or lack, and is the same."""
TITLES = frozenset(
    {"mr", "mrs", "ms", "miss", "dr", "doctor", "prof", "professor", "sir", "madam", "inspector"}
    | {"captain", "colonel", "general", "sergeant", "president", "saint", "monsieur", "madame"}
    | {"mme", "mlle", "herr", "frau", "senor", "senora", "signor", "signora"}
)
"""Titles of people: one that stands before a name says little, but Mr. is not Mrs."""


@dataclass(frozen=True, eq=False)
class Wording:
    """The words of all names of one graph."""

    names: MaxOverNames | RowProduct
    words: pl.DataFrame
    """name, word (number): each word of each name once."""
    texts: pl.Series
    """The words, by number."""
    rarity: Vector
    """-ln of the share of names that have each word."""
    crowd: Vector
    """The logarithm of how many others have the first name of each entity, at least the mean of
    those that have namesakes: names that many have do not tell who is who."""
    name_weight: float
    """What a cosine of one is worth."""
    tuning: WordingTuning = TUNING.wording

    @cached_property
    def compare(self) -> PairCache:
        """How the words of the best-fitting names of pairs compare."""
        return PairCache(self._compared, self.names.shape[1])

    def _compared(
        self, left: Positions, right: Positions
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        if isinstance(self.names, MaxOverNames):
            cosine, a, b = self.names.best(left, right)
        else:
            cosine, a, b = self.names.of(left, right), left, right
        near = np.flatnonzero(cosine >= self.tuning.alike)
        levels = np.full(len(left), UNALIKE, dtype=np.uint8)
        levels[near] = self._levels(a[near], b[near])
        return levels, cosine

    def _levels(self, a: Positions, b: Positions) -> NDArray[np.uint8]:
        """How the words of pairs of names, by number, compare."""
        pairs = pl.DataFrame({"pair": np.arange(len(a)), "a": a, "b": b})
        ours, theirs = (
            pairs.select("pair", name=side).join(self.words, on="name").select("pair", "word")
            for side in ("a", "b")
        )
        both = ours.join(theirs, on=["pair", "word"])
        rest = [side.join(both, on=["pair", "word"], how="anti") for side in (ours, theirs)]
        met = rest[0].join(rest[1], on="pair")
        distinct = met.select("word", "word_right").unique()
        alike = distinct.filter(pl.Series(self._alike(*(c.to_numpy() for c in distinct))))
        met = met.join(alike, on=["word", "word_right"])
        size = len(a)
        shared = self._sums(both, size)
        left = [
            side.join(met.select("pair", word=column), on=["pair", "word"], how="anti")
            for side, column in zip(rest, ("word", "word_right"), strict=True)
        ]
        sums = [self._sums(side, size) for side in left]
        counts = [np.bincount(side["pair"].to_numpy(), minlength=size) for side in left]
        digits = [self._marks(side, size, self._is_number) for side in left]
        strange = [self._marks(side, size, self._is_strange) for side in left]
        extra = np.maximum(*sums)
        total = np.maximum(
            shared + self._sums(met.select("pair", "word").unique(), size) + extra, 1e-9
        )
        levels = np.where(extra <= self.tuning.little * total, LITTLE, MUCH)
        replaced = (counts[0] > 0) & (counts[1] > 0)
        levels = np.where(replaced, np.where(strange[0] | strange[1], STRANGE, REPLACED), levels)
        letters = [self._marks(side, size, self._is_letter) for side in left]
        marked = digits[0] | digits[1] | (letters[0] & letters[1])
        levels = np.where(marked, NUMBERS, levels)
        nothing = (counts[0] == 0) & (counts[1] == 0)
        known = np.ones(len(met), dtype=np.bool_)
        for column in ("word", "word_right"):  # an initial is no other word
            known &= ~(self._is_strange | self._is_letter)[met[column].to_numpy()]
        of_known = np.bincount(met["pair"].to_numpy()[known], minlength=size) > 0
        respelled = np.bincount(met["pair"].to_numpy(), minlength=size) > 0
        same = np.where(respelled, np.where(of_known, KNOWN, SPELLED), SAME)
        levels = np.where(nothing, same, levels)
        return levels.astype(np.uint8)

    def _sums(self, side: pl.DataFrame, size: int) -> Vector:
        words = side["word"].to_numpy()
        return np.bincount(side["pair"].to_numpy(), self.rarity[words], size).astype(np.float64)

    def _marks(self, side: pl.DataFrame, size: int, which: Mask) -> Mask:
        chosen = side["pair"].to_numpy()[which[side["word"].to_numpy()]]
        return np.bincount(chosen, minlength=size) > 0

    @cached_property
    def _is_number(self) -> Mask:
        return self.texts.str.contains(r"\d").to_numpy()

    @cached_property
    def _is_letter(self) -> Mask:
        """Letters that stand alone."""
        return (self.texts.str.len_chars() == 1).to_numpy()

    @cached_property
    def _is_strange(self) -> Mask:
        """Words that one name alone has."""
        return np.bincount(self.words["word"].to_numpy(), minlength=len(self.texts)) < 2

    def _alike(self, a: Numbers, b: Numbers) -> Mask:
        """Which words are spellings of each other; numbers never are."""
        if not len(a):
            return np.zeros(0, dtype=np.bool_)
        one, other = self.texts.gather(a), self.texts.gather(b)
        ratio = cpdist(one.to_list(), other.to_list(), scorer=OSA.normalized_similarity)
        lengths = [np.asarray(side.str.len_chars()) for side in (one, other)]
        shorter = np.minimum(*lengths)
        same = (ratio >= self.tuning.spelled) & (shorter >= self.tuning.shortest)
        # Another first letter makes another word: un-suitable, Ar-kansas.
        same &= (one.str.head(1) == other.str.head(1)).to_numpy()
        both = pl.DataFrame({"one": one, "other": other})
        begins = both.select(
            pl.col("one").str.starts_with(pl.col("other"))
            | pl.col("other").str.starts_with(pl.col("one"))
        )["one"]
        # An initial, or an ending.
        ending = np.maximum(*lengths) - shorter <= self.tuning.ending
        begins = begins.to_numpy() & ((shorter == 1) | (ending & (shorter >= self.tuning.shortest)))
        number = self._is_number[a] | self._is_number[b]
        alike: Mask = (same | begins) & ~number
        return alike

    def learn(self, left: Positions, right: Positions, trust: Vector) -> Terms:
        """The log-odds of pairs by their wording, which do not depend on anchors."""
        worth = np.array(self.tuning.worth)
        given_back = np.zeros(UNALIKE + 1)
        given_back[[SAME, SPELLED]] = 1.0, self.tuning.respelled

        def terms(left: Numbers, right: Numbers) -> Vector:
            levels, cosine = self.compare(left, right)
            lost = self.name_weight * (1 - cosine) * given_back[levels]
            both = np.minimum(self.crowd[left], self.crowd[right])
            shared = self.tuning.namesakes * both
            return np.asarray(worth[levels] + lost - shared * (levels == SAME))[:, None]

        return terms


def read_wording(
    texts: pl.Series,
    names: MaxOverNames | RowProduct,
    first_names: pl.Series,
    *,
    tuning: Tuning = TUNING,
) -> Wording:
    """The wording of the names (``texts``) that ``names`` compares; entities have first names."""
    namesakes = folded(first_names).to_frame("name").select(pl.len().over("name"))["len"]
    crowd = np.log(np.maximum(namesakes.to_numpy() - 1.0, 1.0))
    shared = (namesakes > 1).to_numpy()
    crowd = np.maximum(crowd, crowd[shared].mean() if shared.any() else 0.0)
    plain = folded(texts)
    table = (
        pl.DataFrame({"name": np.arange(len(plain)), "word": plain.str.split(" ")})
        .explode("word")
        .filter(pl.col("word") != "", ~pl.col("word").is_in(list(ARTICLES)))
        .unique(maintain_order=True)
    )
    every = table["word"].unique().sort()
    words = table.with_columns(word=every.search_sorted(table["word"]).cast(pl.Int64))
    counts = np.bincount(words["word"].to_numpy(), minlength=len(every))
    rarity = -np.log(counts / max(len(plain), 1))
    rarity[every.is_in(list(TITLES)).to_numpy()] = 0.0
    weight = tuning.duplicates.names
    return Wording(names, words, every, rarity, crowd, weight, tuning.wording)
