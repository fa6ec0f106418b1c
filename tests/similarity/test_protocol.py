"""One contract for everything that gives a number for a pair of entities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from sameas.compute.rows import as_rows, unit
from sameas.similarity.hops import ExactHops, HopMean
from sameas.similarity.matrix import DenseMatrix, RowProduct
from sameas.similarity.propagation import propagate
from sameas.similarity.several_names import MaxOverNames
from sameas.similarity.sketch import Sketch, make_sketch

DEPTH = 2
SIZES = 7, 5
KINDS = ("RowProduct", "DenseMatrix", "MaxOverNames", "Sketch", "ExactHops", "HopMean")


def similarities(seed):
    """One of each kind, all between seven left and five right entities."""
    rng = np.random.default_rng(seed)
    features = tuple(
        unit(as_rows(csr_array(rng.random((size, 9)) * (rng.random((size, 9)) < 0.5))))
        for size in SIZES
    )
    adjacency = tuple(
        csr_array((rng.random((size, size)) < 0.4).astype(np.float32) + np.eye(size, dtype="f4"))
        for size in SIZES
    )
    only = tuple(np.arange(size) for size in SIZES)
    starts = [np.array([0, 2, 2, 3, 4, 5, 6, 7]), np.array([0, 1, 2, 3, 4, 5])]
    names = RowProduct(*features)
    hops = ExactHops(adjacency, features, DEPTH)
    sketch = make_sketch(adjacency, features, depth=DEPTH, only=only)
    return {
        "RowProduct": names,
        "DenseMatrix": DenseMatrix(names.toarray()),
        "MaxOverNames": MaxOverNames(names, *starts),
        "Sketch": sketch,
        "ExactHops": hops,
        "HopMean": HopMean((names,), hops, DEPTH, sketch),
    }


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 2**32), data=st.data())
def test_pairs_have_the_same_number_however_they_are_asked_for(kind, seed, data):
    similarity = similarities(seed)[kind]
    n, m = similarity.shape
    assert (n, m) == SIZES
    chosen = [data.draw(st.lists(st.integers(0, m - 1), unique=True)) for _ in range(n)]
    starts = np.concatenate([[0], np.cumsum([len(row) for row in chosen])]).astype(np.int64)
    right = np.array([j for row in chosen for j in row], dtype=np.int32)
    left = np.repeat(np.arange(n), np.diff(starts))
    numbers = similarity.partners(starts, right)
    assert numbers.dtype == np.float32
    assert_allclose(similarity.of(left, right), numbers, atol=1e-6)
    order = np.array(data.draw(st.permutations(range(len(left)))), dtype=np.int64)
    assert_allclose(similarity.of(left[order], right[order]), numbers[order], atol=1e-6)
    for place in range(min(len(left), 3)):
        alone = similarity.of(left[[place]], right[[place]])
        assert_allclose(alone, numbers[[place]], atol=1e-6)


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 2**32))
def test_exact_hops_are_the_products_of_the_rows_that_are_spread(seed):
    hops = similarities(seed)["ExactHops"]
    rows = [
        propagate(matrix, side, depth=DEPTH, first=1)
        for matrix, side in zip(hops.adjacency, hops.features, strict=True)
    ]
    left, right = (index.ravel() for index in np.indices(SIZES))
    assert_allclose(hops.of(left, right), RowProduct(*rows).of(left, right), atol=1e-5)
    assert_allclose(hops.of(left, right), hops.of_each(left, right).mean(axis=0), atol=1e-6)


def test_after_the_search_a_mean_over_hops_is_the_same():
    kinds = similarities(3)
    sketch = kinds["Sketch"]
    searched = HopMean((kinds["RowProduct"],), sketch, DEPTH, sketch)
    left, right = (index.ravel() for index in np.indices(SIZES))
    later = searched.without_search()
    assert isinstance(later.hops, Sketch)
    assert later.hops.left_names is None
    assert_array_equal(later.of(left, right), searched.of(left, right))
