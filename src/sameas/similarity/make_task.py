"""From graphs and what is given besides them to a Task: all that is given, checked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from sameas.compute.arrays import Positions
from sameas.compute.in_files import is_in_file
from sameas.errors import OptionError
from sameas.graph.exclusions import exclusions_of
from sameas.graph.iri import are_iris
from sameas.graph.matched import MatchedGraph, MatchedPair
from sameas.graph.task import Constraints, Inputs, Task
from sameas.options.options import Options
from sameas.options.tuning import TUNING, Tuning


def make_task(
    pair: MatchedPair, options: Options, inputs: Inputs, *, tuning: Tuning = TUNING
) -> Task:
    """The task, with seeds, rejected pairs and ``among`` checked against the graphs.

    Everything is sorted first, so that links do not depend on the order of statements. Of very
    long names only the beginning is kept.
    """
    if inputs.embeddings is not None:
        orders = [graph.entities.arg_sort().to_numpy() for graph in (pair.left, pair.right)]
        rows = np.concatenate([orders[0], len(orders[0]) + orders[1]], dtype=np.int64)
        inputs = replace(inputs, embeddings=inputs.embeddings.take(rows))
    one_graph = pair.is_one_graph
    cut = [_in_order(graph) for graph in pair.graphs[: 1 if one_graph else 2]]
    pair = replace(pair, left=cut[0][0], right=cut[-1][0])
    graphs = pair.left, pair.right
    if inputs.among is None:
        left, right = (graph.linkable for graph in graphs)
    else:
        left, right = (np.unique(column) for column in _positions(pair, inputs.among, "among").T)
    seeds = _positions(pair, inputs.seeds, "seeds")
    rejected = _positions(pair, inputs.reject, "reject")
    if one_graph:
        seeds, rejected = _both_ways(seeds, "seeds"), _both_ways(rejected, "reject")
    inside = [np.zeros(len(graph.entities), dtype=np.bool_) for graph in graphs]
    inside[0][left], inside[1][right] = True, True
    masks, puns = (inside[0], inside[1]), pair.puns
    known = Constraints(
        seeds,
        rejected,
        masks,
        pair.compared_kinds,
        (False, False) if one_graph else options.single,
        puns if puns[0].any() or puns[1].any() else None,
        one_graph,
    )
    _check_seeds(known)
    exclusions = exclusions_of(pair, tuning=tuning.types)
    same = np.zeros((0, 2), dtype=np.int64) if one_graph else same_iris(pair)
    same = same[known.allows(*same.T) & ~exclusions.contradict(*same.T)]
    seeds = np.unique(np.concatenate([seeds, same]), axis=0)
    known = replace(known, seeds=seeds, exclusions=exclusions)
    return Task(pair, options, inputs, (left, right), known, sum(count for _, count in cut), tuning)


def _in_order(graph: MatchedGraph) -> tuple[MatchedGraph, int]:
    """The graph in order, in files if it is there, and how many long names were cut."""
    ordered, cut = graph.in_order().with_short_names()
    return ordered.in_files() if is_in_file(graph.triples) else ordered, cut


def same_iris(pair: MatchedPair) -> Positions:
    """Pairs that both graphs call by the same IRI, which are the same; shape (k, 2).

    Other ids, such as row numbers, mean something else in each graph.
    """
    theirs = pair.right.positions(pair.left.entities)
    ours = np.flatnonzero(theirs >= 0)
    ours = ours[are_iris(pair.left.entities.gather(ours)).to_numpy()]
    return np.stack([ours, theirs[ours]], axis=1)


def _both_ways(pairs: Positions, name: str) -> Positions:
    """Pairs of one graph, each both ways round."""
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise OptionError(f"`{name}` must name two entities in each pair, got one twice")
    return np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0)


def _check_seeds(known: Constraints) -> None:
    """Refuse seeds that contradict each other or what else was given."""
    seeds, inside = known.seeds, known.inside
    for column, side in enumerate(("left", "right")):
        if known.single[column] and len(np.unique(seeds[:, column])) < len(seeds):
            raise OptionError(
                f"`seeds` must name a {side} entity once, got one more often; if it may have "
                "several partners, say so with `cardinality`"
            )
    if (inside[0][seeds[:, 0]] != inside[1][seeds[:, 1]]).any():
        raise OptionError(
            "`seeds` must not link an entity that may be linked (option `among`) with one that "
            "may not, got such a link"
        )
    width = len(inside[1])
    if len(np.intersect1d(seeds @ [width, 1], known.rejected @ [width, 1])):
        raise OptionError("`seeds` must not be rejected, got a link that `reject` names too")


def _positions(pair: MatchedPair, links: pl.DataFrame | None, name: str) -> Positions:
    """The positions of the entities of links, shape (k, 2)."""
    if links is None:
        return np.zeros((0, 2), dtype=np.int64)
    columns = []
    for side, graph in (("left", pair.left), ("right", pair.right)):
        positions = graph.positions(links[side])
        unknown = links[side].filter(pl.Series(positions < 0))
        if len(unknown):
            raise OptionError(
                f"`{name}` must name entities of the two graphs, got {len(unknown)} that are not "
                f'in the {side} one, the first is "{unknown[0]}"; leave them out'
            )
        columns.append(positions)
    return np.stack(columns, axis=1)
