"""The review of clusters: what it shows, and what becomes of decisions about members."""

from __future__ import annotations

import re
import shutil
from itertools import combinations

import polars as pl
import pytest
from click.testing import CliRunner

import sameas
from sameas.cli.main import main
from sameas.result.cluster_decisions import contradictions, decided_groups
from sameas.result.cluster_drawing import draw_cluster
from sameas.result.curated import curated
from sameas.result.decisions import decided_links, read_decisions

pytest.importorskip("starlette")
testclient = pytest.importorskip("starlette.testclient", reason="needs httpx")

from sameas.web.review.access import Access  # noqa: E402
from sameas.web.review.again import aligned_again, check, summary  # noqa: E402
from sameas.web.review.app import make_app  # noqa: E402
from sameas.web.review.folder import Review  # noqa: E402
from sameas.web.review.report import write_report  # noqa: E402

TOKEN = "a token of the tests"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
PEOPLE = """id,name,born,city
1,Ada Lovelace,1815-12-10,London
2,Ada Lovelase,1815-12-10,London
3,Ada M. Lovelace,1815-12-10,London
4,Grace Hopper,1906-12-09,New York
5,Grace  Hopper,1906-12-09,New York
6,Emmy Noether,1882-03-23,Erlangen
7,Maria Mirzakhani,1977-05-12,Tehran
8,Sofia Kovalevskaya,1850-01-15,Moscow
9,Hypatia,0360-01-01,Alexandria
"""


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """The table, and the run folder of its duplicates."""
    folder = tmp_path_factory.mktemp("people")
    (folder / "people.csv").write_text(PEOPLE)
    sameas.write(sameas.dedupe(folder / "people.csv"), folder / "run")
    return folder


@pytest.fixture
def run(people, tmp_path):
    shutil.copy(people / "people.csv", tmp_path)
    return shutil.copytree(people / "run", tmp_path / "run")


@pytest.fixture
def client(run):
    return browser(run)


def browser(run, reviewer="Ada"):
    app = make_app(Review(run, reviewer), Access(TOKEN))
    options = {"base_url": "http://localhost:8765", "headers": HEADERS, "follow_redirects": False}
    return testclient.TestClient(app, **options)


def cluster_of(client, entity):
    """The page of the cluster that an entity is in, as values."""
    rows = client.get(f"/clusters.json?status=all&text={entity}").json()["clusters"]
    names = [
        row["cluster"] for row in rows if entity in [member["uri"] for member in row["members"]]
    ]
    return client.get(f"/cluster.json?cluster={names[0]}").json()


def act(client, cluster, action, *members, request=None, **more):
    count = len(client.get("/decisions.json").json()["decisions"])
    sent = {"request": request or f"{action} {count}", "cluster": cluster, "action": action}
    return client.post("/decide-cluster", json={**sent, "members": members, **more})


def states(run):
    rows = read_decisions(run).select("left", "right", "state").iter_rows()
    return {(left, right): state for left, right, state in rows}


def groups(alignment):
    members = alignment.clusters.members
    return {frozenset(ids) for ids in members.group_by("cluster").agg("entity")["entity"].to_list()}


def test_the_list_and_a_cluster_show_members_side_by_side_and_their_links(client, run):
    rows = client.get("/clusters.json").json()["clusters"]
    assert sorted(row["size"] for row in rows) == [2, 3]
    confidences = [row["confidence"] for row in rows]
    assert confidences == sorted(confidences)  # the least certain first
    shown = cluster_of(client, "2")
    assert {member["uri"] for member in shown["members"]} == set("123")
    born = next(row for row in shown["properties"] if row["attribute"] == "born")
    assert born["values"] == ["1815-12-10"] * 3
    assert born["equal"]
    drawn = shown["drawing"]
    assert sorted(node["number"] for node in drawn["members"]) == [1, 2, 3]
    assert sum(line["kind"] in ("holds", "weakest") for line in drawn["links"]) == 2
    text = client.get(f"/cluster?cluster={shown['cluster']}").text
    assert text.count('class="node') == 3
    assert "Take out" in text
    found = client.get("/clusters.json?text=hopper").json()["clusters"]
    assert [row["size"] for row in found] == [2]
    assert client.get("/").status_code == 200
    assert "2</b> clusters" in client.get("/").text


