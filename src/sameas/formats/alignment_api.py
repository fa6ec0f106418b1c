"""Links in the RDF/XML format of the Alignment API, which OAEI uses: read and write."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin
from xml.etree.ElementTree import Element, XMLPullParser

import polars as pl

from sameas.errors import InputError, refusing, shortened
from sameas.formats.files import open_stream
from sameas.formats.guards import LOST, Guarded
from sameas.formats.tables import errors_of
from sameas.graph.given_tables import as_numbers
from sameas.graph.iri import RDF, XML, XSD, is_iri
from sameas.graph.link_set import LINK_COLUMNS, LinkSet, between_ids, left_out

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
                events = list(parser.read_events())  # which raise what is not well-formed
            yield from events  # type: ignore[misc]


def _value(element: Element) -> str:
    """What an element says: a resource, given as an attribute or as an element, or a text."""
    inner = element.find(f"*[@{{{RDF}}}about]")
    iri = element.get(f"{{{RDF}}}resource") if inner is None else inner.get(f"{{{RDF}}}about")
    return (element.text or "").strip() if iri is None else iri


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


HEAD = """<?xml version="1.0" encoding="utf-8"?>
<rdf:RDF xmlns="http://knowledgeweb.semanticweb.org/heterogeneity/alignment#"
         xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
         xmlns:xsd="http://www.w3.org/2001/XMLSchema#"
         xmlns:sameas="urn:sameas:terms:">
<Alignment>
  <xml>yes</xml>
  <level>0</level>
"""


def write_alignment_api(links: LinkSet, path: Path) -> None:
    """Write one cell a link: its measure is the confidence, its score stands beside it."""
    from xml.sax.saxutils import quoteattr  # slow to import

    table = links.links
    # "11": an entity has one link at most, on either side; "*" where it may have several.
    kind = "".join("1" if table[side].is_unique().all() else "*" for side in ("right", "left"))
    with path.open("w", encoding="utf8", newline="\n") as file:
        file.write(f"{HEAD}  <type>{kind}</type>\n")
        for name, slot in SOURCES.items():
            iri = str(links.metadata.get(slot, ""))
            if is_iri(iri):
                file.write(f"  <{name}><Ontology rdf:about={quoteattr(iri)}/></{name}>\n")
        for left, right, score, confidence in table.select(LINK_COLUMNS).iter_rows():
            file.write(
                "  <map><Cell>\n"
                f"    <entity1 rdf:resource={quoteattr(left)}/>\n"
                f"    <entity2 rdf:resource={quoteattr(right)}/>\n"
                "    <relation>=</relation>\n"
                f"{_number('measure', 'float', confidence)}"
                f"{_number('sameas:score', 'double', score)}"
                "  </Cell></map>\n"
            )
        file.write("</Alignment>\n</rdf:RDF>\n")


def _number(tag: str, kind: str, value: float | None) -> str:
    """A number as XML Schema writes it, "" where there is none."""
    if value is None:
        return ""
    text = {"inf": "INF", "-inf": "-INF", "nan": "NaN"}.get(repr(value), repr(value))
    return f'    <{tag} rdf:datatype="{XSD}{kind}">{text}</{tag}>\n'
