"""Inputs, Constraints and Task: everything that one alignment starts from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.compute.arrays import Positions, Vector
from sameas.compute.rows import Rows
from sameas.graph.exclusions import Exclusions
from sameas.graph.kind import Kind
from sameas.graph.matched import MatchedPair
from sameas.options.options import Options
from sameas.options.tuning import TUNING, Tuning
from sameas.text.encoders import EncodedNames
from sameas.text.words import WordVectors

Sides = tuple[Positions, Positions]
"""Positions of left and of right entities."""


EARLIER_PAIRS = pl.Schema(
    {"left": pl.String, "right": pl.String, "trust": pl.Float64, "confidence": pl.Float64}
)
EARLIER_ENTITIES = pl.Schema(dict.fromkeys(("side", "entity", "change", "reason"), pl.String))


@dataclass(frozen=True, eq=False, kw_only=True)
class Earlier:
    """What is taken over from a run of earlier versions of the graphs."""

    pairs: pl.DataFrame
    """left, right, trust, confidence: its candidates, links and anchors; ``trust`` is that of an
    anchor, ``confidence`` that of a link, else null."""
    entities: pl.DataFrame
    """side, entity, change (new, changed or gone), reason: what of a changed one differs."""
    decisions: pl.DataFrame | None = None
    """The log of its reviewers' decisions, as far as the entities are still there."""
    lost_decisions: int = 0
    """Decisions about entities that are gone."""
    clusters: pl.DataFrame | None = None
    """entity, cluster: the members of its clusters, where it was not one of two graphs."""

    def changed(self, side: str, *changes: str) -> pl.Series:
        """The entities of a side that have one of these changes."""
        return self.entities.filter(pl.col("side") == side, pl.col("change").is_in(changes))[
            "entity"
        ]


@dataclass(frozen=True, eq=False, kw_only=True)
class Inputs:
    """What the caller gives besides the two graphs. None of it is required."""

    seeds: pl.DataFrame | None = None
    """Known links: left, right."""
    reject: pl.DataFrame | None = None
    """Pairs known not to be links: left, right."""
    among: pl.DataFrame | None = None
    """Only entities of these links are candidates (the paper protocol)."""
    embeddings: Rows | None = None
    """Feature rows of all left, then all right entities, used instead of names."""
    word_vectors: WordVectors | None = None
    """Vectors of the words in names, where ``features`` are word or hybrid."""
    dictionary: pl.DataFrame | None = None
    """What texts in names mean in the language of the other side: text, gloss."""
    encoded_names: EncodedNames | None = None
    """Of a run that was read: the vectors of its names, where an encoder in a folder gave them."""
    earlier: Earlier | None = None
    """What is taken over from a run of earlier versions of the graphs."""


@dataclass(frozen=True, eq=False)
class Constraints:
    """What must and what cannot be linked, by position.

    ``seeds`` and ``rejected`` are pairs, shape (k, 2). ``inside`` are masks of the left and right
    entities that may be linked with each other; the others may be linked among themselves, as
    support for those. Pairs are of one of ``kinds``.
    ``puns`` are masks of entities that are class and property at once, and go with either.
    ``single`` says whether a left, and whether a right entity has one partner at most. In
    ``one_graph``, both sides are the same, and no entity goes with itself.
    """

    seeds: Positions
    rejected: Positions
    inside: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    kinds: tuple[NDArray[np.int8], NDArray[np.int8]]
    single: tuple[bool, bool] = (True, True)
    puns: tuple[NDArray[np.bool_], NDArray[np.bool_]] | None = None
    one_graph: bool = False
    exclusions: Exclusions | None = None
    """Which types contradict each other."""

    @cached_property
    def crowd(self) -> Vector:
        """For each left entity, the geometric mean of how many of its kind each graph has."""
        left, right = (np.bincount(side, minlength=128).astype(np.float64) for side in self.kinds)
        mean: Vector = np.sqrt(left * right)[self.kinds[0]]
        return mean

    def allows(self, left: NDArray[np.integer], right: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Which pairs can be linked: they are comparable and not at odds with seeds."""
        allowed: NDArray[np.bool_] = self.comparable(left, right) & ~self.at_odds(left, right)
        return allowed

    def at_odds(self, left: NDArray[np.integer], right: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Which pairs have an entity that was given another partner, and has one at most."""
        odds = np.zeros(len(left), dtype=np.bool_)
        for near, far, column in ((left, right, 0), (right, left, 1)):
            if len(self.seeds) and self.single[column]:
                partner = np.full(len(self.inside[column]), -1, dtype=np.int64)
                partner[self.seeds[:, column]] = self.seeds[:, 1 - column]
                odds |= (partner[near] >= 0) & (partner[near] != far)
        return odds

    def comparable(
        self, left: NDArray[np.integer], right: NDArray[np.integer]
    ) -> NDArray[np.bool_]:
        """Which pairs are of one kind, not rejected, not half inside."""
        allowed: NDArray[np.bool_] = self.inside[0][left] == self.inside[1][right]
        allowed &= self._of_one_kind(left, right)
        if self.one_graph:
            allowed &= left != right
        width = len(self.inside[1])
        if len(self.rejected):
            numbers = self.rejected[:, 0] * width + self.rejected[:, 1]
            allowed &= ~np.isin(left * np.int64(width) + right, numbers)
        return allowed

    def _of_one_kind(
        self, left: NDArray[np.integer], right: NDArray[np.integer]
    ) -> NDArray[np.bool_]:
        kinds = self.kinds[0][left], self.kinds[1][right]
        same: NDArray[np.bool_] = kinds[0] == kinds[1]
        if self.puns is not None:
            for puns, near, others in zip(self.puns, (left, right), kinds[::-1], strict=True):
                same |= puns[near] & np.isin(others, (Kind.CLASS, Kind.PROPERTY))
        return same


@dataclass(frozen=True, eq=False)
class Task:
    """One alignment to be made, with everything that was given looked up in the graphs."""

    pair: MatchedPair
    options: Options
    inputs: Inputs
    sides: Sides
    """Positions of the entities that may be linked, ascending."""
    known: Constraints
    long_names: int = 0
    """Names of which only the beginning is compared."""
    tuning: Tuning = TUNING

    @property
    def everything(self) -> Sides:
        """The positions of all entities."""
        return np.arange(len(self.pair.left.entities)), np.arange(len(self.pair.right.entities))

    @property
    def entities(self) -> tuple[pl.Series, pl.Series]:
        """The entities that may be linked."""
        return (
            self.pair.left.entities.gather(self.sides[0]),
            self.pair.right.entities.gather(self.sides[1]),
        )
