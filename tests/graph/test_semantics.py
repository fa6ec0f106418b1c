"""RDF as it is matched: kinds, names wherever they are, texts behind nodes, aliases, equal IRIs."""

from __future__ import annotations

import hashlib
import re

import numpy as np
import polars as pl
import pyoxigraph as ox
import pytest
from click.testing import CliRunner

import sameas
from sameas import Graph, GraphPair, Reading
from sameas.cli.main import main
from sameas.graph.iri import OWL, TYPE
from sameas.graph.kind import Kind
from sameas.graph.labels import are_identifiers, looks_like_words
from sameas.graph.semantics.paths import SEPARATOR
from sameas.graph.semantics.understanding import understand

E = "http://example.org/"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
PREFIXES = f"""@prefix : <{E}> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <{RDFS}> .
@prefix skos: <{SKOS}> .
@prefix skosxl: <http://www.w3.org/2008/05/skos-xl#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix obo: <http://www.geneontology.org/formats/oboInOwl#> .
"""


def graph_of(text, **reading):
    """The graph of Turtle, as it is read."""
    statements = ox.parse(input=(PREFIXES + text).encode(), format=ox.RdfFormat.TURTLE)
    return Graph.from_pyoxigraph(ox.Dataset(statements), reading=Reading(**reading))


def matched(text, other=None, **reading):
    """The graph of Turtle, as it is matched with another or itself."""
    right = text if other is None else other
    return understand(
        GraphPair(left=graph_of(text, **reading), right=graph_of(right, **reading))
    ).left


def short(iri):
    return iri.removeprefix(E)


def names_of(graph):
    return {short(entity): name for entity, name in zip(graph.entities, graph.names, strict=True)}


def others_of(graph, entity):
    return graph.alternatives.filter(pl.col("entity") == E + entity)["name"].to_list()


def kinds_of(graph):
    return {
        short(entity): Kind(kind)
        for entity, kind in zip(graph.entities, graph.kinds.tolist(), strict=True)
    }


def triples_of(graph):
    head, relation, tail = graph.triples.T
    columns = (
        graph.entities.gather(head),
        graph.relations.gather(relation),
        graph.entities.gather(tail),
    )
    return {tuple(short(end) for end in triple) for triple in zip(*columns, strict=True)}


# --- identifiers --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "iri",
    [
        f"{E}f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        f"{E}f81d4fae7dec11d0a76500a0c91e6bf6",
        f"{E}12345",
        f"{E}things/62#id",
        f"{E}2016-06-20",
        f"{E}x/",
        "_:b0",
    ],
)
def test_some_last_parts_are_identifiers_by_their_shape(iri):
    assert are_identifiers(pl.Series([iri])).to_list() == [True]


@pytest.mark.parametrize("stem", ["person", "Restaurant_", "node-", "ID", "x"])
def test_numbered_siblings_are_identifiers(stem):
    iris = pl.Series([f"{E}{stem}{number}" for number in range(11, 31)])
    assert are_identifiers(iris).all()


def test_codes_of_one_shape_are_identifiers():
    rng = np.random.default_rng(3)
    letters = list("abcdefghijkABCDEFGHIJK0123456789")
    iris = pl.Series([E + "".join(rng.choice(letters, 10)) for _ in range(30)])
    assert are_identifiers(iris).mean() > 0.9


@pytest.mark.parametrize(
    "names",
    [
        ["New_York", "Berlin", "Paris", "Rio_de_Janeiro", "Wien", "Rome"],
        ["hasAuthor", "isWrittenBy", "title", "conferencePaper", "hasName", "chairOf"],
        ["Apollo_11", "Apollo_13", "World_War_II", "1984_(novel)", "Route_66", "Boeing_747"],
        ["上海", "京都市", "القاهرة", "München", "Łódź", "İstanbul"],
    ],
)
def test_real_names_are_no_identifiers(names):
    assert not are_identifiers(pl.Series([E + name for name in names])).any()


