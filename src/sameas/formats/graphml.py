"""GraphML: property graphs as networkx, Gephi, yEd and apoc.export.graphml write them."""

from __future__ import annotations

from dataclasses import replace
from typing import IO, Any
from xml.sax.saxutils import escape, quoteattr

import polars as pl

from sameas.graph.property_graph import (
    PropertyGraph,
    ValueKind,
    as_json,
    keys_with_several,
    value_kinds,
)

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
 xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns
 http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
"""
KINDS: dict[ValueKind, str] = {
    "text": "string",
    "integer": "long",
    "number": "double",
    "boolean": "boolean",
}
"""What GraphML calls the types of values."""
UNWRITABLE = "[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
"""Characters that XML 1.0 cannot hold, not even escaped."""


def write_graphml(graph: PropertyGraph, file: IO[bytes]) -> list[str]:
    """Write a property graph as GraphML; what it cannot hold, in words.

    Labels and the type of an edge are data like properties, under the keys that the graph has for
    them; several labels are one text (``:A:B``). Several values of a property are one text, too: a
    JSON list.
    """
    graph, lost = _without_unwritable(graph)
    keys: dict[tuple[str, str], str] = {}

    def declare(owner: str, name: str, kind: str) -> None:
        if (owner, name) not in keys:
            keys[owner, name] = f"d{len(keys)}"
            text = f'<key id="{keys[owner, name]}" for="{owner}" attr.name={quoteattr(name)} '
            file.write(f'{text}attr.type="{kind}"/>\n'.encode())

    def data(owner: str, values: dict[str, object]) -> str:
        lines = []
        for name, value in values.items():
            text = as_json(value) if isinstance(value, bool | list) else str(value)
            held = escape(text, {"\r": "&#13;"})
            lines.append(f'<data key="{keys[owner, name]}">{held}</data>\n')
        return "".join(lines)

    file.write(HEAD.encode())
    if len(graph.labels):
        declare("node", graph.labels_key, "string")
    if len(graph.edges):
        declare("edge", graph.type_key, "string")
    for owner, properties in (("node", graph.properties), ("edge", graph.edge_properties)):
        several = keys_with_several(properties, owner)
        for name, kind in value_kinds(properties).items():
            declare(owner, name, "string" if name in several else KINDS[kind])
    direction = "directed" if graph.is_directed else "undirected"
    file.write(f'<graph edgedefault="{direction}">\n'.encode())
    for node, labels, held in graph.each_node():
        if labels:
            held = {graph.labels_key: _joined(labels, graph.labels_key), **held}
        file.write(f"<node id={quoteattr(node)}>\n{data('node', held)}</node>\n".encode())
    for start, relation, end, held in graph.each_edge():
        ends = f"source={quoteattr(start)} target={quoteattr(end)}"
        held = {graph.type_key: relation, **held}
        file.write(f"<edge {ends}>\n{data('edge', held)}</edge>\n".encode())
    file.write(b"</graph>\n</graphml>\n")
    return lost


def _joined(labels: list[str], key: str) -> str:
    """The labels of a node in one text: ``:A:B`` under "labels", as apoc writes them."""
    return "".join(f":{label}" for label in labels) if key == "labels" else ";".join(labels)


def _without_unwritable(graph: PropertyGraph) -> tuple[PropertyGraph, list[str]]:
    """The graph with U+FFFD in place of what XML cannot hold, and how many values had such."""
    changed, tables = 0, dict[str, Any]()
    for name in ("labels", "properties", "edges", "edge_properties"):
        table: pl.DataFrame = getattr(graph, name)
        wrong = table.select(pl.any_horizontal(pl.col(pl.String).str.contains(UNWRITABLE)))
        if count := int(wrong.to_series().fill_null(value=False).sum()) if len(table) else 0:
            changed += count
            tables[name] = table.with_columns(
                pl.col(pl.String).str.replace_all(UNWRITABLE, "\ufffd")
            )
    if graph.nodes.str.contains(UNWRITABLE).any():
        tables["nodes"] = graph.nodes.str.replace_all(UNWRITABLE, "\ufffd")
    lost = [f"control characters in {changed} values (written as U+FFFD)"] if changed else []
    return (replace(graph, **tables), lost) if tables else (graph, lost)
