"""``sameas names``: the names to translate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from sameas.cli.command import command, pair_argument, say
from sameas.graph.rdf.reading import Reading
from sameas.options.declare import Option
from sameas.options.options import Side


@command(
    """Write the names of entities, for example to have them translated.

    The file has two columns, entity and name. Translate the second one, and give the file to
    sameas align with --names.
    """,
    examples="""
    sameas names zh_en --names uri --side left -o names.tsv
    sameas names left.nt.gz right.ttl -o names.csv
    """,
)
@pair_argument
def names(
    inputs: tuple[str, ...],
    *,
    out: Annotated[Path, Option("Where the names go: .tsv, .csv or .parquet.", metavar="OUT")],
    side: Annotated[Side | None, Option("Names of one graph only; of both by default.")] = None,
    names: Annotated[
        str | None, Option("Names of entities: a file, or from the URIs.", metavar="FILE|uri")
    ] = None,
    reading: Reading,
) -> dict[str, Any]:
    """Write the names; how many there are, and their languages."""
    from sameas.formats.pair import read_pair
    from sameas.result.name_export import check_names_file, write_names
    from sameas.result.overwriting import refuse_inputs
    from sameas.text.languages.detection import detect

    check_names_file(out)
    refuse_inputs(out, (*inputs, *reading.query, names))
    pair = read_pair(*inputs, names=names, reading=reading)
    sides = (side,) if side else ("left", "right")
    written = write_names(pair, out, sides=sides)
    detected = {one: detect(getattr(pair, one).names) for one in sides}
    languages = ", ".join(f"{one}: {its.script} ({its.language})" for one, its in detected.items())
    say(f"{len(written):,} names written to {out} ({languages}).")
    codes = {one: its.language for one, its in detected.items()}
    return {"names": len(written), "languages": codes, "output": str(out)}
