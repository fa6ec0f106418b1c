"""One graph in which every cluster is one node: its canonical member, with what all members say."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import IO

import polars as pl

from sameas.graph.property_graph import PropertyGraph
from sameas.result.clusters import Clusters
from sameas.result.merged_graph import SEVERAL, Unified, canonical, merged_values, with_ids
from sameas.result.merged_records import merge_records

MERGED_IDS = "merged_ids"
"""The property that says which nodes a node was made of."""
OTHERS = "others"
"""What values of members that are not canonical are called by."""
AT_ONCE = 1000
"""Clusters in one statement of Cypher."""


def new_names(nodes: pl.Series, clusters: Clusters) -> pl.DataFrame:
    """old, new: each node and the canonical member of its cluster, itself without one."""
    links = clusters.canonical_links
    new = nodes.replace(links["left"], links["right"])
    return pl.DataFrame({"old": nodes, "new": new})


def unify_clusters(graph: PropertyGraph, clusters: Clusters, *, in_lists: bool) -> Unified:
    """The graph with one node for each cluster, which says what nodes it was made of.

    Values that agree stand once. Where those of the canonical member and of the others disagree,
    both are kept: in one list, or else those of the others under another name. Edges between
    members of a cluster are left out, and edges that have become the same are one.
    """
    names = new_names(graph.nodes, clusters)
    properties = graph.properties.with_columns(member="node")
    properties = with_ids(properties, ["node"], names).sort(
        pl.col("node") != pl.col("member"), maintain_order=True
    )
    # The canonical member speaks first, or the first that has a value.
    first = pl.col("member") == pl.col("member").first().over("node", "key")
    side = pl.when(first).then(pl.lit("left")).otherwise(pl.lit("right"))
    values, _ = merged_values(
        properties.with_columns(side=side).drop("member"),
        "node",
        keep="left",
        in_lists=in_lists,
        apart=OTHERS,
    )
    # Several edges of a type between two nodes stay several.
    nth = pl.int_range(pl.len()).over("start", "type", "end")
    every = graph.edges.with_columns(nth=nth)
    edges = with_ids(every, ["start", "end"], names).with_row_index("edge")
    was_loop = graph.edges["start"] == graph.edges["end"]
    loop = (edges["start"] == edges["end"]) & ~was_loop
    ends = ["start", "type", "end", "nth"]
    kept = edges.filter(~loop).unique(ends, keep="first", maintain_order=True)
    numbered = kept.select("edge").with_row_index("new").cast(pl.Int64)
    of_edges = graph.edge_properties.join(numbered, on="edge", maintain_order="left")
    merged = replace(
        graph,
        nodes=names["new"].unique(maintain_order=True).rename("node"),
        labels=with_ids(graph.labels, ["node"], names).unique(maintain_order=True),
        properties=pl.concat([values, _origins(clusters, values.columns, in_lists=in_lists)]),
        edges=kept.drop("edge", "nth"),
        edge_properties=of_edges.drop("edge")
        .rename({"new": "edge"})
        .select(graph.edge_properties.columns),
    )
    return Unified(graph=merged, conflicts=_conflicts(properties), renamed=0)


def with_own_iris(unified: Unified, iris: pl.DataFrame) -> Unified:
    """The graph of several in which a node has its IRI again that several graphs have.

    ``iris`` has the id of the node and the IRI (entity). Equal IRIs are one node, unless a
    reviewer has taken them apart: those keep the name of their graph before them.
    """
    nodes = unified.graph.nodes
    again = iris.filter(
        pl.col("id").is_in(nodes.implode()), ~pl.col("entity").is_in(nodes.implode())
    )
    again = again.filter(~pl.col("entity").is_duplicated())
    names = pl.DataFrame({"old": nodes, "new": nodes.replace(again["id"], again["entity"])})
    graph = replace(
        unified.graph,
        nodes=names["new"].rename("node"),
        labels=with_ids(unified.graph.labels, ["node"], names),
        properties=with_ids(unified.graph.properties, ["node"], names),
        edges=with_ids(unified.graph.edges, ["start", "end"], names),
    )
    return replace(unified, graph=graph, conflicts=with_ids(unified.conflicts, ["entity"], names))


def _conflicts(properties: pl.DataFrame) -> pl.DataFrame:
    """entity, property, canonical, others: where a member disagrees with the first that says it.

    ``properties`` has node, member, key and value, the canonical members first. Two members
    disagree if neither holds all values of the other.
    """
    said = properties.with_columns(same=canonical(pl.col("value"))).group_by(
        "node", "key", "member", maintain_order=True
    )
    lists = said.agg(pl.col("same").unique(maintain_order=True), pl.col("value"))
    lists = lists.filter(pl.len().over("node", "key") > 1)
    first = pl.col("same").first().over("node", "key")
    shared = pl.col("same").list.set_intersection(first).list.len()
    least = pl.min_horizontal(pl.col("same").list.len(), first.list.len())
    grouped = lists.with_columns(differs=shared < least).group_by(
        "node", "key", maintain_order=True
    )
    table = grouped.agg(
        pl.col("differs").any(),
        canonical=pl.col("value").first(),
        others=pl.col("value").slice(1).explode(),
    )
    return (
        table.filter("differs")
        .select(
            pl.col("canonical").list.unique(maintain_order=True).list.join(SEVERAL),
            pl.col("others").list.unique(maintain_order=True).list.join(SEVERAL),
            entity="node",
            property="key",
        )
        .select("entity", "property", "canonical", "others")
    )


def _origins(clusters: Clusters, columns: list[str], *, in_lists: bool) -> pl.DataFrame:
    """The property of each merged node that lists the nodes it was made of."""
    links = clusters.canonical_links.select(node="right", value="left")
    if not in_lists:
        links = links.group_by("node", maintain_order=True).agg(pl.col("value").str.join(SEVERAL))
    return links.with_columns(key=pl.lit(MERGED_IDS), datatype=pl.lit("")).select(columns)


def cluster_records(
    graph: PropertyGraph, clusters: Clusters, *, id_column: str, iris: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The table with one row for each cluster, and the conflicts."""
    unified = with_own_iris(unify_clusters(graph, clusters, in_lists=False), iris)
    nothing = replace(
        unified.graph,
        nodes=unified.graph.nodes.clear(),
        labels=unified.graph.labels.clear(),
        properties=unified.graph.properties.clear(),
        edges=unified.graph.edges.clear(),
        edge_properties=unified.graph.edge_properties.clear(),
    )
    none = pl.DataFrame(schema={"left": pl.String, "right": pl.String, "score": pl.Float64})
    table, _ = merge_records(
        unified.graph, nothing, none, keep="left", same_keys={}, id_column=id_column
    )
    return table.drop(f"right_{id_column}"), unified.conflicts