def test_siblings_have_the_namespace_and_kind():
    numbered = [f"{E}n/item{number}" for number in range(10)]
    named = [f"{E}c/{name}" for name in ("Chair", "Table", "Lamp", "Window", "Door", "Floor")]
    assert are_identifiers(pl.Series([*numbered, *named])).to_list() == [True] * 10 + [False] * 6
    mixed = pl.Series([f"{E}{text.rpartition('/')[2]}" for text in [*numbered, *named]])
    kinds = np.repeat([0, 1], [10, 6]).astype(np.int8)
    assert are_identifiers(mixed, kinds).to_list() == [True] * 10 + [False] * 6


def test_words_are_told_from_codes():
    texts = ["New York", "O'Brien", "415/777-9779", "2016-06-20", "http://a.org/b", "A1-77B", "京"]
    expected = [True, True, False, False, False, False, True]
    assert looks_like_words(pl.Series(texts)).to_list() == expected


# --- kinds --------------------------------------------------------------------------------------


ONTOLOGY = """
<http://example.org/onto> a owl:Ontology ; rdfs:label "An ontology" .
:Person a owl:Class ; rdfs:label "Person" .
:Author a owl:Class ; rdfs:subClassOf :Person ,
    [ a owl:Restriction ; owl:onProperty :wrote ; owl:someValuesFrom :Book ] .
:Book a owl:Class ; owl:equivalentClass
    [ a owl:Class ; owl:unionOf ( :Novel [ owl:intersectionOf ( :Essay :Text ) ] ) ] .
:Novel a owl:Class . :Essay a owl:Class . :Text a owl:Class .
:Old a owl:Class ; owl:deprecated true ; rdfs:subClassOf :Book .
:Older a owl:DeprecatedClass ; rdfs:subClassOf :Book .
:wrote a owl:ObjectProperty ; rdfs:domain :Author ; rdfs:range :Book .
:born a owl:DatatypeProperty .
:influenced rdfs:subPropertyOf :knows .
:Goethe a :Author, owl:NamedIndividual ; :wrote :Werther ; :born "1749" .
:Werther a :Novel ; :mentions <http://elsewhere.org/Klopstock> .
"""


def test_an_ontology_has_classes_properties_and_individuals():
    kinds = kinds_of(matched(ONTOLOGY))
    expected = {
        Kind.CLASS: "Person Author Book Novel Essay Text Older",
        Kind.PROPERTY: "wrote born influenced knows",
        Kind.INDIVIDUAL: "Goethe Werther",
        Kind.MENTION: "http://elsewhere.org/Klopstock",
    }
    assert kinds == {name: kind for kind, names in expected.items() for name in names.split()}


def test_what_is_deprecated_or_vocabulary_or_anonymous_is_left_out():
    graph = matched(ONTOLOGY)
    assert not graph.entities.str.starts_with("_:").any()
    assert not graph.entities.str.contains("w3.org").any()
    assert f"{E}Old" not in graph.entities
    assert f"{E}onto" not in graph.entities
    assert graph.source.entities.str.starts_with("_:").any(), "the graph as read has all"
    linked = graph.entities.gather(graph.linkable)
    assert "http://elsewhere.org/Klopstock" not in linked
    assert len(linked) == len(graph.entities) - 1
    counts = graph.reading_counts
    assert counts["mention_nodes_not_linked"] == 1
    assert counts["vocabulary_nodes_not_linked"] > 3
    assert counts["holder_nodes_not_linked"] > 3


def test_restrictions_and_unions_become_plain_triples():
    triples = triples_of(matched(ONTOLOGY))
    assert ("Author", "wrote", "Book") in triples
    equivalent = "http://www.w3.org/2002/07/owl#equivalentClass"
    for part in ("Novel", "Essay", "Text"):
        assert ("Book", equivalent, part) in triples
    assert ("Author", f"{RDFS}subClassOf", "Person") in triples


