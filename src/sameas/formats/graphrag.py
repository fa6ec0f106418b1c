"""GraphRAG's Parquet files: entities and relationships."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import IO

import polars as pl

from sameas.errors import InputError, shortened
from sameas.formats.raw_tables import RawTable
from sameas.formats.tables import errors_of
from sameas.graph.graph import Graph
from sameas.graph.property_graph import (
    PropertyGraph,
    ValueKind,
    columns_by_key,
    distinct_names,
    keys_with_several,
    value_kinds,
)
from sameas.graph.property_tables import (
    EDGES,
    NODES,
    UNTYPED,
    PropertyKeys,
    PropertyTables,
    column_properties,
    joined_tables,
)

RELATED = UNTYPED
"""The type of all relationships, which GraphRAG's have not."""
TITLES = ("title", "name")
"""The column that names entities; it was "name" before GraphRAG 1.0."""
NOTES = ("human_readable_id", "text_unit_ids", "frequency", "degree", "x", "y", "top_level_node_id")
"""Columns about the run and the texts, which tell nothing about what an entity is."""
FILES = (
    ("entities.parquet", "relationships.parquet"),
    ("create_final_entities.parquet", "create_final_relationships.parquet"),
)
"""What the two files are called in GraphRAG's output folder, now and before 1.0."""
TEXTS = ("id", "title", "description")
"""Columns that hold one text, also of things of which several are known."""
SEPARATOR = "\n"
"""Stands between several texts of a column that holds one."""
LISTS = ("text_unit_ids", "covariate_ids")
"""Columns that are lists in every row, also of one value."""
COUNTED = ("human_readable_id", "degree", "combined_degree")
"""Columns that are counted anew when a graph is written."""
KINDS: dict[ValueKind, type[pl.DataType]] = {
    "text": pl.String,
    "integer": pl.Int64,
    "number": pl.Float64,
    "boolean": pl.Boolean,
}


def graphrag_files(folder: Path) -> list[Path]:
    """The two files of GraphRAG in its output folder; none if it has no entities."""
    for names in FILES:
        if (folder / names[0]).is_file():
            return [folder / name for name in names if (folder / name).is_file()]
    return []


def are_graphrag(headers: Sequence[Sequence[str]]) -> bool:
    """Whether tables are GraphRAG's entities and relationships, by their columns.

    >>> are_graphrag([["id", "title", "type", "description"], ["source", "target", "description"]])
    True
    """
    ends = [header for header in headers if {"source", "target"} <= set(header)]
    others = [header for header in headers if header not in ends]
    return bool(ends and others) and all(
        {"id", "type", "description"} <= set(header) and set(TITLES) & set(header)
        for header in others
    )


def read_graphrag(tables: Sequence[RawTable]) -> PropertyTables:
    """The property graph of GraphRAG's tables; relationships lead to entities by title."""
    entities = [table for table in tables if "source" not in table.header]
    nodes = [_nodes(table) for table in entities]
    titles = pl.concat([titled for _, titled in nodes])
    if titles["title"].is_duplicated().any():
        title = titles.filter(titles["title"].is_duplicated())["title"][0]
        problem = f'two entities have the title "{shortened(title)}", by which relationships name'
        raise InputError(entities[0].path, f"{problem} them; make titles distinct")
    edges = [_edges(table, titles) for table in tables if "source" in table.header]
    return joined_tables([*(part for part, _ in nodes), *edges])


