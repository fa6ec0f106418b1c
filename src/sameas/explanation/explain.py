"""From a finished alignment and an entity to an Explanation."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING

import polars as pl

from sameas.alignment import Alignment
from sameas.errors import InputError
from sameas.explanation.exchange import exchange, market_of
from sameas.explanation.neighbourhood import neighbourhood_of
from sameas.explanation.parts import Scorer, scorer_of
from sameas.explanation.record import Record, find_entity, opposite, record_of
from sameas.explanation.result import (
    Comparison,
    Considered,
    Exchange,
    Explanation,
    Missing,
    Rival,
    Side,
)
from sameas.reading import read_gold

if TYPE_CHECKING:
    from sameas.writing.run import Run

MOST = 10
"""Other candidates that are told."""


@dataclass(frozen=True, eq=False)
class _Case:
    """One entity and what the tables say about it; others are positions on the opposite side."""

    record: Record
    side: Side
    entity: int
    uri: str
    scores: dict[int, float]
    """Of all candidates that were kept, best first."""
    partner: int | None
    confidence: float | None
    reason: str | None
    miss: int | None
    """The nearest miss of an unmatched entity."""
    asked: int | None
    """Whom the question is about."""

    @property
    def chosen(self) -> int | None:
        """The partner, or the nearest miss."""
        return self.miss if self.partner is None else self.partner

    def pair(self, other: int) -> tuple[int, int]:
        """The entity and another one as (left, right)."""
        return (self.entity, other) if self.side == "left" else (other, self.entity)


def explain(
    source: Alignment | Run | str | PathLike[str],
    entity: str,
    other: str | None = None,
    *,
    side: Side | None = None,
) -> Explanation:
    """Why an entity has the partner it has, or none; with ``other``, why not that one.

    ``source`` is an alignment, a run or a run folder. The entity is one of either graph (the left
    one is asked first; ``side`` decides), by URI, by name or by the last part of its URI.
    """
    record = record_of(source)
    case = _case(record, entity, other, side)
    wanted = _wanted(case)
    others = [place for place in case.scores if place != case.chosen][:MOST]
    concerned = {place for place in (*others, case.chosen, case.asked) if place is not None}
    holder = None if wanted is None else _partner(record, opposite(case.side), wanted)
    own = {case.entity} if holder is None else {case.entity, holder}
    sides = (own, concerned) if case.side == "left" else (concerned, own)
    scorer = scorer_of(record, *(sorted(some) for some in sides))  # type: ignore[arg-type]
    chosen = _compared(scorer, case, case.chosen)
    asked = chosen if case.asked == case.chosen else _compared(scorer, case, case.asked)
    shown = asked or chosen
    return Explanation(
        side=case.side,
        entity=record.entity(case.side, case.entity),
        partner=None if case.partner is None else record.entity(opposite(case.side), case.partner),
        confidence=case.confidence,
        reason=case.reason,
        scale="log-odds" if record.options.rounds else "cosine",
        comparison=chosen,
        other=asked,
        others=tuple(_considered(scorer, case, chosen, place) for place in others),
        rivals=_rivals(case),
        wins=_wins(case),
        exchange=_exchange(scorer, case, wanted, holder, asked),
        missing=_missing(scorer, case, shown),
        neighbourhood=None if shown is None else neighbourhood_of(record, shown),
        notes=tuple(_notes(case)),
    )


def _case(record: Record, entity: str, other: str | None, side: Side | None) -> _Case:
    side, place = find_entity(record, entity, side)
    far = opposite(side)
    uri = record.graph(side).entities[place]
    links = record.links.filter(record.links[side] == uri)
    lonely = record.unmatched.filter(
        record.unmatched["side"] == side, record.unmatched["entity"] == uri
    )
    kept = pl.concat(
        [
            table.filter(table[side] == uri).select(far, "score")
            for table in (record.candidates, record.links)
        ]
    ).unique(far, keep="first", maintain_order=True)
    kept = kept.sort(["score", far], descending=[True, False], maintain_order=True)
    places = record.graph(far).positions(kept[far]).tolist()
    miss = lonely["candidate"][0] if len(lonely) else None
    return _Case(
        record=record,
        side=side,
        entity=place,
        uri=uri,
        scores=dict(zip(places, kept["score"].to_list(), strict=True)),
        partner=_partner(record, side, place),
        confidence=float(links["confidence"][0]) if len(links) else None,
        reason=lonely["reason"][0] if len(lonely) else None,
        miss=None if miss is None else find_entity(record, miss, far)[1],
        asked=None if other is None else find_entity(record, other, far)[1],
    )


def _partner(record: Record, side: Side, place: int) -> int | None:
    """The position of an entity's partner."""
    far = opposite(side)
    found = record.links.filter(record.links[side] == record.graph(side).entities[place])[far]
    return int(record.graph(far).positions(found)[0]) if len(found) else None


def _wanted(case: _Case) -> int | None:
    """Whom the entity would rather have, or might have had: the one asked about, or the best."""
    if case.asked is not None:
        return case.asked if case.asked != case.partner else None
    if case.partner is None:
        return case.miss
    best = next(iter(case.scores), case.partner)
    return best if case.scores.get(best, 0.0) > case.scores[case.partner] + 1e-6 else None


