"""The largest entries of the rows and columns of a sparse matrix, against a slow twin."""

import numpy as np
import pytest
from scipy.sparse import random_array

from sameas.compute.topk import among_best


def slow(matrix, of_rows, of_columns):
    """Which entries are kept, by sorting each line: the largest first, of equal ones the first."""
    dense = matrix.toarray()
    kept = np.zeros(dense.shape, dtype=bool)
    for lines, marks, few in ((dense, kept, of_rows), (dense.T, kept.T, of_columns)):
        for line, mark in zip(lines, marks, strict=True):
            best = np.argsort(-line, kind="stable")[:few]
            mark[best[line[best] > 0]] = True
    row, column = matrix.nonzero()
    return kept[row, column]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("of_rows", "of_columns"), [(3, 3), (2, 0), (0, 2), (1, 40), (0, 0)])
def test_the_few_largest_of_rows_and_columns_are_told_ties_too(seed, of_rows, of_columns):
    rng = np.random.default_rng(seed)
    matrix = random_array((30, 17), density=0.4, rng=rng, format="csr")
    matrix.data = rng.integers(-2, 5, matrix.nnz).astype(np.float32)  # many are equal
    matrix.eliminate_zeros()
    matrix.sort_indices()
    found = among_best(
        matrix.indptr, matrix.indices, matrix.data, 17, of_rows=of_rows, of_columns=of_columns
    )
    assert found.tolist() == slow(matrix, of_rows, of_columns).tolist()


def test_nothing_is_among_the_best_of_nothing():
    nothing = np.zeros(0)
    assert not len(among_best(np.zeros(4), nothing, nothing, 0, of_rows=2, of_columns=2))
