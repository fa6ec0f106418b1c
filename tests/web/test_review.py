"""The page of sameas review: what it shows, whom it lets in, and what becomes of decisions."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from threading import Event
from types import SimpleNamespace

import polars as pl
import pytest
from click.testing import CliRunner

import sameas
from folders import contents
from pairs import matched_pair
from sameas.cli.align import InputFiles, changed_links
from sameas.cli.main import main
from sameas.graph.iri import TYPE
from sameas.graph.link_set import SAME_AS
from sameas.result.alignment import SCHEMAS
from sameas.result.decisions import Claim, decide, decisions_of
from sameas.result.explanation.sentences import waterfall

pytest.importorskip("starlette")
testclient = pytest.importorskip("starlette.testclient", reason="needs httpx")

from sameas.web.review.access import Access, Limit  # noqa: E402
from sameas.web.review.again import aligned_again, check  # noqa: E402
from sameas.web.review.app import MOST_BYTES, PAGES, make_app  # noqa: E402
from sameas.web.review.differences import marked, property_table  # noqa: E402
from sameas.web.review.facts import facts_of, types_of  # noqa: E402
from sameas.web.review.folder import Review  # noqa: E402
from sameas.web.review.index import (  # noqa: E402
    FILE,
    disagreement,
    edges_of,
    linked_neighbours,
    teaching,
    write_index,
)
from sameas.web.review.pages import histogram  # noqa: E402
from sameas.web.review.queue import SORTS, filter_of, open_queue  # noqa: E402

TOKEN = "a token of the tests"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
HOST = "http://localhost:8765"


@pytest.fixture(scope="module")
def written(align_small, tmp_path_factory):
    """A run folder that no test changes, with the index of its queue."""
    folder = tmp_path_factory.mktemp("review") / "run"
    sameas.write(align_small(), folder)
    Review(folder).load()  # makes the index
    return folder


@pytest.fixture
def run(written, tmp_path):
    return shutil.copytree(written, tmp_path / "run")


@pytest.fixture
def client(run):
    return browser(run)


def browser(run, reviewer="Ada", headers=BEARER, **checks):
    app = make_app(Review(run, reviewer), Access(TOKEN, **checks))
    return testclient.TestClient(app, base_url=HOST, headers=headers, follow_redirects=False)


def links_of(run, **chosen):
    with open_queue(run, run / FILE) as queue:
        return queue.page_of_links(filter_of({"status": "all", **chosen}))


def say(client, *claims, request, **more):
    claims = [dict(zip(("left", "right", "verdict"), claim, strict=True)) for claim in claims]
    return client.post("/decide", json={"request": request, "claims": claims, **more})


# --- pages ---


def test_every_page_is_there_as_html_and_as_json(client, run):
    link = links_of(run)[0]
    given = {
        "/pair": {"left": link["left"], "right": link["right"]},
        "/search": {"side": "left", "text": "a"},
    }
    for page in PAGES:
        answer = client.get(f"{page.path}.json", params=given.get(page.path))
        if page.path in ("/clusters", "/cluster"):  # of runs with clusters
            assert answer.status_code in (400, 404)
            continue
        assert answer.status_code == 200, page.path
        assert isinstance(answer.json(), dict)
        if page.html:
            shown = client.get(page.path, params=given.get(page.path))
            assert shown.status_code == 200
            assert "<main" in shown.text
    described = client.get("/openapi.json").json()
    assert {f"{page.path}.json" for page in PAGES} < set(described["paths"])


def test_the_overview_counts_what_the_run_holds(client, align_small):
    found = client.get("/overview.json").json()
    alignment = align_small()
    assert found["links"] == len(alignment.links) == sum(one["count"] for one in found["histogram"])
    assert [one["unmatched"] for one in found["sides"]] == [
        alignment.count_unmatched("left"),
        alignment.count_unmatched("right"),
    ]
    assert found["audit"]["precision"] == pytest.approx(alignment.audit.precision)


def test_an_audit_is_shown_if_the_run_has_one(client, align_small, run, monkeypatch):
    audit = align_small().audit
    text = client.get("/").text
    assert f"{audit.precision_low:.3f} to {audit.precision_high:.3f}" in text
    monkeypatch.setattr(sameas.Alignment, "audit", None, raising=False)
    assert "<h2>Audit</h2>" not in browser(run).get("/").text


@pytest.mark.parametrize("sort", SORTS)
def test_pages_of_the_queue_hold_every_link_once_in_order(run, sort, align_small):
    column = {"certainty": "id", "name": None}.get(sort, sort)
    with open_queue(run, run / FILE) as queue:
        chosen, seen, after = filter_of({"status": "all", "sort": sort}), [], None
        while page := queue.page_of_links(chosen, after=after, limit=60):
            *earlier, last = page
            assert earlier == queue.page_of_links(chosen, before=last["id"], limit=len(earlier))
            seen += page
            after = last["id"]
    assert {(one["left"], one["right"]) for one in seen} == {
        *align_small().links.select("left", "right").iter_rows()
    }
    assert len(seen) == len(align_small().links)
    values = [one[column] if column else one["left_name"].lower() for one in seen]
    assert values == sorted(values, reverse=SORTS[sort][1])


def test_filters_keep_the_links_that_they_describe(run, align_small):
    pair, every = align_small().pair, links_of(run)
    some = next(one for one in every if one["left_name"].isascii() and one["left_name"].isalpha())
    word = some["left_name"]
    found = links_of(run, text=word[:4].upper())
    assert some in found
    assert all(
        word[:4].lower() in f"{one['left_name']} {one['right_name']}".lower() for one in found
    )
    assert links_of(run, text=some["right"]) == [some]
    assert links_of(run, text="'\" OR NEAR(*") == []
    with open_queue(run, run / FILE) as queue:
        (facet, *_) = queue.facets("relation")
        assert queue.count_links(filter_of({"relation": facet["uri"]})) == facet["links"]
    ends = set()
    for graph in (pair.left, pair.right):
        rows = graph.triples[graph.relations.to_numpy()[graph.triples[:, 1]] == facet["uri"]]
        ends |= {*graph.entities.gather(rows[:, [0, 2]].ravel().tolist())}
    expected = [one for one in align_small().links.iter_rows() if ends & {one[0], one[1]}]
    assert facet["links"] == len(expected)
    between = links_of(run, low=every[3]["confidence"], high=every[7]["confidence"])
    assert [one["id"] for one in between] == [4, 5, 6, 7, 8]


def test_disagreement_is_the_distance_of_names_from_neighbours():
    left = sameas.Graph.from_triples([("one", "r", "two"), ("six", "r", "ten")])
    right = sameas.Graph.from_triples([("one", "r", "two"), ("six", "r", "one")])
    links = pl.DataFrame({"id": [1, 2, 3], "left": [0, 1, 2], "right": [4, 5, 6]})
    names = left.names.head(3), right.names
    met = linked_neighbours(links, edges_of(matched_pair(left=left, right=right)))
    found = disagreement(links, met, names)
    # Of the linked neighbours, "one" shares one of one and two, "two" all, "six" none.
    assert found.to_list() == pytest.approx([1 - 2 / 3, 0.0, 1.0])


def test_a_decision_teaches_by_its_own_doubt_and_that_of_the_links_that_lean_on_it():
    links = pl.DataFrame({"id": [1, 2, 3], "confidence": [0.5, 0.5, 1.0]})
    shared = pl.DataFrame({"link": [1, 2, 2, 3], "other": [2, 1, 3, 2]})
    # The first leans on the second alone, which leans on two; the third is certain.
    assert teaching(links, shared).to_list() == pytest.approx([1.5, 2.0, 0.0], abs=1e-3)


def test_rows_say_what_tells_namesakes_apart(tmp_path):
    triples = [("a", TYPE, "Language"), ("b", TYPE, "Currency"), ("n", "money", "b")]
    graph = sameas.Graph.from_triples(
        [*triples, ("n", "speaks", "a")], names={"a": "Norse", "b": "Norse", "n": "Norway"}
    )
    matched = matched_pair(left=graph, right=graph).left
    types, facts = (
        dict(zip(matched.entities, f(matched), strict=True)) for f in (types_of, facts_of)
    )
    assert (types["a"], types["b"]) == ("Language", "Currency")
    assert (facts["a"], facts["b"]) == ("speaks of: Norway", "money of: Norway")
    assert facts["n"] in ("speaks: Norse", "money: Norse")
    uris = pl.Series([f"http://x.org/{kind}/{n}" for kind in ("city", "person") for n in range(3)])
    plain = sameas.Graph.from_triples([(uris[0], "r", uri) for uri in uris[1:]])
    matched = matched_pair(left=plain, right=plain).left
    assert types_of(matched).to_list() == [uri.split("/")[3] for uri in matched.entities]


def test_letters_that_differ_are_marked_and_equal_values_share_a_row():
    assert str(marked("<Kabyle>", "<kabiye>")) == "&lt;Kaby<mark>l</mark>e&gt;"
    assert str(marked("Paris", "Mumbai")) == "Paris"
    left = [
        {"attribute": "http://a/population", "value": "7.0"},
        {"attribute": "http://a/founded", "value": "1800"},
        {"attribute": "http://a/motto", "value": "Ave"},
    ]
    right = [
        {"attribute": "http://b/founded", "value": "1801"},
        {"attribute": "http://b/inhabitants", "value": "7"},
    ]
    rows = property_table(left, right)
    assert [row["equal"] for row in rows] == [True, False, False]
    assert [(row["left"] or {}).get("value") for row in rows] == ["7.0", "1800", "Ave"]
    assert [(row["right"] or {}).get("value") for row in rows] == ["7", "1801", None]


def test_progress_is_what_counting_gives(client, run):
    def expected():
        links, states = links_of_all(run), {}
        for row in client.get("/links.json?status=all").json()["links"]:
            states[row["left"], row["right"]] = row["state"]
        kept = [one for one in links if one["state"] != "reject"]
        values = [1.0 if one["state"] == "accept" else one["confidence"] for one in kept]
        return sum(values) / len(values), sum(one["state"] != "open" for one in links)

    rows = links_of(run)
    for number, verdict in enumerate(("accept", "reject", "unsure", "reject")):
        say(client, (rows[number]["left"], rows[number]["right"], verdict), request=verdict + "1")
        found = client.get("/links.json").json()
        precision, decided = expected()
        assert found["progress"]["precision"] == pytest.approx(precision)
        assert found["progress"]["decided"] == decided == number + 1 - (number == 3)
        assert found["count"] == found["progress"]["links"] - decided
    goal, more = found["progress"]["goal"], found["progress"]["more"]
    undecided = [one["confidence"] for one in links_of_all(run) if one["state"] == "open"]
    links, correct = found["progress"]["links"] - 1, precision * (found["progress"]["links"] - 1)
    reached = [
        correct / (links - sum(1 - each for each in undecided[:count])) >= goal
        for count in (more - 1, more)
    ]
    assert reached == [False, True]


def links_of_all(run):
    with open_queue(run, run / FILE) as queue:
        return queue.page_of_links(filter_of({"status": "all"}), limit=10**6)


def test_shares_part_the_queue_and_counts_are_true(client):
    every = client.get("/links.json?status=all").json()["count"]
    counts = [
        client.get(f"/links.json?status=all&share={part}/3").json()["count"] for part in (1, 2, 3)
    ]
    assert sum(counts) == every
    assert max(counts) - min(counts) <= 1
    assert client.get("/links.json?share=4/3").status_code == 400


def test_links_are_filtered_by_the_types_of_either_entity(tmp_path):
    left = sameas.Graph.from_triples([("a", TYPE, "City"), ("b", TYPE, "Person"), ("a", "r", "b")])
    right = sameas.Graph.from_triples([("x", "r", "y"), ("y", TYPE, "City")])
    links = pl.DataFrame({"left": ["a", "b"], "right": ["x", "y"], "score": [1.0, 2.0]})
    alignment = SimpleNamespace(
        pair=matched_pair(left=left, right=right),
        links=links.with_columns(confidence=pl.lit(0.5)),
        unmatched=pl.DataFrame(schema=SCHEMAS["unmatched"]),
        relations=None,
        clusters=None,
    )
    write_index(alignment, tmp_path / FILE)
    with open_queue(tmp_path, tmp_path / FILE) as queue:
        found = {one["uri"]: one["links"] for one in queue.facets("type")}
        assert found == {"City": 2, "Person": 1}
        (one,) = queue.page_of_links(filter_of({"type": "Person"}))
        assert one["left"] == "b"
        assert queue.page_of_links(filter_of({"type": "City", "relation": "s"})) == []


def test_a_pair_shows_parts_that_add_up_and_its_neighbours_in_the_queue(client, run):
    first, second, third = links_of(run)[:3]
    found = client.get(
        "/pair.json", params={"left": second["left"], "right": second["right"], "status": "all"}
    ).json()
    *steps, total = found["waterfall"]["steps"]
    assert (
        total["score"] == pytest.approx(found["score"]) == pytest.approx(second["score"], abs=1e-3)
    )
    assert sum(step["score"] for step in steps) == pytest.approx(found["score"], abs=0.01)
    assert steps[0]["kind"] == "threshold"
    assert found["previous"] == {"left": first["left"], "right": first["right"]}
    assert found["next"] == {"left": third["left"], "right": third["right"]}
    shown = {found["entities"][side]["uri"] for side in ("left", "right")}
    offered = {one["uri"] for side in ("left", "right") for one in found["alternatives"][side]}
    assert offered
    assert not offered & shown


def test_a_large_run_is_decided_about_while_explanations_are_prepared(run, monkeypatch):
    monkeypatch.setattr("sameas.web.review.folder.FEW", 10)
    going, explained = Event(), Review.explain
    monkeypatch.setattr(Review, "explain", lambda *given: going.wait(60) and explained(*given))
    review = Review(run, "Ada")
    app = make_app(review, Access(TOKEN))
    client = testclient.TestClient(app, base_url=HOST, headers=BEARER)
    link = links_of(run)[0]
    pair = {"left": link["left"], "right": link["right"]}
    assert "data-wait" in client.get("/pair", params=pair).text
    assert client.get("/pair.json", params=pair).json()["entities"]["left"]["name"]
    assert say(client, (*pair.values(), "accept"), request="1").status_code == 200
    going.set()
    assert review.prepare(wait=True)
    found = client.get("/pair.json", params=pair).json()
    assert (found["ready"], found["explained"], found["state"]) == (True, True, "accept")


def test_a_run_that_cannot_be_explained_is_shown_as_well(align_small, tmp_path):
    run = tmp_path / "run"
    sameas.write(align_small(method="paris"), run)
    client = browser(run)
    link, alone = client.get("/links.json").json()["links"][0], client.get("/unmatched.json").json()
    for given in (
        {"left": link["left"], "right": link["right"]},
        {"left": alone["unmatched"][0]["uri"]},
        {"left": link["left"], "right": links_of(run)[1]["right"]},
    ):
        assert "has no explanations" in client.get("/pair", params=given).text
    assert "Relations that match" in client.get("/").text
    found = CliRunner().invoke(main, ["report", str(run), "-o", str(tmp_path / "report.html")])
    assert found.exit_code == 0, found.output


def test_an_unmatched_entity_shows_its_nearest_candidates(client):
    for side in ("left", "right"):
        row = client.get("/unmatched.json", params={"side": side}).json()["unmatched"][0]
        found = client.get("/pair.json", params={side: row["uri"]}).json()
        far = {"left": "right", "right": "left"}[side]
        assert found["entities"][side]["uri"] == row["uri"]
        assert found["entities"][far]["uri"] == row["candidate"]
        assert found["link"] is None
        assert client.get("/pair", params={side: row["uri"]}).status_code == 200


def test_bars_of_a_waterfall_hang_together(align_small):
    explanation = align_small().explain(align_small().links["left"][0])
    found = waterfall(explanation.comparison)
    for bar, following in zip(found["steps"], found["steps"][1:-1], strict=False):
        end = bar["before"] + (bar["width"] if bar["score"] > 0 else -bar["width"])
        assert following["before"] == pytest.approx(end, abs=0.02)
    assert all(0 <= bar["start"] <= bar["start"] + bar["width"] < 100.02 for bar in found["steps"])
    assert [one["height"] for one in histogram([0, 1, 400])] == [0.0, 1.5, 100.0]


def test_what_is_not_in_the_run_or_not_allowed_is_refused_in_a_sentence(client):
    for path, status, text in (
        ("/pair.json?left=nowhere", 404, "no such entity"),
        ("/pair.json", 400, "left or right is missing"),
        ("/links.json?sort=luck", 400, "must be one of certainty"),
        ("/links.json?low=2", 400, "must be a number from 0 to 1"),
        ("/links.json?after=x", 400, "a whole number"),
        ("/search.json?text=", 400, "missing"),
        ("/export?format=exe", 400, "must be one of"),
        ("/nowhere", 404, "Not Found"),
        ("/static/../app.py", 404, "Not Found"),
    ):
        answer = client.get(path)
        assert (answer.status_code, text in answer.text) == (status, True), path


# --- who is let in ---


def test_the_token_opens_the_page_and_a_cookie_keeps_it_open(run):
    guest = browser(run, headers=None)
    assert guest.get("/links").status_code == 401
    assert guest.get("/?token=wrong").status_code == 401
    entered = guest.get("/links", params={"sort": "name", "token": TOKEN})
    assert entered.status_code == 303
    assert entered.headers["location"] == "/links?sort=name"
    assert {"httponly", "samesite=lax"} <= {*entered.headers["set-cookie"].lower().split("; ")}
    assert guest.get("/links").status_code == 200
    assert (
        guest.get(f"{HOST}//evil.example", params={"token": TOKEN}).headers["location"]
        == "/evil.example"
    )


def test_a_page_of_another_site_cannot_decide(run):
    guest = browser(run, headers=None)
    guest.get("/", params={"token": TOKEN})
    link = links_of(run)[0]
    claim = link["left"], link["right"], "accept"
    for origin in (
        {},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},
    ):
        guest.headers.update(origin)
        assert say(guest, claim, request="1").status_code == 403
    guest.headers["Origin"] = HOST
    assert say(guest, claim, request="1").status_code == 200


def test_only_names_of_this_machine_are_let_in_and_addresses_where_others_can_ask(run):
    alone, open_to_others = browser(run), browser(run, hosts=("tower",))
    for host, here, everywhere in (
        ("localhost:1", 200, 200),
        ("[::1]:1", 200, 200),
        ("192.168.0.7:8765", 421, 200),
        ("tower:8765", 421, 200),
        ("evil.example", 421, 421),
        ("localhost.evil.example", 421, 421),
        ("", 421, 421),
    ):
        for client, status in ((alone, here), (open_to_others, everywhere)):
            assert client.get("/changes.json", headers={"Host": host}).status_code == status


def test_answers_forbid_what_the_page_does_not_need(client):
    headers = client.get("/").headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert "http://" not in client.get("/static/review.js").text
    assert "url(" not in client.get("/static/style.css").text


def test_sizes_and_rates_are_bounded(client, run):
    content = {"Content-Type": "application/json"}
    long = b"x" * (MOST_BYTES + 1)
    assert client.post("/decide", content=long, headers=content).status_code == 413
    pieces = (b"x" * 1000 for _ in range(MOST_BYTES // 1000 + 2))
    assert client.post("/decide", content=pieces, headers=content).status_code == 413
    assert (
        client.post("/decide", content=b"{}", headers={"Content-Type": "text/plain"}).status_code
        == 415
    )
    assert client.post("/decide", content=b"[" * 5000, headers=content).status_code == 400
    limit = Limit(3)
    assert [limit.allows() for _ in range(5)] == [True, True, True, False, False]
    client = browser(run, writes=limit)
    assert say(client, ("a", "b", "accept"), request="1").status_code == 429


# --- decisions ---


def test_a_request_that_contradicts_itself_is_refused(client, run):
    link = links_of(run)[0]
    pair = link["left"], link["right"]
    answer = say(client, (*pair, "accept"), (*pair, "reject"), request="1")
    assert answer.status_code == 400
    assert answer.json() == {"error": "a request must have one claim about a pair at most"}
    assert client.get("/decisions.json").json()["decisions"] == []


def test_decisions_are_shown_counted_and_undone(client, run):
    first, second = links_of(run)[:2]
    answer = say(client, (first["left"], first["right"], "accept"), request="1").json()
    assert answer["states"] == [{"left": first["left"], "right": first["right"], "state": "accept"}]
    say(client, (second["left"], second["right"], "reject"), request="2", reviewer="Bo")
    assert client.get("/overview.json").json()["states"] == {"accept": 1, "reject": 1}
    assert first["id"] not in [one["id"] for one in client.get("/links.json").json()["links"]]
    (kept,) = client.get("/links.json?status=accept").json()["links"]
    assert kept["left"] == first["left"]
    changed = client.get(f"/changes.json?since={answer['version']}").json()
    assert [one["left"] for one in changed["states"]] == [second["left"]]
    assert client.post("/undo", json={"request": "2"}).status_code == 400
    assert client.post("/undo", json={"request": "1"}).json()["states"][0]["state"] == "open"
    rows = browser(run).get("/decisions.json").json()["decisions"]
    assert [(one["reviewer"], one["undone_by"]) for one in rows] == [("Bo", None), ("Ada", "Ada")]


def test_one_decision_settles_all_links_with_the_same_two_names(tmp_path):
    """Four links of "Springfield", one of which is decided, and two unmatched namesakes."""

    def graph(letter):
        names = {f"{letter}{n}": "Springfield" if n < 4 else f"Ogden {n}" for n in range(6)}
        names |= {f"{letter}{n}": "Nowhere" for n in (6, 7)}
        triples = [(f"{letter}{n}", "r", f"{letter}{(n + 1) % 8}") for n in range(8)]
        return sameas.Graph.from_triples(triples, names=names)

    pair = matched_pair(left=graph("a"), right=graph("b"))
    ends = {"left": [f"a{n}" for n in range(6)], "right": [f"b{n}" for n in range(6)]}
    alone = {"side": "left", "entity": ["a6", "a7"], "reason": "no-candidate", "candidate": None}
    base = sameas.align(pair)
    tables = {
        "links": pl.DataFrame({**ends, "score": 1.0, "confidence": 0.9}),
        "unmatched": pl.DataFrame({**alone, "score": None}, schema=SCHEMAS["unmatched"]),
    }
    sameas.write(
        replace(base, load=lambda name: tables.get(name, getattr(base, name))), tmp_path / "run"
    )
    client = browser(tmp_path / "run")
    say(client, ("a3", "b3", "reject"), request="1")
    assert say(client, ("a4", "b4", "accept"), request="2").json()["alike"] == 0
    assert say(client, ("a0", "b0", "accept"), request="3").json()["alike"] == 2
    for _ in range(2):  # sent twice, stored once
        answer = client.post("/repeat", json={"request": "4", "of": "3"}).json()
        states = [(one["left"], one["right"], one["state"]) for one in answer["states"]]
        assert states == [("a1", "b1", "accept"), ("a2", "b2", "accept")]
    assert client.get("/overview.json").json()["states"] == {"accept": 4, "reject": 1}
    assert "Undo all 2" in client.get("/decisions").text
    client.post("/undo", json={"request": "4"})
    assert client.get("/overview.json").json()["states"] == {"accept": 2, "reject": 1}
    assert say(client, ("a6", "", "no-match"), request="5").json()["alike"] == 1
    client.post("/repeat", json={"request": "6", "of": "5"})
    assert client.get("/overview.json").json()["states"]["no-match"] == 2
    assert client.post("/repeat", json={"request": "7", "of": "4"}).status_code == 400  # undone


def test_a_whole_filter_is_decided_as_one_if_its_count_is_confirmed(client, run):
    chosen = {"verdict": "reject", "low": 0.0, "high": 0.9}
    count = client.get("/links.json", params={"high": 0.9}).json()["to_decide"]
    wrong = client.post("/decide-all", json={**chosen, "count": count + 1, "request": "1"})
    assert wrong.status_code == 400
    assert f"has {count} links to decide about now" in wrong.json()["error"]
    done = client.post("/decide-all", json={**chosen, "count": count, "request": "1"}).json()
    assert len(done["states"]) == count
    assert client.get("/overview.json").json()["states"] == {"reject": count}
    client.post("/undo", json={"request": "1"})
    assert client.get("/overview.json").json()["states"] == {}


def test_a_second_review_is_blind_and_agreement_is_counted(client, run):
    rows = links_of(run)[:4]
    pairs = [(one["left"], one["right"]) for one in rows]
    for number, pair in enumerate(pairs):
        say(client, (*pair, "accept" if number < 3 else "reject"), request=f"a{number}")
    bo = browser(run, reviewer="Bo")
    seen = bo.get("/links.json?status=second").json()
    assert [one["state"] for one in seen["links"]] == ["open"] * 4
    shown = {"left": pairs[3][0], "right": pairs[3][1], "status": "second"}
    found = bo.get("/pair.json", params=shown).json()
    assert (found["state"], found["history"], found["blind"]) == ("open", [], True)
    for number, pair in enumerate(pairs[:3]):
        say(bo, (*pair, "reject" if number == 2 else "accept"), request=f"b{number}")
    say(bo, (*pairs[3], "reject"), request="b3")
    (found,) = bo.get("/decisions.json").json()["agreement"]
    assert (found["pairs"], found["alike"]) == (4, 3)
    assert found["kappa"] == pytest.approx(0.5)
    assert bo.get("/links.json?status=second").json()["count"] == 0
    assert bo.get("/pair.json", params=shown).json()["state"] == "reject"


def test_forms_decide_without_scripts_and_lead_back_to_pages_of_this_server(run):
    guest = browser(run, headers=None)
    guest.get("/", params={"token": TOKEN})
    guest.headers["Origin"] = HOST
    link = links_of(run)[0]
    form = {"left": link["left"], "right": link["right"], "request": "1", "comment": "so, so"}
    for back, there in (
        ("/links?sort=name", "/links?sort=name"),
        ("//evil.example", "/evil.example"),
    ):
        answer = guest.post("/decide", data={**form, "similar": "broad", "back": back})
        assert (answer.status_code, answer.headers["location"]) == (303, there)
    (row,) = guest.get("/decisions.json").json()["decisions"]
    assert (row["verdict"], row["predicate"], row["comment"]) == ("reject", "broad", "so, so")
    refused = guest.post("/decide", data={**form, "verdict": "perhaps"})
    assert refused.status_code == 400
    assert "<main" in refused.text
    guest.headers["Origin"] = "http://evil.example"
    assert guest.post("/decide", data={**form, "verdict": "accept"}).status_code == 403


def test_a_run_is_aligned_again_with_what_was_decided(run):
    with pytest.raises(sameas.OptionError, match="nothing is accepted or rejected yet"):
        check(sameas.read_run(run))
    client, rows = browser(run), links_of(run)
    say(client, (rows[0]["left"], rows[0]["right"], "reject"), request="1")
    say(client, (rows[1]["left"], rows[1]["right"], "accept"), request="2")
    result = aligned_again(run, run.with_name("draft"))
    again = {*sameas.read_run(run.with_name("draft")).links.select("left", "right").iter_rows()}
    assert (rows[0]["left"], rows[0]["right"]) not in again
    assert (rows[1]["left"], rows[1]["right"]) in again
    assert result["decided"] == 2
    before = {(one["left"], one["right"]) for one in links_of_all(run)}
    changed = (before ^ again) - {(rows[0]["left"], rows[0]["right"])}
    assert result["changed"] == len({left for left, _ in changed})


def test_two_who_disagree_are_both_shown(client, run):
    link = links_of(run)[0]
    pair = link["left"], link["right"]
    say(client, (*pair, "accept"), request="1")
    say(client, (*pair, "reject"), request="2", reviewer="Bo")
    (found,) = client.get("/decisions.json").json()["conflicts"]
    assert found["said"] == "Ada: accept, Bo: reject"
    assert (
        "conflict"
        in client.get("/pair", params=dict(zip(("left", "right"), pair, strict=True))).text
    )
    (kept,) = links_of(run)[:1]
    assert kept["state"] == "conflict"


def test_a_decision_needs_entities_of_the_run_and_a_name(run):
    client = browser(run, reviewer="")
    link = links_of(run)[0]
    claim = link["left"], link["right"], "accept"
    assert "your name" in say(client, claim, request="1").json()["error"]
    assert client.post("/reviewer", json={"reviewer": "Ada  Łęcka"}).json() == {
        "reviewer": "Ada Łęcka"
    }
    assert say(client, claim, request="1").status_code == 200
    assert client.get("/decisions.json").json()["decisions"][0]["reviewer"] == "Ada Łęcka"
    for wrong in (
        ("nowhere", link["right"], "accept"),
        (link["left"], "", "accept"),
        (link["left"], link["right"], "no-match"),
        ("", "", "no-match"),
        (link["left"], link["right"], "perhaps"),
        (link["left"], 7, "accept"),
    ):
        assert say(client, wrong, request="2").status_code == 400, wrong
    for body in (
        {"request": "\ud800", "claims": []},
        [],
        {},
        {"request": "3"},
        {"request": "3", "claims": []},
        {"request": 3, "claims": [{}]},
    ):
        given = {"content": json.dumps(body), "headers": {"Content-Type": "application/json"}}
        assert client.post("/decide", **given).status_code == 400, body


@pytest.fixture
def decided(run):
    """A run with a link accepted, one rejected, one replaced, and an entity without a match."""
    accepted, rejected, replaced = links_of(run)[:3]
    client = browser(run)
    alone, other = (
        client.get("/unmatched.json", params={"side": side}).json()["unmatched"][0]["uri"]
        for side in ("left", "right")
    )
    claims = [
        [Claim(accepted["left"], accepted["right"], "accept")],
        [Claim(rejected["left"], rejected["right"], "reject")],
        [
            Claim(replaced["left"], other, "accept"),
            Claim(replaced["left"], replaced["right"], "reject"),
        ],
        [Claim(alone, "", "no-match")],
    ]
    with decisions_of(run) as connection:
        for number, each in enumerate(claims):
            decide(connection, each, reviewer="Ada", request=str(number))
    return SimpleNamespace(
        run=run, accepted=accepted, rejected=rejected, replaced=replaced, alone=alone, other=other
    )


def test_links_are_written_as_decided(decided, tmp_path):
    before, table = sameas.read_run(decided.run).links, tmp_path / "links.tsv"
    CliRunner().invoke(main, ["convert", str(decided.run), str(table)])
    links = sameas.read_links(table)
    pairs = {*links.select("left", "right").iter_rows()}
    assert len(links) == len(before) - 1
    assert (decided.replaced["left"], decided.other) in pairs
    assert not {(one["left"], one["right"]) for one in (decided.rejected, decided.replaced)} & pairs
    accepted = links.filter(pl.col("left") == decided.accepted["left"])
    assert accepted["confidence"].to_list() == [1.0]
    rest = links.join(before, on=["left", "right", "confidence"])
    assert len(rest) == len(before) - 3


def test_sssom_says_who_decided_what(decided, tmp_path):
    path = tmp_path / "links.sssom.tsv"
    found = CliRunner().invoke(main, ["convert", str(decided.run), str(path)])
    assert found.exit_code == 0, found.output
    rows = pl.read_csv(path, separator="\t", comment_prefix="#", infer_schema=False)
    manual = rows.filter(pl.col("mapping_justification") == "semapv:ManualMappingCuration")
    assert manual["reviewer_label"].to_list() == ["Ada"] * 5
    assert manual["mapping_date"].str.contains(r"^\d{4}-\d{2}-\d{2}$").all()
    assert manual.filter(pl.col("predicate_modifier") == "Not").height == 2
    (none,) = manual.filter(pl.col("object_id") == "sssom:NoTermFound").to_dicts()
    assert none["predicate_modifier"] is None
    assert (rows["mapping_justification"] == "semapv:CompositeMatching").sum() == len(rows) - 5
    links = sameas.read_links(path)
    assert len(links) == len(sameas.read_run(decided.run).links) - 1
    assert SAME_AS.endswith(rows["predicate_id"][0].removeprefix("owl:"))


def test_every_format_can_be_taken_along(decided):
    client = browser(decided.run)
    for kind in ("sssom.tsv", "tsv", "csv", "parquet", "jsonl", "nt", "ttl", "rdf"):
        answer = client.get("/export", params={"format": kind})
        assert answer.status_code == 200
        assert answer.headers["content-disposition"] == f'attachment; filename="links.{kind}"'
        assert len(answer.content) > 1000


def test_a_run_made_again_uses_decisions_keeps_them_and_says_what_changed(decided, small):
    run = decided.run
    again = sameas.align(small, seeds=run, reject=run, no_audit=True)
    pairs = {*again.links.select("left", "right").iter_rows()}
    assert (decided.replaced["left"], decided.other) in pairs
    assert (decided.rejected["left"], decided.rejected["right"]) not in pairs
    changed = changed_links(InputFiles(seeds=run, reject=run), again)
    before = {*sameas.read_run(run).links.select("left", "right").iter_rows()}
    assert changed["decisions"] == 5
    assert (changed["new"], changed["gone"]) == (len(pairs - before), len(before - pairs))
    assert changed["links"] == len({left for left, _ in pairs ^ before})
    sameas.write(again, run)
    assert len(sameas.read_run(run).decisions) == 5
    assert browser(run).get("/links.json?status=all").json()["count"] == len(again.links)


def test_the_command_tells_what_decisions_changed(part, tmp_path):
    run, new = str(tmp_path / "run"), str(tmp_path / "new")
    earlier = sameas.align(part, no_audit=True)
    sameas.write(earlier, run)
    with decisions_of(tmp_path / "run") as connection:
        for number, (left, right, *_) in enumerate(earlier.links.head(2).iter_rows()):
            verdict = "reject" if number else "accept"
            decide(connection, [Claim(left, right, verdict)], reviewer="Ada", request=verdict)
    given = [str(part), "--no-audit", "--seeds", run, "--reject", run, "-o", new]
    found = CliRunner().invoke(main, ["align", *given])
    assert found.exit_code == 0, found.output
    assert re.search(r"changed +\d+ links because of 2 decisions: \d+ new, \d+ gone", found.output)


# --- the report and the command ---


def test_the_report_is_one_file_that_needs_nothing_else(decided, tmp_path):
    path = tmp_path / "report.html"
    found = CliRunner().invoke(
        main, ["report", str(decided.run), "-o", str(path), "--links", "3", "--json"]
    )
    assert json.loads(found.stdout) == {"output": str(path), "links": 3}
    seen = elements(path.read_text(encoding="utf8"))
    assert not [tag for tag, _ in seen if tag in ("script", "link", "img", "iframe")]
    assert len([tag for tag, given in seen if given.get("class") == "waterfall"]) == 3
    wrong = CliRunner().invoke(
        main, ["report", str(decided.run), "-o", str(tmp_path / "report.pdf")]
    )
    assert wrong.exit_code == 2
    assert ".html" in wrong.output


def test_a_report_only_reads_the_run_folder(align_small, tmp_path):
    run = tmp_path / "run"
    sameas.write(align_small(), run)
    left, right, *_ = align_small().links.row(0)
    with decisions_of(run) as connection:
        decide(connection, [Claim(left, right, "accept")], reviewer="Ada", request="1")
    before = contents(run)
    out = tmp_path / "report.html"
    for _ in range(2):
        result = CliRunner().invoke(main, ["report", str(run), "-o", str(out), "--links", "2"])
        assert result.exit_code == 0, result.output
        assert contents(run) == before
    assert "1 accepted" in " ".join(re.sub("<[^>]*>", " ", out.read_text("utf8")).split())


def test_an_index_that_is_a_link_is_not_followed(run, tmp_path):
    other = tmp_path / "other.sqlite"
    other.write_bytes((run / FILE).read_bytes())
    (run / FILE).unlink()
    (run / FILE).symlink_to(other)
    result = CliRunner().invoke(main, ["report", str(run), "-o", str(tmp_path / "report.html")])
    assert result.exit_code == 2
    assert "queue.sqlite: must be a file, not a link" in result.output
    assert "must be a file, not a link" in browser(run).get("/links.json").json()["error"]


def test_an_index_with_views_of_a_stranger_is_made_again(run, align_small):
    with closing(sqlite3.connect(run / FILE)) as connection:
        connection.executescript("ALTER TABLE facets RENAME TO f; CREATE VIEW facets AS SELECT 1")
    assert browser(run).get("/links.json?status=all").json()["count"] == len(align_small().links)
    with closing(sqlite3.connect(run / FILE)) as connection:
        query = "SELECT count(*) FROM sqlite_master WHERE type = 'view'"
        assert connection.execute(query).fetchone() == (0,)


def test_the_command_refuses_what_cannot_work(run, tmp_path):
    for arguments, text in (
        ([str(tmp_path)], "is not a run folder"),
        ([str(run), "--host", "0.0.0.0"], "--token must be given"),
        ([str(run), "--host", "0.0.0.0", "--token", "short"], "at least 12 characters"),
        ([str(run), "--token", "ключ ключ ключ"], "must consist of ASCII"),
        ([str(run), "--port", "99999"], "--port must be a whole number from 0 to 65535"),
    ):
        found = CliRunner().invoke(main, ["review", *arguments, "--no-browser"])
        assert (found.exit_code, text in found.output) == (2, True), found.output


def test_without_the_extra_the_command_says_how_to_install_it(run, monkeypatch):
    monkeypatch.setattr("sameas.cli.server.find_spec", lambda name: None)
    found = CliRunner().invoke(main, ["review", str(run)])
    assert found.exit_code == 2
    assert 'pip install "sameas[web]"' in found.output


# --- hostile graphs ---

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>'


class Elements(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, {name: value or "" for name, value in attrs}))

    handle_startendtag = handle_starttag


def elements(text):
    parser = Elements()
    parser.feed(text)
    return parser.found


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A run whose every text and IRI tries to become markup."""

    def graph(side):
        iris = [f"javascript:alert({n})//{HOSTILE}" for n in range(9)]
        triples = [(one, f"data:{HOSTILE}", other) for one, other in pairwise(iris)]
        names = {
            iri: f"{HOSTILE}{letter * 4}{{{{7*7}}}}"
            for iri, letter in zip(iris, "abcdefghi", strict=True)
        }
        return sameas.Graph.from_triples(
            triples, names=names, attributes=[(triples[0][0], HOSTILE, f"{HOSTILE}{side}")]
        )

    folder = tmp_path_factory.mktemp("hostile") / "run<b>"
    sameas.write(sameas.align(matched_pair(left=graph("left"), right=graph("right"))), folder)
    Review(folder).load()  # makes the index
    return folder


