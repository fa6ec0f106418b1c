"""The reproduction on small data: what is run, what is skipped, what is kept."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import sameas
from experiments import experiments, plain, runs
from experiments.__main__ import main
from experiments.datasets import Dataset, find_datasets
from experiments.experiments import EXPERIMENTS
from experiments.real import links_of, scores_of_judged
from experiments.reproduce import plan_tasks, reproduce
from experiments.runs import make_setup
from experiments.store import key_of
from sameas.cli.main import main as sameas_command
from sameas.graph.matched import MatchedPair
from sameas.graph.semantics.understanding import understand
from sameas.options.options import Options
from sameas.options.tuning import TUNING

SETUP = make_setup("best")


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """A benchmark folder: 150 links of the demo, and what it says about their entities."""
    folder = tmp_path_factory.mktemp("small") / "world"
    folder.mkdir()
    links = (sameas.DEMO / "ent_links").read_text(encoding="utf8").splitlines()[::6][:150]
    (folder / "ent_links").write_text("\n".join(links) + "\n", encoding="utf8")
    for number in (1, 2):
        kept = {link.split("\t")[number - 1] for link in links}
        for name in ("rel_triples", "attr_triples"):
            lines = (sameas.DEMO / f"{name}_{number}").read_text(encoding="utf8").splitlines()
            text = "".join(f"{line}\n" for line in lines if line.split("\t")[0] in kept)
            (folder / f"{name}_{number}").write_text(text, encoding="utf8")
    return folder


@pytest.fixture
def data(small, tmp_path):
    """A folder of datasets: the small one, at some depth."""
    folder = tmp_path / "data"
    shutil.copytree(small, folder / "deep" / "world")
    (folder / "empty").mkdir()
    return folder


@pytest.fixture(scope="module")
def dataset(small):
    yield find_datasets(small)[0]
    runs.forget()


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Fewer variants than in earnest, and no plots."""
    monkeypatch.setattr(experiments, "SEEDS", (1, 2))
    monkeypatch.setitem(experiments.VARIED, "temperature", (0.01, 0.02))
    monkeypatch.setitem(experiments.VARIED, "iterations", (1, 10))
    monkeypatch.setitem(experiments.VARIED, "depth", (0, 2))
    # Plots take longer than all else; tests of the report draw them.
    monkeypatch.setattr("experiments.report.draw", lambda *_, **__: "<svg></svg>")


@pytest.fixture
def in_process(monkeypatch):
    """Commands of sameas run in this process: a new one takes seconds to start."""

    def printed(module, *words):
        if module != "sameas":
            return runs.printed_by(module, *words)
        result = CliRunner().invoke(sameas_command, words)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    monkeypatch.setattr(experiments, "printed_by", printed)


def scores_of(pair, setup):
    return sameas.evaluate(runs.run(pair, setup), pair.gold)


def test_datasets_are_found_by_looking(data):
    found = find_datasets(data)
    assert [dataset.key for dataset in found] == ["deep/world"]
    assert len(found[0].sha256) == 64


def test_a_folder_without_datasets_is_refused(tmp_path):
    with pytest.raises(sameas.InputError, match="holds no dataset with gold links"):
        find_datasets(tmp_path)
    with pytest.raises(sameas.InputError, match="no such folder"):
        find_datasets(tmp_path / "nowhere")


