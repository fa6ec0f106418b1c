"""Clusters: scores against gold, by slow and obvious counting."""

from collections import defaultdict
from itertools import combinations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sameas
from sameas.formats.cluster_tables import is_cluster_table, read_clusters
from sameas.result.cluster_evaluation import evaluate_clusters

LABELS = st.dictionaries(st.integers(0, 9).map(str), st.integers(0, 4).map(str))


def frame(labels):
    """entity, cluster."""
    schema = {"entity": pl.String, "cluster": pl.String}
    return pl.DataFrame(list(labels.items()), schema=schema, orient="row")


def grouped(labels, entities):
    """The cluster of each entity; who is not listed stands alone."""
    groups = defaultdict(set)
    for entity in entities:
        groups[labels.get(entity, f"alone {entity}")].add(entity)
    return {entity: frozenset(group) for group in groups.values() for entity in group}


def f1(precision, recall):
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@given(LABELS, LABELS)
def test_scores_are_those_of_counting_pairs_clusters_and_entities(found, gold):
    entities = sorted(found.keys() | gold.keys())
    mine, true = grouped(found, entities), grouped(gold, entities)
    pairs = [
        {
            frozenset(pair)
            for pair in combinations(entities, 2)
            if groups[pair[0]] == groups[pair[1]]
        }
        for groups in (mine, true)
    ]
    clusters = [{group for group in groups.values() if len(group) > 1} for groups in (mine, true)]
    metrics = evaluate_clusters(frame(found), frame(gold))
    for name, (ours, theirs) in {"pairwise": pairs, "cluster": clusters}.items():
        precision = len(ours & theirs) / len(ours) if ours else None
        recall = len(ours & theirs) / len(theirs) if theirs else None
        assert getattr(metrics, f"{name}_precision") == pytest.approx(precision)
        assert getattr(metrics, f"{name}_recall") == pytest.approx(recall)
        if ours and theirs:
            assert getattr(metrics, f"{name}_f1") == pytest.approx(f1(precision, recall))
    if entities:
        both = [len(mine[e] & true[e]) for e in entities]
        precision = sum(b / len(mine[e]) for b, e in zip(both, entities, strict=True)) / len(both)
        recall = sum(b / len(true[e]) for b, e in zip(both, entities, strict=True)) / len(both)
        assert metrics.bcubed_precision == pytest.approx(precision)
        assert metrics.bcubed_recall == pytest.approx(recall)
        assert metrics.bcubed_f1 == pytest.approx(f1(precision, recall))


@pytest.mark.parametrize("header", ["id,cluster", "entity,graph,cluster,confidence"])
def test_tables_of_clusters_are_told_by_their_header(tmp_path, header):
    path = tmp_path / "clusters.csv"
    row = "a,x,1,0.5" if "graph" in header else "a,1"
    path.write_text(f"{header}\n{row}\n")
    assert is_cluster_table(path)
    assert read_clusters(path).rows() == [("a", "1")]


def test_a_table_without_clusters_is_refused():
    with pytest.raises(sameas.OptionError, match="the columns entity and cluster, found a"):
        sameas.evaluate_clusters(frame({"a": 1}), pl.DataFrame({"a": [1]}))
    gold = frame({"a": 1, "b": 1})
    assert sameas.evaluate_clusters(gold, gold.rename({"entity": "id"})).pairwise_f1 == 1.0


def test_an_entity_in_two_clusters_is_refused(tmp_path):
    path = tmp_path / "clusters.csv"
    path.write_text("id,cluster\na,1\nb,1\na,2\n")
    with pytest.raises(sameas.InputError, match=r'clusters.csv:4: "a" is in two clusters'):
        read_clusters(path)
