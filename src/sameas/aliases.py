"""Nodes that are but another name of an entity they point at.

Some graphs keep further names as resources of their own that lead to what they name ("EGP",
alias of "European Green Party"). They are recognised by what they are: they have a name, one
edge and nothing else; nothing leads to them; they have a type of their own; and their names
resemble those of what they point at. Leaves of a hierarchy do not have a type of their own.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sameas.features.ngrams import ngram_rows
from sameas.features import folded
from sameas.graph import Graph, Positions, positions_of
from sameas.kinds import RDF, Kind, Kinds

FEWEST = 5
MOST_OTHERS = 0.1
"""Share of a relation's heads that may not be as described."""
CHAINED = 0.02
"""Share of tails that may be heads: names are not named themselves."""
RESEMBLE = 0.2
"""The least mean cosine of names, beyond that of names at random."""


def find_aliases(graph: Graph, kinds: Kinds, names: pl.DataFrame, name_paths: frozenset[str]) -> Positions:
    """Pairs (alias, what it names), shape (k, 2)."""
    size = len(graph.entities)
    code = positions_of(pl.Series([f"{RDF}type"]), graph.relations.cast(pl.String))[0]
    triples = graph.distinct_triples()
    types = triples[triples[:, 1] == code]
    edges = triples[triples[:, 1] != code]
    edges = edges[edges[:, 0] != edges[:, 2]]
    out, into = (np.bincount(edges[:, end], minlength=size) for end in (0, 2))
    said = graph.attributes.filter(~pl.col("attribute").is_in(list(name_paths)))
    other = np.bincount(graph.positions(said["entity"]), minlength=size)
    first = names.unique("entity", keep="first", maintain_order=True)
    text = np.full(size, "", dtype=object)
    text[first["entity"].to_numpy()] = first["name"].to_numpy()
    individual = kinds == Kind.INDIVIDUAL
    bare = individual & (out == 1) & (into == 0) & (other == 0) & (text != "")
    found = []
    for relation in np.unique(edges[:, 1]):
        heads, tails = edges[edges[:, 1] == relation][:, [0, 2]].T
        good = bare[heads] & individual[tails]
        if good.sum() < FEWEST or (~good).mean() > MOST_OTHERS or np.isin(tails, heads).mean() > CHAINED:
            continue
        good &= ~np.isin(tails, heads)
        heads, tails = heads[good], tails[good]
        own = types[np.isin(types[:, 0], heads), 2]
        theirs = types[np.isin(types[:, 0], tails), 2]
        most = np.bincount(own, minlength=1).argmax() if len(own) else -1
        if most < 0 or (own == most).sum() < (1 - MOST_OTHERS) * len(np.unique(heads)):
            continue
        if (theirs == most).sum() > MOST_OTHERS * len(np.unique(tails)):
            continue
        rows = ngram_rows(folded(pl.Series([*text[heads], *text[tails]])), n=3, boundaries=True, rarity=True).sparse
        ours, others = rows[: len(heads)], rows[len(heads) :]
        alike = np.asarray(ours.multiply(others).sum(axis=1)).ravel().mean()
        shifted = others[np.roll(np.arange(len(tails)), len(tails) // 2)]
        chance = np.asarray(ours.multiply(shifted).sum(axis=1)).ravel().mean()
        if alike - chance >= RESEMBLE:
            found.append(np.stack([heads, tails], axis=1))
    return np.concatenate(found) if found else np.zeros((0, 2), dtype=np.int64)
