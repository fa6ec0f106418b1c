"""Refinement: what sure links say, through the graph, about the others.

Every candidate pair gets a score in log-odds, the sum of what its names, its neighbours' names,
the neighbours it shares with sure links, and those that only one of the two has are worth. The
plan turns scores into probabilities, the surest pairs become anchors, anchors give new evidence
and new candidates, and so on until the links settle. All is sparse.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sameas.assignment import sparse
from sameas.assignment.null import Null, estimate_null
from sameas.assignment.open import BASE, best_of_single, open_plan
from sameas.assignment.sinkhorn import Plan
from sameas.candidates import Candidates, from_pairs
from sameas.evidence import (
    Anchors,
    Edges,
    Evidence,
    NewPairs,
    Relations,
    gather_evidence,
    match_relations,
)
from sameas.graph import Positions
from sameas.profit import Profit
from sameas.rows import Matrix

Vector = NDArray[np.float64]
Progress = Callable[[float], None]

SURE = 100.0
"""Log-odds that a known link has beyond its score."""
RIVALS = 10
"""Candidates of an entity that are kept however far they are below the best."""
TIE = 1e-4
"""Pairs that differ by less are worth the same; what rounding does is less than that."""


@dataclass(frozen=True, kw_only=True)
class Weights:
    """What each kind of evidence is worth, in log-odds, and when it counts.

    One setting for all data: the coefficients that conditional logit models gave on five
    datasets agree (docs/method.md), and halving or doubling any of them changes little.
    """

    names: float = 13.0
    """A cosine of one between the names, besides their part in the profit."""
    profit: float = 6.0
    """A profit of one: names, neighbours and neighbours' neighbours alike."""
    shared: float = 2.6
    """Shared neighbours: times ln(1 + votes / unit)."""
    unit: float = 0.03
    """Votes that begin to count, among ``crowd`` entities or more."""
    crowd: float = 15_000.0
    lacking: float = 2.1
    """Neighbours that only one has, on each side: times ln(1 + their weight)."""
    hub: int = 100
    """Neighbours that more entities have, through one relation, say nothing."""
    share: float = 0.3
    """The probability beyond which a mutual best pair is an anchor."""
    spread: float = 15.0
    """Pairs so far below the best of their row or column are out of the question."""
    enter: float = 0.03
    """Votes with which a pair becomes a candidate."""
    settled: float = 0.002
    """Once no larger share of the anchors changes, refinement ends."""
    base: float = BASE
    """How far the price of staying alone is below the odds of chance, in logarithms."""

    def evidence(self, found: Evidence, crowd: Vector | float = math.inf) -> Vector:
        """What neighbours are worth, ``crowd`` being among how many entities.

        To have a neighbour in common with one of a hundred says less than with one of ten
        thousand: the worth of a vote falls with the logarithm of the crowd.
        """
        lacking = np.log1p(found.left_lacks) + np.log1p(found.right_lacks)
        unit = self.unit * np.maximum(self.crowd / np.maximum(crowd, 1.0), 1.0) ** (1 / max(self.shared, 1e-9))
        return self.shared * np.log1p(found.votes / unit) - self.lacking * lacking


DEFAULT = Weights()


