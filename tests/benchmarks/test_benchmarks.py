"""The benchmarks run, on pairs of a few hundred entities, and their results can be shown."""

import doctest
import importlib
import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import sameas
from experiments.store import machine
from folders import dbp15k

FOLDER = Path(__file__).parents[2] / "benchmarks"
NAMES = (
    *("startup", "speed", "solver", "ladder", "memory", "resume", "reading", "reconciling"),
    *("places", "cluster", "silent_clients", "next_week", "many"),
)
MODULES = (*NAMES, "processes", "generate", "tables")
SIZES = {"300": 300, "600": 600}


@pytest.fixture(scope="module")
def scripts():
    """The scripts as modules."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS"):
            patch.setenv(name, "1")  # many short processes
        modules = {name: importlib.import_module(f"benchmarks.{name}") for name in MODULES}
        yield SimpleNamespace(**modules)


@pytest.fixture(scope="module")
def ladder(scripts, tmp_path_factory):
    """A ladder of two tiny sizes: its folder, and its results in results/ladder.json."""
    folder = tmp_path_factory.mktemp("ladder")
    settings = {"noise": 0.02, "overlap": 0.8, "seed": 0}
    pair = scripts.generate.generate(600, **settings)
    scripts.generate.write_pair(pair, folder / "600")
    scripts.tables.save(folder / "600.json", settings)  # this one is there already
    climb(scripts, folder, sizes=["300"])
    with pytest.MonkeyPatch.context() as patch:  # one size in earnest: processes take long
        measured = record_of(folder / "results" / "ladder.json")["sizes"]["300"]
        del measured["size"]
        patch.setattr(scripts.ladder, "aligned", lambda pair, settings: measured)
        climb(scripts, folder)
    return folder


def climb(scripts, folder, *more, sizes=tuple(SIZES)):
    results = folder / "results" / "ladder.json"
    fixed = ["--folder", str(folder), "--memory", "2G", "--fit-from", "300"]
    scripts.ladder.main(["--sizes", *sizes, *fixed, "--results", str(results), *more])


def record_of(file):
    return json.loads(file.read_text(encoding="utf8"))


def test_every_script_has_help_with_an_example(scripts, capsys):
    for name in NAMES:
        with pytest.raises(SystemExit) as stopped:
            getattr(scripts, name).main(["--help"])
        assert stopped.value.code == 0
        assert f"example: python -m benchmarks.{name}" in " ".join(capsys.readouterr().out.split())


def test_the_readme_tells_about_every_script():
    text = (FOLDER / "README.md").read_text(encoding="utf8")
    for name in NAMES:
        assert f"python -m benchmarks.{name}" in text


def test_examples_in_docstrings_hold(scripts):
    for module in (scripts.tables, scripts.ladder, scripts.generate, scripts.resume):
        found = doctest.testmod(module)
        assert found.attempted
        assert not found.failed


def test_the_ladder_records_every_size(ladder):
    record = record_of(ladder / "results" / "ladder.json")
    assert {name: run["size"] for name, run in record["sizes"].items()} == SIZES
    for run in record["sizes"].values():
        assert run["form"] == "candidates"
        assert run["candidate_recall"] > 0.9
        assert run["hits@1"] > 0.8
        assert {"reading", "features", "assignment", "writing", "rest"} <= set(run["seconds"])
        assert sum(run["seconds"].values()) == pytest.approx(run["total_seconds"], abs=0.01)
        assert run["peak_memory_bytes"] > 50 * 2**20
    assert set(record["exponents"]) > {"total", "memory", "reading"}
    assert record["machine"]["packages"]["numpy"]
    picture = (ladder / "results" / "ladder.svg").read_text(encoding="utf8")
    for text in ("total (size^", "memory (size^", "entities a side", "300", "600"):
        assert text in picture


def test_a_ladder_goes_on_with_what_is_missing(scripts, ladder, tmp_path, monkeypatch, capsys):
    shutil.copytree(ladder / "results", tmp_path / "results")
    file = tmp_path / "results" / "ladder.json"
    record = record_of(file)
    del record["sizes"]["300"]
    scripts.tables.save(file, record)
    asked = []

    def generated(folder, size, settings):
        asked.append(size)

    monkeypatch.setattr(scripts.ladder, "generated", generated)
    known = {**record["sizes"]["600"]}
    del known["size"]
    monkeypatch.setattr(scripts.ladder, "aligned", lambda pair, settings: known)
    climb(scripts, tmp_path)
    assert asked == [300]
    assert list(record_of(file)["sizes"]) == ["300", "600"]
    climb(scripts, tmp_path, "--again")
    assert asked == [300, 300, 600]
    with pytest.raises(SystemExit, match="of other settings"):
        climb(scripts, tmp_path, "--noise", "0.5")
    (tmp_path / "results" / "ladder.svg").unlink()
    climb(scripts, tmp_path, "--plot-only")
    assert (tmp_path / "results" / "ladder.svg").exists()


def test_a_pair_of_other_settings_is_not_taken(scripts, ladder):
    settings = {"noise": 0.3, "overlap": 0.8, "seed": 0, "hard": False}
    with pytest.raises(SystemExit, match="give another --folder"):
        scripts.ladder.generated(ladder, 300, settings)


def test_hard_pairs_are_kept_apart(scripts, ladder, tmp_path, monkeypatch):
    known = record_of(ladder / "results" / "ladder.json")["sizes"]["300"]
    monkeypatch.setattr(scripts.ladder, "aligned", lambda pair, settings: known)
    file = tmp_path / "ladder_hard.json"
    words = ["--hard", "--sizes", "300", "--folder", str(tmp_path), "--memory", "2G"]
    scripts.ladder.main([*words, "--results", str(file)])
    record = record_of(file)
    assert record["settings"]["overlap"] == 0.6
    assert (tmp_path / "hard_300" / "ent_links").read_text(encoding="utf8").count("\n") == 180
    assert "hard pairs" in scripts.tables.report("ladder", record)


def test_places_at_the_same_coordinates_are_gold(scripts, tmp_path, monkeypatch):
    common = {"latitude": [1.0, 2.0, 3.0, 3.0], "longitude": [5.0, 6.0, 7.0, 7.0]}
    common["country"] = ["FR", "FR", "DE", "DE"]
    names = ["Orleans", "Metz", "Ulm", "Neu-Ulm"]
    region = ["Centre", "", "Bavaria", "Bavaria"]
    before = pl.DataFrame({"name": names, "region": region, "district": ["Loiret", "", "", ""]})
    today = {"name": ["Orléans", "Nancy", "Ulm", "Ulm"], "region": ["24", "44", "02", "02"]}
    zone = {"zone": ["Europe/Paris"] * 2 + ["Europe/Berlin"] * 2}
    moved = {**common, "latitude": [1.0, 2.5, 3.0, 4.0]}
    left, right = before.with_columns(**as_columns(common)), pl.DataFrame(today | zone | moved)
    monkeypatch.setattr(scripts.places, "places_of_2015", lambda: left)
    monkeypatch.setattr(scripts.places, "places_of_today", lambda: right)
    scripts.places.main(["--folder", str(tmp_path), "--make-only"])
    pair = sameas.read_pair(tmp_path / "places")
    named = [
        graph.names.gather(graph.positions(pair.gold[side]))
        for side, graph in (("left", pair.left), ("right", pair.right))
    ]
    assert set(zip(*named, strict=True)) == {
        ("Orleans", "Orléans"),
        ("FR", "France"),
        ("DE", "Germany"),
    }
    assert {"Loiret", "Centre", "Bavaria"} <= set(pair.left.names)


def as_columns(columns):
    return {name: pl.Series(values) for name, values in columns.items()}


def test_all_solvers_find_the_same(scripts, ladder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sameas.similarity.matrix.BOUND_COLUMNS", 32)  # quicker for few entities
    file = tmp_path / "solver.json"
    scripts.solver.main([str(ladder / "300"), "--from-rows", "--results", str(file)])
    record = record_of(file)
    assert record["shape"] == [240, 240]
    solvers = record["solvers"]
    assert set(solvers) == {"sameas", "sameas, from rows", "scipy", "lapx"}
    for name, run in solvers.items():
        assert run["links"] == 240
        assert abs(run["difference"]) < 1e-6
        assert run.get("gap", 0) == 0
        assert ("rounds" in run) == name.startswith("sameas")
    assert record["certificate"]["gap"] == pytest.approx(0, abs=1e-6)
    assert "1/15 of SciPy's time" in capsys.readouterr().out


def test_lapx_solves_problems_that_are_not_square(scripts):
    import numpy as np

    costs = np.array([[1.0, 5.0], [0.5, 9.0], [7.0, 8.0]])
    rows, columns = scripts.solver.lapx(costs)
    assert costs[rows, columns].sum() == 5.5


def test_last_week_differs_from_today_by_what_was_asked_for(scripts, tmp_path):
    weeks, edges = scripts.next_week, [(f"{n}", "r", f"{7 * n % 100}") for n in range(100)]
    sides = ([(f"{side}:{h}", r, f"{side}:{t}") for h, r, t in edges] for side in ("fr", "en"))
    left, right = sides
    gold = [(f"fr:{n}", f"en:{n}") for n in range(100)]
    demo = dbp15k(tmp_path / "demo", left=left, right=right, gold=gold)
    today = weeks.read_week(demo)
    before, now = weeks.weeks_of(today, 0.1, np.random.default_rng(0))
    for number, side in enumerate(today.sides):
        old, new = ({*week.sides[number].entities["id"]} for week in (before, now))
        size = len(side.entities)
        assert len(new - old) == round(0.05 * size)
        assert len(old - new) == round(0.02 * size)
    weeks.write_week(before, demo, tmp_path / "before")
    pair = sameas.read_pair(tmp_path / "before")
    assert len(pair.left.entities) == len(before.sides[0].entities)
    assert 0 < len(pair.gold) < len(sameas.read_pair(demo).gold)


def test_four_graphs_are_made_of_three_pairs_that_share_english_entities(scripts, tmp_path):
    (tmp_path / "dbp15k").mkdir()
    for language, shared in (("zh", 3), ("ja", 2), ("fr", 1)):
        left = [(f"http://{language}/{n}", "http://r", f"http://{language}/0") for n in range(4)]
        right = [(f"http://en/{n}", "http://r", "http://en/0") for n in range(4)]
        gold = [(f"http://{language}/{n}", f"http://en/{n}") for n in range(shared)]
        names = {end: ["name", end[-1]] for head, _, tail in left + right for end in (head, tail)}
        folder = tmp_path / "dbp15k" / f"{language}_en"
        dbp15k(folder, left=left, right=right, gold=gold, names=names)
    case = scripts.many.dbpedia(tmp_path, tmp_path)
    assert len(sameas.read_graph(case.files["en"]).entities) == 4  # once, of all three
    counts = {pair: len(gold.links) for pair, gold in case.gold.items()}
    assert counts["zh", "ja"] == 2
    assert counts["zh", "en"] == 3
    gold = case.gold["zh", "ja"]
    assert gold.f1({("http://zh/0", "http://ja/0"), ("http://zh/9", "http://ja/9")}) == 2 / 3
    assert len(case.of(["zh", "ja", "fr"]).gold) == 3


@pytest.mark.slow
def test_memory_is_watched_and_links_are_compared(scripts, ladder, tmp_path, capsys):
    file = tmp_path / "memory.json"
    pair = str(ladder / "300")
    scripts.memory.main([pair, "--ceilings", "1G", "100M", "--results", str(file)])
    runs = record_of(file)["runs"]
    assert runs["1G"]["peak_memory_bytes"] > 50 * 2**20
    assert runs["1G"]["of_ceiling"] < 1
    assert runs["1G"]["same_links"]
    assert "the ceiling is" in runs["100M"]["reason"]
    assert "refused" in capsys.readouterr().out


def test_the_steps_of_a_run_tell_its_phase(scripts):
    steps = ""
    for step, phase in (
        ("", None),
        ("reading 0.0\n", "reading"),
        ("reading 1.0\n", None),
        ("neighbours 0.0\nfeat", "neighbours"),
        ("ures 0.0\n", "features"),
        ("features 0.45\n", "features"),
        ("features 1.0\n", "neighbours"),
    ):
        steps += step
        assert scripts.resume.phase_of(steps) == phase


@pytest.mark.slow
def test_a_killed_run_is_run_again(scripts, ladder, tmp_path, capsys):
    file = tmp_path / "resume.json"
    words = ["--phases", "reading", "--signals", "SIGKILL", "--options=--preset paper"]
    places = ["--folder", str(tmp_path / "runs"), "--results", str(file)]
    scripts.resume.main([str(ladder / "600"), *words, *places])
    (case,) = record_of(file)["cases"].values()
    assert case["exit_code"] == -9
    assert case["output"] == "none"
    assert case["left_over"] == case["resumed"] == []
    assert case["same_links"]
    assert case["same_tables"]


@pytest.mark.slow
def test_one_run_is_killed_in_all_its_phases(scripts, ladder, tmp_path):
    file = tmp_path / "resume.json"
    words = ["--one-run", "--signals", "SIGKILL", "--options=--preset paper"]
    places = ["--folder", str(tmp_path / "runs"), "--results", str(file)]
    scripts.resume.main([str(ladder / "600"), *words, *places])
    cases = record_of(file)["cases"]
    assert "reading SIGKILL" in cases
    assert all(case["same_tables"] and case["exit_code"] == -9 for case in cases.values())


@pytest.fixture
def yardstick(tmp_path):
    file = tmp_path / "yardstick.py"
    answer = {"total": 40.0, "seconds": {"load": 1.0, "solve": 30.0}, "hits@1": 0.87}
    file.write_text(f"print('''{json.dumps(answer)}''')")
    return file


def test_speed_is_told_in_parts_of_the_yardstick(scripts, yardstick, tmp_path, monkeypatch, capsys):
    seconds = {"best": 5.0, "paper": 4.0, "exact": 6.0, "all pairs": 9.0}
    taken = iter([30.0] * 4 + [value + more for more in (0, 2, 1) for value in seconds.values()])

    def align(pair, out, options, variables):
        assert Path(variables["NUMBA_CACHE_DIR"]).parent == out.parent
        return {
            "process_seconds": next(taken),
            "seconds": {"reading": 1.0, "assignment": 1.5},
            "peak_memory_bytes": 2**30,
            "form": "candidates",
            "optimality_gap": 0.0,
        }

    scores = dict.fromkeys(scripts.speed.SCORES, 0.871)
    for module in (scripts.speed, scripts.processes):
        monkeypatch.setattr(module, "align", align)
    monkeypatch.setattr(scripts.processes, "evaluate", lambda out, pair: scores)
    run = scripts.speed._yardstick  # there is no pair here for experiments/plain.py to read
    monkeypatch.setattr(
        scripts.speed, "_yardstick", lambda pair, file, *rest: run(pair, file or yardstick, *rest)
    )
    file = tmp_path / "speed.json"
    places = ["--yardstick", str(yardstick), "--results", str(file)]
    scripts.speed.main([str(tmp_path), *places, "--repeat", "3"])
    record = record_of(file)
    assert set(record["first_seconds"].values()) == {30}
    assert record["runs"]["yardstick"]["ratio"] == record["runs"]["yardstick, exact"]["ratio"] == 1
    assert record["runs"]["experiments/plain.py"]["ratio"] == 1
    assert record["yardstick"] == yardstick.name
    assert record["runs"]["paper"]["seconds"] == [4, 6, 5]
    assert record["runs"]["paper"]["ratio"] == 5 / 40
    assert record["runs"]["all pairs"]["median_seconds"] == 10
    assert record["solve_ratio"] == 1.5 / 30
    assert "1/8.0" in capsys.readouterr().out


def test_a_command_that_fails_ends_the_benchmark(scripts, tmp_path):
    with pytest.raises(SystemExit, match=r"ended with 2: sameas: .*nowhere"):
        scripts.processes.align(tmp_path / "nowhere", tmp_path / "run", "--preset paper")


def test_the_first_minute_is_timed(scripts, tmp_path, monkeypatch, capsys):
    commands = scripts.startup.commands(tmp_path)
    monkeypatch.setattr(
        scripts.startup, "commands", lambda folder: {key: ["--version"] for key in commands}
    )
    results = tmp_path / "startup.json"
    scripts.startup.main(["--repeat", "1", "--results", str(results)])
    record = record_of(results)
    assert list(record["runs"]) == ["first demo", "second demo", "version", "ten entities"]
    assert all(run["seconds"] > 0 for run in record["runs"].values())
    assert "first demo: at most 12 s" in capsys.readouterr().out
    assert len((tmp_path / "left.csv").read_text().splitlines()) == 11


def test_what_was_not_met_is_said(scripts):
    record = {"runs": {"1G": {"peak_memory_bytes": 2 * 2**30}}, "same_links": True}
    assert [check.met for check in scripts.memory.checks_of(record)] == [False, True]
    refused = {"runs": {"1G": {"reason": "too little"}}, "same_links": True}
    assert [check.met for check in scripts.memory.checks_of(refused)] == [False]


@pytest.mark.slow
def test_reading_is_timed_against_bare_parsing(scripts, tmp_path, capsys):
    results = tmp_path / "reading.json"
    scripts.reading.main(["--size", "2k", "--results", str(results)])
    record = record_of(results)
    assert set(record["runs"]) == {"pyoxigraph", "sameas"}
    assert record["size"] == 2000
    assert "of bare speed" in capsys.readouterr().out


def test_costs_on_a_cluster_are_counted(scripts, ladder):
    run = scripts.cluster.run_once(ladder / "300", {"engine": "threads"})
    assert run["stages"]["refinement.evidence._votes"]["parts"] > 0
    assert run["stages"]["similarity.matrix.products"]["shared"] > 10_000
    settings = [{"engine": "threads"}, {"engine": "dask", "workers": 2, "parts": 8}]
    runs = {scripts.cluster.label_of(each): run for each in settings}
    record = {"machine": machine(), "pair": "300", "runs": runs}
    text = scripts.tables.report("cluster", record)
    assert "2 workers, 8 parts: costs" in text
    assert all(check.met for check in scripts.cluster.checks_of(record))
