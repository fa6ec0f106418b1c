"""GraphML: property graphs as networkx, Gephi, yEd and apoc.export.graphml write them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import IO, Any, cast
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

import polars as pl

from sameas.errors import InputError, shortened
from sameas.formats.files import StrPath, open_stream
from sameas.formats.guards import Guarded
from sameas.formats.rdf_syntax import head_text
from sameas.graph.property_graph import (
    PropertyGraph,
    ValueKind,
    as_json,
    keys_with_several,
    value_kinds,
)
from sameas.graph.property_tables import (
    Edge,
    Node,
    PropertyKeys,
    PropertyTables,
    tables_of_parts,
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

REFUSED = {
    "hyperedge": "edges between more than two nodes",
    "port": "ports",
    "locator": "parts in other files",
}
"""Elements that are not read, and what they stand for."""
ROOT = re.compile(r"<(?:\w+:)?graphml[\s>]")


@dataclass
class _Key:
    """What a key declares: the name and type of a property, whether it is a list, its default."""

    name: str
    kind: str
    is_list: bool
    default: str | None = None


@dataclass
class _Document:
    """What was read of a GraphML file so far."""

    place: str
    keys: dict[str, _Key] = field(default_factory=dict)
    defaults: dict[str, list[str]] = field(default_factory=dict)
    """The keys of nodes and of edges that have a default."""
    is_directed: bool | None = None
    """None before the graph begins."""


def looks_like_graphml(head: bytes) -> bool:
    """Whether a file begins like GraphML."""
    return bool(ROOT.search(head_text(head)))


def read_graphml(path: StrPath) -> PropertyTables:
    """The property graph in a GraphML file, as networkx, Gephi, yEd, LightRAG or apoc write it."""
    with open_stream(path) as stream:
        if not looks_like_graphml(stream.head):
            raise InputError(stream.place, "is not GraphML: it does not begin with <graphml>")
        document = _Document(stream.place)
        tables = tables_of_parts(_parts(Guarded(stream, "graphml"), document), file=stream.place)
    if document.is_directed is None:
        raise InputError(document.place, "holds no graph; GraphML has an element graph")
    return replace(tables, keys=PropertyKeys(is_directed=document.is_directed))


def _parts(guarded: Guarded, document: _Document) -> Iterator[Node | Edge]:
    """The nodes and edges of a GraphML file, as they end."""
    parser: XMLPullParser[Any] = XMLPullParser(("start", "end"))
    inside: list[Element] = []
    while line := guarded.read():
        try:
            parser.feed(line)
            events = list(_events(parser))
        except ParseError as error:  # what expat alone does not mind, such as an unknown entity
            problem = f"not well-formed XML ({shortened(str(error))}); mend it"
            raise InputError(document.place, problem, line=guarded.line) from None
        for event, element in events:
            tag = _local(element)
            if event == "start":
                _begin(tag, element, [_local(one) for one in inside], document, guarded.line)
                inside.append(element)
                continue
            inside.pop()
            if tag == "key":
                _declare(element, document)
            elif tag == "node":
                yield _node(element, document, guarded.line)
            elif tag == "edge":
                yield _edge(element, document, guarded.line)
            if tag in ("node", "edge", "key") and inside:
                inside[-1].remove(element)


def _events(parser: XMLPullParser[Any]) -> Iterator[tuple[str, Element]]:
    """Beginnings and ends of elements, which are all that was asked for."""
    for event in parser.read_events():
        name, element = event  # type: ignore[misc]
        yield str(name), cast(Element, element)


def _begin(
    tag: str, element: Element, inside: list[str], document: _Document, line: int | None
) -> None:
    """Refuse what is not read, and note the direction of the graph."""
    if tag in REFUSED:
        problem = f"has {REFUSED[tag]} (<{tag}>), which are not read; leave them out"
        raise InputError(document.place, problem, line=line)
    if tag == "graph" and "node" in inside:
        problem = "has a graph inside a node, which is not read; save it without groups"
        raise InputError(document.place, problem, line=line)
    if tag == "graph":
        if document.is_directed is not None:
            raise InputError(document.place, "holds two graphs; save each to a file", line=line)
        document.is_directed = element.get("edgedefault", "directed") != "undirected"


def _local(element: Element) -> str:
    """The name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def _declare(element: Element, document: _Document) -> None:
    """Note a key; one without a name, as yEd has for shapes, is called "" and not a property."""
    default = next((one.text or "" for one in element if _local(one) == "default"), None)
    key, owner = element.get("id", ""), element.get("for", "all")
    list_of = element.get("attr.list", "")
    kind = list_of or element.get("attr.type", "string")
    is_drawing = any(name.startswith("yfiles") for name in element.attrib)
    name = element.get("attr.name", "" if is_drawing else key)
    document.keys[key] = _Key(name, kind, bool(list_of), default)
    if default:
        for each in ("node", "edge"):
            if owner in (each, "all"):
                document.defaults.setdefault(each, []).append(key)


