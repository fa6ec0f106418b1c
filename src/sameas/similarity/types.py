"""What types say about pairs: which type meets which, and which types have counterparts at all.

Both are learned from anchors. Types of a vocabulary that both graphs share, and that nothing has
together, contradict each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, diags_array

from sameas.compute.arrays import Mask, Numbers, Positions, Vector
from sameas.compute.parallel import slices
from sameas.graph.graph import positions_of
from sameas.graph.matched import MatchedPair
from sameas.options.tuning import TUNING, TypeTuning
from sameas.similarity.cache import AT_ONCE, Terms


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

    @cached_property
    def exclusions(self) -> Exclusions:
        """Which types exclude each other."""
        return _exclusions(self)

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


def types_of(pair: MatchedPair, *, tuning: TypeTuning = TUNING.types) -> Types:
    """The types of both graphs' entities."""
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


@dataclass(frozen=True, eq=False)
class Exclusions:
    """Which types of a vocabulary that both graphs share exclude each other.

    Two types exclude each other if both graphs use both, and nothing has both.
    """

    shared: tuple[csr_array, csr_array]
    """Which shared types the entities of each side have, (entities, types)."""
    often: tuple[csr_array, csr_array]
    """The same for types that are frequent in both graphs."""
    overlap: csr_array
    """Which of these some entity has both of, (types, types)."""

    def contradict(self, left: Numbers, right: Numbers) -> Mask:
        """Which pairs have no shared type in common, and types that exclude each other."""
        contradicting = np.zeros(len(left), dtype=np.bool_)
        for some in slices(len(left), AT_ONCE):
            one, other = self.often[0][left[some]], self.often[1][right[some]]
            # All pairs of types less those that something has both of.
            every = np.asarray(one.sum(axis=1)) * np.asarray(other.sum(axis=1))
            harmless = np.asarray(csr_array(one @ self.overlap).multiply(other).sum(axis=1))
            both = self.shared[0][left[some]].multiply(self.shared[1][right[some]])
            contradicting[some] = (every - harmless > 0.5) & (np.asarray(both.sum(axis=1)) == 0)
        return contradicting


def _exclusions(types: Types) -> Exclusions:
    positions = positions_of(types.left_names, types.right_names)
    ours = np.flatnonzero(positions >= 0)
    a, b = (
        csr_array((matrix[:, columns] > 0).astype(np.float64))
        for matrix, columns in ((types.left, ours), (types.right, positions[ours]))
    )
    often = np.minimum(a.sum(axis=0), b.sum(axis=0)) >= types.tuning.members
    ours_often, theirs_often = (csr_array(side @ diags_array(often * 1.0)) for side in (a, b))
    overlap = csr_array(ours_often.T @ ours_often + theirs_often.T @ theirs_often)
    overlap.data[:] = 1.0
    return Exclusions((a, b), (ours_often, theirs_often), overlap)
