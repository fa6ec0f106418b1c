"""Attributes as evidence: what it means that two entities have like or unlike values.

Which attribute corresponds to which is found from values in common, and what a likeness is
worth is learned from the run, as record linkage does (Fellegi and Sunter): how often the values
of sure links are equal, close, near or unlike, against how often those of any two entities are.
A rare value in common says more than a frequent one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.features.ngrams import ngram_rows
from sameas.graph import Graph, GraphPair, Positions
from sameas.likeness import (
    CLOSE,
    CLOSE_AT,
    EQUAL,
    LONG,
    MISSING,
    NEAR,
    NEAR_AT,
    UNLIKE,
    canonical,
    encoded,
    similarities,
)
from sameas.profit import make_profit
from sameas.proposals import alike

Vector = NDArray[np.float64]

FIRST = np.array([0.6, 0.15, 0.1, 0.15])
"""How alike values of sure links are taken to be before anything is learned."""
WORTH = 10.0
"""How many anchors that guess is worth."""
LEAST_SHARED = 3
"""Values that two attributes must have in common before they are compared."""
RIVALS = 3
"""Attributes that each attribute is held against."""
MOST_PAIRS = 25
"""Corresponding attributes that are compared."""
RANDOM = 20_000
"""Pairs of any two entities from which chance is measured."""
MOST_SAME = 0.8
"""Attributes of which this share of statements are the other's say nothing of their own."""
CAP = 8.0
"""The most that one attribute says against a pair, or for it unless values are equal."""


@dataclass(frozen=True, eq=False)
class Side:
    """The values of one graph: entity, attribute and value by number, sorted by attribute."""

    table: pl.DataFrame
    """entity, attribute, value (numbers); distinct."""
    attributes: pl.Series
    counts: dict[int, int]
    """How many entities have each attribute."""


