"""Sketches are near the exact rows; the best products equal those of all products."""

from dataclasses import replace
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from sameas.compute import topk
from sameas.compute.kernels import topk as kernels
from sameas.compute.parallel import THREADS, using
from sameas.compute.rows import as_rows
from sameas.compute.topk import _no_best, top_products
from sameas.options.tuning import TUNING
from sameas.similarity.sketch import make_sketch


def graph_of(rng, size, width):
    """A random adjacency, and sparse features with an entity that has none."""
    adjacency = rng.random((size, size)) * (rng.random((size, size)) < 0.2) + np.eye(size)
    features = rng.random((size, width)) * (rng.random((size, width)) < 0.3)
    features[:1] = 0
    return csr_array(adjacency.astype(np.float32)), features.astype(np.float32)


def mean_of_hops(sides, depth, first):
    """The slow twin: the mean cosine over hops first..depth of all pairs."""
    hops = [hops_of(adjacency, features, depth) for adjacency, features in sides]
    return np.mean([a @ b.T for a, b in list(zip(*hops, strict=True))[first:]], axis=0)


def hops_of(adjacency, features, depth):
    rows, found = features.astype(np.float64), []
    for number in range(depth + 1):
        rows = adjacency.toarray().astype(np.float64) @ rows if number else rows
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
        found.append(rows)
    return found


def sketch_of(sides, depth, only=None, tuning=TUNING):
    adjacency, features = zip(*sides, strict=True)
    everyone = tuple(np.arange(len(side)) for side in features)
    return make_sketch(
        adjacency, tuple(as_rows(csr_array(side)) for side in features), depth=depth,
        only=only or everyone, tuning=tuning,
    )  # fmt: skip


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32), st.integers(0, 3), st.integers(0, 12), st.integers(0, 12))
def test_short_rows_are_only_rounded(seed, depth, n, m):
    rng = np.random.default_rng(seed)
    sides = [graph_of(rng, size, 20) for size in (n, m)]
    found = sketch_of(sides, depth)
    left, right = (index.ravel() for index in np.indices((n, m)))
    assert found.shape == (n, m)
    if depth:
        expected = mean_of_hops(sides, depth, 1).ravel()
        assert_allclose(found.of(left, right), expected, atol=0.02)
        assert_array_equal(found.partners(np.arange(n + 1) * m, right), found.of(left, right))
    rows = found.rows(0, slice(None)).toarray(), found.rows(1, np.arange(m)).toarray()
    assert_allclose(rows[0] @ rows[1].T, mean_of_hops(sides, depth, 0), atol=0.02)


def test_long_rows_are_sketched_without_bias_and_only_those_asked_for():
    rng = np.random.default_rng(1)
    sides = [graph_of(rng, size, 3000) for size in (80, 70)]
    exact = mean_of_hops(sides, 2, 1)
    left, right = (index.ravel() for index in np.indices(exact.shape))
    errors = {}
    for random in (32, 288):
        tuning = TUNING.changed(sketch={"principal": 16, "random": random})
        found = sketch_of(sides, 2, tuning=tuning)
        some = np.array([3, 7, 50]), np.array([0, 69])
        few = sketch_of(sides, 2, some, tuning=tuning)
        error = found.of(left, right) - exact.ravel()
        errors[random] = np.sqrt((error**2).mean())
        assert abs(error.mean()) < 0.01
        assert_array_equal(few.left.values, found.left.values[some[0]])
        assert_array_equal(few.right_names.scales, found.right_names.scales[some[1]])
    assert errors[288] < 0.01
    assert errors[288] < errors[32] / 2
    assert found.left.values.nbytes == 80 * 2 * 304
    assert found.left_names.values.nbytes == 80 * 304


class Apart:
    """An engine of workers with limited room: sketches are in files."""

    width, room, map = 2, 2**20, THREADS.map


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32), st.integers(1, 12), st.integers(1, 12), st.integers(0, 20))
def test_few_pairs_have_the_same_values_where_only_their_rows_are_sent(seed, n, m, count):
    rng = np.random.default_rng(seed)
    sides = [graph_of(rng, size, 20) for size in (n, m)]
    left, right = rng.integers(0, n, count), rng.integers(0, m, count).astype(np.int32)
    expected = sketch_of(sides, 2)
    with using(Apart()):
        found = sketch_of(sides, 2)
        assert_array_equal(found.of(left, right), expected.of(left, right))
    assert_array_equal(found.left.values, expected.left.values)


