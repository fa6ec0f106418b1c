"""Ontologies in the syntaxes of OWL that are not RDF, and in OBO, as the RDF that they stand for.

py-horned-owl (the extra ``ontology``) reads functional syntax, Manchester syntax, OWL/XML and OBO
and gives RDF/XML by the W3C's mapping: classes, labels, synonyms, cross-references, restrictions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from sameas.errors import InputError, shortened
from sameas.formats.files import Stream
from sameas.formats.guards import DEEPEST, Guarded, too_deep
from sameas.formats.rdf_syntax import ONTOLOGY_SYNTAXES
from sameas.graph.iri import OWL, RDF, RDFS, XSD
from sameas.graph.rdf.reading import RdfKind

NEEDED = "which needs py-horned-owl: pip install 'sameas[ontology]'; or save it as RDF/XML"
REMEDY = "mend it, or save it as RDF/XML (for instance with robot convert)"
PREDECLARED = {"owl": OWL, "rdf": RDF, "rdfs": RDFS, "xsd": XSD}
"""Prefixes that every ontology has without declaring them."""
LINE = re.compile(r"line_col: Pos\(\((\d+), (\d+)\)\)")
REASON = re.compile(r'ValidityError\("([^"]*)"')
TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"|<[^<>\s]*>', re.DOTALL)
"""Texts and IRIs, whose parentheses are not nesting."""


def rdf_xml(stream: Stream, kind: RdfKind) -> bytes:
    """The ontology in a stream as RDF/XML."""
    try:
        import pyhornedowl
    except ImportError:
        raise InputError(stream.place, f"is {ONTOLOGY_SYNTAXES[kind]}, {NEEDED}") from None
    content = b"".join(_guarded(stream, kind))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        problem = "not UTF-8 text; convert the file to UTF-8"
        raise InputError(stream.place, problem, line=line) from None
    if not text.strip():
        return b""
    try:
        syntax: Any = kind
        ontology = pyhornedowl.open_ontology_from_string(_with_prefixes(text, kind), syntax)
        return str(ontology.save_to_string("rdf")).encode()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the parser is no Exception
        raise _refusal(stream.place, kind, str(error)) from None


def _guarded(stream: Stream, kind: RdfKind) -> Iterator[bytes]:
    """The bytes of a stream, refused where expressions are nested too deeply."""
    if kind == "owx":
        xml = Guarded(stream, "rdf")
        yield from iter(xml.read, b"")
        return
    content = b"".join(iter(lambda: stream.read(2**20), b""))
    if kind != "obo":
        codes = np.frombuffer(TEXT.sub(b"", content), dtype=np.uint8)
        depths = np.cumsum((codes == ord("(")).astype(np.int64) - (codes == ord(")")))
        if depths.max(initial=0) > DEEPEST:
            raise too_deep(stream.place)
    yield content


def _with_prefixes(text: str, kind: RdfKind) -> str:
    """The ontology with the prefixes that need not be declared; no line is added."""
    templates: dict[Any, tuple[str, str]] = {
        "ofn": (r"Prefix\s*\(\s*{}:\s*=", "Prefix({}:=<{}>) "),
        "omn": (r"Prefix:\s*{}:", "Prefix: {}: <{}> "),
        "owx": (r"<Prefix\s[^>]*name\s*=\s*.{}[\"']", '<Prefix name="{}" IRI="{}"/>'),
    }
    if kind not in templates:
        return text
    pattern, template = templates[kind]
    missing = "".join(
        template.format(prefix, iri)
        for prefix, iri in PREDECLARED.items()
        if not re.search(pattern.format(prefix), text)
    )
    if kind == "owx":
        return re.sub(r"<Ontology\b[^>]*(?<!/)>", lambda tag: tag[0] + missing, text, count=1)
    return missing + text


def _refusal(place: str, kind: RdfKind, message: str) -> InputError:
    """The error of the parser in one sentence."""
    where, reason = LINE.search(message), REASON.search(message)
    problem = f"not {ONTOLOGY_SYNTAXES[kind]} that can be read"
    if reason:
        problem += f" ({shortened(reason[1])})"
    line, column = (int(where[1]), int(where[2])) if where else (None, None)
    # Prefixes that were added are in the first line.
    column = None if line == 1 else column
    return InputError(place, f"{problem}; {REMEDY}", line=line, column=column)
