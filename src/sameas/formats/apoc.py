"""JSON lines of apoc.export.json: a node or a relationship of Neo4j a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import IO, Any

from sameas.errors import InputError, shortened
from sameas.formats.files import StrPath, open_stream
from sameas.formats.json_text import read_json, read_json_lines
from sameas.formats.node_link import node_id
from sameas.graph.property_graph import PropertyGraph, as_json
from sameas.graph.property_tables import Edge, Node, PropertyTables, tables_of_parts

BEGINS = re.compile(rb'\s*\[?\s*\{[^{}]*"type"\s*:\s*"(?:node|relationship)"')
"""How JSON lines and arrays of apoc begin."""


def looks_like_apoc(head: bytes) -> bool:
    """Whether a file begins like JSON lines of apoc, or like an array of them.

    >>> looks_like_apoc(b'{"type":"node","id":"0"}'), looks_like_apoc(b'{"type":"Product"}')
    (True, False)
    """
    return bool(BEGINS.match(head))


def read_apoc(path: StrPath) -> PropertyTables:
    """The property graph in JSON lines of apoc.export.json, or in an array of such objects."""
    with open_stream(path) as stream:
        is_array = stream.head.lstrip().startswith(b"[")
    objects: Iterable[tuple[int | None, Any]] = (
        ((None, one) for one in read_json(path)) if is_array else read_json_lines(path)
    )
    return tables_of_parts(_parts(path, objects), file=str(path))


def apoc_tables(path: StrPath, content: dict[str, Any]) -> PropertyTables:
    """The property graph in an object with "nodes" and "rels", each a list or objects by id."""
    groups = [content.get(name) or [] for name in ("nodes", "rels")]
    objects = [
        one for group in groups for one in (group.values() if isinstance(group, dict) else group)
    ]
    return tables_of_parts(_parts(path, ((None, one) for one in objects)), file=str(path))


def _parts(path: StrPath, objects: Iterable[tuple[int | None, Any]]) -> Iterator[Node | Edge]:
    """Nodes and relationships; a node that only ends of relationships tell of comes last."""
    stated, ends = set[str](), dict[str, Node]()
    for line, one in objects:
        if not isinstance(one, dict) or one.get("type") not in ("node", "relationship"):
            problem = (
                f'an object of "type" "node" or "relationship" is expected, found {_text(one)}'
            )
            raise InputError(path, problem, line=line)
        if one["type"] == "node":
            node = _node(path, one, line)
            stated.add(node.id)
            yield node
            continue
        sides = [one.get(side) for side in ("start", "end")]
        head, tail = map(node_id, sides)
        if head is None or tail is None:
            missing = "start" if head is None else "end"
            raise InputError(path, f'a relationship has no "{missing}"; give its id', line=line)
        for side in sides:
            if isinstance(side, dict) and "labels" in side:
                node = _node(path, side, line)
                ends.setdefault(node.id, node)
        label = one.get("label")
        yield Edge(head, tail, str(label) if label else None, _held(path, one, line), line=line)
    yield from (node for id, node in ends.items() if id not in stated)


def _node(path: StrPath, one: dict[str, Any], line: int | None) -> Node:
    if (id := node_id(one.get("id"))) is None:
        raise InputError(path, f'a node has no "id": {_text(one)}; give it one', line=line)
    labels = one.get("labels") or []
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise InputError(
            path, f'"labels" is to be a list of texts, found {_text(labels)}', line=line
        )
    return Node(id, labels, _held(path, one, line), line)


def _held(path: StrPath, one: dict[str, Any], line: int | None) -> dict[str, Any]:
    """The properties of a node or relationship."""
    properties = one.get("properties") or {}
    if not isinstance(properties, dict):
        problem = f'"properties" is to be an object, found {_text(properties)}'
        raise InputError(path, problem, line=line)
    return properties


def _text(value: object) -> str:
    return shortened(as_json(value))


def write_apoc(graph: PropertyGraph, file: IO[bytes]) -> list[str]:
    """Write a property graph as apoc.export.json does; what it cannot hold, in words."""
    labels_of = {}
    for node, labels, held in graph.each_node():
        line: dict[str, object] = {"type": "node", "id": node}
        if labels:
            line["labels"] = labels_of[node] = labels
        if held:
            line["properties"] = held
        file.write((as_json(line) + "\n").encode())
    for number, (start, kind, end, held) in enumerate(graph.each_edge()):
        line = {"type": "relationship", "id": str(number), "label": kind}
        if held:
            line["properties"] = held
        for side, node in (("start", start), ("end", end)):
            known = {"labels": labels_of[node]} if node in labels_of else {}
            line[side] = {"id": node, **known}
        file.write((as_json(line) + "\n").encode())
    return [] if graph.is_directed else ["that edges have no direction"]
