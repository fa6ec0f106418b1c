"""An alignment as its reviewers decided."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from sameas.formats.sssom import NO_TERM
from sameas.graph.link_set import SIMILAR
from sameas.result.alignment import SCHEMAS, Alignment
from sameas.result.cluster_decisions import clusters_as_decided

MANUAL = "semapv:ManualMappingCuration"


def curated(alignment: Alignment) -> Alignment:
    """The alignment with accepted links in and rejected ones out; itself without decisions.

    An accepted link has confidence 1. With it, links go that cannot hold beside it, and with a
    confirmed lack of a counterpart all links of the entity. What reviewers disagree about or are
    unsure of stays as the run has it. Clusters hold what is accepted together, and what is rejected
    apart.
    """
    if alignment.decisions is None:
        return alignment

    def load(name: str) -> object:
        if name == "links":
            return _decided_links(alignment)
        if name == "clusters" and alignment.clusters is not None:
            assert alignment.decisions is not None
            decisions, origins = alignment.decisions, alignment.origins
            return clusters_as_decided(alignment.clusters, decisions, origins)
        return getattr(alignment, name)

    return replace(alignment, load=load)


def _decided_links(alignment: Alignment) -> pl.DataFrame:
    decisions, links, pair = alignment.decisions, alignment.links, ["left", "right"]
    assert decisions is not None
    accepted, rejected, alone = (
        decisions.filter(pl.col("state") == state) for state in ("accept", "reject", "no-match")
    )
    gone = pl.lit(False)
    for side, single in zip(pair, alignment.single, strict=True):
        taken = pl.concat([alone[side], accepted[side]]) if single else alone[side]
        gone |= pl.col(side).is_in(taken.implode())
    kept = links.with_columns(gone=gone).join(
        pl.concat([accepted, rejected]), on=pair, how="anti", maintain_order="left"
    )
    scores = pl.concat([links, alignment.candidates], how="diagonal").unique(pair, keep="first")
    manual = accepted.select(pair).join(scores, on=pair, how="left", maintain_order="left")
    manual = manual.with_columns(confidence=pl.lit(1.0)).select(list(SCHEMAS["links"]))
    return pl.concat([kept.filter(~pl.col("gone")).drop("gone"), manual])


def manual_columns(alignment: Alignment, links: pl.DataFrame) -> pl.DataFrame:
    """Links with what SSSOM says of decisions, and with rows for what is not the same.

    Accepted links name reviewer and date. Rejected ones have the modifier "Not", or say that the
    right entity is broader, narrower or related; an entity without a counterpart has
    sssom:NoTermFound in place of one.
    """
    decisions = alignment.decisions
    if decisions is None:
        return links
    predicate = pl.col("predicate").replace_strict(SIMILAR, default=None, return_dtype=pl.String)
    denied = (pl.col("state") == "reject") & (pl.col("predicate") == "exact")
    said = decisions.select(
        pl.col("left", "right").replace("", NO_TERM),
        "state",
        predicate=predicate,
        reviewer_label="reviewer",
        mapping_date=pl.col("time").str.slice(0, 10),
        mapping_justification=pl.lit(MANUAL),
        predicate_modifier=pl.when(denied).then(pl.lit("Not")),
        comment=pl.when(pl.col("comment") != "").then("comment"),
    ).filter(pl.col("state").is_in(["accept", "reject", "no-match"]))
    if said["comment"].null_count() == len(said):
        said = said.drop("comment")
    accepted = said.filter(pl.col("state") == "accept")
    manual = accepted.drop("state", "predicate", "mapping_justification", "predicate_modifier")
    links = links.join(manual, on=["left", "right"], how="left", maintain_order="left")
    by_hand = pl.when(pl.col("mapping_date").is_not_null()).then(pl.lit(MANUAL))
    links = links.with_columns(mapping_justification=pl.coalesce(by_hand, "mapping_justification"))
    others = said.filter(pl.col("state") != "accept").drop("state")
    return pl.concat([links, others], how="diagonal")
