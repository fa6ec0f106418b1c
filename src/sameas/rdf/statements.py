"""Statements: what every RDF reader yields, as columns, with resources by number.

pyoxigraph parses and checks every format. Its statements are serialized as canonical N-Quads,
whose lines are split into columns at once, which is faster than a Python loop over them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
import polars as pl
import pyoxigraph as ox
from numpy.typing import NDArray

Codes: TypeAlias = NDArray[np.uint32]

AT_ONCE = 50_000
"""Statements that are turned into columns at a time."""
LITERAL_SCHEMA = pl.Schema(
    {
        "head": pl.UInt32,
        "relation": pl.UInt32,
        "value": pl.String,
        **dict.fromkeys(("language", "datatype", "graph"), pl.String),
    }
)
_LITERAL = (
    r'^"((?:[^"\\]|\\.)*)"(?:@([A-Za-z0-9]*(?:-[A-Za-z0-9]+)*)|\^\^<([^<>]*)>)?(?: (\S+))? \.$'
)
_ANONYMOUS = re.compile("_:[0-9a-f]{24,32}")
"""The random labels that parsers give to blank nodes without a label."""


@dataclass
class Terms:
    """RDF terms by number: ``<iri>`` and ``_:label``, as N-Triples writes them.

    >>> terms = Terms()
    >>> codes = terms.codes(pl.Series(["<x:a>", "<x:b>", "<x:a>"]))
    >>> bool(codes[0] == codes[2]), terms.texts(codes[1:]).to_list()
    (True, ['<x:b>', '<x:a>'])
    """

    _kind: pl.Categorical = field(default_factory=lambda: pl.Categorical(pl.Categories.random()))
    _alive: pl.Series | None = None
    """Keeps the numbering, which polars drops when there is no column left that has it."""
    _seen: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(1024, dtype=np.bool_))
    _new: list[tuple[Codes, pl.Series]] = field(default_factory=list)
    """The texts, in pieces as they came, with their numbers."""
    _texts: pl.Series | None = None
    _places: NDArray[np.int64] | None = None

    def codes(self, texts: pl.Series) -> Codes:
        """The number of each text."""
        column = texts.cast(self._kind)
        if self._alive is None:
            self._alive = column
        codes: Codes = column.to_physical().to_numpy()
        top = int(codes.max()) + 1 if len(codes) else 0
        if top > len(self._seen):
            self._seen = np.pad(self._seen, (0, max(top, 2 * len(self._seen)) - len(self._seen)))
        unseen = np.flatnonzero(~self._seen[codes])
        if len(unseen):
            fresh, first = np.unique(codes[unseen], return_index=True)
            self._new.append((fresh, texts.gather(unseen[first])))
            self._seen[fresh] = True
            self._texts = None
        return codes

    def code(self, text: str) -> int:
        """The number of one text."""
        return int(self.codes(pl.Series([text]))[0])

    def texts(self, codes: NDArray[np.integer[Any]]) -> pl.Series:
        """The text of each number."""
        if self._texts is None or self._places is None:
            empty = pl.Series([], dtype=pl.String)
            self._texts = pl.concat([empty, *(texts for _, texts in self._new)], rechunk=True)
            known = np.concatenate([np.zeros(0, np.uint32), *(fresh for fresh, _ in self._new)])
            self._places = np.zeros(len(self._seen), dtype=np.int64)
            self._places[known] = np.arange(len(known))
            self._new = [(known, self._texts)]
        return self._texts.gather(self._places[codes])

    def iris(self, codes: NDArray[np.integer[Any]]) -> pl.Series:
        """The text of each number, without the brackets around IRIs."""
        return self.texts(codes).str.strip_prefix("<").str.strip_suffix(">")

    def __len__(self) -> int:
        """One more than the largest number."""
        return len(self._seen)


@dataclass(frozen=True, eq=False, kw_only=True)
class Statements:
    """Statements between resources, and those with a literal.

    ``rows`` and ``literal_rows`` are their places in the common order of both.
    """

    triples: Codes
    """Head, relation, tail and named graph by number, shape (m, 4)."""
    rows: NDArray[np.int64]
    literals: pl.DataFrame
    """head and relation by number, value, language, datatype, graph ("" where there is none)."""
    literal_rows: NDArray[np.int64]
    quoted: int
    """How many statements about statements were left out; a graph cannot hold them."""


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


def statements_of(quads: Iterable[ox.Quad], terms: Terms, tag: str = "") -> Iterator[Statements]:
    """The statements of pyoxigraph's quads, some thousands at a time."""
    quads, blank = iter(quads), BlankNames(tag)
    while content := ox.serialize(islice(quads, AT_ONCE), format=ox.RdfFormat.N_QUADS):
        yield from_canonical(content, terms, blank)


