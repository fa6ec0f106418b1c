"""``sameas inspect``: counts, and what looks suspicious."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sameas.cli.command import INPUT, as_flags, command, note, print_table, say
from sameas.graph.rdf.reading import Reading

if TYPE_CHECKING:
    from sameas.graph.inspection import GraphInspection

COLUMNS = ("column", "filled", "distinct", "role")


@command(
    """Count what is in graphs, and point out what looks suspicious.

    An INPUT is a benchmark folder (two graphs), or tables or RDF (one graph): what sameas align
    takes as a side. Of records, the columns are listed with what they are taken for.
    """,
    examples="""
    sameas inspect zh_en
    sameas inspect left.tsv right.csv.gz
    sameas inspect dump.ttl.gz --lenient
    """,
)
@click.argument("inputs", nargs=-1, required=True, type=INPUT, metavar="INPUT...")
def inspect(inputs: tuple[str, ...], *, reading: Reading) -> dict[str, Any]:
    """Read the graphs; their counts and warnings."""
    from sameas.formats.pair import is_pair, read_graph, read_pair
    from sameas.graph.inspection import inspect as inspect_pair
    from sameas.graph.inspection import inspect_graph

    graphs: dict[str, GraphInspection] = {}
    gold: dict[str, int] = {}
    warnings: list[str] = []
    if len(inputs) == 2 and not any(map(is_pair, inputs)):
        # What names things is found by how well it meets the other side.
        both = inspect_pair(read_pair(*inputs, reading=reading))
        graphs = dict(zip(inputs, (both.left, both.right), strict=True))
        warnings += both.warnings
    for place in inputs if not graphs else ():
        if is_pair(place):
            inspected = inspect_pair(read_pair(place))
            graphs |= {f"{place} left": inspected.left, f"{place} right": inspected.right}
            warnings += [f"{place}: {warning}" for warning in inspected.warnings]
            if inspected.gold_links is not None:
                gold[place] = inspected.gold_links
        else:
            graphs[place] = inspect_graph(read_graph(place, reading=reading))
    for name, graph in graphs.items():
        warnings += [f"{name}: {warning}" for warning in graph.warnings]
    headings = (
        ["left", "right"] if len(inputs) < len(graphs) == 2 else [Path(n).name for n in graphs]
    )
    print_table(_rows(list(graphs.values())), header=("", *headings))
    for heading, graph in zip(headings, graphs.values(), strict=True):
        if graph.columns:
            say(f"{heading}: columns")
        print_table((tuple(c.values()) for c in graph.columns), header=COLUMNS)
    for place, count in gold.items():
        say(f"{place}: {count:,} gold links")
    for warning in warnings:
        note(warning, always=False)
    return {
        "graphs": {name: asdict(graph) for name, graph in graphs.items()},
        "gold_links": gold,
        "warnings": [as_flags(warning) for warning in warnings],
    }


def _rows(graphs: Sequence[GraphInspection]) -> Iterator[tuple[Any, ...]]:
    """One row a count, one column a graph."""
    yield "read as", *(each.read_as for each in graphs)
    for name, value in asdict(graphs[0]).items():
        if isinstance(value, int):
            yield name.replace("_", " "), *(getattr(each, name) for each in graphs)
    yield "mean degree", *(f"{each.mean_degree:,.1f}" for each in graphs)
    for name in dict.fromkeys(name for graph in graphs for name in graph.reading):
        yield f"read: {name.replace('_', ' ')}", *(each.reading.get(name) for each in graphs)
    yield (
        "kinds",
        *(", ".join(f"{n:,} {kind}" for kind, n in each.kinds.items()) for each in graphs),
    )
    yield "names", *map(_naming, graphs)
    scripts = ([f"{k} {v:.0%}" for k, v in each.scripts.items() if v >= 0.005] for each in graphs)
    yield "scripts of names", *map(", ".join, scripts)
    namespaces = ([f"{k} {v:,}" for k, v in each.namespaces.items()][:3] for each in graphs)
    yield "namespaces", *map(", ".join, namespaces)


def _naming(graph: GraphInspection) -> str:
    """Which properties hold names, and which could."""
    chosen, others = (
        [_path(one["path"]) for one in graph.naming if one["chosen"] == wanted]
        for wanted in (True, False)
    )
    text = ", ".join(chosen) or ("from IRIs" if graph.reading else "")
    return f"{text}; would also do: {', '.join(others)}" if others else text


def _path(path: str) -> str:
    """A path in short: the last part of its attribute, and how many steps away it is."""
    from sameas.graph.iri import last_part
    from sameas.graph.semantics.paths import SEPARATOR

    steps = path.count(SEPARATOR)
    return last_part(path) + (f" ({steps} step{'s' * (steps > 1)} away)" if steps else "")
