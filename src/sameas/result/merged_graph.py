"""Two property graphs as one: linked nodes share an id and their properties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from sameas.graph.graph import positions_of
from sameas.graph.iri import are_iris
from sameas.graph.property_graph import PropertyGraph
from sameas.options.options import Side
from sameas.result.identity import kept_entities

CONFLICTS = pl.Schema(dict.fromkeys(("entity", "property", "left", "right"), pl.String))
SEVERAL = " | "
"""Stands between several values in one cell."""
NUMBER = r"^[+-]?(?:0|[1-9]\d*)(?:\.\d+)?$"
"""Texts that are compared as numbers; what begins with 0 may be a code."""
SIDES: tuple[Side, Side] = ("left", "right")


@dataclass(frozen=True, eq=False, kw_only=True)
class Unified:
    """Two property graphs as one."""

    graph: PropertyGraph
    conflicts: pl.DataFrame
    """entity, property, left, right: where the two sides have values and disagree."""
    renamed: int
    """How many nodes got another id, since theirs is that of another node of the other graph."""


def unify(
    left: PropertyGraph,
    right: PropertyGraph,
    links: pl.DataFrame,
    *,
    keep: Side,
    same_keys: Mapping[str, str],
    in_lists: bool = True,
) -> Unified:
    """The two graphs as one, in which linked nodes have the id of the side to keep.

    ``same_keys`` are right properties and the left ones that they are the same as; they are
    called as on the side to keep. Values that agree stand once. Where the two sides disagree,
    both values are kept: in one list, or else (not ``in_lists``) that of the other side under the
    name of the property with ``_right`` (or ``_left``) behind it.
    """
    graphs = left, right
    ids, renamed = new_ids(left.nodes, right.nodes, links, keep=keep)
    renames = same_keys if keep == "left" else {ours: theirs for theirs, ours in same_keys.items()}
    other = SIDES[keep == "left"]
    properties = [
        with_ids(graph.properties, ["node"], new).with_columns(side=pl.lit(side))
        for graph, new, side in zip(graphs, ids, SIDES, strict=True)
    ]
    renamed_side = SIDES.index(other)
    properties[renamed_side] = properties[renamed_side].with_columns(pl.col("key").replace(renames))
    table, conflicts = merged_values(pl.concat(properties), "node", keep=keep, in_lists=in_lists)
    edges, edge_properties, of_edges = _merged_edges(graphs, ids, keep=keep, in_lists=in_lists)
    labels = [with_ids(graph.labels, ["node"], new) for graph, new in zip(graphs, ids, strict=True)]
    kept = graphs[SIDES.index(keep)]
    graph = PropertyGraph(
        nodes=pl.concat([new["new"] for new in ids]).unique(maintain_order=True).rename("node"),
        labels=pl.concat(labels).unique(maintain_order=True),
        properties=table,
        edges=edges,
        edge_properties=edge_properties,
        labels_key=kept.labels_key,
        type_key=kept.type_key,
        untyped=left.untyped or right.untyped,
        is_directed=left.is_directed or right.is_directed,
    )
    conflicts = pl.concat([conflicts, of_edges])
    return Unified(graph=graph, conflicts=conflicts, renamed=renamed)


def identities(left: pl.Series, right: pl.Series, links: pl.DataFrame) -> pl.DataFrame:
    """left, right, score: the links between nodes of two graphs, and the nodes of equal IRIs.

    An IRI means the same everywhere. Other ids, such as row numbers, do not: nodes that have the
    same one are different things unless a link says otherwise.
    """
    known = (positions_of(links["left"], left) >= 0) & (positions_of(links["right"], right) >= 0)
    known_links = links.filter(pl.Series(known)).select("left", "right", "score")
    equal = left.filter(pl.Series(positions_of(left, right) >= 0))
    iris = equal.filter(are_iris(equal))
    same = pl.DataFrame({"left": iris, "right": iris}).with_columns(score=pl.lit(None, pl.Float64))
    pair = ["left", "right"]
    return pl.concat([known_links, same.join(known_links, on=pair, how="anti")])


def new_ids(
    left: pl.Series, right: pl.Series, links: pl.DataFrame, *, keep: Side
) -> tuple[tuple[pl.DataFrame, pl.DataFrame], int]:
    """old, new: the id of each node of a side in the merged graph; how many are neither's."""
    links, shift = identities(left, right, links), len(left)
    ends = np.stack(
        [positions_of(links["left"], left), positions_of(links["right"], right)], axis=1
    )
    every = pl.concat([left.rename("node"), right.rename("node")])
    kept = kept_entities(ends + np.array([0, shift]), links["score"], len(every), keep=keep)
    owners = np.unique(kept)
    of_keep = (owners < shift) == (keep == "left")
    taken = set(every.gather(owners[of_keep]))
    names, renamed = every.to_list(), 0
    for position in map(int, owners[~of_keep]):
        name = names[position]
        while name in taken:
            name = f"{SIDES[position >= shift]}:{name}"
        renamed += name != names[position]
        names[position] = name
        taken.add(name)
    new = pl.Series("new", names, dtype=pl.String).gather(kept)
    tables = (
        pl.DataFrame([left.alias("old"), new[:shift]]),
        pl.DataFrame([right.alias("old"), new[shift:]]),
    )
    return tables, renamed


