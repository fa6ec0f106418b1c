"""Three graphs or more: clusters of their links, with one member of each graph at most."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import sameas
from folders import table
from pairs import best_connected
from sameas.assignment.clustering import ScoredPairs, average_linkage
from sameas.cli.main import main
from sameas.errors import InputError, OptionError
from sameas.graph.union import union_of
from sameas.pipeline.sources import names_of_graphs
from sameas.result.merged_graph import SEVERAL


@pytest.fixture(scope="module")
def graphs():
    """A French, an English and once more the English graph, under other ids."""
    pair = best_connected(sameas.read_pair(sameas.DEMO), counterparts=120, others=20)
    left, right = (graph.source for graph in pair.graphs)
    other = replace(right, entities="x:" + right.entities)
    for name in ("attributes", "alternatives"):
        rows = getattr(right, name)
        other = replace(other, **{name: rows.with_columns(entity="x:" + rows["entity"])})
    return (left, right, other), pair.gold


@pytest.fixture(scope="module")
def aligned(graphs):
    return sameas.align(*graphs[0], no_audit=True)


@st.composite
def grouped_pairs(draw):
    """Scores of some pairs of a few entities of three groups, none within a group."""
    size = draw(st.integers(3, 10))
    groups = np.array(draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)))
    every = [(i, j) for i, j in combinations(range(size), 2) if groups[i] != groups[j]]
    chosen = draw(st.lists(st.sampled_from(every), unique=True)) if every else []
    places = draw(st.permutations(range(len(every))))
    scores = np.array([place * 0.37 - 2.0 for place in places[: len(chosen)]])
    left, right = np.array(chosen, dtype=np.int64).reshape(-1, 2).T
    return ScoredPairs(size, left, right, scores), groups


def joined_slowly(pairs, groups, absent):
    """Join the two clusters of the largest mean score that share no group, while it is above 0."""
    scores = np.full((pairs.size, pairs.size), absent)
    scores[pairs.left, pairs.right] = scores[pairs.right, pairs.left] = pairs.scores
    clusters = [frozenset([entity]) for entity in range(pairs.size)]
    while True:
        allowed = [
            (scores[np.ix_(list(a), list(b))].mean(), a, b)
            for a, b in combinations(clusters, 2)
            if not {*groups[list(a)]} & {*groups[list(b)]}
        ]
        best = max(allowed, key=lambda one: one[0], default=(0.0, None, None))
        if best[0] <= 1e-12:
            return {*clusters}
        clusters = [c for c in clusters if c not in best[1:]] + [best[1] | best[2]]


@given(grouped_pairs(), st.sampled_from([-1.0, 0.0]))
def test_clusters_have_one_member_of_each_group_at_most(drawn, absent):
    pairs, groups = drawn
    if absent == 0:
        pairs = pairs.likely()
    labels = average_linkage(pairs, absent=absent, groups=groups).labels
    clusters = {frozenset(np.flatnonzero(labels == one).tolist()) for one in {*labels.tolist()}}
    assert clusters == joined_slowly(pairs, groups, absent)


def test_an_unsure_link_joins_unless_a_surer_partner_is_there():
    groups = np.array([0, 1, 2, 2])
    left, right = np.array([0, 1, 1]), np.array([1, 2, 3])
    both = ScoredPairs(4, left, right, np.array([9.0, 0.2, 0.1]))
    labels = average_linkage(both, absent=0.0, groups=groups).labels
    assert labels.tolist() == [0, 0, 0, 3]  # the missing link of 0 and 2 says nothing


def test_the_order_of_graphs_does_not_change_clusters(graphs, aligned):
    first, second, third = graphs[0]
    other = sameas.align(third, first, second, no_audit=True)
    order = {"graph 1": "graph 3", "graph 2": "graph 1", "graph 3": "graph 2"}

    def members(alignment, names):
        table = alignment.clusters.members.with_columns(pl.col("graph").replace(names))
        groups = table.group_by("cluster").agg(pl.struct("graph", "entity"))
        return {frozenset(map(tuple, map(dict.values, each))) for each in groups["graph"]}

    here, there = members(aligned, {}), members(other, order)
    assert len(here & there) > 0.98 * len(here | there)


def test_members_are_in_clusters_with_their_counterparts(graphs, aligned):
    (_, right, _), gold = graphs
    members = aligned.clusters.members
    assert not members.select("cluster", "graph").is_duplicated().any()
    cluster = {(graph, entity): name for entity, graph, name, *_ in members.rows()}
    same = sum(
        cluster.get(("graph 2", one), 0) == cluster.get(("graph 3", f"x:{one}"), 1)
        for one in right.entities
    )
    assert same > 0.95 * len(right.entities)
    found = sum(
        cluster.get(("graph 1", one), 0) == cluster.get(("graph 2", two), 1)
        for one, two in gold.rows()
    )
    two_at_a_time = len(aligned.parts[0].links.join(gold, on=["left", "right"]))
    assert found >= two_at_a_time - 2


def test_a_run_folder_holds_clusters_and_the_runs_of_each_two_graphs(aligned, graphs, tmp_path):
    sameas.write(aligned, tmp_path / "run")
    again = sameas.read_run(tmp_path / "run")
    for name, rows in aligned.clusters.tables.items():
        assert again.clusters.tables[name].equals(rows)
    assert again.diagnostics.graphs == ("graph 1", "graph 2", "graph 3")
    assert len(again.parts) == 3
    assert again.parts[2].links.equals(aligned.parts[2].links)
    link = again.clusters.links.row(0, named=True)
    alone, both = again.explain(link["left"]), again.explain(link["left"], link["right"])
    assert str(alone)
    assert str(both)
    table_file, rdf_file = tmp_path / "clusters.tsv", tmp_path / "same.nt"
    sameas.write(again, table_file)
    assert pl.read_csv(table_file, separator="\t").columns == [
        *("entity", "graph", "cluster", "confidence")
    ]
    sameas.write(again, rdf_file)
    count = len(aligned.clusters.members) - len(aligned.clusters)
    assert len(rdf_file.read_text(encoding="utf8").splitlines()) == count


def test_what_is_known_holds_in_clusters(graphs):
    people = [{"id": f"p{n}", "name": name} for n, name in enumerate(("Ann Lee", "Bo Ek", "Cy Ob"))]
    tables = [[{**row, "id": f"{side}{row['id']}"} for row in people] for side in "abc"]
    seeds, reject = [("ap0", "cp2")], [("bp1", "cp1"), ("cp1", "ap1")]
    found = sameas.align(*tables, seeds=seeds, reject=reject, no_audit=True).clusters.members
    cluster = {entity: name for entity, _, name, *_ in found.rows()}
    assert cluster["ap0"] == cluster["cp2"]
    assert cluster.get("bp1", "b") != cluster.get("cp1", "c")
    assert cluster.get("ap1", "a") != cluster.get("cp1", "c")


def test_ids_that_graphs_share_are_told_apart_unless_they_are_iris():
    edges = [("http://x/a", "r", "1"), ("1", "r", "2")]
    graph = sameas.Graph.from_triples(edges)
    union = union_of([graph, graph, graph], ["one", "two", "three"])
    assert union.graph.entities.n_unique() == 9
    assert "two/1" in union.graph.entities
    assert union.ids.to_list() == 3 * graph.entities.to_list()
    assert len(union.graph.triples) == 6


def test_clusters_are_merged(aligned, tmp_path):
    merged = sameas.merge(aligned, tmp_path / "merged.nt")
    assert merged.counts["clusters"] == len(aligned.clusters)
    assert not any("several graphs" in text for text in merged.not_held)


def test_ids_that_several_graphs_have_are_merged_with_the_names_of_their_graphs(tmp_path):
    names = ("Ann Lee", "Bo Ekholm", "Cyrus Okafor", "Dina Novak")
    people = [{"id": str(n), "name": name} for n, name in enumerate(names)]
    shared = sameas.align(people, people[:], people[::-1], no_audit=True)
    assert len(shared.clusters) == 4
    merged = sameas.merge(shared, tmp_path / "merged.csv")
    assert merged.counts["rows"] == 4
    assert any(text.startswith("4 ids that several graphs have") for text in merged.not_held)
    rows = pl.read_csv(tmp_path / "merged.csv", infer_schema=False)
    assert sorted(rows["name"]) == sorted(names)
    for row in rows.iter_rows(named=True):
        ids = [row["id"], *row["merged_ids"].split(SEVERAL)]
        assert len({each.split("/")[0] for each in ids}) == 3  # of each graph
        assert {each.split("/")[1] for each in ids} == {str(names.index(row["name"]))}
    sameas.merge(shared, tmp_path / "merged.nt")
    again = sameas.read_graph(tmp_path / "merged.nt")
    assert set(names) <= set(again.names)
    assert (tmp_path / "merged.nt").read_text().count("owl#sameAs") == 8
    with pytest.raises(sameas.OutputError, match="by which a Cypher script finds nodes"):
        sameas.merge(shared, tmp_path / "merged.cypher")


def test_ids_of_different_things_stay_apart(tmp_path):
    names = ("Ann Lee", "Bo Ekholm", "Cyrus Okafor", "Dina Novak", "Ella Brandt", "Fred Quill")
    tables = [
        [{"id": str(n), "name": name} for n, name in enumerate(names[start:])] for start in range(3)
    ]
    aligned = sameas.align(*tables, no_audit=True)
    sameas.write(aligned, tmp_path / "run")
    sameas.merge(sameas.read_run(tmp_path / "run"), tmp_path / "merged.csv")
    rows = pl.read_csv(tmp_path / "merged.csv", infer_schema=False)
    assert sorted(rows["name"]) == sorted(names)  # none lost, none mixed
    assert rows["id"].n_unique() == len(names)


def test_rdf_beside_tables_is_merged_to_valid_rdf(tmp_path, caplog):
    names = ("Ann Lee", "Bo Ekholm", "Cyrus Okafor", "Dina Novak")
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    lines = [f'<http://x.org/{n}> {label} "{name}" .' for n, name in enumerate(names)]
    (tmp_path / "a.nt").write_text("\n".join(lines) + "\n")
    rows = pl.DataFrame({"id": [*"0123"], "name": names})
    for file in ("b.csv", "c.csv"):
        rows.write_csv(tmp_path / file)
    files = [str(tmp_path / file) for file in ("a.nt", "b.csv", "c.csv")]
    sameas.merge(sameas.align(*files, no_audit=True), tmp_path / "merged.nt")
    caplog.clear()
    again = sameas.read_graph(tmp_path / "merged.nt")
    assert not caplog.messages  # all statements can be read
    assert set(again.names) >= set(names)
    assert "<urn:sameas:left:b.csv" in (tmp_path / "merged.nt").read_text()


def test_an_iri_that_several_graphs_have_stays_one(tmp_path):
    label = "http://www.w3.org/2000/01/rdf-schema#label"
    names = ("Ann Lee", "Bo Ekholm", "Cyrus Okafor", "Dina Novak")
    for file in "abc":
        lines = [f'<http://x.org/{n}> <{label}> "{name}" .' for n, name in enumerate(names)]
        lines += [f'<http://{file}.org/z> <{label}> "Zoe Quill" .']
        lines += [f"<http://x.org/{n}> <http://x.org/knows> <http://{file}.org/z> ." for n in "01"]
        (tmp_path / f"{file}.nt").write_text("\n".join(lines) + "\n")
    aligned = sameas.align(*(str(tmp_path / f"{file}.nt") for file in "abc"), no_audit=True)
    merged = sameas.merge(aligned, tmp_path / "merged.nt")
    assert not any("several graphs" in text for text in merged.not_held)
    text = (tmp_path / "merged.nt").read_text()
    assert ".nt/" not in text
    assert {f"http://x.org/{n}" for n in range(4)} < set(
        sameas.read_graph(tmp_path / "merged.nt").entities
    )
    sameas.merge(aligned, tmp_path / "merged.json")
    nodes = {node["id"] for node in json.loads((tmp_path / "merged.json").read_text())["nodes"]}
    assert {f"http://x.org/{n}" for n in range(4)} < nodes
    assert len(nodes) == 5


def test_terms_of_vocabularies_are_in_no_cluster(tmp_path):
    owl, label = "http://www.w3.org/2002/07/owl#", "http://www.w3.org/2000/01/rdf-schema#label"
    kind = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    for file in "abc":
        lines = [f"<{owl}Class> {kind} <{owl}Class> ."]
        for n, name in enumerate(("heart", "liver", "kidney", "spleen")):
            iri = f"<http://{file}.org/{n}>"
            lines += [f"{iri} {kind} <{owl}Class> .", f'{iri} <{label}> "{name}" .']
        (tmp_path / f"{file}.nt").write_text("\n".join(lines) + "\n")
    aligned = sameas.align(*(str(tmp_path / f"{file}.nt") for file in "abc"), no_audit=True)
    assert len(aligned.clusters) == 4
    assert not aligned.clusters.members["entity"].str.starts_with(owl).any()


def test_what_makes_no_sense_is_refused(graphs, tmp_path):
    (left, right, _), gold = graphs
    triples = [("a", "r", "b"), ("b", "r", "c")]
    files = [str(table(tmp_path / f"{name}.tsv", triples)) for name in "abc"]
    with pytest.raises(InputError, match=r"a.tsv: is given twice; give each graph once"):
        sameas.align(files[0], files[1], str(tmp_path / "." / "a.tsv"))
    for name, value in (("among", gold), ("embeddings", "rows.npy")):
        with pytest.raises(OptionError, match=f"`{name}` cannot be used with three graphs"):
            sameas.align(left, right, left, **{name: value})
    with pytest.raises(OptionError, match="must be one-to-one or many-to-many"):
        sameas.align(left, right, left, cardinality="one-to-many")
    with pytest.raises(OptionError, match="graph 3 must be a graph, a table or a file, got int"):
        sameas.align(left, right, 3)
    result = CliRunner().invoke(main, ["align", *files[:2], str(sameas.DEMO), "-o", "x.tsv"])
    assert result.exit_code == 2
    assert "is a folder of two graphs" in result.output


def test_graphs_are_called_by_their_files():
    assert names_of_graphs(["a/x.nt", "b/x.nt", "c/y.nt"]) == ["a/x.nt", "b/x.nt", "c/y.nt"]
    assert names_of_graphs(["x.nt", "y.nt", [{"id": 1}]]) == ["x.nt", "y.nt", "graph 3"]


def test_the_command_prints_links_and_clusters(tmp_path):
    names = ("Ann Lee", "Bo Ekholm", "Cyrus Okafor", "Dina Novak", "Ella Brandt")
    files = []
    for side in "abc":
        rows = [(f"{side}{n}", name) for n, name in enumerate(names)]
        files.append(str(table(tmp_path / f"{side}.csv", rows, header=("id", "name"))))
    out = str(tmp_path / "clusters.csv")
    words = ["align", *files, "-o", out]
    assert "in clusters" in CliRunner().invoke(main, words).output
    values = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)
    assert values["clusters"] == 5
    assert [graph["entities"] for graph in values["graphs"]] == [5, 5, 5]
    assert [pair["in_clusters"] for pair in values["pairs"]] == [5, 5, 5]
    assert len(pl.read_csv(out)) == 15
