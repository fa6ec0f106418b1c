"""The assignment of largest total profit, exactly, with prices that prove it.

The problem is solved on the candidates alone. The prices that come out of it are then held
against all pairs, block by block: a pair whose profit exceeds the sum of its two prices could
improve the answer and joins the candidates; when there is none left, the answer is the best of
the full problem, and the prices are the proof (linear programming duality). Profits are rounded
to whole multiples of a tiny quantum, in which all sums are exact: ties and rounding cannot keep
the algorithm from its end, nor the proof from being one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sameas.assignment import sparse
from sameas.candidates import Candidates, SparseProfit, every_pair, from_pairs
from sameas.graph import Positions
from sameas.kernels import augment
from sameas.parallel import in_parallel
from sameas.profit import Profit, StoredProfit, row_blocks
from sameas.rows import Matrix

Vector = NDArray[np.float64]
Whole = NDArray[np.int64]
Progress = Callable[[float], None]
Profits = Profit | StoredProfit | SparseProfit
"""A profit, however it is kept."""

DIGITS = 40
"""Binary digits of the largest profit that count; 23 more are room for sums."""
NEAR = 0.02
"""Pairs that miss the sum of their prices by so little, in parts of the largest profit, join the
candidates too: prices move while the problem is solved anew, and every look at all pairs counts."""
MOST = 64
"""Pairs of one left entity that join the candidates in one round, the best first; from the fifth
round on, twice as many each time."""
SMALL = 2**22
"""Up to so many pairs of a stored matrix, all are candidates from the start."""
PATIENCE = 0.02
"""Temperature of the rough plan whose potentials are the first prices."""
FIRST = 24
"""Partners of each row and of each column of a stored matrix that are the first candidates."""
SLACK = 0.15
"""Partners that far below the best are left out of the first candidates."""


@dataclass(frozen=True, eq=False)
class Assignment:
    """One-to-one links, left ascending, and the prices that bound every other assignment.

    ``objective`` is the total profit of the links, plus what those who stay alone are worth if
    that was given. ``bound`` is what no assignment exceeds; ``gap`` is the distance to it, as
    a share of it: zero if the links are proven to be the best.
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
    pairs: int
    """How many pairs were candidates in the end."""


@dataclass(frozen=True, eq=False)
class Certificate:
    """What prices prove about an assignment, found by looking at every pair once."""

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
    left_alone: Vector | float | None = None,
    right_alone: Vector | float | None = None,
    gap: float = 0.0,
    seconds: float = math.inf,
    progress: Progress | None = None,
) -> Assignment:
    """The links of largest total profit.

    ``candidates`` and right ``prices`` to start from make it faster and change nothing.
    ``left_alone`` and ``right_alone`` are what entities are worth without a partner; without
    them, everyone of the smaller side gets one. It stops early once the answer is proven to
    be within ``gap`` of the best, or when ``seconds`` are over.
    """
    begin = time.perf_counter()
    if candidates is None:
        candidates = _first_candidates(profit)
    if prices is None:
        prices = sparse.sinkhorn(candidates, temperature=PATIENCE, iterations=10).right
    market = _open_market(profit, candidates, prices, left_alone, right_alone)
    rounds = 0
    while True:
        market.settle()
        rounds += 1
        if progress:
            progress(1 - 0.5**rounds)
        checked = _check(profit, market, MOST << min(max(rounds - 4, 0), 20), begin + seconds)
        forced_out = market.forced_out()
        if checked.proven and forced_out:
            market.force()
        elif checked.proven or checked.late or checked.gap(profit, market) <= gap:
            break
        else:
            market.join(checked)
    if forced_out:  # there was no time to find out who is best for whom
        market.pair_up(profit)
    left = np.flatnonzero(market.mate >= 0)
    objective, bound = market.value(profit), checked.bound(market)
    # Profits that candidates came with are not taken on trust; what rounding to whole numbers
    # takes away is no gap.
    proven = checked.proven and bound - objective <= 2 * sum(profit.shape) / market.scale
    return Assignment(
        left=left,
        right=market.mate[left],
        objective=objective,
        bound=max(bound, objective),
        gap=0.0 if proven else _share(bound - objective, bound),
        left_prices=market.left_price / market.scale,
        right_prices=market.right_price / market.scale,
        rounds=rounds,
        pairs=len(market.candidates),
    )


