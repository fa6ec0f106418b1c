"""Attributes as evidence: what it means that two entities have like or unlike values.

Which attribute corresponds to which is found from values in common, or from their names where
values are seldom equal. What a likeness is worth is learned from the run, as record linkage does
(Fellegi and Sunter): how often the values of sure links are equal, close, near, unlike or far
apart, against how often those of any two entities are. A rare value in common says more than a
frequent one; values that are far apart, where those of links are not, speak against a pair.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.compute.arrays import Indices, Numbers, Positions, Vector
from sameas.compute.joins import bounded_join
from sameas.compute.topk import top_k_sparse
from sameas.graph.iri import last_part
from sameas.graph.matched import MatchedGraph, MatchedPair
from sameas.graph.semantics.paths import SEPARATOR
from sameas.options.tuning import TUNING, AttributeTuning, Tuning
from sameas.similarity.cache import PairCache, Terms
from sameas.similarity.correspondence import NAMED, Kinds, corresponding_attributes
from sameas.similarity.values import (
    EQUAL,
    FAR,
    MISSING,
    ValueKind,
    Values,
    canonical,
    canonical_point,
    kinds_of,
)
from sameas.text.folding import folded
from sameas.text.ngrams import ngram_rows

Side = TypeVar("Side")
Made = TypeVar("Made")
LATITUDE, LONGITUDE = (
    re.compile("(.*?)lat(itude)?$", re.I),
    re.compile("(.*?)lo?ng?(itude)?$", re.I),
)
"""What attributes that are coordinates together are called."""
CODES = "(codes)"
"""What the words with digits of names are called as an attribute."""
WORD, MOST_WORDS = "[a-z]{3}", 4
"""Values that are looked for in names have a word, and so many words at most."""


class Column(NamedTuple):
    """The values of one attribute: those of entity i are at starts[i]:starts[i + 1]."""

    starts: Positions
    values: Indices
    """By number."""
    many: Indices
    """How many entities have each."""
    entities: int
    """How many entities have a value."""

    @classmethod
    def of(cls, table: pl.DataFrame, attribute: str, size: int) -> Column:
        """The values of an attribute of so many entities; a table of ``Attributes``."""
        said = table.filter(pl.col("attribute") == attribute).sort("entity", maintain_order=True)
        counts = np.bincount(said["entity"].to_numpy(), minlength=size)
        values, many = (said[name].to_numpy().astype(np.int32) for name in ("value", "many"))
        return cls(np.append(0, np.cumsum(counts)), values, many, int(np.count_nonzero(counts)))


class BestValues(NamedTuple):
    """Two values of each of some pairs of entities, how alike and how rare they are."""

    pairs: Positions
    left: Indices
    right: Indices
    levels: NDArray[np.uint8]
    rarity: Vector

    def first_of_each(self) -> BestValues:
        """The values of each pair that are most alike, of these the rarest."""
        if (np.diff(self.pairs) > 0).all():
            return self
        order = np.lexsort((self.right, self.left, -self.rarity, self.levels, self.pairs))
        first = np.append(True, np.diff(self.pairs[order]) > 0)
        return BestValues(*(each[order[first]] for each in self))


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
    kinds: list[ValueKind]
    """How the values of each of ``pairs`` are compared."""
    tuning: AttributeTuning = TUNING.attributes
    one_graph: bool = False
    """Whether both sides are one graph, so that attributes are known to correspond."""
    prior: float = TUNING.attributes.linked_prior
    """The pseudo-count of the prior for links."""
    names: tuple[str, ...] = ()
    """Those of the attributes that hold names, where they are compared, too."""
    siblings: tuple[Positions, Positions] | None = None
    """Pairs of one graph with like names that are two things: what they have in common, such as a
    description from one text, tells nothing of duplicates."""
    rivals: tuple[Positions, Positions] | None = None
    """Pairs of one table with like names: those of an anchored entity with others than its partner
    are taken to be two things."""

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
            levels[best.pairs, place], rarity[best.pairs, place] = best.levels, best.rarity
        return levels, rarity

    @cached_property
    def _columns(self) -> list[tuple[Column, Column]]:
        """The values of each corresponding attribute by entity, of both sides."""
        columns = [
            [Column.of(table, pair[side], len(self.texts[side])) for pair in self.pairs]
            for side, table in enumerate(self.tables[: 1 if self.one_graph else 2])
        ]
        return list(zip(columns[0], columns[-1], strict=True))

    def _best(self, place: int, left: Positions, right: Positions) -> BestValues:
        """The two values that fit best, of each pair that has both, in one of ``pairs``."""
        ours, theirs = self._columns[place]
        pairs, one, other = _met(ours.starts, theirs.starts, left, right)
        values = ours.values[one], theirs.values[other]
        distinct, where = np.unique(
            values[0] * np.int64(len(self.values.texts)) + values[1], return_inverse=True
        )
        ends = np.divmod(distinct, len(self.values.texts))
        levels = self.values.levels(*ends, self.kinds[place])[where]
        shares = (ours.many[one] + theirs.many[other]) / (ours.entities + theirs.entities)
        best = BestValues(pairs, *values, levels, -np.log(np.minimum(shares, 1.0)))
        return best.first_of_each()

    def shown(self, place: int, left: int, right: int) -> tuple[str, str, str]:
        """The values of two entities that fit best in one corresponding attribute; how far apart.

        The last is empty where values are equal or compared letter by letter.
        """
        best = self._best(place, np.array([left]), np.array([right]))
        one, other, kind = int(best.left[0]), int(best.right[0]), self.kinds[place]
        distance = self.values.distances(np.array([one]), np.array([other]), kind)[0]
        apart = "" if one == other or math.isnan(distance) else _in_words(float(distance), kind)
        return self.values.texts[one], self.values.texts[other], apart

    def _expected(self, place: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """How often links, and any two entities, have each level before anything is known."""
        expected = self.tuning.expected(self.kinds[place])
        if self.pairs[place][0] in self.names:  # duplicates are hardly called otherwise
            return self.tuning.linked_names, expected[1]
        return expected

    def linked_shares(self, levels: NDArray[np.uint8], likely: Vector) -> Vector:
        """How often links of one graph have each level of each attribute.

        ``levels`` are those of pairs, and ``likely`` how likely each is a link. Shape (attributes,
        levels); one for a value that is missing.
        """
        shares = np.ones((len(self.pairs), MISSING + 1))
        for place in range(len(self.pairs)):
            hits = np.bincount(levels[:, place], likely, minlength=MISSING + 1)[:MISSING]
            linked = self.prior * np.maximum(self._expected(place)[0], 1e-9)
            shares[place, :MISSING] = (hits + linked) / (hits.sum() + linked.sum())
        return shares

    def learn(self, left: Positions, right: Positions, trust: Vector) -> Terms:
        """What the anchors (left, right, trust) tell of each attribute; without any, a guess."""
        tuning, generator = self.tuning, np.random.default_rng(0)
        ours, theirs = (
            generator.choice(table["entity"].unique().sort().to_numpy(), tuning.random_pairs)
            for table in self.tables
        )
        chance, levels = (self.compare(*pairs)[0] for pairs in ((ours, theirs), (left, right)))
        apart = self._apart(left, right)
        beside = chance if apart is None else self.compare(*apart)[0]
        trusted = self.one_graph or not len(left)
        weights = np.zeros((len(self.pairs), MISSING + 1))  # of a value that one lacks: nothing
        most = np.full(len(self.pairs), 2 * tuning.cap)
        for place, kind in enumerate(self.kinds):
            hits = np.bincount(levels[:, place], trust, minlength=MISSING + 1)[:MISSING]
            misses = np.bincount(chance[:, place], minlength=MISSING + 1)[:MISSING]
            expected = self._expected(place)
            worths = _worths(
                hits, misses, kind, expected, self.prior, trusted=trusted, tuning=tuning
            )
            if apart is not None:
                misses = np.bincount(beside[:, place], minlength=MISSING + 1)[:MISSING]
                less = _worths(
                    hits, misses, kind, expected, self.prior, trusted=trusted, tuning=tuning
                )
                worths = np.minimum(worths, less)
            weights[place, :MISSING] = worths
            if self.rivals is not None and apart is not None:
                most[place] = np.log(_shares(hits)[EQUAL] / _shares(misses)[EQUAL])

        def terms(left: Numbers, right: Numbers) -> Vector:
            levels, rarity = self.compare(left, right)
            terms_of_levels = weights[np.arange(len(weights)), levels]
            equal = np.minimum(terms_of_levels + rarity, most)
            return np.asarray(np.where(levels == EQUAL, equal, terms_of_levels))

        return terms

    def _apart(self, left: Positions, right: Positions) -> tuple[Positions, Positions] | None:
        """Pairs with like names that are two things, if any are known; anchors are given."""
        if self.rivals is None or not len(left):
            return self.siblings
        partner = np.full(len(self.texts[0]), -1, dtype=np.int64)
        partner[left] = right
        one, other = self.rivals
        two = (partner[one] >= 0) & (partner[one] != other)
        return one[two], other[two]


def read_attributes(
    pair: MatchedPair, *, coded: bool = False, tuning: Tuning = TUNING
) -> Attributes | None:
    """The attributes of both graphs that have values in common; None if there are none.

    With ``coded``, the codes in names of one table are values, and its names are not.
    """
    numbers = tuning.attributes
    table = pair.is_one_graph and pair.left.source.shape == "records"
    with_names = table or _have_parts(pair)
    if not any(_are_values(graph, with_names=with_names).any() for graph in pair.graphs):
        return None
    one_graph = pair.is_one_graph
    short = 2 * tuning.values.long  # longer values tell little in a search

    def of_each(make: Callable[[Side], Made], sides: Sequence[Side]) -> tuple[Made, Made]:
        """What is made of each side: of one graph, once."""
        made = [make(side) for side in (sides[:1] if one_graph else sides)]
        return made[0], made[-1]

    left, right = of_each(
        lambda graph: _canonical_values(graph, numbers.longest, with_names=with_names), pair.graphs
    )
    if coded:
        left = right = _with_codes(left, pair.left, tuning)
    every = pl.concat([left["value"], right["value"]]).unique().sort()
    tables = of_each(lambda table: _numbered(table, every, tuning), (left, right))
    sizes = len(pair.left.entities), len(pair.right.entities)
    texts = of_each(lambda side: _texts(*side, short), ((left, sizes[0]), (right, sizes[1])))
    kinds = of_each(lambda table: kinds_of(table, tuning=tuning.values), (left, right))
    if coded:
        kinds[0][CODES] = kinds[1][CODES] = "code"
    pairs = corresponding_attributes(*tables, kinds, tuning=tuning)
    if not pairs:
        return None
    if not one_graph:  # what one graph has in names it has there on both sides
        left, right = _both_filled(pair, (left, right), kinds, pairs)
        tables = _numbered(left, every, tuning), _numbered(right, every, tuning)
    compared = [kinds[0][one] if kinds[0][one] == kinds[1][two] else "text" for one, two in pairs]
    values = Values(every, tuning.values)
    prior = tuning.duplicates.attribute_prior if one_graph else numbers.linked_prior
    names = pair.left.name_paths if one_graph and pair.left.source.shape == "records" else ()
    return Attributes(tables, texts, values, pairs, compared, numbers, one_graph, prior, names)


def _met(
    ours: Positions, theirs: Positions, left: Numbers, right: Numbers
) -> tuple[Positions, Positions, Positions]:
    """Every value of the left entity of a pair with every one of the right: pairs and places.

    ``ours`` and ``theirs`` are where the values of each entity start.
    """
    starts, others = ours[left], theirs[right]
    counts, width = ours[left + 1] - starts, theirs[right + 1] - others
    each = counts * width
    pairs = np.repeat(np.arange(len(each)), each)
    within = np.arange(len(pairs)) - np.repeat(np.cumsum(each) - each, each)
    one, other = np.divmod(within, width[pairs])
    return pairs, starts[pairs] + one, others[pairs] + other


def _shares(counts: Numbers) -> Vector:
    """The shares of counts, with one more for all levels together."""
    shares: Vector = (counts + 1 / len(counts)) / (counts.sum() + 1)
    return shares


def has_long_names(graph: MatchedGraph, *, tuning: Tuning = TUNING) -> bool:
    """Whether the columns that hold the names of a table hold long texts."""
    said = graph.attributes.filter(~_are_values(graph))
    texts = said.select("attribute", value=canonical(said["value"]))
    kinds = kinds_of(texts.filter(pl.col("value") != ""), tuning=tuning.values)
    return bool(kinds) and all(kind == "long text" for kind in kinds.values())


def _with_codes(values: pl.DataFrame, graph: MatchedGraph, tuning: Tuning) -> pl.DataFrame:
    """The values with the codes of names in place of long names."""
    others = values.filter(~pl.col("attribute").is_in(graph.name_paths))
    codes = pl.DataFrame(
        {
            "entity": np.arange(len(graph.names)),
            "value": codes_of(graph.names, tuning.values.shortest_id),
        }
    )
    codes = codes.explode("value").drop_nulls()
    return pl.concat([others, codes.select("entity", attribute=pl.lit(CODES), value="value")])


def codes_of(names: pl.Series, shortest: int) -> pl.Series:
    """The words with digits of each name, as they stand and without punctuation, of some length.

    >>> codes_of(pl.Series(["Garmin case 010-10704-00", "Nuvi 205"]), 4).to_list()
    [['0101070400', '10704'], []]
    """
    lower = names.str.to_lowercase()
    whole = lower.str.replace_all(r"[^\p{L}\p{N}\s]+", "").str.extract_all(r"\S*\d\S*")
    parts = lower.str.extract_all(r"[\p{L}\p{N}]*\d[\p{L}\p{N}]*")
    both = pl.DataFrame({"whole": whole, "parts": parts}).select(pl.concat_list("whole", "parts"))
    long = pl.element().filter(pl.element().str.len_chars() >= shortest)
    return both.to_series().list.eval(long.unique().sort())


def _worths(
    hits: Numbers,
    misses: Numbers,
    kind: ValueKind,
    expected: tuple[tuple[float, ...], tuple[float, ...]],
    linked_prior: float,
    *,
    trusted: bool,
    tuning: AttributeTuning,
) -> Vector:
    """The log-odds of each level from how often links (hits) and any two entities have it.

    ``expected`` is how often they have it before anything is known, links with a pseudo-count.

    An attribute tells nothing until anchors show it, unless it is ``trusted``: to find the first
    anchors, or within one graph.
    Equal values count besides the rarity of the value. Where values have a distance, how likely it
    is that the attribute tells something is the posterior of two models of the hits, the prior of
    links and chance: few anchors then suffice for what is far apart to speak against a pair.
    """
    linked, unlinked = (np.maximum(np.array(each), 1e-9) for each in expected)
    prior = tuning.unlinked_prior
    unlikely = (misses + prior * unlinked) / (misses.sum() + prior)
    prior, telling = linked_prior, 1.0 if trusted else 0.0
    if not trusted and kind in ("number", "date", "point"):
        telling = _telling(hits.astype(np.float64), prior * linked, unlikely, tuning.telling)
    guess = telling * linked + (1 - telling) * unlikely
    likely = (hits + prior * guess) / (hits.sum() + prior)
    worths: Vector = np.maximum(np.log(likely / unlikely), -tuning.cap)
    worths[EQUAL] = np.log(likely[EQUAL])
    if kind == "point" and hits[FAR] <= tuning.most_wrong * hits.sum():
        # A thing is in one place: anchors that are far apart are wrong.
        worths[FAR] = min(worths[FAR], -telling * tuning.apart)
    return worths


def _telling(hits: Vector, linked: Vector, unlikely: Vector, prior: float) -> float:
    """The probability that hits come from a Dirichlet distribution of links, not from chance."""
    ours = math.lgamma(linked.sum()) - math.lgamma(hits.sum() + linked.sum())
    ours += sum(
        math.lgamma(hit + each) - math.lgamma(each)
        for hit, each in zip(hits.tolist(), linked.tolist(), strict=True)
    )
    ratio = ours - float(hits @ np.log(unlikely)) + math.log(prior / (1 - prior))
    return 1 / (1 + math.exp(-min(max(ratio, -50.0), 50.0)))


def _in_words(distance: float, kind: ValueKind) -> str:
    """How far apart two values are.

    >>> _in_words(9120.4, "point"), _in_words(0.571, "number"), _in_words(4000, "date")
    ('9,120 km apart', '57% apart', '11.0 years apart')
    """
    if kind == "point":
        return f"{distance:,.0f} km apart" if distance >= 10 else f"{distance:.1f} km apart"
    if kind == "date":
        days = f"{distance:,.0f} days apart"
        return f"{distance / 365.25:,.1f} years apart" if distance > 366 else days
    if kind == "number":
        return f"{distance:.0%} apart"
    return f"{1 - distance:.2f} alike"


def _have_parts(pair: MatchedPair) -> bool:
    """Whether names of a graph are put together of several attributes, none a usual label.

    Their parts (first name and surname) then count as values too, in both graphs: which of them
    make the name may differ. A name that is one attribute is compared as a name alone.
    """
    chosen = [graph.naming.filter("chosen")["likeness"] for graph in pair.graphs]
    return any(len(likeness) > 1 and not likeness.null_count() for likeness in chosen)


def _both_filled(
    pair: MatchedPair,
    tables: tuple[pl.DataFrame, pl.DataFrame],
    kinds: tuple[Kinds, Kinds],
    pairs: Sequence[tuple[str, str]],
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The values of both graphs with those of corresponding texts that stand in names."""
    texts = [(one, two) for one, two in pairs if kinds[0][one] == kinds[1][two] == "text"]
    back = [(two, one) for one, two in texts]
    left, right = tables
    return _filled(pair.left, left, right, texts), _filled(pair.right, right, left, back)


