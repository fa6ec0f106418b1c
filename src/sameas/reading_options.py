"""Reading: every choice about how graphs are read, each declared, checked and explained here.

The flags of the command line are made from these fields, so this module imports nothing large.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sameas.fields import check, option, wrong

RdfKind = Literal["nt", "nq", "ttl", "trig", "rdf", "jsonld"]
"""N-Triples, N-Quads, Turtle, TriG, RDF/XML, JSON-LD."""

IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"]*")


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How RDF is read. Tables of triples and benchmark folders leave nothing to choose.

    >>> Reading(language=("en", "de"), exclude=("http://www.w3.org/ns/prov#*",)).lenient
    False
    """

    label: tuple[str, ...] = option(
        (), help="RDF: properties that hold names, before the usual ones.", metavar="IRI"
    )
    language: tuple[str, ...] = option(
        (), help="RDF: preferred languages of names, best first, as in en,de.", metavar="TAG,..."
    )
    include: tuple[str, ...] = option(
        (),
        help="RDF: read only these predicates, link only these classes (* at the end: any).",
        metavar="IRI",
    )
    exclude: tuple[str, ...] = option(
        (),
        help="RDF: leave out these predicates, and members of these classes.",
        metavar="IRI",
    )
    blank_nodes: bool = option(False, help="RDF: blank nodes may be linked too.")
    lenient: bool = option(False, help="RDF: skip what is malformed, and count it.")
    max_bytes: int = option(
        64 * 2**30,
        help="What one compressed file, standard input or endpoint may hold, unpacked.",
        least=1,
        metavar="SIZE",
    )
    format: RdfKind | None = option(
        None, help="RDF: what standard input holds, and files without a known suffix; else nq."
    )
    base: str | None = option(
        None, help="RDF: what relative IRIs are resolved against.", metavar="IRI"
    )
    query: tuple[Path, ...] = option(
        (), help="SPARQL: the query to put, for both sides or one a side.", metavar="FILE"
    )

    def __post_init__(self) -> None:
        """Refuse values that cannot be used; languages may be one text with commas."""
        check(self)
        tags = [tag.strip() for text in self.language for tag in text.split(",")]
        object.__setattr__(self, "language", tuple(tags))
        for tag in self.language:
            if not re.fullmatch(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*", tag):
                raise wrong("language", "a tag such as en or zh-Hant", tag)
        for name in ("label", "include", "exclude"):
            for iri in getattr(self, name):
                if not IRI.fullmatch(iri):
                    what = "a whole IRI such as http://www.w3.org/2000/01/rdf-schema#label"
                    raise wrong(name, what, iri)
        if self.base is not None and not IRI.fullmatch(self.base):
            raise wrong("base", "a whole IRI such as http://example.org/", self.base)
        if len(self.query) > 2:
            raise wrong("query", "one file or one a side", len(self.query))
