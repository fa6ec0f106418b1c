"""CSV of neo4j-admin import: nodes and relationships with typed headers."""

from __future__ import annotations

from typing import IO

import polars as pl

from sameas.graph.property_graph import (
    PropertyGraph,
    ValueKind,
    columns_by_key,
    distinct_names,
    keys_with_several,
    value_kinds,
)

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
