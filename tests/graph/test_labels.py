"""Names of entities: from URIs, from attributes, from names files; and which of them counts."""

from __future__ import annotations

import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sameas
from folders import LABEL, dbp15k, openea, put, table
from sameas import Graph, InputError
from sameas.formats.name_files import read_names
from sameas.graph.labels import LABELS, look_up_names, names_from_attributes, names_from_uris


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("http://dbpedia.org/resource/New_York", "New York"),
        ("http://fr.dbpedia.org/resource/Saint-%C3%89tienne", "Saint-Étienne"),
        ("http://dbpedia.org/resource/AC/DC", "AC/DC"),
        ("http://dbpedia.org/resource/C_(programming_language)", "C (programming language)"),
        ("http://ja.dbpedia.org/resource/京都市", "京都市"),
        ("http://ar.dbpedia.org/resource/القاهرة", "القاهرة"),
        ("http://xmlns.com/foaf/0.1/Person", "Person"),
        ("http://www.w3.org/2002/07/owl#sameAs", "same As"),
        ("http://example.org/birthPlace", "birth Place"),
        ("http://example.org/HTTPServer", "HTTP Server"),
        ("http://example.org/McDonald_Ross", "McDonald Ross"),
        ("http://example.org/Paris/", "Paris"),
        ("http://example.org/Paris#", "Paris"),
        ("http://example.org/100%", "100%"),
        ("http://example.org/__a___b__", "a b"),
        ("http://www.wikidata.org/entity/Q42", "Q42"),
        ("42", "42"),
        ("urn:isbn:0451450523", "urn:isbn:0451450523"),
        ("👩‍👩‍👧", "👩‍👩‍👧"),
        ("///", "///"),
        ("#", "#"),
    ],
)
def test_a_uri_gives_a_readable_name(uri, name):
    assert names_from_uris(pl.Series([uri])).to_list() == [name]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), max_size=5))
def test_any_text_gives_a_name_and_each_its_own(uris):
    alone = [names_from_uris(pl.Series([uri])).item() for uri in uris]
    assert all(isinstance(name, str) for name in alone)
    assert names_from_uris(pl.Series(uris, dtype=pl.String)).to_list() == alone


def attributes(*rows):
    return pl.DataFrame(rows, schema=["entity", "attribute", "value"], orient="row")


def test_the_best_label_counts_not_the_first():
    found = names_from_attributes(
        attributes(
            ("a", LABELS[2], "third"),
            ("a", LABEL, "best"),
            ("a", LABEL, "best again"),
            ("b", "http://example.org/height", "1.80"),
            ("c", LABELS[-1], "title"),
        )
    )
    assert dict(found.iter_rows()) == {"a": "best", "c": "title"}


def test_a_names_file_comes_before_the_uri_and_the_first_name_counts():
    entities = pl.Series(["x:Alpha", "x:Beta"])
    given_names = pl.DataFrame({"entity": ["x:Alpha", "x:Alpha"], "name": ["one", "two"]})
    graph = Graph.from_triples([("x:Alpha", "r", "x:Beta")], names=given_names)
    assert look_up_names(entities, given_names).to_list() == ["one", None]
    assert graph.names.to_list() == ["one", "x:Beta"]
    assert graph.names_given == 1


def test_an_entity_may_have_several_names_in_a_file(tmp_path):
    folder = openea(tmp_path / "pair")
    names = "en:Paris\tLutetia\nen:Paris\tCity of Light\nfr:Paris\tLutèce\nen:Lyon\tLugdunum\n"
    pair = sameas.read_pair(folder, names=put(tmp_path / "names.tsv", names))
    assert pair.right.alternatives.rows() == [("en:Paris", "City of Light")]
    assert pair.left.alternatives.is_empty()
    assert pair.right.names[pair.right.entities.index_of("en:Paris")] == "Lutetia"


