"""PARIS, as an independent second opinion."""

from __future__ import annotations

import polars as pl

from sameas.alignment import Alignment
from sameas.budget import BASE
from sameas.graph import GraphPair
from sameas.options import Options
from sameas.paris import maximal_links, paris
from sameas.pipeline.clock import Clock
from sameas.pipeline.entities import candidate_positions
from sameas.pipeline.tables import kept_links


def align_by_paris(pair: GraphPair, options: Options, clock: Clock) -> Alignment:
    """The links that PARIS's probabilities give."""
    left, right = candidate_positions(pair, options)
    with clock.phase("paris") as report:
        found = paris(
            pair.left,
            pair.right,
            iterations=max(options.iterations, 1),
            memory=options.memory - BASE,
            progress=report,
        )
    with clock.phase("links"):
        found = found.among(left, right)
        rows, columns, probability = maximal_links(found)
        left_uri, right_uri = pair.left.entities, pair.right.entities
        links = pl.DataFrame(
            {
                "left": left_uri.gather(rows),
                "right": right_uri.gather(columns),
                "score": probability,
                "confidence": probability,
            }
        )
        candidates = pl.DataFrame(
            {
                "left": left_uri.gather(found.left),
                "right": right_uri.gather(found.right),
                "rank": found.ranks(),
                "score": found.probability,
            }
        ).filter(pl.col("rank") <= options.top)
        tables = kept_links(
            left_uri.gather(left), right_uri.gather(right), links, candidates, options
        )
    return Alignment(
        pair=pair,
        options=options,
        **tables,
        candidates=candidates,
        solver="paris",
        objective=float(probability.sum()),
        optimality_gap=None,
        facts={
            "left_candidates": len(left),
            "right_candidates": len(right),
            "iterations": found.iterations,
            "converged": found.converged,
        },
        seconds=clock.seconds,
    )
