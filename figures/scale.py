"""The text of the blocks about speed and scale: functions of the results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks import (
    cluster,
    growth,
    ladder,
    many,
    memory,
    next_week,
    profile,
    reading,
    resume,
    solver,
    speed,
    startup,
    tables,
)
from benchmarks.generate import parse_size
from benchmarks.tables import Check
from experiments.rendering import NOTHING, count, gib, score, table_of
from figures.filling import Block
from figures.markdown import shown, table
from figures.results import Results, Values

ZH_EN = "dbp15k/zh_en"
FEATURES_SECONDS = 5
"""Seconds that features of entities with several names may take."""


def of_benchmark(name: str, module: Any, case: str) -> Block:
    """The tables of a benchmark."""

    def block(results: Results) -> str:
        values = results.get(name, case)
        if not values:
            return results.origin(name)
        made = [shown(each) for each in module.tables_of(values)]
        return "\n\n".join([*made, results.origin(name, cases=[case])])

    return block


def ladder_table(results: Results) -> str:
    """Time, memory and scores of generated pairs, the smallest first and harder ones last."""
    runs = dict(sorted({**results["ladder"], **results["ladder-long"]}.items(), key=_rung))
    columns: tables.Columns = {
        "total_seconds": ("seconds", tables.seconds),
        "cpu_seconds": ("CPU seconds", tables.seconds),
        "peak_memory_bytes": ("peak GiB", gib),
        **{name: (header, score) for name, header in ladder.SCORES.items()},
    }
    made = tables.rows_of("Generated pairs, `best`", runs, columns, first="entities a side")
    phases = tables.phase_rows({name: run["seconds"] for name, run in runs.items()})
    by_phase = table_of("Seconds by phase", ["phase", *runs], phases)
    return f"{shown(made)}\n\n{shown(by_phase)}\n\n{results.origin('ladder', 'ladder-long')}"


def _rung(run: tuple[str, Values]) -> tuple[bool, int]:
    """The place of a generated pair in tables."""
    name, values = run
    return name.startswith("hard"), values["size"]


def growth_tables(results: Results) -> str:
    """How time and memory grow with size."""
    made = [shown(each) for each in growth.tables_of({"cases": grown(results)})]
    return "\n\n".join([*made, results.origin("ladder", "ladder-long", "growth")])


def grown(results: Results) -> dict[str, Values]:
    """The runs of each kind of input and size; folders are those of the ladder, up to a million."""
    runs = {**results["ladder"], **results["ladder-long"]}
    folders = {f"folders {name}": runs[name] for name in growth.SIZES if name in runs}
    return {**folders, **results["growth"]}


def profile_tables(results: Results) -> str:
    """Where a run spends its time, and what is alive at its peaks."""
    parts = []
    for case, values in results["profile"].items():
        chosen = slice(2, None) if case.endswith("alive") else slice(2)
        parts += [shown(each) for each in profile.tables_of(values)[chosen]]
    return "\n\n".join([*parts, results.origin("profile")])


MACHINES = {
    16 * 2**k: f"r7i.{name}"
    for k, name in enumerate(("large", "xlarge", "2xlarge", "4xlarge", "8xlarge", "16xlarge"))
} | {768: "r7i.24xlarge", 1536: "r7i.48xlarge"}
"""Machines of Amazon EC2 by their memory in GiB."""
DOLLARS = 0.1323 / 16
"""For a GiB and an hour of these machines (on demand, us-east-1)."""


def larger(results: Results) -> str:
    """What larger graphs would take, from the largest run of each kind that was made."""
    runs = {"threads": results["ladder-long"].get("3M") or results["ladder-long"].get("1M", {})}
    for values in clusters(results).values():
        for run in values["runs"].values():
            peaks = run["peak_memory_bytes"]
            if "client" in peaks and run.get("entities"):
                taken = {"size": run["entities"], "total_seconds": run["total_seconds"]}
                runs["client of a cluster"] = {**taken, "peak_memory_bytes": peaks["client"]}
    rows = []
    for name, run in runs.items():
        if not run:
            continue
        each = run["peak_memory_bytes"] / run["size"]
        for size in (10**7, 10**8):
            needed = each * size / 2**30
            fitting = next((n for n in MACHINES if n >= needed), None)
            hours = run["total_seconds"] * (size / run["size"]) ** growth.MOST / 3600
            machine = "none of them" if fitting is None else MACHINES[fitting]
            money = NOTHING if fitting is None else f"{hours * fitting * DOLLARS:,.0f}"
            shown_hours = f"{hours:,.1f}"
            rows.append(
                [
                    name,
                    count(size),
                    f"{each / 1000:.1f}",
                    f"{needed:,.0f}",
                    shown_hours,
                    machine,
                    money,
                ]
            )
    header = ["run", "entities a side", "KB an entity", "GiB", "hours", "EC2 machine", "US dollars"]
    caption = f"From the largest run that was made, growing with size^{growth.MOST}"
    made = shown(table_of(caption, header, rows))
    return f"{made}\n\n{results.origin('ladder-long', 'cluster')}"


def clusters(results: Results) -> dict[str, Values]:
    """The runs on a cluster, the smallest pair first."""
    return dict(sorted(results["cluster"].items(), key=lambda case: parse_size(case[0])))


def cluster_tables(results: Results) -> str:
    """What each function costs on a cluster."""
    parts = []
    for case, values in clusters(results).items():
        parts += [shown(each) for each in cluster.tables_of(values) if any(each.groups)]
        checks = cluster.checks_of(values)
        parts.append("\n".join(f"- {case}: {each.asked}: {each.found}." for each in checks))
    return "\n\n".join([*filter(None, parts), results.origin("cluster")])


def goals(results: Results) -> str:
    """Everything that was asked for, beside what was found."""
    rows = [
        [title, check.asked, check.found, "yes" if check.met else "**no**"]
        for title, checks in checked(results)
        for check in checks
    ]
    parts = ("startup", "speed", "solver", "memory", "reading", "ladder", "ladder-long")
    more = ("growth", "cluster", "resume", "next_week", "many", "several")
    header = ["", "asked for", "found", "met"]
    return f"{table(header, rows)}\n\n{results.origin(*parts, *more)}"


def checked(results: Results) -> Iterator[tuple[str, list[Check]]]:
    """The title of each benchmark that was run, and what was asked of it."""
    for name, (module, case) in ALONE.items():
        if values := results.get(name, case):
            yield module.TITLE, module.checks_of(values)
    sizes = {**results["ladder"], **results["ladder-long"]}
    if sizes:
        yield ladder.TITLE, ladder.checks_of({"settings": {}, "sizes": sizes})
    for values in results["several"].values():
        taken = values["seconds"]["features"]
        asked = f"features: at most {FEATURES_SECONDS} s"
        yield (
            "Entities with several names, doid-mondo",
            [Check(asked, f"{tables.seconds(taken)} s", taken <= FEATURES_SECONDS)],
        )
    if results["growth"]:
        yield growth.TITLE, growth.checks_of({"cases": grown(results)})
    for case, values in clusters(results).items():
        yield f"{cluster.TITLE}, {case}", cluster.checks_of(values)


ALONE: Mapping[str, tuple[Any, str]] = {
    "startup": (startup, "startup"),
    "speed": (speed, ZH_EN),
    "solver": (solver, ZH_EN),
    "memory": (memory, ZH_EN),
    "reading": (reading, "1,000,000"),
    "next_week": (next_week, ZH_EN),
    "many": (many, "all"),
    "resume": (resume, "1M"),
}
"""Benchmarks that are shown by themselves, and the case that is shown."""
SCALE: Mapping[str, Block] = {
    **{name: of_benchmark(name, *shown_case) for name, shown_case in ALONE.items()},
    "ladder": ladder_table,
    "growth": growth_tables,
    "profile": profile_tables,
    "cluster": cluster_tables,
    "larger": larger,
    "goals": goals,
}
"""The function that makes each block."""
