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
from typing import Any

import polars as pl

from sameas.errors import InputError, first_line, refusing, shortened
from sameas.formats.files import decoded, kind_of, max_bytes, read_bytes, too_large
from sameas.graph.given_tables import TableError, column_names, wanted_columns

TABLE_SUFFIXES = (".tsv", ".csv", ".parquet")
SEPARATED = {"\t": "tab-separated", ",": "comma-separated", ";": "semicolon-separated"}
CELL_BYTES = 8
"""What a cell of a table takes at least."""
LINE = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
POLARS_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
"""Some damage makes polars panic, which is no Exception."""
ROW_GROUPS, TOTAL_BYTES = 4, 2
"""Fields of a Parquet file's metadata, and of a row group in it; types of fields:"""
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12


def read_table(
    path: Path,
    columns: Sequence[str],
    *,
    optional: Sequence[str] = (),
    may_be_empty: Sequence[str] = (),
    integers: Sequence[str] = (),
    kind: str | None = None,
    content: bytes | None = None,
) -> pl.DataFrame:
    """The named columns of a file as text, with a column ``line`` that says where each row stood.

    ``kind`` is ".tsv", ".csv" or ".parquet"; by default the suffix decides, and a file without
    a known suffix is tab-separated. A first row that repeats the column names is a header, and
    then further columns may follow, of which the ``optional`` ones are kept; without a header
    there must be just the named columns. Blank lines are passed over. No field may be empty
    except in ``may_be_empty``. Scores and confidences are numbers, ``integers`` whole ones. An
    empty file gives an empty table. ``content`` is that of a file of text that was read before.
    """

    def wanted(rows: pl.DataFrame) -> pl.DataFrame:
        table = wanted_columns(
            rows, columns, optional=optional, may_be_empty=may_be_empty, integers=integers
        )
        return table.with_columns(pl.col(may_be_empty).fill_null(""))

    kind = kind or kind_of(path)
    if kind == ".parquet":
        with errors_of(path):
            return wanted(read_parquet(path)).with_columns(line=LINE)
    source = read_bytes(path) if content is None else content
    separator = "," if kind == ".csv" else "\t"
    rows = pl.DataFrame(schema={**dict.fromkeys(columns, pl.String), "line": pl.Int64})
    try:
        rows = _text_rows(source, columns, separator) if source else rows
        table = wanted(rows)
    except (TableError, *POLARS_ERRORS) as error:
        filled = [name for name in columns if name not in may_be_empty]
        if not _refuse_first_odd_line(path, source, columns, filled, separator):
            with errors_of(path, rows["line"]):
                if isinstance(error, TableError):
                    raise
                raise unreadable(path, error) from None
        table = wanted(rows)
    return table.with_columns(rows["line"])


def unreadable(path: Path, error: BaseException) -> InputError:
    """The error about a table in which nothing is wrong but that polars cannot read."""
    return InputError(path, f"cannot be read as a table ({shortened(first_line(error))})")


@contextmanager
def errors_of(
    path: Path, lines: pl.Series | None = None, *, header: int | None = None
) -> Iterator[None]:
    """What is wrong with a table in the block is an InputError that names the line, or the row.

    ``lines`` are those of the rows, ``header`` is that of the names of the columns.
    """
    try:
        yield
    except TableError as error:
        row = error.row
        line = header if row is None or lines is None else lines[row - 1]
        raise InputError(
            path, error.message, line=line, row=row if line is None else None
        ) from None


def _text_rows(source: bytes, columns: Sequence[str], separator: str) -> pl.DataFrame:
    """The rows below a header if there is one; a row that is too short has nulls."""
    rows = text_rows(source, separator)
    if not len(rows):
        raise TableError("rows expected, all are blank")
    header = column_names([str(cell) for cell in rows.row(0)[:-1]], columns)
    if header is None and rows.width != len(columns) + 1:
        raise TableError(f"{len(columns)} columns expected")
    rows = rows.rename(dict(zip(rows.columns, header or columns, strict=False)))
    rows = rows.slice(0 if header is None else 1)
    return rows.filter(~pl.all_horizontal(pl.col(columns).is_null()))


