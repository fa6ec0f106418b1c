"""What a caller may give as a graph: graphs, tables of any library, and places to read from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from sameas.errors import InputError
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


def names_of_graphs(sources: Sequence[Source]) -> list[str]:
    """What several graphs are called in tables: the names of their files, where they have one.

    A file that is given twice is an InputError: all of it would be linked with itself.
    """
    places = [str(source) if is_place(source) else None for source in sources]
    resolved = [None if place is None else str(Path(place).resolve()) for place in places]
    for number, place in enumerate(resolved):
        if place is not None and place in resolved[:number]:
            raise InputError(str(places[number]), "is given twice; give each graph once")
    names = [
        f"graph {number}" if place is None else Path(place).name
        for number, place in enumerate(places, start=1)
    ]
    for width in (2, 3):  # files of the same name: with the folders that they are in
        if len({*names}) < len(names):
            names = [
                name if place is None else "/".join(Path(place).parts[-width:])
                for name, place in zip(names, places, strict=True)
            ]
    if len({*names}) < len(names):
        names = [f"{number} {name}" for number, name in enumerate(names, start=1)]
    return names
