"""The graph of a side that consists of tables."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from sameas.compute.parallel import map_blocks
from sameas.errors import InputError, OptionError, shortened
from sameas.formats.files import kind_of, limited, limits
from sameas.formats.json_kind import JSON_SUFFIXES
from sameas.formats.property_graph import read_node_tables
from sameas.formats.raw_tables import RawTable, read_raw
from sameas.formats.table_kind import TRIPLE, kind_of_header
from sameas.formats.tables import errors_of
from sameas.graph.given_tables import Table, TableError
from sameas.graph.graph import Graph, positions_of
from sameas.graph.rdf.reading import Reading
from sameas.graph.record_graph import called_keys
from sameas.graph.record_values import record_rows, text_columns
from sameas.graph.records import find_id, make_records, words_of
from sameas.options.tuning import TUNING

log = logging.getLogger(__name__)


IRI = re.compile(r"<?[A-Za-z][\w+.-]*:\S+")
NO_COLUMN = re.compile(r"^[\W\d_]*$|^\w+://")
"""What no column is called: nothing, a number, an address."""
WAYS = (
    "say what a row is: `table` triples (a statement: head, relation, tail), `table` records "
    "(an entity, whose column of ids `id` names) or `table` edges (of a property graph)"
)


def graph_of_tables(paths: Sequence[Path], reading: Reading) -> Graph:
    """The graph of the tables of a side; their headers say how they are read, or ``reading``."""
    parts = map_blocks(_read_part, list(paths), str, limits())
    tables = [_with_kind(table, reading) for _, table in parts]
    records = any(table.kind == "records" for table in tables)
    # Rows without an id may relate those of other tables.
    tables = [replace(t, kind=t.kind or "records") if records else t for t in tables]
    for table in tables:
        if table.kind is None:
            raise _unknown_kind(table)
    kinds = {table.kind for table in tables}
    if kinds == {"triples"}:
        return Graph.from_triples(pl.concat([table.triples() for table in tables]))
    if "triples" in kinds:
        table = next(table for table in tables if table.kind == "triples")
        other = next(table for table in tables if table.kind != "triples")
        problem = f"is a table of triples, unlike {other.path.name} of its side"
        raise InputError(table.path, f"{problem}; give them as two sides")
    if kinds == {"records"}:
        return graph_of_records(tables, reading)
    return read_node_tables(tables, reading)


def graph_of_records(tables: Sequence[RawTable], reading: Reading) -> Graph:
    """The graph of tables of records; what they were taken for is logged."""
    names = [stem_of(table.path) for table in tables]
    records = []
    for table, name in zip(tables, names, strict=True):
        called = name if names.count(name) == 1 else str(table.path)
        try:
            rows = text_columns(table.rows)
            keys = called_keys(rows.columns, [other for other in names if other != name])
            one = make_records(rows, table=called, id=reading.id, name=reading.name, keys=keys)
        except TableError as error:
            raise table.refusal(error) from None
        log.info("%s: %s", table.path, one.said())
        records.append(one)
    return Graph.of_records(records, reading)


def graph_of_frame(
    data: Table, argument: str, *, id: str | None = None, name: str | None = None
) -> Graph:
    """The graph of a table that a caller gives: of triples by its columns, else of records."""
    try:
        kind = kind_of_header(record_rows(data).columns)
    except TableError as error:
        place = "" if error.row is None else f" (row {error.row})"
        raise OptionError(f"`{argument}` cannot be read: {error.message}{place}") from None
    if id is None and name is None:
        if kind == "triples":
            return Graph.from_triples(data)
        if kind in ("edges", "nodes"):
            problem = f"must be records or triples, got a table of {kind} of a property graph"
            raise OptionError(f"`{argument}` {problem}; write it to a file, or use networkx")
    return Graph.from_records(data, id=id, name=name, table=argument)


def stem_of(path: Path) -> str:
    """The name of a file without what says its format.

    >>> stem_of(Path("export/people.csv.gz"))
    'people'
    """
    return path.name[: path.name.lower().rindex(kind_of(path))] or path.name


def _read_part(path: str, given: tuple[int | None, int | None]) -> RawTable:
    """One of the tables of a side."""
    with limited(*given):
        return read_raw(Path(path))


def _with_kind(table: RawTable, reading: Reading) -> RawTable:
    """The table with what it holds; None if neither its header nor its rows say."""
    if not table.header:
        return replace(table, kind="triples")
    if reading.table is not None:
        return table if table.kind == "nodes" else replace(table, kind=reading.table)
    if table.kind in ("triples", "edges", "nodes"):
        return table
    if kind_of(table.path) in JSON_SUFFIXES:  # an object is a record
        return replace(table, kind="records")
    if reading.id or reading.name or (table.kind == "records" and _has_id(table)):
        return replace(table, kind="records")
    if len(table.header) == len(TRIPLE) and table.frame is None and _are_triples(table):
        log.info("%s: read as triples; there is no header, and tails are heads", table.path)
        return replace(table, kind="triples")
    if _has_names(table) and _has_id(table):
        return replace(table, kind="records")
    return replace(table, kind=None)


def _unknown_kind(table: RawTable) -> InputError:
    """The error about a table of which nothing says what it holds."""
    header = shortened(", ".join(table.header), 200)
    problem = f"has the columns {header}, and none of distinct ids"
    if called := [column for column in table.header if words_of(column) in (["id"], ["uri"])]:
        values = text_columns(table.rows)[called[0]]
        twice = values.filter(values.is_duplicated() & values.is_not_null()).head(1)
        held = f'"{shortened(str(twice[0]))}" twice' if len(twice) else "empty cells"
        problem += f' ("{called[0]}" holds {held})'
    return InputError(table.path, f"{problem}; {WAYS}", line=None if table.frame is not None else 1)


def _has_id(table: RawTable) -> bool:
    """Whether a table has a column of ids below its header."""
    with errors_of(table.path):
        return find_id(text_columns(table.rows)) is not None


def _has_names(table: RawTable) -> bool:
    """Whether the first row of a table may be the names of its columns."""
    return all(NO_COLUMN.search(cell) is None for cell in table.header)


def _are_triples(table: RawTable) -> bool:
    """Whether three columns without a header are triples.

    They are if they hold IRIs, if the first row stands again below (so that it is no header), or
    if tails are heads, too. With an empty cell, nothing tells.
    """
    if IRI.fullmatch(table.header[0]) and IRI.fullmatch(table.header[2]):
        return True
    cells = table.cells
    if cells.width != len(TRIPLE) or any(cells.null_count().row(0)):
        return False
    first = pl.DataFrame([table.header], schema=cells.schema, orient="row")
    if len(cells.join(first, on=cells.columns, how="semi")):
        return True
    every = pl.concat([first, cells])
    tails = every["2"].unique()
    met = positions_of(tails, every["0"].unique()) >= 0
    return bool(met.mean() >= TUNING.records.tails_met)
