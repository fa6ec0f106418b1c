"""``sameas evaluate``: links against gold links."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import click

from sameas.cli.command import FILE, command, print_table, say
from sameas.errors import InputError, OptionError
from sameas.options.declare import Option


@command(
    """Compare links with gold links.

    OUT is a run folder or a file of links; GOLD is a two-column file of links or a benchmark
    folder. Gold links are taken as partial: precision and F1 are over the links that touch an
    entity which gold mentions, strict precision and strict F1 over all links. With --complete,
    precision is over all links of the kinds that gold mentions; a file of links does not tell
    kinds, so there it is the strict one. The calibration error says how far the confidence of the
    judged links is from the share of them that is correct. With --no-match, unmatched recall is the
    share of those entities that have no link. Gold that does not fit the graphs is pointed out.

    Clusters (a run of `sameas dedupe`, or a table with the columns entity and cluster) are
    compared with a table of gold clusters (id or entity, and cluster): by pairs, by clusters that
    are exactly those of gold, and by B-cubed. Entities that are not listed stand alone.
    """,
    examples="""
    sameas evaluate run zh_en
    sameas evaluate links.tsv gold.tsv --json
    sameas evaluate run gold.tsv --no-match nobody.txt
    sameas evaluate run gold.rdf --complete
    sameas evaluate clusters.csv gold_clusters.csv
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

    if _is_of_clusters(out, gold):
        if no_match is not None or complete:
            raise OptionError("`no_match` and `complete` are for links, and these are clusters")
        return _evaluate_clusters(out, gold)
    links = sameas.read_run(out) if out.is_dir() else sameas.read_links(out)
    excluded = None if no_match is None else read_table(no_match, ("entity",))["entity"]
    known = without_header(sameas.read_gold(gold), links, str(gold))
    metrics = sameas.evaluate(links, known, no_match=excluded, complete=complete)
    scores = metrics.asdict()
    print_table((name.replace("_", " "), score) for name, score in scores.items())
    if not out.is_dir():
        say("Hits and MRR need ranked candidates: align with -o RUN (no suffix) to keep them.")
    return {**scores, "warnings": metrics.warnings}


def _is_of_clusters(out: Path, gold: Path) -> bool:
    """Whether clusters are compared; refused if only one of the two holds clusters."""
    import sameas
    from sameas.formats.cluster_tables import is_cluster_table

    found = is_cluster_table(out)
    if out.is_dir():
        found = sameas.read_run(out).diagnostics.clusters is not None
    known = is_cluster_table(gold)
    if found and not known:
        raise InputError(gold, "a table of clusters expected (columns id and cluster)")
    if known and not found:
        raise InputError(
            out, "holds links, and gold holds clusters; give a run of sameas dedupe, or its table"
        )
    return found


def _evaluate_clusters(out: Path, gold: Path) -> dict[str, Any]:
    """Compare clusters with gold; the scores."""
    import sameas
    from sameas.formats.cluster_tables import read_clusters
    from sameas.result.cluster_evaluation import evaluate_clusters

    found = sameas.read_run(out).clusters if out.is_dir() else read_clusters(out)
    assert found is not None
    metrics = evaluate_clusters(found, read_clusters(gold))
    scores = metrics.asdict()
    print_table((name.replace("_", " "), score) for name, score in scores.items())
    return {**scores, "warnings": metrics.warnings}
