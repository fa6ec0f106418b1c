"""A soft assignment in the open world: entities may have no partner.

The probability of a pair is k_ij a_i b_j, with k_ij = exp(score - threshold), a_i and b_j the
probabilities that i and j stay alone; those of each row and of each column sum up to one. If M of
n and m entities are linked at random, the odds of one pair are M / ((n - M)(m - M)) before anything
is known of it: that gives the threshold, and M is how many links the plan itself expects. The
threshold is never below a floor: two entities are not a pair for lack of others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sameas.assignment.gap import relative_gap
from sameas.assignment.ranking import mutual
from sameas.assignment.sinkhorn import Plan
from sameas.candidates.pairs import Candidates, line_sums, lines_of_columns, lines_of_rows
from sameas.compute.arrays import Indices, Matrix, Positions, Vector
from sameas.compute.kernels.products import weighted_sums
from sameas.compute.parallel import (
    WORKERS,
    even_slices,
    in_parallel,
    lasting_threads,
    one_blas_thread,
    share_of,
    slices,
)
from sameas.options.tuning import TUNING, OpenTuning

AT_ONCE = 1_000_000
"""Pairs whose probabilities are computed at once."""
SWEPT = 400_000
"""Pairs of a side that a thread sums up at once in a sweep; handing out fewer takes longer."""
MANY = 200_000
"""Pairs beyond which sharing out each sweep among threads pays."""


@dataclass(frozen=True, eq=False)
class OpenPlan:
    """The probability of each candidate pair, in their order, and how it was found."""

    probability: Vector
    left_alone: Vector
    """The probability that each left entity has no partner."""
    right_alone: Vector
    threshold: float
    """What a pair's score must exceed to be likelier than that both stay alone."""
    sweeps: int
    deviation: float
    """The largest distance from one of the sum of an entity's probabilities, that of having no
    partner included."""

    def as_start(self) -> OpenPlan:
        """What another plan can start from: the same without the probabilities of pairs."""
        return replace(self, probability=np.empty(0))

    @property
    def ranking(self) -> Plan:
        """The same as potentials, to rank and to choose by."""
        left, right = (
            -np.log(np.maximum(alone, 1e-300)) for alone in (self.left_alone, self.right_alone)
        )
        return Plan(left + self.threshold, right, 1.0, self.sweeps, 0.0)


def open_plan(
    candidates: Candidates,
    *,
    threshold: float | None = None,
    final: bool = False,
    start: OpenPlan | None = None,
    tuning: OpenTuning = TUNING.open,
) -> OpenPlan:
    """The plan over candidates whose profits are scores in log-odds.

    ``threshold`` fixes what is else found from the data. The ``final`` plan, which links are made
    from, is more precise than those of refinement. Both sides are updated at once and half the way,
    in logarithms: taking turns, a sure pair nears its value like 1 / sweeps. Anderson's method
    makes that several times faster. A plan to ``start`` from, of much the same pairs, saves sweeps.
    """
    n, m = candidates.shape
    scores = np.clip(candidates.values, -tuning.clip, tuning.clip)
    fixed = threshold is not None
    most = tuning.final_sweeps if final else tuning.sweeps
    tolerance = tuning.final_tolerance if final else tuning.tolerance
    if threshold is None:
        threshold = _threshold(n, m, min(n, m) / 2, tuning)
    alone, steps = np.zeros(n + m), Steps(tuning)  # logarithms, left then right
    if start is not None:
        alone = np.log(np.maximum(np.append(start.left_alone, start.right_alone), 1e-300))
    left, right = np.exp(alone[:n]), np.exp(alone[n:])
    sweeps, moved = 0, 1.0 if len(candidates) else 0.0
    # More threads of BLAS would wait for each other most of the time.
    with one_blas_thread(), lasting_threads() as share_out:
        sums = _sums_of_odds(candidates, scores, share_out)
        while moved > tolerance and sweeps < most:
            linked = np.log1p(np.exp(-threshold) * sums(left, right))
            asked = (alone - linked) / 2
            new = np.exp(asked)
            # The second term: sums of probabilities are within one in a hundred of one.
            moved = max(
                float(np.abs(new[:n] - left).max()),
                float(np.abs(new[n:] - right).max()),
                tolerance * (1 / tuning.log_tolerance) * float(np.abs(asked - alone).max()),
            )
            sweeps += 1
            alone = steps.next(alone, asked, np.sqrt(new)) if moved > tolerance else asked
            left, right = np.exp(alone[:n]), np.exp(alone[n:])
            if not fixed:
                threshold = _threshold(n, m, n - float(left.sum()), tuning)
    del sums
    probability, deviation = _probabilities(candidates, scores, threshold, left, right)
    return OpenPlan(probability, left, right, float(threshold), sweeps, deviation)


def _probabilities(
    candidates: Candidates,
    scores: Matrix,
    threshold: float,
    left: Vector,
    right: Vector,
) -> tuple[Vector, float]:
    """The probability of each pair, and the largest distance of an entity's sum from one."""
    probability = np.empty(len(scores))
    ends = candidates.left, candidates.right
    parts = list(slices(len(scores), share_of(len(scores), AT_ONCE)))

    def multiply(part: slice) -> None:
        some = np.exp(scores[part] - np.float64(threshold))
        some *= left[ends[0][part]] * right[ends[1][part]]
        probability[part] = some

    in_parallel(multiply, parts)
    before = _sums(candidates, probability, left, right)

    # What sums up to more than one, for all the sweeps, is scaled down to it.
    def scale(part: slice) -> None:
        excess = np.maximum(before[0][ends[0][part]], before[1][ends[1][part]])
        probability[part] /= np.maximum(excess, 1.0)

    in_parallel(scale, parts)
    # That takes from a pair's other entity too, which may have had less than one already.
    after = _sums(candidates, probability, left, right)
    deviation = max(float(np.abs(each - 1).max(initial=0.0)) for each in (*before, *after))
    return probability, deviation


