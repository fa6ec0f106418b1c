"""The scale ladder: generated pairs from 15k to a million entities a side, time and memory.

Run it from the root of the repository, with nothing else running::

    python -m benchmarks.ladder --sizes 15k 50k 100k 200k 500k 1M --folder /tmp/ladder
    python -m benchmarks.ladder --sizes 15k 100k --hard --folder /tmp/ladder

For each size a pair is generated (unless it is there), aligned by ``sameas align`` in a process of
its own, and the links are compared with the gold ones. Results are kept after each size; run again,
an interrupted ladder goes on with the sizes that are missing.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks import tables
from benchmarks.generate import HARD_OVERLAP, OVERLAP, parse_size, size_label
from benchmarks.processes import measured, say, timed
from benchmarks.tables import Check
from experiments.plots import Panel, draw
from experiments.rendering import Table, count, gib, score, table_of
from experiments.store import machine

TITLE = "The scale ladder"
SIZES = ("15k", "50k", "100k", "200k", "500k", "1M")
MAIN = 0.05
"""Phases that take this share of the largest run are drawn."""
SETTINGS = ("noise", "overlap", "hard", "seed", "preset", "solver", "memory", "languages")
"""What runs depend on."""
SCORES = {
    "hits@1": "Hits@1",
    "mrr": "MRR",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "candidate_recall": "gold links among candidates",
    "search_recall": "recall of the search",
}

Settings = dict[str, Any]
Runs = Mapping[str, Mapping[str, Any]]


def generated(folder: Path, size: int, settings: Settings) -> Path:
    """The folder of a pair of that size, made unless it is there."""
    name = ("hard_" if settings["hard"] else "") + size_label(size)
    pair, mark = folder / name, folder / f"{name}.json"
    wanted = {key: settings[key] for key in ("noise", "overlap", "seed")}
    found = tables.load(mark)
    if found is None:
        say(f"{name}: making the pair")
        words = [f"--{key}={value}" for key, value in wanted.items()]
        words += ["--hard"] * settings["hard"]
        finished = timed(
            [sys.executable, "-m", "benchmarks.generate", str(size), str(pair), *words]
        )
        if finished.code:
            sys.exit(f"generate ended with {finished.code}: {finished.errors.strip()}")
        tables.save(mark, wanted)  # last: a pair without it is not complete
    elif found != wanted:
        sys.exit(f"{pair} was made with {found}, not with {wanted}; give another --folder")
    return pair


def aligned(pair: Path, settings: Settings) -> dict[str, Any]:
    """What it takes to align a pair, and how good the links are."""
    out = pair.with_name(f"run_{pair.name}")
    names = ("preset", "solver", "memory", *(["languages"] * (settings["preset"] == "best")))
    options = " ".join(f"--{name} {settings[name]}" for name in names)
    say(f"{pair.name}: sameas align {options}")
    found = measured(pair, out, options)
    phases = found.pop("phases")
    rest = found["total_seconds"] - sum(phases.values())
    # Only gold links that are among the candidates have a rank.
    ranked, gold = (
        pl.scan_parquet(out / f"{name}.parquet").select(pl.len()).collect().item()
        for name in ("gold_ranks", "gold")
    )
    found["seconds"] = {**phases, "rest": round(rest, 3)}
    return {**found, "candidate_recall": ranked / gold}


def growth(runs: Runs, start: int) -> dict[str, float]:
    """The exponents with which time, in all and by phase, and memory grow from a size up.

    >>> quick = {"total_seconds": 1, "seconds": {"reading": 1}, "peak_memory_bytes": 5}
    >>> slow = {"total_seconds": 8, "seconds": {"reading": 2}, "peak_memory_bytes": 5}
    >>> growth({"1k": {"size": 1000, **quick}, "2k": {"size": 2000, **slow}}, 1000)
    {'total': 3.0, 'reading': 1.0, 'memory': 0.0}
    """
    large = [run for run in runs.values() if run["size"] >= start]
    if len(large) < 2:
        return {}
    series = {"total": [run["total_seconds"] for run in large]}
    for phase in large[0]["seconds"]:
        series[phase] = [run["seconds"].get(phase, 0.0) for run in large]
    series["memory"] = [run["peak_memory_bytes"] for run in large]
    sizes = np.log([run["size"] for run in large])
    return {
        name: round(float(np.polyfit(sizes, np.log(values), 1)[0]), 3) + 0.0
        for name, values in series.items()
        if min(values) > 0
    }


def climb(
    sizes: Sequence[int], folder: Path, results: Path, settings: Settings, *, again: bool
) -> dict[str, Any]:
    """Measure the sizes that are missing; the record is written after each."""
    folder.mkdir(parents=True, exist_ok=True)
    record: dict[str, Any] = tables.load(results) or {"sizes": {}, "settings": settings}
    earlier = {"hard": False, "languages": "auto", **record["settings"]}
    alike = all(earlier[name] == settings[name] for name in SETTINGS)
    if not alike and not again:
        sys.exit(
            f"{results} is of other settings, {earlier}; "
            "give --again to measure anew or --results for another file"
        )
    kept = record["sizes"] if alike else {}
    for size in sizes:
        name = size_label(size)
        if name in kept and not again:
            say(f"{name}: known already; --again measures it anew")
        else:
            pair = generated(folder, size, settings)
            kept[name] = {"size": size, **aligned(pair, settings)}
        kept = dict(sorted(kept.items(), key=lambda item: item[1]["size"]))
        exponents = growth(kept, settings["fit_from"])
        record = {"machine": machine(), "settings": settings, "exponents": exponents, "sizes": kept}
        tables.save(results, record)
    return record


def draw_ladder(record: Mapping[str, Any], file: Path) -> None:
    """Write a picture of time and memory over size, on log axes; labels tell the fitted slopes."""
    runs, slopes = list(record["sizes"].values()), record["exponents"]
    largest = runs[-1]
    times = {"total": {run["size"]: run["total_seconds"] for run in runs}}
    for phase, taken in largest["seconds"].items():
        if taken >= MAIN * largest["total_seconds"]:
            values = {run["size"]: run["seconds"].get(phase, 0.0) for run in runs}
            times[phase] = {size: value for size, value in values.items() if value > 0}
    peaks = {"memory": {run["size"]: run["peak_memory_bytes"] / tables.GIB for run in runs}}
    panels = []
    for lines, unit in ((times, "seconds"), (peaks, "peak memory, GiB")):
        series = {
            f"{name} (size^{slopes[name]:.2f})" if name in slopes else name: values
            for name, values in lines.items()
        }
        axes = {"xlabel": "entities a side", "ylabel": unit, "xscale": "log", "yscale": "log"}
        panels.append(
            Panel(
                "lines",
                series,
                title=next(iter(series)),
                axes=axes,
                x_show=lambda size: size_label(round(size)),
                y_show="{:g}".format,
            )
        )
    file.parent.mkdir(parents=True, exist_ok=True)
    draw(file.parent, file.stem, panels, height=4.0)


def tables_of(record: Mapping[str, Any]) -> list[Table]:
    """What each size takes, and how good the links are; then the seconds by phase."""
    runs, settings = record["sizes"], record["settings"]
    columns = {
        "total_seconds": ("seconds", tables.seconds),
        "cpu_seconds": ("CPU seconds", tables.seconds),
        "peak_memory_bytes": ("peak GiB", gib),
        **{name: (header, score) for name, header in SCORES.items()},
        "candidate_pairs": ("candidate pairs", count),
        "optimality_gap": ("gap", tables.tiny),
    }
    drawn = (
        f"{name} {settings[name]:g}" for name in ("noise", "overlap", "seed") if name in settings
    )
    hard = ["hard pairs"] if settings.get("hard") else []
    ceiling = f"memory ceiling {settings['memory']}"
    caption = ", ".join([*hard, settings["preset"], settings["solver"], *drawn, ceiling])
    by_phase = tables.phase_rows(
        {name: {**run["seconds"], "total": run["total_seconds"]} for name, run in runs.items()}
    )
    by_phase.append(["memory", *(gib(run["peak_memory_bytes"]) for run in runs.values())])
    for row in by_phase:
        row.append(tables.shown(record["exponents"].get(row[0]), "{:.2f}".format))
    below = "Seconds by phase, memory in GiB"
    if "fit_from" in settings:
        below += f", and the exponents they grow with from {size_label(settings['fit_from'])} up"
    return [
        tables.rows_of(caption, runs, columns, first="entities a side"),
        table_of(below, ["phase", *runs, "exponent"], by_phase),
    ]


GOALS = {"100k": (1.5, 2), "1M": (8, 5), "3M": (None, 18)}
"""By size, the most minutes (where asked for) and GiB."""


def checks_of(record: Mapping[str, Any]) -> list[Check]:
    """Time, memory and the recall of the search, by size."""
    found: list[Check] = []
    if record["settings"].get("hard"):
        return found
    for name, (minutes, ceiling) in GOALS.items():
        run = record["sizes"].get(name)
        if run is None:
            continue
        taken, peak = run["total_seconds"] / 60, run["peak_memory_bytes"]
        if minutes is not None:
            asked = f"{name}: at most {minutes:g} minutes"
            found.append(Check(asked, f"{taken:.1f}", taken <= minutes))
        asked = f"{name}: at most {ceiling} GiB"
        found.append(Check(asked, gib(peak), peak <= ceiling * tables.GIB))
    if (run := record["sizes"].get("1M")) and run.get("search_recall") is not None:
        recall = run["search_recall"]
        asked = "1M: recall of the search at least .995"
        found.append(Check(asked, f"{recall:.4f}", recall >= 0.995))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, climb, keep the results, print and draw them."""
    parser = tables.parser_of("ladder", __doc__, "--sizes 15k 50k 100k --folder /tmp/ladder")
    add = parser.add_argument
    sizes = [parse_size(size) for size in SIZES]
    add("--sizes", nargs="+", type=parse_size, default=sizes, help=f"[{' '.join(SIZES)}]")
    add("--folder", type=Path, help="where pairs and runs go")
    add("--noise", type=float, default=0.02, help="of the generated pairs [0.02]")
    add("--hard", action="store_true", help="harder pairs, see generate.py")
    add("--overlap", type=float, help="of the generated pairs [0.8; hard: 0.6]")
    add("--seed", type=int, default=0, help="of the generated pairs [0]")
    add("--preset", choices=("best", "paper"), default="best", help="[best]")
    add("--solver", choices=("sinkhorn", "hungarian"), default="sinkhorn", help="[sinkhorn]")
    add("--languages", default="none", help="auto: also with a sentence encoder [none]")
    add("--memory", default="20G", help="ceiling given to sameas align [20G]")
    add("--fit-from", type=parse_size, default=100_000, help="smallest size of the fit [100k]")
    add("--again", action="store_true", help="measure sizes anew that are known")
    add("--plot-only", action="store_true", help="draw what is known, run nothing")
    options = parser.parse_args(arguments)
    options.overlap = options.overlap or (HARD_OVERLAP if options.hard else OVERLAP)
    file: Path = options.results
    if options.hard and file == parser.get_default("results"):
        file = file.with_stem("ladder_hard")
    if options.plot_only:
        record = tables.load(file)
        if record is None:
            parser.error(f"{file} does not exist; run the ladder first")
    elif options.folder is None:
        parser.error("--folder is needed: pairs and runs go there")
    else:
        settings = {name: getattr(options, name) for name in (*SETTINGS, "fit_from")}
        record = climb(options.sizes, options.folder, file, settings, again=options.again)
    draw_ladder(record, file.with_suffix(".svg"))
    print(tables.report("ladder", record))


if __name__ == "__main__":
    main()
