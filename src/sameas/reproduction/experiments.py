"""The paper's experiments, and some it leaves out: functions from a dataset to figures."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import numpy as np
import polars as pl

from sameas.adjacency import Adjacency, adjacency_matrices
from sameas.alignment import Alignment
from sameas.assignment import CompleteProblem, Plan, assign, sinkhorn
from sameas.assignment.ranking import ranks_of
from sameas.evaluation import Metrics, evaluate
from sameas.graph import Graph, GraphPair, Positions
from sameas.options import PRESETS, Features, Options
from sameas.pipeline import align, candidate_positions, neighbourhood_rows, text_features
from sameas.profit import StoredProfit, make_profit
from sameas.propagation import hop
from sameas.reproduction.datasets import Dataset
from sameas.rows import Matrix, unit

Figures = dict[str, Any]
Run = Callable[[Dataset, Options], Figures]

TEMPERATURES = (0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5)
ITERATIONS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50)
DEPTHS = range(6)
EVERYONE = 10**6
"""Candidates enough for every pair to count, as in the paper."""


def count(dataset: Dataset, options: Options) -> Figures:
    """Entities, relations, triples and links."""

    def side(graph: Graph) -> Figures:
        return {
            "entities": len(graph.entities),
            "relations": len(graph.relations),
            "triples": len(graph.triples),
        }

    pair = dataset.pair
    assert pair.gold is not None
    return {
        "published": dataset.published,
        "swapped": dataset.swapped,
        "left": side(pair.left),
        "right": side(pair.right),
        "links": len(pair.gold),
    }


def main_results(dataset: Dataset, options: Options) -> Figures:
    """Hits and MRR of the method as published, and its time by phase."""
    alignment, metrics = _aligned(dataset.pair, options)
    words = {key: alignment.facts[key] for key in alignment.facts if key.startswith("words")}
    return {
        **_ranking(metrics),
        "seconds": _rounded(alignment.seconds),
        "total_seconds": round(sum(alignment.seconds.values()), 3),
        **words,
    }


def solvers(dataset: Dataset, options: Options) -> Figures:
    """The exact and the soft assignment of the same profit."""
    problem = _problem(dataset.pair, options)
    begin = time.perf_counter()
    plan = _plan(problem.profit, options)
    soft = time.perf_counter() - begin
    stored = StoredProfit(problem.profit)
    links = CompleteProblem(stored).rounded(plan)
    begin = time.perf_counter()
    best = assign(stored, prices=plan.right)
    exact = soft + time.perf_counter() - begin  # it starts from the plan
    partner = np.full(len(problem.profit), -1)
    partner[best.left] = best.right
    return {
        "sinkhorn": {
            "hits@1": problem.scores(plan)["hits@1"],
            "objective": float(problem.profit[links].sum(dtype=np.float64)),
            "seconds": round(soft, 3),
        },
        "hungarian": {
            "hits@1": float((partner[problem.rows] == problem.columns).mean()),
            "objective": best.objective,
            "seconds": round(exact, 3),
        },
    }


def run_time(dataset: Dataset, options: Options) -> Figures:
    """The whole command and the plain procedure, one after the other, each in its own process."""
    with TemporaryDirectory() as folder:
        run = str(Path(folder) / "run")
        ours = _sameas(
            "align", str(dataset.folder), "--preset", "paper", "--among", "gold", "-o", run
        )
        scores = _sameas("evaluate", run, str(dataset.folder))
    plain = _json_of("-m", "sameas.reproduction.plain", str(dataset.folder))
    return {
        "sameas": {
            "seconds": ours["seconds"],
            "total": ours["total_seconds"],
            "peak_memory_bytes": ours["peak_memory_bytes"],
            "hits@1": scores["hits@1"],
        },
        "plain": plain,
        "ratio": round(plain["total"] / ours["total_seconds"], 2),
    }


def temperature(dataset: Dataset, options: Options) -> Figures:
    """Scores against Sinkhorn's temperature."""
    return _curve(dataset, [replace(options, temperature=t) for t in TEMPERATURES], "temperature")


def iterations(dataset: Dataset, options: Options) -> Figures:
    """Scores against the rounds of Sinkhorn."""
    return _curve(dataset, [replace(options, iterations=k) for k in ITERATIONS], "iterations")


def depth(dataset: Dataset, options: Options) -> Figures:
    """Scores against the number of hops; the profit of each hop is computed once and added."""
    pair = dataset.pair
    features = text_features(pair, options, {})
    size = len(pair.left.entities)
    sides = [features.take(np.arange(size)), features.take(np.arange(size, len(features)))]
    sides = [unit(side) for side in sides]
    matrices = adjacency_matrices(pair.left, pair.right, options.adjacency)
    candidates = candidate_positions(pair, options)
    total = np.zeros((len(candidates[0]), len(candidates[1])), dtype=np.float32)
    problem = _Problem(total, *_gold_positions(pair, candidates))
    curve = []
    for hops in DEPTHS:
        if hops:
            sides = [hop(matrix, side) for matrix, side in zip(matrices, sides, strict=True)]
        rows = [side.take(some) for side, some in zip(sides, candidates, strict=True)]
        for block, values in make_profit(*rows).blocks():
            total[block] += values
        # The mean over hops at temperature t is their sum at (hops + 1) t.
        heat = options.temperature * (hops + 1)
        plan = sinkhorn(total, temperature=heat, iterations=options.iterations)
        curve.append({"depth": hops, **problem.scores(plan)})
    return {"curve": curve}


