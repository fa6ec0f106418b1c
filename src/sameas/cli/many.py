"""``sameas align`` of three graphs or more: clusters in place of links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sameas.cli.clusters import (
    cluster_lines,
    next_steps,
    show_cluster_changes,
    show_clusters,
    since_lines,
)
from sameas.cli.command import (
    is_quiet,
    is_verbose,
    load_libraries,
    print_table,
    progress_display,
    say,
)
from sameas.cli.convert import note_not_held
from sameas.cli.output import Output, finished_phases, taken, timed, write_clusters
from sameas.errors import OptionError
from sameas.formats.files import address_of
from sameas.graph.rdf.reading import Reading
from sameas.options.options import Options, Where

if TYPE_CHECKING:
    from sameas.result.alignment import Alignment


def align_graphs(
    inputs: tuple[str, ...],
    names: tuple[str, ...],
    *,
    options: Options,
    output: Output,
    files: Mapping[str, Any],
    reading: Reading,
    where: Where,
) -> dict[str, Any]:
    """Read, align each two graphs, make clusters and write them; the summary of the run."""
    from sameas.formats.pair import read_graphs
    from sameas.pipeline.cluster import working
    from sameas.pipeline.inputs import Given
    from sameas.pipeline.many import align_many
    from sameas.pipeline.sources import names_of_graphs

    if output.with_:
        raise OptionError("`with_` cannot be used with three graphs or more; leave it out")
    out, called = output.out, names_of_graphs(inputs)
    write_out = output.writer()
    seconds: dict[str, float] = {}
    with working(options, where), progress_display() as progress:
        with timed("reading", seconds, progress):
            load_libraries()
            given_names = names[0] if len(names) == 1 else names or None
            graphs = read_graphs(inputs, names=given_names, reading=reading)
        alignment = align_many(
            graphs,
            called,
            options,
            Given(**files),
            progress=progress,
            checkpoint=finished_phases(out),
        )
        not_held = write_clusters(output, write_out, alignment, seconds, progress)
    values = _values(alignment, seconds, out, not_held)
    note_not_held(out, not_held)
    if not output.is_printed:
        if not is_quiet():
            print_table(_summary(alignment, values))
            print_table(_pairs(values), header=("graph", "graph", "links", "pairs in clusters"))
            show_cluster_changes(values)
            show_clusters(alignment)
        say(f"Written to {values['output']}.", err=True)
        for line in next_steps(out):
            say(f"  {line}", err=True)
    return values


def _values(
    alignment: Alignment, seconds: dict[str, float], out: Path, not_held: tuple[str, ...]
) -> dict[str, Any]:
    """The summary of the run, as --json prints it."""
    clusters, parts = alignment.clusters, alignment.parts
    assert clusters is not None
    assert parts is not None
    summary = alignment.summary()
    names = summary.pop("graphs")
    members = {name: clusters.members.filter(graph=name) for name in names}
    entities = [parts[0].diagnostics.left_entities, parts[0].diagnostics.right_entities]
    entities += [part.diagnostics.right_entities for part in parts[1 : len(names) - 1]]
    return {
        "clusters": len(clusters),
        "clustered_entities": len(clusters.members),
        "links": sum(_count(members[a], members[b]) for a, b in combinations(names, 2)),
        "graphs": [
            {"graph": name, "entities": count, "clustered": len(members[name])}
            for name, count in zip(names, entities, strict=True)
        ],
        "pairs": [
            {
                "left": left,
                "right": right,
                "links": len(part.links),
                "in_clusters": _count(members[left], members[right]),
            }
            for (left, right), part in zip(combinations(names, 2), parts, strict=True)
        ],
        **{
            name: value
            for name, value in summary.items()
            if not name.startswith(("left_", "right_", "unmatched_", "links", "cluster"))
        },
        "unmatched": summary["unmatched_left"],
        **taken(alignment, seconds),
        "output": address_of(out) or str(out),
        "not_held": list(not_held),
    }


def _count(left: Any, right: Any) -> int:
    """How many pairs of members are in one cluster."""
    return len(left.join(right, on="cluster"))


def _summary(alignment: Alignment, values: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What came out and what it took."""
    assert alignment.clusters is not None
    for graph in values["graphs"]:
        text = f"{graph['entities']:,} entities, {graph['clustered']:,} of them in clusters"
        yield graph["graph"], text
    largest = alignment.clusters.summary["size"].max()
    yield from cluster_lines(alignment, largest if isinstance(largest, int) else 0)
    yield from since_lines(values)
    yield "in no cluster", f"{values['unmatched']:,} entities"
    if is_verbose():
        phases = ", ".join(f"{phase} {value:.1f}" for phase, value in values["seconds"].items())
        yield "seconds", phases
    memory = values["peak_memory_bytes"]
    used = f", {memory / 2**30:.2f} GiB of memory" if memory else ""
    yield "took", f"{values['total_seconds']:.1f} seconds{used}"


def _pairs(values: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """The links of each two graphs, alone and in clusters."""
    for pair in values["pairs"]:
        yield pair["left"], pair["right"], pair["links"], pair["in_clusters"]