@dataclass(eq=False)
class Attributes:
    """The attributes of both graphs and which of them are compared."""

    left: Side
    right: Side
    values: pl.Series
    """All canonical values of both graphs, by number."""
    pairs: list[tuple[int, int]]
    """Corresponding attributes by number, the more telling first."""
    shape: tuple[int, int]
    text: tuple[pl.Series, pl.Series]
    """All values of each entity in one text, to search by."""
    _letters: tuple[NDArray[np.uint8], NDArray[np.int64]] | None = None
    _rows: object = None
    _known: Positions = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    _levels: NDArray[np.uint8] | None = None
    _rarity: NDArray[np.float32] | None = None

    def candidates(self, k: int) -> Positions:
        """Pairs of entities whose values, taken as one text, are most alike, ascending."""
        rows = ngram_rows(pl.concat(list(self.text)), n=3, boundaries=True, rarity=True)
        size = len(self.text[0])
        left, right = rows.take(np.arange(size)), rows.take(np.arange(size, len(rows)))
        return alike(left.sparse, right.sparse, k)

    def compare(self, left: NDArray[np.integer], right: NDArray[np.integer]) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """How alike pairs are in each corresponding attribute, and how rare equal values are.

        Shapes (pairs, attributes): levels, and -ln of the share of entities with that value.
        """
        keys = left.astype(np.int64) * self.shape[1] + right
        count = len(self.pairs)
        if self._levels is None:
            self._levels = np.zeros((0, count), dtype=np.uint8)
            self._rarity = np.zeros((0, count), dtype=np.float32)
        fresh = np.setdiff1d(keys, self._known)
        if len(fresh):
            levels, rarity = self._compared(fresh // self.shape[1], fresh % self.shape[1])
            known = np.concatenate([self._known, fresh])
            order = np.argsort(known, kind="stable")
            self._known = known[order]
            self._levels = np.concatenate([self._levels, levels])[order]
            self._rarity = np.concatenate([self._rarity, rarity])[order]
        places = np.searchsorted(self._known, keys)
        return self._levels[places], self._rarity[places]

    def _compared(self, left: Positions, right: Positions) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        levels = np.full((len(left), len(self.pairs)), MISSING, dtype=np.uint8)
        rarity = np.zeros((len(left), len(self.pairs)), dtype=np.float32)
        pairs = pl.DataFrame({"pair": np.arange(len(left)), "left": left, "right": right})
        for place, (a, b) in enumerate(self.pairs):
            ours = self.left.table.filter(pl.col("attribute") == a).select(left="entity", ours="value", ours_many="many")
            theirs = self.right.table.filter(pl.col("attribute") == b).select(right="entity", theirs="value", theirs_many="many")
            met = pairs.join(ours, on="left").join(theirs, on="right")
            if not len(met):
                continue
            distinct = met.select("ours", "theirs").unique()
            alike_ = self._alike(distinct["ours"].to_numpy(), distinct["theirs"].to_numpy())
            distinct = distinct.with_columns(likeness=pl.Series(alike_))
            total = self.left.counts[a] + self.right.counts[b]
            best = (
                met.join(distinct, on=["ours", "theirs"])
                .with_columns(rare=-((pl.col("ours_many") + pl.col("theirs_many")) / total).clip(upper_bound=1.0).log())
                .sort("pair", "likeness", "rare", descending=[False, True, True])
                .unique("pair", keep="first", maintain_order=True)
            )
            likeness = best["likeness"].to_numpy()
            level = np.where(likeness >= 1, EQUAL, np.where(likeness >= CLOSE_AT, CLOSE, np.where(likeness >= NEAR_AT, NEAR, UNLIKE)))
            where = best["pair"].to_numpy()
            levels[where, place] = level
            rarity[where, place] = best["rare"].to_numpy()
        return levels, rarity

    def _alike(self, ours: Positions, theirs: Positions) -> Vector:
        """How alike values are, by number: 1 for equal ones."""
        if self._letters is None:
            self._letters = encoded(self.values)
            self._rows = make_profit(*([ngram_rows(self.values, n=3, boundaries=True, rarity=True)] * 2))
            self._long = (self.values.str.len_chars() > LONG).to_numpy()
        found = np.zeros(len(ours))
        letters, starts = self._letters
        long = self._long[ours] | self._long[theirs]
        short = ~long & (ours != theirs)
        out = np.zeros(int(short.sum()))
        similarities(letters, starts, letters, starts, ours[short].astype(np.int64), theirs[short].astype(np.int64), out)
        found[short] = out
        if long.any():
            cosines = self._rows.of(ours[long].astype(np.int64), theirs[long].astype(np.int64))
            found[long] = np.minimum(cosines, 0.99)
        found[ours == theirs] = 1.0
        return found


@dataclass(frozen=True, eq=False)
class AttributeModel:
    """What likeness in each corresponding attribute is worth, in log-odds."""

    attributes: Attributes
    weights: NDArray[np.float64]
    """(attributes, levels): of EQUAL, what it says besides the rarity of the value."""
    information: Vector
    seen: NDArray[np.float64]

    def parts(self, left: NDArray[np.integer], right: NDArray[np.integer]) -> NDArray[np.float64]:
        """What each attribute says about pairs, (pairs, attributes)."""
        levels, rarity = self.attributes.compare(left, right)
        padded = np.concatenate([self.weights, np.zeros((len(self.weights), 1))], axis=1)
        found = padded[np.arange(len(self.weights))[None, :], levels]
        found = np.clip(found + np.where(levels == EQUAL, rarity, 0.0), -CAP, 2 * CAP)
        return found

    def score(self, left: NDArray[np.integer], right: NDArray[np.integer]) -> Vector:
        """What all attributes say about pairs."""
        total: Vector = self.parts(left, right).sum(axis=1)
        return total


def read_attributes(pair: GraphPair) -> Attributes | None:
    """The attributes of both graphs that have values in common; None if there are none."""
    tables, names = [], []
    for graph in (pair.left, pair.right):
        table = graph.attributes.select("entity", "attribute", "value").filter(
            ~pl.col("attribute").is_in(list(graph.name_paths))
        )
        if not len(table):
            return None
        places = graph.positions(table["entity"])
        attributes = table["attribute"].cast(pl.String)
        distinct = attributes.unique().sort()
        values = table["value"]
        texts = values.unique()
        forms = pl.DataFrame({"value": texts, "canonical": canonical(texts.str.slice(0, 400))})
        tables.append(
            pl.DataFrame({"entity": places, "attribute": attributes, "value": values})
            .join(forms, on="value", how="left", maintain_order="left")
            .filter((pl.col("entity") >= 0) & (pl.col("canonical") != ""))
            .select("entity", "attribute", value="canonical")
            .unique(maintain_order=True)
        )
        names.append(distinct)
    every = pl.concat([table["value"] for table in tables]).unique().sort()
    sides = []
    for table, distinct in zip(tables, names, strict=True):
        table = table.select(
            "entity",
            attribute=distinct.search_sorted(table["attribute"]).cast(pl.Int64),
            value=every.search_sorted(table["value"]).cast(pl.Int64),
        )
        many = table.group_by("attribute", "value").len("many")
        table = table.join(many, on=["attribute", "value"], how="left", maintain_order="left")
        counts = dict(table.group_by("attribute").agg(pl.col("entity").n_unique()).iter_rows())
        sides.append(Side(table, distinct, counts))
    sides = [_without_copies(side) for side in sides]
    pairs = _corresponding(*sides)
    if not pairs:
        return None
    texts = []
    for graph, table in ((pair.left, tables[0]), (pair.right, tables[1])):
        short = table.filter(pl.col("value").str.len_chars() <= 2 * LONG)
        joined = short.unique(["entity", "value"], maintain_order=True).group_by("entity", maintain_order=True).agg(pl.col("value").str.join(" "))
        text = np.full(len(graph.entities), "", dtype=object)
        text[joined["entity"].to_numpy()] = joined["value"].to_numpy()
        texts.append(pl.Series(text.tolist(), dtype=pl.String))
    return Attributes(sides[0], sides[1], every, pairs, (len(pair.left.entities), len(pair.right.entities)), (texts[0], texts[1]))


def _without_copies(side: Side) -> Side:
    """The side without attributes that repeat another with fewer steps or more statements."""
    table = side.table
    sizes = dict(table.group_by("attribute").len().iter_rows())
    both = (
        table.select("entity", "value", "attribute")
        .join(table.select("entity", "value", other="attribute"), on=["entity", "value"])
        .filter(pl.col("attribute") != pl.col("other"))
        .group_by("attribute", "other").len("same")
    )
    steps = side.attributes.str.count_matches(" / ", literal=True).to_list()
    dropped: set[int] = set()
    for a, b, same in sorted(both.iter_rows()):
        worse = (steps[a], -sizes[a], a) > (steps[b], -sizes[b], b)
        if same >= MOST_SAME * sizes[a] and worse and b not in dropped:
            dropped.add(a)
    return Side(table.filter(~pl.col("attribute").is_in(list(dropped))), side.attributes, side.counts)


def _corresponding(left: Side, right: Side) -> list[tuple[int, int]]:
    """Pairs of attributes that have values in common, the rarer and the more the better."""
    ours = left.table.select("attribute", "value", "many").unique()
    theirs = right.table.select(other="attribute", value="value", others="many").unique()
    met = (
        ours.join(theirs, on="value")
        .group_by("attribute", "other")
        .agg(shared=pl.len(), weight=(1 / (pl.col("many") * pl.col("others")).sqrt()).sum())
        .filter(pl.col("shared") >= LEAST_SHARED)
    )
    sizes = [dict(side.table.group_by("attribute").agg(pl.col("value").n_unique()).iter_rows()) for side in (left, right)]
    rows = [
        (weight / np.sqrt(sizes[0][a] * sizes[1][b]), a, b) for a, b, _, weight in met.iter_rows()
    ]
    rows.sort(key=lambda row: (-row[0], row[1], row[2]))
    used: tuple[dict[int, int], dict[int, int]] = {}, {}
    chosen = []
    for _, a, b in rows:
        if used[0].get(a, 0) < 1 and used[1].get(b, 0) < 1:
            chosen.append((a, b))
            used[0][a] = used[0].get(a, 0) + 1
            used[1][b] = used[1].get(b, 0) + 1
    return chosen[:MOST_PAIRS]


def learn_attributes(
    attributes: Attributes, left: Positions, right: Positions, trust: Vector
) -> AttributeModel:
    """What the anchors (left, right, trust) tell; without any, a guess."""
    generator = np.random.default_rng(0)
    some = [
        np.flatnonzero(np.bincount(side.table["entity"].to_numpy(), minlength=size))
        for side, size in zip((attributes.left, attributes.right), attributes.shape, strict=True)
    ]
    any_left = generator.choice(some[0], RANDOM)
    any_right = generator.choice(some[1], RANDOM)
    chance, _ = attributes.compare(any_left, any_right)
    levels, _ = attributes.compare(left, right)
    count = len(attributes.pairs)
    weights, information, seen = np.zeros((count, 4)), np.zeros(count), np.zeros((count, 4))
    for place in range(count):
        hits = np.bincount(levels[:, place], trust, minlength=5)[:4]
        misses = np.bincount(chance[:, place], minlength=5)[:4].astype(float)
        unlikely = (misses + 4 * np.array([0.02, 0.08, 0.2, 0.7])) / (misses.sum() + 4)
        # An attribute tells nothing until anchors show it; to find the first ones, it is trusted.
        guess = unlikely if len(left) else FIRST
        likely = (hits + WORTH * guess) / (hits.sum() + WORTH)
        weights[place] = np.log(likely / unlikely)
        weights[place, EQUAL] = np.log(likely[EQUAL])
        information[place] = float((likely * np.log(likely / unlikely)).sum())
        seen[place] = hits
    return AttributeModel(attributes, weights, information, seen)
