"""The four adjacency matrices against loops over triples."""

from __future__ import annotations

import math
from typing import get_args

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose

import reference
from sameas import Graph
from sameas.compute.rows import as_rows
from sameas.options.options import Adjacency
from sameas.similarity.adjacency import adjacency_matrices
from sameas.similarity.propagation import propagate
from strategies import graphs

KINDS = get_args(Adjacency)


def graph(size, triples, relations=2):
    return Graph(
        entities=pl.Series([f"e{i}" for i in range(size)], dtype=pl.String),
        given_names=pl.Series([""] * size, dtype=pl.String),
        relations=pl.Series([f"r{i}" for i in range(relations)], dtype=pl.String),
        triples=np.array(triples, dtype=np.int64).reshape(-1, 3),
    )


def dense(left, right, kind):
    return tuple(matrix.toarray() for matrix in adjacency_matrices(left, right, kind))


@settings(deadline=None, max_examples=50)
@given(graphs(), graphs())
def test_relational_weights_equal_those_summed_triple_by_triple(left, right):
    for found, expected in zip(
        dense(left, right, "relational"), reference.relational(left, right), strict=True
    ):
        assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", ["plain", "random-walk", "laplacian"])
@settings(deadline=None, max_examples=50)
@given(left=graphs(), right=graphs())
def test_the_other_kinds_equal_their_definitions(kind, left, right):
    definition = getattr(reference, kind.replace("-", "_"))
    for found, side in zip(dense(left, right, kind), (left, right), strict=True):
        assert_allclose(found, definition(side), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=30)
@given(left=graphs(), right=graphs())
def test_duplicate_triples_count_once(kind, left, right):
    twice = Graph(
        entities=left.entities,
        given_names=left.names,
        relations=left.relations,
        triples=np.concatenate([left.triples, left.triples[::-1]]),
    )
    for a, b in zip(dense(left, right, kind), dense(twice, right, kind), strict=True):
        assert_allclose(a, b)


@settings(deadline=None, max_examples=40)
@given(graphs(), st.data(), st.integers(0, 3))
def test_plain_and_random_walk_propagate_alike(side, data, depth):
    shape = (len(side.entities), 3)
    features = data.draw(hnp.arrays(np.float32, shape, elements=st.sampled_from([0, 1, 2])))
    rows = [
        propagate(adjacency_matrices(side, side, kind)[0], as_rows(features), depth=depth)
        for kind in ("plain", "random-walk")
    ]
    assert_allclose(rows[0].toarray(), rows[1].toarray(), atol=1e-6)


def test_rare_relations_weigh_more():
    left = graph(4, [(0, 0, 1), (0, 0, 2), (0, 1, 3)])
    right = graph(1, [])
    weights, _ = dense(left, right, "relational")
    assert_allclose(weights[0, 1:], [math.log(6 / 2), math.log(6 / 2), math.log(6 / 1)], rtol=1e-6)
    assert_allclose(weights, weights.T)


def test_the_loop_weighs_ln_of_triples_per_entity_but_at_least_ln_2():
    dense_graph = graph(2, [(0, r, 1) for r in range(9)], relations=9)
    for found in dense(dense_graph, graph(1, []), "relational"):
        assert_allclose(np.diag(found), math.log(18 / 3), rtol=1e-6)
    for found in dense(graph(3, [(0, 0, 1)]), graph(2, []), "relational"):
        assert_allclose(np.diag(found), math.log(2), rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_graphs_without_triples_keep_every_entity_to_itself(kind):
    for found, size in zip(dense(graph(3, []), graph(2, []), kind), (3, 2), strict=True):
        assert (found[~np.eye(size, dtype=bool)] == 0).all()
        assert (np.diag(found) > 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_side_without_entities_has_an_empty_matrix(kind):
    left, right = dense(graph(0, []), graph(2, [(0, 0, 1)]), kind)
    assert left.shape == (0, 0)
    assert right.shape == (2, 2)
