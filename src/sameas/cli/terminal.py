"""What commands show: tables on standard output, progress and messages on standard error."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

START = time.perf_counter()
"""When the command was started, or nearly so."""
JSON = "sameas.json"
"""The key of click's context that says whether --json was given."""


class OutputClosedError(Exception):
    """Standard output was closed."""


def print_json(values: Mapping[str, Any]) -> None:
    """Print one JSON object; a number that is not finite becomes null."""
    say(json.dumps(_finite(values), indent=2, ensure_ascii=False, default=str))


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and value - value != 0:  # infinite or not a number
        return None
    return value


def print_table(rows: Sequence[Sequence[str]], *, header: Sequence[str] = ()) -> None:
    """Print a table; the first column is text, others are aligned right if they hold numbers."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_header=bool(header))
    for number in range(len(rows[0]) if rows else len(header)):
        label = header[number] if header else ""
        numeric = all(_is_number(row[number]) for row in rows)
        table.add_column(label, justify="right" if number and numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    screen = _console()
    with screen.capture() as drawn:
        screen.print(table)
    lines = [line.rstrip() for line in drawn.get().splitlines()]
    say("\n".join(line for line in lines if line) + "\n")


def _is_number(text: str) -> bool:
    words = text.split(" ")[0].replace(",", "").replace(".", "")
    return words.isdigit() or not any(letter.isalpha() for letter in text)


def _console(*, err: bool = False) -> Console:
    """A terminal to print to; 120 columns where the output is not a terminal."""
    from rich.console import Console

    stream = sys.stderr if err else sys.stdout
    width = None if stream.isatty() else 120
    return Console(stderr=err, width=width, highlight=False, soft_wrap=False)


def say(message: str) -> None:
    """Print a line of plain text on standard output."""
    try:
        click.echo(message)
    except BrokenPipeError:  # click would end with exit code 1
        raise OutputClosedError from None


def warn(message: str) -> None:
    """Print a note on standard error."""
    click.echo(f"note: {as_flags(message)}", err=True)


def as_flags(message: str) -> str:
    """A message of the library, with flags in place of the names of arguments.

    >>> as_flags("`time_limit` must be a number")
    '--time-limit must be a number'
    """
    return re.sub(r"`([a-z_]+)`", lambda name: f"--{name[1].replace('_', '-')}", message)


def score(value: float | None) -> str:
    """A score as it is shown everywhere: three decimals, or a dash where it does not apply.

    >>> score(0.87093), score(None)
    ('0.871', '-')
    """
    return "-" if value is None else f"{value:.3f}"


@contextmanager
def progress_display() -> Iterator[Callable[[str, float], None]]:
    """Bars for the phases of a run on standard error; yields what the pipeline reports to."""
    if _is_quiet() or not sys.stderr.isatty():
        yield lambda phase, share: None
        return
    from rich.progress import BarColumn, Progress, TimeElapsedColumn, TimeRemainingColumn

    with Progress(
        "{task.description:<12}",
        BarColumn(),
        "{task.percentage:>3.0f}%",
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=_console(err=True),
        transient=True,
    ) as bars:
        tasks: dict[str, Any] = {}

        def report(phase: str, share: float) -> None:
            if phase not in tasks:
                tasks[phase] = bars.add_task(phase, total=1.0)
            bars.update(tasks[phase], completed=share)

        yield report


def show_task(done: int, total: int, what: str) -> None:
    """Print which of several long tasks is under way, on standard error."""
    if not _is_quiet():
        click.echo(f"{done}/{total} {what}", err=True)


def _is_quiet() -> bool:
    return bool(click.get_current_context().meta.get(JSON))
