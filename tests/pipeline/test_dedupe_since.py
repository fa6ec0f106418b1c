"""Duplicates of a graph that has changed: names of clusters, decisions, and what became of them."""

from __future__ import annotations

import json

import polars as pl
import pytest
from click.testing import CliRunner

import sameas
from sameas.cli.main import main
from sameas.errors import InputError
from sameas.result.decision_log import read_log
from sameas.result.decisions import Claim, decide, decisions_of

COLUMNS = ["id", "name", "born", "city"]
BEFORE = [
    ("1", "Ada Lovelace", "1815-12-10", "London"),
    ("2", "Ada Lovelase", "1815-12-10", "London"),
    ("4", "Grace Hopper", "1906-12-09", "New York"),
    ("5", "Grace  Hopper", "1906-12-09", "New York"),
    ("6", "Emmy Noether", "1882-03-23", "Erlangen"),
    ("7", "Maria Mirzakhani", "1977-05-12", "Tehran"),
    ("8", "Sofia Kovalevskaya", "1850-01-15", "Moscow"),
    ("9", "Hypatia", "0360-01-01", "Alexandria"),
    ("n1", "Katherine Johnson", "1918-08-26", "White Sulphur Springs"),
    ("n2", "Katherine Jonson", "1918-08-26", "White Sulphur Springs"),
]
NOW = [
    ("0", "Ada M. Lovelace", "1815-12-10", "London"),
    *(row for row in BEFORE if row[0] != "n2"),
    ("e2", "Emmy Noeter", "1882-03-23", "Erlangen"),
]
"""Another Ada, whose id is the first; another Emmy; and one Katherine alone."""


def table(rows):
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


def named(alignment):
    """The members of each cluster, by its name."""
    members = alignment.clusters.members.group_by("cluster").agg(pl.col("entity").sort())
    return {cluster: "".join(entities) for cluster, entities in members.iter_rows()}


def decided(run, *claims):
    """Keep decisions in a run folder."""
    with decisions_of(run) as connection:
        for number, claim in enumerate(claims):
            decide(connection, [claim], reviewer="Ada", request=str(number), single=(False, False))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("since") / "run"
    sameas.write(sameas.dedupe(table(BEFORE), id="id"), folder)
    return folder


def test_clusters_keep_their_names_and_what_changed_is_listed(run, tmp_path):
    before = {members: name for name, members in named(sameas.read_run(run)).items()}
    since = sameas.dedupe(table(NOW), id="id", since=run)
    now = {members: name for name, members in named(since).items()}
    assert before.keys() == {"12", "45", "n1n2"}
    assert now.keys() == {"012", "45", "6e2"}
    assert (now["012"], now["45"]) == (before["12"], before["45"])
    rows = {name: rest for name, *rest in since.clusters.changes.iter_rows()}
    assert rows == {
        now["012"]: ["changed", "new-entity", ["0"], [], []],
        now["45"]: ["kept", "unchanged", [], [], []],
        now["6e2"]: ["new", "new-entity", ["6", "e2"], [], []],
        before["n1n2"]: ["gone", "gone-entity", [], ["n1", "n2"], []],
    }
    counts = since.summary()["since"]
    assert counts["clusters"] == {"kept": 1, "new": 1, "changed": 1, "gone": 1}
    assert counts["entities"] == {"new": 2, "changed": 0, "gone": 1}
    for tables in (since.clusters.summary, since.clusters.links):
        assert set(tables["cluster"]) == set(now.values())
    sameas.write(since, tmp_path / "next")
    again = sameas.read_run(tmp_path / "next")
    assert again.clusters.changes.equals(since.clusters.changes)
    assert again.summary() == since.summary()
    third = sameas.dedupe(table(NOW), id="id", since=again)
    assert named(third) == named(since)
    assert set(third.clusters.changes["change"]) == {"kept"}


def test_clusters_are_those_of_a_whole_run(run):
    whole = sameas.dedupe(table(NOW), id="id")
    since = sameas.dedupe(table(NOW), id="id", since=run)
    assert set(named(since).values()) == set(named(whole).values())
    columns = ["entity", "confidence", "canonical"]
    assert since.clusters.members.select(columns).equals(whole.clusters.members.select(columns))
    assert whole.clusters.changes is None
    assert "since" not in whole.summary()


