"""Figures in the documentation: pages agree with docs/results, and are measured once."""

import doctest
import re
from dataclasses import replace

import pytest

import experiments.store
import figures.__main__ as command
import figures.results
from experiments.store import code_checksum, code_of
from figures import filling
from figures.blocks import BLOCKS
from figures.filling import BLOCK, fill_pages, filled, pages, without_blocks
from figures.measure import PARTS, Part, Places
from figures.results import FOLDER, ROOT, Entry, Results, make_entry

SCORE = re.compile(r"(?<![\d.])0?\.\d{3}\b")
"""A score as our tables show it."""
BY_OTHER_COMMANDS = ("docs/reproduction/report.md", "docs/hostile.md", "docs/determinism.md")
"""Pages that other commands write as a whole."""


@pytest.fixture
def places(tmp_path):
    return Places({}, tmp_path, tmp_path)


def entry(values, *, code="c", date="2026-01-31"):
    return Entry(values, "1.0", code, "Some CPU", 2, date, 1.0)


@pytest.mark.parametrize("page", list(pages()), ids=lambda page: page.name)
def test_pages_say_what_the_result_files_say(page):
    text = page.read_text(encoding="utf8")
    assert filled(text, Results(), BLOCKS) == text, "run: python -m figures"


def test_every_block_is_on_a_page_and_every_result_file_has_its_part():
    used = {m[2] for page in pages() for m in BLOCK.finditer(page.read_text(encoding="utf8"))}
    assert used == set(BLOCKS)
    assert {file.stem for file in FOLDER.glob("*.json")} <= {part.name for part in PARTS}


@pytest.mark.parametrize("page", list(pages()), ids=lambda page: page.name)
def test_no_score_stands_outside_a_block(page):
    if page.relative_to(ROOT).as_posix() in (*BY_OTHER_COMMANDS, "CHANGELOG.md"):
        return
    text = re.sub(r"```.*?```", "", without_blocks(page.read_text(encoding="utf8")), flags=re.S)
    # How far figures move is said once, by hand.
    scores = [found for found in SCORE.findall(text) if found != ".001"]
    assert not scores


def test_examples_in_docstrings_hold():
    for module in (filling, figures.results, experiments.store):
        tried = doctest.testmod(module)
        assert tried.attempted
        assert not tried.failed


def test_the_commands_that_write_figures_are_named():
    for name in ("README.md", "CONTRIBUTING.md"):
        assert "python -m figures" in (ROOT / name).read_text(encoding="utf8")


def test_another_value_changes_the_page_and_nothing_else(tmp_path):
    results = Results(tmp_path / "results")
    page = tmp_path / "README.md"
    page.write_text("before\n<!-- figures: calibration -->\n<!-- end -->\nafter\n")
    results.keep("open", "a", entry({"calibration_error": 0.0123}))
    assert fill_pages(results, BLOCKS, tmp_path) == [page]
    first = page.read_text()
    assert "at most .012" in first
    assert first.startswith("before\n")
    assert first.endswith("\nafter\n")
    assert fill_pages(results, BLOCKS, tmp_path) == []
    results.keep("open", "b", entry({"calibration_error": 0.5}))
    assert filled(first, Results(tmp_path / "results"), BLOCKS) == first.replace(".012", ".500")


def test_a_block_that_is_unknown_or_has_no_end_is_an_error():
    with pytest.raises(ValueError, match="no block is called nonsense"):
        filled("<!-- figures: nonsense -->\n<!-- end -->", Results(), BLOCKS)
    with pytest.raises(ValueError, match="a block has no end"):
        filled("<!-- figures: demo -->", Results(), BLOCKS)


def test_the_origin_names_versions_dates_and_processors(tmp_path):
    results = Results(tmp_path)
    assert results.origin("open") == "Not measured yet."
    results.keep("open", "a", entry({}, date="2026-02-01"))
    results.keep("open", "b", entry({}, date="2026-01-01")._replace(sameas="0.9"))
    origin = results.origin("open")
    assert origin == "Version 0.9 and 1.0, 2026-01-01 to 2026-02-01; Some CPU, 2 cores."
    assert "2026-02-01;" in results.origin("open", cases=["a"])


