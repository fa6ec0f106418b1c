"""From two graphs as they were read to two graphs as they are matched.

Kinds are told apart, anonymous expressions dissolved, names found, and texts behind nodes brought
to the entities they are about; nodes that only hold something are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from sameas.compute.arrays import Mask, Positions
from sameas.graph.graph import Graph, GraphPair
from sameas.graph.kind import Kind
from sameas.graph.labels import LABELS
from sameas.graph.matched import MatchedGraph, MatchedPair
from sameas.graph.rdf.reading import Reading
from sameas.graph.semantics.aliases import find_aliases
from sameas.graph.semantics.kinds import LINKED, View, view_of
from sameas.graph.semantics.naming import Naming, find_names
from sameas.graph.semantics.paths import SEPARATOR, literal_paths
from sameas.options.tuning import TUNING, Tuning

__all__ = ["SEPARATOR", "Kind", "understand"]

ALIAS = 1000
"""Added to the rank of a name that an alias holds: after all that an entity is called itself."""


def understand(pair: GraphPair, *, tuning: Tuning = TUNING) -> MatchedPair:
    """The two graphs as they are matched: with kinds, names and attributes."""
    views = [view_of(pair.left, tuning=tuning)]
    views.append(views[0] if pair.right is pair.left else view_of(pair.right, tuning=tuning))
    paths = [literal_paths(view) for view in views]
    namings = find_names(views, paths)
    shared = _shared_language(namings)
    left, right = (
        _matched(view, table, naming, shared)
        for view, table, naming in zip(views, paths, namings, strict=True)
    )
    return MatchedPair(left=left, right=right, gold=pair.gold)


def understand_alone(graph: Graph) -> MatchedGraph:
    """The graph as it would be matched; how well names meet another graph is not known."""
    return understand(GraphPair(left=graph, right=Graph.from_triples([]))).left


def understand_one(graph: Graph, *, tuning: Tuning = TUNING) -> MatchedGraph:
    """The graph as it is matched with itself, to find duplicates."""
    return understand(GraphPair(left=graph, right=graph), tuning=tuning).left


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
    view: View, paths: pl.DataFrame, naming: Naming, shared: tuple[str, ...]
) -> MatchedGraph:
    """The graph without nodes that only hold something, with the names that were found."""
    graph, kinds = view.graph, view.kinds.copy()
    reading, counts = graph.reading, dict(graph.reading_counts)
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
    if graph.linkable is not None:
        linked &= np.isin(np.arange(len(kinds)), graph.linkable)
    names = _in_order(names.filter(pl.Series(kept).gather(names["entity"])), reading, shared)
    chosen, given, further = _chosen_names(graph, names, kept)
    values = paths.filter(
        pl.Series(kept).gather(paths["entity"]), ~_are_names_of_others(naming.name_paths)
    )
    relations, triples = _triples_among(view, kept)
    return MatchedGraph(
        entities=graph.entities if kept.all() else graph.entities.filter(pl.Series(kept)),
        names=chosen,
        names_given=given,
        relations=relations,
        triples=triples,
        attributes=values.select(
            entity=graph.entities.gather(values["entity"]), attribute="path", value="value"
        ).unique(maintain_order=True),
        alternatives=further,
        linkable=np.flatnonzero(linked[kept]),
        kinds=kinds[kept],
        name_paths=naming.name_paths,
        naming=naming.ranking,
        source=graph,
        reading_counts=counts,
    )


def _are_names_of_others(name_paths: Sequence[str]) -> pl.Expr:
    """Which literal paths lead to the name of another thing, which is its neighbour anyway."""
    last = pl.col("path").str.split(SEPARATOR).list.last()
    return (pl.col("steps") > 0) & ~pl.col("held") & last.is_in(list(name_paths))


def _chosen_names(
    graph: Graph, names: pl.DataFrame, kept: Mask
) -> tuple[pl.Series, int, pl.DataFrame]:
    """The name of each entity that is kept, how many the input brings, and further names.

    ``names`` has the names that were found, the best of each entity first. Where names were given
    for the graph, these are taken instead.
    """
    best = names["entity"].is_first_distinct()
    others = names.filter(~best).unique(["entity", "value"], maintain_order=True)
    further = others.select(entity=graph.entities.gather(others["entity"]), name="value")
    if len(graph.alternatives):
        entities = graph.entities.filter(pl.Series(kept))
        beside = graph.alternatives.filter(pl.col("entity").is_in(entities.implode()))
        further = pl.concat([beside, further])
    if graph.given_names is not None:
        chosen = graph.names.filter(pl.Series(kept))
        given = graph.labels.filter(pl.Series(kept))
        return chosen, int((given != "").sum()), further
    texts = np.full(len(kept), "", dtype=object)
    texts[names.filter(best)["entity"].to_numpy()] = names.filter(best)["value"]
    given = names.filter(pl.col("path") != "")["entity"].n_unique()
    return pl.Series("name", texts[kept], dtype=pl.String), given, further


def _triples_among(view: View, kept: Mask) -> tuple[pl.Series, Positions]:
    """The relations and triples between the entities that are kept, renumbered."""
    if kept.all():
        return view.relations, view.triples
    inside = kept[view.triples[:, 0]] & kept[view.triples[:, 2]]
    head, relation, tail = view.triples[inside].T
    codes, first = np.unique(relation, return_index=True)
    used = codes[np.argsort(first)]  # in order of first appearance
    numbers, relation_numbers = np.cumsum(kept) - 1, np.zeros(len(view.relations), dtype=np.int64)
    relation_numbers[used] = np.arange(len(used))
    triples = np.stack([numbers[head], relation_numbers[relation], numbers[tail]], axis=1)
    return view.relations.gather(used), triples


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
