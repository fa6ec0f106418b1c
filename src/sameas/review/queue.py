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
from typing import Any

from sameas import decisions
from sameas.review import index
from sameas.review.parameters import Parameter, Record, check_all

SORTS = {
    "certainty": ("l.id", False),
    "score": ("l.score", False),
    "name": ("l.name_order", False),
    "degree": ("l.degree", True),
    "disagreement": ("l.disagreement", True),
}
"""The orders of the queue: a column, and whether the largest come first."""
FILTER = (
    Parameter("sort", "the order", choices=tuple(SORTS), default="certainty"),
    Parameter("status", "the state of links", choices=("all", *decisions.STATES), default="open"),
    Parameter("text", "beginnings of words in either name, or a URI", default=""),
    Parameter("relation", "a relation that either entity has", default=""),
    Parameter("type", "a type that either entity has", default=""),
    Parameter("low", "the least confidence", type="number", default=0.0, most=1),
    Parameter("high", "the largest confidence", type="number", default=1.0, most=1),
)
"""Which links the queue shows, and in which order."""
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
NAMES = """
LEFT JOIN entities e ON e.uri = s.left AND e.side = 'left'
LEFT JOIN entities f ON f.uri = s.right AND f.side = 'right'
"""
BY_URI = "SELECT id FROM entities WHERE uri = ?"
UNMATCHED = """
SELECT u.id, u.side, e.uri, e.name, u.reason, f.uri AS candidate, f.name AS candidate_name,
       u.score, coalesce(s.state, 'open') AS state
FROM unmatched u JOIN entities e ON e.id = u.entity LEFT JOIN entities f ON f.id = u.candidate
LEFT JOIN states s
  ON s.left = iif(u.side = 'left', e.uri, '') AND s.right = iif(u.side = 'right', e.uri, '')
"""


def filter_of(values: Record) -> Record:
    """The filter of the queue that these values ask for."""
    return check_all(FILTER, values)


@contextmanager
def open_queue(run: Path) -> Iterator[Queue]:
    """The queue of a run folder that has an index."""
    with decisions.decisions_of(run) as connection:
        connection.execute("ATTACH ? AS indexed", [str(run / index.FILE)])
        connection.execute("PRAGMA query_only = ON")
        yield Queue(connection)


