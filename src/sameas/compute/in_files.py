"""Arrays in files, for what this process keeps for workers and seldom looks at itself.

Their pages are in memory while they are read or written, until `let_go_of_pages` is called; they
come back from the file when they are needed again. The files have no names: the system deletes
them with the last array, or with the process.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from dataclasses import fields, is_dataclass
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sameas.compute.arrays import Numbers
from sameas.compute.parallel import is_apart, slices

PAGES_AT_ONCE = 2**24
"""Bytes that are copied before their pages are let go of."""

_maps: WeakSet[mmap.mmap] = WeakSet()


def room_for(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """An empty array; in a file where workers of a cluster do the work, if the disk has room."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    mapped = _new_file(size) if size and is_apart() else None
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
