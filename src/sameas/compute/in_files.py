"""Arrays and tables in files, for what this process keeps and seldom looks at itself.

Pages of arrays are in memory while they are read or written, until `let_go_of_pages` is called;
they come back from the file when they are needed again. A table is read as a whole whenever it is
asked for. The files have no names: the system deletes them with what is in them, or with the
process.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, fields, is_dataclass
from threading import Lock
from typing import IO, Any
from weakref import WeakSet, finalize

import numpy as np
import polars as pl
from numpy.typing import DTypeLike, NDArray

from sameas.compute.arrays import Numbers
from sameas.compute.parallel import is_apart, slices

PAGES_AT_ONCE = 2**24
"""Bytes that are copied before their pages are let go of."""

_maps: WeakSet[mmap.mmap] = WeakSet()


def room_for(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """An empty array; in a file where workers of a cluster do the work, if the disk has room."""
    return _in_file(shape, dtype) if is_apart() else np.empty(shape, dtype=dtype)


def put_in_file(array: NDArray[Any]) -> NDArray[Any]:
    """A copy of the array in a file; the array itself if it is in one, or the disk is full."""
    if is_in_file(array):
        return array
    copy = _in_file(array.shape, array.dtype)
    if not is_in_file(copy):
        return array
    for part in slices(len(array), max(PAGES_AT_ONCE * len(array) // array.nbytes, 1)):
        copy[part] = array[part]
        let_go_of_pages()
    return copy


def _in_file(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """An empty array in a file, in memory if the disk has no room."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    mapped = _new_file(size) if size else None
    if mapped is None:
        return np.empty(shape, dtype=dtype)
    _maps.add(mapped)
    return np.frombuffer(mapped, dtype=dtype).reshape(shape)


def _new_file(size: int) -> mmap.mmap | None:
    """A file of so many bytes in the folder for temporary files; None if that is full."""
    try:
        with tempfile.TemporaryFile(prefix="sameas-") as file:
            if hasattr(os, "posix_fallocate"):  # or a disk that fills up later ends the process
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                file.truncate(size)
            return mmap.mmap(file.fileno(), size)
    except OSError:
        return None


def let_go_of_pages() -> None:
    """Take the pages of all arrays in files out of this process; their content stays."""
    if hasattr(mmap, "MADV_DONTNEED"):  # not on Windows
        for mapped in list(_maps):
            mapped.madvise(mmap.MADV_DONTNEED)


def is_in_file(value: Any) -> bool:
    """Whether an array, or one of those of a dataclass, is in a file."""
    if is_dataclass(value) and not isinstance(value, type):
        return any(is_in_file(getattr(value, each.name)) for each in fields(value))
    if hasattr(value, "indptr"):  # a sparse array
        return is_in_file(value.data)
    while isinstance(value, np.ndarray):
        value = value.base
    return isinstance(value, memoryview) and value.obj in _maps


def rows_at(array: NDArray[Any], positions: Numbers) -> NDArray[Any]:
    """A copy of these rows, for which few pages of a file are in memory at once."""
    rows = np.empty((len(positions), *array.shape[1:]), dtype=array.dtype)
    for part in slices(len(positions), PAGES_AT_ONCE // mmap.PAGESIZE):
        rows[part] = array[positions[part]]
        let_go_of_pages()
    return rows


def in_one_piece(array: NDArray[Any]) -> NDArray[Any]:
    """The array, or a copy without gaps, for which few pages of a file are in memory at once."""
    if array.flags.c_contiguous:
        return array
    whole = np.empty(array.shape, dtype=array.dtype)
    rows = max(PAGES_AT_ONCE // max(abs(array.strides[0]), 1), 1) if array.ndim else 1
    for part in slices(len(array), rows):
        whole[part] = array[part]
        let_go_of_pages()
    return whole


@dataclass(frozen=True, eq=False)
class TableInFile:
    """A table in a file, with all its columns, rows and types."""

    file: IO[bytes]
    _reading: Lock = field(default_factory=Lock)
    """The file has one position."""

    def __post_init__(self) -> None:
        """Close the file when nobody can read it any more."""
        finalize(self, self.file.close)

    def read(self) -> pl.DataFrame:
        """The table."""
        with self._reading:
            self.file.seek(0)
            return pl.read_ipc(self.file)


def table_in_file(table: pl.DataFrame) -> TableInFile | None:
    """The table in a file in the folder for temporary files; None if that is full."""
    with suppress(OSError, pl.exceptions.PolarsError), ExitStack() as opened:
        file = opened.enter_context(tempfile.TemporaryFile(prefix="sameas-"))
        table.write_ipc(file)
        opened.pop_all()
        return TableInFile(file)
    return None
