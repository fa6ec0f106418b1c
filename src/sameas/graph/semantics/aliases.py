"""Nodes that are only another name of an entity they point at.

Some graphs keep further names as resources that lead to what they name ("EGP", alias of
"European Green Party"). Such a node has a name, one edge and nothing else; nothing leads to it;
it has a type that what it points at has not, as leaves of a hierarchy do; and its name resembles
that of what it points at.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sameas.compute.arrays import Mask, Positions
from sameas.graph.kind import Kind
from sameas.graph.semantics.kinds import View
from sameas.graph.semantics.naming import Naming
from sameas.text.folding import folded
from sameas.text.ngrams import ngram_rows


def find_aliases(view: View, naming: Naming) -> Positions:
    """Pairs (alias, what it names), shape (k, 2)."""
    tuning = view.tuning.semantics
    if not len(view.types):
        return np.zeros((0, 2), dtype=np.int64)
    edges, size = view.between, len(view.graph.entities)
    out, into = (np.bincount(edges[:, end], minlength=size) for end in (0, 2))
    first = naming.names.unique("entity", keep="first", maintain_order=True)
    texts = np.full(size, "", dtype=object)
    texts[first["entity"].to_numpy()] = first["value"].to_numpy()
    individual = view.kinds == Kind.INDIVIDUAL
    bare = individual & (out == 1) & (into == 0) & (texts != "")
    bare &= ~view.mask(view.with_attribute(~pl.col("attribute").is_in(naming.name_paths)))
    edges = edges[np.argsort(edges[:, 1], kind="stable")]
    pairs = [np.zeros((0, 2), dtype=np.int64)]
    for part in np.split(edges, np.flatnonzero(np.diff(edges[:, 1])) + 1):
        heads, tails = part[:, 0], part[:, 2]
        good = bare[heads] & individual[tails]
        chained = np.isin(tails, heads)
        few = good.sum() < tuning.fewest_aliases or (~good).mean() > tuning.other_heads
        if few or chained.mean() > tuning.chained:
            continue
        heads, tails = heads[good & ~chained], tails[good & ~chained]
        typed = _have_a_type(view, heads, tails)
        if typed and _resemblance(texts[heads], texts[tails]) >= tuning.resemble:
            pairs.append(np.stack([heads, tails], axis=1))
    return np.concatenate(pairs)


def _have_a_type(view: View, heads: Positions, tails: Positions) -> bool:
    """Whether nearly all heads have a type that hardly any tail has."""
    of_heads, of_tails = (view.types[np.isin(view.types[:, 0], end), 1] for end in (heads, tails))
    usual = int(np.bincount(of_heads).argmax()) if len(of_heads) else -1
    with_it, against = (of_heads == usual).sum(), (of_tails == usual).sum()
    others = view.tuning.semantics.other_heads
    few, fewer = (others * len(np.unique(ends)) for ends in (heads, tails))
    return usual >= 0 and with_it >= len(np.unique(heads)) - few and against <= fewer


def _resemblance(names: Mask, others: Mask) -> float:
    """How much more names resemble the others in their order than in another order."""
    texts = folded(pl.Series([*names, *others], dtype=pl.String))
    rows = ngram_rows(texts, n=3, boundaries=True, rarity=True).sparse
    ours, theirs = rows[: len(names)], rows[len(names) :]
    turned = theirs[np.roll(np.arange(len(names)), len(names) // 2)]
    alike, chance = (float(ours.multiply(side).sum()) / len(names) for side in (theirs, turned))
    return alike - chance
