"""Property graphs in: the same graph in every format, and what is wrong in one sentence."""

from __future__ import annotations

import json

import networkx as nx
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import sameas
from sameas import Graph, InputError
from sameas.cli.main import main
from sameas.formats.apoc import write_apoc
from sameas.formats.graphml import write_graphml
from sameas.formats.neo4j_csv import write_neo4j
from sameas.formats.node_link import write_node_link
from sameas.graph.iri import TYPE, XSD
from sameas.graph.property_graph import (
    EDGE_PROPERTIES,
    EDGES,
    NODE_LABELS,
    NODE_PROPERTIES,
    PropertyGraph,
)

INTEGER, DOUBLE = f"{XSD}integer", f"{XSD}double"
NODES = [
    ("1", ["Person"], {"name": "Ann Lee", "born": 1970, "tags": ["a", "b"]}),
    ("2", ["Person", "Actor"], {"name": "Bob Ray", "score": 0.5, "alive": True}),
    ("3", ["Film"], {"name": "Dune, part\ntwo"}),
]
EDGES_OF_NODES = [
    ("1", "ACTED_IN", "3", {"since": 1984}),
    ("2", "ACTED_IN", "3", {}),
    ("1", "KNOWS", "2", {}),
]
GRAPHML = """<?xml version="1.0"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="l" for="node" attr.name="labels" attr.type="string"/>
<key id="n" for="node" attr.name="name" attr.type="string"/>
<key id="t" for="node" attr.name="tags" attr.type="string" attr.list="string"/>
<key id="b" for="node" attr.name="born" attr.type="int"/>
<key id="s" for="node" attr.name="score" attr.type="double"/>
<key id="a" for="node" attr.name="alive" attr.type="boolean"/>
<key id="e" for="edge" attr.name="label" attr.type="string"/>
<key id="y" for="edge" attr.name="since" attr.type="long"/>
<graph edgedefault="directed">
<node id="1"><data key="l">:Person</data><data key="n">Ann Lee</data><data key="b">1970</data>
<data key="t">["a", "b"]</data></node>
<node id="2"><data key="l">:Person:Actor</data><data key="n">Bob Ray</data>
<data key="s">0.5</data><data key="a">true</data></node>
<node id="3"><data key="l">:Film</data><data key="n">Dune, part
two</data></node>
<edge source="1" target="3"><data key="e">ACTED_IN</data><data key="y">1984</data></edge>
<edge source="2" target="3"><data key="e">ACTED_IN</data></edge>
<edge source="1" target="2"><data key="e">KNOWS</data></edge>
</graph></graphml>
"""
PEOPLE = """personId:ID,name,born:int,score:double,alive:boolean,tags:string[],x:IGNORE,:LABEL
1,Ann Lee,1970,,,a;b,-,Person
2,Bob Ray,,0.5,true,,-,Person;Actor
""".replace("personId", "")
FILMS = ':ID,name,:LABEL\n3,"Dune, part\ntwo",Film\n'
ROLES = ":START_ID,since:long,:END_ID,:TYPE\n1,1984,3,ACTED_IN\n2,,3,ACTED_IN\n1,,2,KNOWS\n"


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def facts(graph):
    """What a graph says, in no order: nodes, types, edges and values with their datatypes."""
    triples = [
        (graph.entities[head], graph.relations[relation], graph.entities[tail])
        for head, relation, tail in graph.triples.tolist()
    ]
    values = graph.attributes.select("entity", "attribute", "value", "datatype").rows()
    of_edges = [(*triples[row], *rest) for row, *rest in graph.edge_properties.rows()]
    return sorted(graph.entities), sorted(triples), sorted(values), sorted(of_edges)


def apoc_objects():
    nodes = [
        {"type": "node", "id": id, "labels": labels, "properties": properties}
        for id, labels, properties in NODES
    ]
    return nodes + [
        {
            "type": "relationship",
            "id": str(number),
            "label": kind,
            "start": {"id": start},
            "end": {"id": end},
            "properties": properties,
        }
        for number, (start, kind, end, properties) in enumerate(EDGES_OF_NODES)
    ]


