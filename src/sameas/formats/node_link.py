"""Node-link JSON: property graphs as networkx and D3 write them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import IO, Any

from sameas.errors import InputError, shortened
from sameas.formats.files import StrPath
from sameas.graph.property_graph import PropertyGraph, as_json, distinct_names
from sameas.graph.property_tables import (
    EDGE_KEY,
    Edge,
    Node,
    PropertyKeys,
    PropertyTables,
    tables_of_parts,
)

BEGINS = re.compile(rb'\s*\{\s*"(?:directed|multigraph|graph|nodes|links|edges)"\s*:')
"""How node-link JSON begins."""


def looks_like_node_link(head: bytes) -> bool:
    """Whether a file begins like node-link JSON.

    >>> looks_like_node_link(b'{"directed": true, "nodes": []}'), looks_like_node_link(b"[]")
    (True, False)
    """
    return bool(BEGINS.match(head))


def node_link_tables(path: StrPath, content: dict[str, Any]) -> PropertyTables:
    """The property graph in node-link JSON, as networkx and D3 write it.

    Edges are under "links" or "edges". Without "directed", they have no direction.
    """
    edges = next((key for key in ("links", "edges") if key in content), "")
    if "nodes" not in content or not edges:
        problem = 'is no node-link JSON, which is an object with "nodes" and "links" or "edges"'
        raise InputError(path, f"{problem}; check the file")
    directed = content.get("directed", False) is True
    tables = tables_of_parts(_parts(path, content, edges, directed), file=str(path))
    return replace(tables, keys=PropertyKeys(is_directed=directed))


def _parts(
    path: StrPath, content: dict[str, Any], edges: str, directed: bool
) -> Iterator[Node | Edge]:
    for number, node in enumerate(_objects(path, content, "nodes", ("id",)), start=1):
        if (id := node_id(node["id"])) is None:
            raise InputError(path, f'"id" of node {number} is empty; fill it')
        yield Node(id, (), {key: value for key, value in node.items() if key != "id"})
    for number, edge in enumerate(_objects(path, content, edges, ("source", "target")), start=1):
        head, tail = node_id(edge["source"]), node_id(edge["target"])
        if head is None or tail is None:
            raise InputError(path, f'"source" or "target" of edge {number} is empty; fill it')
        properties = {k: v for k, v in edge.items() if k not in ("source", "target", "key")}
        if isinstance(edge.get("key"), str):
            properties[EDGE_KEY] = edge["key"]
        yield Edge(head, tail, None, properties, directed)


def node_id(value: Any) -> str | None:
    """The id of a node as text, None where it is empty; D3 may put the node itself there."""
    if isinstance(value, dict):
        value = value.get("id")
    if value is None or value == "":
        return None
    return value if isinstance(value, str) else as_json(value)


def _objects(
    path: StrPath, content: dict[str, Any], name: str, needed: tuple[str, ...]
) -> list[dict[str, Any]]:
    """The objects of a list, which must have the keys that are needed."""
    rows = content[name]
    if not isinstance(rows, list):
        raise InputError(path, f'"{name}" is to be a list, found {type(rows).__name__}')
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict) or not set(needed) <= set(row):
            keys = " and ".join(f'"{key}"' for key in needed)
            problem = f'element {number} of "{name}" is to be an object with {keys}'
            raise InputError(path, f"{problem}, found {shortened(as_json(row))}")
    return rows


def write_node_link(graph: PropertyGraph, file: IO[bytes]) -> list[str]:
    """Write a property graph as node-link JSON; it holds everything.

    Nodes have ``id``, their labels and their properties, edges ``source``, ``target``, ``key``
    (a number that tells edges between the same nodes apart), their type and their properties. A
    property that is called like one of these has an underscore behind its name.
    """
    direction = "true" if graph.is_directed else "false"
    file.write(f'{{"directed": {direction}, "multigraph": true, "graph": {{}}, '.encode())
    file.write(b'"nodes": [')
    separator = "\n"
    for node, labels, held in graph.each_node():
        fixed: dict[str, object] = {"id": node}
        if labels:
            fixed[graph.labels_key] = labels if len(labels) > 1 else labels[0]
        file.write((separator + as_json(_together(fixed, held))).encode())
        separator = ",\n"
    file.write(b'\n], "edges": [')
    separator, seen = "\n", dict[tuple[str, str], int]()
    for start, kind, end, held in graph.each_edge():
        ends = (start, end) if graph.is_directed else (min(start, end), max(start, end))
        seen[ends] = seen.get(ends, -1) + 1
        fixed = {"source": start, "target": end, "key": seen[ends], **graph.type_property(kind)}
        file.write((separator + as_json(_together(fixed, held))).encode())
        separator = ",\n"
    file.write(b"\n]}\n")
    return []


def _together(fixed: dict[str, object], held: dict[str, object]) -> dict[str, object]:
    names = distinct_names(held, taken=fixed)
    return {**fixed, **dict(zip(names, held.values(), strict=True))}
