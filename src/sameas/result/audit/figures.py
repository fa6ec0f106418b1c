"""How many links are correct and how many were missed, with intervals.

Wrong links are told twice: by decoys, through the calibration of confidence, and by runner-ups,
through the decision. Missed ones are told by the probabilities of pairs that were not linked, and
by how many correct links were nearly not made. How far such figures are from the truth was
measured where gold is known; the intervals are as wide as that, not as resampling would have it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sameas.compute.arrays import Mask, Vector
from sameas.options.tuning import TUNING, AuditTuning
from sameas.result.audit.calibration import Curve

TOO_NEAR = (
    "{:.0%} of the links that seem correct are hardly stronger than what chance gives, so that "
    "many more may lie below"
)
"""Why the number of missed counterparts cannot be told."""


@dataclass(frozen=True, eq=False)
class Observed:
    """The links of a plan, made or not, without those that were given."""

    probability: Vector
    """How likely each is by the decision."""
    kept: Mask
    """Whether it is a link of the run."""
    curve: Curve
    """What decoys make of the probability."""
    runner_wrong: float
    """How many of the links that are likelier than not are wrong by runner-ups."""
    most: float = np.inf
    """How many counterparts there can be."""

    @property
    def made(self) -> Mask:
        """Which are likelier than not."""
        made: Mask = self.probability > self.curve.accept
        return made

    @property
    def correct(self) -> Vector:
        """How likely each is correct; below one half, decoys say nothing about it."""
        return np.where(self.made, self.curve(self.probability), self.probability)

    def select(self, which: Mask, *, most: float = np.inf) -> Observed:
        """These of them; runner-ups are taken to be about doubtful ones alike."""
        part = Observed(self.probability[which], self.kept[which], self.curve, 0.0, most)
        every, some = (float((1 - one.probability)[one.made].sum()) for one in (self, part))
        wrong = self.runner_wrong * some / every if every > 0 else 0.0
        return Observed(part.probability, part.kept, part.curve, wrong, most)


@dataclass(frozen=True)
class Range:
    """A count, and between which two it is."""

    value: float
    low: float
    high: float


def wrong_links(observed: Observed, *, tuning: AuditTuning = TUNING.audit) -> Range:
    """How many of the kept links are wrong: by decoys, with an interval for runner-ups too."""
    kept = observed.kept
    decoys = float((1 - observed.curve(observed.probability))[kept].sum())
    runners = observed.select(kept).runner_wrong
    low, high = interval(min(decoys, runners), max(decoys, runners), tuning=tuning)
    return Range(decoys, low, min(high, float(kept.sum())))


def missed_links(observed: Observed, *, tuning: AuditTuning = TUNING.audit) -> Range:
    """How many counterparts were not found."""
    least, missed = missed_bounds(observed, tuning=tuning)
    low, high = interval(least, missed, tuning=tuning)
    right = float(observed.kept.sum()) - wrong_links(observed, tuning=tuning).high
    most = max(observed.most - right, 0.0)
    return Range(min(missed, most), min(low, most), min(high, most))


def missed_bounds(observed: Observed, *, tuning: AuditTuning = TUNING.audit) -> tuple[float, float]:
    """How many counterparts were missed by what links tell, and by what other pairs tell besides.

    Strengths do not end at the cut: there are about as many correct pairs below it, not in the
    plan, or not even candidates, as correct links that were nearly not made. Besides, pairs that
    are less likely than not are correct now and then; but these are sums of many small numbers.
    """
    correct, made, kept = observed.correct, observed.made, observed.kept
    links = float(correct[made & ~kept].sum() + correct[_near(observed, tuning)].sum())
    return links, links + float(correct[~made & ~kept].sum())


def why_untold(observed: Observed, *, tuning: AuditTuning = TUNING.audit) -> str | None:
    """Why the number of missed counterparts cannot be told; None if it can."""
    correct, near = observed.correct, _near(observed, tuning)
    every = float(correct[observed.made].sum())
    share = float(correct[near].sum()) / every if every > 0 else 0.0
    return TOO_NEAR.format(share) if share > tuning.most_near else None


def _near(observed: Observed, tuning: AuditTuning) -> Mask:
    """Which links were nearly not made."""
    near: Mask = observed.made & (observed.probability < tuning.near)
    return near


def interval(low: float, high: float, *, tuning: AuditTuning = TUNING.audit) -> tuple[float, float]:
    """Between which counts the truth is, if estimates are between these two.

    Estimates are off by a factor. Besides, that none was seen allows for three (the rule of
    three), so that much is added to a count before the factor, and taken off after it.
    """
    few, factor = tuning.none_seen, tuning.factor
    return max((low + few) / factor - few, 0.0), (high + few) * factor - few


def figures_of(
    observed: Observed, counts: tuple[int, int], *, tuning: AuditTuning = TUNING.audit
) -> dict[str, float | None]:
    """The figures of an audit, with intervals; ``counts`` are the entities of either side.

    Those that need the number of missed counterparts are None where it cannot be told.
    """
    links, wrong = float(observed.kept.sum()), wrong_links(observed, tuning=tuning)
    right = Range(links - wrong.value, links - wrong.high, links - wrong.low)
    figures = _figure("right", right) | _figure("precision", _divided(right, links))
    told = why_untold(observed, tuning=tuning) is None
    missed = missed_links(observed, tuning=tuning)
    pairs = [(right.value, missed.value), (right.low, missed.high), (right.high, missed.low)]
    recall = Range(*(one / max(one + other, 1e-9) for one, other in pairs))
    f1 = Range(*(2 * one / max(links + one + other, 1e-9) for one, other in pairs))
    every = right.value + missed.value, right.high + missed.high, right.low + missed.low
    rest = {"recall": recall, "f1": f1, "missed": missed}
    for side, count in zip(("left", "right"), counts, strict=True):
        alone = (max(1 - one / max(count, 1), 0.0) for one in every)
        rest[f"{side}_without"] = Range(*alone)
    for name, figure in rest.items():
        figures |= _figure(name, figure if told else None)
    return figures


def _figure(name: str, figure: Range | None) -> dict[str, float | None]:
    if figure is None:
        return dict.fromkeys((name, f"{name}_low", f"{name}_high"))
    return {name: figure.value, f"{name}_low": figure.low, f"{name}_high": figure.high}


def _divided(figure: Range, by: float) -> Range:
    return Range(*(each / max(by, 1) for each in (figure.value, figure.low, figure.high)))
