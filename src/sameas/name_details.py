"""What n-grams do not see in names: numbers that differ, letters that stand alone.

"Cervical vertebra 3" and "cervical vertebra 4" have nearly all n-grams in common. How much it
says that the numbers (or single letters) of two names differ is learned: from sure links against
their rivals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.features import folded
from sameas.many_names import BestNames

Vector = NDArray[np.float64]

ALIKE = 0.5
"""Names below this cosine are not held to be rivals."""
WORTH = 5.0
"""Pairs that a guess (nothing to learn) is worth."""
MOST = 6.0

NEITHER, SAME, DIFFERENT, ONE = range(4)
"""Neither name has a mark, both the same, both different ones, one of them has."""


@dataclass(eq=False)
class NameMarks:
    """The numbers and single letters of all names of both graphs."""

    names: BestNames
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    """For each name the number of its set of marks, 0 for none."""

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
    return NameMarks(names, numbers[:size], numbers[size:])


@dataclass(frozen=True, eq=False)
class MarkModel:
    """What it says that marks are the same or differ, in log-odds."""

    marks: NameMarks
    weights: Vector

    def score(self, left: NDArray[np.integer], right: NDArray[np.integer]) -> Vector:
        """What marks say about pairs; nothing where names are not alike anyway."""
        levels, cosine = self.marks.levels(left, right)
        return np.where(cosine >= ALIKE, self.weights[levels], 0.0)


def learn_marks(
    marks: NameMarks,
    anchors: tuple[NDArray[np.int64], NDArray[np.int64], Vector],
    rivals: tuple[NDArray[np.integer], NDArray[np.integer]],
) -> MarkModel:
    """What the anchors (left, right, trust), held against their rivals, tell."""
    counts = []
    for (left, right), weight in ((anchors[:2], anchors[2]), (rivals, np.ones(len(rivals[0])))):
        levels, cosine = marks.levels(left, right)
        near = cosine >= ALIKE
        counts.append(np.bincount(levels[near], weight[near], minlength=4))
    hits, misses = counts
    chance = (misses + 1) / (misses.sum() + 4)
    likely = (hits + WORTH * chance) / (hits.sum() + WORTH)
    return MarkModel(marks, np.clip(np.log(likely / chance), -MOST, 1.0))
