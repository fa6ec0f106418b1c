"""What a graph says of each entity: values and neighbours by property, and types."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from sameas.compute.arrays import Mask, Positions
from sameas.graph.graph import positions_of
from sameas.graph.iri import TYPE, is_iri
from sameas.graph.labels import names_from_uris
from sameas.graph.matched import MatchedGraph
from sameas.graph.semantics.paths import SEPARATOR
from sameas.options.tuning import TUNING, Tuning
from sameas.similarity.values import canonical
from sameas.text.folding import folded

INVERSE = "^"
"""What the id of a relation that is read from its object to its subject begins with."""
SUBCLASS = "http://www.w3.org/2000/01/rdf-schema#subClassOf"


@dataclass(frozen=True, eq=False)
class SortedIds:
    """Distinct ids, sorted so that a few can be looked up without a pass over all."""

    ordered: pl.Series
    places: Positions
    """The position of each of them before they were sorted."""

    def positions(self, ids: Sequence[str | None]) -> Positions:
        """The position of each of these ids, -1 where it is missing or None."""
        most = len(self.ordered)
        places = np.full(len(ids), -1, dtype=np.int64)
        for number, id in enumerate(ids):
            if id is None:
                continue
            place = bisect_left(self.ordered, id)  # both sort by code points
            if place < most and self.ordered[place] == id:
                places[number] = self.places[place]
        return places


def sort_ids(ids: pl.Series) -> SortedIds:
    """Distinct ids, to be looked up."""
    order = ids.arg_sort()
    return SortedIds(ids.gather(order), order.to_numpy().astype(np.int64))


@dataclass(frozen=True, eq=False)
class Terms:
    """Types or properties: ids with names and how many entities have each, frequent ones first."""

    ids: pl.Series
    names: pl.Series
    counts: NDArray[np.int64]

    @cached_property
    def labels(self) -> list[dict[str, str]]:
        """The id and the name of each, as the API gives them."""
        terms = zip(self.ids, self.names, strict=True)
        return [{"id": id, "name": name or id} for id, name in terms]

    def positions(self, ids: pl.Series) -> Positions:
        """The number of each of these ids, -1 where it is missing."""
        return positions_of(ids, self.ids)

    def suggested(self, text: str) -> Positions:
        """Those with a text in their name, or of that id; names that start with it first."""
        wanted = folded(pl.Series([text]))[0]
        names = folded(self.names)
        first = (names.str.starts_with(wanted) | (self.ids == text)).to_numpy()
        matching = np.flatnonzero(first | names.str.contains(wanted, literal=True).to_numpy())
        return matching[np.argsort(~first[matching], kind="stable")]


@dataclass(frozen=True, eq=False)
class Facts:
    """Statements by entity: those of entity i are at starts[i]:starts[i + 1]."""

    starts: Positions
    property: NDArray[np.int32]
    """Its number among ``properties``."""
    tail: Positions
    """The entity that a statement leads to, -1 for a text."""
    text: pl.Series
    """The value, or the name of the entity that a statement leads to."""
    form: Positions
    """The number of the value in its canonical form."""
    many: Positions
    """How many entities have that value of that property."""
    shown: Mask
    """False for the further names of neighbours, which are only compared."""
    forms: pl.Series
    """The canonical forms, ascending."""
    by_value: Positions
    """The statements in the order of property and canonical form, which is that of ``keys``."""
    keys: Positions
    properties: Terms

    def of(self, entity: int, property: int | None = None) -> Positions:
        """The statements of an entity to be shown, about one property or about all."""
        every = np.arange(self.starts[entity], self.starts[entity + 1])
        every = every[self.shown[every]]
        return every if property is None else every[self.property[every] == property]

    def about(self, entities: Positions, property: int) -> tuple[Positions, Positions]:
        """The statements of entities about a property: places in ``entities``, and statements."""
        sizes = self.starts[entities + 1] - self.starts[entities]
        line = np.repeat(np.arange(len(entities)), sizes)
        within = np.arange(len(line)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        indices = self.starts[entities][line] + within
        kept = self.property[indices] == property
        return line[kept], indices[kept]

    def entities_with(self, property: int, form: int) -> Positions:
        """The entities that have a value of a property; a form below zero is none."""
        if form < 0:
            return np.zeros(0, dtype=np.int64)
        key = property * np.int64(len(self.forms)) + form
        first, last = np.searchsorted(self.keys, [key, key + 1])
        return np.searchsorted(self.starts, self.by_value[first:last], side="right") - 1


@dataclass(frozen=True, eq=False)
class Types:
    """The types of entities: those of entity i are at starts[i]:starts[i + 1] of ``type``."""

    terms: Terms
    starts: Positions
    type: Positions
    narrower: csr_array
    """(types, types): not zero where the second is stated to be a subclass of the first."""

    def of(self, entity: int) -> Positions:
        """The types of an entity."""
        return self.type[self.starts[entity] : self.starts[entity + 1]]

    def members(self, ids: Sequence[str], *, all: bool = False) -> Mask:
        """Which entities have one of these types, or all of them; subclasses count."""
        entities = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        masks = np.zeros((len(ids), len(self.starts) - 1), dtype=np.bool_)
        numbers = self.terms.positions(pl.Series(ids, dtype=pl.String)).tolist()
        for mask, number in zip(masks, numbers, strict=True):
            if number >= 0:
                below = breadth_first_order(self.narrower, number, return_predecessors=False)
                mask[entities[np.isin(self.type, below)]] = True
        return np.asarray(masks.all(axis=0) if all else masks.any(axis=0))


def read_facts(graph: MatchedGraph, *, tuning: Tuning = TUNING) -> Facts:
    """All statements of a graph."""
    table = (
        _statements(graph, tuning.reconcile.most_subjects)
        .filter(pl.col("entity") >= 0)
        .unique(maintain_order=True)
    )
    properties = _terms(table["id"], table["entity"])
    texts = table["text"].unique()
    plain = canonical(texts.str.slice(0, tuning.attributes.longest))
    forms = plain.unique().sort()
    numbers = pl.DataFrame({"text": texts, "form": forms.search_sorted(plain).cast(pl.Int64)})
    table = (
        table.with_columns(property=properties.positions(table["id"]))
        .join(numbers, on="text", how="left", maintain_order="left")
        .with_columns(many=pl.col("entity").n_unique().over("property", "form").cast(pl.Int64))
        .sort("entity", "property", maintain_order=True)
    )
    keys = table["property"].to_numpy() * np.int64(len(forms)) + table["form"].to_numpy()
    order = np.argsort(keys, kind="stable")
    return Facts(
        starts=np.searchsorted(table["entity"].to_numpy(), np.arange(len(graph.entities) + 1)),
        property=table["property"].to_numpy().astype(np.int32),
        tail=table["tail"].to_numpy(),
        text=table["text"],
        form=table["form"].to_numpy(),
        many=table["many"].to_numpy(),
        shown=table["shown"].to_numpy(),
        forms=forms,
        by_value=order,
        keys=keys[order],
        properties=properties,
    )


def _statements(graph: MatchedGraph, most_subjects: int) -> pl.DataFrame:
    """entity, id (of the property), text, tail, shown: values, neighbours, their further names.

    Neighbours are those that relations lead to, and by the inverse property those they come from.
    """
    forth = pl.DataFrame(graph.distinct_triples, schema=["entity", "relation", "tail"])
    forth = forth.with_columns(id=pl.lit(graph.relations).gather("relation"))
    few = pl.len().over("relation", "tail") <= most_subjects
    back = forth.filter(few, ~pl.col("id").is_in([TYPE, SUBCLASS])).with_columns(
        entity="tail", tail="entity", id=INVERSE + pl.col("id")
    )
    ends = pl.concat([forth, back]).drop("relation")
    said, others = graph.attributes, graph.alternatives
    values = pl.DataFrame(
        {"entity": graph.positions(said["entity"]), "id": said["attribute"], "text": said["value"]}
    ).with_columns(tail=pl.lit(-1, dtype=pl.Int64))
    neighbours = ends.with_columns(text=pl.lit(graph.names).gather("tail"))
    more = pl.DataFrame({"tail": graph.positions(others["entity"]), "text": others["name"]})
    further = ends.join(more, on="tail", maintain_order="left").with_columns(shown=False)
    shown = [table.with_columns(shown=True) for table in (values, neighbours)]
    return pl.concat([*shown, further], how="diagonal")


def read_types(graph: MatchedGraph) -> Types:
    """The types of a graph's entities, and which are subclasses of which."""
    triples, (entity, kind) = graph.distinct_triples, graph.types.T
    is_subclass = (graph.relations == SUBCLASS).to_numpy()[triples[:, 1]]
    below, above = triples[is_subclass][:, [0, 2]].T
    holders = pl.Series(entity), pl.Series([None] * (2 * len(above)), dtype=pl.Int64)
    classes = graph.entities.gather(np.concatenate([kind, below, above]))
    terms = _terms(classes, pl.concat(holders))
    number = terms.positions(classes)
    kinds, lower, upper = np.split(number, [len(kind), len(kind) + len(below)])
    shape = len(terms.ids), len(terms.ids)
    narrower = csr_array((np.ones(len(lower)), (upper, lower)), shape=shape)
    names = graph.names.gather(graph.positions(terms.ids))
    starts = np.searchsorted(entity, np.arange(len(graph.entities) + 1))
    return Types(Terms(terms.ids, names, terms.counts), starts, kinds, narrower)


