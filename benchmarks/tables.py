"""Results of the benchmarks: kept as JSON, printed as tables, collected in RESULTS.md.

Run it from the root of the repository once the benchmarks have been run::

    python benchmarks/tables.py
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

RESULTS = Path(__file__).parent / "results"
PACKAGES = (
    "sameas",
    "numpy",
    "scipy",
    "faiss-cpu",
    "numba",
    "sparse-dot-topn",
    "polars",
    "lapx",
    "pyoxigraph",
)
GIB = 2**30
NOTHING = "–"
"""Stands where there is no figure."""

Record = Mapping[str, Any]


class Table(NamedTuple):
    """Rows of text under a header; the first column is words, the others are numbers."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


class Check(NamedTuple):
    """What was asked for, what was found, and whether that will do."""

    asked: str
    found: str
    met: bool


class Section(NamedTuple):
    """How the results of one benchmark are shown."""

    title: str
    tables: Callable[[Record], list[Table]]
    checks: Callable[[Record], list[Check]]


# ---------------------------------------------------------------------- files


def machine() -> dict[str, Any]:
    """What the figures depend on besides the code: processor, memory, versions."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
    }


def save(file: Path, record: Record) -> None:
    """Write a record; it is there whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.draft")
    draft.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf8")
    draft.replace(file)


def load(file: Path) -> dict[str, Any] | None:
    """What was saved there, or None if nothing was."""
    if not file.exists():
        return None
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf8"))
    return found


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


# ---------------------------------------------------------------------- one table for each result


def speed_tables(record: Record) -> list[Table]:
    """How long each program takes, next to the yardstick."""
    rows = [
        (
            name,
            seconds(run["median_seconds"]),
            f"{seconds(min(run['seconds']))}–{seconds(max(run['seconds']))}",
            share(run["ratio"]),
            gib(run["peak_memory_bytes"]),
            score(run["hits@1"]),
        )
        for name, run in record["runs"].items()
    ]
    header = ("program", "seconds", "from–to", "of the yardstick", "peak GiB", "Hits@1")
    caption = (
        f"{record['pair']}, median of {record['repeat']}; our seconds are those of the whole "
        "process, the yardstick's those it prints"
    )
    phases = [
        (phase, seconds(value)) for phase, value in record["runs"]["sameas"]["phases"].items()
    ]
    return [
        Table(caption, header, rows),
        Table("Where sameas spends them (the last run)", ("phase", "seconds"), phases),
    ]


def speed_checks(record: Record) -> list[Check]:
    """An eighth of the time, 2 GiB, Hits@1 within .003 of the dense answer."""
    ours, dense = record["runs"]["sameas"], record["runs"]["sameas, all pairs"]
    off = abs(ours["hits@1"] - dense["hits@1"])
    return [
        Check("at most 1/8 of the yardstick's time", share(ours["ratio"]), ours["ratio"] <= 1 / 8),
        Check(
            "peak memory at most 2 GiB",
            f"{gib(ours['peak_memory_bytes'])} GiB",
            ours["peak_memory_bytes"] <= 2 * GIB,
        ),
        Check("Hits@1 within .003 of the dense answer", f"{off:.4f} off", off <= 0.003),
    ]


def solver_tables(record: Record) -> list[Table]:
    """How long each solver takes on the same matrix, and what it finds."""
    rows = [
        (
            name,
            seconds(run["median_seconds"]),
            share(run["ratio"]),
            f"{run['objective']:,.4f}",
            exponent(run["difference"]),
            exponent(run.get("gap")),
            count(run.get("rounds")),
            count(run.get("pairs")),
        )
        for name, run in record["solvers"].items()
    ]
    header = (
        *("solver", "seconds", "of SciPy's", "objective", "relative difference"),
        *("proven gap", "rounds", "pairs"),
    )
    left, right = record["shape"]
    caption = f"{record['pair']}, the same {left:,} x {right:,} profits for all"
    beside = [
        (what, seconds(record["beside"][name]))
        for name, what in (
            ("rows", "features and neighbourhoods"),
            ("matrix", "all profits"),
            ("first_call", "first call of the solver: its loops compiled, or loaded if they were"),
            ("certify", "checking prices against all pairs"),
            ("candidates", "finding candidates, for the solver from rows"),
        )
        if record["beside"].get(name) is not None
    ]
    return [
        Table(caption, header, rows),
        Table("Not in these seconds", ("what", "seconds"), beside),
    ]


