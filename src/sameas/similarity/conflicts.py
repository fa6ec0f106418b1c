"""Conflicts: two entities of one graph that differ in what an entity has one of.

A city is in one country, so two cities of one name in two countries are two. That a relation has
one value is told by the graph: nearly all entities that have it have it once. The share of those
that have several is how often two values are no conflict.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.compute.arrays import Numbers, Positions, Vector
from sameas.graph.matched import MatchedGraph
from sameas.options.tuning import TUNING, ConflictTuning
from sameas.similarity.cache import PairCache, Terms


@dataclass(frozen=True, eq=False)
class Conflicts:
    """What each entity of one graph has one of."""

    held: tuple[pl.DataFrame, pl.DataFrame]
    """entity, role, other, rare: of relations read forwards, and backwards; ``rare`` is minus the
    logarithm of the share of entities that have several."""
    size: int
    tuning: ConflictTuning = TUNING.conflicts

    @cached_property
    def compare(self) -> PairCache:
        """How rare differences in relations are, read forwards and backwards; 0 without any."""
        return PairCache(self._compared, self.size)

    def _compared(
        self, left: Positions, right: Positions
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        pairs = pl.DataFrame({"pair": np.arange(len(left)), "left": left, "right": right})
        forwards, backwards = (self._differ(pairs, table) for table in self.held)
        return forwards, backwards

    def _differ(self, pairs: pl.DataFrame, held: pl.DataFrame) -> NDArray[np.float32]:
        """How rare it is, at most, that relations of pairs in common lead to nothing in common.

        An edge between the two themselves is no conflict.
        """
        met = (
            pairs.join(held, left_on="left", right_on="entity")
            .join(held, left_on=["right", "role"], right_on=["entity", "role"])
            .with_columns(
                agree=(pl.col("other") == pl.col("other_right"))
                | (pl.col("other") == pl.col("right"))
                | (pl.col("other_right") == pl.col("left"))
            )
            .group_by("pair", "role")
            .agg(pl.col("agree").any(), pl.col("rare").first())
            .filter(~pl.col("agree"))
            .group_by("pair")
            .agg(pl.col("rare").max())
        )
        differ = np.zeros(len(pairs), dtype=np.float32)
        differ[met["pair"].to_numpy()] = met["rare"].to_numpy()
        return differ

    def learn(self, left: Positions, right: Positions, trust: Vector) -> Terms:
        """The log-odds of pairs by their conflicts, which do not depend on anchors."""
        forwards, backwards = self.tuning.forwards, self.tuning.backwards

        def terms(left: Numbers, right: Numbers) -> Vector:
            differ = self.compare(left, right)
            against = np.minimum(differ[0], forwards) + np.minimum(differ[1], backwards)
            return np.asarray(-against, dtype=np.float64)[:, None]

        return terms


def read_conflicts(
    graph: MatchedGraph, *, tuning: ConflictTuning = TUNING.conflicts
) -> Conflicts | None:
    """The relations of a graph that nearly every entity has once; None if there are none."""
    head, relation, tail = graph.distinct_triples.T
    held = []
    for near, far in ((head, tail), (tail, head)):
        table = pl.DataFrame({"entity": near, "role": relation, "other": far})
        several = pl.col("entity").is_duplicated().over("role") & pl.col(
            "entity"
        ).is_first_distinct().over("role")
        once = (
            table.with_columns(several=several)
            .group_by("role")
            .agg(
                share=pl.col("entity").n_unique() / pl.len(),
                many=pl.len(),
                rare=-(pl.col("several").sum() / pl.col("entity").n_unique()).log(),
            )
            .filter(pl.col("share") >= tuning.once, pl.col("many") >= tuning.fewest)
        )
        held.append(table.join(once.select("role", "rare"), on="role", maintain_order="left"))
    if not any(map(len, held)):
        return None
    return Conflicts((held[0], held[1]), len(graph.entities), tuning)
