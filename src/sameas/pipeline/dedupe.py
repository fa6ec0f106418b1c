"""Duplicates within one graph: the same stages as between two, with clusters at the end."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.assignment.clustering import (
    Clustering,
    ScoredPairs,
    average_linkage,
    less_for_rivals,
)
from sameas.assignment.decision import lead_by_chance
from sameas.assignment.ranking import ranked
from sameas.candidates.pairs import Candidates
from sameas.compute.arrays import Positions
from sameas.compute.kernels.ready import make_ready
from sameas.compute.parallel import one_blas_thread
from sameas.errors import OptionError, shortened
from sameas.formats.pair import read_graph
from sameas.formats.tabular import graph_of_frame
from sameas.graph.graph import Graph
from sameas.graph.matched import MatchedGraph, MatchedPair, count_things
from sameas.graph.rdf.reading import Reading
from sameas.graph.semantics.understanding import understand_one
from sameas.graph.task import Inputs, Task
from sameas.options.options import Options, make_options, refuse_unused
from sameas.options.tuning import TUNING, Tuning
from sameas.pipeline.best import (
    anchor_table,
    decide_links,
    figures_of,
    make_plan,
    refined,
    relation_table,
)
from sameas.pipeline.checkpoint import Checkpoint, fingerprint
from sameas.pipeline.cluster import working
from sameas.pipeline.inputs import Given, Links, collect_inputs
from sameas.pipeline.outcome import as_listed, counted_ranks
from sameas.pipeline.phases import PhaseProgress, Phases
from sameas.pipeline.since import Since
from sameas.pipeline.sources import is_place, is_table
from sameas.refinement.patterns import less_for_strangers
from sameas.refinement.refine import Refinement, subtract_threshold
from sameas.result.alignment import Alignment
from sameas.result.cluster_changes import cluster_changes, named_since
from sameas.result.clusters import Clusters, Nodes, make_clusters
from sameas.similarity.attributes import read_attributes
from sameas.similarity.make_task import make_task

log = logging.getLogger(__name__)


def dedupe(
    graph: Any,
    options: Options | None = None,
    *,
    id: str | None = None,
    name: str | None = None,
    seeds: Links | None = None,
    reject: Links | None = None,
    since: Since | None = None,
    embeddings: NDArray[Any] | str | PathLike[str] | None = None,
    word_vectors: Mapping[str, Any] | str | PathLike[str] | None = None,
    progress: PhaseProgress | None = None,
    checkpoint: str | PathLike[str] | None = None,
    engine: Any = None,
    device: Any = None,
    tuning: Tuning = TUNING,
    **choices: Any,
) -> Alignment:
    """The entities of one graph that are the same thing: ``dedupe(graph).clusters``.

    ``graph`` is a graph, a table of records or triples (polars, pandas, Arrow, a mapping of
    columns, a list of dictionaries), or what ``read_graph`` takes. ``seeds`` are pairs known to be
    the same, ``reject`` pairs known to differ: tables with the columns left and right, or files.
    ``since`` is a result of ``dedupe`` for an earlier version of the graph, or its run folder:
    clusters keep the names that they had there, what was decided there still holds, and
    ``clusters.changes`` says what is new, kept, changed and gone. Other arguments are as in
    ``align``.

    The result is an alignment of the graph with itself. Its links are those that hold the clusters
    together.
    """
    if options is None:
        options = make_options("best", **choices)
        refuse_unused(options, choices, embeddings=embeddings is not None)
    elif choices:
        raise OptionError(
            f"`{next(iter(choices))}` was given beside an Options object; put it into that"
        )
    if isinstance(embeddings, np.ndarray):
        embeddings = (embeddings, embeddings)  # type: ignore[assignment]
    given = Given(
        seeds=seeds,
        reject=reject,
        embeddings=embeddings,  # type: ignore[arg-type]
        word_vectors=word_vectors,
        since=since,
    )
    with working(options, engine, device):
        return dedupe_graph(
            _matched(graph, id, name, tuning),
            options,
            given,
            called=_called(graph),
            progress=progress,
            checkpoint=checkpoint,
            tuning=tuning,
        )


def dedupe_graph(
    graph: MatchedGraph,
    options: Options,
    given: Given,
    *,
    called: str = "graph",
    progress: PhaseProgress | None = None,
    checkpoint: str | PathLike[str] | None = None,
    tuning: Tuning = TUNING,
) -> Alignment:
    """The clusters of a graph that is ``called`` so in tables; used while `working`."""
    if not options.rounds or options.method != "seu":
        raise OptionError("duplicates are found by the preset best alone; leave out `rounds` 0")
    phases = Phases(progress)
    with one_blas_thread():
        with phases.timed("inputs") as report:
            pair = MatchedPair(left=graph, right=graph)
            inputs = collect_inputs(pair, options, given, report, tuning=tuning)
            # Clusters are computed from the graph and what is known; then they get their names.
            task = make_task(pair, options, replace(inputs, earlier=None), tuning=tuning)
            if checkpoint is not None:
                phases.checkpoint = Checkpoint(Path(checkpoint), fingerprint(task))
        make_ready()
        _, refinement, figures = refined(task, phases)
        with phases.timed("clusters"):
            surplus = subtract_threshold(
                refinement.pairs.candidates, refinement.thresholds, task.known.kinds[0]
            )
            together = _known_together(task)
            pairs = _scored_pairs(task, surplus, together)
            if refinement.in_twos:
                pairs = likely = _paired(task, refinement, pairs, together)
            else:
                likely = _less_for_strangers(task, pairs, together)
            clustering = _clustering(task, likely, together)
            clusters = make_clusters(nodes_of(task.pair.left, called), pairs, clustering)
            clusters = _since(clusters, inputs)
            tables = _tables(task, refinement, surplus, clusters)
        diagnostics = replace(
            figures_of(task, refinement, figures),
            objective=float(clusters.links["score"].sum()),
            left_entities=count_things(task.pair.left),
            right_entities=count_things(task.pair.left),
            left_candidates=len(task.sides[0]),
            right_candidates=len(task.sides[1]),
            clusters=len(clusters),
            clustered_entities=len(clusters.members),
            long_names=task.long_names or None,
            no_links=None if len(clusters) else _why_none(task, pairs),
        )
    if diagnostics.no_links:
        log.warning("%s", diagnostics.no_links)
    elif warning := _too_alike(task, clusters):
        log.warning("%s", warning)
    return Alignment(
        options=options,
        tuning=tuning,
        diagnostics=diagnostics,
        load={
            "pair": task.pair,
            "inputs": replace(task.inputs, earlier=inputs.earlier),
            "clusters": clusters,
            **tables,
        }.get,
        seconds=phases.seconds,
        resumed=tuple(phases.resumed),
    )


def _since(clusters: Clusters, inputs: Inputs) -> Clusters:
    """The clusters with the names of an earlier run and what has changed, if there was one."""
    if inputs.earlier is None:
        return clusters
    named = named_since(clusters, inputs.earlier)
    return replace(named, changes=cluster_changes(named, inputs.earlier, inputs))


def _called(graph: Any) -> str:
    """What a graph is called in tables: the name of its file, if it has one."""
    return Path(fspath(graph)).name if isinstance(graph, str | PathLike) else "graph"


def _matched(graph: Any, id: str | None, name: str | None, tuning: Tuning) -> MatchedGraph:
    """One graph as it is matched, whatever it is given as."""
    if isinstance(graph, MatchedGraph):
        return graph
    if is_table(graph):
        graph = graph_of_frame(graph, "left", id=id, name=name)
    elif is_place(graph):
        columns = [() if column is None else (column,) for column in (id, name)]
        graph = read_graph(graph, reading=Reading(id=columns[0], name=columns[1]))
    if not isinstance(graph, Graph):
        found = type(graph).__name__
        raise OptionError(f"`graph` must be a graph, a table or a file, got {found} instead")
    return understand_one(graph, tuning=tuning)


def _known_together(task: Task) -> Positions:
    """Pairs that are the same whatever their score: seeds, and records that are equal in all."""
    seeds, apart = task.known.seeds, task.known.rejected
    equal = _equal_records(task.pair.left)
    equal = equal[task.known.allows(*equal.T)] if len(equal) else equal
    # Where one of several equal ones is given as different, their scores decide.
    touched = np.isin(equal, apart).any(axis=1)
    seeds = seeds[seeds[:, 0] < seeds[:, 1]]
    return np.unique(np.concatenate([seeds, equal[~touched]]), axis=0)


def _equal_records(graph: MatchedGraph) -> Positions:
    """Entities of which exactly the same is said, two statements or more, with the next such one.

    Names, values and neighbours count. Shape (k, 2), the first position before the second.
    """
    head, relation, tail = graph.triples.T
    said = pl.concat(
        [
            pl.DataFrame({"entity": graph.attribute_entities}).with_columns(
                attribute=graph.attributes["attribute"].cast(pl.String),
                value=graph.attributes["value"],
            ),
            pl.DataFrame(
                {"entity": head, "attribute": "> " + graph.relations.gather(relation)}
            ).with_columns(value=graph.entities.gather(tail)),
            pl.DataFrame(
                {"entity": tail, "attribute": "< " + graph.relations.gather(relation)}
            ).with_columns(value=graph.entities.gather(head)),
        ]
    )
    said = said.filter(pl.col("entity") >= 0).unique().sort("attribute", "value")
    content = pl.struct("attribute", "value")
    each = said.group_by("entity").agg(content=content.hash(0))
    each = each.filter(pl.col("content").list.len() > 1).sort("entity")
    following = pl.col("entity").shift(-1).over("content")
    chain = each.with_columns(other=following).drop_nulls("other")
    return chain.select("entity", "other").to_numpy().astype(np.int64).reshape(-1, 2)


def _scored_pairs(task: Task, surplus: Candidates, together: Positions) -> ScoredPairs:
    """Each pair of entities that may be linked, once, with its score above the threshold."""
    inside, size = task.known.inside[0], surplus.shape[0]
    one_way = (surplus.left < surplus.right) & inside[surplus.left] & inside[surplus.right]
    left, right = (side[one_way].astype(np.int64) for side in (surplus.left, surplus.right))
    limit = task.tuning.open.clip
    scores = np.clip(surplus.values[one_way].astype(np.float64), -limit, limit)
    others = ~np.isin(left * size + right, together @ [size, 1])
    return ScoredPairs(
        size,
        np.concatenate([left[others], together[:, 0]]),
        np.concatenate([right[others], together[:, 1]]),
        np.concatenate([scores[others], np.full(len(together), limit)]),
    )


def _paired(
    task: Task, refinement: Refinement, pairs: ScoredPairs, together: Positions
) -> ScoredPairs:
    """The pairs scored by how likely they are if each entity has one partner at most.

    Links are decided as between two graphs. By how much a best partner leads if it is chance is
    told by the further partners, which are of one family. Pairs that are ``together`` keep their
    scores.
    """
    planned = make_plan(task, refinement)
    lift = lead_by_chance(planned.surplus, tuning=task.tuning.decision)
    raised = replace(task, tuning=task.tuning.changed(decision={"lift": lift}))
    decided = decide_links(raised, planned)
    smallest = np.exp(-task.tuning.open.clip)
    share = np.clip(decided.probability, smallest, 1 - np.finfo(np.float64).eps)
    odds = np.log(share) - np.log1p(-share)
    linked = np.isin(np.arange(len(odds)), decided.linked)
    odds = np.where(linked, odds, np.minimum(odds, 0.0))
    left, right = (np.searchsorted(task.sides[0], side) for side in (pairs.left, pairs.right))
    ways = decided.surplus.find(left, right), decided.surplus.find(right, left)
    given = np.isin(pairs.left * pairs.size + pairs.right, together @ [pairs.size, 1])
    either = np.where(np.minimum(*ways) >= 0, np.minimum(*(odds[way] for way in ways)), 0.0)
    return replace(pairs, scores=np.where(given, pairs.scores, either))


def _less_for_strangers(task: Task, pairs: ScoredPairs, together: Positions) -> ScoredPairs:
    """The pairs of a table with less for strangers; those that are ``together`` stay."""
    if task.pair.left.source.shape != "records":
        return pairs
    attributes = read_attributes(task.pair, tuning=task.tuning)
    given = np.isin(pairs.left * pairs.size + pairs.right, together @ [pairs.size, 1])
    ends = pairs.left[~given], pairs.right[~given]
    scores = pairs.scores.copy()
    scores[~given] = less_for_strangers(
        attributes, *ends, pairs.scores[~given], tuning=task.tuning.duplicates
    )
    return replace(pairs, scores=scores)


def _clustering(task: Task, pairs: ScoredPairs, together: Positions) -> Clustering:
    """The clusters, in which what was given as the same is together, and as different is not."""
    apart = task.known.rejected
    apart = apart[apart[:, 0] < apart[:, 1]]
    every = less_for_rivals(pairs, together).apart(apart, task.tuning.refinement.seed)
    absent = task.tuning.duplicates.absent
    clustering = average_linkage(every, absent=absent, together=together)
    _tell_contradictions(task, clustering)
    return clustering


def _tell_contradictions(task: Task, clustering: Clustering) -> None:
    """Warn of pairs that were given as different although seeds make them the same."""
    left, right = task.known.rejected.T
    same = clustering.labels[left] == clustering.labels[right]
    entities = task.pair.left.entities
    for one, other in task.known.rejected[same & (left < right)].tolist():
        log.warning(
            "%s and %s are given as different (`reject`), and as the same by way of others "
            "(`seeds`); they are in one cluster, and both decisions are kept",
            shortened(entities[one]),
            shortened(entities[other]),
        )


def nodes_of(graph: Graph | MatchedGraph, called: str) -> Nodes:
    """The entities of a graph, with how many values, names and triples each has."""
    size = len(graph.entities)
    said = np.bincount(graph.attribute_entities[graph.attribute_entities >= 0], minlength=size)
    for ends in (graph.triples[:, 0], graph.triples[:, 2], graph.alternative_entities):
        said += np.bincount(ends[ends >= 0], minlength=size)
    return Nodes(graph.entities, pl.repeat(called, size, dtype=pl.String, eager=True), said)


def _tables(
    task: Task, refinement: Refinement, surplus: Candidates, clusters: Clusters
) -> dict[str, pl.DataFrame | None]:
    """The tables of an alignment of a graph with itself."""
    entities = task.pair.left.entities
    best = ranked(surplus, np.zeros(surplus.shape[1]), task.options.top)
    listed = pl.DataFrame(
        {"left": best.left, "right": best.right, "rank": best.rank, "score": best.values}
    )
    named = counted_ranks(listed).with_columns(
        left=entities.gather(best.left), right=entities.gather(best.right)
    )
    links = clusters.links.select("left", "right", "score", "confidence")
    return {
        "links": as_listed("links", links),
        "candidates": as_listed("candidates", named),
        "unmatched": _unmatched(task, named, clusters),
        "relations": relation_table(task.pair, refinement.relations),
        "anchors": anchor_table(task.pair, refinement.anchors),
    }


def _unmatched(task: Task, candidates: pl.DataFrame, clusters: Clusters) -> pl.DataFrame:
    """The entities without a duplicate, each with its best candidate, if any."""
    best = candidates.filter(pl.col("rank") == 1).select("score", entity="left", candidate="right")
    alone = pl.DataFrame({"entity": task.entities[0]}).join(
        clusters.members, on="entity", how="anti", maintain_order="left"
    )
    table = alone.join(best, on="entity", how="left", maintain_order="left")
    return as_listed("unmatched", table.with_columns(side=pl.lit("left"), reason=why_alone()))


def why_alone() -> pl.Expr:
    """Why an entity is in no cluster, by its best candidate and the score of that."""
    return (
        pl.when(pl.col("candidate").is_null())
        .then(pl.lit("no-candidate"))
        .when(pl.col("score") <= 0)
        .then(pl.lit("below-threshold"))
        .otherwise(pl.lit("unsure"))
    )


def _why_none(task: Task, pairs: ScoredPairs) -> str:
    """That there are no duplicates, and which pair came nearest to one."""
    if not len(pairs.scores):
        return "no duplicates: no two entities have a part of a name or a value in common"
    place = int(np.argmax(pairs.scores))
    entities = task.pair.left.entities
    one, other = entities[int(pairs.left[place])], entities[int(pairs.right[place])]
    nearest = f"the nearest are {shortened(one)} and {shortened(other)}"
    if name := _only_name(task):
        return (
            f'no duplicates: all {len(task.sides[0])} entities have the name "{shortened(name)}", '
            f"and nothing else makes two of them likelier the same than not; {nearest}"
        )
    return f"no duplicates: no two entities are likelier the same than not; {nearest}"


def _too_alike(task: Task, clusters: Clusters) -> str | None:
    """What to say of clusters of entities that names do not tell apart, if they do not."""
    count = len(task.sides[0])
    if len(clusters) == 1 and len(clusters.members) == count > 2:
        return (
            f"all {count} entities are in one cluster: nothing tells them apart; names and values "
            "that differ would (see `sameas inspect`)"
        )
    if name := _only_name(task):
        return (
            f'all {count} entities have the name "{shortened(name)}": only values and neighbours '
            "tell them apart; names that differ would do it better (see `sameas inspect`)"
        )
    return None


def _only_name(task: Task) -> str | None:
    """The name that all entities have, where there are three or more with one name each."""
    graph = task.pair.left
    names = graph.names.gather(task.sides[0])
    if len(names) < 3 or names.n_unique() > 1 or len(graph.alternatives):
        return None
    return str(names[0]) or None
