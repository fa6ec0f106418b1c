"""A guard in front of the JSON-LD parser, which ends the process where JSON is nested deeply."""

from __future__ import annotations

import re

import numpy as np

from sameas.errors import InputError
from sameas.files import Stream

DEEPEST = 256
"""Objects and lists inside each other; the parser's memory grows with the square of this."""
PIECE_BYTES = 2**18
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


def too_deep(place: str) -> InputError:
    """The error about JSON that is nested too deeply."""
    return InputError(
        place, f"is nested more than {DEEPEST} levels deep, which is not read; flatten it"
    )
