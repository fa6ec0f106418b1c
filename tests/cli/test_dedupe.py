"""``sameas dedupe`` and what other commands do with its runs, as a user runs them."""

import json

import networkx as nx
import polars as pl
import pytest
from click.testing import CliRunner

import sameas
from sameas.cli.main import main

HEADER = "id,name,born,city"
ROWS = [
    "1,Ada Lovelace,1815-12-10,London",
    "2,Ada Lovelase,1815-12-10,London",
    "3,Ada M. Lovelace,1815-12-10,Marylebone",
    "4,Grace Hopper,1906-12-09,New York",
    "5,Grace  Hopper,1906-12-09,New York",
    "6,Emmy Noether,1882-03-23,Erlangen",
    "7,Maria Mirzakhani,1977-05-12,Tehran",
    "8,Sofia Kovalevskaya,1850-01-15,Moscow",
    "9,Hypatia,0360-01-01,Alexandria",
]
GOLD = "id,cluster\n" + "".join(f"{n},{c}\n" for n, c in zip("123456789", "aaabbcdef", strict=True))


def run(*arguments):
    """The result of a command that must succeed."""
    result = CliRunner().invoke(main, [str(one) for one in arguments])
    assert result.exit_code == 0, result.output
    return result


def refused(*arguments):
    """The message of a command that must be refused."""
    result = CliRunner().invoke(main, [str(one) for one in arguments])
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    return result.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table of people, and a run folder of it."""
    path = tmp_path_factory.mktemp("dedupe")
    (path / "people.csv").write_text("\n".join([HEADER, *ROWS]) + "\n")
    (path / "gold.csv").write_text(GOLD)
    run("dedupe", path / "people.csv", "-o", path / "run")
    return path


def test_json_has_counts(folder, tmp_path):
    result = run("dedupe", folder / "people.csv", "-o", tmp_path / "out.csv", "--json")
    values = json.loads(result.stdout)
    assert values["clusters"] == 2
    assert values["clustered_entities"] == 5
    assert values["entities"] == 9
    assert values["duplicate_pairs"] == 4
    table = pl.read_csv(tmp_path / "out.csv")
    assert table.columns == ["entity", "graph", "cluster", "confidence"]
    assert set(table["graph"]) == {"people.csv"}


def test_the_summary_names_surest_clusters(folder, tmp_path):
    text = run("dedupe", folder / "people.csv", "-o", tmp_path / "out.tsv").output
    assert "2, with 5 entities, 3 in the largest" in text
    assert "the surest clusters" in text
    assert "-o FOLDER keeps all" in text  # what to do next
    assert "Grace" in text


def test_clusters_are_evaluated(folder, tmp_path):
    for out in (folder / "run", tmp_path / "clusters.parquet"):
        if out.suffix:
            run("convert", folder / "run", out)
        scores = json.loads(run("evaluate", out, folder / "gold.csv", "--json").stdout)
        assert scores["pairwise_f1"] == scores["cluster_f1"] == scores["bcubed_f1"] == 1.0


def test_a_cluster_is_explained(folder):
    text = run("explain", folder / "run", "2").output
    assert "Cluster c" in text
    assert "canonical" in text
    assert "The weakest of these links" in text
    parts = json.loads(run("explain", folder / "run", "2", "--json").stdout)
    assert {one["entity"] for one in parts["cluster"]["members"]} == {"1", "2", "3"}


def test_a_pair_of_one_graph_is_explained_both_ways_round(folder):
    alignment = sameas.read_run(folder / "run")
    for row in alignment.links.iter_rows(named=True):
        ends = row["left"], row["right"]
        forth, back = (alignment.explain(*way) for way in (ends, ends[::-1]))
        assert forth.partner is not None
        assert back.partner is not None
        assert not {"entity-not-among", "other-not-among"} & {*forth.notes, *back.notes}
        assert forth.other.score == pytest.approx(back.other.score, abs=1e-4)
        text = run("explain", folder / "run", *ends[::-1]).output
        assert text.startswith("Both are in cluster c")


def test_two_entities_of_no_cluster_were_among_those_compared(folder):
    alone = sameas.read_run(folder / "run").unmatched["entity"].to_list()[:2]
    text = run("explain", folder / "run", *alone).output
    assert "not among" not in text
    assert "Both are in" not in text


def test_the_parts_of_a_score_add_up(folder):
    alignment = sameas.read_run(folder / "run")
    for row in alignment.links.iter_rows(named=True):
        parts = alignment.explain(row["left"], row["right"]).asdict()
        compared = [one for one in parts.values() if isinstance(one, dict) and "parts" in one]
        scores = [one["score"] for one in compared if one["right"]["uri"] == row["right"]]
        assert scores == pytest.approx([row["score"]] * len(scores), abs=0.01)
        assert scores


def test_an_audit_says_what_the_run_expects(folder):
    text = run("audit", folder / "run").output
    assert "cannot be told" in text
    assert "no decoys" in " ".join(text.split())


def test_options_about_links_are_not_those_of_clusters(folder, tmp_path):
    answer = CliRunner().invoke(
        main, ["dedupe", str(folder / "people.csv"), "--max-error", "0.1", "-o", "out.csv"]
    )
    assert answer.exit_code == 2
    assert "No such option '--max-error'" in answer.output


def test_records_are_merged_to_one_row_a_cluster(folder, tmp_path):
    counted = json.loads(
        run("merge", folder / "run", "-o", tmp_path / "m.csv", "--dry-run", "--json").stdout
    )
    assert counted["rows"] == 6
    assert not (tmp_path / "m.csv").exists()
    run("merge", folder / "run", "-o", tmp_path / "m.csv")
    table = pl.read_csv(tmp_path / "m.csv", infer_schema=False)
    assert len(table) == 6
    assert set("".join(table["merged_ids"].drop_nulls())) & set("12345")
    conflicts = pl.read_csv(tmp_path / "m.csv.conflicts.csv", infer_schema=False)
    assert conflicts.columns == ["entity", "property", "canonical", "others"]
    assert "city" in set(conflicts["property"])


def test_rdf_says_what_was_merged(folder, tmp_path):
    run("merge", folder / "run", "-o", tmp_path / "m.nt")
    text = (tmp_path / "m.nt").read_text()
    assert text.count("owl#sameAs") == 3


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    """A property graph with a duplicate, and a run folder of it."""
    path = tmp_path_factory.mktemp("graph")
    names = ["Copper Pipe", "Steel Beam", "Garden Fence", "Roof Tile", "Window Frame", "Oak Door"]
    made = nx.Graph()
    for number, name in enumerate([*names, "Tower Crane", "The Tower Crane"]):
        made.add_node(f"n{number}", name=name)
    made.add_edges_from([("n6", "n0"), ("n7", "n0"), ("n7", "n1"), ("n6", "n7"), ("n2", "n3")])
    nx.write_graphml(made, path / "graph.graphml")
    run("dedupe", path / "graph.graphml", "-o", path / "run")
    return path


def test_a_property_graph_is_merged_to_one_node_a_cluster(graph, tmp_path):
    run("merge", graph / "run", "-o", tmp_path / "m.graphml")
    merged = nx.read_graphml(tmp_path / "m.graphml")
    assert merged.number_of_nodes() == 7
    assert sorted(dict(merged.degree()).values()) == [0, 0, 1, 1, 1, 1, 2]
    assert sum("merged_ids" in data for _, data in merged.nodes(data=True)) == 1
    run("merge", graph / "run", "-o", tmp_path / "m.json")
    with (tmp_path / "m.json").open() as file:
        assert len(json.load(file)["nodes"]) == 7


def test_a_script_of_cypher_merges_in_the_database(graph, tmp_path):
    run("merge", graph / "run", "-o", tmp_path / "m.cypher")
    text = (tmp_path / "m.cypher").read_text()
    assert "apoc.refactor.mergeNodes" in text
    assert '"n6"' in text
    assert '"n7"' in text


def test_bad_input_is_refused_in_a_sentence(folder, tmp_path):
    assert "no such file" in refused("dedupe", tmp_path / "no.csv", "-o", tmp_path / "o.csv")
    people = folder / "people.csv"
    assert "suffix" in refused("dedupe", people, "-o", tmp_path / "o.doc")
    links = tmp_path / "links.csv"
    links.write_text("left,right\n1,2\n")
    assert "cluster" in refused("evaluate", folder / "run", links)
    assert "holds links" in refused("evaluate", links, folder / "gold.csv")
    wrong = tmp_path / "seeds.csv"
    wrong.write_text("left,right\n1,99\n")
    assert "99" in refused("dedupe", people, "-o", tmp_path / "o.csv", "--seeds", wrong)
    assert not (tmp_path / "o.csv").exists()


def test_contradicting_decisions_are_told(folder, tmp_path):
    (tmp_path / "same.csv").write_text("left,right\n6,7\n7,8\n")
    (tmp_path / "differ.csv").write_text("left,right\n6,8\n")
    given = ("--seeds", tmp_path / "same.csv", "--reject", tmp_path / "differ.csv")
    result = run("dedupe", folder / "people.csv", "-o", tmp_path / "run", *given)
    assert "6 and 8 are given as different" in result.stderr
    kept = sameas.read_run(tmp_path / "run")
    assert (kept.inputs.seeds.height, kept.inputs.reject.height) == (2, 1)
