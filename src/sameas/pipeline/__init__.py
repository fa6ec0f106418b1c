"""From a GraphPair to an Alignment: the stages in their order, for each method."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path

from sameas.alignment import Alignment
from sameas.assignment import Certificate
from sameas.checkpoint import Checkpoint, fingerprint
from sameas.errors import OptionError
from sameas.graph import GraphPair
from sameas.options import Method, Options
from sameas.pipeline.as_published import align_as_published, verify_as_published
from sameas.pipeline.by_paris import align_by_paris
from sameas.pipeline.clock import Clock, Progress
from sameas.pipeline.entities import candidate_positions
from sameas.pipeline.refined import align_refined, verify_refined
from sameas.pipeline.stages import clues, neighbourhood_rows, text_features

__all__ = [
    "align",
    "candidate_positions",
    "clues",
    "neighbourhood_rows",
    "text_features",
    "verify",
]


def align(
    pair: GraphPair,
    options: Options | None = None,
    *,
    progress: Progress | None = None,
    checkpoint: str | PathLike[str] | None = None,
) -> Alignment:
    """The links between the entities of two graphs.

    ``progress`` is called with the phase and the share of it that is done. ``checkpoint`` is a
    folder in which what the long phases made is kept; called again with the same input, options
    and folder after an interruption, it goes on from there. Delete it when the result is safe.
    """
    options = options or Options()
    kept = Checkpoint(None, "")
    if checkpoint is not None:
        kept = Checkpoint(Path(checkpoint), fingerprint(pair, options))
    return METHODS[options.method](pair, options, Clock(progress, kept))


def _align_seu(pair: GraphPair, options: Options, clock: Clock) -> Alignment:
    run = align_refined if options.rounds else align_as_published
    return run(pair, options, clock)


METHODS: dict[Method, Callable[[GraphPair, Options, Clock], Alignment]] = {
    "seu": _align_seu,
    "paris": align_by_paris,
}


def verify(alignment: Alignment) -> Certificate:
    """Check the proof that comes with an exact alignment: its prices against every pair.

    The profit is computed anew and the solver is not asked. A ``gap`` of zero means that no
    other assignment has a larger total profit than the alignment's ``objective``. (After
    refinement, the pairs that count are its candidates.)
    """
    if alignment.prices is None:
        raise OptionError("prices are needed for a proof, which only solver='hungarian' gives")
    return (verify_refined if alignment.options.rounds else verify_as_published)(alignment)
