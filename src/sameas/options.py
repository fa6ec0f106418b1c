"""Options: everything that can be chosen about an alignment, checked when it is made."""

from __future__ import annotations

import math
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from sameas.adjacency import Adjacency
from sameas.errors import OptionError

Features = Literal["char", "word", "hybrid"]
Method = Literal["seu", "paris"]
Cardinality = Literal["one-to-one", "one-to-many", "many-to-one", "many-to-many"]
Solver = Literal["sinkhorn", "hungarian"]
Preset = Literal["best", "paper"]
Text = Literal["weighted", "plain"]
Part = Literal[
    "folding",
    "numbers",
    "sounds",
    "boundaries",
    "rarity",
    "namesakes",
    "votes",
    "lacking",
    "relations",
]
"""What ``best`` consists of, besides the method as published."""

DEEPEST, MOST = 20, 1000


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to align. The defaults are the preset "best"."""

    method: Method = "seu"
    """Names spread over the graph and assigned (seu), or PARIS's probabilities (paris)."""
    features: Features = "char"
    """What names are turned into: character n-grams, mean word vectors, or both."""
    text: Text = "weighted"
    """N-grams: plain bigrams as published; or trigrams of folded names, as spelled and as they
    sound, with the boundaries of words, weighted by rarity."""
    word_vectors: Path | None = None
    """A GloVe or word2vec text file; without one, the vectors of the extra "glove"."""
    embeddings: Path | None = None
    """Own feature rows (.npy or .parquet), used instead of names."""
    adjacency: Adjacency = "relational"
    """How neighbours are weighted."""
    depth: int = 2
    """How many hops features are spread."""
    solver: Solver = "sinkhorn"
    """Who assigns: Sinkhorn's soft plan, or the exact Hungarian answer."""
    iterations: int = 10
    """Rounds of Sinkhorn."""
    temperature: float = 0.02
    """How soft Sinkhorn's plan is."""
    rounds: int = 4
    """Rounds of refinement, in which sure links tell about their neighbours; 0 for none."""
    seeds: Path | None = None
    """Links that are known; never required."""
    reject: Path | None = None
    """Pairs that are known not to be links."""
    without: tuple[Part, ...] = ()
    """Parts of ``best`` to leave out, to see what each is good for."""
    among: Path | Literal["gold"] | None = None
    """Only entities of these links are candidates (the paper protocol)."""
    candidates: int = 50
    """Partners considered for each entity, from both sides; in small problems, all are."""
    gap: float = 0.0
    """The exact solver may stop once it is proven to be within this share of the best."""
    time_limit: float | None = None
    """The exact solver stops after so many seconds, with what it has proven by then."""
    cardinality: Cardinality = "one-to-one"
    """How many partners a left and a right entity may have."""
    top: int = 10
    """Ranked candidates kept per left entity."""
    memory: int = 4 * 2**30
    """Ceiling in bytes, kept to: what does not fit is refused before the work starts."""
    min_confidence: float = 0.5
    """Links less sure than this are dropped and their entities stay unmatched; with one half, a
    link is made where it is likelier than not."""
    seed: int = 0
    """For what is left to chance. Nothing is today: every seed gives the same links."""

    def __post_init__(self) -> None:
        """Refuse values that cannot be used; text that names a file becomes a path."""
        for name in ("word_vectors", "embeddings", "seeds", "reject", "among"):
            if isinstance(getattr(self, name), str) and getattr(self, name) != "gold":
                object.__setattr__(self, name, Path(getattr(self, name)))
        for name, choices in (
            ("method", get_args(Method)),
            ("features", get_args(Features)),
            ("text", get_args(Text)),
            ("adjacency", get_args(Adjacency)),
            ("solver", get_args(Solver)),
            ("cardinality", get_args(Cardinality)),
        ):
            if getattr(self, name) not in choices:
                raise _wrong(name, f"one of {', '.join(choices)}", getattr(self, name))
        for name, least in (
            ("depth", 0),
            ("iterations", 0),
            ("rounds", 0),
            ("candidates", 1),
            ("top", 1),
            ("memory", 1),
            ("seed", 0),
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise _wrong(name, f"a whole number of at least {least}", value)
        for name in ("top", "rounds"):
            if getattr(self, name) > MOST:
                raise _wrong(name, f"at most {MOST}", getattr(self, name))
        object.__setattr__(self, "without", tuple(self.without))
        for part in self.without:
            if part not in get_args(Part):
                raise _wrong("without", f"some of {', '.join(get_args(Part))}", part)
        if self.depth > DEEPEST:
            raise _wrong(
                "depth", f"at most {DEEPEST}: beyond a few hops all is near all", self.depth
            )
        for name in ("temperature", "min_confidence", "gap", "time_limit"):
            value = getattr(self, name)
            if name == "time_limit" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise _wrong(name, "a number", value)
        if not (self.temperature > 0 and math.isfinite(self.temperature)):
            raise _wrong("temperature", "a positive number", self.temperature)
        if not 0 <= self.gap < 1:
            raise _wrong("gap", "at least 0 and less than 1", self.gap)
        if self.time_limit is not None and not self.time_limit > 0:
            raise _wrong("time_limit", "a positive number of seconds", self.time_limit)
        if not 0 <= self.min_confidence <= 1:
            raise _wrong("min_confidence", "between 0 and 1", self.min_confidence)
        for name in ("seeds", "reject"):
            if getattr(self, name) is not None and not self.rounds:
                raise OptionError(
                    f"{name} are used in refinement only, got rounds 0; leave them out, or refine"
                )
        if self.word_vectors is not None and self.features == "char":
            raise OptionError(
                "word_vectors are used only with features word or hybrid, got features 'char'"
            )

    @property
    def single(self) -> tuple[bool, bool]:
        """Whether a left, and whether a right entity has one partner at most."""
        return self.cardinality in ("one-to-one", "many-to-one"), self.cardinality in (
            "one-to-one",
            "one-to-many",
        )

    def asdict(self) -> dict[str, Any]:
        """The options as plain values that JSON can hold."""
        values = asdict(self)
        return {name: _plain(value) for name, value in values.items()}


PRESETS: dict[Preset, Options] = {
    "best": Options(),
    "paper": Options(text="plain", rounds=0, min_confidence=0.0),
}
"""``best`` is the best we know; ``paper`` is the method as published: everyone is matched."""


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    return list(value) if isinstance(value, tuple) else value


UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def parse_size(text: str, *, option: str = "memory") -> int:
    """A number of bytes from text such as "4G", "512M" or "1.5GiB".

    >>> parse_size("1.5G") == 3 * 2**29
    True
    """
    match = re.fullmatch(r"\s*(\d{1,12}(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    if not match or not (size := int(float(match[1]) * UNITS[match[2].upper()])):
        raise _wrong(option, "a size such as 4G or 512M", text)
    return size


def _wrong(name: str, expected: str, found: object) -> OptionError:
    return OptionError(f"{name} must be {expected}, got {found!r} instead")
