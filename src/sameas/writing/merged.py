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
from sameas.graph import Graph
from sameas.iri import MINTED, Side, are_blank, are_iris, bracketed, to_iris, to_property_iris
from sameas.naming import LABELS, names_from_uris
from sameas.writing.links import check_place
from sameas.writing.predicates import predicates_of
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

    For each of them a triple leads from the kept IRI to the replaced one: owl:sameAs, or what
    fits a class, a property or a SKOS concept. Names that were given are labels, attributes are
    literals. N-Quads (.nq) name the graph of every triple; N-Triples (.nt) and Turtle (.ttl)
    cannot, and hold a triple of both graphs once. With .gz or .zst the file is compressed.
    """
    path = Path(path)
    kind = kind_of(path)
    check_place(path, kind, SUFFIXES, remedy="plain, .gz or .zst")
    graphs: dict[Side, Graph] = {"left": alignment.pair.left, "right": alignment.pair.right}
    links = alignment.links.with_columns(predicate=bracketed(predicates_of(alignment)))
    terms, same_as = _identities(graphs, links, keep=keep)
    left, right = (_statements(graph, terms[side], side) for side, graph in graphs.items())
    not_held = []
    if kind != ".nq":
        right = right.join(left, on=left.columns, how="anti", maintain_order="left")
        not_held.append("which graph a triple came from (.nq can)")
    parts = {"left": left, "right": right, "links": same_as}
    compressed = COMPRESSORS.get(path.suffix.lower(), nullcontext)
    with replacing_file(path) as draft, draft.open("wb") as raw, compressed(raw) as file:
        for part, table in parts.items():
            end = f" <{MINTED}graph:{part}> ." if kind == ".nq" else " ."
            write_triples(table, file, end=end)
    if any(alignment.links[name].is_not_null().any() for name in ("score", "confidence")):
        not_held.append("score and confidence of the links")
    ids = [ids for graph in graphs.values() for ids in (graph.entities, graph.relations)]
    if words := sum(int((~are_iris(column) & ~are_blank(column)).sum()) for column in ids):
        not_held.append(
            f"{words} ids that are no IRIs, as they are (they are written as urn:sameas:...)"
        )
    triples = {part: len(table) for part, table in parts.items()}
    return Merged(triples=triples, not_held=tuple(not_held))


def _identities(
    graphs: dict[Side, Graph], links: pl.DataFrame, *, keep: Side
) -> tuple[dict[Side, pl.Series], pl.DataFrame]:
    """How each entity of a side is written, and the triples of links.

    Of a blank node and an IRI the IRI is kept, whichever side it is of.
    """
    terms = {side: _terms(graph.entities, side) for side, graph in graphs.items()}
    written = {
        side: pl.col(side).replace_strict(graph.entities, terms[side], default=None)
        for side, graph in graphs.items()
    }
    kept, replaced = (written[side] for side in sorted(graphs, key=lambda side: side != keep))
    swapped = kept.str.starts_with("_:") & ~replaced.str.starts_with("_:")
    linked = (
        links.unique("left", keep="first", maintain_order=True)
        .unique("right", keep="first", maintain_order=True)
        .select(
            "left",
            "right",
            subject=pl.when(swapped).then(replaced).otherwise(kept),
            predicate="predicate",
            object=pl.when(swapped).then(kept).otherwise(replaced),
        )
        .drop_nulls()
    )
    for side, graph in graphs.items():
        terms[side] = graph.entities.replace_strict(
            linked[side], linked["subject"], default=terms[side], return_dtype=pl.String
        )
    blank = pl.any_horizontal(pl.col("subject", "object").str.starts_with("_:"))
    changed = pl.col("subject") != pl.col("object")
    return terms, linked.filter(changed & ~blank).drop("left", "right")


def _terms(entities: pl.Series, side: Side) -> pl.Series:
    """How each entity is written: an IRI, or a blank node whose label says its side.

    In a label, every character but letters and digits of ASCII is replaced by its code.
    """
    blank, labels = are_blank(entities), entities.str.slice(2)
    others = labels.filter(blank).str.extract_all("[^A-Za-z0-9]").explode().drop_nulls().unique()
    codes = {character: f"_{ord(character):x}_" for character in ("_", *others)}
    iris = bracketed(to_iris(entities, side=side))
    terms: pl.Series = (f"_:{side}" + labels.str.replace_many(codes)).zip_with(blank, iris)
    return terms


def _statements(graph: Graph, terms: pl.Series, side: Side) -> pl.DataFrame:
    """All triples of a graph as text (subject, predicate, object), each once.

    Names are labels, but those made from URIs and those that an attribute holds already.
    """
    relations = bracketed(to_property_iris(graph.relations, side=side))
    head, relation, tail = graph.triples.T
    between = {
        "subject": terms.gather(head),
        "predicate": relations.gather(relation),
        "object": terms.gather(tail),
    }
    given = (graph.names != "") & (graph.names != names_from_uris(graph.entities))
    named = pl.DataFrame({"entity": graph.entities, "value": graph.names}).filter(given)
    held = graph.attributes.filter(pl.col("attribute").is_in(LABELS))
    labels = named.join(held, on=["entity", "value"], how="anti", maintain_order="left").select(
        "entity", attribute=pl.lit(LABELS[0]), value="value"
    )
    literals = pl.concat([graph.attributes.select("entity", "attribute", "value"), labels])
    properties = literals["attribute"].unique(maintain_order=True)
    iris = bracketed(to_property_iris(properties, side=side))
    spoken = literals.select(
        subject=pl.col("entity").replace_strict(graph.entities, terms, default=None),
        predicate=pl.col("attribute").replace(properties, iris),
        object='"' + pl.col("value").str.replace_many(ESCAPES) + '"',
    ).drop_nulls("subject")
    return pl.concat([pl.DataFrame(between), spoken]).unique(maintain_order=True)
