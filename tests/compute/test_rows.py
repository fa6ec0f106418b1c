"""Rows of sparse matrices."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from sameas.compute import rows as module
from sameas.compute.in_files import is_in_file
from sameas.compute.parallel import THREADS, using
from sameas.compute.rows import Rows, rows_of, side_by_side, starts_of_kept, turned, unit


class Apart:
    """An engine of workers with limited room."""

    width, room, map = 2, 2**20, THREADS.map


def test_successive_rows_share_memory_with_all_however_few_they_are():
    matrix = random_array((50, 20), density=0.3, rng=np.random.default_rng(0), format="csr")
    for which in (slice(0, 50), slice(10, 12), slice(49, 50), slice(7, 7)):
        part = rows_of(matrix, which)
        assert (part.toarray() == matrix.toarray()[which]).all()
        assert part.dtype == matrix.dtype
        if part.nnz:
            assert np.shares_memory(part.data, matrix.data)
            assert np.shares_memory(part.indices, matrix.indices)


def test_rows_of_kept_entries_start_where_those_before_them_end():
    rng = np.random.default_rng(1)
    starts = np.array([0, 0, 3, 3, 9, 12, 12])
    for share in (0.0, 0.5, 1.0):
        kept = rng.random(12) < share
        counts = [int(kept[a:b].sum()) for a, b in pairwise(starts)]
        assert starts_of_kept(starts, kept).tolist() == np.cumsum([0, *counts]).tolist()


def test_turned_rows_are_the_dense_matrix_turned():
    rng = np.random.default_rng(2)
    dense = rng.random((5, 3), dtype=np.float32)
    sparse = random_array((5, 7), density=0.4, format="csr", dtype=np.float32, rng=rng)
    for rows in (Rows(dense, sparse), Rows(dense[:, :0], sparse), Rows(dense, sparse[:, :0])):
        found = turned(rows)
        assert found.flags.c_contiguous
        np.testing.assert_array_equal(found, rows.toarray().T)


@pytest.mark.parametrize("engine", [THREADS, Apart()])
def test_many_rows_side_by_side_are_the_same_part_by_part(engine, monkeypatch):
    rng = np.random.default_rng(3)
    parts = [
        Rows(
            rng.random((40, width), dtype=np.float32),
            csr_array(random_array((40, 9), density=density, dtype=np.float32, rng=rng)),
        )
        for width, density in ((2, 0.3), (0, 0.0), (1, 0.7))
    ]
    whole = side_by_side(*parts)
    length = unit(whole)
    monkeypatch.setattr(module, "MANY", 0)
    monkeypatch.setattr(module, "ENTRIES", 7)
    with using(engine):
        found = side_by_side(*parts)
        scaled = unit(found)
    for one, other in ((found, whole), (scaled, length)):
        np.testing.assert_array_equal(one.dense, other.dense)
        for name in ("indptr", "indices", "data"):
            mine, theirs = getattr(one.sparse, name), getattr(other.sparse, name)
            np.testing.assert_array_equal(mine, theirs)
            assert mine.dtype == theirs.dtype
        assert is_in_file(one) == (engine is not THREADS)
        assert one.sparse.shape == other.sparse.shape