def test_only_resources_of_one_kind_are_linked():
    text = ":Bank a owl:Class ; rdfs:label 'bank' . :One a :Bank ; :at :Two . :Two a :Bank ."
    other = ":bank a :Thing ; rdfs:label 'bank' ; :at :other . :other a :Thing ; :at :bank ."
    pair = GraphPair(left=graph_of(text), right=graph_of(other.replace(":", ":r_", 0)))
    alignment = sameas.align(pair, min_confidence=0.0)
    kinds = [kinds_of(graph) for graph in (alignment.pair.left, alignment.pair.right)]
    assert len(alignment.candidates)
    for left, right in alignment.candidates.select("left", "right").iter_rows():
        assert kinds[0][short(left)] == kinds[1][short(right)]


# --- names --------------------------------------------------------------------------------------


def test_labels_that_are_nodes_and_synonyms_are_names():
    graph = matched("""
        :lion skosxl:prefLabel :l1 ; skosxl:altLabel [ skosxl:literalForm "king of beasts"@en ] ;
            skos:broader :cat .
        :l1 a skosxl:Label ; skosxl:literalForm "lion"@en .
        :cat rdfs:label "cat" ; obo:hasExactSynonym "felid", [ rdfs:label "feline" ] ;
            obo:hasRelatedSynonym "big cat" ; skos:hiddenLabel "catt" ; skos:broader :animal .
        :animal rdfs:label "animal" ; skos:narrower :cat .
    """)
    assert names_of(graph) == {"lion": "lion", "cat": "cat", "animal": "animal"}
    assert others_of(graph, "lion") == ["king of beasts"]
    assert set(others_of(graph, "cat")) == {"felid", "feline", "big cat", "catt"}


FIRST = ["Anna", "Boris", "Clara", "Dora", "Emil", "Frida", "Georg", "Hanna", "Ivan", "Jutta"]
LAST = ["Adler", "Bauer", "Conrad", "Drechsler", "Eder", "Fuchs", "Gruber", "Huber", "Imhof"]
LAST += ["Jung", "Koch", "Lang", "Maier", "Nagel"]


