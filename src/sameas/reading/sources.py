"""What one side of a pair points at: a file, several, a folder, standard input, an endpoint."""

from __future__ import annotations

import glob
import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path

from sameas.errors import InputError, OptionError
from sameas.graph import Graph
from sameas.reading.assembly import assemble
from sameas.reading.benchmark import Side
from sameas.reading.options import RdfKind, Reading
from sameas.reading.rdf import SUFFIXES, StrPath, rdf_kind, read_rdf
from sameas.reading.sparql import endpoint_of, read_endpoint
from sameas.reading.statements import Statements
from sameas.reading.streams import STANDARD_INPUT
from sameas.reading.tables import TABLE_SUFFIXES, kind_of, require_file
from sameas.reading.terms import Terms

log = logging.getLogger(__name__)

Place = StrPath | Sequence[StrPath]
"""One path (or pattern, or endpoint), or several."""


def is_rdf(place: Place, reading: Reading) -> bool:
    """Whether a place is for the RDF reader: by its suffix, or for holding several files."""
    if not isinstance(place, str | PathLike):
        return True
    if str(place) == STANDARD_INPUT or endpoint_of(place) or Path(place).is_dir():
        return True
    return any(_kind(path, reading) for path in _expanded(place))


def read_rdf_side(place: Place, reading: Reading, *, query: Path | None) -> Side:
    """One side read from RDF: its graph without names, and the names given in it."""
    terms, tally = Terms(), Counter[str]()
    batches = _batches(place, reading, query, terms, tally)
    graph, names = assemble(batches, terms, reading, tally)
    _remark(graph, describe(place))
    return graph, None, names


def describe(place: Place) -> str:
    """A place in error messages."""
    if isinstance(place, str | PathLike):
        return "standard input" if str(place) == STANDARD_INPUT else str(place)
    return ",".join(str(path) for path in place)


def _batches(
    place: Place, reading: Reading, query: Path | None, terms: Terms, tally: Counter[str]
) -> Iterator[Statements]:
    if isinstance(place, str | PathLike) and (endpoint := endpoint_of(place)):
        return read_endpoint(endpoint, query, reading, terms, tally)
    return read_rdf(_files(place, reading), reading, terms, tally)


def _files(place: Place, reading: Reading) -> list[tuple[StrPath, RdfKind]]:
    """The files of a side with their formats."""
    paths = [place] if isinstance(place, str | PathLike) else list(place)
    found: list[tuple[StrPath, RdfKind]] = []
    for path in (part for one in paths for part in _expanded(one)):
        if str(path) != STANDARD_INPUT and Path(path).is_dir():
            found += _in_folder(Path(path), reading)
            continue
        if str(path) != STANDARD_INPUT:
            require_file(Path(path))
        kind = _kind(path, reading)
        if kind is None:
            raise InputError(
                path,
                f"its suffix is none of RDF ({', '.join(SUFFIXES)}, plain, .gz, .bz2 or .zst); "
                "rename it, or say what it holds with --format",
            )
        found.append((path, kind))
    if not found:
        raise OptionError("a side must be at least one file, got none")
    return found


def _expanded(place: StrPath) -> list[StrPath]:
    """The paths that a text stands for: itself, those a pattern fits, or those between commas."""
    text = str(place)
    if text == STANDARD_INPUT or endpoint_of(text) or Path(text).exists():
        return [place]
    if glob.has_magic(text):
        found = sorted(glob.glob(text))  # noqa: PTH207 (a pattern, which may be absolute)
        if not found:
            raise InputError(text, "fits no file; check the pattern")
        return list(found)
    if "," in text:
        return [part for one in text.split(",") if one for part in _expanded(one)]
    return [place]


def _in_folder(folder: Path, reading: Reading) -> list[tuple[StrPath, RdfKind]]:
    files = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    kinds = [(file, _kind(file, reading) if file.is_file() else None) for file in files]
    passed_over = [file.name for file, kind in kinds if kind is None]
    found: list[tuple[StrPath, RdfKind]] = [(file, kind) for file, kind in kinds if kind]
    if not found:
        held = ", ".join(passed_over[:6]) or "nothing"
        raise InputError(folder, f"holds no RDF files ({', '.join(SUFFIXES)}), found {held}")
    if passed_over:
        log.warning(
            "%s: passed over what is not RDF: %d, the first is %s",
            folder,
            len(passed_over),
            passed_over[0],
        )
    return found


def _kind(path: StrPath, reading: Reading) -> RdfKind | None:
    kind = rdf_kind(path, reading)
    if kind is None and kind_of(Path(path)) not in TABLE_SUFFIXES:
        return reading.format
    return kind


def _remark(graph: Graph, place: str) -> None:
    """Say what was skipped; the library logs, the command line prints."""
    counts = graph.reading_counts
    if counts.get("malformed"):
        log.warning("%s: malformed statements were skipped: %d", place, counts["malformed"])
    if counts.get("quoted"):
        log.warning("%s: statements about statements were left out: %d", place, counts["quoted"])
