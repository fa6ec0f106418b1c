"""Links from the RDF/XML format of the Alignment API, which OAEI uses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin
from xml.etree.ElementTree import Element, XMLPullParser

import polars as pl

from sameas.errors import InputError, refusing, shortened
from sameas.files import open_stream
from sameas.iri import RDF, XML, is_iri
from sameas.links import LinkSet, between_ids, left_out
from sameas.reading.guards import LOST, Guarded
from sameas.reading.tables import errors_of
from sameas.tabular import as_numbers

ALIGN = "http://knowledgeweb.semanticweb.org/heterogeneity/alignment"
"""The format's namespace; some files leave out the ``#`` that follows it."""
SCORE = "urn:sameas:terms:score"
"""Where we keep a link's score; the format itself has a measure of confidence alone."""
RELATIONS = ("=", "==", "equivalence")
CELL = ("entity1", "entity2", "measure", "relation", "score")
SOURCES = {"onto1": "subject_source", "onto2": "object_source"}


def read_alignment_api(path: Path, predicate: str | None = None) -> LinkSet:
    """The cells of an alignment whose relation is ``=``; others are counted and left out."""
    cells: list[dict[str, str]] = []
    metadata: dict[str, str] = {}
    cell: dict[str, str] = {}
    base, known = None, False
    for event, element in _elements(path):
        name = _term(element.tag.removeprefix("{").replace("}", "", 1))
        known = known or name != ""
        if event == "start":
            base = element.get(f"{{{XML}}}base", "") if base is None else base
            continue
        value = _value(element)
        if name in ("entity1", "entity2"):
            value = urljoin(base or "", value)
            if not is_iri(value):
                problem = f'{name} must be an IRI, found "{shortened(value)}"'
                raise InputError(path, f"{problem}; only simple cells (level 0) are read")
        if name in SOURCES and is_iri(value):
            metadata[SOURCES[name]] = value
        elif name in CELL:
            cell[name] = value
        elif name == "Cell":
            cells.append(cell)
            cell = {}
            element.clear()
    if not known:
        raise InputError(path, "holds no alignment; RDF/XML of the Alignment API expected")
    return _links(path, cells, metadata)


def _elements(path: Path) -> Iterator[tuple[str, Element]]:
    """The elements of an XML file with "start" and "end", as they begin and when they are whole."""
    parser: XMLPullParser[Element] = XMLPullParser(("start", "end"))
    with open_stream(path) as stream:
        if not stream.head:
            raise InputError(path, "is empty; an alignment in RDF/XML expected")
        source = Guarded(stream, "rdf")
        while piece := source.read():
            with refusing(path, "not well-formed XML", LOST):
                parser.feed(piece)
            yield from parser.read_events()  # type: ignore[misc]


def _value(element: Element) -> str:
    """What an element says: a resource, given as an attribute or as an element, or a text."""
    inner = element.find(f"*[@{{{RDF}}}about]")
    found = element.get(f"{{{RDF}}}resource") if inner is None else inner.get(f"{{{RDF}}}about")
    return (element.text or "").strip() if found is None else found


def _links(path: Path, cells: list[dict[str, str]], metadata: dict[str, str]) -> LinkSet:
    table = pl.DataFrame(cells, schema=dict.fromkeys(CELL, pl.String))
    for number, ends in enumerate(table.select("entity1", "entity2").iter_rows(), start=1):
        if None in ends:
            raise InputError(path, "a cell without entity1 or entity2; both are needed", row=number)
    is_same = pl.col("relation").fill_null("=").str.strip_chars().is_in(RELATIONS)
    counted = pl.when(is_same).then(pl.col("score", "measure"))
    with errors_of(path):
        table = as_numbers(table.with_columns(counted), ("score", "measure"))
    same = table.filter(is_same)
    links = same.select(left="entity1", right="entity2", score="score", confidence="measure")
    skipped = left_out({'cells whose relation is not "="': len(table) - len(same)})
    return LinkSet(links=between_ids(links), metadata=metadata, skipped=skipped)


def _term(iri: str) -> str:
    """A name of the format, or "" for anything else."""
    if iri == SCORE:
        return "score"
    return iri[len(ALIGN) :].removeprefix("#") if iri.startswith(ALIGN) else ""
