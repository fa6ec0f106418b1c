"""What changed in a graph since an earlier version of it: new, changed and vanished entities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import polars as pl

from sameas.graph.graph import TYPE_NODE
from sameas.graph.iri import BLANK
from sameas.graph.matched import MatchedGraph

CHANGE_SCHEMA = pl.Schema(dict.fromkeys(("entity", "change", "reason"), pl.String))
NO_NUMBER = "formerly "
"""Begins what a row without an id is called that is in the earlier table alone."""
TRIPLE = ("head", "relation", "tail")
Rename = Callable[[pl.Series], pl.Series]
"""The ids of today in place of the ids of an earlier graph."""


def changed_entities(before: MatchedGraph, now: MatchedGraph) -> pl.DataFrame:
    """entity, change, reason of every entity that may be linked and is not as it was.

    The change is new, changed or gone. The reason of a change says which of its name, attributes
    and triples differ.
    """
    old, new = _things(before), _things(now)
    earlier, later = _statements(before), _statements(now)
    differing = {part: _in_one_alone(earlier[part], later[part]) for part in later}
    here = new.is_in(before.entities.implode())
    changed = pl.DataFrame({"entity": new.filter(here)}).with_columns(
        reason=pl.concat_str(
            (
                pl.when(pl.col("entity").is_in(entities.implode())).then(pl.lit(part))
                for part, entities in differing.items()
            ),
            separator=", ",
            ignore_nulls=True,
        )
    )
    gone = old.filter(~old.is_in(now.entities.implode()))
    tables = (
        pl.DataFrame({"entity": new.filter(~here)}).with_columns(change=pl.lit("new")),
        changed.filter(pl.col("reason") != "").with_columns(change=pl.lit("changed")),
        pl.DataFrame({"entity": gone}).with_columns(change=pl.lit("gone")),
    )
    every = pl.concat(tables, how="diagonal").with_columns(pl.col("reason").fill_null(""))
    return every.select(list(CHANGE_SCHEMA)).cast(CHANGE_SCHEMA).sort("change", "entity")


def share_recognised(before: MatchedGraph, now: MatchedGraph) -> float:
    """The share of the smaller graph's entities of which both graphs say something in common.

    Equal ids alone do not count: 1, 2 and 3 are ids in many tables.
    """
    old, new = _things(before), _things(now)
    earlier, later = _statements(before), _statements(now)
    known = pl.concat([_in_both(earlier[part], later[part]) for part in later]).unique()
    count = int((new.is_in(known.implode()) & new.is_in(old.implode())).sum())
    return count / max(min(len(old), len(new)), 1)


def ids_of_today(before: MatchedGraph, now: MatchedGraph) -> Rename | None:
    """What gives the ids of today for those of an earlier graph; None where ids stay.

    Rows of a table without ids are told by what they hold, since one row more gives others
    another number. Of rows that hold the same, none is told.
    """
    reading = now.source.reading
    if now.source.shape != "records" or reading is None or reading.id:
        return None
    old, new = (_contents(graph).filter(pl.col("content").is_unique()) for graph in (before, now))
    ids = old.join(new, on="content", suffix="_now")

    def to_today(column: pl.Series) -> pl.Series:
        today = column.replace_strict(ids["entity"], ids["entity_now"], default=None)
        former = (NO_NUMBER + column).alias("former")
        return pl.select(pl.coalesce(today, former)).to_series().alias(column.name)

    return to_today


def with_ids(graph: MatchedGraph, rename: Rename) -> MatchedGraph:
    """The graph with other ids."""
    return replace(
        graph,
        entities=rename(graph.entities),
        attributes=graph.attributes.with_columns(rename(graph.attributes["entity"])),
        alternatives=graph.alternatives.with_columns(rename(graph.alternatives["entity"])),
    )


def _things(graph: MatchedGraph) -> pl.Series:
    """The entities that may be linked, without those that have no id of their own."""
    every: pl.Series = graph.entities.gather(graph.linkable)
    own_id: pl.Series = every.filter(
        ~(every.str.starts_with(BLANK) | every.str.starts_with(TYPE_NODE))
    )
    return own_id


def _statements(graph: MatchedGraph) -> dict[str, pl.DataFrame]:
    """What a graph says of its entities, by the part of them that it is about.

    A blank node has another id whenever the graph is read: all count as one.
    """
    head, relation, tail = graph.triples.T
    ends = graph.entities.set(graph.entities.str.starts_with(BLANK), BLANK)
    columns = ends.gather(head), graph.relations.gather(relation), ends.gather(tail)
    first = pl.DataFrame({"entity": graph.entities, "name": graph.names})
    return {
        "name": pl.concat([first, graph.alternatives.select("entity", "name")]),
        "attributes": graph.attributes.select("entity", "attribute", "value"),
        "triples": pl.DataFrame(dict(zip(TRIPLE, columns, strict=True))),
    }


def _in_one_alone(earlier: pl.DataFrame, later: pl.DataFrame) -> pl.Series:
    """The entities of statements that only one of two tables has."""
    ways = (earlier, later), (later, earlier)
    return _entities(pl.concat(one.join(other, on=one.columns, how="anti") for one, other in ways))


def _in_both(earlier: pl.DataFrame, later: pl.DataFrame) -> pl.Series:
    """The entities of statements that both tables have; an empty name says nothing."""
    if "name" in earlier.columns:
        earlier = earlier.filter(pl.col("name") != "")
    return _entities(earlier.join(later, on=earlier.columns, how="semi"))


def _entities(statements: pl.DataFrame) -> pl.Series:
    """The entities that statements are about: of triples, both ends."""
    columns = [name for name in ("entity", "head", "tail") if name in statements.columns]
    return pl.concat([statements[name].alias("entity") for name in columns]).unique()


def _contents(graph: MatchedGraph) -> pl.DataFrame:
    """entity, content: all values of each row, by column."""
    cells = graph.attributes.select("entity", "attribute", "value")
    return (
        cells.sort(cells.columns)
        .group_by("entity", maintain_order=True)
        .agg(content=pl.struct("attribute", "value"))
    )
