"""Tables of text from TSV, CSV and Parquet files, with errors that name the line.

Whole columns are read at once; the lines are looked at one by one only if something is wrong,
to say which.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from sameas.errors import InputError, first_line, refusing, shortened
from sameas.files import decoded, kind_of, max_bytes, read_bytes, too_large
from sameas.reading.footer import unpacked_bytes
from sameas.tabular import TableError, column_names, wanted_columns

TABLE_SUFFIXES = (".tsv", ".csv", ".parquet")
CELL_BYTES = 8
"""What a cell of a table takes at least."""
LINE = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
POLARS_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
"""Some damage makes polars panic, which is no Exception."""


def read_table(
    path: Path,
    columns: Sequence[str],
    *,
    optional: Sequence[str] = (),
    may_be_empty: Sequence[str] = (),
    integers: Sequence[str] = (),
    kind: str | None = None,
) -> pl.DataFrame:
    """The named columns of a file as text, with a column ``line`` that says where each row stood.

    ``kind`` is ".tsv", ".csv" or ".parquet"; by default the suffix decides, and a file without
    a known suffix is tab-separated. A first row that repeats the column names is a header, and
    then further columns may follow, of which the ``optional`` ones are kept; without a header
    there must be just the named columns. Blank lines are passed over. No field may be empty
    except in ``may_be_empty``. Scores and confidences are numbers, ``integers`` whole ones. An
    empty file gives an empty table.
    """
    kind = kind or kind_of(path)
    if kind == ".parquet":
        table, lines = read_parquet(path), None
    else:
        filled = [name for name in columns if name not in may_be_empty]
        table = _read_text(path, columns, filled, "," if kind == ".csv" else "\t")
        lines = table["line"]
    with errors_of(path, lines):
        table = wanted_columns(
            table, columns, optional=optional, may_be_empty=may_be_empty, integers=integers
        )
    line = LINE if lines is None else lines
    return table.with_columns(pl.col(may_be_empty).fill_null(""), line=line)


@contextmanager
def errors_of(path: Path, lines: pl.Series | None = None) -> Iterator[None]:
    """What is wrong with a table in the block is an InputError that names the line, or the row."""
    try:
        yield
    except TableError as error:
        if lines is None or error.row is None:
            raise InputError(path, error.message, row=error.row) from None
        raise InputError(path, error.message, line=lines[error.row - 1]) from None


def _read_text(
    path: Path, columns: Sequence[str], filled: Sequence[str], separator: str
) -> pl.DataFrame:
    """The rows that are not blank, and the line of each."""
    source = read_bytes(path)
    table = pl.DataFrame(schema={**dict.fromkeys(columns, pl.String), "line": pl.Int64})
    try:
        first = _csv(source, separator, n_rows=1, infer_schema=False, truncate_ragged_lines=True)
        cells = [str(cell) for cell in first.row(0)] if len(first) else []
        header = _names(path, 1, cells, columns)
        rows = _csv(source, separator, schema=dict.fromkeys(header or columns, pl.String))
    except pl.exceptions.NoDataError:
        return table
    except POLARS_ERRORS as error:
        _refuse_first_odd_line(path, source, columns, filled, separator, first_line(error))
        return table
    rows = rows.with_columns(line=LINE).slice(0 if header is None else 1)
    rows = rows.filter(~pl.all_horizontal(pl.col(columns).is_null()))
    hole = pl.any_horizontal(pl.col(filled).is_null() | (pl.col(filled) == ""))
    if rows.select(hole.any()).item():
        _refuse_first_odd_line(path, source, columns, filled, separator, "a field is empty")
    return rows


def read_parquet(path: Path) -> pl.DataFrame:
    """All of a Parquet file; one that cannot be read is an InputError."""
    content = read_bytes(path)
    source = io.BytesIO(content)
    with refusing(path, "not a readable Parquet file", "write it again"):
        # A few bytes can stand for any number of rows, and for any length of text.
        rows = pl.scan_parquet(source)
        cells = rows.select(pl.len()).collect().item() * rows.collect_schema().len()
        if max(cells * CELL_BYTES, unpacked_bytes(content)) > max_bytes():
            raise too_large(str(path), max_bytes())
        table = pl.read_parquet(source)
        # One text may stand for many: Polars holds it once, until a column is changed.
        texts = table.select(pl.col(pl.String).str.len_bytes().sum().cast(pl.Int64))
        if texts.width and sum(texts.row(0)) > max_bytes():
            raise too_large(str(path), max_bytes())
        return table


def _csv(source: bytes, separator: str, **options: object) -> pl.DataFrame:
    return pl.read_csv(
        source,
        separator=separator,
        quote_char='"' if separator == "," else None,
        has_header=False,
        **options,  # type: ignore[arg-type]
    )


def _names(path: Path, line: int, cells: Sequence[str], columns: Sequence[str]) -> list[str] | None:
    try:
        return column_names(cells, columns)
    except TableError as error:
        raise InputError(path, error.message, line=line) from None


def _refuse_first_odd_line(
    path: Path,
    source: bytes,
    columns: Sequence[str],
    filled: Sequence[str],
    separator: str,
    cause: str,
) -> None:
    """Raise the error for the first line that cannot be used; return if all lines are blank."""
    expected: Sequence[str] = columns
    blank = True
    text = decoded(source, path)
    if separator == ",":
        rows = quoted_rows(path, text, separator)
    else:
        lines = (line.removesuffix("\r") for line in text.split("\n"))
        rows = enumerate((line.split("\t") for line in lines), start=1)
    for number, row in rows:
        if not any(row):
            continue
        if blank:
            expected = _names(path, number, row, columns) or columns
        blank = False
        if len(row) != len(expected):
            kind = {"\t": "tab-separated", ",": "comma-separated"}[separator]
            found = shortened(separator.join(row))
            hint = "; is a quote left open?" if "\n" in separator.join(row) else ""
            raise InputError(
                path,
                f"{len(expected)} {kind} columns expected ({', '.join(expected)}), "
                f'found {len(row)}: "{found}"{hint}',
                line=number,
            )
        for name in filled:
            if not row[list(expected).index(name)]:
                problem = f'column "{name}" is empty; fill it or leave the line out'
                raise InputError(path, problem, line=number)
    if not blank:
        raise InputError(path, f"cannot be read as a table ({shortened(cause)})")


def quoted_rows(
    path: Path, text: str, separator: str, *, above: int = 0
) -> Iterator[tuple[int, list[str]]]:
    """The rows of a text with quotes, and the line at which each begins, below so many others."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    begin = above + 1
    try:
        for row in reader:
            yield begin, row
            begin = above + reader.line_num + 1
    except csv.Error as error:  # a NUL byte, or a field without end
        raise InputError(
            path, f"cannot be read as CSV ({error}); is a quote left open?", line=begin
        ) from None
