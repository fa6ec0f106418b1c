"""All attempts, by kind, on all cores; ``python -m tests.hostile --help`` says how."""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from . import good, kills, report, server, table
from .attempt import Attempt, Outcome, load_kernels, started, tried, waited, warm_up
from .jobs import Job, run_jobs

BY_THEMSELVES = ("memory", "kills")
"""Kinds that are tried only where they are named: they need all of the machine."""


@dataclass(frozen=True)
class Choice:
    """Which attempts are made."""

    kinds: tuple[str, ...] = ()
    """All but those that are tried by themselves, if empty."""
    sample: float = 1.0
    match: str = ""
    number: int | None = None
    seed: int = 0
    """Of the mutated kinds."""

    def jobs(self, folder: Path, address: str) -> Iterator[Job]:
        """The attempts, each with how it is made."""
        chance = random.Random(0)
        table.SOME = 1 if self.sample == 1 else 5
        made = table.attempts(folder, address, self.seed)
        for kind in self.kinds or [kind for kind in made if kind not in BY_THEMSELVES]:
            if kind == "kills":
                every = kills.kills(folder, count=round(kills.COUNT * self.sample))
                yield from (job for job in every if self.number in (None, job.number))
                continue
            for number, attempt in enumerate(made[kind]()):
                words = f"{attempt.name} {' '.join(attempt.command)}"
                drawn = chance.random() < self.sample and match_any(self.match, words)
                if drawn and self.number in (None, number):
                    place = folder / f"{kind}-{number}"
                    yield Job(attempt, number, partial(tried, attempt, place))


def match_any(texts: str, words: str) -> bool:
    """Whether words hold one of the texts that a bar separates."""
    return any(text in words for text in texts.split("|"))


def outcomes(choice: Choice, *, workers: int) -> Iterator[Outcome]:
    """What comes of the chosen attempts, so many at once."""
    warm_up()
    with tempfile.TemporaryDirectory(prefix="sameas-hostile-") as name, server.serving() as address:
        folder = Path(name)
        folder.chmod(0o755)
        _lay_out(folder / "good")
        load_kernels()
        yield from run_jobs(choice.jobs(folder, address), folder, workers=workers)


def _lay_out(folder: Path) -> None:
    """Make the valid files, in a process of its own."""
    folder.mkdir()
    process = started(Attempt("", "", (), inside=lambda: good.lay_out(folder)), folder)
    if waited(process, 600)[0]:
        raise SystemExit(f"the valid files cannot be made: {process.said[1].decode()[-2000:]}")


def shown(one: Outcome, seed: int) -> str:
    """An attempt that was not held, in two lines: what happened, and how to try it again."""
    words = " ".join(word if len(word) < 60 else f"{word[:20]}..." for word in one.attempt.command)
    said = " ".join(one.message.split())[:600]
    what = f"{one.attempt.kind}: {one.attempt.name[:60]!r}: {words!r}"
    again = f"python -m tests.hostile --only {one.attempt.kind!r} --number {one.number}"
    again += f" --seed {seed}" if seed else ""
    return f"{what}: {'; '.join(one.broken)} | {said!r}\n    again: {again}"


def main() -> None:
    """Try all, print what was not held and a summary."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    add = parser.add_argument
    add("--only", nargs="+", metavar="KIND", default=(), help="only these kinds")
    add("--match", default="", help="only attempts whose name or command holds this text (a|b)")
    add("--sample", type=float, default=1.0, metavar="SHARE", help="only this share of each kind")
    add("--number", type=int, help="only this attempt of the kind")
    add("--seed", type=int, default=0, help="another one gives other attempts of mutated kinds")
    add("--workers", type=int, default=len(os.sched_getaffinity(0)), help="attempts at once")
    add("--report", type=Path, metavar="FILE", help="renew the tables of this page")
    given = parser.parse_args()
    choice = Choice(tuple(given.only), given.sample, given.match, given.number, given.seed)
    if given.report and choice != Choice(choice.kinds):
        parser.error("--report needs all attempts of a kind")
    begin = time.perf_counter()
    results = []
    for one in outcomes(choice, workers=given.workers):
        results.append(one)
        if one.broken:
            print(shown(one, given.seed), flush=True)
    killed = [one for one in results if one.attempt.kind == "kills"]
    kills_text = report.markdown(report.KILLS, report.kills_table(killed)) if killed else ""
    print(report.markdown(report.HEADER, report.attempts_table(results)))
    print(f"{kills_text}\n{time.perf_counter() - begin:.0f} seconds in all.")
    if given.report:
        rows = report.attempts_table(results, report.rows_of(given.report, "attempts"))
        report.fill(given.report, "attempts", report.markdown(report.HEADER, rows))
        if killed:
            report.fill(given.report, "kills", kills_text)
    sys.exit(1 if any(one.broken for one in results) else 0)


if __name__ == "__main__":
    main()
