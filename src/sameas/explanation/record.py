"""What a run recorded, by the positions of entities. Sides are numbered 0 and 1."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from sameas.blocks import Aids
from sameas.candidates import Candidates, from_pairs
from sameas.evidence import Edges, edges_of
from sameas.explanation.result import Entity, Relation, Side
from sameas.graph import Graph, GraphPair, Positions
from sameas.inputs import Inputs
from sameas.options import Options
from sameas.understanding import Kind

SIDES: tuple[Side, Side] = ("left", "right")


@dataclass(frozen=True, eq=False, kw_only=True)
class Record:
    """The graphs and the tables of a run (see ``Alignment``)."""

    pair: GraphPair
    options: Options
    inputs: Inputs
    links: pl.DataFrame
    candidates: pl.DataFrame
    unmatched: pl.DataFrame
    anchors: pl.DataFrame | None
    taught: pl.DataFrame | None
    """The links that a dictionary was learnt from."""
    weights: dict[str, float]
    """What each kind of evidence was worth; empty for the defaults."""
    aids: Aids
    """What names of different languages were compared by."""
    prices: pl.DataFrame | None
    thresholds: dict[str, float]
    """The threshold of each kind of entity; that of all is under ""."""

    def threshold(self, left: int) -> float:
        """What the score of a left entity's pair must exceed."""
        kinds = self.pair.left.kinds
        kind = "" if kinds is None else Kind(kinds[left]).name.lower()
        return self.thresholds.get(kind, self.thresholds.get("", 0.0))

    @property
    def refined(self) -> bool:
        """Whether scores are log-odds; otherwise they are mean cosines over the hops."""
        return self.options.rounds > 0

    @property
    def graphs(self) -> tuple[Graph, Graph]:
        """Both graphs, by the number of their side."""
        return self.pair.left, self.pair.right

    def positions(self, table: pl.DataFrame) -> tuple[Positions, Positions]:
        """The positions of the entities of a table of pairs."""
        return self.pair.left.positions(table["left"]), self.pair.right.positions(table["right"])

    @cached_property
    def kept(self) -> tuple[Candidates, Candidates]:
        """All links and candidates with their scores, seen from the left and from the right."""
        table = pl.concat([self.links, self.candidates], how="diagonal")
        table = table.unique(["left", "right"], keep="first", maintain_order=True)
        (left, right), scores = self.positions(table), table["score"].to_numpy()
        shape = len(self.pair.left.entities), len(self.pair.right.entities)
        return from_pairs(shape, left, right, scores), from_pairs(shape[::-1], right, left, scores)

    @cached_property
    def partners(self) -> tuple[dict[int, int], dict[int, int]]:
        """The partner of each linked entity of either side."""
        return self._both_ways(self.links)

    @cached_property
    def counterparts(self) -> dict[int, int]:
        """The partner of each left entity by the links, or else by the anchors."""
        known = {} if self.anchors is None else self._both_ways(self.anchors)[0]
        return known | self.partners[0]

    def _both_ways(self, table: pl.DataFrame) -> tuple[dict[int, int], dict[int, int]]:
        left, right = (positions.tolist() for positions in self.positions(table))
        return dict(zip(left, right, strict=True)), dict(zip(right, left, strict=True))

    def of(self, side: int, position: int) -> dict[str, Any]:
        """An entity's confidence, reason, candidate and price, as far as there are any."""
        return self._of_entities[side].row(position, named=True)

    @cached_property
    def _of_entities(self) -> list[pl.DataFrame]:
        tables = []
        for side, graph in zip(SIDES, self.graphs, strict=True):
            table = pl.DataFrame({"entity": graph.entities.cast(pl.String)})
            links = self.links.select("confidence", entity=side, side=pl.lit(side))
            prices = [] if self.prices is None else [self.prices]
            for found in (links, self.unmatched, *prices):
                known = found.filter(pl.col("side") == side).drop("side", "score", strict=False)
                table = table.join(known, on="entity", how="left", maintain_order="left")
            tables.append(table)
        return tables

    def entity(self, side: int, position: int) -> Entity:
        """The entity at a position."""
        graph = self.graphs[side]
        return Entity(graph.entities[position], graph.names[position] or "")

    def find(self, side: int, position: int) -> Entity | None:
        """The entity at a position; none for -1."""
        return None if position < 0 else self.entity(side, position)

    def scores(self, side: int, position: int) -> dict[int, float]:
        """The kept candidates of an entity with their scores, best first."""
        kept, uris = self.kept[side], self.graphs[1 - side].entities
        part = slice(*kept.starts[position : position + 2])
        found = zip(kept.right[part].tolist(), kept.values[part].tolist(), strict=True)
        return dict(sorted(found, key=lambda one: (-one[1], uris[one[0]])))

    def around(self, side: int, position: int) -> dict[int, tuple[Relation, ...]]:
        """The neighbours of an entity, with all relations that lead to each."""
        edges, graph = self._every_edge[side], self.graphs[side]
        part, kinds = slice(*edges.starts[position : position + 2]), len(graph.relations)
        found: dict[int, tuple[Relation, ...]] = {}
        for relation, far in zip(edges.relation[part], edges.far[part].tolist(), strict=True):
            if far < len(graph.entities):
                name = Relation(graph.relations[int(relation) % kinds], bool(relation >= kinds))
                found[far] = (*found.get(far, ()), name)
        return found

    @cached_property
    def _every_edge(self) -> tuple[Edges, Edges]:
        """All edges, those to hubs included."""
        return edges_of(self.pair, hub=sys.maxsize)
