"""Find the names of entities: by well-known properties, else by what looks and meets like names.

Every literal path of a graph gets a name-likeness from the data: how many entities have it, how
distinct its values are, whether they look like words, how well they meet the other graph's. An
IRI's last part is a name unless it is an identifier.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.features import folded
from sameas.iri import SKOS
from sameas.naming import ALTERNATIVES, LABELS, names_from_uris
from sameas.understanding.identifiers import are_identifiers
from sameas.understanding.kinds import LINKED, OBO, SKOSXL, Kind, Kinds, Mask, View
from sameas.understanding.paths import SEPARATOR

SYNONYMS = tuple(f"{OBO}has{kind}Synonym" for kind in ("Exact", "Related", "Narrow", "Broad"))
FURTHER = (*ALTERNATIVES, f"{SKOS}hiddenLabel", *SYNONYMS)
"""Well-known properties of further names, literals or nodes that hold them."""
NODE_TEXTS = (f"{SKOSXL}literalForm", *LABELS)
"""What holds the text of a label node."""
XL = {f"{SKOS}{name}": f"{SKOSXL}{name}" for name in ("prefLabel", "altLabel", "hiddenLabel")}
"""Properties of labels, and those of labels that are nodes."""

WORD = r"[\p{L}]{3,}|[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]"
ODD = r"^(?:https?:|ftp:|urn:|mailto:|\d{4}-\d\d)"
"""Texts that are no words: addresses and dates."""
LEAST_COVERAGE, LEAST_WORDS, LEAST_DISTINCT = 0.3, 0.7, 0.3
"""Shares of entities that have a path, and of values that are words and distinct, for names."""
DISTINCT_ENOUGH = 0.95
"""Names of several paths are put together until so many are distinct."""
MOST_PARTS = 3
LONGEST = 150
"""Median characters of a path that may hold names."""

NAMED = (*LINKED, Kind.MENTION)
NAMES = pl.Schema(
    {
        "entity": pl.Int64,
        "path": pl.String,
        "value": pl.String,
        "language": pl.String,
        "rank": pl.Int64,
    }
)


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


def find_names(
    views: Sequence[View],
    kinds: Sequence[Kinds],
    paths: Sequence[pl.DataFrame],
    labels: Sequence[tuple[str, ...]],
) -> list[Naming]:
    """The names of both graphs; ``labels`` are properties that the user says hold names."""
    ranks = [_known_ranks(label) for label in labels]
    known = [_known(table, own) for table, own in zip(paths, ranks, strict=True)]
    bare = [_unnamed(own, table) for own, table in zip(kinds, known, strict=True)]
    texts = [_texts(table, mask, own) for table, mask, own in zip(paths, bare, ranks, strict=True)]
    found = []
    for side, (view, own, table) in enumerate(zip(views, kinds, known, strict=True)):
        groups = _type_sets(view)
        ranking = _ranking(texts[side], texts[1 - side], groups, bare[side])
        made, chosen = _put_together(paths[side], bare[side], ranking, groups, len(ranks[side]))
        every = pl.concat([table, made])
        local = _from_iris(view, own, _unnamed(own, every), len(ranks[side]) + 1)
        named = pl.Series(np.isin(own, NAMED))
        every = pl.concat([every, local])
        every = every.filter(named.gather(every["entity"]))
        every = every.sort("entity", "rank", "language", "value", maintain_order=True)
        used = [*table["path"].unique().sort(), *sorted(chosen)]
        found.append(
            Naming(
                every.unique(["entity", "value"], keep="first", maintain_order=True),
                _shown(ranking, table, chosen),
                tuple(dict.fromkeys(used)),
            )
        )
    return found


def _known_ranks(label: tuple[str, ...]) -> dict[str, int]:
    """The paths that are known to hold names with their ranks, the better first."""
    ranks: dict[str, int] = {}
    for rank, iri in enumerate(dict.fromkeys([*label, *LABELS, *FURTHER])):
        ranks[iri] = rank
        for node in (XL.get(iri), iri if iri in FURTHER else None):
            if node:
                ranks |= {f"{node}{SEPARATOR}{text}": rank for text in NODE_TEXTS}
    return ranks


def _known(paths: pl.DataFrame, ranks: dict[str, int]) -> pl.DataFrame:
    order = pl.DataFrame({"path": list(ranks), "rank": list(ranks.values())})
    return paths.join(order, on="path", how="inner", maintain_order="left").select(list(NAMES))


def _unnamed(kinds: Kinds, named: pl.DataFrame) -> Mask:
    """Which entities should have a name and have none."""
    bare = np.isin(kinds, NAMED)
    bare[named["entity"].to_numpy()] = False
    return bare


def _texts(paths: pl.DataFrame, bare: Mask, known: dict[str, int]) -> pl.DataFrame:
    """The texts of entities without a name that could hold one, as they are compared."""
    own = paths.filter(
        pl.Series(bare).gather(paths["entity"]), ~pl.col("path").is_in(list(known)), pl.col("held")
    )
    return own.with_columns(plain=folded(own["value"]), words=looks_like_words(own["value"]))


def looks_like_words(values: pl.Series) -> pl.Series:
    """Whether each text looks like words rather than a number, a code, a date or an address.

    >>> looks_like_words(pl.Series(["New York", "415/777-9779", "2016-06-20", "上海"])).to_list()
    [True, False, False, True]
    """
    letters = values.str.replace_all(r"[^\p{L}]", "").str.len_chars()
    marks = values.str.replace_all(r"\s", "").str.len_chars()
    return values.str.contains(WORD) & ~values.str.contains(ODD) & (letters >= 0.6 * marks)


def _type_sets(view: View) -> NDArray[np.int64]:
    """A number for each entity's set of types."""
    types = pl.DataFrame(view.types[:, [0, 2]], schema=["entity", "type"])
    sets = (
        types.sort("entity", "type")
        .group_by("entity", maintain_order=True)
        .agg(key=pl.col("type").cast(pl.String).str.join(" "))
    )
    groups = np.zeros(len(view.graph.entities), dtype=np.int64)
    groups[sets["entity"].to_numpy()] = sets["key"].rank("dense").to_numpy()
    return groups


