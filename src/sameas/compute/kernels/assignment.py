"""Numba kernels for the assignment problem: sums, ranks, augmenting paths.

Pairs come by lines. Those of line i are at starts[i]:starts[i + 1]. The partner of pair e is
others[e]; without ``others``, lines hold every partner in order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sameas.compute.kernels.kernel import kernel, part_of_kernel
from sameas.compute.kernels.kinds import (
    Booleans,
    Float32s,
    Float64s,
    Int32s,
    Int64s,
)


class BestOfEach(NamedTuple):
    """The best pairs of lines, those of line i at ends[i]:ends[i + 1]: places and ranks."""

    ends: Int64s
    places: Int64s
    ranks: Float64s


class Offers(NamedTuple):
    """Entity i may take partner others[e] at profit[e], e in starts[i]..starts[i + 1]."""

    starts: Int64s
    others: Int32s
    profit: Int64s


@kernel
def log_sums(
    starts: Int64s,
    others: Int32s,
    values: Float32s,
    potentials: Float64s,
    heat: float,
    first: int,
    last: int,
    out: Float64s,
) -> None:
    """heat * ln(sum of exp((value - potential) / heat)) of lines first..last.

    The largest term is taken out of the sum, so that nothing overflows. With no heat the result
    is that term; an empty line gives -inf.
    """
    every = len(others) == 0
    for i in range(first, last):
        peak = -np.inf
        for e in range(starts[i], starts[i + 1]):
            j = e - starts[i] if every else others[e]
            term = values[e] - potentials[j]
            if term > peak:
                peak = term
        out[i] = peak
        if heat == 0 or peak == -np.inf:
            continue
        total = 0.0
        for e in range(starts[i], starts[i + 1]):
            j = e - starts[i] if every else others[e]
            total += np.exp((values[e] - potentials[j] - peak) / heat)
        out[i] += heat * np.log(total)


@kernel
def best_of_lines(
    starts: Int64s,
    others: Int32s,
    values: Float32s,
    prices: Float32s,
    partner: Int64s,
    first: int,
    last: int,
    out: BestOfEach,
) -> None:
    """The best few of lines first..last by value less price, ties by position; written to ``out``.

    Equals share the mean of their ranks. partner[i], if partners are given, comes first. Until the
    ranks of a line are known, ``ranks`` holds what its best pairs are worth.
    """
    every = len(others) == 0
    places, worths = out.places, out.ranks
    for i in range(first, last):
        begin, end = out.ends[i], out.ends[i + 1]
        if begin == end:
            continue
        mate = partner[i] if len(partner) else -1
        filled = begin
        for e in range(starts[i], starts[i + 1]):
            j = e - starts[i] if every else others[e]
            worth = values[e] - prices[j] if j != mate else np.float32(np.inf)
            if filled < end:
                filled += 1
            elif worth <= worths[end - 1]:
                continue
            place = filled - 1
            while place > begin and worths[place - 1] < worth:
                worths[place], places[place] = worths[place - 1], places[place - 1]
                place -= 1
            worths[place], places[place] = worth, e
        ties = 0  # of the last one, which may have equals among the others
        for e in range(starts[i], starts[i + 1]):
            j = e - starts[i] if every else others[e]
            worth = values[e] - prices[j] if j != mate else np.float32(np.inf)
            ties += worth == worths[end - 1]
        place = begin
        while place < end:
            before, worth = place - begin, worths[place]
            after = place + 1
            while after < end and worths[after] == worth:
                after += 1
            equals = ties if after == end else after - place
            while place < after:
                worths[place] = before + (equals + 1) / 2
                place += 1


@kernel
def count_ranks(
    starts: Int64s,
    others: Int32s,
    values: Float32s,
    prices: Float32s,
    partner: Int64s,
    left: Int64s,
    places: Int64s,
    out: Float64s,
) -> None:
    """The rank of each pair in its line by value less price; equals share the mean rank.

    Pair q is at places[q] in line left[q]; -1 gives NaN. A partner comes first as above.
    """
    every = len(others) == 0
    for q in range(len(left)):
        i = left[q]
        if places[q] < 0:
            out[q] = np.nan
            continue
        better, equal = 0, 0
        mate = partner[i] if len(partner) else -1
        asked = places[q] - starts[i] if every else others[places[q]]
        limit = values[places[q]] - prices[asked] if asked != mate else np.float32(np.inf)
        for e in range(starts[i], starts[i + 1]):
            j = e - starts[i] if every else others[e]
            worth = values[e] - prices[j] if j != mate else np.float32(np.inf)
            better += worth > limit
            equal += worth == limit
        out[q] = better + (equal + 1) / 2


class Side(NamedTuple):
    """What the search for the best pairs knows of the entities of one side."""

    potentials: Float64s
    is_open: Booleans
    places: Int64s
    """The place of the best pair of each; -1 before."""
    peaks: Float64s
    """What that is worth; -inf before."""


@kernel
def best_places(starts: Int64s, others: Int32s, values: Float32s, left: Side, right: Side) -> None:
    """The places of the first largest open pair of each row and of each column.

    In a row, values count less the right potential; in a column, less the left one.
    """
    every = len(others) == 0
    for i in range(len(starts) - 1):
        if not left.is_open[i]:
            continue
        for e in range(starts[i], starts[i + 1]):
            j = e - starts[i] if every else others[e]
            if not right.is_open[j]:
                continue
            in_row, in_column = values[e] - right.potentials[j], values[e] - left.potentials[i]
            if in_row > left.peaks[i]:
                left.peaks[i], left.places[i] = in_row, e
            if in_column > right.peaks[j]:
                right.peaks[j], right.places[j] = in_column, e


class Prices(NamedTuple):
    """Prices of entities, what staying alone is worth to each, and prices of their partners."""

    entity: Int64s
    alone: Int64s
    partner: Int64s


class Search(NamedTuple):
    """What a search knows of partners; ``seen`` tells in which search that was found out."""

    distance: Int64s
    reached_from: Int64s
    seen: Int64s
    """-1 before the first search."""
    settled: Int64s
    """The partners whose distance is final, in the order of their distances."""
    heap: Int64s
    """The partners that were reached and are not settled, as a heap by distance, then number."""
    heap_place: Int64s
    """Where each of them is in the heap; -1 for a partner that was not in it yet."""


@part_of_kernel
def push(search: Search, size: int, partner: int) -> int:
    """Put a partner into the heap, or move it up after its distance has become less."""
    distance, heap, heap_place = search.distance, search.heap, search.heap_place
    d, place = distance[partner], size
    if heap_place[partner] >= 0:
        place, size = heap_place[partner], size - 1
    while place > 0:
        above = heap[(place - 1) // 2]
        if distance[above] < d or (distance[above] == d and above < partner):
            break
        heap[place] = above
        heap_place[above] = place
        place = (place - 1) // 2
    heap[place] = partner
    heap_place[partner] = place
    return size + 1


@part_of_kernel
def pop(search: Search, size: int) -> Any:
    """Take the nearest partner out of the heap, which has so many."""
    distance, heap, heap_place = search.distance, search.heap, search.heap_place
    nearest, moved, place = heap[0], heap[size - 1], 0
    d = distance[moved]
    while 2 * place + 1 < size - 1:
        child = 2 * place + 1
        below = heap[child]
        if child + 1 < size - 1:
            other = heap[child + 1]
            if distance[other] < distance[below] or (
                distance[other] == distance[below] and other < below
            ):
                child, below = child + 1, other
        if d < distance[below] or (d == distance[below] and moved < below):
            break
        heap[place] = below
        heap_place[below] = place
        place = child
    heap[place] = moved
    heap_place[moved] = place
    return nearest


@part_of_kernel
def shortest_path(
    start: int, turn: int, offers: Offers, prices: Prices, other_mate: Int64s, search: Search
) -> tuple[int, int, int, int]:
    """The nearest end that ``start`` reaches on alternating paths; fills ``search``.

    An end is a free partner, or an entity that had better stay alone. Returned are its distance,
    the partner or -1, the entity or -1, and how many partners are settled.
    """
    price, alone, other_price = prices.entity, prices.alone, prices.partner
    distance, seen, heap = search.distance, search.seen, search.heap
    settled, size = 0, 0
    nearest = price[start] - alone[start]
    end_partner, end_entity = -1, start
    i, travelled = start, 0
    while True:
        for e in range(offers.starts[i], offers.starts[i + 1]):
            j = np.int64(offers.others[e])
            d = travelled + price[i] + other_price[j] - offers.profit[e]
            if d >= nearest or (seen[j] == turn and d >= distance[j]):
                continue
            if seen[j] != turn:
                search.heap_place[j] = -1
            seen[j] = turn
            distance[j] = d
            search.reached_from[j] = i
            if other_mate[j] < 0:
                nearest, end_partner, end_entity = d, j, -1
                continue
            size = push(search, size, j)
        if size == 0 or distance[heap[0]] >= nearest:
            return nearest, end_partner, end_entity, settled
        j = pop(search, size)
        size -= 1
        search.settled[settled] = j
        settled += 1
        i, travelled = other_mate[j], distance[j]
        if travelled + price[i] - alone[i] < nearest:
            nearest, end_partner, end_entity = travelled + price[i] - alone[i], -1, i


@kernel
def augment(
    free: Int64s,
    offers: Offers,
    prices: Prices,
    mate: Int64s,
    other_mate: Int64s,
    search: Search,
) -> None:
    """Place each free entity by one shortest augmenting path; changes prices and mates.

    Entity i may take one of its ``offers``, or stay alone at alone[i]. Before and after:
    price[i] + other_price[j] >= profit for every pair, equal for mates, and price[i] >= alone[i],
    equal for entities that stay alone. All numbers are whole, so "equal" means equal. Prices of
    partners only rise; those of free partners do not change.
    """
    price, other_price = prices.entity, prices.partner
    for turn in range(len(free)):
        start = free[turn]
        nearest, end_partner, end_entity, settled = shortest_path(
            start, turn, offers, prices, other_mate, search
        )
        price[start] -= nearest
        for place in range(settled):
            j = search.settled[place]
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
