"""What all commands share: --json, examples, progress, and flags made from declared options."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from inspect import cleandoc
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from sameas.cli.terminal import JSON, print_json, warn
from sameas.fields import Declared, declared

Function = TypeVar("Function", bound=Callable[..., Any])
FILE = click.Path(path_type=Path)


def out_option(text: str) -> Callable[[Function], Function]:
    """The option -o, which is required."""
    return click.option("-o", "--out", required=True, type=FILE, metavar="OUT", help=text)


class Report(NamedTuple):
    """What a command has found."""

    values: Mapping[str, Any]
    """What --json prints."""
    show: Callable[[], None]
    """Prints the same for people."""
    notes: Sequence[str] = ()
    """Remarks for standard error, with and without --json."""


class Command(click.Command):
    """A command whose function returns a Report; its docstring ends with examples."""

    def __init__(self, *, help: str, **rest: Any) -> None:
        """Add --json; examples come after the options."""
        text, _, examples = cleandoc(help).partition("Examples:\n")
        super().__init__(help=text, epilog=f"\b\nExamples:\n{examples}", **rest)
        note = "Print one JSON object on standard output, nothing else."
        self.params.append(click.Option(["--json", "as_json"], is_flag=True, help=note))

    def invoke(self, ctx: click.Context) -> None:
        """Run the function and print its report."""
        logging.getLogger("sameas").handlers = [_Notes(logging.WARNING)]
        as_json = ctx.meta[JSON] = ctx.params.pop("as_json")
        report: Report = super().invoke(ctx)
        for note in report.notes:
            warn(note)
        if as_json:
            print_json(report.values)
        else:
            report.show()


class _Notes(logging.Handler):
    """Shows the warnings of the library as notes."""

    def emit(self, record: logging.LogRecord) -> None:
        warn(record.getMessage())


def flags(options: type) -> Callable[[Function], Function]:
    """A decorator that gives a command one flag for each option that a dataclass declares."""

    def add(function: Function) -> Function:
        for one in reversed(declared(options)):
            function = _flag(one)(function)
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


def _flag(one: Declared) -> Callable[[Function], Function]:
    name = f"--{one.name.replace('_', '-')}"
    if one.type is bool:
        return click.option(name, is_flag=True, default=None, help=one.help)
    kind: Any = FILE if one.type is Path else str if one.metavar == "SIZE" else one.type
    return click.option(
        name,
        type=click.Choice(one.choices) if one.choices else kind,
        multiple=one.several,
        metavar=one.metavar,
        help=one.help + _shown_default(one),
    )


def _shown_default(one: Declared) -> str:
    if one.default in (None, ()):
        return ""
    return f"  [{one.default >> 30}G]" if one.metavar == "SIZE" else f"  [{one.default}]"