def test_everything_runs_and_a_second_run_finds_all_done(data, in_process, tmp_path, monkeypatch):
    monkeypatch.setattr(experiments, "PARTS", ("folding",))
    monkeypatch.setattr(experiments, "VARIED_OPTIONS", ())
    monkeypatch.setattr(experiments, "SEEDS", (1,))
    monkeypatch.setattr(experiments, "VARIED_NUMBERS", ("open.base",))
    report = tmp_path / "report"
    first = reproduce(data, report)
    expected = {e.name for e in EXPERIMENTS if not e.real}
    assert {entry["experiment"] for entry in first["results"]} == expected
    calls = []
    second = reproduce(data, report, progress=lambda done, total, task: calls.append((total, task)))
    assert calls == [(0, "report")]
    assert second["results"] == first["results"]
    for name in ("report.md", "report.html", "results.json"):
        assert (report / name).stat().st_size > 1000
    text = (report / "report.md").read_text(encoding="utf8")
    assert "Not run, and so left out: Real RDF." in text  # there are no RDF pairs
    figures = {(e["experiment"], *e["settings"].values()): e["figures"] for e in first["results"]}
    pair = sameas.read_pair(data / "deep" / "world")
    for key, setup in ((("main", "char"), make_setup()), (("best", "char", "best"), SETUP)):
        scores = scores_of(pair, setup).asdict()
        for metric in ("hits@1", "mrr"):
            assert figures[key][""][metric] == pytest.approx(scores[metric])
    assert figures["best", "char", "best"][""]["peak_memory_bytes"] > 2**26
    used = "hybrid" if ("main", "hybrid") in figures else "char"  # without word vectors
    curves = {name: figures[name, used] for name in ("depth", "iterations", "temperature")}
    usual = curves["depth"]["2"]
    assert usual == curves["iterations"]["10"] == curves["temperature"]["0.02"]
    assert usual == figures["adjacency", used]["relational"]
    for metric in ("hits@1", "mrr"):
        assert usual[metric] == pytest.approx(figures["main", used][""][metric], abs=0.01)
        kinds = (figures["adjacency", used][kind][metric] for kind in ("plain", "random-walk"))
        assert next(kinds) == pytest.approx(next(kinds), abs=0.01)
    solvers = figures["solvers", used]
    assert solvers["hungarian"]["objective"] >= solvers["sinkhorn"]["objective"]
    assert figures["ablation", "char", "best"]["best"]["f1"] == pytest.approx(
        figures["open", "char", "best"][""]["f1"]
    )


def test_shared_material_gives_what_a_whole_run_gives(dataset):
    for setup in (SETUP, SETUP.whole):
        expected = runs.run(dataset.pair, setup)
        found = runs.aligned(dataset.pair, setup)
        assert found.links.equals(expected.links)
        assert found.ranked.equals(expected.ranked)


def test_material_is_made_once_for_all_that_only_refinement_uses(dataset, monkeypatch):
    made = []
    monkeypatch.setattr(runs, "prepare", lambda task, *_: made.append(task.options))
    runs.forget()
    refined = [SETUP.changed(without=(part,)) for part in runs.IN_REFINEMENT]
    refined += [SETUP.changed(rounds=1), SETUP.changed(temperature=0.1), SETUP.whole]
    for setup in refined:
        runs.material(dataset.pair, setup)
    assert made == [Options()]
    for setup in (SETUP.changed(candidates=25), SETUP, SETUP.changed(without=("folding",))):
        runs.material(dataset.pair, setup)
    assert made[1:] == [Options(candidates=25), Options(without=("folding",))]
    runs.forget()


def test_what_only_refinement_uses_changes_no_material(dataset):
    usual, less = (
        runs._prepared(dataset.pair, setup.options)[1]
        for setup in (SETUP, SETUP.changed(without=runs.IN_REFINEMENT))
    )
    for name in ("left", "right", "values"):
        np.testing.assert_array_equal(getattr(usual, name), getattr(less, name))


def test_the_open_protocol_is_that_of_the_preset(dataset):
    figures = experiments.open_protocol(dataset, SETUP)
    metrics = scores_of(dataset.pair, SETUP.whole)
    for name in ("precision", "recall", "links", "calibration_error"):
        assert figures[""][name] == pytest.approx(getattr(metrics, name))
    counts = [bin["count"] for middle, bin in figures.items() if middle > "0.5"]
    assert sum(counts) == metrics.links_judged


def test_hidden_halves_are_judged_with_those_that_lost_their_partners(dataset):
    figures = experiments.hidden_half(dataset, SETUP)
    counts = dict.fromkeys((name for name in figures if not name.startswith("half")), 0)
    for seed in experiments.SEEDS:
        pair, alone = sameas.hide_half(dataset.pair, seed=seed)
        every = runs.run(pair, SETUP.whole.changed(min_confidence=0.0))
        made = every.links.filter(pl.col("confidence") >= 0.5)
        metrics = sameas.evaluate(made, pair.gold, no_match=alone)
        for name in ("precision", "recall", "f1", "unmatched_recall", "calibration_error"):
            assert figures[f"half {seed}"][name] == getattr(metrics, name)
        for each in sameas.calibration(every, pair.gold, alone).bins:
            counts[f"{each.low + 0.05:.2f}"] += each.count
    assert {name: figures[name]["count"] for name in counts} == counts


