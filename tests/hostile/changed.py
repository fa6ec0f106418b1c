"""JSON values, rows of tables and columns of which something is changed by chance."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

LONG = "x" * 200_000
DEEP = 400
TEXTS = (
    *(
        "",
        " ",
        "\t",
        "\0",
        "\ufeff",
        "\u202e",
        "\u2028",
        "é",
        "e\u0301",
        "日本語",
        "ﷺ",
        "\U0001f469",
    ),
    *("nan", "NaN", "inf", "-inf", "Infinity", "null", "None", "true", "1e999", "1e-999", "-0.0"),
    *(
        "9" * 400,
        "0x1f",
        "1_000",
        "١٢٣",
        "²",
        "½",
        "1,5",
        "1 000",
        "+1",
        "--",
        "-",
        "#",
        "%",
        "%00",
    ),
    *("../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "http://127.0.0.1:9/x", "C:\\con"),
    *(
        "<script>",
        "${x}",
        "{{7*7}}",
        "'; DROP TABLE x; --",
        '"',
        "'",
        "\\",
        "`",
        "=1+1",
        "@id",
        "_:b",
    ),
    *("a b", "a\nb", "a\rb", "a\x0bb", "a\x85b", "a\\u0000b", LONG, "a:" + "b/" * 5000),
)
"""Texts that a careless reader stumbles over."""
NUMBERS: tuple[Any, ...] = (
    *(0, -1, 1, 2**31, 2**63, 2**64, -(2**63) - 1, 10**400, 0.1, -0.0, 1e308, 5e-324),
    *(float("nan"), float("inf"), float("-inf"), True, False, None),
)


def _value(chance: random.Random) -> Any:
    """Any JSON value, odd ones first."""
    which = chance.randrange(6)
    if which == 0:
        return chance.choice(NUMBERS)
    if which == 1:
        return chance.choice(TEXTS)
    if which == 2:
        return [chance.choice((*NUMBERS, *TEXTS[:20])) for _ in range(chance.choice((0, 1, 3)))]
    if which == 3:
        return {
            chance.choice(TEXTS[:40]): chance.choice(NUMBERS) for _ in range(chance.randrange(3))
        }
    nested: Any = chance.choice(TEXTS[:10])
    for _ in range(chance.choice((1, 5, DEEP))):
        nested = [nested] if which == 4 else {"a": nested}
    return nested


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = enumerate(value) if isinstance(value, list) else ()
    for key, inner in value.items() if isinstance(value, dict) else items:
        yield from _places(inner, (*path, key))


def changed_json(value: Any, chance: random.Random) -> tuple[str, Any]:
    """A JSON value with something else, less or more at one place."""
    value = json.loads(json.dumps(value))
    path = chance.choice(list(_places(value)))
    if not path:
        return "all of it", _value(chance)
    holder = value
    for key in path[:-1]:
        holder = holder[key]
    key, what = path[-1], chance.randrange(4)
    where = "/".join(map(str, path))[:40]
    if what == 0:
        del holder[key]
        return f"without {where}", value
    if what == 1 and isinstance(holder, dict):
        holder[chance.choice(TEXTS[:40])] = holder.pop(key)
        return f"{where} renamed", value
    if what == 1:
        holder[key:key] = [holder[key]] * chance.choice((1, 3, 1000))
        return f"{where} repeated", value
    holder[key] = _value(chance)
    return f"{where} replaced", value


def as_json(value: Any, chance: random.Random) -> bytes:
    """The value as JSON text: in an encoding, with names twice, or with a mark in front."""
    text = json.dumps(value, ensure_ascii=chance.random() < 0.5)
    if chance.random() < 0.15 and text.startswith("{") and len(text) > 2:
        text = f"{text[:-1]}, {text[1:]}"  # every name twice
    encoded = text.encode(chance.choice(("utf8",) * 6 + ("utf-16", "utf-8-sig")), "surrogatepass")
    return encoded if chance.random() < 0.95 else encoded[: len(encoded) // 2]


def changed_rows(rows: list[list[str]], chance: random.Random) -> tuple[str, list[list[str]]]:
    """The rows of a table with something wrong in one of them, or in all."""
    rows = [list(row) for row in rows]
    at = chance.randrange(len(rows))
    row = rows[at]
    cell = chance.randrange(len(row))
    what = chance.randrange(10)
    if what <= 3:
        row[cell] = chance.choice(TEXTS)
        return f"cell {at},{cell} replaced", rows
    if what == 4:
        del row[cell]
        return f"cell {at},{cell} missing", rows
    if what == 5:
        row[cell:cell] = [row[cell]] * chance.choice((1, 2, 2000))
        return f"cell {at},{cell} repeated", rows
    if what == 6:
        rows[at:at] = [row] * chance.choice((1, 2, 3000))
        return f"row {at} repeated", rows
    if what == 7:
        return "columns turned", [each[::-1] for each in rows]
    if what == 8:
        text = chance.choice(TEXTS[:-2])
        return "a column of one text", [[*each[:cell], text, *each[cell + 1 :]] for each in rows]
    return "one row", [row]


def as_table(rows: list[list[str]], separator: str, chance: random.Random) -> bytes:
    """The rows as text: quoted or not, with other line ends, other encodings, other separators."""
    quote = chance.random() < 0.2
    end = chance.choice(("\n",) * 6 + ("\r\n", "\r", "\n\n"))
    separator = separator if chance.random() < 0.9 else chance.choice(("\t", ",", ";", " ", "|"))
    lines = (separator.join(f'"{cell}"' if quote else cell for cell in row) for row in rows)
    text = end.join(lines) + chance.choice((end, end, ""))
    encoding = chance.choice(("utf8",) * 8 + ("utf-16", "utf-8-sig", "latin-1"))
    return text.encode(encoding, "replace")


def odd_columns(chance: random.Random, size: int) -> list[Any]:
    """Columns of every type that a table may have, of so many values."""
    import polars as pl

    numbers = [chance.choice((0.5, float("nan"), float("inf"), None)) for _ in range(size)]
    texts = [chance.choice((*TEXTS[:60], None)) for _ in range(size)]
    return [
        pl.Series(numbers, dtype=pl.Float64),
        pl.Series(texts, dtype=pl.String),
        pl.Series([None] * size),
        pl.Series([b"\xff\0"] * size),
        pl.Series([[1, None]] * size),
        pl.Series([{"a": 1}] * size),
        pl.Series([2**63] * size, dtype=pl.UInt64),
        pl.Series([True] * size),
        pl.Series([[]] * size),
        pl.Series(texts, dtype=pl.Categorical),
        pl.Series([["a"]] * size, dtype=pl.List(pl.String)),
        pl.Series([1] * size).cast(pl.Decimal(38, 10)),
        pl.Series([10**9] * size).cast(pl.Datetime("ns")),
        pl.Series([[0.1, 0.2]] * size, dtype=pl.Array(pl.Float32, 2)),
        pl.Series([f"l:é{n}" for n in range(size)]),
        pl.Series([0] * size, dtype=pl.Int8),
        pl.Series([float("-inf")] * size, dtype=pl.Float32),
    ]
