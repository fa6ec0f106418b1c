"""From a GraphPair to an Alignment: the stages in their order."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.adjacency import adjacency_matrices
from sameas.alignment import Alignment
from sameas.assignment import (
    Certificate,
    CompleteProblem,
    Problem,
    Solution,
    SparseProblem,
    bounded,
    solve,
)
from sameas.budget import Budget, plan_memory
from sameas.candidates import find_candidates
from sameas.checkpoint import (
    Arrays,
    Checkpoint,
    candidates_from_arrays,
    candidates_to_arrays,
    fingerprint,
    rows_from_arrays,
    rows_to_arrays,
    solution_from_arrays,
    solution_to_arrays,
)
from sameas.errors import OptionError
from sameas.features import load_word_vectors, ngram_rows, read_embeddings, word_rows, words_of
from sameas.graph import GraphPair, Positions, positions_of
from sameas.options import Method, Options
from sameas.paris import maximal_links, paris
from sameas.profit import Profit, StoredProfit, make_profit
from sameas.propagation import propagate
from sameas.proposals import Clues
from sameas.reading import read_gold
from sameas.rows import Matrix, Rows, side_by_side, unit

log = logging.getLogger(__name__)

COMPARE_ALL_UP_TO = 60_000
"""Entities a side up to which every left one is held against every right one."""

Progress = Callable[[str, float], None]
"""Told the phase and the share of it that is done."""
Report = Callable[[float], None]
"""Told the share of a phase that is done."""


@dataclass
class Clock:
    """Times the phases, tells about them, and keeps what the long ones have made."""

    progress: Progress | None
    checkpoint: Checkpoint
    seconds: dict[str, float] = field(default_factory=dict)
    from_before: list[str] = field(default_factory=list)
    """Phases that an interrupted run had finished."""
    unkept: list[str] = field(default_factory=list)
    """Phases since the last one that was kept."""

    @contextmanager
    def phase(self, name: str) -> Iterator[Report]:
        """Time what happens inside; yields a function to report the share done."""

        def report(share: float) -> None:
            if self.progress:
                self.progress(name, share)

        start = time.perf_counter()
        report(0.0)
        yield report
        report(1.0)
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
        self.unkept.append(name)

    def resumed(self, name: str, facts: dict[str, Any]) -> Arrays | None:
        """What a phase had made before the run was interrupted."""
        found = self.checkpoint.load(name)
        if found is None:
            return None
        arrays, earlier, self.seconds[name] = found
        facts.update(earlier)
        self.from_before.append(name)
        return arrays

    def keep(self, name: str, arrays: Arrays, facts: dict[str, Any]) -> None:
        """Keep what a phase, or the last ones together, have made, if that took long."""
        seconds = sum(self.seconds[phase] for phase in self.unkept)
        self.checkpoint.save(name, arrays, facts, seconds)
        self.unkept.clear()


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
    left, right = candidate_positions(pair, options)
    budget = plan_memory(pair, left, right, options)
    facts: dict[str, Any] = {
        "left_candidates": len(left),
        "right_candidates": len(right),
        "form": budget.form,
        "form_reason": budget.reason,
        "memory_expected_bytes": budget.needed,
    }
    log.info("%s: %s", budget.form, budget.reason)

    profit = _profit(pair, left, right, options, clock, facts)
    problem = _problem(pair, (left, right), profit, budget, options, clock, facts)
    if (arrays := clock.resumed("assignment", facts)) is None:
        with clock.phase("assignment") as report:
            solution = solve(
                problem,
                options.solver,
                temperature=options.temperature,
                iterations=options.iterations,
                gap=options.gap,
                seconds=options.time_limit or math.inf,
                progress=report,
            )
        clock.keep("assignment", solution_to_arrays(solution), facts)
    else:
        solution = solution_from_arrays(arrays)
    with clock.phase("confidence"):
        if solution.exact is not None:
            facts["rounds"], facts["pairs"] = solution.exact.rounds, solution.exact.pairs
        if options.solver == "sinkhorn":
            facts["plan_deviation"] = solution.plan.deviation
        tables = _tables(pair, left, right, problem, solution, options)
    return Alignment(
        pair=pair,
        options=options,
        **tables,
        solver=options.solver,
        objective=solution.objective,
        optimality_gap=solution.gap,
        facts=facts,
        seconds=clock.seconds,
        resumed=tuple(clock.from_before),
    )


def _profit(
    pair: GraphPair,
    left: Positions,
    right: Positions,
    options: Options,
    clock: Clock,
    facts: dict[str, Any],
) -> Profit:
    """The profit of some left and some right entities."""
    if (arrays := clock.resumed("neighbours", facts)) is not None:
        return make_profit(*(rows_from_arrays(arrays, side) for side in ("left", "right")))
    with clock.phase("features") as report:
        features = text_features(pair, options, facts, report)
    with clock.phase("neighbours"):
        rows = neighbourhood_rows(pair, features, options, (left, right))
    arrays = {**rows_to_arrays(rows[0], "left"), **rows_to_arrays(rows[1], "right")}
    clock.keep("neighbours", arrays, facts)
    return make_profit(*rows)


def _problem(
    pair: GraphPair,
    some: tuple[Positions, Positions],
    profit: Profit,
    budget: Budget,
    options: Options,
    clock: Clock,
    facts: dict[str, Any],
) -> Problem:
    """All pairs, or the candidates among them."""
    if budget.form == "complete":
        with clock.phase("profit") as report:
            matrix = profit.toarray(progress=report)
        return CompleteProblem(StoredProfit(matrix), budget.spare_matrix)

    if (arrays := clock.resumed("candidates", facts)) is None:
        with clock.phase("candidates") as report:
            hints = clues(pair, some, options) if max(profit.shape) > COMPARE_ALL_UP_TO else None
            # By clues, names and neighbours propose partners each for themselves.
            k = options.candidates if hints is None else max(options.candidates // 2, 1)
            first = max(options.top, 10)
            candidates = find_candidates(profit, k, first=first, clues=hints, progress=report)
            del hints
        clock.keep("candidates", candidates_to_arrays(candidates), facts)
    else:
        candidates = candidates_from_arrays(arrays)
    facts["candidate_pairs"] = len(candidates)
    if candidates.recall is not None:
        facts["search_recall"] = candidates.recall
    if budget.spare_matrix:
        with clock.phase("profit") as report:
            profit = replace(profit, screen=profit.toarray(progress=report))
    return SparseProblem(profit, candidates)


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


def verify(alignment: Alignment) -> Certificate:
    """Check the proof that comes with an exact alignment: its prices against every pair.

    The profit is computed anew and the solver is not asked. A ``gap`` of zero means that no
    other assignment has a larger total profit than the alignment's ``objective``.
    """
    if alignment.prices is None:
        raise OptionError("prices are needed for a proof, which only solver='hungarian' gives")
    pair, options = alignment.pair, alignment.options
    left, right = candidate_positions(pair, options)
    features = text_features(pair, options, {})
    profit = make_profit(*neighbourhood_rows(pair, features, options, (left, right)))
    prices = [
        alignment.prices.filter(pl.col("side") == side)["price"].to_numpy()
        for side in ("left", "right")
    ]
    return bounded(profit, prices[0], prices[1], objective=alignment.objective)


def candidate_positions(pair: GraphPair, options: Options) -> tuple[Positions, Positions]:
    """The positions of the entities that may be linked, in the graphs' order."""
    if options.among is None:
        left, right = (
            np.arange(len(graph.entities)) if graph.linkable is None else graph.linkable
            for graph in (pair.left, pair.right)
        )
        return left, right
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


