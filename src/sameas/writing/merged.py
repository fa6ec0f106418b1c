"""Two graphs as one: linked entities share an identity, and triples know where they came from."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import polars as pl
import zstandard

from sameas.atomic import replacing_file
from sameas.errors import OutputError
from sameas.files import kind_of
from sameas.graph import Graph, GraphPair
from sameas.iri import MINTED, Side, are_blank, are_iris, bracketed, to_iris, to_property_iris
from sameas.links import SAME_AS
from sameas.naming import LABELS, names_from_uris
from sameas.writing.same_as import write_lines
from sameas.writing.target import check_place

MERGED_SUFFIXES = (".nt", ".nq", ".ttl")
LABEL = LABELS[0]
GRAPHS = {part: f"{MINTED}graph:{part}" for part in ("left", "right", "links")}
"""Named graphs in N-Quads: triples of the left graph, of the right one, and the links."""
LITERAL = ("entity", "attribute", "value")
STEP = 200_000
"""Rows that are turned into text at a time."""
_ESCAPES = {
    **{"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"},
    **{c: f"\\u{ord(c):04X}" for c in "\v\f\x1c\x1d\x1e\x85\u2028\u2029"},
}
"""What a literal cannot hold as it is, and what some readers take for the end of a line."""


@dataclass(frozen=True, kw_only=True)
class Merged:
    """What was written."""

    triples: dict[str, int]
    """How many came from the left graph, the right one, and the links."""
    not_held: tuple[str, ...]
    """What the format cannot hold, in words."""


def write_merged(
    pair: GraphPair, links: pl.DataFrame, path: Path, *, keep: Side = "left"
) -> Merged:
    """Write both graphs as one, in which linked entities have the IRI of the side to keep.

    For each of them an owl:sameAs triple leads from the kept IRI to the replaced one. Names that
    were given are labels, attributes are literals. N-Quads name the graph of every triple;
    N-Triples and Turtle have no room for that, and hold a triple of both graphs once.
    """
    check_merge_target(path)
    quads = kind_of(path) == ".nq"
    kept, replaced = identities(pair, links, keep=keep)
    counts = {}
    first: pl.DataFrame | None = None
    with replacing_file(path) as draft, _opened(draft) as file:
        for side in ("left", "right"):
            table = _statements(getattr(pair, side), replaced[side], side=side)
            if first is not None and not quads:
                table = table.join(first, on=table.columns, how="anti", maintain_order="left")
            counts[side] = _write(table, file, GRAPHS[side] if quads else None)
            first = table
        same = kept.select("subject", predicate=pl.lit(f"<{SAME_AS}>"), object="object")
        counts["links"] = _write(same, file, GRAPHS["links"] if quads else None)
    lost = [] if quads else ["which graph a triple came from (.nq can)"]
    if links["score"].is_not_null().any() or links["confidence"].is_not_null().any():
        lost.append("score and confidence of the links")
    words = _count_words(pair)
    if words:
        lost.append(
            f"{words} ids that are no IRIs, as they are (they are written as urn:sameas:...)"
        )
    return Merged(triples=counts, not_held=tuple(lost))


def check_merge_target(path: Path) -> None:
    """Raise an OutputError if no merged graph could be written there."""
    if kind_of(path) not in MERGED_SUFFIXES:
        raise OutputError(
            f'{path}: suffix "{"".join(path.suffixes)}" is not known for a merged graph; use '
            f"{', '.join(MERGED_SUFFIXES)}, plain, .gz or .zst"
        )
    check_place(path)


def identities(
    pair: GraphPair, links: pl.DataFrame, *, keep: Side
) -> tuple[pl.DataFrame, dict[Side, pl.DataFrame]]:
    """The terms of linked entities, and the term of every entity by side (entity, term).

    The first table says of each kept IRI (subject) which one it has replaced (object). Of a
    blank node and an IRI the IRI is kept, whichever side it is of.
    """
    terms: dict[Side, pl.DataFrame] = {
        "left": _terms(pair.left, "left"),
        "right": _terms(pair.right, "right"),
    }
    both = (
        links.select("left", "right")
        .unique("left", keep="first", maintain_order=True)
        .unique("right", keep="first", maintain_order=True)
        .join(_named(terms["left"], "left"), on="left", maintain_order="left")
        .join(_named(terms["right"], "right"), on="right", maintain_order="left")
    )
    other: Side = "right" if keep == "left" else "left"
    blank = {side: pl.col(f"{side}_term").str.starts_with("_:") for side in (keep, other)}
    swapped = blank[keep] & ~blank[other]
    both = both.with_columns(
        kept=pl.when(swapped).then(f"{other}_term").otherwise(f"{keep}_term"),
        replaced=pl.when(swapped).then(f"{keep}_term").otherwise(f"{other}_term"),
    )
    for side, table in terms.items():
        shared = both.select(entity=side, shared="kept")
        terms[side] = table.join(shared, on="entity", how="left", maintain_order="left").select(
            "entity", term=pl.coalesce("shared", "term")
        )
    spoken = both.filter(
        (pl.col("kept") != pl.col("replaced"))
        & ~pl.col("kept").str.starts_with("_:")
        & ~pl.col("replaced").str.starts_with("_:")
    )
    return spoken.select(subject="kept", object="replaced"), terms


def _terms(graph: Graph, side: Side) -> pl.DataFrame:
    """How each entity is written: an IRI, or a blank node whose name says its side."""
    entities = graph.entities.alias("entity")
    blank = are_blank(entities)
    iris = bracketed(to_iris(entities, side=side))
    if blank.any():
        nodes = f"_:{side}" + entities.str.slice(2).map_elements(_label, return_dtype=pl.String)
        iris = nodes.zip_with(blank, iris)
    return pl.DataFrame({"entity": entities, "term": iris})


def _label(text: str) -> str:
    """A blank node's label of safe letters; distinct for distinct texts."""
    return "".join(c if c.isascii() and c.isalnum() else f"_{ord(c):x}_" for c in text)


