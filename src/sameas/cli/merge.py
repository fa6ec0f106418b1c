"""``sameas merge``: two graphs and their links as one graph."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from sameas.cli.terminal import json_option, print_json, say, warn

EPILOG = """\b
Examples:
  sameas merge run -o merged.nt
  sameas merge run -o merged.nq.gz --keep right
"""


@click.command(epilog=EPILOG)
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Where the graph goes: .nt, .ttl or .nq, plain, .gz or .zst.",
)
@click.option(
    "--keep",
    type=click.Choice(["left", "right"]),
    default="left",
    show_default=True,
    help="Whose IRI a linked entity has.",
)
@json_option
def merge(run: Path, out: Path, keep: Literal["left", "right"], as_json: bool) -> None:
    """Write the two graphs of a run as one, in which linked entities are one.

    RUN is a run folder. A linked entity has the IRI of the left graph (or of the right one),
    and an owl:sameAs triple leads from there to the IRI that was replaced. In N-Quads (.nq)
    every triple says which graph it came from.
    """
    from sameas.writing import read_run, write_merged
    from sameas.writing.merged import check_merge_target

    check_merge_target(out)
    found = read_run(run)
    merged = write_merged(found.pair(), found.links, out, keep=keep)
    for sentence in merged.not_held:
        warn(f"{out}: cannot hold {sentence}")
    total = sum(merged.triples.values())
    if as_json:
        report = {"triples": total, **{f"{k}_triples": n for k, n in merged.triples.items()}}
        print_json({**report, "output": str(out), "not_held": list(merged.not_held)})
        return
    parts = ", ".join(f"{count:,} {part}" for part, count in merged.triples.items())
    say(f"{total:,} triples written to {out} ({parts}).")
