"""Clusters as their reviewers decided: pairs that are the same, and pairs that are not."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from sameas.result.clusters import CLUSTER_SCHEMAS, Clusters, cluster_name

Pair = tuple[str, str]
PAIR = ["left", "right"]


@dataclass(frozen=True)
class Contradiction:
    """Two entities that are given as different, and as the same by way of others."""

    different: Pair
    same: tuple[Pair, ...]
    """The accepted pairs that lead from the one to the other."""


@dataclass(eq=False)
class Grouping:
    """Groups of entities that grow by joining; entities of a rejected pair are kept apart."""

    group: dict[str, int] = field(default_factory=dict)
    members: dict[int, list[str]] = field(default_factory=dict)
    apart: dict[str, set[str]] = field(default_factory=dict)
    """Each entity with those that it is not the same as."""

    def number(self, entity: str) -> int:
        """The number of an entity's group, which is a new one if it has none."""
        if entity not in self.group:
            self.group[entity] = len(self.group)
            self.members[self.group[entity]] = [entity]
        return self.group[entity]

    def join(self, one: str, other: str, *, always: bool = False) -> bool:
        """Join the groups of two entities unless a rejected pair is between them; whether it did.

        ``always`` joins them in any case.
        """
        first, second = self.number(one), self.number(other)
        if first == second:
            return False
        if len(self.members[first]) < len(self.members[second]):
            first, second = second, first
        there = self.members[first]
        moved = self.members[second]
        if not always and any(not self.apart.get(each, set()).isdisjoint(there) for each in moved):
            return False
        del self.members[second]
        there += moved
        self.group |= dict.fromkeys(moved, first)
        return True


def decided_groups(
    clusters: Sequence[Sequence[str]],
    links: Iterable[Pair],
    accepted: Iterable[Pair],
    rejected: Iterable[Pair],
) -> list[list[str]]:
    """The members of some clusters in groups, as decided.

    Accepted pairs are together whatever else is said. Then the clusters are put together again by
    their links, the strongest first, and at last by being in one cluster, wherever no rejected
    pair is in the way. Groups and members are in the order in which they are given.

    >>> decided_groups([["a", "b", "c"]], [("b", "c")], [], [("a", "c")])
    [['a'], ['b', 'c']]
    """
    grouping = Grouping()
    for one, other in rejected:
        grouping.apart.setdefault(one, set()).add(other)
        grouping.apart.setdefault(other, set()).add(one)
    order: dict[str, int] = {}
    for member in (each for cluster in clusters for each in cluster):
        order.setdefault(member, len(order))
    for one, other in accepted:
        grouping.join(one, other, always=True)
        order.setdefault(one, len(order))
        order.setdefault(other, len(order))
    for one, other in links:
        grouping.join(one, other)
    for cluster in clusters:
        _join_all(grouping, cluster)
    for entity in order:
        grouping.number(entity)
    groups = [sorted(members, key=order.__getitem__) for members in grouping.members.values()]
    return sorted(groups, key=lambda group: order[group[0]])


def _join_all(grouping: Grouping, cluster: Sequence[str]) -> None:
    """Join the groups of a cluster that no rejected pair keeps apart, in the order of members."""
    firsts: list[str] = []
    for member in cluster:
        known = grouping.number(member) in {grouping.number(first) for first in firsts}
        if not known and not any(grouping.join(first, member) for first in firsts):
            firsts.append(member)


def contradictions(accepted: Iterable[Pair], rejected: Iterable[Pair]) -> list[Contradiction]:
    """The rejected pairs that accepted ones make the same.

    >>> contradictions([("a", "b"), ("b", "c")], [("a", "c"), ("a", "d")])
    [Contradiction(different=('a', 'c'), same=(('a', 'b'), ('b', 'c')))]
    """
    near: dict[str, dict[str, Pair]] = {}
    for pair in accepted:
        for one, other in (pair, pair[::-1]):
            near.setdefault(one, {})[other] = pair
    ways = ((pair, _way(near, *pair)) for pair in rejected)
    return [Contradiction(pair, way) for pair, way in ways if way]