def _filled(
    graph: MatchedGraph,
    table: pl.DataFrame,
    other: pl.DataFrame,
    pairs: Sequence[tuple[str, str]],
) -> pl.DataFrame:
    """The values, and those of the other graph that an entity lacks but that stand in its name.

    The maker of a product may be a column here and a word of the title there. ``pairs`` are
    attributes of the graph with those of the other graph that correspond. Of several values in a
    name, the longest are taken.
    """
    names = pl.DataFrame(pairs, schema=dict.fromkeys(("own", "attribute"), pl.String), orient="row")
    known = other.filter(pl.col("value").str.contains(WORD)).join(names, on="attribute")
    known = known.select("value", attribute="own").unique()
    words = folded(graph.names, numbers=False).str.split(" ")
    runs = pl.DataFrame({"entity": np.arange(len(words)), "word": words}).explode("word")
    following = [pl.col("word").shift(-step).over("entity") for step in range(MOST_WORDS)]
    found = pl.concat(
        runs.select("entity", value=pl.concat_str(following[:count], separator=" "))
        for count in range(1, MOST_WORDS + 1)
    )
    found = found.drop_nulls().unique().join(known, on="value")
    found = found.join(table, on=["entity", "attribute"], how="anti")
    length = pl.col("value").str.len_chars()
    found = found.filter(length == length.max().over("entity", "attribute"))
    return pl.concat([table, found.select("entity", "attribute", "value").sort(pl.all())])