def certify(
    profit: Profits,
    left: Positions,
    right: Positions,
    left_prices: Vector,
    right_prices: Vector,
    *,
    left_alone: Vector | float | None = None,
    right_alone: Vector | float | None = None,
) -> Certificate:
    """Check prices against every pair: what they prove about these links.

    Nothing is taken on trust: prices that are too low for some pair are made good for in the
    bound, so that wrong prices give a worse bound, never a false one; and links that are not
    one to one, or leave out who must not be, are a ValueError.
    """
    n, m = profit.shape
    if len(np.unique(left)) < len(left) or len(np.unique(right)) < len(right):
        raise ValueError("links must be one to one")
    alone = [
        _worth_alone(given, size, other)
        for given, size, other in ((left_alone, n, m), (right_alone, m, n))
    ]
    if len(left) < min(n, m) and any(own is None for own in alone):
        raise ValueError("links must leave nobody of the smaller side out")
    lonely = [np.setdiff1d(np.arange(size), linked) for size, linked in ((n, left), (m, right))]
    objective = float(profit.of(left, right).sum(dtype=np.float64)) + sum(
        float(own[some].sum()) for own, some in zip(alone, lonely, strict=True) if own is not None
    )
    return bounded(
        profit,
        left_prices if alone[0] is None else np.maximum(left_prices, alone[0]),
        right_prices if alone[1] is None else np.maximum(right_prices, alone[1]),
        objective=objective,
    )


def bounded(
    profit: Profits, left_prices: Vector, right_prices: Vector, *, objective: float
) -> Certificate:
    """How far a total profit can be from the best, as far as prices prove."""
    excess = np.zeros(profit.shape[0])
    for _, rows, columns in profit.above(left_prices, right_prices):
        over = profit.of(rows, columns) - left_prices[rows] - right_prices[columns]
        np.maximum.at(excess, rows, over)
    bound = float((left_prices + excess).sum() + right_prices.sum())
    short = _share(bound - objective, bound)
    return Certificate(objective, bound, short, float(excess.max(initial=0.0)))


@dataclass(eq=False)
class _Market:
    """The state of a solution: candidates and prices in whole numbers, and who has whom."""

    candidates: Candidates
    profit: Whole
    scale: float
    left_alone: Whole
    right_alone: Whole
    left_price: Whole
    right_price: Whole
    mate: Positions
    other_mate: Positions
    forced: tuple[bool, bool]
    """Whether left, and right, entities must not stay alone: it is just very dear then."""

    def settle(self) -> None:
        """Solve the problem on the candidates, from the prices at hand."""
        starts, partners = self.candidates.starts, self.candidates.right
        self._raise_left()
        free = np.flatnonzero(self.mate < 0)
        augment(
            free,
            starts,
            partners,
            self.profit,
            self.left_alone,
            self.left_price,
            self.right_price,
            self.mate,
            self.other_mate,
        )
        # Right entities that nobody took must not cost anything: the same from their side.
        idle = np.flatnonzero((self.other_mate < 0) & (self.right_price > self.right_alone))
        if len(idle):
            starts, order = self.candidates.by_right
            augment(
                idle,
                starts,
                self.candidates.left[order],
                self.profit[order],
                self.right_alone,
                self.right_price,
                self.left_price,
                self.other_mate,
                self.mate,
            )

    def _raise_left(self) -> None:
        """Left prices as low as the candidates allow; who has not his best gives it back."""
        starts = self.candidates.starts
        worth = self.profit - self.right_price[self.candidates.right]
        filled = np.flatnonzero(np.diff(starts))
        self.left_price = self.left_alone.copy()
        if len(filled):
            best = np.maximum.reduceat(worth, starts[filled])
            self.left_price[filled] = np.maximum(best, self.left_alone[filled])
        linked = np.flatnonzero(self.mate >= 0)
        places = self.candidates.find(linked, self.mate[linked])
        unhappy = linked[worth[places] < self.left_price[linked]]
        self.other_mate[self.mate[unhappy]] = -1
        self.mate[unhappy] = -1
        self._take_free(worth)

    def _take_free(self, worth: Whole) -> None:
        """Left entities take a free partner that is as good as any to them, first come."""
        left, right = self.candidates.left, self.candidates.right
        places = np.flatnonzero(worth == self.left_price[left])
        places = places[np.argsort(_spread(left[places], right[places]), kind="stable")]
        while True:
            places = places[(self.mate[left[places]] < 0) & (self.other_mate[right[places]] < 0)]
            if not len(places):
                break
            rows, first = np.unique(left[places], return_index=True)
            columns, chosen = np.unique(right[places[first]], return_index=True)
            self.mate[rows[chosen]] = columns
            self.other_mate[columns] = rows[chosen]

    def join(self, checked: _Checked) -> None:
        """Take up pairs that could improve the answer."""
        self.candidates = self.candidates.joined(checked.left, checked.right, checked.profit)
        self.profit = _whole(self.candidates.values, self.scale)

    def correct(self, places: Positions, profit: Matrix) -> None:
        """Take up the profits of candidates that were given with others."""
        if len(places):
            values = self.candidates.values.copy()
            values[places] = profit
            self.candidates = replace(self.candidates, values=values)
            self.profit = _whole(values, self.scale)

    def forced_out(self) -> bool:
        """Whether someone is without partner who must have one."""
        mates = (self.mate, self.other_mate)
        return any(
            must and bool((own < 0).any()) for must, own in zip(self.forced, mates, strict=True)
        )

    def force(self) -> None:
        """Make it dearer to stay alone for those who must not."""
        self.left_alone = self.left_alone * (8 if self.forced[0] else 1)
        self.right_alone = self.right_alone * (8 if self.forced[1] else 1)
        if -int(min(self.left_alone.min(), self.right_alone.min())) > 2**58:
            raise RuntimeError("no full assignment was found; please report this")

    def pair_up(self, profit: Profits) -> None:
        """Give those who must not stay alone any partner that is left."""
        rows, columns = np.flatnonzero(self.mate < 0), np.flatnonzero(self.other_mate < 0)
        count = min(len(rows), len(columns))
        rows, columns = rows[:count], columns[:count]
        new = self.candidates.find(rows, columns) < 0
        self.candidates = self.candidates.joined(
            rows[new], columns[new], profit.of(rows[new], columns[new])
        )
        self.mate[rows], self.other_mate[columns] = columns, rows

    def value(self, profit: Profits) -> float:
        """The total profit, with that of those who stay alone if it counts."""
        linked = np.flatnonzero(self.mate >= 0)
        total = float(profit.of(linked, self.mate[linked]).sum(dtype=np.float64))
        if not self.forced[0]:
            total += float(self.left_alone[self.mate < 0].sum() / self.scale)
        if not self.forced[1]:
            total += float(self.right_alone[self.other_mate < 0].sum() / self.scale)
        return total


