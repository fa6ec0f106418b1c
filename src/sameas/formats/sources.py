"""The files that a side consists of, and the statements of those that hold RDF."""

from __future__ import annotations

import glob
import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from sameas.compute.parallel import map_blocks
from sameas.errors import InputError, OptionError
from sameas.formats.files import (
    STANDARD_INPUT,
    StrPath,
    address_of,
    files_at,
    kind_of,
    limited,
    limits,
    open_stream,
    require_file,
)
from sameas.formats.rdf import read_stream
from sameas.formats.rdf_syntax import FORMATS, looks_like_rdf
from sameas.formats.sparql import endpoint_of
from sameas.formats.tables import TABLE_SUFFIXES
from sameas.graph.rdf.reading import RdfKind, Reading

log = logging.getLogger(__name__)

Place = StrPath | Sequence[StrPath]
"""One path (or pattern, or endpoint), or several."""
RdfFile = tuple[StrPath, RdfKind | None]
"""A file, and the format that its name says."""

SUFFIXES: dict[str, RdfKind] = {f".{kind}": kind for kind in FORMATS} | {
    ".owl": "rdf",
    ".xml": "rdf",
}


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
    return reading.format if kind not in TABLE_SUFFIXES else None


def files_of(places: Sequence[StrPath], reading: Reading) -> tuple[list[RdfFile], list[Path]]:
    """The files of a side: those of RDF, by suffix or content, or else tables of triples."""
    found: list[RdfFile] = []
    tables: list[Path] = []
    for path in (part for place in places for part in expanded(place)):
        kind = rdf_kind(path, reading)
        if Path(path).is_dir():
            found += _in_folder(Path(path), reading)
        elif str(path) == STANDARD_INPUT or kind or _holds_rdf(path):
            found.append((path, kind))
        else:
            require_file(Path(path))
            tables.append(Path(path))
            if kind_of(path) not in TABLE_SUFFIXES:
                known = f"{', '.join((*TABLE_SUFFIXES, *SUFFIXES))}, plain, .gz, .bz2 or .zst"
                suffix = "".join(tables[-1].suffixes)
                raise InputError(path, f'suffix "{suffix}" is not known; use {known}')
    if found and tables:
        remedy = "rename it, or say what it holds with `format`"
        raise InputError(tables[0], f"is no RDF, unlike other files of its side; {remedy}")
    if not found and not tables:
        raise OptionError("a side must be at least one file, got none")
    return found, tables


def _holds_rdf(path: StrPath) -> bool:
    """Whether a file begins like RDF, though its suffix says nothing."""
    if kind_of(path) in TABLE_SUFFIXES or not (Path(path).is_file() or address_of(path)):
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
        found = sorted(glob.glob(text))  # noqa: PTH207 (a pattern, which may be absolute)
        if not found:
            raise InputError(text, "fits no file; check the pattern")
        return list(found)
    if "," in text:
        return [part for one in text.split(",") if one for part in expanded(one)]
    return [place]


def _in_folder(folder: Path, reading: Reading) -> list[RdfFile]:
    files = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    kinds = [(file, rdf_kind(file, reading) if file.is_file() else None) for file in files]
    skipped = [file.name for file, kind in kinds if kind is None]
    found: list[RdfFile] = [(file, kind) for file, kind in kinds if kind]
    if not found:
        held = ", ".join(skipped[:6]) or "nothing"
        raise InputError(folder, f"holds no RDF files ({', '.join(SUFFIXES)}), found {held}")
    if skipped:
        text = "%s: passed over what is not RDF: %d, the first is %s"
        log.warning(text, folder, len(skipped), skipped[0])
    return found


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
