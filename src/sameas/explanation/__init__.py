"""Explanations: why a pair is linked, why another one is not, why an entity has no partner."""

from sameas.explanation.result import Reason, Side
from sameas.explanation.words import Explanation

__all__ = ["Explanation", "Reason", "Side"]