@dataclass(frozen=True, eq=False)
class _Checked:
    """The pairs that could improve an answer, or nearly, and by how much each row could."""

    left: Positions
    right: Positions
    profit: Matrix
    excess: Vector
    proven: bool
    """Whether no pair could."""
    late: bool

    def bound(self, market: _Market) -> float:
        """What no assignment exceeds."""
        prices = np.concatenate([market.left_price, market.right_price]) / market.scale
        return float(prices.sum() + self.excess.sum())

    def gap(self, profit: Profits, market: _Market) -> float:
        """How far the answer can be from the best, as a share of it."""
        if market.forced_out():
            return math.inf
        bound = self.bound(market)
        return _share(bound - market.value(profit), bound)


def _open_market(
    profit: Profits,
    candidates: Candidates,
    prices: Vector,
    left_alone: Vector | float | None,
    right_alone: Vector | float | None,
) -> _Market:
    n, m = profit.shape
    ceiling = max(
        profit.ceiling,
        *(float(np.abs(a).max(initial=0.0)) for a in (left_alone, right_alone) if a is not None),
        1e-30,
    )
    scale = 2.0 ** (DIGITS - math.ceil(math.log2(ceiling)))
    ours, theirs = (
        _worth_alone(given, size, other)
        for given, size, other in ((left_alone, n, m), (right_alone, m, n))
    )
    # Whoever must not stay alone pays dearly for it: more than any exchange of one pair gains.
    floor = _whole(np.full(m, -4 * ceiling) if theirs is None else theirs, scale)
    right_price = _whole(np.clip(prices, -ceiling, ceiling), scale)
    return _Market(
        candidates=candidates,
        profit=_whole(candidates.values, scale),
        scale=scale,
        left_alone=_whole(np.full(n, -4 * ceiling) if ours is None else ours, scale),
        right_alone=floor,
        left_price=np.zeros(n, dtype=np.int64),
        right_price=np.maximum(right_price, floor),
        mate=np.full(n, -1, dtype=np.int64),
        other_mate=np.full(m, -1, dtype=np.int64),
        forced=(ours is None, theirs is None),
    )