def _nodes(table: RawTable) -> tuple[PropertyTables, pl.DataFrame]:
    """The entities of a table, and the title of each (columns title, id)."""
    title = next(name for name in TITLES if name in table.header)
    ids, titles = _text_column(table, "id"), _text_column(table, title)
    for name, column in (("id", ids), (title, titles)):
        if (column.fill_null("") == "").any():
            row = int((column.fill_null("") == "").arg_max() or 0) + 1
            raise InputError(table.path, f'column "{name}" is empty; fill it', row=row)
    nodes = pl.DataFrame([ids.rename("entity"), table.lines.rename("line")])
    nodes = nodes.with_columns(file=pl.lit(str(table.path)))
    labels = pl.DataFrame({"entity": ids, "type": _text_column(table, "type")})
    labels = labels.filter(pl.col("type").str.strip_chars().fill_null("") != "")
    rest = table.rows.drop("id", "type")
    with errors_of(table.path):
        properties, counts = column_properties(ids.rename("entity"), rest)
    keys = PropertyKeys(types="type", is_directed=False, not_compared=NOTES)
    part = PropertyTables(
        nodes=nodes.select(*NODES),
        labels=labels,
        properties=properties,
        keys=keys,
        names=(title,),
        counts=counts,
    )
    return part, pl.DataFrame([titles.rename("title"), ids.rename("id")])


def _text_column(table: RawTable, name: str) -> pl.Series:
    """A column as text; one of lists or bytes is an InputError."""
    column = table.rows[name]
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        problem = f'text expected in column "{name}", found {column.dtype}'
        raise InputError(table.path, f"{problem}; write it as text")
    texts: pl.Series = column.cast(pl.String)
    return texts


def _edges(table: RawTable, titles: pl.DataFrame) -> PropertyTables:
    """The relationships of a table; they have no direction."""
    ends = []
    for side in ("source", "target"):
        column = _text_column(table, side).fill_null("")
        ids = _looked_up(column, titles["title"], titles["id"])
        ends.append(column.zip_with(ids.is_null(), ids))  # unknown ones are told of later
    edges = pl.DataFrame({"head": ends[0], "tail": ends[1]}).with_columns(
        relation=pl.lit(UNTYPED),
        is_directed=pl.lit(value=False),
        file=pl.lit(str(table.path)),
        line=table.lines,
    )
    rows = pl.int_range(len(edges), dtype=pl.Int64, eager=True).rename("triple")
    with errors_of(table.path):
        properties, counts = column_properties(rows, table.rows.drop("source", "target"))
    return PropertyTables(edges=edges.select(*EDGES), edge_properties=properties, counts=counts)


def write_graphrag(
    graph: PropertyGraph, entities: IO[bytes], relationships: IO[bytes]
) -> list[str]:
    """Write entities.parquet and relationships.parquet; what they cannot hold, in words.

    Relationships name their ends by title, so titles are made distinct: where two nodes have the
    same one, the id stands behind it. Several descriptions are joined by a line break. Degrees
    and human-readable ids are counted anew.
    """
    columns, lost = _columns(graph.nodes, graph.properties)
    titles = columns.pop("title", graph.nodes).fill_null("")
    unclear = (titles == "") | titles.is_duplicated()
    behind = pl.DataFrame([titles.alias("title"), graph.nodes.alias("id")])
    named = behind.select((pl.col("title") + " (" + pl.col("id") + ")").str.strip_chars_start())
    titles = named.to_series().zip_with(unclear, titles)
    if unclear.any():
        lost.append(f"{unclear.sum()} titles that are not distinct (the id was put behind them)")
    first = graph.labels.unique("node", keep="first", maintain_order=True)
    if further := len(graph.labels) - len(first):
        lost.append(f"{further} labels of nodes that have more than one (the first is the type)")
    degree = _degrees(graph)
    table = {
        "id": _filled(columns.pop("id", None), graph.nodes),
        "human_readable_id": pl.int_range(len(titles), dtype=pl.Int64, eager=True),
        "title": titles,
        "type": _looked_up(graph.nodes, first["node"], first["label"]),
        "description": columns.pop("description", _texts("", len(titles))),
        **_renamed(columns),
        "degree": degree,
    }
    _write(table, entities)
    return [*lost, *_write_relationships(graph, titles, degree, relationships)]


