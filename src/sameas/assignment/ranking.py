"""Who else was in question: the best partners of each entity, and its share of the mass.

For a profit matrix that is there as a whole; ``sparse`` answers the same for candidates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sameas.assignment.sinkhorn import TILE_BYTES, Plan, Vector, usable
from sameas.graph import Positions
from sameas.parallel import in_parallel
from sameas.profit import row_blocks
from sameas.rows import Matrix


@dataclass(frozen=True, eq=False)
class Ranked:
    """The best right entities of each left one: pairs by left position, best first.

    ``rank`` is one for the best; entities that are worth the same share the mean of their
    places ("realistic" ranks), counted over all that were in question, not just these.
    """

    left: Positions
    right: Positions
    rank: NDArray[np.float64]
    values: Matrix


def ranked(profit: Matrix, prices: Vector, k: int, *, partner: Positions | None = None) -> Ranked:
    """The k right entities of largest profit less price for each left one, ties by position.

    ``partner`` holds each left entity's partner, or -1; where there is one it comes first.
    """
    k = min(k, profit.shape[1])
    right = np.empty((profit.shape[0], k), dtype=np.int64)
    rank = np.empty((profit.shape[0], k))

    def tile(rows: slice) -> None:
        right[rows], rank[rows] = _top(_worth(profit, prices, rows, partner), k)

    if k:
        in_parallel(tile, row_blocks(profit.shape, TILE_BYTES))
    left = np.repeat(np.arange(profit.shape[0]), k)
    return Ranked(left, right.ravel(), rank.ravel(), profit[left, right.ravel()])


def ranks_of(
    profit: Matrix,
    prices: Vector,
    left: Positions,
    right: Positions,
    *,
    partner: Positions | None = None,
) -> NDArray[np.float64]:
    """The realistic rank of each pair's right entity among all, seen from its left one."""
    ranks = np.empty(len(left))

    def tile(some: slice) -> None:
        worth = _worth(profit, prices, left[some], partner)
        own = worth[np.arange(len(worth)), right[some], None]
        ranks[some] = (worth > own).sum(axis=1) + ((worth == own).sum(axis=1) + 1) / 2

    in_parallel(tile, row_blocks((len(left), profit.shape[1]), TILE_BYTES))
    return ranks


def _worth(
    profit: Matrix, prices: Vector, rows: slice | Positions, partner: Positions | None
) -> Matrix:
    """Profit less price of some rows, infinite for a partner."""
    worth: Matrix = profit[rows] - prices.astype(np.float32)
    if partner is not None:
        own = partner[rows]
        paired = np.flatnonzero(own >= 0)
        worth[paired, own[paired]] = np.inf
    return worth


def _top(worth: Matrix, k: int) -> tuple[Positions, NDArray[np.float64]]:
    """The columns of the k largest values of each row, best first, and their realistic ranks."""
    limit = np.partition(worth, worth.shape[1] - k, axis=1)[:, -k]
    rows = np.arange(len(worth))[:, None]
    # All that beat the limit are in; of those that meet it, the first ones.
    above = worth > limit[:, None]
    level = worth == limit[:, None]
    missing = k - above.sum(axis=1)
    chosen = above | (level & (np.cumsum(level, axis=1) <= missing[:, None]))
    columns = np.nonzero(chosen)[1].reshape(len(worth), k)
    values = worth[rows, columns]
    order = np.argsort(-values, axis=1, kind="stable")
    columns, values = columns[rows, order], values[rows, order]
    first = _first_of_run(values)
    last = k - 1 - _first_of_run(values[:, ::-1])[:, ::-1]
    ties = (last - first + 1).astype(np.float64)
    # Those that meet the limit may have equals among the columns that were left out.
    ties = np.where(values == limit[:, None], level.sum(axis=1)[:, None], ties)
    return columns, first + (ties + 1) / 2


def _first_of_run(values: Matrix) -> Positions:
    """For sorted rows, the place where the run of values equal to each begins."""
    begins = np.ones(values.shape, dtype=np.bool_)
    begins[:, 1:] = values[:, 1:] != values[:, :-1]
    places = np.where(begins, np.arange(values.shape[1]), 0)
    first: Positions = np.maximum.accumulate(places, axis=1)
    return first


def best_left(profit: Matrix, prices: Vector) -> Positions:
    """The left entity of largest profit less price for each right one, ties by position."""
    best = np.zeros(profit.shape[1], dtype=np.int64)
    peak = np.full(profit.shape[1], -np.inf)
    columns = np.arange(profit.shape[1])
    for rows in row_blocks(profit.shape, TILE_BYTES):
        # In double precision: prices may be large, and equals must stay equal.
        worth = profit[rows] - prices[rows, None]
        top = worth.argmax(axis=0)
        value = worth[top, columns]
        better = value > peak
        best[better] = top[better] + rows.start
        peak[better] = value[better]
    return best


def upper_bound(profit: Matrix, prices: Vector) -> float:
    """What no one-to-one assignment can exceed, from any prices of the right entities.

    Weak duality: with prices v >= 0 the total is at most sum v_j + sum max_j (X_ij - v_j); where
    all right entities must be given away (the sides are of equal size) v may have any sign.
    With fewer right entities than left ones, only as many rows as can be served count.
    """
    n, m = profit.shape
    if not n or not m:
        return 0.0
    if n != m:
        prices = np.maximum(prices - prices.min(), 0)
    gains = np.concatenate(
        [
            (profit[rows] - prices.astype(np.float32)).max(axis=1).astype(np.float64)
            for rows in row_blocks(profit.shape, TILE_BYTES)
        ]
    )
    if n > m:
        gains = np.sort(gains)[-m:]
    return float(prices.sum() + gains.sum())


def shares(profit: Matrix, plan: Plan, left: Positions, right: Positions) -> Vector:
    """Each pair's share of the plan's mass in its row and in its column, the lesser of both."""
    if not len(left):
        return np.zeros(0)
    heat = usable(plan.temperature)
    row_mass, column_mass = _log_masses(profit, plan, heat)
    entries = (profit[left, right] - plan.left[left] - plan.right[right]) / heat
    logs = entries - np.maximum(row_mass[left], column_mass[right])
    shares: Vector = np.exp(np.minimum(logs, 0.0))  # above zero only by rounding
    return shares


def _log_masses(profit: Matrix, plan: Plan, heat: float) -> tuple[Vector, Vector]:
    """The logarithms of the plan's row sums and column sums."""
    rows_log = np.empty(profit.shape[0])
    peak = np.full(profit.shape[1], -np.inf)
    total = np.zeros(profit.shape[1])
    for rows in row_blocks(profit.shape, TILE_BYTES):
        entries = profit[rows] - plan.left[rows, None].astype(np.float32)
        entries -= plan.right.astype(np.float32)
        entries *= np.float32(1 / heat)
        top = entries.max(axis=1, keepdims=True)
        rows_log[rows] = (top[:, 0] + np.log(np.exp(entries - top).sum(axis=1))).astype(np.float64)
        new = np.maximum(peak, entries.max(axis=0))
        total = total * np.exp(peak - new) + np.exp(entries - new.astype(np.float32)).sum(axis=0)
        peak = new
    return rows_log, peak + np.log(total)
