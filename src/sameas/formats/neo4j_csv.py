"""CSV of neo4j-admin import: nodes and relationships with typed headers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Literal

import polars as pl

from sameas.errors import InputError, shortened
from sameas.formats.files import StrPath
from sameas.formats.raw_tables import RawTable
from sameas.graph.iri import XSD
from sameas.graph.property_graph import (
    PropertyGraph,
    ValueKind,
    columns_by_key,
    distinct_names,
    keys_with_several,
    value_kinds,
)
from sameas.graph.property_tables import (
    BOOLEAN,
    EDGES,
    INTEGER,
    LABELS,
    NODES,
    NUMBER,
    VALUES,
    PropertyTables,
    joined_tables,
)
from sameas.options.tuning import TUNING

ARRAY = ";"
"""Stands between the values of an array and between labels, as neo4j-admin takes it by default."""
KINDS: dict[ValueKind, str] = {
    "text": "string",
    "integer": "long",
    "number": "double",
    "boolean": "boolean",
}
"""What the header calls the types of values."""
STEP = 100_000
"""Rows that are turned into text at a time."""
Role = Literal["ID", "LABEL", "START_ID", "END_ID", "TYPE", "IGNORE", "property"]
ROLES: tuple[Role, ...] = ("ID", "LABEL", "START_ID", "END_ID", "TYPE", "IGNORE")
DATATYPES = {
    **dict.fromkeys(("int", "long", "short", "byte"), INTEGER),
    **dict.fromkeys(("float", "double"), NUMBER),
    "boolean": BOOLEAN,
    "string": "",
    "char": "",
    "date": f"{XSD}date",
    "datetime": f"{XSD}dateTime",
    "localdatetime": f"{XSD}dateTime",
    "time": f"{XSD}time",
    "localtime": f"{XSD}time",
    "duration": f"{XSD}duration",
    "point": "",
    "vector": "",
}
"""The types of values that headers name, and their datatypes."""
CELL = re.compile(r"(.*?)(?::(\w+)(?:\(([^()]*)\))?(?:\{[^{}]*\})?(\[\])?(?:\{[^{}]*\})?)?")
"""A cell of a header: name, type, group and whether it is an array; options are passed over."""


@dataclass(frozen=True)
class Column:
    """What a cell of a header says of its column."""

    name: str
    role: Role
    group: str = ""
    datatype: str = ""
    is_array: bool = False


@dataclass(frozen=True, eq=False)
class _File:
    """One file, and what its header says of each column."""

    table: RawTable
    columns: Sequence[Column]

    def number(self, role: Role) -> int | None:
        """The number of the column with a role, None if there is none."""
        return next((n for n, one in enumerate(self.columns) if one.role == role), None)

    def cells(self, number: int) -> pl.Series:
        """The cells of a column as text; null: empty."""
        cells: pl.Series = self.table.cells[str(number)].cast(pl.String)
        return cells


def read_neo4j(tables: Sequence[RawTable]) -> PropertyTables:
    """The property graph in tables of nodes and files of relationships, each with its header.

    Where the same id stands in two groups of ids, ids begin with their group.
    """
    files = [_with_columns(table) for table in tables]
    nodes = [file for file in files if file.number("ID") is not None]
    edges = [file for file in files if file.number("START_ID") is not None]
    every = [
        _ids(file, "ID").with_columns(group=pl.lit(file.columns[file.number("ID") or 0].group))
        for file in nodes
    ]
    clash = bool(every) and bool(
        (pl.concat(every).group_by("id").agg(pl.col("group").n_unique())["group"] > 1).any()
    )
    return joined_tables(
        [*(_nodes(file, clash) for file in nodes), *(_edges(file, clash) for file in edges)]
    )


def _with_columns(table: RawTable) -> _File:
    """A file with what its header says; one without ids is an InputError."""
    path = table.path
    columns = [_column(cell, path, number) for number, cell in enumerate(table.header, start=1)]
    roles = [column.role for column in columns if column.role not in ("property", "IGNORE")]
    wanted = {"ID"} if "ID" in roles else {"START_ID", "END_ID"}
    if not wanted <= set(roles):
        missing = ", ".join(f":{role}" for role in sorted(wanted - set(roles)))
        raise InputError(path, f"the header has no column {missing}; add it", line=1)
    ends = [role for role in roles if role in ("START_ID", "END_ID")]
    if "ID" in roles and ends:
        problem = f"the header has :ID, of nodes, and :{ends[0]}, of relationships"
        raise InputError(path, f"{problem}; make two files of it", line=1)
    for role in roles:
        if roles.count(role) > 1:
            raise InputError(path, f"the header has two columns :{role}; leave one out", line=1)
    return _File(table, columns)


def _column(cell: str, path: StrPath, number: int) -> Column:
    """What a cell of the header says; one that neo4j-admin would refuse is an InputError."""
    match = CELL.fullmatch(cell.strip())
    name, kind, group, array = match.groups() if match else (cell, None, None, None)
    role = next((one for one in ROLES if one == kind), None)
    if role:
        return Column(name, role, group or "")
    datatype = DATATYPES.get((kind or "string").lower())
    if datatype is None:
        known = ", ".join((*(f":{one}" for one in ROLES), *DATATYPES))
        problem = f'column {number} of the header, "{shortened(cell)}", has the unknown type'
        raise InputError(path, f'{problem} "{kind}"; the types are {known}', line=1)
    if not name:
        raise InputError(path, f"column {number} of the header has no name; name it", line=1)
    return Column(name, "property", "", datatype, bool(array))


def _ids(file: _File, role: Role, *, prefixed: bool = False) -> pl.DataFrame:
    """The ids in the column of a role (column id); a row without one is an InputError."""
    number = file.number(role)
    assert number is not None  # _read has seen to it
    ids = file.cells(number).fill_null("")
    if (ids == "").any():
        line = file.table.lines[int((ids == "").arg_max() or 0)]
        raise InputError(file.table.path, f"column :{role} is empty; fill it", line=line)
    group = file.columns[number].group
    return (f"{group}:" + ids if prefixed and group else ids).rename("id").to_frame()


def _nodes(file: _File, clash: bool) -> PropertyTables:
    ids = _ids(file, "ID", prefixed=clash)["id"].rename("entity")
    nodes = pl.DataFrame([ids, file.table.lines.rename("line")])
    nodes = nodes.with_columns(file=pl.lit(str(file.table.path)))
    labels = pl.DataFrame(schema=LABELS)
    if (number := file.number("LABEL")) is not None:
        labels = pl.DataFrame({"entity": ids, "type": file.cells(number).str.split(ARRAY)})
        labels = labels.explode("type").with_columns(pl.col("type").str.strip_chars())
        labels = labels.filter(pl.col("type").fill_null("") != "")
    properties, vectors = _properties(file, ids)
    return PropertyTables(
        nodes=nodes.select(*NODES), labels=labels, properties=properties, counts=vectors
    )


def _edges(file: _File, clash: bool) -> PropertyTables:
    head, tail = (_ids(file, role, prefixed=clash)["id"] for role in ("START_ID", "END_ID"))
    number = file.number("TYPE")
    kinds = pl.Series([None], dtype=pl.String) if number is None else file.cells(number)
    edges = pl.DataFrame({"head": head, "tail": tail, "line": file.table.lines}).with_columns(
        relation=kinds.new_from_index(0, len(head)) if number is None else kinds,
        file=pl.lit(str(file.table.path)),
        is_directed=pl.lit(value=True),
    )
    rows = pl.int_range(len(edges), dtype=pl.Int64, eager=True).rename("triple")
    properties, vectors = _properties(file, rows)
    return PropertyTables(edges=edges.select(*EDGES), edge_properties=properties, counts=vectors)


def _properties(file: _File, owners: pl.Series) -> tuple[pl.DataFrame, dict[str, int]]:
    """owner, attribute, value, datatype of all columns of properties; how many vectors there were.

    An id that has a name is a property, too.
    """
    tables, vectors = [], 0
    for number, column in enumerate(file.columns):
        if not column.name or column.role not in ("property", "ID"):
            continue
        table = pl.DataFrame([owners, file.cells(number).rename("value")]).drop_nulls()
        if column.is_array:
            lists = table.with_columns(pl.col("value").str.split(ARRAY))
            is_vector = (pl.col("value").list.len() >= TUNING.semantics.vector) & (
                pl.lit(column.datatype == NUMBER)
            )
            vectors += lists.filter(is_vector).height
            table = lists.filter(~is_vector).explode("value")
        if column.datatype == BOOLEAN:
            table = table.with_columns(pl.col("value").str.to_lowercase())
        tables.append(
            table.filter(pl.col("value") != "").with_columns(
                attribute=pl.lit(column.name), datatype=pl.lit(column.datatype)
            )
        )
    schema = pl.Schema([(owners.name, owners.dtype), *VALUES.items()])
    every = [table.select(*schema) for table in tables] or [pl.DataFrame(schema=schema)]
    return pl.concat(every), {"vectors_left_out": vectors} if vectors else {}


def write_neo4j(graph: PropertyGraph, nodes: IO[bytes], relationships: IO[bytes]) -> list[str]:
    """Write the two files that neo4j-admin imports; what they cannot hold, in words.

    The nodes have the columns ``:ID``, one a property and ``:LABEL``, the relationships
    ``:START_ID``, one a property, ``:END_ID`` and ``:TYPE``. A property with several values
    somewhere is an array. A quote in a field is doubled; a missing value is an empty field.
    """
    labels = graph.labels.group_by("node", maintain_order=True).agg("label")
    listed = graph.nodes.to_frame("node").join(
        labels, on="node", how="left", maintain_order="left"
    )["label"]
    some, lost = _columns(graph.nodes, graph.properties)
    joined, semicolons = _arrays(listed)
    _write({":ID": graph.nodes, **some, ":LABEL": joined}, nodes)
    if semicolons:
        lost.append(f'the ";" of {semicolons} labels (written as ",")')

    rows = pl.int_range(len(graph.edges), dtype=pl.Int64, eager=True)
    more, also_lost = _columns(rows, graph.edge_properties)
    start, kind, end = graph.edges.select("start", "type", "end").get_columns()
    _write({":START_ID": start, **more, ":END_ID": end, ":TYPE": kind}, relationships)
    lost += also_lost
    if not graph.is_directed:
        lost.append("that edges have no direction")
    values = pl.concat([graph.properties["value"], graph.edge_properties["value"]])
    if breaks := int(values.str.contains("[\r\n]").sum()):
        lost.append(
            f"line breaks in {breaks} values, unless neo4j-admin is told --multiline-fields=true"
        )
    return lost


def _columns(owners: pl.Series, properties: pl.DataFrame) -> tuple[dict[str, pl.Series], list[str]]:
    """The columns of properties by their typed header, and what is lost, in words."""
    kinds = value_kinds(properties)
    several = keys_with_several(properties, properties.columns[0])
    columns, semicolons = {}, 0
    by_key = columns_by_key(owners, properties)
    names = distinct_names(key.replace(":", "_") for key in by_key)
    for name, (key, values) in zip(names, by_key.items(), strict=True):
        kind = KINDS[kinds[key]]
        if key in several:
            columns[f"{name}:{kind}[]"], changed = _arrays(values)
            semicolons += changed
        else:
            columns[name if kind == "string" else f"{name}:{kind}"] = values.list.first()
    lost = []
    if semicolons:
        lost.append(f'the ";" in {semicolons} values of arrays (written as ",")')
    if renamed := sum(":" in key for key in by_key):
        lost.append(f'the ":" in the names of {renamed} properties (written as "_")')
    return columns, lost


def _arrays(lists: pl.Series) -> tuple[pl.Series, int]:
    """Lists of text as arrays, null for none, and how many texts held what separates them."""
    texts = lists.explode().drop_nulls()
    changed = int(texts.str.contains(ARRAY, literal=True).sum())
    plain = lists.list.eval(pl.element().str.replace_all(ARRAY, ",", literal=True))
    return plain.list.join(ARRAY), changed


def _write(columns: dict[str, pl.Series], file: IO[bytes]) -> None:
    """Write a header and a line a row."""
    head = quoted(pl.Series(list(columns), dtype=pl.String))
    file.write((",".join(head) + "\n").encode())
    table = pl.DataFrame([column.alias(str(n)) for n, column in enumerate(columns.values())])
    for part in table.iter_slices(STEP):
        cells = pl.DataFrame([quoted(column) for column in part])
        lines = cells.select(pl.concat_str(pl.all(), separator=",")).to_series()
        file.write(("\n".join(lines) + "\n").encode())


def quoted(cells: pl.Series) -> pl.Series:
    """Cells of a CSV file; spaces at an end are kept, and an empty text is no missing value.

    >>> quoted(pl.Series(["a", 'b"c', " d", "", None])).to_list()
    ['a', '"b""c"', '" d"', '""', '']
    """
    inside = '"' + cells.str.replace_all('"', '""', literal=True) + '"'
    needed = cells.str.contains(r'[",\r\n]|^[\x00-\x20\s]|[\x00-\x20\s]$|^$')
    text: pl.Series = inside.zip_with(needed.fill_null(value=False), cells).fill_null("")
    return text.rename(cells.name)
