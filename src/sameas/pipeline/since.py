"""A run of earlier versions of the graphs: what of it still holds for those of today."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import NamedTuple

import polars as pl

from sameas.errors import InputError
from sameas.graph.changes import Rename, changed_entities, ids_of_today, share_recognised, with_ids
from sameas.graph.matched import MatchedGraph, MatchedPair
from sameas.graph.rdf.reading import SIDES
from sameas.graph.task import EARLIER_ENTITIES, EARLIER_PAIRS, Earlier, Inputs
from sameas.options.options import Options
from sameas.options.tuning import SinceTuning
from sameas.result.alignment import Alignment
from sameas.result.clusters import Clusters
from sameas.result.decisions import accepted_pairs, rejected_pairs
from sameas.result.run_folder import read_run

PAIR = ["left", "right"]
Since = Alignment | str | PathLike[str]
"""An alignment of earlier versions of the graphs, or its run folder."""


class Before(NamedTuple):
    """An earlier run in the ids of today."""

    graphs: tuple[MatchedGraph, MatchedGraph]
    links: pl.DataFrame
    candidates: pl.DataFrame
    anchors: pl.DataFrame
    decisions: pl.DataFrame
    log: pl.DataFrame | None
    seeds: pl.DataFrame
    reject: pl.DataFrame
    clusters: pl.DataFrame | None
    """entity, cluster."""


def with_earlier(
    inputs: Inputs, since: Since, pair: MatchedPair, options: Options, *, tuning: SinceTuning
) -> Inputs:
    """The inputs with what is taken over from an earlier run: pairs, and what is known of them.

    Seeds and rejected pairs of the run and its reviewers' decisions hold where the entities are
    still there, unless what is given now says otherwise.
    """
    run, place = run_and_place(since)
    one_graph = pair.is_one_graph
    _refuse_other_kinds(place, run, one_graph)
    now = pair.left.with_short_names()[0], pair.right.with_short_names()[0]
    before = before_of(
        run, [ids_of_today(*both) for both in zip(run.pair.graphs, now, strict=True)]
    )
    _refuse_others(place, before.graphs, now, tuning, one_graph=one_graph)
    return taken_over(inputs, before, now, options.single, one_graph=one_graph)


def run_and_place(since: Since) -> tuple[Alignment, str]:
    """A run that was given, and what it is called in messages."""
    if isinstance(since, Alignment):
        return since, "`since`"
    return read_run(since), str(since)


def taken_over(
    inputs: Inputs,
    before: Before,
    now: tuple[MatchedGraph, MatchedGraph],
    single: tuple[bool, bool],
    *,
    one_graph: bool,
) -> Inputs:
    """The inputs with what an earlier run gives for the graphs of today."""
    sides = SIDES[:1] if one_graph else SIDES
    changes = [changed_entities(*both) for both in zip(before.graphs, now, strict=True)]
    entities = pl.concat(
        table.select(side=pl.lit(side), entity="entity", change="change", reason="reason")
        for side, table in zip(sides, changes, strict=False)
    ).cast(EARLIER_ENTITIES)
    log = None if before.log is None else _still_there(before.log, now)
    earlier = Earlier(
        pairs=pl.DataFrame(schema=EARLIER_PAIRS) if one_graph else _pairs(before, now),
        entities=entities,
        decisions=log,
        lost_decisions=0 if before.log is None or log is None else len(before.log) - len(log),
        clusters=before.clusters,
    )
    if one_graph:
        before = _one_way(before)
        seeds, reject = (
            None if table is None else _smaller_first(table)
            for table in (inputs.seeds, inputs.reject)
        )
        inputs = replace(inputs, seeds=seeds, reject=reject)
    known = [_still_there(table, now) for table in _known(before)]
    single = (False, False) if one_graph else single
    seeds, reject = _beside_given(inputs, known[0], known[1], single)
    return replace(inputs, earlier=earlier, seeds=seeds, reject=reject)


def _refuse_other_kinds(place: str, run: Alignment, one_graph: bool) -> None:
    """Raise an InputError if a run is not of as many graphs as there are now."""
    several = run.diagnostics.graphs is not None
    if one_graph and (several or run.clusters is None):
        raise InputError(
            place, "is no run of one graph but of two, or of several; give one of dedupe"
        )
    if not one_graph and run.pair.is_one_graph:
        raise InputError(
            place, "is no run of two graphs but of one, or of several; give one of two"
        )


def _one_way(before: Before) -> Before:
    """The pairs of one graph with the smaller id first, since either order means the same."""
    log = None if before.log is None else _smaller_first(before.log)
    return before._replace(
        candidates=_smaller_first(before.candidates),
        decisions=_smaller_first(before.decisions),
        log=log,
        seeds=_smaller_first(before.seeds),
        reject=_smaller_first(before.reject),
    )


def _smaller_first(pairs: pl.DataFrame) -> pl.DataFrame:
    """Pairs with the smaller id as the left one; "" stands for none, and stays."""
    both = (pl.col("left") != "") & (pl.col("right") != "")
    ends = pl.min_horizontal(PAIR), pl.max_horizontal(PAIR)
    return pairs.with_columns(
        pl.when(both).then(end).otherwise(pl.col(side)).alias(side)
        for side, end in zip(PAIR, ends, strict=True)
    )


def before_of(run: Alignment, renames: Sequence[Rename | None]) -> Before:
    """The tables of a run, with the ids of today; None where those of a side stay."""
    graphs = run.pair.graphs

    def today(table: pl.DataFrame | None) -> pl.DataFrame:
        if table is None:
            return pl.DataFrame(schema=dict.fromkeys(PAIR, pl.String))
        columns = (
            _named(rename, table[side])
            for side, rename in zip(PAIR, renames, strict=True)
            if rename is not None
        )
        return table.with_columns(*columns)

    left, right = (
        graph if rename is None else with_ids(graph, rename)
        for graph, rename in zip(graphs, renames, strict=True)
    )
    best = run.unmatched.drop_nulls("candidate")
    of_right = best.filter(side="right").select(left="candidate", right="entity")
    return Before(
        (left, right),
        today(run.links),
        today(pl.concat([run.candidates.select(PAIR), of_right])),
        today(run.anchors),
        today(run.decisions),
        None if run.decision_log is None else today(run.decision_log),
        today(run.inputs.seeds),
        today(run.inputs.reject),
        None if run.clusters is None else _members(run.clusters, renames[0]),
    )


def _members(clusters: Clusters, rename: Rename | None) -> pl.DataFrame:
    """entity, cluster of the members of an earlier run, in the ids of today."""
    members = clusters.members.select("entity", "cluster")
    return members if rename is None else members.with_columns(rename(members["entity"]))


def _named(rename: Rename, column: pl.Series) -> pl.Series:
    """The ids of today; "" stands for none, and stays."""
    return pl.select(pl.when(column == "").then(column).otherwise(rename(column))).to_series()


def _refuse_others(
    place: str,
    before: tuple[MatchedGraph, MatchedGraph],
    now: tuple[MatchedGraph, MatchedGraph],
    tuning: SinceTuning,
    *,
    one_graph: bool,
) -> None:
    """Raise an InputError if a run is not of earlier versions of these graphs."""
    shares = [share_recognised(*both) for both in zip(before, now, strict=True)]
    for side, share in zip(SIDES, shares, strict=True):
        if share >= tuning.recognised:
            continue
        if one_graph:
            raise InputError(
                place,
                f"is a run of another graph: of the entities, {share:.0%} are known from it; give "
                "a run of an earlier version of this graph, or none",
            )
        crossed = [share_recognised(*both) for both in zip(before[::-1], now, strict=True)]
        if min(crossed) >= tuning.recognised:
            raise InputError(
                place, "is a run of these graphs in the other order; exchange the two inputs"
            )
        raise InputError(
            place,
            f"is a run of other graphs: of the {side} entities, {share:.0%} are known from it; "
            "give a run of earlier versions of these graphs, or none",
        )


def _pairs(before: Before, now: tuple[MatchedGraph, MatchedGraph]) -> pl.DataFrame:
    """The pairs of a run whose entities are still there, and all its links."""
    trust, confidence = (
        table.select(*PAIR, column) if column in table.columns else table.select(PAIR)
        for table, column in ((before.anchors, "trust"), (before.links, "confidence"))
    )
    tables = [before.candidates.select(PAIR), trust, confidence]
    every = pl.concat(tables, how="diagonal")
    here = _still_there(every.filter(pl.col("confidence").is_null()), now)
    links = every.filter(pl.col("confidence").is_not_null())
    merged = pl.concat([here, links]).group_by(PAIR).agg(pl.col("trust", "confidence").max())
    return merged.select(list(EARLIER_PAIRS)).cast(EARLIER_PAIRS).sort(PAIR)


def _still_there(table: pl.DataFrame, now: tuple[MatchedGraph, MatchedGraph]) -> pl.DataFrame:
    """The rows whose left and right entities are in the graphs; "" stands for none."""
    here = [
        pl.col(side).is_in(pl.concat([graph.entities, pl.Series([""])]).implode())
        for side, graph in zip(PAIR, now, strict=True)
    ]
    return table.filter(*here)


def _known(before: Before) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The pairs that are known to be links, and not to be, by a run and by its reviewers."""
    seeds, reject = before.seeds.select(PAIR), before.reject.select(PAIR)
    if before.log is None:
        return seeds, reject
    # What reviewers have said of a pair replaces what the run was given, also if it was undone.
    seeds, reject = (table.join(before.log, on=PAIR, how="anti") for table in (seeds, reject))
    accepted = accepted_pairs(before.decisions)
    rejected = rejected_pairs(before.decisions, before.candidates)
    return pl.concat([accepted, seeds]), pl.concat([rejected, reject])


def _beside_given(
    inputs: Inputs, seeds: pl.DataFrame, reject: pl.DataFrame, single: tuple[bool, bool]
) -> tuple[pl.DataFrame | None, pl.DataFrame | None]:
    """Seeds and rejected pairs: those given, and those of before that do not contradict them."""
    no_pairs = pl.DataFrame(schema=dict.fromkeys(PAIR, pl.String))
    given, refused = (
        no_pairs if table is None else table.select(PAIR) for table in (inputs.seeds, inputs.reject)
    )
    seeds = seeds.join(refused, on=PAIR, how="anti", maintain_order="left")
    for side, once in zip(PAIR, single, strict=True):
        if once:
            seeds = seeds.filter(~pl.col(side).is_in(given[side].implode()))
            seeds = seeds.unique(side, keep="first", maintain_order=True)
    seeds = pl.concat([given, seeds]).unique(maintain_order=True)
    reject = reject.join(seeds, on=PAIR, how="anti", maintain_order="left")
    reject = pl.concat([refused, reject]).unique(maintain_order=True)
    return seeds if len(seeds) else None, reject if len(reject) else None
