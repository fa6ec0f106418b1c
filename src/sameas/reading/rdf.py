"""RDF files: which of them a side consists of, and their statements, in any usual format."""

from __future__ import annotations

import glob
import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import IO, cast

import pyoxigraph as ox

from sameas.errors import InputError, OptionError, shortened
from sameas.files import STANDARD_INPUT, Stream, StrPath, kind_of, open_stream, require_file
from sameas.graph import Graph
from sameas.rdf.assembly import assemble
from sameas.rdf.rules import RdfKind, Reading
from sameas.rdf.statements import BlankNames, Statements, Terms, from_canonical, statements_of
from sameas.reading.sparql import endpoint_of, read_endpoint
from sameas.reading.tables import TABLE_SUFFIXES
from sameas.reading.xml import XmlStream

log = logging.getLogger(__name__)

Place = StrPath | Sequence[StrPath]
"""One path (or pattern, or endpoint), or several."""

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
LOOKS: dict[RdfKind, tuple[str, tuple[str, ...], bytes]] = {
    "rdf": ("RDF/XML", (), rb"\s*<(\?xml|!--|!DOCTYPE|rdf:RDF)"),
    "jsonld": ("JSON-LD", (), rb"\s*(\{\s*\"|\[\s*[\{\[])"),
    "ttl": ("Turtle", ("trig",), rb"\s*(#[^\n]*\s+)*@?(prefix|base)\s"),
    "nt": (
        "N-Triples",
        ("nq", "ttl", "trig"),
        rb"\s*(#[^\n]*\s+)*(<\w+:[^<>\s]*>|_:\S+)\s+<\w+:[^<>\s]*>\s+(<\w+:[^<>\s]*>|_:\S+|\")",
    ),
}
"""The name of a format, the formats that include it, and how files in it begin."""
BLOCK_BYTES = 2**23
LONGEST_LINE = 2**24
"""The longest term that pyoxigraph reads."""
TOO_LONG = "a line or literal is longer than 16 MiB, which is more than can be read; cut it"
REMOTE_CONTEXT = (
    "its JSON-LD context is to be fetched from elsewhere, which is not done; put the context "
    "into the file, or convert it to N-Triples"
)


def is_rdf(place: Place, reading: Reading) -> bool:
    """Whether a place is for the RDF reader: by its suffix, or because it holds several files."""
    if not isinstance(place, str | PathLike):
        return True
    if str(place) == STANDARD_INPUT or endpoint_of(place) or Path(place).is_dir():
        return True
    return any(rdf_kind(path, reading) for path in _expanded(place))


def read_rdf(place: Place, reading: Reading, *, query: Path | None) -> Graph:
    """The graph of one side that is given as RDF."""
    terms, tally = Terms(), Counter[str]()
    if isinstance(place, str | PathLike) and (endpoint := endpoint_of(place)):
        batches = read_endpoint(endpoint, query, reading, terms, tally)
    else:
        batches = _read_files(_files(place, reading), reading, terms, tally)
    graph = Graph.from_parts(assemble(batches, terms, reading, tally), reading)
    if tally["malformed"]:
        log.warning(
            "%s: malformed statements were skipped: %d", describe(place), tally["malformed"]
        )
    if tally["quoted"]:
        log.warning(
            "%s: statements about statements were left out: %d", describe(place), tally["quoted"]
        )
    return graph


def describe(place: Place) -> str:
    """A place in error messages."""
    if isinstance(place, str | PathLike):
        return "standard input" if str(place) == STANDARD_INPUT else str(place)
    return ",".join(str(path) for path in place)