@dataclass(frozen=True)
class Queue:
    """The index of a run folder and the decisions about it, to be read."""

    connection: sqlite3.Connection

    def about(self) -> Record:
        """What the index says about the run, and how many pairs are in each state."""
        about = self.connection.execute("SELECT name, value FROM about WHERE name != 'stamp'")
        query = "SELECT state, count(*) FROM states WHERE state != 'open' GROUP BY state"
        states = dict(self.connection.execute(query).fetchall())
        return {name: json.loads(value) for name, value in about} | {"states": states}

    def facets(self, kind: str) -> list[Record]:
        """The relations or types that most links have: uri, links."""
        query = "SELECT uri, links FROM facets WHERE kind = ? ORDER BY links DESC, uri LIMIT 200"
        return self._rows(query, kind)

    def page_of_links(
        self,
        chosen: Record,
        *,
        after: int | None = None,
        before: int | None = None,
        limit: int = PAGE,
    ) -> list[Record]:
        """Links that fit a filter, in its order: those that follow a link, or those before it."""
        column, falls = SORTS[chosen["sort"]]
        where, values = _conditions(chosen)
        backwards = before is not None
        anchor = before if backwards else after
        sign, direction = ("<", "DESC") if falls != backwards else (">", "ASC")
        if anchor is not None:
            place = f"SELECT {column.replace('l.', 'a.')}, a.id FROM links a WHERE a.id = ?"
            where += f" AND ({column}, l.id) {sign} ({place})"
            values.append(anchor)
        order = f"ORDER BY {column} {direction}, l.id {direction}"
        found = f"SELECT l.id FROM links l WHERE {where} {order} LIMIT ?"
        rows = self._rows(f"{LINK} WHERE l.id IN ({found}) {order}", *values, limit)
        return rows[::-1] if backwards else rows

    def count_links(self, chosen: Record) -> int:
        """How many links fit a filter; at most ``COUNTED`` and one."""
        where, values = _conditions(chosen)
        query = f"SELECT count(*) FROM (SELECT 1 FROM links l WHERE {where} LIMIT {COUNTED + 1})"
        return int(self.connection.execute(query, values).fetchone()[0])

    def find_link(self, left: str, right: str) -> Record | None:
        """The link between two entities, if the run has it."""
        query = f"{LINK} WHERE e.side = 'left' AND e.uri = ? AND f.uri = ?"
        return self._row(query, left, right)

    def find_entity(self, side: str, uri: str) -> Record | None:
        """id, uri, name, degree of an entity; None if the graph has no such entity."""
        query = "SELECT id, uri, name, degree FROM entities WHERE uri = ? AND side = ?"
        return self._row(query, uri, side)

    def search_entities(self, side: str, text: str) -> list[Record]:
        """Entities of a side with all these words in their names; well-connected ones first."""
        found, wanted = _named(text)
        query = (
            f"SELECT uri, name, degree FROM entities WHERE id IN ({found}) AND side = ? "
            "ORDER BY length(name) > ?, degree DESC, id LIMIT 20"
        )
        return self._rows(query, wanted, side, len(text))

    def page_of_unmatched(
        self, side: str, *, text: str = "", reason: str = "", status: str = "open", after: int = 0
    ) -> list[Record]:
        """Unmatched entities of a side, the nearest misses first."""
        conditions: list[tuple[str, Any]] = [("u.side = ?", side), ("u.id > ?", after)]
        if text:
            found, wanted = _named(text)
            conditions.append((f"u.entity IN ({found})", wanted))
        if reason:
            conditions.append(("u.reason = ?", reason))
        if status != "all":
            conditions.append(("coalesce(s.state, 'open') = ?", status))
        where, values = zip(*conditions, strict=True)
        query = f"{UNMATCHED} WHERE {' AND '.join(where)} ORDER BY u.id LIMIT {PAGE}"
        return self._rows(query, *values)

    def find_claim(self, request: str) -> decisions.Claim | None:
        """The first claim of a request that was not undone."""
        query = "SELECT left, right, verdict FROM decisions WHERE request = ? AND part = 0"
        row = self._row(f"{query} AND undone_by IS NULL", request)
        return decisions.Claim(**row) if row else None

    def alike(self, claim: decisions.Claim) -> list[decisions.Claim]:
        """The same claim about every open link with the same two names; at most ``COUNTED``.

        Of an entity without a match, about every open unmatched entity of its name.
        """
        if claim.verdict == "open":
            return []
        query = ALIKE_ALONE if claim.verdict == "no-match" else ALIKE
        pairs = self.connection.execute(
            f"{query} AND coalesce(s.state, 'open') = 'open' ORDER BY e.id LIMIT {COUNTED}",
            claim[:2],
        )
        others = (claim._replace(left=left, right=right) for left, right in pairs)
        return [other for other in others if other != claim]

    def state_of(self, left: str, right: str) -> str:
        """The state of a pair."""
        query = "SELECT state FROM states WHERE left = ? AND right = ?"
        row = self._row(query, left, right)
        return row["state"] if row else "open"

    def states_about(self, side: str, uri: str) -> list[Record]:
        """The states of all pairs of an entity that were decided about: left, right, state."""
        query = f"SELECT left, right, state FROM states WHERE {side} = ? AND state != 'open'"
        return self._rows(query, uri)

    def changes(self, since: int) -> Record:
        """The states that changed after a version, and the version that they lead to."""
        query = "SELECT left, right, state, version FROM states WHERE version > ?"
        rows = self._rows(f"{query} ORDER BY version LIMIT 1000", since)
        return {"version": rows[-1]["version"] if rows else since, "states": rows}

    def version(self) -> int:
        """The version of the last change of a state."""
        query = "SELECT coalesce(max(version), 0) FROM states"
        return int(self.connection.execute(query).fetchone()[0])

    def history(
        self, *, left: str = "", right: str = "", before: int | None = None
    ) -> list[Record]:
        """Decisions, the latest first, undone ones included; of one pair, or of all."""
        of_pair = "AND d.left = ?2 AND d.right = ?3" if left or right else ""
        query = f"""
            SELECT d.*, e.name AS left_name, f.name AS right_name, s.state
            FROM decisions d CROSS JOIN states s ON s.left = d.left AND s.right = d.right {NAMES}
            WHERE (?1 IS NULL OR d.id < ?1) {of_pair} ORDER BY d.id DESC LIMIT {PAGE}
        """
        return self._rows(query, before, *([left, right] if of_pair else []))

    def conflicts(self) -> list[Record]:
        """Pairs about which reviewers disagree, with who says what."""
        query = f"""
            SELECT s.left, s.right, e.name AS left_name, f.name AS right_name,
                   (SELECT group_concat(d.reviewer || ': ' || d.verdict, ', ') FROM decisions d
                    WHERE d.left = s.left AND d.right = s.right AND d.undone_by IS NULL) AS said
            FROM states s {NAMES} WHERE s.state = 'conflict' ORDER BY s.version LIMIT {PAGE}
        """
        return self._rows(query)

    def _rows(self, query: str, *values: Any) -> list[Record]:
        return [dict(row) for row in self.connection.execute(query, values)]

    def _row(self, query: str, *values: Any) -> Record | None:
        return next(iter(self._rows(query, *values)), None)


