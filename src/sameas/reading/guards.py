"""Guards in front of the parsers, which JSON, XML or triples that are nested deeply would end.

Expat reads XML first. It gives the line and column of errors, notices when a file is truncated,
and reports entities before they are used. An entity that stands for much text is refused: a few
entities that refer to each other could make a small file fill any memory.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from xml.parsers import expat

import numpy as np
import pyoxigraph as ox

from sameas.errors import InputError
from sameas.files import Stream
from sameas.rdf.rules import RdfKind
from sameas.reading.syntax import UTF16

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
FEED_BYTES = 2**16
LOST = "mend it; if it were skipped, the rest would be lost"
DECLARED = re.compile(r"\A(\s*<\?xml\s[^>]*?encoding\s*=\s*[\"'])([^\"'>]*)")


class JsonStream:
    """The bytes of JSON; too deep nesting is an InputError."""

    def __init__(self, stream: Stream) -> None:
        """Begin outside of everything."""
        self._stream = stream
        self._rest = b""
        """A backslash, the next byte of which is not known yet."""
        self._inside = False
        """Whether a text has begun."""
        self._depth = 0

    def read(self, size: int = -1) -> bytes:
        """The next bytes; none at the end."""
        piece = self._stream.read(size if 0 <= size < PIECE_BYTES else PIECE_BYTES)
        text = self._rest + piece
        if b"\\" in text:
            text = re.sub(rb"\\.", b"", text, flags=re.DOTALL)
        self._rest = text[-1:] if text.endswith(b"\\") else b""
        marks = MARKS[np.frombuffer(text, dtype=np.uint8)]
        marks = marks[marks != 0]
        quotes = marks == QUOTE
        inside = (np.cumsum(quotes) + self._inside) % 2 == 1
        depths = self._depth + np.cumsum(marks * ~(inside | quotes))
        if len(marks):
            self._inside, self._depth = bool(inside[-1]), int(depths[-1])
            if depths.max() > DEEPEST:
                raise too_deep(self._stream.place)
        return piece


class TurtleStream:
    """The bytes of Turtle or a format like it; too many triples in a statement are an InputError.

    Where a statement ends is known by the parser alone: `ended` is to be told.
    """

    def __init__(self, stream: Stream) -> None:
        """Begin before the first statement."""
        self._stream = stream
        self._rest = b""
        """The last bytes, with which a triple may begin."""
        self._begun = 0
        """Triples that have begun since the last statement, or a little before its end."""

    def read(self, size: int = -1) -> bytes:
        """The next bytes; none at the end."""
        piece = self._stream.read(size if 0 <= size < TURTLE_BYTES else TURTLE_BYTES)
        text = self._rest + piece
        self._rest = text[1 - len(TRIPLE) :]
        self._begun += text.count(TRIPLE)
        if self._begun > DEEPEST:
            raise too_deep(self._stream.place)
        return piece

    def ended(self, statement: ox.Quad) -> ox.Quad:
        """The statement, which the parser has found; the next one begins."""
        self._begun = 0
        return statement


def guarded(stream: Stream, kind: RdfKind) -> Stream | XmlStream | JsonStream | TurtleStream:
    """A stream behind the guard that the parser of its format needs."""
    if kind == "rdf":
        return XmlStream(stream) if stream.head else stream
    return JsonStream(stream) if kind == "jsonld" else TurtleStream(stream)


def refuse_deep_lines(block: bytes, place: str) -> None:
    """Raise an InputError if a line of N-Triples or N-Quads is nested too deeply."""
    if block.count(TRIPLE) > DEEPEST:
        for line in block.split(b"\n"):
            if line.count(TRIPLE) > DEEPEST:
                raise too_deep(place)


class XmlStream:
    """XML as UTF-8, at most a line at a time; malformed XML is an InputError."""

    def __init__(self, stream: Stream) -> None:
        """Refuse an unknown encoding."""
        self._stream = stream
        self.encoding = _encoding(stream)
        self.line = 0
        """The line that was handed out last, whole or in part."""
        self._is_whole = True
        self._depth = 0
        self._lengths: dict[str, int] = {}
        """What the entities stand for, in characters."""
        self._parser = expat.ParserCreate("utf-8", namespace_separator=" ")
        self._parser.EntityDeclHandler = self._entity
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._lines = self._parsed_lines()
        self._ready = b""

    def read(self, size: int = -1) -> bytes:
        """The next bytes, up to the end of a line; none at the end."""
        self._ready = self._ready or next(self._lines, b"")
        size = len(self._ready) if size < 0 else size
        found, self._ready = self._ready[:size], self._ready[size:]
        return found

    def _parsed_lines(self) -> Iterator[bytes]:
        """The lines, or the parts of long ones, once expat has read them."""
        pieces = iter(lambda: self._stream.read(FEED_BYTES), b"")
        try:
            for text in codecs.iterdecode(pieces, self.encoding):
                text = text if self.line else DECLARED.sub(r"\1utf-8", text)
                for line in text.encode().splitlines(keepends=True):
                    self.line += self._is_whole
                    self._is_whole = line.endswith((b"\n", b"\r"))
                    self._feed(line)
                    yield line
        except UnicodeError as error:
            raise self._undecodable(error) from None
        self._feed(b"")

    def _undecodable(self, error: UnicodeError) -> InputError:
        line = self.line + self._is_whole
        if isinstance(error, UnicodeDecodeError):
            before = error.object[: error.start].decode(self.encoding, errors="replace")
            line += before.count("\n")
        what = self.encoding.upper()
        remedy = "convert the file to UTF-8, or declare the encoding that it has"
        return InputError(self._stream.place, f"not {what} text; {remedy}", line=line)

    def _feed(self, line: bytes) -> None:
        try:
            self._parser.Parse(line, not line)
        except expat.ExpatError as error:
            reason = expat.errors.messages.get(error.code, "malformed")
            raise InputError(
                self._stream.place,
                f"not well-formed XML ({reason}); {LOST if line else 'is the file whole?'}",
                line=error.lineno,
                column=error.offset + 1,
            ) from None

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > DEEPEST_XML:
            raise too_deep(self._stream.place, DEEPEST_XML)

    def _end(self, name: str) -> None:
        self._depth -= 1

    def _entity(self, name: str, parameter: bool, value: str | None, *_: object) -> None:
        """Refuse an entity that stands for much text, or for another file."""
        if value is None:
            raise InputError(
                self._stream.place,
                f'the entity "{name[:80]}" is another file, which is not read; leave it out',
                line=self.line,
            )
        references = re.findall(r"&([^;&\s]+);", value)
        length = len(value) + sum(self._lengths.get(other, 0) for other in references)
        if length > LONGEST_ENTITY:
            raise InputError(
                self._stream.place,
                f'the entity "{name[:80]}" stands for {length:,} characters or more, at most '
                f"{LONGEST_ENTITY:,} are allowed; write them out where they belong",
                line=self.line,
            )
        self._lengths.setdefault(name, length)


def _encoding(stream: Stream) -> str:
    """The codec of XML by its first bytes: a mark, else the declaration, else UTF-8."""
    for mark, codec in UTF16.items():
        if stream.head.startswith(mark):
            return codec
    declared = DECLARED.match(stream.head.decode("latin-1"))
    name = declared[2] if declared else "utf-8"
    try:
        found = codecs.lookup(name)
        "a".encode(name)  # refuses codecs that are not of text
    except (LookupError, ValueError):
        raise InputError(
            stream.place,
            f'is encoded in "{name[:40]}", which is not known; convert the file to UTF-8',
            line=1,
        ) from None
    # A declaration that can be read in ASCII is not in UTF-16. UTF-8 includes ASCII.
    return "utf-8" if found.name.startswith(("utf-16", "utf-32", "ascii")) else found.name


def too_deep(place: str, deepest: int = DEEPEST) -> InputError:
    """The error about a file that is nested too deeply."""
    return InputError(
        place, f"is nested more than {deepest} levels deep, which is not read; flatten it"
    )
