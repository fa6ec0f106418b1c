"""One graph from two: identities, provenance, and RDF that others read."""

from __future__ import annotations

import gzip
import json

import numpy as np
import polars as pl
import pyoxigraph as ox
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sameas
from hostile import ids
from sameas import Alignment, Graph, GraphPair, Options, OutputError
from sameas.alignment import Diagnostics
from sameas.cli import main
from sameas.iri import to_iris, to_property_iris
from sameas.links import LINK_SCHEMA, SAME_AS
from strategies import names

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
FORMATS = {
    ".nt": ox.RdfFormat.N_TRIPLES,
    ".ttl": ox.RdfFormat.TURTLE,
    ".nq": ox.RdfFormat.N_QUADS,
}


def links(*rows):
    return pl.DataFrame(rows, schema=LINK_SCHEMA, orient="row")


def parsed(path, suffix=".nt"):
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    found = []
    for each in ox.parse(input=content, format=FORMATS[suffix]):
        graph = each.graph_name.value if isinstance(each.graph_name, ox.NamedNode) else None
        ends = (each.subject, each.predicate, each.object)
        found.append((*(end.value for end in ends), graph))
    return found


def graph(*triples, names=None, attributes=()):
    table = pl.DataFrame(
        triples, schema=dict.fromkeys(("head", "relation", "tail"), pl.String), orient="row"
    )
    literals = pl.DataFrame(
        attributes, schema=dict.fromkeys(("entity", "attribute", "value"), pl.String), orient="row"
    )
    found = Graph.from_triples(table, attributes=literals)
    texts = [(names or {}).get(entity, "") for entity in found.entities]
    return Graph(
        entities=found.entities,
        names=pl.Series("name", texts, dtype=pl.String),
        relations=found.relations,
        triples=found.triples,
        attributes=found.attributes,
    )


def merge(pair, found, path, *, keep="left"):
    """Write a pair that was aligned with these links as one graph."""
    figures = Diagnostics(solver="sinkhorn", objective=0.0)
    parts = {"pair": pair, "links": found}
    alignment = Alignment(options=Options(), diagnostics=figures, load=parts.__getitem__)
    return sameas.merge(alignment, path, keep=keep)


PAIR = GraphPair(
    left=graph(
        ("http://l/Londres", "http://o/in", "http://l/Angleterre"),
        ("http://l/Londres", "http://o/in", "http://l/Angleterre"),
        names={"http://l/Londres": 'Londres "la grande"\n', "http://l/Angleterre": "Angleterre"},
    ),
    right=graph(
        ("http://r/London", "http://o/in", "http://r/England"),
        ("http://r/London", "born in", "7"),
        attributes=[("http://r/London", "http://o/size", "9")],
    ),
)
LINKS = links(
    ("http://l/Londres", "http://r/London", 0.9, 0.8),
    ("http://l/Angleterre", "http://r/England", 0.9, 0.8),
)


def test_linked_entities_are_one(tmp_path):
    merged = merge(PAIR, LINKS, tmp_path / "merged.nt")
    assert parsed(tmp_path / "merged.nt") == [
        ("http://l/Londres", "http://o/in", "http://l/Angleterre", None),
        ("http://l/Londres", LABEL, 'Londres "la grande"\n', None),
        ("http://l/Londres", "urn:sameas:right:property:born%20in", "urn:sameas:right:7", None),
        ("http://l/Londres", "http://o/size", "9", None),
        ("http://l/Londres", SAME_AS, "http://r/London", None),
        ("http://l/Angleterre", SAME_AS, "http://r/England", None),
    ]
    assert merged.triples == {"left": 2, "right": 2, "links": 2}
    told = " ".join(merged.not_held)
    assert "which graph a triple came from" in told
    assert "2 ids that are no IRIs" in told


def test_quads_say_where_every_triple_came_from(tmp_path):
    merged = merge(PAIR, LINKS, tmp_path / "merged.nq", keep="right")
    found = parsed(tmp_path / "merged.nq", ".nq")
    same = ("http://r/London", "http://o/in", "http://r/England")
    assert (*same, "urn:sameas:graph:left") in found
    assert (*same, "urn:sameas:graph:right") in found
    assert ("http://r/London", SAME_AS, "http://l/Londres", "urn:sameas:graph:links") in found
    assert merged.triples == {"left": 2, "right": 3, "links": 2}
    assert "came from" not in " ".join(merged.not_held)


def test_blank_nodes_of_the_two_graphs_stay_apart(tmp_path):
    both = GraphPair(left=graph(("_:b-1", "a:p", "a:x")), right=graph(("_:b-1", "a:p", "a:y")))
    merge(both, links(("a:x", "_:b-1", 1.0, 1.0)), tmp_path / "merged.nt")
    found = parsed(tmp_path / "merged.nt")
    assert found[1][:3] == ("a:x", "a:p", "a:y")
    assert found[0][0] not in ("a:x", "a:y")
    assert len(found) == 2
    merge(both, links(("_:b-1", "a:y", 1.0, 1.0)), tmp_path / "merged.nt")
    subjects = [row[0] for row in parsed(tmp_path / "merged.nt")]
    assert subjects[0] == "a:y"
    merge(both, links(), tmp_path / "merged.nt")
    assert len({row[0] for row in parsed(tmp_path / "merged.nt")}) == 2


