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
    "writing": "writing",
}
"""What happens in each phase, in words."""
