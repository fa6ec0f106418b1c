"""Links as SSSOM: a table of mappings with a block of metadata in front of it.

SSSOM names entities by CURIEs, whose IRIs its tools want in ASCII. Prefixes are derived from
the ids; an id with other letters is percent-encoded and stands in full in a column of our own,
as do numbers that SSSOM does not allow (a score below 0 or above 1).
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import polars as pl
import yaml

from sameas.errors import OptionError
from sameas.iri import is_iri, to_iris
from sameas.links import LinkSet
from sameas.reading.sssom import BUILT_IN, EXTENSIONS
from sameas.writing.same_as import without_blank_nodes

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
"""Namespaces and the prefixes that are usual for them; others are called ns1, ns2, ..."""
SETTINGS = (
    *("mapping_set_id", "mapping_set_version", "mapping_set_title", "mapping_set_description"),
    *("license", "subject_source", "subject_source_version", "object_source"),
    *("object_source_version", "mapping_provider", "mapping_tool", "mapping_tool_version"),
    *("mapping_date", "publication_date", "similarity_measure", "comment", "creator_label"),
)
"""Statements about a set of mappings that a user can make with ``--meta``."""
IRI_SETTINGS = ("mapping_set_id", "license", "subject_source", "object_source", "mapping_provider")
CHANGED = r"[^\x00-\x7F]|\[|\]"
"""Letters of IRIs that a CURIE cannot have: beyond ASCII, and the brackets around an address."""
UNCHANGED = "".join(chr(code) for code in range(128) if chr(code) not in "[]")
FREQUENT = 0.01
"""The share of IRIs that makes a namespace worth a prefix although a longer one would do."""
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


class _Dumper(yaml.SafeDumper):
    """YAML in which text with line breaks and the like is quoted and escaped."""


def _quoted(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    simple = text.isascii() and text.isprintable()
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if simple else '"')


_Dumper.add_representer(str, _quoted)


def write_sssom(links: LinkSet, path: Path) -> list[str]:
    """Write an SSSOM table; nothing in it depends on the clock."""
    links, lost = without_blank_nodes(links)
    table = links.links
    iris = {
        "left": _ascii(to_iris(table["left"], side="left")),
        "right": _ascii(to_iris(table["right"], side="right")),
        "predicate": _ascii(links.predicates),
    }
    sources = _sources(links, iris)
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
    extensions = [name for name in EXTENSIONS if name in columns.columns]
    if extensions:
        given = metadata.get("extension_definitions")
        metadata["extension_definitions"] = [
            *(given if isinstance(given, list) else []),
            *(_definition(name) for name in extensions),
        ]
    block = {"curie_map": {name: prefixes[name] for name in sorted(prefixes)}, **metadata}
    with path.open("wb") as file:
        file.write(_commented(block).encode())
        file.write(body.getvalue())
    return lost


def settings(given: Iterable[str]) -> dict[str, str]:
    """The statements in texts such as "license=https://..."; one that SSSOM lacks is refused."""
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if name not in SETTINGS or not equals or not value:
            raise OptionError(
                f"meta must be NAME=VALUE with a NAME such as {', '.join(SETTINGS[:5])}, "
                f"got {text!r} instead"
            )
        if name in IRI_SETTINGS and not is_iri(value):
            raise OptionError(f"meta {name} must be an IRI, got {value!r} instead")
        if name.endswith("_date") and not _DATE.fullmatch(value):
            raise OptionError(f"meta {name} must be a date such as 2030-01-31, got {value!r}")
        found[name] = value
    return found


def _ascii(iris: pl.Series) -> pl.Series:
    """IRIs as URIs that can be abbreviated: some letters are percent-encoded."""
    wide = iris.str.contains(CHANGED)
    if not wide.any():
        return iris
    encoded = iris.filter(wide).map_elements(_encoded, return_dtype=pl.String)
    changed: pl.Series = iris.clone().scatter(wide.arg_true(), encoded)
    return changed


def _encoded(iri: str) -> str:
    return quote(iri, safe=UNCHANGED)


def _split(iris: pl.Series) -> pl.Series:
    """The namespace of each IRI: all before its last part, which is never empty."""
    frame = iris.alias("iri").to_frame()
    return frame.select(
        pl.coalesce(
            pl.col("iri").str.extract(r"^(.+[/#:])[^/#:]+[/#:]*$"),
            pl.col("iri").str.extract(r"^([^:]*:)"),
        )
    ).to_series()


def _abbreviated(
    iris: Mapping[str, pl.Series], given: Mapping[str, str]
) -> tuple[dict[str, pl.Series], dict[str, str]]:
    """CURIEs for all these IRIs, and the prefixes in them: those given, then derived ones."""
    whole = pl.concat([some.alias("iri") for some in iris.values()])
    namespaces = _namespaces(whole, given)
    prefixes = {**{name: BUILT_IN[name] for name in ("owl", "semapv")}, **given}
    names = {namespace: name for name, namespace in reversed(prefixes.items())}
    taken = {*prefixes, *WELL_KNOWN.values()}
    number = 0
    for namespace in namespaces.unique(maintain_order=True):
        if namespace in names:
            continue
        name = WELL_KNOWN.get(namespace, "")
        while not name or name in prefixes:
            number += 1
            name = f"ns{number}" if f"ns{number}" not in taken else ""
        names[namespace], prefixes[name] = name, namespace
    curies = (
        pl.DataFrame({"iri": whole, "ns": namespaces})
        .select(
            pl.col("ns").replace_strict(names, return_dtype=pl.String)
            + ":"
            + pl.col("iri").str.slice(pl.col("ns").str.len_chars())
        )
        .to_series()
    )
    ends = np.cumsum([len(some) for some in iris.values()]).tolist()
    return {
        name: curies.slice(end - len(some), len(some))
        for (name, some), end in zip(iris.items(), ends, strict=True)
    }, prefixes


def _namespaces(iris: pl.Series, given: Mapping[str, str]) -> pl.Series:
    """The part of each IRI that a prefix is to stand for.

    It is the longest given one, else all before the last part of the IRI. A namespace of few
    below one of many gets no prefix of its own: a CURIE may have slashes in it.
    """
    found = pl.Series("ns", [None] * len(iris), dtype=pl.String)
    lengths = iris.str.len_chars()
    for namespace in sorted({*given.values(), ""}, key=lambda text: (len(text), text))[1:]:
        found = found.set(iris.str.starts_with(namespace) & (lengths > len(namespace)), namespace)
    own = _split(iris).alias("ns")
    counts = own.filter(found.is_null()).value_counts(name="count")
    least = max(2.0, FREQUENT * len(iris))
    many = set(counts.filter(pl.col("count") >= least)["ns"]) | set(WELL_KNOWN)
    rolled = {namespace: _rolled_up(namespace, many) for namespace in counts["ns"]}
    return found.fill_null(own.replace(rolled))


def _rolled_up(namespace: str, many: set[str]) -> str:
    """The longest namespace of many IRIs that this one is in, else itself."""
    if namespace in many:
        return namespace
    for end in range(len(namespace) - 1, 0, -1):
        if namespace[end - 1] in "/#:" and namespace[:end] in many:
            return namespace[:end]
    return namespace


def _columns(table: pl.DataFrame, curies: Mapping[str, pl.Series]) -> pl.DataFrame:
    """The table that is written; columns of our own only where they are needed."""
    further = {
        name: table[name]
        for name in table.columns
        if name not in ("left", "right", "score", "confidence", "predicate")
    }
    columns = {
        "subject_id": curies["left"],
        "subject_label": further.pop("subject_label", None),
        "predicate_id": curies["predicate"],
        "object_id": curies["right"],
        "object_label": further.pop("object_label", None),
        "mapping_justification": further.pop(
            "mapping_justification", pl.Series([UNSPECIFIED] * len(table), dtype=pl.String)
        ).fill_null(UNSPECIFIED),
        **_numbers("confidence", "confidence", table),
        **_numbers("score", "similarity_score", table),
        **further,
        "ext_subject_id": _beyond_ascii(table["left"]),
        "ext_object_id": _beyond_ascii(table["right"]),
    }
    return pl.DataFrame(
        {name: values for name, values in columns.items() if values is not None},
    )


def _numbers(name: str, slot: str, table: pl.DataFrame) -> dict[str, pl.Series | None]:
    """A column of numbers from 0 to 1, and all of them in a second one if some are not."""
    allowed = table[name].is_between(0, 1) | table[name].is_null()
    if allowed.all():
        return {slot: table[name]}
    fitting = table.select(pl.when(allowed).then(name)).to_series()
    return {slot: fitting, f"ext_{name}": table[name]}


def _beyond_ascii(ids: pl.Series) -> pl.Series | None:
    """The ids that percent-encoding changes, null for the others; None if there are none."""
    wide = to_iris(ids, side="left").str.contains(CHANGED)
    return ids.to_frame("id").select(pl.when(wide).then("id")).to_series() if wide.any() else None


def _sources(links: LinkSet, iris: Mapping[str, pl.Series]) -> dict[str, str]:
    """Where the entities come from: as stated, else the namespace that they have in common."""
    found = {}
    for slot, side in (("subject_source", "left"), ("object_source", "right")):
        given = links.metadata.get(slot)
        if given is not None:
            prefix = str(given).partition(":")[0]
            if isinstance(given, str) and is_iri(given) and prefix not in links.prefixes:
                found[slot] = _encoded(given)
        elif len(iris[side]):
            found[slot] = _common(iris[side]).rstrip(":")
    return {slot: iri for slot, iri in found.items() if is_iri(iri)}


def _common(iris: pl.Series) -> str:
    """The longest namespace that all these IRIs are in, or that of most if it is none to speak of.

    >>> _common(pl.Series(["http://a.org/fr/place/x", "http://a.org/fr/person/y"]))
    'http://a.org/fr/'
    """
    ends = str(iris.min()), str(iris.max())  # what the first and the last share, all share
    length = next((i for i, (a, b) in enumerate(zip(*ends, strict=False)) if a != b), None)
    shared = ends[0][:length]
    shared = shared[: max(map(shared.rfind, "/#:")) + 1]
    if re.fullmatch(r"[^:/]+:|[^/]+//|", shared):
        counts = _split(iris).alias("ns").value_counts(name="count")
        most = counts.filter(pl.col("count") == counts["count"].max())["ns"]
        return str(most.min())
    return shared


def _definition(name: str) -> dict[str, str]:
    kind = "double" if name in ("ext_score", "ext_confidence") else "string"
    return {
        "slot_name": name,
        "property": f"urn:sameas:terms:{name.removeprefix('ext_')}",
        "type_hint": f"http://www.w3.org/2001/XMLSchema#{kind}",
    }


def _commented(block: Mapping[str, Any]) -> str:
    text = yaml.dump(dict(block), Dumper=_Dumper, sort_keys=False, width=2**30)
    return "".join(f"#{line}\n" for line in text.removesuffix("\n").split("\n"))
