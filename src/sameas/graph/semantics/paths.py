"""Literal paths: the texts that say something of an entity, directly or one or two steps away.

A step leads through a node that belongs to the entity alone (an address, a title node, a blank
node): hardly any tail of the relation has a second head.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sameas.graph.kind import Kind
from sameas.graph.semantics.kinds import View

SEPARATOR = " / "
"""Stands between the relations and the attribute of a path."""


def literal_paths(view: View) -> pl.DataFrame:
    """entity (position), path (attribute IRI, behind the relations), value, language, steps, held.

    ``held`` says that all nodes on the way only hold something.
    """
    attributes = view.graph.attributes
    language = attributes["language"] if "language" in attributes.columns else pl.lit("")
    direct = attributes.select(
        entity=pl.Series(view.graph.attribute_entities, dtype=pl.Int64),
        path="attribute",
        value=pl.col("value").str.strip_chars(),
        language=language,
        steps=pl.lit(0, dtype=pl.Int64),
        held=pl.lit(value=True),
    ).filter(pl.col("entity") >= 0, pl.col("value") != "")
    if (keys := view.graph.keys) is not None:
        direct = direct.filter(~pl.col("path").is_in(keys.not_compared))
    if not len(direct):
        return direct
    tables, last = [direct], direct
    leads = _exclusive_nodes(view)
    for _ in range(view.tuning.semantics.steps):
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
        tables.append(last)
    return pl.concat(tables).unique(["entity", "path", "value", "language"], maintain_order=True)


def _exclusive_nodes(view: View) -> pl.DataFrame:
    """entity, relation (IRI), tail, holder (whether it is one): tails that belong to the head."""
    relations, triples = view.relations, view.between
    triples = triples[np.isin(view.kinds[triples[:, 2]], (Kind.INDIVIDUAL, Kind.HOLDER))]
    key = triples[:, 1] * len(view.graph.entities) + triples[:, 2]
    _, group, heads = np.unique(key, return_inverse=True, return_counts=True)
    alone = heads[group] == 1
    count = np.bincount(triples[:, 1], minlength=len(relations))
    share = np.bincount(triples[alone, 1], minlength=len(relations)) / np.maximum(count, 1)
    exclusive = share[triples[:, 1]] >= view.tuning.semantics.exclusive
    head, relation, tail = triples[alone & exclusive].T
    return pl.DataFrame(
        {
            "entity": head,
            "relation": relations.gather(relation),
            "tail": tail,
            "holder": view.kinds[tail] == Kind.HOLDER,
        }
    )
