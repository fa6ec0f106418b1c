"""N-Triples and N-Quads, many lines at a time.

Terms come again and again, and so do the ends of lines: lines are split where the usual spaces
are, and of what comes out each distinct piece is checked but once, by pyoxigraph. A line that
is anything but usual is parsed by pyoxigraph as it is; so is one with a piece that is wrong,
and then the error has its line and column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import polars as pl
import pyoxigraph as ox
from numpy.typing import NDArray

from sameas.errors import InputError
from sameas.graph import Positions
from sameas.reading.statements import LITERAL_SCHEMA, Statements, from_quads, merged
from sameas.reading.streams import Stream
from sameas.reading.syntax import TOO_LONG, format_hint, syntax_error
from sameas.reading.terms import BLANK, IRI, UNCHECKED, WRONG, Codes, Terms

BLOCK_BYTES = 2**23
LONGEST_LINE = 2**24
"""As long as pyoxigraph lets a term be."""
USUAL_TERM = r'^(?:<[^\x00-\x20<>"{}|^`\\]*>|_:[^\s<>"]+)$'
KNOWN_ENDS = 100_000
RESOURCE, LITERAL = "<x:s> <x:p> <x:o> ", '<x:s> <x:p> ""'
"""Statements begin like this, to check how they end."""

Mask = NDArray[np.bool_]


@dataclass
class Lines:
    """What a reader of lines has to remember from one block to the next."""

    stream: Stream
    kind: str
    format: ox.RdfFormat
    terms: Terms
    tag: str
    """What tells the blank nodes of this file from those of others."""
    lenient: bool
    tally: Counter[str]
    ends: dict[str, str | None] = field(default_factory=dict)
    """The language in each beginning and end of a statement that was met, None for wrong ones."""

    def blank(self, label: str) -> str:
        """The term of a blank node."""
        return f"_:{self.tag}{label}"


def read_lines(state: Lines) -> Iterator[Statements]:
    """The statements of N-Triples or N-Quads, a few megabytes at a time."""
    line = 1
    for block in _blocks(state.stream):
        text = _decoded(block, line, state)
        lines = pl.Series("line", [text]).str.split("\n").explode()
        yield _statements(lines, line, state)
        line += len(lines)


def _blocks(stream: Stream) -> Iterator[bytes]:
    """The stream, cut at ends of lines, which are left off."""
    parts: list[bytes] = []
    waiting = 0
    while piece := stream.read(BLOCK_BYTES):
        cut = piece.rfind(b"\n")
        if cut >= 0:
            yield b"".join([*parts, piece[:cut]])
            parts, waiting = [], 0
            piece = piece[cut + 1 :]
        parts.append(piece)
        waiting += len(piece)
        if waiting > LONGEST_LINE:
            raise InputError(stream.place, TOO_LONG)
    if waiting:
        yield b"".join(parts)


def _decoded(block: bytes, line: int, state: Lines) -> str:
    """The text of a block; what is no text is an error, or with --lenient an empty line."""
    try:
        return block.decode()
    except UnicodeDecodeError as error:
        if not state.lenient:
            raise InputError(
                state.stream.place,
                "not UTF-8 text; convert the file to UTF-8",
                line=line + block.count(b"\n", 0, error.start),
                column=error.start - block.rfind(b"\n", 0, error.start),
            ) from None
    kept = []
    for part in block.split(b"\n"):
        try:
            kept.append(part.decode())
        except UnicodeDecodeError:
            kept.append("")
            state.tally["malformed"] += 1
    return "\n".join(kept)


def _statements(lines: pl.Series, first: int, state: Lines) -> Statements:
    """The statements of some lines, the first of which has that number."""
    separator = "\t" if "\t" in str(lines[0]).partition(" ")[0] else " "
    parts = lines.str.splitn(separator, 3).struct.unnest()
    head, relation, rest = parts
    usual = rest.is_not_null().to_numpy()
    heads, usual = _known(head, usual, (IRI, BLANK), state)
    relations, usual = _known(relation, usual, (IRI,), state)
    literal = rest.str.starts_with('"').fill_null(value=False).to_numpy()
    tails, good = _tails(rest, usual & ~literal, separator, state)
    texts, right = _literals(rest, usual & literal, state)
    found = Statements(
        triples=np.stack([heads[good], relations[good], tails[good]], axis=1),
        rows=np.flatnonzero(good),
        literals=pl.DataFrame(
            {"head": heads[right], "relation": relations[right], **texts.to_dict()},
            schema=LITERAL_SCHEMA,
        ),
        literal_rows=np.flatnonzero(right),
    )
    odd = np.flatnonzero(~(good | right))
    if len(odd):
        stripped = lines.gather(odd).str.strip_chars_start(" \t\r")
        odd = odd[((stripped != "") & ~stripped.str.starts_with("#")).to_numpy()]
    return merged(found, _parsed(lines, odd, first, state)) if len(odd) else found


def _known(
    texts: pl.Series, wanted: Mask, kinds: tuple[int, ...], state: Lines
) -> tuple[Codes, Mask]:
    """Numbers for the wanted rows' terms, and which of those rows have a right one."""
    terms = state.terms
    some = texts if wanted.all() else texts.filter(pl.Series(wanted))
    if state.tag:
        blank = some.str.starts_with("_:")
        if blank.any():
            some = (state.blank("") + some.str.slice(2)).zip_with(blank, some)
    codes = terms.codes(some)
    unchecked = np.flatnonzero(terms.states[codes] == UNCHECKED)
    if len(unchecked):
        fresh, first = np.unique(codes[unchecked], return_index=True)
        terms.states[fresh] = _checked(some.gather(unchecked[first]))
    every = np.zeros(len(texts), dtype=np.uint32)
    every[wanted] = codes
    good = wanted.copy()
    good[wanted] = np.isin(terms.states[codes], kinds)
    return every, good


