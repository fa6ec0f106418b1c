"""Three graphs or more: each two of them are aligned, and all links together make clusters."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from os import PathLike
from pathlib import Path

import numpy as np
import polars as pl

from sameas.assignment.clustering import Clustering, ScoredPairs, average_linkage
from sameas.compute.arrays import Positions
from sameas.errors import OptionError, shortened
from sameas.graph.graph import Graph, GraphPair, positions_of
from sameas.graph.iri import are_iris
from sameas.graph.matched import MatchedPair, count_things
from sameas.graph.semantics.understanding import understand, understand_one
from sameas.graph.task import Inputs
from sameas.graph.union import Union, union_of
from sameas.options.options import Options
from sameas.options.tuning import TUNING, Tuning
from sameas.pipeline.dedupe import nodes_of
from sameas.pipeline.inputs import Given, rows_of
from sameas.pipeline.outcome import as_listed
from sameas.pipeline.pair import align_pair
from sameas.pipeline.phases import PhaseProgress, Phases
from sameas.result.alignment import Alignment, Diagnostics
from sameas.result.clusters import Clusters, make_clusters

log = logging.getLogger(__name__)

FOR_TWO = {
    "among": "it names links of two graphs",
    "embeddings": "its rows are those of two graphs",
    "since": "it names a run of two graphs",
}
"""What can be given for two graphs alone, and why."""
PAIR = ["left", "right"]


@dataclass(frozen=True, eq=False)
class Part:
    """Two of the graphs, by number, and their alignment."""

    numbers: tuple[int, int]
    alignment: Alignment


def align_many(
    graphs: Sequence[Graph],
    called: Sequence[str],
    options: Options,
    given: Given,
    *,
    progress: PhaseProgress | None = None,
    checkpoint: str | PathLike[str] | None = None,
    tuning: Tuning = TUNING,
) -> Alignment:
    """The clusters of several graphs, as an alignment of their union with itself.

    Each two graphs are aligned; the links of all join entities to clusters. A cluster has one
    member of each graph at most, unless the cardinality is many-to-many.
    """
    _refuse_for_two(given, options)
    phases = Phases(progress)
    union = union_of(graphs, called)
    known = {name: rows_of(name, getattr(given, name)) for name in ("seeds", "reject")}
    parts = []
    for numbers in combinations(range(len(graphs)), 2):
        left, right = (graphs[number] for number in numbers)
        label = "-".join(str(number + 1) for number in numbers)
        seeds, reject = (_between(table, union, numbers) for table in known.values())
        part = align_pair(
            understand(GraphPair(left=left, right=right), tuning=tuning),
            options,
            replace(given, seeds=seeds, reject=reject),
            progress=_labelled(progress, label),
            checkpoint=None if checkpoint is None else Path(checkpoint) / label,
            tuning=tuning,
        )
        parts.append(Part(numbers, part))
        for phase, seconds in part.seconds.items():
            phases.seconds[phase] = phases.seconds.get(phase, 0.0) + seconds
        phases.resumed += [f"{phase} {label}" for phase in part.resumed]
    with phases.timed("clusters"):
        return _clustered(union, called, parts, known, phases)


def _refuse_for_two(given: Given, options: Options) -> None:
    """Raise an OptionError for what means something for two graphs alone."""
    for name, why in FOR_TWO.items():
        if getattr(given, name) is not None:
            raise OptionError(f"`{name}` cannot be used with three graphs or more: {why}")
    if options.cardinality not in ("one-to-one", "many-to-many"):
        raise OptionError(
            "`cardinality` of three graphs or more must be one-to-one or many-to-many, got "
            f"{options.cardinality!r}"
        )


def _labelled(progress: PhaseProgress | None, label: str) -> PhaseProgress | None:
    """Progress of the phases of one part."""
    return None if progress is None else lambda phase, share: progress(f"{phase} {label}", share)


def _between(
    table: pl.DataFrame | None, union: Union, numbers: tuple[int, ...]
) -> pl.DataFrame | None:
    """The pairs of an entity of the one graph and one of the other, given in either order."""
    places = _placed(union, table)
    here = places[(union.origin[places] == numbers).all(axis=1)]
    if not len(here):
        return None
    return pl.DataFrame({name: union.ids.gather(here[:, side]) for side, name in enumerate(PAIR)})


def _clustered(
    union: Union,
    called: Sequence[str],
    parts: Sequence[Part],
    known: dict[str, pl.DataFrame | None],
    phases: Phases,
) -> Alignment:
    """The alignment of the union with itself that the alignments of its graphs give."""
    options, tuning = parts[0].alignment.options, parts[0].alignment.tuning
    graph = understand_one(union.graph, tuning=tuning)
    pairs = _scored_pairs(union, parts, tuning)
    together, apart = _known_together(union, known["seeds"]), _placed(union, known["reject"])
    clustering = average_linkage(
        pairs.apart(apart, tuning.refinement.seed),
        absent=tuning.many.against,
        together=together,
        groups=union.origin if all(options.single) else None,
    )
    _tell_contradictions(union, clustering, apart)
    names = pl.Series(called).gather(union.origin)
    nodes = replace(nodes_of(union.graph, ""), entities=union.ids, graphs=names)
    clusters = make_clusters(nodes, pairs, clustering)
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
        "inputs": Inputs(seeds=known["seeds"], reject=known["reject"]),
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


def _scored_pairs(union: Union, parts: Sequence[Part], tuning: Tuning) -> ScoredPairs:
    """The pairs of all parts; only a link speaks for two entities.

    Other candidates count against them, or not at all: the assignment of their two graphs has
    decided that their score is not enough, or that others have a better one.
    """
    columns = [pl.DataFrame(schema={"left": pl.Int64, "right": pl.Int64, "score": pl.Float64})]
    for part in parts:
        alignment = part.alignment
        rest = alignment.candidates.select(*PAIR, "score")
        links = alignment.links.select(*PAIR, score=pl.max_horizontal("score", _log_odds()))
        others = rest.join(links, on=PAIR, how="anti")
        others = others.with_columns(pl.col("score").clip(tuning.many.against, 0.0))
        every = pl.concat([links, others])
        ends = {
            side: _positions(union, number, every[side])
            for side, number in zip(PAIR, part.numbers, strict=True)
        }
        columns.append(every.with_columns(**{side: pl.Series(p) for side, p in ends.items()}))
    table, limit = pl.concat(columns), tuning.open.clip
    table = table.filter(pl.col("left") >= 0, pl.col("right") >= 0)
    left, right, score = (table[name].to_numpy() for name in (*PAIR, "score"))
    return ScoredPairs(len(union.ids), left, right, np.clip(score, -limit, limit))


def _log_odds() -> pl.Expr:
    """The log-odds of a link by its confidence, and a little more than none in any case."""
    sure = pl.col("confidence").clip(0.501, 1 - 1e-9)
    return (sure / (1 - sure)).log()


def _known_together(union: Union, seeds: pl.DataFrame | None) -> Positions:
    """Pairs that are the same whatever their score: equal IRIs of different graphs, and seeds."""
    places = pl.DataFrame({"id": union.ids, "place": np.arange(len(union.ids))})
    shared = places.filter(pl.col("id").is_duplicated() & are_iris(union.ids))
    following = shared.with_columns(other=pl.col("place").shift(-1).over("id")).drop_nulls("other")
    equal = following.select("place", "other").to_numpy().astype(np.int64).reshape(-1, 2)
    return np.unique(np.concatenate([equal, _placed(union, seeds)]), axis=0)


def _placed(union: Union, pairs: pl.DataFrame | None) -> Positions:
    """The positions of pairs of entities of different graphs, the smaller first; shape (k, 2).

    Entities are given by their id, or by the id that they have in the run folder, where one that
    several graphs have is preceded by the name of its graph.
    """
    if pairs is None:
        return np.zeros((0, 2), dtype=np.int64)
    place = np.arange(len(union.ids))
    ids = pl.concat([union.ids, union.graph.entities.rename(union.ids.name)])
    places = pl.DataFrame({"id": ids, "place": np.append(place, place)}).unique()
    both = pairs.select(PAIR).join(places, left_on="left", right_on="id")
    both = both.join(places, left_on="right", right_on="id", suffix="_right")
    numbers = both.select("place", "place_right").to_numpy().astype(np.int64).reshape(-1, 2)
    different = union.origin[numbers[:, 0]] != union.origin[numbers[:, 1]]
    return np.unique(np.sort(numbers[different], axis=1), axis=0)


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
    reason = (
        pl.when(pl.col("candidate").is_null())
        .then(pl.lit("no-candidate"))
        .when(pl.col("score") <= 0)
        .then(pl.lit("below-threshold"))
        .otherwise(pl.lit("unsure"))
    )
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
            .with_columns(side=pl.lit("left"), reason=reason),
        ),
    }


def _with_ids(table: pl.DataFrame, entities: pl.Series, columns: Sequence[str]) -> pl.DataFrame:
    """A table with ids in place of positions."""
    return table.with_columns(
        entities.gather(table[column].cast(pl.UInt32)).alias(column) for column in columns
    )
