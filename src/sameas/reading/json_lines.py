"""Links from JSON Lines: one object a line with left, right, score and confidence."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl

from sameas.errors import InputError
from sameas.links import LINK_COLUMNS, LINK_SCHEMA, LinkSet
from sameas.reading.tables import read_text, shortened

SHAPE = 'one object a line expected: {"left": ..., "right": ..., "score": ..., "confidence": ...}'

_SURROGATES = re.compile("[\ud800-\udfff]")
"""Halves of characters, which JSON can hold and UTF-8 cannot."""


def read_json_lines(path: Path) -> LinkSet:
    """The links of a JSON Lines file; score and confidence are null where they are missing."""
    rows = [
        _row(path, number, line)
        for number, line in enumerate(read_text(path).split("\n"), start=1)
        if line.strip()
    ]
    return LinkSet(links=pl.DataFrame(rows, schema=LINK_SCHEMA, orient="row"))


def _row(path: Path, number: int, line: str) -> list[Any]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        entry = None
    if not isinstance(entry, dict):
        raise InputError(path, f'{SHAPE}, found "{shortened(line)}"', line=number)
    return [_value(path, number, entry, name) for name in LINK_COLUMNS]


def _value(path: Path, number: int, entry: dict[str, Any], name: str) -> str | float | None:
    value = entry.get(name)
    if isinstance(value, bool):
        pass
    elif name in ("score", "confidence"):
        if value is None:
            return None
        if isinstance(value, int | float):
            try:
                return float(value)
            except OverflowError:
                pass
    elif isinstance(value, int):
        return str(value)
    elif isinstance(value, str) and value and not _SURROGATES.search(value):
        return value
    what = "a number" if name in ("score", "confidence") else "text"
    found = "nothing" if name not in entry else shortened(json.dumps(value))
    raise InputError(path, f'{what} expected in "{name}", found {found}', line=number)
