"""Tables in which a row is an entity: what a table holds, ids, names, keys, and every format."""

from __future__ import annotations

import json
import zipfile

import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import sameas
from folders import named_triples
from sameas import Graph, InputError, OptionError, Reading, read_graph
from sameas.cli.main import main
from sameas.formats.table_kind import kind_of_header
from sameas.graph.record_values import text_columns
from sameas.graph.records import find_id, find_name

LEFT = [
    {"id": "r1", "name": "Chez Panisse", "city": "Berkeley", "stars": 1, "price": 80.5},
    {"id": "r2", "name": "The French Laundry", "city": "Yountville", "stars": 3, "price": 300.0},
    {"id": "r3", "name": "Zuni Cafe", "city": "San Francisco", "stars": None, "price": None},
]
RIGHT = [
    {"key": "a", "title": "Cafe Zuni", "town": "San Francisco", "rating": None},
    {"key": "b", "title": "French Laundry", "town": "Yountville", "rating": 3},
    {"key": "c", "title": "Chez Panisse Restaurant", "town": "Berkeley", "rating": 1},
]
WORDS = st.sampled_from(["city", "name", "phone", "price", "year", "Straße", "notes"])


@given(st.permutations(["head", "relation", "tail"]), st.lists(WORDS, unique=True))
def test_a_header_of_triples_is_known_in_any_order_and_case(names, further):
    header = [name.upper() for name in names] + further
    assert kind_of_header(header) == "triples"


@given(st.lists(WORDS, unique=True, min_size=1), st.sampled_from(["id", "ID", "person_id", "uri"]))
def test_other_columns_beside_an_id_are_records_never_triples(columns, id):
    assert kind_of_header([*columns, id]) == "records"
    assert kind_of_header(columns) is None


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        ("s p o", "triples"),
        ("target relation source", "triples"),
        (":START_ID :END_ID :TYPE", "edges"),
        ("source target weight", "edges"),
        (":ID name :LABEL", "nodes"),
        ("id name city", "records"),
        ("name city phone", None),
    ],
)
def test_headers(header, kind):
    assert kind_of_header(header.split()) == kind


def written(folder):
    """The left records in every format, by suffix."""
    frame = pl.DataFrame(LEFT)
    frame.write_csv(folder / "left.csv")
    frame.write_csv(folder / "semicolons.csv", separator=";")
    frame.write_csv(folder / "left.tsv", separator="\t")
    frame.write_parquet(folder / "left.parquet")
    frame.write_ndjson(folder / "left.jsonl")
    (folder / "left.json").write_text(json.dumps(LEFT), encoding="utf8")
    workbook(folder / "left.xlsx", LEFT)
    return [path for path in sorted(folder.iterdir()) if path.is_file()]


def workbook(path, rows):
    """Write rows as the least that is an Excel workbook."""
    cells = [list(rows[0]), *(list(row.values()) for row in rows)]

    def cell(value):
        if value is None:
            return "<c/>"
        if isinstance(value, str):
            return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
        return f"<c><v>{value}</v></c>"

    body = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in cells)
    main_space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    relations = "http://schemas.openxmlformats.org/package/2006/relationships"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    types = "http://schemas.openxmlformats.org/package/2006/content-types"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{types}"><Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/xl/sheet.xml" ContentType="{kind}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{relations}"><Relationship Id="r" '
        f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main_space}" xmlns:r="{office}"><sheets>'
        '<sheet name="people" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{relations}"><Relationship Id="r1" '
        f'Type="{office}/worksheet" Target="sheet.xml"/></Relationships>',
        "xl/sheet.xml": f'<worksheet xmlns="{main_space}"><sheetData>{body}</sheetData>'
        "</worksheet>",
    }
    with zipfile.ZipFile(path, "w") as file:
        for name, text in parts.items():
            file.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{text}')


def said_of(graph):
    """What a graph says of its entities; "300" and "300.0" are one number."""
    rows = graph.attributes.select("entity", "attribute", "value").rows()
    return sorted((entity, key, value.removesuffix(".0")) for entity, key, value in rows)


def test_the_same_records_in_every_format_are_the_same_graph(tmp_path):
    pytest.importorskip("fastexcel")
    graphs = {path.name: read_graph(path) for path in written(tmp_path)}
    frame = pl.DataFrame(LEFT)
    given = {"polars": frame, "pandas": pd.DataFrame(LEFT), "arrow": frame.to_arrow()}
    given |= {"lazy": frame.lazy(), "dicts": LEFT, "columns": frame.to_dict(as_series=False)}
    graphs |= {kind: Graph.from_records(data) for kind, data in given.items()}
    for kind, graph in graphs.items():
        assert said_of(graph) == said_of(graphs["left.csv"]), kind
        assert graph.entities.to_list() == ["r1", "r2", "r3"], kind
        assert (graph.shape, graph.reading.id, graph.reading.name) == (
            "records",
            ("id",),
            ("name",),
        )


