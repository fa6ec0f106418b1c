"""``sameas merge``: two graphs and their links as one graph."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from sameas.cli.command import FILE, Command, Report, out_option
from sameas.cli.terminal import say


@click.command(cls=Command)
@click.argument("run", type=FILE)
@out_option("Where the graph goes: .nt, .ttl or .nq, plain, .gz or .zst.")
@click.option(
    "--keep",
    type=click.Choice(["left", "right"]),
    default="left",
    show_default=True,
    help="Whose IRI a linked entity has.",
)
def merge(run: Path, out: Path, keep: Literal["left", "right"]) -> Report:
    """Write the two graphs of a run as one, in which linked entities are one.

    RUN is a run folder. A linked entity has the IRI of the left graph (or of the right one),
    and an owl:sameAs triple leads from there to the IRI that was replaced. In N-Quads (.nq)
    every triple says which graph it came from.

    Examples:
      sameas merge run -o merged.nt
      sameas merge run -o merged.nq.gz --keep right
    """
    import sameas

    merged = sameas.merge(sameas.read_run(run), out, keep=keep)
    total = sum(merged.triples.values())
    parts = ", ".join(f"{count:,} {part}" for part, count in merged.triples.items())
    return Report(
        {
            "triples": total,
            **{f"{part}_triples": count for part, count in merged.triples.items()},
            "output": str(out),
            "not_held": list(merged.not_held),
        },
        lambda: say(f"{total:,} triples written to {out} ({parts})."),
        [f"{out}: cannot hold {sentence}" for sentence in merged.not_held],
    )
