"""From two graphs as they were read to two graphs as they are matched.

Kinds are told apart, anonymous expressions dissolved, names found, texts behind nodes brought to
the entities they are about; nodes that only hold something are left out.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from sameas.aliases import find_aliases
from sameas.graph import Graph
from sameas.kinds import RDF, Kind, dissolve, kinds_of
from sameas.naming import Naming, find_names
from sameas.paths import literal_paths

LINKED = (Kind.INDIVIDUAL, Kind.CLASS, Kind.PROPERTY)


def understand(left: Graph, right: Graph, *, label: tuple[str, ...] = (), language: tuple[str, ...] = ()) -> tuple[Graph, Graph]:
    """Both graphs with names, kinds and attributes, without the nodes that only hold something."""
    graphs = left, right
    kinds = kinds_of(left), kinds_of(right)
    graphs = tuple(dissolve(graph, kind) for graph, kind in zip(graphs, kinds, strict=True))
    paths = tuple(literal_paths(graph, kind) for graph, kind in zip(graphs, kinds, strict=True))
    namings = find_names(graphs, kinds, paths, label=label)
    namings = tuple(
        _with_aliases(graph, kind, naming)
        for graph, kind, naming in zip(graphs, kinds, namings, strict=True)
    )
    return tuple(
        _matched(graph, kind, table, naming, language)
        for graph, kind, table, naming in zip(graphs, kinds, paths, namings, strict=True)
    )


def _with_aliases(graph: Graph, kinds: np.ndarray, naming: Naming) -> Naming:
    """The names of aliases given to what they name; the aliases become holders (in place)."""
    aliases = find_aliases(graph, kinds, naming.names, naming.name_paths)
    if not len(aliases):
        return naming
    table = pl.DataFrame({"entity": aliases[:, 0], "owner": aliases[:, 1]})
    moved = (
        naming.names.join(table, on="entity")
        .select(entity="owner", name="name", language="language", rank=pl.col("rank") + 100)
    )
    kinds[aliases[:, 0]] = Kind.HOLDER
    rest = naming.names.filter(~pl.col("entity").is_in(aliases[:, 0].tolist()))
    names = pl.concat([rest, moved]).sort("entity", "rank", maintain_order=True)
    return replace(naming, names=names.unique(["entity", "name"], keep="first", maintain_order=True))


def _matched(graph: Graph, kinds: np.ndarray, paths: pl.DataFrame, naming: Naming, language: tuple[str, ...]) -> Graph:
    kept = np.isin(kinds, (*LINKED, Kind.MENTION))
    new = np.cumsum(kept) - 1
    entities = graph.entities.filter(pl.Series(kept))
    triples = graph.triples[kept[graph.triples[:, 0]] & kept[graph.triples[:, 2]]].copy()
    triples[:, [0, 2]] = new[triples[:, [0, 2]]]
    relations = graph.relations
    order = _preferred(naming.names, language)
    names = order.unique("entity", keep="first", maintain_order=True)
    chosen = np.full(len(entities), "", dtype=object)
    chosen[new[names["entity"].to_numpy()]] = names["name"].to_numpy()
    others = order.filter(~pl.struct("entity", "name").is_in(names.select(pl.struct("entity", "name")).to_series().implode()))
    said = paths.filter(pl.Series(kept).gather(paths["entity"]))

    def uris(places: pl.Series) -> pl.Series:
        return graph.entities.gather(places)

    linkable = np.isin(kinds[kept], LINKED)
    return replace(
        graph,
        entities=entities,
        names=pl.Series("name", chosen.tolist(), dtype=pl.String),
        names_given=len(names),
        relations=relations,
        triples=triples,
        attributes=pl.DataFrame(
            {"entity": uris(said["entity"]), "attribute": said["path"], "value": said["value"], "language": said["language"]}
        ),
        alternatives=pl.DataFrame({"entity": uris(others["entity"]), "name": others["name"]}),
        linkable=None if linkable.all() else np.flatnonzero(linkable),
        kinds=kinds[kept],
        name_paths=naming.name_paths,
    )


def _preferred(names: pl.DataFrame, language: tuple[str, ...]) -> pl.DataFrame:
    """The names of each entity, the one to show first: by language preferred, then by property."""
    tags = [tag.lower() for tag in language]
    tag = pl.col("language").str.to_lowercase()
    preference = pl.when(tag == "").then(len(tags)).when(tag.str.starts_with("en")).then(len(tags) + 1).otherwise(len(tags) + 2)
    for place, wanted in reversed(list(enumerate(tags))):
        preference = pl.when((tag == wanted) | tag.str.starts_with(f"{wanted}-")).then(place).otherwise(preference)
    further = pl.col("rank") >= 8
    return names.with_columns(preference=preference, further=further).sort(
        "entity", "further", "preference", "rank", "language", "name"
    )
