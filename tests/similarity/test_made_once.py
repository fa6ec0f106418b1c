"""What is made once of one graph equals what is made of two equal ones."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from people import people_table
from sameas.candidates.clues import make_clues, propose_by_clues
from sameas.candidates.pairs import from_pairs
from sameas.formats.tabular import graph_of_frame
from sameas.graph.matched import MatchedPair
from sameas.graph.semantics.understanding import understand_one
from sameas.graph.task import Inputs
from sameas.options.options import Options
from sameas.refinement.refine import _of_traits
from sameas.similarity.features import name_features, sketched_hops
from sameas.similarity.make_task import make_task
from sameas.similarity.matrix import make_profit
from sameas.similarity.model import make_model
from sameas.similarity.roles import Roles, read_roles
from sameas.similarity.several_names import compared_names
from sameas.similarity.traits import make_traits


@pytest.fixture(scope="module")
def graph():
    return understand_one(graph_of_frame(people_table(40), "left"))


@pytest.fixture(scope="module")
def pairs(graph):
    """A graph with itself, and with another one that is equal."""
    both = MatchedPair(left=graph, right=graph), MatchedPair(left=graph, right=replace(graph))
    assert both[0].is_one_graph
    assert not both[1].is_one_graph
    return both


def everyone(pair):
    return np.arange(len(pair.left.entities)), np.arange(len(pair.right.entities))


def test_proposals_of_one_graph_are_those_of_two_equal_ones(pairs):
    found = []
    for pair in pairs:
        clues = make_clues(
            pair, Options(), everyone(pair), compared_names(pair, Options(), Inputs())
        )
        found.append(propose_by_clues(clues, 5, progress=lambda share: None))
    one, two = found
    assert_array_equal(one.pairs.starts, two.pairs.starts)
    assert_array_equal(one.pairs.columns, two.pairs.columns)
    assert_array_equal(one.by_values, two.by_values)


def test_rows_of_one_graph_are_those_of_two_equal_ones(pairs):
    sketches = []
    for pair in pairs:
        names = replace(compared_names(pair, Options(), Inputs()))
        if not pair.is_one_graph:
            names = replace(names, right=names.right.clone())
        rows = name_features(pair, Options(), Inputs(), names=names).rows
        sketches.append((rows, sketched_hops(pair, rows, Options(), everyone(pair))))
    (one, ones), (two, twos) = sketches
    assert one[0] is one[1]
    assert two[0] is not two[1]
    for side in (0, 1):
        assert_array_equal(one[side].toarray(), two[side].toarray())
        assert_array_equal(ones.rows(side, slice(None)).dense, twos.rows(side, slice(None)).dense)


def test_sets_of_roles_say_what_each_pair_says(graph):
    roles = read_roles(graph)
    left, right = (index.ravel() for index in np.indices((len(graph.entities),) * 2))
    assert roles._patterns is not None
    assert 1 < len(roles._patterns[1]) < len(graph.entities)
    learned = roles.learn(left[:0], left[:0], np.zeros(0))(left, right)
    assert_array_equal(learned[:, 0], roles._worth(left, right))
    wide = replace(roles, held=roles.held.copy())
    wide.held.resize((roles.held.shape[0], 100))
    assert isinstance(wide, Roles)
    assert wide._patterns is None
    assert_array_equal(wide.learn(left[:0], left[:0], np.zeros(0))(left, right), learned)


def test_traits_of_a_table_are_the_same_both_ways_round(graph):
    task = make_task(MatchedPair(left=graph, right=graph), Options(), Inputs())
    names = compared_names(task.pair, Options(), Inputs())
    rows = name_features(task.pair, Options(), Inputs(), names=names).rows
    traits = replace(make_traits(task.pair, names, make_profit(*rows)), spelling=None)
    model = replace(make_model(task), traits=traits)
    assert traits.of_tables
    size = len(graph.entities)
    left, right = np.nonzero(np.random.default_rng(0).random((size, size)) < 0.2)
    ends = left[left != right], right[left != right]
    one_way = from_pairs((size, size), *ends, np.zeros(len(ends[0]), dtype=np.float32))
    both = np.unique(np.concatenate([np.stack(ends), np.stack(ends[::-1])], axis=1), axis=1)
    both_ways = from_pairs(
        (size, size), both[0], both[1], np.zeros(both.shape[1], dtype=np.float32)
    )
    learned = model.learn_traits(left[:0], left[:0], np.zeros(0))
    for candidates in (one_way, both_ways):
        expected = learned(candidates.left, candidates.right).astype(np.float32)
        assert_array_equal(_of_traits(learned, candidates, model), expected)