def node_link():
    return {
        "directed": True,
        "multigraph": True,
        "graph": {},
        "nodes": [{"id": id, "labels": labels, **held} for id, labels, held in NODES],
        "links": [
            {"source": start, "target": end, "key": 0, "type": kind, **held}
            for start, kind, end, held in EDGES_OF_NODES
        ],
    }


@pytest.fixture(scope="module")
def in_all_formats(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graphs")
    csv = [write(folder, n, t) for n, t in (("p.csv", PEOPLE), ("f.csv", FILMS), ("r.csv", ROLES))]
    lines = "\n".join(map(json.dumps, apoc_objects()))
    rels = {"nodes": apoc_objects()[:3], "rels": apoc_objects()[3:]}
    graphs = {
        "neo4j": sameas.read_graph(csv),
        "graphml": sameas.read_graph(write(folder, "g.graphml", GRAPHML)),
        "node-link": sameas.read_graph(write(folder, "g.json", json.dumps(node_link()))),
        "apoc lines": sameas.read_graph(write(folder, "apoc.json", lines)),
        "apoc array": sameas.read_graph(write(folder, "a.json", json.dumps(apoc_objects()))),
        "apoc object": sameas.read_graph(write(folder, "o.json", json.dumps(rels))),
    }
    made = nx.MultiDiGraph()
    for id, labels, held in NODES:
        made.add_node(id, labels=labels, **held)
    for start, kind, end, held in EDGES_OF_NODES:
        made.add_edge(start, end, type=kind, **held)
    return {**graphs, "networkx": Graph.from_networkx(made)}


def test_the_same_graph_in_every_format_is_the_same(in_all_formats):
    expected = facts(in_all_formats["neo4j"])
    entities, triples, values, of_edges = expected
    assert entities == ["1", "2", "3", "urn:type/Actor", "urn:type/Film", "urn:type/Person"]
    assert ("2", TYPE, "urn:type/Actor") in triples
    assert ("1", "ACTED_IN", "3") in triples
    assert ("1", "born", "1970", INTEGER) in values
    assert [value for _, name, value, _ in values if name == "tags"] == ["a", "b"]
    assert of_edges == [("1", "ACTED_IN", "3", "since", "1984", INTEGER)]
    for name, graph in in_all_formats.items():
        assert facts(graph) == expected, name
        assert graph.shape == "property graph", name
        assert graph.reading.label == ("name",), name


def test_several_files_may_be_a_folder_or_stand_between_commas(tmp_path, in_all_formats):
    files = [
        write(tmp_path, name, text)
        for name, text in (("a.csv", PEOPLE), ("b.csv", FILMS), ("c.csv", ROLES))
    ]
    expected = facts(in_all_formats["neo4j"])
    assert facts(sameas.read_graph(tmp_path)) == expected
    assert facts(sameas.read_graph(",".join(map(str, files)))) == expected


texts = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1, max_size=6)
names = st.sampled_from(["note", "city", "size"])


@st.composite
def property_graphs(draw):
    ids = draw(st.lists(texts, min_size=1, max_size=5, unique=True))
    labels = [(id, "T" + draw(st.sampled_from("ab"))) for id in ids]
    values = st.tuples(st.sampled_from(ids), names, texts.filter(lambda t: ";" not in t))
    properties = [(*row, "") for row in draw(st.lists(values, max_size=8, unique=True))]
    ends = st.tuples(st.sampled_from(ids), st.sampled_from(["R", "S"]), st.sampled_from(ids))
    edges = draw(st.lists(ends, max_size=6))
    numbers = st.integers(-(2**60), 2**60)
    sizes = draw(st.lists(st.none() | numbers, min_size=len(edges), max_size=len(edges)))
    of_edges = [
        (row, "size", str(size), INTEGER) for row, size in enumerate(sizes) if size is not None
    ]
    return PropertyGraph(
        nodes=pl.Series("id", ids, dtype=pl.String),
        labels=pl.DataFrame(labels, schema=NODE_LABELS, orient="row"),
        properties=pl.DataFrame(properties, schema=NODE_PROPERTIES, orient="row"),
        edges=pl.DataFrame(edges, schema=EDGES, orient="row"),
        edge_properties=pl.DataFrame(of_edges, schema=EDGE_PROPERTIES, orient="row"),
    )


