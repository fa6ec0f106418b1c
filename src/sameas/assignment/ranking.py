"""The best partners of each entity, ranks, pairs that are each other's best, and shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sameas.assignment.sinkhorn import Plan, usable
from sameas.candidates.pairs import Candidates, Pairs, PairsByRow, line_sums, lines_of_rows
from sameas.compute.arrays import Matrix, Positions, Vector
from sameas.compute.device import device_in_use
from sameas.compute.kernels.assignment import (
    BestOfEach,
    Side,
    best_of_lines,
    best_places,
    count_ranks,
)
from sameas.compute.parallel import in_parallel, slices

if TYPE_CHECKING:
    from sameas.compute.on_device import MatrixThere

NO_PARTNERS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Ranked:
    """The best right entities of each left one: pairs by left position, best first.

    ``rank`` is one for the best; entities that are worth the same share the mean of their
    places ("realistic" ranks), counted over all pairs, not just these.
    """

    left: Positions
    right: Positions
    rank: Vector
    values: Matrix


def ranked(pairs: Pairs, prices: Vector, k: int, *, partner: Positions | None = None) -> Ranked:
    """The k right entities of largest value less price for each left one, ties by position.

    ``partner`` holds each left entity's partner, or -1; where it is among the pairs it comes first.
    """
    lines = lines_of_rows(pairs)
    if (there := _on_device(pairs)) is not None:
        given = NO_PARTNERS if partner is None else partner
        indices, ranks = there.best_few(k, prices, given)
    else:
        indices, ranks = best_few(lines, k, prices, partner)
    return Ranked(*lines.positions(indices), ranks, lines.values[indices])


def best_few(
    lines: PairsByRow, k: int, prices: Vector, partner: Positions | None = None
) -> tuple[Positions, Vector]:
    """The places of the k largest values less price of each line, best first, and their ranks."""
    ends = np.append(0, np.cumsum(np.minimum(np.diff(lines.starts), k)))
    places, ranks = np.empty(ends[-1], dtype=np.int64), np.empty(ends[-1])
    single, out = prices.astype(np.float32), BestOfEach(ends, places, ranks)
    partner = NO_PARTNERS if partner is None else partner

    def part(rows: slice) -> None:
        best_of_lines(*lines, single, partner, rows.start, rows.stop, out)

    in_parallel(part, lines.parts())
    return places, ranks


def ranks_of(
    pairs: Pairs,
    prices: Vector,
    left: Positions,
    right: Positions,
    *,
    partner: Positions | None = None,
) -> Vector:
    """The realistic rank of each pair among those of its left entity, NaN if it is none of them."""
    partner = NO_PARTNERS if partner is None else partner
    if (there := _on_device(pairs)) is not None:
        return there.ranks_of(left, right, prices, partner)
    lines, ranks = lines_of_rows(pairs), np.empty(len(left))
    if isinstance(pairs, Candidates):
        indices = pairs.find(left, right)
    else:
        indices = left * pairs.shape[1] + right
    single = prices.astype(np.float32)

    def part(queries: slice) -> None:
        count_ranks(*lines, single, partner, left[queries], indices[queries], ranks[queries])

    in_parallel(part, slices(len(left), 1000))
    return ranks


def _on_device(pairs: Pairs) -> MatrixThere | None:
    """A matrix on the device in use; None for candidates, and where there is no device."""
    device = device_in_use()
    if device is None or isinstance(pairs, Candidates) or not pairs.size:
        return None
    return device.matrix(pairs)


def mutual(
    pairs: Pairs,
    plan: Plan,
    open_left: NDArray[np.bool_] | None = None,
    open_right: NDArray[np.bool_] | None = None,
) -> Positions:
    """The places of the pairs that are both their left and their right entity's best.

    Only pairs between open entities count; all are open by default. The place of a pair in a
    matrix is left * width + right.
    """
    lines, (n, m) = lines_of_rows(pairs), pairs.shape
    left, right = (
        Side(
            potentials,
            np.ones(size, dtype=np.bool_) if is_open is None else is_open,
            np.full(size, -1, dtype=np.int64),
            np.full(size, -np.inf),
        )
        for potentials, is_open, size in ((plan.left, open_left, n), (plan.right, open_right, m))
    )
    best_places(*lines, left, right)
    indices = left.places[left.places >= 0]
    chosen: Positions = indices[right.places[lines.positions(indices)[1]] == indices]
    return chosen


def upper_bound(pairs: Pairs, prices: Vector) -> float:
    """A bound on the total of any one-to-one assignment, from any prices of the right entities.

    Weak duality: with prices v >= 0 the total is at most sum v_j + sum max_j (X_ij - v_j); where
    all right entities must be linked (the sides are of equal size) v may have any sign.
    With fewer right entities than left ones, only as many rows as can be linked count.
    """
    n, m = pairs.shape
    if not n or not m:
        return 0.0
    if n != m:
        prices = np.maximum(prices - prices.min(), 0)
    gains = line_sums(lines_of_rows(pairs), prices, 0.0)
    return float(prices.sum() + np.sort(gains)[-m:].sum())


def shares(pairs: Pairs, plan: Plan, left: Positions, right: Positions, values: Matrix) -> Vector:
    """Each pair's share of the plan's mass in its row and in its column, the lesser of both.

    ``values`` are those of the pairs. A pair that is no candidate counts as one more in its row
    and its column.
    """
    assert plan.left_mass is not None
    assert plan.right_mass is not None
    heat = usable(plan.temperature)
    entries = values - plan.left[left] - plan.right[right]
    mass = np.maximum(plan.left_mass[left], plan.right_mass[right])
    if isinstance(pairs, Candidates):
        with_pair = heat * np.logaddexp(mass / heat, entries / heat)
        mass = np.where(pairs.find(left, right) >= 0, mass, with_pair)
    # Above one by rounding only.
    probability: Vector = np.exp(np.minimum((entries - mass) / heat, 0.0))
    return probability
