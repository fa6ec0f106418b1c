"""Columns of both graphs beside links, for people who read them."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sameas.errors import OptionError, shortened
from sameas.graph.iri import TYPE, last_part
from sameas.graph.matched import MatchedGraph, MatchedPair
from sameas.graph.rdf.reading import columns_of_side

SEVERAL = " | "
"""Stands between several values in one cell."""
NAME = "name"
"""The column that every graph has: what its entities are called."""


def check_carried(pair: MatchedPair, columns: Sequence[str]) -> None:
    """Raise an OptionError if a column is to be carried that neither graph has."""
    for number, (side, graph) in enumerate(zip(("left", "right"), pair.graphs, strict=True)):
        others = columns_of_side(columns, 1 - number)
        for column in columns_of_side(columns, number):
            other = pair.graphs[1 - number]
            if _sources(graph, column) or (column in others and _sources(other, column)):
                continue
            known = shortened(", ".join(_names(graph)), 300)
            raise OptionError(
                f"`with_` must be columns of the inputs, got {column!r} instead; those of the "
                f"{side} one are {known}"
            )


def carried_columns(
    pair: MatchedPair, links: pl.DataFrame, columns: Sequence[str]
) -> list[pl.Series]:
    """The columns of both graphs in the order of the links: ``left_city``, ``right_city``.

    A column that only one graph has stands once. Several values have `` | `` between them.
    """
    sides = zip(("left", "right"), pair.graphs, strict=True)
    values = {
        side: {
            column: _values(graph, column, links[side])
            for column in columns_of_side(columns, number)
            if _sources(graph, column)
        }
        for number, (side, graph) in enumerate(sides)
    }
    order = dict.fromkeys([*values["left"], *values["right"]])
    return [
        values[side][column].alias(f"{side}_{column}")
        for column in order
        for side in values
        if column in values[side]
    ]


def _names(graph: MatchedGraph) -> list[str]:
    """What can be carried, as people call it."""
    source = graph.source
    relations = source.relations.filter(source.relations != TYPE)
    held = [*source.attributes["attribute"].unique(maintain_order=True), *relations]
    reading = source.reading
    ids = () if reading is None else reading.id
    return list(dict.fromkeys([NAME, *ids, *map(last_part, held)]))


def _sources(graph: MatchedGraph, column: str) -> list[str]:
    """The attributes and relations that a column stands for: of that name, else ending like it."""
    source = graph.source
    held = [*source.attributes["attribute"].unique(maintain_order=True), *source.relations]
    reading = source.reading
    special = [NAME, *(() if reading is None else reading.id)]
    exact = [one for one in held if one == column]
    return (
        exact or [one for one in held if last_part(one) == column] or special.count(column) * [""]
    )


def _values(graph: MatchedGraph, column: str, entities: pl.Series) -> pl.Series:
    """The text of a column for each of these entities, null where there is none."""
    sources, source = _sources(graph, column), graph.source
    if sources == [""]:
        texts = graph.names if column == NAME else graph.entities
        table = pl.DataFrame({"entity": graph.entities, "value": texts})
    else:
        head, relation, tail = source.triples.T
        edges = pl.DataFrame(
            {
                "entity": source.entities.gather(head),
                "attribute": source.relations.gather(relation),
                "value": source.entities.gather(tail),
            }
        )
        said = pl.concat([source.attributes.select(edges.columns), edges])
        table = said.filter(pl.col("attribute").is_in(sources))
    cells = (
        table.filter(pl.col("value") != "")
        .unique(["entity", "value"], maintain_order=True)
        .group_by("entity", maintain_order=True)
        .agg(pl.col("value").str.join(SEVERAL))
    )
    wanted = entities.to_frame("entity").join(cells, on="entity", how="left", maintain_order="left")
    return wanted["value"]
