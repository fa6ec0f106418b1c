"""What the phases of a run do, in words."""

from __future__ import annotations

MEANINGS = {
    "reading": "reading the graphs",
    "inputs": "checking what was given",
    "features": "turning names into numbers",
    "proposals": "looking for pairs with rare parts in common",
    "neighbours": "describing neighbourhoods",
    "candidates": "comparing pairs worth a look",
    "profit": "comparing all pairs",
    "refinement": "learning from sure links",
    "assignment": "choosing the best links together",
    "audit": "estimating how many links are correct",
    "confidence": "computing confidences",
    "paris": "computing probabilities by PARIS",
    "links": "choosing links",
    "clusters": "putting entities together to clusters",
    "writing": "writing",
}
"""What happens in each phase, in words."""


def meaning(phase: str) -> str:
    """What happens in a phase, in words; of several graphs, with the numbers of the two.

    >>> meaning("features"), meaning("features 1-3")
    ('turning names into numbers', 'turning names into numbers (graphs 1, 3)')
    """
    name, _, graphs = phase.partition(" ")
    text = MEANINGS.get(name, name)
    return f"{text} (graphs {graphs.replace('-', ', ')})" if graphs else text