def _properties(element: Element, document: _Document, line: int | None) -> dict[str, Any]:
    """The properties of a node or an edge; a text inside a yEd drawing is its label."""
    properties: dict[str, Any] = {}
    for key in document.defaults.get(_local(element), ()):
        of_default = document.keys[key]
        properties[of_default.name] = _value(of_default, of_default.default or "")
    for data in element:
        if _local(data) != "data":
            continue
        declared = document.keys.get(data.get("key", ""))
        if declared is None:
            problem = f'data has the key "{shortened(data.get("key", ""))}", which is not declared'
            raise InputError(document.place, f"{problem}; add <key id=...>", line=line)
        if declared.name:
            properties[declared.name] = _value(declared, data.text or "")
        else:
            drawn = [one for one in data.iter() if _local(one) in ("NodeLabel", "EdgeLabel")]
            texts = [text for one in drawn if (text := (one.text or "").strip())]
            if texts:
                properties.setdefault("label", texts[0])
    return properties


def _value(key: _Key, text: str) -> Any:
    """The value of data, of the type that its key declares, else as text."""
    text = text if key.kind == "string" else text.strip()
    if key.is_list:
        with suppress(ValueError):
            values = json.loads(text)
            return values if isinstance(values, list) else text
    with suppress(ValueError):
        if key.kind in ("int", "long") and text.isascii():
            return int(text)
        if key.kind in ("float", "double"):
            return float(text)
    if key.kind == "boolean" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    return text


def _node(element: Element, document: _Document, line: int | None) -> Node:
    if (id := element.get("id")) is None:
        raise InputError(document.place, "a node has no id; give it one", line=line)
    properties = _properties(element, document, line)
    if labels := element.get("labels"):  # as apoc writes them
        properties.setdefault("labels", labels)
    return Node(id, (), properties, line)


def _edge(element: Element, document: _Document, line: int | None) -> Edge:
    head, tail = element.get("source"), element.get("target")
    if head is None or tail is None:
        missing = "source" if head is None else "target"
        raise InputError(document.place, f"an edge has no {missing}; give it one", line=line)
    properties = _properties(element, document, line)
    if label := element.get("label"):  # as apoc writes it
        properties.setdefault("label", label)
    directed = element.get("directed", "true" if document.is_directed else "false") == "true"
    return Edge(head, tail, None, properties, directed, line)


def write_graphml(graph: PropertyGraph, file: IO[bytes]) -> list[str]:
    """Write a property graph as GraphML; what it cannot hold, in words.

    Labels and the type of an edge are data like properties, under the keys that the graph has for
    them; several labels are one text (``:A:B``). Several values of a property are one text, too: a
    JSON list.
    """
    from xml.sax.saxutils import escape, quoteattr  # slow to import

    graph, lost = _without_unwritable(graph)
    keys: dict[tuple[str, str], str] = {}

    def declare(owner: str, name: str, kind: str, *, is_list: bool = False) -> None:
        if (owner, name) not in keys:
            keys[owner, name] = f"d{len(keys)}"
            text = f'<key id="{keys[owner, name]}" for="{owner}" attr.name={quoteattr(name)} '
            list_of = f' attr.list="{kind}"' if is_list else ""  # as apoc writes them
            file.write(f'{text}attr.type="{"string" if is_list else kind}"{list_of}/>\n'.encode())

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
    if any(map(graph.type_property, graph.edges["type"].unique())):
        declare("edge", graph.type_key, "string")
    for owner, properties in (("node", graph.properties), ("edge", graph.edge_properties)):
        several = keys_with_several(properties, owner)
        for name, kind in value_kinds(properties).items():
            declare(owner, name, KINDS[kind], is_list=name in several)
    direction = "directed" if graph.is_directed else "undirected"
    file.write(f'<graph edgedefault="{direction}">\n'.encode())
    for node, labels, held in graph.each_node():
        if labels:
            held = {graph.labels_key: _joined(labels, graph.labels_key), **held}
        file.write(f"<node id={quoteattr(node)}>\n{data('node', held)}</node>\n".encode())
    for start, relation, end, held in graph.each_edge():
        ends = f"source={quoteattr(start)} target={quoteattr(end)}"
        held = {**graph.type_property(relation), **held}
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
