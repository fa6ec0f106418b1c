"""Which property of the right graph is the same as which of the left one."""

from __future__ import annotations

import polars as pl

from sameas.graph.matched import MatchedGraph
from sameas.graph.property_view import attributes_of
from sameas.result.alignment import Alignment
from sameas.similarity.attributes import read_attributes

MOST = 0.5
"""The share of linked pairs with both values of which more than this must have the same one."""


def same_properties(alignment: Alignment) -> dict[str, str]:
    """Right attributes and the left ones that they are the same as, but those called alike.

    Names are the same property. Others are if the run compared them with each other and most
    linked entities that have both have the same value.
    """
    pair = alignment.pair
    left, right = (attributes_of(graph.source) for graph in pair.graphs)
    held = [set(table["attribute"].unique()) for table in (left, right)]
    attributes = read_attributes(pair, tuning=alignment.tuning)
    compared = [] if attributes is None else attributes.pairs
    names = [_name_attribute(pair.left, left), _name_attribute(pair.right, right)]
    matches: dict[str, str] = {}
    if names[0] is not None and names[1] is not None and names[0] != names[1]:
        compared = [(names[0], names[1]), *compared]
    for ours, theirs in compared:
        both_sides = ours in held[1] or theirs in held[0]
        if ours not in held[0] or theirs not in held[1] or both_sides:
            continue
        is_name = [ours, theirs] == names
        if theirs in matches or ours in matches.values():
            continue
        if is_name or _agree(left, right, alignment.links, ours, theirs):
            matches[theirs] = ours
    return matches


def _name_attribute(graph: MatchedGraph, table: pl.DataFrame) -> str | None:
    """The attribute that holds the names of most entities."""
    named = table.filter(pl.col("attribute").is_in(graph.name_paths))
    counts = named.group_by("attribute", maintain_order=True).agg(pl.col("entity").n_unique())
    return None if counts.is_empty() else str(counts.sort("entity", descending=True)[0, 0])


def _agree(
    left: pl.DataFrame, right: pl.DataFrame, links: pl.DataFrame, ours: str, theirs: str
) -> bool:
    """Whether most linked entities with both attributes have the same value."""
    same = pl.col("value").str.strip_chars().str.to_lowercase()
    number = same.cast(pl.Float64, strict=False).cast(pl.String)
    values = [
        table.filter(attribute=name).select("entity", value=pl.coalesce(number, same))
        for table, name in ((left, ours), (right, theirs))
    ]
    met = links.select("left", "right").join(values[0], left_on="left", right_on="entity")
    met = met.join(values[1], left_on="right", right_on="entity")
    if met.is_empty():
        return False
    equal = met.group_by("left", "right").agg((pl.col("value") == pl.col("value_right")).any())
    return bool(equal["value"].mean() > MOST)  # type: ignore[operator]
