"""The graphs in a run folder: as they were matched, and in ``raw`` as they were read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.errors import InputError, refusing
from sameas.formats.files import read_bytes
from sameas.graph.graph import Graph, Shape
from sameas.graph.kind import Kind
from sameas.graph.matched import NAMING_SCHEMA, MatchedGraph
from sameas.graph.property_tables import PropertyKeys
from sameas.graph.rdf.reading import Reading
from sameas.result.run_tables import (
    AGAIN,
    DAMAGED,
    check_types,
    read_if_there,
    read_table,
    write_tables,
)

RULES = ("id", "name", "label", "language", "include", "exclude", "blank_nodes", "link")
"""The options of reading by which a graph is understood, and written again in its shape."""
KINDS = pl.Series("kind", [kind.name.lower() for kind in Kind])


def write_graph(graph: MatchedGraph, folder: Path) -> None:
    """Write a graph as it was matched, and in the folder raw as it was read.

    Entities and triples that both have alike are written once.
    """
    tables = _tables_of(graph)
    if len(graph.linkable) < len(graph.entities):
        tables["linkable"] = graph.entities.gather(graph.linkable).to_frame("entity")
    if graph.name_paths:
        tables["name_paths"] = pl.DataFrame({"path": graph.name_paths})
    kinds = KINDS.gather(graph.kinds)
    tables |= {"naming": graph.naming, "entities": tables["entities"].with_columns(kinds)}
    folder.mkdir()
    write_tables(tables, folder)
    source = graph.source
    shared = source.entities is graph.entities and source.triples is graph.triples
    _write_source(source, folder / "raw", shared=shared and source.triple_graphs is None)


def _write_source(graph: Graph, folder: Path, *, shared: bool) -> None:
    """Write a graph as it was read, but for entities and triples that are ``shared``."""
    tables = _tables_of(graph)
    if shared:
        del tables["entities"], tables["triples"]
    if graph.triple_graphs is not None:
        tables["triples"] = tables["triples"].with_columns(graph=graph.triple_graphs)
    if graph.linkable is not None:
        tables["linkable"] = graph.entities.gather(graph.linkable).to_frame("entity")
    if graph.edge_properties is not None:
        tables["edge_properties"] = graph.edge_properties
    reading = graph.reading
    origin = {
        "shape": graph.shape,
        "shared": shared,
        "names_given": graph.given_names is not None,
        "reading": {name: getattr(reading, name) for name in RULES},
        "keys": None if graph.keys is None else asdict(graph.keys),
    }
    folder.mkdir()
    write_tables(tables, folder)
    text = json.dumps(origin, indent=2, ensure_ascii=False)
    (folder / "origin.json").write_text(text + "\n", encoding="utf8")


def _tables_of(graph: Graph | MatchedGraph) -> dict[str, pl.DataFrame]:
    """The tables that every graph has, by the names of their files."""
    head, relation, tail = graph.triples.T
    triples = {
        "head": graph.entities.gather(head),
        "relation": graph.relations.gather(relation),
        "tail": graph.entities.gather(tail),
    }
    tables = {
        "entities": pl.DataFrame({"entity": graph.entities, "name": graph.names}),
        "triples": pl.DataFrame(triples),
        "attributes": graph.attributes,
    }
    return {**tables, "alternatives": graph.alternatives} if len(graph.alternatives) else tables


def read_graph(folder: Path) -> MatchedGraph:
    """A graph as it was matched, with the graph as it was read."""
    tables = _read_tables(folder)
    graph, paths = _graph_of(tables, folder), tables["name_paths"]
    if (folder / "raw").is_dir():
        source = _read_source(folder / "raw", tables, graph)
    elif "kind" not in tables["entities"].columns:  # of an earlier version, and not RDF
        source = graph
    else:  # a part of RDF, of which the rest was not kept
        empty = {name: pl.lit("") for name in ("language", "datatype", "graph")}
        attributes = graph.attributes.with_columns(**empty)
        source = replace(graph, shape="rdf", attributes=attributes)
    size, naming = len(graph.entities), tables["naming"]
    matched = MatchedGraph(
        entities=graph.entities,
        names=graph.names,
        names_given=graph.names_given,
        relations=graph.relations,
        triples=graph.triples,
        attributes=graph.attributes,
        alternatives=graph.alternatives,
        linkable=np.arange(size) if graph.linkable is None else graph.linkable,
        kinds=_kinds_of(tables, folder),
        name_paths=() if paths is None else tuple(paths["path"]),
        naming=pl.DataFrame(schema=NAMING_SCHEMA) if naming is None else naming,
        source=source,
    )
    return matched.with_short_names()[0]


def _read_source(folder: Path, matched: Mapping[str, Any], graph: Graph) -> Graph:
    """A graph as it was read, in the shape that it had.

    What it shares with the graph as it was ``matched``, by its tables and as a ``graph``, is there.
    """
    origin = _read_origin(folder / "origin.json")
    shared = ("entities", "triples") if origin.get("shared") is True else ()
    tables = _read_tables(folder, {name: matched[name] for name in shared})
    triples, of_edges = tables["triples"], tables["edge_properties"]
    source = _graph_of(tables, folder)
    if "graph" in triples.columns:
        source = replace(source, triple_graphs=triples["graph"])
    if not origin:  # of a version that kept nothing about the shape
        return replace(source, shape="rdf")
    if of_edges is not None and not of_edges["triple"].is_between(0, len(triples) - 1).all():
        raise InputError(folder / "edge_properties.parquet", DAMAGED)
    if shared:
        parts = ("entities", "relations", "triples")
        source = replace(source, **{name: getattr(graph, name) for name in parts})
    return replace(
        source,
        shape=origin["shape"],
        reading=origin["reading"],
        given_names=source.given_names if origin["names_given"] else None,
        edge_properties=of_edges,
        keys=origin["keys"],
    )


def _read_origin(file: Path) -> dict[str, Any]:
    """What is known of a graph besides tables: shape, rules, keys; nothing of earlier versions."""
    if not file.exists():
        return {}
    with refusing(file, "is damaged", AGAIN):
        origin: dict[str, Any] = json.loads(read_bytes(file))
        keys = origin["keys"]
        if origin["shape"] not in get_args(Shape):
            raise ValueError("no shape")
        rules = {name: _frozen(origin["reading"][name]) for name in RULES}
        keys = None if keys is None else _property_keys(keys)
        given = bool(origin["names_given"])
        return {**origin, "reading": Reading(**rules), "keys": keys, "names_given": given}


def _property_keys(record: Mapping[str, Any]) -> PropertyKeys:
    keys = PropertyKeys(**{name: _frozen(value) for name, value in record.items()})
    check_types(keys)
    return keys


def _frozen(value: Any) -> Any:
    """A value that JSON held, a tuple in place of a list."""
    return tuple(value) if isinstance(value, list) else value


def _read_tables(
    folder: Path, shared: Mapping[str, pl.DataFrame] = MappingProxyType({})
) -> dict[str, Any]:
    """The tables of a graph by name, None for those that it has not."""
    required = {
        name: read_table(folder / f"{name}.parquet")
        for name in ("entities", "triples", "attributes")
        if name not in shared
    }
    optional = {
        name: read_if_there(folder / f"{name}.parquet")
        for name in ("alternatives", "linkable", "name_paths", "naming", "edge_properties")
    }
    return {**shared, **required, **optional}


def _graph_of(tables: Mapping[str, Any], folder: Path) -> Graph:
    """The graph that tables hold."""
    linkable = tables["linkable"]
    with refusing(folder, "is damaged", AGAIN):  # an entity may stand twice, or be unknown
        graph = Graph.from_triples(
            tables["triples"],
            entities=tables["entities"]["entity"],
            names=tables["entities"]["name"],
            attributes=tables["attributes"],
            alternatives=tables["alternatives"],
        )
        return replace(
            graph,
            attributes=tables["attributes"],
            linkable=None if linkable is None else graph.positions(linkable["entity"]),
        )


def _kinds_of(tables: Mapping[str, Any], folder: Path) -> NDArray[np.int8]:
    """The kind of each entity; individuals where an earlier version did not tell kinds apart."""
    if "kind" not in tables["entities"].columns:
        return np.full(len(tables["entities"]), Kind.INDIVIDUAL, dtype=np.int8)
    with refusing(folder, "is damaged", AGAIN):  # a kind may be unknown
        codes = range(len(KINDS))
        numbers = tables["entities"]["kind"].replace_strict(KINDS, codes, return_dtype=pl.Int8)
        kinds: NDArray[np.int8] = numbers.to_numpy()
        return kinds
