"""The same data in any format gives the same links with the same scores.

What all formats can hold is compared: entities called by IRIs, a name each, relations, and, but in
the layout of DBP15K, attributes. Types are left out: a label of a property graph says of what sort
a node is, a class of RDF is a resource that may be linked itself.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import rdflib
from polars.testing import assert_frame_equal

import sameas
from sameas import Graph

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
SIZE = 60
COLUMNS = {"triples": ("head", "relation", "tail"), "values": ("entity", "attribute", "value")}


class Side(NamedTuple):
    """One graph: entities with names, triples, and values of attributes, by IRI."""

    name: str
    names: dict[str, str]
    triples: list[tuple[str, str, str]]
    values: list[tuple[str, str, str]]


@cache
def sides() -> tuple[Side, Side]:
    """Two graphs of towns that are mostly the same, with other words and some other facts."""
    rng = np.random.default_rng(3)
    parts = ["bel", "mont", "vil", "ster", "gar", "lo", "chan", "der", "ros", "win"]
    towns = ["".join(rng.choice(parts, 3)).title() for _ in range(SIZE)]
    roads = [(int(a), int(r), int(b)) for a, r, b in rng.integers(0, (SIZE, 3, SIZE), (150, 3))]
    # A town belongs to one other alone: what is said of it may be said of the other.
    roads += [(town, 3, town + SIZE // 2) for town in range(SIZE // 2)]
    people = [str(number) for number in rng.integers(100, 90_000, SIZE)]
    found = []
    for side, kept in (("left", range(50)), ("right", range(8, SIZE))):
        numbers = dict(zip(kept, rng.permutation(len(kept)).tolist(), strict=True))
        iris = {town: f"http://{side}.org/town{number}" for town, number in numbers.items()}
        relations = [f"http://{side}.org/{word}" for word in ("leads", "near", "rules", "twin")]
        spelled = {town: towns[town] if rng.random() < 0.7 else towns[town][:-2] for town in kept}
        found.append(
            Side(
                side,
                {iris[town]: spelled[town] for town in kept},
                [
                    (iris[a], relations[r], iris[b])
                    for a, r, b in dict.fromkeys(roads)
                    if a in iris and b in iris and a != b and rng.random() < 0.8
                ],
                [(iris[town], "people", people[town]) for town in kept if rng.random() < 0.8]
                + [(iris[town], "size", f"{len(people[town])} parts") for town in kept],
            )
        )
    return found[0], found[1]


def attribute(name: str) -> str:
    return f"http://any.org/{name}"


# Each writer gives the graph, or the place to read it from


def dbp15k(side: Side, folder: Path) -> Path:
    number = 1 if side.name == "left" else 2
    first = 0 if number == 1 else 1000
    ids = {entity: first + n for n, entity in enumerate(side.names)}
    relations = {relation: n for n, relation in enumerate(sorted({r for _, r, _ in side.triples}))}
    lines: dict[str, list[tuple[object, ...]]] = {
        f"ent_ids_{number}": [(n, entity) for entity, n in ids.items()],
        f"rel_ids_{number}": [(n, relation) for relation, n in relations.items()],
        f"triples_{number}": [(ids[h], relations[r], ids[t]) for h, r, t in side.triples],
    }
    for name, rows in lines.items():
        text = "".join("\t".join(map(str, row)) + "\n" for row in rows)
        (folder / name).write_text(text, encoding="utf8")
    file = folder / "translated_names.json"
    known = json.loads(file.read_text()) if file.exists() else []
    known += [[ids[entity], name.split()] for entity, name in side.names.items()]
    file.write_text(json.dumps(known))
    return folder


def openea(side: Side, folder: Path) -> Path:
    number = 1 if side.name == "left" else 2
    values = [(entity, LABEL, name) for entity, name in side.names.items()]
    values += [(entity, attribute(name), value) for entity, name, value in side.values]
    for file, rows in (("rel", side.triples), ("attr", values)):
        text = "".join("\t".join(row) + "\n" for row in rows)
        (folder / f"{file}_triples_{number}").write_text(text, encoding="utf8")
    return folder


def turtle(side: Side, folder: Path) -> Path:
    path = folder / f"{side.name}.ttl"
    of_rdflib(side).serialize(path, format="turtle")
    return path


def n_triples(side: Side, folder: Path) -> Path:
    path = folder / f"{side.name}.nt"
    of_rdflib(side).serialize(path, format="nt", encoding="utf-8")
    return path


def of_rdflib(side: Side) -> rdflib.Graph:
    graph = rdflib.Graph()
    for head, relation, tail in side.triples:
        graph.add((rdflib.URIRef(head), rdflib.URIRef(relation), rdflib.URIRef(tail)))
    for entity, name in side.names.items():
        graph.add((rdflib.URIRef(entity), rdflib.URIRef(LABEL), rdflib.Literal(name)))
    for entity, name, value in side.values:
        key = rdflib.URIRef(attribute(name))
        graph.add((rdflib.URIRef(entity), key, rdflib.Literal(value)))
    return graph


def from_rdflib(side: Side, folder: Path) -> Graph:
    return Graph.from_rdflib(of_rdflib(side))


def polars_tables(side: Side, folder: Path) -> Graph:
    triples = pl.DataFrame(side.triples, schema=COLUMNS["triples"], orient="row")
    values = pl.DataFrame(side.values, schema=COLUMNS["values"], orient="row")
    return Graph.from_triples(triples, names=side.names, attributes=values)


def pandas_tables(side: Side, folder: Path) -> Graph:
    triples = pd.DataFrame(side.triples, columns=COLUMNS["triples"])
    values = pd.DataFrame(side.values, columns=COLUMNS["values"])
    names = pd.DataFrame(side.names.items(), columns=["entity", "name"])
    return Graph.from_triples(triples, names=names, attributes=values)


def of_networkx(side: Side) -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph()
    for entity, name in side.names.items():
        graph.add_node(entity, name=name)
    for entity, name, value in side.values:
        graph.nodes[entity][name] = value
    for head, relation, tail in side.triples:
        graph.add_edge(head, tail, type=relation)
    return graph


def from_networkx(side: Side, folder: Path) -> Graph:
    return Graph.from_networkx(of_networkx(side))


def graphml(side: Side, folder: Path) -> Path:
    path = folder / f"{side.name}.graphml"
    nx.write_graphml(of_networkx(side), path)
    return path


def node_link(side: Side, folder: Path) -> Path:
    path = folder / f"{side.name}.json"
    path.write_text(json.dumps(nx.node_link_data(of_networkx(side), edges="links")))
    return path


def neo4j(side: Side, folder: Path) -> list[Path]:
    values = {(entity, key): value for entity, key, value in side.values}
    keys = ("people", "size")
    rows = [
        [entity, called, *(values.get((entity, key), "") for key in keys)]
        for entity, called in side.names.items()
    ]
    tables = {
        "nodes": [[":ID", "name", *keys], *rows],
        "edges": [[":START_ID", ":TYPE", ":END_ID"], *map(list, side.triples)],
    }
    paths = []
    for part, lines in tables.items():
        paths.append(folder / f"{side.name}_{part}.csv")
        paths[-1].write_text("".join(",".join(line) + "\n" for line in lines), encoding="utf8")
    return paths


WITH_VALUES = (
    *(openea, polars_tables, pandas_tables, n_triples, turtle, from_rdflib),
    *(neo4j, graphml, node_link, from_networkx),
)


def links_of(write, folder: Path, both: tuple[Side, Side]) -> pl.DataFrame:
    left, right = (write(side, folder) for side in both)
    given = (left,) if left == folder else (left, right)
    return sameas.align(*given, no_audit=True).links.sort("left", "right")


def without_values(both: tuple[Side, Side]) -> tuple[Side, Side]:
    return both[0]._replace(values=[]), both[1]._replace(values=[])


@pytest.fixture(scope="module")
def expected(tmp_path_factory) -> pl.DataFrame:
    return links_of(n_triples, tmp_path_factory.mktemp("expected"), sides())


@pytest.fixture(scope="module")
def expected_without_values(tmp_path_factory) -> pl.DataFrame:
    folder = tmp_path_factory.mktemp("expected")
    return links_of(n_triples, folder, without_values(sides()))


def test_the_links_are_mostly_those_that_are_meant(expected, expected_without_values):
    left, right = sides()
    for links in (expected, expected_without_values):
        ends = links.select("left", "right").iter_rows()
        same = [left.names[one][:5] == right.names[other][:5] for one, other in ends]
        assert len(links) > 30
        assert np.mean(same) > 0.9
    assert not expected.equals(expected_without_values)


@pytest.mark.parametrize("write", WITH_VALUES, ids=lambda write: write.__name__)
def test_the_same_data_gives_the_same_links_and_scores(write, expected, tmp_path):
    assert_frame_equal(links_of(write, tmp_path, sides()), expected, abs_tol=1e-6)


@pytest.mark.parametrize("write", [dbp15k, openea], ids=lambda write: write.__name__)
def test_the_same_folder_without_values(write, expected_without_values, tmp_path):
    links = links_of(write, tmp_path, without_values(sides()))
    assert_frame_equal(links, expected_without_values, abs_tol=1e-6)
