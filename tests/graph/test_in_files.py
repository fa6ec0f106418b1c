"""Graphs whose tables are in files are the same graphs."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_array_equal

import sameas
from sameas import Graph
from sameas.compute.in_files import is_in_file
from sameas.graph.matched import MatchedPair
from sameas.graph.semantics.understanding import understand_one

TABLES = ("attributes", "alternatives")


@pytest.fixture(scope="module")
def pair():
    """Two graphs with values and further names."""
    sides = [
        Graph.from_triples(
            [(f"{side}/{i}", "next", f"{side}/{(i + 1) % 9}") for i in range(9)],
            names={f"{side}/{i}": f"Item {i * 37}" for i in range(9)},
            attributes=[(f"{side}/{i}", "code", f"c{i * 11}") for i in range(9)],
            alternatives=[(f"{side}/{i}", f"Thing {i}") for i in range(4)],
        )
        for side in ("left", "right")
    ]
    return sameas.align(*sides).pair


def test_tables_and_triples_are_the_same_and_in_files(pair):
    held = pair.in_files()
    for graph, before in zip(held.graphs, pair.graphs, strict=True):
        for one, other in ((graph, before), (graph.source, before.source)):
            assert not {*TABLES} & {*vars(one)}
            for name in TABLES:
                assert len(getattr(other, name))
                assert getattr(one, name).equals(getattr(other, name))
            assert is_in_file(one.triples)
            assert_array_equal(one.triples, other.triples)
            assert one.entities is other.entities
        assert (graph.source.triples is graph.triples) == (before.source.triples is before.triples)
        assert is_in_file(graph.distinct_triples) or len(before.triples) > len(
            before.distinct_triples
        )
        assert_array_equal(graph.distinct_triples, before.distinct_triples)


def test_names_that_a_graph_does_not_have_are_an_error(pair):
    with pytest.raises(AttributeError, match="'MatchedGraph' object has no attribute 'nonsense'"):
        _ = pair.in_files().left.nonsense


@pytest.mark.parametrize(
    "copied",
    [
        copy.copy,
        copy.deepcopy,
        replace,
        lambda graph: graph.in_files(),
        lambda graph: pickle.loads(pickle.dumps(graph)),
        lambda graph: graph.in_order(),
    ],
)
def test_copies_have_all_tables(pair, copied):
    graph = copied(pair.left.in_files())
    for one, other in ((graph, pair.left), (graph.source, pair.left.source)):
        for name in TABLES:
            assert getattr(one, name).equals(getattr(other, name))


def test_one_graph_stays_one():
    graph = understand_one(Graph.from_triples([("a", "r", "b")]))
    held = MatchedPair(left=graph, right=graph).in_files()
    assert held.is_one_graph


def test_large_graphs_are_in_files_as_they_are_read(pair, tmp_path, monkeypatch):
    files = [tmp_path / f"{side}.nt" for side in ("left", "right")]
    for file in files:
        file.write_text(f"<http://{file.stem}/a> <http://r> <http://{file.stem}/b> .\n")
    assert not is_in_file(sameas.read_pair(*files).left.source.triples)
    monkeypatch.setattr("sameas.graph.graph.MANY", 1)
    graph = sameas.read_pair(*files).left
    assert is_in_file(graph.source.triples)
    assert "attributes" not in vars(graph.source)


def test_a_run_with_tables_in_files_gives_the_same(tiny, monkeypatch):
    usual = sameas.align(tiny)
    monkeypatch.setattr("sameas.graph.graph.MANY", 1)
    monkeypatch.setattr("sameas.similarity.edges.MANY", 1)
    found = sameas.align(tiny)
    assert is_in_file(found.pair.left.triples)
    assert not is_in_file(usual.pair.left.triples)
    for table in ("links", "candidates", "unmatched", "relations"):
        assert getattr(found, table).equals(getattr(usual, table))
    assert isinstance(found.pair.left.attributes, pl.DataFrame)
    assert np.array_equal(found.pair.right.triples, usual.pair.right.triples)
