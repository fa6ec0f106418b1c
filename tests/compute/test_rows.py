"""Rows of sparse matrices."""

import numpy as np
from scipy.sparse import random_array

from sameas.compute.rows import rows_of


def test_successive_rows_share_memory_with_all_however_few_they_are():
    matrix = random_array((50, 20), density=0.3, rng=np.random.default_rng(0), format="csr")
    for which in (slice(0, 50), slice(10, 12), slice(49, 50), slice(7, 7)):
        part = rows_of(matrix, which)
        assert (part.toarray() == matrix.toarray()[which]).all()
        assert part.dtype == matrix.dtype
        if part.nnz:
            assert np.shares_memory(part.data, matrix.data)
            assert np.shares_memory(part.indices, matrix.indices)
