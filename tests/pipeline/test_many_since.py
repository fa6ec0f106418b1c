"""Three graphs that have changed: names of clusters, decisions, and what became of them."""

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

PEOPLE = {
    "1": ("Ada Lovelace", "1815-12-10", "London"),
    "2": ("Grace Hopper", "1906-12-09", "New York"),
    "3": ("Emmy Noether", "1882-03-23", "Erlangen"),
    "4": ("Maryam Mirzakhani", "1977-05-12", "Tehran"),
    "5": ("Sofia Kovalevskaya", "1850-01-15", "Moscow"),
    "6": ("Katherine Johnson", "1918-08-26", "White Sulphur Springs"),
    "7": ("Hypatia of Alexandria", "0360-01-01", "Alexandria"),
    "8": ("Dorothy Vaughan", "1910-09-20", "Kansas City"),
    "9": ("Florence Nightingale", "1820-05-12", "Florence"),
}
BEFORE = {"a.csv": "1234567", "b.csv": "123456", "c.csv": "12345"}
NOW = {"a.csv": "1234578", "b.csv": "1234568", "c.csv": "123456"}
"""Six has left a.csv and come to c.csv; eight is new in two."""


def tables(folder, rows):
    """Tables of some people each; a.csv and b.csv have the same ids, those of c.csv differ."""
    folder.mkdir(exist_ok=True)
    files = []
    for file, numbers in rows.items():
        before = "c" if file == "c.csv" else ""
        table = [(f"{before}{number}", *PEOPLE[number]) for number in numbers]
        pl.DataFrame(table, schema=["id", "name", "born", "city"], orient="row").write_csv(
            folder / file
        )
        files.append(str(folder / file))
    return files


def run_command(*words):
    return CliRunner().invoke(main, ["align", *map(str, words)])


def decided(run, *claims):
    """Keep decisions in a run folder."""
    with decisions_of(run) as connection:
        for number, claim in enumerate(claims):
            decide(connection, [claim], reviewer="Ada", request=str(number), single=(False, False))


def clusters_of(run):
    """The members of each cluster, by its name; each as its file and its id."""
    members = sameas.read_run(run).clusters.members
    named = members.with_columns(member=pl.col("graph").str.head(1) + pl.col("entity"))
    grouped = named.group_by("cluster").agg(pl.col("member").sort())
    return {cluster: " ".join(each) for cluster, each in grouped.iter_rows()}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("since")
    result = run_command(*tables(folder / "before", BEFORE), "-o", folder / "run")
    assert result.exit_code == 0, result.output
    return folder / "run"


def test_clusters_keep_their_names_and_what_changed_is_listed(run, tmp_path):
    out = tmp_path / "next"
    result = run_command(*tables(tmp_path / "now", NOW), "--since", run, "-o", out, "--json")
    before = {members: name for name, members in clusters_of(run).items()}
    now = {members: name for name, members in clusters_of(out).items()}
    assert {"a1 b1 cc1", "a6 b6"} <= before.keys()
    assert {"a1 b1 cc1", "b6 cc6", "a8 b8"} <= now.keys()
    assert now["a1 b1 cc1"] == before["a1 b1 cc1"]
    assert now["b6 cc6"] == before["a6 b6"]
    changes = sameas.read_run(out).clusters.changes
    rows = {name: rest for name, *rest in changes.iter_rows()}
    assert rows[now["a1 b1 cc1"]] == ["kept", "unchanged", [], [], []]
    assert rows[now["a8 b8"]][:2] == ["new", "new-entity"]
    change, reason, joined, left, _ = rows[now["b6 cc6"]]
    assert (change, reason, joined, left) == ("changed", "gone-entity", ["c6"], ["a.csv/6"])
    values = json.loads(result.stdout)
    assert values["since"]["clusters"] == {"kept": 5, "new": 1, "changed": 1, "gone": 0}
    assert values["since"]["entities"]["gone"] == 1


def test_the_new_run_is_a_run_like_others(run, tmp_path):
    out = tmp_path / "next"
    files = tables(tmp_path / "now", NOW)
    result = run_command(*files, "--since", run, "-o", out)
    assert "no member has changed" in result.output
    for words in (
        ["explain", str(out), "Ada Lovelace"],
        ["explain", str(out), "a.csv/1"],
        ["explain", str(out), "b.csv/1", "a.csv/2"],
        ["explain", str(out), "c5", "Ada Lovelace"],
        ["merge", str(out), "-o", str(tmp_path / "merged.csv")],
        ["report", str(out), "-o", str(tmp_path / "report.html")],
        ["audit", str(out)],
    ):
        each = CliRunner().invoke(main, words)
        assert each.exit_code == 0, each.output
    assert len(pl.read_csv(tmp_path / "merged.csv", infer_schema=False)) == 8
    again = run_command(*files, "--since", out, "-o", out)  # in its place
    assert again.exit_code == 0, again.output
    assert sameas.read_run(out).clusters.changes["change"].unique().to_list() == ["kept"]
    part = sameas.read_run(out / "pairs" / "1")
    assert part.changes is not None


