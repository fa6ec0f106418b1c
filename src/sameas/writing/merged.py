"""Two graphs as one: linked entities share an identity, and triples know where they came from."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl
import zstandard

from sameas.alignment import Alignment
from sameas.atomic import replacing_file
from sameas.files import kind_of
from sameas.graph import Graph, GraphPair
from sameas.iri import MINTED, Side, are_blank, are_iris, bracketed, to_iris, to_property_iris
from sameas.links import SAME_AS
from sameas.naming import LABELS, names_from_uris
from sameas.writing.links import check_place
from sameas.writing.same_as import write_triples

SUFFIXES = (".nt", ".nq", ".ttl")
COMPRESSORS: dict[str, Callable[[Any], Any]] = {
    ".gz": lambda file: gzip.GzipFile("", "wb", fileobj=file, mtime=0),
    ".zst": lambda file: zstandard.ZstdCompressor().stream_writer(file, closefd=False),
}
"""The same content always gives the same bytes."""
ESCAPES = {
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


def merge(alignment: Alignment, path: str | PathLike[str], *, keep: Side = "left") -> Merged:
    """Write both graphs as one, in which linked entities have the IRI of the side to keep.

    For each of them an owl:sameAs triple leads from the kept IRI to the replaced one. Names that
    were given are labels, attributes are literals. N-Quads (.nq) name the graph of every triple;
    N-Triples (.nt) and Turtle (.ttl) cannot, and hold a triple of both graphs once. With .gz or
    .zst the file is compressed.
    """
    path = Path(path)
    kind = kind_of(path)
    check_place(path, kind, SUFFIXES, remedy="plain, .gz or .zst")
    pair, links = alignment.pair, alignment.links
    terms, same_as = _identities(pair, links, keep=keep)
    parts = {
        "left": _statements(pair.left, terms["left"], side="left"),
        "right": _statements(pair.right, terms["right"], side="right"),
        "links": same_as,
    }
    not_held = []
    if kind != ".nq":
        left, right = parts["left"], parts["right"]
        parts["right"] = right.join(left, on=left.columns, how="anti", maintain_order="left")
        not_held.append("which graph a triple came from (.nq can)")
    compressed = COMPRESSORS.get(path.suffix.lower(), nullcontext)
    with replacing_file(path) as draft, draft.open("wb") as raw, compressed(raw) as file:
        for part, table in parts.items():
            end = f" <{MINTED}graph:{part}> ." if kind == ".nq" else " ."
            write_triples(table, file, end=end)
    if links["score"].is_not_null().any() or links["confidence"].is_not_null().any():
        not_held.append("score and confidence of the links")
    if words := _count_words(pair):
        not_held.append(
            f"{words} ids that are no IRIs, as they are (they are written as urn:sameas:...)"
        )
    triples = {part: len(table) for part, table in parts.items()}
    return Merged(triples=triples, not_held=tuple(not_held))


def _identities(
    pair: GraphPair, links: pl.DataFrame, *, keep: Side
) -> tuple[dict[Side, pl.Series], pl.DataFrame]:
    """How each entity of a side is written, and the owl:sameAs triples.

    Of a blank node and an IRI the IRI is kept, whichever side it is of.
    """
    terms: dict[Side, pl.Series] = {
        "left": _terms(pair.left, "left"),
        "right": _terms(pair.right, "right"),
    }
    other: Side = "right" if keep == "left" else "left"
    kept, replaced = pl.col(f"{keep}_term"), pl.col(f"{other}_term")
    swapped = kept.str.starts_with("_:") & ~replaced.str.starts_with("_:")
    linked = (
        links.select("left", "right")
        .unique("left", keep="first", maintain_order=True)
        .unique("right", keep="first", maintain_order=True)
        .with_columns(
            pl.col(side)
            .replace_strict(getattr(pair, side).entities, terms[side], default=None)
            .alias(f"{side}_term")
            for side in terms
        )
        .drop_nulls()
        .select(
            "left",
            "right",
            subject=pl.when(swapped).then(replaced).otherwise(kept),
            object=pl.when(swapped).then(kept).otherwise(replaced),
        )
    )
    for side in terms:
        entities = getattr(pair, side).entities
        terms[side] = entities.replace_strict(
            linked[side], linked["subject"], default=terms[side], return_dtype=pl.String
        )
    blank = pl.any_horizontal(pl.col("subject", "object").str.starts_with("_:"))
    spoken = linked.filter((pl.col("subject") != pl.col("object")) & ~blank)
    return terms, spoken.select("subject", predicate=pl.lit(f"<{SAME_AS}>"), object="object")


def _terms(graph: Graph, side: Side) -> pl.Series:
    """How each entity is written: an IRI, or a blank node whose name says its side."""
    blank = are_blank(graph.entities)
    iris = bracketed(to_iris(graph.entities, side=side))
    if not blank.any():
        return iris
    labels = graph.entities.str.slice(2).map_elements(_label, return_dtype=pl.String)
    terms: pl.Series = (f"_:{side}" + labels).zip_with(blank, iris)
    return terms


def _label(text: str) -> str:
    """A blank node's label of safe letters; distinct for distinct texts."""
    return "".join(c if c.isascii() and c.isalnum() else f"_{ord(c):x}_" for c in text)


def _statements(graph: Graph, terms: pl.Series, *, side: Side) -> pl.DataFrame:
    """All triples of a graph as text (subject, predicate, object), each once."""
    relations = bracketed(to_property_iris(graph.relations, side=side))
    head, relation, tail = graph.triples.T
    between = {
        "subject": terms.gather(head),
        "predicate": relations.gather(relation),
        "object": terms.gather(tail),
    }
    literals = pl.concat([graph.attributes.select("entity", "attribute", "value"), _names(graph)])
    properties = literals["attribute"].unique(maintain_order=True)
    iris = bracketed(to_property_iris(properties, side=side))
    spoken = literals.select(
        subject=pl.col("entity").replace_strict(graph.entities, terms, default=None),
        predicate=pl.col("attribute").replace(properties, iris),
        object='"' + pl.col("value").str.replace_many(ESCAPES) + '"',
    ).drop_nulls("subject")
    return pl.concat([pl.DataFrame(between), spoken]).unique(maintain_order=True)


def _names(graph: Graph) -> pl.DataFrame:
    """Names as labels, but those made from URIs and those that an attribute holds already."""
    named = pl.DataFrame({"entity": graph.entities, "value": graph.names}).filter(
        (graph.names != "") & (graph.names != names_from_uris(graph.entities))
    )
    held = graph.attributes.filter(pl.col("attribute").is_in(LABELS))
    return named.join(held, on=["entity", "value"], how="anti", maintain_order="left").select(
        "entity", attribute=pl.lit(LABELS[0]), value="value"
    )


def _count_words(pair: GraphPair) -> int:
    """How many entities and relations of both graphs have ids that are no IRIs."""
    return sum(
        int((~are_iris(ids) & ~are_blank(ids)).sum())
        for graph in (pair.left, pair.right)
        for ids in (graph.entities, graph.relations)
    )
