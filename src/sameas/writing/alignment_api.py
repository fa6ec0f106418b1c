"""Links in the RDF/XML format of the Alignment API, which OAEI uses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from sameas.iri import is_iri, to_iris
from sameas.links import LinkSet
from sameas.writing.same_as import without_blank_nodes
from sameas.writing.tables import beyond_links

HEAD = """<?xml version="1.0" encoding="utf-8"?>
<rdf:RDF xmlns="http://knowledgeweb.semanticweb.org/heterogeneity/alignment#"
         xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
         xmlns:xsd="http://www.w3.org/2001/XMLSchema#"
         xmlns:sameas="urn:sameas:terms:">
<Alignment>
  <xml>yes</xml>
  <level>0</level>
"""
TAIL = """</Alignment>
</rdf:RDF>
"""
XSD = "http://www.w3.org/2001/XMLSchema#"


def write_alignment_api(links: LinkSet, path: Path) -> list[str]:
    """Write one cell a link: its measure is the confidence, its score stands beside it."""
    links, lost = without_blank_nodes(links)
    sources = {"onto1": "subject_source", "onto2": "object_source"}
    known = {name: links.metadata.get(slot) for name, slot in sources.items()}
    told = {name: iri for name, iri in known.items() if isinstance(iri, str) and is_iri(iri)}
    with path.open("w", encoding="utf8", newline="\n") as file:
        file.write(HEAD)
        file.write(f"  <type>{_kind(links)}</type>\n")
        for name, iri in told.items():
            file.write(f"  <{name}><Ontology rdf:about={quoteattr(iri)}/></{name}>\n")
        file.writelines(_cells(links))
        file.write(TAIL)
    rest = {k: v for k, v in links.metadata.items() if k not in {sources[name] for name in told}}
    return [*lost, *beyond_links(LinkSet(links=links.links, metadata=rest))]


def _cells(links: LinkSet) -> Iterator[str]:
    table = links.links
    columns = (
        to_iris(table["left"], side="left"),
        to_iris(table["right"], side="right"),
        table["confidence"],
        table["score"],
    )
    for left, right, confidence, score in zip(*columns, strict=True):
        numbers = ""
        if confidence is not None:
            text = _number(confidence)
            numbers += f'\n    <measure rdf:datatype="{XSD}float">{text}</measure>'
        if score is not None:
            text = _number(score)
            numbers += f'\n    <sameas:score rdf:datatype="{XSD}double">{text}</sameas:score>'
        yield (
            "  <map><Cell>\n"
            f"    <entity1 rdf:resource={quoteattr(left)}/>\n"
            f"    <entity2 rdf:resource={quoteattr(right)}/>\n"
            f"    <relation>{escape('=')}</relation>{numbers}\n"
            "  </Cell></map>\n"
        )


def _kind(links: LinkSet) -> str:
    """How many links an entity has: "11" if each of either side has one at most."""
    table = links.links
    return "".join("1" if table[side].is_unique().all() else "*" for side in ("right", "left"))


def _number(value: float) -> str:
    """A number as XML Schema writes it.

    >>> _number(0.5), _number(float("-inf"))
    ('0.5', '-INF')
    """
    return {"inf": "INF", "-inf": "-INF", "nan": "NaN"}.get(repr(value), repr(value))