def clues(pair: GraphPair, some: tuple[Positions, Positions], options: Options) -> Clues | None:
    """What hints at partners without comparing all; None where only own features are given."""
    if options.embeddings is not None:
        return None
    names = pl.concat([pair.left.names.gather(some[0]), pair.right.names.gather(some[1])])
    ngrams = side_by_side(*(ngram_rows(names, n=n) for n in (2, 3))).sparse
    matrices = adjacency_matrices(pair.left, pair.right, options.adjacency)
    neighbours = [
        matrix[positions][:, positions] for matrix, positions in zip(matrices, some, strict=True)
    ]
    size = len(some[0])
    return Clues(ngrams[:size], ngrams[size:], neighbours[0], neighbours[1])


def neighbourhood_rows(
    pair: GraphPair,
    features: Rows,
    options: Options,
    only: tuple[Positions, Positions] | None = None,
) -> tuple[Rows, Rows]:
    """The rows of each side, spread over its graph; ``only`` those of some entities."""
    matrices = adjacency_matrices(pair.left, pair.right, options.adjacency)
    size = len(pair.left.entities)
    sides = features.take(np.arange(size)), features.take(np.arange(size, len(features)))
    some = only or (None, None)
    return (
        propagate(matrices[0], sides[0], depth=options.depth, only=some[0]),
        propagate(matrices[1], sides[1], depth=options.depth, only=some[1]),
    )


