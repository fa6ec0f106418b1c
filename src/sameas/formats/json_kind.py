"""Whether JSON holds records or a property graph, by how it begins."""

from __future__ import annotations

import json

from sameas.formats.apoc import looks_like_apoc

JSON_SUFFIXES = (".json", ".jsonl")


def begins_like_records(head: bytes) -> bool:
    """Whether the first bytes of JSON begin a list of objects, or lines of them, that are records.

    An object with "nodes" begins a graph as networkx writes it (node-link), and lines with "type"
    node or relationship are an export of Neo4j's APOC.

    >>> begins_like_records(b'{"id": 1, "name": "Ann"}'), begins_like_records(b'[{"id": 1}]')
    (True, True)
    >>> begins_like_records(b'{"type": "node", "id": "0", "labels": ["Person"]}')
    False
    """
    text = head.decode(errors="ignore").lstrip()
    if text.startswith("["):
        return not looks_like_apoc(head)
    try:
        first, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):  # one object over many lines, or one long line
        return not any(mark in text for mark in ('"nodes"', '"relationship"', '"node"'))
    if not isinstance(first, dict):
        return True  # to be refused where records are read
    return "nodes" not in first and first.get("type") not in ("node", "relationship")
