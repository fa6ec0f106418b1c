"""Files of links in: gold links, and links that were found earlier."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import polars as pl

from sameas.errors import InputError
from sameas.reading.tables import (
    TABLE_SUFFIXES,
    kind_of,
    numbers,
    read_table,
    require_file,
    shortened,
)


def read_links(path: str | PathLike[str]) -> pl.DataFrame:
    """A table of links: left, right, score and confidence (null where the file has none)."""
    path = Path(path)
    table = read_links_file(path)
    for column in ("score", "confidence"):
        if column not in table.columns:
            table = table.with_columns(pl.lit(None, dtype=pl.Float64).alias(column))
        table = numbers(table, column, path=path)
    return table.select("left", "right", "score", "confidence")


def read_gold_links(path: Path, *, kind: str | None = None) -> pl.DataFrame:
    """Gold links (left, right, file, line) from a two-column file; empty or repeated is refused."""
    table = read_links_file(path, kind=kind)
    if not len(table):
        raise InputError(path, "holds no links; two columns expected: left, right")
    return without_duplicates(table.with_columns(file=pl.lit(str(path))))


def read_links_file(path: Path, *, kind: str | None = None) -> pl.DataFrame:
    """The columns of a file of links, with the line of each."""
    require_file(path)
    found = kind or kind_of(path)
    if found not in (*TABLE_SUFFIXES, ".txt", ""):
        raise InputError(
            path, f'suffix "{found}" is not known for links; use {", ".join(TABLE_SUFFIXES)}'
        )
    return read_table(path, ("left", "right"), optional=("score", "confidence"), kind=kind)


def without_duplicates(table: pl.DataFrame) -> pl.DataFrame:
    """The table (left, right, file, line); an InputError if a pair stands twice."""
    repeated = table.filter(~pl.struct("left", "right").is_first_distinct())
    if len(repeated):
        row = repeated.row(0, named=True)
        raise InputError(
            row["file"],
            f'the link "{shortened(row["left"])}" to "{shortened(row["right"])}" was given before '
            f"({len(repeated)} duplicates in all); leave each link in once",
            line=row["line"],
        )
    return table.select("left", "right", "file", "line")
