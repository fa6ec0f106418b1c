"""Names out, in the form in which they are read back."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from sameas.compute.atomic import replacing_file
from sameas.graph.matched import MatchedPair
from sameas.result.export import TABLES, check_place


def check_names_file(path: Path) -> None:
    """Raise an OutputError unless names can be written there; call this before long work."""
    check_place(path, path.suffix.lower(), TABLES, remedy="plain")


def write_names(
    pair: MatchedPair,
    path: str | os.PathLike[str],
    *,
    sides: Sequence[str] = ("left", "right"),
) -> pl.DataFrame:
    """Write the names of entities (entity, name) as .tsv, .csv or .parquet; returns the table.

    ``read_pair(..., names=path)`` takes the file back, for example with the names translated.
    An entity without a name is left out.
    """
    path = Path(path)
    check_names_file(path)
    graphs = [getattr(pair, side) for side in sides]
    tables = [pl.DataFrame({"entity": one.entities, "name": one.names}) for one in graphs]
    space = pl.all().str.replace_all(r"\s+", " ").str.strip_chars()
    table = pl.concat(tables).with_columns(space).unique("entity", maintain_order=True)
    table = table.filter(pl.all_horizontal(pl.all() != ""))
    with replacing_file(path) as draft:
        TABLES[path.suffix.lower()](table, draft)
    return table
