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
    origins: pl.DataFrame,
    names: Sequence[str],
    parts: Sequence[Part],
    clusters: Clusters,
    entity: str,
    other: str | None,
) -> Explanation:
    """Why two entities of different graphs are linked, or not.

    Without ``other``, the strongest link that holds the entity in its cluster is explained; or
    why it has no partner in the graph in which it has come nearest to one. Entities are given by
    the ids of the run (``origins``: id, entity, graph), by those of their graphs or by name.
    """
    by_graphs = dict(zip(combinations(names, 2), parts, strict=True))

    def between(one: tuple[str, str], two: tuple[str, str]) -> Explanation:
        """The explanation of two entities of different graphs, each with its graph."""
        (left, near), (right, far) = sorted((one, two), key=lambda each: names.index(each[1]))
        side: Side = "left" if one == (left, near) else "right"
        entities = (left, right) if side == "left" else (right, left)
        return by_graphs[near, far].explain(*entities, side=side)

    start, end = _own(origins, entity), None if other is None else _own(origins, other)
    if other is not None:
        if start is not None and end is not None and start[1] != end[1]:
            return between(start, end)
        return _between(parts, entity, other)
    own = clusters.links.filter(
        pl.any_horizontal(_is_end(side, entity, start) for side in SIDES)
    ).sort("score", descending=True)
    if len(own):
        link = own.row(0, named=True)
        ends = [(link[side], link[f"{side}_graph"]) for side in SIDES]
        is_first = ends[0] == start if start is not None else ends[0][0] == entity
        return between(*(ends if is_first else ends[::-1]))
    return _unmatched(parts, entity if start is None else start[0])


def _own(origins: pl.DataFrame, entity: str) -> tuple[str, str] | None:
    """The id of an entity in its own graph, and what that is called; None if it is no id."""
    found = origins.filter(pl.col("id") == entity).select("entity", "graph").rows()
    return found[0] if found else None


def _is_end(side: Side, entity: str, own: tuple[str, str] | None) -> pl.Expr:
    """Whether an entity is an end of a link."""
    if own is None:
        return pl.col(side) == entity
    return (pl.col(side) == own[0]) & (pl.col(f"{side}_graph") == own[1])


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
