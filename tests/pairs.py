"""Pairs of graphs as they are matched, for tests of what works on them."""

from __future__ import annotations

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
