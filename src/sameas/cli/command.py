"""What all commands share: how they are made of functions, and printing.

Results go to standard output, as text or as JSON; notes and progress go to standard error.
"""

from __future__ import annotations

import inspect
import json
import logging
import os
import re
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, is_dataclass
from functools import wraps
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import click

from sameas.cli.config import check_config_place, given_options, read_config, write_config
from sameas.cli.help import MANY, help_all_option, write_options
from sameas.cli.limits import check_limits
from sameas.errors import OptionError, printable, writing_to
from sameas.formats.files import limited
from sameas.graph.rdf.reading import Reading
from sameas.options.declare import Option, checked, declared

if TYPE_CHECKING:
    from rich.console import Console

START = time.perf_counter()
"""When the command was started, or nearly so."""
QUIET, VERBOSE = "sameas.quiet", "sameas.verbose"
"""The keys of click's context that say whether --quiet and --verbose were given."""
JSON = "sameas.json"
"""The key of click's context that says whether --json was given."""
NUMBER = r"[\d,.]*\d[\d,.]*( |$)|[\W\d_]*$"
"""Cells that are aligned right: "12", "12 of 20", and those without letters."""
MAX_BYTES = next(one for one in declared(Reading) if one.name == "max_bytes")


class _FilePath(click.Path):
    """A path, which must have a name."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Refuse an empty text, which Python takes for the working folder."""
        if value == "":
            self.fail("the path is empty; give the name of a file or folder", param, ctx)
        return super().convert(value, param, ctx)


FILE = _FilePath(path_type=Path)
INPUT = _FilePath(path_type=str)
"""A path, a pattern or an address, which a Path would change."""


class Command(click.Command):
    """A command, or the group of all; errors of printing its help are ours."""

    def make_context(self, *rest: Any, **more: Any) -> click.Context:
        """Read the arguments; --help and --version are printed here."""
        with to_standard_output():
            return super().make_context(*rest, **more)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in groups, the common ones alone if they are many."""
        if isinstance(self, click.Group):
            super().format_options(ctx, formatter)
        else:
            write_options(self, ctx, formatter)


class _Notes(logging.Handler):
    """Shows the warnings of the library as notes."""

    def emit(self, record: logging.LogRecord) -> None:
        note(record.getMessage())


# --- flags


@dataclass(frozen=True)
class _Group:
    """A parameter of a command that stands for the options of a dataclass."""

    options: Callable[..., Any]
    is_made: bool
    """Whether the command gets the dataclass; else it gets a dictionary of what was given."""


def command(
    text: str, *, examples: str, cls: type[click.Command] = Command
) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a command of a function that prints for people and returns what --json prints instead.

    ``text`` is its help, and examples are shown after the options. Its flags are the options that
    the function declares, and those of the dataclasses that its parameters have as their type
    (``reading: Reading``), or as a note to it (``choices: Annotated[dict[str, Any], Options]``,
    which holds those that were given). The function gets the options that were given. All
    commands take --json, and --max-bytes, which limits every file that they read.
    """

    def make(function: Callable[..., Any]) -> click.Command:
        groups = _groups(function)
        owners = [function, *(group.options for group in groups.values())]
        options = {one.name: one for owner in owners for one in declared(owner)}
        options |= {MAX_BYTES.name: MAX_BYTES}

        @wraps(function)
        def run(
            *,
            as_json: bool,
            quiet: bool,
            verbose: bool,
            save_config: Path | None = None,
            **values: Any,
        ) -> None:
            context = click.get_current_context()
            context.meta.update({JSON: as_json, QUIET: quiet, VERBOSE: verbose})
            logging.getLogger("sameas").handlers = [_Notes(logging.WARNING)]
            if verbose:
                logging.getLogger("sameas").setLevel(logging.INFO)
                logging.getLogger("sameas").handlers = [_Notes(logging.INFO)]
            check_limits()
            if save_config is not None:
                check_config_place(save_config)
            given = {}
            for name, option in options.items():
                value = values.pop(name, None)  # a command may leave out some
                if value and (option.metavar or "").endswith(",..."):
                    value = [part.strip() for text in value for part in text.split(",")]
                if value not in (None, ()):
                    given[name] = checked(option, value)
            with limited(given.pop(MAX_BYTES.name, None)):
                for name, group in groups.items():
                    members = [one.name for one in declared(group.options) if one.name in given]
                    choices = {member: given.pop(member) for member in members}
                    values[name] = group.options(**choices) if group.is_made else choices
                result = function(**values, **given)
            if save_config is not None:
                write_config(save_config, context.info_name or "", given_options(context))
                say(
                    f"Options kept in {save_config}; again: {_again(context, save_config)}",
                    err=True,
                )
            if as_json:
                _print_json(result)

        shown = inspect.cleandoc(examples).replace("\n", "\n  ")
        made = click.command(
            cls=cls, help=inspect.cleandoc(text), epilog=f"\b\nExamples:\n  {shown}"
        )(run)
        made.params += map(_flag, options.values())
        made.params += _common_flags(has_config=len(options) > MANY)
        return made

    return make


def _common_flags(*, has_config: bool) -> list[click.Option]:
    """The flags that every command takes; those of a file of options if it has many."""
    flags = [
        click.Option(
            ["--config"],
            type=FILE,
            metavar="FILE",
            is_eager=True,
            expose_value=False,
            callback=_load_config,
            help="Take options from a TOML file (or [tool.sameas.COMMAND] in pyproject.toml).",
        ),
        click.Option(
            ["--save-config"],
            type=FILE,
            metavar="FILE",
            help="Write the options of this run to a TOML file, for --config.",
        ),
    ]
    return [
        *(flags if has_config else ()),
        click.Option(["-q", "--quiet"], is_flag=True, help="Show only warnings and errors."),
        click.Option(["-v", "--verbose"], is_flag=True, help="Show how the work was done."),
        click.Option(
            ["--json", "as_json"],
            is_flag=True,
            help="Print one JSON object on standard output, nothing else.",
        ),
        *([help_all_option()] if has_config else ()),
    ]


