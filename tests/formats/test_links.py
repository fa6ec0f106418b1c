"""Every format of links: read as it was written, by us and by others; and what it cannot hold."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace

import numpy as np
import polars as pl
import pyoxigraph as ox
import pytest
import rdflib
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from folders import put
from odd_links import IDS, ids, links
from pairs import matched_pair
from sameas import (
    Alignment,
    Graph,
    InputError,
    OptionError,
    Options,
    SameasError,
    merge,
    read_gold,
    read_graph,
    read_links,
    write,
)
from sameas.formats.links import read_link_set
from sameas.graph.iri import are_iris, from_iris, is_iri, to_iris, to_property_iris
from sameas.graph.kind import Kind
from sameas.graph.link_set import (
    LINK_COLUMNS,
    LINK_SCHEMA,
    PREDICATES,
    SAME_AS,
    LinkSet,
    predicate_iri,
)
from sameas.result.alignment import Diagnostics
from sameas.result.export import predicates_of, write_links

FULL = (".csv", ".parquet", ".jsonl", ".sssom.tsv", ".rdf")
PAIRS = (".nt", ".ttl")
FORMATS = (".tsv", *FULL, *PAIRS)
OF_STATEMENTS = (".jsonl", ".sssom.tsv", ".nt", ".ttl", ".rdf")
ALIGN = "http://knowledgeweb.semanticweb.org/heterogeneity/alignment#"

quick = settings(
    deadline=None,
    max_examples=20,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def table(*rows):
    return pl.DataFrame(rows, schema=LINK_SCHEMA, orient="row")


EVERY_ID = table(*((one, other, 0.5, 0.25) for one in IDS[::3] for other in IDS[1::3]))
SIMPLE = table(("http://l.org/a", "http://r.org/a", 0.5, 0.25), ("b", "http://r.org/b", None, 1.0))


# --- IRIs -------------------------------------------------------------------------------------


@quick
@given(st.lists(ids(), max_size=8))
def test_every_id_becomes_a_valid_iri_and_comes_back(found):
    series = pl.Series("id", found, dtype=pl.String)
    for side in ("left", "right"):
        iris = to_iris(series, side=side)
        assert series.to_list() == found
        for iri in iris:
            assert ox.NamedNode(iri).value == iri
        assert from_iris(iris).to_list() == found


@quick
@given(st.lists(ids(), unique=True, max_size=8))
def test_ids_of_entities_and_relations_of_both_sides_stay_apart(found):
    words = pl.Series("id", [text for text in found if not is_iri(text)], dtype=pl.String)
    made = [
        iri
        for side in ("left", "right")
        for make in (to_iris, to_property_iris)
        for iri in make(words, side=side)
    ]
    assert len(set(made)) == len(made) == 4 * len(words)


@quick
@given(st.lists(ids(), max_size=8))
@example(IDS)
def test_iris_are_known_at_a_glance_as_they_are_one_by_one(found):
    series = pl.Series("id", found, dtype=pl.String)
    assert are_iris(series).to_list() == [is_iri(text) for text in found]


# --- There and back ---------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", FULL)
@quick
@given(written=links())
@example(written=EVERY_ID)
def test_links_are_read_as_they_were_written(tmp_path, suffix, written):
    path = tmp_path / f"links{suffix}"
    write_links(written, path)
    assert_frame_equal(read_links(path), written, check_exact=True)


@pytest.mark.parametrize("suffix", PAIRS)
@quick
@given(written=links())
@example(written=EVERY_ID)
def test_pairs_are_read_as_they_were_written(tmp_path, suffix, written):
    path = tmp_path / f"links{suffix}"
    lost = write_links(written, path)
    found = read_links(path)
    assert found.select("left", "right").rows() == written.select("left", "right").rows()
    numbers = [name for name in ("score", "confidence") if written[name].is_not_null().any()]
    told = [sentence for sentence in lost if sentence.endswith("of the links")]
    assert told == ([f"{' and '.join(numbers)} of the links"] if numbers else [])


@settings(quick, max_examples=10)
@given(written=links(), way=st.lists(st.sampled_from(FULL), min_size=2, max_size=4))
def test_no_chain_of_conversions_changes_anything(tmp_path, written, way):
    found = LinkSet(links=written)
    for step, suffix in enumerate(way):
        path = tmp_path / f"{step}{suffix}"
        write_links(found, path)
        found = read_link_set(path)
    assert_frame_equal(found.links.select(LINK_COLUMNS), written, check_exact=True)


@pytest.mark.parametrize("suffix", FORMATS)
def test_no_links_are_a_file_too(tmp_path, suffix):
    assert write_links(table(), tmp_path / f"links{suffix}") == ()
    assert_frame_equal(read_links(tmp_path / f"links{suffix}"), table())


@pytest.mark.parametrize("suffix", FORMATS)
def test_the_same_links_give_the_same_bytes(tmp_path, suffix):
    written = EVERY_ID.filter(~pl.col("left").str.contains("[\t\r\n]"))
    for name in ("one", "two"):
        write_links(written, tmp_path / f"{name}{suffix}")
    one, two = ((tmp_path / f"{name}{suffix}").read_bytes() for name in ("one", "two"))
    assert one == two


# --- Read by others ---------------------------------------------------------------------------


@pytest.mark.parametrize(("suffix", "kind"), [(".nt", "nt"), (".ttl", "turtle")])
@pytest.mark.parametrize("name", PREDICATES)
def test_rdflib_reads_the_triples(tmp_path, suffix, kind, name):
    path = tmp_path / f"links{suffix}"
    says = pl.lit(PREDICATES[name]).alias("predicate")
    write_links(LinkSet(links=EVERY_ID.with_columns(says)), path)
    found = set(rdflib.Graph().parse(path, format=kind))
    left, right = (to_iris(EVERY_ID[side], side=side) for side in ("left", "right"))
    assert found == {
        (rdflib.URIRef(one), rdflib.URIRef(PREDICATES[name]), rdflib.URIRef(other))
        for one, other in zip(left, right, strict=True)
    }


def test_rdflib_reads_the_cells_of_an_alignment(tmp_path):
    path = tmp_path / "links.rdf"
    written = pl.concat([SIMPLE, table(("http://l.org/?a&b", "http://r.org/é'", 1.25, 0.1))])
    write_links(written, path)
    query = f"""
        PREFIX align: <{ALIGN}>
        SELECT ?left ?right ?relation ?measure ?score WHERE {{
          ?alignment a align:Alignment ; align:map ?cell ; align:level "0" ; align:type "11" .
          ?cell a align:Cell ; align:entity1 ?left ; align:entity2 ?right ;
                align:relation ?relation .
          OPTIONAL {{ ?cell align:measure ?measure }}
          OPTIONAL {{ ?cell <urn:sameas:terms:score> ?score }}
        }}"""
    found = {
        tuple(None if term is None else term.toPython() for term in row)
        for row in rdflib.Graph().parse(path, format="xml").query(query)
    }
    left, right = (to_iris(written[side], side=side) for side in ("left", "right"))
    rows = zip(left, right, written["confidence"], written["score"], strict=True)
    assert {(str(a), str(b), r, m, s) for a, b, r, m, s in found} == {
        (one, other, "=", measure, score) for one, other, measure, score in rows
    }


def test_an_alignment_says_how_many_links_an_entity_has(tmp_path):
    write_links(table(("a:b", "a:c", 1, 1), ("a:b", "a:d", 1, 1)), tmp_path / "links.rdf")
    assert "<type>1*</type>" in (tmp_path / "links.rdf").read_text()


# --- What others write ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["r.rdf", "r.xml", "r.owl", "r.txt", "r", "r.rdf.gz"])
@pytest.mark.parametrize("encoding", ["utf-8", "windows-1252", "utf-16"])
def test_an_alignment_of_the_oaei(tmp_path, name, encoding, caplog):
    cells = "".join(
        f"<map cid='1'><Cell cid='{one}'>\n<entity1 cid='2' rdf:resource='http://a#{one}'/>"
        f"<entity2 rdf:resource='http://b#{two}'/>"
        f"<measure rdf:datatype='&xsd;float'>0.9</measure><relation>{relation}</relation>"
        "</Cell></map>"
        for one, two, relation in [("x", "é", "="), ("x", "é", "="), ("x", "z", "&lt;")]
    )
    text = (
        f"<?xml version='1.0' encoding='{encoding}' standalone='no'?>"
        '<!DOCTYPE rdf:RDF [<!ENTITY xsd "http://www.w3.org/2001/XMLSchema#">]>'
        f"<rdf:RDF xmlns='{ALIGN.removesuffix('#')}' "
        "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
        "<Alignment xml:lang='en'><xml>yes</xml><level>0</level><type>??</type>"
        f"<onto1>http://a</onto1><onto2>http://b</onto2>{cells}</Alignment></rdf:RDF>"
    )
    path = put(tmp_path / name, text.encode(encoding))
    found = read_link_set(path)
    assert found.links.select(LINK_COLUMNS).rows() == [("http://a#x", "http://b#é", None, 0.9)] * 2
    assert found.metadata == {"subject_source": "http://a", "object_source": "http://b"}
    assert found.skipped == ('cells whose relation is not "=": 1',)
    assert read_gold(path).rows() == [("http://a#x", "http://b#é")]
    assert f'{path}: left out: cells whose relation is not "=": 1' in caplog.text
    assert "duplicated links count once: 1" in caplog.text


def alignment(cell, more=""):
    return (
        f"<rdf:RDF xmlns='{ALIGN}' xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' {more}>"
        f"<Alignment><map><Cell>{cell}</Cell></map></Alignment></rdf:RDF>"
    )


@pytest.mark.parametrize(
    ("cell", "more"),
    [
        ("<entity1 rdf:resource='#x'/><entity2 rdf:resource='/y'/>", "xml:base='http://a/'"),
        (
            "<entity1><Class rdf:about='http://a/#x'/></entity1>"
            "<relation> = </relation><entity2 rdf:resource='http://a/y'/>",
            "",
        ),
    ],
)
def test_entities_of_cells_may_be_relative_or_elements(tmp_path, cell, more):
    path = put(tmp_path / "l.rdf", alignment(cell, more))
    assert read_links(path).rows() == [("http://a/#x", "http://a/y", None, None)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (alignment("<entity1 rdf:resource='a:b'/>"), "row 1: a cell without entity1 or entity2"),
        (alignment("<entity1><Class><or/></Class></entity1>"), r"entity1 must be an IRI, found"),
        (alignment("<entity1 rdf:resource='x y'/>"), 'entity1 must be an IRI, found "x y"'),
        (
            alignment(
                "<entity1 rdf:resource='a:b'/><entity2 rdf:resource='a:c'/><measure>x</measure>"
            ),
            'row 1: a number expected in column "measure", found "x"',
        ),
        ("<html><body>404</body></html>", "holds no alignment"),
    ],
)
def test_xml_that_is_no_alignment_of_simple_cells(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_links(put(tmp_path / "l.rdf", text))


@pytest.mark.parametrize("name", ["l.nt", "l.ttl", "l.rdf", "l.owl", "l"])
def test_links_in_rdf_are_known_by_their_content(tmp_path, name, caplog):
    text = f"<http://a/x> <{SAME_AS}> <http://b/x> .\n<http://a/ y> <{SAME_AS}> <http://b/y> .\n"
    path = put(tmp_path / name, text)
    assert read_gold(path).rows() == [("http://a/x", "http://b/x")]
    assert f"{path}: malformed statements were left out: 1 (bad iris 1)" in caplog.text


def test_same_as_in_xml(tmp_path):
    text = (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
        'xmlns:owl="http://www.w3.org/2002/07/owl#"><rdf:Description rdf:about="http://a/x">'
        '<owl:sameAs rdf:resource="http://b/x"/></rdf:Description></rdf:RDF>'
    )
    for name in ("l.rdf", "l.xml"):
        assert read_gold(put(tmp_path / name, text)).rows() == [("http://a/x", "http://b/x")]


def test_rdf_that_says_other_things_too(tmp_path):
    text = f"""
        @prefix owl: <http://www.w3.org/2002/07/owl#> .
        <http://a/x> owl:sameAs <http://b/x>, _:someone, "text" ; owl:versionInfo "1" .
        <http://a/y> <{PREDICATES["exactMatch"]}> <http://b/y> ."""
    found = read_link_set(put(tmp_path / "links.ttl", text))
    assert found.links.select("left", "right").rows() == [
        ("http://a/x", "http://b/x"),
        ("http://a/y", "http://b/y"),
    ]
    assert found.predicates.to_list() == [SAME_AS, PREDICATES["exactMatch"]]
    assert [sentence.rsplit(" ", 1)[1] for sentence in found.skipped] == ["1", "2"]


