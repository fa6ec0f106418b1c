"""``sameas merge``: linked graphs as one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from sameas.cli.command import command, run_argument, say
from sameas.cli.convert import note_not_held
from sameas.options.declare import Option
from sameas.options.options import Side


@command(
    """Write the two graphs of a run as one, in which linked entities are one.

    RUN is a run folder. A linked entity has the IRI of the left graph (or of the right one),
    and a triple (owl:sameAs, or what fits a class, a property or a SKOS concept) leads from
    there to the IRI that was replaced. RDF is written as it was read. In N-Quads (.nq) every triple
    is in its own named graph, or in one that says which graph it came from.
    """,
    examples="""
    sameas merge run -o merged.nt
    sameas merge run -o merged.nq.gz --keep right
    """,
)
@run_argument
def merge(
    run: Path,
    *,
    out: Annotated[
        Path, Option("Where the graph goes: .nt, .ttl or .nq, plain, .gz or .zst.", metavar="OUT")
    ],
    keep: Annotated[Side, Option("Whose IRI a linked entity has.")] = "left",
) -> dict[str, Any]:
    """Write the merged graph; how many triples came from where."""
    import sameas
    from sameas.result.overwriting import refuse_inputs

    refuse_inputs(out, [run])
    merged = sameas.merge(sameas.read_run(run), out, keep=keep)
    total = sum(merged.triples.values())
    note_not_held(out, merged.not_held)
    parts = ", ".join(f"{count:,} {part}" for part, count in merged.triples.items())
    say(f"{total:,} triples written to {out} ({parts}).")
    counts = {f"{part}_triples": count for part, count in merged.triples.items()}
    return {"triples": total, **counts, "output": str(out), "not_held": merged.not_held}