def counted(calls, name="open", case="a", error=None, **more):
    def measure():
        calls.append((name, case))
        if error:
            raise error
        return {"value": 1 / 3}

    more = {"code": ("benchmarks/*",), **more}
    return Part(name, lambda places: iter([(case, measure)]), 1, **more)


def run(parts, places, results, monkeypatch, *, only=(), long=False, again=False):
    monkeypatch.setattr(command, "PARTS", parts)
    return command.measure_missing(places, results, only=only, long=long, again=again)


def test_what_is_known_is_not_measured_again_unless_its_code_changed(places, tmp_path, monkeypatch):
    calls, folder = [], tmp_path / "results"
    part = counted(calls)
    run([part], places, Results(folder), monkeypatch)
    assert Results(folder).get("open", "a") == {"value": 0.333333}
    run([part], places, Results(folder), monkeypatch)
    assert len(calls) == 1
    run([part], places, Results(folder), monkeypatch, again=True)
    assert len(calls) == 2
    run([replace(part, code=("experiments/*",))], places, Results(folder), monkeypatch)
    assert len(calls) == 3


def test_parts_are_chosen_by_name_and_by_length(places, tmp_path, monkeypatch):
    calls = []
    parts = [counted(calls), counted(calls, "real", "b"), counted(calls, "large", "c", long=True)]

    def measured(**options):
        calls.clear()
        run(parts, places, Results(tmp_path / "new"), monkeypatch, again=True, **options)
        return calls.copy()

    assert measured() == [("open", "a"), ("real", "b")]
    assert measured(long=True) == [("large", "c")]
    assert measured(only=["large", "open:a"]) == [("open", "a"), ("large", "c")]
    assert measured(only=["open:other"]) == []
    with pytest.raises(SystemExit, match="--only must name one of large, open, real"):
        measured(only=["nonsense"])


def test_a_case_that_fails_does_not_stop_the_others(places, tmp_path, monkeypatch, capsys):
    calls, results = [], Results(tmp_path / "results")
    parts = [counted(calls, error=RuntimeError("no memory")), counted(calls, "real")]
    assert run(parts, places, results, monkeypatch) == 1
    assert set(results.entries) == {"real"}
    assert "failed: no memory" in capsys.readouterr().err


def test_both_commands_together_have_all_parts_and_the_first_takes_45_minutes():
    assert sum(part.minutes for part in PARTS if not part.long) <= 45
    assert len({part.name for part in PARTS}) == len(PARTS)


def test_an_entry_says_where_it_comes_from():
    made = make_entry({"f1": 0.123456789}, code="abc", seconds=1.25)
    assert made.values == {"f1": 0.123457}
    assert (made.code, made.seconds) == ("abc", 1.2)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", made.date)


def test_comments_change_no_checksum_and_code_does():
    source = 'X = 1\n"""About x."""\n\n\ndef f(a):\n    """Say."""\n    return a  # back\n'
    assert code_of(source) == "X = 1\n\ndef f(a):\n    return a"
    assert code_of("def f():\n    'only this'\n") == 'def f():\n    """only this"""'
    every = code_checksum(["sameas/*"])
    assert every == code_checksum(["sameas/*"])
    assert every != code_checksum(["sameas/*"], ["sameas/cli/*"])


def test_experiments_and_benchmarks_need_what_dev_installs():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf8")
    for folder in ("experiments", "benchmarks"):
        lines = (ROOT / folder / "requirements.txt").read_text(encoding="utf8").splitlines()
        for line in lines:
            if not line.startswith(("#", "-r")):
                assert f'"{line}"' in text


def test_a_tool_that_did_not_end_is_a_row_that_says_so(tmp_path):
    results = figures.results.Results(tmp_path)
    taken = {"seconds": 1.0, "cpu_seconds": 1.0, "gib": 0.1}
    scores = {"pairs": 2, "precision": 1.0, "recall": 0.5, "f1": 0.667}
    failed = "not ended after 900 s of processor time"
    tools = {"sameas": scores | taken, "nodecanon": {"failed": failed}}
    results.keep("peers", "dbp15k", figures.results.make_entry(tools, code="", seconds=1.0))
    header, _, *rows = BLOCKS["peers"](results).splitlines()[:4]
    assert rows[1].startswith(f"| dbp15k | nodecanon | {failed} |")
    assert {row.count("|") for row in rows} == {header.count("|")}
