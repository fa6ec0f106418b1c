"""What a caller may give as a graph: graphs, tables of any library, and places to read from."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any, TypeAlias

import polars as pl

from sameas.graph.graph import Graph, GraphPair
from sameas.graph.matched import MatchedGraph, MatchedPair

Source: TypeAlias = Any
"""A graph, a pair of graphs, a table of records or triples, or what ``read_pair`` takes."""
GRAPHS = (Graph, MatchedGraph, GraphPair, MatchedPair)


def is_place(source: Source) -> bool:
    """Whether something is a path, or several."""
    several = isinstance(source, list | tuple) and len(source) > 0
    return isinstance(source, str | PathLike) or (
        several and all(isinstance(one, str | PathLike) for one in source)
    )


def is_table(source: Source) -> bool:
    """Whether something is a table of whatever library, or a list of rows."""
    is_frame = isinstance(source, Mapping | pl.DataFrame | pl.LazyFrame)
    is_frame |= hasattr(source, "itertuples") or hasattr(source, "__arrow_c_stream__")
    is_rows = isinstance(source, list | tuple) and not is_place(source)
    return (is_frame or is_rows) and not isinstance(source, GRAPHS)
