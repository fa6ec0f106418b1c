"""``sameas report``: a run as one page to mail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sameas.cli.command import FILE, Command, flag, say


@click.command(cls=Command)
@click.argument("run", type=FILE)
@flag("-o/--out", "OUT", "The file to write: .html.", required=True)
@flag(
    "--links",
    "N",
    "How many of the least certain links are in it.",
    type=click.IntRange(0, 1000),
    default=25,
)
def report(run: Path, out: Path, links: int) -> dict[str, Any]:
    """Write a run as one HTML file that needs nothing else, to be mailed.

    It holds counts, confidences, relation matches, how the run was made, and the least certain
    links with how their scores come about.

    Examples:
      sameas report run -o report.html
      sameas report run -o report.html --links 100
    """
    from sameas.review.report import write_report

    shown = write_report(run, out, count=links)
    say(f"Written to {out}, with {shown} links.")
    return {"output": str(out), "links": shown}
