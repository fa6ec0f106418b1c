"""Formats of RDF, and how a file that holds one begins."""

from __future__ import annotations

import codecs
import logging
import re

import pyoxigraph as ox

from sameas.formats.files import Stream
from sameas.graph.iri import RDF
from sameas.graph.rdf.reading import RdfKind

log = logging.getLogger(__name__)

FORMATS: dict[RdfKind, ox.RdfFormat] = {
    "nt": ox.RdfFormat.N_TRIPLES,
    "nq": ox.RdfFormat.N_QUADS,
    "ttl": ox.RdfFormat.TURTLE,
    "trig": ox.RdfFormat.TRIG,
    "rdf": ox.RdfFormat.RDF_XML,
    "jsonld": ox.RdfFormat.JSON_LD,
}
UTF16 = {
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    b"<\0?\0": "utf-16-le",
    b"\0<\0?": "utf-16-be",
}
"""How XML in UTF-16 begins, and the codec that reads it."""

_IRI = r"<(?:\w[\w+.-]*://|urn:)[^<>\n]*>"
_NODE = rf"(?:{_IRI}|_:[^\s<>\"]+)"
_END = r"(?:<\w[\w+.-]*:[^<>\n]*>|_:[^\s<>\"]+)"
"""An object or graph: no XML begins like this, so any scheme will do (mailto, doi)."""
_LITERAL = r"\"(?:[^\"\\\n]|\\.)*\"(?:@[\w-]+|\^\^<[^<>\s]*>)?"
_COMMENTS = r"(?:\s|#[^\n]*\n)*"
LOOKS: dict[RdfKind, tuple[tuple[RdfKind, ...], re.Pattern[str]]] = {
    "rdf": ((), re.compile(r"\s*<(?:\?xml|!--|!DOCTYPE\s+rdf|(?:\w+:)?RDF\s)", re.IGNORECASE)),
    "jsonld": (
        (),
        re.compile(r"\s*(?:\{\s*\"|\[\s*[{\[]).*\"@(?:context|id|graph|type)\"", re.DOTALL),
    ),
    "nq": (
        ("nt", "ttl", "trig"),
        re.compile(
            rf"{_COMMENTS}{_NODE}\s*{_IRI}\s*(?:{_END}|{_LITERAL})\s*{_END}?\s*\.\s*?([#\r\n]|$)"
        ),
    ),
    "ttl": (
        ("trig",),
        re.compile(
            rf"{_COMMENTS}(?:@?prefix\s+[\w.-]*:\s*<|@?base\s*<|{_IRI}\s+(?:a\s|{_IRI}))",
            re.IGNORECASE,
        ),
    ),
}
"""The formats that include a format, and how files in it begin."""
ONTOLOGY_SYNTAXES: dict[RdfKind, str] = {
    "ofn": "OWL in functional syntax",
    "omn": "OWL in Manchester syntax",
    "owx": "OWL/XML",
    "obo": "OBO",
}
"""What ontologies are written in besides RDF."""
ONTOLOGY_LOOKS: dict[RdfKind, re.Pattern[str]] = {
    "ofn": re.compile(rf"{_COMMENTS}(?:Prefix|Ontology)\s*\("),
    "omn": re.compile(rf"{_COMMENTS}(?:Prefix|Namespace|Ontology):\s"),
    "owx": re.compile(
        r"\s*(?:<\?[^>]*>\s*|<!--.*?-->\s*|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>\s*)*"
        r"<(?:\w+:)?Ontology\s[^>]*(?:ontologyIRI|xmlns\s*=\s*.http://www\.w3\.org/2002/07/owl#)",
        re.DOTALL,
    ),
    "obo": re.compile(r"(?:\s|![^\n]*\n)*(?:format-version:|\[Term\]\s*\n\s*id:)"),
}


def kind_of_content(stream: Stream, claimed: RdfKind | None) -> RdfKind:
    """The format of a stream: the claimed one, unless the content clearly is in another."""
    seen = _looks(head_text(stream.head))
    if seen is None or claimed == seen or (seen in LOOKS and claimed in LOOKS[seen][0]):
        return claimed or "nq"
    if claimed and not (claimed == "rdf" and seen in ONTOLOGY_SYNTAXES):  # .owl says no syntax
        says = "is read as %s, which it holds, although its name or `format` says %s"
        log.warning(f"%s: {says}", stream.place, _name(seen), _name(claimed))
    return seen


def _name(kind: RdfKind) -> str:
    return ONTOLOGY_SYNTAXES[kind] if kind in ONTOLOGY_SYNTAXES else FORMATS[kind].name


def looks_like_rdf(head: bytes) -> bool:
    """Whether a file without a suffix that says so clearly holds RDF, or an ontology."""
    text = head_text(head)
    kind = _looks(text)
    return RDF in text if kind == "rdf" else kind is not None


def _looks(head: str) -> RdfKind | None:
    """The format of RDF, or the syntax of ontologies, that a text begins like."""
    patterns = {**ONTOLOGY_LOOKS, **{kind: pattern for kind, (_, pattern) in LOOKS.items()}}
    return next((kind for kind, pattern in patterns.items() if pattern.match(head)), None)


def head_text(head: bytes) -> str:
    """The first bytes of a file as text."""
    codec = next((name for mark, name in UTF16.items() if head.startswith(mark)), "utf-8")
    return head.decode(codec, errors="replace")
