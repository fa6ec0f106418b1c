"""IRIs for entities and relations, whatever they are called, and back again.

An id that is an absolute IRI stays as it is. Any other one (a word, a number, an IRI with a
space in it) becomes ``urn:sameas:left:`` or ``urn:sameas:right:`` with the id percent-encoded,
so that ids of the two sides stay apart and each is found again when the file is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote, unquote

import polars as pl
from pyoxigraph import NamedNode

from sameas.options.options import Side

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
XSD = "http://www.w3.org/2001/XMLSchema#"
XML = "http://www.w3.org/XML/1998/namespace"
TYPE = f"{RDF}type"
WIKIDATA_TYPE = "http://www.wikidata.org/prop/direct/P31"
"""What Wikidata's graphs have in place of rdf:type: "instance of"."""
MINTED = "urn:sameas:"
"""What IRIs that we make begin with."""
BLANK = "_:"
"""What the ids of blank nodes begin with; they have a meaning only within their file."""

_PLAIN = r"[A-Za-z0-9._~!$&'()*+,;=:@/\u00A1-\u2000\u3001-\uD7FF-]*"
_PATH = rf"{_PLAIN}(?:%[0-9A-Fa-f]{{2}}{_PLAIN})*"
SIMPLE = rf"[A-Za-z][A-Za-z0-9+.-]*:(?://[A-Za-z0-9.-]+/{_PATH}|[A-Za-z0-9]{_PATH})(?:#{_PATH})?"
"""Most valid IRIs, for Python and for polars; the others are checked one by one."""
_SPACES = {
    chr(code): f"\\u{code:04X}"
    for code in (0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000)
}
_MINTED_ENTITY = r"^urn:sameas:(?:left|right):([A-Za-z0-9._~%-]+)$"


def to_iris(ids: pl.Series, *, side: Side) -> pl.Series:
    """A valid IRI for each entity; distinct ids get distinct ones.

    >>> to_iris(pl.Series(["http://a.org/x", "New York"]), side="left").to_list()
    ['http://a.org/x', 'urn:sameas:left:New%20York']
    """
    return _minted_where_needed(ids, f"{MINTED}{side}:")


def to_property_iris(ids: pl.Series, *, side: Side) -> pl.Series:
    """A valid IRI for each relation or attribute; never that of an entity.

    >>> to_property_iris(pl.Series(["born in"]), side="right").to_list()
    ['urn:sameas:right:property:born%20in']
    """
    return _minted_where_needed(ids, f"{MINTED}{side}:property:")


def from_iris(iris: pl.Series) -> pl.Series:
    """The ids that ``to_iris`` was given.

    >>> from_iris(pl.Series(["http://a.org/x", "urn:sameas:left:New%20York"])).to_list()
    ['http://a.org/x', 'New York']
    """
    return mapped_where(iris.str.contains(_MINTED_ENTITY), iris, _decoded)


def last_part(iri: str) -> str:
    """The last part of an IRI, for display.

    >>> last_part("http://dbpedia.org/ontology/birthPlace"), last_part("capital of")
    ('birthPlace', 'capital of')
    """
    return re.split(r"[/#]", iri.rstrip("/#"))[-1] or iri


def is_iri(text: str) -> bool:
    """Whether a text is a valid absolute IRI, with something after its scheme.

    >>> is_iri("http://a.org/x"), is_iri("a.org/x"), is_iri("http://a.org/x y"), is_iri("a:")
    (True, False, False, False)
    """
    try:
        NamedNode(text)
    except ValueError:
        return False
    return bool(text.partition(":")[2])


def are_iris(ids: pl.Series) -> pl.Series:
    """Whether each id is a valid absolute IRI."""
    simple = ids.str.contains(f"^{SIMPLE}$")
    if simple.all():
        return simple
    others = ids.filter(~simple).map_elements(is_iri, return_dtype=pl.Boolean)
    return simple.scatter((~simple).arg_true(), others)


def are_blank(ids: pl.Series) -> pl.Series:
    """Whether each id is that of a blank node."""
    return ids.str.starts_with(BLANK)


def bracketed(iris: pl.Series) -> pl.Series:
    """IRIs as N-Triples and Turtle write them; spaces beyond ASCII escaped, for simple readers."""
    text: pl.Series = "<" + iris.str.replace_many(_SPACES) + ">"
    return text


def mapped_where(where: pl.Series, texts: pl.Series, function: Callable[[str], str]) -> pl.Series:
    """The texts with the result of a function in place of those that a mask marks."""
    where = where.fill_null(value=False)
    if not where.any():
        return texts
    changed = pl.Series([function(text) for text in texts.filter(where)], dtype=pl.String)
    mapped: pl.Series = texts.clone().scatter(where.arg_true(), changed)
    return mapped


def _minted_where_needed(ids: pl.Series, beginning: str) -> pl.Series:
    return mapped_where(~are_iris(ids), ids, lambda text: beginning + quote(text, safe=""))


def _decoded(iri: str) -> str:
    """The id in an IRI that we made; an IRI that we would have written otherwise is unchanged."""
    text = iri.split(":", 3)[3]
    try:
        decoded = unquote(text, errors="strict")
    except UnicodeDecodeError:
        return iri
    return decoded if quote(decoded, safe="") == text and not is_iri(decoded) else iri
