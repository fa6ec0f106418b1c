"""Links in the order in which they are reviewed, out of the databases of a run folder.

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

from sameas.options.declare import Option
from sameas.result import decisions
from sameas.web.review.parameters import Record, request_values

SORTS = {
    "certainty": ("l.id", False),
    "teaching": ("l.teaching", True),
    "score": ("l.score", False),
    "name": ("l.name_order", False),
    "degree": ("l.degree", True),
    "disagreement": ("l.disagreement", True),
}
"""The orders of the queue: a column, and whether the largest come first."""
MOST_SHARES = 10
SHARES = tuple(f"{part}/{of}" for of in range(2, MOST_SHARES + 1) for part in range(1, of + 1))
"""Parts of the queue that reviewers can divide among them: "2/3" is the second third."""
SECOND = "second"
"""The status of links that others have decided about and the reviewer has not."""
FILTER = (
    Option("the order", name="sort", choices=tuple(SORTS), default="certainty"),
    Option(
        "the state of links; second for those that others decided about and you did not",
        name="status",
        choices=("all", *decisions.STATES, SECOND),
        default="open",
    ),
    Option("beginnings of words in either name, or a URI", name="text", default=""),
    Option("a relation that either entity has", name="relation", default=""),
    Option("a type that either entity has", name="type", default=""),
    Option("the least confidence", name="low", type=float, default=0.0, least=0, most=1),
    Option("the largest confidence", name="high", type=float, default=1.0, least=0, most=1),
    Option(
        "a part of the links: 2/3 is the second third",
        name="share",
        choices=("", *SHARES),
        default="",
    ),
)
"""Which links the queue shows, and in which order."""
PAGE = 50
ALIKE_AT_ONCE = 1000
"""Links with the same two names that are decided about at once."""
AT_ONCE = 10_000
"""Links of a filter that are decided about at once."""
LINK = """
SELECT l.id, e.uri AS left, f.uri AS right, e.name AS left_name, f.name AS right_name, l.score,
       l.confidence, l.degree, l.disagreement, l.teaching, coalesce(s.state, 'open') AS state,
       e.type AS left_type, f.type AS right_type, e.fact AS left_fact, f.fact AS right_fact
FROM links l JOIN entities e ON e.id = l.left JOIN entities f ON f.id = l.right
LEFT JOIN states s ON s.left = e.uri AND s.right = f.uri
"""
# CROSS JOIN keeps the order of tables: from the few rows to what they refer to.
DECIDED = """
SELECT 1 FROM entities e CROSS JOIN entities f ON f.id = l.right
CROSS JOIN states s ON s.left = e.uri AND s.right = f.uri AND s.state != 'open'
"""
OF_PAIRS = """
SELECT k.id, k.confidence, t.* FROM {} t CROSS JOIN entities g ON g.uri = t.left AND g.side = 'left'
CROSS JOIN links k ON k.left = g.id CROSS JOIN entities h ON h.id = k.right AND h.uri = t.right
"""
OF_STATES = f"{OF_PAIRS.format('states')} WHERE t.state != 'open'"
"""Links about which something is decided, with their states."""
OF_OTHERS = f"""
{OF_PAIRS.format("decisions")} WHERE t.undone_by IS NULL AND t.verdict != 'open'
AND t.reviewer != :reviewer AND NOT EXISTS (
  SELECT 1 FROM decisions o WHERE o.left = t.left AND o.right = t.right
  AND o.reviewer = :reviewer AND o.undone_by IS NULL AND o.verdict != 'open'
)
"""
"""Links that others have decided about and the reviewer has not."""
ALIKE = """
SELECT e.uri AS left, f.uri AS right
FROM entities a CROSS JOIN entities b ON b.uri = :right AND b.side = 'right'
CROSS JOIN entities e ON e.name = a.name AND e.side = 'left' CROSS JOIN links l ON l.left = e.id
CROSS JOIN entities f ON f.id = l.right AND f.name = b.name
LEFT JOIN states s ON s.left = e.uri AND s.right = f.uri
WHERE a.uri = :left AND a.side = 'left' AND a.name != '' AND b.name != ''
"""
ALIKE_ALONE = """
SELECT iif(e.side = 'left', e.uri, '') AS left, iif(e.side = 'right', e.uri, '') AS right
FROM entities a CROSS JOIN entities e ON e.name = a.name AND e.side = a.side
CROSS JOIN unmatched u ON u.entity = e.id
LEFT JOIN states s
  ON s.left = iif(e.side = 'left', e.uri, '') AND s.right = iif(e.side = 'right', e.uri, '')
