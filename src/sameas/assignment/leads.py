"""Whether best pairs lead by more than chance gives: if none does, nothing tells links from chance.

Of values that fall off exponentially, the lead of the first over the second is on average twice
that of the second over the third (Renyi 1953), whatever their scale. An entity without a
counterpart has a best candidate that leads so; a counterpart is ahead by more.
"""

from __future__ import annotations

import numpy as np

from sameas.assignment.ranking import best_few
from sameas.candidates.pairs import Candidates, PairsByRow, lines_of_columns, lines_of_rows
from sameas.compute.arrays import Positions, Vector
from sameas.options.tuning import RefinementTuning

TOP = 3
"""The best pairs of an entity that are looked at."""


def explained_by_chance(scores: Candidates, *, tuning: RefinementTuning) -> bool:
    """Whether best pairs lead by no more than chance gives; False where that cannot be told.

    Leads that all are beyond chance, and spread like exponentials, reach sqrt(k / 2) standard
    errors with k candidates: fewer than reach the bound tell nothing.
    """
    bound = tuning.beyond_chance
    sides = [_leading(lines(scores)) for lines in (lines_of_rows, lines_of_columns)]
    if max(len(np.unique(candidates)) for candidates, _ in sides) < 2 * bound**2:
        return False
    return max(_standard_errors(*side) for side in sides) <= bound


def lead_beyond_chance(scores: Candidates) -> float:
    """By how many standard errors best pairs lead by more than chance gives; of the larger side.

    Where entities of one side have duplicates on the other, their best pairs do not lead; those
    of the other side do. Entities without three pairs tell nothing; -inf if all are such.
    """
    return max(
        _standard_errors(*_leading(each(scores))) for each in (lines_of_rows, lines_of_columns)
    )


def _leading(lines: PairsByRow) -> tuple[Positions, Vector]:
    """The best candidate of each entity that has three, and its lead beyond that by chance."""
    width = int(lines.others.max(initial=-1)) + 1
    places = best_few(lines, TOP, np.zeros(width))[0]
    counts = np.minimum(np.diff(lines.starts), TOP)
    places = places[np.repeat(counts == TOP, counts)].reshape(-1, TOP)
    first, second, third = lines.values[places].astype(np.float64).T
    beyond: Vector = (first - second) - 2 * (second - third)
    return lines.others[places[:, 0]].astype(np.int64), beyond


def _standard_errors(candidates: Positions, beyond: Vector) -> float:
    """The mean of leads beyond chance, in its standard errors.

    Entities with the same best candidate are no independent witnesses: their leads are added up.
    """
    spread = float(np.sqrt((np.bincount(candidates, beyond) ** 2).sum()))
    return float(beyond.sum()) / spread if spread > 0 else -np.inf
