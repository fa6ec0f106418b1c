"""Links from the RDF/XML format of the Alignment API, which OAEI uses."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pyoxigraph as ox

from sameas.errors import InputError
from sameas.iri import from_iris, is_iri
from sameas.links import LINK_SCHEMA, LinkSet
from sameas.reading.same_as import parse_rdf
from sameas.reading.tables import read_bytes, shortened

ALIGN = "http://knowledgeweb.semanticweb.org/heterogeneity/alignment"
"""The format's namespace; some files leave out the ``#`` that follows it."""
SCORE = "urn:sameas:terms:score"
"""Where we keep a link's score; the format itself has a measure of confidence alone."""
RELATIONS = ("=", "==", "equivalence")
CELL = ("entity1", "entity2", "measure", "relation", "score")
SOURCES = {"onto1": "subject_source", "onto2": "object_source"}
_ENTITY_DEFINITION = re.compile(rb"<!ENTITY\s+(?:%\s+)?\S+\s+(\"[^\"]*\"|'[^']*'|\S+)")
_LONGEST_ENTITY = 300


def read_alignment_api(path: Path) -> LinkSet:
    """The cells of an alignment whose relation is ``=``; others are counted and left out."""
    _refuse_entity_bombs(path)
    cells: dict[str, dict[str, str]] = {}
    metadata: dict[str, str] = {}
    for triple in parse_rdf(path, ".rdf"):
        name = _term(triple.predicate.value)
        if name not in CELL and name not in SOURCES:
            continue
        subject, thing = triple.subject, triple.object
        value = "" if isinstance(thing, ox.Triple) else thing.value
        if name in SOURCES:
            if is_iri(value):
                metadata[SOURCES[name]] = value
            continue
        if name in ("entity1", "entity2") and not isinstance(thing, ox.NamedNode):
            raise InputError(
                path,
                f'{name} must be an IRI, found "{shortened(value)}"; only simple cells '
                "(level 0) are read",
            )
        cells.setdefault(str(subject), {})[name] = value
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


def _refuse_entity_bombs(path: Path) -> None:
    """Refuse XML entities that are made of others, or are long: a few bytes could become many."""
    for value in _ENTITY_DEFINITION.findall(read_bytes(path)):
        if b"&" in value or len(value) > _LONGEST_ENTITY:
            raise InputError(
                path,
                "defines an XML entity that is long or made of others; write its text out instead",
            )
