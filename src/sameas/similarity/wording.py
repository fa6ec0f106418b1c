"""Words that only one of two names has: in one graph they tell things apart.

"Air Pollution Control" and "Water Pollution Control" share most of their letters. Within a graph,
names that have a word in place of another are given to things on purpose; words that are missing,
misspelled or shortened are not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.compute.arrays import Mask, Numbers, Positions, Vector
from sameas.graph.matched import MatchedGraph
from sameas.options.tuning import TUNING, Tuning, WordingTuning
from sameas.similarity.cache import PairCache, Terms
from sameas.similarity.frames import Frames, read_frames
from sameas.similarity.matrix import RowProduct
from sameas.similarity.several_names import MaxOverNames
from sameas.similarity.slips import Slips, edits, learn_slips
from sameas.similarity.walks import neighbours, walk_lifts
from sameas.text.folding import folded

SAME, SLIP, SPELLED, KNOWN, INITIAL, SURNAME, LITTLE, MUCH, STRANGE, REPLACED, NUMBERS, UNALIKE = (
    range(12)
)
SEVERAL = 12
"""The same words; one edit apart in a long word of several, by a plural, by two letters swapped, or
by spaces; one edit apart otherwise; one edit apart, and both are words of other names, too;
initials in place of words; the surname alone of a person; little more in one name, or much more; a
word that no other name has in place of another, or known words in place of others; other numbers;
or names that are not alike anyway. Last, initials that may stand for several names: for one of them
at most."""
LEVELS = 13
LEARNED = SLIP, SPELLED, INITIAL, SURNAME
"""What the graph itself shows the worth of: how often such pairs fit in all else."""
APART = REPLACED, NUMBERS
"""What two things are told apart by."""


STEPS = 100
"""Steps in which a share is found; its likelihood has one maximum."""
ARTICLES = frozenset(
    {"the", "an", "le", "la", "les", "der", "die", "das", "el", "los", "las", "il", "lo", "gli"}
)
"""Words that a name may begin with or not, and is the same."""
TITLES = frozenset(
    {"mr", "mrs", "ms", "miss", "dr", "doctor", "prof", "professor", "sir", "madam", "inspector"}
    | {"captain", "colonel", "general", "sergeant", "president", "saint", "monsieur", "madame"}
    | {"mme", "mlle", "herr", "frau", "senor", "senora", "signor", "signora"}
)
"""Titles of people: a name may have one or lack it, but Mr. is not Mrs."""
PERSONS = frozenset({"person", "people", "human", "human being", "character", "individual"})
"""What graphs call the type of people."""
ACRONYM = re.compile(r"(.+?)\s*\((\w{2,})\)")
INITIALS, SIGNS = r"\b(\p{L})\.", r"[+#]"
"""A letter with a full stop is short for a word; R is a language of its own, as are C and C++."""
AGAIN = r"\*\d+$"
"""What is put to a word that a name repeats."""
NUMERAL = re.compile(r"\d|^[ivx]+$")
"""Words that are numbers and have no letters, or Roman ones."""
FIRST_WORD = r"^(\S)\S*"
LAST_ARTICLE = rf"(?i),\s*(?:{'|'.join(sorted(ARTICLES))})\s*$"


@dataclass(frozen=True, eq=False)
class Words:
    """The words of all names of one graph."""

    names: MaxOverNames | RowProduct
    words: pl.DataFrame
    """name, word (number), initial (whether it is a letter with a full stop): each word once."""
    plain: pl.Series
    """Each name as its words, in order."""
    spelled: pl.Series
    """Each name as it is spelled: number words are words."""
    articles: Numbers
    """The initial of the article that each name begins with, as a word; -1 where there is none."""
    signs: Numbers
    """How many signs each name has."""
    texts: pl.Series
    """The words, by number."""
    rarity: Vector
    """-ln of the share of names that have each word."""
    people: Mask
    """Which entities are said to be people."""
    slips: Slips
    frames: Frames
    tuning: WordingTuning = TUNING.wording

    @cached_property
    def compare(self) -> PairCache:
        """How the words of the best-fitting names of pairs compare."""
        return PairCache(self._compared, self.names.shape[1])

    def _compared(
        self, left: Positions, right: Positions
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.float32]]:
        """The level of each pair, the cosine, and what the letters and the frame of a slip say."""
        if isinstance(self.names, MaxOverNames):
            cosine, a, b = self.names.best(left, right)
        else:
            cosine, a, b = self.names.of(left, right), left, right
        texts = self.plain.gather(a).to_list(), self.plain.gather(b).to_list()
        alike = (cosine >= self.tuning.alike) | (edits(*texts) <= 1) | self._shortened(a, b)
        near = np.flatnonzero(alike)
        levels = np.full(len(left), UNALIKE, dtype=np.uint8)
        people = self.people[left[near]] & self.people[right[near]]
        odd = np.zeros(len(left), dtype=np.float32)
        levels[near], odd[near] = self._levels(a[near], b[near], people)
        return levels, cosine, odd

    def _levels(
        self, a: Positions, b: Positions, people: Mask
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """How the words of pairs of names, by number, compare; and what letters say of slips."""
        size = len(a)
        met = self._met(a, b, people)
        counts = [np.bincount(side["pair"].to_numpy(), minlength=size) for side in met.left]
        sums = [self._sums(side, size) for side in met.left]
        extra = np.maximum(*sums)
        spelled = met.alike.select("pair", "word").unique()
        total = np.maximum(self._sums(met.both, size) + self._sums(spelled, size) + extra, 1e-9)
        levels = np.where(extra <= self.tuning.little * total, LITTLE, MUCH)
        strange = self._any(met.left, size, self._is_strange)
        replaced = (counts[0] > 0) & (counts[1] > 0)
        levels = np.where(replaced, np.where(strange, STRANGE, REPLACED), levels)
        letters = [self._marks(side, size, self._is_letter) for side in met.left]
        marked = self._any(met.left, size, self._is_number) | (letters[0] & letters[1])
        levels = np.where(marked | (self.signs[a] != self.signs[b]), NUMBERS, levels)
        ends = (counts[0] == 0) ^ (counts[1] == 0)
        levels = np.where(people & ends & self._is_surname(a, b), SURNAME, levels)
        levels = np.where(self._spaced(a, b), SLIP, levels)
        several = self.plain.gather(a).str.contains(" ") & self.plain.gather(b).str.contains(" ")
        slipped = self._number_words(a, b, levels == NUMBERS)
        levels = np.where(slipped, np.where(several.to_numpy(), SLIP, SPELLED), levels)
        slips, odd = self._slips(a, b, met)
        levels = np.where(slips < UNALIKE, slips, levels)
        nothing = (counts[0] == 0) & (counts[1] == 0) & (levels != NUMBERS) & (slips == UNALIKE)
        initial = np.bincount(met.alike["pair"].to_numpy(), minlength=size) > 0
        initials = np.where(self._in_order(a, b, initial), INITIAL, MUCH)
        levels = np.where(nothing, np.where(initial, initials, SAME), levels)
        return levels.astype(np.uint8), odd

    def _shortened(self, a: Positions, b: Positions) -> Mask:
        """Which pairs of names are the same but for the first word, of which one has the initial.

        "Q. FK" and "Qarabag FK" have few letters in common.
        """
        names = pl.DataFrame({"a": self.plain.gather(a), "b": self.plain.gather(b)})
        short = names.select(pl.all().str.replace(FIRST_WORD, "$1"))
        one = (names["a"] == short["a"]) | (names["b"] == short["b"])
        same: Mask = (one & (short["a"] == short["b"]) & short["a"].str.contains(" ")).to_numpy()
        return same

    @cached_property
    def _joined(self) -> pl.Series:
        """The letters and digits of each name, without spaces."""
        return self.spelled.str.replace_all(" ", "", literal=True)

    def _number_words(self, a: Positions, b: Positions, which: Mask) -> Mask:
        """Which of these pairs of names are one edit apart in a number that is written as a word.

        "Secold French Empire" is the second one. Digits, Roman numerals and letters that stand
        alone are not misspelled.
        """
        places = np.flatnonzero(which & (self.signs[a] == self.signs[b]))
        names = [self.spelled.gather(side[places]).to_list() for side in (a, b)]
        slipped = np.zeros(len(a), dtype=np.bool_)
        for place in np.flatnonzero(edits(*names) <= 1):
            ours, theirs = (set(side[place].split()) for side in names)
            rest = ours - theirs, theirs - ours
            letters = all(any(len(word) == 1 for word in side) for side in rest)
            written = any(NUMERAL.search(word) for side in rest for word in side)
            slipped[places[place]] = not (letters or written)
        return slipped

    def _spaced(self, a: Positions, b: Positions) -> Mask:
        """Which pairs of names differ in spaces alone, and have the same numbers and signs."""
        letters = (self._joined.gather(a) == self._joined.gather(b)).to_numpy()
        same: Mask = letters & (self.signs[a] == self.signs[b])
        some = np.flatnonzero(same)
        names = (self.plain.gather(side[some]) for side in (a, b))
        one, other = (name.str.extract_all(r"\d+").list.join(" ") for name in names)
        same[some] = (one == other).to_numpy()
        return same

    def _met(self, a: Positions, b: Positions, people: Mask) -> _Met:
        """The words that the names of pairs have in common, and those that they do not."""
        pairs = pl.DataFrame({"pair": np.arange(len(a)), "a": a, "b": b})
        ours, theirs = (
            pairs.select("pair", name=side).join(self.words, on="name").drop("name")
            for side in ("a", "b")
        )
        both = ours.join(theirs, on=["pair", "word"])
        rest = [side.join(both, on=["pair", "word"], how="anti") for side in (ours, theirs)]
        titled = [self._marks(side, len(a), self._is_title) for side in rest]
        # A title of a person that the other name lacks says nothing.
        untitled = people & ~(titled[0] & titled[1])
        rest = [
            side.filter(~(self._is_title[side["word"]] & untitled[side["pair"]])) for side in rest
        ]
        # "T. Beatles" has an initial for an article, which says nothing either.
        rest = [
            side.filter(
                ~(
                    side["initial"]
                    & pl.Series(side["word"].to_numpy() == self.articles[other][side["pair"]])
                )
            )
            for side, other in zip(rest, (b, a), strict=True)
        ]
        met = rest[0].join(rest[1], on="pair")
        short = met.filter(pl.col("initial") | pl.col("initial_right"))
        one, other = (
            self.texts.gather(short[column]).str.replace(AGAIN, "")
            for column in ("word", "word_right")
        )
        begins = pl.DataFrame({"one": one, "other": other}).select(
            pl.col("one").str.starts_with(pl.col("other"))
            | pl.col("other").str.starts_with(pl.col("one"))
        )["one"]
        alike = short.filter(begins)
        left = [
            side.join(alike.select("pair", word=column), on=["pair", "word"], how="anti")
            for side, column in zip(rest, ("word", "word_right"), strict=True)
        ]
        return _Met(both, alike, (left[0], left[1]))

    def _slips(
        self, a: Positions, b: Positions, met: _Met
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Which names are one edit apart, and how: SLIP, SPELLED, KNOWN, or UNALIKE if not.

        An edit is looked for in the whole name, where it may be a space, and in a single word
        that is left of each, wherever it stands. Numbers are not misspelled, a letter that stands
        alone is no misspelling of a word, and another first letter may well make another word.
        The second answer is what the letters of two words say of a slip, and how many names have
        the other words, in log-odds.
        """
        size = len(a)
        counts = [np.bincount(side["pair"].to_numpy(), minlength=size) for side in met.left]
        fit = ((counts[0] > 0) | (counts[1] > 0)) & (self.signs[a] == self.signs[b])
        some = np.flatnonzero(fit & ~self._any(met.left, size, self._is_number | self._is_letter))
        names = [self.plain.gather(side[some]).to_list() for side in (a, b)]
        single = (counts[0][some] == 1) & (counts[1][some] == 1)
        words = [self._last(side, size)[some] for side in met.left]
        texts = [self.texts.gather(side).to_list() for side in words]
        strange = self._any(met.left, size, self._is_strange)[some]
        often = np.stack([self._counts[side] for side in words])
        strange |= single & (often.min(axis=0) * self.tuning.slip_of <= often.max(axis=0))
        apart = np.where(single, np.minimum(edits(*names), edits(*texts)), edits(*names))
        kinds = [self._kind_of_slip(*four) for four in zip(*names, *texts, strict=True)]
        spaced = [SLIP if " " in x and " " in y else SPELLED for x, y in zip(*names, strict=True)]
        kind = np.where(single, np.array(kinds, dtype=np.int64).reshape(-1), np.array(spaced, int))
        plural = [x.rstrip("es") == y.rstrip("es") for x, y in zip(*texts, strict=True)]
        plurals = single & np.array(plural, dtype=np.bool_)
        kind = np.where(plurals, SLIP, np.where(strange, kind, KNOWN))
        levels, odd = np.full(size, UNALIKE), np.zeros(size, dtype=np.float32)
        levels[some] = np.where(apart <= 1, kind, UNALIKE)
        told = np.flatnonzero(single & ~plurals & np.isin(levels[some], (SLIP, SPELLED)))
        odd[some[told]] = self.slips.worth(*([side[k] for k in told] for side in texts))
        ends = (a[some[told]], b[some[told]]), (words[0][told], words[1][told])
        odd[some[told]] += self.frames.says(*ends)
        return levels, odd

    def _kind_of_slip(self, one: str, other: str, word: str, with_word: str) -> int:
        """How two names that differ in a single word each differ, if by one edit.

        "Potsmouth Harbour" is a slip, "Dinar" may be another currency than "Denar".
        """
        several = " " in one and " " in other
        long = max(len(word), len(with_word)) >= self.tuning.longer
        swapped = sorted(word) == sorted(with_word)
        if swapped or (several and long and word[:1] == with_word[:1]):
            return SLIP
        if word[:1] != with_word[:1]:
            return SPELLED if several and long else KNOWN
        return SPELLED if several or long else KNOWN

    def _last(self, side: pl.DataFrame, size: int) -> Positions:
        """A word of each pair; the first of all words where it has none."""
        words = np.zeros(size, dtype=np.int64)
        words[side["pair"].to_numpy()] = side["word"].to_numpy()
        return words

    def _in_order(self, a: Positions, b: Positions, which: Mask) -> Mask:
        """Which names have words and the initials for them in one order."""
        ordered = np.zeros(len(a), dtype=np.bool_)
        for place in np.flatnonzero(which):
            names = (self.plain[int(side[place])].split() for side in (a, b))
            ours, theirs = ([word.partition("*")[0] for word in name] for name in names)
            ordered[place] = len(ours) == len(theirs) and all(
                x == y or x == y[0] or x[0] == y for x, y in zip(ours, theirs, strict=True)
            )
        return ordered

    def _is_surname(self, a: Positions, b: Positions) -> Mask:
        """Which pairs of names are one word, and several that end in it as no others do."""
        both = pl.DataFrame({"a": self._bare.gather(a), "b": self._bare.gather(b)})
        ends = both.select(
            short=pl.when(pl.col("a").str.ends_with(" " + pl.col("b")))
            .then("b")
            .when(pl.col("b").str.ends_with(" " + pl.col("a")))
            .then("a")
        )["short"]
        return ends.is_in(self._surnames.implode()).fill_null(False).to_numpy()

    @cached_property
    def _surnames(self) -> pl.Series:
        """The last words that one name of several words ends in."""
        last = self._bare.unique().str.extract(r" (\S+)$").drop_nulls()
        once: pl.Series = last.filter(last.is_unique())
        return once

    @cached_property
    def _bare(self) -> pl.Series:
        """The names without titles before them."""
        return self.plain.str.replace(rf"^(?:(?:{'|'.join(sorted(TITLES))}) )+", "")

    def _any(self, sides: tuple[pl.DataFrame, pl.DataFrame], size: int, which: Mask) -> Mask:
        return self._marks(sides[0], size, which) | self._marks(sides[1], size, which)

    def _sums(self, side: pl.DataFrame, size: int) -> Vector:
        words = side["word"].to_numpy()
        return np.bincount(side["pair"].to_numpy(), self.rarity[words], size).astype(np.float64)

    def _marks(self, side: pl.DataFrame, size: int, which: Mask) -> Mask:
        chosen = side["pair"].to_numpy()[which[side["word"].to_numpy()]]
        return np.bincount(chosen, minlength=size) > 0

    @cached_property
    def _is_number(self) -> Mask:
        return self.texts.str.replace(AGAIN, "").str.contains(r"\d").to_numpy()

    @cached_property
    def _is_title(self) -> Mask:
        return self.texts.is_in(list(TITLES)).to_numpy()

    @cached_property
    def _is_letter(self) -> Mask:
        """Letters that stand alone."""
        return (self.texts.str.replace(AGAIN, "").str.len_chars() == 1).to_numpy()

    @cached_property
    def _is_strange(self) -> Mask:
        """Words that one name alone has."""
        return self._counts < 2

    @cached_property
    def _counts(self) -> Numbers:
        """How many names have each word."""
        return np.bincount(self.words["word"].to_numpy(), minlength=len(self.texts))


