"""Options about how graphs are read, the same for every command that reads them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from sameas.graph import Graph
    from sameas.reading import Reading

Command = TypeVar("Command", bound=Callable[..., Any])

OPTIONS = (
    click.option("--label", multiple=True, metavar="IRI", help="RDF: a property that holds names."),
    click.option(
        "--language", metavar="TAG,...", help="RDF: preferred languages of names, as in en,de."
    ),
    click.option(
        "--include",
        multiple=True,
        metavar="IRI",
        help="RDF: read only these predicates, link only these classes (* at the end: any).",
    ),
    click.option(
        "--exclude",
        multiple=True,
        metavar="IRI",
        help="RDF: leave out these predicates, and members of these classes.",
    ),
    click.option("--blank-nodes", is_flag=True, help="RDF: blank nodes may be linked too."),
    click.option("--lenient", is_flag=True, help="RDF: skip what is malformed, and count it."),
    click.option(
        "--max-bytes",
        metavar="SIZE",
        help="What one compressed file may hold once it is unpacked.  [64G]",
    ),
    click.option(
        "--format",
        type=click.Choice(["nt", "nq", "ttl", "trig", "rdf", "jsonld"]),
        help="RDF: what standard input holds, and files without a known suffix.  [nq]",
    ),
    click.option("--base", metavar="IRI", help="RDF: what relative IRIs are resolved against."),
    click.option(
        "--query",
        multiple=True,
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="SPARQL: the query to put, for both sides or one a side.",
    ),
)


def reading_options(command: Command) -> Command:
    """The command with all options about reading."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def take_reading(chosen: dict[str, Any]) -> Reading:
    """The options about reading, which are taken out of all that were chosen."""
    from sameas.options import parse_size
    from sameas.reading import Reading

    given = {field.name: chosen.pop(field.name) for field in fields(Reading)}
    if given["language"] is not None:
        given["language"] = tuple(tag.strip() for tag in given["language"].split(","))
    if given["max_bytes"] is not None:
        given["max_bytes"] = parse_size(given["max_bytes"], option="max_bytes")
    return Reading(**{name: value for name, value in given.items() if value is not None})


def counts_in_words(graph: Graph) -> str:
    """What was met while a graph was read, in a few words; "" if there is nothing to tell."""
    counts = dict(graph.reading_counts)
    if not counts:
        return ""
    first = f"{counts.pop('statements'):,} statements, {counts.pop('malformed'):,} malformed"
    return ", ".join([first, *(f"{v:,} {k.replace('_', ' ')}" for k, v in counts.items())])
