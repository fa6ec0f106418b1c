"""What a user can do wrong, as exceptions that say what to do about it.

SameasError
├── InputError    a file or folder does not hold what is needed; names the place in it
├── OptionError   an option has a value that cannot be used (also a ValueError)
├── OutputError   the result cannot be written where it was asked for
└── MemoryCeilingError   the work would not fit under the memory ceiling

The command line prints the message of any of them in one line and ends with exit code 2.
"""

from __future__ import annotations

from os import PathLike


class SameasError(Exception):
    """Something the user can mend; the message says how."""


class InputError(SameasError):
    """A file or folder that cannot be used as it is."""

    def __init__(
        self,
        path: str | PathLike[str],
        message: str,
        *,
        line: int | None = None,
        column: int | None = None,
        row: int | None = None,
    ) -> None:
        """Make the message ``path:line:column: message``, or ``path: row N: message``."""
        place = ":".join(str(part) for part in (path, line, column) if part is not None)
        text = f"{place}: row {row}: {message}" if row is not None else f"{place}: {message}"
        # What a file holds may be in the message, and is not let loose on a terminal.
        super().__init__("".join(c if c.isprintable() else repr(c)[1:-1] for c in text))


class OptionError(SameasError, ValueError):
    """An option with a value that cannot be used."""


class OutputError(SameasError):
    """A result that cannot be written."""


class MemoryCeilingError(SameasError):
    """Work that does not fit under the ceiling; known before it starts."""


def shortened(text: str, limit: int = 80) -> str:
    r"""Text for an error message: on one line, escaped where not printable, cut if it is long.

    >>> shortened("31\t7")
    '31\\t7'
    """
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[: limit + 1])
    return text if len(text) <= limit else text[: limit - 1] + "…"


def first_line(error: Exception | str) -> str:
    """The first line of an error's text."""
    return (str(error).splitlines() or [type(error).__name__])[0]
