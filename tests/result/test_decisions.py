"""Decisions: states that follow from them, requests that are stored once, and undoing."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from sameas.errors import InputError, OptionError, OutputError
from sameas.result.decisions import (
    FILE,
    TABLES,
    Claim,
    copy_decisions,
    decide,
    decided_links,
    decisions_of,
    read_decisions,
    undo,
)

people = st.sampled_from(["Ada", "Bo", "Cy"])
pairs = st.one_of(
    st.tuples(
        st.sampled_from("abc"), st.sampled_from("xyz"), st.sampled_from(["accept", "reject"])
    ),
    st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), st.sampled_from(["unsure", "open"])),
    st.tuples(st.sampled_from("abc"), st.just(""), st.just("no-match")),
    st.tuples(st.just(""), st.sampled_from("xyz"), st.just("no-match")),
)


def coherent(claims):
    """One request says one thing of a pair, and does not accept what excludes each other."""
    ends = [(left, right) for left, right, _ in claims]
    firm = [claim for claim in claims if claim[2] in ("accept", "no-match")]
    return len(set(ends)) == len(ends) and len(firm) <= 1


steps = st.lists(
    st.one_of(
        st.tuples(people, st.lists(pairs, min_size=1, max_size=2).filter(coherent)),
        st.integers(0, 11),
    ),
    max_size=12,
)


@given(steps, st.tuples(st.booleans(), st.booleans()))
@settings(max_examples=60, deadline=None)
def test_states_follow_from_the_decisions_that_stand(events, single):
    """Undoing is asked for in the reverse order of decisions, as a reviewer does it."""
    requests = []
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.row_factory = sqlite3.Row
        connection.executescript(TABLES)
        for number, event in enumerate(events):
            if isinstance(event, int):
                standing = [one for one in requests if not one[2]]
                if standing:
                    last = standing[-1]
                    undo(connection, last[3], reviewer=last[0], single=single)
                    last[2] = True
            else:
                reviewer, claims = event
                claims = [Claim(*claim) for claim in claims]
                decide(connection, claims, reviewer=reviewer, request=str(number), single=single)
                requests.append([reviewer, claims, False, str(number)])
        rows = connection.execute("SELECT left, right, state FROM states").fetchall()
    found = {(left, right): state for left, right, state in rows}
    expected = reference.states_of_decisions([one[:3] for one in requests], single)
    assert {pair: found.get(pair, "open") for pair in expected} == expected
    assert all(state == "open" for pair, state in found.items() if pair not in expected)


@pytest.fixture
def run(tmp_path):
    (tmp_path / "run.json").write_text("{}")
    candidates = {"left": ["a", "a", "b"], "right": ["x", "y", "x"]}
    pl.DataFrame(candidates).write_parquet(tmp_path / "candidates.parquet")
    return tmp_path


def test_a_request_is_stored_once(run):
    claims = [Claim("a", "x", "accept")]
    with decisions_of(run) as connection:
        first = decide(connection, claims, reviewer="Ada", request="1")
        assert decide(connection, claims, reviewer="Ada", request="1") == first
        assert connection.execute("SELECT count(*) FROM decisions").fetchone()[0] == 1


def test_all_claims_of_a_request_are_undone_together_by_who_made_them(run):
    claims = [Claim("a", "y", "accept"), Claim("a", "x", "reject")]
    with decisions_of(run) as connection:
        decide(connection, claims, reviewer="Ada", request="1")
        with pytest.raises(OptionError, match="decided by Ada"):
            undo(connection, "1", reviewer="Bo")
        with pytest.raises(OptionError, match="no such decision"):
            undo(connection, "2", reviewer="Ada")
        undone = undo(connection, "1", reviewer="Ada")
        assert undo(connection, "1", reviewer="Ada") == undone
        assert undone == {("a", "y"): "open", ("a", "x"): "open"}
        rows = connection.execute("SELECT undone_by, undone_time FROM decisions").fetchall()
    assert [row[0] for row in rows] == ["Ada", "Ada"]
    assert all(row[1] for row in rows)


def test_what_is_read_back(run, tmp_path):
    with decisions_of(run) as connection:
        decide(connection, [Claim("a", "x", "accept")], reviewer="Ada", request="1")
        decide(connection, [Claim("a", "x", "accept")], reviewer="Bo", request="2")
        decide(connection, [Claim("b", "y", "reject")], reviewer="Bo", request="3")
        decide(connection, [Claim("", "z", "no-match")], reviewer="Bo", request="4")
    found = read_decisions(run)
    assert found.select("left", "right", "state", "reviewer").rows() == [
        ("", "z", "no-match", "Bo"),
        ("a", "x", "accept", "Ada,Bo"),
        ("b", "y", "reject", "Bo"),
    ]
    assert decided_links(run, "accept").rows() == [("a", "x")]
    copy = tmp_path / "copy"
    copy.mkdir()
    copy_decisions(run, copy)
    assert read_decisions(copy).equals(found)
    assert (copy / FILE).is_file()


def test_an_entity_without_a_match_rejects_its_candidates_but_no_accepted_pair(run):
    with decisions_of(run) as connection:
        decide(connection, [Claim("a", "", "no-match")], reviewer="Ada", request="1")
        decide(connection, [Claim("b", "x", "accept")], reviewer="Ada", request="2")
    assert sorted(decided_links(run, "reject").rows()) == [("a", "x"), ("a", "y")]


def test_what_cannot_be_used_is_said_in_a_sentence(run, tmp_path):
    assert read_decisions(tmp_path / "none") is None
    with pytest.raises(InputError, match="holds no decisions yet; make some with: sameas review"):
        decided_links(run, "accept")
    (run / FILE).write_text("no database" * 1000)
    with pytest.raises(InputError, match="move it away"):
        read_decisions(run)
    with pytest.raises(OutputError, match="cannot be kept there"), decisions_of(run):
        pass


def test_a_folder_that_cannot_be_written_to_can_be_read(run):
    with decisions_of(run) as connection:
        decide(connection, [Claim("a", "x", "accept")], reviewer="Ada", request="1")
    run.chmod(0o555)
    try:
        assert decided_links(run, "accept").rows() == [("a", "x")]
    finally:
        run.chmod(0o755)


def test_what_another_connection_writes_is_seen_and_waited_for(run):
    with decisions_of(run) as one, decisions_of(run) as other:
        decide(one, [Claim("a", "x", "accept")], reviewer="Ada", request="1")
        states = decide(other, [Claim("a", "y", "accept")], reviewer="Bo", request="2")
        assert states == {("a", "x"): "conflict", ("a", "y"): "conflict"}
        with pytest.raises(sqlite3.IntegrityError), one:
            one.execute("INSERT INTO decisions (request, part) VALUES ('1', 0)")
