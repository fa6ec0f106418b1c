"""From a finished alignment and an entity to an Explanation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from sameas.assignment.exchange import force_pair
from sameas.candidates import Candidates, from_pairs
from sameas.errors import OptionError
from sameas.explanation.lookup import Lookup
from sameas.explanation.result import (
    Comparison,
    Considered,
    Entity,
    Exchange,
    Explanation,
    Kind,
    Missing,
    Neighbour,
    Neighbourhood,
    Note,
    Reason,
    Side,
    Step,
)
from sameas.explanation.terms import SIDES, Pair, Scores
from sameas.graph import GraphPair, Positions
from sameas.inputs import Inputs
from sameas.options import Options

MOST = 10
"""Other candidates, and rivals, that are listed."""
NEIGHBOURS = 40
"""Neighbours of each sort that are listed; others are counted."""
TIE = 1e-6
"""Scores that differ by less are equal."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Question:
    """An entity and what the run recorded about it; other entities are of the opposite side."""

    side: int
    entity: int
    scores: dict[int, float]
    """The scores of all candidates that were kept, best first."""
    partner: int | None
    row: int | None
    """The row of ``unmatched`` that is about the entity."""
    miss: int | None
    """The best candidate of an unmatched entity."""
    asked: int | None
    """The entity that the question names besides."""

    @property
    def chosen(self) -> int | None:
        """The partner, or the nearest miss."""
        return self.miss if self.partner is None else self.partner

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
        others = [place for place in question.scores if place != question.chosen][:MOST]
        chosen = self._compare(question, question.chosen)
        asked = chosen
        if question.asked != question.chosen:
            asked = self._compare(question, question.asked)
        shown = asked or chosen
        reason: Reason | None = None
        confidence = None
        if question.row is not None:
            reason = self.unmatched["reason"][question.row]
        if question.partner is not None:
            confidence = float(self._confidence[question.side][question.entity])
        return Explanation(
            side=SIDES[question.side],
            entity=self.scores.entity(question.side, question.entity),
            partner=self._entity(1 - question.side, question.partner),
            confidence=confidence,
            reason=reason,
            min_confidence=self.options.min_confidence,
            scale="log-odds" if self.options.rounds else "cosine",
            comparison=chosen,
            other=None if question.asked is None else asked,
            others=self._considered(question, chosen, others),
            rivals=self._rivals(question),
            wins=self._wins(question),
            exchange=self._exchange(question, asked),
            missing=self._missing(question, shown),
            neighbourhood=self._neighbourhood(question) if shown else None,
            notes=tuple(self._notes(question)),
        )

    # --- the tables of the run, by position ---

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

    def _positions(self, table: pl.DataFrame) -> tuple[Positions, Positions]:
        """The positions of the pairs of a table."""
        return self.pair.left.positions(table["left"]), self.pair.right.positions(table["right"])

    @cached_property
    def _kept(self) -> tuple[Candidates, Candidates]:
        """All links and candidates with their scores, seen from the left and from the right."""
        table = pl.concat([self.links, self.candidates], how="diagonal")
        table = table.unique(["left", "right"], keep="first", maintain_order=True)
        left, right = self._positions(table)
        shape = len(self.pair.left.entities), len(self.pair.right.entities)
        scores = table["score"].to_numpy()
        return from_pairs(shape, left, right, scores), from_pairs(shape[::-1], right, left, scores)

    @cached_property
    def _partner(self) -> tuple[dict[int, int], dict[int, int]]:
        """The partner of each linked left entity, and of each right one."""
        left, right = (side.tolist() for side in self._positions(self.links))
        return dict(zip(left, right, strict=True)), dict(zip(right, left, strict=True))

    @cached_property
    def _confidence(self) -> tuple[dict[int, float], dict[int, float]]:
        confidence = self.links["confidence"].to_list()
        left, right = (
            dict(zip(side.tolist(), confidence, strict=True))
            for side in self._positions(self.links)
        )
        return left, right

    @cached_property
    def _unmatched(self) -> tuple[dict[int, int], dict[int, int]]:
        """The row of each unmatched left entity, and of each right one, in ``unmatched``."""
        left, right = (
            _numbered(graph.positions(self.unmatched["entity"]), self.unmatched["side"] == side)
            for graph, side in zip((self.pair.left, self.pair.right), SIDES, strict=True)
        )
        return left, right

    @cached_property
    def _prices(self) -> tuple[dict[int, int], dict[int, int]] | None:
        """The row of each left entity, and of each right one, in ``prices``."""
        if self.prices is None:
            return None
        left, right = (
            _numbered(graph.positions(self.prices["entity"]), self.prices["side"] == side)
            for graph, side in zip((self.pair.left, self.pair.right), SIDES, strict=True)
        )
        return left, right

    @cached_property
    def _anchored(self) -> dict[int, int]:
        """The partner of each left entity by the links, or else by the anchors."""
        found: dict[int, int] = {}
        if self.anchors is not None:
            left, right = (side.tolist() for side in self._positions(self.anchors))
            found = dict(zip(left, right, strict=True))
        return found | self._partner[0]

    # --- the question ---

    def _question(self, entity: str, other: str | None, side: Side | None) -> Question:
        near, place = self.lookup.find(entity, side)
        number = SIDES.index(near)
        far = SIDES[1 - number]
        row = self._unmatched[number].get(place)
        miss = None if row is None else self.unmatched["candidate"][row]
        return Question(
            side=number,
            entity=place,
            scores=self._scores(number, place),
            partner=self._partner[number].get(place),
            row=row,
            miss=None if miss is None else self.lookup.find(miss, far)[1],
            asked=None if other is None else self.lookup.find(other, far)[1],
        )

    def _scores(self, side: int, entity: int) -> dict[int, float]:
        """The kept candidates of an entity with their scores, best first."""
        kept = self._kept[side]
        part = slice(*kept.starts[entity : entity + 2])
        uris = self.scores.graphs[1 - side].entities
        found = zip(kept.right[part].tolist(), kept.values[part].tolist(), strict=True)
        return dict(sorted(found, key=lambda one: (-one[1], uris[one[0]])))

    def _entity(self, side: int, position: int | None) -> Entity | None:
        return None if position is None else self.scores.entity(side, position)

    # --- the answer ---

    def _compare(self, question: Question, other: int | None) -> Comparison | None:
        if other is None:
            return None
        return self.scores.compare([question.pair(other)], details=True)[0]

    def _considered(
        self, question: Question, chosen: Comparison | None, others: list[int]
    ) -> tuple[Considered, ...]:
        """Other candidates, compared part by part with the one that was chosen."""
        far = 1 - question.side
        compared = self.scores.compare([question.pair(place) for place in others])
        return tuple(
            Considered(
                entity=self.scores.entity(far, place),
                score=comparison.score,
                linked_with=self._entity(question.side, self._partner[far].get(place)),
                differences=_differences(chosen, comparison) if chosen else (),
            )
            for place, comparison in zip(others, compared, strict=True)
        )

    def _rivals(self, question: Question) -> tuple[Considered, ...]:
        """Other candidates of the partner, or of the nearest miss."""
        if question.chosen is None:
            return ()
        scores = self._scores(1 - question.side, question.chosen)
        scores.pop(question.entity, None)
        partner = self._partner[question.side]
        return tuple(
            Considered(
                entity=self.scores.entity(question.side, place),
                score=score,
                linked_with=self._entity(1 - question.side, partner.get(place)),
            )
            for place, score in list(scores.items())[:MOST]
        )

    def _wins(self, question: Question) -> tuple[bool, bool]:
        """Whether no candidate scores higher with the entity, and none with its partner."""
        if question.partner is None:
            return False, False
        most = question.scores[question.partner] + TIE
        rivals = self._scores(1 - question.side, question.partner)
        return max(question.scores.values()) <= most, max(rivals.values()) <= most

    def _wanted(self, question: Question) -> int | None:
        """The partner that the entity did not get: the one asked about, or the best candidate."""
        if question.asked is not None:
            return question.asked if question.asked != question.partner else None
        if question.partner is None:
            return question.miss
        best = next(iter(question.scores))
        return best if question.scores[best] > question.scores[question.partner] + TIE else None

    def _exchange(self, question: Question, asked: Comparison | None) -> Exchange | None:
        """What it would take to give the entity the partner that it did not get, if any."""
        near, wanted = question.side, self._wanted(question)
        holder = None if wanted is None else self._partner[1 - near].get(wanted)
        if wanted is None or (holder is None and question.partner is None):
            return None
        score = question.scores.get(wanted, asked.score if asked else None)
        refined = self.options.rounds > 0
        if score is None or (score <= 0 and question.partner is None and refined):
            return None
        extra = {(question.entity, wanted): score}
        if not refined and holder is not None and question.partner is not None:
            # As published, any pair can be linked: the two who are left over can have each other.
            (both,) = self.scores.compare([question.pair(question.partner, holder)])
            extra[holder, question.partner] = both.score
        market = _joined(self._kept[near], extra)
        changed = force_pair(market, self._partner[near], question.entity, wanted)
        steps = [
            self._step(near, market, *change)
            for change in _in_turn(changed, question.entity, self._partner[1 - near])
        ]
        return Exchange(
            wanted=self.scores.entity(1 - near, wanted),
            score=score,
            holder=self._entity(near, holder),
            holder_score=0.0 if holder is None else _value(market, holder, wanted),
            steps=tuple(steps),
            cost=sum(step.before_score - step.after_score for step in steps),
            at_least=self._least_cost(near, question.entity, wanted, score),
        )

    def _step(self, side: int, market: Candidates, entity: int, after: int) -> Step:
        before = self._partner[side].get(entity, -1)
        return Step(
            entity=self.scores.entity(side, entity),
            before=self._entity(1 - side, before if before >= 0 else None),
            before_score=_value(market, entity, before),
            after=self._entity(1 - side, after if after >= 0 else None),
            after_score=_value(market, entity, after),
        )

    def _least_cost(self, side: int, entity: int, wanted: int, score: float) -> float | None:
        """What forcing a pair costs at least, by the exact solver's prices."""
        if self._prices is None or self.prices is None:
            return None
        rows = self._prices[side].get(entity), self._prices[1 - side].get(wanted)
        if rows[0] is None or rows[1] is None:
            return None
        return max(float(sum(self.prices["price"][row] for row in rows)) - score, 0.0)

    def _missing(self, question: Question, shown: Comparison | None) -> Missing | None:
        """What is missing where a score is too low to be linked at all."""
        if shown is None or not self.options.rounds or shown.score > 0:
            return None
        if question.partner is not None and question.asked in (None, question.partner):
            return None
        place = question.chosen if question.asked is None else question.asked
        assert place is not None
        return self.scores.missing(question.pair(place), shown.score)

    def _neighbourhood(self, question: Question) -> Neighbourhood:
        """The neighbours of the two, and which of them are linked with each other."""
        place = question.chosen if question.asked is None else question.asked
        assert place is not None
        left, right = (
            dict(sorted(self.scores.around(side, entity).items()))
            for side, entity in enumerate(question.pair(place))
        )
        pairs = {near: far for near in left if (far := self._anchored.get(near, -1)) in right}
        met = set(pairs.values())

        def neighbour(near: int | None, far: int | None) -> Neighbour:
            return Neighbour(
                left=self._entity(0, near),
                left_relations=() if near is None else left[near],
                right=self._entity(1, far),
                right_relations=() if far is None else right[far],
            )

        rows = (
            [(near, far) for near, far in pairs.items()],
            [(near, None) for near in left if near not in pairs],
            [(None, far) for far in right if far not in met],
        )
        lists = [tuple(neighbour(*row) for row in some[:NEIGHBOURS]) for some in rows]
        more = [max(len(some) - NEIGHBOURS, 0) for some in rows]
        return Neighbourhood(
            shared=lists[0],
            left_only=lists[1],
            right_only=lists[2],
            more_shared=more[0],
            more_left=more[1],
            more_right=more[2],
        )

    def _notes(self, question: Question) -> list[Note]:
        """What else decides about the entity, or about the pair that is asked about."""
        notes: list[Note] = []
        if question.partner is None and question.row is None:
            notes.append("entity-not-among")
        if question.asked is None:
            return notes
        if question.asked not in question.scores:
            notes.append("not-kept")
        far = 1 - question.side
        if question.asked not in self._partner[far] and question.asked not in self._unmatched[far]:
            notes.append("other-not-among")
        if self.inputs.reject is not None:
            left, right = (
                self.scores.entity(side, place).uri
                for side, place in enumerate(question.pair(question.asked))
            )
            rejected = self.inputs.reject
            if ((rejected["left"] == left) & (rejected["right"] == right)).any():
                notes.append("rejected")
        return notes


