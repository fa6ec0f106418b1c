"""Literal paths: the texts that say something of an entity, directly or one or two steps away.

A step leads through a node that belongs to the entity alone (an address, a title node, a blank
node): hardly any tail of the relation has a second head.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sameas.graph import Graph, positions_of
from sameas.kinds import RDF, Kind, Kinds

EXCLUSIVE = 0.9
"""Share of a relation's tails that must have one head only, for its tails to belong to the head."""
STEPS = 2
SEPARATOR = " / "

PATH_SCHEMA = pl.Schema(
    {
        "entity": pl.Int64,
        "path": pl.String,
        "value": pl.String,
        "language": pl.String,
        "steps": pl.Int64,
        "held": pl.Boolean,
    }
)


def literal_paths(graph: Graph, kinds: Kinds) -> pl.DataFrame:
    """entity (position), path (attribute IRI, behind the relations), value, language, steps, held.

    ``held`` says that all nodes on the way only hold something.
    """
    attributes = graph.attributes
    language = attributes["language"] if "language" in attributes.columns else pl.lit("")
    direct = attributes.select(
        entity=pl.Series(graph.positions(attributes["entity"]), dtype=pl.Int64),
        path=pl.col("attribute").cast(pl.String),
        value=pl.col("value").str.strip_chars(),
        language=language,
        steps=pl.lit(0, dtype=pl.Int64),
        held=pl.lit(value=True),
    ).filter((pl.col("entity") >= 0) & (pl.col("value") != ""))
    found, last = [direct], direct
    leads = _own_nodes(graph, kinds)
    for _ in range(STEPS):
        last = (
            leads.join(last, left_on="tail", right_on="entity", how="inner")
            .filter(pl.col("entity") != pl.col("tail"))
            .select(
                "entity",
                path=pl.col("relation") + SEPARATOR + pl.col("path"),
                value="value",
                language="language",
                steps=pl.col("steps") + 1,
                held=pl.col("held") & pl.col("holder"),
            )
        )
        found.append(last)
    return pl.concat(found).unique(["entity", "path", "value", "language"], maintain_order=True)


def _own_nodes(graph: Graph, kinds: Kinds) -> pl.DataFrame:
    """entity, relation (IRI), tail: the triples whose tail belongs to the head."""
    triples = graph.distinct_triples()
    type_code = positions_of(pl.Series([f"{RDF}type"]), graph.relations.cast(pl.String))[0]
    thing = np.isin(kinds, (Kind.INDIVIDUAL, Kind.HOLDER))
    triples = triples[(triples[:, 1] != type_code) & thing[triples[:, 2]]]
    if not len(triples):
        return pl.DataFrame(schema={"entity": pl.Int64, "relation": pl.String, "tail": pl.Int64, "holder": pl.Boolean})
    key = triples[:, 1] * len(graph.entities) + triples[:, 2]
    _, group, fans = np.unique(key, return_inverse=True, return_counts=True)
    alone = fans[group] == 1
    count = np.bincount(triples[:, 1], minlength=len(graph.relations))
    share = np.bincount(triples[alone, 1], minlength=len(count)) / np.maximum(count, 1)
    kept = triples[alone & (share[triples[:, 1]] >= EXCLUSIVE)]
    return pl.DataFrame(
        {
            "entity": kept[:, 0],
            "relation": graph.relations.cast(pl.String).gather(kept[:, 1]),
            "tail": kept[:, 2],
            "holder": kinds[kept[:, 2]] == Kind.HOLDER,
        }
    )
