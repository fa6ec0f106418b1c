"""Property graphs as tables: nodes with labels and properties, edges with a type and properties.

Every reader of a property graph makes ``PropertyTables``; what is a type, a relation or a name in
them is found here, the same way for all formats.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import polars as pl

from sameas.graph.iri import XSD
from sameas.graph.labels import are_identifiers, looks_like_words, names_from_uris
from sameas.graph.rdf.reading import Reading
from sameas.options.tuning import TUNING, SemanticsTuning

UNTYPED = "related"
"""The relation of edges that have no type."""
ID_NAME = "(id)"
"""The attribute that holds the ids of nodes as names, where ids are words and nothing else names
the node; it is not a property, and never written."""
EDGE_KEY = "(key)"
"""The property that holds the key of an edge of a multigraph until its relation is known."""
TYPE_KEYS = ("labels", "entitytype", "nodetype", "type", "label")
"""Properties of nodes that hold types, the better first."""
AMBIGUOUS_TYPES = ("type", "label")
"""Types only where they have few distinct values."""
RELATION_KEYS = ("relation", "type", "label", "relationship", "predicate", "edgetype", "name")
"""Properties of edges that hold the relation; the one that most edges have counts."""
NAME_KEYS = ("name", "title", "label", "entityid", "entityname", "displayname", "fullname")
"""Properties of nodes that hold names, the better first."""
AMBIGUOUS_NAMES = ("title", "label")
"""Names only where most nodes have another one: a title may be that of a job."""
LIGHTRAG = frozenset({"entity_id", "source_id"})
"""Properties that nodes of LightRAG have, and what it notes about where a node was found."""
LIGHTRAG_NOTES = ("source_id", "file_path", "created_at", "truncate")

BOOLEAN, INTEGER, NUMBER = f"{XSD}boolean", f"{XSD}integer", f"{XSD}double"
"""Datatypes of values that are no text."""
TEXT = pl.String()
VALUES = {"attribute": TEXT, "value": TEXT, "datatype": TEXT}
NODES = pl.Schema({"entity": TEXT, "file": TEXT, "line": pl.Int64()})
LABELS = pl.Schema({"entity": TEXT, "type": TEXT})
PROPERTIES = pl.Schema({"entity": TEXT} | VALUES)
EDGES = pl.Schema(
    {
        "head": TEXT,
        "relation": TEXT,
        "tail": TEXT,
        "is_directed": pl.Boolean(),
        "file": TEXT,
        "line": pl.Int64(),
    }
)
EDGE_PROPERTIES = pl.Schema([("triple", pl.Int64()), *VALUES.items()])


@dataclass(frozen=True, kw_only=True)
class PropertyKeys:
    """How a property graph was written, so that it can be written like that again."""

    types: str = "labels"
    """The property of a node that held its labels."""
    relation: str = "type"
    """The property of an edge that held its type."""
    is_directed: bool = True
    has_untyped: bool = False
    """Whether edges had no type, which is then ``UNTYPED``."""
    not_compared: tuple[str, ...] = ()
    """Properties that tell nothing about what a node is, such as ids of the text it was found in:
    kept to be written, and not compared."""


class Node(NamedTuple):
    """One node of a property graph; its ``line`` where the file has lines."""

    id: str
    labels: Sequence[str]
    properties: Mapping[str, Any]
    line: int | None = None


class Edge(NamedTuple):
    """One edge of a property graph; its relation is None where only its properties may tell."""

    head: str
    tail: str
    relation: str | None
    properties: Mapping[str, Any]
    is_directed: bool = True
    line: int | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class PropertyTables:
    """A property graph as it was written. Tables have the columns of the schemas above."""

    nodes: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=NODES))
    labels: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=LABELS))
    properties: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=PROPERTIES))
    edges: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=EDGES))
    """The relation is null where it is not known."""
    edge_properties: pl.DataFrame = field(
        default_factory=lambda: pl.DataFrame(schema=EDGE_PROPERTIES)
    )
    """``triple`` is a row of ``edges``."""
    keys: PropertyKeys = PropertyKeys()
    names: tuple[str, ...] = ()
    """Properties that are known to hold names, the better first."""
    counts: Mapping[str, int] = field(default_factory=dict)


def tables_of_parts(parts: Iterable[Node | Edge], *, file: str = "") -> PropertyTables:
    """The tables of nodes and edges that come in any order."""
    counts = Counter[str]()
    nodes: list[tuple[Any, ...]] = []
    labels: list[tuple[Any, ...]] = []
    properties: list[tuple[Any, ...]] = []
    edges: list[tuple[Any, ...]] = []
    edge_properties: list[tuple[Any, ...]] = []
    for part in parts:
        if isinstance(part, Node):
            nodes.append((part.id, file, part.line))
            labels += [(part.id, label) for label in part.labels if label]
            properties += [(part.id, *row) for row in _rows(part.properties, counts)]
        else:
            number = len(edges)
            edges.append((part.head, part.relation, part.tail, part.is_directed, file, part.line))
            edge_properties += [(number, *row) for row in _rows(part.properties, counts)]
    return PropertyTables(
        nodes=pl.DataFrame(nodes, schema=NODES, orient="row"),
        labels=pl.DataFrame(labels, schema=LABELS, orient="row"),
        properties=pl.DataFrame(properties, schema=PROPERTIES, orient="row"),
        edges=pl.DataFrame(edges, schema=EDGES, orient="row"),
        edge_properties=pl.DataFrame(edge_properties, schema=EDGE_PROPERTIES, orient="row"),
        counts=counts,
    )


def column_properties(
    owners: pl.Series, table: pl.DataFrame, *, tuning: SemanticsTuning = TUNING.semantics
) -> tuple[pl.DataFrame, dict[str, int]]:
    """owner, attribute, value, datatype of typed columns; how many vectors were left out.

    A list has several values. Missing and empty values are left out.
    """
    schema = pl.Schema([(owners.name, owners.dtype), *VALUES.items()])
    tables, vectors = [pl.DataFrame(schema=schema)], 0
    for column in table:
        values = pl.DataFrame([owners, column.rename("value")]).drop_nulls()
        if isinstance(column.dtype, pl.List | pl.Array):
            lists = values.with_columns(pl.col("value").cast(pl.List(column.dtype.inner)))
            is_vector = pl.col("value").list.len() >= tuning.vector
            is_vector = is_vector & pl.lit(column.dtype.inner.is_float())
            vectors += lists.filter(is_vector).height
            values = lists.filter(~is_vector).explode("value").drop_nulls()
        kind = values["value"].dtype
        if kind.is_nested() or kind == pl.Binary:
            texts = pl.col("value").map_elements(str, return_dtype=pl.String)
        else:
            texts = pl.col("value").cast(pl.String)
        values = values.with_columns(
            texts, attribute=pl.lit(column.name), datatype=pl.lit(_datatype(kind))
        )
        tables.append(values.filter(pl.col("value") != "").select(*schema))
    return pl.concat(tables), {"vectors_left_out": vectors} if vectors else {}


def _datatype(kind: pl.DataType) -> str:
    if kind.is_integer():
        return INTEGER
    if kind.is_float() or kind.is_decimal():
        return NUMBER
    return BOOLEAN if kind == pl.Boolean else ""


def joined_tables(parts: Sequence[PropertyTables]) -> PropertyTables:
    """The tables of several files in one; how the first was written counts."""
    counts, edge_properties, above = Counter[str](), [], 0
    for part in parts:
        counts.update(part.counts)
        edge_properties.append(part.edge_properties.with_columns(pl.col("triple") + above))
        above += len(part.edges)
    return PropertyTables(
        nodes=pl.concat([part.nodes for part in parts]),
        labels=pl.concat([part.labels for part in parts]),
        properties=pl.concat([part.properties for part in parts]),
        edges=pl.concat([part.edges for part in parts]),
        edge_properties=pl.concat(edge_properties),
        keys=parts[0].keys,
        names=tuple(dict.fromkeys(name for part in parts for name in part.names)),
        counts=counts,
    )


def _rows(properties: Mapping[str, Any], counts: Counter[str]) -> list[tuple[str, str, str]]:
    """attribute, value and datatype of properties; a list has several values."""
    rows = []
    for name, value in properties.items():
        several = isinstance(value, list | tuple | set | frozenset)
        values = list(value) if several else [value]
        if is_vector(values):
            counts["vectors_left_out"] += 1
            continue
        typed = [text for text in map(typed_text, values) if text is not None]
        if isinstance(value, set | frozenset):
            typed.sort()
        rows += [(str(name), text, datatype) for text, datatype in typed]
    return rows


def is_vector(values: Sequence[Any], *, tuning: SemanticsTuning = TUNING.semantics) -> bool:
    """Whether values are the numbers of an embedding, which no one compares one by one."""
    return len(values) >= tuning.vector and all(isinstance(value, float) for value in values)


def typed_text(value: Any) -> tuple[str, str] | None:
    """The text of a value and the IRI of its datatype ("" for text); None where it is missing.

    >>> [typed_text(value) for value in ("a", {"x": 1}, None)]
    [('a', ''), ('{"x": 1}', ''), None]
    >>> typed_text(True)
    ('true', 'http://www.w3.org/2001/XMLSchema#boolean')
    """
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str):
        return value, ""
    if isinstance(value, bool):
        return str(value).lower(), BOOLEAN
    if isinstance(value, int):
        return str(value), INTEGER
    if isinstance(value, float):
        return repr(value), NUMBER
    if isinstance(value, dict | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=str), ""
    return str(value), ""


def plain_key(key: str) -> str:
    """A property's name without case and separators, as names of properties are compared.

    >>> plain_key("Entity_Type")
    'entitytype'
    """
    return re.sub(r"[\W_]", "", key).lower()


def with_types(
    tables: PropertyTables, *, tuning: SemanticsTuning = TUNING.semantics
) -> PropertyTables:
    """The tables with types as labels, where nodes have these as a property."""
    if len(tables.labels):
        return tables
    shares = (
        tables.properties.group_by("attribute", maintain_order=True)
        .agg(distinct=pl.col("value").n_unique() / pl.len())
        .iter_rows()
    )
    keys = [
        (TYPE_KEYS.index(plain_key(key)), key)
        for key, distinct in shares
        if plain_key(key) in TYPE_KEYS
        and (plain_key(key) not in AMBIGUOUS_TYPES or distinct <= tuning.most_types)
    ]
    if not keys:
        return tables
    key = min(keys)[1]
    is_type = tables.properties["attribute"] == key
    values = tables.properties.filter(is_type).select(
        "entity",  # Neo4j's exports write ":Person:Employee"
        type=pl.when(pl.col("value").str.starts_with(":"))
        .then(pl.col("value").str.split(":"))
        .otherwise(pl.concat_list("value")),
    )
    labels = values.explode("type").filter(pl.col("type").fill_null("") != "")
    return replace(
        tables,
        labels=labels,
        properties=tables.properties.filter(~is_type),
        keys=replace(tables.keys, types=key),
    )


def with_relations(
    tables: PropertyTables,
    *,
    key: str | None = None,
    tuning: SemanticsTuning = TUNING.semantics,
) -> PropertyTables:
    """The tables with a relation on each edge, and undirected edges in one direction.

    ``key`` is the property that holds the relations; by default it is found. An edge without it
    has its key in a multigraph as relation, where keys are no identifiers.
    """
    if key is None and tables.edges["relation"].null_count():
        key = _relation_key(tables.edge_properties)
    edges = tables.edges.with_row_index("triple").with_columns(pl.col("triple").cast(pl.Int64))
    for name in filter(None, (key, EDGE_KEY)):
        values = tables.edge_properties.filter(pl.col("attribute") == name)
        if name == EDGE_KEY and _are_edge_ids(values["value"], tuning):
            continue
        values = values.unique("triple", keep="first").select("triple", found="value")
        edges = (
            edges.join(values, on="triple", how="left", maintain_order="left")
            .with_columns(relation=pl.coalesce("relation", "found"))
            .drop("found")
        )
    untyped = edges["relation"].null_count()
    is_turned = ~pl.col("is_directed") & (pl.col("head") > pl.col("tail"))
    edges = edges.with_columns(
        relation=pl.col("relation").fill_null(UNTYPED),
        head=pl.when(is_turned).then("tail").otherwise("head"),
        tail=pl.when(is_turned).then("head").otherwise("tail"),
    ).select(*EDGES)
    others = tables.edge_properties.filter(~pl.col("attribute").is_in([key or EDGE_KEY, EDGE_KEY]))
    return replace(
        tables,
        edges=edges,
        edge_properties=others,
        keys=replace(tables.keys, relation=key or tables.keys.relation, has_untyped=untyped > 0),
        counts={**tables.counts, "edges_without_type": untyped} if untyped else tables.counts,
    )


def _relation_key(properties: pl.DataFrame) -> str | None:
    """The property of edges that holds their relation: of the usual ones, the most frequent."""
    held = properties.group_by("attribute").agg(edges=pl.col("triple").n_unique())
    ranked = [
        (-edges, RELATION_KEYS.index(plain_key(name)), name)
        for name, edges in held.iter_rows()
        if plain_key(name) in RELATION_KEYS
    ]
    return min(ranked)[2] if ranked else None


def _are_edge_ids(keys: pl.Series, tuning: SemanticsTuning) -> bool:
    """Whether keys of edges in a multigraph number them, rather than being relations."""
    if not len(keys):
        return True
    numbered = keys.str.contains(r"\d").sum() / len(keys)
    return numbered > tuning.most_types and keys.n_unique() / len(keys) > tuning.most_types


def with_names(
    tables: PropertyTables, *, tuning: SemanticsTuning = TUNING.semantics
) -> PropertyTables:
    """The tables with the properties that hold names, and ids as names where these are words."""
    present = tables.properties["attribute"].unique(maintain_order=True).to_list()
    usual = [
        (NAME_KEYS.index(plain_key(key)), key)
        for key in present
        if plain_key(key) in NAME_KEYS
        and (plain_key(key) not in AMBIGUOUS_NAMES or _tells_apart(tables, key, tuning))
    ]
    names = tuple(dict.fromkeys([*tables.names, *(key for _, key in sorted(usual))]))
    named = tables.properties.filter(pl.col("attribute").is_in(names))["entity"]
    ids = tables.nodes["entity"]
    bare = ids.filter(~ids.is_in(named.unique().implode()))
    if not len(bare) or not _are_names(ids, tuning):
        return replace(tables, names=names)
    parted = bare.str.contains("[/#]")  # a name with a slash is no path
    texts = bare.str.replace_all("_", " ").zip_with(parted, names_from_uris(bare))
    rows = pl.DataFrame({"entity": bare, "value": texts}).with_columns(
        attribute=pl.lit(ID_NAME), datatype=pl.lit("")
    )
    return replace(
        tables,
        names=(*names, ID_NAME),
        properties=pl.concat([tables.properties, rows.select(*PROPERTIES)]),
    )


def _tells_apart(tables: PropertyTables, key: str, tuning: SemanticsTuning) -> bool:
    """Whether most nodes of each label have another value of a property."""
    values = tables.properties.filter(pl.col("attribute") == key)
    values = values.join(tables.labels, on="entity", how="left")
    shares = values.group_by("type").agg(
        share=pl.col("value").n_unique() / pl.col("entity").n_unique()
    )
    return bool((shares["share"] > tuning.most_types).all())


def _are_names(ids: pl.Series, tuning: SemanticsTuning) -> bool:
    """Whether ids of nodes are words, neither identifiers nor IRIs."""
    words = looks_like_words(ids, tuning=tuning) & ~ids.str.contains("://", literal=True)
    share = (words & ~are_identifiers(ids)).mean()
    return isinstance(share, float) and share >= tuning.least_words


def with_notes(tables: PropertyTables) -> PropertyTables:
    """The tables with what LightRAG notes of nodes marked as not to be compared."""
    present = set(tables.properties["attribute"].unique())
    if not present >= LIGHTRAG:
        return tables
    notes = tuple(name for name in LIGHTRAG_NOTES if name in present)
    return replace(tables, keys=replace(tables.keys, not_compared=notes))


def understood_tables(tables: PropertyTables, *, relation: str | None = None) -> PropertyTables:
    """The tables with types, relations and names found."""
    return with_names(with_notes(with_relations(with_types(tables), key=relation)))


def reading_of(tables: PropertyTables, reading: Reading | None) -> Reading:
    """The reading with the properties that hold names, after those that the user says."""
    reading = reading or Reading()
    names = (*reading.label, *reading.name, *tables.names)
    return replace(reading, label=tuple(dict.fromkeys(names)))
