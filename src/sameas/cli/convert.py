"""``sameas convert``: links from one format to another."""

from __future__ import annotations

from pathlib import Path

import click

from sameas.cli.terminal import json_option, print_json, say, warn
from sameas.errors import OptionError

EPILOG = """\b
Examples:
  sameas convert run links.tsv
  sameas convert run links.sssom.tsv --meta license=https://example.org/cc0
  sameas convert links.parquet links.nt --predicate exactMatch
  sameas convert oaei.rdf links.jsonl
"""


@click.command(epilog=EPILOG)
@click.argument("source", metavar="IN", type=click.Path(path_type=Path))
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@click.option(
    "--predicate",
    metavar="NAME|IRI",
    help="What RDF and SSSOM say of a link: sameAs, exactMatch, schema:sameAs or an IRI; "
    "else what IN says.",
)
@click.option(
    "--meta",
    multiple=True,
    metavar="NAME=VALUE",
    help="Metadata of SSSOM: license, mapping_set_id, subject_source, mapping_date, ...",
)
@json_option
def convert(
    source: Path, target: Path, predicate: str | None, meta: tuple[str, ...], as_json: bool
) -> None:
    """Write links in another format.

    IN is a file of links or a run folder. The suffixes of IN and OUT decide: .tsv, .csv,
    .parquet, .jsonl, .sssom.tsv, .nt, .ttl or .rdf (Alignment API). What OUT cannot hold is
    said on standard error.
    """
    from dataclasses import replace

    from sameas.files import kind_of
    from sameas.links import LinkSet, predicate_iri, saying
    from sameas.reading.links import read_link_set
    from sameas.writing import check_target, read_run, write_link_set
    from sameas.writing.sssom import settings

    if not target.suffix:
        raise OptionError(f"OUT must have a suffix such as .tsv, got {str(target)!r} instead")
    says = None if predicate is None else predicate_iri(predicate)
    given = settings(meta)
    check_target(target)
    if source.is_dir():
        run = read_run(source)
        described = kind_of(target) == ".sssom.tsv"
        links = run.link_set() if described else LinkSet(links=run.links)
    else:
        links = read_link_set(source, predicate=says)
    links = links if says is None else saying(links, says)
    lost = write_link_set(replace(links, metadata={**links.metadata, **given}), target)
    for found in links.skipped:
        warn(f"{source}: left out: {found}")
    for sentence in lost:
        warn(f"{target}: cannot hold {sentence}")
    count = len(links.links)
    if as_json:
        report = {"links": count, "output": str(target)}
        print_json({**report, "skipped": list(links.skipped), "not_held": list(lost)})
    else:
        say(f"{count:,} links written to {target}.")
