"""Memory: what a run will take, known before it starts, and what follows from the ceiling."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from sameas.assignment.problem import COMPLETE_BYTES, prefers_complete
from sameas.compute.arrays import Positions, Vector
from sameas.errors import MemoryCeilingError
from sameas.graph.matched import MatchedGraph, MatchedPair
from sameas.graph.task import Sides, Task
from sameas.options.options import Options, Text
from sameas.result.alignment import Diagnostics
from sameas.similarity.crosslingual import encoder_for
from sameas.text.folding import folded
from sameas.text.languages.support import LanguageSupport
from sameas.text.ngrams import ngram_rows

Form = Literal["complete", "candidates"]
Curve = Callable[[Vector], Vector]

log = logging.getLogger(__name__)

BASE = 440 * 2**20
"""Python with its libraries, compiled code, and blocks in the making."""
FACT_BYTES = 300
"""For each triple, name and value in the tables of PARIS."""
ENCODED_BYTES, LEARNT_BYTES = 16, 3000
"""For each number of an encoded name, and each name that a learnt dictionary translates
(measured)."""
EXACT_HOPS = 1.4
"""Exact hops of weighted n-grams take so much more than their entries (measured)."""
SEARCHING = 120 * 2**20
"""Blocks of products in which partners are searched, where nothing is refined (measured)."""
VALUE_BYTES = 500
"""For each value of one graph in which duplicates are looked for: its forms, its number, and how
alike the values of candidates are (measured on 300,000 people)."""
SAMPLE = 5000
"""Names from which the number of distinct n-grams is projected."""


def plan_memory(task: Task, sides: Sides, support: LanguageSupport) -> Diagnostics:
    """Choose between all pairs and candidates; refuse what does not fit under the ceiling.

    The figures are those that are known before a run: how its problem is treated, why, and the
    bytes that it is expected to take at the peak.
    """
    options, (left, right) = task.options, sides
    rows = BASE + _graph_bytes(task.pair) + _row_bytes(task, sides, support)
    if task.pair.is_one_graph:
        rows += VALUE_BYTES * len(task.pair.left.attributes)
    pairs = len(left) * len(right)
    stored = rows + COMPLETE_BYTES * pairs
    sparse = rows + _candidate_bytes(len(left), len(right), task)
    asked = options.candidates >= max(len(left), len(right), 1)
    if not options.rounds:
        exact = options.solver == "hungarian"
        free, tuning = options.memory - rows, task.tuning.assignment
        fits = prefers_complete(pairs, free, exact=exact, tuning=tuning)
        if fits or (asked and stored <= options.memory):
            why = "all were asked for" if asked else "all fit under the ceiling"
            return _planned(options, "complete", f"{pairs:,} pairs, {why}", stored)
        if asked:
            raise _too_little(stored, f"all {pairs:,} pairs", options)
    if sparse > options.memory:
        what = f"{len(left):,} x {len(right):,} entities with {options.candidates} candidates each"
        raise _too_little(sparse, what, options)
    reason = f"comparing all {pairs:,} pairs would take {stored / 2**30:.1f} GiB"
    return _planned(options, "candidates", reason, sparse)


def plan_paris(task: Task) -> int:
    """The bytes that PARIS takes besides the pairs that it compares, if they fit."""
    facts = sum(
        len(graph.triples) + len(graph.entities) + len(graph.alternatives) + len(graph.attributes)
        for graph in (task.pair.left, task.pair.right)
    )
    needed = BASE + _graph_bytes(task.pair) + FACT_BYTES * facts
    if needed > task.options.memory:
        raise _too_little(needed, f"{facts:,} facts", task.options)
    return needed


def _planned(options: Options, form: Form, reason: str, needed: int) -> Diagnostics:
    log.info("%s: %s", form, reason)
    return Diagnostics(
        solver=options.solver,
        objective=0.0,  # until there are links
        form=form,
        form_reason=reason,
        memory_expected_bytes=needed,
    )


def _too_little(needed: int, what: str, options: Options) -> MemoryCeilingError:
    ceiling = -(-needed // 2**28) / 4
    return MemoryCeilingError(
        f"{what} need about {needed / 2**30:.2f} GiB, the ceiling is "
        f"{options.memory / 2**30:.2f} GiB; raise it with `memory` {ceiling:.10g}G"
    )


def _graph_bytes(pair: MatchedPair) -> int:
    """The two graphs as they are, and the tables of the result."""
    graphs = sum(
        graph.entities.estimated_size()
        + graph.names.estimated_size()
        + int(graph.attributes.estimated_size())
        + 2 * graph.triples.nbytes
        for graph in (pair.left, pair.right)
    )
    return int(2 * graphs)


def _candidate_bytes(left: int, right: int, task: Task) -> int:
    """Short rows, an index over one side, the partners found, and candidates both ways.

    Where clues propose, there are no short rows, and fewer pairs once rows are there.
    """
    entities, options, tuning = left + right, task.options, task.tuning.search
    listed = 16 * min(options.candidates, max(left, right)) * entities
    if max(left, right) > tuning.compare_all_up_to:
        # A quarter of the pairs that clues propose stay; refinement takes them several times.
        return int((2 * tuning.clue_share if options.rounds else 1.2) * listed)
    short = 1.3 * 4 * (sum(tuning.sharp_columns) + 2) * entities
    if options.rounds:
        return int(short + 8 * listed)
    if options.solver == "hungarian":
        return int(short + 5 * listed)
    return int(short + 2 * listed + min(SEARCHING, 4 * left * right))


def _row_bytes(task: Task, sides: Sequence[Positions], support: LanguageSupport) -> int:
    """The feature rows of both sides: after all hops, or of names alone beside the sketches."""
    pair, options, total = task.pair, task.options, 0
    graphs: Sequence[MatchedGraph] = pair.graphs
    if pair.is_one_graph and not support.used:  # the rows of both sides are the same
        graphs, sides = graphs[:1], sides[:1]
    sizes = [len(graph.entities) for graph in graphs]
    depth = options.depth
    if options.rounds:
        sketch = task.tuning.sketch
        total += (sketch.principal + sketch.random) * (depth + 1) * sum(map(len, sides))
        depth = depth if options.exact_hops else 0
    if task.inputs.embeddings is not None:
        return total + 2 * (depth + 2) * task.inputs.embeddings.dense.nbytes
    if options.features != "word":
        names = pl.concat([graph.names for graph in graphs])
        curve = _distinct_curve(names.gather_every(max(1, len(names) // SAMPLE)), options.text)
        twice = options.text == "weighted" and not {"sounds", "folding"} & set(options.without)
        for graph, positions in zip(graphs, sides, strict=True):
            entry = 16 if twice else 8
            if depth or not options.rounds:
                hops = _entries(graph, positions, curve, depth)
                total += int((EXACT_HOPS if options.rounds else 1) * entry * hops)
            if options.rounds:  # names, twice while they are made
                total += 2 * entry * _entries(graph, positions, curve, 0)
    total += sum(sizes) * LEARNT_BYTES * support.learnt
    if support.encoder and (encoder := encoder_for(options, task.inputs)):
        total += sum(sizes) * ENCODED_BYTES * encoder.width
    if task.inputs.word_vectors is not None:
        width = task.inputs.word_vectors.vectors.shape[1]
        total += 4 * width * (depth + 2) * sum(sizes)
    return total


def _entries(graph: MatchedGraph, positions: Positions, curve: Curve, depth: int) -> int:
    """Entries of one side's rows over all hops, and those of hops that are made on the way."""
    drawn = np.maximum(graph.names.str.len_chars().fill_null(0).to_numpy() - 1.0, 0.0)
    total = curve(drawn)[positions].sum()
    heads, tails = graph.triples[:, 0], graph.triples[:, 2]
    size = len(graph.entities)
    for level in range(depth):
        # A hop draws what an entity and its neighbours have drawn, until nothing is new.
        drawn = np.minimum(
            drawn
            + np.bincount(heads, curve(drawn)[tails], minlength=size)
            + np.bincount(tails, curve(drawn)[heads], minlength=size),
            1e6,
        )
        entries = curve(drawn)
        total += entries[positions].sum()
        if level < depth - 1:
            total += entries.sum()
    return int(total)


def _distinct_curve(names: pl.Series, text: Text) -> Curve:
    """How many distinct n-grams so many n-grams hold, read off a table."""
    weighted = text == "weighted"
    rows = ngram_rows(folded(names) if weighted else names, n=2 + weighted, boundaries=weighted)
    counts = np.asarray(rows.sparse.astype(bool).sum(axis=0), dtype=np.float64).ravel()
    drawn = np.concatenate([[0.0], np.geomspace(1, 1e6, 60)])
    shares = np.minimum(counts / max(counts.sum(), 1.0), 1 - 1e-9)
    distinct = [float(-np.expm1(number * np.log1p(-shares)).sum()) for number in drawn]
    return lambda numbers: np.interp(numbers, drawn, distinct)


def peak_memory() -> int | None:
    """The largest resident memory of this process in bytes, None where the system does not tell."""
    try:  # Linux: what getrusage tells a process there includes that of its parent
        status = Path("/proc/self/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024  # type: ignore[index]
    except (OSError, TypeError):
        pass
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