def test_decisions_carry_over_unless_something_else_is_said(tmp_path):
    run = tmp_path / "run"
    first = sameas.dedupe(table(BEFORE), id="id", seeds=[("8", "7")])
    sameas.write(first, run)
    decided(
        run,
        Claim("5", "4", "reject"),
        Claim("9", "6", "accept"),
        Claim("n1", "n2", "accept"),
        Claim("7", "8", "reject"),  # the other way round than it was given
    )
    since = sameas.dedupe(table(NOW), id="id", since=run)
    assert set(named(since).values()) == {"012", "69e2"}
    assert since.summary()["since"]["lost_decisions"] == 1
    reasons = dict(since.clusters.changes.select("cluster", "reason").iter_rows())
    was = {members: name for name, members in named(first).items()}
    assert reasons[was["45"]] == reasons[was["78"]] == "rejected"
    sameas.write(since, tmp_path / "next")
    assert read_log(tmp_path / "next")["left"].to_list() == ["5", "9", "7"]
    other = sameas.dedupe(
        table(NOW), id="id", since=tmp_path / "next", seeds=[("4", "5")], reject=[("6", "9")]
    )
    assert {"45", "6e2"} <= set(named(other).values())
    known = dict(other.clusters.changes.select("cluster", "reason").iter_rows())
    assert known[{members: name for name, members in named(other).items()}["45"]] == "known"


def test_contradicting_decisions_of_an_earlier_run_are_said_and_kept(run, tmp_path, caplog):
    folder = tmp_path / "run"
    sameas.write(sameas.read_run(run), folder)
    decided(folder, Claim("6", "7", "accept"), Claim("7", "8", "accept"), Claim("6", "8", "reject"))
    since = sameas.dedupe(table(BEFORE), id="id", since=folder)
    (said,) = caplog.messages
    assert said.startswith("6 and 8 are given as different")
    assert "678" in named(since).values()
    assert (since.inputs.seeds.height, since.inputs.reject.height) == (2, 1)
    sameas.write(since, tmp_path / "next")
    assert len(read_log(tmp_path / "next")) == 3


def test_rows_are_followed_where_a_table_has_no_ids():
    rows = table(BEFORE).drop("id")
    before = sameas.dedupe(rows)
    one_more = pl.concat([table([("", "Zoe Quill", "1999-01-01", "Bern")]).drop("id"), rows])
    now = sameas.dedupe(one_more, since=before)
    assert named(now).keys() == named(before).keys()
    assert set(now.clusters.changes["change"]) == {"kept"}
    assert now.summary()["since"]["entities"] == {"new": 1, "changed": 0, "gone": 0}


def test_runs_of_other_graphs_are_refused(run, tmp_path):
    others = table([("1", "Cy", "1701-01-01", "Bonn"), ("2", "Di", "1702-01-01", "Nice")])
    with pytest.raises(InputError, match="is a run of another graph: of the entities, 0% are"):
        sameas.dedupe(others, id="id", since=run)
    two = sameas.align(table(BEFORE), table(NOW))
    with pytest.raises(InputError, match="no run of one graph but of two"):
        sameas.dedupe(table(NOW), id="id", since=two)
    with pytest.raises(InputError, match="no run of two graphs but of one"):
        sameas.align(table(BEFORE), table(NOW), since=run)
    three = sameas.align(table(BEFORE), table(NOW), table(BEFORE[:4]))
    with pytest.raises(InputError, match="no run of one graph but of two, or of several"):
        sameas.dedupe(table(NOW), id="id", since=three)
    with pytest.raises(InputError, match="is not a run folder"):
        sameas.dedupe(table(NOW), id="id", since=tmp_path)


def test_the_command_prints_what_became_of_clusters(tmp_path):
    """Files have other names each week, which changes no name of a cluster."""
    for name, rows in (("one", BEFORE), ("two", NOW)):
        table(rows).write_csv(tmp_path / f"{name}.csv")
    runner, last = CliRunner(), str(tmp_path / "run")
    first = runner.invoke(main, ["dedupe", str(tmp_path / "one.csv"), "-o", last])
    assert first.exit_code == 0, first.output
    words = ["dedupe", str(tmp_path / "two.csv"), "--since", last, "-o"]
    second = runner.invoke(main, [*words, str(tmp_path / "next")])
    assert second.exit_code == 0, second.output
    assert "no member has changed" in second.output
    assert "1 kept, 1 new, 1 changed, 1 gone" in second.output
    names = [set(named(sameas.read_run(tmp_path / run))) for run in ("run", "next")]
    assert len(names[0] & names[1]) == 2
    values = json.loads(runner.invoke(main, [*words, str(tmp_path / "3.csv"), "--json"]).stdout)
    assert values["since"]["clusters"] == {"kept": 1, "new": 1, "changed": 1, "gone": 1}
    assert set(pl.read_csv(tmp_path / "3.csv")["cluster"]) == names[1]
    table(BEFORE[:2]).with_columns(
        name=pl.lit("X"), born=pl.Series(["1", "2"]), city=pl.lit("Y")
    ).write_csv(tmp_path / "other.csv")
    refused = runner.invoke(
        main, ["dedupe", str(tmp_path / "other.csv"), "--since", last, "-o", str(tmp_path / "o")]
    )
    assert refused.exit_code == 2
    assert "is a run of another graph" in refused.stderr
    assert not (tmp_path / "o").exists()
