"""Bytes of a file or of standard input, decompressed on the way, with a ceiling on how many.

Whatever goes wrong while bytes are fetched (a cut-off archive, one that expands without end, a
file that changes meanwhile) is an InputError that says so.
"""

from __future__ import annotations

import bz2
import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

import zstandard

from sameas.errors import InputError
from sameas.reading.tables import first_line, require_file

STANDARD_INPUT = "-"
MAGIC = {
    ".gz": (b"\x1f\x8b", "gzip"),
    ".bz2": (b"BZh", "bzip2"),
    ".zst": (b"\x28\xb5\x2f\xfd", "Zstandard"),
}
"""The suffix of each compression, the bytes it begins with and its name."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
HEAD_BYTES = 1024
CHANGED = "changed while it was read; wait until it is whole, try again"


@dataclass
class Stream:
    """Bytes to read, of which the first are known and all are counted."""

    place: str
    """What error messages call it: a path, or "standard input"."""
    source: IO[bytes]
    max_bytes: int | None = None
    size: int | None = None
    """How many bytes there were when it was opened, where that is known."""
    head: bytes = b""
    """The first bytes, for a guess at what is in there."""
    count: int = 0
    _waiting: bytes = field(default=b"", repr=False)

    def __post_init__(self) -> None:
        """Look at the beginning, and pass over a byte order mark."""
        parts: list[bytes] = []
        while sum(map(len, parts)) < HEAD_BYTES and (part := self._fetch(HEAD_BYTES)):
            parts.append(part)
        content = b"".join(parts)
        self._waiting = content.removeprefix(BYTE_ORDER_MARK)
        self.head = self._waiting[:HEAD_BYTES]

    def read(self, size: int = -1) -> bytes:
        """Up to so many bytes; none at the end."""
        if self._waiting:
            cut = len(self._waiting) if size < 0 else size
            found, self._waiting = self._waiting[:cut], self._waiting[cut:]
            return found
        return self._fetch(size)

    def _fetch(self, size: int) -> bytes:
        try:
            found = self.source.read(size)
        except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
            raise InputError(
                self.place, f"cannot be read ({first_line(error)}); is the file whole?"
            ) from None
        self.count += len(found)
        if self.size is not None and self.count > self.size:
            raise InputError(self.place, CHANGED)
        if self.max_bytes is not None and self.count > self.max_bytes:
            raise InputError(
                self.place,
                f"holds more than {self.max_bytes:,} bytes once it is unpacked; "
                "if that is as it should be, raise the ceiling with --max-bytes",
            )
        return found


@contextmanager
def open_stream(path: str | os.PathLike[str], *, max_bytes: int) -> Iterator[Stream]:
    """The bytes of a file, decompressed as its suffix says, or of standard input for "-".

    The ceiling is for what expands or may have no end: compressed files and standard input.
    """
    if str(path) == STANDARD_INPUT:
        yield _flowing("standard input", cast(IO[bytes], sys.stdin.buffer), max_bytes)
        return
    path = Path(path)
    require_file(path)
    try:
        with path.open("rb") as file:
            before = os.fstat(file.fileno())
            if not stat.S_ISREG(before.st_mode):  # a pipe
                yield _flowing(str(path), file, max_bytes)
                return
            compression = path.suffix.lower() if path.suffix.lower() in MAGIC else ""
            _refuse_other_compression(path, file, compression)
            ceiling = max_bytes if compression else None
            size = None if compression else before.st_size
            yield Stream(str(path), _decompressed(file, compression), ceiling, size)
            _refuse_changed(path, before)
    except OSError as error:
        reason = error.strerror or first_line(error)
        raise InputError(path, f"cannot be read ({reason})") from None


def _flowing(place: str, source: IO[bytes], max_bytes: int) -> Stream:
    """What can be read but once, decompressed if it begins like something compressed."""
    begin = Stream(place, source, max_bytes)
    for suffix, (magic, _) in MAGIC.items():
        if begin.head.startswith(magic):
            return Stream(place, _decompressed(cast(IO[bytes], begin), suffix), max_bytes)
    return begin


def _decompressed(file: IO[bytes], compression: str) -> IO[bytes]:
    if compression == ".gz":
        return cast(IO[bytes], gzip.GzipFile(fileobj=file))
    if compression == ".bz2":
        return cast(IO[bytes], bz2.BZ2File(file))
    if compression == ".zst":
        return _WholeFrames(file)  # type: ignore[return-value]
    return file


class _WholeFrames:
    """A Zstandard reader that minds when the last frame is cut off, as zstandard's does not."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._decompressor: Any = None
        self._packed = b""
        self._unpacked = io.BytesIO()

    def read(self, size: int = -1) -> bytes:
        """Up to so many bytes; none at the end."""
        found = self._unpacked.read(size)
        while not found and self._more():
            found = self._unpacked.read(size)
        return found

    def _more(self) -> bool:
        """Unpack a little more; False at the end."""
        if not self._packed:
            self._packed = self._file.read(2**11)  # little: it may unpack to much
            if not self._packed:
                if self._decompressor is not None:
                    raise EOFError("the last frame is cut off")
                return False
        if self._decompressor is None:
            self._decompressor = zstandard.ZstdDecompressor().decompressobj()
        self._unpacked = io.BytesIO(self._decompressor.decompress(self._packed))
        self._packed = b""
        if self._decompressor.eof:
            self._packed = self._decompressor.unused_data
            self._decompressor = None
        return True


def _refuse_other_compression(path: Path, file: IO[bytes], compression: str) -> None:
    """Raise an InputError if the first bytes are those of a compression the suffix does not say."""
    begin = file.read(4)
    file.seek(0)
    for suffix, (magic, name) in MAGIC.items():
        if begin.startswith(magic) and suffix != compression:
            raise InputError(path, f"is compressed with {name}; let its name end in {suffix}")
    if compression and begin and not begin.startswith(MAGIC[compression][0]):
        name = MAGIC[compression][1]
        raise InputError(path, f"is not compressed with {name}; leave {compression} off its name")


def _refuse_changed(path: Path, before: os.stat_result) -> None:
    """Raise an InputError if a file is not what it was when it was opened."""
    after = path.stat()
    for what in ("st_size", "st_mtime_ns", "st_ino"):
        if getattr(before, what) != getattr(after, what):
            raise InputError(path, CHANGED)
