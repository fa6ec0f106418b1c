"""Frames: what is left of a name without one of its words.

"Emperor Reizei" and "Emperor Heizei" are two: dozens of names have the frame "Emperor", and among
so many some are one edit apart. No third name has the frame of "Bridge over Troubled Water" and
"Bridge over Toubled Water". How much that says is learned from the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.compute.arrays import Mask, Numbers, Positions, Vector
from sameas.compute.topk import evenly_spread
from sameas.similarity.slips import STEPS, Slips, made_slips, neighbouring_words

ALONE, FEW, SOME, MANY, EMPTY = range(5)
"""How many other names have a frame: none, up to three, up to fifteen, or more; or the name is one
word, so that nothing is left of it."""
Hashes = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Frames:
    """How many names of one graph have each frame, whatever the order of its words."""

    names: Hashes
    """The sum of the hashes of the words of each name."""
    words: Hashes
    """The hash of each word."""
    keys: Hashes
    """The frames of all words of all names, ascending: names less words."""
    worth: Vector
    """What it says of a slip how many others have the frame, in log-odds; shape (5,)."""

    def says(
        self, names: tuple[Positions, Positions], words: tuple[Positions, Positions]
    ) -> Vector:
        """What frames say of pairs of names that differ in one word of each."""
        one, other = (self.names[n] - self.words[w] for n, w in zip(names, words, strict=True))
        others = np.maximum(self._counts(one), self._counts(other)) - 1 - (one == other)
        said: Vector = self.worth[kinds_of(others, one == 0)]
        return said

    def _counts(self, frames: Hashes) -> Numbers:
        return counts_of(self.keys, frames)


def read_frames(words: pl.DataFrame, texts: pl.Series, slips: Slips) -> Frames:
    """The frames of names of which the words are given (name, word), numbers of ``texts``.

    What frames say, beyond what letters say, is learned from slips that are made on purpose, one in
    a name, held against pairs of names that differ in one word, by one edit, where both words are
    those of other names, too.
    """
    name, word = (words[column].to_numpy() for column in ("name", "word"))
    hashes = np.random.default_rng(0).integers(1, 2**63, len(texts), dtype=np.uint64)
    names = np.zeros(int(name.max(initial=-1)) + 1, dtype=np.uint64)
    np.add.at(names, name, hashes[word])
    each = names[name] - hashes[word]
    frames = Frames(names, hashes, np.sort(each), np.zeros(EMPTY + 1))
    spelled = texts.str.contains(f"^[a-z]{{{slips.letters.tuning.shortest},}}$").to_numpy()
    sample = slips.letters.tuning.sample
    made, kinds = _made(frames, name, word, spelled, sample)
    slipped = made_slips(texts.gather(made).to_list())
    known = spelled & (np.bincount(word, minlength=len(texts)) > 1)
    met = _siblings(texts, known, pl.DataFrame({"frame": each, "word": word}), sample)
    of_both = met["frame"].to_numpy()
    apart = kinds_of(counts_of(frames.keys, of_both) - 2, of_both == 0)
    said = [
        slips.worth(texts.gather(made).to_list(), slipped),
        slips.worth(*(texts.gather(met[side]).to_list() for side in ("one", "other"))),
    ]
    worth = fitted_kinds(said, (kinds, apart), slips.letters.tuning.ridge)
    return replace(frames, worth=worth)


def _made(
    frames: Frames, name: Numbers, word: Numbers, spelled: Mask, sample: int
) -> tuple[Numbers, NDArray[np.int64]]:
    """One word of each of some names that a slip is made in, and how many others have the frame."""
    places = np.flatnonzero(spelled[word])
    order = np.random.default_rng(0).permutation(len(places))
    first = np.unique(name[places[order]], return_index=True)[1]
    chosen = np.sort(places[order[first]])
    chosen = chosen[evenly_spread(len(chosen), sample)]
    keys = frames.names[name[chosen]] - frames.words[word[chosen]]
    return word[chosen], kinds_of(counts_of(frames.keys, keys) - 1, keys == 0)


def _siblings(texts: pl.Series, known: Mask, table: pl.DataFrame, sample: int) -> pl.DataFrame:
    """one, other, frame: known words that are one edit apart, and tell two names apart."""
    numbers = np.flatnonzero(known)
    by_text = dict(zip(texts.gather(numbers), numbers.tolist(), strict=True))
    near = [(by_text[one], by_text[other]) for one, other in neighbouring_words(list(by_text))]
    pairs = pl.DataFrame(near, schema={"one": pl.Int64, "other": pl.Int64}, orient="row")
    met = pairs.join(table, left_on="one", right_on="word").join(
        table, left_on=["other", "frame"], right_on=["word", "frame"]
    )
    met = met.sort("one", "other", "frame")
    return met[evenly_spread(len(met), sample)]


def fitted_kinds(
    said: Sequence[Vector], kinds: tuple[NDArray[np.int64], NDArray[np.int64]], ridge: float
) -> Vector:
    """What each kind of frame says of slips beyond what letters have ``said``, in log-odds.

    Slips come first, then siblings; together both count alike. A logistic regression with the
    letters' log-odds as offset, held near zero by the ridge.
    """
    from scipy.special import expit  # slow to import, and only one graph needs it

    worth = np.zeros(EMPTY + 1)
    if not len(said[0]) or not len(said[1]):
        return worth
    weights = len(said[1]) / len(said[0]), 1.0
    for kind in range(EMPTY + 1):
        slips, apart = (values[of == kind] for values, of in zip(said, kinds, strict=True))
        for _ in range(STEPS):
            shares = expit(slips + worth[kind]), expit(apart + worth[kind])
            slope = weights[0] * (1 - shares[0]).sum() - shares[1].sum() - ridge * worth[kind]
            bend = ridge + weights[0] * (shares[0] * (1 - shares[0])).sum()
            bend += (shares[1] * (1 - shares[1])).sum()
            worth[kind] += slope / bend
    # The more names have a frame, the likelier are two of them one edit apart.
    worth[:EMPTY] = np.minimum.accumulate(worth[:EMPTY])
    return worth


def kinds_of(others: Numbers, empty: Mask) -> NDArray[np.int64]:
    """How many others have frames, as one of five kinds.

    >>> kinds_of(np.array([0, 1, 3, 4, 15, 16, 99]), np.array([False] * 6 + [True])).tolist()
    [0, 1, 1, 2, 2, 3, 4]
    """
    return np.where(empty, EMPTY, np.searchsorted([1, 4, 16], others, side="right"))


def counts_of(keys: Hashes, frames: Hashes) -> Numbers:
    """How often frames are among ascending keys."""
    ends = (np.searchsorted(keys, frames, side=side) for side in ("right", "left"))
    counts: Numbers = np.subtract(*ends)
    return counts
