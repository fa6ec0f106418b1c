"""``sameas merge``: two graphs and their links as one graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from sameas.cli.command import FILE, SIDE, Command, flag, note, say


@click.command(cls=Command)
@click.argument("run", type=FILE)
@flag(
    "-o/--out", "OUT", "Where the graph goes: .nt, .ttl or .nq, plain, .gz or .zst.", required=True
)
@flag("--keep", SIDE, "Whose IRI a linked entity has.", default="left")
def merge(run: Path, out: Path, keep: Literal["left", "right"]) -> dict[str, Any]:
    """Write the two graphs of a run as one, in which linked entities are one.

    RUN is a run folder. A linked entity has the IRI of the left graph (or of the right one),
    and a triple (owl:sameAs, or what fits a class, a property or a SKOS concept) leads from
    there to the IRI that was replaced. RDF is written as it was read. In N-Quads (.nq) every triple
    is in its own named graph, or in one that says which graph it came from.

    Examples:
      sameas merge run -o merged.nt
      sameas merge run -o merged.nq.gz --keep right
    """
    import sameas

    merged = sameas.merge(sameas.read_run(run), out, keep=keep)
    total = sum(merged.triples.values())
    for sentence in merged.not_held:
        note(f"{out}: cannot hold {sentence}")
    parts = ", ".join(f"{count:,} {part}" for part, count in merged.triples.items())
    say(f"{total:,} triples written to {out} ({parts}).")
    counts = {f"{part}_triples": count for part, count in merged.triples.items()}
    return {"triples": total, **counts, "output": str(out), "not_held": merged.not_held}