@settings(deadline=None, max_examples=15)
@given(graph=property_graphs())
def test_what_was_written_is_read(tmp_path_factory, graph):
    folder = tmp_path_factory.mktemp("written")
    read = []
    for name, writer in (
        ("g.graphml", write_graphml),
        ("g.json", write_node_link),
        ("a.jsonl", write_apoc),
    ):
        with (folder / name).open("wb") as file:
            writer(graph, file)
        read.append(sameas.read_graph(folder / name))
    with (folder / "n.csv").open("wb") as nodes, (folder / "r.csv").open("wb") as edges:
        write_neo4j(graph, nodes, edges)
    read.append(sameas.read_graph([folder / "n.csv", folder / "r.csv"]))
    for one in read:
        found = facts(one)
        assert [row for row in found[1] if row[1] != TYPE] == sorted(graph.edges.rows())
        held = [(*row[:3], row[3]) for row in graph.properties.rows()]
        assert [row for row in found[2] if row[1] != "(id)"] == sorted(held)
        of_edges = [(*graph.edges.row(row), *rest) for row, *rest in graph.edge_properties.rows()]
        assert found[3] == sorted(of_edges)


def test_ids_begin_with_their_group_only_where_groups_clash(tmp_path):
    people = write(tmp_path, "p.csv", "pid:ID(P),name\n1,Ann\n2,Bob\n")
    films = write(tmp_path, "f.csv", ":ID(F),title\n{},Dune\n".format("7"))
    roles = write(tmp_path, "r.csv", ":START_ID(P),:END_ID(F),:TYPE\n1,7,IN\n")
    assert sameas.read_graph([people, films, roles]).entities.to_list() == ["1", "2", "7"]
    films.write_text(":ID(F),title\n1,Dune\n")
    roles.write_text(":START_ID(P),:END_ID(F),:TYPE\n1,1,IN\n")
    graph = sameas.read_graph([people, films, roles])
    assert graph.entities.to_list() == ["P:1", "P:2", "F:1"]
    assert graph.triples.tolist() == [[0, 0, 2]]
    assert ("P:1", "pid", "1") in graph.attributes.select("entity", "attribute", "value").rows()


def test_edges_to_unknown_nodes_are_left_out_and_counted(tmp_path, caplog):
    nodes = write(tmp_path, "n.csv", ":ID,name\n1,Ann\n2,Bob\n")
    edges = write(tmp_path, "e.csv", ":START_ID,:END_ID,:TYPE,w\n1,9,R,a\n1,2,R,b\n")
    graph = sameas.read_graph([nodes, edges])
    assert graph.reading_counts["edges_to_unknown_nodes_left_out"] == 1
    assert 'left out: 1, the first to "9" in line 2 of' in caplog.text
    assert graph.edge_properties.rows() == [(0, "w", "b", "")]


UNDIRECTED = """<graphml><key id="w" for="edge" attr.name="weight" attr.type="double">
<default>1.0</default></key><key id="g" yfiles.type="nodegraphics" for="node"/>
<graph edgedefault="undirected">
<node id="b"><data key="g"><y:S xmlns:y="y"><y:NodeLabel> Berlin </y:NodeLabel></y:S></data></node>
<node id="a" labels=":City"/><edge source="b" target="a"/>
<edge source="b" target="a" directed="true" label="IN"/></graph></graphml>"""


def test_graphml_without_direction_with_defaults_and_drawings(tmp_path):
    graph = sameas.read_graph(write(tmp_path, "g.graphml", UNDIRECTED))
    _, triples, values, of_edges = facts(graph)
    assert ("a", "related", "b") in triples
    assert ("b", "IN", "a") in triples
    assert ("b", "label", "Berlin", "") in values
    assert ("a", "related", "b", "weight", "1.0", DOUBLE) in of_edges
    assert not graph.keys.is_directed


