"""``sameas evaluate``: links against gold links."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import click

from sameas.cli.command import FILE, command, print_table, say
from sameas.options.declare import Option


@command(
    """Compare links with gold links.

    OUT is a run folder or a file of links; GOLD is a two-column file of links or a benchmark
    folder. Gold links are taken as partial: precision and F1 are over the links that touch an
    entity which gold mentions, strict precision and strict F1 over all links. With --complete,
    precision is over all links of the kinds that gold mentions; a file of links does not tell
    kinds, so there it is the strict one. The calibration error says how far the confidence of the
    judged links is from the share of them that is right. With --no-match, unmatched recall is the
    share of those entities that have no link. Gold that does not fit the graphs is pointed out.
    """,
    examples="""
    sameas evaluate run zh_en
    sameas evaluate links.tsv gold.tsv --json
    sameas evaluate run gold.tsv --no-match nobody.txt
    sameas evaluate run gold.rdf --complete
    """,
)
@click.argument("out", type=FILE)
@click.argument("gold", type=FILE)
def evaluate(
    out: Path,
    gold: Path,
    *,
    no_match: Annotated[
        Path | None,
        Option(
            "Entities known to have no counterpart, one a line; any link of them is wrong.",
            metavar="FILE",
        ),
    ] = None,
    complete: Annotated[
        bool,
        Option(
            "Gold has all links of the kinds of entities (individuals, classes, properties) that "
            "it mentions: any other link of these kinds is wrong."
        ),
    ] = False,
) -> dict[str, Any]:
    """Compare the links with gold; the scores."""
    import sameas
    from sameas.formats.tables import read_table
    from sameas.result.evaluation import without_header

    links = sameas.read_run(out) if out.is_dir() else sameas.read_links(out)
    excluded = None if no_match is None else read_table(no_match, ("entity",))["entity"]
    known = without_header(sameas.read_gold(gold), links, str(gold))
    metrics = sameas.evaluate(links, known, no_match=excluded, complete=complete)
    scores = metrics.asdict()
    print_table((name.replace("_", " "), score) for name, score in scores.items())
    if not out.is_dir():
        say("Hits and MRR need ranked candidates: align with -o RUN (no suffix) to keep them.")
    return {**scores, "warnings": metrics.warnings}
