"""Embeddings: files with one vector per entity, NumPy or Parquet."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.errors import InputError, refusing
from sameas.features.embeddings import first_not_finite, single_precision
from sameas.files import open_stream
from sameas.graph import positions_of
from sameas.reading.tables import read_parquet
from sameas.rows import Matrix, Rows, as_rows, unit

log = logging.getLogger(__name__)


def read_embeddings(path: Path, entities: pl.Series) -> Rows:
    """Unit feature rows for these entities (left first, then right), from a user's file.

    ``.npy``: an array with just one row per entity, in that order. Parquet: a column ``entity``
    and either one column of lists or several columns of numbers; an entity that is not in the
    file gets a row of zeros.
    """
    if path.suffix == ".npy":
        array, count = read_array(path), len(entities)
        is_matrix = array.ndim == 2 and len(array) == count and array.shape[1] > 0
        if not is_matrix or array.dtype.kind not in "fiu":
            expected = f"numbers of shape ({count}, d) expected, left entities before right ones"
            raise InputError(path, f"{expected}; found {array.dtype} of shape {array.shape}")
        vectors = single_precision(array)
    elif path.suffix == ".parquet":
        vectors = _read_parquet(path, entities)
    else:
        raise InputError(path, f'.npy or .parquet expected, found suffix "{path.suffix}"')
    row = first_not_finite(vectors)
    if row is not None:
        raise InputError(path, f'the vector of "{entities[row]}" is not finite')
    return unit(as_rows(vectors))


def read_array(path: Path) -> NDArray[Any]:
    """The array of a .npy file; one that cannot be read is an InputError."""
    problem = refusing(path, "not a .npy file of numbers", "save it with numpy.save")
    with open_stream(path) as stream, problem:
        return np.lib.format.read_array(stream, allow_pickle=False)


def _read_parquet(path: Path, entities: pl.Series) -> Matrix:
    table = read_parquet(path)
    columns = [name for name in table.columns if name != "entity"]
    if "entity" not in table.columns or table["entity"].dtype.is_nested() or not columns:
        held = ", ".join(table.columns)
        raise InputError(path, f"a column entity and numbers expected, found {held}")
    repeated = table.filter(~table["entity"].is_first_distinct())
    if len(repeated):
        raise InputError(path, f'entity "{repeated["entity"][0]}" was given before')
    try:
        first = table[columns[0]]
        if len(columns) == 1 and isinstance(first.dtype, pl.List | pl.Array):
            vectors = single_precision(np.stack(list(first.to_numpy())))
        else:
            vectors = single_precision(table.select(columns).cast(pl.Float64).to_numpy())
        if vectors.ndim != 2 or not vectors.shape[1]:
            raise ValueError("no numbers")
    except (ValueError, TypeError, pl.exceptions.PolarsError):
        raise InputError(path, "vectors must be numbers, as many for each entity") from None
    rows = positions_of(entities, table["entity"].cast(pl.String))
    missing = int((rows < 0).sum())
    if missing == len(entities):
        raise InputError(path, "none of its entities is in the graphs; use their URIs")
    found: Matrix = np.where(rows[:, None] >= 0, vectors[rows.clip(0)], np.float32(0))
    if missing and np.isfinite(found).all():
        log.warning("%d of %d entities have no row in %s", missing, len(entities), path.name)
    return found
