"""Explanations: why a pair is linked, why another one is not, why an entity has no partner."""

from sameas.explanation.explainer import Explainer
from sameas.explanation.record import Record
from sameas.explanation.result import Reason, Side
from sameas.explanation.words import Explanation

__all__ = ["Explainer", "Explanation", "Reason", "Record", "Side"]
