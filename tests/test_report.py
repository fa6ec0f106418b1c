"""The report of ``sameas reproduce``: its figures, its two forms, and a browser that opens it."""

from __future__ import annotations

import copy
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser

import pytest

from sameas.errors import OptionError
from sameas.reproduction import published
from sameas.reproduction.rendering import (
    Block,
    Cell,
    Document,
    Section,
    Table,
    difference,
    grid,
    markdown,
    page,
    score,
    seconds,
)

pytest.importorskip("matplotlib", reason="the extra report is not installed")

from sameas.reproduction.report import write_report

KNOWN = list(published.DATASETS)
KEYS = [*KNOWN, "own/small_pair"]
SECTIONS = [
    "Datasets",
    "Main results",
    "Solvers",
    "Run time",
    "Temperature",
    "Iterations",
    "Depth",
    "Adjacency",
    "PARIS",
    "Preset best",
    "Open protocol",
    "Hidden half",
    "Reliability",
    "Ablation",
    "Sensitivity",
    "How it was made",
]
BEYOND = SECTIONS[9:-1]
PLOTS = [
    *("runtime", "phases", "temperature", "iterations", "depth", "paris"),
    *("reliability", "sensitivity"),
]
BEST = {"features": "char", "preset": "best"}


class Made:
    """A complete results.json, with figures that no other place has; remembers what must show."""

    def __init__(self) -> None:
        self.number = 0
        self.shown: list[str] = []
        self.results: list[dict] = []
        for key in KEYS:
            self.add("datasets", key, {}, self.sizes(key))
            for features in ("char", "word", "hybrid"):
                self.add("main", key, {"features": features}, self.main())
        for key in KEYS:
            self.add("solvers", key, {"features": "hybrid"}, self.solvers())
            self.add("adjacency", key, {"features": "hybrid"}, self.matrices())
            self.add("paris", key, {"features": "hybrid"}, self.paris())
            self.add("open", key, {"features": "hybrid"}, self.judged())
            depths = self.curve("depth", range(6))
            self.add("depth", key, {"features": "hybrid"}, depths)
        self.add("runtime", KEYS[0], {}, self.runtime())
        taus = self.curve("temperature", (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5))
        self.add("temperature", KEYS[0], {"features": "hybrid"}, taus)
        rounds = self.curve("iterations", (1, 2, 3, 5, 7, 10, 15, 20, 30, 50))
        self.add("iterations", KEYS[0], {"features": "hybrid"}, rounds)
        for key in KEYS:
            self.add("best", key, BEST, self.command())
            self.add("open", key, BEST, self.judged() | {"bins": self.bins()})
            self.add("ablation", key, BEST, self.ablation())
            self.add("sensitivity", key, BEST, self.sensitivity())
            self.add("hidden", key, BEST, self.hidden())

    def add(self, experiment, dataset, settings, figures) -> None:
        self.results.append(
            {
                "experiment": experiment,
                "dataset": dataset,
                "settings": settings,
                "figures": figures,
                "seconds": 12.34,
                "fingerprint": "f" * 64,
                "dataset_sha256": f"{KEYS.index(dataset):064x}",
                "sameas": "0.1.0",
            }
        )

    def score(self) -> float:
        self.number += 1
        value = 0.1 + (self.number * 37 % 899) / 1000 + 0.0002
        self.shown.append(f".{int(value * 1000):03d}")
        return value

    def time(self) -> float:
        self.number += 1
        value = self.number + 0.31
        self.shown.append(f"{self.number:,}.3")
        return value

    def whole(self) -> int:
        self.number += 1
        self.shown.append(f"{self.number + 20000:,}")
        return self.number + 20000

    def sizes(self, key) -> dict:
        facts = published.DATASETS.get(key)
        swapped = key.startswith("srprs")
        sides = [facts.left._asdict(), facts.right._asdict()] if facts else [None, None]
        sides = [side or {k: self.whole() for k in published.Side._fields} for side in sides]
        left, right = sides[::-1] if swapped else sides
        links = self.whole()
        return {
            "published": key if facts else None,
            "swapped": swapped,
            "left": left,
            "right": right,
            "links": links,
        }

    def main(self) -> dict:
        names = ("features", "neighbours", "profit", "assignment")
        phases = {name: self.number / (9 + place) for place, name in enumerate(names)}
        return {
            "hits@1": self.score(),
            "hits@10": self.score(),
            "mrr": self.score(),
            "seconds": phases,
            "total_seconds": self.time(),
            "peak_memory_bytes": 3 * 2**29,
            "words": self.whole(),
            "words_without_vector": self.whole(),
        }

    def solvers(self) -> dict:
        return {
            solver: {"hits@1": self.score(), "objective": 9000.5, "seconds": self.time()}
            for solver in ("sinkhorn", "hungarian")
        }

    def matrices(self) -> dict:
        kinds = ("relational", "plain", "random-walk", "laplacian")
        return {kind: {"hits@1": self.score(), "mrr": self.score()} for kind in kinds}

    def linking(self) -> dict:
        names = ("precision", "strict_precision", "recall", "f1")
        return {**{name: self.score() for name in names}, "links": self.whole()}

    def paris(self) -> dict:
        both = {"paris": self.linking(), "sameas": self.linking()}
        for figures in both.values():  # not shown there, so not expected
            self.shown.remove(f".{int(figures.pop('strict_precision') * 1000):03d}")
        both["paris"] |= {"iterations": self.whole(), "seconds": self.time()}
        return both

    def judged(self) -> dict:
        return {**self.linking(), "calibration_error": self.score(), "bins": []}

    def bins(self) -> list[dict]:
        return [
            {
                "low": low / 10,
                "confidence": low / 10 + 0.04,
                "accuracy": self.score(),
                "count": self.whole(),
            }
            for low in (3, 5, 9)
        ]

    def command(self) -> dict:
        scores = {name: self.score() for name in ("hits@1", "hits@10", "mrr")}
        total = self.time()
        memory = (1 + self.number / 100) * 2**30
        self.shown.append(f"{1 + self.number / 100:.2f}")
        return {**scores, "seconds": {"reading": 1.0}, "total": total, "peak_memory_bytes": memory}

    def ablation(self) -> dict:
        parts = ("best", "without folding", "without something new", "rounds 1", "rounds 0")
        return {part: {"hits@1": self.score(), "f1": self.score()} for part in parts}

    def sensitivity(self) -> dict:
        settings = {
            name: {
                "value": value,
                "half": {"value": value / 2, "hits@1": self.score()},
                "double": {"value": value * 2, "hits@1": self.score()},
            }
            for name, value in (("names", 13.0), ("base", -6.0), ("something new", 100))
        }
        for size in ("half", "double"):
            settings["base"][size]["f1"] = self.score()
        return {"usual": {"hits@1": self.score(), "f1": self.score()}, "settings": settings}

    def hidden(self) -> dict:
        names = ("precision", "recall", "f1", "unmatched_recall", "calibration_error")
        low, high = self.score(), self.score()
        del self.shown[-2:]  # together, with their mean
        low, high = min(low, high), max(low, high)
        self.shown.append(f"{score((low + high) / 2)} ({score(low)} to {score(high)})")
        halves = [
            {"seed": 1, **dict.fromkeys(names, low)},
            {"seed": 2, **dict.fromkeys(names, high)},
        ]
        return {"halves": halves, "bins": self.bins()}

    def curve(self, name, places) -> dict:
        return {"curve": [{name: x, "hits@1": self.score(), "mrr": self.score()} for x in places]}

    def runtime(self) -> dict:
        phases = {"reading": self.time(), "features": self.time(), "profit": self.time()}
        total = sum(phases.values())
        slow = {phase: 3 * taken for phase, taken in phases.items()}
        refined = {**phases, "candidates": self.time(), "refinement": self.time()}
        taken = {
            "paper": {"seconds": phases, "total": total},
            "best": {"seconds": refined, "total": sum(refined.values())},
            "plain": {"seconds": slow, "total": 3 * total},
        }
        for figures in taken.values():
            figures |= {"hits@1": self.score(), "peak_memory_bytes": self.number * 2**30}
            self.shown.append(f"{self.number}.00")
        return {**taken, "ratios": {"paper": 3.0, "best": 1.5}}

    def content(self) -> dict:
        return {
            "format": 1,
            "sameas": "0.1.0",
            "machine": {
                "system": "Linux",
                "processor": "Made <Up> & Co",
                "cores": 2,
                "memory_gib": 23.5,
                "python": "3.11.7",
                "numpy": "2.1.0",
                "scipy": "1.14.1",
            },
            "command": "sameas reproduce DATA",
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


@pytest.fixture(scope="module")
def folder(made, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
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
    for place, name in enumerate(("Hits@1", "Hits@10", "MRR")):
        table = table_of(seen, f"{name}, paper protocol; published")
        assert len(published.MAIN) == 16
        for method, row in published.MAIN.items():
            for key, scores in row.items():
                assert table[method][published.DATASETS[key].title] == score(scores[place])
    hits = table_of(seen, "Hits@1 by adjacency")
    assert hits["A_rel, relational, published"]["DBP15K zh-en"] == ".900"
    assert hits["A_L, Laplacian, published"]["DBP15K fr-en"] == ".984"
    assert hits["A_L, Laplacian, published"]["SRPRS fr-en"] == "–"
    solve = table_of(seen, "Seconds to solve")
    assert solve["Hungarian w+c, published, CPU"]["DBP15K ja-en"] == "19.8"
    assert solve["Sinkhorn w+c, published, GPU"]["DBP15K fr-en"] == "1.8"
    runs = table_of(seen, "Seconds of a run, published")
    assert runs["GM-Align"] == {"DBP15K": "26,328.0", "SRPRS": "13,032.0"}


def test_the_difference_is_that_of_the_figures_shown(seen):
    table = table_of(seen, "Hits@1, paper protocol; published")
    for kind in ("word", "char", "w+c"):
        for title in (facts.title for facts in published.DATASETS.values()):
            ours, theirs = (float(table[f"{who} {kind}"][title]) for who in ("sameas", "SEU"))
            assert table[f"difference {kind}"][title] == difference(ours, theirs)
        assert table[f"difference {kind}"]["own/small_pair"] == "–"


def test_best_stands_beside_the_published_and_the_paper_preset(seen):
    main = table_of(seen, "Hits@1, paper protocol;")
    table = table_of(seen, "Hits@1 of best, paper protocol")
    for key, facts in published.DATASETS.items():
        title = facts.title
        assert table["sameas best, char"][title] == main["sameas best"][title]
        assert table["sameas paper, char"][title] == main["sameas char"][title]
        ours = float(table["sameas best, char"][title])
        for name, row in published.LATER.items():
            assert table[f"{name}, published"][title] == score(row[key])
            assert table[f"best less {name}"][title] == difference(ours, row[key])
    assert table["FGWEA, published"]["own/small_pair"] == "–"


def test_text_and_tables_tell_the_same_of_ablation_and_sensitivity(made, seen):
    words = " ".join(seen.paragraphs)
    table = table_of(seen, "Hits@1, paper protocol, best and less")
    assert "without something new" in table
    means = {part: float(row["mean"]) for part, row in table.items()}
    worst = min(means, key=means.get)
    assert f"in the mean Hits@1, paper protocol, {worst} (" in words
    losses = [
        (setting[size]["hits@1"] - e["figures"]["usual"]["hits@1"], name, size)
        for e in made.results
        if e["experiment"] == "sensitivity"
        for name, setting in e["figures"]["settings"].items()
        for size in ("half", "double")
    ]
    loss, name, size = min(losses)
    assert re.search(rf"largest loss is that of {name}, {size}, on .*: {score(loss)}\.", words)
    settings = table_of(seen, "Settings of best")
    assert settings["names"] == {
        "what it is": "what a cosine of one between names is worth, in log-odds",
        "value": "13",
        "half": "6.5",
        "double": "26",
    }


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


def test_the_same_results_give_the_same_bytes(made, folder, tmp_path):
    write_report(copy.deepcopy(made.content()), tmp_path)
    names = sorted(path.name for path in folder.iterdir())
    assert names == sorted(path.name for path in tmp_path.iterdir())
    for name in names:
        assert (folder / name).read_bytes() == (tmp_path / name).read_bytes(), name


def test_a_dataset_unlike_the_papers_is_pointed_out(made, tmp_path):
    content = copy.deepcopy(made.content())
    entry = next(e for e in content["results"] if e["dataset"] == "srprs/de_en")
    entry["figures"]["left"]["relations"] = 221  # the folder's left is the paper's right
    content["results"] = [entry]
    write_report(content, tmp_path)
    seen = Seen((tmp_path / "report.html").read_text(encoding="utf8"))
    assert "SRPRS de-en, left: 221 relations where the paper has 222" in " ".join(seen.paragraphs)
    left, right = seen.tables[0][1:]
    assert left[1:3] == ["left (paper's right)", "differs: relations"]
    assert right[1:3] == ["right (paper's left)", "same"]


def test_datasets_as_the_paper_has_them_are_said_to_be(seen):
    assert any("What is in both agrees" in words for words in seen.paragraphs)


@pytest.mark.parametrize(
    ("kept", "left_out"),
    [
        (["datasets", "main", "runtime"], SECTIONS[2:3] + SECTIONS[4:-1]),
        (["temperature", "iterations", "depth", "adjacency"], SECTIONS[:4] + SECTIONS[8:-1]),
        (
            ["solvers", "paris", "open"],
            SECTIONS[:2] + SECTIONS[3:8] + BEYOND[:1] + BEYOND[2:3] + BEYOND[4:],
        ),
        (["best", "ablation", "sensitivity"], SECTIONS[:9] + BEYOND[1:4]),
        (["hidden"], SECTIONS[:9] + BEYOND[:2] + BEYOND[4:]),
    ],
)
def test_what_was_not_run_is_left_out_in_one_line(made, tmp_path, kept, left_out):
    results = [e for e in made.results if e["experiment"] in kept and e["dataset"] == KEYS[0]]
    write_report({**made.content(), "results": results}, tmp_path)
    seen = Seen((tmp_path / "report.html").read_text(encoding="utf8"))
    assert seen.headings[1:] == [title for title in SECTIONS if title not in left_out]
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
        ({"file": "glove.6B.300d.txt", "dimensions": 300, "sha256": ""}, "like the paper"),
    ],
)
def test_the_word_vectors_are_named_beside_the_rows(made, tmp_path, vectors, expected):
    results = [e for e in made.results if e["experiment"] == "main"]
    write_report({**made.content(), "results": results, "word_vectors": vectors}, tmp_path)
    seen = Seen((tmp_path / "report.html").read_text(encoding="utf8"))
    assert sum(expected in words for words in seen.paragraphs) == 2  # main results, how it was made


