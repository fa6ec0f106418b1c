"""The log of all decisions of a run folder, to carry them over to another one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import polars as pl

from sameas.result.decisions import (
    FILE,
    REMARKS,
    TABLES,
    decisions_of,
    open_to_read,
    refresh_states,
    schema_made_by,
    schema_of,
    unreadable,
)

OF_DECISIONS = {
    **{"request": pl.String, "part": pl.Int64, "left": pl.String, "right": pl.String},
    **dict.fromkeys(("verdict", "reviewer", "time", "undone_by", "undone_time"), pl.String),
}
OF_REMARKS = {"predicate": pl.String, "comment": pl.String}
LOG = pl.Schema({**OF_DECISIONS, **OF_REMARKS})
"""Every decision, undone ones included, and the remark on it, if there is one."""


def read_log(run: Path) -> pl.DataFrame | None:
    """All decisions of a run folder as they were made, oldest first; None without a database."""
    path = run / FILE
    if not path.is_file():
        return None
    columns = ", ".join(f"d.{name}" for name in OF_DECISIONS)
    try:
        with closing(open_to_read(path)) as connection:
            schema, remarks, join = schema_of(connection), "NULL, NULL", ""
            if schema == schema_made_by(TABLES + REMARKS):
                remarks = "r.predicate, r.comment"
                join = "LEFT JOIN remarks r ON r.request = d.request AND r.part = d.part"
            query = f"SELECT {columns}, {remarks} FROM decisions d {join} ORDER BY d.id"
            rows = connection.execute(query).fetchall() if schema else []
        return pl.DataFrame(rows, schema=LOG, orient="row")
    except (sqlite3.Error, pl.exceptions.PolarsError, TypeError) as error:
        raise unreadable(path, error) from None


def add_log(log: pl.DataFrame, run: Path, single: tuple[bool, bool] = (True, True)) -> None:
    """Add decisions that were made elsewhere to a run folder; those it has are not added again."""
    if not len(log):
        return
    remarks = log.select("request", "part", *OF_REMARKS).drop_nulls()
    with decisions_of(run) as connection, connection:
        connection.execute("BEGIN IMMEDIATE")
        _insert(connection, "decisions", log.select(list(OF_DECISIONS)))
        _insert(connection, "remarks", remarks)
        pairs = log.select("left", "right").unique(maintain_order=True).rows()
        refresh_states(connection, pairs, single)


def _insert(connection: sqlite3.Connection, table: str, rows: pl.DataFrame) -> None:
    """Insert rows that are not there yet."""
    columns, places = ", ".join(rows.columns), ", ".join("?" * rows.width)
    command = f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({places})"
    connection.executemany(command, rows.rows())