def test_the_audit_of_hidden_halves_stands_beside_the_truth(dataset, monkeypatch):
    monkeypatch.setattr(experiments, "SEEDS", (1,))
    figures = experiments.audit(dataset, SETUP)
    half = figures["half 1"]
    pair, alone = sameas.hide_half(dataset.pair, seed=1)
    found = runs.run(pair, SETUP.whole)
    assert half["estimate"] == found.audit.precision
    assert half["precision"] == sameas.evaluate(found, pair.gold, no_match=alone).precision
    assert half["links 0.01"] <= half["links 0.05"] <= len(found.links)
    judged = sum(row.get("count", 0) for row in figures.values())
    assert 0 < judged <= len(found.links)


def test_the_ablation_leaves_out_every_part(dataset, monkeypatch):
    asked = []
    monkeypatch.setattr(experiments, "_both", lambda dataset, setup: asked.append(setup))
    figures = experiments.ablation(dataset, SETUP)
    parts = experiments.PARTS
    assert list(figures) == [
        *("best", *(f"without {part}" for part in parts), "rounds 2", "rounds 1", "rounds 0")
    ]
    assert asked[0] == SETUP
    assert asked[1 : len(parts) + 1] == [SETUP.changed(without=(part,)) for part in parts]
    assert asked[-1] == SETUP.changed(rounds=0)


def test_every_setting_is_halved_and_doubled_and_nothing_else_changes(dataset, monkeypatch):
    asked = []

    def judge(pair, setup, tuning=TUNING):
        asked.append((setup, tuning))
        return scores

    scores = scores_of(dataset.pair, SETUP)
    monkeypatch.setattr(experiments, "judge", judge)
    figures = experiments.sensitivity(dataset, SETUP)
    paths = (*experiments.VARIED_NUMBERS, *experiments.VARIED_OPTIONS)
    names = [path.rpartition(".")[2] for path in paths]
    for name in names:
        assert {name, f"{name}, half", f"{name}, double"} <= set(figures)
        usual, half, double = figures[name].values()
        if name == "base":
            assert (usual - half, double - usual) == pytest.approx((np.log(2), np.log(2)))
            assert set(figures["base, half"]) == {"hits@1", "f1"}
        else:
            assert (half, double) == (usual / 2, 2 * usual)
            assert set(figures[f"{name}, half"]) == {"hits@1"}
    usual = SETUP.options
    changed = [
        {
            *tuning.differences(),
            *(x for x in asdict(usual) if getattr(setup.options, x) != getattr(usual, x)),
        }
        for setup, tuning in asked[2:]
    ]
    assert sum(map(len, changed)) == len(asked) - 2 == 2 * len(names) + 2
    assert set.union(*changed) == set(paths)


def test_tasks_are_planned_dataset_by_dataset_and_best_without_word_vectors(data):
    shutil.copytree(data / "deep" / "world", data / "other")
    vectors = {"file": "v", "dimensions": 9, "sha256": "s"}
    entries = [task.entry for task in plan_tasks(find_datasets(data), vectors)]
    datasets = [entry["dataset"] for entry in entries]
    assert datasets == sorted(datasets)
    best = [entry for entry in entries if entry["settings"].get("preset") == "best"]
    assert {entry["settings"]["features"] for entry in best} == {"char"}
    names = {"best", "open", "hidden", "audit", "ablation", "sensitivity", "raw"}
    assert {(entry["experiment"], entry["dataset"]) for entry in best} == {
        (name, dataset) for name in names for dataset in ("deep/world", "other")
    }
    assert len({key_of(entry) for entry in entries}) == len(entries)
    assert sum(entry["experiment"] == "main" for entry in entries) == 6


