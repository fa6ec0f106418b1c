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
from sameas.similarity.cache import PairCache, Terms
from sameas.similarity.names import MaxOverNames
from sameas.similarity.values import LONG, spelled_alike
from sameas.text.folding import folded, in_blocks

ALIKE = 0.5
"""Names below this cosine are not compared."""
WORTH = 5.0
"""Pairs that a guess is worth."""
MOST = 6.0
"""The most that spelling says, in log-odds."""
CLOSE_AT = 0.85
"""The share of letters that are the same in a misspelling."""
SHORTEST = 6
"""Letters below which a letter more or less makes another word."""
MISSPELLED = 0.15
"""The share of links that are taken to be misspelled, before anything is learned."""
MARK = r"^(?:[a-z]?\d+[a-z]?|[a-z])$"
"""Words that are a number, or a letter that stands alone."""

NEITHER, SAME, DIFFERENT, ONE, UNALIKE = range(5)
"""Neither name has a mark, both the same, both different ones, one of them has; or no matter."""


@dataclass(frozen=True, eq=False)
class Spelling:
    """The marks and letters of all names of both graphs."""

    names: MaxOverNames
    marks: NDArray[np.int64]
    """The number of each name's set of marks, 0 for none; left before right."""
    letters: pl.Series
    """The letters of each name, without spaces."""
    rivals: Positions
    """Pairs with similar names, as numbers left * len(right) + right."""

    @cached_property
    def compare(self) -> PairCache:
        """How the marks of the best-fitting names of pairs compare, and which are misspelled."""
        return PairCache(self._compared, self.names.shape[1])

    def _compared(
        self, left: Positions, right: Positions
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        cosine, a, b = self.names.best(left, right)
        near = np.flatnonzero(cosine >= ALIKE)
        a, b = a[near], b[near] + self.names.products.shape[0]
        ours, theirs = self.marks[a], self.marks[b]
        both = np.where((ours == 0) | (theirs == 0), ONE, DIFFERENT)
        levels = np.full(len(left), UNALIKE)
        levels[near] = np.where(ours == theirs, np.where(ours == 0, NEITHER, SAME), both)
        first, second = self.letters.gather(a), self.letters.gather(b)
        lengths = np.stack([first.str.len_chars().to_numpy(), second.str.len_chars().to_numpy()])
        tried = (ours == theirs) & (lengths.min(axis=0) >= SHORTEST) & (lengths.max(axis=0) <= LONG)
        tried = np.flatnonzero(tried & (first != second).to_numpy())
        likeness = spelled_alike(first.gather(tried).to_list(), second.gather(tried).to_list())
        close = np.zeros(len(left), dtype=np.bool_)
        close[near[tried]] = likeness >= CLOSE_AT
        return levels, close

    def learn(self, left: Positions, right: Positions, trust: Vector) -> Terms:
        """What the anchors (left, right, trust), held against their rivals, tell about pairs.

        Spelling says nothing where names are not alike anyway.
        """
        partner = np.full(self.names.shape[0], -1, dtype=np.int64)
        partner[left] = right
        one, other = np.divmod(self.rivals, max(self.names.shape[1], 1))
        rival = (partner[one] >= 0) & (partner[one] != other)
        found, against = self.compare(left, right), self.compare(one[rival], other[rival])
        hits = np.bincount(found[0], trust, minlength=5)[:4]
        misses = np.bincount(against[0], minlength=5)[:4]
        chance = (misses + 1) / (misses.sum() + 4)
        likely = (hits + WORTH * chance) / (hits.sum() + WORTH)
        often = (trust[found[1]].sum() + WORTH * MISSPELLED) / (trust.sum() + WORTH)
        seldom = (against[1].sum() + 0.5) / (len(against[1]) + 1)
        weights = np.append(np.clip(np.log(likely / chance), -MOST, 1.0), 0.0)
        misspelled = float(np.clip(np.log(often / seldom), 0.0, MOST))

        def terms(left: Numbers, right: Numbers) -> Vector:
            levels, close = self.compare(left, right)
            return np.asarray(weights[levels] + misspelled * close)[:, None]

        return terms


def read_spelling(
    texts: tuple[pl.Series, pl.Series], names: MaxOverNames, rivals: Positions
) -> Spelling:
    """The spelling of the names (``texts``) that ``names`` compares."""
    plain = folded(pl.concat(texts))
    marks = in_blocks(_marks, plain).fill_null("")
    numbers = marks.rank("dense").cast(pl.Int64).to_numpy().copy()
    numbers[(marks == "").to_numpy()] = 0
    return Spelling(names, numbers, plain.str.replace_all(" ", "", literal=True), rivals)


def _marks(texts: pl.Series) -> pl.Series:
    """The distinct marks of each text, in order."""
    words = pl.element().filter(pl.element().str.contains(MARK)).unique().sort()
    return texts.str.split(" ").list.eval(words).list.join(" ")
