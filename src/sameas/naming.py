"""Find the names of entities: by well-known properties, else by what looks and meets like names.

Every literal path of a graph gets a name-likeness from the data: how many entities have it, how
distinct its values are, whether they look like words, how well they meet the other graph's. An
IRI's last part is a name only if it is none of an identifier.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.features import folded
from sameas.graph import Graph
from sameas.identifiers import are_identifiers
from sameas.kinds import OBO, SKOS, SKOSXL, Kind, Kinds
from sameas.paths import SEPARATOR
from sameas.reading.labels import ALTERNATIVES
from sameas.reading.names import LABELS, names_from_uris

FURTHER = (
    *ALTERNATIVES,
    f"{SKOS}hiddenLabel",
    *(f"{OBO}has{kind}Synonym" for kind in ("Exact", "Related", "Narrow", "Broad")),
)
"""Well-known properties of further names, literals or nodes that hold them."""
NODE_TEXTS = (f"{SKOSXL}literalForm", *LABELS)
"""What holds the text of a label node."""
XL = {f"{SKOSXL}{name}": f"{SKOS}{name}" for name in ("prefLabel", "altLabel", "hiddenLabel")}

WORD = r"[\p{L}]{3,}|[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]"
ODD = r"^(?:https?:|ftp:|urn:|mailto:|\d{4}-\d\d)"
LEAST_COVERAGE, LEAST_WORDS, LEAST_DISTINCT = 0.3, 0.7, 0.3
DISTINCT_ENOUGH = 0.95
"""Names of several paths are put together until so many are distinct."""
MOST_PARTS = 3
LONGEST = 150
"""Median characters of a path that may hold names."""

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Naming:
    """The names of one graph's entities and where they come from."""

    names: pl.DataFrame
    """entity (position), name, language, rank: all names; the best has the least rank."""
    ranking: pl.DataFrame
    """path, entities, coverage, distinct, words, meets, likeness, chosen: the paths considered
    for entities that no well-known property names."""
    name_paths: frozenset[str]
    """The paths that names were taken from."""


def find_names(
    graphs: tuple[Graph, Graph],
    kinds: tuple[Kinds, Kinds],
    paths: tuple[pl.DataFrame, pl.DataFrame],
    *,
    label: tuple[str, ...] = (),
) -> tuple[Naming, Naming]:
    """The names of both graphs; ``label`` are properties that the user says hold names."""
    ranks = known_ranks(label)
    known = [_known(table, ranks) for table in paths]
    unnamed = [
        _unnamed(graph, kind, table) for graph, kind, table in zip(graphs, kinds, known, strict=True)
    ]
    rankings = _rankings(graphs, paths, unnamed, set(ranks))
    found = []
    for graph, kind, own, table, bare, ranking in zip(
        graphs, kinds, known, paths, unnamed, rankings, strict=True
    ):
        made, chosen = _put_together(table, bare, ranking, _groups(graph), len(ranks))
        every = pl.concat([own, made])
        rest = _unnamed(graph, kind, every)
        local = _from_iris(graph, kind, rest, len(ranks) + 1)
        used = set(own["path"].unique()) | chosen
        every = pl.concat([every, local]).filter(pl.Series(np.isin(
            kind, (Kind.INDIVIDUAL, Kind.CLASS, Kind.PROPERTY, Kind.MENTION)
        )).gather(pl.concat([every, local])["entity"]))
        table = (
            every.sort("entity", "rank", "language", "value", maintain_order=True)
            .unique(["entity", "value"], keep="first", maintain_order=True)
            .select("entity", name="value", language="language", rank="rank")
        )
        ranking = ranking.with_columns(chosen=pl.col("path").is_in(list(chosen)))
        found.append(Naming(table, ranking, frozenset(used)))
    return found[0], found[1]


def known_ranks(label: tuple[str, ...] = ()) -> dict[str, int]:
    """The paths that are known to hold names, the better first."""
    order = [*label, *LABELS, *FURTHER]
    ranks: dict[str, int] = {}
    for iri in dict.fromkeys(order):
        ranks[iri] = len(ranks)
        for node in (iri, *(xl for xl, plain in XL.items() if plain == iri)):
            if node in XL or node in FURTHER:
                for text in NODE_TEXTS:
                    ranks.setdefault(f"{node}{SEPARATOR}{text}", ranks[iri])
    return ranks


def _known(paths: pl.DataFrame, ranks: dict[str, int]) -> pl.DataFrame:
    order = pl.DataFrame({"path": list(ranks), "rank": list(ranks.values())})
    return paths.join(order, on="path", how="inner", maintain_order="left").select(
        "entity", "path", "value", "language", "rank"
    )


def _unnamed(graph: Graph, kinds: Kinds, named: pl.DataFrame) -> Mask:
    """Which entities should have a name and have none."""
    bare = np.isin(kinds, (Kind.INDIVIDUAL, Kind.CLASS, Kind.PROPERTY, Kind.MENTION))
    bare[named["entity"].to_numpy()] = False
    return bare


def _groups(graph: Graph) -> NDArray[np.int64]:
    """A number for each entity's set of types."""
    from sameas.kinds import RDF
    from sameas.graph import positions_of

    code = positions_of(pl.Series([f"{RDF}type"]), graph.relations.cast(pl.String))[0]
    triples = graph.distinct_triples()
    types = pl.DataFrame(triples[triples[:, 1] == code][:, [0, 2]], schema=["entity", "type"])
    sets = types.sort("entity", "type").group_by("entity", maintain_order=True).agg("type")
    sets = sets.select("entity", key=pl.col("type").cast(pl.List(pl.String)).list.join(" "))
    groups = np.zeros(len(graph.entities), dtype=np.int64)
    if len(sets):
        groups[sets["entity"].to_numpy()] = 1 + sets["key"].rank("dense").to_numpy()
    return groups


