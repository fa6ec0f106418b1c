"""Links from the RDF/XML format of the Alignment API, which OAEI uses."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyoxigraph as ox

from sameas.errors import InputError, shortened
from sameas.files import open_stream
from sameas.iri import from_iris, is_iri
from sameas.links import LINK_SCHEMA, LinkSet
from sameas.rdf.rules import Reading
from sameas.reading.quads import read_quads

ALIGN = "http://knowledgeweb.semanticweb.org/heterogeneity/alignment"
"""The format's namespace; some files leave out the ``#`` that follows it."""
SCORE = "urn:sameas:terms:score"
"""Where we keep a link's score; the format itself has a measure of confidence alone."""
RELATIONS = ("=", "==", "equivalence")
CELL = ("entity1", "entity2", "measure", "relation", "score")
SOURCES = {"onto1": "subject_source", "onto2": "object_source"}


def read_alignment_api(path: Path, predicate: str | None = None) -> LinkSet:
    """The cells of an alignment whose relation is ``=``; others are counted and left out."""
    cells: dict[str, dict[str, str]] = {}
    metadata: dict[str, str] = {}
    with open_stream(path) as stream:
        if not stream.head:  # the parser takes that for a graph without statements
            raise InputError(path, "is empty; an alignment in RDF/XML expected")
        for quad in read_quads(stream, "rdf", Reading(), plain_attributes=False):
            name = _term(quad.predicate.value)
            value = "" if isinstance(quad.object, ox.Triple) else quad.object.value
            if name in SOURCES and is_iri(value):
                metadata[SOURCES[name]] = value
            if name not in CELL:
                continue
            if name in ("entity1", "entity2") and not isinstance(quad.object, ox.NamedNode):
                raise InputError(
                    path,
                    f'{name} must be an IRI, found "{shortened(value)}"; only simple cells '
                    "(level 0) are read",
                )
            cells.setdefault(str(quad.subject), {})[name] = value
    return _links(path, list(cells.values()), metadata)


def _links(path: Path, cells: list[dict[str, str]], metadata: dict[str, str]) -> LinkSet:
    rows = []
    others = 0
    for number, cell in enumerate(cells, start=1):
        if "entity1" not in cell or "entity2" not in cell:
            raise InputError(path, "a cell without entity1 or entity2; both are needed", row=number)
        if cell.get("relation", "=").strip() not in RELATIONS:
            others += 1
            continue
        numbers = [_number(path, number, cell, name) for name in ("score", "measure")]
        rows.append((cell["entity1"], cell["entity2"], *numbers))
    table = pl.DataFrame(rows, schema=LINK_SCHEMA, orient="row")
    skipped = (f'cells whose relation is not "=": {others}',) if others else ()
    return LinkSet(
        links=table.with_columns(
            from_iris(table["left"]).alias("left"), from_iris(table["right"]).alias("right")
        ),
        metadata=metadata,
        skipped=skipped,
    )


def _term(iri: str) -> str:
    """A name of the format, or "" for anything else."""
    if iri == SCORE:
        return "score"
    return iri[len(ALIGN) :].removeprefix("#") if iri.startswith(ALIGN) else ""


def _number(path: Path, row: int, cell: dict[str, str], name: str) -> float | None:
    if name not in cell:
        return None
    try:
        return float(cell[name])
    except ValueError:
        found = shortened(cell[name])
        raise InputError(path, f'a number expected in {name}, found "{found}"', row=row) from None
