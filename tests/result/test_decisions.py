"""Decisions: states that follow from them, requests that are stored once, and undoing."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

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


def test_no_link_is_followed_to_another_database(run, tmp_path):
    other = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE precious (x)")
    before = other.read_bytes()
    (tmp_path / "copy").mkdir()
    for ending in ("", "-wal", "-journal"):
        link = run / f"{FILE}{ending}"
        link.symlink_to(other)
        with pytest.raises(InputError, match="must be a file, not a link"), decisions_of(run):
            pass
        if not ending:
            for read in (read_decisions, lambda run: copy_decisions(run, tmp_path / "copy")):
                with pytest.raises(InputError, match="must be a file, not a link"):
                    read(run)
        link.unlink()
    assert other.read_bytes() == before
    assert not list((tmp_path / "copy").iterdir())


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"


@pytest.mark.parametrize(
    "script",
    [
        f"DROP TABLE states; CREATE VIEW states AS SELECT '' AS left, '' AS right, ({ENDLESS}"
        " WHERE i < 0) AS state, 1 AS version",
        f"CREATE TRIGGER t BEFORE INSERT ON decisions BEGIN {ENDLESS}; END",
        "CREATE TABLE more (x)",
        "DROP TABLE states",
    ],
)
def test_views_and_triggers_of_a_stranger_do_not_run(run, tmp_path, script):
    with decisions_of(run) as connection:
        connection.executescript(script)
    before = (run / FILE).read_bytes()
    for use in (read_decisions, lambda run: decisions_of(run).__enter__()):
        with pytest.raises(InputError, match="is no database of decisions; move it away"):
            use(run)
    assert (run / FILE).read_bytes() == before


@pytest.mark.parametrize("claims", [
    [Claim("a", "x", "accept"), Claim("a", "x", "reject")],
    [Claim("a", "x", "accept"), Claim("a", "x", "accept")],
    [Claim("a", "x", "accept"), Claim("a", "y", "accept")],
    [Claim("a", "x", "accept"), Claim("b", "x", "accept")],
    [Claim("a", "x", "accept"), Claim("a", "", "no-match")],
])  # fmt: skip
def test_a_request_that_contradicts_itself_is_not_stored(run, claims):
    with decisions_of(run) as connection:
        with pytest.raises(OptionError, match="a request must"):
            decide(connection, claims, reviewer="Ada", request="1")
        for table in ("decisions", "states"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 0


def test_what_was_replaced_does_not_come_back_beside_what_replaced_it(run):
    with decisions_of(run) as connection:
        for partner in "xyz":
            claim = Claim("a", partner, "accept")
            decide(connection, [claim], reviewer="Ada", request=partner)
        states = undo(connection, "y", reviewer="Ada")
    assert states == {("a", "x"): "open", ("a", "y"): "open", ("a", "z"): "accept"}


# --- everything that can happen to a database of decisions ---


class Reviewing(RuleBasedStateMachine):
    """Reviewers decide, repeat and undo in any order, and processes end in between.

    What is stored is compared with a list of requests and the slow definition of states.
    """

    single = (True, True)

    def __init__(self):
        super().__init__()
        self.folder = TemporaryDirectory()
        self.run = Path(self.folder.name)
        self.requests = {}  # reviewer, claims, undone, by request
        self.open()

    def open(self):
        self.scope = ExitStack()
        self.connection = self.scope.enter_context(decisions_of(self.run))

    def teardown(self):
        self.scope.close()
        self.folder.cleanup()

    @rule(reviewer=people, claims=st.lists(pairs, min_size=1, max_size=3))
    def decide(self, reviewer, claims):
        request, stored = str(len(self.requests)), [Claim(*claim) for claim in claims]
        if not reference.can_hold_together(claims, self.single):
            with pytest.raises(OptionError, match="a request must"):
                decide(
                    self.connection, stored, reviewer=reviewer, request=request, single=self.single
                )
            return
        states = decide(
            self.connection, stored, reviewer=reviewer, request=request, single=self.single
        )
        self.requests[request] = [reviewer, claims, False]
        assert {claim[:2] for claim in stored} <= states.keys()

    @precondition(lambda self: self.requests)
    @rule(data=st.data(), reviewer=people, claims=st.lists(pairs, min_size=1, max_size=2))
    def send_a_request_again(self, data, reviewer, claims):
        """Whatever it says now, the first one counts."""
        request = data.draw(st.sampled_from(sorted(self.requests)))
        claims = [Claim(*claim) for claim in claims]
        decide(self.connection, claims, reviewer=reviewer, request=request, single=self.single)

    @precondition(lambda self: self.requests)
    @rule(data=st.data())
    def undo(self, data):
        """In any order, once or twice."""
        request = data.draw(st.sampled_from(sorted(self.requests)))
        states = undo(
            self.connection, request, reviewer=self.requests[request][0], single=self.single
        )
        self.requests[request][2] = True
        assert {claim[:2] for claim in self.requests[request][1]} <= states.keys()

    @precondition(lambda self: self.requests)
    @rule(data=st.data(), reviewer=people)
    def undo_what_another_decided(self, data, reviewer):
        request = data.draw(st.sampled_from(sorted(self.requests)))
        if self.requests[request][0] != reviewer:
            with pytest.raises(OptionError, match="was decided by"):
                undo(self.connection, request, reviewer=reviewer, single=self.single)

    @rule()
    def end_and_start_again(self):
        self.scope.close()
        self.open()

    @rule()
    def end_without_closing(self):
        """As a killed process leaves it: the database with its journal, copied while it is open."""
        copy = TemporaryDirectory()
        for path in self.run.iterdir():
            if not path.name.endswith("-shm"):
                shutil.copy(path, copy.name)
        self.teardown()
        self.folder, self.run = copy, Path(copy.name)
        self.open()

    @invariant()
    def nothing_is_lost_or_doubled(self):
        query = "SELECT request, part, left, right, verdict, reviewer, undone_by FROM decisions"
        stored = sorted(tuple(row) for row in self.connection.execute(query))
        assert stored == sorted(
            (request, part, *claim, reviewer, reviewer if undone else None)
            for request, (reviewer, claims, undone) in self.requests.items()
            for part, claim in enumerate(claims)
        )

    @invariant()
    def states_follow_from_what_stands(self):
        rows = self.connection.execute("SELECT left, right, state FROM states")
        states = {(left, right): state for left, right, state in rows}
        assert states == reference.states_of_decisions(self.requests.values(), self.single)


class ReviewingSeveralPartners(Reviewing):
    """The same where a left entity may have several partners."""

    single = (False, True)


TestReviewing = Reviewing.TestCase
TestReviewingSeveralPartners = ReviewingSeveralPartners.TestCase
TestReviewing.settings = settings(max_examples=15, stateful_step_count=30)
TestReviewingSeveralPartners.settings = TestReviewing.settings


def test_comments_and_predicates_are_kept_also_in_a_database_of_version_0_1(run):
    with closing(sqlite3.connect(run / FILE)) as connection:
        connection.executescript(TABLES)
        connection.execute(
            "INSERT INTO decisions (request, part, left, right, verdict, reviewer, time) "
            "VALUES ('0', 0, 'a', 'x', 'accept', 'Ada', '2030-01-01')"
        )
        connection.execute("INSERT INTO states VALUES ('a', 'x', 'accept', 1)")
        connection.commit()
    assert read_decisions(run)["predicate", "comment"].rows() == [("exact", "")]
    with decisions_of(run) as connection:
        for reviewer, comment in (("Ada", "part of it"), ("Bo", "")):
            claim = Claim("b", "y", "reject", "broad", comment)
            decide(connection, [claim], reviewer=reviewer, request=reviewer)
        with pytest.raises(OptionError, match="the verdict must be reject"):
            decide(connection, [Claim("c", "z", "accept", "narrow")], reviewer="Ada", request="3")
    found = read_decisions(run).select("left", "state", "predicate", "comment", "reviewer").rows()
    assert found == [
        ("a", "accept", "exact", "", "Ada"),
        ("b", "reject", "broad", "part of it", "Ada,Bo"),
    ]
