"""The exact solver against SciPy's and lapx's, on the same matrix in the same process.

Run it from the root of the repository, with nothing else running::

    python -m benchmarks.solver ../shared/data/dbp15k/zh_en --from-rows

The matrix is the profit of the preset "paper" among the gold links. Ours gets it as float32; the
others get the same numbers as float64 costs, made before the clock starts. Our compiled loops are
called once on a small matrix first; how long that took is reported beside. To have them compiled
then and not loaded from an earlier run, set ``NUMBA_CACHE_DIR`` to an empty folder.
"""

from __future__ import annotations

import statistics
import time
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import lap
import numpy as np
from scipy.optimize import linear_sum_assignment

import sameas
from benchmarks import tables
from benchmarks.processes import in_turn, say
from benchmarks.tables import Check
from experiments.rendering import Table, count, table_of
from sameas.assignment.exact import Assignment, assign, certify
from sameas.candidates.search import find_candidates
from sameas.compute.arrays import Matrix
from sameas.options.options import make_options
from sameas.pipeline.inputs import Given, collect_inputs
from sameas.similarity.features import name_features, neighbourhood_rows
from sameas.similarity.make_task import make_task
from sameas.similarity.matrix import DenseMatrix, RowProduct, make_profit

OPTIONS = make_options("paper")
TITLE = "The exact solver against SciPy and lapx"
BESIDE = {
    "rows": "features and neighbourhoods",
    "matrix": "all profits",
    "first_call": "first call of the solver: its loops compiled, or loaded if they were",
    "certify": "checking prices against all pairs",
    "candidates": "finding candidates, for the solver from rows",
}
"""What is timed besides the solvers."""
SMALL = 300
"""Entities a side of what is solved once before the clock counts."""

Result = TypeVar("Result")
Answer = tuple[Any, Any]
"""Rows and columns of the links."""


def measure(given: Namespace) -> dict[str, Any]:
    """Times and objectives of all solvers."""
    beside: dict[str, float] = {}
    beside["rows"], profit = clocked("features and neighbourhoods", lambda: make_rows(given.pair))
    beside["first_call"] = first_call(profit)
    beside["matrix"], matrix = clocked("all profits", profit.toarray)
    stored, costs = DenseMatrix(matrix), -matrix.astype(np.float64)
    solvers: dict[str, Callable[[], Assignment | Answer]] = {"sameas": lambda: assign(stored)}
    if given.from_rows:
        beside["candidates"], candidates = clocked("candidates", lambda: candidates_of(profit))
        # A new profit each time: what one has worked out about its rows stays with it.
        solvers["sameas, from rows"] = lambda: assign(
            make_profit(profit.left, profit.right), candidates
        )
    solvers |= {"scipy": lambda: linear_sum_assignment(costs), "lapx": lambda: lapx(costs)}
    found = in_turn({name: partial(clocked, name, solvers[name]) for name in solvers}, given.repeat)
    runs = {name: summary(taken, matrix) for name, taken in found.items()}
    for run in runs.values():
        run["ratio"] = run["median_seconds"] / runs["scipy"]["median_seconds"]
        peer = runs["scipy"]["objective"]
        run["difference"] = (run["objective"] - peer) / abs(peer)
    exact = found["sameas"][-1][1]
    assert isinstance(exact, Assignment)
    prices = exact.left_prices, exact.right_prices
    beside["certify"], proof = clocked(
        "the certificate", lambda: certify(stored, exact.left, exact.right, *prices)
    )
    return {
        "pair": given.pair.name,
        "shape": list(matrix.shape),
        "repeat": given.repeat,
        "solvers": runs,
        "beside": {name: round(value, 3) for name, value in beside.items()},
        "certificate": {"gap": proof.gap, "excess": proof.excess, "bound": proof.bound},
    }


