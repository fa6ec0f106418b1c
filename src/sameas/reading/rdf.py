"""RDF in: statements from files in any of the usual formats."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import IO, Any, cast

import pyoxigraph as ox

from sameas.errors import InputError
from sameas.reading.lines import Lines, read_lines
from sameas.reading.options import RdfKind, Reading
from sameas.reading.statements import Statements, from_quads
from sameas.reading.streams import MAGIC, STANDARD_INPUT, Stream, open_stream
from sameas.reading.syntax import format_hint, guarded, syntax_error
from sameas.reading.terms import Terms
from sameas.reading.tolerant import Utf8Xml, format_by_content, valid_quads
from sameas.reading.xml import XmlStream

SUFFIXES: dict[str, RdfKind] = {
    ".nt": "nt",
    ".nq": "nq",
    ".ttl": "ttl",
    ".trig": "trig",
    ".rdf": "rdf",
    ".owl": "rdf",
    ".xml": "rdf",
    ".jsonld": "jsonld",
}
FORMATS: dict[RdfKind, ox.RdfFormat] = {
    "nt": ox.RdfFormat.N_TRIPLES,
    "nq": ox.RdfFormat.N_QUADS,
    "ttl": ox.RdfFormat.TURTLE,
    "trig": ox.RdfFormat.TRIG,
    "rdf": ox.RdfFormat.RDF_XML,
    "jsonld": ox.RdfFormat.JSON_LD,
}
StrPath = str | PathLike[str]
AT_ONCE = 50_000
"""Statements that are Python objects at the same time."""


def rdf_kind(path: StrPath, reading: Reading) -> RdfKind | None:
    """The RDF format of a file by its suffix, compression aside; None if it is none.

    >>> rdf_kind("dump.ttl.gz", Reading())
    'ttl'
    """
    if str(path) == STANDARD_INPUT:
        return reading.format or "nq"  # N-Triples are N-Quads too
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in MAGIC:
        suffixes.pop()
    return SUFFIXES.get(suffixes[-1] if suffixes else "")


def read_rdf(
    files: Sequence[tuple[StrPath, RdfKind]],
    reading: Reading,
    terms: Terms,
    tally: Counter[str],
) -> Iterator[Statements]:
    """The statements of some files, in their order; what was met is counted in ``tally``.

    A blank node belongs to its file: where there are several, its name begins with the number
    of the file.
    """
    for number, (path, kind) in enumerate(files, start=1):
        tag = f"{number}." if len(files) > 1 else ""
        with open_stream(path, max_bytes=reading.max_bytes) as stream:
            yield from read_stream(stream, kind, reading, terms, tally, tag=tag)


def read_stream(
    stream: Stream,
    kind: RdfKind,
    reading: Reading,
    terms: Terms,
    tally: Counter[str],
    *,
    tag: str = "",
) -> Iterator[Statements]:
    """The statements of one stream in a known format."""
    if kind in ("nt", "nq"):
        yield from read_lines(
            Lines(stream, kind, FORMATS[kind], terms, tag, True, tally)
        )
        return
    seen = format_by_content(stream.head)
    if seen and seen != kind and (seen, kind) not in (("ttl", "trig"), ("nt", "ttl"), ("nt", "trig")):
        kind = cast(RdfKind, seen)
        if kind in ("nt", "nq"):
            yield from read_stream(stream, kind, reading, terms, tally, tag=tag)
            return
    source: Any = stream
    if kind == "rdf" and stream.head:
        inner = Utf8Xml(stream.read, stream.head)
        source = XmlStream(cast(Any, _Inner(inner, stream)))
    if kind == "jsonld" and not stream.head.strip():
        return  # nothing is no JSON, but in no other format is it an error

    def on_error(error: SyntaxError) -> None:
        if kind not in ("rdf", "jsonld"):  # those cannot go on behind a fault
            tally["malformed"] += 1
            return
        hint = format_hint(stream.head, kind)
        line = source.line if isinstance(source, XmlStream) else None
        raise syntax_error(stream.place, error, line=line, hint=hint) from None

    try:
        base = reading.base or _file_iri(stream.place)
        parser = ox.parse(
            input=cast(IO[bytes], source), format=FORMATS[kind], base_iri=base, lenient=True
        )
    except ValueError as error:  # the base is none
        raise InputError(stream.place, f"{error}; is --base a whole IRI?") from None
    quads = valid_quads(guarded(parser, on_error, place=stream.place), tally)
    blank = blank_names(tag)
    while chunk := list(islice(quads, AT_ONCE)):
        yield from_quads(chunk, terms, blank=blank)


class _Inner:
    """A stream that was encoded anew, with what XmlStream asks of a stream."""

    def __init__(self, utf8: Utf8Xml, stream: Stream) -> None:
        self.read, self.place, self.head = utf8.read, stream.place, b""


def _file_iri(place: str) -> str:
    return Path(place).absolute().as_uri() if place != "standard input" else "file:///stdin"


def blank_names(tag: str) -> Callable[[str], str]:
    """A function from labels of blank nodes to terms, the same whenever the same file is read.

    Parsers give nodes without a label a random one; these are numbered as they come.
    """
    anonymous: dict[str, str] = {}

    def name(label: str) -> str:
        if not re.fullmatch("[0-9a-f]{24,32}", label):
            return f"_:{tag}{label}"
        return anonymous.setdefault(label, f"_:{tag}anonymous-{len(anonymous) + 1}")

    return name
