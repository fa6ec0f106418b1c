"""Numba kernels, compiled when first used.

Compiled code is cached beside this file, or in the user's cache folder; where neither can be
written, kernels are compiled anew in every run. All kernels release the global interpreter lock:
call them from threads.

Many take lines: the pairs of entity i are at starts[i]:starts[i + 1] of ``others``, positions of
the other side, and of ``values``. ``others`` is None where each line has the whole other side.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from heapq import heappop, heappush
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import njit
from numba.core.caching import FunctionCache

log = logging.getLogger(__name__)

Array = Any
"""A NumPy array; Numba infers the rest."""
STRIDE = 64
"""Entries that are compared at once: most strides have none that counts. Only for so many, taken
as slices, the compiler compares several in one instruction."""
Kernel = TypeVar("Kernel", bound=Callable[..., Any])
_NumbaCache: Any = FunctionCache


class _Cache(_NumbaCache):  # type: ignore[misc]
    """Numba's cache; one that is damaged, or on a full disk, is as good as none."""

    def load_overload(self, *call: Any) -> Any:
        try:
            return super().load_overload(*call)
        except Exception:  # pickled, so that damage can raise nearly anything
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, *call: Any) -> None:
        with suppress(Exception):
            super().save_overload(*call)


def kernel(function: Kernel, *, summing: bool = False) -> Kernel:
    """The function, compiled; for fast ``summing``, sums may be taken in another order."""
    fast = {"reassoc", "contract", "nsz"} if summing else set()
    compiled: Any = njit(nogil=True, fastmath=fast)(function)
    try:
        compiled._cache = _Cache(function)
    except RuntimeError:  # no folder for it can be written
        _note_no_cache()
    return cast(Kernel, compiled)


@cache
def _note_no_cache() -> None:
    log.warning("no folder for compiled code can be written; set NUMBA_CACHE_DIR to start faster")


def make_ready() -> None:
    """Let Numba load what all kernels need, which takes most of a second; call it from a thread."""
    move_largest(np.zeros(1, dtype=np.float32), 1, 1)


class RowArrays(NamedTuple):
    """Feature rows: dense columns and sparse ones (CSR)."""

    dense: Array
    starts: Array
    columns: Array
    values: Array
    width: int
    """The number of sparse columns."""


@partial(kernel, summing=True)
def pair_products(
    starts: Array,
    partners: Array,
    left: RowArrays,
    left_starts: Array,
    right: RowArrays,
    right_starts: Array,
    out: Array,
    places: Array,
) -> None:
    """The largest product of left entity i with each of partners[starts[i]:starts[i + 1]].

    The rows of left entity i are left_starts[i]:left_starts[i + 1], likewise on the right; 0 where
    one has none. A left row is spread out once for all partners. Dense columns are summed in
    single precision. The two rows are written to ``places``, shape (2, pairs), if it has columns.
    """
    spread = np.zeros(left.width, dtype=np.float32)
    told = places.shape[1] > 0
    for i in range(len(starts) - 1):
        out[starts[i] : starts[i + 1]] = -np.inf
        for a in range(left_starts[i], left_starts[i + 1]):
            for e in range(left.starts[a], left.starts[a + 1]):
                spread[left.columns[e]] = left.values[e]
            for pair in range(starts[i], starts[i + 1]):
                j = partners[pair]
                for b in range(right_starts[j], right_starts[j + 1]):
                    total, dense = 0.0, np.float32(0)
                    for e in range(right.starts[b], right.starts[b + 1]):
                        total += np.float64(spread[right.columns[e]]) * np.float64(right.values[e])
                    for c in range(left.dense.shape[1]):
                        dense += left.dense[a, c] * right.dense[b, c]
                    value = np.float32(total + dense)
                    if value > out[pair]:
                        out[pair] = value
                        if told:
                            places[0, pair], places[1, pair] = a, b
            for e in range(left.starts[a], left.starts[a + 1]):
                spread[left.columns[e]] = 0.0
        for pair in range(starts[i], starts[i + 1]):
            if out[pair] == -np.inf:
                out[pair] = 0


