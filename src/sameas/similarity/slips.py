"""Slips of the pen: whether a word is a misspelling of another, or one that merely resembles it.

"Huzhou" and "Huizhou" are two cities; "Potsmouth" is no word. Which words are likely in a graph is
told by a model of its letters. How much that says is learned from the graph too: slips that are
made on purpose in its own words are held against pairs of its words that are one edit apart, and
that several names have.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA
from rapidfuzz.process import cpdist

from sameas.compute.arrays import Mask, Numbers, Vector
from sameas.compute.topk import evenly_spread
from sameas.options.tuning import TUNING, SlipTuning

STEPS = 50
"""The most steps of Newton's method for two numbers."""


@dataclass(frozen=True, eq=False)
class Letters:
    """How often letters follow others in distinct words: n-grams up to an order."""

    words: frozenset[str]
    counts: Counter[str]
    """Of n-grams of all orders."""
    before: Counter[str]
    """Of what comes before their last letter."""
    tuning: SlipTuning = TUNING.slips

    def likelihood(self, word: str, without: Sequence[str] = ()) -> float:
        """The log-likelihood of a word; those ``without`` are taken as not known.

        Shorter n-grams count as so many occurrences of what longer ones say.
        """
        left_out = [other for other in set(without) if other in self.words]
        less = Counter(gram for other in left_out for gram in grams(other, self.tuning.order))
        fewer = Counter(gram[:-1] for gram in less.elements())
        total = 0.0
        for end in range(len(word) + 1):
            share = 1.0 / (len(ascii_lowercase) + 1)
            for gram in grams_at(word, end, self.tuning.order):
                seen, all_seen = self.counts[gram], self.before[gram[:-1]]
                if less:
                    seen, all_seen = seen - less[gram], all_seen - fewer[gram[:-1]]
                share = (seen + self.tuning.prior * share) / (all_seen + self.tuning.prior)
            total += math.log(share)
        return total

    def oddity(self, one: str, other: str) -> float:
        """How unlikely the less likely of two words is, if neither is known: -ln."""
        both = one, other
        return -min(self.likelihood(one, both), self.likelihood(other, both))


def grams_at(word: str, end: int, order: int) -> list[str]:
    """The n-grams of a word that end at a letter, or behind its last one, the shorter first.

    >>> grams_at("ab", 2, 3)
    ['$', 'b$', 'ab$']
    """
    whole = "^" * (order - 1) + word + "$"
    last = end + order
    return [whole[last - size : last] for size in range(1, order + 1)]


def grams(word: str, order: int) -> list[str]:
    """All n-grams of a word up to an order."""
    return [gram for end in range(len(word) + 1) for gram in grams_at(word, end, order)]


def count_letters(words: Sequence[str], *, tuning: SlipTuning = TUNING.slips) -> Letters:
    """The model of the letters of distinct words."""
    counts = Counter(gram for word in words for gram in grams(word, tuning.order))
    before: Counter[str] = Counter()
    for gram, many in counts.items():
        before[gram[:-1]] += many
    return Letters(frozenset(words), counts, before, tuning)


@dataclass(frozen=True, eq=False)
class Slips:
    """What the letters of two words that are one edit apart say of a slip, in log-odds."""

    letters: Letters
    base: float
    slope: float
    most: float

    def worth(self, one: Sequence[str], other: Sequence[str]) -> Vector:
        """The log-odds of pairs of words, against two words of the graph."""
        odd = np.array([self.letters.oddity(*pair) for pair in zip(one, other, strict=True)])
        return np.asarray(np.clip(self.base + self.slope * odd, -self.most, self.most))


