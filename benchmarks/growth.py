"""How time and memory grow with size: pairs as folders and as N-Triples, and one table of records.

Run it from the root of the repository, with nothing else running::

    python -m benchmarks.growth --folder /tmp/ladder --sizes 10k 30k 100k 300k 1M

For each size and each kind of input, a command is run in a process of its own: ``sameas align`` on
a generated pair in the OpenEA layout, the same on that pair as N-Triples, and ``sameas dedupe`` on
a table of generated people, a tenth of whom stand in it twice. Results are kept after each.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import ladder, tables
from benchmarks.duplicates import make_people
from benchmarks.generate import OVERLAP, parse_size, size_label
from benchmarks.processes import sameas, say, timed
from benchmarks.tables import Check
from experiments.rendering import Table, gib, table_of
from experiments.store import machine

TITLE = "Growth"
SIZES = ("10k", "30k", "100k", "300k", "1M")
KINDS = ("folders", "N-Triples", "records")
MOST = 1.15
"""The exponent that was asked for."""

Values = dict[str, Any]


def made(kind: str, size: int, folder: Path) -> list[str]:
    """The input of a kind and size as words of the command line, made unless it is there."""
    if kind == "folders":
        drawn = {"noise": 0.02, "overlap": OVERLAP, "seed": 0, "hard": False}
        return ["align", str(ladder.generated(folder, size, drawn))]
    name = f"{kind.lower().replace('-', '_')}_{size_label(size)}"
    place, mark = folder / name, folder / f"{name}.done"
    if not mark.exists():
        say(f"{name}: making it")
        folder.mkdir(parents=True, exist_ok=True)
        if kind == "records":
            make_people(size, place)
        else:
            words = [str(size), str(place), "--noise=0.02", f"--overlap={OVERLAP}", "--parts=1"]
            subprocess.run([sys.executable, "-m", "benchmarks.generate", *words], check=True)
        mark.touch()  # last: what lacks it is not complete
    if kind == "records":
        return ["dedupe", str(place.with_suffix(".csv"))]
    return ["align", *(str(place / side) for side in ("left", "right"))]


def measure(kind: str, size: int, folder: Path) -> Values:
    """What one command takes."""
    words = made(kind, size, folder)
    out = folder / f"growth_{kind}_{size}"
    unfinished = out.with_name(f".{out.name}.resume")
    shutil.rmtree(unfinished, ignore_errors=True)
    options = ["--memory", "20G", "--json"]
    if kind != "records":
        options += ["--languages", "none"]
    say(f"sameas {' '.join(words)}")
    finished = timed(sameas(*words, "-o", str(out), *options))
    found = finished.values(" ".join(words))
    return {
        "size": size,
        "total_seconds": round(finished.seconds, 3),
        "cpu_seconds": round(finished.cpu_seconds, 3),
        "peak_memory_bytes": found["peak_memory_bytes"],
    }


def exponents(runs: Mapping[str, Values]) -> dict[str, float]:
    """The exponents with which seconds, processor seconds and memory grow with size.

    >>> one = {"size": 10, "total_seconds": 1, "cpu_seconds": 2, "peak_memory_bytes": 5}
    >>> two = {"size": 100, "total_seconds": 10, "cpu_seconds": 20, "peak_memory_bytes": 5}
    >>> exponents({"10": one, "100": two})
    {'total_seconds': 1.0, 'cpu_seconds': 1.0, 'peak_memory_bytes': 0.0}
    """
    names = ("total_seconds", "cpu_seconds", "peak_memory_bytes")
    if len(runs) < 2:
        return {}
    sizes = np.log([run["size"] for run in runs.values()])
    return {
        name: round(float(np.polyfit(sizes, np.log([run[name] for run in runs.values()]), 1)[0]), 3)
        + 0.0
        for name in names
    }


def by_kind(cases: Mapping[str, Values]) -> dict[str, dict[str, Values]]:
    """The runs of each kind by size, the smallest first; cases are called KIND SIZE."""
    found: dict[str, dict[str, Values]] = {kind: {} for kind in KINDS}
    for name, values in sorted(cases.items(), key=lambda item: item[1]["size"]):
        kind, size = name.rsplit(" ", 1)
        found[kind][size] = values
    return {kind: runs for kind, runs in found.items() if runs}


def tables_of(record: Mapping[str, Any]) -> list[Table]:
    """Seconds and memory by size, and the exponents."""
    kinds = by_kind(record["cases"])
    sizes = list(dict.fromkeys(size for runs in kinds.values() for size in runs))
    shown = {
        "total_seconds": ("Seconds", tables.seconds),
        "cpu_seconds": ("Processor seconds", tables.seconds),
        "peak_memory_bytes": ("Peak memory, GiB", gib),
    }
    found = []
    for key, (caption, show) in shown.items():
        rows = [
            [
                kind,
                *(tables.shown(runs.get(size, {}).get(key), show) for size in sizes),
                tables.shown(exponents(runs).get(key), "{:.2f}".format),
            ]
            for kind, runs in kinds.items()
        ]
        found.append(table_of(caption, ["input", *sizes, "exponent"], rows))
    return found if sizes else []


def checks_of(record: Mapping[str, Any]) -> list[Check]:
    """Exponents of time."""
    found = []
    for kind, runs in by_kind(record["cases"]).items():
        if (exponent := exponents(runs).get("total_seconds")) is not None:
            asked = f"{kind}: time grows with at most size^{MOST}"
            found.append(Check(asked, f"{exponent:.2f}", exponent <= MOST))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, measure what is missing, print it."""
    parser = tables.parser_of("growth", __doc__, "--folder /tmp/ladder --sizes 10k 30k 100k")
    sizes = [parse_size(size) for size in SIZES]
    parser.add_argument("--sizes", nargs="+", type=parse_size, default=sizes)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--folder", type=Path, required=True, help="where inputs and outputs go")
    parser.add_argument("--again", action="store_true", help="measure anew what is known")
    options = parser.parse_args(arguments)
    record: dict[str, Any] = tables.load(options.results) or {"cases": {}}
    record["machine"] = machine()
    for kind in options.kinds:
        for size in options.sizes:
            name = f"{kind} {size_label(size)}"
            if options.again or name not in record["cases"]:
                record["cases"][name] = measure(kind, size, options.folder)
                tables.save(options.results, record)
    print(tables.report("growth", record))


if __name__ == "__main__":
    main()
