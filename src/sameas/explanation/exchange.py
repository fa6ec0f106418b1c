"""What it would take to give an entity a partner that went to someone else.

The pair is forced, and those who lose their partner by it find the best other place: by one
augmenting path each, as in the exact solver. Where the links have the largest total score among
the candidates, so have those afterwards among all that hold the pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sameas.assignment.exchange import force_pair
from sameas.candidates import Candidates, from_pairs
from sameas.explanation.record import Record, opposite
from sameas.explanation.result import Exchange, Side, Step

Mates = dict[int, int]


@dataclass(frozen=True, eq=False)
class Market:
    """Who may be linked at what score, and who is, seen from the explained entity's side."""

    pairs: Candidates
    """Own side first, whichever it is."""
    mates: tuple[Mates, Mates]
    """The partner of each own entity, and of each other one."""

    def partners(self, own: bool, entity: int) -> dict[int, float]:
        """The partners that an entity of either side may have, with their scores."""
        known = self._known[0 if own else 1]
        if entity not in known:
            pairs = self.pairs if own else self._turned
            part = slice(*pairs.starts[entity : entity + 2])
            found, scores = pairs.right[part].tolist(), pairs.values[part].tolist()
            known[entity] = dict(zip(found, scores, strict=True))
        return known[entity]

    def score(self, own: int, other: int) -> float:
        """The score of a pair that is there."""
        return self.partners(True, own)[other]

    @cached_property
    def _known(self) -> tuple[dict[int, dict[int, float]], dict[int, dict[int, float]]]:
        return {}, {}

    @cached_property
    def _turned(self) -> Candidates:
        pairs = self.pairs
        return from_pairs(pairs.shape[::-1], pairs.right, pairs.left, pairs.values)


def market_of(record: Record, side: Side, extra: dict[tuple[int, int], float]) -> Market:
    """The candidates that were kept, links and further pairs (own, other), and the links."""
    own, other = side, opposite(side)
    graphs = record.graph(own), record.graph(other)
    shape = len(graphs[0].entities), len(graphs[1].entities)
    numbers: list[np.ndarray] = []
    scores: list[np.ndarray] = []
    for table in (record.links, record.candidates):
        left, right = graphs[0].positions(table[own]), graphs[1].positions(table[other])
        numbers.append(left * shape[1] + right)
        scores.append(table["score"].to_numpy())
    links = numbers[0]
    numbers.append(np.array([a * shape[1] + b for a, b in extra], dtype=np.int64))
    scores.append(np.array(list(extra.values()), dtype=np.float64))
    every, first = np.unique(np.concatenate(numbers), return_index=True)
    values = np.concatenate(scores)[first]
    pairs = from_pairs(
        shape,
        every // shape[1],
        every % shape[1],
        values,
    )
    ours, theirs = (links // shape[1]).tolist(), (links % shape[1]).tolist()
    mates = dict(zip(ours, theirs, strict=True)), dict(zip(theirs, ours, strict=True))
    return Market(pairs, mates)


def exchange(record: Record, side: Side, market: Market, entity: int, wanted: int) -> Exchange:
    """Who would have to move for an entity to have the partner that it wants, and what it costs."""
    changed = force_pair(market.pairs, market.mates[0], entity, wanted)
    other = opposite(side)
    steps = {}
    for own, after in changed.items():
        before = market.mates[0].get(own, -1)
        steps[own] = Step(
            entity=record.entity(side, own),
            before=record.entity(other, before) if before >= 0 else None,
            before_score=market.score(own, before) if before >= 0 else 0.0,
            after=record.entity(other, after) if after >= 0 else None,
            after_score=market.score(own, after) if after >= 0 else 0.0,
        )
    holder = market.mates[1].get(wanted)
    return Exchange(
        wanted=record.entity(other, wanted),
        score=market.score(entity, wanted),
        holder=None if holder is None else record.entity(side, holder),
        holder_score=0.0 if holder is None else market.score(holder, wanted),
        steps=tuple(steps[own] for own in _in_turn(market, changed, entity)),
        cost=sum(step.before_score - step.after_score for step in steps.values()),
        at_least=_by_prices(record, side, market, entity, wanted),
    )


def _in_turn(market: Market, changed: Mates, entity: int) -> list[int]:
    """Those who change in the order in which one takes from the other."""
    order, own = [], entity
    while own in changed and own not in order:
        order.append(own)
        own = market.mates[1].get(changed[own], -1)
    return order + [own for own in changed if own not in order]


def _by_prices(
    record: Record, side: Side, market: Market, entity: int, wanted: int
) -> float | None:
    """What forcing a pair costs at least, by the exact solver's prices."""
    if record.prices is None:
        return None
    total = 0.0
    for own, position in ((side, entity), (opposite(side), wanted)):
        uri = record.graph(own).entities[position]
        found = record.prices.filter(record.prices["side"] == own, record.prices["entity"] == uri)
        if not len(found):
            return None
        total += float(found["price"][0])
    return max(total - market.score(entity, wanted), 0.0)