def _way(near: Mapping[str, Mapping[str, Pair]], start: str, end: str) -> tuple[Pair, ...]:
    """The fewest accepted pairs from one entity to another; none if they are not connected."""
    came: dict[str, tuple[str, Pair] | None] = {start: None}
    waiting = deque([start])
    while waiting and end not in came:
        here = waiting.popleft()
        for there, pair in near.get(here, {}).items():
            if there not in came:
                came[there] = (here, pair)
                waiting.append(there)
    way: list[Pair] = []
    step = came.get(end)
    while step is not None:
        way.append(step[1])
        step = came[step[0]]
    return tuple(reversed(way))


def clusters_as_decided(
    clusters: Clusters, decisions: pl.DataFrame, entities: pl.DataFrame
) -> Clusters:
    """The clusters with what reviewers accepted together, and what they rejected apart.

    ``entities`` has the id, entity and graph of all. Clusters about which nothing is decided stay
    as they are. Members of an accepted pair have confidence 1.
    """
    accepted, rejected = (pairs_in(decisions, state) for state in ("accept", "reject"))
    members = clusters.members.join(
        entities, on=["entity", "graph"], how="left", maintain_order="left"
    )
    cluster_of = dict(zip(members["id"], members["cluster"], strict=True))
    ends = [each for pair in accepted + rejected for each in pair]
    touched = pl.col("cluster").is_in({cluster_of[each] for each in ends if each in cluster_of})
    links = clusters.links
    for side in PAIR:
        ids = entities.select(
            pl.col("id").alias(f"{side}_id"),
            pl.col("entity").alias(side),
            pl.col("graph").alias(f"{side}_graph"),
        )
        links = links.join(ids, on=[side, f"{side}_graph"], how="left", maintain_order="left")
    by_strength = links.filter(touched).sort("score", descending=True, maintain_order=True)
    lists = members.filter(touched).group_by("cluster", maintain_order=True).agg("id")["id"]
    groups = decided_groups(
        lists.to_list(),
        by_strength.select("left_id", "right_id").iter_rows(),
        accepted,
        rejected,
    )
    sure = {uri for pair in accepted for uri in pair}
    made = [_made(group, members, links, entities, sure) for group in groups if len(group) > 1]
    members, summary, held = (
        pl.concat([table.filter(~touched), *(one[name] for one in made)])
        for name, table in clusters.tables.items()
    )
    return Clusters(members, summary, held)


def _made(
    group: Sequence[str],
    members: pl.DataFrame,
    links: pl.DataFrame,
    entities: pl.DataFrame,
    sure: set[str],
) -> dict[str, pl.DataFrame]:
    """The rows of a group in each table of clusters; ``sure`` are entities of accepted pairs."""
    inside = pl.DataFrame({"id": group}).join(entities, on="id", how="left", maintain_order="left")
    inside = inside.join(
        members.select("id", "confidence", "canonical"), on="id", how="left", maintain_order="left"
    ).with_columns(
        confidence=pl.when(pl.col("id").is_in(sure)).then(1.0).otherwise("confidence"),
        canonical=pl.col("canonical").fill_null(False),
    )
    # The canonical member of the run, or the first; clusters are called by graph and id.
    inside = inside.sort(~pl.col("canonical"), maintain_order=True)
    first = inside.sort("graph", "entity").row(0, named=True)
    name = cluster_name(first["graph"], first["entity"])
    held = links.filter(
        pl.col("left_id").is_in(list(group)), pl.col("right_id").is_in(list(group))
    ).with_columns(cluster=pl.lit(name))
    weakest = held.sort("score", maintain_order=True).head(1).select([*PAIR, "score"]).rows()
    confidence = inside["confidence"].fill_null(1.0)
    summary = (
        name,
        len(group),
        inside["entity"][0],
        confidence.min(),
        *(weakest[0] if weakest else (None, None, None)),
        None,
        None,
    )
    table = inside.with_columns(
        cluster=pl.lit(name),
        confidence=confidence,
        canonical=pl.int_range(pl.len()) == 0,
    )
    return {
        "members": table.select(CLUSTER_SCHEMAS["members"].names()),
        "clusters": pl.DataFrame([summary], schema=CLUSTER_SCHEMAS["clusters"], orient="row"),
        "cluster_links": held.select(CLUSTER_SCHEMAS["cluster_links"].names()),
    }


def pairs_in(decisions: pl.DataFrame, state: str) -> list[Pair]:
    """The pairs in a state."""
    return [*decisions.filter(pl.col("state") == state).select(PAIR).iter_rows()]
