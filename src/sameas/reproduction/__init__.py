"""``sameas reproduce``: every table and figure of the paper, beside the published ones."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import sameas
from sameas.errors import OptionError, OutputError
from sameas.files import require_file
from sameas.options import Features, Preset
from sameas.reading.vectors import BUNDLE, dimension_of
from sameas.reproduction.datasets import Dataset, find_datasets
from sameas.reproduction.experiments import EXPERIMENTS
from sameas.reproduction.plots import require_matplotlib
from sameas.reproduction.report import write_report
from sameas.reproduction.runs import options_for
from sameas.reproduction.store import FORMAT, Store, Task, machine

Progress = Callable[[int, int, str], None]
"""Told how many tasks are done, of how many, and which is next."""

ONE_DATASET = "dbp15k/zh_en"
"""Where the paper measures temperature and iterations; the first dataset where it is missing."""


def reproduce(
    data: Path,
    report: Path,
    *,
    only: Sequence[str] = (),
    word_vectors: Path | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Run what is not yet in the report, write the report, and give all results.

    ``only`` names experiments or datasets to run; the others are shown if they were run before.
    """
    require_matplotlib()
    vectors = describe_vectors(word_vectors)
    datasets = find_datasets(data)
    tasks = plan_tasks(datasets, vectors)
    chosen = _chosen(tasks, only)
    try:
        report.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{report}: cannot be made a folder ({error.strerror})") from None
    store = Store(report / "results.json")
    missing = [task for task in chosen if store.get(task) is None]
    by_key = {dataset.key: dataset for dataset in datasets}
    for done, task in enumerate(missing):
        if progress:
            progress(done, len(missing), f"{task.experiment} {task.dataset}")
        begin = time.perf_counter()
        options = options_for(
            task.settings.get("features", "char"),
            word_vectors,
            preset=task.settings.get("preset", "paper"),
        )
        figures = EXPERIMENTS[task.experiment](by_key[task.dataset], options)
        origin = {
            "options": {**options.asdict(), "word_vectors": None},
            "word_vectors": None if options.features == "char" else vectors,
            "machine": machine(),
        }
        store.put(task, figures, time.perf_counter() - begin, origin)
    if progress:
        progress(len(missing), len(missing), "report")
    results = {
        "format": FORMAT,
        "sameas": sameas.__version__,
        "command": _command(only, word_vectors),
        "machine": machine(),
        "word_vectors": vectors,
        "results": [entry for task in tasks if (entry := store.get(task)) is not None],
    }
    write_report(results, report)
    return results


def plan_tasks(datasets: list[Dataset], vectors: dict[str, Any] | None) -> list[Task]:
    """Everything there is to do, in the order of the report."""
    every: list[Features] = ["char", "word", "hybrid"] if vectors else ["char"]
    best = every[-1]
    curves = next((d for d in datasets if d.key == ONE_DATASET), datasets[0])

    def task(
        experiment: str,
        dataset: Dataset,
        features: Features | None = None,
        preset: Preset = "paper",
    ) -> Task:
        inputs = [dataset.sha256]
        if features in ("word", "hybrid") and vectors:
            inputs.append(vectors["sha256"])
        settings: dict[str, str] = {"features": features} if features else {}
        if preset != "paper":
            settings["preset"] = preset
        return Task(experiment, dataset.key, settings, tuple(inputs))

    tasks = [task("datasets", dataset) for dataset in datasets]
    tasks += [task("main", dataset, kind) for dataset in datasets for kind in every]
    tasks += [task("solvers", dataset, best) for dataset in datasets]
    tasks.append(task("runtime", curves))
    tasks += [task(name, curves, best) for name in ("temperature", "iterations")]
    for name in ("depth", "adjacency", "paris", "open"):
        tasks += [task(name, dataset, best) for dataset in datasets]
    for dataset in datasets:  # one after the other: what a dataset's experiments share is kept
        tasks += [
            task(name, dataset, "char", "best")
            for name in ("best", "open", "ablation", "sensitivity", "hidden")
        ]
    return tasks


def describe_vectors(path: Path | None) -> dict[str, Any] | None:
    """Which word vectors are used: a file, the extra's, or None where there are none."""
    if path is not None:
        require_file(path)
        digest = hashlib.sha256()
        with path.open("rb") as file:
            while block := file.read(2**20):
                digest.update(block)
        return {
            "file": path.name,
            "dimensions": dimension_of(path),
            "sha256": digest.hexdigest(),
        }
    if importlib.util.find_spec(BUNDLE) is None:
        return None
    version = importlib.metadata.version(BUNDLE)
    return {"file": f"{BUNDLE} {version}", "dimensions": 50, "sha256": f"{BUNDLE} {version}"}


def _chosen(tasks: list[Task], only: Sequence[str]) -> list[Task]:
    """The tasks of the experiments and of the datasets named; of all where none is named."""
    experiments = {task.experiment for task in tasks}
    datasets = {task.dataset for task in tasks}
    for name in only:
        if name not in experiments | datasets:
            names = ", ".join(sorted(experiments | datasets))
            raise OptionError(f"only must name one of {names}, got {name!r} instead")
    wanted = (experiments & set(only) or experiments, datasets & set(only) or datasets)
    return [task for task in tasks if task.experiment in wanted[0] and task.dataset in wanted[1]]


def _command(only: Sequence[str], word_vectors: Path | None) -> str:
    """The command that makes this report, without the places of one machine."""
    parts = ["sameas reproduce DATA"]
    if word_vectors:
        parts.append(f"--word-vectors {word_vectors.name}")
    return " ".join([*parts, *(f"--only {name}" for name in only)])
