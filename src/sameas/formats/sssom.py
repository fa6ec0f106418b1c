"""Links as SSSOM, a table of mappings with a block of metadata in front of it: read and write.

SSSOM names entities by CURIEs, whose IRIs its tools want in ASCII. Prefixes are derived from
the ids; an id with other letters is percent-encoded and stands in full in a column of our own,
as do numbers that SSSOM does not allow (a score below 0 or above 1).

The library curies abbreviates IRIs one at a time and needs the prefixes beforehand; ours are
derived from the IRIs, and whole columns are abbreviated at once.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from itertools import count
from os.path import commonprefix
from pathlib import Path
from textwrap import indent
from typing import Any
from urllib.parse import quote

import polars as pl

from sameas.errors import InputError, OptionError, refusing
from sameas.formats.files import read_text
from sameas.formats.tables import POLARS_ERRORS, errors_of, quoted_rows, unreadable
from sameas.graph.given_tables import NUMBERS, as_numbers, refuse_repeated
from sameas.graph.iri import OWL, RDF, RDFS, SKOS, XSD, is_iri
from sameas.graph.link_set import IDENTITY, SAME_AS, LinkSet, between_ids, left_out

BUILT_IN = {
    "owl": OWL,
    "rdf": RDF,
    "rdfs": RDFS,
    "semapv": "https://w3id.org/semapv/vocab/",
    "skos": SKOS,
    "sssom": "https://w3id.org/sssom/",
}
"""Prefixes that need not be declared, and mean nothing else."""
EXTENSIONS = ("ext_subject_id", "ext_object_id", "ext_score", "ext_confidence")
"""Our own columns, for values that SSSOM's cannot hold."""
USED = (
    *("subject_id", "object_id", "predicate_id", "predicate_modifier"),
    *("similarity_score", "confidence", *EXTENSIONS),
)
"""The columns from which those of links are made."""
NO_TERM = "https://w3id.org/sssom/NoTermFound"


def read_sssom(path: Path, predicate: str | None = None) -> LinkSet:
    """The mappings of an SSSOM file that say of two entities that they are the same.

    Those with another predicate (broader, close, ...), with the modifier "Not" or without a
    counterpart are counted and left out. Further columns and metadata are kept.
    """
    block, body = _parts(read_text(path))
    metadata = _metadata(path, block)
    prefixes = _prefixes(path, metadata.pop("curie_map", None) or {})
    if isinstance(extensions := metadata.pop("extension_definitions", None), list):
        extensions = [one for one in extensions if not _is_ours(one)]
    if extensions:
        metadata["extension_definitions"] = extensions
    table = _table(path, body, len(block))
    for name in ("subject_id", "object_id"):
        if name not in table.columns:
            raise InputError(path, f"column {name} expected, found {', '.join(table.columns)}")
    known = {**prefixes, **BUILT_IN}
    made = ("left", "right", "score", "confidence", "predicate", "line")
    lacking = [pl.lit(None, pl.String).alias(name) for name in USED if name not in table.columns]
    links = table.with_columns(lacking).select(
        pl.exclude(*USED, *made),
        "predicate_modifier",
        left=pl.coalesce("ext_subject_id", _expanded("subject_id", known)),
        right=pl.coalesce("ext_object_id", _expanded("object_id", known)),
        score=pl.coalesce("ext_score", "similarity_score"),
        confidence=pl.coalesce("ext_confidence", "confidence"),
        predicate=_expanded("predicate_id", known).fill_null(SAME_AS),
        line=pl.int_range(len(block) + 2, len(block) + pl.len() + 2, dtype=pl.Int64),
    )
    wanted = links.filter(
        pl.col("predicate").is_in([*IDENTITY, predicate or SAME_AS]),
        pl.col("predicate_modifier").fill_null("") != "Not",
        ~pl.any_horizontal(pl.col("left", "right").fill_null(NO_TERM).is_in(["", NO_TERM])),
    )
    empty = [each.name for each in wanted if each.null_count() == len(wanted)]
    with errors_of(path, wanted["line"]):
        numbers = as_numbers(wanted, NUMBERS)
    further = pl.exclude(*made, "predicate_modifier", *empty)
    others = len(links) - len(wanted)
    return LinkSet(
        links=between_ids(numbers.select(*made[:-1], further)),
        metadata=metadata,
        prefixes=prefixes,
        skipped=left_out({"mappings that do not say that two entities are the same": others}),
    )


def _parts(text: str) -> tuple[list[str], str]:
    """The lines of the metadata block, and the table that follows it."""
    block = []
    while text.startswith("#"):
        line, _, text = text.partition("\n")
        block.append(line[1:].removesuffix("\r"))
    return block, text


