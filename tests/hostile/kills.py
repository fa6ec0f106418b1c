"""Commands that are killed at random times and run again: the same bytes, nothing half-written."""

from __future__ import annotations

import http.client
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import sameas

from .attempt import Attempt, Outcome, Process, apart, started, state, waited
from .jobs import Job

GENTLER = (signal.SIGTERM, signal.SIGINT)
"""Signals that are sent after all kills, a fifth as often."""
ENDS = {0, 130, -signal.SIGKILL, -signal.SIGTERM}
COUNT = 100
SECONDS = 900.0
"""In which a command that is not killed has ended, on however busy a machine."""
DEMO = str(sameas.DEMO)
REVIEW = ("review", "out/run", "--no-browser", "--port", "0", "--token", "a-token-of-the-kills")
"""What is decided there is lost by no kill; other commands give the same bytes when run again."""
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("align", DEMO, "-o", "out/run"),
    ("align", "../rdf/1.nt", "../rdf/2.nt", "-o", "out/run"),
    ("align", DEMO, "--engine", "dask", "--workers", "1", "-o", "out/run"),
    REVIEW,
    ("align", DEMO, "--preset", "paper", "-o", "out/links.sssom.tsv"),
    ("align", DEMO, "--method", "paris", "-o", "out/links.parquet"),
    ("align", DEMO, "--preset", "paper", "-o", "out/run"),
    ("convert", "../good/links.tsv", "out/k.rdf"),
    ("convert", "../good/links.tsv", "out/k.parquet"),
    ("merge", "../demo/out/run", "-o", "out/m.nq.gz"),
    ("merge", "../demo/out/run", "-o", "out/m.ttl"),
    ("explain", "../demo/out/run", "France", "--drawing", "out/x.svg"),
)


@dataclass(frozen=True)
class Whole:
    """What a command leaves that is not killed, and how long it takes."""

    seconds: float
    files: dict[str, str]


