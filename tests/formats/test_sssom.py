"""SSSOM: valid for its own tools, and nothing of it lost."""

from __future__ import annotations

import contextlib
import warnings

import polars as pl
import pytest
import yaml
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import sameas
from folders import put
from odd_links import IDS, LABELS, links
from sameas import InputError, OptionError
from sameas.cli.main import main
from sameas.formats.links import read_link_set
from sameas.graph.link_set import LINK_SCHEMA, PREDICATES, LinkSet
from sameas.result.export import write_links

FOREIGN = """\
#curie_map:
#  HP: http://purl.obolibrary.org/obo/HP_
#  MP: http://purl.obolibrary.org/obo/MP_
#  orcid: https://orcid.org/
#mapping_set_id: https://example.org/set
#license: https://creativecommons.org/publicdomain/zero/1.0/
#creator_id:
#  - orcid:0000-0000-0000-0000
#mapping_date: 2020-05-30
#comment: "two
#
#  lines"
subject_id\tsubject_label\tpredicate_id\tpredicate_modifier\tobject_id\tmapping_justification\tconfidence
HP:0009124\t"a ""tissue"" x"\tskos:exactMatch\t\tMP:0000003\tsemapv:LexicalMatching\t0.8
HP:0000411\tears\tskos:broadMatch\t\tMP:0000021\tsemapv:LexicalMatching\t0.8
HP:0000412\tears\towl:sameAs\tNot\tMP:0000021\tsemapv:LexicalMatching\t0.8
HP:0000413\tears\towl:sameAs\t\tsssom:NoTermFound\tsemapv:LexicalMatching\t
HP:0008551\tMicrotia\towl:sameAs\t\tMP:0000018\tsemapv:ManualMappingCuration\t
"""


def test_a_column_twice_is_refused(tmp_path):
    for column in ("object_id", "confidence", "comment"):
        header = f"subject_id\tobject_id\tconfidence\tcomment\t{column}"
        path = put(tmp_path / "x.sssom.tsv", f"#license: x\n{header}\na\tb\t1\tc\t0.5\n")
        with pytest.raises(InputError, match=rf':2: columns \d and 5 are the same, "{column}" and'):
            sameas.read_links(path)


def table(*rows):
    return pl.DataFrame(rows, schema=LINK_SCHEMA, orient="row")


@pytest.fixture(scope="module")
def alignment(align_demo):
    return align_demo()


@pytest.fixture(scope="module")
def sssom_py():
    """What sssom-py makes of a file: the mappings that it accepts and what it finds wrong."""
    pytest.importorskip("sssom", reason="sssom-py is not installed (it brings 80 packages)")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from sssom.parsers import parse_sssom_table
        from sssom.validators import validate

    def judged(path):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = parse_sssom_table(path)
            reports = validate(found, fail_on_error=False)
        assert len(reports) >= 3
        wrong = [result.message for report in reports.values() for result in report.results]
        expand = found.converter.expand
        pairs = [
            (expand(row["subject_id"]), expand(row["predicate_id"]), expand(row["object_id"]))
            for row in found.df.to_dict("records")
        ]
        return found, pairs, wrong

    return judged


def test_sssom_py_finds_nothing_wrong_with_an_alignment(tmp_path, alignment, sssom_py):
    path = tmp_path / "links.sssom.tsv"
    sameas.write(alignment, path, predicate="exactMatch")
    found, pairs, wrong = sssom_py(path)
    assert wrong == []
    assert len(pairs) == len(alignment.links)
    assert {predicate for _, predicate, _ in pairs} == {PREDICATES["exactMatch"]}
    assert found.metadata["license"] == "https://w3id.org/sssom/license/unspecified"
    first = found.df.iloc[0]
    assert first["mapping_justification"] == "semapv:CompositeMatching"
    assert first["mapping_tool"] == "sameas"
    assert first["mapping_tool_version"] == sameas.__version__
    assert first["subject_source"].endswith("fr/")
    assert 0 <= first["confidence"] <= 1
    assert 0 <= first["similarity_score"] <= 1
    assert set(found.df["subject_label"]) <= set(alignment.pair.left.names)


def test_sssom_py_finds_nothing_wrong_with_hostile_ids(tmp_path, sssom_py):
    path = tmp_path / "links.sssom.tsv"
    written = table(*((one, other, -1.0, 2.0) for one in IDS for other in IDS[:1]))
    write_links(written, path)
    _, pairs, wrong = sssom_py(path)
    assert wrong == []
    assert len(pairs) == len(written)
    assert None not in {end for pair in pairs for end in pair}


@settings(deadline=None, max_examples=10, suppress_health_check=list(HealthCheck))
@given(written=links())
def test_sssom_py_finds_nothing_wrong_with_any_links(tmp_path, sssom_py, written):
    path = tmp_path / "links.sssom.tsv"
    write_links(written, path)
    if len(written):
        _, pairs, wrong = sssom_py(path)
        assert wrong == []
        assert len(pairs) == len(written)


def test_the_metadata_block_says_what_is_known(tmp_path, alignment):
    path = tmp_path / "links.sssom.tsv"
    sameas.write(alignment, path)
    lines = path.read_text().splitlines()
    block = yaml.safe_load("\n".join(line[1:] for line in lines if line.startswith("#")))
    expected = {"curie_map", "mapping_set_id", "license", "subject_source", "object_source"}
    assert set(block) == expected | {
        "mapping_tool",
        "mapping_tool_version",
        "extension_definitions",
    }
    assert "http://example.org/fr/langue/" in block["curie_map"].values()


