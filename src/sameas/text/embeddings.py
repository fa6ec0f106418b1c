"""Feature rows that a user brings: one vector per entity."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.compute.arrays import Matrix
from sameas.compute.rows import Rows, as_rows, unit
from sameas.errors import OptionError


def embedding_rows(embeddings: tuple[Any, Any], entities: tuple[pl.Series, pl.Series]) -> Rows:
    """Unit feature rows of all left, then all right entities, from an array for each side.

    ``entities`` are those of the left and of the right graph, by name.
    """
    if not isinstance(embeddings, tuple | list) or len(embeddings) != 2:
        raise OptionError("`embeddings` must be two arrays, for left and for right entities")
    arrays = []
    for side, values, uris in zip(("left", "right"), embeddings, entities, strict=True):
        try:
            array = np.asarray(values)
        except ValueError:  # rows of different lengths
            array = np.zeros(0)
        if array.dtype.kind not in "fiu" or array.ndim != 2 or len(array) != len(uris):
            raise OptionError(
                f"`embeddings` must have numbers of shape ({len(uris)}, d) for the {side} "
                f"entities, got {array.dtype} of shape {array.shape} instead"
            )
        arrays.append(single_precision(array))
    if arrays[0].shape[1] != arrays[1].shape[1] or not arrays[0].shape[1]:
        widths = f"{arrays[0].shape[1]} and {arrays[1].shape[1]}"
        raise OptionError(
            f"`embeddings` must have as many numbers for left as for right entities, got {widths}"
        )
    vectors = np.concatenate(arrays)
    row = first_not_finite(vectors)
    if row is not None:
        raise OptionError(
            f'`embeddings` must be finite, the vector of "{pl.concat(entities)[row]}" is not'
        )
    return unit(as_rows(vectors))


def first_not_finite(vectors: Matrix) -> int | None:
    """The first row with a number that is not finite."""
    finite = np.isfinite(vectors).all(axis=1)
    return None if finite.all() else int(np.argmin(finite))


def single_precision(vectors: NDArray[Any]) -> Matrix:
    """Numbers as float32; those too large for it become infinite."""
    with np.errstate(over="ignore"):
        return vectors.astype(np.float32)