def test_a_cluster_is_accepted_by_the_fewest_pairs_and_undone(client, run):
    shown = cluster_of(client, "1")
    answer = act(client, shown["cluster"], "same", request="one", comment="same birthday").json()
    assert answer["clusters"] == {shown["cluster"]: "accept"}
    assert list(states(run).values()) == ["accept"] * 2
    assert "1 of 2 clusters decided" in answer["progress"]["text"]
    assert client.get("/clusters.json").json()["count"] == 1  # the other one is left
    again = cluster_of(client, "1")
    assert again["state"] == "accept"
    assert again["history"][0]["comment"] == "same birthday"
    client.post("/undo", json={"request": "one"})
    assert cluster_of(client, "1")["state"] == "open"


def test_one_taken_out_is_apart_from_all_others_and_can_be_joined_again(client, run):
    shown = cluster_of(client, "1")
    act(client, shown["cluster"], "split", "3")
    assert states(run) == {("1", "3"): "reject", ("2", "3"): "reject"}
    taken = cluster_of(client, "1")
    assert (taken["state"], taken["groups"]) == ("changed", 2)
    assert groups(curated(sameas.read_run(run))) == {frozenset("12"), frozenset("45")}
    act(client, shown["cluster"], "join", "3")
    joined = cluster_of(client, "1")
    assert joined["groups"] == 1
    assert not joined["problems"]  # what was rejected is accepted now
    assert groups(curated(sameas.read_run(run))) == {frozenset("123"), frozenset("45")}


def test_all_different_and_unsure(client, run):
    shown = cluster_of(client, "1")
    act(client, shown["cluster"], "different")
    assert set(states(run)) == set(combinations("123", 2))
    assert cluster_of(client, "1")["state"] == "reject"
    other = cluster_of(client, "4")
    act(client, other["cluster"], "unsure")
    assert cluster_of(client, "4")["state"] == "unsure"


def test_an_entity_and_another_cluster_are_joined(client, run):
    shown = cluster_of(client, "1")
    act(client, shown["cluster"], "join", "9")
    act(client, shown["cluster"], "join", "5")
    joined = cluster_of(client, "1")
    assert {member["uri"] for member in joined["members"]} == set("123459")
    assert [m["uri"] for m in joined["members"] if m["joined"]] == ["4", "5", "9"]
    assert cluster_of(client, "4")["state"] == "changed"
    assert groups(curated(sameas.read_run(run))) == {frozenset("123459")}
    merged = curated(sameas.read_run(run)).clusters
    assert merged.summary["size"].to_list() == [6]
    assert merged.members["canonical"].sum() == 1


def test_contradictions_are_said_and_nothing_is_lost(client, run):
    shown = cluster_of(client, "1")
    act(client, shown["cluster"], "same")
    (missing,) = {*combinations("123", 2)} - {*states(run)}
    claim = {"left": missing[1], "right": missing[0], "verdict": "reject"}  # in either order
    answer = client.post("/decide", json={"request": "r", "claims": [claim]}).json()
    assert len(answer["problems"]) == 1
    assert "contradict" in answer["problems"][0]
    assert states(run)[missing] == "reject"
    assert sorted(states(run).values()) == ["accept", "accept", "reject"]
    conflict = cluster_of(client, "1")
    assert conflict["state"] == "conflict"
    assert "Ada Lovelase" in conflict["problems"][0]
    assert "contradict" in client.get("/decisions").text
    assert client.get("/clusters.json?status=conflict").json()["count"] == 1


def test_two_reviewers_who_disagree_are_in_conflict(client, run):
    shown = cluster_of(client, "4")
    act(client, shown["cluster"], "same", request="first")
    other = browser(run, "Grace")
    act(other, shown["cluster"], "different", request="second")
    assert cluster_of(client, "4")["state"] == "conflict"
    assert states(run) == {("4", "5"): "conflict"}


