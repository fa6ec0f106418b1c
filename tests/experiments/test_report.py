"""The report of ``python -m experiments``: its figures, its two forms, and a browser with it."""

from __future__ import annotations

import copy
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser

import pytest

from experiments.figures import DATASETS, published, title
from experiments.rendering import Bold, Section, Table, figure_rows, render, score, seconds, signed
from sameas.errors import OptionError

pytest.importorskip("matplotlib", reason="experiments/requirements.txt is not installed")

from experiments.plots import draw
from experiments.report import specification, spread, write_report

KEYS = [*DATASETS, "own/small_pair"]
SECTIONS = [*(spec["title"] for spec in specification()["sections"]), "How it was made"]
PLOTS = [
    part["plot"] for spec in specification()["sections"] for part in spec["parts"] if "plot" in part
]
HYBRID, BEST = {"features": "hybrid"}, {"features": "char", "preset": "best"}
SCORES = ("hits@1", "hits@10", "mrr")
LINKING = ("precision", "recall", "f1")


class Made:
    """A complete results.json, with figures that no other place has; remembers what must show."""

    def __init__(self) -> None:
        self.number = 0
        self.shown: list[str] = []
        self.results: list[dict] = []
        phases = {"phases": {"features": 1.25, "profit": 2.5, "rest": 0.0}}
        for key in KEYS:
            self.add("datasets", key, {}, self.sizes(key))
            for features in ("char", "word", "hybrid"):
                scores = self.scores(*SCORES, *(LINKING if features == "hybrid" else ()))
                more = {"total_seconds": self.time(), "words": self.whole(), "links": 15000}
                self.add("main", key, {"features": features}, {"": scores | more, **phases})
            self.add("solvers", key, HYBRID, self.solvers())
            kinds = ("relational", "plain", "random-walk", "laplacian")
            self.add("adjacency", key, HYBRID, self.curve(kinds))
            self.add("depth", key, HYBRID, self.curve(range(6)))
            more = {"links": self.whole(), "iterations": self.whole(), "total_seconds": self.time()}
            self.add("paris", key, HYBRID, {"": self.scores(*LINKING) | more})
            self.add("open", key, HYBRID, {"": self.judged()})
            self.add("best", key, BEST, {"": self.command(), **phases})
            self.add("open", key, BEST, {"": self.judged(), **self.bins()})
            self.add("ablation", key, BEST, self.ablation())
            self.add("sensitivity", key, BEST, self.sensitivity())
            self.add("hidden", key, BEST, self.hidden())
            self.add("audit", key, BEST, self.audited())
            self.add("raw", key, BEST, {name: self.raw() for name in ("spelling", "all")})
            methods = {name: self.pair() for name in ("best", "PARIS", "equal labels")}
            self.add("real", key, {"preset": "best"}, {"": {"links": self.whole()}, **methods})
        for preset in ({}, {"preset": "plain"}):
            self.add("runtime", KEYS[0], preset, {"": self.command(), **phases})
        self.add("temperature", KEYS[0], HYBRID, self.curve((0.005, 0.01, 0.02, 0.05, 0.1, 0.5)))
        self.add("iterations", KEYS[0], HYBRID, self.curve((1, 2, 3, 5, 7, 10, 15, 20, 30, 50)))

    def add(self, experiment, dataset, settings, figures) -> None:
        self.results.append(
            {
                "experiment": experiment,
                "dataset": dataset,
                "settings": settings,
                "figures": figures,
                "seconds": 12.34,
                "dataset_sha256": f"{KEYS.index(dataset):064x}",
                "sameas": "0.1.0",
            }
        )

    def score(self) -> float:
        self.number += 1
        value = 0.1 + (self.number * 37 % 899) / 1000 + 0.0002
        self.shown.append(score(value))
        return value

    def scores(self, *names: str) -> dict[str, float]:
        return {name: self.score() for name in names}

    def time(self) -> float:
        self.number += 1
        self.shown.append(f"{self.number:,}.3")
        return self.number + 0.31

    def whole(self) -> int:
        self.number += 1
        self.shown.append(f"{self.number + 20000:,}")
        return self.number + 20000

    def sizes(self, key) -> dict:
        known = published().filter(experiment="datasets", dataset=key)
        sizes = {"": {"links": self.whole()}}
        for side in ("left", "right"):
            theirs = dict(known.filter(variant=side).select("metric", "value").iter_rows())
            kinds = ("entities", "relations", "triples")
            sizes[side] = theirs or {kind: self.whole() for kind in kinds}
        return sizes

    def solvers(self) -> dict:
        return {
            solver: {"hits@1": self.score(), "objective": 9000.5, "seconds": self.time()}
            for solver in ("sinkhorn", "hungarian")
        }

    def curve(self, places) -> dict:
        return {str(place): self.scores("hits@1", "mrr") for place in places}

    def judged(self) -> dict:
        names = (*LINKING, "strict_precision", "calibration_error")
        return {**self.scores(*names), "links": self.whole()}

    def bins(self) -> dict:
        return {
            middle: {"confidence": 0.1, "accuracy": self.score(), "count": self.whole()}
            for middle in ("0.35", "0.55", "0.95")
        }

    def raw(self) -> dict:
        times = {"seconds": self.time(), "encoding_seconds": self.time()}
        return {**self.scores("hits@1", "f1"), **times}

    def pair(self) -> dict:
        scores = self.scores("f1", "precision", "recall")
        del self.shown[-3:]  # shown together
        self.shown.append("{} ({} / {})".format(*map(score, scores.values())))
        return scores

    def command(self) -> dict:
        scores = self.scores("hits@1")
        memory = (1 + self.number / 100) * 2**30
        self.shown.append(f"{1 + self.number / 100:.2f}")
        return {**scores, "total_seconds": self.time(), "peak_memory_bytes": memory}

    def ablation(self) -> dict:
        parts = ("best", "without folding", "without something new", "rounds 1", "rounds 0")
        return {part: self.scores("hits@1", "f1") for part in parts}

    def sensitivity(self) -> dict:
        figures = {"as it is": self.scores("hits@1", "f1")}
        for name, value in (("names", 13.0), ("base", -6.0)):
            figures[name] = {"as it is": value, "half": value / 2, "double": value * 2}
            for size in ("half", "double"):
                names = ("hits@1", "f1") if name == "base" else ("hits@1",)
                figures[f"{name}, {size}"] = self.scores(*names)
        return figures

    def hidden(self) -> dict:
        low, high = sorted(self.scores("low", "high").values())
        del self.shown[-2:]  # shown together, with their mean
        self.shown.append(spread([low, high]))
        names = (*LINKING, "unmatched_recall", "calibration_error")
        halves = {"half 1": dict.fromkeys(names, low), "half 2": dict.fromkeys(names, high)}
        return {**halves, **self.bins()}

    def audited(self) -> dict:
        low, high = sorted(self.scores("low", "high").values())
        del self.shown[-2:]  # shown together, with their mean
        self.shown.append(spread([low, high]))
        names = "estimate judged precision recall_estimate recall left_without right_without f1"
        names = [*names.split(), "f1_before", "error 0.01", "error 0.02", "error 0.05"]
        halves = {"half 1": dict.fromkeys(names, low), "half 2": dict.fromkeys(names, high)}
        halves["half 1"] |= {f"links {error}": self.whole() for error in ("0.01", "0.02", "0.05")}
        bins = {
            middle: {**row, "accuracy_before": self.score()} for middle, row in self.bins().items()
        }
        return {**halves, **bins}

    def content(self) -> dict:
        return {
            "format": 2,
            "sameas": "0.1.0",
            "machine": {
                "system": "Linux x86_64",
                "processor": "Made <Up> & Co",
                "cores": 2,
                "memory_bytes": 23 * 2**30,
                "python": "3.11.7",
                "packages": {"numpy": "2.1.0", "scipy": "1.14.1"},
            },
            "command": "python -m experiments DATA",
            "word_vectors": {"file": "glove.6B.100d.txt", "dimensions": 100, "sha256": "ab" * 32},
            "results": self.results,
        }


