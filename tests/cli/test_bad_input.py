"""Input that cannot be used, beyond the table of tests/hostile; input that is odd, but fine.

The table (``hostile/messages.py`` for what is said) needs no more than files and a command. Here
is what needs Parquet, a run folder or another state of the process.
"""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import sameas
from folders import (
    GOLD,
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
from sameas.graph.iri import is_iri

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


def test_an_empty_graph_in_parquet(tmp_path):
    left, _ = two_tables(tmp_path)
    right = table(tmp_path / "right.parquet", [])
    refused(
        tmp_path, ["align", left, right, "-o", tmp_path / "links.tsv"], f"{right}: holds no triples"
    )


# Compression and Parquet


@pytest.mark.parametrize("content", [b"", b"PAR1", b"head\trelation\ttail\n" * 10], ids=repr)
def test_parquet_that_is_none(tmp_path, content):
    _, right = two_tables(tmp_path)
    left = put(tmp_path / "left.parquet", content)
    refused(
        tmp_path,
        ["align", left, right, "-o", tmp_path / "links.tsv"],
        f"{left}: not a readable Parquet file",
    )


def test_parquet_that_was_cut_short(tmp_path):
    left, right = two_tables(tmp_path, suffix=".parquet")
    left.write_bytes(left.read_bytes()[:-20])
    refused(
        tmp_path,
        ["align", left, right, "-o", tmp_path / "links.tsv"],
        f"{left}: not a readable Parquet file",
    )


def test_parquet_with_other_columns(tmp_path):
    _, right = two_tables(tmp_path)
    left = table(tmp_path / "left.parquet", LEFT, header=("x", "y", "z"))
    refused(
        tmp_path,
        ["align", left, right, "-o", tmp_path / "links.tsv"],
        f"{left}: has the columns x, y, z, and none of distinct ids; say what a row is",
    )


def test_parquet_with_a_column_of_lists(tmp_path):
    _, right = two_tables(tmp_path)
    left = tmp_path / "left.parquet"
    pl.DataFrame({"head": ["a"], "relation": [["r"]], "tail": ["b"]}).write_parquet(left)
    refused(tmp_path, ["align", left, right, "-o", tmp_path / "links.tsv"], f"{left}: ", "relation")


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
    refused(tmp_path, ["align", cut, packed, "-o", tmp_path / "links.tsv"], f"{cut}: ", "Parquet")


# Files that have no end


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


# Names, vectors, embeddings


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
    refused(
        tmp_path,
        ["align", *two_tables(tmp_path), "--embeddings", file, "-o", tmp_path / "links.tsv"],
        f"{file}: ",
    )


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


def test_a_memory_ceiling_that_is_too_low(tmp_path):
    message = refused(
        tmp_path,
        ["align", *two_tables(tmp_path), "--memory", "1M", "-o", tmp_path / "links.tsv"],
        "--memory",
    )
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


@pytest.mark.parametrize("target", ["loop", "nowhere"])
def test_a_link_that_leads_to_itself_or_nowhere(tmp_path, monkeypatch, target):
    left, right = good(tmp_path)
    out = tmp_path / "loop"
    out.symlink_to(target)
    monkeypatch.setattr("sameas.pipeline.pair.align_pair", None)  # refused before any work
    refused(tmp_path, ["align", left, right, "-o", out], "exists and is not a run folder")
    refused(tmp_path, ["align", left, out, "-o", tmp_path / "o.tsv"], f"{out}: no such file")


@pytest.mark.parametrize("name", ["a" * 251 + ".tsv", "a" * 255, "é" * 127])
def test_an_output_with_the_longest_name_there_can_be(tmp_path, monkeypatch, name):
    monkeypatch.setattr("sameas.pipeline.checkpoint.WORTH_SECONDS", 0)  # .resume is written, too
    result = invoke("align", *good(tmp_path), "-o", tmp_path / name)
    assert result.exit_code == 0, result.output
    assert {path.name for path in tmp_path.iterdir()} == {name, "input"}


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

    monkeypatch.setattr("sameas.pipeline.pair.align_pair", relative)
    refused(tmp_path, ["align", left, right, "-o", tmp_path / "o.tsv"], "working folder is gone")


def test_memory_that_runs_out(tmp_path, monkeypatch):
    def greedy(*_, **__):
        raise MemoryError

    monkeypatch.setattr("sameas.pipeline.pair.align_pair", greedy)
    refused(tmp_path, ["align", *good(tmp_path), "-o", tmp_path / "o.tsv"], "not enough memory")


# Run folders


DAMAGED = ": is missing or damaged; run sameas align again"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("run.json", b"", ":"),
        ("run.json", b"{", ":"),
        ("run.json", b"[]", ":"),
        ("run.json", b"7", ":"),
        ("run.json", b"{}", ":"),
        ("run.json", b'{"format": 99}', ":"),
        ("run.json", b'{"format": null}', ":"),
        ("run.json", LATIN1, ": is damaged"),
        ("links.parquet", b"PAR1", DAMAGED),
        ("links.parquet", None, DAMAGED),
        ("candidates.parquet", b"PAR1", DAMAGED),
        ("candidates.parquet", None, DAMAGED),
        ("anchors.parquet", None, ": is missing or damaged"),
        ("embeddings.npy", b"junk", ": not a .npy file"),
    ],
)
def test_a_run_folder_with_a_damaged_file(tmp_path, a_run, name, content, message):
    (a_run / name).unlink(missing_ok=True)
    if content is not None:
        (a_run / name).write_bytes(content)
    explained = name in ("anchors.parquet", "embeddings.npy")
    command = ["explain", a_run, "fr:Londres"] if explained else ["evaluate", a_run, "pair"]
    command = [tmp_path / "pair" if word == "pair" else word for word in command]
    refused(tmp_path, command, f"{a_run / name}{message}")
    if name == "run.json":
        refused(tmp_path, ["convert", a_run, tmp_path / "o.tsv"], f"{a_run / name}:")


