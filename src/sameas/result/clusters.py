"""Clusters: entities of one or several graphs that are the same thing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import polars as pl
from scipy.sparse import coo_array

from sameas.assignment.clustering import Clustering, Join, ScoredPairs
from sameas.compute.arrays import Positions, Vector
from sameas.graph.notebook import html_card, html_table
from sameas.result.cluster_charts import ClusterDetails, ClusterPlots

SHOWN = 6
"""Clusters, and members of each, that a notebook shows."""
MEMBER_COLUMNS = ("entity", "graph", "cluster", "confidence")
CLUSTER_SCHEMAS = {
    "members": pl.Schema(
        {
            "entity": pl.String,
            "graph": pl.String,
            "cluster": pl.String,
            "confidence": pl.Float64,
            "canonical": pl.Boolean,
        }
    ),
    "clusters": pl.Schema(
        [
            ("cluster", pl.String),
            ("size", pl.Int64),
            ("canonical", pl.String),
            ("confidence", pl.Float64),
            ("weakest_left", pl.String),
            ("weakest_right", pl.String),
            ("weakest_score", pl.Float64),
            ("split", pl.List(pl.String)),
            ("split_score", pl.Float64),
        ]
    ),
    "cluster_links": pl.Schema(
        {
            "cluster": pl.String,
            "left": pl.String,
            "left_graph": pl.String,
            "right": pl.String,
            "right_graph": pl.String,
            "score": pl.Float64,
            "confidence": pl.Float64,
        }
    ),
}
"""The columns of the tables of clusters."""
CLUSTER_CHANGES = pl.Schema(
    [
        *((name, pl.String) for name in ("cluster", "change", "reason")),
        *((name, pl.List(pl.String)) for name in ("joined", "left", "before")),
    ]
)
"""The columns of the table that says what became of the clusters of an earlier run."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """Entities that are the same thing; only clusters of two or more are listed."""

    members: pl.DataFrame
    """entity, graph, cluster, confidence, canonical: all members, by cluster, the canonical one
    first. The confidence is that a member is the same as the others of its cluster."""
    summary: pl.DataFrame
    """cluster, size, canonical, confidence; the weakest of the links that hold it together
    (weakest_left, weakest_right, weakest_score); and where it would split: the members of the
    smaller part (split), and the mean score between the two parts (split_score)."""
    links: pl.DataFrame
    """cluster, left, left_graph, right, right_graph, score, confidence: the strongest links that
    hold each cluster together, one fewer than it has members."""
    changes: pl.DataFrame | None = None
    """cluster, change (kept, new, changed or gone), reason, joined, left, before: what became of
    the clusters of an earlier run, where there was one; the members that joined and left, and the
    other earlier clusters that members come from."""
    load_details: Callable[[], ClusterDetails] | None = None
    """Gives names and scores for drawings; an alignment brings it along."""

    @property
    def plot(self) -> ClusterPlots:
        """Charts by Altair: drawing, sizes, confidence (``sameas[plot]``)."""
        details = None if self.load_details is None else self.load_details()
        return ClusterPlots(self.members, self.summary, self.links, details)

    def __len__(self) -> int:
        """The number of clusters."""
        return len(self.summary)

    def __repr__(self) -> str:
        """Counts instead of contents."""
        return f"Clusters({len(self)} clusters of {len(self.members)} entities)"

    def _repr_html_(self) -> str:
        """The largest clusters with their members, for notebooks."""
        members = self.members
        if self.load_details is not None:
            named = self.load_details().entities.select("entity", "graph", "name")
            members = members.join(named, on=["entity", "graph"], how="left", maintain_order="left")
            called = pl.when(pl.col("name") != "").then("name").otherwise("entity")
            members = members.with_columns(entity=called)
        names = members.group_by("cluster").agg(members=pl.col("entity").head(SHOWN))
        largest = self.summary.sort(["size", "cluster"], descending=[True, False]).head(SHOWN)
        rows = largest.join(names, on="cluster", maintain_order="left").select(
            "size", "confidence", pl.col("members").list.join(" · ")
        )
        header = ("size", "confidence", f"members, {SHOWN} at most")
        return html_card(repr(self), html_table(rows.rows(), header=header))

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """All tables, by the names of their schemas."""
        return dict(zip(CLUSTER_SCHEMAS, (self.members, self.summary, self.links), strict=True))

    @property
    def table(self) -> pl.DataFrame:
        """entity, graph, cluster, confidence: what is written as a table."""
        return self.members.select(MEMBER_COLUMNS)

    @property
    def canonical_links(self) -> pl.DataFrame:
        """left, left_graph, right, right_graph, confidence: each member with the canonical one."""
        first = self.members.filter("canonical").select(
            "cluster", right="entity", right_graph="graph"
        )
        others = self.members.filter(~pl.col("canonical"))
        return (
            others.join(first, on="cluster", maintain_order="left")
            .select(
                "right", "right_graph", "confidence", "cluster", left="entity", left_graph="graph"
            )
            .select("left", "left_graph", "right", "right_graph", "confidence", "cluster")
        )


@dataclass(frozen=True, eq=False)
class Nodes:
    """The entities that clusters are made of, of all graphs, by position."""

    entities: pl.Series
    graphs: pl.Series
    """The name of each entity's graph."""
    completeness: Positions
    """How much is said of each entity: the canonical member has most."""


