"""Three graphs or more: each two of them are aligned, and all links together make clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from os import PathLike
from pathlib import Path

import polars as pl

from sameas.errors import OptionError
from sameas.graph.graph import Graph, GraphPair
from sameas.graph.semantics.understanding import understand, understand_one
from sameas.graph.task import Inputs
from sameas.graph.union import Union, union_of
from sameas.options.options import Options
from sameas.options.tuning import TUNING, Tuning
from sameas.pipeline.inputs import Given, rows_of
from sameas.pipeline.many_clusters import PAIR, Part, clustered
from sameas.pipeline.pair import align_pair
from sameas.pipeline.phases import PhaseProgress, Phases
from sameas.pipeline.since_many import earlier_graphs
from sameas.result.alignment import Alignment

FOR_TWO = {
    "among": "it names links of two graphs",
    "embeddings": "its rows are those of two graphs",
}
"""What can be given for two graphs alone, and why."""


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
    graph = understand_one(union.graph, tuning=tuning)
    inputs = Inputs(seeds=rows_of("seeds", given.seeds), reject=rows_of("reject", given.reject))
    pairs = {
        numbers: understand(
            GraphPair(left=graphs[numbers[0]], right=graphs[numbers[1]]), tuning=tuning
        )
        for numbers in combinations(range(len(graphs)), 2)
    }
    earlier = None
    if given.since is not None:
        earlier = earlier_graphs(given.since, pairs, called, tuning=tuning.since)
        inputs = earlier.taken_over(inputs, union, graph)
    parts = []
    for place, (numbers, pair) in enumerate(pairs.items()):
        label = "-".join(str(number + 1) for number in numbers)
        part = align_pair(
            pair,
            options,
            replace(
                given,
                seeds=_between(inputs.seeds, union, numbers),
                reject=_between(inputs.reject, union, numbers),
                since=None if earlier is None else earlier.parts[place],
            ),
            progress=_labelled(progress, label),
            checkpoint=None if checkpoint is None else Path(checkpoint) / label,
            tuning=tuning,
        )
        parts.append(Part(numbers, part))
        for phase, seconds in part.seconds.items():
            phases.seconds[phase] = phases.seconds.get(phase, 0.0) + seconds
        phases.resumed += [f"{phase} {label}" for phase in part.resumed]
    with phases.timed("clusters"):
        return clustered(union, graph, called, parts, inputs, phases)


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
    places = union.placed(table)
    here = places[(union.origin[places] == numbers).all(axis=1)]
    if not len(here):
        return None
    return pl.DataFrame({name: union.ids.gather(here[:, side]) for side, name in enumerate(PAIR)})
