"""What a run decides from: the final candidates of a task, kept once as arrays."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.decisions.tasks import BenchTask
from sameas.compute.parallel import one_blas_thread
from sameas.graph.task import Task
from sameas.options.options import make_options
from sameas.pipeline.best import outcome_of, refined
from sameas.pipeline.inputs import Given, collect_inputs
from sameas.pipeline.phases import Phases
from sameas.similarity.make_task import make_task

GIVEN = ("seeds", "reject", "among")


@dataclass(frozen=True, eq=False)
class Dump:
    """The candidates of a task, as a rule of decision sees them, and what is true.

    Pairs are between entities that may be linked; scores are in log-odds, without what seeds are
    raised by. Texts and single numbers are arrays without axes.
    """

    shape: NDArray[np.int64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    score: NDArray[np.float32]
    seed: NDArray[np.bool_]
    """Whether a pair was given."""
    gold: NDArray[np.bool_]
    judged: NDArray[np.bool_]
    """Whether a link of this pair would be judged."""
    total: NDArray[np.int64]
    """How many links can be found."""
    kind: NDArray[np.int8]
    """Of each pair."""
    thresholds: NDArray[np.float64]
    """By kind, those that the run used."""
    single: NDArray[np.bool_]
    linked: NDArray[np.bool_]
    """The links that the run made."""
    confidence: NDArray[np.float64]
    """Of every pair in the run's plan; of links as the audit calibrated it."""
    weighed: NDArray[np.bool_]
    """The links of the plan, made or not."""
    probability: NDArray[np.float64]
    """Of every pair by the decision, before calibration."""
    counterparts: NDArray[np.int64]
    """How many links could be made at most besides those given, all of them correct."""
    partial: NDArray[np.bool_]
    """Whether entities with a counterpart alone are judged."""
    chances: NDArray[Any]
    """What was taken to be chance, as JSON."""
    audit: NDArray[Any]
    """The audit, as JSON."""


def dump_task(task: BenchTask) -> Dump:
    """The candidates of a task, after refinement."""
    given = Given(**{name: task.options.get(name) for name in GIVEN})
    options = make_options("best", **{k: v for k, v in task.options.items() if k not in GIVEN})
    phases = Phases()
    with one_blas_thread():
        inputs = collect_inputs(task.pair, options, given)
        inner = make_task(task.pair, options, inputs)
        model, refinement, figures = refined(inner, phases)
        outcome = outcome_of(inner, model, refinement, figures, phases)
    pairs, known = refinement.pairs, inner.known
    ends = pairs.candidates.left, pairs.candidates.right
    inside = np.flatnonzero(known.inside[0][ends[0]] & known.inside[1][ends[1]])
    left, right = ends[0][inside], ends[1][inside]
    width = np.int64(len(inner.pair.right.entities))
    keys = left * width + right
    seed = np.isin(keys, known.seeds @ np.array([width, 1]))
    score = pairs.candidates.values[inside] - seed * np.float32(inner.tuning.refinement.seed)
    judged = (
        _members(inner, 0, task.judged_left)[left] | _members(inner, 1, task.judged_right)[right]
    )
    places = (
        np.searchsorted(side, end) for side, end in zip(inner.sides, (left, right), strict=True)
    )
    assert outcome.nearest is not None
    near = outcome.nearest.with_columns(pl.Series("place", np.arange(len(outcome.nearest))))
    at = pl.DataFrame(dict(zip(("left", "right"), places, strict=True)))
    at = at.cast({"left": near["left"].dtype, "right": near["right"].dtype})
    confidence = at.join(near, on=["left", "right"], how="left", maintain_order="left")[
        "confidence"
    ]
    made = outcome.links.filter(pl.col("confidence") >= outcome.level)
    linked = at.join(
        made.select("left", "right", made="confidence"),
        on=["left", "right"],
        how="left",
        maintain_order="left",
    )["made"]
    weighed = at.join(
        outcome.links.select("left", "right", there=pl.lit(True)),
        on=["left", "right"],
        how="left",
        maintain_order="left",
    )["there"]
    thresholds = refinement.thresholds
    if thresholds is None:
        thresholds = np.full(128, np.nan)
    return Dump(
        shape=np.array([len(side) for side in inner.sides]),
        left=left.astype(np.int32),
        right=right.astype(np.int32),
        score=score.astype(np.float32),
        seed=seed,
        gold=np.isin(keys, _gold(inner, task.gold, width)),
        judged=judged,
        total=np.array(task.total),
        kind=known.kinds[0][left],
        thresholds=thresholds,
        single=np.array(options.single),
        linked=linked.is_not_null().to_numpy(),
        confidence=pl.select(pl.coalesce(linked, confidence)).to_series().fill_null(0.0).to_numpy(),
        weighed=weighed.is_not_null().to_numpy(),
        probability=confidence.fill_null(0.0).to_numpy(),
        counterparts=np.array(_counterparts(inner, task.gold)),
        partial=np.array(task.partial),
        chances=np.array(json.dumps(outcome.diagnostics.chances)),
        audit=np.array(json.dumps(outcome.audit and outcome.audit.asdict())),
    )


def _members(task: Task, side: int, entities: pl.Series) -> NDArray[np.bool_]:
    graph = task.pair.graphs[side]
    mask: NDArray[np.bool_] = graph.entities.is_in(entities.implode()).to_numpy()
    return mask


def _gold(task: Task, gold: pl.DataFrame, width: np.int64) -> NDArray[np.int64]:
    left, right = (
        graph.positions(gold[side])
        for graph, side in zip(task.pair.graphs, ("left", "right"), strict=True)
    )
    known = (left >= 0) & (right >= 0)
    keys: NDArray[np.int64] = left[known] * width + right[known]
    return keys


def _counterparts(task: Task, gold: pl.DataFrame) -> int:
    """How many gold links can be made besides those given, by the partners that one may have."""
    given, single = task.known.seeds, task.options.single
    ends = [
        graph.positions(gold[side])
        for graph, side in zip(task.pair.graphs, ("left", "right"), strict=True)
    ]
    free = (ends[0] >= 0) & (ends[1] >= 0)
    for side in (0, 1):
        if single[side]:
            free &= ~np.isin(ends[side], given[:, side])
    counts = [len(np.unique(ends[side][free])) for side in (0, 1) if single[side]]
    return min(counts) if counts else int(free.sum())


def write_dump(path: Path, dump: Dump) -> None:
    """Keep a dump as a file of arrays."""
    np.savez_compressed(path, **{one.name: getattr(dump, one.name) for one in fields(dump)})


def read_dump(path: Path) -> Dump:
    """The dump that was kept."""
    with np.load(path) as arrays:
        return Dump(**{one.name: arrays[one.name] for one in fields(Dump)})
