"""The stages that both forms of the method share: rows, proposals, candidates."""

from __future__ import annotations

from dataclasses import dataclass

from sameas.candidates import Candidates, find_candidates
from sameas.graph import Positions
from sameas.inputs import Sides, Task
from sameas.pipeline.phases import Phases
from sameas.profit import Profit, make_profit
from sameas.proposals import COMPARE_ALL_UP_TO, alike, likely
from sameas.rows import Rows
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
class SideRows:
    """The rows of both sides after all hops, and those of their names alone."""

    left: Rows
    right: Rows
    left_names: Rows
    right_names: Rows
    counts: Counts

    @property
    def profit(self) -> Profit:
        """The profit of all hops."""
        return make_profit(self.left, self.right)

    @property
    def name_profit(self) -> Profit:
        """The profit of names alone."""
        return make_profit(self.left_names, self.right_names)


def propose(task: Task, sides: Sides, phases: Phases) -> Positions | None:
    """Pairs proposed by clues, where there are too many entities to compare all.

    This comes before the rows, which take most of the memory.
    """
    options = task.options
    largest = max(len(positions) for positions in sides)
    if largest <= COMPARE_ALL_UP_TO or task.inputs.embeddings is not None:
        return None
    # Names and neighbours propose partners separately; refinement finds more by itself.
    k = max(options.candidates // (5 if options.rounds else 2), 1)

    def make() -> _Proposed:
        with phases.timed("proposals") as report:
            return _Proposed(likely(clues(task.pair, options, sides), k, progress=report))

    return phases.kept("proposals", _Proposed, make).pairs


@dataclass(frozen=True, eq=False)
class _Proposed:
    pairs: Positions


def make_rows(task: Task, sides: Sides, phases: Phases) -> SideRows:
    """The rows of these entities."""

    def make() -> SideRows:
        pair, options = task.pair, task.options
        with phases.timed("features"):
            features = name_features(pair, options, task.inputs)
        with phases.timed("neighbours"):
            left, right = neighbourhood_rows(pair, features.rows, options, sides)
        left_names, right_names = (
            rows.take(positions)
            for rows, positions in zip(by_side(pair, features.rows), sides, strict=True)
        )
        empty = int((features.rows.norms() == 0).sum())
        counts = Counts(empty, features.words, features.words_without_vector)
        return SideRows(left, right, left_names, right_names, counts)

    return phases.kept("neighbours", SideRows, make)


def choose_candidates(
    rows: SideRows, proposed: Positions | None, task: Task, phases: Phases
) -> Candidates:
    """The partners worth considering of every entity, with their profits."""
    options, names = task.options, rows.name_profit
    by_name = options.rounds and proposed is None and "namesakes" not in options.without

    def make() -> Candidates:
        with phases.timed("candidates") as report:
            return find_candidates(
                rows.profit,
                options.candidates,
                first=max(options.top, 10),
                proposed=proposed,
                also=alike(names.left.sparse, names.right.sparse, SAME_NAME) if by_name else None,
                progress=report,
            )

    return phases.kept("candidates", Candidates, make)
