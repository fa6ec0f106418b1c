"""Pages of links, of unmatched entities and of decisions, out of the databases of a run folder.

A page begins after (or ends before) a given row in the chosen order, so that every page is found
at once by an index, and deciding about a row does not move the others.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sameas import decisions
from sameas.review import index

Side = Literal["left", "right"]
Record = dict[str, Any]
SORTS = {
    "certainty": ("l.id", False),
    "score": ("l.score", False),
    "name": ("l.name_order", False),
    "degree": ("l.degree", True),
    "disagreement": ("l.disagreement", True),
}
"""The orders of the queue: a column, and whether the largest come first."""
PAGE = 50
COUNTED = 1000
"""Rows that fit a filter are counted up to this number."""
LINK = """
SELECT l.id, e.uri AS left, f.uri AS right, e.name AS left_name, f.name AS right_name, l.score,
       l.confidence, l.degree, l.disagreement, coalesce(s.state, 'open') AS state
FROM links l JOIN entities e ON e.id = l.left JOIN entities f ON f.id = l.right
LEFT JOIN states s ON s.left = e.uri AND s.right = f.uri
"""
# CROSS JOIN keeps the order of tables: from the few rows to what they refer to.
DECIDED = """
SELECT 1 FROM entities e CROSS JOIN entities f ON f.id = l.right
CROSS JOIN states s ON s.left = e.uri AND s.right = f.uri AND s.state != 'open'
"""
OF_STATE = """
SELECT k.id FROM states t CROSS JOIN entities g ON g.uri = t.left AND g.side = 'left'
CROSS JOIN links k ON k.left = g.id CROSS JOIN entities h ON h.id = k.right AND h.uri = t.right
WHERE t.state = ?
"""
ALIKE = """
SELECT e.uri AS left, f.uri AS right
FROM entities a CROSS JOIN entities b ON b.uri = ?2 AND b.side = 'right'
CROSS JOIN entities e ON e.name = a.name AND e.side = 'left' CROSS JOIN links l ON l.left = e.id
CROSS JOIN entities f ON f.id = l.right AND f.name = b.name
LEFT JOIN states s ON s.left = e.uri AND s.right = f.uri
WHERE a.uri = ?1 AND a.side = 'left' AND a.name != '' AND b.name != ''
"""
ALIKE_ALONE = """
SELECT iif(e.side = 'left', e.uri, '') AS left, iif(e.side = 'right', e.uri, '') AS right
FROM entities a CROSS JOIN entities e ON e.name = a.name AND e.side = a.side
CROSS JOIN unmatched u ON u.entity = e.id
LEFT JOIN states s
  ON s.left = iif(e.side = 'left', e.uri, '') AND s.right = iif(e.side = 'right', e.uri, '')
WHERE a.uri = ?1 || ?2 AND a.side = iif(?2 = '', 'left', 'right') AND a.name != ''
"""
BY_URI = "SELECT id FROM entities WHERE uri = ?"
UNMATCHED = """
SELECT u.id, u.side, e.uri, e.name, u.reason, f.uri AS candidate, f.name AS candidate_name,
       u.score, coalesce(s.state, 'open') AS state
FROM unmatched u JOIN entities e ON e.id = u.entity LEFT JOIN entities f ON f.id = u.candidate
LEFT JOIN states s
  ON s.left = iif(u.side = 'left', e.uri, '') AND s.right = iif(u.side = 'right', e.uri, '')
