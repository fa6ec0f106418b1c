"""RDF/XML on its way to the parser, looked through for what the parser does not mind.

Expat reads along: it knows line and column, minds when a file is cut off, and tells about
entities before they are used. An entity that stands for much text is refused, for by a few
of them that refer to each other a small file could fill any memory.
"""

from __future__ import annotations

import re
from xml.parsers import expat

from sameas.errors import InputError
from sameas.reading.streams import Stream

LONGEST_ENTITY = 4096
"""Characters that an entity may stand for; it is there to shorten IRIs."""
FEED_BYTES = 2**16


class XmlStream:
    """The bytes of a stream, no more than a line at a time, and never one that is not XML."""

    def __init__(self, stream: Stream) -> None:
        """Refuse what cannot be UTF-8 at once."""
        self._stream = stream
        self._lines: list[bytes] = []
        self._lengths: dict[str, int] = {}
        self._ended = False
        self._line_done = True
        self.line = 0
        """The line that was handed out last, or begun to be."""
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.EntityDeclHandler = self._entity
        self._parser.XmlDeclHandler = self._declaration

    def read(self, size: int = -1) -> bytes:
        """The next bytes, up to the end of a line; none at the end."""
        if not self._lines:
            self._lines = self._stream.read(FEED_BYTES).splitlines(keepends=True)[::-1]
        line = self._lines.pop() if self._lines else b""
        if 0 <= size < len(line):
            self._lines.append(line[size:])
            line = line[:size]
        self.line += self._line_done and line != b""
        self._line_done = line.endswith((b"\n", b"\r"))
        if not self._ended:
            self._ended = not line
            self._feed(line)
        return line

    def _feed(self, line: bytes) -> None:
        try:
            self._parser.Parse(line, not line)
        except expat.ExpatError as error:
            reason = expat.errors.messages.get(error.code, "malformed")
            whole = "is the file whole?" if not line else "mend it"
            raise InputError(
                self._stream.place,
                f"not well-formed XML ({reason}); {whole}",
                line=error.lineno,
                column=error.offset + 1,
            ) from None

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

    def _declaration(self, version: str, encoding: str | None, standalone: int) -> None:
        """Encoded anew already."""
