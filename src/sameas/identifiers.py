"""IRIs whose last part is an identifier, not a name: by their shape and by their siblings."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

IDENTIFIER = (
    r"^(?:[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}"  # UUID
    r"|[0-9a-fA-F]*\d[0-9a-fA-F]{6,}|[\W\d_]*|\w|id|ID|_:.*)$"
)
SAME_STEMS = 0.3
"""Last parts of IRIs are identifiers if without digits fewer than this share are distinct."""
CROWD = 5
"""IRIs of a namespace from which its manner is known."""
RESTLESS = 0.3
"""Last parts are identifiers if case and digits change this often, per letter."""


def namespaces(entities: pl.Series) -> pl.Series:
    """Each IRI up to its last slash or hash."""
    return entities.str.replace(r"[^/#]*[/#]?$", "")


def are_identifiers(iris: pl.Series, kinds: NDArray[np.int8] | None = None) -> pl.Series:
    """Whether the last part of each IRI is an identifier, by its shape and by its siblings'.

    >>> are_identifiers(pl.Series(["http://a.org/Q42", "http://a.org/New_York", "x:id"])).to_list()
    [False, False, True]
    """
    local = iris.str.strip_chars_end("/#").str.extract(r"([^/#]*)$").fill_null("")
    stems = local.str.replace_all(r"[\d\W_]+", " ").str.strip_chars().str.to_lowercase()
    changes = (
        local.str.count_matches(r"[a-z][A-Z]") + local.str.count_matches(r"[A-Za-z]\d")
        + local.str.count_matches(r"\d[A-Za-z]") + local.str.count_matches(r"[A-Z]{2}[a-z]")
    )
    restless = (changes / local.str.len_chars().clip(1)) > RESTLESS
    shape = local.str.contains(IDENTIFIER)
    digits = local.str.contains(r"\d")
    frame = pl.DataFrame({
        "space": namespaces(iris),
        "kind": pl.Series(kinds if kinds is not None else np.zeros(len(iris), dtype=np.int8)),
        "stem": stems, "odd": shape | restless, "digits": digits,
    })
    over = ["space", "kind"]
    crowd = frame.select(
        same=(pl.col("stem").n_unique() / pl.len()).over(over) < SAME_STEMS,
        odd=pl.col("odd").mean().over(over) > 0.5,
        digits=pl.col("digits").mean().over(over) > 0.5,
        many=pl.len().over(over) >= CROWD,
    )
    siblings = crowd["many"] & ((crowd["same"] & crowd["digits"]) | crowd["odd"])
    return shape | siblings
