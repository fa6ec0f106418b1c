"""Refinement: learn from the most certain links, through the graph, about the other pairs.

Every candidate pair gets a score in log-odds: the sum of what its names, its neighbours' names,
the anchored neighbours it shares, and those that only one of the two has are worth. The plan
turns scores into probabilities, the most certain pairs become anchors, anchors give new evidence
and new candidates, and so on until the links settle. Everything is sparse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sameas.assignment import BASE, Plan, mutual, open_plan, sinkhorn
from sameas.candidates import Candidates, from_pairs
from sameas.evidence import Anchors, Edges, Relations, gather_evidence, match_relations
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

    def evidence(self, found: Vector) -> Vector:
        """The log-odds that evidence adds; shape (3, n), as ``gather_evidence`` returns it."""
        votes, left_lacks, right_lacks = found
        lacking = np.log1p(left_lacks) + np.log1p(right_lacks)
        worth: Vector = self.shared * np.log1p(votes / self.unit) - self.lacking * lacking
        return worth


DEFAULT = Weights()


@dataclass(frozen=True, eq=False)
class Pairs:
    """Candidate pairs and what their scores are made of."""

    candidates: Candidates
    """Their ``values`` are the scores, in log-odds once there is evidence."""
    text: Vector
    """The cosine of the names, and the profit; shape (2, n)."""
    evidence: Vector
    """That of ``gather_evidence``; shape (3, n)."""

    def select(self, which: NDArray[np.bool_]) -> Pairs:
        """These of the pairs."""
        every = self.candidates
        chosen = every.left[which], every.right[which], every.values[which]
        pairs = from_pairs(every.shape, *chosen)
        return Pairs(pairs, self.text[:, which], self.evidence[:, which])

    def scored(self, scores: Vector, known: Known) -> Pairs:
        """The pairs with these scores; those of seeds are raised beyond all others."""
        values: Matrix = scores.astype(np.float32)
        values[self.candidates.find(known.seeds[:, 0], known.seeds[:, 1])] += SURE
        return replace(self, candidates=replace(self.candidates, values=values))


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
        pairs = _with_evidence(pairs, edges, anchors, relations, profit, names, known, weights)
        scores = pairs.candidates
        pairs = pairs.select(
            scores.values >= _best(scores, scores.left, scores.right) - weights.spread
        )
        plan = open_plan(pairs.candidates, base=weights.base).ranking
        new = _anchors(pairs.candidates, plan, weights)
        before, now = (each.left * candidates.shape[1] + each.right for each in (anchors, new))
        changes.append(len(np.setxor1d(before, now)))
        if progress:
            progress((turn + 1) / rounds)
        if changes[-1] <= weights.settled * len(now):
            break
        if turn < rounds - 1:
            anchors = new
    return Refinement(pairs, anchors, relations, tuple(changes))


def _first_pairs(candidates: Candidates, profit: Profit, names: Profit, known: Known) -> Pairs:
    """The candidates that are allowed, and the seeds, scored by profit."""
    allowed = known.allows(candidates.left, candidates.right)
    seeds = known.seeds[candidates.find(known.seeds[:, 0], known.seeds[:, 1]) < 0]
    left = np.concatenate([candidates.left[allowed], seeds[:, 0]])
    right = np.concatenate([candidates.right[allowed], seeds[:, 1]])
    values = np.concatenate([candidates.values[allowed], profit.of(seeds[:, 0], seeds[:, 1])])
    chosen = from_pairs(candidates.shape, left, right, values)
    text = np.stack([names.partners(chosen.starts, chosen.right), chosen.values])
    pairs = Pairs(chosen, text.astype(np.float64), np.zeros((3, len(chosen))))
    return pairs.scored(pairs.text[1], known)


def _with_evidence(
    pairs: Pairs,
    edges: tuple[Edges, Edges],
    anchors: Anchors,
    relations: Relations,
    profit: Profit,
    names: Profit,
    known: Known,
    weights: Weights,
) -> Pairs:
    """The pairs, and those that only shared neighbours propose, scored by all evidence."""
    old, new, evidence = gather_evidence(
        *edges, anchors, relations, pairs.candidates, enter=weights.enter
    )
    pairs = replace(pairs, evidence=old)
    pairs = pairs.scored(score(pairs, weights), known)
    new, evidence = _chosen(known.allows(*new), new, evidence)
    # Names are compared only for pairs that could still come within reach of the best, and
    # neighbourhoods only for those that names have not ruled out.
    floor = _best(pairs.candidates, *new) - weights.spread
    most = weights.evidence(evidence) + weights.profit
    hopeful = most + weights.names >= floor
    new, evidence, floor, most = _chosen(hopeful, new, evidence, floor, most)
    alike = names.of(*new)
    hopeful = most + weights.names * alike.astype(np.float64) >= floor
    new, evidence, alike = _chosen(hopeful, new, evidence, alike)
    pairs = _merged(pairs, new, np.stack([alike, profit.of(*new)]), evidence)
    return pairs.scored(score(pairs, weights), known)


def _merged(pairs: Pairs, new: Positions, text: Matrix, evidence: Vector) -> Pairs:
    """The old pairs and new ones, not scored yet."""
    old = pairs.candidates
    left, right = (np.concatenate(side) for side in zip((old.left, old.right), new, strict=True))
    order = np.argsort(left * np.int64(old.shape[1]) + right, kind="stable")

    def both(first: Vector, second: NDArray[Any]) -> Vector:
        rows = np.empty((len(first), len(order)))
        for row, parts in zip(rows, zip(first, second, strict=True), strict=True):
            row[:] = np.concatenate(parts)[order]
        return rows

    unscored = from_pairs(old.shape, left, right, np.zeros(len(order), dtype=np.float32))
    return Pairs(unscored, both(pairs.text, text), both(pairs.evidence, evidence))


def score(pairs: Pairs, weights: Weights) -> Vector:
    """The log-odds of pairs, up to a constant."""
    text: Vector = weights.names * pairs.text[0] + weights.profit * pairs.text[1]
    return text + weights.evidence(pairs.evidence)


def _chosen(which: NDArray[np.bool_], *arrays: NDArray[Any]) -> list[NDArray[Any]]:
    """These of the pairs that the last axis of each array is about."""
    return [array[..., which] for array in arrays]


def _best(candidates: Candidates, left: NDArray[np.integer], right: NDArray[np.integer]) -> Vector:
    """The best score of each pair's left or right entity, the larger of both."""
    best = np.full(len(left), -np.inf)
    for groups, wanted, size in zip(
        (candidates.left, candidates.right), (left, right), candidates.shape, strict=True
    ):
        peak = np.full(size, -np.inf)
        np.maximum.at(peak, groups, candidates.values)
        best = np.maximum(best, peak[wanted])
    return best


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
