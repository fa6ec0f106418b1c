"""What commands show: tables on standard output, progress and messages on standard error."""

from __future__ import annotations

import json
import logging
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

START = time.perf_counter()
"""When the command was started, or nearly so."""


class OutputClosedError(Exception):
    """Whoever reads standard output has seen enough."""


json_option = click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON object on standard output, nothing else.",
)


def console(*, err: bool = False) -> Console:
    """A terminal to print to; width is generous where there is no terminal to measure."""
    from rich.console import Console

    stream = sys.stderr if err else sys.stdout
    width = None if stream.isatty() else 120
    return Console(stderr=err, width=width, highlight=False, soft_wrap=False)


def print_json(values: dict[str, Any]) -> None:
    """Print one JSON object; what is not a number becomes null."""
    say(json.dumps(_finite(values), indent=2, ensure_ascii=False, default=str))


def print_table(
    rows: Sequence[Sequence[str]], *, header: Sequence[str] = (), title: str | None = None
) -> None:
    """Print a table; the first column is text, the others are numbers."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, show_header=bool(header))
    for number in range(len(rows[0]) if rows else len(header)):
        label = header[number] if header else ""
        numeric = all(len(row) > number and _is_figure(row[number]) for row in rows)
        table.add_column(label, justify="right" if number and numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    screen = console()
    with screen.capture() as drawn:
        screen.print(table)
    lines = [line.rstrip() for line in drawn.get().splitlines()]
    say("\n".join(line for line in lines if line) + "\n")


def say(message: str) -> None:
    """Print a line of plain text on standard output."""
    try:
        click.echo(message)
    except BrokenPipeError:  # click would end with exit code 1
        raise OutputClosedError from None


def warn(message: str) -> None:
    """Print a remark on standard error."""
    click.echo(f"note: {message}", err=True)


def score(value: float | None) -> str:
    """A score as it is shown everywhere: three decimals, or a dash where it does not apply.

    >>> score(0.87093), score(None)
    ('0.871', '-')
    """
    return "-" if value is None else f"{value:.3f}"


@contextmanager
def progress_display(*, quiet: bool) -> Iterator[Callable[[str, float], None]]:
    """Bars for the phases of a run on standard error; yields what the pipeline reports to."""
    _show_log()
    if quiet or not sys.stderr.isatty():
        yield lambda phase, share: None
        return
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description:<12}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console(err=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def report(phase: str, share: float) -> None:
            if phase not in tasks:
                tasks[phase] = bars.add_task(phase, total=1.0)
            bars.update(tasks[phase], completed=share)

        yield report


@contextmanager
def counter_display(*, quiet: bool) -> Iterator[Callable[[int, int, str], None]]:
    """One bar that counts tasks on standard error, and names the one under way."""
    _show_log()
    if quiet:
        yield lambda done, total, what: None
        return
    if not sys.stderr.isatty():
        yield lambda done, total, what: click.echo(f"{done}/{total} {what}", err=True)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=console(err=True)) as bars:
        bar = bars.add_task("", total=None)

        def report(done: int, total: int, what: str) -> None:
            bars.update(bar, completed=done, total=total, description=what)

        yield report


def peak_memory() -> int | None:
    """The largest resident memory of this process in bytes, None where the system does not tell."""
    try:  # Linux: what getrusage tells a process there includes that of its parent
        status = Path("/proc/self/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024  # type: ignore[index]
    except (OSError, TypeError):
        pass
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _show_log() -> None:
    """Show the library's warnings as remarks."""

    class Remarks(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            warn(record.getMessage())

    logger = logging.getLogger("sameas")
    logger.handlers = [Remarks(logging.WARNING)]


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and value - value != 0:  # infinite or not a number
        return None
    return value


def _is_figure(text: str) -> bool:
    return (
        not any(letter.isalpha() for letter in text)
        or text.split(" ")[0].replace(",", "").replace(".", "").isdigit()
    )
