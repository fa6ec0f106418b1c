"""Reading what was written; and what a failure leaves behind."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from polars.testing import assert_frame_equal

import sameas
from pairs import matched_pair
from sameas import (
    Alignment,
    InputError,
    Options,
    OutputError,
    __version__,
    align,
    evaluate,
    read_links,
    read_run,
    write,
    write_links,
)
from sameas.graph.graph import Graph
from sameas.result.alignment import SCHEMAS
from sameas.result.export import prepare
from sameas.result.run_folder import is_run
from sameas.result.run_tables import COLUMNS
from strategies import pairs, paper

TABLES = (".tsv", ".csv", ".parquet")

URIS = [
    "http://a.org/x",
    'quote"inside',
    '"quoted"',
    '"half',
    "comma,inside",
    "semi;colon",
    " leading and trailing ",
    "#comment",
    "left",
    "null",
    "NaN",
    "0012",
    "1e5",
    "-",
    "\\n",
    "'apostrophe",
    "=1+1",
    "日本語",
    "مرحبا",
    "👩‍👩‍👧",
    "e\u0301",
    "\u2028line\u2028separator",
    "\ufeffbom",
    "a\xa0b",
    "\x85",
]


def table(rows):
    schema = {"left": pl.String, "right": pl.String, "score": pl.Float64, "confidence": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def links():
    uri = st.one_of(
        st.sampled_from(URIS),
        st.text(
            st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"),
            min_size=1,
            max_size=8,
        ),
    )
    score = st.floats(-1, 1)
    return st.lists(st.tuples(uri, uri, score, st.floats(0, 1)), max_size=5).map(table)


def contents(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def alignment():
    return align(small_pair())


def small_pair():
    sides = []
    for side in "lr":
        triples = pl.DataFrame(
            {
                "head": [f"{side}:a", f"{side}:a", f"{side}:a"],
                "relation": ["p", "p", "q"],
                "tail": [f"{side}:b", f"{side}:b", f"{side}:c"],
            }
        )
        attributes = pl.DataFrame(
            {"entity": [f"{side}:a"], "attribute": ["label"], "value": ['tab\tand "quote"']}
        )
        names = pl.Series("name", ["alpha", "beta", ""])
        sides.append(Graph.from_triples(triples, names=names, attributes=attributes))
    gold = pl.DataFrame({"left": ["l:a"], "right": ["r:a"]})
    return matched_pair(left=sides[0], right=sides[1], gold=gold)


# --- tables -----------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", TABLES)
@settings(deadline=None, max_examples=50)
@given(written=links())
def test_tables_are_read_as_they_were_written(tmp_path_factory, suffix, written):
    path = tmp_path_factory.mktemp("tables") / f"links{suffix}"
    write_links(written, path)
    assert_frame_equal(read_links(path), written, check_exact=True)


@pytest.mark.parametrize("suffix", TABLES)
@pytest.mark.parametrize(
    "uri", ["tab\tinside", "line\nbreak", "carriage\rreturn", "crlf\r\n", "\r"]
)
def test_line_breaks_and_tabs_survive_or_are_refused(tmp_path, suffix, uri):
    """A format that cannot hold an entity must say so, not write something else."""
    written = table([(uri, "b", 0.5, 0.25), ("c", uri, 0.5, 0.25)])
    path = tmp_path / f"links{suffix}"
    try:
        write_links(written, path)
    except OutputError:
        assert list(tmp_path.iterdir()) == []
    else:
        assert_frame_equal(read_links(path), written, check_exact=True)


@pytest.mark.parametrize("line", ["c\td\t0.5\t0.5\tmore", "c", "\td\t0.5\t0.5", "c\td\tx\t0.5"])
def test_a_line_of_a_written_table_that_was_damaged_is_named(tmp_path, line):
    path = tmp_path / "links.tsv"
    write_links(table([("a", "b", 0.5, 0.25)]), path)
    with path.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(InputError, match=r"links\.tsv:3: "):
        read_links(path)


@pytest.mark.parametrize("suffix", [*TABLES, ".TSV", ".Csv", ".PARQUET"])
def test_the_suffix_decides_in_any_case(tmp_path, alignment, suffix):
    path = tmp_path / f"links{suffix}"
    write(alignment, path)
    assert_frame_equal(read_links(path), alignment.links, check_exact=True)


@pytest.mark.parametrize("suffix", TABLES)
def test_no_links_are_a_table_too(tmp_path, suffix):
    path = tmp_path / f"links{suffix}"
    write_links(table([]), path)
    assert_frame_equal(read_links(path), table([]))


@pytest.mark.parametrize("name", ["links.tsv", "links.csv", "links.parquet", "run"])
def test_the_same_alignment_gives_the_same_bytes(tmp_path, alignment, name):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        write(align(small_pair()), tmp_path / folder / name)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_a_written_table_is_evaluated_like_the_alignment(tmp_path, alignment):
    write(alignment, tmp_path / "links.csv")
    again = evaluate(read_links(tmp_path / "links.csv"), alignment.pair.gold)
    assert again.f1 == evaluate(alignment, alignment.pair.gold).f1


# --- run folders ------------------------------------------------------------------------------


def assert_same_graph(found, expected):
    assert found.entities.to_list() == expected.entities.to_list()
    assert found.names.to_list() == expected.names.to_list()
    assert_frame_equal(found.attributes, expected.attributes)
    for graph in (found, expected):
        assert graph.triples.shape == expected.triples.shape
    spoken = [
        [
            (graph.entities[int(h)], graph.relations[int(r)], graph.entities[int(t)])
            for h, r, t in graph.triples
        ]
        for graph in (found, expected)
    ]
    assert spoken[0] == spoken[1]


def assert_same_rdf(found, expected):
    """The parts that graphs from RDF have, and what they were made of."""
    for name in ("kinds", "linkable", "triples"):
        assert_array_equal(getattr(found, name), getattr(expected, name))
    assert found.naming.equals(expected.naming)
    assert found.relations.to_list() == expected.relations.to_list()
    assert found.name_paths == expected.name_paths
    assert_frame_equal(found.alternatives, expected.alternatives)
    source, read = found.source, expected.source
    assert_same_graph(source, read)
    assert_array_equal(source.triples, read.triples)
    assert source.triple_graphs.equals(read.triple_graphs)
    assert source.shape == read.shape == "rdf"
    assert source.reading == read.reading
    assert source.given_names is None


def assert_same_run(run, alignment):
    for name in SCHEMAS:
        table = getattr(alignment, name)
        if table is None:
            assert getattr(run, name) is None
        else:
            assert tuple(table.columns) == tuple(COLUMNS[name])
            assert_frame_equal(getattr(run, name), table, check_exact=True)
    assert_frame_equal(run.ranked, alignment.ranked)
    pair = run.pair
    assert_same_graph(pair.left, alignment.pair.left)
    assert_same_graph(pair.right, alignment.pair.right)
    if alignment.pair.gold is None:
        assert pair.gold is None
    else:
        assert_frame_equal(pair.gold, alignment.pair.gold)
    assert run.options == alignment.options
    assert run.summary() == alignment.summary()


def test_a_run_folder_keeps_everything(tmp_path, alignment):
    write(alignment, tmp_path / "run")
    assert is_run(tmp_path / "run")
    assert_same_run(read_run(tmp_path / "run"), alignment)


def rdf(side):
    """A graph with types, several names, attributes, holders, expressions, IRIs of both sides."""
    lines = [
        f"@prefix : <http://{side}/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
        "@prefix owl: <http://www.w3.org/2002/07/owl#> .",
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .",
        "@prefix xl: <http://www.w3.org/2008/05/skos-xl#> .",
        ':City a owl:Class ; rdfs:label "City"@en ; rdfs:subClassOf [ a owl:Restriction ;',
        "  owl:onProperty :in ; owl:someValuesFrom :Country ] .",
        ':Country a owl:Class ; rdfs:label "Country" . :in a owl:ObjectProperty .',
        '<http://both/World> rdfs:label "World" .',
    ]
    for number, name in enumerate(("London", "Paris", "Berlin", "Madrid", "Rome")):
        lines.append(
            f':c{number} a :City ; rdfs:label "{name}"@en, "{name}um"@la ; :in :k{number % 2} ; '
            f":size {100 * number + 7} ; xl:altLabel :l{number} . "
            f':l{number} xl:literalForm "Old {name}" .'
        )
    for number, name in enumerate(("Albion", "Iberia")):
        lines.append(
            f':k{number} a :Country ; skos:prefLabel "{name}" ; :in <http://both/World> . '
            f":g {{ :k{number} :since '190{number}' ; :near :k{1 - number} }}"
        )
    return "\n".join(lines)


def test_a_run_of_rdf_keeps_everything_and_explains_alike(tmp_path):
    for side in ("left", "right"):
        (tmp_path / f"{side}.trig").write_text(rdf(side))
    alignment = align(tmp_path / "left.trig", tmp_path / "right.trig")
    write(alignment, tmp_path / "run")
    run = read_run(tmp_path / "run")
    assert_same_run(run, alignment)
    assert run.diagnostics == alignment.diagnostics
    assert run.diagnostics.thresholds
    assert run.diagnostics.same_iri
    for side in ("left", "right"):
        found, expected = getattr(run.pair, side), getattr(alignment.pair, side)
        assert_same_rdf(found, expected)
        assert found.source.triple_graphs is not None
        for entity in expected.entities.gather_every(3):
            told = alignment.explain(entity, side=side)
            again = run.explain(entity, side=side)
            assert str(again) == str(told)
            assert again.asdict() == told.asdict()
    assert_frame_equal(align(run.pair).links, alignment.links, check_exact=True)
    write(run, tmp_path / "again")
    assert contents(tmp_path / "again") == contents(tmp_path / "run")
    (tmp_path / "run" / "left" / "raw" / "attributes.parquet").write_bytes(b"nonsense")
    with pytest.raises(InputError, match="damaged"):
        assert read_run(tmp_path / "run").pair


def test_a_run_of_an_earlier_version_has_no_kinds(tmp_path):
    for side in ("left", "right"):
        (tmp_path / f"{side}.trig").write_text(rdf(side))
    alignment = align(tmp_path / "left.trig", tmp_path / "right.trig")
    write(alignment, tmp_path / "run")
    for side in ("left", "right"):
        folder = tmp_path / "run" / side
        shutil.rmtree(folder / "raw")
        (folder / "naming.parquet").unlink()
        (folder / "name_paths.parquet").unlink()
        entities = pl.read_parquet(folder / "entities.parquet")
        entities.drop("kind").write_parquet(folder / "entities.parquet")
    run = read_run(tmp_path / "run")
    assert not run.pair.left.kinds.any()
    assert run.pair.left.naming.is_empty()
    assert_same_run(run, alignment)


def test_a_run_keeps_the_version_that_made_it(tmp_path, alignment):
    write(alignment, tmp_path / "run")
    record = tmp_path / "run" / "run.json"
    assert alignment.version == read_run(tmp_path / "run").version == __version__
    record.write_text(record.read_text().replace(f'"{__version__}"', '"0.0.1"'))
    run = read_run(tmp_path / "run")
    assert run.version == "0.0.1"
    write(run, tmp_path / "links.sssom.tsv")
    assert "mapping_tool_version: 0.0.1" in (tmp_path / "links.sssom.tsv").read_text()


@settings(deadline=None, max_examples=8, suppress_health_check=[HealthCheck.too_slow])
@given(
    pairs(),
    st.sampled_from([Options(adjacency="plain"), Options(solver="hungarian"), paper()]),
)
def test_any_run_is_read_as_it_was_written(tmp_path_factory, pair, chosen):
    alignment = align(pair, chosen)
    path = tmp_path_factory.mktemp("runs") / "run"
    write(alignment, path)
    assert_same_run(read_run(path), alignment)


def test_a_run_aligned_again_gives_the_same_links(tmp_path, alignment):
    write(alignment, tmp_path / "run")
    again = align(read_run(tmp_path / "run").pair)
    assert_frame_equal(again.links, alignment.links, check_exact=True)


def test_a_run_takes_the_place_of_an_earlier_one(tmp_path, alignment):
    path = tmp_path / "run"
    path.mkdir()
    write(alignment, path)
    (path / "left" / "stale.parquet").write_bytes(b"stale")
    write(alignment, path)
    assert not (path / "left" / "stale.parquet").exists()
    assert_same_run(read_run(path), alignment)
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "damaged"),
        ("[]", "damaged"),
        ("{}", "damaged"),
        ('{"format": 99}', "run format 99"),
        ("\xff", "damaged"),
    ],
)
def test_a_damaged_record_is_an_input_error(tmp_path, alignment, content, message):
    write(alignment, tmp_path / "run")
    (tmp_path / "run" / "run.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(InputError, match=message):
        read_run(tmp_path / "run")


@pytest.mark.parametrize(
    "name", ["links.parquet", "candidates.parquet", "left/triples.parquet", "gold.parquet"]
)
def test_a_damaged_table_is_an_input_error(tmp_path, alignment, name):
    write(alignment, tmp_path / "run")
    (tmp_path / "run" / name).write_bytes(b"nonsense")
    with pytest.raises(InputError, match="damaged"):
        assert_same_run(read_run(tmp_path / "run"), alignment)


def test_what_is_no_run_folder_is_an_input_error(tmp_path):
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(InputError, match="is not a run folder"):
            read_run(path)


# --- failures ---------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ValueError("fault")])
@pytest.mark.parametrize("name", ["links.tsv", "links.csv", "links.parquet", "run"])
def test_a_failure_leaves_the_earlier_result_and_no_litter(
    tmp_path, monkeypatch, alignment, name, error
):
    write(alignment, tmp_path / name)
    before = contents(tmp_path)

    def half_written(self, path, *args, **kwargs):
        Path(path).write_bytes(b"half")
        raise error

    monkeypatch.setattr(pl.DataFrame, "write_csv", half_written)
    monkeypatch.setattr(pl.DataFrame, "write_parquet", half_written)
    with pytest.raises((OutputError, ValueError)):
        write(alignment, tmp_path / name)
    monkeypatch.undo()
    assert contents(tmp_path) == before
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


def test_a_failure_at_the_last_step_keeps_the_earlier_run(tmp_path, monkeypatch, alignment):
    write(alignment, tmp_path / "run")
    before = contents(tmp_path)
    rename = Path.rename

    def failing(self, target):
        if self.name == "new":
            raise OSError(5, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OutputError):
        write(alignment, tmp_path / "run")
    monkeypatch.undo()
    assert contents(tmp_path) == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]


def test_a_full_disk_is_an_output_error_that_names_the_place(tmp_path, monkeypatch, alignment):
    def full(self, path, *args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_csv", full)
    with pytest.raises(OutputError, match=r"links\.tsv: cannot be written \(No space left"):
        write(alignment, tmp_path / "links.tsv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("links.xlsx", 'suffix ".xlsx" is not known; use .tsv'),
        ("missing/links.tsv", "does not exist; make it first"),
        ("missing/run", "does not exist; make it first"),
        ("file/links.tsv", "is not a folder"),
        ("folder.tsv", "is a folder"),
        ("folder", "exists and is not a run folder"),
        ("file", "exists and is not a run folder"),
    ],
)
def test_targets_that_cannot_be_written_are_refused_before_the_work(tmp_path, name, message):
    (tmp_path / "folder.tsv").mkdir()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "precious.txt").write_text("keep")
    (tmp_path / "file").write_text("keep")
    with pytest.raises(OutputError) as caught:
        prepare(tmp_path / name, folder=True)
    assert message in str(caught.value)
    assert str(tmp_path / name) in str(caught.value)
    assert (tmp_path / "folder" / "precious.txt").read_text() == "keep"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
def test_a_folder_without_permission_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(OutputError, match="cannot be written to"):
            prepare(tmp_path / "links.tsv")
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize("name", ["links.tsv", "run", "empty"])
def test_targets_that_can_be_written_pass_and_nothing_is_made(tmp_path, name):
    (tmp_path / "empty").mkdir()
    prepare(tmp_path / name, folder=True)
    assert [entry.name for entry in tmp_path.iterdir()] == ["empty"]


def test_paths_may_be_text(tmp_path, alignment):
    assert isinstance(alignment, Alignment)
    write(alignment, str(tmp_path / "links.tsv"))
    assert_array_equal(
        read_links(tmp_path / "links.tsv")["score"], np.array(alignment.links["score"])
    )


def test_text_paths_are_read_as_they_are_written(tmp_path, alignment):
    write(alignment, str(tmp_path / "links.tsv"))
    write(alignment, str(tmp_path / "run"))
    assert len(read_links(str(tmp_path / "links.tsv"))) == len(alignment.links)
    assert len(read_run(str(tmp_path / "run")).links) == len(alignment.links)


def test_what_a_killed_process_left_is_put_in_order(tmp_path, alignment):
    """Killed between the two renames: the earlier run is in the draft, nothing at its place."""
    run = tmp_path / "run"
    write(alignment, run)
    before = contents(tmp_path)
    draft = tmp_path / ".run.999999999.draft"
    draft.mkdir()
    (draft / "new").mkdir()
    run.rename(draft / "old")
    assert len(read_run(run).links) == len(alignment.links)
    assert contents(tmp_path) == before
    draft.mkdir()
    (draft / "new").mkdir()
    write(alignment, run)
    assert contents(tmp_path) == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]


def test_the_draft_of_a_process_at_work_is_left_alone(tmp_path, alignment):
    draft = tmp_path / ".run.1.draft"
    draft.mkdir()
    write(alignment, tmp_path / "run")
    assert draft.exists()


def test_links_of_a_table_need_a_suffix(tmp_path):
    with pytest.raises(OutputError, match='suffix "" is not known'):
        write_links(table([]), tmp_path / "links")


def test_a_table_of_pairs_is_written(tmp_path):
    pairs = [("a", "x"), ("b", "y")]
    frame = pl.DataFrame(pairs, schema=["left", "right"], orient="row")
    for number, links in enumerate((pairs, iter(pairs), frame)):
        write_links(links, tmp_path / f"{number}.tsv")
        found = read_links(tmp_path / f"{number}.tsv")
        assert found.rows() == [("a", "x", None, None), ("b", "y", None, None)]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("weights", "canary"),
        ("weights", {"names": "1"}),
        ("thresholds", [1]),
        ("threshold", "0"),
        ("anchors", 1.5),
        ("objective", None),
        ("solver", 1),
        ("left_entities", True),
        ("converged", 1),
        ("languages", {"left": 1}),
        ("languages", {"sources": ["a", 1]}),
        ("languages", {"encoder": "canary"}),
    ],
)
def test_a_figure_of_another_type_is_damage(tmp_path, align_small, name, value):
    sameas.write(align_small(), tmp_path / "run")
    file = tmp_path / "run" / "run.json"
    record = json.loads(file.read_text("utf8"))
    record["summary"][name] = value
    file.write_text(json.dumps(record))
    with pytest.raises(InputError, match=r"run\.json: is damaged"):
        sameas.read_run(tmp_path / "run")


def test_candidates_of_a_version_with_mean_ranks_alone_are_read(tmp_path, alignment):
    write(alignment, tmp_path / "run")
    file = tmp_path / "run" / "candidates.parquet"
    earlier = pl.read_parquet(file).drop("rank").rename({"mean_rank": "rank"})
    earlier.select("left", "right", "rank", "score").write_parquet(file)
    run = read_run(tmp_path / "run")
    columns = [name for name in SCHEMAS["candidates"] if name != "strength"]
    assert_frame_equal(run.candidates.select(columns), alignment.candidates.select(columns))
    assert run.candidates["strength"].null_count() == len(run.candidates)
    assert_frame_equal(run.ranked, alignment.ranked)
