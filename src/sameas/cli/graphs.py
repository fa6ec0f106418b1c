"""Commands about graphs: demo, inspect, names."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sameas.cli.command import (
    Side,
    as_flags,
    command,
    note,
    pair_argument,
    print_table,
    progress_display,
    say,
)
from sameas.rdf.rules import Reading

if TYPE_CHECKING:
    import polars as pl

    from sameas.alignment import Alignment
    from sameas.inspection import GraphInspection


@command()
def demo() -> dict[str, Any]:
    """Align two small graphs that ship with the package.

    Countries, languages, currencies and cities, in French from CLDR and in English from
    GeoNames; every link is compared with the true one.

    Examples:
      sameas demo
      sameas demo --json
    """
    import sameas

    begin = time.perf_counter()
    with progress_display() as progress:
        pair = sameas.read_pair(sameas.DEMO)
        assert pair.gold is not None
        results = {
            preset: sameas.align(pair, options, progress=progress)
            for preset, options in sameas.PRESETS.items()
        }
    seconds = time.perf_counter() - begin
    scores = {name: sameas.evaluate(found, pair.gold) for name, found in results.items()}
    examples = _examples(results["best"], pair.gold)
    say(
        f"Two graphs of one world: {len(pair.left.entities):,} entities named in French (CLDR) and "
        f"{len(pair.right.entities):,} in English (GeoNames).\n{len(pair.gold):,} of them are on "
        "both sides; the others have no counterpart. No name was translated, no link was given."
    )
    say("\nHow well it did (all true links are known here, so every other link is wrong):")
    print_table(
        (
            (name, m.links, m.links_correct, m.strict_precision, m.recall, m.hits_at_1)
            for name, m in scores.items()
        ),
        header=("preset", "links", "correct", "precision", "recall", "Hits@1"),
    )
    say('Ten of the links of "best", from the surest to the least sure:')
    print_table(
        examples["left name", "right name", "confidence", "verdict"].iter_rows(),
        header=("French", "English", "confidence", "true?"),
    )
    data = shlex.quote(str(sameas.DEMO))
    say(f"Done in {seconds:.1f} s. The data is in {sameas.DEMO}. To try next:\n")
    say(f"  sameas inspect {data}\n  sameas align {data} -o run\n  sameas evaluate run {data}")
    say("  sameas align left.tsv right.tsv -o links.tsv    # tables of yours: head, relation, tail")
    return {
        "data": str(sameas.DEMO),
        "scores": {name: metrics.asdict() for name, metrics in scores.items()},
        "links": examples.to_dicts(),
        "total_seconds": round(seconds, 3),
    }


def _examples(alignment: Alignment, gold: pl.DataFrame) -> pl.DataFrame:
    """Ten links spread evenly over the confidences, with names and whether they are right."""
    import numpy as np
    import polars as pl

    links = alignment.links.sort(["confidence", "left"], descending=[True, False])
    rows = links[np.linspace(0, len(links) - 1, 10).round().astype(int).tolist()]
    left, right = alignment.pair.left, alignment.pair.right
    known = gold.with_columns(verdict=pl.lit("yes"))
    table: pl.DataFrame = rows.join(
        known, on=["left", "right"], how="left", maintain_order="left"
    ).with_columns(
        pl.col("verdict").fill_null("no"),
        pl.col("left").replace_strict(left.entities, left.names).alias("left name"),
        pl.col("right").replace_strict(right.entities, right.names).alias("right name"),
    )
    return table


@command()
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
def inspect(inputs: tuple[str, ...], *, reading: Reading) -> dict[str, Any]:
    """Count what is in graphs, and point out what looks suspicious.

    An INPUT is a benchmark folder (two graphs), a table of triples or RDF (one graph): what
    sameas align takes as a side.

    Examples:
      sameas inspect zh_en
      sameas inspect left.tsv right.csv.gz
      sameas inspect dump.ttl.gz --lenient
    """
    from sameas.inspection import inspect as inspect_pair
    from sameas.inspection import inspect_graph
    from sameas.reading import is_pair, read_graph, read_pair

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
            found = inspect_pair(read_pair(place))
            graphs |= {f"{place} left": found.left, f"{place} right": found.right}
            warnings += [f"{place}: {warning}" for warning in found.warnings]
            if found.gold_links is not None:
                gold[place] = found.gold_links
        else:
            graphs[place] = inspect_graph(read_graph(place, reading=reading))
    for name, graph in graphs.items():
        warnings += [f"{name}: {warning}" for warning in graph.warnings]
    headings = (
        ["left", "right"] if len(inputs) < len(graphs) == 2 else [Path(n).name for n in graphs]
    )
    print_table(_rows(list(graphs.values())), header=("", *headings))
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
    from sameas.iri import last_part
    from sameas.understanding import SEPARATOR

    steps = path.count(SEPARATOR)
    return last_part(path) + (f" ({steps} step{'s' * (steps > 1)} away)" if steps else "")


@command()
@pair_argument
def names(
    inputs: tuple[str, ...],
    *,
    out: Path,
    side: Side | None = None,
    names: str | None = None,
    reading: Reading,
) -> dict[str, Any]:
    """Write the names of entities, for example to have them translated.

    The file has two columns, entity and name. Translate the second one, and give the file to
    sameas align with --names.

    Options:
      out OUT: Where the names go: .tsv, .csv or .parquet.
      side: Names of one graph only; of both by default.
      names FILE|uri: Names of entities: a file, or from the URIs.

    Examples:
      sameas names zh_en --names uri --side left -o names.tsv
      sameas names left.nt.gz right.ttl -o names.csv
    """
    from sameas.languages import detect
    from sameas.reading import read_pair
    from sameas.writing import write_names

    pair = read_pair(*inputs, names=names, reading=reading)
    sides = (side,) if side else ("left", "right")
    written = write_names(pair, out, sides=sides)
    found = {one: detect(getattr(pair, one).names) for one in sides}
    languages = ", ".join(f"{one}: {its.script} ({its.language})" for one, its in found.items())
    say(f"{len(written):,} names written to {out} ({languages}).")
    codes = {one: its.language for one, its in found.items()}
    return {"names": len(written), "languages": codes, "output": str(out)}
