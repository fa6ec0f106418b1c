"""Merged graphs in the form that people have: what other tools load, and what disagrees."""

from __future__ import annotations

import gzip
import itertools
import json

import networkx as nx
import pandas as pd
import polars as pl
import pyoxigraph as ox
import pytest
from click.testing import CliRunner

import sameas
from neo4j_rules import imported
from pairs import matched_pair
from sameas import Alignment, Graph, Options, OutputError, Reading
from sameas.cli.main import main
from sameas.graph.link_set import LINK_SCHEMA
from sameas.result.alignment import Diagnostics


def table(rows, *columns):
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")


def made(entities, *, triples=(), attributes=(), types=(), shape="property graph"):
    return Graph.from_tables(
        entities=pl.Series("entity", entities, dtype=pl.String),
        triples=table(triples, "head", "relation", "tail"),
        attributes=table(attributes, "entity", "attribute", "value"),
        types=table(types, "entity", "type"),
        reading=Reading(label=("name",)),
        shape=shape,
    )


def aligned(left, right, *links):
    pair = matched_pair(left=left, right=right)
    found = pl.DataFrame([(*link, 1.0, 0.9) for link in links], schema=LINK_SCHEMA, orient="row")
    parts = {"pair": pair, "links": found}
    figures = Diagnostics(solver="sinkhorn", objective=0.0)
    return Alignment(options=Options(), diagnostics=figures, load=parts.get)


LEFT_NAMES = ["Chai", "Chang", "Aniseed Syrup", "Ikura"]
PRICES = ["18.00", "19.5", "10", "31"]


def shop(shape="property graph"):
    """Two shops: P1..P4 and nP1..nP3 are linked, names of one and the price of one disagree."""
    left = made(
        ["P1", "P2", "P3", "P4", "C1"],
        triples=[("P1", "PART_OF", "C1"), ("P2", "PART_OF", "C1"), ("P2", "PART_OF", "C1")],
        attributes=[
            *((f"P{n}", "name", name) for n, name in enumerate(LEFT_NAMES, 1)),
            *((f"P{n}", "unitPrice", price) for n, price in enumerate(PRICES, 1)),
            ("C1", "name", "Drinks"),
            ("C1", "unitPrice", "7"),
        ],
        types=[*((f"P{n}", "Product") for n in range(1, 5)), ("C1", "Category")],
        shape=shape,
    )
    right = made(
        ["nP1", "nP2", "nP3", "nC1", "P4"],
        triples=[("nP1", "PART_OF", "nC1"), ("nP2", "PART_OF", "nC1"), ("nP3", "PART_OF", "nC1")],
        attributes=[
            ("nP1", "name", "Chai"),
            ("nP2", "name", "CHANG"),
            ("nP3", "name", "Aniseed Syrup"),
            ("nP1", "price", "18"),
            ("nP2", "price", "19.50"),
            ("nP3", "price", "11"),
            ("nC1", "name", "Drinks"),
            ("nC1", "price", "7"),
            ("P4", "name", "Something else"),
            ("nP1", "stock", "39"),
        ],
        types=[*((f"nP{n}", "Product") for n in range(1, 4)), ("nP1", "Tea"), ("nC1", "Category")],
        shape=shape,
    )
    links = [("P1", "nP1"), ("P2", "nP2"), ("P3", "nP3"), ("C1", "nC1")]
    return aligned(left, right, *links)


CONFLICTS = [("P2", "name", "Chang", "CHANG"), ("P3", "unitPrice", "10", "11")]


def conflicts(path):
    return sorted(pl.read_csv(path, infer_schema=False).rows())


def test_graphml_keeps_both_values_under_two_names(tmp_path):
    merged = sameas.merge(shop(), tmp_path / "m.graphml")
    graph = nx.read_graphml(tmp_path / "m.graphml")
    assert merged.counts == {"nodes": 6, "edges": 4}
    assert set(graph.nodes) == {"P1", "P2", "P3", "P4", "C1", "right:P4"}
    assert graph.number_of_edges() == 4
    assert graph.nodes["P1"] == {
        "labels": ":Product:Tea",
        "name": "Chai",
        "unitPrice": "18.00",
        "stock": "39",
    }
    assert graph.nodes["P2"]["name"] == "Chang"
    assert graph.nodes["P2"]["name_right"] == "CHANG"
    assert conflicts(tmp_path / "m.graphml.conflicts.csv") == CONFLICTS
    assert merged.conflicts == 2
    assert any("1 ids that both graphs have" in text for text in merged.not_held)


