"""Links in the RDF/XML format of the Alignment API, which OAEI uses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import quoteattr

import polars as pl

from sameas.iri import XSD, is_iri
from sameas.links import LinkSet
from sameas.reading.alignment_api import SOURCES

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


def write_alignment_api(links: LinkSet, path: Path) -> None:
    """Write one cell a link: its measure is the confidence, its score stands beside it."""
    table = links.links
    # "11": an entity has one link at most, on either side; "*" where it may have several.
    kind = "".join("1" if table[side].is_unique().all() else "*" for side in ("right", "left"))
    with path.open("w", encoding="utf8", newline="\n") as file:
        file.write(f"{HEAD}  <type>{kind}</type>\n")
        for name, slot in SOURCES.items():
            iri = str(links.metadata.get(slot, ""))
            if is_iri(iri):
                file.write(f"  <{name}><Ontology rdf:about={quoteattr(iri)}/></{name}>\n")
        file.writelines(_cells(table))
        file.write(TAIL)


def _cells(table: pl.DataFrame) -> Iterator[str]:
    for left, right, score, confidence in table["left", "right", "score", "confidence"].iter_rows():
        yield (
            "  <map><Cell>\n"
            f"    <entity1 rdf:resource={quoteattr(left)}/>\n"
            f"    <entity2 rdf:resource={quoteattr(right)}/>\n"
            "    <relation>=</relation>\n"
            f"{_number('measure', 'float', confidence)}{_number('sameas:score', 'double', score)}"
            "  </Cell></map>\n"
        )


def _number(tag: str, kind: str, value: float | None) -> str:
    """A number as XML Schema writes it, "" where there is none."""
    if value is None:
        return ""
    text = {"inf": "INF", "-inf": "-INF", "nan": "NaN"}.get(repr(value), repr(value))
    return f'    <{tag} rdf:datatype="{XSD}{kind}">{text}</{tag}>\n'
