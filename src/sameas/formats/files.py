"""Files opened for reading: decompressed, with a limit on size, and refused when damaged.

Every reader opens its files here, and no library opens a path by itself. Any failure while bytes
are fetched (a truncated archive, one that expands without end, a file that changes meanwhile, a
pipe that nobody writes to) is an InputError that says so.
"""

from __future__ import annotations

import bz2
import glob
import io
import os
import re
import select
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import zstandard

from sameas.errors import InputError, first_line, reading_from

if TYPE_CHECKING:
    from sameas.compute.arrays import Progress

StrPath = str | os.PathLike[str]
Fetch = Callable[[int], bytes]
"""Gives up to so many bytes; none at the end."""

STANDARD_INPUT = "-"
ADDRESS = re.compile(r"(?!sparql\+)([a-z][a-z0-9+.-]+):/{1,2}(.+)")
"""Files elsewhere, as fsspec takes them; a Path has lost one of the slashes."""
MAX_BYTES = 64 * 2**30
"""How much may be read where nothing of it is kept, unless the caller says otherwise."""
MEMORY_SHARE = 4
"""What may have no end holds at most this part of the memory, unless the caller says more."""
PIECE_BYTES = 2**20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
HEAD_BYTES = 4096
PACKED_BYTES = 2**12
"""Packed bytes that are unpacked at a time: few, because they may unpack to many."""
CHANGED = "changed while it was read; wait until it is whole, try again"
WRITER_SECONDS, SILENT_SECONDS = 10, 600
"""How long to wait for a pipe that nobody writes to, and for one whose writer writes nothing."""

_limits: ContextVar[tuple[int | None, int | None]] = ContextVar("limits", default=(None, None))
"""How many bytes a file may hold, and the memory ceiling, where the caller says so."""


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
        re.compile(rb"\(\xb5/\xfd|[\x50-\x5f]\*M\x18"),  # also a frame to be skipped, as of pzstd
        lambda: zstandard.ZstdDecompressor().decompressobj(),
    ),
}
STILL_PACKED = {
    **{one.name: one.magic for one in COMPRESSIONS.values()},
    "zlib": re.compile(rb"x[\x01\x9c\xda]"),
    "xz": re.compile(rb"\xfd7zXZ\0"),
}
"""How unpacked bytes may not begin: polars would unpack some of these past any limit."""


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


def endpoint_of(place: StrPath) -> str | None:
    """The address in a place such as ``sparql+http://host/path``; None if it is no endpoint.

    >>> endpoint_of("sparql+https://example.org/sparql")
    'https://example.org/sparql'
    """
    match = re.fullmatch(r"sparql\+(https?://\S+)", str(place), re.IGNORECASE)
    return match[1] if match else None


def address_of(path: StrPath) -> str | None:
    """The address of a file elsewhere, such as s3://bucket/name; None for a path.

    >>> address_of(Path("s3://bucket/graph.nt")), address_of("graph.nt")
    ('s3://bucket/graph.nt', None)
    """
    match = ADDRESS.fullmatch(str(path))
    if not match:
        return None
    root = "/" if match[1] == "file" else ""
    return f"{match[1]}://{root}{match[2].removeprefix(root)}"


def elsewhere(address: str) -> tuple[Any, str]:
    """The file system of an address (of fsspec), and the path in it."""
    try:
        import fsspec
    except ImportError:
        problem = "needs a package that is not installed; pip install 'sameas[dask]'"
        raise InputError(address, problem) from None
    try:
        system, path = fsspec.core.url_to_fs(address)
        return system, path
    except Exception as error:  # each file system has its own
        raise InputError(address, f"cannot be reached ({first_line(error)})") from None


def files_at(address: str) -> list[str]:
    """The addresses of the files that a pattern fits or that a folder holds; else itself."""
    system, path = elsewhere(address)
    with reading_from(address):
        if glob.has_magic(address):
            paths = system.glob(path)
            if not paths:
                raise InputError(address, "fits no file; check the pattern")
        elif system.isdir(path):
            paths = [one["name"] for one in system.ls(path, detail=True) if one["type"] == "file"]
        else:
            return [address]
    return [system.unstrip_protocol(one) for one in sorted(paths)]


def require_file(path: Path) -> None:
    """Raise an InputError unless the path is a file that exists, or one elsewhere."""
    if address_of(path):
        return
    if path.is_dir():
        raise InputError(path, "is a folder where a file is expected")
    if not path.exists():
        raise InputError(path, "no such file; check the path")