def _load_config(context: click.Context, option: click.Parameter, path: Path | None) -> None:
    if path is not None and not context.resilient_parsing:
        context.default_map = read_config(path, context)


def _again(context: click.Context, path: Path) -> str:
    """The command that runs a job again."""
    return shlex.join([*context.command_path.split(), "--config", str(path)])


def _groups(function: Callable[..., Any]) -> dict[str, _Group]:
    """The parameters of a command that stand for the options of a dataclass."""
    groups = {}
    for name, hint in get_type_hints(function, include_extras=True).items():
        kinds = [kind for kind in (hint, *get_args(hint)) if is_dataclass(kind)]
        if name != "return" and kinds and isinstance(kinds[0], type):
            groups[name] = _Group(kinds[0], is_made=kinds[0] is hint)
    return groups


def _flag(option: Option) -> click.Option:
    """The flag of an option; one that must be given has a short form, too."""
    names, help = [option.name, flag_of(option.name)], option.help
    if option.type is bool:
        return click.Option(names, is_flag=True, default=None, help=help)
    if option.is_required:
        names.append(f"-{option.name[0]}")
    elif option.default not in (None, ()):
        help += f"  [{option.default >> 30}G]" if option.is_size else f"  [{option.default}]"
    kind: Any = option.type
    if option.choices:
        kind = click.Choice(option.choices)
    elif option.is_size:
        kind = str
    elif kind is Path or (option.metavar or "").startswith("FILE"):
        kind = FILE if kind is Path else INPUT
    return click.Option(
        names,
        type=kind,
        multiple=option.several,
        metavar=option.metavar,
        required=option.is_required,
        help=help,
    )


def _at_most_two(context: click.Context, argument: click.Parameter, paths: Any) -> Any:
    if len(paths) > 2:
        raise OptionError(f"one PAIR or LEFT and RIGHT expected, got {len(paths)} paths instead")
    return paths


graphs_argument = click.argument(
    "inputs", nargs=-1, required=True, type=INPUT, metavar="LEFT RIGHT [MORE]... | PAIR"
)
pair_argument = click.argument(
    "inputs",
    nargs=-1,
    required=True,
    type=INPUT,
    metavar="LEFT RIGHT | PAIR",
    callback=_at_most_two,
)
run_argument = click.argument("run", type=FILE)


def as_flags(message: str) -> str:
    """A message of the library, with flags in place of the names of arguments.

    >>> as_flags("`time_limit` must be a number")
    '--time-limit must be a number'
    """
    return re.sub(r"`([a-z_]+)`", lambda name: flag_of(name[1]), message)


def flag_of(name: str) -> str:
    """The flag of an argument; one that is called like a word of Python has an underscore.

    >>> flag_of("time_limit"), flag_of("as_")
    ('--time-limit', '--as')
    """
    return f"--{name.rstrip('_').replace('_', '-')}"


def load_libraries() -> None:
    """Load the libraries of an alignment, and have kernels ready, while files are read."""

    def load() -> None:
        import_module("sameas.compute.kernels.ready").make_ready()
        import_module("sameas.pipeline.align")

    Thread(target=load, daemon=True).start()


# --- printing


def _print_json(result: Any) -> None:
    """Print one JSON object; null stands for numbers that are not finite."""
    plain = json.loads(json.dumps(result, default=str), parse_constant=lambda name: None)
    escaped = sys.stdout.encoding.lower() not in ("utf-8", "utf8")
    say(json.dumps(plain, indent=2, ensure_ascii=escaped), always=True)


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
    """Print text for people; with --json (with --quiet, what is no result) only if ``always``."""
    if always or not (is_json() or (err and is_quiet())):
        # Where notes cannot be shown, the work goes on.
        with suppress(OSError) if err else to_standard_output():
            click.echo(message, err=err)


def note(message: str, *, always: bool = True) -> None:
    """Print a note on standard error; with --json only if ``always``."""
    say(f"note: {printable(as_flags(message))}", err=True, always=always)


def print_table(rows: Iterable[Sequence[Any]], *, header: Sequence[str] = ()) -> None:
    """Print a table for people, if it has rows; nothing with --json.

    Under a header, columns of numbers are aligned right, but for the first. Fractions have three
    decimals.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    if is_json() or not cells:
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_header=bool(header))
    for number, column in enumerate(zip(*cells, strict=True)):
        right = number and header and all(re.match(NUMBER, text) for text in column)
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
    if is_json() or is_quiet() or not sys.stderr.isatty():
        yield lambda phase, share: None
        return
    from rich.progress import BarColumn, Progress, TimeElapsedColumn, TimeRemainingColumn

    from sameas.pipeline.meanings import meaning

    columns = "{task.description:<52}", BarColumn(), "{task.percentage:>3.0f}%"
    times = TimeElapsedColumn(), TimeRemainingColumn()
    with Progress(*columns, *times, console=_console(err=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def report(phase: str, share: float) -> None:
            if phase not in tasks:
                tasks[phase] = bars.add_task(meaning(phase), total=1.0)
            bars.update(tasks[phase], completed=share)

        yield report


def is_quiet() -> bool:
    """Whether --quiet was given."""
    return bool(click.get_current_context().meta.get(QUIET))


def is_verbose() -> bool:
    """Whether --verbose was given."""
    return bool(click.get_current_context().meta.get(VERBOSE))


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
