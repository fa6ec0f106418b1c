"""Folders in the two layouts that entity-alignment benchmarks come in.

DBP15K: ``ent_ids_1``, ``triples_1``, ``ref_ent_ids`` and so on, with integer ids.
OpenEA: ``rel_triples_1``, ``attr_triples_1``, ``ent_links`` and so on, with URIs. Some have the
terms of N-Triples in them, ``<http://...>`` and ``"text"@en``; these are read as what they mean.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
import polars as pl

from sameas.compute.arrays import Positions
from sameas.compute.parallel import meanwhile
from sameas.errors import InputError, shortened
from sameas.formats.links import read_gold_links, without_duplicates
from sameas.formats.tables import read_table
from sameas.graph.graph import Graph, positions_of
from sameas.graph.iri import mapped_where

T = TypeVar("T")
Layout = Literal["dbp15k", "openea"]
MARKS: dict[Layout, str] = {"dbp15k": "triples_1", "openea": "rel_triples_1"}
"""The file that a folder in each layout has."""
TRANSLATED = "translated_names.json"
"""The names that a DBP15K folder may have."""
TRIPLE = ("head", "relation", "tail")
BRACKETED = r"^<([^<>\s]+)>$"
QUOTED = r"(?s)^\"(.*)\"(?:@[A-Za-z]+(?:-[A-Za-z0-9]+)*|\^\^\S+)?$"
"""An IRI and a literal as N-Triples write them."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Side:
    """A graph, the ids of its entities where it has any, and the file that holds its triples."""

    graph: Graph
    file: str | Path
    ids: pl.Series | None = None


def detect_layout(folder: Path) -> Layout:
    """Which benchmark layout a folder has, by the files in it."""
    if not folder.exists():
        raise InputError(folder, "no such file or folder; check the path")
    if not folder.is_dir():
        problem = "one benchmark folder or two files of triples expected, found one file"
        raise InputError(folder, problem)
    for layout, mark in MARKS.items():
        if (folder / mark).exists():
            return layout
    if (folder / "run.json").is_file():
        raise InputError(folder, "is a run folder; give the benchmark folder or file it came from")
    held = ", ".join(sorted(entry.name for entry in folder.iterdir())[:6]) or "nothing"
    expected = "triples_1 and ent_ids_1 (DBP15K) or rel_triples_1 (OpenEA)"
    raise InputError(folder, f"not a known layout: found {held}; expected {expected}")


def read_benchmark(folder: Path) -> tuple[list[Side], pl.DataFrame | None]:
    """Both sides of a benchmark folder, and its gold links (left, right, file, line), if any."""
    if detect_layout(folder) == "openea":
        sides = _both(lambda number: _openea_side(folder, number))
        return sides, _openea_gold(folder)
    entities = _entities(folder)
    sides = _both(lambda number: _dbp15k_side(folder, number, entities[number - 1]))
    return sides, _dbp15k_gold(folder, entities)


def _both(read: Callable[[int], T]) -> list[T]:
    """What is read of side 1 and of side 2, at once."""
    with meanwhile(lambda: read(2)) as right:
        return [read(1), right()]


def read_benchmark_gold(folder: Path) -> pl.DataFrame:
    """The gold links of a benchmark folder (left, right, file, line)."""
    if detect_layout(folder) == "openea":
        gold = _openea_gold(folder)
    else:
        gold = _dbp15k_gold(folder, _entities(folder))
    if gold is None:
        raise InputError(folder, "holds no gold links (ref_ent_ids or ent_links)")
    return gold


def _entities(folder: Path) -> list[pl.DataFrame]:
    return _both(lambda number: _ids(folder / f"ent_ids_{number}", distinct=("id", "uri")))


def _dbp15k_gold(folder: Path, entities: list[pl.DataFrame]) -> pl.DataFrame | None:
    """The reference and supervision links, or None if there are neither."""
    files = [folder / name for name in ("ref_ent_ids", "sup_ent_ids") if (folder / name).exists()]
    tables = []
    for file in files:
        table = read_table(file, ("left", "right"), integers=("left", "right"), kind=".tsv")
        for number, column in enumerate(("left", "right"), start=1):
            known = entities[number - 1]
            rows = _known(table, column, known["id"], path=file, what=f"ent_ids_{number}")
            table = table.with_columns(known["uri"].gather(rows).alias(column))
        tables.append(table.with_columns(file=pl.lit(str(file))))
    return without_duplicates(pl.concat(tables)) if tables else None