def _differences(chosen: Comparison, other: Comparison) -> tuple[tuple[Kind, float], ...]:
    """How the parts of another pair differ from those of the chosen one, most first."""
    changes: dict[Kind, float] = {}
    for comparison, sign in ((other, 1), (chosen, -1)):
        for part in comparison.parts:
            changes[part.kind] = changes.get(part.kind, 0.0) + sign * part.score
    found = [(kind, change) for kind, change in changes.items() if abs(change) > 1e-9]
    return tuple(sorted(found, key=lambda one: (-abs(one[1]), one[0])))


def _numbered(positions: Positions, which: pl.Series) -> dict[int, int]:
    """The row of each position, of the rows that are chosen."""
    rows = which.arg_true().to_list()
    return dict(zip(positions[rows].tolist(), rows, strict=True))


def _joined(kept: Candidates, extra: dict[Pair, float]) -> Candidates:
    """The candidates and further pairs, where these are not among them yet."""
    left, right = np.array(list(extra), dtype=np.int64).T
    new = kept.find(left, right) < 0
    if not new.any():
        return kept
    values = np.array(list(extra.values()))
    return kept.joined(left[new], right[new], values[new])


def _value(candidates: Candidates, left: int, right: int) -> float:
    """The score of a pair; zero for no partner (-1)."""
    if right < 0:
        return 0.0
    return float(candidates.values[candidates.find(np.array([left]), np.array([right]))[0]])


def _in_turn(changed: dict[int, int], first: int, holders: dict[int, int]) -> list[Pair]:
    """The changes in the order in which one entity takes from the next."""
    order, entity = [], first
    while entity in changed and entity not in order:
        order.append(entity)
        entity = holders.get(changed[entity], -1)
    order += [entity for entity in changed if entity not in order]
    return [(entity, changed[entity]) for entity in order]
