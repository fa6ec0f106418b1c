"""Several graphs as one in which nothing is linked: their entities and statements side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl

from sameas.compute.arrays import Positions
from sameas.graph.graph import TYPE_NODE, Graph
from sameas.graph.iri import BLANK
from sameas.graph.rdf.reading import Reading


@dataclass(frozen=True, eq=False)
class Union:
    """One graph of several, and where each entity came from."""

    graph: Graph
    """An id that several graphs have is preceded by the name of its graph."""
    origin: Positions
    """The number of the graph of each entity; those of one graph are together, in their order."""
    ids: pl.Series
    """The id of each entity in its own graph."""

    def placed(self, pairs: pl.DataFrame | None) -> Positions:
        """The positions of pairs of entities of different graphs, the smaller first; shape (k, 2).

        Entities are given by their id, or by the id that they have in the union.
        """
        if pairs is None:
            return np.zeros((0, 2), dtype=np.int64)
        place = np.arange(len(self.ids))
        ids = pl.concat([self.ids, self.graph.entities.rename(self.ids.name)])
        places = pl.DataFrame({"id": ids, "place": np.append(place, place)}).unique()
        both = pairs.select("left", "right").join(places, left_on="left", right_on="id")
        both = both.join(places, left_on="right", right_on="id", suffix="_right")
        numbers = both.select("place", "place_right").to_numpy().astype(np.int64).reshape(-1, 2)
        different = self.origin[numbers[:, 0]] != self.origin[numbers[:, 1]]
        return np.unique(np.sort(numbers[different], axis=1), axis=0)

    def named(self, places: Positions) -> pl.DataFrame:
        """left, right: pairs of positions, shape (k, 2), by the ids of the union."""
        entities = self.graph.entities
        return pl.DataFrame(
            {side: entities.gather(places[:, n]) for n, side in enumerate(("left", "right"))}
        )


def union_of(graphs: Sequence[Graph], called: Sequence[str]) -> Union:
    """The union of graphs that are called so; no two are called the same."""
    ids = pl.concat([graph.entities.rename("entity") for graph in graphs])
    sizes = [len(graph.entities) for graph in graphs]
    origin = np.repeat(np.arange(len(graphs)), sizes)
    entities = distinct_ids(ids, pl.Series(called).gather(origin))
    starts = np.cumsum([0, *sizes])
    parts = [entities[a:b] for a, b in pairwise(starts.tolist())]
    relations = pl.concat([graph.relations.rename("relation") for graph in graphs]).unique().sort()
    triples = [
        np.stack(
            [
                graph.triples[:, 0] + start,
                relations.search_sorted(graph.relations).to_numpy()[graph.triples[:, 1]],
                graph.triples[:, 2] + start,
            ],
            axis=1,
        )
        for graph, start in zip(graphs, starts[:-1].tolist(), strict=True)
    ]
    linkable = [
        start + (np.arange(size) if graph.linkable is None else graph.linkable)
        for graph, start, size in zip(graphs, starts[:-1].tolist(), sizes, strict=True)
    ]
    labels = dict.fromkeys(name for graph in graphs for name in graph.reading.label)
    # Where names were given for one of the graphs, those of the others are the labels they bring.
    given = any(graph.given_names is not None for graph in graphs)
    shapes = {graph.shape for graph in graphs}
    return Union(
        Graph(
            entities=entities,
            relations=relations,
            triples=np.concatenate(triples).astype(np.int64),
            attributes=_together([graph.attributes for graph in graphs], graphs, parts),
            alternatives=_together([graph.alternatives for graph in graphs], graphs, parts),
            given_names=pl.concat([graph.labels for graph in graphs]) if given else None,
            linkable=np.concatenate(linkable).astype(np.int64),
            reading=Reading(label=tuple(labels)),
            shape=shapes.pop() if len(shapes) == 1 else "rdf",
        ),
        origin,
        ids,
    )


def distinct_ids(ids: pl.Series, names: pl.Series) -> pl.Series:
    """The ids of several graphs; those that several have are preceded by the name of their graph.

    What begins the ids of blank nodes and of types stays in front.
    """
    marks = pl.col("id").str.extract(f"^({BLANK}|{TYPE_NODE})").fill_null("")
    named = pl.DataFrame({"id": ids, "name": names}).select(
        marks + pl.col("name") + "/" + pl.col("id").str.slice(marks.str.len_chars())
    )
    distinct: pl.Series = named.to_series().zip_with(ids.is_duplicated(), ids).rename("entity")
    return distinct


def _together(
    tables: Sequence[pl.DataFrame], graphs: Sequence[Graph], parts: Sequence[pl.Series]
) -> pl.DataFrame:
    """Tables about entities as one, with the ids of the union; "" where a table lacks a column."""
    renamed = (
        table.with_columns(table["entity"].replace_strict(graph.entities, ids, default=None))
        for table, graph, ids in zip(tables, graphs, parts, strict=True)
    )
    return pl.concat(renamed, how="diagonal").drop_nulls("entity").fill_null("")
