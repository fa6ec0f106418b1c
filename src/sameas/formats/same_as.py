"""Links as RDF triples, one a link: read from any RDF, write N-Triples or Turtle."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import polars as pl

from sameas.errors import InputError
from sameas.formats.files import kind_of, open_stream
from sameas.formats.rdf import read_stream
from sameas.formats.side_files import SUFFIXES
from sameas.graph.iri import BLANK, OWL, SKOS, bracketed
from sameas.graph.link_set import IDENTITY, SAME_AS, LinkSet, between_ids, left_out
from sameas.graph.rdf.reading import Reading
from sameas.graph.rdf.statements import STATEMENTS


def read_same_as(path: Path, predicate: str | None = None) -> LinkSet:
    """The links of an RDF file: its triples with a predicate of identity.

    Those are the ones of ``sameas.graph.link_set.IDENTITY`` and the given one. Triples with another
    predicate, or with a blank node or a literal at an end, are counted and left out.
    """
    is_link = pl.col("relation").is_in([*IDENTITY, predicate or SAME_AS])
    parts, others = [pl.DataFrame(schema=STATEMENTS)], 0
    with open_stream(path) as stream:
        for batch in read_stream(stream, SUFFIXES.get(kind_of(path)), Reading()):
            parts.append(batch.filter(is_link))
            others += len(batch) - len(parts[-1])
    said = pl.concat(parts)
    links = said.filter(
        ~pl.any_horizontal(pl.col("head", "tail").fill_null(BLANK).str.starts_with(BLANK))
    )
    ends = len(said) - len(links)
    if others and not len(links) and not ends:
        problem = f"none of its {others} triples has a predicate such as owl:sameAs"
        raise InputError(path, f"holds no links: {problem}")
    skipped = {
        "triples that say something else than that two things are one": others,
        "links with a blank node or a literal at an end": ends,
    }
    table = links.select(left="head", right="tail", predicate="relation")
    return LinkSet(links=between_ids(table), skipped=left_out(skipped))


PREFIXES = {"owl": OWL, "skos": SKOS, "schema": "http://schema.org/"}
STEP = 200_000
"""Rows that are turned into text at a time."""


def write_same_as(links: LinkSet, path: Path) -> None:
    """Write one triple a link; Turtle (.ttl) has a prefix for the predicate."""
    predicates, head = bracketed(links.predicates), ""
    for prefix, namespace in PREFIXES.items() if path.suffix.lower() == ".ttl" else ():
        local = predicates.str.extract(rf"^<{namespace}([A-Za-z]+)>$")
        if local.is_not_null().any():
            head += f"@prefix {prefix}: <{namespace}> .\n"
            predicates = (f"{prefix}:" + local).zip_with(local.is_not_null(), predicates)
    left, right = bracketed(links.links["left"]), bracketed(links.links["right"])
    table = pl.DataFrame({"subject": left, "predicate": predicates, "object": right})
    with path.open("wb") as file:
        file.write((head + "\n" if head else "").encode())
        write_statements(table, file)


def write_statements(table: pl.DataFrame, file: IO[bytes]) -> None:
    """Write a line per row (subject, predicate, object, perhaps graph), a piece at a time."""
    for part in table.iter_slices(STEP):
        lines = part.select(pl.concat_str(pl.all(), separator=" ") + " .")
        file.write(lines.write_csv(include_header=False, quote_style="never").encode())
