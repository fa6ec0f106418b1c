"""Why a pair, why not another, why nobody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sameas.explanation.result import Explanation, Side

__all__ = ["Explainer", "Explanation", "Side"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Explainer:
    """Placeholder until the branch explanation is merged."""

    pair: Any
    options: Any
    inputs: Any
    links: Any
    candidates: Any
    unmatched: Any
    anchors: Any
    relations: Any
    prices: Any
    threshold: Any

    def explain(self, entity: str, other: str | None = None, *, side: Side | None = None) -> Any:
        """Not here yet."""
        raise NotImplementedError
