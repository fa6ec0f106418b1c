"""What is costly is done once for a graph, however many stages ask for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sameas.graph.graph
import sameas.graph.labels
import sameas.graph.matched
import sameas.graph.semantics.kinds
from sameas import align, read_pair, write
from sameas.graph.semantics.understanding import understand_alone

ONTOLOGY = """
@prefix : <http://{side}.example/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Animal a owl:Class ; rdfs:label "animal" .
:Dog a owl:Class ; rdfs:label "dog" ; rdfs:subClassOf :Animal ,
  [ a owl:Restriction ; owl:onProperty :eats ; owl:someValuesFrom :Food ] .
:Food a owl:Class ; rdfs:label "food" .
:eats a owl:ObjectProperty ; rdfs:label "eats" .
:rex a :Dog ; rdfs:label "Rex" ; :eats :bone ; :weight "12" .
:bone a :Food ; rdfs:label "bone of contention" ; :weight "1" .
"""


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Two small ontologies, with an OWL expression in each."""
    paths = [tmp_path / f"{side}.ttl" for side in ("left", "right")]
    for path in paths:
        path.write_text(ONTOLOGY.replace("{side}", path.stem))
    return paths


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often functions of graphs are called from now on, by name."""
    counts = Counter[str]()

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            counts[name] += 1
            return function(*arguments, **named)

        return call

    for name in ("sorted_distinct", "positions_of", "names_from_attributes"):
        function = counted(name, getattr(sameas.graph.graph, name))
        for module in (sameas.graph.graph, sameas.graph.semantics.kinds):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, function)
    for kind in (sameas.graph.graph.GraphTables, sameas.graph.matched.MatchedGraph):
        for name in ("types", "type_shares"):
            if name in vars(kind):
                lazy = vars(kind)[name]
                monkeypatch.setattr(lazy, "func", counted(name, lazy.func))
    return counts


def test_triples_are_sorted_once_as_read_once_dissolved_and_once_as_matched(
    files: list[Path], calls: Counter[str]
) -> None:
    align(read_pair(*files))
    assert calls["sorted_distinct"] == 2 * 3


def test_types_are_worked_out_once_a_graph_as_matched(
    files: list[Path], calls: Counter[str]
) -> None:
    align(read_pair(*files))
    assert calls["types"] == 2
    assert calls["type_shares"] == 2


def test_entities_are_looked_up_as_often_for_many_stages_as_for_few(
    files: list[Path], calls: Counter[str]
) -> None:
    pair = read_pair(*files)
    # Properties among the entities, and the entities of attributes.
    assert calls["positions_of"] == 2 * 2
    align(pair)
    # Entities of attributes and of further names; the same IRIs of both graphs; common names.
    assert calls["positions_of"] <= 2 * 2 + 2 * 3 + 1


def test_names_as_read_are_chosen_only_where_they_are_written(
    files: list[Path], calls: Counter[str], tmp_path: Path
) -> None:
    alignment = align(read_pair(*files))
    write(alignment, tmp_path / "links.tsv")
    assert calls["names_from_attributes"] == 0
    write(alignment, tmp_path / "run")
    assert calls["names_from_attributes"] == 2


def test_what_is_asked_again_is_the_same_object(files: list[Path]) -> None:
    graph = sameas.read_graph(files[0])
    matched = understand_alone(graph).in_order()
    for each in (graph, matched):
        assert each.distinct_triples is each.distinct_triples
        assert each.types is each.types
        assert each.attribute_entities is each.attribute_entities
    assert matched.distinct_triples is matched.triples, "they are in order already"
    assert matched.type_shares is matched.type_shares
