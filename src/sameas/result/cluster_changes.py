"""What became of the clusters of an earlier run: which keep their names, and what has changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from typing import Any

import polars as pl

from sameas.graph.task import Earlier, Inputs
from sameas.result.clusters import CLUSTER_CHANGES, Clusters, cluster_name

CLUSTER_REASONS = {
    "unchanged": "no member has changed",
    "looked-at-again": "a member has changed, and they still belong together",
    "gone-entity": "a member is gone",
    "rejected": "rejected by a reviewer, or given as different",
    "known": "accepted by a reviewer, or given as the same",
    "new-entity": "a member is new",
    "changed-entity": "a member has changed",
    "evidence": "what was learned from other pairs has changed",
}
"""Why a cluster is kept, new, changed or gone, in words; the first that holds is given."""
KINDS = ("kept", "new", "changed", "gone")
Members = dict[str, list[str]]
"""The members of each cluster, by its name."""


def named_since(
    clusters: Clusters, earlier: Earlier, origins: pl.DataFrame | None = None
) -> Clusters:
    """The clusters under the names that they had in an earlier run, as far as members stayed.

    An earlier name goes to the cluster with most of its members; of several with as many, to the
    first. No earlier name is given to other clusters. Of several graphs, ``origins`` (id, entity,
    graph) has the id by which the earlier run is about an entity.
    """
    names = _names_of_today(clusters, earlier, origins)
    members, summary, links = (
        table.with_columns(pl.col("cluster").replace_strict(names, return_dtype=pl.String))
        for table in clusters.tables.values()
    )
    return replace(clusters, members=members, summary=summary, links=links)


def _names_of_today(
    clusters: Clusters, earlier: Earlier, origins: pl.DataFrame | None
) -> dict[str, str]:
    """What each cluster is called, by the name that follows from its members."""
    before = _before(earlier)
    order = {name: number for number, name in enumerate(clusters.summary["cluster"])}
    common = (
        _by_id(clusters, origins)
        .join(before.rename({"cluster": "before"}), on="entity")
        .group_by("cluster", "before")
        .len()
        .with_columns(order=pl.col("cluster").replace_strict(order, return_dtype=pl.Int64))
        .sort("len", "order", "before", descending=[True, False, False])
    )
    names: dict[str, str] = {}
    used: set[str] = set()
    for cluster, name in common.select("cluster", "before").iter_rows():
        if cluster not in names and name not in used:
            names[cluster] = name
            used.add(name)
    used |= set(before["cluster"])
    members = clusters.members.sort("graph", "entity").group_by("cluster").agg("graph", "entity")
    of_cluster = {name: list(zip(*rest, strict=True)) for name, *rest in members.iter_rows()}
    for cluster in order:
        if cluster not in names:
            possible = _possible_names(of_cluster[cluster])
            names[cluster] = next(name for name in possible if name not in used)
            used.add(names[cluster])
    return names


def _possible_names(members: list[tuple[str, str]]) -> Iterator[str]:
    """Names for a cluster: after its first member, after the others, and then with a number."""
    yield from (cluster_name(*member) for member in members)
    graph, entity = members[0]
    yield from (cluster_name(graph, f"{entity}\0{number}") for number in count(2))


def cluster_changes(
    clusters: Clusters, earlier: Earlier, inputs: Inputs, origins: pl.DataFrame | None = None
) -> pl.DataFrame:
    """cluster, change, reason, joined, left, before: every cluster of today and of the earlier run.

    ``joined`` are the members that a cluster did not have before, ``left`` those that it had, and
    ``before`` the other earlier clusters that members of it were in. ``origins`` are as above.
    """
    old, new = _members_of(_before(earlier)), _members_of(_by_id(clusters, origins))
    cluster_before = {entity: name for name, members in old.items() for entity in members}
    reason_of = _reasons(earlier, inputs)
    rows = []
    for name in sorted(old.keys() | new.keys()):
        was, now = old.get(name, []), new.get(name, [])
        joined, left = sorted(set(now) - set(was)), sorted(set(was) - set(now))
        change = "gone" if not now else "new" if not was else "changed"
        if not joined and not left:
            change = "kept"
        others = sorted({cluster_before[each] for each in now if each in cluster_before} - {name})
        reason = reason_of(change, {*was, *now}, joined, left)
        rows.append((name, change, reason, joined, left, others))
    return pl.DataFrame(rows, schema=CLUSTER_CHANGES, orient="row")


def _before(earlier: Earlier) -> pl.DataFrame:
    """entity, cluster of the earlier run."""
    assert earlier.clusters is not None
    return earlier.clusters


def _by_id(clusters: Clusters, origins: pl.DataFrame | None) -> pl.DataFrame:
    """entity, cluster of today, with the ids of the run, which tell several graphs apart."""
    members = clusters.members
    if origins is None:
        return members.select("entity", "cluster")
    both = members.join(origins, on=["entity", "graph"], how="left", maintain_order="left")
    return both.select("cluster", entity="id").select("entity", "cluster")


def _members_of(table: pl.DataFrame) -> Members:
    """The members of each cluster."""
    return dict(table.group_by("cluster").agg("entity").iter_rows())


def _reasons(
    earlier: Earlier, inputs: Inputs
) -> Callable[[str, set[str], list[str], list[str]], str]:
    """What gives the first reason that holds for a cluster.

    It takes the change, all members of before and of today, those that joined and those that left.
    """
    new, changed, gone = (
        set(earlier.changed("left", change)) for change in ("new", "changed", "gone")
    )
    same, different = (_partners(table) for table in (inputs.seeds, inputs.reject))

    def reason_of(change: str, every: set[str], joined: list[str], left: list[str]) -> str:
        if change == "kept":
            return "unchanged" if every.isdisjoint(changed) else "looked-at-again"
        if not gone.isdisjoint(left):
            return "gone-entity"
        if any(not every.isdisjoint(different.get(each, ())) for each in left):
            return "rejected"
        if any(not every.isdisjoint(same.get(each, ())) for each in joined):
            return "known"
        if not new.isdisjoint(joined):
            return "new-entity"
        return "evidence" if every.isdisjoint(changed) else "changed-entity"

    return reason_of


def _partners(pairs: pl.DataFrame | None) -> dict[str, set[str]]:
    """The other ends of each entity's pairs."""
    partners: dict[str, set[str]] = {}
    for one, other in () if pairs is None else pairs.select("left", "right").iter_rows():
        partners.setdefault(one, set()).add(other)
        partners.setdefault(other, set()).add(one)
    return partners


def count_cluster_changes(changes: pl.DataFrame, earlier: Earlier) -> dict[str, Any]:
    """How many clusters and entities are new, kept, changed and gone, and why."""
    of_clusters = dict(changes.group_by("change").len().iter_rows())
    of_entities = dict(earlier.entities.group_by("change").len().iter_rows())
    reasons = changes.group_by("change", "reason").len("clusters")
    order = pl.col("change").replace_strict(KINDS, range(4), return_dtype=pl.Int64)
    reasons = reasons.sort(order, -pl.col("clusters").cast(pl.Int64), "reason")
    counts: dict[str, Any] = {
        "clusters": {kind: of_clusters.get(kind, 0) for kind in KINDS},
        "entities": {kind: of_entities.get(kind, 0) for kind in KINDS[1:]},
        "reasons": reasons.to_dicts(),
    }
    if earlier.lost_decisions:
        counts["lost_decisions"] = earlier.lost_decisions
    return counts
