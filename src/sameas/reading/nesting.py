"""Guards in front of the parsers, which end the process where JSON or triples are nested deeply."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np
import pyoxigraph as ox

from sameas.errors import InputError
from sameas.files import Stream

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

    Where a statement ends is known by the parser alone, which is to be read by `statements`.
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

    def statements(self, parser: Iterable[ox.Quad]) -> Iterator[ox.Quad]:
        """The statements that a parser finds in this stream."""
        for quad in parser:
            self._begun = 0
            yield quad


def refuse_deep_lines(block: bytes, place: str) -> None:
    """Raise an InputError if a line of N-Triples or N-Quads is nested too deeply."""
    if block.count(TRIPLE) > DEEPEST:
        for line in block.split(b"\n"):
            if line.count(TRIPLE) > DEEPEST:
                raise too_deep(place)


def too_deep(place: str, deepest: int = DEEPEST) -> InputError:
    """The error about a file that is nested too deeply."""
    return InputError(
        place, f"is nested more than {deepest} levels deep, which is not read; flatten it"
    )
