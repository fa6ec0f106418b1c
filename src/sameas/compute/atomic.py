"""Atomic writing: a result is there whole or not at all.

A draft is made in a hidden folder next to its target, named after the target (by a hash, if its
name is long) and the process, and then renamed. Drafts of processes that were killed are removed
by the next process that writes there; an earlier result that was moved aside is moved back.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from hashlib import sha256
from pathlib import Path
from typing import Any

from sameas.errors import writing_to

LONG_NAME = 100
"""Bytes of a name that may have more put around it on any file system."""


@contextmanager
def replacing_file(path: Path) -> Iterator[Path]:
    """A path to write to; if the block succeeds, the file there replaces ``path``."""
    with _beside(path) as folder:
        draft = folder / path.name
        yield draft
        _to_disk(draft)
        draft.replace(path)


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """An empty folder to fill; if the block succeeds, it replaces ``path``."""
    with _beside(path) as folder:
        draft = folder / "new"
        draft.mkdir()
        yield draft
        for file in draft.rglob("*"):
            _to_disk(file)
        if path.exists():
            path.rename(folder / "old")
        try:
            draft.rename(path)
        finally:
            _move_back(folder, path)


def recover(path: Path) -> None:
    """Remove what processes that were killed while writing ``path`` have left."""
    pattern = hidden_beside(path, "draft")
    owned = f"{escape(pattern.name.removesuffix('draft'))}*.draft"
    for folder in pattern.parent.glob(owned):
        owner = folder.name.split(".")[-2]
        if not _is_alive(owner):
            _move_back(folder, path)
            shutil.rmtree(folder, ignore_errors=True)


def hidden_beside(path: Path, ending: str) -> Path:
    """A hidden path next to another one: ``.name.ending``; its name is never too long."""
    name = os.fsencode(path.name)
    text = path.name if len(name) <= LONG_NAME else sha256(name).hexdigest()
    return path.absolute().parent / f".{text}.{ending}"


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """A temporary folder next to a path, removed afterwards in any case."""
    with writing_to(path, remedy="; choose another place"):
        folder = hidden_beside(path, f"{os.getpid()}.draft")
        recover(path)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    try:
        with writing_to(path):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _move_back(folder: Path, path: Path) -> None:
    """Restore an earlier result if nothing has replaced it."""
    if (folder / "old").exists() and not path.exists():
        (folder / "old").rename(path)


def _to_disk(path: Path) -> None:
    """Flush a file to disk, so that its content survives a loss of power after it is renamed."""
    if path.is_file():
        with path.open("rb+") as file:
            os.fsync(file.fileno())


def _is_alive(process: str) -> bool:
    """Whether a process may still run; drafts of those that may are left alone."""
    if not process.isdigit():
        return True
    if os.name == "nt":  # os.kill would end the process there
        return _is_alive_on_windows(int(process))
    try:
        os.kill(int(process), 0)
    except OSError as error:  # if it is another one, it runs, for another user
        return not isinstance(error, ProcessLookupError)
    return True


def _is_alive_on_windows(process: int) -> bool:
    import ctypes

    kernel: Any = ctypes.windll.kernel32  # type: ignore[attr-defined]
    handle = kernel.OpenProcess(0x1000, False, process)  # PROCESS_QUERY_LIMITED_INFORMATION
    if not handle:
        return bool(kernel.GetLastError() == 5)  # access denied: it runs, for another user
    code = ctypes.c_ulong()
    kernel.GetExitCodeProcess(handle, ctypes.byref(code))
    kernel.CloseHandle(handle)
    return code.value == 259  # STILL_ACTIVE