@kernel
def sketch_products(
    starts: Array,
    partners: Array,
    left: Array,
    left_scales: Array,
    right: Array,
    right_scales: Array,
    out: Array,
) -> None:
    """Sums over hops of products of sketched rows with those of their partners."""
    for i in range(len(starts) - 1):
        for pair in range(starts[i], starts[i + 1]):
            j = partners[pair]
            total = np.float32(0)
            for h in range(left.shape[1]):
                product = np.int32(0)
                for c in range(left.shape[2]):
                    product += np.int32(left[i, h, c]) * np.int32(right[j, h, c])
                total += np.float32(product) * left_scales[i, h] * right_scales[j, h]
            out[pair] = total


class Best(NamedTuple):
    """The best k partners of each line, as heaps: the least of them first, and in ``least`` too.

    Of equal ones, the partner of the smaller number is better.
    """

    least: Array
    worth: Array
    partners: Array


@kernel
def offer(best: Best, line: int, value: float, partner: int) -> None:
    """Take a partner in if it is better than the least one, which is dropped."""
    worth, partners = best.worth, best.partners  # slices of them would cost more than the rest
    if value == worth[line, 0] and partner > partners[line, 0]:
        return
    place, k = 0, worth.shape[1]
    while True:
        child = 2 * place + 1
        if child >= k:
            break
        other = child + 1
        if other < k and (
            worth[line, other] < worth[line, child]
            or (
                worth[line, other] == worth[line, child]
                and partners[line, other] > partners[line, child]
            )
        ):
            child = other
        if worth[line, child] > value or (
            worth[line, child] == value and partners[line, child] < partner
        ):
            break
        worth[line, place], partners[line, place] = worth[line, child], partners[line, child]
        place = child
    worth[line, place], partners[line, place] = value, partner
    best.least[line] = worth[line, 0]


@kernel
def find_places(starts: Array, right: Array, lines: Array, wanted: Array, out: Array) -> None:
    """For each wanted entry of a line, the first place of the line with no smaller entry."""
    for w in range(len(wanted)):
        low, high = starts[lines[w]], starts[lines[w] + 1]
        while low < high:
            middle = (low + high) // 2
            if right[middle] < wanted[w]:
                low = middle + 1
            else:
                high = middle
        out[w] = low


@kernel
def merge_best(best: Best, others: Best) -> None:
    """Take in the partners of the same lines that were found elsewhere."""
    for line in range(len(others.least)):
        for place in range(others.worth.shape[1]):
            value, partner = others.worth[line, place], others.partners[line, place]
            if partner >= 0 and value >= best.least[line]:
                offer(best, line, value, partner)


class Near(NamedTuple):
    """Partners of each line, of which only the best k, and of these those near the best, count.

    A partner is wanted if it is one of the ``first`` few, or worth at most ``slack`` less than
    the best one. Lines are filled without order, and cut down to what is wanted when they are
    full. Partners worth no more than ``least`` are not wanted any more. Of equal ones, the partner
    that came first is better: offer them in ascending order.
    """

    least: Array
    counts: Array
    kept: Array
    """The worth of each partner and its number, next to each other; shape (lines, room, 2)."""


