"""The reproduction on small data: what is run, what is skipped, what is kept."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner

import sameas
from sameas.cli import main
from sameas.reproduction import plain, reproduce
from sameas.reproduction.datasets import find_datasets
from sameas.reproduction.experiments import EXPERIMENTS
from sameas.reproduction.store import Store, Task
from strategies import paper

FAST = ("datasets", "main", "solvers", "iterations", "depth", "adjacency", "paris", "open")


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


def test_everything_runs_and_a_second_run_finds_all_done(data, tmp_path):
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


def test_figures_are_those_of_the_package(data, tmp_path):
    results = reproduce(data, tmp_path / "report", only=FAST)
    figures = {
        (entry["experiment"], entry["settings"].get("features")): entry["figures"]
        for entry in results["results"]
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
    assert figures["open", used]["best"]["precision"] > 0.8


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