def kills(folder: Path, *, count: int) -> Iterator[Job]:
    """So many kills, over all commands in turn, and a fifth as many gentler signals."""
    _run(_attempt(COMMANDS[0], "a whole run"), folder / "demo")
    links = _links(folder / "demo/out/run")
    _write_rdf(folder / "rdf")
    wholes = dict[tuple[str, ...], Whole]()
    for number in range(count + count // 5):
        command, chance = COMMANDS[number % len(COMMANDS)], random.Random(f"kill {number}")
        place = folder / f"killed-{number}"
        if command is REVIEW:
            wait = chance.uniform(0.05, 2.0)
            attempt = _attempt(command, f"SIGKILL after {wait:.2f} s of decisions")
            run = folder / "demo/out/run"
            yield Job(attempt, number, partial(_kill_review, attempt, place, run, links, wait))
            continue
        if command not in wholes:
            wholes[command] = _whole(_attempt(command, "whole"), folder / "whole")
        whole = wholes[command]
        how = signal.SIGKILL if number < count else GENTLER[number % len(GENTLER)]
        wait = chance.uniform(0, whole.seconds)
        attempt = _attempt(command, f"{how.name} after {wait:.2f} of {whole.seconds:.2f} s")
        if number // len(COMMANDS) % 2 and Path(command[-1]).suffix:
            (place / "out").mkdir(parents=True)
            (place / command[-1]).write_bytes(b"earlier")
        yield Job(attempt, number, partial(_kill, attempt, place, how, wait, whole))


def _attempt(command: tuple[str, ...], name: str) -> Attempt:
    # Servers and workers of Dask are started by a program of its own.
    shell = "" if "dask" in command or command is REVIEW else None
    return Attempt("kills", name, command, inside=_keep_all, seconds=SECONDS, shell=shell)


def _whole(attempt: Attempt, folder: Path) -> Whole:
    """The command as it is when nothing happens to it, for the second time."""
    _run(attempt, folder)  # the first time kernels may be compiled
    shutil.rmtree(folder)
    begin = time.perf_counter()
    _run(attempt, folder)
    whole = Whole(time.perf_counter() - begin, state(folder / "out"))
    shutil.rmtree(folder)
    return whole


def _kill(attempt: Attempt, place: Path, how: signal.Signals, wait: float, whole: Whole) -> Outcome:
    """Nothing or all is there after the signal, and all is when the command is run again."""
    (place / "out").mkdir(parents=True, exist_ok=True)
    before = state(place / "out")
    begin = time.perf_counter()
    process = started(attempt, place)
    time.sleep(wait)
    os.kill(process.id, how)
    code, usage = waited(process, 60)
    broken = [] if code in ENDS else [f"exit code {code}"]
    files = {name: value for name, value in state(place / "out").items() if name[0] != "."}
    half = {name: value for name, value in files.items() if ".resume" not in name}
    if half not in (before, whole.files):
        broken.append(f"half-written: {sorted(half)[:3]}")
    try:
        _run(attempt, place)
        after = state(place / "out")
        changed = [name for name in after | whole.files if after.get(name) != whole.files.get(name)]
        if changed:
            broken.append(f"another result: {sorted(changed)[:3]}")
    except RuntimeError as error:
        broken.append(str(error))
    shutil.rmtree(place)
    seconds, megabytes = time.perf_counter() - begin, usage.ru_maxrss // 1024
    return Outcome(attempt, code, seconds, megabytes, "", tuple(broken))


def _write_rdf(folder: Path) -> None:
    """The demo as two files of N-Triples."""
    folder.mkdir()
    for side in "12":
        lines = []
        for row in (sameas.DEMO / f"rel_triples_{side}").read_text("utf8").splitlines():
            lines.append("<{}> <{}> <{}> .\n".format(*row.split("\t")))
        for row in (sameas.DEMO / f"attr_triples_{side}").read_text("utf8").splitlines():
            entity, attribute, value = row.split("\t", 2)
            lines.append(f"<{entity}> <{attribute}> {json.dumps(value, ensure_ascii=False)} .\n")
        (folder / f"{side}.nt").write_text("".join(lines), "utf8")


def _kill_review(
    attempt: Attempt, place: Path, run: Path, links: list[tuple[str, str]], wait: float
) -> Outcome:
    """Decisions are sent until the server is killed: those that it confirmed are all there."""
    shutil.copytree(run, place / "out" / "run")
    begin = time.perf_counter()
    process, confirmed, broken = started(attempt, place), list[str](), list[str]()
    try:
        port = _port(process)
        end = time.monotonic() + wait
        while time.monotonic() < end:
            number = len(confirmed)
            if _decide(port, f"request-{number}", *links[number % len(links)]) != 200:
                broken.append("a decision was refused")
                break
            confirmed.append(f"request-{number}")
    except (OSError, RuntimeError) as error:
        broken.append(f"no decisions: {error}")
    os.kill(process.id, signal.SIGKILL)
    code, usage = waited(process, 60)
    with closing(sqlite3.connect(place / "out/run/decisions.sqlite")) as database:
        stored = [row[0] for row in database.execute("SELECT request FROM decisions")]
        if database.execute("PRAGMA integrity_check").fetchone() != ("ok",):
            broken.append("the database is damaged")
    if missing := set(confirmed) - set(stored):
        broken.append(f"{len(missing)} of {len(confirmed)} confirmed decisions are lost")
    shutil.rmtree(place)
    seconds, message = time.perf_counter() - begin, f"{len(confirmed)} decisions"
    megabytes = usage.ru_maxrss // 1024
    return Outcome(attempt, code, seconds, megabytes, message, tuple(broken))


def _links(run: Path) -> list[tuple[str, str]]:
    """The links of a run, read by a process of its own."""
    out = run.with_name("links.tsv")
    apart(lambda: sameas.write(sameas.read_run(run), out))
    rows = (line.split("\t") for line in out.read_text("utf8").splitlines()[1:])
    return [(row[0], row[1]) for row in rows]


def _port(process: Process) -> int:
    """The port that a server says it listens at."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        process.listen()
        said = b"".join(process.said).decode(errors="replace")
        if found := re.search(r"127\.0\.0\.1:(\d+)", said):
            return int(found[1])
        time.sleep(0.05)
    raise RuntimeError("the server does not start")


def _decide(port: int, request: str, left: str, right: str) -> int:
    """The status of the answer to a decision."""
    claims = [{"left": left, "right": right, "verdict": "accept"}]
    body = json.dumps({"request": request, "reviewer": "r", "claims": claims})
    headers = {"Authorization": f"Bearer {REVIEW[-1]}", "Content-Type": "application/json"}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    with closing(connection):
        connection.request("POST", "/decide", body, headers)
        return connection.getresponse().status


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
