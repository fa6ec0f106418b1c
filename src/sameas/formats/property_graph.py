"""Property graphs from files of any of their formats, checked."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import polars as pl

from sameas.errors import InputError, shortened
from sameas.formats.apoc import apoc_tables, looks_like_apoc, read_apoc
from sameas.formats.edge_table import read_edge_tables
from sameas.formats.files import StrPath, kind_of, open_stream
from sameas.formats.graphml import looks_like_graphml, read_graphml
from sameas.formats.graphrag import are_graphrag, read_graphrag
from sameas.formats.json_text import read_json
from sameas.formats.neo4j_csv import read_neo4j
from sameas.formats.node_link import looks_like_node_link, node_link_tables
from sameas.formats.raw_tables import RawTable
from sameas.formats.table_kind import TYPED
from sameas.graph.graph import Graph
from sameas.graph.property_tables import PropertyTables, joined_tables
from sameas.graph.rdf.reading import Reading

log = logging.getLogger(__name__)

TEXTS = (".csv", ".tsv", ".graphml", ".json", ".jsonl")
"""Formats of files that have lines."""
GraphFormat = Literal["GraphML", "node-link JSON", "JSON of apoc"]


def format_of(path: StrPath) -> GraphFormat | None:
    """The format of a property graph, by how the file begins; None if it begins otherwise."""
    with open_stream(path) as stream:
        head = stream.head
    if looks_like_graphml(head):
        return "GraphML"
    if looks_like_apoc(head):
        return "JSON of apoc"
    return "node-link JSON" if looks_like_node_link(head) else None


def read_property_graphs(paths: Sequence[Path], reading: Reading) -> Graph:
    """The property graph of files of GraphML or JSON, all of which are part of it."""
    formats = [_known_format(path) for path in paths]
    parts = [READERS[format](path) for path, format in zip(paths, formats, strict=True)]
    return checked_graph(joined_tables(parts), paths, reading)


def read_node_tables(tables: Sequence[RawTable], reading: Reading) -> Graph:
    """The property graph of tables: of neo4j-admin, of GraphRAG, or of edges and nodes."""
    paths = [table.path for table in tables]
    typed = [any(TYPED.fullmatch(cell.strip()) for cell in table.header) for table in tables]
    if any(typed):
        if not all(typed):
            other = paths[typed.index(False)]
            problem = "has no column :ID, :START_ID or :END_ID, unlike other tables of its side"
            raise InputError(other, f"{problem}; add it, or leave the file out", line=1)
        parts = read_neo4j(tables)
    elif are_graphrag([table.header for table in tables]):
        parts = read_graphrag(tables)
    else:
        parts = read_edge_tables(tables, reading.id)
    return checked_graph(parts, paths, reading)


def checked_graph(tables: PropertyTables, paths: Sequence[Path], reading: Reading) -> Graph:
    """The graph of tables in which ids are distinct and edges lead to nodes.

    An id that two nodes have is an InputError. Edges to nodes that are nowhere are left out, and
    counted; where all are, that is an InputError.
    """
    place = ",".join(map(str, paths))
    if not len(tables.nodes):
        raise InputError(place, "holds no nodes; a graph needs at least one")
    _refuse_repeated(tables.nodes)
    graph = Graph.from_properties(_without_loose_edges(tables, place), reading)
    if vectors := tables.counts.get("vectors_left_out"):
        log.warning("%s: embeddings (long lists of numbers) were left out: %d", place, vectors)
    return graph


def _known_format(path: Path) -> GraphFormat:
    if kind_of(path) == ".graphml":
        return "GraphML"
    if format := format_of(path):
        return format
    problem = (
        'begins neither like node-link JSON ({"nodes": [...], "links": [...]}) nor like an export '
        'of apoc ({"type": "node", ...})'
    )
    raise InputError(path, f"{problem}; convert it to one of these, or to a table")


def _read_json_graph(path: StrPath) -> PropertyTables:
    """The graph in an object that has "nodes": of networkx, or of apoc if it has "rels"."""
    content = read_json(path)
    return apoc_tables(path, content) if "rels" in content else node_link_tables(path, content)


READERS: dict[GraphFormat, Callable[[StrPath], PropertyTables]] = {
    "GraphML": read_graphml,
    "node-link JSON": _read_json_graph,
    "JSON of apoc": read_apoc,
}


def _refuse_repeated(nodes: pl.DataFrame) -> None:
    """Raise an InputError if two nodes have the same id."""
    if nodes["entity"].n_unique() == len(nodes):
        return
    second = nodes.filter(~nodes["entity"].is_first_distinct()).row(0, named=True)
    first = nodes.filter(nodes["entity"] == second["entity"]).row(0, named=True)
    place = first["file"] + (f":{first['line']}" if first["line"] else "")
    problem = f'the id "{shortened(second["entity"])}" is that of another node ({place}), too'
    remedy = "ids must be distinct, or stand in groups as in :ID(Person)"
    raise InputError(second["file"], f"{problem}; {remedy}", **_place_in(second))


def _place_in(record: Mapping[str, Any]) -> dict[str, int | None]:
    """Where a node or an edge stood: its line, or its row where a file has no lines."""
    return {"line" if kind_of(record["file"]) in TEXTS else "row": record["line"]}


def _without_loose_edges(tables: PropertyTables, place: str) -> PropertyTables:
    """The tables without edges to nodes that are nowhere; how many there were is said."""
    edges, ids = tables.edges, tables.nodes["entity"].implode()
    loose = ~(edges["head"].is_in(ids) & edges["tail"].is_in(ids))
    count = int(loose.sum())
    if not count:
        return tables
    first = edges.filter(loose).row(0, named=True)
    missing = next(
        first[end] for end in ("head", "tail") if not (tables.nodes["entity"] == first[end]).any()
    )
    if count == len(edges):
        problem = (
            f'no edge leads from node to node, the first because no node is called "{missing}"'
        )
        raise InputError(first["file"], f"{problem}; check the ids", **_place_in(first))
    log.warning(
        '%s: edges to nodes that are nowhere were left out: %d, the first to "%s"%s',
        place,
        count,
        shortened(missing),
        "".join(f" in {word} {n} of {first['file']}" for word, n in _place_in(first).items() if n),
    )
    rows = pl.DataFrame({"triple": pl.arg_where(~loose, eager=True).cast(pl.Int64)})
    rows = rows.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
    kept = tables.edge_properties.join(rows, on="triple", maintain_order="left")
    return replace(
        tables,
        edges=edges.filter(~loose),
        edge_properties=kept.with_columns(triple="row").drop("row"),
        counts={**tables.counts, "edges_to_unknown_nodes_left_out": count},
    )