def test_a_predicate_of_ones_own(tmp_path):
    path = put(tmp_path / "links.nt.gz", "<a:b> <http://a.org/is> <a:c> .\n")
    assert len(read_link_set(path, predicate="http://a.org/is").links) == 1
    with pytest.raises(InputError, match=r"none of its 1 triples has a predicate such as owl:same"):
        read_link_set(path)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("l.jsonl", '{"left": "a"}', r'l\.jsonl:1: text expected in "right", found nothing'),
        ("l.jsonl", '\n{"left": "a", "right": ""}', r'l\.jsonl:2: text expected in "right"'),
        ("l.jsonl", '{"left": "a", "right": "b", "score": "x"}', 'a number expected in "score"'),
        ("l.jsonl", '{"left": "a", "right": "b", "score": true}', 'a number expected in "score"'),
        ("l.jsonl", '{"left": "\\ud800", "right": "b"}', "text expected"),
        ("l.jsonl", "[1, 2]", "one object a line expected"),
        ("l.nt", "<a:b> <a:c> .", r"l\.nt:1:13: The object .*; mend it$"),
        ("l.ttl", "@prefix x", r"l\.ttl:1:9: The PREFIX .*; mend it$"),
        ("l.rdf", "<a><b></a>", r"l\.rdf:1:9: not well-formed XML"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_place(tmp_path, name, text, message):
    path = put(tmp_path / name, text)
    with pytest.raises(InputError, match=message):
        read_links(path)


def test_entities_that_grow_without_end_are_refused(tmp_path):
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 9))
    text = f'<!DOCTYPE r [<!ENTITY e0 "0123456789">{entities}]><r>&e8;</r>'
    with pytest.raises(InputError, match='the entity "e3" stands for 14,440'):
        read_links(put(tmp_path / "bomb.rdf", text))


