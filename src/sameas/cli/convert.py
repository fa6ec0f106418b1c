"""``sameas convert``: between all link formats."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import click

from sameas.cli.command import FILE, command, note, say
from sameas.options.declare import Option


@command(
    """Write links in another format.

    IN is a file of links, or a run folder, whose links or clusters are written as its reviewers
    decided. The suffixes of IN and OUT decide: .tsv, .csv, .parquet, .jsonl, .sssom.tsv, .nt, .ttl
    or .rdf (Alignment API). What OUT cannot hold is said on standard error.
    """,
    examples="""
    sameas convert run links.tsv
    sameas convert run links.csv --with name,city
    sameas convert run links.sssom.tsv --meta license=https://example.org/cc0
    sameas convert links.parquet links.nt --predicate exactMatch
    sameas convert oaei.rdf links.jsonl
    """,
)
@click.argument("source", metavar="IN", type=FILE)
@click.argument("target", metavar="OUT", type=FILE)
def convert(
    source: Path,
    target: Path,
    *,
    predicate: Annotated[
        str | None,
        Option(
            "What RDF and SSSOM say of a link: sameAs, exactMatch, schema:sameAs or an IRI; else "
            "what IN says; of a run, what fits the entities.",
            metavar="NAME|IRI",
        ),
    ] = None,
    meta: Annotated[
        tuple[str, ...],
        Option(
            "Metadata of SSSOM: license, mapping_set_id, subject_source, mapping_date, ...",
            metavar="NAME=VALUE",
        ),
    ] = (),
    with_: Annotated[
        tuple[str, ...],
        Option(
            "Of a run, columns of its graphs to carry in a table, as in name,city; where the sides "
            "differ, left=city,right=town.",
            metavar="COLUMN,...",
        ),
    ] = (),
) -> dict[str, Any]:
    """Write the links in the other format; how many, and what was left out."""
    from sameas.formats.links import read_link_set
    from sameas.graph.link_set import predicate_iri
    from sameas.result.curated import curated
    from sameas.result.export import prepare
    from sameas.result.overwriting import refuse_inputs
    from sameas.result.run_folder import read_run

    statements = {name: value for name, _, value in (text.partition("=") for text in meta)}
    write_out = prepare(target, predicate=predicate, meta=statements, with_=with_)
    refuse_inputs(target, [source])
    iri = None if predicate is None else predicate_iri(predicate)
    skipped: list[str] = []
    what = ""
    if source.is_dir():
        run = read_run(source)
        decided = curated(run)
        not_held, count = write_out(run), len(decided.links)
        if (clusters := decided.clusters) is not None:
            count = len(clusters.canonical_links)
            what = f"{len(clusters):,} clusters of {len(clusters.members):,} entities"
    else:
        link_set = read_link_set(source, predicate=iri)
        not_held, count, skipped = write_out(link_set), len(link_set.links), list(link_set.skipped)
    for sentence in skipped:
        note(f"{source}: left out: {sentence}")
    note_not_held(target, not_held)
    say(f"{what or f'{count:,} links'} written to {target}.")
    return {"links": count, "output": str(target), "skipped": skipped, "not_held": not_held}


def note_not_held(path: Path, not_held: Iterable[str]) -> None:
    """Say on standard error what a file cannot hold."""
    for sentence in not_held:
        note(f"{path}: cannot hold {sentence}")
