"""PARIS, as an independent second opinion."""

from __future__ import annotations

import numpy as np
import polars as pl

from sameas.alignment import SCHEMAS
from sameas.budget import plan_paris
from sameas.graph import Positions
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

    def pairs(left: Positions, right: Positions) -> pl.DataFrame:
        lefts, rights = task.sides
        return pl.DataFrame(
            {"left": np.searchsorted(lefts, left), "right": np.searchsorted(rights, right)}
        )

    with phases.timed("links"):
        inside, known = task.known.inside, task.known
        among = inside[0][found.left] & inside[1][found.right]
        found = found.where(among & known.allows(found.left, found.right))
        ranked = pairs(found.left, found.right).with_columns(
            score=found.probability, rank=found.ranks()
        )
        left, right, probability = maximal_links(found)
        return Outcome(
            links=pairs(left, right).with_columns(score=probability, confidence=probability),
            ranked=ranked.filter(pl.col("rank") <= options.top),
            relations=found.relations.with_columns(
                match=pl.max_horizontal("left_in_right", "right_in_left"),
                edges=pl.lit(None, dtype=pl.Int64),
            ).select(*SCHEMAS["relations"], "left_in_right", "right_in_left"),
            diagnostics={
                "solver": "paris",
                "objective": float(probability.sum()),
                "iterations": found.iterations,
                "converged": found.converged,
                "relation_matches": len(found.relations),
                "memory_expected_bytes": expected,
            },
        )
