"""Find the names of entities: by well-known properties, else by what looks and meets like names.

Every literal path of a graph gets a name-likeness from the data: how many entities have it, how
distinct its values are, whether they look like words, how well they meet the other graph's. An
IRI's last part is a name unless it is an identifier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.compute.arrays import Mask
from sameas.graph.iri import SKOS
from sameas.graph.kind import Kind
from sameas.graph.labels import (
    ALTERNATIVES,
    LABELS,
    MOST_LETTERS,
    are_identifiers,
    beginnings,
    looks_like_words,
    names_from_uris,
    with_words_apart,
)
from sameas.graph.semantics.kinds import LINKED, SYNONYMS, VOCABULARIES, View, iris
from sameas.graph.semantics.paths import SEPARATOR
from sameas.text.folding import folded

FURTHER = (*ALTERNATIVES, *iris(f"skos:hiddenLabel {SYNONYMS}"))
"""Well-known properties of further names, literals or nodes that hold them."""
NODE_TEXTS = (*iris("skosxl:literalForm"), *LABELS)
"""What holds the text of a label node."""
XL = {
    iri: iri.replace(SKOS, VOCABULARIES["skosxl"])
    for iri in iris("skos:prefLabel skos:altLabel skos:hiddenLabel")
}
"""Properties of labels, and those of labels that are nodes."""

NAMED = (*LINKED, Kind.MENTION)
TERMS = (Kind.CLASS, Kind.PROPERTY, Kind.PUN)
"""Kinds whose labels may be identifiers in camel case, as those of schema.org are."""
NAMES = ("entity", "path", "value", "language", "rank")


@dataclass(frozen=True, eq=False)
class Naming:
    """The names of one graph's entities and where they come from."""

    names: pl.DataFrame
    """entity (position), path, value, language, rank: all names; the best has the least rank."""
    ranking: pl.DataFrame
    """path, entities, likeness, chosen: well-known paths, which have no likeness, then those
    considered for entities that these do not name; best first."""
    name_paths: tuple[str, ...]
    """The paths that names were taken from."""


@dataclass(frozen=True, eq=False)
class _Side:
    """One graph, and what well-known properties name in it."""

    view: View
    ranks: dict[str, int]
    """The paths that are known to hold names, the better first."""
    known: pl.DataFrame
    """The names by these paths; columns NAMES."""
    bare: Mask
    """Which entities should have a name and have none yet."""
    groups: NDArray[np.int64]
    """A number for each entity's set of types."""
    texts: pl.DataFrame
    """The literal paths of entities without a name, with group, plain and words: the text as it
    is compared, and whether it looks like words."""


def find_names(views: Sequence[View], paths: Sequence[pl.DataFrame]) -> list[Naming]:
    """The names of both graphs."""
    left, right = (_side(view, table) for view, table in zip(views, paths, strict=True))
    return [_naming(left, right), _naming(right, left)]


def _side(view: View, paths: pl.DataFrame) -> _Side:
    # One letter more than is compared: names that are cut are counted later.
    paths = paths.with_columns(beginnings(paths["value"], MOST_LETTERS + 1))
    ranks = _known_ranks(view.graph.reading.label)
    order = pl.DataFrame({"path": list(ranks), "rank": list(ranks.values())})
    known = paths.join(order, on="path", how="inner", maintain_order="left").select(NAMES)
    bare, groups = _unnamed(view, known), _type_sets(view)
    texts = paths.filter(
        pl.Series(bare).gather(paths["entity"]), ~pl.col("path").is_in(list(ranks))
    )
    texts = texts.with_columns(
        group=pl.Series(groups).gather(texts["entity"]),
        plain=folded(texts["value"]),
        words=looks_like_words(texts["value"], tuning=view.tuning.semantics),
    )
    return _Side(view, ranks, known, bare, groups, texts)


def _naming(side: _Side, other: _Side) -> Naming:
    """The names of one graph: by well-known paths, by others, and by IRIs."""
    ranking = _ranking(side, other)
    made, chosen = _put_together(side, ranking)
    every = pl.concat([side.known, *made])
    local = _from_iris(side.view, _unnamed(side.view, every), len(side.ranks) + 1)
    every = pl.concat([every, local])
    named = pl.Series(np.isin(side.view.kinds, NAMED))
    every = every.filter(named.gather(every["entity"]))
    terms = pl.Series(np.isin(side.view.kinds, TERMS)).gather(every["entity"])
    every = every.with_columns(with_words_apart(every["value"]).zip_with(terms, every["value"]))
    every = every.sort("entity", "rank", "language", "value", maintain_order=True)
    used = [*side.known["path"].unique().sort(), *sorted(chosen)]
    return Naming(
        every.unique(["entity", "value"], keep="first", maintain_order=True),
        _shown(ranking, side.known, chosen),
        tuple(dict.fromkeys(used)),
    )


def _known_ranks(label: tuple[str, ...]) -> dict[str, int]:
    """The paths that are known to hold names with their ranks, the better first."""
    ranks: dict[str, int] = {}
    for rank, iri in enumerate(dict.fromkeys([*label, *LABELS, *FURTHER])):
        ranks[iri] = rank
        for node in (XL.get(iri), iri if iri in FURTHER else None):
            if node:
                ranks |= {f"{node}{SEPARATOR}{text}": rank for text in NODE_TEXTS}
    return ranks


def _unnamed(view: View, named: pl.DataFrame) -> Mask:
    """Which entities should have a name and have none."""
    if view.graph.given_names is not None:  # what was given counts, and URIs besides
        return np.zeros(len(view.kinds), dtype=np.bool_)
    bare = np.isin(view.kinds, NAMED)
    bare[named["entity"].to_numpy()] = False
    return bare


