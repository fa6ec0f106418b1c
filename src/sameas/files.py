"""Files opened for reading: decompressed, with a limit on size, and refused when damaged.

Every reader opens its files here. Any failure while bytes are fetched (a truncated archive, one
that expands without end, a file that changes meanwhile) is an InputError that says so.
"""

from __future__ import annotations

import bz2
import io
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import zstandard

from sameas.errors import InputError, first_line

StrPath = str | os.PathLike[str]
Progress = Callable[[float], None]

STANDARD_INPUT = "-"
MAX_BYTES = 64 * 2**30
"""How much one compressed file may hold by default."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
HEAD_BYTES = 4096
PACKED_BYTES = 2**12
"""Packed bytes that are unpacked at a time: few, because they may unpack to many."""
CHANGED = "changed while it was read; wait until it is whole, try again"


@dataclass(frozen=True)
class Compression:
    """A compressed format: its name, how files in it begin, and what unpacks one frame."""

    name: str
    magic: re.Pattern[bytes]
    decompressor: Callable[[], Any]


COMPRESSIONS = {
    ".gz": Compression("gzip", re.compile(rb"\x1f\x8b"), lambda: zlib.decompressobj(31)),
    ".bz2": Compression(
        "bzip2", re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"), bz2.BZ2Decompressor
    ),
    ".zst": Compression(
        "Zstandard",
        re.compile(rb"\(\xb5/\xfd"),
        lambda: zstandard.ZstdDecompressor().decompressobj(),
    ),
}


def kind_of(path: StrPath) -> str:
    """The format that a path's suffix names, compression aside: ".tsv", ".csv", ... or "".

    >>> kind_of("triples.CSV.gz")
    '.csv'
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    if suffixes[-2:] == [".sssom", ".tsv"]:
        return ".sssom.tsv"
    return suffixes[-1] if suffixes else ""


def require_file(path: Path) -> None:
    """Raise an InputError unless the path is a file that exists."""
    if path.is_dir():
        raise InputError(path, "is a folder where a file is expected")
    if not path.exists():
        raise InputError(path, "no such file; check the path")


@dataclass(frozen=True)
class Stream:
    """An open file: its unpacked bytes, and what error messages call it."""

    place: str
    """A path, or "standard input"."""
    file: IO[bytes]
    head: bytes
    """The first bytes, to guess the format from."""
    compression: Compression | None

    def read(self, size: int = -1) -> bytes:
        """Up to so many bytes; none at the end."""
        return self.file.read(size)


@contextmanager
def open_stream(
    path: StrPath, *, max_bytes: int = MAX_BYTES, progress: Progress | None = None
) -> Iterator[Stream]:
    """The bytes of a file, or of standard input for "-", unpacked, without a byte order mark.

    The compression is known by the first bytes, whatever the suffix is. ``max_bytes`` limits
    what may expand or have no end: compressed files, pipes and standard input. ``progress`` is
    called with the share of the file that has been read.
    """
    if str(path) == STANDARD_INPUT:
        if sys.stdin is None:
            raise InputError("standard input", "is closed; send the graph there, or give a file")
        yield _opened(_Source("standard input", sys.stdin.buffer, max_bytes))
        return
    path = Path(path)
    require_file(path)
    try:
        with path.open("rb") as file:
            before = os.fstat(file.fileno())
            size = before.st_size if stat.S_ISREG(before.st_mode) else None  # None for a pipe
            stream = _opened(_Source(str(path), file, max_bytes, size, progress))
            _refuse_wrong_suffix(path, stream)
            yield stream
            if size is not None and _changed(before, path.stat()):
                raise InputError(path, CHANGED)
    except OSError as error:
        reason = error.strerror or first_line(error)
        raise InputError(path, f"cannot be read ({reason})") from None


def read_bytes(path: StrPath, *, max_bytes: int = MAX_BYTES) -> bytes:
    """The whole content of a file, decompressed."""
    with open_stream(path, max_bytes=max_bytes) as stream:
        return stream.read()


def read_text(path: StrPath, *, max_bytes: int = MAX_BYTES) -> str:
    """The text of a UTF-8 file, decompressed, without a byte order mark."""
    return decoded(read_bytes(path, max_bytes=max_bytes), path)


def decoded(content: bytes, place: StrPath) -> str:
    """The text of UTF-8 bytes; others are an InputError that says in which line."""
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError(place, "not UTF-8 text; convert the file to UTF-8", line=line) from None


