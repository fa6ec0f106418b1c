"""RDF in: every format, names and languages, what is linked, and what is refused."""

from __future__ import annotations

import bz2
import gzip
import json
import os
import threading
from pathlib import Path

import polars as pl
import pyoxigraph as ox
import pytest
import zstandard
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sameas
from folders import named_triples, names_of, put
from sameas import InputError, OptionError, Reading
from sameas.cli.main import main
from sameas.formats import rdf as quads_module
from sameas.formats.rdf_syntax import FORMATS
from sameas.graph.kind import Kind
from sameas.graph.rdf.statements import columns_of, lines_of
from sameas.graph.semantics.understanding import understand

E = "http://example.org/"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
SKOSXL = "http://www.w3.org/2008/05/skos-xl#"
OWL = "http://www.w3.org/2002/07/owl#"
XSD = "http://www.w3.org/2001/XMLSchema#"
PREFIXES = f"""@prefix : <{E}> .
@prefix rdf: <{RDF}> .
@prefix rdfs: <{RDFS}> .
@prefix skos: <{SKOS}> .
@prefix skosxl: <{SKOSXL}> .
@prefix owl: <{OWL}> .
"""
LINE = f"<{E}a> <{E}r> <{E}b> .\n"


def read(path, **reading):
    return sameas.read_graph(path, reading=Reading(**reading))


def turtle(folder, text, **reading):
    return read(put(folder / "g.ttl", PREFIXES + text), **reading)


def matched(graph):
    """The graph as it is matched with itself."""
    return understand(sameas.GraphPair(left=graph, right=graph)).left


def refusal(path, **reading):
    with pytest.raises(InputError) as caught:
        read(path, **reading)
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 400 + len(str(path))
    return message


def short(texts):
    return [text.removeprefix(E) for text in texts]


def linkable(graph):
    return set(short(graph.entities if graph.linkable is None else graph.entities[graph.linkable]))


def facts(graph):
    """All that a graph says, whatever its order."""
    names = {uri: name for uri, name in names_of(graph).items() if uri in linkable_uris(graph)}
    return (
        sorted(named_triples(graph)),
        sorted(graph.attributes.rows()),
        names,
        sorted(graph.alternatives.rows()),
        linkable_uris(graph),
    )


def linkable_uris(graph):
    return set(graph.entities if graph.linkable is None else graph.entities[graph.linkable])


# Every format


local = st.text(st.sampled_from("abé/~é京"), min_size=1, max_size=3)
nodes = st.builds(lambda text: ox.NamedNode(E + text), local)
predicates = st.sampled_from([E + "r", E + "s", RDFS + "label", SKOS + "altLabel"])
tags = st.sampled_from([None, "en", "de-AT", "zh"])
texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6) | st.sampled_from(
    ['a "b" \\ c', "tab\there", "line\nbreak", "\\u0041", " ", "", "x" * 1000]
)


@st.composite
def literals(draw):
    tag = draw(tags)
    if tag:
        return ox.Literal(draw(texts), language=tag)
    if draw(st.booleans()):
        kind = "http://www.w3.org/2001/XMLSchema#integer"
        return ox.Literal(str(draw(st.integers())), datatype=ox.NamedNode(kind))
    return ox.Literal(draw(texts))


plain = st.builds(
    ox.Triple, nodes, predicates.map(ox.NamedNode), st.one_of(nodes, nodes, literals())
)
types = st.builds(
    ox.Triple,
    nodes,
    st.just(ox.NamedNode(RDF + "type")),
    st.sampled_from([E + "City", E + "a", OWL + "Thing"]).map(ox.NamedNode),
)
triples = plain | types
relation = ox.Triple(ox.NamedNode(E + "a"), ox.NamedNode(E + "r"), ox.NamedNode(E + "b"))


@settings(max_examples=20, deadline=None)
@given(st.lists(triples, max_size=12))
def test_a_graph_is_the_same_in_every_format(tmp_path_factory, some):
    folder = tmp_path_factory.mktemp("rdf")
    some = [relation, *some]
    expected = None
    for kind, format in FORMATS.items():
        rows = [ox.Quad(*triple) for triple in some] if format.supports_datasets else some
        path = folder / f"g.{kind}"
        ox.serialize(rows, str(path), format=format)
        found = facts(read(path))
        expected = expected or found
        assert found == expected, kind


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(triples, max_size=12), st.sampled_from([1, 7, 64, 10_000]))
def test_lines_are_read_alike_in_blocks_of_any_size(tmp_path, monkeypatch, some, size):
    """The same order, too, as by the parser of Turtle, of which N-Triples are a part."""
    content = ox.serialize([relation, *some], format=ox.RdfFormat.N_TRIPLES)
    slow = read(put(tmp_path / "g.ttl", content))
    monkeypatch.setattr(quads_module, "BLOCK_BYTES", size)
    fast = read(put(tmp_path / "g.nt", content))
    assert fast.entities.to_list() == slow.entities.to_list()
    assert fast.triples.tolist() == slow.triples.tolist()
    assert fast.attributes.equals(slow.attributes)
    assert names_of(fast) == names_of(slow)


ODD_LINES = [
    "<http://example.org/a>\t<http://example.org/r>\t<http://example.org/b>\t.\n",
    "<http://example.org/a><http://example.org/r><http://example.org/b>.\n",
    "  <http://example.org/a>   <http://example.org/r> <http://example.org/b>. # why\n",
    "# why\n\n   \n<http://example.org/a> <http://example.org/r> <http://example.org/b> .\r\n",
    "<http://example.org/\\u0061> <http://example.org/r> <http://example.org/\\U00000062> .",
    "\ufeff<http://example.org/a> <http://example.org/r> <http://example.org/b> .\n",
    "<http://example.org/a> <http://example.org/r> <http://example.org/b> .\r# x\r\n",
]


@pytest.mark.parametrize("text", ODD_LINES)
@pytest.mark.parametrize("kind", ["nt", "nq"])
def test_lines_that_are_not_as_usual_are_read_too(tmp_path, text, kind):
    graph = read(put(tmp_path / f"g.{kind}", text))
    assert named_triples(graph) == [(E + "a", E + "r", E + "b")]


