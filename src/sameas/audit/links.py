"""The audit of the links of a run."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.audit.calibration import MADE, histogram, level_for
from sameas.audit.decoys import Finished, Fits, draw_decoys
from sameas.audit.estimates import Estimate, Side, estimate, make_side, resampled
from sameas.audit.groups import groups_of
from sameas.audit.record import Audit, Group, Point
from sameas.graph import GraphPair

Vector = NDArray[np.float64]

FEWEST = 100
"""With fewer links, nothing is said."""
SEED = 0
SAMPLES = 60
OUTSIDE = 0.025
"""Share of the resampled estimates below, and above, an interval."""
GROUP = 30
"""Links and decoys that a group must have to be judged by itself."""
USUAL = 10
"""Decoys of all groups that are added to those of a group."""
POINTS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


def audit_links(
    pair: GraphPair,
    finished: Finished,
    links: tuple[Fits, Fits],
    *,
    min_confidence: float,
    max_error: float | None = None,
    calibrated: bool = True,
) -> Audit | None:
    """The audit of the links of all left and of all right entities; None with too few links.

    It is about the links of at least this confidence; of this probability in the plan, if they
    were chosen by that (not ``calibrated``). Only a side whose entities have one partner at most
    can have decoys.
    """
    numbers = [side for side in (0, 1) if finished.known.single[side]]
    free = [links[side].select(finished.free(side)) for side in numbers]
    if not free or min(int((each.probability > MADE).sum()) for each in free) < FEWEST:
        return None
    rng = np.random.default_rng(SEED)
    decoys_of = draw_decoys(finished, dict(zip(numbers, free, strict=True)), rng)
    sides = tuple(map(make_side, free, decoys_of))
    found = free[0].probability[free[0].partner >= 0]
    usual = tuple(np.ones(len(side.decoys.entity)) for side in sides)
    best = estimate(sides, usual, histogram(found))
    confidence = best.curve.confidence(found)
    level = min_confidence
    if max_error is not None:
        level = max(level, level_for(best.curve(found), max_error))
    kept = found[(confidence if calibrated else found) >= level]
    counts = [int(mask.sum()) for mask in (finished.free(0), finished.free(1))]
    figures = _figures(best, kept, counts, luck=0.0)
    samples = [
        _figures(each, kept, counts, luck=luck)
        for each, luck in zip(
            resampled(sides, found, SAMPLES, rng), rng.standard_normal(SAMPLES), strict=True
        )
    ]
    values: dict[str, Any] = {}
    for name, value in figures.items():
        low, high = np.quantile([each[name] for each in samples], [OUTSIDE, 1 - OUTSIDE])
        values[name] = value
        values[f"{name}_low"], values[f"{name}_high"] = min(low, value), max(high, value)
    decoys = dict.fromkeys((0, 1), 0)
    decoys |= {number: len(side.decoys.entity) for number, side in zip(numbers, sides, strict=True)}
    graph = (pair.left, pair.right)[numbers[0]]
    points = zip(POINTS, best.curve.confidence(np.array(POINTS)), strict=True)
    return Audit(
        links=len(kept),
        **{name: float(value) for name, value in values.items()},
        left_decoys=decoys[0],
        right_decoys=decoys[1],
        a=best.curve.a,
        b=best.curve.b,
        level=level,
        curve=tuple(Point(p, float(confidence)) for p, confidence in points),
        groups=tuple(
            group
            for by, labels in groups_of(graph).items()
            for group in _groups(by, labels, sides, usual, best, level)
        ),
    )


def _figures(found: Estimate, kept: Vector, counts: list[int], *, luck: float) -> dict[str, float]:
    """The figures that an estimate gives; ``luck`` is how many deviations more links are right."""
    confidence = found.curve(kept)
    chance = np.sqrt((confidence * (1 - confidence)).sum())
    right = float(np.clip(confidence.sum() + luck * chance, 0.0, len(kept)))
    counterparts = max(found.counterparts, right)
    precision, recall = right / max(len(kept), 1), right / max(counterparts, 1e-9)
    return {
        "right": right,
        "precision": precision,
        "recall": recall,
        "f1": 2 * right / max(len(kept) + counterparts, 1e-9),
        "missed": counterparts - right,
        "left_without": max(1 - counterparts / max(counts[0], 1), 0.0),
        "right_without": max(1 - counterparts / max(counts[1], 1), 0.0),
    }


def _groups(
    by: str,
    labels: pl.Series,
    sides: tuple[Side, ...],
    weights: tuple[Vector, ...],
    found: Estimate,
    level: float,
) -> list[Group]:
    """The precision of each group that has links enough, those with most links first."""
    own, result = sides[0], []
    made = [found.curve.confidence(each.probability) >= level for each in found.wrong]
    everyone, decoys = (labels.gather(each.entity) for each in (own.everyone, own.decoys))
    others = labels.gather(np.maximum(sides[1].decoys.partner, 0)) if len(sides) == 2 else None
    linked = found.curve.confidence(own.everyone.probability) >= level
    alone = max(own.like_decoys(weights[0]), 1e-9)
    usual = (found.wrong[0].weights * made[0]).sum() / alone
    for name in everyone.filter(linked).drop_nulls().unique().sort():
        mine, drawn = ((each == name).fill_null(False).to_numpy() for each in (everyone, decoys))
        links = int((linked & mine).sum())
        if links < GROUP:
            continue
        rate = (found.wrong[0].weights * made[0])[drawn].sum() * len(drawn) / alone
        rate = (rate + USUAL * usual) / (drawn.sum() + USUAL)
        wrong = rate * _alone(own, weights[0], mine, drawn)
        if others is not None:
            here = (others == name).fill_null(False).to_numpy() & made[1]
            wrong += found.wrong[1].weights[here].sum()
        result.append(Group(by, name, links, float(np.clip(1 - wrong / links, 0.0, 1.0))))
    return sorted(result, key=lambda group: (-group.links, group.name))


def _alone(side: Side, weights: Vector, mine: NDArray[np.bool_], drawn: NDArray[np.bool_]) -> float:
    """How many entities of a group have candidates like those of decoys, if it can, its own."""
    if drawn.sum() < GROUP:
        return side.like_decoys(weights, mine)
    group = make_side(side.everyone.select(mine), side.decoys.select(drawn))
    return group.like_decoys(weights[drawn])
