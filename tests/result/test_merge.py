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
from odd_links import ids
from pairs import matched_pair
from sameas import Alignment, Graph, Options, OutputError
from sameas.cli.main import main
from sameas.graph.iri import to_iris, to_property_iris
from sameas.graph.link_set import IDENTITY, LINK_SCHEMA, SAME_AS
from sameas.result.alignment import Diagnostics
from sameas.result.export import predicates_of
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
        given_names=pl.Series("name", texts, dtype=pl.String),
        relations=found.relations,
        triples=found.triples,
        attributes=found.attributes,
    )


def aligned(pair, found):
    """A pair that was aligned with these links."""
    figures = Diagnostics(solver="sinkhorn", objective=0.0)
    parts = {"pair": pair, "links": found}
    return Alignment(options=Options(), diagnostics=figures, load=parts.get)


def merge(pair, found, path, *, keep="left"):
    """Write a pair that was aligned with these links as one graph."""
    return sameas.merge(aligned(pair, found), path, keep=keep)


PAIR = matched_pair(
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
    both = matched_pair(left=graph(("_:b-1", "a:p", "a:x")), right=graph(("_:b-1", "a:p", "a:y")))
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
    both = matched_pair(left=graph(("a:x", "a:p", "a:y")), right=graph(("a:x", "a:p", "a:z")))
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
    merge(matched_pair(left=left, right=right), found, path, keep=keep)
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
    # What is a relation, too, is a property, and linked by another predicate.
    said = {(s, SAME_AS if p in IDENTITY else p, o, g) for s, p, o, g in parsed(path)}
    assert said == expected


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
    monkeypatch.setattr("sameas.formats.same_as.STEP", 1)
    merge(PAIR, LINKS, tmp_path / "pieces.nt")
    assert (tmp_path / "whole.nt").read_bytes() == (tmp_path / "pieces.nt").read_bytes()


def test_a_graph_without_triples_is_merged_too(tmp_path):
    empty = Graph(
        entities=pl.Series("entity", [], dtype=pl.String),
        given_names=pl.Series("name", [], dtype=pl.String),
        relations=pl.Series("relation", [], dtype=pl.String),
        triples=np.zeros((0, 3), dtype=np.int64),
    )
    merge(matched_pair(left=empty, right=PAIR.right), links(), tmp_path / "merged.nt")
    assert len(parsed(tmp_path / "merged.nt")) == 3


# --- RDF ----------------------------------------------------------------------------------------

RDF, XSD = "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://www.w3.org/2001/XMLSchema#"
PLACES = {"left": ox.NamedNode("urn:sameas:graph:left")}
PLACES |= {part: ox.NamedNode(f"urn:sameas:graph:{part}") for part in ("right", "links")}


def resources(side):
    iris = [f"http://{side}/a", f"http://{side}/b", f"http://{side}/p", "http://both/x", "a:"]
    iris += [f"{RDF}nil", "http://www.w3.org/2002/07/owl#Class", "http://both/\xa0"]
    blank = [ox.BlankNode("b0"), ox.BlankNode("b1")]
    return st.sampled_from([ox.NamedNode(iri) for iri in iris] + blank)


def datasets(side):
    """Quads of one side, with a triple between resources at least."""
    own = [f"http://{side}/p", "http://both/p", f"{RDF}type", LABEL, f"{RDF}first", f"{RDF}rest"]
    predicate = st.sampled_from([ox.NamedNode(iri) for iri in own])
    text = st.sampled_from(["", "word", 'quote " and \\', "line\nbreak", "\u2028", "7"])
    literal = st.one_of(
        text.map(ox.Literal),
        st.builds(
            lambda text, tag: ox.Literal(text, language=tag),
            text,
            st.sampled_from(["en", "zh-hant"]),
        ),
        st.builds(
            lambda text, name: ox.Literal(text, datatype=ox.NamedNode(name)),
            text,
            st.sampled_from([f"{XSD}integer", f"{XSD}string", "http://both/x"]),
        ),
    )
    graph = st.sampled_from(
        [
            ox.DefaultGraph(),
            ox.NamedNode("http://both/x"),
            ox.NamedNode("http://g/1"),
            ox.BlankNode("b0"),
        ]
    )
    node = resources(side)
    between = st.builds(ox.Quad, node, predicate, node, graph)
    quad = st.builds(ox.Quad, node, predicate, st.one_of(node, literal), graph)
    return st.builds(lambda first, others: [first, *others], between, st.lists(quad, max_size=8))


def merged_slowly(sides, found, predicates, keep):
    """The quads of both sides with linked resources replaced, and those of links."""

    def key(side, term):
        return side, f"_:{term.value}" if isinstance(term, ox.BlankNode) else term.value

    def term(node):
        side, name = node
        return ox.BlankNode(side + name[2:]) if name.startswith("_:") else ox.NamedNode(name)

    groups = []
    for left, right, *_ in found.rows():
        group = {("left", left), ("right", right)}
        for other in [other for other in groups if other & group]:
            groups.remove(other)
            group |= other
        groups.append(group)
    best = sorted(found.rows(), key=lambda row: -np.inf if row[2] is None else row[2], reverse=True)
    kept = {}
    for group in groups:
        ends = [
            (side, row[number]) for row in best for number, side in enumerate(("left", "right"))
        ]
        ends = [end for end in ends if end in group]
        first = min(
            ends, key=lambda end: (end[1].startswith("_:"), end[0] != keep, ends.index(end))
        )
        kept |= dict.fromkeys(group, term(first))
    expected, said = set(), {}
    for (left, right, *_), predicate in zip(found.rows(), predicates, strict=True):
        for end in (("left", left), ("right", right)):
            if kept[end] != term(end) and not isinstance(term(end), ox.BlankNode):
                said.setdefault((kept[end], term(end)), ox.NamedNode(predicate))
    for (subject, object_), predicate in said.items():
        if not isinstance(subject, ox.BlankNode):
            expected.add(ox.Quad(subject, predicate, object_, PLACES["links"]))
    for side, quads in sides.items():
        for quad in quads:
            ends = [
                end
                if isinstance(end, ox.Literal)
                else kept.get(key(side, end), term(key(side, end)))
                for end in list(quad)[:3]
            ]
            subject, predicate, object_ = ends
            if isinstance(predicate, ox.BlankNode):
                predicate = quad.predicate
            place = quad.graph_name
            if isinstance(place, ox.BlankNode):
                place = term(key(side, place))
            named = PLACES[side] if place == ox.DefaultGraph() else place
            expected.add(ox.Quad(subject, predicate, object_, named))
    return expected


def canonical(quads):
    dataset = ox.Dataset(quads)
    dataset.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
    return sorted(str(quad) for quad in dataset)


@settings(deadline=None, max_examples=20, suppress_health_check=list(HealthCheck))
@given(data=st.data(), blank_nodes=st.booleans(), keep=st.sampled_from(["left", "right"]))
def test_every_statement_of_rdf_is_kept(tmp_path, data, blank_nodes, keep):
    sides = {side: data.draw(datasets(side)) for side in ("left", "right")}
    for side, quads in sides.items():
        (tmp_path / f"{side}.nq").write_bytes(ox.serialize(quads, format=ox.RdfFormat.N_QUADS))
    reading = sameas.Reading(blank_nodes=blank_nodes)
    pair = sameas.read_pair(tmp_path / "left.nq", tmp_path / "right.nq", reading=reading)
    found = links()
    if len(pair.left.entities) and len(pair.right.entities):
        ends = [st.sampled_from(graph.entities.to_list()) for graph in (pair.left, pair.right)]
        row = st.tuples(*ends, st.sampled_from([None, 0.5, 1.0]), st.none())
        found = links(*data.draw(st.lists(row, max_size=4, unique_by=lambda row: row[:2])))
    alignment = aligned(pair, found)
    merged = sameas.merge(alignment, tmp_path / "merged.nq", keep=keep)
    content = (tmp_path / "merged.nq").read_bytes()
    written = list(ox.parse(input=content, format=ox.RdfFormat.N_QUADS))
    expected = merged_slowly(sides, found, predicates_of(alignment), keep)
    assert canonical(written) == canonical(expected)
    assert len(written) == len(expected) == sum(merged.triples.values())
    read = [quad for quads in sides.values() for quad in quads]
    literals = [
        {quad.object for quad in quads if isinstance(quad.object, ox.Literal)}
        for quads in (written, read)
    ]
    assert literals[0] == literals[1]
    sameas.merge(alignment, tmp_path / "merged.nt", keep=keep)
    content = (tmp_path / "merged.nt").read_bytes()
    plain = list(ox.parse(input=content, format=ox.RdfFormat.N_TRIPLES))
    assert len(plain) == len(set(plain))
    triples = {ox.Quad(*list(quad)[:3]) for quad in written}
    assert canonical(plain) == canonical(triples)


LEFT = """@prefix : <http://l/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:City a owl:Class ; rdfs:label "city"@en ; rdfs:subClassOf [ a owl:Restriction ;
    owl:onProperty :in ; owl:someValuesFrom :Country ] .
:Country a owl:Class ; owl:oneOf ( :Italy :Spain ) .
:in a owl:ObjectProperty ; rdfs:label "lies in" .
:Rome a :City ; :in :Italy ; rdfs:label "Rome"@en, "Roma"@it ; :size 1285 .
:Graph1 { :Madrid a :City ; :in :Spain ; rdfs:label "Madrid" . }
"""


def rdf_pair(tmp_path):
    (tmp_path / "left.trig").write_text(LEFT)
    (tmp_path / "right.trig").write_text(LEFT.replace("http://l/", "http://r/"))
    return sameas.read_pair(tmp_path / "left.trig", tmp_path / "right.trig")


def test_classes_and_properties_are_replaced_everywhere_and_graphs_stay(tmp_path):
    pair = rdf_pair(tmp_path)
    names = ("City", "in", "Rome", "Madrid")
    found = links(*((f"http://l/{name}", f"http://r/{name}", 1.0, 1.0) for name in names))
    merge(pair, found, tmp_path / "merged.nq")
    rows = set(parsed(tmp_path / "merged.nq", ".nq"))
    own = "urn:sameas:graph:right"
    assert ("http://l/Rome", "http://l/in", "http://r/Italy", own) in rows
    assert ("http://l/Madrid", "http://l/in", "http://r/Spain", "http://r/Graph1") in rows
    assert ("http://l/Madrid", f"{RDF}type", "http://l/City", "http://r/Graph1") in rows
    owl = "http://www.w3.org/2002/07/owl#"
    for name, said in (("City", "equivalentClass"), ("in", "equivalentProperty")):
        sides = f"http://l/{name}", f"http://r/{name}"
        assert (sides[0], f"{owl}{said}", sides[1], "urn:sameas:graph:links") in rows
    text = (tmp_path / "merged.nq").read_text()
    assert '"Roma"@it' in text
    assert f'"1285"^^<{XSD}integer>' in text
    assert text.count(f"<{RDF}first>") == 4
    assert text.count("label>") == 2 * 5
    told = " ".join(merge(pair, found, tmp_path / "merged.nt").not_held)
    assert "the named graphs of 6 triples" in told


@pytest.mark.parametrize("keep", ["left", "right"])
def test_entities_that_several_links_connect_are_one(tmp_path, keep):
    both = matched_pair(
        left=graph(("l:a", "p:p", "l:b"), ("l:c", "p:p", "l:c")),
        right=graph(("r:a", "p:q", "r:b"), ("r:c", "p:q", "r:c")),
    )
    several = [("l:a", "r:a", 1.0, None), ("l:a", "r:b", 3.0, None), ("l:b", "r:b", 2.0, None)]
    found = links(*several, ("l:c", "r:c", None, None))
    merged = merge(both, found, tmp_path / "merged.nt", keep=keep)
    one, other = ("l:a", "l:c") if keep == "left" else ("r:b", "r:c")
    rows = [row[:3] for row in parsed(tmp_path / "merged.nt")]
    assert rows[:4] == [
        (one, "p:p", one),
        (other, "p:p", other),
        (one, "p:q", one),
        (other, "p:q", other),
    ]
    replaced = {("l:a", "l:b", "r:a", "r:b").index(row[2]) for row in rows[4:7]}
    assert {row[:2] for row in rows[4:7]} == {(one, SAME_AS)}
    assert len(replaced) == 3
    assert merged.triples["links"] == 4


def test_a_run_folder_is_merged_like_the_alignment(tmp_path):
    alignment = sameas.align(rdf_pair(tmp_path), cardinality="one-to-many")
    assert len(alignment.links)
    sameas.write(alignment, tmp_path / "run")
    for name in ("merged.nq", "merged.ttl"):
        sameas.merge(alignment, tmp_path / name)
        before = (tmp_path / name).read_bytes()
        sameas.merge(sameas.read_run(tmp_path / "run"), tmp_path / name)
        assert (tmp_path / name).read_bytes() == before


def test_a_graph_without_a_label_is_called_alike_whenever_it_is_read(tmp_path):
    said = '[] { <http://l/a> <http://l/p> <mailto:a@l> ; <http://l/q> "x" }'
    written = []
    for _ in range(2):
        for side in ("left", "right"):
            (tmp_path / f"{side}.trig").write_text(said)
        pair = sameas.read_pair(tmp_path / "left.trig", tmp_path / "right.trig")
        merge(pair, links(), tmp_path / "merged.nq")
        written.append((tmp_path / "merged.nq").read_bytes())
    assert written[0] == written[1]
    places = [line.split()[-2] for line in written[0].decode().splitlines()]
    assert len(places) == 4
    assert len(set(places)) == 2
