"""A run of earlier versions of three graphs or more: what of it still holds for those of today."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from sameas.errors import InputError
from sameas.graph.changes import Rename, ids_of_today, share_recognised, with_ids
from sameas.graph.matched import MatchedGraph, MatchedPair
from sameas.graph.task import Inputs
from sameas.graph.union import Union
from sameas.options.tuning import SinceTuning
from sameas.pipeline.since import Since, before_of, run_and_place, taken_over
from sameas.result.alignment import Alignment


@dataclass(frozen=True, eq=False)
class EarlierGraphs:
    """An earlier run of several graphs."""

    run: Alignment
    parts: tuple[Alignment, ...]
    """The runs of each two graphs; what was given to them is known from the run of all."""
    called: Sequence[str]
    """What the graphs are called today."""
    renames: Sequence[Rename | None]
    """By graph, what gives the ids of today; None where ids stay."""

    def taken_over(self, inputs: Inputs, union: Union, graph: MatchedGraph) -> Inputs:
        """The inputs with the decisions and clusters of the run, by the ids of today's union.

        ``graph`` is the union as it is matched. What is given now takes precedence.
        """
        ids = self._ids(union)

        def today(column: pl.Series) -> pl.Series:
            named: pl.Series = column.replace_strict(ids["id"], ids["now"], default=column)
            return named

        clusters = self.run.clusters
        assert clusters is not None
        origins = self.run.origins
        members = clusters.members.join(origins, on=["entity", "graph"], maintain_order="left")
        before = before_of(self.run, (today, today))._replace(
            clusters=members.select(entity=today(members["id"]), cluster="cluster")
        )
        seeds, reject = (
            None if table is None else union.named(union.placed(table))
            for table in (inputs.seeds, inputs.reject)
        )
        inputs = replace(inputs, seeds=seeds, reject=reject)
        now = graph.with_short_names()[0]
        return taken_over(inputs, before, (now, now), (False, False), one_graph=True)

    def _ids(self, union: Union) -> pl.DataFrame:
        """id, now: the ids that the entities of the run have today.

        One that is gone is preceded by the name of its graph where another one has its id.
        """
        origins, names = self.run.origins, self.run.diagnostics.graphs
        assert names is not None
        tables = []
        for number, (name, rename) in enumerate(zip(names, self.renames, strict=True)):
            mine = origins.filter(pl.col("graph") == name)
            own = mine["entity"] if rename is None else rename(mine["entity"])
            former = self.called[number] + "/" + own
            tables.append(mine.with_columns(own, number=pl.lit(number), former=former))
        today = pl.DataFrame(
            {"number": union.origin, "entity": union.ids, "now": union.graph.entities}
        )
        every = pl.concat(tables).with_columns(pl.col("number").cast(pl.Int64))
        every = every.join(today, on=["number", "entity"], how="left", maintain_order="left")
        taken = pl.col("entity").is_in(union.graph.entities.implode()) | (
            pl.col("id") != pl.col("entity")
        )
        gone = pl.when(taken).then("former").otherwise("entity")
        return every.select("id", now=pl.coalesce("now", gone))


def earlier_graphs(
    since: Since,
    pairs: Mapping[tuple[int, int], MatchedPair],
    called: Sequence[str],
    *,
    tuning: SinceTuning,
) -> EarlierGraphs:
    """An earlier run of these graphs; raises an InputError if it is one of others.

    ``pairs`` are each two of the graphs, by their numbers.
    """
    run, place = run_and_place(since)
    names, parts = run.diagnostics.graphs, run.parts
    if names is None or parts is None or len(names) != len(called):
        kind = "two graphs, or of one" if names is None else f"{len(names)} graphs"
        raise InputError(
            place, f"is a run of {kind}; give one of {len(called)} graphs, these in this order"
        )
    before = _each(part.pair for part in parts[: len(names) - 1])
    now = _each(pair for numbers, pair in pairs.items() if numbers[0] == 0)
    now = [graph.with_short_names()[0] for graph in now]
    _refuse_others(place, before, now, (names, called), tuning)
    renames = [ids_of_today(*both) for both in zip(before, now, strict=True)]
    return EarlierGraphs(run, tuple(_without_known(part) for part in parts), called, renames)


def _each(pairs: Any) -> list[MatchedGraph]:
    """Each graph once, from the pairs of the first with each of the others."""
    every = [pair.graphs for pair in pairs]
    return [every[0][0], *(right for _, right in every)]


def _without_known(part: Alignment) -> Alignment:
    """A run of two graphs without what was given to it: the run of all graphs tells what holds."""
    inputs = replace(part.inputs, seeds=None, reject=None)
    return replace(part, load=lambda name: inputs if name == "inputs" else part.load(name))


def _refuse_others(
    place: str,
    before: Sequence[MatchedGraph],
    now: Sequence[MatchedGraph],
    names: tuple[Sequence[str], Sequence[str]],
    tuning: SinceTuning,
) -> None:
    """Raise an InputError if a run is not of earlier versions of these graphs, in this order."""

    def recognised(old: MatchedGraph, new: MatchedGraph) -> float:
        rename = ids_of_today(old, new)
        return share_recognised(old if rename is None else with_ids(old, rename), new)

    earlier, called = names
    for number, graph in enumerate(now):
        share = recognised(before[number], graph)
        if share >= tuning.recognised:
            continue
        for other, old in enumerate(before):
            if recognised(old, graph) >= tuning.recognised:
                raise InputError(
                    place,
                    f"is a run of {', '.join(earlier)} in this order, and {called[number]} is "
                    f"like {earlier[other]}; give the inputs in the order of that run",
                )
        raise InputError(
            place,
            f"is a run of other graphs: of the entities of {called[number]}, {share:.0%} are "
            "known from it; give a run of earlier versions of these graphs, or none",
        )