def _write_relationships(
    graph: PropertyGraph, titles: pl.Series, degree: pl.Series, file: IO[bytes]
) -> list[str]:
    """Write the relationships; the type of one that has no description is its description."""
    rows = pl.int_range(len(graph.edges), dtype=pl.Int64, eager=True)
    columns, lost = _columns(rows, graph.edge_properties)
    kinds = graph.edges["type"]
    described = columns.pop("description", kinds).fill_null("")
    hidden = int(((described != kinds) & (kinds != RELATED)).sum())
    if hidden:
        lost.append(f"the types of {hidden} relationships, which have a description instead")
    source, target = (_looked_up(graph.edges[end], graph.nodes, titles) for end in ("start", "end"))
    degrees = [_looked_up(graph.edges[end], graph.nodes, degree) for end in ("start", "end")]
    table = {
        "id": _filled(columns.pop("id", None), rows.cast(pl.String)),
        "human_readable_id": rows,
        "source": source,
        "target": target,
        "description": described,
        "weight": columns.pop("weight", pl.repeat(1.0, len(rows), dtype=pl.Float64, eager=True)),
        **_renamed(columns),
        "combined_degree": degrees[0] + degrees[1],
    }
    _write(table, file)
    return lost


def _columns(owners: pl.Series, properties: pl.DataFrame) -> tuple[dict[str, pl.Series], list[str]]:
    """The columns of properties but those that are counted anew, and what is lost, in words."""
    properties = properties.filter(~pl.col("key").is_in(COUNTED))
    kinds = value_kinds(properties)
    several = keys_with_several(properties, properties.columns[0])
    columns, left_out = {}, 0
    for key, lists in columns_by_key(owners, properties).items():
        kind = KINDS[kinds[key]]
        if key in LISTS or (key in several and kind == pl.String and key not in TEXTS):
            columns[key] = lists
        elif kind == pl.String:
            columns[key] = lists.list.join(SEPARATOR)
        else:
            left_out += int((lists.list.len() > 1).sum())
            columns[key] = _typed(lists.list.first(), kind)
    words = f"{left_out} numbers where two things that are one have two (the first is kept)"
    return columns, [words] if left_out else []


def _filled(texts: pl.Series | None, others: pl.Series) -> pl.Series:
    """The texts, with others in place of those that are missing."""
    filled: pl.Series = others if texts is None else others.zip_with(texts.is_null(), texts)
    return filled


def _typed(texts: pl.Series, kind: type[pl.DataType]) -> pl.Series:
    values: pl.Series = texts == "true" if kind == pl.Boolean else texts.cast(kind)
    return values


def _degrees(graph: PropertyGraph) -> pl.Series:
    """How many edges each node has."""
    ends = pl.concat([graph.edges["start"], graph.edges["end"]]).rename("node")
    counts = ends.value_counts(name="count")
    degrees = _looked_up(graph.nodes, counts["node"], counts["count"])
    counted: pl.Series = degrees.fill_null(0).cast(pl.Int64)
    return counted


def _looked_up(keys: pl.Series, known: pl.Series, values: pl.Series) -> pl.Series:
    """The value of each key, null for those that are not known."""
    table = pl.DataFrame([known.alias("key"), values.alias("value")])
    joined = keys.to_frame("key").join(table, on="key", how="left", maintain_order="left")
    return joined["value"]


def _renamed(columns: dict[str, pl.Series]) -> dict[str, pl.Series]:
    """Further columns, under names that GraphRAG's own columns do not have."""
    names = distinct_names(columns, taken=(*COUNTED, "id", "title", "type", "source", "target"))
    return dict(zip(names, columns.values(), strict=True))


def _texts(text: str, size: int) -> pl.Series:
    return pl.repeat(text, size, dtype=pl.String, eager=True)


def _write(columns: dict[str, pl.Series], file: IO[bytes]) -> None:
    pl.DataFrame([column.alias(name) for name, column in columns.items()]).write_parquet(file)


def is_graphrag(graph: Graph) -> bool:
    """Whether a graph was made of GraphRAG's files: it has what these note of where things are."""
    keys = set(graph.attributes["attribute"].unique())
    return "text_unit_ids" in keys and graph.shape == "property graph"