def rag_tables(title="title"):
    entities = pl.DataFrame(
        {
            "id": ["u1", "u2", "u3"],
            title: ["PORTER", "THE PORTER", "SCROOGE"],
            "type": ["PERSON", "PERSON", ""],
            "description": ["a man", "carries", "a miser"],
            "text_unit_ids": [["t1", "t2"], ["t1"], ["t2"]],
            "degree": [1, 1, 2],
            "description_embedding": [[0.5] * 64] * 3,
        }
    )
    relationships = pl.DataFrame(
        {
            "source": ["PORTER", "SCROOGE"],
            "target": ["SCROOGE", "THE PORTER"],
            "description": ["meets", "knows"],
            "weight": [1.0, 2.0],
        }
    )
    return entities, relationships


@pytest.mark.parametrize(("prefix", "title"), [("", "title"), ("create_final_", "name")])
def test_graphrag_in_its_folder(tmp_path, prefix, title, caplog):
    for name, table in zip(("entities", "relationships"), rag_tables(title), strict=True):
        table.write_parquet(tmp_path / f"{prefix}{name}.parquet")
    pl.DataFrame({"id": ["t1"], "text": ["..."]}).write_parquet(tmp_path / "text_units.parquet")
    graph = sameas.read_graph(tmp_path)
    entities, triples, values, of_edges = facts(graph)
    assert entities == ["u1", "u2", "u3", "urn:type/PERSON"]
    assert ("u1", "related", "u3") in triples
    assert ("u2", "related", "u3") in triples
    assert ("u1", "text_unit_ids", "t2", "") in values
    assert ("u2", "related", "u3", "weight", "2.0", DOUBLE) in of_edges
    assert graph.reading_counts["vectors_left_out"] == 3
    assert "embeddings (long lists of numbers) were left out: 3" in caplog.text
    matched = sameas.read_pair(tmp_path, tmp_path).left
    assert matched.names.to_list()[:3] == ["PORTER", "THE PORTER", "SCROOGE"]
    assert set(matched.attributes["attribute"]) == {title, "description"}


def test_lightrag_names_types_and_notes(tmp_path):
    graph = nx.Graph()
    for id, kind in (("BS 5080-1", "DOCUMENT"), ("BS 5080-2", "DOCUMENT"), ("STEEL/IRON", "X")):
        graph.add_node(id, entity_id=id, entity_type=kind, source_id="chunk-1", description="d")
    graph.add_edge("BS 5080-2", "BS 5080-1", weight=1.0, keywords="standard")
    nx.write_graphml(graph, tmp_path / "g.graphml")
    read = sameas.read_graph(tmp_path / "g.graphml")
    assert read.keys.types == "entity_type"
    assert read.keys.not_compared == ("source_id",)
    assert ("BS 5080-1", "related", "BS 5080-2") in facts(read)[1]
    matched = sameas.read_pair(tmp_path / "g.graphml", tmp_path / "g.graphml").left
    assert matched.names.to_list()[2] == "STEEL/IRON"


def test_ids_that_are_words_are_names_whole(tmp_path):
    content = {"nodes": [{"id": "Input/Output"}, {"id": "New_York"}], "edges": []}
    content["edges"] = [{"source": "Input/Output", "target": "New_York"}]
    path = write(tmp_path, "g.json", json.dumps(content))
    assert sameas.read_pair(path, path).left.names.to_list() == ["Input/Output", "New York"]


def test_tables_of_edges_and_nodes(tmp_path):
    edges = write(tmp_path, "e.csv", "Source,Target,Type,Weight\nn1,n2,Undirected,2\n")
    assert sameas.read_graph(edges).entities.to_list() == ["n1", "n2"]
    nodes = write(tmp_path, "n.csv", "Id,Label,country\nn2,Berlin,DE\nn1,Aachen,DE\n")
    graph = sameas.read_graph([nodes, edges])
    _, triples, values, of_edges = facts(graph)
    assert triples == [("n1", "related", "n2")]
    assert ("n2", "Label", "Berlin", "") in values
    assert [row[3:5] for row in of_edges] == [("Weight", "2")]
    assert sameas.read_pair([nodes, edges], [nodes, edges]).left.names.to_list() == [
        "Berlin",
        "Aachen",
    ]
    edges.write_text("source,target,kind,relation_type,type\nn1,n2,x,y,KNOWS\n")
    assert sameas.read_graph([nodes, edges]).relations.to_list() == ["KNOWS"]


