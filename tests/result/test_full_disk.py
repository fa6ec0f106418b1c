"""A disk that fills up while a result is written, and run folders that were damaged."""

from __future__ import annotations

import json

import polars as pl
import pytest
from click.testing import CliRunner

import sameas
from folders import GOLD, contents, lines, openea, put
from sameas import InputError, read_run
from sameas.cli.main import main

resource = pytest.importorskip("resource", reason="no limits on this system")


def invoke(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def many_links(tmp_path_factory):
    rows = [(f"http://l.org/{n * 7919 % 10007}", f"http://r.org/{n}") for n in range(3000)]
    return put(tmp_path_factory.mktemp("links") / "many.tsv", lines(rows))


@pytest.mark.parametrize("suffix", [".tsv", ".parquet", ".sssom.tsv", ".nt", ".rdf"])
def test_a_disk_that_fills_up_while_links_are_written(tmp_path, many_links, suffix):
    out = put(tmp_path / f"links{suffix}", "earlier")
    result = limited("convert", many_links, out, ceiling=8000)
    assert result.exit_code == 2, result.output
    (message,) = result.stderr.splitlines()
    assert message.startswith(f"sameas: {out}: cannot be written (")
    assert contents(tmp_path) == {out.name: b"earlier"}
    assert [path.name for path in tmp_path.iterdir()] == [out.name]


@pytest.mark.parametrize("name", ["merged.nq.gz", "merged.ttl.zst"])
def test_a_disk_that_fills_up_while_a_graph_is_written(tmp_path, a_run, name):
    out = put(tmp_path / name, "earlier")
    before = contents(tmp_path)
    result = limited("merge", a_run, "-o", out, ceiling=50)
    assert result.exit_code == 2, result.output
    (message,) = result.stderr.splitlines()
    assert message.startswith(f"sameas: {out}: cannot be written (")
    assert contents(tmp_path) == before


def test_a_disk_that_fills_up_while_a_run_is_written(tmp_path, a_run):
    before = contents(tmp_path)
    result = limited("align", tmp_path / "pair", "-o", a_run, ceiling=900)
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith(f"sameas: {a_run}: cannot be written (")
    assert contents(tmp_path) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pair", "run"]


def test_a_disk_that_fills_up_while_a_drawing_is_written(tmp_path, a_run):
    before = contents(tmp_path)
    for name in ("drawing.svg", "drawing.html"):
        out = tmp_path / name
        result = limited("explain", a_run, "fr:Londres", "--drawing", out, ceiling=900)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert result.stderr.startswith(f"sameas: {out}: cannot be written (")
    assert contents(tmp_path) == before


@pytest.mark.parametrize("ceiling", [0, 900, 20_000])
def test_a_disk_that_fills_up_while_a_report_is_written(tmp_path, a_run, ceiling):
    before, out = contents(tmp_path), tmp_path / "report.html"
    result = limited("report", a_run, "-o", out, ceiling=ceiling)
    assert result.exit_code == 2, result.output
    (message,) = result.stderr.splitlines()
    assert "cannot be written (" in message or "cannot be made (" in message
    assert contents(tmp_path) == before


def test_polars_may_panic_on_a_full_disk(tmp_path, many_links, monkeypatch):
    def full(*_, **__):
        raise pl.exceptions.PanicException(
            "called `Result::unwrap()` on an `Err` value: Os { code: 28, kind: StorageFull }"
        )

    monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
    out = tmp_path / "links.parquet"
    result = invoke("convert", many_links, out)
    assert result.exit_code == 2
    assert result.stderr == f"sameas: {out}: cannot be written (No space left on device)\n"
    assert not list(tmp_path.iterdir())


def limited(*arguments, ceiling):
    """Run a command that cannot write files larger than so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ceiling, before[1]))
    try:
        return invoke(*arguments)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


# --- run folders ------------------------------------------------------------------------------


def test_a_run_of_a_newer_version_is_refused(tmp_path, a_run):
    record = json.loads((a_run / "run.json").read_text())
    put(a_run / "run.json", json.dumps({**record, "format": 2, "new": {}}))
    for arguments in (
        ("evaluate", a_run, tmp_path / "pair"),
        ("convert", a_run, tmp_path / "out.nt"),
        ("merge", a_run, "-o", tmp_path / "out.nt"),
    ):
        result = invoke(*arguments)
        assert result.exit_code == 2
        assert "has run format 2, this version of sameas (" in result.stderr
        assert "reads 1; upgrade sameas" in result.stderr
    assert not (tmp_path / "out.nt").exists()


@pytest.mark.parametrize("wrong", [True, 0, -1, 1.0, "1", None])
def test_a_format_that_is_no_number_is_damage(a_run, wrong):
    record = json.loads((a_run / "run.json").read_text())
    put(a_run / "run.json", json.dumps({**record, "format": wrong}))
    with pytest.raises(InputError, match=r"run\.json: is damaged"):
        read_run(a_run)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("links", {"left": pl.lit(1)}),
        ("links", {"right": pl.lit(None, dtype=pl.String)}),
        ("links", {"score": pl.lit("x")}),
        ("candidates", {"rank": pl.lit("x")}),
        ("left/entities", {"entity": pl.lit("twice")}),
        ("left/triples", {"head": pl.lit("nobody")}),
        ("right/attributes", {"value": pl.lit(1)}),
    ],
)
def test_tables_that_do_not_fit_are_damage(tmp_path, a_run, name, change):
    file = a_run / f"{name}.parquet"
    damaged = pl.read_parquet(file).with_columns(**change)
    if not len(damaged):
        damaged = pl.DataFrame({"entity": ["a"], "attribute": ["b"], "value": [1]})
    damaged.write_parquet(file)
    if name == "candidates":  # which a merged graph does not need
        result = invoke("evaluate", a_run, tmp_path / "pair")
    else:
        result = invoke("merge", a_run, "-o", tmp_path / "merged.nt")
    assert result.exit_code == 2, result.output
    assert "damaged" in result.stderr
    assert str(a_run) in result.stderr


# --- convert ----------------------------------------------------------------------------------


def test_convert_between_all_formats_as_a_user_runs_it(tmp_path, a_run):
    names = ["a.jsonl", "b.rdf", "c.sssom.tsv", "d.parquet", "e.csv", "f.tsv"]
    assert invoke("convert", a_run, tmp_path / "first.tsv").exit_code == 0
    source = a_run
    for name in names:
        result = invoke("convert", source, tmp_path / name, "--json")
        assert result.exit_code == 0, result.output
        source = tmp_path / name
    assert (tmp_path / "f.tsv").read_bytes() == (tmp_path / "first.tsv").read_bytes()


def test_convert_says_what_is_lost_on_standard_error_and_in_json(tmp_path, a_run):
    out = tmp_path / "links.nt"
    result = invoke("convert", a_run, out, "--predicate", "exactMatch", "--json")
    assert "note: " + f"{out}: cannot hold score and confidence of the links" in result.stderr
    assert json.loads(result.stdout)["not_held"] == ["score and confidence of the links"]
    assert "http://www.w3.org/2004/02/skos/core#exactMatch" in out.read_text()


def test_convert_says_what_it_left_out(tmp_path):
    source = put(tmp_path / "in.ttl", "<a:b> <a:p> 1; <http://schema.org/sameAs> <a:c> .")
    result = invoke("convert", source, tmp_path / "out.nt", "--json")
    assert len(json.loads(result.stdout)["skipped"]) == 1
    assert "left out: triples that say something else" in result.stderr
    assert "schema.org/sameAs" in (tmp_path / "out.nt").read_text()


def test_metadata_reaches_the_file(tmp_path):
    source = put(tmp_path / "in.tsv", lines(GOLD))
    out = tmp_path / "out.sssom.tsv"
    meta = ("--meta", "license=https://a.org/cc0", "--meta", "subject_source=https://a.org/fr")
    assert invoke("convert", source, out, *meta).exit_code == 0
    assert "#license: https://a.org/cc0\n" in out.read_text()
    result = invoke("convert", source, out, "--meta", "license=MIT")
    assert result.exit_code == 2
    assert "--meta license must be an IRI, got 'MIT' instead" in result.stderr


@pytest.mark.parametrize("suffix", [".sssom.tsv", ".nt", ".ttl", ".rdf", ".jsonl"])
def test_align_writes_and_evaluate_reads_every_format(tmp_path, suffix):
    out = tmp_path / f"links{suffix}"
    result = invoke(
        "align", openea(tmp_path / "pair"), "-o", out, "--predicate", "sameAs", "--json"
    )
    assert result.exit_code == 0, result.output
    assert isinstance(json.loads(result.stdout)["not_held"], list)
    scores = invoke("evaluate", out, tmp_path / "pair", "--json")
    assert json.loads(scores.stdout)["recall"] > 0.5
    assert sameas.read_links(out)["left"].to_list()


def test_a_predicate_that_is_none_is_refused_before_the_work(tmp_path):
    out = tmp_path / "links.nt"
    result = invoke("align", openea(tmp_path / "pair"), "-o", out, "--predicate", "same")
    assert result.exit_code == 2
    assert "must be sameAs, exactMatch, schema:sameAs, equivalentClass, " in result.stderr