def people(many=24, *, made):
    """Turtle of people without labels, whose IRIs say nothing; ``made`` writes the names."""
    lines = []
    for number in range(many):
        first, last = FIRST[number % 10], LAST[(number * 3 + number // 10) % 14]
        lines.append(
            f":p{number} :knows :p{(number + 1) % many} ; :age '{20 + number % 40}' ; "
            f":code 'x{number}y{number}' ; {made(number, first, last)} ."
        )
    return "\n".join(lines)


def test_names_are_found_without_a_label_property():
    text = people(made=lambda n, first, last: f":called '{first} {last} {'abcdefghij'[n // 6]}'")
    graph = matched(text)
    assert graph.name_paths == (f"{E}called",)
    assert names_of(graph)["p0"] == "Anna Adler a"
    assert graph.names_given == len(graph.entities)
    table = graph.naming.filter(pl.col("chosen"))
    assert table["path"].to_list() == [f"{E}called"]


def test_names_are_found_a_step_away():
    def made(n, first, last):
        return f":title [ :text '{first} {last} {chr(97 + n)}' ]"

    graph = matched(people(made=made))
    path = SEPARATOR.join([f"{E}title", f"{E}text"])
    assert graph.name_paths == (path,)
    assert names_of(graph)["p1"].startswith("Boris")
    assert len(graph.entities) == 24, "nodes that only hold a text are left out"


def test_names_are_found_two_steps_away():
    def made(n, first, last):
        return f":entry [ :title [ :text '{first} {last} {chr(97 + n)}' ] ]"

    graph = matched(people(made=made))
    assert graph.name_paths == (SEPARATOR.join([f"{E}entry", f"{E}title", f"{E}text"]),)
    assert names_of(graph)["p2"].startswith("Clara")


def test_texts_behind_nodes_are_attributes_of_what_owns_the_node():
    text = people(made=lambda n, first, last: f"rdfs:label '{n}' ; :home [ :street '{last} {n}' ]")
    graph = matched(text)
    rows = set(graph.attributes.rows())
    path = SEPARATOR.join([f"{E}home", f"{E}street"])
    assert (f"{E}p0", path, "Adler 0") in rows
    assert (f"{E}p0", f"{E}age", "20") in rows


def test_first_name_and_surname_are_put_together():
    text = people(30, made=lambda n, first, last: f":given '{first}' ; :family '{last}'")
    graph = matched(text)
    assert set(graph.name_paths) == {f"{E}given", f"{E}family"}
    assert names_of(graph)["p0"] in ("Anna Adler", "Adler Anna")
    assert graph.names.n_unique() > 20


def test_the_last_part_of_an_iri_is_a_name_unless_it_is_an_identifier():
    graph = matched(":New_York :near :Hoboken . :Hoboken :near :item7 . :item7 :in :New_York .")
    assert names_of(graph) == {"New_York": "New York", "Hoboken": "Hoboken", "item7": "item7"}
    numbered = matched(people(8, made=lambda n, first, last: ":x '1'"))
    assert set(numbered.names) == {""}


def test_blank_nodes_have_no_names():
    text = ":Berlin :has [ :near :Paris ; :near :Wien ] . :Wien :has [ :near :Berlin ] ."
    graph = matched(text, blank_nodes=True)
    blank = graph.entities.str.starts_with("_:")
    assert blank.sum() == 2
    assert set(graph.names.filter(blank)) == {""}
    assert "Berlin" in graph.names


def test_the_label_that_the_user_names_comes_first():
    text = ":a :r :b ; rdfs:label 'usual' ; :own 'mine' . :b :r :a ; rdfs:label 'other' ."
    assert names_of(matched(text))["a"] == "usual"
    graph = matched(text, label=(f"{E}own",))
    assert names_of(graph) == {"a": "mine", "b": "other"}
    assert others_of(graph, "a") == ["usual"]


def test_names_are_in_the_preferred_language_and_the_others_follow():
    text = ":a :r :b ; rdfs:label 'Köln'@de, 'Cologne'@en, 'Colonia'@es-MX . :b :r :a ."
    assert names_of(matched(text))["a"] == "Cologne"
    for language, name in (("de", "Köln"), ("es", "Colonia"), ("fi", "Cologne")):
        graph = matched(text, language=(language,))
        assert names_of(graph)["a"] == name
        assert set(others_of(graph, "a")) == {"Köln", "Cologne", "Colonia"} - {name}


def test_names_are_in_the_language_that_both_graphs_have():
    names = "'Cologne'@en, 'Keulen'@nl, 'Кёльн'@ru"
    left = f":a :r :b ; rdfs:label {names} . :b :r :a ; rdfs:label 'Б'@ru ."
    right = ":c :r :d ; rdfs:label 'Köln'@de, 'Кёльн'@ru-RU . :d :r :c ; rdfs:label 'Б'@ru ."
    assert names_of(matched(left, right)) == {"a": "Кёльн", "b": "Б"}
    assert names_of(matched(right, left)) == {"c": "Кёльн", "d": "Б"}
    assert names_of(matched(left, right, language=("nl",)))["a"] == "Keulen"
    alone = ":c :r :d ; rdfs:label 'Köln'@de . :d :r :c ."
    assert names_of(matched(left, alone))["a"] == "Cologne"


def test_what_a_table_holds_are_things_with_the_names_that_were_given():
    table = Graph.from_triples([("a", "r", "b")], names={"a": "Anna"})
    pair = understand(GraphPair(left=table, right=graph_of(":Anna :r :Boris .")))
    for left in (pair.left, understand(GraphPair(left=table, right=table)).left):
        assert left.source is table
        assert left.triples is table.triples
        assert left.names.to_list() == ["Anna", "b"]
        assert left.kinds.tolist() == [Kind.INDIVIDUAL] * 2
        assert left.linkable.tolist() == [0, 1]


def test_a_table_says_what_is_a_class_in_the_words_of_rdf():
    rows = [("a", TYPE, "A"), ("B", TYPE, f"{OWL}Class"), ("a", "B", "r"), ("r", "r", "a")]
    graph = understand(GraphPair(left=Graph.from_triples(rows), right=Graph.from_triples([]))).left
    kinds = dict(zip(graph.entities, graph.kinds, strict=True))
    assert kinds == {"a": Kind.INDIVIDUAL, "A": Kind.CLASS, "B": Kind.CLASS, "r": Kind.INDIVIDUAL}


def test_what_was_read_can_be_understood_again():
    pair = understand(GraphPair(left=graph_of(ONTOLOGY), right=graph_of(ONTOLOGY)))
    again = understand(GraphPair(left=pair.left.source, right=pair.right.source))
    assert triples_of(again.left) == triples_of(pair.left)
    assert again.left.names.to_list() == pair.left.names.to_list()


# --- aliases ------------------------------------------------------------------------------------


PARTIES = ["European Green Party", "Liberal Alliance", "Labour Movement", "People Union"]
PARTIES += ["Socialist Workers", "Farmers League", "Pirate Assembly", "Centre Democrats"]


def aliased(alias):
    lines = []
    for number, name in enumerate(PARTIES):
        lines.append(f":party{number} a :Party ; rdfs:label '{name}' ; :meets :party{number - 1} .")
        lines.append(f":alias{number} a :Alias ; rdfs:label '{alias(name)}' ; :of :party{number} .")
    return "\n".join(lines).replace(":party-1", ":party7")


def test_nodes_that_are_only_another_name_give_it_to_what_they_name():
    graph = matched(aliased(lambda name: f"The {name} e. V."))
    assert {key for key in names_of(graph) if key.startswith("alias")} == set()
    assert others_of(graph, "party0") == ["The European Green Party e. V."]
    assert graph.reading_counts["holder_nodes_not_linked"] == len(PARTIES)


def test_nodes_with_quite_other_names_are_no_aliases():
    words = iter(["Zebra", "Quokka", "Walrus", "Ibex", "Jackal", "Bison", "Vicuna", "Gnu"] * 2)
    graph = matched(aliased(lambda name: next(words)))
    assert len([key for key in names_of(graph) if key.startswith("alias")]) == len(PARTIES)


# --- pairs --------------------------------------------------------------------------------------


SYLLABLES = ["ka", "lo", "mi", "ner", "tus", "vel", "da", "pro", "shi", "gar", "bel", "qui"]


def word(rng, most=4):
    return "".join(rng.choice(SYLLABLES, rng.integers(2, most))).capitalize()


def world(size=80, seed=11):
    """Two graphs about the same things in Turtle, each with its own vocabulary and mistakes."""
    rng = np.random.default_rng(seed)
    names = list(dict.fromkeys(f"{word(rng)} {word(rng)}" for _ in range(3 * size)))[:size]
    years = rng.integers(1900, 2000, size)
    codes = ["".join(rng.choice(list("0123456789"), 7)) for _ in range(size)]
    kinds = rng.integers(0, 3, size)
    edges = sorted({(int(a), int(b)) for a, b in rng.integers(0, size, (2 * size, 2)) if a != b})
    words = (
        (("Person", "Place", "Work"), "knows", "born", "number", "l"),
        (("Mensch", "Ort", "Werk"), "kennt", "Jahr", "Nummer", "r"),
    )
    sides = []
    for side, (types, relation, year, code, prefix) in enumerate(words):
        lines = []
        for place, name in enumerate(names):
            if rng.random() < 0.08:
                continue  # one side lacks it
            text = name
            if side and rng.random() < 0.2:
                cut = int(rng.integers(1, len(name) - 1))
                text = name[:cut] + name[cut + 1 :]
            key = f":{prefix}{place * 7919 % 1000}"
            lines.append(f"{key} a :{types[kinds[place]]} ; rdfs:label '{text}' .")
            if rng.random() < 0.3:
                lines.append(f"{key} skos:altLabel '{name.split()[-1]} {name.split()[0]}' .")
            if rng.random() < 0.8:
                lines.append(f"{key} :{year} '{years[place]}' .")
            if rng.random() < 0.7:
                lines.append(f"{key} :{code} '{codes[place]}' .")
        for head, tail in edges:
            if rng.random() < 0.85:
                ends = (f":{prefix}{end * 7919 % 1000}" for end in (head, tail))
                lines.append(f"{next(ends)} :{relation} {next(ends)} .")
        sides.append("\n".join(lines))
    gold = {(f"{E}l{i * 7919 % 1000}", f"{E}r{i * 7919 % 1000}") for i in range(size)}
    return sides, gold


@pytest.fixture(scope="module")
def aligned():
    """The small world, aligned."""
    (left, right), _ = world()
    return sameas.align(graph_of(left), graph_of(right))


def links_of(alignment):
    return set(alignment.links.select("left", "right").iter_rows())


def test_things_are_linked_and_hardly_any_link_is_wrong(aligned):
    gold = world()[1]
    links = {link for link in links_of(aligned) if re.search(r"/l\d+$", link[0])}
    assert len(links & gold) >= 0.95 * len(links)
    assert len(links & gold) >= 55


def hashed(text):
    """The Turtle with all names of IRIs replaced by hashes."""

    def replace(found):
        return ":h" + hashlib.sha256(found[1].encode()).hexdigest()[:12]

    return re.sub(r"(?<![\w:]):([A-Za-z]\w*)", replace, text)


def test_names_of_iris_do_not_matter(aligned):
    # Labels, attributes, types and relations are the same; only IRIs are others.
    sides, _ = world()
    renamed = [hashed(side) for side in sides]
    assert ":knows" not in renamed[0]
    found = links_of(sameas.align(*(graph_of(side) for side in renamed)))

    def rename(iri):
        return E + hashed(f":{short(iri)}").removeprefix(":")

    # Classes and properties have no labels, so without their IRIs little tells them.
    things = {link for link in links_of(aligned) if re.search(r"/l\d+$", link[0])}
    expected = {(rename(left), rename(right)) for left, right in things}
    members = {rename(left) for left, _ in world()[1]}
    found = {link for link in found if link[0] in members}
    assert len(found ^ expected) <= 4


def test_parts_of_explanations_add_up_where_names_attributes_and_types_count(aligned):
    left = aligned.pair.left
    kinds = set()
    for link in aligned.links.gather_every(3).iter_rows(named=True):
        if left.kinds[left.positions(pl.Series([link["left"]]))[0]] != Kind.INDIVIDUAL:
            continue
        comparison = aligned.explain(link["left"], side="left").comparison
        assert comparison.score == pytest.approx(link["score"], abs=1e-3)
        total = sum(part.score for part in comparison.parts)
        assert total == pytest.approx(comparison.score, abs=1e-4)
        kinds |= {part.kind for part in comparison.parts}
    assert {"types", "attributes", "spelling"} <= kinds


def test_a_run_folder_explains_as_the_alignment_does(aligned, tmp_path):
    sameas.write(aligned, tmp_path / "run")
    again = sameas.read_run(tmp_path / "run")
    for link in aligned.links.head(5).iter_rows(named=True):
        ours, theirs = (each.explain(link["left"], side="left") for each in (aligned, again))
        assert str(ours) == str(theirs)


def test_a_run_folder_with_damaged_kinds_is_refused(aligned, tmp_path):
    sameas.write(aligned, tmp_path / "run")
    file = tmp_path / "run" / "left" / "entities.parquet"
    pl.read_parquet(file).with_columns(kind=pl.lit("animal")).write_parquet(file)
    with pytest.raises(sameas.InputError, match="is damaged"):
        _ = sameas.read_run(tmp_path / "run").pair


def test_the_order_of_statements_does_not_change_links(aligned):
    sides, _ = world()
    rng = np.random.default_rng(5)
    mixed = ["\n".join(rng.permutation(side.split("\n"))) for side in sides]
    found = links_of(sameas.align(*(graph_of(side) for side in mixed)))
    assert len(found ^ links_of(aligned)) <= 2


# --- equal IRIs and types that contradict each other --------------------------------------------


def test_equal_iris_are_not_linked_unless_both_describe_an_individual_differently():
    (left, right), _ = world()
    shared = ":Shared a :Person ; rdfs:label 'Shared thing' . :Shared :see :Other ."
    more = ":Told a :Person ; rdfs:label '{}' ; :see :Shared ."
    left = f"{left}\n{shared}\n{more.format('Told here')}"
    right = f"{right}\n{shared}\n{more.format('Told there')}"
    pairs = {
        link: GraphPair(left=graph_of(left, link=link), right=graph_of(right, link=link))
        for link in ("things", "all")
    }
    alignment = sameas.align(pairs["things"])
    links = links_of(alignment)
    assert (f"{E}Told", f"{E}Told") in links
    assert (f"{E}Shared", f"{E}Shared") not in links
    assert (f"{E}Person", f"{E}Person") not in links
    assert alignment.diagnostics.same_iri >= 2
    # They are anchors all the same, and nothing else is linked with them.
    anchors = set(alignment.anchors.select("left", "right").iter_rows())
    assert (f"{E}Shared", f"{E}Shared") in anchors
    assert not {one for one, other in links if one != other} & {f"{E}Shared", f"{E}Person"}
    everything = links_of(sameas.align(pairs["all"]))
    assert {(f"{E}{name}", f"{E}{name}") for name in ("Told", "Shared", "Person")} <= everything


def test_types_of_a_shared_vocabulary_that_nothing_has_together_exclude_a_link():
    rng = np.random.default_rng(2)
    names = [f"{word(rng)} {word(rng)}" for _ in range(20)]
    sides = []
    for prefix in "lr":
        lines = [
            f":{prefix}{n} a :{'Person' if n % 2 else 'Place'} ; rdfs:label '{name}' ; "
            f":near :{prefix}{(n + 1) % 20} ."
            for n, name in enumerate(names)
        ]
        # The same name for a person on one side and for a place on the other.
        kind = "Person" if prefix == "l" else "Place"
        lines.append(f":{prefix}x a :{kind} ; rdfs:label 'Washington State' ; :near :{prefix}3 .")
        sides.append("\n".join(lines))
    links = links_of(sameas.align(*(graph_of(side) for side in sides), min_confidence=0.0))
    assert (f"{E}lx", f"{E}rx") not in links
    assert (f"{E}l4", f"{E}r4") in links
    untyped = [re.sub(r" a :(Person|Place) ;", "", side) for side in sides]
    assert (f"{E}lx", f"{E}rx") in links_of(sameas.align(*(graph_of(side) for side in untyped)))


def test_the_command_tells_what_both_graphs_call_by_the_same_iri(tmp_path):
    file = tmp_path / "graph.ttl"
    file.write_text(
        'prefix s: <http://schema.org/>\n<x:a> <x:in> <x:b> ; s:name "Anna" . <x:b> s:name "Bern" .'
    )
    for flags, links in (([], 0), (["--link", "all"], 2)):
        command = ["align", str(file), str(file), "-o", str(tmp_path / "o.tsv"), *flags]
        result = CliRunner().invoke(main, command)
        assert result.exit_code == 0, result.output
        assert ("2 things in both graphs, not listed" in result.output) == (not links)
        assert len(sameas.read_links(tmp_path / "o.tsv")) == links


def test_a_seed_counts_even_between_kinds():
    left = graph_of(
        "<x:City> a <http://www.w3.org/2002/07/owl#Class> . <x:p> a <x:City> ; <x:in> <x:f> . "
        '<x:p> <http://schema.org/name> "Paris" . <x:f> <http://schema.org/name> "France" .'
    )
    right = graph_of(
        '<y:p> <y:in> <y:f> . <y:l> <y:in> <y:f> . <y:p> <http://schema.org/name> "Paris" . '
        '<y:f> <http://schema.org/name> "France" . <y:l> <http://schema.org/name> "Lyon" .'
    )
    found = sameas.align(left, right, seeds=[("x:City", "y:l")]).links
    scores = {(row["left"], row["right"]): row["score"] for row in found.iter_rows(named=True)}
    assert scores.pop(("x:City", "y:l")) > 90
    assert set(scores) <= {("x:p", "y:p"), ("x:f", "y:f")}
    assert all(score < 90 for score in scores.values())


THINGS = ("granite", "limestone", "quartz crystal", "feldspar", "obsidian", "river sandstone")


def rocks(side, kind, above, label):
    """Rocks, each of a kind and below the first."""
    return "".join(
        f':{side}{n:08x} a {kind} ; {label} "{name}" ; {above} :{side}{0:08x} .\n'
        for n, name in enumerate(THINGS)
    )


def test_classes_are_linked_with_individuals_where_a_graph_has_no_others():
    left = graph_of(rocks("l", "owl:Class", "rdfs:subClassOf", "rdfs:label"))
    right = graph_of(rocks("r", "skos:Concept", "skos:broader", "skos:prefLabel"))
    alignment = sameas.align(left, right, no_audit=True)
    assert alignment.diagnostics.kinds_meet
    assert links_of(alignment) == {(f"{E}l{n:08x}", f"{E}r{n:08x}") for n in range(len(THINGS))}


def test_classes_and_individuals_are_told_apart_where_both_graphs_have_both():
    sides = [
        rocks(side, "owl:Class", "rdfs:subClassOf", "rdfs:label")
        + rocks(f"i{side}", f":{side}{0:08x}", ":above", "rdfs:label")
        for side in "lr"
    ]
    alignment = sameas.align(*map(graph_of, sides), no_audit=True)
    assert alignment.diagnostics.kinds_meet is None
    links = links_of(alignment)
    assert len(links) == 2 * len(THINGS)
    assert all(left.replace("/l", "/r").replace("/il", "/ir") == right for left, right in links)


@pytest.mark.parametrize("kind", ["owl:Class", "owl:ObjectProperty"])
def test_what_is_class_and_property_at_once_is_linked_as_either(kind):
    left = rocks("l", "owl:Class", "rdfs:subClassOf", "rdfs:label")
    left += ':lpun a owl:Class, owl:ObjectProperty ; rdfs:label "has density" .'
    right = rocks("r", "owl:Class", "rdfs:subClassOf", "rdfs:label")
    right += f':rpun a {kind} ; rdfs:label "has density" .'
    alignment = sameas.align(graph_of(left), graph_of(right), no_audit=True)
    assert kinds_of(alignment.pair.left)["lpun"] == Kind.PUN
    assert (f"{E}lpun", f"{E}rpun") in links_of(alignment)


def test_words_in_labels_of_terms_are_apart_but_not_in_names_of_individuals():
    graph = matched(
        ':a a owl:Class ; rdfs:label "CreativeWork" . :b a rdf:Property ; rdfs:label "birthDate" . '
        ':c a :a ; rdfs:label "YouTube" ; :b "1" .'
    )
    assert names_of(graph) == {"a": "Creative Work", "b": "birth Date", "c": "YouTube"}
