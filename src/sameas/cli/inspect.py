"""``sameas inspect``: what there is to know before aligning."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sameas.cli.reading import reading_options, take_reading
from sameas.cli.terminal import json_option, print_json, print_table, say, warn

if TYPE_CHECKING:
    from sameas.graph import Graph
    from sameas.inspection import Inspection

EPILOG = """\b
Examples:
  sameas inspect zh_en
  sameas inspect left.tsv right.csv.gz
  sameas inspect dump.ttl.gz --lenient
"""


@click.command(epilog=EPILOG)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@reading_options
@json_option
def inspect(inputs: tuple[str, ...], as_json: bool, **chosen: Any) -> None:
    """Count what is in graphs, and point out what looks suspicious.

    An INPUT is a benchmark folder (two graphs), a table of triples or RDF (one graph): what
    sameas align takes as a side.
    """
    from sameas.graph import GraphPair
    from sameas.inspection import compare, inspect_graph
    from sameas.reading import is_pair, read_graph, read_pair

    reading = take_reading(chosen)

    graphs: dict[str, Inspection] = {}
    remarks: list[str] = []
    gold: dict[str, int] = {}
    tables: list[Graph] = []
    for place in inputs:
        if is_pair(place):
            pair = read_pair(place)
            graphs[f"{place} left"] = inspect_graph(pair.left)
            graphs[f"{place} right"] = inspect_graph(pair.right)
            remarks += [f"{place}: {remark}" for remark in compare(pair)]
            if pair.gold is not None:
                gold[place] = len(pair.gold)
        else:
            tables.append(read_graph(place, reading=reading))
            graphs[place] = inspect_graph(tables[-1])
    if len(tables) == 2 and len(inputs) == 2:
        remarks += compare(GraphPair(left=tables[0], right=tables[1]))
    for name, facts in graphs.items():
        remarks += [f"{name}: {remark}" for remark in facts.warnings]
    if as_json:
        print_json(
            {
                "graphs": {name: facts.asdict() for name, facts in graphs.items()},
                "gold_links": gold,
                "warnings": remarks,
            }
        )
        return
    _print(graphs)
    for place, count in gold.items():
        say(f"{place}: {count:,} gold links")
    for remark in remarks:
        warn(remark)


def _print(graphs: dict[str, Inspection]) -> None:
    first = next(iter(graphs.values())).asdict()
    rows = []
    for key in first:
        if key not in ("scripts", "namespaces", "warnings", "reading"):
            values = [facts.asdict()[key] for facts in graphs.values()]
            shown = [f"{v:,.1f}" if isinstance(v, float) else f"{v:,}" for v in values]
            rows.append((key.replace("_", " "), *shown))
    for key in dict.fromkeys(key for facts in graphs.values() for key in facts.reading):
        shown = [
            f"{facts.reading[key]:,}" if key in facts.reading else "-" for facts in graphs.values()
        ]
        rows.append((f"read: {key.replace('_', ' ')}", *shown))
    rows.append(
        (
            "scripts of names",
            *(
                ", ".join(f"{k} {v:.0%}" for k, v in facts.scripts.items() if v >= 0.005)
                for facts in graphs.values()
            ),
        )
    )
    rows.append(
        (
            "namespaces",
            *(
                ", ".join(f"{k} {v:,}" for k, v in list(facts.namespaces.items())[:3])
                for facts in graphs.values()
            ),
        )
    )
    print_table(rows, header=("", *(_short(name, len(graphs)) for name in graphs)))


def _short(name: str, columns: int) -> str:
    """A column's heading: the last part of a path, or just the side of a single folder."""
    side = name.rsplit(" ", 1)[-1]
    return side if columns == 2 and side in ("left", "right") else Path(name).name
