"""Links as RDF: one triple a link, as N-Triples or Turtle."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import polars as pl

from sameas.iri import bracketed
from sameas.links import OWL, SKOS, LinkSet

PREFIXES = {"owl": OWL, "skos": SKOS, "schema": "http://schema.org/"}
STEP = 200_000
"""Rows that are turned into text at a time."""


def write_ntriples(links: LinkSet, path: Path) -> None:
    """Write one N-Triples line a link."""
    with path.open("wb") as file:
        write_triples(_triples(links, bracketed(links.predicates)), file)


def write_turtle(links: LinkSet, path: Path) -> None:
    """Write one Turtle statement a link, with a prefix for the predicate."""
    predicates = bracketed(links.predicates)
    head = ""
    for prefix, namespace in PREFIXES.items():
        local = predicates.str.extract(rf"^<{namespace}([A-Za-z]+)>$")
        if local.is_not_null().any():
            head += f"@prefix {prefix}: <{namespace}> .\n"
            predicates = (f"{prefix}:" + local).zip_with(local.is_not_null(), predicates)
    with path.open("wb") as file:
        file.write((head + "\n" if head else "").encode())
        write_triples(_triples(links, predicates), file)


def _triples(links: LinkSet, predicates: pl.Series) -> pl.DataFrame:
    left, right = bracketed(links.links["left"]), bracketed(links.links["right"])
    return pl.DataFrame({"subject": left, "predicate": predicates, "object": right})


def write_triples(table: pl.DataFrame, file: IO[bytes], *, end: str = " .") -> None:
    """Write a line per row (subject, predicate, object), a piece at a time."""
    for part in table.iter_slices(STEP):
        lines = part.select(pl.concat_str("subject", "predicate", "object", separator=" ") + end)
        file.write(lines.write_csv(include_header=False, quote_style="never").encode())
