"""What clients ask, checked: batches of reconciliation queries and requests for data.

Every size is bounded. A request that is not as the API has it is refused by an ``HTTPException``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from starlette.exceptions import HTTPException

MOST_QUERIES = 100
"""Queries of a batch."""
MOST_IDS = 1000
"""Entities that data is asked of at once."""
MOST_PARTS = 50
"""Types, properties, or values of a property in one query."""
MOST_VALUES = 2000
"""Values of properties in a batch."""
MOST_CANDIDATES = 100
CANDIDATES = 10
"""Candidates of a query that sets no limit."""
LONGEST = 1000
"""Characters of a text that are compared; the rest is left out."""

Strict = Literal["any", "all", "should"]


class Value(NamedTuple):
    """A value of a property: a text, or an entity by id, with its name where it was given."""

    text: str
    id: str | None = None


@dataclass(frozen=True, kw_only=True)
class Query:
    """One reconciliation query."""

    text: str = ""
    types: tuple[str, ...] = ()
    strict: Strict = "any"
    """Whether the types restrict candidates (any of them, or all), or only weigh (should)."""
    limit: int = CANDIDATES
    properties: tuple[tuple[str, tuple[Value, ...]], ...] = ()


def parse_batch(text: str) -> dict[str, Query]:
    """The queries of a batch by their keys."""
    batch = _object(_json(text, "queries"), "queries")
    problem = f"a batch must have at most {MOST_QUERIES} queries, got {len(batch)}"
    require(len(batch) <= MOST_QUERIES, problem, 413)
    queries = {key: _query(value, f"query {key[:50]!r}") for key, value in batch.items()}
    values_asked = sum(len(values) for query in queries.values() for _, values in query.properties)
    problem = (
        f"a batch must have at most {MOST_VALUES:,} values of properties, got {values_asked:,}"
    )
    require(values_asked <= MOST_VALUES, problem, 413)
    return queries


def _query(value: Any, where: str) -> Query:
    fields = _object(value, where)
    text: Any = fields.get("query") or ""
    properties = _list(fields.get("properties") or [], f"properties of {where}")
    require(isinstance(text, str), f"the text of {where} must be a string")
    require("query" in fields or properties, f"{where} must have `query` or `properties`")
    types = fields.get("type") or []
    types = _list([types] if isinstance(types, str) else types, f"types of {where}")
    # OpenRefine's types may be objects, as the API's first version had them.
    types = [one.get("id") if isinstance(one, dict) else one for one in types]
    strict: Any = fields.get("type_strict") or "any"
    require(
        strict in ("any", "all", "should") and all(isinstance(one, str) for one in types),
        f"types of {where} must be strings, `type_strict` any, all or should",
    )
    limit: Any = CANDIDATES if fields.get("limit") is None else fields["limit"]
    is_number = isinstance(limit, int | float) and not isinstance(limit, bool)
    require(is_number and limit >= 1, f"`limit` of {where} must be a number of at least 1")
    return Query(
        text=text[:LONGEST].strip(),
        types=tuple(types),
        strict=strict,
        limit=int(min(limit, MOST_CANDIDATES)),
        properties=tuple(_property(one, where) for one in properties),
    )


def _property(value: Any, where: str) -> tuple[str, tuple[Value, ...]]:
    fields = _object(value, f"a property of {where}")
    pid, values = fields.get("pid"), fields.get("v")
    named = isinstance(pid, str) and "v" in fields
    require(named, f"a property of {where} must have `pid`, a string, and `v`")
    values = _list(values if isinstance(values, list) else [values], f"values in {where}")
    return str(pid), tuple(_value(one, where) for one in values if one not in (None, ""))


def _value(value: Any, where: str) -> Value:
    if isinstance(value, dict):
        id, name = value.get("id"), value.get("name") or ""
        known = isinstance(id, str) and isinstance(name, str)
        require(known, f"an entity among the values of {where} must have `id`, a string")
        return Value(name[:LONGEST], id)
    require(not isinstance(value, list), f"a value in {where} must not be a list within a list")
    return Value((value if isinstance(value, str) else json.dumps(value))[:LONGEST])


def parse_extension(text: str) -> tuple[list[str], list[tuple[str, int]]]:
    """A request for data: ids of entities, and properties with how many values of each (0: all)."""
    fields = _object(_json(text, "extend"), "extend")
    ids = _list(fields.get("ids"), "`ids`", MOST_IDS)
    require(all(isinstance(one, str) for one in ids), "`ids` must be strings")
    properties = []
    for one in _list(fields.get("properties"), "`properties`"):
        wanted = _object(one, "a property")
        limit = _object(wanted.get("settings") or {}, "`settings`").get("limit")
        require(isinstance(wanted.get("id"), str), "a property must have `id`, a string")
        properties.append((wanted["id"], whole_number(str(limit or 0), "the setting `limit`")))
    return ids, properties


def whole_number(text: str, where: str) -> int:
    """A text as a whole number."""
    whole = text.isascii() and text.isdecimal() and len(text) <= 9
    require(whole, f"{where} must be a whole number of at least 0")
    return int(text)


def require(met: object, problem: str, status: int = 400) -> None:
    """Refuse the request if a condition is not met."""
    if not met:
        raise HTTPException(status, problem)


def _json(text: str, name: str) -> Any:
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False).encode()  # half a character cannot be encoded
        return value
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise HTTPException(400, f"`{name}` must be JSON ({why[:200]})") from None


def _object(value: Any, where: str) -> dict[str, Any]:
    require(isinstance(value, dict), f"{where} must be a JSON object")
    return dict(value)


def _list(value: Any, where: str, most: int = MOST_PARTS) -> list[Any]:
    require(isinstance(value, list), f"{where} must be a list")
    require(len(value) <= most, f"{where} must be at most {most}, got {len(value)}", 413)
    return list(value)