class Stream(io.BufferedReader):
    """An open file: its unpacked bytes, and what error messages call it."""

    def __init__(self, place: str, pieces: Iterator[bytes], most: int | None) -> None:
        """Pass over a byte order mark; ``place`` is a path, or "standard input"."""
        super().__init__(_Pieces(place, pieces, most), 2**16)
        self.place = place
        if self.peek(1).startswith(BYTE_ORDER_MARK):
            self.read(len(BYTE_ORDER_MARK))
        self.head = self.peek(1)[:HEAD_BYTES]
        """The first bytes, to guess the format from."""


@contextmanager
def limited(max_bytes: int | None, memory: int | None = None) -> Iterator[None]:
    """A context in which no file may hold more than so many bytes, once it is unpacked.

    The innermost number counts, None does not. Without any, a plain file may have any size that
    the memory can hold; what may expand or have no end (compressed files, pipes, standard input,
    answers of endpoints) may hold a quarter of the memory, and no more than the ceiling
    ``memory``.
    """
    outer = _limits.get()
    _limits.set((max_bytes or outer[0], memory or outer[1]))
    try:
        yield
    finally:
        _limits.set(outer)


def limits() -> tuple[int | None, int | None]:
    """What ``limited`` was given, to be given again elsewhere."""
    return _limits.get()


def max_bytes() -> int:
    """How many bytes a source that may have no end can hold."""
    most, ceiling = _limits.get()
    share = _memory_size() // MEMORY_SHARE
    return most or min(share, ceiling or share)


@contextmanager
def open_stream(
    path: StrPath, *, kept: bool = True, progress: Progress | None = None
) -> Iterator[Stream]:
    """The bytes of a file, or of standard input for "-", unpacked, without a byte order mark.

    The compression is known by the first bytes, whatever the suffix is; ``limited`` says how
    much it may hold. Where what is read is not ``kept``, that may be more than fits in memory.
    ``progress`` is called with the share of the file that has been read.
    """
    most = max_bytes() if kept else _limits.get()[0] or MAX_BYTES
    if str(path) == STANDARD_INPUT:
        if sys.stdin is None:
            raise InputError("standard input", "is closed; send the graph there, or give a file")
        yield stream_of("standard input", sys.stdin.buffer.read, most)
    elif address := address_of(path):
        system, inside = elsewhere(address)
        with reading_from(address), system.open(inside, "rb") as file:
            yield stream_of(address, file.read, most, size=system.size(inside), progress=progress)
    else:
        path = Path(path)
        require_file(path)
        # Otherwise, opening a pipe would wait until somebody writes to it.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", getattr(os, "O_BINARY", 0))
        with reading_from(path), os.fdopen(os.open(path, flags), "rb", buffering=0) as file:
            state = os.fstat(file.fileno())
            if stat.S_ISFIFO(state.st_mode):
                yield stream_of(str(path), partial(_read_pipe, path, file), most)
            elif stat.S_ISREG(state.st_mode):
                with _unchanged(path, file, state):
                    yield stream_of(
                        str(path), file.read, most, size=state.st_size, progress=progress
                    )
            else:
                raise InputError(path, "is a device, neither a file nor a pipe; give a file")


def stream_of(
    place: str,
    fetch: Fetch,
    most: int,
    *,
    size: int | None = None,
    progress: Progress | None = None,
) -> Stream:
    """The bytes that a function fetches, unpacked, without a byte order mark.

    A file has a ``size``, and the compression that its name says. ``most`` limits the bytes of
    what may expand or has no size.
    """
    pieces = _fetched(place, fetch, size, progress)
    packed = b""
    for piece in pieces:
        packed += piece
        if len(packed) >= HEAD_BYTES:
            break
    compression = next((end for end, one in COMPRESSIONS.items() if one.magic.match(packed)), None)
    pieces = chain([packed], pieces)
    if compression:
        pieces = _unpacked(place, pieces, COMPRESSIONS[compression])
    stream = Stream(place, pieces, most if compression or size is None else _limits.get()[0])
    for name, magic in STILL_PACKED.items():
        if magic.match(stream.head):
            what = "twice" if compression else f"with {name}, which is not read"
            raise InputError(place, f"is compressed {what}; unpack it once")
    suffix = "" if size is None else Path(place).suffix.lower()
    if suffix in COMPRESSIONS and suffix != compression:
        if not stream.head:
            raise _damaged(place, "it is empty")
        problem = f"is not compressed with {COMPRESSIONS[suffix].name}; leave {suffix} off its name"
        if compression:
            name = COMPRESSIONS[compression].name
            problem = f"is compressed with {name}; let its name end in {compression}"
        raise InputError(place, problem)
    return stream


def read_bytes(path: StrPath) -> bytes:
    """The whole content of a file, decompressed."""
    with open_stream(path) as stream:
        return read_whole(stream)


def read_whole(stream: Stream) -> bytes:
    """All bytes of a stream that are left; more than the memory can hold are refused."""
    content, most = io.BytesIO(), _memory_size()
    while piece := stream.read(PIECE_BYTES):
        if content.tell() + len(piece) > most:
            raise too_large(stream.place, most)
        content.write(piece)
    return content.getvalue()