def adjacency(dataset: Dataset, options: Options) -> Figures:
    """Scores with each of the four adjacency matrices."""
    figures = {}
    for kind in get_args(Adjacency):
        chosen = replace(options, adjacency=kind)
        problem = _problem(dataset.pair, chosen)
        figures[kind] = problem.scores(_plan(problem.profit, chosen))
        del problem
    return figures


def paris(dataset: Dataset, options: Options) -> Figures:
    """PARIS over the whole graphs, beside the published method in the paper's protocol."""
    pair = dataset.pair
    other = Options(method="paris", min_confidence=0.0)
    alignment, metrics = _aligned(pair, other)
    _, ours = _aligned(pair, options)
    return {
        "paris": {
            **_linking(metrics),
            "iterations": alignment.facts["iterations"],
            "seconds": round(sum(alignment.seconds.values()), 3),
        },
        "sameas": _linking(ours),
    }


def open_protocol(dataset: Dataset, options: Options) -> Figures:
    """The method over the whole graphs: everyone matched, and only the links sure enough."""
    everyone = replace(options, among=None)
    alignment, metrics = _aligned(dataset.pair, everyone)
    level = PRESETS["best"].min_confidence
    sure = alignment.links.filter(pl.col("confidence") >= level)
    assert dataset.pair.gold is not None
    return {
        "everyone": _linking(metrics),
        "best": _linking(evaluate(sure, dataset.pair.gold)),
        "min_confidence": level,
    }


EXPERIMENTS: dict[str, Run] = {
    "datasets": count,
    "main": main_results,
    "solvers": solvers,
    "runtime": run_time,
    "temperature": temperature,
    "iterations": iterations,
    "depth": depth,
    "adjacency": adjacency,
    "paris": paris,
    "open": open_protocol,
}


@dataclass(frozen=True, eq=False)
class _Problem:
    """A profit matrix, and where in it the gold links are."""

    profit: Matrix
    rows: Positions
    columns: Positions

    def scores(self, plan: Plan) -> Figures:
        """Hits@1 and MRR of a plan."""
        ranks = ranks_of(self.profit, plan.right, self.rows, self.columns)
        return {"hits@1": float((ranks <= 1).mean()), "mrr": float((1 / ranks).mean())}


def _problem(pair: GraphPair, options: Options) -> _Problem:
    candidates = candidate_positions(pair, options)
    rows = neighbourhood_rows(pair, text_features(pair, options, {}), options)
    sides = [side.take(some) for side, some in zip(rows, candidates, strict=True)]
    return _Problem(make_profit(*sides).toarray(), *_gold_positions(pair, candidates))


def _gold_positions(
    pair: GraphPair, candidates: tuple[Positions, Positions]
) -> tuple[Positions, Positions]:
    """Where the gold links' entities are among the candidates, which are sorted."""
    assert pair.gold is not None
    return (
        np.searchsorted(candidates[0], pair.left.positions(pair.gold["left"])),
        np.searchsorted(candidates[1], pair.right.positions(pair.gold["right"])),
    )


def _curve(dataset: Dataset, variants: list[Options], varied: str) -> Figures:
    """Scores of options that differ in how the same profit is assigned."""
    problem = _problem(dataset.pair, variants[0])
    return {
        "curve": [
            {varied: getattr(options, varied), **problem.scores(_plan(problem.profit, options))}
            for options in variants
        ]
    }


def _plan(profit: Matrix, options: Options) -> Plan:
    return sinkhorn(profit, temperature=options.temperature, iterations=options.iterations)


def _aligned(pair: GraphPair, options: Options) -> tuple[Alignment, Metrics]:
    assert pair.gold is not None
    alignment = align(pair, options)
    return alignment, evaluate(alignment, pair.gold)


def _ranking(metrics: Metrics) -> Figures:
    return {"hits@1": metrics.hits_at_1, "hits@10": metrics.hits_at_10, "mrr": metrics.mrr}


def _linking(metrics: Metrics) -> Figures:
    return {
        "precision": metrics.precision,
        "strict_precision": metrics.strict_precision,
        "recall": metrics.recall,
        "f1": metrics.f1,
        "links": metrics.links,
    }


def _rounded(seconds: dict[str, float]) -> dict[str, float]:
    return {phase: round(value, 3) for phase, value in seconds.items()}


def _sameas(*arguments: str) -> Any:
    """What a command prints with --json, run as a user would."""
    return _json_of("-c", "from sameas.cli import main; main()", *arguments, "--json")


def _json_of(*command: str) -> Any:
    """What another Python process prints, as JSON."""
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[:2])} failed: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)


def options_for(features: Features, word_vectors: Path | None) -> Options:
    """The paper's settings in the paper's protocol."""
    return replace(
        PRESETS["paper"],
        features=features,
        word_vectors=None if features == "char" else word_vectors,
        among="gold",
        candidates=EVERYONE,
        memory=6 * 2**30,
    )
