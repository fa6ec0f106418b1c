"""Statements: what every RDF reader yields, with resources by number."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
import pyoxigraph as ox
from numpy.typing import NDArray

from sameas.graph import Positions
from sameas.reading.terms import BLANK, IRI, Codes, Terms

LITERAL_SCHEMA = pl.Schema(
    {"head": pl.UInt32, "relation": pl.UInt32, "value": pl.String, "language": pl.String}
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Statements:
    """Some statements: those between resources, and those with a literal.

    ``rows`` and ``literal_rows`` say which line or place each came from.
    """

    triples: Codes
    """Head, relation and tail by number, shape (m, 3)."""
    rows: Positions
    literals: pl.DataFrame
    """head and relation by number, value, language ("" where there is none)."""
    literal_rows: Positions
    quoted: int = 0
    """Statements about statements, which no graph can hold."""


def from_quads(
    quads: Iterable[Any],
    terms: Terms,
    *,
    blank: Callable[[str], str],
    rows: Positions | None = None,
) -> Statements:
    """Statements from what pyoxigraph's parsers yield: quads, triples, or rows of a SELECT.

    ``blank`` makes a term of the label of a blank node; ``rows`` says where each quad came from.
    """
    found = _Columns()
    for number, (subject, predicate, value, *_) in enumerate(quads):
        head = _term(subject, blank)
        tail = _term(value, blank)
        if head is None or (tail is None and type(value) is not ox.Literal):
            found.quoted += 1
        elif tail is None:
            found.literal_heads.append(head)
            found.literal_relations.append(f"<{predicate.value}>")
            found.values.append(value.value)
            found.languages.append(value.language or "")
            found.literal_rows.append(number)
        else:
            found.heads.append(head)
            found.relations.append(f"<{predicate.value}>")
            found.tails.append(tail)
            found.rows.append(number)
    return found.statements(terms, rows)


def merged(one: Statements, other: Statements) -> Statements:
    """The statements of both, in the order of their rows."""
    rows = np.concatenate([one.rows, other.rows])
    literal_rows = np.concatenate([one.literal_rows, other.literal_rows])
    order = np.argsort(rows, kind="stable")
    literal_order = np.argsort(literal_rows, kind="stable")
    return Statements(
        triples=np.concatenate([one.triples, other.triples])[order],
        rows=rows[order],
        literals=pl.concat([one.literals, other.literals])[literal_order],
        literal_rows=literal_rows[literal_order],
        quoted=one.quoted + other.quoted,
    )


def _term(node: Any, blank: Callable[[str], str]) -> str | None:
    """A resource as N-Triples writes it; None for anything else."""
    kind = type(node)
    if kind is ox.NamedNode:
        return f"<{node.value}>"
    return blank(node.value) if kind is ox.BlankNode else None


@dataclass
class _Columns:
    """Statements on their way into columns."""

    heads: list[str] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)
    tails: list[str] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    literal_heads: list[str] = field(default_factory=list)
    literal_relations: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    languages: list[str] = field(default_factory=list)
    literal_rows: list[int] = field(default_factory=list)
    quoted: int = 0

    def statements(self, terms: Terms, rows: Positions | None) -> Statements:
        """All of them, with numbers for terms."""
        places = np.array(self.rows, dtype=np.int64)
        literal_places = np.array(self.literal_rows, dtype=np.int64)
        triples = [_codes(column, terms) for column in (self.heads, self.relations, self.tails)]
        literals = {
            "head": _codes(self.literal_heads, terms),
            "relation": _codes(self.literal_relations, terms),
            "value": self.values,
            "language": self.languages,
        }
        return Statements(
            triples=np.stack(triples, axis=1),
            rows=places if rows is None else rows[places],
            literals=pl.DataFrame(literals, schema=LITERAL_SCHEMA),
            literal_rows=literal_places if rows is None else rows[literal_places],
            quoted=self.quoted,
        )


def _codes(texts: list[str], terms: Terms) -> NDArray[np.uint32]:
    """The number of each term; a parser has found all of them to be right."""
    column = pl.Series(texts, dtype=pl.String)
    codes = terms.codes(column)
    terms.states[codes] = np.where(column.str.starts_with("<").to_numpy(), IRI, BLANK)
    return codes
