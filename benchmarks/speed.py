"""The whole command against the yardstick: seconds, peak memory and Hits@1.

Run it from the root of the repository, with nothing else running::

    python -m benchmarks.speed path/to/dbp15k/zh_en --repeat 3

One program after the other, each in a process of its own: the yardstick, which is the paper's
procedure written plainly (``experiments/plain.py``, or another script), with both of its solvers,
and ``sameas align`` with the presets, with the exact solver, and with all pairs stored, which is
the dense answer to compare scores with. The seconds of sameas are those of the whole process, from
its start to its end; those of the yardstick are what it prints, which leaves out the start of
Python and its imports, in its favour. Its solve with ``--solver hungarian`` is SciPy's on the dense
matrix: our phase "assignment" with the exact solver is held against it.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import tables
from benchmarks.processes import align, in_turn, measured, say, timed
from benchmarks.tables import Check, seconds
from experiments.rendering import Table, gib, score, table_of

TITLE = "Speed against the yardstick"
PAPER = "--preset paper --among gold"
YARDSTICKS = {"yardstick": "sinkhorn", "yardstick, exact": "hungarian"}
"""The solver of each yardstick."""
OURS = "experiments/plain.py"
"""The yardstick unless another is given, which it is shown beside then."""
PROGRAMS = {
    "best": ("yardstick", ""),
    "paper": ("yardstick", PAPER),
    "exact": ("yardstick, exact", f"{PAPER} --solver hungarian"),
    "all pairs": ("yardstick", f"{PAPER} --candidates 1000000 --memory 6G"),
}
"""What each is compared with, and its options."""
SCORES = ("hits@1", "hits@10", "mrr")


def measure(given: Namespace) -> dict[str, Any]:
    """Times, memory and scores of all programs."""
    with tempfile.TemporaryDirectory(prefix="sameas-speed-") as place:
        folder, first = Path(place), {}
        variables = {"NUMBA_CACHE_DIR": str(folder / "compiled")}
        for name, (_, options) in PROGRAMS.items():
            say(f"{name}, before the clock counts")
            found = align(given.pair, folder / "first", options, variables)
            first[name] = found["process_seconds"]
        programs: dict[str, Callable[[], dict[str, Any]]] = {}
        for name, solver in YARDSTICKS.items():
            programs[name] = partial(_yardstick, given.pair, given.yardstick, solver)
        if given.yardstick:
            programs[OURS] = partial(_yardstick, given.pair, None, YARDSTICKS["yardstick"])
        for name, (_, options) in PROGRAMS.items():
            programs[name] = partial(measured, given.pair, folder / "run", options, variables)
        runs = in_turn(programs, given.repeat)
    summaries = {name: _summary(found) for name, found in runs.items()}
    for name, program in summaries.items():
        against = "yardstick" if name == OURS else name
        other = summaries[PROGRAMS[name][0] if name in PROGRAMS else against]
        program["ratio"] = program["median_seconds"] / other["median_seconds"]
    solves = {
        name: statistics.median(run["phases"]["assignment"] for run in runs[name])
        for name in ("exact", "yardstick, exact")
    }
    return {
        "pair": given.pair.name,
        "repeat": given.repeat,
        "yardstick": given.yardstick.name if given.yardstick else OURS,
        "first_seconds": first,
        "runs": summaries,
        "solve_seconds": solves,
        "solve_ratio": solves["exact"] / max(solves["yardstick, exact"], 1e-9),
    }


def _yardstick(pair: Path, yardstick: Path | None, solver: str) -> dict[str, Any]:
    program = [str(yardstick)] if yardstick else ["-m", "experiments.plain"]
    finished = timed([sys.executable, *program, str(pair), "--solver", solver])
    found = finished.values(" ".join(program))
    phases = dict(found["seconds"])
    if "solve" in phases:  # as other scripts call it
        phases["assignment"] = phases.pop("solve")
    return {
        "total_seconds": found.get("total_seconds", found.get("total")),
        "phases": phases,
        "peak_memory_bytes": finished.peak_bytes,
        **{name: found.get(name) for name in SCORES},
    }


def _summary(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The median time of some runs of a program; scores are the same in all of them."""
    taken = [run["total_seconds"] for run in runs]
    last = {name: value for name, value in runs[-1].items() if name != "output"}
    return {
        **last,
        "seconds": taken,
        "median_seconds": statistics.median(taken),
        "peak_memory_bytes": max(run["peak_memory_bytes"] for run in runs),
    }


def tables_of(record: Mapping[str, Any]) -> list[Table]:
    """How long each program takes, next to the yardstick."""
    runs = {
        name: {**run, "range": f"{seconds(min(run['seconds']))}–{seconds(max(run['seconds']))}"}
        for name, run in record["runs"].items()
    }
    columns: tables.Columns = {
        "median_seconds": ("seconds", seconds),
        "range": ("from–to", str),
        "ratio": ("of the yardstick", tables.ratio),
        "peak_memory_bytes": ("peak GiB", gib),
        **{name: (name, score) for name in SCORES},
    }
    caption = (
        f"{record['pair']}, median of {record['repeat']}; the yardstick is "
        f"{record.get('yardstick', OURS)}; our seconds are those of the whole process, the "
        "yardstick's those it prints"
    )
    phases = {name: runs[name]["phases"] for name in PROGRAMS}
    header = ("phase", *phases)
    return [
        tables.rows_of(caption, runs, columns, first="program"),
        table_of("Where the seconds go (the last run)", header, tables.phase_rows(phases)),
    ]


def checks_of(record: Mapping[str, Any]) -> list[Check]:
    """An eighth and a twelfth of the time, 1 GiB, scores within .001 of the dense answer."""
    runs, checks = record["runs"], []
    for name, part in (("best", 8), ("paper", 12), ("exact", 8)):
        share, peak = runs[name]["ratio"], runs[name]["peak_memory_bytes"]
        asked = f"{name}: at most 1/{part} of the yardstick's time"
        checks.append(Check(asked, tables.ratio(share), share <= 1 / part))
        if name != "exact":
            asked = f"{name}: peak memory at most 1 GiB"
            checks.append(Check(asked, f"{gib(peak)} GiB", peak <= tables.GIB))
    off = max(abs(runs["paper"][name] - runs["all pairs"][name]) for name in SCORES)
    solve, gap = record["solve_ratio"], runs["exact"]["optimality_gap"]
    return [
        *checks,
        Check(
            "paper: scores within .001 of the dense answer", f"{off:.4f} off", off <= 0.001 + 1e-9
        ),
        Check("exact: phase at most 1/15 of SciPy's solve", tables.ratio(solve), solve <= 1 / 15),
        Check("exact: the proof has no gap", f"{gap}", gap == 0),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, run all, keep the results and print them."""
    parser = tables.parser_of("speed", __doc__, "zh_en --repeat 3")
    add = parser.add_argument
    add("pair", metavar="PAIR", type=Path, help="folder in the DBP15K layout")
    add("--yardstick", type=Path, help=f"another script than {OURS}, shown beside it")
    add("--repeat", type=int, default=1, help="runs of each, of which the median counts [1]")
    options = parser.parse_args(arguments)
    tables.keep("speed", options.results, measure(options))


if __name__ == "__main__":
    main()
