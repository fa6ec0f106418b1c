"""The k largest products of each row and of each column of two matrices.

``top_k_dense`` compares every left row with every right one, in a compressed form: it misses
little, and its cost grows with the square of the size. ``top_k_sparse`` compares rows that share
a column. Pairs are numbers left * len(right) + right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sameas.compute.arrays import Mask, Matrix, Positions, Progress, Sparse
from sameas.compute.device import device_in_use
from sameas.compute.kernels.topk import (
    Best,
    Near,
    SparseRows,
    Wanted,
    best_entries,
    best_meetings,
    best_of_tile,
    cut_lines,
    merge_best,
)
from sameas.compute.parallel import (
    WORKERS,
    in_parallel,
    map_blocks,
    one_blas_thread,
    slices,
    width,
)
from sameas.compute.projection import compress, multiply
from sameas.compute.rows import Rows, arrays_of, rows_of
from sameas.options.tuning import TUNING, SearchTuning

TILE_ROWS = 32_768
"""Right entities that are met at once: their products stay in the processor's cache."""
LEFT_ROWS, LEAST_ROWS = 2**20, 2**12
"""Left entities of one block, and the fewest right ones. The best partners of right entities are
found anew in each block of left ones: four blocks take half as long again as one."""
SQUARES = 16
"""Squares along the diagonal, at least, where all pairs of one side are met: half of the products
in them are made twice."""


def top_k_dense(
    left: Rows,
    right: Rows,
    k: int,
    *,
    first: int,
    columns: tuple[int, int] = TUNING.search.rough_columns,
    progress: Progress,
    tuning: SearchTuning = TUNING.search,
) -> Positions:
    """The k nearest of every left and of every right entity, ascending.

    Near means a large profit less the hubness of both. Otherwise hubs, which are near to
    everything, would fill every list. Those far below the best are left out again, but not
    the ``first`` few. Rows are compressed to so many principal and random ``columns``.
    """
    principal, random = columns
    short = compress(left, right, principal=principal, random=random, spare=2, tuning=tuning)
    progress(0.2)
    ours, theirs = short.left, short.right
    wanted = [
        Wanted(min(k, size), min(first, size), tuning.slack) for size in map(len, (right, left))
    ]
    sampled = (
        _hubness_and_limits(ours, theirs, wanted[0], tuning),
        _hubness_and_limits(theirs, ours, wanted[1], tuning),
    )
    # The two spare columns: products are profits less the hubness of both.
    ours[:, -2], ours[:, -1] = 1, -sampled[0][:, 0]
    theirs[:, -2], theirs[:, -1] = -sampled[1][:, 0], 1
    pairs = _largest(
        *(ours, theirs, (wanted[0], wanted[1]), (sampled[0][:, 1], sampled[1][:, 1])),
        lambda done: progress(0.2 + 0.8 * done),
        tuning,
    )
    return distinct(pairs)


def top_k_sparse(
    left: Sparse, right: Sparse, k: int, *, only: tuple[Positions, Positions] | None = None
) -> Positions:
    """The k of most similar name for every left and every right entity, ascending.

    Where neighbours differ, two entities of the same name may be far from each other in total,
    but refinement should decide about them. The partners of ``only`` these left and these right
    entities are found where that is given.
    """
    if not left.shape[0] or not right.shape[0] or not left.shape[1]:
        return np.empty(0, dtype=np.int64)
    if only is None:
        return distinct([pair_numbers(found) for found in top_products(left, right, k, k)])
    forth, back = top_products(left[only[0]], right, k)[0], top_products(right[only[1]], left, k)[0]
    return _pairs_of(forth.nonzero(), back.nonzero(), only, right.shape[0])


def top_k_of_some(
    left: Rows, right: Rows, k: int, *, only: tuple[Positions, Positions]
) -> Positions:
    """The k nearest of these left and of these right rows among all of the other side, ascending.

    All products of these rows are made.
    """
    ways = (left, right, only[0]), (right, left, only[1])
    forth, back = (_nearest_few(rows.take(some), others, k) for rows, others, some in ways)
    return _pairs_of(forth, back, only, len(right))


def _nearest_few(rows: Rows, others: Rows, k: int) -> tuple[Positions, Positions]:
    """Each row, and the rows of the others with the k largest products."""
    k = min(k, len(others))
    partners = [np.empty((0, k), dtype=np.int64)]
    for part in slices(len(rows), 256):
        products = multiply(others, np.ascontiguousarray(rows.part(part).toarray().T))
        partners.append(np.argpartition(-products, k - 1, axis=0)[:k].T if k else partners[0])
    return np.repeat(np.arange(len(rows)), k), np.concatenate(partners).ravel()


