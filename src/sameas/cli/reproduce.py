"""``sameas reproduce``: the paper's evaluation."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

import click

from sameas.cli.command import FILE, Command, Report
from sameas.cli.terminal import START, say, show_task


@click.command(cls=Command)
@click.argument("data", type=FILE)
@click.option(
    "--report",
    type=FILE,
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
    type=FILE,
    metavar="FILE",
    help="GloVe or word2vec text file; else the vectors of the extra sameas[glove].",
)
def reproduce(data: Path, report: Path, only: tuple[str, ...], word_vectors: Path | None) -> Report:
    """Repeat the paper's whole evaluation.

    Every table and figure comes beside the published figures.

    DATA holds dataset folders at any depth. What is in the report already is not run again
    unless data, settings or code have changed, so an interrupted run goes on where it stopped.

    Examples:
      sameas reproduce data
      sameas reproduce data --report report --word-vectors glove.6B.300d.txt
      sameas reproduce data --only main --only srprs/de_en
    """
    from sameas.reproduction import reproduce as run

    names = [name for text in only for name in text.split(",")]
    results = run(data, report, only=names, word_vectors=word_vectors, progress=show_task)
    values = {**results, "total_seconds": round(time.perf_counter() - START, 3)}
    return Report(values, partial(_show, results, report))


def _show(results: dict[str, Any], report: Path) -> None:
    if results["word_vectors"] is None:
        say("No word vectors at hand: only char rows were run. See --word-vectors, sameas[glove].")
    say(f"{len(results['results'])} results in {report / 'results.json'}.")
    say(f"Read {report / 'report.md'}, or open {report / 'report.html'} in a browser.")
