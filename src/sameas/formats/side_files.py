"""The files that a side consists of, and the statements of those that hold RDF."""

from __future__ import annotations

import glob
import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from sameas.compute.parallel import map_blocks
from sameas.errors import InputError, OptionError
from sameas.formats.files import (
    STANDARD_INPUT,
    StrPath,
    address_of,
    endpoint_of,
    files_at,
    kind_of,
    limited,
    limits,
    open_stream,
    require_file,
)
from sameas.formats.graphrag import graphrag_files
from sameas.formats.json_kind import JSON_SUFFIXES, begins_like_records
from sameas.formats.rdf import read_stream
from sameas.formats.rdf_syntax import FORMATS, ONTOLOGY_SYNTAXES, looks_like_rdf
from sameas.formats.tables import TABLE_SUFFIXES
from sameas.graph.rdf.reading import RdfKind, Reading

log = logging.getLogger(__name__)

Place = StrPath | Sequence[StrPath]
"""One path (or pattern, or endpoint), or several."""
RdfFile = tuple[StrPath, RdfKind | None]
"""A file, and the format that its name says."""

SUFFIXES: dict[str, RdfKind] = {
    **{f".{kind}": kind for kind in (*FORMATS, *ONTOLOGY_SYNTAXES)},
    ".owl": "rdf",
    ".xml": "rdf",
}
RECORD_SUFFIXES = (*TABLE_SUFFIXES, ".xlsx")
GRAPH_SUFFIXES = (".graphml", *JSON_SUFFIXES)
"""Formats of property graphs; JSON may also hold records."""


def rdf_kind(path: StrPath, reading: Reading) -> RdfKind | None:
    """The RDF format of a file by its suffix, compression aside; None if it is none.

    >>> rdf_kind("dump.ttl.gz", Reading())
    'ttl'
    """
    if str(path) == STANDARD_INPUT:
        return reading.format
    kind = kind_of(path)
    if kind in SUFFIXES:
        return SUFFIXES[kind]
    return reading.format if kind not in RECORD_SUFFIXES else None


@dataclass(frozen=True, kw_only=True)
class SideFiles:
    """The files that a side consists of, by what reads them; all are of one sort."""

    rdf: tuple[RdfFile, ...] = ()
    tables: tuple[Path, ...] = ()
    """Tables of triples, of records, or of the nodes and edges of a property graph."""
    property_graphs: tuple[Path, ...] = ()
    """Files of a format of property graphs: GraphML, JSON."""


def files_of(places: Sequence[StrPath], reading: Reading) -> SideFiles:
    """The files of a side: those of RDF, by suffix or content, or else tables or property graphs.

    A folder of RDF files stands for these; other files in it are passed over. Any other folder
    stands for all its tables and property graphs.
    """
    rdf: list[RdfFile] = []
    others: list[Path] = []
    for path in (part for place in places for part in expanded(place)):
        if Path(path).is_dir():
            files = _in_folder(Path(path), reading)
            rdf += files.rdf
            others += [*files.tables, *files.property_graphs]
        elif str(path) == STANDARD_INPUT or rdf_kind(path, reading) or _holds_rdf(path):
            rdf.append((path, rdf_kind(path, reading)))
        else:
            require_file(Path(path))
            others.append(Path(path))
            if kind_of(path) not in (*RECORD_SUFFIXES, *GRAPH_SUFFIXES):
                known = (*RECORD_SUFFIXES, *GRAPH_SUFFIXES, *SUFFIXES)
                suffix = "".join(others[-1].suffixes)
                problem = f'suffix "{suffix}" is not known; use {", ".join(known)}'
                raise InputError(path, f"{problem}, plain, .gz, .bz2 or .zst")
    if rdf and others:
        remedy = "rename it, or say what it holds with `format`"
        raise InputError(others[0], f"is no RDF, unlike other files of its side; {remedy}")
    if not rdf and not others:
        raise OptionError("a side must be at least one file, got none")
    return _sorted_out(rdf, others)


def _sorted_out(rdf: Sequence[RdfFile], others: Sequence[Path]) -> SideFiles:
    """The files of a side that holds RDF, or tables and property graphs."""
    graphs = [file for file in others if _is_property_graph(file)]
    tables = [file for file in others if file not in graphs]
    if graphs and tables:
        problem = f"is a table, unlike {graphs[0].name} of its side; give them as two sides"
        raise InputError(tables[0], problem)
    return SideFiles(rdf=tuple(rdf), tables=tuple(tables), property_graphs=tuple(graphs))


