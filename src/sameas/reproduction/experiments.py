"""The experiments: the paper's, and those on the preset ``best``. Each gives figures of a dataset.

Experiments on the same dataset share feature rows, profits and first candidates, which are kept
until the next dataset is asked for.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from sameas.adjacency import adjacency_matrices
from sameas.alignment import Alignment
from sameas.assignment import Plan, assign, ranks_of, sinkhorn
from sameas.assignment import Problem as AssignmentProblem
from sameas.evaluation import BINS, Bin, Metrics, calibration, evaluate, hide_half
from sameas.options import Adjacency, Options, Part
from sameas.pipeline.stages import Material
from sameas.profit import StoredProfit, make_profit
from sameas.propagation import hop
from sameas.refinement import Weights
from sameas.reproduction import runs
from sameas.reproduction.datasets import Dataset
from sameas.reproduction.figures import Figures
from sameas.reproduction.real import real_rdf
from sameas.reproduction.runs import Setup
from sameas.rows import Matrix, Rows, unit

TEMPERATURES = (0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5)
ITERATIONS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50)
DEPTHS = range(6)
SEEDS = (1, 2, 3)
"""The random halves of the hidden-half test."""
PARTS: tuple[Part, ...] = get_args(Part)
IN_REFINEMENT = ("votes", "lacking", "relations")
"""The parts of ``best`` that features and candidates do not depend on."""
SHIFTED = "base"
"""The weight that is a logarithm: half and double are a shift by ln 2."""
VARIED_OPTIONS = ("temperature", "candidates", "rounds")
"""Options that refinement depends on, besides its weights."""


def count_entities(dataset: Dataset, setup: Setup) -> Figures:
    """Entities, relations, triples and links; left and right are the paper's."""
    graphs = [dataset.pair.left, dataset.pair.right]
    sides = zip(("left", "right"), graphs[::-1] if dataset.swapped else graphs, strict=True)
    kinds = ("entities", "relations", "triples")
    sizes = {side: {kind: len(getattr(graph, kind)) for kind in kinds} for side, graph in sides}
    return {"": {"links": len(dataset.gold)}, **sizes}


def main_results(dataset: Dataset, setup: Setup) -> Figures:
    """Scores of the method as published, and its time by phase."""
    alignment = runs.run(dataset.pair, setup)
    found = alignment.diagnostics
    return {
        "": {
            **evaluate(alignment, dataset.gold).asdict(),
            "total_seconds": sum(alignment.seconds.values()),
            "words": found.words,
            "words_without_vector": found.words_without_vector,
        },
        "phases": {**alignment.seconds},
    }


def whole_command(dataset: Dataset, setup: Setup) -> Figures:
    """Scores of the command as a user runs it, its time by phase and its memory."""
    preset = "best" if setup.options.rounds else "paper"
    return _of_process(runs.run_command(dataset.folder, preset))


def plain_procedure(dataset: Dataset, setup: Setup) -> Figures:
    """The same of the paper's procedure written plainly."""
    return _of_process(runs.run_plain(dataset.folder))


def _of_process(found: dict[str, Any]) -> Figures:
    names = ("hits@1", "hits@10", "mrr", "total_seconds", "peak_memory_bytes")
    rest = max(found["total_seconds"] - sum(found["seconds"].values()), 0.0)
    return {"": {name: found[name] for name in names}, "phases": {**found["seconds"], "rest": rest}}


def solvers(dataset: Dataset, setup: Setup) -> Figures:
    """The exact and the soft assignment of the same profit."""
    problem = shared_problem(dataset, setup)
    stored = StoredProfit(problem.profit)
    times = [time.perf_counter()]
    plan = problem.plan(setup.options.temperature, setup.options.iterations)
    times.append(time.perf_counter())
    exact = assign(stored, prices=plan.right)  # it starts from the plan
    times.append(time.perf_counter())
    links = AssignmentProblem(stored).rounded(plan)
    partner = np.full(len(problem.profit), -1)
    partner[exact.left] = exact.right
    return {
        "sinkhorn": {
            "hits@1": problem.scores(plan)["hits@1"],
            "objective": float(problem.profit[links].sum(dtype=np.float64)),
            "seconds": times[1] - times[0],
        },
        "hungarian": {
            "hits@1": float((partner[problem.rows] == problem.columns).mean()),
            "objective": exact.objective,
            "seconds": times[2] - times[0],
        },
    }


