"""From a finished alignment and an entity to an Explanation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sameas.assignment.exchange import force_pair
from sameas.candidates.pairs import Candidates
from sameas.errors import OptionError
from sameas.options.options import Side
from sameas.result.explanation import result
from sameas.result.explanation.contradictions import contradictions_of
from sameas.result.explanation.lookup import find_entity
from sameas.result.explanation.result import (
    SIDES,
    Comparison,
    Considered,
    Contradiction,
    Neighbours,
    Weighing,
)
from sameas.result.explanation.sentences import Explanation
from sameas.result.explanation.tables import RunTables
from sameas.result.explanation.terms import Decomposition, Pair

MOST = 10
"""Other candidates, and rivals, that are listed."""
NEIGHBOURS = 40
"""Neighbours of each sort that are listed; others are counted."""


def explain(
    run: Decomposition, entity: str, other: str | None = None, side: Side | None = None
) -> Explanation:
    """Why an entity has the partner it has, or none; with ``other``, why not that one.

    The entity is one of either graph (the left one is searched first; ``side`` decides), by
    URI, by name or by the last part of its URI.
    """
    tables = run.tables
    if tables.options.method != "seu":
        raise OptionError(
            "explanations are there for method 'seu', got a run of "
            f"{tables.options.method!r} instead"
        )
    near, place = find_entity(tables.pair, entity, side)
    partner = tables.partners[near].get(place, -1)
    miss, asked = (
        -1 if uri is None else find_entity(tables.pair, uri, SIDES[1 - near])[1]
        for uri in (tables.of(near, place)["candidate"], other)
    )
    chosen = miss if partner < 0 else partner
    return Question(run, near, place, partner, chosen, asked).answer()


@dataclass(frozen=True, eq=False)
class Question:
    """An entity of the near side, and those of the far side that the answer is about.

    Entities are positions, -1 where there is none.
    """

    run: Decomposition
    near: int
    entity: int
    partner: int
    chosen: int
    """The partner, or the nearest miss of an unmatched entity."""
    asked: int
    """The entity that was asked about."""

    def answer(self) -> Explanation:
        """The whole explanation."""
        tables, recorded = self.tables, self.tables.of(self.near, self.entity)
        used = {"embedding": tables.support.encoder, "dictionary": tables.support.learnt}
        return Explanation(
            side=SIDES[self.near],
            entity=tables.entity(self.near, self.entity),
            partner=tables.find(1 - self.near, self.partner),
            confidence=recorded["confidence"],
            reason=recorded["reason"],
            min_confidence=tables.options.min_confidence,
            scale="log-odds" if tables.refined else "cosine",
            comparison=self.compared.get(self.chosen),
            other=self.compared.get(self.asked),
            others=self._others(),
            rivals=self._rivals(),
            exchange=self._exchange(),
            missing=self._missing(),
            neighbourhood=self._neighbourhood(),
            weighing=self._weighing(),
            against=self._against(),
            notes=self._notes(),
            weights={name: w for name, w in tables.weights.items() if used.get(name, True)},
        )

    @property
    def tables(self) -> RunTables:
        """What the run recorded."""
        return self.run.tables

    @cached_property
    def candidates(self) -> dict[int, float]:
        """The scores of all candidates that were kept, best first."""
        return self.tables.scores(self.near, self.entity)

    @cached_property
    def compared(self) -> dict[int, Comparison]:
        """The chosen pair and the one asked about, taken apart."""
        positions = {place for place in (self.chosen, self.asked) if place >= 0}
        pairs = [self._pair(place) for place in positions]
        return dict(zip(positions, self.run.compare(pairs, details=True), strict=True))

    @property
    def shown(self) -> int:
        """The entity that the details are about."""
        return self.chosen if self.asked < 0 else self.asked

    @property
    def wanted(self) -> int:
        """The partner that the entity did not get: the one asked about, or the best candidate."""
        if self.asked >= 0 or self.partner < 0:
            return self.shown if self.shown != self.partner else -1
        best = next(iter(self.candidates))
        tie = self.run.tables.tuning.open.tie
        return best if self.candidates[best] > self.candidates[self.partner] + tie else -1

    def _pair(self, far: int, near: int | None = None) -> Pair:
        """The entity (or another one of its side) and one of the other side as left and right."""
        near = self.entity if near is None else near
        return (near, far) if self.near == 0 else (far, near)

    # --- other candidates ---

    def _others(self) -> tuple[Considered, ...]:
        """Other candidates, compared part by part with the one that was chosen."""
        chosen = self.compared.get(self.chosen)
        others = [place for place in self.candidates if place != self.chosen][:MOST]
        pairs = self.run.compare([self._pair(place) for place in others])
        return tuple(
            self._considered(1 - self.near, place, pair.score, _differences(chosen, pair))
            for place, pair in zip(others, pairs, strict=True)
        )

    def _rivals(self) -> tuple[Considered, ...]:
        """Other candidates of the entity that the details are about."""
        scores = self.tables.scores(1 - self.near, self.shown) if self.shown >= 0 else {}
        others = [place for place in scores if place != self.entity][:MOST]
        return tuple(self._considered(self.near, one, scores[one]) for one in others)

    def _considered(
        self, side: int, place: int, score: float, differences: result.Differences = ()
    ) -> Considered:
        linked = self.tables.find(1 - side, self.tables.partners[side].get(place, -1))
        return Considered(self.tables.entity(side, place), score, linked, differences)

    # --- what would have to change ---

    def _exchange(self) -> result.Exchange | None:
        """What it would take to give the entity the partner that it did not get, if any.

        Within one graph, an entity may have any number of partners.
        """
        near, entity, wanted, tables = self.near, self.entity, self.wanted, self.tables
        if tables.pair.is_one_graph:
            return None
        holder = tables.partners[1 - near].get(wanted, -1)
        if wanted < 0 or max(holder, self.partner) < 0:
            return None
        score = self.candidates.get(wanted)
        score = self.compared[wanted].score if score is None else score
        if score <= 0 and self.partner < 0 and tables.refined:
            return None
        extra = {(entity, wanted): score}
        if not tables.refined and min(holder, self.partner) >= 0:
            # As published, any pair can be linked: the two that are left over can have each other.
            left_over = self.run.compare([self._pair(self.partner, holder)])[0]
            extra[holder, self.partner] = left_over.score
        market, (left, right) = tables.seen_from(near), np.array(list(extra), dtype=np.int64).T
        new = market.find(left, right) < 0
        market = market.joined(left[new], right[new], np.array(list(extra.values()))[new])
        numbers = tables.tuning.assignment
        changed = force_pair(market, tables.partners[near], entity, wanted, tuning=numbers)
        order = _in_turn(changed, entity, tables.partners[1 - near])
        steps = tuple(self._step(market, one, changed[one]) for one in order)
        prices = tables.of(near, entity)["price"], tables.of(1 - near, wanted)["price"]
        return result.Exchange(
            wanted=tables.entity(1 - near, wanted),
            score=score,
            holder=tables.find(near, holder),
            holder_score=_value(market, holder, wanted),
            steps=steps,
            cost=sum(step.before_score - step.after_score for step in steps),
            at_least=None if None in prices else max(sum(prices) - score, 0.0),
        )

    def _step(self, market: Candidates, entity: int, after: int) -> result.Step:
        before = self.tables.partners[self.near].get(entity, -1)
        return result.Step(
            entity=self.tables.entity(self.near, entity),
            before=self.tables.find(1 - self.near, before),
            before_score=_value(market, entity, before),
            after=self.tables.find(1 - self.near, after),
            after_score=_value(market, entity, after),
        )

    def _missing(self) -> result.Missing | None:
        """What is missing where a score is too low to be linked at all."""
        if self.shown in (self.partner, -1) or not self.tables.refined:
            return None
        score = self.compared[self.shown].score
        if score > 0:
            return None
        return result.Missing(-score, self.run.best_addition(self._pair(self.shown)))

    # --- what chance gives, and what contradicts ---

    def _weighing(self) -> Weighing | None:
        """The pair that the details are about, against what chance was taken to give its kind."""
        tables, shown = self.tables, self.shown
        if not tables.refined:
            return None
        if shown < 0:  # no candidate: what chance gives is told by the kind alone
            kind = tables.kind(self.entity) if self.near == 0 else next(iter(tables.chances), "")
        else:
            kind = tables.kind(self._pair(shown)[0])
        figures = tables.chances.get(kind)
        if figures is None:
            return None
        parts = self.compared[shown].parts if shown >= 0 else ()
        return Weighing(
            kind=kind,
            links=round(figures.get("links", 0)),
            runner_ups=round(figures.get("runners", 0)),
            median=figures.get("median"),
            high=figures.get("high"),
            without=figures.get("unlinked", 0.0),
            usual_cut=tables.tuning.decision.prior_cut,
            runner_cut=figures.get("runner_cut"),
            weight=figures.get("weight", 0.0),
            cut=figures.get("cut", tables.tuning.decision.prior_cut),
            wrong=figures.get("wrong", 0.0),
            strength=None if shown < 0 else tables.strength(*self._pair(shown)),
            given=any(part.kind == "known" for part in parts),
        )

    def _against(self) -> tuple[Contradiction, ...]:
        """What speaks against the pair that the details are about."""
        if self.shown < 0 or not self.tables.refined:
            return ()
        left, right = (
            self.tables.types(side, place) for side, place in enumerate(self._pair(self.shown))
        )
        return contradictions_of(self.compared[self.shown], (left, right))

    # --- what else there is to say ---

    def _neighbourhood(self) -> result.Neighbourhood | None:
        """The neighbours of the two, and which of them are linked with each other."""
        if self.shown < 0:
            return None
        pair = self._pair(self.shown)
        left, right = (self.tables.around(side, place) for side, place in enumerate(pair))
        linked = {one: self.tables.counterparts.get(one, -1) for one in left}
        shared = {one: other for one, other in linked.items() if other in right}
        sorts = (
            list(shared.items()),
            [(one, -1) for one in left if one not in shared],
            [(-1, other) for other in right if other not in shared.values()],
        )
        rows = [
            tuple(
                Neighbours(
                    left=self.tables.find(0, one),
                    left_relations=left.get(one, ()),
                    right=self.tables.find(1, other),
                    right_relations=right.get(other, ()),
                )
                for one, other in sort[:NEIGHBOURS]
            )
            for sort in sorts
        ]
        more = [max(len(sort) - NEIGHBOURS, 0) for sort in sorts]
        return result.Neighbourhood(rows[0], rows[1], rows[2], more[0], more[1], more[2])

    def _notes(self) -> tuple[result.Note, ...]:
        """What else decides about the entity, or about the pair that is asked about."""
        tables, rejected = self.tables, self.tables.inputs.reject
        applies: dict[result.Note, bool] = {
            "entity-not-among": not tables.was_among(self.near, self.entity)
        }
        if self.asked >= 0:
            applies["not-kept"] = self.asked not in self.candidates
            applies["other-not-among"] = not tables.was_among(1 - self.near, self.asked)
        if self.asked >= 0 and rejected is not None:
            pairs = np.stack(tables.positions(rejected), axis=1)
            applies["rejected"] = bool((pairs == self._pair(self.asked)).all(axis=1).any())
        return tuple(note for note, holds in applies.items() if holds)


def _differences(chosen: Comparison | None, other: Comparison) -> result.Differences:
    """How the parts of another pair differ from those of the chosen one, most first."""
    if chosen is None:
        return ()
    changes: dict[str, float] = {}
    for comparison, sign in ((other, 1), (chosen, -1)):
        for part in comparison.parts:
            changes[part.kind] = changes.get(part.kind, 0.0) + sign * part.score
    differences = [(kind, change) for kind, change in changes.items() if abs(change) > 1e-9]
    return tuple(sorted(differences, key=lambda one: (-abs(one[1]), one[0])))


def _value(candidates: Candidates, left: int, right: int) -> float:
    """The score of a pair; zero for no partner (-1)."""
    place = candidates.find(np.array([left]), np.array([right]))[0]
    return float(candidates.values[place]) if min(left, right) >= 0 else 0.0


def _in_turn(changed: dict[int, int], first: int, holders: dict[int, int]) -> list[int]:
    """The entities that change, in the order in which one takes from the next."""
    order, entity = [], first
    while entity in changed and entity not in order:
        order.append(entity)
        entity = holders.get(changed[entity], -1)
    return order + [entity for entity in changed if entity not in order]
