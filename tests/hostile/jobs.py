"""Attempts in processes of their own, several at once; one that hangs or dies is an outcome too."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from .attempt import Attempt, Outcome

GRACE = 120.0
"""Seconds that a job may take for what is not its command."""


@dataclass(frozen=True)
class Job:
    """An attempt, its number among those of its kind, and how it is made."""

    attempt: Attempt
    number: int
    work: Callable[[], Outcome]


@dataclass(frozen=True)
class Running:
    """A job that a process has begun; what comes of it is written to a file."""

    job: Job
    result: Path
    begin: float

    @property
    def end(self) -> float:
        """When the job is given up."""
        return self.begin + self.job.attempt.seconds + GRACE


def run_jobs(jobs: Iterable[Job], folder: Path, *, workers: int) -> Iterator[Outcome]:
    """What comes of each job, in the order in which they end; so many run at once."""
    waiting, running = iter(jobs), dict[int, Running]()
    try:
        while True:
            for job in islice(waiting, workers - len(running)):
                result = folder / f"outcome-{job.attempt.kind}-{job.number}"
                running[_begin(job, result)] = Running(job, result, time.monotonic())
            if not running:
                return
            for process in list(running):
                ended, status = os.waitpid(process, os.WNOHANG)
                if ended:
                    yield _outcome(running.pop(process), status)
                    _end_group(process)
                elif time.monotonic() > running[process].end:
                    _end_group(process)
            time.sleep(0.005)
    finally:
        for process in running:
            _end_group(process)
            os.waitpid(process, 0)


def _begin(job: Job, result: Path) -> int:
    """The process that does a job; it leads a group, so that whatever it starts can be ended."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    process = os.fork()
    if process:
        return process
    try:
        os.setsid()
        result.write_bytes(pickle.dumps(_plain(job.work(), job.number)))
    except BaseException:
        said = " ".join(traceback.format_exc().split())[-600:]
        failed = Outcome(job.attempt, 1, 0.0, 0, said, ("the attempt cannot be made",))
        result.write_bytes(pickle.dumps(_plain(failed, job.number)))
    finally:
        os._exit(0)


def _outcome(running: Running, status: int) -> Outcome:
    if running.result.exists():
        outcome: Outcome = pickle.loads(running.result.read_bytes())
        running.result.unlink()
        return outcome
    seconds, job = time.monotonic() - running.begin, running.job
    broken = (f"the process of the attempt ends with {os.waitstatus_to_exitcode(status)}",)
    return _plain(Outcome(job.attempt, -1, seconds, 0, "", broken), job.number)


def _plain(outcome: Outcome, number: int) -> Outcome:
    """The outcome without functions and contents of files, which need not be kept."""
    without = {"prepare": None, "inside": None, "meanwhile": None, "accept": None}
    return replace(outcome, attempt=replace(outcome.attempt, files={}, **without), number=number)


def _end_group(process: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)
