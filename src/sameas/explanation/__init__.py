"""Explanations: why a pair is linked, why another one is not, why an entity has no partner."""

from sameas.explanation.result import Reason
from sameas.explanation.words import Explanation
from sameas.iri import Side

__all__ = ["Explanation", "Reason", "Side"]
