"""The tables that a run recorded, by the positions of entities. Sides are numbered 0 and 1."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl

from sameas.candidates.pairs import Candidates, from_pairs
from sameas.compute.arrays import Positions
from sameas.graph.kind import Kind
from sameas.graph.matched import MatchedGraph, MatchedPair
from sameas.graph.task import Inputs
from sameas.options.options import Options
from sameas.options.tuning import Tuning
from sameas.result.explanation.result import SIDES, Entity, Relation
from sameas.text.languages.support import LanguageSupport


@dataclass(frozen=True, eq=False, kw_only=True)
class RunTables:
    """The graphs and the tables of a run (see ``Alignment``)."""

    pair: MatchedPair
    options: Options
    tuning: Tuning
    inputs: Inputs
    links: pl.DataFrame
    candidates: pl.DataFrame
    unmatched: pl.DataFrame
    anchors: pl.DataFrame | None
    dictionary_anchors: pl.DataFrame | None
    """The links that a dictionary was learnt from."""
    weights: dict[str, float]
    """What each kind of evidence was worth; empty for the defaults."""
    wording: tuple[float, ...] | None
    """What was learned about the words of names within one graph."""
    by_chance: bool
    """Whether anchors told of no attribute, since they may be chance."""
    support: LanguageSupport
    """What names of different languages were compared by."""
    prices: pl.DataFrame | None
    thresholds: dict[str, float]
    """The threshold of each kind of entity; that of all is under ""."""
    chances: dict[str, dict[str, float]]
    """By kind, what was taken to be chance; empty of a version that did not keep it."""

    def kind(self, left: int) -> str:
        """What a left entity is."""
        return Kind(self.pair.compared_kinds[0][left]).name.lower()

    def threshold(self, left: int) -> float:
        """What the score of a left entity's pair must exceed."""
        return self.thresholds.get(self.kind(left), self.thresholds.get("", 0.0))

    def strength(self, left: int, right: int) -> float | None:
        """How strong a pair was that the plan gave the left entity; None for others."""
        uris = (graph.entities[one] for graph, one in zip(self.graphs, (left, right), strict=True))
        one, other = uris
        rows = self.candidates.filter(pl.col("left") == one, pl.col("right") == other)
        strengths: list[float | None] = rows["strength"].to_list()
        return strengths[0] if strengths else None

    def types(self, side: int, position: int) -> list[str]:
        """The types of an entity, by IRI."""
        graph = self.graphs[side]
        numbers = graph.types[graph.types[:, 0] == position, 1]
        return sorted(graph.entities.gather(numbers).to_list())

    @property
    def refined(self) -> bool:
        """Whether scores are log-odds; otherwise they are mean cosines over the hops."""
        return self.options.rounds > 0

    @property
    def graphs(self) -> tuple[MatchedGraph, MatchedGraph]:
        """Both graphs, by the number of their side."""
        return self.pair.left, self.pair.right

    def positions(self, table: pl.DataFrame) -> tuple[Positions, Positions]:
        """The positions of the entities of a table of pairs."""
        return self.pair.left.positions(table["left"]), self.pair.right.positions(table["right"])

    @cached_property
    def kept(self) -> Candidates:
        """All links and candidates with their scores."""
        table = pl.concat([self.links, self.candidates], how="diagonal")
        table = table.unique(["left", "right"], keep="first", maintain_order=True)
        shape = len(self.pair.left.entities), len(self.pair.right.entities)
        return from_pairs(shape, *self.positions(table), table["score"].to_numpy())

    def seen_from(self, side: int) -> Candidates:
        """The same, with the pairs of a side's entities together."""
        return self.kept.transposed if side else self.kept

    @cached_property
    def partners(self) -> tuple[dict[int, int], dict[int, int]]:
        """The partner of each linked entity of either side; of several, the last one."""
        left, right = (each.tolist() for each in self.positions(self.links))
        return dict(zip(left, right, strict=True)), dict(zip(right, left, strict=True))

    @cached_property
    def counterparts(self) -> dict[int, int]:
        """The partner of each left entity by the links, or else by the anchors."""
        if self.anchors is None:
            return self.partners[0]
        left, right = (each.tolist() for each in self.positions(self.anchors))
        return dict(zip(left, right, strict=True)) | self.partners[0]

    def of(self, side: int, position: int) -> dict[str, Any]:
        """An entity's confidence, reason, candidate and price; None where there is none."""
        name, uri = SIDES[side], self.graphs[side].entities[position]
        recorded: dict[str, Any] = dict.fromkeys(("confidence", "reason", "candidate", "price"))
        for row in self.links.filter(pl.col(name) == uri).iter_rows(named=True):
            recorded["confidence"] = row["confidence"]
        for table in (self.unmatched, self.prices):
            if table is not None:
                for row in table.filter(side=name, entity=uri).iter_rows(named=True):
                    recorded |= row
        return recorded

    def was_among(self, side: int, position: int) -> bool:
        """Whether an entity was to be linked: it is linked now, or unmatched."""
        return position in self.partners[side] or self.of(side, position)["reason"] is not None

    def entity(self, side: int, position: int) -> Entity:
        """The entity at a position."""
        graph = self.graphs[side]
        return Entity(graph.entities[position], graph.names[position])

    def find(self, side: int, position: int) -> Entity | None:
        """The entity at a position; none for -1."""
        return None if position < 0 else self.entity(side, position)

    def scores(self, side: int, position: int) -> dict[int, float]:
        """The kept candidates of an entity with their scores, best first."""
        kept, uris = self.seen_from(side), self.graphs[1 - side].entities
        part = slice(*kept.starts[position : position + 2])
        scored = zip(kept.right[part].tolist(), kept.values[part].tolist(), strict=True)
        return dict(sorted(scored, key=lambda one: (-one[1], uris[one[0]])))

    def around(self, side: int, position: int) -> dict[int, tuple[Relation, ...]]:
        """The neighbours of an entity, with all relations that lead to each."""
        graph, edges = self.graphs[side], set[tuple[int, bool, int]]()
        for inverse, (near, far) in ((False, (0, 2)), (True, (2, 0))):
            for triple in graph.triples[graph.triples[:, near] == position].tolist():
                edges.add((triple[far], inverse, triple[1]))
        relations: dict[int, tuple[Relation, ...]] = {}
        for far, inverse, relation in sorted(edges):
            if far != position:
                relations[far] = (
                    *relations.get(far, ()),
                    Relation(graph.relations[relation], inverse),
                )
        return relations


def both_ways(tables: RunTables) -> RunTables:
    """The tables of a run within one graph, where a pair has no left and no right side.

    Each pair is there both ways round, and each unmatched entity on both sides.
    """

    def turned(table: pl.DataFrame) -> pl.DataFrame:
        other = table.rename({"left": "right", "right": "left"}).select(table.columns)
        pairs = pl.concat([table, other])
        return pairs.unique(["left", "right"], keep="first", maintain_order=True)

    others = tables.unmatched.filter(side=SIDES[0]).with_columns(side=pl.lit(SIDES[1]))
    return replace(
        tables,
        links=turned(tables.links),
        candidates=turned(tables.candidates),
        unmatched=pl.concat([tables.unmatched.filter(side=SIDES[0]), others]),
    )
