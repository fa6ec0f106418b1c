"""What tells entities of one name apart at a glance: their type, and one fact about each."""

from __future__ import annotations

import numpy as np
import polars as pl

from sameas.graph.iri import TYPE, last_part
from sameas.graph.matched import MatchedGraph
from sameas.text.folding import folded

LONGEST = 60
"""Characters of a value that a row has room for."""
BITS = 8.0
"""Entropy of a property's values from which on more of it tells people nothing more."""
HALF = 0.5
"""What a fact is worth that is a number, or that another entity states, beside one in words."""
KINDS = 50
"""Kinds of things that the paths of URIs may name, for a graph without types."""


def types_of(graph: MatchedGraph) -> pl.Series:
    """The most specific type of each entity in words; "" where none is known.

    In a graph without types, it is the part of a URI before the last one, if that names kinds of
    things: http://example.org/language/Danish is a language.
    """
    if not len(graph.types):
        return _kinds_in_uris(graph.entities)
    held = pl.DataFrame(graph.types, schema=["entity", "type"], orient="row")
    held = held.with_columns(size=pl.len().over("type")).sort("entity", "size", "type")
    rarest = held.unique("entity", keep="first", maintain_order=True)
    numbers = rarest["type"].unique().to_numpy()
    names, uris = graph.names.gather(numbers), graph.entities.gather(numbers)
    words = [name or last_part(uri) for name, uri in zip(names, uris, strict=True)]
    found = np.full(len(graph.entities), "", dtype=object)
    said = rarest["type"].replace_strict(numbers, words, return_dtype=pl.String)
    found[rarest["entity"].to_numpy()] = said.to_numpy()
    return pl.Series("type", found, dtype=pl.String)


def _kinds_in_uris(uris: pl.Series) -> pl.Series:
    kinds: pl.Series = uris.cast(pl.String).str.extract(r"[/#]([^/#]+)[/#][^/#]+$").fill_null("")
    if 2 <= kinds.n_unique() <= KINDS:
        return kinds.alias("type")
    return pl.repeat("", len(uris), dtype=pl.String, eager=True).rename("type")


def facts_of(graph: MatchedGraph) -> pl.Series:
    """One fact about each entity, such as "country: France"; "" where there is none.

    Of the properties that an entity has, the one is taken that most entities have and whose values
    differ most; words come before numbers, and what it says before what is said about it.
    """
    names, count = graph.names.cast(pl.String), len(graph.entities)
    facts = pl.concat([_values(graph), *_edges(graph, names)])
    own = folded(names, numbers=False)
    facts = facts.with_columns(
        pl.col("value").str.replace_all(r"\s+", " ").str.strip_chars(),
    ).filter(
        pl.col("property").str.strip_chars_start("^") != TYPE,  # which is shown anyway
        pl.col("value").str.len_chars().is_between(1, LONGEST),
        ~pl.col("value").str.contains("://", literal=True),
        pl.col("value").str.to_lowercase() != pl.lit(own).gather("entity"),
        pl.col("value") != pl.lit(names).gather("entity"),
    )
    chances = facts.group_by("property", "value").len("times")
    chances = chances.with_columns(share=pl.col("times") / pl.col("times").sum().over("property"))
    bits = -(pl.col("share") * pl.col("share").log(2)).sum()
    numeric = pl.col("value").str.contains(r"^[\d\W]+$").mean()
    worth = chances.group_by("property").agg(bits=bits, numeric=numeric)
    worth = worth.join(facts.group_by("property").agg(have=pl.col("entity").n_unique()), "property")
    worth = worth.select(
        "property",
        worth=pl.col("have")
        * pl.min_horizontal("bits", pl.lit(BITS))
        * pl.when(pl.col("numeric") > HALF).then(HALF).otherwise(1.0)
        * pl.when(pl.col("property").str.starts_with("^")).then(HALF).otherwise(1.0),
    )
    best = facts.join(worth, "property").sort(
        ["worth", "property", "value"], descending=[True, False, False]
    )
    best = best.unique("entity", keep="first", maintain_order=True)
    properties = best["property"].unique()
    words = [f"{last_part(one.lstrip('^'))}{' of' * one.startswith('^')}" for one in properties]
    label = best["property"].replace_strict(properties, words, return_dtype=pl.String)
    found = np.full(count, "", dtype=object)
    found[best["entity"].to_numpy()] = (label + ": " + best["value"]).to_numpy()
    return pl.Series("fact", found, dtype=pl.String)


def _values(graph: MatchedGraph) -> pl.DataFrame:
    """entity, property, value of all attributes."""
    table = graph.attributes
    entity = graph.positions(table["entity"])
    found = pl.DataFrame(
        {"entity": entity, "property": table["attribute"], "value": table["value"]}
    )
    text = pl.col("property", "value").cast(pl.String)
    return found.with_columns(text).filter(pl.col("entity") >= 0)


def _edges(graph: MatchedGraph, names: pl.Series) -> list[pl.DataFrame]:
    """entity, property, value of all edges, and of their inverse ones, which begin with "^"."""
    head, relation, tail = (graph.triples[:, column] for column in range(3))
    relations = graph.relations.cast(pl.String).gather(relation)
    return [
        pl.DataFrame({"entity": near, "property": sign + relations, "value": names.gather(far)})
        for near, far, sign in ((head, tail, ""), (tail, head, "^"))
    ]