def _tables(
    pair: GraphPair,
    left: Positions,
    right: Positions,
    problem: Problem,
    solution: Solution,
    options: Options,
) -> dict[str, Any]:
    """Links, candidates, unmatched entities, prices and ranks of gold links, by URI."""
    left_uri, right_uri = pair.left.entities.gather(left), pair.right.entities.gather(right)
    links = pl.DataFrame(
        {
            "left": left_uri.gather(solution.left),
            "right": right_uri.gather(solution.right),
            "score": _scores(problem.profit.of(solution.left, solution.right)),
            "confidence": problem.shares(solution.plan, solution.left, solution.right),
        }
    )
    ranked = problem.ranked(solution.plan.right, options.top, solution.partner)
    candidates = pl.DataFrame(
        {
            "left": left_uri.gather(ranked.left),
            "right": right_uri.gather(ranked.right),
            "rank": ranked.rank,
            "score": _scores(ranked.profit),
        }
    )
    return {
        **_kept(left_uri, right_uri, links, options),
        "candidates": candidates,
        "gold_ranks": _gold_ranks(pair, left_uri, right_uri, problem, solution),
        "prices": _prices(left_uri, right_uri, solution),
    }


def _prices(left: pl.Series, right: pl.Series, solution: Solution) -> pl.DataFrame | None:
    """The exact solver's prices."""
    if solution.exact is None:
        return None
    exact = solution.exact
    return pl.concat(
        pl.DataFrame(
            {"side": pl.repeat(side, len(uris), eager=True), "entity": uris, "price": prices}
        )
        for side, uris, prices in (
            ("left", left, exact.left_prices),
            ("right", right, exact.right_prices),
        )
    )


def _scores(profit: Matrix) -> NDArray[np.float64]:
    """The profits of pairs; a mean of cosines, which rounding may have put beyond one."""
    return np.clip(profit.astype(np.float64), -1.0, 1.0)


def _kept(
    left: pl.Series, right: pl.Series, links: pl.DataFrame, options: Options
) -> dict[str, Any]:
    """The links that are sure enough, and who is left without one."""
    kept = links.filter(pl.col("confidence") >= options.min_confidence)
    unmatched = [
        _unmatched(side, uris, links[side], kept[side], options)
        for side, uris in (("left", left), ("right", right))
    ]
    return {"links": kept, "unmatched": pl.concat(unmatched)}


def _gold_ranks(
    pair: GraphPair, left: pl.Series, right: pl.Series, problem: Problem, solution: Solution
) -> pl.DataFrame | None:
    """The rank of each gold link that was in question, or None where no gold links are known."""
    if pair.gold is None:
        return None
    rows, columns = positions_of(pair.gold["left"], left), positions_of(pair.gold["right"], right)
    known = (rows >= 0) & (columns >= 0)
    ranks = problem.ranks_of(solution.plan.right, rows[known], columns[known], solution.partner)
    table = pair.gold.filter(pl.Series(known)).with_columns(rank=ranks)
    return table.filter(pl.col("rank").is_not_nan())


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
