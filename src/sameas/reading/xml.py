"""A guard in front of the RDF/XML parser.

Expat reads the same text first. It gives the line and column of errors, notices when a file is
truncated, and reports entities before they are used. An entity that stands for much text is
refused: a few entities that refer to each other could make a small file fill any memory. So are
elements that are nested very deeply.
"""

from __future__ import annotations

import codecs
import re
from xml.parsers import expat

from sameas.errors import InputError
from sameas.files import Stream
from sameas.reading.nesting import too_deep
from sameas.reading.syntax import UTF16

LONGEST_ENTITY = 4096
"""Characters that an entity may stand for; entities are for shortening IRIs."""
DEEPEST = 4096
"""Elements inside each other, of which a list may need many; the parser's time grows with the
square of this, and 20,000 triples inside each other end the process."""
FEED_BYTES = 2**16
LOST = "mend it; if it were skipped, the rest would be lost"
DECLARED = re.compile(r"\A(\s*<\?xml\s[^>]*?encoding\s*=\s*[\"'])([^\"'>]*)")


class XmlStream:
    """XML as UTF-8, at most a line at a time; malformed XML is an InputError."""

    def __init__(self, stream: Stream) -> None:
        """Refuse an unknown encoding."""
        self._stream = stream
        self.encoding = _encoding(stream)
        self._decoder = codecs.getincrementaldecoder(self.encoding)()
        self._begun = False
        self._lines: list[bytes] = []
        self._ready = b""
        self._lengths: dict[str, int] = {}
        self._ended = False
        self._line_done = True
        self.line = 0
        """The line that was handed out last, whole or in part."""
        self._parser = expat.ParserCreate("utf-8", namespace_separator=" ")
        self._parser.EntityDeclHandler = self._entity
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._depth = 0

    def read(self, size: int = -1) -> bytes:
        """The next bytes, up to the end of a line; none at the end."""
        while not self._ready and not self._ended:
            self._ready = self._next_line()
        size = len(self._ready) if size < 0 else size
        found, self._ready = self._ready[:size], self._ready[size:]
        return found

    def _next_line(self) -> bytes:
        """The next line, once expat has read it."""
        if not self._lines:
            self._lines = self._decoded().encode().splitlines(keepends=True)[::-1]
        line = self._lines.pop() if self._lines else b""
        self.line += self._line_done and line != b""
        self._line_done = line.endswith((b"\n", b"\r"))
        self._ended = not line
        self._feed(line)
        return line

    def _decoded(self) -> str:
        """The next piece of text, with UTF-8 in place of the declared encoding."""
        text, raw = "", b"begin"
        while raw and not text:
            raw = self._stream.read(FEED_BYTES)
            try:
                text = self._decoder.decode(raw, not raw)
            except UnicodeError as error:
                raise self._undecodable(error) from None
        if not self._begun:
            self._begun = True
            text = DECLARED.sub(r"\1utf-8", text)
        return text

    def _undecodable(self, error: UnicodeError) -> InputError:
        line = self.line + self._line_done
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
        if self._depth > DEEPEST:
            raise too_deep(self._stream.place, DEEPEST)

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
