"""Links as RDF: one triple a link, as N-Triples or Turtle."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import polars as pl

from sameas.iri import OWL, SKOS, bracketed
from sameas.links import LinkSet

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