def solver_checks(record: Record) -> list[Check]:
    """A fifteenth of SciPy's time, the same objective, gap zero."""
    ours = record["solvers"]["sameas"]
    return [
        Check("at most 1/15 of SciPy's time", share(ours["ratio"]), ours["ratio"] <= 1 / 15),
        Check(
            "the same objective to 1e-6",
            f"{exponent(ours['difference'])} off",
            abs(ours["difference"]) <= 1e-6,
        ),
        Check("a proven gap of 0", exponent(ours["gap"]), ours["gap"] == 0),
    ]


def ladder_tables(record: Record) -> list[Table]:
    """What each size takes, and how good the links are."""
    runs = sorted(record["sizes"].values(), key=lambda run: run["size"])
    rows = [
        (
            label(run["size"]),
            seconds(run["total_seconds"]),
            gib(run["peak_memory_bytes"]),
            score(run["hits@1"]),
            score(run["mrr"]),
            score(run["precision"]),
            score(run["recall"]),
            score(run["f1"]),
            score(run["candidate_recall"]),
            score(run["search_recall"]),
            count(run["candidate_pairs"]),
            exponent(run["optimality_gap"]),
        )
        for run in runs
    ]
    header = (
        *("entities a side", "seconds", "peak GiB", "Hits@1", "MRR", "precision", "recall", "F1"),
        *("gold links among candidates", "recall of the search", "candidate pairs", "gap"),
    )
    options = record["settings"]
    caption = (
        f"{options['solver']}, noise {options['noise']:g}, overlap {options['overlap']:g}, "
        f"seed {options['seed']}, memory ceiling {options['memory']}"
    )
    return [Table(caption, header, rows), _phases(record, runs)]


def _phases(record: Record, runs: Sequence[Record]) -> Table:
    """Seconds by phase, a column for each size, and the exponent with which they grow."""
    phases = list(dict.fromkeys(phase for run in runs for phase in run["seconds"]))
    found = record["exponents"]
    rows = [
        (
            phase,
            *(seconds(run["seconds"].get(phase)) for run in runs),
            power(found.get(phase)),
        )
        for phase in phases
    ]
    total = ("total", *(seconds(run["total_seconds"]) for run in runs), power(found.get("total")))
    memory = (
        "peak GiB",
        *(gib(run["peak_memory_bytes"]) for run in runs),
        power(found.get("memory")),
    )
    header = ("phase", *(label(run["size"]) for run in runs), "exponent")
    fit = label(record["settings"]["fit_from"])
    caption = f"Seconds by phase, and the exponent they grow with from {fit} up"
    return Table(caption, header, [*rows, total, memory])


def ladder_checks(record: Record) -> list[Check]:
    """Time, memory and recall at 100k; the exponent; a million under 90 minutes and 20 GiB."""
    found = []
    for name, minutes, ceiling in (("100k", 6, 8), ("1M", 90, 20)):
        run = record["sizes"].get(name)
        if run is None:
            continue
        taken, peak = run["total_seconds"] / 60, run["peak_memory_bytes"]
        found += [
            Check(f"{name}: at most {minutes} minutes", f"{taken:.1f}", taken <= minutes),
            Check(f"{name}: at most {ceiling} GiB", gib(peak), peak <= ceiling * GIB),
        ]
        if name == "100k":
            recall = run["candidate_recall"]
            found.append(Check("100k: .99 of gold among candidates", score(recall), recall >= 0.99))
    growth = record["exponents"].get("total")
    if growth is not None and {"100k", "1M"} <= set(record["sizes"]):
        asked = "time grows with at most size^1.5 from 100k to 1M"
        found.append(Check(asked, power(growth), growth <= 1.5))
    return found


def memory_tables(record: Record) -> list[Table]:
    """What was resident under each ceiling."""
    rows = [
        (
            ceiling,
            gib(run.get("peak_memory_bytes")),
            share_of(run.get("of_ceiling")),
            gib(run.get("expected_bytes")),
            seconds(run.get("total_seconds")),
            count(run.get("links")),
            count(run.get("other_links")),
            run.get("form", "refused"),
            run["reason"],
        )
        for ceiling, run in record["runs"].items()
    ]
    header = (
        *("ceiling", "peak GiB", "of the ceiling", "foretold GiB", "seconds"),
        *("links", "unlike the first run's", "form", "why"),
    )
    return [Table(f"{record['pair']}, {record['options']}", header, rows)]


