"""Reading: everything that can be chosen about how graphs are read, checked when it is made."""

from __future__ import annotations

import re
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Literal, get_args

from sameas.errors import OptionError

RdfKind = Literal["nt", "nq", "ttl", "trig", "rdf", "jsonld"]
"""N-Triples, N-Quads, Turtle, TriG, RDF/XML, JSON-LD."""

IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"]*")


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How RDF is read. Tables of triples and benchmark folders leave nothing to choose.

    >>> Reading(language=("en", "de"), exclude=("http://www.w3.org/ns/prov#*",)).lenient
    False
    """

    label: tuple[str, ...] = ()
    """IRIs of properties that hold names, better ones than those that are known anyway."""
    language: tuple[str, ...] = ()
    """Preferred languages of names, best first."""
    include: tuple[str, ...] = ()
    """Only these predicates are read, only entities of these classes are linked."""
    exclude: tuple[str, ...] = ()
    """These predicates, and entities of these classes, are left out."""
    blank_nodes: bool = False
    """Whether blank nodes may be linked."""
    lenient: bool = False
    """Whether malformed statements are skipped and counted, or the first is an error."""
    max_bytes: int = 64 * 2**30
    """How much one compressed file, standard input or endpoint may hold in bytes."""
    format: RdfKind | None = None
    """What standard input and files without a known suffix hold."""
    base: str | None = None
    """The IRI that relative ones are resolved against."""
    query: tuple[Path, ...] = ()
    """Files with the query that is put to SPARQL endpoints: one for both sides, or one a side."""

    def __post_init__(self) -> None:
        """Refuse values that cannot be used; one text in place of several becomes a tuple."""
        for name in ("label", "language", "include", "exclude", "query"):
            value = getattr(self, name)
            values = (value,) if isinstance(value, str | PathLike) else tuple(value)
            if name == "query":
                values = tuple(Path(file) for file in values)
            object.__setattr__(self, name, values)
        for tag in self.language:
            if not re.fullmatch(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*", tag):
                raise _wrong("language", "a tag such as en or zh-Hant", tag)
        for name in ("label", "include", "exclude"):
            for iri in getattr(self, name):
                if not IRI.fullmatch(iri):
                    what = "a whole IRI such as http://www.w3.org/2000/01/rdf-schema#label"
                    raise _wrong(name, what, iri)
        if self.format is not None and self.format not in get_args(RdfKind):
            raise _wrong("format", f"one of {', '.join(get_args(RdfKind))}", self.format)
        size = self.max_bytes
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise _wrong("max_bytes", "a whole number of at least 1", size)
        if self.base is not None and not IRI.fullmatch(self.base):
            raise _wrong("base", "a whole IRI such as http://example.org/", self.base)
        if len(self.query) > 2:
            raise _wrong("query", "one file or one a side", len(self.query))


def _wrong(name: str, expected: str, found: object) -> OptionError:
    return OptionError(f"{name} must be {expected}, got {found!r} instead")
