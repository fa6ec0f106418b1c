"""Which entities of two graphs are one by the links between them, and whose id they have."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import coo_array

from sameas.compute.arrays import Positions
from sameas.options.options import Side


def kept_entities(
    ends: Positions,
    scores: pl.Series,
    size: int,
    *,
    keep: Side,
    avoided: NDArray[np.bool_] | None = None,
) -> Positions:
    """For each of ``size`` entities, the position of the one whose id it has; else its own.

    Entities are those of the left graph and then those of the right one; ``ends`` holds the two
    of each link, shape (links, 2). Entities that several links connect are one: of the ids of the
    side to keep, that of the best link counts. Those that are ``avoided`` come last.
    """
    from scipy.sparse.csgraph import connected_components  # slow to import

    joined = coo_array((np.ones(len(ends)), ends.T), shape=(size, size))
    count, group = connected_components(joined, directed=False)
    best = np.argsort(-scores.fill_null(-np.inf).to_numpy(), kind="stable")
    preferred = ends[best][:, [0, 1] if keep == "left" else [1, 0]].T.ravel()
    if avoided is not None:
        preferred = preferred[np.argsort(avoided[preferred], kind="stable")]
    kept = np.full(count, -1)
    chosen, first = np.unique(group[preferred], return_index=True)
    kept[chosen] = preferred[first]
    return np.where(kept[group] < 0, np.arange(size), kept[group])
