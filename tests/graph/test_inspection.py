"""What inspection counts, and what it points out."""

from __future__ import annotations

import json

import networkx as nx
import numpy as np
import polars as pl
import pytest

import sameas
from sameas import Graph, GraphPair, read_pair
from sameas.graph.inspection import inspect_graph


def graph(names, triples, *, relations=2, prefix="http://example.org/x/"):
    return Graph(
        entities=pl.Series("entity", [f"{prefix}{i}" for i in range(len(names))], dtype=pl.String),
        given_names=pl.Series("name", names, dtype=pl.String),
        relations=pl.Series("relation", [f"r{i}" for i in range(relations)], dtype=pl.String),
        triples=np.array(triples, dtype=np.int64).reshape(-1, 3),
    )


def test_everything_is_counted_once():
    found = inspect_graph(
        graph(
            ["Paris", "Paris", "", "...", "1984", "Lyon"],
            [(0, 0, 1), (0, 0, 1), (0, 1, 1), (2, 0, 2), (3, 1, 0), (3, 1, 0), (3, 1, 0)],
        )
    )
    assert found.entities == 6
    assert found.relations == 2
    assert found.triples == 7
    assert found.duplicate_triples == 3
    assert found.self_loops == 1
    assert found.isolated_entities == 2
    assert found.empty_names == 1
    assert found.names_without_letters == 1
    assert found.shared_names == 2
    assert found.mean_degree == pytest.approx(8 / 6)
    assert found.namespaces == {"http://example.org/x/": 6}


def test_empty_names_are_not_shared_names():
    assert inspect_graph(graph(["", "", "a"], [(0, 0, 1)])).shared_names == 0


def test_scripts_are_shares_of_letters_largest_first():
    found = inspect_graph(graph(["abc", "京都", "Ω 12 ..."], [(0, 0, 1)])).scripts
    assert found == {"Latin": 3 / 6, "Cjk": 2 / 6, "Greek": 1 / 6}
    assert list(found) == ["Latin", "Cjk", "Greek"]


@pytest.mark.parametrize(
    ("name", "script"),
    [
        ("القاهرة", "Arabic"),
        ("ירושלים", "Hebrew"),
        ("Москва", "Cyrillic"),
        ("東京", "Cjk"),
        ("とうきょう", "Hiragana"),
        ("서울", "Hangul"),
        ("दिल्ली", "Devanagari"),
    ],
)
def test_scripts_of_the_world(name, script):
    assert list(inspect_graph(graph([name], [(0, 0, 0)])).scripts) == [script]


def test_names_without_letters_have_no_script():
    assert inspect_graph(graph(["...", "👩‍👩‍👧", ""], [(0, 0, 1)])).scripts == {}


def test_a_quiet_graph_has_no_warnings():
    assert inspect_graph(graph(["Paris", "Lyon"], [(0, 0, 1), (1, 1, 0)])).warnings == ()


@pytest.mark.parametrize(
    ("names", "triples", "relations", "words"),
    [
        (["a", "b", "c"], [(0, 0, 1), (0, 1, 1)], 2, "1 of 3 entities have no triple"),
        (["a", "", "c"], [(0, 0, 1), (1, 1, 2)], 2, "1 of 3 entities have an empty name"),
        (["a", "..", "c"], [(0, 0, 1), (1, 1, 2)], 2, "without letters or digits"),
        (["a", "a", "c"], [(0, 0, 1), (1, 1, 2)], 2, "share their name"),
        (["a", "b"], [(0, 0, 1), (0, 0, 1)], 2, "1 triples stand twice"),
        (["a", "b"], [(0, 0, 1)], 1, "only one relation"),
    ],
)
def test_what_looks_suspicious_is_said(names, triples, relations, words):
    (warning,) = inspect_graph(graph(names, triples, relations=relations)).warnings
    assert words in warning


def warnings(left, right):
    return sameas.inspect(GraphPair(left=left, right=right)).warnings


def test_different_scripts_are_pointed_out():
    left = graph(["東京"], [(0, 0, 0)])
    (warning,) = warnings(left, graph(["Tokyo"], [(0, 0, 0)]))
    assert "different scripts (Cjk and Latin)" in warning
    assert warnings(left, left) == ()


def test_very_different_sizes_are_pointed_out():
    small, large = graph(["a"], [(0, 0, 0)]), graph(["a"] * 6, [(0, 0, 1)])
    (warning,) = warnings(small, large)
    assert "6 times the entities" in warning
    assert warnings(large, small) == (warning,)


def test_entities_without_a_uri_are_counted_as_such():
    found = inspect_graph(graph(["a", "b"], [(0, 0, 1)], prefix=""))
    assert found.namespaces == {"(no URI)": 2}


def test_a_graph_without_triples_can_be_inspected():
    found = inspect_graph(graph(["a"], []))
    assert found.isolated_entities == 1
    assert found.mean_degree == 0


def test_the_figures_go_through_json():
    found = sameas.inspect(read_pair(sameas.DEMO))
    figures = json.loads(json.dumps(found.asdict()))
    assert figures["left"]["entities"] == found.left.entities == 1162
    assert figures["left"]["scripts"]["Latin"] > 0.99
    assert figures["gold_links"] == 920


def test_what_an_input_was_read_as_is_said():
    people = [{"id": "p1", "name": "Ann Lee", "boss": "p2"}, {"id": "p2", "name": "Bo Ek"}]
    read = inspect_graph(Graph.from_records(people))
    assert read.read_as == "records (a row is an entity): ids in id, names in name; relations: boss"
    network = nx.Graph()
    network.add_node("a", name="Ann", labels="Person")
    network.add_node("b", name="Bo", labels="Person")
    network.add_edge("a", "b", type="KNOWS")
    read = inspect_graph(Graph.from_networkx(network))
    said = "property graph: labels: Person; relations: KNOWS, without direction"
    assert (read.read_as, read.entities, read.not_linkable) == (said, 2, 0)
    many = [("a", f"r{number}", "b") for number in range(7)]
    read = inspect_graph(Graph.from_triples(many))
    assert read.read_as.endswith("relations: r0, r1, r2, r3, r4 and 2 more")
