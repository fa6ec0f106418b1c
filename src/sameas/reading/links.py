"""Files of links in: gold links, and links that were found earlier; the suffix decides."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import polars as pl

from sameas.errors import InputError
from sameas.links import LINK_COLUMNS, LinkSet
from sameas.reading.tables import (
    TABLE_SUFFIXES,
    kind_of,
    numbers,
    read_table,
    require_file,
    shortened,
)

LINK_SUFFIXES = (*TABLE_SUFFIXES, ".jsonl", ".sssom.tsv", ".nt", ".ttl", ".rdf")
"""Formats that links are read from."""


def read_links(path: str | PathLike[str]) -> pl.DataFrame:
    """A table of links: left, right, score and confidence (null where the file has none)."""
    return read_link_set(Path(path)).links.select(LINK_COLUMNS)


def read_link_set(path: Path, *, predicate: str | None = None) -> LinkSet:
    """The links of a file with what it says about them.

    Of formats that hold statements of several kinds, those that say that two entities are the
    same are read: by the usual predicates, or by the one given.
    """
    kind = _known_kind(path)
    if kind == ".sssom.tsv":
        from sameas.reading.sssom import read_sssom

        return read_sssom(path, predicate=predicate)
    if kind in (".nt", ".ttl"):
        from sameas.reading.same_as import read_same_as

        return read_same_as(path, predicate=predicate)
    if kind == ".rdf":
        from sameas.reading.alignment_api import read_alignment_api

        return read_alignment_api(path)
    if kind == ".jsonl":
        from sameas.reading.json_lines import read_json_lines

        return read_json_lines(path)
    return LinkSet(links=_read_link_table(path))


def read_gold_links(path: Path, *, kind: str | None = None) -> pl.DataFrame:
    """Gold links (left, right, file, line) from a file of links; empty or repeated is refused.

    ``kind`` is that of the table, where the name of the file has no suffix to tell it.
    """
    if kind is None and _known_kind(path) in (".jsonl", ".sssom.tsv", ".nt", ".ttl", ".rdf"):
        table = read_link_set(path).links.with_row_index("line", offset=1).cast({"line": pl.Int64})
    else:
        require_file(path)
        table = read_table(path, ("left", "right"), kind=kind)
    if not len(table):
        raise InputError(path, "holds no links; two columns expected: left, right")
    return without_duplicates(table.with_columns(file=pl.lit(str(path))))


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


def _known_kind(path: Path) -> str:
    require_file(path)
    kind = kind_of(path)
    if kind not in (*LINK_SUFFIXES, ".txt", ""):
        raise InputError(
            path, f'suffix "{kind}" is not known for links; use {", ".join(LINK_SUFFIXES)}'
        )
    return kind


def _read_link_table(path: Path) -> pl.DataFrame:
    table = read_table(path, ("left", "right"), optional=("score", "confidence"))
    for column in ("score", "confidence"):
        if column not in table.columns:
            table = table.with_columns(pl.lit(None, dtype=pl.Float64).alias(column))
        table = numbers(table, column, path=path)
    return table.select(LINK_COLUMNS)
