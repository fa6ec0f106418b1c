"""Clusters under review: the list, one cluster with its members, and what is decided about it.

Decisions are kept as those about links are: as pairs that are the same, and pairs that are not.
So ``--seeds RUN`` and ``--reject RUN`` take them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from sameas.errors import OptionError
from sameas.options.declare import Option
from sameas.result.cluster_decisions import (
    Contradiction,
    Grouping,
    Pair,
    contradictions,
    decided_groups,
)
from sameas.result.decisions import Claim, Verdict
from sameas.web.review.parameters import Record, request_values
from sameas.web.review.queue import AT_ONCE, PAGE, Queue, full_text, ids_named

ORDERS = {
    "certainty": ("c.id", False),
    "size": ("c.size", True),
    "name": ("c.name_order", False),
}
"""The orders of the list: a column, and whether the largest come first."""
CLUSTER_STATES = ("open", "accept", "changed", "reject", "unsure", "conflict")
"""What was decided about a cluster: nothing; all members are the same; some were taken out or
joined; all differ; someone could not tell; decisions contradict each other."""
CLUSTER_FILTER = (
    Option("the order", name="sort", choices=tuple(ORDERS), default="certainty"),
    Option("what was decided", name="status", choices=("all", *CLUSTER_STATES), default="open"),
    Option("beginnings of words in the names, or an id", name="text", default=""),
)
ACTIONS = ("same", "different", "split", "join", "unsure")
ACTION = (
    Option("the name of a cluster", name="cluster"),
    Option(
        "same: all members are the same (or those that are given); different: no two of them are; "
        "split: those that are given are not the same as the others; join: those that are given "
        "belong to the cluster too; unsure",
        name="action",
        choices=ACTIONS,
    ),
    Option("ids of entities", name="members", default=(), several=True),
    Option("why", name="comment", default=""),
)
GRAPH = "(SELECT g.name FROM graphs g WHERE g.first <= e.id ORDER BY g.first DESC LIMIT 1)"
MEMBERS = f"""
SELECT m.cluster, e.id, e.uri, e.name, e.type, e.fact, m.confidence, m.split, {GRAPH} AS graph
FROM members m JOIN entities e ON e.id = m.entity
"""
DECIDED_PAIRS = """
SELECT s.left, s.right, s.state, m.cluster AS one, n.cluster AS other FROM states s
JOIN entities e ON e.uri = s.left AND e.side = 'left'
JOIN entities f ON f.uri = s.right AND f.side = 'left'
LEFT JOIN members m ON m.entity = e.id LEFT JOIN members n ON n.entity = f.id
WHERE s.state != 'open' ORDER BY s.left, s.right
"""
SHOWN_NAMES = 4
"""Members whose names a row of the list shows."""


@dataclass(frozen=True)
class Decided:
    """What stands about all clusters, by pair."""

    states: dict[Pair, str]
    clusters: dict[int, list[Pair]]
    """The decided pairs that touch each cluster."""
    links: dict[Pair, tuple[int | None, int | None]]
    """The clusters of both entities of a pair."""

    def pairs(self, state: str, of: Iterable[Pair] | None = None) -> list[Pair]:
        """The pairs in a state, of all or of these."""
        return [pair for pair in (self.states if of is None else of) if self.states[pair] == state]


def decided_pairs(queue: Queue) -> Decided:
    """What stands about pairs of entities."""
    rows = queue.rows(DECIDED_PAIRS)
    touched: dict[int, list[Pair]] = {}
    for row in rows:
        for cluster in {row["one"], row["other"]} - {None}:
            touched.setdefault(cluster, []).append((row["left"], row["right"]))
    return Decided(
        {(row["left"], row["right"]): row["state"] for row in rows},
        touched,
        {(row["left"], row["right"]): (row["one"], row["other"]) for row in rows},
    )


def cluster_states(queue: Queue, decided: Decided) -> dict[int, str]:
    """What was decided about each cluster about which something was."""
    sizes = {}
    for row in queue.rows("SELECT id, size FROM clusters"):
        if row["id"] in decided.clusters:
            sizes[row["id"]] = row["size"]
    at_odds = {
        cluster
        for found in contradictions(decided.pairs("accept"), decided.pairs("reject"))
        for cluster in decided.links[found.different]
    }
    return {
        number: "conflict" if number in at_odds else _state(number, size, decided)
        for number, size in sizes.items()
    }


def _state(number: int, size: int, decided: Decided) -> str:
    pairs = decided.clusters[number]
    if decided.pairs("conflict", pairs):
        return "conflict"
    inside = [pair for pair in pairs if decided.links[pair] == (number, number)]
    rejected, accepted = (decided.pairs(state, inside) for state in ("reject", "accept"))
    joined = [pair for pair in decided.pairs("accept", pairs) if pair not in inside]
    if len(rejected) == size * (size - 1) // 2 and not joined:
        return "reject"
    if rejected or joined:
        return "changed"
    grouping = Grouping()
    if sum(grouping.join(*pair) for pair in accepted) == size - 1:
        return "accept"
    return "unsure" if decided.pairs("unsure", inside) else "open"


# --- the list ---


def cluster_filter(values: Record) -> Record:
    """The filter of the list that these values ask for."""
    return request_values(CLUSTER_FILTER, values)


def page_of_clusters(
    queue: Queue,
    chosen: Record,
    states: dict[int, str],
    *,
    after: int | None = None,
    before: int | None = None,
    limit: int = PAGE,
) -> list[Record]:
    """Clusters that fit a filter, in its order: those that follow a cluster, or those before it."""
    column, falls = ORDERS[chosen["sort"]]
    backwards = before is not None
    place = before if backwards else after
    sign, direction = ("<", "DESC") if falls != backwards else (">", "ASC")
    where = _conditions(chosen, states)
    if place is not None:
        there = f"SELECT {column.replace('c.', 'a.')}, a.id FROM clusters a WHERE a.id = :place"
        where += f" AND ({column}, c.id) {sign} ({there})"
    query = f"""
        SELECT c.id, c.cluster, c.size, c.confidence FROM clusters c WHERE {where}
        ORDER BY {column} {direction}, c.id {direction} LIMIT :limit
    """
    words = full_text(chosen["text"])
    rows = queue.rows(query, text=chosen["text"], words=words, place=place, limit=limit)
    rows = [{**row, "state": states.get(row["id"], "open")} for row in rows]
    return rows[::-1] if backwards else rows


def count_clusters(queue: Queue, chosen: Record, states: dict[int, str]) -> int:
    """How many clusters fit a filter."""
    query = f"SELECT count(*) AS clusters FROM clusters c WHERE {_conditions(chosen, states)}"
    words = full_text(chosen["text"])
    return int(queue.rows(query, text=chosen["text"], words=words)[0]["clusters"])


def _conditions(chosen: Record, states: dict[int, str]) -> str:
    where, status = ["true"], chosen["status"]
    if status == "open":
        numbers = ",".join(str(number) for number, state in states.items() if state != "open")
        where.append(f"c.id NOT IN ({numbers})")
    elif status != "all":
        numbers = ",".join(str(number) for number, state in states.items() if state == status)
        where.append(f"c.id IN ({numbers})")
    if chosen["text"]:
        named = "SELECT rowid FROM cluster_names WHERE cluster_names MATCH :words"
        if ids_named(chosen["text"]).startswith("SELECT id"):
            named = "SELECT NULL"
        by_id = "SELECT m.cluster FROM members m JOIN entities e ON e.id = m.entity"
        where.append(f"(c.id IN ({named}) OR c.id IN ({by_id} WHERE e.uri = :text))")
    return " AND ".join(where)


def with_members(queue: Queue, rows: list[Record]) -> list[Record]:
    """Rows of the list with the first members of each cluster."""
    numbers = ",".join(str(row["id"]) for row in rows)
    query = f"{MEMBERS} WHERE m.cluster IN ({numbers}) AND m.place < {SHOWN_NAMES}"
    members: dict[int, list[Record]] = {}
    for member in queue.rows(f"{query} ORDER BY m.cluster, m.place"):
        members.setdefault(member["cluster"], []).append(member)
    return [{**row, "members": members[row["id"]]} for row in rows]


# --- one cluster ---


@dataclass(frozen=True)
class Shown:
    """A cluster with its members, those that were joined to it included."""

    row: Record
    """id, cluster, size, confidence."""
    members: list[Record]
    """id, uri, name, type, fact, graph, confidence, split; the canonical one first."""
    own: list[str]
    """The ids of the members that the run gave it."""
    groups: list[list[str]]
    """The members in groups, as decided; the canonical one is in the first."""
    scores: dict[Pair, float]
    holding: list[Pair]
    decided: dict[Pair, str]
    problems: list[Contradiction]

    @property
    def uris(self) -> list[str]:
        """The ids of all members."""
        return [member["uri"] for member in self.members]

    @property
    def parts(self) -> list[list[str]]:
        """The groups of two members or more."""
        return [group for group in self.groups if len(group) > 1]


def find_cluster(queue: Queue, name: str) -> Shown | None:
    """The cluster of this name, with what was joined to it; None if there is none."""
    row = next(iter(queue.rows("SELECT * FROM clusters WHERE cluster = :name", name=name)), None)
    if row is None:
        return None
    decided = decided_pairs(queue)
    numbers, others = _joined(row["id"], decided)
    listed = ",".join(map(str, numbers))
    clusters = [
        queue.rows(f"{MEMBERS} WHERE m.cluster = :number ORDER BY m.place", number=number)
        for number in numbers
    ]
    alone = [each for uri in others for each in _alone(queue, uri)]
    members = [member for cluster in clusters for member in cluster] + alone
    pairs = queue.rows(f"""
        SELECT e.uri AS one, f.uri AS other, p.score, p.holds FROM cluster_pairs p
        JOIN entities e ON e.id = p.one JOIN entities f ON f.id = p.other
        WHERE p.cluster IN ({listed}) ORDER BY p.score DESC, p.one, p.other
    """)
    scores = {(pair["one"], pair["other"]): pair["score"] for pair in pairs}
    inside = {member["uri"] for member in members}
    states = {pair: state for pair, state in decided.states.items() if {*pair} <= inside}
    accepted, rejected = ([p for p, s in states.items() if s == each] for each in VERDICTS)
    likely = [pair for pair, score in scores.items() if score > 0]
    return Shown(
        row=row,
        members=members,
        own=[member["uri"] for member in clusters[0]],
        groups=decided_groups(
            [[member["uri"] for member in cluster] for cluster in clusters],
            likely,
            accepted,
            rejected,
        ),
        scores=scores,
        holding=[(pair["one"], pair["other"]) for pair in pairs if pair["holds"]],
        decided=states,
        problems=contradictions(accepted, rejected),
    )


VERDICTS = ("accept", "reject")


def _joined(number: int, decided: Decided) -> tuple[list[int], list[str]]:
    """The clusters that accepted pairs lead to from one, itself first; and entities of none."""
    accepted = decided.pairs("accept")
    numbers, alone = [number], dict[str, None]()
    grown = True
    while grown:
        grown = False
        for pair in accepted:
            ends = list(zip(pair, decided.links[pair], strict=True))
            for (uri, here), (other, there) in (ends, ends[::-1]):
                known = here in numbers if here is not None else uri in alone
                if not known:
                    continue
                if there is None and other not in alone:
                    alone[other], grown = None, True
                elif there is not None and there not in numbers:
                    numbers.append(there)
                    grown = True
    return numbers, list(alone)


def _alone(queue: Queue, uri: str) -> list[Record]:
    """An entity of no cluster, as members are listed."""
    query = f"""
        SELECT e.id, e.uri, e.name, e.type, e.fact, NULL AS confidence, 0 AS split, {GRAPH} AS graph
        FROM entities e WHERE e.uri = :uri AND e.side = 'left'
    """
    return queue.rows(query, uri=uri)


# --- decisions ---


def claims_of(
    shown: Shown, values: Record, order: dict[str, int], others: dict[str, list[str]]
) -> list[Claim]:
    """What an action says of pairs of members.

    ``order`` are the numbers of all entities meant, and ``others`` the groups of those that are
    joined: who joins a cluster brings its own along. All of them are accepted as the same, because
    the next run would part the members again that a single accepted pair leaves open.
    """
    action, chosen = values["action"], list(dict.fromkeys(values["members"]))
    inside = shown.uris
    if action != "join" and (strangers := [uri for uri in chosen if uri not in inside]):
        raise OptionError(f"members must be those of the cluster, got {strangers[0]!r}")
    rest = [uri for uri in inside if uri not in chosen]
    pairs: Iterable[Pair]
    verdict: Verdict = "reject"
    if action == "same":
        verdict, pairs = "accept", _same(shown, [chosen] if len(chosen) > 1 else shown.parts)
    elif action == "different":
        pairs = combinations(inside, 2)
    elif action == "split":
        if not chosen or not rest:
            raise OptionError("choose at least one member to split off, and leave at least one")
        pairs = product(chosen, rest)
    elif action == "join":
        if not chosen or any(uri in shown.groups[0] for uri in chosen):
            raise OptionError("choose an entity that is not in the cluster yet")
        every = [*shown.groups[0], *(each for uri in chosen for each in others[uri])]
        verdict, pairs = "accept", _same(shown, [every])
    else:
        verdict, pairs = "unsure", shown.holding or [(inside[0], inside[1])]
    made = {tuple(sorted(pair, key=order.__getitem__)): None for pair in pairs}
    if len(made) > AT_ONCE:
        raise OptionError(
            f"that would decide about {len(made):,} pairs; at most {AT_ONCE:,} can be decided "
            "about at once: take out members one by one"
        )
    if not made:
        raise OptionError("nothing is left to decide: every member stands alone")
    return [Claim(one, other, verdict, comment=values["comment"]) for one, other in made]


def group_with(queue: Queue, uri: str) -> list[Record]:
    """An entity and the others of its cluster, as decided: id, uri and more."""
    query = """
        SELECT c.cluster FROM entities e JOIN members m ON m.entity = e.id
        JOIN clusters c ON c.id = m.cluster WHERE e.uri = :uri AND e.side = 'left'
    """
    for row in queue.rows(query, uri=uri):
        shown = find_cluster(queue, row["cluster"])
        assert shown is not None
        group = next(group for group in shown.groups if uri in group)
        return [member for member in shown.members if member["uri"] in group]
    return _alone(queue, uri)


def _same(shown: Shown, groups: Sequence[Sequence[str]]) -> list[Pair]:
    """Pairs that connect the members of each group: its strongest links, and what is missing.

    Rejected pairs within a group are among them, because they would contradict.
    """
    pairs = []
    for group in groups:
        grouping, inside = Grouping(), {*group}
        likely = (pair for pair, score in shown.scores.items() if score > 0)
        links = [*shown.holding, *likely, *((group[0], uri) for uri in group[1:])]
        pairs += [pair for pair in links if {*pair} <= inside and grouping.join(*pair)]
        pairs += [
            pair for pair, state in shown.decided.items() if state == "reject" and {*pair} <= inside
        ]
    return pairs
