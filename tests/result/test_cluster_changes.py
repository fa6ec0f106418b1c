"""Which clusters keep the names of an earlier run."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from sameas.graph.task import EARLIER_ENTITIES, EARLIER_PAIRS, Earlier, Inputs
from sameas.result.cluster_changes import cluster_changes, named_since
from sameas.result.clusters import CLUSTER_SCHEMAS, Clusters, cluster_name


def clusters_of(*groups):
    """Clusters with these members, called as in a run without an earlier one."""
    names = [cluster_name("g", min(group)) for group in groups]
    members = [
        (entity, "g", name, 0.9, entity == min(group))
        for name, group in zip(names, groups, strict=True)
        for entity in sorted(group)
    ]
    summary = [
        (name, len(group), min(group), 0.9, None, None, None, None, None)
        for name, group in zip(names, groups, strict=True)
    ]
    schemas = CLUSTER_SCHEMAS
    return Clusters(
        pl.DataFrame(members, schema=schemas["members"], orient="row"),
        pl.DataFrame(summary, schema=schemas["clusters"], orient="row"),
        pl.DataFrame(schema=schemas["cluster_links"]),
    )


def earlier_of(clusters):
    """A run of nothing but these clusters, since when no entity has changed."""
    return Earlier(
        pairs=pl.DataFrame(schema=EARLIER_PAIRS),
        entities=pl.DataFrame(schema=EARLIER_ENTITIES),
        clusters=clusters.members.select("entity", "cluster"),
    )


def names_of(clusters):
    """The name of each cluster, by its members."""
    table = clusters.members.group_by("cluster").agg(pl.col("entity").sort())
    return {"".join(entities): cluster for cluster, entities in table.iter_rows()}


def test_a_split_cluster_keeps_its_name_where_most_members_are():
    before = clusters_of("abcde")
    now = named_since(clusters_of("ab", "cde"), earlier_of(before))
    names = names_of(now)
    assert names["cde"] == names_of(before)["abcde"]
    assert names["ab"] == cluster_name("g", "b")  # "a" has given its name to the other
    changes = cluster_changes(now, earlier_of(before), Inputs()).rows_by_key("cluster", unique=True)
    assert changes[names["cde"]] == ("changed", "evidence", [], ["a", "b"], [])
    assert changes[names["ab"]] == ("new", "evidence", ["a", "b"], [], [names["cde"]])


def test_joined_clusters_have_the_name_of_the_larger_one():
    before = clusters_of("ab", "cde")
    now = named_since(clusters_of("abcde"), earlier_of(before))
    names, old = names_of(now), names_of(before)
    assert names == {"abcde": old["cde"]}
    changes = cluster_changes(now, earlier_of(before), Inputs()).rows_by_key("cluster", unique=True)
    assert changes[old["cde"]] == ("changed", "evidence", ["a", "b"], [], [old["ab"]])
    assert changes[old["ab"]] == ("gone", "evidence", [], ["a", "b"], [])


@st.composite
def groupings(draw):
    """Groups of two or more of ten entities."""
    labels = draw(st.lists(st.integers(0, 4), min_size=10, max_size=10))
    groups = [
        "".join(e for e, label in zip("abcdefghij", labels, strict=True) if label == number)
        for number in range(5)
    ]
    return [group for group in groups if len(group) > 1]


@given(groupings(), groupings())
def test_names_are_distinct_and_old_ones_stay_with_old_members(groups, later):
    before = clusters_of(*groups)
    now = named_since(clusters_of(*later), earlier_of(before))
    old, new = names_of(before), names_of(now)
    assert {*new} == {*later}
    assert len(set(new.values())) == len(later)
    members = {name: set(group) for group, name in old.items()}
    for group, name in new.items():
        assert name not in members or members[name] & set(group)
        if group in old:
            assert name == old[group]
    changes = cluster_changes(now, earlier_of(before), Inputs())
    assert set(changes["cluster"]) == {*old.values(), *new.values()}
    kept = changes.filter(change="kept")
    assert set(kept["cluster"]) == {old[group] for group in {*old} & {*new}}
