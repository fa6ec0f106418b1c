"""Two tables of records as one: a row an entity, with the id of its partner and merged values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO

import polars as pl

from sameas.graph.graph import positions_of
from sameas.graph.property_graph import PropertyGraph, columns_by_key, distinct_names
from sameas.options.options import Side
from sameas.result.merged_graph import (
    CONFLICTS,
    SEVERAL,
    SIDES,
    canonical,
    identities,
    new_ids,
    with_ids,
)


def merge_records(
    left: PropertyGraph,
    right: PropertyGraph,
    links: pl.DataFrame,
    *,
    keep: Side,
    same_keys: Mapping[str, str],
    id_column: str = "id",
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The table of both, and the conflicts: entity, property, left, right.

    Every left row comes with the id of its partner (once for each, if it has several), then the
    right rows without a partner. A column that both sides have holds the value of the side to
    keep, or else that of the other one. Where they disagree, the latter is in a second column,
    called ``_right`` (or ``_left``) behind the name of the first.
    """
    rows = _rows(left.nodes, right.nodes, identities(left.nodes, right.nodes, links))
    renames = same_keys if keep == "left" else {ours: theirs for theirs, ours in same_keys.items()}
    ids, _ = new_ids(left.nodes, right.nodes, links, keep=keep)
    cells = {
        side: _cells(graph, rows[side], {} if side == keep else renames, new)
        for side, graph, new in zip(SIDES, (left, right), ids, strict=True)
    }
    other = SIDES[keep == "left"]
    empty = pl.repeat(None, len(rows), dtype=pl.List(pl.String), eager=True)
    columns = {id_column: rows["left"], f"right_{id_column}": rows["right"]}
    conflicts = [pl.DataFrame(schema=CONFLICTS)]
    entity = pl.coalesce(keep, other)
    for key in dict.fromkeys([*cells[keep], *cells[other]]):
        table = rows.with_columns(
            cells[side].get(key, empty).alias(f"{side} values") for side in SIDES
        ).with_columns(_disagree().alias("disagree"))
        kept, further = (pl.col(f"{side} values") for side in (keep, other))
        name, second = distinct_names([key, f"{key}_{other}"], taken=columns)
        columns[name] = table.select(pl.coalesce(kept, further).list.join(SEVERAL)).to_series()
        if table["disagree"].any():
            apart = pl.when("disagree").then(further.list.join(SEVERAL))
            columns[second] = table.select(apart).to_series()
            values = {side: pl.col(f"{side} values").list.join(SEVERAL) for side in SIDES}
            conflicts.append(
                table.filter("disagree").select(entity=entity, property=pl.lit(key), **values)
            )
    table = pl.DataFrame([column.alias(name) for name, column in columns.items()])
    return table, pl.concat(conflicts)


def _rows(left: pl.Series, right: pl.Series, links: pl.DataFrame) -> pl.DataFrame:
    """left, right: the ids of each row, null where there is none."""
    pairs = left.to_frame("left").join(
        links.select("left", "right"), on="left", how="left", maintain_order="left"
    )
    alone = right.filter(~right.is_in(links["right"].implode()))
    rows: pl.DataFrame = pl.concat([pairs, alone.to_frame("right")], how="diagonal")
    return rows


def _cells(
    graph: PropertyGraph, ids: pl.Series, renames: Mapping[str, str], new: pl.DataFrame
) -> dict[str, pl.Series]:
    """The values of each column as lists, in the order of the rows.

    Edges are columns that hold ids; those of linked entities are of the side to keep.
    """
    keys = with_ids(graph.edges, ["end"], new).select("start", key="type", value="end")
    properties = graph.properties.select("node", "key", "value")
    if len(graph.labels["label"].unique()) > 1:
        types = graph.labels.select("node", key=pl.lit(graph.labels_key), value="label")
        properties = pl.concat([types, properties])
    properties = pl.concat([properties, keys.rename({"start": "node"})])
    properties = properties.with_columns(pl.col("key").replace(renames))
    positions = positions_of(ids.fill_null(""), graph.nodes)
    missing = pl.Series(positions < 0) | ids.is_null()
    empty = pl.repeat(None, len(ids), dtype=pl.List(pl.String), eager=True)
    columns = columns_by_key(graph.nodes, properties)
    return {
        key: empty.zip_with(missing, lists.gather(positions.clip(0)))
        for key, lists in columns.items()
    }


def _disagree() -> pl.Expr:
    """Whether a row has values of both sides, and neither side has all of the other's."""
    left, right = (
        pl.col(f"{side} values").list.eval(canonical(pl.element())).list.unique() for side in SIDES
    )
    shared = left.list.set_intersection(right).list.len()
    least = pl.min_horizontal(left.list.len(), right.list.len())
    return (left.is_not_null() & right.is_not_null() & (shared < least)).fill_null(value=False)


def write_records(table: pl.DataFrame, file: IO[bytes], kind: str) -> list[str]:
    """Write a table as .csv, .tsv, .parquet or .jsonl; what it cannot hold, in words."""
    if kind == ".parquet":
        table.write_parquet(file)
    elif kind == ".jsonl":
        table.write_ndjson(file)
    else:
        table.write_csv(file, separator="\t" if kind == ".tsv" else ",")
    return []
