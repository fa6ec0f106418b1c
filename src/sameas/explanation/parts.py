"""The score of a pair, found anew from the graphs and taken apart; the parts add up to it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sameas.explanation.hops import (
    Hops,
    both_hops,
    cosines,
    name_details,
    neighbour_details,
    summed_up,
)
from sameas.explanation.record import Record, opposite
from sameas.explanation.result import Comparison, Detail, Kind, Missing, Part, Side
from sameas.explanation.votes import Lacking, Testimony, Witnesses, witnesses_of
from sameas.graph import Positions
from sameas.pipeline.refined import weights_of
from sameas.refinement import SURE, Weights

MOST_TRIED = 50
"""Neighbours that are tried out as what would have to change."""


@dataclass(frozen=True, eq=False)
class Scorer:
    """All that the scores of some pairs are made from."""

    record: Record
    hops: tuple[Hops, Hops]
    weights: Weights | None
    """None for the method as published, whose score is the mean cosine over the hops."""
    witnesses: Witnesses | None

    def compare(self, left: int, right: int, *, details: bool = True) -> Comparison:
        """The parts of a pair's score, with or without what each is made of."""
        listed = self._listed(left, right)
        parts = self._text_parts(left, right, details)
        if self.weights is not None:
            parts += self._evidence_parts(left, right, details)
            price = self.record.price or 0.0
            score = sum(part.score for part in parts) - price
            # Known links are beyond doubt: their score was raised, and nothing else is so large.
            if self.record.options.seeds and listed is not None and listed - score > SURE / 2:
                parts.append(_part("known", SURE))
            parts.append(_part("price", -price, amount=price))
        return Comparison(
            left=self.record.entity("left", left),
            right=self.record.entity("right", right),
            score=sum(part.score for part in parts),
            parts=tuple(parts),
            listed=listed,
        )

    def missing(self, left: int, right: int, score: float) -> Missing:
        """What a pair with too low a score would need, and a neighbour that would do."""
        if self.weights is None or self.witnesses is None:
            return Missing(score=-score, would_do=None, would_help=None)
        testimony = self.witnesses.testimony(left, right)
        lacking: tuple[tuple[Side, tuple[Lacking, ...]], ...] = (
            ("right", testimony.left_lacks),
            ("left", testimony.right_lacks),
        )
        tried = [
            self._if_shared(testimony, one, holder)
            for holder, some in lacking
            for one in some[:MOST_TRIED]
        ]
        found = [detail for detail in tried if detail is not None]
        best = max(found, key=lambda detail: detail.score, default=None)
        does = best is not None and best.score > -score
        return Missing(
            score=-score,
            would_do=best if does else None,
            would_help=None if does else best,
        )

    def _text_parts(self, left: int, right: int, details: bool) -> list[Part]:
        alike = cosines(self.hops, left, right)
        profit = (self.weights.profit if self.weights else 1.0) / len(alike)
        parts = []
        for number, cosine in enumerate(alike):
            worth = profit + (self.weights.names if self.weights and not number else 0.0)
            found: tuple[Detail, ...] = ()
            if details and not number:
                found = name_details(self.record, self.hops, left, right, worth)
            elif details:
                found = neighbour_details(self.record, self.hops, left, right, number, worth)
            kind: Kind = ("name", "neighbours", "further")[min(number, 2)]
            parts.append(
                Part(kind=kind, hop=number, score=worth * cosine, amount=cosine, details=found)
            )
        return parts

    def _evidence_parts(self, left: int, right: int, details: bool) -> list[Part]:
        assert self.weights is not None
        assert self.witnesses is not None
        witnesses, weights = self.witnesses, self.weights
        testimony = witnesses.testimony(left, right)
        votes = testimony.votes
        worth = weights.shared * math.log1p(votes / weights.unit)
        each = worth / votes if votes else 0.0
        parts = []
        for kind, of_values in (("shared", False), ("values", True)):
            some = [one for one in testimony.shared if witnesses.is_value(one.far[0]) == of_values]
            own = sum(one.vote for one in some)
            found = [witnesses.detail(one, each * one.vote) for one in some] if details else []
            parts.append(_part(kind, each * own, own, found, "others that both have"))
        for side in ("left", "right"):
            lack = testimony.lack(side)
            cost = -weights.lacking * math.log1p(lack)
            each = cost / lack if lack else 0.0
            lacked = testimony.left_lacks if side == "left" else testimony.right_lacks
            found = [
                witnesses.lacking_detail(one, opposite(side), each * one.weight)
                for one in (lacked if details else ())
                if one.weight
            ]
            parts.append(_part(f"{side} lacks", cost, lack, found, "others"))
        return parts

    def _if_shared(self, testimony: Testimony, lacking: Lacking, holder: Side) -> Detail | None:
        """What it would add if the other entity had this neighbour too, all else being equal."""
        assert self.weights is not None
        assert self.witnesses is not None
        weights, had = self.weights, self.witnesses.if_had(lacking, holder)
        if had is None:
            return None
        share, relation = had
        votes, lack = testimony.votes, testimony.lack(opposite(holder))
        more = math.log1p((votes - math.log1p(-share)) / weights.unit)
        gain = weights.shared * (more - math.log1p(votes / weights.unit))
        gain += weights.lacking * (math.log1p(lack) - math.log1p(max(lack - lacking.weight, 0.0)))
        detail = self.witnesses.lacking_detail(lacking, holder, gain)
        other = (self.witnesses.named(1 if holder == "left" else 0, relation),)
        return Detail(
            score=gain,
            text=detail.text,
            left=detail.left,
            right=detail.right,
            left_relations=detail.left_relations or other,
            right_relations=detail.right_relations or other,
            left_fans=detail.left_fans,
            right_fans=detail.right_fans,
            amount=share,
        )

    def _listed(self, left: int, right: int) -> float | None:
        """The score that the run recorded for a pair."""
        uris = self.record.pair.left.entities[left], self.record.pair.right.entities[right]
        for table in (self.record.links, self.record.candidates):
            found = table.filter(table["left"] == uris[0], table["right"] == uris[1])
            if len(found):
                return float(found["score"][0])
        return None


def scorer_of(record: Record, left: Positions, right: Positions) -> Scorer:
    """All that is needed for the scores of pairs between these entities."""
    weights = weights_of(record.options) if record.options.rounds else None
    witnesses = None if weights is None else witnesses_of(record, weights)
    everyone = np.asarray(left, dtype=np.int64), np.asarray(right, dtype=np.int64)
    return Scorer(record, both_hops(record, everyone), weights, witnesses)


def _part(
    kind: str,
    score: float,
    amount: float | None = None,
    details: list[Detail] | None = None,
    rest: str = "",
) -> Part:
    found = summed_up(details or [], rest)
    return Part(kind=kind, hop=None, score=score, amount=amount, details=found)  # type: ignore[arg-type]
