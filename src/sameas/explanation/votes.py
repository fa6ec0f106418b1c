"""What sure links among the neighbours say about one pair, neighbour by neighbour.

The slow and readable twin of ``sameas.evidence.gather_evidence``, for one pair at a time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.evidence import (
    CAP,
    Anchors,
    Edges,
    Relations,
    attributes_of,
    common_values,
    edges_of,
    match_relations,
)
from sameas.explanation.record import Record
from sameas.explanation.result import Detail, Entity, Relation, Side
from sameas.graph import Positions
from sameas.refinement import Weights

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Shared:
    """A far node that both have, through the edges (of either side) that say most."""

    far: tuple[int, int]
    edge: tuple[int, int]
    share: float

    @property
    def vote(self) -> float:
        """What it adds to the votes."""
        return -math.log1p(-self.share)


@dataclass(frozen=True)
class Lacking:
    """A far node of one side whose counterpart the other entity lacks."""

    far: int
    counterpart: int
    edge: int
    weight: float


@dataclass(frozen=True)
class Testimony:
    """All that anchored neighbours say about one pair."""

    shared: tuple[Shared, ...]
    left_lacks: tuple[Lacking, ...]
    """Of the right entity."""
    right_lacks: tuple[Lacking, ...]

    @property
    def votes(self) -> float:
        """The sum of all votes."""
        return sum(shared.vote for shared in self.shared)

    def lack(self, side: Side) -> float:
        """The weight of all that one side lacks."""
        return sum(one.weight for one in (self.left_lacks if side == "left" else self.right_lacks))


@dataclass(frozen=True, eq=False)
class Witnesses:
    """Edges, anchors and relation matches: what testimonies are made from."""

    record: Record
    edges: tuple[Edges, Edges]
    relations: Relations
    partner: tuple[Positions, Positions]
    """The counterpart of each left far node, and of each right one; -1 for none."""
    trust: tuple[Vector, Vector]

    @cached_property
    def matches(self) -> dict[tuple[int, int], float]:
        """How well a left and a right relation match, where they do."""
        found = self.relations
        pairs = zip(found.left.tolist(), found.right.tolist(), strict=True)
        return dict(zip(pairs, found.match.tolist(), strict=True))

    @cached_property
    def values(self) -> pl.Series:
        """The literal values among the far nodes."""
        return common_values(self.record.pair)

    def testimony(self, left: int, right: int) -> Testimony:
        """What anchored neighbours say about a pair."""
        ours, theirs = self._far_nodes(0, left), self._far_nodes(1, right)
        shared = []
        for far, edges in ours.items():
            other = int(self.partner[0][far])
            best = self._best_match(edges, theirs.get(other, []), float(self.trust[0][far]))
            if best is not None:
                shared.append(Shared((far, other), best[1], best[0]))
        met = {one.far[0] for one in shared}, {one.far[1] for one in shared}
        return Testimony(
            tuple(shared), self._lacking(1, theirs, met[1]), self._lacking(0, ours, met[0])
        )

    def detail(self, shared: Shared, score: float) -> Detail:
        """A shared neighbour or value in words and figures."""
        fans = [int(self.edges[side].fans[shared.edge[side]]) for side in (0, 1)]
        relations = [(self._relation(side, shared.edge[side]),) for side in (0, 1)]
        return Detail(
            score=score,
            text=self._text(shared.far[0]),
            left=self._entity("left", shared.far[0]),
            right=self._entity("right", shared.far[1]),
            left_relations=relations[0],
            right_relations=relations[1],
            left_fans=fans[0],
            right_fans=fans[1],
            amount=shared.share,
        )

    def lacking_detail(self, lacking: Lacking, holder: Side, score: float) -> Detail:
        """A neighbour or value that only ``holder`` has, and its counterpart."""
        number = 0 if holder == "left" else 1
        fars = (lacking.far, lacking.counterpart)
        left, right = fars if holder == "left" else fars[::-1]
        relation = (self._relation(number, lacking.edge),)
        fans = int(self.edges[number].fans[lacking.edge])
        return Detail(
            score=score,
            text=self._text(left),
            left=self._entity("left", left),
            right=self._entity("right", right),
            left_relations=relation if holder == "left" else (),
            right_relations=relation if holder == "right" else (),
            left_fans=fans if holder == "left" else None,
            right_fans=fans if holder == "right" else None,
            amount=lacking.weight,
        )

    def if_had(self, lacking: Lacking, holder: Side) -> tuple[float, int] | None:
        """The share that a neighbour would have if the other had it too, and through what.

        The other is taken to have it through the relation that says most, besides those entities
        that have it already; None if no relation matches.
        """
        own = 0 if holder == "left" else 1
        edges, others = self.edges[own], self.edges[1 - own]
        relation = int(edges.relation[lacking.edge])
        there = others.relation[others.far == lacking.counterpart]
        best: tuple[float, int] | None = None
        for pair, match in self.matches.items():
            if pair[own] != relation:
                continue
            fans = int((there == pair[1 - own]).sum()) + 1
            share = min(match / math.sqrt(int(edges.fans[lacking.edge]) * fans), CAP)
            share *= float(self.trust[own][lacking.far])
            if best is None or share > best[0]:
                best = share, pair[1 - own]
        return best

    def named(self, side: int, relation: int) -> Relation:
        """A relation by its number."""
        graph = self.record.graph("left" if side == 0 else "right")
        kinds = len(graph.relations)
        if "relations" in self.record.options.without and relation < 2 * kinds:
            return Relation("any relation", False)
        if relation >= 2 * kinds:
            return Relation(attributes_of(self.record.pair)[side][relation - 2 * kinds])
        return Relation(graph.relations[relation % kinds], relation >= kinds)

    def is_value(self, far: int) -> bool:
        """Whether a left far node is a literal value."""
        return far >= len(self.record.pair.left.entities)

    def _relation(self, side: int, edge: int) -> Relation:
        return self.named(side, int(self.edges[side].relation[edge]))

    def _entity(self, side: Side, far: int) -> Entity | None:
        return (
            self.record.entity(side, far) if far < len(self.record.graph(side).entities) else None
        )

    def _text(self, far: int) -> str:
        size = len(self.record.pair.left.entities)
        return str(self.values[far - size]) if far >= size else ""

    def _far_nodes(self, side: int, entity: int) -> dict[int, list[int]]:
        """The edges of an entity by their far node."""
        edges = self.edges[side]
        nodes: dict[int, list[int]] = {}
        for edge in range(int(edges.starts[entity]), int(edges.starts[entity + 1])):
            nodes.setdefault(int(edges.far[edge]), []).append(edge)
        return nodes

    def _best_match(
        self, ours: list[int], theirs: list[int], trust: float
    ) -> tuple[float, tuple[int, int]] | None:
        """The largest share that one far node has through any two relations that match."""
        best: tuple[float, tuple[int, int]] | None = None
        for own in ours:
            for other in theirs:
                pair = int(self.edges[0].relation[own]), int(self.edges[1].relation[other])
                if pair not in self.matches:
                    continue
                fans = int(self.edges[0].fans[own]) * int(self.edges[1].fans[other])
                share = min(self.matches[pair] / math.sqrt(fans), CAP) * trust
                if best is None or share > best[0]:
                    best = share, (own, other)
        return best

    def _lacking(
        self, side: int, nodes: dict[int, list[int]], met: set[int]
    ) -> tuple[Lacking, ...]:
        """The anchored far nodes that are not shared, by how much their lack weighs."""
        cover = self.relations.left_cover if side == 0 else self.relations.right_cover
        found = []
        for far, edges in nodes.items():
            counterpart = int(self.partner[side][far])
            if counterpart < 0 or far in met:
                continue
            worths = [-math.log1p(-float(cover[self.edges[side].relation[e]])) for e in edges]
            edge = edges[int(np.argmax(worths))]
            weight = max(worths) * float(self.trust[side][far])
            found.append(Lacking(far, counterpart, edge, weight))
        return tuple(sorted(found, key=lambda one: (-one.weight, one.far)))


def witnesses_of(record: Record, weights: Weights) -> Witnesses:
    """What the run's anchors have to say, found anew from its graphs."""
    assert record.anchors is not None
    pair = record.pair
    anchors = Anchors(
        pair.left.positions(record.anchors["left"]),
        pair.right.positions(record.anchors["right"]),
        record.anchors["trust"].to_numpy(),
    )
    edges = edges_of(pair, hub=weights.hub, relations="relations" not in record.options.without)
    partners, trusts = [], []
    for own, other, mine, theirs in (
        (edges[0], edges[1], anchors.left, anchors.right),
        (edges[1], edges[0], anchors.right, anchors.left),
    ):
        size = len(own.starts) - 1
        partner = np.full(own.nodes, -1, dtype=np.int64)
        partner[mine] = theirs
        partner[size:] = len(other.starts) - 1 + np.arange(own.nodes - size)
        trust = np.ones(own.nodes)
        trust[mine] = anchors.trust
        partners.append(partner)
        trusts.append(trust)
    return Witnesses(
        record,
        edges,
        match_relations(*edges, anchors),
        (partners[0], partners[1]),
        (trusts[0], trusts[1]),
    )
