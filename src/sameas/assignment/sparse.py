"""Sinkhorn and the questions asked of its plan, where only candidates count.

What a pair that is no candidate would add is taken as nothing. With every pair a candidate the
answers are those of the dense functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sameas.assignment.ranking import Ranked
from sameas.assignment.sinkhorn import Ghosts, Plan, Vector, log_sum, usable
from sameas.candidates import Candidates
from sameas.graph import Positions
from sameas.parallel import even_slices, in_parallel
from sameas.rows import Matrix

PART = 400_000
"""Pairs treated at once; what that takes stays in the cache."""


def sinkhorn(
    candidates: Candidates,
    *,
    temperature: float,
    iterations: int,
    progress: Callable[[float], None] | None = None,
) -> Plan:
    """The plan after so many rounds of dividing by row sums, then by column sums.

    Sums are taken as logarithms with the largest term drawn out, so that no temperature
    overflows. Sides of unequal size are made up as in the dense version.
    """
    heat = usable(temperature)
    n, m = candidates.shape
    ghosts = Ghosts(max(m - n, 0), max(n - m, 0))
    starts, order = candidates.by_right
    rows = _Lines(candidates.starts, candidates.right, candidates.values)
    columns = _Lines(starts, candidates.left[order], candidates.values[order])
    left, right = np.zeros(n), np.zeros(m)
    for done in range(iterations):
        left = rows.log_sums(right, heat, _extra(ghosts.right_count, ghosts.right, heat))
        ghost_left = log_sum(-right, heat) if ghosts.left_count else 0.0
        right = columns.log_sums(left, heat, _extra(ghosts.left_count, ghost_left, heat))
        ghost_right = log_sum(-left, heat) if ghosts.right_count else 0.0
        # Adding to one side what is taken from the other changes nothing.
        shift = float(right.mean()) if m else 0.0
        left, right = left + shift, right - shift
        ghosts = Ghosts(
            ghosts.left_count, ghosts.right_count, ghost_left + shift, ghost_right - shift
        )
        if progress:
            progress((done + 1) / (iterations + 1))
    if not iterations:
        left = rows.peaks(0.0 if ghosts.right_count else -np.inf)
    extra = _extra(ghosts.right_count, ghosts.right, heat)
    new = rows.log_sums(right, heat, extra, empty=-np.inf)
    with np.errstate(over="ignore"):
        deviation = float(np.abs(np.expm1((new - left) / heat)).max(initial=0.0))
    return Plan(left, right, temperature, iterations, deviation)


def ranked(
    candidates: Candidates, prices: Vector, k: int, *, partner: Positions | None = None
) -> Ranked:
    """The k candidates of largest profit less price for each left entity, ties by position.

    ``partner`` holds each left entity's partner, or -1; where it is a candidate it comes first.
    """

    def some(rows: slice) -> tuple[Positions, Positions, NDArray[np.float64]]:
        left, part, worth = _worths(candidates, prices, rows, partner)
        order = np.lexsort((-worth, left))
        left = left[order]
        places, ranks = _places(left, worth[order])
        top = places < k
        return left[top], part.start + order[top], ranks[top]

    parts = in_parallel(some, even_slices(candidates.starts, PART))
    if not parts:
        none = np.empty(0, dtype=np.int64)
        return Ranked(none, none, np.empty(0), candidates.values[:0])
    left, places, rank = (np.concatenate(column) for column in zip(*parts, strict=True))
    right = candidates.right[places].astype(np.int64)
    return Ranked(left, right, rank, candidates.values[places])


def ranks_of(
    candidates: Candidates,
    prices: Vector,
    left: Positions,
    right: Positions,
    *,
    partner: Positions | None = None,
) -> NDArray[np.float64]:
    """The realistic rank of each pair among its left entity's candidates, NaN if it is none."""
    ranks = np.empty(len(candidates))

    def some(rows: slice) -> None:
        own, part, worth = _worths(candidates, prices, rows, partner)
        order = np.lexsort((-worth, own))
        ranks[part.start + order] = _places(own[order], worth[order])[1]

    in_parallel(some, even_slices(candidates.starts, PART))
    places = candidates.find(left, right)
    found = np.full(len(places), np.nan)
    found[places >= 0] = ranks[places[places >= 0]]
    return found


def mutual(candidates: Candidates, plan: Plan, open_pairs: NDArray[np.bool_]) -> Positions:
    """The places of those open pairs that are both their left and their right entity's best."""
    worth = candidates.values - plan.right[candidates.right]
    worth[~open_pairs] = -np.inf
    best_right = first_best(candidates.starts, worth)
    starts, order = candidates.by_right
    worth = candidates.values - plan.left[candidates.left]
    worth[~open_pairs] = -np.inf
    best_left = first_best(starts, worth[order])
    best_left[best_left >= 0] = order[best_left[best_left >= 0]]
    places = best_right[best_right >= 0]
    places = places[best_left[candidates.right[places]] == places]
    chosen: Positions = places[open_pairs[places]]
    return chosen


