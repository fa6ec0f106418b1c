"""``sameas report``: one page to mail."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from sameas.cli.command import command, run_argument, say

Links = Annotated[int, "from 0 to 1000"]


@command()
@run_argument
def report(run: Path, *, out: Path, links: Links = 25) -> dict[str, Any]:
    """Write a run as one HTML file that needs nothing else, to be mailed.

    It holds counts, confidences, relation matches, how the run was made, and the least certain
    links with how their scores come about.

    Options:
      out OUT: The file to write: .html.
      links N: How many of the least certain links are in it.

    Examples:
      sameas report run -o report.html
      sameas report run -o report.html --links 100
    """
    from sameas.web.review.report import write_report

    shown = write_report(run, out, count=links)
    say(f"Written to {out}, with {shown} links.")
    return {"output": str(out), "links": shown}
