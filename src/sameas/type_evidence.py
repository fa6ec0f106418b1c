"""What types say about pairs: which type meets which, and which types have counterparts at all.

Both are learned from anchors. Types of a vocabulary that both graphs share and that no entity
has together contradict each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sameas.graph import Graph, GraphPair, Positions, positions_of
from sameas.kinds import RDF

Vector = NDArray[np.float64]

PRIOR = 10.0
"""Anchors that a type must have before its share says much."""
MEMBERS = 5
"""Members that a type must have in each graph before it contradicts another."""
MOST = 3.0
"""The most that types say, in log-odds."""


@dataclass(frozen=True, eq=False)
class Types:
    """The types of both graphs' entities; one column per type, the last one for "no type"."""

    left: csr_array
    right: csr_array
    left_names: pl.Series
    right_names: pl.Series


@dataclass(frozen=True, eq=False)
class TypeModel:
    """What anchors say about types, in log-odds."""

    types: Types
    left_prior: Vector
    right_prior: Vector
    """Of each entity: does its type tend to have counterparts?"""
    meets: NDArray[np.float64]
    """(left types, right types): does one meet the other more or less often than by chance?"""

    def score(self, left: NDArray[np.integer], right: NDArray[np.integer]) -> Vector:
        """What types say about pairs."""
        found: Vector = self.left_prior[left] + self.right_prior[right]
        rows, columns = self.types.left, self.types.right
        # The mean over all pairs of types of the two.
        means = np.asarray(rows @ self.meets)
        block = 200_000
        for start in range(0, len(left), block):
            part = slice(start, start + block)
            some = columns[right[part]]
            found[part] += np.asarray(some.multiply(means[left[part]]).sum(axis=1)).ravel()
        return np.clip(found, -2 * MOST, MOST)


def types_of(pair: GraphPair) -> Types:
    """The types of both graphs' entities, each row summing up to one."""
    left, left_names = _types(pair.left)
    right, right_names = _types(pair.right)
    return Types(left, right, left_names, right_names)


def _types(graph: Graph) -> tuple[csr_array, pl.Series]:
    code = positions_of(pl.Series([f"{RDF}type"]), graph.relations.cast(pl.String))[0]
    triples = graph.distinct_triples()
    pairs = triples[triples[:, 1] == code][:, [0, 2]]
    distinct, column = np.unique(pairs[:, 1], return_inverse=True)
    size = len(graph.entities)
    none = np.setdiff1d(np.arange(size), pairs[:, 0])
    rows = np.concatenate([pairs[:, 0], none])
    columns = np.concatenate([column, np.full(len(none), len(distinct))])
    counts = np.bincount(rows, minlength=size)
    matrix = csr_array((1.0 / counts[rows], (rows, columns)), shape=(size, len(distinct) + 1))
    return matrix, graph.entities.cast(pl.String).gather(distinct)


def learn_types(
    types: Types,
    left: Positions,
    right: Positions,
    trust: Vector,
    groups: tuple[Positions, Positions],
) -> TypeModel:
    """What the anchors (left, right, trust) tell; ``groups`` are kinds, compared within."""
    priors = [
        _prior(matrix, own, trust, group)
        for matrix, own, group in ((types.left, left, groups[0]), (types.right, right, groups[1]))
    ]
    size = len(trust)
    weight = csr_array((trust, (np.arange(size), np.arange(size))), shape=(size, size))
    ours, theirs = types.left[left], types.right[right]
    together = np.asarray((ours.T @ weight @ theirs).todense())
    totals = together.sum(axis=1), together.sum(axis=0)
    share = totals[1] / max(totals[1].sum(), 1e-9)
    expected = share[None, :]
    seen = (together + PRIOR * expected) / (totals[0][:, None] + PRIOR)
    meets = np.log(np.maximum(seen, 1e-9) / np.maximum(expected, 1e-9))
    meets[:, share == 0] = 0.0
    meets[totals[0] == 0] = 0.0
    return TypeModel(types, priors[0], priors[1], np.clip(meets, -MOST, MOST))


def _prior(matrix: csr_array, anchored: Positions, trust: Vector, group: Positions) -> Vector:
    linked = np.zeros(matrix.shape[0])
    linked[anchored] = trust
    prior = np.zeros(matrix.shape[0])
    for number in np.unique(group):
        some = group == number
        share = max(linked[some].mean(), 1e-6)
        members = np.asarray(matrix[some].sum(axis=0)).ravel()
        found = np.asarray(matrix[some].T @ linked[some]).ravel()
        rate = (found + PRIOR * share) / (members + PRIOR)
        odds = np.log(rate / share)
        prior[some] = matrix[some] @ odds
    return prior


def contradictory(types: Types, left: NDArray[np.integer], right: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Which pairs have types of a shared vocabulary that exclude each other.

    Two types exclude each other if both graphs use both, and nothing has both.
    """
    shared = positions_of(types.left_names, types.right_names)
    ours = np.flatnonzero(shared >= 0)
    theirs = shared[ours]
    a, b = types.left[:, ours] > 0, types.right[:, theirs] > 0
    a, b = csr_array(a.astype(np.float64)), csr_array(b.astype(np.float64))
    often = (np.asarray(a.sum(axis=0)).ravel() >= MEMBERS) & (np.asarray(b.sum(axis=0)).ravel() >= MEMBERS)
    together = np.asarray((a.T @ a + b.T @ b).todense()) > 0
    apart = ~together & often[:, None] & often[None, :]
    ours_of, theirs_of = a[left], b[right]
    clash = np.asarray(csr_array(ours_of @ apart.astype(np.float64)).multiply(theirs_of).sum(axis=1)).ravel() if apart.any() else np.zeros(len(left))
    common = np.asarray(ours_of.multiply(theirs_of).sum(axis=1)).ravel()
    return (clash > 0) & (common == 0)