def value_texts(graph: MatchedGraph, longest: int = TUNING.attributes.longest) -> pl.Series:
    """The values of each entity's attributes in one text, as they are written."""
    is_value = _are_values(graph) & pl.Series(graph.attribute_entities >= 0)
    table = pl.DataFrame(
        {
            "entity": graph.attribute_entities[is_value],
            "attribute": graph.attributes["attribute"].filter(is_value),
            "value": graph.attributes["value"].filter(is_value).str.slice(0, longest),
        }
    )
    return _texts(table, len(graph.entities), longest)


def _are_values(graph: MatchedGraph, *, with_names: bool = False) -> pl.Series:
    """Which attributes are values: those that hold the names are not, unless they count too."""
    return ~graph.attributes["attribute"].is_in(() if with_names else graph.name_paths)


def _canonical_values(
    graph: MatchedGraph, longest: int, *, with_names: bool = False
) -> pl.DataFrame:
    """entity (position), attribute, value in canonical form.

    Names are left out, but those of neighbours are values too: what is a text here may be a
    resource of that name there.
    """
    is_value = _are_values(graph, with_names=with_names)
    said, subjects = graph.attributes.filter(is_value), graph.attribute_entities[is_value]
    head, relation, tail = graph.distinct_triples.T
    table = pl.DataFrame(
        {
            "entity": np.append(subjects, head),
            "attribute": pl.concat([said["attribute"], graph.relations.gather(relation) + NAMED]),
            "value": pl.concat([said["value"].str.slice(0, longest), graph.names.gather(tail)]),
        }
    )
    table = table.filter(pl.col("entity") >= 0)
    texts = table["value"].unique()
    forms = pl.DataFrame({"value": texts, "canonical": canonical(texts)})
    table = (
        table.join(forms, on="value", how="left", maintain_order="left")
        .filter(pl.col("canonical") != "")
        .select("entity", "attribute", value="canonical")
        .unique(maintain_order=True)
    )
    return _with_points(table)


