"""What changed in a graph, against a slow comparison entity by entity."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from sameas import Graph
from sameas.graph.changes import changed_entities, ids_of_today, share_recognised, with_ids
from sameas.graph.matched import MatchedGraph
from sameas.graph.semantics.understanding import understand_alone

ENTITIES = "abcde"
triples = st.lists(
    st.tuples(st.sampled_from(ENTITIES), st.sampled_from("rs"), st.sampled_from(ENTITIES)),
    min_size=1,
    max_size=8,
)
values = st.dictionaries(
    st.tuples(st.sampled_from(ENTITIES), st.sampled_from("pq")), st.sampled_from("12"), max_size=6
)
names = st.dictionaries(st.sampled_from(ENTITIES), st.sampled_from(["x", "y"]))
contents = st.tuples(triples, values, names)


def graph_of(content) -> MatchedGraph:
    edges, attributes, labels = content
    entities = sorted({end for head, _, tail in edges for end in (head, tail)})
    rows = [(e, p, v) for (e, p), v in attributes.items() if e in entities]
    graph = Graph.from_triples(
        pl.DataFrame(edges, schema=["head", "relation", "tail"], orient="row"),
        entities=entities,
        names=[labels.get(entity, "") for entity in entities],
        attributes=pl.DataFrame(
            rows, schema=dict.fromkeys(("entity", "attribute", "value"), pl.String), orient="row"
        ),
    )
    return understand_alone(graph)


def said_of(graph: MatchedGraph, entity: str) -> dict[str, set[object]]:
    """All that a graph says of an entity, looked up one after the other."""
    ends = [
        tuple(series[place] for series, place in zip(columns, triple, strict=True))
        for triple in graph.triples.tolist()
        for columns in [(graph.entities, graph.relations, graph.entities)]
    ]
    return {
        "name": {graph.names[graph.entities.index_of(entity)]},
        "attributes": {
            (row["attribute"], row["value"])
            for row in graph.attributes.iter_rows(named=True)
            if row["entity"] == entity
        },
        "triples": {triple for triple in ends if entity in (triple[0], triple[2])},
    }


@given(contents, contents)
def test_changes_are_those_found_entity_by_entity(one, other):
    before, now = graph_of(one), graph_of(other)
    expected = dict.fromkeys({*before.entities} - {*now.entities}, ("gone", ""))
    expected |= dict.fromkeys({*now.entities} - {*before.entities}, ("new", ""))
    common = {*before.entities} & {*now.entities}
    for entity in common:
        old, new = said_of(before, entity), said_of(now, entity)
        if parts := [part for part in new if new[part] != old[part]]:
            expected[entity] = "changed", ", ".join(parts)
    rows = changed_entities(before, now).iter_rows()
    assert {entity: (change, reason) for entity, change, reason in rows} == expected
    known = [
        entity
        for entity in common
        if any(said_of(before, entity)[p] & said_of(now, entity)[p] - {""} for p in expected_parts)
    ]
    smaller = min(len(before.entities), len(now.entities))
    assert share_recognised(before, now) == len(known) / smaller


expected_parts = ("name", "attributes", "triples")


def test_rows_without_ids_are_known_by_what_they_hold():
    people = [{"name": f"{name} Lee", "born": "1970"} for name in ("Ann", "Bo", "Cy", "Di")]
    before, now = (
        understand_alone(Graph.from_records(rows))
        for rows in (people, [{"name": "new", "born": "0"}, *people[1:]])
    )
    rename = ids_of_today(before, now)
    assert rename is not None
    same = with_ids(before, rename)
    assert same.entities.to_list() == ["formerly 1", "2", "3", "4"]
    later = understand_alone(Graph.from_records([{"name": "new", "born": "0"}, *people]))
    rename = ids_of_today(before, later)
    assert rename is not None
    assert rename(before.entities).to_list() == ["2", "3", "4", "5"]
    with_id = understand_alone(Graph.from_records([{"id": "p", **row} for row in people[:1]]))
    assert ids_of_today(before, with_id) is None