@pytest.mark.parametrize("name", ["links.parquet", "candidates.parquet"])
def test_a_run_folder_with_a_table_of_something_else(tmp_path, a_run, name):
    pl.DataFrame({"x": [1]}).write_parquet(a_run / name)
    refused(tmp_path, ["evaluate", a_run, tmp_path / "pair"], f"{a_run / name}: ")


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


@pytest.mark.parametrize("features", ["char", "word"])
def test_names_of_any_kind(tmp_path, features):
    names = dict(enumerate(name for both in STRANGE_NAMES.values() for name in both))
    triples = [(n, "r", (n + 1) % len(names)) for n in names]
    sides = [[(f"{side}:{h}", r, f"{side}:{t}") for h, r, t in triples] for side in ("fr", "en")]
    rows = {f"{side}:{n}": name for side in ("fr", "en") for n, name in names.items()}
    file = put(tmp_path / "names.json", json.dumps(rows))
    vectors = put(tmp_path / "vectors.txt", "a 1 0\nb 0 1\n")
    flags = ["--features", "word", "--word-vectors", vectors] if features == "word" else []
    inputs = two_tables(tmp_path, left=sides[0], right=sides[1])
    report, _ = fine(tmp_path, *inputs, "--names", file, *flags)
    assert report["links"] == len(names)
    table = pl.read_parquet(tmp_path / "out" / "left" / "entities.parquet")
    kept = dict(table.select("entity", "name").iter_rows())
    # Long names may be kept by their beginning.
    assert {entity: name[:1000] for entity, name in kept.items()} == {
        f"fr:{n}": name[:1000] for n, name in names.items()
    }


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
    left, right = ([(f"{side}:Paris", "r", f"{side}:Paris")] for side in ("fr", "en"))
    assert fine(tmp_path, *two_tables(tmp_path, left=left, right=right))[0]["links"] == 1


def test_graphs_of_very_different_sizes(tmp_path):
    names = ["en:" + "".join(letters) for letters in permutations("abcdefg", 5)][:500]
    many = [(name, "r", names[i * 7 % 500]) for i, name in enumerate(names)] + RIGHT
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
    # Equal IRIs are known to be the same, which needs no link.
    assert links.select("left", "right").sort("left").rows() == sorted(
        (u, u) for u in [*uris, "null"] if not is_iri(u)
    )


def test_two_graphs_that_are_one(tmp_path):
    _, links = fine(tmp_path, *two_tables(tmp_path, right=LEFT))
    assert (links["left"] == links["right"]).all()


def test_an_entity_with_two_gold_links(tmp_path):
    gold = [*GOLD, ("fr:Paris", "en:Marseille")]
    fine(tmp_path, openea(tmp_path / "pair", gold=gold), "--among", "gold")
