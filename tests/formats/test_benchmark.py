"""Benchmark folders in the DBP15K and OpenEA layouts."""

from __future__ import annotations

import json

import pytest

import sameas
from folders import (
    GOLD,
    LABEL,
    LEFT,
    RIGHT,
    dbp15k,
    lines,
    named_triples,
    names_of,
    openea,
    put,
)
from sameas import InputError, read_gold, read_pair
from sameas.formats.benchmark import detect_layout


def refusal(folder):
    with pytest.raises(InputError) as caught:
        read_pair(folder)
    return str(caught.value)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("relations", [True, False])
def test_a_dbp15k_folder_gives_its_triples_by_uri(tmp_path, end, relations):
    pair = read_pair(dbp15k(tmp_path / "d", end=end, relations=relations))
    if relations:
        assert named_triples(pair.left) == LEFT
        assert named_triples(pair.right) == RIGHT
    else:
        assert [(h, t) for h, _, t in named_triples(pair.left)] == [(h, t) for h, _, t in LEFT]
        assert pair.left.relations.to_list() == ["50", "53"]
        assert pair.right.relations.to_list() == ["100", "103"]
    assert pair.gold.rows() == GOLD


def test_line_ends_may_differ_from_file_to_file(tmp_path):
    folder = dbp15k(tmp_path / "d")
    for file in ("ent_ids_1", "triples_2", "ref_ent_ids"):
        path = folder / file
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    pair = read_pair(folder)
    assert named_triples(pair.left) == LEFT
    assert named_triples(pair.right) == RIGHT
    assert pair.gold.rows() == GOLD


def test_the_order_of_the_entity_file_changes_nothing_but_the_order(tmp_path):
    folder = dbp15k(tmp_path / "d")
    before = read_pair(folder)
    file = folder / "ent_ids_1"
    rows = file.read_text().splitlines()
    put(file, "\n".join(reversed(rows)) + "\n")
    after = read_pair(folder)
    assert after.left.entities.to_list() == before.left.entities.to_list()[::-1]
    assert named_triples(after.left) == named_triples(before.left)
    assert names_of(after.left) == names_of(before.left)


def test_both_sides_may_use_the_same_ids(tmp_path):
    folder = tmp_path / "d"
    folder.mkdir()
    for side, uris in ((1, ("l:a", "l:b")), (2, ("r:a", "r:b"))):
        put(folder / f"ent_ids_{side}", lines([(0, uris[0]), (1, uris[1])]))
        put(folder / f"triples_{side}", lines([(0, 0, 1)]))
    put(folder / "ref_ent_ids", lines([(0, 1)]))
    pair = read_pair(folder)
    assert named_triples(pair.left) == [("l:a", "0", "l:b")]
    assert pair.gold.rows() == [("l:a", "r:b")]


def test_gold_is_reference_and_supervision_links_together(tmp_path):
    folder = dbp15k(tmp_path / "d", gold=GOLD[:3], supervised=GOLD[3:])
    assert read_pair(folder).gold.rows() == GOLD
    assert read_gold(folder).rows() == GOLD


def test_gold_is_optional(tmp_path):
    for folder in (dbp15k(tmp_path / "d", gold=None), openea(tmp_path / "o", gold=None)):
        assert read_pair(folder).gold is None
        with pytest.raises(InputError, match="holds no gold links"):
            read_gold(folder)


def test_duplicated_gold_links_count_once(tmp_path, caplog):
    folder = dbp15k(tmp_path / "d", supervised=GOLD[1:2])
    assert read_pair(folder).gold.rows() == GOLD
    assert f"{folder}/sup_ent_ids:1: duplicated links count once: 1, " in caplog.text
    folder = openea(tmp_path / "o", gold=[GOLD[0], *GOLD, GOLD[1], (GOLD[0][0], GOLD[1][1])])
    assert read_pair(folder).gold.rows() == [*GOLD, (GOLD[0][0], GOLD[1][1])]
    assert f"{folder}/ent_links:2: duplicated links count once: 2, " in caplog.text


def test_entities_without_triples_are_kept(tmp_path):
    pair = read_pair(dbp15k(tmp_path / "d", extra=("fr:Atlantide",)))
    assert "fr:Atlantide" in pair.left.entities
    assert len(pair.left.entities) == len(pair.right.entities) + 1


def test_translated_names_come_before_uris(tmp_path):
    names = {"fr:Londres": ["london"], "en:London": ["london", "town"]}
    pair = read_pair(dbp15k(tmp_path / "d", names=names))
    assert names_of(pair.left)["fr:Londres"] == "london"
    assert names_of(pair.right)["en:London"] == "london town"
    assert names_of(pair.left)["fr:Lyon"] == "fr:Lyon"


