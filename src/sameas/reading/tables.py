"""Tables of text from TSV, CSV and Parquet files, with errors that name the line.

The fast way reads whole columns; only when something is wrong are the lines looked at one by
one, to say which.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl
import zstandard

from sameas.errors import InputError

COMPRESSIONS = (".gz", ".zst")
TABLE_SUFFIXES = (".tsv", ".csv", ".parquet")
OTHER_NAMES = {
    "head": ("subject", "s", "source", "from"),
    "relation": ("predicate", "p", "property", "relationship"),
    "tail": ("object", "o", "target", "to"),
    "entity": ("uri", "id"),
    "name": ("label",),
    "left": ("source", "subject", "subject_id"),
    "right": ("target", "object", "object_id"),
}
"""What headers call our columns, besides their own names."""


def kind_of(path: Path) -> str:
    """The format that a path's suffix names, compression aside: ".tsv", ".csv", ... or "".

    >>> kind_of(Path("triples.CSV.gz"))
    '.csv'
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    if suffixes[-2:] == [".sssom", ".tsv"]:
        return ".sssom.tsv"  # a format of its own
    return suffixes[-1] if suffixes else ""


def read_table(
    path: Path,
    columns: Sequence[str],
    *,
    optional: Sequence[str] = (),
    may_be_empty: Sequence[str] = (),
    kind: str | None = None,
) -> pl.DataFrame:
    """The named columns of a file as text, with a column ``line`` that says where each row stood.

    ``kind`` is ".tsv", ".csv" or ".parquet"; by default the suffix decides, and a file without
    a known suffix is tab-separated. A first row that repeats the column names is a header, and
    then further columns may follow, of which the ``optional`` ones are kept; without a header
    there must be just the named columns. Blank lines are passed over. No field may be empty
    unless said so. An empty file gives an empty table.
    """
    require_file(path)
    kind = kind or kind_of(path)
    if kind == ".parquet":
        return _read_parquet(path, columns, optional)
    filled = [name for name in columns if name not in may_be_empty]
    separator = "," if kind == ".csv" else "\t"
    quote = '"' if kind == ".csv" else None
    try:
        header = _header(path, columns, separator, quote)
        table = pl.read_csv(
            path,
            separator=separator,
            quote_char=quote,
            has_header=False,
            schema=dict.fromkeys(header or columns, pl.String),
            glob=False,
        )
    except pl.exceptions.NoDataError:
        return _empty(columns)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        _raise_diagnosis(path, columns, filled, separator, str(error))
        return _empty(columns)
    kept = [*columns, *(name for name in optional if name in table.columns)]
    table = table.select(kept).with_columns(line=pl.int_range(1, pl.len() + 1, dtype=pl.Int64))
    if header is not None:
        table = table.slice(1)
    table = table.filter(~pl.all_horizontal(pl.col(columns).is_null()))
    if _has_holes(table, filled):
        _raise_diagnosis(path, columns, filled, separator, "a field is empty")
    return table.with_columns(pl.col(columns).fill_null(""))


