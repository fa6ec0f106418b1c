"""Tables of text from TSV, CSV and Parquet files, with errors that name the line.

Whole columns are read at once; the lines are looked at one by one only if something is wrong,
to say which.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from sameas.errors import InputError, first_line, refusing, shortened
from sameas.files import decoded, kind_of, max_bytes, read_bytes, too_large
from sameas.reading.footer import unpacked_bytes
from sameas.tabular import NUMBERS, TableError, column_names, wanted_columns

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
    filled = [name for name in columns if name not in may_be_empty]
    if kind == ".parquet":
        try:
            table = wanted_columns(read_parquet(path), columns, optional=optional, filled=filled)
        except TableError as error:
            raise InputError(path, error.message, row=error.row) from None
        table = table.with_columns(line=LINE)
    else:
        table = _read_text(path, columns, optional, filled, "," if kind == ".csv" else "\t")
    table = table.with_columns(pl.col(columns).fill_null(""))
    return as_numbers(as_numbers(table, NUMBERS, path), integers, path, pl.Int64)


def _read_text(
    path: Path,
    columns: Sequence[str],
    optional: Sequence[str],
    filled: Sequence[str],
    separator: str,
) -> pl.DataFrame:
    source = read_bytes(path)
    empty = pl.DataFrame(schema={**dict.fromkeys(columns, pl.String), "line": pl.Int64})
    try:
        header = _header(path, source, columns, separator)
        table = _csv(source, separator, schema=dict.fromkeys(header or columns, pl.String))
    except pl.exceptions.NoDataError:
        return empty
    except POLARS_ERRORS as error:
        _raise_diagnosis(path, source, columns, filled, separator, first_line(error))
        return empty
    kept = [*columns, *(name for name in optional if name in table.columns)]
    table = table.select(*kept, line=LINE).slice(0 if header is None else 1)
    table = table.filter(~pl.all_horizontal(pl.col(columns).is_null()))
    hole = pl.any_horizontal(pl.col(filled).is_null() | (pl.col(filled) == ""))
    if table.select(hole.any()).item():
        _raise_diagnosis(path, source, columns, filled, separator, "a field is empty")
    return table


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


def as_numbers(
    table: pl.DataFrame,
    columns: Sequence[str],
    path: Path,
    kind: type[pl.DataType] = pl.Float64,
) -> pl.DataFrame:
    """The table with those columns, where it has them, as numbers; others are an InputError."""
    for name in columns:
        if name not in table.columns:
            continue
        values = table[name].cast(kind, strict=False)
        wrong = table.filter(values.is_null() & table[name].is_not_null())
        if len(wrong):
            what = "a whole number" if kind == pl.Int64 else "a number"
            found = shortened(wrong[name][0])
            raise InputError(
                path, f'{what} expected in column "{name}", found "{found}"', line=wrong["line"][0]
            )
        table = table.with_columns(values)
    return table


def _csv(source: bytes, separator: str, **options: object) -> pl.DataFrame:
    return pl.read_csv(
        source,
        separator=separator,
        quote_char='"' if separator == "," else None,
        has_header=False,
        **options,  # type: ignore[arg-type]
    )


def _header(path: Path, source: bytes, columns: Sequence[str], separator: str) -> list[str] | None:
    """The column names of the first row if it holds all those wanted, else None."""
    first = _csv(source, separator, n_rows=1, infer_schema=False, truncate_ragged_lines=True)
    cells = [str(cell) for cell in first.row(0)] if len(first) else []
    return _names(path, 1, cells, columns)


def _names(path: Path, line: int, cells: Sequence[str], columns: Sequence[str]) -> list[str] | None:
    try:
        return column_names(cells, columns)
    except TableError as error:
        raise InputError(path, error.message, line=line) from None


def _raise_diagnosis(
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
                raise InputError(
                    path, f'column "{name}" is empty; fill it or leave the line out', line=number
                )
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
