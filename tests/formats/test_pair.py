"""Two tables of triples as a pair, in every format; and files of links."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import sameas
from folders import (
    GOLD,
    HEADER,
    LEFT,
    RIGHT,
    lines,
    named_triples,
    names_of,
    put,
    table,
    two_tables,
)
from sameas import InputError, OptionError, read_gold, read_graph, read_links, read_pair

FORMATS = [".tsv", ".csv", ".tsv.gz", ".csv.gz", ".tsv.zst", ".csv.zst", ".parquet"]


@pytest.mark.parametrize("header", [None, HEADER], ids=["bare", "header"])
@pytest.mark.parametrize("suffix", FORMATS)
def test_every_format_gives_the_same_pair(tmp_path, suffix, header):
    left = table(tmp_path / f"left{suffix}", LEFT, header=header)
    right = table(tmp_path / f"right{suffix}", RIGHT, header=header)
    pair = read_pair(left, str(right))
    assert named_triples(pair.left) == LEFT
    assert named_triples(pair.right) == RIGHT
    assert pair.gold is None


def test_formats_may_differ_between_the_sides(tmp_path):
    pair = read_pair(
        table(tmp_path / "left.csv.gz", LEFT), table(tmp_path / "right.parquet", RIGHT)
    )
    assert named_triples(pair.left) == LEFT
    assert named_triples(pair.right) == RIGHT


def test_duplicates_and_loops_are_kept_as_they_are(tmp_path):
    rows = [("a", "r", "a"), ("a", "r", "b"), ("a", "r", "b")]
    graph = read_graph(table(tmp_path / "t.tsv", rows))
    assert named_triples(graph) == rows
    assert graph.entities.to_list() == ["a", "b"]


def test_names_from_one_file_for_both_sides(tmp_path):
    names = put(tmp_path / "names.tsv", lines([("fr:Londres", "London"), ("en:London", "LONDON")]))
    pair = read_pair(*two_tables(tmp_path), names=names)
    assert names_of(pair.left)["fr:Londres"] == "London"
    assert names_of(pair.right)["en:London"] == "LONDON"
    assert names_of(pair.right)["en:Lyon"] == "en:Lyon"


def test_names_from_a_file_each(tmp_path):
    one = put(tmp_path / "one.tsv", lines([("fr:Londres", "London"), ("en:London", "no")]))
    other = put(tmp_path / "other.json", json.dumps({"en:London": ["London", "town"]}))
    pair = read_pair(*two_tables(tmp_path), names=[one, other])
    assert names_of(pair.left)["fr:Londres"] == "London"
    assert names_of(pair.right)["en:London"] == "London town"


def test_names_from_uris(tmp_path):
    left, right = two_tables(tmp_path, left=[("http://x.org/Big_Ben", "r", "http://x.org/b")])
    assert read_pair(left, right, names="uri").left.names.to_list() == ["Big Ben", "b"]


def test_names_of_strangers_only_are_refused(tmp_path):
    names = put(tmp_path / "names.tsv", lines([("nobody", "Nobody")]))
    with pytest.raises(InputError, match="none of its entities is in the graphs"):
        read_pair(*two_tables(tmp_path), names=names)


def test_one_of_two_names_files_that_fits_nobody_is_refused(tmp_path):
    one = put(tmp_path / "one.tsv", lines([("fr:Londres", "London")]))
    other = put(tmp_path / "other.tsv", lines([("nobody", "Nobody")]))
    with pytest.raises(InputError, match=r"other\.tsv: none of its entities"):
        read_pair(*two_tables(tmp_path), names=[one, other])


def test_three_names_files_are_too_many(tmp_path):
    names = put(tmp_path / "names.tsv", lines([("fr:Londres", "London")]))
    with pytest.raises(OptionError, match="`names` must be one file or one a side, got 3 instead"):
        read_pair(*two_tables(tmp_path), names=[names] * 3)


def test_an_empty_table_is_refused_by_its_name(tmp_path):
    left, right = two_tables(tmp_path)
    put(right, "")
    with pytest.raises(InputError) as caught:
        read_pair(left, right)
    assert str(caught.value) == f"{right}: holds no triples; a graph needs at least one"


def test_many_triples_are_read(tmp_path):
    count = 300_000
    random = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "head": random.integers(0, 200_000, count),
            "relation": random.integers(0, 200, count),
            "tail": random.integers(0, 200_000, count),
        }
    ).select(pl.format("http://example.org/{}", name).alias(name) for name in HEADER)
    path = tmp_path / "t.tsv"
    frame.write_csv(path, separator="\t", include_header=False)
    graph = read_graph(path)
    assert len(graph.triples) == count


def test_links_have_scores_where_the_file_has_them(tmp_path):
    bare = read_links(put(tmp_path / "bare.tsv", lines(GOLD)))
    assert bare.columns == ["left", "right", "score", "confidence"]
    assert bare["score"].null_count() == len(GOLD)
    full = put(tmp_path / "full.csv", "left,right,confidence,score\na,b,0.5,0.25\n")
    assert read_links(full).rows() == [("a", "b", 0.25, 0.5)]


@pytest.mark.parametrize("suffix", ["", ".txt", ".tsv", ".csv", ".tsv.gz", ".csv.zst", ".parquet"])
def test_gold_links_in_every_format(tmp_path, suffix):
    path = table(tmp_path / f"gold{suffix}", GOLD, header=("left", "right"))
    assert read_gold(path).rows() == GOLD


def test_paths_may_be_text(tmp_path):
    path = str(put(tmp_path / "gold.tsv", lines(GOLD)))
    assert read_gold(path).rows() == GOLD
    assert len(read_links(path)) == len(GOLD)


def test_scores_that_are_no_numbers_are_refused(tmp_path):
    path = put(tmp_path / "links.tsv", "left\tright\tscore\na\tb\t0.5\na\tc\thigh\n")
    with pytest.raises(InputError, match=r':3: a number expected in column "score", found "high"'):
        read_links(path)


def test_duplicated_gold_links_count_once(tmp_path, caplog):
    path = put(tmp_path / "gold.tsv", lines([*GOLD, GOLD[0], GOLD[1]]))
    assert read_gold(path).rows() == GOLD
    assert (
        f'{path}:5: duplicated links count once: 2, the first is "fr:Londres" to "en:London"'
        in caplog.text
    )


def test_an_entity_may_have_two_gold_links(tmp_path):
    path = put(tmp_path / "gold.tsv", lines([("a", "b"), ("a", "c"), ("d", "c")]))
    assert len(read_gold(path)) == 3


def test_only_the_suffix_is_asked_what_a_table_is(tmp_path):
    left, right = two_tables(tmp_path)
    odd = left.rename(tmp_path / "left.docx")
    with pytest.raises(InputError, match=r'suffix "\.docx" is not known'):
        read_pair(odd, right)
    with pytest.raises(InputError, match=r'suffix "\.docx" is not known'):
        read_gold(odd)


def test_one_table_is_no_pair(tmp_path):
    left, _ = two_tables(tmp_path)
    with pytest.raises(InputError, match="two files of triples expected, found one file"):
        read_pair(left)


def test_a_folder_and_a_table_are_no_pair(tmp_path):
    left, _ = two_tables(tmp_path)
    with pytest.raises(InputError, match="is a folder"):
        read_pair(left, sameas.DEMO)


def test_a_side_is_several_tables_or_several_files_of_rdf_but_not_both(tmp_path):
    left, right = two_tables(tmp_path)
    both = read_graph([left, right])
    assert len(both.triples) == len(read_graph(left).triples) + len(read_graph(right).triples)
    assert read_graph(f"{left},{right}").entities.equals(both.entities)
    rdf = put(tmp_path / "a.nt", "<x:a> <x:r> <x:b> .\n")
    with pytest.raises(InputError, match=r"left\.tsv: is no RDF, unlike other files of its side"):
        read_graph([rdf, left])
    with pytest.raises(OptionError, match="at least one file, got none"):
        read_graph([])