class _Met(NamedTuple):
    """The words of pairs of names, each a table of pair, word and more."""

    both: pl.DataFrame
    alike: pl.DataFrame
    """Words and the initials that stand for them."""
    left: tuple[pl.DataFrame, pl.DataFrame]
    """The other words of both."""


@dataclass(frozen=True, eq=False)
class Meant:
    """How likely initials stand for each of several entities of one graph, by their neighbours."""

    size: int
    """Entities of the graph."""
    keys: Positions
    """The pairs, ascending: the number of the first entity times the size plus that of the other;
    both ways round."""
    share: Vector

    def shares(self, left: Numbers, right: Numbers, usual: Vector) -> Vector:
        """The share of each pair; the usual one where it is not known."""
        keys = left.astype(np.int64) * self.size + right
        places = np.minimum(np.searchsorted(self.keys, keys), max(len(self.keys) - 1, 0))
        if not len(self.keys):
            return usual
        return np.where(self.keys[places] == keys, self.share[places], usual)


def read_meant(
    names: pl.Series, short: pl.Series, graph: MatchedGraph, *, tuning: WordingTuning
) -> Meant:
    """What initials mean in a graph whose entities have these names, and these when shortened.

    The names that an initial may stand for share out one by how much likelier than by chance walks
    lead to them; chance itself is added to each, so that they are equal where there are no walks.
    """
    table = pl.DataFrame({"entity": np.arange(len(names)), "name": names, "short": short})
    whole = table.filter(pl.col("name") != pl.col("short"))
    few = whole.filter(pl.col("name").n_unique().over("short").is_between(2, tuning.initials))
    initials = table.filter(pl.col("name") == pl.col("short")).select("entity", "short")
    pairs = initials.join(few, on="short", suffix="_meant").sort("entity", "entity_meant")
    left, right = (pairs[side].to_numpy() for side in ("entity", "entity_meant"))
    lifts = walk_lifts(neighbours(graph), left, right) if len(pairs) else np.zeros(0)
    by_name = (
        pairs.with_columns(lift=lifts + 1.0).group_by("entity", "name").agg(pl.col("lift").max())
    )
    total = by_name.group_by("entity").agg(total=pl.col("lift").sum())
    share = (lifts + 1.0) / pairs.join(total, on="entity", how="left", maintain_order="left")[
        "total"
    ].to_numpy()
    keys = np.concatenate([left * len(names) + right, right * len(names) + left])
    order = np.argsort(keys)
    return Meant(len(names), keys[order], np.tile(share, 2)[order])