def make_clusters(nodes: Nodes, pairs: ScoredPairs, clustering: Clustering) -> Clusters:
    """The clusters of a clustering, with canonical members, confidence, links and weak points.

    Clusters are called by their first member, by graph and id, so that a cluster to which another
    member comes keeps its name.
    """
    order = np.lexsort((nodes.entities.to_numpy(), nodes.graphs.to_numpy()))
    rank = np.argsort(order, kind="stable")
    sizes = np.bincount(clustering.labels, minlength=pairs.size)
    listed = np.flatnonzero(sizes[clustering.labels] > 1)
    groups = _grouped(clustering.labels[listed], listed, rank)
    inside = clustering.labels[pairs.left] == clustering.labels[pairs.right]
    links = _spanning(pairs, inside & (sizes[clustering.labels[pairs.left]] > 1))
    by_label = _by_label(links, clustering.labels[pairs.left[links]])
    means = _mean_scores(pairs, inside, clustering.labels, sizes)
    names, members, summary, of_links = [], [], [], []
    for label, group in groups:
        name = cluster_name(nodes.graphs[int(group[0])], nodes.entities[int(group[0])])
        best = np.lexsort((rank[group], -nodes.completeness[group]))
        canonical = int(group[best[0]])
        chosen = by_label.get(label, np.zeros(0, dtype=np.int64))
        names.append(name)
        members.append(np.append(canonical, group[group != canonical]))
        of_links.append(chosen)
        summary.append(
            _summary(name, members[-1], nodes, pairs, chosen, clustering.last_joins.get(label))
        )
    return Clusters(
        _member_table(nodes, names, members, means),
        pl.DataFrame(summary, schema=CLUSTER_SCHEMAS["clusters"], orient="row"),
        _link_table(nodes, names, of_links, pairs),
    )


def cluster_name(graph: str, entity: str) -> str:
    """What a cluster is called whose first member this is.

    >>> cluster_name("people.csv", "r17")
    'c9d2478e96e6b'
    """
    digest = blake2b(f"{graph}\0{entity}".encode(), digest_size=6).hexdigest()
    return f"c{digest}"


def probability(scores: Vector) -> Vector:
    """The probability of log-odds."""
    logistic: Vector = 1 / (1 + np.exp(-np.clip(scores, -60.0, 60.0)))
    return logistic


