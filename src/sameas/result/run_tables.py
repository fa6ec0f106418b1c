"""The tables of a run folder: which columns each has, writing them, and reading them checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import polars as pl

from sameas.errors import InputError
from sameas.formats.tables import read_parquet
from sameas.graph.matched import NAMING_SCHEMA
from sameas.graph.property_tables import EDGE_PROPERTIES
from sameas.graph.task import EARLIER_ENTITIES, EARLIER_PAIRS
from sameas.result.alignment import SCHEMAS
from sameas.result.clusters import CLUSTER_CHANGES, CLUSTER_SCHEMAS
from sameas.result.explanation.result import Reason
from sameas.text.languages.support import LanguageSupport

TEXT_COLUMNS = {
    "entities": "entity name",
    "triples": "head relation tail",
    "attributes": "entity attribute value",
    "alternatives": "entity name",
    "linkable": "entity",
    "name_paths": "path",
    **dict.fromkeys(("gold", "seeds", "reject", "among"), "left right"),
    "dictionary": "text gloss",
}
COLUMNS: dict[str, pl.Schema] = {
    **SCHEMAS,
    **CLUSTER_SCHEMAS,
    "cluster_changes": CLUSTER_CHANGES,
    **{
        name: pl.Schema(dict.fromkeys(columns.split(), pl.String))
        for name, columns in TEXT_COLUMNS.items()
    },
    "word_vectors": pl.Schema([("word", pl.String), ("vector", pl.List(pl.Float32))]),
    "encoded_names": pl.Schema([("name", pl.String), ("vector", pl.List(pl.Float32))]),
    "naming": NAMING_SCHEMA,
    "edge_properties": EDGE_PROPERTIES,
    "earlier": EARLIER_PAIRS,
    "changed_entities": EARLIER_ENTITIES,
}
"""The columns that each table must have."""
MISSING = ("candidate", "before", "weakest_left", "weakest_right", "split")
"""Columns of text in which cells may be empty."""
FITS: dict[str, Callable[[Any], bool]] = {
    "str": lambda value: isinstance(value, str),
    "bool": lambda value: isinstance(value, bool),
    "int": lambda value: type(value) is int,
    "float": lambda value: type(value) in (int, float),
    "None": lambda value: value is None,
    "LanguageSupport": lambda value: isinstance(value, LanguageSupport),
    "tuple[str, ...]": lambda value: (
        isinstance(value, tuple) and all(isinstance(each, str) for each in value)
    ),
    "tuple[float, ...]": lambda value: (
        isinstance(value, tuple) and all(type(each) in (int, float) for each in value)
    ),
    "dict[str, float]": lambda value: (
        isinstance(value, dict) and all(type(each) in (int, float) for each in value.values())
    ),
    "dict[str, dict[str, float]]": lambda value: (
        isinstance(value, dict) and all(map(FITS["dict[str, float]"], value.values()))
    ),
}
"""Whether a value that JSON held is of a type, by the annotation of its field."""
LATER = ("mean_rank", "strength")
"""Columns that folders of earlier versions do not have."""
AGAIN = "run sameas align again"
DAMAGED = f"is missing or damaged; {AGAIN}"


def check_types(record: Any) -> None:
    """Raise an error if a field that was read from JSON holds a value of another type."""
    for field in fields(record):
        value = getattr(record, field.name)
        wanted = str(field.type).split(" | ")
        if not any(FITS[one](value) for one in wanted if one in FITS):
            raise ValueError(f'"{field.name}" must be {" or ".join(wanted)}')


def write_tables(tables: Mapping[str, pl.DataFrame | None], folder: Path) -> None:
    """Write the tables that there are, each by its name."""
    for name, table in tables.items():
        if table is not None:  # in pieces: the encoded form is never in memory as a whole
            table.write_parquet(folder / f"{name}.parquet", row_group_size=250_000)


def read_if_there(path: Path) -> pl.DataFrame | None:
    """A table with its columns checked; None if there is no such file."""
    return read_table(path) if path.exists() else None


def read_table(path: Path) -> pl.DataFrame:
    """A table with its columns checked."""
    schema = COLUMNS[path.stem]
    try:
        table = read_parquet(path)
        columns = table.select(name for name in schema if name not in LATER or name in table)
    except (InputError, pl.exceptions.PolarsError):
        raise InputError(path, DAMAGED) from None
    for name, column in columns.to_dict().items():
        kind = schema[name]
        fits = column.dtype == kind
        if kind.is_numeric():
            fits = column.dtype.is_numeric() or column.dtype == pl.Null
        elif name not in MISSING:
            fits = fits and not column.has_nulls()
        if not fits:
            raise InputError(path, f'is damaged (column "{name}"); {AGAIN}')
    if path.stem == "unmatched" and not table["reason"].is_in(get_args(Reason)).all():
        raise InputError(path, f'is damaged (column "reason"); {AGAIN}')
    return table
