"""No output may be one of the inputs, whatever the command and however they are written."""

from __future__ import annotations

import io
import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

import sameas
from folders import GOLD, contents, lines, openea, put, two_tables
from sameas import OutputError
from sameas.cli.main import main
from sameas.result.overwriting import refuse_inputs

NT = "<a:s> <a:p> <a:o> .\n"


@pytest.fixture(scope="module")
def small_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    sameas.write(sameas.align(openea(folder / "pair")), folder / "run")
    return folder / "run"


@pytest.fixture
def run(small_run, tmp_path):
    return Path(shutil.copytree(small_run, tmp_path / "run"))


def refused(folder, *arguments):
    """The message of a command that ends with exit code 2 and changes nothing."""
    before = contents(folder)
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 2, result.output
    assert contents(folder) == before
    assert result.stderr.count("\n") == 1
    assert "choose another name" in result.stderr
    return result.stderr


def other_names(path):
    """Other ways to name a file."""
    folder = path.parent
    (folder / "below").mkdir()
    (folder / "soft.tsv").symlink_to(path.name)
    (folder / "hard.tsv").hardlink_to(path)
    (folder / "elsewhere").symlink_to(folder)
    return [
        path,
        folder / "below" / ".." / path.name,
        folder / "soft.tsv",
        folder / "hard.tsv",
        folder / "elsewhere" / path.name,
        Path(f"file://{path}"),
    ]


@pytest.mark.parametrize("number", range(6))
def test_an_output_that_is_an_input_by_any_name(tmp_path, number):
    left, right = two_tables(tmp_path)
    output = other_names(left)[number]
    message = refused(tmp_path, "align", left, right, "-o", output)
    assert f"is an input ({left})" in message
    refused(tmp_path, "names", left, right, "-o", output)


@pytest.mark.parametrize(
    "flags",
    [
        ("--names", "FILE"),
        ("--seeds", "FILE"),
        ("--reject", "FILE"),
        ("--among", "FILE"),
        ("--dictionary", "FILE"),
        ("--embeddings", "FILE"),
        ("--features", "word", "--word-vectors", "FILE"),
        ("--query", "FILE"),
    ],
    ids=lambda flags: flags[-2],
)
def test_every_file_that_align_is_given_is_an_input(tmp_path, flags):
    left, right = two_tables(tmp_path)
    file = put(tmp_path / "given.tsv", lines(GOLD))
    words = [file if word == "FILE" else word for word in flags]
    assert f"is an input ({file})" in refused(
        tmp_path, "align", left, right, *words, "-o", tmp_path / "given.tsv"
    )


def test_the_test_above_knows_every_flag_that_takes_a_file():
    command = main.commands["align"]
    flags = {option.opts[-1] for option in command.params if "FILE" in (option.metavar or "")}
    files = {"names", "seeds", "reject", "among", "dictionary", "embeddings", "word-vectors"}
    assert flags == {f"--{name}" for name in {*files, "query", "config", "save-config"}}


@pytest.mark.parametrize("place", ["l.nt,m.nt", "*.nt", "."])
def test_several_files_of_one_side(tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    for name in ("l.nt", "m.nt"):
        put(tmp_path / name, NT)
    right, _ = two_tables(tmp_path)
    refused(tmp_path, "align", place, right, "-o", "m.nt")


def test_standard_input_from_a_file(tmp_path, monkeypatch):
    file = put(tmp_path / "l.nt", NT)
    with file.open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        with pytest.raises(OutputError, match=r"is an input \(-\)"):
            refuse_inputs(file, ["-"])
    monkeypatch.setattr("sys.stdin", io.StringIO())  # which is no file
    refuse_inputs(file, ["-"])


def test_conversion_to_itself(tmp_path):
    links = put(tmp_path / "links.tsv", lines(GOLD))
    refused(tmp_path, "convert", links, links)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("convert", "RUN", "OUT"), "links.parquet"),
        (("convert", "RUN", "OUT"), "left/triples.parquet"),
        (("merge", "RUN", "-o", "OUT"), "merged.nt"),
        (("report", "RUN", "-o", "OUT"), "report.html"),
        (("explain", "RUN", "fr:Paris", "--drawing", "OUT"), "drawing.svg"),
    ],
)
def test_files_of_a_run_are_inputs(tmp_path, run, command, name):
    output = run / name
    if not output.exists():  # with the name of another kind of file
        output.hardlink_to(run / "links.parquet")
    words = [{"RUN": run, "OUT": output}.get(word, word) for word in command]
    assert f"is an input ({run})" in refused(tmp_path, *words)


def test_what_else_is_in_a_folder_that_is_read_can_be_replaced(tmp_path, run):
    refuse_inputs(put(run / "report.html", "x"), [run])
    refuse_inputs(put(run / "links.tsv", "x"), [run])
    pair = openea(tmp_path / "pair")
    refuse_inputs(put(pair / "links.tsv", "x"), [pair])


def test_a_run_folder_that_holds_an_input(tmp_path, run):
    left, right = two_tables(run)
    message = refused(tmp_path, "align", left, right, "-o", run)
    assert f"is a folder that holds an input ({left})" in message
    shutil.move(left, tmp_path / "left.tsv")
    os.link(tmp_path / "left.tsv", run / "a hard link")
    refused(tmp_path, "align", tmp_path / "left.tsv", right, "-o", run)


def test_a_run_is_renewed_by_its_own_decisions_alone(run):
    refuse_inputs(run, [], learned_from=[run, None])
    with pytest.raises(OutputError, match="is an input"):
        refuse_inputs(run, [run])
    with pytest.raises(OutputError, match="is a folder that holds an input"):
        refuse_inputs(run, [], learned_from=[run / "links.parquet"])


def test_words_that_are_no_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "gold", "x")
    refuse_inputs(Path("gold"), ["gold", None, "nowhere.nt", "*.none", "sparql+http://a.org/"])


def test_the_same_address_elsewhere():
    with pytest.raises(OutputError, match=r"s3://bucket/graph\.nt: is an input"):
        refuse_inputs(Path("s3://bucket/graph.nt"), ["s3://bucket/graph.nt"])
    refuse_inputs(Path("s3://bucket/links.nt"), ["s3://bucket/graph.nt"])
