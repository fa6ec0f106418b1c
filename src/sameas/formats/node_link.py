"""Node-link JSON: property graphs as networkx and D3 write them."""

from __future__ import annotations

from typing import IO

from sameas.graph.property_graph import PropertyGraph, as_json, distinct_names


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
        fixed = {"source": start, "target": end, "key": seen[ends], graph.type_key: kind}
        file.write((separator + as_json(_together(fixed, held))).encode())
        separator = ",\n"
    file.write(b"\n]}\n")
    return []


def _together(fixed: dict[str, object], held: dict[str, object]) -> dict[str, object]:
    names = distinct_names(held, taken=fixed)
    return {**fixed, **dict(zip(names, held.values(), strict=True))}