def test_a_hostile_graph_is_shown_as_text(hostile, tmp_path):
    client = browser(hostile)
    link = links_of(hostile)[0]
    pair = {"left": link["left"], "right": link["right"]}
    say(client, (*pair.values(), "accept"), request=HOSTILE, reviewer=HOSTILE)
    report = tmp_path / "report.html"
    CliRunner().invoke(main, ["report", str(hostile), "-o", str(report)])
    texts = [report.read_text(encoding="utf8")]
    for path, given in (
        ("/overview", {}),
        ("/links", {"status": "all", "text": HOSTILE}),
        ("/links", {"status": "all"}),
        ("/pair", pair),
        ("/unmatched", {"text": HOSTILE, "status": "all"}),
        ("/decisions", {}),
        ("/pair", {"left": HOSTILE}),
        (f"/{HOSTILE}", {}),
    ):
        texts.append(client.get(path, params=given).text)
    for text in texts:
        seen = elements(text)
        scripts = [given for tag, given in seen if tag == "script"]
        assert all(given == {"src": "/static/review.js", "defer": ""} for given in scripts)
        assert not [tag for tag, _ in seen if tag in ("img", "iframe", "b>")]
        assert not [name for _, given in seen for name in given if name.startswith("on")]
        addresses = [
            given[name] for _, given in seen for name in ("href", "src", "action") if name in given
        ]
        assert not [one for one in addresses if not one.startswith(("/", "#"))]
        assert "aaaa49" not in text
    assert HOSTILE in client.get("/links.json?status=all").json()["links"][0]["left_name"]
