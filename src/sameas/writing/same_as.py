"""Links as RDF: one triple a link, as N-Triples or Turtle."""

from __future__ import annotations

import io
from pathlib import Path
from typing import IO

import polars as pl

from sameas.iri import are_blank, are_iris, bracketed, to_iris
from sameas.links import OWL, SKOS, LinkSet
from sameas.writing.tables import beyond_links

PREFIXES = {"owl": OWL, "skos": SKOS, "schema": "http://schema.org/"}


def write_ntriples(links: LinkSet, path: Path) -> list[str]:
    """Write one N-Triples line a link."""
    links, lost = without_blank_nodes(links)
    lines = _lines(links, bracketed(links.predicates))
    with path.open("wb") as file:
        write_lines(lines, file)
    return [*lost, *_unspoken(links)]


def write_turtle(links: LinkSet, path: Path) -> list[str]:
    """Write one Turtle statement a link, with a prefix for the predicate."""
    links, lost = without_blank_nodes(links)
    predicates = bracketed(links.predicates)
    used = {}
    for prefix, namespace in PREFIXES.items():
        local = predicates.str.extract(rf"^<{namespace}([A-Za-z]+)>$")
        if local.is_not_null().any():
            used[prefix] = namespace
            predicates = (f"{prefix}:" + local).zip_with(local.is_not_null(), predicates)
    head = "".join(f"@prefix {prefix}: <{namespace}> .\n" for prefix, namespace in used.items())
    with path.open("wb") as file:
        file.write((head + "\n" if head else "").encode())
        write_lines(_lines(links, predicates), file)
    return [*lost, *_unspoken(links)]


def without_blank_nodes(links: LinkSet) -> tuple[LinkSet, list[str]]:
    """The links that mean something outside their graphs, and sentences on what is lost or changed.

    Nobody else knows a blank node. Ids that are no IRIs are written as ``urn:sameas:...``.
    """
    table = links.links
    blank = are_blank(table["left"]) | are_blank(table["right"])
    lost = []
    if blank.any():
        lost.append(f"{blank.sum()} links of blank nodes")
        table = table.filter(~blank)
    words = sum(int((~are_iris(table[side].unique())).sum()) for side in ("left", "right"))
    if words:
        lost.append(
            f"{words} ids that are no IRIs, as they are (they are written as "
            "urn:sameas:..., which sameas reads back as the id)"
        )
    kept = LinkSet(links=table, metadata=links.metadata, prefixes=links.prefixes)
    return kept, lost


def _lines(links: LinkSet, predicates: pl.Series) -> pl.Series:
    table = links.links
    left = bracketed(to_iris(table["left"], side="left"))
    right = bracketed(to_iris(table["right"], side="right"))
    lines: pl.Series = left + " " + predicates + " " + right + " ."
    return lines


def write_lines(lines: pl.Series, file: IO[bytes]) -> None:
    """Write each text as a line, a piece at a time."""
    for part in lines.to_frame().iter_slices(100_000):
        piece = io.BytesIO()
        part.write_csv(piece, include_header=False, quote_style="never")
        file.write(piece.getvalue())


def _unspoken(links: LinkSet) -> list[str]:
    """What a triple does not say."""
    given = [name for name in ("score", "confidence") if links.links[name].is_not_null().any()]
    lost = [f"{' and '.join(given)} of the links"] if given else []
    return [*lost, *beyond_links(links, predicate=False)]
