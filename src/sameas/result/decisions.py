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
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import polars as pl

from sameas.errors import InputError, OptionError, OutputError, writing_to

FILE = "decisions.sqlite"
Verdict = Literal["accept", "reject", "unsure", "no-match", "open"]
"""What a reviewer says; "open" withdraws what the same reviewer said earlier."""
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
FIRM = ("accept", "no-match")
"""Verdicts that can exclude others about the same entity."""
Predicate = Literal["exact", "broad", "narrow", "related"]
"""What the right entity is to the left one: the same, something broader, something narrower, or
something else that has to do with it. All but "exact" go with the verdict "reject": the two are
not the same."""
PREDICATES: tuple[Predicate, ...] = get_args(Predicate)
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
REMARKS = """
CREATE TABLE IF NOT EXISTS remarks (  -- only of decisions that have one
  request TEXT NOT NULL, part INTEGER NOT NULL, predicate TEXT NOT NULL, comment TEXT NOT NULL,
  PRIMARY KEY (request, part)
) WITHOUT ROWID;
"""
"""What version 0.1 did not keep."""


class Claim(NamedTuple):
    """What a reviewer says about a pair; one of the two is "" for the verdict no-match."""

    left: str
    right: str
    verdict: Verdict
    predicate: Predicate = "exact"
    comment: str = ""


Pair = tuple[str, str]
Row = tuple[str, str, str, str]
"""left, right, verdict, reviewer of a decision."""


def require_own_file(database: Path) -> None:
    """Raise an InputError if a database of a run folder, or a journal of it, is a link.

    Otherwise the run folder of a stranger could have tables made in another database.
    """
    for ending in ("", "-journal", "-wal", "-shm"):
        path = database.with_name(database.name + ending)
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise InputError(path, "must be a file, not a link to another place; move it away")


NO_DECISIONS = "is no database of decisions; move it away to go on without it"
Schema = tuple[tuple[str, ...], ...]
"""Type, name, table and definition of everything in a database."""


def schema_of(connection: sqlite3.Connection) -> Schema:
    """What a database consists of, besides its rows."""
    query = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master ORDER BY type, name"
    return tuple(tuple(row) for row in connection.execute(query))