WHERE a.uri = :left || :right AND a.side = iif(:right = '', 'left', 'right') AND a.name != ''
"""
NAMES = """
LEFT JOIN entities e ON e.uri = s.left AND e.side = 'left'
LEFT JOIN entities f ON f.uri = s.right AND f.side = 'right'
"""
BY_URI = "SELECT id FROM entities WHERE uri = :text"
BY_WORDS = "SELECT rowid FROM names WHERE names MATCH :words"


def filter_of(values: Record) -> Record:
    """The filter of the queue that these values ask for."""
    return request_values(FILTER, values)


@contextmanager
def open_queue(folder: Path, index: Path, reviewer: str = "") -> Iterator[Queue]:
    """The queue of an index for a reviewer, with the decisions in a folder."""
    with decisions.decisions_of(folder) as connection:
        connection.execute("ATTACH ? AS indexed", [str(index)])
        connection.execute("PRAGMA query_only = ON")
        yield Queue(connection, reviewer)


@dataclass(frozen=True)
class Queue:
    """The index of a run folder and the decisions about it, to be read."""

    connection: sqlite3.Connection
    reviewer: str = ""

    def about(self) -> Record:
        """What the index says about the run, and how many pairs are in each state."""
        about = self.connection.execute("SELECT name, value FROM about WHERE name != 'stamp'")
        query = "SELECT state, count(*) FROM states WHERE state != 'open' GROUP BY state"
        states = dict(self.connection.execute(query).fetchall())
        return {name: json.loads(value) for name, value in about} | {"states": states}

    def facets(self, kind: str) -> list[Record]:
        """The relations or types that most links have: uri, links."""
        query = "SELECT uri, links FROM facets WHERE kind = :kind ORDER BY links DESC, uri"
        return self.rows(f"{query} LIMIT 200", kind=kind)

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
        where, backwards = _conditions(chosen), before is not None
        place = before if backwards else after
        sign, direction = ("<", "DESC") if falls != backwards else (">", "ASC")
        if place is not None:
            there = f"SELECT {column.replace('l.', 'a.')}, a.id FROM links a WHERE a.id = :place"
            where += f" AND ({column}, l.id) {sign} ({there})"
        order = f"ORDER BY {column} {direction}, l.id {direction}"
        ids = f"SELECT l.id FROM links l WHERE {where} {order} LIMIT :limit"
        query = f"{LINK} WHERE l.id IN ({ids}) {order}"
        rows = self.rows(query, **self._given(chosen), place=place, limit=limit)
        return rows[::-1] if backwards else rows

    def count_links(self, chosen: Record) -> int:
        """How many links fit a filter."""
        if chosen["status"] == "open":  # few are decided: so that not every link is looked up
            every = {**chosen, "status": "all"}
            where = f"{_conditions(every)} AND l.id IN (SELECT id FROM ({OF_STATES}))"
            return self.count_links(every) - self._count(where, chosen)
        if chosen == filter_of({"status": "all", "sort": chosen["sort"]}):
            return int(self.about()["links"])
        return self._count(_conditions(chosen), chosen)

    def _count(self, where: str, chosen: Record) -> int:
        query = f"SELECT count(*) AS links FROM links l WHERE {where}"
        return int(self.rows(query, **self._given(chosen))[0]["links"])

    def _given(self, chosen: Record) -> Record:
        """The values of the conditions of a filter."""
        return {**chosen, "words": full_text(chosen["text"]), "reviewer": self.reviewer}

    def open_links(self, chosen: Record) -> list[decisions.Pair]:
        """left, right of the links that a filter shows and that are still to be decided about.

        Of all states, these are the open ones; at most ``AT_ONCE`` and one.
        """
        if chosen["status"] == "all":
            chosen = {**chosen, "status": "open"}
        rows = self.page_of_links(chosen, limit=AT_ONCE + 1)
        return [(row["left"], row["right"]) for row in rows]

    def decided(self) -> list[Record]:
        """id, confidence, state of every link of the run about which something is decided."""
        return self.rows(f"SELECT id, confidence, state FROM ({OF_STATES})")

    def least_certain(self, limit: int) -> list[Record]:
        """id, confidence of the least certain links."""
        query = "SELECT id, coalesce(confidence, 0.0) AS confidence FROM links ORDER BY id"
        return self.rows(f"{query} LIMIT :limit", limit=limit)

    def find_entity(self, side: str, uri: str) -> Record | None:
        """What is shown of an entity; None if the graph has no such entity."""
        query = "SELECT * FROM entities WHERE uri = :uri AND side = :side"
        return next(iter(self.rows(query, uri=uri, side=side)), None)

    def alike(self, claim: decisions.Claim) -> list[decisions.Claim]:
        """The same claim about every open link with the same two names; not more than a limit.

        Of an entity without a match, about every open unmatched entity of its name.
        """
        if claim.verdict == "open":
            return []
        query = ALIKE_ALONE if claim.verdict == "no-match" else ALIKE
        query += f" AND coalesce(s.state, 'open') = 'open' ORDER BY e.id LIMIT {ALIKE_AT_ONCE}"
        pairs = self.rows(query, left=claim.left, right=claim.right)
        return [other for pair in pairs if (other := claim._replace(**pair)) != claim]

    def version(self) -> int:
        """The version of the last change of a state."""
        (row,) = self.rows("SELECT coalesce(max(version), 0) AS last FROM states")
        return int(row["last"])

    def history(
        self, *, left: str = "", right: str = "", before: int | None = None
    ) -> list[Record]:
        """Decisions, the latest first, undone ones included; of one pair, or of all."""
        of_pair = "AND d.left = :left AND d.right = :right" if left or right else ""
        query = f"""
            SELECT d.*, e.name AS left_name, f.name AS right_name, s.state,
                   coalesce(r.predicate, 'exact') AS predicate, coalesce(r.comment, '') AS comment
            FROM decisions d CROSS JOIN states s ON s.left = d.left AND s.right = d.right {NAMES}
            LEFT JOIN remarks r ON r.request = d.request AND r.part = d.part
            WHERE (:before IS NULL OR d.id < :before) {of_pair} ORDER BY d.id DESC LIMIT {PAGE}
        """
        return self.rows(query, left=left, right=right, before=before)

    def rows(self, query: str, **values: Any) -> list[Record]:
        """The rows that a query finds."""
        return [dict(row) for row in self.connection.execute(query, values)]


def _conditions(chosen: Record) -> str:
    """The filter as a condition on links l; its values are ``_given``."""
    where = ["true"]
    if chosen["status"] == "open":
        where.append(f"NOT EXISTS ({DECIDED} WHERE e.id = l.left)")
    elif chosen["status"] == SECOND:
        where.append(f"l.id IN (SELECT id FROM ({OF_OTHERS}))")
    elif chosen["status"] != "all":
        where.append(f"l.id IN (SELECT id FROM ({OF_STATES}) WHERE state = :status)")
    if chosen["share"]:
        part, of = map(int, chosen["share"].split("/"))
        where.append(f"l.id % {of} = {part - 1}")
    if chosen["text"] and ids_named(chosen["text"]) == BY_URI:
        where.append(f"(l.left IN ({BY_URI}) OR l.right IN ({BY_URI}))")
    elif chosen["text"]:
        where.append("l.id IN (SELECT rowid FROM link_names WHERE link_names MATCH :words)")
    for kind in ("relation", "type"):
        if chosen[kind]:
            facet = f"SELECT id FROM facets WHERE kind = '{kind}' AND uri = :{kind}"
            has = f"SELECT 1 FROM link_facets p WHERE p.link = l.id AND p.facet = ({facet})"
            where.append(f"EXISTS ({has})")
    # Links are numbered by their confidence. In another order than that, its index is walked, so
    # that nothing has to be sorted.
    number = "l.id" if chosen["sort"] == "certainty" else "+l.id"
    for bound, all_of_them, sign, order in (("low", 0, ">=", "ASC"), ("high", 1, "<=", "DESC")):
        if chosen[bound] != all_of_them:
            end = f"SELECT id FROM links WHERE confidence {sign} :{bound}"
            where.append(f"{number} {sign} ({end} ORDER BY confidence {order}, id {order} LIMIT 1)")
    return " AND ".join(where)


def ids_named(text: str) -> str:
    """A query for the ids of entities by ``:text``, a URI, or ``:words``, the words of a text."""
    return BY_URI if "://" in text or not full_text(text) else BY_WORDS


def full_text(text: str) -> str:
    """The full-text query for names with words that begin like those of a text."""
    return " ".join(f'"{word}"*' for word in re.findall(r"\w+", text))
