"""Kill a run in each of its phases, run it again, and compare links with an unharmed run's.

Run it from the root of the repository, on a pair that takes minutes::

    python -m benchmarks.generate 100k /tmp/100k --noise 0.02
    python -m benchmarks.resume /tmp/100k --folder /tmp/resume
    python -m benchmarks.resume /tmp/1M --folder /tmp/resume --one-run --options "--memory 20G"

A run that is to be killed is ``sameas align`` with another display of its progress, which writes
each step to a file; it is killed when a phase has lasted for half the time it took in the unharmed
run. Results are kept after each case; run again with the same folder, it goes on with the cases
that are missing. With ``--one-run``, one run is killed in all its phases, one after the other: each
time the command is given again it goes on, and is killed in the next phase. That takes little more
than two runs.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import tables
from benchmarks.processes import align, align_words, sameas, say, timed
from benchmarks.tables import Check, seconds
from experiments.rendering import NOTHING, Table
from experiments.store import machine

TITLE = "Interrupted and resumed"
OPTIONS = "--memory 2G --languages none"
SIGNALS = ("SIGINT", "SIGKILL")
TRIES = 4
"""How often a case is tried that came too late, each time after half as long."""
PATIENCE = 0.005
"""Seconds between two looks at a run."""
WITH_STEPS = """
import contextlib, sys
from sameas.cli import main
@contextlib.contextmanager
def steps():
    with open(sys.argv[1], "w") as file:
        yield lambda phase, share: print(phase, share, file=file, flush=True)
