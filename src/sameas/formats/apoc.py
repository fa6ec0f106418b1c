"""JSON lines of apoc.export.json: a node or a relationship of Neo4j a line."""

from __future__ import annotations

from typing import IO

from sameas.graph.property_graph import PropertyGraph, as_json


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
