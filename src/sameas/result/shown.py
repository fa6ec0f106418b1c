"""Results as small HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from sameas.graph.notebook import BLUE, GREEN, RED, html_bar, html_card, html_columns, html_table
from sameas.result.examples import Examples

BINS = 20
"""Columns of the histogram of confidences, as in the review."""
ESTIMATES = {
    "precision": "precision: links that are correct",
    "recall": "recall: counterparts that were found",
    "f1": "F1",
    "missed": "counterparts that were missed",
    "left_without": "share of left entities without a counterpart",
    "right_without": "share of right entities without a counterpart",
}


def alignment_html(
    links: pl.DataFrame,
    counts: Iterable[Sequence[Any]],
    audit: Mapping[str, Any] | None,
    examples: Examples,
) -> str:
    """Counts, estimates, confidences and some links."""
    heights, edges = np.histogram(links["confidence"].drop_nulls(), bins=BINS, range=(0.0, 1.0))
    titles = [
        f"{count:,} links with confidence {low:.2f} to {low + 1 / BINS:.2f}"
        for count, low in zip(heights.tolist(), edges.tolist(), strict=False)
    ]
    lists = {"The surest": examples.surest, "The least certain": examples.doubtful}
    return html_card(
        f"Alignment: {len(links):,} links",
        html_table(counts),
        "" if audit is None else _estimates(audit),
        "Confidence of the links, 0 to 1" + html_columns(heights.tolist(), titles),
        *(
            title + html_table(some, header=("left", "right", "confidence"))
            for title, some in lists.items()
            if some
        ),
    )


def _estimates(audit: Mapping[str, Any]) -> str:
    rows = [
        (title, *(_estimate(name, audit[f"{name}{end}"]) for end in ("", "_low", "_high")))
        for name, title in ESTIMATES.items()
        if audit[name] is not None
    ]
    if audit.get("untold"):
        rows.append((f"missed: cannot be told, {audit['untold']}", "", "", ""))
    return html_table(rows, header=("estimated without labels", "", "from", "to"))


def _estimate(name: str, value: float) -> float:
    return round(value) if name == "missed" else value


def audit_html(audit: Mapping[str, Any]) -> str:
    """The estimates with their intervals, and the precision by group."""
    names = ("by", "name", "links", "precision")
    groups = [[group[name] for name in names] for group in audit["groups"]]
    return html_card(
        f"Audit of {audit['links']:,} links",
        _estimates(audit),
        html_table(groups, header=("by", "group", "links", "precision")) if groups else "",
    )


def metrics_html(scores: Mapping[str, Any], warnings: Sequence[str]) -> str:
    """The scores against gold links, and what speaks against them."""
    rows = [(name.replace("_", " "), value) for name, value in scores.items() if value is not None]
    return html_card(
        f"Metrics: {scores['links_correct']:,} of {scores['gold_links']:,} gold links found",
        html_table(rows),
        html_table([("warning", text) for text in warnings]) if warnings else "",
    )


def cluster_metrics_html(scores: Mapping[str, Any], warnings: Sequence[str]) -> str:
    """The scores against gold clusters: precision, recall and F1 of pairs, clusters, entities."""
    kinds = {
        "pairwise": "pairs of entities",
        "cluster": "clusters that are exactly those of gold",
        "bcubed": "entities (B-cubed)",
    }
    rows = [
        (title, *(scores[f"{kind}_{score}"] for score in ("precision", "recall", "f1")))
        for kind, title in kinds.items()
    ]
    return html_card(
        f"Metrics: {scores['pairs_correct']:,} of {scores['gold_pairs']:,} gold pairs found",
        html_table(rows, header=("", "precision", "recall", "F1")),
        html_table([("warning", text) for text in warnings]) if warnings else "",
    )


def explanation_html(
    title: str, about: str, steps: Sequence[Mapping[str, Any]], why: Sequence[str]
) -> str:
    """What an entity was linked with, the score step by step, and why the assignment chose so."""
    rows = []
    for step in steps:
        colour = BLUE if step["kind"] == "total" else GREEN if step["score"] >= 0 else RED
        bar = html_bar(step["start"], step["width"], colour)
        rows.append((step["title"], step["measure"], bar, step["score"]))
    return html_card(
        title,
        html_table([(about,)]) if about else "",
        html_table(rows) if rows else "",
        html_table([(text,) for text in why]) if why else "",
    )
