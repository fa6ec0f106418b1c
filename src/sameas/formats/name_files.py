"""Files of names (tables, and JSON), and dictionaries."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl

from sameas.errors import InputError, refusing, shortened
from sameas.formats.files import kind_of, read_text
from sameas.formats.tables import read_table

SURROGATES = re.compile("[\ud800-\udfff]")
"""Halves of characters, which JSON can hold and UTF-8 cannot."""
ROWS = (list, tuple)
"""Types of rows; those of JSON are exact, which is faster to ask for."""
SCHEMA = {"entity": pl.String, "name": pl.String}
SHAPE = "expected [[entity, [word, ...]], ...] or {entity: name}"


def read_names(path: Path) -> pl.DataFrame:
    """A names file as a table: entity (URI or id, as text) and name.

    Either a table with two columns, or JSON in the shape of ``translated_names.json``:
    ``[[entity, [word, ...]], ...]`` or ``{entity: name}``, where a name is text or a list of words.
    An entity may have several names, the best first.
    """
    if kind_of(path) == ".json":
        return _read_json_names(path)
    return _read_two_columns(path, ("entity", "name"), "names")


def read_dictionary(path: Path) -> pl.DataFrame:
    """A dictionary: a table of two columns, text and gloss, the usual gloss of a text first."""
    return _read_two_columns(path, ("text", "gloss"), "entries")


def _read_two_columns(path: Path, columns: tuple[str, str], what: str) -> pl.DataFrame:
    table = read_table(path, columns)
    if not len(table):
        raise InputError(path, f"holds no {what}; two columns expected: {', '.join(columns)}")
    return table.select(columns)


def _read_json_names(path: Path) -> pl.DataFrame:
    text = read_text(path)
    with refusing(path, "not JSON", SHAPE):
        content = json.loads(text)
    rows = list(content.items()) if isinstance(content, dict) else content
    if not isinstance(rows, list) or not rows:
        raise InputError(path, f"holds no list of names; {SHAPE}")
    entities, names = [str(_first(row)) for row in rows], list(map(_name_of, rows))
    wrong = None if None not in names else names.index(None)
    if wrong is None and SURROGATES.search("\n".join([*entities, *names])):
        pairs = zip(entities, names, strict=True)
        wrong = next(place for place, pair in enumerate(pairs) if SURROGATES.search("".join(pair)))
    if wrong is not None:
        quoted = shortened(json.dumps(rows[wrong], ensure_ascii=False))
        raise InputError(path, f"{SHAPE}, found {quoted}", row=wrong + 1)
    return pl.DataFrame({"entity": entities, "name": names}, schema=SCHEMA)


def _first(row: Any) -> Any:
    """The first member of a row, if it has any."""
    return row[0] if type(row) in ROWS and row else None


def _name_of(row: Any) -> Any:
    """The name in one [entity, words] row, or None if it has another shape."""
    if type(row) not in ROWS or len(row) != 2 or type(row[0]) not in (str, int):
        return None
    name = row[1]
    if type(name) is list:
        try:
            return " ".join(name)
        except TypeError:  # not all are words
            return None
    return name if type(name) is str else None
