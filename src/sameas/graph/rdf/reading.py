"""Reading: the options about how graphs are read, checked when they are made."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from sameas.options.declare import Option, check, wrong

RdfKind = Literal["nt", "nq", "ttl", "trig", "rdf", "jsonld", "ofn", "omn", "owx", "obo"]
"""N-Triples, N-Quads, Turtle, TriG, RDF/XML, JSON-LD; OWL in functional syntax, in Manchester
syntax, OWL/XML; OBO."""
TableChoice = Literal["triples", "records", "edges"]
"""What a row of a table is: a statement, an entity, or an edge of a property graph."""
SIDES = ("left", "right")

_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"]*")
LANGUAGE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How RDF and tables are read; for benchmark folders there is nothing to choose.

    >>> Reading(language=("en", "de"), exclude=("http://www.w3.org/ns/prov#*",)).lenient
    False
    """

    table: Annotated[
        TableChoice | None,
        Option("What a row of a table is, where its header does not say: a triple, a record, ..."),
    ] = None
    id: Annotated[
        tuple[str, ...],
        Option(
            "Records: the column of ids; where the sides differ, left=COLUMN,right=COLUMN.",
            metavar="COLUMN,...",
        ),
    ] = ()
    name: Annotated[
        tuple[str, ...],
        Option(
            "Records: the column of names, or several that make one together, as for --id.",
            metavar="COLUMN,...",
        ),
    ] = ()
    label: Annotated[
        tuple[str, ...],
        Option("A property that holds names, preferred to the usual ones.", metavar="IRI"),
    ] = ()
    language: Annotated[
        tuple[str, ...],
        Option("RDF: preferred languages of names, as in en,de.", metavar="TAG,..."),
    ] = ()
    include: Annotated[
        tuple[str, ...],
        Option(
            "RDF: read only these predicates, link only these classes (* at the end: any).",
            metavar="IRI",
        ),
    ] = ()
    exclude: Annotated[
        tuple[str, ...],
        Option("RDF: leave out these predicates, and members of these classes.", metavar="IRI"),
    ] = ()
    blank_nodes: Annotated[bool, Option("RDF: blank nodes may be linked too.")] = False
    link: Annotated[
        Literal["things", "all"],
        Option("RDF: link things alone, or also nodes that only hold a value, and equal IRIs."),
    ] = "things"
    lenient: Annotated[bool, Option("RDF: skip syntax errors, and count them.")] = False
    strict: Annotated[bool, Option("RDF: refuse malformed IRIs and language tags.")] = False
    max_bytes: Annotated[
        int | None,
        Option(
            "How much a file or endpoint may hold, once it is unpacked; else what fits in memory.",
            metavar="SIZE",
            least=1,
            is_size=True,
        ),
    ] = None
    format: Annotated[
        RdfKind | None, Option("RDF: what standard input holds, and files without a known suffix.")
    ] = None
    base: Annotated[
        str | None, Option("RDF: what relative IRIs are resolved against.", metavar="IRI")
    ] = None
    query: Annotated[
        tuple[Path, ...],
        Option("SPARQL: a file with the query, for both sides or one a side.", metavar="FILE"),
    ] = ()

    def __post_init__(self) -> None:
        """Refuse values that cannot be used."""
        check(self)
        if self.strict and self.lenient:
            raise wrong("strict", "False where `lenient` is True", True)
        for tag in self.language:
            if not LANGUAGE.fullmatch(tag):
                raise wrong("language", "a tag such as en or zh-Hant", tag)
        for name in ("include", "exclude"):
            for iri in getattr(self, name):
                if not _IRI.fullmatch(iri):
                    what = "a whole IRI such as http://www.w3.org/2000/01/rdf-schema#label"
                    raise wrong(name, what, iri)
        if self.base is not None and not _IRI.fullmatch(self.base):
            raise wrong("base", "a whole IRI such as http://example.org/", self.base)
        if len(self.query) > 2:
            raise wrong("query", "one file or one a side", len(self.query))

    def for_side(self, number: int) -> Reading:
        """The options with the columns of one side, the first having the number 0.

        >>> Reading(id=("left=nr", "right=key"), name=("title",)).for_side(1).id
        ('key',)
        """
        id, name = (columns_of_side(columns, number) for columns in (self.id, self.name))
        return replace(self, id=id, name=name)


def columns_of_side(columns: Sequence[str], number: int) -> tuple[str, ...]:
    """The columns for one side, without the words that say for which side each is."""
    parts = [column.partition("=") for column in columns]
    return tuple(
        name if side in SIDES and name else column
        for column, (side, _, name) in zip(columns, parts, strict=True)
        if not (side in SIDES and name) or side == SIDES[number]
    )
