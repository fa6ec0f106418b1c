"""Runs of sameas that experiments measure: in this process, or as commands.

Experiments on the same pair share the scores of equal runs, and what refinement starts from.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal
from unittest.mock import patch

from sameas.graph.matched import MatchedPair
from sameas.graph.task import Task
from sameas.options.options import Features, Options, Preset, make_options
from sameas.options.tuning import TUNING, Tuning
from sameas.pipeline.align import align
from sameas.pipeline.best import align_prepared
from sameas.pipeline.inputs import Given, collect_inputs
from sameas.pipeline.outcome import make_alignment
from sameas.pipeline.phases import Phases
from sameas.pipeline.stages import Prepared, prepare
from sameas.result.alignment import Alignment, Diagnostics
from sameas.result.evaluation import Metrics, evaluate
from sameas.similarity.crosslingual import choose_support, embedded
from sameas.similarity.make_task import make_task
from sameas.text.encoders import find_encoder

IN_REFINEMENT = ("votes", "lacking", "relations", "weights")
"""The parts of ``best`` that features and candidates do not depend on."""
EVERYONE = 10**6
"""Candidates enough for every pair to count, as in the paper."""


@dataclass(frozen=True)
class Setup:
    """The options of a run, and which entities may be linked: those of gold links, or all."""

    options: Options
    word_vectors: Path | None = None
    among: Literal["gold"] | None = "gold"

    def changed(self, **choices: Any) -> Setup:
        """The same with other options."""
        return replace(self, options=replace(self.options, **choices))

    @property
    def whole(self) -> Setup:
        """The same for whole graphs (the open protocol)."""
        return replace(self, among=None)


def make_setup(
    preset: Preset = "paper", features: Features = "char", word_vectors: Path | None = None
) -> Setup:
    """A preset in the paper's protocol; ``paper`` with all pairs, as in the paper."""
    choices: dict[str, Any] = {"features": features}
    if preset == "paper":
        choices |= {"candidates": EVERYONE, "memory": 6 * 2**30}
    vectors = None if features == "char" else word_vectors
    return Setup(make_options(preset, **choices), vectors)


def run(pair: MatchedPair, setup: Setup) -> Alignment:
    """An alignment."""
    return align(pair, setup.options, among=setup.among, word_vectors=setup.word_vectors)


def aligned(pair: MatchedPair, setup: Setup, tuning: Tuning = TUNING) -> Alignment:
    """The same, from what refinement starts from, if there is refinement, made once for all.

    Another ``tuning`` may differ in numbers of refinement; its weights are taken as they are.
    """
    if not setup.options.rounds:
        return run(pair, setup)
    task, phases = _task(pair, setup, tuning), Phases()
    learning = tuning == TUNING
    outcome = align_prepared(task, material(pair, setup), phases, learning=learning)
    return make_alignment(task, outcome, phases)


@lru_cache(maxsize=256)
def judge(pair: MatchedPair, setup: Setup, tuning: Tuning = TUNING) -> Metrics:
    """The scores of a run against the pair's gold links."""
    return evaluate(aligned(pair, setup, tuning), pair.gold)


def material(pair: MatchedPair, setup: Setup) -> Prepared:
    """What refinement starts from, made once for all setups that agree in it."""
    without = tuple(part for part in setup.options.without if part not in IN_REFINEMENT)
    return _prepared(pair, Options(without=without, candidates=setup.options.candidates))


@lru_cache(maxsize=2)
def _prepared(pair: MatchedPair, options: Options) -> Prepared:
    task = _task(pair, Setup(options, among=None))
    support = choose_support(task.pair, task.options, task.inputs)
    planned = Diagnostics(solver=options.solver, objective=0.0)
    return prepare(task, task.everything, support, Phases(), planned)


def forget() -> None:
    """Free the memory of what experiments share."""
    judge.cache_clear()
    _prepared.cache_clear()


def _task(pair: MatchedPair, setup: Setup, tuning: Tuning = TUNING) -> Task:
    inputs = collect_inputs(
        pair, setup.options, Given(among=setup.among, word_vectors=setup.word_vectors)
    )
    return make_task(pair, setup.options, inputs, tuning=tuning)


@contextmanager
def encoded_afresh(pair: MatchedPair) -> Iterator[float]:
    """The seconds that it takes to encode the names; inside, they are kept, and nothing else is."""
    with TemporaryDirectory() as folder, patch.dict(os.environ, SAMEAS_CACHE=folder):
        begin = time.perf_counter()
        if encoder := find_encoder():
            embedded(pair.left.names, pair.right.names, encoder)
        yield time.perf_counter() - begin


def printed_by(module: str, *arguments: str) -> Any:
    """What a module prints as JSON when it is run."""
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[1:4])} failed: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)
