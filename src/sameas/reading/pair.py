"""The front door of reading: whatever the user points at, as a GraphPair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import cast

import polars as pl

from sameas.errors import InputError, OptionError, shortened
from sameas.files import STANDARD_INPUT, StrPath, kind_of, limited, limits, require_file
from sameas.graph import Graph, GraphPair
from sameas.naming import choose_names, further_names
from sameas.parallel import map_blocks
from sameas.rdf.rules import Reading
from sameas.reading.benchmark import MARKS, Side, read_benchmark, read_benchmark_gold
from sameas.reading.links import read_gold_links
from sameas.reading.names import read_names
from sameas.reading.rdf import SUFFIXES, Place, describe, expanded, read_rdf
from sameas.reading.tables import TABLE_SUFFIXES, read_table
from sameas.understanding import understand


def read_pair(
    left: Place,
    right: Place | None = None,
    *,
    names: StrPath | Sequence[StrPath] | None = None,
    reading: Reading | None = None,
) -> GraphPair:
    """The pair of graphs in one benchmark folder, or in two places.

    A place is a table of triples, an RDF file, a folder of RDF files or several of them, "-" for
    standard input, or a SPARQL endpoint (``sparql+http://...``); ``reading`` says how RDF is read.
    ``names`` is a names file for both sides, two files (left, right), or "uri" to make all names
    from the URIs. Without it, names are those the input brings, else made from the URIs.
    """
    reading, gold = reading or Reading(), None
    with limited(reading.max_bytes):
        if right is not None:
            if STANDARD_INPUT in (left, right) and left == right:
                raise OptionError("one side at most can be standard input, got both")
            sides = [_side(left, reading, 0), _side(right, reading, 1)]
        elif isinstance(left, str | PathLike):
            sides, gold = read_benchmark(Path(left))
        else:
            raise OptionError("two sides expected, got several files of one")
        for side in sides:
            _refuse_empty(side)
        pair = understand(GraphPair(left=sides[0].graph, right=sides[1].graph))
        if names is not None:
            graphs = _with_names(sides, (pair.left, pair.right), names)
            pair = replace(pair, left=graphs[0], right=graphs[1])
    return pair if gold is None else replace(pair, gold=_checked_gold(pair, gold))


def read_graph(place: Place, *, reading: Reading | None = None) -> Graph:
    """One graph from a table of triples or from RDF, with the names it brings, else from URIs."""
    reading = reading or Reading()
    with limited(reading.max_bytes):
        side = _side(place, reading, 0)
    _refuse_empty(side)
    return side.graph


def read_understood(
    place: Place, *, names: StrPath | None = None, reading: Reading | None = None
) -> Graph:
    """One graph as it would be matched: with kinds, and with names wherever it has them.

    Statements about one resource alone are enough. ``names`` is a names file, or "uri".
    """
    reading = reading or Reading()
    with limited(reading.max_bytes):
        side = _side(place, reading, 0)
        if not len(side.graph.entities):
            raise InputError(side.file, "holds no triples; a graph needs at least one")
        graph = understand(GraphPair(left=side.graph, right=side.graph)).right
        return graph if names is None else _with_names([side], [graph], names)[0]


def is_pair(place: StrPath) -> bool:
    """Whether a place is a folder that holds two graphs."""
    folder = Path(place)
    return folder.is_dir() and (
        any((folder / mark).exists() for mark in MARKS.values()) or (folder / "run.json").is_file()
    )


def read_gold(path: StrPath, *, max_bytes: int | None = None) -> pl.DataFrame:
    """Gold links (left, right) from a two-column file or a benchmark folder.

    ``max_bytes`` is how much a file may hold, once it is unpacked.
    """
    path = Path(path)
    with limited(max_bytes):
        gold = read_benchmark_gold(path) if path.is_dir() else read_gold_links(path)
    return gold.select("left", "right")


def _side(place: Place, reading: Reading, number: int) -> Side:
    """One of two sides, the first having the number 0."""
    if isinstance(place, str | PathLike) and is_pair(place):
        raise InputError(place, "is a folder of two graphs; give it alone, or two files of triples")
    query = reading.query[min(number, len(reading.query) - 1)] if reading.query else None
    graph = read_rdf(place, reading, query=query)
    if graph is not None:
        return Side(graph=graph, file=describe(place))
    parts = [Path(part) for part in expanded(cast(StrPath, place))]
    for path in parts:
        require_file(path)
        if kind_of(path) not in TABLE_SUFFIXES:
            known = ", ".join(TABLE_SUFFIXES)
            raise InputError(
                path,
                f'suffix "{"".join(path.suffixes)}" is not known; a table of triples ends in '
                f"{known}, plain, .gz, .bz2 or .zst, RDF in {', '.join(SUFFIXES)}",
            )
    tables = [table for _, table in map_blocks(_read_part, parts, str, limits())]
    file = parts[0] if len(parts) == 1 else describe(place)
    return Side(graph=Graph.from_triples(pl.concat(tables)), file=file)


def _read_part(path: str, given: tuple[int | None, int | None]) -> pl.DataFrame:
    """The triples of one of the files of a table."""
    with limited(*given):
        return read_table(Path(path), ("head", "relation", "tail"))


def _refuse_empty(side: Side) -> None:
    if not len(side.graph.triples):
        what = "triples between resources" if len(side.graph.entities) else "triples"
        raise InputError(side.file, f"holds no {what}; a graph needs at least one")


def _with_names(
    sides: Sequence[Side], graphs: Sequence[Graph], names: StrPath | Sequence[StrPath]
) -> list[Graph]:
    """The graphs with the names that were asked for."""
    files: list[StrPath] = []
    tables: list[pl.DataFrame | None] = [None]
    if str(names) != "uri":
        files = [names] if isinstance(names, str | PathLike) else list(names)
        if len(files) not in (1, len(sides)):
            raise OptionError(f"`names` must be one file or one a side, got {len(files)} instead")
        tables = [read_names(Path(file)) for file in files]
    named = []
    for side, graph, table in zip(sides, graphs, tables * (len(sides) // len(tables)), strict=True):
        chosen, given = choose_names(graph.entities, table, ids=side.ids)
        graph = replace(graph, names=chosen, names_given=given)
        if table is not None:
            further = further_names(graph.entities, table, ids=side.ids)
            graph = replace(graph, alternatives=pl.concat([further, graph.alternatives]))
        named.append(graph)
    used = [graph.names_given for graph in named]
    for file, count in zip(files, used if len(files) > 1 else [sum(used)], strict=False):
        if not count:
            raise InputError(
                file, "none of its entities is in the graphs; the first column must hold their URIs"
            )
    return named


def _checked_gold(pair: GraphPair, gold: pl.DataFrame) -> pl.DataFrame:
    """The gold links (left, right), refused if one is to an entity that is not in the graphs."""
    for side, graph in (("left", pair.left), ("right", pair.right)):
        missing = gold.filter(graph.positions(gold[side]) < 0)
        if len(missing):
            raise InputError(
                missing["file"][0],
                f"{len(missing)} gold links name an entity that is not in the {side} graph, "
                f'the first is "{shortened(missing[side][0])}"; leave them out or add its triples',
                line=missing["line"][0],
            )
    return gold.select("left", "right")