def _ranking(
    own: pl.DataFrame, other: pl.DataFrame, groups: NDArray[np.int64], bare: Mask
) -> pl.DataFrame:
    """The name-likeness of each path within each set of types, best first."""
    met = other.filter(pl.col("words"))["plain"].unique()
    own = own.with_columns(
        group=pl.Series(groups).gather(own["entity"]), met=pl.col("plain").is_in(met.implode())
    )
    sizes = pl.DataFrame({"group": groups[bare]}).group_by("group").len("size")
    of_paths = own.group_by("path").agg(
        distinct=pl.col("plain").n_unique() / pl.len(),
        words=pl.col("words").mean(),
        meets=pl.col("met").mean(),
        length=pl.col("value").str.len_chars().median(),
        steps=pl.col("steps").first(),
        total=pl.len(),
    )
    likeness = (
        *(pl.col(name) for name in ("distinct", "words")),
        *(0.2 + pl.col("meets"), 0.7 ** pl.col("steps"), 40 / pl.col("length").clip(40)),
    )
    coverage = pl.col("entities") / pl.col("size")
    return (
        own.group_by("path", "group")
        .agg(entities=pl.col("entity").n_unique())
        .join(of_paths.filter(pl.col("total") > 1), on="path")
        .join(sizes, on="group")
        .with_columns(coverage=coverage, likeness=math.prod(likeness, start=coverage))
        .filter(
            pl.col("coverage") >= LEAST_COVERAGE,
            pl.col("words") >= LEAST_WORDS,
            pl.col("distinct") >= LEAST_DISTINCT,
            pl.col("length") <= LONGEST,
        )
        .sort("group", "likeness", "path", descending=[False, True, False])
    )


def _put_together(
    paths: pl.DataFrame, bare: Mask, ranking: pl.DataFrame, groups: NDArray[np.int64], rank: int
) -> tuple[pl.DataFrame, set[str]]:
    """Names of the entities without one: of their group's best path, or of several together."""
    table = paths.filter(
        pl.Series(bare).gather(paths["entity"]), pl.col("path").is_in(ranking["path"].implode())
    )
    table = table.with_columns(group=pl.Series(groups).gather(table["entity"]))
    by_group = table.partition_by("group", as_dict=True)
    found, chosen = [pl.DataFrame(schema=NAMES)], set[str]()
    for group, best in ranking.partition_by("group", as_dict=True, maintain_order=True).items():
        own = by_group[group]
        first, steps = best["path"][0], best["steps"][0]
        names = own.filter(pl.col("path") == first)
        parts = [first]
        single = names["entity"].n_unique() == len(names)
        for path in best.filter(pl.col("steps") == steps)["path"][1:] if single else ():
            if _distinct(names) >= DISTINCT_ENOUGH or len(parts) == MOST_PARTS:
                break
            more = own.filter(pl.col("path") == path)
            if more["entity"].n_unique() == len(more):
                joined = _joined(names, more)
                if _distinct(joined) > _distinct(names) + 0.01:
                    names, parts = joined, [*parts, path]
        chosen |= set(parts)
        found.append(names.with_columns(path=pl.lit(first), rank=rank).select(list(NAMES)))
    return pl.concat(found, how="vertical_relaxed"), chosen


def _distinct(names: pl.DataFrame) -> float:
    return names["value"].n_unique() / len(names)


def _joined(names: pl.DataFrame, more: pl.DataFrame) -> pl.DataFrame:
    """Names and further texts of the same entities in one: first name and surname."""
    both = names.join(
        more.select("entity", further="value"), on="entity", how="full", coalesce=True
    )
    text = pl.concat_str(pl.col("value", "further"), separator=" ", ignore_nulls=True)
    return both.with_columns(value=text, language=pl.col("language").fill_null("")).drop("further")


def _from_iris(view: View, kinds: Kinds, bare: Mask, rank: int) -> pl.DataFrame:
    """The last parts of IRIs, where they are no identifiers."""
    places = np.flatnonzero(bare)
    iris = view.graph.entities.gather(places)
    names = names_from_uris(iris)
    good = ~are_identifiers(iris, kinds[places]) & (names != "")
    return (
        pl.DataFrame({"entity": places, "value": names})
        .filter(good)
        .select(
            "entity",
            path=pl.lit(""),
            value="value",
            language=pl.lit(""),
            rank=pl.lit(rank, pl.Int64),
        )
    )


def _shown(ranking: pl.DataFrame, known: pl.DataFrame, chosen: set[str]) -> pl.DataFrame:
    """path, entities, likeness, chosen: what was considered, each path once, best first."""
    usual = (
        known.group_by("path")
        .agg(entities=pl.col("entity").n_unique())
        .sort("entities", "path", descending=[True, False])
    )
    found = (
        ranking.group_by("path")
        .agg(entities=pl.col("entities").sum(), likeness=pl.col("likeness").max())
        .sort("likeness", "path", descending=[True, False])
        .with_columns(chosen=pl.col("path").is_in(list(chosen)))
    )
    usual = usual.with_columns(likeness=pl.lit(None, pl.Float64), chosen=pl.lit(value=True))
    return pl.concat([usual, found], how="vertical_relaxed")