def memory_checks(record: Record) -> list[Check]:
    """Below 1.3 GiB under a ceiling of 1G, and the same links."""
    run = record["runs"].get("1G")
    if run is None:
        return []
    if "peak_memory_bytes" not in run:
        return [Check("a run with --memory 1G", "refused", met=False)]
    peak, same = run["peak_memory_bytes"], record["same_links"]
    return [
        Check("below 1.3 GiB with --memory 1G", f"{gib(peak)} GiB", peak < 1.3 * GIB),
        Check("the same links", "the same" if same else "not the same", same),
    ]


def resume_tables(record: Record) -> list[Table]:
    """What became of each interrupted run."""
    order = list(record["reference"]["seconds"])
    cases = sorted(record["cases"].values(), key=lambda case: order.index(case["phase"]))
    rows = [
        (
            case["phase"],
            case["signal"],
            seconds(case["after_seconds"]),
            seconds(case["stop_seconds"]),
            str(case["exit_code"]),
            case["output"],
            ", ".join(case["resumed"]) or NOTHING,
            seconds(case["second_seconds"]),
            "yes" if case["same_links"] else "NO",
        )
        for case in cases
    ]
    header = (
        *("killed in", "by", "after s", "gone after s", "exit code", "output then"),
        *("phases not done again", "second run s", "same links"),
    )
    whole = record["reference"]["total_seconds"]
    caption = (
        f"{record['settings']['pair']}, {record['settings']['options']}; "
        f"uninterrupted: {seconds(whole)} s"
    )
    return [Table(caption, header, rows)]


def resume_checks(record: Record) -> list[Check]:
    """Whatever is interrupted gives the same links afterwards, and nothing half-written."""
    cases = list(record["cases"].values())
    same = sum(case["same_links"] for case in cases)
    clean = sum(case["output"] in ("none", "whole") and not case["left_over"] for case in cases)
    wanted = {
        (phase, name) for phase in record["reference"]["seconds"] for name in ("SIGINT", "SIGKILL")
    }
    done = {(case["phase"], case["signal"]) for case in cases}
    return [
        Check(
            "every phase interrupted by SIGINT and by SIGKILL",
            f"{len(wanted & done)} of {len(wanted)}",
            wanted <= done,
        ),
        Check("the same links after going on", f"{same} of {len(cases)}", same == len(cases)),
        Check("no half-written output", f"{clean} of {len(cases)}", clean == len(cases)),
    ]


def reading_tables(record: Record) -> list[Table]:
    """How fast each program reads the same lines."""
    rows = [
        (
            name,
            seconds(run["median_seconds"]),
            seconds(run["cpu_seconds"]),
            count(round(run["statements_per_second"])),
            f"{run['of_bare_speed']:.2f}",
            gib(run["start_memory_bytes"]),
            gib(run["peak_memory_bytes"]),
        )
        for name, run in record["runs"].items()
    ]
    header = (
        *("program", "seconds", "CPU seconds", "statements a second", "of bare speed"),
        *("GiB at the start", "peak GiB"),
    )
    caption = f"{record['size']:,} lines of N-Triples, {gib(record['file_bytes'])} GiB"
    return [Table(caption, header, rows)]


def reading_checks(record: Record) -> list[Check]:
    """At least a third of the speed of bare parsing."""
    found = record["runs"]["sameas"]["of_bare_speed"]
    asked = "at least a third of pyoxigraph's bare speed"
    return [Check(asked, f"{found:.2f}", found >= 1 / 3)]


SECTIONS = {
    "speed": Section("Speed against the yardstick", speed_tables, speed_checks),
    "solver": Section("The exact solver against SciPy and lapx", solver_tables, solver_checks),
    "ladder": Section("The scale ladder", ladder_tables, ladder_checks),
    "memory": Section("The memory ceiling", memory_tables, memory_checks),
    "resume": Section("Interrupted and resumed", resume_tables, resume_checks),
    "reading": Section("Reading RDF", reading_tables, reading_checks),
}


# ---------------------------------------------------------------------- figures as text


def seconds(value: float | None) -> str:
    """Seconds, with more digits where they are few."""
    if value is None:
        return NOTHING
    return f"{value:.2f}" if value < 10 else f"{value:,.1f}"