def test_the_graph_that_a_quad_is_in_does_not_matter(tmp_path):
    text = f'<{E}a> <{E}r> <{E}b> <{E}g> .\n<{E}a> <{E}p> "x"@en <{E}h> .\n{LINE}'
    graph = read(put(tmp_path / "g.nq", text))
    assert len(graph.triples) == 2
    assert graph.attributes.rows() == [(E + "a", E + "p", "x", "en", "", f"<{E}h>")]
    assert graph.triple_graphs.to_list() == [f"<{E}g>", ""]
    assert matched(graph).triples.tolist() == [[0, 0, 1]] * 2


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [(".gz", gzip.compress), (".bz2", bz2.compress), (".zst", zstandard.compress)],
)
def test_compressed_files_are_read_whole_and_refused_when_cut(tmp_path, suffix, pack):
    text = "".join(f"<{E}{i}> <{E}r> <{E}{i * 7919 % 100_003}> .\n" for i in range(3_000)).encode()
    for kind in ("nt", "ttl"):
        path = tmp_path / f"g.{kind}{suffix}"
        path.write_bytes(pack(text))
        assert len(read(path).triples) == 3_000
        path.write_bytes(pack(text[:70_000]) + pack(text[70_000:]))  # members end to end
        assert len(read(path).triples) == 3_000
        path.write_bytes(pack(text)[:-20])
        assert "is the file whole?" in refusal(path)
        assert "is the file whole?" in refusal(path, lenient=True)


def test_standard_input_may_be_compressed(tmp_path):
    right = put(tmp_path / "right.ttl", LINE)
    for given_input, extra in ((LINE.encode(), []), (gzip.compress(LINE.encode()), [])):
        result = CliRunner().invoke(main, ["inspect", "-", "--json", *extra], input=given_input)
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["graphs"]["-"]["triples"] == 1
    words = ["align", "-", str(right), "--format", "ttl", "-o", str(tmp_path / "l.tsv"), "--json"]
    result = CliRunner().invoke(main, words, input=f"@prefix : <{E}> . :a :r :b .")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["reading"]["left"] == {"statements": 1, "malformed": 0}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name")
