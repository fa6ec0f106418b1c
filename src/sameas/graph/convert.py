"""Graphs of other libraries as RDF statements or as nodes and edges."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import polars as pl
import pyoxigraph as ox

from sameas.errors import OptionError, shortened
from sameas.graph.property_tables import EDGE_KEY, Edge, Node
from sameas.graph.rdf.statements import statements_of


def statements_of_rdflib(graph: Any) -> Iterator[pl.DataFrame]:
    """The statements of an rdflib ``Graph`` or ``Dataset``, some thousands at a time."""
    dataset = hasattr(graph, "quads")
    with warnings.catch_warnings():  # rdflib calls functions that it deprecates
        warnings.simplefilter("ignore", DeprecationWarning)
        content = graph.serialize(format="nquads" if dataset else "nt", encoding="utf-8")
    format = ox.RdfFormat.N_QUADS if dataset else ox.RdfFormat.N_TRIPLES
    try:
        yield from statements_of(ox.parse(input=content, format=format))
    except SyntaxError as error:
        raise OptionError(f"`graph` must be valid RDF: {shortened(error.msg, 200)}") from None


def parts_of_networkx(graph: Any, relation: str | None = None) -> Iterator[Node | Edge]:
    """The nodes and edges of a networkx graph of any kind.

    The key of an edge is its relation only if it is a text. ``relation`` is the attribute that
    every edge must have as its relation, where there is one.
    """
    directed = graph.is_directed()
    for node, data in graph.nodes(data=True):
        yield Node(str(node), (), data)
    edges = (
        graph.edges(keys=True, data=True)
        if graph.is_multigraph()
        else ((head, tail, None, data) for head, tail, data in graph.edges(data=True))
    )
    for head, tail, key, data in edges:
        if relation is not None and data.get(relation) is None:
            problem = f'an attribute "{relation}" on each edge, got none from {head!r} to {tail!r}'
            raise OptionError(f"`graph` must have {problem}")
        keyed = {EDGE_KEY: key} if isinstance(key, str) and relation is None else {}
        yield Edge(str(head), str(tail), None, {**data, **keyed}, directed)
