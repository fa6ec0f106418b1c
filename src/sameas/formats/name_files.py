"""Files of names (tables, and JSON), and dictionaries."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl

from sameas.errors import InputError, refusing, shortened
from sameas.formats.files import kind_of, read_text
from sameas.formats.tables import read_table

SURROGATES = re.compile("[\ud800-\udfff]")
"""Halves of characters, which JSON can hold and UTF-8 cannot."""
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
    names = []
    for number, row in enumerate(rows, start=1):
        name = _name_of(row)
        if name is None:
            quoted = shortened(json.dumps(row, ensure_ascii=False))
            raise InputError(path, f"{SHAPE}, found {quoted}", row=number)
        names.append((str(row[0]), name))
    return pl.DataFrame(names, schema=["entity", "name"], orient="row")


def _name_of(row: object) -> str | None:
    """The name in one [entity, words] row, or None if it has another shape."""
    if not isinstance(row, list | tuple) or len(row) != 2:
        return None
    entity, name = row
    if isinstance(entity, bool) or not isinstance(entity, str | int):
        return None
    if isinstance(name, list) and all(isinstance(word, str) for word in name):
        name = " ".join(name)
    if not isinstance(name, str) or SURROGATES.search(f"{entity}{name}"):
        return None
    return name
