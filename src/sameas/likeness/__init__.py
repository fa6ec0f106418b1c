"""How alike two entities are besides names and neighbours, and what that is worth.

Types, attributes and spelling are compared pair by pair; what each likeness is worth is learned
from the most certain links of the run itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from sameas.graph import Positions
from sameas.likeness.attributes import Attributes, AttributeWorths, learn_attributes
from sameas.likeness.memory import Numbers, Score, Vector
from sameas.likeness.spelling import Spelling, learn_spelling
from sameas.likeness.types import Types, learn_types


@dataclass(frozen=True, eq=False)
class Traits:
    """What pairs are compared by besides names and neighbours."""

    types: Types
    attributes: Attributes | None = None
    spelling: Spelling | None = None

    def learn(self, left: Positions, right: Positions, trust: Vector) -> Worths:
        """What the anchors (left, right, trust) tell about the worth of each likeness."""
        anchors = left, right, trust
        return Worths(
            learn_types(self.types, *anchors),
            None if self.attributes is None else learn_attributes(self.attributes, *anchors),
            None if self.spelling is None else learn_spelling(self.spelling, *anchors),
        )


@dataclass(frozen=True, eq=False)
class Worths:
    """What likeness in types, attributes and spelling is worth, in log-odds."""

    types: Score
    attributes: AttributeWorths | None
    spelling: Score | None

    def score(self, left: Numbers, right: Numbers) -> Vector:
        """What they say about pairs together."""
        total = self.types(left, right)
        if self.attributes is not None:
            total = total + self.attributes.score(left, right)
        if self.spelling is not None:
            total = total + self.spelling(left, right)
        return total
