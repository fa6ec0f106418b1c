"""Duplicates within one graph, from data to clusters."""

import logging

import numpy as np
import polars as pl
import pytest

import sameas

PEOPLE = [
    ("1", "Ada Lovelace", "1815-12-10", "London"),
    ("2", "Ada Lovelase", "1815-12-10", "London"),
    ("3", "Ada M. Lovelace", "1815-12-10", "London"),
    ("4", "Grace Hopper", "1906-12-09", "New York"),
    ("5", "Grace  Hopper", "1906-12-09", "New York"),
    ("6", "Emmy Noether", "1882-03-23", "Erlangen"),
    ("7", "Maria Mirzakhani", "1977-05-12", "Tehran"),
    ("8", "Sofia Kovalevskaya", "1850-01-15", "Moscow"),
    ("9", "Hypatia", "0360-01-01", "Alexandria"),
]


def table(rows=PEOPLE):
    """Records as a table."""
    return pl.DataFrame(rows, schema=["id", "name", "born", "city"], orient="row")


def groups(alignment):
    """The clusters as sets of ids."""
    members = alignment.clusters.members
    return {frozenset(ids) for ids in members.group_by("cluster").agg("entity")["entity"].to_list()}


@pytest.fixture(scope="module")
def people():
    """The people, deduplicated."""
    return sameas.dedupe(table(), id="id")


def test_records_that_are_the_same_are_in_one_cluster(people):
    assert groups(people) == {frozenset("123"), frozenset("45")}


def test_tables_of_clusters_agree(people):
    clusters = people.clusters
    assert clusters.table.columns == ["entity", "graph", "cluster", "confidence"]
    assert (
        clusters.members.filter("canonical")["cluster"].to_list()
        == clusters.summary["cluster"].to_list()
    )
    assert clusters.summary["size"].sum() == len(clusters.members)
    assert len(clusters.links) == len(clusters.members) - len(clusters)
    assert set(people.unmatched["entity"]) == set("6789")
    assert (clusters.members["confidence"] > 0.5).all()


def test_the_order_of_rows_does_not_matter(people):
    other = sameas.dedupe(table(PEOPLE[::-1]), id="id")
    assert other.clusters.members.equals(people.clusters.members)
    assert other.clusters.summary.equals(people.clusters.summary)


def test_scores_are_symmetric(people):
    both = people.candidates.select("left", "right", "score")
    back = both.select(left="right", right="left", back="score")
    met = both.join(back, on=["left", "right"])
    assert np.allclose(met["score"], met["back"], atol=1e-4)
    assert not (both["left"] == both["right"]).any()


def test_what_is_given_as_different_or_the_same_is_so():
    apart = sameas.dedupe(table(), id="id", reject=[("4", "5")])
    assert groups(apart) == {frozenset("123")}
    joined = sameas.dedupe(table(), id="id", seeds=[("6", "7")])
    assert groups(joined) == {frozenset("123"), frozenset("45"), frozenset("67")}


def test_contradicting_decisions_are_told_and_none_is_lost(caplog):
    with caplog.at_level(logging.WARNING):
        result = sameas.dedupe(
            table(), id="id", seeds=[("6", "7"), ("7", "8")], reject=[("6", "8")]
        )
    assert "6 and 8 are given as different" in caplog.text
    assert frozenset("678") in groups(result)
    assert result.inputs.seeds.height == 2
    assert result.inputs.reject.height == 1


def test_no_duplicates_are_none_and_said(caplog):
    with caplog.at_level(logging.WARNING):
        result = sameas.dedupe(table(PEOPLE[5:]), id="id")
    assert len(result.clusters) == 0
    assert "no duplicates" in caplog.text
    assert result.clusters.table.columns == ["entity", "graph", "cluster", "confidence"]


def test_rows_that_are_all_the_same_are_one_cluster():
    rows = [(str(number), "Ada Lovelace", "1815-12-10", "London") for number in range(12)]
    assert groups(sameas.dedupe(table(rows), id="id")) == {frozenset(map(str, range(12)))}


def test_a_graph_of_one_entity_has_no_duplicates():
    assert len(sameas.dedupe(table(PEOPLE[:1]), id="id").clusters) == 0


