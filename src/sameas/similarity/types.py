"""What types say about pairs: which type meets which, and which types have counterparts at all.

Both are learned from anchors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, diags_array

from sameas.compute.arrays import Numbers, Positions, Vector
from sameas.graph.matched import MatchedPair
from sameas.options.tuning import TUNING, TypeTuning
from sameas.similarity.cache import Terms


@dataclass(frozen=True, eq=False)
class Types:
    """The types of both graphs' entities; one column per type, the last one for "no type".

    Rows sum up to one. Only entities of the same group (of ``left_groups``, ``right_groups``)
    are compared: those of one kind.
    """

    left: csr_array
    right: csr_array
    left_names: pl.Series
    right_names: pl.Series
    left_groups: NDArray[np.int8]
    right_groups: NDArray[np.int8]
    tuning: TypeTuning = TUNING.types

    def learn(self, left: Positions, right: Positions, trust: Vector) -> Terms:
        """What the anchors (left, right, trust) tell about pairs by their types."""
        ours, theirs, prior, most = self.left, self.right, self.tuning.prior, self.tuning.most
        together = coo_array(ours[left].T @ csr_array(diags_array(trust) @ theirs[right]))
        totals = np.asarray(together.sum(axis=1)).ravel(), np.asarray(together.sum(axis=0)).ravel()
        share = totals[1] / max(totals[1].sum(), 1e-9)
        # Seen together so often, against how often chance would have it.
        apart = np.maximum(np.log(prior / (totals[0] + prior)), -most)
        row, column = together.coords
        seen = (together.data + prior * share[column]) / (totals[0][row] + prior)
        worth = np.clip(np.log(seen / share[column]), -most, most) - apart[row]
        left_prior = _prior(ours, left, trust, self.left_groups, prior)
        right_prior = _prior(theirs, right, trust, self.right_groups, prior)
        # What it says to meet a type that was not met, if that was seen to meet any.
        strange, met = ours @ apart, theirs @ (share > 0).astype(np.float64)
        reach = csr_array(ours @ csr_array((worth, (row, column)), shape=together.shape))

        def terms(left: Numbers, right: Numbers) -> Vector:
            terms_of_pairs: Vector = left_prior[left] + right_prior[right]
            terms_of_pairs += strange[left] * met[right]
            terms_of_pairs += np.asarray(reach[left].multiply(theirs[right]).sum(axis=1)).ravel()
            return np.clip(terms_of_pairs, -2 * most, most)[:, None]

        return terms


def types_of(pair: MatchedPair, *, tuning: TypeTuning = TUNING.types) -> Types | None:
    """The types of both graphs' entities; None if neither graph has any."""
    if not any(len(graph.types) for graph in pair.graphs):
        return None
    (left, left_names), (right, right_names) = (graph.type_shares for graph in pair.graphs)
    return Types(left, right, left_names, right_names, *pair.compared_kinds, tuning)


def _prior(
    matrix: csr_array, anchored: Positions, trust: Vector, groups: Numbers, smoothing: float
) -> Vector:
    """For each entity, how much oftener entities of its types are linked than others."""
    linked = np.zeros(matrix.shape[0])
    linked[anchored] = trust
    prior = np.zeros(matrix.shape[0])
    for group in np.unique(groups):
        some = np.flatnonzero(groups == group)
        if not (share := float(linked[some].mean())):
            continue  # no anchor tells
        members = np.asarray(matrix[some].sum(axis=0)).ravel()
        rate = (matrix[some].T @ linked[some] + smoothing * share) / (members + smoothing)
        prior[some] = matrix[some] @ np.log(rate / share)
    return prior