def test_without_matplotlib_the_error_says_what_to_install(made, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(OptionError, match=r'pip install "sameas\[report\]"'):
        write_report(made.content(), tmp_path)
    assert not (tmp_path / "report.html").exists()


def test_bold_marks_the_best_as_shown_of_each_block():
    rows = {"a": {"x": 0.9001, "y": None}, "b": {"x": 0.8999, "y": 0.5}, "c": {"x": 0.1, "y": 0.2}}
    costs = {"d": {"x": 3.0, "y": 1.0}, "e": {"x": 2.0, "y": 2.0}}
    table = grid("", {"x": "X", "y": "Y"}, [Block(rows), Block(costs, seconds, min)])
    bold = {
        (row[0].text, name)
        for group in table.groups
        for row in group
        for name, cell in zip(table.header, row, strict=True)
        if cell.bold
    }
    assert bold == {("a", "X"), ("b", "X"), ("b", "Y"), ("e", "X"), ("d", "Y")}


def test_names_with_marks_in_them_come_out_as_they_are():
    name = "a|b_c*d<e>&f\\g [h]"
    table = Table(name, ["", name], [[[Cell(name), Cell(name, bold=True)]]])
    document = Document(name, [name], [Section(name, name, [table])])
    seen = Seen(page(document))
    assert seen.tables == [[["", name], [name, name]]]
    assert seen.headings == [name, name]
    assert markdown_tables(markdown(document)) == seen.tables


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