def temperature(dataset: Dataset, setup: Setup) -> Figures:
    """Scores against Sinkhorn's temperature."""
    k = setup.options.iterations
    return {f"{tau:g}": shared_scores(dataset, setup, tau, k) for tau in TEMPERATURES}


def iterations(dataset: Dataset, setup: Setup) -> Figures:
    """Scores against the rounds of Sinkhorn."""
    tau = setup.options.temperature
    return {str(k): shared_scores(dataset, setup, tau, k) for k in ITERATIONS}


def depth(dataset: Dataset, setup: Setup) -> Figures:
    """Scores against the number of hops."""
    tau, k = setup.options.temperature, setup.options.iterations
    figures = {}
    for hops, total in zip(DEPTHS, hop_sums(dataset, setup, "relational"), strict=False):
        if hops == setup.options.depth:
            figures[str(hops)] = shared_scores(dataset, setup, tau, k)
        else:  # the mean over hops at temperature t is their sum at (hops + 1) t
            problem = Problem(total, *dataset.gold_places[1])
            figures[str(hops)] = problem.scores(problem.plan(tau * (hops + 1), k))
    return figures


def adjacency(dataset: Dataset, setup: Setup) -> Figures:
    """Scores with each of the four adjacency matrices."""
    tau, k = setup.options.temperature, setup.options.iterations
    figures = {"relational": shared_scores(dataset, setup, tau, k)}
    for kind in get_args(Adjacency):
        if kind not in figures:
            problem = make_problem(dataset, setup, kind)
            figures[kind] = problem.scores(problem.plan(tau, k))
    return figures


def paris(dataset: Dataset, setup: Setup) -> Figures:
    """PARIS over the whole graphs."""
    alignment = runs.run_paris(dataset.pair)
    metrics = evaluate(alignment, dataset.gold).asdict()
    taken = sum(alignment.seconds.values())
    rounds = alignment.diagnostics.iterations
    return {"": {**metrics, "iterations": rounds, "total_seconds": taken}}


def open_protocol(dataset: Dataset, setup: Setup) -> Figures:
    """The whole graphs: scores of the links, and their reliability by confidence."""
    every = aligned(dataset, setup.whole.changed(min_confidence=0.0))
    figures, bins = _judged(every, setup.options.min_confidence)
    return {"": figures, **_by_confidence(bins)}


def hidden_half(dataset: Dataset, setup: Setup) -> Figures:
    """The same after random halves of the right gold entities have been taken away."""
    figures, bins = dict[str, dict[str, float | None]](), list[Bin]()
    for seed in SEEDS:
        pair, alone = hide_half(dataset.pair, seed=seed)
        found = runs.run(pair, setup.whole.changed(min_confidence=0.0))
        figures[f"half {seed}"], more = _judged(found, setup.options.min_confidence, alone)
        bins += more
    return {**figures, **_by_confidence(bins)}


def ablation(dataset: Dataset, setup: Setup) -> Figures:
    """Hits@1 in the paper protocol and F1 in the open one, with one part left out at a time."""
    variants = {"best": setup}
    variants |= {f"without {part}": setup.changed(without=(part,)) for part in PARTS}
    variants |= {f"rounds {rounds}": setup.changed(rounds=rounds) for rounds in (2, 1, 0)}
    return {name: _both(dataset, changed) for name, changed in variants.items()}