def write_cypher(clusters: Clusters, file: IO[bytes], *, key: str) -> list[str]:
    """Write a script that merges duplicates in Neo4j by APOC; nodes are found by the property key.

    Properties of all members are kept (those that differ as lists), and relationships are moved
    to the canonical member.
    """
    links = clusters.canonical_links.group_by("right", maintain_order=True).agg("left")
    name = key.replace("`", "``")
    head = f"// Merges duplicates (needs APOC). Nodes are found by their property `{name}`.\n"
    file.write(head.encode())
    for start in range(0, len(links), AT_ONCE):
        rows = [
            f"  {{keep: {_quoted(keep)}, others: [{', '.join(map(_quoted, others))}]}}"
            for keep, others in links[start : start + AT_ONCE].iter_rows()
        ]
        text = (
            "UNWIND [\n" + ",\n".join(rows) + "\n] AS cluster\n"
            f"MATCH (keep {{`{name}`: cluster.keep}})\n"
            f"MATCH (other) WHERE other.`{name}` IN cluster.others\n"
            "WITH keep, collect(DISTINCT other) AS others\n"
            "CALL apoc.refactor.mergeNodes([keep] + others, "
            "{properties: 'combine', mergeRels: true}) YIELD node\n"
            "RETURN count(node);\n"
        )
        file.write(text.encode())
    if not len(links):
        file.write(b"// No duplicates were found.\n")
    return []


def _quoted(text: str) -> str:
    """A string of Cypher, whose escapes are those of JSON."""
    return json.dumps(text, ensure_ascii=False)