def _pairs_of(
    forth: tuple[Positions, Positions],
    back: tuple[Positions, Positions],
    only: tuple[Positions, Positions],
    size: int,
) -> Positions:
    """Pairs of some left rows with right ones, and of some right rows with left ones, ascending."""
    numbers = only[0][forth[0]] * np.int64(size) + forth[1]
    return distinct([numbers, back[1] * np.int64(size) + only[1][back[0]]])


def _hubness_and_limits(
    rows: Matrix, others: Matrix, wanted: Wanted, tuning: SearchTuning
) -> Matrix:
    """For each row its hubness, and a worth that all its wanted partners surely exceed: (rows, 2).

    Hubness is the mean product with the nearest few of a sample of the others. As for worth,
    which is the product less the hubness of both: more than k of all others exceed the limit, or
    else it is far below the best of the sample, and less than the ``first`` few of the sample too.
    """
    if not len(rows) or not len(others):
        return np.tile(np.array([0, -np.inf], dtype=np.float32), (len(rows), 1))
    crowd = _sample(others, tuning.hubness_sample)
    place = _place_of_limit(wanted, crowd.shape[1], len(others), tuning)
    known = np.zeros(0, dtype=np.float32)
    if place:
        known = _hubness(crowd.T @ _sample(rows, tuning.hubness_sample), tuning)

    def both(products: Matrix) -> Matrix:
        hubness = _hubness(products, tuning)
        limits: Matrix = np.full(len(hubness), -np.inf, dtype=np.float32)
        if place:
            products -= known
            # Several places at once would take NumPy seven times as long.
            few = max(place, wanted.first)
            best = np.sort(np.partition(products, -few, axis=1)[:, -few:], axis=1)
            far = best[:, -1] - np.float32(1.001 * wanted.slack)
            far = np.minimum(best[:, -wanted.first], far)
            # Products of other blocks are rounded otherwise.
            limits = np.maximum(best[:, -place], far) - hubness - np.float32(1e-5)
        return np.stack([hubness, limits], axis=1)

    return _of_products(rows, crowd, both)


def _hubness(products: Matrix, tuning: SearchTuning) -> Matrix:
    """The mean of the largest few products of each row."""
    few = min(tuning.hubness_nearest, products.shape[1])
    mean: Matrix = np.partition(products, -few, axis=1)[:, -few:].mean(axis=1)
    return mean


def _place_of_limit(wanted: Wanted, sample: int, size: int, tuning: SearchTuning) -> int:
    """Which of a sample, counted from the best, more than k of all surely exceed; 0 for none."""
    if size <= tuning.limits_beyond * tuning.hubness_sample:
        return 0
    expected = wanted.k * sample / size
    place = int(expected + 3 * np.sqrt(expected) + 3)  # three deviations
    return place if max(place, wanted.first) < sample else 0


def _of_products(rows: Matrix, crowd: Matrix, work: Callable[[Matrix], Matrix]) -> Matrix:
    """What the work makes of the products of each row with all columns of the crowd."""
    parts = list(slices(len(rows), 1024))
    with one_blas_thread():
        return np.concatenate(in_parallel(lambda part: work(rows[part] @ crowd), parts))


def _largest(
    left: Matrix,
    right: Matrix,
    wanted: tuple[Wanted, Wanted],
    limits: tuple[Matrix, Matrix],
    progress: Progress,
    tuning: SearchTuning,
) -> list[Positions]:
    """The pairs of the wanted largest products of each row, then of each column.

    ``limits`` are what wanted ones surely exceed. One pass over all products keeps both. Tiles
    have the same size for any number of threads, since that decides about rounding.
    """
    n, m, (row_limits, column_limits) = len(left), len(right), limits
    if not n or not m:
        return [np.empty(0, dtype=np.int64)]
    if (device := device_in_use()) is not None:
        (line, partner), (other, back) = device.largest(left, right, wanted)
        return [line * m + partner, back * m + other]
    looked = map_blocks(
        _look,
        shares_of(m, width(), tuning.tile),
        lambda part: (right[part], column_limits[part]),
        left,
        row_limits,
        wanted,
        tuning.tile,
    )
    return merge_tiles((n, m), looked, wanted[0], progress)


