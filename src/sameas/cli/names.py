"""``sameas names``: the names of entities, to be translated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sameas.cli.command import SIDE, Command, flag, flags, given, say
from sameas.errors import OptionError
from sameas.rdf.rules import Reading


@click.command(cls=Command)
@click.argument("inputs", nargs=-1, required=True, metavar="LEFT RIGHT | PAIR")
@flag("-o/--out", "OUT", "Where the names go: .tsv, .csv or .parquet.", required=True)
@flag("--side", SIDE, "Names of one graph only; of both by default.")
@flag("--names", "FILE|uri", "Names of entities: a file, or from the URIs.")
@flags(Reading)
def names(
    inputs: tuple[str, ...], out: Path, side: str | None, names: str | None, **chosen: Any
) -> dict[str, Any]:
    """Write the names of entities, for example to have them translated.

    The file has two columns, entity and name. Translate the second one, and give the file to
    sameas align with --names.

    Examples:
      sameas names zh_en --names uri --side left -o names.tsv
      sameas names left.nt.gz right.ttl -o names.csv
    """
    from sameas.languages import detect
    from sameas.reading import read_pair
    from sameas.writing import write_names

    if len(inputs) > 2:
        raise OptionError(f"one PAIR or LEFT and RIGHT expected, got {len(inputs)} paths instead")
    pair = read_pair(*inputs, names=names, reading=Reading(**given(Reading, chosen)))
    sides = (side,) if side else ("left", "right")
    written = write_names(pair, out, sides=sides)
    found = {one: detect(getattr(pair, one).names) for one in sides}
    languages = ", ".join(f"{one}: {its.script} ({its.language})" for one, its in found.items())
    say(f"{len(written):,} names written to {out} ({languages}).")
    codes = {one: its.language for one, its in found.items()}
    return {"names": len(written), "languages": codes, "output": str(out)}
