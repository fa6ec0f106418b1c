"""The audit of the links of a run: what decoys and runner-ups tell of wrong and missed links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.assignment.decision import Chance
from sameas.compute.arrays import Vector
from sameas.compute.parallel import meanwhile
from sameas.graph.matched import MatchedPair
from sameas.options.tuning import TUNING, AuditTuning
from sameas.refinement.refine import Refinement
from sameas.result.audit.calibration import Curve, Histogram, fit_curve, histogram, level_for
from sameas.result.audit.decoys import BestMatches, draw_decoys, free_entities
from sameas.result.audit.figures import Observed, figures_of, why_untold, wrong_links
from sameas.result.audit.groups import groups_of
from sameas.result.audit.record import Audit, Group, Point
from sameas.similarity.model import Model

SEED = 0
POINTS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


def audit_links(
    pair: MatchedPair,
    model: Model,
    refinement: Refinement,
    links: tuple[BestMatches, BestMatches],
    chances: Mapping[int, Chance],
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
    tuning, accept = model.tuning.audit, model.tuning.open.accept
    numbers = [side for side in (0, 1) if model.constraints.single[side]]
    free = [links[side].select(free_entities(model.constraints, side)) for side in numbers]
    if not free or min(int((each.probability > accept).sum()) for each in free) < tuning.fewest:
        return None
    rng = np.random.default_rng(SEED)
    graph = (pair.left, pair.right)[numbers[0]]
    with meanwhile(partial(groups_of, graph, fewest=tuning.group)) as labels_by:
        fits = dict(zip(numbers, free, strict=True))
        decoys_of = draw_decoys(model, refinement, chances, fits, rng)
        groups = labels_by()
    sides = tuple(Side(*both, tuning) for both in zip(free, decoys_of, strict=True))
    probability = free[0].probability[free[0].partner >= 0]
    best = estimate(sides, histogram(probability, tuning=tuning))
    level = min_confidence
    if max_error is not None:
        level = max(level, level_for(best.curve(probability), max_error))
    kept = (best.curve.confidence(probability) if calibrated else probability) >= level
    counts = [int(free_entities(model.constraints, side).sum()) for side in (0, 1)]
    wrong = sum(chance.wrong for chance in chances.values())
    most = min(counts[side] for side in numbers)
    observed = Observed(probability, kept, best.curve, wrong, most)
    decoys = {number: len(side.decoys.entity) for number, side in zip(numbers, sides, strict=True)}
    points = zip(POINTS, best.curve.confidence(np.array(POINTS)).tolist(), strict=True)
    figures: dict[str, Any] = figures_of(observed, (counts[0], counts[1]), tuning=tuning)
    return Audit(
        links=int(kept.sum()),
        **figures,
        untold=why_untold(observed, tuning=tuning),
        wrong_by_decoys=wrong_links(observed, tuning=tuning).value,
        wrong_by_runner_ups=observed.select(kept).runner_wrong,
        left_decoys=decoys.get(0, 0),
        right_decoys=decoys.get(1, 0),
        a=best.curve.a,
        b=best.curve.b,
        level=level,
        curve=tuple(Point(*point) for point in points),
        groups=tuple(
            group
            for by, labels in groups.items()
            for group in _groups(by, labels, sides, best, level)
        ),
    )


def _groups(
    by: str, labels: pl.Series, sides: tuple[Side, ...], estimated: Estimate, level: float
) -> list[Group]:
    """The precision of each group that has links enough, those with most links first."""
    judged, result = sides[0], []
    fewest, prior = judged.tuning.group, judged.tuning.group_prior
    # For how many wrong links that are kept each decoy stands.
    wrong = [
        counts * (estimated.curve.confidence(side.decoys.probability) >= level)
        for counts, side in zip(estimated.wrong, sides, strict=True)
    ]
    everyone, decoys = (labels.gather(each.entity) for each in (judged.everyone, judged.decoys))
    others = labels.gather(np.maximum(sides[1].decoys.partner, 0)) if len(sides) == 2 else None
    linked = estimated.curve.confidence(judged.everyone.probability) >= level
    alone = max(judged.like_decoys(), 1e-9)
    usual = wrong[0].sum() / alone
    for name in everyone.filter(linked).drop_nulls().unique().sort():
        mine, drawn = ((each == name).fill_null(False).to_numpy() for each in (everyone, decoys))
        links = int((linked & mine).sum())
        if links < fewest:
            continue
        rate = wrong[0][drawn].sum() * len(drawn) / alone
        rate = (rate + prior * usual) / (drawn.sum() + prior)
        if drawn.sum() < fewest:
            errors = rate * judged.like_decoys(which=mine)
        else:
            alike = Side(judged.everyone.select(mine), judged.decoys.select(drawn), judged.tuning)
            errors = rate * alike.like_decoys()
        if others is not None:
            errors += wrong[1][(others == name).fill_null(False).to_numpy()].sum()
        result.append(Group(by, name, links, float(np.clip(1 - errors / links, 0.0, 1.0))))
    return sorted(result, key=lambda group: (-group.links, group.name))


@dataclass(frozen=True, eq=False)
class Side:
    """The entities of one side that may be linked, and those of them that became decoys."""

    everyone: BestMatches
    decoys: BestMatches
    tuning: AuditTuning = TUNING.audit

    @cached_property
    def places(self) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
        """Of everyone, and of the decoys, the place of the best candidate among those of decoys.

        It is odd for one that is equal to a decoy's, and even for one between two of them.
        """
        values = np.unique(self.decoys.best)
        everyone, decoys = (
            np.searchsorted(values, fits.best, "left") + np.searchsorted(values, fits.best, "right")
            for fits in (self.everyone, self.decoys)
        )
        return everyone, decoys

    def like_decoys(self, which: NDArray[np.bool_] | None = None) -> float:
        """How many entities (those of ``which``) have candidates like an entity without partner.

        Let u be the share of decoys whose best candidate is worse than an entity's. It is spread
        evenly for entities without a partner and near one for the others, so that the sum of
        (1 - u) ** 2, divided by what decoys give, is the number of the former. (Storey 2002
        estimates the share of true null hypotheses in this way.) Entities whose partner looks
        unlike them count too: they are linked wrongly as often.
        """
        everyone, decoys = self.places
        chosen = everyone if which is None else everyone[which]
        steps = np.bincount(decoys // 2)
        below = np.append(0.0, np.cumsum(steps)) / steps.sum()
        middle = (below[:-1] + below[1:]) / 2
        unlike = np.empty(2 * len(steps) + 1)
        unlike[0::2], unlike[1::2] = 1 - below, 1 - middle
        shares = np.clip(unlike, 0.0, 1.0) ** self.tuning.power
        expected = np.bincount(chosen, minlength=len(shares)) @ shares
        usual = steps @ shares[1::2] / steps.sum()
        return float(min(expected / usual, len(chosen)))


@dataclass(frozen=True, eq=False)
class Estimate:
    """What decoys tell."""

    curve: Curve
    wrong: list[Vector]
    """By side, for how many wrong links the link of each decoy stands."""


def estimate(sides: tuple[Side, ...], links: Histogram) -> Estimate:
    """The calibration by which links hold as many wrong ones as decoys tell."""
    alone = [side.like_decoys() for side in sides]
    probability = np.concatenate([side.decoys.probability for side in sides])
    curve, tuning = Curve(), sides[0].tuning
    for _ in range(tuning.turns):
        wrong = _wrong_links(sides, alone, curve)
        counts = np.concatenate(wrong)
        curve = fit_curve(links, probability, counts, tuning=tuning).bounded(tuning)
    return Estimate(curve, wrong)


def _wrong_links(sides: tuple[Side, ...], alone: list[float], curve: Curve) -> list[Vector]:
    """By side, for how many wrong links the link of each decoy stands.

    A wrong link between two entities that both have no partner is told by the decoys of both
    sides; each of these counts half. Whether the other entity has a partner is taken from its
    own link.
    """
    stands_for = []
    for number, side in enumerate(sides):
        partner, share = side.decoys.partner, np.ones(len(side.decoys.partner))
        if len(sides) == 2:
            other = sides[1 - number].everyone
            chance = np.zeros(max(int(partner.max()), int(other.entity.max(initial=0)), 0) + 1)
            chance[other.entity] = other.probability
            share = (1 + curve(chance[partner])) / 2
        stands_for.append(np.where(partner >= 0, share * alone[number] / len(partner), 0.0))
    return stands_for
