"""Rows of sparse matrices."""

from itertools import pairwise

import numpy as np
from scipy.sparse import random_array

from sameas.compute.rows import rows_of, starts_of_kept


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
