"""Graphs of other libraries as RDF statements or as tables of text."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl
import pyoxigraph as ox

from sameas.errors import OptionError, shortened
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


def tables_of_networkx(graph: Any) -> dict[str, Any]:
    """The arguments of ``Graph.from_triples`` for a networkx ``MultiDiGraph`` or ``DiGraph``.

    The relation of an edge is its attribute "relation", else its key. The node attributes
    "name" and "label" are names, the better first; all others are attributes.
    """
    if not graph.is_directed():
        raise OptionError("`graph` must be directed, got an undirected one instead")
    edges = (
        graph.edges(keys=True, data=True)
        if graph.is_multigraph()
        else ((head, tail, None, data) for head, tail, data in graph.edges(data=True))
    )
    triples, names, attributes = [], [], []
    for head, tail, key, data in edges:
        relation = data.get("relation", key)
        if relation is None:
            problem = f'(its key or "relation"), got none from {head!r} to {tail!r}'
            raise OptionError(f"`graph` must have a relation on each edge {problem}")
        triples.append((str(head), str(relation), str(tail)))
    for node, data in graph.nodes(data=True):
        labels = {name: data[name] for name in ("name", "label") if name in data}
        names += [(str(node), text) for text in _texts(labels.values())]
        for name in (name for name in data if name not in labels):
            attributes += [(str(node), str(name), text) for text in _texts([data[name]])]
    names = list(dict.fromkeys(names))
    first = dict(reversed(names))
    return {
        "triples": triples,
        "entities": [str(node) for node in graph.nodes],
        "names": first,
        "attributes": attributes,
        "alternatives": [row for row in names if first[row[0]] != row[1]],
    }


def _texts(values: Iterable[Any]) -> list[str]:
    """Values of node attributes as text; collections hold several, None and "" hold none."""
    texts = []
    for value in values:
        several = isinstance(value, list | tuple | set | frozenset)
        parts = [str(one) for one in (value if several else [value]) if one not in (None, "")]
        texts += sorted(parts) if isinstance(value, set | frozenset) else parts
    return texts
