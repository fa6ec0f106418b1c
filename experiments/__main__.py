"""``python -m experiments DATA --report DIR``: the paper's experiments, and ours."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import click

from experiments.reproduce import reproduce
from sameas.cli.command import FILE, START, command, say
from sameas.cli.main import Program
from sameas.options.declare import Option


@command(
    """Repeat the paper's whole evaluation.

    Every table and figure comes beside the published figures.

    DATA holds dataset folders at any depth, and pairs of RDF files (folders with left.*, right.*
    and gold.tsv) for the section on real RDF. What is in the report already is not run again
    unless data, settings or code have changed, so an interrupted run goes on where it stopped.
    """,
    examples="""
    python -m experiments data
    python -m experiments data --report report --word-vectors glove.6B.300d.txt
    python -m experiments data --only main --only srprs/de_en
    python -m experiments data --only real
    """,
    cls=Program,
)
@click.argument("data", type=FILE)
def main(
    data: Path,
    *,
    report: Annotated[
        Path, Option("Where tables, plots and results.json go.", metavar="DIR")
    ] = Path("report"),
    only: Annotated[
        tuple[str, ...],
        Option(
            "Experiments or datasets to run, separated by commas or given one by one.",
            metavar="NAME,...",
        ),
    ] = (),
    word_vectors: Annotated[
        Path | None,
        Option(
            "GloVe or word2vec text file; else the vectors of the extra sameas[glove].",
            metavar="FILE",
        ),
    ] = None,
) -> dict[str, Any]:
    """Run what has changed and write the report; the results."""

    def progress(done: int, total: int, what: str) -> None:
        say(f"{done}/{total} {what}", err=True)

    results = reproduce(data, report, only=only, word_vectors=word_vectors, progress=progress)
    if results["word_vectors"] is None:
        say("No word vectors at hand: only char rows were run. See --word-vectors, sameas[glove].")
    say(f"{len(results['results'])} results in {report / 'results.json'}.")
    say(f"Read {report / 'report.md'}, or open {report / 'report.html'} in a browser.")
    return {**results, "total_seconds": round(time.perf_counter() - START, 3)}


if __name__ == "__main__":
    main()
