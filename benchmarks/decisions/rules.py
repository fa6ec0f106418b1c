"""Rules of decision, each from the strengths of links and runner-ups to which links are made."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.decisions.dump import Dump
from sameas.assignment.decision import Chance, Strengths, decide, strengths_of
from sameas.assignment.open import open_links, open_plan
from sameas.candidates.pairs import Candidates, from_pairs
from sameas.options.tuning import TUNING, DecisionTuning

Mask = NDArray[np.bool_]
MARGIN = 30.0


@dataclass(frozen=True, eq=False)
class Links:
    """The links that a plan makes of a dump, before any are dropped."""

    surplus: Candidates
    alone: tuple[NDArray[np.float64], NDArray[np.float64]]
    places: NDArray[np.int64]
    probability: NDArray[np.float64]
    kinds: NDArray[np.int8]
    thresholds: NDArray[np.float64]
    given: Mask
    gold: Mask
    judged: Mask
    total: int
    single: tuple[bool, bool]
    made: Mask
    """Whether the run of the dump made the link; other links of that run are not among these."""
    run_f1: float

    def f1(self, made: Mask) -> float:
        """The F1 of the links that are made; those that were given count."""
        correct, found = (made & self.gold).sum(), (made & self.judged).sum()
        return float(2 * correct / max(found + self.total, 1))

    def strengths(self, tuning: DecisionTuning) -> Strengths:
        """How strong links and runner-ups are."""
        return strengths_of(self.surplus, self.places, self.alone, tuning=tuning)


def links_of(dump: Dump) -> Links:
    """The links of a dump's candidates, by the plan with the thresholds of its run."""
    single = bool(dump.single[0]), bool(dump.single[1])
    ends, sizes = [], []
    for side in (dump.left, dump.right):
        known, places = np.unique(side, return_inverse=True)
        ends.append(places)
        sizes.append(len(known))
    thresholds = dump.thresholds[dump.kind]
    surplus = dump.score - thresholds + dump.seed * TUNING.refinement.seed
    order = np.argsort(ends[0] * np.int64(sizes[1]) + ends[1], kind="stable")
    pairs = from_pairs((sizes[0], sizes[1]), ends[0], ends[1], surplus.astype(np.float32))
    odds = at_odds(dump, ends, single)[order]
    allowed = pairs.select(~odds)
    plan = open_plan(allowed, threshold=0.0, final=True)
    linked = np.sort(open_links(allowed, plan))
    places = np.flatnonzero(~odds)[linked]
    at = order[places]
    found, correct = (dump.linked & dump.judged).sum(), (dump.linked & dump.gold).sum()
    return Links(
        surplus=pairs,
        alone=(plan.left_alone, plan.right_alone),
        places=places,
        probability=plan.probability[linked],
        kinds=dump.kind[at],
        thresholds=thresholds[at],
        given=dump.seed[at],
        gold=dump.gold[at],
        judged=dump.judged[at],
        total=int(dump.total),
        single=single,
        made=dump.linked[at],
        run_f1=float(2 * correct / max(found + int(dump.total), 1)),
    )


def at_odds(dump: Dump, ends: list[NDArray[np.int64]], single: tuple[bool, bool]) -> Mask:
    """Which pairs cannot be linked, since one of their ends was given another partner."""
    odds = np.zeros(len(dump.seed), dtype=np.bool_)
    for end, one in zip(ends, single, strict=True):
        if one:
            taken = np.zeros(int(end.max(initial=0)) + 1, dtype=np.bool_)
            taken[end[dump.seed]] = True
            odds |= taken[end] & ~dump.seed
    return odds


def threshold_alone(links: Links) -> Mask:
    """Links that are likelier than not in the plan: the threshold from rivals of sure links."""
    made: Mask = links.probability > 0.5
    return made


def decided(
    links: Links, strengths: Strengths, tuning: DecisionTuning = TUNING.decision
) -> tuple[NDArray[np.float64], dict[int, Chance]]:
    """The probability of links by the package's rule, and what chance was taken to be."""
    return decide(
        strengths,
        links.kinds,
        given=links.given,
        tuning=tuning,
    )


def best_with_gold(links: Links, strengths: Strengths) -> float:
    """The F1 of the best cut of strengths, with gold in view: what no rule can exceed by much."""
    order = np.argsort(-np.where(links.given, np.inf, strengths.links), kind="stable")
    correct = np.append(0, np.cumsum(links.gold[order]))
    found = np.append(0, np.cumsum(links.judged[order]))
    least = int(links.given.sum())
    return float((2 * correct / np.maximum(found + links.total, 1))[least:].max())


def variants() -> dict[str, DecisionTuning]:
    """The settings of the package's rule that are compared; leads count alike in all."""
    return {
        f"lift {lift:g}, prior {prior:g}, raised {raised:g}": replace(
            TUNING.decision, lift=lift, prior=prior, raised=raised
        )
        for lift in (0.0, 1.0, 1.5, 2.0)
        for prior in (0.0, 30.0)
        for raised in (0.25, 0.5, 1.0)
    }