def is_plain(path: Path) -> bool:
    """Whether a path is a regular file that is not compressed."""
    if not path.is_file():
        return False
    with open_stream(path) as stream:
        return stream.compression is None


def _opened(source: _Source) -> Stream:
    file = io.BufferedReader(source, 2**16)
    if file.peek(1).startswith(BYTE_ORDER_MARK):
        file.read(len(BYTE_ORDER_MARK))
    return Stream(source.place, file, file.peek(1)[:HEAD_BYTES], source.compression)


class _Source(io.RawIOBase):
    """The unpacked bytes of a file that may be compressed, counted as they are read."""

    def __init__(
        self,
        place: str,
        file: IO[bytes],
        max_bytes: int,
        size: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.place = place
        self._file = file
        self._max_bytes = max_bytes
        self._size = size
        self._progress = progress
        self._fetched, self._unpacked = 0, 0
        self._ready = memoryview(b"")
        """Unpacked bytes that were not handed out yet."""
        self._frame: Any = None
        """The decompressor of the frame that has been begun."""
        self._packed = b""
        while len(self._packed) < HEAD_BYTES and (piece := self._fetch(HEAD_BYTES)):
            self._packed += piece
        self.compression = next(
            (one for one in COMPRESSIONS.values() if one.magic.match(self._packed)), None
        )

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready and (self._packed or self._refill(len(buffer))):
            self._ready = memoryview(self._unpack())
            self._count()
        found = self._ready[: len(buffer)]
        self._ready = self._ready[len(buffer) :]
        buffer[: len(found)] = found
        return len(found)

    def _refill(self, size: int) -> bool:
        """Fetch more packed bytes; False at the end."""
        self._packed = self._fetch(PACKED_BYTES if self.compression else size)
        if not self._packed and self._frame is not None:
            raise _damaged(self.place, "it is cut off")
        return bool(self._packed)

    def _fetch(self, size: int) -> bytes:
        try:
            found = self._file.read(size)
        except OSError as error:
            raise _damaged(self.place, first_line(error)) from None
        self._fetched += len(found)
        if self._size is not None:
            if self._fetched > self._size:
                raise InputError(self.place, CHANGED)
            if self._progress:
                self._progress(self._fetched / max(self._size, 1))
        return found

    def _unpack(self) -> bytes:
        packed, self._packed = self._packed, b""
        if self.compression is None:
            return packed
        if self._frame is None:
            packed = packed.lstrip(b"\0")  # archives may be padded between frames
            if not packed:
                return b""
            self._frame = self.compression.decompressor()
        try:
            found: bytes = self._frame.decompress(packed)
        except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
            raise _damaged(self.place, first_line(error)) from None
        if self._frame.eof:
            self._packed = self._frame.unused_data
            self._frame = None
        return found

    def _count(self) -> None:
        self._unpacked += len(self._ready)
        limited = self.compression is not None or self._size is None
        if limited and self._unpacked > self._max_bytes:
            raise too_large(self.place, self._max_bytes)


def too_large(place: str, max_bytes: int) -> InputError:
    """The error about a source that holds more than it may."""
    return InputError(
        place,
        f"holds more than {max_bytes:,} bytes once it is unpacked; "
        "if that is as it should be, raise the ceiling with `max_bytes`",
    )


def _damaged(place: str, reason: str) -> InputError:
    return InputError(place, f"cannot be read ({reason}); is the file whole?")


def _refuse_wrong_suffix(path: Path, stream: Stream) -> None:
    expected = COMPRESSIONS.get(path.suffix.lower())
    if expected is None or stream.compression is expected:
        return
    if not stream.head:
        raise _damaged(stream.place, "it is empty")
    if stream.compression is None:
        suffix = path.suffix.lower()
        raise InputError(
            path, f"is not compressed with {expected.name}; leave {suffix} off its name"
        )
    suffix = next(name for name, one in COMPRESSIONS.items() if one is stream.compression)
    raise InputError(
        path, f"is compressed with {stream.compression.name}; let its name end in {suffix}"
    )


def _changed(before: os.stat_result, after: os.stat_result) -> bool:
    return any(
        getattr(before, what) != getattr(after, what)
        for what in ("st_size", "st_mtime_ns", "st_ino")
    )
