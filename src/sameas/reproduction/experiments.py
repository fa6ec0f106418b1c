"""The paper's experiments, and some it leaves out: functions from a dataset to figures."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from sameas.adjacency import Adjacency, adjacency_matrices
from sameas.assignment import Plan, Problem, assign, ranks_of, sinkhorn
from sameas.graph import Graph, GraphPair, Positions
from sameas.options import Options
from sameas.pipeline import candidate_positions, neighbourhood_rows, text_features
from sameas.profit import StoredProfit, make_profit
from sameas.propagation import hop
from sameas.reproduction import experiments_best as best
from sameas.reproduction.datasets import Dataset
from sameas.reproduction.runs import (
    Figures,
    aligned,
    linking,
    measured_command,
    plain_procedure,
    ranking,
    rounded,
)
from sameas.rows import Matrix, unit

Run = Callable[[Dataset, Options], Figures]

TEMPERATURES = (0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5)
ITERATIONS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50)
DEPTHS = range(6)


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
    alignment, metrics = aligned(dataset.pair, options)
    words = {key: alignment.facts[key] for key in alignment.facts if key.startswith("words")}
    return {
        **ranking(metrics),
        "seconds": rounded(alignment.seconds),
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
    links = Problem(stored).rounded(plan)
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
    """Whole commands and the plain procedure, one after the other, each in its own process."""
    figures = {preset: measured_command(dataset, preset) for preset in ("paper", "best")}
    plain = plain_procedure(dataset)
    ratios = {
        preset: round(plain["total"] / command["total"], 2) for preset, command in figures.items()
    }
    return {**figures, "plain": plain, "ratios": ratios}


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
        total += make_profit(*rows).toarray()
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
    alignment, metrics = aligned(pair, other)
    _, ours = aligned(pair, options)
    return {
        "paris": {
            **linking(metrics),
            "iterations": alignment.facts["iterations"],
            "seconds": round(sum(alignment.seconds.values()), 3),
        },
        "sameas": linking(ours),
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
    "best": best.whole_command,
    "open": best.open_protocol,
    "hidden": best.hidden_half,
    "ablation": best.ablation,
    "sensitivity": best.sensitivity,
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
