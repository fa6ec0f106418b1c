"""``sameas dedupe``: what stands in one graph several times."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from sameas.cli.align import described
from sameas.cli.clusters import (
    cluster_lines,
    next_steps,
    show_cluster_changes,
    show_clusters,
    since_lines,
)
from sameas.cli.command import (
    INPUT,
    command,
    is_quiet,
    is_verbose,
    load_libraries,
    print_table,
    progress_display,
    say,
)
from sameas.cli.convert import note_not_held
from sameas.cli.output import Output, finished_phases, taken, timed, write_clusters
from sameas.formats.files import address_of
from sameas.graph.rdf.reading import Reading
from sameas.options.declare import Option
from sameas.options.options import Options, Where, make_options, refuse_unused

if TYPE_CHECKING:
    from sameas.result.alignment import Alignment

OF_LINKS = ("cardinality", "min_confidence", "max_error", "no_audit")
"""Options that decide about links between two graphs, and say nothing of clusters of one."""


@command(
    """Find the entities of one graph that are the same thing.

    GRAPH is a table of records (a row is an entity), RDF, a property graph (GraphML, JSON of
    networkx, a Neo4j export, the tables of GraphRAG), or a table of triples: whatever LEFT of
    `sameas align` may be. Tables hold all members of clusters of two or more (entity, graph,
    cluster, confidence); RDF and SSSOM hold each member with the canonical one of its cluster,
    of which most is said.
    """,
    examples="""
    sameas dedupe people.csv -o clusters.csv
    sameas dedupe graph.graphml -o run
    sameas dedupe graph.nt -o same.ttl
    sameas dedupe people.csv --reject run -o run
    sameas dedupe people.csv --since last-week -o this-week
    """,
)
@click.argument("graph", type=INPUT)
def dedupe(
    graph: str,
    *,
    out: Annotated[
        Path,
        Option(
            "Where the clusters go: .tsv, .csv, .parquet, .jsonl, .sssom.tsv, .nt, .ttl or .rdf; "
            "no suffix for a run folder; - for standard output (TSV).",
            metavar="OUT",
        ),
    ],
    names: Annotated[
        str | None, Option("Names of entities: a file, or from the URIs.", metavar="FILE|uri")
    ] = None,
    seeds: Annotated[
        str | None,
        Option(
            "Pairs that are known to be the same: two columns (left, right), or a run folder, for "
            "those accepted in it.",
            metavar="FILE|RUN",
        ),
    ] = None,
    reject: Annotated[
        str | None,
        Option(
            "Pairs that are known to differ: two columns, or a run folder, for those rejected in "
            "it.",
            metavar="FILE|RUN",
        ),
    ] = None,
    since: Annotated[
        str | None,
        Option(
            "A run of dedupe for an earlier version of the graph: clusters keep the names that "
            "they had there, its decisions still hold, and changes are listed.",
            metavar="RUN",
        ),
    ] = None,
    choices: Annotated[dict[str, Any], Options],
    reading: Reading,
    where: Where,
) -> dict[str, Any]:
    """Read, find clusters and write; the summary of the run."""
    from sameas.pipeline.cluster import working
    from sameas.result.overwriting import refuse_inputs

    options = make_options("best", **choices)
    refuse_unused(options, choices)
    output = Output(out=out)
    write_out = output.writer()
    read = [place for place in (graph, names, *reading.query) if place is not None]
    refuse_inputs(out, read, learned_from=[seeds, reject, since])
    seconds: dict[str, float] = {}
    with working(options, where), progress_display() as progress:
        with timed("reading", seconds, progress):
            found = _read(graph, names, reading)
        from sameas.pipeline.dedupe import dedupe_graph
        from sameas.pipeline.inputs import Given

        alignment = dedupe_graph(
            found,
            options,
            Given(seeds=seeds, reject=reject, since=since),
            called=Path(graph).name or graph,
            progress=progress,
            checkpoint=finished_phases(out),
        )
        not_held = write_clusters(output, write_out, alignment, seconds, progress)
    values = _values(alignment, seconds, out, not_held)
    note_not_held(out, not_held)
    if output.is_printed:
        return values
    if not is_quiet():
        print_table(_summary(alignment, values))
        show_cluster_changes(values)
        show_clusters(alignment)
    say(f"Written to {values['output']}.", err=True)
    for line in next_steps(out):
        say(f"  {line}", err=True)
    return values


def _read(graph: str, names: str | None, reading: Reading) -> Any:
    """The graph as it is matched; meanwhile, the libraries of the next stages are loaded."""
    from sameas.formats.pair import read_understood

    load_libraries()
    return read_understood(graph, names=names, reading=reading)


def _values(
    alignment: Alignment, seconds: dict[str, float], out: Path, not_held: tuple[str, ...]
) -> dict[str, Any]:
    """The summary of the run, as --json prints it."""
    summary = alignment.summary()
    clusters = alignment.clusters
    assert clusters is not None
    sizes = clusters.summary["size"]
    return {
        "clusters": len(clusters),
        "clustered_entities": len(clusters.members),
        "duplicate_pairs": int((sizes * (sizes - 1) // 2).sum()),
        "largest_cluster": sizes.max() or 0,
        "entities": summary.pop("left_entities"),
        "unmatched": summary.pop("unmatched_left"),
        **{
            name: value
            for name, value in summary.items()
            if not name.startswith(("right_", "unmatched_", "links", "clusters", "clustered"))
        },
        **taken(alignment, seconds),
        "reading": alignment.pair.left.reading_counts,
        "output": address_of(out) or str(out),
        "not_held": list(not_held),
    }


def _summary(alignment: Alignment, values: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What came out and what it took."""
    figures = alignment.diagnostics
    yield "graph", described(alignment.pair.left, values["entities"])
    yield from cluster_lines(alignment, values["largest_cluster"])
    yield from since_lines(values)
    yield "no duplicate", f"{values['unmatched']:,} of {figures.left_candidates:,} entities"
    if is_verbose():
        if figures.refinement_rounds is not None:
            yield "learning", f"{figures.refinement_rounds} rounds, {figures.anchors:,} anchors"
        if figures.candidate_pairs is not None:
            yield "compared", f"{figures.candidate_pairs:,} pairs"
        phases = ", ".join(f"{phase} {value:.1f}" for phase, value in values["seconds"].items())
        yield "seconds", phases
    memory = values["peak_memory_bytes"]
    used = f", {memory / 2**30:.2f} GiB of memory" if memory else ""
    yield "took", f"{values['total_seconds']:.1f} seconds{used}"


dedupe.params = [one for one in dedupe.params if one.name not in OF_LINKS]
