"""The first minute: the first command after installation, the next one, and the smallest ones.

Run it from the root of the repository, with nothing else running::

    python -m benchmarks.startup --repeat 3

Timed are whole processes, start of Python included: ``sameas demo`` with no compiled kernels at
hand, as after ``pip install``; the same again; ``sameas --version``; and ``sameas align`` of two
tables of ten rows.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import tables
from benchmarks.processes import sameas, say, timed
from benchmarks.tables import Check
from experiments.rendering import Table, gib

TITLE = "The first minute"
MOST = {"first demo": 12.0, "version": 0.2, "ten entities": 1.5}
"""Seconds that were asked for."""
TEN = ("amber", "basil", "cedar", "delta", "ember", "fjord", "grove", "heron", "islet", "jetty")


def measure(repeat: int) -> dict[str, Any]:
    """Seconds and memory of each command, the median of some runs."""
    runs: dict[str, list[dict[str, float]]] = {}
    for number in range(repeat):
        say(f"run {number + 1} of {repeat}")
        with tempfile.TemporaryDirectory(prefix="sameas-startup-") as place:
            for name, words in commands(Path(place)).items():
                variables = {"NUMBA_CACHE_DIR": str(Path(place) / "compiled")}
                finished = timed(sameas(*words), variables)
                if finished.code:
                    raise RuntimeError(f"sameas {' '.join(words)}: {finished.errors.strip()}")
                taken = {"seconds": finished.seconds, "cpu_seconds": finished.cpu_seconds}
                runs.setdefault(name, []).append({**taken, "peak_bytes": finished.peak_bytes})
    return {
        "repeat": repeat,
        "runs": {
            name: {key: statistics.median(run[key] for run in each) for key in each[0]}
            for name, each in runs.items()
        },
    }


def commands(folder: Path) -> dict[str, list[str]]:
    """The commands in their order: the first compiles what the others find compiled."""
    files = [folder / f"{side}.csv" for side in ("left", "right")]
    for file in files:
        rows = [f"{number},the {name} house" for number, name in enumerate(TEN)]
        file.write_text("\n".join(["id,name", *rows]) + "\n", encoding="utf8")
    tables_of_ten = ["align", *map(str, files), "-o", str(folder / "links.csv")]
    return {
        "first demo": ["demo"],
        "second demo": ["demo"],
        "version": ["--version"],
        "ten entities": tables_of_ten,
    }


def tables_of(record: Mapping[str, Any]) -> list[Table]:
    """What each command takes."""
    columns: tables.Columns = {
        "seconds": ("seconds", tables.seconds),
        "cpu_seconds": ("CPU seconds", tables.seconds),
        "peak_bytes": ("peak GiB", gib),
    }
    caption = f"Whole processes, median of {record['repeat']}"
    return [tables.rows_of(caption, record["runs"], columns, first="command")]


def checks_of(record: Mapping[str, Any]) -> list[Check]:
    """The seconds that were asked for."""
    found = []
    for name, most in MOST.items():
        taken = record["runs"][name]["seconds"]
        asked = f"{name}: at most {most:g} s"
        found.append(Check(asked, f"{tables.seconds(taken)} s", taken <= most))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, run all, keep the results and print them."""
    parser = tables.parser_of("startup", __doc__, "--repeat 3")
    parser.add_argument("--repeat", type=int, default=3, help="runs of which the median counts [3]")
    options = parser.parse_args(arguments)
    tables.keep("startup", options.results, measure(options.repeat))


if __name__ == "__main__":
    main()