def _checked(texts: pl.Series) -> NDArray[np.uint8]:
    """What each of these terms is: an IRI, a blank node, or wrong."""
    usual = texts.str.contains(USUAL_TERM).to_list()
    states = np.full(len(texts), WRONG, dtype=np.uint8)
    for place, (text, fits) in enumerate(zip(texts.to_list(), usual, strict=True)):
        if not fits:
            continue
        try:
            if text[0] == "<":
                ox.NamedNode(text[1:-1])
                states[place] = IRI
            else:
                ox.BlankNode(text[2:])
                states[place] = BLANK
        except ValueError:
            pass
    return states


def _tails(rest: pl.Series, wanted: Mask, separator: str, state: Lines) -> tuple[Codes, Mask]:
    """Numbers for what follows in the wanted rows, and in which rows that ends as it should."""
    tail, end = rest.filter(pl.Series(wanted)).str.splitn(separator, 2).struct.unnest()
    some, fits = _known(tail, end.is_not_null().to_numpy(), (IRI, BLANK), state)
    languages = _languages(end.filter(pl.Series(fits)), RESOURCE, state)
    fits[fits] = languages.is_not_null().to_numpy()
    codes, good = np.zeros(len(rest), dtype=np.uint32), wanted.copy()
    codes[wanted], good[wanted] = some, fits
    return codes, good


def _literals(rest: pl.Series, wanted: Mask, state: Lines) -> tuple[pl.DataFrame, Mask]:
    """value and language of the wanted rows that are as usual, and which rows those are."""
    _, value, end = rest.filter(pl.Series(wanted)).str.splitn('"', 3).struct.unnest()
    languages = _languages(end.fill_null(""), LITERAL, state)
    plain = languages.is_not_null() & ~value.str.contains(r"[\\\r]").fill_null(value=True)
    good = wanted.copy()
    good[wanted] = plain.to_numpy()
    table = pl.DataFrame({"value": value, "language": languages})
    return table.filter(plain), good


def _languages(ends: pl.Series, begin: str, state: Lines) -> pl.Series:
    """The language in each end of a statement, "" for none, null where the end is wrong."""
    distinct = ends.unique()
    if len(state.ends) > KNOWN_ENDS:
        state.ends.clear()
    found = []
    for end in distinct.to_list():
        key = begin + end
        if key not in state.ends:
            state.ends[key] = _language(key, state.format)
        found.append(state.ends[key])
    table = pl.DataFrame({"end": distinct, "language": pl.Series(found, dtype=pl.String)})
    rows = pl.DataFrame({"end": ends})
    return rows.join(table, on="end", how="left", maintain_order="left")["language"]


def _language(statement: str, format: ox.RdfFormat) -> str | None:
    try:
        found = list(ox.parse(input=statement.encode(), format=format))
    except SyntaxError:
        return None
    if len(found) != 1:
        return None
    value = found[0].object
    return value.language or "" if isinstance(value, ox.Literal) else ""


def _parsed(lines: pl.Series, rows: Positions, first: int, state: Lines) -> Statements:
    """The statements of lines that are not as usual; the first malformed one is an error."""
    texts = lines.gather(rows).to_list()
    try:
        quads = list(ox.parse(input="\n".join(texts).encode(), format=state.format))
        if len(quads) == len(rows) and not any("\r" in text.rstrip("\r") for text in texts):
            return from_quads(quads, state.terms, blank=state.blank, rows=rows)
    except (SyntaxError, MemoryError):
        pass
    quads, places = [], []
    for row, text in zip(rows.tolist(), texts, strict=True):
        try:
            found = list(ox.parse(input=text.encode(), format=state.format))
        except SyntaxError as error:
            if not state.lenient:
                hint = format_hint(state.stream.head, state.kind)
                raise syntax_error(state.stream.place, error, line=first + row, hint=hint) from None
            state.tally["malformed"] += 1
        except MemoryError:
            raise InputError(state.stream.place, TOO_LONG, line=first + row) from None
        else:
            quads += found
            places += [row] * len(found)
    return from_quads(quads, state.terms, blank=state.blank, rows=np.array(places, dtype=np.int64))
