"""Ontologies in: functional syntax, Manchester syntax, OWL/XML and OBO are read as RDF is."""

from __future__ import annotations

import gzip
import sys

import polars as pl
import pytest

import sameas
from folders import put
from sameas import InputError
from sameas.graph.kind import Kind

E = "http://example.org/"
OBO = "http://purl.obolibrary.org/obo/"
TURTLE = f"""
@prefix : <{E}> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<{E}o> a owl:Ontology .
:Organ a owl:Class ; rdfs:label "organ"@en .
:Body a owl:Class ; rdfs:label "body (whole)"@en .
:Heart a owl:Class ; rdfs:label "heart"@en ; rdfs:subClassOf :Organ ,
    [ a owl:Restriction ; owl:onProperty :partOf ; owl:someValuesFrom :Body ] .
:partOf a owl:ObjectProperty .
:h a owl:NamedIndividual, :Heart .
"""
FUNCTIONAL = f"""Prefix(:=<{E}>)
Ontology(<{E}o>
Declaration(Class(:Organ)) Declaration(Class(:Body)) Declaration(Class(:Heart))
Declaration(ObjectProperty(:partOf)) Declaration(NamedIndividual(:h))
AnnotationAssertion(rdfs:label :Organ "organ"@en)
AnnotationAssertion(rdfs:label :Body "body (whole)"@en)
AnnotationAssertion(rdfs:label :Heart "heart"@en)
SubClassOf(:Heart :Organ)
SubClassOf(:Heart ObjectSomeValuesFrom(:partOf :Body))
ClassAssertion(:Heart :h)
)
"""
MANCHESTER = f"""Prefix: : <{E}>
Ontology: <{E}o>
Class: :Organ
    Annotations: rdfs:label "organ"@en
Class: :Body
    Annotations: rdfs:label "body (whole)"@en
ObjectProperty: :partOf
Class: :Heart
    Annotations: rdfs:label "heart"@en
    SubClassOf: :Organ, :partOf some :Body
Individual: :h
    Types: :Heart
"""


def annotation(name, text):
    property_ = '<AnnotationProperty abbreviatedIRI="rdfs:label"/>'
    value = f'<IRI>{E}{name}</IRI><Literal xml:lang="en">{text}</Literal>'
    return f"<AnnotationAssertion>{property_}{value}</AnnotationAssertion>"


def declaration(kind, name):
    return f'<Declaration><{kind} abbreviatedIRI=":{name}"/></Declaration>'


OWL_XML = f"""<?xml version="1.0"?>
<Ontology xmlns="http://www.w3.org/2002/07/owl#" ontologyIRI="{E}o">
<Prefix name="" IRI="{E}"/>
{"".join(declaration("Class", name) for name in ("Organ", "Body", "Heart"))}
{declaration("ObjectProperty", "partOf")}{declaration("NamedIndividual", "h")}
{annotation("Organ", "organ")}{annotation("Body", "body (whole)")}{annotation("Heart", "heart")}
<SubClassOf><Class IRI="{E}Heart"/><Class IRI="{E}Organ"/></SubClassOf>
<SubClassOf><Class IRI="{E}Heart"/><ObjectSomeValuesFrom><ObjectProperty IRI="{E}partOf"/>
<Class IRI="{E}Body"/></ObjectSomeValuesFrom></SubClassOf>
<ClassAssertion><Class IRI="{E}Heart"/><NamedIndividual IRI="{E}h"/></ClassAssertion>
</Ontology>
"""
TERMS = """format-version: 1.2
ontology: tst

[Term]
id: TST:1
name: heart
synonym: "cardiac organ" EXACT []
synonym: "ticker" RELATED []
synonym: "left heart" NARROW []
synonym: "pump" BROAD []
xref: UBERON:0000948
is_a: TST:2 ! organ
relationship: part_of TST:3 ! body

[Term]
id: TST:2
name: organ

[Term]
id: TST:3
name: body

[Term]
id: TST:4
name: old
is_obsolete: true

[Typedef]
id: part_of
name: part of
"""
SYNTAXES = {"ofn": FUNCTIONAL, "omn": MANCHESTER, "owx": OWL_XML}


def matched(path):
    return sameas.read_pair(path, path).left


