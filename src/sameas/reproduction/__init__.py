"""``sameas reproduce``: every table and figure of the paper, beside the published ones."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import sameas
from sameas.errors import OptionError, OutputError
from sameas.files import require_file
from sameas.options import Preset
from sameas.reading.vectors import BUNDLE, dimension_of
from sameas.reproduction.datasets import Dataset, find_datasets
from sameas.reproduction.experiments import EXPERIMENTS, Experiment, forget
from sameas.reproduction.plots import require_matplotlib
from sameas.reproduction.report import write_report
from sameas.reproduction.runs import make_setup
from sameas.reproduction.store import FORMAT, Store, Task, machine, sha256_of

Progress = Callable[[int, int, str], None]
"""Called with the number of tasks done, their total, and the next one."""

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
    datasets = {dataset.key: dataset for dataset in find_datasets(data)}
    plan = dict(plan_tasks(list(datasets.values()), vectors))
    chosen = _chosen(plan, only)
    try:
        report.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{report}: cannot be made a folder ({error.strerror})") from None
    store = Store(report / "results.json")
    missing = [task for task in chosen if store.get(task) is None]
    for done, task in enumerate(missing):
        if progress:
            progress(done, len(missing), f"{task.experiment} {task.dataset}")
        preset: Preset = "best" if task.settings.get("preset") == "best" else "paper"
        setup = make_setup(preset, task.settings.get("features", "char"), word_vectors)
        begin = time.perf_counter()
        figures = plan[task].measure(datasets[task.dataset], setup)
        origin = {
            "options": setup.options.asdict(),
            "word_vectors": None if setup.options.features == "char" else vectors,
            "machine": machine(),
        }
        store.put(task, figures, time.perf_counter() - begin, origin)
    forget()
    if progress:
        progress(len(missing), len(missing), "report")
    results = {
        "format": FORMAT,
        "sameas": sameas.__version__,
        "command": _command(only, word_vectors),
        "machine": machine(),
        "word_vectors": vectors,
        "results": [entry for task in plan if (entry := store.get(task)) is not None],
    }
    write_report(results, report)
    return results


def plan_tasks(
    datasets: list[Dataset], vectors: dict[str, Any] | None
) -> Iterator[tuple[Task, Experiment]]:
    """Every task with its experiment, dataset by dataset: experiments share what they make."""
    every = ["char", "word", "hybrid"] if vectors else ["char"]
    kinds = {"none": [""], "char": ["char"], "richest": every[-1:], "every": every}
    one = next((d for d in datasets if d.key == ONE_DATASET), datasets[0])
    for dataset in datasets:
        for experiment in EXPERIMENTS:
            elsewhere = experiment.one_dataset and dataset is not one
            if elsewhere or experiment.real != dataset.real:
                continue
            for features in kinds[experiment.features]:
                settings = {"features": features} if features else {}
                if experiment.preset != "paper":
                    settings["preset"] = experiment.preset
                inputs = [dataset.sha256]
                if vectors and features in ("word", "hybrid"):
                    inputs.append(vectors["sha256"])
                yield Task(experiment.name, dataset.key, settings, tuple(inputs)), experiment


def describe_vectors(path: Path | None) -> dict[str, Any] | None:
    """Which word vectors are used: a file, the extra's, or None where there are none."""
    if path is not None:
        require_file(path)
        return {"file": path.name, "dimensions": dimension_of(path), "sha256": sha256_of(path)}
    if importlib.util.find_spec(BUNDLE) is None:
        return None
    bundle = f"{BUNDLE} {importlib.metadata.version(BUNDLE)}"
    return {"file": bundle, "dimensions": 50, "sha256": bundle}


def _chosen(plan: dict[Task, Experiment], only: Sequence[str]) -> list[Task]:
    """The tasks of the experiments and datasets named, and of what is shown beside them."""
    experiments = {task.experiment for task in plan}
    datasets = {task.dataset for task in plan}
    for name in only:
        if name not in experiments | datasets:
            names = ", ".join(sorted(experiments | datasets))
            raise OptionError(f"`only` must name one of {names}, got {name!r} instead")
    wanted = experiments & set(only) or experiments, datasets & set(only) or datasets
    chosen = {
        (name, task.dataset)
        for task, experiment in plan.items()
        if task.experiment in wanted[0] and task.dataset in wanted[1]
        for name in (task.experiment, *experiment.needs)
    }
    return [task for task in plan if (task.experiment, task.dataset) in chosen]


def _command(only: Sequence[str], word_vectors: Path | None) -> str:
    """The command that makes this report, without the paths of one machine."""
    parts = ["sameas reproduce DATA"]
    if word_vectors:
        parts.append(f"--word-vectors {word_vectors.name}")
    return " ".join([*parts, *(f"--only {name}" for name in only)])
