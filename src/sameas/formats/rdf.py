"""Streams of RDF to statements, in any usual format; malformed statements are left out.

The parsers check syntax only. IRIs and language tags are validated here, statement by statement,
so that one bad term does not end a file, and no parser has to guess where the next statement
begins. Lines of N-Triples and N-Quads that are canonical, as most are, are not parsed at all but
recognized, block by block and several blocks at once. Blocks with other lines are parsed with all
checks, and line by line where that fails.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast
from urllib.parse import quote

import polars as pl
import pyoxigraph as ox

from sameas.compute.parallel import in_turn
from sameas.errors import InputError, shortened
from sameas.formats.files import Stream
from sameas.formats.guards import DEEPEST, LOST, TRIPLE, Guarded, refuse_deep_lines, too_deep
from sameas.formats.ontology import rdf_xml
from sameas.formats.rdf_syntax import FORMATS, ONTOLOGY_SYNTAXES, kind_of_content
from sameas.graph.iri import RDF, SIMPLE, XSD
from sameas.graph.rdf.reading import LANGUAGE, RdfKind, Reading
from sameas.graph.rdf.statements import (
    AT_ONCE,
    BlankNames,
    columns_of,
    lines_of,
    statements_of,
    with_blank_names,
)

log = logging.getLogger(__name__)

BLOCK_BYTES = 2**22
LONGEST_LINE = 2**24
"""The longest term that pyoxigraph reads."""
TOO_LONG = "a line or literal is longer than 16 MiB, which is more than can be read; cut it"
REMOTE_CONTEXT = (
    "its JSON-LD context is to be fetched from elsewhere, which is not done (only that of "
    "schema.org is known); put the context into the file, or convert it to N-Triples"
)
_NODE = rf"(?:<{SIMPLE}>|_:[A-Za-z0-9]+)"
_OBJECT = (
    rf'(?:{_NODE}|"[^"\\\x00-\x08\x0A-\x1F\x7F]*"'
    rf"(?:@[a-z]{{1,8}}(?:-[a-z0-9]{{1,8}})*|\^\^<{SIMPLE}>)?)"
)
CANONICAL: dict[str, str] = {
    "nt": rf"^{_NODE} <{SIMPLE}> {_OBJECT} \.$",
    "nq": rf"^{_NODE} <{SIMPLE}> {_OBJECT}(?: {_NODE})? \.$",
}
"""Lines, for polars, that are well-formed and that pyoxigraph would write as they are."""
SHORTENED = (f"{XSD}string", f"{RDF}langString", f"{RDF}dirLangString")
"""Datatypes that pyoxigraph leaves out, or does not take."""
NO_NAME = "standard-input"
"""The name that relative IRIs on standard input are resolved against."""


@cache
def well_formed() -> re.Pattern[str]:
    """Most well-formed statements as text; others are looked at term by term, which is slower.

    Made when it is needed first: that takes a tenth of a second.
    """
    return re.compile(
        rf"(?:<{SIMPLE}>|_:\w+) <{SIMPLE}> (?:<{SIMPLE}>|_:\w+|"
        rf"\"[^\"\\]*(?:\\.[^\"\\]*)*\"(?:@{LANGUAGE.pattern}|\^\^<{SIMPLE}>)?)"
    )


@dataclass
class Faults:
    """Malformed statements of one stream: left out and counted, or refused."""

    place: str
    kind: RdfKind
    reading: Reading
    are_skippable: bool
    """Whether syntax errors could be skipped, with `lenient`; not in files of links."""
    counts: Counter[str] = field(default_factory=Counter)
    first: str = ""

    def valid(self, quads: Iterable[ox.Quad], line: Callable[[], int | None]) -> Iterator[ox.Quad]:
        """The quads whose IRIs and language tags are well-formed; ``line`` says where one is."""
        for quad in quads:
            if well_formed().fullmatch(str(quad)) or not (found := _bad_term(quad)):
                yield quad
                continue
            self.refuse(*found, line())

    def refuse(self, kind: str, text: str, line: int | None) -> None:
        """Count a malformed term, or raise an InputError where reading is strict."""
        what = f'{kind} "{shortened(text)}"'
        if self.reading.strict:
            remedy = "mend it, or leave out such statements by reading without `strict`"
            raise InputError(self.place, f"malformed {what}; {remedy}", line=line)
        self._count(f"bad_{kind.lower().replace(' ', '_')}s", f"the {what}", line)

    def syntax_error(self, error: SyntaxError, line: int | None) -> None:
        """Count a statement with a syntax error if lenient, where the parser can go on."""
        can_go_on = self.kind not in ("rdf", "jsonld")
        message = re.sub(r"^Parser error [^:]*: ", "", str(error.msg))
        if self.reading.lenient and can_go_on and self.are_skippable:
            self._count("syntax_errors", f"a syntax error ({shortened(message)})", line)
            return
        if "LoadDocumentCallback" in message:
            raise InputError(self.place, REMOTE_CONTEXT)
        remedy = "mend it"
        if self.are_skippable:
            remedy = "mend it, or skip what is malformed with `lenient`" if can_go_on else LOST
        if "Invalid UTF-8" in message:
            message, remedy = "not UTF-8 text", "convert the file to UTF-8"
        message, column = f"{shortened(message, 200)}; {remedy}", error.offset or None
        raise InputError(self.place, message, line=line, column=column)

    def _count(self, kind: str, what: str, line: int | None) -> None:
        self.first = self.first or what + (f" in line {line}" if line else "")
        self.counts[kind] += 1

    def report(self, tally: Counter[str]) -> None:
        """Log how many statements were left out, and why the first was; add the counts."""
        if count := self.counts.total():
            kinds = ", ".join(f"{kind.replace('_', ' ')} {n}" for kind, n in self.counts.items())
            message = "%s: malformed statements were left out: %d (%s); the first has %s"
            log.warning(message, self.place, count, kinds, self.first)
            tally.update(self.counts, malformed=count)


def read_stream(
    stream: Stream,
    kind: RdfKind | None,
    reading: Reading,
    tally: Counter[str] | None = None,
    *,
    tag: str = "",
) -> Iterator[pl.DataFrame]:
    """The statements of one stream in the format that its name says, None if it says nothing.

    A stream that clearly holds another format is read as that. Malformed statements are counted
    in ``tally``; without one, as for links, syntax errors are never skipped.
    """
    kind = kind_of_content(stream, kind)
    faults = Faults(stream.place, kind, reading, are_skippable=tally is not None)
    if kind in ("nt", "nq", "ttl", "trig"):
        blank = BlankNames(tag)
        tables = _tables if kind in ("nt", "nq") else _tables_of_turtle
        for table in tables(stream, faults):
            yield with_blank_names(table, blank)
    elif kind in ONTOLOGY_SYNTAXES:
        yield from statements_of(_quads_of_ontology(stream, faults), tag)
    elif kind != "jsonld" or stream.head.strip():  # nothing is no JSON, but no error elsewhere
        yield from statements_of(_quads(stream, faults), tag)
    faults.report(Counter() if tally is None else tally)


def _quads_of_ontology(stream: Stream, faults: Faults) -> Iterator[ox.Quad]:
    """The valid quads of an ontology that is not written in RDF."""
    content = rdf_xml(stream, faults.kind)
    if content:
        quads = ox.parse(input=content, format=FORMATS["rdf"], lenient=True)
        yield from faults.valid(quads, lambda: None)


def _tables_of_turtle(stream: Stream, faults: Faults) -> Iterator[pl.DataFrame]:
    """The statements of Turtle or TriG: one thread parses, others make columns and check terms."""
    for content, error, table in in_turn(_checked, _batches(stream, faults)):
        if table is None:
            valid = b"".join(_valid_lines(content, faults))
            table = columns_of(lines_of(valid)) if valid else None
        if table is not None:
            yield table
        if isinstance(error, SyntaxError):
            faults.syntax_error(error, error.lineno)
        elif error is not None:
            raise error


Batch = tuple[bytes, SyntaxError | InputError | None]
"""Statements as lines, with terms that may be malformed, and the error that came after them."""


def _batches(stream: Stream, faults: Faults) -> Iterator[Batch]:
    """The statements of Turtle, some thousands at a time."""
    parser = _parser(Guarded(stream, faults.kind), stream, faults)
    errors: list[SyntaxError | InputError] = []

    def some() -> Iterator[ox.Quad]:
        try:
            yield from islice(parser, AT_ONCE)
        except MemoryError:
            errors.append(InputError(stream.place, TOO_LONG))
        except (SyntaxError, InputError) as error:  # the latter if nested too deeply
            errors.append(error)

    while True:
        content = cast(bytes, ox.serialize(some(), format=ox.RdfFormat.N_QUADS))
        error = errors.pop() if errors else None
        if not content and error is None:
            return
        yield content, error
        if isinstance(error, InputError):
            return


def _checked(batch: Batch) -> tuple[bytes, Exception | None, pl.DataFrame | None]:
    """A batch and the table of its statements; None if lines have to be looked at one by one."""
    content, error = batch
    if not content:
        return content, error, None
    lines = lines_of(content)
    others = lines.filter(~lines.str.contains(CANONICAL["nq"]))
    if len(others):
        try:
            quads = ox.parse(input="\n".join(others), format=FORMATS["nq"])
            if sum(1 for quad in quads) != len(others):
                return content, error, None
        except (SyntaxError, MemoryError):  # MemoryError: a term is too long to be read again
            return content, error, None
    return content, error, columns_of(lines, escapes=b"\\" in content)


def _valid_lines(content: bytes, faults: Faults) -> Iterator[bytes]:
    """The lines whose terms are well-formed."""
    line = b""
    for text in content.splitlines(keepends=True):
        line += text
        if not line.endswith(b" .\n"):  # the end of a line is in an IRI, by an escape
            continue
        try:
            quads = list(ox.parse(input=line, format=FORMATS["nq"], lenient=True))
        except (SyntaxError, MemoryError):
            quads = []
        if len(quads) != 1:  # the end of an IRI is in it
            faults.refuse("IRI", line.decode(), None)
        elif any(faults.valid(quads, lambda: None)):
            yield line
        line = b""


def _parser(source: Guarded, stream: Stream, faults: Faults) -> Iterator[ox.Quad]:
    """The quads of a stream, with terms that may be malformed."""
    name = NO_NAME if stream.place == "standard input" else Path(stream.place).name
    base = faults.reading.base or f"file:///{quote(name)}"
    try:
        return parsed(source, faults.kind, base_iri=base, lenient=True)
    except ValueError as error:  # the base is none
        raise InputError(stream.place, f"{error}; is `base` a whole IRI?") from None


def _quads(stream: Stream, faults: Faults) -> Iterator[ox.Quad]:
    """The valid quads of a stream in any format."""
    source = Guarded(stream, faults.kind)
    parser = _parser(source, stream, faults)
    while True:
        try:
            yield from faults.valid(parser, lambda: source.line)
            return
        except SyntaxError as error:
            faults.syntax_error(error, error.lineno if source.line is None else source.line)
        except MemoryError:
            raise InputError(stream.place, TOO_LONG) from None
        except RecursionError:  # triples in RDF/XML
            raise too_deep(stream.place) from None


def parsed(source: Guarded, kind: RdfKind, **options: Any) -> Iterator[ox.Quad]:
    """The quads of a source, which may go on after an error."""
    quads = ox.parse(input=cast(IO[bytes], source), format=FORMATS[kind], **options)
    return quads if kind in ("rdf", "jsonld") else map(source.ended, quads)


def _bad_term(statement: ox.Quad | ox.Triple) -> tuple[str, str] | None:
    """What kind of term is malformed in a statement, and its text; None if all are well-formed.

    A literal that does not fit its datatype is well-formed.
    """
    for term in statement:
        kind = type(term)
        language = term.language if kind is ox.Literal else None
        iri = term.datatype if kind is ox.Literal else term
        if language and not LANGUAGE.fullmatch(language):
            return "language tag", language
        if type(iri) is ox.NamedNode and not _is_iri(iri.value):
            return "IRI", iri.value
        if kind is ox.Triple and (found := _bad_term(term)):
            return found
    return None


@lru_cache(maxsize=2**16)
def _is_iri(text: str) -> bool:
    try:
        ox.NamedNode(text)
    except ValueError:
        return False
    return True


def _tables(stream: Stream, faults: Faults) -> Iterator[pl.DataFrame]:
    """The statements of N-Triples or N-Quads, some megabytes at a time; several blocks at once.

    A block with an error is parsed line by line, so that a malformed line costs no other line.
    """
    line, recognize = 1, partial(_recognized, kind=faults.kind)
    for block, table in in_turn(lambda block: (block, recognize(block)), _blocks(stream)):
        if table is not None:  # a row for each line
            line += len(table)
        else:
            content = _parsed_lines(block, faults, line)
            table = columns_of(lines_of(content)) if content else None
            line += block.count(b"\n") + 1
        if table is not None:
            yield table


def _recognized(block: bytes, kind: RdfKind) -> pl.DataFrame | None:
    """The statements of a block if pyoxigraph takes all; None if it has to be parsed in order.

    Lines that are not canonical are parsed together.
    """
    if len(block) > LONGEST_LINE:  # a line of it may be too long
        return None
    try:
        lines = lines_of(block)
    except pl.exceptions.PolarsError:  # no UTF-8
        return None
    odd = ~lines.str.contains(CANONICAL[kind])
    if not odd.any():
        table = columns_of(lines, escapes=False)
        if not table["datatype"].is_in(SHORTENED).any():
            return table
    for name in SHORTENED:
        odd |= lines.str.contains(name, literal=True)
    others = odd.arg_true()
    if len(others):
        asked = "\n".join(lines.gather(others)).encode()
        if asked.count(TRIPLE) > DEEPEST:
            return None
        try:
            mended = _canonical(asked, kind)
        except (SyntaxError, MemoryError):
            return None
        if mended.count(b"\n") != len(others):  # empty lines and comments
            return None
        lines = lines.scatter(others, lines_of(mended))
    return columns_of(lines)


def _parsed_lines(block: bytes, faults: Faults, line: int) -> bytes:
    """A block in canonical form; ``line`` is the number of its first line."""
    refuse_deep_lines(block, faults.place)
    try:
        return _canonical(block, faults.kind)
    except (SyntaxError, MemoryError):
        lines = enumerate(block.split(b"\n"), start=line)
        return b"".join(_canonical_line(text, faults, number) for number, text in lines)


def _canonical(content: bytes, kind: RdfKind) -> bytes:
    parser = ox.parse(input=content, format=FORMATS[kind])
    return cast(bytes, ox.serialize(parser, format=ox.RdfFormat.N_QUADS))


def _canonical_line(text: bytes, faults: Faults, number: int) -> bytes:
    """One line in canonical form; nothing if it is malformed."""
    try:
        return _canonical(text, faults.kind)
    except MemoryError:
        raise InputError(faults.place, TOO_LONG, line=number) from None
    except SyntaxError:
        parser = ox.parse(input=text, format=FORMATS[faults.kind], lenient=True)
    try:
        quads = list(parser)
    except SyntaxError as error:
        faults.syntax_error(error, number)
        return b""
    valid = faults.valid(quads, lambda: number)
    return cast(bytes, ox.serialize(valid, format=ox.RdfFormat.N_QUADS))


def _blocks(stream: Stream) -> Iterator[bytes]:
    """The stream, cut at ends of lines, which are left off."""
    while block := stream.read(BLOCK_BYTES):
        rest = b"" if block.endswith(b"\n") else stream.readline(LONGEST_LINE)
        if len(rest) == LONGEST_LINE:
            raise InputError(stream.place, TOO_LONG)
        yield (block + rest).removesuffix(b"\n")
