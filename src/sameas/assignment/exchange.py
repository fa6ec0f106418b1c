"""What changes if one pair is forced: its former partners are placed by augmenting paths.

Links need not be optimal, so there are no prices to search with as in the exact solver: the
search follows the gain itself. If the links have the largest total among the candidates, so have
those afterwards among all that hold the pair.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from heapq import heappop, heappush
from typing import TypeAlias

from sameas.candidates.pairs import Candidates
from sameas.options.tuning import TUNING, AssignmentTuning

Mates: TypeAlias = dict[int, int]
Values: TypeAlias = Callable[[int], dict[int, float]]


def force_pair(
    candidates: Candidates,
    links: Mapping[int, int],
    left: int,
    right: int,
    *,
    tuning: AssignmentTuning = TUNING.assignment,
) -> dict[int, int]:
    """The new partner of each left entity whose partner changes if a pair is forced; -1 for none.

    ``links`` maps left to right positions, one to one. They and the forced pair must be among the
    candidates. Having no partner is worth zero. First the left entity that loses its partner is
    placed, then the right one.
    """
    if links.get(left) == right:
        return {}
    mates = dict(links), {theirs: mine for mine, theirs in links.items()}
    free_right, free_left = mates[0].pop(left, None), mates[1].pop(right, None)
    if free_right is not None:
        del mates[1][free_right]
    if free_left is not None:
        del mates[0][free_left]
        _place(free_left, _values(candidates), mates, {right, free_right}, tuning)
    if free_right is not None:
        _place(free_right, _values(candidates.transposed), mates[::-1], {left}, tuning)
    mates[0][left] = right
    changed = sorted(
        entity for entity in {*mates[0], *links} if mates[0].get(entity) != links.get(entity)
    )
    return {entity: mates[0].get(entity, -1) for entity in changed}


def _values(candidates: Candidates) -> Values:
    """A function that gives the partners of a left entity with their values."""

    @cache
    def values(entity: int) -> dict[int, float]:
        part = slice(*candidates.starts[entity : entity + 2])
        partners, numbers = candidates.right[part], candidates.values[part]
        return dict(zip(partners.tolist(), numbers.tolist(), strict=True))

    return values


def _place(
    start: int,
    values: Values,
    both_mates: tuple[Mates, Mates],
    closed: set[int | None],
    tuning: AssignmentTuning,
) -> None:
    """Give a free entity its best place, and those that it displaces theirs; changes both mates."""
    (mates, other_mates), rounding = both_mates, tuning.rounding
    gains: dict[int, float] = {start: 0.0}
    reached: dict[int, tuple[int, int]] = {}
    best, end, last = 0.0, start, -1
    heap, visits = [(0.0, start)], 0
    while heap and visits < tuning.visits:
        visits += 1
        loss, entity = heappop(heap)
        if -loss < gains[entity]:
            continue  # a better path to it was found later
        if gains[entity] > best + rounding:
            best, end, last = gains[entity], entity, -1
        for partner, value in values(entity).items():
            if partner in closed or mates.get(entity) == partner:
                continue
            gain, displaced = gains[entity] + value, other_mates.get(partner)
            if displaced is None:
                if gain > best + rounding:
                    best, end, last = gain, entity, partner
                continue
            gain -= values(displaced)[partner]
            hopeful = gain + max(values(displaced).values()) > best + rounding
            better = gain > gains.get(displaced, -math.inf) + rounding
            if hopeful and better and displaced not in _path(reached, entity):
                gains[displaced] = gain
                reached[displaced] = (entity, partner)
                heappush(heap, (-gain, displaced))
    if last < 0 and end != start:
        del other_mates[mates.pop(end)]
    while True:
        if last >= 0:
            mates[end], other_mates[last] = last, end
        if end == start:
            break
        end, last = reached[end]


def _path(reached: dict[int, tuple[int, int]], entity: int) -> set[int]:
    """An entity and all those before it on its path."""
    path = {entity}
    while entity in reached:
        entity = reached[entity][0]
        path.add(entity)
    return path