def test_names_that_are_given_come_before_those_in_the_folder(tmp_path):
    folder = dbp15k(tmp_path / "d", names={"fr:Londres": ["london"], "fr:Lyon": ["lyons"]})
    given = put(tmp_path / "names.json", json.dumps({"fr:Londres": "Big Smoke"}))
    names = names_of(read_pair(folder, names=given).left)
    assert names["fr:Londres"] == "Big Smoke"
    assert names["fr:Lyon"] == "fr:Lyon", "a names file takes the place of the folder's names"
    assert names_of(read_pair(folder, names="uri").left)["fr:Londres"] == "fr:Londres"


def test_given_names_may_go_by_the_ids_of_the_folder(tmp_path):
    folder = dbp15k(tmp_path / "d")
    number = (folder / "ent_ids_1").read_text().split("\t")[0]
    uri = read_pair(folder).left.entities[0]
    given = put(tmp_path / "names.tsv", lines([(number, "By Id")]))
    assert names_of(read_pair(folder, names=given).left)[uri] == "By Id"


def test_an_openea_folder_gives_its_triples(tmp_path):
    pair = read_pair(openea(tmp_path / "o"))
    assert named_triples(pair.left) == LEFT
    assert named_triples(pair.right) == RIGHT
    assert pair.gold.rows() == GOLD
    assert not len(pair.left.attributes)


def test_labels_among_the_attributes_are_names(tmp_path):
    rows = [("fr:Paris", LABEL, "Ville Lumière"), ("fr:Paris", "fr:population", "2 100 000")]
    pair = read_pair(openea(tmp_path / "o", attributes=(rows, [])))
    assert names_of(pair.left)["fr:Paris"] == "Ville Lumière"
    assert names_of(pair.left)["fr:Lyon"] == "fr:Lyon"
    assert pair.left.attributes.rows() == rows
    assert names_of(read_pair(tmp_path / "o", names="uri").left)["fr:Paris"] == "fr:Paris"


def test_an_entity_that_has_only_attributes_belongs_to_the_graph(tmp_path):
    pair = read_pair(openea(tmp_path / "o", attributes=([("fr:Rome", LABEL, "Rome")], [])))
    assert names_of(pair.left)["fr:Rome"] == "Rome"


def test_attributes_may_be_there_on_one_side_only(tmp_path):
    folder = openea(tmp_path / "o")
    put(folder / "attr_triples_2", lines([("en:Paris", LABEL, "City of Light")]))
    pair = read_pair(folder)
    assert names_of(pair.right)["en:Paris"] == "City of Light"
    assert names_of(pair.left)["fr:Paris"] == "fr:Paris"


def test_a_value_may_be_empty_among_the_attributes(tmp_path):
    rows = [("fr:Paris", LABEL, ""), ("fr:Lyon", LABEL, "Lyon")]
    pair = read_pair(openea(tmp_path / "o", attributes=(rows, [])))
    assert names_of(pair.left)["fr:Lyon"] == "Lyon"


def test_the_layout_is_told_by_the_files(tmp_path):
    assert detect_layout(dbp15k(tmp_path / "d")) == "dbp15k"
    assert detect_layout(openea(tmp_path / "o")) == "openea"
    assert detect_layout(sameas.DEMO) == "openea"


def test_the_demo_pair_is_whole():
    pair = read_pair(sameas.DEMO)
    assert (len(pair.left.entities), len(pair.right.entities)) == (1162, 1222)
    assert len(pair.gold) == 920
    assert not (pair.left.names == "").any()
    assert not (pair.right.names == "").any()


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("ent_ids_1", "x\tfr:A\n", ':1: a whole number expected in column "id", found "x"'),
        ("ent_ids_1", "1\tfr:A\n2\n", ":2: 2 tab-separated columns expected (id, uri), found 1"),
        ("ent_ids_2", "1\ta\n1\tb\n", ':2: id "1" was given before'),
        ("ent_ids_2", "1\ta\n2\ta\n", ':2: uri "a" was given before'),
        ("rel_ids_1", "1.5\tr\n", ':1: a whole number expected in column "id", found "1.5"'),
        ("triples_1", "1\t2\n", ":1: 3 tab-separated columns expected"),
        ("triples_1", "1000\t50\t1007\n\n1000\t50\tx\n", ":3: a whole number expected in column"),
        ("triples_1", "1000\t50\t5\n", ":1: tail 5 is not in ent_ids_1; add it there"),
        ("triples_2", "5\t100\t2000\n", ":1: head 5 is not in ent_ids_2"),
        ("triples_2", "2000\t7\t2007\n", ":1: relation 7 is not in rel_ids_2"),
        ("triples_1", "1000\t50\t99999999999999999999\n", ":1: a whole number expected"),
        ("ref_ent_ids", "1000\n", ":1: 2 tab-separated columns expected (left, right), found 1"),
        ("ref_ent_ids", "1000\t5\n", ":1: right 5 is not in ent_ids_2"),
        ("ref_ent_ids", "1000\tfive\n", ":1: a whole number expected"),
        ("translated_names.json", "{", ":1: not JSON"),
    ],
)
def test_what_is_wrong_in_a_dbp15k_folder_is_named(tmp_path, file, text, message):
    folder = dbp15k(tmp_path / "d")
    put(folder / file, text)
    assert refusal(folder).startswith(f"{folder}/{file}{message}")


