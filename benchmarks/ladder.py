"""The scale ladder: generated pairs from 15k to a million entities a side, time and memory.

Run it from the root of the repository, with nothing else running::

    python benchmarks/ladder.py --sizes 15k 50k 100k 200k 500k 1M --folder /tmp/ladder

For each size a pair is generated (unless it is there), aligned by ``sameas align`` in a process of
its own, and the links are compared with the gold ones. Results are kept after each size; run again,
an interrupted ladder goes on with the sizes that are missing.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import speed
import tables
from generate import parse_size

from sameas.reproduction.plots import COLOURS, DASHES, MARKERS

GENERATE = Path(__file__).parent / "generate.py"
SIZES = ("15k", "50k", "100k", "200k", "500k", "1M")
MAIN = 0.05
"""Phases that take this share of the largest run are drawn."""

Settings = dict[str, Any]
Runs = Mapping[str, Mapping[str, Any]]


def generated(folder: Path, size: int, settings: Settings) -> Path:
    """The folder of a pair of that size, made unless it is there."""
    name = tables.label(size)
    pair, mark = folder / name, folder / f"{name}.json"
    wanted = {key: settings[key] for key in ("noise", "overlap", "seed")}
    found = tables.load(mark)
    if found is None:
        speed.say(f"{name}: making the pair")
        words = [f"--{key}={value}" for key, value in wanted.items()]
        finished = speed.timed([sys.executable, str(GENERATE), str(size), str(pair), *words])
        if finished.code:
            sys.exit(f"{GENERATE.name} ended with {finished.code}: {finished.errors.strip()}")
        tables.save(mark, wanted)  # last: a pair without it is not complete
    elif found != wanted:
        sys.exit(f"{pair} was made with {found}, not with {wanted}; give another --folder")
    return pair


def measured(folder: Path, size: int, settings: Settings) -> dict[str, Any]:
    """What it takes to align the pair of that size, and how good the links are."""
    pair, out = generated(folder, size, settings), folder / f"run_{tables.label(size)}"
    options = f"--preset paper --solver {settings['solver']} --memory {settings['memory']}"
    speed.say(f"{tables.label(size)}: sameas align {options}")
    found = speed.align(pair, out, options)
    scores = speed.evaluate(out, pair)
    phases = found["seconds"]
    rest = found["process_seconds"] - sum(phases.values())
    return {
        "size": size,
        "total_seconds": found["process_seconds"],
        "seconds": {**phases, "rest": round(rest, 3)},
        "peak_memory_bytes": found["peak_memory_bytes"],
        **{
            name: found.get(name)
            for name in (
                *("memory_expected_bytes", "form", "candidate_pairs", "search_recall"),
                *("objective", "optimality_gap", "plan_deviation", "rounds", "pairs"),
            )
        },
        **{
            name: scores[name]
            for name in ("hits@1", "hits@10", "mrr", "precision", "recall", "f1", "links")
        },
        "candidate_recall": candidate_recall(out),
    }


def candidate_recall(run: Path) -> float:
    """The share of the gold links that are among the candidates: only those have a rank."""
    ranked = pl.scan_parquet(run / "gold_ranks.parquet").select(pl.len()).collect().item()
    gold = pl.scan_parquet(run / "gold.parquet").select(pl.len()).collect().item()
    return float(ranked / gold)


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
    phases = set.intersection(*(set(run["seconds"]) for run in large))
    series = {
        "total": [run["total_seconds"] for run in large],
        **{
            phase: [run["seconds"][phase] for run in large]
            for phase in large[0]["seconds"]
            if phase in phases
        },
        "memory": [run["peak_memory_bytes"] for run in large],
    }
    sizes = np.log([run["size"] for run in large])
    found = {}
    for name, values in series.items():
        if min(values) > 0:
            slope = np.polyfit(sizes, np.log(values), 1)[0]
            found[name] = round(float(slope), 3) + 0.0
    return found


def climb(
    sizes: Sequence[int], folder: Path, results: Path, settings: Settings, *, again: bool
) -> dict[str, Any]:
    """Measure the sizes that are missing; the record is written after each."""
    folder.mkdir(parents=True, exist_ok=True)
    record = tables.load(results) or {"sizes": {}, "settings": settings}
    if not again and compared(record["settings"]) != compared(settings):
        sys.exit(
            f"{results} is of other settings, {record['settings']}; "
            "give --again to measure anew or --results for another file"
        )
    kept = record["sizes"] if compared(record["settings"]) == compared(settings) else {}
    for size in sizes:
        name = tables.label(size)
        if name in kept and not again:
            speed.say(f"{name}: known already; --again measures it anew")
        else:
            kept = {**kept, name: measured(folder, size, settings)}
        kept = dict(sorted(kept.items(), key=lambda item: item[1]["size"]))
        record = {
            "machine": tables.machine(),
            "settings": settings,
            "exponents": growth(kept, settings["fit_from"]),
            "sizes": kept,
        }
        tables.save(results, record)
    return record


def compared(settings: Settings) -> Settings:
    """The settings that runs depend on."""
    return {name: value for name, value in settings.items() if name != "fit_from"}


def draw(record: Mapping[str, Any], file: Path) -> None:
    """Write a picture of time and memory over size, on log axes, with the fitted slopes."""
    import matplotlib
    from matplotlib.figure import Figure

    runs = list(record["sizes"].values())
    settings: Any = {
        # The defaults first: a user's matplotlibrc must not change the picture.
        **{key: value for key, value in matplotlib.rcParamsDefault.items() if key != "backend"},
        "svg.hashsalt": file.stem,
        "svg.fonttype": "none",
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(9.6, 4.6), layout="constrained")
        time, memory = figure.subplots(1, 2, width_ratios=(3, 2))
        largest = runs[-1]
        phases = [p for p, s in largest["seconds"].items() if s >= MAIN * largest["total_seconds"]]
        lines = {"total": [run["total_seconds"] for run in runs]}
        lines |= {phase: [run["seconds"].get(phase, 0.0) for run in runs] for phase in phases}
        _panel(time, record, lines, "seconds")
        peaks = [run["peak_memory_bytes"] / tables.GIB for run in runs]
        _panel(memory, record, {"memory": peaks}, "peak memory, GiB")
        nobody = {"Date": None, "Creator": None, "Format": None, "Type": None}
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, format="svg", metadata=nobody)


def _panel(
    axes: Any, record: Mapping[str, Any], lines: Mapping[str, Sequence[float]], y_label: str
) -> None:
    """One line for each series, and a broad pale one for the fit to the first."""
    from matplotlib.ticker import LogLocator

    sizes = [run["size"] for run in record["sizes"].values()]
    start = record["settings"]["fit_from"]
    for number, (name, values) in enumerate(lines.items()):
        slope = record["exponents"].get(name)
        axes.plot(
            sizes,
            [value if value > 0 else math.nan for value in values],
            label=name if slope is None else f"{name} (size^{slope:.2f})",
            color=COLOURS[number % len(COLOURS)],
            marker=MARKERS[number % len(MARKERS)],
            linestyle=DASHES[number % len(DASHES)],
            linewidth=2.0 if number == 0 else 1.2,
            markersize=5,
        )
        if number == 0 and slope is not None:
            fitted = [(x, y) for x, y in zip(sizes, values, strict=True) if x >= start]
            middle = np.mean(np.log(fitted), axis=0)
            ends = np.array([fitted[0][0], fitted[-1][0]])
            line = np.exp(middle[1] + slope * (np.log(ends) - middle[0]))
            axes.plot(ends, line, color="#999999", linewidth=5, alpha=0.4, zorder=0, label="fit")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(sizes, [tables.label(size) for size in sizes])
    axes.set_xticks([], minor=True)
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_minor_formatter(lambda value, _: "")
    axes.set_xlabel("entities a side")
    axes.set_ylabel(y_label)
    axes.grid(visible=True, which="major", color="#dddddd", linewidth=0.6)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, frameon=False, handlelength=3.2)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, climb, keep the results, print and draw them."""
    parser = argparse.ArgumentParser(
        description="Align generated pairs of growing size; record time, memory and scores.",
        epilog="example: python benchmarks/ladder.py --sizes 15k 50k 100k --folder /tmp/ladder",
    )
    add = parser.add_argument
    sizes = [parse_size(size) for size in SIZES]
    add("--sizes", nargs="+", type=parse_size, default=sizes, help=f"[{' '.join(SIZES)}]")
    add("--folder", type=Path, help="where pairs and runs go")
    add("--noise", type=float, default=0.02, help="of the generated pairs [0.02]")
    add("--overlap", type=float, default=0.8, help="of the generated pairs [0.8]")
    add("--seed", type=int, default=0, help="of the generated pairs [0]")
    add("--solver", choices=("sinkhorn", "hungarian"), default="sinkhorn", help="[sinkhorn]")
    add("--memory", default="20G", help="ceiling given to sameas align [20G]")
    add("--fit-from", type=parse_size, default=100_000, help="smallest size of the fit [100k]")
    add("--again", action="store_true", help="measure sizes anew that are known")
    add("--plot-only", action="store_true", help="draw what is known, run nothing")
    add("--results", type=Path, default=tables.RESULTS / "ladder.json", help="where results go")
    options = parser.parse_args(arguments)
    names = ("noise", "overlap", "seed", "solver", "memory", "fit_from")
    settings = {name: getattr(options, name) for name in names}
    if options.plot_only:
        record = tables.load(options.results)
        if record is None:
            parser.error(f"{options.results} does not exist; run the ladder first")
    elif options.folder is None:
        parser.error("--folder is needed: pairs and runs go there")
    else:
        record = climb(
            options.sizes, options.folder, options.results, settings, again=options.again
        )
    draw(record, options.results.with_suffix(".svg"))
    print(tables.report("ladder", record))
    if "total" in record["exponents"]:
        print(f"Time grows with size to the power {record['exponents']['total']:.2f}.")


if __name__ == "__main__":
    main()
