"""``sameas reproduce``: every table and figure of the paper, beside the published ones."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sameas.errors import OptionError, OutputError
from sameas.features.words import BUNDLE, dimension_of
from sameas.options import Features
from sameas.reading.tables import require_file
from sameas.reproduction.datasets import Dataset, find_datasets
from sameas.reproduction.experiments import EXPERIMENTS, options_for
from sameas.reproduction.report import write_report
from sameas.reproduction.store import Store, Task, machine

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
    if report.exists() and not report.is_dir():
        raise OutputError(f"{report}: is a file; choose a folder for the report")
    vectors = describe_vectors(word_vectors)
    datasets = find_datasets(data)
    tasks = plan_tasks(datasets, vectors)
    _check_only(only, tasks)
    report.mkdir(parents=True, exist_ok=True)
    store = Store(report / "results.json")
    head = {
        "machine": machine(),
        "command": "sameas reproduce DATA" + (" --word-vectors FILE" if word_vectors else ""),
        "word_vectors": vectors,
    }
    chosen = [task for task in tasks if not only or {task.experiment, task.dataset} & set(only)]
    missing = [task for task in chosen if store.get(task) is None]
    by_key = {dataset.key: dataset for dataset in datasets}
    for done, task in enumerate(missing):
        if progress:
            progress(done, len(missing), f"{task.experiment} {task.dataset}")
        begin = time.perf_counter()
        options = options_for(task.settings.get("features", "char"), word_vectors)
        figures = EXPERIMENTS[task.experiment](by_key[task.dataset], options)
        store.put(task, figures, time.perf_counter() - begin, head)
    if progress:
        progress(len(missing), len(missing), "report")
    entries = [entry for task in tasks if (entry := store.get(task)) is not None]
    results = store.write(head, entries)
    write_report(results, report)
    return results


def plan_tasks(datasets: list[Dataset], vectors: dict[str, Any] | None) -> list[Task]:
    """Everything there is to do, in the order of the report."""
    every: list[Features] = ["char", "word", "hybrid"] if vectors else ["char"]
    best = every[-1]
    curves = next((d for d in datasets if d.key == ONE_DATASET), datasets[0])

    def task(experiment: str, dataset: Dataset, features: Features | None = None) -> Task:
        inputs = [dataset.sha256]
        if features in ("word", "hybrid") and vectors:
            inputs.append(vectors["sha256"])
        settings = {"features": features} if features else {}
        return Task(experiment, dataset.key, settings, tuple(inputs))

    tasks = [task("datasets", dataset) for dataset in datasets]
    tasks += [task("main", dataset, kind) for dataset in datasets for kind in every]
    tasks += [task("solvers", dataset, best) for dataset in datasets]
    tasks.append(task("runtime", curves))
    tasks += [task(name, curves, best) for name in ("temperature", "iterations")]
    for name in ("depth", "adjacency", "paris", "open"):
        tasks += [task(name, dataset, best) for dataset in datasets]
    return tasks


def describe_vectors(path: Path | None) -> dict[str, Any] | None:
    """Which word vectors are used: a file, the extra's, or None where there are none."""
    if path is not None:
        require_file(path)
        with path.open("rb") as file:
            digest = (
                hashlib.file_digest(file, "sha256") if hasattr(hashlib, "file_digest") else None
            )
        sha256 = digest.hexdigest() if digest else hashlib.sha256(path.read_bytes()).hexdigest()
        return {"file": path.name, "dimensions": dimension_of(path), "sha256": sha256}
    if importlib.util.find_spec(BUNDLE) is None:
        return None
    version = importlib.metadata.version(BUNDLE)
    return {"file": f"{BUNDLE} {version}", "dimensions": 50, "sha256": f"{BUNDLE} {version}"}


def _check_only(only: Sequence[str], tasks: list[Task]) -> None:
    names = sorted({task.experiment for task in tasks} | {task.dataset for task in tasks})
    for name in only:
        if name not in names:
            raise OptionError(f"only must name one of {', '.join(names)}, got {name!r} instead")