def _is_property_graph(path: Path) -> bool:
    """Whether a file is in a format of property graphs; JSON may also hold records."""
    if kind_of(path) not in JSON_SUFFIXES:
        return kind_of(path) in GRAPH_SUFFIXES
    with open_stream(path) as stream:
        return not begins_like_records(stream.head)


def _holds_rdf(path: StrPath) -> bool:
    """Whether a file begins like RDF, though its suffix says nothing."""
    if kind_of(path) in RECORD_SUFFIXES or not (Path(path).is_file() or address_of(path)):
        return False
    with open_stream(path) as stream:
        return looks_like_rdf(stream.head)


def expanded(place: StrPath) -> list[StrPath]:
    """The paths that a text stands for: itself, those a pattern fits, or those between commas."""
    text = str(place)
    if text == STANDARD_INPUT or endpoint_of(text) or Path(text).exists():
        return [place]
    if address := address_of(text):
        return list(files_at(address))
    if glob.has_magic(text):
        paths = sorted(glob.glob(text))  # noqa: PTH207 (a pattern, which may be absolute)
        if not paths:
            raise InputError(text, "fits no file; check the pattern")
        return list(paths)
    if "," in text:
        return [part for one in text.split(",") if one for part in expanded(one)]
    return [place]


def _in_folder(folder: Path, reading: Reading) -> SideFiles:
    """The files of a folder: GraphRAG's two, those of RDF, else all tables and property graphs."""
    if of_graphrag := graphrag_files(folder):
        log.info(
            "%s: read as GraphRAG's output: %s", folder, ", ".join(p.name for p in of_graphrag)
        )
        return SideFiles(tables=tuple(of_graphrag))
    files = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    kinds = [(file, rdf_kind(file, reading) if file.is_file() else None) for file in files]
    rdf: list[RdfFile] = [(file, kind) for file, kind in kinds if kind]
    others = [file for file, kind in kinds if file.is_file() and kind is None]
    tables = [file for file in others if kind_of(file) in (*RECORD_SUFFIXES, *GRAPH_SUFFIXES)]
    used = len(rdf) or len(tables)
    if not used:
        held = ", ".join(file.name for file in files[:6]) or "nothing"
        known = ", ".join((*SUFFIXES, *RECORD_SUFFIXES, *GRAPH_SUFFIXES))
        raise InputError(folder, f"holds neither RDF files nor tables ({known}), found {held}")
    skipped = [file for file in files if file not in ([file for file, _ in rdf] or tables)]
    if skipped:
        what = "is not RDF" if rdf else "is no table"
        text = "%s: passed over what %s: %d, the first is %s"
        log.warning(text, folder, what, len(skipped), skipped[0].name)
    return SideFiles(rdf=tuple(rdf)) if rdf else _sorted_out((), tables)


def read_files(
    files: Sequence[RdfFile], reading: Reading, tally: Counter[str]
) -> Iterator[pl.DataFrame]:
    """The statements of files, in their order; several are read at once, each by one worker.

    A blank node belongs to its file: where there are several, its name begins with the number
    of the file.
    """
    if len(files) == 1 or any(str(path) == STANDARD_INPUT for path, _ in files):
        for number, (path, kind) in enumerate(files, start=1):
            with open_stream(path) as stream:
                tag = f"{number}." if len(files) > 1 else ""
                yield from read_stream(stream, kind, reading, tally, tag=tag)
        return
    parts = list(enumerate(files, start=1))
    for _, (batches, counts) in map_blocks(_read_file, parts, tuple, reading, limits()):
        tally.update(counts)
        yield from batches


def _read_file(
    numbered: tuple[int, RdfFile], reading: Reading, given: tuple[int | None, int | None]
) -> tuple[list[pl.DataFrame], Counter[str]]:
    """The statements of one of several files, and what was counted."""
    (number, (path, kind)), tally = numbered, Counter[str]()
    with limited(*given), open_stream(path) as stream:
        return list(read_stream(stream, kind, reading, tally, tag=f"{number}.")), tally