def with_ids(table: pl.DataFrame, columns: list[str], ids: pl.DataFrame) -> pl.DataFrame:
    """The table with the new ids in these columns."""
    new = ids["new"]
    return table.with_columns(
        new.gather(positions_of(table[column], ids["old"])).alias(column) for column in columns
    )


def canonical(values: pl.Expr) -> pl.Expr:
    """Values as they are compared: without spaces around them, numbers by what they amount to."""
    text = values.str.strip_chars()
    number = text.cast(pl.Float64, strict=False).cast(pl.String)
    return pl.when(text.str.contains(NUMBER)).then(number).otherwise(text)


def merged_values(
    properties: pl.DataFrame, owner: str, *, keep: Side, in_lists: bool, apart: str | None = None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The properties of both sides as one, and the conflicts: where neither holds the other's.

    ``properties`` has the columns owner, key, value, datatype and side. Where values are not kept
    in lists, those of the other side are under the name of the property with ``apart`` behind it.
    """
    cell, other = [owner, "key"], SIDES[keep == "left"]
    columns = [*cell, "value", "datatype"]
    every = properties.with_columns(same=canonical(pl.col("value")))
    every = pl.concat([every.filter(side=keep), every.filter(side=other)])
    values = every.group_by(*cell, "same", maintain_order=True).agg(
        pl.col("value", "datatype").first(),
        left=(pl.col("side") == "left").any(),
        right=(pl.col("side") == "right").any(),
    )
    counts = values.group_by(cell, maintain_order=True).agg(
        pl.col("left", "right").sum(), both=(pl.col("left") & pl.col("right")).sum()
    )
    disagreeing = counts.filter(
        (pl.col("left") > 0) & (pl.col("right") > 0),
        pl.col("both") < pl.min_horizontal("left", "right"),
    ).select(cell)
    where = every.join(disagreeing, on=cell, how="semi", maintain_order="left")
    of_side = (pl.col("value").filter(side=side).unique(maintain_order=True) for side in SIDES)
    conflicts = where.group_by(cell, maintain_order=True).agg(
        texts.str.join(SEVERAL).alias(side) for side, texts in zip(SIDES, of_side, strict=True)
    )
    conflicts = conflicts.select(
        pl.col(owner).cast(pl.String).alias("entity"), property="key", left="left", right="right"
    )
    if not in_lists and len(disagreeing):
        taken = set(values["key"])
        names = {
            key: _free_name(f"{key}_{apart or other}", taken) for key in disagreeing["key"].unique()
        }
        marked = values.join(
            disagreeing.with_columns(conflict=True), on=cell, how="left", maintain_order="left"
        )
        moved = pl.col("conflict").fill_null(value=False) & ~pl.col(keep)
        values = marked.with_columns(
            key=pl.when(moved).then(pl.col("key").replace(names)).otherwise("key")
        )
    return values.select(columns), conflicts


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _merged_edges(
    graphs: tuple[PropertyGraph, PropertyGraph],
    ids: tuple[pl.DataFrame, pl.DataFrame],
    *,
    keep: Side,
    in_lists: bool,
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """The edges of both graphs, their properties, and conflicts between these.

    The n-th edge of a type between two nodes is the n-th of that type in the other graph.
    """
    tables, same = [], ["start", "type", "end", "nth"]
    turned = pl.col("start") > pl.col("end")
    for graph, new in zip(graphs, ids, strict=True):
        table = with_ids(graph.edges, ["start", "end"], new).with_row_index("old")
        if not any(one.is_directed for one in graphs):
            table = table.with_columns(
                start=pl.when(turned).then("end").otherwise("start"),
                end=pl.when(turned).then("start").otherwise("end"),
            )
        nth = pl.int_range(pl.len()).over("start", "type", "end")
        tables.append(table.with_columns(nth=nth))
    every = pl.concat(tables).unique(same, keep="first", maintain_order=True)
    every = every.drop("old").with_row_index("edge").with_columns(pl.col("edge").cast(pl.Int64))
    parts = []
    for side, graph, table in zip(SIDES, graphs, tables, strict=True):
        rows = table.join(every, on=same, maintain_order="left")["edge"]
        number = rows.gather(graph.edge_properties["edge"])
        parts.append(graph.edge_properties.with_columns(edge=number, side=pl.lit(side)))
    values, conflicts = merged_values(pl.concat(parts), "edge", keep=keep, in_lists=in_lists)
    arrow = pl.format("{} -[{}]-> {}", "start", "type", "end")
    said = every.select(entity=pl.col("edge").cast(pl.String), edge_text=arrow)
    conflicts = conflicts.join(said, on="entity", how="left", maintain_order="left").select(
        "property", "left", "right", entity="edge_text"
    )
    return every.select("start", "type", "end"), values, conflicts.select(list(CONFLICTS))