def test_a_pipe_is_read_like_standard_input(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    thread = threading.Thread(
        target=(tmp_path / "pipe").write_bytes, args=(bz2.compress(LINE.encode()),)
    )
    thread.start()
    assert len(read(tmp_path / "pipe", format="nt").triples) == 1
    thread.join()


def test_both_sides_cannot_be_standard_input():
    with pytest.raises(OptionError, match="one side at most"):
        sameas.read_pair("-", "-")


# Several files a side


def test_a_side_may_be_a_folder_a_pattern_or_files_between_commas(tmp_path, caplog):
    folder = tmp_path / "left"
    folder.mkdir()
    put(folder / "a.nt.gz", LINE)
    put(folder / "b.ttl", f"<{E}b> <{E}r> <{E}c> .")
    put(folder / "README.md", "read me")
    expected = [(E + "a", E + "r", E + "b"), (E + "b", E + "r", E + "c")]
    several = f"{folder / 'a.nt.gz'},{folder / 'b.ttl'}"
    paths = [folder / "a.nt.gz", str(folder / "b.ttl")]
    for place in (folder, str(folder / "*.[nt]t*"), several, paths):
        assert named_triples(read(place)) == expected
    assert "passed over what is not RDF: 1, the first is README.md" in caplog.text
    put(tmp_path / "x,y.nt", LINE)
    assert named_triples(read(tmp_path / "x,y.nt")) == expected[:1]


def test_blank_nodes_of_two_files_are_not_the_same(tmp_path):
    for name in ("a.nt", "b.nt"):
        put(tmp_path / name, f"_:x <{E}r> <{E}a> .\n")
    assert short(read(tmp_path).entities) == ["_:1.x", "a", "_:2.x"]
    assert short(read(tmp_path / "a.nt").entities) == ["_:x", "a"]


def test_places_that_hold_nothing_are_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    assert "holds neither RDF files nor tables" in refusal(tmp_path / "empty")
    assert "fits no file" in refusal(str(tmp_path / "*.nt"))
    assert "no such file" in refusal(f"{tmp_path}/a.nt,{tmp_path}/b.nt")
    put(tmp_path / "a.txt", "Prefix notation is no RDF: <a> .\n")
    assert "is not known" in refusal(tmp_path / "a.txt")
    put(tmp_path / "b.txt", "_:a <x:r> _:b .\n")
    assert len(read(tmp_path / "b.txt", format="nt").triples) == 1


# What is read as what


def test_relations_attributes_and_names(tmp_path):
    graph = turtle(
        tmp_path,
        ':a :r :b ; rdfs:label "A" ; :height 12.5 ; :born "1900"^^:year . :b rdfs:label "B"@en .',
    )
    assert named_triples(graph) == [(E + "a", E + "r", E + "b")]
    assert graph.attributes.rows() == [
        (E + "a", RDFS + "label", "A", "", "", ""),
        (E + "a", E + "height", "12.5", "", XSD + "decimal", ""),
        (E + "a", E + "born", "1900", "", E + "year", ""),
        (E + "b", RDFS + "label", "B", "en", "", ""),
    ]
    assert names_of(graph) == {E + "a": "A", E + "b": "B"}
    assert graph.names_given == 2
    assert graph.linkable is None


@pytest.mark.parametrize(
    "iri",
    [
        RDFS + "label",
        SKOS + "prefLabel",
        "http://schema.org/name",
        "https://schema.org/name",
        "http://xmlns.com/foaf/0.1/name",
        "http://purl.org/dc/elements/1.1/title",
        "http://purl.org/dc/terms/title",
    ],
)
def test_the_usual_label_properties_hold_names(tmp_path, iri):
    graph = turtle(tmp_path, f':a :r :b . :a <{iri}> "Name" .')
    assert names_of(graph)[E + "a"] == "Name"
    assert names_of(matched(graph))[E + "a"] == "Name"
    assert matched(graph).name_paths == (iri,)


def test_labels_that_are_resources(tmp_path):
    graph = turtle(
        tmp_path,
        ':a :r :b ; skosxl:prefLabel :l ; skosxl:altLabel [ skosxl:literalForm "Other"@en ] .'
        ':l a skosxl:Label ; skosxl:literalForm "Name"@en ; :made "today" .',
    )
    graph = matched(graph)
    assert names_of(graph) == {E + "a": "Name", E + "b": ""}
    assert graph.alternatives.rows() == [(E + "a", "Other")]
    assert len(graph.triples) == 1
    assert set(graph.attributes["value"]) == {"Name", "Other", "today"}
    assert graph.reading_counts["holder_nodes_not_linked"] == 2


LABELLED = """:a :r :b ; :code "x7" ; rdfs:label "Aachen"@de, "Aix"@fr, "Aken"@nl-BE, "Aix2" ;
skos:altLabel "Bad Aachen"@de, "Acc" . :b skos:prefLabel "Bee"@en, "Biene"@de ; rdfs:label "be" ."""


@pytest.mark.parametrize(
    ("language", "names", "second"),
    [
        ((), ["Aix2", "be"], "Aachen"),
        (("de",), ["Aachen", "Biene"], "Aix2"),
        (("nl", "en"), ["Aken", "Bee"], "Aix2"),
        (("sv", "fr"), ["Aix", "be"], "Aix2"),
    ],
)
def test_names_are_in_the_language_preferred(tmp_path, language, names, second):
    graph = matched(turtle(tmp_path, LABELLED, language=language))
    assert graph.names.to_list() == names
    # The others are names too, whatever their language; the better come first.
    every = {"Aachen", "Aix", "Aken", "Aix2", "Bad Aachen", "Acc", "Bee", "Biene", "be"}
    assert set(graph.alternatives["name"]) == every - set(names)
    assert graph.alternatives.filter(pl.col("entity") == E + "a")["name"][0] == second


def test_a_label_in_another_language_is_better_than_none(tmp_path):
    graph = matched(turtle(tmp_path, ':a :r :b ; rdfs:label "Aix"@fr .', language=("de",)))
    assert names_of(graph)[E + "a"] == "Aix"


def test_own_label_properties_come_first(tmp_path):
    graph = matched(turtle(tmp_path, LABELLED, label=(E + "code",)))
    assert names_of(graph)[E + "a"] == "x7"
    assert "Aix2" in graph.alternatives["name"].to_list()


@given(order=st.permutations(range(6)))
@settings(max_examples=10, deadline=None)
def test_the_order_of_statements_does_not_change_names(tmp_path_factory, order):
    rows = [f'<{E}a> <{RDFS}label> "{text}" .\n' for text in ("b", "a", "c")]
    rows += [
        f"{LINE}<{E}b> <{E}r> <{E}a> .\n",
        f'<{E}a> <{SKOS}prefLabel> "0" .\n',
        f'<{E}b> <{SKOS}altLabel> "d"@en .\n',
    ]
    text = "".join(rows[place] for place in order)
    graph = matched(read(put(tmp_path_factory.mktemp("order") / "g.nt", text)))
    assert names_of(graph) == {E + "a": "a", E + "b": "d"}
    assert graph.alternatives["name"].to_list() == ["b", "c", "0"]


def test_blank_nodes_are_left_out_unless_asked_for(tmp_path):
    text = ":a :r [ :r :c ] . _:mine :r :c ."
    every = {"a", "_:anonymous-1", "c", "_:mine"}
    graph = turtle(tmp_path, text)
    assert set(short(graph.entities)) == every
    graph = matched(graph)
    assert set(short(graph.entities)) == {"a", "c"}
    assert graph.reading_counts["holder_nodes_not_linked"] == 2
    asked = matched(turtle(tmp_path, text, blank_nodes=True))
    assert linkable(asked) == every
    assert len(asked.triples) == 3


def test_blank_nodes_are_not_proposed_as_links(tmp_path):
    text = PREFIXES + "".join(f":{c} :r [ rdfs:label 'inner {c}' ; :s :b ] ." for c in "acde")
    one, other = put(tmp_path / "l.ttl", text), put(tmp_path / "r.ttl", text)
    for blank in (False, True):
        pair = sameas.read_pair(one, other, reading=Reading(blank_nodes=blank))
        alignment = sameas.align(pair, sameas.PRESETS["paper"])
        linked = alignment.links["left"].str.starts_with("_:").sum()
        assert linked == (4 if blank else 0)
        assert alignment.diagnostics.left_candidates == (9 if blank else 5)


def test_classes_are_linked_and_terms_of_vocabularies_are_not(tmp_path):
    text = (
        ":a a :City ; :r :b . :b a :Town, owl:Thing, owl:NamedIndividual . :Town rdfs:label 'T' ."
    )
    graph = matched(turtle(tmp_path, text))
    assert linkable(graph) == {"a", "b", "City", "Town"}
    kinds = dict(zip(short(graph.entities), graph.kinds.tolist(), strict=True))
    assert kinds == {
        **dict.fromkeys("ab", Kind.INDIVIDUAL),
        **dict.fromkeys(("City", "Town"), Kind.CLASS),
    }
    assert (E + "a", RDF + "type", E + "City") in named_triples(graph)
    assert graph.reading_counts["vocabulary_nodes_not_linked"] == 2
    assert len(graph.triples) == 3


AXIOMS = """:a a :City ; :r :b ; :p "1" ; rdfs:label "A" . :b a :Town ; :s :c .
:City a owl:Class ; rdfs:subClassOf :Town . :c :r :a . :a :source :d ."""


@pytest.mark.parametrize(
    ("options", "relations", "linked"),
    [
        ({"exclude": E + "source"}, {"type", "r", "s", "subClassOf"}, "a b c City Town"),
        ({"exclude": RDFS + "*"}, {"type", "r", "s", "source"}, "a b c d City Town"),
        ({"exclude": OWL + "Class"}, {"type", "r", "s", "source"}, "a b c d Town"),
        ({"exclude": (OWL + "*", E + "s", E + "source")}, {"type", "r"}, "a b c Town"),
        ({"include": (E + "r", E + "s")}, {"r", "s"}, "a b c"),
        ({"include": E + "Town"}, {"type", "r", "s", "source", "subClassOf"}, "b"),
        ({"include": (E + "r", E + "City")}, {"r"}, "a"),
    ],
)
def test_predicates_and_classes_are_chosen(tmp_path, options, relations, linked):
    graph = matched(turtle(tmp_path, AXIOMS, **options))
    found = graph.relations.str.extract(r"([^/#]+)$").to_list()
    assert set(found) == relations
    assert linkable(graph) == set(linked.split())
    told = graph.reading_counts
    assert told.get("excluded", 0) or told.get("other_classes_not_linked", 0)


def test_a_pattern_that_fits_nothing_is_told(tmp_path, caplog):
    turtle(tmp_path, AXIOMS, exclude=E + "sourse", include=(E + "q*", E + "r"))
    assert f"`exclude` {E}sourse fits no predicate or class" in caplog.text
    assert f"`include` {E}q* fits no predicate or class" in caplog.text


def test_statements_about_statements_are_counted(tmp_path, caplog):
    graph = turtle(tmp_path, ":a :r :b {| :source :c |} .")
    assert graph.reading_counts["quoted"] == 1
    assert "statements about statements were left out: 1" in caplog.text
    graph = read(put(tmp_path / "g.nt", LINE + f"<{E}a> <{E}r> <<( <{E}a> <{E}r> <{E}b> )>> .\n"))
    assert graph.reading_counts["quoted"] == 1


@pytest.mark.parametrize(
    ("name", "text", "based"),
    [
        ("g h.ttl", "<a> <r> <b> . <#c> <r> <b> .", "@base <{}> . "),
        (
            "g h.rdf",
            '<rdf:Description rdf:about="#c"><e:r rdf:resource="b"/></rdf:Description>',
            "",
        ),
        ("g h.jsonld", '{"@id": "#c", "http://e/r": {"@id": "b"}}', ""),
    ],
)
def test_relative_iris_are_resolved(tmp_path, name, text, based):
    """Against the base in the file, else the one given, else the name of the file."""
    if name.endswith("rdf"):
        text = f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:e="{E}">{text}</rdf:RDF>'
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        graph = read(put(tmp_path / folder / name, text))
        assert {f"file:///{name.replace(' ', '%20')}#c", "file:///b"} <= set(graph.entities)
    assert {E + "#c", E + "b"} <= set(read(tmp_path / "one" / name, base=E).entities)
    if based:
        path = put(tmp_path / name, based.format(E) + text)
        assert {E + "a", E + "b"} <= set(read(path, base="http://other/").entities)


def test_relative_iris_on_standard_input():
    run = CliRunner().invoke(
        main, ["inspect", "-", "--json", "--format", "ttl"], input="<a> <r> <b> ."
    )
    assert run.exit_code == 0, run.output
    assert json.loads(run.stdout)["graphs"]["-"]["entities"] == 2


# The same links as from a folder


def as_rdf(graph, path):
    """A graph as N-Triples: labels in the order of its entities, triples, attributes."""
    label = ox.NamedNode(RDFS + "label")
    rows = [
        ox.Triple(ox.NamedNode(entity), label, ox.Literal(name))
        for entity, name in names_of(graph).items()
    ]
    rows += [ox.Triple(*map(ox.NamedNode, triple)) for triple in named_triples(graph)]
    rows += [
        ox.Triple(ox.NamedNode(entity), ox.NamedNode(attribute), ox.Literal(value))
        for entity, attribute, value in graph.attributes.iter_rows()
        if attribute != RDFS + "label"
    ]
    return put(path, ox.serialize(rows, format=ox.RdfFormat.N_TRIPLES))


def assert_same_links(folder, tmp_path):
    pair = sameas.read_pair(folder)
    files = [
        as_rdf(getattr(pair, side).source, tmp_path / f"{side}.nt.zst")
        for side in ("left", "right")
    ]
    from_rdf = sameas.read_pair(*files)
    for side in ("left", "right"):
        assert getattr(from_rdf, side).entities.equals(getattr(pair, side).entities)
        assert names_of(getattr(from_rdf, side)) == names_of(getattr(pair, side))
    links, others = (sameas.align(each, no_audit=True).links for each in (from_rdf, pair))
    assert links.equals(others)


def test_the_demo_as_rdf_gives_the_same_links_as_its_folder(tmp_path):
    assert_same_links(sameas.DEMO, tmp_path)


@pytest.mark.slow
def test_zh_en_as_rdf_gives_the_same_links_as_its_folder(tmp_path):
    data = os.environ.get("SAMEAS_DATA")
    if not data:
        pytest.skip("SAMEAS_DATA names no folder of datasets")
    assert_same_links(Path(data) / "dbp15k" / "zh_en", tmp_path)


def test_what_is_read_goes_through_a_run_folder(tmp_path):
    files = [put(tmp_path / f"{side}.ttl", PREFIXES + LABELLED + AXIOMS) for side in "lr"]
    pair = sameas.read_pair(*files)
    sameas.write(sameas.align(pair), tmp_path / "run")
    again, read = sameas.read_run(tmp_path / "run").pair, pair.left.in_order()
    assert again.left.alternatives.equals(read.alternatives)
    assert (again.left.linkable is None) == (read.linkable is None)
    assert again.left.kinds.tolist() == read.kinds.tolist()
    assert again.left.name_paths == pair.left.name_paths


# Malformed input


BAD = f'{LINE}<{E}a> <{E}r> "open .\n{LINE}<{E}a> <{E}r> <{E}b c> .\n<{E}a> "r" <{E}b> .\n{LINE}'


def test_the_first_malformed_line_is_named_with_its_column(tmp_path):
    for kind in ("nt", "nq"):
        path = put(tmp_path / f"g.{kind}", BAD)
        assert refusal(path).startswith(f"{path}:2:47: ")
        assert refusal(path).endswith("; mend it, or skip what is malformed with `lenient`")
    path = put(tmp_path / "g.nt", BAD.replace('"open', '"shut"'))
    assert refusal(path).startswith(f"{path}:5:")


def test_a_malformed_line_deep_in_the_file_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(quads_module, "BLOCK_BYTES", 5_000)
    path = put(tmp_path / "g.nt", LINE * 3_000 + "<a> <b> <c> .\n" + LINE * 3_000)
    message = refusal(path, strict=True)
    assert message.startswith(f'{path}:3001: malformed IRI "a"; mend it, or ')
    graph = read(path)
    assert graph.reading_counts == {"statements": 6_000, "malformed": 1, "bad_iris": 1}


@pytest.mark.parametrize("kind", ["nt", "nq"])
def test_malformed_lines_are_skipped_and_counted_when_asked(tmp_path, kind, caplog):
    path = put(
        tmp_path / f"g.{kind}", BAD.encode() + b"<http://x/\xff> <x:r> <x:b> .\n" + LINE.encode()
    )
    graph = read(path, lenient=True)
    assert len(graph.triples) == 4
    assert graph.reading_counts["malformed"] == 4
    assert "malformed statements were left out: 4 (syntax errors 3, bad iris 1); " in caplog.text
    assert "the first has a syntax error (" in caplog.text


def test_the_count_is_shown_in_every_output(tmp_path):
    path = put(tmp_path / "g.nt", BAD)
    out = ["-o", str(tmp_path / "l.tsv")]
    run = CliRunner().invoke(main, ["align", str(path), str(path), "--lenient", *out])
    assert run.exit_code == 0
    assert "6 statements, 3 malformed" not in run.stdout
    assert "3 statements, 3 malformed" in run.stdout
    run = CliRunner().invoke(main, ["align", str(path), str(path), "--lenient", *out, "--json"])
    assert json.loads(run.stdout)["reading"]["left"]["malformed"] == 3
    run = CliRunner().invoke(main, ["inspect", str(path), "--lenient", "--json"])
    assert json.loads(run.stdout)["graphs"][str(path)]["reading"]["malformed"] == 3
    assert "3 malformed statements were left out" in run.stdout
    run = CliRunner().invoke(main, ["inspect", str(put(tmp_path / "h.nt", LINE))])
    assert "read: malformed" in run.stdout


def test_turtle_goes_on_behind_an_error_when_asked(tmp_path):
    text = ":a :r :b .\n:a ; :b .\n:b :r :c .\n"
    path = put(tmp_path / "g.ttl", PREFIXES + text)
    assert refusal(path).startswith(f"{path}:8:")
    graph = read(path, lenient=True)
    assert graph.reading_counts["malformed"] >= 1
    assert (E + "b", E + "r", E + "c") in named_triples(graph)


XSD = "http://www.w3.org/2001/XMLSchema#"
TERMS = {
    "nt": (
        f'{LINE}<{E}a> <{E}r> <{E}b c> .\n<{E}a> <{E}p> "x"@toolonglanguage .\n'
        f'<{E}a> <{E}p> "Mon Jun 20"^^<{XSD}date> .\n<{E}a> <{E}p> "y"^^<{E}\\u003E\\u000A> .\n'
    ),
    "rdf": (
        f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:e="{E}">\n<rdf:Description rdf:about="{E}a">'
        f'<e:r rdf:resource="{E}b"/>\n<e:r rdf:resource="{E}b c"/>\n'
        f'<e:p xml:lang="en_US">x</e:p>\n<e:p rdf:datatype="{XSD}date">Mon Jun 20</e:p>\n'
        f'<e:p rdf:datatype="{E}b c">y</e:p></rdf:Description></rdf:RDF>'
    ),
    "jsonld": json.dumps(
        {
            "@id": E + "a",
            E + "r": [{"@id": E + "b"}, {"@id": E + "b c"}],
            E + "p": [
                {"@value": "x", "@language": "en_US"},
                {"@value": "Mon Jun 20", "@type": XSD + "date"},
                {"@value": "y", "@type": E + "b c"},
            ],
        }
    ),
}
TERMS |= {"nq": TERMS["nt"], "ttl": TERMS["nt"], "trig": TERMS["nt"]}


@pytest.mark.parametrize("at_once", [1, 2, 3, 100])
def test_turtle_is_read_the_same_in_batches_of_any_size(tmp_path, monkeypatch, at_once):
    monkeypatch.setattr("sameas.formats.rdf.AT_ONCE", at_once)
    lines = [f'<{E}a> <{E}r> <{E}b{number}>, "{number}\\n" .' for number in range(5)]
    lines.insert(2, f"<{E}a> <{E}r> <{E}b c> .")
    lines.insert(4, f"<{E}a> <{E}r> nothing .")
    path = put(tmp_path / "g.ttl", "\n".join(lines))
    with pytest.raises(InputError, match=r"g\.ttl:5:47: nothing"):
        read(path)
    with pytest.raises(InputError, match=r"malformed IRI"):  # which comes first
        read(path, strict=True)
    graph = read(path, lenient=True)
    counts = {"statements": 10, "malformed": 2, "bad_iris": 1, "syntax_errors": 1}
    assert graph.reading_counts == counts
    assert named_triples(graph) == [(E + "a", E + "r", f"{E}b{number}") for number in range(5)]
    assert graph.attributes["value"].to_list() == [f"{number}\n" for number in range(5)]


@pytest.mark.parametrize("kind", TERMS)
def test_statements_with_a_malformed_term_are_left_out(tmp_path, kind, caplog):
    path = put(tmp_path / f"g.{kind}", TERMS[kind])
    graph = read(path)
    assert named_triples(graph) == [(E + "a", E + "r", E + "b")]
    assert graph.attributes.rows() == [(E + "a", E + "p", "Mon Jun 20", "", XSD + "date", "")]
    counts = {"statements": 2, "malformed": 3, "bad_iris": 2, "bad_language_tags": 1}
    assert graph.reading_counts == counts
    told = "malformed statements were left out: 3 (bad iris 2, bad language tags 1); the first has"
    assert f'{path}: {told} the IRI "{E}b c"' in caplog.text
    assert read(path, lenient=True).reading_counts == counts
    line = {"nt": ":2", "nq": ":2", "rdf": ":3"}.get(kind, "")
    message = refusal(path, strict=True)
    assert message.startswith(f'{path}{line}: malformed IRI "{E}b c"; mend it, or leave out')


odd = st.text(st.sampled_from("aA1:/#%.-_?@[]é京> <^{\n") | st.just('"'), max_size=8)
odd_iris = st.builds(lambda start, text: start + text, st.sampled_from(["", "x:", E]), odd)


@settings(max_examples=300, deadline=None)
@given(odd_iris, odd_iris, odd_iris | st.tuples(odd, odd_iris), st.none() | odd_iris)
def test_statements_are_validated_as_text_as_they_are_term_by_term(head, relation, value, graph):
    def iri(text):
        return "<" + "".join(f"\\u{ord(letter):04X}" for letter in text) + ">"

    last = iri(value) if isinstance(value, str) else f"{json.dumps(value[0])}^^{iri(value[1])}"
    line = f"{iri(head)} {iri(relation)} {last} {'' if graph is None else iri(graph)} ."
    for quad in ox.parse(input=line, format=ox.RdfFormat.N_QUADS, lenient=True):
        if quads_module.well_formed().fullmatch(str(quad)):
            assert quads_module._bad_term(quad) is None


def test_terms_of_statements_about_statements_are_validated(tmp_path):
    text = LINE + f"<{E}a> <{E}r> <<( <{E}a> <{E}r> <{E}b\\u000A> )>> .\n"
    for kind in ("nt", "ttl"):
        assert read(put(tmp_path / f"g.{kind}", text)).reading_counts["bad_iris"] == 1


def test_an_empty_language_is_none(tmp_path):
    text = XML.replace("<e:r ", '<e:p xml:lang="">x</e:p><e:r ')
    assert read(put(tmp_path / "g.rdf", text)).attributes["value"].to_list() == ["x"]


def test_strict_and_lenient_exclude_each_other(tmp_path):
    run = CliRunner().invoke(main, ["inspect", str(tmp_path), "--strict", "--lenient"])
    assert run.exit_code == 2
    assert "--strict must be False where --lenient is True" in run.stderr


XML = f"""<?xml version="1.0" encoding="UTF-8"?>
<rdf:RDF xmlns:rdf="{RDF}" xmlns:e="{E}">
<rdf:Description rdf:about="{E}a"><e:r rdf:resource="{E}b"/></rdf:Description>
</rdf:RDF>
"""


@pytest.mark.parametrize(
    ("old", "new", "place", "fragment"),
    [
        ("</rdf:RDF>", "", "5:1", "is the file whole?"),
        ("<e:r", "<x:r", "3:51", "unbound prefix"),
        ("</rdf:Description>", "</e:r>", "3:95", "mismatched tag"),
        ("<e:r", '<e:r rdf:ID="1"', "3", "rdf:ID value; mend it; if it were skipped, the rest"),
        ("UTF-8", "x-none", "1", 'is encoded in "x-none", which is not known; convert the file'),
        ("UTF-8", "base64", "1", 'is encoded in "base64", which is not known'),
    ],
)
def test_malformed_xml_is_refused_with_its_line(tmp_path, old, new, place, fragment):
    path = put(tmp_path / "g.rdf", XML.replace(old, new, 1))
    for lenient in (False, True):
        message = refusal(path, lenient=lenient)
        assert message.startswith(f"{path}:{place}: ")
        assert fragment in message
    assert len(read(put(tmp_path / "h.owl", XML)).triples) == 1


def test_json_is_never_read_past_an_error(tmp_path):
    path = put(tmp_path / "g.jsonld", '[{"@id": "x:a", "x:r": {"@id": "x:b"}}, {"@id": 1}, {]')
    assert "if it were skipped, the rest would be lost" in refusal(path, lenient=True)


@pytest.mark.parametrize(
    ("declared", "codec"),
    [
        ("windows-1252", "cp1252"),
        ("iso-8859-1", "latin1"),
        ("Shift_JIS", "shift_jis"),
        ("UTF-16", "utf-16"),
        ("UTF-16", "utf-16-le"),
        ("UTF-16", "utf-8"),
        ("us-ascii", "utf-8"),
    ],
)
def test_xml_is_read_in_its_encoding(tmp_path, declared, codec):
    text = "京" * 40_000 if codec in ("shift_jis", "utf-16") else "né" * 40_000
    text = text if codec != "shift_jis" else text + "ア"
    content = XML.replace("UTF-8", declared).replace("<e:r ", f"<e:p>{text}</e:p>\n<e:r ")
    graph = read(put(tmp_path / "g.rdf", content.encode(codec)))
    assert graph.attributes["value"].to_list() == [text]
    path = put(tmp_path / "h.rdf", content.replace("</rdf:RDF>", "</e:r>").encode(codec))
    assert refusal(path).startswith(f"{path}:5:")


def test_bytes_that_are_not_in_the_encoding_are_refused_with_their_line(tmp_path):
    path = put(tmp_path / "g.rdf", XML.replace(f"{E}b", f"{E}é").encode("latin1"))
    assert refusal(path).startswith(f"{path}:3: not UTF-8 text; convert the file to UTF-8, or ")
    odd = XML.replace("UTF-8", "windows-1252").encode().replace(b"/b", b"/\x81")
    assert refusal(put(path, odd)).startswith(f"{path}:3: not CP1252 text; ")


def bomb(levels):
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">\n' for n in range(1, levels))
    doctype = f'<!DOCTYPE rdf:RDF [<!ENTITY e0 "0123456789">\n{entities}]>\n<rdf:RDF'
    text = XML.replace("<rdf:RDF", doctype, 1)
    return text.replace(f'<e:r rdf:resource="{E}b"/>', f"<e:r>&e{levels - 1};</e:r>")


def test_an_entity_bomb_is_refused_at_once(tmp_path):
    message = refusal(put(tmp_path / "g.rdf", bomb(30)))  # which would take years to unfold
    assert 'the entity "e3" stands for' in message
    outside = XML.replace("<rdf:RDF", '<!DOCTYPE r [<!ENTITY f SYSTEM "file:///x">]><rdf:RDF', 1)
    assert "is another file" in refusal(put(tmp_path / "h.rdf", outside))


def test_entities_that_shorten_iris_are_read(tmp_path):
    text = XML.replace("<rdf:RDF", f'<!DOCTYPE rdf:RDF [<!ENTITY e "{E}">]>\n<rdf:RDF', 1)
    graph = read(put(tmp_path / "g.rdf", text.replace(f'"{E}b"', '"&e;b"')))
    assert named_triples(graph) == [(E + "a", E + "r", E + "b")]


def test_an_archive_that_expands_without_end_is_refused(tmp_path):
    for suffix, pack in ((".gz", gzip.compress), (".bz2", bz2.compress)):
        path = tmp_path / f"g.ttl{suffix}"
        path.write_bytes(pack(LINE.encode() * 5_000))
        assert "holds more than 100,000 bytes" in refusal(path, max_bytes=10**5)
        assert "`max_bytes`" in refusal(path, max_bytes=10**5)
        assert len(read(path, max_bytes=10**8).triples) == 5_000
    path = tmp_path / "g.nt.zst"
    path.write_bytes(zstandard.compress(b" " * 50_000_000))
    assert "longer than 16 MiB" in refusal(path)
    words = ["inspect", str(path), "--max-bytes", "1M"]
    run = CliRunner().invoke(main, words)
    assert run.exit_code == 2
    assert "holds more than 1,048,576 bytes" in run.stderr


@pytest.mark.parametrize("kind", ["nt", "ttl"])
def test_long_literals_are_read(tmp_path, kind):
    text = f'{LINE}<{E}a> <{E}p> "{"x" * 2**20}" .\n'
    graph = read(put(tmp_path / f"g.{kind}", text))
    assert len(graph.attributes["value"][0]) == 2**20


# The parser of Turtle takes ten seconds to reach its limit.
@pytest.mark.parametrize("kind", ["nt", pytest.param("ttl", marks=pytest.mark.slow)])
def test_endless_literals_are_refused(tmp_path, kind):
    text = f'{LINE}<{E}a> <{E}p> "{"x" * (2**24 + 1)}" .\n'
    assert "longer than 16 MiB" in refusal(put(tmp_path / f"h.{kind}", text))


@pytest.mark.parametrize("kind", ["nt", "ttl"])
def test_text_that_is_not_utf8_is_refused_with_its_line(tmp_path, kind):
    path = put(tmp_path / f"g.{kind}", LINE.encode() + f'<{E}a> <{E}p> "é" .\n'.encode("latin1"))
    assert refusal(path).startswith(f"{path}:2:")
    assert "UTF-8" in refusal(path)


TURTLE = f"# which\n@prefix : <{E}> .\n:a :r :b ."


@pytest.mark.parametrize(
    ("names", "text", "kind"),
    [
        ("g.nt g.rdf g.owl g.xml g.jsonld g.txt g", TURTLE, "Turtle"),
        ("g.rdf", f"<{E}a> <{E}r> <{E}b> ;\n a <{OWL}Thing> .", "Turtle"),
        ("g.ttl g.nt g.trig g.jsonld g.rdfs g", XML, "RDF/XML"),
        ("g.ttl g", XML.encode("utf-16"), "RDF/XML"),
        ("g.ttl g.json g", f'{{"@id": "{E}a", "{E}r": {{"@id": "{E}b"}}}}', "JSON-LD"),
        ("g.jsonld g.rdf g.txt g.gz", LINE, "N-Quads"),
        ("g.owl", f'<{E}a> <{E}p> "x"@en <{E}g> . # why\n' + LINE, "N-Quads"),
    ],
)
def test_a_file_is_read_as_what_it_holds(tmp_path, names, text, kind, caplog):
    for name in names.split():
        caplog.clear()
        graph = read(put(tmp_path / name, text))
        found = [triple for triple in named_triples(graph) if triple[1] != RDF + "type"]
        assert found == [(E + "a", E + "r", E + "b")]
        claimed = name.split(".")[-1] in FORMATS or name.endswith((".owl", ".xml"))
        assert (f"g.{name[2:]}: is read as {kind}, which it holds" in caplog.text) == claimed


@pytest.mark.parametrize("name", ["g.ttl", "g.trig", "g.nt", "g.nq"])
def test_formats_that_include_each_other_are_not_mistaken(tmp_path, name, caplog):
    read(put(tmp_path / name, LINE))
    assert not caplog.text


@pytest.mark.parametrize(
    ("name", "content", "hint"),
    [
        ("g.nt.gz", LINE.encode(), "is not compressed with gzip; leave .gz off its name"),
        (
            "g.nt.bz2",
            gzip.compress(LINE.encode(), mtime=0),
            "is compressed with gzip; let its name",
        ),
        ("g.nt.gz", bz2.compress(LINE.encode()), "is compressed with bzip2; let its name end in"),
    ],
)
def test_a_file_compressed_otherwise_than_its_suffix_says(tmp_path, name, content, hint):
    path = tmp_path / name
    path.write_bytes(content)
    assert hint in refusal(path)


@pytest.mark.parametrize(
    "name", ["g.nt", "g.nq", "g.ttl", "g.trig", "g.rdf", "g.jsonld", "g.nt.gz"]
)
@pytest.mark.parametrize("text", ["", "\n", "  \n\n"])
def test_an_empty_file_holds_no_triples(tmp_path, name, text):
    path = put(tmp_path / name, text)
    message = refusal(path)
    assert "holds no triples" in message or "not well-formed XML (no element found)" in message


def test_entities_with_attributes_alone_are_linked(tmp_path):
    names = ("Berlin", "Madrid", "Lissabon", "Warschau", "Helsinki", "Bukarest", "Oslo", "Athen")
    for side in ("left", "right"):
        lines = [f'<{E}{side}/{n:08x}> <{RDFS}label> "{name}" .\n' for n, name in enumerate(names)]
        put(tmp_path / f"{side}.nt", "".join(lines))
    pair = sameas.read_pair(tmp_path / "left.nt", tmp_path / "right.nt")
    assert len(pair.left.triples) == 0
    links = sameas.align(pair, no_audit=True).links
    assert links["left"].str.replace("left", "right").to_list() == links["right"].to_list()
    assert len(links) == len(names)


@pytest.mark.parametrize(
    "context",
    [
        '"https://schema.org"',
        '"http://schema.org/"',
        '"https://schema.org/docs/jsonldcontext.jsonld"',
        '[{"z": {"@id": "x:z"}}, "https://schema.org/", {"y": "x:y"}]',
    ],
)
def test_the_context_of_schema_org_is_known(tmp_path, context):
    text = (
        '{"@context": %s, "id": "x:a", "type": "Person", "name": "\\"@context\\": Ada", '
        '"birthDate": "1815-12-10", "sameAs": "x:b", "schema:knows": {"@id": "x:c"}}'
    )
    graph = read(put(tmp_path / "g.jsonld", text % context))
    assert graph.entities.to_list() == ["x:a", "http://schema.org/Person", "x:b", "x:c"]
    values = graph.attributes.sort("attribute")
    properties = values["attribute"].str.strip_prefix("http://schema.org/")
    assert properties.to_list() == ["birthDate", "name"]
    assert values["value"].to_list() == ["1815-12-10", '"@context": Ada']
    assert values["datatype"].to_list() == ["http://schema.org/Date", ""]


def test_each_object_of_a_list_may_refer_to_the_context_of_schema_org(tmp_path):
    one = '{"@context": "https://schema.org", "@id": "x:%d", "url": "http://example.org/%d"}'
    text = ",\n".join(one % (n, n) for n in range(3))
    assert len(read(put(tmp_path / "g.jsonld", f"[{text}]")).triples) == 3


def test_a_remote_context_is_not_fetched(tmp_path):
    text = '{"@context": "https://example.org/", "@id": "x:a", "name": "n"}'
    assert "context is to be fetched from elsewhere" in refusal(put(tmp_path / "g.jsonld", text))


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, monkeypatch):
    path = put(tmp_path / "g.nt", LINE * 10)
    known = quads_module._blocks

    def meanwhile(stream):
        for block in known(stream):
            with path.open("a") as file:  # as often as it is read: the end is never reached
                file.write(LINE)
            yield block

    monkeypatch.setattr(quads_module, "_blocks", meanwhile)
    assert "changed while it was read" in refusal(path)
    monkeypatch.setattr(quads_module, "_blocks", known)
    os.utime(path)
    assert len(read(path).triples) > 10


