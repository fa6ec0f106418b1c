"""What a user can do wrong, as exceptions that say what to do about it.

SameasError
├── InputError    a file or folder does not hold what is needed; names the place in it
├── OptionError   an option has a value that cannot be used (also a ValueError)
├── OutputError   the result cannot be written where it was asked for
├── ClusterError  a cluster cannot be used, or has lost its workers
└── MemoryCeilingError   the work would not fit under the memory ceiling

The command line prints the message of any of them in one line and ends with exit code 2.

What the system or a library raises becomes one of these here, in `refusing` and `writing_to`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike


class SameasError(Exception):
    """Something the user can mend; the message says how."""


class InputError(SameasError):
    """A file or folder that cannot be used as it is."""

    def __init__(
        self,
        path: str | PathLike[str],
        message: str = "",
        *,
        line: int | None = None,
        column: int | None = None,
        row: int | None = None,
    ) -> None:
        """Make the message ``path:line:column: message``, or ``path: row N: message``.

        One argument is a whole message: so are errors made again that another process sent.
        """
        place = ":".join(str(part) for part in (path, line, column) if part is not None)
        parts = (place, "" if row is None else f"row {row}", message)
        super().__init__(printable(": ".join(filter(None, parts))))


class OptionError(SameasError, ValueError):
    """An option with a value that cannot be used."""


class OutputError(SameasError):
    """A result that cannot be written."""


class ClusterError(SameasError):
    """A cluster that cannot be reached or used."""


class MemoryCeilingError(SameasError):
    """Work that does not fit under the ceiling; known before it starts."""


@contextmanager
def refusing(path: str | PathLike[str], problem: str, remedy: str) -> Iterator[None]:
    """Whatever a library raises in the block is an InputError: ``path: problem (why); remedy``.

    The block is one call that parses a file; the line is told where the library knows it.
    """
    try:
        yield
    except (InputError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # polars may panic, which is no Exception
        if (reason := system_reason(error)) is not None:
            raise InputError(path, f"cannot be read ({reason})") from None
        why = "nested too deeply" if isinstance(error, RecursionError) else first_line(error)
        why = shortened(getattr(error, "msg", None) or getattr(error, "problem", None) or why)
        mark = getattr(error, "problem_mark", None)  # of YAML, from 0
        line = getattr(error, "lineno", None) if mark is None else mark.line + 1
        raise InputError(path, f"{problem} ({why}); {remedy}", line=line) from None


@contextmanager
def reading_from(path: str | PathLike[str]) -> Iterator[None]:
    """What the system refuses in the block is an InputError: ``path: cannot be read (why)``."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(path, "no such file; check the path") from None
    except OSError as error:
        raise InputError(path, f"cannot be read ({system_reason(error)})") from None


@contextmanager
def writing_to(
    path: str | PathLike[str], problem: str = "cannot be written", remedy: str = ""
) -> Iterator[None]:
    """What the system refuses in the block is an OutputError: ``path: problem (why)remedy``."""
    try:
        yield
    except BaseException as error:
        reason = system_reason(error)
        if reason is None:
            raise
        raise OutputError(f"{path}: {problem} ({reason}){remedy}") from error


def system_reason(error: BaseException) -> str | None:
    """What the system says went wrong: a full disk, no permission; None for other errors.

    Polars hides it in exceptions of its own, with "(os error 28)" in their text, or in a panic;
    SQLite says "database or disk is full".
    """
    if isinstance(error, SameasError):
        return None
    if isinstance(error, MemoryError):
        return "not enough memory"
    if hidden := re.search(r"(?:\(os error|Os \{ code:) (\d+)", str(error)):
        return os.strerror(int(hidden[1]))
    kind = type(error)
    if kind.__module__ == "sqlite3" and kind.__name__ in ("OperationalError", "DatabaseError"):
        return first_line(error)
    return error.strerror or first_line(error) if isinstance(error, OSError) else None


def shortened(text: str, limit: int = 80) -> str:
    r"""Text for an error message: on one line, escaped where not printable, cut if it is long.

    >>> shortened("31\t7")
    '31\\t7'
    """
    text = printable(text[: limit + 1])
    return text if len(text) <= limit else text[: limit - 1] + "…"


def printable(text: str) -> str:
    r"""Text in which control characters, line separators and direction marks are escaped.

    Messages may quote files and paths, and must not control the terminal.

    >>> printable("a\u2028b")
    'a\\u2028b'
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def first_line(error: BaseException | str) -> str:
    """The first line of an error's text."""
    return (str(error).splitlines() or [type(error).__name__])[0]
