"""Commands that are killed at random times and run again: the same bytes, nothing half-written."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import sameas

from .attempt import Attempt, Outcome, started, state, waited

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
ENDS = {0, 130, -signal.SIGKILL, -signal.SIGTERM}
COUNT = 100
DEMO = str(sameas.DEMO)
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("align", DEMO, "-o", "out/run"),
    ("align", DEMO, "--preset", "paper", "-o", "out/links.sssom.tsv"),
    ("align", DEMO, "--method", "paris", "-o", "out/links.parquet"),
    ("align", DEMO, "--preset", "paper", "-o", "out/run"),
    ("convert", "../good/links.tsv", "out/k.rdf"),
    ("convert", "../good/links.tsv", "out/k.parquet"),
    ("merge", "../demo/out/run", "-o", "out/m.nq.gz"),
    ("merge", "../demo/out/run", "-o", "out/m.ttl"),
    ("explain", "../demo/out/run", "France", "--drawing", "out/x.svg"),
)


def killed(folder: Path, *, count: int) -> Iterator[Outcome]:
    """What comes of so many kills, over all commands and signals in turn."""
    chance = random.Random(0)
    first = Attempt("kills", "", COMMANDS[0])
    _run(first, folder / "demo")
    wholes = {}
    for number in range(count):
        command = COMMANDS[number % len(COMMANDS)]
        attempt = Attempt("kills", "", command, inside=_keep_all, seconds=900)
        if command not in wholes:
            _run(attempt, folder / "whole")  # the first time kernels may be compiled
            shutil.rmtree(folder / "whole")
            begin = time.perf_counter()
            _run(attempt, folder / "whole")
            wholes[command] = time.perf_counter() - begin, state(folder / "whole" / "out")
            shutil.rmtree(folder / "whole")
        seconds, whole = wholes[command]
        how = SIGNALS[number % len(SIGNALS)]
        wait = chance.uniform(0, seconds)
        place = folder / f"killed-{number}"
        (place / "out").mkdir(parents=True)
        earlier = number // len(COMMANDS) % 2 and (place / command[-1]).suffix
        if earlier:
            (place / command[-1]).write_bytes(b"earlier")
        before = state(place / "out")
        begin = time.perf_counter()
        process = started(attempt, place)
        time.sleep(wait)
        os.kill(process.id, how)
        code, usage = waited(process, 60)
        broken = [] if code in ENDS else [f"exit code {code}"]
        found = {name: value for name, value in state(place / "out").items() if name[0] != "."}
        half = {name: value for name, value in found.items() if ".resume" not in name}
        if half not in (before, whole):
            broken.append(f"half-written: {sorted(half)[:3]}")
        try:
            _run(attempt, place)
            after = state(place / "out")
            if after != whole:
                changed = [
                    name for name in {**after, **whole} if after.get(name) != whole.get(name)
                ]
                broken.append(f"another result: {sorted(changed)[:3]}")
        except RuntimeError as error:
            broken.append(str(error))
        name = f"{how.name} after {wait:.2f} of {seconds:.2f} s"
        yield Outcome(
            Attempt("kills", name, command),
            code,
            time.perf_counter() - begin,
            usage.ru_maxrss // 1024,
            "",
            tuple(broken),
        )
        shutil.rmtree(place)


def _keep_all() -> None:
    """Keep every phase, however short."""
    from sameas.pipeline import checkpoint

    checkpoint.WORTH_SECONDS = 0.0


def _run(attempt: Attempt, folder: Path) -> None:
    (folder / "out").mkdir(parents=True, exist_ok=True)
    process = started(attempt, folder)
    code, _ = waited(process, 900)
    if code:
        message = process.said[1].decode()
        raise RuntimeError(f"{' '.join(attempt.command)} ends with {code}: {message[:200]}")
