"""Kill a run in each of its phases, run it again, and compare links with an unharmed run's.

Run it from the root of the repository, on a pair that takes minutes::

    python benchmarks/generate.py 100k /tmp/100k --noise 0.02
    python benchmarks/resume.py /tmp/100k --folder /tmp/resume

Each run that is to be killed gets a terminal of its own, on which ``sameas align`` shows the phases
and how far they are; it is killed when a phase has lasted for half the time it took in the unharmed
run. The phase "writing" is not shown; it begins when the draft of the output appears. Results are
kept after each case; run again with the same folder, it goes on with the cases that are missing.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import speed
import tables
from tables import Check, seconds

from sameas.reproduction.rendering import NOTHING, Table, table_of
from sameas.reproduction.store import machine

TITLE = "Interrupted and resumed"
OPTIONS = "--memory 2G --languages none"
SIGNALS = ("SIGINT", "SIGKILL")
TRIES = 4
"""How often a case is tried that came too late, each time after half as long."""
PATIENCE = 0.005
"""Seconds between two looks at a run."""
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
BAR = re.compile(r"([a-z]+) +[^a-z%]*?(\d+)%")


class Screen:
    """The phases that a terminal shows, in order of their start, with how far they are."""

    def __init__(self) -> None:
        """Nothing shown yet."""
        self.percent: dict[str, int] = {}
        self._text = ""

    def feed(self, text: str) -> None:
        """Take in what was written to the terminal."""
        self._text = CONTROL.sub("", self._text + text)
        end = 0
        for bar in BAR.finditer(self._text):
            self.percent[bar[1]] = int(bar[2])
            end = bar.end()
        self._text = self._text[end:][-2000:]

    @property
    def phase(self) -> str | None:
        """The phase under way: of those not finished, the one that was started last."""
        under_way = [name for name, percent in self.percent.items() if percent < 100]
        return under_way[-1] if under_way else None


class Run:
    """``sameas align`` on a terminal of its own."""

    def __init__(self, command: Sequence[str], out: Path) -> None:
        """Start it."""
        self.screen = Screen()
        self.out = out
        self.begin = time.perf_counter()
        self._terminal, other_end = pty.openpty()
        shown = {"TERM": "xterm-256color", "COLUMNS": "120", "LINES": "50"}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=other_end,
            env={**os.environ, **shown},
        )
        os.close(other_end)

    @property
    def phase(self) -> str | None:
        """The phase under way."""
        self._read()
        # Writing is not shown on the terminal.
        draft = self.out.with_name(f".{self.out.name}.{self.process.pid}.draft")
        return "writing" if draft.exists() else self.screen.phase

    def wait_for(self, phase: str, least: float) -> bool:
        """Wait until a phase has lasted so long; False if it never does."""
        since = None
        while self.process.poll() is None:
            if self.phase != phase:
                since = None
            elif since is None:
                since = time.perf_counter()
            if since is not None and time.perf_counter() - since >= least:
                return True
            time.sleep(PATIENCE)
        return False

    def end(self, how: int) -> float:
        """Send a signal and wait for the end; the seconds that took."""
        begin = time.perf_counter()
        self.process.send_signal(how)
        while self.process.poll() is None:
            self._read()  # or it might wait for room to write
            time.sleep(PATIENCE)
        return time.perf_counter() - begin

    def close(self) -> None:
        """Leave no process and no terminal behind."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._terminal)

    def _read(self) -> None:
        while select.select([self._terminal], [], [], 0)[0]:
            try:
                data = os.read(self._terminal, 65536)
            except OSError:  # the process has ended
                return
            if not data:
                return
            self.screen.feed(data.decode(errors="replace"))


@dataclass(frozen=True)
class Job:
    """What is run again and again, and where."""

    pair: Path
    folder: Path
    options: str

    @property
    def out(self) -> Path:
        """The output of runs that are killed."""
        return self.folder / "run"

    @property
    def reference(self) -> Path:
        """The output of the unharmed run."""
        return self.folder / "reference"

    def clear(self) -> None:
        """Remove the output and all that is beside it."""
        shutil.rmtree(self.out, ignore_errors=True)
        for rest in left_over(self.out):
            shutil.rmtree(rest, ignore_errors=True)


def tried(job: Job, phase: str, how: str, usual: float) -> dict[str, Any] | None:
    """Kill a run in the middle of a phase, run it again, and tell what became of it.

    None if the phase was over too soon each time.
    """
    killed = None
    for number in range(TRIES):
        killed = _killed(job, phase, how, usual / 2 ** (number + 1))
        if killed is not None:
            break
    if killed is None:
        speed.say(f"{phase} is over too soon ({usual:.3f} s) to be interrupted")
        return None
    second = speed.checked(
        speed.timed(speed.align_command(job.pair, job.out, f"{job.options} --json")),
        f"the run after {how} in {phase}",
    )
    return {
        "phase": phase,
        "signal": how,
        **killed,
        "resumed": second.get("resumed", []),
        "second_seconds": second["total_seconds"],
        "left_over": [rest.name for rest in left_over(job.out)],
        "same_links": same(job.out, job.reference, "links"),
        "same_tables": all(
            same(job.out, job.reference, file.stem) for file in job.reference.glob("*.parquet")
        ),
    }