def summary(runs: Sequence[tuple[float, Assignment | Answer]], matrix: Matrix) -> dict[str, Any]:
    """The median time, and what ours proves; the objective is summed up alike for every solver."""
    taken, answer = [round(seconds, 6) for seconds, _ in runs], runs[-1][1]
    proven: dict[str, Any] = {}
    if isinstance(answer, Assignment):
        links = answer.left, answer.right
        pairs = len(answer.candidates)
        proven = {"gap": answer.gap, "rounds": answer.rounds, "pairs": pairs}
    else:
        links = answer
    return {
        "seconds": taken,
        "median_seconds": statistics.median(taken),
        "objective": float(matrix[links].sum(dtype=np.float64)),
        "links": len(links[0]),
        **proven,
    }


def make_rows(folder: Path) -> RowProduct:
    """The profit of a pair, as the pipeline makes it."""
    pair = sameas.read_pair(folder)
    task = make_task(pair, OPTIONS, collect_inputs(pair, OPTIONS, Given(among="gold")))
    rows = name_features(pair, OPTIONS, task.inputs).rows
    return make_profit(*neighbourhood_rows(pair, rows, OPTIONS, task.sides))


def candidates_of(profit: RowProduct) -> Any:
    """Candidates, as the pipeline looks for them."""
    return find_candidates(profit, OPTIONS.candidates, first=max(OPTIONS.top, 10))


def first_call(profit: RowProduct) -> float:
    """The seconds that compiled loops take when first called: to be compiled, or loaded."""
    some = [side.take(np.arange(min(SMALL, len(side)))) for side in (profit.left, profit.right)]
    few = make_profit(some[0], some[1])

    def small() -> None:
        assign(DenseMatrix(few.toarray()))
        assign(few, candidates_of(few))

    first, second = (clocked(f"{which} call", small)[0] for which in ("first", "second"))
    return max(first - second, 0.0)


def lapx(costs: np.ndarray[Any, Any]) -> Answer:
    """The links of lapx's solver."""
    columns = lap.lapjv(costs, extend_cost=costs.shape[0] != costs.shape[1], return_cost=False)[0]
    rows = np.flatnonzero(columns >= 0)
    return rows, columns[rows]


def clocked(what: str, work: Callable[[], Result]) -> tuple[float, Result]:
    """The seconds that some work takes, and what it gives."""
    say(what)
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def tables_of(record: Mapping[str, Any]) -> list[Table]:
    """How long each solver takes on the same matrix, and what it finds."""
    columns = {
        "median_seconds": ("seconds", tables.seconds),
        "ratio": ("of SciPy's", tables.ratio),
        "objective": ("objective", "{:,.4f}".format),
        "difference": ("relative difference", tables.tiny),
        "gap": ("proven gap", tables.tiny),
        "rounds": ("rounds", count),
        "pairs": ("pairs", count),
    }
    left, right = record["shape"]
    caption = f"{record['pair']}, the same {left:,} x {right:,} profits for all"
    beside = [
        (words, tables.seconds(record["beside"][name]))
        for name, words in BESIDE.items()
        if record["beside"].get(name) is not None
    ]
    return [
        tables.rows_of(caption, record["solvers"], columns, first="solver"),
        table_of("Not in these seconds", ("what", "seconds"), beside),
    ]


def checks_of(record: Mapping[str, Any]) -> list[Check]:
    """A fifteenth of SciPy's time, the same objective, gap zero."""
    ours = record["solvers"]["sameas"]
    share, off, gap = ours["ratio"], ours["difference"], ours["gap"]
    return [
        Check("at most 1/15 of SciPy's time", tables.ratio(share), share <= 1 / 15),
        Check("the same objective to 1e-6", f"{tables.tiny(off)} off", abs(off) <= 1e-6),
        Check("a proven gap of 0", tables.tiny(gap), gap == 0),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, run all, keep the results and print them."""
    parser = tables.parser_of("solver", __doc__, "zh_en --from-rows --repeat 3")
    add = parser.add_argument
    add("pair", metavar="PAIR", type=Path, help="benchmark folder with gold links")
    add("--from-rows", action="store_true", help="also solve without the matrix, from candidates")
    add("--repeat", type=int, default=1, help="runs of each, of which the median counts [1]")
    options = parser.parse_args(arguments)
    tables.keep("solver", options.results, measure(options))


if __name__ == "__main__":
    main()
