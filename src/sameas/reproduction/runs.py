"""What experiments are made of: alignments and commands, and the figures taken from them."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sameas.alignment import Alignment
from sameas.evaluation import Metrics, evaluate
from sameas.graph import GraphPair
from sameas.options import PRESETS, Features, Options, Preset
from sameas.pipeline import align
from sameas.reproduction.datasets import Dataset

Figures = dict[str, Any]

EVERYONE = 10**6
"""Candidates enough for every pair to count, as in the paper."""


def options_for(
    features: Features = "char", word_vectors: Path | None = None, *, preset: Preset = "paper"
) -> Options:
    """A preset in the paper's protocol; ``paper`` with all pairs, as in the paper."""
    options = replace(
        PRESETS[preset],
        features=features,
        word_vectors=None if features == "char" else word_vectors,
        among="gold",
    )
    if preset == "best":
        return options
    return replace(options, candidates=EVERYONE, memory=6 * 2**30)


def aligned(pair: GraphPair, options: Options) -> tuple[Alignment, Metrics]:
    """An alignment and its scores."""
    assert pair.gold is not None
    alignment = align(pair, options)
    return alignment, evaluate(alignment, pair.gold)


def ranking(metrics: Metrics) -> Figures:
    """How gold links rank."""
    return {"hits@1": metrics.hits_at_1, "hits@10": metrics.hits_at_10, "mrr": metrics.mrr}


def linking(metrics: Metrics) -> Figures:
    """How good the links are."""
    return {
        "precision": metrics.precision,
        "strict_precision": metrics.strict_precision,
        "recall": metrics.recall,
        "f1": metrics.f1,
        "links": metrics.links,
    }


def rounded(seconds: dict[str, float]) -> dict[str, float]:
    """Seconds by phase, to the millisecond."""
    return {phase: round(value, 3) for phase, value in seconds.items()}


def measured_command(dataset: Dataset, preset: Preset) -> Figures:
    """What a user gets who aligns a dataset in the paper's protocol, and what it takes."""
    with TemporaryDirectory() as folder:
        run, data = str(Path(folder) / "run"), str(dataset.folder)
        taken = _sameas("align", data, "--preset", preset, "--among", "gold", "-o", run)
        scores = _sameas("evaluate", run, data)
    return {
        "seconds": taken["seconds"],
        "total": taken["total_seconds"],
        "peak_memory_bytes": taken["peak_memory_bytes"],
        **{name: scores[name] for name in ("hits@1", "hits@10", "mrr")},
    }


def plain_procedure(dataset: Dataset) -> Figures:
    """The paper's procedure written plainly, in a process of its own."""
    return dict(_json_of("-m", "sameas.reproduction.plain", str(dataset.folder)))


def _sameas(*arguments: str) -> Any:
    """What a command prints with --json, run as a user would."""
    return _json_of("-c", "from sameas.cli import main; main()", *arguments, "--json")


def _json_of(*command: str) -> Any:
    """What another Python process prints, as JSON."""
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[:2])} failed: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)
