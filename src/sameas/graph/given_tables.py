"""Tables that a caller gives, of whatever kind, as polars tables with the wanted columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, TypeAlias

import polars as pl

from sameas.errors import OptionError, shortened

Table: TypeAlias = Any
"""A table that a caller gives; see ``as_table``."""

OTHER_NAMES = {
    "head": ("subject", "s", "source", "from"),
    "relation": ("predicate", "p", "property", "relationship"),
    "tail": ("object", "o", "target", "to"),
    "entity": ("uri", "id"),
    "name": ("label",),
    "left": ("source", "subject", "subject_id"),
    "right": ("target", "object", "object_id"),
}
"""What tables call our columns, besides their own names."""
NUMBERS = ("score", "confidence")
"""Columns of numbers; all others are text."""


class TableError(ValueError):
    """What is wrong with a table, and in which row (the first is 1)."""

    def __init__(self, message: str, row: int | None = None) -> None:
        """Keep message and row, for an error that also says where the table came from."""
        super().__init__(message)
        self.message, self.row = message, row


def as_table(
    data: Table,
    columns: Sequence[str],
    *,
    argument: str,
    optional: Sequence[str] = (),
    may_be_empty: Sequence[str] = (),
) -> pl.DataFrame:
    """The wanted columns of a table, as text (``score`` and ``confidence`` as numbers).

    ``data`` is a polars table (lazy or not), a pandas one, anything with an Arrow stream, a
    mapping of columns, or an iterable of tuples. Columns are found by their names or the other
    names in ``OTHER_NAMES``; where they have none (tuples, or names that are just numbers), they
    are the wanted ones in their order. An unusable table is an OptionError about ``argument``.
    """
    try:
        table = _polars(data, [*columns, *optional])
        return wanted_columns(table, columns, optional=optional, may_be_empty=may_be_empty)
    except TableError as error:
        place = "" if error.row is None else f" in row {error.row}"
        raise OptionError(
            f"`{argument}` must be a table of {', '.join(columns)}: {error.message}{place}"
        ) from None


def as_links(data: Table, argument: str) -> pl.DataFrame:
    """Links that a caller gives: left, right; score, confidence and predicate if it has them."""
    optional = (*NUMBERS, "predicate")
    return as_table(data, ("left", "right"), argument=argument, optional=optional)


def wanted_columns(
    table: pl.DataFrame,
    columns: Sequence[str],
    *,
    optional: Sequence[str] = (),
    may_be_empty: Sequence[str] = (),
    integers: Sequence[str] = (),
) -> pl.DataFrame:
    """The wanted columns of a polars table as text, scores and confidences as numbers.

    No field may be empty except in ``optional`` columns and those that ``may_be_empty``.
    """
    names = column_names(table.columns, columns)
    if names is None and all(re.fullmatch(r"(column_)?\d+", name) for name in table.columns):
        names = [*columns, *optional][: len(table.columns)]
    if names is None or not set(columns) <= set(names):
        columns_held = shortened(", ".join(table.columns), 200) or "none"
        raise TableError(
            f"columns {', '.join(columns)} expected, found {columns_held}; rename them"
        )
    table = table.rename(dict(zip(table.columns, names, strict=True)))
    table = table.select(*columns, *(name for name in optional if name in names))
    for name, kind in table.schema.items():
        if _is_strange(kind) or (name in NUMBERS and kind.is_temporal()):
            raise TableError(f'text or numbers expected in column "{name}", found {kind}')
    table = as_numbers(as_numbers(table, NUMBERS), integers, pl.Int64)
    table = table.with_columns(pl.exclude(*NUMBERS, *integers).cast(pl.String))
    filled = [name for name in columns if name not in may_be_empty]
    empty = {name: table[name].is_null() | (table[name].cast(pl.String) == "") for name in filled}
    holes = [(int(mask.arg_max() or 0), name) for name, mask in empty.items() if mask.any()]
    if holes:
        row, name = min(holes, key=itemgetter(0))
        raise TableError(f'column "{name}" is empty; fill it or leave the row out', row + 1)
    return table


def as_numbers(
    table: pl.DataFrame, columns: Sequence[str], kind: type[pl.DataType] = pl.Float64
) -> pl.DataFrame:
    """The table with those columns, where it has them, as numbers; others are a TableError."""
    for name in columns:
        if name in table.columns:
            values = table[name].cast(kind, strict=False)
            wrong = values.is_null() & table[name].is_not_null()
            if wrong.any():
                what = "a whole number" if kind == pl.Int64 else "a number"
                row = int(wrong.arg_max() or 0)
                value = shortened(str(table[name][row]))
                raise TableError(f'{what} expected in column "{name}", found "{value}"', row + 1)
            table = table.with_columns(values)
    return table


def column_names(cells: Sequence[str], columns: Sequence[str]) -> list[str] | None:
    """A header in our words if it names all the columns wanted, else None; none may be twice.

    >>> column_names(["Subject", "predicate", "object"], ("head", "relation", "tail"))
    ['head', 'relation', 'tail']
    """
    names = [cell.strip().lower() for cell in cells]
    ours = {other: name for name in columns for other in OTHER_NAMES.get(name, ())}
    if not set(columns) <= set(names):
        names = [ours.get(name, name) for name in names]
    if not set(columns) <= set(names):
        return None
    refuse_repeated(names, cells)
    return names


def refuse_repeated(names: Sequence[str], cells: Sequence[str]) -> None:
    """Raise a TableError if a column's name stands twice in a header, given as it was written."""
    for place, name in enumerate(names):
        if (first := names.index(name)) < place:
            both = shortened(f'"{cells[first].strip()}" and "{cells[place].strip()}"')
            raise TableError(
                f"columns {first + 1} and {place + 1} are the same, {both}; leave one out"
            )


