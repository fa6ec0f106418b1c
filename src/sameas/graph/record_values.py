"""The cells of records as text: columns of text, or of lists of text where a cell holds several.

The same data as CSV, Parquet, JSON lines, pandas or Python objects gives the same text: whole
numbers have no ".0", what is not a number is empty, a time at midnight is a date.
"""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from sameas.errors import shortened
from sameas.graph.given_tables import TableError

SEVERAL = pl.List(pl.String)
"""The type of a column of which a cell may hold several values."""


def record_rows(data: Any) -> pl.DataFrame:
    """The rows of a table that a caller gives, as text; a TableError if it is none.

    ``data`` is a polars table (lazy or not), a pandas one, anything with an Arrow stream, a
    mapping of columns, or an iterable of mappings, one a row.
    """
    if isinstance(data, pl.LazyFrame):
        data = data.collect()
    if isinstance(data, pl.DataFrame):
        return text_columns(data)
    if hasattr(data, "columns") and hasattr(data, "itertuples"):  # pandas, also without pyarrow
        return _of_columns({str(name): data[name].tolist() for name in data.columns}, data.columns)
    if hasattr(data, "__arrow_c_stream__"):
        return text_columns(pl.DataFrame(data))
    if isinstance(data, Mapping):
        wrong = [name for name, column in data.items() if not _is_column(column)]
        if wrong:
            raise TableError(f'column "{wrong[0]}" is no list of values')
        return _of_columns({str(name): list(column) for name, column in data.items()}, data)
    if not _is_column(data):
        raise TableError(f"a table or a list of dictionaries expected, found {type(data).__name__}")
    return rows_of_objects(list(data))


def rows_of_objects(objects: Sequence[Any]) -> pl.DataFrame:
    """The rows of mappings, one each, with the columns of all of them in order of appearance."""
    for number, row in enumerate(objects, start=1):
        if not isinstance(row, Mapping):
            quoted = shortened(repr(row), 60)
            raise TableError(f"an object with values by column expected, found {quoted}", number)
    names = dict.fromkeys(name for row in objects for name in row)
    return _of_columns({str(name): [row.get(name) for row in objects] for name in names}, names)


def _of_columns(columns: Mapping[str, list[Any]], names: Iterable[Any]) -> pl.DataFrame:
    if len(columns) < len(list(names)):
        raise TableError("two columns have the same name; rename one")
    if len({len(column) for column in columns.values()}) > 1:
        raise TableError("columns of the same length expected")
    return pl.DataFrame({name: _column(values) for name, values in columns.items()})


def _is_column(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)


def _column(values: Sequence[Any]) -> pl.Series:
    """A column of Python values as text, or as lists of text if one of them is a collection."""
    if any(isinstance(value, list | tuple | set | frozenset) for value in values):
        return pl.Series([_texts(value) or None for value in values], dtype=SEVERAL)
    return pl.Series([_text(value) for value in values], dtype=pl.String)


def _texts(value: Any) -> list[str]:
    several = isinstance(value, list | tuple | set | frozenset)
    texts = [text for one in (value if several else [value]) if (text := _text(one)) is not None]
    return sorted(texts) if isinstance(value, set | frozenset) else texts


def _text(value: Any) -> str | None:
    """A value as text; None for one that is missing."""
    if value is None or value == "" or str(value) in ("NaT", "<NA>"):
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(float(value))
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.isoformat(sep=" ")
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def text_columns(frame: pl.DataFrame) -> pl.DataFrame:
    """The columns of a typed table as text, or as lists of text; missing and empty cells: null.

    >>> frame = pl.DataFrame({"n": [1.0, 2.5, float("nan")], "ok": [True, None, False]})
    >>> text_columns(frame).rows()
    [('1', 'true'), ('2.5', None), (None, 'false')]
    """
    return frame.select(_text_column(column) for column in frame.get_columns())


def _text_column(column: pl.Series) -> pl.Series:
    kind = column.dtype
    if kind in (pl.Binary, pl.Object):
        raise TableError(f'text or numbers expected in column "{column.name}", found {kind}')
    if kind == SEVERAL:
        return column
    if kind.is_nested() or kind == pl.Duration:
        return _column(column.to_list()).rename(column.name)
    texts: pl.Series = column.cast(pl.String)
    missing = texts.str.strip_chars() == ""
    if kind.is_float():
        is_whole = (column == column.floor()) & (column.abs() < 1e15)
        whole = column.cast(pl.Int64, strict=False).cast(pl.String)
        texts = whole.zip_with(is_whole.fill_null(value=False), texts)
        missing = column.is_nan().fill_null(value=False)
    elif kind == pl.Datetime:
        days = column.dt.date()
        at_midnight = (days.cast(kind).drop_nulls() == column.drop_nulls()).all()
        texts = days.cast(pl.String) if at_midnight else column.dt.strftime("%Y-%m-%d %H:%M:%S%.f")
    return texts.set(missing, None)