@pytest.mark.parametrize("suffix", OF_STATEMENTS)
@settings(quick, max_examples=15)
@given(data=st.data())
def test_any_bytes_are_read_or_refused(tmp_path, suffix, data):
    good = tmp_path / f"good{suffix}"
    if not good.exists():
        write_links(SIMPLE, good)
    content = bytearray(good.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content)))
        content[at : at + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=5))
    path = tmp_path / f"fuzz{suffix}"
    path.write_bytes(data.draw(st.one_of(st.binary(max_size=60), st.just(bytes(content)))))
    for read in (read_links, read_gold):
        with contextlib.suppress(SameasError):
            assert read(path).columns[:2] == ["left", "right"]


# --- What a format cannot hold ----------------------------------------------------------------


@pytest.mark.parametrize("suffix", OF_STATEMENTS[1:])
def test_blank_nodes_are_never_written_as_links_in_rdf(tmp_path, suffix):
    path = tmp_path / f"links{suffix}"
    written = pl.concat([table(("_:b", "a:b", 1, 1), ("a:b", "_:b", 1, 1)), SIMPLE])
    lost = write_links(written, path)
    assert "2 links of blank nodes" in lost
    assert "_:b" not in path.read_text()
    assert read_links(path)["left"].to_list() == SIMPLE["left"].to_list()