def _grouped(
    labels: Positions, listed: Positions, rank: Positions
) -> Iterator[tuple[int, Positions]]:
    """The label and the members of each cluster, by graph and id."""
    first = np.full(int(labels.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, labels, rank[listed])
    order = np.lexsort((rank[listed], first[labels]))
    ends = np.flatnonzero(np.diff(labels[order], append=-1)) + 1
    for group in np.split(order, ends[:-1]) if len(ends) else ():
        yield int(labels[group[0]]), listed[group]


def _spanning(pairs: ScoredPairs, which: Positions) -> Positions:
    """The places of the strongest of these pairs that hold their clusters together."""
    from scipy.sparse.csgraph import minimum_spanning_tree  # slow to import

    chosen = np.flatnonzero(which)
    # Ranks from the strongest, so that scores of any sign, and equal ones, make a tree by rule.
    order = chosen[np.lexsort((pairs.right[chosen], pairs.left[chosen], -pairs.scores[chosen]))]
    ends = pairs.left[order], pairs.right[order]
    weights = np.arange(1.0, len(order) + 1)
    graph = coo_array((weights, ends), shape=(pairs.size, pairs.size)).tocsr()
    tree = minimum_spanning_tree(graph)
    places: Positions = order[np.sort(tree.data.astype(np.int64)) - 1]
    return places


def _by_label(places: Positions, labels: Positions) -> dict[int, Positions]:
    """The places by label, in their order."""
    order = np.argsort(labels, kind="stable")
    labels, places = labels[order], places[order]
    ends = np.flatnonzero(np.diff(labels, append=-1)) + 1
    parts = np.split(places, ends[:-1]) if len(ends) else []
    return {int(labels[end - 1]): part for end, part in zip(ends, parts, strict=True)}


def _mean_scores(
    pairs: ScoredPairs, inside: Positions, labels: Positions, sizes: Positions
) -> Vector:
    """The mean score of each entity with the other members of its cluster that it was scored with.

    One that was scored with none is there because it was given so.
    """
    total, count = np.zeros(pairs.size), np.zeros(pairs.size)
    for ends in (pairs.left[inside], pairs.right[inside]):
        total += np.bincount(ends, pairs.scores[inside], pairs.size)
        count += np.bincount(ends, minlength=pairs.size)
    return np.where(count > 0, total / np.maximum(count, 1), np.inf)


def _summary(
    name: str,
    members: Positions,
    nodes: Nodes,
    pairs: ScoredPairs,
    links: Positions,
    last: Join | None,
) -> tuple[object, ...]:
    """A row of the table of clusters."""
    entities = nodes.entities
    weakest: tuple[str | None, str | None, float | None] = (None, None, None)
    if len(links):
        place = links[np.argmin(pairs.scores[links])]
        ends = int(pairs.left[place]), int(pairs.right[place])
        weakest = entities[ends[0]], entities[ends[1]], float(pairs.scores[place])
    split, score = None, None
    if last is not None:
        part = min(last.one, last.other, key=lambda side: (len(side), side))
        split, score = entities.gather(list(part)).sort().to_list(), last.score
    sure = float(probability(np.array([np.inf if score is None else score]))[0])
    return (name, len(members), entities[int(members[0])], sure, *weakest, split, score)


def _member_table(
    nodes: Nodes, names: list[str], members: list[Positions], means: Vector
) -> pl.DataFrame:
    if not names:
        return pl.DataFrame(schema=CLUSTER_SCHEMAS["members"])
    every, sizes = np.concatenate(members), [len(group) for group in members]
    canonical = np.zeros(len(every), dtype=np.bool_)
    canonical[np.cumsum([0, *sizes[:-1]])] = True
    return pl.DataFrame(
        {
            "entity": nodes.entities.gather(every),
            "graph": nodes.graphs.gather(every),
            "cluster": np.repeat(np.array(names, dtype=object), sizes),
            "confidence": probability(means[every]),
            "canonical": canonical,
        },
        schema=CLUSTER_SCHEMAS["members"],
    )


def _link_table(
    nodes: Nodes, names: list[str], links: list[Positions], pairs: ScoredPairs
) -> pl.DataFrame:
    if not names:
        return pl.DataFrame(schema=CLUSTER_SCHEMAS["cluster_links"])
    every = np.concatenate(links)
    left, right = pairs.left[every], pairs.right[every]
    return pl.DataFrame(
        {
            "cluster": np.repeat(np.array(names, dtype=object), [len(part) for part in links]),
            "left": nodes.entities.gather(left),
            "left_graph": nodes.graphs.gather(left),
            "right": nodes.entities.gather(right),
            "right_graph": nodes.graphs.gather(right),
            "score": pairs.scores[every],
            "confidence": probability(pairs.scores[every]),
        },
        schema=CLUSTER_SCHEMAS["cluster_links"],
    )
