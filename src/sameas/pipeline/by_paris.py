"""PARIS, as an independent second opinion."""

from __future__ import annotations

import numpy as np
import polars as pl

from sameas.alignment import SCHEMAS
from sameas.budget import BASE
from sameas.inputs import Task
from sameas.paris import maximal_links, paris
from sameas.pipeline.phases import Phases
from sameas.pipeline.result import Outcome, PairTable


def align_by_paris(task: Task, phases: Phases) -> Outcome:
    """The links that PARIS's probabilities give."""
    pair, options = task.pair, task.options
    with phases.timed("paris") as report:
        found = paris(
            pair.left,
            pair.right,
            iterations=max(options.iterations, 1),
            memory=options.memory - BASE,
            progress=report,
        )
    with phases.timed("links"):
        found = found.among(*task.sides)
        left, right = (
            np.searchsorted(positions, column)
            for positions, column in zip(task.sides, (found.left, found.right), strict=True)
        )
        rank, score = found.ranks(), found.probability
        top = rank <= options.top
        rows, columns, probability = maximal_links(found)
        rows, columns = (
            np.searchsorted(positions, column)
            for positions, column in zip(task.sides, (rows, columns), strict=True)
        )
        ranked = PairTable(left=left[top], right=right[top], score=score[top], weight=rank[top])
        return Outcome(
            links=PairTable(left=rows, right=columns, score=probability, weight=probability),
            ranked=ranked,
            nearest=PairTable(
                left=ranked.left, right=ranked.right, score=ranked.score, weight=ranked.score
            ),
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
            },
        )
