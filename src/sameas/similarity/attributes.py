"""Attributes as evidence: what it means that two entities have like or unlike values.

Which attribute corresponds to which is found from values in common, and what a likeness is worth
is learned from the run, as record linkage does (Fellegi and Sunter): how often the values of sure
links are equal, close, near or unlike, against how often those of any two entities are. A rare
value in common says more than a frequent one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.compute.arrays import Numbers, Positions, Vector
from sameas.compute.joins import bounded_join
from sameas.compute.topk import top_k_sparse
from sameas.graph.matched import MatchedGraph, MatchedPair
from sameas.graph.semantics.paths import SEPARATOR
from sameas.options.tuning import TUNING, AttributeTuning, Tuning
from sameas.similarity.cache import PairCache, Terms
from sameas.similarity.values import EQUAL, MISSING, Values, canonical
from sameas.text.ngrams import ngram_rows

NAMED = f"{SEPARATOR}(name)"
"""Behind a relation: the name of what it leads to, as a value."""


@dataclass(frozen=True, eq=False)
class Attributes:
    """The attributes of both graphs and which of them are compared."""

    tables: tuple[pl.DataFrame, pl.DataFrame]
    """entity (position), attribute, value (number), many (entities with that value)."""
    texts: tuple[pl.Series, pl.Series]
    """All short values of each entity in one text, to search by."""
    values: Values
    """All canonical values of both graphs."""
    pairs: list[tuple[str, str]]
    """Corresponding attributes, the more telling first."""
    tuning: AttributeTuning = TUNING.attributes
    one_graph: bool = False
    """Whether both sides are one graph, so that attributes are known to correspond."""

    def alike(self, k: int, *, only: tuple[Positions, Positions] | None = None) -> Positions:
        """Pairs of entities whose values, taken as one text, are most alike, ascending.

        With ``only``, the most alike of these left and right entities.
        """
        size = len(self.texts[0])
        rows = ngram_rows(pl.concat(self.texts), n=3, boundaries=True, rarity=True).sparse
        return top_k_sparse(rows[:size], rows[size:], k, only=only)

    def compare(
        self, left: Numbers, right: Numbers
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """How alike pairs are in each corresponding attribute, and how rare equal values are.

        Shapes (pairs, attributes): levels, and -ln of the share of entities with that value.
        """
        levels = np.full((len(left), len(self.pairs)), MISSING, dtype=np.uint8)
        rarity = np.zeros(levels.shape, dtype=np.float32)
        some = self._comparable(left, right)
        levels[some], rarity[some] = self._memory(left[some], right[some])
        return levels, rarity

    def remember(self, left: Numbers, right: Numbers) -> None:
        """Compare those of these pairs that are new."""
        some = self._comparable(left, right)
        self._memory.remember(left[some], right[some])

    def _comparable(self, left: Numbers, right: Numbers) -> Positions:
        """Which pairs have a corresponding attribute; of most, there is nothing to remember."""
        return np.flatnonzero(self._held[0][left] & self._held[1][right])

    @cached_property
    def _held(self) -> list[NDArray[np.uint32]]:
        """A bit for each corresponding attribute that an entity has, of both sides."""
        held = [np.zeros(len(texts), dtype=np.uint32) for texts in self.texts]
        for place, names in enumerate(self.pairs):
            for bits, table, name in zip(held, self.tables, names, strict=True):
                having = table.filter(pl.col("attribute") == name)["entity"].unique()
                bits[having.to_numpy()] |= np.uint32(1 << place)
        return held

    @cached_property
    def _memory(self) -> PairCache:
        return PairCache(self._compared, len(self.texts[1]))

    def _compared(
        self, left: Positions, right: Positions
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        levels = np.full((len(left), len(self.pairs)), MISSING, dtype=np.uint8)
        rarity = np.zeros(levels.shape, dtype=np.float32)
        for place in range(len(self.pairs)):
            best = self._best(place, left, right)
            where = best["pair"].to_numpy()
            levels[where, place], rarity[where, place] = best["level"], best["rare"]
        return levels, rarity

    def _best(self, place: int, left: Positions, right: Positions) -> pl.DataFrame:
        """The two values that fit best, of each pair that has both, in one of ``pairs``."""
        ours, theirs = (
            table.filter(pl.col("attribute") == attribute).drop("attribute")
            for table, attribute in zip(self.tables, self.pairs[place], strict=True)
        )
        pairs = pl.DataFrame({"pair": np.arange(len(left)), "left": left, "right": right})
        met = pairs.join(ours, left_on="left", right_on="entity")
        met = met.join(theirs, left_on="right", right_on="entity")
        distinct = met.select("value", "value_right").unique()
        level = self.values.levels(*(column.to_numpy() for column in distinct))
        total = ours["entity"].n_unique() + theirs["entity"].n_unique()
        many = (pl.col("many") + pl.col("many_right")) / total
        return (
            met.join(distinct.with_columns(level=level), on=["value", "value_right"])
            .with_columns(rare=-many.clip(upper_bound=1.0).log())
            .sort("pair", "level", -pl.col("rare"), "value", "value_right")
            .unique("pair", keep="first", maintain_order=True)
        )

    def shown(self, place: int, left: int, right: int) -> tuple[str, str]:
        """The values of two entities that fit best in one corresponding attribute."""
        best = self._best(place, np.array([left]), np.array([right])).row(0, named=True)
        return self.values.texts[best["value"]], self.values.texts[best["value_right"]]

    def learn(self, left: Positions, right: Positions, trust: Vector) -> Terms:
        """What the anchors (left, right, trust) tell of each attribute; without any, a guess."""
        tuning, generator = self.tuning, np.random.default_rng(0)
        ours, theirs = (
            generator.choice(table["entity"].unique().sort().to_numpy(), tuning.random_pairs)
            for table in self.tables
        )
        chance, levels = (self.compare(*pairs)[0] for pairs in ((ours, theirs), (left, right)))
        hits = np.stack([np.bincount(column, trust, minlength=5)[:4] for column in levels.T])
        misses = np.stack([np.bincount(column, minlength=5)[:4] for column in chance.T])
        prior = tuning.unlinked_prior
        unlikely = misses + prior * np.array(tuning.unlinked)
        unlikely /= misses.sum(axis=1, keepdims=True) + prior
        # An attribute tells nothing until anchors show it; to find the first ones, it is trusted.
        trusted = self.one_graph or not len(left)
        guess, prior = np.array(tuning.linked) if trusted else unlikely, tuning.linked_prior
        likely = (hits + prior * guess) / (hits.sum(axis=1, keepdims=True) + prior)
        weights = np.zeros((len(self.pairs), 5))  # of a value that one lacks: nothing
        weights[:, :4] = np.log(likely / unlikely)
        weights[:, EQUAL] = np.log(likely[:, EQUAL])  # besides the rarity of the value

        def terms(left: Numbers, right: Numbers) -> Vector:
            levels, rarity = self.compare(left, right)
            terms_of_levels = weights[np.arange(len(weights)), levels]
            terms_of_levels = terms_of_levels + np.where(levels == EQUAL, rarity, 0.0)
            return np.asarray(np.clip(terms_of_levels, -tuning.cap, 2 * tuning.cap))

        return terms


def read_attributes(pair: MatchedPair, *, tuning: Tuning = TUNING) -> Attributes | None:
    """The attributes of both graphs that have values in common; None if there are none."""
    numbers = tuning.attributes
    left, right = (_canonical_values(graph, numbers.longest) for graph in (pair.left, pair.right))
    every = pl.concat([left["value"], right["value"]]).unique().sort()
    tables = _numbered(left, every, tuning), _numbered(right, every, tuning)
    sizes = len(pair.left.entities), len(pair.right.entities)
    short = 2 * tuning.values.long  # longer values tell little in a search
    texts = _texts(left, sizes[0], short), _texts(right, sizes[1], short)
    pairs = _corresponding(*tables, tuning)
    if not pairs:
        return None
    values = Values(every, tuning.values)
    return Attributes(tables, texts, values, pairs, numbers, pair.is_one_graph)


def _canonical_values(graph: MatchedGraph, longest: int) -> pl.DataFrame:
    """entity (position), attribute, value in canonical form.

    Names are left out, but those of neighbours are values too: what is a text here may be a
    resource of that name there.
    """
    is_value = ~graph.attributes["attribute"].is_in(graph.name_paths)
    said, subjects = graph.attributes.filter(is_value), graph.attribute_entities[is_value]
    head, relation, tail = graph.distinct_triples.T
    table = pl.DataFrame(
        {
            "entity": np.append(subjects, head),
            "attribute": pl.concat([said["attribute"], graph.relations.gather(relation) + NAMED]),
            "value": pl.concat([said["value"].str.slice(0, longest), graph.names.gather(tail)]),
        }
    )
    texts = table["value"].unique()
    forms = pl.DataFrame({"value": texts, "canonical": canonical(texts)})
    return (
        table.join(forms, on="value", how="left", maintain_order="left")
        .filter(pl.col("entity") >= 0, pl.col("canonical") != "")
        .select("entity", "attribute", value="canonical")
        .unique(maintain_order=True)
    )


def _texts(table: pl.DataFrame, size: int, longest: int) -> pl.Series:
    """The short values of each entity in one text."""
    short = table.filter(
        pl.col("value").str.len_chars() <= longest, ~pl.col("attribute").str.ends_with(NAMED)
    )
    short = short.unique(["entity", "value"], maintain_order=True)
    joined = short.group_by("entity", maintain_order=True).agg(pl.col("value").str.join(" "))
    every = pl.DataFrame({"entity": np.arange(size)})
    return every.join(joined, on="entity", how="left", maintain_order="left")["value"].fill_null("")


def _numbered(table: pl.DataFrame, every: pl.Series, tuning: Tuning) -> pl.DataFrame:
    """The values by number, and how many entities have each; of many of an entity, the rarest."""
    numbers = table.with_columns(value=every.search_sorted(table["value"]).cast(pl.Int64))
    numbers = numbers.with_columns(many=pl.len().over("attribute", "value").cast(pl.Int64))
    rank = pl.col("many").rank("ordinal").over("entity", "attribute")
    return _without_copies(numbers, tuning).filter(rank <= tuning.attributes.most_values)


def _without_copies(table: pl.DataFrame, tuning: Tuning) -> pl.DataFrame:
    """The values without attributes that repeat another of fewer steps or more statements."""
    sizes = dict(table.group_by("attribute").len().iter_rows())
    both = (
        bounded_join(
            table,
            table.rename({"attribute": "other"}),
            on=["entity", "value"],
            tuning=tuning.search,
        )
        .filter(pl.col("attribute") != pl.col("other"))
        .group_by("attribute", "other")
        .len()
    )
    place = {name: (name.count(SEPARATOR), -size, name) for name, size in sizes.items()}
    dropped: set[str] = set()
    for one, other, same in sorted(both.iter_rows()):
        copied = same >= tuning.attributes.most_same * sizes[one]
        if copied and place[one] > place[other] and other not in dropped:
            dropped.add(one)
    return table.filter(~pl.col("attribute").is_in(list(dropped)))


def _corresponding(
    left: pl.DataFrame, right: pl.DataFrame, tuning: Tuning
) -> list[tuple[str, str]]:
    """Pairs of attributes with values in common, the rarer and the more the better; one to one."""
    ours, theirs = (
        table.select("attribute", "value", "many").unique(maintain_order=True)
        for table in (left, right)
    )
    sizes = [dict(side.group_by("attribute").len().iter_rows()) for side in (ours, theirs)]
    met = (
        bounded_join(ours, theirs, on=["value"], tuning=tuning.search)
        .group_by("attribute", "attribute_right")
        .agg(shared=pl.len(), weight=(1 / (pl.col("many") * pl.col("many_right")).sqrt()).sum())
        .filter(pl.col("shared") >= tuning.attributes.least_shared)
    )
    rows = sorted(
        # Rounded: sums depend on the order of terms, and equals are to go by their names.
        (round(-weight / np.sqrt(sizes[0][one] * sizes[1][other]), 9), one, other)
        for one, other, _, weight in met.iter_rows()
        # Two relations are compared by whom they lead to, not by what these are called.
        if not (one.endswith(NAMED) and other.endswith(NAMED))
    )
    chosen: dict[str, str] = {}
    for _, one, other in rows:
        if one not in chosen and other not in chosen.values():
            chosen[one] = other
    return list(chosen.items())[: tuning.attributes.most_pairs]
