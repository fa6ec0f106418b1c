"""From two graphs as they were read to two graphs as they are matched.

Kinds are told apart, anonymous expressions dissolved, names found, and texts behind nodes brought
to the entities they are about; nodes that only hold something are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from sameas.graph import Graph, GraphPair, Positions, positions_of
from sameas.naming import LABELS
from sameas.rdf.rules import Reading
from sameas.understanding.aliases import find_aliases
from sameas.understanding.kinds import LINKED, Kind, Kinds, View, dissolve, kinds_of
from sameas.understanding.names import Naming, find_names
from sameas.understanding.paths import SEPARATOR, literal_paths

__all__ = ["SEPARATOR", "Kind", "understand"]

ALIAS = 1000
"""Added to the rank of a name that an alias holds: after all that an entity is called itself."""


def understand(pair: GraphPair) -> GraphPair:
    """The pair with what is RDF in it as it is matched: names, kinds, attributes."""
    graphs = [graph.raw or graph for graph in (pair.left, pair.right)]
    if all(graph.reading is None for graph in graphs):
        return pair
    views, kinds = [], []
    for graph in graphs:
        reading, view = graph.reading or Reading(), View(graph)
        kinds.append(kinds_of(view, blank_nodes=reading.blank_nodes or reading.link == "all"))
        views.append(View(dissolve(view)))
    paths = [literal_paths(view, own) for view, own in zip(views, kinds, strict=True)]
    labels = [() if graph.reading is None else graph.reading.label for graph in graphs]
    namings = find_names(views, kinds, paths, labels)
    shared = _shared_language(namings)
    left, right = (
        given if graph.reading is None else _matched(view, own, table, naming, graph, shared)
        for given, view, own, table, naming, graph in zip(
            (pair.left, pair.right), views, kinds, paths, namings, graphs, strict=True
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
    view: View,
    kinds: Kinds,
    paths: pl.DataFrame,
    naming: Naming,
    raw: Graph,
    shared: tuple[str, ...],
) -> Graph:
    """The graph without nodes that only hold something, with the names that were found.

    Of several names the one in a language that the user prefers comes first, else that in the
    language that the other graph has too.
    """
    reading, counts = raw.reading or Reading(), dict(raw.reading_counts)
    usual = len(dict.fromkeys([*reading.label, *LABELS]))
    names = naming.names.with_columns(further=pl.col("rank") >= usual)
    aliases = find_aliases(view, kinds, naming)
    if len(aliases):
        kinds = kinds.copy()
        kinds[aliases[:, 0]] = Kind.HOLDER
        names = _with_aliases(names, aliases)
    linked = np.isin(kinds, (*LINKED, Kind.HOLDER) if reading.link == "all" else LINKED)
    kept = linked | (kinds == Kind.MENTION)
    for kind in (Kind.HOLDER, Kind.MENTION, Kind.VOCABULARY):
        if count := int(((kinds == kind) & ~linked).sum()):
            counts[f"{kind.name.lower()}_nodes_not_linked"] = count
    if raw.linkable is not None:
        linked &= np.isin(np.arange(len(kinds)), raw.linkable)
    number = np.cumsum(kept) - 1
    inside = kept[view.graph.triples[:, 0]] & kept[view.graph.triples[:, 2]]
    head, relation, tail = view.graph.triples[inside].T
    used = pl.Series(relation).unique(maintain_order=True)
    ordered = names.filter(pl.Series(kept).gather(names["entity"]))
    language, alias = _preference(reading.language or shared), pl.col("rank") >= ALIAS
    ordered = ordered.sort("entity", "further", alias, language, "rank", "language", "value")
    first = ordered["entity"].is_first_distinct()
    chosen = np.full(int(kept.sum()), "", dtype=object)
    chosen[number[ordered.filter(first)["entity"].to_numpy()]] = ordered.filter(first)["value"]
    others = ordered.filter(~first).unique(["entity", "value"], maintain_order=True)
    said = paths.filter(pl.Series(kept).gather(paths["entity"]))
    entities = raw.entities
    return Graph(
        entities=entities.filter(pl.Series(kept)),
        names=pl.Series("name", chosen, dtype=pl.String),
        names_given=ordered.filter(pl.col("path") != "")["entity"].n_unique(),
        relations=view.graph.relations.gather(used),
        triples=np.stack(
            [number[head], positions_of(pl.Series(relation), used), number[tail]], axis=1
        ),
        attributes=said.select(
            entity=entities.gather(said["entity"]), attribute="path", value="value"
        ).unique(maintain_order=True),
        alternatives=others.select(entity=entities.gather(others["entity"]), name="value"),
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


def _preference(languages: Sequence[str]) -> pl.Expr:
    """A rank for each language: those preferred, none at all, English, the others."""
    tag, count = pl.col("language").str.to_lowercase(), len(languages)

    def is_language(wanted: str) -> pl.Expr:
        return (tag == wanted) | tag.str.starts_with(f"{wanted}-")

    rank = pl.when(is_language("en")).then(count + 1).otherwise(count + 2)
    rank = pl.when(tag == "").then(count).otherwise(rank)
    for place, wanted in reversed(list(enumerate(languages))):
        rank = pl.when(is_language(wanted.lower())).then(place).otherwise(rank)
    return rank
