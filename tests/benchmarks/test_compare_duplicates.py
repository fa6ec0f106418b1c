"""Pairs of clusters are counted as if they were listed."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.compare_duplicates import judged


def listed(labels):
    """The pairs of positions that have the same label."""
    return {(i, j) for i, j in combinations(range(len(labels)), 2) if labels[i] == labels[j]}


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12))
def test_pairs_are_counted_as_if_they_were_listed(rows):
    ours, gold = ([row[n] for row in rows] for n in (0, 1))
    clusters = [[str(i) for i, one in enumerate(ours) if one == each] for each in set(ours)]
    found, true = listed(ours), listed(gold)
    scores = judged(clusters, {str(i): str(each) for i, each in enumerate(gold)})
    assert scores["pairs"] == len(found)
    assert scores["precision"] == pytest.approx(len(found & true) / max(len(found), 1))
    assert scores["recall"] == pytest.approx(len(found & true) / max(len(true), 1))
    assert judged(clusters, None) == {"pairs": len(found)}


def test_clusters_that_overlap_are_counted_as_one():
    overlapping = [["a", "b"], ["c", "d"], ["b", "c"], ["e", "f"]]
    scores = judged(overlapping, dict.fromkeys("abcdef", "x"))
    assert scores["pairs"] == 6 + 1
    assert scores["recall"] == pytest.approx(7 / 15)