@cache
def schema_made_by(script: str) -> Schema:
    """What the database consists of that an SQL script makes."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(script)
        return schema_of(connection)


def _require_tables(connection: sqlite3.Connection, path: Path) -> None:
    """Raise an InputError unless a database has our tables and nothing else.

    Views and triggers of a stranger could compute without end.
    """
    if schema_of(connection) != schema_made_by(TABLES + REMARKS):
        raise InputError(path, NO_DECISIONS)


@contextmanager
def decisions_of(run: Path) -> Iterator[sqlite3.Connection]:
    """The database of a run folder, to read and to write; it is made if it is not there."""
    path = run / FILE
    require_own_file(path)
    try:
        connection = sqlite3.connect(path, timeout=30, isolation_level=None)
    except sqlite3.Error as error:
        raise _cannot_keep(path, error) from None
    with closing(connection):
        try:
            connection.row_factory = sqlite3.Row
            if schema_of(connection) in ((), schema_made_by(TABLES)):  # new, or of version 0.1
                connection.executescript(f"BEGIN IMMEDIATE; {TABLES} {REMARKS} COMMIT;")
            _require_tables(connection, path)
            # A commit is on disk before it is confirmed, whatever becomes of the process.
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
        except sqlite3.Error as error:
            raise _cannot_keep(path, error) from None
        with writing_to(path):
            yield connection


def _cannot_keep(path: Path, error: sqlite3.Error) -> OutputError:
    return OutputError(
        f"{path}: decisions cannot be kept there ({error}); copy the run folder to a place "
        "that can be written to"
    )


def decide(
    connection: sqlite3.Connection,
    claims: Sequence[Claim],
    *,
    reviewer: str,
    request: str,
    single: tuple[bool, bool] = (True, True),
) -> dict[Pair, str]:
    """Store claims as one request; the states of all pairs that it concerns.

    A request that is stored already is not stored again. A reviewer's claim replaces their
    earlier ones about the pair, and those that cannot hold beside it. ``single`` says whether a
    left, and whether a right entity has one partner at most.
    """
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        query = "SELECT left, right FROM decisions WHERE request = ?"
        pairs = [(left, right) for left, right in connection.execute(query, [request])]
        if not pairs:
            _require_coherent(claims, single)
            connection.executemany(
                "INSERT INTO decisions (request, part, left, right, verdict, reviewer, time) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (request, part, *claim[:3], reviewer, _now())
                    for part, claim in enumerate(claims)
                ],
            )
            connection.executemany(
                "INSERT INTO remarks (request, part, predicate, comment) VALUES (?, ?, ?, ?)",
                [
                    (request, part, claim.predicate, claim.comment)
                    for part, claim in enumerate(claims)
                    if claim.predicate != "exact" or claim.comment
                ],
            )
            pairs = [claim[:2] for claim in claims]
        return refresh_states(connection, pairs, single)


def _require_coherent(claims: Sequence[Claim], single: tuple[bool, bool]) -> None:
    """Raise an OptionError if one request says two things that cannot both hold."""
    pairs = {claim[:2] for claim in claims}
    if len(pairs) < len(claims):
        raise OptionError("a request must have one claim about a pair at most")
    for claim in claims:
        if claim.predicate != "exact" and claim.verdict != "reject":
            raise OptionError(
                f"predicate {claim.predicate} says that the two are not the same: the verdict "
                "must be reject"
            )
    for side, alone in enumerate(single):
        partners: dict[str, list[str]] = {}
        for claim in claims:
            if claim[side] and claim.verdict in FIRM:
                partners.setdefault(claim[side], []).append(claim.verdict)
        if any(len(v) > 1 and (alone or len(set(v)) > 1) for v in partners.values()):
            raise OptionError("a request must not give an entity two partners, or one and none")


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
        return refresh_states(connection, [(row["left"], row["right"]) for row in rows], single)


def state_of(pair: Pair, claims: Iterable[Claim], single: tuple[bool, bool]) -> str:
    """The state of a pair by the standing claims about it and about pairs that share an entity.

    >>> claims = [Claim("a", "x", "accept"), Claim("a", "y", "accept")]
    >>> state_of(("a", "x"), claims, (True, True))
    'conflict'
    """
    claims = list(claims)
    verdicts = {claim.verdict for claim in claims if claim[:2] == pair} - {"open"}
    definite = verdicts - {"unsure"}
    if len(definite) > 1:
        return "conflict"
    if not definite:
        return "unsure" if verdicts else "open"
    verdict = Claim(*pair, definite.pop())
    clash = any(_clash(verdict, claim, single) for claim in claims if claim[:2] != pair)
    return "conflict" if clash else verdict.verdict


def standing_claims(rows: Iterable[Row], single: tuple[bool, bool]) -> list[Claim]:
    """The claims that stand; rows are in the order of their time.

    A reviewer's claim replaces their earlier ones about the pair, and those that cannot hold
    beside it.
    """
    standing: dict[tuple[str, Pair], Claim] = {}
    by_entity: dict[tuple[str, int, str], list[Pair]] = {}
    for left, right, verdict, reviewer in rows:
        claim, pair = Claim(left, right, verdict), (left, right)  # type: ignore[arg-type]
        for side, uri in enumerate(pair):
            others = by_entity.setdefault((reviewer, side, uri), [])
            for other in others if uri else ():
                earlier = standing.get((reviewer, other))
                if other != pair and earlier is not None and _clash(claim, earlier, single):
                    del standing[reviewer, other]
            others.append(pair)
        standing[reviewer, pair] = claim
    return list(standing.values())


def _clash(one: Claim, other: Claim, single: tuple[bool, bool]) -> bool:
    """Whether two claims about different pairs cannot both hold."""
    verdicts = {one.verdict, other.verdict}
    if not verdicts <= {*FIRM}:
        return False
    shared = [a == b != "" for a, b in zip(one[:2], other[:2], strict=True)]
    return any(
        same and (alone or verdicts == {*FIRM}) for same, alone in zip(shared, single, strict=True)
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


def refresh_states(
    connection: sqlite3.Connection, pairs: Sequence[Pair], single: tuple[bool, bool]
) -> dict[Pair, str]:
    """Find and store the states of these pairs, and of those that they can change.

    A claim can replace others that share an entity with it, and these may have been in conflict
    with what shares an entity with them.
    """
    concerned = _neighbours(connection, _neighbours(connection, {*pairs}))
    rows = _rows_about(connection, _neighbours(connection, concerned))
    about: dict[tuple[int, str], list[Claim]] = {}
    for claim in standing_claims(rows, single):
        for side, uri in enumerate(claim[:2]):
            about.setdefault((side, uri), []).append(claim)
    states = {}
    for pair in sorted(concerned):
        claims = (about.get((side, uri), []) for side, uri in enumerate(pair) if uri)
        states[pair] = state_of(pair, chain.from_iterable(claims), single)
    connection.executemany(
        "INSERT INTO states VALUES (?, ?, ?, (SELECT 1 + coalesce(max(version), 0) FROM states)) "
        "ON CONFLICT DO UPDATE SET state = excluded.state, version = excluded.version",
        [(*pair, state) for pair, state in states.items()],
    )
    return states


def _neighbours(connection: sqlite3.Connection, pairs: set[Pair]) -> set[Pair]:
    """These pairs, and those with a standing decision that share an entity with one of them."""
    return pairs | {(row[0], row[1]) for row in _rows_about(connection, pairs)}


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def copy_decisions(run: Path, to: Path) -> None:
    """Copy the decisions of one run folder to another, if it has any; nothing else is written."""
    path = to / FILE
    if (run / FILE).is_file():
        with (
            closing(open_to_read(run / FILE)) as source,
            writing_to(path),
            closing(sqlite3.connect(path)) as target,
        ):
            source.backup(target)


def read_decisions(run: Path) -> pl.DataFrame | None:
    """What was decided about every pair that was; None without a database.

    Columns: left, right, state, reviewer, time, predicate, comment. The reviewer and time are
    those of the last decision about the pair; several reviewers who agree are named together, and
    so are their comments.
    """
    path = run / FILE
    if not path.is_file():
        return None
    query = """
        SELECT CAST(s.left AS TEXT), CAST(s.right AS TEXT), CAST(s.state AS TEXT),
               group_concat(DISTINCT d.reviewer), CAST(max(d.time) AS TEXT), {}
        FROM states s LEFT JOIN decisions d
          ON d.left = s.left AND d.right = s.right AND d.verdict = s.state AND d.undone_by IS NULL
          {}
        WHERE s.state != 'open' GROUP BY s.left, s.right ORDER BY s.left, s.right
    """
    names = ("left", "right", "state", "reviewer", "time", "predicate", "comment")
    try:
        with closing(open_to_read(path)) as connection:
            schema = schema_of(connection)
            remarks = (
                REMARKED if schema == schema_made_by(TABLES + REMARKS) else ("'exact', ''", "")
            )
            rows = connection.execute(query.format(*remarks)).fetchall() if schema else []
    except sqlite3.Error as error:
        raise unreadable(path, error) from None
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


REMARKED = (
    # The predicate that most of those who agree name; "exact" only if nobody names another.
    "coalesce(max(nullif(r.predicate, 'exact')), 'exact'), "
    "coalesce(replace(group_concat(DISTINCT nullif(r.comment, '')), ',', ', '), '')",
    "LEFT JOIN remarks r ON r.request = d.request AND r.part = d.part",
)
"""Columns and join that add remarks to decisions."""


def open_to_read(path: Path) -> sqlite3.Connection:
    """A connection that cannot change the database."""
    require_own_file(path)
    # Locks leave files behind, and need a place for them. They are needed only beside a journal.
    is_shared = path.with_name(f"{path.name}-wal").exists()
    for mode in ("mode=ro", "immutable=1") if is_shared else ("immutable=1",):
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True, timeout=30)
        try:
            schema = schema_of(connection)
        except sqlite3.Error as error:
            connection.close()
            problem = error
            continue
        # none yet, of version 0.1, or ours
        if schema not in ((), schema_made_by(TABLES), schema_made_by(TABLES + REMARKS)):
            connection.close()
            raise InputError(path, NO_DECISIONS)
        return connection
    raise unreadable(path, problem)


def unreadable(path: Path, error: Exception) -> InputError:
    """The error for a database that cannot be read."""
    remedy = "move it away to go on without the decisions"
    return InputError(path, f"cannot be read ({error}); {remedy}")


def decided_links(run: Path, state: Literal["accept", "reject"]) -> pl.DataFrame:
    """The pairs (left, right) that were accepted or rejected in a run folder."""
    decisions = read_decisions(run)
    if decisions is None:
        raise InputError(run, f"holds no decisions yet; make some with: sameas review {run}")
    if state == "accept":
        return accepted_pairs(decisions)
    return rejected_pairs(decisions, pl.read_parquet(run / "candidates.parquet"))


def accepted_pairs(decisions: pl.DataFrame) -> pl.DataFrame:
    """The pairs (left, right) that decisions accept."""
    return decisions.filter(pl.col("state") == "accept").select("left", "right")


def rejected_pairs(decisions: pl.DataFrame, candidates: pl.DataFrame) -> pl.DataFrame:
    """The pairs (left, right) that decisions reject.

    An entity without a match rejects all candidates that the run kept for it.
    """
    pairs = decisions.filter(pl.col("state") == "reject").select("left", "right")
    alone = decisions.filter(pl.col("state") == "no-match")
    of_alone = pl.any_horizontal(
        pl.col(side).is_in(alone[side].filter(alone[side] != "").implode())
        for side in ("left", "right")
    )
    of_alone_pairs = candidates.filter(of_alone).select("left", "right")
    every = pl.concat([pairs, of_alone_pairs]).unique(maintain_order=True)
    accepted = accepted_pairs(decisions)
    return every.join(accepted, on=["left", "right"], how="anti", maintain_order="left")
