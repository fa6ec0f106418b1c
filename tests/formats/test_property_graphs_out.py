"""Property graphs out: what other tools load is what was written."""

from __future__ import annotations

import io
import json

import networkx as nx
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neo4j_rules import imported
from sameas.formats.apoc import write_apoc
from sameas.formats.graphml import write_graphml
from sameas.formats.graphrag import write_graphrag
from sameas.formats.neo4j_csv import write_neo4j
from sameas.formats.node_link import write_node_link
from sameas.graph.iri import XSD
from sameas.graph.property_graph import (
    EDGE_PROPERTIES,
    EDGES,
    NODE_LABELS,
    NODE_PROPERTIES,
    PropertyGraph,
)

INTEGER, DOUBLE, BOOLEAN = f"{XSD}integer", f"{XSD}double", f"{XSD}boolean"


def table(rows, schema):
    return pl.DataFrame(rows, schema=schema, orient="row")


def made(nodes, *, labels=(), properties=(), edges=(), of_edges=(), **more):
    return PropertyGraph(
        nodes=pl.Series("id", nodes, dtype=pl.String),
        labels=table(labels, NODE_LABELS),
        properties=table(properties, NODE_PROPERTIES),
        edges=table(edges, EDGES),
        edge_properties=table(of_edges, EDGE_PROPERTIES),
        **more,
    )


def written(write, graph, files=1):
    """The bytes of the files that were written, and what they cannot hold."""
    out = [io.BytesIO() for _ in range(files)]
    lost = write(graph, *out)
    return (*(file.getvalue() for file in out), lost)


SHOP = made(
    ["P1", "P2", " C1"],
    labels=[("P1", "Product"), ("P1", "Tea"), ("P2", "Product")],
    properties=[
        ("P1", "name", 'Chai, "strong"\n<&>', ""),
        ("P1", "price", "18.00", DOUBLE),
        ("P2", "price", "19", DOUBLE),
        ("P1", "stock", "3", INTEGER),
        ("P2", "fair", "true", BOOLEAN),
        ("P2", "name", "Chang", ""),
        ("P2", "name", "CHANG", ""),
    ],
    edges=[("P1", "PART_OF", " C1"), ("P1", "PART_OF", " C1"), ("P2", "PART_OF", " C1")],
    of_edges=[(0, "since", "1996", INTEGER), (2, "since", "1997", INTEGER)],
)


def test_graphml_as_networkx_reads_it():
    content, lost = written(write_graphml, SHOP)
    graph = nx.read_graphml(io.BytesIO(content))
    assert graph.nodes["P1"] == {
        "labels": ":Product:Tea",
        "name": 'Chai, "strong"\n<&>',
        "price": 18.0,
        "stock": 3,
    }
    assert graph.nodes["P2"]["fair"] is True
    assert json.loads(graph.nodes["P2"]["name"]) == ["Chang", "CHANG"]
    assert [data for *_, data in graph.edges(data=True)] == [
        {"type": "PART_OF", "since": 1996},
        {"type": "PART_OF"},
        {"type": "PART_OF", "since": 1997},
    ]
    assert lost == []


def test_graphml_says_what_xml_cannot_hold():
    graph = made(["a"], properties=[("a", "name", "x\x01", "")])
    content, lost = written(write_graphml, graph)
    assert nx.read_graphml(io.BytesIO(content)).nodes["a"]["name"] == "x\ufffd"
    assert lost == ["control characters in 1 values (written as U+FFFD)"]


def test_node_link_as_networkx_reads_it():
    content, _ = written(write_node_link, SHOP)
    graph = nx.node_link_graph(json.loads(content), edges="edges")
    assert graph.is_directed()
    assert graph.nodes["P2"]["name"] == ["Chang", "CHANG"]
    assert graph.nodes["P1"]["labels"] == ["Product", "Tea"]
    assert graph.number_of_edges("P1", " C1") == 2
    assert sorted(data.get("since", 0) for *_, data in graph.edges(data=True)) == [0, 1996, 1997]


def test_a_property_called_id_does_not_replace_the_id():
    graph = made(["a"], properties=[("a", "id", "7", "")])
    content, _ = written(write_node_link, graph)
    assert json.loads(content)["nodes"] == [{"id": "a", "id_": "7"}]


def test_apoc_has_a_line_a_node_and_a_relationship():
    content, _ = written(write_apoc, SHOP)
    lines = [json.loads(line) for line in content.splitlines()]
    assert [line["type"] for line in lines] == ["node"] * 3 + ["relationship"] * 3
    assert lines[0]["properties"]["price"] == 18.0
    assert lines[3] == {
        "type": "relationship",
        "id": "0",
        "label": "PART_OF",
        "properties": {"since": 1996},
        "start": {"id": "P1", "labels": ["Product", "Tea"]},
        "end": {"id": " C1"},
    }


