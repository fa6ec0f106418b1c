"""Columns of the graphs that a table of links carries for its readers."""

from __future__ import annotations

import json

import polars as pl
import pytest
from click.testing import CliRunner

import sameas
from pairs import matched_pair
from sameas import Alignment, Graph, OptionError, Options
from sameas.cli.main import main
from sameas.graph.link_set import LINK_SCHEMA
from sameas.result.alignment import Diagnostics

LEFT = [
    {"id": "1", "name": "Ann Lee", "city": "Oslo", "boss": "2", "note": "a\tb"},
    {"id": "2", "name": "Bo Ek", "city": None, "boss": None, "note": None},
]
RIGHT = [{"key": "x", "label": "A. Lee", "town": ["Oslo", "Bergen"]}, {"key": "y", "label": "B."}]


def aligned(left, right):
    pair = matched_pair(left=left, right=right)
    links = pl.DataFrame([("1", "x", 1.0, 0.9)], schema=LINK_SCHEMA, orient="row")
    parts = {"pair": pair, "links": links}
    figures = Diagnostics(solver="sinkhorn", objective=0.0)
    return Alignment(options=Options(), diagnostics=figures, load=parts.get)


def people():
    return aligned(Graph.from_records(LEFT), Graph.from_records(RIGHT))


def row(path):
    return pl.read_csv(path, separator="\t" if path.suffix == ".tsv" else ",").row(0, named=True)


def test_a_table_carries_columns_of_both_sides(tmp_path):
    columns = ["name", "left=city", "right=town", "note"]
    sameas.write(people(), tmp_path / "links.csv", with_=columns)
    assert list(row(tmp_path / "links.csv").items())[4:] == [
        ("left_name", "Ann Lee"),
        ("right_name", "A. Lee"),
        ("left_city", "Oslo"),
        ("left_note", "a\tb"),
        ("right_town", "Oslo | Bergen"),
    ]
    again = sameas.read_links(tmp_path / "links.csv")
    assert again.select("left", "right").rows() == [("1", "x")]


def test_a_tsv_has_no_tabs_in_what_it_carries(tmp_path):
    sameas.write(people(), tmp_path / "links.tsv", with_=("note",))
    assert row(tmp_path / "links.tsv")["left_note"] == "a b"


def test_relations_ids_and_json_lines(tmp_path):
    sameas.write(people(), tmp_path / "links.jsonl", with_=("id", "boss"))
    told = json.loads((tmp_path / "links.jsonl").read_text())
    assert (told["left_id"], told["left_boss"]) == ("1", "2")
    assert "right_id" not in told


def test_the_last_part_of_an_iri_is_enough(tmp_path):
    statement = ("1", "http://a.org/vocabulary#city", "Oslo")
    left = Graph.from_triples([], entities=["1"], attributes=[statement])
    sameas.write(aligned(left, Graph.from_records(RIGHT)), tmp_path / "links.csv", with_="city")
    assert row(tmp_path / "links.csv")["left_city"] == "Oslo"


@pytest.mark.parametrize(
    ("name", "columns", "words"),
    [
        ("links.csv", ("nam",), "those of the left one are name, id, city, note, boss"),
        ("links.csv", ("right=city",), "those of the right one are name, key, label, town"),
        ("links.nt", ("name",), "is for tables of links"),
        ("run", ("name",), "convert the run with it afterwards"),
    ],
)
def test_what_cannot_be_carried_is_one_sentence(tmp_path, name, columns, words):
    with pytest.raises(OptionError, match=words):
        sameas.write(people(), tmp_path / name, with_=columns)
    assert not list(tmp_path.iterdir())


def test_the_commands_carry_columns(tmp_path):
    names = ["amber", "birch", "cedar", "delta", "ember", "flint"]
    for side in "ab":
        rows = "".join(f"{side}{n},{name},c{n}\n" for n, name in enumerate(names))
        (tmp_path / f"{side}.csv").write_text(f"id,name,city\n{rows}")
    files = [str(tmp_path / f"{side}.csv") for side in "ab"]
    run, out = str(tmp_path / "run"), tmp_path / "links.csv"

    def told(*arguments):
        result = CliRunner().invoke(main, [*map(str, arguments)])
        return result.exit_code, result.output

    assert told("align", *files, "-o", run, "--no-audit")[0] == 0
    assert told("convert", run, out, "--with", "name,city")[0] == 0
    table = pl.read_csv(out)
    assert table["left_city"].to_list() == table["right_city"].to_list()
    printed = told("align", *files, "-o", "-", "--no-audit", "--with", "name")[1]
    assert "left_name\tright_name" in printed.splitlines()[0]
    code, text = told("convert", out, tmp_path / "again.csv", "--with", "name")
    assert code == 2
    assert "--with needs a run folder" in text
    code, text = told("align", *files, "-o", out, "--with", "town")
    assert code == 2
    assert "--with must be columns of the inputs, got 'town'" in text