def _conditions(chosen: Record) -> tuple[str, list[Any]]:
    """The filter as a condition on links l, and its parameters."""
    where, values = ["true"], []
    if chosen["status"] == "open":
        where.append(f"NOT EXISTS ({DECIDED} WHERE e.id = l.left)")
    elif chosen["status"] != "all":
        where.append(f"l.id IN ({OF_STATE})")
        values.append(chosen["status"])
    if chosen["text"]:
        found, wanted = _named(chosen["text"])
        if found == BY_URI:
            where.append(f"(l.left IN ({found}) OR l.right IN ({found}))")
            values += [wanted, wanted]
        else:
            where.append("l.id IN (SELECT rowid FROM link_names WHERE link_names MATCH ?)")
            values.append(wanted)
    for kind in ("relation", "type"):
        if chosen[kind]:
            where.append(
                "EXISTS (SELECT 1 FROM link_facets p WHERE p.link = l.id AND p.facet = "
                "(SELECT id FROM facets WHERE kind = ? AND uri = ?))"
            )
            values += [kind, chosen[kind]]
    # Links are numbered by their confidence. In another order than that, its index is walked, so
    # that nothing has to be sorted.
    number = "l.id" if chosen["sort"] == "certainty" else "+l.id"
    for bound, all_of_them, sign, order in (("low", 0, ">=", "ASC"), ("high", 1, "<=", "DESC")):
        if chosen[bound] != all_of_them:
            end = f"SELECT id FROM links WHERE confidence {sign} ?"
            where.append(f"{number} {sign} ({end} ORDER BY confidence {order}, id {order} LIMIT 1)")
            values.append(chosen[bound])
    return " AND ".join(where), values


def _named(text: str) -> tuple[str, str]:
    """A query for the ids of entities by the words of a text or by a URI, and its parameter."""
    words = re.findall(r"\w+", text)
    if "://" in text or not words:
        return BY_URI, text
    return "SELECT rowid FROM names WHERE names MATCH ?", " ".join(f'"{word}"*' for word in words)
