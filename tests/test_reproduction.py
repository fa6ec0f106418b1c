"""The reproduction on small data: what is run, what is skipped, what is kept."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import fields, replace
from typing import get_args

import numpy as np
import pytest
from click.testing import CliRunner

import sameas
from sameas.cli import main
from sameas.options import Part
from sameas.pipeline.refined import align_prepared, prepare
from sameas.refinement import Weights
from sameas.reproduction import experiments_best, plain, plan_tasks, reproduce
from sameas.reproduction.datasets import find_datasets
from sameas.reproduction.experiments import EXPERIMENTS
from sameas.reproduction.runs import options_for
from sameas.reproduction.store import Store, Task
from strategies import paper

FAST = ("datasets", "main", "solvers", "iterations", "depth", "adjacency", "paris", "open")


BEST = options_for(preset="best")
WHOLE = replace(BEST, among=None)


@pytest.fixture(scope="module")
def demo():
    return find_datasets(sameas.DEMO)[0]


@pytest.fixture(scope="module")
def material(demo):
    return prepare(demo.pair, WHOLE)


@pytest.fixture(scope="module")
def alignments(demo):
    """In the paper and in the open protocol."""
    return {options: sameas.align(demo.pair, options) for options in (BEST, WHOLE)}


@pytest.fixture
def shared(monkeypatch, material):
    """Experiments find the material made already."""
    monkeypatch.setattr(experiments_best, "_material", lambda dataset, options: material)


@pytest.fixture
def data(tmp_path):
    """A folder of datasets: the demo, at some depth."""
    folder = tmp_path / "data"
    shutil.copytree(sameas.DEMO, folder / "deep" / "world")
    (folder / "empty").mkdir()
    return folder


def without_time(results):
    """Figures without seconds."""
    return json.loads(
        json.dumps(results["results"]), object_hook=lambda d: {k: d[k] for k in d if "sec" not in k}
    )


def test_datasets_are_found_by_looking(data):
    found = find_datasets(data)
    assert [dataset.key for dataset in found] == ["deep/world"]
    assert found[0].published is None
    assert len(found[0].sha256) == 64


def test_a_folder_without_datasets_is_refused(tmp_path):
    with pytest.raises(sameas.InputError, match="holds no dataset with gold links"):
        find_datasets(tmp_path)
    with pytest.raises(sameas.InputError, match="no such folder"):
        find_datasets(tmp_path / "nowhere")


def test_everything_runs_and_a_second_run_finds_all_done(data, tmp_path, monkeypatch, alignments):
    variants = [v for v in experiments_best._variants(BEST) if v.name in ("names", "base")]
    monkeypatch.setattr(experiments_best, "_variants", lambda options: variants)
    for name, few in (("SEEDS", (1,)), ("ROUNDS", (1,)), ("PARTS", ("folding", "votes"))):
        monkeypatch.setattr(experiments_best, name, few)
    report = tmp_path / "report"
    first = reproduce(data, report)
    assert {entry["experiment"] for entry in first["results"]} == set(EXPERIMENTS)
    told = []
    second = reproduce(data, report, progress=lambda done, total, what: told.append((total, what)))
    assert told == [(0, "report")]
    assert second["results"] == first["results"]
    for name in ("report.md", "report.html", "results.json"):
        assert (report / name).stat().st_size > 1000
    assert list(report.glob("*.png"))
    assert list(report.glob("*.svg"))
    (best,) = (e["figures"] for e in first["results"] if e["experiment"] == "best")
    metrics = sameas.evaluate(alignments[BEST], alignments[BEST].pair.gold)
    assert (best["hits@1"], best["mrr"]) == (metrics.hits_at_1, pytest.approx(metrics.mrr))
    assert best["peak_memory_bytes"] > 2**26


def test_figures_are_those_of_the_package(data, tmp_path):
    results = reproduce(data, tmp_path / "report", only=FAST)
    figures = {
        (entry["experiment"], entry["settings"].get("features")): entry["figures"]
        for entry in results["results"]
        if "preset" not in entry["settings"]
    }
    pair = sameas.read_pair(sameas.DEMO)
    scores = sameas.evaluate(sameas.align(pair, paper(among="gold")), pair.gold)
    assert figures["main", "char"]["hits@1"] == scores.hits_at_1
    assert figures["main", "char"]["mrr"] == pytest.approx(scores.mrr)
    used = "hybrid" if ("main", "hybrid") in figures else "char"  # without word vectors
    main_row = figures["main", used]
    two = next(row for row in figures["depth", used]["curve"] if row["depth"] == 2)
    ten = next(row for row in figures["iterations", used]["curve"] if row["iterations"] == 10)
    for row in (two, ten, figures["adjacency", used]["relational"]):
        assert row["hits@1"] == pytest.approx(main_row["hits@1"], abs=0.002)
        assert row["mrr"] == pytest.approx(main_row["mrr"], abs=0.002)
    adjacency = figures["adjacency", used]
    assert adjacency["plain"] == pytest.approx(adjacency["random-walk"], abs=0.002)
    solvers = figures["solvers", used]
    assert solvers["hungarian"]["objective"] >= solvers["sinkhorn"]["objective"]
    assert figures["paris", used]["paris"]["precision"] > 0.9
    assert figures["open", used]["precision"] > 0.8


def test_shared_material_gives_what_a_whole_run_gives(demo, material, alignments):
    for options, expected in alignments.items():
        found = align_prepared(demo.pair, material, options)
        assert found.links.equals(expected.links)
        assert found.ranked.equals(expected.ranked)


def test_what_only_refinement_uses_changes_no_material(demo, material):
    less = prepare(demo.pair, replace(BEST, without=experiments_best.IN_REFINEMENT))
    for name in ("left", "right", "values"):
        one, other = (getattr(each.candidates, name) for each in (material, less))
        np.testing.assert_array_equal(one, other)


def test_material_is_made_once_for_each_dataset(demo, monkeypatch):
    made = []
    monkeypatch.setattr(experiments_best, "prepare", lambda pair, options: made.append(options))
    experiments_best._material.cache_clear()
    for _ in range(3):
        experiments_best._material(demo, WHOLE)
    assert made == [WHOLE]
    experiments_best._material.cache_clear()


def test_the_open_protocol_is_that_of_the_preset(demo, alignments, shared):
    figures = experiments_best.open_protocol(demo, BEST)
    metrics = sameas.evaluate(alignments[WHOLE], demo.pair.gold)
    assert (figures["precision"], figures["recall"]) == (metrics.precision, metrics.recall)
    assert figures["links"] == len(alignments[WHOLE].links)
    assert figures["calibration_error"] == pytest.approx(metrics.calibration_error)
    made = [each for each in figures["bins"] if each["low"] >= 0.5]
    assert sum(each["count"] for each in made) == metrics.links_judged


def test_hidden_halves_are_judged_with_those_who_lost_their_partners(demo, monkeypatch):
    found = []

    def aligned(pair, options):
        found.append(sameas.align(pair, options))
        return found[-1]

    monkeypatch.setattr(experiments_best, "SEEDS", (5, 6))
    monkeypatch.setattr(experiments_best, "align", aligned)
    figures = experiments_best.hidden_half(demo, BEST)
    assert [half["seed"] for half in figures["halves"]] == [5, 6]
    counts = []
    for seed, half, alignment in zip((5, 6), figures["halves"], found, strict=True):
        pair, alone = sameas.hide_half(demo.pair, seed=seed)
        assert alignment.options.among is None
        links = alignment.links.filter(alignment.links["confidence"] >= 0.5)
        metrics = sameas.evaluate(links, pair.gold, no_match=alone)
        for name in ("precision", "recall", "f1", "unmatched_recall", "calibration_error"):
            assert half[name] == getattr(metrics, name)
        every = sameas.calibration(alignment, pair.gold, alone)
        counts.append({each.low: each.count for each in every.bins})
    assert figures["halves"][0]["precision"] != figures["halves"][1]["precision"]
    pooled = {each["low"]: each["count"] for each in figures["bins"]}
    assert pooled == {k: counts[0].get(k, 0) + counts[1].get(k, 0) for k in pooled}


def test_the_ablation_leaves_out_every_part(demo, monkeypatch):
    asked = []
    monkeypatch.setattr(experiments_best, "_material", lambda dataset, options: "usual")
    monkeypatch.setattr(experiments_best, "prepare", lambda pair, options: options.without)
    monkeypatch.setattr(
        experiments_best, "_both", lambda pair, material, options: asked.append((material, options))
    )
    figures = experiments_best.ablation(demo, BEST)
    assert list(figures) == [
        "best",
        *(f"without {part}" for part in get_args(Part)),
        *("rounds 2", "rounds 1", "rounds 0"),
    ]
    assert asked[0] == ("usual", BEST)
    for part, (material, options) in zip(get_args(Part), asked[1:], strict=False):
        assert options == replace(BEST, without=(part,))
        assert material in ("usual", (part,))
    assert asked[-1] == (None, replace(BEST, rounds=0))


def test_every_setting_is_halved_and_doubled_and_nothing_else_changes(demo):
    variants = list(experiments_best._variants(BEST))
    names = [*(field.name for field in fields(Weights)), *experiments_best.OF_OPTIONS]
    assert [(v.name, v.size) for v in variants] == [
        (name, size) for name in names for size in ("half", "double")
    ]
    for variant in variants:
        of_weights = hasattr(Weights(), variant.name)
        changed = variant.weights if of_weights else variant.options
        usual = Weights() if of_weights else BEST
        assert getattr(usual, variant.name) == variant.usual != variant.value
        assert replace(changed, **{variant.name: variant.usual}) == usual
        if variant.name == "base":
            assert abs(variant.value - variant.usual) == pytest.approx(np.log(2))
        else:
            assert variant.value / variant.usual == {"half": 0.5, "double": 2}[variant.size]


def test_sensitivity_figures_are_those_of_the_changed_setting(
    demo, alignments, shared, monkeypatch
):
    few = [v for v in experiments_best._variants(BEST) if v.name in ("base", "rounds")]
    monkeypatch.setattr(experiments_best, "_variants", lambda options: few)
    figures = experiments_best.sensitivity(demo, BEST)
    assert list(figures["settings"]) == ["base", "rounds"]
    halved = sameas.align(demo.pair, replace(BEST, rounds=2))
    expected = sameas.evaluate(halved, demo.pair.gold).hits_at_1
    assert figures["settings"]["rounds"]["half"] == {"value": 2, "hits@1": expected}
    assert set(figures["settings"]["base"]["half"]) == {"value", "hits@1", "f1"}
    closed, whole = (sameas.evaluate(found, demo.pair.gold) for found in alignments.values())
    assert figures["usual"] == {"hits@1": closed.hits_at_1, "f1": whole.f1}


def test_best_is_planned_without_word_vectors_and_dataset_by_dataset(data):
    shutil.copytree(data / "deep" / "world", data / "other")
    vectors = {"file": "v", "dimensions": 9, "sha256": "s"}
    tasks = plan_tasks(find_datasets(data), vectors)
    best = [task for task in tasks if task.settings.get("preset") == "best"]
    assert {task.settings["features"] for task in best} == {"char"}
    order = [task.dataset for task in best]
    assert order == sorted(order)
    experiments = {"best", "open", "hidden", "ablation", "sensitivity"}
    assert {(task.experiment, task.dataset) for task in best} == {
        (name, dataset) for name in experiments for dataset in ("deep/world", "other")
    }
    assert len({task.key for task in tasks}) == len(tasks)


def test_changed_data_is_run_again_and_other_results_stay(data, tmp_path):
    report = tmp_path / "report"
    shutil.copytree(data / "deep" / "world", data / "other")
    reproduce(data, report, only=["datasets"])
    links = (data / "other" / "ent_links").read_text(encoding="utf8").splitlines()
    (data / "other" / "ent_links").write_text("\n".join(links[:-9]) + "\n", encoding="utf8")
    told = []
    after = reproduce(
        data, report, only=["datasets"], progress=lambda done, total, what: told.append(what)
    )
    assert told == ["datasets other", "report"]
    counts = {entry["dataset"]: entry["figures"]["links"] for entry in after["results"]}
    assert counts == {"deep/world": len(links), "other": len(links) - 9}


def test_only_takes_experiments_and_datasets(data, tmp_path):
    results = reproduce(data, tmp_path / "report", only=["datasets"])
    assert [entry["experiment"] for entry in results["results"]] == ["datasets"]
    with pytest.raises(sameas.OptionError, match=r"only must name one of .* got 'nothing' instead"):
        reproduce(data, tmp_path / "report", only=["nothing"])


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace('"links": 920', '"links": 921'),
        lambda text: text.replace('"format": 1', '"format": 7'),
        lambda text: "[]",
        lambda text: "",
    ],
)
def test_a_damaged_results_file_is_an_error_never_a_wrong_table(data, tmp_path, damage):
    report = tmp_path / "report"
    reproduce(data, report, only=["datasets"])
    file = report / "results.json"
    text = damage(file.read_text(encoding="utf8"))
    file.write_text(text, encoding="utf8")
    outcome = CliRunner().invoke(
        main, ["reproduce", str(data), "--report", str(report), "--only", "datasets"]
    )
    assert outcome.exit_code == 2
    assert "results.json" in outcome.stderr
    assert "remove it to start afresh" in outcome.stderr
    assert file.read_text(encoding="utf8") == text


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_killed_half_way_it_goes_on_where_it_stopped(data, tmp_path):
    report = tmp_path / "report"
    code = "from sameas.cli import main; main()"
    arguments = [sys.executable, "-c", code, "reproduce", str(data), "--report", str(report)]
    arguments += [part for name in FAST for part in ("--only", name)]
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    file = report / "results.json"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        if file.exists() and len(json.loads(file.read_text(encoding="utf8"))["results"]) >= 3:
            break
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    kept = json.loads(file.read_text(encoding="utf8"))["results"]
    assert 3 <= len(kept) < 10
    told = []
    results = reproduce(
        data, report, only=FAST, progress=lambda done, total, what: told.append((total, what))
    )
    assert told[0][0] + len(kept) == len(results["results"])
    assert results["results"][: len(kept)] == kept
    whole = reproduce(data, tmp_path / "whole", only=FAST)
    assert without_time(results) == without_time(whole)


def test_a_task_is_known_by_all_it_depends_on(tmp_path):
    store = Store(tmp_path / "results.json")
    task = Task("main", "d", {"features": "char"}, ("hash",))
    store.put(task, {"hits@1": 0.5}, 1.0, {})
    again = Store(tmp_path / "results.json")
    assert again.get(task)["figures"] == {"hits@1": 0.5}
    assert again.get(Task("main", "d", {"features": "char"}, ("other",))) is None
    assert again.get(Task("main", "d", {"features": "word"}, ("hash",))) is None


def test_the_plain_procedure_agrees_on_the_demo():
    pair = sameas.read_pair(sameas.DEMO)
    ours = sameas.evaluate(sameas.align(pair, paper(among="gold")), pair.gold)
    theirs = plain.measure(str(sameas.DEMO))
    np.testing.assert_allclose(ours.hits_at_1, theirs["hits@1"], atol=0.005)
    np.testing.assert_allclose(ours.mrr, theirs["mrr"], atol=0.005)


def test_results_of_other_data_in_the_same_report_are_kept(data, tmp_path):
    report = tmp_path / "report"
    reproduce(data, report, only=["datasets"])
    other = tmp_path / "other"
    shutil.copytree(data / "deep" / "world", other / "another")
    shown = reproduce(other, report, only=["datasets"])
    assert [entry["dataset"] for entry in shown["results"]] == ["another"]
    told = []
    again = reproduce(
        data, report, only=["datasets"], progress=lambda done, total, what: told.append(what)
    )
    assert told == ["report"]
    assert [entry["dataset"] for entry in again["results"]] == ["deep/world"]


def test_an_experiment_and_a_dataset_together_narrow_the_choice(data, tmp_path):
    shutil.copytree(data / "deep" / "world", data / "other")
    shown = reproduce(data, tmp_path / "report", only=["datasets", "other"])
    assert [(e["experiment"], e["dataset"]) for e in shown["results"]] == [("datasets", "other")]


def test_every_figure_says_what_it_came_from(data, tmp_path):
    reproduce(data, tmp_path / "report", only=["main"])
    kept = json.loads((tmp_path / "report" / "results.json").read_text(encoding="utf8"))["results"]
    for entry in kept:
        assert entry["options"]["temperature"] == 0.02
        assert entry["machine"]["cores"] >= 1
        assert (entry["word_vectors"] is None) == (entry["settings"]["features"] == "char")


@pytest.mark.parametrize("place", ["file", "file/report"])
def test_a_report_that_cannot_be_made_is_the_users_error(data, tmp_path, place):
    (tmp_path / "file").write_text("precious")
    outcome = CliRunner().invoke(main, ["reproduce", str(data), "--report", str(tmp_path / place)])
    assert outcome.exit_code == 2
    assert "cannot be made a folder" in outcome.stderr
