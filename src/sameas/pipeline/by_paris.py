"""PARIS, as an independent second opinion."""

from __future__ import annotations

import numpy as np
import polars as pl

from sameas.alignment import SCHEMAS
from sameas.budget import plan_paris
from sameas.inputs import Task
from sameas.paris import maximal_links, paris
from sameas.pipeline.phases import Phases
from sameas.pipeline.result import Outcome


def align_by_paris(task: Task, phases: Phases) -> Outcome:
    """The links that PARIS's probabilities give."""
    pair, options = task.pair, task.options
    expected = plan_paris(task)
    with phases.timed("paris") as report:
        found = paris(
            pair.left,
            pair.right,
            iterations=max(options.iterations, 1),
            memory=options.memory - expected,
            progress=report,
        )

    with phases.timed("links"):
        known, sides = task.known, ("left", "right")
        left, right = (found.pairs[side].to_numpy() for side in sides)
        allowed = known.inside[0][left] & known.inside[1][right] & known.allows(left, right)
        pairs = found.pairs.with_columns(
            left=np.searchsorted(task.sides[0], left),
            right=np.searchsorted(task.sides[1], right),
            score="probability",
        ).filter(pl.Series(allowed))
        links = maximal_links(pairs)
        rank = pl.col("evidence").rank("average", descending=True).over("left")
        return Outcome(
            links=links.with_columns(confidence="score"),
            ranked=pairs.with_columns(rank=rank).filter(pl.col("rank") <= options.top),
            relations=found.relations.with_columns(
                match=pl.max_horizontal("left_in_right", "right_in_left"),
                edges=pl.lit(None, dtype=pl.Int64),
            ).select(*SCHEMAS["relations"], "left_in_right", "right_in_left"),
            diagnostics={
                "solver": "paris",
                "objective": float(links["score"].to_numpy().sum()),
                "iterations": found.iterations,
                "converged": found.converged,
                "relation_matches": len(found.relations),
                "memory_expected_bytes": expected,
            },
        )
