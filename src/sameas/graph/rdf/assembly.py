"""From statements to the parts of a graph: entities, triples between them, attributes."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.graph.iri import TYPE
from sameas.graph.labels import ALTERNATIVES, LABELS
from sameas.graph.rdf.reading import Reading
from sameas.graph.rdf.statements import STATEMENTS

log = logging.getLogger(__name__)

TRIPLE = ("head", "relation", "tail", "graph")
LITERAL = ("head", "relation", "value", "language", "datatype", "graph")
"""Columns of statements between resources, and of those with a literal."""


def assemble(
    batches: Iterable[pl.DataFrame], reading: Reading, tally: Counter[str], place: str
) -> dict[str, Any]:
    """The fields of the ``sameas.Graph`` that statements make, except for the rules.

    ``batches`` are tables of ``sameas.graph.rdf.statements``; ``place`` is where they come from,
    for warnings. What was met is counted in ``tally``.
    """
    triples, literals, order, predicates = _collected(batches, reading.exclude, tally)
    types = triples.filter(pl.col("relation") == TYPE)
    classes = types["tail"].unique()
    if reading.exclude:
        _warn_unused("exclude", reading.exclude, pl.concat([predicates, classes]), place)
        wrong = classes.filter(_fitting(classes, reading.exclude))
        members = types.filter(pl.col("tail").is_in(wrong.implode()))["head"]
        out = pl.concat([wrong, members]).unique().implode()
        inside = ~(pl.col("head").is_in(out) | pl.col("tail").is_in(out))
        triples = _kept(triples, inside, tally)
        literals = _kept(literals, ~pl.col("head").is_in(out), tally)
    if reading.include:
        used = pl.concat([triples["relation"], literals["relation"]]).unique()
        _warn_unused("include", reading.include, pl.concat([used, classes]), place)
        asked = _fitting(used, reading.include)
        if asked.any():  # else only classes were asked for
            names = used.is_in([*reading.label, *LABELS, *ALTERNATIVES])
            wanted = pl.col("relation").is_in(used.filter(asked | names).implode())
            triples, literals = (_kept(table, wanted, tally) for table in (triples, literals))
    ends = pl.concat([triples["head"], triples["tail"], literals["head"]]).unique()
    entities = order.filter(order.is_in(ends.implode()))
    relations = triples["relation"].unique(maintain_order=True)
    columns = (("head", entities), ("relation", relations), ("tail", entities))
    named = triples.select((pl.col("graph") != "").any()).item()
    return {
        "entities": entities.cast(pl.String).rename("entity"),
        "relations": relations.cast(pl.String),
        "triples": np.stack([_places(triples[name], among) for name, among in columns], axis=1),
        "triple_graphs": triples["graph"].cast(pl.String) if named else None,
        "attributes": literals.cast(
            {"head": pl.String, "relation": pl.String, "graph": pl.String}
        ).rename({"head": "entity", "relation": "attribute"}),
        "linkable": _linkable(entities, types, reading.include, tally),
        "reading_counts": {"statements": 0, "malformed": 0} | dict(+tally),
    }


def _collected(
    batches: Iterable[pl.DataFrame], exclude: Sequence[str], tally: Counter[str]
) -> tuple[pl.DataFrame, pl.DataFrame, pl.Series, pl.Series]:
    """Triples, literals, resources in the order in which they were met, and all predicates.

    Resources are numbered, as a polars Categorical. Excluded predicates are left out at once.
    """
    resource = pl.Categorical(pl.Categories.random())
    numbered = pl.col(TRIPLE).cast(resource)
    triples, literals, order, predicates = [], [], [], []
    for batch in chain([pl.DataFrame(schema=STATEMENTS)], batches):
        plain = batch.filter(pl.any_horizontal(pl.col("tail", "value").is_not_null()))
        tally["statements"] += len(batch)
        tally["quoted"] += len(batch) - len(plain)
        plain = plain.with_columns(numbered)
        ends = pl.concat([plain["head"], plain.select(pl.coalesce("tail", "head")).to_series()])
        in_turn = np.arange(len(ends)).reshape(2, -1).T.ravel()  # the head before the tail
        order.append(ends.gather(in_turn).unique(maintain_order=True))
        if exclude:
            predicates.append(plain["relation"].unique())
            wrong = predicates[-1].filter(_fitting(predicates[-1], exclude))
            plain = _kept(plain, ~pl.col("relation").is_in(wrong.implode()), tally)
        triples.append(plain.filter(pl.col("tail").is_not_null()).select(TRIPLE))
        literals.append(plain.filter(pl.col("tail").is_null()).select(LITERAL))
    met = pl.concat(order).unique(maintain_order=True)
    return pl.concat(triples), pl.concat(literals), met, pl.concat([met[:0], *predicates])


def _kept(table: pl.DataFrame, wanted: pl.Expr, tally: Counter[str]) -> pl.DataFrame:
    """The rows that are wanted; the others are counted."""
    kept = table.filter(wanted)
    tally["excluded"] += len(table) - len(kept)
    return kept


def _linkable(
    entities: pl.Series, types: pl.DataFrame, include: Sequence[str], tally: Counter[str]
) -> NDArray[np.int64] | None:
    """The positions of the members of the classes that were asked for; None if none was."""
    wanted = types.filter(_fitting(types["tail"], include))["head"].unique()
    if not len(wanted):
        return None
    members = entities.is_in(wanted.implode()).to_numpy()
    tally["other_classes_not_linked"] += int((~members).sum())
    return np.flatnonzero(members)


def _places(resources: pl.Series, among: pl.Series) -> NDArray[np.int64]:
    """The position of each resource in a series of distinct ones that holds them all."""
    numbers = among.to_physical().to_numpy()
    positions = np.zeros(int(numbers.max()) + 1 if len(numbers) else 0, dtype=np.int64)
    positions[numbers] = np.arange(len(numbers))
    numbered: NDArray[np.int64] = positions[resources.to_physical().to_numpy()]
    return numbered


def _warn_unused(option: str, patterns: Sequence[str], texts: pl.Series, place: str) -> None:
    for pattern in patterns:
        if not _fitting(texts, [pattern]).any():
            log.warning("%s: `%s` %s fits no predicate or class", place, option, pattern)


def _fitting(texts: pl.Series, patterns: Sequence[str]) -> pl.Series:
    """Which texts are one of the patterns, or begin like one that ends in an asterisk."""
    texts = texts.cast(pl.String)
    matches = texts.is_in([pattern for pattern in patterns if not pattern.endswith("*")])
    for pattern in patterns:
        if pattern.endswith("*"):
            matches |= texts.str.starts_with(pattern[:-1])
    return matches
