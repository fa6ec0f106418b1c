"""Explanations: why a pair is linked, why another one is not, why an entity has no partner."""

from sameas.explanation.explainer import Explainer
from sameas.explanation.result import Explanation, Side

__all__ = ["Explainer", "Explanation", "Side"]
