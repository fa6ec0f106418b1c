"""Write beside, then rename: a result is there whole or not at all.

A draft is made in a hidden folder next to its place, named after the place and the process.
What a killed process left behind is put in order by the next one that writes there: an earlier
result that was moved aside is moved back, and drafts are removed.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sameas.errors import OutputError


@contextmanager
def replacing_file(path: Path) -> Iterator[Path]:
    """A path to write to; what is there when the block ends well takes the place of ``path``."""
    with _beside(path) as folder:
        draft = folder / path.name
        yield draft
        _to_disk(draft)
        draft.replace(path)


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """An empty folder to fill; when the block ends well it takes the place of ``path``."""
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
    """Put in order what processes that were killed while writing ``path`` have left."""
    for folder in path.absolute().parent.glob(f".{path.name}.*.draft"):
        owner = folder.name.split(".")[-2]
        if not _is_alive(owner):
            _move_back(folder, path)
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """A temporary folder next to a path, gone afterwards whatever happens."""
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
    """What the system said when writing failed, None if it was something else that failed.

    Polars hides a full disk in an error of its own, whose text ends in "(os error 28)".
    """
    if isinstance(error, OSError):
        return error.strerror or str(error)
    hidden = re.search(r"\(os error (\d+)\)", str(error))
    return os.strerror(int(hidden[1])) if hidden else None


def _move_back(folder: Path, path: Path) -> None:
    """Give an earlier result its place again if nothing else has taken it."""
    if (folder / "old").exists() and not path.exists():
        (folder / "old").rename(path)


def _to_disk(path: Path) -> None:
    """Make sure that a file's content outlives a loss of power before its name is changed."""
    if path.is_file():
        with path.open("rb+") as file:
            os.fsync(file.fileno())


def _is_alive(process: str) -> bool:
    if not process.isdigit():
        return True
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is there, but not ours
        return True
    return True
