"""Streams of RDF to statements, in any usual format; malformed statements are left out.

The parsers check syntax only. IRIs and language tags are validated here, statement by statement,
so that one bad term does not end a file, and no parser has to guess where the next statement
begins. N-Triples and N-Quads are parsed with all checks first, a block at a time, which is fast.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import IO, cast
from urllib.parse import quote

import polars as pl
import pyoxigraph as ox

from sameas.errors import InputError, shortened
from sameas.files import Stream
from sameas.iri import SIMPLE
from sameas.rdf.rules import LANGUAGE, RdfKind, Reading
from sameas.rdf.statements import BlankNames, from_canonical, statements_of
from sameas.reading.nesting import JsonStream, TurtleStream, refuse_deep_lines, too_deep
from sameas.reading.syntax import FORMATS, kind_of_content
from sameas.reading.xml import LOST, XmlStream

log = logging.getLogger(__name__)

BLOCK_BYTES = 2**23
LONGEST_LINE = 2**24
"""The longest term that pyoxigraph reads."""
TOO_LONG = "a line or literal is longer than 16 MiB, which is more than can be read; cut it"
REMOTE_CONTEXT = (
    "its JSON-LD context is to be fetched from elsewhere, which is not done; put the context "
    "into the file, or convert it to N-Triples"
)
NO_NAME = "standard-input"
"""The name that relative IRIs on standard input are resolved against."""


@cache
def well_formed() -> re.Pattern[str]:
    """Most well-formed statements as text; others are looked at term by term, which is slower.

    Made when it is needed first: that takes a tenth of a second.
    """
    return re.compile(
        rf"(?:<{SIMPLE}>|_:\w+) <{SIMPLE}> (?:<{SIMPLE}>|_:\w+|"
        rf"\"[^\"\\]*(?:\\.[^\"\\]*)*\"(?:@{LANGUAGE.pattern}|\^\^<{SIMPLE}>)?)"
    )


@dataclass
class Faults:
    """Malformed statements of one stream: left out and counted, or refused."""

    stream: Stream
    kind: RdfKind
    reading: Reading
    tally: Counter[str] | None
    """Where they are counted besides; None for links, of which syntax errors are not skipped."""
    counts: Counter[str] = field(default_factory=Counter)
    first: str = ""

    def valid(self, quads: Iterable[ox.Quad], line: Callable[[], int | None]) -> Iterator[ox.Quad]:
        """The quads whose IRIs and language tags are well-formed; ``line`` says where one is."""
        for quad in quads:
            if not well_formed().fullmatch(str(quad)) and (found := _bad_term(quad)):
                self._bad_term(*found, line())
            else:
                yield quad

    def _bad_term(self, kind: str, text: str, line: int | None) -> None:
        """Count a statement with a malformed IRI or language tag; refuse it if strict."""
        what = f'{kind} "{shortened(text)}"'
        if self.reading.strict:
            remedy = "mend it, or leave out such statements by reading without `strict`"
            raise InputError(self.stream.place, f"malformed {what}; {remedy}", line=line)
        self._count(f"bad_{kind.lower().replace(' ', '_')}s", f"the {what}", line)

    def syntax_error(self, error: SyntaxError, line: int | None) -> None:
        """Count a statement with a syntax error if lenient, where the parser can go on."""
        can_go_on = self.kind not in ("rdf", "jsonld")
        message = re.sub(r"^Parser error [^:]*: ", "", str(error.msg))
        if self.reading.lenient and can_go_on and self.tally is not None:
            self._count("syntax_errors", f"a syntax error ({shortened(message)})", line)
            return
        if "LoadDocumentCallback" in message:
            raise InputError(self.stream.place, REMOTE_CONTEXT)
        remedy = "mend it, or skip what is malformed with `lenient`" if can_go_on else LOST
        if self.tally is None:
            remedy = "mend it"
        if "Invalid UTF-8" in message:
            message, remedy = "not UTF-8 text", "convert the file to UTF-8"
        message, column = f"{shortened(message, 200)}; {remedy}", error.offset or None
        raise InputError(self.stream.place, message, line=line, column=column)

    def _count(self, kind: str, what: str, line: int | None) -> None:
        self.first = self.first or what + (f" in line {line}" if line else "")
        self.counts[kind] += 1
        if self.tally is not None:
            self.tally[kind] += 1
            self.tally["malformed"] += 1

    def warn(self) -> None:
        """Log how many statements were left out, and why the first was."""
        if self.counts:
            kinds = ", ".join(f"{kind.replace('_', ' ')} {n}" for kind, n in self.counts.items())
            log.warning(
                "%s: malformed statements were left out: %d (%s); the first has %s",
                self.stream.place,
                self.counts.total(),
                kinds,
                self.first,
            )


def read_stream(
    stream: Stream,
    kind: RdfKind | None,
    reading: Reading,
    tally: Counter[str] | None = None,
    *,
    tag: str = "",
) -> Iterator[pl.DataFrame]:
    """The statements of one stream in the format that its name says, None if it says nothing.

    A stream that clearly holds another format is read as that. Malformed statements are counted
    in ``tally``.
    """
    kind = kind_of_content(stream, kind)
    if kind in ("nt", "nq"):
        blank = BlankNames(tag)
        for content in _canonical_blocks(stream, kind, reading, tally):
            yield from_canonical(content, blank)
    else:
        yield from statements_of(read_quads(stream, kind, reading, tally), tag)


def read_quads(
    stream: Stream,
    kind: RdfKind,
    reading: Reading,
    tally: Counter[str] | None = None,
) -> Iterator[ox.Quad]:
    """The quads of one stream."""
    if kind == "jsonld" and not stream.head.strip():
        return  # nothing is no JSON, but in no other format is it an error
    faults = Faults(stream, kind, reading, tally)
    source = guarded(stream, kind)
    base = reading.base or f"file:///{quote(_file_name(stream))}"
    try:
        parser = ox.parse(
            input=cast(IO[bytes], source), format=FORMATS[kind], base_iri=base, lenient=True
        )
    except ValueError as error:  # the base is none
        raise InputError(stream.place, f"{error}; is `base` a whole IRI?") from None
    while True:
        found = source.statements(parser) if isinstance(source, TurtleStream) else parser
        try:
            yield from faults.valid(found, lambda: getattr(source, "line", None))
            break
        except SyntaxError as error:
            line = source.line if isinstance(source, XmlStream) else error.lineno
            faults.syntax_error(error, line)
        except MemoryError:
            raise InputError(stream.place, TOO_LONG) from None
        except RecursionError:  # triples in RDF/XML
            raise too_deep(stream.place) from None
    faults.warn()


def guarded(stream: Stream, kind: RdfKind | None) -> Stream | XmlStream | JsonStream | TurtleStream:
    """A stream behind the guard that the parser of its format needs."""
    if kind == "rdf" and stream.head:
        return XmlStream(stream)
    if kind in ("ttl", "trig", "nt", "nq"):
        return TurtleStream(stream)
    return JsonStream(stream) if kind == "jsonld" else stream


def _file_name(stream: Stream) -> str:
    return Path(stream.place).name if stream.place != "standard input" else NO_NAME


def _bad_term(statement: ox.Quad | ox.Triple) -> tuple[str, str] | None:
    """What kind of term is malformed in a statement, and its text; None if all are well-formed.

    A literal that does not fit its datatype is well-formed.
    """
    for term in statement:
        kind = type(term)
        if kind is ox.NamedNode:
            if not _is_iri(term.value):
                return "IRI", term.value
        elif kind is ox.Literal:
            if term.language and not LANGUAGE.fullmatch(term.language):
                return "language tag", term.language
            if not _is_iri(term.datatype.value):
                return "IRI", term.datatype.value
        elif kind is ox.Triple and (found := _bad_term(term)):
            return found
    return None


@lru_cache(maxsize=2**16)
def _is_iri(text: str) -> bool:
    try:
        ox.NamedNode(text)
    except ValueError:
        return False
    return True


def _canonical_blocks(
    stream: Stream, kind: RdfKind, reading: Reading, tally: Counter[str] | None
) -> Iterator[bytes]:
    """N-Triples or N-Quads in canonical form, some megabytes at a time.

    A block with an error is parsed line by line, so that a malformed line costs no other line.
    """
    faults = Faults(stream, kind, reading, tally)
    line = 1
    for block in _blocks(stream):
        refuse_deep_lines(block, stream.place)
        try:
            content = _canonical(block, kind)
        except (SyntaxError, MemoryError):
            lines = enumerate(block.split(b"\n"), start=line)
            content = b"".join(_canonical_line(text, faults, number) for number, text in lines)
        if content:
            yield content
        line += block.count(b"\n") + 1
    faults.warn()


def _canonical(content: bytes, kind: RdfKind) -> bytes:
    parser = ox.parse(input=content, format=FORMATS[kind])
    return cast(bytes, ox.serialize(parser, format=ox.RdfFormat.N_QUADS))


def _canonical_line(text: bytes, faults: Faults, number: int) -> bytes:
    """One line in canonical form; nothing if it is malformed."""
    try:
        return _canonical(text, faults.kind)
    except MemoryError:
        raise InputError(faults.stream.place, TOO_LONG, line=number) from None
    except SyntaxError:
        parser = ox.parse(input=text, format=FORMATS[faults.kind], lenient=True)
    try:
        quads = list(parser)
    except SyntaxError as error:
        faults.syntax_error(error, number)
        return b""
    valid = faults.valid(quads, lambda: number)
    return cast(bytes, ox.serialize(valid, format=ox.RdfFormat.N_QUADS))


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
