"""The tables of docs/hostile.md."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import sameas
from hostile import mended, mutations, report, table
from hostile.attempt import Attempt, Outcome

PAGE = Path(__file__).parents[2] / "docs" / "hostile.md"
KINDS = {*table.attempts(Path(), ""), "kills"}


def outcome(kind, broken=(), name="", command=()):
    return Outcome(Attempt(kind, name, command), 0, 1.6, 100, "", tuple(broken))


def test_kinds_that_were_not_tried_keep_their_rows(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- table: attempts -->\n<!-- end of table -->\nb\n", "utf8")
    for some in ([outcome("bombs"), outcome("inputs", ["no end"])], [outcome("inputs")] * 2):
        rows = report.attempts_table(some, report.rows_of(page, "attempts"))
        report.fill(page, "attempts", report.markdown(report.HEADER, rows))
    assert report.rows_of(page, "attempts") == [
        ("bombs", "1", "1", str(len(mended.MENDED["bombs"])), "2", "100"),
        ("inputs", "2", "2", "0", "3", "100"),
        ("all", "3", "3", str(len(mended.MENDED["bombs"])), "5", "100"),
    ]
    assert page.read_text("utf8").startswith("a\n")
    assert page.read_text("utf8").endswith("\nb\n")


def test_kills_are_counted_by_command():
    words = ("align", str(sameas.DEMO), "-o", "out/run")
    some = [
        outcome("kills", name=f"{how} after 1 s", command=words) for how in ("SIGKILL", "SIGINT")
    ]
    some.append(outcome("kills", ["half-written"], "SIGKILL after 2 s", ("review", "run")))
    assert report.kills_table(some) == [
        ("`align DEMO -o run`", "1", "1", "2"),
        ("`review run`", "1", "0", "0"),
        ("all", "2", "1", "2"),
    ]


def test_the_page_has_a_place_for_each_table_and_says_what_each_kind_is():
    text = PAGE.read_text("utf8")
    for name in ("attempts", "kills", "fuzz"):
        assert text.count(f"<!-- table: {name} -->\n") == 1
    for kind in KINDS:
        named = "mutated ..." if kind.startswith("mutated") else kind
        assert f"\n| {named} | " in text, kind
    assert set(mended.MENDED) <= KINDS


@pytest.mark.parametrize("kind", mutations.KINDS)
def test_attempts_by_chance_are_the_same_each_time_and_others_with_another_seed(kind):
    def first(seed):
        every = mutations.attempts(kind, seed)
        return [(one.name, one.command, one.files) for one, _ in zip(every, range(5), strict=False)]

    assert inspect.getdoc(mutations.KINDS[kind])
    assert first(0) == first(0) != first(1)
