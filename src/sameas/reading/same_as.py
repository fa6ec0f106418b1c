"""Links from RDF: triples that say of two resources that they are the same."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pyoxigraph as ox

from sameas.errors import InputError
from sameas.iri import from_iris
from sameas.links import IDENTITY, LINK_SCHEMA, SAME_AS, LinkSet
from sameas.reading.tables import first_line, kind_of, read_bytes, shortened

FORMATS = {
    ".nt": ox.RdfFormat.N_TRIPLES,
    ".ttl": ox.RdfFormat.TURTLE,
    ".rdf": ox.RdfFormat.RDF_XML,
}


def read_same_as(path: Path, *, predicate: str | None = None) -> LinkSet:
    """The links of an N-Triples or Turtle file: its triples with a predicate of identity.

    Those are the ones of ``sameas.links.IDENTITY`` and the given one. Triples with another
    predicate, or with a blank node or a literal at an end, are counted and left out.
    """
    wanted = {*IDENTITY, predicate}
    rows: list[tuple[str, str, str]] = []
    others, ends = 0, 0
    for triple in parse_rdf(path, kind_of(path)):
        if triple.predicate.value not in wanted:
            others += 1
        elif not isinstance(triple.subject, ox.NamedNode) or not isinstance(
            triple.object, ox.NamedNode
        ):
            ends += 1
        else:
            rows.append((triple.subject.value, triple.object.value, triple.predicate.value))
    if others and not rows and not ends:
        raise InputError(
            path,
            f"holds no links: none of its {others} triples has a predicate such as owl:sameAs, "
            "skos:exactMatch or schema:sameAs",
        )
    skipped = []
    if others:
        skipped.append(f"triples that say something else than that two things are one: {others}")
    if ends:
        skipped.append(f"links with a blank node or a literal at an end: {ends}")
    table = pl.DataFrame(
        rows, schema={"left": pl.String, "right": pl.String, "predicate": pl.String}, orient="row"
    )
    return LinkSet(
        links=table.select(
            from_iris(table["left"]).alias("left"),
            from_iris(table["right"]).alias("right"),
            *(
                pl.lit(None, dtype=LINK_SCHEMA[name]).alias(name)
                for name in ("score", "confidence")
            ),
            pl.when(pl.col("predicate") != SAME_AS).then("predicate").alias("predicate"),
        ),
        skipped=tuple(skipped),
    )


def parse_rdf(path: Path, kind: str) -> Iterator[ox.Triple | ox.Quad]:
    """The triples of a file, in order; what cannot be parsed is an InputError that says where."""
    content = read_bytes(path)
    try:
        for statement in ox.parse(input=io.BytesIO(content), format=FORMATS[kind]):
            if not isinstance(statement.predicate, ox.NamedNode):  # pragma: no cover
                continue
            yield statement
    except SyntaxError as error:
        raise InputError(
            path,
            f"cannot be parsed as {FORMATS[kind].name} ({shortened(first_line(error.msg), 200)})",
            line=error.lineno,
        ) from None
    except (ValueError, OSError) as error:
        raise InputError(
            path,
            f"cannot be parsed as {FORMATS[kind].name} ({shortened(first_line(error), 200)})",
        ) from None
