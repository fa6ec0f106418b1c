"""Links from RDF: triples that say of two resources that they are the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from sameas.errors import InputError
from sameas.files import kind_of, open_stream
from sameas.iri import BLANK, from_iris
from sameas.links import IDENTITY, LINK_SCHEMA, SAME_AS, LinkSet
from sameas.rdf.rules import Reading
from sameas.rdf.statements import Terms
from sameas.reading.quads import read_stream
from sameas.reading.rdf import SUFFIXES


def read_same_as(path: Path, predicate: str | None = None) -> LinkSet:
    """The links of an RDF file: its triples with a predicate of identity.

    Those are the ones of ``sameas.links.IDENTITY`` and the given one. Triples with another
    predicate, or with a blank node or a literal at an end, are counted and left out.
    """
    terms = Terms()
    with open_stream(path) as stream:
        kind = SUFFIXES.get(kind_of(path))
        batches = list(read_stream(stream, kind, Reading(), terms))
    codes = np.concatenate([np.zeros((0, 4), np.uint32), *(batch.triples for batch in batches)])
    wanted = terms.codes(pl.Series([f"<{iri}>" for iri in {*IDENTITY, predicate or SAME_AS}]))
    is_link = np.isin(codes[:, 1], wanted)
    literals = sum(
        int(np.isin(batch.literals["relation"].to_numpy(), wanted).sum()) for batch in batches
    )
    found = sum(len(batch.triples) + len(batch.literals) + batch.quoted for batch in batches)
    others = found - int(is_link.sum()) - literals
    left, said, right = (terms.iris(column) for column in codes[is_link, :3].T)
    table = pl.DataFrame({"left": left, "right": right, "predicate": said})
    links = table.filter(~pl.any_horizontal(pl.col("left", "right").str.starts_with(BLANK)))
    ends = literals + len(table) - len(links)
    if others and not len(links) and not ends:
        raise InputError(
            path,
            f"holds no links: none of its {others} triples has a predicate such as owl:sameAs, "
            "skos:exactMatch or schema:sameAs",
        )
    skipped = []
    if others:
        skipped.append(f"triples that say something else than that two things are one: {others}")
    if ends:
        skipped.append(f"links with a blank node or a literal at an end: {ends}")
    return LinkSet(
        links=links.select(
            from_iris(links["left"]).alias("left"),
            from_iris(links["right"]).alias("right"),
            *(pl.lit(None, LINK_SCHEMA[name]).alias(name) for name in ("score", "confidence")),
            pl.when(pl.col("predicate") != SAME_AS).then("predicate").alias("predicate"),
        ),
        skipped=tuple(skipped),
    )
