"""Names of entities: which label is the name, and names made from URIs where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import unquote

import polars as pl

from sameas.iri import RDFS, SKOS, mapped_where

LABELS = (
    f"{RDFS}label",
    f"{SKOS}prefLabel",
    "http://schema.org/name",
    "https://schema.org/name",
    "http://xmlns.com/foaf/0.1/name",
    "http://dbpedia.org/ontology/name",
    "http://purl.org/dc/elements/1.1/title",
    "http://purl.org/dc/terms/title",
)
"""Properties that hold names, best first."""
ALTERNATIVES = (
    f"{SKOS}altLabel",
    "http://schema.org/alternateName",
    "https://schema.org/alternateName",
    "http://purl.org/dc/terms/alternative",
)
"""Properties that hold further names."""


def names_from_uris(uris: pl.Series) -> pl.Series:
    """A readable name for each URI: its last part, decoded, with its words apart.

    What follows ``/resource/`` is one part, as in DBpedia's ``AC/DC``. Words joined by camel
    case are split only where nothing else separates them.

    >>> names_from_uris(pl.Series(["http://a.org/x#Saint_%C3%89tienne", "b:BirthPlace"])).to_list()
    ['Saint Étienne', 'b:Birth Place']
    """
    trimmed = uris.str.strip_chars_end("/#")
    part = pl.DataFrame({"uri": uris, "trimmed": trimmed}).select(
        pl.coalesce(
            pl.col("trimmed").str.extract(r"/resource/(.+)$"),
            pl.col("trimmed").str.extract(r"([^/#]+)$"),
            pl.col("uri"),
        )
    )["trimmed"]
    part = mapped_where(part.str.contains("%", literal=True), part, unquote)
    spaced = part.str.replace_all(r"[_\s]+", " ").str.strip_chars()
    split = spaced.str.replace_all(r"(\p{Ll}|\d)(\p{Lu})", "${1} ${2}").str.replace_all(
        r"(\p{Lu})(\p{Lu}\p{Ll})", "${1} ${2}"
    )
    joined = ~spaced.str.contains(r"[ \-,.(]")
    names: pl.Series = split.zip_with(joined, spaced)
    return names.rename("name")


def names_from_attributes(attributes: pl.DataFrame, preferred: Sequence[str] = ()) -> pl.DataFrame:
    """One name per entity that has a label attribute (table entity, name), the best label first."""
    labels = list(dict.fromkeys([*preferred, *LABELS]))
    order = pl.DataFrame({"attribute": labels, "order": range(len(labels))})
    return (
        attributes.with_row_index("position")
        .join(order, on="attribute", how="inner")
        .sort("order", "position")
        .unique("entity", keep="first", maintain_order=True)
        .select("entity", name="value")
    )


def choose_names(
    entities: pl.Series, given: pl.DataFrame | None, *, ids: pl.Series | None = None
) -> tuple[pl.Series, int]:
    """The name of each entity, from a table (entity, name) or else its URI; and how many are given.

    A row of the table belongs to an entity if it names its URI or, where ``ids`` are given, its id.
    Of several names of one entity the first is taken; `further_names` has the others.
    """
    names = names_from_uris(entities)
    if given is None or not len(given):
        return names, 0
    first = given.unique("entity", keep="first", maintain_order=True)
    found = [
        keys.cast(pl.String).replace_strict(first["entity"], first["name"], default=None)
        for keys in (entities, ids)
        if keys is not None
    ]
    chosen = pl.select(name=pl.coalesce(found)).to_series()
    return chosen.zip_with(chosen.is_not_null(), names), len(chosen) - chosen.null_count()


def further_names(
    entities: pl.Series, given: pl.DataFrame, *, ids: pl.Series | None = None
) -> pl.DataFrame:
    """The rows of a table (entity, name) that ``choose_names`` does not take: entity, name."""
    owners = [
        pl.DataFrame({"key": keys.cast(pl.String), "owner": entities})
        for keys in (entities, ids)
        if keys is not None
    ]
    rows = given.filter(~given["entity"].is_first_distinct())
    found = rows.join(pl.concat(owners), left_on="entity", right_on="key", maintain_order="left")
    return found.select(entity="owner", name="name")