def test_neo4j_has_typed_headers_arrays_and_quotes():
    nodes, relationships, lost = written(write_neo4j, SHOP, 2)
    assert nodes.splitlines()[0] == b":ID,name:string[],price:double,stock:long,fair:boolean,:LABEL"
    assert relationships.splitlines()[0] == b":START_ID,since:long,:END_ID,:TYPE"
    by_id, edges = imported(nodes, relationships)
    assert by_id["P1"] == {
        "ID": "P1",
        "LABEL": ["Product", "Tea"],
        "properties": {"name": ['Chai, "strong"\n<&>'], "price": 18.0, "stock": 3},
    }
    assert by_id["P2"]["properties"]["name"] == ["Chang", "CHANG"]
    assert by_id[" C1"]["properties"] == {}
    assert [edge["properties"] for edge in edges] == [{"since": 1996}, {}, {"since": 1997}]
    assert lost == ["line breaks in 1 values, unless neo4j-admin is told --multiline-fields=true"]


def test_neo4j_says_what_an_array_cannot_hold():
    properties = [("a", "a:b", "x;y", ""), ("a", "a:b", "z", "")]
    graph = made(["a"], labels=[("a", "L;M")], properties=properties)
    nodes, relationships, lost = written(write_neo4j, graph, 2)
    by_id, _ = imported(nodes, relationships)
    assert by_id["a"]["properties"] == {"a_b": ["x,y", "z"]}
    assert by_id["a"]["LABEL"] == ["L,M"]
    assert len(lost) == 3


@pytest.mark.parametrize(
    "wrong", [b':ID\na"b\n', b":ID\na\na\n", b":ID,x:text\na,\n", b":ID\n a\n"]
)
def test_the_checker_of_neo4j_is_strict(wrong):
    with pytest.raises(AssertionError):
        imported(wrong, b":START_ID,:END_ID,:TYPE\n")


def test_graphrag_as_pandas_reads_it():
    entities, relationships, lost = written(write_graphrag, SHOP, 2)
    found = pd.read_parquet(io.BytesIO(entities))
    assert list(found["title"]) == ["P1", "P2", " C1"]
    assert list(found["degree"]) == [2, 1, 3]
    assert list(found["type"])[:2] == ["Product", "Product"]
    edges = pd.read_parquet(io.BytesIO(relationships))
    assert set(edges["source"]) | set(edges["target"]) == set(found["title"])
    assert list(edges["combined_degree"]) == [5, 5, 4]
    assert lost == ["1 labels of nodes that have more than one (the first is the type)"]


def test_titles_of_graphrag_are_distinct():
    both = [("a", "title", "PORTER", ""), ("b", "title", "PORTER", "")]
    graph = made(["a", "b"], properties=both, edges=[("a", "related", "b")])
    entities, relationships, lost = written(write_graphrag, graph, 2)
    assert list(pl.read_parquet(entities)["title"]) == ["PORTER (a)", "PORTER (b)"]
    assert pl.read_parquet(relationships)["target"].to_list() == ["PORTER (b)"]
    assert "2 titles" in lost[0]


texts = st.text(st.characters(codec="utf-8"), max_size=8)


@settings(deadline=None, max_examples=25)
@given(
    nodes=st.lists(texts.filter(bool), min_size=1, max_size=4, unique=True),
    rows=st.lists(st.tuples(st.integers(0, 3), texts.filter(bool), texts), max_size=6),
    ends=st.lists(st.tuples(st.integers(0, 3), texts.filter(bool), st.integers(0, 3)), max_size=4),
)
def test_any_text_is_read_back(nodes, rows, ends):
    def node(number):
        return nodes[number % len(nodes)]

    properties = [(node(number), key, value, "") for number, key, value in rows]
    edges = [(node(start), kind, node(end)) for start, kind, end in ends]
    graph = made(nodes, properties=properties, edges=edges)
    by_id, relationships = imported(*written(write_neo4j, graph, 2)[:2])
    assert list(by_id) == nodes
    assert [(edge["START_ID"], edge["TYPE"], edge["END_ID"]) for edge in relationships] == edges
    content, _ = written(write_node_link, graph)
    loaded = nx.node_link_graph(json.loads(content), edges="edges")
    assert set(loaded.nodes) == set(nodes)
    assert loaded.number_of_edges() == len(edges)
    held = {}
    for one, key, value, _ in properties:
        held.setdefault((one, key), []).append(value)
    lines = [json.loads(line) for line in written(write_apoc, graph)[0].split(b"\n")[:-1]]
    for one in lines[: len(nodes)]:
        for key, value in one.get("properties", {}).items():
            assert held[one["id"], key] == (value if isinstance(value, list) else [value])
