"""``sameas convert``: links from one format to another."""

from __future__ import annotations

from pathlib import Path

import click

from sameas.cli.terminal import json_option, print_json, say
from sameas.errors import OptionError

EPILOG = """\b
Examples:
  sameas convert run links.tsv
  sameas convert links.parquet links.csv
"""


@click.command(epilog=EPILOG)
@click.argument("source", metavar="IN", type=click.Path(path_type=Path))
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@json_option
def convert(source: Path, target: Path, as_json: bool) -> None:
    """Write links in another format: .tsv, .csv or .parquet.

    IN is a file of links or a run folder.
    """
    from sameas.reading import read_links
    from sameas.writing import check_target, read_run, write_links

    if not target.suffix:
        raise OptionError(f"OUT must have a suffix such as .tsv, got {str(target)!r} instead")
    check_target(target)
    links = read_run(source).links if source.is_dir() else read_links(source)
    write_links(links, target)
    if as_json:
        print_json({"links": len(links), "output": str(target)})
    else:
        say(f"{len(links):,} links written to {target}.")
