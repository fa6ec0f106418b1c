"""Tables as they stand in files: all columns as text, before it is known what they hold."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import polars as pl

from sameas.errors import InputError, first_line, refusing, shortened
from sameas.formats.files import kind_of, max_bytes, read_bytes, read_text, too_large
from sameas.formats.table_kind import TRIPLE, TableKind, kind_of_header
from sameas.formats.tables import (
    LINE,
    POLARS_ERRORS,
    errors_of,
    open_quote,
    read_parquet,
    read_table,
    refuse_odd_rows,
    rows_of_text,
    text_rows,
    unreadable,
)
from sameas.graph.given_tables import TableError, refuse_repeated, wanted_columns
from sameas.graph.record_values import rows_of_objects

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
        with errors_of(self.path, header=1):
            refuse_repeated(self.header, self.header)
        rows = self._below_header.drop("line")
        if len(rows.columns) != len(self.header):
            counts = f"found {len(rows.columns)} cells below {len(self.header)} names of columns"
            raise InputError(self.path, f"{counts}; every row needs as many cells as the first")
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

    def refusal(self, error: TableError) -> InputError:
        """The error about the table that names the line, or the row where it has no lines."""
        if self.frame is not None:
            return InputError(self.path, error.message, row=error.row)
        rows = rows_of_text(self.path, self.content, self.separator)
        line, _ = next(islice(rows, error.row or 0, None), (None, []))
        return InputError(self.path, error.message, line=line)

    @cached_property
    def _below_header(self) -> pl.DataFrame:
        try:
            rows = text_rows(self.content, self.separator).slice(1)
        except POLARS_ERRORS as error:
            refuse_odd_rows(self.path, self.content, self.separator)
            if line := open_quote(self.content):
                problem = "a quote is opened and never closed; close it, or write it twice"
                raise InputError(self.path, problem, line=line) from None
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
    if reader := READERS.get(kind_of(path)):
        frame = reader(path)
        header = tuple(frame.columns)
        return RawTable(path=path, header=header, kind=kind_of_header(header), frame=frame)
    content = read_bytes(path)
    table = RawTable(path=path, header=(), content=content)
    end = content.rfind(b"\n", 0, HEADER_BYTES) + 1 if len(content) > HEADER_BYTES else 0
    _, row = next(rows_of_text(path, content[: end or None], table.separator), (0, []))
    header = tuple(cell.strip() or f"column {number}" for number, cell in enumerate(row, start=1))
    _refuse_other_text(path, header, content)
    return replace(table, header=header, kind=kind_of_header(header))


def _refuse_other_text(path: Path, header: tuple[str, ...], content: bytes) -> None:
    """Refuse what is no table, or separated by something else than its suffix says."""
    first = header[0] if header else ""
    if re.match("<(!doctype html|html)", first, re.IGNORECASE):
        raise InputError(path, "is a web page (HTML), no table; download the file itself", line=1)
    lines = content.lstrip(b"\r\n").split(b"\n", 2)[:2]
    for separator, (name, remedy) in OTHER_SEPARATORS.items():
        if len(header) == 1 and lines[0].count(separator) == lines[-1].count(separator) > 0:
            problem = f'has one column, "{shortened(first)}"; is it separated by {name}? {remedy}'
            raise InputError(path, problem, line=1)


OTHER_SEPARATORS = {
    b"\t": ("tabs", "Then call it .tsv"),
    b";": ("semicolons", "Then call it .csv"),
    b",": ("commas", "Then call it .csv"),
    b"|": ("vertical bars", "Then write commas, or tabs and call it .tsv"),
}
"""What people also put between cells, and what to do then."""


def _read_json(path: Path) -> pl.DataFrame:
    """The records of a list of JSON objects, or of one object a line, as text."""
    text = read_text(path)
    if text.lstrip().startswith("["):
        with refusing(path, "not readable as JSON", "mend it"):
            objects = json.loads(text)
        lines = None
    else:
        numbered = [(n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip()]
        objects = [_object(path, number, line) for number, line in numbered]
        lines = pl.Series([number for number, _ in numbered], dtype=pl.Int64)
    with errors_of(path, lines):
        return rows_of_objects(objects)


def _object(path: Path, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else first_line(error)
        problem = f'one JSON object a line expected ({why}), found "{shortened(line)}"'
        raise InputError(path, problem, line=number) from None


def _read_excel(path: Path) -> pl.DataFrame:
    """The first sheet of an Excel workbook, whose first row is the header."""
    content = read_bytes(path)
    with refusing(path, "not a readable Excel workbook", "save it again, or as CSV"):
        unpacked = sum(part.file_size for part in ZipFile(io.BytesIO(content)).infolist())
        if unpacked > max_bytes():
            raise too_large(str(path), max_bytes())
        try:
            return pl.read_excel(io.BytesIO(content), engine="calamine")
        except (ImportError, pl.exceptions.ModuleUpgradeRequiredError):
            problem = "needs a package that is not installed; pip install 'sameas[excel]'"
            raise InputError(path, problem) from None


READERS: dict[str, Callable[[Path], pl.DataFrame]] = {
    ".parquet": read_parquet,
    ".json": _read_json,
    ".jsonl": _read_json,
    ".xlsx": _read_excel,
}
"""The formats of tables besides text."""