@dataclass(frozen=True, eq=False)
class Wording:
    """What the words of the names of one graph say."""

    words: Words
    crowd: Vector
    """The logarithm of how many others have the first name of each entity, at least the mean of
    those that have namesakes: names that many have do not tell who is who."""
    fitting: Numbers
    """How many names begin with the same letter as the first name of each entity, and are the same
    but for the first word: that many an initial may stand for."""
    meant: Meant
    """How likely such an initial stands for each of these, by their neighbours."""
    name_weight: float
    """What a cosine of one is worth."""
    worth: tuple[float, ...]
    """What it says that words compare in each way."""

    @property
    def compare(self) -> PairCache:
        """How the words of the best-fitting names of pairs compare."""
        return self.words.compare

    def taught(self, left: Numbers, right: Numbers, surplus: Vector, thresholds: Vector) -> Wording:
        """The wording with worths that suit all else that is known of pairs.

        Of the pairs whose words compare in some way, a share is the same; the likeliest share,
        given how well pairs fit in all else, is found by expectation maximization. The usual worth
        counts like some pairs.
        """
        levels, worth = self.levels(left, right)[0], np.array(self.worth)
        tuning = self.words.tuning
        usual_worth = np.append(worth[:SEVERAL], worth[INITIAL])
        others = surplus + thresholds - self.name_weight - usual_worth[levels]
        for level in LEARNED:
            here = levels == level
            if not here.any():
                continue
            threshold = float(thresholds[here].mean())
            usual = self.name_weight + tuning.worth[level] - threshold
            log_odds = likeliest(others[here], usual, tuning.prior)
            worth[level] = log_odds + threshold - self.name_weight
        several = np.flatnonzero(levels == SEVERAL)
        if len(several):
            less = self._stands_for(left[several], right[several])
            further = max(float(np.median(others[several] - less)), 0.0)
            threshold = float(thresholds[several].mean())
            any_of_them = self.name_weight + worth[INITIAL] - threshold + further
            worth[SEVERAL] = max(any_of_them, np.log(tuning.certain / (1 - tuning.certain)))
        return replace(self, worth=tuple(worth.tolist()))

    def levels(
        self, left: Numbers, right: Numbers
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.float32]]:
        """As ``compare`` has it, and whether initials may stand for several names."""
        levels, cosine, odd = self.compare(left, right)
        several = (levels == INITIAL) & (self._fitting(left, right) > 1)
        return np.where(several, np.uint8(SEVERAL), levels), cosine, odd

    def _fitting(self, left: Numbers, right: Numbers) -> Numbers:
        """How many names the initial in one of two names may stand for."""
        return np.maximum(self.fitting[left], self.fitting[right])

    def _stands_for(self, left: Numbers, right: Numbers) -> Vector:
        """What it says less that the initial in one of two names may stand for others, too.

        If an initial stands for one of several names with the probability p, and a name has the
        share s of that, the odds of the name are sp to 1 - sp, instead of p to 1 - p.
        """
        share = self.meant.shares(left, right, 1.0 / self._fitting(left, right))
        any_of_them = self.worth[SEVERAL]
        less: Vector = np.log(share / (1 - share + np.exp(-any_of_them))) - any_of_them
        return less

    def learn(self, left: Positions, right: Positions, trust: Vector) -> Terms:
        """The log-odds of pairs by their wording, which do not depend on anchors."""
        worth = np.append(self.worth[:SEVERAL], self.worth[INITIAL])
        given_back = np.zeros(LEVELS)
        given_back[[SAME, *LEARNED, SEVERAL]] = 1.0

        def terms(left: Numbers, right: Numbers) -> Vector:
            levels, cosine, odd = self.levels(left, right)
            lost = self.name_weight * (1 - cosine) * given_back[levels]
            both = np.minimum(self.crowd[left], self.crowd[right])
            shared = self.words.tuning.namesakes * both * (levels == SAME)
            several = np.flatnonzero(levels == SEVERAL)
            shared[several] -= self._stands_for(left[several], right[several])
            return np.asarray(worth[levels] + lost + odd - shared)[:, None]

        return terms


