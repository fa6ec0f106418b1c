"""Input that cannot be used ends in one clear line; input that is merely odd does not."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import sameas
from folders import (
    GOLD,
    LABEL,
    LEFT,
    RIGHT,
    contents,
    dbp15k,
    lines,
    openea,
    put,
    table,
    two_tables,
)
from sameas.cli.main import main
from sameas.formats import files

LATIN1 = "é".encode("latin1")


def invoke(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def tree(folder):
    """All files with their bytes, and all folders."""
    return contents(folder), sorted(path for path in folder.rglob("*") if path.is_dir())


def refused(folder, arguments, *fragments):
    """The message of a command that must end with exit code 2 and change nothing below folder."""
    before = tree(folder)
    result = invoke(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("sameas: ")
    assert result.stderr.endswith("\n")
    message = result.stderr.removeprefix("sameas: ").removesuffix("\n")
    assert message.isprintable(), message
    assert len(message) < 600, "a message is to be read at a glance"
    assert "Traceback" not in message
    for fragment in fragments:
        assert str(fragment) in message
    assert tree(folder) == before
    return message


def refused_by_align(folder, arguments, *fragments):
    """Refused without an output, beside an earlier table and over an earlier run."""
    refused(folder, ["align", *arguments, "-o", folder / "links.tsv"], *fragments)
    put(folder / "links.tsv", "earlier\n")
    refused(folder, ["align", *arguments, "-o", folder / "links.tsv"], *fragments)
    (folder / "run").mkdir()
    put(folder / "run" / "run.json", "{}")
    return refused(folder, ["align", *arguments, "-o", folder / "run", "--json"], *fragments)


# Files that are not there, or are something else


def test_a_missing_file(tmp_path):
    left, _ = two_tables(tmp_path)
    missing = tmp_path / "missing.tsv"
    refused_by_align(tmp_path, [left, missing], f"{missing}: no such file; check the path")


def test_a_missing_folder(tmp_path):
    missing = tmp_path / "missing"
    refused_by_align(tmp_path, [missing], f"{missing}: no such file or folder; check the path")


def test_a_folder_in_no_known_layout(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    put(folder / "readme.txt", "x")
    refused_by_align(
        tmp_path, [folder], f"{folder}: not a known layout: found readme.txt", "triples_1 and"
    )


def test_a_folder_of_many_files_in_no_known_layout(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(100):
        put(folder / f"file{number:03}", "x")
    refused_by_align(tmp_path, [folder], "not a known layout: found file000, ")


def test_one_file_instead_of_two(tmp_path):
    left, _ = two_tables(tmp_path)
    refused_by_align(tmp_path, [left], f"{left}: ", "two files of triples expected, found one file")


def test_three_inputs(tmp_path):
    left, right = two_tables(tmp_path)
    refused_by_align(tmp_path, [left, right, left], "LEFT and RIGHT expected, got 3 paths instead")


def test_two_folders(tmp_path):
    folder = openea(tmp_path / "pair")
    refused_by_align(tmp_path, [folder, folder], f"{folder}: is a folder", "two files of triples")


def test_a_suffix_that_is_not_known(tmp_path):
    left, right = two_tables(tmp_path)
    odd = left.rename(tmp_path / "left.xlsx")
    refused_by_align(
        tmp_path, [odd, right], f'{odd}: suffix ".xlsx" is not known', ".tsv, .csv, .parquet"
    )


@contextlib.contextmanager
def ordinary_user(folder):
    """In the block, permissions count, also for root; only above a folder they are lifted."""
    if not hasattr(os, "seteuid"):
        pytest.skip("no users on this system")
    for parent in [folder, *folder.parents][:-2]:
        parent.chmod(0o755)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.mark.parametrize("locked", ["folder", "folder/graph.tsv", "folder/graph.nt", "folder/run"])
def test_what_may_not_be_read(tmp_path, locked):
    folder = tmp_path / "folder"
    (folder / "run").mkdir(parents=True)
    put(folder / "run" / "run.json", "{}")
    table(folder / "graph.tsv", LEFT)
    put(folder / "graph.nt", "<a:a> <a:r> <a:b> .\n")
    commands = {
        "folder": [["inspect", folder], ["inspect", folder / "graph.tsv"], ["align", folder]],
        "folder/run": [["evaluate", folder / "run", folder / "graph.tsv"]],
    }.get(locked, [["inspect", tmp_path / locked]])
    for command in commands:
        command += ["-o", tmp_path / "o.tsv"] if command[0] == "align" else []
        invoke(*command)  # imports what an ordinary user may not be able to read
        (tmp_path / locked).chmod(0)
        with ordinary_user(tmp_path):
            result = invoke(*command)
        (tmp_path / locked).chmod(0o755)
        assert result.exit_code == 2, result.output
        assert result.stderr.startswith(f"sameas: {folder}")
        assert "Permission denied" in result.stderr


# Tables


@pytest.mark.parametrize("row", [("a",), ("a", "r"), ("a", "r", "b", "c")], ids=len)
@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".tsv.gz", ".csv.zst"])
def test_a_line_with_the_wrong_number_of_columns(tmp_path, suffix, row):
    left, right = two_tables(tmp_path, left=[*LEFT, row], suffix=suffix)
    refused_by_align(
        tmp_path, [left, right], f"{left}:5: 3 ", "columns expected", f"found {len(row)}: "
    )


@pytest.mark.parametrize("file", ["triples_1", "ent_ids_2", "ref_ent_ids", "rel_ids_1"])
@pytest.mark.parametrize("line", ["7", "1\t2\t3\t4\t5"])
def test_a_line_with_the_wrong_number_of_columns_in_a_benchmark_folder(tmp_path, file, line):
    folder = dbp15k(tmp_path / "pair")
    with (folder / file).open("a") as stream:
        stream.write(line + "\n")
    number = len((folder / file).read_text().splitlines())
    refused_by_align(
        tmp_path, [folder], f"{folder}/{file}:{number}: ", "columns expected", "found "
    )


@pytest.mark.parametrize("file", ["ent_ids_1", "rel_ids_2", "triples_1", "ref_ent_ids"])
@pytest.mark.parametrize("number", ["x7", "7.5", "0x7", "9" * 30])
def test_an_id_that_is_no_whole_number(tmp_path, file, number):
    folder = dbp15k(tmp_path / "pair")
    old = (folder / file).read_text().splitlines()
    put(folder / file, "\n".join([old[0], number + old[1][old[1].index("\t") :], *old[2:]]) + "\n")
    refused_by_align(
        tmp_path, [folder], f"{folder}/{file}:2: a whole number expected", f'found "{number}"'
    )


@pytest.mark.parametrize(("file", "what"), [("triples_1", "head"), ("triples_2", "head")])
def test_a_triple_of_an_entity_in_no_entity_file(tmp_path, file, what):
    folder = dbp15k(tmp_path / "pair")
    lines_before = (folder / file).read_text()
    tail = lines_before.split("\n")[0].split("\t")[1:]
    put(folder / file, lines_before + "\t".join(["77777", *tail]) + "\n")
    entities = file.replace("triples", "ent_ids")
    refused_by_align(
        tmp_path, [folder], f"{folder}/{file}:5: {what} 77777 is not in {entities}; add it there"
    )


@pytest.mark.parametrize("suffix", ["tsv", "csv", "tsv.gz", "tsv.zst"])
@pytest.mark.parametrize("content", ["", "\n", "\n\n\n", "\ufeff"], ids=repr)
def test_an_empty_graph(tmp_path, suffix, content):
    left, _ = two_tables(tmp_path)
    right = put(tmp_path / f"empty.{suffix}", content)
    refused_by_align(
        tmp_path, [left, right], f"{right}: holds no triples; a graph needs at least one"
    )


def test_an_empty_graph_in_parquet(tmp_path):
    left, _ = two_tables(tmp_path)
    right = table(tmp_path / "right.parquet", [])
    refused_by_align(tmp_path, [left, right], f"{right}: holds no triples")


@pytest.mark.parametrize("layout", [dbp15k, openea])
def test_an_empty_graph_in_a_benchmark_folder(tmp_path, layout):
    folder = layout(tmp_path / "pair", right=[], gold=None)
    refused_by_align(tmp_path, [folder], f"{folder}", "holds no triples")


# Not UTF-8


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".tsv.gz", ".csv.gz", ".tsv.zst"])
def test_triples_that_are_not_utf8(tmp_path, suffix):
    left, right = two_tables(tmp_path)
    comma = b"," if "csv" in suffix else b"\t"
    broken = put(
        tmp_path / f"broken{suffix}", comma.join([b"a", b"r", b"b\n"]) + comma.join([LATIN1] * 3)
    )
    refused_by_align(tmp_path, [broken, right], f"{broken}:2: not UTF-8 text; convert")
    assert left.exists()


@pytest.mark.parametrize(
    "file", ["ent_ids_1", "rel_ids_2", "triples_1", "ref_ent_ids", "sup_ent_ids"]
)
def test_a_dbp15k_file_that_is_not_utf8(tmp_path, file):
    folder = dbp15k(tmp_path / "pair", gold=GOLD[:2], supervised=GOLD[2:])
    (folder / file).write_bytes((folder / file).read_bytes() + LATIN1 + b"\t1\n")
    refused_by_align(tmp_path, [folder], f"{folder}/{file}:", ": not UTF-8 text; convert the file")


@pytest.mark.parametrize("file", ["rel_triples_1", "attr_triples_2", "ent_links"])
def test_an_openea_file_that_is_not_utf8(tmp_path, file):
    attributes = [("fr:Paris", LABEL, "Paris")], [("en:Paris", LABEL, "Paris")]
    folder = openea(tmp_path / "pair", attributes=attributes)
    (folder / file).write_bytes((folder / file).read_bytes() + LATIN1 + b"\t1\n")
    refused_by_align(tmp_path, [folder], f"{folder}/{file}:", ": not UTF-8 text; convert the file")


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".json", ".tsv.gz"])
def test_names_that_are_not_utf8(tmp_path, suffix):
    text = {".csv": 'fr:Paris,"é"', ".json": '{"fr:Paris":\n"é"}'}.get(suffix, "fr:Paris\té")
    names = put(tmp_path / f"names{suffix}", text.encode("latin1"))
    refused_by_align(
        tmp_path,
        [*two_tables(tmp_path), "--names", names],
        f"{names}:",
        ": not UTF-8 text; convert",
    )


@pytest.mark.parametrize("suffix", [".txt", ".txt.gz"])
def test_word_vectors_that_are_not_utf8(tmp_path, suffix):
    vectors = put(tmp_path / f"vectors{suffix}", b"paris 1 2\n" + LATIN1 + b" 1 2\n")
    refused_by_align(
        tmp_path,
        [*two_tables(tmp_path), "--features", "word", "--word-vectors", vectors],
        f"{vectors}:2: not UTF-8 text; convert",
    )


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".tsv.gz"])
def test_links_that_are_not_utf8(tmp_path, suffix):
    comma = b"," if "csv" in suffix else b"\t"
    links = put(tmp_path / f"found{suffix}", comma.join([b"a", b"b\n"]) + comma.join([LATIN1] * 2))
    good = put(tmp_path / "good.tsv", "a\tb\n")
    fragment = f"{links}:2: not UTF-8 text; convert"
    refused(tmp_path, ["evaluate", links, good], fragment)
    refused(tmp_path, ["evaluate", good, links], fragment)
    refused(tmp_path, ["convert", links, tmp_path / "out.csv"], fragment)
    refused_by_align(tmp_path, [*two_tables(tmp_path), "--among", links], fragment)


def test_no_match_that_is_not_utf8(tmp_path):
    good = put(tmp_path / "good.tsv", "a\tb\n")
    nobody = put(tmp_path / "nobody.txt", b"c\n" + LATIN1)
    refused(tmp_path, ["evaluate", good, good, "--no-match", nobody], f"{nobody}:2: not UTF-8 text")


# Compression and Parquet


@pytest.mark.parametrize("keep", [-4, 0.5, 12], ids=["end", "half", "start"])
def test_gzip_that_was_cut_short(tmp_path, keep):
    rows = [(f"a{i}", "r", f"b{i * i}") for i in range(3000)]
    left, right = two_tables(tmp_path, left=rows, suffix=".tsv.gz")
    data = left.read_bytes()
    left.write_bytes(data[: int(len(data) * keep) if isinstance(keep, float) else keep])
    refused_by_align(tmp_path, [left, right], f"{left}: ", "is the file whole?")


def test_gzip_with_a_broken_byte(tmp_path):
    rows = [(f"a{i}", "r", f"b{i * i}") for i in range(3000)]
    left, right = two_tables(tmp_path, left=rows, suffix=".tsv.gz")
    data = bytearray(left.read_bytes())
    data[len(data) // 2] ^= 0xFF
    left.write_bytes(data)
    refused_by_align(tmp_path, [left, right], f"{left}:")


def test_zstandard_that_was_cut_short(tmp_path):
    rows = [(f"a{i}", "r", f"b{i * i}") for i in range(30_000)]
    left, right = two_tables(tmp_path, left=rows, suffix=".tsv.zst")
    left.write_bytes(left.read_bytes()[:300_000])
    refused_by_align(tmp_path, [left, right], f"{left}: ", "is the file whole?")


@pytest.mark.parametrize("suffix", [".txt.gz"])
def test_word_vectors_that_were_cut_short(tmp_path, suffix):
    text = "".join(f"word{i} {i} {i * i}\n" for i in range(3000))
    vectors = tmp_path / f"vectors{suffix}"
    vectors.write_bytes(gzip.compress(text.encode())[:-500])
    refused_by_align(
        tmp_path,
        [*two_tables(tmp_path), "--features", "word", "--word-vectors", vectors],
        f"{vectors}: ",
        "is the file whole?",
    )


@pytest.mark.parametrize("content", [b"", b"PAR1", b"head\trelation\ttail\n" * 10], ids=repr)
def test_parquet_that_is_none(tmp_path, content):
    _, right = two_tables(tmp_path)
    left = put(tmp_path / "left.parquet", content)
    refused_by_align(tmp_path, [left, right], f"{left}: not a readable Parquet file")


def test_parquet_that_was_cut_short(tmp_path):
    left, right = two_tables(tmp_path, suffix=".parquet")
    left.write_bytes(left.read_bytes()[:-20])
    refused_by_align(tmp_path, [left, right], f"{left}: not a readable Parquet file")


def test_parquet_with_other_columns(tmp_path):
    _, right = two_tables(tmp_path)
    left = table(tmp_path / "left.parquet", LEFT, header=("x", "y", "z"))
    refused_by_align(
        tmp_path,
        [left, right],
        f"{left}: columns head, relation, tail expected, found x, y, z; rename",
    )


def test_parquet_with_a_column_of_lists(tmp_path):
    _, right = two_tables(tmp_path)
    left = tmp_path / "left.parquet"
    pl.DataFrame({"head": ["a"], "relation": [["r"]], "tail": ["b"]}).write_parquet(left)
    refused_by_align(tmp_path, [left, right], f"{left}: ", "relation")


@pytest.mark.parametrize(
    ("column", "kind"), [("tail", pl.Duration("us")), ("tail", pl.Binary), ("score", pl.Time)]
)
def test_parquet_with_values_that_are_neither_text_nor_numbers(tmp_path, column, kind):
    names = ("left", "right", "score") if column == "score" else ("head", "relation", "tail")
    content = pl.DataFrame({name: ["a"] for name in names}).drop(column)
    content = content.with_columns(pl.lit(None, dtype=kind).alias(column)).select(names)
    path = tmp_path / "table.parquet"
    content.write_parquet(path)
    command = ["convert", path, tmp_path / "o.tsv"] if column == "score" else ["inspect", path]
    refused(tmp_path, command, f'{path}: text or numbers expected in column "{column}", found')


def test_parquet_in_gzip(tmp_path):
    left, _ = two_tables(tmp_path, suffix=".parquet")
    packed = put(tmp_path / "left.parquet.gz", left.read_bytes())
    assert len(sameas.read_graph(packed).triples) == len(LEFT)
    cut = put(tmp_path / "cut.parquet.gz", left.read_bytes()[:-9])
    refused_by_align(tmp_path, [cut, packed], f"{cut}: ", "Parquet")


# Files that have no end


@pytest.mark.parametrize(
    ("name", "line", "arguments"),
    [
        ("big.tsv.gz", "a\tb\n", ["convert", "BIG", "out.nt"]),
        ("big.csv.zst", "a,b\n", ["convert", "BIG", "out.nt"]),
        ("big.jsonl.gz", '{"left": "a", "right": "b"}\n', ["convert", "BIG", "out.nt"]),
        ("big.sssom.tsv.gz", "subject_id\tobject_id\n", ["convert", "BIG", "out.nt"]),
        ("big.nt.zst", f"<x:a> <{LABEL}> <x:b> .\n", ["evaluate", "BIG", "GOLD"]),
        ("big.rdf.gz", "<!-- x -->\n", ["evaluate", "GOLD", "BIG"]),
        ("big.tsv", "a\tb\n", ["evaluate", "GOLD", "BIG"]),
        ("big.tsv.gz", "a\tr\tb\n", ["align", "BIG", "RIGHT", "-o", "out.tsv"]),
        ("big.json.gz", "[[[[\n", ["align", "LEFT", "RIGHT", "--names", "BIG", "-o", "out.tsv"]),
        ("big.tsv.gz", "a\tb\n", ["align", "LEFT", "RIGHT", "--names", "BIG", "-o", "out.tsv"]),
        ("big.tsv.gz", "a\tb\n", ["align", "LEFT", "RIGHT", "--seeds", "BIG", "-o", "out.tsv"]),
        ("big.txt.gz", "word 1 2\n", ["align", "LEFT", "RIGHT", "--features", "word"]),
    ],
)
def test_every_file_has_a_limit(tmp_path, name, line, arguments):
    left, right = two_tables(tmp_path)
    big = put(tmp_path / name, line * (2**21 // len(line)))
    gold = put(tmp_path / "gold.tsv", lines(GOLD))
    if name.endswith(".txt.gz"):
        arguments = [*arguments, "--word-vectors", "BIG", "-o", "out.tsv"]
    places = {"BIG": big, "GOLD": gold, "LEFT": left, "RIGHT": right}
    words = [places.get(word, tmp_path / word if "out." in word else word) for word in arguments]
    message = refused(tmp_path, [*words, "--max-bytes", "1M"], f"{big}: ", "--max-bytes")
    assert "holds more than 1,048,576 bytes" in message


def test_without_a_limit_an_archive_may_not_fill_the_memory(tmp_path, monkeypatch):
    left, right = two_tables(tmp_path)
    big = put(tmp_path / "big.tsv.gz", "a\tb\n" * 2**19)
    monkeypatch.setattr(files, "_memory_size", lambda: 2**22)
    refused(tmp_path, ["convert", big, tmp_path / "out.nt"], "holds more than 1,048,576 bytes")
    monkeypatch.undo()
    words = ["align", left, right, "--seeds", big, "--memory", "1M", "-o", tmp_path / "out.tsv"]
    refused(tmp_path, words, "holds more than 1,048,576 bytes")


def test_a_small_parquet_file_of_many_rows(tmp_path):
    big = tmp_path / "big.parquet"
    rows = pl.DataFrame({"left": pl.repeat("a", 10**5, eager=True)})
    rows.with_columns(right=pl.lit("b")).write_parquet(big)
    assert big.stat().st_size < 10**5
    words = ["convert", big, tmp_path / "out.nt", "--max-bytes", "1M"]
    refused(tmp_path, words, f"{big}: holds more than 1,048,576 bytes")


@pytest.mark.parametrize("vectors", [b"word " + b"1 " * 2**24, b"word" * 2**23])
def test_a_line_of_word_vectors_has_an_end(tmp_path, vectors):
    left, right = two_tables(tmp_path)
    file = put(tmp_path / "vectors.txt.zst", vectors)
    words = ["align", left, right, "--features", "word", "--word-vectors", file]
    refused(tmp_path, [*words, "-o", tmp_path / "out.tsv"], f"{file}:1: ", "longer than 16 MiB")


@pytest.mark.parametrize("kind", ["{}", "[]", "context"])
def test_json_ld_that_is_nested_deeply(tmp_path, kind):
    begin, end = {
        "{}": ('{"x:p": ', "}"),
        "[]": ('[{"x:p": "\\"]"}, ', "]"),
        "context": ('{"@context": {"a": {"@id": "x:a", "@context": ', "}}}"),
    }[kind]
    text = '{"@id": "x:a", "x:q": {"@id": "x:b"}, "x:p": ' + begin * 600 + "{}" + end * 600 + "}"
    file = put(tmp_path / "deep.jsonld", text)
    refused(tmp_path, ["inspect", file], f"{file}: is nested more than 256 levels deep")


@pytest.mark.parametrize("suffix", ["nt", "nq", "ttl", "trig"])
def test_triples_that_are_nested_deeply(tmp_path, suffix):
    gap = ' # ")>>\n' if suffix in ("ttl", "trig") else " "
    begin, end = f"<<({gap}<a:s>{gap}<a:p>{gap}", " )>>"
    flat = "<a:s> <a:p> <a:o> .\n" + f"<a:s> <a:p> {begin}<a:o>{end} .\n" * 1000
    file = put(tmp_path / f"deep.{suffix}", flat)
    assert len(sameas.read_graph(file).triples) == 1
    put(file, f"{flat}<a:s> <a:p> {begin * 50_000}<a:o>{end * 50_000} .\n")
    refused(tmp_path, ["inspect", file], f"{file}: is nested more than 256 levels deep")


@pytest.mark.parametrize(
    ("kind", "usual", "deep"),
    [
        ("", 1000, 50_000),
        (' rdf:parseType="Triple"', 100, 1900),
        (' rdf:parseType="Triple"', 100, 50_000),
    ],
)
def test_xml_that_is_nested_deeply(tmp_path, kind, usual, deep):
    def nested(depth):
        begin, end = f'<p{kind}><rdf:Description rdf:about="a:s">', "</rdf:Description></p>"
        return put(
            tmp_path / "nested.rdf",
            '<rdf:RDF xmlns="a:" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
            'rdf:version="1.2"><rdf:Description rdf:about="a:t"><p rdf:resource="a:o"/>'
            f"{begin * depth}<p>x</p>{end * depth}</rdf:Description></rdf:RDF>",
        )

    assert len(sameas.read_graph(nested(usual)).triples)
    file = nested(deep)
    refused(tmp_path, ["inspect", file], f"{file}: is nested more than ", " levels deep")


def test_brackets_in_texts_of_json_ld_do_not_count(tmp_path):
    text = ", ".join(['"[[[{\\\\\\"[[["'] * 30_000)
    content = f'{{"@id": "x:a", "x:q": {{"@id": "x:b"}}, "x:p": [{text}]}}'
    assert len(sameas.read_graph(put(tmp_path / "g.jsonld", content)).triples) == 1


@pytest.mark.parametrize("name", ["names.json", "names.json.gz"])
def test_names_that_are_nested_deeply(tmp_path, name):
    left, right = two_tables(tmp_path)
    for depth in (500, 100_000):
        file = put(tmp_path / name, "[" * depth + "]" * depth)
        words = ["align", left, right, "--names", file, "-o", tmp_path / "out.tsv"]
        refused(tmp_path, words, f"{file}:", "expected [[entity, [word, ...]], ...]")


# Names, vectors, embeddings


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "7",
        "[]",
        '[["a"]]',
        '[["fr:Paris", 7]]',
        '{"fr:Paris": {"en": "Paris"}}',
        "[" * 10**5,
    ],
    ids=lambda text: text[:30] or "empty",
)
def test_json_names_in_the_wrong_shape(tmp_path, text):
    names = put(tmp_path / "names.json", text)
    refused_by_align(
        tmp_path,
        [*two_tables(tmp_path), "--names", names],
        f"{names}:",
        "expected [[entity, [word, ...]], ...] or {entity: name}",
    )


def test_translated_names_in_the_wrong_shape(tmp_path):
    folder = dbp15k(tmp_path / "pair")
    put(folder / "translated_names.json", '[[1000, "Paris"], {"1001": "Lyon"}]')
    refused_by_align(tmp_path, [folder], f"{folder}/translated_names.json: row 2: expected ")


@pytest.mark.parametrize("text", ["fr:Paris\n", "fr:Paris\tParis\tfr\n"])
def test_a_table_of_names_in_the_wrong_shape(tmp_path, text):
    names = put(tmp_path / "names.tsv", text)
    refused_by_align(
        tmp_path,
        [*two_tables(tmp_path), "--names", names],
        f"{names}:1: 2 tab-separated columns expected (entity, name), found ",
    )


def test_names_of_nobody(tmp_path):
    names = put(tmp_path / "names.tsv", "nobody\tNobody\n")
    refused_by_align(
        tmp_path, [*two_tables(tmp_path), "--names", names], f"{names}: none of its entities"
    )


def test_names_in_a_file_that_is_missing(tmp_path):
    names = tmp_path / "names.tsv"
    refused_by_align(tmp_path, [*two_tables(tmp_path), "--names", names], f"{names}: no such file")


def test_three_files_of_names(tmp_path):
    names = put(tmp_path / "names.tsv", "fr:Paris\tParis\n")
    flags = ["--names", names] * 3
    refused_by_align(tmp_path, [*two_tables(tmp_path), *flags], "must be one file or one a")


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("paris 1 2\nlyon 1 2 3\n", ":2: 2 numbers expected after the word"),
        ("paris 1 2\nlyon 1\n", ":2: 2 numbers expected after the word"),
        ("fr:paris 1 x\n", ':1: a number expected, found "x"'),
        ("fr:paris 1 nan\n", ":1: a number is not finite"),
        ("fr:paris 1 inf\n", ":1: a number is not finite"),
        ("", ": holds no word vectors"),
        ("\n\n", "expected"),
        ("paris\nlyon\n", "expected"),
    ],
)
def test_word_vectors_in_the_wrong_shape(tmp_path, text, fragment):
    vectors = put(tmp_path / "vectors.txt", text)
    refused_by_align(
        tmp_path,
        [*two_tables(tmp_path), "--features", "word", "--word-vectors", vectors],
        f"{vectors}",
        fragment,
    )


def test_word_vectors_that_would_not_be_used(tmp_path):
    missing = tmp_path / "missing.txt"
    refused_by_align(tmp_path, [*two_tables(tmp_path), "--word-vectors", missing], "features")


@pytest.mark.parametrize(
    "rows",
    [
        np.ones((11, 2)),
        np.ones(12),
        np.ones((12, 2, 2)),
        np.array(["a"] * 12),
        np.ones((12, 2)) * np.nan,
        np.ones((12, 2)) * np.inf,
        np.ones((12, 2), dtype=complex),
        np.float64(7),
        np.ones((12, 0)),
    ],
    ids=["rows", "1d", "3d", "text", "nan", "inf", "complex", "scalar", "no columns"],
)
def test_an_array_of_embeddings_of_the_wrong_shape(tmp_path, rows):
    file = tmp_path / "rows.npy"
    np.save(file, rows)
    refused_by_align(tmp_path, [*two_tables(tmp_path), "--embeddings", file], f"{file}: ")


@pytest.mark.parametrize(
    "columns",
    [
        {"uri": ["fr:Paris"], "x": [1.0]},
        {"entity": ["fr:Paris"]},
        {"entity": ["nobody"], "x": [1.0]},
        {"entity": ["fr:Paris", "fr:Paris"], "x": [1.0, 2.0]},
        {"entity": ["fr:Paris", "fr:Lyon"], "x": [[1.0], [1.0, 2.0]]},
        {"entity": ["fr:Paris"], "x": ["one"]},
        {"entity": ["fr:Paris"], "x": [None]},
        {"entity": ["fr:Paris"], "x": [float("inf")]},
        {"entity": [["fr:Paris"]], "x": [1.0]},
    ],
    ids=["uri", "alone", "nobody", "twice", "ragged", "text", "null", "inf", "list"],
)
def test_a_table_of_embeddings_of_the_wrong_shape(tmp_path, columns):
    file = tmp_path / "rows.parquet"
    pl.DataFrame(columns).write_parquet(file)
    refused_by_align(tmp_path, [*two_tables(tmp_path), "--embeddings", file], f"{file}: ")


@pytest.mark.parametrize("name", ["rows.npy", "rows.parquet", "rows.txt"])
def test_embeddings_that_are_none(tmp_path, name):
    file = put(tmp_path / name, "hello\n")
    refused_by_align(tmp_path, [*two_tables(tmp_path), "--embeddings", file], f"{file}: ")


def test_embeddings_that_hold_python_objects(tmp_path):
    file = tmp_path / "rows.npy"
    np.save(file, np.array([{}] * 12), allow_pickle=True)
    refused_by_align(tmp_path, [*two_tables(tmp_path), "--embeddings", file], f"{file}: ")


# Gold


def test_duplicated_gold_links_are_told_and_count_once(tmp_path):
    folder = openea(tmp_path / "pair", gold=[*GOLD, GOLD[1]])
    links = put(tmp_path / "found.tsv", lines(GOLD))
    gold = put(tmp_path / "gold.tsv", lines([*GOLD, GOLD[1]]))
    for words in (("inspect", folder), ("evaluate", links, folder), ("evaluate", links, gold)):
        result = invoke(*words, "--json")
        assert result.exit_code == 0, result.output
        told = 'duplicated links count once: 1, the first is "fr:Paris" to "en:Paris"'
        assert told in result.stderr
    assert json.loads(invoke("inspect", folder, "--json").stdout)["gold_links"] == {
        str(folder): len(GOLD)
    }


def test_gold_of_strangers(tmp_path):
    folder = openea(tmp_path / "pair", gold=[*GOLD, ("fr:Atlantide", "en:London")])
    refused_by_align(tmp_path, [folder], "not in the left graph", '"fr:Atlantide"')


def test_among_gold_where_there_is_none(tmp_path):
    refused_by_align(tmp_path, [*two_tables(tmp_path), "--among", "gold"], "--among must be links")


def test_among_strangers(tmp_path):
    links = put(tmp_path / "among.tsv", lines([("fr:Atlantide", "en:London")]))
    refused_by_align(
        tmp_path, [*two_tables(tmp_path), "--among", links], "among must", '"fr:Atlantide"'
    )


@pytest.mark.parametrize("flag", ["seeds", "reject"])
@pytest.mark.parametrize(
    ("row", "side"), [(("fr:Atlantide", "en:London"), "left"), (("fr:Paris", "en:Eden"), "right")]
)
def test_seeds_and_rejected_pairs_of_strangers(tmp_path, flag, row, side):
    links = put(tmp_path / "known.tsv", lines([GOLD[0], row]))
    stranger = row[side == "right"]
    refused_by_align(
        tmp_path,
        [*two_tables(tmp_path), f"--{flag}", links],
        f"--{flag} must name entities of the two graphs, got 1 that are not in the {side} one",
        f'"{stranger}"',
    )


@pytest.mark.parametrize("flag", ["seeds", "reject"])
def test_seeds_and_rejected_pairs_that_cannot_be_read(tmp_path, flag):
    inputs = two_tables(tmp_path)
    refused(
        tmp_path,
        ["align", *inputs, f"--{flag}", tmp_path / "missing.tsv", "-o", tmp_path / "o.tsv"],
        "missing.tsv",
    )
    for content in ("", "fr:Paris\n"):
        file = put(tmp_path / "known.tsv", content)
        refused(tmp_path, ["align", *inputs, f"--{flag}", file, "-o", tmp_path / "o.tsv"], file)


@pytest.mark.parametrize(
    ("row", "side"), [(("fr:Londres", "en:Paris"), "left"), (("fr:Lyon", "en:London"), "right")]
)
def test_seeds_that_are_not_one_to_one(tmp_path, row, side):
    links = put(tmp_path / "seeds.tsv", lines([GOLD[0], row]))
    refused_by_align(
        tmp_path,
        [*two_tables(tmp_path), "--seeds", links],
        f"--seeds must name a {side} entity once",
    )


def test_a_pair_that_is_both_a_seed_and_rejected(tmp_path):
    seeds = put(tmp_path / "seeds.tsv", lines(GOLD[:2]))
    reject = put(tmp_path / "reject.tsv", lines(GOLD[1:3]))
    flags = ["--seeds", seeds, "--reject", reject]
    message = "--seeds must not be rejected, got a link that --reject names too"
    refused_by_align(tmp_path, [*two_tables(tmp_path), *flags], message)


def test_a_seed_across_the_border_of_among(tmp_path):
    seeds = put(tmp_path / "seeds.tsv", lines([("fr:Londres", "en:Lyon")]))
    among = put(tmp_path / "among.tsv", lines(GOLD[:1]))
    flags = ["--seeds", seeds, "--among", among]
    refused_by_align(tmp_path, [*two_tables(tmp_path), *flags], "--seeds must not link")


@pytest.mark.parametrize("flag", ["seeds", "reject"])
@pytest.mark.parametrize("how", [("--rounds", "0"), ("--preset", "paper")])
def test_seeds_and_rejected_pairs_without_refinement(tmp_path, flag, how):
    links = put(tmp_path / "known.tsv", lines(GOLD[:1]))
    refused_by_align(
        tmp_path,
        [*two_tables(tmp_path), f"--{flag}", links, *how],
        f"--{flag} has no effect here: it is used in refinement, and --rounds is 0",
    )


def test_gold_that_is_empty(tmp_path):
    links = put(tmp_path / "found.tsv", lines(GOLD))
    gold = put(tmp_path / "gold.tsv", "")
    refused(tmp_path, ["evaluate", links, gold], f"{gold}: holds no links; two columns expected")


def test_an_alignment_in_xml_that_is_empty(tmp_path):
    links = put(tmp_path / "found.rdf", "")
    refused(tmp_path, ["convert", links, tmp_path / "o.tsv"], f"{links}: is empty")


# Options


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("features", "letters"),
        ("adjacency", "dense"),
        ("solver", "magic"),
        ("text", "bold"),
        ("without", "luck"),
        ("rounds", "-1"),
        ("rounds", "four"),
        ("rounds", "1001"),
        ("preset", "worst"),
        ("depth", "-1"),
        ("depth", "two"),
        ("depth", "1.5"),
        ("iterations", "-1"),
        ("iterations", "1000000000"),
        ("depth", "1000000000"),
        ("temperature", "0"),
        ("temperature", "-1"),
        ("temperature", "nan"),
        ("temperature", "inf"),
        ("temperature", "warm"),
        ("memory", "lots"),
        ("memory", "0"),
        ("memory", "-4G"),
        ("memory", ""),
        ("memory", "9" * 400),
        ("min-confidence", "2"),
        ("min-confidence", "-0.1"),
        ("min-confidence", "nan"),
        ("top", "0"),
        ("top", "ten"),
    ],
)
def test_an_option_with_a_value_that_cannot_be_used(tmp_path, flag, value):
    message = refused_by_align(tmp_path, [*two_tables(tmp_path), f"--{flag}", value])
    assert flag.replace("-", "_") in message.replace("-", "_")
    assert value[:20] in message or str(float(value)) in message


def test_an_option_that_does_not_exist(tmp_path):
    refused_by_align(tmp_path, [*two_tables(tmp_path), "--dept", "2"], "--dept", "--help")


def test_a_command_that_does_not_exist(tmp_path):
    refused(tmp_path, ["aling"], "aling", "--help")


def test_an_output_that_was_not_named(tmp_path):
    refused(tmp_path, ["align", *two_tables(tmp_path)], "--out")


def test_embeddings_and_features_together(tmp_path):
    file = tmp_path / "rows.npy"
    np.save(file, np.ones((12, 2)))
    flags = ["--embeddings", file, "--features", "word"]
    refused_by_align(tmp_path, [*two_tables(tmp_path), *flags], "embeddings take the place of")


def test_a_memory_ceiling_that_is_too_low(tmp_path):
    message = refused_by_align(tmp_path, [*two_tables(tmp_path), "--memory", "1M"], "--memory")
    enough = message.split("--memory ")[-1].split()[0]
    result = invoke("align", *two_tables(tmp_path), "--memory", enough, "-o", tmp_path / "o.tsv")
    assert result.exit_code == 0


def test_the_memory_ceiling_counts_all_pairs_if_they_are_asked_for(tmp_path):
    arguments = ["align", sameas.DEMO, "--memory", "405M", "-o", tmp_path / "o.tsv"]
    more = ["--candidates", "100000"]
    paper = [*arguments, "--preset", "paper", *more]
    refused(tmp_path, paper, "all 1,419,964 pairs need about", "--memory 0.")
    refused(tmp_path, [*arguments, *more], "with 100000 candidates each need", "--memory 1G")


# Outputs


def good(tmp_path):
    """A folder of input beside which nothing is to appear."""
    folder = tmp_path / "input"
    folder.mkdir()
    return two_tables(folder)


def test_an_output_in_a_folder_that_does_not_exist(tmp_path):
    out = tmp_path / "missing" / "links.tsv"
    refused(tmp_path, ["align", *good(tmp_path), "-o", out], f"{out}: ", "does not exist")


def test_an_output_below_a_file(tmp_path):
    out = put(tmp_path / "file", "x") / "links.tsv"
    refused(tmp_path, ["align", *good(tmp_path), "-o", out], f"{out}: ", "is not a folder")


def test_an_output_over_a_folder_that_is_no_run(tmp_path):
    out = tmp_path / "thesis"
    out.mkdir()
    put(out / "chapter1", "x")
    refused(
        tmp_path, ["align", *good(tmp_path), "-o", out], f"{out}: exists and is not a run folder"
    )


def test_an_output_over_a_file_without_a_suffix(tmp_path):
    out = put(tmp_path / "thesis", "x")
    refused(
        tmp_path, ["align", *good(tmp_path), "-o", out], f"{out}: exists and is not a run folder"
    )


@pytest.mark.parametrize("target", ["loop", "nowhere"])
def test_a_link_that_leads_to_itself_or_nowhere(tmp_path, monkeypatch, target):
    left, right = good(tmp_path)
    out = tmp_path / "loop"
    out.symlink_to(target)
    monkeypatch.setattr("sameas.pipeline.align.align_pair", None)  # refused before any work
    refused(tmp_path, ["align", left, right, "-o", out], "exists and is not a run folder")
    refused(tmp_path, ["align", left, out, "-o", tmp_path / "o.tsv"], f"{out}: no such file")


def test_a_table_over_a_folder(tmp_path):
    out = tmp_path / "links.tsv"
    out.mkdir()
    refused(tmp_path, ["align", *good(tmp_path), "-o", out], f"{out}: is a folder")


@pytest.mark.parametrize("name", ["links.xlsx", "links.json", "links.tsv.gz"])
def test_an_output_with_an_unknown_suffix(tmp_path, name):
    out = tmp_path / name
    refused(
        tmp_path, ["align", *good(tmp_path), "-o", out], f"{out}: suffix ", "is not known", ".tsv"
    )
    links = put(tmp_path / "found.tsv", lines(GOLD))
    refused(tmp_path, ["convert", links, out], f"{out}: suffix ", "is not known")


def test_a_conversion_to_a_path_without_a_suffix(tmp_path):
    links = put(tmp_path / "found.tsv", lines(GOLD))
    refused(tmp_path, ["convert", links, tmp_path / "run"], 'suffix "" is not known; use .tsv')


def test_a_full_disk(tmp_path, monkeypatch):
    def full(self, *_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_csv", full)
    monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
    inputs = good(tmp_path)
    for name in ("links.tsv", "run"):
        out = tmp_path / name
        refused(tmp_path, ["align", *inputs, "-o", out], f"{out}: ", "No space left on device")


@pytest.mark.parametrize("name", ["a" * 251 + ".tsv", "a" * 255, "é" * 127])
def test_an_output_with_the_longest_name_there_can_be(tmp_path, monkeypatch, name):
    monkeypatch.setattr("sameas.pipeline.checkpoint.WORTH_SECONDS", 0)  # .resume is written, too
    result = invoke("align", *good(tmp_path), "-o", tmp_path / name)
    assert result.exit_code == 0, result.output
    assert {path.name for path in tmp_path.iterdir()} == {name, "input"}


@pytest.mark.parametrize("name", ["a" * 252 + ".tsv", "a" * 256, "a/" * 3000 + "b.tsv"])
def test_an_output_with_a_name_that_is_too_long(tmp_path, name):
    inputs = good(tmp_path)
    for command in (["align", *inputs, "-o"], ["convert", inputs[0]]):
        message = refused(tmp_path, [*command, tmp_path / name])
        assert "File name too long" in message or "does not exist" in message


@pytest.mark.parametrize("name", [".", "..", "/"])
def test_an_output_that_has_no_name(tmp_path, monkeypatch, name):
    inputs = good(tmp_path)
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    refused(tmp_path, ["align", *inputs, "-o", name], "is the folder itself; give it a name")


@pytest.mark.parametrize("text", ["9" * 100_000, "a" * 100_000, "http://a.org/" + "b" * 100_000])
def test_an_argument_of_many_characters_is_not_told_in_full(tmp_path, text):
    left, right = good(tmp_path)
    out = ["-o", tmp_path / "o.tsv"]
    flags = ("depth", "preset", "temperature", "memory", "without", "language", "names", "among")
    commands = [["align", left, right, *out, f"--{flag}", text] for flag in (*flags, text)]
    commands += [["inspect", text], ["explain", text, text], ["align", left, right, "-o", text]]
    for command in (*commands, [text], ["convert", left, tmp_path / "o.nt", "--meta", text]):
        refused(tmp_path, command)


def test_an_argument_that_is_not_utf8(tmp_path):
    left, right = good(tmp_path)
    for command in (
        ["inspect", tmp_path / "\udcff.tsv"],
        ["align", left, right, "-o", tmp_path / "\udcff.tsv"],
        ["align", left, right, "-o", tmp_path / "o.tsv", "--names", "\udcff"],
        ["explain", tmp_path, "\udcff"],
    ):
        refused(tmp_path, command, "\\udcff", "is not text in the encoding of this system")


@pytest.mark.parametrize("mark", ["\0", "\r", "\x1b[2J", "\u2028", "\u202e"])
def test_what_cannot_be_printed_is_escaped(tmp_path, mark):
    left, right = good(tmp_path)
    known = put(tmp_path / "known.tsv", lines([(f"fr:{mark}x", "en:London")]))
    escaped = repr(mark)[1:-1]
    for flag in ("--seeds", "--reject", "--among"):
        command = ["align", left, right, "-o", tmp_path / "o.tsv", flag, known]
        refused(tmp_path, command, f"fr:{escaped}x")
    if mark != "\0":
        refused(tmp_path, ["align", left, right, "-o", tmp_path / f"{mark}.x"], f"{escaped}.x")
        odd = put(tmp_path / f"{mark}.tsv", "a\tb\na\tb\n")
        result = invoke("evaluate", odd, odd)
        assert f"{escaped}.tsv:2: duplicated links" in result.stderr


def test_a_working_folder_that_is_gone(tmp_path, monkeypatch):
    left, right = good(tmp_path)
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    refused(tmp_path, ["align", left, right, "-o", "links.tsv"], "links.tsv: cannot be written")
    refused(tmp_path, ["inspect", "left.tsv"], "left.tsv: no such file")

    def relative(*_, **__):
        Path.cwd()

    monkeypatch.setattr("sameas.pipeline.align.align_pair", relative)
    refused(tmp_path, ["align", left, right, "-o", tmp_path / "o.tsv"], "working folder is gone")


def test_memory_that_runs_out(tmp_path, monkeypatch):
    def greedy(*_, **__):
        raise MemoryError

    monkeypatch.setattr("sameas.pipeline.align.align_pair", greedy)
    refused(tmp_path, ["align", *good(tmp_path), "-o", tmp_path / "o.tsv"], "not enough memory")


# Run folders


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "{}", '{"format": 99}', '{"format": null}'])
def test_a_run_folder_with_a_damaged_record(tmp_path, a_run, text):
    put(a_run / "run.json", text)
    refused(tmp_path, ["evaluate", a_run, tmp_path / "pair"], f"{a_run}/run.json:")
    refused(tmp_path, ["convert", a_run, tmp_path / "o.tsv"], f"{a_run}/run.json:")


@pytest.mark.parametrize("name", ["links.parquet", "candidates.parquet"])
def test_a_run_folder_with_a_damaged_table(tmp_path, a_run, name):
    data = (a_run / name).read_bytes()
    put(a_run / name, data[: len(data) // 2])
    fragment = f"{a_run}/{name}: is missing or damaged; run sameas align again"
    refused(tmp_path, ["evaluate", a_run, tmp_path / "pair"], fragment)
    (a_run / name).unlink()
    refused(tmp_path, ["evaluate", a_run, tmp_path / "pair"], fragment)


def test_a_run_folder_without_its_anchors(tmp_path, a_run):
    (a_run / "anchors.parquet").unlink()
    file = a_run / "anchors.parquet"
    refused(tmp_path, ["explain", a_run, "fr:Londres"], f"{file}: is missing or damaged")


def test_a_run_folder_with_damaged_embeddings(tmp_path, a_run):
    put(a_run / "embeddings.npy", "junk")
    refused(tmp_path, ["explain", a_run, "fr:Londres"], f"{a_run}/embeddings.npy: not a .npy file")


@pytest.mark.parametrize("name", ["links.parquet", "candidates.parquet"])
def test_a_run_folder_with_a_table_of_something_else(tmp_path, a_run, name):
    pl.DataFrame({"x": [1]}).write_parquet(a_run / name)
    refused(tmp_path, ["evaluate", a_run, tmp_path / "pair"], f"{a_run}/{name}: ")


def test_a_record_that_is_not_utf8(tmp_path, a_run):
    put(a_run / "run.json", LATIN1)
    refused(tmp_path, ["evaluate", a_run, tmp_path / "pair"], f"{a_run}/run.json: is damaged")


def test_a_folder_that_is_no_run(tmp_path):
    folder = openea(tmp_path / "pair")
    refused(tmp_path, ["evaluate", folder, folder], f"{folder}: is not a run folder")
    refused(tmp_path, ["convert", folder, tmp_path / "o.tsv"], f"{folder}: is not a run folder")


def test_links_with_too_many_columns(tmp_path):
    links = put(tmp_path / "found.tsv", lines(LEFT))
    refused(
        tmp_path,
        ["convert", links, tmp_path / "o.csv"],
        f"{links}:1: 2 tab-separated columns expected (left, right), found 3",
    )


# Odd, but fine


def fine(tmp_path, *arguments):
    """The report of an alignment that must end well, and its links."""
    out = tmp_path / "out.tsv"
    result = invoke("align", *arguments, "--preset", "paper", "-o", out, "--json")
    assert result.exit_code == 0, result.output
    run_folder = invoke("align", *arguments, "-o", tmp_path / "out")
    assert run_folder.exit_code == 0, run_folder.output
    assert invoke("inspect", *arguments[:1]).exit_code == 0
    return json.loads(result.stdout), sameas.read_links(out)


STRANGE_NAMES = {
    "no letters": ("...", "!?"),
    "long": ("x" * 10_000, "y" * 10_000),
    "long words": ("word " * 2_000, "other " * 2_000),
    "Chinese": ("京都市", "东京"),
    "Arabic": ("القاهرة", "مكة"),
    "Hebrew": ("ירושלים", "תל אביב"),
    "Devanagari": ("दिल्ली", "मुंबई"),
    "emoji": ("👩‍👩‍👧", "🇫🇷"),
    "direction marks": ("\u202eabc\u202c", "\u200fdef"),
    "combining": ("e\u0301te\u0301", "Zͧ̐̀a̴l͢g҉o"),
    "one letter": ("a", "b"),
    "spaces": ("\u3000\u00a0", "a\u2003b"),
    "private": ("\ue000", "\U0010fffd"),
    "null": ("a\0b", "\0"),
}


@pytest.mark.parametrize("kind", STRANGE_NAMES)
@pytest.mark.parametrize("features", ["char", "word"])
def test_names_of_any_kind(tmp_path, kind, features):
    one, other = STRANGE_NAMES[kind]
    rows = [("fr:Paris", one), ("en:Paris", one), ("fr:Lyon", other), ("en:Lyon", other)]
    names = put(tmp_path / "names.json", json.dumps(dict(rows)))
    vectors = put(tmp_path / "vectors.txt", "a 1 0\nb 0 1\n")
    flags = ["--features", "word", "--word-vectors", vectors] if features == "word" else []
    report, _ = fine(tmp_path, *two_tables(tmp_path), "--names", names, *flags)
    assert report["links"] == 6
    kept = pl.read_parquet(tmp_path / "out" / "left" / "entities.parquet")
    assert dict(kept.iter_rows())["fr:Paris"] == one


def test_no_name_at_all(tmp_path):
    rows = {entity: "" for triple in LEFT + RIGHT for entity in (triple[0], triple[2])}
    names = put(tmp_path / "names.json", json.dumps(rows))
    report, _ = fine(tmp_path, *two_tables(tmp_path), "--names", names)
    assert report["entities_without_features"] == 12


def test_an_entity_without_triples(tmp_path):
    report, _ = fine(tmp_path, dbp15k(tmp_path / "pair", extra=("fr:Atlantide",)))
    assert report["left_entities"] == 7
    assert report["unmatched_left"] == 1


def test_a_loop_and_a_duplicate(tmp_path):
    rows = [*LEFT, LEFT[0], ("fr:Paris", "fr:capitale", "fr:Paris")]
    assert fine(tmp_path, *two_tables(tmp_path, left=rows))[0]["links"] == 6


def test_a_graph_of_one_triple(tmp_path):
    one = [("fr:Paris", "r", "fr:France")]
    assert fine(tmp_path, *two_tables(tmp_path, left=one))[0]["links"] == 2


def test_a_graph_of_one_loop(tmp_path):
    one = [("fr:Paris", "r", "fr:Paris")]
    assert fine(tmp_path, *two_tables(tmp_path, left=one, right=one))[0]["links"] == 1


def test_graphs_of_very_different_sizes(tmp_path):
    many = [(f"en:{i}", "r", f"en:{i * 7 % 500}") for i in range(500)] + RIGHT
    report, links = fine(tmp_path, *two_tables(tmp_path, right=many))
    assert report["links"] == 6
    assert ("fr:Paris", "en:Paris") in links.select("left", "right").rows()


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".tsv.gz"])
def test_a_byte_order_mark_and_blank_lines_at_the_end(tmp_path, suffix):
    comma = "," if ".csv" in suffix else "\t"
    text = "".join(comma.join(row) + "\r\n" for row in LEFT)
    left = put(tmp_path / f"odd{suffix}", "\ufeff" + text + "\r\n\r\n\n")
    _, right = two_tables(tmp_path)
    report, links = fine(tmp_path, left, right)
    assert report["left_entities"] == 6
    assert "fr:Londres" in links["left"]


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".parquet"])
def test_entities_with_strange_uris(tmp_path, suffix):
    uris = [
        *("http://x.org/a b c", "http://x.org/?q=1&r=[2]#%ff%", "<http://x.org/>"),
        *('"quoted"', "it's", "\\N", "NULL", "NA", "#comment", "-1", "é\u0301", "%00", "مرحبا"),
        *("a\x0bb\x0c\x1c\x85\u2028", "http://x.org/" + "x" * 5_000),
    ]
    rows = [(uri, "r", other) for uri, other in zip(uris, [*uris[1:], "null"], strict=True)]
    left, right = two_tables(tmp_path, left=rows, right=rows, suffix=suffix)
    _, links = fine(tmp_path, left, right)
    assert links.select("left", "right").sort("left").rows() == sorted(
        (u, u) for u in [*uris, "null"]
    )


def test_two_graphs_that_are_one(tmp_path):
    _, links = fine(tmp_path, *two_tables(tmp_path, right=LEFT))
    assert (links["left"] == links["right"]).all()


def test_an_entity_with_two_gold_links(tmp_path):
    gold = [*GOLD, ("fr:Paris", "en:Marseille")]
    fine(tmp_path, openea(tmp_path / "pair", gold=gold), "--among", "gold")


@pytest.mark.parametrize(
    ("flag", "value"),
    [("solver", "hungarian"), ("rounds", "2"), ("text", "plain"), ("without", "votes")],
)
def test_options_that_paris_has_no_use_for_are_refused(tmp_path, flag, value):
    refused_by_align(
        tmp_path,
        [sameas.DEMO, "--method", "paris", f"--{flag}", value],
        f"--{flag} has no effect here: method 'paris' does not use it",
    )
