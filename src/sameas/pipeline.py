"""From a GraphPair to an Alignment: the stages in their order."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.adjacency import adjacency_matrices
from sameas.alignment import Alignment
from sameas.assignment import Solution, ranks_of, shares, solve
from sameas.errors import MemoryCeilingError, OptionError
from sameas.features import load_word_vectors, ngram_rows, read_embeddings, word_rows, words_of
from sameas.graph import GraphPair, Positions, positions_of
from sameas.options import Method, Options
from sameas.paris import maximal_links, paris
from sameas.profit import make_profit
from sameas.propagation import propagate
from sameas.reading import read_gold
from sameas.rows import Matrix, Rows, side_by_side, unit

log = logging.getLogger(__name__)

Progress = Callable[[str, float], None]
"""Told the phase and the share of it that is done."""


@dataclass
class Clock:
    """Times the phases and tells about them."""

    progress: Progress | None
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[Callable[[float], None]]:
        """Time what happens inside; yields a function to report the share done."""

        def report(share: float) -> None:
            if self.progress:
                self.progress(name, share)

        start = time.perf_counter()
        report(0.0)
        yield report
        report(1.0)
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


def align(
    pair: GraphPair, options: Options | None = None, *, progress: Progress | None = None
) -> Alignment:
    """The links between the entities of two graphs.

    ``progress`` is called with the phase and the share of it that is done.
    """
    options = options or Options()
    return METHODS[options.method](pair, options, Clock(progress))


def _align_seu(pair: GraphPair, options: Options, clock: Clock) -> Alignment:
    left, right = candidate_positions(pair, options)
    check_memory(len(left), len(right), options)
    facts: dict[str, Any] = {"left_candidates": len(left), "right_candidates": len(right)}
    with clock.phase("features") as report:
        features = text_features(pair, options, facts, report)
    with clock.phase("neighbours"):
        rows = neighbourhood_rows(pair, features, options)
    with clock.phase("profit") as report:
        profit = make_profit(rows[0].take(left), rows[1].take(right)).toarray(progress=report)
        del rows, features
    with clock.phase("assignment") as report:
        solution = solve(
            profit,
            options.solver,
            temperature=options.temperature,
            iterations=options.iterations,
            top=options.top,
            store=memory_needed(len(left), len(right), options, matrices=2) <= options.memory,
            progress=report,
        )
    with clock.phase("confidence"):
        confidence = shares(profit, solution.plan, solution.left, solution.right)
        if options.solver == "sinkhorn":
            facts["plan_deviation"] = solution.plan.deviation
        tables = _tables(pair, left, right, profit, solution, confidence, options)
    return Alignment(
        pair=pair,
        options=options,
        **tables,
        solver=options.solver,
        objective=solution.objective,
        optimality_gap=solution.gap,
        facts=facts,
        seconds=clock.seconds,
    )


def _align_paris(pair: GraphPair, options: Options, clock: Clock) -> Alignment:
    left, right = candidate_positions(pair, options)
    with clock.phase("paris") as report:
        found = paris(pair.left, pair.right, iterations=max(options.iterations, 1), progress=report)
    with clock.phase("links"):
        found = found.among(left, right)
        rows, columns, probability = maximal_links(found)
        left_uri, right_uri = pair.left.entities, pair.right.entities
        links = pl.DataFrame(
            {
                "left": left_uri.gather(rows),
                "right": right_uri.gather(columns),
                "score": probability,
                "confidence": probability,
            }
        )
        candidates = pl.DataFrame(
            {
                "left": left_uri.gather(found.left),
                "right": right_uri.gather(found.right),
                "rank": found.ranks(),
                "score": found.probability,
            }
        ).filter(pl.col("rank") <= options.top)
        tables = _kept(left_uri.gather(left), right_uri.gather(right), links, options)
    return Alignment(
        pair=pair,
        options=options,
        **tables,
        candidates=candidates,
        solver="paris",
        objective=float(probability.sum()),
        optimality_gap=None,
        facts={
            "left_candidates": len(left),
            "right_candidates": len(right),
            "iterations": found.iterations,
            "converged": found.converged,
        },
        seconds=clock.seconds,
    )


METHODS: dict[Method, Callable[[GraphPair, Options, Clock], Alignment]] = {
    "seu": _align_seu,
    "paris": _align_paris,
}


def candidate_positions(pair: GraphPair, options: Options) -> tuple[Positions, Positions]:
    """The positions of the entities that may be linked, in the graphs' order."""
    if options.among is None:
        return np.arange(len(pair.left.entities)), np.arange(len(pair.right.entities))
    if options.among == "gold":
        if pair.gold is None:
            raise OptionError(
                "among must be a file of links, got 'gold' for a pair that has no gold links"
            )
        links = pair.gold
    else:
        links = read_gold(options.among)
    found = []
    for side, graph in (("left", pair.left), ("right", pair.right)):
        positions = graph.positions(links[side])
        strangers = links[side].filter(pl.Series(positions < 0))
        if len(strangers):
            raise OptionError(
                f"among must name entities of the two graphs, got {len(strangers)} that are not in "
                f'the {side} one, the first is "{strangers[0]}"; leave them out of {options.among}'
            )
        found.append(np.unique(positions))
    return found[0], found[1]