def with_stored_zeros(dense):
    """A sparse matrix that stores every entry; n-grams that all names share have weight zero."""
    n, m = dense.shape
    return csr_array((dense.ravel(), np.tile(np.arange(m), n), np.arange(n + 1) * m), shape=(n, m))


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 2**32), st.integers(0, 9), st.integers(0, 9), st.integers(1, 4),
    st.integers(0, 4), st.integers(1, 5), st.integers(1, 3),
)  # fmt: skip
def test_best_products_equal_those_of_all_pairs(seed, n, m, k, back, tile, workers):
    """In any tiles, by any number of threads; ties by position."""
    rng = np.random.default_rng(seed)
    left, right = (rng.integers(-1, 3, (size, 6)).astype(np.float32) for size in (n, m))
    products = left @ right.T
    expected = [np.zeros_like(products), np.zeros_like(products).T]
    for table, chosen, few in ((products, expected[0], k), (products.T, expected[1], back)):
        for row, values in enumerate(table):
            best = np.argsort(-values, kind="stable")[:few]
            best = best[values[best] > 0]
            chosen[row, best] = values[best]
    with patch.multiple(
        topk, TILE_ROWS=tile, LEFT_ROWS=2 * tile, LEAST_ROWS=1, width=lambda: workers
    ):
        forth, turned = top_products(with_stored_zeros(left), with_stored_zeros(right), k, back)
    assert_array_equal(forth.toarray(), expected[0])
    assert_array_equal(turned.toarray(), expected[1].T)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32), st.integers(0, 12), st.integers(1, 4), st.integers(1, 5))
def test_best_products_of_one_side_with_itself_equal_those_of_two(seed, n, k, tile):
    """Each product is made once there; the result is the same, ties too."""
    rng = np.random.default_rng(seed)
    rows = with_stored_zeros(rng.integers(-1, 3, (n, 6)).astype(np.float32))
    sizes = {"TILE_ROWS": tile, "LEFT_ROWS": 2 * tile, "LEAST_ROWS": 1, "SQUARES": 3}
    with patch.multiple(topk, **sizes):
        found = top_products(rows, rows, k, k)
        expected = top_products(rows, rows.copy(), k, k)
    for one, other in zip(found, expected, strict=True):
        assert_array_equal(one.toarray(), other.toarray())


def test_zeros_that_are_stored_meet_nobody():
    """An n-gram that every name has weighs nothing, and its zeros are entries nevertheless."""
    zeros = csr_array(np.ones((5, 40), dtype=np.float32))
    zeros.data[:] = 0
    for found in top_products(zeros, zeros, 2, 2):
        assert not found.nnz
    values = np.array([0.0, 1.0, 0.0, -1.0, 0.0], dtype=np.float32)
    one = kernels.SparseRows(np.array([0, 5]), np.zeros(5, dtype=np.int64), values)
    best = [_no_best(1, 1), _no_best(1, 1)]
    turned = kernels.SparseRows(np.array([0, 1]), np.zeros(1, dtype=np.int64), np.ones(1))
    room = np.zeros(1, dtype=np.float32), np.empty(2, dtype=np.int32)
    compiled: Any = kernels.best_meetings
    compiled.py_func(one, turned, 0, *best, *room)  # which checks every index
    assert best[0].partners.tolist() == [[-1]]


@pytest.mark.parametrize("tile", [(1, 1), (7, 20), (100, 100)])
@pytest.mark.parametrize("workers", [1, 3])
def test_the_nearest_do_not_depend_on_tiles(tile, workers):
    rng = np.random.default_rng(3)
    left, right = (as_rows(rng.integers(0, 3, (size, 5)) / 4) for size in (60, 50))
    nearest = partial(topk.top_k_dense, left, right, 5, first=3, progress=lambda share: None)
    expected = nearest()
    with patch.object(topk, "width", lambda: workers):
        found = nearest(tuning=replace(TUNING.search, tile=tile))
    assert_array_equal(found, expected)
