"""Graph and GraphPair: what is to be aligned, as tables of text and arrays of positions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

Positions: TypeAlias = NDArray[np.int64]

ATTRIBUTE_SCHEMA = pl.Schema({"entity": pl.String, "attribute": pl.String, "value": pl.String})
ALTERNATIVE_SCHEMA = pl.Schema({"entity": pl.String, "name": pl.String})


@dataclass(frozen=True, eq=False, kw_only=True)
class Graph:
    """One knowledge graph: n entities with names, and m triples between them.

    ``triples`` has shape (m, 3): positions of head in ``entities``, relation in ``relations``
    and tail in ``entities``. Duplicates and loops are kept as they were found; the stages
    that must not count them twice leave them out themselves.
    """

    entities: pl.Series
    """URI (or the input's id) of each entity; distinct."""
    names: pl.Series
    """Text of each entity; empty where there is none."""
    names_given: int = 0
    """How many of the names were given; the others were made from URIs."""
    relations: pl.Series
    triples: Positions
    attributes: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=ATTRIBUTE_SCHEMA))
    """Literal-valued triples: entity, attribute, value."""
    alternatives: pl.DataFrame = field(
        default_factory=lambda: pl.DataFrame(schema=ALTERNATIVE_SCHEMA)
    )
    """Further names, where an entity has more than one: entity, name; the better first."""
    linkable: Positions | None = None
    """Positions of the entities that may be linked, ascending; None for all. The others (blank
    nodes, classes) are neighbours and no more."""
    name_paths: frozenset[str] = frozenset()
    """The attributes that names were taken from; what they say is said by names already."""
    kinds: NDArray[np.int8] | None = None
    """The kind of each entity (sameas.kinds.Kind); None where nothing is known."""
    reading_counts: dict[str, int] = field(default_factory=dict)
    """What there is to tell about reading: statements, malformed ones that were skipped, ..."""

    def __post_init__(self) -> None:
        """Refuse parts that do not belong together."""
        if len(self.names) != len(self.entities):
            raise ValueError(
                f"names must have one row per entity, got {len(self.names)} for "
                f"{len(self.entities)} entities instead"
            )
        if self.entities.n_unique() != len(self.entities):
            raise ValueError("entities must be distinct, got duplicates instead")
        if self.triples.ndim != 2 or self.triples.shape[1] != 3:
            raise ValueError(f"triples must have shape (m, 3), got {self.triples.shape} instead")
        if len(self.triples):
            limits = np.array([len(self.entities), len(self.relations), len(self.entities)])
            if (self.triples < 0).any() or (self.triples >= limits).any():
                raise ValueError(
                    "triples must hold positions in entities and relations, got one out of range"
                )
        if self.linkable is not None and len(self.linkable):
            rising = (np.diff(self.linkable) > 0).all()
            if not rising or self.linkable[0] < 0 or self.linkable[-1] >= len(self.entities):
                raise ValueError(
                    "linkable must hold ascending positions in entities, got others instead"
                )

    def __repr__(self) -> str:
        """Counts instead of contents."""
        return (
            f"Graph({len(self.entities)} entities, {len(self.relations)} relations, "
            f"{len(self.triples)} triples)"
        )

    def distinct_triples(self) -> Positions:
        """The triples without duplicates, sorted; shape (k, 3)."""
        if not len(self.triples):
            return self.triples
        head, relation, tail = self.triples.T
        key = (head * len(self.relations) + relation) * len(self.entities) + tail
        return self.triples[np.unique(key, return_index=True)[1]]

    def positions(self, entities: pl.Series) -> Positions:
        """The position of each of these entities, -1 where it is not in the graph."""
        return positions_of(entities, self.entities)


@dataclass(frozen=True, eq=False, kw_only=True)
class GraphPair:
    """Two graphs that talk about the same things, with gold links where they are known.

    ``gold`` has the columns left and right: entities, by URI.
    """

    left: Graph
    right: Graph
    gold: pl.DataFrame | None = None

    def __repr__(self) -> str:
        """Counts instead of contents."""
        gold = "no gold links" if self.gold is None else f"{len(self.gold)} gold links"
        return f"GraphPair({self.left}, {self.right}, {gold})"


def positions_of(wanted: pl.Series, among: pl.Series) -> Positions:
    """The position of each wanted value in a series of distinct values, -1 where it is missing.

    >>> positions_of(pl.Series(["b", "x"]), pl.Series(["a", "b"]))
    array([ 1, -1])
    """
    index = pl.DataFrame({"key": among, "position": np.arange(len(among), dtype=np.int64)})
    found = pl.DataFrame({"key": wanted.cast(among.dtype)}).join(
        index, on="key", how="left", maintain_order="left"
    )
    return found["position"].fill_null(-1).to_numpy()


def graph_from_triples(
    triples: pl.DataFrame,
    *,
    names: pl.Series | None = None,
    attributes: pl.DataFrame | None = None,
    entities: pl.Series | None = None,
) -> Graph:
    """The graph of a table with the columns head, relation and tail (text).

    Entities are those given, or all heads and tails (and entities of attributes) in order of
    first appearance; ``names`` goes with ``entities``.
    """
    if entities is None:
        ends = triples.select(entity=pl.concat_list("head", "tail")).explode("entity")["entity"]
        if attributes is not None:
            ends = pl.concat([ends, attributes["entity"]])
        entities = ends.unique(maintain_order=True)
    relations = triples["relation"].unique(maintain_order=True)
    columns = [
        positions_of(triples["head"], entities),
        positions_of(triples["relation"], relations),
        positions_of(triples["tail"], entities),
    ]
    return Graph(
        entities=entities,
        names=names if names is not None else pl.Series("name", [""] * len(entities)),
        relations=relations,
        triples=np.stack(columns, axis=1),
        attributes=attributes if attributes is not None else pl.DataFrame(schema=ATTRIBUTE_SCHEMA),
    )
