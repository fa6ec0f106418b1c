"""Numba kernels for the assignment problem: sums, bids, ranks, augmenting paths."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np

from sameas.compute.kernels.cache import Array, kernel


class EachSide(NamedTuple):
    """An array about left entities, and one about right ones."""

    left: Array
    right: Array


class BestOfEach(NamedTuple):
    """The best pairs of lines, those of line i at ends[i]:ends[i + 1]: places and ranks."""

    ends: Array
    places: Array
    ranks: Array


class Offers(NamedTuple):
    """Entity i may take partner others[e] at profit[e], e in starts[i]..starts[i + 1]."""

    starts: Array
    others: Array
    profit: Array


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
    first: int,
    last: int,
    out: BestOfEach,
) -> None:
    """The best few of lines first..last by value less price, ties by position; written to ``out``.

    Equals share the mean of their ranks. partner[i], unless it is None, comes first.
    """
    ends, places, ranks = out.ends, out.places, out.ranks
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
    potentials: EachSide,
    is_open: EachSide,
    out: EachSide,
) -> None:
    """The places of the first largest open pair of each row and of each column, -1 for none.

    In a row, values count less the right potential; in a column, less the left one.
    """
    left, right = potentials.left, potentials.right
    row_best, column_best = out.left, out.right
    row_best[:] = -1
    column_best[:] = -1
    peaks = np.full(len(right), -np.inf)
    for i in range(len(starts) - 1):
        if not is_open.left[i]:
            continue
        peak = -np.inf
        for e in range(starts[i], starts[i + 1]):
            j = e - starts[i] if others is None else others[e]
            if not is_open.right[j]:
                continue
            if values[e] - right[j] > peak:
                peak, row_best[i] = values[e] - right[j], e
            if values[e] - left[i] > peaks[j]:
                peaks[j], column_best[j] = values[e] - left[i], e


class Prices(NamedTuple):
    """Prices of entities, what staying alone is worth to each, and prices of their partners."""

    entity: Array
    alone: Array
    partner: Array


class Search(NamedTuple):
    """What a search knows of partners; ``seen`` tells in which search that was found out."""

    distance: Array
    reached_from: Array
    seen: Array
    settled: Array
    """The partners whose distance is final, in the order of their distances."""


@kernel
def shortest_path(
    start: int, turn: int, offers: Offers, prices: Prices, other_mate: Array, search: Search
) -> Any:
    """The nearest end that ``start`` reaches on alternating paths; fills ``search``.

    An end is a free partner, or an entity that had better stay alone. Returned are its distance,
    the partner or -1, the entity or -1, and how many partners are settled.
    """
    price, alone, other_price = prices.entity, prices.alone, prices.partner
    distance, seen = search.distance, search.seen
    settled = 0
    # A heap of partners by distance; an entry that was beaten later is skipped.
    heap = [(np.int64(0), np.int64(0))]
    heap.pop()
    nearest = price[start] - alone[start]
    end_partner, end_entity = -1, start
    i, travelled = start, np.int64(0)
    while True:
        for e in range(offers.starts[i], offers.starts[i + 1]):
            j = offers.others[e]
            d = travelled + price[i] + other_price[j] - offers.profit[e]
            if d >= nearest or (seen[j] == turn and d >= distance[j]):
                continue
            seen[j] = turn
            distance[j] = d
            search.reached_from[j] = i
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
            return nearest, end_partner, end_entity, settled
        search.settled[settled] = next_partner
        settled += 1
        i, travelled = other_mate[next_partner], d
        if travelled + price[i] - alone[i] < nearest:
            nearest, end_partner, end_entity = travelled + price[i] - alone[i], -1, i


@kernel
def augment(
    free: Array,
    offers: Offers,
    alone: Array,
    price: Array,
    other_price: Array,
    mate: Array,
    other_mate: Array,
) -> None:
    """Place each free entity by one shortest augmenting path; changes prices and mates.

    Entity i may take one of its ``offers``, or stay alone at alone[i]. Before and after:
    price[i] + other_price[j] >= profit for every pair, equal for mates, and price[i] >= alone[i],
    equal for entities that stay alone. All numbers are whole, so "equal" means equal. Prices of
    partners only rise; those of free partners do not change.
    """
    partners = len(other_price)
    search = Search(
        np.empty(partners, dtype=np.int64),
        np.empty(partners, dtype=np.int64),
        np.full(partners, -1, dtype=np.int64),
        np.empty(partners, dtype=np.int64),
    )
    prices = Prices(price, alone, other_price)
    for turn in range(len(free)):
        start = free[turn]
        nearest, end_partner, end_entity, settled = shortest_path(
            start, turn, offers, prices, other_mate, search
        )
        price[start] -= nearest
        for j in search.settled[:settled]:
            gain = nearest - search.distance[j]
            other_price[j] += gain
            price[other_mate[j]] -= gain
        if end_partner < 0 and end_entity == start:
            continue
        j = end_partner
        if j < 0:
            j = mate[end_entity]
            mate[end_entity] = -1
        while True:
            i = search.reached_from[j]
            before = mate[i]
            other_mate[j] = i
            mate[i] = j
            if i == start:
                break
            j = before