def likeliest(ratios: Vector, usual: float, prior: float) -> float:
    """The log-odds of the share of pairs that are the same, given what else speaks for each.

    ``ratios`` are log-likelihood ratios; the ``usual`` log-odds count like so many pairs.
    """
    from scipy.special import expit  # slow to import, and only one graph needs it

    log_odds, before = usual, prior * expit(usual)
    for _ in range(STEPS):
        share = (float(expit(log_odds + ratios).sum()) + before) / (len(ratios) + prior)
        share = min(max(share, 1e-9), 1 - 1e-9)
        log_odds = float(np.log(share / (1 - share)))
    return log_odds


def without_acronym(name: str) -> str:
    """A name without the acronym of its words that follows in brackets.

    >>> without_acronym("Institute of Construction (IOC)"), without_acronym("Oasis (band)")
    ('Institute of Construction', 'Oasis (band)')
    """
    if not (match := ACRONYM.fullmatch(name)):
        return name
    words, acronym = match[1].lower().replace("-", " ").split(), match[2].lower()
    first = "".join(word[0] for word in words)
    telling = "".join(word[0] for word in words if len(word) > 3)
    return match[1] if acronym in (first, telling) else name


def read_wording(
    texts: pl.Series,
    names: MaxOverNames | RowProduct,
    graph: MatchedGraph,
    *,
    tuning: Tuning = TUNING,
) -> Wording:
    """The wording of the names (``texts``) that ``names`` compares, those of a graph."""
    first = folded(graph.names)
    namesakes = first.to_frame("name").select(pl.len().over("name"))["len"]
    crowd = np.log(np.maximum(namesakes.to_numpy() - 1.0, 1.0))
    shared = (namesakes > 1).to_numpy()
    crowd = np.maximum(crowd, crowd[shared].mean() if shared.any() else 0.0)
    shortened = first.str.replace(FIRST_WORD, "$1")
    whole = pl.DataFrame({"short": shortened, "name": first})
    meant = pl.col("name").filter(pl.col("name") != pl.col("short")).n_unique().over("short")
    fitting = np.maximum(whole.select(meant).to_series().to_numpy(), 1)
    meant_by = read_meant(first, shortened, graph, tuning=tuning.wording)
    weight = tuning.duplicates.names
    words = _words(texts, names, _people(graph), tuning)
    return Wording(words, crowd, fitting, meant_by, weight, tuning.wording.worth)


