"""Two graphs as they are matched to an Alignment: the stages in their order."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path

from sameas.compute.kernels.ready import make_ready
from sameas.compute.parallel import one_blas_thread
from sameas.graph.matched import MatchedPair
from sameas.graph.task import Task
from sameas.options.options import Options
from sameas.options.tuning import TUNING, Tuning
from sameas.pipeline.best import align_refined
from sameas.pipeline.checkpoint import Checkpoint, fingerprint
from sameas.pipeline.inputs import Given, collect_inputs
from sameas.pipeline.outcome import Outcome, make_alignment
from sameas.pipeline.paper import align_published
from sameas.pipeline.paris import align_by_paris
from sameas.pipeline.phases import PhaseProgress, Phases
from sameas.result.alignment import Alignment
from sameas.similarity.make_task import make_task


def align_pair(
    pair: MatchedPair,
    options: Options,
    given: Given,
    *,
    progress: PhaseProgress | None = None,
    checkpoint: str | PathLike[str] | None = None,
    tuning: Tuning = TUNING,
) -> Alignment:
    """The links between the graphs of a pair as ``read_pair`` gives it; called while `working`."""
    phases = Phases(progress)
    with one_blas_thread():
        with phases.timed("inputs") as report:
            if any(graph.is_large for graph in pair.graphs):
                pair = pair.in_files()  # nobody else holds it
            inputs = collect_inputs(pair, options, given, report, tuning=tuning)
            task = make_task(pair, options, inputs, tuning=tuning)
            del pair  # the task has its own, in order
            if checkpoint is not None:
                phases.checkpoint = Checkpoint(Path(checkpoint), fingerprint(task))
        make_ready()
        return make_alignment(task, _method(options)(task, phases), phases)


def _method(options: Options) -> Callable[[Task, Phases], Outcome]:
    if options.method == "paris":
        return align_by_paris
    return align_refined if options.rounds else align_published
