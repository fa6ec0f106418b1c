"""The paper's procedure written plainly: the measure for speed, and a check on the results.

What a reader of the paper would write first: dense float64 features filled by loops, one matrix
product per hop, Sinkhorn by dividing the whole matrix, ranks by sorting every row. Run as

    python -m experiments.plain FOLDER [--solver hungarian]

it prints one JSON object with seconds by phase, the scores and the largest memory it took.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from sameas.formats.pair import read_pair
from sameas.graph.matched import MatchedPair
from sameas.pipeline.memory import peak_memory
from sameas.pipeline.phases import Phases

Dense = NDArray[np.float64]


def bigram_counts(names: list[str]) -> Dense:
    """Counts of the bigrams within the words of each name, as unit rows."""
    bigrams: dict[str, int] = {}
    for name in names:
        for word in name.split():
            for k in range(len(word) - 1):
                bigrams.setdefault(word[k : k + 2].lower(), len(bigrams))
    counts = np.zeros((len(names), len(bigrams)))
    for row, name in enumerate(names):
        for word in name.split():
            for k in range(len(word) - 1):
                counts[row, bigrams[word[k : k + 2].lower()]] += 1
    return unit(counts)


def unit(rows: Dense) -> Dense:
    """Rows of length one."""
    scaled: Dense = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return scaled


def relational_adjacency(pair: MatchedPair) -> csr_array:
    """Both graphs in one matrix: edges by the rarity of their relations, and self-loops."""
    left, right = pair.left, pair.right
    shift = np.array([len(left.entities), len(left.relations), len(left.entities)])
    triples = np.concatenate([left.triples, right.triples + shift])
    relations = len(left.relations) + len(right.relations)
    inverse = np.stack([triples[:, 2], triples[:, 1] + relations, triples[:, 0]], axis=1)
    every = np.unique(np.concatenate([triples, inverse]), axis=0)
    size = len(left.entities) + len(right.entities)
    rarity = np.log(len(every) / np.maximum(np.bincount(every[:, 1]), 1))
    loops = np.arange(size)
    weights = np.concatenate([rarity[every[:, 1]], np.full(size, np.log(len(every) / size))])
    ends = np.r_[every[:, 0], loops], np.r_[every[:, 2], loops]
    return csr_array((weights, ends), shape=(size, size))


def profit_of(pair: MatchedPair, features: Dense, depth: int = 2) -> Dense:
    """The mean of the hop-wise cosines between the gold links' left and right entities."""
    assert pair.gold is not None
    adjacency = relational_adjacency(pair)
    rows = pair.left.positions(pair.gold["left"])
    columns = pair.right.positions(pair.gold["right"]) + len(pair.left.entities)
    profit: Dense = features[rows] @ features[columns].T
    for _ in range(depth):
        features = unit(adjacency @ features)
        profit += features[rows] @ features[columns].T
    profit /= depth + 1
    return profit


def sinkhorn_ranks(profit: Dense, temperature: float = 0.02, iterations: int = 10) -> Dense:
    """The rank of the diagonal in each row of the plan; ``profit`` is used up."""
    plan = np.exp(profit / temperature, out=profit)
    for _ in range(iterations):
        plan /= plan.sum(axis=1, keepdims=True)
        plan /= plan.sum(axis=0, keepdims=True)
    ranks = np.empty(len(plan))
    for row in range(len(plan)):
        ranks[row] = 1 + np.argmax(np.argsort(-plan[row]) == row)
    return ranks


def exact_hits(profit: Dense) -> float:
    """The share of the diagonal in the assignment of largest profit, by SciPy's dense solver."""
    _, chosen = linear_sum_assignment(profit, maximize=True)
    return float((chosen == np.arange(len(chosen))).mean())


def measure(folder: str, solver: str = "sinkhorn") -> dict[str, Any]:
    """Seconds by phase, the total and the scores of the plain procedure on one dataset."""
    phases = Phases()
    with phases.timed("reading"):
        pair = read_pair(folder)
    with phases.timed("features"):
        features = bigram_counts([*pair.left.names, *pair.right.names])
    with phases.timed("profit"):
        profit = profit_of(pair, features)
    with phases.timed("assignment"):
        if solver == "hungarian":
            scores = {"hits@1": exact_hits(profit)}
        else:
            ranks = sinkhorn_ranks(profit)
            scores = {
                "hits@1": float((ranks <= 1).mean()),
                "hits@10": float((ranks <= 10).mean()),
                "mrr": float((1 / ranks).mean()),
            }
    seconds = {phase: round(taken, 3) for phase, taken in phases.seconds.items()}
    return {
        "seconds": seconds,
        "total_seconds": round(sum(phases.seconds.values()), 3),
        **scores,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--solver", choices=("sinkhorn", "hungarian"), default="sinkhorn")
    given = parser.parse_args()
    found = measure(given.folder, given.solver)
    print(json.dumps({**found, "peak_memory_bytes": peak_memory()}))
