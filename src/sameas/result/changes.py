"""What became of the links of an earlier run: kept, new, changed or gone, and why."""

from __future__ import annotations

from typing import Any

import polars as pl

from sameas.graph.task import Earlier, Inputs

PAIR = ["left", "right"]
REASONS = {
    "unchanged": "neither entity has changed",
    "looked-at-again": "an entity has changed, and they still belong together",
    "known": "accepted by a reviewer, or given",
    "rejected": "rejected by a reviewer, or given",
    "new-entity": "an entity is new",
    "gone-entity": "an entity is gone",
    "changed-entity": "an entity has changed",
    "taken": "an entity has a better partner",
    "evidence": "what was learned from other links has changed",
}
"""Why a link is kept, new, changed or gone, in words."""


def staying_links(
    earlier: Earlier,
    links: pl.DataFrame,
    pairs: pl.DataFrame,
    *,
    least: float,
    single: tuple[bool, bool],
) -> pl.DataFrame:
    """Earlier links that nothing contradicts although the run alone would not make them.

    Neither entity has changed nor has another partner among the ``links`` of today; ``pairs`` have
    today's scores. They keep the confidence that they had, which must be the ``least`` wanted.
    """
    stay = earlier.pairs.filter(pl.col("confidence") >= least).select(*PAIR, "confidence")
    stay = stay.join(links, on=PAIR, how="anti", maintain_order="left")
    stay = stay.sort("confidence", descending=True, maintain_order=True)
    for side, alone in zip(PAIR, single, strict=True):
        changed = earlier.changed(side, "changed")
        stay = stay.filter(~pl.col(side).is_in(changed.implode()))
        if alone:
            stay = stay.filter(~pl.col(side).is_in(links[side].implode()))
            stay = stay.unique(side, keep="first", maintain_order=True)
    scores = pairs.select(*PAIR, "score")
    return stay.join(scores, on=PAIR, maintain_order="left").select(links.columns)


def link_changes(earlier: Earlier, links: pl.DataFrame, inputs: Inputs) -> pl.DataFrame:
    """left, right, change, reason, before: every link of today and of the earlier run.

    A left entity whose one partner is now another one has one row: ``right`` is its partner and
    ``before`` the partner that it had.
    """
    old = earlier.pairs.filter(pl.col("confidence").is_not_null()).select(PAIR)
    new = links.select(PAIR)
    kept = new.join(old, on=PAIR, how="semi", maintain_order="left")
    added = new.join(old, on=PAIR, how="anti", maintain_order="left")
    lost = old.join(new, on=PAIR, how="anti", maintain_order="left")
    once = pl.col("left").is_unique()
    replaced = added.filter(once).join(
        lost.filter(once).rename({"right": "before"}), on="left", maintain_order="left"
    )
    added = added.join(replaced, on=PAIR, how="anti", maintain_order="left")
    lost = lost.join(
        replaced.select("left", right="before"), on=PAIR, how="anti", maintain_order="left"
    )
    tables = {"kept": kept, "new": added, "changed": replaced, "gone": lost}
    every = pl.concat(
        (table.with_columns(change=pl.lit(change)) for change, table in tables.items()),
        how="diagonal",
    ).cast({"left": pl.String, "right": pl.String})
    if "before" not in every.columns:
        every = every.with_columns(before=pl.lit(None, dtype=pl.String))
    return _with_reasons(every, earlier, links, inputs).sort("left", "right")


def _with_reasons(
    rows: pl.DataFrame, earlier: Earlier, links: pl.DataFrame, inputs: Inputs
) -> pl.DataFrame:
    """The rows with the first reason that holds."""

    def any_end(*changes: str) -> pl.Expr:
        ends = [("left", "left"), ("right", "right"), ("before", "right")]
        return pl.any_horizontal(
            pl.col(column).is_in(earlier.changed(side, *changes).implode()).fill_null(False)
            for column, side in ends
        )

    change, taken = pl.col("change"), pl.lit(False)
    for side in PAIR:
        taken |= pl.col(side).is_in(links[side].implode())
    known, rejected = (_is_among(rows, table) for table in (inputs.seeds, inputs.reject))
    was_rejected = rejected | _is_among(rows.with_columns(right="before"), inputs.reject)
    moved = any_end("new", "changed", "gone")
    reason = (
        pl.when(known & (change != "gone"))
        .then(pl.lit("known"))
        .when((change == "kept") & moved)
        .then(pl.lit("looked-at-again"))
        .when(change == "kept")
        .then(pl.lit("unchanged"))
        .when(any_end("gone"))
        .then(pl.lit("gone-entity"))
        .when(was_rejected)
        .then(pl.lit("rejected"))
        .when(any_end("new"))
        .then(pl.lit("new-entity"))
        .when((change == "gone") & taken)
        .then(pl.lit("taken"))
        .when(any_end("changed"))
        .then(pl.lit("changed-entity"))
        .otherwise(pl.lit("evidence"))
    )
    return rows.with_columns(reason=reason).select(*PAIR, "change", "reason", "before")


def _is_among(rows: pl.DataFrame, pairs: pl.DataFrame | None) -> pl.Series:
    """Which rows are one of these pairs."""
    if pairs is None:
        return pl.repeat(False, len(rows), dtype=pl.Boolean, eager=True)
    marked = pairs.select(PAIR).unique().with_columns(among=True)
    both = rows.select(PAIR).join(marked, on=PAIR, how="left", maintain_order="left")
    return both["among"].fill_null(False)


def count_changes(changes: pl.DataFrame, earlier: Earlier) -> dict[str, Any]:
    """How many links and entities are new, kept, changed and gone, and why."""
    kinds = ("kept", "new", "changed", "gone")
    of_links = dict(changes.group_by("change").len().iter_rows())
    reasons = changes.group_by("change", "reason").len("links")
    order = pl.col("change").replace_strict(kinds, range(4), return_dtype=pl.Int64)
    reasons = reasons.sort(order, -pl.col("links").cast(pl.Int64), "reason")
    counts: dict[str, Any] = {"links": {kind: of_links.get(kind, 0) for kind in kinds}}
    for side in PAIR:
        table = earlier.entities.filter(side=side).group_by("change").len()
        of_side = dict(table.iter_rows())
        counts[side] = {kind: of_side.get(kind, 0) for kind in kinds[1:]}
    counts["reasons"] = reasons.to_dicts()
    if earlier.lost_decisions:
        counts["lost_decisions"] = earlier.lost_decisions
    return counts
