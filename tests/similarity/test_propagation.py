"""Hops side by side against cosines computed pair by pair."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

import reference
from sameas import Graph
from sameas.compute.rows import Rows, as_rows, side_by_side, unit
from sameas.similarity import propagation
from sameas.similarity.adjacency import adjacency_matrices
from sameas.similarity.propagation import hop, propagate
from strategies import graphs


def features(rows, columns=4):
    return hnp.arrays(np.float32, (rows, columns), elements=st.sampled_from([0, 0, 0.5, 1, 3]))


@settings(deadline=None, max_examples=50)
@given(
    graphs(), graphs(), st.data(), st.integers(0, 3), st.sampled_from(["relational", "random-walk"])
)
def test_dot_products_equal_the_formula_computed_pair_by_pair(left, right, data, depth, kind):
    raw = [data.draw(features(len(side.entities))) for side in (left, right)]
    matrices = adjacency_matrices(left, right, kind)
    rows = [
        propagate(matrix, as_rows(values), depth=depth).toarray()
        for matrix, values in zip(matrices, raw, strict=True)
    ]
    hops = [
        reference.hops(matrix.toarray().astype(np.float64), values, depth)
        for matrix, values in zip(matrices, raw, strict=True)
    ]
    assert_allclose(rows[0] @ rows[1].T, reference.similarity(*hops), atol=1e-5)


@settings(deadline=None, max_examples=40)
@given(graphs(), st.data(), st.integers(0, 3))
def test_dense_and_sparse_features_propagate_alike(graph, data, depth):
    matrix = adjacency_matrices(graph, graph, "relational")[0]
    values = data.draw(features(len(graph.entities)))
    whole = propagate(matrix, as_rows(values), depth=depth).toarray()
    sparse = propagate(matrix, as_rows(csr_array(values)), depth=depth).toarray()
    mixed = propagate(matrix, Rows(values[:, :1], csr_array(values[:, 1:])), depth=depth).toarray()
    assert_allclose(sparse, whole, atol=1e-6)
    assert_allclose(mixed @ mixed.T, whole @ whole.T, atol=1e-5)


@settings(deadline=None, max_examples=40)
@given(graphs(), st.data(), st.integers(0, 3))
def test_rows_have_length_one_unless_neither_name_nor_neighbour_tells_anything(graph, data, depth):
    matrix = adjacency_matrices(graph, graph, "relational")[0]
    values = data.draw(features(len(graph.entities)))
    found = propagate(matrix, as_rows(values), depth=depth)
    hops = reference.hops(matrix.toarray().astype(np.float64), values, depth)
    lengths = np.sqrt(np.mean([(rows**2).sum(axis=1) for rows in hops], axis=0))
    assert_allclose(found.norms(), lengths, atol=1e-5)


@settings(deadline=None, max_examples=30)
@given(graphs(), st.data(), st.integers(0, 3), st.sampled_from(["relational", "laplacian"]))
def test_only_some_rows_are_those_rows_of_all(graph, data, depth, kind):
    """In any order, with repeats, none or all of them; to the last digit."""
    matrix = adjacency_matrices(graph, graph, kind)[0]
    rows = mixed(data.draw(features(len(graph.entities))))
    position = st.integers(0, len(graph.entities) - 1)
    some = np.array(data.draw(st.lists(position, max_size=8)), dtype=np.int64)
    found = propagate(matrix, rows, depth=depth, only=some)
    assert_same(found, propagate(matrix, rows, depth=depth).take(some))


@pytest.mark.parametrize("size", [1, 2, 3])
@settings(deadline=None, max_examples=12)
@given(graph=graphs(), data=st.data(), depth=st.integers(0, 3))
def test_many_blocks_equal_one(size, graph, data, depth):
    matrix = adjacency_matrices(graph, graph, "relational")[0]
    rows = mixed(data.draw(features(len(graph.entities))))
    some = data.draw(st.none() | st.just(np.arange(len(rows))[::-2]))
    one = propagate(matrix, rows, depth=depth, only=some)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(propagation, "BLOCK", size)
        many = propagate(matrix, rows, depth=depth, only=some)
    assert_same(many, one)


def mixed(values):
    """The first column dense, the others sparse."""
    return Rows(values[:, :1], csr_array(values[:, 1:]))


def assert_same(one, other):
    assert one.dense.dtype == one.sparse.dtype == np.float32
    assert one.sparse.shape == other.sparse.shape
    assert_array_equal(one.dense, other.dense)
    assert_array_equal(one.sparse.toarray(), other.sparse.toarray())


@settings(deadline=None, max_examples=20)
@given(graphs(), st.data(), st.integers(0, 4))
def test_memory_is_set_aside_for_at_least_the_entries_there_are(graph, data, depth):
    matrix = adjacency_matrices(graph, graph, "relational")[0]
    rows = mixed(data.draw(features(len(graph.entities))))
    hops = [unit(rows)]
    for _ in range(depth - 1):
        hops.append(hop(matrix, hops[-1]))
    most = propagation._most_entries(matrix, hops, depth, np.arange(len(rows)))
    entries = propagate(matrix, rows, depth=depth).sparse.nnz
    assert entries <= most <= len(rows) * 3 * (depth + 1)


def test_depth_zero_is_names_alone():
    adjacency = csr_array(np.ones((2, 2), dtype=np.float32))
    values = np.array([[3.0, 4.0], [0.0, 0.0]])
    for rows in (as_rows(values), as_rows(csr_array(values)), mixed(values.astype(np.float32))):
        names = propagate(adjacency, rows, depth=0)
        assert_allclose(names.toarray(), [[0.6, 0.8], [0, 0]], rtol=1e-6)
        last = propagate(adjacency, rows, depth=0, only=np.array([1, 0]))
        assert_allclose(last.toarray(), [[0, 0], [0.6, 0.8]], rtol=1e-6)


def test_features_of_another_graph_are_refused():
    adjacency = csr_array(np.eye(3, dtype=np.float32))
    with pytest.raises(ValueError, match="3 entities but features has 2 rows"):
        hop(adjacency, as_rows(np.ones((2, 1))))


@pytest.mark.parametrize("size", [4, 5, 7, 12])
def test_features_that_cancel_out_leave_nothing_rather_than_noise(size):
    """Under the Laplacian, an entity minus equal neighbours is zero, not a rounding error."""
    everyone = [(i, 0, j) for i in range(size) for j in range(i)]
    graph = Graph(
        entities=pl.Series([f"e{i}" for i in range(size)]),
        given_names=pl.Series(["x"] * size),
        relations=pl.Series(["r"]),
        triples=np.array(everyone, dtype=np.int64),
    )
    matrix = adjacency_matrices(graph, graph, "laplacian")[0]
    same = np.tile(np.array([[0.36, 0.48, 0.8]], dtype=np.float32), (size, 1))
    assert_allclose(hop(matrix, as_rows(same)).toarray(), 0, atol=1e-6)


def test_an_entity_without_name_takes_its_neighbours():
    adjacency = csr_array(np.array([[1, 1], [1, 1]], dtype=np.float32))
    rows = propagate(adjacency, as_rows(np.array([[1.0, 0.0], [0.0, 0.0]])), depth=1).toarray()
    assert_allclose(rows, np.array([[1, 0, 1, 0], [0, 0, 1, 0]]) / 2**0.5, rtol=1e-6)


def test_no_entities_propagate_to_no_rows():
    empty = csr_array((0, 0), dtype=np.float32)
    for values in (np.zeros((0, 3), dtype=np.float32), csr_array((0, 3), dtype=np.float32)):
        assert len(propagate(empty, as_rows(values), depth=2)) == 0


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_nobody_asked_for_gives_no_rows_of_all_columns(depth):
    none = np.empty(0, dtype=np.int64)
    rows = mixed(np.ones((3, 4), dtype=np.float32))
    found = propagate(csr_array(np.eye(3, dtype=np.float32)), rows, depth=depth, only=none)
    assert found.dense.shape == (0, depth + 1)
    assert found.sparse.shape == (0, 3 * (depth + 1))


def test_parts_of_different_length_are_refused():
    with pytest.raises(ValueError, match="same rows, got 2 dense and 3 sparse"):
        Rows(np.zeros((2, 1), dtype=np.float32), csr_array((3, 1), dtype=np.float32))


def test_side_by_side_adds_the_dot_products():
    a, b = as_rows(np.array([[1.0, 2.0]])), as_rows(csr_array(np.array([[3.0]])))
    both = side_by_side(a, b)
    assert_allclose(both.norms() ** 2, a.norms() ** 2 + b.norms() ** 2)