def test_decisions_carry_over_and_those_about_gone_entities_are_counted(run, tmp_path):
    earlier, out = tmp_path / "earlier", tmp_path / "next"
    before, now = (tables(tmp_path / name, rows) for name, rows in (("b", BEFORE), ("n", NOW)))
    run_command(*before, "-o", earlier)
    decided(
        earlier,
        Claim("a.csv/1", "c1", "reject"),
        Claim("b.csv/1", "c1", "reject"),
        Claim("7", "c5", "accept"),
        Claim("a.csv/6", "b.csv/6", "accept"),
    )
    result = run_command(*now, "--since", earlier, "-o", out, "--json")
    assert json.loads(result.stdout)["since"]["lost_decisions"] == 1
    found = clusters_of(out).values()
    assert "a1 b1" in found
    assert any("a7" in members and "cc5" in members for members in found)
    assert len(read_log(out)) == 3
    reasons = sameas.read_run(out).clusters.changes.filter(pl.col("left").list.contains("c1"))
    assert reasons["reason"].to_list() == ["rejected"]
    # What is given now takes precedence.
    reject = tmp_path / "reject.csv"
    reject.write_text("left,right\nc5,7\n")
    run_command(*now, "--since", earlier, "--reject", reject, "-o", out)
    assert not any("a7" in members and "cc5" in members for members in clusters_of(out).values())


def test_an_undone_decision_is_not_carried_over(run, tmp_path):
    earlier, out = tmp_path / "earlier", tmp_path / "next"
    files = tables(tmp_path / "b", BEFORE)
    run_command(*files, "-o", earlier)
    decided(earlier, Claim("7", "c5", "accept"))
    run_command(*files, "--since", earlier, "-o", out)
    with decisions_of(out) as connection:
        undone = [Claim("7", "c5", "open")]
        decide(connection, undone, reviewer="Ada", request="x", single=(False, False))
    run_command(*files, "--since", out, "-o", tmp_path / "last")
    assert not any("a7" in members for members in clusters_of(tmp_path / "last").values())


def test_decisions_of_two_of_the_graphs_carry_over(run, tmp_path):
    earlier, out = tmp_path / "earlier", tmp_path / "next"
    files = tables(tmp_path / "b", BEFORE)
    run_command(*files, "-o", earlier)
    decided(earlier / "pairs" / "2", Claim("7", "c5", "accept"))
    result = run_command(*files, "--since", earlier, "-o", out)
    assert result.exit_code == 0, result.output
    assert any("a7" in members and "cc5" in members for members in clusters_of(out).values())


def test_contradicting_decisions_are_said_and_none_is_lost(run, tmp_path, caplog):
    earlier, out = tmp_path / "earlier", tmp_path / "next"
    files = tables(tmp_path / "b", BEFORE)
    run_command(*files, "-o", earlier)
    decided(
        earlier,
        Claim("a.csv/1", "b.csv/1", "accept"),
        Claim("b.csv/1", "c1", "accept"),
        Claim("a.csv/1", "c1", "reject"),
    )
    result = run_command(*files, "--since", earlier, "-o", out)
    assert "a.csv/1 and c1 are given as different" in result.output
    assert "a1 b1 cc1" in clusters_of(out).values()
    assert len(read_log(out)) == 3


def test_rows_without_ids_are_told_by_what_they_hold():
    columns = ("name", "born", "city")
    rows = [dict(zip(columns, values, strict=True)) for values in PEOPLE.values()]
    earlier = sameas.align(rows[1:6], rows[1:7], rows[1:8], no_audit=True)
    since = sameas.align(rows[:6], rows[:7], rows[:8], no_audit=True, since=earlier)
    changes = dict(since.clusters.changes.group_by("change").len().iter_rows())
    assert changes == {"kept": len(earlier.clusters), "new": 1}


def test_another_run_is_refused(run, tmp_path):
    files = tables(tmp_path / "now", NOW)
    two = tmp_path / "two"
    run_command(*files[:2], "-o", two)
    others = {
        letter: [(f"{letter}{n}", f"{word} {letter}", word) for n, word in enumerate(words.split())]
        for letter, words in (("x", "oak elm ash fir"), ("y", "oak elm yew"), ("z", "fir elm bay"))
    }
    strangers = []
    for letter, rows in others.items():
        file = tmp_path / f"{letter}.csv"
        pl.DataFrame(rows, schema=["id", "name", "tree"], orient="row").write_csv(file)
        strangers.append(str(file))
    cases = {
        "is a run of two graphs, or of one; give one of 3 graphs": (files, two),
        "is a run of 3 graphs; give one of 4 graphs": ([*files, strangers[0]], run),
        "is a run of a.csv, b.csv, c.csv in this order": (files[::-1], run),
        "is a run of other graphs: of the entities of x.csv, 0% are known": (strangers, run),
        "is not a run folder": (files, tmp_path / "now"),
        "is no run of two graphs but of one, or of several": (files[:2], run),
    }
    for message, (inputs, since) in cases.items():
        result = run_command(*inputs, "--since", since, "-o", tmp_path / "none")
        assert result.exit_code == 2, message
        assert message in " ".join(result.output.split())
    assert not (tmp_path / "none").exists()
    with pytest.raises(InputError, match="`since`: is a run of 3 graphs"):
        sameas.align(*files, strangers[0], since=sameas.read_run(run))
