"""``sameas evaluate``: how good links are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sameas.cli.command import FILE, Command, flag, note, print_table, say


@click.command(cls=Command)
@click.argument("out", type=FILE)
@click.argument("gold", type=FILE)
@flag(
    "--no-match",
    "FILE",
    "Entities known to have no counterpart, one a line; any link of them is wrong.",
)
def evaluate(out: Path, gold: Path, no_match: Path | None) -> dict[str, Any]:
    """Compare links with gold links.

    OUT is a run folder or a file of links; GOLD is a two-column file of links or a benchmark
    folder. Gold links are taken as partial: precision is over the links that touch an entity
    which gold mentions, strict precision over all links. The calibration error says how far the
    confidence of those links is from the share of them that is right. With --no-match, unmatched
    recall is the share of those entities that have no link.

    Examples:
      sameas evaluate run zh_en
      sameas evaluate links.tsv gold.tsv --json
      sameas evaluate run gold.tsv --no-match nobody.txt
    """
    import sameas
    from sameas.reading.tables import read_table

    found = sameas.read_run(out) if out.is_dir() else sameas.read_links(out)
    excluded = None if no_match is None else read_table(no_match, ("entity",))["entity"]
    scores = sameas.evaluate(found, sameas.read_gold(gold), no_match=excluded).asdict()
    print_table((name.replace("_", " "), score) for name, score in scores.items())
    if not out.is_dir():
        say("Hits and MRR need ranked candidates: align with -o RUN (no suffix) to keep them.")
    if not scores["links_judged"]:
        message = (
            "no link touches an entity that gold mentions; do both name entities in the same way?"
        )
        note(message, always=False)
    return scores
