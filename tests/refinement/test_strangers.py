"""Strangers of one table: many pairs that are alike in the same columns, as links never are."""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose

from sameas.candidates.pairs import from_pairs
from sameas.formats.tabular import graph_of_frame
from sameas.graph.matched import MatchedPair
from sameas.graph.semantics.understanding import understand_one
from sameas.refinement.patterns import less_for_strangers, without_strangers
from sameas.similarity.attributes import read_attributes

COUNT, FAMILIES = 600, 30


@pytest.fixture(scope="module")
def attributes():
    """Rows of which each is there twice, and whose surname and mail everyone of a family has."""
    rows = [
        {
            "id": f"{number}-{copy}",
            "first": f"First{number * 37 % 101}",
            "surname": f"Family{number % FAMILIES}",
            "mail": f"family{number % FAMILIES}@example.org",
            "born": f"{1900 + number}-03-{10 + number % 18}",
            "city": f"City{number * 7 % 53}",
        }
        for number in range(COUNT)
        for copy in range(2)
    ]
    graph = understand_one(graph_of_frame(pl.DataFrame(rows), "left", id="id", name="first"))
    return read_attributes(MatchedPair(left=graph, right=graph))


def pairs():
    """All pairs of a family, and how likely they look: surname and mail count for much."""
    left, right = np.triu_indices(2 * COUNT, 1)
    family = (left // 2 % FAMILIES) == (right // 2 % FAMILIES)
    left, right = left[family], right[family]
    twins = left // 2 == right // 2
    return left, right, np.where(twins, 12.0, -1.0), twins


def test_families_are_lowered_and_twins_are_not(attributes):
    left, right, scores, twins = pairs()
    less = less_for_strangers(attributes, left, right, scores)
    assert (less <= scores + 1e-9).all()
    assert_allclose(less[twins], 12.0)
    likely = 1 / (1 + np.exp(-less[~twins]))
    assert likely.sum() < 0.2 * (~twins).sum()


def test_both_ways_of_a_pair_have_one_score(attributes):
    left, right, scores, _ = pairs()
    both = np.concatenate([left, right]), np.concatenate([right, left])
    surplus = from_pairs((2 * COUNT, 2 * COUNT), *both, np.tile(scores, 2).astype(np.float32))
    less = without_strangers(surplus, attributes)
    back = less.find(less.right.astype(np.int64), less.left.astype(np.int64))
    assert_allclose(less.values, less.values[back])
    once = less_for_strangers(attributes, left, right, scores)
    assert_allclose(less.values[less.find(left, right)], once, rtol=1e-5)


def test_graphs_have_no_columns():
    left, right, scores, _ = pairs()
    assert less_for_strangers(None, left, right, scores) is scores
