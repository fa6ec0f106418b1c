"""Roles: whether what is said of two entities of one graph is said together of others.

A city and a country may have the same name, but no entity has both what is said of cities and what
is said of countries. Duplicates may share nothing that is said of them and still fit together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array

from sameas.compute.arrays import Numbers, Positions, Vector
from sameas.compute.parallel import slices
from sameas.graph.matched import MatchedGraph
from sameas.options.tuning import TUNING, RoleTuning
from sameas.similarity.cache import AT_ONCE, Terms

MOST_ROLES, MOST_PATTERNS = 62, 300
"""Roles and sets of roles up to which each two sets are compared once."""


@dataclass(frozen=True, eq=False)
class Roles:
    """Which relations (both ways) and attributes each entity of one graph has."""

    held: csr_array
    """Ones, shape (entities, roles)."""
    tuning: RoleTuning = TUNING.roles

    @cached_property
    def _fit(self) -> tuple[csr_array, csr_array, float]:
        """Shares of the roles of each entity; how well two roles fit, above those never met."""
        size = max(self.held.shape[0], 1)
        counts = np.asarray(self.held.sum(axis=0)).ravel()
        together = coo_array(self.held.T @ self.held)
        row, column = together.coords
        prior, apart = self.tuning.prior, -self.tuning.most
        expected = counts[row] * counts[column] / size
        fit = np.log((together.data + prior) / (expected + prior))
        # Rare roles are rarely met together; only what should have been met says anything.
        worth = np.clip(fit, apart, self.tuning.most) - apart
        matrix = csr_array((worth, (row, column)), shape=together.shape)
        weights = 1.0 / np.maximum(np.asarray(self.held.sum(axis=1)).ravel(), 1.0)
        shares = csr_array(diags_array(weights) @ self.held)
        return shares, csr_array(shares @ matrix), apart

    @cached_property
    def _known(self) -> Vector:
        """How much the roles of each entity say of those that it lacks.

        Of an entity with few roles it says little which others were never met with them, unless
        entities with these roles usually have no more.
        """
        counts = np.diff(self.held.indptr).astype(np.float64)
        holders = np.maximum(np.asarray(self.held.sum(axis=0)).ravel(), 1.0)
        usual = self._fit[0] @ (self.held.T @ counts / holders)
        share = counts / (counts + 1.0)
        known: Vector = np.minimum(share * (usual + 1.0) / np.maximum(usual, 1.0), 1.0)
        return known

    def learn(self, left: Positions, right: Positions, trust: Vector) -> Terms:
        """The log-odds of pairs by their roles, which do not depend on anchors."""
        if self._patterns is None:
            return lambda left, right: self._worth(left, right)[:, None]
        of_entities, first = self._patterns
        # In tables, few sets of columns are filled: each two of them are compared once.
        each = np.repeat(first, len(first)), np.tile(first, len(first))
        worth = self._worth(*each).reshape(len(first), len(first))
        return lambda left, right: worth[of_entities[left], of_entities[right]][:, None]

    @cached_property
    def _patterns(self) -> tuple[Positions, Positions] | None:
        """The set of roles that each entity has, by number, and an entity of each set.

        None where there are many.
        """
        if self.held.shape[1] > MOST_ROLES:
            return None
        bits = self.held.astype(np.int64) @ (np.int64(1) << np.arange(self.held.shape[1]))
        _, first, of_entities = np.unique(bits, return_index=True, return_inverse=True)
        return (of_entities, first) if len(first) <= MOST_PATTERNS else None

    def _worth(self, left: Numbers, right: Numbers) -> Vector:
        """The log-odds of pairs."""
        shares, reach, apart = self._fit
        counts, known = np.diff(self.held.indptr), self._known
        total = np.zeros(len(left))
        for part in slices(len(left), AT_ONCE):
            ends = left[part], right[part]
            fit = np.asarray(reach[ends[0]].multiply(shares[ends[1]]).sum(axis=1)).ravel()
            few = np.minimum(counts[ends[0]], counts[ends[1]])
            sure = np.minimum(known[ends[0]], known[ends[1]])
            sure = np.where(fit + apart < 0, sure, few > 0)
            total[part] = sure * (fit + apart)
        worth = np.clip(self.tuning.weight * total, -self.tuning.against, self.tuning.in_favour)
        return np.asarray(worth)


def read_roles(graph: MatchedGraph, *, tuning: RoleTuning = TUNING.roles) -> Roles:
    """The roles of a graph's entities; names are none."""
    size, relations = len(graph.entities), len(graph.relations)
    head, relation, tail = graph.distinct_triples.T
    names = graph.attributes["attribute"].cast(str).unique().sort()
    is_value = ~graph.attributes["attribute"].is_in(graph.name_paths)
    said = graph.attributes.filter(is_value)
    subjects = graph.attribute_entities[is_value.to_numpy()]
    attribute = names.search_sorted(said["attribute"].cast(str)).to_numpy().astype(np.int64)
    known = subjects >= 0
    entity = np.concatenate([head, tail, subjects[known]])
    role = np.concatenate([relation, relation + relations, attribute[known] + 2 * relations])
    count = 2 * relations + len(names)
    held = csr_array((np.ones(len(entity)), (entity, role)), shape=(size, count))
    held.sum_duplicates()
    held.data[:] = 1.0
    return Roles(held, tuning)
