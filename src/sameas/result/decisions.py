"""Decisions of reviewers about pairs of entities: an SQLite database in the run folder.

Each decision is a row that is never removed: it can be undone, and then says by whom and when.
The state of a pair follows from the decisions that stand, and is kept beside them:

  open       nobody has decided, or everything was undone
  accept     the two are the same
  reject     they are not
  unsure     someone looked and could not tell
  no-match   the entity has no counterpart; the other one of the pair is ""
  conflict   reviewers disagree about the pair, or about who the partner of an entity is
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import polars as pl

from sameas.errors import InputError, OptionError, OutputError, writing_to

FILE = "decisions.sqlite"
Verdict = Literal["accept", "reject", "unsure", "no-match", "open"]
"""What a reviewer says; "open" withdraws what the same reviewer said earlier."""
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
STATES = ("open", "accept", "reject", "unsure", "no-match", "conflict")
TABLES = """
CREATE TABLE IF NOT EXISTS decisions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  request TEXT NOT NULL,    -- chosen by who asks: the same request is stored once
  part INTEGER NOT NULL,
  left TEXT NOT NULL,       -- "" if the right entity has no match
  right TEXT NOT NULL,
  verdict TEXT NOT NULL,
  reviewer TEXT NOT NULL,
  time TEXT NOT NULL,
  undone_by TEXT,
  undone_time TEXT,
  UNIQUE (request, part)
);
CREATE INDEX IF NOT EXISTS by_left ON decisions (left);
CREATE INDEX IF NOT EXISTS by_right ON decisions (right);
CREATE TABLE IF NOT EXISTS states (
  left TEXT NOT NULL, right TEXT NOT NULL, state TEXT NOT NULL,
  version INTEGER NOT NULL,  -- grows with every change, so that pages can ask what is new
  PRIMARY KEY (left, right)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_version ON states (version);
"""


class Claim(NamedTuple):
    """What a reviewer says about a pair; one of the two is "" for the verdict no-match."""

    left: str
    right: str
    verdict: Verdict


Pair = tuple[str, str]
Row = tuple[str, str, str, str]
"""left, right, verdict, reviewer of a decision."""


@contextmanager
def decisions_of(run: Path) -> Iterator[sqlite3.Connection]:
    """The database of a run folder, to read and to write; it is made if it is not there."""
    path = run / FILE
    try:
        connection = sqlite3.connect(path, timeout=30, isolation_level=None)
        connection.row_factory = sqlite3.Row
        # A commit is on disk before it is confirmed, whatever becomes of the process.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        found = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'by_version'")
        if not found.fetchone()[0]:
            connection.executescript(f"BEGIN IMMEDIATE; {TABLES} COMMIT;")
    except sqlite3.Error as error:
        raise OutputError(
            f"{path}: decisions cannot be kept there ({error}); copy the run folder to a place "
            "that can be written to"
        ) from None
    with writing_to(path), closing(connection):
        yield connection


def decide(
    connection: sqlite3.Connection,
    claims: Sequence[Claim],
    *,
    reviewer: str,
    request: str,
    single: tuple[bool, bool] = (True, True),
) -> dict[Pair, str]:
    """Store claims as one request; the states of all pairs that it concerns.

    A request that is stored already is not stored again. What the same reviewer accepted earlier
    and what cannot hold beside a new claim is withdrawn. ``single`` says whether a left, and
    whether a right entity has one partner at most.
    """
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        stored = connection.execute(
            "SELECT left, right FROM decisions WHERE request = ?", [request]
        )
        if pairs := [(left, right) for left, right in stored]:
            return _refresh(connection, pairs, single)
        pairs = [claim[:2] for claim in claims]
        standing = _latest(_rows_about(connection, pairs))
        earlier = [
            Claim(*pair, "open")
            for (pair, who), verdict in standing.items()
            if who == reviewer
            and pair not in pairs
            and any(_clash(claim, Claim(*pair, verdict), single) for claim in claims)
        ]
        every = [*claims, *earlier]
        connection.executemany(
            "INSERT INTO decisions (request, part, left, right, verdict, reviewer, time) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(request, part, *claim, reviewer, _now()) for part, claim in enumerate(every)],
        )
        return _refresh(connection, [claim[:2] for claim in every], single)


def undo(
    connection: sqlite3.Connection,
    request: str,
    *,
    reviewer: str,
    single: tuple[bool, bool] = (True, True),
) -> dict[Pair, str]:
    """Undo all decisions of a request; the states of all pairs that it concerns.

    Reviewers undo what they decided themselves. Undoing something twice changes nothing.
    """
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        query = "SELECT left, right, reviewer FROM decisions WHERE request = ?"
        rows = connection.execute(query, [request]).fetchall()
        if not rows:
            raise OptionError("there is no such decision to undo")
        if rows[0]["reviewer"] != reviewer:
            raise OptionError(
                f"this was decided by {rows[0]['reviewer']}, who alone can undo it; decide "
                "otherwise, and both decisions are shown"
            )
        connection.execute(
            "UPDATE decisions SET undone_by = ?, undone_time = ? "
            "WHERE request = ? AND undone_by IS NULL",
            [reviewer, _now(), request],
        )
        return _refresh(connection, [(row["left"], row["right"]) for row in rows], single)


def state_of(pair: Pair, rows: Iterable[Row], single: tuple[bool, bool]) -> str:
    """The state of a pair by the decisions about it and about pairs that share an entity with it.

    >>> said = [("a", "x", "accept", "Ada"), ("a", "y", "accept", "Bo")]
    >>> state_of(("a", "x"), said, (True, True))
    'conflict'
    """
    latest = _latest(rows)
    verdicts = {verdict for (other, _), verdict in latest.items() if other == pair} - {"open"}
    definite = verdicts - {"unsure"}
    if len(definite) > 1:
        return "conflict"
    if not definite:
        return "unsure" if verdicts else "open"
    claim = Claim(*pair, definite.pop())
    others = (Claim(*other, verdict) for (other, _), verdict in latest.items() if other != pair)
    return "conflict" if any(_clash(claim, other, single) for other in others) else claim.verdict


def _latest(rows: Iterable[Row]) -> dict[tuple[Pair, str], Verdict]:
    """The last verdict of each reviewer about each pair; rows are in the order of their time."""
    return {((left, right), who): verdict for left, right, verdict, who in rows}  # type: ignore[misc]


def _clash(one: Claim, other: Claim, single: tuple[bool, bool]) -> bool:
    """Whether two claims about different pairs cannot both hold."""
    verdicts = {one.verdict, other.verdict}
    if not verdicts <= {"accept", "no-match"}:
        return False
    shared = [a == b != "" for a, b in zip(one[:2], other[:2], strict=True)]
    return any(
        same and (alone or verdicts == {"accept", "no-match"})
        for same, alone in zip(shared, single, strict=True)
    )


def _rows_about(connection: sqlite3.Connection, pairs: Iterable[Pair]) -> list[Row]:
    """The standing decisions that share an entity with one of these pairs, oldest first."""
    rows: dict[int, Row] = {}
    query = (
        "SELECT id, left, right, verdict, reviewer FROM decisions WHERE undone_by IS NULL "
        "AND ((left = ?1 AND ?1 != '') OR (right = ?2 AND ?2 != ''))"
    )
    for pair in pairs:
        rows |= {row["id"]: tuple(row)[1:] for row in connection.execute(query, pair)}
    return [rows[number] for number in sorted(rows)]


def _refresh(
    connection: sqlite3.Connection, pairs: Sequence[Pair], single: tuple[bool, bool]
) -> dict[Pair, str]:
    """Find and store the states of these pairs, and of those that share an entity with them."""
    concerned = {*pairs, *((row[0], row[1]) for row in _rows_about(connection, pairs))}
    found = {
        pair: state_of(pair, _rows_about(connection, [pair]), single) for pair in sorted(concerned)
    }
    connection.executemany(
        "INSERT INTO states VALUES (?, ?, ?, (SELECT 1 + coalesce(max(version), 0) FROM states)) "
        "ON CONFLICT DO UPDATE SET state = excluded.state, version = excluded.version",
        [(*pair, state) for pair, state in found.items()],
    )
    return found


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def copy_decisions(run: Path, to: Path) -> None:
    """Copy the decisions of one run folder to another, if it has any."""
    if (run / FILE).is_file():
        with decisions_of(run) as source, closing(sqlite3.connect(to / FILE)) as target:
            source.backup(target)


def read_decisions(run: Path) -> pl.DataFrame | None:
    """left, right, state, reviewer, time of every pair that was decided; None without a database.

    The reviewer and time are those of the last decision about the pair; several reviewers who
    agree are named together.
    """
    path = run / FILE
    if not path.is_file():
        return None
    query = """
        SELECT s.left, s.right, s.state, group_concat(DISTINCT d.reviewer) AS reviewer,
               max(d.time) AS time
        FROM states s LEFT JOIN decisions d
          ON d.left = s.left AND d.right = s.right AND d.verdict = s.state AND d.undone_by IS NULL
        WHERE s.state != 'open' GROUP BY s.left, s.right ORDER BY s.left, s.right
    """
    schema = dict.fromkeys(("left", "right", "state", "reviewer", "time"), pl.String)
    # A lock needs a place: a folder that cannot be written to is read without one.
    for mode in ("mode=ro", "immutable=1"):
        name = f"{path.absolute().as_uri()}?{mode}"
        try:
            with closing(sqlite3.connect(name, uri=True, timeout=30)) as connection:
                rows = connection.execute(query).fetchall()
            return pl.DataFrame(rows, schema=schema, orient="row")
        except sqlite3.Error as error:
            problem = error
    raise InputError(
        path, f"cannot be read ({problem}); move it away to go on without the decisions"
    )


def decided_links(run: Path, state: Literal["accept", "reject"]) -> pl.DataFrame:
    """The pairs (left, right) that were accepted or rejected in a run folder.

    An entity without a match rejects all candidates that the run kept for it.
    """
    found = read_decisions(run)
    if found is None:
        raise InputError(run, f"holds no decisions yet; make some with: sameas review {run}")
    pairs = found.filter(pl.col("state") == state).select("left", "right")
    if state == "reject":
        alone = found.filter(pl.col("state") == "no-match")
        candidates = pl.read_parquet(run / "candidates.parquet", columns=["left", "right"])
        of_alone = pl.any_horizontal(
            pl.col(side).is_in(alone[side].filter(alone[side] != "").implode())
            for side in ("left", "right")
        )
        accepted = found.filter(pl.col("state") == "accept")
        pairs = pl.concat([pairs, candidates.filter(of_alone)]).unique(maintain_order=True)
        pairs = pairs.join(accepted, on=["left", "right"], how="anti", maintain_order="left")
    return pairs