class Seen(HTMLParser):
    """A page taken apart: tables as lists of rows of texts, and which elements were left open."""

    VOID = ("meta", "link", "br", "img", "hr", "input")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.mistakes: list[str] = []
        self.tables: list[list[list[str]]] = []
        self.bold: list[str] = []
        self.captions: list[str] = []
        self.headings: list[str] = []
        self.paragraphs: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.ids: list[str] = []
        self.svgs = 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids += [value for name, value in attrs if name == "id"]
        self.svgs += tag == "svg"
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        for name, texts in (("caption", self.captions), ("p", self.paragraphs)):
            if tag == name:
                texts.append("")
        if tag in ("h1", "h2"):
            self.headings.append("")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.mistakes.append(tag)

    def handle_data(self, data):
        inside = set(self.open)
        if inside & {"td", "th"}:
            self.tables[-1][-1][-1] += data
            if "b" in inside:
                self.bold.append(data)
        elif "caption" in inside:
            self.captions[-1] += data
        elif "p" in inside:
            self.paragraphs[-1] += data
        elif inside & {"h1", "h2"}:
            self.headings[-1] += data


def plain(text: str) -> str:
    """Markdown's text without its marks."""
    text = re.sub(r"(?<!\\)(\*\*|`)", "", text)
    return re.sub(r"\\(.)", r"\1", text).strip()


