"""Which types of a vocabulary that both graphs share contradict each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from sameas.compute.arrays import Mask
from sameas.compute.parallel import slices
from sameas.graph.graph import positions_of
from sameas.graph.matched import MatchedPair
from sameas.options.tuning import TUNING, TypeTuning

AT_ONCE = 200_000
"""Pairs that are compared at once."""


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

    def contradict(self, left: NDArray[np.integer], right: NDArray[np.integer]) -> Mask:
        """Which pairs have no shared type in common, and types that exclude each other."""
        contradicting = np.zeros(len(left), dtype=np.bool_)
        if not self.overlap.nnz:
            return contradicting
        for some in slices(len(left), AT_ONCE):
            one, other = self.often[0][left[some]], self.often[1][right[some]]
            # All pairs of types less those that something has both of.
            every = np.asarray(one.sum(axis=1)) * np.asarray(other.sum(axis=1))
            harmless = np.asarray(csr_array(one @ self.overlap).multiply(other).sum(axis=1))
            both = self.shared[0][left[some]].multiply(self.shared[1][right[some]])
            contradicting[some] = (every - harmless > 0.5) & (np.asarray(both.sum(axis=1)) == 0)
        return contradicting


def exclusions_of(pair: MatchedPair, *, tuning: TypeTuning = TUNING.types) -> Exclusions:
    """Which types of the two graphs exclude each other."""
    (left, left_names), (right, right_names) = (graph.type_shares for graph in pair.graphs)
    positions = positions_of(left_names, right_names)
    ours = np.flatnonzero(positions >= 0)
    a, b = (
        csr_array((matrix[:, columns] > 0).astype(np.float64))
        for matrix, columns in ((left, ours), (right, positions[ours]))
    )
    often = np.minimum(a.sum(axis=0), b.sum(axis=0)) >= tuning.members
    ours_often, theirs_often = (csr_array(side @ diags_array(often * 1.0)) for side in (a, b))
    overlap = csr_array(ours_often.T @ ours_often + theirs_often.T @ theirs_often)
    overlap.eliminate_zeros()
    overlap.data[:] = 1.0
    return Exclusions((a, b), (ours_often, theirs_often), overlap)