def shares(
    candidates: Candidates, plan: Plan, left: Positions, right: Positions, profit: Matrix
) -> Vector:
    """Each pair's share of the plan's mass in its row and in its column, the lesser of both.

    A pair that is no candidate counts as one more in its row and its column.
    """
    heat = usable(plan.temperature)
    starts, order = candidates.by_right
    rows = _Lines(candidates.starts, candidates.right, candidates.values)
    columns = _Lines(starts, candidates.left[order], candidates.values[order])
    masses = [
        rows.log_sums(plan.right, heat, -np.inf, empty=-np.inf)[left] - plan.left[left],
        columns.log_sums(plan.left, heat, -np.inf, empty=-np.inf)[right] - plan.right[right],
    ]
    entries = profit - plan.left[left] - plan.right[right]
    known = candidates.find(left, right) >= 0
    mass = np.maximum(masses[0], masses[1])
    mass = np.where(known, mass, heat * np.logaddexp(mass / heat, entries / heat))
    found: Vector = np.exp(np.minimum((entries - mass) / heat, 0.0))  # above one by rounding only
    return found


@dataclass(frozen=True, eq=False)
class _Lines:
    """The pairs by rows, or by columns, with the position of the other side."""

    starts: Positions
    others: NDArray[np.int32]
    profit: Matrix

    def log_sums(self, potentials: Vector, heat: float, extra: float, empty: float = 0.0) -> Vector:
        """heat * ln(sum over a line of exp((profit - potential) / heat)), and one term more.

        A line with nothing in it takes part in nothing; its sum is told as ``empty``.
        """
        sums = np.full(len(self.starts) - 1, extra)

        def some(lines: slice) -> None:
            starts, filled, part = _filled(self.starts, lines)
            if not len(filled):
                return
            values = self.profit[part] - potentials[self.others[part]]
            peaks = np.maximum(np.maximum.reduceat(values, starts), extra)
            sizes = np.diff(np.append(starts, len(values)))
            values -= np.repeat(peaks, sizes)
            values *= 1 / heat
            total = np.add.reduceat(np.exp(values, out=values), starts)
            total += np.exp((extra - peaks) / heat)
            sums[filled] = peaks + heat * np.log(total)

        in_parallel(some, even_slices(self.starts, PART))
        sums[np.isneginf(sums)] = empty
        return sums

    def peaks(self, floor: float) -> Vector:
        """The largest profit of each line, or the floor where that is more."""
        starts, filled, _ = _filled(self.starts, slice(0, len(self.starts) - 1))
        peaks = np.full(len(self.starts) - 1, floor)
        if len(filled):
            peaks[filled] = np.maximum(np.maximum.reduceat(self.profit, starts), floor)
        peaks[np.isneginf(peaks)] = 0.0
        return peaks


def _extra(count: int, potential: float, heat: float) -> float:
    """What imagined entities of profit zero add to a line's sum, as one term."""
    return -potential + heat * float(np.log(count)) if count else -np.inf


def _filled(starts: Positions, lines: slice) -> tuple[Positions, Positions, slice]:
    """Where the lines that have pairs start, which ones they are, and the part that holds them."""
    own = starts[lines.start : lines.stop + 1]
    filled = np.flatnonzero(np.diff(own))
    part = slice(int(own[0]), int(own[-1]))
    return own[filled] - own[0], filled + lines.start, part


def first_best(starts: Positions, worth: Vector) -> Positions:
    """The place of the first largest value of each line, -1 where there is none."""
    best = np.full(len(starts) - 1, -1, dtype=np.int64)
    for lines in _chunks(starts):
        begins, filled, part = _filled(starts, lines)
        if not len(filled):
            continue
        values = worth[part]
        sizes = np.diff(np.append(begins, len(values)))
        peaks = np.maximum.reduceat(values, begins)
        is_best = values == np.repeat(peaks, sizes)
        places = np.where(is_best, np.arange(len(values)), len(values))
        best[filled] = np.minimum.reduceat(places, begins) + part.start
        best[filled[np.isneginf(peaks)]] = -1
    return best


def _chunks(starts: Positions) -> Iterator[slice]:
    return even_slices(starts, 10 * PART)


def _worths(
    candidates: Candidates, prices: Vector, rows: slice, partner: Positions | None
) -> tuple[Positions, slice, Matrix]:
    """Left position, place and profit less price of the pairs in some rows."""
    own = candidates.starts[rows.start : rows.stop + 1]
    part = slice(int(own[0]), int(own[-1]))
    left = np.repeat(np.arange(rows.start, rows.stop), np.diff(own))
    worth = candidates.values[part] - prices[candidates.right[part]].astype(np.float32)
    if partner is not None:
        worth[candidates.right[part] == partner[left]] = np.inf
    return left, part, worth


def _places(left: Positions, worth: Matrix) -> tuple[Positions, NDArray[np.float64]]:
    """For pairs sorted by left, then worth: place in its row from zero, and realistic rank."""
    number = np.arange(len(left))
    new_row = np.ones(len(left), dtype=np.bool_)
    new_row[1:] = left[1:] != left[:-1]
    new_run = new_row.copy()
    new_run[1:] |= worth[1:] != worth[:-1]
    row_start = np.maximum.accumulate(np.where(new_row, number, 0))
    run = np.cumsum(new_run) - 1
    begins = np.flatnonzero(new_run)
    sizes = np.diff(np.append(begins, len(left)))
    ranks = begins[run] - row_start + (sizes[run] + 1) / 2
    return number - row_start, ranks
