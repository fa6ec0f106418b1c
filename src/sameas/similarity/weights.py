"""Weights: what each part of a score is worth."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sameas.compute.arrays import Vector
from sameas.options.options import Options
from sameas.options.tuning import TUNING


@dataclass(frozen=True, kw_only=True)
class Weights:
    """What each kind of evidence is worth, in log-odds, and when it counts.

    One setting for all data: the coefficients that conditional logit models gave on five
    datasets agree (docs/method.md), and halving or doubling any of them changes little.
    """

    names: float = 13.0
    """A cosine of one between the names, besides their part in the profit."""
    embedding: float = 13.0
    """A cosine of one between the embeddings of the names, besides their part in the profit."""
    dictionary: float = 13.0
    """A cosine of one between a name as the learnt dictionary spells it and the other name."""
    profit: float = 6.0
    """A profit of one: names, neighbours and neighbours' neighbours alike."""
    shared: float = 2.6
    """Shared neighbours: times ln(1 + votes / unit)."""
    unit: float = 0.03
    """The scale of votes: fewer count in proportion, more by their logarithm."""
    crowd: float = 15_000.0
    """Entities from which on votes are worth as much; among fewer, a shared neighbour says less."""
    lacking: float = 2.1
    """Neighbours that only one has, on each side: times ln(1 + their weight)."""
    hub: int = 100
    """Neighbours that more entities have, through one relation, do not count."""
    share: float = 0.3
    """The probability beyond which a mutual best pair is an anchor."""
    spread: float = 15.0
    """Pairs so far below the best of their row or column are dropped."""
    enter: float = 0.03
    """Votes with which a pair becomes a candidate."""
    settled: float = 0.002
    """Once no larger share of the anchors changes, refinement ends."""
    base: float = TUNING.open.base
    """How far the threshold is below the odds of chance, in logarithms."""

    def evidence(self, found: NDArray[np.floating], crowd: Vector | float = math.inf) -> Vector:
        """The log-odds that evidence adds; shape (3, n), as ``gather_evidence`` returns it.

        ``crowd`` is among how many entities the pair was found: to share a neighbour with one of
        a hundred says less than with one of ten thousand, by the logarithm of how many.
        """
        shared, lacking = self.evidence_terms(found, crowd)
        return self.shared * shared + self.lacking * lacking

    def evidence_terms(
        self, found: NDArray[np.floating], crowd: Vector | float = math.inf
    ) -> tuple[Vector, Vector]:
        """What ``shared`` and what ``lacking`` is multiplied with."""
        votes, left_lacks, right_lacks = found
        fewer = np.maximum(self.crowd / np.maximum(crowd, 1.0), 1.0)
        unit = self.unit * fewer ** (1 / self.shared if self.shared > 0 else 0.0)
        return np.log1p(votes / unit), -(np.log1p(left_lacks) + np.log1p(right_lacks))


DEFAULT = Weights()
LEARNED = ("names", "embedding", "dictionary", "profit", "shared", "lacking")
"""The weights that a run can learn."""


def weights_of(options: Options, learnt: Mapping[str, float] | None = None) -> Weights:
    """What each kind of evidence is worth, without the parts that are left out."""
    weights = replace(Weights(), **dict[str, Any](learnt or {}))
    if "votes" in options.without:
        weights = replace(weights, shared=0.0, enter=math.inf)
    if "lacking" in options.without:
        weights = replace(weights, lacking=0.0)
    return weights