def _killed(job: Job, phase: str, how: str, after: float) -> dict[str, Any] | None:
    """What a killed run leaves behind; None if it could not be killed in that phase."""
    job.clear()
    run = Run(speed.align_command(job.pair, job.out, job.options), job.out)
    try:
        if not run.wait_for(phase, after):
            return None
        killed_after = time.perf_counter() - run.begin
        taken = run.end(getattr(signal, how))
    finally:
        run.close()
    code = run.process.returncode
    if code == 0:  # it had just finished
        return None
    kept = job.out.with_name(f".{job.out.name}.resume")
    return {
        "after_seconds": round(killed_after, 3),
        "stop_seconds": round(taken, 3),
        "exit_code": code,
        "output": state(job.out, job.reference),
        "kept": sorted(file.parent.name for file in kept.glob("*/phase.json")),
    }


def state(out: Path, reference: Path) -> str:
    """Whether an output is there: none, half, or whole."""
    if not out.exists():
        return "none"
    files = {file.relative_to(reference) for file in reference.rglob("*") if file.is_file()}
    there = {file.relative_to(out) for file in out.rglob("*") if file.is_file()}
    return "whole" if there == files and same(out, reference, "links") else "half"


def left_over(out: Path) -> list[Path]:
    """What is beside an output that should not be there once a run is done."""
    return sorted(out.parent.glob(f".{out.name}.*"))


def same(one: Path, other: Path, table: str) -> bool:
    """Whether a table of two run folders has the same bytes."""
    name = f"{table}.parquet"
    return (one / name).read_bytes() == (other / name).read_bytes()


def unharmed(job: Job) -> dict[str, Any]:
    """The run that all others are compared with."""
    speed.say(f"sameas align {job.options}, uninterrupted")
    found = speed.align(job.pair, job.reference, job.options)
    return {name: found[name] for name in ("total_seconds", "seconds", "links", "form")}


def interrupt_all(
    job: Job,
    results: Path,
    *,
    phases: Sequence[str] | None,
    signals: Sequence[str],
    again: bool,
) -> dict[str, Any]:
    """All cases that are missing; the record is written after each."""
    job.folder.mkdir(parents=True, exist_ok=True)
    settings = {"pair": job.pair.name, "options": job.options}
    record = tables.load(results)
    known = record is not None and record["settings"] == settings and job.reference.exists()
    if record is None or again or not known:
        record = {
            "machine": machine(),
            "settings": settings,
            "reference": unharmed(job),
            "cases": {},
        }
    usual = record["reference"]["seconds"]
    for phase in phases or usual:
        if phase not in usual:
            sys.exit(f"{phase} is no phase of this run; its phases are {', '.join(usual)}")
        for how in signals:
            case = f"{phase} {how}"
            if case in record["cases"]:
                continue
            speed.say(f"{how} in {phase}")
            found = tried(job, phase, how, usual[phase])
            if found is not None:
                record["cases"][case] = found
            tables.save(results, record)
    return record


def tables_of(record: Mapping[str, Any]) -> list[Table]:
    """The outcome of each interrupted run."""
    order = list(record["reference"]["seconds"])
    cases = sorted(record["cases"].values(), key=lambda case: order.index(case["phase"]))
    header = (
        *("killed in", "by", "after s", "gone after s", "exit code", "output then"),
        *("phases not done again", "second run s", "same links"),
    )
    rows = [
        (
            *(case["phase"], case["signal"], seconds(case["after_seconds"])),
            *(seconds(case["stop_seconds"]), str(case["exit_code"]), case["output"]),
            *(", ".join(case["resumed"]) or NOTHING, seconds(case["second_seconds"])),
            "yes" if case["same_links"] else "NO",
        )
        for case in cases
    ]
    settings, whole = record["settings"], record["reference"]["total_seconds"]
    caption = f"{settings['pair']}, {settings['options']}; uninterrupted: {seconds(whole)} s"
    return [table_of(caption, header, rows)]


def checks_of(record: Mapping[str, Any]) -> list[Check]:
    """An interrupted run gives the same links afterwards, and nothing half-written."""
    cases = list(record["cases"].values())
    same = sum(case["same_links"] for case in cases)
    clean = sum(case["output"] in ("none", "whole") and not case["left_over"] for case in cases)
    wanted = {(phase, name) for phase in record["reference"]["seconds"] for name in SIGNALS}
    done = wanted & {(case["phase"], case["signal"]) for case in cases}
    return [
        Check(
            "every phase interrupted by SIGINT and by SIGKILL",
            f"{len(done)} of {len(wanted)}",
            done == wanted,
        ),
        Check("the same links after going on", f"{same} of {len(cases)}", same == len(cases)),
        Check("no half-written output", f"{clean} of {len(cases)}", clean == len(cases)),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, run all, keep the results and print them."""
    parser = argparse.ArgumentParser(
        description="Kill sameas align in each phase, resume it, and compare the links.",
        epilog="example: python benchmarks/resume.py /tmp/100k --folder /tmp/resume",
    )
    add = parser.add_argument
    add("pair", metavar="PAIR", type=Path, help="benchmark folder")
    add("--folder", type=Path, required=True, help="where runs go")
    add("--options", default=OPTIONS, help=f'options of sameas align ["{OPTIONS}"]')
    add("--phases", nargs="+", help="only these [all]")
    add("--signals", nargs="+", choices=SIGNALS, default=SIGNALS, help="only these [both]")
    add("--again", action="store_true", help="run cases anew that are known")
    add("--results", type=Path, default=tables.RESULTS / "resume.json", help="where results go")
    options = parser.parse_args(arguments)
    # A shell may have started this with interrupts ignored, which its children would inherit.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    record = interrupt_all(
        Job(options.pair, options.folder, options.options),
        options.results,
        phases=options.phases,
        signals=options.signals,
        again=options.again,
    )
    print(tables.report("resume", record))


if __name__ == "__main__":
    main()