@pytest.mark.parametrize("suffix", OF_STATEMENTS[1:])
def test_ids_that_are_no_iris_are_told(tmp_path, suffix):
    lost = write_links(SIMPLE, tmp_path / f"links{suffix}")
    assert any(sentence.startswith("1 ids that are no IRIs") for sentence in lost)


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".parquet", ".jsonl", ".rdf"])
def test_what_tables_leave_out_is_told(tmp_path, suffix):
    more = SIMPLE.with_columns(
        predicate=pl.lit(PREDICATES["exactMatch"]), subject_label=pl.lit("A")
    )
    lost = write_links(LinkSet(links=more, metadata={"license": "x:y"}), tmp_path / f"l{suffix}")
    told = " ".join(lost)
    assert "the predicate of 2 links" in told
    assert "columns subject_label" in told
    assert "metadata license" in told


def test_json_has_no_numbers_without_end(tmp_path):
    written = table(("a", "b", float("inf"), float("nan")))
    assert write_links(written, tmp_path / "l.jsonl") == ("2 numbers that are not finite",)
    assert json.loads((tmp_path / "l.jsonl").read_text())["score"] is None


def test_predicates_by_name_and_by_iri():
    assert predicate_iri("owl:sameAs") == predicate_iri("sameAs") == SAME_AS
    assert predicate_iri("http://a.org/x") == "http://a.org/x"
    for wrong in ("sameas", "x:y", "", "http://a.org/x y"):
        with pytest.raises(OptionError, match="`predicate` must be sameAs, exactMatch"):
            predicate_iri(wrong)


