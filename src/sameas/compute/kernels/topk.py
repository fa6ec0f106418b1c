"""Numba kernels that keep the largest entries of rows and columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sameas.compute.kernels.kernel import kernel, part_of_kernel
from sameas.compute.kernels.kinds import (
    Booleans,
    Float32Columns,
    Float32Cube,
    Float32Rows,
    Float32s,
    Int32Rows,
    Int32s,
    Int64s,
)

STRIDE = 64
"""Entries that are compared at once: most strides have none that counts."""
WHOLE_STRIDE = np.uint64(STRIDE)
"""The same without a sign. An index without one cannot count from the end: only then the compiler
compares several entries in one instruction."""


class Best(NamedTuple):
    """The best k partners of each line, as heaps: the least of them first, and in ``least`` too.

    Of equal ones, the partner of the smaller number is better.
    """

    least: Float32s
    worth: Float32Rows
    partners: Int32Rows


@part_of_kernel
def offer(best: Best, line: int, value: float, partner: int) -> None:
    """Take a partner in if it is better than the least one, which is dropped."""
    worth, partners = best.worth, best.partners
    if value == worth[line, 0] and partner > partners[line, 0]:
        return
    row, one = np.uint64(line), np.uint64(1)
    place, k = np.uint64(0), np.uint64(worth.shape[1])
    while True:
        child = place + place + one
        if child >= k:
            break
        least, other = worth[row, child], child + one
        if other < k:
            second = worth[row, other]
            if second < least or (second == least and partners[row, other] > partners[row, child]):
                child, least = other, second
        if least > value or (least == value and partners[row, child] < partner):
            break
        worth[row, place], partners[row, place] = least, partners[row, child]
        place = child
    worth[row, place], partners[row, place] = value, partner
    best.least[line] = worth[line, 0]


@kernel
def find_places(starts: Int64s, right: Int32s, lines: Int64s, wanted: Int64s, out: Int64s) -> None:
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


@kernel
def best_entries(
    starts: Int64s, others: Int32s, values: Float32s, rows: Best, columns: Best, out: Booleans
) -> None:
    """Which of the positive entries of rows are among the best of their row, or of their column.

    ``others`` are the columns of entries, ``rows`` has room for one row and ``columns`` for all
    columns, both with no best; room for no partner stands for none that is wanted.
    """
    few, of_columns = rows.worth.shape[1], columns.worth.shape[1]
    for i in range(len(starts) - 1):
        rows.least[0] = -np.inf if few else np.inf
        for place in range(few):
            rows.worth[0, place], rows.partners[0, place] = -np.inf, -1
        for e in range(starts[i], starts[i + 1]):
            value, j = values[e], others[e]
            if value > 0 and value >= rows.least[0]:
                offer(rows, 0, value, j)
            if value > 0 and value > columns.least[j]:
                offer(columns, j, value, i)
        for e in range(starts[i], starts[i + 1]):
            value = values[e]
            out[e] = value > rows.least[0] or (
                value == rows.least[0] and others[e] <= rows.partners[0, 0]
            )
            out[e] &= value > 0
    if of_columns:
        for i in range(len(starts) - 1):
            for e in range(starts[i], starts[i + 1]):
                value, j = values[e], others[e]
                among = value > columns.least[j] or (
                    value == columns.least[j] and i <= columns.partners[j, 0]
                )
                out[e] |= among and value > 0


class SparseRows(NamedTuple):
    """The arrays of a sparse matrix: where rows start, columns and values (CSR)."""

    starts: Int32s
    columns: Int32s
    values: Float32s


class Wanted(NamedTuple):
    """How many partners are kept, how many however far they are, and how far from the best is far.

    A partner is wanted if it is one of the best k, and one of the ``first`` few or worth at most
    ``slack`` less than the best one.
    """

    k: int
    first: int
    slack: float


class Near(NamedTuple):
    """Partners of each line, of which only those that are ``Wanted`` count.

    Lines are filled without order, and cut down to what is wanted when they are full. Partners
    worth no more than ``least`` are not wanted any more. Of equal ones, the partner that came first
    is better: offer them in ascending order.
    """

    least: Float32s
    counts: Int32s
    kept: Float32Cube
    """The worth of each partner and its number, next to each other; shape (lines, room, 2)."""


@part_of_kernel
def move_largest(values: Float32s, size: int, k: int) -> None:
    """Move the k largest of the first ``size`` values to the front, the k-th to place k - 1."""
    low, high = 0, size - 1
    while low < high:
        a, b, c = values[low], values[(low + high) // 2], values[high]
        if a > b:
            a, b = b, a
        pivot = a if c < a else (c if c < b else b)  # the middle one of three
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


@part_of_kernel
def cut_line(near: Near, line: int, wanted: Wanted, room: Float32s) -> None:
    """Drop the partners of a line that are not wanted; ``room`` is for as many values."""
    k, first, kept, count = wanted.k, wanted.first, near.kept, near.counts[line]
    if count == 0:
        return
    for place in range(count):
        room[place] = kept[line, place, 0]
    limit = np.float32(-np.inf)
    if count > k:
        move_largest(room, count, k)
        limit = room[k - 1]
    size, most = count if count < k else k, k
    if size > first:
        best = room[0]
        for place in range(size):
            best = room[place] if room[place] > best else best
        far = best - np.float32(wanted.slack)
        move_largest(room, size, first)
        if room[first - 1] < far:
            limit, most = room[first - 1], first
        elif limit < far:
            limit = far
    if near.least[line] < limit:
        near.least[line] = limit
    above, enough = 0, 0
    for place in range(count):
        above += kept[line, place, 0] > limit
        enough += kept[line, place, 0] >= limit
    equals, end = (most if most < enough else enough) - above, 0
    for place in range(count):
        value = kept[line, place, 0]
        if value > limit or (value == limit and equals > 0):
            equals -= value == limit
            kept[line, end, 0], kept[line, end, 1] = value, kept[line, place, 1]
            end += 1
    near.counts[line] = end


@kernel
def cut_lines(near: Near, wanted: Wanted, room: Float32s) -> None:
    """Drop all partners that are not wanted; ``room`` is for the values of one line."""
    for line in range(len(near.counts)):
        cut_line(near, line, wanted, room)


@kernel
def best_of_tile(
    tile: Float32Rows,
    begin: int,
    other_begin: int,
    rows: Near,
    columns: Near,
    row_wanted: Wanted,
    column_wanted: Wanted,
    room: Float32s,
    places: Int32s,
    large: Booleans,
    eights: Int64s,
) -> None:
    """Offer all entries of a tile to its rows, from ``begin`` on, and to its columns.

    ``room`` is for the values of one line, ``places`` and ``large`` for as many as the tile is
    wide, or up to seven more; ``eights`` is ``large``, eight at a time.
    """
    width, begun = np.uint64(tile.shape[1]), np.uint64(other_begin)
    row_kept, row_counts, row_full = rows.kept, rows.counts, rows.kept.shape[1]
    kept, counts, full = columns.kept, columns.counts, columns.kept.shape[1]
    least = columns.least
    for j in range(width, len(large)):
        large[j] = False
    for i in range(tile.shape[0]):
        line, some = begin + i, np.uint64(0)
        limit = rows.least[line]
        for j in range(width):  # without a choice, so that many are compared at once
            lesser = least[begun + j] if least[begun + j] < limit else limit
            large[j] = tile[i, j] > lesser
        # A place is written always, and again by the next entry if this one is too small: that is
        # faster than a choice which the processor has to guess.
        for eight in range(np.uint64(len(eights))):
            if eights[eight]:
                first = eight * np.uint64(8)
                for j in range(first, first + np.uint64(8)):
                    places[some] = j
                    some += np.uint64(large[j])
        for one in range(some):
            j = places[one]
            value, column = tile[i, j], other_begin + j
            if value > rows.least[line]:
                count = row_counts[line]
                row_kept[line, count, 0], row_kept[line, count, 1] = value, column
                row_counts[line] = count + 1
                if count + 1 == row_full:
                    cut_line(rows, line, row_wanted, room)
            if value > least[column]:
                count = counts[column]
                kept[column, count, 0], kept[column, count, 1] = value, line
                counts[column] = count + 1
                if count + 1 == full:
                    cut_line(columns, column, column_wanted, room)


@kernel
def places_above(matrix: Float32Rows, left: Float32s, right: Float32s, out: Int64s) -> int:
    """The places, row * width + column, of entries above the sum of their row's and column's limit.

    They are compared in single precision. Returned is how many there are; those for which there
    is room are written to ``out``.
    """
    width, count = matrix.shape[1], 0
    for i in range(matrix.shape[0]):
        limit = left[i]
        for start in range(0, width, STRIDE):
            if start + STRIDE <= width:
                above, here = False, np.uint64(start)
                for j in range(WHOLE_STRIDE):
                    above |= matrix[i, here + j] - right[here + j] > limit
                if not above:
                    continue
            for j in range(start, start + STRIDE if start + STRIDE < width else width):
                if matrix[i, j] - right[j] > limit:
                    if count < len(out):
                        out[count] = i * width + j
                    count += 1
    return count


@kernel
def told_apart(
    matrix: Float32Columns,
    rows: Float32s,
    columns: Float32s,
    noise: Float32s,
    shifts: Int64s,
    out: Float32Rows,
) -> None:
    """The entries less what their row and column take off, plus noise that differs by row."""
    for i in range(matrix.shape[0]):
        less, shift = rows[i], shifts[i]
        for j in range(matrix.shape[1]):
            out[i, j] = matrix[i, j] - less - columns[j] + noise[shift + j]


@kernel
def best_meetings(
    left: SparseRows,
    right: SparseRows,
    begin: int,
    rows: Best,
    columns: Best,
    products: Float32s,
    met: Int32s,
) -> None:
    """Offer the positive products of all left rows with the right rows from ``begin`` on.

    ``right`` has these right rows as columns (CSC), numbered from zero. There is room for one
    product of each, zero before and after, and in ``met`` for one number more.
    """
    size, none, one = np.uint64(len(products)), np.uint64(0), np.uint64(1)
    for i in range(len(left.starts) - 1):
        count = none
        for e in range(left.starts[i], left.starts[i + 1]):
            value, feature = left.values[e], left.columns[e]
            first, last = np.uint64(right.starts[feature]), np.uint64(right.starts[feature + 1])
            for q in range(first, last):
                met[count] = right.columns[q]
                j = np.uint64(right.columns[q])
                # Without a branch, which could not be foreseen. Where values are zero, one is
                # listed again and again; a list that is full stands for all.
                count += one if products[j] == 0 else none
                count = count if count < size else size
                products[j] += value * right.values[q]
        limit = rows.least[i]
        for place in range(count):
            j = np.int64(met[place] if count < size else place)
            product = products[np.uint64(j)]
            products[np.uint64(j)] = 0
            if product > 0 and product >= limit:
                offer(rows, i, product, begin + j)
                limit = rows.least[i]
            if product > 0 and product > columns.least[begin + j]:
                offer(columns, begin + j, product, i)


class Owners(NamedTuple):
    """Which entity each name belongs to, which entities count, and room, zero before and after."""

    of_names: Int32s
    allowed: Booleans
    products: Float32s
    met: Int32s
    """The names with a product."""
    peaks: Float32s
    """The largest product of each entity."""
    found: Int32s
    """The entities with a product."""


@kernel
def best_owners(queries: SparseRows, names: SparseRows, owners: Owners, best: Best) -> None:
    """Offer to each query the allowed owners by the product with the best of their names.

    ``names`` has names as columns (CSC).
    """
    products, met, peaks, found = owners.products, owners.met, owners.peaks, owners.found
    for i in range(len(queries.starts) - 1):
        count, owned = 0, 0
        for e in range(queries.starts[i], queries.starts[i + 1]):
            value, feature = queries.values[e], queries.columns[e]
            for q in range(names.starts[feature], names.starts[feature + 1]):
                j = names.columns[q]
                if products[j] == 0 and value * names.values[q] > 0:
                    met[count] = j
                    count += 1
                products[j] += value * names.values[q]
        for place in range(count):
            j = met[place]
            owner = owners.of_names[j]
            if owners.allowed[owner] and products[j] > peaks[owner]:
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
