"""Files of links: gold links, and links that were found earlier; suffix and content decide."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl

from sameas.errors import InputError, shortened
from sameas.formats.alignment_api import ALIGN, read_alignment_api
from sameas.formats.files import StrPath, kind_of, limited, open_stream, read_text, require_file
from sameas.formats.name_files import SURROGATES
from sameas.formats.rdf_syntax import head_text, looks_like_rdf
from sameas.formats.same_as import read_same_as
from sameas.formats.sssom import read_sssom
from sameas.formats.tables import TABLE_SUFFIXES, read_table
from sameas.graph.given_tables import NUMBERS
from sameas.graph.link_set import LINK_COLUMNS, LINK_SCHEMA, LinkSet, with_numbers

log = logging.getLogger(__name__)

SHAPE = 'one object a line expected: {"left": ..., "right": ..., "score": ..., "confidence": ...}'


def read_links(path: StrPath, *, max_bytes: int | None = None) -> pl.DataFrame:
    """A table of links: left, right, score and confidence (null where the file has none).

    ``max_bytes`` is how much the file may hold, once it is unpacked.
    """
    with limited(max_bytes):
        return _links(Path(path)).select(LINK_COLUMNS)


def read_link_set(path: Path, *, predicate: str | None = None) -> LinkSet:
    """The links of a file with what it says about them.

    Of formats that hold statements of several kinds, those that say that two entities are the
    same are read: by the usual predicates, or by the one given.
    """
    return _reader(path)(path, predicate)


def read_gold_links(path: Path, *, kind: str | None = None) -> pl.DataFrame:
    """Gold links (left, right, file, line) from a file of links; no links are refused.

    ``kind`` is that of the table, where the name of the file has no suffix.
    """
    if kind is None and _reader(path) is not _read_link_table:
        table = _links(path).with_row_index("line", offset=1).cast({"line": pl.Int64})
    else:
        table = read_table(path, ("left", "right"), kind=kind)
    if not len(table):
        raise InputError(path, "holds no links; two columns expected: left, right")
    return without_duplicates(table.with_columns(file=pl.lit(str(path))))


def without_duplicates(table: pl.DataFrame) -> pl.DataFrame:
    """The table (left, right, file, line) with each link once; duplicates are warned about."""
    first = pl.struct("left", "right").is_first_distinct()
    repeated = table.filter(~first)
    if len(repeated):
        row = repeated.row(0, named=True)
        text = '%s:%d: duplicated links count once: %d, the first is "%s" to "%s"'
        ends = shortened(row["left"]), shortened(row["right"])
        log.warning(text, row["file"], row["line"], len(repeated), *ends)
    return table.filter(first).select("left", "right", "file", "line")


def _links(path: Path) -> pl.DataFrame:
    """The links of a file; what was left out is logged."""
    link_set = read_link_set(path)
    for sentence in link_set.skipped:
        log.warning("%s: left out: %s", path, sentence)
    return link_set.links


def _reader(path: Path) -> Callable[[Path, str | None], LinkSet]:
    """The reader for a file: by its suffix, but RDF by its content."""
    require_file(path)
    kind = kind_of(path)
    if kind not in (*TABLE_SUFFIXES, ".jsonl", ".sssom.tsv") and path.is_file():
        with open_stream(path) as stream:
            head = stream.head
        if looks_like_rdf(head):
            return read_alignment_api if ALIGN in head_text(head) else read_same_as
    known = (*TABLE_SUFFIXES, *READERS)
    if kind not in (*known, ".txt", ""):
        raise InputError(path, f'suffix "{kind}" is not known for links; use {", ".join(known)}')
    return READERS.get(kind, _read_link_table)


def _read_link_table(path: Path, predicate: str | None) -> LinkSet:
    table = read_table(path, ("left", "right"), optional=NUMBERS)
    return LinkSet(links=with_numbers(table).select(LINK_COLUMNS))


def _read_json_lines(path: Path, predicate: str | None) -> LinkSet:
    """The links of a JSON Lines file: an object a line."""
    rows = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            entry = None
        if not isinstance(entry, dict):
            raise InputError(path, f'{SHAPE}, found "{shortened(line)}"', line=number)
        for name in LINK_COLUMNS:
            is_usable, what = (_is_number, "a number") if name in NUMBERS else (_is_text, "text")
            if not is_usable(entry.get(name)):
                value = "nothing" if name not in entry else shortened(json.dumps(entry[name]))
                raise InputError(path, f'{what} expected in "{name}", found {value}', line=number)
        numbers = (None if entry.get(name) is None else float(entry[name]) for name in NUMBERS)
        rows.append((str(entry["left"]), str(entry["right"]), *numbers))
    return LinkSet(links=pl.DataFrame(rows, schema=LINK_SCHEMA, orient="row"))


def _is_number(value: object) -> bool:
    if type(value) is int:  # no bool
        return abs(value) <= sys.float_info.max
    return value is None or isinstance(value, float)


def _is_text(value: object) -> bool:
    if isinstance(value, str):
        return value != "" and not SURROGATES.search(value)
    return type(value) is int


READERS: dict[str, Callable[[Path, str | None], LinkSet]] = {
    ".jsonl": _read_json_lines,
    ".sssom.tsv": read_sssom,
    ".nt": read_same_as,
    ".ttl": read_same_as,
    ".rdf": read_alignment_api,
}
"""The formats besides tables: a reader of a file, given a predicate that also means identity."""
