"""What n-grams do not see in names: numbers that differ, letters that stand alone, misspellings.

"Cervical vertebra 3" and "cervical vertebra 4" have nearly all n-grams in common. How much it
says that the numbers (or single letters) of two names differ is learned: from sure links against
their rivals. So is how much it says that names differ by a letter or two only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.compute.arrays import Numbers, Positions, Vector
from sameas.options.tuning import TUNING, SpellingTuning, Tuning
from sameas.similarity.cache import PairCache, Terms
from sameas.similarity.several_names import MaxOverNames
from sameas.similarity.values import spelled_alike
from sameas.text.folding import folded, in_blocks

MARK = r"\d+|\b[a-z]\b"
"""Numbers, wherever they stand in a word, and letters that stand alone."""

NUMERALS = {"i": "1", "v": "5"}
"""Letters that stand alone and are numbers: type I is type 1."""

NEITHER, SAME, PART, OVERLAP, DIFFERENT, ONE, UNALIKE = range(7)
"""Neither name has a mark, both the same, one of them more, each some that the other has not,
none in common, only one of them has any; or names that are not alike anyway."""


@dataclass(frozen=True, eq=False)
class Spelling:
    """The marks and letters of all names of both graphs."""

    names: MaxOverNames
    marks: NDArray[np.int64]
    """The number of each name's set of marks in ``sets``; left before right."""
    sets: list[frozenset[str]]
    letters: pl.Series
    """The letters of each name, without spaces."""
    rivals: Positions
    """Pairs with similar names, as numbers left * len(right) + right."""
    tuning: SpellingTuning = TUNING.spelling
    longest: int = TUNING.values.long
    """Letters up to which names are compared letter by letter."""

    @cached_property
    def compare(self) -> PairCache:
        """How the marks of the best-fitting names of pairs compare, and which are misspelled."""
        return PairCache(self._compared, self.names.shape[1])

    def _compared(
        self, left: Positions, right: Positions
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        cosine, a, b = self.names.best(left, right)
        near = np.flatnonzero(cosine >= self.tuning.alike)
        a, b = a[near], b[near] + self.names.products.shape[0]
        ours, theirs = self.marks[a], self.marks[b]
        levels = np.full(len(left), UNALIKE)
        levels[near] = self._levels(ours, theirs)
        first, second = self.letters.gather(a), self.letters.gather(b)
        lengths = np.stack([first.str.len_chars().to_numpy(), second.str.len_chars().to_numpy()])
        shortest, longest = lengths.min(axis=0), lengths.max(axis=0)
        fitting = (shortest >= self.tuning.shortest) & (longest <= self.longest)
        tried = np.flatnonzero((ours == theirs) & fitting & (first != second).to_numpy())
        likeness = spelled_alike(first.gather(tried).to_list(), second.gather(tried).to_list())
        close = np.zeros(len(left), dtype=np.bool_)
        close[near[tried]] = likeness >= self.tuning.close
        return levels, close

    def _levels(self, ours: Numbers, theirs: Numbers) -> NDArray[np.int64]:
        """How pairs of sets of marks, by number, compare."""
        size = np.int64(len(self.sets))
        distinct, numbers = np.unique(ours * size + theirs, return_inverse=True)
        sets = (([self.sets[i] for i in side]) for side in np.divmod(distinct, size))
        each = [compare_marks(one, other) for one, other in zip(*sets, strict=True)]
        return np.array(each, dtype=np.int64)[numbers]

    def learn(self, left: Positions, right: Positions, trust: Vector) -> Terms:
        """What the anchors (left, right, trust), held against their rivals, tell about pairs.

        Spelling says nothing where names are not alike anyway.
        """
        tuning, prior = self.tuning, self.tuning.prior
        partner = np.full(self.names.shape[0], -1, dtype=np.int64)
        partner[left] = right
        one, other = np.divmod(self.rivals, max(self.names.shape[1], 1))
        rival = (partner[one] >= 0) & (partner[one] != other)
        spellings, against = self.compare(left, right), self.compare(one[rival], other[rival])
        hits = np.bincount(spellings[0], trust, minlength=UNALIKE + 1)[:UNALIKE]
        misses = np.bincount(against[0], minlength=UNALIKE + 1)[:UNALIKE]
        chance = (misses + 1) / (misses.sum() + UNALIKE)
        likely = (hits + prior * chance) / (hits.sum() + prior)
        often = (trust[spellings[1]].sum() + prior * tuning.misspelled) / (trust.sum() + prior)
        seldom = (against[1].sum() + 0.5) / (len(against[1]) + 1)
        marks = np.clip(np.log(likely / chance), -tuning.most, tuning.most_for_marks)
        weights = np.append(marks, 0.0)
        misspelled = float(np.clip(np.log(often / seldom), 0.0, tuning.most))

        def terms(left: Numbers, right: Numbers) -> Vector:
            levels, close = self.compare(left, right)
            return np.asarray(weights[levels] + misspelled * close)[:, None]

        return terms


def read_spelling(
    texts: tuple[pl.Series, pl.Series],
    names: MaxOverNames,
    rivals: Positions,
    *,
    tuning: Tuning = TUNING,
) -> Spelling:
    """The spelling of the names (``texts``) that ``names`` compares."""
    plain = folded(pl.concat(texts))
    marks = in_blocks(_marks, plain)
    distinct = marks.unique().sort()
    numbers = distinct.search_sorted(marks).cast(pl.Int64).to_numpy()
    sets = [frozenset(text.split()) for text in distinct]
    letters = plain.str.replace_all(" ", "", literal=True)
    return Spelling(names, numbers, sets, letters, rivals, tuning.spelling, tuning.values.long)


def _marks(texts: pl.Series) -> pl.Series:
    """The distinct marks of each text, in order."""
    numeral = pl.element().str.strip_chars_start("0").replace({"": "0", **NUMERALS})
    return texts.str.extract_all(MARK).list.eval(numeral.unique().sort()).list.join(" ")


def compare_marks(ours: frozenset[str], theirs: frozenset[str]) -> int:
    """How two sets of marks compare."""
    if ours == theirs:
        return SAME if ours else NEITHER
    if not ours or not theirs:
        return ONE
    if ours < theirs or theirs < ours:
        return PART
    return OVERLAP if ours & theirs else DIFFERENT
