"""LinkSet: links with their metadata, as files hold them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from sameas.errors import OptionError
from sameas.graph.iri import OWL, SKOS, from_iris, is_iri

SAME_AS = f"{OWL}sameAs"

LINK_SCHEMA = pl.Schema(
    {"left": pl.String, "right": pl.String, "score": pl.Float64, "confidence": pl.Float64}
)
LINK_COLUMNS = tuple(LINK_SCHEMA)

PREDICATES = {
    "sameAs": SAME_AS,
    "exactMatch": f"{SKOS}exactMatch",
    "schema:sameAs": "http://schema.org/sameAs",
    "equivalentClass": f"{OWL}equivalentClass",
    "equivalentProperty": f"{OWL}equivalentProperty",
}
"""The predicates of links, by the names that ``predicate`` takes."""

SIMILAR = {name: f"{SKOS}{name}Match" for name in ("broad", "narrow", "related")}
"""Predicates of pairs that have to do with each other and are not the same."""

IDENTITY = (*PREDICATES.values(), "https://schema.org/sameAs")
"""Predicates that say of two things that they are the same."""


@dataclass(frozen=True, eq=False, kw_only=True)
class LinkSet:
    """Links, and what is known about them.

    ``links`` has the columns left, right, score, confidence and perhaps ``predicate`` (an IRI;
    null for owl:sameAs). Any further column is one of SSSOM's: subject_label and the like.
    """

    links: pl.DataFrame
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Statements about the whole set, named as SSSOM names them: license, subject_source ..."""
    prefixes: Mapping[str, str] = field(default_factory=dict)
    """Abbreviations of IRIs that metadata and further columns use."""
    skipped: tuple[str, ...] = ()
    """What a reader left out, in sentences."""
    carried: tuple[pl.Series, ...] = ()
    """Columns of the graphs for people to read, in the order of the links; for tables alone."""

    @property
    def predicates(self) -> pl.Series:
        """The IRI of each link's predicate."""
        if "predicate" not in self.links.columns:
            return pl.repeat(SAME_AS, len(self.links), dtype=pl.String, eager=True)
        return self.links["predicate"].fill_null(SAME_AS)

    @property
    def further(self) -> list[str]:
        """Columns beyond those that every link has."""
        return [name for name in self.links.columns if name not in (*LINK_COLUMNS, "predicate")]


def left_out(counts: Mapping[str, int]) -> tuple[str, ...]:
    """What a reader left out, in sentences, from what was counted."""
    return tuple(f"{what}: {count}" for what, count in counts.items() if count)


def predicate_iri(text: str) -> str:
    """The IRI of a predicate from its name or from itself.

    >>> predicate_iri("exactMatch")
    'http://www.w3.org/2004/02/skos/core#exactMatch'
    """
    name = text.removeprefix("owl:").removeprefix("skos:")
    if name in PREDICATES:
        return PREDICATES[name]
    if is_iri(text) and ("://" in text or text.startswith("urn:")):
        return text
    raise OptionError(
        f"`predicate` must be {', '.join(PREDICATES)} or an IRI, got {text!r} instead"
    )


def saying(links: LinkSet, predicate: str | pl.Series) -> LinkSet:
    """The links with this predicate (an IRI) for all of them, or with one for each.

    What is stated to be broader, narrower or related stays so.
    """
    said = pl.lit(predicate)
    if "predicate" in links.links.columns:
        stays = pl.col("predicate").is_in(list(SIMILAR.values()))
        said = pl.when(stays).then("predicate").otherwise(said)
    return replace(links, links=links.links.with_columns(predicate=said))


def with_numbers(links: pl.DataFrame) -> pl.DataFrame:
    """The links with columns for score and confidence, null where they lack them."""
    lacking = {name: kind for name, kind in LINK_SCHEMA.items() if name not in links.columns}
    return links.with_columns(**{name: pl.lit(None, kind) for name, kind in lacking.items()})


def between_ids(links: pl.DataFrame) -> pl.DataFrame:
    """Links between IRIs as a LinkSet holds them, with ids in place of the IRIs that we made."""
    ids = [from_iris(links[side]).alias(side) for side in ("left", "right")]
    links = with_numbers(links.with_columns(*ids))
    if "predicate" in links.columns:
        unusual = pl.when(pl.col("predicate") != SAME_AS).then("predicate")
        links = links.with_columns(predicate=unusual)
    return links.select(*LINK_COLUMNS, pl.exclude(LINK_COLUMNS))