def as_series(data: Any, *, argument: str) -> pl.Series:
    """A column of text from a polars or pandas series, an array or any iterable."""
    if isinstance(data, str) or not isinstance(data, Iterable):
        raise OptionError(f"`{argument}` must be a series of text, got {_described(data)} instead")
    series = data if isinstance(data, pl.Series) else _column(list(data))
    if _is_strange(series.dtype) or series.null_count():
        what = "a missing value" if series.null_count() else str(series.dtype)
        raise OptionError(f"`{argument}` must be a series of text, got {what} instead")
    text: pl.Series = series.cast(pl.String)
    return text


def _polars(data: Any, names: Sequence[str]) -> pl.DataFrame:
    if isinstance(data, pl.LazyFrame):
        return data.collect()
    if isinstance(data, pl.DataFrame):
        return data
    columns: dict[Any, list[Any]]
    if hasattr(data, "columns") and hasattr(data, "itertuples"):  # pandas, also without pyarrow
        columns = {name: data[name].tolist() for name in data.columns}
    elif hasattr(data, "__arrow_c_stream__"):
        return pl.DataFrame(data)
    elif isinstance(data, Mapping):
        columns = {name: list(column) for name, column in data.items()}
    elif isinstance(data, Iterable) and not isinstance(data, str | bytes):
        columns = dict(enumerate(_transposed(list(data), names)))
    else:
        raise TableError(f"a table or an iterable of tuples expected, found {_described(data)}")
    if len({len(column) for column in columns.values()}) > 1:
        raise TableError("columns of the same length expected")
    return pl.DataFrame({str(name): _column(column) for name, column in columns.items()})


def _transposed(rows: list[Any], names: Sequence[str]) -> list[list[Any]]:
    """The columns of rows, which must be tuples of one length and have names for all values."""
    width = None
    for number, row in enumerate(rows, start=1):
        if isinstance(row, str) or not isinstance(row, Sequence):
            raise TableError(f"a tuple expected, found {_described(row)}", number)
        width = width or len(row)
        if len(row) != width or width > len(names):
            raise TableError(f"{width} values expected, found {len(row)}", number)
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in names]


def _column(values: list[Any]) -> pl.Series:
    """A column of Python values; a missing one is None or not a number."""
    present = [None if value is None or value != value else value for value in values]
    if all(value is None or isinstance(value, float) for value in present):
        return pl.Series(present, dtype=pl.Float64 if any(present) else None)
    return pl.Series([None if value is None else str(value) for value in present], dtype=pl.String)


def _is_strange(kind: pl.DataType) -> bool:
    """Whether values of this type are neither text nor have an obvious one."""
    return kind.is_nested() or kind in (pl.Binary, pl.Object, pl.Duration)


def _described(value: object) -> str:
    return f"{type(value).__name__} {shortened(repr(value), 60)}"
