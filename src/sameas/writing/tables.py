"""Links as tables: left, right, score, confidence."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from sameas.errors import OutputError
from sameas.links import LINK_COLUMNS, LinkSet


def write_tsv(links: LinkSet, path: Path) -> None:
    """Write a tab-separated table without quotes; a tab or line break in an id is an error."""
    for column in ("left", "right"):
        wrong = links.links[column].filter(links.links[column].str.contains(r"[\t\r\n]"))
        if len(wrong):
            raise OutputError(
                f"{path.name}: the entity {wrong[0]!r} has a tab or line break in it, which .tsv "
                "cannot hold; write .parquet or .csv"
            )
    links.links.select(LINK_COLUMNS).write_csv(path, separator="\t", quote_style="never")


def write_csv(links: LinkSet, path: Path) -> None:
    """Write a comma-separated table, with quotes where they are needed."""
    links.links.select(LINK_COLUMNS).write_csv(path)


def write_parquet(links: LinkSet, path: Path) -> None:
    """Write a Parquet file."""
    links.links.select(LINK_COLUMNS).write_parquet(path)


def write_json_lines(links: LinkSet, path: Path) -> None:
    """Write one JSON object a line; numbers that are not finite become null."""
    numbers = pl.col("score", "confidence")
    finite = pl.when(numbers.is_finite()).then(numbers)
    links.links.select(LINK_COLUMNS).with_columns(finite).write_ndjson(path)
