"""Tables of text: formats, headers, blank lines, and errors that name the line."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from folders import put, table
from sameas import InputError
from sameas.errors import shortened
from sameas.formats.files import kind_of, limited
from sameas.formats.tables import read_parquet, read_table, unpacked_bytes

COLUMNS = ("head", "relation", "tail")
ROWS = [("a", "r", "b"), ("b", "s", "c")]


def rows_of(path, columns=COLUMNS, **rest):
    return read_table(path, columns, **rest).select(columns).rows()


def refusal(path, columns=COLUMNS, **rest):
    with pytest.raises(InputError) as caught:
        read_table(path, columns, **rest)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.tsv", ".tsv"),
        ("a.CSV", ".csv"),
        ("a.tsv.gz", ".tsv"),
        ("a.Csv.ZST", ".csv"),
        ("v1.2/triples", ""),
        ("triples_1", ""),
        ("a.gz", ""),
        ("a.b.parquet", ".parquet"),
    ],
)
def test_the_suffix_names_the_kind_compression_aside(name, kind):
    assert kind_of(Path(name)) == kind


@pytest.mark.parametrize("compression", ["", ".gz", ".zst"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("header", [None, COLUMNS])
@pytest.mark.parametrize("kind", [".tsv", ".csv"])
def test_text_is_read_alike_in_every_dress(tmp_path, kind, header, end, compression):
    path = table(tmp_path / f"t{kind}{compression}", ROWS, header=header, end=end)
    assert rows_of(path) == ROWS


def test_parquet_is_read_by_column_name(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"tail": ["b"], "note": ["x"], "head": [1], "relation": ["r"]}).write_parquet(path)
    assert rows_of(path) == [("1", "r", "b")]


def test_lines_are_counted_from_one_with_header_and_blank_lines(tmp_path):
    path = put(tmp_path / "t.tsv", "head\trelation\ttail\na\tr\tb\n\n\nb\ts\tc\n\n")
    assert read_table(path, COLUMNS)["line"].to_list() == [2, 5]


def test_blank_lines_may_come_first(tmp_path):
    for header, first in (("", 3), ("head,relation,tail\n", 4)):
        path = put(tmp_path / "t.csv", f"\n\r\n{header}a,r,b\n\nc,r,d\n")
        assert read_table(path, COLUMNS)["line"].to_list() == [first, first + 2]


def test_a_header_may_have_further_columns_in_any_order_and_case(tmp_path):
    path = put(tmp_path / "t.tsv", "note\tTail\trelation\tHEAD\nx\tb\tr\ta\n")
    assert rows_of(path) == [("a", "r", "b")]


def test_optional_columns_are_kept_where_the_file_has_them(tmp_path):
    path = put(tmp_path / "t.tsv", "left\tright\tscore\tnote\na\tb\t0.5\tx\n")
    found = read_table(path, ("left", "right"), optional=("score", "confidence"))
    assert found.columns == ["left", "right", "score", "line"]


def test_a_first_row_that_only_looks_like_a_header_is_data(tmp_path):
    path = put(tmp_path / "t.tsv", "head\trelation\thead\n")
    assert rows_of(path) == [("head", "relation", "head")]


def test_a_byte_order_mark_is_not_part_of_the_first_cell(tmp_path):
    assert rows_of(put(tmp_path / "a.tsv", "\ufeffa\tr\tb\n")) == [("a", "r", "b")]
    text = "\ufeffhead\trelation\ttail\na\tr\tb\n"
    assert rows_of(put(tmp_path / "b.tsv", text)) == [("a", "r", "b")]


def test_quotes_mean_nothing_in_tab_separated_text(tmp_path):
    path = put(tmp_path / "t.tsv", '"a\tr"\t"b\n')
    assert rows_of(path) == [('"a', 'r"', '"b')]


def test_quotes_hold_separators_and_line_ends_in_csv(tmp_path):
    rows = [('a "b", c', "r", "d\ne"), ("f", "r", "g")]
    assert rows_of(table(tmp_path / "t.csv", rows)) == rows


def test_a_last_line_without_an_end_counts(tmp_path):
    assert rows_of(put(tmp_path / "t.tsv", "a\tr\tb\nb\ts\tc")) == ROWS


@pytest.mark.parametrize("text", ["", "head\trelation\ttail\n", "\n", "\r\n\r\n", "\n\n\n"])
def test_a_file_with_nothing_in_it_is_an_empty_table(tmp_path, text):
    assert rows_of(put(tmp_path / "t.tsv", text)) == []


@pytest.mark.parametrize("name", ["[1].tsv", "a*.tsv", "a?.csv", "{a}.parquet", "[b].parquet"])
def test_a_path_is_never_a_pattern(tmp_path, name):
    table(tmp_path / f"ab{Path(name).suffix}", ROWS)
    assert rows_of(table(tmp_path / name, ROWS[:1])) == ROWS[:1]


cells = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), min_size=1, max_size=8
).filter(lambda cell: cell[0] != "\ufeff")


@given(st.lists(st.tuples(cells, cells, cells), max_size=8))
def test_what_is_written_tab_separated_is_read_again(tmp_path_factory, rows):
    path = table(tmp_path_factory.mktemp("t") / "t.tsv", rows)
    if rows and {"head", "relation", "tail"} == {cell.strip().lower() for cell in rows[0]}:
        return
    assert rows_of(path) == rows


@pytest.mark.parametrize("kind", [".tsv", ".csv"])
@pytest.mark.parametrize(
    ("row", "found"),
    [(("b",), 1), (("b", "s"), 2), (("b", "s", "c", "d"), 4)],
)
@pytest.mark.parametrize("compression", ["", ".gz", ".zst"])
def test_the_line_with_the_wrong_number_of_columns_is_named(
    tmp_path, kind, row, found, compression
):
    path = table(tmp_path / f"t{kind}{compression}", [*ROWS, row, *ROWS])
    separator = "\\t" if kind == ".tsv" else ","
    name = "tab-separated" if kind == ".tsv" else "comma-separated"
    assert refusal(path) == (
        f"{path}:3: 3 {name} columns expected (head, relation, tail), "
        f'found {found}: "{separator.join(row)}"'
    )


def test_the_first_line_may_be_the_wrong_one(tmp_path):
    assert f"{tmp_path}/t.tsv:1: " in refusal(put(tmp_path / "t.tsv", "a\tr\nb\ts\tc\n"))


def test_a_wrong_line_deep_in_the_file_is_found(tmp_path):
    text = "a\tr\tb\n" * 50_000 + "a\tr\n" + "a\tr\tb\n" * 50_000
    assert ":50001: 3 tab-separated columns expected" in refusal(put(tmp_path / "t.tsv", text))


@pytest.mark.parametrize(("row", "found"), [("1\ta\tr", 3), ("1\ta\tr\tb\t5", 5)])
def test_below_a_header_with_further_columns_the_wrong_line_is_named(tmp_path, row, found):
    text = f"note\thead\trelation\ttail\n1\ta\tr\tb\n{row}\n"
    message = refusal(put(tmp_path / "t.tsv", text))
    assert ":3: 4 tab-separated columns expected" in message
    assert f"found {found}" in message


def test_below_a_header_with_further_columns_an_empty_cell_is_named(tmp_path):
    text = "note\thead\trelation\ttail\n1\ta\tr\tb\n1\ta\t\tb\n"
    assert ':3: column "relation" is empty' in refusal(put(tmp_path / "t.tsv", text))


def test_after_a_cell_of_two_lines_the_line_of_the_file_is_named(tmp_path):
    text = 'a,r,"b\nc"\nd,r\n'
    assert ":3: 3 comma-separated columns expected" in refusal(put(tmp_path / "t.csv", text))


@pytest.mark.parametrize("text", ["a\tr\tb\na\t\tb\n", "a\tr\tb\n\tr\tb\n", "a\tr\tb\na\tr\t\n"])
def test_an_empty_cell_is_refused_with_its_line(tmp_path, text):
    message = refusal(put(tmp_path / "t.tsv", text))
    assert message.startswith(f"{tmp_path}/t.tsv:2: column ")
    assert "is empty" in message


def test_an_empty_cell_in_quotes_is_refused_too(tmp_path):
    assert "is empty" in refusal(put(tmp_path / "t.csv", 'a,r,b\na,r,""\n'))


def test_an_unclosed_quote_is_refused(tmp_path):
    assert refusal(put(tmp_path / "t.csv", 'a,r,b\n"a,r,b\nc,r,d\n')).startswith(f"{tmp_path}/")


@pytest.mark.parametrize("kind", [".tsv", ".csv"])
@pytest.mark.parametrize("compression", ["", ".gz", ".zst"])
def test_text_that_is_not_utf8_is_refused_with_its_line(tmp_path, kind, compression):
    separator = b"\t" if kind == ".tsv" else b","
    rows = [b"a", b"r", b"b"], [b"a", b"r", "é".encode("latin1")]
    path = put(
        tmp_path / f"t{kind}{compression}", b"".join(separator.join(r) + b"\n" for r in rows)
    )
    assert refusal(path) == f"{path}:2: not UTF-8 text; convert the file to UTF-8"


def test_a_replacement_character_before_the_broken_line_is_not_blamed(tmp_path):
    path = put(tmp_path / "t.tsv", "a\tr\t\ufffd\n".encode() + b"a\tr\t\xe9\n")
    assert refusal(path).startswith(f"{path}:2: not UTF-8")


def test_a_unit_separator_does_not_hide_the_wrong_line(tmp_path):
    path = put(tmp_path / "t.tsv", "a\x1fb\tr\tc\na\tr\n")
    assert refusal(path).startswith(f"{path}:2: 3 tab-separated columns expected")


def test_messages_stay_on_one_line_and_hold_no_control_characters(tmp_path):
    path = put(tmp_path / "t.tsv", "a\tr\tb\rc\tr\td\r\x1b[31m\x07\n")
    assert refusal(path).isprintable()


def test_long_lines_are_cut_in_messages(tmp_path):
    path = put(tmp_path / "t.tsv", "a\tr\tb\n" + "x" * 100_000 + "\n")
    assert len(refusal(path)) < 200 + len(str(path))


def test_a_compressed_file_that_was_cut_short_is_refused(tmp_path):
    path = table(tmp_path / "t.tsv.gz", [(f"a{i}", "r", f"b{i * i}") for i in range(5_000)])
    path.write_bytes(path.read_bytes()[:-100])
    assert "is the file whole?" in refusal(path)


def test_parquet_that_is_none_is_refused(tmp_path):
    assert "not a readable Parquet file" in refusal(put(tmp_path / "t.parquet", "a\tr\tb\n"))
    assert "not a readable Parquet file" in refusal(put(tmp_path / "e.parquet", ""))


def test_parquet_with_other_columns_is_refused(tmp_path):
    path = table(tmp_path / "t.parquet", ROWS, header=("x", "y", "z"))
    assert refusal(path) == (
        f"{path}: columns head, relation, tail expected, found x, y, z; rename them"
    )


def test_a_hole_in_parquet_is_refused_with_its_row(tmp_path):
    path = table(tmp_path / "t.parquet", [("a", "r", "b"), ("a", None, "b")])
    wanted = 'row 2: column "relation" is empty; fill it or leave the row out'
    assert refusal(path) == f"{path}: {wanted}"


def test_an_empty_text_in_parquet_is_refused_as_in_other_formats(tmp_path):
    path = table(tmp_path / "t.parquet", [("a", "r", "b"), ("a", "", "b")])
    assert "row 2" in refusal(path)


@pytest.mark.parametrize("column", [[[1]], [b"\xff"]], ids=["list", "bytes"])
def test_parquet_columns_that_are_no_text_are_refused(tmp_path, column):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"head": ["a"], "relation": column, "tail": ["b"]}).write_parquet(path)
    assert "relation" in refusal(path)


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path):
    assert refusal(tmp_path / "t.tsv") == f"{tmp_path}/t.tsv: no such file; check the path"
    assert refusal(tmp_path) == f"{tmp_path}: is a folder where a file is expected"


def test_numbers_and_integers_name_the_line_of_the_first_wrong_one(tmp_path):
    path = put(tmp_path / "t.tsv", "1\t0.5\n\n2x\t0.25\n3\ty\n")
    with pytest.raises(InputError, match=r':4: a number expected in column "score", found "y"'):
        read_table(path, ("id", "score"))
    with pytest.raises(InputError, match=r':3: a whole number expected in column "id", found "2x"'):
        read_table(path, ("id", "name"), integers=("id",))
    found = read_table(put(path, "1\t0.5\n"), ("id", "score"), integers=("id",))
    assert found.rows() == [(1, 0.5, 1)]


@given(st.text(max_size=300))
def test_shortened_text_is_short_and_on_one_line(text):
    assert len(shortened(text, 50)) <= 50
    assert "\n" not in shortened(text)
    assert "\t" not in shortened(text)


@pytest.mark.parametrize(
    "header", ["Subject\tPredicate\tObject", "s\tp\to", "source\trelation\ttarget"]
)
def test_usual_names_of_columns_are_headers_too(tmp_path, header):
    file = tmp_path / "t.tsv"
    file.write_text(f"{header}\na\tr\tb\n")
    table = read_table(file, ("head", "relation", "tail"))
    assert table.rows() == [("a", "r", "b", 2)]


def test_a_field_that_csv_cannot_hold_is_said_with_its_line(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text('a,r,b\nc,r,"' + "x" * 200_000 + "\n")
    with pytest.raises(InputError, match=r"t\.csv:2: cannot be read as CSV .* quote left open"):
        read_table(file, ("head", "relation", "tail"))


@pytest.mark.parametrize("suffix", [".tsv", ".csv"])
@pytest.mark.parametrize(
    ("cells", "both"),
    [
        (("head", "relation", "tail", "note", "note"), 'columns 4 and 5 are the same, "note" and'),
        (("head", "relation", "tail", "Head"), 'columns 1 and 4 are the same, "head" and "Head"'),
        (("subject", "p", "o", "source"), 'columns 1 and 4 are the same, "subject" and "source"'),
    ],
)
def test_a_column_twice_is_refused(tmp_path, suffix, cells, both):
    path = table(tmp_path / f"x{suffix}", [cells, ["a"] * len(cells)])
    assert refusal(path).startswith(f"{path}:1: {both}")


@pytest.mark.parametrize("rows", [0, 1, 5000])
def test_the_footer_tells_the_size_of_a_parquet_file_unpacked(rows):
    buffer = io.BytesIO()
    pl.DataFrame({"a": ["x" * 1000] * rows, "b": [str(i) for i in range(rows)]}).write_parquet(
        buffer, row_group_size=1000, use_pyarrow=False
    )
    groups = pq.ParquetFile(buffer).metadata
    expected = sum(groups.row_group(i).total_byte_size for i in range(groups.num_row_groups))
    assert unpacked_bytes(buffer.getvalue()) == expected


@pytest.mark.parametrize("times", [1, 300])
def test_one_long_text_in_a_small_parquet_file_is_refused(tmp_path, times):
    long = ["x" * (3_000_000 // times)] * times
    pl.DataFrame({"a": long, "b": ["y"] * times}).write_parquet(tmp_path / "t.parquet")
    assert (tmp_path / "t.parquet").stat().st_size < 100_000
    with limited(1_000_000), pytest.raises(InputError, match="max"):
        read_parquet(tmp_path / "t.parquet")


def test_a_parquet_file_without_texts_is_read(tmp_path):
    pl.DataFrame({"a": [1, 2]}).write_parquet(tmp_path / "t.parquet")
    assert read_parquet(tmp_path / "t.parquet")["a"].to_list() == [1, 2]