@pytest.mark.parametrize(
    "iri", ["http://example.org/ü", "urn:x:a'b", "x:%20!$&()*+,;=~", "a:b#c#d", "x:%2"]
)
def test_odd_iris_are_read_as_they_are_or_left_out(tmp_path, iri):
    path = put(tmp_path / "g.nt", f"<{iri}> <{E}r> <{E}b> .\n")
    try:
        ox.NamedNode(iri)
    except ValueError:
        assert "g.nt:1: malformed IRI" in refusal(path, strict=True)
        assert "holds no triples" in refusal(path)
    else:
        assert read(path).entities[0] == iri


@pytest.mark.parametrize(
    "wrong",
    [
        {"language": "en us"},
        {"exclude": "rdfs: label"},
        {"format": "n3"},
        {"max_bytes": 0},
        {"base": "here"},
        {"query": ("a", "b", "c")},
    ],
)
def test_options_that_cannot_be_used_are_refused(wrong):
    with pytest.raises(OptionError, match=f"`{next(iter(wrong))}` must be"):
        Reading(**wrong)


def test_a_graph_refuses_positions_that_are_none():
    graph = sameas.read_pair(sameas.DEMO).left
    from dataclasses import replace

    import numpy as np

    for wrong in ([1, 1], [2, 1], [-1], [len(graph.entities)]):
        with pytest.raises(ValueError, match="linkable must hold ascending positions"):
            replace(graph, linkable=np.array(wrong))
    assert isinstance(graph.alternatives, pl.DataFrame)