def rdf_kind(path: StrPath, reading: Reading) -> RdfKind | None:
    """The RDF format of a file by its suffix, compression aside; None if it is none.

    >>> rdf_kind("dump.ttl.gz", Reading())
    'ttl'
    """
    if str(path) == STANDARD_INPUT:
        return reading.format or "nq"  # N-Triples are N-Quads too
    kind = kind_of(path)
    if kind in SUFFIXES:
        return SUFFIXES[kind]
    return reading.format if kind not in TABLE_SUFFIXES else None


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
        kind = rdf_kind(path, reading)
        if kind is None:
            raise InputError(
                path,
                f"its suffix is none of RDF ({', '.join(SUFFIXES)}, plain, .gz, .bz2 or .zst); "
                "rename it, or say what it holds with `format`",
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
    kinds = [(file, rdf_kind(file, reading) if file.is_file() else None) for file in files]
    skipped = [file.name for file, kind in kinds if kind is None]
    found: list[tuple[StrPath, RdfKind]] = [(file, kind) for file, kind in kinds if kind]
    if not found:
        held = ", ".join(skipped[:6]) or "nothing"
        raise InputError(folder, f"holds no RDF files ({', '.join(SUFFIXES)}), found {held}")
    if skipped:
        log.warning(
            "%s: passed over what is not RDF: %d, the first is %s", folder, len(skipped), skipped[0]
        )
    return found


def _read_files(
    files: Sequence[tuple[StrPath, RdfKind]], reading: Reading, terms: Terms, tally: Counter[str]
) -> Iterator[Statements]:
    """The statements of files, in their order.

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
    tally: Counter[str] | None = None,
    *,
    tag: str = "",
) -> Iterator[Statements]:
    """The statements of one stream in a known format.

    With ``lenient``, malformed ones are skipped and counted in ``tally``; links have none.
    """
    if kind in ("nt", "nq"):
        blank = BlankNames(tag)
        for content in _canonical_blocks(stream, kind, reading, tally):
            yield from_canonical(content, terms, blank)
    else:
        yield from statements_of(read_quads(stream, kind, reading, tally), terms, tag)


def read_quads(
    stream: Stream, kind: RdfKind, reading: Reading, tally: Counter[str] | None = None
) -> Iterator[ox.Quad]:
    """The quads of one stream; with ``lenient``, the parser goes on behind an error."""
    if kind == "jsonld" and not stream.head.strip():
        return  # nothing is no JSON, but in no other format is it an error
    source: Stream | XmlStream = XmlStream(stream) if kind == "rdf" and stream.head else stream
    try:
        parser = ox.parse(
            input=cast(IO[bytes], source), format=FORMATS[kind], base_iri=reading.base
        )
    except ValueError as error:  # the base is none
        raise InputError(stream.place, f"{error}; is `base` a whole IRI?") from None
    while True:
        try:
            yield from parser
            return
        except SyntaxError as error:
            if tally is None or not reading.lenient:
                line = source.line if isinstance(source, XmlStream) else error.lineno
                raise _syntax_error(stream, kind, error, line, tally) from None
            tally["malformed"] += 1
        except (MemoryError, RecursionError):
            raise InputError(stream.place, TOO_LONG) from None


def _canonical_blocks(
    stream: Stream, kind: RdfKind, reading: Reading, tally: Counter[str] | None
) -> Iterator[bytes]:
    """N-Triples or N-Quads in canonical form, some megabytes at a time.

    A block with an error is parsed line by line: the error has its line and column, or is skipped
    without the lines that follow it.
    """
    line = 1
    for block in _blocks(stream):
        try:
            content = _canonical(block, kind)
        except (SyntaxError, MemoryError):
            parts = []
            for number, text in enumerate(block.split(b"\n"), start=line):
                try:
                    parts.append(_canonical(text, kind))
                except SyntaxError as error:
                    if tally is None or not reading.lenient:
                        raise _syntax_error(stream, kind, error, number, tally) from None
                    tally["malformed"] += 1
                except MemoryError:
                    raise InputError(stream.place, TOO_LONG, line=number) from None
            content = b"".join(parts)
        if content:
            yield content
        line += block.count(b"\n") + 1


def _canonical(content: bytes, kind: RdfKind) -> bytes:
    parser = ox.parse(input=content, format=FORMATS[kind])
    return cast(bytes, ox.serialize(parser, format=ox.RdfFormat.N_QUADS))


def _blocks(stream: Stream) -> Iterator[bytes]:
    """The stream, cut at ends of lines, which are left off."""
    parts: list[bytes] = []
    waiting = 0
    while piece := stream.read(BLOCK_BYTES):
        cut = piece.rfind(b"\n")
        if cut >= 0:
            yield b"".join([*parts, piece[:cut]])
            parts, waiting = [], 0
            piece = piece[cut + 1 :]
        parts.append(piece)
        waiting += len(piece)
        if waiting > LONGEST_LINE:
            raise InputError(stream.place, TOO_LONG)
    if waiting:
        yield b"".join(parts)


def _syntax_error(
    stream: Stream,
    kind: RdfKind,
    error: SyntaxError,
    line: int | None,
    tally: Counter[str] | None,
) -> InputError:
    """What a parser found, in our words: the place, the fault, the remedy."""
    message = re.sub(r"^Parser error [^:]*: ", "", str(error.msg))
    if "LoadDocumentCallback" in message:
        return InputError(stream.place, REMOTE_CONTEXT)
    remedy = _format_hint(stream.head, kind)
    if "Invalid UTF-8" in message:
        message, remedy = "not UTF-8 text", "convert the file to UTF-8"
    if not remedy and tally is None:
        remedy = "mend it"
    elif not remedy and "No scheme found" in message:
        remedy = "if it is a relative IRI, give the one to resolve it against with `base`"
    elif not remedy:
        remedy = "mend it, or skip what is malformed with `lenient`"
    return InputError(
        stream.place,
        f"{shortened(message, 200)}; {remedy}",
        line=line,
        column=error.offset or None,
    )


def _format_hint(head: bytes, kind: RdfKind) -> str:
    """The remedy if a file seems to hold another format than its suffix says, or ""."""
    for other, (name, within, pattern) in LOOKS.items():
        if re.match(pattern, head, re.IGNORECASE):
            same = kind in (other, *within)
            return "" if same else f"it looks like {name}: let its name end in .{other}"
    return ""