def test_a_relation_given_twice_is_refused(tmp_path):
    folder = dbp15k(tmp_path / "d")
    put(folder / "rel_ids_1", "50\tr\n50\ts\n53\tt\n")
    assert refusal(folder).startswith(f"{folder}/rel_ids_1:2: ")


@pytest.mark.parametrize("file", ["ent_ids_1", "ent_ids_2", "triples_2"])
def test_a_missing_file_of_a_dbp15k_folder_is_named(tmp_path, file):
    folder = dbp15k(tmp_path / "d")
    (folder / file).unlink()
    assert refusal(folder).startswith(f"{folder}/{file}: no such file")


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("rel_triples_1", "a\tr\n", ":1: 3 tab-separated columns expected"),
        ("attr_triples_2", "a\tr\n", ":1: 3 tab-separated columns expected"),
        ("ent_links", "a\n", ":1: 2 tab-separated columns expected"),
        ("ent_links", "", ": holds no links"),
    ],
)
def test_what_is_wrong_in_an_openea_folder_is_named(tmp_path, file, text, message):
    folder = openea(tmp_path / "o")
    put(folder / file, text)
    assert refusal(folder).startswith(f"{folder}/{file}{message}")


def test_gold_links_to_strangers_are_refused_with_file_and_line(tmp_path):
    folder = openea(tmp_path / "o", gold=[*GOLD, ("fr:Atlantide", "en:Paris")])
    message = refusal(folder)
    assert 'not in the left graph, the first is "fr:Atlantide"' in message
    assert message.startswith(f"{folder}/ent_links:5: ")


@pytest.mark.parametrize("side", [1, 2])
def test_an_empty_graph_is_refused_and_its_file_named(tmp_path, side):
    folder = openea(tmp_path / "o", gold=None)
    put(folder / f"rel_triples_{side}", "")
    message = refusal(folder)
    assert "holds no triples; a graph needs at least one" in message
    assert f"rel_triples_{side}" in message


def test_terms_of_ntriples_in_an_openea_folder_are_read_as_meant(tmp_path):
    put(tmp_path / "rel_triples_1", "<x:a>\t<x:r>\t<x:b>\n_:c\t<x:r>\tx:d\n")
    values = ['"Ada"@en', '"1815"^^<x:year>', r'"a \"b\" \u00e9"', "plain", '""']
    lines = [f"<x:a>\t<x:{n}>\t{value}\n" for n, value in enumerate(values)]
    put(tmp_path / "attr_triples_1", "".join(lines))
    put(tmp_path / "rel_triples_2", "y:a\ty:r\ty:b\n")
    put(tmp_path / "attr_triples_2", 'y:a\ty:p\tThe "best"\ny:a\ty:q\t"best"\ny:a\ty:s\tlast\n')
    put(tmp_path / "ent_links", "<x:a>\t<y:a>\n")
    pair = sameas.read_pair(tmp_path)
    assert pair.left.entities.to_list() == ["x:a", "x:b", "_:c", "x:d"]
    assert pair.left.relations.to_list() == ["x:r"]
    attributes = pair.left.source.attributes
    assert attributes["attribute"].to_list() == [f"x:{n}" for n in range(5)]
    assert attributes["value"].to_list() == ["Ada", "1815", 'a "b" é', "plain", ""]
    assert pair.right.source.attributes["value"].to_list() == ['The "best"', '"best"', "last"]
    assert pair.gold.rows() == [("x:a", "y:a")]


def test_a_folder_of_something_else_says_what_was_found(tmp_path):
    put(tmp_path / "notes.txt", "x")
    assert refusal(tmp_path) == (
        f"{tmp_path}: not a known layout: found notes.txt; expected triples_1 and ent_ids_1 "
        "(DBP15K) or rel_triples_1 (OpenEA)"
    )
    (tmp_path / "empty").mkdir()
    assert "found nothing" in refusal(tmp_path / "empty")
