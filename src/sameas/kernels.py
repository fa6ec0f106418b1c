"""Loops that array operations have no words for, compiled by Numba when first used.

Compiled code is kept beside this file (or in the user's cache), so that it is made only once.
All of them let go of Python's lock: call them from threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

Array = Any
"""A NumPy array; Numba finds out the rest."""


def _pair_products(
    starts: Array,
    right: Array,
    left_dense: Array,
    left_starts: Array,
    left_columns: Array,
    left_values: Array,
    right_dense: Array,
    right_starts: Array,
    right_columns: Array,
    right_values: Array,
    width: int,
    out: Array,
) -> None:
    """Dot products of row i of the left with rows right[starts[i]:starts[i + 1]] of the right.

    Rows have a dense and a sparse (CSR) part, the latter of ``width`` columns. A left row is
    spread out once and then met by all its partners.
    """
    spread = np.zeros(width, dtype=np.float32)
    for i in range(len(starts) - 1):
        if starts[i] == starts[i + 1]:
            continue
        for e in range(left_starts[i], left_starts[i + 1]):
            spread[left_columns[e]] = left_values[e]
        for pair in range(starts[i], starts[i + 1]):
            j = right[pair]
            total = 0.0
            for e in range(right_starts[j], right_starts[j + 1]):
                total += np.float64(spread[right_columns[e]]) * np.float64(right_values[e])
            for c in range(left_dense.shape[1]):
                total += np.float64(left_dense[i, c]) * np.float64(right_dense[j, c])
            out[pair] = total
        for e in range(left_starts[i], left_starts[i + 1]):
            spread[left_columns[e]] = 0.0


def _augment(
    free: Array,
    starts: Array,
    partners: Array,
    profit: Array,
    stay: Array,
    own_price: Array,
    price: Array,
    mate: Array,
    other_mate: Array,
) -> None:
    """Give each free entity its place, by one shortest augmenting path after the other.

    Entity i may take partner partners[e] at profit[e], e in starts[i]..starts[i + 1], or stay
    alone at stay[i]. Before and after: own_price[i] + price[j] >= profit for every pair, equal
    for mates, and own_price[i] >= stay[i], equal for those who stay. All is in whole numbers,
    so "equal" means equal. Prices of partners only rise; those of free partners do not change.
    """
    distance = np.empty(len(price), dtype=np.int64)
    reached_from = np.empty(len(price), dtype=np.int64)
    seen = np.full(len(price), -1, dtype=np.int64)
    settled = np.empty(len(price), dtype=np.int64)
    # A binary heap of partners by distance; an entry that was beaten later is skipped.
    keys = np.empty(1024, dtype=np.int64)
    items = np.empty(1024, dtype=np.int64)
    for turn in range(len(free)):
        start = free[turn]
        size, count = 0, 0
        # The nearest end found so far: a free partner, or an entity that had better stay.
        nearest = own_price[start] - stay[start]
        end_partner, end_entity = -1, start
        i, travelled = start, np.int64(0)
        while True:
            for e in range(starts[i], starts[i + 1]):
                j = partners[e]
                d = travelled + own_price[i] + price[j] - profit[e]
                if d >= nearest or (seen[j] == turn and d >= distance[j]):
                    continue
                seen[j] = turn
                distance[j] = d
                reached_from[j] = i
                if other_mate[j] < 0:
                    nearest, end_partner, end_entity = d, j, -1
                    continue
                if size == len(keys):
                    keys = np.concatenate((keys, np.empty_like(keys)))
                    items = np.concatenate((items, np.empty_like(items)))
                place = size
                size += 1
                while place > 0:
                    parent = (place - 1) >> 1
                    if keys[parent] <= d:
                        break
                    keys[place], items[place] = keys[parent], items[parent]
                    place = parent
                keys[place], items[place] = d, j
            next_partner, d = -1, np.int64(0)
            while size > 0:
                d, j = keys[0], items[0]
                size -= 1
                last_key, last_item = keys[size], items[size]
                place = 0
                while True:
                    child = 2 * place + 1
                    if child >= size:
                        break
                    if child + 1 < size and keys[child + 1] < keys[child]:
                        child += 1
                    if keys[child] >= last_key:
                        break
                    keys[place], items[place] = keys[child], items[child]
                    place = child
                keys[place], items[place] = last_key, last_item
                if d >= nearest:
                    size = 0
                elif d == distance[j]:
                    next_partner = j
                    break
            if next_partner < 0:
                break
            settled[count] = next_partner
            count += 1
            i, travelled = other_mate[next_partner], d
            if travelled + own_price[i] - stay[i] < nearest:
                nearest, end_partner, end_entity = travelled + own_price[i] - stay[i], -1, i
        own_price[start] -= nearest
        for place in range(count):
            j = settled[place]
            gain = nearest - distance[j]
            price[j] += gain
            own_price[other_mate[j]] -= gain
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


def _gather_votes(
    rows: Array,
    starts: Array,
    far: Array,
    relation: Array,
    fans: Array,
    worth: Array,
    partner: Array,
    trust: Array,
    match_starts: Array,
    match_relation: Array,
    match_value: Array,
    other_starts: Array,
    other_relation: Array,
    other_entity: Array,
    other_fans: Array,
    other_worth: Array,
    cap: float,
    enter: float,
    pair_starts: Array,
    pair_right: Array,
    votes: Array,
    left_shared: Array,
    right_shared: Array,
    others: int,
) -> Any:
    """What anchored neighbours say about the pairs of left entities rows[0]..rows[1].

    Left edges (far, relation) are sorted by entity, then far; those of the right by far, then
    relation. Far node y of the left is far node partner[y] of the right, with so much trust. A
    neighbour speaks once for a pair, through the relations that say most. Known pairs get their
    sums in votes, left_shared and right_shared; others with votes of at least ``enter`` come out.
    """
    group_of = np.full(others, -1, dtype=np.int64)
    row_of = np.full(others, -1, dtype=np.int64)
    said = np.empty(others)
    shown = np.empty(others)
    total = np.empty((others, 3))
    heard = np.empty(others, dtype=np.int64)
    met = np.empty(others, dtype=np.int64)
    new_pairs = np.empty((1024, 2), dtype=np.int64)
    new_values = np.empty((1024, 3))
    count = 0
    for i in range(rows[0], rows[1]):
        met_count = 0
        e = starts[i]
        while e < starts[i + 1]:
            y = far[e]
            first = e
            heard_count = 0
            z = partner[y]
            while e < starts[i + 1] and far[e] == y:
                if z >= 0:
                    for k in range(match_starts[relation[e]], match_starts[relation[e] + 1]):
                        wanted = match_relation[k]
                        low, high = other_starts[z], other_starts[z + 1]
                        while low < high:
                            middle = (low + high) // 2
                            if other_relation[middle] < wanted:
                                low = middle + 1
                            else:
                                high = middle
                        while low < other_starts[z + 1] and other_relation[low] == wanted:
                            share = match_value[k] / np.sqrt(fans[e] * np.float64(other_fans[low]))
                            share = min(share, cap) * trust[y]
                            j = other_entity[low]
                            if group_of[j] != first:
                                group_of[j] = first
                                said[j] = share
                                shown[j] = other_worth[low]
                                heard[heard_count] = j
                                heard_count += 1
                            elif share > said[j]:
                                said[j] = share
                            low += 1
                e += 1
            for h in range(heard_count):
                j = heard[h]
                if row_of[j] != i:
                    row_of[j] = i
                    total[j, 0] = total[j, 1] = total[j, 2] = 0.0
                    met[met_count] = j
                    met_count += 1
                total[j, 0] -= np.log1p(-said[j])
                total[j, 1] += worth[first] * trust[y]
                total[j, 2] += shown[j] * trust[y]
        for p in range(pair_starts[i], pair_starts[i + 1]):
            j = pair_right[p]
            if row_of[j] == i:
                votes[p], left_shared[p], right_shared[p] = total[j, 0], total[j, 1], total[j, 2]
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


pair_products = njit(cache=True, nogil=True)(_pair_products)
augment = njit(cache=True, nogil=True)(_augment)
gather_votes = njit(cache=True, nogil=True)(_gather_votes)
