"""The review of clusters in a browser: by keyboard, by mouse, without scripts, in every width.

Needs what test_review_browser.py needs. The pictures of the docs are made by:
SAMEAS_SCREENSHOTS=docs/images pytest tests/web/test_cluster_browser.py -k "light or dark"
"""

from __future__ import annotations

import os
import re
import shutil
import time
from itertools import combinations
from pathlib import Path

import pytest

import sameas
from people import people_table
from serving import Server

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from browsing import OVER, browser, decided, keep_picture, opened, saved

__all__ = ["browser"]  # a fixture


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clusters") / "people"
    sameas.write(sameas.dedupe(people_table(330), id="id"), folder)
    return folder


@pytest.fixture
def server(run, tmp_path):
    server = Server(shutil.copytree(run, tmp_path / "people"))
    yield server
    server.kill()


def clusters_of(page, server, **chosen):
    query = "&".join(f"{name}={value}" for name, value in {"status": "all", **chosen}.items())
    return page.request.get(f"{server.root}/clusters.json?{query}").json()["clusters"]


def values_of(page, server, name):
    return page.request.get(f"{server.root}/cluster.json?cluster={name}").json()


def test_clusters_are_split_joined_taken_apart_and_undone_by_keyboard(browser, server):
    page = opened(browser, server)
    page.get_by_role("link", name="Review the clusters").click()
    page.wait_for_url("**/clusters")
    first, second = clusters_of(page, server)[:2]
    assert first["size"] > 2

    # the list: accept, undo
    page.keyboard.press("j")
    page.keyboard.press("a")
    saved(page, "all the same")
    rows = page.locator(".rows .row")
    assert rows.nth(0).locator(".state").inner_text() == "accepted"
    page.keyboard.press("z")
    saved(page, "Undone: the decision about")
    assert rows.nth(0).locator(".state").inner_text() == "open"
    page.locator(f'.row.current[data-cluster="{first["cluster"]}"]').wait_for()

    # one cluster: take the second member out
    page.keyboard.press("Enter")
    page.wait_for_url("**/cluster?*")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("t")
    saved(page, "split off")
    assert page.locator(".heading .state").inner_text() == "changed"
    shown = values_of(page, server, first["cluster"])
    assert shown["groups"] == 2
    taken = shown["members"][1]
    assert taken["group"] == 1
    assert page.locator(".member.out").count() == 1
    assert page.locator(".node.out").count() == 1
    page.keyboard.press("z")
    saved(page, "Undone")
    page.locator(".heading .state", has_text="open").wait_for()

    # split off what is weakest
    page.keyboard.press("w")
    weak = page.locator(".member.chosen").count()
    assert 0 < weak < first["size"]
    assert page.locator(".node.chosen").count() == weak
    page.keyboard.press("s")
    saved(page, "split off")
    assert page.locator(".member.out").count() == weak

    # select by number, and accept what is left
    page.keyboard.press("1")
    assert page.locator(".member.chosen").count() == 1
    page.keyboard.press("1")
    assert page.locator(".member.chosen").count() == 0
    page.keyboard.press("c")
    page.keyboard.type("different birthdays")
    page.keyboard.press("Enter")
    page.keyboard.press("a")
    saved(page, "all the same")
    page.locator(f'#cluster[data-cluster="{second["cluster"]}"]').wait_for()  # on to the next
    page.keyboard.press("k")  # back to what was just decided
    page.locator(f'#cluster[data-cluster="{first["cluster"]}"]').wait_for()
    assert page.locator("main", has_text="different birthdays").count() == 1

    # join another entity
    other = clusters_of(page, server, sort="name")[-1]["members"][0]
    page.keyboard.press("m")
    page.keyboard.type(other["name"])
    page.locator("#join li button").first.wait_for()
    page.locator("#join li button").first.click()
    saved(page, "joined")
    assert any(one["joined"] for one in values_of(page, server, first["cluster"])["members"])

    # a line of the drawing leads to the pair
    page.locator(".cluster-drawing a").first.dispatch_event("click")
    page.wait_for_url("**/pair*")
    assert page.locator(".waterfall").count() == 1
    assert not page.problems


def test_contradictions_are_shown_on_the_page(browser, server):
    page = opened(browser, server)
    name = next(one["cluster"] for one in clusters_of(page, server) if one["size"] > 2)
    page.goto(f"{server.root}/cluster?cluster={name}&status=all")
    page.keyboard.press("a")
    saved(page, "all the same")
    members = [one["uri"] for one in values_of(page, server, name)["members"]]
    for one, other in combinations(members, 2):
        page.goto(f"{server.root}/pair?left={one}&right={other}")
        if page.locator(".heading .state").first.inner_text() == "open":
            page.keyboard.press("r")
            saved(page, "rejected")
            break
    page.goto(f"{server.root}/cluster?cluster={name}&status=all")
    assert "contradict" in page.get_by_role("alert").inner_text()
    assert page.locator(".heading .state").inner_text() == "conflict"
    page.goto(f"{server.root}/decisions")
    assert page.get_by_role("heading", name="Contradictions").is_visible()
    assert not page.problems