sys.modules["sameas.cli.align"].progress_display = steps
main(sys.argv[2:])
"""
"""A sameas command that writes the steps of its progress to the file that is its first word."""


def phase_of(steps: str) -> str | None:
    """The phase under way: of those not finished, the one that was started last.

    >>> phase_of("reading 1.0\\nneighbours 0.0\\nfeatures 0.0\\nfeatures 1.0\\nneigh")
    'neighbours'
    """
    lines = steps.split("\n")[:-1]
    shares = {phase: float(share) for phase, share in map(str.split, lines)}
    return next((phase for phase in reversed(shares) if shares[phase] < 1), None)


def tried(given: Namespace, phase: str, how: str, usual: float) -> dict[str, Any] | None:
    """Kill a run in the middle of a phase, run it again, and tell what became of it.

    None if the phase was over too soon each time.
    """
    waits = (usual / 2**number for number in range(1, TRIES + 1))
    killed = next(filter(None, (_killed(given, phase, how, wait) for wait in waits)), None)
    if killed is None:
        say(f"{phase} is over too soon ({usual:.3f} s) to be interrupted")
        return None
    again = finished(given, f"{how} in {phase}")
    return {"phase": phase, "signal": how, **killed, **again}


def finished(given: Namespace, after: str) -> dict[str, Any]:
    """What the run that is left alone after others gives, beside the unharmed one."""
    out, reference = given.folder / "run", given.folder / "reference"
    again = timed(sameas(*align_words(given.pair, out, f"{given.options} --json")))
    second = again.values(f"the run after {after}")
    same = {
        file.stem: file.read_bytes() == (out / file.name).read_bytes()
        for file in reference.glob("*.parquet")
    }
    return {
        "resumed": second["resumed"],
        "second_seconds": second["total_seconds"],
        "left_over": [rest.name for rest in left_over(out)],
        "same_links": same["links"],
        "same_tables": all(same.values()),
    }


def killed_throughout(given: Namespace, usual: Mapping[str, float]) -> dict[str, dict[str, Any]]:
    """One run that is killed in each of its phases and goes on each time, with what it gives.

    A phase that is over too soon is left out: the run is done, or beyond it, when it is noticed.
    """
    forget(given)
    cases = {}
    for phase in usual:
        how = given.signals[-1]
        say(f"{how} in {phase}")
        if killed := _killed(given, phase, how, usual[phase] / 2, afresh=False):
            cases[f"{phase} {how}"] = {"phase": phase, "signal": how, **killed}
    again = finished(given, "all of them")
    return {name: {**case, **again} for name, case in cases.items()}


def forget(given: Namespace) -> None:
    """Remove the output of a run, and what an interrupted one has kept."""
    out = given.folder / "run"
    for rest in (out, *left_over(out)):
        shutil.rmtree(rest, ignore_errors=True)


def _killed(
    given: Namespace, phase: str, how: str, after: float, *, afresh: bool = True
) -> dict[str, Any] | None:
    """What a killed run leaves behind; None if it could not be killed in that phase."""
    out, steps = given.folder / "run", given.folder / "steps"
    if afresh:
        forget(given)
    steps.write_text("")
    words = align_words(given.pair, out, given.options)
    begin, since = time.perf_counter(), None
    command = [sys.executable, "-c", WITH_STEPS, str(steps), *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        try:
            while since is None or time.perf_counter() - since < after:
                if run.poll() is not None:
                    return None
                if phase_of(steps.read_text()) != phase:
                    since = None
                elif since is None:
                    since = time.perf_counter()
                time.sleep(PATIENCE)
            killed = time.perf_counter()
            run.send_signal(getattr(signal, how))
            code = run.wait()
        finally:
            run.kill()
    if code == 0:  # it had just finished
        return None
    kept = out.with_name(f".{out.name}.resume")
    return {
        "after_seconds": round(killed - begin, 3),
        "stop_seconds": round(time.perf_counter() - killed, 3),
        "exit_code": code,
        "output": state(out, given.folder / "reference"),
        "kept": sorted(file.stem for file in kept.glob("*.npz") if "." not in file.stem),
    }


def state(out: Path, reference: Path) -> str:
    """Whether an output is there: none, half, or whole."""
    if not out.exists():
        return "none"
    files, there = (
        {file.relative_to(folder) for file in folder.rglob("*") if file.is_file()}
        for folder in (reference, out)
    )
    links = "links.parquet"
    whole = there == files and (out / links).read_bytes() == (reference / links).read_bytes()
    return "whole" if whole else "half"


def left_over(out: Path) -> list[Path]:
    """What is beside an output that should not be there once a run is done."""
    return sorted(out.parent.glob(f".{out.name}.*"))


def interrupt_all(given: Namespace) -> dict[str, Any]:
    """All cases that are missing; the record is written after each."""
    # A shell may have started this with interrupts ignored, which its children would inherit.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    given.folder.mkdir(parents=True, exist_ok=True)
    reference = given.folder / "reference"
    settings = {"pair": given.pair.name, "options": given.options}
    record: dict[str, Any] = tables.load(given.results) or {"settings": None}
    if given.again or record["settings"] != settings or not reference.exists():
        say(f"sameas align {given.options}, uninterrupted")
        found = align(given.pair, reference, given.options)
        kept = {name: found[name] for name in ("total_seconds", "seconds", "links", "form")}
        record = {"machine": machine(), "settings": settings, "reference": kept, "cases": {}}
    usual = record["reference"]["seconds"]
    if given.one_run:
        record["cases"] = killed_throughout(given, usual)
        tables.save(given.results, record)
        return record
    for phase in given.phases or usual:
        if phase not in usual:
            sys.exit(f"{phase} is no phase of this run; its phases are {', '.join(usual)}")
        for how in given.signals:
            case = f"{phase} {how}"
            if case in record["cases"]:
                continue
            say(f"{how} in {phase}")
            if killed := tried(given, phase, how, usual[phase]):
                record["cases"][case] = killed
            tables.save(given.results, record)
    return record


def tables_of(record: Mapping[str, Any]) -> list[Table]:
    """The outcome of each interrupted run."""
    order = list(record["reference"]["seconds"])
    cases = sorted(record["cases"].items(), key=lambda case: order.index(case[1]["phase"]))
    columns: tables.Columns = {
        "after_seconds": ("after s", seconds),
        "stop_seconds": ("gone after s", seconds),
        "exit_code": ("exit code", str),
        "output": ("output then", str),
        "resumed": ("phases not done again", lambda done: ", ".join(done) or NOTHING),
        "second_seconds": ("second run s", seconds),
        "same_links": ("same links", lambda same: "yes" if same else "NO"),
    }
    settings, whole = record["settings"], record["reference"]["total_seconds"]
    caption = f"{settings['pair']}, {settings['options']}; uninterrupted: {seconds(whole)} s"
    return [tables.rows_of(caption, dict(cases), columns, first="killed in, by")]


def checks_of(record: Mapping[str, Any]) -> list[Check]:
    """An interrupted run gives the same links afterwards, and nothing half-written."""
    cases = list(record["cases"].values())
    same = sum(case["same_links"] for case in cases)
    clean = sum(case["output"] in ("none", "whole") and not case["left_over"] for case in cases)
    phases, signals = record["reference"]["seconds"], {case["signal"] for case in cases}
    wanted = {(phase, name) for phase in phases for name in signals}
    done = wanted & {(case["phase"], case["signal"]) for case in cases}
    return [
        Check(
            f"every phase interrupted by {' and by '.join(sorted(signals))}",
            f"{len(done)} of {len(wanted)}",
            done == wanted,
        ),
        Check("the same links after going on", f"{same} of {len(cases)}", same == len(cases)),
        Check("no half-written output", f"{clean} of {len(cases)}", clean == len(cases)),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, run all, keep the results and print them."""
    parser = tables.parser_of("resume", __doc__, "/tmp/100k --folder /tmp/resume")
    add = parser.add_argument
    add("pair", metavar="PAIR", type=Path, help="benchmark folder")
    add("--folder", type=Path, required=True, help="where runs go")
    add("--options", default=OPTIONS, help=f'options of sameas align ["{OPTIONS}"]')
    add("--phases", nargs="+", default=(), help="only these [all]")
    add("--signals", nargs="+", choices=SIGNALS, default=SIGNALS, help="only these [both]")
    add("--one-run", action="store_true", help="kill one run in all phases, by the last signal")
    add("--again", action="store_true", help="run cases anew that are known")
    options = parser.parse_args(arguments)
    tables.keep("resume", options.results, interrupt_all(options))


if __name__ == "__main__":
    main()
