"""PARIS, as an independent second opinion."""

from __future__ import annotations

import numpy as np
import polars as pl

from sameas.alignment import SCHEMAS
from sameas.budget import plan_paris
from sameas.inputs import Task
from sameas.paris import Pairs, maximal_links, paris
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

    def table(pairs: Pairs) -> pl.DataFrame:
        left, right = map(np.searchsorted, task.sides, (pairs.left, pairs.right))
        columns = {"score": pairs.probability, "evidence": pairs.evidence}
        return pl.DataFrame({"left": left, "right": right, **columns})

    with phases.timed("links"):
        pairs, known = found.pairs, task.known
        among = known.inside[0][pairs.left] & known.inside[1][pairs.right]
        pairs = pairs.where(among & known.allows(pairs.left, pairs.right))
        links = table(maximal_links(pairs))
        rank = pl.col("evidence").rank("average", descending=True).over("left")
        return Outcome(
            links=links.with_columns(confidence="score"),
            ranked=table(pairs).with_columns(rank=rank).filter(pl.col("rank") <= options.top),
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
