"""Links from RDF: triples that say of two resources that they are the same."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from sameas.errors import InputError
from sameas.files import kind_of, open_stream
from sameas.iri import BLANK
from sameas.links import IDENTITY, SAME_AS, LinkSet, between_ids, left_out
from sameas.rdf.rules import Reading
from sameas.rdf.statements import STATEMENTS
from sameas.reading.quads import read_stream
from sameas.reading.rdf import SUFFIXES


def read_same_as(path: Path, predicate: str | None = None) -> LinkSet:
    """The links of an RDF file: its triples with a predicate of identity.

    Those are the ones of ``sameas.links.IDENTITY`` and the given one. Triples with another
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
