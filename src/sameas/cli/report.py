"""``sameas report``: one page to mail."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from sameas.cli.command import command, run_argument, say
from sameas.options.declare import Option


@command(
    """Write a run as one HTML file that needs nothing else, to be mailed.

    It holds counts, confidences, relation matches, how the run was made, and the least certain
    links with how their scores come about. Of a run with clusters, it holds their sizes, and the
    least certain clusters with their members side by side and the links between them drawn.
    """,
    examples="""
    sameas report run -o report.html
    sameas report run -o report.html --links 100
    """,
)
@run_argument
def report(
    run: Path,
    *,
    out: Annotated[Path, Option("The file to write: .html.", metavar="OUT")],
    links: Annotated[
        int,
        Option(
            "How many of the least certain links or clusters are in it.",
            metavar="N",
            least=0,
            most=1000,
        ),
    ] = 25,
) -> dict[str, Any]:
    """Write the report; the file and how many links are in it."""
    from sameas.result.overwriting import refuse_inputs
    from sameas.web.review.report import write_report

    refuse_inputs(out, [run])
    shown = write_report(run, out, count=links)
    say(f"Written to {out}, with the {shown} least certain.")
    return {"output": str(out), "links": shown}
