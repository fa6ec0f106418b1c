"""Atomic writing: a result is there whole or not at all.

A draft is made in a hidden folder next to its target, named after the target and the process,
and then renamed. Drafts of processes that were killed are removed by the next process that
writes there; an earlier result that was moved aside is moved back.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sameas.errors import OutputError


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
    for folder in path.absolute().parent.glob(f".{path.name}.*.draft"):
        owner = folder.name.split(".")[-2]
        if not _is_alive(owner):
            _move_back(folder, path)
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """A temporary folder next to a path, removed afterwards in any case."""
    folder = path.absolute().parent / f".{path.name}.{os.getpid()}.draft"
    try:
        recover(path)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    except OSError as error:
        reason = error.strerror
        raise OutputError(f"{path}: cannot be written ({reason}); choose another place") from None
    try:
        yield folder
    except Exception as error:
        reason = _reason(error)
        if reason is None:
            raise
        raise OutputError(f"{path}: cannot be written ({reason})") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _reason(error: Exception) -> str | None:
    """The system's message if writing failed, None for other errors.

    Polars reports a full disk by an exception of its own, whose text ends in "(os error 28)".
    """
    if isinstance(error, OSError):
        return error.strerror or str(error)
    hidden = re.search(r"\(os error (\d+)\)", str(error))
    return os.strerror(int(hidden[1])) if hidden else None


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
    except ProcessLookupError:
        return False
    except OSError:  # it runs, for another user
        return True
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