def markdown_tables(text: str) -> list[list[list[str]]]:
    tables: list[list[list[str]]] = []
    for chunk in re.split(r"\n\n", text):
        lines = [line for line in chunk.splitlines() if line.startswith("|")]
        if lines:
            rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines]
            tables.append([[plain(cell) for cell in row] for row in (rows[0], *rows[2:])])
    return tables


@pytest.fixture(scope="module")
def made() -> Made:
    return Made()


def draw_one(folder, name, panels, **rest):
    """The first panel of a plot: to draw all takes longer than all else."""
    return draw(folder, name, panels[:1], **rest)


@pytest.fixture(scope="module", autouse=True)
def no_plots():
    """No plot is drawn, unless a test is about plots."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("experiments.report.draw", lambda *_, **__: "<svg></svg>")
        yield


@pytest.fixture
def plots(monkeypatch):
    monkeypatch.setattr("experiments.report.draw", draw_one)


@pytest.fixture(scope="module")
def folder(made, no_plots, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("experiments.report.draw", draw_one)
        write_report(made.content(), folder)
    return folder


@pytest.fixture(scope="module")
def seen(folder) -> Seen:
    return Seen((folder / "report.html").read_text(encoding="utf8"))


@pytest.fixture(scope="module")
def text(folder) -> str:
    return (folder / "report.md").read_text(encoding="utf8")


def table_of(seen: Seen, caption: str) -> dict[str, dict[str, str]]:
    """The one table whose caption begins like this: texts by row and column."""
    (number,) = [i for i, c in enumerate(seen.captions) if c.startswith(caption)]
    header, *rows = seen.tables[number]
    return {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in rows}


def test_every_measured_figure_is_in_a_table(made, seen):
    cells = {cell for table in seen.tables for row in table for cell in row}
    assert not sorted(set(made.shown) - cells)
    assert len(set(made.shown)) > 300


def test_every_published_figure_is_beside_ours(seen):
    for metric, name in zip(SCORES, ("Hits@1", "Hits@10", "MRR"), strict=True):
        table = table_of(seen, f"{name}, paper protocol; published")
        figures = published().filter(experiment="main", metric=metric)
        assert len(figures) > 50
        for row in figures.iter_rows(named=True):
            assert table[row["variant"]][title(row["dataset"])] == score(row["value"])
    hits = table_of(seen, "Hits@1 by adjacency")
    assert hits["A_rel, relational, published"]["DBP15K zh-en"] == ".900"
    assert hits["A_L, Laplacian, published"]["DBP15K fr-en"] == ".984"
    assert hits["A_L, Laplacian, published"]["SRPRS fr-en"] == "–"
    solve = table_of(seen, "Seconds to solve")
    assert solve["Hungarian w+c, CPU, published"]["DBP15K ja-en"] == "19.8"
    assert solve["Sinkhorn w+c, GPU, published"]["DBP15K fr-en"] == "1.8"
    runs = table_of(seen, "Seconds of a run, published")
    assert runs["GM-Align"] == {"DBP15K": "26,328.0", "SRPRS": "13,032.0"}


def test_the_difference_is_that_of_the_figures_shown(seen):
    table = table_of(seen, "Hits@1, paper protocol; published")
    for kind in ("word", "char", "w+c"):
        for name in map(title, DATASETS):
            ours, theirs = (float(table[f"{whose} {kind}"][name]) for whose in ("sameas", "SEU"))
            assert table[f"difference {kind}"][name] == signed(round(ours - theirs, 3))
        assert table[f"difference {kind}"]["own/small_pair"] == "–"


def test_best_stands_beside_the_published_and_the_paper_preset(seen):
    main = table_of(seen, "Hits@1, paper protocol;")
    table = table_of(seen, "Hits@1 of best, paper protocol")
    for name in map(title, DATASETS):
        assert table["sameas best, char"][name] == main["sameas best"][name]
        assert table["sameas paper, char"][name] == main["sameas char"][name]
        ours = float(table["sameas best, char"][name])
        for peer in ("SEU w+c", "FGWEA", "LightEA, 30% seeds"):
            theirs = float(table[f"{peer}, published"][name])
            assert table[f"best less {peer}"][name] == signed(round(ours - theirs, 3))
    assert table["FGWEA, published"]["own/small_pair"] == "–"


def test_runs_measured_once_are_shown_in_both_sections(seen):
    runs = table_of(seen, "Seconds by phase, sameas")
    whole = table_of(seen, "What the whole command took")
    assert runs["total"]["preset best"] == whole["seconds"]["DBP15K zh-en"]
    paris = table_of(seen, "PARIS and SEU")
    assert all(cell != "–" for cell in paris["SEU F1"].values())


def test_settings_are_explained(seen):
    settings = table_of(seen, "Settings of best")
    words = "names: what a cosine of one between names is worth, in log-odds"
    assert settings[words] == {"as it is": "13", "half": "6.5", "double": "26"}


def test_markdown_and_html_say_the_same(seen, text):
    assert markdown_tables(text) == seen.tables
    headings = re.findall(r"^##? (.*)$", text, flags=re.MULTILINE)
    assert [plain(heading) for heading in headings] == seen.headings
    words = [plain(line) for line in text.splitlines() if re.match(r"[^|#!*\s]", line)]
    assert words == seen.paragraphs
    captions = re.findall(r"^\*([^*].*)\*$", text, flags=re.MULTILINE)
    assert [plain(caption) for caption in captions] == seen.captions
    strong = re.findall(r"\*\*(.+?)\*\*", text)
    assert [plain(cell) for cell in strong] == seen.bold


def test_the_page_is_well_formed_and_its_ids_are_its_own(seen):
    assert seen.mistakes == []
    assert seen.open == []
    assert len(seen.ids) == len(set(seen.ids))
    assert seen.headings == ["SEU reproduced with sameas", *SECTIONS]


def test_the_page_needs_nothing_from_elsewhere(folder, seen):
    page_text = (folder / "report.html").read_text(encoding="utf8")
    for tag, name, value in seen.attributes:
        if name in ("src", "href", "xlink:href", "data", "action", "poster", "srcset"):
            assert value.startswith("#") or value == "data:,", (tag, name, value)
    assert not re.findall(r"url\(\s*[\"']?(?!#)", page_text)
    assert "@import" not in page_text
    assert "<script" not in page_text
    without_names = re.sub(r'xmlns(:\w+)?="[^"]*"', "", page_text)
    assert "http://" not in without_names
    assert "https://" not in without_names


def test_plots_are_in_the_page_and_beside_it(folder, seen, text):
    assert seen.svgs == len(PLOTS)
    for name in PLOTS:
        assert f"plot-{name}" in seen.ids
        assert f"]({name}.svg)" in text
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        svg = (folder / f"{name}.svg").read_text(encoding="utf8")
        assert "</svg>" in svg
        assert "<dc:date>" not in svg
    for label in (
        "temperature tau",
        "rounds of Sinkhorn k",
        "depth L",
        "F1",
        "Hits@1",
        "seconds",
        "confidence",
    ):
        assert f">{label}</text>" in (folder / "report.html").read_text(encoding="utf8")


def test_the_same_results_give_the_same_bytes(made, plots, tmp_path):
    kept = ("temperature", "paris", "runtime")
    results = [e for e in made.results if e["experiment"] in kept]
    for name in ("one", "other"):
        write_report(copy.deepcopy({**made.content(), "results": results}), tmp_path / name)
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert "paris.svg" in names
    assert names == sorted(path.name for path in (tmp_path / "other").iterdir())
    for name in names:
        one, other = (tmp_path / folder / name for folder in ("one", "other"))
        assert one.read_bytes() == other.read_bytes(), name


def test_a_dataset_unlike_the_papers_is_pointed_out(made, tmp_path):
    content = copy.deepcopy(made.content())
    entry = next(e for e in content["results"] if e["dataset"] == "srprs/de_en")
    entry["figures"]["left"]["relations"] -= 1
    content["results"] = [entry]
    write_report(content, tmp_path)
    table = table_of(
        Seen((tmp_path / "report.html").read_text(encoding="utf8")), "Datasets, as read"
    )
    assert table["left relations, difference"] == {"SRPRS de-en": "-1"}
    assert table["left triples, difference"] == {"SRPRS de-en": "0"}


@pytest.mark.parametrize(
    ("kept", "shown"),
    [
        (["datasets", "main"], ["Datasets", "Main results", "Run time"]),
        (["depth", "adjacency"], ["Depth", "Adjacency"]),
        (["solvers", "paris"], ["Solvers", "PARIS"]),
        (["hidden"], ["Hidden half", "Reliability"]),
        (["audit"], ["Audit"]),
    ],
)
def test_what_was_not_run_is_left_out_in_one_line(made, tmp_path, kept, shown):
    results = [e for e in made.results if e["experiment"] in kept and e["dataset"] == KEYS[0]]
    write_report({**made.content(), "results": results}, tmp_path)
    seen = Seen((tmp_path / "report.html").read_text(encoding="utf8"))
    assert seen.headings[1:] == [*shown, SECTIONS[-1]]
    left_out = [name for name in SECTIONS[:-1] if name not in shown]
    assert f"Not run, and so left out: {', '.join(left_out)}." in seen.paragraphs


def test_no_results_at_all_still_make_a_report(made, tmp_path):
    write_report({**made.content(), "results": [], "word_vectors": None}, tmp_path)
    seen = Seen((tmp_path / "report.html").read_text(encoding="utf8"))
    assert seen.headings[1:] == ["How it was made"]
    assert seen.svgs == 0


def test_only_unknown_datasets_show_no_published_figures(made, tmp_path):
    content = made.content()
    content["results"] = [e for e in made.results if e["dataset"] == "own/small_pair"]
    write_report(content, tmp_path)
    text = (tmp_path / "report.md").read_text(encoding="utf8")
    assert "GCN-Align" not in text
    assert "w+c, published" not in text


@pytest.mark.parametrize(
    ("vectors", "expected"),
    [
        (None, "only char rows"),
        (
            {"file": "glove.6B.100d.txt", "dimensions": 100, "sha256": ""},
            "use word vectors glove.6B.100d.txt, 100 dimensions; the paper's use glove.6B.300d, "
            "so these rows are not comparable one to one",
        ),
        (
            {"file": "glove.6B.300d.txt", "dimensions": 300, "sha256": ""},
            "the paper's use glove.6B.300d.",
        ),
    ],
)
def test_the_word_vectors_are_named_beside_the_rows(made, tmp_path, vectors, expected):
    results = [e for e in made.results if e["experiment"] == "solvers"]
    write_report({**made.content(), "results": results, "word_vectors": vectors}, tmp_path)
    seen = Seen((tmp_path / "report.html").read_text(encoding="utf8"))
    assert sum(expected in words for words in seen.paragraphs) == 2  # solvers, how it was made


def test_without_matplotlib_the_error_says_what_to_install(made, plots, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(OptionError, match=r"pip install -r experiments/requirements\.txt"):
        write_report(made.content(), tmp_path)
    assert not (tmp_path / "report.html").exists()


def test_bold_marks_the_best_as_shown_of_each_block():
    rows = {"a": {"x": 0.9001, "y": None}, "b": {"x": 0.8999, "y": 0.5}, "c": {"x": 0.1, "y": 0.2}}
    costs = {"d": {"x": 3.0, "y": 1.0}, "e": {"x": 2.0, "y": 2.0}}
    groups = figure_rows(rows, "xy", score, max), figure_rows(costs, "xy", seconds, min)
    bold = {
        (row[0], name)
        for group in groups
        for row in group
        for name, cell in zip("xy", row[1:], strict=True)
        if isinstance(cell, Bold)
    }
    assert bold == {("a", "x"), ("b", "x"), ("b", "y"), ("e", "x"), ("d", "y")}


def test_names_with_marks_in_them_come_out_as_they_are():
    name = "a|b_c*d<e>&f\\g [h]"
    table = Table(name, ["", name], [[[name, Bold(name)]]])
    page = name, [name], [Section(name, name, [table])]
    seen = Seen(render("report.html", *page))
    assert seen.tables == [[["", name], [name, name]]]
    assert seen.headings == [name, name]
    assert markdown_tables(render("report.md", *page)) == seen.tables


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.8714, ".871"), (1, "1.000"), (0, ".000"), (-0.0125, "−.013"), (None, "–")],
)
def test_scores_are_printed_as_in_the_paper(value, expected):
    assert score(value) == expected


def opened(path, folder) -> tuple[Seen, set[str]]:
    """A page as a browser shows it, and the addresses that the page itself asked for.

    The browser has errands of its own; its log calls whoever sends them "not an origin". No host
    can be found, so nothing leaves this machine.
    """
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("neither chromium nor google-chrome is installed")
    log = folder / "network.json"
    command = [
        browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
        "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--user-data-dir={folder / 'profile'}", f"--log-net-log={log}", "--dump-dom",
        path.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    events = json.loads(log.read_text(encoding="utf8"))["events"]
    asked = {
        event["params"]["url"]
        for event in events
        if event.get("params", {}).get("initiator", "not an origin") != "not an origin"
    }
    return Seen(done.stdout), asked


def test_a_browser_shows_every_table_and_plot_and_asks_no_host(folder, seen, tmp_path):
    shown, asked = opened(folder / "report.html", tmp_path)
    assert shown.tables == seen.tables
    assert shown.svgs == len(PLOTS)
    assert shown.headings == seen.headings
    assert asked == set()


def test_a_page_that_asks_a_host_would_be_noticed(tmp_path):
    path = tmp_path / "asks.html"
    path.write_text('<!DOCTYPE html><img src="http://example.invalid/x.png">', encoding="utf8")
    _, asked = opened(path, tmp_path)
    assert asked == {"http://example.invalid/x.png"}