def test_changed_data_is_run_again_and_other_results_stay(data, tmp_path):
    report, place = tmp_path / "report", data / "other" / "ent_links"
    shutil.copytree(data / "deep" / "world", data / "other")
    reproduce(data, report, only=["datasets"])
    links = place.read_text(encoding="utf8").splitlines()
    place.write_text("\n".join(links[:-9]) + "\n", encoding="utf8")
    calls = []
    after = reproduce(
        data, report, only=["datasets"], progress=lambda done, total, task: calls.append(task)
    )
    assert calls == ["datasets other", "report"]
    counts = {entry["dataset"]: entry["figures"][""]["links"] for entry in after["results"]}
    assert counts == {"deep/world": len(links), "other": len(links) - 9}


def test_only_takes_experiments_and_datasets(data, tmp_path):
    shutil.copytree(data / "deep" / "world", data / "other")
    shown = reproduce(data, tmp_path / "report", only=["datasets", "other"])
    assert [(e["experiment"], e["dataset"]) for e in shown["results"]] == [("datasets", "other")]
    with pytest.raises(sameas.OptionError, match=r"must name one of .* got 'nothing' instead"):
        reproduce(data, tmp_path / "report", only=["nothing"])


def test_what_is_shown_beside_an_experiment_is_run_with_it(data, tmp_path):
    results = reproduce(data, tmp_path / "report", only=["paris"])["results"]
    assert {entry["experiment"] for entry in results} == {"main", "paris"}


