"""From a finished alignment and an entity to an Explanation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from sameas.assignment.exchange import force_pair
from sameas.candidates import Candidates, from_pairs
from sameas.errors import OptionError
from sameas.explanation import result
from sameas.explanation.lookup import Lookup
from sameas.explanation.result import Comparison, Considered, Explanation, Neighbour, Side
from sameas.explanation.terms import SIDES, Pair, Scores
from sameas.graph import GraphPair
from sameas.inputs import Inputs
from sameas.options import Options

Differences = tuple[tuple[result.Kind, float], ...]

MOST = 10
"""Other candidates, and rivals, that are listed."""
NEIGHBOURS = 40
"""Neighbours of each sort that are listed; others are counted."""
TIE = 1e-6
"""Scores that differ by less are equal."""


@dataclass(frozen=True, eq=False)
class Question:
    """An entity, and the entities of the other side that the answer is about."""

    side: int
    entity: int
    scores: dict[int, float]
    """The scores of all candidates that were kept, best first."""
    partner: int | None
    miss: int | None
    """The best candidate of an unmatched entity."""
    asked: int | None
    """The entity that was asked about."""

    @property
    def chosen(self) -> int | None:
        """The partner, or the nearest miss."""
        return self.miss if self.partner is None else self.partner

    @property
    def shown(self) -> int | None:
        """The entity that the details are about."""
        return self.chosen if self.asked is None else self.asked

    @property
    def wanted(self) -> int | None:
        """The partner that the entity did not get: the one asked about, or the best candidate."""
        if self.asked is not None or self.partner is None:
            return self.shown if self.shown != self.partner else None
        best = next(iter(self.scores))
        return best if self.scores[best] > self.scores[self.partner] + TIE else None

    def pair(self, other: int, entity: int | None = None) -> Pair:
        """The entity (or another one of its side) and one of the other side as left and right."""
        near = self.entity if entity is None else entity
        return (near, other) if self.side == 0 else (other, near)


@dataclass(frozen=True, eq=False, kw_only=True)
class Explainer:
    """Answers questions about one alignment; what is costly is computed once."""

    pair: GraphPair
    options: Options
    inputs: Inputs
    links: pl.DataFrame
    candidates: pl.DataFrame
    unmatched: pl.DataFrame
    anchors: pl.DataFrame | None
    prices: pl.DataFrame | None
    threshold: float | None

    def __post_init__(self) -> None:
        """Refuse methods whose scores are made otherwise."""
        if self.options.method != "seu":
            raise OptionError(
                "explanations are there for method 'seu', got a run of "
                f"{self.options.method!r} instead"
            )

    def explain(
        self, entity: str, other: str | None = None, *, side: Side | None = None
    ) -> Explanation:
        """Why an entity has the partner it has, or none; with ``other``, why not that one.

        The entity is one of either graph (the left one is searched first; ``side`` decides), by
        URI, by name or by the last part of its URI.
        """
        question = self._question(entity, other, side)
        near, place = question.side, question.entity
        chosen = self._compare(question, question.chosen)
        asked = None
        if question.asked is not None:
            same = question.asked == question.chosen
            asked = chosen if same else self._compare(question, question.asked)
        others = [place for place in question.scores if place != question.chosen][:MOST]
        return Explanation(
            side=SIDES[near],
            entity=self.scores.entity(near, place),
            partner=self._entity(1 - near, question.partner),
            confidence=self._confidence[near].get(place),
            reason=self._reason[near].get(place),
            min_confidence=self.options.min_confidence,
            scale="log-odds" if self.options.rounds else "cosine",
            comparison=chosen,
            other=asked,
            others=self._others(question, chosen, others),
            rivals=self._rivals(question),
            wins=self._wins(question),
            exchange=self._exchange(question, asked),
            missing=self._missing(question, asked or chosen),
            neighbourhood=self._neighbourhood(question),
            notes=self._notes(question),
        )

    # --- the tables of the run, by position; each a dict for the left and one for the right ---

    @cached_property
    def scores(self) -> Scores:
        """What the scores of the run were made from."""
        return Scores(
            pair=self.pair,
            options=self.options,
            inputs=self.inputs,
            kept=self._kept[0],
            anchors=self.anchors,
            threshold=self.threshold,
        )

    @cached_property
    def lookup(self) -> Lookup:
        """Entities by URI and by name."""
        return Lookup(self.pair)

    @cached_property
    def _kept(self) -> tuple[Candidates, Candidates]:
        """All links and candidates with their scores, seen from the left and from the right."""
        table = pl.concat([self.links, self.candidates], how="diagonal")
        table = table.unique(["left", "right"], keep="first", maintain_order=True)
        left, right = (
            self.pair.left.positions(table["left"]),
            self.pair.right.positions(table["right"]),
        )
        shape = len(self.pair.left.entities), len(self.pair.right.entities)
        scores = table["score"].to_numpy()
        return from_pairs(shape, left, right, scores), from_pairs(shape[::-1], right, left, scores)

    @cached_property
    def _partner(self) -> list[dict[int, int]]:
        return self._partners(self.links)

    @cached_property
    def _linked(self) -> dict[int, int]:
        """The partner of each left entity by the links, or else by the anchors."""
        return (
            self._partners(self.anchors)[0] if self.anchors is not None else {}
        ) | self._partner[0]

    @cached_property
    def _confidence(self) -> list[dict[int, float]]:
        tables = [self.links.select("confidence", entity=side, side=pl.lit(side)) for side in SIDES]
        return self._by_position(pl.concat(tables), "confidence")

    @cached_property
    def _reason(self) -> list[dict[int, result.Reason]]:
        return self._by_position(self.unmatched, "reason")

    @cached_property
    def _miss(self) -> list[dict[int, str | None]]:
        return self._by_position(self.unmatched, "candidate")

    @cached_property
    def _price(self) -> list[dict[int, float]]:
        return [{}, {}] if self.prices is None else self._by_position(self.prices, "price")

    def _partners(self, links: pl.DataFrame) -> list[dict[int, int]]:
        left = self.pair.left.positions(links["left"]).tolist()
        right = self.pair.right.positions(links["right"]).tolist()
        return [dict(zip(left, right, strict=True)), dict(zip(right, left, strict=True))]

    def _by_position(self, table: pl.DataFrame, column: str) -> list[dict[int, Any]]:
        """A column of a table that has the columns side and entity."""
        found = []
        for side, graph in zip(SIDES, (self.pair.left, self.pair.right), strict=True):
            part = table.filter(table["side"] == side)
            positions = graph.positions(part["entity"]).tolist()
            found.append(dict(zip(positions, part[column].to_list(), strict=True)))
        return found

    # --- the question ---

    def _question(self, entity: str, other: str | None, side: Side | None) -> Question:
        name, place = self.lookup.find(entity, side)
        near = SIDES.index(name)
        found = [
            None if uri is None else self.lookup.find(uri, SIDES[1 - near])[1]
            for uri in (self._miss[near].get(place), other)
        ]
        partner = self._partner[near].get(place)
        return Question(near, place, self._scores(near, place), partner, *found)

    def _scores(self, side: int, entity: int) -> dict[int, float]:
        """The kept candidates of an entity with their scores, best first."""
        kept = self._kept[side]
        part = slice(*kept.starts[entity : entity + 2])
        uris = self.scores.graphs[1 - side].entities
        found = zip(kept.right[part].tolist(), kept.values[part].tolist(), strict=True)
        return dict(sorted(found, key=lambda one: (-one[1], uris[one[0]])))

    def _entity(self, side: int, position: int | None) -> result.Entity | None:
        return None if position is None or position < 0 else self.scores.entity(side, position)

    # --- the answer ---

    def _compare(self, question: Question, other: int | None) -> Comparison | None:
        if other is None:
            return None
        return self.scores.compare([question.pair(other)], details=True)[0]

    def _considered(
        self, side: int, place: int, score: float, differences: Differences = ()
    ) -> Considered:
        linked = self._entity(1 - side, self._partner[side].get(place))
        return Considered(self.scores.entity(side, place), score, linked, differences)

    def _others(
        self, question: Question, chosen: Comparison | None, others: list[int]
    ) -> tuple[Considered, ...]:
        """Other candidates, compared part by part with the one that was chosen."""
        compared = self.scores.compare([question.pair(place) for place in others])
        return tuple(
            self._considered(1 - question.side, place, one.score, _differences(chosen, one))
            for place, one in zip(others, compared, strict=True)
        )

    def _rivals(self, question: Question) -> tuple[Considered, ...]:
        """Other candidates of the partner, or of the nearest miss."""
        if question.chosen is None:
            return ()
        scores = self._scores(1 - question.side, question.chosen)
        scores.pop(question.entity, None)
        return tuple(self._considered(question.side, *one) for one in list(scores.items())[:MOST])

    def _wins(self, question: Question) -> tuple[bool, bool]:
        """Whether no candidate scores higher with the entity, and none with its partner."""
        if question.partner is None:
            return False, False
        most = question.scores[question.partner] + TIE
        rivals = self._scores(1 - question.side, question.partner)
        return max(question.scores.values()) <= most, max(rivals.values()) <= most

    def _exchange(self, question: Question, asked: Comparison | None) -> result.Exchange | None:
        """What it would take to give the entity the partner that it did not get, if any."""
        near, entity, wanted = question.side, question.entity, question.wanted
        partner, refined = question.partner, self.options.rounds > 0
        holder = None if wanted is None else self._partner[1 - near].get(wanted)
        if wanted is None or (holder is None and partner is None):
            return None
        score = question.scores.get(wanted, asked.score if asked else None)
        if score is None or (score <= 0 and partner is None and refined):
            return None
        extra = {(entity, wanted): score}
        if not refined and holder is not None and partner is not None:
            # As published, any pair can be linked: the two that are left over can have each other.
            extra[holder, partner] = self.scores.compare([question.pair(partner, holder)])[0].score
        market = _joined(self._kept[near], extra)
        changed = force_pair(market, self._partner[near], entity, wanted)
        order = _in_turn(changed, entity, self._partner[1 - near])
        steps = tuple(self._step(near, market, one, changed[one]) for one in order)
        prices = [self._price[near].get(entity), self._price[1 - near].get(wanted)]
        known = [price for price in prices if price is not None]
        return result.Exchange(
            wanted=self.scores.entity(1 - near, wanted),
            score=score,
            holder=self._entity(near, holder),
            holder_score=0.0 if holder is None else _value(market, holder, wanted),
            steps=steps,
            cost=sum(step.before_score - step.after_score for step in steps),
            at_least=max(sum(known) - score, 0.0) if len(known) == 2 else None,
        )

    def _step(self, side: int, market: Candidates, entity: int, after: int) -> result.Step:
        before = self._partner[side].get(entity, -1)
        return result.Step(
            entity=self.scores.entity(side, entity),
            before=self._entity(1 - side, before),
            before_score=_value(market, entity, before),
            after=self._entity(1 - side, after),
            after_score=_value(market, entity, after),
        )

    def _missing(self, question: Question, shown: Comparison | None) -> result.Missing | None:
        """What is missing where a score is too low to be linked at all."""
        place = question.shown
        if shown is None or place is None or not self.options.rounds or shown.score > 0:
            return None
        if place == question.partner:
            return None
        return self.scores.missing(question.pair(place), shown.score)

    def _neighbourhood(self, question: Question) -> result.Neighbourhood | None:
        """The neighbours of the two, and which of them are linked with each other."""
        if question.shown is None:
            return None
        left, right = (
            self.scores.around(side, entity)
            for side, entity in enumerate(question.pair(question.shown))
        )
        pairs = {near: far for near in left if (far := self._linked.get(near, -1)) in right}
        met = set(pairs.values())
        rows: tuple[list[tuple[int, int]], ...] = (
            list(pairs.items()),
            [(near, -1) for near in left if near not in pairs],
            [(-1, far) for far in right if far not in met],
        )
        lists = [
            tuple(
                Neighbour(
                    left=self._entity(0, near),
                    left_relations=left.get(near, ()),
                    right=self._entity(1, far),
                    right_relations=right.get(far, ()),
                )
                for near, far in sort[:NEIGHBOURS]
            )
            for sort in rows
        ]
        more = [max(len(sort) - NEIGHBOURS, 0) for sort in rows]
        return result.Neighbourhood(lists[0], lists[1], lists[2], more[0], more[1], more[2])

    def _notes(self, question: Question) -> tuple[result.Note, ...]:
        """What else decides about the entity, or about the pair that is asked about."""
        near, asked = question.side, question.asked
        far = 1 - near
        found: dict[result.Note, bool] = {
            "entity-not-among": question.partner is None
            and question.entity not in self._reason[near]
        }
        if asked is not None:
            found["not-kept"] = asked not in question.scores
            found["other-not-among"] = (
                asked not in self._partner[far] and asked not in self._reason[far]
            )
            rejected = self.inputs.reject
            if rejected is not None:
                left, right = question.pair(asked)
                same = rejected["left"] == self.pair.left.entities[left]
                same &= rejected["right"] == self.pair.right.entities[right]
                found["rejected"] = same.any()
        return tuple(note for note, holds in found.items() if holds)


def _differences(chosen: Comparison | None, other: Comparison) -> Differences:
    """How the parts of another pair differ from those of the chosen one, most first."""
    if chosen is None:
        return ()
    changes: dict[result.Kind, float] = {}
    for comparison, sign in ((other, 1), (chosen, -1)):
        for part in comparison.parts:
            changes[part.kind] = changes.get(part.kind, 0.0) + sign * part.score
    found = [(kind, change) for kind, change in changes.items() if abs(change) > 1e-9]
    return tuple(sorted(found, key=lambda one: (-abs(one[1]), one[0])))


def _joined(kept: Candidates, extra: dict[Pair, float]) -> Candidates:
    """The candidates and further pairs, where these are not among them yet."""
    left, right = np.array(list(extra), dtype=np.int64).T
    new = kept.find(left, right) < 0
    if not new.any():
        return kept
    return kept.joined(left[new], right[new], np.array(list(extra.values()))[new])


def _value(candidates: Candidates, left: int, right: int) -> float:
    """The score of a pair; zero for no partner (-1)."""
    if right < 0:
        return 0.0
    return float(candidates.values[candidates.find(np.array([left]), np.array([right]))[0]])


def _in_turn(changed: dict[int, int], first: int, holders: dict[int, int]) -> list[int]:
    """The entities that change, in the order in which one takes from the next."""
    order, entity = [], first
    while entity in changed and entity not in order:
        order.append(entity)
        entity = holders.get(changed[entity], -1)
    return order + [entity for entity in changed if entity not in order]
