"""``sameas merge``: linked graphs as one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from sameas.cli.command import command, run_argument, say
from sameas.cli.convert import note_not_held
from sameas.options.declare import Option
from sameas.options.options import Side


@command(
    """Write the two graphs of a run as one, in which linked entities are one.

    RUN is a run folder. OUT says the form: RDF (.nt, .ttl, .nq), GraphML (.graphml), node-link
    JSON (.json), JSON lines of apoc (.jsonl), CSV for neo4j-admin (nodes.csv,relationships.csv),
    GraphRAG's Parquet (entities.parquet,relationships.parquet), or, of records, one table (.csv,
    .tsv, .parquet, .jsonl). A folder gets the two files of the form that the inputs had. --as
    overrides.

    A linked entity has the id of the left graph (or of the right one) and the properties of both.
    Those that agree are kept once; where they disagree both are kept, and listed in a table of
    conflicts. RDF is written as it was read, with a triple (owl:sameAs, or what fits a class, a
    property or a SKOS concept) from the IRI that was kept to the one that was replaced. In N-Quads
    every triple is in its own named graph, or in one that says which graph it came from.

    Of a run of dedupe, every cluster becomes one node: the canonical member, with the properties
    and edges of all, and the property merged_ids. A script for Neo4j (.cypher, with APOC) does
    this in the database. --dry-run only counts.
    """,
    examples="""
    sameas merge run -o merged.csv
    sameas merge run -o merged.graphml --conflicts conflicts.csv
    sameas merge run -o nodes.csv,relationships.csv
    sameas merge run -o merged --as graphrag
    sameas merge run -o merged.nq.gz --keep right
    sameas merge run -o merge.cypher --dry-run
    """,
)
@run_argument
def merge(
    run: Path,
    *,
    out: Annotated[
        Path,
        Option(
            "Where the graph goes: a file (text also .gz or .zst), two files with a comma between "
            "them, or a folder.",
            metavar="OUT",
        ),
    ],
    keep: Annotated[Side, Option("Whose id, and whose value first, a linked entity has.")] = "left",
    as_: Annotated[
        Literal["rdf", "neo4j", "graphml", "node-link", "apoc", "graphrag", "records", "cypher"]
        | None,
        Option("The form, where OUT or the inputs would say another one."),
    ] = None,
    conflicts: Annotated[
        Path | None,
        Option(
            "Where values that disagree are listed: .csv, .tsv or .parquet; else beside OUT, with "
            "the ending .conflicts.csv (of RDF, nowhere).",
            metavar="FILE",
        ),
    ] = None,
    dry_run: Annotated[bool, Option("Only count what would be written.")] = False,
) -> dict[str, Any]:
    """Write the merged graph; how much came from where."""
    import sameas
    from sameas.result.merge_target import choose_target
    from sameas.result.overwriting import refuse_inputs

    parts = [Path(part) for part in str(out).split(",") if part] or [out]
    for path in (*parts, *([] if conflicts is None else [conflicts])):
        refuse_inputs(path, [run])
    alignment = sameas.read_run(run)
    target = choose_target(out, [graph.source for graph in alignment.pair.graphs], as_)
    for path in (*target.files, target.conflicts):
        refuse_inputs(path, [run])
    merged = sameas.merge(alignment, out, keep=keep, as_=as_, conflicts=conflicts, dry_run=dry_run)
    note_not_held(out, merged.not_held)
    result: dict[str, Any] = {"form": merged.form, **merged.counts}
    if dry_run:
        counts = {**merged.counts, "values that disagree": merged.conflicts}
        told = ", ".join(
            f"{n:,} {part.replace('_', ' ')}" for part, n in counts.items() if n is not None
        )
        say(f"Nothing written; there would be: {told}.")
        return {**result, "conflicts": merged.conflicts, "dry_run": True, "output": str(out)}
    if merged.form == "rdf":
        total = sum(merged.triples.values())
        by_origin = ", ".join(f"{count:,} {part}" for part, count in merged.triples.items())
        say(f"{total:,} triples written to {out} ({by_origin}).")
        result |= {"triples": total}
        result |= {f"{part}_triples": count for part, count in merged.triples.items()}
    else:
        counts = dict(merged.counts)
        before, clusters = counts.pop("nodes_before", None), counts.pop("clusters", None)
        text = " and ".join(f"{count:,} {part}" for part, count in counts.items())
        if before is not None:
            text += f" (of {before:,}, by {clusters:,} clusters)"
        say(f"{text} written to {out}.")
    if merged.conflicts_file is not None:
        say(f"{merged.conflicts:,} values that disagree are listed in {merged.conflicts_file}.")
        result |= {"conflicts": merged.conflicts, "conflicts_file": str(merged.conflicts_file)}
    files = [str(file) for file in merged.files]
    return {**result, "output": str(out), "files": files, "not_held": merged.not_held}
