"""The neighbours of a pair side by side: those linked with each other, and the others."""

from __future__ import annotations

import numpy as np
import polars as pl

from sameas.explanation.hops import relations_between
from sameas.explanation.record import Record
from sameas.explanation.result import Comparison, Neighbour, Neighbourhood, Side
from sameas.graph import Graph, Positions

LISTED = 40
"""Neighbours of each sort that are listed; others are counted."""


def neighbourhood_of(record: Record, comparison: Comparison) -> Neighbourhood:
    """Who is around the two of a pair, and who of them is linked with whom."""
    graphs = record.pair.left, record.pair.right
    centres = [
        int(graph.positions(pl.Series([entity.uri]))[0])
        for graph, entity in zip(graphs, (comparison.left, comparison.right), strict=True)
    ]
    around = [_neighbours(graph, place) for graph, place in zip(graphs, centres, strict=True)]
    partner = _linked(record, around[0])
    there = set(around[1].tolist())
    pairs = [(own, partner[own]) for own in around[0].tolist() if partner.get(own, -1) in there]
    met = {own for own, _ in pairs}, {other for _, other in pairs}

    def neighbour(left: int | None, right: int | None) -> Neighbour:
        return Neighbour(
            left=None if left is None else record.entity("left", left),
            left_relations=() if left is None else relations_between(graphs[0], centres[0], left),
            right=None if right is None else record.entity("right", right),
            right_relations=()
            if right is None
            else relations_between(graphs[1], centres[1], right),
        )

    alone = [
        [place for place in own.tolist() if place not in some]
        for own, some in zip(around, met, strict=True)
    ]
    return Neighbourhood(
        shared=tuple(neighbour(*both) for both in pairs[:LISTED]),
        left_only=tuple(neighbour(place, None) for place in alone[0][:LISTED]),
        right_only=tuple(neighbour(None, place) for place in alone[1][:LISTED]),
        more_shared=max(len(pairs) - LISTED, 0),
        more_left=max(len(alone[0]) - LISTED, 0),
        more_right=max(len(alone[1]) - LISTED, 0),
    )


def _neighbours(graph: Graph, entity: int) -> Positions:
    heads, _, tails = graph.triples.T
    found = np.union1d(tails[heads == entity], heads[tails == entity])
    neighbours: Positions = found[found != entity]
    return neighbours


def _linked(record: Record, some: Positions) -> dict[int, int]:
    """The partners of some left entities, by the links or else by what refinement was sure of."""
    left: Side = "left"
    uris = record.graph(left).entities.gather(some)
    partner: dict[int, int] = {}
    for table in (record.anchors, record.links):
        if table is not None:
            found = table.filter(table["left"].is_in(uris.implode()))
            own = record.pair.left.positions(found["left"]).tolist()
            partner.update(
                zip(own, record.pair.right.positions(found["right"]).tolist(), strict=True)
            )
    return partner
