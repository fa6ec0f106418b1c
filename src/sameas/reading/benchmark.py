"""Folders in the two layouts that entity-alignment benchmarks come in.

DBP15K: ``ent_ids_1``, ``triples_1``, ``ref_ent_ids`` and so on, with integer ids.
OpenEA: ``rel_triples_1``, ``attr_triples_1``, ``ent_links`` and so on, with URIs.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from sameas.errors import InputError
from sameas.graph import Graph, graph_from_triples, positions_of
from sameas.reading.links import read_gold_links, without_duplicates
from sameas.reading.names import names_from_attributes, read_names
from sameas.reading.tables import integers, read_table, shortened

Side = tuple[Graph, pl.Series | None, pl.DataFrame | None]
"""A graph without names, the ids of its entities if it has any, and the names given for them."""


def read_dbp15k(folder: Path) -> tuple[Side, Side]:
    """Both sides of a folder in the DBP15K layout."""
    names_file = folder / "translated_names.json"
    names = read_names(names_file) if names_file.exists() else None
    return _dbp15k_side(folder, 1, names), _dbp15k_side(folder, 2, names)


def read_openea(folder: Path) -> tuple[Side, Side]:
    """Both sides of a folder in the OpenEA layout."""
    return _openea_side(folder, 1), _openea_side(folder, 2)


def read_dbp15k_gold(folder: Path) -> pl.DataFrame | None:
    """The reference and supervision links of a DBP15K folder, or None if it has neither.

    Besides left and right (URIs) the table says where each link stood: file, line.
    """
    files = [folder / name for name in ("ref_ent_ids", "sup_ent_ids") if (folder / name).exists()]
    if not files:
        return None
    entities = {side: _entities(folder, side) for side in (1, 2)}
    tables = []
    for file in files:
        table = read_table(file, ("left", "right"), kind=".tsv")
        for column, side in (("left", 1), ("right", 2)):
            table = integers(table, column, path=file)
            rows = _known(table, column, entities[side]["id"], path=file, what=f"ent_ids_{side}")
            table = table.with_columns(entities[side]["uri"].gather(rows).alias(column))
        tables.append(table.with_columns(file=pl.lit(str(file))))
    return without_duplicates(pl.concat(tables))


def read_openea_gold(folder: Path) -> pl.DataFrame | None:
    """The links of an OpenEA folder (left, right, file, line), or None if it has none."""
    file = folder / "ent_links"
    if not file.exists():
        return None
    return read_gold_links(file, kind=".tsv")


def _dbp15k_side(folder: Path, side: int, names: pl.DataFrame | None) -> Side:
    entities = _entities(folder, side)
    file = folder / f"triples_{side}"
    triples = read_table(file, ("head", "relation", "tail"), kind=".tsv")
    for column in ("head", "relation", "tail"):
        triples = integers(triples, column, path=file)
    relations = _relations(folder, side, triples)
    what = f"ent_ids_{side}"
    columns = [
        _known(triples, "head", entities["id"], path=file, what=what),
        _known(triples, "relation", relations["id"], path=file, what=f"rel_ids_{side}"),
        _known(triples, "tail", entities["id"], path=file, what=what),
    ]
    graph = Graph(
        entities=entities["uri"].rename("entity"),
        names=pl.Series("name", [""] * len(entities)),
        relations=relations["uri"].rename("relation"),
        triples=np.stack(columns, axis=1),
    )
    return graph, entities["id"], names


def _entities(folder: Path, side: int) -> pl.DataFrame:
    table = _ids(folder / f"ent_ids_{side}")
    _refuse_repeated(table, "uri", folder / f"ent_ids_{side}")
    return table


def _relations(folder: Path, side: int, triples: pl.DataFrame) -> pl.DataFrame:
    """Ids and URIs of a side's relations; the id itself where there is no ``rel_ids`` file."""
    file = folder / f"rel_ids_{side}"
    if file.exists():
        return _ids(file)
    ids = triples["relation"].unique().sort()
    return pl.DataFrame({"id": ids, "uri": ids.cast(pl.String)})


def _ids(file: Path) -> pl.DataFrame:
    """A file of ids and URIs, each id once."""
    table = integers(read_table(file, ("id", "uri"), kind=".tsv"), "id", path=file)
    _refuse_repeated(table, "id", file)
    return table


def _refuse_repeated(table: pl.DataFrame, column: str, file: Path) -> None:
    repeated = table.filter(~table[column].is_first_distinct())
    if len(repeated):
        raise InputError(
            file,
            f'{column} "{shortened(str(repeated[column][0]))}" was given before',
            line=repeated["line"][0],
        )


def _known(
    table: pl.DataFrame, column: str, ids: pl.Series, *, path: Path, what: str
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Positions of a column's ids; the first that is not known is an InputError."""
    rows = positions_of(table[column], ids)
    if (rows < 0).any():
        wrong = table.row(int(np.argmax(rows < 0)), named=True)
        raise InputError(
            path,
            f"{column} {wrong[column]} is not in {what}; add it there or leave the line out",
            line=wrong["line"],
        )
    return rows


def _openea_side(folder: Path, side: int) -> Side:
    triples = read_table(folder / f"rel_triples_{side}", ("head", "relation", "tail"), kind=".tsv")
    file = folder / f"attr_triples_{side}"
    if not file.exists():
        return graph_from_triples(triples), None, None
    columns = ("entity", "attribute", "value")
    attributes = read_table(file, columns, may_be_empty=("value",), kind=".tsv").drop("line")
    graph = graph_from_triples(triples, attributes=attributes)
    return graph, None, names_from_attributes(attributes)