def test_an_entity_that_both_graphs_name_alike_is_not_said_to_be_itself(tmp_path):
    both = GraphPair(left=graph(("a:x", "a:p", "a:y")), right=graph(("a:x", "a:p", "a:z")))
    merged = merge(both, links(("a:x", "a:x", 1.0, 1.0)), tmp_path / "merged.nt")
    assert merged.triples["links"] == 0


@settings(deadline=None, max_examples=15, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_statement_of_both_graphs_is_in_the_merged_one(tmp_path, data):
    sides = []
    for _ in range(2):
        entities = data.draw(st.lists(ids(), min_size=1, max_size=4, unique=True))
        relations = data.draw(st.lists(ids(), min_size=1, max_size=2, unique=True))
        some, kind = st.sampled_from(entities), st.sampled_from(relations)
        triples = data.draw(st.lists(st.tuples(some, kind, some), min_size=1, max_size=5))
        literals = data.draw(st.lists(st.tuples(some, kind, names()), max_size=3))
        sides.append(graph(*triples, attributes=literals))
    left, right = sides
    size = min(len(left.entities), len(right.entities))
    chosen = zip(left.entities[:size], right.entities[:size], strict=True)
    found = links(*((one, other, 1.0, 1.0) for one, other in chosen))
    keep = data.draw(st.sampled_from(["left", "right"]))
    path = tmp_path / "merged.nt"
    merge(GraphPair(left=left, right=right), found, path, keep=keep)
    expected = set()
    pairs = dict(found.select("left", "right").rows())
    back = {other: one for one, other in pairs.items()}
    iri = {
        side: dict(zip(some.entities, to_iris(some.entities, side=side), strict=True))
        for side, some in (("left", left), ("right", right))
    }
    kept = {"left": dict(iri["left"]), "right": dict(iri["right"])}
    if keep == "left":
        kept["right"] |= {other: iri["left"][one] for other, one in back.items()}
    else:
        kept["left"] |= {one: iri["right"][other] for one, other in pairs.items()}
    for side, some in (("left", left), ("right", right)):
        for head, relation, tail in some.triples.tolist():
            name = to_property_iris(some.relations[relation : relation + 1], side=side)[0]
            ends = kept[side][some.entities[head]], kept[side][some.entities[tail]]
            expected.add((ends[0], name, ends[1], None))
        for entity, attribute, value in some.attributes.rows():
            name = to_property_iris(pl.Series([attribute]), side=side)[0]
            expected.add((kept[side][entity], name, value, None))
    for one, other in pairs.items():
        ends = iri["left"][one], iri["right"][other]
        ends = ends if keep == "left" else ends[::-1]
        if ends[0] != ends[1]:
            expected.add((ends[0], SAME_AS, ends[1], None))
    assert set(parsed(path)) == expected


@pytest.mark.parametrize("name", ["merged.nt", "merged.ttl", "merged.nq", "merged.nt.gz"])
def test_merge_as_a_user_runs_it(tmp_path, name):
    alignment = sameas.align(PAIR)
    sameas.write(alignment, tmp_path / "run")
    for target in (name, f"again-{name}"):
        arguments = ["merge", str(tmp_path / "run"), "-o", str(tmp_path / target), "--json"]
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    suffix = ".nt" if name.endswith(".gz") else f".{name.rsplit('.', 1)[1]}"
    assert len(parsed(tmp_path / name, suffix)) == report["triples"]
    assert report["links_triples"] == len(alignment.links)
    assert (tmp_path / name).read_bytes() == (tmp_path / f"again-{name}").read_bytes()
    assert all(sentence in result.stderr for sentence in report["not_held"])


@pytest.mark.parametrize("name", ["merged.tsv", "merged", "missing/merged.nt", "folder.nt"])
def test_places_where_no_graph_can_go(tmp_path, name):
    (tmp_path / "folder.nt").mkdir()
    with pytest.raises(OutputError, match=str(tmp_path / name)):
        merge(PAIR, LINKS, tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["folder.nt"]


def test_large_graphs_are_written_piece_by_piece(tmp_path, monkeypatch):
    merge(PAIR, LINKS, tmp_path / "whole.nt")
    monkeypatch.setattr("sameas.writing.same_as.STEP", 1)
    merge(PAIR, LINKS, tmp_path / "pieces.nt")
    assert (tmp_path / "whole.nt").read_bytes() == (tmp_path / "pieces.nt").read_bytes()


def test_a_graph_without_triples_is_merged_too(tmp_path):
    empty = Graph(
        entities=pl.Series("entity", [], dtype=pl.String),
        names=pl.Series("name", [], dtype=pl.String),
        relations=pl.Series("relation", [], dtype=pl.String),
        triples=np.zeros((0, 3), dtype=np.int64),
    )
    merge(GraphPair(left=empty, right=PAIR.right), links(), tmp_path / "merged.nt")
    assert len(parsed(tmp_path / "merged.nt")) == 3
