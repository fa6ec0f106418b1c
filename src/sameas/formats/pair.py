"""The front door of reading: whatever the user points at, as graphs."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

import polars as pl

from sameas.compute.parallel import in_parallel
from sameas.errors import InputError, OptionError, shortened
from sameas.formats.benchmark import MARKS, TRANSLATED, Side, read_benchmark, read_benchmark_gold
from sameas.formats.files import (
    STANDARD_INPUT,
    StrPath,
    address_of,
    endpoint_of,
    kind_of,
    limited,
)
from sameas.formats.links import read_gold_links
from sameas.formats.name_files import read_names
from sameas.formats.property_graph import read_property_graphs
from sameas.formats.side_files import (
    GRAPH_SUFFIXES,
    RECORD_SUFFIXES,
    SUFFIXES,
    Place,
    files_of,
    read_files,
)
from sameas.formats.tabular import graph_of_tables
from sameas.graph.graph import Graph, GraphPair
from sameas.graph.labels import further_names, look_up_names
from sameas.graph.matched import MatchedGraph, MatchedPair
from sameas.graph.rdf.reading import Reading
from sameas.graph.semantics.understanding import understand

log = logging.getLogger(__name__)


def read_pair(
    left: Place,
    right: Place | None = None,
    *,
    names: StrPath | Sequence[StrPath] | None = None,
    reading: Reading | None = None,
) -> MatchedPair:
    """The pair of graphs in one benchmark folder, or in two places, as it is matched.

    A place is a table of records or triples, an RDF file, a folder or several of them, "-" for
    standard input, or a SPARQL endpoint (``sparql+http://...``); ``reading`` says how it is read.
    ``names`` is a names file for both sides, two files (left, right), or "uri" to make all names
    from the URIs. Without it, names are those the input brings, else made from the URIs.
    """
    reading, gold = reading or Reading(), None
    with limited(reading.max_bytes):
        if right is not None:
            if STANDARD_INPUT in (left, right) and left == right:
                raise OptionError("one side at most can be standard input, got both")
            sides = [_put_away(_side(left, reading, 0)), _put_away(_side(right, reading, 1))]
        elif isinstance(left, str | PathLike):
            sides, gold = read_benchmark(Path(left))
            translated = Path(left) / TRANSLATED
            if names is None and sides[0].ids is not None and translated.exists():
                names = translated
        else:
            raise OptionError("two sides expected, got several files of one")
        for side in sides:
            _refuse_empty(side)
        graphs = [side.graph for side in sides] if names is None else _named(sides, names)
    pair = understand(GraphPair(left=graphs[0], right=graphs[1]))
    return pair if gold is None else replace(pair, gold=_checked_gold(pair, gold))


def read_graphs(
    places: Sequence[Place],
    *,
    names: StrPath | Sequence[StrPath] | None = None,
    reading: Reading | None = None,
) -> list[Graph]:
    """The graphs in several places; ``names`` is a file for all, one for each, or "uri"."""
    reading = reading or Reading()
    for option, columns in (("id", reading.id), ("name", reading.name)):
        if any(column.startswith(("left=", "right=")) for column in columns):
            raise OptionError(f"`{option}` of three graphs or more must not name a side")
    with limited(reading.max_bytes):
        sides = [_side(place, reading, 0) for place in places]
        for side in sides:
            _refuse_empty(side)
        return [side.graph for side in sides] if names is None else _named(sides, names)


def read_graph(place: Place, *, reading: Reading | None = None) -> Graph:
    """One graph from a table of triples or from RDF, with the names it brings, else from URIs."""
    reading = reading or Reading()
    with limited(reading.max_bytes):
        side = _side(place, reading, 0)
    _refuse_empty(side)
    return side.graph


def read_understood(
    place: Place, *, names: StrPath | None = None, reading: Reading | None = None
) -> MatchedGraph:
    """One graph as it would be matched: with kinds, and with names wherever it has them.

    Statements about one resource alone are enough. ``names`` is a names file, or "uri".
    """
    reading = reading or Reading()
    with limited(reading.max_bytes):
        side = _side(place, reading, 0)
        if not len(side.graph.entities):
            raise InputError(side.file, "holds no triples; a graph needs at least one")
        graph = side.graph if names is None else _named([side], names)[0]
    return understand(GraphPair(left=graph, right=graph)).right


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
    places = [place] if isinstance(place, str | PathLike) else list(place)
    file = ",".join("standard input" if str(p) == STANDARD_INPUT else str(p) for p in places)
    single = places[0] if len(places) == 1 else ""
    if single and is_pair(single):
        raise InputError(file, "is a folder of two graphs; give it alone, or two files of triples")
    _refuse_web_pages(places)
    tally = Counter[str]()
    if endpoint := endpoint_of(single):
        query = reading.query[min(number, len(reading.query) - 1)] if reading.query else None
        from sameas.formats.sparql import read_endpoint  # slow to import: ssl, http

        batches = read_endpoint(endpoint, query, tally)
    else:
        files = files_of(places, reading)
        if files.tables:
            graph = graph_of_tables(files.tables, reading.for_side(number))
            return Side(graph=graph, file=file)
        if files.property_graphs:
            graph = read_property_graphs(files.property_graphs, reading.for_side(number))
            return Side(graph=graph, file=file)
        batches = read_files(files.rdf, reading, tally)
    graph = Graph.from_statements(batches, reading, tally=tally, place=file)
    if tally["quoted"]:
        log.warning("%s: statements about statements were left out: %d", file, tally["quoted"])
    return Side(graph=graph, file=file)


def _put_away(side: Side) -> Side:
    """The side with tables in files if it is large: the other side is to be read, too."""
    return replace(side, graph=side.graph.in_files()) if side.graph.is_large else side


def _refuse_web_pages(places: Sequence[StrPath]) -> None:
    """Refuse addresses of the web that do not name a file: most are endpoints."""
    for place in places:
        address = address_of(place) or ""
        known = (*SUFFIXES, *RECORD_SUFFIXES, *GRAPH_SUFFIXES)
        if address.startswith(("http:", "https:")) and kind_of(address) not in known:
            remedy = f"write sparql+{address} for a SPARQL endpoint, or download the file first"
            raise InputError(address, f"is an address of the web; {remedy}")


def _refuse_empty(side: Side) -> None:
    """Refuse a graph without statements; relations between entities are not needed."""
    if not len(side.graph.entities):
        what = "records" if side.graph.shape == "records" else "triples"
        raise InputError(side.file, f"holds no {what}; a graph needs at least one")


def _named(sides: Sequence[Side], names: StrPath | Sequence[StrPath]) -> list[Graph]:
    """The graphs with the names that were asked for."""
    files = [names] if isinstance(names, str | PathLike) else list(names)
    if len(files) not in (1, len(sides)):
        raise OptionError(f"`names` must be one file or one a side, got {len(files)} instead")
    tables = [None if str(file) == "uri" else read_names(Path(file)) for file in files]
    given = zip(sides, tables * (len(sides) // len(tables)), strict=True)
    graphs = in_parallel(lambda both: _with_names(*both), given)
    used = [graph.labels.drop_nulls().len() for graph in graphs]
    used = used if len(files) > 1 else [sum(used)]
    for file, table, count in zip(files, tables, used, strict=True):
        if table is not None and not count:
            problem = "none of its entities is in the graphs; the first column must hold their URIs"
            raise InputError(file, problem)
    return graphs


def _with_names(side: Side, table: pl.DataFrame | None) -> Graph:
    """The graph with the names of a table (entity, name), or without given names if it is None."""
    graph = side.graph
    if table is None:
        nothing = pl.repeat(None, len(graph.entities), dtype=pl.String, eager=True)
        return replace(graph, given_names=nothing)
    if side.ids is not None:
        ids = side.ids.cast(pl.String)
        table = table.with_columns(pl.col("entity").replace(ids, graph.entities))
    further = further_names(graph.entities, table)
    return replace(
        graph,
        given_names=look_up_names(graph.entities, table),
        alternatives=pl.concat([further, graph.alternatives]),
    )


def _checked_gold(pair: MatchedPair, gold: pl.DataFrame) -> pl.DataFrame:
    """The gold links (left, right), refused if one is to an entity that is not in the graphs."""
    for side, graph in (("left", pair.left), ("right", pair.right)):
        missing = gold.filter(graph.positions(gold[side]) < 0)
        if len(missing):
            problem = f"{len(missing)} gold links name an entity that is not in the {side} graph"
            first = f'the first is "{shortened(missing[side][0])}"; leave them out or add triples'
            raise InputError(missing["file"][0], f"{problem}, {first}", line=missing["line"][0])
    return gold.select("left", "right")
