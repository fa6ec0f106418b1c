"""Scores of clusters against gold clusters, by entity."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass

import polars as pl

from sameas.errors import OptionError, shortened
from sameas.result.clusters import Clusters
from sameas.result.shown import cluster_metrics_html

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class ClusterMetrics:
    """Scores of clusters; entities that are not listed stand alone.

    ``pairwise`` scores are over pairs of entities in one cluster, ``cluster`` ones over clusters
    of two or more that are exactly those of gold, and ``bcubed`` ones are means over the entities
    that either side lists: of those in one's cluster, how many are so in gold, and vice versa.
    """

    pairwise_precision: float | None
    pairwise_recall: float | None
    pairwise_f1: float | None
    cluster_precision: float | None
    cluster_recall: float | None
    cluster_f1: float | None
    bcubed_precision: float | None
    bcubed_recall: float | None
    bcubed_f1: float | None
    clusters: int
    gold_clusters: int
    clusters_correct: int
    pairs: int
    gold_pairs: int
    pairs_correct: int
    warnings: tuple[str, ...] = ()

    def asdict(self) -> dict[str, float | int | None]:
        """The scores, without the warnings."""
        scores = asdict(self)
        del scores["warnings"]
        return scores

    def _repr_html_(self) -> str:
        """The scores as a table, for notebooks."""
        return cluster_metrics_html(self.asdict(), self.warnings)


def evaluate_clusters(found: Clusters | pl.DataFrame, gold: pl.DataFrame) -> ClusterMetrics:
    """The scores of clusters, or of a table (entity, cluster), against a table of gold clusters."""
    table = found.members if isinstance(found, Clusters) else _checked(found, "found")
    gold = _checked(gold, "gold")
    both = (
        _labelled(table)
        .join(_labelled(gold), on="entity", how="full", coalesce=True, suffix="_gold")
        # Whoever is not listed stands alone.
        .with_columns(
            pl.col("cluster").fill_null("alone " + pl.col("entity")),
            pl.col("cluster_gold").fill_null("alone " + pl.col("entity")),
        )
    )
    cells = both.group_by("cluster", "cluster_gold").len("both")
    sides = [cells.group_by(name).agg(size=pl.col("both").sum()) for name in SIDES]
    cells = cells.join(sides[0], on="cluster").join(sides[1], on="cluster_gold", suffix="_gold")
    exact = cells.filter(
        pl.col("both") > 1, pl.col("both") == pl.col("size"), pl.col("size") == pl.col("size_gold")
    )
    counts = [int((side["size"] > 1).sum()) for side in sides]
    pairs = [_pairs(side["size"]) for side in sides]
    correct = _pairs(cells["both"])
    shares = [
        float((cells["both"] ** 2 / cells[size]).sum()) / len(both) if len(both) else None
        for size in ("size", "size_gold")
    ]
    warnings = tuple(_warnings(table, gold))
    for warning in warnings:
        log.warning(warning)
    return ClusterMetrics(
        **_scores("pairwise", _share(correct, pairs[0]), _share(correct, pairs[1])),
        **_scores("cluster", _share(len(exact), counts[0]), _share(len(exact), counts[1])),
        **_scores("bcubed", *shares),
        clusters=counts[0],
        gold_clusters=counts[1],
        clusters_correct=len(exact),
        pairs=pairs[0],
        gold_pairs=pairs[1],
        pairs_correct=correct,
        warnings=warnings,
    )


SIDES = ("cluster", "cluster_gold")


def _checked(table: pl.DataFrame, argument: str) -> pl.DataFrame:
    """A table with the columns entity (or id) and cluster; an OptionError for others."""
    if "entity" not in table.columns and "id" in table.columns:
        table = table.rename({"id": "entity"})
    if not {"entity", "cluster"} <= {*table.columns}:
        columns = ", ".join(table.columns)
        raise OptionError(
            f"`{argument}` must have the columns entity and cluster, found {columns} instead"
        )
    return table


def _labelled(table: pl.DataFrame) -> pl.DataFrame:
    """entity, cluster; names of clusters cannot be those of entities that stand alone."""
    return table.select("entity", cluster="cluster " + pl.col("cluster").cast(pl.String)).unique(
        "entity", keep="first"
    )


def _pairs(sizes: pl.Series) -> int:
    return int((sizes.cast(pl.Int64) * (sizes.cast(pl.Int64) - 1) // 2).sum())


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _scores(name: str, precision: float | None, recall: float | None) -> dict[str, float | None]:
    f1 = None
    if precision is not None and recall is not None:
        total = precision + recall
        f1 = 2 * precision * recall / total if total else 0.0
    elif recall is not None:
        f1 = 0.0  # nothing was found
    return {f"{name}_precision": precision, f"{name}_recall": recall, f"{name}_f1": f1}


def _warnings(found: pl.DataFrame, gold: pl.DataFrame) -> list[str]:
    """Signs that gold is not about the same entities."""
    if not len(found) or not len(gold) or found["entity"].is_in(gold["entity"].implode()).any():
        return []
    one, other = shortened(found["entity"][0]), shortened(gold["entity"][0])
    return [
        f'no entity of a cluster is mentioned by gold; clusters have "{one}", gold has "{other}": '
        "both must name entities in the same way"
    ]
