"""Candidates where an earlier run is known: its own, and those of entities new or renamed."""

from __future__ import annotations

import numpy as np
import polars as pl

from sameas.candidates.pairs import Candidates
from sameas.candidates.search import namesakes
from sameas.compute.arrays import Positions
from sameas.compute.topk import distinct
from sameas.graph.task import Sides, Task
from sameas.similarity.model import Model


def searched_anew(task: Task) -> Sides:
    """The positions of the entities that are new, or have other names than in the earlier run.

    Of those whose attributes or triples alone have changed, the earlier candidates are scored
    again, and refinement adds what linked neighbours speak for.
    """
    earlier = task.inputs.earlier
    assert earlier is not None
    other_name = pl.col("reason").str.contains("name", literal=True)
    rows = earlier.entities.filter((pl.col("change") == "new") | other_name)
    left, right = (
        np.sort(graph.positions(rows.filter(side=side)["entity"]))
        for side, graph in zip(("left", "right"), task.pair.graphs, strict=True)
    )
    return left, right


def little_changed(task: Task) -> bool:
    """Whether the graphs are large, an earlier run is known and few entities are searched anew."""
    sizes, tuning = [len(graph.linkable) for graph in task.pair.graphs], task.tuning.since
    if task.inputs.earlier is None or max(sizes) <= tuning.small:
        return False
    counts = (len(some) for some in searched_anew(task))
    shares = (count / max(size, 1) for count, size in zip(counts, sizes, strict=True))
    return max(shares) <= tuning.searched


def earlier_pairs(task: Task) -> tuple[Positions, Positions, pl.Series]:
    """The pairs of the earlier run whose entities are still there, and their trust as anchors."""
    earlier = task.inputs.earlier
    assert earlier is not None
    left, right = (
        graph.positions(earlier.pairs[side])
        for side, graph in zip(("left", "right"), task.pair.graphs, strict=True)
    )
    here = (left >= 0) & (right >= 0)
    return left[here], right[here], earlier.pairs["trust"].filter(pl.Series(here))


def search_since(task: Task, model: Model) -> Candidates:
    """The pairs of the earlier run, and the partners of entities that are searched anew."""
    options, tuning = task.options, task.tuning.search
    left, right, _ = earlier_pairs(task)
    n, m = model.profit.shape
    known = np.sort(left * np.int64(m) + right)
    count = max(int(options.candidates * tuning.clue_share), tuning.partners)
    new = namesakes(model, options, count=count, only=searched_anew(task))
    numbers = distinct([known, new])
    starts = np.searchsorted(numbers, np.arange(n + 1) * np.int64(max(m, 1)))
    partners = (numbers % max(m, 1)).astype(np.int32)
    return Candidates((n, m), starts, partners, model.profit.partners(starts, partners))
