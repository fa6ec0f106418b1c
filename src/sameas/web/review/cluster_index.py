"""The part of the index that is about clusters: their members, and the pairs within them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from sameas.result.alignment import Alignment

CLUSTER_TABLES = """
CREATE TABLE clusters (
  id INTEGER PRIMARY KEY, cluster TEXT, size INTEGER, confidence REAL, name_order INTEGER
);
CREATE TABLE members (
  entity INTEGER PRIMARY KEY, cluster INTEGER, place INTEGER, confidence REAL, split INTEGER
);
CREATE TABLE cluster_pairs (cluster INTEGER, one INTEGER, other INTEGER, score REAL, holds INTEGER);
CREATE TABLE graphs (first INTEGER PRIMARY KEY, name TEXT);  -- from which entity on
CREATE VIRTUAL TABLE cluster_names USING fts5(  -- the names of all members
  name, content = '', tokenize = 'unicode61 remove_diacritics 2'
);
"""
CLUSTER_INDEXES = """
CREATE UNIQUE INDEX clusters_by_name ON clusters (cluster);
CREATE INDEX clusters_by_size ON clusters (size);
CREATE INDEX clusters_by_name_order ON clusters (name_order);
CREATE INDEX members_by_cluster ON members (cluster, place);
CREATE INDEX pairs_by_cluster ON cluster_pairs (cluster);
"""


def cluster_tables(
    alignment: Alignment, entities: pl.DataFrame
) -> Iterator[tuple[str, pl.DataFrame]]:
    """The rows of each table; clusters are numbered from the least certain one on.

    ``entities`` are those of the index: id, name and text, the entities of the run's graph first.
    """
    clusters = alignment.clusters
    assert clusters is not None
    known = alignment.origins.rename({"id": "uri"})
    graph = alignment.pair.left
    known = known.with_columns(id=pl.Series(graph.positions(known["uri"]), dtype=pl.Int64))
    yield (
        "graphs",
        known.group_by("graph").agg(first=pl.col("id").min()).select("first", name="graph"),
    )
    order = clusters.summary.sort("confidence", "cluster").with_row_index("id", 1)
    numbers = order.select("cluster", "split", number=pl.col("id").cast(pl.Int64))
    split = pl.col("split").list.contains(pl.col("entity")).fill_null(False)
    members = (
        clusters.members.join(
            known.select("entity", "graph", "id"), on=["entity", "graph"], maintain_order="left"
        )
        .join(numbers, on="cluster", maintain_order="left")
        .with_columns(
            split=split.cast(pl.Int64),
            place=pl.int_range(pl.len(), dtype=pl.Int64).over("cluster"),
        )
    )
    shown = entities[members["id"].to_numpy()]
    members = members.with_columns(shown["text"], shown["name"])
    first = members.filter(pl.col("place") == 0).select(
        "cluster", name_order=pl.col("name").str.to_lowercase().rank("ordinal").cast(pl.Int64)
    )
    yield (
        "clusters",
        order.join(first, on="cluster", maintain_order="left").select(
            "id", "cluster", "size", "confidence", "name_order"
        ),
    )
    yield (
        "members",
        members.select("place", "confidence", "split", entity="id", cluster="number"),
    )
    together = members.group_by("number", maintain_order=True).agg(pl.col("text").str.join(" "))
    yield "cluster_names", together.select(rowid="number", name="text")
    yield "cluster_pairs", _pairs(alignment, members, known)


def _pairs(alignment: Alignment, members: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """cluster, one, other, score, holds: the pairs within clusters of which a score is known."""
    clusters, graph = alignment.clusters, alignment.pair.left
    assert clusters is not None
    number = np.full(len(graph.entities), -1)
    number[members["id"].to_numpy()] = members["number"].to_numpy()
    tables = []
    for table in (alignment.links, alignment.candidates):
        one, other = (graph.positions(table[side]) for side in ("left", "right"))
        inside = (one >= 0) & (other >= 0) & (number[one] == number[other]) & (number[one] >= 0)
        ends = np.sort(np.stack([one, other], axis=1)[inside], axis=1)
        rows = {"cluster": number[one[inside]], "one": ends[:, 0], "other": ends[:, 1]}
        tables.append(pl.DataFrame({**rows, "score": table["score"].to_numpy()[inside]}))
    pairs = pl.concat(tables).unique(["one", "other"], keep="first", maintain_order=True)
    held = clusters.links
    for side in ("left", "right"):
        ids = known.select(
            pl.col("entity").alias(side), pl.col("graph").alias(f"{side}_graph"), "id"
        )
        held = held.join(ids, on=[side, f"{side}_graph"], maintain_order="left").rename(
            {"id": f"{side}_id"}
        )
    holding = held.select(
        one=pl.min_horizontal("left_id", "right_id"), other=pl.max_horizontal("left_id", "right_id")
    ).with_columns(holds=pl.lit(1))
    found = pairs.join(holding, on=["one", "other"], how="left", maintain_order="left")
    return found.with_columns(pl.col("holds").fill_null(0)).sort("cluster", "one", "other")