def described(graph):
    """The entities with kinds and names, and the triples between them."""
    head, relation, tail = graph.triples.T
    columns = zip(
        graph.entities.gather(head),
        graph.relations.gather(relation),
        graph.entities.gather(tail),
        strict=True,
    )
    return set(zip(graph.entities, graph.kinds, graph.names, strict=True)), set(columns)


@pytest.mark.parametrize("kind", SYNTAXES)
@pytest.mark.parametrize("name", ["g.{}", "g.owl", "g.{}.gz", "g"])
def test_every_syntax_of_owl_gives_the_graph_that_turtle_gives(tmp_path, kind, name):
    path = tmp_path / name.format(kind)
    content = SYNTAXES[kind].encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    entities, triples = described(matched(path))
    assert (entities, triples) == described(matched(put(tmp_path / "t.ttl", TURTLE)))
    assert (f"{E}Heart", f"{E}partOf", f"{E}Body") in triples


def test_terms_of_obo_have_names_synonyms_parents_and_relationships(tmp_path):
    graph = matched(put(tmp_path / "g.obo", TERMS))
    kinds = dict(zip(graph.entities, graph.kinds, strict=True))
    classes = {entity for entity, kind in kinds.items() if kind == Kind.CLASS}
    assert classes == {f"{OBO}TST_{n}" for n in (1, 2, 3)}  # and none that is obsolete
    names = dict(zip(graph.entities, graph.names, strict=True))
    assert names[f"{OBO}TST_1"] == "heart"
    further = graph.alternatives.filter(pl.col("entity") == f"{OBO}TST_1")["name"]
    assert set(further) == {"cardiac organ", "ticker", "left heart", "pump"}
    assert "UBERON:0000948" in graph.attributes["value"].to_list()
    ends = {(head, tail) for head, _, tail in described(graph)[1] if head.endswith("TST_1")}
    assert {(f"{OBO}TST_1", f"{OBO}TST_{n}") for n in (2, 3)} <= ends


def test_an_ontology_of_obo_is_aligned_with_one_of_owl(tmp_path):
    left = put(tmp_path / "g.obo", TERMS)
    links = sameas.align(str(left), str(put(tmp_path / "g.omn", MANCHESTER)), no_audit=True).links
    assert (f"{OBO}TST_1", f"{E}Heart") in links.select("left", "right").rows()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("g.ofn", FUNCTIONAL.replace("SubClassOf(:Heart :", "SubClass(:Heart :"), ":8:1: not OWL"),
        ("g.ofn", FUNCTIONAL.replace(f"Prefix(:=<{E}>)\n", ""), "(undefined prefix)"),
        ("g.omn", MANCHESTER.replace("SubClassOf:", "SubKlass:"), ":10:5: not OWL in Manchester"),
        ("g.owx", OWL_XML[:300], "not well-formed XML"),
        ("g.obo", TERMS.replace("is_a: TST", "is_a TST"), ":12:1: not OBO that can be read; mend"),
        ("g.ofn", f"Ontology({'(' * 300}", "is nested more than 256 levels deep"),
        ("g.obo", "", "holds no triples"),
        ("g.ofn", "\n", "holds no triples"),
    ],
)
def test_damaged_ontologies_are_refused_with_line_and_remedy(tmp_path, name, text, message):
    with pytest.raises(InputError) as caught:
        sameas.read_graph(put(tmp_path / name, text))
    assert message in str(caught.value)


def test_bytes_that_are_no_text_are_refused_with_their_line(tmp_path):
    path = tmp_path / "g.ofn"
    path.write_bytes(FUNCTIONAL.encode() + b"\xff")
    with pytest.raises(InputError, match=r":12: not UTF-8 text"):
        sameas.read_graph(path)


@pytest.mark.parametrize("name", ["g.ofn", "g.owl"])
def test_without_the_extra_the_command_that_installs_it_is_said(tmp_path, name, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyhornedowl", None)
    with pytest.raises(InputError) as caught:
        sameas.read_graph(put(tmp_path / name, FUNCTIONAL))
    said = "is OWL in functional syntax, which needs py-horned-owl: pip install 'sameas[ontology]'"
    assert said in str(caught.value)