def test_a_title_of_a_job_is_no_name(tmp_path):
    rows = [f"{n},Rep,First{n},Last{n}" for n in range(8)]
    nodes = write(tmp_path, "n.csv", "\n".join([":ID,title,firstName,lastName", *rows]))
    edges = write(tmp_path, "e.csv", ":START_ID,:END_ID,:TYPE\n1,2,KNOWS\n")
    graph = sameas.read_graph([nodes, edges])
    assert graph.reading.label == ()


BOMB = (
    '<!DOCTYPE graphml [<!ENTITY a "' + "ha" * 200 + '"><!ENTITY b "' + "&a;" * 20 + '">]>'
    "<graphml><graph><node id='&b;'/></graph></graphml>"
)
OUTSIDE = '<!DOCTYPE graphml [<!ENTITY x SYSTEM "file:///etc/hostname">]><graphml>&x;</graphml>'


def in_graph(content):
    return f"<graphml>\n<graph edgedefault='directed'>\n{content}\n</graph></graphml>"


WRONG = {
    "bomb.graphml": (BOMB, 'the entity "b" stands for'),
    "outside.graphml": (OUTSIDE, "is another file, which is not read"),
    "hyper.graphml": (in_graph("<hyperedge/>"), ":3: has edges between more than two nodes"),
    "nested.graphml": (in_graph("<node id='a'><graph/></node>"), "a graph inside a node"),
    "key.graphml": (in_graph("<node id='a'><data key='k'>1</data></node>"), "is not declared"),
    "source.graphml": (in_graph("<node id='a'/><edge target='a'/>"), "an edge has no source"),
    "cut.graphml": ("<graphml><graph><node id='a'>", "is the file whole?"),
    "other.graphml": ("<html></html>", "is not GraphML"),
    "twice.graphml": (in_graph("<node id='a'/>\n<node id='a'/>"), ':4: the id "a" is that of an'),
    "empty.graphml": (in_graph(""), "holds no nodes"),
    "loose.graphml": (
        in_graph("<node id='a'/><edge source='a' target='b'/>"),
        'called "b"',
    ),
    "noid.json": ('{"nodes": [{"name": "a"}], "links": []}', 'is to be an object with "id"'),
    "cut.json": ('{"nodes": [{"id": "a"', "not valid JSON"),
    "nolinks.json": ('{"nodes": [{"id": "a"}]}', "is no node-link JSON"),
    "line.json": (
        '{"type": "node", "id": "1"}\n{"type": "edge"}',
        ':2: an object of "type"',
    ),
    "start.json": ('{"type":"relationship","id":"1","end":{"id":"2"}}', ":1: a relationship has"),
    "bad.jsonl": ('{"type": "node", "id": "1"}\n{"type": "nod', ":2: not valid JSON"),
    "typed.csv": (":ID,born:integr\n1,2\n", ':1: column 2 of the header, "born:integr"'),
    "ends.csv": (":START_ID,:TYPE\n1,R\n", "the header has no column :END_ID"),
    "id.csv": (":ID,name\n1,a\n,b\n", ":3: column :ID is empty"),
    "repeated.csv": (':ID,name\n1,"a\nb"\n1,c\n', ':4: the id "1" is that of another node'),
    "long.csv": (":ID,name\n1,a,b\n", ":2: 2 comma-separated columns expected"),
    "both.csv": ("source,source,target\n1,2,3\n", 'two columns "source"'),
    "tail.csv": ("source,target\n1,2\n3,\n", ':3: column "target" is empty'),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_input_is_one_sentence(tmp_path, name):
    content, sentence = WRONG[name]
    path = write(tmp_path, name, content)
    result = CliRunner().invoke(main, ["inspect", str(path)])
    assert result.exit_code == 2
    message = result.stderr.strip().splitlines()[-1]
    assert sentence in message
    assert str(path) in message
    assert "Traceback" not in result.stderr


def test_ids_of_two_files_of_nodes_must_not_meet(tmp_path):
    people = write(tmp_path, "p.csv", ":ID,name\n1,Ann\n")
    films = write(tmp_path, "f.csv", ":ID,title\n1,Dune\n")
    with pytest.raises(InputError, match=r"f.csv:2: .*another node \(.*p.csv:2\).*groups"):
        sameas.read_graph([people, films])