def _compared(scorer: Scorer, case: _Case, other: int | None) -> Comparison | None:
    return None if other is None else scorer.compare(*case.pair(other))


def _considered(scorer: Scorer, case: _Case, chosen: Comparison | None, place: int) -> Considered:
    """Another candidate, compared part by part with the one that was chosen."""
    own = scorer.compare(*case.pair(place), details=False)
    base: dict[str, float] = {}
    differences: dict[str, float] = {}
    for table, comparison in ((base, chosen), (differences, own)):
        for part in comparison.parts if comparison else ():
            table[part.kind] = table.get(part.kind, 0.0) + part.score
    changes = {
        kind: differences.get(kind, 0.0) - base.get(kind, 0.0) for kind in {**base, **differences}
    }
    far = opposite(case.side)
    linked = _partner(case.record, far, place)
    return Considered(
        entity=case.record.entity(far, place),
        score=own.score,
        linked_with=None if linked is None else case.record.entity(case.side, linked),
        differences=tuple(
            sorted(
                (one for one in changes.items() if chosen and abs(one[1]) > 1e-9),
                key=lambda one: (-abs(one[1]), one[0]),
            )
        ),
    )


def _rivals(case: _Case) -> tuple[Rival, ...]:
    """Who else of the entity's side was considered for its partner, or for its nearest miss."""
    if case.chosen is None:
        return ()
    record, far = case.record, opposite(case.side)
    wanted = record.candidates[far] == record.graph(far).entities[case.chosen]
    table = record.candidates.filter(wanted, record.candidates[case.side] != case.uri)
    table = table.sort(["score", case.side], descending=[True, False]).head(MOST)
    rivals = []
    places = record.graph(case.side).positions(table[case.side]).tolist()
    for place, score in zip(places, table["score"].to_list(), strict=True):
        linked = _partner(record, case.side, place)
        rivals.append(
            Rival(
                entity=record.entity(case.side, place),
                score=score,
                linked_with=None if linked is None else record.entity(far, linked),
            )
        )
    return tuple(rivals)


def _wins(case: _Case) -> tuple[bool, bool]:
    """Whether no candidate scores higher with the entity, and none with its partner."""
    if case.partner is None:
        return False, False
    score = case.scores[case.partner]
    far = opposite(case.side)
    rivals = case.record.candidates.filter(
        case.record.candidates[far] == case.record.graph(far).entities[case.partner]
    )["score"]
    return (
        max(case.scores.values()) <= score + 1e-6,
        not len(rivals) or float(rivals.max()) <= score + 1e-6,  # type: ignore[arg-type]
    )


def _exchange(
    scorer: Scorer,
    case: _Case,
    wanted: int | None,
    holder: int | None,
    asked: Comparison | None,
) -> Exchange | None:
    """What it would take to give the entity the wanted one, where that makes sense."""
    if wanted is None or (holder is None and case.partner is None):
        return None
    score = case.scores.get(wanted, asked.score if asked else None)
    if score is None or (score <= 0 and case.partner is None and scorer.weights is not None):
        return None
    extra = {(case.entity, wanted): score}
    if scorer.weights is None and holder is not None and case.partner is not None:
        # As published, any pair can be linked: the two who are left over can have each other.
        pair = (holder, case.partner) if case.side == "left" else (case.partner, holder)
        extra[holder, case.partner] = scorer.compare(*pair, details=False).score
    market = market_of(case.record, case.side, extra)
    return exchange(case.record, case.side, market, case.entity, wanted)


def _missing(scorer: Scorer, case: _Case, shown: Comparison | None) -> Missing | None:
    """What is missing where a score is too low to be linked at all."""
    if shown is None or scorer.weights is None or shown.score > 0:
        return None
    if case.partner is not None and case.asked in (None, case.partner):
        return None
    graphs = case.record.pair
    left = int(graphs.left.positions(pl.Series([shown.left.uri]))[0])
    right = int(graphs.right.positions(pl.Series([shown.right.uri]))[0])
    return scorer.missing(left, right, shown.score)


def _notes(case: _Case) -> list[str]:
    """What else decides about the entity, or about the pair that is asked about."""
    notes, record = [], case.record
    if case.partner is None and case.reason is None:
        notes.append("It was not among those to be linked (option among).")
    if case.asked is None:
        return notes
    far = opposite(case.side)
    other = record.graph(far).entities[case.asked]
    if case.asked not in case.scores:
        notes.append("The two were not among the candidates that the run kept.")
    known = (record.links[far] == other).any() or (
        (record.unmatched["side"] == far) & (record.unmatched["entity"] == other)
    ).any()
    if not known:
        notes.append("The other was not among those to be linked (option among).")
    if record.options.reject is not None:
        pair = {case.side: case.uri, far: other}
        try:
            rejected = read_gold(record.options.reject)
        except InputError:
            notes.append("The file of rejected pairs that the run used is not there any more.")
        else:
            if ((rejected["left"] == pair["left"]) & (rejected["right"] == pair["right"])).any():
                notes.append("The run was told that these two are not the same (option reject).")
    return notes
