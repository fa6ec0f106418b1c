"""Links as SSSOM: a table of mappings with a block of metadata in front of it.

SSSOM names entities by CURIEs, whose IRIs its tools want in ASCII. Prefixes are derived from
the ids; an id with other letters is percent-encoded and stands in full in a column of our own,
as do numbers that SSSOM does not allow (a score below 0 or above 1).

The library curies abbreviates IRIs one at a time and needs the prefixes beforehand; ours are
derived from the IRIs, and whole columns are abbreviated at once.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Mapping
from os.path import commonprefix
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl
import yaml

from sameas._version import __version__
from sameas.alignment import Alignment
from sameas.errors import OptionError
from sameas.iri import is_iri
from sameas.links import LINK_COLUMNS, LinkSet
from sameas.reading.sssom import BUILT_IN, EXTENSIONS

UNLICENSED = "https://w3id.org/sssom/license/unspecified"
UNSPECIFIED = "semapv:UnspecifiedMatching"
WELL_KNOWN = {
    **{namespace: prefix for prefix, namespace in BUILT_IN.items()},
    "urn:sameas:left:": "left",
    "urn:sameas:right:": "right",
    "http://dbpedia.org/resource/": "dbr",
    "http://dbpedia.org/ontology/": "dbo",
    "http://www.wikidata.org/entity/": "wd",
    "http://schema.org/": "schema",
    "http://yago-knowledge.org/resource/": "yago",
}
"""Namespaces and their usual prefixes; others are called ns1, ns2, ..."""
SLOTS = (
    *("mapping_set_id", "mapping_set_version", "mapping_set_title", "mapping_set_description"),
    *("license", "subject_source", "subject_source_version", "object_source"),
    *("object_source_version", "mapping_provider", "mapping_tool", "mapping_tool_version"),
    *("mapping_date", "publication_date", "similarity_measure", "comment", "creator_label"),
)
"""Metadata that a user can give."""
IRI_SLOTS = ("mapping_set_id", "license", "subject_source", "object_source", "mapping_provider")
CHANGED = r"[^\x00-\x7F]|\[|\]"
"""Letters of IRIs that a CURIE cannot have: beyond ASCII, and the brackets around an address."""
UNCHANGED = "".join(chr(code) for code in range(128) if chr(code) not in "[]")
FREQUENT = 0.01
"""The share of IRIs that makes a namespace worth a prefix although a longer one would do."""


def check_meta(meta: Mapping[str, str]) -> Mapping[str, str]:
    """The metadata; an OptionError for a name that SSSOM lacks, or a value that it refuses."""
    for name, value in meta.items():
        if name not in SLOTS or not value:
            known = ", ".join(SLOTS[:5])
            raise OptionError(
                f"`meta` must be NAME=VALUE with a NAME such as {known}, got {name!r} instead"
            )
        if name in IRI_SLOTS and not is_iri(value):
            raise OptionError(f"`meta` {name} must be an IRI, got {value!r} instead")
        if name.endswith("_date") and not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
            raise OptionError(f"`meta` {name} must be a date such as 2030-01-31, got {value!r}")
    return meta


def described(alignment: Alignment) -> LinkSet:
    """The links of an alignment with the names of their entities and how they were found."""
    left, right = alignment.pair.left, alignment.pair.right
    label = pl.col("left").replace_strict(left.entities, left.names, default=None)
    other = pl.col("right").replace_strict(right.entities, right.names, default=None)
    table = alignment.links.select(
        *LINK_COLUMNS,
        subject_label=pl.when(label != "").then(label),
        object_label=pl.when(other != "").then(other),
        mapping_justification=pl.lit("semapv:CompositeMatching"),
    )
    return LinkSet(
        links=table, metadata={"mapping_tool": "sameas", "mapping_tool_version": __version__}
    )


def write_sssom(links: LinkSet, path: Path) -> None:
    """Write an SSSOM table; nothing in it depends on the clock."""
    table = links.links
    iris = {
        "left": _ascii(table["left"]),
        "right": _ascii(table["right"]),
        "predicate": _ascii(links.predicates),
    }
    sources = _sources(links, iris["left"], iris["right"])
    iris |= {slot: pl.Series([iri]) for slot, iri in sources.items()}
    curies, prefixes = _abbreviated(iris, links.prefixes)
    columns = _columns(table, curies)
    body = io.BytesIO()
    columns.write_csv(body, separator="\t")
    metadata = {
        "mapping_set_id": f"urn:sameas:mappings:{hashlib.sha256(body.getvalue()).hexdigest()[:32]}",
        "license": UNLICENSED,
        **{slot: curies[slot][0] for slot in sources},
        **{slot: value for slot, value in links.metadata.items() if slot not in sources},
    }
    definitions = [_definition(name) for name in EXTENSIONS if name in columns.columns]
    if definitions:
        given = metadata.get("extension_definitions")
        metadata["extension_definitions"] = [
            *(given if isinstance(given, list) else []),
            *definitions,
        ]
    block = {"curie_map": {name: prefixes[name] for name in sorted(prefixes)}, **metadata}
    with path.open("wb") as file:
        file.write(_commented(block).encode())
        file.write(body.getvalue())


def _ascii(iris: pl.Series) -> pl.Series:
    """IRIs as URIs that can be abbreviated: some letters are percent-encoded."""
    wide = iris.filter(iris.str.contains(CHANGED)).unique()
    encoded = wide.map_elements(_encoded, return_dtype=pl.String)
    return iris.replace(wide, encoded) if len(wide) else iris


def _encoded(iri: str) -> str:
    return quote(iri, safe=UNCHANGED)


def _sources(links: LinkSet, left: pl.Series, right: pl.Series) -> dict[str, str]:
    """Where the entities come from: as stated, else the namespace that they have in common."""
    found = {}
    for slot, iris in (("subject_source", left), ("object_source", right)):
        given = links.metadata.get(slot)
        if given is None:
            found[slot] = _common(iris).rstrip(":") if len(iris) else ""
        elif str(given).partition(":")[0] not in links.prefixes:  # else it is a CURIE already
            found[slot] = _encoded(str(given))
    return {slot: iri for slot, iri in found.items() if is_iri(iri)}


def _common(iris: pl.Series) -> str:
    """The longest namespace that all these IRIs are in; the most frequent if that says too little.

    >>> _common(pl.Series(["http://a.org/fr/place/x", "http://a.org/fr/person/y"]))
    'http://a.org/fr/'
    """
    shared = commonprefix([str(iris.min()), str(iris.max())])  # noqa: RUF071 (no paths)
    shared = shared[: max(map(shared.rfind, "/#:")) + 1]
    if re.fullmatch(r"[^:/]+:|[^/]+//|", shared):
        return str(iris.to_frame("iri").select(_NAMESPACE.mode().min()).item())
    return shared


_NAMESPACE = pl.coalesce(
    pl.col("iri").str.extract(r"^(.+[/#:])[^/#:]+[/#:]*$"), pl.col("iri").str.extract(r"^([^:]*:)")
)
"""All of an IRI before its last part, which is never empty."""


def _abbreviated(
    iris: Mapping[str, pl.Series], given: Mapping[str, str]
) -> tuple[dict[str, pl.Series], dict[str, str]]:
    """CURIEs for all these IRIs, and the prefixes in them: those given, then derived ones."""
    table = pl.concat(
        column.to_frame("iri").with_columns(slot=pl.lit(slot)) for slot, column in iris.items()
    )
    table = table.with_columns(namespace=_namespaces(table["iri"], given))
    prefixes = {**{name: BUILT_IN[name] for name in ("owl", "semapv")}, **given}
    names = {namespace: name for name, namespace in reversed(prefixes.items())}
    taken = {*prefixes, *WELL_KNOWN.values()}
    number = 0
    for namespace in table["namespace"].unique(maintain_order=True):
        if namespace not in names:
            name = WELL_KNOWN.get(namespace, "")
            while not name or name in prefixes:
                number += 1
                name = f"ns{number}" if f"ns{number}" not in taken else ""
            names[namespace], prefixes[name] = name, namespace
    local = pl.col("iri").str.slice(pl.col("namespace").str.len_chars())
    prefix = pl.col("namespace").replace_strict(names, return_dtype=pl.String)
    table = table.with_columns(curie=prefix + ":" + local)
    return {slot: table.filter(pl.col("slot") == slot)["curie"] for slot in iris}, prefixes


def _namespaces(iris: pl.Series, given: Mapping[str, str]) -> pl.Series:
    """The part of each IRI that a prefix is to stand for.

    It is the longest given one, else all before the last part of the IRI. A namespace of few
    IRIs in one of many gets no prefix: a CURIE may have slashes in it.
    """
    long_first = sorted(filter(None, given.values()), key=lambda text: (-len(text), text))
    stated = [
        pl.when(
            pl.col("iri").str.starts_with(namespace)
            & (pl.col("iri").str.len_chars() > len(namespace))
        ).then(pl.lit(namespace))
        for namespace in long_first
    ]
    table = iris.to_frame("iri").select(
        given=pl.coalesce(*stated, pl.lit(None, dtype=pl.String)), derived=_NAMESPACE
    )
    counts = table.filter(pl.col("given").is_null())["derived"].value_counts(name="count")
    many = counts.filter(pl.col("count") >= max(2.0, FREQUENT * len(iris)))["derived"]
    frequent = sorted({*many, *WELL_KNOWN}, key=len, reverse=True)
    shortened = {
        derived: next((outer for outer in frequent if derived.startswith(outer)), derived)
        for derived in counts["derived"]
    }
    return table.select(pl.coalesce("given", pl.col("derived").replace(shortened))).to_series()


def _columns(table: pl.DataFrame, curies: Mapping[str, pl.Series]) -> pl.DataFrame:
    """The table that is written; columns of our own only where they are needed."""
    further = {
        name: table[name] for name in table.columns if name not in (*LINK_COLUMNS, "predicate")
    }
    unspecified = pl.Series([UNSPECIFIED] * len(table), dtype=pl.String)
    columns = {
        "subject_id": curies["left"],
        "subject_label": further.pop("subject_label", None),
        "predicate_id": curies["predicate"],
        "object_id": curies["right"],
        "object_label": further.pop("object_label", None),
        "mapping_justification": further.pop("mapping_justification", unspecified).fill_null(
            UNSPECIFIED
        ),
        **_numbers("confidence", table["confidence"]),
        **_numbers("similarity_score", table["score"]),
        **further,
        "ext_subject_id": _beyond_ascii(table["left"]),
        "ext_object_id": _beyond_ascii(table["right"]),
    }
    return pl.DataFrame({name: column for name, column in columns.items() if column is not None})


def _numbers(slot: str, numbers: pl.Series) -> dict[str, pl.Series]:
    """A column of numbers from 0 to 1, and all of them in a second one if some are not."""
    allowed = numbers.is_between(0, 1) | numbers.is_null()
    if allowed.all():
        return {slot: numbers}
    return {slot: numbers.set(~allowed, None), f"ext_{numbers.name}": numbers}


def _beyond_ascii(iris: pl.Series) -> pl.Series | None:
    """The IRIs that percent-encoding changes, null for the others; None if there are none."""
    wide = iris.str.contains(CHANGED)
    return iris.set(~wide, None) if wide.any() else None


def _definition(name: str) -> dict[str, str]:
    kind = "double" if name in ("ext_score", "ext_confidence") else "string"
    return {
        "slot_name": name,
        "property": f"urn:sameas:terms:{name.removeprefix('ext_')}",
        "type_hint": f"http://www.w3.org/2001/XMLSchema#{kind}",
    }


def _commented(block: Mapping[str, Any]) -> str:
    text = yaml.safe_dump(dict(block), sort_keys=False, width=2**30)
    return "".join(f"#{line}\n" for line in text.removesuffix("\n").split("\n"))
