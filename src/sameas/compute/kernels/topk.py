"""Numba kernels that keep the largest entries of rows and columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sameas.compute.kernels.cache import Array, kernel

STRIDE = 64
"""Entries that are compared at once: most strides have none that counts. Only for so many, taken
as slices, the compiler compares several in one instruction."""


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


def make_ready() -> None:
    """Let Numba load what all kernels need, which takes most of a second; call it from a thread."""
    move_largest(np.zeros(1, dtype=np.float32), 1, 1)
