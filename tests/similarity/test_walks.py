"""Walks from one entity to another, held against powers of a dense matrix."""

from types import SimpleNamespace

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sameas.similarity import walks
from sameas.similarity.walks import neighbours, walk_lifts

SIZE = 7
edge_lists = st.lists(st.tuples(*[st.integers(0, SIZE - 1)] * 2), max_size=20)


def graph(edges):
    """A graph of these edges, all of one relation."""
    triples = np.array([(one, 0, other) for one, other in edges], dtype=np.int64).reshape(-1, 3)
    return SimpleNamespace(triples=triples, entities=pl.Series(range(SIZE)))


def expected(edges, left, right):
    """The mean of the probabilities of two and three steps, over that of a walk without end."""
    matrix = np.zeros((SIZE, SIZE))
    for one, other in edges:
        if one != other:
            matrix[one, other] = matrix[other, one] = 1.0
    if matrix[left, right] or not matrix[right].any():
        return 0.0
    step = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    chance = matrix[right].sum() / matrix.sum()
    return ((step @ step)[left, right] + (step @ step @ step)[left, right]) / 2 / chance


@given(edge_lists)
def test_lifts_are_those_of_dense_walks_and_the_same_both_ways(edges):
    left, right = np.divmod(np.arange(SIZE**2), SIZE)
    found = walk_lifts(neighbours(graph(edges)), left, right)
    assert_allclose(found, [expected(edges, *pair) for pair in zip(left, right, strict=True)])
    assert_allclose(found, found.reshape(SIZE, SIZE).T.ravel())


def test_blocks_give_what_one_gives(monkeypatch):
    edges = neighbours(graph([(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (5, 0), (6, 2)]))
    left, right = np.array([5, 0, 6, 5, 1]), np.array([2, 3, 3, 6, 4])
    whole = walk_lifts(edges, left, right)
    monkeypatch.setattr(walks, "ROWS", 1)
    assert_allclose(walk_lifts(edges, left, right), whole)
    assert whole.any()
