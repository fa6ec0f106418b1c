"""What pyoxigraph says about malformed RDF, in our words: the place, the fault, the remedy."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from sameas.errors import InputError
from sameas.reading.tables import shortened

TOO_LONG = "a line or literal is longer than 16 MiB, which is more than can be read; cut it"
REMOTE_CONTEXT = (
    "its JSON-LD context is to be fetched from elsewhere, which is not done; put the context "
    "into the file, or convert it to N-Triples"
)
LENIENT = "mend it, or skip what is malformed with --lenient"


def syntax_error(
    place: str, error: SyntaxError, *, line: int | None = None, hint: str = ""
) -> InputError:
    """The error to raise for what a parser found; ``line`` is used instead of the parser's."""
    message = re.sub(r"^Parser error [^:]*: ", "", str(error.msg))
    if "LoadDocumentCallback" in message:
        return InputError(place, REMOTE_CONTEXT)
    if "No scheme found" in message:
        hint = hint or "if it is a relative IRI, give the one to resolve it against with --base"
    return InputError(
        place,
        f"{shortened(message, 200)}; {hint or LENIENT}",
        line=error.lineno if line is None else line,
        column=error.offset or None,
    )


def format_hint(head: bytes, kind: str) -> str:
    """What to do about a file that seems to hold another format than its suffix says, or ""."""
    for other, pattern in LOOKS.items():
        if re.match(pattern, head, re.IGNORECASE):
            # Turtle is in TriG, N-Triples is in Turtle.
            if kind in (other, *READ_AS.get(other, ())):
                return ""
            return f"it looks like {NAMES[other]}: let its name end in .{other}"
    return ""


NAMES = {
    "nt": "N-Triples",
    "ttl": "Turtle",
    "rdf": "RDF/XML",
    "jsonld": "JSON-LD",
}
LOOKS = {
    "rdf": rb"\s*<(\?xml|!--|!DOCTYPE|rdf:RDF)",
    "jsonld": rb"\s*(\{\s*\"|\[\s*[\{\[])",
    "ttl": rb"\s*(#[^\n]*\s+)*@?(prefix|base)\s",
    "nt": rb"\s*(#[^\n]*\s+)*(<\w+:[^<>\s]*>|_:\S+)\s+<\w+:[^<>\s]*>\s+(<\w+:[^<>\s]*>|_:\S+|\")",
}
READ_AS = {"nt": ("nq", "ttl", "trig"), "ttl": ("trig",)}


def guarded(
    parser: Iterator[Any], on_error: Callable[[SyntaxError], None], *, place: str
) -> Iterator[Any]:
    """What a parser yields; ``on_error`` raises, or has the parser go on behind the error."""
    while True:
        try:
            yield from parser
            return
        except SyntaxError as error:
            on_error(error)
        except (MemoryError, RecursionError):
            raise InputError(place, TOO_LONG) from None
