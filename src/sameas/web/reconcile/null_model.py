"""The null model of names: how similar the names of different entities of one graph are.

The names most similar to a name of the graph, other than its own entity's, are what a text that
means nothing in the graph would find. They are rarer the more alike they are: their number falls
off exponentially. Half of all texts are taken to mean an entity of the graph, and half of those
to have its very name; the odds of a candidate follow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sameas.compute.arrays import Vector
from sameas.compute.parallel import slices
from sameas.graph.matched import MatchedGraph
from sameas.options.tuning import TUNING, ReconcileTuning
from sameas.web.reconcile.index import NameIndex


@dataclass(frozen=True)
class NullModel:
    """How many wrong entities a text finds."""

    entities: int
    namesakes: float
    """The share of names that another entity has too."""
    start: float
    """A cosine that about every second text finds a wrong entity beyond."""
    beyond: float
    """How many wrong entities a text finds beyond that."""
    scale: float
    """Their mean cosine beyond ``start``, less that."""
    tuning: ReconcileTuning = TUNING.reconcile

    def log_odds(self, cosines: NDArray[np.floating]) -> Vector:
        """The log-odds of candidates by their names, against that no entity is the right one.

        Both are taken to be equally likely before anything is known. The density of the cosines of
        right entities without an equal name is taken to rise evenly from 0 to 1.
        """
        tuning = self.tuning
        density = self.beyond / self.scale * np.exp((self.start - cosines) / self.scale)
        alike = np.log((1 - tuning.share_equal) * 2 * np.maximum(cosines, tuning.least_cosine))
        alike -= np.log(np.clip(density, 1e-6, max(self.entities, 1)))
        equal = np.log(tuning.share_equal / self.namesakes)
        return np.asarray(np.where(cosines >= tuning.equal, equal, np.minimum(alike, equal)))


def learn_null_model(
    graph: MatchedGraph, index: NameIndex, *, tuning: ReconcileTuning = TUNING.reconcile
) -> NullModel:
    """The null model of a graph, from a sample of its names."""
    named = np.unique(index.owners)
    sampled = named[np.linspace(0, len(named) - 1, min(tuning.sample, len(named))).astype(np.int64)]
    rows = index.rows(graph.names.gather(sampled))
    cosines = np.zeros((len(sampled), tuning.nearest), dtype=np.float32)
    for part in slices(len(sampled), 100):
        found, entities = index.best(rows[part], tuning.nearest)
        cosines[part] = np.where(entities == sampled[part, None], 0, found)
    equal = cosines >= tuning.equal
    others = np.where(equal, 0, cosines)
    start = float(np.median(others.max(axis=1))) if len(others) else 0.0
    prior = tuning.scale_prior
    excess = others[others > start].astype(np.float64) - start
    return NullModel(
        entities=index.entities,
        namesakes=(float(equal.any(axis=1).sum()) + 0.5) / (len(equal) + 1),
        start=start,
        beyond=(len(excess) + 0.5) / (len(others) + 1),
        scale=(float(excess.sum()) + prior * tuning.scale) / (len(excess) + prior),
        tuning=tuning,
    )