def _sums_of_odds(
    candidates: Candidates, scores: Matrix, share_out: Callable[..., None]
) -> Callable[[Vector, Vector], Vector]:
    """What gives, for each entity of both sides, the sum of its odds times the others' values."""
    n, m = candidates.shape
    odds = candidates.with_values(np.exp(scores))
    sides = lines_of_rows(odds), lines_of_columns(odds)
    size = max(SWEPT, -(-len(odds) // max(WORKERS // 2, 1)))  # each side has half of the work
    parts = [(side, part) for side in (0, 1) for part in even_slices(sides[side].starts, size)]

    def sums(left: Vector, right: Vector) -> Vector:
        totals, factors = np.empty(n + m), (right, left)
        ends = totals[:n], totals[n:]

        def add(work: tuple[int, slice]) -> None:
            side, part = work
            weighted_sums(*sides[side], factors[side], part.start, part.stop, ends[side])

        if len(odds) > MANY:
            share_out(add, parts)
        else:
            for part in parts:
                add(part)
        return totals

    return sums


@dataclass(eq=False)
class Steps:
    """The last few steps of a fixed-point iteration, for Anderson's method."""

    tuning: OpenTuning = TUNING.open
    count: int = 0
    last: tuple[Vector, Vector] | None = None
    """The last answer, and by how much it differed from its place."""
    answers: Vector | None = None
    """How much each answer differs from the one before it; shape (history - 1, n), in turn."""
    changes: Vector | None = None

    def next(self, place: Vector, answer: Vector, weights: Vector) -> Vector:
        """Where to go on: where the last steps, put together, would change least; at most 0."""
        change, history, most = answer - place, self.tuning.history - 1, self.tuning.farthest
        before, self.last = self.last, (answer, change)
        if before is None:
            return answer
        if self.answers is None or self.changes is None:
            self.answers, self.changes = np.empty((2, history, len(answer)))
        np.subtract(answer, before[0], out=self.answers[self.count % history])
        np.subtract(change, before[1], out=self.changes[self.count % history])
        self.count += 1
        known = min(self.count, history)
        weighted = self.changes[:known] * weights
        squares = weighted @ weighted.T
        squares[np.diag_indices_from(squares)] += 1e-10 * np.trace(squares) + 1e-300
        shares = np.linalg.solve(squares, weighted @ (change * weights))
        further = np.clip(shares @ self.answers[:known], -most, most)
        onward: Vector = np.minimum(answer - further, 0.0)
        return onward


def _sums(
    candidates: Candidates, probability: Vector, left: Vector, right: Vector
) -> tuple[Vector, Vector]:
    """Of each left and each right entity, the probabilities of its pairs and of staying alone."""

    def total(side: tuple[Indices, Vector]) -> Vector:
        ends, alone = side
        sums = np.zeros(len(alone))
        for part in slices(len(probability), AT_ONCE):
            np.add.at(sums, ends[part], probability[part])
        return sums + alone

    of_left, of_right = in_parallel(total, [(candidates.left, left), (candidates.right, right)])
    return of_left, of_right


def best_of_side(candidates: Candidates, side: int, *, tie: float = TUNING.open.tie) -> Positions:
    """The places of the best pairs of each entity of a side, all those that tie."""
    lines = (lines_of_rows, lines_of_columns)[side](candidates)
    best = line_sums(lines, np.zeros(candidates.shape[1 - side]), 0.0)
    ends = (candidates.left, candidates.right)[side]
    return np.flatnonzero(candidates.values >= best[ends] - tie)


def likeliest(
    candidates: Candidates, places: Positions, probability: Vector, single: tuple[bool, bool]
) -> Positions:
    """Of pairs at these places, the likeliest of each entity of the sides that are ``single``."""
    for ends, one in zip((candidates.left, candidates.right), single, strict=True):
        if one:
            order = places[np.lexsort((-probability[places], ends[places]))]
            places = np.sort(order[np.flatnonzero(np.diff(ends[order], prepend=-1))])
    return places


def open_links(candidates: Candidates, plan: OpenPlan) -> Positions:
    """The places of one-to-one links: pairs that are each other's best, again and again."""
    free = [np.ones(size, dtype=np.bool_) for size in candidates.shape]
    ranking, left = plan.ranking, candidates.left
    rounds: list[Positions] = [np.empty(0, dtype=np.int64)]
    while len(indices := mutual(candidates, ranking, *free)):
        rounds.append(indices)
        free[0][left[indices]], free[1][candidates.right[indices]] = False, False
    return np.concatenate(rounds)


def gap_to_bound(candidates: Candidates, prices: Vector, objective: float) -> float:
    """How far a total can be from the best among candidates, staying alone being worth nothing.

    Weak duality: with right prices v >= 0 no total exceeds sum v_j + sum max(0, max_j s_ij - v_j).
    """
    prices = np.maximum(prices, 0.0)
    gains = np.maximum(line_sums(lines_of_rows(candidates), prices, 0.0), 0.0)
    bound = float(prices.sum() + gains.sum())
    return relative_gap(bound, objective)


def _threshold(n: int, m: int, links: float, tuning: OpenTuning) -> float:
    """The threshold if so many of n and m entities are linked."""
    if not n or not m:
        return tuning.floor
    spare = tuning.spare * min(n, m)
    links = min(max(links, 1.0), float(min(n, m)))
    chance = (n - links + spare) * (m - links + spare) / links
    return max(tuning.base + float(np.log(chance)), tuning.floor)
