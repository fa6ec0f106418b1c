"""Tables of edges, with or without a table of nodes, as Gephi and many others write them.

A table with the columns source and target holds edges, one with an id holds nodes. Without a table
of nodes, whatever an edge leads to is a node.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sameas.errors import InputError, shortened
from sameas.formats.raw_tables import RawTable
from sameas.graph.property_tables import (
    EDGES,
    NODES,
    PropertyKeys,
    PropertyTables,
    column_properties,
    joined_tables,
    plain_key,
)

ENDS = (
    ("source", "target"),
    ("from", "to"),
    ("src", "dst"),
    ("start", "end"),
    ("head", "tail"),
    ("sourceid", "targetid"),
    ("fromid", "toid"),
)
"""What tables call the two ends of an edge, without case and separators."""
IDS = ("id", "nodeid", "node", "key")
"""What tables call the id of a node."""
DIRECTIONS = ("directed", "undirected")
"""What Gephi writes into the column "Type" of edges."""


def ends_of(header: Sequence[str]) -> tuple[int, int] | None:
    """The numbers of the columns that hold the ends of edges, None if there are none.

    >>> ends_of(["Source", "Target", "Weight"]), ends_of(["id", "name"])
    ((0, 1), None)
    """
    plain = [plain_key(cell) for cell in header]
    both = next((pair for pair in ENDS if set(pair) <= set(plain)), None)
    return None if both is None else (plain.index(both[0]), plain.index(both[1]))


def read_edge_tables(tables: Sequence[RawTable], ids: Sequence[str] = ()) -> PropertyTables:
    """The property graph of tables of edges and of nodes, whose ids may be in columns ``ids``."""
    edges, nodes = list[PropertyTables](), list[PropertyTables]()
    for table in tables:
        _refuse_header(table)
        if ends := ends_of(table.header):
            edges.append(_edges(table, ends))
        else:
            nodes.append(_nodes(table, ids))
    parts = joined_tables([*edges, *nodes])
    if nodes:
        return parts
    ends_in_order = pl.concat([parts.edges["head"], parts.edges["tail"]])
    every = ends_in_order.unique(maintain_order=True).rename("entity").to_frame()
    missing = {"file": pl.lit(""), "line": pl.lit(None, dtype=pl.Int64)}
    return joined_tables(
        [parts, PropertyTables(nodes=every.with_columns(**missing).select(*NODES))]
    )


def _refuse_header(table: RawTable) -> None:
    """Raise an InputError if a column has no name, or that of another."""
    for number, name in enumerate(table.header, start=1):
        if not name:
            problem = f"column {number} of the header has no name; name it"
            raise InputError(table.path, problem, line=1)
        if name in table.header[: number - 1]:
            problem = f'the header has two columns "{shortened(name)}"; leave one out'
            raise InputError(table.path, problem, line=1)


def _filled(table: RawTable, column: pl.Series) -> pl.Series:
    """A column of ids as text; an empty one is an InputError."""
    ids: pl.Series = column.cast(pl.String).fill_null("")
    if (ids == "").any():
        line = table.lines[int((ids == "").arg_max() or 0)]
        raise InputError(table.path, f'column "{column.name}" is empty; fill it', line=line)
    return ids


def _edges(table: RawTable, ends: tuple[int, int]) -> PropertyTables:
    columns = table.rows.get_columns()
    head, tail = (_filled(table, columns[end]) for end in ends)
    rest = table.rows.select(column for n, column in enumerate(columns) if n not in ends)
    directed = pl.repeat(True, len(head), dtype=pl.Boolean, eager=True)
    for column in rest.select(pl.col(pl.String)):
        lower = column.str.to_lowercase()
        if plain_key(column.name) == "type" and lower.is_in(DIRECTIONS).all():
            directed, rest = lower != "undirected", rest.drop(column.name)
    edges = pl.DataFrame({"head": head, "tail": tail, "is_directed": directed, "line": table.lines})
    edges = edges.with_columns(file=pl.lit(str(table.path)), relation=pl.lit(None, dtype=pl.String))
    rows = pl.int_range(len(head), dtype=pl.Int64, eager=True).rename("triple")
    properties, counts = column_properties(rows, rest)
    return PropertyTables(
        edges=edges.select(*EDGES),
        edge_properties=properties,
        keys=PropertyKeys(is_directed=bool(directed.all())),
        counts=counts,
    )


def _nodes(table: RawTable, wanted: Sequence[str]) -> PropertyTables:
    plain = {plain_key(name): name for name in reversed(table.header)}
    usual = [plain[name] for name in IDS if name in plain]
    key = next((name for name in (*wanted, *usual) if name in table.header), None)
    if key is None:
        held = shortened(", ".join(table.header), 200)
        problem = f"a table of nodes has a column id, one of edges source and target; found {held}"
        raise InputError(table.path, f"{problem}; rename them", line=1)
    ids = _filled(table, table.rows[key]).rename("entity")
    nodes = pl.DataFrame([ids, table.lines.rename("line")])
    properties, counts = column_properties(ids, table.rows.drop(key))
    return PropertyTables(
        nodes=nodes.with_columns(file=pl.lit(str(table.path))).select(*NODES),
        properties=properties,
        counts=counts,
    )
