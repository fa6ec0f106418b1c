"""The front door of reading: whatever the user points at, as a GraphPair."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Literal, cast

import polars as pl

from sameas.errors import InputError, OptionError
from sameas.graph import Graph, GraphPair, graph_from_triples
from sameas.reading.benchmark import (
    Side,
    read_dbp15k,
    read_dbp15k_gold,
    read_openea,
    read_openea_gold,
)
from sameas.reading.links import read_gold_links
from sameas.reading.names import choose_names, read_names
from sameas.reading.options import Reading
from sameas.reading.rdf import SUFFIXES, StrPath
from sameas.reading.sources import Place, describe, is_rdf, read_rdf_side
from sameas.reading.streams import STANDARD_INPUT
from sameas.reading.tables import TABLE_SUFFIXES, kind_of, read_table, require_file, shortened

log = logging.getLogger(__name__)

Layout = Literal["dbp15k", "openea"]

READERS: dict[Layout, Callable[[Path], tuple[Side, Side]]] = {
    "dbp15k": read_dbp15k,
    "openea": read_openea,
}
GOLD_READERS: dict[Layout, Callable[[Path], pl.DataFrame | None]] = {
    "dbp15k": read_dbp15k_gold,
    "openea": read_openea_gold,
}
MARKS: dict[Layout, str] = {"dbp15k": "triples_1", "openea": "rel_triples_1"}


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
    reading = reading or Reading()
    if right is None:
        if not isinstance(left, str | PathLike):
            raise OptionError("two sides expected, got several files of one")
        layout = detect_layout(Path(left))
        sides = READERS[layout](Path(left))
        gold = GOLD_READERS[layout](Path(left))
    else:
        if STANDARD_INPUT in (left, right) and left == right:
            raise OptionError("one side at most can be standard input, got both")
        sides = _side(left, reading, 0), _side(right, reading, 1)
        gold = None
    for (graph, _, _), place in zip(sides, _places(left, right), strict=True):
        _refuse_empty(graph, place)
    if right is not None and all(is_rdf(place, reading) for place in (left, right)) and names is None:
        from sameas.understanding import understand

        named = understand(
            sides[0][0], sides[1][0], label=reading.label, language=reading.language
        )
        return GraphPair(left=named[0], right=named[1])
    named = _with_names(sides, names)
    pair = GraphPair(left=named[0], right=named[1])
    return pair if gold is None else replace(pair, gold=_checked_gold(pair, gold))


def read_graph(place: Place, *, reading: Reading | None = None) -> Graph:
    """One graph from a table of triples or from RDF, with the names it brings, else from URIs."""
    side = _side(place, reading or Reading(), 0)
    _refuse_empty(side[0], describe(place))
    return _with_names((side,), None)[0]


def is_pair(place: StrPath) -> bool:
    """Whether a place is a folder that holds two graphs."""
    folder = Path(place)
    return folder.is_dir() and (
        any((folder / mark).exists() for mark in MARKS.values()) or (folder / "run.json").is_file()
    )


def read_gold(path: StrPath) -> pl.DataFrame:
    """Gold links (left, right) from a two-column file or a benchmark folder."""
    path = Path(path)
    if path.is_dir():
        gold = GOLD_READERS[detect_layout(path)](path)
        if gold is None:
            raise InputError(path, "holds no gold links (ref_ent_ids or ent_links)")
    else:
        gold = read_gold_links(path)
    return gold.select("left", "right")


def detect_layout(folder: Path) -> Layout:
    """Which benchmark layout a folder has, by the files in it."""
    if not folder.exists():
        raise InputError(folder, "no such file or folder; check the path")
    if not folder.is_dir():
        raise InputError(
            folder, "one benchmark folder or two files of triples expected, found one file"
        )
    for layout, mark in MARKS.items():
        if (folder / mark).exists():
            return layout
    if (folder / "run.json").is_file():
        raise InputError(folder, "is a run folder; give the benchmark folder or file it came from")
    held = sorted(entry.name for entry in folder.iterdir())[:6]
    raise InputError(
        folder,
        f"not a known layout: found {', '.join(held) or 'nothing'}; expected triples_1 and "
        "ent_ids_1 (DBP15K) or rel_triples_1 (OpenEA)",
    )


def _side(place: Place, reading: Reading, number: int) -> Side:
    """One of two sides, the first having the number 0."""
    if isinstance(place, str | PathLike) and is_pair(place):
        raise InputError(place, "is a folder of two graphs; give it alone, or two files of triples")
    if is_rdf(place, reading):
        query = reading.query[min(number, len(reading.query) - 1)] if reading.query else None
        return read_rdf_side(place, reading, query=query)
    return _table_side(Path(cast(StrPath, place)))


def _refuse_empty(graph: Graph, place: StrPath) -> None:
    if not len(graph.triples):
        what = "triples between resources" if len(graph.entities) else "triples"
        raise InputError(place, f"holds no {what}; a graph needs at least one")


def _table_side(path: Path) -> Side:
    require_file(path)
    if kind_of(path) not in TABLE_SUFFIXES:
        raise InputError(
            path,
            f'suffix "{"".join(path.suffixes)}" is not known; a table of triples ends in '
            f"{', '.join(TABLE_SUFFIXES)}, plain, .gz or .zst, RDF in {', '.join(SUFFIXES)}",
        )
    return graph_from_triples(read_table(path, ("head", "relation", "tail"))), None, None


def _with_names(
    sides: Sequence[Side], names: StrPath | Sequence[StrPath] | None
) -> tuple[Graph, ...]:
    """The sides' graphs with the names that were asked for."""
    files: list[StrPath] = []
    if names is None:
        given: Sequence[pl.DataFrame | None] = [side[2] for side in sides]
    elif isinstance(names, str | PathLike) and str(names) == "uri":
        given = [None] * len(sides)
    else:
        files = [names] if isinstance(names, str | PathLike) else list(names)
        if len(files) not in (1, len(sides)):
            raise OptionError(f"names must be one file or one a side, got {len(files)} instead")
        tables = [read_names(Path(file)) for file in files]
        given = tables * (len(sides) // len(tables))
    chosen = [
        choose_names(graph.entities, table, ids=ids)
        for (graph, ids, _), table in zip(sides, given, strict=True)
    ]
    used = [count for _, count in chosen]
    if len(files) == 1:
        used = [sum(used)]
    for file, count in zip(files, used, strict=False):
        if not count:
            raise InputError(
                file, "none of its entities is in the graphs; the first column must hold their URIs"
            )
    return tuple(
        replace(graph, names=text, names_given=count)
        for (graph, _, _), (text, count) in zip(sides, chosen, strict=True)
    )


def _places(left: Place, right: Place | None) -> list[StrPath]:
    """Where each side's triples are."""
    if right is not None:
        return [describe(left), describe(right)]
    folder = Path(cast(StrPath, left))
    stem = MARKS[detect_layout(folder)].removesuffix("1")
    return [folder / f"{stem}{side}" for side in (1, 2)]


def _checked_gold(pair: GraphPair, gold: pl.DataFrame) -> pl.DataFrame:
    """The gold links (left, right), refused if one is to an entity that is not in the graphs."""
    for side, graph in (("left", pair.left), ("right", pair.right)):
        missing = gold.filter(pl.Series(graph.positions(gold[side]) < 0))
        if len(missing):
            raise InputError(
                missing["file"][0],
                f"{len(missing)} gold links name an entity that is not in the {side} graph, "
                f'the first is "{shortened(missing[side][0])}"; leave them out or add its triples',
                line=missing["line"][0],
            )
    return gold.select("left", "right")