@pytest.mark.parametrize(
    ("action", "members", "words"),
    [
        ("split", [], "choose at least one member"),
        ("split", ["1", "2", "3"], "choose at least one member"),
        ("split", ["9"], "must be those of the cluster"),
        ("join", ["1"], "not in the cluster yet"),
        ("join", ["nobody"], "must be ids of entities"),
        ("burn", [], "`action` must be one of"),
    ],
)
def test_what_cannot_be_decided_is_refused_in_a_sentence(client, action, members, words):
    shown = cluster_of(client, "1")
    answer = act(client, shown["cluster"], action, *members)
    assert answer.status_code == 400
    assert words in answer.json()["error"]


def test_what_is_not_there_is_not_found(client, align_small, tmp_path):
    assert client.get("/cluster.json?cluster=c0").status_code == 404
    sameas.write(align_small(), tmp_path / "links")
    assert browser(tmp_path / "links").get("/clusters").status_code == 404


def test_forms_decide_without_scripts(client, run):
    name = cluster_of(client, "1")["cluster"]
    sent = {"cluster": name, "back": f"/cluster?cluster={name}"}
    answer = client.post("/decide-cluster", data={**sent, "request": "1", "take": "2"})
    assert answer.headers["location"] == sent["back"]
    assert states(run) == {("1", "2"): "reject", ("2", "3"): "reject"}
    data = {**sent, "request": "2", "action": "split", "members": ["1", "2"]}
    client.post("/decide-cluster", data=data)
    assert states(run)["1", "3"] == "reject"
    page = client.get(sent["back"]).text
    assert re.search(r'<form[^>]* action="/decide-cluster"', page)
    assert client.get("/unmatched").status_code == client.get("/decisions").status_code == 200


def test_the_next_dedupe_takes_what_was_decided(client, run, tmp_path):
    act(client, cluster_of(client, "1")["cluster"], "split", "3")
    act(client, cluster_of(client, "4")["cluster"], "join", "6")
    assert decided_links(run, "accept").rows() == [("4", "5"), ("4", "6")]
    source = str(tmp_path / "people.csv")
    given = ["--seeds", str(run), "--reject", str(run), "-o", str(tmp_path / "new")]
    assert CliRunner().invoke(main, ["dedupe", source, *given]).exit_code == 0
    assert groups(sameas.read_run(tmp_path / "new")) == {frozenset("12"), frozenset("456")}
    table = tmp_path / "clusters.csv"
    assert CliRunner().invoke(main, ["convert", str(run), str(table)]).exit_code == 0
    members = pl.read_csv(table).group_by("cluster").agg("entity")["entity"].to_list()
    assert {frozenset(ids) for ids in members} == {frozenset([1, 2]), frozenset([4, 5, 6])}


def test_a_run_is_deduplicated_again_with_what_was_decided(client, run, tmp_path):
    act(client, cluster_of(client, "1")["cluster"], "split", "3")
    check(sameas.read_run(run))
    result = aligned_again(run, tmp_path / "draft")
    assert groups(sameas.read_run(tmp_path / "draft")) == {frozenset("12"), frozenset("45")}
    assert result == {"decided": 2, "clusters": 2, "changed": 0}
    assert "2 clusters" in summary(result)


def test_the_report_holds_clusters_and_their_drawings(run, tmp_path):
    assert write_report(run, tmp_path / "report.html", count=10) == 2
    text = (tmp_path / "report.html").read_text()
    assert text.count('class="cluster-drawing"') == 2
    assert "Ada M. Lovelace" in text
    assert "<script" not in text
    assert not (run / "queue.sqlite").exists()


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """Three tables with the same ids for different people, and the run of their clusters."""
    folder = tmp_path_factory.mktemp("three")
    rows = [line.split(",") for line in PEOPLE.splitlines()[1:]]
    for name, shift in (("a", 0), ("b", 3), ("c", 5)):
        lines = [[str((int(row[0]) + shift) % 9), *row[1:]] for row in rows[2:]]
        text = "\n".join(",".join(line) for line in lines)
        (folder / f"{name}.csv").write_text(f"id,name,born,city\n{text}\n")
    inputs = [str(folder / f"{name}.csv") for name in "abc"]
    out = CliRunner().invoke(main, ["align", *inputs, "-o", str(folder / "run")])
    assert out.exit_code == 0, out.output
    return inputs, folder / "run"


