"""How a command's options are shown: in groups, the common ones first, all with --help-all."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import click

ALL = "sameas.help_all"
"""The key of click's context that says that all options are to be shown."""
MANY = 16
"""Options up to which a command shows all of them in one list."""
GROUPS = {
    "What comes in": (
        *("names", "id", "name", "language", "seeds", "reject", "among", "dictionary"),
        *("table", "label", "include", "exclude", "blank_nodes", "link", "lenient", "strict"),
        *("format", "base", "query", "max_bytes", "since"),
    ),
    "How names are compared": (
        *("features", "languages", "encoder", "text", "word_vectors", "embeddings"),
    ),
    "The method": (
        *("preset", "cardinality", "method", "rounds", "adjacency", "depth", "exact_hops"),
        *("solver", "iterations", "temperature", "gap", "time_limit", "candidates", "without"),
    ),
    "What goes out": (
        *("out", "with_", "min_confidence", "max_error", "no_audit", "top", "predicate"),
    ),
    "Resources": (*("memory", "engine", "scheduler", "workers", "worker_memory", "device"),),
}
"""The options of commands that have many, in the order in which they are shown."""
COMMON = (
    *("out", "with_", "names", "id", "name", "language", "seeds", "reject", "cardinality"),
    *("min_confidence", "max_error", "memory", "config", "save_config", "quiet", "verbose"),
    *("as_json", "help", "help_all"),
)
"""Options that most people need: what --help shows of a command with many."""
MEANT = {
    "--output": "--out",
    "--output-file": "--out",
    "--threshold": "--min-confidence",
    "--confidence": "--min-confidence",
    "--precision": "--max-error",
    "--lang": "--language",
    "--label-column": "--name",
    "--name-column": "--name",
    "--id-column": "--id",
    "--key": "--id",
    "--links": "--seeds",
    "--train": "--seeds",
    "--gold": "--among",
    "--columns": "--with",
    "--threads": "--workers",
    "--ram": "--memory",
    "--silent": "--quiet",
    "--debug": "--verbose",
}
"""What other programs call an option, and we call otherwise."""
ALIKE = 0.75
"""The likeness of two flags from which on one may be a misspelling of the other."""


def write_options(
    command: click.Command, context: click.Context, formatter: click.HelpFormatter
) -> None:
    """Write the options of a command: in groups if they are many, and then the common ones alone.

    The context says whether all of them are to be shown.
    """
    options = [one for one in command.get_params(context) if isinstance(one, click.Option)]
    shown = [one for one in options if not one.hidden]
    if len(shown) <= MANY:
        _write(formatter, "Options", shown, context)
        return
    hidden = 0
    if not context.meta.get(ALL):
        hidden = sum(one.name not in COMMON for one in shown)
        shown = [one for one in shown if one.name in COMMON]
    named = {one.name: one for one in shown}
    for title, names in GROUPS.items():
        _write(formatter, title, [named.pop(name) for name in names if name in named], context)
    _write(formatter, "This command", list(named.values()), context)
    if hidden:
        formatter.write_paragraph()
        formatter.write_text(f"--help-all shows {hidden} more options, for special cases.")


def _write(
    formatter: click.HelpFormatter,
    title: str,
    options: Sequence[click.Option],
    context: click.Context,
) -> None:
    records = [record for one in options if (record := one.get_help_record(context))]
    if records:
        with formatter.section(title):
            formatter.write_dl(records)


def help_all_option() -> click.Option:
    """The flag --help-all."""

    def show(context: click.Context, option: click.Parameter, is_given: bool) -> Any:
        if is_given and not context.resilient_parsing:
            context.meta[ALL] = True
            click.echo(context.get_help(), color=context.color)
            context.exit()

    return click.Option(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help="Show all options and exit.",
    )


def suggestions(flag: str, flags: Sequence[str]) -> list[str]:
    """The flags that an unknown one may stand for: those it begins, or is nearly spelled like.

    >>> suggestions("--cardnality", ["--candidates", "--cardinality", "--among"])
    ['--cardinality']
    >>> suggestions("--zzz", ["--json"])
    []
    """
    if MEANT.get(flag) in flags:
        return [MEANT[flag]]
    begun = sorted(one for one in flags if len(flag) > 3 and one.startswith(flag))
    return begun or get_close_matches(flag, flags, n=2, cutoff=ALIKE)
