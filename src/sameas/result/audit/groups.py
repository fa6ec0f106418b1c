"""Groups of entities by which a run can be better or worse: type, degree, script of the name."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.graph.iri import last_part
from sameas.graph.matched import MatchedGraph
from sameas.options.tuning import TUNING

DEGREES = (0, 1, 3, 7, 15, 31)
"""The most neighbours of each group of degrees but the last one."""


def groups_of(graph: MatchedGraph, *, fewest: int = TUNING.audit.group) -> Mapping[str, pl.Series]:
    """For each way to group entities, the group of every entity; null where it has none."""
    labels = {"degree": _degrees(graph), "script": _scripts(graph.names)}
    types = _types(graph, fewest)
    return labels if types.null_count() == len(types) else {"type": types, **labels}


def _degrees(graph: MatchedGraph) -> pl.Series:
    ends: NDArray[np.integer] = graph.triples[:, [0, 2]].ravel()
    degrees = np.bincount(ends, minlength=len(graph.entities))
    starts = [0, *(most + 1 for most in DEGREES)]
    names = [f"{a} to {b}" if a < b else str(a) for a, b in zip(starts, DEGREES, strict=False)]
    labels = pl.Series([*names, f"{starts[-1]} or more"])
    return labels.gather(np.searchsorted(DEGREES, degrees))


def _scripts(names: pl.Series) -> pl.Series:
    """The script of the first letter of each name, in small letters."""
    first = names.str.extract(r"(\p{L})")
    scripts = {
        letter: unicodedata.name(letter, "other").split(" ")[0].split("-")[0].lower()
        for letter in first.drop_nulls().unique()
    }
    names_of_scripts: pl.Series = first.replace_strict(
        scripts, default=None, return_dtype=pl.String
    )
    return names_of_scripts


def _types(graph: MatchedGraph, fewest: int) -> pl.Series:
    """The rarest type that is common enough to be a group, by the last part of its IRI."""
    table = pl.DataFrame(graph.types, schema=["entity", "type"], orient="row")
    table = table.with_columns(count=pl.len().over("type")).filter(pl.col("count") >= fewest)
    table = table.sort("count", "type").unique("entity", keep="first", maintain_order=True)
    labels = np.full(len(graph.entities), None, dtype=object)
    kinds = graph.entities.gather(table["type"])
    labels[table["entity"].to_numpy()] = [last_part(kind) for kind in kinds]
    return pl.Series(labels.tolist(), dtype=pl.String)
