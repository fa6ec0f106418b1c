"""Any graph as a property graph: types as labels, literals as properties, triples as edges."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.graph.graph import TYPE_NODE, Graph
from sameas.graph.iri import TYPE, is_iri, last_part
from sameas.graph.labels import names_from_uris
from sameas.graph.property_graph import (
    EDGE_PROPERTIES,
    EDGES,
    NODE_LABELS,
    NODE_PROPERTIES,
    PropertyGraph,
)
from sameas.graph.property_tables import ID_NAME, UNTYPED

NAME = "name"
"""The property that holds names that were given apart from the graph."""
COLUMNS = ("entity", "attribute", "value", "datatype", "language")


def property_graph_of(graph: Graph) -> tuple[PropertyGraph, list[str]]:
    """Any graph as a property graph, and what that cannot hold, in words.

    Types are labels, and a class that is nothing but a type is no node. IRIs of properties,
    relations and types are shortened to their last part, where no other one ends like that.
    """
    is_type = (graph.relations == TYPE).to_numpy()[graph.triples[:, 1]]
    attributes = attributes_of(graph)
    names = short_names(attributes["attribute"].unique(maintain_order=True))
    tagged = int((attributes["language"] != "").sum())
    keys = graph.keys
    made = PropertyGraph(
        nodes=_nodes(graph, is_type, attributes["entity"]),
        labels=_labels(graph, is_type),
        properties=attributes.select(
            "value", "datatype", node="entity", key=pl.col("attribute").replace(names)
        ).select(list(NODE_PROPERTIES)),
        edges=_edges(graph, ~is_type),
        edge_properties=_edge_properties(graph, ~is_type),
        labels_key="labels" if keys is None else keys.types,
        type_key="type" if keys is None else keys.relation,
        untyped=UNTYPED if keys is not None and keys.has_untyped else None,
        is_directed=keys is None or keys.is_directed,
    )
    return made, [f"the languages of {tagged} values"] if tagged else []


def attributes_of(graph: Graph) -> pl.DataFrame:
    """entity, attribute, value, datatype, language: also names that were given apart from it."""
    attributes = graph.attributes.filter(pl.col("attribute") != ID_NAME)
    missing = [name for name in COLUMNS if name not in attributes.columns]
    attributes = attributes.with_columns(pl.lit("").alias(name) for name in missing)
    if graph.given_names is None:
        return attributes.select(COLUMNS)
    given = pl.DataFrame({"entity": graph.entities, "value": graph.given_names}).filter(
        (pl.col("value").fill_null("") != "") & (pl.col("value") != names_from_uris(graph.entities))
    )
    given = given.join(attributes, on=["entity", "value"], how="anti", maintain_order="left")
    empty = {name: pl.lit("") for name in ("datatype", "language")}
    rows = given.with_columns(attribute=pl.lit(NAME), **empty).select(COLUMNS)
    return pl.concat([rows, attributes.select(COLUMNS)])


def short_names(ids: pl.Series) -> dict[str, str]:
    """What each IRI is called: its last part, where no other one ends like that.

    >>> short_names(pl.Series(["http://a.org/name", "http://a.org/x#y", "http://b.org/y", "y z"]))
    {'http://a.org/name': 'name'}
    """
    texts = {text: last_part(text) if is_iri(text) else text for text in ids}
    counts = Counter(texts.values())
    return {text: short for text, short in texts.items() if counts[short] == 1 and short != text}


def _nodes(graph: Graph, is_type: NDArray[np.bool_], described: pl.Series) -> pl.Series:
    """The entities but those that are nothing but a type."""
    head, _, tail = graph.triples.T
    only_types = np.zeros(len(graph.entities), dtype=np.bool_)
    only_types[tail[is_type]] = True
    only_types[np.concatenate([head, tail[~is_type]])] = False
    positions = graph.positions(described.unique())
    only_types[positions[positions >= 0]] = False
    nodes: pl.Series = graph.entities.filter(pl.Series(~only_types)).rename("node")
    return nodes


def _labels(graph: Graph, is_type: NDArray[np.bool_]) -> pl.DataFrame:
    """node, label: the types of each entity."""
    head, _, tail = graph.triples[is_type].T
    classes = graph.entities.gather(np.unique(tail))
    marked = classes.str.starts_with(TYPE_NODE)
    plain = classes.filter(marked)
    names = dict(zip(plain, plain.str.strip_prefix(TYPE_NODE), strict=True))
    names |= short_names(classes.filter(~marked))
    labels = graph.entities.gather(tail).replace(names)
    table = pl.DataFrame({"node": graph.entities.gather(head), "label": labels}, NODE_LABELS)
    return table.unique(maintain_order=True)


def _edges(graph: Graph, is_edge: NDArray[np.bool_]) -> pl.DataFrame:
    """start, type, end: the triples that do not say a type."""
    head, relation, tail = graph.triples[is_edge].T
    kinds = graph.relations.replace(short_names(graph.relations))
    columns = {
        "start": graph.entities.gather(head),
        "type": kinds.gather(relation),
        "end": graph.entities.gather(tail),
    }
    return pl.DataFrame(columns, EDGES)


def _edge_properties(graph: Graph, is_edge: NDArray[np.bool_]) -> pl.DataFrame:
    """edge, key, value, datatype: the edge is a row of ``_edges``."""
    if graph.edge_properties is None:
        return pl.DataFrame(schema=EDGE_PROPERTIES)
    rows = pl.Series(np.where(is_edge, np.cumsum(is_edge) - 1, -1), dtype=pl.Int64)
    table = graph.edge_properties.select(
        "value", "datatype", key="attribute", edge=rows.gather(graph.edge_properties["triple"])
    )
    return table.filter(pl.col("edge") >= 0).select(list(EDGE_PROPERTIES))
