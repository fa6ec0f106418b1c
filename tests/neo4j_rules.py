"""A strict reader of CSV for neo4j-admin import, by the rules of Neo4j's operations manual."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

HEADER = re.compile(
    r"(?P<name>[^:]*)(?::(?P<type>[A-Za-z_]+)(?P<array>\[\])?(?:\((?P<space>.*)\))?)?"
)
VALUES: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("byte", "short", "int", "long"), int),
    **dict.fromkeys(("float", "double"), float),
    "boolean": lambda text: {"true": True, "false": False}[text],
    **dict.fromkeys(("char", "string", "date", "datetime", "localdatetime", "duration"), str),
}
SPECIAL = {"ID", "LABEL", "START_ID", "END_ID", "TYPE", "IGNORE"}


def fields(content: bytes) -> list[list[tuple[str, bool]]]:
    """The fields of each line, and whether each was quoted; anything ambiguous is an error."""
    text, rows, row, place = content.decode("utf8"), [], [], 0
    assert text.endswith("\n")
    while place < len(text):
        if text[place] == '"':
            found = re.compile(r'"((?:[^"]|"")*)"(?=[,\n])').match(text, place)
            assert found, f"quote without an end: {text[place : place + 40]!r}"
            row.append((found[1].replace('""', '"'), True))
        else:
            found = re.compile(r'([^",\r\n]*)(?=[,\n])').match(text, place)
            assert found, f"quote, or line break, in a field without quotes: {text[place:][:40]!r}"
            assert found[1] == found[1].strip(), f"spaces are trimmed: {found[1]!r}"
            row.append((found[1], False))
        place = found.end() + 1
        if text[found.end()] == "\n":
            rows.append(row)
            row = []
    return rows


def records(content: bytes, required: set[str]) -> list[dict[str, Any]]:
    """A dictionary a row: special fields by their type, properties with their values."""
    head, *rows = fields(content)
    columns = []
    for text, _ in head:
        column = HEADER.fullmatch(text)
        assert column, f"header {text!r}"
        kind = column["type"] or "string"
        assert kind in SPECIAL or kind in VALUES, f"type of {text!r}"
        assert kind in SPECIAL or column["name"], f"a property without a name: {text!r}"
        columns.append((column["name"], kind, bool(column["array"])))
    special = [kind for _, kind, _ in columns if kind in SPECIAL]
    names = [name for name, kind, _ in columns if kind not in SPECIAL]
    assert len(set(special)) == len(special)
    assert len(set(names)) == len(names), f"a property stands twice: {names}"
    assert required <= set(special)
    found = []
    for row in rows:
        assert len(row) == len(columns), f"{len(columns)} fields expected: {row}"
        properties, record = {}, dict[str, Any]()
        for (name, kind, array), (text, was_quoted) in zip(columns, row, strict=True):
            if kind in SPECIAL:
                record[kind] = text.split(";") if kind == "LABEL" and text else text or None
            elif text or was_quoted:
                parts = text.split(";") if array else [text]
                values = [VALUES[kind](part) for part in parts]
                properties[name] = values if array else values[0]
        found.append({**record, "properties": properties})
    return found


def imported(nodes: bytes, relationships: bytes) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The nodes by id, and the relationships; an error where neo4j-admin would end with one."""
    by_id: dict[str, Any] = {}
    for node in records(nodes, {"ID"}):
        assert node["ID"], "a node without id"
        assert node["ID"] not in by_id, f"the id {node['ID']!r} stands twice"
        by_id[node["ID"]] = node
    edges = records(relationships, {"START_ID", "END_ID", "TYPE"})
    for edge in edges:
        assert edge["TYPE"], f"no type: {edge}"
        assert {edge["START_ID"], edge["END_ID"]} <= by_id.keys(), f"an end is missing: {edge}"
    return by_id, edges
