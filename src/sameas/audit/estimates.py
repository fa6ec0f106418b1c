"""What decoys tell about a run: wrong links, missed counterparts, entities without one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sameas.audit.calibration import MADE, Curve, Histogram, fit_curve, histogram
from sameas.audit.decoys import Fits

Vector = NDArray[np.float64]

POWER = 2
"""How much entities count the more, the worse their best candidate is, in ``like_decoys``."""
SILENT = 0.03
"""Links of a lower probability are as good as none."""
TURNS = 3
"""How often the curve is fitted, each time with the confidences of the last one."""


@dataclass(frozen=True, eq=False)
class Side:
    """The entities of one side that may be linked, and those of them that became decoys."""

    everyone: Fits
    decoys: Fits
    ends: tuple[NDArray[np.integer], NDArray[np.integer]]
    """Of everyone, and of the decoys, the place of the best candidate among those of decoys."""

    @property
    def count(self) -> int:
        """How many entities the side has."""
        return len(self.everyone.entity)

    def like_decoys(self, weights: Vector, which: NDArray[np.bool_] | None = None) -> float:
        """How many entities (those of ``which``) have candidates like an entity without partner.

        Let u be the share of decoys whose best candidate is worse than an entity's. It is spread
        evenly for entities without a partner and near one for the others, so that the sum of
        (1 - u) ** 2, divided by what decoys give, is the number of the former. (Storey 2002
        estimates the share of true null hypotheses in this way.) Entities whose partner looks
        unlike them count too: they are linked wrongly as often.
        """
        places = self.ends[0] if which is None else self.ends[0][which]
        steps = np.bincount(self.ends[1] // 2, weights)
        below = np.append(0.0, np.cumsum(steps)) / steps.sum()
        middle = (below[:-1] + below[1:]) / 2
        unlike = np.empty(2 * len(steps) + 1)
        unlike[0::2], unlike[1::2] = 1 - below, 1 - middle
        shares = np.clip(unlike, 0.0, 1.0) ** POWER
        found = np.bincount(places, minlength=len(shares)) @ shares
        usual = steps @ shares[1::2] / steps.sum()
        return float(min(found / usual, len(places)))

    def without(self, weights: Vector) -> float:
        """How many entities have no counterpart: those without a link, by the share of decoys."""
        share = (weights @ (self.decoys.probability < SILENT) + 0.5) / (weights.sum() + 1)
        silent = int((self.everyone.probability < SILENT).sum())
        return float(min(silent / share, self.count))


def make_side(everyone: Fits, decoys: Fits) -> Side:
    """A side with the best candidates ranked among those of the decoys."""
    values = np.unique(decoys.best)
    ends = [
        np.searchsorted(values, fits.best, "left") + np.searchsorted(values, fits.best, "right")
        for fits in (everyone, decoys)
    ]
    return Side(everyone, decoys, (ends[0], ends[1]))


@dataclass(frozen=True, eq=False)
class Wrong:
    """Links that decoys got: the probability of each, and for how many wrong links it stands."""

    probability: Vector
    weights: Vector


@dataclass(frozen=True, eq=False, kw_only=True)
class Estimate:
    """What one weighing of the decoys tells."""

    curve: Curve
    wrong: tuple[Wrong, ...]
    """By side, one for each decoy."""
    counterparts: float
    """How many entities have a counterpart."""


def estimate(
    sides: tuple[Side, ...],
    weights: tuple[Vector, ...],
    links: Histogram,
    *,
    extra: Vector | None = None,
) -> Estimate:
    """The calibration and the number of counterparts, with these weights of the decoys.

    ``extra`` are the probabilities of one more wrong link for each side.
    """
    alone = [side.like_decoys(each) for side, each in zip(sides, weights, strict=True)]
    curve = Curve()
    for _ in range(TURNS):
        wrong = wrong_links(sides, weights, alone, curve)
        found = [each.probability for each in wrong], [each.weights for each in wrong]
        if extra is not None:
            found[0].append(extra)
            found[1].append(np.array(alone) / [each.sum() for each in weights])
        curve = fit_curve(links, np.concatenate(found[0]), np.concatenate(found[1])).bounded()
    return Estimate(curve=curve, wrong=wrong, counterparts=_counterparts(sides, weights, curve))


def wrong_links(
    sides: tuple[Side, ...], weights: tuple[Vector, ...], alone: list[float], curve: Curve
) -> tuple[Wrong, ...]:
    """The wrong links that decoys stand for.

    A wrong link between two entities that both have no partner is told by the decoys of both
    sides; each of these counts half. Whether the other entity has a partner is taken from its
    own link.
    """
    found = []
    for number, (side, each) in enumerate(zip(sides, weights, strict=True)):
        partner, share = side.decoys.partner, np.ones(len(each))
        if len(sides) == 2:
            other = sides[1 - number].everyone
            chance = np.zeros(max(int(partner.max()), int(other.entity.max(initial=0)), 0) + 1)
            chance[other.entity] = other.probability
            share = (1 + curve(chance[partner])) / 2
        counted = np.where(partner >= 0, share * each * alone[number] / each.sum(), 0.0)
        found.append(Wrong(side.decoys.probability, counted))
    return tuple(found)


def _counterparts(sides: tuple[Side, ...], weights: tuple[Vector, ...], curve: Curve) -> float:
    """How many entities have a counterpart, at least as many as there are right links.

    Both sides have the same number. The side with fewer entities without one tells it better.
    """
    without = np.array([side.without(each) for side, each in zip(sides, weights, strict=True)])
    found = np.average([side.count for side in sides] - without, weights=1 / (without + 1) ** 2)
    return float(max(found, curve(sides[0].everyone.probability).sum()))


def resampled(
    sides: tuple[Side, ...], links: Vector, samples: int, rng: np.random.Generator
) -> list[Estimate]:
    """The estimates with random weights of the decoys (the Bayesian bootstrap).

    Each time, one more decoy of each side has a link, with the probability of a random link:
    that no decoy was linked does not mean that none ever is.
    """
    binned, made = histogram(links), links[links > MADE]
    found = []
    for _ in range(samples):
        weights = tuple(rng.exponential(size=len(side.decoys.entity)) for side in sides)
        found.append(estimate(sides, weights, binned, extra=rng.choice(made, len(sides))))
    return found