def test_what_is_no_graph_is_refused():
    with pytest.raises(sameas.OptionError, match="got int"):
        sameas.dedupe(3)
    with pytest.raises(sameas.OptionError, match="got one twice"):
        sameas.dedupe(table(), id="id", seeds=[("6", "6")])


def test_a_run_folder_keeps_clusters(people, tmp_path):
    sameas.write(people, tmp_path / "run")
    again = sameas.read_run(tmp_path / "run")
    assert again.clusters.members.equals(people.clusters.members)
    assert again.clusters.summary.equals(people.clusters.summary)
    assert again.clusters.links.equals(people.clusters.links)
    assert again.pair.is_one_graph


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".jsonl"])
def test_tables_hold_all_members(people, tmp_path, suffix):
    path = tmp_path / f"clusters{suffix}"
    sameas.write(people, path)
    read = {
        ".csv": lambda: pl.read_csv(path, infer_schema=False),
        ".tsv": lambda: pl.read_csv(path, separator="\t", infer_schema=False),
        ".parquet": lambda: pl.read_parquet(path),
        ".jsonl": lambda: pl.read_ndjson(path),
    }[suffix]()
    assert read["entity"].to_list() == people.clusters.members["entity"].to_list()
    assert read.columns == ["entity", "graph", "cluster", "confidence"]


@pytest.mark.parametrize("suffix", [".nt", ".ttl", ".sssom.tsv", ".rdf"])
def test_links_are_with_the_canonical_member(people, tmp_path, suffix):
    path = tmp_path / f"same{suffix}"
    sameas.write(people, path)
    links = sameas.read_links(path)
    expected = people.clusters.canonical_links
    assert set(links.select("left", "right").rows()) == set(expected.select("left", "right").rows())


def test_one_cluster_of_everything_is_said(caplog):
    table = pl.DataFrame({"id": ["a", "b", "c", "d"], "name": ["Same"] * 4})
    result = sameas.dedupe(table, id="id")
    assert len(result.clusters.members) == 4
    (said,) = [each.getMessage() for each in caplog.records if "one cluster" in each.getMessage()]
    assert said.startswith("all 4 entities are in one cluster")


def test_names_that_are_all_equal_are_said(caplog):
    days = [f"{1800 + 7 * n}-0{1 + n % 9}-1{n % 9}" for n in range(30)]
    rows = [(str(n), "Same", day, f"Town {n}") for n, day in enumerate(days)]
    result = sameas.dedupe(table(rows), id="id", name="name")
    assert len(result.clusters) == 0
    assert caplog.messages == [result.diagnostics.no_links]
    assert 'all 30 entities have the name "Same", and nothing else' in caplog.text
    caplog.clear()
    some = sameas.dedupe(table(rows), id="id", name="name", seeds=[("1", "2")])
    assert groups(some) == {frozenset("12")}
    (said,) = caplog.messages
    assert said.startswith('all 30 entities have the name "Same": only values and neighbours')


def products():
    """A family of sixty products, and every third of them as another shop has it."""
    colours, rows = ("black", "white", "silver"), []
    for number in range(60):
        code, colour = f"kx{number:02d}{number * 37 % 89:02d}", colours[number % 3]
        rows.append(
            (f"a{number}", f"Panton cordless telephone with answering system {colour} {code}")
        )
        if number % 3 == 0:
            rows.append(
                (f"b{number}", f"Panton {code[:2]}-{code[2:]} expandable cordless phone, {colour}")
            )
    return pl.DataFrame(rows, schema=["id", "name"], orient="row")


def test_products_of_a_family_are_told_apart_by_their_codes():
    found = groups(sameas.dedupe(products(), id="id"))
    true = {frozenset((f"a{number}", f"b{number}")) for number in range(0, 60, 3)}
    assert len(found & true) >= 15
    assert len(found - true) <= 2
    assert all(len(members) == 2 for members in found)


def test_languages_and_scripts_of_one_name_are_no_duplicates():
    """The demo's graphs have none: what is said of the one is never said of the other."""
    for graph in sameas.read_pair(sameas.DEMO).graphs:
        assert len(sameas.dedupe(graph.source).clusters) <= 3
