"""Graphs from data: tables of every kind, rdflib, pyoxigraph, networkx."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyoxigraph as ox
import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st

import sameas
from folders import put
from sameas import Graph, OptionError, Reading
from sameas.graph.given_tables import as_links
from sameas.graph.graph import positions_of
from sameas.graph.iri import TYPE, XSD
from sameas.graph.semantics.understanding import understand

ROWS = [("Paris", "capital of", "France"), ("Lyon", "in", "France")]
COLUMNS = ["head", "relation", "tail"]
FRAME = pl.DataFrame(ROWS, schema=COLUMNS, orient="row")
TABLES = {
    "polars": FRAME,
    "lazy": FRAME.lazy(),
    "other names": FRAME.rename({"head": "Subject", "relation": "predicate", "tail": "object"}),
    "another order": FRAME.select("tail", "head", "relation"),
    "categories": FRAME.cast(pl.Categorical),
    "pandas": pd.DataFrame(ROWS, columns=COLUMNS),
    "pandas without names": pd.DataFrame(ROWS),
    "arrow": pa.table({name: FRAME[name].to_list() for name in COLUMNS}),
    "mapping": FRAME.to_dict(as_series=False),
    "tuples": ROWS,
    "generator": (row for row in list(ROWS)),
}


def content(graph):
    entities, relations = graph.entities.to_list(), graph.relations.to_list()
    triples = [(entities[h], relations[r], entities[t]) for h, r, t in graph.triples]
    return triples, dict(zip(entities, graph.names, strict=True))


@pytest.mark.parametrize("kind", TABLES)
def test_a_graph_is_the_same_from_every_kind_of_table(kind):
    graph = Graph.from_triples(TABLES[kind])
    assert content(graph) == (ROWS, {"Paris": "Paris", "France": "France", "Lyon": "Lyon"})
    assert graph.names_given == 0


def test_ids_that_are_numbers_become_text():
    for table in ([(1, 2, 3)], pd.DataFrame({"head": [1], "relation": [2], "tail": [3]})):
        assert Graph.from_triples(table).entities.to_list() == ["1", "3"]
    assert Graph.from_triples([(10**30, 0, 1)]).entities[0] == str(10**30)


@pytest.mark.parametrize(
    "names",
    [
        {"Paris": "Lutetia", "nobody": "x"},
        pl.DataFrame({"entity": ["Paris"], "name": ["Lutetia"]}),
        pd.DataFrame({"uri": ["Paris"], "label": ["Lutetia"]}),
        [("Paris", "Lutetia"), ("Paris", "a second name")],
    ],
)
def test_names_that_are_given(names):
    graph = Graph.from_triples(ROWS, names=names)
    assert graph.names.to_list() == ["Lutetia", "France", "Lyon"]
    assert graph.names_given == 1


@pytest.mark.parametrize("kind", [pl.Series, pd.Series, np.array, list])
def test_names_in_the_order_of_entities(kind):
    graph = Graph.from_triples(
        ROWS, entities=kind(["Lyon", "Paris", "France", "alone"]), names=kind(["l", "p", "", "a"])
    )
    assert content(graph) == (ROWS, {"Lyon": "l", "Paris": "p", "France": "", "alone": "a"})
    assert graph.names_given == 3
    with pytest.raises(OptionError, match="`names` must have one row per entity, got 1 for 3"):
        Graph.from_triples(ROWS, names=kind(["x"]))


def test_labels_among_attributes_are_names():
    label = "http://www.w3.org/2000/01/rdf-schema#label"
    graph = Graph.from_triples(
        ROWS,
        attributes=[("Paris", label, "Lutetia"), ("Rome", "founded", "")],
        alternatives=[("Lyon", "Lugdunum")],
    )
    assert graph.names.to_list() == ["Lutetia", "France", "Lyon", "Rome"]
    assert graph.attributes.rows()[1] == ("Rome", "founded", "")
    assert graph.alternatives.rows() == [("Lyon", "Lugdunum")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"triples": [("a", "b")]}, "`triples` must be a table of head, relation, tail: columns"),
        ({"triples": [("a", "r", "b"), ("a", "r")]}, "3 values expected, found 2 in row 2"),
        ({"triples": [("a", "r", None)]}, 'column "tail" is empty; .* in row 1'),
        ({"triples": [("a", "r", float("nan"))]}, 'column "tail" is empty; .* in row 1'),
        ({"triples": "left.tsv"}, "a table or an iterable of tuples expected, found str 'left.tsv"),
        ({"triples": 3}, "an iterable of tuples expected, found int 3"),
        ({"triples": ["abc"]}, "a tuple expected, found str 'abc' in row 1"),
        ({"triples": FRAME.rename({"head": "x"})}, "found x, relation, tail; rename them"),
        ({"triples": FRAME.with_columns(head=[["a"], ["b"]])}, 'column "head", found List'),
        ({"attributes": [("a", "b")]}, "`attributes` must be a table of entity, attribute, value"),
        ({"names": 3}, "`names` must be a series of text, got int 3"),
        ({"entities": ["Paris"]}, '`entities` must hold all .*, "France" is missing'),
        ({"entities": "Paris"}, "`entities` must be a series of text, got str 'Paris'"),
    ],
)
def test_an_argument_that_cannot_be_used_is_named(arguments, message):
    with pytest.raises(OptionError, match=message):
        Graph.from_triples(**{"triples": ROWS, **arguments})


def test_links_from_tables():
    frame = pd.DataFrame({"source": ["a"], "target": [1], "confidence": ["0.5"], "x": [[]]})
    assert as_links(frame, "seeds").to_dicts() == [{"left": "a", "right": "1", "confidence": 0.5}]
    assert as_links([("a", "b", 1, 0.25)], "seeds").row(0) == ("a", "b", 1.0, 0.25)
    assert as_links([], "seeds").columns[:2] == ["left", "right"]
    with pytest.raises(OptionError, match=r'`seeds` must .* "score", found "high" in row 1'):
        as_links([("a", "b", "high")], "seeds")
    with pytest.raises(OptionError, match="`reject` must be a table of left, right: columns"):
        as_links(pl.DataFrame({"left": ["a"]}), "reject")


TURTLE = """
@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
:a :r :b ; a :City ; rdfs:label "A"@en, "Ä \\"q\\" \\n\\\\ x"@de .
:a skos:altLabel "aa" ; :p 1, "t\\t" .
:b :s [ :r :a ] . _:c :r :b .
"""


@pytest.mark.parametrize("language", [(), ("de",)])
def test_rdf_in_memory_is_read_by_the_rules_of_files(tmp_path, language):
    reading = Reading(language=language)
    expected = sameas.read_graph(put(tmp_path / "g.ttl", TURTLE), reading=reading)
    store = ox.Store()
    store.load(TURTLE.encode(), format=ox.RdfFormat.TURTLE)
    dataset = ox.Dataset(ox.parse(input=TURTLE.encode(), format=ox.RdfFormat.TURTLE))
    several = rdflib.Dataset()
    several.graph(rdflib.URIRef("http://example.org/g")).parse(data=TURTLE, format="turtle")
    for graph in (
        Graph.from_rdflib(rdflib.Graph().parse(data=TURTLE, format="turtle"), reading=reading),
        Graph.from_rdflib(several, reading=reading),
        Graph.from_pyoxigraph(store, reading=reading),
        Graph.from_pyoxigraph(dataset, reading=reading),
    ):
        assert said(graph) == said(expected)
        assert as_matched(graph) == as_matched(expected)
        assert graph.names_given == expected.names_given == 1
        assert graph.reading_counts == expected.reading_counts


def said(graph):
    """What a graph says of what is not blank, in no order."""
    triples, names = content(graph)
    blank = {uri: "_" for uri in names if uri.startswith("_:")}
    return (
        sorted((blank.get(h, h), r, blank.get(t, t)) for h, r, t in triples),
        sorted(graph.attributes.drop("graph").rows()),
    )


def as_matched(graph):
    """What is matched of a graph, in no order."""
    graph = understand(sameas.GraphPair(left=graph, right=graph)).left
    triples, names = content(graph)
    kinds = dict(zip(graph.entities, graph.kinds.tolist(), strict=True))
    return sorted(triples), names, kinds, sorted(graph.alternatives.rows())


def test_rdf_that_is_not_valid_is_an_error_about_the_argument():
    graph = rdflib.Graph()
    iri = rdflib.URIRef("http://example.org/a")
    graph.add((iri, iri, rdflib.URIRef("relative")))
    with pytest.raises(OptionError, match=r"`graph` must be valid RDF: .*No scheme found"):
        Graph.from_rdflib(graph)


def test_networkx():
    graph = nx.MultiDiGraph()
    graph.add_edge("Paris", "France", key="capital of")
    graph.add_edge("Paris", "France", relation="in", since=987)
    graph.add_node("Paris", name="Lutetia", label=["Lutetia", "Paname"], founded=-52)
    graph.add_node("France", tags={"b", "a"}, note=None)
    graph = Graph.from_networkx(graph)
    triples, _ = content(graph)
    assert triples == [("Paris", "capital of", "France"), ("Paris", "in", "France")]
    matched = understand(sameas.GraphPair(left=graph, right=graph)).left
    assert matched.names.to_list() == ["Lutetia", "France"]
    assert matched.alternatives.rows() == [("Paris", "Paname")]
    rows = graph.attributes.filter(~pl.col("attribute").is_in(["name", "label", "(id)"]))
    assert rows.select("entity", "attribute", "value", "datatype").rows() == [
        ("Paris", "founded", "-52", f"{XSD}integer"),
        ("France", "tags", "a", ""),
        ("France", "tags", "b", ""),
    ]
    assert graph.edge_properties.rows() == [(1, "since", "987", f"{XSD}integer")]


def test_networkx_integer_keys_are_no_relations():
    graph = nx.MultiDiGraph([("a", "b"), ("a", "b"), ("b", "c")])
    assert Graph.from_networkx(graph).relations.to_list() == ["related"]
    graph = nx.MultiDiGraph([("a", "b", {"type": "knows"}), ("b", "c", {"type": "likes"})])
    assert Graph.from_networkx(graph).relations.to_list() == ["knows", "likes"]
    edge_ids = nx.MultiDiGraph()
    edge_ids.add_edge("a", "b", key="e0", verb="knows")
    edge_ids.add_edge("b", "c", key="e1", verb="likes")
    assert Graph.from_networkx(edge_ids).relations.to_list() == ["related"]
    assert Graph.from_networkx(edge_ids, relation="verb").relations.to_list() == ["knows", "likes"]
    with pytest.raises(OptionError, match=r'an attribute "verb" on each edge, got none from'):
        Graph.from_networkx(graph, relation="verb")


def test_networkx_undirected_edges_count_once():
    graph = Graph.from_networkx(nx.Graph([("b", "a", {"label": "meets"}), ("b", "c")]))
    triples, _ = content(graph)
    assert triples == [("a", "meets", "b"), ("b", "related", "c")]
    assert graph.keys is not None
    assert not graph.keys.is_directed


@settings(deadline=None)
@given(
    st.lists(st.tuples(*[st.sampled_from("abcdef")] * 3), min_size=1, max_size=12),
    st.sets(st.sampled_from("abcdefx")),
    st.sets(st.sampled_from("abcdef")),
)
def test_a_graph_without_entities_says_all_else(rows, gone, linked):
    attributes = [(head, "p", tail) for head, _, tail in rows]
    graph = Graph.from_triples(
        rows,
        names={head: head.upper() for head, _, _ in rows},
        attributes=attributes,
        alternatives=[(head, tail) for head, _, tail in rows],
    )
    linkable = np.flatnonzero(graph.entities.is_in(list(linked)).to_numpy())
    graph = replace(graph, linkable=linkable)
    rest = graph.without(pl.Series(sorted(gone), dtype=pl.String))
    triples, names = content(rest)
    before = content(graph)
    assert triples == [row for row in before[0] if not {row[0], row[2]} & gone]
    assert names == {uri: name for uri, name in before[1].items() if uri not in gone}
    for table in ("attributes", "alternatives"):
        kept = [row for row in getattr(graph, table).rows() if row[0] not in gone]
        assert getattr(rest, table).rows() == kept
    assert set(rest.entities.gather(rest.linkable)) == (linked & set(graph.entities)) - gone
    assert positions_of(rest.entities, graph.entities).tolist() == sorted(
        positions_of(rest.entities, graph.entities).tolist()
    )


def test_properties_of_edges_and_datatypes_stay_with_their_rows():
    graph = Graph.from_tables(
        entities=pl.Series(["b", "a", "c"]),
        triples=pl.DataFrame(
            [("b", "r", "a"), ("a", "r", "c"), ("c", "q", "b")],
            schema=["head", "relation", "tail"],
            orient="row",
        ),
        attributes=pl.DataFrame(
            {"entity": ["a"], "attribute": ["born"], "value": ["1999"], "datatype": ["int"]}
        ),
        types=pl.DataFrame({"entity": ["a"], "type": ["Person"]}),
        reading=Reading(),
        shape="property graph",
    )
    since = pl.DataFrame({"triple": [0, 1], "attribute": ["since", "since"], "value": ["1", "2"]})
    graph = replace(graph, edge_properties=since)

    def properties(graph: Graph) -> set[tuple[str, ...]]:
        heads = graph.entities.gather(graph.triples[graph.edge_properties["triple"], 0])
        return set(zip(heads, graph.edge_properties["value"], strict=True))

    assert graph.attributes["datatype"].to_list() == ["int"]
    assert properties(graph.in_order()) == properties(graph) == {("b", "1"), ("a", "2")}
    assert properties(graph.without(pl.Series(["c"]))) == {("b", "1")}


def test_what_wikidata_has_in_place_of_rdf_type_says_types():
    item = "http://www.wikidata.org/entity/"
    instance_of = "http://www.wikidata.org/prop/direct/P31"
    triples = [
        (f"{item}Q1", instance_of, f"{item}Q5"),
        (f"{item}Q1", TYPE, f"{item}Q5"),
        (f"{item}Q2", instance_of, f"{item}Q5"),
        (f"{item}Q2", "http://www.wikidata.org/prop/direct/P40", f"{item}Q1"),
    ]
    graph = Graph.from_triples(triples)
    names = graph.entities.to_list()
    assert {(names[one], names[kind]) for one, kind in graph.types} == {
        (f"{item}Q1", f"{item}Q5"),
        (f"{item}Q2", f"{item}Q5"),
    }
    assert len(graph.types) == 2
