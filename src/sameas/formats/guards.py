"""Guards in front of the parsers, which JSON, XML or triples that are nested deeply would end.

Expat reads XML first. It gives the line and column of errors, notices when a file is truncated,
and reports entities before they are used. An entity that stands for much text is refused: a few
entities that refer to each other could make a small file fill any memory.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Any, Literal
from xml.parsers import expat

import numpy as np
import pyoxigraph as ox

from sameas.errors import InputError
from sameas.formats.files import Stream
from sameas.formats.rdf_syntax import UTF16
from sameas.formats.schema_org import with_context
from sameas.graph.rdf.reading import RdfKind

DEEPEST = 256
"""Objects and lists inside each other; the parser's memory grows with the square of this."""
PIECE_BYTES = 2**18
TRIPLE = b"<<("
"""How a triple in the place of an object begins; no other nesting is kept by the parser."""
TURTLE_BYTES = 2**11
"""Bytes of Turtle read at a time: too few for many triples between two statements."""
QUOTE = 2
MARKS = np.zeros(256, dtype=np.int8)
"""What a byte outside of texts does to the depth; QUOTE begins and ends a text."""
for _byte, _mark in zip(b'[{]}"', (1, 1, -1, -1, QUOTE), strict=True):
    MARKS[_byte] = _mark
LONGEST_ENTITY = 4096
"""Characters that an entity may stand for; entities are for shortening IRIs."""
DEEPEST_XML = 4096
"""Elements inside each other, of which a list may need many; the parser's time grows with the
square of this, and 20,000 triples inside each other end the process."""
MOST_ATTRIBUTES = 1024
"""Attributes of an element; the parser's time grows with the square of this."""
MOST_NAMESPACES = 4096
"""Namespaces that are declared at once: every name is compared with each of them."""
FEED_BYTES = 2**16
LOST = "mend it; if it were skipped, the rest would be lost"
DECLARED = re.compile(r"\A(\s*<\?xml\s[^>]*?encoding\s*=\s*[\"'])([^\"'>]*)")