def test_files_and_data_frames_give_the_same_links(tmp_path):
    paths = tmp_path / "left.parquet", tmp_path / "right.jsonl"
    pl.DataFrame(LEFT).write_parquet(paths[0])
    pl.DataFrame(RIGHT).write_ndjson(paths[1])
    links = [
        sameas.align(*map(str, paths)).links,
        sameas.align(pd.DataFrame(LEFT), RIGHT).links,
        sameas.align(pl.DataFrame(LEFT), RIGHT, id=("id", "key"), name=("name", "title")).links,
    ]
    expected = [("r1", "c"), ("r2", "b"), ("r3", "a")]
    assert [sorted(each["left", "right"].rows()) for each in links] == [expected] * 3
    assert links[0].equals(links[1])


def test_equal_ids_of_two_tables_are_not_the_same_thing():
    left = [{"id": n, "name": name} for n, name in enumerate(("Rome", "Paris", "Vienna"))]
    right = [{"id": n, "name": name} for n, name in enumerate(("Vienna", "Rome", "Paris"))]
    links = sameas.align(left, right).links
    assert sorted(links["left", "right"].rows()) == [("0", "1"), ("1", "2"), ("2", "0")]


def test_numbers_are_written_as_in_text():
    frame = pl.DataFrame(
        {"n": [1.0, 2.5, float("nan")], "i": [1, 2, None], "b": [True, False, None]}
    )
    assert text_columns(frame).rows() == [("1", "1", "true"), ("2.5", "2", "false"), (None,) * 3]


def test_ids_and_names():
    rows = pl.DataFrame(
        {"record": ["x1", "x2"], "title": ["Mr", "Mr"], "id": ["7", "8"], "label": ["A b", "C d"]}
    )
    assert (find_id(rows), find_name(rows)) == ("id", "title")
    assert find_id(rows.drop("id")) == "record"
    assert find_id(rows.select("title")) is None
    people = pl.DataFrame({"given_name": ["Ann"], "surname": ["Lee"], "name": ["x"]})
    assert find_name(people) is None  # parts make a name together


def test_a_folder_of_tables_is_a_graph(tmp_path, caplog):
    for name, text in {
        "employees": "id,name,manager_id,department_id,age\n1,Ann,,1,2\n2,Bo,1,1,1\n3,Cy,1,2,3\n",
        "departments": "id,title\n1,Sales\n2,Research\n",
        "assists": "employee_id,department_id,since\n1,2,2001\n2,2,2002\n",
    }.items():
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf8")
    graph = read_graph(tmp_path)
    between = [one for one in named_triples(graph) if not one[2].startswith("urn:type/")]
    assert between == [
        ("employees/2", "manager_id", "employees/1"),
        ("employees/3", "manager_id", "employees/1"),
        ("employees/1", "department_id", "departments/1"),
        ("employees/2", "department_id", "departments/1"),
        ("employees/3", "department_id", "departments/2"),
        ("employees/1", "assists", "departments/2"),
        ("employees/2", "assists", "departments/2"),
    ]
    assert "age" in graph.attributes["attribute"]  # small numbers meet ids by chance
    assert "what else they say is left out: since" in caplog.text
    assert len(graph.types) == 5