def test_keep_right_calls_nodes_and_properties_as_on_the_right(tmp_path):
    sameas.merge(shop(), tmp_path / "m.json", keep="right", conflicts=tmp_path / "c.tsv")
    content = json.loads((tmp_path / "m.json").read_text())
    graph = nx.node_link_graph(content, edges="edges")
    assert set(graph.nodes) == {"nP1", "nP2", "nP3", "P4", "left:P4", "nC1"}
    assert graph.nodes["nP2"] == {"labels": "Product", "name": ["CHANG", "Chang"], "price": "19.50"}
    assert graph.number_of_edges("nP2", "nC1") == 2
    assert (tmp_path / "c.tsv").exists()
    assert not (tmp_path / "m.json.conflicts.csv").exists()


def test_neo4j_imports_a_folder_and_two_files(tmp_path):
    sameas.merge(shop(), tmp_path / "neo")
    both = [tmp_path / "neo" / name for name in ("nodes.csv", "relationships.csv")]
    by_id, edges = imported(*(file.read_bytes() for file in both))
    assert (len(by_id), len(edges)) == (6, 4)
    assert by_id["P2"]["properties"]["name"] == ["Chang", "CHANG"]
    assert by_id["P1"]["LABEL"] == ["Product", "Tea"]
    assert conflicts(tmp_path / "neo.conflicts.csv") == CONFLICTS
    out = f"{tmp_path}/n.csv.gz,{tmp_path}/r.csv.gz"
    sameas.merge(shop(), out)
    packed = [gzip.decompress((tmp_path / name).read_bytes()) for name in ("n.csv.gz", "r.csv.gz")]
    assert packed == [file.read_bytes() for file in both]
    (tmp_path / "neo" / "other.txt").write_text("mine")
    sameas.merge(shop(), tmp_path / "neo")
    assert (tmp_path / "neo" / "other.txt").read_text() == "mine"


def test_apoc_and_graphrag(tmp_path):
    sameas.merge(shop(), tmp_path / "m.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "m.jsonl").read_text().splitlines()]
    assert [line["type"] for line in lines] == ["node"] * 6 + ["relationship"] * 4
    sameas.merge(shop(), tmp_path / "rag", as_="graphrag")
    entities = pd.read_parquet(tmp_path / "rag" / "entities.parquet")
    relationships = pd.read_parquet(tmp_path / "rag" / "relationships.parquet")
    assert (len(entities), len(relationships)) == (6, 4)
    assert set(relationships["source"]) | set(relationships["target"]) <= set(entities["title"])


def test_records_are_a_left_join(tmp_path):
    merged = sameas.merge(shop("records"), tmp_path / "m.csv")
    found = pd.read_csv(tmp_path / "m.csv", dtype=str, keep_default_na=False)
    assert merged.counts == {"rows": 6}
    assert list(found["id"]) == ["P1", "P2", "P3", "P4", "C1", ""]
    assert list(found["right_id"]) == ["nP1", "nP2", "nP3", "", "nC1", "P4"]
    assert list(found["name"]) == [*LEFT_NAMES, "Drinks", "Something else"]
    assert list(found["name_right"]) == ["", "CHANG", "", "", "", ""]
    assert list(found["unitPrice"]) == [*PRICES, "7", ""]
    assert list(found["unitPrice_right"]) == ["", "", "11", "", "", ""]
    assert found["stock"].iloc[0] == "39"
    assert list(found["PART_OF"])[:3] == ["C1", "C1 | C1", "C1"]
    assert "PART_OF_right" not in found
    assert conflicts(tmp_path / "m.csv.conflicts.csv") == CONFLICTS


@pytest.mark.parametrize("name", ["m.tsv", "m.parquet", "m.jsonl", "m.csv.zst"])
def test_records_in_every_kind_of_table(tmp_path, name):
    sameas.merge(shop("records"), tmp_path / name)
    readers = {
        "m.tsv": lambda path: pd.read_csv(path, sep="\t"),
        "m.parquet": pd.read_parquet,
        "m.jsonl": lambda path: pd.read_json(path, lines=True),
        "m.csv.zst": lambda path: pl.read_csv(path.read_bytes()).to_pandas(),
    }
    assert len(readers[name](tmp_path / name)) == 6


def test_a_row_with_several_partners_stands_once_for_each(tmp_path):
    left = made(["a"], attributes=[("a", "name", "x")], shape="records")
    both = [("b", "name", "x"), ("c", "name", "y")]
    right = made(["b", "c"], attributes=both, shape="records")
    sameas.merge(aligned(left, right, ("a", "b"), ("a", "c")), tmp_path / "m.csv", as_="records")
    found = pl.read_csv(tmp_path / "m.csv")
    assert found.select("id", "right_id").rows() == [("a", "b"), ("a", "c")]
    assert found["name_right"].to_list() == [None, "y"]


def test_a_graph_with_itself_comes_out_as_it_was(tmp_path):
    left = shop().pair.left.source
    nodes = [node for node in left.entities if not node.startswith("urn:type/")]
    sameas.merge(aligned(left, left, *((node, node) for node in nodes)), tmp_path / "m.json")
    graph = nx.node_link_graph(json.loads((tmp_path / "m.json").read_text()), edges="edges")
    assert list(graph.nodes) == nodes
    assert graph.number_of_edges() == 3
    assert conflicts(tmp_path / "m.json.conflicts.csv") == []


def test_rdf_as_a_property_graph_says_what_is_lost(tmp_path):
    lines = [
        '<http://a/x> <http://o/name> "X"@en .',
        '<http://a/x> <http://o/size> "3"^^<http://www.w3.org/2001/XMLSchema#integer> .',
        "<http://a/x> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://o/Thing> .",
        "<http://a/x> <http://o/in> <http://a/y> .",
    ]
    (tmp_path / "left.nt").write_text("\n".join(lines) + "\n")
    left = sameas.read_graph(tmp_path / "left.nt")
    right = shop().pair.right.source
    merged = sameas.merge(aligned(left, right), tmp_path / "m.json")
    nodes = json.loads((tmp_path / "m.json").read_text())["nodes"]
    first = next(node for node in nodes if node["id"] == "http://a/x")
    assert first == {"id": "http://a/x", "labels": "Thing", "name": "X", "size": 3}
    assert "the languages of 1 values" in merged.not_held


@pytest.mark.parametrize(
    ("out", "as_", "words"),
    [
        ("m.csv", None, "one table is for records"),
        ("m.graphml,m.csv", None, "nodes.csv,relationships.csv"),
        ("m.csv,m.csv", None, "the two files are one"),
        ("m.csv", "neo4j", "neo4j has two files"),
        ("m.nt", "graphml", "use .graphml"),
        ("m.xlsx", None, "not known"),
        ("m.parquet.gz", "records", "compressed already"),
        ("run", None, "is a run folder"),
    ],
)
def test_what_cannot_be_written_is_one_sentence(tmp_path, out, as_, words):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}")
    path = ",".join(str(tmp_path / part) for part in out.split(","))
    with pytest.raises(OutputError, match=words):
        sameas.merge(shop(), path, as_=as_)
    assert [file.name for file in tmp_path.iterdir()] == ["run"]


