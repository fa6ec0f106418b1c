"""What n-grams do not see in names: numbers that differ, letters that stand alone, misspellings.

"Cervical vertebra 3" and "cervical vertebra 4" have nearly all n-grams in common. How much it
says that the numbers (or single letters) of two names differ is learned: from sure links against
their rivals. So is how much it says that names differ by a letter or two only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.features import folded
from sameas.likeness import LONG, encoded, similarities
from sameas.many_names import BestNames

Vector = NDArray[np.float64]

ALIKE = 0.5
"""Names below this cosine are not held to be rivals."""
WORTH = 5.0
"""Pairs that a guess (nothing to learn) is worth."""
MOST = 6.0

CLOSE_AT = 0.85
"""Share of letters that are the same in a misspelling."""
SHORTEST = 6
"""Letters below which a letter more or less makes another word."""
MISSPELLED = 0.15
"""Share of links that are taken to be of names spelled otherwise, before anything is learned."""
EQUAL, CLOSE, OTHER = range(3)

NEITHER, SAME, DIFFERENT, ONE = range(4)
"""Neither name has a mark, both the same, both different ones, one of them has."""


@dataclass(eq=False)
class NameMarks:
    """The numbers and single letters of all names of both graphs."""

    names: BestNames
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    """For each name the number of its set of marks, 0 for none."""
    letters: tuple[NDArray[np.uint8], NDArray[np.int64]]
    """The letters of all names, left before right."""
    spelled: NDArray[np.int64]
    """Names of the same letters have the same number; left before right."""

    def levels(self, left: NDArray[np.integer], right: NDArray[np.integer]) -> tuple[NDArray[np.int64], Vector]:
        """How the marks of the best-fitting names of pairs compare, and the names' cosine."""
        cosine, a, b = self.names.best(left.astype(np.int64), right.astype(np.int64))
        ours = np.where(a >= 0, self.left[a], 0)
        theirs = np.where(b >= 0, self.right[b], 0)
        levels = np.where(
            ours == theirs,
            np.where(ours == 0, NEITHER, SAME),
            np.where((ours == 0) | (theirs == 0), ONE, DIFFERENT),
        )
        return levels, cosine.astype(np.float64)

    def close(self, left: NDArray[np.integer], right: NDArray[np.integer]) -> NDArray[np.int64]:
        """How the best-fitting names of pairs are spelled: the same, nearly so, otherwise."""
        cosine, a, b = self.names.best(left.astype(np.int64), right.astype(np.int64))
        found = np.full(len(left), OTHER, dtype=np.int64)
        size = len(self.left)
        near = np.flatnonzero((cosine >= ALIKE) & (a >= 0) & (b >= 0))
        a, b = a[near], b[near] + size
        same = self.spelled[a] == self.spelled[b]
        letters, starts = self.letters
        values = np.zeros(len(near))
        similarities(letters, starts, letters, starts, a, b, values)
        lengths = np.minimum(np.diff(starts)[a], np.diff(starts)[b])
        typo = (values >= CLOSE_AT) & (lengths >= SHORTEST) & (lengths < LONG)
        typo &= self.left[a] == self.right[b - size]
        found[near] = np.where(same, EQUAL, np.where(typo, CLOSE, OTHER))
        return found


def name_marks(names: BestNames) -> NameMarks:
    """The marks of the names of both sides."""
    texts = pl.concat([names.left.texts, names.right.texts])
    words = folded(texts).str.split(" ")
    marks = pl.DataFrame({"words": words}).select(
        pl.col("words").list.eval(
            pl.element().filter(pl.element().str.contains(r"^(?:[a-z]?\d+[a-z]?|[a-z])$")).unique().sort()
        ).list.join(" ")
    ).to_series()
    marks = marks.fill_null("")
    numbers = marks.rank("dense").cast(pl.Int64).to_numpy().copy()
    numbers[(marks == "").to_numpy()] = 0
    size = len(names.left.texts)
    bare = folded(texts).str.replace_all(" ", "", literal=True)
    return NameMarks(
        names,
        numbers[:size],
        numbers[size:],
        encoded(bare),
        bare.rank("dense").cast(pl.Int64).to_numpy(),
    )


@dataclass(frozen=True, eq=False)
class MarkModel:
    """What it says that marks are the same or differ, in log-odds."""

    marks: NameMarks
    weights: Vector
    close: float
    """What a misspelling says."""

    def score(self, left: NDArray[np.integer], right: NDArray[np.integer]) -> Vector:
        """What marks say about pairs; nothing where names are not alike anyway."""
        levels, cosine = self.marks.levels(left, right)
        said = np.where(cosine >= ALIKE, self.weights[levels], 0.0)
        return said + np.where(self.marks.close(left, right) == CLOSE, self.close, 0.0)


def learn_marks(
    marks: NameMarks,
    anchors: tuple[NDArray[np.int64], NDArray[np.int64], Vector],
    rivals: tuple[NDArray[np.integer], NDArray[np.integer]],
) -> MarkModel:
    """What the anchors (left, right, trust), held against their rivals, tell."""
    counts, spellings = [], []
    for (left, right), weight in ((anchors[:2], anchors[2]), (rivals, np.ones(len(rivals[0])))):
        levels, cosine = marks.levels(left, right)
        near = cosine >= ALIKE
        counts.append(np.bincount(levels[near], weight[near], minlength=4))
        spellings.append(np.bincount(marks.close(left, right), weight, minlength=3))
    hits, misses = counts
    chance = (misses + 1) / (misses.sum() + 4)
    likely = (hits + WORTH * chance) / (hits.sum() + WORTH)
    often = (spellings[0][CLOSE] + WORTH * MISSPELLED) / (spellings[0].sum() + WORTH)
    seldom = (spellings[1][CLOSE] + 0.5) / (spellings[1].sum() + 1)
    close = float(np.clip(np.log(often / seldom), 0.0, MOST))
    return MarkModel(marks, np.clip(np.log(likely / chance), -MOST, 1.0), close)
