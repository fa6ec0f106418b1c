"""Joins of tables whose result is bounded."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import polars as pl

from sameas.options.tuning import TUNING, SearchTuning

log = logging.getLogger(__name__)


def bounded_join(
    left: pl.DataFrame,
    right: pl.DataFrame,
    on: Sequence[str],
    *,
    tuning: SearchTuning = TUNING.search,
) -> pl.DataFrame:
    """The inner join, without the most frequent keys where it would have too many rows.

    A key that thousands of rows of both tables have makes millions of pairs and tells little
    about any of them. As many keys count, the rarest first, as ``join_rows`` allow, or
    ``join_factor`` times the rows of the tables.
    """
    most = max(tuning.join_rows, tuning.join_factor * (len(left) + len(right)))
    counts = left.group_by(on).len("ours").join(right.group_by(on).len("theirs"), on=on)
    rows = pl.col("ours").cast(pl.Int64) * pl.col("theirs").cast(pl.Int64)
    if counts.select(rows.sum()).item() > most:
        rare = counts.with_columns(rows=rows).sort("rows", *on)
        rare = rare.filter(pl.col("rows").cum_sum() <= most)
        text = "%s: %d of %d keys are too frequent to be compared"
        log.warning(text, " and ".join(on), len(counts) - len(rare), len(counts))
        left = left.join(rare, on=on, how="semi", maintain_order="left")
    del counts  # it has nearly as many rows as the tables
    # In order, so that sums of what is joined are the same in every run.
    return left.join(right, on=on, suffix="_right", maintain_order="left_right")
