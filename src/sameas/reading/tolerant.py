"""RDF parsed without losing a file over one bad term.

pyoxigraph's lenient mode does not validate IRIs and language tags, so the parser never stops at
one of them and never has to find its way again behind it. Every term is validated here instead:
a statement with a bad one is left out and counted, or refused with ``strict``.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pyoxigraph as ox

LANGUAGE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")
DECLARATION = re.compile(rb"^\s*<\?xml[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"'][^>]*\?>")
MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def declared_encoding(head: bytes) -> str:
    """The encoding of an XML file by its first bytes; UTF-8 where nothing is said.

    >>> declared_encoding(b'<?xml version="1.0" encoding="windows-1252"?>')
    'cp1252'
    """
    for mark, name in MARKS:
        if head.startswith(mark):
            return name
    found = DECLARATION.match(head)
    return codecs.lookup(found[1].decode()).name if found else "utf-8"


class Utf8Xml:
    """A stream of XML as UTF-8, whatever its declaration says; the declaration is replaced."""

    def __init__(self, read: Callable[[int], bytes], head: bytes) -> None:
        """``head`` is what ``read`` will begin with. LookupError: the encoding is not known."""
        self._read = read
        self._decode = codecs.getincrementaldecoder(declared_encoding(head))(errors="strict").decode
        self._started = False

    def read(self, size: int = -1) -> bytes:
        """The next bytes; UnicodeDecodeError if there are none in the declared encoding."""
        raw = self._read(2**16 if size < 0 else max(size, 4))
        text = self._decode(raw, not raw)
        if not self._started and text:
            self._started = True
            text = re.sub(r"^\ufeff?\s*<\?xml[^>]*\?>", '<?xml version="1.0"?>', text, count=1)
        return text.encode() or (b"" if not raw else self.read(size))


def valid_quads(
    quads: Iterator[Any], tally: Counter[str], on_fault: Callable[[str], None] | None = None
) -> Iterator[Any]:
    """The quads whose terms are all right; the others are counted by what is wrong with them.

    ``on_fault`` is told each fault and may raise. A literal that its datatype does not allow
    ("Mon Jun 20" as xsd:date) is a literal all the same, as RDF says.
    """
    known: dict[str, bool] = {}

    def right(term: Any) -> bool:
        kind = type(term)
        if kind is ox.NamedNode:
            text = term.value
            if text not in known:
                known[text] = _is_iri(text)
            return known[text]
        if kind is ox.Literal:
            return not term.language or bool(LANGUAGE.fullmatch(term.language))
        return True

    for quad in quads:
        subject, predicate, value, *_ = quad
        if right(subject) and right(predicate) and right(value):
            yield quad
            continue
        language = type(value) is ox.Literal and not right(value)
        fault = "bad_language_tags" if language else "bad_iris"
        tally[fault] += 1
        tally["malformed"] += 1
        if on_fault:
            on_fault(f"{fault}: {quad}")


def _is_iri(text: str) -> bool:
    try:
        ox.NamedNode(text)
    except ValueError:
        return False
    return True


LOOKS: tuple[tuple[str, bytes], ...] = (
    ("rdf", rb"\s*(<\?xml|<!--|<!DOCTYPE\s+rdf|<rdf:RDF|<\w+:RDF\s)"),
    ("jsonld", rb"\s*(\{\s*\"|\[\s*[\{\[])"),
    ("ttl", rb"\s*(#[^\n]*\s+)*@?(prefix|base)\s"),
    ("nt", rb"\s*(#[^\n]*\s+)*(<\w+:[^<>\s]*>|_:\S+)\s+<\w+:[^<>\s]*>\s+(<\w+:[^<>\s]*>|_:\S+|\")"),
)


def format_by_content(head: bytes) -> str | None:
    """The RDF format that a file begins like: rdf, jsonld, ttl, nt; None if it is hard to say."""
    for kind, pattern in LOOKS:
        if re.match(pattern, head, re.IGNORECASE):
            return kind
    return None