@pytest.fixture(scope="module")
def counted(small, tmp_path_factory):
    """The text of results.json after one experiment."""
    report = tmp_path_factory.mktemp("counted")
    reproduce(small, report, only=["datasets"])
    return (report / "results.json").read_text(encoding="utf8")


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace('"links": 150', '"links": 151'),
        lambda text: text.replace('"format": 2', '"format": 7'),
        lambda text: "[]",
        lambda text: "",
    ],
)
def test_a_damaged_results_file_is_an_error_never_a_wrong_table(counted, small, tmp_path, damage):
    text = damage(counted)
    assert text != counted
    (tmp_path / "results.json").write_text(text, encoding="utf8")
    words = [str(small), "--report", str(tmp_path), "--only", "datasets"]
    outcome = CliRunner().invoke(main, words)
    assert outcome.exit_code == 2
    assert "results.json" in outcome.stderr
    assert "remove it to start afresh" in outcome.stderr
    assert (tmp_path / "results.json").read_text(encoding="utf8") == text


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_killed_half_way_it_goes_on_where_it_stopped(data, tmp_path):
    report, only = tmp_path / "report", ["datasets", "main", "adjacency"]
    words = [str(data), "--report", str(report), "--only", ",".join(only)]
    process = subprocess.Popen(
        [sys.executable, "-m", "experiments", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    file = report / "results.json"
    while process.poll() is None:
        if file.exists() and len(json.loads(file.read_text(encoding="utf8"))["results"]) >= 2:
            os.kill(process.pid, signal.SIGKILL)
            break
        time.sleep(0.002)
    process.wait()
    kept = json.loads(file.read_text(encoding="utf8"))["results"]
    calls = []
    results = reproduce(
        data, report, only=only, progress=lambda done, total, task: calls.append(total)
    )
    assert sum(calls[:1]) + len(kept) == len(results["results"])
    assert results["results"][: len(kept)] == kept
    assert len(kept) >= 2


def test_a_task_is_known_by_all_it_depends_on(data, monkeypatch):
    vectors = {"file": "v", "dimensions": 9, "sha256": "s"}

    def planned(vectors=vectors):
        found = find_datasets(data)
        return {
            key_of(task.entry): task.entry["fingerprint"] for task in plan_tasks(found, vectors)
        }

    first = planned()
    assert planned() == first
    other = planned({**vectors, "sha256": "other"})
    changed = {key for key in first if other[key] != first[key]}
    assert changed == {key for key in first if "word" in key or "hybrid" in key}
    (data / "deep" / "world" / "more").write_text("any file of the dataset")
    assert not set(planned().values()) & set(first.values())


def test_the_plain_procedure_agrees_on_the_demo():
    ours = scores_of(sameas.read_pair(sameas.DEMO), make_setup())
    theirs = plain.measure(str(sameas.DEMO))
    np.testing.assert_allclose(ours.hits_at_1, theirs["hits@1"], atol=0.005)
    np.testing.assert_allclose(ours.mrr, theirs["mrr"], atol=0.005)


def test_results_of_other_data_in_the_same_report_are_kept(data, tmp_path):
    report, other = tmp_path / "report", tmp_path / "other"
    reproduce(data, report, only=["datasets"])
    shutil.copytree(data / "deep" / "world", other / "another")
    shown = reproduce(other, report, only=["datasets"])
    assert [entry["dataset"] for entry in shown["results"]] == ["another"]
    calls = []
    again = reproduce(
        data, report, only=["datasets"], progress=lambda done, total, task: calls.append(task)
    )
    assert calls == ["report"]
    assert [entry["dataset"] for entry in again["results"]] == ["deep/world"]


def test_every_figure_has_its_origin(data, tmp_path):
    reproduce(data, tmp_path / "report", only=["main"])
    kept = json.loads((tmp_path / "report" / "results.json").read_text(encoding="utf8"))["results"]
    for entry in kept:
        assert entry["options"]["temperature"] == 0.02
        assert entry["machine"]["cores"] >= 1
        assert (entry["word_vectors"] is None) == (entry["settings"]["features"] == "char")


@pytest.mark.parametrize("place", ["file", "file/report"])
def test_a_report_that_cannot_be_made_is_the_users_error(data, tmp_path, place):
    (tmp_path / "file").write_text("precious")
    outcome = CliRunner().invoke(main, [str(data), "--report", str(tmp_path / place)])
    assert outcome.exit_code == 2
    assert "cannot be made a folder" in outcome.stderr


def test_the_papers_datasets_are_recognised_by_their_sizes_on_either_side():
    from types import SimpleNamespace

    from experiments.datasets import _recognise

    def graph(entities, triples):
        return SimpleNamespace(entities=range(entities), triples=range(triples))

    english, german = graph(15000, 38363), graph(15000, 37377)
    assert _recognise(SimpleNamespace(left=german, right=english)) == ("srprs/de_en", False)
    assert _recognise(SimpleNamespace(left=english, right=german)) == ("srprs/de_en", True)
    assert _recognise(SimpleNamespace(left=german, right=german)) == (None, False)
    assert isinstance(Dataset("key", sameas.DEMO).pair, MatchedPair)


CAPITALS = {"Paris": "France", "Rome": "Italy", "Berlin": "Germany", "Madrid": "Spain"}


def rdf_pair(folder, gold, judged=None):
    """A folder with the capitals twice as RDF, opaque IRIs, and the names in two spellings."""
    folder.mkdir(parents=True)
    for side, spell in (("left", str.upper), ("right", "  {} ".format)):
        lines, label = [], "<http://www.w3.org/2000/01/rdf-schema#label>"
        for number, names in enumerate(CAPITALS.items()):
            city, state = (f"<http://{side}/{kind}{number}>" for kind in "cs")
            lines.append(f"{city} <http://{side}/capital> {state} .")
            lines += [
                f'{iri} {label} "{spell(name)}" .'
                for iri, name in zip((city, state), names, strict=True)
            ]
        (folder / f"{side}.nt").write_text("\n".join(lines) + "\n", encoding="utf8")
    rows = "".join(f"http://left/{a}\thttp://right/{b}\n" for a, b in gold)
    (folder / "gold.tsv").write_text(f"left\tright\n{rows}", encoding="utf8")
    if judged:
        text = "".join(f"http://left/{name}\n" for name in judged)
        (folder / "judged.txt").write_text(text, encoding="utf8")


@pytest.fixture
def real(tmp_path):
    """Two RDF pairs and one that cannot be read."""
    folder = tmp_path / "data" / "real"
    rdf_pair(folder / "cities", [("c0", "c0"), ("c1", "c1")])
    rdf_pair(folder / "anatomy", [("c0", "c0"), ("c1", "c2")], judged=["c0", "c1", "c2"])
    shutil.copytree(folder / "cities", folder / "broken")
    (folder / "broken" / "left.nt").write_text("nonsense\n")
    return folder


def test_real_pairs_are_judged_by_their_judged_entities(real, tmp_path):
    report, calls = tmp_path / "report", []
    results = reproduce(real.parent, report)["results"]
    assert [entry["dataset"] for entry in results] == ["real/anatomy", "real/broken", "real/cities"]
    anatomy, broken, cities = (entry["figures"] for entry in results)
    assert cities[""]["links"] == 2
    for method in ("best", "PARIS", "equal labels"):
        assert cities[method] == {"f1": 1.0, "precision": 1.0, "recall": 1.0}
        # c0, c1 and c2 have links and two of these are not in gold.
        expected = {"f1": 0.4, "precision": 1 / 3, "recall": 1 / 2}
        assert anatomy[method] == pytest.approx(expected)
        assert broken[method]["error"].startswith("left.nt:1")
    reproduce(real, report, progress=lambda done, total, task: calls.append(task))
    assert calls == ["report"]  # the folder real alone names its pairs alike
    for name in ("report.md", "report.html"):
        text = (report / name).read_text(encoding="utf8")
        assert ".400 (.333 / .500)" in text
        assert "AML .94, Matcha .94, LogMap .88" in text
        assert text.count("left.nt:1") == 1
        assert str(tmp_path) not in text
    text = (report / "report.md").read_text(encoding="utf8")
    assert "| mean F1 | – | .700 | .700 | .700 | – |" in text


def test_a_pair_that_cannot_be_read_stands_beside_benchmarks(real, data, tmp_path):
    reproduce(data, tmp_path / "report", only=["real", "datasets"])
    text = (tmp_path / "report" / "report.md").read_text(encoding="utf8")
    assert "## Datasets" in text
    assert text.count("left.nt:1") == 1


def test_real_pairs_and_benchmarks_have_their_own_experiments(real, data):
    real_pairs, others = [], []
    for task in plan_tasks(find_datasets(data), None):
        (real_pairs if task.dataset.real else others).append(task.experiment.name)
    assert real_pairs == ["real"] * 3
    assert "real" not in others
    assert "runtime" in others


def test_several_links_of_a_left_entity_ask_for_that_cardinality(tmp_path, monkeypatch):
    asked = []

    def refuse(pair, **choices):
        asked.append(choices)
        raise sameas.SameasError("not run")

    monkeypatch.setattr("experiments.real.align", refuse)
    rdf_pair(tmp_path / "several", [("c0", "c0"), ("c0", "c1")])
    reproduce(tmp_path, tmp_path / "report")
    assert asked == [{"cardinality": "one-to-many"}, {"method": "paris"}]


def test_equal_labels_are_those_that_no_other_entity_has():
    def graph(side, names, further=()):
        entities = [f"{side}{number}" for number in range(len(names))]
        triples = [(entity, "is", entities[0]) for entity in entities]
        return sameas.Graph.from_triples(
            triples, entities=entities, names=names, alternatives=list(further)
        )

    left = graph("a", ["Big_Apple", "Rome", "rome", "Bern", "Oslo"], [("a4", "Big  apple ")])
    right = graph("b", ["Oslo", "Rome", "Wabern", "York"], [("b2", "BERN"), ("b0", "oslo")])
    pair = understand(sameas.GraphPair(left=left, right=right))
    assert sorted(links_of("equal labels", pair, None).rows()) == [("a3", "b2"), ("a4", "b0")]


def test_no_link_of_a_judged_entity_is_a_score_of_nothing(tmp_path):
    gold = pl.DataFrame({"left": ["a"], "right": ["b"]})
    nothing = {"f1": 0.0, "precision": 0.0, "recall": 0.0}
    assert scores_of_judged(gold.clear(), gold, tmp_path / "judged.txt") == nothing
    other = pl.DataFrame({"left": ["c"], "right": ["b"]})
    assert scores_of_judged(other, gold, tmp_path / "judged.txt") == nothing