def _named(terms: pl.DataFrame, side: Side) -> pl.DataFrame:
    return terms.select(pl.col("entity").alias(side), pl.col("term").alias(f"{side}_term"))


def _statements(graph: Graph, terms: pl.DataFrame, *, side: Side) -> pl.DataFrame:
    """All triples of a graph as text (subject, predicate, object), each once."""
    relations = bracketed(to_property_iris(graph.relations, side=side))
    head, relation, tail = graph.triples.T
    between = pl.DataFrame(
        {
            "subject": terms["term"].gather(head),
            "predicate": relations.gather(relation),
            "object": terms["term"].gather(tail),
        }
    )
    literals = pl.concat([graph.attributes.select(LITERAL), _labels(graph)])
    properties = literals["attribute"].unique(maintain_order=True)
    iris = bracketed(to_property_iris(properties, side=side))
    names = dict(zip(properties, iris, strict=True))
    spoken = literals.join(terms, on="entity", maintain_order="left").select(
        subject="term",
        predicate=pl.col("attribute").replace(names),
        object='"' + pl.col("value").str.replace_many(_ESCAPES) + '"',
    )
    return pl.concat([between, spoken]).unique(maintain_order=True)


def _labels(graph: Graph) -> pl.DataFrame:
    """Names as labels, but those made from URIs and those that an attribute holds already."""
    named = pl.DataFrame({"entity": graph.entities, "value": graph.names}).filter(
        (graph.names != "") & (graph.names != names_from_uris(graph.entities))
    )
    held = graph.attributes.filter(pl.col("attribute").is_in(LABELS))
    return named.join(held, on=["entity", "value"], how="anti", maintain_order="left").select(
        "entity", attribute=pl.lit(LABEL), value="value"
    )


def _write(table: pl.DataFrame, file: IO[bytes], graph: str | None) -> int:
    """Write a line per row, a piece at a time; returns how many."""
    end = " ." if graph is None else f" <{graph}> ."
    for part in table.iter_slices(STEP):
        lines = part.select(pl.concat_str("subject", "predicate", "object", separator=" ") + end)
        write_lines(lines.to_series(), file)
    return len(table)


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to, compressed if its suffix says so; the same content, the same bytes."""
    suffix = path.suffix.lower()
    with path.open("wb") as raw:
        stream: Any = raw
        if suffix == ".gz":
            stream = gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0)
        elif suffix == ".zst":
            stream = zstandard.ZstdCompressor().stream_writer(raw, closefd=False)
        try:
            yield stream
        finally:
            if stream is not raw:
                stream.close()


def _count_words(pair: GraphPair) -> int:
    """How many entities and relations of both graphs have ids that are no IRIs."""
    return sum(
        int((~are_iris(ids) & ~are_blank(ids)).sum())
        for graph in (pair.left, pair.right)
        for ids in (graph.entities, graph.relations)
    )
