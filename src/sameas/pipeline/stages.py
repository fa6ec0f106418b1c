"""The stages that both forms of the method share: rows, proposals, candidates."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sameas.candidates import Candidates, find_candidates
from sameas.graph import Positions
from sameas.inputs import Sides, Task
from sameas.likeness import BestNames, NamesAndHops, Traits
from sameas.pipeline.phases import Phases
from sameas.profit import Profit, make_profit
from sameas.proposals import COMPARE_ALL_UP_TO, alike, likely
from sameas.scoring import (
    SAME_NAME,
    by_side,
    clues,
    make_traits,
    name_features,
    neighbourhood_rows,
    sketched_hops,
)
from sameas.sketch import Sketch

SAME_VALUES = 10
"""Partners that each entity gets for like values."""


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

    name_rows: Profit
    """The profit of names alone: of entities, or of all their names."""
    counts: Counts
    exact: Profit | None = None
    """The profit of all hops (as published), or of all but the names (with ``exact_hops``)."""
    sketch: Sketch | None = None
    """None for the method as published."""
    left_starts: Positions | None = None
    """Where the names of each left entity start, where there may be several."""
    right_starts: Positions | None = None
    candidates: Candidates | None = None
    """None if all pairs are candidates."""
    traits: Traits | None = None

    @property
    def names(self) -> Profit | BestNames:
        """The cosine of the names of entities, of those that fit best."""
        if self.left_starts is None or self.right_starts is None:
            return self.name_rows
        return BestNames(self.name_rows, self.left_starts, self.right_starts)

    @property
    def profit(self) -> Profit | NamesAndHops:
        """The mean over the hops."""
        if self.sketch is None:
            assert self.exact is not None
            return self.exact
        return NamesAndHops(self.names, self.sketch, self.exact or self.sketch)


def prepare(task: Task, sides: Sides, phases: Phases, *, complete: bool = False) -> Material:
    """The profits between these entities, and their candidates unless all pairs count."""
    if complete:
        return _make_profits(task, sides, phases)
    # Proposals come before the rows, which take most of the memory.
    proposed = _propose(task, sides, phases)
    material = _make_profits(task, sides, phases)
    if task.options.rounds:
        with phases.timed("features"):
            names = material.names
            traits = make_traits(task.pair, names if isinstance(names, BestNames) else None)
        material = replace(material, traits=traits)
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
            exact = sketch = None
            if options.rounds:
                sketch = sketched_hops(pair, features.rows, options, sides)
            if (options.exact_hops and options.depth) or not options.rounds:
                hops = neighbourhood_rows(
                    pair, features.rows, options, sides, first=int(options.rounds > 0)
                )
                exact = make_profit(*hops)
        empty = int((features.rows.norms() == 0).sum())
        counts = Counts(empty, features.words, features.words_without_vector)
        if (names := features.names) is not None:
            starts = names.left_starts, names.right_starts
            return Material(names.rows, counts, exact, sketch, *starts)
        left, right = by_side(pair, features.rows)
        rows = make_profit(left.take(sides[0]), right.take(sides[1]))
        return Material(rows, counts, exact, sketch)

    return phases.kept("neighbours", Material, make)


def _choose_candidates(
    task: Task, material: Material, proposed: Positions | None, phases: Phases
) -> Candidates:
    """The partners worth considering of every entity, with their profits."""
    options = task.options
    further = options.rounds and proposed is None

    def make() -> Candidates:
        with phases.timed("candidates") as report:
            return find_candidates(
                material.profit,
                options.candidates,
                first=max(options.top, 10),
                proposed=proposed,
                also=_alike(task, material) if further else None,
                progress=report,
            )

    return phases.kept("candidates", Candidates, make)


def _alike(task: Task, material: Material) -> Positions:
    """Pairs that are alike in their names alone, or in their values alone."""
    found, names, traits = np.zeros(0, dtype=np.int64), material.names, material.traits
    if "namesakes" not in task.options.without:
        if isinstance(names, Profit):
            found = alike(names.left.sparse, names.right.sparse, SAME_NAME)
        else:
            spelling = None if traits is None else traits.spelling
            found = names.alike(SAME_NAME) if spelling is None else spelling.rivals
    if traits is not None and traits.attributes is not None:
        found = np.union1d(found, traits.attributes.alike(SAME_VALUES))
    return found
