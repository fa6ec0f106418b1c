"""What n-grams do not see in names: numbers that differ, misspellings, names that are not the main.

"Cervical vertebra 3" and "cervical vertebra 4" have nearly all n-grams in common. How much it
says that the numbers (or single letters) of two names differ is learned: from sure links against
their rivals. So is how much it says that names differ by a letter or two only, and whether equal
names are the main names of both, or synonyms.
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
SYNONYMS, SYNONYM, MAIN, UNEQUAL = range(4)
"""Equal names: none of them, one of them, both are the main names of their entities; or not
equal."""

WHICH = {
    SYNONYMS: "but further names of both",
    SYNONYM: "but the main name of one only",
    MAIN: "the main names of both",
}


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
        """How the best-fitting names of pairs compare: their marks, misspellings, main names."""
        return PairCache(self._compared, self.names.shape[1])

    def _compared(
        self, left: Positions, right: Positions
    ) -> tuple[NDArray[np.int8], NDArray[np.bool_], NDArray[np.int8]]:
        cosine, a, b = self.names.best(left, right)
        main = (a == self.names.left_starts[left]).astype(np.int8)
        main += b == self.names.right_starts[right]
        equal = np.where(cosine >= self.tuning.equal, main, np.int8(UNEQUAL))
        near = np.flatnonzero(cosine >= self.tuning.alike)
        a, b = a[near], b[near] + self.names.products.shape[0]
        ours, theirs = self.marks[a], self.marks[b]
        levels = np.full(len(left), UNALIKE, dtype=np.int8)
        levels[near] = self._levels(ours, theirs)
        first, second = self.letters.gather(a), self.letters.gather(b)
        lengths = np.stack([first.str.len_chars().to_numpy(), second.str.len_chars().to_numpy()])
        shortest, longest = lengths.min(axis=0), lengths.max(axis=0)
        fitting = (shortest >= self.tuning.shortest) & (longest <= self.longest)
        tried = np.flatnonzero((ours == theirs) & fitting & (first != second).to_numpy())
        likeness = spelled_alike(first.gather(tried).to_list(), second.gather(tried).to_list())
        close = np.zeros(len(left), dtype=np.bool_)
        close[near[tried]] = likeness >= self.tuning.close
        return levels, close, equal

    def _levels(self, ours: Numbers, theirs: Numbers) -> NDArray[np.int8]:
        """How pairs of sets of marks, by number, compare."""
        size = np.int64(max(len(self.sets), 1))
        distinct, numbers = np.unique(ours * size + theirs, return_inverse=True)
        pairs = zip(*np.divmod(distinct, size), strict=True)
        each = [compare_marks(self.sets[one], self.sets[other]) for one, other in pairs]
        return np.array(each, dtype=np.int8)[numbers]

    def shown(self, left: int, right: int) -> tuple[str, str, str]:
        """What is compared of two entities, in words: numbers, misspelling, main names."""
        pair = np.array([left]), np.array([right])
        _, a, b = self.names.best(*pair)
        sets = self.marks[[a[0], b[0] + self.names.products.shape[0]]]
        ours, theirs = (", ".join(sorted(self.sets[number], key=_by_size)) for number in sets)
        (equal,) = self.compare(*pair)[2]
        return (
            f"numbers and single letters {ours or 'none'} (left), {theirs or 'none'} (right)",
            "other by a letter or two",
            "equal, " + WHICH.get(int(equal), "no"),
        )

    def learn(self, left: Positions, right: Positions, trust: Vector) -> Terms:
        """What the anchors (left, right, trust), held against their rivals, tell about pairs.

        Spelling says nothing where names are not alike anyway, and which names are equal nothing
        where none are.
        """
        tuning, prior = self.tuning, self.tuning.prior
        partner = np.full(self.names.shape[0], -1, dtype=np.int64)
        partner[left] = right
        one, other = np.divmod(self.rivals, max(self.names.shape[1], 1))
        rival = (partner[one] >= 0) & (partner[one] != other)
        spellings, against = self.compare(left, right), self.compare(one[rival], other[rival])
        marks = _log_ratios(spellings[0], trust, against[0], UNALIKE, prior, float(UNALIKE))
        marks = np.clip(marks, -tuning.most, tuning.most_for_marks)
        often = (trust[spellings[1]].sum() + prior * tuning.misspelled) / (trust.sum() + prior)
        seldom = (against[1].sum() + 0.5) / (len(against[1]) + 1)
        misspelled = float(np.clip(np.log(often / seldom), 0.0, tuning.most))
        main = _log_ratios(spellings[2], trust, against[2], UNEQUAL, prior, tuning.main_prior)
        main = np.clip(main, -tuning.most_for_main, tuning.most_for_main)

        def terms(left: Numbers, right: Numbers) -> Vector:
            levels, close, equal = self.compare(left, right)
            return np.stack([marks[levels], misspelled * close, main[equal]], axis=1)

        return terms


def _log_ratios(
    links: Numbers, trust: Vector, rivals: Numbers, count: int, prior: float, rival_prior: float
) -> Vector:
    """ln of how often links have each of ``count`` levels against how often rivals do.

    Both are shares of those that have one of these levels; the level ``count`` says nothing.
    Rivals are smoothed towards equal shares, links towards those of rivals.
    """
    hits = np.bincount(links, trust, minlength=count + 1)[:count]
    misses = np.bincount(rivals, minlength=count + 1)[:count]
    chance = (misses + rival_prior / count) / (misses.sum() + rival_prior)
    likely = (hits + prior * chance) / (hits.sum() + prior)
    return np.append(np.log(likely / chance), 0.0)


def compare_marks(ours: frozenset[str], theirs: frozenset[str]) -> int:
    """How two sets of marks compare.

    >>> compare_marks(frozenset({"5080", "1"}), frozenset({"5080", "2"})) == OVERLAP
    True
    """
    if ours == theirs:
        return SAME if ours else NEITHER
    if not ours or not theirs:
        return ONE
    if ours < theirs or theirs < ours:
        return PART
    return OVERLAP if ours & theirs else DIFFERENT


def read_spelling(
    texts: tuple[pl.Series, pl.Series],
    names: MaxOverNames,
    rivals: Positions,
    *,
    tuning: Tuning = TUNING,
) -> Spelling:
    """The spelling of the names (``texts``) that ``names`` compares."""
    plain = folded(pl.concat(texts))
    marks = in_blocks(marks_of, plain)
    distinct = marks.unique().sort()
    numbers = distinct.search_sorted(marks).cast(pl.Int64).to_numpy()
    sets = [frozenset(text.split()) for text in distinct]
    letters = plain.str.replace_all(" ", "", literal=True)
    return Spelling(names, numbers, sets, letters, rivals, tuning.spelling, tuning.values.long)


def marks_of(texts: pl.Series) -> pl.Series:
    """The distinct marks of each folded text, in order: numbers without leading zeros, letters.

    >>> marks_of(pl.Series(["rhombomere 08", "bs 5080 1", "cli8m", "type i"])).to_list()
    ['8', '1 5080', '8', '1']
    """
    bare = pl.element().str.strip_chars_start("0").replace({"": "0", **NUMERALS})
    return texts.str.extract_all(MARK).list.eval(bare.unique().sort()).list.join(" ").fill_null("")


def _by_size(mark: str) -> tuple[int, str]:
    return len(mark), mark
