"""Pairs of graphs as they are matched, for tests of what works on them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from sameas import Graph, GraphPair, MatchedGraph, MatchedPair
from sameas.graph.semantics.understanding import understand, understand_alone


def matched_pair(
    left: Graph | MatchedGraph, right: Graph | MatchedGraph, gold: pl.DataFrame | None = None
) -> MatchedPair:
    """Two graphs as they are matched, given in that form or as read."""
    if isinstance(left, Graph) and isinstance(right, Graph):
        return understand(GraphPair(left=left, right=right, gold=gold))
    left = left if isinstance(left, MatchedGraph) else understand_alone(left)
    right = right if isinstance(right, MatchedGraph) else understand_alone(right)
    return MatchedPair(left=left, right=right, gold=gold)


def renamed(graph: Graph, prefix: str = "x:") -> Graph:
    """The same graph with other ids of entities."""
    tables = {
        name: getattr(graph, name).with_columns(prefix + pl.col("entity"))
        for name in ("attributes", "alternatives")
    }
    return replace(graph, entities=prefix + graph.entities, given_names=graph.names, **tables)


def best_connected(demo: MatchedPair, counterparts: int = 180, others: int = 40) -> MatchedPair:
    """The entities with the most triples, and others that have no counterpart."""
    assert demo.gold is not None
    degrees = np.bincount(demo.right.triples[:, [0, 2]].ravel(), minlength=len(demo.right.entities))
    order = np.argsort(-degrees[demo.right.positions(demo.gold["right"])], kind="stable")
    gold = demo.gold[order[:counterparts]]
    sides = []
    for side, graph in (("left", demo.left), ("right", demo.right)):
        alone = graph.entities.filter(~graph.entities.is_in(demo.gold[side].implode()))
        kept = [*gold[side], *alone.head(others)]
        sides.append(graph.source.without(graph.entities.filter(~graph.entities.is_in(kept))))
    return matched_pair(left=sides[0], right=sides[1], gold=gold)