def looks_like_words(values: pl.Series) -> pl.Series:
    """Whether each text looks like words rather than a number, a code, a date or an address."""
    letters = values.str.replace_all(r"[^\p{L}]", "").str.len_chars()
    marks = values.str.replace_all(r"\s", "").str.len_chars()
    return (
        values.str.contains(WORD) & ~values.str.contains(ODD) & (letters >= 0.6 * marks)
    ).fill_null(value=False)


def _rankings(
    graphs: tuple[Graph, Graph],
    paths: tuple[pl.DataFrame, pl.DataFrame],
    unnamed: list[Mask],
    known: set[str],
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The name-likeness of each path of the entities without a name, both sides."""
    tables = []
    for table, bare in zip(paths, unnamed, strict=True):
        own = table.filter(
            pl.Series(bare).gather(table["entity"])
            & ~pl.col("path").is_in(list(known))
            & pl.col("held")
        )
        tables.append(own.with_columns(plain=folded(own["value"]), words=looks_like_words(own["value"])))
    rankings = []
    for side in (0, 1):
        own, other, groups = tables[side], tables[1 - side], _groups(graphs[side])
        met = other.filter(pl.col("words"))["plain"].unique()
        own = own.with_columns(
            group=pl.Series(groups).gather(own["entity"]), met=pl.col("plain").is_in(met.implode())
        )
        sizes = pl.DataFrame({"group": groups[unnamed[side]]}).group_by("group").len("size")
        ranking = (
            own.group_by("path", "group")
            .agg(entities=pl.col("entity").n_unique())
            .join(
                own.group_by("path").agg(
                    distinct=pl.col("plain").n_unique() / pl.len(),
                    words=pl.col("words").mean(),
                    meets=pl.col("met").mean(),
                    length=pl.col("value").str.len_chars().median(),
                    steps=pl.col("steps").first(),
                    total=pl.len(),
                ),
                on="path",
            )
            .filter(pl.col("total") > 1)
            .join(sizes, on="group")
            .with_columns(coverage=(pl.col("entities") / pl.col("size")))
            .with_columns(
                likeness=pl.col("coverage")
                * pl.col("distinct")
                * pl.col("words")
                * (0.2 + pl.col("meets"))
                * 0.7 ** pl.col("steps")
                / pl.col("length").clip(40) * 40
            )
            .filter(
                (pl.col("coverage") >= LEAST_COVERAGE)
                & (pl.col("words") >= LEAST_WORDS)
                & (pl.col("distinct") >= LEAST_DISTINCT)
                & (pl.col("length") <= LONGEST)
            )
            .sort("group", "likeness", "path", descending=[False, True, False])
        )
        rankings.append(ranking)
    return rankings[0], rankings[1]


def _put_together(
    paths: pl.DataFrame,
    bare: Mask,
    ranking: pl.DataFrame,
    groups: NDArray[np.int64],
    rank: int,
) -> tuple[pl.DataFrame, set[str]]:
    """Names of the entities without one: of their group's best path, or of several together."""
    empty = pl.DataFrame(
        schema={"entity": pl.Int64, "path": pl.String, "value": pl.String, "language": pl.String, "rank": pl.Int64}
    )
    found, chosen = [empty], set()
    table = paths.filter(pl.Series(bare).gather(paths["entity"]))
    table = table.with_columns(group=pl.Series(groups).gather(table["entity"]))
    for (group,), best in ranking.group_by("group", maintain_order=True):
        own = table.filter(pl.col("group") == group)
        first = best["path"][0]
        names = own.filter(pl.col("path") == first)
        parts = [first]
        single = names["entity"].n_unique() == len(names)
        if single and best["distinct"][0] < DISTINCT_ENOUGH:
            for path, steps in zip(best["path"][1:], best["steps"][1:], strict=True):
                more = own.filter(pl.col("path") == path)
                if steps != best["steps"][0] or more["entity"].n_unique() != len(more):
                    continue
                joined = (
                    names.join(more.select("entity", further="value"), on="entity", how="full", coalesce=True)
                    .with_columns(
                        value=pl.concat_str([pl.col("value").fill_null(""), pl.lit(" "), pl.col("further").fill_null("")])
                        .str.strip_chars()
                    )
                    .drop("further")
                )
                if joined["value"].n_unique() / len(joined) > names["value"].n_unique() / len(names) + 0.01:
                    names, parts = joined, [*parts, path]
                if names["value"].n_unique() / len(names) >= DISTINCT_ENOUGH or len(parts) == MOST_PARTS:
                    break
        chosen |= set(parts)
        found.append(
            names.select(
                "entity",
                path=pl.lit(first),
                value="value",
                language=pl.col("language").fill_null(""),
                rank=pl.lit(rank, dtype=pl.Int64),
            )
        )
    return pl.concat(found), chosen


def _from_iris(graph: Graph, kinds: Kinds, bare: Mask, rank: int) -> pl.DataFrame:
    places = np.flatnonzero(bare)
    iris = graph.entities.cast(pl.String).gather(places)
    names = names_from_uris(iris)
    good = ~are_identifiers(iris, kinds[places]) & (names != "")
    return pl.DataFrame(
        {
            "entity": places[good.to_numpy()],
            "path": pl.repeat("", int(good.sum()), eager=True),
            "value": names.filter(good),
            "language": pl.repeat("", int(good.sum()), eager=True),
            "rank": pl.repeat(rank, int(good.sum()), dtype=pl.Int64, eager=True),
        },
        schema={"entity": pl.Int64, "path": pl.String, "value": pl.String, "language": pl.String, "rank": pl.Int64},
    )
