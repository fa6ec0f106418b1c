"""What an explanation consists of: plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sameas.options.options import Side

SIDES: tuple[Side, Side] = ("left", "right")
Kind = str
"""A part of a score: name; meaning (of names, by dictionaries), embedding (encoded names) and
dictionary (learnt from links), where names are in two languages; neighbours (their names); further
(neighbours of neighbours and further hops); shared (neighbours); values (literals that both have);
left lacks, right lacks (what only the other has); types, attributes, spelling (what their likeness
was learned to be worth); within one graph also wording, roles and conflicts; known (a known
link); sketch (how far the sketched hops of the run are
from the exact ones); threshold (which is taken off)."""

Differences = tuple[tuple[Kind, float], ...]
"""By how much each part differs from that of the chosen pair, largest difference first."""
Reason = Literal["no-candidate", "below-threshold", "taken", "unsure", "left-over"]
"""Why an entity is unmatched: nothing resembles it; its best candidate's score is below the
threshold; that candidate was linked to another entity; the link was not confident enough; the
other side had no entity left for it."""
Note = Literal["entity-not-among", "other-not-among", "not-kept", "rejected"]
"""The entity (or the other one) was not to be linked, the pair was not among the candidates that
the run kept, or it was rejected by the user."""


@dataclass(frozen=True)
class Entity:
    """An entity by URI, with its name."""

    uri: str
    name: str


@dataclass(frozen=True)
class Relation:
    """A relation or attribute; ``inverse`` if it is read from its object to its subject."""

    uri: str
    inverse: bool = False


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """A neighbour of the left entity and one of the right entity, or one of the two."""

    left: Entity | None = None
    right: Entity | None = None
    left_relations: tuple[Relation, ...] = ()
    """How the left entity is related to its neighbour."""
    right_relations: tuple[Relation, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Detail(Neighbours):
    """One term of a part of a score, or the sum of several (``count``)."""

    score: float
    """How much it adds to the score."""
    text: str = ""
    """An n-gram, a pair of words or a literal value."""
    left_fans: int | None = None
    """How many left entities have the same neighbour through the same relation."""
    right_fans: int | None = None
    amount: float | None = None
    """The cosine of two names, the share of a shared neighbour, the weight of a lacking one."""
    count: int = 1


@dataclass(frozen=True, kw_only=True)
class Part:
    """One part of a score; its details add up to it."""

    kind: Kind
    hop: int | None = None
    score: float
    amount: float | None = None
    """What was measured: a cosine, votes, or the weight of what is lacking."""
    names: tuple[str, str] | None = None
    """The two names that fit best, where entities have several."""
    details: tuple[Detail, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """The score of one pair, and the parts that add up to it."""

    left: Entity
    right: Entity
    score: float
    parts: tuple[Part, ...]
    listed: float | None
    """The score that the run recorded; None if it did not keep the pair."""


@dataclass(frozen=True)
class Contradiction:
    """Something that speaks against a pair: a part of its score, or one term of it."""

    kind: Kind
    score: float
    """How much it takes off the score."""
    relations: tuple[Relation, ...] = ()
    """The attribute or relation."""
    left: tuple[str, ...] = ()
    """The values, neighbours or types of the left entity; empty for what it lacks."""
    right: tuple[str, ...] = ()
    text: str = ""
    """How far apart two values are, or what differs in two names."""
    count: int = 1
    """How many terms that each say little are meant; the largest is named."""


@dataclass(frozen=True, kw_only=True)
class Weighing:
    """A pair against what chance was taken to give entities of its kind; strengths in log-odds.

    None where a figure is not known: without runner-ups, or of a pair that was not weighed.
    """

    kind: str
    """Individual, class, property or pun."""
    links: int
    """The links of this kind that were weighed, made or not."""
    runner_ups: int
    """Pairs that their entities would get if their partners were not there."""
    median: float | None
    """The strength that half of the runner-ups have, raised as wrong links are stronger."""
    high: float | None
    """The strength that one of ten has."""
    without: float
    """The share of the links whose entities were taken to have no counterpart."""
    usual_cut: float
    """The cut before runner-ups are looked at (the prior)."""
    runner_cut: float | None
    """The cut that runner-ups alone would give."""
    weight: float
    """How much of the way from the usual cut to that one was gone."""
    cut: float
    """The strength that a link needed."""
    wrong: float
    """How many links beyond the cut runner-ups expect to be wrong."""
    strength: float | None
    """That of the pair; None if the plan gave its entities no link or another one."""
    given: bool
    """Whether the pair was given as a known link, and so not weighed."""


@dataclass(frozen=True)
class Considered:
    """Another candidate of the entity, or of its partner."""

    entity: Entity
    score: float
    linked_with: Entity | None
    differences: Differences = ()


@dataclass(frozen=True)
class Step:
    """One exchange: an entity of the explained side gives up one partner and gets another."""

    entity: Entity
    before: Entity | None
    before_score: float
    after: Entity | None
    after_score: float


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """What it would take to give an entity a partner that it did not get."""

    wanted: Entity
    score: float
    """The score of the entity with the wanted partner."""
    holder: Entity | None
    """The entity that is linked with the wanted one."""
    holder_score: float
    steps: tuple[Step, ...]
    cost: float
    """By how much the total score would fall; the best way on the candidates that were kept."""
    at_least: float | None
    """A lower bound of the cost over all pairs: the sum of both prices of the exact solver less
    the score. None without prices."""


@dataclass(frozen=True)
class Missing:
    """What a pair with too low a score lacks to be linked."""

    score: float
    """How much score is missing."""
    neighbour: Detail | None
    """The neighbour that one has and the other lacks which would add most if both had it, and how
    much; it would do alone if that is more than what is missing."""


@dataclass(frozen=True)
class Neighbourhood:
    """The neighbours of both, side by side; those left out of the lists are counted."""

    shared: tuple[Neighbours, ...]
    """Neighbours that are linked with each other."""
    left_only: tuple[Neighbours, ...]
    right_only: tuple[Neighbours, ...]
    more_shared: int
    more_left: int
    more_right: int
