"""Every table and figure of the paper, beside the published ones."""

from __future__ import annotations

import importlib.util
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import sameas
from experiments.datasets import Dataset, find_datasets
from experiments.experiments import EXPERIMENTS, Experiment
from experiments.plots import require_matplotlib
from experiments.report import write_report
from experiments.runs import forget, make_setup
from experiments.store import (
    FORMAT,
    code_version,
    key_of,
    machine,
    read_results,
    sha256_of,
    write_results,
)
from sameas.errors import OptionError, OutputError
from sameas.formats.files import require_file
from sameas.formats.vectors import BUNDLE, dimension_of
from sameas.options.options import Preset

Progress = Callable[[int, int, str], None]
"""Called with the number of tasks done, their total, and the next one."""
ONE_DATASET = "dbp15k/zh_en"
"""Where the paper measures temperature and iterations; the first dataset where it is missing."""


class Task(NamedTuple):
    """One experiment on one dataset, and what results.json says of it before its figures."""

    experiment: Experiment
    dataset: Dataset
    entry: dict[str, Any]


def reproduce(
    data: Path,
    report: Path,
    *,
    only: Sequence[str] = (),
    word_vectors: Path | None = None,
    progress: Progress = lambda done, total, task: None,
) -> dict[str, Any]:
    """Run what is not yet in the report, write the report, and give all results.

    ``only`` names experiments or datasets to run; the others are shown if they were run before.
    """
    require_matplotlib()
    vectors = describe_vectors(word_vectors)
    plan = {key_of(task.entry): task for task in plan_tasks(find_datasets(data), vectors)}
    chosen = _chosen(plan, only)
    try:
        report.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{report}: cannot be made a folder ({error.strerror})") from None
    entries = read_results(report / "results.json")

    def is_done(key: str) -> bool:
        return key in entries and entries[key]["fingerprint"] == plan[key].entry["fingerprint"]

    missing = [key for key in chosen if not is_done(key)]
    for done, key in enumerate(missing):
        progress(done, len(missing), f"{plan[key].experiment.name} {plan[key].dataset.key}")
        entries[key] = _run(plan[key], word_vectors)
        write_results(report / "results.json", entries)
    forget()
    progress(len(missing), len(missing), "report")
    named = f"--word-vectors {word_vectors.name}" if word_vectors else ""
    words = ["python -m experiments DATA", named, *(f"--only {name}" for name in only)]
    results = {
        "format": FORMAT,
        "sameas": sameas.__version__,
        "command": " ".join(filter(None, words)),  # without the paths of one machine
        "machine": machine(),
        "word_vectors": vectors,
        "results": [entries[key] for key in plan if is_done(key)],
    }
    write_report(results, report)
    return results


def plan_tasks(datasets: list[Dataset], vectors: dict[str, Any] | None) -> Iterator[Task]:
    """Every task, dataset by dataset: experiments share what they make."""
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
                used = vectors if features in ("word", "hybrid") else None
                entry = {
                    "experiment": experiment.name,
                    "dataset": dataset.key,
                    "settings": settings,
                    "dataset_sha256": dataset.sha256,
                    "word_vectors": used,
                }
                depends_on = json.dumps([entry, code_version()])
                yield Task(experiment, dataset, {**entry, "fingerprint": sha256_of(depends_on)})


def _run(task: Task, word_vectors: Path | None) -> dict[str, Any]:
    """The entry of a task with its figures, and what they come from."""
    settings = task.entry["settings"]
    preset: Preset = "best" if settings.get("preset") == "best" else "paper"
    setup = make_setup(preset, settings.get("features", "char"), word_vectors)
    begin = time.perf_counter()
    figures = task.experiment.measure(task.dataset, setup)
    made = {
        **task.entry,
        "figures": figures,
        "seconds": round(time.perf_counter() - begin, 3),
        "sameas": sameas.__version__,
        "options": setup.options.asdict(),
        "machine": machine(),
    }
    # What is given back is what the next run will read: no tuples, no whole-number keys.
    return dict(json.loads(json.dumps(made)))


def describe_vectors(path: Path | None) -> dict[str, Any] | None:
    """Which word vectors are used: a file, the extra's, or None where there are none."""
    if path is not None:
        require_file(path)
        return {"file": path.name, "dimensions": dimension_of(path), "sha256": sha256_of(path)}
    if importlib.util.find_spec(BUNDLE) is None:
        return None
    bundle = f"{BUNDLE} {importlib.metadata.version(BUNDLE)}"
    return {"file": bundle, "dimensions": 50, "sha256": bundle}


def _chosen(plan: Mapping[str, Task], only: Sequence[str]) -> list[str]:
    """The keys of the experiments and datasets named, and of what is shown beside them."""
    places = {key: (task.experiment.name, task.dataset.key) for key, task in plan.items()}
    experiments, datasets = map(set, zip(*places.values(), strict=True))
    for name in only:
        if name not in experiments | datasets:
            names = ", ".join(sorted(experiments | datasets))
            raise OptionError(f"`only` must name one of {names}, got {name!r} instead")
    wanted = experiments & set(only) or experiments, datasets & set(only) or datasets
    chosen = {
        (name, dataset)
        for task, (experiment, dataset) in zip(plan.values(), places.values(), strict=True)
        if experiment in wanted[0] and dataset in wanted[1]
        for name in (experiment, *task.experiment.needs)
    }
    return [key for key, place in places.items() if place in chosen]