def test_the_origin_of_a_plain_table_is_not_made_up(tmp_path):
    path = tmp_path / "links.sssom.tsv"
    write_links(table(("http://a.org/x", "http://b.org/y", 0.5, 0.5)), path)
    assert "semapv:UnspecifiedMatching" in path.read_text()
    assert "mapping_tool" not in path.read_text()


def test_ids_are_abbreviated_by_where_they_are(tmp_path):
    beginning = "http://dbpedia.org/resource/"
    lefts = [f"{beginning}{name}" for name in ("Paris", "AC/DC", "A:B", "München")]
    path = tmp_path / "links.sssom.tsv"
    write_links(table(*((left, "New York", 1.0, 1.0) for left in lefts)), path)
    body = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    cells = [line.split("\t") for line in body[1:]]
    assert [row[0] for row in cells] == ["dbr:Paris", "dbr:AC/DC", "dbr:A:B", "dbr:M%C3%BCnchen"]
    assert {row[2] for row in cells} == {"right:New%20York"}


def test_what_others_say_is_kept(tmp_path):
    path = put(tmp_path / "foreign.sssom.tsv", FOREIGN)
    found = read_link_set(path)
    assert found.links["left"].to_list() == [
        "http://purl.obolibrary.org/obo/HP_0009124",
        "http://purl.obolibrary.org/obo/HP_0008551",
    ]
    assert found.skipped == ("mappings that do not say that two entities are the same: 3",)
    again = tmp_path / "again.sssom.tsv"
    assert write_links(found, again) == ()
    assert "HP:0008551" in again.read_text()
    twice = read_link_set(again)
    assert_frame_equal(twice.links, found.links)
    assert dict(twice.prefixes).items() >= dict(found.prefixes).items()
    stated = {**twice.metadata}
    assert stated.pop("subject_source")
    assert stated.pop("object_source")
    assert stated == found.metadata
    assert found.metadata["comment"] == "two\nlines"


@settings(deadline=None, max_examples=15, suppress_health_check=list(HealthCheck))
@given(written=links(), data=st.data())
def test_labels_and_metadata_are_read_as_they_were_written(tmp_path, written, data):
    label = st.one_of(st.none(), st.sampled_from(LABELS[1:]), st.text(min_size=1, max_size=5))
    texts = data.draw(st.lists(label, min_size=len(written), max_size=len(written)))
    with contextlib.suppress(UnicodeEncodeError):
        labels = pl.Series("subject_label", texts, dtype=pl.String)
        comment = data.draw(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
        stated = LinkSet(links=written.with_columns(labels), metadata={"comment": comment})
        path = tmp_path / "links.sssom.tsv"
        write_links(stated, path)
        found = read_link_set(path)
        assert found.metadata["comment"] == comment
        if "subject_label" in found.links.columns:
            assert found.links["subject_label"].to_list() == texts
        else:
            assert not any(texts)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no table"),
        ("#a: [\nsubject_id\tobject_id\n", "the metadata block is not YAML"),
        ("#- a\nsubject_id\tobject_id\n", "must hold names and values"),
        ("#curie_map: x\nsubject_id\tobject_id\n", "curie_map must hold prefixes"),
        ("subject_id\tpredicate_id\n", "column object_id expected"),
        (
            "#a: b\nsubject_id\tobject_id\na:b\ta:c\ta:d\n",
            "2 tab-separated columns expected, found 3",
        ),
        ("subject_id\tobject_id\tconfidence\na:b\ta:c\tx\n", r":2: a number expected in column"),
    ],
)
def test_damage_is_said_in_a_sentence(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_link_set(put(tmp_path / "links.sssom.tsv", text))


def test_metadata_is_checked(tmp_path):
    path = tmp_path / "links.sssom.tsv"
    meta = {"license": "https://a.org/l", "mapping_date": "2030-01-31", "comment": "a=b"}
    write_links(table(), path, meta=meta)
    found = read_link_set(path).metadata
    assert {name: str(found[name]) for name in meta} == meta
    for wrong in (
        {"license": ""},
        {"licence": "https://a.org"},
        {"license": "MIT"},
        {"mapping_date": "now"},
    ):
        with pytest.raises(OptionError, match="`meta` "):
            write_links(table(), path, meta=wrong)


@pytest.mark.parametrize(
    "value",
    [
        ":".join(["1"] * 20_000),  # a number to the base of 60
        "1" * 20_000,
        "0x" + "f" * 20_000,
        "1e999999999",
        "2030-02-31",
        "1_000",
        "1.0",
        "'1.0'",
        "2030-01-31",
        "yes",
        "~",
    ],
)
def test_values_of_the_metadata_stay_as_they_are(tmp_path, value):
    table = "subject_id\tpredicate_id\tobject_id\nhttp://a.org/x\towl:sameAs\thttp://b.org/y\n"
    source = put(tmp_path / "in.sssom.tsv", f"#mapping_set_version: {value}\n{table}")
    result = CliRunner().invoke(main, ["convert", str(source), str(tmp_path / "out.sssom.tsv")])
    assert result.exit_code == 0, result.output
    written = (tmp_path / "out.sssom.tsv").read_text()
    assert f"#mapping_set_version: {value}\n" in written
