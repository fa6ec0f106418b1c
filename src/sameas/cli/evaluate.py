"""``sameas evaluate``: how good links are."""

from __future__ import annotations

from pathlib import Path

import click

from sameas.cli.terminal import json_option, print_json, print_table, say, score, warn

EPILOG = """\b
Examples:
  sameas evaluate run zh_en
  sameas evaluate links.tsv gold.tsv --json
  sameas evaluate run gold.tsv --no-match nobody.txt
"""


@click.command(epilog=EPILOG)
@click.argument("out", type=click.Path(path_type=Path))
@click.argument("gold", type=click.Path(path_type=Path))
@click.option(
    "--no-match",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Entities known to have no counterpart, one a line; any link of them is wrong.",
)
@json_option
def evaluate(out: Path, gold: Path, no_match: Path | None, as_json: bool) -> None:
    """Compare links with gold links.

    OUT is a run folder or a file of links; GOLD is a two-column file of links or a benchmark
    folder. Gold links are taken as partial: precision is over the links that touch an entity
    which gold mentions, strict precision over all links. The calibration error says how far the
    confidence of those links is from the share of them that is right. With --no-match, unmatched
    recall is the share of those entities that have no link.
    """
    from sameas.evaluation import evaluate as judge
    from sameas.reading import read_gold, read_links
    from sameas.reading.tables import read_table
    from sameas.writing import read_run

    ranked = None
    if out.is_dir():
        run = read_run(out)
        links, ranked = run.links, run.ranked
    else:
        links = read_links(out)
    truth = read_gold(gold)
    nobody = None if no_match is None else read_table(no_match, ("entity",))["entity"]
    metrics = judge(links, truth, ranked=ranked, no_match=nobody)
    if as_json:
        print_json(metrics.asdict())
        return
    values = metrics.asdict()
    print_table(
        [
            (
                name.replace("_", " "),
                score(value) if isinstance(value, float) or value is None else f"{value:,}",
            )
            for name, value in values.items()
        ]
    )
    if ranked is None:
        say("Hits and MRR need ranked candidates: align with -o RUN (no suffix) to keep them.")
    if not metrics.links_judged:
        warn("no link touches an entity that gold mentions; do both name entities in the same way?")