@pytest.mark.parametrize("suffix", ["rdf", "align.rdf"])
@pytest.mark.parametrize(
    ("many", "message"),
    [
        (" ".join(f'e:a{n}="x"' for n in range(100_000)), "1,024 attributes"),
        (" ".join(f'xmlns:a{n}="http://a.org/{n}"' for n in range(100_000)), "4,096 namespaces"),
    ],
)
def test_many_attributes_or_namespaces_of_one_element_are_refused(tmp_path, suffix, many, message):
    head = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
    body = f'<rdf:Description rdf:about="http://e.org/a" {many}/></rdf:RDF>'
    path = tmp_path / f"g.{suffix}"
    path.write_text(f'{head} xmlns:e="http://e.org/">{body}')
    read = sameas.read_links if "align" in suffix else sameas.read_graph
    with pytest.raises(InputError, match=message):
        read(path)


def test_namespaces_of_nested_elements_add_up(tmp_path):
    path = tmp_path / "g.rdf"
    nested = "".join(
        "<e:p><e:q " + " ".join(f'xmlns:a{n}="http://a.org/{n}"' for n in range(1000)) + ">"
        for _ in range(5)
    )
    head = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
    path.write_text(f'{head} xmlns:e="http://e.org/"><e:q>{nested}')
    with pytest.raises(InputError, match="4,096 namespaces at once"):
        sameas.read_graph(path)


