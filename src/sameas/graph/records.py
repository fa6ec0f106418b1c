"""Tables of records as graphs: a row is an entity, a column an attribute or a relation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from sameas.errors import shortened
from sameas.graph.given_tables import TableError
from sameas.options.tuning import TUNING, RecordTuning

PLAIN_IDS = ("id", "ids", "identifier", "uri", "iri", "key", "uuid", "guid", "rowid", "pk")
"""The last word of the name of a column that holds nothing but ids."""
CODES = ("code", "nr", "no", "number", "num", "isbn", "doi", "sku", "ean", "gtin", "upc", "orcid")
"""The last word of the name of a column whose ids may also stand in other tables."""
NAME_WORDS = ("name", "title", "label")
PARTS_OF_NAMES = frozenset(
    {"first", "given", "middle", "last", "family", "sur", "surname", "forename", "nick"}
    | {"firstname", "lastname", "givenname", "familyname", "middlename", "nickname"}
)
"""Words of columns that hold a part of a person's name."""
OTHER_NAMES = frozenset(
    {"user", "login", "file", "host", "domain", "type", "short", "alt", "alternate", "alternative"}
)
"""Words before "name" that say that it is not what a thing is called."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Records:
    """One table of records: a row is an entity."""

    table: str
    """What the table is called."""
    rows: pl.DataFrame
    """Columns of text, or of lists of text; null: empty."""
    id: str | None
    """The column of ids; None where rows have no id but their number."""
    name: tuple[str, ...] = ()
    """The columns of names, several if they make a name together; none: the data tells."""

    @property
    def ids(self) -> pl.Series:
        """The id of each row; distinct."""
        if self.id is None:
            return pl.Series(
                [str(number) for number in range(1, len(self.rows) + 1)], dtype=pl.String
            )
        return self.rows[self.id]

    def said(self) -> str:
        """What the table is taken for, in words."""
        id = "row numbers are ids" if self.id is None else f'id column "{self.id}"'
        names = " and ".join(f'"{name}"' for name in self.name)
        name = f"name column {names}" if names else "names found by their values"
        return f"{len(self.rows):,} records, {id}, {name}"


def make_records(
    rows: pl.DataFrame,
    *,
    table: str = "",
    id: Sequence[str] = (),
    name: Sequence[str] = (),
    keys: Sequence[str] = (),
    tuning: RecordTuning = TUNING.records,
) -> Records:
    """The table with the columns of ids and names that were asked for, else with those found.

    Of several columns of ids, the first counts that the table has. ``keys`` are columns that are
    called ids of other tables: beside them, only what is called an id can be one. What is
    wrong is a TableError.
    """
    beside = [column for column in rows.columns if is_called_id(column) and column not in keys]
    candidates = rows.select(beside) if keys else rows
    id_column = _asked_id(rows, id) if id else find_id(candidates, tuning=tuning)
    if name:
        _require_columns(rows, name)
        names = tuple(name)
    else:
        best = find_name(rows.drop(id_column or ()), tuning=tuning)
        names = () if best is None else (best,)
    return Records(table=table, rows=rows, id=id_column, name=names)


def _asked_id(rows: pl.DataFrame, columns: Sequence[str]) -> str:
    """The column of ids that was asked for, which must be distinct and without empty cells."""
    column = next((column for column in columns if column in rows.columns), columns[0])
    _require_columns(rows, [column])
    ids = rows[column]
    if ids.dtype != pl.String:
        raise TableError(f'column "{column}" cannot hold ids: a cell has several values')
    if ids.null_count():
        row = int(ids.is_null().arg_max() or 0)
        raise TableError(f'no id in column "{column}"; fill it, or give another column', row + 1)
    repeated = ids.filter(~ids.is_first_distinct())
    if len(repeated):
        row = int((~ids.is_first_distinct()).arg_max() or 0)
        first = int((ids == repeated[0]).arg_max() or 0) + 1
        text = f'id "{shortened(repeated[0])}" of column "{column}" stands in row {first} already'
        raise TableError(f"{text}; give a column whose values are distinct", row + 1)
    return column


def _require_columns(rows: pl.DataFrame, columns: Sequence[str]) -> None:
    for column in columns:
        if column not in rows.columns:
            columns_held = shortened(", ".join(rows.columns), 200) or "none"
            raise TableError(f'no column "{shortened(column)}"; the columns are {columns_held}')


def find_id(rows: pl.DataFrame, *, tuning: RecordTuning = TUNING.records) -> str | None:
    """The first column of distinct ids without an empty cell, those called "id" before others."""
    distinct = [
        column
        for column, kind in rows.schema.items()
        if kind == pl.String and not rows[column].null_count() and rows[column].is_unique().all()
    ]
    if not len(rows):
        distinct = [column for column in distinct if is_called_id(column)]
    order = (
        lambda column: words_of(column) in (["id"], ["uri"], ["iri"]),
        lambda column: words_of(column)[-1:] and words_of(column)[-1] in PLAIN_IDS,
        is_called_id,
        lambda column: _look_like_ids(rows[column], tuning),
    )
    for is_wanted in order:
        if fitting := [column for column in distinct if is_wanted(column)]:
            return fitting[0]
    return None


def _look_like_ids(values: pl.Series, tuning: RecordTuning) -> bool:
    """Whether distinct values are like ids: no spaces, and a digit in nearly all, or IRIs."""
    bare = ~values.str.contains(r"\s")
    coded = values.str.contains(r"\d") | values.str.contains(r"^\w+://")
    decimal = values.str.contains(r"^[+-]?\d+[.,]\d+$|^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}")
    return share_of(bare & coded & ~decimal) >= tuning.id_like


def find_name(rows: pl.DataFrame, *, tuning: RecordTuning = TUNING.records) -> str | None:
    """The column that is called a name and tells rows apart; None where none is clear.

    Where there are parts of a person's name, none of them is the name: they make one together.
    """
    words = {
        column: words_of(column) for column in rows.columns if rows.schema[column] == pl.String
    }
    if any(PARTS_OF_NAMES & set(each) for each in words.values()):
        return None
    called = [
        column
        for column, each in words.items()
        if each and each[-1] in NAME_WORDS and not OTHER_NAMES & set(each)
    ]
    usable = [column for column in called if _tells_apart(rows[column], tuning)]
    alone = [column for word in NAME_WORDS for column in usable if words[column] == [word]]
    return next(iter(alone or usable), None)


def _tells_apart(values: pl.Series, tuning: RecordTuning) -> bool:
    """Whether most rows have a value, and values differ enough to be names."""
    filled = values.drop_nulls()
    covered = len(filled) >= tuning.filled * len(values)
    return covered and filled.n_unique() >= tuning.distinct * len(filled)


def share_of(mask: pl.Series) -> float:
    """The share of a mask that is true; 0 where it is empty."""
    return int(mask.sum()) / max(len(mask), 1)


def is_called_id(column: str) -> bool:
    """Whether a column is called an identifier.

    >>> [name for name in ("id", "personId", "person_ID", "URI", "paid") if is_called_id(name)]
    ['id', 'personId', 'person_ID', 'URI']
    """
    words = words_of(column)
    return bool(words) and words[-1] in (*PLAIN_IDS, *CODES) and len(words) <= 4


def words_of(column: str) -> list[str]:
    """The words of a column's name, in lower case.

    >>> words_of("employeeID"), words_of("Date of birth"), words_of("reports_to")
    (['employee', 'id'], ['date', 'of', 'birth'], ['reports', 'to'])
    """
    apart = re.sub(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", column)
    return re.findall(r"[^\W_]+", apart.lower())