def test_clusters_of_several_graphs_with_the_same_ids_are_decided_about(three, tmp_path):
    inputs, folder = three
    run = shutil.copytree(folder, tmp_path / "run")
    client = browser(run)
    found = client.get("/clusters.json?text=noether&status=all").json()["clusters"]
    shown = client.get(f"/cluster.json?cluster={found[0]['cluster']}").json()
    assert [member["graph"] for member in shown["members"]] == ["a.csv", "b.csv", "c.csv"]
    last = shown["members"][-1]["uri"]
    assert last.startswith("c.csv/")
    act(client, shown["cluster"], "split", last)
    ends = {"left": shown["members"][0]["uri"], "right": shown["members"][1]["uri"]}
    pair = client.get("/pair.json", params=ends).json()
    assert pair["explained"]
    before = groups_with_graphs(sameas.read_run(run))
    given = ["--seeds", str(run), "--reject", str(run), "-o", str(tmp_path / "new")]
    act(client, shown["cluster"], "same")
    assert CliRunner().invoke(main, ["align", *inputs, *given]).exit_code == 0
    after = groups_with_graphs(sameas.read_run(tmp_path / "new"))
    noether = next(group for group in before if len(group) == 3 and ("c.csv", last[6:]) in group)
    assert noether not in after
    assert noether - {("c.csv", last[6:])} in after
    assert after == groups_with_graphs(curated(sameas.read_run(run)))
    with pytest.raises(sameas.SameasError, match="in a terminal"):
        check(sameas.read_run(run))


def groups_with_graphs(alignment):
    rows = alignment.clusters.members.select("cluster", "graph", "entity").iter_rows()
    found: dict[str, set] = {}
    for cluster, graph, entity in rows:
        found.setdefault(cluster, set()).add((graph, entity))
    return {frozenset(group) for group in found.values()}


def test_groups_follow_decisions():
    cluster, links = [["a", "b", "c", "d"]], [("a", "b"), ("b", "c"), ("c", "d")]
    assert decided_groups(cluster, links, [], []) == cluster
    # nothing is said of a and c, b and d: the strongest links decide
    assert decided_groups(cluster, links, [], [("a", "d")]) == [["a", "b", "c"], ["d"]]
    parted = [("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")]
    assert decided_groups(cluster, links, [], parted) == [["a", "b"], ["c", "d"]]
    assert decided_groups(cluster, links, [("d", "e")], parted) == [["a", "b"], ["c", "d", "e"]]
    # accepted pairs are together whatever is rejected
    both = decided_groups([["a", "b", "c"]], [], [("a", "b"), ("b", "c")], [("a", "c")])
    assert both == [["a", "b", "c"]]
    assert contradictions([("a", "b"), ("b", "c")], [("c", "a")])[0].different == ("c", "a")
    assert contradictions([("a", "b")], [("c", "a")]) == []


def test_a_drawing_puts_parts_side_by_side_and_decisions_on_top():
    labels = {uri: uri.upper() for uri in "abcd"}
    scores = {("a", "b"): 3.0, ("a", "c"): 1.0, ("b", "c"): -1.0, ("c", "d"): 2.0}
    drawn = draw_cluster(
        labels,
        scores,
        holding=[("a", "b"), ("a", "c"), ("c", "d")],
        split={"c", "d"},
        decided={("b", "d"): "reject", ("a", "d"): "open"},
    )
    kinds = {(link.one, link.other): link.kind for link in drawn.links}
    assert kinds == {
        (1, 2): "holds",
        (1, 3): "weakest",
        (2, 3): "against",
        (3, 4): "holds",
        (2, 4): "reject",
    }
    assert [node.number for node in drawn.members] == [1, 2, 3, 4]
    assert drawn.links[-1].kind == "reject"
    assert all(abs(node.x**2 + node.y**2 - 1) < 1e-3 for node in drawn.members)