# --- lines that are recognized instead of parsed

SUBJECTS = ("<http://a.org/x>", "_:b1", "<http://a.org/%C3%A9>", "<urn:x>", "<http://a.org/ü>")
OBJECTS = (
    *("<http://a.org/y>", "_:b2", "<mailto:a@b.org>", "<http://a.org/?q=1#f>", '"plain"'),
    *('"a\tb"', '"\\t\\n\\"\\\\"', '"\\u00e9 \\U0001F600"', '"é \u2028 \u0085 \ufffe"', '"\x01"'),
    *('"a"@en', '"a"@EN-us', '"a"@de-1996', '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'),
    '"a"^^<http://www.w3.org/2001/XMLSchema#string>',
    '"a"^^<http://a.org/#string>',
    *("<http://a.org/\\u00e9>", "<<( <http://a.org/x> <http://a.org/p> <http://a.org/y> )>>"),
)
ENDS = (" .", " . ", ".", " . # why", " .\r", " <http://a.org/g> .", " _:g .")
OTHER_LINES = (
    "",
    "# a comment",
    "\ufeff",
    "no statement",
    '<a> <b> "',
    '<http://a.org/ x> <b> "c" .',
)


@given(
    st.lists(
        st.one_of(
            st.tuples(st.sampled_from(SUBJECTS), st.sampled_from(OBJECTS)).map(
                lambda terms: f"{terms[0]} <http://a.org/p> {terms[1]} ."
            ),
            st.builds(
                "{} <http://a.org/p> {}{}".format,
                *map(st.sampled_from, (SUBJECTS, OBJECTS, ENDS)),
            ),
            st.sampled_from(OTHER_LINES),
        ),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from(["nt", "nq"]),
)
def test_lines_that_are_recognized_are_read_as_if_they_were_parsed(lines, kind):
    block = "\n".join(lines).encode("utf-8")
    found = quads_module._recognized(block, kind)
    if found is None:  # parsed as a whole
        return
    expected = columns_of(lines_of(quads_module._canonical(block, kind)))
    assert found.equals(expected)


@pytest.mark.parametrize("object", OBJECTS)
def test_one_odd_line_does_not_keep_others_from_being_recognized(object):
    text = f"<http://a.org/x> <http://a.org/p> {object} .\n<urn:x> <urn:p> <urn:y> ."
    assert quads_module._recognized(text.encode(), "nt") is not None


@pytest.mark.parametrize("line", ["# a comment", "no statement", "<a> <b> <c> ."])
def test_a_block_with_lines_that_are_no_statements_is_parsed_in_order(line):
    assert quads_module._recognized(f"<urn:x> <urn:p> <urn:y> .\n{line}".encode(), "nt") is None
