"""Where a run spends its time and its memory: by phase, by function, and what is alive at the peak.

Run it from the root of the repository::

    python -m benchmarks.profile /tmp/ladder/1M
    python -m benchmarks.profile /tmp/ladder/1M --alive

``sameas align`` runs in this process. A second thread looks at it every few milliseconds: which
function of the package the main thread is in (or waits for, where other threads work), in which
phase, and how much memory is resident. ``--alive`` records allocations too, which takes longer:
for the moment at which most was alive, it lists the lines that had allocated it. Memory of polars
is not seen line by line, only as the difference to what is resident.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import sameas
from benchmarks import tables
from benchmarks.tables import Check
from experiments.rendering import Table, gib, table_of
from experiments.store import machine
from sameas.cli.main import main as run_command
from sameas.compute.arrays import Progress
from sameas.pipeline.memory import peak_memory
from sameas.pipeline.phases import Phases

TITLE = "Profile of a run"
PACKAGE = str(Path(sameas.__file__).parent)
WAITING = ("parallel.py", "pairwise.py", "kernels/kernel.py")
"""Modules in which the main thread works, or waits, for the function that has called them."""
INTERVAL = 0.02
"""Seconds between two looks."""
STEP = 1.03
"""A peak of allocations is recorded when it exceeds the last recorded one so many times."""
FRAMES = 12
"""How far back the line of the package that has asked for memory is looked for."""
SHOWN = 30
MIB = 2**20


@dataclass
class Profile:
    """What was seen of a run."""

    phase: str = "reading"
    functions: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Seconds by phase and function."""
    seconds: Counter[str] = field(default_factory=Counter)
    peaks: dict[str, int] = field(default_factory=dict)
    """The most that was resident, by phase."""
    alive: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By phase, what was alive when most was allocated."""

    def look(self, thread: int, seconds: float) -> None:
        """Add what is going on now."""
        frame = sys._current_frames().get(thread)
        self.functions[self.phase, function_of(frame)] += seconds  # type: ignore[assignment]
        self.seconds[self.phase] += seconds  # type: ignore[assignment]
        resident = resident_bytes()
        self.peaks[self.phase] = max(self.peaks.get(self.phase, 0), resident)
        if tracemalloc.is_tracing():
            allocated, _ = tracemalloc.get_traced_memory()
            before = self.alive.get(self.phase, {"allocated": 0})["allocated"]
            if allocated > STEP * before:
                self.alive[self.phase] = {
                    "allocated": allocated,
                    "resident": resident,
                    "lines": lines_of(tracemalloc.take_snapshot()),
                }


def resident_bytes() -> int:
    """What this process has in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def function_of(frame: FrameType | None) -> str:
    """The innermost function of the package that is not only waiting."""
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(PACKAGE) and not file.endswith(WAITING):
            name = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)  # Python 3.11
            return f"{file[len(PACKAGE) + 1 : -3]}.{name.replace('.<locals>', '')}"
        frame = frame.f_back
    return "(elsewhere)"


@contextmanager
def watched(profile: Profile) -> Iterator[None]:
    """Look at the thread that is in this context, until it leaves."""
    thread, over = threading.get_ident(), threading.Event()

    def watch() -> None:
        last = time.perf_counter()
        while not over.wait(INTERVAL):
            now = time.perf_counter()
            profile.look(thread, now - last)
            last = now

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


@contextmanager
def phases_told_to(profile: Profile) -> Iterator[None]:
    """A context in which every phase that begins or ends is noted."""
    timed: Callable[..., Any] = Phases.timed

    @contextmanager
    def noted(self: Phases, name: str) -> Iterator[Progress]:
        before, profile.phase = profile.phase, name
        with timed(self, name) as report:
            yield report
        profile.phase = f"after {name}" if before.startswith("after") else before

    Phases.timed = noted  # type: ignore[method-assign]
    try:
        yield
    finally:
        Phases.timed = timed  # type: ignore[method-assign]


def profiled(words: Sequence[str], *, alive: bool) -> dict[str, Any]:
    """What a sameas command takes, by phase and by function."""
    profile = Profile()
    if alive:
        tracemalloc.start(FRAMES)
    begin = time.perf_counter()
    with phases_told_to(profile), watched(profile):
        try:
            run_command([*words])
        except SystemExit as end:
            if end.code:
                raise
    total = time.perf_counter() - begin
    return {
        "total_seconds": round(total, 1),
        "peak_memory_bytes": peak_memory(),
        "phases": {
            name: {"seconds": round(profile.seconds[name], 2), "peak_bytes": peak}
            for name, peak in profile.peaks.items()
        },
        "functions": [
            {"phase": phase, "function": function, "seconds": round(seconds, 2)}
            for (phase, function), seconds in profile.functions.most_common(SHOWN)
        ],
        "alive": profile.alive,
    }


def lines_of(snapshot: tracemalloc.Snapshot) -> dict[str, int]:
    """The bytes that each line of the package, or what it called, has allocated."""
    lines: Counter[str] = Counter()
    for statistic in snapshot.statistics("traceback"):
        frames = [each for each in statistic.traceback if each.filename.startswith(PACKAGE)]
        where = f"{frames[-1].filename[len(PACKAGE) + 1 :]}:{frames[-1].lineno}" if frames else "-"
        lines[where] += statistic.size
    return dict(lines.most_common(SHOWN))


def tables_of(record: Mapping[str, Any]) -> list[Table]:
    """Phases, functions, and what was alive at the peak."""
    by_phase = [
        [name, tables.seconds(each["seconds"]), gib(each["peak_bytes"])]
        for name, each in record["phases"].items()
    ]
    by_phase.append(
        ["all", tables.seconds(record["total_seconds"]), gib(record["peak_memory_bytes"])]
    )
    found = [
        table_of("By phase", ["phase", "seconds", "most resident, GiB"], by_phase),
        table_of(
            "By function",
            ["function", "phase", "seconds"],
            [
                [f"`{each['function']}`", each["phase"], tables.seconds(each["seconds"])]
                for each in record["functions"]
            ],
        ),
    ]
    for phase, alive in record["alive"].items():
        caption = (
            f"Alive at the peak of {phase}: {gib(alive['allocated'])} GiB allocated "
            f"line by line, {gib(alive['resident'])} GiB resident"
        )
        rows = [[f"`{line}`", f"{size / MIB:,.0f}"] for line, size in alive["lines"].items()]
        found.append(table_of(caption, ["line", "MiB"], rows))
    return found


def checks_of(record: Mapping[str, Any]) -> list[Check]:
    """Nothing is asked for."""
    return []


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, run, keep the results and print them."""
    parser = tables.parser_of("profile", __doc__, "/tmp/ladder/1M")
    parser.add_argument("pair", type=Path, help="a benchmark folder")
    parser.add_argument(
        "--out", type=Path, help="where the run goes [profile_PAIR beside the pair]"
    )
    parser.add_argument("--alive", action="store_true", help="what is alive at the peak, too")
    parser.add_argument("--options", default="--memory 20G --languages none", help="of the run")
    options = parser.parse_args(arguments)
    out = options.out or options.pair.with_name(f"profile_{options.pair.name}")
    words = ["align", str(options.pair), "-o", str(out), "--quiet", *options.options.split()]
    record = {"machine": machine(), **profiled(words, alive=options.alive)}
    tables.save(options.results, record)
    print(tables.report("profile", record))


if __name__ == "__main__":
    main()
