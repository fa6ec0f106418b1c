"""The scale ladder: generated pairs from 15k to a million entities a side, time and memory.

Run it from the root of the repository, with nothing else running::

    python benchmarks/ladder.py --sizes 15k 50k 100k 200k 500k 1M --folder /tmp/ladder
    python benchmarks/ladder.py --sizes 15k 100k --hard --folder /tmp/ladder

For each size a pair is generated (unless it is there), aligned by ``sameas align`` in a process of
its own, and the links are compared with the gold ones. Results are kept after each size; run again,
an interrupted ladder goes on with the sizes that are missing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import speed
import tables
from generate import HARD_OVERLAP, OVERLAP, parse_size
from tables import Check

from sameas.reproduction.plots import Panel, draw
from sameas.reproduction.rendering import NOTHING, Table, count, gib, score, table_of
from sameas.reproduction.store import machine

TITLE = "The scale ladder"
GENERATE = Path(__file__).parent / "generate.py"
SIZES = ("15k", "50k", "100k", "200k", "500k", "1M")
MAIN = 0.05
"""Phases that take this share of the largest run are drawn."""

Settings = dict[str, Any]
Runs = Mapping[str, Mapping[str, Any]]


def generated(folder: Path, size: int, settings: Settings) -> Path:
    """The folder of a pair of that size, made unless it is there."""
    name = ("hard_" if settings["hard"] else "") + tables.label(size)
    pair, mark = folder / name, folder / f"{name}.json"
    wanted = {key: settings[key] for key in ("noise", "overlap", "seed")}
    found = tables.load(mark)
    if found is None:
        speed.say(f"{name}: making the pair")
        words = [f"--{key}={value}" for key, value in wanted.items()]
        words += ["--hard"] * settings["hard"]
        finished = speed.timed([sys.executable, str(GENERATE), str(size), str(pair), *words])
        if finished.code:
            sys.exit(f"{GENERATE.name} ended with {finished.code}: {finished.errors.strip()}")
        tables.save(mark, wanted)  # last: a pair without it is not complete
    elif found != wanted:
        sys.exit(f"{pair} was made with {found}, not with {wanted}; give another --folder")
    return pair


def measured(folder: Path, size: int, settings: Settings) -> dict[str, Any]:
    """What it takes to align the pair of that size, and how good the links are."""
    return {"size": size, **aligned(generated(folder, size, settings), settings)}


def aligned(pair: Path, settings: Settings) -> dict[str, Any]:
    """What it takes to align a pair, and how good the links are."""
    out = pair.with_name(f"run_{pair.name}")
    names = ("preset", "solver", "memory", *(["languages"] * (settings["preset"] == "best")))
    options = " ".join(f"--{name} {settings[name]}" for name in names)
    speed.say(f"{pair.name}: sameas align {options}")
    found = speed.align(pair, out, options)
    scores = speed.evaluate(out, pair)
    phases = found["seconds"]
    rest = found["process_seconds"] - sum(phases.values())
    return {
        "total_seconds": found["process_seconds"],
        "cpu_seconds": found["cpu_seconds"],
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
    record["settings"] = {"hard": False, "languages": "auto", **record["settings"]}
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
            "machine": machine(),
            "settings": settings,
            "exponents": growth(kept, settings["fit_from"]),
            "sizes": kept,
        }
        tables.save(results, record)
    return record


def compared(settings: Settings) -> Settings:
    """The settings that runs depend on."""
    return {name: value for name, value in settings.items() if name != "fit_from"}


def draw_ladder(record: Mapping[str, Any], file: Path) -> None:
    """Write a picture of time and memory over size, on log axes; labels tell the fitted slopes."""
    runs = list(record["sizes"].values())
    largest = runs[-1]
    phases = [p for p, s in largest["seconds"].items() if s >= MAIN * largest["total_seconds"]]
    times = {"total": {run["size"]: run["total_seconds"] for run in runs}}
    for phase in phases:
        taken = {run["size"]: run["seconds"].get(phase, 0.0) for run in runs}
        times[phase] = {size: value for size, value in taken.items() if value > 0}
    peaks = {"memory": {run["size"]: run["peak_memory_bytes"] / tables.GIB for run in runs}}
    panel = Panel("lines", {}, x_label="entities a side", logarithmic="xy", x_show=_size_label)
    panel = replace(panel, y_show="{:g}".format)
    panels = []
    for values, unit in ((times, "seconds"), (peaks, "peak memory, GiB")):
        series = _with_slopes(values, record)
        panels.append(replace(panel, series=series, title=next(iter(series)), y_label=unit))
    file.parent.mkdir(parents=True, exist_ok=True)
    draw(file.parent, file.stem, panels, height=4.0)


def _size_label(size: float) -> str:
    return tables.label(round(size))


def _with_slopes(
    series: Mapping[str, Mapping[float, float]], record: Mapping[str, Any]
) -> dict[str, Mapping[float, float]]:
    slopes = record["exponents"]
    return {
        f"{name} (size^{slopes[name]:.2f})" if name in slopes else name: values
        for name, values in series.items()
    }


def tables_of(record: Mapping[str, Any]) -> list[Table]:
    """What each size takes, and how good the links are; then the seconds by phase."""
    runs = dict(sorted(record["sizes"].items(), key=lambda item: item[1]["size"]))
    scores = ("hits@1", "mrr", "precision", "recall", "f1", "candidate_recall", "search_recall")
    headers = ("Hits@1", "MRR", "precision", "recall", "F1", "gold links among candidates")
    columns = {
        "total_seconds": ("seconds", tables.seconds),
        "cpu_seconds": ("CPU seconds", tables.seconds),
        "peak_memory_bytes": ("peak GiB", gib),
        **{
            name: (header, score)
            for name, header in zip(scores, (*headers, "recall of the search"), strict=True)
        },
        "candidate_pairs": ("candidate pairs", count),
        "optimality_gap": ("gap", tables.tiny),
    }
    settings = record["settings"]
    drawn = [
        f"{name} {settings[name]:g}" for name in ("noise", "overlap", "seed") if name in settings
    ]
    caption = ", ".join(
        [
            *(["hard pairs"] if settings.get("hard") else []),
            *(settings["preset"], settings["solver"], *drawn),
            f"memory ceiling {settings['memory']}",
        ]
    )
    phases = dict.fromkeys(phase for run in runs.values() for phase in run["seconds"])
    rows = {phase: {n: run["seconds"].get(phase) for n, run in runs.items()} for phase in phases}
    rows["total"] = {name: run["total_seconds"] for name, run in runs.items()}
    rows["memory"] = {name: run["peak_memory_bytes"] for name, run in runs.items()}
    texts = []
    for name, row in rows.items():
        show = gib if name == "memory" else tables.seconds
        cells = [NOTHING if value is None else show(value) for value in row.values()]
        slope = record["exponents"].get(name)
        texts.append([name, *cells, NOTHING if slope is None else f"{slope:.2f}"])
    by_phase = "Seconds by phase, memory in GiB"
    if "fit_from" in settings:
        fit = tables.label(settings["fit_from"])
        by_phase += f", and the exponents they grow with from {fit} up"
    return [
        tables.rows_of(caption, runs, columns, first="entities a side"),
        table_of(by_phase, ["phase", *runs, "exponent"], texts),
    ]


def checks_of(record: Mapping[str, Any]) -> list[Check]:
    """Time, memory and accuracy at 100k and a million, and the exponent between them."""
    found: list[Check] = []
    if record["settings"].get("hard"):
        return found
    for name, minutes, ceiling in (("100k", 1.5, 2), ("1M", 45, 10)):
        run = record["sizes"].get(name)
        if run is None:
            continue
        taken, peak = run["total_seconds"] / 60, run["peak_memory_bytes"]
        found += [
            Check(f"{name}: at most {minutes:g} minutes", f"{taken:.1f}", taken <= minutes),
            Check(f"{name}: at most {ceiling} GiB", gib(peak), peak <= ceiling * tables.GIB),
        ]
    exponent = record["exponents"].get("total")
    if exponent is not None and {"100k", "1M"} <= set(record["sizes"]):
        asked = "time grows with at most size^1.2 from 100k to 1M"
        found.append(Check(asked, f"{exponent:.2f}", exponent <= 1.2))
    return found


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
    add("--results", type=Path, help="where results go [results/ladder.json, or ladder_hard.json]")
    options = parser.parse_args(arguments)
    options.overlap = options.overlap or (HARD_OVERLAP if options.hard else OVERLAP)
    file = "ladder_hard.json" if options.hard else "ladder.json"
    options.results = options.results or tables.RESULTS / file
    names = ("noise", "overlap", "hard", "seed", "preset", "solver", "memory", "languages")
    names = (*names, "fit_from")
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
    draw_ladder(record, options.results.with_suffix(".svg"))
    print(tables.report("ladder", record))
    if "total" in record["exponents"]:
        print(f"Time grows with size to the power {record['exponents']['total']:.2f}.")


if __name__ == "__main__":
    main()
