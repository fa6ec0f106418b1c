"""The stages that both forms of the method share: rows, proposals, candidates."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sameas.candidates import Candidates, find_candidates
from sameas.graph import Positions
from sameas.inputs import Sides, Task
from sameas.pipeline.phases import Phases
from sameas.profit import Profit, make_profit
from sameas.proposals import COMPARE_ALL_UP_TO, alike, likely
from sameas.scoring import by_side, clues, name_features, neighbourhood_rows

SAME_NAME = 10
"""Partners that each entity gets by name alone, where neighbours are to decide later."""


@dataclass(frozen=True, eq=False)
class Counts:
    """Figures about features and candidates, for the diagnostics."""

    entities_without_features: int
    words: int | None = None
    words_without_vector: int | None = None
    candidate_pairs: int | None = None
    search_recall: float | None = None


@dataclass(frozen=True, eq=False)
class Material:
    """What links are chosen from: the profits of pairs, and which pairs are candidates."""

    profit: Profit
    """The profit of all hops."""
    names: Profit
    """The profit of names alone."""
    counts: Counts
    candidates: Candidates | None = None
    """None if all pairs are candidates."""


def prepare(task: Task, sides: Sides, phases: Phases, *, complete: bool = False) -> Material:
    """The profits between these entities, and their candidates unless all pairs count."""
    if complete:
        return _make_profits(task, sides, phases)
    # Proposals come before the rows, which take most of the memory.
    proposed = _propose(task, sides, phases)
    material = _make_profits(task, sides, phases)
    found = _choose_candidates(task, material, proposed, phases)
    counts = replace(material.counts, candidate_pairs=len(found), search_recall=found.recall)
    return replace(material, candidates=found, counts=counts)


def _propose(task: Task, sides: Sides, phases: Phases) -> Positions | None:
    """Pairs proposed by clues, where there are too many entities to compare all."""
    options = task.options
    if max(map(len, sides)) <= COMPARE_ALL_UP_TO or task.inputs.embeddings is not None:
        return None
    # Names and neighbours propose partners separately; refinement finds more by itself.
    k = max(options.candidates // (5 if options.rounds else 2), 1)

    def make() -> Positions:
        with phases.timed("proposals") as report:
            return likely(clues(task.pair, options, sides), k, progress=report)

    return phases.kept("proposals", np.ndarray, make)


def _make_profits(task: Task, sides: Sides, phases: Phases) -> Material:
    pair, options = task.pair, task.options

    def make() -> Material:
        with phases.timed("features"):
            features = name_features(pair, options, task.inputs)
        with phases.timed("neighbours"):
            profit = make_profit(*neighbourhood_rows(pair, features.rows, options, sides))
        left, right = by_side(pair, features.rows)
        names = make_profit(left.take(sides[0]), right.take(sides[1]))
        empty = int((features.rows.norms() == 0).sum())
        return Material(profit, names, Counts(empty, features.words, features.words_without_vector))

    return phases.kept("neighbours", Material, make)


def _choose_candidates(
    task: Task, material: Material, proposed: Positions | None, phases: Phases
) -> Candidates:
    """The partners worth considering of every entity, with their profits."""
    options, names = task.options, material.names
    by_name = options.rounds and proposed is None and "namesakes" not in options.without

    def make() -> Candidates:
        with phases.timed("candidates") as report:
            return find_candidates(
                material.profit,
                options.candidates,
                first=max(options.top, 10),
                proposed=proposed,
                also=alike(names.left.sparse, names.right.sparse, SAME_NAME) if by_name else None,
                progress=report,
            )

    return phases.kept("candidates", Candidates, make)
