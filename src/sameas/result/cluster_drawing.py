"""A cluster as a drawing: its members on a circle, and the links between them.

The review, the report and the charts of notebooks draw the same.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Pair = tuple[str, str]
LinkKind = Literal["holds", "weakest", "other", "against", "accept", "reject"]
"""What a line is: one of the strongest links that hold the cluster together; the weakest of
these; another pair that is likely the same; a pair that is likely not; a decision."""
KINDS: dict[LinkKind, str] = {
    "holds": "holds the cluster together",
    "weakest": "the weakest of these",
    "other": "also likely the same",
    "against": "likely not the same",
    "accept": "accepted",
    "reject": "rejected",
}
"""What each kind of line is called."""
LABELLED = 12
"""Members up to which each has its name beside it; more have a number alone."""


@dataclass(frozen=True)
class DrawnMember:
    """A member at its place; the circle has radius 1 and its centre at 0, 0."""

    number: int
    uri: str
    label: str
    x: float
    y: float
    canonical: bool
    split: bool
    """Whether it is of the part that would split off first."""
    out: bool
    """Whether it was decided that it is not the same as the canonical member."""


@dataclass(frozen=True)
class DrawnLink:
    """A line between two members, by their numbers."""

    one: int
    other: int
    kind: LinkKind
    score: float | None


@dataclass(frozen=True)
class ClusterDrawing:
    """Members and lines; those that matter most come last, so that they lie on top."""

    members: tuple[DrawnMember, ...]
    links: tuple[DrawnLink, ...]

    @property
    def has_labels(self) -> bool:
        """Whether there is room for names."""
        return len(self.members) <= LABELLED

    @property
    def kinds(self) -> list[LinkKind]:
        """The kinds of lines that there are, for the legend."""
        there = {link.kind for link in self.links}
        return [kind for kind in KINDS if kind in there]


ORDER: tuple[LinkKind, ...] = ("against", "other", "holds", "weakest", "reject", "accept")
"""Kinds from the back to the front."""


def draw_cluster(
    labels: Mapping[str, str],
    scores: Mapping[Pair, float],
    *,
    holding: Collection[Pair],
    split: Collection[str] = (),
    decided: Mapping[Pair, str] | None = None,
    groups: Sequence[Sequence[str]] = (),
) -> ClusterDrawing:
    """The drawing of a cluster whose members have these labels, the canonical one first.

    ``scores`` are those of pairs of members, ``holding`` the pairs that hold it together,
    ``decided`` the states of pairs, and ``groups`` the parts that were decided. Members of one
    part stand side by side.
    """
    group_of = {uri: number for number, group in enumerate(groups) for uri in group}
    order = sorted(labels, key=lambda uri: (group_of.get(uri, 0), uri in split))
    numbers = {uri: number for number, uri in enumerate(labels, start=1)}
    own = group_of.get(next(iter(labels), ""), 0)
    members = []
    for place, uri in enumerate(order):
        # Two members stand beside each other; more begin at the top.
        turn = place / len(order) + (0.5 if len(order) == 2 else 0.75)
        members.append(
            DrawnMember(
                number=numbers[uri],
                uri=uri,
                label=labels[uri],
                x=round(math.cos(2 * math.pi * turn), 4),
                y=round(math.sin(2 * math.pi * turn), 4),
                canonical=numbers[uri] == 1,
                split=uri in split,
                out=group_of.get(uri, 0) != own,
            )
        )
    firm = {pair: state for pair, state in (decided or {}).items() if state in ("accept", "reject")}
    held = {pair: scores.get(pair, math.inf) for pair in holding}
    weakest = min(held, key=lambda pair: (held[pair], pair)) if len(held) > 1 else None
    links = [
        DrawnLink(
            numbers[pair[0]],
            numbers[pair[1]],
            _kind(pair, scores.get(pair, 0.0), pair in held, pair == weakest, firm.get(pair)),
            scores.get(pair),
        )
        for pair in sorted({*scores, *held, *firm})
        if pair[0] in numbers and pair[1] in numbers
    ]
    links.sort(key=lambda link: ORDER.index(link.kind))
    return ClusterDrawing(tuple(members), tuple(links))


def _kind(pair: Pair, score: float, holds: bool, weakest: bool, state: str | None) -> LinkKind:
    if state == "accept":
        return "accept"
    if state == "reject":
        return "reject"
    if holds:
        return "weakest" if weakest else "holds"
    return "other" if score > 0 else "against"