def _metadata(path: Path, block: list[str]) -> dict[str, Any]:
    with refusing(path, "the metadata block is not YAML", "mend it"):
        from sameas.formats.yaml_text import load_text  # slow to import

        metadata = load_text("\n".join(block))
    metadata = {} if metadata is None else metadata
    if not isinstance(metadata, dict) or not all(isinstance(name, str) for name in metadata):
        raise InputError(path, "the metadata block must hold names and values, such as license: x")
    return metadata


def _prefixes(path: Path, given: object) -> dict[str, str]:
    if not isinstance(given, dict) or not all(
        isinstance(name, str) and isinstance(value, str) for name, value in given.items()
    ):
        raise InputError(path, "curie_map must hold prefixes and the IRIs that they stand for")
    return {name: value for name, value in given.items() if name not in BUILT_IN}


def _table(path: Path, body: str, above: int) -> pl.DataFrame:
    """The table as text; null where a field is empty."""
    try:
        table = pl.read_csv(body.encode(), separator="\t", has_header=False, infer_schema=False)
    except pl.exceptions.NoDataError:
        raise InputError(
            path, "holds no table; columns subject_id, predicate_id, object_id expected"
        ) from None
    except POLARS_ERRORS as error:
        width = None
        for line, row in quoted_rows(path, body, "\t", above=above):
            width = width or len(row)
            if len(row) > width:
                problem = f"{width} tab-separated columns expected, found {len(row)}"
                problem = f"{problem}; is a quote left open?"
                raise InputError(path, problem, line=line) from None
        raise unreadable(path, error) from None
    cells = ["" if cell is None else cell for cell in table.row(0)]
    with errors_of(path, header=above + 1):
        refuse_repeated(cells, cells)
    return table.slice(1).rename(dict(zip(table.columns, cells, strict=True)))


def _expanded(column: str, prefixes: dict[str, str]) -> pl.Expr:
    """The IRIs of CURIEs; what has no known prefix stays as it is."""
    name = pl.col(column).str.extract(r"^([^:]*):")
    known = name.replace_strict(prefixes, default=None, return_dtype=pl.String)
    return pl.coalesce(known + pl.col(column).str.replace(r"^[^:]*:", ""), column)


def _is_ours(definition: object) -> bool:
    """Whether an extension is one of our own columns, which is defined anew when needed."""
    return isinstance(definition, dict) and definition.get("slot_name") in EXTENSIONS


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
FREQUENT = 0.01
"""The share of IRIs that makes a namespace worth a prefix although a longer one would do."""
NAMESPACE = pl.coalesce(
    pl.col("iri").str.extract(r"^(.+[/#:])[^/#:]+[/#:]*$"), pl.col("iri").str.extract(r"^([^:]*:)")
)
"""All of an IRI before its last part, which is never empty."""
FIRST_COLUMNS = (
    *("subject_id", "subject_label", "predicate_id", "object_id", "object_label"),
    *("mapping_justification", "confidence", "ext_confidence", "similarity_score", "ext_score"),
)


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


def write_sssom(links: LinkSet, path: Path) -> None:
    """Write an SSSOM table; nothing in it depends on the clock."""
    iris = {
        "subject_id": _ascii(links.links["left"]),
        "object_id": _ascii(links.links["right"]),
        "predicate_id": _ascii(links.predicates),
    }
    sources = _sources(links, iris["subject_id"], iris["object_id"])
    iris |= {slot: pl.Series([iri]) for slot, iri in sources.items()}
    curies, prefixes = _abbreviated(iris, links.prefixes)
    columns = _columns(links.links, curies)
    body = columns.write_csv(separator="\t").encode()
    metadata = {
        "mapping_set_id": f"urn:sameas:mappings:{hashlib.sha256(body).hexdigest()[:32]}",
        "license": UNLICENSED,
        **{slot: curies[slot][0] for slot in sources},
        **{slot: value for slot, value in links.metadata.items() if slot not in sources},
    }
    definitions = [
        {
            "slot_name": name,
            "property": f"urn:sameas:terms:{name.removeprefix('ext_')}",
            "type_hint": f"{XSD}{'double' if columns[name].dtype.is_numeric() else 'string'}",
        }
        for name in EXTENSIONS
        if name in columns.columns
    ]
    if definitions:
        stated = metadata.get("extension_definitions")
        earlier = stated if isinstance(stated, list) else []
        metadata["extension_definitions"] = [*earlier, *definitions]
    block = {"curie_map": dict(sorted(prefixes.items())), **metadata}
    from sameas.formats.yaml_text import dump_text

    text = dump_text(block)
    path.write_bytes(indent(text, "#", lambda line: True).encode() + body)


def _ascii(iris: pl.Series) -> pl.Series:
    """IRIs as URIs that can be abbreviated: some letters are percent-encoded."""
    letters = ["[", *iris.str.extract_all(CHANGED).explode().drop_nulls().unique()]
    return iris.str.replace_many(letters, [quote(letter) for letter in letters])


