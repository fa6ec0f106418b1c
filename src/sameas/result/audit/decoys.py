"""Decoys: entities whose partner was taken away, so that every link they get is wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sameas.assignment.decision import Chance, probability_of, strengths_of
from sameas.assignment.open import OpenPlan, open_links, open_plan
from sameas.compute.arrays import Mask, Matrix, Numbers, Positions, Vector
from sameas.compute.heap import release_freed_memory
from sameas.compute.parallel import in_parallel, is_apart, slices
from sameas.graph.task import Constraints
from sameas.refinement.anchors import anchor_thresholds, anchors_of
from sameas.refinement.evidence import Anchors, gather_evidence
from sameas.refinement.refine import Refinement, subtract_threshold
from sameas.similarity.model import Model
from sameas.similarity.weights import evidence_worth

AT_ONCE = 1_000_000
"""Pairs whose evidence is weighed at once."""
MANY, MANY_APART = 5_000_000, 500_000
"""Pairs beyond which the decoys of one draw are treated at a time; the second number holds where
workers in other processes do the work, and the memory of this one limits the size of a run."""


class BestMatches(NamedTuple):
    """For entities of one side, how well the other side's entities fit them."""

    entity: Positions
    partner: Positions
    """The entity that each is linked with, -1 for none."""
    probability: Vector
    """That of the link in the plan; zero without a link."""
    best: Vector
    """The surplus of the best candidate, taken by another or not; -inf without one."""

    def select(self, which: Mask | Positions) -> BestMatches:
        """These of the entities."""
        return BestMatches._make(column[which] for column in self)


def free_entities(constraints: Constraints, side: int) -> Mask:
    """Which entities of a side may be linked and are not given as links."""
    free: Mask = constraints.inside[side].copy()
    free[constraints.seeds[:, side]] = False
    return free


def matches_without(
    model: Model,
    refinement: Refinement,
    chances: Mapping[int, Chance],
    side: int,
    removed: Positions,
) -> BestMatches:
    """The best matches of all entities of a side once some of the other side are removed."""
    known, weights, tuning = model.constraints, refinement.weights, model.tuning
    lost = np.zeros(refinement.pairs.candidates.shape[1 - side], dtype=np.bool_)
    lost[removed] = True
    pairs, anchors, thresholds = refinement.pairs, refinement.anchors, refinement.thresholds
    left = ~lost[(pairs.candidates.left, pairs.candidates.right)[1 - side]]
    candidates = pairs.candidates.select(left)
    stay = ~lost[(anchors.left, anchors.right)[1 - side]]
    anchors = Anchors(anchors.left[stay], anchors.right[stay], anchors.trust[stay])

    def worth(evidence: Matrix, places: Numbers | None = None) -> Vector:
        """What evidence about the candidates, at these places, is worth."""
        total = np.empty(len(candidates))
        for part in slices(len(total), AT_ONCE):
            crowd = known.crowd[candidates.left[part]]
            some = evidence[:, part if places is None else places[part]]
            total[part] = evidence_worth(weights, some, crowd)
        return total

    other = worth(pairs.evidence, np.flatnonzero(left))
    np.subtract(candidates.values, other, out=other)
    del left
    plan: OpenPlan | None = None
    for turn in range(tuning.audit.rounds):
        evidence, _, _ = gather_evidence(
            *model.edges,
            anchors,
            refinement.relations,
            candidates,
            enter=math.inf,
            tuning=tuning.evidence,
        )
        total = worth(evidence)
        del evidence
        total += other
        scores = total.astype(np.float32)
        del total
        last = turn == tuning.audit.rounds - 1
        enough = thresholds
        if not last:
            enough = anchor_thresholds(thresholds, anchors, tuning=tuning)
        surplus = subtract_threshold(candidates.with_values(scores), enough, known.kinds[0])
        odds = known.at_odds(surplus.left, surplus.right)
        surplus = surplus.select(~odds) if odds.any() else surplus
        plan = open_plan(surplus, threshold=0.0, start=plan, tuning=tuning.open)
        if not last:
            left_over = known.seeds[~lost[known.seeds[:, 1 - side]]]
            anchors = anchors_of(surplus, plan, left_over, tuning=tuning)
    assert plan is not None
    linked = open_links(surplus, plan)
    alone, ends = (plan.left_alone, plan.right_alone), (surplus.left, surplus.right)
    strengths = strengths_of(surplus, linked, alone, tuning=tuning.decision).links
    probability = plan.probability.copy()
    probability[linked] = probability_of(strengths, known.kinds[0][ends[0][linked]], chances)
    return best_matches(
        ends, surplus.values, linked, probability, side=side, size=surplus.shape[side]
    )


def draw_decoys(
    model: Model,
    refinement: Refinement,
    chances: Mapping[int, Chance],
    links: Mapping[int, BestMatches],
    rng: np.random.Generator,
) -> list[BestMatches]:
    """What entities of each side are linked with after their partners were taken away.

    ``links`` are those of each side; ``refinement`` must have thresholds. Each draw takes away
    the partners of a small share of the links; no link is drawn twice.
    """
    draws, tuning = [], model.tuning.audit
    for side, fits in links.items():
        order = rng.permutation(np.flatnonzero(fits.probability > model.tuning.open.accept))
        size = max(math.ceil(tuning.decoy_share * len(order)), 1)
        count = min(max(round(tuning.decoys / size), 1), tuning.draws)
        draws += [(side, order[start : start + size]) for start in range(0, count * size, size)]

    def one(draw: tuple[int, Positions]) -> BestMatches:
        release_freed_memory()
        side, drawn = draw
        fits = links[side]
        without = matches_without(model, refinement, chances, side, fits.partner[drawn])
        return without.select(fits.entity[drawn])

    # Large ones one after the other: each takes as much memory as refinement, and uses all cores.
    many = len(refinement.pairs.candidates) > (MANY_APART if is_apart() else MANY)
    matches = [one(draw) for draw in draws] if many else in_parallel(one, draws)
    sides = []
    for side in links:
        parts = [fits for draw, fits in zip(draws, matches, strict=True) if draw[0] == side]
        sides.append(BestMatches._make(map(np.concatenate, zip(*parts, strict=True))))
    return sides


def best_matches(
    ends: tuple[NDArray[np.integer], NDArray[np.integer]],
    surplus: NDArray[np.floating],
    places: Positions,
    probability: Vector,
    *,
    side: int,
    size: int,
) -> BestMatches:
    """How well all entities of a side are linked, from pairs and the places of links in them."""
    partner, chance = np.full(size, -1, dtype=np.int64), np.zeros(size)
    partner[ends[side][places]] = ends[1 - side][places]
    chance[ends[side][places]] = probability[places]
    best = np.full(size, -np.inf)
    np.maximum.at(best, ends[side], surplus.astype(np.float64))  # of one type: ten times faster
    return BestMatches(np.arange(size), partner, chance, best)
