"""Clusters of three graphs or more, from the alignments of each two of them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from sameas.assignment.clustering import Clustering, ScoredPairs, average_linkage
from sameas.compute.arrays import Mask, Positions
from sameas.errors import shortened
from sameas.graph.graph import positions_of
from sameas.graph.iri import are_iris
from sameas.graph.matched import MatchedGraph, MatchedPair, count_things
from sameas.graph.task import Inputs
from sameas.graph.union import Union
from sameas.options.tuning import Tuning
from sameas.pipeline.dedupe import nodes_of, why_alone
from sameas.pipeline.outcome import as_listed
from sameas.pipeline.phases import Phases
from sameas.result.alignment import Alignment, Diagnostics
from sameas.result.cluster_changes import cluster_changes, named_since
from sameas.result.clusters import Clusters, make_clusters

log = logging.getLogger(__name__)

PAIR = ["left", "right"]


@dataclass(frozen=True, eq=False)
class Part:
    """Two of the graphs, by number, and their alignment."""

    numbers: tuple[int, int]
    alignment: Alignment


def clustered(
    union: Union,
    graph: MatchedGraph,
    called: Sequence[str],
    parts: Sequence[Part],
    inputs: Inputs,
    phases: Phases,
) -> Alignment:
    """The alignment of the union with itself that the alignments of its graphs give.

    ``graph`` is the union as it is matched.
    """
    options, tuning = parts[0].alignment.options, parts[0].alignment.tuning
    table = _pair_table(union, parts, tuning)
    pairs, weighed = (_scored(union, table, column) for column in ("score", "weight"))
    together, apart = _known_together(union, inputs, parts), _known_apart(union, inputs, parts)
    one_each = all(options.single)
    clustering = average_linkage(
        (weighed.likely() if one_each else weighed).apart(apart, tuning.refinement.seed),
        absent=0.0 if one_each else tuning.many.against,
        together=together,
        groups=union.origin if one_each else None,
    )
    _tell_contradictions(union, clustering, apart)
    names = pl.Series(called).gather(union.origin)
    nodes = replace(nodes_of(union.graph, ""), entities=union.ids, graphs=names)
    clusters = _since(make_clusters(nodes, pairs, clustering), union, names, inputs)
    tables = _tables(union, parts, pairs, clustering, clusters)
    size = count_things(graph)
    diagnostics = Diagnostics(
        solver=options.solver,
        objective=float(clusters.links["score"].sum()),
        left_entities=size,
        right_entities=size,
        left_candidates=len(graph.linkable),
        right_candidates=len(graph.linkable),
        clusters=len(clusters),
        clustered_entities=len(clusters.members),
        graphs=tuple(called),
        no_links=None if len(clusters) else "no two entities of different graphs are the same",
    )
    loaded = {
        "pair": MatchedPair(left=graph, right=graph),
        "inputs": inputs,
        "clusters": clusters,
        "parts": tuple(part.alignment for part in parts),
        **tables,
    }
    return Alignment(
        options=options,
        tuning=tuning,
        diagnostics=diagnostics,
        load=loaded.get,
        seconds=phases.seconds,
        resumed=tuple(phases.resumed),
    )


def _positions(union: Union, number: int, entities: pl.Series) -> Positions:
    """The positions in the union of entities of one graph."""
    start = int(np.searchsorted(union.origin, number))
    stop = int(np.searchsorted(union.origin, number, side="right"))
    found = positions_of(entities, union.ids[start:stop])
    return np.where(found < 0, -1, found + start)


def _pair_table(union: Union, parts: Sequence[Part], tuning: Tuning) -> pl.DataFrame:
    """left, right, score, weight: the pairs of all parts by position.

    Only a link speaks for two entities. Its score is the surer of its log-odds and its confidence.
    Its weight, by which clusters are joined, follows from the log-odds alone: ln(1 + e^score) is
    above zero, and tells links apart that are all nearly certain.

    Where a cluster has one member of each graph, other candidates say nothing: a link may have been
    missed, and an entity that has a better partner is kept apart by that one. Else they count
    against two entities, or a chain of links would make one cluster.
    """
    columns = ("score", "weight")
    schema = {**dict.fromkeys(PAIR, pl.Int64), **dict.fromkeys(columns, pl.Float64)}
    tables = [pl.DataFrame(schema=schema)]
    limit = tuning.open.clip
    for part in parts:
        alignment = part.alignment
        score = pl.col("score").clip(-limit, limit)
        links = alignment.links.select(
            *PAIR, score=pl.max_horizontal(score, _log_odds()), weight=score.exp().log1p()
        )
        score = pl.col("score").clip(tuning.many.against, 0.0)
        others = alignment.candidates.join(links, on=PAIR, how="anti").select(
            *PAIR, score=score, weight=score
        )
        every = pl.concat([links, others])
        ends = {
            side: _positions(union, number, every[side])
            for side, number in zip(PAIR, part.numbers, strict=True)
        }
        tables.append(every.with_columns(**{side: pl.Series(p) for side, p in ends.items()}))
    return pl.concat(tables).filter(pl.col("left") >= 0, pl.col("right") >= 0)


def _scored(union: Union, table: pl.DataFrame, column: str) -> ScoredPairs:
    """The pairs with one of their figures."""
    left, right, figures = (table[name].to_numpy() for name in (*PAIR, column))
    return ScoredPairs(len(union.ids), left, right, figures)


def _log_odds() -> pl.Expr:
    """The log-odds of a link by its confidence, and a little more than none in any case."""
    sure = pl.col("confidence").clip(0.501, 1 - 1e-9)
    return (sure / (1 - sure)).log()


def _known_together(union: Union, inputs: Inputs, parts: Sequence[Part]) -> Positions:
    """Pairs that are the same whatever their score: equal IRIs of different graphs, and seeds.

    Terms of vocabularies, such as owl:Class, are the same too, but nothing that is to be linked.
    """
    places = pl.DataFrame({"id": union.ids, "place": np.arange(len(union.ids))})
    places = places.filter(pl.Series(_linkable(union, parts)) & are_iris(union.ids))
    shared = places.filter(pl.col("id").is_duplicated())
    following = shared.with_columns(other=pl.col("place").shift(-1).over("id")).drop_nulls("other")
    equal = following.select("place", "other").to_numpy().astype(np.int64).reshape(-1, 2)
    seeds = [_placed(union, part, part.alignment.inputs.seeds) for part in parts]
    return np.unique(np.concatenate([equal, union.placed(inputs.seeds), *seeds]), axis=0)


def _linkable(union: Union, parts: Sequence[Part]) -> Mask:
    """Which entities of the union may be linked with one of another graph."""
    linkable = np.zeros(len(union.ids), dtype=np.bool_)
    for part in parts:
        for number, graph in zip(part.numbers, part.alignment.pair.graphs, strict=True):
            places = _positions(union, number, graph.entities.gather(graph.linkable))
            linkable[places[places >= 0]] = True
    return linkable


def _known_apart(union: Union, inputs: Inputs, parts: Sequence[Part]) -> Positions:
    """Pairs that are given as different, for all graphs or in the earlier run of two of them."""
    rejected = [_placed(union, part, part.alignment.inputs.reject) for part in parts]
    return np.unique(np.concatenate([union.placed(inputs.reject), *rejected]), axis=0)


def _placed(union: Union, part: Part, pairs: pl.DataFrame | None) -> Positions:
    """The positions in the union of pairs of two of the graphs, shape (k, 2)."""
    if pairs is None:
        return np.zeros((0, 2), dtype=np.int64)
    ends = [
        _positions(union, number, pairs[side])
        for side, number in zip(PAIR, part.numbers, strict=True)
    ]
    places = np.stack(ends, axis=1)
    here: Positions = places[(places >= 0).all(axis=1)]
    return here


def _since(clusters: Clusters, union: Union, names: pl.Series, inputs: Inputs) -> Clusters:
    """The clusters with the names of an earlier run and what has changed, if there was one."""
    if inputs.earlier is None:
        return clusters
    origins = pl.DataFrame({"id": union.graph.entities, "entity": union.ids, "graph": names})
    named = named_since(clusters, inputs.earlier, origins)
    return replace(named, changes=cluster_changes(named, inputs.earlier, inputs, origins))


def _tell_contradictions(union: Union, clustering: Clustering, apart: Positions) -> None:
    """Warn of pairs that were given as different although seeds make them the same."""
    same = clustering.labels[apart[:, 0]] == clustering.labels[apart[:, 1]]
    for one, other in apart[same].tolist():
        log.warning(
            "%s and %s are given as different (`reject`), and as the same by way of others "
            "(`seeds`); they are in one cluster, and both decisions are kept",
            shortened(union.graph.entities[one]),
            shortened(union.graph.entities[other]),
        )


def _tables(
    union: Union,
    parts: Sequence[Part],
    pairs: ScoredPairs,
    clustering: Clustering,
    clusters: Clusters,
) -> dict[str, pl.DataFrame]:
    """The tables of an alignment, with the ids of the union."""
    entities = union.graph.entities
    labels = clustering.labels
    inside = labels[pairs.left] == labels[pairs.right]
    scored = pl.DataFrame({"left": pairs.left, "right": pairs.right, "score": pairs.scores})
    both = pl.concat([scored, scored.select(left="right", right="left", score="score")])
    order = both.sort(["left", "score", "right"], descending=[False, True, False])
    rank = pl.int_range(1, pl.len() + 1).over("left")
    ranked = order.with_columns(rank=rank, mean_rank=rank.cast(pl.Float64))
    ranked = ranked.filter(pl.col("rank") <= parts[0].alignment.options.top)
    best = ranked.filter(pl.col("rank") == 1).select("left", "score", candidate="right")
    alone = np.flatnonzero(np.bincount(labels, minlength=len(labels))[labels] == 1)
    unmatched = pl.DataFrame({"left": alone}).join(best, on="left", how="left").sort("left")
    links = scored.filter(pl.Series(inside)).with_columns(
        confidence=1 / (1 + (-pl.col("score")).exp())
    )
    return {
        "links": as_listed("links", _with_ids(links, entities, PAIR).sort(PAIR)),
        "candidates": as_listed("candidates", _with_ids(ranked, entities, PAIR)),
        "unmatched": as_listed(
            "unmatched",
            _with_ids(unmatched, entities, ["left", "candidate"])
            .rename({"left": "entity"})
            .with_columns(side=pl.lit("left"), reason=why_alone()),
        ),
    }


def _with_ids(table: pl.DataFrame, entities: pl.Series, columns: Sequence[str]) -> pl.DataFrame:
    """A table with ids in place of positions."""
    return table.with_columns(
        entities.gather(table[column].cast(pl.UInt32)).alias(column) for column in columns
    )