def from_canonical(content: bytes, terms: Terms, blank: BlankNames) -> Statements:
    """The statements of N-Quads as pyoxigraph writes them."""
    whole = pl.Series([content.removesuffix(b"\n")], dtype=pl.Binary).cast(pl.String)
    lines = whole.str.split("\n").explode()
    head, relation, rest = lines.str.splitn(" ", 3).struct.unnest()
    literal = rest.str.starts_with('"')
    tail, end = rest.set(literal, None).str.splitn(" ", 2).struct.unnest()
    quoted = tail.str.starts_with("<<").fill_null(value=False)
    head, tail = _with_names(head, tail, blank)
    between = ~(literal | quoted)
    heads, relations = terms.codes(head), terms.codes(relation)
    rows, literal_rows = (
        mask.arg_true().to_numpy().astype(np.int64) for mask in (between, literal)
    )
    tails = terms.codes(tail.gather(rows))
    graphs = end.gather(rows).str.strip_suffix(" .").str.strip_suffix(".")
    graphs = terms.codes(_with_graph_names(graphs, blank))
    value, *said = rest.gather(literal_rows).str.extract_groups(_LITERAL).struct.unnest()
    language, datatype, graph = (column.fill_null("") for column in said)
    return Statements(
        triples=np.stack([heads[rows], relations[rows], tails, graphs], axis=1),
        rows=rows,
        literals=pl.DataFrame(
            {
                "head": heads[literal_rows],
                "relation": relations[literal_rows],
                "value": _unescaped(value),
                "language": language,
                "datatype": datatype,
                "graph": _with_graph_names(graph, blank),
            },
            schema=LITERAL_SCHEMA,
        ),
        literal_rows=literal_rows,
        quoted=int(quoted.sum()),
    )


def _with_names(head: pl.Series, tail: pl.Series, names: BlankNames) -> tuple[pl.Series, pl.Series]:
    """Heads and tails with the names of blank nodes, numbered in order of appearance."""
    blank = [series.str.starts_with("_:").fill_null(value=False) for series in (head, tail)]
    either = blank[0] | blank[1]
    if not either.any():
        return head, tail
    ends = pl.DataFrame({"head": head.filter(either), "tail": tail.filter(either)})
    both = ends.select(pl.concat_list("head", "tail").explode()).to_series().drop_nulls()
    old = both.filter(both.str.starts_with("_:")).unique(maintain_order=True)
    new = pl.Series([names.name(term) for term in old.to_list()], dtype=pl.String)
    if not new.equals(old):
        head, tail = (
            series.scatter(where.arg_true(), series.filter(where).replace(old, new))
            for series, where in zip((head, tail), blank, strict=True)
        )
    return head, tail


def _with_graph_names(graphs: pl.Series, names: BlankNames) -> pl.Series:
    """Named graphs with the names of blank nodes."""
    old = graphs.filter(graphs.str.starts_with("_:")).unique(maintain_order=True)
    new = pl.Series([names.name(term) for term in old.to_list()], dtype=pl.String)
    return graphs if new.equals(old) else graphs.replace(old, new)


def _unescaped(values: pl.Series) -> pl.Series:
    """Literals without the escapes of N-Quads, which those of JSON include."""
    escaped = values.str.contains("\\", literal=True)
    if not escaped.any():
        return values
    places = escaped.arg_true()
    plain = [json.loads(f'"{text}"') for text in values.gather(places).to_list()]
    return values.scatter(places, pl.Series(plain, dtype=pl.String))