def sensitivity(dataset: Dataset, setup: Setup) -> Figures:
    """Hits@1 in the paper protocol while each setting in turn is halved and doubled.

    Of the one that decides which entities stay unmatched also F1 in the open protocol.
    """
    figures = {"as it is": _both(dataset, setup)}
    for name in (*(field.name for field in fields(Weights)), *VARIED_OPTIONS):
        weight = hasattr(Weights(), name)
        usual = getattr(Weights() if weight else setup.options, name)
        values = half_and_double(name, usual)
        figures[name] = {"as it is": usual, **values}
        for size, value in values.items():
            change: dict[str, Any] = {name: value}
            changed = setup if weight else setup.changed(**change)
            weights = replace(Weights(), **change) if weight else None
            scores = {"hits@1": judge(dataset, changed, weights).hits_at_1}
            if name == SHIFTED:
                scores["f1"] = judge(dataset, changed.whole, weights).f1
            figures[f"{name}, {size}"] = scores
    return figures


def half_and_double(name: str, value: float) -> dict[str, float | None]:
    """The two values that a setting is changed to."""
    if name == SHIFTED:
        return {"half": value - math.log(2), "double": value + math.log(2)}
    half = max(value // 2, 1) if isinstance(value, int) else value / 2
    return {"half": half, "double": 2 * value}


@dataclass(frozen=True)
class Experiment:
    """One kind of measurement: with which features and preset, and on which datasets.

    Without word vectors, "richest" and "every" features are char. ``needs`` names experiments
    whose figures stand in the same tables. If ``real``, it is for pairs of RDF files alone.
    """

    name: str
    measure: Callable[[Dataset, Setup], Figures]
    features: Literal["none", "char", "richest", "every"] = "richest"
    preset: Literal["paper", "best", "plain"] = "paper"
    one_dataset: bool = False
    needs: Sequence[str] = ()
    real: bool = False


EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment("datasets", count_entities, "none"),
    Experiment("main", main_results, "every"),
    Experiment("solvers", solvers),
    Experiment("temperature", temperature, one_dataset=True),
    Experiment("iterations", iterations, one_dataset=True),
    Experiment("depth", depth),
    Experiment("adjacency", adjacency),
    Experiment("paris", paris, needs=("main",)),
    Experiment("runtime", whole_command, "none", one_dataset=True, needs=("best",)),
    Experiment("runtime", plain_procedure, "none", "plain", one_dataset=True),
    Experiment("open", open_protocol),
    Experiment("best", whole_command, "char", "best"),
    Experiment("open", open_protocol, "char", "best"),
    Experiment("ablation", ablation, "char", "best"),
    Experiment("sensitivity", sensitivity, "char", "best"),
    Experiment("hidden", hidden_half, "char", "best"),
    Experiment("real", real_rdf, "none", "best", real=True),
)
"""In the order in which they are run for each dataset."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A profit matrix, and the rows and columns of the gold links in it."""

    profit: Matrix
    rows: Any
    columns: Any

    def plan(self, tau: float, k: int) -> Plan:
        """Sinkhorn's plan at this temperature after so many rounds."""
        return sinkhorn(self.profit, temperature=tau, iterations=k)

    def scores(self, plan: Plan) -> dict[str, float | None]:
        """Hits@1 and MRR of a plan."""
        ranks = ranks_of(self.profit, plan.right, self.rows, self.columns)
        return {"hits@1": float((ranks <= 1).mean()), "mrr": float((1 / ranks).mean())}


def make_problem(dataset: Dataset, setup: Setup, kind: Adjacency) -> Problem:
    """The profit of the gold entities with an adjacency matrix, in the paper protocol."""
    hops, sums = setup.options.depth, hop_sums(dataset, setup, kind)
    total = [next(sums) for _ in range(hops + 1)][-1]
    total /= hops + 1
    return Problem(total, *dataset.gold_places[1])


@lru_cache(maxsize=1)
def shared_problem(dataset: Dataset, setup: Setup) -> Problem:
    """The problem of the usual settings."""
    return make_problem(dataset, setup, "relational")


@lru_cache(maxsize=64)
def shared_scores(dataset: Dataset, setup: Setup, tau: float, k: int) -> dict[str, float | None]:
    """The scores of Sinkhorn's plan for the usual problem."""
    problem = shared_problem(dataset, setup)
    return problem.scores(problem.plan(tau, k))


