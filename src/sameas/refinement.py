"""Refinement: learn from the most certain links, through the graph, about the other pairs.

Every candidate pair gets a score in log-odds: the sum of what its names, its neighbours' names,
the anchored neighbours it shares, and those that only one of the two has are worth. The plan
turns scores into probabilities, the most certain pairs become anchors, anchors give new evidence
and new candidates, and so on until the links settle. Everything is sparse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sameas.assignment import BASE, Plan, mutual, open_plan, sinkhorn
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
from sameas.inputs import Known
from sameas.profit import Profit
from sameas.rows import Matrix

Vector = NDArray[np.float64]
Progress = Callable[[float], None]

SURE = 100.0
"""Log-odds that are added to the score of a seed."""
TIE = 1e-4
"""Scores that differ by less are equal; rounding errors are smaller."""


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
    """The scale of votes: fewer count in proportion, more by their logarithm."""
    lacking: float = 2.1
    """Neighbours that only one has, on each side: times ln(1 + their weight)."""
    hub: int = 100
    """Neighbours that more entities have, through one relation, do not count."""
    share: float = 0.3
    """The probability beyond which a mutual best pair is an anchor."""
    spread: float = 15.0
    """Pairs so far below the best of their row or column are dropped."""
    enter: float = 0.03
    """Votes with which a pair becomes a candidate."""
    settled: float = 0.002
    """Once no larger share of the anchors changes, refinement ends."""
    base: float = BASE
    """How far the threshold is below the odds of chance, in logarithms."""

    def evidence(self, found: Evidence) -> Vector:
        """The log-odds that evidence adds."""
        lacking = np.log1p(found.left_lacks) + np.log1p(found.right_lacks)
        return self.shared * np.log1p(found.votes / self.unit) - self.lacking * lacking


DEFAULT = Weights()


@dataclass(frozen=True, eq=False)
class Pairs:
    """Candidate pairs and what their scores are made of, in their order."""

    candidates: Candidates
    """Their ``values`` are the scores, in log-odds once there is evidence."""
    names: Vector
    """The cosine of the names."""
    profit: Vector
    """The mean cosine over all hops."""
    evidence: Evidence


@dataclass(frozen=True, eq=False)
class Refinement:
    """Scored pairs, and what their scores were learned from."""

    pairs: Pairs
    anchors: Anchors
    """The links that the evidence came from."""
    relations: Relations
    changes: tuple[int, ...]
    """How many anchors changed in each round."""


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
    progress: Progress | None = None,
) -> Refinement:
    """The candidates, and pairs that shared neighbours add, scored by all evidence.

    ``candidates.values`` are profits; ``temperature`` and ``iterations`` are those of the first
    plan, made from profits alone; there is at least one round.
    """
    pairs = _first_pairs(candidates, profit, names, known)
    plan = sinkhorn(pairs.candidates, temperature=temperature, iterations=iterations)
    anchors = _anchors(pairs.candidates, plan, weights)
    changes: list[int] = []
    for turn in range(rounds):
        relations = match_relations(*edges, anchors)
        pairs = _gather(pairs, edges, anchors, relations, (profit, names), known, weights)
        pairs = _rescore(pairs, score(pairs, weights), known)
        pairs = _select(pairs, _within(pairs.candidates, weights.spread))
        plan = open_plan(pairs.candidates, base=weights.base).ranking
        new = _anchors(pairs.candidates, plan, weights)
        changes.append(_differences(anchors, new, candidates.shape[1]))
        if progress:
            progress((turn + 1) / rounds)
        if changes[-1] <= weights.settled * len(new.left):
            break
        if turn < rounds - 1:
            anchors = new
    return Refinement(pairs, anchors, relations, tuple(changes))


def score(pairs: Pairs, weights: Weights) -> Vector:
    """The log-odds of pairs, up to a constant."""
    text = weights.names * pairs.names + weights.profit * pairs.profit
    return text + weights.evidence(pairs.evidence)


def _first_pairs(candidates: Candidates, profit: Profit, names: Profit, known: Known) -> Pairs:
    """The candidates that are allowed, and the seeds."""
    allowed = known.allows(candidates.left, candidates.right)
    seeds = known.seeds[candidates.find(known.seeds[:, 0], known.seeds[:, 1]) < 0]
    left = np.concatenate([candidates.left[allowed], seeds[:, 0]])
    right = np.concatenate([candidates.right[allowed], seeds[:, 1]])
    values = np.concatenate([candidates.values[allowed], profit.of(seeds[:, 0], seeds[:, 1])])
    chosen = from_pairs(candidates.shape, left, right, values)
    alike = names.partners(chosen.starts, chosen.right).astype(np.float64)
    nothing = np.zeros(len(chosen))
    pairs = Pairs(
        chosen, alike, chosen.values.astype(np.float64), Evidence(nothing, nothing, nothing)
    )
    return _rescore(pairs, pairs.profit, known)


def _gather(
    pairs: Pairs,
    edges: tuple[Edges, Edges],
    anchors: Anchors,
    relations: Relations,
    profits: tuple[Profit, Profit],
    known: Known,
    weights: Weights,
) -> Pairs:
    """The pairs with new evidence, and pairs that only shared neighbours propose."""
    old, new = gather_evidence(*edges, anchors, relations, pairs.candidates, enter=weights.enter)
    pairs = replace(pairs, evidence=old)
    pairs = _rescore(pairs, score(pairs, weights), known)
    new = new.select(known.allows(new.left, new.right))
    # Names are compared only for pairs that could still come within reach of the best, and
    # neighbourhoods only for those that names have not ruled out.
    floor = _floor(pairs.candidates, new.left, new.right) - weights.spread
    hopeful = weights.evidence(new.evidence) + weights.profit + weights.names >= floor
    new, floor = new.select(hopeful), floor[hopeful]
    profit, names = profits
    alike = names.of(new.left, new.right).astype(np.float64)
    hopeful = weights.evidence(new.evidence) + weights.profit + weights.names * alike >= floor
    new, alike = new.select(hopeful), alike[hopeful]
    fit = profit.of(new.left, new.right).astype(np.float64)
    return _merge(pairs, new, alike, fit)


def _merge(pairs: Pairs, new: NewPairs, names: Vector, profit: Vector) -> Pairs:
    """The old pairs and new ones, not scored yet."""
    known = pairs.candidates
    left = np.concatenate([known.left, new.left])
    right = np.concatenate([known.right, new.right])
    order = np.argsort(left * np.int64(known.shape[1]) + right, kind="stable")

    def both(first: Vector, second: Vector) -> Vector:
        values: Vector = np.concatenate([first, second])[order]
        return values

    old = pairs.evidence
    return Pairs(
        from_pairs(known.shape, left, right, np.zeros(len(order), dtype=np.float32)),
        both(pairs.names, names),
        both(pairs.profit, profit),
        Evidence(
            both(old.votes, new.evidence.votes),
            both(old.left_lacks, new.evidence.left_lacks),
            both(old.right_lacks, new.evidence.right_lacks),
        ),
    )


def _rescore(pairs: Pairs, scores: Vector, known: Known) -> Pairs:
    """The pairs with these scores; those of seeds are raised beyond all others."""
    values: Matrix = scores.astype(np.float32)
    values[pairs.candidates.find(known.seeds[:, 0], known.seeds[:, 1])] += SURE
    return replace(pairs, candidates=replace(pairs.candidates, values=values))


def _select(pairs: Pairs, which: NDArray[np.bool_]) -> Pairs:
    chosen = pairs.candidates
    return Pairs(
        from_pairs(chosen.shape, chosen.left[which], chosen.right[which], chosen.values[which]),
        pairs.names[which],
        pairs.profit[which],
        pairs.evidence.select(which),
    )


def _within(candidates: Candidates, spread: float) -> NDArray[np.bool_]:
    """Which pairs are at most ``spread`` below the best of their row and of their column."""
    near: NDArray[np.bool_] = candidates.values >= (
        _floor(candidates, candidates.left, candidates.right) - spread
    )
    return near


def _floor(candidates: Candidates, left: NDArray[np.integer], right: NDArray[np.integer]) -> Vector:
    """The best score of each pair's left or right entity, the larger of both."""
    floor = np.full(len(left), -np.inf)
    for groups, wanted, size in zip(
        (candidates.left, candidates.right), (left, right), candidates.shape, strict=True
    ):
        peak = np.full(size, -np.inf)
        np.maximum.at(peak, groups, candidates.values)
        floor = np.maximum(floor, peak[wanted])
    return floor


