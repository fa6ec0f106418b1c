"""Words that only one of two names has: in one graph they tell things apart.

"Air Pollution Control" and "Water Pollution Control" share most of their letters. Within a graph,
names that have a word in place of another are given to things on purpose; words that are missing,
misspelled or shortened are not. What each way to differ is worth is learned from sure links
against other pairs of similar names, from a guess that holds where nothing was learned.
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
    rivals: Positions
    """Pairs of entities with similar names, as numbers left * len(right) + right."""
    tuning: WordingTuning = TUNING.wording

    @cached_property
    def compare(self) -> PairCache:
        """How the words of the best-fitting names of pairs compare."""
        return PairCache(self._compared, self.names.shape[1])

    def _compared(self, left: Positions, right: Positions) -> tuple[NDArray[np.uint8]]:
        if isinstance(self.names, MaxOverNames):
            cosine, a, b = self.names.best(left, right)
        else:
            cosine, a, b = self.names.of(left, right), left, right
        near = np.flatnonzero(cosine >= self.tuning.alike)
        levels = np.full(len(left), UNALIKE, dtype=np.uint8)
        levels[near] = self._levels(a[near], b[near])
        return (levels,)

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
        levels = np.where(digits[0] | digits[1], NUMBERS, levels)
        nothing = (counts[0] == 0) & (counts[1] == 0)
        known = ~self._is_strange[met["word"].to_numpy()]
        known &= ~self._is_strange[met["word_right"].to_numpy()]
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
        number = self._is_number[a] | self._is_number[b]
        alike: Mask = (same | begins.to_numpy()) & ~number
        return alike

    def learn(self, left: Positions, right: Positions, trust: Vector) -> Terms:
        """What the anchors (left, right, trust), held against their rivals, tell about pairs."""
        tuning, prior = self.tuning, self.tuning.prior
        partner = np.full(self.names.shape[0], -1, dtype=np.int64)
        partner[left] = right
        one, other = np.divmod(self.rivals, max(self.names.shape[1], 1))
        rival = partner[one] != other
        (levels,), (against,) = self.compare(left, right), self.compare(one[rival], other[rival])
        hits = np.bincount(levels, trust, minlength=UNALIKE + 1)[:UNALIKE]
        misses = np.bincount(against, minlength=UNALIKE + 1)[:UNALIKE]
        chance = (misses + 1) / (misses.sum() + UNALIKE)
        likely = (hits + prior * np.array(tuning.linked)) / (hits.sum() + prior)
        worth = np.append(
            np.clip(np.log(likely / chance), -tuning.most_against, tuning.most_for), 0
        )

        def terms(left: Numbers, right: Numbers) -> Vector:
            return np.asarray(worth[self.compare(left, right)[0]])[:, None]

        return terms


def read_wording(
    texts: pl.Series,
    names: MaxOverNames | RowProduct,
    rivals: Positions,
    *,
    tuning: Tuning = TUNING,
) -> Wording:
    """The wording of the names (``texts``) that ``names`` compares."""
    plain = folded(texts)
    table = (
        pl.DataFrame({"name": np.arange(len(plain)), "word": plain.str.split(" ")})
        .explode("word")
        .filter(pl.col("word") != "")
        .unique(maintain_order=True)
    )
    every = table["word"].unique().sort()
    words = table.with_columns(word=every.search_sorted(table["word"]).cast(pl.Int64))
    counts = np.bincount(words["word"].to_numpy(), minlength=len(every))
    rarity = -np.log(counts / max(len(plain), 1))
    return Wording(names, words, every, rarity, rivals, tuning.wording)