def read_text(path: StrPath) -> str:
    """The text of a UTF-8 file, decompressed, without a byte order mark."""
    return decoded(read_bytes(path), path)


def decoded(content: bytes, place: StrPath, *, line: int = 1) -> str:
    """The text of UTF-8 bytes that begin in a line; others are an InputError with its line."""
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line += content[: error.start].count(b"\n")
        raise InputError(place, "not UTF-8 text; convert the file to UTF-8", line=line) from None


def _read_pipe(path: Path, file: IO[bytes], size: int) -> bytes:
    """Up to so many bytes of a pipe as soon as there are any; none at the end.

    It was opened without waiting. It is waited for, but not for ever.
    """
    for seconds in (WRITER_SECONDS, SILENT_SECONDS):
        ready = select.select([file], [], [], seconds)[0]
        piece: bytes | None = file.read(size)  # none at all if it has a writer that waits
        if piece or (ready and piece is not None):
            return piece
        if piece is not None:
            break
    problem = f"is a pipe to which nothing was written for {seconds} seconds"
    raise InputError(path, f"{problem}; start what writes to it first, or give a file")


def _fetched(
    place: str, fetch: Fetch, size: int | None, progress: Progress | None
) -> Iterator[bytes]:
    """The bytes of an open file; one that has another size than it had is refused."""
    count, piece = 0, b"begin"
    while piece:
        try:
            piece = fetch(PIECE_BYTES)
        except OSError as error:
            raise _damaged(place, first_line(error)) from None
        count += len(piece)
        if size is not None:
            if count > size or (not piece and count < size):
                raise InputError(place, CHANGED)
            if progress:
                progress(count / max(size, 1))
        yield piece


def _unpacked(place: str, pieces: Iterable[bytes], compression: Compression) -> Iterator[bytes]:
    """The content of a compressed file, which may have several frames."""
    frame = None
    few = (part[n : n + PACKED_BYTES] for part in pieces for n in range(0, len(part), PACKED_BYTES))
    for packed in few:
        while packed:
            if frame is None:
                packed = packed.lstrip(b"\0")  # archives may be padded between frames
                if not packed:
                    break
                frame = compression.decompressor()
            try:
                yield frame.decompress(packed)
            except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
                raise _damaged(place, first_line(error)) from None
            packed = frame.unused_data if frame.eof else b""
            frame = None if frame.eof else frame
    if frame is not None:
        raise _damaged(place, "it is cut off")


class _Pieces(io.RawIOBase):
    """Pieces of bytes as a file, which may hold at most so many."""

    def __init__(self, place: str, pieces: Iterator[bytes], most: int | None) -> None:
        self._place, self._pieces, self._most = place, pieces, most
        self._count = 0
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        # Small pieces are joined, so that the first bytes are enough to guess the format from.
        while len(self._ready) < HEAD_BYTES and (piece := next(self._pieces, None)) is not None:
            self._count += len(piece)
            if self._most is not None and self._count > self._most:
                raise too_large(self._place, self._most)
            self._ready = memoryview(bytes(self._ready) + piece)
        chunk = self._ready[: len(buffer)]
        self._ready = self._ready[len(buffer) :]
        buffer[: len(chunk)] = chunk
        return len(chunk)


def too_large(place: str, most: int) -> InputError:
    """The error about a source that holds more than it may."""
    return InputError(
        place,
        f"holds more than {most:,} bytes once it is unpacked; "
        "if that is as it should be, raise the ceiling with `max_bytes` (--max-bytes SIZE)",
    )


def _damaged(place: str, reason: str) -> InputError:
    return InputError(place, f"cannot be read ({reason}); is the file whole?")


@contextmanager
def _unchanged(path: Path, file: IO[bytes], before: os.stat_result) -> Iterator[None]:
    """Raise an InputError if the open file, or what its path now leads to, is not as before."""
    what = attrgetter("st_size", "st_mtime_ns", "st_ino", "st_dev")
    try:
        yield
    finally:  # also after an error, of which a change may be the cause
        same = False
        with suppress(FileNotFoundError):
            same = what(before) == what(os.fstat(file.fileno())) == what(path.stat())
        if not same:
            raise InputError(path, CHANGED) from None


def _memory_size() -> int:
    """The bytes of memory that this process may use: all, or less where a limit is set."""
    sizes = []
    with suppress(AttributeError, ValueError, OSError):
        sizes.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(ValueError, OSError):  # of a container; "max" where there is none
        sizes.append(int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    with suppress(ImportError):
        import resource

        sizes.append(resource.getrlimit(resource.RLIMIT_AS)[0])
    return min((size for size in sizes if size > 0), default=2**36)
