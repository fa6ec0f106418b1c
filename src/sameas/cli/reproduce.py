"""``sameas reproduce``: the paper's evaluation."""

from __future__ import annotations

import time
from pathlib import Path

import click

from sameas.cli.terminal import START, counter_display, json_option, print_json, say

EPILOG = """\b
Examples:
  sameas reproduce data
  sameas reproduce data --report report --word-vectors glove.6B.300d.txt
  sameas reproduce data --only main --only srprs/de_en
"""


@click.command(epilog=EPILOG)
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    default=Path("report"),
    show_default=True,
    metavar="DIR",
    help="Where tables, plots and results.json go.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    help="Experiments or datasets to run, separated by commas or given one by one.",
)
@click.option(
    "--word-vectors",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="GloVe or word2vec text file; else the vectors of the extra sameas[glove].",
)
@json_option
def reproduce(
    data: Path, report: Path, only: tuple[str, ...], word_vectors: Path | None, as_json: bool
) -> None:
    """Repeat the paper's whole evaluation.

    Every table and figure comes beside the published figures.

    DATA holds dataset folders at any depth. What is in the report already is not run again
    unless data, settings or code have changed, so an interrupted run goes on where it stopped.
    """
    from sameas.reproduction import reproduce as run

    with counter_display(quiet=as_json) as progress:
        results = run(
            data,
            report,
            only=[name for names in only for name in names.split(",")],
            word_vectors=word_vectors,
            progress=progress,
        )
    if as_json:
        print_json({**results, "total_seconds": round(time.perf_counter() - START, 3)})
        return
    if results["word_vectors"] is None:
        say("No word vectors at hand: only char rows were run. See --word-vectors, sameas[glove].")
    say(f"{len(results['results'])} results in {report / 'results.json'}.")
    say(f"Read {report / 'report.md'}, or open {report / 'report.html'} in a browser.")
