"""Placeholder until the branch reading is merged."""

from typing import Any

Table = Any

import polars as pl


def as_links(data: Any, name: str) -> pl.DataFrame:
    """Links."""
    return (
        data
        if isinstance(data, pl.DataFrame)
        else pl.DataFrame(list(data), schema=["left", "right"], orient="row")
    )
