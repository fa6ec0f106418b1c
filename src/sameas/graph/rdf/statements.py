"""Statements: what every RDF reader yields, as tables of text.

Statements come as lines of canonical N-Quads, as pyoxigraph writes them. Many lines are split into
columns at once, which is faster than a Python loop over them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

import polars as pl
import pyoxigraph as ox

from sameas.graph.iri import mapped_where

AT_ONCE = 50_000
"""Statements that are turned into columns at a time."""
STATEMENTS = pl.Schema(
    dict.fromkeys(
        ("head", "relation", "tail", "value", "language", "datatype", "graph"), pl.String()
    )
)
"""The columns of statements; see ``from_canonical``."""
_END = (
    r"(?:@(?<language>[A-Za-z0-9]*(?:-[A-Za-z0-9]+)*)|\^\^<(?<datatype>[^<>]*)>)?"
    r"(?: (?<place>\S+))? \.$"
)
"""What follows the text of a literal."""
_LITERAL = rf'^"(?<value>(?:[^"\\]|\\.)*)"{_END}'
_ANONYMOUS = re.compile("_:[0-9a-f]{24,32}")
"""The random labels that parsers give to blank nodes without a label."""


@dataclass
class BlankNames:
    """Names of the blank nodes of one file, the same whenever the same file is read.

    ``tag`` tells them from those of other files. Nodes without a label are numbered.
    """

    tag: str = ""
    names: dict[str, str] = field(default_factory=dict)

    def name(self, term: str) -> str:
        """The name of a blank node, given as ``_:label``."""
        if not _ANONYMOUS.fullmatch(term):
            return f"_:{self.tag}{term[2:]}"
        if term not in self.names:
            self.names[term] = f"_:{self.tag}anonymous-{len(self.names) + 1}"
        return self.names[term]


def statements_of(quads: Iterable[ox.Quad], tag: str = "") -> Iterator[pl.DataFrame]:
    """The statements of pyoxigraph's quads, some thousands at a time."""
    quads, blank = iter(quads), BlankNames(tag)
    while content := ox.serialize(islice(quads, AT_ONCE), format=ox.RdfFormat.N_QUADS):
        yield from_canonical(content, blank)


def from_canonical(content: bytes, blank: BlankNames) -> pl.DataFrame:
    """The statements of N-Quads as pyoxigraph writes them, a row each, in their order."""
    escapes = b"\\" in content
    return with_blank_names(columns_of(lines_of(content), escapes=escapes), blank)


def lines_of(content: bytes) -> pl.Series:
    """The lines of a text; a polars error if it is not UTF-8."""
    whole = pl.Series([content.removesuffix(b"\n")], dtype=pl.Binary).cast(pl.String)
    lines: pl.Series = whole.str.split("\n").explode()
    return lines


def columns_of(lines: pl.Series, *, escapes: bool = True) -> pl.DataFrame:
    """The statements of lines of N-Quads as pyoxigraph writes them, a row each, in their order.

    Without ``escapes`` in any of them, literals are read faster.

    Columns: head, relation (IRIs, or names of blank nodes), tail (null where it is a literal),
    value (null where it is none), language, datatype, graph (as N-Quads write it); the last three
    are "" where there is none. A statement about a statement has neither tail nor value.
    """
    head, relation, rest = lines.str.splitn(" ", 3).struct.unnest()
    literal = rest.str.starts_with('"')
    tail, end = rest.set(literal, None).str.splitn(" ", 2).struct.unnest()
    said = (_escaped if escapes else _plain)(rest.set(~literal, None))
    place = end.str.strip_suffix(" .").str.strip_suffix(".")
    return pl.DataFrame({"head": head, "relation": relation, "tail": tail}).with_columns(
        pl.col("head", "relation").str.strip_chars("<>"),
        pl.when(~pl.col("tail").str.starts_with("<<"))
        .then("tail")
        .str.strip_chars("<>")
        .alias("tail"),
        mapped_where(said["value"].str.contains("\\", literal=True), said["value"], _unescaped),
        said["language"].fill_null(""),
        said["datatype"].fill_null(""),
        graph=pl.coalesce(place, said["place"], pl.lit("")),
    )


def _escaped(literals: pl.Series) -> pl.DataFrame:
    """The value, language, datatype and place of literals with what follows them."""
    said: pl.DataFrame = literals.str.extract_groups(_LITERAL).struct.unnest()
    return said


def _plain(literals: pl.Series) -> pl.DataFrame:
    """The same of literals without escapes: the next quotation mark ends each.

    What follows is the same for many, and is looked at once.
    """
    _, value, end = literals.str.splitn('"', 3).struct.unnest()
    distinct = end.unique().alias("end")
    ends = distinct.to_frame().with_columns(distinct.str.extract_groups(f"^{_END}").struct.unnest())
    found = end.alias("end").to_frame().join(ends, on="end", how="left", maintain_order="left")
    return found.select(value.alias("value"), "language", "datatype", "place")


def with_blank_names(table: pl.DataFrame, names: BlankNames) -> pl.DataFrame:
    """The table with lasting names of blank nodes, numbered in order of appearance."""
    terms = pl.col("head", "tail", "graph")
    rows = table.filter(pl.any_horizontal(terms.str.starts_with("_:")))
    if not len(rows):
        return table
    terms_used = rows.select(pl.concat_list(terms).explode()).to_series()
    old = terms_used.filter(terms_used.str.starts_with("_:")).unique(maintain_order=True)
    new = pl.Series([names.name(term) for term in old], dtype=pl.String)
    return table.with_columns(terms.replace(old, new))


def _unescaped(text: str) -> str:
    """A literal without the escapes of N-Quads, which those of JSON include."""
    plain: str = json.loads(f'"{text}"')
    return plain
