"""What all commands share: flags, --json, and printing.

Results go to standard output, as text or as JSON; notes and progress go to standard error.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sameas.errors import printable, writing_to
from sameas.fields import declared, parse_size
from sameas.files import limited
from sameas.rdf.rules import Reading

if TYPE_CHECKING:
    from rich.console import Console

Function = TypeVar("Function", bound=Callable[..., Any])
START = time.perf_counter()
"""When the command was started, or nearly so."""
FILE = click.Path(path_type=Path)
SIDE = click.Choice(["left", "right"])
JSON = "sameas.json"
"""The key of click's context that says whether --json was given."""
NUMBER = r"[\d,.]*\d[\d,.]*( |$)|[\W\d_]*$"
"""Cells that are aligned right: "12", "12 of 20", and those without letters."""


class Command(click.Command):
    """A command whose function prints for people and returns what --json prints instead.

    All take --max-bytes, which limits every file that they read. The docstring of the function
    ends with examples, which are shown after the options.
    """

    def __init__(self, *, help: str, **rest: Any) -> None:
        """Add --json and --max-bytes, and put the examples last."""
        text, _, examples = cleandoc(help).partition("Examples:\n")
        super().__init__(help=text, epilog=f"\b\nExamples:\n{examples}", **rest)
        note = "Print one JSON object on standard output, nothing else."
        self.params.append(click.Option(["--json", "as_json"], is_flag=True, help=note))
        self.takes_limit = any(one.name == "max_bytes" for one in self.params)
        if not self.takes_limit:
            limit = next(one for one in declared(Reading) if one.name == "max_bytes")
            self.params.append(click.Option(["--max-bytes"], metavar="SIZE", help=limit.help))

    def make_context(self, *rest: Any, **more: Any) -> click.Context:
        """Read the arguments; --help is printed here."""
        with to_standard_output():
            return super().make_context(*rest, **more)

    def invoke(self, ctx: click.Context) -> None:
        """Run the function; with --json, print what it returns, null for numbers not finite."""
        logging.getLogger("sameas").handlers = [_Notes(logging.WARNING)]
        ctx.meta[JSON] = ctx.params.pop("as_json")
        limit = ctx.params["max_bytes"] if self.takes_limit else ctx.params.pop("max_bytes")
        with limited(None if limit is None else parse_size(limit, "max_bytes")):
            values = super().invoke(ctx)
        if ctx.meta[JSON]:
            plain = json.loads(json.dumps(values, default=str), parse_constant=lambda name: None)
            escaped = sys.stdout.encoding.lower() not in ("utf-8", "utf8")
            say(json.dumps(plain, indent=2, ensure_ascii=escaped), always=True)


class _Notes(logging.Handler):
    """Shows the warnings of the library as notes."""

    def emit(self, record: logging.LogRecord) -> None:
        note(record.getMessage())


# --- flags


def flag(
    name: str, kind: str | click.Choice[str], help: str, **rest: Any
) -> Callable[[Function], Function]:
    """An option of a command; ``kind`` is what it takes: FILE, DIR, OUT, another text, a choice."""
    if isinstance(kind, str):
        rest = {"metavar": kind, "type": FILE if kind in ("FILE", "DIR", "OUT") else None, **rest}
    else:
        rest["type"] = kind
    return click.option(*name.split("/"), help=help, show_default=True, **rest)


word_vectors_flag: Callable[[Function], Function] = flag(
    "--word-vectors",
    "FILE",
    "GloVe or word2vec text file; else the vectors of the extra sameas[glove].",
)


def flags(options: type) -> Callable[[Function], Function]:
    """One flag for each option that a dataclass declares."""

    def add(function: Function) -> Function:
        for one in reversed(declared(options)):
            name, help = f"--{one.name.replace('_', '-')}", one.help
            if one.type is bool:
                function = click.option(name, is_flag=True, default=None, help=help)(function)
                continue
            is_size = one.metavar == "SIZE"
            kind = click.Choice(one.choices) if one.choices else str if is_size else one.type
            if one.default not in (None, ()):
                help += f"  [{one.default >> 30}G]" if is_size else f"  [{one.default}]"
            function = click.option(
                name,
                type=FILE if kind is Path else kind,
                multiple=one.several,
                metavar=one.metavar,
                help=help,
            )(function)
        return function

    return add


