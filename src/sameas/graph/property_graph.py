"""Property graphs: nodes with labels and properties, and edges with a type and properties."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl

from sameas.graph.iri import XSD

NODE_LABELS = pl.Schema({"node": pl.String, "label": pl.String})
NODE_PROPERTIES = pl.Schema(
    {"node": pl.String, "key": pl.String, "value": pl.String, "datatype": pl.String}
)
EDGES = pl.Schema({"start": pl.String, "type": pl.String, "end": pl.String})
EDGE_PROPERTIES = pl.Schema(
    {"edge": pl.Int64, "key": pl.String, "value": pl.String, "datatype": pl.String}
)
ValueKind = Literal["text", "integer", "number", "boolean"]
"""What the values of a property are in files that tell numbers from text."""
INTEGERS = ("integer", "int", "long", "short", "byte", "nonNegativeInteger")
NUMBERS = ("double", "float", "decimal")
BOOLEANS = {"true": True, "false": False}
CASTS: dict[ValueKind, Any] = {"integer": int, "number": float, "boolean": BOOLEANS.get}
"""How the text of a value becomes a Python value; text stays text."""
LIST = "[]"
"""Ends the datatype of values that stood in a list, also where there is one."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PropertyGraph:
    """A property graph as files hold it. A property may have several values: rows of one key."""

    nodes: pl.Series
    """Ids, distinct."""
    labels: pl.DataFrame
    """node, label."""
    properties: pl.DataFrame
    """node, key, value, datatype ("" for text)."""
    edges: pl.DataFrame
    """start, type, end; all ends are nodes."""
    edge_properties: pl.DataFrame = field(
        default_factory=lambda: pl.DataFrame(schema=EDGE_PROPERTIES)
    )
    """edge (a row of ``edges``), key, value, datatype."""
    labels_key: str = "labels"
    """The property of a node that holds its labels, in formats that have no place for them."""
    type_key: str = "type"
    """The property of an edge that holds its type, in formats that have no place for it."""
    untyped: str | None = None
    """The type that stands for none, which formats without a place for types need not hold."""
    is_directed: bool = True

    def each_node(self) -> Iterator[tuple[str, list[str], dict[str, Any]]]:
        """The id, the labels and the properties of each node, as Python values."""
        labels = _grouped(self.labels, "node", "label")
        properties = dict(_rows(self.properties, "node"))
        for node in self.nodes:
            yield node, labels.get(node, []), properties.get(node, {})

    def type_property(self, kind: str) -> dict[str, str]:
        """The type of an edge as a property; none for that of edges without one."""
        return {} if kind == self.untyped else {self.type_key: kind}

    def each_edge(self) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
        """The start, the type, the end and the properties of each edge, as Python values."""
        properties = dict(_rows(self.edge_properties, "edge"))
        for row, (start, kind, end) in enumerate(self.edges.select(list(EDGES)).iter_rows()):
            yield start, kind, end, properties.get(row, {})


def value_kinds(properties: pl.DataFrame) -> dict[str, ValueKind]:
    """What the values of each key are: text, unless all are numbers or booleans that can be read.

    >>> columns = {"key": ["a", "b"], "value": ["1", "1"], "datatype": ["", XSD + "int"]}
    >>> value_kinds(pl.DataFrame(columns))
    {'a': 'text', 'b': 'integer'}
    """
    value = pl.col("value")
    datatype = pl.col("datatype").str.strip_prefix(XSD).str.strip_suffix(LIST)
    number = value.cast(pl.Float64, strict=False)
    kinds = properties.group_by("key", maintain_order=True).agg(
        integer=(datatype.is_in(INTEGERS) & value.cast(pl.Int64, strict=False).is_not_null()).all(),
        number=(
            datatype.is_in([*INTEGERS, *NUMBERS]) & number.is_finite().fill_null(value=False)
        ).all(),
        boolean=((datatype == "boolean") & value.is_in(list(BOOLEANS))).all(),
    )
    choice = (
        pl.when("integer")
        .then(pl.lit("integer"))
        .when("number")
        .then(pl.lit("number"))
        .when("boolean")
        .then(pl.lit("boolean"))
        .otherwise(pl.lit("text"))
    )
    return dict(kinds.select("key", choice.alias("kind")).iter_rows())


def keys_with_several(properties: pl.DataFrame, owner: str) -> set[str]:
    """The keys of which some owner ("node" or "edge") has several values, or a list of one."""
    counts = properties.group_by(owner, "key").len().filter(pl.col("len") > 1)
    listed = properties.filter(pl.col("datatype").str.ends_with(LIST))
    return {*counts["key"], *listed["key"]}


def columns_by_key(owners: pl.Series, properties: pl.DataFrame) -> dict[str, pl.Series]:
    """The values of each key as lists of text, in the order of the owners; null for none.

    ``properties`` has the owners in its first column.
    """
    owner = properties.columns[0]
    table = owners.to_frame(owner)
    cells = properties.group_by("key", owner, maintain_order=True).agg("value")
    parts = cells.partition_by("key", as_dict=True, maintain_order=True)
    return {
        str(key): table.join(part, on=owner, how="left", maintain_order="left")["value"]
        for (key,), part in parts.items()
    }


def distinct_names(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """The names, with underscores behind those that stand there or are taken already.

    >>> distinct_names(["a", "id", "a"], taken=["id"])
    ['a', 'id_', 'a_']
    """
    used, free = set(taken), []
    for name in names:
        while name in used:
            name += "_"
        used.add(name)
        free.append(name)
    return free


def as_json(value: object) -> str:
    """A value as JSON, on one line."""
    return json.dumps(value, ensure_ascii=False)


def _grouped(table: pl.DataFrame, by: str, column: str) -> dict[Any, list[str]]:
    return dict(table.group_by(by, maintain_order=True).agg(column).select(by, column).iter_rows())


def _rows(properties: pl.DataFrame, owner: str) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Each owner with its properties: a value, or a list where it has several."""
    kinds = value_kinds(properties)
    is_list = (pl.len() > 1) | pl.col("datatype").str.ends_with(LIST).any()
    cells = properties.group_by(owner, "key", maintain_order=True).agg("value", is_list=is_list)
    owners = cells.group_by(owner, maintain_order=True).agg("key", "value", "is_list")
    for one, keys, values, lists in owners.select(owner, "key", "value", "is_list").iter_rows():
        held = {}
        for key, texts, several in zip(keys, values, lists, strict=True):
            cast = CASTS.get(kinds[key], str)
            held[key] = [cast(text) for text in texts] if several else cast(texts[0])
        yield one, held
