"""The page of sameas review in a browser: by keyboard, by mouse, and after the server is killed.

Needs Chromium and the package playwright; axe-playwright-python for the check of accessibility.
SAMEAS_SCREENSHOTS names a folder in which the pages are kept as pictures; those of the docs are
made by: SAMEAS_SCREENSHOTS=docs/images pytest tests/web/test_review_browser.py -k "light or dark"
"""

from __future__ import annotations

import os
import shutil
import time
from itertools import pairwise
from pathlib import Path

import pytest

import sameas
from pairs import matched_pair
from serving import Server

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from browsing import OVER, browser, decided, keep_picture, opened, saved

__all__ = ["browser"]  # a fixture


@pytest.fixture(scope="module")
def run(align_demo, tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser") / "world"
    sameas.write(align_demo(), folder)
    return folder


@pytest.fixture
def server(run, tmp_path):
    server = Server(shutil.copytree(run, tmp_path / "world"))
    yield server
    server.kill()


def states(page, server):
    rows = page.request.get(f"{server.root}/decisions.json").json()["decisions"]
    return [(one["left"], one["right"], one["verdict"], one["undone_by"]) for one in rows[::-1]]


def test_a_review_from_the_first_link_to_the_export(browser, server):
    page = opened(browser, server)
    page.get_by_role("link", name="Review the links").click()
    page.wait_for_url("**/links")

    # filter
    page.keyboard.press("/")
    page.keyboard.type("paris")
    page.keyboard.press("Enter")
    page.wait_for_url("**text=paris*")
    assert page.locator(".row .name").first.inner_text() == "Paris"
    page.goto(f"{server.root}/links")

    # step through, accept, reject, undo
    rows = page.locator(".rows .row")
    _, second, third = (rows.nth(place).locator(".name").all_inner_texts() for place in range(3))
    page.keyboard.press("j")
    page.keyboard.press("a")
    saved(page)
    page.locator(".row.current", has_text=second[0]).wait_for()
    assert rows.nth(0).locator(".state").inner_text() == "accepted"
    page.keyboard.press("r")
    saved(page, "rejected")
    page.locator(".row.current", has_text=third[0]).wait_for()
    page.keyboard.press("z")
    saved(page, f"Undone: {second[0]} = {second[1]} is open again")
    assert rows.nth(1).locator(".state").inner_text() == "open"
    assert second[0] in page.locator(".row.current").inner_text()  # it goes back to it
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")

    # one link: choose another
    page.keyboard.press("Enter")
    page.wait_for_url("**/pair*")
    assert page.locator("h1").inner_text().split(" = ") == second
    page.keyboard.press("m")
    assert page.evaluate("document.activeElement.closest('#alternatives') !== null")
    page.keyboard.press("Enter")
    page.locator("h1", has_text=third[0]).wait_for()
    left, accepted, rejected = states(page, server)[0], *states(page, server)[-2:]
    assert left[2] == "accept"
    assert (accepted[2], rejected[2]) == ("accept", "reject")
    assert accepted[0] == rejected[0] or accepted[1] == rejected[1]
    page.keyboard.press("u")
    page.locator("h1").filter(has_not_text=third[0]).wait_for()
    fourth = page.locator("h1").inner_text()
    page.keyboard.press("k")  # back to what was just decided
    page.locator("h1", has_text=third[0]).wait_for()
    assert page.locator(".heading .state").inner_text() == "unsure"
    page.keyboard.press("j")
    page.locator("h1", has_text=fourth).wait_for()
    page.keyboard.press("z")  # undone from elsewhere: it names the pair and goes back to it
    saved(page, f"Undone: {third[0]} = {third[1]} is open again")
    page.locator("h1", has_text=third[0]).wait_for()
    page.go_back()
    page.locator("h1", has_text=fourth).wait_for()

    # the same for the other link between two of these names, and undo that
    page.goto(f"{server.root}/links?text=Monaco")
    both = page.locator(".row", has_text="Monaco").locator(".state")
    page.keyboard.press("j")
    page.keyboard.press("a")
    page.get_by_role("button", name="The same for another with the same two names").wait_for()
    page.keyboard.press("s")
    saved(page, "Saved for 1 more")
    assert both.all_inner_texts() == ["accepted", "accepted"]
    page.keyboard.press("z")
    saved(page, "Undone")
    assert both.all_inner_texts() == ["accepted", "open"]

    # unmatched: by hand, and none
    page.goto(f"{server.root}/unmatched")
    page.locator(".row button", has_text="Link with").first.click()
    saved(page, "accepted")
    page.locator(".row a.open").nth(1).focus()
    page.keyboard.press("n")
    saved(page, "no match")
    page.locator(".row a.open").nth(2).click()
    page.locator("form.find input").first.fill("Lond")
    page.locator("form.find li", has_text="London").get_by_role("button").click()
    page.get_by_role("link", name="= London").first.wait_for()

    # export, kill, start again
    page.goto(f"{server.root}/decisions")
    with page.expect_download() as download:
        page.get_by_role("link", name=".sssom.tsv").click()
    assert "ManualMappingCuration" in Path(download.value.path()).read_text(encoding="utf8")
    before = states(page, server)
    assert not page.problems
    server.kill()
    server.start()
    page.goto(server.url)
    page.problems.clear()  # of the time when the server was away
    assert states(page, server) == before
    page.goto(f"{server.root}/decisions")
    page.get_by_role("button", name="Undo").first.click()
    page.locator("tr.undone").nth(1).wait_for()
    assert page.problems == []


def test_reviewers_see_each_other_and_their_conflicts(browser, server):
    one = opened(browser, server)
    one.goto(f"{server.root}/links?status=all")
    other = opened(browser, server)
    other.get_by_role("button", name="Ada").click()
    other.get_by_label("Name").fill("Bo")
    other.get_by_role("button", name="Keep").click()
    other.get_by_role("button", name="Bo", exact=True).wait_for()
    other.goto(f"{server.root}/links?status=all")
    other.locator(".row button", has_text="Accept").first.click()
    one.locator(".row .state", has_text="accepted").wait_for()  # by itself
    one.locator(".row button", has_text="Reject").first.click()
    one.locator(".row .state", has_text="conflict").wait_for()
    other.locator(".row .state", has_text="conflict").wait_for()
    one.goto(f"{server.root}/decisions")
    assert "Bo: accept, Ada: reject" in one.locator(".conflicts").inner_text()
    assert not one.problems + other.problems


def test_a_hundred_decisions_by_keyboard_load_no_page(browser, server):
    page = opened(browser, server)
    for path in ("/links", "/links?sort=teaching"):
        page.goto(f"{server.root}{path}")
        page.evaluate("window.loadedOnce = true")
        page.keyboard.press("j")
        if "teaching" in path:
            page.keyboard.press("Enter")
            page.wait_for_url("**/pair*")
            page.evaluate("window.loadedOnce = true")
        begin = time.perf_counter()
        count = int(page.locator("progress").evaluate("bar => bar.value"))
        for number in range(100):
            page.keyboard.press("ar"[number % 2])
        decided(page, count + 100)
        print(f"{path}: 100 decisions in {time.perf_counter() - begin:.1f} s")
        assert page.evaluate("window.loadedOnce")
    assert len({one[:2] for one in states(page, server)}) == 50  # the last page of the history
    progress = page.request.get(f"{server.root}/links.json").json()["progress"]
    assert progress["decided"] == 200
    assert progress["text"] in page.locator("[data-progress]").inner_text()
    page.goto(f"{server.root}/links?status=all")
    page.keyboard.press("j")
    page.keyboard.press("a")
    saved(page)
    page.keyboard.press("K")  # as with Caps Lock
    page.keyboard.press("R")
    saved(page, "rejected")
    assert not page.problems


def test_a_whole_filter_and_a_selection_are_decided_and_undone_as_one(browser, server):
    page = opened(browser, server)
    page.goto(f"{server.root}/links?text=dollar")
    badges, count = page.locator(".row .state"), page.locator(".row").count()
    for key in "jxjjx":
        page.keyboard.press(key)
    assert page.locator(".selection").inner_text().startswith("2 selected")
    page.keyboard.press("a")
    page.get_by_role("heading", name="Mark 2 selected links as accepted?").wait_for()
    page.keyboard.press("Enter")
    saved(page, "2 selected links: accepted")
    assert badges.all_inner_texts()[:4] == ["accepted", "open", "accepted", "open"]
    page.locator(".bulk summary").click()
    page.get_by_label(f"Yes, about all {count - 2} links").check()
    page.get_by_role("combobox", name="Decision").select_option("reject")
    page.get_by_role("button", name="Decide", exact=True).click()
    page.get_by_role("button", name="Yes", exact=True).click()
    saved(page, f"all {count - 2} links of the filter: rejected")
    assert sorted({*badges.all_inner_texts()}) == ["accepted", "rejected"]
    assert page.locator("[data-left-in-filter]").inner_text() == "0"
    page.keyboard.press("z")
    saved(page, "Undone: all")
    page.keyboard.press("z")
    saved(page, "Undone: 2 selected links")
    assert {*badges.all_inner_texts()} == {"open"}
    assert not page.problems


def test_a_pair_takes_a_comment_and_a_predicate_and_leads_to_neighbours(browser, server):
    page = opened(browser, server)
    page.goto(f"{server.root}{PAGES['pair']}")
    name = page.locator(".branches a.met span").first.inner_text()
    page.keyboard.press("c")
    page.keyboard.type("only the standard language")
    page.keyboard.press("Enter")
    page.keyboard.press("b")
    saved(page, "not the same, broader")
    page.goto(f"{server.root}/decisions")
    assert "only the standard language" in page.locator("table.history").inner_text()
    with page.expect_download() as download:
        page.get_by_role("link", name=".sssom.tsv").click()
    (row,) = (
        line
        for line in Path(download.value.path()).read_text(encoding="utf8").splitlines()
        if "only the standard language" in line
    )
    assert "skos:broadMatch" in row
    assert "ManualMappingCuration" in row
    page.goto(f"{server.root}{PAGES['pair']}")
    page.locator(".branches a.met").first.click()
    page.locator("h1", has_text=name).wait_for()
    assert not page.problems


def test_a_team_shares_the_queue_and_reviews_a_second_time_without_seeing_the_first(
    browser, server
):
    ada, bo = opened(browser, server), opened(browser, server)
    bo.get_by_role("button", name="Ada").click()
    bo.get_by_label("Name").fill("Bo")
    bo.get_by_role("button", name="Keep").click()
    bo.get_by_role("button", name="Bo", exact=True).wait_for()
    parts = []
    for page, share in ((ada, "1/2"), (bo, "2/2")):
        page.goto(f"{server.root}/links?share={share}")
        parts.append({*page.locator(".row .name").all_inner_texts()})
    ada.locator("#here", has_text="Ada, Bo").wait_for()
    for key in "jara":
        ada.keyboard.press(key)
    decided(ada, 3)
    bo.goto(f"{server.root}/links?status=second")
    assert bo.locator(".row .state").all_inner_texts() == ["open"] * 3
    bo.keyboard.press("j")
    bo.keyboard.press("a")
    bo.locator(".row:nth-child(2).current").wait_for()
    bo.keyboard.press("Enter")
    bo.wait_for_url("**/pair*")
    assert bo.locator(".heading .state").inner_text() == "open"
    assert "Decisions about this pair" not in bo.locator("main").inner_text()
    bo.keyboard.press("a")
    saved(bo)
    bo.goto(f"{server.root}/decisions")
    assert "Ada, Bo 2 50.0%" in " ".join(bo.locator("main").inner_text().split())
    assert not ada.problems + bo.problems


def test_one_button_aligns_again_with_what_was_decided(browser, server):
    page = opened(browser, server)
    page.goto(f"{server.root}/links")
    for key in "jaarr":
        page.keyboard.press(key)
    decided(page, 4)
    page.goto(f"{server.root}/decisions")
    page.get_by_role("button", name="Align again").click()
    page.locator("#again", has_text="Aligning again").wait_for()
    page.locator("#again", has_text="Decided 4: expected precision 0.9").wait_for()
    assert len(states(page, server)) == 4
    page.goto(f"{server.root}/links")
    page.keyboard.press("j")
    page.keyboard.press("a")
    saved(page)
    assert not page.problems


def test_decisions_are_made_without_scripts(browser, server):
    page = opened(browser, server, java_script_enabled=False)
    page.goto(f"{server.root}/links")
    first = page.locator(".row .name").first.inner_text()
    page.get_by_role("button", name="Reject").first.click()
    page.locator(".row:first-child .name:first-child").filter(has_not_text=first).first.wait_for()
    page.locator(".row a.open").first.click()
    title = page.locator("h1").inner_text()
    page.get_by_label("Comment").fill("seen")
    page.get_by_role("button", name="narrower").click()
    page.locator("h1").filter(has_not_text=title).wait_for()
    page.goto(f"{server.root}/decisions")
    text = page.locator("table.history").inner_text()
    assert "seen" in text
    assert "narrower" in text
    page.get_by_role("button", name="Undo").first.click()
    page.locator("tr.undone").wait_for()
    page.get_by_label("Your name").fill("Bo")
    page.get_by_role("button", name="Keep").click()
    page.locator(".bulk summary").click()
    page.locator(".bulk [type=checkbox]").check()
    page.get_by_role("button", name="Decide", exact=True).click()
    page.locator("main", has_text="No link fits").wait_for()
    assert not page.problems


def test_long_names_fit_a_narrow_window(browser, tmp_path):
    def graph(side):
        names = {
            f"http://example.org/{side}/{n}/{'x' * 120}": f"{'Donaudampfer' * 9}{n} {'of ' * 60}"
            for n in range(8)
        }
        ids = [*names]
        triples = [(one, f"http://example.org/{'r' * 80}", other) for one, other in pairwise(ids)]
        return sameas.Graph.from_triples(triples, names=names)

    sameas.write(sameas.align(matched_pair(left=graph("a"), right=graph("b"))), tmp_path / "run")
    server = Server(tmp_path / "run")
    try:
        page = opened(browser, server, viewport={"width": 400, "height": 800})
        for path in ("/links?status=all", "/unmatched", "/decisions"):
            page.goto(f"{server.root}{path}")
            assert page.evaluate(OVER) <= 0, path
        page.goto(f"{server.root}/links?status=all")
        page.locator(".row a.open").first.click()
        page.locator(".compared").wait_for()
        page.wait_for_load_state()  # of the style sheet, too
        assert page.evaluate(OVER) <= 0
        assert page.get_by_role("button", name="Accept").bounding_box()["y"] < 400
        page.keyboard.press("a")
        saved(page)
        box = page.locator("#message").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 400
        assert not page.problems
    finally:
        server.kill()


PAGES = {
    "overview": "/",
    "links": "/links",
    "pair": "/pair?left=http://example.org/fr/langue/danois&right=http://example.org/en/language/Danish",
    "unmatched": "/unmatched",
    "alone": "/pair?right=http://example.org/en/language/Motu",
    "decisions": "/decisions",
}


@pytest.mark.parametrize(
    "looks",
    [
        {"color_scheme": "light", "viewport": {"width": 1280, "height": 850}},
        {"color_scheme": "dark", "viewport": {"width": 1280, "height": 850}},
        {"color_scheme": "light", "viewport": {"width": 400, "height": 800}},
        {
            "color_scheme": "dark",
            "viewport": {"width": 600, "height": 425},
            "device_scale_factor": 2,
        },
    ],
    ids=["light", "dark", "narrow", "zoomed"],
)
def test_pages_fit_their_window_and_can_be_used_by_all(browser, server, looks, request):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page, folder = opened(browser, server, **looks), os.environ.get("SAMEAS_SCREENSHOTS")
    if "1280" in str(looks):
        page.goto(f"{server.root}/links")
        for key in "jaajr":
            page.keyboard.press(key)
            page.wait_for_timeout(700)
    for name, path in PAGES.items():
        page.goto(server.root + path)
        if name == "links":
            page.keyboard.press("j")
        if folder:
            keep_picture(page, Path(folder) / f"review-{name}-{request.node.callspec.id}.png")
        assert page.evaluate(OVER) <= 0, name
        found = axe.Axe().run(page).response["violations"]
        assert not found, [(name, one["id"], one["nodes"][0]["html"]) for one in found]
    assert not page.problems
