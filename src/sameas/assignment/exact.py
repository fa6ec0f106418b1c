"""The assignment of largest total profit, exactly, with prices that prove it.

The problem is solved on the candidates alone. The prices that come out of it are then compared
with all pairs, block by block: a pair whose profit exceeds the sum of its two prices could
improve the answer and joins the candidates; when there is none left, the answer is the best of
the full problem, and the prices are the proof (linear programming duality). Profits are rounded
to whole multiples of a tiny quantum, in which all sums are exact: neither ties nor rounding can
keep the algorithm from ending or the proof from holding.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sameas.assignment.gap import relative_gap
from sameas.assignment.sinkhorn import sinkhorn
from sameas.candidates.pairs import Candidates, every_pair, from_pairs
from sameas.compute.arrays import Matrix, Positions, Progress, Vector
from sameas.compute.kernels.assignment import Offers, Prices, Search, augment
from sameas.compute.kernels.topk import Wanted, told_apart
from sameas.compute.parallel import WORKERS, in_parallel
from sameas.compute.topk import Scanned, distinct, merge_tiles, scan_tiles, shares_of
from sameas.options.tuning import TUNING, AssignmentTuning
from sameas.similarity.matrix import DenseMatrix, RowProduct

Profits = RowProduct | DenseMatrix | Candidates
"""A profit, however it is kept."""
Alone = Vector | float | None
"""What entities are worth without a partner; None if they must have one."""


@dataclass(frozen=True, eq=False)
class Assignment:
    """One-to-one links, left ascending, and the prices that bound every other assignment.

    ``objective`` is the total profit of the links, plus what entities without one are worth if
    that was given. ``bound`` is what no assignment exceeds; ``gap`` is the relative
    distance to it: zero if the links are proven to be the best.
    """

    left: Positions
    right: Positions
    objective: float
    bound: float
    gap: float
    left_prices: Vector
    right_prices: Vector
    rounds: int
    """How many times the candidates were solved."""
    candidates: Candidates
    """The pairs that could be part of it, in the end."""


@dataclass(frozen=True, eq=False)
class Certificate:
    """What prices prove about an assignment, found by comparing every pair once."""

    objective: float
    bound: float
    gap: float
    excess: float
    """The largest amount by which a profit exceeds the sum of its prices; a proof has none."""


def assign(
    profit: Profits,
    candidates: Candidates | None = None,
    *,
    prices: Vector | None = None,
    alone: tuple[Alone, Alone] = (None, None),
    gap: float = 0.0,
    seconds: float = math.inf,
    progress: Progress | None = None,
    tuning: AssignmentTuning = TUNING.assignment,
) -> Assignment:
    """The links of largest total profit.

    ``candidates`` and right ``prices`` to start from make it faster and do not change the total;
    a Profit, which is not stored, needs candidates.
    ``alone`` is what left and right entities are worth without a partner; without it, every
    entity of the smaller side gets one. It stops early once the answer is proven to be within
    ``gap`` of the best, or after ``seconds``.
    """
    begin = time.perf_counter()
    market = _open_market(profit, candidates, prices, alone, tuning)
    rounds = 0
    while True:
        market.settle()
        rounds += 1
        if progress:
            progress(1 - 0.5**rounds)
        most = tuning.most_joining << min(max(rounds - 4, 0), 20)
        checked = _check(profit, market, most, begin + seconds, tuning.near)
        incomplete = market.incomplete()
        bound = checked.bound
        distance = math.inf if incomplete else relative_gap(bound, market.value(profit))
        if checked.proven and incomplete:
            market.force()
        elif checked.proven or checked.late or distance <= gap:
            break
        else:
            market.join(checked.left, checked.right, checked.values)
    if incomplete:  # there was no time to find the best
        market.pair_up(profit)
    left = np.flatnonzero(market.mate >= 0)
    objective = market.value(profit)
    # The values of given candidates are not trusted. Rounding to whole numbers makes no gap.
    proven = checked.proven and bound - objective <= 2 * sum(profit.shape) / market.scale
    return Assignment(
        left=left,
        right=market.mate[left],
        objective=objective,
        bound=max(bound, objective),
        gap=0.0 if proven else relative_gap(bound, objective),
        left_prices=market.left_price / market.scale,
        right_prices=market.right_price / market.scale,
        rounds=rounds,
        candidates=market.candidates,
    )


def certify(
    profit: Profits,
    left: Positions,
    right: Positions,
    left_prices: Vector,
    right_prices: Vector,
    *,
    alone: tuple[Alone, Alone] = (None, None),
) -> Certificate:
    """Check prices against every pair: what they prove about these links.

    Nothing is trusted: prices that are too low for a pair make the bound worse, never false.
    Links that are not one to one, or leave out entities that must be linked, are a ValueError.
    """
    n, m = profit.shape
    if len(np.unique(left)) < len(left) or len(np.unique(right)) < len(right):
        raise ValueError("links must be one to one")
    worths = _worth_alone(alone[0], n, m), _worth_alone(alone[1], m, n)
    if len(left) < min(n, m) and any(worth is None for worth in worths):
        raise ValueError("links must leave nobody of the smaller side out")
    objective = float(profit.of(left, right).sum(dtype=np.float64))
    prices = [left_prices, right_prices]
    for side, (worth, linked) in enumerate(zip(worths, (left, right), strict=True)):
        if worth is not None:
            objective += float(np.delete(worth, linked).sum())
            prices[side] = np.maximum(prices[side], worth)
    return bounded(profit, prices[0], prices[1], objective=objective)


def bounded(
    profit: Profits, left_prices: Vector, right_prices: Vector, *, objective: float
) -> Certificate:
    """How far a total profit can be from the best, as far as prices prove."""
    excess = np.zeros(profit.shape[0])
    for _, rows, columns in profit.exceeding_prices(left_prices, right_prices):
        over = profit.of(rows, columns) - left_prices[rows] - right_prices[columns]
        np.maximum.at(excess, rows, over)
    bound = float((left_prices + excess).sum() + right_prices.sum())
    gap = relative_gap(bound, objective)
    return Certificate(objective, bound, gap, float(excess.max(initial=0.0)))


@dataclass(eq=False)
class _Market:
    """The state of a solution: candidates and prices in whole numbers, and the links."""

    candidates: Candidates
    profit: Positions
    scale: float
    left_alone: Positions
    right_alone: Positions
    left_price: Positions
    right_price: Positions
    mate: Positions
    """The partner of each left entity, or -1."""
    other_mate: Positions
    forced: tuple[bool, bool]
    """Whether left, and right, entities must not stay alone: staying alone is very expensive."""

    def settle(self) -> None:
        """Solve the problem on the candidates, from the prices at hand."""
        self._lower_left()
        free = np.flatnonzero(self.mate < 0)
        offers = Offers(self.candidates.starts, self.candidates.right, self.profit)
        prices = Prices(self.left_price, self.left_alone, self.right_price)
        augment(free, offers, prices, self.mate, self.other_mate, _search(len(self.right_price)))
        # Right entities without a partner must not have a price: the same from their side.
        idle = np.flatnonzero((self.other_mate < 0) & (self.right_price > self.right_alone))
        if len(idle):
            starts, order = self.candidates.by_right
            offers = Offers(starts, self.candidates.left[order], self.profit[order])
            prices = Prices(self.right_price, self.right_alone, self.left_price)
            augment(idle, offers, prices, self.other_mate, self.mate, _search(len(self.left_price)))

    def _lower_left(self) -> None:
        """Left prices as low as the candidates allow; unmatch rows whose partner is not optimal."""
        starts = self.candidates.starts
        worth = self.profit - self.right_price[self.candidates.right]
        filled = np.flatnonzero(np.diff(starts))
        self.left_price = self.left_alone.copy()
        if len(filled):
            best = np.maximum.reduceat(worth, starts[filled])
            self.left_price[filled] = np.maximum(best, self.left_alone[filled])
        linked = np.flatnonzero(self.mate >= 0)
        indices = self.candidates.find(linked, self.mate[linked])
        unhappy = linked[worth[indices] < self.left_price[linked]]
        self.other_mate[self.mate[unhappy]] = -1
        self.mate[unhappy] = -1
        self._take_free(worth)

    def _take_free(self, worth: Positions) -> None:
        """Match left entities with free partners that are optimal for them, first come."""
        left, right = self.candidates.left, self.candidates.right
        indices = np.flatnonzero(worth == self.left_price[left])
        indices = indices[np.argsort(_spread(left[indices], right[indices]), kind="stable")]
        while True:
            indices = indices[
                (self.mate[left[indices]] < 0) & (self.other_mate[right[indices]] < 0)
            ]
            if not len(indices):
                break
            rows, first = np.unique(left[indices], return_index=True)
            columns, chosen = np.unique(right[indices[first]], return_index=True)
            self.mate[rows[chosen]] = columns
            self.other_mate[columns] = rows[chosen]

    def join(self, left: Positions, right: Positions, values: Matrix) -> None:
        """Add pairs to the candidates."""
        self.candidates = self.candidates.joined(left, right, values)
        self.profit = _whole(self.candidates.values, self.scale)

    def correct(self, places: Positions, profit: Matrix) -> None:
        """Correct the profits of candidates that were given with others."""
        if len(places):
            values = self.candidates.values.copy()
            values[places] = profit
            self.candidates = self.candidates.with_values(values)
            self.profit = _whole(values, self.scale)

    def incomplete(self) -> bool:
        """Whether an entity is without a partner that must have one."""
        alone = bool((self.mate < 0).any()), bool((self.other_mate < 0).any())
        return (self.forced[0] and alone[0]) or (self.forced[1] and alone[1])

    def force(self) -> None:
        """Make staying alone more expensive where it is not allowed."""
        self.left_alone = self.left_alone * (8 if self.forced[0] else 1)
        self.right_alone = self.right_alone * (8 if self.forced[1] else 1)
        if -int(min(self.left_alone.min(), self.right_alone.min())) > 2**58:
            raise RuntimeError("no full assignment was found; please report this")

    def pair_up(self, profit: Profits) -> None:
        """Link entities that must not stay alone with any partners that are left."""
        rows, columns = np.flatnonzero(self.mate < 0), np.flatnonzero(self.other_mate < 0)
        count = min(len(rows), len(columns))
        rows, columns = rows[:count], columns[:count]
        new = self.candidates.find(rows, columns) < 0
        self.join(rows[new], columns[new], profit.of(rows[new], columns[new]))
        self.mate[rows], self.other_mate[columns] = columns, rows

    def value(self, profit: Profits) -> float:
        """The total profit, with the worth of entities without a partner if it counts."""
        linked = np.flatnonzero(self.mate >= 0)
        total = float(profit.of(linked, self.mate[linked]).sum(dtype=np.float64))
        if not self.forced[0]:
            total += float(self.left_alone[self.mate < 0].sum() / self.scale)
        if not self.forced[1]:
            total += float(self.right_alone[self.other_mate < 0].sum() / self.scale)
        return total


def _search(partners: int) -> Search:
    """Room for the search of augmenting paths among so many partners."""
    rooms = [np.full(partners, -1, dtype=np.int64) for _ in Search._fields]
    return Search(*rooms)


@dataclass(frozen=True, eq=False)
class _Checked:
    """The pairs that could improve an answer, or nearly, and a bound on any answer."""

    left: Positions
    right: Positions
    values: Matrix
    bound: float
    proven: bool
    """Whether no pair could improve the answer."""
    late: bool


def _open_market(
    profit: Profits,
    candidates: Candidates | None,
    prices: Vector | None,
    worth_alone: tuple[Alone, Alone],
    tuning: AssignmentTuning,
) -> _Market:
    n, m = profit.shape
    if candidates is None:
        candidates = _first_candidates(profit, tuning)
    if prices is None:
        heat, iterations = tuning.temperature, tuning.iterations
        prices = sinkhorn(candidates, temperature=heat, iterations=iterations).right
    ceiling = max(
        profit.ceiling,
        *(float(np.abs(a).max(initial=0.0)) for a in worth_alone if a is not None),
        1e-30,
    )
    scale = 2.0 ** (tuning.digits - math.ceil(math.log2(ceiling)))
    alone = _worth_alone(worth_alone[0], n, m), _worth_alone(worth_alone[1], m, n)
    # Where staying alone is not allowed, it costs more than any exchange of one pair gains.
    floors = [
        _whole(np.full(size, -4 * ceiling) if worth is None else worth, scale)
        for worth, size in zip(alone, (n, m), strict=True)
    ]
    return _Market(
        candidates=candidates,
        profit=_whole(candidates.values, scale),
        scale=scale,
        left_alone=floors[0],
        right_alone=floors[1],
        left_price=np.zeros(n, dtype=np.int64),
        right_price=np.maximum(_whole(np.clip(prices, -ceiling, ceiling), scale), floors[1]),
        mate=np.full(n, -1, dtype=np.int64),
        other_mate=np.full(m, -1, dtype=np.int64),
        forced=(alone[0] is None, alone[1] is None),
    )


def _first_candidates(profit: Profits, tuning: AssignmentTuning) -> Candidates:
    """All pairs of a small matrix; of a larger one, the best of each row and of each column."""
    if isinstance(profit, Candidates):
        return profit
    if not isinstance(profit, DenseMatrix):
        raise TypeError("candidates are needed for a profit that is not stored")
    if profit.matrix.size <= tuning.small:
        return every_pair(profit.matrix)
    left, right = np.divmod(_best_both_ways(profit.matrix, tuning), profit.shape[1])
    return from_pairs(profit.shape, left, right, profit.of(left, right))


def _best_both_ways(matrix: Matrix, tuning: AssignmentTuning) -> Positions:
    """The best few of each row and of each column by profit less hubness, as row * width + column.

    The hubness of a row is the mean of the largest of a sample. Equals are told apart by a little
    noise, otherwise all rows would have the same few.
    """
    (n, m), size = matrix.shape, tuning.hubness_sample
    tile = TUNING.search.tile  # changes no result here: nothing is summed up
    rows, columns = _hubness(matrix, tuning), _hubness(matrix.T, tuning)
    span = tuning.slack * float(max(np.abs(matrix[:: max(1, n // size)]).max(), 1e-30))
    rng = np.random.default_rng(0)
    noise = rng.random(2**16 + tile[1], dtype=np.float32) * np.float32(tuning.noise * span)
    shifts = rng.integers(0, 2**16, size=(n,))
    wanted = Wanted(min(tuning.first, m), 1, span), Wanted(min(tuning.first, n), 1, span)
    limits = [np.full(size, -np.inf, dtype=np.float32) for size in (n, m)]

    def look(share: slice) -> Scanned:
        def fill(across: slice) -> Callable[[slice, Matrix], object]:
            some, less = matrix[:, share][:, across], columns[share][across]
            return lambda part, out: told_apart(
                some[part], rows[part], less, noise, shifts[part], out
            )

        return scan_tiles(fill, limits[0], limits[1][share], wanted, tile)

    shares = shares_of(m, WORKERS, tile)
    looked = zip(shares, in_parallel(look, shares), strict=True)
    return distinct(merge_tiles((n, m), looked, wanted[0], lambda share: None))


def _hubness(matrix: Matrix, tuning: AssignmentTuning) -> Matrix:
    """The mean of the largest few of a sample of each row."""
    sample = matrix[:, :: max(1, matrix.shape[1] // tuning.hubness_sample)]
    few = min(tuning.hubness_nearest, sample.shape[1])
    mean: Matrix = np.partition(sample, -few, axis=1)[:, -few:].mean(axis=1)
    return mean


def _worth_alone(given: Alone, size: int, others: int) -> Vector | None:
    """What each entity of a side is worth without partner; None where it must have one."""
    if given is not None:
        return np.zeros(size) + given
    return None if size <= others else np.zeros(size)


def _check(profit: Profits, market: _Market, most: int, deadline: float, near: float) -> _Checked:
    """Compare the prices with every pair."""
    left_price, right_price = market.left_price / market.scale, market.right_price / market.scale
    none = np.empty(0, dtype=np.int64)
    corrections = [(none, none, none.astype(np.float32))]
    excess = np.zeros(profit.shape[0])
    stop, proven = 0, True
    for rows, left, right in profit.exceeding_prices(
        left_price - near * profit.ceiling, right_price
    ):
        values = profit.of(left, right)
        over = _whole(values, market.scale) - market.left_price[left] - market.right_price[right]
        better = over > 0
        proven &= not better.any()
        np.maximum.at(excess, left[better], over[better] / market.scale)
        indices = market.candidates.find(left, right)
        market.correct(indices[better & (indices >= 0)], values[better & (indices >= 0)])
        new = np.flatnonzero(indices < 0)
        best = new[_best_of_each(left[new], right[new], over[new], most)]
        corrections.append((left[best], right[best], values[best]))
        stop = rows.stop
        if time.perf_counter() > deadline:
            break
    late = time.perf_counter() > deadline
    # Rows that were not compared could have any profit.
    highest = profit.ceiling - right_price.min(initial=0.0)
    excess[stop:] = np.maximum(highest - left_price[stop:], 0.0)
    bound = float(left_price.sum() + right_price.sum() + excess.sum())
    left, right, values = (np.concatenate(column) for column in zip(*corrections, strict=True))
    return _Checked(left, right, values, bound, proven and not late, late)


def _best_of_each(left: Positions, right: Positions, over: Positions, most: int) -> Positions:
    """The places of the largest few of each row, for pairs in order of rows."""
    order = np.lexsort((_spread(left, right), -over, left))
    rows = left[order]
    first = np.searchsorted(rows, rows)
    kept: Positions = order[np.arange(len(order)) - first < most]
    return kept


def _spread(left: NDArray[np.integer], right: NDArray[np.integer]) -> NDArray[np.uint32]:
    """An order of pairs that differs from row to row, so that equals do not all favour the same."""
    mixed = left.astype(np.uint32) * np.uint32(2654435761) + right.astype(np.uint32)
    mixed = (mixed ^ (mixed >> np.uint32(15))) * np.uint32(2246822519)
    mixed = (mixed ^ (mixed >> np.uint32(13))) * np.uint32(3266489917)
    spread: NDArray[np.uint32] = mixed ^ (mixed >> np.uint32(16))
    return spread


def _whole(values: NDArray[np.floating], scale: float) -> Positions:
    return np.rint(values.astype(np.float64) * scale).astype(np.int64)
