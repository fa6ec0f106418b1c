"""``sameas evaluate``: how good links are."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sameas.cli.command import FILE, Command, Report
from sameas.cli.terminal import print_table, say, score, warn

if TYPE_CHECKING:
    from sameas.evaluation import Metrics


@click.command(cls=Command)
@click.argument("out", type=FILE)
@click.argument("gold", type=FILE)
@click.option(
    "--no-match",
    type=FILE,
    metavar="FILE",
    help="Entities known to have no counterpart, one a line; any link of them is wrong.",
)
def evaluate(out: Path, gold: Path, no_match: Path | None) -> Report:
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
    metrics = sameas.evaluate(found, sameas.read_gold(gold), no_match=excluded)
    return Report(metrics.asdict(), partial(_show, metrics, ranked=out.is_dir()))


def _show(metrics: Metrics, *, ranked: bool) -> None:
    print_table(
        [
            (name.replace("_", " "), f"{value:,}" if isinstance(value, int) else score(value))
            for name, value in metrics.asdict().items()
        ]
    )
    if not ranked:
        say("Hits and MRR need ranked candidates: align with -o RUN (no suffix) to keep them.")
    if not metrics.links_judged:
        warn("no link touches an entity that gold mentions; do both name entities in the same way?")
