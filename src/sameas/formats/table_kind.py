"""What a table holds, by its header: triples, records, or parts of a property graph."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from sameas.graph.given_tables import column_names
from sameas.graph.records import is_called_id

TableKind = Literal["triples", "records", "edges", "nodes"]
"""A row is a statement, an entity, an edge, or a node by a header as neo4j-admin import has it."""
TRIPLE = ("head", "relation", "tail")
ENDS = (("source", "target"), ("from", "to"), ("src", "dst"), ("start", "end"))
"""What tables of edges call their two ends."""
TYPED = re.compile(r"[^:]*:(START_ID|END_ID|ID)(\(.*\))?(\{.*\})?", re.IGNORECASE)
"""A column of ids in a header as neo4j-admin import has it, such as :START_ID(Person)."""


def kind_of_header(header: Sequence[str]) -> TableKind | None:
    """What a table with this header holds; None if the header does not say.

    A table of records is known by a column of ids, which only its rows can tell for sure: a header
    in which a column is called an id says records here.

    >>> kind_of_header(["Subject", "predicate", "object"]), kind_of_header(["source", "target"])
    ('triples', 'edges')
    >>> kind_of_header([":START_ID", ":END_ID", ":TYPE"]), kind_of_header(["personId:ID", "name"])
    ('edges', 'nodes')
    >>> kind_of_header(["id", "name", "city"]), kind_of_header(["name", "city"])
    ('records', None)
    """
    names = [cell.strip().lower() for cell in header]
    typed = {match[1].upper() for cell in header if (match := TYPED.fullmatch(cell.strip()))}
    if typed & {"START_ID", "END_ID"}:
        return "edges"
    if "ID" in typed:
        return "nodes"
    if column_names(header, TRIPLE) is not None:
        return "triples"
    has_id = any(map(is_called_id, header))
    if {"source", "target"} <= set(names):
        return "edges"
    if has_id:
        return "records"
    return "edges" if any(set(ends) <= set(names) for ends in ENDS) else None