def _anchors(candidates: Candidates, plan: Plan, weights: Weights) -> Anchors:
    """The pairs that are each other's best, without a tie, and likely enough."""
    places = mutual(candidates, plan)
    left, right = candidates.left[places], candidates.right[places]
    logarithms = (candidates.values[places] - plan.left[left] - plan.right[right]) / (
        plan.temperature
    )
    trust = np.exp(np.minimum(logarithms, 0.0))
    sure = (trust > weights.share) & _unrivalled(candidates, plan, places)
    return Anchors(left[sure].astype(np.int64), right[sure].astype(np.int64), trust[sure])


def _unrivalled(candidates: Candidates, plan: Plan, places: Positions) -> NDArray[np.bool_]:
    """Which of these best pairs have no equal in their row and column: ties are not anchors."""
    left, right = candidates.left, candidates.right
    unrivalled = np.ones(len(places), dtype=np.bool_)
    for groups, worth in (
        (left, candidates.values - plan.right[right]),
        (right, candidates.values - plan.left[left]),
    ):
        best = np.full(int(groups.max(initial=-1)) + 1, -np.inf)
        best[groups[places]] = worth[places]
        rivals = np.bincount(groups[worth >= best[groups] - TIE], minlength=len(best))
        unrivalled &= rivals[groups[places]] == 1
    return unrivalled


def _differences(before: Anchors, now: Anchors, width: int) -> int:
    """How many anchors are in only one of the two."""
    return len(np.setxor1d(before.left * width + before.right, now.left * width + now.right))
