"""From what a method found, by position, to the tables of an Alignment, by URI."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.alignment import SCHEMAS, Alignment, Diagnostics
from sameas.graph import Positions, positions_of
from sameas.inputs import Task
from sameas.pipeline.phases import Phases

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class PairTable:
    """Pairs by position among the entities that may be linked, with a figure or two each."""

    left: NDArray[np.integer]
    right: NDArray[np.integer]
    score: NDArray[np.floating]
    weight: NDArray[np.floating]
    """Confidence of links, rank of candidates, nearness of possible partners."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome:
    """What a method found."""

    links: PairTable
    ranked: PairTable
    """The best candidates of each left entity."""
    nearest: PairTable
    """The pairs among which an unmatched entity's best candidate is looked for."""
    diagnostics: dict[str, Any]
    gold_ranks: Callable[[Positions, Positions], Vector] | None = None
    """The rank of given pairs, NaN where it is not known."""
    prices: tuple[Vector, Vector] | None = None
    relations: pl.DataFrame | None = None
    anchors: pl.DataFrame | None = None


def make_alignment(task: Task, outcome: Outcome, phases: Phases) -> Alignment:
    """The result: links that are confident enough, and everything known about the others."""
    with phases.timed("confidence"):
        links = _pairs(task, outcome.links, "links")
        kept = links.filter(pl.col("confidence") >= task.options.min_confidence)
        threshold = outcome.diagnostics.get("threshold")
        tables = {
            "links": kept,
            "candidates": _pairs(task, outcome.ranked, "candidates"),
            "unmatched": _unmatched(task, outcome.nearest, links, kept, threshold),
            "gold_ranks": _gold_ranks(task, outcome),
            "prices": _prices(task, outcome),
            "relations": outcome.relations,
            "anchors": outcome.anchors,
        }
    vectors = task.inputs.word_vectors
    diagnostics = Diagnostics(
        left_entities=len(task.pair.left.entities),
        right_entities=len(task.pair.right.entities),
        left_candidates=len(task.sides[0]),
        right_candidates=len(task.sides[1]),
        word_vectors=None if vectors is None else vectors.description,
        **outcome.diagnostics,
    )
    return Alignment(
        options=task.options,
        diagnostics=diagnostics,
        load={"pair": task.pair, "inputs": task.inputs, **tables}.get,
        seconds=phases.seconds,
        resumed=tuple(phases.resumed),
    )


def _pairs(task: Task, pairs: PairTable, name: str) -> pl.DataFrame:
    left, right = task.entities
    schema = SCHEMAS[name]
    weight = next(name for name in schema if name not in ("left", "right", "score"))
    columns = {
        "left": left.gather(pairs.left),
        "right": right.gather(pairs.right),
        "score": pairs.score.astype(np.float64),
        weight: pairs.weight.astype(np.float64),
    }
    return pl.DataFrame(columns).select(list(schema)).cast(schema)


def _unmatched(
    task: Task,
    nearest: PairTable,
    links: pl.DataFrame,
    kept: pl.DataFrame,
    threshold: float | None,
) -> pl.DataFrame:
    """The entities without a link, each with the reason and its best candidate."""
    refined = threshold is not None
    tables = []
    for side, near, other, far in (
        ("left", nearest.left, "right", nearest.right),
        ("right", nearest.right, "left", nearest.left),
    ):
        entities, others = task.entities if side == "left" else task.entities[::-1]
        places = _best_places(near, nearest.weight)
        best = pl.DataFrame(
            {
                "entity": entities.gather(near[places]),
                "candidate": others.gather(far[places]),
                "score": nearest.score[places].astype(np.float64),
            }
        )
        dropped = pl.col("entity").is_in(links[side].implode()) & (not refined)
        reason = (
            pl.when(pl.col("candidate").is_null())
            .then(pl.lit("no-candidate"))
            .when((pl.col("score") <= 0) & refined)
            .then(pl.lit("below-threshold"))
            .when(dropped)
            .then(pl.lit("unsure"))
            .when(pl.col("candidate").is_in(kept[other].implode()))
            .then(pl.lit("taken"))
            .otherwise(pl.lit("unsure" if refined else "left-over"))
        )
        tables.append(
            pl.DataFrame({"side": pl.repeat(side, len(entities), eager=True), "entity": entities})
            .filter(~pl.col("entity").is_in(kept[side].implode()))
            .join(best, on="entity", how="left", maintain_order="left")
            .with_columns(reason=reason)
            .select(list(SCHEMAS["unmatched"]))
        )
    return pl.concat(tables).cast(SCHEMAS["unmatched"])


def _best_places(groups: NDArray[np.integer], weight: NDArray[np.floating]) -> Positions:
    """The place of the largest weight in each group, ties by order."""
    order = np.lexsort((-weight, groups))
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = groups[order[1:]] != groups[order[:-1]]
    places: Positions = order[first]
    return places


def _gold_ranks(task: Task, outcome: Outcome) -> pl.DataFrame | None:
    """The rank of each gold link between entities that may be linked, where it is known."""
    gold = task.pair.gold
    if gold is None or outcome.gold_ranks is None:
        return None
    left, right = (
        positions_of(gold[side], entities)
        for side, entities in zip(("left", "right"), task.entities, strict=True)
    )
    inside = (left >= 0) & (right >= 0)
    ranks = outcome.gold_ranks(left[inside], right[inside])
    return (
        gold.select("left", "right")
        .filter(pl.Series(inside))
        .with_columns(rank=pl.Series(ranks, dtype=pl.Float64))
        .filter(pl.col("rank").is_not_nan())
    )


def _prices(task: Task, outcome: Outcome) -> pl.DataFrame | None:
    if outcome.prices is None:
        return None
    return pl.concat(
        pl.DataFrame(
            {
                "side": pl.repeat(side, len(entities), eager=True),
                "entity": entities,
                "price": prices,
            }
        )
        for side, entities, prices in zip(
            ("left", "right"), task.entities, outcome.prices, strict=True
        )
    )


def prices_of(alignment: Alignment) -> tuple[Vector, Vector]:
    """The exact solver's left and right prices."""
    assert alignment.prices is not None
    left, right = (
        alignment.prices.filter(pl.col("side") == side)["price"].to_numpy()
        for side in ("left", "right")
    )
    return left, right