def read_bytes(path: Path) -> bytes:
    """The content of a file, decompressed if its suffix says so."""
    require_file(path)
    try:
        with path.open("rb") as file:
            if path.suffix.lower() == ".gz":
                with gzip.GzipFile(fileobj=file) as stream:
                    return stream.read()
            if path.suffix.lower() == ".zst":
                with zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True) as z:
                    return z.read()
            return file.read()
    except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
        raise InputError(
            path, f"cannot be read ({first_line(error)}); is the file whole?"
        ) from None


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, decompressed if its suffix says so, without a byte order mark."""
    content = read_bytes(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError(path, "not UTF-8 text; convert the file to UTF-8", line=line) from None


def _empty(columns: Sequence[str]) -> pl.DataFrame:
    return pl.DataFrame(schema={**dict.fromkeys(columns, pl.String), "line": pl.Int64})


def _has_holes(table: pl.DataFrame, columns: Sequence[str]) -> bool:
    hole = pl.col(columns).is_null() | (pl.col(columns) == "")
    return bool(table.select(pl.any_horizontal(hole).any()).item())


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
        glob=False,
    )
    cells = [str(cell) for cell in first.row(0)] if len(first) else []
    return _header_names(cells, columns)


def _header_names(cells: Sequence[str], columns: Sequence[str]) -> list[str] | None:
    """A first row in our words, if it names all the columns wanted and none twice; else None.

    >>> _header_names(["Subject", "predicate", "object"], ("head", "relation", "tail"))
    ['head', 'relation', 'tail']
    """
    names = [cell.strip().lower() for cell in cells]
    ours = {other: name for name in columns for other in OTHER_NAMES.get(name, ())}
    if not set(columns) <= set(names):
        names = [ours.get(name, name) for name in names]
    return names if set(columns) <= set(names) and len(set(names)) == len(names) else None


def read_parquet(path: Path) -> pl.DataFrame:
    """All of a Parquet file; one that cannot be read is an InputError."""
    try:
        return pl.read_parquet(path, glob=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        # Some damage makes the reader panic, which is no Exception.
        raise InputError(path, "not a readable Parquet file; write it again") from None


def _read_parquet(path: Path, columns: Sequence[str], optional: Sequence[str]) -> pl.DataFrame:
    table = read_parquet(path)
    if not set(columns) <= set(table.columns):
        raise InputError(
            path,
            f"columns {', '.join(columns)} expected, found {', '.join(table.columns)}; rename them",
        )
    kept = [*columns, *(name for name in optional if name in table.columns)]
    for name in kept:
        if table[name].dtype.is_nested() or table[name].dtype == pl.Binary:
            raise InputError(
                path, f'text or numbers expected in column "{name}", found {table[name].dtype}'
            )
    table = table.select(pl.col(kept).cast(pl.String)).with_columns(
        line=pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    )
    if _has_holes(table, columns):
        hole = pl.any_horizontal(pl.col(columns).is_null() | (pl.col(columns) == ""))
        row = table.filter(hole)["line"][0]
        raise InputError(path, "a value is missing; fill it or leave the row out", row=row)
    return table


def _raise_diagnosis(
    path: Path, columns: Sequence[str], filled: Sequence[str], separator: str, cause: str
) -> None:
    """Raise the error for the first line that cannot be used; come back if all lines are blank."""
    if "incomplete frame" in cause or "unexpected end" in cause.lower():
        raise InputError(path, f"cannot be read ({first_line(cause)}); is the file whole?")
    expected: Sequence[str] = columns
    blank = True
    for number, row in _rows(path, separator):
        if not any(row):
            continue
        if blank:
            expected = _header_names(row, columns) or columns
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
        raise InputError(path, f"cannot be read as a table ({shortened(first_line(cause))})")


def _rows(path: Path, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a file, and the line at which each begins."""
    text = read_text(path)
    if separator == "\t":
        for number, line in enumerate(text.split("\n"), start=1):
            yield number, line.removesuffix("\r").split("\t")
        return
    reader = csv.reader(io.StringIO(text, newline=""))
    begin = 1
    try:
        for row in reader:
            yield begin, row
            begin = reader.line_num + 1
    except csv.Error as error:  # a NUL byte, or a field without end
        raise InputError(
            path, f"cannot be read as CSV ({error}); is a quote left open?", line=begin
        ) from None


def shortened(text: str, limit: int = 80) -> str:
    r"""Text for an error message: on one line, what cannot be printed escaped, cut if it is long.

    >>> shortened("31\t7")
    '31\\t7'
    """
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[: limit + 1])
    return text if len(text) <= limit else text[: limit - 1] + "…"


def first_line(error: Exception | str) -> str:
    """The first line of what an error says."""
    return (str(error).splitlines() or [type(error).__name__])[0]
