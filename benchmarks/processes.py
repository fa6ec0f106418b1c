"""Commands run as processes of their own: what they print and what they take."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True)
class Finished:
    """What a process has printed, and what it took."""

    output: str
    errors: str
    code: int
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    """Its largest resident memory, or that of the process that started it if that is larger."""

    def values(self, what: str) -> dict[str, Any]:
        """The JSON object that was printed; ends the benchmark if the process has failed."""
        if self.code:
            sys.exit(f"{what} ended with {self.code}: {self.errors.strip()[-2000:]}")
        found: dict[str, Any] = json.loads(self.output)
        return found


def timed(command: Sequence[str], variables: Mapping[str, str] | None = None) -> Finished:
    """Run a process to its end."""
    environment = {**os.environ, **(variables or {})}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=errors, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        taken = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        return Finished(
            output.read(),
            errors.read(),
            process.returncode,
            taken,
            usage.ru_utime + usage.ru_stime,
            usage.ru_maxrss * 1024,
        )


def sameas(*words: str) -> list[str]:
    """A sameas command, run by the Python that runs this."""
    return [sys.executable, "-m", "sameas", *words]


def align_words(pair: Path, out: Path, options: str) -> list[str]:
    """The words of ``sameas align PAIR -o OUT`` with some options."""
    return ["align", str(pair), "-o", str(out), *shlex.split(options)]


def align_afresh(
    pair: Path, out: Path, options: str, variables: Mapping[str, str] | None = None
) -> Finished:
    """``sameas align --json``, which does not go on from an interrupted run."""
    shutil.rmtree(out.with_name(f".{out.name}.resume"), ignore_errors=True)
    return timed(sameas(*align_words(pair, out, f"{options} --json")), variables)


def align(
    pair: Path, out: Path, options: str, variables: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """What ``sameas align --json`` prints, and the seconds of the whole process."""
    finished = align_afresh(pair, out, options, variables)
    found = finished.values(f"sameas align {pair} {options}")
    taken = {"process_seconds": finished.seconds, "cpu_seconds": finished.cpu_seconds}
    return {**found, **{name: round(value, 3) for name, value in taken.items()}}


def evaluate(out: Path, pair: Path) -> dict[str, Any]:
    """The scores of a run."""
    finished = timed(sameas("evaluate", str(out), str(pair), "--json"))
    return finished.values(f"sameas evaluate {out}")


def measured(
    pair: Path, out: Path, options: str, variables: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """What is told of a run and of its links, with the seconds of the process and of its phases."""
    found = align(pair, out, options, variables)
    taken = {"total_seconds": found["process_seconds"], "phases": found.pop("seconds")}
    return {**found, **evaluate(out, pair), **taken}


def in_turn(programs: Mapping[str, Callable[[], Result]], repeat: int) -> dict[str, list[Result]]:
    """What each program gives, run so many times, in turn."""
    runs: dict[str, list[Result]] = {name: [] for name in programs}
    for number in range(1, repeat + 1):
        for name, program in programs.items():
            say(f"{name}, run {number} of {repeat}")
            runs[name].append(program())
    return runs


def say(message: str) -> None:
    """Print what is being done to standard error."""
    print(message, file=sys.stderr, flush=True)