def given(options: type, chosen: dict[str, Any]) -> dict[str, Any]:
    """The options of a dataclass that were given as flags; they are taken out of ``chosen``."""
    values = {}
    for one in declared(options):
        value = chosen.pop(one.name)
        if value and (one.metavar or "").endswith(",..."):
            value = tuple(part.strip() for text in value for part in text.split(","))
        if value not in (None, ()):
            values[one.name] = value
    return values


def as_flags(message: str) -> str:
    """A message of the library, with flags in place of the names of arguments.

    >>> as_flags("`time_limit` must be a number")
    '--time-limit must be a number'
    """
    return re.sub(r"`([a-z_]+)`", lambda name: f"--{name[1].replace('_', '-')}", message)


# --- printing


class OutputClosedError(Exception):
    """A pipe was closed that standard output went to."""


@contextmanager
def to_standard_output() -> Iterator[None]:
    """Turn the errors of printing on standard output into ours."""
    with writing_to("standard output"):
        try:
            yield
        except OSError as error:  # what is still to be printed at the end goes nowhere
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if isinstance(error, BrokenPipeError):  # click would end with exit code 1
                raise OutputClosedError from None
            raise


def say(message: str, *, err: bool = False, always: bool = False) -> None:
    """Print text for people; with --json only if ``always``."""
    if always or not is_json():
        # Where notes cannot be shown, the work goes on.
        with suppress(OSError) if err else to_standard_output():
            click.echo(message, err=err)


def note(message: str, *, always: bool = True) -> None:
    """Print a note on standard error; with --json only if ``always``."""
    say(f"note: {printable(as_flags(message))}", err=True, always=always)


def print_table(rows: Iterable[Sequence[Any]], *, header: Sequence[str] = ()) -> None:
    """Print a table for people, if it has rows; nothing with --json.

    Columns of numbers are aligned right, but for the first. Fractions have three decimals.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    if is_json() or not cells:
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_header=bool(header))
    for number, column in enumerate(zip(*cells, strict=True)):
        right = number and all(re.match(NUMBER, text) for text in column)
        label = header[number] if header else ""
        table.add_column(label, justify="right" if right else "left", overflow="fold")
    for row in cells:
        table.add_row(*map(Text, row))
    screen = _console()
    with to_standard_output(), screen.capture() as drawn:
        screen.print(table)
    lines = [line.rstrip() for line in drawn.get().splitlines()]
    say("\n".join(filter(None, lines)) + "\n")


@contextmanager
def progress_display() -> Iterator[Callable[[str, float], None]]:
    """Bars for the phases of a run on standard error; yields what the pipeline reports to."""
    if is_json() or not sys.stderr.isatty():
        yield lambda phase, share: None
        return
    from rich.progress import BarColumn, Progress, TimeElapsedColumn, TimeRemainingColumn

    columns = "{task.description:<12}", BarColumn(), "{task.percentage:>3.0f}%"
    times = TimeElapsedColumn(), TimeRemainingColumn()
    with Progress(*columns, *times, console=_console(err=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def report(phase: str, share: float) -> None:
            if phase not in tasks:
                tasks[phase] = bars.add_task(phase, total=1.0)
            bars.update(tasks[phase], completed=share)

        yield report


def is_json() -> bool:
    """Whether --json was given."""
    return bool(click.get_current_context().meta.get(JSON))


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _console(*, err: bool = False) -> Console:
    """A terminal to print to; 120 columns where the output is not a terminal."""
    from rich.console import Console

    width = None if (sys.stderr if err else sys.stdout).isatty() else 120
    return Console(stderr=err, width=width, highlight=False, soft_wrap=False)
