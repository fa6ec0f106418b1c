"""Which of an entity's labels is its name, and which are alternatives."""

from __future__ import annotations

import polars as pl

from sameas.reading.names import LABELS
from sameas.reading.options import Reading

SKOS = "http://www.w3.org/2004/02/skos/core#"
SKOSXL = "http://www.w3.org/2008/05/skos-xl#"
ALTERNATIVES = (
    f"{SKOS}altLabel",
    "http://schema.org/alternateName",
    "https://schema.org/alternateName",
    "http://purl.org/dc/terms/alternative",
)
"""Properties that hold further names."""
XL_LABELS = {f"{SKOSXL}prefLabel": f"{SKOS}prefLabel", f"{SKOSXL}altLabel": f"{SKOS}altLabel"}
"""Properties that lead to a label that is a resource, and those they stand for."""
XL_FORM = f"{SKOSXL}literalForm"


def label_ranks(reading: Reading) -> dict[str, int]:
    """The properties that hold names, the better first; alternatives come behind all others."""
    known = [iri for iri in (*LABELS, *ALTERNATIVES) if iri not in reading.label]
    return {iri: rank for rank, iri in enumerate(dict.fromkeys([*reading.label, *known]))}


def choose_labels(labels: pl.DataFrame, reading: Reading) -> tuple[pl.DataFrame, pl.DataFrame, int]:
    """Names and alternatives (tables head, name), and how many labels were left out.

    ``labels`` has the columns head, value, language and rank (of the property). The best label
    is one in the language preferred most; of these, the one whose property ranks first; what is
    equal in that is ordered by the alphabet, so that the order of statements means nothing.
    What only alternatives are found for is named by the first of them. Labels in languages that
    were not asked for are left out where there are others.
    """
    given = labels.with_columns(name=pl.col("value").str.strip_chars()).filter(pl.col("name") != "")
    further = pl.col("rank") >= len(label_ranks(reading)) - len(ALTERNATIVES)
    ordered = (
        given.with_columns(language=pl.col("language").str.to_lowercase())
        .with_columns(preference=_preference(reading), further=further)
        .sort("head", "further", "preference", "rank", "language", "name")
        .unique(["head", "name"], keep="first", maintain_order=True)
    )
    first = ordered.select(pl.col("head").is_first_distinct()).to_series()
    names, others = ordered.filter(first), ordered.filter(~first)
    kept = others
    if reading.language:
        kept = others.filter(pl.col("preference") <= len(reading.language))
    return names.select("head", "name"), kept.select("head", "name"), len(others) - len(kept)


def _preference(reading: Reading) -> pl.Expr:
    """A rank for each language: those preferred, none at all, the others; en before those."""
    tags = reading.language or ()
    rank = pl.when(_speaks("en")).then(len(tags) + 1).otherwise(len(tags) + 2)
    rank = pl.when(pl.col("language") == "").then(len(tags)).otherwise(rank)
    for place, tag in reversed(list(enumerate(tags))):
        rank = pl.when(_speaks(tag.lower())).then(place).otherwise(rank)
    return rank


def _speaks(tag: str) -> pl.Expr:
    """Whether a language is that one or a kind of it, as en-GB is of en."""
    return (pl.col("language") == tag) | pl.col("language").str.starts_with(f"{tag}-")