def _terms(ids: pl.Series, entities: pl.Series) -> Terms:
    """The distinct ids, named by the last parts of their IRIs."""
    table = pl.DataFrame({"id": ids, "entity": entities}, schema_overrides={"id": pl.String})
    counts = table.group_by("id").agg(count=pl.col("entity").drop_nulls().n_unique())
    counts = counts.sort("count", "id", descending=[True, False])
    steps = counts.select("id", step=pl.col("id").str.split(SEPARATOR)).explode("step")
    named = steps.with_columns(step=names_from_uris(steps["step"]))
    names = named.group_by("id", maintain_order=True).agg(pl.col("step").str.join(SEPARATOR))
    inverse = pl.format("is {} of", "step")
    shown = names.select(
        pl.when(pl.col("id").str.starts_with(INVERSE)).then(inverse).otherwise("step")
    )
    return Terms(counts["id"], shown.to_series(), counts["count"].cast(pl.Int64).to_numpy())


def common_namespace(ids: pl.Series) -> str | None:
    """The beginning that most IRIs have in common; None if most are no IRIs."""
    spaces = ids.str.extract(r"^\^?(.*[/#:])[^/#:]*$").drop_nulls().value_counts(sort=True)
    if not len(spaces) or spaces["count"][0] * 2 < len(ids):
        return None
    return spaces.to_series(0)[0] if is_iri(f"{spaces.to_series(0)[0]}x") else None
