"""The four adjacency matrices: which entities are neighbours, and with what weight."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, eye_array

from sameas.compute.arrays import Positions, Sparse
from sameas.graph.matched import MatchedGraph
from sameas.options.options import Adjacency


def adjacency_matrices(
    left: MatchedGraph, right: MatchedGraph, kind: Adjacency
) -> tuple[Sparse, Sparse]:
    """The adjacency of each graph, (n, n), of the kind asked for."""
    if kind == "relational":
        return relational(left, right)
    return KINDS[kind](left), KINDS[kind](right)


def relational(left: MatchedGraph, right: MatchedGraph) -> tuple[Sparse, Sparse]:
    """Edges weighted by how rare their relations are, and a self-loop on every entity.

    With every triple there is its inverse, through another relation. An edge weighs the sum of
    ln(|T| / |T_r|) over the relations r between its ends, |T| being counted over both graphs
    and |T_r| over the graph that r belongs to. A loop weighs ln(|T| / |E|), but never less than
    ln 2, the least that a relation can weigh, so that in graphs with few triples the features of
    an entity itself do not vanish.
    """
    graphs = [(graph, graph.distinct_triples) for graph in (left, right)]
    total = max(2 * sum(len(triples) for _, triples in graphs), 1)
    entities = sum(len(graph.entities) for graph, _ in graphs)
    loop = max(np.log(total / max(entities, 1)), np.log(2))

    def matrix(graph: MatchedGraph, triples: Positions) -> Sparse:
        counts = np.bincount(triples[:, 1], minlength=len(graph.relations))
        rarity = np.log(total / np.maximum(counts, 1))
        return _symmetric(len(graph.entities), triples, rarity[triples[:, 1]], loop)

    return matrix(*graphs[0]), matrix(*graphs[1])


def plain(graph: MatchedGraph) -> Sparse:
    """One where two entities share a triple in either direction, or are the same; else zero."""
    triples = graph.distinct_triples
    matrix = _symmetric(len(graph.entities), triples, np.ones(len(triples)), 1.0)
    matrix.data[:] = 1
    return matrix


def random_walk(graph: MatchedGraph) -> Sparse:
    """The plain adjacency with rows that sum to one."""
    matrix = plain(graph)
    return csr_array(diags_array(1 / _degrees(matrix)) @ matrix).astype(np.float32)


def laplacian(graph: MatchedGraph) -> Sparse:
    """The symmetric Laplacian I - D^-1/2 A D^-1/2 of the plain adjacency without loops."""
    loops = eye_array(len(graph.entities), format="csr")
    matrix = csr_array(plain(graph) - loops)
    degrees = _degrees(matrix)
    roots = np.divide(1, np.sqrt(degrees), out=np.zeros(len(degrees)), where=degrees > 0)
    return csr_array(loops - diags_array(roots) @ matrix @ diags_array(roots)).astype(np.float32)


KINDS: dict[Adjacency, Callable[[MatchedGraph], Sparse]] = {
    "plain": plain,
    "random-walk": random_walk,
    "laplacian": laplacian,
}
"""All but "relational", which counts over both graphs."""


def _symmetric(size: int, triples: Positions, weights: NDArray[np.float64], loop: float) -> Sparse:
    """Both directions of every triple with its weight, summed, and a loop on every entity."""
    kind = np.int32 if max(size, 2 * len(triples) + size) < 2**31 else np.int64  # as that of rows
    heads, tails = triples[:, 0].astype(kind), triples[:, 2].astype(kind)
    every = np.arange(size, dtype=kind)
    matrix = csr_array(
        (
            np.concatenate([weights, weights, np.full(size, loop)]),
            (np.concatenate([heads, tails, every]), np.concatenate([tails, heads, every])),
        ),
        shape=(size, size),
    )
    matrix.sum_duplicates()
    return matrix.astype(np.float32)


def _degrees(matrix: Sparse) -> NDArray[np.float64]:
    return np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel()