"""


@dataclass(frozen=True, kw_only=True)
class Filter:
    """Which links the queue shows, and in which order."""

    sort: str = "certainty"
    status: str = "open"
    """A state of decisions, or "all"."""
    text: str = ""
    """The beginnings of words in either name; or the URI of an entity."""
    relation: str = ""
    type: str = ""
    low: float = 0.0
    """The least confidence."""
    high: float = 1.0


@contextmanager
def databases(run: Path) -> Iterator[sqlite3.Connection]:
    """The decisions of a run folder and its index as one connection that cannot write."""
    with decisions.decisions_of(run) as connection:
        connection.execute("ATTACH ? AS indexed", [str(run / index.FILE)])
        connection.execute("PRAGMA query_only = ON")
        yield connection


def about(connection: sqlite3.Connection) -> Record:
    """What the index says about the run, and how many pairs are in each state."""
    rows = connection.execute("SELECT name, value FROM about WHERE name != 'stamp'")
    values: Record = {row["name"]: json.loads(row["value"]) for row in rows}
    states = connection.execute("SELECT state, count(*) AS n FROM states GROUP BY state")
    values["states"] = {row["state"]: row["n"] for row in states if row["state"] != "open"}
    return values


def facets(connection: sqlite3.Connection, kind: str, *, limit: int = 200) -> list[Record]:
    """The relations or types that most links have: uri, links."""
    query = "SELECT uri, links FROM facets WHERE kind = ? ORDER BY links DESC, uri LIMIT ?"
    return _records(connection, query, [kind, limit])


def page_of_links(
    connection: sqlite3.Connection,
    chosen: Filter,
    *,
    after: int | None = None,
    before: int | None = None,
    limit: int = PAGE,
) -> list[Record]:
    """Links that fit a filter, in its order: those that follow a link, or those before it."""
    column, falls = SORTS[chosen.sort]
    where, values = _conditions(chosen)
    backwards = before is not None
    anchor = before if backwards else after
    if anchor is not None:
        sign = "<" if falls != backwards else ">"
        inner = column.replace("l.", "a.")
        where.append(f"({column}, l.id) {sign} (SELECT {inner}, a.id FROM links a WHERE a.id = ?)")
        values.append(anchor)
    direction = "DESC" if falls != backwards else "ASC"
    order = f"ORDER BY {column} {direction}, l.id {direction}"
    found = f"SELECT l.id FROM links l WHERE {' AND '.join(where) or 'true'} {order} LIMIT ?"
    rows = _records(connection, f"{LINK} WHERE l.id IN ({found}) {order}", [*values, limit])
    return rows[::-1] if backwards else rows


def count_links(connection: sqlite3.Connection, chosen: Filter) -> int:
    """How many links fit a filter; at most ``COUNTED`` and one."""
    where, values = _conditions(chosen)
    query = f"SELECT 1 FROM links l WHERE {' AND '.join(where) or 'true'} LIMIT ?"
    found = _one(connection, f"SELECT count(*) AS n FROM ({query})", [*values, COUNTED + 1])
    return int(found["n"])


def _conditions(chosen: Filter) -> tuple[list[str], list[Any]]:
    where: list[str] = []
    values: list[Any] = []
    if chosen.status == "open":
        where.append(f"NOT EXISTS ({DECIDED} WHERE e.id = l.left)")
    elif chosen.status != "all":
        where.append(f"l.id IN ({OF_STATE})")
        values.append(chosen.status)
    if chosen.text:
        found, wanted = _named(chosen.text)
        if found == BY_URI:
            where.append(f"(l.left IN ({found}) OR l.right IN ({found}))")
            values += [wanted, wanted]
        else:
            where.append("l.id IN (SELECT rowid FROM link_names WHERE link_names MATCH ?)")
            values.append(wanted)
    for kind, uri in (("relation", chosen.relation), ("type", chosen.type)):
        if uri:
            where.append(
                "EXISTS (SELECT 1 FROM link_facets p WHERE p.link = l.id AND p.facet = "
                "(SELECT id FROM facets WHERE kind = ? AND uri = ?))"
            )
            values += [kind, uri]
    for bound, sign, order in ((chosen.low, ">=", "ASC"), (chosen.high, "<=", "DESC")):
        if bound != (0.0 if sign == ">=" else 1.0):  # links are numbered by their confidence
            end = f"SELECT id FROM links WHERE confidence {sign} ?"
            # In another order its index is walked, so that nothing has to be sorted.
            column = "l.id" if chosen.sort == "certainty" else "+l.id"
            where.append(f"{column} {sign} ({end} ORDER BY confidence {order}, id {order} LIMIT 1)")
            values.append(bound)
    return where, values


def _named(text: str) -> tuple[str, str]:
    """A query for the ids of entities by the words of a text or by a URI, and its parameter."""
    words = re.findall(r"\w+", text)
    if "://" in text or not words:
        return BY_URI, text
    return "SELECT rowid FROM names WHERE names MATCH ?", " ".join(f'"{word}"*' for word in words)


def find_link(connection: sqlite3.Connection, left: str, right: str) -> Record | None:
    """The link between two entities, if the run has it."""
    rows = _records(
        connection, f"{LINK} WHERE e.side = 'left' AND e.uri = ? AND f.uri = ?", [left, right]
    )
    return rows[0] if rows else None


def find_entity(connection: sqlite3.Connection, side: Side, uri: str) -> Record | None:
    """uri, name, degree of an entity; None if the graph has no such entity."""
    query = "SELECT id, uri, name, degree FROM entities WHERE uri = ? AND side = ?"
    rows = _records(connection, query, [uri, side])
    return rows[0] if rows else None


def search_entities(
    connection: sqlite3.Connection, side: Side, text: str, *, limit: int = 20
) -> list[Record]:
    """Entities of a side with all these words in their names; well-connected ones first."""
    found, wanted = _named(text)
    query = (
        f"SELECT uri, name, degree FROM entities WHERE id IN ({found}) AND side = ? "
        "ORDER BY length(name) > ?, degree DESC, id LIMIT ?"
    )
    return _records(connection, query, [wanted, side, len(text), limit])


def page_of_unmatched(
    connection: sqlite3.Connection,
    side: Side,
    *,
    text: str = "",
    reason: str = "",
    status: str = "open",
    after: int = 0,
    limit: int = PAGE,
) -> list[Record]:
    """Unmatched entities of a side, the nearest misses first."""
    where = ["u.side = ?", "u.id > ?"]
    values: list[Any] = [side, after]
    if text:
        found, wanted = _named(text)
        where.append(f"u.entity IN ({found})")
        values.append(wanted)
    if reason:
        where.append("u.reason = ?")
        values.append(reason)
    if status != "all":
        where.append("coalesce(s.state, 'open') = ?")
        values.append(status)
    query = f"{UNMATCHED} WHERE {' AND '.join(where)} ORDER BY u.id LIMIT ?"
    return _records(connection, query, [*values, limit])


def alike(connection: sqlite3.Connection, claim: decisions.Claim) -> list[decisions.Claim]:
    """The same claim about every open link with the same two names; at most ``COUNTED``.

    Of an entity without a match, about every open unmatched entity of its name.
    """
    if claim.verdict == "open":
        return []
    query = ALIKE_ALONE if claim.verdict == "no-match" else ALIKE
    rows = connection.execute(
        f"{query} AND coalesce(s.state, 'open') = 'open' ORDER BY e.id LIMIT {COUNTED}", claim[:2]
    )
    pairs = ((row["left"], row["right"]) for row in rows)
    return [decisions.Claim(*pair, claim.verdict) for pair in pairs if pair != claim[:2]]


def states_about(connection: sqlite3.Connection, side: Side, uri: str) -> list[Record]:
    """The states of all pairs of an entity that were decided about: left, right, state."""
    query = f"SELECT left, right, state FROM states WHERE {side} = ? AND state != 'open'"
    return _records(connection, query, [uri])


def changes(connection: sqlite3.Connection, since: int, *, limit: int = 1000) -> Record:
    """The states that changed after a version, and the version that they lead to."""
    query = (
        "SELECT left, right, state, version FROM states WHERE version > ? ORDER BY version LIMIT ?"
    )
    rows = _records(connection, query, [since, limit])
    return {"version": rows[-1]["version"] if rows else since, "states": rows}


def version(connection: sqlite3.Connection) -> int:
    """The version of the last change of a state."""
    return int(_one(connection, "SELECT coalesce(max(version), 0) AS n FROM states")["n"])


def history(
    connection: sqlite3.Connection,
    *,
    left: str = "",
    right: str = "",
    before: int | None = None,
    limit: int = PAGE,
) -> list[Record]:
    """Decisions, the latest first, undone ones included; of one pair, or of all."""
    where = ["(?1 IS NULL OR d.id < ?1)"]
    values: list[Any] = [before]
    if left or right:
        where.append("d.left = ?2 AND d.right = ?3")
        values += [left, right]
    query = f"""
        SELECT d.*, e.name AS left_name, f.name AS right_name, s.state
        FROM decisions d LEFT JOIN entities e ON e.uri = d.left AND e.side = 'left'
        LEFT JOIN entities f ON f.uri = d.right AND f.side = 'right'
        JOIN states s ON s.left = d.left AND s.right = d.right
        WHERE {" AND ".join(where)} ORDER BY d.id DESC LIMIT {limit}
    """
    return _records(connection, query, values)


def conflicts(connection: sqlite3.Connection, *, limit: int = PAGE) -> list[Record]:
    """Pairs about which reviewers disagree, with who says what."""
    query = """
        SELECT s.left, s.right, e.name AS left_name, f.name AS right_name,
               (SELECT group_concat(d.reviewer || ': ' || d.verdict, ', ') FROM decisions d
                WHERE d.left = s.left AND d.right = s.right AND d.undone_by IS NULL) AS said
        FROM states s LEFT JOIN entities e ON e.uri = s.left AND e.side = 'left'
        LEFT JOIN entities f ON f.uri = s.right AND f.side = 'right'
        WHERE s.state = 'conflict' ORDER BY s.version LIMIT ?
    """
    return _records(connection, query, [limit])


def _records(connection: sqlite3.Connection, query: str, values: list[Any]) -> list[Record]:
    return [dict(row) for row in connection.execute(query, values)]


def _one(connection: sqlite3.Connection, query: str, values: list[Any] | None = None) -> Record:
    return dict(connection.execute(query, values or []).fetchone())