def test_a_name_goes_by_uri_or_else_by_id(tmp_path):
    folder = dbp15k(tmp_path / "pair")
    number = (folder / "ent_ids_1").read_text().split("\t")[0]
    names = put(tmp_path / "names.tsv", f"{number}\tby id\nfr:Lyon\tby URI\n{number}\tagain\n")
    left = sameas.read_pair(folder, names=names).left
    assert left.names.filter(left.names.str.starts_with("by")).to_list() == ["by id", "by URI"]
    assert left.names_given == 2
    assert left.alternatives.rows() == [(left.entities[0], "again")]


def test_without_ids_a_number_is_not_taken_for_one():
    given_names = pl.DataFrame({"entity": ["7"], "name": ["seven"]})
    assert look_up_names(pl.Series(["x:Alpha"]), given_names).to_list() == [None]


@pytest.mark.parametrize(
    "content",
    [
        [["a", ["New", "York"]], ["b", "Paris"]],
        {"a": "New York", "b": "Paris"},
        {"a": ["New", "York"], "b": ["Paris"]},
    ],
)
def test_json_names_in_each_shape(tmp_path, content):
    path = put(tmp_path / "names.json", json.dumps(content))
    assert dict(read_names(path).iter_rows()) == {"a": "New York", "b": "Paris"}


def test_json_names_by_id_and_without_words(tmp_path):
    path = put(tmp_path / "names.json", json.dumps([[7, ["seven"]], [8, []]]))
    assert read_names(path).rows() == [("7", "seven"), ("8", "")]


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".parquet", ".tsv.gz", ".csv.zst"])
def test_names_in_tables(tmp_path, suffix):
    rows = [("a", "New York"), ("b", "القاهرة"), ("c", "👩‍👩‍👧")]
    path = table(tmp_path / f"names{suffix}", rows, header=("entity", "name"))
    assert read_names(path).rows() == rows


def test_json_names_may_begin_with_a_byte_order_mark(tmp_path):
    path = put(tmp_path / "names.json", "\ufeff" + json.dumps({"a": "b"}))
    assert read_names(path).rows() == [("a", "b")]


def test_json_names_may_be_compressed(tmp_path):
    path = put(tmp_path / "names.json.gz", json.dumps({"a": "b"}))
    assert read_names(path).rows() == [("a", "b")]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", ":1: not JSON"),
        ("{", ":1: not JSON"),
        ('[\n["a", "b"],\n["c" "d"]]', ":3: not JSON"),
        ("7", ": holds no list of names"),
        ('"a"', ": holds no list of names"),
        ("null", ": holds no list of names"),
        ("[]", ": holds no list of names"),
        ("{}", ": holds no list of names"),
        ('[["a", "b"], ["c"]]', ": row 2: "),
        ('[["a", "b"], "cd"]', ": row 2: "),
        ('[["a", 5]]', ": row 1: "),
        ('[["a", [5]]]', ": row 1: "),
        ('[[true, "b"]]', ": row 1: "),
        ('[[1.5, "b"]]', ": row 1: "),
        ('{"a": {"b": "c"}}', ": row 1: "),
        ('{"a": null}', ": row 1: "),
        ('{"a": "\\ud800"}', ": row 1: "),
        ("[" * 100_000, ": not JSON"),
        (f'[[{"7" * 5000}, ["a"]]]', ": not JSON"),
    ],
)
def test_json_in_another_shape_is_refused(tmp_path, text, place):
    path = put(tmp_path / "names.json", text)
    with pytest.raises(InputError) as caught:
        read_names(path)
    assert str(caught.value).startswith(f"{path}{place}")
    assert "expected [[entity, [word, ...]], ...] or {entity: name}" in str(caught.value)


def test_json_that_is_not_utf8_is_refused_with_its_line(tmp_path):
    path = put(tmp_path / "names.json", '{\n"a": "é"}'.encode("latin1"))
    with pytest.raises(InputError, match=r":2: not UTF-8 text"):
        read_names(path)


def test_an_empty_table_of_names_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds no names; two columns expected: entity, name"):
        read_names(put(tmp_path / "names.tsv", ""))
