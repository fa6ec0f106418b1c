"""Tables of clusters: which entity is in which cluster."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from sameas.errors import InputError, shortened
from sameas.formats.files import kind_of, open_stream
from sameas.formats.rdf_syntax import head_text
from sameas.formats.tables import TABLE_SUFFIXES, read_parquet, read_table

ENTITY = ("entity", "id")
"""What the column of entities is called."""


def is_cluster_table(path: Path) -> bool:
    """Whether a file is a table with a column of clusters and one of entities."""
    header = _header(path)
    return "cluster" in header and any(name in header for name in ENTITY)


def read_clusters(path: Path) -> pl.DataFrame:
    """entity, cluster of a table; an entity in two clusters is refused."""
    header = _header(path)
    entity = next((name for name in ENTITY if name in header), ENTITY[0])
    table = read_table(path, (entity, "cluster")).rename({entity: "entity"})
    line, table = table["line"], table.select("entity", "cluster")
    twice = table.is_unique() & ~table["entity"].is_unique()
    if twice.any():
        place = twice.arg_true()[-1]
        name = shortened(table["entity"][place])
        problem = f'"{name}" is in two clusters; give each entity one'
        raise InputError(path, problem, line=int(line[place]))
    return table.unique(maintain_order=True)


def _header(path: Path) -> list[str]:
    """The first row of a table; empty if the file is none."""
    kind = kind_of(path)
    if kind not in TABLE_SUFFIXES or not path.is_file():
        return []
    if kind == ".parquet":
        return [name.lower() for name in read_parquet(path).columns]
    with open_stream(path) as stream:
        first = head_text(stream.head).split("\n", 1)[0]
    cells = first.split("," if kind == ".csv" else "\t")
    return [cell.strip().strip('"').lower() for cell in cells]