def test_a_hundred_decisions_about_clusters_by_keyboard_load_no_page(browser, server):
    page = opened(browser, server)
    for path in ("/clusters", "/clusters?sort=name"):
        page.goto(f"{server.root}{path}")
        page.keyboard.press("j")
        if "name" in path:
            page.keyboard.press("Enter")
            page.wait_for_url("**/cluster?*")
        page.evaluate("window.loadedOnce = true")
        begin = time.perf_counter()
        count = int(page.locator("progress").evaluate("bar => bar.value"))
        for number in range(100):
            page.keyboard.press("ar"[number % 2])
        decided(page, count + 100)
        print(f"{path}: 100 decisions in {time.perf_counter() - begin:.1f} s")
        assert page.evaluate("window.loadedOnce")
    assert not page.problems


def test_one_button_dedupes_again_with_what_was_decided(browser, server):
    page = opened(browser, server)
    first = clusters_of(page, server)[0]
    page.goto(f"{server.root}/cluster?cluster={first['cluster']}")
    page.keyboard.press("w")
    page.keyboard.press("s")
    saved(page, "split off")
    parted = [one["uri"] for one in values_of(page, server, first["cluster"])["members"]]
    page.goto(f"{server.root}/decisions")
    page.get_by_role("button", name="Align again").click()
    page.locator("#again", has_text="Decided about").wait_for()
    found = [{one["uri"] for one in row["members"]} for row in clusters_of(page, server)]
    assert all(not {*parted} <= members for members in found)
    assert not page.problems


def test_clusters_are_decided_without_scripts(browser, server):
    page = opened(browser, server, java_script_enabled=False)
    page.goto(f"{server.root}/clusters")
    page.get_by_role("button", name="Accept").first.click()
    page.locator("[data-progress]", has_text=re.compile("^1 of ")).wait_for()
    page.locator(".row a.open").first.click()
    name = re.search("cluster=(c[0-9a-f]+)", page.url)[1]
    page.get_by_role("button", name="Take out").nth(1).click()
    page.locator(".state", has_text="changed").first.wait_for()
    page.locator(".choose-member").nth(0).check()
    page.get_by_label("Comment").fill("seen")
    page.get_by_role("button", name="Split off selected").click()
    page.locator("main", has_text="“seen”").wait_for()
    page.get_by_label("The id of an entity").fill(
        clusters_of(page, server, sort="name")[-1]["members"][0]["uri"]
    )
    page.get_by_role("button", name="Join", exact=True).click()
    page.locator(".member", has_text="joined").first.wait_for()
    assert values_of(page, server, name)["state"] == "changed"
    page.goto(f"{server.root}/decisions")
    page.get_by_role("button", name=re.compile("^Undo")).first.click()
    page.locator("tr.undone").first.wait_for()
    assert not page.problems


@pytest.mark.parametrize(
    "looks",
    [
        {"color_scheme": "light", "viewport": {"width": 1280, "height": 850}},
        {"color_scheme": "dark", "viewport": {"width": 1280, "height": 850}},
        {"color_scheme": "light", "viewport": {"width": 400, "height": 800}},
        {"color_scheme": "dark", "viewport": {"width": 500, "height": 800}},
    ],
    ids=["light", "dark", "narrow", "phone"],
)
def test_pages_of_clusters_fit_their_window_and_can_be_used_by_all(browser, server, looks, request):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page, folder = opened(browser, server, **looks), os.environ.get("SAMEAS_SCREENSHOTS")
    first = clusters_of(page, server)[0]["cluster"]
    pages = {
        "cluster-overview": "/",
        "clusters": "/clusters",
        "cluster": f"/cluster?cluster={first}&status=all",
        "cluster-unmatched": "/unmatched?status=all",
        "cluster-decisions": "/decisions",
    }
    for name, path in pages.items():
        page.goto(server.root + path)
        if name == "clusters":
            page.keyboard.press("j")
        if name == "cluster":
            page.keyboard.press("w")
        if folder and name in ("clusters", "cluster"):
            path = Path(folder) / f"review-{name}-{request.node.callspec.id}.png"
            keep_picture(page, path, whole=name == "cluster")
        if name == "cluster":
            page.keyboard.press("s")
            saved(page, "split off")
        assert page.evaluate(OVER) <= 0, name
        found = axe.Axe().run(page).response["violations"]
        assert not found, [(name, one["id"], one["nodes"][0]["html"]) for one in found]
    assert not page.problems


def test_the_report_of_clusters_fits_and_can_be_used_by_all(browser, run, tmp_path):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    from sameas.web.review.report import write_report

    write_report(run, tmp_path / "report.html", count=5)
    for width, scheme in ((1280, "light"), (400, "dark")):
        page = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=scheme, bypass_csp=True
        ).new_page()
        page.goto((tmp_path / "report.html").as_uri())
        page.locator("details.report summary").first.click()
        assert page.locator(".cluster-drawing").first.is_visible()
        assert page.evaluate(OVER) <= 0
        assert not axe.Axe().run(page).response["violations"]
