"""Alignment: the result, with all that is needed to judge it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from sameas.graph import GraphPair
from sameas.options import Options

if TYPE_CHECKING:
    from sameas.explanation import Explanation
    from sameas.explanation.result import Side


@dataclass(frozen=True, eq=False, kw_only=True)
class Alignment:
    """Which left entity is which right one.

    ``links``: left, right, score, confidence. The score is the profit; after refinement, the
    log-odds of the pair beyond the price of staying alone. ``candidates``: the best right entities
    of each left one, with ``rank`` (one for the best; equals share their mean rank) and score.
    ``unmatched``: side, entity and reason, and the best candidate with its score where there is
    one. Entities are named by URI everywhere.
    """

    pair: GraphPair
    options: Options
    links: pl.DataFrame
    candidates: pl.DataFrame
    unmatched: pl.DataFrame
    relations: pl.DataFrame | None = None
    """Which relation matches which (left, right, inverse, match, edges), where refinement found
    out; ``edges`` is on how many edges between sure links both were seen."""
    anchors: pl.DataFrame | None = None
    """left, right and trust of the links that refinement learned from in the end."""
    gold_ranks: pl.DataFrame | None = None
    """left, right and rank of every gold link between candidates, where gold links are known;
    for evaluation alone."""
    prices: pl.DataFrame | None = None
    """side, entity and price of every candidate, where the exact solver found them: no pair's
    profit exceeds the sum of its prices, which proves the links to be the best."""
    solver: str
    objective: float
    """Total profit (or probability) of all links, those dropped for low confidence included."""
    optimality_gap: float | None
    """How far the objective can be from the best possible, as a share of it."""
    facts: dict[str, Any] = field(default_factory=dict)
    """Further counts: convergence, words without a vector and the like."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Time by phase; not part of the result."""
    resumed: tuple[str, ...] = ()
    """Phases that were taken over from an interrupted run; not part of the result either."""

    def __repr__(self) -> str:
        """Counts instead of contents."""
        return (
            f"Alignment({len(self.links)} links, {self.count_unmatched('left')} left and "
            f"{self.count_unmatched('right')} right entities unmatched)"
        )

    @property
    def ranked(self) -> pl.DataFrame:
        """Every pair whose rank is known (left, right, rank): candidates and gold links."""
        return known_ranks(self.candidates, self.gold_ranks)

    def explain(
        self, entity: str, other: str | None = None, *, side: Side | None = None
    ) -> Explanation:
        """Why an entity has the partner it has, or none; with ``other``, why not that one.

        Entities are given by URI, or by a name that only they have. Print the result.
        """
        from sameas.explanation import explain

        return explain(self, entity, other, side=side)

    def count_unmatched(self, side: str) -> int:
        """How many candidates of a side have no link."""
        return len(self.unmatched.filter(pl.col("side") == side))

    def summary(self) -> dict[str, Any]:
        """The figures that describe the result, the same for the same input."""
        return {
            "links": len(self.links),
            "left_entities": len(self.pair.left.entities),
            "right_entities": len(self.pair.right.entities),
            "unmatched_left": self.count_unmatched("left"),
            "unmatched_right": self.count_unmatched("right"),
            "solver": self.solver,
            "objective": self.objective,
            "optimality_gap": self.optimality_gap,
            **self.facts,
        }


def known_ranks(candidates: pl.DataFrame, gold_ranks: pl.DataFrame | None) -> pl.DataFrame:
    """The ranks of candidates and of gold links in one table, each pair once."""
    tables = [candidates.select("left", "right", "rank")]
    if gold_ranks is not None:
        tables.append(gold_ranks.select("left", "right", "rank"))
    return pl.concat(tables).unique(["left", "right"], keep="first", maintain_order=True)