def text_rows(source: bytes, separator: str) -> pl.DataFrame:
    """The rows that are not blank, a header too, and the ``line`` of each.

    An empty cell is null, and so are those that a short row lacks.
    """
    quote = None if separator == "\t" else '"'
    body = source.lstrip(b"\r\n")  # polars would take a first line that is blank for one column
    above = source.count(b"\n", 0, len(source) - len(body))
    rows = pl.read_csv(
        body, separator=separator, quote_char=quote, has_header=False, infer_schema=False
    )
    blank = pl.all_horizontal(pl.col(rows.columns).is_null())
    lines = LINE + above
    if quote and b'"' in body:  # quoted cells may hold line breaks
        breaks = pl.sum_horizontal(pl.all().str.count_matches("\n").cast(pl.Int64))
        lines = lines + breaks.cum_sum().shift(1, fill_value=0)
    return rows.with_columns(line=lines).filter(~blank)


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


def _refuse_first_odd_line(
    path: Path, source: bytes, columns: Sequence[str], filled: Sequence[str], separator: str
) -> bool:
    """Raise the error for the first line that cannot be used; whether all lines are blank."""
    expected: Sequence[str] = ()
    for number, row in rows_of_text(path, source, separator):
        if not expected:
            with errors_of(path, header=number):
                expected = column_names(row, columns) or columns
        _refuse_width(path, number, row, expected, separator)
        for name in filled:
            if not row[list(expected).index(name)]:
                problem = f'column "{name}" is empty; fill it or leave the line out'
                raise InputError(path, problem, line=number)
    return not expected


def refuse_odd_rows(path: Path, source: bytes, separator: str) -> None:
    """Raise the error for the first row of a text that has not as many cells as its header."""
    header: Sequence[str] = ()
    for number, row in rows_of_text(path, source, separator):
        header = header or row
        _refuse_width(path, number, row, header, separator)


def open_quote(source: bytes) -> int | None:
    """The line of a quote that is opened and never closed; None if all are closed."""
    opened, is_open = None, False
    for number, line in enumerate(source.split(b"\n"), start=1):
        for _ in range(line.count(b'"')):
            is_open = not is_open
            opened = number if is_open else opened
    return opened if is_open else None


def _refuse_width(
    path: Path, line: int, row: Sequence[str], expected: Sequence[str], separator: str
) -> None:
    if len(row) != len(expected):
        text = separator.join(row)
        hint = "; is a quote left open?" if "\n" in text else ""
        columns = shortened(", ".join(expected), 200)
        problem = f"{len(expected)} {SEPARATED[separator]} columns expected ({columns})"
        raise InputError(path, f'{problem}, found {len(row)}: "{shortened(text)}"{hint}', line=line)


def rows_of_text(path: Path, source: bytes, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a text that are not blank, and the line of each; slow, with errors by line."""
    text = decoded(source, path)
    if separator != "\t":
        rows = quoted_rows(path, text, separator)
    else:
        lines = (line.removesuffix("\r") for line in text.split("\n"))
        rows = enumerate((line.split("\t") for line in lines), start=1)
    return ((number, row) for number, row in rows if any(row))


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


def unpacked_bytes(content: bytes) -> int:
    """The bytes of all columns of a Parquet file before they were compressed, as it says itself.

    Polars does not tell. The footer is Thrift in the compact protocol: numbers of seven bits a
    byte, and structs of numbered fields, each with its type.
    """
    length = int.from_bytes(content[-8:-4], "little")
    metadata = _struct(iter(content[-8 - length : -8]))
    return sum(int(group.get(TOTAL_BYTES, 0)) for group in metadata.get(ROW_GROUPS, ()))


def _struct(data: Iterator[int]) -> dict[int, Any]:
    fields: dict[int, Any] = {}
    number = 0
    while head := next(data):
        number = number + (head >> 4) if head >> 4 else _signed(data)
        kind = head & 15
        fields[number] = kind == TRUE if kind in (TRUE, FALSE) else _value(data, kind)
    return fields


def _value(data: Iterator[int], kind: int) -> Any:
    if kind in (TRUE, FALSE, BYTE):
        return next(data)
    if kind == DOUBLE:
        return bytes(next(data) for _ in range(8))
    if kind == BINARY:
        return bytes(next(data) for _ in range(_varint(data)))
    if kind in (LIST, SET):
        head = next(data)
        size = head >> 4 if head >> 4 < 15 else _varint(data)
        return [_value(data, head & 15) for _ in range(size)]
    if kind == MAP:
        size = _varint(data)
        kinds = next(data) if size else 0
        return [(_value(data, kinds >> 4), _value(data, kinds & 15)) for _ in range(size)]
    return _struct(data) if kind == STRUCT else _signed(data)


def _varint(data: Iterator[int]) -> int:
    number = shift = 0
    while (byte := next(data)) & 128:
        number |= (byte & 127) << shift
        shift += 7
    return number | byte << shift


def _signed(data: Iterator[int]) -> int:
    number = _varint(data)
    return number >> 1 ^ -(number & 1)
