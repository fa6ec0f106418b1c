"""The tables of a result, with entities by URI."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl

from sameas.alignment import Alignment
from sameas.assignment import Assignment
from sameas.assignment.lines import Vector
from sameas.graph import GraphPair, Positions, positions_of
from sameas.options import Options

UNMATCHED = pl.Schema(
    {
        "side": pl.String,
        "entity": pl.String,
        "reason": pl.String,
        "candidate": pl.String,
        "score": pl.Float64,
    }
)
"""Who has no link, why, and the best candidate with its score where there is one."""


def kept_links(
    left: pl.Series,
    right: pl.Series,
    links: pl.DataFrame,
    candidates: pl.DataFrame,
    options: Options,
) -> dict[str, Any]:
    """The links that are sure enough, and who is left without one."""
    kept = links.filter(pl.col("confidence") >= options.min_confidence)
    unsure = pl.lit(f"confidence below {options.min_confidence:g}")
    tables = []
    for side, other, uris in (("left", "right", left), ("right", "left", right)):
        best = (
            candidates.sort("score", descending=True, maintain_order=True)
            .unique(side, keep="first", maintain_order=True)
            .select(entity=side, candidate=other, score="score")
        )
        dropped = pl.col("entity").is_in(links[side].implode())
        tables.append(
            pl.DataFrame({"side": pl.repeat(side, len(uris), eager=True), "entity": uris})
            .filter(~pl.col("entity").is_in(kept[side].implode()))
            .with_columns(
                reason=pl.when(dropped)
                .then(unsure)
                .otherwise(pl.lit("no partner was left, or none was found"))
            )
            .join(best, on="entity", how="left", maintain_order="left")
        )
    return {"links": kept, "unmatched": pl.concat(tables).cast(UNMATCHED)}


def gold_ranks(
    pair: GraphPair,
    left: pl.Series,
    right: pl.Series,
    ranks_of: Callable[[Positions, Positions], Vector],
) -> pl.DataFrame | None:
    """The rank of each gold link that was in question, or None where no gold links are known."""
    if pair.gold is None:
        return None
    rows, columns = positions_of(pair.gold["left"], left), positions_of(pair.gold["right"], right)
    known = (rows >= 0) & (columns >= 0)
    table = pair.gold.filter(pl.Series(known)).with_columns(
        rank=ranks_of(rows[known], columns[known])
    )
    return table.filter(pl.col("rank").is_not_nan())


def price_table(left: pl.Series, right: pl.Series, exact: Assignment | None) -> pl.DataFrame | None:
    """The exact solver's prices."""
    if exact is None:
        return None
    return pl.concat(
        pl.DataFrame(
            {"side": pl.repeat(side, len(uris), eager=True), "entity": uris, "price": prices}
        )
        for side, uris, prices in (
            ("left", left, exact.left_prices),
            ("right", right, exact.right_prices),
        )
    )


def prices_of(alignment: Alignment) -> tuple[Vector, Vector]:
    """What ``price_table`` was given."""
    assert alignment.prices is not None
    left, right = (
        alignment.prices.filter(pl.col("side") == side)["price"].to_numpy()
        for side in ("left", "right")
    )
    return left, right
