"""Who may be linked, and what is known of that beforehand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from sameas.errors import OptionError
from sameas.graph import GraphPair, Positions
from sameas.options import Options
from sameas.reading import read_gold
from sameas.refinement import Known

Sides = tuple[Positions, Positions]
"""Positions of some left and of some right entities."""


def candidate_positions(pair: GraphPair, options: Options) -> tuple[Positions, Positions]:
    """The positions of the entities that may be linked, in the graphs' order."""
    if options.among is None:
        left, right = (
            np.arange(len(graph.entities)) if graph.linkable is None else graph.linkable
            for graph in (pair.left, pair.right)
        )
        return left, right
    if options.among == "gold":
        if pair.gold is None:
            raise OptionError(
                "among must be a file of links, got 'gold' for a pair that has no gold links"
            )
        links = pair.gold
    else:
        links = read_gold(options.among)
    found = positions_in(pair, links, "among", options.among)
    return np.unique(found[:, 0]), np.unique(found[:, 1])


def known_pairs(pair: GraphPair, some: Sides, options: Options) -> Known:
    """Seeds and rejected pairs by position, and who may be linked."""
    inside = [np.zeros(len(graph.entities), dtype=np.int64) for graph in (pair.left, pair.right)]
    for mask, positions, graph in zip(inside, some, (pair.left, pair.right), strict=True):
        mask[positions] = 1
        if pair.left.kinds is not None and pair.right.kinds is not None:
            mask += 2 * graph.kinds
    seeds = _pairs(pair, "seeds", options.seeds)
    if not len(seeds):
        seeds = trivial_pairs(pair, inside)
    rejected = _pairs(pair, "reject", options.reject)
    for column, side in enumerate(("left", "right")):
        if len(np.unique(seeds[:, column])) < len(seeds):
            raise OptionError(
                f"seeds must be one to one, got a {side} entity more than once in {options.seeds}"
            )
    if len(seeds) and (inside[0][seeds[:, 0]] != inside[1][seeds[:, 1]]).any():
        raise OptionError(
            "seeds must not link an entity of among with one that is not, got such a link in "
            f"{options.seeds}"
        )
    width = len(pair.right.entities)
    if len(np.intersect1d(seeds @ [width, 1], rejected @ [width, 1])):
        raise OptionError(
            f"seeds must not be rejected, got a link that is in {options.seeds} and in "
            f"{options.reject}"
        )
    return Known(seeds, rejected, (inside[0], inside[1]))


def trivial_pairs(pair: GraphPair, groups: list[Positions]) -> Positions:
    """The entities that both graphs call by the same IRI, where they are of the same kind."""
    if pair.left.kinds is None or pair.right.kinds is None:
        return np.zeros((0, 2), dtype=np.int64)
    right = pair.right.positions(pair.left.entities)
    left = np.flatnonzero(right >= 0)
    both = np.stack([left, right[left]], axis=1)
    return both[groups[0][both[:, 0]] == groups[1][both[:, 1]]]


def _pairs(pair: GraphPair, name: str, path: Path | None) -> Positions:
    """The positions of the pairs of a file, shape (k, 2)."""
    if path is None:
        return np.zeros((0, 2), dtype=np.int64)
    table = read_gold(path).unique(["left", "right"], maintain_order=True)
    return positions_in(pair, table, name, path)


def positions_in(pair: GraphPair, links: pl.DataFrame, name: str, source: object) -> Positions:
    """The positions of the entities of links, shape (k, 2); ``name`` and ``source`` for errors."""
    columns = []
    for side, graph in (("left", pair.left), ("right", pair.right)):
        positions = graph.positions(links[side])
        strangers = links[side].filter(pl.Series(positions < 0))
        if len(strangers):
            raise OptionError(
                f"{name} must name entities of the two graphs, got {len(strangers)} that are not "
                f'in the {side} one, the first is "{strangers[0]}"; leave them out of {source}'
            )
        columns.append(positions)
    return np.stack(columns, axis=1)