def text_features(
    pair: GraphPair,
    options: Options,
    facts: dict[str, Any],
    progress: Callable[[float], None] | None = None,
) -> Rows:
    """The feature rows of all left, then all right entities, in one space."""
    if options.embeddings is not None:
        entities = pl.concat([pair.left.entities, pair.right.entities])
        return read_embeddings(options.embeddings, entities)
    names = pl.concat([pair.left.names, pair.right.names])
    if options.features == "char":
        rows = ngram_rows(names)
    else:
        vectors = load_word_vectors(
            options.word_vectors, words_of(names)["word"].unique(), progress=progress
        )
        words = word_rows(names, vectors)
        facts["word_vectors"] = f"{vectors.source}, {vectors.vectors.shape[1]} dimensions"
        facts["words"], facts["words_without_vector"] = words.words, words.unknown
        log.info("%d of %d words have no vector", words.unknown, words.words)
        if options.features == "word":
            rows = words.rows
        else:
            rows = unit(side_by_side(words.rows, ngram_rows(names)))
    facts["entities_without_features"] = int((rows.norms() == 0).sum())
    return rows


def neighbourhood_rows(pair: GraphPair, features: Rows, options: Options) -> tuple[Rows, Rows]:
    """The rows of each side, spread over its graph."""
    matrices = adjacency_matrices(pair.left, pair.right, options.adjacency)
    size = len(pair.left.entities)
    sides = features.take(np.arange(size)), features.take(np.arange(size, len(features)))
    return (
        propagate(matrices[0], sides[0], depth=options.depth),
        propagate(matrices[1], sides[1], depth=options.depth),
    )


def memory_needed(left: int, right: int, options: Options, *, matrices: int = 1) -> int:
    """Bytes that so many float32 profit matrices take, with what the solver adds and all else."""
    # SciPy's exact solver takes a float64 copy of the matrix.
    cell = 4 * matrices + (8 if options.solver == "hungarian" else 0)
    return left * right * cell + 2**28


def check_memory(left: int, right: int, options: Options) -> None:
    """Refuse work whose profit matrix does not fit under the ceiling, before it starts."""
    needed = memory_needed(left, right, options)
    if needed > options.memory:
        ceiling = -(-needed // 2**29) / 2
        raise MemoryCeilingError(
            f"{left:,} x {right:,} candidates need about {needed / 2**30:.1f} GiB with the solver "
            f'"{options.solver}", the ceiling is {options.memory / 2**20:,.0f} MiB; '
            f"raise it with --memory {ceiling:g}G"
        )


def _tables(
    pair: GraphPair,
    left: Positions,
    right: Positions,
    profit: Matrix,
    solution: Solution,
    confidence: NDArray[np.float64],
    options: Options,
) -> dict[str, Any]:
    """Links, candidates and unmatched entities, by URI."""
    left_uri, right_uri = pair.left.entities.gather(left), pair.right.entities.gather(right)
    links = pl.DataFrame(
        {
            "left": left_uri.gather(solution.left),
            "right": right_uri.gather(solution.right),
            "score": _scores(profit, solution.left, solution.right),
            "confidence": confidence,
        }
    )
    k = solution.candidates.right.shape[1]
    rows, columns = np.repeat(np.arange(len(left)), k), solution.candidates.right.ravel()
    candidates = pl.DataFrame(
        {
            "left": left_uri.gather(rows),
            "right": right_uri.gather(columns),
            "rank": solution.candidates.rank.ravel(),
            "score": _scores(profit, rows, columns),
        }
    )
    return {
        **_kept(left_uri, right_uri, links, options),
        "candidates": candidates,
        "gold_ranks": _gold_ranks(pair, left_uri, right_uri, profit, solution),
    }


def _scores(profit: Matrix, left: Positions, right: Positions) -> NDArray[np.float64]:
    """The profits of pairs; a mean of cosines, which rounding may have put beyond one."""
    return np.clip(profit[left, right].astype(np.float64), -1.0, 1.0)


def _kept(
    left: pl.Series, right: pl.Series, links: pl.DataFrame, options: Options
) -> dict[str, pl.DataFrame]:
    """The links that are sure enough, and who is left without one."""
    kept = links.filter(pl.col("confidence") >= options.min_confidence)
    unmatched = [
        _unmatched(side, uris, links[side], kept[side], options)
        for side, uris in (("left", left), ("right", right))
    ]
    return {"links": kept, "unmatched": pl.concat(unmatched)}


def _gold_ranks(
    pair: GraphPair, left: pl.Series, right: pl.Series, profit: Matrix, solution: Solution
) -> pl.DataFrame | None:
    """The rank of each gold link between candidates, or None where no gold links are known."""
    if pair.gold is None:
        return None
    rows, columns = positions_of(pair.gold["left"], left), positions_of(pair.gold["right"], right)
    known = (rows >= 0) & (columns >= 0)
    ranks = ranks_of(
        profit, solution.plan.right, rows[known], columns[known], partner=solution.partner
    )
    return pair.gold.filter(pl.Series(known)).with_columns(rank=ranks)


def _unmatched(
    side: str, uris: pl.Series, linked: pl.Series, kept: pl.Series, options: Options
) -> pl.DataFrame:
    """The candidates of one side that have no link, and why."""
    table = pl.DataFrame({"side": pl.repeat(side, len(uris), eager=True), "entity": uris})
    dropped = pl.col("entity").is_in(linked.implode())
    reason = pl.when(dropped).then(pl.lit(f"confidence below {options.min_confidence:g}"))
    return table.filter(~pl.col("entity").is_in(kept.implode())).with_columns(
        reason=reason.otherwise(pl.lit("no partner was left, or none was found"))
    )