def _words(
    texts: pl.Series, names: MaxOverNames | RowProduct, people: Mask, tuning: Tuning
) -> Words:
    """The words of names."""
    plain = folded(texts.map_elements(without_acronym, return_dtype=pl.String))
    table = (
        pl.DataFrame({"name": np.arange(len(plain)), "word": plain.str.split(" ")})
        .explode("word")
        .filter(pl.col("word") != "")
    )
    first = pl.int_range(pl.len()).over("name") == 0
    last = pl.int_range(pl.len()).over("name") == pl.len().over("name") - 1
    last &= pl.lit(texts.str.contains(LAST_ARTICLE)).gather(pl.col("name"))
    article = pl.col("word").is_in(list(ARTICLES)) & (first | last | (pl.col("word") == "the"))
    dropped = article & (pl.len().over("name") > 1)
    leading = table.filter(first & dropped).select("name", letter=pl.col("word").str.head(1))
    table = table.filter(~dropped)
    again = pl.int_range(pl.len()).over("name", "word")
    # A word that a name repeats is one more word.
    repeated = pl.when(again > 0).then(pl.format("{}*{}", "word", again))
    table = table.with_columns(word=repeated.otherwise("word"))
    short = pl.DataFrame({"name": np.arange(len(plain)), "word": texts.str.extract_all(INITIALS)})
    short = short.explode("word").drop_nulls()
    short = short.with_columns(word=folded(short["word"]), initial=True).unique()
    table = table.with_columns(bare=pl.col("word").str.replace(AGAIN, ""))
    table = table.join(
        short,
        left_on=["name", "bare"],
        right_on=["name", "word"],
        how="left",
        maintain_order="left",
    )
    table = table.with_columns(pl.col("initial").fill_null(False)).drop("bare")
    every = table["word"].unique().sort()
    bare = table.group_by("name", maintain_order=True).agg(pl.col("word").str.join(" "))
    whole = pl.DataFrame({"name": np.arange(len(plain))}).join(bare, on="name", how="left")
    words = table.with_columns(word=every.search_sorted(table["word"]).cast(pl.Int64))
    counts = np.bincount(words["word"].to_numpy(), minlength=len(every))
    spelled = every.str.contains(r"^[a-z]+$").to_numpy()
    rarity = -np.log(counts / max(len(plain), 1))
    rarity[every.is_in(list(TITLES)).to_numpy()] = 0.0
    slips = learn_slips(every.filter(spelled).to_list(), counts[spelled], tuning=tuning.slips)
    return Words(
        names=names,
        words=words,
        plain=whole.sort("name")["word"].fill_null(""),
        spelled=folded(texts, numbers=False),
        articles=_numbers_of(leading, every, len(plain)),
        signs=texts.str.count_matches(SIGNS).to_numpy().astype(np.int64),
        texts=every,
        rarity=rarity,
        people=people,
        slips=slips,
        frames=read_frames(words, every, slips),
        tuning=tuning.wording,
    )


def _numbers_of(letters: pl.DataFrame, every: pl.Series, size: int) -> Numbers:
    """The numbers, among all words, of the letters of names; -1 for names without."""
    known = letters.filter(pl.col("letter").is_in(every.implode()))
    numbers = np.full(size, -1, dtype=np.int64)
    numbers[known["name"].to_numpy()] = every.search_sorted(known["letter"]).to_numpy()
    return numbers


def _people(graph: MatchedGraph) -> Mask:
    """Which entities have a type, or another value, that says they are people."""
    people = np.zeros(len(graph.entities), dtype=np.bool_)
    persons = folded(graph.names).is_in(list(PERSONS)).to_numpy()
    entity, kind = graph.types.T
    people[entity[persons[kind]]] = True
    said = folded(graph.attributes["value"].str.slice(0, 20)).is_in(list(PERSONS)).to_numpy()
    subjects = graph.attribute_entities[said]
    people[subjects[subjects >= 0]] = True
    return people