class Guarded:
    """A stream as a file for the parser of its format; what would end that is an InputError."""

    def __init__(self, stream: Stream, kind: RdfKind | Literal["graphml", "json"]) -> None:
        """Begin before the first byte."""
        self.place = stream.place
        self.line: int | None = None
        """Of XML: the line that was handed out last, whole or in part."""
        self._begun = 0
        """Of Turtle: triples that have begun since the last statement, or a little before."""
        if kind == "jsonld":
            self._pieces = with_context(self._json(stream))
        else:
            guards = {"rdf": self._xml, "graphml": self._xml, "json": self._json}
            self._pieces = guards.get(kind, self._turtle)(stream)
        self._ready = b""

    def read(self, size: int = -1) -> bytes:
        """The next bytes, of XML up to the end of a line; none at the end."""
        self._ready = self._ready or next(self._pieces, b"")
        size = len(self._ready) if size < 0 else size
        found, self._ready = self._ready[:size], self._ready[size:]
        return found

    def ended(self, statement: ox.Quad) -> ox.Quad:
        """The statement, which the parser of Turtle has found: it alone knows where one ends."""
        self._begun = 0
        return statement

    def _turtle(self, stream: Stream) -> Iterator[bytes]:
        """Turtle or a format like it, in which a statement has not too many triples."""
        rest = b""  # with which a triple may begin
        while piece := stream.read(TURTLE_BYTES):
            text = rest + piece
            rest = text[1 - len(TRIPLE) :]
            self._begun += text.count(TRIPLE)
            if self._begun > DEEPEST:
                raise too_deep(self.place)
            yield piece

    def _json(self, stream: Stream) -> Iterator[bytes]:
        rest = b""  # a backslash, the next byte of which is not known yet
        is_text, depth = False, 0
        while piece := stream.read(PIECE_BYTES):
            text = re.sub(rb"\\.", b"", rest + piece, flags=re.DOTALL)
            rest = text[-1:] if text.endswith(b"\\") else b""
            marks = MARKS[np.frombuffer(text, dtype=np.uint8)]
            marks = marks[marks != 0]
            quotes = marks == QUOTE
            inside = (np.cumsum(quotes) + is_text) % 2 == 1
            depths = depth + np.cumsum(marks * ~(inside | quotes))
            if len(marks):
                is_text, depth = bool(inside[-1]), int(depths[-1])
                if depths.max() > DEEPEST:
                    raise too_deep(self.place)
            yield piece

    def _xml(self, stream: Stream) -> Iterator[bytes]:
        """The lines of XML as UTF-8, or the parts of long ones, once expat has read them."""
        if not stream.head:
            return
        encoding, parser = _encoding(stream), self._expat()
        self.line, is_whole = 0, True
        try:
            pieces = iter(lambda: stream.read(FEED_BYTES), b"")
            for text in codecs.iterdecode(pieces, encoding):
                text = text if self.line else DECLARED.sub(r"\1utf-8", text)
                for line in text.encode().splitlines(keepends=True):
                    self.line += is_whole
                    is_whole = line.endswith((b"\n", b"\r"))
                    self._feed(parser, line)
                    yield line
        except UnicodeError as error:
            number = self.line + is_whole
            if isinstance(error, UnicodeDecodeError):
                before = error.object[: error.start].decode(encoding, errors="replace")
                number += before.count("\n")
            remedy = "convert the file to UTF-8, or declare the encoding that it has"
            problem = f"not {encoding.upper()} text; {remedy}"
            raise InputError(self.place, problem, line=number) from None
        self._feed(parser, b"")

    def _expat(self) -> Any:
        """A parser that refuses deep nesting, many attributes, and entities of much text."""
        depth = namespaces = 0
        lengths: dict[str, int] = {}  # of what entities stand for, in characters

        def start(name: str, attributes: dict[str, str]) -> None:
            nonlocal depth
            depth += 1
            if depth > DEEPEST_XML:
                raise too_deep(self.place, DEEPEST_XML)
            if len(attributes) > MOST_ATTRIBUTES:
                raise self._too_many("attributes on one element", MOST_ATTRIBUTES)

        def end(name: str) -> None:
            nonlocal depth
            depth -= 1

        def start_namespace(prefix: str | None, iri: str) -> None:
            nonlocal namespaces
            namespaces += 1
            if namespaces > MOST_NAMESPACES:
                raise self._too_many("namespaces at once", MOST_NAMESPACES)

        def end_namespace(prefix: str | None) -> None:
            nonlocal namespaces
            namespaces -= 1

        def entity(name: str, parameter: bool, value: str | None, *_: object) -> None:
            references = re.findall(r"&([^;&\s]+);", value or "")
            length = len(value or "") + sum(lengths.get(other, 0) for other in references)
            problem = ""
            if value is None:
                problem = "is another file, which is not read; leave it out"
            elif length > LONGEST_ENTITY:
                problem = (
                    f"stands for {length:,} characters or more, at most {LONGEST_ENTITY:,} are "
                    "allowed; write them out where they belong"
                )
            if problem:
                raise InputError(self.place, f'the entity "{name[:80]}" {problem}', line=self.line)
            lengths.setdefault(name, length)

        parser = expat.ParserCreate("utf-8", namespace_separator=" ")
        parser.StartElementHandler, parser.EndElementHandler = start, end
        parser.StartNamespaceDeclHandler = start_namespace
        parser.EndNamespaceDeclHandler = end_namespace
        parser.EntityDeclHandler = entity
        return parser

    def _too_many(self, what: str, most: int) -> InputError:
        problem = f"has more than {most:,} {what}, which is not read; write it in another format"
        return InputError(self.place, problem, line=self.line)

    def _feed(self, parser: Any, line: bytes) -> None:
        try:
            parser.Parse(line, not line)
        except expat.ExpatError as error:
            reason = expat.errors.messages.get(error.code, "malformed")
            problem = f"not well-formed XML ({reason}); {LOST if line else 'is the file whole?'}"
            line_number, column = error.lineno, error.offset + 1
            raise InputError(self.place, problem, line=line_number, column=column) from None


def refuse_deep_lines(block: bytes, place: str) -> None:
    """Raise an InputError if a line of N-Triples or N-Quads is nested too deeply."""
    if block.count(TRIPLE) > DEEPEST:
        for line in block.split(b"\n"):
            if line.count(TRIPLE) > DEEPEST:
                raise too_deep(place)


def _encoding(stream: Stream) -> str:
    """The codec of XML by its first bytes: a mark, else the declaration, else UTF-8."""
    for mark, codec in UTF16.items():
        if stream.head.startswith(mark):
            return codec
    declared = DECLARED.match(stream.head.decode("latin-1"))
    name = declared[2] if declared else "utf-8"
    try:
        known = codecs.lookup(name)
        "a".encode(name)  # refuses codecs that are not of text
    except (LookupError, ValueError):
        problem = f'is encoded in "{name[:40]}", which is not known; convert the file to UTF-8'
        raise InputError(stream.place, problem, line=1) from None
    # A declaration that can be read in ASCII is not in UTF-16. UTF-8 includes ASCII.
    return "utf-8" if known.name.startswith(("utf-16", "utf-32", "ascii")) else known.name


def too_deep(place: str, deepest: int = DEEPEST) -> InputError:
    """The error about a file that is nested too deeply."""
    return InputError(
        place, f"is nested more than {deepest} levels deep, which is not read; flatten it"
    )