def _openea_gold(folder: Path) -> pl.DataFrame | None:
    file = folder / "ent_links"
    if not file.exists():
        return None
    links = _without_brackets(read_gold_links(file, kind=".tsv"), "left", "right")
    return without_duplicates(links)


def _dbp15k_side(folder: Path, number: int, entities: pl.DataFrame) -> Side:
    file = folder / f"triples_{number}"
    triples = read_table(file, TRIPLE, integers=TRIPLE, kind=".tsv")
    relations = _relations(folder, number, triples)
    known = (("ent_ids", entities), ("rel_ids", relations), ("ent_ids", entities))
    columns = [
        _known(triples, column, table["id"], path=file, what=f"{ids}_{number}")
        for column, (ids, table) in zip(TRIPLE, known, strict=True)
    ]
    uris = entities["uri"].rename("entity")
    graph = Graph(
        entities=uris,
        relations=relations["uri"].rename("relation"),
        triples=np.stack(columns, axis=1),
    )
    return Side(graph=graph, file=file, ids=entities["id"])


def _openea_side(folder: Path, number: int) -> Side:
    triples_file = folder / f"rel_triples_{number}"
    triples = _without_brackets(read_table(triples_file, TRIPLE, kind=".tsv"), *TRIPLE)
    file, attributes = folder / f"attr_triples_{number}", None
    if file.exists():
        columns = ("entity", "attribute", "value")
        attributes = read_table(file, columns, may_be_empty=("value",), kind=".tsv")
        attributes = _without_brackets(attributes, *columns)
        attributes = attributes.with_columns(_without_quotes(attributes["value"]))
    return Side(graph=Graph.from_triples(triples, attributes=attributes), file=triples_file)


def _without_brackets(table: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """The table with IRIs as they are where they stand in angle brackets."""
    return table.with_columns(pl.col(columns).str.replace(BRACKETED, "${1}"))


def _without_quotes(values: pl.Series) -> pl.Series:
    """The texts of literals, without language and datatype, if most values are written as such."""
    quoted = values.str.contains(QUOTED)
    if quoted.sum() * 2 < len(values):  # quotes are part of some texts
        return values
    texts = values.str.replace(QUOTED, "${1}")
    return mapped_where(quoted & texts.str.contains("\\", literal=True), texts, _unescaped)


def _unescaped(text: str) -> str:
    """A text without the escapes of N-Triples; as it is if these are none."""
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return text


def _relations(folder: Path, number: int, triples: pl.DataFrame) -> pl.DataFrame:
    """Ids and URIs of a side's relations; the id itself where there is no ``rel_ids`` file."""
    file = folder / f"rel_ids_{number}"
    if file.exists():
        return _ids(file)
    ids = triples["relation"].unique().sort()
    return pl.DataFrame({"id": ids, "uri": ids.cast(pl.String)})


def _ids(file: Path, *, distinct: Sequence[str] = ("id",)) -> pl.DataFrame:
    """A file of ids and URIs, in which some columns are distinct."""
    table = read_table(file, ("id", "uri"), integers=("id",), kind=".tsv")
    for column in distinct:
        repeated = table.filter(~table[column].is_first_distinct())
        if len(repeated):
            value = shortened(str(repeated[column][0]))
            problem = f'{column} "{value}" was given before'
            raise InputError(file, problem, line=repeated["line"][0])
    return table


def _known(table: pl.DataFrame, column: str, ids: pl.Series, *, path: Path, what: str) -> Positions:
    """Positions of a column's ids; the first that is not known is an InputError."""
    rows = positions_of(table[column], ids)
    if (rows < 0).any():
        wrong = table.row(int(np.argmax(rows < 0)), named=True)
        problem = f"{column} {wrong[column]} is not in {what}; add it there or leave the line out"
        raise InputError(path, problem, line=wrong["line"])
    return rows