# --- Predicates by the kind of entity -----------------------------------------------------------

SKOS = "http://www.w3.org/2004/02/skos/core#"
BY_KIND = {
    "Class": PREDICATES["equivalentClass"],
    "property": PREDICATES["equivalentProperty"],
    **dict.fromkeys(("typed", "narrow"), PREDICATES["exactMatch"]),
    **dict.fromkeys(("individual", "wide", "labelled", "other"), SAME_AS),
}


def of_every_kind(*, kinds="both"):
    """An alignment whose left entities are of all kinds, with links in another order."""
    entities = [*BY_KIND, f"{SKOS}Concept"]
    triples = [
        ("typed", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", f"{SKOS}Concept"),
        ("narrow", f"{SKOS}broader", "wide"),
        ("Class", f"{SKOS}inScheme", "other"),
        ("individual", "http://a.org/type", f"{SKOS}Concept"),
    ]
    names = [("labelled", f"{SKOS}prefLabel", "L"), ("other", f"{SKOS}note", "N")]
    left = Graph.from_triples(triples, entities=entities, attributes=names)
    right = Graph.from_triples([], entities=[f"r{entity}" for entity in BY_KIND])
    pair = matched_pair(left=left, right=right)
    if kinds != "none":
        codes = {"Class": 1, "property": 2, "other": 3}
        numbers = np.array([codes.get(entity, 0) for entity in pair.left.entities], np.int8)
        of_right = np.array([codes.get(entity, 0) for entity in BY_KIND], np.int8)
        right = replace(pair.right, kinds=of_right if kinds == "both" else pair.right.kinds)
        pair = replace(pair, left=replace(pair.left, kinds=numbers), right=right)
    pairs = table(*((entity, f"r{entity}", 1.0, 0.5) for entity in reversed(BY_KIND)))
    parts = {"pair": pair, "links": pairs}
    figures = Diagnostics(solver="exact", objective=1.0)
    return Alignment(options=Options(), diagnostics=figures, load=parts.get)


def predicates_in(path):
    found = read_link_set(path)
    return dict(zip(found.links["left"], found.predicates, strict=True))


def test_each_link_has_the_predicate_that_fits_its_entities():
    def predicates(kinds):
        found = of_every_kind(kinds=kinds)
        return dict(zip(found.links["left"], predicates_of(found), strict=True))

    unlike = dict.fromkeys(("Class", "property"), PREDICATES["exactMatch"])
    assert predicates("both") == BY_KIND
    assert predicates("left") == BY_KIND | unlike
    assert predicates("none") == BY_KIND | unlike | {"property": SAME_AS}


@pytest.mark.parametrize(
    ("left", "right", "name"),
    [
        (Kind.CLASS, Kind.INDIVIDUAL, "exactMatch"),
        (Kind.INDIVIDUAL, Kind.CLASS, "exactMatch"),
        (Kind.PUN, Kind.CLASS, "equivalentClass"),
        (Kind.PROPERTY, Kind.PUN, "equivalentProperty"),
        (Kind.PUN, Kind.PUN, "equivalentClass"),
        (Kind.INDIVIDUAL, Kind.INDIVIDUAL, "sameAs"),
        (Kind.CLASS, None, "equivalentClass"),
    ],
)
def test_the_predicate_of_two_kinds(left, right, name):
    pair = matched_pair(
        left=Graph.from_triples([], entities=["a"]), right=Graph.from_triples([], entities=["b"])
    )
    kinds = [np.array([kind or 0], np.int8) for kind in (left, right)]
    pair = replace(
        pair,
        left=replace(pair.left, kinds=kinds[0]),
        right=replace(pair.right, kinds=kinds[1]),
    )
    links = table(("a", "unknown" if right is None else "b", 1.0, 0.5))
    figures = Diagnostics(solver="exact", objective=1.0)
    parts = {"pair": pair, "links": links}
    found = Alignment(options=Options(), diagnostics=figures, load=parts.get)
    assert predicates_of(found).to_list() == [PREDICATES[name]]


@pytest.mark.parametrize("suffix", [".nt", ".ttl", ".sssom.tsv"])
def test_predicates_by_kind_are_written_and_read(tmp_path, suffix):
    path = tmp_path / f"links{suffix}"
    write(of_every_kind(), path)
    assert predicates_in(path) == BY_KIND
    if suffix != ".nt":
        assert "owl:equivalentClass" in path.read_text()
        assert "skos:exactMatch" in path.read_text()
    write_links(read_link_set(path), tmp_path / "again.nt")
    assert predicates_in(tmp_path / "again.nt") == BY_KIND


@pytest.mark.parametrize("suffix", [".nt", ".ttl", ".sssom.tsv"])
@pytest.mark.parametrize("name", ["sameAs", "owl:equivalentClass", "schema:sameAs"])
def test_a_predicate_that_is_given_is_that_of_all_links(tmp_path, suffix, name):
    path = tmp_path / f"links{suffix}"
    write(of_every_kind(), path, predicate=name)
    assert set(predicates_in(path).values()) == {predicate_iri(name)}


def test_concepts_of_an_rdf_file_are_known_from_their_types(tmp_path):
    turtle = f"""@prefix skos: <{SKOS}> .
        <http://a/c> a skos:Concept ; skos:prefLabel "C" .
        <http://a/x> <http://a/p> <http://a/c> ."""
    graph = read_graph(put(tmp_path / "a.ttl", turtle))
    pairs = table(("http://a/x", "http://a/c", 1.0, 1.0), ("http://a/c", "http://a/x", 1.0, 1.0))
    parts = {"pair": matched_pair(left=graph, right=graph), "links": pairs}
    figures = Diagnostics(solver="exact", objective=1.0)
    found = Alignment(options=Options(), diagnostics=figures, load=parts.get)
    assert set(predicates_of(found)) == {PREDICATES["exactMatch"]}


def test_formats_without_predicates_do_not_miss_them(tmp_path):
    assert write(of_every_kind(), tmp_path / "links.tsv") == ()


def test_merged_graphs_have_predicates_by_kind(tmp_path):
    merge(of_every_kind(), tmp_path / "merged.nt", keep="right")
    text = (tmp_path / "merged.nt").read_text()
    for entity, predicate in BY_KIND.items():
        ends = f"<urn:sameas:right:r{entity}>", f"<urn:sameas:left:{entity}>"
        assert f"{ends[0]} <{predicate}> {ends[1]} ." in text
