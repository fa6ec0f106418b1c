"""IRIs whose last part is an identifier, not a name: by its shape and by its siblings'."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

IDENTIFIER = (
    r"^(?:[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}"  # UUID
    r"|[0-9a-fA-F]*\d[0-9a-fA-F]{6,}|[\W\d_]*|\w|id|ID|_:.*)$"
)
SCHEME = r"^(?:urn:)?[A-Za-z][A-Za-z0-9+.-]*:"
"""What comes before the last part of an IRI without slash and hash."""
TURNS = ("[a-z][A-Z]", r"[A-Za-z]\d", r"\d[A-Za-z]", "[A-Z]{2}[a-z]")
"""Where case changes, or digits meet letters."""
SAME_STEMS = 0.3
"""Last parts with digits are identifiers if without these fewer than this share are distinct."""
CROWD = 5
"""IRIs that a namespace must have before its siblings tell."""
RESTLESS = 0.3
"""Last parts are identifiers if they have so many turns per character."""


def namespaces(iris: pl.Series) -> pl.Series:
    """Each IRI up to its last slash or hash."""
    return iris.str.replace(r"[^/#]*[/#]?$", "")


def are_identifiers(iris: pl.Series, kinds: NDArray[np.int8] | None = None) -> pl.Series:
    """Whether the last part of each IRI is an identifier; siblings have its namespace and kind.

    >>> are_identifiers(pl.Series(["http://a.org/Q42", "http://a.org/New_York", "x:id"])).to_list()
    [False, False, True]
    >>> are_identifiers(pl.Series([f"http://a.org/person{n}" for n in range(9)])).all()
    True
    """
    local = iris.str.strip_chars_end("/#").str.extract(r"([^/#]*)$").fill_null("")
    local = local.str.replace(SCHEME, "").zip_with(local == iris, local)
    table = pl.DataFrame(
        {
            "local": local,
            "space": namespaces(iris),
            "kind": np.zeros(len(iris), dtype=np.int8) if kinds is None else kinds,
            "shape": local.str.contains(IDENTIFIER),
        }
    )
    turns = pl.sum_horizontal(pl.col("local").str.count_matches(turn) for turn in TURNS)
    stem = pl.col("local").str.replace_all(r"[\d\W_]+", " ").str.strip_chars().str.to_lowercase()
    odd = pl.col("shape") | (turns / pl.col("local").str.len_chars().clip(1) > RESTLESS)
    table = table.with_columns(
        stem=stem, odd=odd, digits=pl.col("local").str.contains(r"\d")
    ).with_columns(
        many=(pl.len() >= CROWD).over("space", "kind"),
        same=(pl.col("stem").n_unique() / pl.len() < SAME_STEMS).over("space", "kind"),
        digits=(pl.col("digits").mean() > 0.5).over("space", "kind"),
        odd=(pl.col("odd").mean() > 0.5).over("space", "kind"),
    )
    crowd = pl.col("many") & ((pl.col("same") & pl.col("digits")) | pl.col("odd"))
    return table.select(pl.col("shape") | crowd).to_series()
