"""From two graphs as they were read to two graphs as they are matched.

Kinds are told apart, anonymous expressions dissolved, names found, and texts behind nodes brought
to the entities they are about; nodes that only hold something are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from sameas.compute.arrays import Positions
from sameas.graph.graph import Graph, GraphPair, positions_of
from sameas.graph.labels import LABELS
from sameas.graph.rdf.reading import Reading
from sameas.graph.semantics.aliases import find_aliases
from sameas.graph.semantics.kinds import LINKED, Kind, View, view_of
from sameas.graph.semantics.names import Naming, find_names
from sameas.graph.semantics.paths import SEPARATOR, literal_paths
from sameas.options.tuning import TUNING, Tuning

__all__ = ["SEPARATOR", "Kind", "understand"]

ALIAS = 1000
"""Added to the rank of a name that an alias holds: after all that an entity is called itself."""


def understand(pair: GraphPair, *, tuning: Tuning = TUNING) -> GraphPair:
    """The pair with what is RDF in it as it is matched: names, kinds, attributes."""
    graphs = [graph.raw or graph for graph in (pair.left, pair.right)]
    if all(graph.reading is None for graph in graphs):
        return pair
    views = [view_of(graph, tuning=tuning) for graph in graphs]
    paths = [literal_paths(view) for view in views]
    namings = find_names(views, paths)
    shared = _shared_language(namings)
    left, right = (
        given if graph.reading is None else _matched(view, table, naming, graph, shared)
        for given, view, table, naming, graph in zip(
            (pair.left, pair.right), views, paths, namings, graphs, strict=True
        )
    )
    return replace(pair, left=left, right=right)


def _shared_language(namings: Sequence[Naming]) -> tuple[str, ...]:
    """The language in which most entities of both graphs have a name; none if there is none."""
    left, right = (
        naming.names.filter(pl.col("path") != "")
        .group_by(shared=pl.col("language").str.to_lowercase().str.split("-").list.first())
        .agg(entities=pl.col("entity").n_unique() / max(naming.names["entity"].n_unique(), 1))
        for naming in namings
    )
    both = left.join(right, on="shared").select(
        "shared",
        covered=pl.min_horizontal("entities", "entities_right"),
        foreign=~pl.col("shared").is_in(["", "en"]),
    )
    order = both.sort("covered", "foreign", "shared", descending=[True, False, False])
    return tuple(order["shared"].head(1))


def _matched(
    view: View, paths: pl.DataFrame, naming: Naming, raw: Graph, shared: tuple[str, ...]
) -> Graph:
    """The graph without nodes that only hold something, with the names that were found."""
    reading, counts, kinds = raw.reading or Reading(), dict(raw.reading_counts), view.kinds.copy()
    usual = len(dict.fromkeys([*reading.label, *LABELS]))
    names = naming.names.with_columns(further=pl.col("rank") >= usual)
    aliases = find_aliases(view, naming)
    kinds[aliases[:, 0]] = Kind.HOLDER
    names = _with_aliases(names, aliases)
    linked = np.isin(kinds, (*LINKED, Kind.HOLDER) if reading.link == "all" else LINKED)
    kept = linked | (kinds == Kind.MENTION)
    for kind in (Kind.HOLDER, Kind.MENTION, Kind.VOCABULARY):
        if count := int(((kinds == kind) & ~linked).sum()):
            counts[f"{kind.name.lower()}_nodes_not_linked"] = count
    if raw.linkable is not None:
        linked &= np.isin(np.arange(len(kinds)), raw.linkable)
    names = _in_order(names.filter(pl.Series(kept).gather(names["entity"])), reading, shared)
    first = names.filter(names["entity"].is_first_distinct())
    others = names.filter(~names["entity"].is_first_distinct())
    others = others.unique(["entity", "value"], maintain_order=True)
    said = paths.filter(pl.Series(kept).gather(paths["entity"]))
    chosen = np.full(len(kinds), "", dtype=object)
    chosen[first["entity"].to_numpy()] = first["value"]
    number = np.cumsum(kept) - 1
    inside = kept[view.graph.triples[:, 0]] & kept[view.graph.triples[:, 2]]
    head, relation, tail = view.graph.triples[inside].T
    used = pl.Series(relation).unique(maintain_order=True)
    numbers = positions_of(pl.Series(relation), used)
    return Graph(
        entities=raw.entities.filter(pl.Series(kept)),
        names=pl.Series("name", chosen[kept], dtype=pl.String),
        names_given=names.filter(pl.col("path") != "")["entity"].n_unique(),
        relations=view.graph.relations.gather(used),
        triples=np.stack([number[head], numbers, number[tail]], axis=1),
        attributes=said.select(
            entity=raw.entities.gather(said["entity"]), attribute="path", value="value"
        ).unique(maintain_order=True),
        alternatives=others.select(entity=raw.entities.gather(others["entity"]), name="value"),
        linkable=None if linked[kept].all() else np.flatnonzero(linked[kept]),
        kinds=kinds[kept],
        name_paths=naming.name_paths,
        naming=naming.ranking,
        raw=raw,
        reading_counts=counts,
    )


def _with_aliases(names: pl.DataFrame, aliases: Positions) -> pl.DataFrame:
    """The names with those of aliases given to what they name."""
    owners = pl.DataFrame({"entity": aliases[:, 0], "owner": aliases[:, 1]})
    moved = names.join(owners, on="entity", maintain_order="left").with_columns(
        entity="owner", rank=pl.col("rank") + ALIAS, further=pl.lit(value=True)
    )
    return pl.concat([names, moved.drop("owner")])


def _in_order(names: pl.DataFrame, reading: Reading, shared: tuple[str, ...]) -> pl.DataFrame:
    """The names of each entity, the best first.

    Of several usual ones that is the one in a language that the user prefers, else in the
    language that the other graph has too, else without a language, in English, in another one.
    """
    languages = [one.lower() for one in reading.language or shared]
    tag = pl.col("language").str.to_lowercase()
    rank = pl.lit(len(languages) + 2)
    for place, wanted in reversed(list(enumerate([*languages, "", "en"]))):
        is_wanted = (tag == wanted) | tag.str.starts_with(f"{wanted}-")
        rank = pl.when(is_wanted).then(place).otherwise(rank)
    alias = pl.col("rank") >= ALIAS
    return names.sort("entity", "further", alias, rank, "rank", "language", "value")
