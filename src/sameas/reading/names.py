"""Names of entities: from names files, and from URIs where no name is given."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from urllib.parse import unquote

import polars as pl

from sameas.errors import InputError
from sameas.graph import positions_of
from sameas.reading.tables import kind_of, read_table, read_text, shortened

log = logging.getLogger(__name__)

_SURROGATES = re.compile("[\ud800-\udfff]")
"""Halves of characters, which JSON can hold and UTF-8 cannot."""

LABELS = (
    "http://www.w3.org/2000/01/rdf-schema#label",
    "http://www.w3.org/2004/02/skos/core#prefLabel",
    "http://schema.org/name",
    "https://schema.org/name",
    "http://xmlns.com/foaf/0.1/name",
    "http://dbpedia.org/ontology/name",
    "http://purl.org/dc/elements/1.1/title",
    "http://purl.org/dc/terms/title",
)
"""Attributes that hold names, best first."""


def names_from_uris(uris: pl.Series) -> pl.Series:
    """A readable name for each URI: its last part, decoded, with its words apart.

    What follows ``/resource/`` is one part, as in DBpedia's ``AC/DC``. Words joined by camel
    case are split only where nothing else separates them.

    >>> names_from_uris(pl.Series(["http://a.org/x#Saint_%C3%89tienne", "b:BirthPlace"])).to_list()
    ['Saint Étienne', 'b:Birth Place']
    """
    trimmed = uris.str.strip_chars_end("/#")
    frame = pl.DataFrame({"uri": uris, "trimmed": trimmed}).select(
        part=pl.coalesce(
            pl.col("trimmed").str.extract(r"/resource/(.+)$"),
            pl.col("trimmed").str.extract(r"([^/#]+)$"),
            pl.col("uri"),
        )
    )
    escaped = frame["part"].str.contains("%", literal=True)
    if escaped.any():
        decoded = frame["part"].filter(escaped).map_elements(unquote, return_dtype=pl.String)
        frame = frame.with_columns(
            part=frame["part"].scatter(escaped.arg_true(), decoded)  # only those with an escape
        )
    spaced = frame["part"].str.replace_all(r"[_\s]+", " ").str.strip_chars()
    split = spaced.str.replace_all(r"(\p{Ll}|\d)(\p{Lu})", "${1} ${2}").str.replace_all(
        r"(\p{Lu})(\p{Lu}\p{Ll})", "${1} ${2}"
    )
    joined = ~spaced.str.contains(r"[ \-,.(]")
    names: pl.Series = split.zip_with(joined, spaced)
    return names.rename("name")


def names_from_attributes(attributes: pl.DataFrame) -> pl.DataFrame:
    """One name per entity that has a label attribute (table entity, name), the best label first."""
    order = pl.DataFrame({"attribute": LABELS, "order": range(len(LABELS))})
    return (
        attributes.with_row_index("position")
        .join(order, on="attribute", how="inner")
        .sort("order", "position")
        .unique("entity", keep="first", maintain_order=True)
        .select("entity", name="value")
    )


def read_names(path: Path) -> pl.DataFrame:
    """A names file as a table: entity (URI or id, as text) and name.

    Either a table with two columns, or JSON in the shape of ``translated_names.json``:
    ``[[entity, [word, ...]], ...]`` or ``{entity: name}``, where a name is text or a list of words.
    """
    if kind_of(path) == ".json":
        return _read_json_names(path)
    table = read_table(path, ("entity", "name"))
    if not len(table):
        raise InputError(path, "holds no names; two columns expected: entity, name")
    further = len(table) - table["entity"].n_unique()
    if further:
        log.warning("%s: further names of an entity named before were left out: %d", path, further)
    return table.select("entity", "name")


def _read_json_names(path: Path) -> pl.DataFrame:
    shape = "expected [[entity, [word, ...]], ...] or {entity: name}"
    text = read_text(path)
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(path, f"not JSON ({error.msg}); {shape}", line=error.lineno) from None
    except RecursionError:
        raise InputError(path, f"not JSON (nested too deeply); {shape}", line=1) from None
    rows = list(content.items()) if isinstance(content, dict) else content
    if not isinstance(rows, list) or not rows:
        raise InputError(path, f"holds no list of names; {shape}")
    entities, names = [], []
    for number, row in enumerate(rows, start=1):
        name = _name_of(row)
        if name is None:
            found = shortened(json.dumps(row, ensure_ascii=False))
            raise InputError(path, f"{shape}, found {found}", row=number)
        entities.append(str(row[0]))
        names.append(name)
    return pl.DataFrame({"entity": entities, "name": names})


def _name_of(row: object) -> str | None:
    """The name in one [entity, words] row, or None if it has another shape."""
    if not isinstance(row, list | tuple) or len(row) != 2:
        return None
    entity, name = row
    if isinstance(entity, bool) or not isinstance(entity, str | int):
        return None
    if isinstance(name, list) and all(isinstance(word, str) for word in name):
        name = " ".join(name)
    if not isinstance(name, str) or _SURROGATES.search(f"{entity}{name}"):
        return None
    return name


def choose_names(
    entities: pl.Series, given: pl.DataFrame | None, *, ids: pl.Series | None = None
) -> tuple[pl.Series, int]:
    """The name of each entity, from a names table or else its URI; and how many rows were used.

    A row of the table belongs to an entity if it names its URI or, where ``ids`` are given, its id.
    Of several names of one entity the first counts.
    """
    names = names_from_uris(entities)
    if given is None or not len(given):
        return names, 0
    first = given.unique("entity", keep="first", maintain_order=True)
    rows = positions_of(entities, first["entity"]).copy()
    if ids is not None:
        by_id = positions_of(ids.cast(pl.String), first["entity"])
        rows[rows < 0] = by_id[rows < 0]
    found = rows >= 0
    chosen = first["name"].gather(rows.clip(0))
    return chosen.zip_with(pl.Series(found), names).rename("name"), int(found.sum())