def gib(value: float | None) -> str:
    """Bytes in GiB."""
    return NOTHING if value is None else f"{value / GIB:.2f}"


def score(value: float | None) -> str:
    """A score between zero and one."""
    return NOTHING if value is None else f"{value:.3f}"


def share(value: float | None) -> str:
    """A ratio, below one as a fraction.

    >>> share(0.125), share(1.0), share(1.7)
    ('1/8.0', '1', '1.7')
    """
    if value is None:
        return NOTHING
    return f"1/{1 / value:.1f}" if 0 < value < 0.995 else f"{value:.2g}"


def share_of(value: float | None) -> str:
    """A part in percent."""
    return NOTHING if value is None else f"{value:.0%}"


def exponent(value: float | None) -> str:
    """A tiny number."""
    return NOTHING if value is None else "0" if value == 0 else f"{value:.1e}"


def power(value: float | None) -> str:
    """An exponent of growth."""
    return NOTHING if value is None else f"{value:.2f}"


def count(value: int | None) -> str:
    """A whole number with separators."""
    return NOTHING if value is None else f"{value:,}"


def label(size: int) -> str:
    """A size as it is asked for.

    >>> label(300), label(15_000), label(1_000_000)
    ('300', '15k', '1M')
    """
    for unit, name in ((10**6, "M"), (10**3, "k")):
        if size >= unit and size % unit == 0:
            return f"{size // unit}{name}"
    return str(size)


def plain(table: Table) -> str:
    """A table for a terminal."""
    lines = [table.header, *table.rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(table.header))]
    shown = [
        "  ".join(
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    return "\n".join([table.caption, shown[0], "-" * len(shown[0]), *shown[1:], ""])


def markdown(table: Table) -> str:
    """A table for GitHub."""
    marks = ["--:" if i else ":--" for i in range(len(table.header))]
    lines = [f"| {' | '.join(_literal(cell) for cell in row)} |" for row in table.rows]
    head = f"| {' | '.join(table.header)} |\n| {' | '.join(marks)} |"
    return "\n".join([f"*{_literal(table.caption)}*", "", head, *lines, ""])


def _literal(text: str) -> str:
    return text.replace("|", r"\|").replace("_", r"\_").replace("*", r"\*")


# ---------------------------------------------------------------------- all results


def report(name: str, record: Record) -> str:
    """The tables of one benchmark and what was asked for, as a benchmark prints them."""
    section = SECTIONS[name]
    parts = [plain(table) for table in section.tables(record)]
    checks = section.checks(record)
    if checks:
        parts.append(plain(_check_table(checks)))
    return "\n".join(parts)


def results_page(folder: Path = RESULTS) -> str:
    """All results that are there, as Markdown."""
    lines = ["# Results", "", "Made by `python benchmarks/tables.py` from `results/`.", ""]
    for name, section in SECTIONS.items():
        for file in sorted(folder.glob(f"{name}*.json")):
            record = load(file)
            assert record is not None
            lines += [f"## {section.title}", "", _literal(_about(record["machine"])), ""]
            lines += [markdown(table) for table in section.tables(record)]
            if file.with_suffix(".svg").exists():
                lines += [f"![{section.title}]({folder.name}/{file.stem}.svg)", ""]
            checks = section.checks(record)
            if checks:
                lines.append(markdown(_check_table(checks)))
    return "\n".join(lines)


def _check_table(checks: Sequence[Check]) -> Table:
    rows = [(check.asked, check.found, "met" if check.met else "NOT met") for check in checks]
    return Table("What was asked for", ("asked for", "found", ""), rows)


def _about(found: Record) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in found["packages"].items())
    return (
        f"{found['processor']}, {found['cores']} cores, {gib(found['memory_bytes'])} GiB, "
        f"{found['system']}; Python {found['python']}, {versions}."
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Write RESULTS.md."""
    parser = argparse.ArgumentParser(
        description="Collect the results of the benchmarks in one Markdown file.",
        epilog="example: python benchmarks/tables.py",
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the JSON files")
    parser.add_argument("--out", type=Path, help="where to [RESULTS.md beside that folder]")
    options = parser.parse_args(arguments)
    if not any(options.results.glob("*.json")):
        parser.error(f"{options.results} has no results; run the benchmarks first")
    out = options.out or options.results.parent / "RESULTS.md"
    out.write_text(results_page(options.results), encoding="utf8")
    print(f"Written to {out}.")


if __name__ == "__main__":
    main()