def _worth_alone(given: Vector | float | None, size: int, others: int) -> Vector | None:
    """What each entity of a side is worth without partner; None where it must have one."""
    if given is not None:
        return np.zeros(size) + given
    return None if size <= others else np.zeros(size)


def _check(profit: Profits, market: _Market, most: int, deadline: float) -> _Checked:
    """Hold the prices against every pair."""
    left_price, right_price = market.left_price / market.scale, market.right_price / market.scale
    found = []
    excess = np.zeros(profit.shape[0])
    stop, proven = 0, True
    near = NEAR * profit.ceiling
    for rows, left, right in profit.above(left_price - near, right_price):
        values = profit.of(left, right)
        over = _whole(values, market.scale) - market.left_price[left] - market.right_price[right]
        better = over > 0
        proven &= not better.any()
        np.maximum.at(excess, left[better], over[better] / market.scale)
        places = market.candidates.find(left, right)
        market.correct(places[better & (places >= 0)], values[better & (places >= 0)])
        new = np.flatnonzero(places < 0)
        best = new[_best_of_each(left[new], right[new], over[new], most)]
        found.append((left[best], right[best], values[best]))
        stop = rows.stop
        if time.perf_counter() > deadline:
            break
    late = time.perf_counter() > deadline
    # Rows that there was no time for could have anything.
    highest = profit.ceiling - right_price.min(initial=0.0)
    excess[stop:] = np.maximum(highest - left_price[stop:], 0.0)
    if not found:
        none = np.empty(0, dtype=np.int64)
        return _Checked(
            none, none, np.empty(0, dtype=np.float32), excess, proven and not late, late
        )
    columns = [np.concatenate(column) for column in zip(*found, strict=True)]
    return _Checked(columns[0], columns[1], columns[2], excess, proven and not late, late)


def _best_of_each(left: Positions, right: Positions, over: Whole, most: int) -> Positions:
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


def _first_candidates(profit: Profits) -> Candidates:
    """Likely pairs of a stored matrix: the best of each row, and of each column."""
    if not isinstance(profit, StoredProfit):
        raise TypeError("candidates are needed for a profit that is not stored")
    matrix = profit.matrix
    if matrix.size <= SMALL:
        return every_pair(matrix)
    keys = [_best_of_rows(matrix), _best_of_rows(matrix.T)]
    flat = np.union1d(
        keys[0][0] * profit.shape[1] + keys[0][1], keys[1][1] * profit.shape[1] + keys[1][0]
    )
    left, right = np.divmod(flat, max(profit.shape[1], 1))
    return from_pairs(profit.shape, left, right, profit.of(left, right))


def _best_of_rows(matrix: Matrix) -> tuple[Positions, Positions]:
    """The best few of each row, by profit less a guess at the column's price."""
    if not matrix.size:
        none = np.empty(0, dtype=np.int64)
        return none, none
    crowd = matrix[:: max(1, len(matrix) // 500)]
    few = min(8, len(crowd))
    prices = np.partition(crowd, len(crowd) - few, axis=0)[len(crowd) - few :].mean(axis=0)
    size = float(np.abs(crowd).max())
    span, blur = SLACK * size, np.float32(1e-5 * size)

    def some(rows: slice) -> tuple[Positions, Positions]:
        worth = matrix[rows] - prices
        near = worth >= worth.max(axis=1, keepdims=True) - span
        for row in np.flatnonzero(near.sum(axis=1) > FIRST):
            places = np.flatnonzero(near[row])
            # Of equals, each row takes others.
            mixed = _spread(np.full(len(places), rows.start + row), places) * np.float32(2**-32)
            best = np.argpartition(worth[row, places] + blur * mixed, -FIRST)[:-FIRST]
            near[row, places[best]] = False
        left, right = np.divmod(np.flatnonzero(near), matrix.shape[1])
        return left + rows.start, right

    parts = in_parallel(some, row_blocks((matrix.shape[0], matrix.shape[1]), 2**21))
    return np.concatenate([a for a, _ in parts]), np.concatenate([b for _, b in parts])


def _whole(values: NDArray[np.floating], scale: float) -> Whole:
    return np.rint(values.astype(np.float64) * scale).astype(np.int64)


def _share(short: float, bound: float) -> float:
    return max(short, 0.0) / max(abs(bound), 1e-12)
