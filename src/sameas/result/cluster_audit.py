"""How good clusters are, by their own probabilities."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import polars as pl

from sameas.result.clusters import Clusters

DOUBTFUL = 0.9
"""The confidence below which a cluster is doubtful."""


@dataclass(frozen=True, kw_only=True)
class ClusterAudit:
    """What the scores of pairs say of the clusters that were made from them.

    There are no decoys within one graph: this is what the run believes, not a check of it. What
    was missed cannot be told.
    """

    clusters: int
    entities: int
    doubtful_clusters: int
    """Clusters whose two parts, where they would split, belong together with less than 90%."""
    expected_wrong_entities: float
    """How many members are expected not to belong to their cluster."""

    def asdict(self) -> dict[str, float | int]:
        """The figures by name."""
        return asdict(self)


def audit_clusters(clusters: Clusters) -> ClusterAudit:
    """What a run expects to be wrong in its clusters."""
    others = clusters.members.filter(~pl.col("canonical"))
    return ClusterAudit(
        clusters=len(clusters),
        entities=len(clusters.members),
        doubtful_clusters=int((clusters.summary["confidence"] < DOUBTFUL).sum()),
        expected_wrong_entities=round(float((1 - others["confidence"]).sum()), 1),
    )
