"""Confidence from the plan's probability, by how often decoys are linked.

The log-odds of a link being right are ln p + a - b ln(1 - p) for a probability p in the plan;
a = 0 and b = 1 leave p as it is. The curve is strictly monotone, so links keep their order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sameas.compute.arrays import Vector
from sameas.compute.odds import probability_at
from sameas.options.tuning import TUNING, AuditTuning

Histogram = tuple[Vector, Vector]

TINY = 1e-12


@dataclass(frozen=True)
class Curve:
    """The two numbers of a calibration."""

    a: float = 0.0
    b: float = 1.0
    accept: float = TUNING.open.accept
    """The probability beyond which a link is made."""

    def __call__(self, probability: Vector) -> Vector:
        """How many of the links with these probabilities in the plan are correct, as a share.

        Below one half it is never above the probability. Decoys were links that had been made;
        they say little about the leftovers, which compete with each other.
        """
        share = self._unlimited(probability)
        return np.where(probability < self.accept, np.minimum(share, probability), share)

    def _unlimited(self, probability: Vector) -> Vector:
        p = np.clip(probability, TINY, 1 - TINY)
        return probability_at(np.log(p) + self.a - self.b * np.log1p(-p))

    def confidence(self, probability: Vector) -> Vector:
        """The same for single links, at least one half for those that the decision makes.

        Which links are made is decided before, unless an error is asked for. Where the least
        likely of them are correct less often than one half, say in the share s, shares from s to
        1 - s are drawn together to those from one half on. Links keep their order, and different
        probabilities stay different.
        """
        share = self(probability)
        least = float(self._unlimited(np.array([self.accept]))[0])
        if least >= self.accept:
            return share
        raised = np.where(share < 1 - least, self.accept + (share - least) / 2, share)
        return np.where(probability < self.accept, share, raised)

    def bounded(self, tuning: AuditTuning = TUNING.audit) -> Curve:
        """The curve, kept within what decoys are trusted to tell.

        Where nearly all entities of a large graph have no counterpart, decoys that are linked now
        and then would stand for more wrong links than there are links.
        """
        most, (flattest, steepest) = tuning.most_shift, tuning.slopes
        a, b = min(max(self.a, -most), most), min(max(self.b, flattest), steepest)
        return replace(self, a=a, b=b)


def histogram(probability: Vector, *, tuning: AuditTuning = TUNING.audit) -> Histogram:
    """The links that count in the fit, in bins of about the same width in log-odds.

    Their mean probability and how many they are: fitting takes no longer for many links.
    """
    p = np.clip(probability[probability > tuning.lowest], tuning.edge, 1 - tuning.edge)
    place = np.round(np.log(p / (1 - p)) * tuning.bins / 20).astype(np.int64)
    _, place = np.unique(place, return_inverse=True)
    count = np.bincount(place).astype(np.float64)
    return np.bincount(place, p) / np.maximum(count, 1), count


def fit_curve(
    links: Histogram, wrong: Vector, weights: Vector, *, tuning: AuditTuning = TUNING.audit
) -> Curve:
    """The curve by which links hold as many wrong ones, at every probability, as decoys tell.

    ``wrong`` are probabilities of links known to be wrong, each of which stands for ``weights``
    of the links. This is a logistic regression in which these stand for the unknown wrong links.
    Its loss, the sum of -ln(confidence) over links plus the sum of the log-odds over wrong ones,
    is convex. A normal prior with variance one keeps ``a`` near 0 and ``b`` near 1.
    """
    counted = wrong > tuning.lowest
    wrong = np.clip(wrong[counted], tuning.edge, 1 - tuning.edge)
    total = np.array([weights[counted].sum(), -(weights[counted] * np.log1p(-wrong)).sum()])
    p, count = links
    terms = np.stack([np.ones(len(p)), -np.log1p(-p)])
    usual, offset = np.array([0.0, 1.0]), np.log(p)

    def loss(curve: Vector) -> float:
        log_odds = curve @ terms + offset
        away = ((curve - usual) ** 2).sum() / 2
        return float(count @ np.logaddexp(0, -log_odds) + curve @ total + away)

    curve, value = usual, loss(usual)
    for _ in range(tuning.steps):
        log_odds = np.clip(curve @ terms + offset, -500, 500)
        doubt = 1 / (1 + np.exp(log_odds))
        slope = -terms @ (count * doubt) + total + curve - usual
        bend = (terms * (count * doubt * (1 - doubt))) @ terms.T + np.eye(2)
        step, room = np.linalg.solve(bend, slope), curve[1] - tuning.flattest
        cut = step[1] > room > TINY
        if cut:
            step *= room / step[1]
        elif room <= TINY and slope[1] > 0:
            step = np.array([slope[0] / bend[0, 0], 0.0])
        while (new_value := loss(curve - step)) > value and np.abs(step).max() > 1e-9:
            step /= 2
        curve, gain, value = curve - step, value - new_value, new_value
        if gain < 1e-9 and not cut:
            break
    return Curve(float(curve[0]), float(curve[1]))


def level_for(confidence: Vector, max_error: float) -> float:
    """The least confidence such that links from it on are wrong in at most this expected share.

    Infinite if there is none.
    """
    order = np.sort(confidence)[::-1]
    wrong = np.cumsum(1 - order) / np.arange(1, len(order) + 1)
    # Links of equal confidence are kept or dropped together.
    last = np.append(order[1:] < order[:-1], True)[: len(order)]
    kept = np.flatnonzero((wrong <= max_error) & last)
    return float(order[kept[-1]]) if len(kept) else np.inf