@kernel
def move_largest(values: Array, size: int, k: int) -> None:
    """Move the k largest of the first ``size`` values to the front, the k-th to place k - 1."""
    low, high = 0, size - 1
    while low < high:
        a, b, c = values[low], values[(low + high) // 2], values[high]
        pivot = max(min(a, b), min(max(a, b), c))  # the middle one of three
        i, j = low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if k - 1 <= j:
            high = j
        elif k - 1 >= i:
            low = i
        else:
            return


@kernel
def cut_line(near: Near, line: int, wanted: tuple[int, int, float], room: Array) -> None:
    """Drop the partners of a line that are not wanted; ``room`` is for as many values.

    ``wanted`` is k, first and slack: how many are kept, how many however far they are, and how
    far below the best is far.
    """
    k, first, slack = wanted
    kept, count = near.kept[line], near.counts[line]
    if count == 0:
        return
    room[:count] = kept[:count, 0]
    limit = np.float32(-np.inf)
    if count > k:
        move_largest(room, count, k)
        limit = room[k - 1]
        near.least[line] = max(near.least[line], limit)
    size, most = min(count, k), k
    if size > first:
        far = room[:size].max() - np.float32(slack)
        move_largest(room, size, first)
        if room[first - 1] < far:
            limit, most = room[first - 1], first
        else:
            limit = max(limit, far)
        near.least[line] = max(near.least[line], limit)
    above, enough = 0, 0
    for place in range(count):
        above += kept[place, 0] > limit
        enough += kept[place, 0] >= limit
    equals, end = min(most, enough) - above, 0
    for place in range(count):
        value = kept[place, 0]
        if value > limit or (value == limit and equals > 0):
            equals -= value == limit
            kept[end, 0], kept[end, 1] = value, kept[place, 1]
            end += 1
    near.counts[line] = end


@kernel
def cut_lines(near: Near, wanted: tuple[int, int, float]) -> None:
    """Drop all partners that are not wanted."""
    room = np.empty(near.kept.shape[1], dtype=np.float32)
    for line in range(len(near.counts)):
        cut_line(near, line, wanted, room)


@kernel
def best_of_tile(
    tile: Array,
    begin: int,
    other_begin: int,
    rows: Near,
    columns: Near,
    row_wanted: tuple[int, int, float],
    column_wanted: tuple[int, int, float],
) -> None:
    """Offer all entries of a tile to its rows, from ``begin`` on, and to its columns.

    What is wanted is k, first and slack, see ``cut_line``.
    """
    width = tile.shape[1]
    room = np.empty(max(rows.kept.shape[1], columns.kept.shape[1]), dtype=np.float32)
    least = columns.least[other_begin : other_begin + width]
    row_kept, row_counts, row_full = rows.kept, rows.counts, rows.kept.shape[1]
    kept, counts, full = columns.kept, columns.counts, columns.kept.shape[1]
    for i in range(tile.shape[0]):
        line, row = begin + i, tile[i]
        limit = rows.least[line]
        for start in range(0, width, STRIDE):
            if start + STRIDE <= width:
                some, other = row[start : start + STRIDE], least[start : start + STRIDE]
                above = False
                for j in range(STRIDE):
                    above |= some[j] > min(limit, other[j])
                if not above:
                    continue
            for j in range(start, min(start + STRIDE, width)):
                value = row[j]
                if value > limit:
                    count = row_counts[line]
                    row_kept[line, count, 0], row_kept[line, count, 1] = value, other_begin + j
                    row_counts[line] = count + 1
                    if count + 1 == row_full:
                        cut_line(rows, line, row_wanted, room)
                        limit = rows.least[line]
                if value > least[j]:
                    column = other_begin + j
                    count = counts[column]
                    kept[column, count, 0], kept[column, count, 1] = value, line
                    counts[column] = count + 1
                    if count + 1 == full:
                        cut_line(columns, column, column_wanted, room)


@kernel
def places_above(matrix: Array, left: Array, right: Array) -> Array:
    """The places, row * width + column, of entries above the sum of their row's and column's limit.

    They are compared in single precision.
    """
    found, count = np.empty(1024, dtype=np.int64), 0
    width = matrix.shape[1]
    for i in range(matrix.shape[0]):
        row, limit = matrix[i], left[i]
        for start in range(0, width, STRIDE):
            if start + STRIDE <= width:
                some, other = row[start : start + STRIDE], right[start : start + STRIDE]
                above = False
                for j in range(STRIDE):
                    above |= some[j] - other[j] > limit
                if not above:
                    continue
            for j in range(start, min(start + STRIDE, width)):
                if row[j] - right[j] > limit:
                    if count == len(found):
                        found = np.concatenate((found, np.empty_like(found)))
                    found[count] = i * width + j
                    count += 1
    return found[:count]


@kernel
def told_apart(
    matrix: Array, rows: Array, columns: Array, noise: Array, shifts: Array, out: Array
) -> None:
    """The entries less what their row and column take off, plus noise that differs by row."""
    width = matrix.shape[1]
    for i in range(matrix.shape[0]):
        some, here, less = matrix[i], out[i], rows[i]
        added = noise[shifts[i] : shifts[i] + width]
        for j in range(width):
            here[j] = some[j] - less - columns[j] + added[j]


@kernel
def listed(near: Near, size: int) -> Array:
    """All partners, ``size`` of them, line by line."""
    partners, end = np.empty(size, dtype=np.int64), 0
    for line in range(len(near.counts)):
        for place in range(near.counts[line]):
            partners[end] = np.int64(near.kept[line, place, 1])
            end += 1
    return partners


@kernel
def merge_near(near: Near, others: Near, begin: int, wanted: tuple[int, int, float]) -> None:
    """Take in the partners of the same lines that were found elsewhere, from ``begin`` on."""
    room = np.empty(near.kept.shape[1], dtype=np.float32)
    for line in range(len(others.counts)):
        for place in range(others.counts[line]):
            value, partner = others.kept[line, place]
            if value > near.least[line]:
                count = near.counts[line]
                near.kept[line, count, 0], near.kept[line, count, 1] = value, partner + begin
                near.counts[line] = count + 1
                if count + 1 == near.kept.shape[1]:
                    cut_line(near, line, wanted, room)


@kernel
def best_meetings(
    left: tuple[Array, Array, Array],
    right: tuple[Array, Array, Array],
    begin: int,
    size: int,
    rows: Best,
    columns: Best,
) -> None:
    """Offer the positive products of all left rows with the right rows begin..begin + size.

    ``left`` is CSR; ``right`` has these right rows as columns (CSC), numbered from zero.
    """
    starts, features, values = left
    other_starts, others, other_values = right
    products, met = np.zeros(size, dtype=np.float32), np.empty(size + 1, dtype=np.int32)
    least = columns.least[begin : begin + size]
    for i in range(len(starts) - 1):
        count = 0
        for e in range(starts[i], starts[i + 1]):
            value = values[e]
            for q in range(other_starts[features[e]], other_starts[features[e] + 1]):
                j = others[q]
                met[count] = j
                # Without a branch, which could not be foreseen. Where values are zero, one is
                # listed again and again; a list that is full stands for all.
                count = min(count + (products[j] == 0), size)
                products[j] += value * other_values[q]
        for place in range(count):
            j = met[place] if count < size else place
            product = products[j]
            products[j] = 0
            if product > 0 and product >= rows.least[i]:
                offer(rows, i, product, begin + j)
            if product > 0 and product > least[j]:
                offer(columns, begin + j, product, i)


@kernel
def best_owners(
    queries: tuple[Array, Array, Array],
    names: tuple[Array, Array, Array],
    owners: Array,
    allowed: Array,
    best: Best,
) -> None:
    """Offer to each query the allowed owners by the product with the best of their names.

    ``queries`` is CSR; ``names`` has names as columns (CSC); name j belongs to owners[j].
    """
    starts, features, values = queries
    name_starts, others, other_values = names
    products, met = np.zeros(len(owners), dtype=np.float32), np.empty(len(owners), dtype=np.int32)
    peaks, found = np.zeros(len(allowed), dtype=np.float32), np.empty(len(allowed), dtype=np.int32)
    for i in range(len(starts) - 1):
        count, owned = 0, 0
        for e in range(starts[i], starts[i + 1]):
            value = values[e]
            for q in range(name_starts[features[e]], name_starts[features[e] + 1]):
                j = others[q]
                if products[j] == 0 and value * other_values[q] > 0:
                    met[count] = j
                    count += 1
                products[j] += value * other_values[q]
        for place in range(count):
            j = met[place]
            owner = owners[j]
            if allowed[owner] and products[j] > peaks[owner]:
                if peaks[owner] == 0:
                    found[owned] = owner
                    owned += 1
                peaks[owner] = products[j]
            products[j] = 0
        for place in range(owned):
            owner = found[place]
            if peaks[owner] >= best.least[i]:
                offer(best, i, peaks[owner], owner)
            peaks[owner] = 0


@kernel
def weighted_sums(
    starts: Array,
    others: Array,
    values: Array,
    factors: Array,
    first: int,
    last: int,
    out: Array,
) -> None:
    """The sum of values times the factors of the others, for lines first..last."""
    for i in range(first, last):
        total = 0.0
        for e in range(starts[i], starts[i + 1]):
            total += np.float64(values[e]) * factors[others[e]]
        out[i] = total


@kernel
def add_products(
    starts: Array,
    columns: Array,
    values: Array,
    other_starts: Array,
    others: Array,
    other_values: Array,
    out: Array,
) -> None:
    """Add the product of two sparse matrices (CSR) to a dense one."""
    for i in range(len(starts) - 1):
        row = out[i]
        for e in range(starts[i], starts[i + 1]):
            c, value = columns[e], values[e]
            for k in range(other_starts[c], other_starts[c + 1]):
                row[others[k]] += value * other_values[k]


@kernel
def log_sums(
    starts: Array,
    others: Array,
    values: Array,
    potentials: Array,
    heat: float,
    first: int,
    last: int,
    out: Array,
) -> None:
    """heat * ln(sum of exp((value - potential) / heat)) of lines first..last.

    The largest term is taken out of the sum, so that nothing overflows. With no heat the result
    is that term; an empty line gives -inf.
    """
    for i in range(first, last):
        peak = -np.inf
        for e in range(starts[i], starts[i + 1]):
            j = e - starts[i] if others is None else others[e]
            peak = max(peak, values[e] - potentials[j])
        out[i] = peak
        if heat == 0 or peak == -np.inf:
            continue
        total = 0.0
        for e in range(starts[i], starts[i + 1]):
            j = e - starts[i] if others is None else others[e]
            total += np.exp((values[e] - potentials[j] - peak) / heat)
        out[i] += heat * np.log(total)


@kernel
def best_of_lines(
    starts: Array,
    others: Array,
    values: Array,
    prices: Array,
    partner: Array,
    ends: Array,
    first: int,
    last: int,
    places: Array,
    ranks: Array,
) -> None:
    """The best few of lines first..last by value less price, ties by position.

    Those of line i get ends[i]:ends[i + 1] in ``places`` and ``ranks``. Equals share the mean of
    their ranks. partner[i], unless it is None, comes first.
    """
    for i in range(first, last):
        k, size = ends[i + 1] - ends[i], 0
        if k == 0:
            continue
        top = np.empty(k, dtype=np.float32)
        for e in range(starts[i], starts[i + 1]):
            j = e - starts[i] if others is None else others[e]
            worth = values[e] - prices[j]
            if partner is not None and partner[i] == j:
                worth = np.float32(np.inf)
            if size == k and worth <= top[k - 1]:
                continue
            size = min(size + 1, k)
            place = size - 1
            while place > 0 and top[place - 1] < worth:
                top[place], places[ends[i] + place] = top[place - 1], places[ends[i] + place - 1]
                place -= 1
            top[place], places[ends[i] + place] = worth, e
        ties = 0  # of the last one, which may have equals among the others
        for e in range(starts[i], starts[i + 1]):
            j = e - starts[i] if others is None else others[e]
            worth = values[e] - prices[j]
            if partner is not None and partner[i] == j:
                worth = np.float32(np.inf)
            ties += worth == top[k - 1]
        begin = 0
        while begin < k:
            end = begin + 1
            while end < k and top[end] == top[begin]:
                end += 1
            equals = ties if end == k else end - begin
            ranks[ends[i] + begin : ends[i] + end] = begin + (equals + 1) / 2
            begin = end


@kernel
def count_ranks(
    starts: Array,
    others: Array,
    values: Array,
    prices: Array,
    partner: Array,
    left: Array,
    places: Array,
    out: Array,
) -> None:
    """The rank of each pair in its line by value less price; equals share the mean rank.

    Pair q is at places[q] in line left[q]; -1 gives NaN. A partner comes first as above.
    """
    for q in range(len(left)):
        i = left[q]
        if places[q] < 0:
            out[q] = np.nan
            continue
        better, equal = 0, 0
        p = -1 if partner is None else partner[i]
        asked = places[q] - starts[i] if others is None else others[places[q]]
        limit = values[places[q]] - prices[asked] if asked != p else np.float32(np.inf)
        for e in range(starts[i], starts[i + 1]):
            j = e - starts[i] if others is None else others[e]
            worth = values[e] - prices[j] if j != p else np.float32(np.inf)
            better += worth > limit
            equal += worth == limit
        out[q] = better + (equal + 1) / 2


@kernel
def best_places(
    starts: Array,
    others: Array,
    values: Array,
    left: Array,
    right: Array,
    open_left: Array,
    open_right: Array,
    row_best: Array,
    column_best: Array,
) -> None:
    """The places of the first largest open pair of each row and of each column, -1 for none.

    In a row, values count less the potential ``right``; in a column, less ``left``.
    """
    row_best[:] = -1
    column_best[:] = -1
    peaks = np.full(len(right), -np.inf)
    for i in range(len(starts) - 1):
        if not open_left[i]:
            continue
        peak = -np.inf
        for e in range(starts[i], starts[i + 1]):
            j = e - starts[i] if others is None else others[e]
            if not open_right[j]:
                continue
            if values[e] - right[j] > peak:
                peak, row_best[i] = values[e] - right[j], e
            if values[e] - left[i] > peaks[j]:
                peaks[j], column_best[j] = values[e] - left[i], e


@kernel
def augment(
    free: Array,
    starts: Array,
    others: Array,
    profit: Array,
    alone: Array,
    price: Array,
    other_price: Array,
    mate: Array,
    other_mate: Array,
) -> None:
    """Place each free entity by one shortest augmenting path; changes prices and mates.

    Entity i may take partner others[e] at profit[e], e in starts[i]..starts[i + 1], or stay
    alone at alone[i]. Before and after: price[i] + other_price[j] >= profit for every pair, equal
    for mates, and price[i] >= alone[i], equal for entities that stay alone. All numbers are whole,
    so "equal" means equal. Prices of partners only rise; those of free partners do not change.
    """
    distance = np.empty(len(other_price), dtype=np.int64)
    reached_from = np.empty(len(other_price), dtype=np.int64)
    seen = np.full(len(other_price), -1, dtype=np.int64)
    settled = np.empty(len(other_price), dtype=np.int64)
    for turn in range(len(free)):
        start = free[turn]
        count = 0
        # A heap of partners by distance; an entry that was beaten later is skipped.
        heap = [(np.int64(0), np.int64(0))]
        heap.pop()
        # The nearest end found so far: a free partner, or an entity that had better stay alone.
        nearest = price[start] - alone[start]
        end_partner, end_entity = -1, start
        i, travelled = start, np.int64(0)
        while True:
            for e in range(starts[i], starts[i + 1]):
                j = others[e]
                d = travelled + price[i] + other_price[j] - profit[e]
                if d >= nearest or (seen[j] == turn and d >= distance[j]):
                    continue
                seen[j] = turn
                distance[j] = d
                reached_from[j] = i
                if other_mate[j] < 0:
                    nearest, end_partner, end_entity = d, j, -1
                    continue
                heappush(heap, (d, np.int64(j)))
            next_partner, d = -1, np.int64(0)
            while heap and heap[0][0] < nearest and next_partner < 0:
                d, j = heappop(heap)
                if d == distance[j]:
                    next_partner = j
            if next_partner < 0:
                break
            settled[count] = next_partner
            count += 1
            i, travelled = other_mate[next_partner], d
            if travelled + price[i] - alone[i] < nearest:
                nearest, end_partner, end_entity = travelled + price[i] - alone[i], -1, i
        price[start] -= nearest
        for place in range(count):
            j = settled[place]
            gain = nearest - distance[j]
            other_price[j] += gain
            price[other_mate[j]] -= gain
        if end_partner < 0 and end_entity == start:
            continue
        j = end_partner
        if j < 0:
            j = mate[end_entity]
            mate[end_entity] = -1
        while True:
            i = reached_from[j]
            before = mate[i]
            other_mate[j] = i
            mate[i] = j
            if i == start:
                break
            j = before


class LeftEdges(NamedTuple):
    """Edges by entity, then far node; ``worth`` is that of sharing the far node."""

    starts: Array
    far: Array
    relation: Array
    fans: Array
    worth: Array


class RightEdges(NamedTuple):
    """Edges by far node, then relation."""

    starts: Array
    relation: Array
    entity: Array
    fans: Array
    worth: Array


class Matches(NamedTuple):
    """The right relations that match each left relation, and how well."""

    starts: Array
    right: Array
    match: Array


class Anchored(NamedTuple):
    """For each left far node the right one that it is, or -1, and how sure that is."""

    partner: Array
    trust: Array


class PairIndex(NamedTuple):
    """The right entities of the known pairs of each left entity."""

    starts: Array
    right: Array


@kernel
def gather_votes(
    first: int,
    last: int,
    left: LeftEdges,
    right: RightEdges,
    matches: Matches,
    anchored: Anchored,
    pairs: PairIndex,
    cap: float,
    enter: float,
    others: int,
    out: Array,
) -> Any:
    """The votes of anchored neighbours for the pairs of left entities first..last.

    A neighbour votes once for a pair, through its best matching relations, with at most ``cap``.
    Known pairs get three sums in ``out``: votes, left worth shared, right worth shared. Pairs
    that are not known, with votes of at least ``enter``, are returned with the same sums.
    ``others`` is the number of right entities.
    """
    group_of = np.full(others, -1, dtype=np.int64)
    row_of = np.full(others, -1, dtype=np.int64)
    share_of = np.empty(others)
    worth_of = np.empty(others)
    total = np.empty((others, 3))
    voted = np.empty(others, dtype=np.int64)
    met = np.empty(others, dtype=np.int64)
    new_pairs = np.empty((1024, 2), dtype=np.int32)
    new_values = np.empty((1024, 3), dtype=np.float32)
    count = 0
    for i in range(first, last):
        met_count = 0
        e = left.starts[i]
        while e < left.starts[i + 1]:
            y = left.far[e]
            edge = e
            voted_count = 0
            z = anchored.partner[y]
            while e < left.starts[i + 1] and left.far[e] == y:
                if z >= 0:
                    r = left.relation[e]
                    for k in range(matches.starts[r], matches.starts[r + 1]):
                        wanted = matches.right[k]
                        low, high = right.starts[z], right.starts[z + 1]
                        while low < high:
                            middle = (low + high) // 2
                            if right.relation[middle] < wanted:
                                low = middle + 1
                            else:
                                high = middle
                        while low < right.starts[z + 1] and right.relation[low] == wanted:
                            fans = left.fans[e] * np.float64(right.fans[low])
                            share = min(matches.match[k] / np.sqrt(fans), cap) * anchored.trust[y]
                            j = right.entity[low]
                            if group_of[j] != edge:
                                group_of[j] = edge
                                share_of[j] = share
                                worth_of[j] = right.worth[low]
                                voted[voted_count] = j
                                voted_count += 1
                            elif share > share_of[j]:
                                share_of[j] = share
                            low += 1
                e += 1
            for h in range(voted_count):
                j = voted[h]
                if row_of[j] != i:
                    row_of[j] = i
                    total[j, 0] = total[j, 1] = total[j, 2] = 0.0
                    met[met_count] = j
                    met_count += 1
                total[j, 0] -= np.log1p(-share_of[j])
                total[j, 1] += left.worth[edge] * anchored.trust[y]
                total[j, 2] += worth_of[j] * anchored.trust[y]
        for p in range(pairs.starts[i], pairs.starts[i + 1]):
            j = pairs.right[p]
            if row_of[j] == i:
                out[0, p], out[1, p], out[2, p] = total[j, 0], total[j, 1], total[j, 2]
                row_of[j] = -1
        for h in range(met_count):
            j = met[h]
            if row_of[j] != i or total[j, 0] < enter:
                continue
            if count == len(new_pairs):
                new_pairs = np.concatenate((new_pairs, np.empty_like(new_pairs)))
                new_values = np.concatenate((new_values, np.empty_like(new_values)))
            new_pairs[count, 0], new_pairs[count, 1] = i, j
            for c in range(3):
                new_values[count, c] = total[j, c]
            count += 1
    return new_pairs[:count], new_values[:count]