def _type_sets(view: View) -> NDArray[np.int64]:
    """A number for each entity's set of types."""
    types = pl.DataFrame(view.types, schema=["entity", "type"])
    sets = (
        types.sort("entity", "type")
        .group_by("entity", maintain_order=True)
        .agg(key=pl.col("type").cast(pl.String).str.join(" "))
    )
    groups = np.zeros(len(view.graph.entities), dtype=np.int64)
    groups[sets["entity"].to_numpy()] = sets["key"].rank("dense").to_numpy()
    return groups


def _ranking(side: _Side, other: _Side) -> pl.DataFrame:
    """The name-likeness of each path within each set of types, best first."""
    tuning = side.view.tuning.semantics
    met = other.texts.filter(pl.col("held"), pl.col("words"))["plain"].unique()
    texts = side.texts.filter(pl.col("held")).with_columns(met=pl.col("plain").is_in(met.implode()))
    sizes = pl.DataFrame({"group": side.groups[side.bare]}).group_by("group").len("size")
    of_paths = texts.group_by("path").agg(
        distinct=pl.col("plain").n_unique() / pl.len(),
        words=pl.col("words").mean(),
        meets=pl.col("met").mean(),
        length=pl.col("value").str.len_chars().median(),
        steps=pl.col("steps").first(),
        total=pl.len(),
    )
    coverage = pl.col("entities") / pl.col("size")
    meets, usual = tuning.meets_prior + pl.col("meets"), tuning.usual_length
    likeness = coverage * pl.col("distinct") * pl.col("words") * meets
    likeness = likeness * tuning.step_factor ** pl.col("steps")
    likeness = likeness * (usual / pl.col("length").clip(usual))
    return (
        texts.group_by("path", "group")
        .agg(entities=pl.col("entity").n_unique())
        .join(of_paths.filter(pl.col("total") > 1), on="path")
        .join(sizes, on="group")
        .with_columns(coverage=coverage, likeness=likeness)
        .filter(
            pl.col("coverage") >= tuning.least_coverage,
            pl.col("words") >= tuning.least_words,
            pl.col("distinct") >= tuning.least_distinct,
            pl.col("length") <= tuning.longest_name,
        )
        .sort("group", "likeness", "path", descending=[False, True, False])
    )


def _put_together(side: _Side, ranking: pl.DataFrame) -> tuple[list[pl.DataFrame], set[str]]:
    """Names of the entities without one: of their group's best path, or of several together."""
    tuning, rank = side.view.tuning.semantics, len(side.ranks)
    by_group = side.texts.partition_by("group", as_dict=True)
    tables, chosen = list[pl.DataFrame](), set[str]()
    for group, best in ranking.partition_by("group", as_dict=True, maintain_order=True).items():
        group_texts = by_group[group]
        first, steps = best["path"][0], best["steps"][0]
        names = group_texts.filter(pl.col("path") == first)
        parts = [first]
        single = names["entity"].n_unique() == len(names)
        for path in best.filter(pl.col("steps") == steps)["path"][1:] if single else ():
            enough = _distinct(names) >= tuning.distinct_enough
            if enough or len(parts) == tuning.most_parts:
                break
            more = group_texts.filter(pl.col("path") == path)
            if more["entity"].n_unique() == len(more):
                joined = _joined(names, more)
                if _distinct(joined) > _distinct(names) + tuning.least_gain:
                    names, parts = joined, [*parts, path]
        chosen |= set(parts)
        names = names.with_columns(path=pl.lit(first), rank=pl.lit(rank, pl.Int64))
        tables.append(names.select(NAMES))
    return tables, chosen


def _distinct(names: pl.DataFrame) -> float:
    return names["value"].n_unique() / len(names)


def _joined(names: pl.DataFrame, more: pl.DataFrame) -> pl.DataFrame:
    """Names and further texts of the same entities in one: first name and surname."""
    both = names.join(
        more.select("entity", further="value"), on="entity", how="full", coalesce=True
    )
    text = pl.concat_str(pl.col("value", "further"), separator=" ", ignore_nulls=True)
    return both.with_columns(value=text, language=pl.col("language").fill_null("")).drop("further")


def _from_iris(view: View, bare: Mask, rank: int) -> pl.DataFrame:
    """The last parts of IRIs, where they are no identifiers."""
    positions = np.flatnonzero(bare)
    uris = view.graph.entities.gather(positions)
    table = pl.DataFrame({"entity": positions, "value": names_from_uris(uris)})
    identifiers = are_identifiers(uris, view.kinds[positions], tuning=view.tuning.labels)
    table = table.filter(~identifiers, pl.col("value") != "")
    nothing = pl.lit("")
    table = table.with_columns(path=nothing, language=nothing, rank=pl.lit(rank, pl.Int64))
    return table.select(NAMES)


def _shown(ranking: pl.DataFrame, known: pl.DataFrame, chosen: set[str]) -> pl.DataFrame:
    """path, entities, likeness, chosen: what was considered, each path once, best first."""
    usual = (
        known.group_by("path")
        .agg(entities=pl.col("entity").n_unique())
        .sort("entities", "path", descending=[True, False])
    )
    names = (
        ranking.group_by("path")
        .agg(entities=pl.col("entities").sum(), likeness=pl.col("likeness").max())
        .sort("likeness", "path", descending=[True, False])
        .with_columns(chosen=pl.col("path").is_in(list(chosen)))
    )
    usual = usual.with_columns(likeness=pl.lit(None, pl.Float64), chosen=pl.lit(value=True))
    return pl.concat([usual, names], how="vertical_relaxed")
