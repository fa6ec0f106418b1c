"""What an explanation consists of: plain values, from which text, JSON and drawings are made."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Side = Literal["left", "right"]
Scale = Literal["log-odds", "cosine"]
Kind = Literal[
    "name",
    "neighbours",
    "further",
    "shared",
    "values",
    "left lacks",
    "right lacks",
    "known",
    "price",
]
"""Own name; neighbours; neighbours' neighbours and further hops; neighbours and literal values
that both share; what one of them lacks; being given as known; the price of staying alone."""


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
class Detail:
    """One thing that a part of a score is made of."""

    score: float
    """How much of the score it makes up."""
    text: str = ""
    """An n-gram, a pair of words, a literal value, or what is summed up here."""
    left: Entity | None = None
    right: Entity | None = None
    left_relations: tuple[Relation, ...] = ()
    """How the left entity is related to ``left``."""
    right_relations: tuple[Relation, ...] = ()
    left_fans: int | None = None
    """How many left entities are related in the same way to the same: few are telling."""
    right_fans: int | None = None
    amount: float | None = None
    """How alike two names are, how far a shared neighbour is trusted, what a lacking one weighs."""
    count: int = 1
    """How many things are summed up."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One part of a score, and what it is made of; the details add up to it."""

    kind: Kind
    hop: int | None
    score: float
    amount: float | None
    """What was measured: a cosine, votes, or the weight of what is lacking."""
    details: tuple[Detail, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """How the score of one pair comes about; the parts add up to it."""

    left: Entity
    right: Entity
    score: float
    parts: tuple[Part, ...]
    listed: float | None
    """The score that the run recorded, None if it did not keep the pair."""


@dataclass(frozen=True, kw_only=True)
class Considered:
    """Another candidate, and how it compares with the partner, or with the best candidate."""

    entity: Entity
    score: float
    linked_with: Entity | None
    differences: tuple[tuple[str, float], ...]
    """Kinds of parts by how much they add or take away compared with the partner, most first."""


@dataclass(frozen=True, kw_only=True)
class Rival:
    """Another entity of the explained side that might have the same partner."""

    entity: Entity
    score: float
    linked_with: Entity | None


@dataclass(frozen=True, kw_only=True)
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
    """What the two would score."""
    holder: Entity | None
    """Who has the wanted one, and at what score."""
    holder_score: float
    steps: tuple[Step, ...]
    cost: float
    """By how much the total score would fall; the best way on the candidates that were kept."""
    at_least: float | None
    """What the exact solver's prices say that it costs at least: the sum of both prices less the
    score. None without prices."""


@dataclass(frozen=True, kw_only=True)
class Missing:
    """What the nearest miss lacks to be linked."""

    score: float
    """How much score is missing."""
    would_do: Detail | None
    """A neighbour that one has and the other lacks, which alone would make up for it if the other
    had it too; its ``score`` is what that would add."""
    would_help: Detail | None
    """The one that would add most, where none alone would do."""


@dataclass(frozen=True, kw_only=True)
class Neighbour:
    """Neighbours in a drawing: two that are linked with each other, or one that stands alone."""

    left: Entity | None
    left_relations: tuple[Relation, ...]
    right: Entity | None
    right_relations: tuple[Relation, ...]


@dataclass(frozen=True, kw_only=True)
class Neighbourhood:
    """The neighbours of both, side by side; those left out of the lists are counted."""

    shared: tuple[Neighbour, ...]
    left_only: tuple[Neighbour, ...]
    right_only: tuple[Neighbour, ...]
    more_shared: int
    more_left: int
    more_right: int


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Why an entity has the partner it has, or none. Printing it gives the text."""

    side: Side
    entity: Entity
    partner: Entity | None
    confidence: float | None
    reason: str | None
    """Why there is no partner."""
    scale: Scale
    """Scores are log-odds beyond the price of staying alone, or mean cosines."""
    comparison: Comparison | None
    """The pair that was chosen; for an unmatched entity, its nearest miss."""
    other: Comparison | None
    """The pair that was asked about."""
    others: tuple[Considered, ...]
    rivals: tuple[Rival, ...]
    """Who else scores with the partner, or with the nearest miss; best first."""
    wins: tuple[bool, bool]
    """Whether nobody scores higher with the entity, and nobody with its partner, that was kept."""
    exchange: Exchange | None
    missing: Missing | None
    neighbourhood: Neighbourhood | None
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The explanation in words."""
        from sameas.explanation.words import in_words

        return in_words(self)

    def asdict(self) -> dict[str, Any]:
        """The same as plain values that JSON can hold."""
        return asdict(self)
