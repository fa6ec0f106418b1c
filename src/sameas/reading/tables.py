"""Tables of text from TSV, CSV and Parquet files, with errors that name the line.

The fast way reads whole columns; only when something is wrong are the lines looked at one by
one, to say which.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from sameas.errors import InputError

COMPRESSIONS = (".gz", ".zst")
TABLE_SUFFIXES = (".tsv", ".csv", ".parquet")


def kind_of(path: Path) -> str:
    """The format that a path's suffix names, compression aside: ".tsv", ".csv", ... or "".

    >>> kind_of(Path("triples.CSV.gz"))
    '.csv'
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def read_table(
    path: Path, columns: Sequence[str], *, optional: Sequence[str] = (), kind: str | None = None
) -> pl.DataFrame:
    """The named columns of a file as text, with a column ``line`` that says where each row stood.

    ``kind`` is ".tsv", ".csv" or ".parquet"; by default the suffix decides, and a file without
    a known suffix is tab-separated. A first row that repeats the column names is a header, and
    then further columns may follow, of which the ``optional`` ones are kept; without a header
    there must be just the named columns. Blank lines are passed over. An empty file gives an
    empty table.
    """
    require_file(path)
    kind = kind or kind_of(path)
    if kind == ".parquet":
        return _read_parquet(path, columns, optional)
    separator, quote = (",", '"') if kind == ".csv" else ("\t", None)
    try:
        header = _header(path, columns, separator, quote)
        table = pl.read_csv(
            path,
            separator=separator,
            quote_char=quote,
            has_header=False,
            schema=dict.fromkeys(header or columns, pl.String),
        )
    except pl.exceptions.NoDataError:
        return pl.DataFrame(schema={**dict.fromkeys(columns, pl.String), "line": pl.Int64})
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _diagnosed(path, columns, separator, quote, str(error)) from None
    kept = [*columns, *(name for name in optional if name in table.columns)]
    table = table.select(kept).with_columns(line=pl.int_range(1, pl.len() + 1, dtype=pl.Int64))
    if header is not None:
        table = table.slice(1)
    table = table.filter(~pl.all_horizontal(pl.col(columns).is_null()))
    if table.select(pl.any_horizontal(pl.col(columns).is_null()).any()).item():
        raise _diagnosed(path, columns, separator, quote, "a field is empty")
    return table


def numbers(table: pl.DataFrame, column: str, *, path: Path) -> pl.DataFrame:
    """The table with that column as numbers; the first that is none is an InputError."""
    return _cast(table, column, pl.Float64, "a number", path)


def integers(table: pl.DataFrame, column: str, *, path: Path) -> pl.DataFrame:
    """The table with that column as integers; the first that is none is an InputError."""
    return _cast(table, column, pl.Int64, "a whole number", path)


def _cast(
    table: pl.DataFrame, column: str, kind: type[pl.DataType], what: str, path: Path
) -> pl.DataFrame:
    values = table[column].cast(kind, strict=False)
    wrong = table.filter(values.is_null() & table[column].is_not_null())
    if len(wrong):
        raise InputError(
            path,
            f'{what} expected in column "{column}", found "{shortened(wrong[column][0])}"',
            line=wrong["line"][0],
        )
    return table.with_columns(values.alias(column))


def require_file(path: Path) -> None:
    """Raise an InputError unless the path is a file that exists."""
    if path.is_dir():
        raise InputError(path, "is a folder where a file is expected")
    if not path.exists():
        raise InputError(path, "no such file; check the path")


def _header(
    path: Path, columns: Sequence[str], separator: str, quote: str | None
) -> list[str] | None:
    """The column names of the first row if it holds all those wanted, else None."""
    first = pl.read_csv(
        path,
        separator=separator,
        quote_char=quote,
        has_header=False,
        n_rows=1,
        infer_schema=False,
        truncate_ragged_lines=True,
    )
    cells = [str(cell).strip().lower() for cell in first.row(0)] if len(first) else []
    return cells if set(columns) <= set(cells) and len(set(cells)) == len(cells) else None


def _read_parquet(path: Path, columns: Sequence[str], optional: Sequence[str]) -> pl.DataFrame:
    try:
        table = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(path, f"not a readable Parquet file ({_first_line(error)})") from None
    if not set(columns) <= set(table.columns):
        raise InputError(
            path,
            f"columns {_listed(columns)} expected, found {_listed(table.columns)}; rename them",
        )
    kept = [*columns, *(name for name in optional if name in table.columns)]
    table = table.select(pl.col(kept).cast(pl.String)).with_columns(
        line=pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    )
    holes = table.filter(pl.any_horizontal(pl.col(columns).is_null()))
    if len(holes):
        raise InputError(
            path, "a value is missing; fill it or leave the row out", row=holes["line"][0]
        )
    return table


def _diagnosed(
    path: Path, columns: Sequence[str], separator: str, quote: str | None, cause: str
) -> InputError:
    """The error for the first line of a file that cannot be used, found by looking at each."""
    try:
        text = pl.read_csv(
            path,
            separator="\x1f",
            quote_char=None,
            has_header=False,
            schema={"line": pl.String},
            encoding="utf8-lossy",
            truncate_ragged_lines=True,
        )["line"].fill_null("")
    except (pl.exceptions.PolarsError, OSError):
        return InputError(path, f"cannot be read ({cause.splitlines()[0]}); is the file whole?")
    if "utf-8" in cause.lower():
        broken = text.str.contains("\ufffd").arg_max()
        line = None if broken is None else broken + 1
        return InputError(path, "not UTF-8 text; convert the file to UTF-8", line=line)
    name = {"\t": "tab-separated", ",": "comma-separated"}[separator]
    rows = (
        csv.reader(text, delimiter=separator)
        if quote
        else (line.rstrip("\r").split(separator) for line in text)
    )
    for number, row in enumerate(rows, start=1):
        if not any(row):
            continue
        if len(row) != len(columns):
            found = separator.join(row)
            return InputError(
                path,
                f"{len(columns)} {name} columns expected ({', '.join(columns)}), "
                f'found {len(row)}: "{shortened(found)}"',
                line=number,
            )
        if not all(row):
            empty = columns[row.index("")]
            return InputError(
                path, f'column "{empty}" is empty; fill it or leave the line out', line=number
            )
    return InputError(path, f"cannot be read as a table ({cause.splitlines()[0]})")


def shortened(text: str, limit: int = 80) -> str:
    r"""Text for an error message: tabs made visible, cut where it is long.

    >>> shortened("31\t7")
    '31\\t7'
    """
    text = text.replace("\t", "\\t").replace("\n", "\\n")
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(columns)
