"""Explanations of several graphs: those of the two graphs that a pair is from."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Protocol

import polars as pl

from sameas.errors import OptionError
from sameas.options.options import Side
from sameas.result.clusters import Clusters
from sameas.result.explanation.sentences import Explanation

SIDES: tuple[Side, Side] = ("left", "right")


class Part(Protocol):
    """The alignment of two of the graphs."""

    @property
    def unmatched(self) -> pl.DataFrame:
        """side, entity, reason, candidate, score."""
        ...

    def explain(
        self, entity: str, other: str | None = None, *, side: Side | None = None
    ) -> Explanation:
        """Why an entity has its partner, or none."""
        ...


def explain_part(
    names: Sequence[str],
    parts: Sequence[Part],
    clusters: Clusters,
    entity: str,
    other: str | None,
) -> Explanation:
    """Why two entities of different graphs are linked, or not.

    Without ``other``, the strongest link that holds the entity in its cluster is explained; or
    why it has no partner in the graph in which it has come nearest to one.
    """
    by_graphs = dict(zip(combinations(names, 2), parts, strict=True))
    if other is not None:
        return _between(parts, entity, other)
    links = clusters.links
    ends = (pl.col("left") == entity) | (pl.col("right") == entity)
    own = links.filter(ends).sort("score", descending=True)
    if len(own):
        link = own.row(0, named=True)
        order = sorted(("left", "right"), key=lambda side: names.index(link[f"{side}_graph"]))
        part = by_graphs[link[f"{order[0]}_graph"], link[f"{order[1]}_graph"]]
        side = next(side for side in order if link[side] == entity)
        partner = link["right" if side == "left" else "left"]
        return part.explain(entity, partner, side="left" if side == order[0] else "right")
    return _unmatched(parts, entity)


def _between(parts: Sequence[Part], entity: str, other: str) -> Explanation:
    """The explanation by the part that has both entities."""
    problem: OptionError | None = None
    for part in parts:
        for side in SIDES:
            try:
                return part.explain(entity, other, side=side)
            except OptionError as error:
                problem = problem or error
    assert problem is not None
    raise problem


def _unmatched(parts: Sequence[Part], entity: str) -> Explanation:
    """Why an entity has no partner, by the part in which its best candidate scores most."""
    best: tuple[float, Part] | None = None
    for part in parts:
        for score in part.unmatched.filter(pl.col("entity") == entity)["score"]:
            if best is None or (score or float("-inf")) > best[0]:
                best = score or float("-inf"), part
    return (parts[0] if best is None else best[1]).explain(entity)
