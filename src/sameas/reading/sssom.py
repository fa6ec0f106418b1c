"""Links from SSSOM: a table of mappings with a block of metadata in front of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import yaml

from sameas.errors import InputError, first_line, refusing, shortened
from sameas.files import read_text
from sameas.iri import OWL, RDF, RDFS, SKOS
from sameas.links import IDENTITY, SAME_AS, LinkSet, between_ids, left_out
from sameas.reading.tables import POLARS_ERRORS, as_numbers, quoted_rows
from sameas.tabular import NUMBERS, TableError, refuse_repeated

BUILT_IN = {
    "owl": OWL,
    "rdf": RDF,
    "rdfs": RDFS,
    "semapv": "https://w3id.org/semapv/vocab/",
    "skos": SKOS,
    "sssom": "https://w3id.org/sssom/",
}
"""Prefixes that need not be declared, and mean nothing else."""
EXTENSIONS = {
    "ext_subject_id": "left",
    "ext_object_id": "right",
    "ext_score": "score",
    "ext_confidence": "confidence",
}
"""Our own columns, for values that SSSOM's cannot hold, and the column of links that each is."""
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
    links = table.with_columns(
        _expanded(table["subject_id"], known).alias("left"),
        _expanded(table["object_id"], known).alias("right"),
        _expanded(_column(table, "predicate_id"), known).fill_null(SAME_AS).alias("predicate"),
        _column(table, "predicate_modifier").fill_null("").alias("predicate_modifier"),
        line=pl.int_range(len(block) + 2, len(block) + pl.len() + 2, dtype=pl.Int64),
    )
    wanted = links.filter(
        pl.col("predicate").is_in([*IDENTITY, predicate or SAME_AS])
        & (pl.col("predicate_modifier") != "Not")
        & ~pl.any_horizontal(pl.col("left", "right").fill_null(NO_TERM).is_in(["", NO_TERM]))
    ).drop("predicate_modifier")
    others = len(links) - len(wanted)
    return LinkSet(
        links=_link_columns(path, wanted),
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
        cells = ["" if cell is None else cell for cell in table.row(0)]
        refuse_repeated(cells, cells)
    except pl.exceptions.NoDataError:
        raise InputError(
            path, "holds no table; columns subject_id, predicate_id, object_id expected"
        ) from None
    except TableError as error:
        raise InputError(path, error.message, line=above + 1) from None
    except POLARS_ERRORS as error:
        width = None
        for line, row in quoted_rows(path, body, "\t", above=above):
            width = width or len(row)
            if len(row) > width:
                raise InputError(
                    path,
                    f"{width} tab-separated columns expected, found {len(row)}; is a quote "
                    "left open?",
                    line=line,
                ) from None
        raise InputError(
            path, f"cannot be read as a table ({shortened(first_line(error))})"
        ) from None
    return table.slice(1).rename(dict(zip(table.columns, cells, strict=True)))


def _column(table: pl.DataFrame, name: str) -> pl.Series:
    """A column, or one without values where the table lacks it."""
    if name in table.columns:
        return table[name]
    return pl.Series(name, [None] * len(table), dtype=pl.String)


def _expanded(curies: pl.Series, prefixes: dict[str, str]) -> pl.Series:
    """IRIs; what has no known prefix stays as it is."""
    name = curies.str.extract(r"^([^:]*):")
    known = name.replace_strict(prefixes, default=None, return_dtype=pl.String)
    rest = curies.str.replace(r"^[^:]*:", "")
    iris: pl.Series = (known + rest).zip_with(known.is_not_null(), curies)
    return iris


def _link_columns(path: Path, table: pl.DataFrame) -> pl.DataFrame:
    """SSSOM's columns as those of links, and the further ones behind them."""
    renamed = {"score": "similarity_score", "confidence": "confidence"}
    columns = []
    for ext, name in EXTENSIONS.items():
        given = renamed.get(name, name)
        ours = [pl.col(source) for source in (ext, given) if source in table.columns]
        columns.append(pl.coalesce(ours or [pl.lit(None, dtype=pl.String)]).alias(name))
    used = {*renamed.values(), *EXTENSIONS, "left", "right", "predicate", "score"}
    used |= {"subject_id", "object_id", "predicate_id", "line"}
    further = [
        name for name in table.columns if name not in used and table[name].null_count() < len(table)
    ]
    links = table.select(*columns, "predicate", *further, "line")
    return between_ids(as_numbers(links, NUMBERS, path).drop("line"))


def _is_ours(definition: object) -> bool:
    """Whether an extension is one of our own columns, which is defined anew when needed."""
    return isinstance(definition, dict) and definition.get("slot_name") in EXTENSIONS
