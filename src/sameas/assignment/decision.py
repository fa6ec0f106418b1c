"""Which links are made: those that are better than what chance gives.

What chance gives is told by runner-ups: the pair that an entity would get if its partner were not
there. No runner-up is presumed to be wrong. They show what entities get in any case, and where
links are no stronger than that, they are taken to be chance. With u the share of entities that
have no counterpart and T(c) the share of runner-ups of at least the strength c, about u T(c) of
the links are wrong and reach c. The cut is where links less two times the wrong ones, which is
right less wrong ones, are most.

The runner-up of a right link is the best that chance gives its entity. That of a wrong link is only
the second best, since the link is the best. Where many links are wrong, runner-ups are raised by
what wrong links are ahead of their own ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sameas.assignment.open import OpenPlan, open_links, open_plan
from sameas.assignment.ranking import best_few
from sameas.candidates.pairs import Candidates, lines_of_columns, lines_of_rows
from sameas.compute.arrays import Mask, Matrix, Positions, Vector
from sameas.compute.odds import probability_at
from sameas.compute.parallel import in_parallel, meanwhile
from sameas.options.tuning import TUNING, DecisionTuning, Tuning

TOP = 3
"""The best pairs of a line that are looked at: a pair, the link that it replaces, a rival."""
LIFT_TOLERANCE = 1e-3
"""A change of the lift, in log-odds, that does not matter."""
NEVER = -1e30
"""Below every value of a pair."""


class Strengths(NamedTuple):
    """How strong links and runner-ups are, in log-odds above the threshold of the plan."""

    links: Vector
    runners: Vector
    runner_of: Positions
    """The link, by its number, whose runner-up each is."""


@dataclass(frozen=True)
class Chance:
    """What was taken to be chance among the links of one kind, and the cut that follows."""

    links: int
    runners: int
    median: float
    """The strength that half of the runner-ups have."""
    high: float
    """The strength that one runner-up of ten has."""
    unlinked: float
    """The share of links whose entities have no counterpart."""
    cut: float
    """The strength beyond which links are likelier right than wrong."""
    wrong: float
    """How many of the links beyond the cut are wrong."""
    slope: float
    """How fast the log-odds of a link being right grow with its strength."""
    runner_cut: float = np.nan
    """The cut that runner-ups alone would give; not a number without any."""
    weight: float = 0.0
    """How much of the way from the cut of the prior to that one was gone."""
    lift: float = np.nan
    """How much stronger wrong links are than their runner-ups."""

    def probability(self, strengths: Vector) -> Vector:
        """How likely links of these strengths are right; different for different strengths."""
        return probability_at(self.slope * (strengths - self.cut))

    def asdict(self) -> dict[str, float]:
        """The figures that there are, as plain values."""
        return {name: value for name, value in asdict(self).items() if np.isfinite(value)}


def lead_by_chance(surplus: Candidates, *, tuning: DecisionTuning = TUNING.decision) -> float:
    """How far the best pairs of left entities are above runner-ups if all are chance, on average.

    Of values that fall off exponentially, the first leads the second by as much as twice what the
    second leads the third by (Renyi 1953). Without three pairs of any entity, the usual lift.
    Chosen in sample: with a quarter more, for what counts as a lead, F1 of abt-buy and
    amazon-google as one table each was .781 and .331, against .788 and .418.
    """
    counts = np.minimum(np.diff(surplus.starts), TOP)
    best = best_few(lines_of_rows(surplus), TOP, np.zeros(surplus.shape[1]))[0]
    full = best[np.repeat(counts == TOP, counts)]
    if not len(full):
        return tuning.lift
    _, second, third = surplus.values[full].astype(np.float64).reshape(-1, TOP).T
    return float(2 * (second - third).mean())


def strengths_of(
    surplus: Candidates,
    links: Positions,
    alone: tuple[Vector, Vector],
    *,
    single: tuple[bool, bool] = (True, True),
    tuning: DecisionTuning = TUNING.decision,
) -> Strengths:
    """The strengths of links, by their places among the pairs, and of their runner-ups.

    ``alone`` are the probabilities that left and right entities have no partner. The strength of
    a pair is its surplus, less what the best rival of either end claims (a rival whose own
    partner is sure claims little), plus a part of its lead over the best other candidate.
    Entities of a side that is not ``single`` have no rivals and no runner-ups.
    """
    one_partner = [side for side in (0, 1) if single[side]]
    sides = in_parallel(lambda side: _Side(surplus, side, alone[1 - side]), one_partner)

    def of_runner_ups(side: _Side) -> tuple[Vector, Positions]:
        places, numbers = _runner_ups(surplus, side, links, exclusive=all(single))
        replaced = [np.full(len(places), -1), np.full(len(places), -1)]
        replaced[side.number] = links[numbers]
        return _strength(surplus, sides, places, replaced, tuning), numbers

    def of_links() -> Vector:
        return _strength(surplus, sides, links, [np.full(len(links), -1)] * 2, tuning)

    with meanwhile(of_links) as strong:
        found = [(np.zeros(0), np.zeros(0, dtype=np.int64)), *in_parallel(of_runner_ups, sides)]
        runners, of = (np.concatenate(each) for each in zip(*found, strict=True))
        return Strengths(strong(), runners, of)


class _Side:
    """The pairs of each entity of one side, with the best of them."""

    def __init__(self, surplus: Candidates, number: int, others_alone: Vector) -> None:
        self.number = number
        self.alone = others_alone = np.log(np.maximum(others_alone, 1e-300))
        self.entity = (surplus.left, surplus.right)[number]
        self.other = (surplus.right, surplus.left)[number]
        self.lines = (lines_of_rows, lines_of_columns)[number](surplus)
        self.order = None if number == 0 else surplus.by_right[1]
        self.values = surplus.values
        self.claiming = self.top(-others_alone, TOP)
        self.best = self.top(np.zeros(len(others_alone)), TOP)

    def top(self, prices: Vector, k: int, values: Matrix | None = None) -> Positions:
        """The places of the k best pairs of each entity, -1 for none; shape (entities, k)."""
        lines = self.lines
        if values is not None:
            lines = lines._replace(values=values if self.order is None else values[self.order])
        counts = np.minimum(np.diff(lines.starts), k)
        places = best_few(lines, k, prices)[0]
        places = places if self.order is None else self.order[places].astype(np.int64)
        table = np.full((len(counts), k), -1, dtype=np.int64)
        table[np.arange(k) < counts[:, None]] = places
        return table

    def rival(self, pairs: Positions, replaced: Positions, *, claims: bool) -> Vector:
        """The best other pair of the entity of each pair, ``replaced`` left out; -inf for none."""
        places = (self.claiming if claims else self.best)[self.entity[pairs]]
        others = (places >= 0) & (places != pairs[:, None]) & (places != replaced[:, None])
        values = self.values[places].astype(np.float64)
        if claims:  # worth less where the other end has a sure partner
            values += self.alone[self.other[places]]
        best: Vector = np.where(others, values, -np.inf).max(axis=1, initial=-np.inf)
        return best


def _strength(
    surplus: Candidates,
    sides: Sequence[_Side],
    pairs: Positions,
    replaced: Sequence[Positions],
    tuning: DecisionTuning,
) -> Vector:
    """The strength of pairs; of each side, a link that is ``replaced`` is no rival."""
    strength = surplus.values[pairs].astype(np.float64)
    lead = np.full(len(pairs), tuning.most_lead)
    for side in sides:
        given = replaced[side.number]
        best = side.rival(pairs, given, claims=False)
        lead = np.minimum(lead, surplus.values[pairs] - best)
        strength -= np.logaddexp(0.0, side.rival(pairs, given, claims=True))
    return np.asarray(strength + tuning.lead_share * lead)


def _runner_ups(
    surplus: Candidates, side: _Side, links: Positions, *, exclusive: bool
) -> tuple[Positions, Positions]:
    """The place of what each linked entity of a side would get instead, and its link's number.

    It gets its best other pair, if links are ``exclusive`` one whose other end has no better link.
    """
    values = surplus.values
    available = np.ones(len(values), dtype=np.bool_)
    if exclusive:
        taken = np.full(surplus.shape[1 - side.number], -np.inf)
        taken[side.other[links]] = values[links]
        available = values >= taken[side.other]
    available[links] = False
    prices = np.zeros(surplus.shape[1 - side.number])
    masked = np.where(available, values, np.float32(NEVER))
    places = side.top(prices, 1, masked)[side.entity[links], 0]
    numbers = np.flatnonzero((places >= 0) & available[places])
    return places[numbers], numbers


def decide(
    strengths: Strengths,
    kinds: NDArray[np.integer],
    *,
    given: Mask | None = None,
    tuning: DecisionTuning = TUNING.decision,
) -> tuple[Vector, dict[int, Chance]]:
    """The probability of each link, and what was taken to be chance for each kind.

    ``kinds`` are those of the links. Links that were ``given`` are right; their runner-ups tell
    what chance gives like those of others.
    """
    given = np.zeros(len(kinds), dtype=np.bool_) if given is None else given
    probability, chances = np.ones(len(kinds)), dict[int, Chance]()
    for kind in np.unique(kinds[~given]).tolist():
        chosen = (kinds == kind) & ~given
        here = kinds[strengths.runner_of] == kind
        numbers = np.where(chosen, np.cumsum(chosen) - 1, -1)[strengths.runner_of[here]]
        runners = strengths.runners[here]
        chance = chance_of(strengths.links[chosen], runners, numbers, tuning=tuning)
        probability[chosen] = chance.probability(strengths.links[chosen])
        chances[kind] = chance
    return probability, chances


def probability_of(
    strengths: Vector, kinds: NDArray[np.integer], chances: Mapping[int, Chance]
) -> Vector:
    """How likely pairs of these strengths and kinds are right; zero for kinds without links."""
    probability = np.zeros(len(strengths))
    for kind, chance in chances.items():
        chosen = kinds == kind
        probability[chosen] = chance.probability(strengths[chosen])
    return probability


def chance_of(
    links: Vector,
    runners: Vector,
    runner_of: Positions,
    *,
    tuning: DecisionTuning = TUNING.decision,
) -> Chance:
    """What chance gives, and the cut, from the strengths of links and of runner-ups.

    ``runner_of`` is the link, by its number, whose runner-up each is; -1 for one that was given.
    The prior is the cut that suits the threshold of the plan; it counts like some links.
    """
    ordered, count, prior = np.sort(links), len(links), tuning.prior_cut
    if not len(runners):
        return Chance(count, 0, np.nan, np.nan, 0.0, prior, 0.0, tuning.slope)
    ahead = np.append(links, np.nan)[runner_of] - runners
    lift = tuning.lift
    for _ in range(tuning.lift_rounds):
        raised = np.sort(runners) + lift
        median, high = np.quantile(raised, [0.5, 0.9]).tolist()
        unlinked = min(float(np.searchsorted(ordered, median)) / (0.5 * count), 1.0)
        runner_cut, _ = best_cut(ordered, raised, unlinked)
        wrong = np.append(probability_at(tuning.slope * (runner_cut - links)), 0.0)[runner_of]
        before, lift = lift, _lift(ahead, wrong, unlinked, count, tuning)
        if abs(lift - before) < LIFT_TOLERANCE:
            break
    made = count - int(np.searchsorted(ordered, min(runner_cut, prior)))
    weight = made / (made + tuning.prior)
    if runner_cut > prior:
        # Runner-ups that are matches themselves, such as duplicates, only ever raise it.
        weight *= tuning.raised
    cut = weight * runner_cut + (1 - weight) * prior
    beyond = ordered[ordered > cut]
    mistaken = min(unlinked * count * float((raised > cut).mean()), len(beyond) / 2)
    figures = count, len(raised), median, high, unlinked, cut, mistaken, tuning.slope
    return Chance(*figures, runner_cut, weight, before)


def _lift(
    ahead: Vector, wrong: Vector, unlinked: float, links: int, tuning: DecisionTuning
) -> float:
    """By how much runner-ups are raised: what wrong links are ahead of theirs, with a prior.

    ``ahead`` is how far each link is ahead, ``wrong`` how likely it is wrong. The median of wrong
    links counts by the share of links that are of entities without counterpart (``unlinked``, its
    root, so that a half counts most of the way), and more if there are many.
    """
    order = np.argsort(ahead, kind="stable")  # what is not a number comes last
    summed = np.cumsum(wrong[order])
    if not summed[-1] > 0:
        return tuning.lift
    median = float(ahead[order][np.searchsorted(summed, summed[-1] / 2)])
    alone = unlinked * links
    share = np.sqrt(unlinked) * alone / (alone + tuning.lift_prior)
    return max(float(share * median + (1 - share) * tuning.lift), tuning.least_lift)


def lowered_thresholds(
    scores: Candidates,
    thresholds: Vector,
    kinds: NDArray[np.integer],
    *,
    start: OpenPlan | None = None,
    tuning: Tuning = TUNING,
) -> tuple[Vector, OpenPlan]:
    """The thresholds, lower for kinds whose runner-ups ask for it, and the plan that told so.

    ``kinds`` are those of left entities. Thresholds are learned from sure links alone: where there
    are few, or their rivals are unlike those of others, a threshold that is too high leaves still
    fewer, and so on until nothing is left. None falls below the floor of the plan.
    """
    surplus = scores.with_values(scores.values - thresholds[kinds[scores.left]].astype(np.float32))
    plan = open_plan(surplus, threshold=0.0, start=start, tuning=tuning.open).as_start()
    links = np.sort(open_links(surplus, plan))
    alone = plan.left_alone, plan.right_alone
    strengths = strengths_of(surplus, links, alone, tuning=tuning.decision)
    _, chances = decide(strengths, kinds[surplus.left[links]], tuning=tuning.decision)
    lowered = thresholds.copy()
    for kind, chance in chances.items():
        lower = thresholds[kind] + chance.cut - tuning.decision.prior_cut
        lowered[kind] = min(thresholds[kind], max(lower, tuning.open.floor))
    return lowered, plan


def best_cut(links: Vector, runners: Vector, unlinked: float) -> tuple[float, float]:
    """The cut with the most right less wrong links, and how many that are.

    Both are sorted. Cuts lie between two strengths; if none is better than no link at all, it is
    above all of them.
    """
    count = len(links)
    cuts = np.append(links, links[-1] + 1.0) if count else np.zeros(1)
    reaching = count - np.searchsorted(links, cuts)
    wrong = unlinked * count * (1 - np.searchsorted(runners, cuts) / max(len(runners), 1))
    gain = reaching - 2 * wrong
    best = len(gain) - 1 - int(np.argmax(gain[::-1]))
    lower = int(np.searchsorted(links, cuts[best]))
    below = links[lower - 1] if lower else cuts[0] - 1.0
    return float((cuts[best] + below) / 2), float(gain[best])