def _sources(links: LinkSet, left: pl.Series, right: pl.Series) -> dict[str, str]:
    """Where the entities come from: as stated, else the namespace that they have in common."""
    beginnings = {}
    for slot, iris in (("subject_source", left), ("object_source", right)):
        iris = iris.filter(iris != NO_TERM)
        stated = links.metadata.get(slot)
        if stated is None:
            beginnings[slot] = _common(iris).rstrip(":") if len(iris) else ""
        elif str(stated).partition(":")[0] not in links.prefixes:  # else it is a CURIE already
            beginnings[slot] = _ascii(pl.Series([str(stated)]))[0]
    return {slot: iri for slot, iri in beginnings.items() if is_iri(iri)}


def _common(iris: pl.Series) -> str:
    """The longest namespace that all these IRIs are in; the most frequent if that says too little.

    >>> _common(pl.Series(["http://a.org/fr/place/x", "http://a.org/fr/person/y"]))
    'http://a.org/fr/'
    """
    shared = commonprefix([str(iris.min()), str(iris.max())])  # noqa: RUF071 (no paths)
    shared = shared[: max(map(shared.rfind, "/#:")) + 1]
    if re.fullmatch(r"[^:/]+:|[^/]+//|", shared):
        return str(iris.to_frame("iri").select(NAMESPACE.mode().min()).item())
    return shared


def _abbreviated(
    iris: Mapping[str, pl.Series], given: Mapping[str, str]
) -> tuple[dict[str, pl.Series], dict[str, str]]:
    """CURIEs for all these IRIs, and the prefixes in them: those given, then derived ones.

    A prefix stands for the longest given namespace, else for all before the last part of an IRI.
    A namespace of few IRIs in one of many gets no prefix: a CURIE may have slashes in it.
    """
    prefixes = {**{name: BUILT_IN[name] for name in ("owl", "semapv")}, **given}
    table = pl.concat(
        column.to_frame("iri").with_columns(slot=pl.lit(slot)) for slot, column in iris.items()
    ).with_columns(
        derived=NAMESPACE, given=pl.col("iri").str.extract(f"(?s)^({_any_of(prefixes.values())}).")
    )
    many = table.filter(
        pl.col("given").is_null()
        & (pl.len().over("given", "derived") >= max(2.0, FREQUENT * len(table)))
    )["derived"]
    outer = pl.col("derived").str.extract(f"^({_any_of({*many, *WELL_KNOWN})})")
    table = table.with_columns(namespace=pl.coalesce("given", outer, "derived"))
    names = {namespace: name for name, namespace in reversed(prefixes.items())}
    new_names = (name for name in map("ns{}".format, count(1)) if name not in given)
    for namespace in table["namespace"].unique(maintain_order=True):
        if namespace not in names:
            usual = WELL_KNOWN.get(namespace)
            name = next(new_names) if usual is None or usual in prefixes else usual
            names[namespace], prefixes[name] = name, namespace
    local = pl.col("iri").str.slice(pl.col("namespace").str.len_chars())
    prefix = pl.col("namespace").replace_strict(names, return_dtype=pl.String)
    table = table.with_columns(curie=prefix + ":" + local)
    return {slot: table.filter(pl.col("slot") == slot)["curie"] for slot in iris}, prefixes


def _any_of(texts: Iterable[str]) -> str:
    """A regular expression for any of these texts, the longest if several fit."""
    longest_first = sorted(filter(None, texts), key=lambda text: (-len(text), text))
    return "|".join(map(pl.escape_regex, longest_first))


def _columns(table: pl.DataFrame, curies: Mapping[str, pl.Series]) -> pl.DataFrame:
    """The table that is written; columns of our own only where SSSOM's cannot hold a value."""
    stated = [name for name in table.columns if name == "mapping_justification"]
    columns = table.with_columns(
        *(curies[name].alias(name) for name in ("subject_id", "predicate_id", "object_id")),
        pl.coalesce(*stated, pl.lit(UNSPECIFIED)).alias("mapping_justification"),
        pl.when(pl.col("confidence").is_between(0, 1)).then("confidence").alias("confidence"),
        pl.when(pl.col("score").is_between(0, 1)).then("score").alias("similarity_score"),
        ext_confidence="confidence",
        ext_score="score",
        ext_subject_id=pl.when(pl.col("left").str.contains(CHANGED)).then("left"),
        ext_object_id=pl.when(pl.col("right").str.contains(CHANGED)).then("right"),
    )
    held = {"ext_confidence": "confidence", "ext_score": "similarity_score"}
    unneeded = [ours for ours, theirs in held.items() if columns[ours].equals(columns[theirs])]
    for name in ("ext_subject_id", "ext_object_id"):
        if columns[name].null_count() == len(columns):
            unneeded.append(name)
    dropped = {"left", "right", "score", "predicate", *unneeded}
    order = dict.fromkeys([*FIRST_COLUMNS, *columns.columns])
    return columns.select(name for name in order if name in columns.columns and name not in dropped)