def test_a_full_second_file_leaves_neither(tmp_path, monkeypatch):
    def fails(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(sameas.result.merging.WRITERS, "neo4j", fails)
    with pytest.raises(OutputError, match="No space left"):
        sameas.merge(shop(), f"{tmp_path}/n.csv,{tmp_path}/r.csv")
    assert list(tmp_path.iterdir()) == []


def test_the_command_says_what_it_wrote(tmp_path):
    words = "amber birch cedar delta ember flint grove hazel iris"
    frames = [
        pl.DataFrame({"id": [f"{side}{n}" for n in range(9)], "name": words.split()})
        for side in "ab"
    ]
    frames[1] = frames[1].with_columns(pl.col("name").str.to_uppercase())
    graphs = [
        made(
            frame["id"].to_list(),
            attributes=[(one, "name", name) for one, name in frame.iter_rows()],
            shape="records",
        )
        for frame in frames
    ]
    sameas.write(sameas.align(*graphs), tmp_path / "run")
    out, listed = tmp_path / "m.csv", tmp_path / "c.csv"
    arguments = ["merge", tmp_path / "run", "-o", out, "--conflicts", listed]
    result = CliRunner().invoke(main, [*map(str, arguments), "--json"])
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert said["form"] == "records"
    assert said["rows"] == len(pl.read_csv(out))
    assert said["conflicts"] == len(pl.read_csv(listed)) > 0
    assert said["files"] == [str(out)]
    taken = ["merge", tmp_path / "run", "-o", tmp_path / "run" / "links.parquet", "--as", "records"]
    result = CliRunner().invoke(main, list(map(str, taken)))
    assert result.exit_code == 2
    assert "is an input" in result.stderr
    (tmp_path / "n.csv.conflicts.csv").symlink_to(tmp_path / "run" / "links.parquet")
    result = CliRunner().invoke(main, ["merge", f"{tmp_path}/run", "-o", f"{tmp_path}/n.csv"])
    assert result.exit_code == 2
    assert "is an input" in result.stderr


def people(ids, *, direction):
    """A property graph of persons who know each other since a year, in an order of its own."""
    graph = nx.DiGraph() if direction else nx.Graph()
    for one in ids:
        graph.add_node(one, name=f"{NAMES[int(one[1:])]} {one[1:]}", labels="Person")
    for head, tail in itertools.pairwise(ids):
        graph.add_edge(head, tail, type="KNOWS", since=2000 + int(head[1:]))
    return Graph.from_networkx(graph)


NAMES = ["amber", "birch", "cedar", "delta", "ember", "flint", "grove", "hazel", "iris"]


def test_a_run_keeps_the_shape_the_order_and_the_properties_of_edges(tmp_path):
    ids = [f"a{n}" for n in (3, 1, 8, 0, 5, 7, 2, 6, 4)]
    left, right = (
        people(ids, direction=True),
        people([f"b{one[1:]}" for one in ids], direction=True),
    )
    alignment = sameas.align(left, right, no_audit=True)
    sameas.write(alignment, tmp_path / "run")
    again = sameas.read_run(tmp_path / "run")
    for one in (alignment, again):
        source = one.pair.left.source
        assert source.shape == "property graph"
        assert source.keys == left.keys
        assert source.reading == left.reading
        assert source.entities.to_list() == left.entities.to_list()
        assert source.given_names is None
    sameas.merge(alignment, tmp_path / "before")
    sameas.merge(again, tmp_path / "after")
    for name in ("nodes.csv", "relationships.csv"):
        assert (tmp_path / "after" / name).read_bytes() == (tmp_path / "before" / name).read_bytes()
    by_id, edges = imported(
        *((tmp_path / "after" / name).read_bytes() for name in ("nodes.csv", "relationships.csv"))
    )
    assert list(by_id) == ids
    assert [edge["properties"]["since"] for edge in edges] == [
        2000 + int(one[1:]) for one in ids[:-1]
    ]


def test_merged_records_keep_the_order_of_the_tables(tmp_path):
    order = (3, 1, 8, 0, 5, 7, 2, 6, 4)
    for side in "ab":
        rows = "".join(f"{side}{n},{NAMES[n]} {n}\n" for n in order)
        (tmp_path / f"{side}.csv").write_text(f"nr,name\n{rows}")
    alignment = sameas.align(tmp_path / "a.csv", tmp_path / "b.csv", no_audit=True)
    sameas.write(alignment, tmp_path / "run")
    sameas.merge(sameas.read_run(tmp_path / "run"), tmp_path / "m.csv")
    table = pl.read_csv(tmp_path / "m.csv")
    assert table["nr"].to_list() == [f"a{n}" for n in order]
    assert table["right_nr"].to_list() == [f"b{n}" for n in order]


def test_records_as_rdf_have_whole_iris(tmp_path):
    sameas.merge(shop("records"), tmp_path / "m.nt")
    lines = (tmp_path / "m.nt").read_text().splitlines()
    assert len(list(ox.parse(path=tmp_path / "m.nt"))) == len(lines) > 10


def test_equal_iris_are_one_and_equal_numbers_are_not(tmp_path):
    iri = "http://a.org/x"
    left = made([iri, "1"], attributes=[(iri, "name", "A"), ("1", "name", "B")])
    right = made([iri, "1"], attributes=[(iri, "name", "A"), ("1", "name", "C")])
    merged = sameas.merge(aligned(left, right), tmp_path / "merged.json")
    assert merged.counts == {"nodes": 3, "edges": 0}
    nodes = json.loads((tmp_path / "merged.json").read_text())["nodes"]
    assert {node["id"]: node["name"] for node in nodes} == {iri: "A", "1": "B", "right:1": "C"}
    linked = sameas.merge(aligned(left, right, ("1", "1")), tmp_path / "linked.json")
    assert linked.counts["nodes"] == 2
    sameas.merge(aligned(left, right), tmp_path / "merged.csv", as_="records")
    rows = pl.read_csv(tmp_path / "merged.csv", infer_schema=False)
    assert list(rows.select(rows.columns[:2]).iter_rows()) == [
        (iri, iri),
        ("1", None),
        (None, "1"),
    ]


@pytest.mark.parametrize("name", ["m.graphml", "m.json"])
def test_edges_that_had_no_type_get_none(tmp_path, name):
    graph = nx.Graph([("amber", "birch", {"weight": 2.5}), ("birch", "cedar", {"weight": 1.0})])
    left = Graph.from_networkx(graph)
    links = [(node, node) for node in graph.nodes]
    alignment = aligned(left, left, *links)
    sameas.merge(alignment, tmp_path / name)
    if name == "m.json":
        content = json.loads((tmp_path / name).read_text())
        again = nx.node_link_graph(content, edges="edges")
    else:
        again = nx.read_graphml(tmp_path / name)
    assert {(*sorted(ends), tuple(held)) for *ends, held in again.edges(data=True)} == {
        ("amber", "birch", ("weight",)),
        ("birch", "cedar", ("weight",)),
    }