def learn_slips(
    words: Sequence[str], counts: Numbers, *, tuning: SlipTuning = TUNING.slips
) -> Slips:
    """What slips look like in a graph of these distinct words, which so many names have."""
    chosen = [words[place] for place in evenly_spread(len(words), tuning.words)]
    letters = count_letters(chosen, tuning=tuning)
    known = {word for word, many in zip(words, counts.tolist(), strict=True) if many > 1}
    # As in slips, one of the two is a word that no other name has.
    apart = [pair for pair in neighbouring_words(chosen) if not known.issuperset(pair)]
    apart = [apart[place] for place in evenly_spread(len(apart), tuning.sample)]
    long = [word for word in chosen if len(word) >= tuning.shortest]
    made = [long[place] for place in evenly_spread(len(long), len(apart))]
    slips = [pair for pair in zip(made, made_slips(made), strict=True) if pair[0] != pair[1]]
    odd = np.array([letters.oddity(*pair) for pair in [*slips, *apart]])
    is_slip = np.arange(len(odd)) < len(slips)
    base, slope = _fitted(odd, is_slip, tuning.ridge)
    # What no pair of a sample does is not less likely than about one in that many.
    return Slips(letters, base, slope, math.log(max(len(apart), 1)))


def made_slips(words: Sequence[str]) -> list[str]:
    """The words with a slip in each, drawn as always."""
    generator = np.random.default_rng(0)
    return [misspelled(word, generator) for word in words]


def misspelled(word: str, generator: np.random.Generator) -> str:
    """The word with a letter behind the first dropped, doubled, changed or swapped."""
    place = int(generator.integers(1, len(word)))
    before, letter, after = word[:place], word[place], word[place + 1 :]
    other = ascii_lowercase[int(generator.integers(len(ascii_lowercase)))]
    swapped = before + after[:1] + letter + after[1:]
    ways = before + after, before + 2 * letter + after, before + other + after, swapped
    return ways[int(generator.integers(len(ways)))]


def neighbouring_words(words: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of words, of one first letter, of which one is the other with a letter changed or more.

    >>> neighbouring_words(["denar", "dinar", "dinars", "rome"])
    [('denar', 'dinar'), ('dinar', 'dinars')]
    """
    by_rest: dict[str, list[str]] = {}
    for word in words:
        for place in range(1, len(word)):
            by_rest.setdefault(f"{word[:place]}*{word[place + 1 :]}", []).append(word)
    every, pairs = set(words), set[tuple[str, str]]()
    for alike in by_rest.values():
        pairs.update((one, other) for one in alike for other in alike if one < other)
    for word in words:
        for place in range(1, len(word)):
            if (shorter := word[:place] + word[place + 1 :]) in every:
                pairs.add((min(shorter, word), max(shorter, word)))
    return sorted(pairs)


def edits(one: list[str], other: list[str]) -> NDArray[np.int64]:
    """How many letters of pairs of texts are inserted, dropped, changed or swapped; two for more.

    >>> edits(["portsmouth", "bill joy", "rome"], ["potsmouth", "billajoy", "paris"]).tolist()
    [1, 1, 2]
    """
    if not one:
        return np.zeros(0, dtype=np.int64)
    counts = cpdist(one, other, scorer=OSA.distance, score_cutoff=1, dtype=np.int64)
    few: NDArray[np.int64] = np.minimum(counts, 2)
    return few


def _fitted(values: Vector, truth: Mask, ridge: float) -> tuple[float, float]:
    """The base and slope of a logistic regression on one value; the slope is held near zero."""
    from scipy.special import expit  # slow to import, and only one graph needs it

    if not len(values) or truth.all() or not truth.any():
        return 0.0, 0.0
    centre, spread = float(values.mean()), max(float(values.std()), 1e-9)
    rows = np.stack([np.ones(len(values)), (values - centre) / spread], axis=1)
    numbers, penalty = np.zeros(2), np.diag([1e-9, ridge])
    for _ in range(STEPS):
        share = expit(rows @ numbers)
        step = np.linalg.solve(
            (rows * (share * (1 - share))[:, None]).T @ rows + penalty,
            rows.T @ (truth - share) - penalty @ numbers,
        )
        numbers = numbers + step
        if float(np.abs(step).max()) < 1e-8:
            break
    slope = float(numbers[1]) / spread
    return float(numbers[0]) - slope * centre, slope