Scanned = tuple[Near, tuple[Positions, Positions]]
"""The partners of rows; those of columns, as columns and rows."""
Fill = Callable[[slice], Callable[[slice, Matrix], object]]
"""Given some columns, what writes their entries of some rows."""


def shares_of(columns: int, count: int, tile: tuple[int, int]) -> list[slice]:
    """Whole tiles of columns, in about so many shares."""
    return list(slices(columns, tile[1] * -(-columns // (tile[1] * count))))


def scan_tiles(
    fill: Fill,
    row_limits: Matrix,
    column_limits: Matrix,
    wanted: tuple[Wanted, Wanted],
    size: tuple[int, int],
) -> Scanned:
    """The wanted columns of each row of a matrix that is filled by tiles, and rows of each column.

    The limits are what wanted entries surely exceed; ``size`` is that of a tile.
    """
    rows, columns = (
        _none_near(limits, each.k)
        for limits, each in zip((row_limits, column_limits), wanted, strict=True)
    )
    # What is nearly too far is kept: the final cut may see the same entry rounded otherwise.
    ours, theirs = (each._replace(slack=1.001 * each.slack) for each in wanted)
    room = np.empty(size[0] * size[1], np.float32)
    line = np.empty(max(rows.kept.shape[1], columns.kept.shape[1]), dtype=np.float32)
    large = np.empty(-(-size[1] // 8) * 8, dtype=np.bool_)
    places, eights = np.empty(len(large), dtype=np.int32), large.view(np.int64)
    for tile in slices(len(column_limits), size[1]):
        fill_rows = fill(tile)
        for part in slices(len(row_limits), size[0]):
            shape = part.stop - part.start, tile.stop - tile.start
            entries = room[: shape[0] * shape[1]].reshape(shape)
            fill_rows(part, entries)
            best_of_tile(
                *(entries, part.start, tile.start, rows, columns, ours, theirs),
                *(line, places, large, eights),
            )
    return rows, _wanted(columns, wanted[1])


def merge_tiles(
    shape: tuple[int, int],
    looked: Iterable[tuple[slice, Scanned]],
    wanted: Wanted,
    progress: Progress,
) -> list[Positions]:
    """The wanted pairs of all rows, then of the columns of each share that was looked through.

    ``wanted`` is what rows want; the columns of a share have all their rows in it.
    """
    (n, m), numbers = shape, list[Positions]()
    parts, rows = list(slices(n, -(-n // (2 * WORKERS)))), list[Near]()
    for share, (near, (line, partner)) in looked:
        rows = [_merged(rows[0], near, share.start, wanted, parts) if rows else near]
        numbers.append(partner * m + line + share.start)
        progress(share.stop / m)

    def pairs(part: slice) -> Positions:
        line, partner = _wanted(_lines(rows[0], part), wanted)
        pairs_of_lines: Positions = (line + part.start) * m + partner
        return pairs_of_lines

    return [np.concatenate(in_parallel(pairs, parts)), *numbers]


def _look(
    block: tuple[Matrix, Matrix],
    left: Matrix,
    limits: Matrix,
    wanted: tuple[Wanted, Wanted],
    tile: tuple[int, int],
) -> Scanned:
    """The nearest of some right rows for all left ones, and the other way round."""
    right, right_limits = block

    def fill(columns: slice) -> Callable[[slice, Matrix], object]:
        turned = np.ascontiguousarray(right[columns].T)
        return lambda rows, out: np.dot(left[rows], turned, out=out)

    return scan_tiles(fill, limits, right_limits, wanted, tile)


def _moved(best: Best, start: int) -> Best:
    """The same with partners that are numbered from another start."""
    best.partners[best.partners >= 0] += start
    return best


def _wanted(near: Near, wanted: Wanted) -> tuple[Positions, Positions]:
    """The lines and partners near the best of their line, or among the first few."""
    _cut(near, wanted)
    lines, places = _filled(near)
    return lines, near.kept.reshape(-1, 2)[places, 1].astype(np.int64)


def _filled(near: Near) -> tuple[Positions, Positions]:
    """The line of each partner, and its place if lines follow each other, one after the other."""
    lines = np.repeat(np.arange(len(near.counts)), near.counts)
    before = np.cumsum(near.counts) - near.counts
    starts = np.arange(len(near.counts)) * near.kept.shape[1] - before
    return lines, np.arange(len(lines)) + starts[lines]


def _merged(near: Near, others: Near, begin: int, wanted: Wanted, parts: Sequence[slice]) -> Near:
    """The wanted partners of the same lines of both; the others are numbered from ``begin``.

    ``near`` is changed. Lines are merged by parts.
    """

    def merge(part: slice) -> None:
        mine, more = _lines(near, part), _lines(others, part)
        for each in (mine, more):  # at most half of each line stays filled
            _cut(each, wanted)
        lines, places = _filled(more)
        moved = more.kept.reshape(-1, 2)[places]
        moved[:, 1] += begin
        mine.kept.reshape(-1, 2)[places + mine.counts[lines]] = moved
        np.maximum(mine.least, more.least, out=mine.least)
        np.add(mine.counts, more.counts, out=mine.counts)

    in_parallel(merge, parts)
    return near


def _lines(near: Near, part: slice) -> Near:
    """The same of some lines, without a copy."""
    return Near(near.least[part], near.counts[part], near.kept[part])


def _cut(near: Near, wanted: Wanted) -> None:
    """Drop all partners that are not wanted."""
    cut_lines(near, wanted, np.empty(near.kept.shape[1], dtype=np.float32))


def _no_best(lines: int, k: int) -> Best:
    """Room for the best k of each line."""
    return Best(
        np.full(lines, -np.inf if k else np.inf, dtype=np.float32),
        np.full((lines, k), -np.inf, dtype=np.float32),
        np.full((lines, k), -1, dtype=np.int32),
    )


def _none_above(least: Matrix, k: int) -> Best:
    """Room for the best k of each line, none of them below a least."""
    below = np.nextafter(least, np.float32(-np.inf))  # an equal one may be better by its position
    return Best(
        below,
        np.repeat(below[:, None], k, axis=1),
        np.full((len(least), k), -1, dtype=np.int32),
    )


def _none_near(limits: NDArray[np.float32], k: int) -> Near:
    """Room for more than k partners of each line, of which k are kept."""
    lines, room = len(limits), max(2 * k, 128)
    kept = np.empty((lines, room, 2), dtype=np.float32)
    return Near(limits.copy(), np.zeros(lines, dtype=np.int32), kept)


def _sample(others: Matrix, size: int) -> Matrix:
    """Some of the others, evenly spread, as columns."""
    return np.ascontiguousarray(others[evenly_spread(len(others), size)].T)


def evenly_spread(count: int, size: int) -> Positions:
    """So many of the numbers below ``count``, evenly spread; all if there are fewer."""
    return np.unique(np.linspace(0, count - 1, min(size, count)).astype(np.int64))


def top_products(left: Sparse, right: Sparse, k: int, back: int = 0) -> tuple[Sparse, Sparse]:
    """The k largest products of each left row with right rows, and ``back`` of each right row.

    Both of shape (left, right); products of rows that share no column do not count. Where ``left``
    is ``right``, each product is made once; rows have their columns in order.
    """
    n, m = left.shape[0], right.shape[0]
    if left is right and k == back:
        forth = _from_best(_best_of_one(left, k), n)
        return forth, csr_array(forth.T)
    rows, columns = _no_best(n, k), _no_best(m, back)
    tiles = slices(m, max(-(-m // width()), LEAST_ROWS))
    blocks = [(part, tile) for tile in tiles for part in slices(n, LEFT_ROWS)]

    def take(block: tuple[slice, slice]) -> tuple[Sparse, Sparse]:
        return rows_of(left, block[0]), rows_of(right, block[1])

    for (part, tile), (near, far) in map_blocks(_meet, blocks, take, (k, back)):
        in_parallel(
            lambda found: _take_in(*found, first=found[-1] == 0),
            [(rows, part, near, tile.start), (columns, tile, far, part.start)],
        )
    if n + m > LEFT_ROWS:  # one is as large as the other
        forth = _from_best(rows, m)
        del rows
        return forth, csr_array(_from_best(columns, n).T)
    forth, inward = in_parallel(lambda found: _from_best(*found), [(rows, m), (columns, n)])
    return forth, csr_array(inward.T)


def _best_of_one(rows: Sparse, k: int) -> Best:
    """The k largest products of each row with the rows of the same matrix.

    The product of two rows is made once, for both: squares along the diagonal are made as a whole,
    and of the others those below it.
    """
    n = rows.shape[0]
    best = _no_best(n, k)
    side = min(max(-(-n // SQUARES), LEAST_ROWS), TILE_ROWS)
    squares = [(tile, tile) for tile in slices(n, side)]
    below = [
        (slice(tile.stop + part.start, tile.stop + part.stop), tile)
        for tile in slices(n, side)
        for part in slices(n - tile.stop, LEFT_ROWS)
    ]

    def take(block: tuple[slice, slice]) -> tuple[Sparse, Sparse]:
        return rows_of(rows, block[0]), rows_of(rows, block[1])

    for (part, tile), (near, _) in map_blocks(_meet, squares, take, (k, 0)):
        _take_in(best, part, near, tile.start, first=True)

    def take_with_least(block: tuple[slice, slice]) -> tuple[Sparse, Sparse, Matrix, Matrix]:
        # Whatever was taken in meanwhile: what is below the least of k is never among them.
        return *take(block), best.least[block[0]].copy(), best.least[block[1]].copy()

    for (part, tile), (near, far) in map_blocks(_meet_above, below, take_with_least, k):
        _take_in(best, part, near, tile.start, first=False)
        _take_in(best, tile, far, part.start, first=False)
    return best


def _meet_above(block: tuple[Sparse, Sparse, Matrix, Matrix], k: int) -> tuple[Best, Best]:
    """The best products of some left rows with some right ones, but for those below a least."""
    left, right, rows_least, columns_least = block
    rows, columns = _none_above(rows_least, k), _none_above(columns_least, k)
    _meet_tiles(left, right, rows, columns)
    return rows, columns


def _take_in(best: Best, lines: slice, found: Best, start: int, *, first: bool) -> None:
    """Put together what was found for these lines, partners being numbered from ``start`` on.

    The first is taken as it is.
    """
    here, found = Best(*(each[lines] for each in best)), _moved(found, start)
    if first:
        for mine, new in zip(here, found, strict=True):
            mine[:] = new
    else:
        merge_best(here, found)


def _meet(block: tuple[Sparse, Sparse], sizes: tuple[int, int]) -> tuple[Best, Best]:
    """The best products of some left rows with some right ones, and the other way round."""
    left, right = block
    rows, columns = _no_best(left.shape[0], sizes[0]), _no_best(right.shape[0], sizes[1])
    _meet_tiles(left, right, rows, columns)
    return rows, columns


def _meet_tiles(left: Sparse, right: Sparse, rows: Best, columns: Best) -> None:
    """Offer all positive products of two matrices to the best of rows and of columns."""
    for tile in slices(right.shape[0], TILE_ROWS):
        turned = rows_of(right, tile).tocsc()
        size = tile.stop - tile.start
        best_meetings(
            *(SparseRows(*arrays_of(left)), SparseRows(*arrays_of(turned)), tile.start),
            *(rows, columns),
            *(np.zeros(size, dtype=np.float32), np.empty(size + 1, dtype=np.int32)),
        )


def _from_best(best: Best, width: int) -> Sparse:
    """The best of each line as a sparse matrix."""
    filled = best.partners >= 0
    starts = np.append(0, np.cumsum(filled.sum(axis=1))).astype(np.int32)
    parts = best.worth[filled], best.partners[filled], starts
    matrix: Sparse = csr_array(parts, shape=(len(best.worth), width))
    matrix.sort_indices()  # how heaps are ordered depends on the number of threads
    return matrix


def among_best(
    starts: NDArray[np.integer],
    others: NDArray[np.integer],
    values: Matrix,
    width: int,
    *,
    of_rows: int,
    of_columns: int = 0,
) -> Mask:
    """Which entries of a sparse matrix are among the few largest of their row, or of their column.

    Entries that are not positive do not count; of equal ones, the first are the larger.
    """
    which = np.empty(len(others), dtype=np.bool_)
    best_entries(
        starts.astype(np.int64, copy=False),
        others.astype(np.int32, copy=False),
        values.astype(np.float32, copy=False),
        *(_no_best(1, of_rows), _no_best(width, of_columns)),
        which,
    )
    return which


def pair_numbers(matrix: Sparse) -> Positions:
    """The places of a matrix that are filled, as row * width + column."""
    numbers = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    numbers *= matrix.shape[1]
    numbers += matrix.indices
    return numbers


def distinct(found: Sequence[Positions]) -> Positions:
    """Each number once, ascending."""
    numbers = np.concatenate(found)
    numbers.sort()  # much faster than np.unique
    new = np.ones(len(numbers), dtype=np.bool_)
    new[1:] = numbers[1:] != numbers[:-1]
    each: Positions = numbers[new]
    return each
