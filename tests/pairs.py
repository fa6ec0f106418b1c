"""Pairs of graphs as they are matched, for tests of what works on them."""

from __future__ import annotations

import polars as pl

from sameas import Graph, GraphPair, MatchedGraph, MatchedPair
from sameas.graph.semantics.understanding import understand


def matched_pair(
    left: Graph | MatchedGraph, right: Graph | MatchedGraph, gold: pl.DataFrame | None = None
) -> MatchedPair:
    """Two graphs as they are matched, given in that form or as read."""
    left, right = (
        graph.source if isinstance(graph, MatchedGraph) else graph for graph in (left, right)
    )
    return understand(GraphPair(left=left, right=right, gold=gold))
