"""``sameas convert``: links from one format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sameas.cli.command import FILE, Command, flag, note, say


@click.command(cls=Command)
@click.argument("source", metavar="IN", type=FILE)
@click.argument("target", metavar="OUT", type=FILE)
@flag(
    "--predicate",
    "NAME|IRI",
    "What RDF and SSSOM say of a link: sameAs, exactMatch, schema:sameAs or an IRI; "
    "else what IN says; of a run, what fits the left entity.",
)
@flag(
    "--meta",
    "NAME=VALUE",
    "Metadata of SSSOM: license, mapping_set_id, subject_source, mapping_date, ...",
    multiple=True,
)
def convert(
    source: Path, target: Path, predicate: str | None, meta: tuple[str, ...]
) -> dict[str, Any]:
    """Write links in another format.

    IN is a file of links, or a run folder, whose links are written as its reviewers decided. The
    suffixes of IN and OUT decide: .tsv, .csv, .parquet, .jsonl, .sssom.tsv, .nt, .ttl or .rdf
    (Alignment API). What OUT cannot hold is said on standard error.

    Examples:
      sameas convert run links.tsv
      sameas convert run links.sssom.tsv --meta license=https://example.org/cc0
      sameas convert links.parquet links.nt --predicate exactMatch
      sameas convert oaei.rdf links.jsonl
    """
    from sameas.alignment import Alignment
    from sameas.links import predicate_iri
    from sameas.reading.links import read_link_set
    from sameas.writing import prepare, read_run
    from sameas.writing.curated import curated

    statements = {name: value for name, _, value in (text.partition("=") for text in meta)}
    write_out = prepare(target, predicate=predicate, meta=statements)
    iri = None if predicate is None else predicate_iri(predicate)
    found = read_run(source) if source.is_dir() else read_link_set(source, predicate=iri)
    skipped = list(getattr(found, "skipped", ()))
    not_held = list(write_out(found))
    for sentence in skipped:
        note(f"{source}: left out: {sentence}")
    for sentence in not_held:
        note(f"{target}: cannot hold {sentence}")
    count = len(curated(found).links if isinstance(found, Alignment) else found.links)
    say(f"{count:,} links written to {target}.")
    return {"links": count, "output": str(target), "skipped": skipped, "not_held": not_held}
