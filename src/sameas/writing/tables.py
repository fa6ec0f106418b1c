"""Links as tables: left, right, score, confidence."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from sameas.errors import OutputError
from sameas.links import LINK_COLUMNS, SAME_AS, LinkSet


def write_tsv(links: LinkSet, path: Path) -> list[str]:
    """Write a table with tabs between the fields, which have no quotes and so no tabs in them."""
    for column in ("left", "right"):
        wrong = links.links[column].filter(links.links[column].str.contains(r"[\t\r\n]"))
        if len(wrong):
            raise OutputError(
                f"{path.name}: the entity {wrong[0]!r} has a tab or line break in it, which .tsv "
                "cannot hold; write .parquet or .csv"
            )
    links.links.select(LINK_COLUMNS).write_csv(path, separator="\t", quote_style="never")
    return beyond_links(links)


def write_csv(links: LinkSet, path: Path) -> list[str]:
    """Write a table with commas between the fields, and quotes where they are needed."""
    links.links.select(LINK_COLUMNS).write_csv(path)
    return beyond_links(links)


def write_parquet(links: LinkSet, path: Path) -> list[str]:
    """Write a Parquet file."""
    links.links.select(LINK_COLUMNS).write_parquet(path)
    return beyond_links(links)


def write_json_lines(links: LinkSet, path: Path) -> list[str]:
    """Write one JSON object a line; JSON has no numbers but finite ones."""
    table = links.links.select(LINK_COLUMNS)
    values = pl.col("score", "confidence")
    infinite = table.select(values.is_infinite() | values.is_nan()).sum().fold(lambda a, b: a + b)
    table.with_columns(pl.when(values.is_finite()).then(values)).write_ndjson(path)
    lost = [f"{infinite[0]} numbers that are not finite"] if infinite[0] else []
    return [*beyond_links(links), *lost]


def beyond_links(links: LinkSet, *, predicate: bool = True) -> list[str]:
    """What is known about these links that a pair with its two numbers does not say."""
    lost = []
    others = int((links.predicates != SAME_AS).sum())
    if predicate and others:
        lost.append(f"the predicate of {others} links, which is not owl:sameAs")
    if links.further:
        lost.append(f"columns {', '.join(links.further)}")
    if links.metadata:
        lost.append(f"metadata {', '.join(links.metadata)}")
    return lost