@dataclass(frozen=True, eq=False)
class Known:
    """What must and what cannot be linked: in ``seeds`` (pairs, shape (k, 2)), in ``rejected``.

    ``inside`` are masks of those left and right entities that may be linked with each other;
    others may be too, among themselves, and only to support those.
    """

    seeds: Positions
    rejected: Positions
    inside: tuple[NDArray[np.bool_], NDArray[np.bool_]]

    def allows(self, left: NDArray[np.integer], right: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Which pairs are neither rejected nor at odds with seeds or across the border."""
        allowed: NDArray[np.bool_] = self.inside[0][left] == self.inside[1][right]
        size = len(self.inside[1])
        if len(self.rejected):
            numbers = self.rejected[:, 0] * size + self.rejected[:, 1]
            allowed &= ~np.isin(left * np.int64(size) + right, numbers)
        if len(self.seeds):
            for own, other, column, count in (
                (left, right, 0, len(self.inside[0])),
                (right, left, 1, size),
            ):
                partner = np.full(count, -1, dtype=np.int64)
                partner[self.seeds[:, column]] = self.seeds[:, 1 - column]
                allowed &= (partner[own] < 0) | (partner[own] == other)
        return allowed


@dataclass(frozen=True, eq=False)
class Pairs:
    """Candidate pairs with all that speaks for and against each of them, in their order."""

    candidates: Candidates
    """Their ``profit`` is the score, in log-odds once there is evidence."""
    names: Vector
    """The cosine of the names."""
    profit: Vector
    """Names, neighbours and neighbours' neighbours alike."""
    evidence: Evidence
    extra: Extra | None = None
    """What else speaks for and against pairs, learned from the anchors of the round."""
    crowd: Vector | None = None
    """Among how many of its kind each left entity is, both graphs considered."""


Extra = Callable[[NDArray[np.integer], NDArray[np.integer]], Vector]
"""Log-odds for pairs of left and right positions."""


@dataclass(frozen=True, eq=False)
class Refinement:
    """Scored pairs, and what led to their scores."""

    pairs: Pairs
    anchors: Anchors
    """Those from which the evidence came."""
    relations: Relations
    changes: tuple[int, ...]
    """How many anchors changed in each round."""
    every: Pairs | None = None
    """All pairs of the last round, before those out of the question were left out."""
    null: Null | None = None


def refine(
    edges: tuple[Edges, Edges],
    candidates: Candidates,
    profit: Profit,
    names: Profit,
    known: Known,
    *,
    temperature: float,
    iterations: int,
    rounds: int,
    weights: Weights = DEFAULT,
    single: tuple[bool, bool] = (True, True),
    learn: Callable[[Anchors], Extra] | None = None,
    progress: Progress | None = None,
) -> Refinement:
    """The candidates, and others that the graph adds to them, scored by all evidence.

    ``candidates.profit`` is the profit; ``temperature`` and ``iterations`` are those of the first
    plan, made from profits alone; there is at least one round.
    """
    pairs = _first_pairs(candidates, profit, names, known)
    pairs = replace(pairs, crowd=_crowd(known))
    if learn is not None:
        nobody = np.zeros(0, dtype=np.int64)
        extra = learn(Anchors(nobody, nobody, np.zeros(0)))
        bonus = temperature * extra(pairs.candidates.left, pairs.candidates.right)
        pairs = _rescored(pairs, pairs.profit + bonus, known)
    plan = sparse.sinkhorn(pairs.candidates, temperature=temperature, iterations=iterations)
    anchors = _anchors(pairs.candidates, plan, weights)
    changes: list[int] = []
    null: Null | None = None
    for turn in range(rounds):
        relations = match_relations(*edges, anchors)
        if learn is not None:
            pairs = replace(pairs, extra=learn(anchors))
        pairs = _gathered(pairs, edges, anchors, relations, (profit, names), known, weights)
        pairs = _rescored(pairs, score(pairs, weights), known)
        every = pairs
        pairs = _taken(pairs, _within(pairs.candidates, weights.spread))
        sides = tuple(side for side in (0, 1) if single[side]) or (0, 1)
        groups = known.inside[0] // 2, known.inside[1] // 2
        null = (
            estimate_null(
                every.candidates, anchors.left, anchors.right, anchors.trust, groups, sides=sides
            )
            or null
        )
        soft = open_plan(pairs.candidates, base=weights.base, null=null, single=single)
        plan = soft.ranking
        if all(single):
            new = _anchors(pairs.candidates, plan, weights)
        else:
            places = best_of_single(pairs.candidates, soft.probability, single)
            places = places[soft.probability[places] > max(weights.share, 0.5)]
            chosen = pairs.candidates
            new = Anchors(
                chosen.left[places].astype(np.int64),
                chosen.right[places].astype(np.int64),
                np.minimum(soft.probability[places], 1.0),
            )
        changes.append(_differences(anchors, new, candidates.shape[1]))
        if progress:
            progress((turn + 1) / rounds)
        if changes[-1] <= weights.settled * len(new.left):
            break
        if turn < rounds - 1:
            anchors = new
    return Refinement(pairs, anchors, relations, tuple(changes), every, null)


def _crowd(known: Known) -> Vector:
    """The geometric mean of how many left and right entities are of each left one's kind."""
    left, right = (inside // 2 for inside in known.inside)
    count = int(max(left.max(initial=0), right.max(initial=0))) + 1
    sizes = [np.bincount(side, minlength=count) for side in (left, right)]
    mean: Vector = np.sqrt(sizes[0] * sizes[1].astype(np.float64))[left]
    return mean


def score(pairs: Pairs, weights: Weights) -> Vector:
    """The log-odds of pairs, up to a constant: a sum over all that is known of each."""
    text = weights.names * pairs.names + weights.profit * pairs.profit
    crowd = math.inf if pairs.crowd is None else pairs.crowd[pairs.candidates.left]
    total = text + weights.evidence(pairs.evidence, crowd)
    if pairs.extra is not None:
        total = total + pairs.extra(pairs.candidates.left, pairs.candidates.right)
    return total


def _first_pairs(candidates: Candidates, profit: Profit, names: Profit, known: Known) -> Pairs:
    """The candidates that are allowed, and the seeds."""
    allowed = known.allows(candidates.left, candidates.right)
    seeds = known.seeds[candidates.find(known.seeds[:, 0], known.seeds[:, 1]) < 0]
    left = np.concatenate([candidates.left[allowed], seeds[:, 0]])
    right = np.concatenate([candidates.right[allowed], seeds[:, 1]])
    values = np.concatenate([candidates.profit[allowed], profit.of(seeds[:, 0], seeds[:, 1])])
    chosen = from_pairs(candidates.shape, left, right, values)
    alike = names.partners(chosen.starts, chosen.right).astype(np.float64)
    nothing = np.zeros(len(chosen))
    pairs = Pairs(
        chosen, alike, chosen.profit.astype(np.float64), Evidence(nothing, nothing, nothing)
    )
    return _rescored(pairs, pairs.profit, known)


def _gathered(
    pairs: Pairs,
    edges: tuple[Edges, Edges],
    anchors: Anchors,
    relations: Relations,
    profits: tuple[Profit, Profit],
    known: Known,
    weights: Weights,
) -> Pairs:
    """The pairs with what anchored neighbours say, and those that only these propose."""
    old, new = gather_evidence(*edges, anchors, relations, pairs.candidates, enter=weights.enter)
    pairs = replace(pairs, evidence=old)
    pairs = _rescored(pairs, score(pairs, weights), known)
    new = new.taken(known.allows(new.left, new.right))
    # No names are compared of pairs that have no chance whatever these are, and no neighbours'
    # names where the names rule it out.
    floor = _floor(pairs.candidates, new.left, new.right) - weights.spread
    crowd = np.full(pairs.candidates.shape[0], np.inf) if pairs.crowd is None else pairs.crowd
    hopeful = weights.evidence(new.evidence, crowd[new.left]) + weights.profit + weights.names >= floor
    new, floor = new.taken(hopeful), floor[hopeful]
    profit, names = profits
    alike = names.of(new.left, new.right).astype(np.float64)
    hopeful = (
        weights.evidence(new.evidence, crowd[new.left]) + weights.profit + weights.names * alike
        >= floor
    )
    new, alike = new.taken(hopeful), alike[hopeful]
    fit = profit.of(new.left, new.right).astype(np.float64)
    return _merged(pairs, new, alike, fit)


def _merged(pairs: Pairs, new: NewPairs, names: Vector, profit: Vector) -> Pairs:
    """These pairs and new ones, not scored yet."""
    own = pairs.candidates
    left = np.concatenate([own.left, new.left])
    right = np.concatenate([own.right, new.right])
    order = np.argsort(left * np.int64(own.shape[1]) + right, kind="stable")

    def both(first: Vector, second: Vector) -> Vector:
        values: Vector = np.concatenate([first, second])[order]
        return values

    old = pairs.evidence
    return Pairs(
        from_pairs(own.shape, left, right, np.zeros(len(order), dtype=np.float32)),
        both(pairs.names, names),
        both(pairs.profit, profit),
        Evidence(
            both(old.votes, new.evidence.votes),
            both(old.left_lacks, new.evidence.left_lacks),
            both(old.right_lacks, new.evidence.right_lacks),
        ),
        pairs.extra,
        pairs.crowd,
    )


def _rescored(pairs: Pairs, scores: Vector, known: Known) -> Pairs:
    """The pairs with these scores; seeds are beyond doubt."""
    values: Matrix = scores.astype(np.float32)
    values[pairs.candidates.find(known.seeds[:, 0], known.seeds[:, 1])] += SURE
    return replace(pairs, candidates=replace(pairs.candidates, profit=values))


def _taken(pairs: Pairs, which: NDArray[np.bool_]) -> Pairs:
    """Some of the pairs."""
    chosen = pairs.candidates
    return Pairs(
        from_pairs(chosen.shape, chosen.left[which], chosen.right[which], chosen.profit[which]),
        pairs.names[which],
        pairs.profit[which],
        pairs.evidence.taken(which),
        pairs.extra,
        pairs.crowd,
    )


def _within(candidates: Candidates, spread: float) -> NDArray[np.bool_]:
    """Which pairs are not too far below the best of their row and of their column."""
    near: NDArray[np.bool_] = candidates.profit >= (
        _floor(candidates, candidates.left, candidates.right) - spread
    )
    for ends, other in ((candidates.left, candidates.right), (candidates.right, candidates.left)):
        order = np.lexsort((other, -candidates.profit, ends))
        sorted_ends = ends[order]
        starts = np.searchsorted(sorted_ends, sorted_ends)
        near[order[np.arange(len(order)) - starts < RIVALS]] = True
    return near


def _floor(candidates: Candidates, left: NDArray[np.integer], right: NDArray[np.integer]) -> Vector:
    """The best score of each pair's left or right entity, the larger of both."""
    floor = np.full(len(left), -np.inf)
    for groups, some, size in zip(
        (candidates.left, candidates.right), (left, right), candidates.shape, strict=True
    ):
        peak = np.full(size, -np.inf)
        np.maximum.at(peak, groups, candidates.profit)
        floor = np.maximum(floor, peak[some])
    return floor


def _anchors(candidates: Candidates, plan: Plan, weights: Weights) -> Anchors:
    """The pairs that are each other's best and likely enough."""
    places = sparse.mutual(candidates, plan, np.ones(len(candidates), dtype=np.bool_))
    left, right = candidates.left[places], candidates.right[places]
    logarithms = (candidates.profit[places] - plan.left[left] - plan.right[right]) / (
        plan.temperature
    )
    trust = np.exp(np.minimum(logarithms, 0.0))
    sure = (trust > weights.share) & _unrivalled(candidates, plan, places)
    return Anchors(left[sure].astype(np.int64), right[sure].astype(np.int64), trust[sure])


def _unrivalled(candidates: Candidates, plan: Plan, places: Positions) -> NDArray[np.bool_]:
    """Which of these best pairs have no equal: from who just comes first nothing is learned."""
    left, right = candidates.left, candidates.right
    alone = np.ones(len(places), dtype=np.bool_)
    for own, worth in (
        (left, candidates.profit - plan.right[right]),
        (right, candidates.profit - plan.left[left]),
    ):
        best = np.full(int(own.max(initial=-1)) + 1, -np.inf)
        best[own[places]] = worth[places]
        rivals = np.bincount(own[worth >= best[own] - TIE], minlength=len(best))
        alone &= rivals[own[places]] == 1
    return alone


def _differences(before: Anchors, now: Anchors, width: int) -> int:
    """How many anchors came or went."""
    return len(np.setxor1d(before.left * width + before.right, now.left * width + now.right))
