"""Tables of records together as one graph: ids of the side, foreign keys as relations."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from sameas.graph.records import CODES, PLAIN_IDS, Records, share_of, words_of
from sameas.options.tuning import TUNING, RecordTuning

log = logging.getLogger(__name__)

WITHIN = frozenset(
    {"parent", "manager", "boss", "supervisor", "leader", "mother", "father", "spouse", "partner"}
    | {"predecessor", "successor", "previous", "next", "reports", "replaces", "replaced"}
)
"""Words of columns that lead to another row of the same table."""
RARE_ID = r"^(?:\d{6,}|.*\d.*[^\d\s].{2,}|.*[^\d\s].*\d.{2,}|\w+:.{4,}|\S{12,})$"
"""Ids that another column does not hold by chance: long numbers, digits beside letters, IRIs."""


@dataclass(frozen=True)
class Key:
    """A column of a table that holds ids of another, or of the same one."""

    column: str
    table: str


def record_tables(
    tables: Sequence[Records], *, tuning: RecordTuning = TUNING.records
) -> dict[str, Any]:
    """Entities, triples, attributes and types of a side's tables, for ``Graph.from_tables``.

    Where there are several tables, the name of each is a type, and ids that stand in two of them
    begin with it. A table without ids whose rows hold two keys is a relation between the two.
    """
    keys = {one.table: find_keys(one, tables, tuning=tuning) for one in tables}
    joins = [one for one in tables if one.id is None and len(keys[one.table]) == 2]
    things = [one for one in tables if one not in joins]
    prefixes = _prefixes(things)
    entities, attributes, triples, types = [], [], [], []
    for one in things:
        ids = prefixes[one.table] + one.ids
        entities.append(ids.rename("entity"))
        triples += [_relation(one, ids, key, tables, prefixes) for key in keys[one.table]]
        attributes.append(_attributes(one, ids, keys[one.table], tables))
        if len(things) > 1:
            types.append(pl.DataFrame({"entity": ids, "type": [one.table] * len(ids)}))
    triples += [_joined(one, keys[one.table], prefixes, tables) for one in joins]
    return {
        "entities": pl.concat(entities),
        "triples": pl.concat([pl.DataFrame(schema=TRIPLES), *triples]),
        "attributes": pl.concat([pl.DataFrame(schema=ATTRIBUTES), *attributes]),
        "types": pl.concat([pl.DataFrame(schema=TYPES), *types]),
    }


TRIPLES = pl.Schema(dict.fromkeys(("head", "relation", "tail"), pl.String))
ATTRIBUTES = pl.Schema(dict.fromkeys(("entity", "attribute", "value"), pl.String))
TYPES = pl.Schema(dict.fromkeys(("entity", "type"), pl.String))


def _prefixes(tables: Sequence[Records]) -> dict[str, str]:
    """What ids of each table begin with: its name, where another table has one of its ids."""
    owners = pl.concat(
        [pl.DataFrame({"id": one.ids, "table": [one.table] * len(one.rows)}) for one in tables]
    )
    clashing = owners.filter(pl.col("id").is_duplicated())["table"].unique()
    return {one.table: f"{one.table}/" if one.table in clashing else "" for one in tables}


def find_keys(
    one: Records, tables: Sequence[Records], *, tuning: RecordTuning = TUNING.records
) -> list[Key]:
    """The columns of a table whose values are ids of a table of the side."""
    keys = []
    for column in one.rows.columns:
        if column in (one.id, *one.name):
            continue
        values = _values(one.rows[column])
        meeting = [
            other
            for other in tables
            if other.id is not None and _meet(values, other.ids, tuning.keys_met)
        ]
        if meeting and one.id is not None and one.rows.schema[column] == pl.String:
            same = share_of(one.rows[column] == one.ids)
            meeting = [other for other in meeting if other is not one or same < tuning.keys_met]
        if target := _target(column, one, meeting):
            keys.append(Key(column, target.table))
    return keys


def called_keys(columns: Sequence[str], tables: Sequence[str]) -> list[str]:
    """The columns that are called ids of other tables; none unless rows relate two of these.

    >>> called_keys(["order_id", "product_id", "amount"], ["orders", "products"])
    ['order_id', 'product_id']
    """
    keys = [
        column
        for column in columns
        if len(words_of(column)) > 1
        and words_of(column)[-1] in PLAIN_IDS
        and any(_is_name_of(words_of(column)[:-1], table) for table in tables)
    ]
    return keys if len(keys) > 1 else []


def _values(column: pl.Series) -> pl.Series:
    """The distinct values of a column."""
    flat = column if column.dtype == pl.String else column.explode()
    return flat.drop_nulls().unique()


def _meet(values: pl.Series, ids: pl.Series, share: float) -> bool:
    return len(values) > 0 and share_of(values.is_in(ids.implode())) >= share


def _target(column: str, one: Records, meeting: Sequence[Records]) -> Records | None:
    """The table that a column leads to, of those whose ids its values meet; None: by chance.

    The column's name says so, or the ids are such that other columns do not hold them by chance.
    """
    words = words_of(column)
    stem = words[:-1] if words[-1:] and words[-1] in (*PLAIN_IDS, *CODES, "ref", "fk") else words
    for other in meeting:
        if _is_name_of(stem, other.table):
            return other
    if WITHIN & set(words) and one in meeting:
        return one
    rare = [other for other in meeting if _are_rare(other.ids)]
    others = [other for other in meeting if other is not one]
    if len(rare) == 1 or (rare and one in rare):
        return one if one in rare and len(rare) > 1 else rare[0]
    return others[0] if stem != words and len(others) == 1 else None


def _are_rare(ids: pl.Series) -> bool:
    return share_of(ids.str.contains(RARE_ID)) > 0.5


def _is_name_of(words: Sequence[str], table: str) -> bool:
    """Whether a column's words are those of a table, in singular or plural.

    >>> [_is_name_of([word], "categories") for word in ("category", "categories", "cat")]
    [True, True, False]
    """
    return bool(words) and _singular("".join(words)) in {
        _singular("".join(words_of(table))),
        _singular(words_of(table)[-1] if words_of(table) else ""),
    }


def _singular(word: str) -> str:
    for plural, single in (("ies", "y"), ("ses", "s"), ("xes", "x"), ("s", "")):
        if word.endswith(plural) and not word.endswith("ss"):
            return word.removesuffix(plural) + single
    return word


def _relation(
    one: Records, ids: pl.Series, key: Key, tables: Sequence[Records], prefixes: dict[str, str]
) -> pl.DataFrame:
    """The triples of a column of keys."""
    target = next(other for other in tables if other.table == key.table)
    edges = _cells(one, ids, key.column).filter(pl.col("value").is_in(target.ids.implode()))
    return edges.select(
        head="entity", relation="attribute", tail=prefixes[key.table] + pl.col("value")
    )


def _joined(
    one: Records, keys: Sequence[Key], prefixes: dict[str, str], tables: Sequence[Records]
) -> pl.DataFrame:
    """The triples of a table whose rows relate two others; other columns are left out and said."""
    further = [column for column in one.rows.columns if column not in {k.column for k in keys}]
    if further:
        text = '%s: rows relate "%s" to "%s"; what else they say is left out: %s'
        log.warning(text, one.table, keys[0].table, keys[1].table, ", ".join(further))
    ends = [prefixes[key.table] + one.rows[key.column] for key in keys]
    table = pl.DataFrame({"head": ends[0], "tail": ends[1]}).drop_nulls()
    known = pl.concat([prefixes[o.table] + o.ids for o in tables if o.id is not None]).implode()
    table = table.filter(pl.col("head").is_in(known), pl.col("tail").is_in(known))
    return table.select("head", relation=pl.lit(one.table), tail="tail")


def _attributes(
    one: Records, ids: pl.Series, keys: Sequence[Key], tables: Sequence[Records]
) -> pl.DataFrame:
    """The cells that are neither ids nor keys: entity, attribute, value.

    Values of a column of keys that are no id of the other table stay attributes.
    """
    targets = {key.column: key.table for key in keys}
    known = {other.table: other.ids.implode() for other in tables}
    parts = []
    for column in one.rows.columns:
        if column == one.id and words_of(column)[-1] in PLAIN_IDS:
            continue
        cells = _cells(one, ids, column)
        if column in targets:
            cells = cells.filter(~pl.col("value").is_in(known[targets[column]]))
        parts.append(cells)
    if len(one.name) > 1:
        joined = pl.concat_str(pl.col(*one.name), separator=" ", ignore_nulls=True)
        text = one.rows.select(joined.alias(name_attribute(one))).to_series()
        parts.append(_cells(replace(one, rows=pl.DataFrame([text])), ids, text.name))
    return pl.concat([pl.DataFrame(schema=ATTRIBUTES), *parts])


def name_attribute(one: Records) -> str:
    """The attribute that holds the names: a column, or several together."""
    return " ".join(one.name)


def _cells(one: Records, ids: pl.Series, column: str) -> pl.DataFrame:
    """The filled cells of a column: entity, attribute, value."""
    cells = pl.DataFrame({"entity": ids, "value": one.rows[column]})
    if one.rows.schema[column] != pl.String:
        cells = cells.explode("value")
    cells = cells.filter(pl.col("value").str.strip_chars() != "")
    return cells.select("entity", attribute=pl.lit(column), value="value")
