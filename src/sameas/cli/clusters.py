"""What the terminal says of clusters, of one graph or of several."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sameas.cli.command import print_table
from sameas.formats.files import address_of

if TYPE_CHECKING:
    from sameas.result.alignment import Alignment

SHOWN = 5
"""Clusters in each table of the summary; all are in the output."""
TEXT = 40
"""Letters of a name in these tables."""


def cluster_lines(alignment: Alignment, largest: int) -> Iterator[tuple[str, str]]:
    """How many clusters there are, and how sure they are."""
    from sameas.result.cluster_audit import audit_clusters

    assert alignment.clusters is not None
    audit = audit_clusters(alignment.clusters)
    size = f", {largest:,} in the largest" if largest else ""
    yield "clusters", f"{audit.clusters:,}, with {audit.entities:,} entities{size}"
    if audit.clusters:
        yield "less sure", f"{audit.doubtful_clusters:,} clusters with confidence below 0.9"


def since_lines(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """How many clusters and entities are new, kept, changed and gone since an earlier run."""
    if since := values.get("since"):
        for things in ("clusters", "entities"):
            texts = (f"{count:,} {change}" for change, count in since[things].items())
            yield f"{things} since then", ", ".join(texts)
        if lost := since.get("lost_decisions"):
            yield "decisions", f"{lost:,} about entities that are gone were left out"


def show_cluster_changes(values: Mapping[str, Any]) -> None:
    """Print what became of the clusters of an earlier run, and why, if there was one."""
    from sameas.result.cluster_changes import CLUSTER_REASONS

    if since := values.get("since"):
        rows = (
            (row["change"], CLUSTER_REASONS[row["reason"]], row["clusters"])
            for row in since["reasons"]
        )
        print_table(rows, header=("clusters", "why", "count"))


def show_clusters(alignment: Alignment) -> None:
    """Print some of the surest clusters, and some of the least certain ones."""
    clusters = alignment.clusters
    assert clusters is not None
    order = clusters.summary.sort("confidence", "cluster", descending=[True, False])
    parts = {"the surest clusters": order.head(SHOWN)}
    if len(order) > SHOWN:
        rest = order.tail(min(SHOWN, len(order) - SHOWN))
        parts["the least certain clusters"] = rest.reverse()
    for title, rows in parts.items():
        header = (title, "members", "confidence", "weakest link")
        print_table(_rows(alignment, rows), header=header)


def _rows(alignment: Alignment, chosen: Any) -> Iterator[tuple[Any, ...]]:
    """Clusters for people: entities by name."""
    graph = alignment.pair.left
    names = dict(zip(graph.entities, graph.names, strict=True)) if len(chosen) else {}
    if alignment.diagnostics.graphs is not None:  # ids of their own graphs
        origins = alignment.origins
        names |= {own: names.get(id, "") for id, own, _ in origins.iter_rows()}

    def called(entity: str | None) -> str:
        text = names.get(entity or "") or entity or ""
        return text if len(text) <= TEXT else f"{text[: TEXT - 1]}…"

    for row in chosen.iter_rows(named=True):
        weakest = f"{called(row['weakest_left'])} = {called(row['weakest_right'])}"
        yield called(row["canonical"]), row["size"], row["confidence"], weakest


def next_steps(out: Path) -> Iterator[str]:
    """What can be done with clusters, as commands."""
    if out.suffix or address_of(out):
        yield "look at clusters, decide, see why: -o FOLDER keeps all that review and explain need"
        return
    run = shlex.quote(str(out))
    yield f"look at the clusters and decide: sameas review {run}"
    yield f"why an entity is in its cluster: sameas explain {run} NAME"
    yield f"one graph without duplicates: sameas merge {run} -o MERGED"
