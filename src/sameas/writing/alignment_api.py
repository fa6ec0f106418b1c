"""Links in the RDF/XML format of the Alignment API, which OAEI uses."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import quoteattr

from sameas.iri import XSD, is_iri
from sameas.links import LINK_COLUMNS, LinkSet
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
