"""Walks: how much likelier than by chance the edges of a graph lead from one entity to another.

Two copies of one entity share its edges out between them: hardly a neighbour is one of both, but a
neighbour of one is often a neighbour of the other's neighbours.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, diags_array

from sameas.compute.arrays import Positions, Vector
from sameas.compute.parallel import slices
from sameas.graph.matched import MatchedGraph

ROWS = 256
"""Entities that walks begin at at once; memory grows with it."""


def neighbours(graph: MatchedGraph) -> csr_array:
    """Ones where two different entities have an edge, either way round; shape (n, n)."""
    head, _, tail = graph.triples.T
    head, tail = head[head != tail], tail[head != tail]
    size = len(graph.entities)
    ends = np.concatenate([head, tail]), np.concatenate([tail, head])
    matrix = csr_array((np.ones(len(ends[0])), ends), shape=(size, size))
    matrix.sum_duplicates()
    matrix.data[:] = 1.0
    return matrix


def walk_lifts(edges: csr_array, left: Positions, right: Positions) -> Vector:
    """How many times likelier than by chance a random walk from one entity of a pair ends in the
    other, of walks of two and of three steps; the same both ways round.

    Chance is a walk without end. An edge between the two themselves says that they are two: then
    there is no such walk.
    """
    degrees = np.maximum(np.asarray(edges.sum(axis=1)).ravel(), 1.0)
    step = csr_array(diags_array(1.0 / degrees) @ edges)
    back = csr_array(step @ diags_array(1.0 / degrees))
    lifts = np.zeros(len(left))
    starts, which = np.unique(left, return_inverse=True)
    order = np.argsort(which, kind="stable")
    bounds = np.searchsorted(which[order], np.arange(len(starts) + 1))
    for part in slices(len(starts), ROWS):
        pairs = order[bounds[part.start] : bounds[part.stop]]
        once = csr_array(step[starts[part]])
        reached = csr_array(once + once @ step)
        rows = which[pairs] - part.start
        lifts[pairs] = np.asarray(reached[rows].multiply(back[right[pairs]]).sum(axis=1)).ravel()
        linked = np.asarray(once[rows, right[pairs]]).ravel() > 0
        lifts[pairs[linked]] = 0.0
    over_chance: Vector = lifts * (float(edges.sum()) / 2)
    return over_chance