def _with_points(table: pl.DataFrame) -> pl.DataFrame:
    """The values with each latitude and longitude put together to one value."""
    halves: dict[tuple[str, int], str] = {}
    for attribute in table["attribute"].unique().sort():
        for half, pattern in enumerate((LATITUDE, LONGITUDE)):
            if match := pattern.match(attribute):
                halves.setdefault((match[1], half), attribute)
    for prefix in [prefix for prefix, half in halves if not half and (prefix, 1) in halves]:
        names = halves[prefix, 0], halves[prefix, 1]
        # Of several, it is not known which belong together.
        one, other = (
            table.filter(attribute=name).filter(pl.col("entity").is_unique()).drop("attribute")
            for name in names
        )
        both = one.join(other, on="entity", maintain_order="left")
        both = both.with_columns(pl.col("value", "value_right").cast(pl.Float64, strict=False))
        both = both.drop_nulls()
        points = [
            canonical_point(*pair) for pair in both.select("value", "value_right").iter_rows()
        ]
        named = pl.lit(f"{names[0]}, {last_part(names[1])}")
        both = both.select("entity", attribute=named, value=pl.Series(points, dtype=pl.String))
        if len(both) and not both["value"].null_count():
            table = pl.concat([table.filter(~pl.col("attribute").is_in(names)), both])
    return table


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
    found = _without_copies(numbers, tuning)
    if _most_values(found) <= tuning.attributes.most_values:
        return found
    rank = pl.col("many").rank("ordinal").over("entity", "attribute")
    return found.filter(rank <= tuning.attributes.most_values)


def _most_values(table: pl.DataFrame) -> int:
    """The most values that an entity has of one attribute; ranks take much more memory."""
    names = table["attribute"].unique()
    codes = table["attribute"].cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int64)
    keys = np.sort(table["entity"].to_numpy() * np.int64(len(names)) + codes)
    ends = np.flatnonzero(np.append(keys[1:] != keys[:-1], True)[: len(keys)])
    return int(np.diff(ends, prepend=-1).max(initial=0))


def _without_copies(table: pl.DataFrame, tuning: Tuning) -> pl.DataFrame:
    """The values without attributes that repeat another of fewer steps or more statements."""
    sizes = dict(table.group_by("attribute").len().iter_rows())
    width = table["value"].to_numpy().max(initial=0) + 1
    again = table.filter((pl.col("entity") * width + pl.col("value")).is_duplicated())
    both = (
        bounded_join(
            again,
            again.rename({"attribute": "other"}),
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
