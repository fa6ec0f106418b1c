"""``sameas reproduce``: the paper's evaluation."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from sameas.cli.command import FILE, START, Command, flag, say, word_vectors_flag


@click.command(cls=Command)
@click.argument("data", type=FILE)
@flag("--report", "DIR", "Where tables, plots and results.json go.", default=Path("report"))
@flag(
    "--only",
    "NAME",
    "Experiments or datasets to run, separated by commas or given one by one.",
    multiple=True,
)
@word_vectors_flag
def reproduce(
    data: Path, report: Path, only: tuple[str, ...], word_vectors: Path | None
) -> dict[str, Any]:
    """Repeat the paper's whole evaluation.

    Every table and figure comes beside the published figures.

    DATA holds dataset folders at any depth, and pairs of RDF files (folders with left.*, right.*
    and gold.tsv) for the section on real RDF. What is in the report already is not run again
    unless data, settings or code have changed, so an interrupted run goes on where it stopped.

    Examples:
      sameas reproduce data
      sameas reproduce data --report report --word-vectors glove.6B.300d.txt
      sameas reproduce data --only main --only srprs/de_en
      sameas reproduce data --only real
    """
    from sameas.reproduction import reproduce as run

    names = [name for text in only for name in text.split(",")]

    def progress(done: int, total: int, what: str) -> None:
        say(f"{done}/{total} {what}", err=True)

    results = run(data, report, only=names, word_vectors=word_vectors, progress=progress)
    if results["word_vectors"] is None:
        say("No word vectors at hand: only char rows were run. See --word-vectors, sameas[glove].")
    say(f"{len(results['results'])} results in {report / 'results.json'}.")
    say(f"Read {report / 'report.md'}, or open {report / 'report.html'} in a browser.")
    return {**results, "total_seconds": round(time.perf_counter() - START, 3)}