def test_several_columns_make_a_name(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("id,given,surname\n1,Ann,Lee\n2,Bo,\n", encoding="utf8")
    graph = read_graph(path, reading=Reading(name=("given", "surname")))
    assert graph.names.to_list() == ["Ann Lee", "Bo"]


def test_columns_for_each_side():
    reading = Reading(id=("left=nr", "right=key"), name=("title",))
    assert [reading.for_side(n).id for n in (0, 1)] == [("nr",), ("key",)]
    assert reading.for_side(1).name == ("title",)


def test_rows_without_ids_are_numbered_when_asked(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("name,city\nAnn Lee,Rome\nAnn Lee,Rome\n", encoding="utf8")
    assert read_graph(path, reading=Reading(table="records")).entities.to_list() == ["1", "2"]


WRONG = [
    ("p.csv", "name,city\nAnn,Rome\nAnn,Rome\n", [], "has the columns name, city"),
    (
        "p.csv",
        "id,name\n1,Ann\n1,Bo\n",
        ["--id", "id"],
        ':3: id "1" of column "id" stands in row 1',
    ),
    ("p.csv", "id,name\n1,Ann\n,Bo\n", ["--id", "id"], ':3: no id in column "id"'),
    ("p.csv", "id,name\n1,Ann\n2\n", [], ":3: 2 comma-separated columns expected (id, name)"),
    ("p.csv", "id,name\n1,Ann,x\n", [], ":2: 2 comma-separated columns expected"),
    ("p.csv", "id,id\n1,2\n", [], "columns 1 and 2 are the same"),
    ("p.csv", "id,name\n1,Ann\n", ["--name", "title"], 'no column "title"; the columns are id'),
    ("p.csv", "id,name\n", [], "holds no records"),
    ("p.jsonl", '{"id": 1}\n[2]\n', [], ":2: an object with values by column expected"),
    ("p.jsonl", '{"id": 1}\n{"id":\n', [], ":2: one JSON object a line expected"),
    ("p.json", "[1]", [], "row 1: an object with values by column expected"),
    ("p.xlsx", "no workbook", [], "not a readable Excel workbook"),
]


@pytest.mark.parametrize(("name", "text", "options", "message"), WRONG)
def test_what_cannot_be_records_is_refused_in_one_sentence(tmp_path, name, text, options, message):
    (tmp_path / name).write_text(text, encoding="utf8")
    result = CliRunner().invoke(main, ["inspect", str(tmp_path / name), *options])
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1), result.stderr
    assert message in result.stderr


@pytest.mark.parametrize(
    "data",
    [5, [5], ["a", 5], [("a", "b")], {"id": "x"}, {"id": [1], "name": [1, 2]}, [{1}], object()],
)
def test_what_is_no_table_is_an_option_error(data):
    with pytest.raises(OptionError, match="`left`"):
        sameas.align(data, RIGHT)


def test_addresses_of_the_web_say_what_to_write():
    with pytest.raises(InputError, match=r"write sparql\+http://example\.org/sparql"):
        read_graph("http://example.org/sparql")


def test_links_on_standard_output_and_gold_with_a_header(tmp_path, caplog):
    paths = [tmp_path / "left.csv", tmp_path / "right.csv"]
    for path, rows in zip(paths, (LEFT, RIGHT), strict=True):
        pl.DataFrame(rows).write_csv(path)
    printed = CliRunner().invoke(main, ["align", *map(str, paths), "-o", "-"])
    assert printed.stdout.splitlines()[0] == "left\tright\tscore\tconfidence"
    assert len(printed.stdout.splitlines()) == 4
    both = CliRunner().invoke(main, ["align", *map(str, paths), "-o", "-", "--json"])
    assert (both.exit_code, both.stdout) == (2, "")
    links, gold = tmp_path / "links.tsv", tmp_path / "gold.csv"
    links.write_text(printed.stdout, encoding="utf8")
    gold.write_text("idLeft,idRight\nr1,c\nr2,b\nr3,a\n", encoding="utf8")
    judged = CliRunner().invoke(main, ["evaluate", str(links), str(gold), "--json"])
    assert json.loads(judged.stdout)["gold_links"] == 3
    assert "the first row was read as a header" in judged.stderr


def test_inspect_lists_the_columns(tmp_path):
    path = tmp_path / "left.csv"
    pl.DataFrame(LEFT).write_csv(path)
    shown = json.loads(CliRunner().invoke(main, ["inspect", str(path), "--json"]).stdout)
    columns = shown["graphs"][str(path)]["columns"]
    assert columns[0] == {"column": "id", "filled": 3, "distinct": 3, "role": "id"}
    assert {one["column"]: one["role"] for one in columns}["name"] == "name"
    assert {one["column"]: one["filled"] for one in columns}["stars"] == 2


def test_a_header_that_says_nothing_is_shown_where_a_cell_is_empty(tmp_path):
    (tmp_path / "t.csv").write_text("foo,bar,baz\nx,,z\ny,b,x\n")
    with pytest.raises(
        InputError, match=r"has the columns foo, bar, baz, .*`table` triples .*edges"
    ):
        sameas.read_graph(tmp_path / "t.csv")


def test_a_first_row_that_stands_again_is_no_header(tmp_path):
    (tmp_path / "t.tsv").write_text("a\tr\tb\nc\tr\td\na\tr\tb\n")
    graph = sameas.read_graph(tmp_path / "t.tsv")
    assert graph.entities.to_list() == ["a", "b", "c", "d"]
    assert (len(graph.triples), len(graph.distinct_triples)) == (3, 2)
    (tmp_path / "u.tsv").write_text("a\tr\tb\nc\tr\td\nc\tr\td\n")
    with pytest.raises(InputError, match="has the columns a, r, b"):
        sameas.read_graph(tmp_path / "u.tsv")
