"""Explanations: why this pair, why not that one, why nobody.

``explain`` finds the scores of an entity's pairs anew from the graphs, takes them apart, and
follows what the assignment did with them.
"""

from sameas.explanation.drawing import draw
from sameas.explanation.explain import explain
from sameas.explanation.result import Explanation

__all__ = ["Explanation", "draw", "explain"]