def hop_sums(dataset: Dataset, setup: Setup, kind: Adjacency) -> Iterator[Matrix]:
    """The sum of the hop-wise cosines of gold entities after 0, 1, 2, ... hops.

    It is one matrix, to which the next hop is added.
    """
    total = name_cosines(dataset, setup).copy()
    yield total
    pair, sides = dataset.pair, shared_rows(dataset, setup)
    matrices = adjacency_matrices(pair.left, pair.right, kind)
    while True:
        sides = hop(matrices[0], sides[0]), hop(matrices[1], sides[1])
        total += _gold_cosines(dataset, sides)
        yield total


@lru_cache(maxsize=1)
def name_cosines(dataset: Dataset, setup: Setup) -> Matrix:
    """The cosines of the names of gold entities."""
    return _gold_cosines(dataset, shared_rows(dataset, setup))


@lru_cache(maxsize=1)
def shared_rows(dataset: Dataset, setup: Setup) -> tuple[Rows, Rows]:
    """The feature rows of all entities."""
    left, right = runs.feature_rows(dataset.pair, setup)
    return unit(left), unit(right)


def _gold_cosines(dataset: Dataset, rows: tuple[Rows, Rows]) -> Matrix:
    left, right = (side.take(gold) for side, gold in zip(rows, dataset.gold_places[0], strict=True))
    return make_profit(left, right).toarray()


@lru_cache(maxsize=256)
def judge(dataset: Dataset, setup: Setup, weights: Weights | None) -> Metrics:
    """The scores of a run."""
    return evaluate(aligned(dataset, setup, weights), dataset.gold)


def aligned(dataset: Dataset, setup: Setup, weights: Weights | None = None) -> Alignment:
    """A run that starts from shared material if it has refinement."""
    if setup.options.rounds:
        return runs.run_prepared(dataset.pair, material(dataset, setup), setup, weights)
    return runs.run(dataset.pair, setup)


def _both(dataset: Dataset, setup: Setup) -> dict[str, float | None]:
    """Hits@1 in the paper protocol and F1 in the open one."""
    closed, whole = judge(dataset, setup, None), judge(dataset, setup.whole, None)
    return {"hits@1": closed.hits_at_1, "f1": whole.f1}


def material(dataset: Dataset, setup: Setup) -> Material:
    """What refinement starts from, made once for all setups that agree in it."""
    without = tuple(part for part in setup.options.without if part not in IN_REFINEMENT)
    options = Options(without=without, candidates=setup.options.candidates)
    return (usual_material if options == Options() else other_material)(dataset, options)


@lru_cache(maxsize=1)
def usual_material(dataset: Dataset, options: Options) -> Material:
    """What refinement starts from with the preset ``best``."""
    return runs.prepare_run(dataset.pair, Setup(options, among=None))


other_material = lru_cache(maxsize=1)(usual_material.__wrapped__)
CACHES: tuple[Any, ...] = (shared_rows, name_cosines, shared_problem, shared_scores, judge)


def forget() -> None:
    """Free the memory of what experiments share."""
    for cached in (*CACHES, usual_material, other_material):
        cached.cache_clear()


def _judged(
    found: Alignment, level: float, alone: pl.Series | None = None
) -> tuple[dict[str, float | None], tuple[Bin, ...]]:
    """The scores of the links that are certain enough, and the calibration of all."""
    gold, links = found.pair.gold, found.links
    assert gold is not None
    made = evaluate(links.filter(pl.col("confidence") >= level), gold, no_match=alone)
    return made.asdict(), calibration(links, gold, alone).bins


def _by_confidence(bins: Sequence[Bin]) -> Figures:
    """Bins taken together by their interval, which is named by its middle."""
    if not bins:
        return {}
    weight = pl.col("count") / pl.col("count").sum()
    pooled = (
        pl.DataFrame([asdict(each) for each in bins])
        .group_by("low")
        .agg((pl.col("confidence", "accuracy") * weight).sum(), pl.col("count").sum())
    )
    return {
        f"{row.pop('low') + 0.5 / BINS:.2f}": row
        for row in pooled.sort("low").iter_rows(named=True)
    }
