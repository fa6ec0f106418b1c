"""Links from SSSOM: a table of mappings with a block of metadata in front of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import yaml

from sameas.errors import InputError, refusing
from sameas.files import read_text
from sameas.iri import OWL, RDF, RDFS, SKOS
from sameas.links import IDENTITY, SAME_AS, LinkSet, between_ids, left_out
from sameas.reading.tables import POLARS_ERRORS, errors_of, quoted_rows, unreadable
from sameas.tabular import NUMBERS, as_numbers, refuse_repeated

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
        found = yaml.safe_load("\n".join(block))
    found = {} if found is None else found
    if not isinstance(found, dict) or not all(isinstance(name, str) for name in found):
        raise InputError(path, "the metadata block must hold names and values, such as license: x")
    return found


def _prefixes(path: Path, found: object) -> dict[str, str]:
    if not isinstance(found, dict) or not all(
        isinstance(name, str) and isinstance(value, str) for name, value in found.items()
    ):
        raise InputError(path, "curie_map must hold prefixes and the IRIs that they stand for")
    return {name: value for name, value in found.items() if name not in BUILT_IN}


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
