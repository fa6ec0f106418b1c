"""What is used to compare names across languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class LanguageSupport:
    """The languages of the names, and what is used to compare names across them."""

    left: str = "und"
    right: str = "und"
    foreign: bool = True
    """Whether names are compared across languages; if not, an encoder finds synonyms."""
    glossed: tuple[str, ...] = ()
    """The sides whose names are looked up in dictionaries."""
    sources: tuple[str, ...] = ()
    """The installed dictionaries that are used."""
    encoder: bool = False
    learnt: bool = False
    """Whether a dictionary is learnt from the links."""
    notes: tuple[str, ...] = ()
    """What else could be used, and how it is installed."""

    @property
    def matter(self) -> bool:
        """Whether anything is used, or could be."""
        return self.used or bool(self.notes)

    @property
    def used(self) -> bool:
        """Whether names are compared by more than their spelling."""
        return bool(self.glossed or self.encoder or self.learnt)

    @classmethod
    def recorded(cls, values: Mapping[str, Any]) -> LanguageSupport:
        """From what a run has recorded."""
        tuples = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        return cls(**{**values, **tuples})


NO_SUPPORT = LanguageSupport()
