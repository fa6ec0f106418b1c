"""Tables as they stand in files: all columns as text, before it is known what they hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import polars as pl

from sameas.formats.files import kind_of, read_bytes
from sameas.formats.table_kind import TRIPLE, TableKind, kind_of_header
from sameas.formats.tables import (
    LINE,
    POLARS_ERRORS,
    errors_of,
    read_parquet,
    read_table,
    refuse_odd_rows,
    rows_of_text,
    text_rows,
    unreadable,
)
from sameas.graph.tables import wanted_columns

HEADER_BYTES = 2**16
"""Where a header is looked for first; a longer one is found, too."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RawTable:
    """A table of a file and what it holds."""

    path: Path
    header: tuple[str, ...]
    """The first row of a text; the names of the columns of other formats."""
    kind: TableKind | None = None
    content: bytes = b""
    """The file, if it is text."""
    frame: pl.DataFrame | None = None
    """The table with the types that its file has, if that is not text."""

    @property
    def separator(self) -> str:
        """What stands between the cells of text."""
        if kind_of(self.path) != ".csv":
            return "\t"
        start = self.content[: self.content.find(b"\n")]
        return ";" if b";" in start and b"," not in start else ","

    @cached_property
    def rows(self) -> pl.DataFrame:
        """What stands below the header, columns by its names; null: empty.

        Text is as it stands in the file; the columns of a Parquet file have their types.
        """
        if self.frame is not None:
            return self.frame
        rows = self._below_header.drop("line")
        return rows.rename(dict(zip(rows.columns, self.header, strict=True)))

    @property
    def cells(self) -> pl.DataFrame:
        """What stands below the header, columns by number, from "0": names may stand twice."""
        rows = self._below_header.drop("line") if self.frame is None else self.frame
        return rows.rename({name: str(number) for number, name in enumerate(rows.columns)})

    @cached_property
    def lines(self) -> pl.Series:
        """The line of each row, or its number where a file has no lines."""
        if self.frame is not None:
            return self.frame.select(line=LINE).to_series()
        return self._below_header["line"]

    @cached_property
    def _below_header(self) -> pl.DataFrame:
        try:
            rows = text_rows(self.content, self.separator).slice(1)
        except POLARS_ERRORS as error:
            refuse_odd_rows(self.path, self.content, self.separator)
            raise unreadable(self.path, error) from None
        if rows[:, -2].null_count():  # a row may be too short
            refuse_odd_rows(self.path, self.content, self.separator)
        return rows

    def triples(self) -> pl.DataFrame:
        """The table as one of head, relation and tail, with errors that name the line."""
        if self.frame is not None:
            with errors_of(self.path):
                return wanted_columns(self.frame, TRIPLE).with_columns(line=LINE)
        return read_table(self.path, TRIPLE, content=self.content)


def read_raw(path: Path) -> RawTable:
    """The table of a file; what it holds is what its header says."""
    if kind_of(path) == ".parquet":
        frame = read_parquet(path)
        header = tuple(frame.columns)
        return RawTable(path=path, header=header, kind=kind_of_header(header), frame=frame)
    content = read_bytes(path)
    table = RawTable(path=path, header=(), content=content)
    end = content.rfind(b"\n", 0, HEADER_BYTES) + 1 if len(content) > HEADER_BYTES else 0
    _, row = next(rows_of_text(path, content[: end or None], table.separator), (0, []))
    return replace(table, header=tuple(row), kind=kind_of_header(row))
